// Coverage and promises: what `check` counts, and when it fails.  Cases named U.. are reports of
// users: a package that broke for somebody, and what should have been said about it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "build/mk_check.h"

#define FOUND(t, slug, severity, text) \
    assert_true(cs_mk_check_found(t, slug, CS_SEVERITY_##severity, text))
#define NONE(t, slug) assert_int_equal(cs_mk_check_count(t, slug), 0)
#define COUNTS(t, device, text) assert_string_equal(cs_mk_check_counts(t, device, NULL), text)

// One library, one question.
static void ask(struct cs_mk_check *t, const char *words, struct cs_mk_check_ask question) {
    cs_mk_check_start(t);
    cs_mk_check_library(t, "ops.so", words);
    cs_mk_check_run(t, &question);
}

// Selection commits: the kernel must be in the image that the driver takes.
static void test_counts(void **state) {
    (void)state;
    static const struct {
        const char *words, *device, *counts;
    } rows[] = {
        {"a.cu: sm_80 sm_90a", "8.0", "1/0/0/0"},
        {"a.cu: sm_80 sm_90a", "8.6", "0/1/0/0"},
        {"a.cu: sm_80 sm_90a", "8.7", "0/0/0/1"},
        {"a.cu: sm_80 sm_90a", "9.0", "1/0/0/0"},
        {"a.cu: sm_80 compute_80", "12.0", "0/0/1/0"},
        {"a.cu: sm_80[x,y] compute_80[x,y]", "8.9", "0/2/0/0"},
        {"a.cu: sm_90[x,y] sm_90a[x]", "9.0", "1/0/0/1"},
        {"a.cu: sm_80[x,y] compute_80[x]", "10.0", "0/0/1/1"},
        {"a.cu: sm_80 | b.cu: sm_90", "9.0", "1/0/0/1"},
        {"a.cu: sm_80[x] | b.cu: sm_80[x]", "8.0", "2/0/0/0"},
        {"a.cu: sm_80 | a.cu: sm_80:rdc", "8.0", "1/0/0/0"},
        {"a.cu: sm_100f + sm_120", "10.3", "0/1/0/0"},
        {"! sm_80[x]", "8.0", "1/0/0/0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cs_mk_check t;
        ask(&t, rows[i].words, (struct cs_mk_check_ask){0});
        const char *counts = cs_mk_check_counts(&t, rows[i].device, NULL);
        if (strcmp(counts, rows[i].counts) != 0) {
            fail_msg("%s on %s: %s, not %s", rows[i].words, rows[i].device, counts,
                     rows[i].counts);
        }
        cs_mk_check_end(&t);
    }
}

// Every device of the table, against one container of each shape: the rules are in one place.
static void test_every_device(void **state) {
    (void)state;
    struct cs_mk_check t;
    ask(&t, "a.cu: sm_75 sm_80 compute_80", (struct cs_mk_check_ask){0});
    uint32_t count;
    const struct cs_device_row *table = cs_device_table(&count);
    for (uint32_t i = 0; i < count; i++) {
        const struct cs_device d = table[i].device;
        char text[CS_TARGET_TEXT_BYTES];
        cs_device_text(d, text);
        const uint32_t n = cs_device_number(d);
        const char *want = n == 75 || n == 80             ? "1/0/0/0"
                           : n < 75                       ? "0/0/0/1"
                           : n / 10 == 8 && !table[i].tegra ? "0/1/0/0"
                                                          : "0/0/1/0";
        assert_string_equal(cs_mk_check_counts(&t, text, NULL), want);
    }
    assert_true(t.result.pass);
    cs_mk_check_end(&t);
}

static void test_nothing_promised(void **state) {
    (void)state;
    struct cs_mk_check t;
    ask(&t, "a.cu: sm_80 sm_90 | b.cu: sm_80 sm_90 | c.cu: sm_90a", (struct cs_mk_check_ask){0});
    assert_true(t.result.pass);
    NONE(&t, "uncovered-device");
    FOUND(&t, "narrower-container", NOTE, "8.0, 8.6 and 8.9");
    FOUND(&t, "narrower-container", NOTE, "c.cu");
    cs_mk_check_end(&t);
}

static void test_majority(void **state) {
    (void)state;
    struct cs_mk_check t;
    const char *words = "a.cu: sm_80 sm_90 | b.cu: sm_80 sm_90 | c.cu: sm_90a";
    ask(&t, words, (struct cs_mk_check_ask){.devices = "8.0 9.0"});
    assert_true(t.result.pass);  // c.cu was perhaps never meant for 8.0
    FOUND(&t, "narrower-container", NOTE, "1 of 3 kernels");
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){.devices = "8.0 9.0", .strict = true});
    assert_false(t.result.pass);
    FOUND(&t, "narrower-container", ERROR, "sm_90a is an `a` image");
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){.devices = "8.0 12.0"});
    assert_false(t.result.pass);  // the library as a whole does not serve 12.0
    FOUND(&t, "uncovered-device", ERROR, "12.0: no code; most containers hold sm_80 and sm_90");
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){.devices = "12.0", .warn_only = true});
    assert_true(t.result.pass);
    FOUND(&t, "uncovered-device", WARNING, "12.0");
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){.devices = "12.0", .ignore = "C101"});
    assert_true(t.result.pass);
    NONE(&t, "uncovered-device");
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){.devices = "12.0", .select = "shadowed-image"});
    assert_int_equal(cs_mk_check_count(&t, NULL), 0);
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){.devices = "12.0", .exempt = "ops.so"});
    assert_true(t.result.pass);  // U43: bundled files of others
    FOUND(&t, "uncovered-device", NOTE, "12.0");
    cs_mk_check_end(&t);
}

