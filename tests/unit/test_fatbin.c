// Containers: the reader against the builder, and the writer against the reader.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "build/mk_cubin.h"
#include "build/mk_fatbin.h"
#include "format/fatbin_write.h"

struct samples {
    struct cs_buf sm80, sm90a, sm100f, ptx;
};

static int make_samples(void **state) {
    static struct samples s;
    static const struct cs_mk_kernel kernels[] = {{.name = "_Z1kPf"}, {.name = "_Z1lPf"}};
    static const char *const names[] = {"_Z1kPf", NULL};
    cs_buf_init(&s.sm80, SIZE_MAX / 2);
    cs_buf_init(&s.sm90a, SIZE_MAX / 2);
    cs_buf_init(&s.sm100f, SIZE_MAX / 2);
    cs_buf_init(&s.ptx, SIZE_MAX / 2);
    struct cs_mk_cubin c = {.abi = 7, .sm = 80, .kernels = kernels, .kernel_count = 2};
    cs_mk_cubin_write(&s.sm80, &c);
    c = (struct cs_mk_cubin){.sm = 90, .accelerated = true, .kernels = kernels, .kernel_count = 2};
    cs_mk_cubin_write(&s.sm90a, &c);
    c = (struct cs_mk_cubin){.sm = 100, .kernels = kernels, .kernel_count = 1};
    cs_mk_cubin_write(&s.sm100f, &c);
    cs_mk_ptx(&s.ptx, 90, 0, names, NULL);
    *state = &s;
    return 0;
}

static int free_samples(void **state) {
    struct samples *s = *state;
    cs_buf_fini(&s->sm80);
    cs_buf_fini(&s->sm90a);
    cs_buf_fini(&s->sm100f);
    cs_buf_fini(&s->ptx);
    return 0;
}

static void mixed_container(const struct samples *s, struct cs_buf *out) {
    const struct cs_mk_entry parts[] = {
        {.kind = CS_FATBIN_ELF, .arch = 80, .image = cs_buf_view(&s->sm80), .identifier = "a.cu"},
        {.kind = CS_FATBIN_ELF, .arch = 90, .suffix = 'a', .image = cs_buf_view(&s->sm90a)},
    };
    const struct cs_mk_entry entries[] = {
        {.kind = CS_FATBIN_PTX, .arch = 90, .image = cs_buf_view(&s->ptx), .codec = CS_CODEC_ZSTD,
         .options = "-lineinfo"},
        {.kind = CS_FATBIN_ELF, .arch = 80, .image = cs_buf_view(&s->sm80)},
        {.kind = CS_FATBIN_ELF, .arch = 90, .suffix = 'a', .image = cs_buf_view(&s->sm90a),
         .codec = CS_CODEC_LZ4, .identifier = "csrc/k.cu"},
        {.kind = CS_FATBIN_ELF, .arch = 100, .suffix = 'f', .image = cs_buf_view(&s->sm100f),
         .codec = CS_CODEC_ZSTD},
        {.kind = CS_FATBIN_CONCAT, .parts = parts, .part_count = 2, .codec = CS_CODEC_ZSTD},
        {.kind = 0x4000, .arch = 90, .image = cs_buf_view(&s->ptx)},
        {.kind = CS_FATBIN_LTOIR, .arch = 90, .image = cs_buf_view(&s->ptx), .key = 0x1234,
         .codec = CS_CODEC_LZ4},
    };
    cs_buf_init(out, SIZE_MAX / 2);
    cs_mk_container(out, entries, sizeof entries / sizeof entries[0]);
}

static void test_reads_what_the_builder_wrote(void **state) {
    const struct samples *s = *state;
    struct cs_buf b;
    mixed_container(s, &b);
    uint64_t bytes;
    uint32_t entries;
    assert_true(cs_fatbin_probe(cs_buf_view(&b), &bytes, &entries));
    assert_int_equal(bytes, b.len);
    assert_int_equal(entries, 7);
    struct cs_fatbin_iter it;
    struct cs_fatbin_entry e[8];
    bool done = false;
    uint32_t n = 0;
    assert_int_equal(cs_fatbin_open(cs_buf_view(&b), &it, NULL), CS_OK);
    while (n < 8 && cs_fatbin_next(&it, &e[n], &done, NULL) == CS_OK && !done) {
        n++;
    }
    assert_int_equal(n, 7);
    assert_int_equal(e[0].codec, CS_CODEC_ZSTD);
    assert_true(cs_str_eq(e[0].options, CS_STR("-lineinfo")));
    assert_int_equal(e[0].image_bytes, s->ptx.len + 1);
    assert_true(cs_str_eq(e[2].identifier, CS_STR("csrc/k.cu")));
    assert_true(e[3].flags & CS_FATBIN_F_BIT24);
    assert_true(e[3].flags & CS_FATBIN_F_ARCH_F);
    assert_true(e[3].options.len > 0 && e[3].options.ptr[0] != 0);
    assert_int_equal(e[4].part_count, 2);
    assert_int_equal(e[5].kind, 0x4000);
    assert_true(e[6].obfuscated);
    assert_true(cs_fatbin_may_rewrite(&e[3]));
    assert_false(cs_fatbin_may_rewrite(&e[5]));
    assert_false(cs_fatbin_may_rewrite(&e[6]));
    cs_buf_fini(&b);
}

