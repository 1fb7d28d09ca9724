// cuda_archs_loose_intersection of vLLM 0.33.0 (cmake/utils.cmake), step by step.
//
// It works on texts, as CMake does; what looks odd here (removal of every equal item, the order of
// the result, a suffix that is looked at after its number) is what the function does.  Repeated
// words are dropped first: they change nothing (tests/oracle/vllm_intersection.py compares with
// real CMake), and it keeps the work bounded.
#include <stdio.h>
#include <stdlib.h>

#include "model/archlist_impl.h"
#include "model/intersect.h"

enum { WORDS_MAX = 512, WORD_BYTES = 20 };

struct word {
    char text[WORD_BYTES];
};
struct words {
    CS_VEC(struct word) list;
};

static bool same(const char *a, const char *b) { return strcmp(a, b) == 0; }

static bool has(const struct words *w, const char *text) {
    for (size_t i = 0; i < w->list.count; i++) {
        if (same(w->list.ptr[i].text, text)) {
            return true;
        }
    }
    return false;
}

static bool append(struct words *w, const char *text) {
    struct word *slot = cs_vec_push(&w->list);
    if (slot) {
        snprintf(slot->text, sizeof slot->text, "%s", text);
    }
    return slot != NULL;
}

static bool append_new(struct words *w, const char *text) {
    return has(w, text) || append(w, text);
}

// list(REMOVE_ITEM): every equal item.
static void drop(struct words *w, const char *text) {
    size_t kept = 0;
    for (size_t i = 0; i < w->list.count; i++) {
        if (!same(w->list.ptr[i].text, text)) {
            w->list.ptr[kept++] = w->list.ptr[i];
        }
    }
    w->list.count = kept;
}

static bool has_suffix(const char *text) {
    const size_t len = strlen(text);
    return len && (text[len - 1] == 'a' || text[len - 1] == 'f');
}

// The word with its last letter changed to `suffix`, or without it for 0.
static struct word with_suffix(const char *base, char suffix) {
    struct word w;
    const char tail[2] = {suffix, '\0'};
    snprintf(w.text, sizeof w.text, "%.*s%s", (int)(strlen(base) - has_suffix(base)), base, tail);
    return w;
}

static bool same_major(const char *a, const char *b) {
    const size_t len = strcspn(a, ".");
    return len == strcspn(b, ".") && memcmp(a, b, len) == 0;
}

static uint32_t take_digits(const char **at) {
    uint32_t x = 0;
    for (; **at >= '0' && **at <= '9'; ++*at) {
        x = x * 10 + (uint32_t)(**at - '0');
    }
    return x;
}

// CMake's VERSION_LESS_EQUAL on X.Y...: numbers part by part, up to the first other character.
static bool not_newer(const char *a, const char *b) {
    for (;;) {
        const uint32_t x = take_digits(&a);
        const uint32_t y = take_digits(&b);
        if (x != y) {
            return x < y;
        }
        if (*a != '.' && *b != '.') {
            return true;
        }
        a += *a == '.';
        b += *b == '.';
    }
}

struct vllm {
    struct words source, target, ptx, out;
    bool ok;  // false: out of memory
};

// Sources whose number is wanted as it stands, before any family may take it.
static void take_exact(struct vllm *v) {
    for (size_t i = 0; i < v->source.list.count;) {
        const struct word s = v->source.list.ptr[i];
        const struct word base = with_suffix(s.text, 0);
        if (!has_suffix(s.text) || !has(&v->target, base.text)) {
            i++;
            continue;
        }
        drop(&v->source, s.text);
        drop(&v->target, base.text);
        drop(&v->target, with_suffix(s.text, 'a').text);
        drop(&v->target, with_suffix(s.text, 'f').text);
        v->ok = v->ok && append(&v->out, s.text);
    }
}

// The other suffixed sources: same number with either suffix, else for `f` any of the major; what
// is emitted is the target's spelling.
static void take_suffixed(struct vllm *v) {
    for (size_t i = 0; i < v->source.list.count;) {
        const struct word s = v->source.list.ptr[i];
        if (!has_suffix(s.text)) {
            i++;
            continue;
        }
        drop(&v->source, s.text);
        const struct word a = with_suffix(s.text, 'a');
        const struct word f = with_suffix(s.text, 'f');
        struct word hit = {""};
        if (has(&v->target, a.text)) {
            hit = a;
        } else if (has(&v->target, f.text)) {
            hit = f;
        } else if (s.text[strlen(s.text) - 1] == 'f') {
            for (size_t k = 0; k < v->target.list.count && !*hit.text; k++) {
                if (same_major(s.text, v->target.list.ptr[k].text)) {
                    hit = v->target.list.ptr[k];
                }
            }
        }
        if (*hit.text) {
            drop(&v->target, hit.text);
            v->ok = v->ok && append(&v->out, hit.text);
        }
    }
}

