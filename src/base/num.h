// Checked arithmetic for sizes and offsets that come from files.
#ifndef CS_BASE_NUM_H
#define CS_BASE_NUM_H

#include <stdbool.h>
#include <stdint.h>

static inline bool cs_add_u64(uint64_t a, uint64_t b, uint64_t *out) {
    return !__builtin_add_overflow(a, b, out);
}
static inline bool cs_sub_u64(uint64_t a, uint64_t b, uint64_t *out) {
    return !__builtin_sub_overflow(a, b, out);
}
static inline bool cs_mul_u64(uint64_t a, uint64_t b, uint64_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}

// Rounds up to a power of two `align`; false on overflow.
static inline bool cs_align_up_u64(uint64_t a, uint64_t align, uint64_t *out) {
    uint64_t x;
    if (!cs_add_u64(a, align - 1, &x)) {
        return false;
    }
    *out = x & ~(align - 1);
    return true;
}
static inline uint64_t cs_align_down_u64(uint64_t a, uint64_t align) { return a & ~(align - 1); }
static inline uint64_t cs_min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t cs_max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }

// floor(a * b / c) with a 128-bit product; c must not be 0.
static inline uint64_t cs_muldiv_u64(uint64_t a, uint64_t b, uint64_t c) {
    return (uint64_t)(((unsigned __int128)a * b) / c);
}

#endif
