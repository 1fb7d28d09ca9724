// Texts of the grouping keys, each computed once.  Internal to the size analysis and its relatives.
#ifndef CS_ANALYSIS_SIZE_KEYS_H
#define CS_ANALYSIS_SIZE_KEYS_H

#include "analysis/size.h"

struct cs_size_keys {
    const struct cs_inventory *inv;
    const struct cs_size_options *options;
    struct cs_intern texts;
    // Text ids by index of the level they depend on; 0 = not yet known, else id + 1.
    uint32_t *table[CS_SIZE_KEY_COUNT];
    struct cs_buf scratch;
};

bool cs_size_keys_init(struct cs_size_keys *k, const struct cs_inventory *inv,
                       const struct cs_size_options *options);
void cs_size_keys_fini(struct cs_size_keys *k);

// Text id of a leaf under a key; CS_INTERN_NONE when out of memory.
uint32_t cs_size_key_id(struct cs_size_keys *k, enum cs_size_key key, const struct cs_leaf *leaf);
// What to show for it.
struct cs_str cs_size_keys_text(const struct cs_size_keys *k, enum cs_size_key key, uint32_t id);

// Does the demangled name contain the text?
bool cs_size_keys_match(const struct cs_size_keys *k, uint32_t name, struct cs_str text);

#endif