// Suffixed targets whose plain number the source has.
static void take_wishes(struct vllm *v) {
    for (size_t i = 0; i < v->target.list.count;) {
        const struct word t = v->target.list.ptr[i];
        const struct word base = with_suffix(t.text, 0);
        if (!has_suffix(t.text) || !has(&v->source, base.text)) {
            i++;
            continue;
        }
        drop(&v->target, t.text);
        v->ok = v->ok && append(&v->out, t.text);
        if (!has(&v->target, base.text)) {
            drop(&v->source, base.text);
        }
    }
}

static int natural(const void *a, const void *b) {
    return strverscmp(((const struct word *)a)->text, ((const struct word *)b)->text);
}

// For every target left: the highest source that is not newer, of its major or with PTX.
static void take_lower(struct vllm *v) {
    if (v->source.list.count > 1) {
        qsort(v->source.list.ptr, v->source.list.count, sizeof(struct word), natural);
    }
    for (size_t i = 0; i < v->target.list.count; i++) {
        const char *t = v->target.list.ptr[i].text;
        const char *best = NULL;
        for (size_t k = 0; k < v->source.list.count; k++) {
            const char *s = v->source.list.ptr[k].text;
            if (!not_newer(s, t)) {
                break;
            }
            if (same_major(s, t) || has(&v->ptx, s)) {
                best = s;
            }
        }
        if (best) {
            v->ok = v->ok && append(&v->out, best);
        }
    }
}

// X.Y[a|f][+PTX], any number: the function asks for no more.
static bool is_word(struct cs_str word) {
    const struct cs_str plus = CS_STR("+PTX");
    struct cs_target t;
    word.len -= cs_str_ends(word, plus) ? plus.len : 0;
    return cs_target_parse_dotted(word, &t);
}

static enum cs_code read_words(struct cs_str text, const char *name, struct words *out,
                               struct cs_err *err) {
    for (size_t at = 0; at < text.len;) {
        size_t end = at;
        while (end < text.len && !memchr(";, ", text.ptr[end], 3)) {
            end++;
        }
        const struct cs_str word = {text.ptr + at, end - at};
        if (word.len && !is_word(word)) {
            char near[CS_TARGET_TEXT_BYTES];
            const bool has_near = cs_arch_nearest(CS_NOTATION_TORCH, word, near, sizeof near);
            return cs_fail(err, CS_USAGE,
                           "%s list: \"%.*s%s\" at character %zu: not X.Y, X.Ya, X.Yf with or "
                           "without +PTX%s%s%s",
                           name, (int)(word.len < 60 ? word.len : 60), word.ptr,
                           word.len > 60 ? "..." : "", at + 1, has_near ? "; nearest is \"" : "",
                           has_near ? near : "", has_near ? "\"" : "");
        }
        if (word.len) {
            struct word w;
            snprintf(w.text, sizeof w.text, "%.*s", (int)word.len, word.ptr);
            if (!append_new(out, w.text)) {
                return cs_fail(err, CS_NOMEM, "out of memory");
            }
            if (out->list.count > WORDS_MAX) {
                return cs_fail(err, CS_LIMIT, "%s list: more than %d different words", name,
                               WORDS_MAX);
            }
        }
        at = end + 1;
    }
    return CS_OK;
}

// Takes +PTX off the sources: the number moves to the end of the list.
static void split_ptx(struct vllm *v) {
    struct words plain = {0};
    struct words bases = {0};
    for (size_t i = 0; i < v->source.list.count; i++) {
        char *text = v->source.list.ptr[i].text;
        char *plus = strstr(text, "+PTX");
        if (!plus) {
            v->ok = v->ok && append(&plain, text);
            continue;
        }
        *plus = '\0';
        v->ok = v->ok && append(&bases, text) && append_new(&v->ptx, text);
    }
    for (size_t i = 0; i < bases.list.count; i++) {
        v->ok = v->ok && append_new(&plain, bases.list.ptr[i].text);
    }
    cs_vec_fini(&v->source.list);
    cs_vec_fini(&bases.list);
    v->source = plain;
}

enum cs_code cs_intersect_vllm(struct cs_str source, struct cs_str target, struct cs_buf *out,
                               struct cs_err *err) {
    struct vllm v = {.ok = true};
    struct words unique = {0};
    enum cs_code code = read_words(source, "source", &v.source, err);
    if (code == CS_OK) {
        code = read_words(target, "target", &v.target, err);
    }
    if (code == CS_OK) {
        split_ptx(&v);
        take_exact(&v);
        take_suffixed(&v);
        take_wishes(&v);
        take_lower(&v);
        for (size_t i = 0; i < v.out.list.count; i++) {
            const char *text = v.out.list.ptr[i].text;
            if (!has(&unique, text)) {
                v.ok = v.ok && append(&unique, text);
                cs_buf_printf(out, "%s%s%s", unique.list.count > 1 ? ";" : "", text,
                              has(&v.ptx, text) ? "+PTX" : "");
            }
        }
        code = v.ok ? cs_buf_check(out, err) : cs_fail(err, CS_NOMEM, "out of memory");
    }
    cs_vec_fini(&v.source.list);
    cs_vec_fini(&v.target.list);
    cs_vec_fini(&v.ptx.list);
    cs_vec_fini(&v.out.list);
    cs_vec_fini(&unique.list);
    return code;
}
