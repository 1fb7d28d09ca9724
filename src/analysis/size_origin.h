// The size table that this program grew out of, by its own metric, for line-by-line comparison.
//
// Metric: for each library, the FUNC symbols of every cubin, st_size summed by demangled name over
// all images; grouped by the name up to the first '<'.  Function symbols overlap (outlined
// functions lie inside their kernel), so the sums exceed the code; the true code bytes stand beside
// them. Libraries with the same content (a wheel cannot hold links) count once; where there are
// libraries, static archives and loose files beside them do not count (docs/format/size-table.md).
#ifndef CS_ANALYSIS_SIZE_ORIGIN_H
#define CS_ANALYSIS_SIZE_ORIGIN_H

#include "analysis/size.h"

struct cs_origin_function {
    uint32_t member;
    struct cs_str name;  // demangled
    uint64_t symbol_bytes;
};

struct cs_origin_group {
    struct cs_str prefix;
    uint32_t count;         // distinct (library, demangled name)
    uint64_t symbol_bytes;
    uint64_t code_bytes;    // .text of the kernels and functions with sections of their own
};

struct cs_origin {
    CS_VEC(struct cs_origin_function) functions;  // largest first
    CS_VEC(struct cs_origin_group) groups;        // largest first
    uint64_t symbol_bytes, code_bytes;
    uint32_t repeated_libraries;                  // left out as copies
};

// `names` needs CS_NAME_FULL and CS_NAME_GROUP.  Texts are borrowed from it.
enum cs_code cs_origin_run(const struct cs_inventory *inv, const struct cs_name_table *names,
                           struct cs_origin *out, struct cs_err *err) CS_MUST_USE;
void cs_origin_fini(struct cs_origin *o);

#endif
