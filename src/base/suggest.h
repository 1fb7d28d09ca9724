// Suggest: the nearest known word, for messages about typing errors.
#ifndef CS_BASE_SUGGEST_H
#define CS_BASE_SUGGEST_H

#include <stddef.h>

#include "base/view.h"

// The nearest candidate so far.  Start with {.word = the wrong one}, offer every known word, and
// then read cs_suggest_best().  Candidates are borrowed.
struct cs_suggest {
    struct cs_str word;
    const char *best;
    size_t best_distance;
};

void cs_suggest_offer(struct cs_suggest *s, const char *candidate);
// NULL when nothing is near enough to be what was meant.
const char *cs_suggest_best(const struct cs_suggest *s);

// Steps between two words: insert, delete, replace, swap neighbours; letter case counts nothing.
// Words over 64 bytes are infinitely far (SIZE_MAX).
size_t cs_edit_distance(struct cs_str a, struct cs_str b);

#endif
