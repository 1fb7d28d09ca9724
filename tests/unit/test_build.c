// The builders themselves: what they write is read back here by plain offsets, without the
// project's readers, so that a builder and a reader cannot agree on the same mistake.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "base/mem.h"
#include "build/mk_cubin.h"
#include "build/mk_fatbin.h"
#include "build/mk_host.h"

static const struct cs_mk_kernel two_kernels[] = {
    {.name = "_Z4axpyPfS_f",
     .code_bytes = 640,
     .registers = 24,
     .shared_bytes = 1024,
     .barriers = 1,
     .relocations = 2},
    {.name = "_ZN1a5localEPi",
     .code_bytes = 384,
     .local = true,
     .outlined = "$_ZN1a5localEPi$slow",
     .outlined_bytes = 128,
     .stack_bytes = 40,
     .local_bytes = 40,
     .constant2_bytes = 32},
};

static void make_cubin(struct cs_buf *out, uint32_t abi, uint32_t sm) {
    cs_buf_init(out, SIZE_MAX);
    const struct cs_mk_cubin c = {.abi = abi, .sm = sm, .kernels = two_kernels, .kernel_count = 2,
                                  .constant3_bytes = 16, .text_gap = true};
    cs_mk_cubin_write(out, &c);
}

static void test_cubin_tables(void **state) {
    (void)state;
    static const uint32_t cases[][2] = {{7, 80}, {8, 80}, {8, 90}, {8, 100}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cs_buf b;
        make_cubin(&b, cases[i][0], cases[i][1]);
        const struct cs_view v = cs_buf_view(&b);
        assert_int_equal(cs_u16(v, 18), 190);
        assert_int_equal(cs_u8(v, 8), cases[i][0]);
        const uint64_t shoff = cs_u64(v, 40);
        const uint16_t count = cs_u16(v, 60);
        uint64_t code = 0;
        for (uint16_t s = 1; s < count; s++) {
            const uint64_t at = shoff + 64ull * s;
            if (cs_u64(v, at + 8) & SHF_EXECINSTR) {
                code += cs_u64(v, at + 32);
                assert_int_equal(cs_u64(v, at + 24) % 128, 0);
            }
            if (cs_u32(v, at + 4) != SHT_NOBITS) {
                assert_true(cs_view_has(v, cs_u64(v, at + 24), cs_u64(v, at + 32)));
            }
        }
        assert_int_equal(code, 1024);
        const uint64_t phoff = cs_u64(v, 32);
        assert_int_equal(phoff + 56ull * cs_u16(v, 56), v.len);
        cs_buf_fini(&b);
    }
}

static void test_many_sections(void **state) {
    (void)state;
    struct cs_buf b;
    cs_buf_init(&b, SIZE_MAX);
    const struct cs_mk_cubin c = {
        .kernels = two_kernels, .kernel_count = 2, .empty_sections = 70000};
    cs_mk_cubin_write(&b, &c);
    const struct cs_view v = cs_buf_view(&b);
    assert_int_equal(cs_u16(v, 60), 0);
    assert_in_range(cs_u64(v, cs_u64(v, 40) + 32), 70001, 70100);
    cs_buf_fini(&b);
}

static void test_container_walks_to_its_end(void **state) {
    (void)state;
    struct cs_buf cubin, ptx, out;
    make_cubin(&cubin, 8, 100);
    cs_buf_init(&ptx, SIZE_MAX);
    cs_buf_init(&out, SIZE_MAX);
    static const char *const names[] = {"k", NULL};
    cs_mk_ptx(&ptx, 90, 0, names, NULL);
    const struct cs_view image = cs_buf_view(&cubin), text = cs_buf_view(&ptx);
    const struct cs_mk_entry parts[] = {
        {.kind = CS_FATBIN_ELF, .arch = 100, .suffix = 'f', .image = image},
        {.kind = CS_FATBIN_ELF, .arch = 120, .image = image, .identifier = "a/b.cu"},
    };
    const struct cs_mk_entry entries[] = {
        {.kind = CS_FATBIN_ELF, .arch = 100, .image = image},
        {.kind = CS_FATBIN_ELF, .arch = 100, .image = image, .codec = CS_CODEC_LZ4, .level = 12},
        {.kind = CS_FATBIN_ELF, .arch = 90, .suffix = 'a', .image = image, .codec = CS_CODEC_ZSTD,
         .identifier = "x.cu"},
        {.kind = CS_FATBIN_PTX, .arch = 90, .image = text, .codec = CS_CODEC_ZLIB,
         .options = "--generate-line-info"},
        {.kind = CS_FATBIN_LTOIR, .arch = 90, .image = text, .codec = CS_CODEC_ZSTD, .key = 0x1234},
        {.kind = CS_FATBIN_CONCAT, .codec = CS_CODEC_ZSTD, .parts = parts, .part_count = 2},
        {.kind = 0x777, .arch = 10, .image = text, .set_flags = 1ull << 40},
    };
    const uint64_t bytes = cs_mk_container(&out, entries, 7);
    assert_int_equal(bytes, out.len);
    const struct cs_view v = cs_buf_view(&out);
    assert_int_equal(cs_u32(v, 0), 0xBA55ED50u);
    assert_int_equal(cs_u64(v, 8) + 16, bytes);
    uint64_t at = 16;
    for (int i = 0; i < 7; i++) {
        assert_int_equal(cs_u32(v, at + 4) % 8, 0);
        const uint64_t payload = at + cs_u32(v, at + 4);
        if (i == 2) {
            uint8_t *copy = cs_alloc(image.len);
            assert_int_equal(ZSTD_decompress(copy, image.len, v.ptr + payload, cs_u32(v, at + 16)),
                             image.len);
            assert_memory_equal(copy, image.ptr, image.len);
            cs_free(copy);
            assert_string_equal((const char *)v.ptr + at + cs_u32(v, at + 0x20), "x.cu");
        }
        at = payload + cs_u64(v, at + 8);
    }
    assert_int_equal(at, bytes);
    cs_buf_fini(&cubin);
    cs_buf_fini(&ptx);
    cs_buf_fini(&out);
}

