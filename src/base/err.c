#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cs_err_clear(struct cs_err *err) {
    if (err) {
        err->code = CS_OK;
        err->sys_errno = 0;
        err->offset = CS_NO_OFFSET;
        err->count = 0;
        err->dropped = 0;
    }
}

// Makes the text one printable line: file names and symbol names come from hostile input.
static void sanitize(char *text) {
    for (unsigned char *p = (unsigned char *)text; *p; p++) {
        if (*p < 0x20 || *p == 0x7F) {
            *p = '?';
        }
    }
}

static void push_frame(struct cs_err *err, const char *fmt, va_list args) {
    if (err->count == CS_ERR_FRAMES) {
        err->dropped++;
        return;
    }
    char *text = err->frame[err->count].text;
    vsnprintf(text, CS_ERR_TEXT, fmt, args);
    sanitize(text);
    err->count++;
}

static void start(struct cs_err *err, enum cs_code code, uint64_t offset) {
    cs_err_clear(err);
    err->code = code;
    err->offset = offset;
}

enum cs_code cs_fail(struct cs_err *err, enum cs_code code, const char *fmt, ...) {
    if (err) {
        va_list args;
        start(err, code, CS_NO_OFFSET);
        va_start(args, fmt);
        push_frame(err, fmt, args);
        va_end(args);
    }
    return code;
}

enum cs_code cs_fail_at(struct cs_err *err, enum cs_code code, uint64_t offset, const char *fmt,
                        ...) {
    if (err) {
        va_list args;
        start(err, code, offset);
        va_start(args, fmt);
        push_frame(err, fmt, args);
        va_end(args);
    }
    return code;
}

enum cs_code cs_fail_errno(struct cs_err *err, const char *fmt, ...) {
    const int saved = errno;
    const enum cs_code code = saved == ENOMEM ? CS_NOMEM : saved == EINTR ? CS_INTERRUPTED : CS_IO;
    if (err) {
        va_list args;
        start(err, code, CS_NO_OFFSET);
        err->sys_errno = saved;
        va_start(args, fmt);
        push_frame(err, fmt, args);
        va_end(args);
        char *text = err->frame[0].text;
        const size_t used = strlen(text);
        snprintf(text + used, CS_ERR_TEXT - used, ": %s", strerror(saved));
    }
    return code;
}

enum cs_code cs_wrap(struct cs_err *err, enum cs_code code, const char *fmt, ...) {
    if (!err) {
        return code;
    }
    if (err->code == CS_OK) {
        err->code = code;
    }
    va_list args;
    va_start(args, fmt);
    push_frame(err, fmt, args);
    va_end(args);
    return err->code;
}

int cs_err_format(const struct cs_err *err, char *out, uint32_t out_size) {
    CS_ASSERT(out_size > 0);
    int used = 0;
    out[0] = '\0';
    for (uint32_t i = err->count; i-- > 0;) {
        const size_t at = (uint32_t)used < out_size ? (size_t)used : out_size - 1;
        used += snprintf(out + at, out_size - at, "%s%s", err->frame[i].text, i ? ": " : "");
    }
    if (err->offset != CS_NO_OFFSET) {
        const size_t at = (uint32_t)used < out_size ? (size_t)used : out_size - 1;
        used += snprintf(out + at, out_size - at, " (at offset 0x%llx)",
                         (unsigned long long)err->offset);
    }
    return used;
}

const char *cs_code_name(enum cs_code code) {
    switch (code) {
    case CS_OK: return "ok";
    case CS_NOMEM: return "out of memory";
    case CS_IO: return "input/output";
    case CS_FORMAT: return "format";
    case CS_UNSUPPORTED: return "unsupported";
    case CS_LIMIT: return "limit";
    case CS_NOTFOUND: return "not found";
    case CS_CONFLICT: return "conflict";
    case CS_INTERRUPTED: return "interrupted";
    case CS_USAGE: return "usage";
    case CS_INTERNAL: return "internal";
    }
    return "internal";
}

int cs_code_exit(enum cs_code code) {
    switch (code) {
    case CS_OK: return 0;
    case CS_USAGE: return 2;
    case CS_FORMAT:
    case CS_UNSUPPORTED:
    case CS_LIMIT:
    case CS_CONFLICT: return 3;
    case CS_NOMEM:
    case CS_IO:
    case CS_NOTFOUND:
    case CS_INTERRUPTED: return 4;
    case CS_INTERNAL: return 70;
    }
    return 70;
}

void cs_assert_failed(const char *cond, const char *file, int line) {
    fprintf(stderr, "cuslim: internal error: %s:%d: %s\n", file, line, cond);
    abort();
}
