// What slim makes: the form of every image by option, the same content in every form, zeroed
// kernels, and a verifier that notices when a byte is wrong.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "build/mk_cubin.h"
#include "build/mk_fatbin.h"
#include "build/mk_words.h"
#include "build/mk_zip.h"
#include "rewrite/slim_job.h"
#include "rewrite/slim_kernels.h"

static const struct cs_inventory_options headers = {.depth = CS_DEPTH_HEADERS};

// A file in memory and what slim makes of it.
struct made {
    struct cs_slim_options options;
    struct cs_slim_price price;
    struct cs_slim_job job;
    struct cs_workers workers;
    struct cs_buf out;
};

static void make(struct made *m, struct cs_view file, const struct cs_slim_options *options) {
    struct cs_err err = {0};
    *m = (struct made){.options = *options};
    cs_workers_init(&m->workers);
    cs_buf_init(&m->out, SIZE_MAX);
    assert_int_equal(
        cs_slim_open(file, CS_STR("t.so"), &m->options, &m->workers, &m->price, &m->job, &err),
        CS_OK);
    assert_int_equal(cs_slim_make(&m->job, NULL, &m->workers, &err), CS_OK);
    if (!m->job.changed) {
        cs_buf_add(&m->out, file.ptr, (size_t)file.len);
        return;
    }
    const struct cs_pieces *p = cs_slim_pieces(&m->job);
    assert_int_equal(p->bytes, m->job.after_bytes);
    uint8_t *block = cs_alloc((size_t)p->bytes);
    cs_pieces_copy(p, block);
    cs_buf_add(&m->out, block, (size_t)p->bytes);
    cs_free(block);
    const enum cs_code code =
        cs_slim_verify(&m->job, cs_buf_view(&m->out), NULL, &m->workers, &err);
    if (code != CS_OK) {
        char text[1024];
        cs_err_format(&err, text, sizeof text);
        print_error("%s\n", text);
    }
    assert_int_equal(code, CS_OK);
}

static void unmake(struct made *m) {
    cs_slim_close(&m->job);
    cs_slim_price_fini(&m->price);
    cs_workers_fini(&m->workers);
    cs_buf_fini(&m->out);
}

// "sm_80:lz4 (sm_90:zstd sm_90a:zstd) | ...": targets and forms; brackets round what is joined.
static void forms_text(struct cs_view file, struct cs_buf *out) {
    struct cs_scan scan;
    cs_scan_init(&scan, file, NULL, &headers);
    assert_int_equal(cs_scan_file(&scan, CS_STR("t.so"), NULL), CS_OK);
    for (size_t i = 0; i < scan.images.count; i++) {
        const struct cs_image *x = &scan.images.ptr[i];
        const struct cs_image *before = i ? x - 1 : NULL;
        const struct cs_image *after = i + 1 < scan.images.count ? x + 1 : NULL;
        const bool joined = x->part != CS_NONE;
        char target[CS_TARGET_TEXT_BYTES];
        cs_target_text(x->target, target);
        if (before) {
            cs_buf_adds(out, before->container != x->container ? " | " : " ");
        }
        cs_buf_printf(out, "%s%s:%s%s", joined && x->part == 0 ? "(" : "", target,
                      cs_codec_name(x->codec),
                      joined && (!after || after->part == CS_NONE || after->part == 0) ? ")" : "");
    }
    cs_scan_fini(&scan);
}

// ---- forms -----------------------------------------------------------------------------------

#define FREE .free_edits = true
#define DROP(n) .drop = {{(n), '\0', false}}, .drop_count = 1

