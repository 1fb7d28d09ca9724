#include "base/vec.h"

#include <string.h>

#include "base/mem.h"

void *cs_vec_grow(void **ptr, size_t *count, size_t *cap, size_t extra, size_t elem_size) {
    size_t need;
    if (__builtin_add_overflow(*count, extra, &need)) {
        return NULL;
    }
    if (need > *cap) {
        size_t grown = *cap < 8 ? 8 : *cap + *cap / 2;
        if (grown < need) {
            grown = need;
        }
        void *p = cs_realloc_array(*ptr, grown, elem_size);
        if (!p) {
            return NULL;
        }
        *ptr = p;
        *cap = grown;
    }
    uint8_t *first = (uint8_t *)*ptr + *count * elem_size;
    memset(first, 0, extra * elem_size);
    *count = need;
    return first;
}
