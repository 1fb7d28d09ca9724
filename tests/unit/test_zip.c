// ZIP reader: every form a record can take, layout facts, maps, refusals.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "build/mk_rawzip.h"
#include "format/zip.h"

enum { BYTES = 200000 };

static uint8_t content[BYTES];

// Bytes whose density changes, so that a map is no straight line: noise, then text, then zeros.
static int setup(void **state) {
    (void)state;
    uint32_t x = 99;
    for (size_t i = 0; i < BYTES; i++) {
        x = x * 1664525u + 1013904223u;
        const uint8_t noise = (uint8_t)(x >> 24);
        content[i] = i < 70000 ? noise : i < 150000 ? (uint8_t)('a' + noise % 7) : 0;
    }
    return 0;
}

static struct cs_view part(size_t len) { return cs_view_of(content, len); }

static void open_ok(const struct cs_mk_rawzip *b, struct cs_zip *z) {
    struct cs_err err = {0};
    const enum cs_code code = cs_zip_open(cs_mk_rawzip_view(b), z, &err);
    if (code != CS_OK) {
        char text[512];
        cs_err_format(&err, text, sizeof text);
        fail_msg("%s", text);
    }
}

static void check_map(const struct cs_zip_map *map, uint64_t bytes, uint64_t packed) {
    assert_int_equal(map->bytes, bytes);
    assert_int_equal(cs_zip_map_at(map, 0), 0);
    assert_int_equal(cs_zip_map_at(map, bytes), bytes ? packed : 0);
    assert_int_equal(cs_zip_map_range(map, 0, UINT64_MAX), bytes ? packed : 0);
    uint64_t sum = 0;
    uint64_t last = 0;
    for (uint64_t at = 0; at < bytes; at += 777) {
        sum += cs_zip_map_range(map, at, 777);
        assert_true(cs_zip_map_at(map, at) >= last);
        last = cs_zip_map_at(map, at);
    }
    assert_int_equal(sum, bytes ? packed : 0);
}

static void check_extract(const struct cs_zip *z, size_t i, struct cs_view want) {
    const struct cs_zip_member *m = &z->members.ptr[i];
    assert_int_equal(m->bytes, want.len);
    uint8_t *dst = malloc(want.len + 1);
    struct cs_err err = {0};
    assert_int_equal(cs_zip_extract(z, m, dst, true, NULL, &err), CS_OK);
    assert_memory_equal(dst, want.ptr, want.len);
    memset(dst, 0xee, want.len);
    struct cs_zip_map map;
    assert_int_equal(cs_zip_extract(z, m, dst, true, &map, &err), CS_OK);
    assert_memory_equal(dst, want.ptr, want.len);
    check_map(&map, m->bytes, m->compressed_bytes);
    for (uint64_t cap = 0; cap <= want.len + 1; cap += cap < 70 ? 23 : 40000) {
        uint64_t got;
        assert_int_equal(cs_zip_prefix(z, m, dst, cap, &got, &err), CS_OK);
        assert_int_equal(got, cap < want.len ? cap : want.len);
        assert_memory_equal(dst, want.ptr, got);
    }
    cs_zip_map_fini(&map);
    free(dst);
}