static const struct {
    const char *words;
    struct cs_slim_options o;
    const char *forms;
} rows[] = {
    {"sm_75[a,b,c,d,e,f,g,h,i,j] sm_80:4 sm_90a:z compute_90",
     {FREE},
     "sm_75:lz4 sm_80:lz4 sm_90a:zstd compute_90:lz4"},
    // A file is cut by pages: less than one is not worth a change.
    {"sm_75 sm_90a:z", {FREE}, "sm_75:none sm_90a:zstd"},
    {"sm_75[a,b,c,d,e,f,g,h,i,j] sm_80:4 sm_90a:z compute_90",
     {0},
     "sm_75:none sm_80:lz4 sm_90a:zstd compute_90:none"},
    {"sm_75 sm_80:4 sm_90a:z",
     {FREE, .recompress = CS_SLIM_AS_IS},
     "sm_75:none sm_80:lz4 sm_90a:zstd"},
    {"sm_75 sm_80:4 sm_90a:z compute_90:z",
     {FREE, .recompress = CS_SLIM_TO_NONE},
     "sm_75:none sm_80:none sm_90a:none compute_90:none"},
    {"sm_75 sm_80:4 sm_90a:z",
     {FREE, .recompress = CS_SLIM_TO_LZ4, .level = 3},
     "sm_75:lz4 sm_80:lz4 sm_90a:lz4"},
    {"sm_75[a,b,c,d,e,f,g,h,i,j] sm_80:4 sm_90a:z compute_90",
     {FREE, .recompress = CS_SLIM_TO_ZSTD, .level = 1},
     "sm_75:zstd sm_80:zstd sm_90a:zstd compute_90:zstd"},
    {"sm_75 compute_75 sm_80:4 compute_90:z",
     {FREE, .recompress = CS_SLIM_TO_CONCAT, .level = 3},
     "(compute_75:zstd compute_90:zstd) (sm_75:zstd sm_80:zstd)"},
    {"sm_75 compute_75", {FREE, .recompress = CS_SLIM_TO_CONCAT}, "compute_75:zstd sm_75:zstd"},
    {"sm_75 sm_90a | sm_80",
     {FREE, .recompress = CS_SLIM_TO_CONCAT},
     "(sm_75:zstd sm_90a:zstd) | sm_80:zstd"},
    {"sm_75:z + sm_90a", {FREE}, "(sm_75:zstd sm_90a:zstd)"},
    {"sm_75:z + sm_90a", {FREE, .split_concatenated = true}, "sm_75:zstd sm_90a:zstd"},
    {"sm_75:z + sm_90a", {FREE, .recompress = CS_SLIM_TO_NONE}, "sm_75:none sm_90a:none"},
    {"sm_75:z + sm_90a", {FREE, .recompress = CS_SLIM_TO_LZ4}, "sm_75:lz4 sm_90a:lz4"},
    {"sm_75:z + sm_80 + sm_90a", {FREE, DROP(80)}, "(sm_75:zstd sm_90a:zstd)"},
    {"sm_75:z + sm_80", {FREE, DROP(80)}, "sm_75:zstd"},
    {"sm_80", {FREE, DROP(80)}, ""},
    {"sm_75 sm_90a:z", {FREE, .minimise = CS_SLIM_WHEEL}, "sm_75:none sm_90a:zstd"},
};

static void forms(void **state) {
    (void)state;
    bool all = true;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct made m;
        struct cs_buf file, text;
        cs_buf_init(&file, SIZE_MAX);
        cs_buf_init(&text, SIZE_MAX);
        cs_mk_words_library(&file, rows[i].words, NULL);
        make(&m, cs_buf_view(&file), &rows[i].o);
        forms_text(cs_buf_view(&m.out), &text);
        cs_buf_addc(&text, '\0');
        if (strcmp(text.ptr, rows[i].forms) != 0) {
            print_error("%s: %s, not %s\n", rows[i].words, text.ptr, rows[i].forms);
            all = false;
        }
        unmake(&m);
        cs_buf_fini(&text);
        cs_buf_fini(&file);
    }
    assert_true(all);
}

// ---- what must not change --------------------------------------------------------------------

static void unreadable_payloads_stay(void **state) {
    (void)state;
    struct cs_buf cubin, odd, file;
    cs_buf_init(&cubin, SIZE_MAX);
    cs_buf_init(&odd, SIZE_MAX);
    cs_buf_init(&file, SIZE_MAX);
    cs_mk_cubin_write(&cubin, &(struct cs_mk_cubin){.sm = 80});
    cs_buf_adds(&odd, "something else entirely, sixteen");
    const struct cs_mk_entry e[] = {
        {.kind = CS_FATBIN_ELF, .arch = 80, .image = cs_buf_view(&cubin), .key = 77},
        {.kind = 0x300, .arch = 80, .image = cs_buf_view(&odd)},
        {.kind = CS_FATBIN_ELF, .arch = 90, .image = cs_buf_view(&cubin)},
    };
    cs_mk_container(&file, e, 3);
    struct made m;
    make(&m, cs_buf_view(&file), &(struct cs_slim_options){FREE, .recompress = CS_SLIM_TO_ZSTD});
    // Both first entries are there byte for byte; only the third changed.
    const uint64_t kept = m.job.scan.images.ptr[2].offset;
    assert_true(m.job.changed);
    assert_true(m.out.len > kept);
    assert_memory_equal(m.out.ptr + CS_FATBIN_HEADER_BYTES, file.ptr + CS_FATBIN_HEADER_BYTES,
                        kept - CS_FATBIN_HEADER_BYTES);
    assert_int_equal(m.job.recompressed, 1);
    unmake(&m);
    cs_buf_fini(&cubin);
    cs_buf_fini(&odd);
    cs_buf_fini(&file);
}

