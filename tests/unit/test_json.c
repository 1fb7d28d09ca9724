// JSON: what the writer writes, what the reader takes, and that both fit together.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "format/json.h"

static void write_sample(struct cs_json *j) {
    cs_json_object(j);
    cs_json_kz(j, "schema", "cuslim.size/1");
    cs_json_key(j, "rows");
    cs_json_array(j);
    cs_json_u64(j, 0);
    cs_json_u64(j, UINT64_MAX);
    cs_json_i64(j, INT64_MIN);
    cs_json_bool(j, true);
    cs_json_null(j);
    cs_json_object(j);
    cs_json_object_end(j);
    cs_json_array(j);
    cs_json_array_end(j);
    cs_json_array_end(j);
    cs_json_ku64(j, "n", 7);
    cs_json_kbool(j, "b", false);
    cs_json_knull(j, "z");
    cs_json_object_end(j);
}

static void test_writer_forms(void **state) {
    (void)state;
    struct cs_buf out;
    cs_buf_init(&out, 1000);
    struct cs_json j;
    cs_json_init(&j, &out, false);
    write_sample(&j);
    assert_string_equal(out.ptr,
                        "{\"schema\":\"cuslim.size/1\",\"rows\":[0,18446744073709551615,"
                        "-9223372036854775808,true,null,{},[]],\"n\":7,\"b\":false,\"z\":null}");
    cs_buf_clear(&out);
    cs_json_init(&j, &out, true);
    write_sample(&j);
    assert_string_equal(out.ptr,
                        "{\n  \"schema\": \"cuslim.size/1\",\n  \"rows\": [\n    0,\n"
                        "    18446744073709551615,\n    -9223372036854775808,\n    true,\n"
                        "    null,\n    {},\n    []\n  ],\n  \"n\": 7,\n  \"b\": false,\n"
                        "  \"z\": null\n}");
    cs_buf_fini(&out);
}

#define BAD "\xEF\xBF\xBD"

static void test_text_escapes(void **state) {
    (void)state;
    static const struct {
        struct cs_str in;
        const char *out;
    } table[] = {
        {CS_STR(""), ""},
        {CS_STR("a\"b\\c/d"), "a\\\"b\\\\c/d"},
        {CS_STR("\n\t\x01\x7F\0x"), "\\u000a\\u0009\\u0001\x7F\\u0000x"},
        {CS_STR("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"), "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"},
        {CS_STR("\x80"), BAD},
        {CS_STR("a\xFFz"), "a" BAD "z"},
        {CS_STR("\xC0\xAF"), BAD BAD},                  // overlong
        {CS_STR("\xE0\x80\xAF"), BAD BAD BAD},          // overlong
        {CS_STR("\xED\xA0\x80"), BAD BAD BAD},          // surrogate
        {CS_STR("\xF4\x90\x80\x80"), BAD BAD BAD BAD},  // beyond U+10FFFF
        {CS_STR("\xE2\x82"), BAD},                      // cut off
        {CS_STR("\xF0\x9F\x98!"), BAD "!"},
        {CS_STR("\xE2\x82\x22"), BAD "\\\""},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct cs_buf out;
        cs_buf_init(&out, 1000);
        struct cs_json j;
        cs_json_init(&j, &out, false);
        cs_json_str(&j, table[i].in);
        char want[200];
        snprintf(want, sizeof want, "\"%s\"", table[i].out);
        assert_string_equal(out.ptr, want);
        cs_buf_fini(&out);
    }
}

static struct cs_jdoc *parse(const char *text) {
    struct cs_jdoc *doc = NULL;
    assert_int_equal(cs_jdoc_parse(cs_view_of(text, strlen(text)), &doc, NULL), CS_OK);
    assert_non_null(doc);
    return doc;
}

