// RECORD: rows as CSV allows them, faults one by one, comparison, rewriting.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "format/record.h"

// SHA-256 of the empty text, as FIPS 180-4 gives it, in RECORD's spelling.
#define EMPTY "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"

static struct cs_view text_view(struct cs_str s) { return cs_view_of(s.ptr, s.len); }

static void test_hash_format(void **state) {
    (void)state;
    uint8_t sha[CS_SHA256_BYTES];
    char out[CS_RECORD_HASH_TEXT];
    cs_sha256("", 0, sha);
    cs_record_hash_format(sha, out);
    assert_string_equal(out, "sha256=" EMPTY);
}

static void test_rows(void **state) {
    (void)state;
    static const struct {
        struct cs_str text;
        struct cs_str path;
        enum cs_record_hash hash;
        uint32_t faults;
        uint64_t size;  // UINT64_MAX: none
    } table[] = {
        {CS_STR("a.py,sha256=" EMPTY ",0\n"), CS_STR("a.py"), CS_RECORD_HASH_SHA256, 0, 0},
        {CS_STR("a.py,sha256=" EMPTY ",12"), CS_STR("a.py"), CS_RECORD_HASH_SHA256, 0, 12},
        {CS_STR("x/RECORD,,\r\n"), CS_STR("x/RECORD"), CS_RECORD_HASH_NONE, 0, UINT64_MAX},
        {CS_STR("\"a,\"\"b\"\".py\",,3\n"), CS_STR("a,\"b\".py"), CS_RECORD_HASH_NONE, 0, 3},
        {CS_STR("\"two\nlines\",,3\n"), CS_STR("two\nlines"), CS_RECORD_HASH_NONE,
         CS_RECORD_BAD_PATH, 3},
        {CS_STR("\"a\"b,,3\n"), CS_STR("ab"), CS_RECORD_HASH_NONE, CS_RECORD_QUOTES, 3},
        {CS_STR("a\"b,,3\n"), CS_STR("a\"b"), CS_RECORD_HASH_NONE, CS_RECORD_QUOTES, 3},
        {CS_STR("\"open,,3\n"), CS_STR("open,,3\n"), CS_RECORD_HASH_NONE,
         CS_RECORD_QUOTES | CS_RECORD_FIELDS | CS_RECORD_BAD_PATH, UINT64_MAX},
        {CS_STR("a,sha256=" EMPTY "=,0\n"), CS_STR("a"), CS_RECORD_HASH_SHA256, CS_RECORD_PADDED,
         0},
        {CS_STR("a,sha256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU,0\n"), CS_STR("a"),
         CS_RECORD_HASH_SHA256, CS_RECORD_NOT_URLSAFE, 0},
        {CS_STR("a,sha256=47DEQ,0\n"), CS_STR("a"), CS_RECORD_HASH_BAD, 0, 0},
        {CS_STR("a,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFV,0\n"), CS_STR("a"),
         CS_RECORD_HASH_BAD, 0, 0},  // left-over bits are not 0
        {CS_STR("a," EMPTY ",0\n"), CS_STR("a"), CS_RECORD_HASH_BAD, 0, 0},
        {CS_STR("a,md5=xyz,0\n"), CS_STR("a"), CS_RECORD_HASH_WEAK, 0, 0},
        {CS_STR("a,sha512=xyz,0\n"), CS_STR("a"), CS_RECORD_HASH_OTHER, 0, 0},
        {CS_STR("a,,-1\n"), CS_STR("a"), CS_RECORD_HASH_NONE, CS_RECORD_BAD_SIZE, UINT64_MAX},
        {CS_STR("a,,99999999999999999999\n"), CS_STR("a"), CS_RECORD_HASH_NONE, CS_RECORD_BAD_SIZE,
         UINT64_MAX},
        {CS_STR("a\n"), CS_STR("a"), CS_RECORD_HASH_NONE, CS_RECORD_FIELDS, UINT64_MAX},
        {CS_STR("a,,1,\n"), CS_STR("a"), CS_RECORD_HASH_NONE, CS_RECORD_FIELDS, 1},
        {CS_STR("d/,,\n"), CS_STR("d/"), CS_RECORD_HASH_NONE, CS_RECORD_DIRECTORY, UINT64_MAX},
        {CS_STR("../bin/x,,\n"), CS_STR("../bin/x"), CS_RECORD_HASH_NONE, CS_RECORD_BAD_PATH,
         UINT64_MAX},
        {CS_STR("a\\b,,\n"), CS_STR("a\\b"), CS_RECORD_HASH_NONE, CS_RECORD_BAD_PATH, UINT64_MAX},
        {CS_STR("\xff,,\n"), CS_STR("\xff"), CS_RECORD_HASH_NONE, CS_RECORD_BAD_PATH, UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct cs_record r;
        assert_int_equal(cs_record_parse(text_view(table[i].text), &r, NULL), CS_OK);
        assert_int_equal(r.rows.count, 1);
        const struct cs_record_row *row = &r.rows.ptr[0];
        const uint64_t size = row->has_size ? row->size : UINT64_MAX;
        if (!cs_str_eq(row->path, table[i].path) || row->hash != table[i].hash ||
            row->faults != table[i].faults || size != table[i].size) {
            fail_msg("%s gives '%.*s' hash %d faults %x", table[i].text.ptr, (int)row->path.len,
                     row->path.ptr, (int)row->hash, row->faults);
        }
        assert_int_equal(row->off + row->bytes, table[i].text.len);
        assert_int_equal(cs_record_find(&r, row->path), 0);
        assert_int_equal(cs_record_find(&r, CS_STR("other")), CS_RECORD_NONE);
        cs_record_close(&r);
    }
}

static const struct cs_str SAMPLE = CS_STR("good,sha256=" EMPTY
                                           ",0\n"
                                           "hash,sha256=" EMPTY
                                           ",0\n"
                                           "size,sha256=" EMPTY
                                           ",7\n"
                                           "padded,sha256=" EMPTY
                                           "=,0\n"
                                           "none,,0\n"
                                           "weak,md5=x,0\n"
                                           "gone,sha256=" EMPTY
                                           ",0\n"
                                           "dir/,,\n"
                                           "good,sha256=" EMPTY
                                           ",0\n"
                                           "\n"
                                           "p-1.dist-info/RECORD.p7s,,\n"
                                           "p-1.dist-info/RECORD,,\n");

static const struct {
    const char *path;
    const char *content;
} FILES[] = {
    {"good", ""},
    {"hash", "x"},
    {"size", ""},
    {"padded", ""},
    {"none", ""},
    {"weak", ""},
    {"unlisted", ""},
    {"p-1.dist-info/RECORD", "whatever"},
    {"p-1.dist-info/RECORD.jws", "s"},
    {"p-1.dist-info/RECORD.p7s", "s"},
};
enum { FILE_COUNT = sizeof FILES / sizeof FILES[0] };

static void test_verify(void **state) {
    (void)state;
    static const char *const want[] = {
        "wrong-hash hash",    "wrong-size hash",      "wrong-size size",    "no-hash none",
        "weak-hash weak",     "missing-row unlisted", "padded-hash padded", "extra-row gone",
        "directory-row dir/", "duplicate-row good",   "empty-line ",
    };
    struct cs_record r;
    struct cs_record_file files[FILE_COUNT];
    assert_int_equal(cs_record_parse(text_view(SAMPLE), &r, NULL), CS_OK);
    for (size_t i = 0; i < FILE_COUNT; i++) {
        files[i] = (struct cs_record_file){
            .path = cs_str_from(FILES[i].path), .bytes = strlen(FILES[i].content), .hashed = true};
        cs_sha256(FILES[i].content, strlen(FILES[i].content), files[i].sha256);
    }
    struct cs_record_faults faults;
    assert_int_equal(
        cs_record_verify(&r, files, FILE_COUNT, CS_STR("p-1.dist-info/RECORD"), &faults, NULL),
        CS_OK);
    for (size_t i = 0; i < faults.list.count; i++) {
        const struct cs_record_fault f = faults.list.ptr[i];
        const struct cs_str path = f.file != CS_RECORD_NONE  ? files[f.file].path
                                   : f.row != CS_RECORD_NONE ? r.rows.ptr[f.row].path
                                                             : (struct cs_str){"", 0};
        char got[64];
        snprintf(got, sizeof got, "%s %.*s", cs_record_fault_name(f.kind), (int)path.len, path.ptr);
        assert_true(i < sizeof want / sizeof want[0]);
        assert_string_equal(got, want[i]);
    }
    assert_int_equal(faults.list.count, sizeof want / sizeof want[0]);
    cs_vec_fini(&faults.list);
    cs_record_close(&r);
}

static void rewrite(struct cs_str text, const struct cs_record_edit *edits, size_t count,
                    enum cs_code want, const char *want_text) {
    struct cs_record r;
    struct cs_buf out;
    struct cs_err err = {0};
    cs_buf_init(&out, 1 << 20);
    assert_int_equal(cs_record_parse(text_view(text), &r, NULL), CS_OK);
    assert_int_equal(cs_record_rewrite(&r, edits, count, &out, &err), want);
    if (want == CS_OK) {
        assert_string_equal(cs_buf_str(&out).ptr, want_text);
    }
    cs_record_close(&r);
    cs_buf_fini(&out);
}

static void test_rewrite(void **state) {
    (void)state;
    struct cs_record_edit e = {.path = CS_STR("b,c"), .bytes = 5};
    cs_sha256("", 0, e.sha256);
    const struct cs_record_edit drop = {.path = CS_STR("a"), .drop = true};
    const struct cs_record_edit both[] = {e, drop};
    const struct cs_record_edit twice[] = {e, e};
#define OWN "p-1.dist-info/RECORD,,\n"
    rewrite(SAMPLE, NULL, 0, CS_OK, SAMPLE.ptr);
    rewrite(CS_STR("a,,1\r\n\"b,c\",sha256=x,9\r\n" OWN), both, 2, CS_OK,
            "\"b,c\",sha256=" EMPTY ",5\r\n" OWN);
    rewrite(CS_STR("a,,1\n" OWN), both, 2, CS_OK, "\"b,c\",sha256=" EMPTY ",5\n" OWN);
    rewrite(CS_STR("a,,1"), &e, 1, CS_OK, "a,,1\n\"b,c\",sha256=" EMPTY ",5\n");
    rewrite(CS_STR(""), &e, 1, CS_OK, "\"b,c\",sha256=" EMPTY ",5\n");
    rewrite(CS_STR("b\n\"b,c\",,3\n"), twice, 2, CS_CONFLICT, NULL);
    rewrite(CS_STR("\"b,c\",,3\n\"b,c\",,3\n"), &e, 1, CS_CONFLICT, NULL);
    rewrite(CS_STR("a,,3\na,,3\n"), &e, 1, CS_OK, "a,,3\na,,3\n\"b,c\",sha256=" EMPTY ",5\n");
}

// Any text, rewritten without edits, is itself; with its own rows as edits it verifies.
static void test_rewrite_property(void **state) {
    (void)state;
    uint32_t x = 7;
    for (int round = 0; round < 3000; round++) {
        char text[64];
        size_t len = 0;
        x = x * 1664525u + 1013904223u;
        const size_t size = (x >> 16) % sizeof text;
        while (len < size) {
            x = x * 1664525u + 1013904223u;
            text[len++] = "ab,,\"\n\r\r\n=/1"[(x >> 20) % 12];
        }
        struct cs_record r;
        struct cs_buf out;
        cs_buf_init(&out, 1 << 20);
        assert_int_equal(cs_record_parse(cs_view_of(text, len), &r, NULL), CS_OK);
        assert_int_equal(cs_record_rewrite(&r, NULL, 0, &out, NULL), CS_OK);
        assert_int_equal(out.len, len);
        assert_memory_equal(cs_buf_str(&out).ptr, text, len);
        cs_record_close(&r);
        cs_buf_fini(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash_format),      cmocka_unit_test(test_rows),
        cmocka_unit_test(test_verify),           cmocka_unit_test(test_rewrite),
        cmocka_unit_test(test_rewrite_property),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