static void test_forms(void **state) {
    (void)state;
    static const struct {
        uint32_t how, faults;
        size_t len;
    } table[] = {
        {CS_RAWZIP_STORED, 0, 0},
        {CS_RAWZIP_STORED, 0, 1000},
        {CS_RAWZIP_DEFLATE, 0, 0},
        {CS_RAWZIP_DEFLATE, 0, 1},
        {CS_RAWZIP_DEFLATE, 0, 32768},
        {CS_RAWZIP_DEFLATE, 0, 65536},
        {CS_RAWZIP_DEFLATE, 0, BYTES},
        {CS_RAWZIP_DEFLATE | CS_RAWZIP_LEVEL0, 0, BYTES},
        {CS_RAWZIP_DEFLATE | CS_RAWZIP_ZIP64, 0, BYTES},
        {CS_RAWZIP_STORED | CS_RAWZIP_ZIP64, 0, 5},
        {CS_RAWZIP_DEFLATE | CS_RAWZIP_DESCRIPTOR, CS_ZIP_FAULT_DESCRIPTOR, 5000},
        {CS_RAWZIP_DEFLATE | CS_RAWZIP_DESCRIPTOR_BARE, CS_ZIP_FAULT_DESCRIPTOR, 5000},
        {CS_RAWZIP_DEFLATE | CS_RAWZIP_DESCRIPTOR | CS_RAWZIP_ZIP64, CS_ZIP_FAULT_DESCRIPTOR, 5000},
        {CS_RAWZIP_STORED | CS_RAWZIP_DESCRIPTOR_BARE | CS_RAWZIP_ZIP64, CS_ZIP_FAULT_DESCRIPTOR,
         9},
        {CS_RAWZIP_DEFLATE | CS_RAWZIP_USELESS64, CS_ZIP_FAULT_ZIP64, 5000},
        {CS_RAWZIP_DEFLATE | CS_RAWZIP_COMMENT, CS_ZIP_FAULT_COMMENT, 5000},
        {CS_RAWZIP_DEFLATE | CS_RAWZIP_LOCAL_NAME_X, CS_ZIP_FAULT_LOCAL_MISMATCH, 5000},
    };
    enum { COUNT = sizeof table / sizeof table[0] };
    struct cs_mk_rawzip b;
    cs_mk_rawzip_init(&b);
    char name[COUNT][16];
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(name[i], sizeof name[i], "dir/m%zu", i);
        cs_mk_rawzip_add(&b, cs_str_from(name[i]), part(table[i].len), table[i].how);
    }
    cs_mk_rawzip_end(&b, 0, CS_STR(""));
    struct cs_zip z;
    open_ok(&b, &z);
    assert_int_equal(z.members.count, COUNT);
    assert_int_equal(z.faults, 0);
    assert_int_equal(z.eocd_count, 1);
    uint64_t at = 0;
    for (size_t i = 0; i < COUNT; i++) {
        const struct cs_zip_member *m = &z.members.ptr[i];
        assert_true(cs_str_eq(m->name, cs_str_from(name[i])));
        assert_int_equal(m->faults, table[i].faults);
        assert_int_equal(m->header_off, at);  // data descriptors belong to their member
        at = m->end_off;
        assert_int_equal(m->external_attr >> 16, 0100644);
        check_extract(&z, i, part(table[i].len));
    }
    assert_int_equal(at, z.central_off);
    cs_zip_close(&z);
    cs_mk_rawzip_fini(&b);
}

// Noise does not shrink and zeros vanish: the map must show both ends.
static void test_map_follows_the_stream(void **state) {
    (void)state;
    struct cs_mk_rawzip b;
    cs_mk_rawzip_init(&b);
    cs_mk_rawzip_add(&b, CS_STR("m"), part(BYTES), CS_RAWZIP_DEFLATE);
    cs_mk_rawzip_end(&b, 0, CS_STR(""));
    struct cs_zip z;
    open_ok(&b, &z);
    uint8_t *dst = malloc(BYTES);
    struct cs_zip_map map;
    assert_int_equal(cs_zip_extract(&z, &z.members.ptr[0], dst, true, &map, NULL), CS_OK);
    const uint64_t noise = cs_zip_map_range(&map, 0, 65536);
    assert_in_range(noise, 65400, 65700);
    assert_in_range(cs_zip_map_range(&map, 163840, BYTES - 163840), 1, 200);
    cs_zip_map_fini(&map);
    free(dst);
    cs_zip_close(&z);
    cs_mk_rawzip_fini(&b);
}

