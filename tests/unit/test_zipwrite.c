// ZIP and wheel writers: round trips, byte identity, ZIP64, pieces and threads, Python as a judge.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "build/mk_rawzip.h"
#include "build/mk_zip.h"
#include "format/wheelwrite.h"

enum { BYTES = (5 << 20) + 12345, NOISE_END = 2 << 20 };

static uint8_t content[BYTES];
static char folder[] = "/tmp/cuslim-zipwrite-XXXXXX";
static char path[64];

// Two pieces of noise, then text.
static int setup(void **state) {
    (void)state;
    uint64_t x = 88172645463325252u;
    for (size_t i = 0; i < BYTES; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        content[i] = i < NOISE_END ? (uint8_t)x : (uint8_t) "abcdefgh"[x % 8];
    }
    if (!mkdtemp(folder)) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/out.zip", folder);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

static struct cs_view part(size_t from, size_t len) { return cs_view_of(content + from, len); }

struct result {
    struct cs_file file;
    struct cs_zip zip;
};

static void create(struct cs_outfile *out) {
    assert_int_equal(cs_outfile_create(path, 0644, out, NULL), CS_OK);
}

static void reopen(struct cs_outfile *out, struct result *r) {
    struct cs_err err = {0};
    assert_int_equal(cs_outfile_commit(out, &err), CS_OK);
    assert_int_equal(cs_file_open(path, &r->file, &err), CS_OK);
    if (cs_zip_open(r->file.view, &r->zip, &err) != CS_OK) {
        char text[512];
        cs_err_format(&err, text, sizeof text);
        fail_msg("%s", text);
    }
}

static void close_result(struct result *r) {
    cs_zip_close(&r->zip);
    cs_file_close(&r->file);
}

static void expect(const struct cs_zip *z, size_t i, struct cs_view want) {
    const struct cs_zip_member *m = &z->members.ptr[i];
    assert_int_equal(m->bytes, want.len);
    uint8_t *dst = malloc(want.len + 1);
    struct cs_zip_map map;
    assert_int_equal(cs_zip_extract(z, m, dst, true, NULL, NULL), CS_OK);
    assert_memory_equal(dst, want.ptr, want.len);
    assert_int_equal(cs_zip_extract(z, m, dst, true, &map, NULL), CS_OK);
    assert_memory_equal(dst, want.ptr, want.len);
    cs_zip_map_fini(&map);
    free(dst);
}

static void python_accepts(void) {
    char command[300];
    snprintf(
        command, sizeof command,
        "python3 -c 'import sys,zipfile; sys.exit(zipfile.ZipFile(\"%s\").testzip() is not None)'",
        path);
    assert_int_equal(system(command), 0);
}

static void test_new_members(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t from, len;
        enum cs_zipwrite_method how;
        uint16_t method;
        uint64_t most;  // compressed
    } table[] = {
        {"empty", 0, 0, CS_ZIPWRITE_AUTO, 0, 0},
        {"empty-deflated", 0, 0, CS_ZIPWRITE_DEFLATE, 8, 2},
        {"one", 0, 1, CS_ZIPWRITE_AUTO, 0, 1},
        {"one-deflated", 0, 1, CS_ZIPWRITE_DEFLATE, 8, 6},
        {"text", NOISE_END, 5000, CS_ZIPWRITE_AUTO, 8, 2300},
        {"short-noise", 0, 5000, CS_ZIPWRITE_AUTO, 0, 5000},
        {"noise", 0, NOISE_END, CS_ZIPWRITE_AUTO, 0, NOISE_END},
        {"noise-deflated", 0, NOISE_END, CS_ZIPWRITE_DEFLATE, 8, NOISE_END + NOISE_END / 8192},
        {"mixed", 0, BYTES, CS_ZIPWRITE_AUTO, 8, NOISE_END + 1500000},
        {"mixed-stored", 0, BYTES, CS_ZIPWRITE_STORE, 0, BYTES},
        {"piece", NOISE_END, 1 << 20, CS_ZIPWRITE_AUTO, 8, 450000},
        {"piece+1", NOISE_END, (1 << 20) + 1, CS_ZIPWRITE_AUTO, 8, 450000},
    };
    enum { COUNT = sizeof table / sizeof table[0] };
    struct cs_outfile out;
    struct cs_zipwrite w;
    struct result r;
    create(&out);
    cs_zipwrite_init(&w, &out, &(struct cs_zipwrite_options){0});
    for (size_t i = 0; i < COUNT; i++) {
        w.options.method = table[i].how;
        assert_int_equal(cs_zipwrite_add(&w, cs_str_from(table[i].name), 0100755, i,
                                         part(table[i].from, table[i].len), NULL),
                         CS_OK);
    }
    assert_int_equal(cs_zipwrite_end(&w, CS_STR("note"), NULL), CS_OK);
    reopen(&out, &r);
    assert_int_equal(r.zip.members.count, COUNT);
    assert_int_equal(r.zip.faults, CS_ZIP_FILE_COMMENT);
    assert_int_equal(r.file.view.len, cs_zipwrite_bytes(&w));
    for (size_t i = 0; i < COUNT; i++) {
        const struct cs_zip_member *m = &r.zip.members.ptr[i];
        assert_true(cs_str_eq(m->name, cs_str_from(table[i].name)));
        assert_int_equal(m->faults, 0);
        assert_int_equal(m->method, table[i].method);
        assert_in_range(m->compressed_bytes, 0, table[i].most);
        assert_int_equal(m->compressed_bytes, w.entries.ptr[i].compressed_bytes);
        assert_int_equal(m->external_attr >> 16, 0100755);
        expect(&r.zip, i, part(table[i].from, table[i].len));
    }
    python_accepts();
    close_result(&r);
    cs_zipwrite_fini(&w);
}

