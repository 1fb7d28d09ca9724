// Hashes: XXH3 for identity of content inside one run, SHA-256 for RECORD and anything stored.
#ifndef CS_BASE_HASH_H
#define CS_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cs_hash128 {
    uint64_t lo, hi;
};

uint64_t cs_hash64(const void *ptr, size_t len);
struct cs_hash128 cs_hash128(const void *ptr, size_t len);
static inline bool cs_hash128_eq(struct cs_hash128 a, struct cs_hash128 b) {
    return a.lo == b.lo && a.hi == b.hi;
}

enum { CS_SHA256_BYTES = 32 };

// SHA-256 (FIPS 180-4) of one block of memory.
void cs_sha256(const void *ptr, size_t len, uint8_t out[CS_SHA256_BYTES]);

// Streaming form.  The state is plain memory; no cleanup is needed.
struct cs_sha256_state {
    _Alignas(8) uint8_t opaque[128];
};
void cs_sha256_start(struct cs_sha256_state *s);
void cs_sha256_add(struct cs_sha256_state *s, const void *ptr, size_t len);
void cs_sha256_end(struct cs_sha256_state *s, uint8_t out[CS_SHA256_BYTES]);

// CRC-32 (ISO 3309, as in ZIP); start with 0.
uint32_t cs_crc32(uint32_t crc, const void *ptr, size_t len);

#endif