// Entry headers of older toolkits have 8 bytes more than their fields say; sub-headers never do.
static void long_headers_can_be_joined(void **state) {
    (void)state;
    enum { AT_HEADER_BYTES = 4 };
    struct cs_buf cubin, entry, entries, file, text;
    cs_buf_init(&cubin, SIZE_MAX);
    cs_buf_init(&entries, SIZE_MAX);
    cs_buf_init(&file, SIZE_MAX);
    cs_buf_init(&text, SIZE_MAX);
    static const struct cs_mk_kernel kernel = {.name = "k"};
    cs_mk_cubin_write(
        &cubin, &(struct cs_mk_cubin){.sm = 80, .abi = 7, .kernels = &kernel, .kernel_count = 1});
    for (uint32_t arch = 75; arch <= 80; arch += 5) {
        cs_buf_init(&entry, SIZE_MAX);
        cs_mk_entry_write(&entry, &(struct cs_mk_entry){.kind = CS_FATBIN_ELF,
                                                        .arch = arch,
                                                        .image = cs_buf_view(&cubin)});
        const uint32_t header = cs_u32(cs_buf_view(&entry), AT_HEADER_BYTES);
        uint8_t *h = (uint8_t *)entry.ptr;
        h[AT_HEADER_BYTES] = (uint8_t)(header + 8);
        cs_buf_add(&entries, entry.ptr, header);
        cs_buf_pad(&entries, 0, 8);
        cs_buf_add(&entries, entry.ptr + header, entry.len - header);
        cs_buf_fini(&entry);
    }
    cs_mk_container_raw(&file, cs_buf_view(&entries));
    struct made m;
    make(&m, cs_buf_view(&file), &(struct cs_slim_options){FREE, .recompress = CS_SLIM_TO_CONCAT});
    forms_text(cs_buf_view(&m.out), &text);
    assert_string_equal(text.ptr, "(sm_75:zstd sm_80:zstd)");
    unmake(&m);
    cs_buf_fini(&cubin);
    cs_buf_fini(&entries);
    cs_buf_fini(&file);
    cs_buf_fini(&text);
}

static void levels_matter(void **state) {
    (void)state;
    uint64_t bytes[2];
    struct cs_buf cubin, file;
    cs_buf_init(&cubin, SIZE_MAX);
    cs_buf_init(&file, SIZE_MAX);
    const struct cs_mk_kernel kernels[] = {{.name = "a", .code_bytes = 60000, .seed = 7},
                                           {.name = "b", .code_bytes = 60000, .seed = 7}};
    cs_mk_cubin_write(&cubin,
                      &(struct cs_mk_cubin){.sm = 80, .kernels = kernels, .kernel_count = 2});
    const struct cs_mk_entry e = {.kind = CS_FATBIN_ELF, .arch = 80, .image = cs_buf_view(&cubin)};
    cs_mk_container(&file, &e, 1);
    for (int i = 0; i < 2; i++) {
        struct made m;
        make(&m, cs_buf_view(&file),
             &(struct cs_slim_options){FREE, .recompress = CS_SLIM_TO_ZSTD, .level = i ? 19 : 1});
        bytes[i] = m.job.after_bytes;
        unmake(&m);
    }
    assert_true(bytes[1] < bytes[0]);
    cs_buf_fini(&cubin);
    cs_buf_fini(&file);
}

// ---- kernels ---------------------------------------------------------------------------------