static uint64_t section_addr(struct cs_view v, uint32_t type, uint64_t flags, uint64_t bytes) {
    const uint64_t shoff = cs_u64(v, 40);
    for (uint16_t i = 0; i < cs_u16(v, 60); i++) {
        const uint64_t at = shoff + 64ull * i;
        if (cs_u32(v, at + 4) == type && cs_u64(v, at + 8) == flags &&
            cs_u64(v, at + 32) == bytes) {
            return cs_u64(v, at + 16);
        }
    }
    return 0;
}

// The loader judges: after dlopen each wrapper must point at its container, and host code must run.
static void load_and_look(struct cs_view v, uint32_t units) {
    char path[] = "/tmp/cs_test_build_XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, v.ptr, v.len) == (ssize_t)v.len);
    close(fd);
    void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    unlink(path);
    if (!lib) {
        fail_msg("dlopen: %s", dlerror());
    }
    int (*answer)(void) = NULL;
    void *symbol = dlsym(lib, "cs_host_answer");
    memcpy(&answer, &symbol, sizeof answer);
    assert_non_null(symbol);
    assert_int_equal(answer(), 42);
    Dl_info info;
    assert_true(dladdr(symbol, &info) != 0);
    const uint64_t addr = section_addr(v, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 24ull * units);
    assert_true(addr != 0);
    const uint8_t *wrappers = (const uint8_t *)info.dli_fbase + addr;
    for (uint32_t i = 0; i < units; i++) {
        const uint8_t *container;
        memcpy(&container, wrappers + 24 * i + 8, sizeof container);
        assert_int_equal(cs_u32(cs_view_of(container, 16), 0), 0xBA55ED50u);
        assert_int_equal(cs_u64(cs_view_of(container, 16), 8) % 8, 0);
    }
    dlclose(lib);
}

static void test_libraries_load(void **state) {
    (void)state;
    struct cs_buf cubin, a, b, out;
    make_cubin(&cubin, 8, 90);
    cs_buf_init(&a, SIZE_MAX);
    cs_buf_init(&b, SIZE_MAX);
    cs_buf_init(&out, SIZE_MAX);
    const struct cs_mk_entry e = {.kind = CS_FATBIN_ELF, .arch = 90, .image = cs_buf_view(&cubin)};
    cs_mk_container(&a, &e, 1);
    cs_mk_container(&b, NULL, 0);
    const struct cs_mk_unit units[] = {
        {.container = cs_buf_view(&a), .source = "one.cu", .wrapper_version = 2},
        {.container = cs_buf_view(&b), .source = "link.stub"},
        {.container = cs_buf_view(&a), .source = "two.cu", .relocatable = true,
         .module_id = "167746ba_6_two_cu_f00f9c1f"},
    };
    const enum cs_mk_layout layouts[] = {CS_MK_LD, CS_MK_LD_NOSEPARATE, CS_MK_LLD, CS_MK_GOLD,
                                         CS_MK_END};
    const enum cs_mk_reloc relocs[] = {CS_MK_RELA, CS_MK_RELA_ONLY, CS_MK_SYMBOLIC, CS_MK_RELR};
    for (size_t i = 0; i < 5; i++) {
        for (size_t j = 0; j < 4; j++) {
            // The loader may know DT_RELR only since glibc 2.36; this file does not say it needs
            // it.
            const struct cs_mk_host h = {.layout = layouts[i], .reloc = relocs[j], .units = units,
                                         .unit_count = 3, .stripped = j == 1};
            cs_buf_clear(&out);
            cs_mk_host_write(&out, &h);
            load_and_look(cs_buf_view(&out), 3);
        }
    }
    const struct cs_mk_host page = {
        .layout = CS_MK_LD, .page = 1 << 21, .units = units, .unit_count = 3};
    cs_buf_clear(&out);
    cs_mk_host_write(&out, &page);
    load_and_look(cs_buf_view(&out), 3);
    cs_buf_fini(&cubin);
    cs_buf_fini(&a);
    cs_buf_fini(&b);
    cs_buf_fini(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cubin_tables),
        cmocka_unit_test(test_many_sections),
        cmocka_unit_test(test_container_walks_to_its_end),
#ifdef __x86_64__
        cmocka_unit_test(test_libraries_load),
#endif
    };
    return cmocka_run_group_tests_name("build", tests, NULL, NULL);
}
