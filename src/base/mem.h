// Allocation: thin wrappers over malloc with overflow checks and one hook for fault injection.
//
// All return NULL when memory is out (or the test hook says so); nothing aborts.
#ifndef CS_BASE_MEM_H
#define CS_BASE_MEM_H

#include <stdint.h>
#include <stddef.h>

void *cs_alloc(size_t size) __attribute__((malloc));                 // uninitialised
void *cs_calloc(size_t count, size_t size) __attribute__((malloc));  // zeroed
void *cs_realloc_array(void *old, size_t count, size_t size);
void cs_free(void *ptr);  // NULL is fine

// Big short-lived blocks (inflated members, decompressed images): anonymous pages that ask for
// huge pages, so that first touch does not cost a fault every 4 KiB.  Zeroed.  `size` > 0.
void *cs_pages_alloc(uint64_t size);
void cs_pages_free(void *ptr, uint64_t size);

// A block that grows and is used again: one a thread, for decompressed images.
struct cs_scratch {
    uint8_t *ptr;
    uint64_t bytes;
};
// At least `size` bytes, content undefined; NULL when out of memory.  Earlier pointers die.
uint8_t *cs_scratch_get(struct cs_scratch *s, uint64_t size);
void cs_scratch_fini(struct cs_scratch *s);

// For tests only: when set, called before every allocation; returning non-zero makes it fail.
extern int (*cs_mem_fail_hook)(void);

#endif