static void test_layout_facts(void **state) {
    (void)state;
    static const struct {
        const char *prefix, *gap, *comment, *trailing;
        bool counted;  // offsets count the prefix in
        uint32_t end, faults;
        uint64_t gap_bytes;
    } table[] = {
        {"", "", "", "", true, 0, 0, 0},
        {"#!x\n", "", "", "", true, 0, CS_ZIP_FILE_PREFIX, 0},
        {"#!x\n", "", "", "", false, 0, CS_ZIP_FILE_PREFIX | CS_ZIP_FILE_OFFSET, 0},
        {"#!x\n", "", "", "", false, CS_RAWZIP_END_ZIP64, CS_ZIP_FILE_PREFIX | CS_ZIP_FILE_OFFSET,
         0},
        {"", "abc", "", "", true, 0, CS_ZIP_FILE_GAPS, 3},
        {"", "PK\5\6", "", "", true, 0, CS_ZIP_FILE_GAPS | CS_ZIP_FILE_EOCDS, 4},
        {"", "", "note", "", true, 0, CS_ZIP_FILE_COMMENT, 0},
        {"", "", "", "tail", true, 0, CS_ZIP_FILE_TRAILING, 0},
        {"", "", "", "", true, CS_RAWZIP_END_ZIP64, 0, 0},
        {"", "", "", "", true, CS_RAWZIP_END_COUNT, CS_ZIP_FILE_COUNT, 0},
        {"", "", "", "", true, CS_RAWZIP_END_GAP, CS_ZIP_FILE_GAPS | CS_ZIP_FILE_OFFSET, 4},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct cs_mk_rawzip b;
        cs_mk_rawzip_init(&b);
        cs_mk_rawzip_raw(&b, table[i].prefix, strlen(table[i].prefix));
        b.base = table[i].counted ? 0 : b.out.len;
        cs_mk_rawzip_add(&b, CS_STR("a"), part(100), CS_RAWZIP_DEFLATE);
        cs_mk_rawzip_raw(&b, table[i].gap, strlen(table[i].gap));
        cs_mk_rawzip_add(&b, CS_STR("b/"), part(0), 0);
        cs_mk_rawzip_end(&b, table[i].end, cs_str_from(table[i].comment));
        cs_mk_rawzip_raw(&b, table[i].trailing, strlen(table[i].trailing));
        struct cs_zip z;
        open_ok(&b, &z);
        assert_int_equal(z.faults, table[i].faults);
        assert_int_equal(z.gap_bytes, table[i].gap_bytes);
        assert_int_equal(z.prefix_bytes, strlen(table[i].prefix));
        assert_int_equal(z.trailing_bytes, strlen(table[i].trailing));
        assert_int_equal(z.comment_bytes, strlen(table[i].comment));
        assert_int_equal(z.members.count, 2);
        assert_false(z.members.ptr[0].is_dir);
        assert_true(z.members.ptr[1].is_dir);
        check_extract(&z, 0, part(100));
        cs_zip_close(&z);
        cs_mk_rawzip_fini(&b);
    }
}

