// list: cuobjdump's text by its rules, bare cubins and PTX, and images copied out.
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/list_extract.h"
#include "base/file.h"
#include "base/mem.h"
#include "build/mk_cubin.h"
#include "build/mk_fatbin.h"
#include "build/mk_host.h"
#include "build/mk_zip.h"
#include "model/content.h"
#include "report/list.h"

static char folder[] = "/tmp/cuslim-test-list-XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : 1;
}

static int remove_folder(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0 ? 0 : 1;
}

static const char *in_folder(const char *name) {
    static char path[4][4096];
    static unsigned turn;
    char *out = path[turn++ % 4];
    snprintf(out, sizeof path[0], "%s/%s", folder, name);
    return out;
}

static void write_file(const char *name, struct cs_view bytes) {
    FILE *f = fopen(in_folder(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes.ptr, 1, (size_t)bytes.len, f), bytes.len);
    assert_int_equal(fclose(f), 0);
}

static struct cs_buf new_buf(void) {
    struct cs_buf b;
    cs_buf_init(&b, SIZE_MAX);
    return b;
}

static struct cs_buf make_cubin(uint32_t sm, bool accelerated) {
    static const struct cs_mk_kernel kernel = {.name = "k", .registers = 17};
    struct cs_buf b = new_buf();
    cs_mk_cubin_write(&b, &(struct cs_mk_cubin){.sm = sm, .accelerated = accelerated,
                                                .kernels = &kernel, .kernel_count = 1});
    return b;
}

// An inventory and the listing of it.
struct listed {
    struct cs_inventory inv;
    struct cs_listing listing;
};

static void list_file(struct listed *l, const char *name, bool kernels) {
    const struct cs_inventory_options options = {.depth = kernels ? CS_DEPTH_KERNELS
                                                                  : CS_DEPTH_HEADERS};
    const struct cs_list_options how = {.kernels = kernels};
    struct cs_err err = {0};
    cs_inventory_init(&l->inv);
    assert_int_equal(cs_inventory_add(&l->inv, in_folder(name), &options, NULL, &err), CS_OK);
    assert_int_equal(cs_listing_make(&l->inv, &how, NULL, &l->listing, &err), CS_OK);
}

static void drop(struct listed *l) {
    cs_listing_fini(&l->listing);
    cs_inventory_fini(&l->inv);
}

// ---- cuobjdump's text ------------------------------------------------------------------------

static void expect_text(const char *name, const char *shown_path, struct cs_cuobjdump how,
                        const char *text, const char *remarks) {
    struct listed l;
    struct cs_buf out = new_buf(), messages = new_buf();
    list_file(&l, name, false);
    cs_list_cuobjdump(&l.listing, 0, cs_str_from(shown_path), &how, &out, &messages);
    assert_string_equal(out.ptr ? out.ptr : "", text);
    assert_string_equal(messages.ptr ? messages.ptr : "", remarks);
    cs_buf_fini(&out);
    cs_buf_fini(&messages);
    drop(&l);
}

static void write_container(const char *name, const struct cs_mk_entry *entries, size_t count) {
    struct cs_buf b = new_buf();
    (void)cs_mk_container(&b, entries, count);
    write_file(name, cs_buf_view(&b));
    cs_buf_fini(&b);
}

struct name_case {
    const char *identifier, *path;
    const char *first, *second;  // names of two cubins
};

