// Relocations and wrappers: every way in which linkers keep a container's address.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/mem.h"
#include "build/mk_fatbin.h"
#include "build/mk_host.h"
#include "format/elfreloc.h"
#include "model/wrappers.h"

enum { UNITS = 4 };

// Four containers of different sizes; the third in __nv_relfatbin, the fourth without a wrapper.
struct host {
    struct cs_buf container[UNITS];
    struct cs_mk_unit unit[UNITS];
    struct cs_mk_host spec;
    struct cs_buf file;
};

static void make_host(struct host *h, enum cs_mk_layout layout, enum cs_mk_reloc reloc,
                      uint16_t machine) {
    *h = (struct host){0};
    for (uint32_t i = 0; i < UNITS; i++) {
        uint8_t payload[64] = {(uint8_t)(i + 1)};
        const struct cs_mk_entry e = {.kind = CS_FATBIN_ELF, .arch = 80 + i,
                                      .image = cs_view_of(payload, 16 * (i + 1)), .code_major = 1};
        cs_buf_init(&h->container[i], SIZE_MAX);
        (void)cs_mk_container(&h->container[i], &e, 1);
        h->unit[i] = (struct cs_mk_unit){.container = cs_buf_view(&h->container[i]),
                                         .relocatable = i == 2, .no_wrapper = i == 3,
                                         .wrapper_version = i == 0 ? 2 : 1};
    }
    h->spec = (struct cs_mk_host){.machine = machine, .layout = layout, .reloc = reloc,
                                  .executable = reloc == CS_MK_ABSOLUTE, .units = h->unit,
                                  .unit_count = UNITS};
    cs_buf_init(&h->file, SIZE_MAX);
    cs_mk_host_write(&h->file, &h->spec);
}

static void drop_host(struct host *h) {
    for (uint32_t i = 0; i < UNITS; i++) {
        cs_buf_fini(&h->container[i]);
    }
    cs_buf_fini(&h->file);
}

static enum cs_code find(struct cs_view file, struct cs_wrappers *w, struct cs_err *err) {
    struct cs_elf elf;
    const enum cs_code code = cs_elf_open(file, &elf, err);
    return code == CS_OK ? cs_wrappers_find(&elf, w, err) : code;
}

struct storage_case {
    enum cs_mk_reloc reloc;
    enum cs_wrapper_storage want;
    bool in_place;
};

static const struct storage_case storages[] = {
    {CS_MK_RELA, CS_WRAPPER_BY_RELA, true},
    {CS_MK_RELA_ONLY, CS_WRAPPER_BY_RELA, false},
    {CS_MK_RELR, CS_WRAPPER_BY_REL, true},
    {CS_MK_ABSOLUTE, CS_WRAPPER_IN_MEMORY, true},
    {CS_MK_SYMBOLIC, CS_WRAPPER_BY_SYMBOL, false},
};

static void check_host(const struct host *h, const struct storage_case *c) {
    struct cs_wrappers w;
    const struct cs_view file = cs_buf_view(&h->file);
    assert_int_equal(find(file, &w, NULL), CS_OK);
    assert_int_equal(w.items.count, UNITS - 1);
    for (uint32_t i = 0; i < w.items.count; i++) {
        const struct cs_wrapper *x = &w.items.ptr[i];
        assert_int_equal(x->storage, c->want);
        assert_int_equal(x->in_place, c->in_place);
        assert_int_equal(x->version, i == 0 ? 2 : 1);
        assert_int_equal(x->second != 0, i == 0);
        assert_true(cs_view_has(file, x->container_offset, h->container[i].len));
        assert_memory_equal(file.ptr + x->container_offset, h->container[i].ptr,
                            h->container[i].len);
        assert_int_equal(x->reloc_offset == CS_NO_OFFSET, c->want == CS_WRAPPER_IN_MEMORY);
    }
    cs_wrappers_fini(&w);
}

static void test_storages(void **state) {
    (void)state;
    static const uint16_t machines[] = {EM_X86_64, EM_AARCH64};
    for (uint32_t m = 0; m < 2; m++) {
        for (uint32_t layout = CS_MK_LD; layout <= CS_MK_END; layout++) {
            for (size_t i = 0; i < sizeof storages / sizeof *storages; i++) {
                struct host h;
                make_host(&h, (enum cs_mk_layout)layout, storages[i].reloc, machines[m]);
                check_host(&h, &storages[i]);
                drop_host(&h);
            }
        }
    }
}

static void test_object(void **state) {
    (void)state;
    struct host h;
    make_host(&h, CS_MK_OBJECT, CS_MK_RELA, EM_X86_64);
    struct cs_wrappers w;
    const struct cs_view file = cs_buf_view(&h.file);
    assert_int_equal(find(file, &w, NULL), CS_OK);
    assert_int_equal(w.items.count, UNITS - 1);
    for (uint32_t i = 0; i < w.items.count; i++) {
        const struct cs_wrapper *x = &w.items.ptr[i];
        assert_int_equal(x->storage, CS_WRAPPER_BY_SYMBOL);
        assert_int_equal(x->vaddr, 0);
        assert_int_not_equal(x->target_section, 0);
        assert_memory_equal(file.ptr + x->container_offset, h.container[i].ptr, h.container[i].len);
    }
    cs_wrappers_fini(&w);
    drop_host(&h);
}

// Where the RELA entry of the first wrapper is, and its place.
static struct cs_wrapper first_wrapper(struct cs_view file) {
    struct cs_wrappers w;
    assert_int_equal(find(file, &w, NULL), CS_OK);
    const struct cs_wrapper x = w.items.ptr[0];
    cs_wrappers_fini(&w);
    return x;
}

