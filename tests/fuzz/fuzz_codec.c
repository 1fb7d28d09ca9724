// Codec: first byte the codec, two bytes the declared length, the rest the stream.
#include <stdint.h>
#include <stdlib.h>

#include "format/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct cs_codec_ctx *ctx;
    if (!ctx) {
        ctx = cs_codec_ctx_new();
    }
    if (size < 3 || !ctx) {
        return 0;
    }
    const enum cs_codec codec = (enum cs_codec)(data[0] % 4);
    const uint64_t len = (uint64_t)data[1] | (uint64_t)data[2] << 8;
    const struct cs_view src = cs_view_of(data + 3, size - 3);
    uint8_t *dst = malloc(len + 1);
    if (dst) {
        uint64_t got = 0;
        struct cs_err err = {0};
        if (cs_codec_decompress(ctx, codec, src, dst, len, &err) != CS_OK && err.count == 0) {
            abort();  // every failure says why
        }
        if (cs_codec_prefix(ctx, codec, src, dst, len, &got, &err) == CS_OK && got > len) {
            abort();
        }
    }
    free(dst);
    return 0;
}
