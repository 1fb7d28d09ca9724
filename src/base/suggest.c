// Optimal string alignment distance (Damerau-Levenshtein without overlapping swaps), three rows.
#include "base/suggest.h"


enum { WORD_MAX = 64 };

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static size_t min3(size_t a, size_t b, size_t c) {
    const size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

size_t cs_edit_distance(struct cs_str a, struct cs_str b) {
    if (a.len > WORD_MAX || b.len > WORD_MAX) {
        return SIZE_MAX;
    }
    size_t rows[3][WORD_MAX + 1] = {{0}};
    for (size_t j = 0; j <= b.len; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a.len; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            const char x = lower(a.ptr[i - 1]), y = lower(b.ptr[j - 1]);
            row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == lower(b.ptr[j - 2]) && lower(a.ptr[i - 2]) == y &&
                above2[j - 2] + 1 < row[j]) {
                row[j] = above2[j - 2] + 1;
            }
        }
    }
    return rows[a.len % 3][b.len];
}

void cs_suggest_offer(struct cs_suggest *s, const char *candidate) {
    const size_t distance = cs_edit_distance(s->word, cs_str_from(candidate));
    if (!s->best || distance < s->best_distance) {
        s->best = candidate;
        s->best_distance = distance;
    }
}

const char *cs_suggest_best(const struct cs_suggest *s) {
    // One slip in a short word, a third of the letters in a long one.
    const size_t tolerated = s->word.len < 4 ? 1 : s->word.len / 3 + 1;
    return s->best && s->best_distance <= tolerated ? s->best : NULL;
}
