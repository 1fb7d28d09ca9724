// What the two halves of the cubin reader share; not for others.
#ifndef CS_FORMAT_CUBIN_WORK_H
#define CS_FORMAT_CUBIN_WORK_H

#include "format/cubin.h"
#include "format/elf.h"

// One ELF section as the walk sees it.
struct cs_cubin_section {
    struct cs_elf_section elf;
    struct cs_str name;
    uint32_t kernel;   // owner, or CS_NO_KERNEL
    uint32_t part;     // enum cs_part
    bool in_file;      // has bytes of its own
};

// A range inside one section with an owner of its own.
struct cs_cubin_claim {
    uint64_t off, len;
    uint32_t kernel;
};

struct cs_cubin_work {
    struct cs_elf elf;
    CS_VEC(struct cs_cubin_section) sections;
    CS_VEC(uint32_t) symbol_kernel;   // owner by symbol index
    CS_VEC(struct cs_cubin_claim) claims;
    uint32_t *slots;                  // kernel name -> kernel index + 1
    uint32_t slot_count;
    uint32_t symtab;                  // section index, 0 = none
    uint64_t cursor;                  // bytes of the image owned so far
};

// Fills resources, toolkit and target facts from the attribute sections and notes.
void cs_cubin_read_info(struct cs_cubin *c, const struct cs_cubin_work *w);
// The same for the content of .nv.compat alone.
void cs_cubin_read_compat(struct cs_cubin *c, struct cs_view content);

// Calls back for each .nv.info record: its extent, attribute, and value (up to the data's start).
struct cs_nvinfo_record {
    uint64_t off, len;       // in the section
    uint8_t attribute;
    uint16_t inline_value;   // formats 1 to 3
    struct cs_view data;     // format 4
};
bool cs_nvinfo_next(struct cs_view section, uint64_t *cursor, struct cs_nvinfo_record *out);

#endif
