// Wrappers: the 24-byte records by which a program registers its containers.
//
// A wrapper says where its container is by a pointer, and a pointer in a finished file can be kept
// in a relocation's addend, in memory, or in both; which one a loader believes depends on the
// linker that made the file.  This module resolves it the way the loader will: relocation first,
// memory second.  docs/format/elf-subset.md has the table of linkers.
#ifndef CS_MODEL_WRAPPERS_H
#define CS_MODEL_WRAPPERS_H

#include "base/vec.h"
#include "format/elf.h"

// Who holds the container's address.
enum cs_wrapper_storage {
    CS_WRAPPER_IN_MEMORY,  // no relocation: the value in place counts (non-PIE executables)
    CS_WRAPPER_BY_RELA,    // addend of a relative RELA entry
    CS_WRAPPER_BY_REL,     // relative REL or RELR: the value in place is the addend
    CS_WRAPPER_BY_SYMBOL,  // symbol + addend
    CS_WRAPPER_UNKNOWN,    // a relocation type or packing that this program does not read
};
const char *cs_wrapper_storage_name(enum cs_wrapper_storage storage);

struct cs_wrapper {
    uint64_t offset;            // of the record, in the file
    uint64_t vaddr;             // of the record; 0 in object files
    uint32_t section;           // index of its section; 0 in files without section headers
    uint32_t version;           // 1 = plain, 2 = device-linked
    enum cs_wrapper_storage storage;
    bool in_place;              // the pointer field holds the address too (see BY_RELA)
    bool rela;                  // BY_SYMBOL: the addend is in the entry, not in place
    uint64_t reloc_offset;      // file offset of the relocation entry, or CS_NO_OFFSET
    uint32_t symbol;            // BY_SYMBOL: index in its symbol table
    uint32_t target_section;    // object files: the container's section; else 0
    uint64_t target;            // address of the container; object files: offset in target_section
    uint64_t container_offset;  // of the container, in the file; CS_NO_OFFSET when dangling
    uint64_t second;            // version 2: address of the array for prelinked containers, or 0
};

struct cs_wrappers {
    CS_VEC(struct cs_wrapper) items;  // ascending by offset
};

// Finds the wrappers of a library, executable or object file: all sections named
// .nvFatBinSegment; without such a section, the writable data of a file that has device sections
// or no section headers at all.  A wrapper that does not reach a container header is listed as
// dangling.  Linear in the file's relocations.  CS_FORMAT for a damaged relocation table; on error
// `out` is empty.  Free with cs_wrappers_fini.
enum cs_code cs_wrappers_find(const struct cs_elf *elf, struct cs_wrappers *out,
                              struct cs_err *err) CS_MUST_USE;
void cs_wrappers_fini(struct cs_wrappers *w);

// True for the sections in which compilers put containers: .nv_fatbin and __nv_relfatbin.
bool cs_wrappers_device_section(struct cs_str name, bool *relocatable);

#endif
