// Intersection of two arch lists: what a source supports with what a package wants.
//
// Two ways.  The default follows the rules of docs/arch.md ("Intersection"): it keeps every wanted
// arch that the source can serve, whatever the order of either list, and explains each decision.
// cs_intersect_vllm gives what the CMake function of vLLM 0.33.0 gives, with its quirks.
#ifndef CS_MODEL_INTERSECT_H
#define CS_MODEL_INTERSECT_H

#include "model/archlist.h"

// Which rule served a wanted arch.
enum cs_intersect_rule {
    CS_INTERSECT_UNCOVERED,
    CS_INTERSECT_SAME,    // 1: a source entry of the same number
    CS_INTERSECT_FAMILY,  // 2: a family of the source that contains it
    CS_INTERSECT_MAJOR,  // 3: the highest plain SASS below, same major, same side of the Tegra line
    CS_INTERSECT_PTX,    // 4: the highest plain PTX below
};
const char *cs_intersect_rule_name(enum cs_intersect_rule rule);

// One decision.  Ordered by wanted target.
struct cs_intersect_step {
    struct cs_target wanted;  // is_ptx = false
    bool wanted_ptx;          // it was X.Y+PTX
    enum cs_intersect_rule rule;
    struct cs_target source;   // the source entry; arch 0 when uncovered
    struct cs_target result;   // what is built for it; arch 0 when uncovered
    bool partial;              // an `f` of which only the chip itself is covered
    enum cs_fit why_not;       // when uncovered: how the nearest source entry misses
    struct cs_target nearest;  // and which it is; arch 0 when the source is of another kind
};

// A source entry that is not built, and why that is right.
struct cs_intersect_unused {
    struct cs_target source;
    struct cs_target
        instead;  // its number is served by this one; arch 0 = it serves nothing wanted
};

struct cs_intersection {
    struct cs_archlist result;  // ascending, no repetition; the notes are its issues
    CS_VEC(struct cs_intersect_step) steps;
    CS_VEC(struct cs_intersect_unused) unused;
    CS_VEC(struct cs_str) notes;  // one sentence each, in the arena of `result`
    uint32_t uncovered;           // steps that are uncovered or partial
};

void cs_intersection_init(struct cs_intersection *x);
void cs_intersection_fini(struct cs_intersection *x);

// x initialised.  CS_UNSUPPORTED, naming it, for an entry that asks for PTX or LTO-IR alone, for
// SASS compiled from another number, or for `all`, `native`: expand those first.
enum cs_code cs_intersect(const struct cs_archlist *source, const struct cs_archlist *target,
                          struct cs_intersection *x, struct cs_err *err) CS_MUST_USE;

// cuda_archs_loose_intersection of vLLM 0.33.0, letter for letter, on lists of X.Y[a|f][+PTX]
// (separators ; , and space).  Appends the result, ;-separated.  CS_USAGE quotes a wrong word;
// CS_LIMIT beyond 512 different ones.
enum cs_code cs_intersect_vllm(struct cs_str source, struct cs_str target, struct cs_buf *out,
                               struct cs_err *err) CS_MUST_USE;

#endif
