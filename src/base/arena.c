#include "base/arena.h"

#include <stdio.h>

#include "base/mem.h"

struct cs_arena_block {
    struct cs_arena_block *next;
    size_t used;
    size_t size;
    _Alignas(16) uint8_t data[];
};

// Blocks double from the first to the largest: a wheel has an arena for each of 10,000 members, and
// most of them hold one name.
enum { FIRST_BLOCK_BYTES = 512, BLOCK_BYTES = 64 * 1024, ALIGN = 16 };

void cs_arena_init(struct cs_arena *a) { *a = (struct cs_arena){0}; }

void cs_arena_fini(struct cs_arena *a) {
    for (struct cs_arena_block *b = a->head; b;) {
        struct cs_arena_block *next = b->next;
        cs_free(b);
        b = next;
    }
    *a = (struct cs_arena){0};
}

static struct cs_arena_block *add_block(struct cs_arena *a, size_t need) {
    size_t block = a->head ? a->head->size : FIRST_BLOCK_BYTES / 2;
    block = block > BLOCK_BYTES / 2 ? BLOCK_BYTES : block * 2;
    while (block < BLOCK_BYTES && need > block / 4) {
        block *= 2;
    }
    const size_t size = need > BLOCK_BYTES / 4 ? need : block;
    if (size > SIZE_MAX - sizeof(struct cs_arena_block)) {
        return NULL;
    }
    struct cs_arena_block *b = cs_alloc(sizeof *b + size);
    if (!b) {
        return NULL;
    }
    b->used = 0;
    b->size = size;
    a->total_bytes += sizeof *b + size;
    if (a->head && size == need && need > BLOCK_BYTES / 4) {
        // A big object gets a block of its own behind the head, so that the head stays in use.
        b->next = a->head->next;
        a->head->next = b;
    } else {
        b->next = a->head;
        a->head = b;
    }
    return b;
}

static void *take(struct cs_arena *a, size_t size, size_t align) {
    struct cs_arena_block *b = a->head;
    if (b) {
        const size_t at = (b->used + align - 1) & ~(align - 1);
        if (at <= b->size && size <= b->size - at) {
            b->used = at + size;
            return b->data + at;
        }
    }
    b = add_block(a, size);
    if (!b) {
        return NULL;
    }
    b->used = size;
    return b->data;
}

void *cs_arena_alloc(struct cs_arena *a, size_t size) {
    void *p = take(a, size ? size : 1, ALIGN);
    if (p) {
        memset(p, 0, size);
    }
    return p;
}

struct cs_str cs_arena_str(struct cs_arena *a, struct cs_str s) {
    char *p = s.len < SIZE_MAX ? take(a, s.len + 1, 1) : NULL;
    if (!p) {
        return (struct cs_str){NULL, 0};
    }
    if (s.len) {
        memcpy(p, s.ptr, s.len);
    }
    p[s.len] = '\0';
    return (struct cs_str){p, s.len};
}

struct cs_str cs_arena_printf(struct cs_arena *a, const char *fmt, ...) {
    char small[512];
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(small, sizeof small, fmt, args);
    va_end(args);
    if (n < 0) {
        return (struct cs_str){NULL, 0};
    }
    if ((size_t)n < sizeof small) {
        return cs_arena_str(a, (struct cs_str){small, (size_t)n});
    }
    char *p = take(a, (size_t)n + 1, 1);
    if (!p) {
        return (struct cs_str){NULL, 0};
    }
    va_start(args, fmt);
    vsnprintf(p, (size_t)n + 1, fmt, args);
    va_end(args);
    return (struct cs_str){p, (size_t)n};
}

// The blocks go behind the head: it stays in use, and only the chain of `from` is walked, so that
// absorbing many small arenas stays linear.
void cs_arena_absorb(struct cs_arena *into, struct cs_arena *from) {
    if (!into->head) {
        into->head = from->head;
    } else if (from->head) {
        struct cs_arena_block *tail = from->head;
        while (tail->next) {
            tail = tail->next;
        }
        tail->next = into->head->next;
        into->head->next = from->head;
    }
    into->total_bytes += from->total_bytes;
    *from = (struct cs_arena){0};
}
