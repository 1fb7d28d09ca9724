// ELF dynamic section: what a library asks of other libraries.
//
// Read as the loader reads it, through the segments: tools that edit finished files keep section
// headers and segments in step only when they work well, and that is what a reader wants to find
// out.  Spec: gABI chapter 5 "Dynamic Section"; "Symbol Versioning" of the Linux Standard Base.
#ifndef CS_FORMAT_ELFDYN_H
#define CS_FORMAT_ELFDYN_H

#include "base/vec.h"
#include "format/elf.h"

// What a loader would stumble over.
#define CS_ELFDYN_TABLE 0x1u      // the table itself leaves the file or has no end
#define CS_ELFDYN_STRINGS 0x2u    // DT_STRTAB is missing, not in the file, or begins without NUL
#define CS_ELFDYN_NAME 0x4u       // a needed name, SONAME or search path is no printable text
#define CS_ELFDYN_POINTER 0x8u    // a table it points at lies in no segment's file part
#define CS_ELFDYN_VERSIONS 0x10u  // version needs that lead out of the file or go round
#define CS_ELFDYN_SECTION 0x20u   // .dynamic, .dynstr or .dynsym are not where the segments say

struct cs_elfdyn_need {
    struct cs_str file;     // the library that must have it
    struct cs_str version;  // "GLIBC_2.17"
};

struct cs_elfdyn {
    bool present;  // there is a PT_DYNAMIC
    uint32_t faults;
    struct cs_str soname;  // views into the file; empty when there is none
    CS_VEC(struct cs_str) needed;
    CS_VEC(struct cs_elfdyn_need) needs;
};

enum { CS_ELFDYN_ENTRIES_MAX = 1 << 16, CS_ELFDYN_NEEDS_MAX = 1 << 16 };

// Never fails on content; CS_NOMEM, or CS_LIMIT for more entries than above.  Free with
// cs_elfdyn_fini.
enum cs_code cs_elfdyn_read(const struct cs_elf *elf, struct cs_elfdyn *out,
                            struct cs_err *err) CS_MUST_USE;
void cs_elfdyn_fini(struct cs_elfdyn *d);

#endif
