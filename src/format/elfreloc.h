// ELF relocations: what a loader or linker will write where.
//
// Two kinds of tables are read: the dynamic relocations of a library or executable (DT_RELA,
// DT_REL, DT_JMPREL and the packed DT_RELR), and the relocation sections of an object file.  Only
// 64-bit pointers matter here; every other type is passed on as CS_ELFRELOC_OTHER.
// Spec: gABI chapter 4 "Relocation" and chapter 5 "Dynamic Section", the RELR proposal in the gABI
// group; x86-64 psABI table 4.9 and the AArch64 ELF ABI for type numbers.
#ifndef CS_FORMAT_ELFRELOC_H
#define CS_FORMAT_ELFRELOC_H

#include "format/elf.h"

enum cs_elfreloc_form { CS_ELFRELOC_RELA, CS_ELFRELOC_REL, CS_ELFRELOC_RELR };

enum cs_elfreloc_kind {
    CS_ELFRELOC_RELATIVE,  // load base + addend
    CS_ELFRELOC_ABS64,     // symbol + addend, 64 bits
    CS_ELFRELOC_OTHER,
};

struct cs_elfreloc {
    enum cs_elfreloc_form form;
    enum cs_elfreloc_kind kind;
    uint64_t place;      // address that is written; in an object file: offset in the target section
    uint64_t entry_off;  // file offset of the table entry; for RELR of the word that covers it
    uint32_t type;       // R_X86_64_* or R_AARCH64_*
    uint32_t symbol;     // index in the symbol table, 0 = none
    uint64_t addend;     // RELA only; the other forms keep it in memory at `place`
};

// The tables of one file; views into it.
struct cs_elfreloc_tables {
    const struct cs_elf *elf;
    struct cs_view table[4];            // RELA, REL, RELR, PLT; empty when absent
    uint64_t off[4];                    // their file offsets
    enum cs_elfreloc_form form[4];
    uint64_t symtab_off;                // DT_SYMTAB, or the linked table of a section; 0 = none
    struct cs_elf_section symtab;       // type SHT_NULL for dynamic tables
    bool unknown_packing;               // a table in a packing we cannot read (Android, CREL)
};

// Finds the dynamic relocation tables; all empty for a file without PT_DYNAMIC.  CS_FORMAT when a
// table leaves the file.  `elf` must outlive the result.
enum cs_code cs_elfreloc_open_dynamic(const struct cs_elf *elf, struct cs_elfreloc_tables *out,
                                      struct cs_err *err) CS_MUST_USE;

// The one table of a SHT_RELA or SHT_REL section.
enum cs_code cs_elfreloc_open_section(const struct cs_elf *elf, const struct cs_elf_section *s,
                                      struct cs_elfreloc_tables *out,
                                      struct cs_err *err) CS_MUST_USE;

struct cs_elfreloc_iter {
    const struct cs_elfreloc_tables *tables;
    uint32_t table;
    uint64_t pos;       // in that table
    uint64_t relr_base; // place of bit 1 of the next RELR bitmap
    uint64_t bits;      // RELR bitmap under way
    uint64_t bit_place; // place of its lowest bit
    uint64_t bits_off;  // file offset of that word
};

struct cs_elfreloc_iter cs_elfreloc_iter(const struct cs_elfreloc_tables *tables);
// The next relocation in table order; false at the end.  Linear in all, however packed.
bool cs_elfreloc_next(struct cs_elfreloc_iter *it, struct cs_elfreloc *out);

// The symbol a relocation names; false when it names none or the index is outside the table.
bool cs_elfreloc_symbol(const struct cs_elfreloc_tables *tables, const struct cs_elfreloc *r,
                        struct cs_elf_symbol *out);

#endif