static void test_names(void **state) {
    (void)state;
    static const struct {
        struct cs_str name;
        uint32_t how, faults;
    } table[] = {
        {CS_STR("pkg/a..b/..c"), 0, 0},
        {CS_STR("../up"), 0, CS_ZIP_FAULT_BAD_NAME},
        {CS_STR("a/../../b"), 0, CS_ZIP_FAULT_BAD_NAME},
        {CS_STR("a/.."), 0, CS_ZIP_FAULT_BAD_NAME},
        {CS_STR("/etc/x"), 0, CS_ZIP_FAULT_BAD_NAME},
        {CS_STR("C:x"), 0, CS_ZIP_FAULT_BAD_NAME},
        {CS_STR("a\\b"), 0, CS_ZIP_FAULT_BAD_NAME},
        {CS_STR("a\nb"), 0, CS_ZIP_FAULT_BAD_NAME},
        {CS_STR("a\0b"), 0, CS_ZIP_FAULT_BAD_NAME},
        {CS_STR(""), 0, CS_ZIP_FAULT_BAD_NAME},
        {CS_STR("\xc3\xa9"), CS_RAWZIP_UTF8, 0},
        {CS_STR("\xf0\x9f\x98\x80"), CS_RAWZIP_UTF8, 0},
        {CS_STR("\xc3\xa8"), 0, CS_ZIP_FAULT_UNICODE},
        {CS_STR("\xc3"), CS_RAWZIP_UTF8, CS_ZIP_FAULT_UNICODE},
        {CS_STR("\xc0\xaf"), CS_RAWZIP_UTF8, CS_ZIP_FAULT_UNICODE},
        {CS_STR("\xed\xa0\x80"), CS_RAWZIP_UTF8, CS_ZIP_FAULT_UNICODE},
        {CS_STR("twice"), 0, CS_ZIP_FAULT_DUPLICATE},
        {CS_STR("twice"), 0, CS_ZIP_FAULT_DUPLICATE},
        {CS_STR("x.bz"), CS_RAWZIP_METHOD_12, CS_ZIP_FAULT_METHOD},
        {CS_STR("x.enc"), CS_RAWZIP_ENCRYPTED, CS_ZIP_FAULT_METHOD},
    };
    struct cs_mk_rawzip b;
    cs_mk_rawzip_init(&b);
    enum { COUNT = sizeof table / sizeof table[0] };
    for (size_t i = 0; i < COUNT; i++) {
        cs_mk_rawzip_add(&b, table[i].name, part(10), table[i].how);
    }
    cs_mk_rawzip_end(&b, 0, CS_STR(""));
    struct cs_zip z;
    open_ok(&b, &z);
    uint8_t dst[10];
    for (size_t i = 0; i < COUNT; i++) {
        const struct cs_zip_member *m = &z.members.ptr[i];
        if (m->faults != table[i].faults || !cs_str_eq(m->name, table[i].name)) {
            fail_msg("row %zu: faults %x, want %x", i, m->faults, table[i].faults);
        }
        const enum cs_code want = m->faults & CS_ZIP_FAULT_METHOD ? CS_UNSUPPORTED : CS_OK;
        assert_int_equal(cs_zip_extract(&z, m, dst, true, NULL, NULL), want);
    }
    cs_zip_close(&z);
    cs_mk_rawzip_fini(&b);
}

static void test_overlap_is_marked_and_refused(void **state) {
    (void)state;
    struct cs_mk_rawzip b;
    cs_mk_rawzip_init(&b);
    cs_mk_rawzip_add(&b, CS_STR("a"), part(10), 0);
    cs_mk_rawzip_add(&b, CS_STR("b"), part(10), 0);
    cs_mk_rawzip_add(&b, CS_STR("b"), part(10), CS_RAWZIP_ALIAS);
    cs_mk_rawzip_end(&b, 0, CS_STR(""));
    struct cs_zip z;
    open_ok(&b, &z);
    uint8_t dst[10];
    assert_int_equal(z.members.ptr[0].faults, 0);
    for (size_t i = 1; i < 3; i++) {
        assert_int_equal(z.members.ptr[i].faults, CS_ZIP_FAULT_DUPLICATE | CS_ZIP_FAULT_OVERLAP);
        assert_int_equal(cs_zip_extract(&z, &z.members.ptr[i], dst, true, NULL, NULL), CS_FORMAT);
    }
    cs_zip_close(&z);
    cs_mk_rawzip_fini(&b);
}

