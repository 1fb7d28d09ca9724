// Vec: growable arrays of one struct, by explicit element size.
//
//     struct { CS_VEC(struct thing) things; }
//     struct thing *t = cs_vec_push(&x.things);   // zeroed, or NULL when out of memory
//
// Elements move when the vec grows: keep indices, not pointers.
#ifndef CS_BASE_VEC_H
#define CS_BASE_VEC_H

#include <stddef.h>
#include <stdint.h>

#define CS_VEC(type)  \
    struct {          \
        type *ptr;    \
        size_t count; \
        size_t cap;   \
    }

// Untyped core: grows to hold `extra` more, returns the first new element (zeroed) or NULL.
void *cs_vec_grow(void **ptr, size_t *count, size_t *cap, size_t extra, size_t elem_size);

#define cs_vec_push(v)                                                                \
    ((__typeof__((v)->ptr))cs_vec_grow((void **)&(v)->ptr, &(v)->count, &(v)->cap, 1, \
                                       sizeof *(v)->ptr))
#define cs_vec_push_n(v, n)                                                                   \
    ((__typeof__((v)->ptr))cs_vec_grow((void **)&(v)->ptr, &(v)->count, &(v)->cap, (size_t)(n), \
                                       sizeof *(v)->ptr))
#define cs_vec_fini(v)                   \
    do {                                 \
        cs_free((v)->ptr);               \
        (v)->ptr = NULL;                 \
        (v)->count = (v)->cap = 0;       \
    } while (0)

#endif
