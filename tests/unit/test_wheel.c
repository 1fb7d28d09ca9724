// Wheels: file names, tags, dist-info, RECORD against members.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/path.h"
#include "build/mk_rawzip.h"
#include "build/mk_zip.h"
#include "format/wheel.h"

static void test_file_names(void **state) {
    (void)state;
    static const struct {
        const char *path, *want;  // parts joined by '|', NULL when refused
        bool windows;
    } table[] = {
        {"sgl_kernel-0.3.21-cp310-abi3-manylinux2014_x86_64.whl",
         "sgl_kernel|0.3.21||cp310|abi3|manylinux2014_x86_64|", false},
        {"/dir-x/a-1-2b-py2.py3-none-win32.win_amd64.whl", "a|1|2b|py2.py3|none|win32.win_amd64|",
         true},
        {"a-1.0+cu130-cp312-cp312-linux_x86_64-cu13_sm90.whl",
         "a|1.0+cu130||cp312|cp312|linux_x86_64|cu13_sm90", false},
        {"a-1-1-cp312-cp312-win_arm64-x.whl", "a|1|1|cp312|cp312|win_arm64|x", true},
        {"a-1-cp312-cp312-windowsish.whl", "a|1||cp312|cp312|windowsish|", false},
        {"a-1-cp312-cp312.whl", NULL, false},
        {"a-1-cp312-cp312-linux.zip", NULL, false},
        {"a-1--cp312-cp312-linux.whl", NULL, false},
        {"a-1-cp312-cp312-linux-UPPER.whl", NULL, false},
        {"a-1-1-2-cp312-cp312-linux-x.whl", NULL, false},
        {".whl", NULL, false},
        {"", NULL, false},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct cs_wheel_name n;
        struct cs_err err = {0};
        const enum cs_code code = cs_wheel_name_parse(cs_str_from(table[i].path), &n, &err);
        assert_int_equal(code, table[i].want ? CS_OK : CS_FORMAT);
        if (code != CS_OK) {
            continue;
        }
        struct cs_buf got;
        cs_buf_init(&got, 1000);
        const struct cs_str parts[] = {n.name, n.version, n.build, n.python, n.abi, n.platform};
        for (size_t k = 0; k < 6; k++) {
            cs_buf_add_str(&got, parts[k]);
            cs_buf_addc(&got, '|');
        }
        cs_buf_add_str(&got, n.label);
        assert_string_equal(got.ptr, table[i].want);
        assert_int_equal(cs_wheel_name_is_windows(&n), table[i].windows);
        cs_buf_fini(&got);
    }
}

static void test_same(void **state) {
    (void)state;
    assert_true(cs_wheel_same_name(CS_STR("A.b--_c"), CS_STR("a_B-c")));
    assert_false(cs_wheel_same_name(CS_STR("ab"), CS_STR("a-b")));
    assert_false(cs_wheel_same_name(CS_STR("a"), CS_STR("a-")));
    assert_true(cs_wheel_same_version(CS_STR("1.0-RC1"), CS_STR("1.0_rc1")));
    assert_false(cs_wheel_same_version(CS_STR("1.0"), CS_STR("1.0.0")));
}

static void test_expand(void **state) {
    (void)state;
    struct cs_arena arena;
    struct cs_wheel_tags tags = {0};
    cs_arena_init(&arena);
    assert_int_equal(
        cs_wheel_tags_expand(CS_STR("py2.py3"), CS_STR("none"), CS_STR("a.b"), &arena, &tags, NULL),
        CS_OK);
    static const char *const want[] = {"py2-none-a", "py2-none-b", "py3-none-a", "py3-none-b"};
    assert_int_equal(tags.list.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(tags.list.ptr[i].ptr, want[i]);
    }
    char dots[200];
    memset(dots, '.', sizeof dots);
    const struct cs_str many = {dots, sizeof dots};
    assert_int_equal(cs_wheel_tags_expand(many, many, many, &arena, &tags, NULL), CS_LIMIT);
    cs_vec_fini(&tags.list);
    cs_arena_fini(&arena);
}