static void other_kernels_become_zero(void **state) {
    (void)state;
    static const struct cs_mk_kernel kernels[] = {
        {.name = "wanted", .code_bytes = 512, .outlined = "part", .outlined_bytes = 64},
        {.name = "other", .code_bytes = 1024, .relocations = 2},
        {.name = "helper", .code_bytes = 256, .function = true},
    };
    struct cs_buf cubin;
    struct cs_intern keep;
    struct cs_workers workers;
    cs_buf_init(&cubin, SIZE_MAX);
    cs_intern_init(&keep);
    cs_workers_init(&workers);
    struct cs_worker *w = cs_worker_get(&workers);
    cs_mk_cubin_write(&cubin,
                      &(struct cs_mk_cubin){.sm = 100, .kernels = kernels, .kernel_count = 3});
    assert_int_not_equal(cs_intern_add(&keep, CS_STR("wanted")), CS_INTERN_NONE);
    struct cs_view image = cs_buf_view(&cubin);
    assert_int_equal(cs_slim_zero_kernels(&image, &keep, w, NULL), CS_OK);
    assert_int_equal(image.len, cubin.len);
    struct cs_cubin before = {0};
    assert_int_equal(cs_cubin_read(cs_buf_view(&cubin), &before, NULL), CS_OK);
    uint64_t zeroed = 0;
    for (size_t i = 0; i < before.pieces.count; i++) {
        const struct cs_cubin_piece *p = &before.pieces.ptr[i];
        const bool code = p->part == CS_PART_CODE || p->part == CS_PART_CAPMERC;
        const bool other = code && p->kernel != CS_NO_KERNEL &&
                           cs_str_eq(before.kernels.ptr[p->kernel].name, CS_STR("other"));
        for (uint64_t b = 0; b < p->len; b++) {
            const uint8_t old = (uint8_t)cubin.ptr[p->off + b], now = image.ptr[p->off + b];
            assert_int_equal(now, other ? 0 : old);
        }
        zeroed += other ? p->len : 0;
    }
    assert_true(zeroed >= 1024);
    cs_cubin_fini(&before);
    cs_worker_put(&workers, w);
    cs_workers_fini(&workers);
    cs_intern_fini(&keep);
    cs_buf_fini(&cubin);
}

static void a_damaged_image_is_not_zeroed(void **state) {
    (void)state;
    struct cs_intern keep;
    struct cs_workers workers;
    cs_intern_init(&keep);
    cs_workers_init(&workers);
    struct cs_worker *w = cs_worker_get(&workers);
    struct cs_view image = cs_view_of(
        "\x7f"
        "ELF and nothing more",
        21);
    assert_int_not_equal(cs_slim_zero_kernels(&image, &keep, w, NULL), CS_OK);
    cs_worker_put(&workers, w);
    cs_workers_fini(&workers);
    cs_intern_fini(&keep);
}

static void zeroing_is_verified(void **state) {
    (void)state;
    struct made m;
    struct cs_buf file;
    struct cs_intern keep;
    cs_intern_init(&keep);
    cs_buf_init(&file, SIZE_MAX);
    cs_mk_words_library(&file, "k.cu: sm_80[a,b] sm_90a[a,b]:z | l.cu: sm_80[c]", NULL);
    assert_int_not_equal(cs_intern_add(&keep, CS_STR("a")), CS_INTERN_NONE);
    make(&m, cs_buf_view(&file), &(struct cs_slim_options){FREE, .keep_kernels = &keep});
    assert_true(m.job.changed);
    // Held against the plain original, the same bytes are wrong.
    m.options.keep_kernels = NULL;
    struct cs_err err = {0};
    assert_int_equal(cs_slim_verify(&m.job, cs_buf_view(&m.out), NULL, &m.workers, &err),
                     CS_CONFLICT);
    m.options.keep_kernels = &keep;
    unmake(&m);
    cs_intern_fini(&keep);
    cs_buf_fini(&file);
}

// ---- a verifier that can fail ----------------------------------------------------------------

enum { STRIDE = 13 };

