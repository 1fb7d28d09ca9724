// Budgets: what is over, where the bytes are, and what is free to cut.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "build/mk_check.h"
#include "model/config.h"

#define FOUND(t, slug, severity, text) \
    assert_true(cs_mk_check_found(t, slug, CS_SEVERITY_##severity, text))

static void start(struct cs_mk_check *t) {
    cs_mk_check_start(t);
    cs_mk_check_library(t, "pkg/big.so", "a.cu: sm_80 sm_90[x,y,z] sm_90a[x,y,z]");
    cs_mk_check_library(t, "pkg/small.so", "b.cu: sm_80:z compute_80:z");
    cs_mk_check_read(t);
}

static void ask(struct cs_mk_check *t, const struct cs_check_budget *budgets, uint32_t count) {
    cs_mk_check_run(t, &(struct cs_mk_check_ask){
                           .select = "B",
                           .more = {.budgets = budgets, .budget_count = count}});
}

// U05: the gate names the bytes by library, target, kind and kernel, and the cheapest cuts.
static void test_u05_over(void **state) {
    (void)state;
    struct cs_mk_check t;
    start(&t);
    const uint64_t wheel = t.inv.inputs.ptr[0].bytes;
    const struct cs_check_budget exact[] = {
        {CS_STR("wheel"), false, wheel, CS_STR("--budget")},
        {CS_STR("pypi"), false, 100 * CS_MIB, CS_STR("--budget")}};
    ask(&t, exact, 2);
    assert_true(t.result.pass);
    assert_int_equal(t.result.gauges.count, 2);
    assert_null(t.result.tables);
    const struct cs_check_budget tight[] = {
        {CS_STR("wheel"), false, wheel - 1, CS_STR("cuslim.toml:4")},
        {CS_STR("installed"), true, 1000, CS_STR("--budget")}};
    ask(&t, tight, 2);
    assert_false(t.result.pass);
    assert_int_equal(cs_mk_check_count(&t, "over-budget"), 2);
    FOUND(&t, "over-budget", ERROR, "cuslim.toml:4) by 1 B");
    FOUND(&t, "over-budget", ERROR, "largest: pkg/big.so");
    FOUND(&t, "over-budget", ERROR, "images that no device ever runs take");
    FOUND(&t, "over-budget", ERROR, "images stored without compression take");
    assert_non_null(t.result.tables);
    uint64_t sums[CS_CHECK_TABLES] = {0};
    for (size_t i = 0; i < CS_CHECK_TABLES; i++) {
        for (size_t r = 0; r < t.result.tables[i].rows.count; r++) {
            sums[i] += t.result.tables[i].rows.ptr[r].file_bytes;
        }
        assert_int_equal(sums[i], sums[0]);  // the same bytes, however they are grouped
    }
    assert_int_equal(sums[0], t.result.tables[0].totals.device_file_bytes);
    assert_int_equal(t.result.cuts[CS_CUT_SHADOWED].images, 1);
    assert_int_equal(t.result.cuts[CS_CUT_RAW].images, 3);
    cs_mk_check_end(&t);
}

// The limits that have names.
static void test_names(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } rows[] = {{"pypi", 104857600}, {"nuget", 250000000}, {"github", 2147483648}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t bytes = 0;
        assert_true(cs_budget_parse(cs_str_from(rows[i].text), &bytes));
        assert_int_equal(bytes, rows[i].bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_u05_over),
                                       cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
