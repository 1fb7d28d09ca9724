// Size: what takes the room.  Groups the leaves of an inventory by any ordered list of keys.
//
// Every leaf falls into exactly one row, so the rows of any grouping add up to the totals, and the
// totals are the sizes of the inputs.
#ifndef CS_ANALYSIS_SIZE_H
#define CS_ANALYSIS_SIZE_H

#include "model/inventory.h"
#include "model/names.h"

enum cs_size_key {
    CS_SIZE_MEMBER,     // path of the file in the input
    CS_SIZE_LIBRARY,    // the same for files with device code; others together
    CS_SIZE_SECTION,
    CS_SIZE_CONTAINER,  // library#index
    CS_SIZE_KIND,       // sass, ptx, ...
    CS_SIZE_ARCH,       // sm_90a, compute_80
    CS_SIZE_CODEC,
    CS_SIZE_SOURCE,
    CS_SIZE_NAMESPACE,
    CS_SIZE_GROUP,      // demangled name up to the first '<'
    CS_SIZE_TEMPLATE,   // template name without arguments, return type and parameters
    CS_SIZE_KERNEL,
    CS_SIZE_PART,
    CS_SIZE_KEY_COUNT,
};
const char *cs_size_key_name(enum cs_size_key key);
// False for an unknown word.
bool cs_size_key_parse(struct cs_str word, enum cs_size_key *out);

enum cs_names_mode { CS_NAMES_SHORT, CS_NAMES_FULL, CS_NAMES_MANGLED };

enum cs_size_metric {
    CS_METRIC_WHEEL,
    CS_METRIC_FILE,
    CS_METRIC_IMAGE,
    CS_METRIC_CODE,
};

enum { CS_SIZE_ARCHS_MAX = 64 };

struct cs_size_options {
    const struct cs_name_table *name_table;  // of inv->names; see cs_size_name_forms
    enum cs_size_key by[CS_SIZE_KEY_COUNT];
    uint32_t by_count;
    enum cs_names_mode names;
    bool unwrap;            // cutlass::device_kernel<X> counts as X
    bool device_only;       // leave host bytes and archive structure out of the rows
    struct cs_str filter;   // only kernels whose demangled name contains this text; empty = all
    struct cs_str archs[CS_SIZE_ARCHS_MAX];  // only these targets; none = all
    uint32_t arch_count;
    enum cs_size_metric metric;  // rows are sorted by it, largest first; ties by key
};

struct cs_size_row {
    struct cs_str *key;     // by_count texts
    uint64_t wheel_bytes, file_bytes, image_bytes, code_bytes;
    uint32_t kernels;       // kernels (per image that holds them) with bytes in this row
    uint32_t distinct_kernels;
    uint32_t images;
    bool estimated;         // some of file or wheel bytes is a share of a compressed payload
    // Resource maxima over the row's kernels.
    uint32_t registers, barriers;
    uint64_t shared_bytes, local_bytes, stack_bytes, constant_bytes;
};

struct cs_size_totals {
    uint64_t wheel_bytes;       // of the wheels among the inputs
    uint64_t installed_bytes;   // of all files
    uint64_t device_file_bytes; // containers, wrappers and loose images
    uint64_t device_wheel_bytes;
    uint64_t image_bytes, code_bytes, ptx_bytes;
    uint32_t kernels, distinct_kernels, images, containers, code_sections, libraries;
    bool has_wheel;
};

struct cs_size {
    struct cs_arena arena;
    struct cs_size_totals totals;
    CS_VEC(struct cs_size_row) rows;
};

// The CS_NAME_* bits that a run with these options needs.
unsigned cs_size_name_forms(const struct cs_size_options *options);
// One byte for each name id: 1 where it is a kernel's or function's name.  NULL: out of memory.
uint8_t *cs_size_wanted_names(const struct cs_inventory *inv);

void cs_size_totals_of(const struct cs_inventory *inv, struct cs_size_totals *out);

// `out` owns its rows and texts; free with cs_size_fini().
enum cs_code cs_size_run(const struct cs_inventory *inv, const struct cs_size_options *options,
                         struct cs_size *out, struct cs_err *err) CS_MUST_USE;
void cs_size_fini(struct cs_size *s);

uint64_t cs_size_metric_of(const struct cs_size_row *row, enum cs_size_metric metric);

#endif
