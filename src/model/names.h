// Names: the forms in which a kernel's name is shown and grouped.
//
// For void flash::(anonymous namespace)::run<cutlass::half_t, 64>(Params):
//   full      as demangled
//   short     flash::(anonymous)::run        no return type, template arguments or parameters; this
//                                            is also the key "template" of reports
//   group     void flash::(anonymous namespace)::run
//                                            demangled name up to the first '<', and the whole
//                                            signature when there is none: the rule of the size
//                                            table this program grew out of, kept for comparison
//   namespace flash::(anonymous)             the short form up to its last "::"; may end in a class
//   unwrapped the same as short here; for cutlass::device_kernel<X> the short form of X
//
// All functions take demangled text, read it once, need no memory but the result, never fail on odd
// text and may be called from any thread.
#ifndef CS_MODEL_NAMES_H
#define CS_MODEL_NAMES_H

#include "base/buf.h"
#include "base/intern.h"
#include "base/pool.h"
#include "base/view.h"

// Parts of a demangled function name; views into it.  Whatever is not there is empty.
struct cs_name_parts {
    struct cs_str result;  // return type (templates have one)
    struct cs_str path;    // qualified name with template arguments
    struct cs_str params;  // "(int, float*)"
    struct cs_str tail;    // " const", " [clone .x]"
};
void cs_name_split(struct cs_str demangled, struct cs_name_parts *out);

// A view into `demangled`.
struct cs_str cs_name_group(struct cs_str demangled);

// These append to *out.
void cs_name_short(struct cs_str demangled, struct cs_buf *out);
// True when a wrapper was taken off.
bool cs_name_unwrap(struct cs_str demangled, struct cs_buf *out);

// A view into a short form; empty for a global name.
struct cs_str cs_name_namespace(struct cs_str short_name);

// The arguments of the last template of the name's path, as views: "cutlass::half_t" and "64"
// above. Stores at most `cap` and returns how many there are.
uint32_t cs_name_args(struct cs_str demangled, struct cs_str *out, uint32_t cap);

// All forms of many names, made in parallel.
enum {
    CS_NAME_FULL = 1,  // without it `full` is empty, which saves most of the memory
    CS_NAME_GROUP = 2,
    CS_NAME_SHORT = 4,  // and the namespace
    CS_NAME_UNWRAPPED = 8,
    CS_NAME_ALL = 15,
};
struct cs_name {
    bool demangled;  // false: not a C++ name, or not readable; the forms are made from it as it is
    bool wrapped;    // unwrapped differs from short
    struct cs_str full, group, short_name, name_space, unwrapped;
};
struct cs_name_table {
    struct cs_name *by_id;  // for each id of the intern table; zeroed where not wanted
    uint32_t count;
    struct cs_arena *arenas;
    uint32_t arena_count;
};

// `wanted`: one byte for each id, NULL = all.  `forms`: CS_NAME_* bits.  `pool` may be NULL.
enum cs_code cs_name_table_make(const struct cs_intern *mangled, const uint8_t *wanted,
                                unsigned forms, struct cs_pool *pool, struct cs_name_table *out,
                                struct cs_err *err) CS_MUST_USE;
void cs_name_table_fini(struct cs_name_table *t);

#endif
