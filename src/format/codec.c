// Codec: one function each for "all of it", "the first bytes" and "compress", over the libraries.
//
// The stream formats are those of fatbin entries (docs/format/fatbin.md, "Compression"): a raw LZ4
// block whose sizes stand in the entry header; one zstd frame with its content size, no checksum
// and no dictionary, window at most 8 MiB; zlib for flag bit 12, which nobody has seen in a file.
// Contexts of the libraries are made at first use and kept, so a walk over 20,000 images pays once.
// Whatever a stream claims, output never leaves dst and the only memory besides is the window of
// cs_codec_prefix, at most 128 MiB.
#include "format/codec.h"

#include <limits.h>
#include <string.h>

#include <libdeflate.h>
#include <lz4.h>
#include <lz4hc.h>
#define ZLIB_CONST
#include <zlib.h>
#define ZSTD_STATIC_LINKING_ONLY  // ZSTD_getCParams: the window that a level would use
#include <zstd.h>
#include <zstd_errors.h>

#include "base/mem.h"
#include "base/num.h"

enum {
    ZSTD_WINDOW_LOG_MAX = 23,       // what NVIDIA's own writers stay within (fatbin.md)
    ZSTD_READ_WINDOW_LOG_MAX = 27,  // what libzstd reads by default, made explicit
    LZ4_FAST_LEVEL_MAX = 2,
};

struct cs_codec_ctx {
    ZSTD_DCtx *zstd_d;
    ZSTD_CCtx *zstd_c;
    struct libdeflate_decompressor *inflate;
    void *lz4_fast, *lz4_hc;
};

const char *cs_codec_name(enum cs_codec codec) {
    switch (codec) {
        case CS_CODEC_NONE: return "none";
        case CS_CODEC_LZ4: return "lz4";
        case CS_CODEC_ZSTD: return "zstd";
        case CS_CODEC_ZLIB: return "zlib";
    }
    return "unknown";
}

struct cs_codec_ctx *cs_codec_ctx_new(void) {
    return cs_calloc(1, sizeof(struct cs_codec_ctx));
}

void cs_codec_ctx_free(struct cs_codec_ctx *ctx) {
    if (ctx) {
        ZSTD_freeDCtx(ctx->zstd_d);
        ZSTD_freeCCtx(ctx->zstd_c);
        if (ctx->inflate) {
            libdeflate_free_decompressor(ctx->inflate);
        }
        cs_free(ctx->lz4_fast);
        cs_free(ctx->lz4_hc);
        cs_free(ctx);
    }
}

static enum cs_code no_memory(enum cs_codec codec, struct cs_err *err) {
    return cs_fail(err, CS_NOMEM, "no memory for a %s context", cs_codec_name(codec));
}

static enum cs_code wrong_length(enum cs_codec codec, uint64_t got, uint64_t want,
                                 struct cs_err *err) {
    return cs_fail(err, CS_FORMAT, "%s stream holds %llu bytes, its header says %llu",
                   cs_codec_name(codec), (unsigned long long)got, (unsigned long long)want);
}

static enum cs_code zstd_reader(struct cs_codec_ctx *ctx, struct cs_err *err) {
    if (!ctx->zstd_d) {
        ctx->zstd_d = ZSTD_createDCtx();
        if (!ctx->zstd_d) {
            return no_memory(CS_CODEC_ZSTD, err);
        }
        (void)ZSTD_DCtx_setParameter(ctx->zstd_d, ZSTD_d_windowLogMax, ZSTD_READ_WINDOW_LOG_MAX);
    }
    return CS_OK;
}

static enum cs_code zstd_failed(size_t result, struct cs_err *err) {
    const bool memory = ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation;
    return cs_fail(err, memory ? CS_NOMEM : CS_FORMAT, "zstd stream: %s",
                   ZSTD_getErrorName(result));
}

