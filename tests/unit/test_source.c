// Source names: each clue alone, their order, and files with no clue at all.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "build/mk_cubin.h"
#include "build/mk_elf.h"
#include "build/mk_fatbin.h"
#include "build/mk_host.h"
#include "build/mk_zip.h"
#include "format/dwarf.h"
#include "model/source.h"

struct text_case {
    const char *in, *out;  // out NULL: not of the form
};

static void check_texts(const struct text_case *table, size_t count,
                        bool (*fn)(struct cs_str, struct cs_buf *)) {
    for (size_t i = 0; i < count; i++) {
        struct cs_buf b;
        cs_buf_init(&b, 1000);
        assert_int_equal(fn(cs_str_from(table[i].in), &b), table[i].out != NULL);
        assert_string_equal(b.ptr ? b.ptr : "", table[i].out ? table[i].out : "");
        cs_buf_fini(&b);
    }
}

static void test_symbols(void **state) {
    (void)state;
    static const struct text_case table[] = {
        {"tmpxft_00000b70_00000000-6_activation_kernels.compute_120.cudafe1.cpp",
         "activation_kernels.cu"},
        {"tmpxft_0000046b_00000000-6_nvcc_info.compute_90a.cudafe1.cpp", "nvcc_info.cu"},
        {"tmpxft_000060fc_00000000-10_t.cudafe1.cpp", "t.cu"},
        {"t.compute_80.cudafe1.cpp", "t.cu"},  // nvcc --keep
        {"tmpxft_000060fc_00000000-6_a.b.cudafe1.cpp", "a.b.cu"},
        {"tmpxft_000060fc_0000000-6_a.cudafe1.cpp", "tmpxft_000060fc_0000000-6_a.cu"},
        {"tmpxft_000060fc_00000000-6_.cudafe1.cpp", NULL},
        {".cudafe1.cpp", NULL},
        {"crtstuff.c", NULL},
        {"link.stub", NULL},
        {"", NULL},
    };
    check_texts(table, sizeof table / sizeof *table, cs_source_from_symbol);
}

static void test_module_ids(void **state) {
    (void)state;
    static const struct text_case table[] = {
        {"_167746ba_4_d_cu_f00f9c1f", "d.cu"},
        {"_9504d171_17_gemm_4bit_sm75_cu_9e0c38a6_643", "gemm_4bit_sm75.cu"},
        {"_e0ecd33f_4_t_cu__Z1fPi", "t.cu"},
        {"_167746ba_4_d_cu", "d.cu"},
        {"_167746ba_5_d_cpp_f00f9c1f", "d.cpp"},
        {"_167746ba_3_abc_f00f9c1f", "abc"},
        {"_30_tmpxft_00001a2b_00000000_7_foo_cpp1_ii_b81a68a1", NULL},
        {"_47_tmpxft_00001a2b_00000000_7_foo_cpp1_ii_b81a68a1", "foo.cu"},
        {"__NV_MODULE_ID", NULL},
        {"_167746ba_9_d_cu", NULL},
        {"_167746ba_4_d_cux", NULL},
        {"_167746ba_99999999999_d", NULL},
        {"_167746ba__d_cu", NULL},
        {"_", NULL},
        {"", NULL},
    };
    check_texts(table, sizeof table / sizeof *table, cs_source_from_module_id);
}

static void test_mangled(void **state) {
    (void)state;
    static const struct text_case table[] = {
        {"_ZN57_GLOBAL__N__49227196_33_fused_qknorm_rope_cache_kernel_cu_1f3c75c5"
         "24qknorm_rope_cache_kernelEv",
         "fused_qknorm_rope_cache_kernel.cu"},
        {"_Z1kIXadL_ZN45_INTERNAL_0b1ac145_14_gguf_kernel_cu_cd2413191fEvEEEvv", "gguf_kernel.cu"},
        {"__nv_static_23__e0ecd33f_4_t_cu__Z1fPi__Z1sPi", "t.cu"},
        {"_ZN12_GLOBAL__N_11kEv", NULL},
        {"_ZN12_GLOBAL__N_11kIN43_GLOBAL__N__167746ba_4_d_cu_f00f9c1f1aEEEvv", "d.cu"},
        {"_Z1kv", NULL},
        {"", NULL},
    };
    check_texts(table, sizeof table / sizeof *table, cs_source_from_mangled);
}