static void check_flips(struct cs_view file, const struct cs_slim_options *o) {
    struct made m;
    make(&m, file, o);
    assert_true(m.job.changed);
    uint64_t missed = 0, flips = 0;
    for (size_t at = 0; at < m.out.len; at += STRIDE) {
        m.out.ptr[at] = (char)(m.out.ptr[at] ^ 0x10);
        if (cs_slim_verify(&m.job, cs_buf_view(&m.out), NULL, &m.workers, NULL) == CS_OK) {
            print_error("a wrong byte at %zu was not noticed\n", at);
            missed++;
        }
        m.out.ptr[at] = (char)(m.out.ptr[at] ^ 0x10);
        flips++;
    }
    struct cs_view shorter = cs_buf_view(&m.out), longer;
    shorter.len--;
    assert_int_equal(cs_slim_verify(&m.job, shorter, NULL, &m.workers, NULL), CS_CONFLICT);
    cs_buf_addc(&m.out, '\0');
    longer = cs_buf_view(&m.out);
    assert_int_equal(cs_slim_verify(&m.job, longer, NULL, &m.workers, NULL), CS_CONFLICT);
    unmake(&m);
    assert_true(flips > 100);
    assert_int_equal(missed, 0);
}

static void every_wrong_byte_is_noticed(void **state) {
    (void)state;
    static const char words[] =
        "k.cu: sm_75 sm_80:4 sm_90 sm_90a:z compute_80 | l.cu: sm_80:z + sm_100f | m.cu: sm_90a";
    const struct cs_slim_options o = {FREE, .recompress = CS_SLIM_TO_ZSTD, .level = 3};
    struct cs_buf library, object, archive, container;
    cs_buf_init(&library, SIZE_MAX);
    cs_buf_init(&object, SIZE_MAX);
    cs_buf_init(&archive, SIZE_MAX);
    cs_buf_init(&container, SIZE_MAX);
    cs_mk_words_library(&library, words, NULL);
    cs_mk_words_library(&object, words, &(struct cs_mk_host){.layout = CS_MK_OBJECT});
    const struct cs_mk_ar_member members[] = {{"a.o", cs_buf_view(&object)},
                                              {"b.o", cs_buf_view(&object)}};
    cs_mk_ar_write(&archive, members, 2, true);
    cs_mk_words_container(&container, "sm_75 sm_80:4 sm_90 sm_90a:z compute_80", "k");
    check_flips(cs_buf_view(&library), &o);
    check_flips(cs_buf_view(&object), &o);
    check_flips(cs_buf_view(&archive), &o);
    check_flips(cs_buf_view(&container), &o);
    cs_buf_fini(&library);
    cs_buf_fini(&object);
    cs_buf_fini(&archive);
    cs_buf_fini(&container);
}

// The plan itself may be wrong: bytes that were written as planned, and are not the original's.
static void a_wrong_plan_is_noticed(void **state) {
    (void)state;
    struct cs_buf file;
    uint64_t noticed = 0, tried = 0;
    cs_buf_init(&file, SIZE_MAX);
    cs_mk_words_container(&file, "sm_75 sm_80:4 sm_90a:z compute_80", "k");
    for (size_t at = CS_FATBIN_HEADER_BYTES;; at += 31) {
        struct made m;
        make(&m, cs_buf_view(&file),
             &(struct cs_slim_options){FREE, .recompress = CS_SLIM_TO_NONE});
        struct cs_buf *planned = &m.job.built.containers[0].bytes;
        const bool last = at >= planned->len;
        if (!last) {
            planned->ptr[at] = (char)(planned->ptr[at] ^ 1);
            m.out.ptr[at] = (char)(m.out.ptr[at] ^ 1);
            noticed += cs_slim_verify(&m.job, cs_buf_view(&m.out), NULL, &m.workers, NULL) != CS_OK;
            tried++;
        }
        unmake(&m);
        if (last) {
            break;
        }
    }
    cs_buf_fini(&file);
    // Padding, reserved header fields and the NULs behind PTX may differ: no image does.
    print_message("%llu of %llu wrong bytes in a plan noticed\n", (unsigned long long)noticed,
                  (unsigned long long)tried);
    assert_true(tried > 100 && noticed * 100 >= tried * 95);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms),
        cmocka_unit_test(unreadable_payloads_stay),
        cmocka_unit_test(long_headers_can_be_joined),
        cmocka_unit_test(levels_matter),
        cmocka_unit_test(other_kernels_become_zero),
        cmocka_unit_test(a_damaged_image_is_not_zeroed),
        cmocka_unit_test(zeroing_is_verified),
        cmocka_unit_test(every_wrong_byte_is_noticed),
        cmocka_unit_test(a_wrong_plan_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