static enum cs_code zstd_all(struct cs_codec_ctx *ctx, struct cs_view src, uint8_t *dst,
                             uint64_t dst_len, struct cs_err *err) {
    CS_TRY(zstd_reader(ctx, err));
    const unsigned long long declared = ZSTD_getFrameContentSize(src.ptr, (size_t)src.len);
    if (declared == ZSTD_CONTENTSIZE_ERROR) {
        return cs_fail(err, CS_FORMAT, "not a zstd frame");
    }
    if (declared != ZSTD_CONTENTSIZE_UNKNOWN && declared != dst_len) {
        return wrong_length(CS_CODEC_ZSTD, declared, dst_len, err);
    }
    const size_t n =
        ZSTD_decompressDCtx(ctx->zstd_d, dst, (size_t)dst_len, src.ptr, (size_t)src.len);
    if (ZSTD_isError(n)) {
        return zstd_failed(n, err);
    }
    return n == dst_len ? CS_OK : wrong_length(CS_CODEC_ZSTD, n, dst_len, err);
}

static enum cs_code zstd_prefix(struct cs_codec_ctx *ctx, struct cs_view src, uint8_t *dst,
                                uint64_t dst_len, uint64_t *got, struct cs_err *err) {
    CS_TRY(zstd_reader(ctx, err));
    (void)ZSTD_DCtx_reset(ctx->zstd_d, ZSTD_reset_session_only);
    ZSTD_inBuffer in = {src.ptr, (size_t)src.len, 0};
    ZSTD_outBuffer out = {dst, (size_t)dst_len, 0};
    while (out.pos < out.size) {
        const size_t in_before = in.pos, out_before = out.pos;
        const size_t n = ZSTD_decompressStream(ctx->zstd_d, &out, &in);
        if (ZSTD_isError(n)) {
            return zstd_failed(n, err);
        }
        if (n == 0) {
            break;  // end of the frame
        }
        if (in.pos == in_before && out.pos == out_before) {
            return cs_fail(err, CS_FORMAT, "zstd stream is cut off");
        }
    }
    *got = out.pos;
    return CS_OK;
}

// liblz4 counts in int.
static enum cs_code lz4_sizes(struct cs_view src, uint64_t dst_len, struct cs_err *err) {
    if (src.len > INT_MAX || dst_len > INT_MAX) {
        return cs_fail(err, CS_LIMIT, "LZ4 block of 2 GiB or more");
    }
    return CS_OK;
}

static enum cs_code lz4_all(struct cs_view src, uint8_t *dst, uint64_t dst_len,
                            struct cs_err *err) {
    CS_TRY(lz4_sizes(src, dst_len, err));
    const int n =
        LZ4_decompress_safe((const char *)src.ptr, (char *)dst, (int)src.len, (int)dst_len);
    if (n < 0) {
        return cs_fail(err, CS_FORMAT, "damaged LZ4 block, or it holds more than %llu bytes",
                       (unsigned long long)dst_len);
    }
    return (uint64_t)n == dst_len ? CS_OK : wrong_length(CS_CODEC_LZ4, (uint64_t)n, dst_len, err);
}

static enum cs_code lz4_prefix(struct cs_view src, uint8_t *dst, uint64_t dst_len, uint64_t *got,
                               struct cs_err *err) {
    CS_TRY(lz4_sizes(src, dst_len, err));
    const int n = LZ4_decompress_safe_partial((const char *)src.ptr, (char *)dst, (int)src.len,
                                              (int)dst_len, (int)dst_len);
    if (n < 0) {
        return cs_fail(err, CS_FORMAT, "damaged LZ4 block");
    }
    *got = (uint64_t)n;
    return CS_OK;
}

static enum cs_code zlib_all(struct cs_codec_ctx *ctx, struct cs_view src, uint8_t *dst,
                             uint64_t dst_len, struct cs_err *err) {
    if (!ctx->inflate) {
        ctx->inflate = libdeflate_alloc_decompressor();
        if (!ctx->inflate) {
            return no_memory(CS_CODEC_ZLIB, err);
        }
    }
    size_t used = 0, n = 0;
    const enum libdeflate_result result = libdeflate_zlib_decompress_ex(
        ctx->inflate, src.ptr, (size_t)src.len, dst, (size_t)dst_len, &used, &n);
    if (result != LIBDEFLATE_SUCCESS) {
        return cs_fail(err, CS_FORMAT, "damaged zlib stream, or it holds more than %llu bytes",
                       (unsigned long long)dst_len);
    }
    return n == dst_len ? CS_OK : wrong_length(CS_CODEC_ZLIB, n, dst_len, err);
}

