// Targets, devices, toolkits and drivers: every row that docs/format/targets.md states.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "model/toolkit.h"

static struct cs_driver driver(const char *text) {
    struct cs_driver d;
    struct cs_err err = {0};
    assert_int_equal(cs_driver_parse(cs_str_from(text), &d, &err), CS_OK);
    return d;
}

static struct cs_device device(const char *text) {
    struct cs_device d;
    assert_true(cs_device_parse(cs_str_from(text), &d));
    return d;
}

static struct cs_target target(const char *text) {
    struct cs_target t;
    assert_true(cs_target_parse(cs_str_from(text), &t));
    return t;
}

static void test_target_texts(void **state) {
    (void)state;
    static const char *const good[] = {"sm_75",      "sm_90a",       "sm_100f",    "sm_121a",
                                       "compute_80", "compute_103f", "compute_90a"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        char text[CS_TARGET_TEXT_BYTES];
        cs_target_text(target(good[i]), text);
        assert_string_equal(text, good[i]);
    }
    static const char *const bad[] = {"",       "sm_",      "sm_9",      "sm_90b",   "sm_90aa",
                                      "SM_90",  "sm_90 ",   " sm_90",    "compute_", "sm_090",
                                      "lto_90", "sm_12345", "compute90", "sm-90"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct cs_target t;
        if (cs_target_parse(cs_str_from(bad[i]), &t)) {
            fail_msg("accepted \"%s\"", bad[i]);
        }
    }
    static const char *const dotted[] = {"5.0", "9.0a", "10.0f", "12.1a"};
    for (size_t i = 0; i < sizeof dotted / sizeof dotted[0]; i++) {
        struct cs_target t;
        char text[CS_TARGET_TEXT_BYTES];
        assert_true(cs_target_parse_dotted(cs_str_from(dotted[i]), &t));
        cs_target_dotted(t, text);
        assert_string_equal(text, dotted[i]);
    }
    static const char *const bad_dotted[] = {"9",    "9.",   ".9",      "9.0b",
                                             "9.10", "09.0", "9.0+PTX", "9.00"};
    for (size_t i = 0; i < sizeof bad_dotted / sizeof bad_dotted[0]; i++) {
        struct cs_target t;
        if (cs_target_parse_dotted(cs_str_from(bad_dotted[i]), &t)) {
            fail_msg("accepted \"%s\"", bad_dotted[i]);
        }
    }
}

static void test_target_order(void **state) {
    (void)state;
    static const char *const ascending[] = {"sm_90",  "compute_90", "sm_90a",  "compute_90a",
                                            "sm_100", "sm_100a",    "sm_100f", "sm_103"};
    for (size_t i = 0; i < 8; i++) {
        for (size_t j = 0; j < 8; j++) {
            const int got = cs_target_cmp(target(ascending[i]), target(ascending[j]));
            assert_int_equal((got > 0) - (got < 0), (i > j) - (i < j));
        }
    }
}