static void test_dangling(void **state) {
    (void)state;
    struct host h;
    make_host(&h, CS_MK_LD, CS_MK_RELA, EM_X86_64);
    const struct cs_wrapper x = first_wrapper(cs_buf_view(&h.file));
    static const uint64_t targets[] = {0, 8, UINT64_MAX, UINT64_MAX - 15, 0x7fffffffffff};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        cs_mk_patch_u64(&h.file, x.reloc_offset + 16, targets[i]);
        assert_int_equal(first_wrapper(cs_buf_view(&h.file)).container_offset, CS_NO_OFFSET);
    }
    // A container whose size leaves the file is none.
    cs_mk_patch_u64(&h.file, x.reloc_offset + 16, x.target);
    assert_int_equal(first_wrapper(cs_buf_view(&h.file)).container_offset, x.container_offset);
    cs_mk_patch_u64(&h.file, x.container_offset + 8, UINT64_MAX - 15);
    assert_int_equal(first_wrapper(cs_buf_view(&h.file)).container_offset, CS_NO_OFFSET);
    drop_host(&h);
}

static void test_unknown_relocation(void **state) {
    (void)state;
    struct host h;
    make_host(&h, CS_MK_LD, CS_MK_RELA, EM_X86_64);
    const struct cs_wrapper x = first_wrapper(cs_buf_view(&h.file));
    cs_mk_patch_u64(&h.file, x.reloc_offset + 8, 37);  // R_X86_64_IRELATIVE
    assert_int_equal(first_wrapper(cs_buf_view(&h.file)).storage, CS_WRAPPER_UNKNOWN);
    // Two relocations for one pointer: which one wins is not for us to say.
    cs_mk_patch_u64(&h.file, x.reloc_offset + 8, 8);
    cs_mk_patch_u64(&h.file, x.reloc_offset + 24, x.vaddr + 8);
    assert_int_equal(first_wrapper(cs_buf_view(&h.file)).storage, CS_WRAPPER_UNKNOWN);
    drop_host(&h);
}

static void test_damaged_tables(void **state) {
    (void)state;
    struct host h;
    make_host(&h, CS_MK_LD, CS_MK_RELA, EM_X86_64);
    struct cs_elf elf;
    struct cs_elf_section dynamic;
    assert_int_equal(cs_elf_open(cs_buf_view(&h.file), &elf, NULL), CS_OK);
    assert_true(cs_elf_find(&elf, ".dynamic", &dynamic));
    for (uint64_t at = dynamic.off; at < dynamic.off + dynamic.size; at += 16) {
        const uint64_t tag = cs_u64(elf.file, at);
        const uint64_t value = cs_u64(elf.file, at + 8);
        if (tag != DT_RELA && tag != DT_RELASZ) {
            continue;
        }
        struct cs_wrappers w;
        struct cs_err err = {0};
        cs_mk_patch_u64(&h.file, at + 8, UINT64_MAX - 7);
        assert_int_equal(find(cs_buf_view(&h.file), &w, &err), CS_FORMAT);
        assert_int_equal(w.items.count, 0);
        cs_mk_patch_u64(&h.file, at + 8, value);
    }
    drop_host(&h);
}

// Without section headers the writable data is searched.
static void test_no_sections(void **state) {
    (void)state;
    struct host h;
    make_host(&h, CS_MK_LLD, CS_MK_RELA_ONLY, EM_X86_64);
    cs_mk_patch_u64(&h.file, offsetof(Elf64_Ehdr, e_shoff), 0);
    cs_mk_patch_u16(&h.file, offsetof(Elf64_Ehdr, e_shnum), 0);
    cs_mk_patch_u16(&h.file, offsetof(Elf64_Ehdr, e_shstrndx), 0);
    check_host(&h, &storages[1]);
    drop_host(&h);
}

// A packed table: one address, then bitmaps; the places are those that the words say.
static void test_relr_bitmap(void **state) {
    (void)state;
    static const uint64_t words[] = {0x10000, 0x7, UINT64_MAX, 0x20000, 0x1, 0x3};
    static const uint64_t head[] = {0x10000, 0x10008, 0x10010};
    struct cs_elf elf = {.machine = EM_X86_64, .file = cs_view_of(words, sizeof words)};
    const struct cs_elfreloc_tables t = {.elf = &elf, .form[2] = CS_ELFRELOC_RELR,
                                         .table[2] = cs_view_of(words, sizeof words)};
    struct cs_elfreloc_iter it = cs_elfreloc_iter(&t);
    struct cs_elfreloc r;
    uint32_t count = 0;
    uint64_t last = 0;
    while (cs_elfreloc_next(&it, &r)) {
        assert_int_equal(r.kind, CS_ELFRELOC_RELATIVE);
        if (count < 3) {
            assert_int_equal(r.place, head[count]);
        }
        if (count == 3) {  // first bit of the second bitmap: 63 words behind the first's base
            assert_int_equal(r.place, 0x10008 + 63 * 8);
        }
        last = r.place;
        count++;
    }
    assert_int_equal(count, 3 + 63 + 1 + 1);
    assert_int_equal(last, 0x20008 + 63 * 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_storages),       cmocka_unit_test(test_object),
        cmocka_unit_test(test_dangling),       cmocka_unit_test(test_unknown_relocation),
        cmocka_unit_test(test_damaged_tables), cmocka_unit_test(test_no_sections),
        cmocka_unit_test(test_relr_bitmap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
