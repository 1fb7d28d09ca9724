// Arch: what `cuslim arch` works out from lists: which target serves a device, what is wrong with
// the flags of a build.
#ifndef CS_ANALYSIS_ARCH_H
#define CS_ANALYSIS_ARCH_H

#include "analysis/rules.h"
#include "model/intersect.h"

// ---- explain ---------------------------------------------------------------------------------

struct cs_arch_explain_row {
    struct cs_device device;
    bool known;  // it is in the table of devices
    struct cs_selection selection;
    struct cs_target target;  // of the chosen image; arch 0 when none
    struct cs_target miss;    // the nearest that does not serve; arch 0 when none
};

struct cs_arch_explain {
    CS_VEC(struct cs_arch_explain_row) rows;
};

// What each device would run of a container built from the list.  `toolkit_x10` 0 = unknown: then
// floors leave it out.  Free with cs_vec_fini(&x->rows).
enum cs_code cs_arch_explain_run(const struct cs_archlist *list, uint16_t toolkit_x10,
                                 const struct cs_device *devices, size_t device_count,
                                 const struct cs_select_env *env, struct cs_arch_explain *x,
                                 struct cs_err *err) CS_MUST_USE;

// ---- lint ------------------------------------------------------------------------------------

// One kind of issue, in one command or in many.
struct cs_arch_finding {
    const struct cs_rule *rule;
    enum cs_severity severity;
    struct cs_str where;  // source of the first command, or empty
    uint32_t commands;    // in how many commands
    struct cs_str token, message, nearest;
};

struct cs_arch_lint {
    struct cs_arena arena;
    CS_VEC(struct cs_arch_finding) findings;
    uint32_t commands;       // seen
    uint32_t cuda_commands;  // of these, that compile CUDA code
    uint64_t more;           // issues of single commands beyond the limit of a list
    // Linear grouping: open addressing over hashes of (rule, token, message).
    uint32_t *slots;
    uint32_t slot_count;
};

void cs_arch_lint_init(struct cs_arch_lint *x);
void cs_arch_lint_fini(struct cs_arch_lint *x);

// Adds the issues of a list that was read with `collect`; runs cs_archlist_lint on it.
// `where` may be empty.
enum cs_code cs_arch_lint_list(struct cs_arch_lint *x, struct cs_archlist *list,
                               struct cs_str where, const struct cs_archlist *declared,
                               struct cs_err *err) CS_MUST_USE;

// Adds those of every CUDA command of a compile_commands.json.  CS_FORMAT when it is none.
enum cs_code cs_arch_lint_commands(struct cs_arch_lint *x, struct cs_view json,
                                   const struct cs_archlist_options *options,
                                   const struct cs_archlist *declared,
                                   struct cs_err *err) CS_MUST_USE;

// Worst first, then by rule, then by word.  Nothing may be added afterwards.
void cs_arch_lint_sort(struct cs_arch_lint *x);
// Is there anything worse than a note?
bool cs_arch_lint_failed(const struct cs_arch_lint *x);

#endif
