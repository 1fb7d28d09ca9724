// libcrypto's low-level SHA256_* calls are deprecated in OpenSSL 3, and chosen on purpose: linked
// statically they cost 20 KB, use SHA-NI, and need none of the provider machinery.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/hash.h"

#include <libdeflate.h>
#include <openssl/sha.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t cs_hash64(const void *ptr, size_t len) { return XXH3_64bits(ptr, len); }

struct cs_hash128 cs_hash128(const void *ptr, size_t len) {
    const XXH128_hash_t h = XXH3_128bits(ptr, len);
    return (struct cs_hash128){h.low64, h.high64};
}

void cs_sha256(const void *ptr, size_t len, uint8_t out[CS_SHA256_BYTES]) {
    struct cs_sha256_state s;
    cs_sha256_start(&s);
    cs_sha256_add(&s, ptr, len);
    cs_sha256_end(&s, out);
}

_Static_assert(sizeof(SHA256_CTX) <= sizeof(struct cs_sha256_state), "SHA-256 state size");

void cs_sha256_start(struct cs_sha256_state *s) { SHA256_Init((SHA256_CTX *)(void *)s->opaque); }
void cs_sha256_add(struct cs_sha256_state *s, const void *ptr, size_t len) {
    SHA256_Update((SHA256_CTX *)(void *)s->opaque, ptr, len);
}
void cs_sha256_end(struct cs_sha256_state *s, uint8_t out[CS_SHA256_BYTES]) {
    SHA256_Final(out, (SHA256_CTX *)(void *)s->opaque);
}

uint32_t cs_crc32(uint32_t crc, const void *ptr, size_t len) {
    return libdeflate_crc32(crc, ptr, len);
}
