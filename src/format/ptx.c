// PTX: one pass over the text that knows directives, comments, strings and braces, nothing else.
//
// PTX ISA, chapters "Syntax", "Directives" (.version, .target, .entry, .file).  At module level
// each directive word is looked at; inside braces (bodies, initialisers, .section) only what can
// hide a brace matters, so nearly all bytes go through skip_plain(), one table look-up each.
// Instructions are never understood, and a module that ptxas would refuse may well be read here.
#include "format/ptx.h"

#include "base/limits.h"
#include "base/mem.h"

// Bytes that end a run of plain ones.
enum { STOP_BODY = 1, STOP_MODULE = 2, IDENT = 4, SPACE = 8 };

static const uint8_t class_of[256] = {
    ['{'] = STOP_BODY | STOP_MODULE,
    ['}'] = STOP_BODY | STOP_MODULE,
    ['"'] = STOP_BODY | STOP_MODULE,
    ['/'] = STOP_BODY | STOP_MODULE,
    ['.'] = STOP_MODULE,
    [' '] = SPACE,
    ['\t'] = SPACE,
    ['\n'] = SPACE,
    ['\r'] = SPACE,
    ['\v'] = SPACE,
    ['\f'] = SPACE,
    ['\0'] = SPACE,
    ['_'] = IDENT,
    ['$'] = IDENT,
    ['%'] = IDENT,
    ['0' ... '9'] = IDENT,
    ['a' ... 'z'] = IDENT,
    ['A' ... 'Z'] = IDENT,
};

struct scan {
    const uint8_t *ptr;
    uint64_t len, at;
};

static bool at_end(const struct scan *s) { return s->at >= s->len; }

static void skip_plain(struct scan *s, uint8_t stop) {
    const uint8_t *p = s->ptr + s->at, *end = s->ptr + s->len;
    while (end - p >= 4 &&
           !((class_of[p[0]] | class_of[p[1]] | class_of[p[2]] | class_of[p[3]]) & stop)) {
        p += 4;
    }
    while (p < end && !(class_of[*p] & stop)) {
        p++;
    }
    s->at = (uint64_t)(p - s->ptr);
}

static void skip_past(struct scan *s, char c) {
    const uint8_t *found = memchr(s->ptr + s->at, c, (size_t)(s->len - s->at));
    s->at = found ? (uint64_t)(found - s->ptr) + 1 : s->len;
}

// At a '/': past the comment, or past the one byte.
static void skip_slash(struct scan *s) {
    const uint8_t next = s->at + 1 < s->len ? s->ptr[s->at + 1] : 0;
    s->at++;
    if (next == '/') {
        skip_past(s, '\n');
    } else if (next == '*') {
        s->at++;
        do {
            skip_past(s, '*');
        } while (!at_end(s) && s->ptr[s->at] != '/');
        s->at += !at_end(s);
    }
}

// At a '"': past the string; returns what is between the quotes, escapes as written.
static struct cs_str skip_string(struct scan *s) {
    const uint64_t start = ++s->at;
    while (!at_end(s) && s->ptr[s->at] != '"') {
        s->at += s->ptr[s->at] == '\\' && s->at + 1 < s->len ? 2 : 1;
    }
    const struct cs_str text = {(const char *)s->ptr + start, (size_t)(s->at - start)};
    s->at += !at_end(s);
    return text;
}

static void skip_space(struct scan *s) {
    while (!at_end(s)) {
        const uint8_t c = s->ptr[s->at];
        if (class_of[c] & SPACE) {
            s->at++;
        } else if (c == '/' && s->at + 1 < s->len &&
                   (s->ptr[s->at + 1] == '/' || s->ptr[s->at + 1] == '*')) {
            skip_slash(s);
        } else {
            return;
        }
    }
}

static struct cs_str take_word(struct scan *s) {
    const uint64_t start = s->at;
    while (!at_end(s) && (class_of[s->ptr[s->at]] & IDENT)) {
        s->at++;
    }
    return (struct cs_str){(const char *)s->ptr + start, (size_t)(s->at - start)};
}

// At a '{': past the matching '}'; false when there is none.
static bool skip_braces(struct scan *s) {
    uint64_t depth = 0;
    do {
        const uint8_t c = s->ptr[s->at];
        if (c == '"') {
            (void)skip_string(s);
        } else if (c == '/') {
            skip_slash(s);
        } else {
            depth += c == '{' ? 1u : 0u;
            depth -= c == '}' ? 1u : 0u;
            s->at++;
            if (depth == 0) {
                return true;
            }
        }
        skip_plain(s, STOP_BODY);
    } while (!at_end(s));
    return false;
}

static uint32_t take_number(struct scan *s) {
    uint32_t x = 0;
    for (; !at_end(s) && s->ptr[s->at] >= '0' && s->ptr[s->at] <= '9'; s->at++) {
        x = x < 100000 ? x * 10 + (uint32_t)(s->ptr[s->at] - '0') : x;
    }
    return x;
}

static void read_version(struct scan *s, struct cs_ptx *out) {
    skip_space(s);
    out->isa_major = take_number(s);
    if (!at_end(s) && s->ptr[s->at] == '.') {
        s->at++;
        out->isa_minor = take_number(s);
    }
}

// .target sm_90a, texmode_independent, debug
static void read_target(struct scan *s, struct cs_ptx *out) {
    for (bool first = true;; first = false) {
        skip_space(s);
        const struct cs_str word = take_word(s);
        if (first) {
            out->target = word;
        } else if (cs_str_eq(word, CS_STR("debug"))) {
            out->debug = true;
        }
        skip_space(s);
        if (at_end(s) || s->ptr[s->at] != ',') {
            return;
        }
        s->at++;
    }
}