static const uint8_t line_2[] = {
    // unit 1: version 2, two directories, two files
    52,  0,   0,   0,   2,   0, 42, 0,   0,   0,   1,   1, 0xFB, 14,   3, 0,
    1,                              // ends after opcode lengths
    '/', 's', 0,   '/', 't', 0, 0,  // directories 1 and 2
    'h', '.', 'h', 0,   2,   0, 0,  'a', '.', 'c', 'u', 0, 1,    0x81, 1, 0,  // h.h in 2, a.cu in 1
    'x', 0,   0,   0,   0,   0,                   // x without directory, end
    0,   1,   1,   0,   1,   1, 0,  1,   1,   0,  // line program
};

static void test_dwarf_2(void **state) {
    (void)state;
    struct cs_dwarf_file f[8];
    const struct cs_view none = {0};
    const struct cs_view line = cs_view_of(line_2, sizeof line_2);
    assert_int_equal(line_2[0] + 4, sizeof line_2);
    assert_int_equal(cs_dwarf_line_files(line, none, none, f, 8), 3);
    assert_true(cs_str_eq(f[0].name, CS_STR("h.h")) && cs_str_eq(f[0].dir, CS_STR("/t")));
    assert_true(cs_str_eq(f[1].name, CS_STR("a.cu")) && cs_str_eq(f[1].dir, CS_STR("/s")));
    assert_true(cs_str_eq(f[2].name, CS_STR("x")) && f[2].dir.len == 0);
    assert_int_equal(cs_dwarf_line_files(line, none, none, f, 2), 2);
    for (size_t len = 0; len < sizeof line_2; len++) {  // cut anywhere, in memory of its own
        uint8_t *exact = malloc(len + 1);
        assert_non_null(exact);
        memcpy(exact, line_2, len);
        assert_int_equal(cs_dwarf_line_files(cs_view_of(exact, len), none, none, f, 8), 0);
        free(exact);
    }
}

static void test_dwarf_5(void **state) {
    (void)state;
    static const uint8_t line_5[] = {
        0xFF, 0xFF, 0xFF, 0xFF, 55, 0, 0,    0, 0, 0, 0, 0,  // 64-bit form
        5,    0,    8,    0,    31, 0, 0,    0, 0, 0, 0, 0, 1, 1, 1, 0xFB, 14, 1, 1, 1, 0x1F, 1,
        3,    0,    0,    0,    0,  0, 0,    0,  // one directory, line_strp 3
        3,    1,    8,    2,    11, 5, 0x1E, 1,  // files: string, data1, MD5
        'k',  '.',  'c',  'u',  0,  0, 1,    2, 3, 4, 5, 6, 7, 8, 1, 2,    3,  4, 5, 6, 7,    8,
    };
    struct cs_dwarf_file f[4];
    uint8_t bytes[sizeof line_5];
    memcpy(bytes, line_5, sizeof bytes);
    bytes[4] = sizeof bytes - 12;
    const struct cs_view strings = cs_view_of("ab\0/src", 8);
    assert_int_equal(
        cs_dwarf_line_files(cs_view_of(bytes, sizeof bytes), strings, (struct cs_view){0}, f, 4),
        1);
    assert_true(cs_str_eq(f[0].name, CS_STR("k.cu")) && cs_str_eq(f[0].dir, CS_STR("/src")));
}

// ---- files -------------------------------------------------------------------------------------

enum { UNITS = 6 };