struct stream {
    struct cs_buf bytes;
};
static void collect(void *ctx, const void *bytes, size_t len) {
    cs_buf_add(&((struct stream *)ctx)->bytes, bytes, len);
}

static void test_stream_does_not_depend_on_threads(void **state) {
    (void)state;
    struct cs_pool *pool;
    struct stream one = {0};
    struct stream four = {0};
    struct cs_deflate_plan plan;
    cs_buf_init(&one.bytes, 1 << 24);
    cs_buf_init(&four.bytes, 1 << 24);
    assert_int_equal(cs_pool_new(4, &pool, NULL), CS_OK);
    assert_int_equal(cs_deflate_plan_make(part(0, BYTES), pool, &plan, NULL), CS_OK);
    assert_int_equal(plan.count, 6);
    assert_int_equal(plan.store[0] && plan.store[1] && !plan.store[2], 1);
    for (int level = 1; level <= 12; level += 4) {
        cs_buf_clear(&one.bytes);
        cs_buf_clear(&four.bytes);
        assert_int_equal(cs_deflate_write(part(0, BYTES), &plan, level, NULL, collect, &one, NULL),
                         CS_OK);
        assert_int_equal(cs_deflate_write(part(0, BYTES), &plan, level, pool, collect, &four, NULL),
                         CS_OK);
        assert_int_equal(one.bytes.len, four.bytes.len);
        assert_memory_equal(one.bytes.ptr, four.bytes.ptr, one.bytes.len);
    }
    cs_deflate_plan_fini(&plan);
    cs_pool_free(pool);
    cs_buf_fini(&one.bytes);
    cs_buf_fini(&four.bytes);
}

// Copies all members of a built file; the result is in r.
static void copy_all(const struct cs_zip *z, struct result *r) {
    struct cs_outfile out;
    struct cs_zipwrite w;
    create(&out);
    cs_zipwrite_init(&w, &out, &(struct cs_zipwrite_options){0});
    for (size_t i = 0; i < z->members.count; i++) {
        assert_int_equal(cs_zipwrite_copy(&w, z, &z->members.ptr[i], i, NULL), CS_OK);
    }
    const struct cs_view comment = cs_zip_comment(z);
    assert_int_equal(
        cs_zipwrite_end(&w, (struct cs_str){(const char *)comment.ptr, comment.len}, NULL), CS_OK);
    reopen(&out, r);
    cs_zipwrite_fini(&w);
}

static void test_copy_is_identical(void **state) {
    (void)state;
    const struct cs_mk_member members[] = {
        {.name = "a/x.py", .data = part(NOISE_END, 5000), .deflate = true},
        {.name = "a/", .mode = 040755},
        {.name = "a/run", .data = part(0, 300), .mode = 0100755, .extra_bytes = 40},
        {.name = "a/flushed", .data = part(NOISE_END, 90000), .deflate = true, .flush_every = 9999},
        {.name = "b", .data = part(NOISE_END, 70), .deflate = true, .level = -1},
    };
    struct cs_buf b;
    struct cs_zip z;
    struct result r;
    cs_buf_init(&b, 1 << 24);
    cs_mk_zip_write(&b, &(struct cs_mk_zip){.members = members, .count = 5, .comment = "kept"});
    assert_int_equal(cs_zip_open(cs_buf_view(&b), &z, NULL), CS_OK);
    copy_all(&z, &r);
    assert_int_equal(r.file.view.len, b.len);
    assert_memory_equal(r.file.view.ptr, b.ptr, b.len);
    close_result(&r);
    cs_zip_close(&z);
    cs_buf_fini(&b);
}