// Identifiers and paths, and what cuobjdump 13.5 made of them.
static void test_names(void **state) {
    (void)state;
    static const struct name_case cases[] = {
        {NULL, "/d/libx.so", "libx.1.sm_80", "libx.2.sm_80"},
        {NULL, "/d/t.b.c.so", "t.b.c.1.sm_80", "t.b.c.2.sm_80"},
        {NULL, "/d/noext", "noext.1.sm_80", "noext.2.sm_80"},
        {NULL, "/d/.fatbin", ".1.sm_80", ".2.sm_80"},
        {NULL, "/d/..x", "..1.sm_80", "..2.sm_80"},
        {NULL, "/d/x.", "x.1.sm_80", "x.2.sm_80"},
        {NULL, "/d/x y z.so", "x-y-z.1.sm_80", "x.2.sm_80"},
        {NULL, "/d/ x.so", "x.1.sm_80", ".2.sm_80"},
        {NULL, "/d e/o.o", "d-o.1.sm_80", "d.2.sm_80"},
        {"a.cu", "/d/l.so", "a.sm_80", "a.sm_80"},
        {" a", "/d/l.so", "a.sm_80", "a.sm_80"},
        {"a.b.c", "/d/l.so", "a.b.sm_80", "a.b.sm_80"},
        {".cu", "/d/l.so", ".sm_80", ".sm_80"},
        {"a/", "/d/l.so", ".sm_80", ".sm_80"},
        {"../../etc/p.cu", "/d/l.so", "p.sm_80", "p.sm_80"},
        {"a.b/c", "/d/l.so", "c.sm_80", "c.sm_80"},
        {"a/..", "/d/l.so", "..sm_80", "..sm_80"},
        {"dir x/a.cu", "/d/l.so", "dir-a.sm_80", "dir-a.sm_80"},
        {"b1.o b21.o ali.o ", "/d/l.so", "b1-b21-ali.sm_80", "b1-b21-ali.sm_80"},
        {"a b/ c", "/d/l.so", "a--c.sm_80", "a--c.sm_80"},
        {"/ c", "/d/l.so", "c.sm_80", "c.sm_80"},
        {"a /", "/d/l.so", "a-.sm_80", "a-.sm_80"},
        {"a\tb.cu", "/d/l.so", "a\tb.sm_80", "a\tb.sm_80"},
        {"  ", "/d/l.so", "l.1.sm_80", "l.2.sm_80"},  // cuobjdump ends with an internal error
    };
    struct cs_buf cubin = make_cubin(80, false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct cs_mk_entry e = {.kind = CS_FATBIN_ELF, .arch = 80,
                                      .image = cs_buf_view(&cubin),
                                      .identifier = cases[i].identifier};
        char expected[512];
        write_container("names.fatbin", (const struct cs_mk_entry[]){e, e}, 2);
        snprintf(expected, sizeof expected, "ELF file    1: %s.cubin\nELF file    2: %s.cubin\n",
                 cases[i].first, cases[i].second);
        expect_text("names.fatbin", cases[i].path, (struct cs_cuobjdump){.elf = true}, expected,
                    "");
    }
    cs_buf_fini(&cubin);
}

// The target in a name: an ELF never shows 'f', PTX does.
static void test_name_targets(void **state) {
    (void)state;
    struct cs_buf cubin = make_cubin(100, false), ptx = new_buf();
    cs_mk_ptx(&ptx, 100, 'f', (const char *const[]){"k", NULL}, NULL);
    const struct cs_mk_entry entries[] = {
        {.kind = CS_FATBIN_PTX, .arch = 100, .suffix = 'f', .image = cs_buf_view(&ptx)},
        {.kind = CS_FATBIN_RELPTX, .arch = 90, .suffix = 'a', .image = cs_buf_view(&ptx),
         .with_options = true},
        {.kind = CS_FATBIN_ELF, .arch = 100, .suffix = 'f', .image = cs_buf_view(&cubin)},
        {.kind = CS_FATBIN_MERCURY, .arch = 103, .suffix = 'a', .image = cs_buf_view(&cubin)},
    };
    write_container("targets.fatbin", entries, 4);
    expect_text("targets.fatbin", "/d/t.fatbin", (struct cs_cuobjdump){.elf = true, .ptx = true},
                "PTX file    1: t.1.sm_100f.ptx\nPTX file    2: t.2.sm_90a.ptx\n"
                "ELF file    1: t.1.sm_100.cubin\nELF file    2: t.2.sm_103a.cubin\n",
                "");
    cs_buf_fini(&cubin);
    cs_buf_fini(&ptx);
}

struct block_case {
    struct cs_mk_entry entry;
    const char *text;
};

#define ELF_TITLE "\nFatbin elf code:\n================\n"

