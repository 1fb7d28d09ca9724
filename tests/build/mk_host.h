// Builder of host files that carry fatbins: libraries, executables and relocatable objects for
// x86_64 and aarch64, with wrappers, relocations and the layouts of four linkers.
//
// Libraries for the machine that runs the tests can be loaded with dlopen(); they export the
// function cs_host_answer(), which returns 42.
#ifndef CS_TESTS_BUILD_MK_HOST_H
#define CS_TESTS_BUILD_MK_HOST_H

#include "base/buf.h"
#include "build/mk_elf.h"

enum cs_mk_layout {
    CS_MK_LD,             // R, RX, R (.rodata, .nv_fatbin, .eh_frame), RW
    CS_MK_LD_NOSEPARATE,  // one RE segment with everything, RW
    CS_MK_LLD,            // R with .nv_fatbin before .rodata, RX, RW
    CS_MK_GOLD,           // RE with .nv_fatbin before .rodata, RW
    CS_MK_END,            // .nv_fatbin in a segment of its own at the end of the file
    CS_MK_OBJECT,         // ET_REL: no segments, relocations against sections
};

enum cs_mk_reloc {
    CS_MK_RELA,          // R_*_RELATIVE, and the addend in place too (GNU ld, gold)
    CS_MK_RELA_ONLY,     // zeros in place (lld)
    CS_MK_RELR,          // DT_RELR: only the value in place
    CS_MK_ABSOLUTE,      // no relocation: not position independent
    CS_MK_SYMBOLIC,      // R_*_ABS64 against a dynamic symbol
};

// One container of the file.
struct cs_mk_unit {
    struct cs_view container;  // built with cs_mk_container
    const char *source;  // gives FILE and fatbinData symbols; "k.cu" or "link.stub"; NULL = none
    const char *module_id;     // gives the symbol __fatbinwrap_<id>; NULL = none
    bool relocatable;          // in __nv_relfatbin
    bool no_wrapper;
    uint32_t wrapper_version;  // 0 = 1; 2 = device-linked
};

// Another section with any content (.ldata, .cask_resource, a damaged .nv_fatbin, ...).
struct cs_mk_blob {
    const char *section;
    struct cs_view bytes;
    uint64_t align;  // 0 = 8
};

struct cs_mk_host {
    uint16_t machine;  // EM_X86_64 (also for 0) or EM_AARCH64
    enum cs_mk_layout layout;
    enum cs_mk_reloc reloc;
    uint64_t page;     // p_align; 0 = 0x1000, or 0x10000 on aarch64
    bool executable;   // ET_EXEC for CS_MK_ABSOLUTE, else with an interpreter
    bool stripped;     // no .symtab
    uint32_t text_bytes, rodata_bytes;  // 0 = 64
    uint32_t bss_bytes;
    const struct cs_mk_unit *units;
    size_t unit_count;
    const struct cs_mk_blob *blobs;  // read-only data, after .rodata
    size_t blob_count;
};

void cs_mk_host_write(struct cs_buf *out, const struct cs_mk_host *h);

#endif