// What ptxas of each toolkit takes; the row of the oldest toolkit that the line holds for.
static void test_toolkit_targets(void **state) {
    (void)state;
    static const struct {
        uint16_t first, last;
        const char *targets;
    } rows[] = {
        {110, 110, "35 37 50 52 53 60 61 62 70 72 75 80"},
        {111, 113, "35 37 50 52 53 60 61 62 70 72 75 80 86"},
        {114, 117, "35 37 50 52 53 60 61 62 70 72 75 80 86 87"},
        {118, 118, "35 37 50 52 53 60 61 62 70 72 75 80 86 87 89 90"},
        {120, 127, "50 52 53 60 61 62 70 72 75 80 86 87 89 90 90a"},
        {128, 128, "50 52 53 60 61 62 70 72 75 80 86 87 89 90 90a 100 100a 101 101a 120 120a"},
        {129, 129,
         "50 52 53 60 61 62 70 72 75 80 86 87 89 90 90a 100 100a 100f 101 101a 101f 103 103a 103f "
         "120 120a 120f 121 121a 121f"},
        {130, 133,
         "75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 110 110a 110f 120 120a 120f 121 "
         "121a 121f"},
        {134, 135,
         "75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 107 107a 107f 110 110a 110f 120 "
         "120a 120f 121 121a 121f"},
    };
    uint32_t count;
    const struct cs_target_row *table = cs_target_table(&count);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        for (uint16_t toolkit = rows[r].first; toolkit <= rows[r].last; toolkit++) {
            char got[512];
            int len = 0;
            for (uint32_t i = 0; i < count; i++) {
                if (cs_target_in_toolkit(table[i].arch, table[i].suffix, toolkit)) {
                    const char suffix[2] = {table[i].suffix, 0};
                    len += snprintf(got + len, sizeof got - (size_t)len, "%s%u%s", len ? " " : "",
                                    table[i].arch, suffix);
                }
            }
            assert_string_equal(got, rows[r].targets);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        assert_non_null(table[i].source);
        assert_true(i == 0 ||
                    cs_target_cmp((struct cs_target){table[i - 1].arch, table[i - 1].suffix, false},
                                  (struct cs_target){table[i].arch, table[i].suffix, false}) < 0);
    }
    assert_null(cs_target_find(80, 'a'));
    assert_false(cs_target_in_toolkit(130, 0, 135));
    assert_int_equal(cs_target_other_name(101), 110);
    assert_int_equal(cs_target_other_name(110), 101);
    assert_int_equal(cs_target_other_name(100), 0);
}

static void test_toolkit_rows(void **state) {
    (void)state;
    static const struct {
        uint16_t toolkit, isa;
        const char *driver;
    } rows[] = {
        {110, 70, "450.51.05"}, {111, 71, "455.23"},    {112, 72, "460.27.03"},
        {113, 73, "465.19.01"}, {114, 74, "470.42.01"}, {115, 75, "495.29.05"},
        {116, 76, "510.39.01"}, {117, 77, "515.43.04"}, {118, 78, "520.61.05"},
        {120, 80, "525.60.13"}, {121, 81, "530.30.02"}, {122, 82, "535.54.03"},
        {123, 83, "545.23.06"}, {124, 84, "550.54.14"}, {125, 85, "555.42.02"},
        {126, 85, "560.28.03"}, {127, 86, "R565"},      {128, 87, "570.26"},
        {129, 88, "575.51.03"}, {130, 90, "580.65.06"}, {131, 91, "590.44.01"},
        {132, 92, "595.45.04"}, {133, 93, "610.43.02"}, {134, 94, "R615"},
        {135, 95, "R620"},
    };
    uint32_t count;
    (void)cs_toolkit_table(&count);
    assert_int_equal(count, sizeof rows / sizeof rows[0]);
    for (size_t i = 0; i < count; i++) {
        const struct cs_toolkit_row *row = cs_toolkit_find(rows[i].toolkit);
        assert_non_null(row);
        assert_int_equal(row->ptx_isa_x10, rows[i].isa);
        assert_int_equal(row->published, rows[i].toolkit != 127);
        char text[CS_DRIVER_TEXT_BYTES];
        cs_driver_text(row->driver, text);
        assert_string_equal(text, rows[i].driver);
        if (rows[i].toolkit != 126) {  // 12.5 came with PTX 8.5 before it
            cs_driver_text(cs_ptx_driver(rows[i].isa), text);
            assert_string_equal(text, rows[i].driver);
        }
        // Its own driver takes its PTX, the one before does not take it unless it had it already.
        assert_int_equal(cs_driver_takes_ptx(row->driver, rows[i].isa), CS_TRI_YES);
        assert_int_equal(cs_driver_ptx_isa(row->driver), rows[i].isa);
        if (i > 0) {
            assert_int_equal(cs_driver_takes_ptx(driver(rows[i - 1].driver), rows[i].isa),
                             rows[i].isa == rows[i - 1].isa ? CS_TRI_YES : CS_TRI_NO);
        }
    }
    assert_null(cs_toolkit_find(119));
    assert_null(cs_toolkit_find(140));
    assert_int_equal(cs_toolkit_newest(), 135);
}

