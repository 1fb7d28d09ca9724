// ELF reader: what it reads from well-formed files, and what it says about damaged ones.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/mem.h"
#include "build/mk_elf.h"
#include "format/elf.h"

enum { MANY = 70000, SHDR = 64, SYM = 24 };

// A shared object with one PT_LOAD of headers and .text, one of .data and .bss, and symbols.
static void make_library(struct cs_buf *out) {
    struct cs_mk_elf e;
    cs_mk_elf_init(&e, ET_DYN, EM_X86_64);
    e.congruent = true;
    e.page = 0x1000;
    e.flags = 0x1234;
    const uint32_t text =
        cs_mk_elf_section(&e, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 16);
    cs_buf_pad(&cs_mk_elf_at(&e, text)->data, 'T', 100);
    const uint32_t data = cs_mk_elf_section(&e, ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 8);
    cs_buf_pad(&cs_mk_elf_at(&e, data)->data, 'D', 40);
    const uint32_t bss = cs_mk_elf_section(&e, ".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, 8);
    cs_mk_elf_at(&e, bss)->nobits_bytes = 1000;
    cs_mk_elf_symtab(&e);
    (void)cs_mk_elf_symbol(&e, "first", ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 0, text, 7, 9);
    (void)cs_mk_elf_symbol(&e, "second", ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 2, data, 3, 5);
    cs_mk_elf_segment(&e, (struct cs_mk_segment){.type = PT_LOAD, .flags = PF_R | PF_X,
        .first = text, .last = text, .with_headers = true, .align = 0x1000});
    cs_mk_elf_segment(&e, (struct cs_mk_segment){.type = PT_LOAD, .flags = PF_R | PF_W,
        .first = data, .last = bss, .align = 0x1000});
    cs_buf_init(out, SIZE_MAX);
    cs_mk_elf_write(&e, out);
    cs_mk_elf_fini(&e);
}

static void assert_str(struct cs_str got, const char *want) {
    assert_int_equal(got.len, strlen(want));
    assert_memory_equal(got.ptr, want, got.len);
}

static void test_library(void **state) {
    (void)state;
    struct cs_buf b;
    make_library(&b);
    struct cs_elf elf;
    assert_int_equal(cs_elf_open(cs_buf_view(&b), &elf, NULL), CS_OK);
    assert_int_equal(elf.type, ET_DYN);
    assert_int_equal(elf.machine, EM_X86_64);
    assert_int_equal(elf.flags, 0x1234);
    assert_int_equal(elf.phnum, 2);
    struct cs_elf_section s;
    assert_true(cs_elf_find(&elf, ".data", &s));
    assert_false(cs_elf_find(&elf, ".dat", &s) || cs_elf_find(&elf, ".data1", &s));
    assert_str(cs_elf_section_name(&elf, &s), ".data");
    struct cs_view v;
    assert_true(cs_elf_content(&elf, &s, &v));
    assert_int_equal(v.len, 40);
    assert_int_equal(v.ptr[39], 'D');
    uint64_t off = 0, back = 0;
    assert_int_not_equal(s.addr, s.off);
    assert_true(cs_elf_vaddr_to_off(&elf, s.addr + 39, &off));
    assert_int_equal(off, s.off + 39);
    assert_true(cs_elf_off_to_vaddr(&elf, off, &back));
    assert_int_equal(back, s.addr + 39);
    assert_false(cs_elf_vaddr_to_off(&elf, s.addr + 40, &off));  // .bss has no bytes
    assert_true(cs_elf_find(&elf, ".bss", &s));
    assert_int_equal(s.size, 1000);
    assert_true(cs_elf_content(&elf, &s, &v));
    assert_int_equal(v.len, 0);
    cs_buf_fini(&b);
}

static void test_symbols(void **state) {
    (void)state;
    struct cs_buf b;
    make_library(&b);
    struct cs_elf elf;
    assert_int_equal(cs_elf_open(cs_buf_view(&b), &elf, NULL), CS_OK);
    struct cs_elf_section t, data;
    assert_true(cs_elf_find(&elf, ".symtab", &t) && cs_elf_find(&elf, ".data", &data));
    assert_int_equal(cs_elf_symbol_count(&elf, &t), 3);
    assert_int_equal(cs_elf_symbol_count(&elf, &data), 0);
    const struct cs_elf_symbol sym = cs_elf_symbol(&elf, &t, 2);
    assert_str(cs_elf_symbol_name(&elf, &t, &sym), "second");
    assert_int_equal(sym.type, STT_OBJECT);
    assert_int_equal(sym.bind, STB_GLOBAL);
    assert_int_equal(sym.other, 2);
    assert_int_equal(sym.shndx, data.index);
    assert_int_equal(sym.value, 3);
    assert_int_equal(sym.size, 5);
    cs_buf_fini(&b);
}

// Extended numbering: the counts of 70,000 sections and the section index of a symbol.
static void test_many_sections(void **state) {
    (void)state;
    struct cs_mk_elf e;
    cs_mk_elf_init(&e, ET_REL, EM_X86_64);
    uint32_t last = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        last = cs_mk_elf_section(&e, i + 1 == MANY ? ".last" : ".text.k", SHT_PROGBITS, 0, 1);
    }
    cs_mk_elf_symtab(&e);
    const uint32_t index = cs_mk_elf_symbol(&e, "far", ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0,
                                            0xff05, 0, 0);
    const uint32_t x = cs_mk_elf_section(&e, ".symtab_shndx", SHT_SYMTAB_SHNDX, 0, 4);
    cs_mk_elf_at(&e, x)->link = e.symtab;
    for (uint32_t i = 0; i <= index; i++) {
        cs_buf_u32(&cs_mk_elf_at(&e, x)->data, i == index ? last : 0);
    }
    struct cs_buf b;
    cs_buf_init(&b, SIZE_MAX);
    cs_mk_elf_write(&e, &b);
    const uint32_t count = (uint32_t)e.sections.count;
    cs_mk_elf_fini(&e);
    struct cs_elf elf;
    assert_int_equal(cs_elf_open(cs_buf_view(&b), &elf, NULL), CS_OK);
    assert_int_equal(cs_u16(elf.file, offsetof(Elf64_Ehdr, e_shnum)), 0);
    assert_int_equal(elf.shnum, count);
    struct cs_elf_section s, t;
    assert_true(cs_elf_find(&elf, ".last", &s));
    assert_int_equal(s.index, last);
    assert_true(cs_elf_find(&elf, ".symtab", &t));
    assert_int_equal(cs_elf_symbol(&elf, &t, index).shndx, last);
    // A table that is too short for the symbol gives "no section", never a read past its end.
    elf.xindex[0].indices.len = 4;
    assert_int_equal(cs_elf_symbol(&elf, &t, index).shndx, 0);
    cs_buf_fini(&b);
}