static void open_wheel(struct cs_buf *b, struct cs_zip *z, struct cs_wheel *w) {
    struct cs_err err = {0};
    assert_int_equal(cs_zip_open(cs_buf_view(b), z, &err), CS_OK);
    assert_int_equal(cs_wheel_open(z, w, &err), CS_OK);
}

static uint8_t *hash_members(const struct cs_zip *z) {
    uint8_t *sha = calloc(z->members.count + 1, CS_SHA256_BYTES);
    for (size_t i = 0; i < z->members.count; i++) {
        const struct cs_zip_member *m = &z->members.ptr[i];
        uint8_t *bytes = malloc(m->bytes + 1);
        assert_int_equal(cs_zip_extract(z, m, bytes, true, NULL, NULL), CS_OK);
        cs_sha256(bytes, m->bytes, sha + i * CS_SHA256_BYTES);
        free(bytes);
    }
    return sha;
}

static void test_right_wheel(void **state) {
    (void)state;
    const struct cs_mk_member members[] = {
        {.name = "my_pkg/a.py", .data = cs_view_of("x = 1\n", 6), .deflate = true},
        {.name = "my_pkg/", .mode = 040755},
        {.name = "my_pkg/lib.so", .data = cs_view_of("\177ELF", 4), .mode = 0100755},
    };
    struct cs_buf b;
    cs_buf_init(&b, 1 << 20);
    cs_mk_wheel_write(&b, "my_pkg", "1.2", members, 1);
    struct cs_zip z;
    struct cs_wheel w;
    open_wheel(&b, &z, &w);
    assert_int_equal(w.faults, 0);
    assert_true(cs_str_eq(w.dist_info, CS_STR("my_pkg-1.2.dist-info")));
    assert_true(cs_str_eq(w.name, CS_STR("my_pkg")));
    assert_true(cs_str_eq(w.version, CS_STR("1.2")));
    assert_true(cs_str_eq(w.metadata_version, CS_STR("2.1")));
    assert_false(w.purelib);
    assert_int_equal(w.tags.count, 1);
    uint8_t *sha = hash_members(&z);
    struct cs_record_faults faults;
    assert_int_equal(cs_wheel_verify_record(&w, &z, sha, &faults, NULL), CS_OK);
    assert_int_equal(faults.list.count, 0);
    sha[0] ^= 1;
    assert_int_equal(cs_wheel_verify_record(&w, &z, sha, &faults, NULL), CS_OK);
    assert_int_equal(faults.list.count, 1);
    assert_int_equal(faults.list.ptr[0].kind, CS_RECORD_FAULT_WRONG_HASH);
    assert_int_equal(faults.list.ptr[0].file, 0);
    cs_vec_fini(&faults.list);
    assert_int_equal(cs_wheel_verify_record(&w, &z, NULL, &faults, NULL), CS_OK);
    assert_int_equal(faults.list.count, 0);
    free(sha);
    cs_wheel_close(&w);
    cs_zip_close(&z);
    cs_buf_fini(&b);
}

static void test_compare_name(void **state) {
    (void)state;
    static const struct {
        const char *path;
        uint32_t want;
    } table[] = {
        {"my_pkg-1.2-py3-none-manylinux_2_28_x86_64.whl", 0},
        {"My.Pkg-1.2-py3-none-manylinux_2_28_x86_64.whl", CS_WHEEL_FOLDER_SPELLING},
        {"other-1.2-py3-none-manylinux_2_28_x86_64.whl",
         CS_WHEEL_NAME_DIFFERS | CS_WHEEL_FOLDER_SPELLING},
        {"my_pkg-1.3-py3-none-manylinux_2_28_x86_64.whl",
         CS_WHEEL_NAME_DIFFERS | CS_WHEEL_FOLDER_SPELLING},
        {"my_pkg-1.2-py2.py3-none-manylinux_2_28_x86_64.whl", CS_WHEEL_TAGS_DIFFER},
        {"my_pkg-1.2-1-py3-none-manylinux_2_28_x86_64.whl", CS_WHEEL_BUILD_DIFFERS},
    };
    struct cs_buf b;
    cs_buf_init(&b, 1 << 20);
    const struct cs_mk_member none = {0};
    cs_mk_wheel_write(&b, "my_pkg", "1.2", &none, 0);
    struct cs_zip z;
    struct cs_wheel w;
    open_wheel(&b, &z, &w);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct cs_wheel_name n;
        uint32_t got;
        assert_int_equal(cs_wheel_name_parse(cs_str_from(table[i].path), &n, NULL), CS_OK);
        assert_int_equal(cs_wheel_compare_name(&w, &n, &got, NULL), CS_OK);
        assert_int_equal(got, table[i].want);
    }
    cs_wheel_close(&w);
    cs_zip_close(&z);
    cs_buf_fini(&b);
}