// What had to change in a copy: descriptors, needless ZIP64, a prefix, gaps.
static void test_copy_cleans(void **state) {
    (void)state;
    static const uint32_t how[] = {
        CS_RAWZIP_DEFLATE | CS_RAWZIP_DESCRIPTOR,
        CS_RAWZIP_STORED | CS_RAWZIP_DESCRIPTOR_BARE,
        CS_RAWZIP_DEFLATE | CS_RAWZIP_DESCRIPTOR | CS_RAWZIP_ZIP64,
        CS_RAWZIP_DEFLATE | CS_RAWZIP_ZIP64 | CS_RAWZIP_UTF8,
        CS_RAWZIP_DEFLATE | CS_RAWZIP_USELESS64,
    };
    enum { COUNT = sizeof how / sizeof how[0] };
    struct cs_mk_rawzip b;
    struct cs_zip z;
    struct result r;
    cs_mk_rawzip_init(&b);
    cs_mk_rawzip_raw(&b, "prefix", 6);
    b.base = 6;
    for (size_t i = 0; i < COUNT; i++) {
        char name[] = {'m', (char)('0' + i)};
        cs_mk_rawzip_add(&b, (struct cs_str){name, 2}, part(NOISE_END + i, 9000 + i), how[i]);
        cs_mk_rawzip_raw(&b, "gap", 3);
    }
    cs_mk_rawzip_end(&b, CS_RAWZIP_END_ZIP64, CS_STR(""));
    assert_int_equal(cs_zip_open(cs_mk_rawzip_view(&b), &z, NULL), CS_OK);
    copy_all(&z, &r);
    assert_int_equal(r.zip.faults, 0);
    assert_int_equal(r.zip.zip64_eocd_off, 0);
    for (size_t i = 0; i < COUNT; i++) {
        const struct cs_zip_member *m = &r.zip.members.ptr[i];
        const struct cs_view old = cs_zip_raw(&z, &z.members.ptr[i]);
        const struct cs_view new = cs_zip_raw(&r.zip, m);
        assert_int_equal(m->faults, 0);
        assert_false(m->zip64);
        assert_int_equal(m->flags, how[i] & CS_RAWZIP_UTF8 ? 0x800 : 0);
        assert_int_equal(old.len, new.len);
        assert_memory_equal(old.ptr, new.ptr, old.len);
        expect(&r.zip, i, part(NOISE_END + i, 9000 + i));
    }
    python_accepts();
    close_result(&r);
    cs_zip_close(&z);
    cs_mk_rawzip_fini(&b);
}

static void test_contradictions_are_not_copied(void **state) {
    (void)state;
    struct cs_mk_rawzip b;
    struct cs_zip z;
    struct cs_zipwrite w;
    cs_mk_rawzip_init(&b);
    cs_mk_rawzip_add(&b, CS_STR("a"), part(0, 9), CS_RAWZIP_LOCAL_NAME_X);
    cs_mk_rawzip_add(&b, CS_STR("b"), part(0, 9), 0);
    cs_mk_rawzip_add(&b, CS_STR("b"), part(0, 9), CS_RAWZIP_ALIAS);
    cs_mk_rawzip_end(&b, 0, CS_STR(""));
    assert_int_equal(cs_zip_open(cs_mk_rawzip_view(&b), &z, NULL), CS_OK);
    cs_zipwrite_init(&w, NULL, &(struct cs_zipwrite_options){0});
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(cs_zipwrite_copy(&w, &z, &z.members.ptr[i], i, NULL), CS_CONFLICT);
    }
    cs_zipwrite_fini(&w);
    cs_zip_close(&z);
    cs_mk_rawzip_fini(&b);
}