// U18: the content against a declared matrix, both ways.  U20, U26, U28: claimed but not built.
static void test_u18_declared(void **state) {
    (void)state;
    struct cs_mk_check t;
    ask(&t, "a.cu: sm_80 sm_90a | b.cu: sm_80",
        (struct cs_mk_check_ask){.devices = "8.0 9.0", .declared = "8.0;9.0a"});
    assert_false(t.result.pass);
    FOUND(&t, "missing-declared-target", ERROR, "sm_90a is promised, but 1 of 2 containers");
    FOUND(&t, "missing-declared-target", ERROR, "b.cu");
    FOUND(&t, "uncovered-device", ERROR, "although their arch list covers it");
    NONE(&t, "undeclared-target");
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){.declared = "8.0"});
    assert_true(t.result.pass);
    FOUND(&t, "undeclared-target", WARNING, "sm_90a is not promised, but 1 of 2 containers");
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){.declared = "8.0+PTX"});
    FOUND(&t, "missing-declared-target", ERROR, "compute_80");
    cs_mk_check_end(&t);
}

// Per-source promises: a kernel fails no gate for a device it was never meant for.
static void test_sources(void **state) {
    (void)state;
    struct cs_mk_check t;
    ask(&t, "a.cu: sm_80 sm_90a | fp8.cu: sm_90a",
        (struct cs_mk_check_ask){.devices = "8.0 9.0",
                                 .declared = "8.0;9.0a",
                                 .sources = {"fp8.cu=9.0a"}});
    assert_true(t.result.pass);
    NONE(&t, "narrower-container");
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){.devices = "8.0 9.0",
                                                  .sources = {"fp8.cu=8.0;9.0a"}});
    assert_false(t.result.pass);
    FOUND(&t, "uncovered-device", ERROR, "8.0: 1 of 2 kernels");
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){.sources = {"fp8.cu="}});
    FOUND(&t, "undeclared-target", WARNING, "fp8.cu");
    cs_mk_check_end(&t);
}

// U19: sm_80, sm_90a, sm_100a and no PTX on a 10.3 part, and the smallest addition.
static void test_u19(void **state) {
    (void)state;
    struct cs_mk_check t;
    ask(&t, "a.cu: sm_80 sm_90a sm_100a",
        (struct cs_mk_check_ask){.devices = "9.0 10.0 10.3 10.7 12.0 12.1"});
    COUNTS(&t, "10.3", "0/0/0/1");
    FOUND(&t, "uncovered-device", ERROR, "10.3, 10.7, 12.0 and 12.1: no code");
    FOUND(&t, "uncovered-device", ERROR, "arch list: 10.3;12.0.");
    FOUND(&t, "uncovered-device", ERROR, "sm_100a is an `a` image");
    cs_mk_check_end(&t);
}

