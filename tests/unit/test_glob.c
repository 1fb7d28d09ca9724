#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/glob.h"

static void test_whole_paths(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *path;
        bool match;
    } rows[] = {
        {"*.cu", "a.cu", true},
        {"*.cu", "x/a.cu", false},
        {"csrc/*.cu", "csrc/a.cu", true},
        {"csrc/*.cu", "csrc/x/a.cu", false},
        {"csrc/**/*.cu", "csrc/a.cu", true},
        {"csrc/**/*.cu", "csrc/x/y/a.cu", true},
        {"**/*.cu", "a.cu", true},
        {"**", "a/b/c", true},
        {"a/**", "a/b", true},
        {"a/**/b/**/c", "a/x/b/y/z/c", true},
        {"a/**/b/**/c", "a/x/y/z/c", false},
        {"a?c", "abc", true},
        {"a?c", "a/c", false},
        {"*a*b*", "xaxxbx", true},
        {"*a*b*", "xbxxax", false},
        {"", "", false},
        {"a", "", false},
        {"", "a", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (cs_glob_match(cs_str_from(rows[i].pattern), cs_str_from(rows[i].path)) !=
            rows[i].match) {
            fail_msg("%s on %s: want %d", rows[i].pattern, rows[i].path, rows[i].match);
        }
    }
}

static void test_trailing_parts(void **state) {
    (void)state;
    const struct cs_str pattern = CS_STR("sgl_kernel/sm90/*.so");
    assert_true(cs_glob_match_tail(pattern, CS_STR("sgl_kernel/sm90/common_ops.so")));
    assert_true(cs_glob_match_tail(pattern, CS_STR("opt/site/sgl_kernel/sm90/common_ops.so")));
    assert_true(cs_glob_match_tail(pattern, CS_STR("sm90/common_ops.so")));
    assert_true(cs_glob_match_tail(pattern, CS_STR("common_ops.so")));
    assert_false(cs_glob_match_tail(pattern, CS_STR("sm100/common_ops.so")));
    assert_false(cs_glob_match_tail(pattern, CS_STR("other/sm100/common_ops.so")));
    assert_false(cs_glob_match_tail(pattern, CS_STR("common_ops.py")));
}

static void test_source_names(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *source;
        bool match;
    } rows[] = {
        {"csrc/marlin/**/*.cu", "csrc/marlin/a/b.cu", true},
        {"csrc/marlin/**/*.cu", "/build/x/csrc/marlin/b.cu", true},
        {"csrc/marlin/**/*.cu", "../csrc/marlin/b.cu", true},
        {"csrc/marlin/**/*.cu", "marlin/b.cu", false},
        {"csrc/marlin/**/*.cu", "b.cu", false},
        {"csrc/marlin/gptq_*.cu", "gptq_marlin.cu", true},
        {"csrc/marlin/gptq_*.cu", "awq_marlin.cu", false},
        {"csrc/x.cu", "x.cu", true},
        {"csrc/x.cu", "y.cu", false},
        {"csrc/?.cu", "x.cu", false},
        {"**", "x.cu", false},
        {"**", "a/x.cu", true},
        {"csrc/*.cu", "", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (cs_glob_match_source(cs_str_from(rows[i].pattern), cs_str_from(rows[i].source)) !=
            rows[i].match) {
            fail_msg("%s on %s: want %d", rows[i].pattern, rows[i].source, rows[i].match);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_paths),
        cmocka_unit_test(test_trailing_parts),
        cmocka_unit_test(test_source_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