static void test_reader(void **state) {
    (void)state;
    struct cs_jdoc *doc = parse(
        "{\"b\":1,\"a\":[9007199254740993,-1,1.5,\"x\\u0000y\"],\"t\":true,\"n\":null,\"o\":{}}\n");
    const struct cs_jval *root = cs_jdoc_root(doc);
    uint64_t x = 5;
    assert_true(cs_ju64(cs_jget(root, "b"), &x));
    assert_int_equal(x, 1);
    const struct cs_jval *a = cs_jget(root, "a");
    assert_int_equal(cs_jcount(a), 4);
    assert_true(cs_ju64(cs_jat(a, 0), &x));
    assert_true(x == 9007199254740993u);  // not rounded to a double
    assert_false(cs_ju64(cs_jat(a, 1), &x));
    assert_false(cs_ju64(cs_jat(a, 2), &x));
    assert_int_equal(x, 0);
    assert_int_equal(cs_jstr(cs_jat(a, 3)).len, 3);
    assert_null(cs_jat(a, 4));
    bool b = false;
    assert_true(cs_jbool(cs_jget(root, "t"), &b));
    assert_true(b);
    assert_true(cs_jis_null(cs_jget(root, "n")));
    assert_int_equal(cs_jcount(cs_jget(root, "o")), 0);
    // Members come in file order.
    static const char *const keys[] = {"b", "a", "t", "n", "o"};
    struct cs_str key;
    const struct cs_jval *value;
    for (uint64_t i = 0; i < 5; i++) {
        assert_true(cs_jmember(root, i, &key, &value));
        assert_string_equal(key.ptr, keys[i]);
        assert_ptr_equal(value, cs_jget(root, keys[i]));
    }
    assert_false(cs_jmember(root, 5, &key, &value));
    // Missing and wrongly typed values are quiet.
    assert_null(cs_jget(cs_jget(root, "none"), "x"));
    assert_null(cs_jget(a, "x"));
    assert_null(cs_jat(root, 0));
    assert_int_equal(cs_jstr(cs_jget(root, "b")).len, 0);
    assert_int_equal(cs_jcount(NULL), 0);
    assert_false(cs_jbool(NULL, &b));
    assert_false(b);
    cs_jdoc_free(doc);
    cs_jdoc_free(NULL);
}

static void test_reader_errors(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
        uint64_t offset;
    } table[] = {
        {"", "JSON line 1, column 0: ", 0},
        {"{\"a\":1,\n \"a\":2}", "JSON line 2, column 4: duplicate object key near '\"a\"'", 12},
        {"[1,\n2,", "JSON line 2, column 2: ", 6},
        {"[1] x", "JSON line 1, column 5: ", 5},
        {"[99999999999999999999]", "JSON line 1, column 21: too big integer", 21},
        {"[\"\xFF\"]", "JSON line 1, column 2: unable to decode byte 0xff", 2},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct cs_jdoc *doc = NULL;
        struct cs_err err = {0};
        const struct cs_view text = cs_view_of(table[i].text, strlen(table[i].text));
        assert_int_equal(cs_jdoc_parse(text, &doc, &err), CS_FORMAT);
        assert_null(doc);
        assert_int_equal(err.offset, table[i].offset);
        assert_memory_equal(err.frame[0].text, table[i].message, strlen(table[i].message));
    }
}

static void test_reader_depth(void **state) {
    (void)state;
    char text[2 * CS_MAX_JSON_DEPTH + 3];
    memset(text, '[', CS_MAX_JSON_DEPTH);
    memset(text + CS_MAX_JSON_DEPTH, ']', CS_MAX_JSON_DEPTH);
    text[2 * CS_MAX_JSON_DEPTH] = '\0';
    cs_jdoc_free(parse(text));
    cs_jdoc_free(
        parse("{\"[[[\\\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\":1}"));
    memset(text, '[', CS_MAX_JSON_DEPTH + 1);
    struct cs_jdoc *doc = NULL;
    struct cs_err err = {0};
    assert_int_equal(cs_jdoc_parse(cs_view_of(text, strlen(text)), &doc, &err), CS_LIMIT);
    assert_int_equal(err.offset, CS_MAX_JSON_DEPTH);
}

static void test_round_trip(void **state) {
    (void)state;
    struct cs_buf out;
    cs_buf_init(&out, 1 << 20);
    struct cs_json j;
    cs_json_init(&j, &out, true);
    cs_json_array(&j);
    for (unsigned c = 0; c < 256; c++) {
        const char text[] = {'a', (char)c, 'b'};
        cs_json_str(&j, (struct cs_str){text, sizeof text});
    }
    cs_json_array_end(&j);
    assert_int_equal(cs_buf_check(&out, NULL), CS_OK);
    struct cs_jdoc *doc = parse(out.ptr);
    assert_int_equal(cs_jcount(cs_jdoc_root(doc)), 256);
    for (unsigned c = 0; c < 256; c++) {
        const struct cs_str s = cs_jstr(cs_jat(cs_jdoc_root(doc), c));
        assert_int_equal(s.len, c < 128 ? 3 : 5);
        assert_true(c >= 128 || s.ptr[1] == (char)c);
    }
    cs_jdoc_free(doc);
    cs_buf_fini(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writer_forms), cmocka_unit_test(test_text_escapes),
        cmocka_unit_test(test_reader),       cmocka_unit_test(test_reader_errors),
        cmocka_unit_test(test_reader_depth), cmocka_unit_test(test_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
