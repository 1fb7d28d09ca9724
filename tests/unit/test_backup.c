// Several files that change together: kept, dropped, put back, and found again after a crash.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/dir.h"
#include "rewrite/backup.h"

struct folder {
    char path[64];
    char a[96], b[96];
};

static void put(const char *path, const char *text) {
    // As slim does it: a new file takes the name.
    char temp[128];
    snprintf(temp, sizeof temp, "%s.new", path);
    FILE *f = fopen(temp, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(rename(temp, path), 0);
}

static void expect(const char *path, const char *text) {
    char got[64] = "";
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    got[fread(got, 1, sizeof got - 1, f)] = '\0';
    assert_int_equal(fclose(f), 0);
    assert_string_equal(got, text);
}

static size_t entries(const struct folder *f) {
    struct cs_dir dir;
    assert_int_equal(cs_dir_list(f->path, &dir, NULL), CS_OK);
    const size_t n = dir.entries.count;
    cs_dir_fini(&dir);
    return n;
}

static int set_up(void **state) {
    struct folder *f = calloc(1, sizeof *f);
    assert_non_null(f);
    snprintf(f->path, sizeof f->path, "/tmp/test_backup-XXXXXX");
    assert_non_null(mkdtemp(f->path));
    snprintf(f->a, sizeof f->a, "%s/a", f->path);
    snprintf(f->b, sizeof f->b, "%s/b", f->path);
    put(f->a, "old a");
    put(f->b, "old b");
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct folder *f = *state;
    cs_dir_remove(f->path);
    free(f);
    return 0;
}

static void begin(const struct folder *f, struct cs_backup *b) {
    assert_int_equal(cs_backup_open(f->path, b, NULL), CS_OK);
    assert_int_equal(cs_backup_keep(b, cs_str_from(f->a), NULL), CS_OK);
    put(f->a, "new a");
    assert_int_equal(cs_backup_keep(b, cs_str_from(f->b), NULL), CS_OK);
}

static void done(void **state) {
    const struct folder *f = *state;
    struct cs_backup b;
    begin(f, &b);
    put(f->b, "new b");
    cs_backup_close(&b, false);
    expect(f->a, "new a");
    expect(f->b, "new b");
    assert_int_equal(entries(f), 2);
}

// The second file was not replaced yet: both its names are the same file.
static void undone(void **state) {
    const struct folder *f = *state;
    struct cs_backup b;
    begin(f, &b);
    cs_backup_close(&b, true);
    expect(f->a, "old a");
    expect(f->b, "old b");
    assert_int_equal(entries(f), 2);
}

// As after SIGKILL: nobody closed anything.
static void found_again(void **state) {
    const struct folder *f = *state;
    struct cs_backup killed, next;
    begin(f, &killed);
    close(killed.lock);
    assert_int_equal(entries(f), 4);
    assert_int_equal(cs_backup_open(f->path, &next, NULL), CS_OK);
    assert_int_equal(next.recovered, 2);
    expect(f->a, "old a");
    expect(f->b, "old b");
    assert_int_equal(entries(f), 2);
    cs_backup_close(&next, false);
    killed.lock = -1;
    cs_backup_close(&killed, false);  // frees memory; the names are gone already
    assert_int_equal(entries(f), 2);
}

static void one_at_a_time(void **state) {
    const struct folder *f = *state;
    struct cs_backup first, second;
    struct cs_err err = {0};
    begin(f, &first);
    assert_int_equal(cs_backup_open(f->path, &second, &err), CS_CONFLICT);
    assert_int_equal(entries(f), 4);  // the first one's names were left alone
    cs_backup_close(&first, true);
    assert_int_equal(cs_backup_open(f->path, &second, NULL), CS_OK);
    cs_backup_close(&second, false);
    assert_int_not_equal(cs_backup_open("/nowhere", &second, NULL), CS_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(done, set_up, tear_down),
        cmocka_unit_test_setup_teardown(undone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(found_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_at_a_time, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
