// ELF: a bounds-checked, read-only look at 64-bit little-endian ELF files.
//
// Serves host libraries, executables, objects and cubins alike.  Nothing is copied: names and
// contents are views into the file.  Spec: System V ABI, gABI chapters 4 and 5.
// Not supported, and said so: 32-bit and big-endian files.
#ifndef CS_FORMAT_ELF_H
#define CS_FORMAT_ELF_H

#include <elf.h>

#include "base/view.h"

enum { CS_EM_CUDA = 190 };

struct cs_elf_section {
    uint32_t index;
    uint32_t name_off;  // in the section name table
    uint32_t type;
    uint64_t flags, addr;
    uint64_t off, size;  // as written; content only through cs_elf_content
    uint32_t link, info;
    uint64_t align, entsize;
};

struct cs_elf_segment {
    uint32_t index;
    uint32_t type, flags;
    uint64_t off, vaddr, paddr, filesz, memsz, align;
};

struct cs_elf_symbol {
    uint32_t index;
    uint32_t name_off;
    uint8_t type, bind, other;
    uint32_t shndx;  // SHN_XINDEX already resolved where a table is there
    uint64_t value, size;
};

// SHT_SYMTAB_SHNDX: section indices of one symbol table that do not fit 16 bits.
struct cs_elf_xindex {
    uint32_t table;          // section index of the symbol table
    struct cs_view indices;  // u32 each
};
enum { CS_ELF_XINDEX_TABLES = 2 };  // .symtab and .dynsym; more are ignored

struct cs_elf {
    struct cs_view file;
    uint16_t type, machine;
    uint8_t osabi, abi_version;
    uint32_t version, flags;
    uint64_t entry, phoff, shoff;
    uint32_t phnum, shnum, shstrndx;  // extended numbering already resolved
    struct cs_view shstrtab;          // empty when there is none
    struct cs_elf_xindex xindex[CS_ELF_XINDEX_TABLES];
    uint32_t xindex_count;
};

// True when the bytes start like any ELF file.
bool cs_elf_probe(struct cs_view file);

// Checks the header and the extents of the tables: CS_FORMAT, CS_UNSUPPORTED or CS_LIMIT.  `out`
// borrows from `file` and needs no close; it may be read from several threads.
enum cs_code cs_elf_open(struct cs_view file, struct cs_elf *out, struct cs_err *err) CS_MUST_USE;

// index < shnum / phnum (asserted).  The tables' extents were checked by cs_elf_open.
struct cs_elf_section cs_elf_section(const struct cs_elf *elf, uint32_t index);
struct cs_elf_segment cs_elf_segment(const struct cs_elf *elf, uint32_t index);

struct cs_str cs_elf_section_name(const struct cs_elf *elf, const struct cs_elf_section *s);

// The bytes of a section in the file; empty for SHT_NOBITS and SHT_NULL.  False when it leaves the
// file.
bool cs_elf_content(const struct cs_elf *elf, const struct cs_elf_section *s, struct cs_view *out);

// First section of that name; false when there is none.  Linear: for a handful of look-ups.
bool cs_elf_find(const struct cs_elf *elf, const char *name, struct cs_elf_section *out);

// Number of symbols of a SHT_SYMTAB / SHT_DYNSYM section; 0 when malformed.
uint32_t cs_elf_symbol_count(const struct cs_elf *elf, const struct cs_elf_section *table);
// index < cs_elf_symbol_count (asserted).
struct cs_elf_symbol cs_elf_symbol(const struct cs_elf *elf, const struct cs_elf_section *table,
                                   uint32_t index);
// Name from the table's linked string section; empty when out of range.
struct cs_str cs_elf_symbol_name(const struct cs_elf *elf, const struct cs_elf_section *table,
                                 const struct cs_elf_symbol *sym);

// File offset of a virtual address through the PT_LOAD segments (file part only); false if none.
bool cs_elf_vaddr_to_off(const struct cs_elf *elf, uint64_t vaddr, uint64_t *off);
bool cs_elf_off_to_vaddr(const struct cs_elf *elf, uint64_t off, uint64_t *vaddr);

#endif
