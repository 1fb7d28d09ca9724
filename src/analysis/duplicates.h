// Duplicates: kernels whose machine code is the same, byte for byte, in several images.
//
// Equality is of code, not of names, so that copies with different anonymous-namespace or file
// suffixes are found too.  A report only: each module is loaded on its own, so a copy cannot simply
// be removed; moving the kernel to one source file, or to -rdc, is the author's decision.
#ifndef CS_ANALYSIS_DUPLICATES_H
#define CS_ANALYSIS_DUPLICATES_H

#include "model/inventory.h"

struct cs_duplicate {
    uint32_t name;         // of one copy, intern id
    struct cs_target target;
    uint32_t copies;       // at least 2
    uint32_t names;        // distinct mangled names among them
    uint32_t containers;   // distinct containers they are in
    uint64_t code_bytes;   // of one copy
    uint64_t extra_bytes;  // code_bytes * (copies - 1)
};

struct cs_duplicates {
    CS_VEC(struct cs_duplicate) groups;  // most extra bytes first
    uint64_t extra_bytes, code_bytes;
};

// Needs an inventory made with hashes.
enum cs_code cs_duplicates_run(const struct cs_inventory *inv, struct cs_duplicates *out,
                               struct cs_err *err) CS_MUST_USE;
void cs_duplicates_fini(struct cs_duplicates *d);

#endif