static void test_blocks(void **state) {
    (void)state;
    struct cs_buf cubin = make_cubin(90, false), ptx = new_buf();
    cs_mk_ptx(&ptx, 80, 0, (const char *const[]){"k", NULL}, NULL);
    const struct cs_view elf = cs_buf_view(&cubin), text = cs_buf_view(&ptx);
    const struct block_case cases[] = {
        {{.kind = CS_FATBIN_ELF, .arch = 90, .image = elf},
         ELF_TITLE "arch = sm_90\ncode version = [1,8]\nhost = linux\ncompile_size = 64bit\n"},
        {{.kind = CS_FATBIN_ELF, .arch = 90, .suffix = 'a', .image = elf, .codec = CS_CODEC_LZ4,
          .set_flags = CS_FATBIN_F_DEBUG, .identifier = "x/y z.cu"},
         ELF_TITLE "arch = sm_90a\ncode version = [1,8]\nhost = linux\ncompile_size = 64bit\n"
                   "has debug info\ncompressed\nidentifier = x/y z.cu\n"},
        {{.kind = CS_FATBIN_ELF, .arch = 90, .image = elf,
          .clear_flags = CS_FATBIN_F_LINUX | CS_FATBIN_F_64BIT},
         ELF_TITLE "arch = sm_90\ncode version = [1,8]\nhost = <unknown>\ncompile_size = 32bit\n"},
        {{.kind = CS_FATBIN_ELF, .arch = 90, .image = elf, .clear_flags = CS_FATBIN_F_LINUX,
          .set_flags = CS_FATBIN_F_WINDOWS},
         ELF_TITLE "arch = sm_90\ncode version = [1,8]\nhost = windows\ncompile_size = 64bit\n"},
        {{.kind = CS_FATBIN_ELF, .arch = 90, .image = elf, .clear_flags = CS_FATBIN_F_LINUX,
          .set_flags = CS_FATBIN_F_WINDOWS | 0x20},
         ELF_TITLE "arch = sm_90\ncode version = [1,8]\nhost = mac\ncompile_size = 64bit\n"},
        {{.kind = CS_FATBIN_PTX, .arch = 80, .suffix = 'f', .image = text,
          .options = " --generate-line-info "},
         "\nFatbin ptx code:\n================\narch = sm_80f\ncode version = [9,0]\n"
         "host = linux\ncompile_size = 64bit\nptxasOptions =  --generate-line-info \n"},
        {{.kind = CS_FATBIN_LTOIR, .arch = 90, .image = text, .options = "-ftz=0 ",
          .code_major = 1, .code_minor = 65},
         "\nFatbin nvvm code:\n=================\narch = sm_90\ncode version = [1,65]\n"
         "host = linux\ncompile_size = 64bit\nnvvmOptions = -ftz=0 \n"},
        {{.kind = CS_FATBIN_TILEIR, .arch = 100, .image = text, .code_major = 1},
         "\nFatbin tile ir code:\n====================\narch = sm_100\ncode version = [1,0]\n"
         "host = linux\ncompile_size = 64bit\ntileIROptions = \n"},
        {{.kind = CS_FATBIN_INDEX, .arch = 90, .image = text, .code_major = 1},
         "\nFatbin index code:\n==================\ncode version = [1,0]\nhost = linux\n"
         "compile_size = 64bit\n"},
        {{.kind = CS_FATBIN_MERCURY, .arch = 100, .image = elf, .code_major = 1, .code_minor = 8},
         "\nFatbin <unknown kind> code:\n===========================\narch = sm_100\n"
         "code version = [1,8]\nhost = linux\ncompile_size = 64bit\n"},
        {{.kind = 4, .arch = 90, .image = elf, .code_major = 1},
         "\nFatbin cubin code:\n==================\narch = sm_90\ncode version = [1,0]\n"
         "host = linux\ncompile_size = 64bit\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_container("block.fatbin", &cases[i].entry, 1);
        expect_text("block.fatbin", "/d/b", (struct cs_cuobjdump){0}, cases[i].text, "");
    }
    cs_buf_fini(&cubin);
    cs_buf_fini(&ptx);
}

#define NO_ELF                                                                             \
    "cuobjdump info    : No ELF file found to extract from '/d/f'. You may try with -all " \
    "option.\n"
#define NO_PTX                                                                             \
    "cuobjdump info    : No PTX file found to extract from '/d/f'. You may try with -all " \
    "option.\n"
#define NO_CODE "cuobjdump info    : File '/d/f' does not contain device code\n"

// Which sections count, and in which order.
static void test_sections(void **state) {
    (void)state;
    struct cs_buf c80 = make_cubin(80, false), c90 = make_cubin(90, false);
    struct cs_buf linked = new_buf(), rdc = new_buf(), other = new_buf();
    const struct cs_mk_entry e80 = {.kind = CS_FATBIN_ELF, .arch = 80, .image = cs_buf_view(&c80)};
    const struct cs_mk_entry e90 = {.kind = CS_FATBIN_ELF, .arch = 90, .image = cs_buf_view(&c90)};
    (void)cs_mk_container(&linked, &e80, 1);
    (void)cs_mk_container(&rdc, &e90, 1);
    (void)cs_mk_container(&other, &e90, 1);
    const struct cs_mk_unit units[] = {{.container = cs_buf_view(&rdc), .relocatable = true},
                                       {.container = cs_buf_view(&linked), .wrapper_version = 2}};
    const struct cs_mk_blob blob = {.section = ".cask_resource", .bytes = cs_buf_view(&other)};
    struct cs_buf both = new_buf(), only_rdc = new_buf(), hidden = new_buf();
    cs_mk_host_write(&both, &(struct cs_mk_host){.units = units, .unit_count = 2, .blobs = &blob,
                                                 .blob_count = 1});
    cs_mk_host_write(&only_rdc, &(struct cs_mk_host){.layout = CS_MK_OBJECT, .units = units,
                                                     .unit_count = 1});
    cs_mk_host_write(&hidden, &(struct cs_mk_host){.blobs = &blob, .blob_count = 1});
    write_file("both.so", cs_buf_view(&both));
    write_file("rdc.o", cs_buf_view(&only_rdc));
    write_file("hidden.so", cs_buf_view(&hidden));
    const struct cs_cuobjdump elf = {.elf = true}, all = {.elf = true, .ptx = true, .all = true};
    expect_text("both.so", "/d/f", elf, "ELF file    1: f.1.sm_80.cubin\n", "");
    expect_text("both.so", "/d/f", all,
                "ELF file    1: f.1.sm_80.cubin\nELF file    2: f.2.sm_90.cubin\n", NO_PTX);
    expect_text("rdc.o", "/d/f", elf, "ELF file    1: f.1.sm_90.cubin\n", "");
    expect_text("rdc.o", "/d/f", (struct cs_cuobjdump){.ptx = true}, "", NO_PTX);
    expect_text("hidden.so", "/d/f", elf, "", NO_CODE);
    struct cs_buf *all_bufs[] = {&c80, &c90, &linked, &rdc, &other, &both, &only_rdc, &hidden};
    for (size_t i = 0; i < sizeof all_bufs / sizeof *all_bufs; i++) {
        cs_buf_fini(all_bufs[i]);
    }
}

static void test_remarks(void **state) {
    (void)state;
    struct cs_buf cubin = make_cubin(90, true);
    write_file("bare.cubin", cs_buf_view(&cubin));
    write_container("none.fatbin", NULL, 0);
    write_file("text", cs_view_of("hello\n", 6));
    const struct cs_cuobjdump both = {.elf = true, .ptx = true};
    expect_text("bare.cubin", "/d/f", (struct cs_cuobjdump){0}, "", "");
    expect_text("bare.cubin", "/d/f", both, "ELF file    1: f.sm_90a.cubin\n", NO_PTX);
    expect_text("none.fatbin", "/d/f", (struct cs_cuobjdump){0}, "", "");
    expect_text("none.fatbin", "/d/f", both, "", NO_ELF NO_PTX);
    expect_text("text", "/d/f", both, "", NO_CODE);
    cs_buf_fini(&cubin);
}

// An archive is read up to the first member that is no ELF file.
static void test_archive(void **state) {
    (void)state;
    struct cs_buf cubin = make_cubin(80, false), container = new_buf(), object = new_buf();
    struct cs_buf plain = new_buf(), archive = new_buf();
    const struct cs_mk_entry e = {.kind = CS_FATBIN_ELF, .arch = 80, .image = cs_buf_view(&cubin)};
    (void)cs_mk_container(&container, &e, 1);
    const struct cs_mk_unit unit = {.container = cs_buf_view(&container)};
    cs_mk_host_write(&object, &(struct cs_mk_host){.layout = CS_MK_OBJECT, .units = &unit,
                                                   .unit_count = 1});
    cs_mk_host_write(&plain, &(struct cs_mk_host){.layout = CS_MK_OBJECT});
    const struct cs_mk_ar_member members[] = {
        {.name = "a.o", .data = cs_buf_view(&object)},
        {.name = "none.o", .data = cs_buf_view(&plain)},
        {.name = "odd.cubin", .data = cs_buf_view(&cubin)},
        {.name = "b.o", .data = cs_buf_view(&object)},
        {.name = "readme", .data = cs_view_of("hi", 2)},
        {.name = "c.o", .data = cs_buf_view(&object)},
    };
    cs_mk_ar_write(&archive, members, sizeof members / sizeof *members, true);
    write_file("libx.a", cs_buf_view(&archive));
    expect_text("libx.a", "/d/f", (struct cs_cuobjdump){.elf = true},
                "\nmember /d/f:a.o:\nELF file    1: f.1.sm_80.cubin\n\nmember /d/f:none.o:\n"
                "\nmember /d/f:odd.cubin:\n\nmember /d/f:b.o:\nELF file    2: f.2.sm_80.cubin\n",
                "");
    cs_buf_fini(&cubin);
    cs_buf_fini(&container);
    cs_buf_fini(&object);
    cs_buf_fini(&plain);
    cs_buf_fini(&archive);
}

// ---- what bare images are --------------------------------------------------------------------

struct bare_case {
    struct cs_mk_cubin spec;
    struct cs_target target;
    uint32_t toolkit_x10;
};

// Header depth and the whole walk agree on every generation of cubins.
static void test_bare_cubins(void **state) {
    (void)state;
    static const struct bare_case cases[] = {
        {{.sm = 75}, {75, 0, false}, 130},
        {{.sm = 90, .accelerated = true}, {90, 'a', false}, 130},
        {{.sm = 100, .accelerated = true, .toolkit_x10 = 129}, {100, 'a', false}, 129},
        {{.sm = 120, .toolkit_x10 = 128}, {120, 0, false}, 128},
        {{.sm = 90, .abi = 7, .accelerated = true, .toolkit_x10 = 124}, {90, 'a', false}, 124},
        {{.sm = 86, .abi = 7}, {86, 0, false}, 118},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cs_buf b = new_buf();
        cs_mk_cubin_write(&b, &cases[i].spec);
        write_file("bare.cubin", cs_buf_view(&b));
        for (int kernels = 0; kernels < 2; kernels++) {
            struct listed l;
            list_file(&l, "bare.cubin", kernels);
            assert_int_equal(l.inv.images.count, 1);
            assert_true(cs_target_eq(l.inv.images.ptr[0].target, cases[i].target));
            assert_int_equal(l.inv.images.ptr[0].toolkit_x10, kernels ? cases[i].toolkit_x10 : 0);
            drop(&l);
        }
        cs_buf_fini(&b);
    }
}

static void test_bare_ptx(void **state) {
    (void)state;
    struct cs_buf ptx = new_buf();
    cs_mk_ptx(&ptx, 100, 'f', (const char *const[]){"k", NULL}, NULL);
    write_file("bare.ptx", cs_buf_view(&ptx));
    struct listed l;
    list_file(&l, "bare.ptx", false);
    char target[CS_TARGET_TEXT_BYTES];
    cs_image_target_text(&l.inv.images.ptr[0], target);
    assert_string_equal(target, "compute_100f");
    assert_int_equal(l.inv.images.ptr[0].ptx_isa_x10, 90);
    drop(&l);
    cs_buf_fini(&ptx);
}

// ---- copying out -----------------------------------------------------------------------------

static void expect_file(const char *path, struct cs_view bytes) {
    struct cs_file f;
    assert_int_equal(cs_file_open(path, &f, NULL), CS_OK);
    assert_int_equal(f.view.len, bytes.len);
    assert_memory_equal(f.view.ptr, bytes.ptr, bytes.len);
    cs_file_close(&f);
}

static unsigned count_files(const char *path) {
    DIR *dir = opendir(path);
    unsigned count = 0;
    for (struct dirent *d = dir ? readdir(dir) : NULL; d; d = readdir(dir)) {
        count += d->d_name[0] != '.';
    }
    if (dir) {
        closedir(dir);
    }
    return count;
}

static enum cs_code extract(const char *name, const char *dir, bool force,
                            struct cs_extracted *done) {
    struct listed l;
    struct cs_err err = {0};
    list_file(&l, name, false);
    const struct cs_extract_options options = {.dir = in_folder(dir), .force = force};
    const enum cs_code code = cs_list_extract(&l.listing, &options, done, &err);
    drop(&l);
    return code;
}

// Plain, compressed, concatenated and unreadable entries, in a wheel.
static void test_extract(void **state) {
    (void)state;
    struct cs_buf c80 = make_cubin(80, false), c90 = make_cubin(90, false), ptx = new_buf();
    struct cs_buf container = new_buf(), wheel = new_buf();
    cs_mk_ptx(&ptx, 80, 0, (const char *const[]){"k", NULL}, NULL);
    const struct cs_mk_entry parts[] = {
        {.kind = CS_FATBIN_ELF, .arch = 80, .image = cs_buf_view(&c80)},
        {.kind = CS_FATBIN_ELF, .arch = 90, .image = cs_buf_view(&c90)},
    };
    const struct cs_mk_entry entries[] = {
        {.kind = CS_FATBIN_PTX, .arch = 80, .image = cs_buf_view(&ptx)},
        {.kind = CS_FATBIN_ELF, .arch = 80, .image = cs_buf_view(&c80), .codec = CS_CODEC_ZSTD},
        {.kind = CS_FATBIN_CONCAT, .codec = CS_CODEC_ZSTD, .parts = parts, .part_count = 2},
        {.kind = CS_FATBIN_LTOIR, .arch = 90, .image = cs_buf_view(&ptx), .codec = CS_CODEC_ZSTD,
         .key = 7},
    };
    (void)cs_mk_container(&container, entries, 4);
    const struct cs_mk_member members[] = {
        {.name = "p/readme.txt", .data = cs_view_of("text", 4)},
        {.name = "p/x.fatbin", .data = cs_buf_view(&container), .deflate = true},
        {.name = "../x.fatbin", .data = cs_buf_view(&container)},
    };
    cs_mk_zip_write(&wheel, &(struct cs_mk_zip){.members = members, .count = 3});
    write_file("w.whl", cs_buf_view(&wheel));
    struct cs_extracted done;
    assert_int_equal(extract("w.whl", "out", false, &done), CS_OK);
    assert_int_equal(done.files, 8);
    assert_int_equal(done.unreadable, 2);
    assert_non_null(strstr(done.first_problem, "obfuscated"));
    assert_int_equal(count_files(in_folder("out")), 8);
    expect_file(in_folder("out/p.x.fatbin.0.0.compute_80.ptx"), cs_buf_view(&ptx));
    expect_file(in_folder("out/p.x.fatbin.0.1.sm_80.cubin"), cs_buf_view(&c80));
    expect_file(in_folder("out/p.x.fatbin.0.2p0.sm_80.cubin"), cs_buf_view(&c80));
    expect_file(in_folder("out/p.x.fatbin.0.2p1.sm_90.cubin"), cs_buf_view(&c90));
    expect_file(in_folder("out/_..x.fatbin.0.2p1.sm_90.cubin"), cs_buf_view(&c90));
    cs_extracted_fini(&done);

    // Again: nothing is touched, even when only one file is in the way.
    assert_int_equal(unlink(in_folder("out/p.x.fatbin.0.0.compute_80.ptx")), 0);
    assert_int_equal(extract("w.whl", "out", false, &done), CS_CONFLICT);
    assert_int_equal(count_files(in_folder("out")), 7);
    assert_int_equal(extract("w.whl", "out", true, &done), CS_OK);
    assert_int_equal(count_files(in_folder("out")), 8);
    cs_extracted_fini(&done);
    cs_buf_fini(&c80);
    cs_buf_fini(&c90);
    cs_buf_fini(&ptx);
    cs_buf_fini(&container);
    cs_buf_fini(&wheel);
}

// A link in the folder is replaced, not followed.
static void test_extract_link(void **state) {
    (void)state;
    struct cs_buf cubin = make_cubin(80, false);
    write_file("bare.cubin", cs_buf_view(&cubin));
    write_file("victim", cs_view_of("mine", 4));
    assert_int_equal(mkdir(in_folder("links"), 0700), 0);
    assert_int_equal(symlink("../victim", in_folder("links/bare.cubin.sm_80.cubin")), 0);
    struct cs_extracted done;
    assert_int_equal(extract("bare.cubin", "links", false, &done), CS_CONFLICT);
    assert_int_equal(extract("bare.cubin", "links", true, &done), CS_OK);
    cs_extracted_fini(&done);
    expect_file(in_folder("victim"), cs_view_of("mine", 4));
    expect_file(in_folder("links/bare.cubin.sm_80.cubin"), cs_buf_view(&cubin));
    cs_buf_fini(&cubin);
}

// The file was replaced between the listing and the copying.
static void test_changed(void **state) {
    (void)state;
    struct cs_buf c80 = make_cubin(80, false), c90 = make_cubin(90, false);
    const struct cs_mk_entry e80 = {.kind = CS_FATBIN_ELF, .arch = 80, .image = cs_buf_view(&c80)};
    const struct cs_mk_entry e90 = {.kind = CS_FATBIN_ELF, .arch = 90, .image = cs_buf_view(&c90)};
    const struct cs_mk_entry two[] = {e80, e80};
    char dir[4096];
    snprintf(dir, sizeof dir, "%s", in_folder("changed"));
    const struct cs_extract_options options = {.dir = dir, .force = true};
    struct listed l;
    struct cs_extracted done;
    struct cs_err err = {0};
    write_container("c.fatbin", two, 2);
    list_file(&l, "c.fatbin", false);
    write_container("c.fatbin", &e80, 1);
    assert_int_not_equal(cs_list_extract(&l.listing, &options, &done, &err), CS_OK);
    write_container("c.fatbin", (const struct cs_mk_entry[]){e80, e90}, 2);
    assert_int_not_equal(cs_list_extract(&l.listing, &options, &done, &err), CS_OK);
    write_container("c.fatbin", two, 2);
    assert_int_equal(cs_list_extract(&l.listing, &options, &done, &err), CS_OK);
    cs_extracted_fini(&done);
    drop(&l);
    cs_buf_fini(&c80);
    cs_buf_fini(&c90);
}

// Any allocation may fail: an error, nothing leaked, no half-written file.
static int countdown;
static int fail_at_zero(void) { return countdown-- == 0; }

static enum cs_code list_and_extract(const char *dir, struct cs_buf *text) {
    const struct cs_inventory_options options = {.depth = CS_DEPTH_KERNELS};
    const struct cs_list_options how = {.kernels = true};
    const struct cs_extract_options extraction = {.dir = dir, .force = true};
    struct listed l = {0};
    struct cs_extracted done = {0};
    struct cs_err err = {0};
    cs_inventory_init(&l.inv);
    enum cs_code code = cs_inventory_add(&l.inv, in_folder("memory.fatbin"), &options, NULL, &err);
    if (code == CS_OK) {
        code = cs_listing_make(&l.inv, &how, NULL, &l.listing, &err);
    }
    if (code == CS_OK) {
        code = cs_list_extract(&l.listing, &extraction, &done, &err);
    }
    if (code == CS_OK) {
        const struct cs_list_view view = {.listing = &l.listing, .files = done.names};
        const struct cs_render render = {.format = CS_REPORT_TEXT};
        struct cs_doc doc;
        cs_doc_init(&doc, NULL);
        cs_list_doc(&view, &doc);
        cs_list_flat_doc(&view, &doc);
        code = cs_report_render(&doc, &render, text, &err);
        cs_doc_fini(&doc);
    }
    cs_extracted_fini(&done);
    drop(&l);
    return code;
}

static void test_memory(void **state) {
    (void)state;
    struct cs_buf cubin = make_cubin(90, false);
    const struct cs_mk_entry e = {.kind = CS_FATBIN_ELF, .arch = 90, .image = cs_buf_view(&cubin),
                                  .codec = CS_CODEC_LZ4};
    const struct cs_mk_entry two[] = {e, e};
    char dir[4096];
    snprintf(dir, sizeof dir, "%s", in_folder("memory"));
    write_container("memory.fatbin", two, 2);
    for (int n = 0;; n++) {
        struct cs_buf text = new_buf();
        countdown = n;
        cs_mem_fail_hook = fail_at_zero;
        const enum cs_code code = list_and_extract(dir, &text);
        cs_mem_fail_hook = NULL;
        const bool reached = countdown < 0;
        cs_buf_fini(&text);
        if (!reached) {
            assert_int_equal(code, CS_OK);
            break;
        }
        assert_int_equal(code, CS_NOMEM);
    }
    assert_int_equal(count_files(dir), 2);
    cs_buf_fini(&cubin);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),        cmocka_unit_test(test_name_targets),
        cmocka_unit_test(test_blocks),       cmocka_unit_test(test_sections),
        cmocka_unit_test(test_remarks),      cmocka_unit_test(test_archive),
        cmocka_unit_test(test_bare_cubins),  cmocka_unit_test(test_bare_ptx),
        cmocka_unit_test(test_extract),      cmocka_unit_test(test_extract_link),
        cmocka_unit_test(test_changed),      cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