static void test_parts_hold_the_images(void **state) {
    const struct samples *s = *state;
    struct cs_buf b;
    mixed_container(s, &b);
    struct cs_fatbin_iter it;
    struct cs_fatbin_entry e = {0}, part;
    bool done = false;
    assert_int_equal(cs_fatbin_open(cs_buf_view(&b), &it, NULL), CS_OK);
    while (cs_fatbin_next(&it, &e, &done, NULL) == CS_OK && !done && e.kind != CS_FATBIN_CONCAT) {
    }
    assert_int_equal(e.kind, CS_FATBIN_CONCAT);
    struct cs_codec_ctx *ctx = cs_codec_ctx_new();
    struct cs_scratch scratch = {0};
    struct cs_view blob;
    assert_int_equal(cs_fatbin_image(ctx, &e, &scratch, &blob, NULL), CS_OK);
    uint64_t cursor = 0;
    const struct cs_buf *want[] = {&s->sm80, &s->sm90a};
    for (uint32_t i = 0; i < e.part_count; i++) {
        assert_int_equal(cs_fatbin_part(&e, &cursor, &part, NULL), CS_OK);
        assert_true(part.payload_bytes >= want[i]->len);
        assert_memory_equal(blob.ptr + part.part_off, want[i]->ptr, want[i]->len);
    }
    assert_true(part.flags & CS_FATBIN_F_ARCH_A);
    cs_scratch_fini(&scratch);
    cs_codec_ctx_free(ctx);
    cs_buf_fini(&b);
}

// Taken apart and put together again, every form gives the same bytes.
static void test_round_trip(void **state) {
    struct cs_buf b, out;
    mixed_container(*state, &b);
    cs_buf_init(&out, SIZE_MAX / 2);
    struct cs_fatbin_iter it;
    struct cs_fatbin_entry e;
    bool done;
    assert_int_equal(cs_fatbin_open(cs_buf_view(&b), &it, NULL), CS_OK);
    const size_t start = cs_fatbin_begin(&out);
    while (cs_fatbin_next(&it, &e, &done, NULL) == CS_OK && !done) {
        const uint64_t exact = e.compressed_bytes ? e.compressed_bytes : e.payload_bytes;
        const struct cs_view payload = cs_view_at(e.payload, 0, exact);
        if (e.kind == CS_FATBIN_CONCAT) {
            struct cs_fatbin_entry part[2];
            const struct cs_fatbin_entry *parts[2] = {&part[0], &part[1]};
            uint64_t cursor = 0, sizes[2];
            for (uint32_t i = 0; i < 2; i++) {
                assert_int_equal(cs_fatbin_part(&e, &cursor, &part[i], NULL), CS_OK);
                sizes[i] = part[i].payload_bytes;
            }
            cs_fatbin_put_concat(&out, parts, sizes, 2, e.codec, payload);
        } else if (cs_fatbin_may_rewrite(&e)) {
            cs_fatbin_put_image(&out, &e, e.codec, payload, e.image_bytes);
        } else {
            cs_fatbin_put_raw(&out, &e);
        }
    }
    cs_fatbin_end(&out, start);
    assert_int_equal(out.len, b.len);
    assert_memory_equal(out.ptr, b.ptr, b.len);
    cs_buf_fini(&b);
    cs_buf_fini(&out);
}

static void test_every_truncation_is_refused(void **state) {
    struct cs_buf b;
    mixed_container(*state, &b);
    uint64_t bytes;
    uint32_t entries;
    for (size_t len = 0; len < b.len; len++) {
        assert_false(cs_fatbin_probe(cs_view_of(b.ptr, len), &bytes, &entries));
    }
    cs_buf_fini(&b);
}

static void test_absurd_sizes(void **state) {
    static const uint64_t absurd[] = {UINT64_MAX, UINT64_MAX - 7, INT64_MAX, (uint64_t)1 << 40};
    struct cs_buf b;
    uint64_t bytes;
    uint32_t entries;
    for (size_t i = 0; i < 4; i++) {
        for (uint32_t field = 8; field < 80; field += 4) {
            mixed_container(*state, &b);
            cs_put_u64((uint8_t *)b.ptr + field, absurd[i]);
            if (cs_fatbin_probe(cs_buf_view(&b), &bytes, &entries)) {
                assert_true(bytes <= b.len);
            }
            cs_buf_fini(&b);
        }
    }
}

static void test_a_bomb_is_refused(void **state) {
    const struct samples *s = *state;
    const struct cs_mk_entry entry = {.kind = CS_FATBIN_ELF, .arch = 80, .codec = CS_CODEC_LZ4,
                                      .image = cs_buf_view(&s->sm80)};
    struct cs_buf b;
    cs_buf_init(&b, SIZE_MAX / 2);
    cs_mk_container(&b, &entry, 1);
    cs_put_u64((uint8_t *)b.ptr + 16 + 0x38, (uint64_t)1 << 30);
    struct cs_fatbin_iter it;
    struct cs_fatbin_entry e;
    struct cs_scratch scratch = {0};
    struct cs_codec_ctx *ctx = cs_codec_ctx_new();
    struct cs_view image;
    bool done;
    assert_int_equal(cs_fatbin_open(cs_buf_view(&b), &it, NULL), CS_OK);
    assert_int_equal(cs_fatbin_next(&it, &e, &done, NULL), CS_OK);
    assert_int_equal(cs_fatbin_image(ctx, &e, &scratch, &image, NULL), CS_LIMIT);
    assert_int_equal(scratch.bytes, 0);
    cs_codec_ctx_free(ctx);
    cs_buf_fini(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_what_the_builder_wrote),
        cmocka_unit_test(test_parts_hold_the_images),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_every_truncation_is_refused),
        cmocka_unit_test(test_absurd_sizes),
        cmocka_unit_test(test_a_bomb_is_refused),
    };
    return cmocka_run_group_tests(tests, make_samples, free_samples);
}