// rdc.cu, plain.cu, one with line tables, one with an anonymous kernel, one with nothing, a stub.
static void write_library(struct cs_buf *out, bool stripped, const char *identifier) {
    static const struct cs_mk_kernel kernels[UNITS][2] = {
        {{.name = "_Z1av"}},
        {{.name = "_Z1bv"}},
        {{.name = "_Z1cv"}},
        {{.name = "_ZN34_GLOBAL__N__167746ba_7_anon_cu_f00f9c1f1dEv"}},
        {{.name = "_ZN2ns5smallEv", .code_bytes = 128},
         {.name = "_ZN7cutlass13device_kernelIN2ns6InsideIiEEEEvv", .code_bytes = 4096}},
        {{0}},
    };
    static const char *const sources[UNITS] = {"rdc.cu", "plain.cu", NULL, NULL, NULL, "link.stub"};
    struct cs_buf cubins[UNITS], containers[UNITS];
    struct cs_mk_unit units[UNITS];
    memset(units, 0, sizeof units);
    for (size_t i = 0; i < UNITS; i++) {
        cs_buf_init(&cubins[i], 1 << 20);
        cs_buf_init(&containers[i], 1 << 20);
        const size_t count = i == 5 ? 0 : i == 4 ? 2 : 1;
        cs_mk_cubin_write(&cubins[i], &(struct cs_mk_cubin){.kernels = kernels[i],
                                                            .kernel_count = count,
                                                            .source = i == 2 ? "lines.cu" : NULL});
        const struct cs_mk_entry entry = {.kind = CS_FATBIN_ELF,
                                          .arch = 90,
                                          .image = cs_buf_view(&cubins[i]),
                                          .identifier = i == 1 ? identifier : NULL};
        cs_mk_container(&containers[i], &entry, 1);
        units[i] = (struct cs_mk_unit){.container = cs_buf_view(&containers[i]),
                                       .source = sources[i],
                                       .module_id = i == 0 ? "167746ba_6_rdc_cu_f00f9c1f" : NULL,
                                       .relocatable = i == 0,
                                       .wrapper_version = i == 5 ? 2 : 1};
    }
    cs_mk_host_write(
        out, &(struct cs_mk_host){.stripped = stripped, .units = units, .unit_count = UNITS});
    for (size_t i = 0; i < UNITS; i++) {
        cs_buf_fini(&cubins[i]);
        cs_buf_fini(&containers[i]);
    }
}

static void read_back(const struct cs_buf *file, enum cs_depth depth, struct cs_inventory *inv) {
    char path[] = "/tmp/test_source_XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, file->ptr, file->len), file->len);
    close(fd);
    cs_inventory_init(inv);
    const struct cs_inventory_options options = {.depth = depth, .sources = true};
    struct cs_err err = {0};
    const enum cs_code code = cs_inventory_add(inv, path, &options, NULL, &err);
    unlink(path);
    assert_int_equal(code, CS_OK);
}

// Containers are in file order, which is not that of the units: look a source up.
static enum cs_source_how how_of(const struct cs_inventory *inv, const char *source) {
    for (size_t i = 0; i < inv->containers.count; i++) {
        if (cs_str_eq(inv->containers.ptr[i].source, cs_str_from(source))) {
            return inv->containers.ptr[i].source_how;
        }
    }
    return CS_SOURCE_NONE;
}

static uint32_t count_how(const struct cs_inventory *inv, enum cs_source_how how) {
    uint32_t n = 0;
    for (size_t i = 0; i < inv->containers.count; i++) {
        n += inv->containers.ptr[i].source_how == how;
    }
    return n;
}

static const struct cs_container *made_from_kernels(const struct cs_inventory *inv) {
    for (size_t i = 0; i < inv->containers.count; i++) {
        if (inv->containers.ptr[i].source_how == CS_SOURCE_KERNELS) {
            return &inv->containers.ptr[i];
        }
    }
    return NULL;
}

static void test_library(void **state) {
    (void)state;
    struct cs_buf file;
    cs_buf_init(&file, 1 << 24);
    write_library(&file, false, NULL);
    struct cs_inventory inv;
    read_back(&file, CS_DEPTH_KERNELS, &inv);
    assert_int_equal(inv.containers.count, UNITS);
    assert_int_equal(how_of(&inv, "rdc.cu"), CS_SOURCE_SYMTAB);
    assert_int_equal(how_of(&inv, "plain.cu"), CS_SOURCE_SYMTAB);
    assert_int_equal(how_of(&inv, "device link of rdc.cu"), CS_SOURCE_STUB);
    cs_inventory_fini(&inv);
    cs_buf_fini(&file);
}