static void test_ptx_unknown(void **state) {
    (void)state;
    assert_false(cs_driver_known(cs_ptx_driver(89)));
    assert_false(cs_driver_known(cs_ptx_driver(99)));
    assert_false(cs_driver_known(cs_ptx_driver(0)));
    assert_int_equal(cs_driver_takes_ptx(driver("580.65.06"), 99), CS_TRI_NO);
    assert_int_equal(cs_driver_takes_ptx(driver("R700"), 99), CS_TRI_UNKNOWN);
    assert_int_equal(cs_driver_takes_ptx(driver("580.65.06"), 89), CS_TRI_YES);
    assert_int_equal(cs_driver_takes_ptx(driver("577.10"), 89), CS_TRI_UNKNOWN);
    assert_int_equal(cs_driver_takes_ptx(driver("570.26"), 89), CS_TRI_NO);
    assert_int_equal(cs_driver_takes_ptx(driver("450.51.05"), 64), CS_TRI_YES);
    assert_int_equal(cs_driver_takes_ptx((struct cs_driver){0}, 80), CS_TRI_UNKNOWN);
}

static void test_driver_parse(void **state) {
    (void)state;
    static const struct {
        const char *in, *out;
    } good[] = {
        {"550.54.14", "550.54.14"}, {"580.159.04", "580.159.04"},
        {"570.26", "570.26"},       {"550", "R550"},
        {"R615", "R615"},           {"r615", "R615"},
        {"cuda12.4", "550.54.14"},  {"CUDA 12.4", "550.54.14"},
        {"cuda-13.5", "R620"},      {"cuda13", "580.65.06"},
        {"580.65.6", "580.65.06"},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        char text[CS_DRIVER_TEXT_BYTES];
        cs_driver_text(driver(good[i].in), text);
        assert_string_equal(text, good[i].out);
    }
    static const char *const bad[] = {
        "",     "550.", "550..1",   "550.1.2.3", "x",        "R550.54", "12.4",      "99",   "-1",
        "550 ", "cuda", "cuda11.9", "99999",     "550.54.x", "R",       "cuda12.40", "cuda "};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct cs_driver d;
        struct cs_err err = {0};
        if (cs_driver_parse(cs_str_from(bad[i]), &d, &err) != CS_USAGE) {
            fail_msg("accepted \"%s\"", bad[i]);
        }
        assert_int_equal(err.count, 1);
        assert_false(cs_driver_known(d));
    }
}

static void test_driver_cmp(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        int order;
    } rows[] = {
        {"550.54.14", "550.54.15", -1}, {"550.54.14", "550.54.14", 0}, {"550.90", "550.54.14", 1},
        {"570", "550.54.14", 1},        {"550", "550.54.14", 0},       {"615.16", "R615", 0},
        {"580.159.04", "580.65.06", 1}, {"570.26", "570.26.00", 0},    {"525.60.13", "R525", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(cs_driver_cmp(driver(rows[i].a), driver(rows[i].b)), rows[i].order);
        assert_int_equal(cs_driver_cmp(driver(rows[i].b), driver(rows[i].a)), -rows[i].order);
    }
    char text[CS_DRIVER_TEXT_BYTES];
    cs_driver_text(cs_driver_max(driver("R550"), driver("550.54.14")), text);
    assert_string_equal(text, "550.54.14");
    cs_driver_text(cs_driver_max((struct cs_driver){0}, driver("R525")), text);
    assert_string_equal(text, "R525");
}