// One central field changed after the fact.
static void test_hostile_fields(void **state) {
    (void)state;
    static const struct {
        uint64_t at;  // in the central record
        uint32_t value;
        enum cs_code want;
        const char *text;
    } table[] = {
        {24, 0xfffffff0u, CS_LIMIT, "more than deflate can hold"},
        {20, 0x00ffffffu, CS_FORMAT, "runs into the central directory"},
        {42, 0x7fffffffu, CS_FORMAT, "local header outside"},
        {42, 1, CS_FORMAT, "no local header"},
        {0, 0, CS_FORMAT, "not a central directory record"},
        {28, 0xffff, CS_FORMAT, "runs past the end of the directory"},
        {34, 3, CS_UNSUPPORTED, "split"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct cs_mk_rawzip b;
        cs_mk_rawzip_init(&b);
        cs_mk_rawzip_add(&b, CS_STR("name"), part(5000), CS_RAWZIP_DEFLATE);
        cs_put_u32((uint8_t *)b.central.ptr + table[i].at, table[i].value);
        cs_mk_rawzip_end(&b, 0, CS_STR(""));
        struct cs_zip z;
        struct cs_err err = {0};
        char text[512];
        assert_int_equal(cs_zip_open(cs_mk_rawzip_view(&b), &z, &err), table[i].want);
        cs_err_format(&err, text, sizeof text);
        if (!strstr(text, table[i].text)) {
            fail_msg("row %zu: %s", i, text);
        }
        cs_mk_rawzip_fini(&b);
    }
}

// Every prefix of a file is refused, and neither way of inflating reads past a damaged stream.
static void test_truncated_and_damaged(void **state) {
    (void)state;
    struct cs_mk_rawzip b;
    cs_mk_rawzip_init(&b);
    cs_mk_rawzip_add(&b, CS_STR("a"), part(300), CS_RAWZIP_DEFLATE);
    cs_mk_rawzip_add(&b, CS_STR("b"), part(72000), CS_RAWZIP_DEFLATE | CS_RAWZIP_ZIP64);
    cs_mk_rawzip_end(&b, CS_RAWZIP_END_ZIP64, CS_STR(""));
    struct cs_zip z;
    for (size_t len = 0; len < b.out.len; len++) {
        if (len > 1000 && len < b.out.len - 600) {
            len += 997;
        }
        assert_int_not_equal(cs_zip_open(cs_view_of(b.out.ptr, len), &z, NULL), CS_OK);
    }
    open_ok(&b, &z);
    uint8_t *plain = malloc(72000);
    uint8_t *mapped = malloc(72000);
    const struct cs_zip_member *m = &z.members.ptr[1];
    // Byte 0 is left out: noise goes into a stored block, whose header is followed by unused bits.
    for (uint64_t at = 1; at < m->compressed_bytes; at += at < 200 ? 1 : 1009) {
        char *byte = b.out.ptr + m->data_off + at;
        *byte = (char)(*byte ^ 0x10);
        struct cs_zip_map map;
        struct cs_err err = {0};
        assert_int_equal(cs_zip_extract(&z, m, plain, true, NULL, &err), CS_FORMAT);
        assert_int_equal(err.offset, m->data_off);
        assert_int_equal(cs_zip_extract(&z, m, mapped, true, &map, &err), CS_FORMAT);
        const enum cs_code a = cs_zip_extract(&z, m, plain, false, NULL, NULL);
        const enum cs_code c = cs_zip_extract(&z, m, mapped, false, &map, NULL);
        assert_int_equal(a, c);
        if (c == CS_OK) {
            assert_memory_equal(plain, mapped, 72000);
            cs_zip_map_fini(&map);
        }
        *byte = (char)(*byte ^ 0x10);
    }
    free(plain);
    free(mapped);
    cs_zip_close(&z);
    cs_mk_rawzip_fini(&b);
}

static void test_wrong_length_and_crc(void **state) {
    (void)state;
    struct cs_mk_rawzip b;
    cs_mk_rawzip_init(&b);
    cs_mk_rawzip_add(&b, CS_STR("crc"), part(1000), CS_RAWZIP_DEFLATE | CS_RAWZIP_BAD_CRC);
    cs_mk_rawzip_add(&b, CS_STR("len"), part(1000), CS_RAWZIP_DEFLATE);
    cs_mk_rawzip_end(&b, 0, CS_STR(""));
    struct cs_zip z;
    open_ok(&b, &z);
    uint8_t dst[2000];
    struct cs_zip_map map;
    const struct cs_zip_member *crc = &z.members.ptr[0];
    assert_int_equal(cs_zip_extract(&z, crc, dst, true, NULL, NULL), CS_FORMAT);
    assert_int_equal(cs_zip_extract(&z, crc, dst, false, NULL, NULL), CS_OK);
    for (uint64_t bytes = 0; bytes < 2000; bytes++) {
        struct cs_zip_member m = z.members.ptr[1];
        m.bytes = bytes;
        const enum cs_code want = bytes == 1000 ? CS_OK : CS_FORMAT;
        assert_int_equal(cs_zip_extract(&z, &m, dst, true, NULL, NULL), want);
        assert_int_equal(cs_zip_extract(&z, &m, dst, true, &map, NULL), want);
        if (want == CS_OK) {
            cs_zip_map_fini(&map);
        }
    }
    cs_zip_close(&z);
    cs_mk_rawzip_fini(&b);
}

// Many members, in reverse order in the directory: the cost must not be quadratic.
static void test_many_members(void **state) {
    (void)state;
    enum { MANY = 150000 };
    struct cs_mk_rawzip b;
    cs_mk_rawzip_init(&b);
    char name[24];
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "d/%06u", i);
        cs_mk_rawzip_add(&b, cs_str_from(name), part(1), 0);
    }
    const size_t each = b.central.len / MANY;
    char *flipped = malloc(b.central.len);
    for (size_t i = 0; i < MANY; i++) {
        memcpy(flipped + i * each, b.central.ptr + (MANY - 1 - i) * each, each);
    }
    memcpy(b.central.ptr, flipped, b.central.len);
    free(flipped);
    cs_mk_rawzip_end(&b, CS_RAWZIP_END_ZIP64, CS_STR(""));
    struct cs_zip z;
    open_ok(&b, &z);
    assert_int_equal(z.members.count, MANY);
    assert_int_equal(z.faults, 0);
    assert_int_equal(z.members.ptr[0].faults | z.members.ptr[MANY - 1].faults, 0);
    assert_int_equal(z.members.ptr[MANY - 1].header_off, 0);
    cs_zip_close(&z);
    cs_mk_rawzip_fini(&b);
}

