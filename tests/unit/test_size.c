#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/size.h"
#include "base/suggest.h"

static void test_text(void **state) {
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *text;
    } rows[] = {
        {0, "0 B"},
        {1023, "1023 B"},
        {1024, "1.0 KiB"},
        {1075, "1.0 KiB"},
        {1076, "1.1 KiB"},  // 1.0508: half up
        {1048524, "1023.9 KiB"},
        {1048525, "1.00 MiB"},  // would read 1024.0 KiB
        {1048576, "1.00 MiB"},
        {1712508080, "1633.17 MiB"},
        {683573248, "651.91 MiB"},
        {(uint64_t)5 << 40, "5242880.00 MiB"},
        {UINT64_MAX, "17592186044416.00 MiB"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[CS_SIZE_TEXT_BYTES];
        cs_size_text(rows[i].bytes, text);
        assert_string_equal(text, rows[i].text);
    }
    char text[CS_SIZE_TEXT_BYTES];
    cs_size_delta_text(-3, text);
    assert_string_equal(text, "-3 B");
    cs_size_delta_text(1310720, text);
    assert_string_equal(text, "+1.25 MiB");
    cs_size_delta_text(0, text);
    assert_string_equal(text, "0 B");
    cs_size_delta_text(INT64_MIN, text);
    assert_string_equal(text, "-8796093022208.00 MiB");
}

static void test_parse(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool ok;
        uint64_t bytes;
    } rows[] = {
        {"0", true, 0},
        {"2048", true, 2048},
        {"12 B", true, 12},
        {"300MiB", true, 300u << 20},
        {"300 MiB", true, 300u << 20},
        {"1.5G", true, 3ull << 29},
        {"100MB", true, 100000000},
        {"100mb", true, 100000000},
        {"4 k", true, 4096},
        {"0.5KiB", true, 512},
        {"16777215T", true, 16777215ull << 40},
        {"16777216T", false, 0},
        {"18446744073709551615", true, UINT64_MAX},
        {"18446744073709551616", false, 0},
        {"", false, 0},
        {"MiB", false, 0},
        {"1.", false, 0},
        {".5M", false, 0},
        {"-1", false, 0},
        {"1 MiBs", false, 0},
        {"1iB", false, 0},
        {"1Mi", false, 0},
        {"1 %", false, 0},
        {"1.5.5M", false, 0},
        {"0x10", false, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t bytes = 0;
        const bool ok = cs_size_parse(cs_str_from(rows[i].text), &bytes);
        if (ok != rows[i].ok || (ok && bytes != rows[i].bytes)) {
            fail_msg("'%s' gave %d, %llu", rows[i].text, ok, (unsigned long long)bytes);
        }
    }
}

static void test_distance(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        size_t distance;
    } rows[] = {
        {"", "", 0},           {"a", "", 1},        {"size", "size", 0}, {"SIZE", "size", 0},
        {"szie", "size", 1},   {"sise", "size", 1}, {"siz", "size", 1},  {"sizes", "size", 1},
        {"kitten", "sitting", 3}, {"ca", "abc", 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct cs_str a = cs_str_from(rows[i].a), b = cs_str_from(rows[i].b);
        assert_int_equal(cs_edit_distance(a, b), rows[i].distance);
        assert_int_equal(cs_edit_distance(b, a), rows[i].distance);
    }
}

static const char *nearest(const char *word) {
    struct cs_suggest s = {.word = cs_str_from(word)};
    cs_suggest_offer(&s, "size");
    cs_suggest_offer(&s, "slim");
    cs_suggest_offer(&s, "explain");
    return cs_suggest_best(&s);
}

static void test_suggest(void **state) {
    (void)state;
    assert_string_equal(nearest("sizr"), "size");
    assert_string_equal(nearest("slimm"), "slim");
    assert_string_equal(nearest("eplian"), "explain");
    assert_null(nearest("frobnicate"));
    assert_null(nearest("x"));
    char huge[100];
    memset(huge, 's', sizeof huge - 1);
    huge[sizeof huge - 1] = '\0';
    assert_null(nearest(huge));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_distance),
        cmocka_unit_test(test_suggest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