static void test_stripped(void **state) {
    (void)state;
    struct cs_buf file;
    cs_buf_init(&file, 1 << 24);
    write_library(&file, true, "csrc/plain.cu");
    struct cs_inventory inv;
    read_back(&file, CS_DEPTH_KERNELS, &inv);
    assert_int_equal(how_of(&inv, "rdc.cu"), CS_SOURCE_MODULE_ID);
    assert_int_equal(how_of(&inv, "csrc/plain.cu"), CS_SOURCE_IDENTIFIER);
    assert_int_equal(count_how(&inv, CS_SOURCE_LINE_TABLE), 1);
    assert_int_equal(how_of(&inv, "anon.cu"), CS_SOURCE_ANONYMOUS);
    assert_int_equal(how_of(&inv, "device link of rdc.cu"), CS_SOURCE_STUB);
    const struct cs_container *c = made_from_kernels(&inv);
    assert_non_null(c);
    char want[60];
    snprintf(want, sizeof want, "container %u (ns::Inside)", (unsigned)c->index);
    assert_string_equal(c->source.ptr, want);  // after the kernel with most of the code, unwrapped
    assert_int_equal(count_how(&inv, CS_SOURCE_NONE), 0);
    cs_inventory_fini(&inv);
    // Headers alone: what needs kernels stays unknown and is not called unreadable.
    read_back(&file, CS_DEPTH_HEADERS, &inv);
    assert_int_equal(how_of(&inv, "rdc.cu"), CS_SOURCE_MODULE_ID);
    assert_int_equal(count_how(&inv, CS_SOURCE_NONE), 3);
    cs_inventory_fini(&inv);
    cs_buf_fini(&file);
}

static void test_archive(void **state) {
    (void)state;
    struct cs_buf cubin, container, object, file;
    cs_buf_init(&cubin, 1 << 20);
    cs_buf_init(&container, 1 << 20);
    cs_buf_init(&object, 1 << 20);
    cs_buf_init(&file, 1 << 20);
    const struct cs_mk_kernel kernel = {.name = "_Z1av"};
    cs_mk_cubin_write(&cubin, &(struct cs_mk_cubin){.kernels = &kernel, .kernel_count = 1});
    cs_mk_container(
        &container,
        &(struct cs_mk_entry){.kind = CS_FATBIN_ELF, .arch = 90, .image = cs_buf_view(&cubin)}, 1);
    const struct cs_mk_unit unit = {.container = cs_buf_view(&container)};
    cs_mk_host_write(
        &object, &(struct cs_mk_host){
                     .layout = CS_MK_OBJECT, .stripped = true, .units = &unit, .unit_count = 1});
    const struct cs_mk_ar_member members[] = {
        {.name = "moe_kernels.cu.o", .data = cs_buf_view(&object)},
        {.name = "x.o", .data = cs_buf_view(&object)},
    };
    cs_mk_ar_write(&file, members, 2, true);
    struct cs_inventory inv;
    read_back(&file, CS_DEPTH_KERNELS, &inv);
    assert_int_equal(how_of(&inv, "moe_kernels.cu"), CS_SOURCE_ARCHIVE);
    assert_int_equal(how_of(&inv, "x.o"), CS_SOURCE_ARCHIVE);
    cs_inventory_fini(&inv);
    cs_buf_fini(&cubin);
    cs_buf_fini(&container);
    cs_buf_fini(&object);
    cs_buf_fini(&file);
}

static int countdown;
static int fail_at_zero(void) { return countdown-- == 0; }

// Any allocation may fail: an error, and nothing leaks.
static void test_memory(void **state) {
    (void)state;
    struct cs_buf file;
    cs_buf_init(&file, 1 << 24);
    write_library(&file, true, "csrc/plain.cu");
    char path[] = "/tmp/test_source_XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, file.ptr, file.len), file.len);
    close(fd);
    const struct cs_inventory_options options = {.depth = CS_DEPTH_KERNELS, .sources = true};
    bool reached = true;
    for (int n = 0; reached; n++) {
        struct cs_inventory inv;
        cs_inventory_init(&inv);
        countdown = n;
        cs_mem_fail_hook = fail_at_zero;
        const enum cs_code code = cs_inventory_add(&inv, path, &options, NULL, NULL);
        cs_mem_fail_hook = NULL;
        reached = countdown < 0;
        cs_inventory_fini(&inv);
        if (code != (reached ? CS_NOMEM : CS_OK)) {
            fail_msg("allocation %d: code %d", n, (int)code);
        }
    }
    unlink(path);
    cs_buf_fini(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symbols),  cmocka_unit_test(test_module_ids),
        cmocka_unit_test(test_mangled),  cmocka_unit_test(test_dwarf_2),
        cmocka_unit_test(test_dwarf_5),  cmocka_unit_test(test_library),
        cmocka_unit_test(test_stripped), cmocka_unit_test(test_archive),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