static void test_many_members_need_zip64(void **state) {
    (void)state;
    enum { MANY = 70000 };
    struct cs_outfile out;
    struct cs_zipwrite w;
    struct result r;
    create(&out);
    cs_zipwrite_init(&w, &out, &(struct cs_zipwrite_options){.method = CS_ZIPWRITE_STORE});
    for (uint32_t i = 0; i < MANY; i++) {
        char name[16];
        snprintf(name, sizeof name, "%u", i);
        // Written in order, listed in reverse.
        assert_int_equal(
            cs_zipwrite_add(&w, cs_str_from(name), 0100644, MANY - i, part(0, 1), NULL), CS_OK);
    }
    assert_int_equal(cs_zipwrite_end(&w, CS_STR(""), NULL), CS_OK);
    reopen(&out, &r);
    assert_int_equal(r.zip.faults, 0);
    assert_int_not_equal(r.zip.zip64_eocd_off, 0);
    assert_int_equal(r.zip.members.count, MANY);
    assert_true(cs_str_eq(r.zip.members.ptr[0].name, CS_STR("69999")));
    assert_true(cs_str_eq(r.zip.members.ptr[MANY - 1].name, CS_STR("0")));
    python_accepts();
    close_result(&r);
    cs_zipwrite_fini(&w);
}

// Beyond 4 GiB, without writing that much: a dry run that starts far out.
static void test_far_offsets_need_zip64(void **state) {
    (void)state;
    static const struct {
        uint64_t at;
        bool zip64;
    } table[] = {{0xfffffffeu, false}, {0xffffffffu, true}, {(uint64_t)5 << 30, true}};
    for (size_t i = 0; i < 3; i++) {
        struct cs_zipwrite w;
        cs_zipwrite_init(&w, NULL, &(struct cs_zipwrite_options){0});
        w.flushed = table[i].at;
        assert_int_equal(cs_zipwrite_add(&w, CS_STR("n"), 0, 0, part(0, 9), NULL), CS_OK);
        const struct cs_view c = cs_buf_view(&w.central);
        assert_int_equal(cs_u16(c, 6), table[i].zip64 ? 45 : 20);
        assert_int_equal(cs_u32(c, 20), 9);
        assert_int_equal(cs_u32(c, 42), table[i].zip64 ? 0xffffffffu : table[i].at);
        assert_int_equal(cs_u16(c, 30), table[i].zip64 ? 12 : 0);
        if (table[i].zip64) {
            assert_int_equal(cs_u32(c, 47), 0x00080001);
            assert_int_equal(cs_u64(c, 51), table[i].at);
        }
        cs_zipwrite_fini(&w);
    }
}

static void test_replace_keeps_the_rest(void **state) {
    (void)state;
    struct cs_mk_rawzip b;
    struct cs_zip z;
    struct cs_outfile out;
    struct cs_zipwrite w;
    struct result r;
    cs_mk_rawzip_init(&b);
    b.mode = 0100755;
    cs_mk_rawzip_add(&b, CS_STR("\xc3\xa9.so"), part(0, 900),
                     CS_RAWZIP_UTF8 | CS_RAWZIP_DESCRIPTOR | CS_RAWZIP_ZIP64);
    cs_mk_rawzip_end(&b, 0, CS_STR(""));
    assert_int_equal(cs_zip_open(cs_mk_rawzip_view(&b), &z, NULL), CS_OK);
    create(&out);
    cs_zipwrite_init(&w, &out, &(struct cs_zipwrite_options){0});
    assert_int_equal(
        cs_zipwrite_replace(&w, &z, &z.members.ptr[0], 0, part(NOISE_END, 200000), NULL), CS_OK);
    assert_int_equal(cs_zipwrite_end(&w, CS_STR(""), NULL), CS_OK);
    reopen(&out, &r);
    const struct cs_zip_member *m = &r.zip.members.ptr[0];
    assert_int_equal(m->faults, 0);
    assert_int_equal(m->flags, 0x800);
    assert_int_equal(m->method, 8);
    assert_int_equal(m->external_attr >> 16, 0100755);
    assert_int_equal(m->dos_date, z.members.ptr[0].dos_date);
    expect(&r.zip, 0, part(NOISE_END, 200000));
    close_result(&r);
    cs_zipwrite_fini(&w);
    cs_zip_close(&z);
    cs_mk_rawzip_fini(&b);
}

