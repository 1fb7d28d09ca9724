#include "base/mem.h"

#include <stdlib.h>
#include <sys/mman.h>

int (*cs_mem_fail_hook)(void);

static int should_fail(void) { return cs_mem_fail_hook && cs_mem_fail_hook(); }

void *cs_alloc(size_t size) { return should_fail() ? NULL : malloc(size ? size : 1); }

void *cs_calloc(size_t count, size_t size) {
    return should_fail() ? NULL : calloc(count ? count : 1, size ? size : 1);
}

void *cs_realloc_array(void *old, size_t count, size_t size) {
    size_t bytes;
    if (should_fail() || __builtin_mul_overflow(count, size, &bytes)) {
        return NULL;
    }
    return realloc(old, bytes ? bytes : 1);
}

void cs_free(void *ptr) { free(ptr); }

void *cs_pages_alloc(uint64_t size) {
    if (should_fail() || size == 0 || size > (uint64_t)1 << 46) {
        return NULL;
    }
    void *p = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        return NULL;
    }
    if (size >= (uint64_t)4 << 20) {
        (void)madvise(p, (size_t)size, MADV_HUGEPAGE);  // a hint; failure changes nothing
    }
    return p;
}

void cs_pages_free(void *ptr, uint64_t size) {
    if (ptr) {
        (void)munmap(ptr, (size_t)size);
    }
}

uint8_t *cs_scratch_get(struct cs_scratch *s, uint64_t size) {
    if (size > s->bytes || !s->ptr) {
        cs_scratch_fini(s);
        const uint64_t grown = size + size / 4 + 4096;
        s->ptr = cs_pages_alloc(grown);
        s->bytes = s->ptr ? grown : 0;
    }
    return s->ptr;
}

void cs_scratch_fini(struct cs_scratch *s) {
    cs_pages_free(s->ptr, s->bytes);
    *s = (struct cs_scratch){0};
}
