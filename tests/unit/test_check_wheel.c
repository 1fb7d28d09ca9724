// Wheel rules: RECORD, ZIP, tags against content, libraries of the driver.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "build/mk_check.h"
#include "build/mk_rawzip.h"
#include "build/mk_words.h"

#define FOUND(t, slug, severity, text) \
    assert_true(cs_mk_check_found(t, slug, CS_SEVERITY_##severity, text))
#define NONE(t, slug) assert_int_equal(cs_mk_check_count(t, slug), 0)

static const char good_name[] = "pkg-1.0-py3-none-manylinux_2_28_x86_64.whl";

static void judge(struct cs_mk_check *t, const char *name, struct cs_view wheel) {
    cs_mk_check_start(t);
    cs_mk_check_read_as(t, name, wheel);
    cs_mk_check_run(t, &(struct cs_mk_check_ask){.select = "W"});
}

static struct cs_buf library(const struct cs_mk_host *like) {
    struct cs_buf b;
    cs_buf_init(&b, SIZE_MAX);
    cs_mk_words_library(&b, "a.cu: sm_80:z sm_90:z", like);
    return b;
}

// A right wheel of the builder with one library under the name.
static struct cs_buf wheel(const char *member, const struct cs_mk_host *like) {
    struct cs_buf lib = library(like), out;
    cs_buf_init(&out, SIZE_MAX);
    const struct cs_mk_member members[] = {
        {.name = "pkg/__init__.py", .data = {(const uint8_t *)"x = 1\n", 6}},
        {.name = "pkg/py.typed", .data = {(const uint8_t *)"", 0}},
        {.name = member, .data = cs_buf_view(&lib), .deflate = true},
    };
    cs_mk_wheel_write(&out, "pkg", "1.0", members, 3);
    cs_buf_fini(&lib);
    return out;
}

static void test_right(void **state) {
    (void)state;
    struct cs_mk_check t;
    struct cs_buf w = wheel("pkg/ops.so", NULL);
    judge(&t, good_name, cs_buf_view(&w));
    if (t.result.findings.count) {
        cs_mk_check_print(&t);
        fail();
    }
    assert_true(t.result.pass);
    cs_mk_check_end(&t);
    cs_buf_fini(&w);
}

// U47: a wheel edited after its RECORD was written; padded and non-url-safe hashes; folders.
static void test_u47_record(void **state) {
    (void)state;
    static const struct {
        const char *row, *found;  // RECORD's row for pkg/a.py, and what is said of it
    } rows[] = {
        {"pkg/a.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,6\n", "wrong-hash"},
        {"pkg/a.py,sha256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=,6\n", "padded-hash"},
        {"pkg/a.py,sha256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU,6\n", "not-urlsafe-hash"},
        {"pkg/a.py,,6\n", "no-hash"},
        {"pkg/a.py,md5=AAAA,6\n", "weak-hash"},
        {"", "missing-row"},
        {"pkg/,,\npkg/a.py,,\n", "directory-row"},
        {"pkg/gone.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,6\n", "extra-row"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char record[512];
        snprintf(record, sizeof record,
                 "%spkg-1.0.dist-info/METADATA,,\npkg-1.0.dist-info/WHEEL,,\n"
                 "pkg-1.0.dist-info/RECORD,,\n",
                 rows[i].row);
        struct cs_mk_rawzip z;
        cs_mk_rawzip_init(&z);
        cs_mk_rawzip_add(&z, CS_STR("pkg/a.py"), cs_view_of("x = 1\n", 6), CS_RAWZIP_DEFLATE);
        const char *meta = "Metadata-Version: 2.1\nName: pkg\nVersion: 1.0\n";
        const char *tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n";
        cs_mk_rawzip_add(&z, CS_STR("pkg-1.0.dist-info/METADATA"), cs_view_of(meta, strlen(meta)),
                         0);
        cs_mk_rawzip_add(&z, CS_STR("pkg-1.0.dist-info/WHEEL"), cs_view_of(tags, strlen(tags)), 0);
        cs_mk_rawzip_add(&z, CS_STR("pkg-1.0.dist-info/RECORD"),
                         cs_view_of(record, strlen(record)), 0);
        cs_mk_rawzip_end(&z, 0, CS_STR(""));
        struct cs_mk_check t;
        judge(&t, "pkg-1.0-py3-none-any.whl", cs_mk_rawzip_view(&z));
        assert_false(t.result.pass);
        FOUND(&t, "record-mismatch", ERROR, rows[i].found);
        cs_mk_check_end(&t);
        cs_mk_rawzip_fini(&z);
    }
}

static void test_changed_library(void **state) {
    (void)state;
    struct cs_mk_check t;
    struct cs_buf w = wheel("pkg/ops.so", NULL);
    // Stored text of RECORD is deflated; the plain member is not.
    uint8_t *text = memmem(w.ptr, w.len, "x = 1\n", 6);
    assert_non_null(text);
    text[4] = '2';
    const uint32_t crc = cs_crc32(0, text, 6);
    // Both headers of the first member carry the CRC.
    cs_mk_patch_u32(&w, 14, crc);
    uint64_t count;
    const uint64_t central = cs_mk_zip_central(cs_buf_view(&w), &count);
    cs_mk_patch_u32(&w, central + 16, crc);
    judge(&t, good_name, cs_buf_view(&w));
    assert_false(t.result.pass);
    FOUND(&t, "record-mismatch", ERROR, "pkg/__init__.py: sha256 differs from its row");
    assert_int_equal(cs_mk_check_count(&t, NULL), 1);
    cs_mk_check_end(&t);
    cs_buf_fini(&w);
}

static void test_zip(void **state) {
    (void)state;
    static const struct {
        uint32_t how;
        const char *text;
    } rows[] = {
        {CS_RAWZIP_LOCAL_NAME_X, "local and central header disagree"},
        {0, "the name occurs twice"},
        {CS_RAWZIP_USELESS64, "ZIP64"},
        {CS_RAWZIP_METHOD_12, "neither stored nor deflated"},
        {CS_RAWZIP_BAD_CRC, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cs_mk_rawzip z;
        cs_mk_rawzip_init(&z);
        cs_mk_rawzip_add(&z, CS_STR("pkg/a.py"), cs_view_of("x = 1\n", 6), 0);
        cs_mk_rawzip_add(&z, cs_str_from(rows[i].how == 0 ? "pkg/a.py" : "pkg/b.py"),
                         cs_view_of("x = 1\n", 6), rows[i].how);
        cs_mk_rawzip_end(&z, 0, CS_STR(""));
        struct cs_mk_check t;
        cs_mk_check_start(&t);
        cs_mk_check_read_as(&t, "pkg.zip", cs_mk_rawzip_view(&z));
        cs_mk_check_run(&t, &(struct cs_mk_check_ask){0});
        assert_false(t.result.pass);
        if (rows[i].how == CS_RAWZIP_BAD_CRC) {
            FOUND(&t, "unreadable", ERROR, "pkg/b.py");
        } else {
            FOUND(&t, "zip-invalid", ERROR, rows[i].text);
        }
        NONE(&t, "wheel-metadata");  // not called .whl, no dist-info: some other ZIP
        cs_mk_check_end(&t);
        cs_mk_rawzip_fini(&z);
    }
    struct cs_buf w = wheel("pkg/ops.so", NULL);
    struct cs_mk_check t;
    cs_buf_adds(&w, "more");
    judge(&t, good_name, cs_buf_view(&w));
    FOUND(&t, "zip-invalid", ERROR, "bytes after the end record");
    cs_mk_check_end(&t);
    cs_buf_fini(&w);
}

static void test_names(void **state) {
    (void)state;
    static const struct {
        const char *name, *text;
        enum cs_severity severity;
    } rows[] = {
        {"pkg-1.1-py3-none-manylinux_2_28_x86_64.whl", "disagree on name or version",
         CS_SEVERITY_ERROR},
        {"pkg-1.0-py3-none-manylinux_2_34_x86_64.whl", "give different tags", CS_SEVERITY_WARNING},
        {"pkg.whl", "no wheel name", CS_SEVERITY_ERROR},
    };
    struct cs_buf w = wheel("pkg/ops.so", NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cs_mk_check t;
        judge(&t, rows[i].name, cs_buf_view(&w));
        assert_true(cs_mk_check_found(&t, "wheel-metadata", rows[i].severity, rows[i].text));
        cs_mk_check_end(&t);
    }
    cs_buf_fini(&w);
}

static void test_tags(void **state) {
    (void)state;
    static const struct {
        const char *name, *member;
        uint16_t machine;
        enum cs_severity severity;
        const char *text;
    } rows[] = {
        {"pkg-1.0-py3-none-any.whl", "pkg/ops.so", EM_X86_64, CS_SEVERITY_WARNING,
         "any platform, yet pkg/ops.so"},
        {good_name, "pkg/ops.so", EM_AARCH64, CS_SEVERITY_ERROR, "built for aarch64"},
        {"pkg-1.0-cp311-cp311-manylinux_2_28_x86_64.whl", "pkg/x.cpython-310-x86_64-linux-gnu.so",
         EM_X86_64, CS_SEVERITY_WARNING, "for one Python alone"},
        {"pkg-1.0-cp310-abi3-manylinux_2_28_x86_64.whl", "pkg/x.cpython-310-x86_64-linux-gnu.so",
         EM_X86_64, CS_SEVERITY_WARNING, "tagged cp310-abi3"},
        {"pkg-1.0-cp310-cp310-manylinux_2_28_x86_64.whl", "pkg/x.cpython-310-x86_64-linux-gnu.so",
         EM_X86_64, CS_SEVERITY_NOTE, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cs_mk_check t;
        struct cs_buf w = wheel(rows[i].member, &(struct cs_mk_host){.machine = rows[i].machine});
        judge(&t, rows[i].name, cs_buf_view(&w));
        if (rows[i].text) {
            assert_true(
                cs_mk_check_found(&t, "tag-mismatch", rows[i].severity, rows[i].text));
        } else {
            NONE(&t, "tag-mismatch");
        }
        cs_mk_check_end(&t);
        cs_buf_fini(&w);
    }
}

static void test_bundled(void **state) {
    (void)state;
    static const struct {
        const char *member;
        bool found;
    } rows[] = {
        {"pkg.libs/libcuda-1a2b3c4d.so.1", true}, {"pkg/stubs/libcuda.so", true},
        {"pkg.libs/libnvidia-ml.so.1", true},     {"pkg/libcudart.so.12", false},
        {"pkg/libcudadebug.so", false},           {"pkg/libcudart_static.so", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cs_mk_check t;
        struct cs_buf w = wheel(rows[i].member, NULL);
        judge(&t, good_name, cs_buf_view(&w));
        assert_int_equal(cs_mk_check_count(&t, "bundled-driver-library"), rows[i].found);
        cs_mk_check_end(&t);
        cs_buf_fini(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),  cmocka_unit_test(test_u47_record),
        cmocka_unit_test(test_changed_library), cmocka_unit_test(test_zip),
        cmocka_unit_test(test_names),  cmocka_unit_test(test_tags),
        cmocka_unit_test(test_bundled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
