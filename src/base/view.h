// Views: borrowed byte ranges, and the only functions that take bytes out of untrusted input.
//
// A view never owns.  Every read is checked here, in one place; nothing else in the project indexes
// into file bytes or casts them to structs.  All multi-byte reads are little-endian.
#ifndef CS_BASE_VIEW_H
#define CS_BASE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"

struct cs_view {
    const uint8_t *ptr;
    uint64_t len;  // bytes
};

// Text that is not NUL-terminated and not owned.
struct cs_str {
    const char *ptr;
    size_t len;  // bytes
};

#define CS_STR(literal) ((struct cs_str){(literal), sizeof(literal) - 1})

static inline struct cs_view cs_view_of(const void *ptr, uint64_t len) {
    return (struct cs_view){(const uint8_t *)ptr, len};
}

// True when [off, off+len) lies inside the view, with no overflow.
static inline bool cs_view_has(struct cs_view v, uint64_t off, uint64_t len) {
    return off <= v.len && len <= v.len - off;
}

// The part [off, off+len); the caller has checked cs_view_has (asserted).
static inline struct cs_view cs_view_at(struct cs_view v, uint64_t off, uint64_t len) {
    CS_ASSERT(cs_view_has(v, off, len));
    return (struct cs_view){v.ptr + off, len};
}

// As cs_view_at, but false instead of an assertion when the range is outside.
static inline bool cs_view_sub(struct cs_view v, uint64_t off, uint64_t len, struct cs_view *out) {
    if (!cs_view_has(v, off, len)) {
        return false;
    }
    *out = (struct cs_view){v.ptr + off, len};
    return true;
}

// Unchecked-by-return reads: outside the view they give 0.  For fields of a header whose whole
// extent was checked once with cs_view_has.
static inline uint8_t cs_u8(struct cs_view v, uint64_t off) {
    return cs_view_has(v, off, 1) ? v.ptr[off] : 0;
}
static inline uint16_t cs_u16(struct cs_view v, uint64_t off) {
    uint16_t x = 0;
    if (cs_view_has(v, off, sizeof x)) {
        memcpy(&x, v.ptr + off, sizeof x);
    }
    return x;
}
static inline uint32_t cs_u32(struct cs_view v, uint64_t off) {
    uint32_t x = 0;
    if (cs_view_has(v, off, sizeof x)) {
        memcpy(&x, v.ptr + off, sizeof x);
    }
    return x;
}
static inline uint64_t cs_u64(struct cs_view v, uint64_t off) {
    uint64_t x = 0;
    if (cs_view_has(v, off, sizeof x)) {
        memcpy(&x, v.ptr + off, sizeof x);
    }
    return x;
}

// The NUL-terminated text at off, without the NUL; empty when off is outside or no NUL follows
// within max_len bytes (then *ok, when given, is false).
struct cs_str cs_cstr(struct cs_view v, uint64_t off, size_t max_len, bool *ok);

static inline bool cs_str_eq(struct cs_str a, struct cs_str b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}
static inline bool cs_str_starts(struct cs_str s, struct cs_str prefix) {
    return s.len >= prefix.len && memcmp(s.ptr, prefix.ptr, prefix.len) == 0;
}
static inline bool cs_str_ends(struct cs_str s, struct cs_str suffix) {
    return s.len >= suffix.len && memcmp(s.ptr + s.len - suffix.len, suffix.ptr, suffix.len) == 0;
}
static inline struct cs_str cs_str_from(const char *z) {
    return (struct cs_str){z, z ? strlen(z) : 0};
}
// Byte-wise order, shorter first on a tie; for qsort-like uses.
int cs_str_cmp(struct cs_str a, struct cs_str b);
// Position of needle in s, or SIZE_MAX.
size_t cs_str_find(struct cs_str s, struct cs_str needle);

// Writes for the few places that build binary formats in memory.
static inline void cs_put_u16(uint8_t *p, uint16_t x) { memcpy(p, &x, sizeof x); }
static inline void cs_put_u32(uint8_t *p, uint32_t x) { memcpy(p, &x, sizeof x); }
static inline void cs_put_u64(uint8_t *p, uint64_t x) { memcpy(p, &x, sizeof x); }

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "reads assume a little-endian host"
#endif

#endif
