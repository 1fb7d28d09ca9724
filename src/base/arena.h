// Arena: many small allocations with one lifetime.
//
// Objects stay where they are until cs_arena_fini().  Not thread-safe: one arena a thread, or a
// lock around it.  Alignment is 16 bytes for cs_arena_alloc, 1 for text.
#ifndef CS_BASE_ARENA_H
#define CS_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "base/view.h"

struct cs_arena_block;

struct cs_arena {
    struct cs_arena_block *head;
    uint64_t total_bytes;  // asked of the allocator so far
};

void cs_arena_init(struct cs_arena *a);
void cs_arena_fini(struct cs_arena *a);

// Zeroed memory, or NULL when out of memory.
void *cs_arena_alloc(struct cs_arena *a, size_t size);

// A NUL-terminated copy of the text; its .ptr is NULL when out of memory.
struct cs_str cs_arena_str(struct cs_arena *a, struct cs_str s);

// printf into the arena; .ptr NULL when out of memory.
struct cs_str cs_arena_printf(struct cs_arena *a, const char *fmt, ...) CS_PRINTF(2, 3);

// Moves all blocks of `from` into `into`; `from` is left empty.
void cs_arena_absorb(struct cs_arena *into, struct cs_arena *from);

#endif
