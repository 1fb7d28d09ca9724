#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limits.h"
#include "model/config.h"

static enum cs_code parse(struct cs_config *c, const char *text, const char *path,
                          struct cs_err *err) {
    cs_config_init(c);
    return cs_config_parse(c, cs_view_of(text, strlen(text)), cs_str_from(path), err);
}

static const char design[] =
    "[project]\n"
    "name = 'x'\n"
    "[tool.cuslim]\n"
    "devices = \"7.5 8.0, 9.0;12.0\"\n"
    "driver  = \"550.54.14\"\n"
    "compress = \"size\"\n"
    "record = \"build/record.jsonl\"\n"
    "[[tool.cuslim.source]]\n"
    "files = [\"csrc/marlin/**/*.cu\"]\n"
    "arch  = \"8.0+PTX\"\n"
    "[[tool.cuslim.source]]\n"
    "files = \"csrc/**/*.cu\"\n"
    "ship  = \"jit\"\n"
    "[[tool.cuslim.route]]\n"
    "library = \"pkg/sm90/*.so\"\n"
    "devices = \"9.0\"\n"
    "[[tool.cuslim.route]]\n"
    "library = \"pkg/sm100/*.so\"\n"
    "devices = \"not 9.0\"\n"
    "[tool.cuslim.budget]\n"
    "wheel = \"300 MiB\"\n"
    "installed = \"pypi\"\n"
    "growth = \"2.5 %\"\n";

static void test_everything(void **state) {
    (void)state;
    struct cs_config c;
    assert_int_equal(parse(&c, design, "/src/pkg/pyproject.toml", NULL), CS_OK);
    assert_int_equal(c.warnings.count, 0);
    assert_true(cs_str_eq(c.folder, CS_STR("/src/pkg/")));
    assert_int_equal(c.devices.count, 4);
    assert_int_equal(c.devices.ptr[3].major, 12);
    assert_int_equal(c.devices_line, 4);
    assert_int_equal(c.driver.branch, 550);
    assert_int_equal(c.compress, CS_COMPRESS_SIZE);
    assert_true(cs_str_eq(c.record, CS_STR("build/record.jsonl")));
    assert_int_equal(c.sources.count, 2);
    assert_true(cs_str_eq(c.sources.ptr[0].arch, CS_STR("8.0+PTX")));
    assert_int_equal(c.sources.ptr[1].ship, CS_SHIP_JIT);
    assert_true(cs_reach_has(&c.reach, CS_STR("pkg/sm90/a.so"), (struct cs_device){9, 0}));
    assert_false(cs_reach_has(&c.reach, CS_STR("pkg/sm100/a.so"), (struct cs_device){9, 0}));
    assert_int_equal(c.budget.wheel_bytes, 300 * CS_MIB);
    assert_int_equal(c.budget.installed_bytes, 100 * CS_MIB);
    assert_int_equal(c.budget.growth_permyriad, 250);
    assert_int_equal(c.values.count, 15);
    assert_true(cs_str_eq(c.values.ptr[5].key, CS_STR("source[0].arch")));
    assert_true(cs_str_eq(c.values.ptr[5].text, CS_STR("\"8.0+PTX\"")));
    assert_int_equal(c.values.ptr[5].line, 10);
    cs_config_fini(&c);
}

static void test_first_source_wins(void **state) {
    (void)state;
    struct cs_config c;
    const struct cs_config_source *second;
    assert_int_equal(parse(&c, design, "pyproject.toml", NULL), CS_OK);
    const struct cs_config_source *s =
        cs_config_source_for(&c, CS_STR("csrc/marlin/gemm/a.cu"), &second);
    assert_ptr_equal(s, &c.sources.ptr[0]);
    assert_ptr_equal(second, &c.sources.ptr[1]);
    s = cs_config_source_for(&c, CS_STR("csrc/b.cu"), &second);
    assert_ptr_equal(s, &c.sources.ptr[1]);
    assert_null(second);
    assert_null(cs_config_source_for(&c, CS_STR("other/b.cu"), NULL));
    cs_config_fini(&c);
}

static void test_keys_at_the_top(void **state) {
    (void)state;
    struct cs_config c;
    assert_int_equal(
        parse(&c, "driver = 'R550'\n[budget]\ngrowth = '5 MiB'\n", "cuslim.toml", NULL), CS_OK);
    assert_int_equal(c.driver.branch, 550);
    assert_int_equal(c.budget.growth_bytes, 5 * CS_MIB);
    assert_int_equal(c.budget.growth_permyriad, 0);
    assert_true(cs_str_eq(c.folder, CS_STR("./")));
    cs_config_fini(&c);
    // A project without the table, and one with nothing in it.
    assert_int_equal(parse(&c, "[project]\nname = 'x'\n", "pyproject.toml", NULL), CS_OK);
    assert_int_equal(c.values.count, 0);
    cs_config_fini(&c);
}

static void test_unknown_keys(void **state) {
    (void)state;
    struct cs_config c;
    assert_int_equal(parse(&c, "divices = '9.0'\nzzz = 1\n[budget]\nweel = '1'\n", "c.toml", NULL),
                     CS_OK);
    static const char *const want[] = {
        "c.toml:1: unknown key 'divices'; did you mean 'devices'?",
        "c.toml:2: unknown key 'zzz'",
        "c.toml:4: unknown key 'weel'; did you mean 'wheel'?",
    };
    assert_int_equal(c.warnings.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(c.warnings.ptr[i].ptr, want[i]);
    }
    cs_config_fini(&c);
}