static void test_floors(void **state) {
    (void)state;
    char text[CS_DRIVER_TEXT_BYTES];
    cs_driver_text(cs_codec_driver(CS_CODEC_ZSTD), text);
    assert_string_equal(text, "550.54.14");
    assert_false(cs_driver_known(cs_codec_driver(CS_CODEC_LZ4)));
    assert_false(cs_driver_known(cs_codec_driver(CS_CODEC_NONE)));
    assert_int_equal(cs_driver_reads_concat(driver("580.159.04")), CS_TRI_NO);
    assert_int_equal(cs_driver_reads_concat(driver("550.54.14")), CS_TRI_NO);
    assert_int_equal(cs_driver_reads_concat(driver("590.44.01")), CS_TRI_UNKNOWN);
    assert_int_equal(cs_driver_reads_concat(driver("610.43.02")), CS_TRI_UNKNOWN);
    assert_int_equal(cs_driver_reads_concat(driver("615.71.09")), CS_TRI_YES);
    assert_int_equal(cs_driver_reads_concat(driver("620.70.06")), CS_TRI_YES);
    assert_int_equal(cs_driver_reads_concat((struct cs_driver){0}), CS_TRI_UNKNOWN);
    assert_int_equal(cs_sass_driver(118).branch, 450);
    assert_int_equal(cs_sass_driver(120).branch, 525);
    assert_int_equal(cs_sass_driver(129).branch, 525);
    assert_int_equal(cs_sass_driver(135).branch, 580);
    assert_false(cs_driver_known(cs_sass_driver(0)));
    assert_false(cs_driver_known(cs_sass_driver(140)));
    static const struct {
        const char *device;
        uint16_t branch;
    } chips[] = {{"8.0", 0},    {"8.6", 455},  {"8.9", 520},  {"9.0", 520},
                 {"10.0", 570}, {"12.0", 570}, {"10.3", 575}, {"12.1", 575},
                 {"10.7", 615}, {"8.7", 0},    {"11.0", 0},   {"13.0", 0}};
    for (size_t i = 0; i < sizeof chips / sizeof chips[0]; i++) {
        assert_int_equal(cs_device_driver(device(chips[i].device)).branch, chips[i].branch);
    }
}

static void test_devices(void **state) {
    (void)state;
    static const char *const known[] = {"5.0",  "5.2",  "5.3",  "6.0",  "6.1",  "6.2", "7.0",
                                        "7.2",  "7.5",  "8.0",  "8.6",  "8.7",  "8.9", "9.0",
                                        "10.0", "10.3", "10.7", "11.0", "12.0", "12.1"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        assert_non_null(cs_device_find(device(known[i])));
    }
    assert_null(cs_device_find(device("8.8")));
    assert_null(cs_device_find(device("13.0")));
    assert_int_equal(cs_device_find(device("10.1"))->device.major, 11);
    static const uint16_t tegra[] = {53, 62, 72, 87, 101, 110};
    for (size_t i = 0; i < sizeof tegra / sizeof tegra[0]; i++) {
        assert_true(cs_arch_is_tegra(tegra[i]));
    }
    static const uint16_t desktop[] = {50, 61, 70, 75, 80, 86, 88, 89, 90, 100, 103, 107, 120, 121};
    for (size_t i = 0; i < sizeof desktop / sizeof desktop[0]; i++) {
        assert_false(cs_arch_is_tegra(desktop[i]));
    }
    uint32_t count;
    const struct cs_device_row *rows = cs_device_table(&count);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(i == 0 || cs_device_cmp(rows[i - 1].device, rows[i].device) < 0);
        assert_non_null(cs_toolkit_find(rows[i].toolkit_x10));
        char text[CS_TARGET_TEXT_BYTES];
        cs_device_text(rows[i].device, text);
        assert_true(cs_device_eq(device(text), rows[i].device));
        // The table of targets knows the chip from that toolkit on, under one of its names.
        const uint16_t arch = (uint16_t)cs_device_number(rows[i].device);
        assert_true(cs_target_in_toolkit(arch, 0, rows[i].toolkit_x10) ||
                    cs_target_in_toolkit(cs_target_other_name(arch), 0, rows[i].toolkit_x10));
    }
}

static void test_families(void **state) {
    (void)state;
    static const struct {
        uint16_t arch;
        const char *yes;
    } rows[] = {{100, "10.0 10.3 10.7"}, {103, "10.3 10.7"}, {107, "10.7"}, {110, "11.0"},
                {120, "12.0 12.1"},      {121, "12.1"},      {101, "11.0"}};
    uint32_t count;
    const struct cs_device_row *devices = cs_device_table(&count);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        char got[64] = "";
        int len = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (cs_family_has(rows[r].arch, devices[i].device) == CS_TRI_YES) {
                char text[CS_TARGET_TEXT_BYTES];
                cs_device_text(devices[i].device, text);
                len += snprintf(got + len, sizeof got - (size_t)len, "%s%s", len ? " " : "", text);
            }
        }
        assert_string_equal(got, rows[r].yes);
    }
    assert_int_equal(cs_family_has(120, device("12.5")), CS_TRI_UNKNOWN);
    assert_int_equal(cs_family_has(121, device("12.0")), CS_TRI_NO);
    assert_int_equal(cs_family_has(90, device("9.0")), CS_TRI_NO);
}