// libdeflate reads whole streams only, so the first bytes come from zlib.
static enum cs_code zlib_prefix(struct cs_view src, uint8_t *dst, uint64_t dst_len, uint64_t *got,
                                struct cs_err *err) {
    z_stream z = {0};
    if (inflateInit(&z) != Z_OK) {
        return no_memory(CS_CODEC_ZLIB, err);
    }
    const uInt in = (uInt)cs_min_u64(src.len, UINT_MAX);
    const uInt out = (uInt)cs_min_u64(dst_len, UINT_MAX);
    z.next_in = src.ptr;
    z.avail_in = in;
    z.next_out = dst;
    z.avail_out = out;
    const int result = inflate(&z, Z_SYNC_FLUSH);
    const bool full = z.avail_out == 0;
    *got = out - z.avail_out;
    (void)inflateEnd(&z);
    if (result == Z_STREAM_END || (full && (result == Z_OK || result == Z_BUF_ERROR))) {
        return CS_OK;
    }
    *got = 0;
    return cs_fail(err, result == Z_MEM_ERROR ? CS_NOMEM : CS_FORMAT,
                   "damaged or cut off zlib stream");
}

enum cs_code cs_codec_decompress(struct cs_codec_ctx *ctx, enum cs_codec codec, struct cs_view src,
                                 uint8_t *dst, uint64_t dst_len, struct cs_err *err) {
    switch (codec) {
        case CS_CODEC_NONE:
            if (src.len != dst_len) {
                return wrong_length(codec, src.len, dst_len, err);
            }
            if (dst_len) {
                memcpy(dst, src.ptr, (size_t)dst_len);
            }
            return CS_OK;
        case CS_CODEC_LZ4: return lz4_all(src, dst, dst_len, err);
        case CS_CODEC_ZSTD: return zstd_all(ctx, src, dst, dst_len, err);
        case CS_CODEC_ZLIB: return zlib_all(ctx, src, dst, dst_len, err);
    }
    return cs_fail(err, CS_UNSUPPORTED, "unknown compression");
}

enum cs_code cs_codec_prefix(struct cs_codec_ctx *ctx, enum cs_codec codec, struct cs_view src,
                             uint8_t *dst, uint64_t dst_len, uint64_t *got, struct cs_err *err) {
    *got = 0;
    if (dst_len == 0) {
        return CS_OK;
    }
    switch (codec) {
        case CS_CODEC_NONE:
            *got = cs_min_u64(src.len, dst_len);
            if (*got) {
                memcpy(dst, src.ptr, (size_t)*got);
            }
            return CS_OK;
        case CS_CODEC_LZ4: return lz4_prefix(src, dst, dst_len, got, err);
        case CS_CODEC_ZSTD: return zstd_prefix(ctx, src, dst, dst_len, got, err);
        case CS_CODEC_ZLIB: return zlib_prefix(src, dst, dst_len, got, err);
    }
    return cs_fail(err, CS_UNSUPPORTED, "unknown compression");
}

uint64_t cs_codec_bound(enum cs_codec codec, uint64_t src_len) {
    switch (codec) {
        case CS_CODEC_LZ4:
            return src_len > LZ4_MAX_INPUT_SIZE ? 0 : (uint64_t)LZ4_compressBound((int)src_len);
        case CS_CODEC_ZSTD: {
            const size_t bound = ZSTD_compressBound((size_t)src_len);
            return ZSTD_isError(bound) ? 0 : bound;
        }
        case CS_CODEC_NONE:
        case CS_CODEC_ZLIB: break;
    }
    return src_len;
}

static enum cs_code too_small(uint64_t dst_cap, struct cs_err *err) {
    return cs_fail(err, CS_LIMIT, "compressed form does not fit into %llu bytes",
                   (unsigned long long)dst_cap);
}

static enum cs_code bad_level(enum cs_codec codec, int level, int max, struct cs_err *err) {
    return cs_fail(err, CS_USAGE, "%s level %d, want 1 to %d", cs_codec_name(codec), level, max);
}

