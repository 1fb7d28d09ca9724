// Builder of ELF64 files: sections, symbols and segments put together in memory.
//
// Sections are laid out in the order they were added.  Content may be filled in after the section
// was created (symbol indices are known only later).  Everything a well-formed writer would compute
// (offsets, string tables, extended numbering from 0xff00 sections on) is computed here; a test
// that wants a damaged file patches the result with cs_mk_patch_*. Builders abort on their own
// misuse and when memory runs out: they serve tests only.
#ifndef CS_TESTS_BUILD_MK_ELF_H
#define CS_TESTS_BUILD_MK_ELF_H

#include <elf.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"

struct cs_mk_section {
    struct cs_str name;
    uint32_t type;
    uint64_t flags, addr, align, entsize;
    uint32_t link, info;
    struct cs_buf data;     // content; empty for SHT_NOBITS
    uint64_t nobits_bytes;  // size claimed without content; 0 = that of data
    uint32_t alias;         // shares the file bytes of that section; 0 = none
    uint64_t gap_before;    // extra bytes in front that no table mentions
    uint64_t off;           // set by the layout
};

struct cs_mk_segment {
    uint32_t type, flags;
    uint32_t first, last;  // sections covered; both 0 = only what `extra` says
    bool with_headers;     // starts at file offset 0
    uint64_t memsz_extra;
    uint64_t align;
};

struct cs_mk_elf {
    struct cs_arena arena;
    uint16_t type, machine;
    uint8_t osabi, abi_version;
    uint32_t version, flags;
    uint64_t entry;
    uint32_t phoff_mode;  // enum cs_mk_phdrs
    uint32_t shstrtab, strtab, symtab;  // indices, 0 = none
    bool congruent;       // host files: off == addr modulo the page size, addr assigned here
    uint64_t page;        // with `congruent`: p_align of PT_LOADs
    CS_VEC(struct cs_mk_section) sections;
    CS_VEC(struct cs_mk_segment) segments;
    uint32_t local_symbols;
};

enum cs_mk_phdrs {
    CS_MK_PHDRS_FRONT,  // after the ELF header, as linkers do
    CS_MK_PHDRS_BACK,   // after the section headers, as ptxas does
};

void cs_mk_elf_init(struct cs_mk_elf *e, uint16_t type, uint16_t machine);
void cs_mk_elf_fini(struct cs_mk_elf *e);

// Adds an empty section and returns its index.  The name is copied.
uint32_t cs_mk_elf_section(struct cs_mk_elf *e, const char *name, uint32_t type, uint64_t flags,
                           uint64_t align);
struct cs_mk_section *cs_mk_elf_at(struct cs_mk_elf *e, uint32_t index);
// Adds the section name table here; when never called, it becomes the last section.
void cs_mk_elf_shstrtab(struct cs_mk_elf *e);
// Adds .strtab and .symtab (with its null symbol); the names of the two sections may be changed by
// the caller.  Locals must be added before globals.
void cs_mk_elf_symtab(struct cs_mk_elf *e);
// Appends a symbol to the table and returns its index.  shndx may exceed 0xff00.
uint32_t cs_mk_elf_symbol(struct cs_mk_elf *e, const char *name, uint8_t info, uint8_t other,
                          uint32_t shndx, uint64_t value, uint64_t size);
void cs_mk_elf_segment(struct cs_mk_elf *e, struct cs_mk_segment segment);

// Lays the file out (fills in section offsets, and addresses when `congruent`).  May be called
// before cs_mk_elf_write to learn addresses; content sizes must not change after it.
void cs_mk_elf_layout(struct cs_mk_elf *e);
// Appends the whole file to out.
void cs_mk_elf_write(struct cs_mk_elf *e, struct cs_buf *out);

// Deterministic bytes that compress about as well as machine code does.
void cs_mk_code(struct cs_buf *out, uint64_t bytes, uint64_t seed);

// Overwrites bytes of a built file; the range must exist.
void cs_mk_patch_u16(struct cs_buf *b, uint64_t off, uint16_t x);
void cs_mk_patch_u32(struct cs_buf *b, uint64_t off, uint32_t x);
void cs_mk_patch_u64(struct cs_buf *b, uint64_t off, uint64_t x);

#endif