// U20: each library on its own; a wheel without device code passes and says so.
static void test_u20(void **state) {
    (void)state;
    struct cs_mk_check t;
    cs_mk_check_start(&t);
    cs_mk_check_library(&t, "pkg/good.so", "a.cu: sm_80 sm_90");
    cs_mk_check_library(&t, "pkg/bad.so", "b.cu: sm_80");
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){.devices = "8.0 9.0"});
    assert_false(t.result.pass);
    FOUND(&t, "uncovered-device", ERROR, "pkg/bad.so");
    assert_int_equal(cs_mk_check_count(&t, "uncovered-device"), 1);
    assert_string_equal(cs_mk_check_counts(&t, "9.0", "pkg/good.so"), "1/0/0/0");
    assert_string_equal(cs_mk_check_counts(&t, "9.0", "pkg/bad.so"), "0/0/0/1");
    cs_mk_check_end(&t);
    cs_mk_check_start(&t);
    cs_mk_check_file(&t, "pkg/__init__.py", cs_view_of("x = 1\n", 6));
    cs_mk_check_file(&t, "pkg/tool.sh", cs_view_of("#!/bin/sh\n", 10));  // U43: not ELF
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){.devices = "8.0 9.0"});
    assert_true(t.result.pass);
    FOUND(&t, "no-device-code", NOTE, "no CUDA device code in this wheel");
    cs_mk_check_end(&t);
}

// U20 again: whatever cannot be read fails the gate and is named.
static void test_unreadable(void **state) {
    (void)state;
    struct cs_mk_check t;
    cs_mk_check_start(&t);
    cs_mk_check_library(&t, "pkg/ops.so", "a.cu: sm_80:z");
    struct cs_buf *b = &t.bytes[0];
    const uint8_t magic[] = {0x28, 0xB5, 0x2F, 0xFD};
    uint8_t *frame = memmem(b->ptr, b->len, magic, sizeof magic);
    assert_non_null(frame);
    memset(frame + 8, 0xFF, 24);
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){0});
    assert_false(t.result.pass);
    FOUND(&t, "unreadable", ERROR, "ops.so");
    FOUND(&t, "unreadable", ERROR, "sm_80");
    cs_mk_check_end(&t);
}

// U21: desktop SASS on a Tegra part of the same major.
static void test_u21(void **state) {
    (void)state;
    struct cs_mk_check t;
    ask(&t, "a.cu: sm_80 sm_86", (struct cs_mk_check_ask){.devices = "8.7"});
    assert_false(t.result.pass);
    FOUND(&t, "uncovered-device", ERROR, "on the other side of the Tegra line");
    cs_mk_check_end(&t);
}

// U23: one GPU model's code, by accident or on purpose.
static void test_u23(void **state) {
    (void)state;
    struct cs_mk_check t;
    ask(&t, "a.cu: sm_86 | b.cu: sm_86", (struct cs_mk_check_ask){0});
    assert_true(t.result.pass);
    FOUND(&t, "single-target-no-ptx", WARNING, "sm_86");
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){.devices = "8.6"});
    NONE(&t, "single-target-no-ptx");
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){.declared = "8.6"});
    NONE(&t, "single-target-no-ptx");
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){.routes = {"ops.so=8.6"}});
    NONE(&t, "single-target-no-ptx");
    cs_mk_check_end(&t);
    ask(&t, "a.cu: sm_86 compute_86", (struct cs_mk_check_ask){0});
    NONE(&t, "single-target-no-ptx");
    cs_mk_check_end(&t);
}

