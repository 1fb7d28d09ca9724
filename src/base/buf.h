// Buf: a growable byte buffer with a maximum and a sticky failure.
//
// Append calls need no check one by one: after the first failure (memory, or beyond `max`) the
// rest do nothing and cs_buf_check() reports it.  The content is always NUL-terminated one past
// `len`, so text can be handed on as a C string.
#ifndef CS_BASE_BUF_H
#define CS_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/view.h"

struct cs_buf {
    char *ptr;
    size_t len;       // bytes in use
    size_t cap;       // bytes allocated
    size_t max;       // len never exceeds this
    enum cs_code failed;
};

void cs_buf_init(struct cs_buf *b, size_t max);
void cs_buf_fini(struct cs_buf *b);
void cs_buf_clear(struct cs_buf *b);  // keeps the memory and forgets a failure

void cs_buf_add(struct cs_buf *b, const void *bytes, size_t len);
void cs_buf_adds(struct cs_buf *b, const char *z);
void cs_buf_add_str(struct cs_buf *b, struct cs_str s);
void cs_buf_addc(struct cs_buf *b, char c);
void cs_buf_pad(struct cs_buf *b, char c, size_t count);
void cs_buf_printf(struct cs_buf *b, const char *fmt, ...) CS_PRINTF(2, 3);
void cs_buf_u16(struct cs_buf *b, uint16_t x);
void cs_buf_u32(struct cs_buf *b, uint32_t x);
void cs_buf_u64(struct cs_buf *b, uint64_t x);
// Room for `len` more bytes without changing the content; NULL on failure.  The caller writes
// there and then adds to b->len.
void *cs_buf_reserve(struct cs_buf *b, size_t len);

static inline struct cs_view cs_buf_view(const struct cs_buf *b) {
    return cs_view_of(b->ptr, b->len);
}
static inline struct cs_str cs_buf_str(const struct cs_buf *b) {
    return (struct cs_str){b->ptr ? b->ptr : "", b->len};
}

enum cs_code cs_buf_check(const struct cs_buf *b, struct cs_err *err) CS_MUST_USE;

#endif
