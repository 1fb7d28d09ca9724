// Agreement with Python's zipfile on published wheels, which are no part of the repository: every
// member's place, sizes, CRC and attributes; the contents (by CRC, with and without map) and RECORD
// of the smaller ones.  Skipped where ${CUSLIM_CACHE:-~/.cache/cuslim}/wheels holds none.
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "format/wheel.h"

#define EXTRACT_MAX (150 * CS_MIB)  // of a wheel file; larger ones would take minutes under ASan

static glob_t wheels;

static int find_wheels(void **state) {
    (void)state;
    const char *cache = getenv("CUSLIM_CACHE");
    const char *home = getenv("HOME");
    char pattern[4096];
    snprintf(pattern, sizeof pattern, "%s%s/wheels/*.whl",
             cache  ? cache
             : home ? home
                    : "",
             cache ? "" : "/.cache/cuslim");
    return glob(pattern, 0, NULL, &wheels) == GLOB_NOSPACE ? -1 : 0;
}

static int drop_wheels(void **state) {
    (void)state;
    globfree(&wheels);
    return 0;
}

static void open_zip(const char *path, struct cs_file *f, struct cs_zip *z) {
    struct cs_err err = {0};
    if (cs_file_open(path, f, &err) != CS_OK || cs_zip_open(f->view, z, &err) != CS_OK) {
        char text[512];
        cs_err_format(&err, text, sizeof text);
        fail_msg("%s: %s", path, text);
    }
}

static void compare_directory(const char *path) {
    static const char script[] =
        "python3 -c 'import sys,zipfile\n"
        "for i in zipfile.ZipFile(sys.argv[1]).infolist():\n"
        " print(i.header_offset,i.compress_size,i.file_size,i.CRC,i.compress_type,i.flag_bits,"
        "i.external_attr,int(i.is_dir()),i.filename)' ";
    struct cs_file f;
    struct cs_zip z;
    open_zip(path, &f, &z);
    char command[5000];
    snprintf(command, sizeof command, "%s\"%s\"", script, path);
    FILE *python = popen(command, "r");
    assert_non_null(python);
    char line[5000];
    size_t count = 0;
    for (; fgets(line, sizeof line, python); count++) {
        assert_true(count < z.members.count);
        const struct cs_zip_member *m = &z.members.ptr[count];
        char want[5000];
        snprintf(want, sizeof want, "%llu %llu %llu %u %u %u %u %d %s\n",
                 (unsigned long long)m->header_off, (unsigned long long)m->compressed_bytes,
                 (unsigned long long)m->bytes, m->crc32, m->method, m->flags, m->external_attr,
                 m->is_dir, m->name.ptr);
        assert_string_equal(line, want);
    }
    assert_int_equal(pclose(python), 0);
    assert_int_equal(count, z.members.count);
    cs_zip_close(&z);
    cs_file_close(&f);
}

static void test_directory_as_python_sees_it(void **state) {
    (void)state;
    if (wheels.gl_pathc == 0) {
        skip();
    }
    for (size_t i = 0; i < wheels.gl_pathc; i++) {
        compare_directory(wheels.gl_pathv[i]);
    }
}

static void extract(const struct cs_zip *z, const struct cs_zip_member *m, uint8_t *sha) {
    uint8_t *bytes = m->bytes ? cs_pages_alloc(m->bytes) : NULL;
    struct cs_zip_map map;
    uint64_t sum = 0;
    assert_int_equal(cs_zip_extract(z, m, bytes, true, NULL, NULL), CS_OK);
    assert_int_equal(cs_zip_extract(z, m, bytes, true, &map, NULL), CS_OK);
    for (uint64_t at = 0; at < m->bytes; at += 5000) {
        sum += cs_zip_map_range(&map, at, 5000);
    }
    assert_int_equal(sum, m->bytes ? m->compressed_bytes : 0);
    cs_sha256(bytes, m->bytes, sha);
    cs_zip_map_fini(&map);
    cs_pages_free(bytes, m->bytes);
}

static void test_contents_and_record(void **state) {
    (void)state;
    size_t done = 0;
    for (size_t i = 0; i < wheels.gl_pathc; i++) {
        struct cs_file f;
        struct cs_zip z;
        struct cs_wheel w;
        struct cs_wheel_name name;
        struct cs_record_faults faults;
        uint32_t differs;
        open_zip(wheels.gl_pathv[i], &f, &z);
        assert_int_equal(cs_wheel_open(&z, &w, NULL), CS_OK);
        assert_int_equal(w.faults, 0);
        assert_int_equal(cs_wheel_name_parse(cs_str_from(wheels.gl_pathv[i]), &name, NULL), CS_OK);
        assert_int_equal(cs_wheel_compare_name(&w, &name, &differs, NULL), CS_OK);
        assert_int_equal(differs & ~CS_WHEEL_TAGS_DIFFER, 0);
        uint8_t *sha = NULL;
        if (f.view.len <= EXTRACT_MAX) {
            sha = calloc(z.members.count, CS_SHA256_BYTES);
            for (size_t k = 0; k < z.members.count; k++) {
                extract(&z, &z.members.ptr[k], sha + k * CS_SHA256_BYTES);
            }
            done++;
        }
        assert_int_equal(cs_wheel_verify_record(&w, &z, sha, &faults, NULL), CS_OK);
        for (size_t k = 0; k < faults.list.count; k++) {
            print_message("%s: %s\n", wheels.gl_pathv[i],
                          cs_record_fault_name(faults.list.ptr[k].kind));
        }
        assert_int_equal(faults.list.count, 0);
        free(sha);
        cs_wheel_close(&w);
        cs_zip_close(&z);
        cs_file_close(&f);
    }
    if (done == 0) {
        skip();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_directory_as_python_sees_it),
        cmocka_unit_test(test_contents_and_record),
    };
    return cmocka_run_group_tests(tests, find_wheels, drop_wheels);
}