// U24: good combinations that exact-match tests call bad, and the reverse.
static void test_u24(void **state) {
    (void)state;
    struct cs_mk_check t;
    ask(&t, "a.cu: sm_80 sm_90", (struct cs_mk_check_ask){.devices = "8.6 8.9 9.0"});
    assert_true(t.result.pass);
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){.devices = "10.0"});
    assert_false(t.result.pass);
    cs_mk_check_end(&t);
    ask(&t, "a.cu: sm_120", (struct cs_mk_check_ask){.devices = "12.0 12.1"});
    assert_true(t.result.pass);  // the GB10 calls itself integrated, and loads sm_120 all the same
    cs_mk_check_end(&t);
}

// U41: "none" is a count, not silence.
static void test_u41(void **state) {
    (void)state;
    struct cs_mk_check t;
    ask(&t, "a.cu: sm_80 sm_90", (struct cs_mk_check_ask){0});
    assert_int_equal(t.result.ptx_images, 0);
    assert_int_equal(t.result.sass_images, 2);
    cs_mk_check_end(&t);
}

static void test_routes(void **state) {
    (void)state;
    struct cs_mk_check t;
    cs_mk_check_start(&t);
    cs_mk_check_library(&t, "pkg/sm90/ops.so", "a.cu: sm_80 sm_90 sm_90a");
    cs_mk_check_library(&t, "pkg/sm100/ops.so", "a.cu: sm_80 sm_90a sm_100f");
    const struct cs_mk_check_ask question = {
        .devices = "8.0 9.0 10.0",
        .routes = {"pkg/sm90/*.so=9.0", "pkg/sm100/*.so=not 9.0"}};
    cs_mk_check_run(&t, &question);
    assert_true(t.result.pass);
    COUNTS(&t, "9.0", "1/0/0/0");
    FOUND(&t, "shadowed-image", WARNING, "sm_90 is never run");
    FOUND(&t, "unreachable-image", WARNING, "sm_80 in 1 container");
    FOUND(&t, "unreachable-image", WARNING, "sm_90a in 1 container");
    assert_int_equal(cs_mk_check_count(&t, "unreachable-image"), 2);
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){.devices = "8.0 9.0 10.0"});
    FOUND(&t, "uncovered-device", ERROR, "pkg/sm90/ops.so");
    NONE(&t, "unreachable-image");
    cs_mk_check_end(&t);
}

static void test_storage(void **state) {
    (void)state;
    struct cs_mk_check t;
    ask(&t, "a.cu: sm_80 sm_90:z compute_90:4", (struct cs_mk_check_ask){0});
    FOUND(&t, "uncompressed-image", NOTE, "1 image, ");
    cs_mk_check_end(&t);
    ask(&t, "a.cu: sm_80 + sm_90", (struct cs_mk_check_ask){0});
    FOUND(&t, "concatenated-image", WARNING, "2 images");
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){.driver = "R620"});
    NONE(&t, "concatenated-image");
    cs_mk_check_end(&t);
}

static void test_rule_words(void **state) {
    (void)state;
    static const struct {
        const char *word;
        bool known;
    } rows[] = {{"C101", true}, {"C", true}, {"C1", true}, {"uncovered-device", true},
                {"uncovered", false}, {"X", false}, {"", false}, {"uncoverd-device", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct cs_str word = cs_str_from(rows[i].word);
        struct cs_err err = {0};
        const enum cs_code code = cs_check_rule_words((struct cs_check_words){&word, 1}, &err);
        assert_int_equal(code, rows[i].known ? CS_OK : CS_USAGE);
        if (strcmp(rows[i].word, "uncoverd-device") == 0) {
            assert_non_null(strstr(err.frame[0].text, "uncovered-device"));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),      cmocka_unit_test(test_every_device),
        cmocka_unit_test(test_nothing_promised), cmocka_unit_test(test_majority),
        cmocka_unit_test(test_u18_declared), cmocka_unit_test(test_sources),
        cmocka_unit_test(test_u19),         cmocka_unit_test(test_u20),
        cmocka_unit_test(test_unreadable),  cmocka_unit_test(test_u21),
        cmocka_unit_test(test_u23),         cmocka_unit_test(test_u24),
        cmocka_unit_test(test_u41),         cmocka_unit_test(test_routes),
        cmocka_unit_test(test_storage),     cmocka_unit_test(test_rule_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