static void test_errors(void **state) {
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } rows[] = {
        {"a = [", "c.toml: line 1"},
        {"\n\ndevices = 9.0", "c.toml:3: devices: "},
        {"devices = ['9.0', 8]", "c.toml:1: devices: "},
        {"devices = '9.x'", "c.toml:1: devices: '9.x' is no device; write 9.0"},
        {"driver = 'new'", "c.toml:1: driver: "},
        {"compress = 'sise'", "c.toml:1: compress: unknown word 'sise'; did you mean 'size'?"},
        {"record = ''", "c.toml:1: record: the text is empty"},
        {"source = 3", "c.toml:1: source: integer instead of an array of tables"},
        {"source = [3]", "c.toml:1: integer instead of a table"},
        {"[[source]]\narch = '8.0'", "c.toml:1: a source without files"},
        {"[[source]]\nfiles = []", "c.toml:1: a source without files"},
        {"[[source]]\nfiles = 'a.cu'\narch = '8.0;9.O'", "c.toml:3: arch: "},
        {"[[source]]\nfiles = 'a.cu'\nship = 'jti'", "c.toml:3: ship: unknown word 'jti'"},
        {"[[route]]\nlibrary = 'x'", "c.toml:1: a route needs library and devices"},
        {"[[route]]\nlibrary = 'x'\ndevices = 'not 9'", "c.toml:1: "},
        {"[[route]]\nlibrary = 1\ndevices = '9.0'", "c.toml:2: integer instead of a text"},
        {"[budget]\nwheel = '3 parsecs'", "c.toml:2: wheel: '3 parsecs' is no limit"},
        {"[budget]\nwheel = 0", "c.toml:2: wheel: "},
        {"[budget]\nwheel = -5", "c.toml:2: wheel: "},
        {"[budget]\ngrowth = '2 %x'", "c.toml:2: growth: '2 %x' is no share"},
        {"[budget]\ngrowth = '1.234 %'", "c.toml:2: growth: "},
        {"budget = 2", "c.toml:1: integer instead of a table"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct cs_config c;
        struct cs_err err = {0};
        char text[1024];
        assert_int_equal(parse(&c, rows[i].text, "c.toml", &err), CS_USAGE);
        cs_err_format(&err, text, sizeof text);
        if (strncmp(text, rows[i].message, strlen(rows[i].message)) != 0) {
            fail_msg("'%s' gave '%s'", rows[i].text, text);
        }
        cs_config_fini(&c);
    }
}

static void write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void find_is(const char *folder, const char *want) {
    struct cs_buf path;
    cs_buf_init(&path, CS_MAX_PATH_BYTES);
    assert_int_equal(cs_config_find(folder, &path, NULL), CS_OK);
    if (!path.ptr || !strstr(path.ptr, want)) {
        fail_msg("found %s", path.ptr ? path.ptr : "nothing");
    }
    cs_buf_fini(&path);
}

// Upward, cuslim.toml before pyproject.toml, and past a pyproject.toml that is not for us.
static void test_find(void **state) {
    (void)state;
    char folder[] = "/tmp/cuslim-config-XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mkdir("a", 0700), 0);
    assert_int_equal(mkdir("a/b", 0700), 0);
    write_file("pyproject.toml", "[tool.cuslim]\ndriver = 'R550'\n");
    write_file("a/pyproject.toml", "[project]\nname = 'x'\n");
    find_is("a/b", "/pyproject.toml");
    struct cs_buf path;
    cs_buf_init(&path, CS_MAX_PATH_BYTES);
    assert_int_equal(cs_config_find("a/b", &path, NULL), CS_OK);
    assert_null(strstr(path.ptr, "/a/"));
    cs_buf_fini(&path);
    write_file("a/cuslim.toml", "");
    find_is("a/b", "/a/cuslim.toml");
    write_file("a/b/pyproject.toml", "not TOML at all");
    find_is("a/b", "/a/b/pyproject.toml");
    assert_int_equal(cs_config_find("no-such-folder", &path, NULL), CS_IO);
    unlink("a/b/pyproject.toml");
    unlink("a/cuslim.toml");
    unlink("a/pyproject.toml");
    unlink("pyproject.toml");
    rmdir("a/b");
    rmdir("a");
    assert_int_equal(chdir("/"), 0);
    rmdir(folder);
}

static void test_budget(void **state) {
    (void)state;
    uint64_t bytes;
    assert_true(cs_budget_parse(CS_STR("pypi"), &bytes));
    assert_int_equal(bytes, 104857600);
    assert_true(cs_budget_parse(CS_STR("github"), &bytes));
    assert_int_equal(bytes, 2 * CS_GIB);
    assert_true(cs_budget_parse(CS_STR("1.5 MiB"), &bytes));
    assert_int_equal(bytes, 1572864);
    assert_false(cs_budget_parse(CS_STR("PyPI"), &bytes));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything),   cmocka_unit_test(test_first_source_wins),
        cmocka_unit_test(test_keys_at_the_top), cmocka_unit_test(test_unknown_keys),
        cmocka_unit_test(test_errors),       cmocka_unit_test(test_find),
        cmocka_unit_test(test_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