static void test_faults(void **state) {
    (void)state;
    static const struct {
        const char *name, *text;
        uint32_t want;
    } table[] = {
        {"pkg/a.py", "", CS_WHEEL_NO_DIST_INFO},
        {"a-1.dist-info", "", CS_WHEEL_NO_DIST_INFO},
        {"a-1.dist-info/x", "", CS_WHEEL_NO_RECORD | CS_WHEEL_NO_METADATA | CS_WHEEL_NO_WHEEL},
        {"a-1.dist-info/METADATA", "Name: a\r\nVersion: 1\r\n\r\nName: b\n",
         CS_WHEEL_NO_RECORD | CS_WHEEL_NO_WHEEL},
        {"a-1.dist-info/METADATA", "Name: a\nVersion: 2\n",
         CS_WHEEL_NO_RECORD | CS_WHEEL_NO_WHEEL | CS_WHEEL_FOLDER_DIFFERS},
        {"a-1.dist-info/METADATA", "\nName: a\nVersion: 1\n",
         CS_WHEEL_NO_RECORD | CS_WHEEL_NO_WHEEL | CS_WHEEL_NO_NAME},
        {"a-1.dist-info/WHEEL", "Wheel-Version: 2.0\nTag: py3-none-any\n",
         CS_WHEEL_NO_RECORD | CS_WHEEL_NO_METADATA | CS_WHEEL_NO_VERSION},
        {"a-1.dist-info/WHEEL", "Wheel-Version: 1.0\n",
         CS_WHEEL_NO_RECORD | CS_WHEEL_NO_METADATA | CS_WHEEL_NO_TAG},
        {"a-1.dist-info/RECORD", "", CS_WHEEL_NO_METADATA | CS_WHEEL_NO_WHEEL},
        {".dist-info/RECORD", "", CS_WHEEL_NO_METADATA | CS_WHEEL_NO_WHEEL},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        for (int other = 0; other < 2; other++) {
            struct cs_mk_rawzip b;
            cs_mk_rawzip_init(&b);
            const struct cs_str text = cs_str_from(table[i].text);
            cs_mk_rawzip_add(&b, cs_str_from(table[i].name), cs_view_of(text.ptr, text.len), 0);
            if (other) {
                cs_mk_rawzip_add(&b, CS_STR("b-1.dist-info/RECORD"), cs_view_of("", 0), 0);
            }
            cs_mk_rawzip_end(&b, 0, CS_STR(""));
            struct cs_zip z;
            struct cs_wheel w;
            open_wheel(&b.out, &z, &w);
            if (!other || !(table[i].want & CS_WHEEL_NO_DIST_INFO)) {
                assert_int_equal(w.faults,
                                 table[i].want | (other ? CS_WHEEL_SEVERAL_DIST_INFO : 0));
            }
            cs_wheel_close(&w);
            cs_zip_close(&z);
            cs_mk_rawzip_fini(&b);
        }
    }
}

static void test_path_base(void **state) {
    (void)state;
    assert_true(cs_str_eq(cs_path_base(CS_STR("a/b/c")), CS_STR("c")));
    assert_true(cs_str_eq(cs_path_base(CS_STR("c")), CS_STR("c")));
    assert_true(cs_str_eq(cs_path_base(CS_STR("a/")), CS_STR("")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file_names),   cmocka_unit_test(test_same),
        cmocka_unit_test(test_expand),       cmocka_unit_test(test_right_wheel),
        cmocka_unit_test(test_compare_name), cmocka_unit_test(test_faults),
        cmocka_unit_test(test_path_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