struct damage {
    const char *what;
    uint32_t off, bytes;
    uint64_t value;
    enum cs_code want;
};

static const struct damage damages[] = {
    {"magic", 0, 1, 'E', CS_FORMAT},
    {"32-bit", EI_CLASS, 1, ELFCLASS32, CS_UNSUPPORTED},
    {"class 3", EI_CLASS, 1, 3, CS_FORMAT},
    {"big-endian", EI_DATA, 1, ELFDATA2MSB, CS_UNSUPPORTED},
    {"data 0", EI_DATA, 1, 0, CS_FORMAT},
    {"e_shoff past the end", 40, 8, 1 << 20, CS_FORMAT},
    {"e_shoff near 2^64", 40, 8, UINT64_MAX - 8, CS_FORMAT},
    {"e_shoff 0 with sections", 40, 8, 0, CS_FORMAT},
    {"e_phoff near 2^64", 32, 8, UINT64_MAX - 8, CS_FORMAT},
    {"e_phentsize", 54, 2, 55, CS_FORMAT},
    {"e_shentsize", 58, 2, 40, CS_FORMAT},
    {"e_phnum too many for the file", 56, 2, 4000, CS_FORMAT},
    {"e_phnum beyond the limit", 56, 2, 5000, CS_LIMIT},
    {"e_phnum extended: none there", 56, 2, PN_XNUM, CS_OK},
    {"e_shnum too many for the file", 60, 2, 60000, CS_FORMAT},
    {"e_shnum extended but 0: no sections, names index dangles", 60, 2, 0, CS_FORMAT},
    {"e_shstrndx out of range", 62, 2, 77, CS_FORMAT},
    {"e_shstrndx 0: no names", 62, 2, 0, CS_OK},
    {"e_shstrndx extended, 0 there", 62, 2, SHN_XINDEX, CS_OK},
    {"e_machine is anybody's", 18, 2, 9999, CS_OK},
};

static void patch(struct cs_buf *b, uint64_t off, uint32_t bytes, uint64_t value) {
    assert_true(cs_view_has(cs_buf_view(b), off, bytes));
    memcpy(b->ptr + off, &value, bytes);
}

