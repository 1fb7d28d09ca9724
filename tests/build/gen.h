// Random valid files of every kind from a seed, and damage to them: for property tests and fuzzing.
//
// The same seed gives the same bytes on every machine.  Facts about the file come along, counted
// while it was put together, so that a reader can be held to more than "the bytes add up".
#ifndef CS_TESTS_BUILD_GEN_H
#define CS_TESTS_BUILD_GEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum cs_gen_kind {
    CS_GEN_LIBRARY,
    CS_GEN_OBJECT,
    CS_GEN_EXECUTABLE,
    CS_GEN_FATBIN,
    CS_GEN_CUBIN,
    CS_GEN_PTX,
    CS_GEN_ARCHIVE,
    CS_GEN_WHEEL,
    CS_GEN_OTHER,  // no device code: text, an empty file, a host library without fatbin
    CS_GEN_KINDS,
};
const char *cs_gen_kind_name(enum cs_gen_kind kind);

struct cs_gen_facts {
    uint64_t containers;
    uint64_t images;      // parts of concatenated entries one by one
    uint64_t sass;        // readable cubins among them
    uint64_t kernels;     // in readable cubins
    uint64_t functions;   // device functions with a section of their own
    uint64_t code_bytes;  // .text of readable cubins
    uint64_t ptx_images;  // readable
    uint64_t ptx_kernels;
    uint64_t opaque;      // obfuscated or of a kind nobody knows
    uint64_t installed_bytes;  // the size of the file; 0 for a wheel
};

// SplitMix64.
struct cs_gen {
    uint64_t state;
};
uint64_t cs_gen_next(struct cs_gen *g);
uint64_t cs_gen_below(struct cs_gen *g, uint64_t n);  // 0 .. n-1; n > 0
bool cs_gen_chance(struct cs_gen *g, uint32_t percent);

// Appends a file to out.  *kind says which; facts may be NULL.
void cs_gen_file(uint64_t seed, struct cs_buf *out, enum cs_gen_kind *kind,
                 struct cs_gen_facts *facts);
// The same, of a chosen kind.
void cs_gen_file_of(uint64_t seed, enum cs_gen_kind kind, struct cs_buf *out,
                    struct cs_gen_facts *facts);

// Damages bytes in place: flipped bits, numbers at an edge, swapped and zeroed ranges, cut and
// grown ends.  A file of 0 bytes only grows.
void cs_gen_mutate(struct cs_gen *g, struct cs_buf *b);

#endif