static void test_fit(void **state) {
    (void)state;
    static const struct {
        const char *target, *device;
        enum cs_fit fit;
        bool known;
    } rows[] = {
        {"sm_80", "8.0", CS_FIT_EXACT, true},
        {"sm_80", "8.6", CS_FIT_SAME_MAJOR, true},
        {"sm_86", "8.0", CS_FIT_NO_NEWER, true},
        {"sm_80", "9.0", CS_FIT_NO_MAJOR, true},
        {"sm_80", "8.7", CS_FIT_NO_TEGRA, true},
        {"sm_87", "8.9", CS_FIT_NO_TEGRA, true},
        {"sm_87", "8.7", CS_FIT_EXACT, true},
        {"sm_52", "5.3", CS_FIT_NO_TEGRA, true},
        {"sm_61", "6.2", CS_FIT_NO_TEGRA, true},
        {"sm_70", "7.2", CS_FIT_NO_TEGRA, true},
        {"sm_72", "7.5", CS_FIT_NO_TEGRA, true},
        {"sm_70", "7.5", CS_FIT_SAME_MAJOR, true},
        {"sm_120", "12.1", CS_FIT_SAME_MAJOR, true},  // 12.1 is integrated, and yet served
        {"sm_88", "8.9", CS_FIT_SAME_MAJOR, false},
        {"sm_80", "8.8", CS_FIT_SAME_MAJOR, false},
        {"sm_88", "8.8", CS_FIT_EXACT, true},
        {"sm_90a", "9.0", CS_FIT_EXACT, true},
        {"sm_90a", "10.0", CS_FIT_NO_ARCH, true},
        {"sm_100a", "10.3", CS_FIT_NO_ARCH, true},
        {"sm_100f", "10.0", CS_FIT_EXACT, true},
        {"sm_100f", "10.3", CS_FIT_FAMILY, true},
        {"sm_100f", "11.0", CS_FIT_NO_FAMILY, true},
        {"sm_100f", "12.0", CS_FIT_NO_FAMILY, true},
        {"sm_103f", "10.0", CS_FIT_NO_NEWER, true},
        {"sm_120f", "12.1", CS_FIT_FAMILY, true},
        {"sm_120f", "12.7", CS_FIT_NO_FAMILY, false},
        {"compute_80", "8.7", CS_FIT_PTX, true},
        {"compute_80", "12.1", CS_FIT_PTX, true},
        {"compute_90", "8.9", CS_FIT_NO_NEWER, true},
        {"compute_90a", "9.0", CS_FIT_PTX, true},
        {"compute_90a", "10.0", CS_FIT_NO_ARCH, true},
        {"compute_100f", "10.3", CS_FIT_PTX, true},
        {"compute_100f", "12.0", CS_FIT_NO_FAMILY, true},
        {"sm_101", "11.0", CS_FIT_NO_RENAMED, false},
        {"sm_110", "10.1", CS_FIT_EXACT, true},
        {"compute_101", "11.0", CS_FIT_PTX, true},
        {"sm_101", "10.3", CS_FIT_NO_TEGRA, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool known;
        const enum cs_fit fit =
            cs_target_fit(target(rows[i].target), device(rows[i].device), &known);
        if (fit != rows[i].fit || known != rows[i].known) {
            fail_msg("%s on %s: %s, known %d", rows[i].target, rows[i].device, cs_fit_name(fit),
                     known);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_target_texts),
        cmocka_unit_test(test_target_order),
        cmocka_unit_test(test_toolkit_targets),
        cmocka_unit_test(test_toolkit_rows),
        cmocka_unit_test(test_ptx_unknown),
        cmocka_unit_test(test_driver_parse),
        cmocka_unit_test(test_driver_cmp),
        cmocka_unit_test(test_floors),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
