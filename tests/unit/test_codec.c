// Codec: round trips, exact lengths, prefixes, and what damaged streams give.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "format/codec.h"

enum { BYTES = 300000 };

static struct cs_codec_ctx *ctx;
static uint8_t plain[BYTES], packed[BYTES * 2], back[BYTES];

// Text-like bytes: repeats at several distances, some noise.
static int setup(void **state) {
    (void)state;
    uint32_t x = 12345;
    for (size_t i = 0; i < BYTES; i++) {
        x = x * 1664525u + 1013904223u;
        plain[i] = (x >> 24) < 160 && i > 300 ? plain[i - 1 - (x >> 8) % 300] : (uint8_t)(x >> 20);
    }
    ctx = cs_codec_ctx_new();
    return ctx ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    cs_codec_ctx_free(ctx);
    cs_codec_ctx_free(NULL);
    return 0;
}

static const struct {
    enum cs_codec codec;
    int level;
} kinds[] = {
    {CS_CODEC_NONE, 1}, {CS_CODEC_LZ4, 1},  {CS_CODEC_LZ4, 2},   {CS_CODEC_LZ4, 3},
    {CS_CODEC_LZ4, 12}, {CS_CODEC_ZSTD, 1}, {CS_CODEC_ZSTD, 19}, {CS_CODEC_ZSTD, 22},
};

static void test_round_trip(void **state) {
    (void)state;
    const uint64_t lengths[] = {0, 1, 17, 4096, BYTES};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            const uint64_t len = lengths[i], bound = cs_codec_bound(kinds[k].codec, len);
            assert_true(bound >= len && bound <= sizeof packed);
            uint64_t n = 0;
            assert_int_equal(cs_codec_compress(ctx, kinds[k].codec, kinds[k].level,
                                               cs_view_of(plain, len), packed, bound, &n, NULL),
                             CS_OK);
            memset(back, 0xEE, sizeof back);
            const struct cs_view src = cs_view_of(packed, n);
            assert_int_equal(cs_codec_decompress(ctx, kinds[k].codec, src, back, len, NULL), CS_OK);
            assert_memory_equal(back, plain, len);
            // One byte more or less is another image.
            struct cs_err err = {0};
            assert_int_equal(cs_codec_decompress(ctx, kinds[k].codec, src, back, len + 1, &err),
                             CS_FORMAT);
            assert_int_equal(err.code, CS_FORMAT);
            if (len) {
                assert_int_equal(cs_codec_decompress(ctx, kinds[k].codec, src, back, len - 1, NULL),
                                 CS_FORMAT);
            }
        }
    }
}

static void test_prefix(void **state) {
    (void)state;
    const uint64_t wants[] = {0, 1, 64, 5000, 200000, BYTES, BYTES + 1};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        uint64_t n = 0;
        assert_int_equal(
            cs_codec_compress(ctx, kinds[k].codec, kinds[k].level, cs_view_of(plain, BYTES), packed,
                              sizeof packed, &n, NULL),
            CS_OK);
        for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
            uint8_t *dst = malloc(wants[i] + 1);  // exact size: a sanitizer sees any overrun
            assert_non_null(dst);
            uint64_t got = 99;
            assert_int_equal(cs_codec_prefix(ctx, kinds[k].codec, cs_view_of(packed, n), dst,
                                             wants[i], &got, NULL),
                             CS_OK);
            assert_int_equal(got, wants[i] < BYTES ? wants[i] : BYTES);
            assert_memory_equal(dst, plain, got);
            free(dst);
        }
    }
}