static void test_damage(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct cs_buf b;
        make_library(&b);
        patch(&b, damages[i].off, damages[i].bytes, damages[i].value);
        struct cs_elf elf;
        struct cs_err err = {0};
        const enum cs_code got = cs_elf_open(cs_buf_view(&b), &elf, &err);
        if (got != damages[i].want) {
            fail_msg("%s: %s, want %s", damages[i].what, cs_code_name(got),
                     cs_code_name(damages[i].want));
        }
        assert_true(got == CS_OK || err.offset != CS_NO_OFFSET);
        cs_buf_fini(&b);
    }
}

// Numbers in section headers, program headers and symbols that lead nowhere.
static void test_wild_numbers(void **state) {
    (void)state;
    static const uint64_t wild[] = {0x1000000, UINT64_MAX, UINT64_MAX - 39, (uint64_t)INT64_MAX};
    for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
        struct cs_buf b;
        make_library(&b);
        struct cs_elf elf;
        assert_int_equal(cs_elf_open(cs_buf_view(&b), &elf, NULL), CS_OK);
        struct cs_elf_section s, t;
        assert_true(cs_elf_find(&elf, ".data", &s) && cs_elf_find(&elf, ".symtab", &t));
        const uint64_t header = elf.shoff + (uint64_t)s.index * SHDR;
        patch(&b, header + offsetof(Elf64_Shdr, sh_offset), 8, wild[i]);
        patch(&b, header + offsetof(Elf64_Shdr, sh_name), 4, wild[i]);
        patch(&b, t.off + SYM, 4, wild[i]);
        patch(&b, elf.shoff + (uint64_t)t.index * SHDR + offsetof(Elf64_Shdr, sh_link), 4, wild[i]);
        const uint64_t data_load = elf.phoff + sizeof(Elf64_Phdr);
        patch(&b, data_load + offsetof(Elf64_Phdr, p_offset), 8, wild[i]);
        patch(&b, data_load + offsetof(Elf64_Phdr, p_filesz), 8, UINT64_MAX);
        assert_int_equal(cs_elf_open(cs_buf_view(&b), &elf, NULL), CS_OK);
        s = cs_elf_section(&elf, s.index);
        t = cs_elf_section(&elf, t.index);
        struct cs_view v;
        assert_false(cs_elf_content(&elf, &s, &v));
        assert_int_equal(cs_elf_section_name(&elf, &s).len, 0);
        const struct cs_elf_symbol sym = cs_elf_symbol(&elf, &t, 1);
        assert_int_equal(cs_elf_symbol_name(&elf, &t, &sym).len, 0);
        uint64_t off;
        assert_false(cs_elf_vaddr_to_off(&elf, s.addr + 4, &off));
        cs_buf_fini(&b);
    }
}

// A symbol table whose strings are itself, and strings without an end.
static void test_cyclic_links(void **state) {
    (void)state;
    struct cs_buf b;
    make_library(&b);
    struct cs_elf elf;
    assert_int_equal(cs_elf_open(cs_buf_view(&b), &elf, NULL), CS_OK);
    struct cs_elf_section t;
    assert_true(cs_elf_find(&elf, ".symtab", &t));
    const uint64_t header = elf.shoff + (uint64_t)t.index * SHDR;
    patch(&b, header + offsetof(Elf64_Shdr, sh_link), 4, t.index);
    assert_int_equal(cs_elf_open(cs_buf_view(&b), &elf, NULL), CS_OK);
    t = cs_elf_section(&elf, t.index);
    struct cs_elf_symbol sym = cs_elf_symbol(&elf, &t, 1);
    assert_int_equal(cs_elf_symbol_name(&elf, &t, &sym).len, 0);
    struct cs_elf_section names = cs_elf_section(&elf, elf.shstrndx);
    memset(b.ptr + names.off, 'x', names.size);
    assert_int_equal(cs_elf_open(cs_buf_view(&b), &elf, NULL), CS_OK);
    assert_int_equal(cs_elf_section_name(&elf, &t).len, 0);
    cs_buf_fini(&b);
}

// Every prefix of a file is refused; none is read past its end (the copy is exactly as long).
static void test_prefixes(void **state) {
    (void)state;
    struct cs_buf b;
    make_library(&b);
    for (size_t len = 0; len < b.len; len++) {
        uint8_t *copy = cs_alloc(len + 1);
        assert_non_null(copy);
        memcpy(copy, b.ptr, len);
        uint8_t *exact = cs_realloc_array(copy, len ? len : 1, 1);
        assert_non_null(exact);
        struct cs_elf elf;
        assert_int_not_equal(cs_elf_open(cs_view_of(exact, len), &elf, NULL), CS_OK);
        cs_free(exact);
    }
    cs_buf_fini(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_library),      cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_many_sections), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_wild_numbers), cmocka_unit_test(test_cyclic_links),
        cmocka_unit_test(test_prefixes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