// A wheel whose RECORD is not last: some kept, one changed, one dropped, one new.
static void write_wheel(const struct cs_zip *z, const struct cs_wheel *wheel,
                        struct cs_outfile *out, uint64_t *bytes) {
    struct cs_wheelwrite w;
    const struct cs_zipwrite_options options = {0};
    assert_int_equal(cs_wheelwrite_begin(&w, z, wheel, out, &options, NULL), CS_OK);
    for (uint32_t i = 0; i < z->members.count; i++) {
        const struct cs_str name = z->members.ptr[i].name;
        if (cs_str_eq(name, CS_STR("p/lib.so"))) {
            assert_int_equal(cs_wheelwrite_replace(&w, i, part(0, BYTES), NULL), CS_OK);
        } else if (cs_str_eq(name, CS_STR("p/gone"))) {
            assert_int_equal(cs_wheelwrite_drop(&w, i, NULL), CS_OK);
        } else if (i != wheel->record_member) {
            assert_int_equal(cs_wheelwrite_keep(&w, i, NULL), CS_OK);
        }
    }
    assert_int_equal(
        cs_wheelwrite_add(&w, CS_STR("p-1.dist-info/n,ew"), 0100644, part(0, 10), NULL), CS_OK);
    assert_int_equal(cs_wheelwrite_end(&w, bytes, NULL), CS_OK);
    cs_wheelwrite_fini(&w);
}

static void test_wheel(void **state) {
    (void)state;
    const struct cs_mk_member members[] = {
        {.name = "p/a.py", .data = part(NOISE_END, 5000), .deflate = true},
        {.name = "p/lib.so", .data = part(0, 5000), .deflate = true, .mode = 0100755},
        {.name = "p/gone", .data = part(0, 10)},
    };
    static const char *const want[] = {"p/a.py",
                                       "p/lib.so",
                                       "p-1.dist-info/METADATA",
                                       "p-1.dist-info/WHEEL",
                                       "p-1.dist-info/n,ew",
                                       "p-1.dist-info/RECORD"};
    struct cs_buf b;
    struct cs_zip z;
    struct cs_wheel wheel, again;
    struct cs_outfile out;
    struct result r;
    uint64_t dry, bytes;
    cs_buf_init(&b, 1 << 24);
    cs_mk_wheel_write(&b, "p", "1", members, 3);
    assert_int_equal(cs_zip_open(cs_buf_view(&b), &z, NULL), CS_OK);
    assert_int_equal(cs_wheel_open(&z, &wheel, NULL), CS_OK);
    write_wheel(&z, &wheel, NULL, &dry);
    create(&out);
    write_wheel(&z, &wheel, &out, &bytes);
    reopen(&out, &r);
    assert_int_equal(dry, bytes);
    assert_int_equal(bytes, r.file.view.len);
    assert_int_equal(r.zip.members.count, 6);
    uint8_t sha[6 * CS_SHA256_BYTES];
    uint8_t *dst = malloc(BYTES);
    for (size_t i = 0; i < 6; i++) {
        const struct cs_zip_member *m = &r.zip.members.ptr[i];
        assert_string_equal(m->name.ptr, want[i]);
        assert_int_equal(cs_zip_extract(&r.zip, m, dst, true, NULL, NULL), CS_OK);
        cs_sha256(dst, m->bytes, sha + i * CS_SHA256_BYTES);
    }
    free(dst);
    struct cs_record_faults faults;
    assert_int_equal(cs_wheel_open(&r.zip, &again, NULL), CS_OK);
    assert_int_equal(again.faults, 0);
    assert_int_equal(cs_wheel_verify_record(&again, &r.zip, sha, &faults, NULL), CS_OK);
    assert_int_equal(faults.list.count, 0);
    assert_int_equal(again.record.rows.count, 6);
    python_accepts();
    cs_wheel_close(&again);
    close_result(&r);
    cs_wheel_close(&wheel);
    cs_zip_close(&z);
    cs_buf_fini(&b);
}

static void test_ambiguous_wheels_are_refused(void **state) {
    (void)state;
    static const char *const names[][3] = {
        {"p-1.dist-info/RECORD", "x", "x"},
        {"p-1.dist-info/RECORD", "q-1.dist-info/RECORD", "x"},
        {"p-1.dist-info/WHEEL", "x", "y"},
        {"p-1.dist-info/RECORD", "x", "y"},
    };
    for (size_t i = 0; i < 4; i++) {
        struct cs_mk_rawzip b;
        struct cs_zip z;
        struct cs_wheel wheel;
        struct cs_wheelwrite w;
        const struct cs_zipwrite_options options = {0};
        cs_mk_rawzip_init(&b);
        for (size_t k = 0; k < 3; k++) {
            cs_mk_rawzip_add(&b, cs_str_from(names[i][k]), cs_view_of("", 0), 0);
        }
        cs_mk_rawzip_end(&b, 0, CS_STR(""));
        assert_int_equal(cs_zip_open(cs_mk_rawzip_view(&b), &z, NULL), CS_OK);
        assert_int_equal(cs_wheel_open(&z, &wheel, NULL), CS_OK);
        const enum cs_code want = i == 3 ? CS_OK : CS_CONFLICT;
        assert_int_equal(cs_wheelwrite_begin(&w, &z, &wheel, NULL, &options, NULL), want);
        if (want == CS_OK) {
            cs_wheelwrite_fini(&w);
        }
        cs_wheel_close(&wheel);
        cs_zip_close(&z);
        cs_mk_rawzip_fini(&b);
    }
}