// 20,000 records that share one local header of 64 KiB: refused before the work adds up.
static void test_shared_long_header(void **state) {
    (void)state;
    struct cs_mk_rawzip b;
    cs_mk_rawzip_init(&b);
    cs_mk_rawzip_add(&b, CS_STR("a"), part(70000), 0);
    cs_put_u16((uint8_t *)b.out.ptr + 28, 65535);  // extra length swallows the data
    for (int i = 0; i < 20000; i++) {
        cs_mk_rawzip_add(&b, CS_STR("a"), part(0), CS_RAWZIP_ALIAS);
    }
    cs_put_u32((uint8_t *)b.central.ptr + 20, 0);
    cs_put_u32((uint8_t *)b.central.ptr + 24, 0);
    cs_mk_rawzip_end(&b, 0, CS_STR(""));
    struct cs_zip z;
    assert_int_equal(cs_zip_open(cs_mk_rawzip_view(&b), &z, NULL), CS_FORMAT);
    cs_mk_rawzip_fini(&b);
}

static int countdown;
static int fail_later(void) { return countdown-- <= 0; }

static void test_out_of_memory(void **state) {
    (void)state;
    struct cs_mk_rawzip b;
    cs_mk_rawzip_init(&b);
    cs_mk_rawzip_add(&b, CS_STR("a"), part(BYTES), CS_RAWZIP_DEFLATE);
    cs_mk_rawzip_end(&b, 0, CS_STR(""));
    uint8_t *dst = malloc(BYTES);
    enum cs_code code = CS_NOMEM;
    int tries = 0;
    for (; code == CS_NOMEM && tries < 100; tries++) {
        countdown = tries;
        cs_mem_fail_hook = fail_later;
        struct cs_zip z;
        struct cs_zip_map map;
        code = cs_zip_open(cs_mk_rawzip_view(&b), &z, NULL);
        if (code == CS_OK) {
            code = cs_zip_extract(&z, &z.members.ptr[0], dst, true, &map, NULL);
            if (code == CS_OK) {
                cs_zip_map_fini(&map);
            }
            cs_zip_close(&z);
        }
    }
    cs_mem_fail_hook = NULL;
    assert_int_equal(code, CS_OK);
    assert_true(tries > 5);
    free(dst);
    cs_mk_rawzip_fini(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_map_follows_the_stream),
        cmocka_unit_test(test_layout_facts),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_overlap_is_marked_and_refused),
        cmocka_unit_test(test_hostile_fields),
        cmocka_unit_test(test_truncated_and_damaged),
        cmocka_unit_test(test_wrong_length_and_crc),
        cmocka_unit_test(test_many_members),
        cmocka_unit_test(test_shared_long_header),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
