#include "base/buf.h"

#include <stdio.h>

#include "base/mem.h"

void cs_buf_init(struct cs_buf *b, size_t max) { *b = (struct cs_buf){.max = max}; }

void cs_buf_fini(struct cs_buf *b) {
    cs_free(b->ptr);
    *b = (struct cs_buf){0};
}

void cs_buf_clear(struct cs_buf *b) {
    b->len = 0;
    b->failed = CS_OK;
    if (b->ptr) {
        b->ptr[0] = '\0';
    }
}

void *cs_buf_reserve(struct cs_buf *b, size_t len) {
    if (b->failed != CS_OK) {
        return NULL;
    }
    if (b->len > b->max || len > b->max - b->len) {
        b->failed = CS_LIMIT;
        return NULL;
    }
    const size_t need = b->len + len + 1;
    if (need > b->cap) {
        size_t cap = b->cap < 256 ? 256 : b->cap;
        while (cap < need) {
            cap = cap > SIZE_MAX / 2 ? need : cap * 2;
        }
        char *p = cs_realloc_array(b->ptr, cap, 1);
        if (!p) {
            b->failed = CS_NOMEM;
            return NULL;
        }
        b->ptr = p;
        b->cap = cap;
    }
    return b->ptr + b->len;
}

void cs_buf_add(struct cs_buf *b, const void *bytes, size_t len) {
    char *p = cs_buf_reserve(b, len);
    if (p) {
        if (len) {
            memcpy(p, bytes, len);
        }
        b->len += len;
        b->ptr[b->len] = '\0';
    }
}

void cs_buf_adds(struct cs_buf *b, const char *z) { cs_buf_add(b, z, strlen(z)); }
void cs_buf_add_str(struct cs_buf *b, struct cs_str s) { cs_buf_add(b, s.ptr, s.len); }
void cs_buf_addc(struct cs_buf *b, char c) { cs_buf_add(b, &c, 1); }
void cs_buf_u16(struct cs_buf *b, uint16_t x) { cs_buf_add(b, &x, sizeof x); }
void cs_buf_u32(struct cs_buf *b, uint32_t x) { cs_buf_add(b, &x, sizeof x); }
void cs_buf_u64(struct cs_buf *b, uint64_t x) { cs_buf_add(b, &x, sizeof x); }

void cs_buf_pad(struct cs_buf *b, char c, size_t count) {
    char *p = cs_buf_reserve(b, count);
    if (p) {
        memset(p, c, count);
        b->len += count;
        b->ptr[b->len] = '\0';
    }
}

void cs_buf_printf(struct cs_buf *b, const char *fmt, ...) {
    char small[512];
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(small, sizeof small, fmt, args);
    va_end(args);
    if (n < 0) {
        b->failed = b->failed != CS_OK ? b->failed : CS_INTERNAL;
        return;
    }
    if ((size_t)n < sizeof small) {
        cs_buf_add(b, small, (size_t)n);
        return;
    }
    char *p = cs_buf_reserve(b, (size_t)n);
    if (p) {
        va_start(args, fmt);
        vsnprintf(p, (size_t)n + 1, fmt, args);
        va_end(args);
        b->len += (size_t)n;
    }
}

enum cs_code cs_buf_check(const struct cs_buf *b, struct cs_err *err) {
    if (b->failed == CS_OK) {
        return CS_OK;
    }
    return cs_fail(err, b->failed,
                   b->failed == CS_LIMIT ? "buffer limit of %zu bytes exceeded"
                                         : "no memory for a buffer (limit %zu bytes)",
                   b->max);
}