static int countdown;
static int fail_later(void) { return countdown-- <= 0; }

// Every allocation fails once; each time there is an error and nothing leaks (under ASan).
static void test_out_of_memory(void **state) {
    (void)state;
    struct cs_mk_rawzip b;
    struct cs_zip z;
    cs_mk_rawzip_init(&b);
    cs_mk_rawzip_add(&b, CS_STR("a"), part(0, 900), CS_RAWZIP_DESCRIPTOR);
    cs_mk_rawzip_end(&b, 0, CS_STR(""));
    assert_int_equal(cs_zip_open(cs_mk_rawzip_view(&b), &z, NULL), CS_OK);
    enum cs_code code = CS_NOMEM;
    int tries = 0;
    for (; code == CS_NOMEM && tries < 200; tries++) {
        struct cs_zipwrite w;
        cs_zipwrite_init(&w, NULL, &(struct cs_zipwrite_options){0});
        countdown = tries;
        cs_mem_fail_hook = fail_later;
        code = cs_zipwrite_copy(&w, &z, &z.members.ptr[0], 0, NULL);
        if (code == CS_OK) {
            code = cs_zipwrite_add(&w, CS_STR("b"), 0, 1, part(NOISE_END, 3 << 20), NULL);
        }
        if (code == CS_OK) {
            code = cs_zipwrite_end(&w, CS_STR(""), NULL);
        }
        cs_mem_fail_hook = NULL;
        cs_zipwrite_fini(&w);
    }
    assert_int_equal(code, CS_OK);
    assert_true(tries > 10);
    cs_zip_close(&z);
    cs_mk_rawzip_fini(&b);
}

// Random members through both writers' paths: what is read equals what was written.
static void test_round_trips(void **state) {
    (void)state;
    enum { ROUNDS = 12, MOST = 40 };
    uint32_t x = 20260101;
    for (int round = 0; round < ROUNDS; round++) {
        struct cs_outfile out;
        struct cs_zipwrite w;
        struct result r;
        struct cs_view want[MOST];
        x = x * 1664525u + 1013904223u;
        const size_t count = (x >> 16) % (MOST + 1);
        create(&out);
        cs_zipwrite_init(&w, &out, &(struct cs_zipwrite_options){.level = 1 + (int)(x >> 8) % 7});
        for (size_t i = 0; i < count; i++) {
            char name[16];
            snprintf(name, sizeof name, "m%zu", i);
            x = x * 1664525u + 1013904223u;
            w.options.method = (enum cs_zipwrite_method)(x >> 12) % 3;
            const size_t len = (x >> 8) % ((size_t)1 << (x >> 27 & 15));
            want[i] = part(NOISE_END - 7000, len);
            assert_int_equal(cs_zipwrite_add(&w, cs_str_from(name), 0100644, i, want[i], NULL),
                             CS_OK);
        }
        assert_int_equal(cs_zipwrite_end(&w, CS_STR(""), NULL), CS_OK);
        reopen(&out, &r);
        assert_int_equal(r.zip.faults, 0);
        assert_int_equal(r.zip.members.count, count);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(r.zip.members.ptr[i].faults, 0);
            expect(&r.zip, i, want[i]);
        }
        close_result(&r);
        cs_zipwrite_fini(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_members),
        cmocka_unit_test(test_stream_does_not_depend_on_threads),
        cmocka_unit_test(test_copy_is_identical),
        cmocka_unit_test(test_copy_cleans),
        cmocka_unit_test(test_contradictions_are_not_copied),
        cmocka_unit_test(test_many_members_need_zip64),
        cmocka_unit_test(test_far_offsets_need_zip64),
        cmocka_unit_test(test_replace_keeps_the_rest),
        cmocka_unit_test(test_wheel),
        cmocka_unit_test(test_ambiguous_wheels_are_refused),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_round_trips),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
