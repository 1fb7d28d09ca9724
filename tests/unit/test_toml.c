// TOML: values, their lines and order, and what is refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "format/toml.h"

static struct cs_toml *parse(const char *text) {
    struct cs_toml *t = NULL;
    struct cs_err err = {0};
    if (cs_toml_parse(cs_view_of(text, strlen(text)), &t, &err) != CS_OK) {
        fail_msg("%s", err.frame[0].text);
    }
    return t;
}

static void test_values(void **state) {
    (void)state;
    struct cs_toml *t = parse(
        "# comment\n"
        "zeta = \"a\\tb\"\n"
        "alpha = 9223372036854775807\n"
        "real = 1.5\n"
        "yes = true\n"
        "day = 2026-12-01\n"
        "list = [ \"x\",\n 'y',\n ]\n"
        "[tool.cuslim]\n"
        "a.b = 1\n"
        "[[tool.cuslim.source]]\n"
        "files = []\n"
        "[[tool.cuslim.source]]\n"
        "arch = { in = 'line' }\n");
    const struct cs_toml_value *root = cs_toml_root(t);
    assert_int_equal(root->type, CS_TOML_TABLE);
    static const struct {
        const char *key;
        enum cs_toml_type type;
        uint32_t line;
    } members[] = {
        {"zeta", CS_TOML_STRING, 2}, {"alpha", CS_TOML_INTEGER, 3}, {"real", CS_TOML_FLOAT, 4},
        {"yes", CS_TOML_BOOL, 5},    {"day", CS_TOML_DATE, 6},      {"list", CS_TOML_ARRAY, 7},
        {"tool", CS_TOML_TABLE, 10},
    };
    assert_int_equal(root->count, sizeof members / sizeof *members);
    for (uint32_t i = 0; i < root->count; i++) {
        assert_string_equal(root->keys[i].name.ptr, members[i].key);
        assert_int_equal(root->items[i].type, members[i].type);
        assert_int_equal(root->keys[i].line, members[i].line);
    }
    assert_string_equal(cs_toml_get(root, "zeta")->text.ptr, "a\tb");
    assert_true(cs_toml_get(root, "alpha")->integer == INT64_MAX);
    assert_true(cs_toml_get(root, "real")->real > 1.4);
    assert_true(cs_toml_get(root, "yes")->boolean);
    const struct cs_toml_value *list = cs_toml_get(root, "list");
    assert_int_equal(list->count, 2);
    assert_string_equal(list->items[1].text.ptr, "y");
    assert_int_equal(list->items[1].line, 8);
    const struct cs_toml_value *cuslim = cs_toml_get(cs_toml_get(root, "tool"), "cuslim");
    assert_int_equal(cs_toml_get(cs_toml_get(cuslim, "a"), "b")->integer, 1);
    const struct cs_toml_value *sources = cs_toml_get(cuslim, "source");
    assert_int_equal(sources->count, 2);
    assert_int_equal(sources->items[1].line, 14);
    assert_int_equal(cs_toml_get(&sources->items[0], "files")->count, 0);
    assert_string_equal(cs_toml_get(cs_toml_get(&sources->items[1], "arch"), "in")->text.ptr,
                        "line");
    assert_null(cs_toml_get(root, "none"));
    assert_null(cs_toml_get(list, "x"));
    assert_null(cs_toml_get(NULL, "x"));
    cs_toml_free(t);
    cs_toml_free(NULL);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *place;
    } table[] = {
        {"a = ", "line 1, column 5: "},
        {"a = 1\na = 2\n", "line 2, column "},
        {"\n[x\n", "line 2, column "},
        {"a = \"\xFF\"", "line 1, column "},
        {"a = 99999999999999999999", "line 1, column "},
        {"a = 1 b = 2", "line 1, column "},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct cs_toml *t = NULL;
        struct cs_err err = {0};
        const struct cs_view text = cs_view_of(table[i].text, strlen(table[i].text));
        assert_int_equal(cs_toml_parse(text, &t, &err), CS_FORMAT);
        assert_null(t);
        assert_memory_equal(err.frame[0].text, table[i].place, strlen(table[i].place));
        assert_null(strchr(err.frame[0].text, '\n'));
    }
}

// Text that toml++ itself trips over.
static void test_assertions(void **state) {
    (void)state;
    static const char *const table[] = {
        "[= 0xFF", "[ =",           "[[=",           "a.=1",
        "x={=1}",  "\xC3\xA4 = 1", "\xC2\xA0 = 1", "a = \"\"\"\\\xC3\xA4\"\"\""};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct cs_toml *t = NULL;
        struct cs_err err = {0};
        assert_int_equal(cs_toml_parse(cs_view_of(table[i], strlen(table[i])), &t, &err),
                         CS_FORMAT);
        assert_int_equal(err.count, 1);
    }
}

static void refuse(const char *part, size_t times, const char *head, enum cs_code want) {
    const size_t n = strlen(part), h = strlen(head);
    char *text = malloc(h + n * times + 1);
    assert_non_null(text);
    memcpy(text, head, h);
    for (size_t i = 0; i < times; i++) {
        memcpy(text + h + i * n, part, n);
    }
    struct cs_toml *t = NULL;
    assert_int_equal(cs_toml_parse(cs_view_of(text, h + n * times), &t, NULL), want);
    cs_toml_free(t);
    free(text);
}

static void test_depth(void **state) {
    (void)state;
    refuse("[", 100000, "a = ", CS_FORMAT);
    refuse("{a=", 100000, "a = ", CS_FORMAT);
    refuse("a.", 100000, "", CS_FORMAT);
    refuse("a.", 100000, "[", CS_FORMAT);
    refuse("\"a\" . ", 100000, "x = 1\n'''\n", CS_FORMAT);
    refuse("'a' .\t", 100000, "x = { ", CS_FORMAT);
    refuse("a = 1\n", 2, "", CS_FORMAT);
    refuse("# a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a\n", 9, "",
           CS_OK);
    refuse("................................................................................", 2,
           "a = '", CS_FORMAT);
    refuse("\"\xC3\xA4\" = 1 # \xC3\xA4\n", 1, "\xEF\xBB\xBF", CS_OK);
    refuse("x", CS_MAX_CONFIG_BYTES, "#", CS_LIMIT);
    refuse("a", 0, "", CS_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_assertions),
        cmocka_unit_test(test_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