static enum cs_code zstd_compress(struct cs_codec_ctx *ctx, int level, struct cs_view src,
                                  uint8_t *dst, uint64_t dst_cap, uint64_t *out_len,
                                  struct cs_err *err) {
    if (level < 1 || level > ZSTD_maxCLevel()) {
        return bad_level(CS_CODEC_ZSTD, level, ZSTD_maxCLevel(), err);
    }
    if (!ctx->zstd_c) {
        ctx->zstd_c = ZSTD_createCCtx();
        if (!ctx->zstd_c) {
            return no_memory(CS_CODEC_ZSTD, err);
        }
    }
    ZSTD_CCtx *c = ctx->zstd_c;
    (void)ZSTD_CCtx_reset(c, ZSTD_reset_session_and_parameters);
    const unsigned window = ZSTD_getCParams(level, src.len, 0).windowLog;
    size_t n = ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, level);
    if (!ZSTD_isError(n) && window > ZSTD_WINDOW_LOG_MAX) {
        n = ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, ZSTD_WINDOW_LOG_MAX);
    }
    // The defaults of the library, said here since the driver's reader may rely on them.
    if (!ZSTD_isError(n)) {
        n = ZSTD_CCtx_setParameter(c, ZSTD_c_contentSizeFlag, 1);
    }
    if (!ZSTD_isError(n)) {
        n = ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 0);
    }
    if (!ZSTD_isError(n)) {
        n = ZSTD_compress2(c, dst, (size_t)dst_cap, src.ptr, (size_t)src.len);
    }
    if (!ZSTD_isError(n)) {
        *out_len = n;
        return CS_OK;
    }
    const ZSTD_ErrorCode why = ZSTD_getErrorCode(n);
    if (why == ZSTD_error_dstSize_tooSmall) {
        return too_small(dst_cap, err);
    }
    if (why == ZSTD_error_memory_allocation) {
        return no_memory(CS_CODEC_ZSTD, err);
    }
    return cs_fail(err, CS_INTERNAL, "zstd: %s", ZSTD_getErrorName(n));
}

static enum cs_code lz4_compress(struct cs_codec_ctx *ctx, int level, struct cs_view src,
                                 uint8_t *dst, uint64_t dst_cap, uint64_t *out_len,
                                 struct cs_err *err) {
    if (level < 1 || level > LZ4HC_CLEVEL_MAX) {
        return bad_level(CS_CODEC_LZ4, level, LZ4HC_CLEVEL_MAX, err);
    }
    if (src.len > LZ4_MAX_INPUT_SIZE) {
        return cs_fail(err, CS_LIMIT, "%llu bytes are too many for one LZ4 block",
                       (unsigned long long)src.len);
    }
    const bool fast = level <= LZ4_FAST_LEVEL_MAX;
    void **state = fast ? &ctx->lz4_fast : &ctx->lz4_hc;
    if (!*state) {
        *state = cs_alloc((size_t)(fast ? LZ4_sizeofState() : LZ4_sizeofStateHC()));
        if (!*state) {
            return no_memory(CS_CODEC_LZ4, err);
        }
    }
    const int cap = (int)cs_min_u64(dst_cap, INT_MAX);
    const char *from = (const char *)src.ptr;
    const int n =
        fast ? LZ4_compress_fast_extState(*state, from, (char *)dst, (int)src.len, cap, 1)
             : LZ4_compress_HC_extStateHC(*state, from, (char *)dst, (int)src.len, cap, level);
    if (n <= 0) {
        return too_small(dst_cap, err);
    }
    *out_len = (uint64_t)n;
    return CS_OK;
}

enum cs_code cs_codec_compress(struct cs_codec_ctx *ctx, enum cs_codec codec, int level,
                               struct cs_view src, uint8_t *dst, uint64_t dst_cap,
                               uint64_t *out_len, struct cs_err *err) {
    *out_len = 0;
    switch (codec) {
        case CS_CODEC_NONE:
            if (src.len > dst_cap) {
                return too_small(dst_cap, err);
            }
            if (src.len) {
                memcpy(dst, src.ptr, (size_t)src.len);
            }
            *out_len = src.len;
            return CS_OK;
        case CS_CODEC_LZ4: return lz4_compress(ctx, level, src, dst, dst_cap, out_len, err);
        case CS_CODEC_ZSTD: return zstd_compress(ctx, level, src, dst, dst_cap, out_len, err);
        case CS_CODEC_ZLIB: break;
    }
    return cs_fail(err, CS_UNSUPPORTED, "cannot write %s", cs_codec_name(codec));
}