// .file 1 "name" [, timestamp, size]
static enum cs_code read_file(struct scan *s, struct cs_ptx *out, struct cs_err *err) {
    skip_space(s);
    (void)take_number(s);
    skip_space(s);
    if (at_end(s) || s->ptr[s->at] != '"') {
        return CS_OK;
    }
    struct cs_str *name = cs_vec_push(&out->files);
    if (!name) {
        return cs_fail(err, CS_NOMEM, "no memory for the file names of PTX");
    }
    *name = skip_string(s);
    return CS_OK;
}

// After the word ".entry": the name, then everything to the end of the body.  A declaration that
// ends with ';' holds no code and is no kernel.
static enum cs_code read_entry(struct scan *s, uint64_t start, struct cs_ptx *out,
                               struct cs_err *err) {
    skip_space(s);
    const struct cs_str name = take_word(s);
    while (!at_end(s) && s->ptr[s->at] != '{') {
        const uint8_t c = s->ptr[s->at];
        if (c == ';') {
            return CS_OK;
        } else if (c == '"') {
            (void)skip_string(s);
        } else if (c == '/') {
            skip_slash(s);
        } else {
            s->at++;
        }
    }
    if (at_end(s) || !skip_braces(s)) {
        return cs_fail_at(err, CS_FORMAT, start, "PTX ends inside the kernel %.*s",
                          (int)(name.len < 100 ? name.len : 100), name.ptr);
    }
    if (name.len == 0 || name.len > CS_MAX_NAME_BYTES) {
        return cs_fail_at(err, CS_FORMAT, start, "PTX kernel with a name of %zu bytes", name.len);
    }
    struct cs_ptx_kernel *k =
        out->kernels.count < CS_MAX_KERNELS ? cs_vec_push(&out->kernels) : NULL;
    if (!k) {
        return cs_fail(err, CS_NOMEM, "no memory for the kernels of PTX");
    }
    *k = (struct cs_ptx_kernel){name, start, s->at - start};
    return CS_OK;
}

// At a '.' of module level.  *linkage: where a .visible, .weak, ... stands that the next directive
// belongs to, or CS_NO_OFFSET.
static enum cs_code read_directive(struct scan *s, uint64_t *linkage, struct cs_ptx *out,
                                   struct cs_err *err) {
    const uint64_t start = s->at++;
    if (start > 0 && (class_of[s->ptr[start - 1]] & IDENT)) {
        return CS_OK;  // a suffix or a fraction
    }
    const struct cs_str word = take_word(s);
    const uint64_t first = *linkage != CS_NO_OFFSET ? *linkage : start;
    *linkage = CS_NO_OFFSET;
    if (cs_str_eq(word, CS_STR("visible")) || cs_str_eq(word, CS_STR("weak")) ||
        cs_str_eq(word, CS_STR("extern")) || cs_str_eq(word, CS_STR("common"))) {
        *linkage = first;
    } else if (cs_str_eq(word, CS_STR("entry"))) {
        return read_entry(s, first, out, err);
    } else if (cs_str_eq(word, CS_STR("file"))) {
        return read_file(s, out, err);
    } else if (cs_str_eq(word, CS_STR("version")) && out->isa_major == 0) {
        read_version(s, out);
    } else if (cs_str_eq(word, CS_STR("target")) && out->target.len == 0) {
        read_target(s, out);
    }
    return CS_OK;
}

static enum cs_code read_module(struct scan *s, struct cs_ptx *out, struct cs_err *err) {
    uint64_t linkage = CS_NO_OFFSET;
    for (;;) {
        skip_plain(s, STOP_MODULE);
        if (at_end(s)) {
            return CS_OK;
        }
        const uint8_t c = s->ptr[s->at];
        if (c == '.') {
            CS_TRY(read_directive(s, &linkage, out, err));
        } else if (c == '/') {
            skip_slash(s);
        } else if (c == '"') {
            (void)skip_string(s);
        } else if (c == '{') {
            const uint64_t start = s->at;
            if (!skip_braces(s)) {
                return cs_fail_at(err, CS_FORMAT, start, "PTX ends inside braces");
            }
        } else {
            return cs_fail_at(err, CS_FORMAT, s->at, "PTX closes a brace that is not open");
        }
    }
}

bool cs_ptx_probe(struct cs_view text) {
    struct scan s = {text.ptr, text.len, 0};
    skip_space(&s);
    static const char word[] = ".version";
    const uint64_t after = s.at + sizeof word - 1;
    return cs_view_has(text, s.at, sizeof word) &&
           memcmp(text.ptr + s.at, word, sizeof word - 1) == 0 &&
           (class_of[text.ptr[after]] & SPACE);
}

enum cs_code cs_ptx_read(struct cs_view text, struct cs_ptx *out, struct cs_err *err) {
    *out = (struct cs_ptx){0};
    struct scan s = {text.ptr, text.len, 0};
    const enum cs_code code = text.len ? read_module(&s, out, err) : CS_OK;
    if (code != CS_OK) {
        cs_ptx_fini(out);
    }
    return code;
}

void cs_ptx_fini(struct cs_ptx *p) {
    cs_vec_fini(&p->kernels);
    cs_vec_fini(&p->files);
    *p = (struct cs_ptx){0};
}
