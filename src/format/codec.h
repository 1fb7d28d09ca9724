// Codec: the compressions found inside fatbins, over libzstd, liblz4 and zlib.
#ifndef CS_FORMAT_CODEC_H
#define CS_FORMAT_CODEC_H

#include <stdint.h>

#include "base/err.h"
#include "base/view.h"

enum cs_codec {
    CS_CODEC_NONE,
    CS_CODEC_LZ4,   // one raw block: no frame, no size prefix
    CS_CODEC_ZSTD,  // one standard frame
    CS_CODEC_ZLIB,  // named by third parties for flag bit 12; never seen in a real file
};

const char *cs_codec_name(enum cs_codec codec);  // "none", "lz4", "zstd", "zlib"

// Per-thread contexts, so that a walk over 20,000 images does not allocate one each time.
struct cs_codec_ctx;
struct cs_codec_ctx *cs_codec_ctx_new(void);  // NULL when out of memory
void cs_codec_ctx_free(struct cs_codec_ctx *ctx);

// Fills dst with exactly dst_len bytes, or fails: CS_FORMAT when the stream is damaged or gives
// another length.  The caller has already held dst_len against base/limits.h.
enum cs_code cs_codec_decompress(struct cs_codec_ctx *ctx, enum cs_codec codec, struct cs_view src,
                                 uint8_t *dst, uint64_t dst_len, struct cs_err *err) CS_MUST_USE;

// Decompresses only the first bytes: up to dst_len of them; *got says how many came.  Used to look
// at headers of a compressed image without paying for all of it.
enum cs_code cs_codec_prefix(struct cs_codec_ctx *ctx, enum cs_codec codec, struct cs_view src,
                             uint8_t *dst, uint64_t dst_len, uint64_t *got,
                             struct cs_err *err) CS_MUST_USE;

// Compression.  level: LZ4 1..2 = fast, 3..12 = HC; zstd 1..22 (windowLog held at 23 or less).
// *out_len receives the size; CS_LIMIT when dst_cap is too small (cs_codec_bound gives enough).
uint64_t cs_codec_bound(enum cs_codec codec, uint64_t src_len);
enum cs_code cs_codec_compress(struct cs_codec_ctx *ctx, enum cs_codec codec, int level,
                               struct cs_view src, uint8_t *dst, uint64_t dst_cap,
                               uint64_t *out_len, struct cs_err *err) CS_MUST_USE;

#endif