static void test_zlib_reads(void **state) {
    (void)state;
    uLongf n = sizeof packed;
    assert_int_equal(compress2(packed, &n, plain, BYTES, 6), Z_OK);
    const struct cs_view src = cs_view_of(packed, n);
    assert_int_equal(cs_codec_decompress(ctx, CS_CODEC_ZLIB, src, back, BYTES, NULL), CS_OK);
    assert_memory_equal(back, plain, BYTES);
    assert_int_equal(cs_codec_decompress(ctx, CS_CODEC_ZLIB, src, back, BYTES - 1, NULL),
                     CS_FORMAT);
    uint64_t got = 0;
    assert_int_equal(cs_codec_prefix(ctx, CS_CODEC_ZLIB, src, back, 100, &got, NULL), CS_OK);
    assert_int_equal(got, 100);
    assert_memory_equal(back, plain, 100);
    const struct cs_view cut = cs_view_of(packed, 40);
    assert_int_equal(cs_codec_prefix(ctx, CS_CODEC_ZLIB, cut, back, BYTES, &got, NULL), CS_FORMAT);
    assert_int_equal(cs_codec_compress(ctx, CS_CODEC_ZLIB, 1, src, back, BYTES, &got, NULL),
                     CS_UNSUPPORTED);
}

// What the driver's reader is known to take: fatbin.md, "Compression".
static void test_zstd_frame_form(void **state) {
    (void)state;
    const uint64_t big = 40u << 20;  // level 22 would use windowLog 26 here
    uint8_t *zeros = calloc(1, big);
    assert_non_null(zeros);
    uint64_t n = 0;
    assert_int_equal(cs_codec_compress(ctx, CS_CODEC_ZSTD, 22, cs_view_of(zeros, big), packed,
                                       sizeof packed, &n, NULL),
                     CS_OK);
    free(zeros);
    ZSTD_frameHeader h;
    assert_int_equal(ZSTD_getFrameHeader(&h, packed, n), 0);
    assert_int_equal(h.frameContentSize, big);
    assert_true(h.windowSize <= 8u << 20);
    assert_int_equal(h.checksumFlag, 0);
    assert_int_equal(h.dictID, 0);
}

static void test_damage(void **state) {
    (void)state;
    const struct cs_view empty = cs_view_of(packed, 0);
    uint64_t got = 0;
    for (int codec = CS_CODEC_LZ4; codec <= CS_CODEC_ZLIB; codec++) {
        assert_int_equal(cs_codec_decompress(ctx, (enum cs_codec)codec, empty, back, 8, NULL),
                         CS_FORMAT);
    }
    for (size_t k = 1; k < sizeof kinds / sizeof *kinds; k++) {
        uint64_t n = 0;
        assert_int_equal(
            cs_codec_compress(ctx, kinds[k].codec, kinds[k].level, cs_view_of(plain, 4096), packed,
                              sizeof packed, &n, NULL),
            CS_OK);
        for (uint64_t cut = 0; cut < n; cut++) {  // every truncation is noticed
            uint8_t *exact = malloc(cut + 1);
            assert_non_null(exact);
            memcpy(exact, packed, cut);
            assert_int_equal(
                cs_codec_decompress(ctx, kinds[k].codec, cs_view_of(exact, cut), back, 4096, NULL),
                CS_FORMAT);
            if (cs_codec_prefix(ctx, kinds[k].codec, cs_view_of(exact, cut), back, 4096, &got,
                                NULL) == CS_OK) {
                assert_memory_equal(back, plain, got);
            }
            free(exact);
        }
    }
}

static void test_limits_of_compress(void **state) {
    (void)state;
    uint64_t n = 7;
    const struct cs_view src = cs_view_of(plain, BYTES);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct cs_err err = {0};
        assert_int_equal(
            cs_codec_compress(ctx, kinds[k].codec, kinds[k].level, src, packed, 100, &n, &err),
            CS_LIMIT);
        assert_int_equal(n, 0);
    }
    assert_int_equal(cs_codec_compress(ctx, CS_CODEC_ZSTD, 23, src, packed, BYTES, &n, NULL),
                     CS_USAGE);
    assert_int_equal(cs_codec_compress(ctx, CS_CODEC_LZ4, 0, src, packed, BYTES, &n, NULL),
                     CS_USAGE);
    assert_int_equal(cs_codec_bound(CS_CODEC_LZ4, UINT64_MAX), 0);
    assert_string_equal(cs_codec_name(CS_CODEC_LZ4), "lz4");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_zlib_reads), cmocka_unit_test(test_zstd_frame_form),
        cmocka_unit_test(test_damage),     cmocka_unit_test(test_limits_of_compress),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
