// Intern: one number for each distinct text.
//
// Ids count up from 0 in order of first appearance.  Not thread-safe.  Texts are copied and stay
// valid, NUL-terminated, until cs_intern_fini().
#ifndef CS_BASE_INTERN_H
#define CS_BASE_INTERN_H

#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"

#define CS_INTERN_NONE UINT32_MAX

struct cs_intern {
    struct cs_arena arena;
    CS_VEC(struct cs_str) texts;  // by id
    uint32_t *slots;              // open addressing, id + 1, 0 = free
    uint64_t *hashes;             // by id
    size_t hashes_cap;
    uint32_t slot_count;          // power of two
};

void cs_intern_init(struct cs_intern *t);
void cs_intern_fini(struct cs_intern *t);

// The id of s, adding it when new; CS_INTERN_NONE when out of memory.
uint32_t cs_intern_add(struct cs_intern *t, struct cs_str s);
// The id of s, or CS_INTERN_NONE when it was never added.
uint32_t cs_intern_find(const struct cs_intern *t, struct cs_str s);
// Text of an id; empty for CS_INTERN_NONE.
struct cs_str cs_intern_text(const struct cs_intern *t, uint32_t id);

#endif
