// Reading nvcc command lines: -gencode, -arch, -code in all their spellings.
//
// What nvcc accepts was asked of nvcc 13.0 and 13.5 with --dryrun (docs/format/archlist.md):
//   -gencode V, -gencode=V, --generate-code V, --generate-code=V
//       V: arch=compute_N,code=C in either order; C: one of sm_N compute_N lto_N, or several in
//       [..] or "..".  Repetitions add up.
//   -arch, --gpu-architecture (with or without =): compute_N, sm_N, lto_N, all, all-major, native;
//       the last one wins.  -code, --gpu-code: C,C,...; add up; need -arch=compute_N.
//   -arch=sm_N alone means compute_N to sm_N and compute_N; with a suffix (sm_90a) nvcc 13 keeps
//       compute_90 besides.
// All other words are passed over, with the value of -X... options.
#include <stdio.h>

#include "model/archlist_impl.h"

enum flag { FLAG_NONE, FLAG_GENCODE, FLAG_ARCH, FLAG_CODE, FLAG_FILE, FLAG_FOR_OTHERS };

// One word of interest with its place.
struct value {
    struct cs_str text;
    uint32_t at;
    uint32_t run;
};

struct command {
    struct cs_arch_reader *r;
    struct value arch;           // the last -arch
    CS_VEC(struct value) codes;  // every -code
};

static enum flag match(struct cs_str word, struct cs_str *value, bool *has_value) {
    static const struct {
        const char *name;
        enum flag flag;
    } names[] = {
        {"-gencode", FLAG_GENCODE},
        {"--generate-code", FLAG_GENCODE},
        {"-arch", FLAG_ARCH},
        {"--gpu-architecture", FLAG_ARCH},
        {"-code", FLAG_CODE},
        {"--gpu-code", FLAG_CODE},
        {"-optf", FLAG_FILE},
        {"--options-file", FLAG_FILE},
        {"--compiler-options", FLAG_FOR_OTHERS},
        {"--linker-options", FLAG_FOR_OTHERS},
        {"--archive-options", FLAG_FOR_OTHERS},
        {"--ptxas-options", FLAG_FOR_OTHERS},
        {"--nvlink-options", FLAG_FOR_OTHERS},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct cs_str name = cs_str_from(names[i].name);
        if (!cs_str_starts(word, name)) {
            continue;
        }
        *has_value = word.len > name.len;
        if (!*has_value) {
            return names[i].flag;
        }
        if (word.ptr[name.len] == '=') {
            *value = (struct cs_str){word.ptr + name.len + 1, word.len - name.len - 1};
            return names[i].flag;
        }
    }
    *has_value = false;
    const bool pass =
        cs_str_starts(word, CS_STR("-X")) && cs_str_find(word, CS_STR("=")) == SIZE_MAX;
    return pass ? FLAG_FOR_OTHERS : FLAG_NONE;
}

enum code_kind { CODE_SASS, CODE_PTX, CODE_LTO };

static bool parse_code(struct cs_str text, struct cs_target *t, enum code_kind *kind) {
    if (cs_str_starts(text, CS_STR("lto_"))) {
        *kind = CODE_LTO;
        return cs_target_parse_number((struct cs_str){text.ptr + 4, text.len - 4}, t);
    }
    if (!cs_target_parse(text, t)) {
        return false;
    }
    *kind = t->is_ptx ? CODE_PTX : CODE_SASS;
    return true;
}

// One code of one flag.  `joint` is the index of the flag's entry for virt itself, where PTX of
// the same number joins.
static void read_code(struct cs_arch_reader *r, struct value v, struct cs_target virt,
                      struct cs_str code, size_t *joint) {
    struct cs_target real;
    enum code_kind kind;
    if (!parse_code(code, &real, &kind)) {
        cs_arch_reject(r, CS_ARCH_BAD_TOKEN, v.at, code, "not sm_NN, compute_NN or lto_NN");
        return;
    }
    if (!cs_arch_check(r, v.at, code, real)) {
        return;
    }
    if (!cs_arch_pair_ok(virt, real, r->options->toolkit_x10)) {
        char name[CS_TARGET_TEXT_BYTES], why[128];
        cs_target_text(virt, name);
        snprintf(why, sizeof why, "nvcc does not make it from %s%s", name,
                 kind == CODE_PTX ? ": the PTX kept must be the one compiled to" : "");
        cs_arch_reject(r, CS_ARCH_IMPOSSIBLE, v.at, code, why);
        return;
    }
    struct cs_arch_entry e = {.virt = virt, .at = v.at, .len = (uint32_t)v.text.len, .run = v.run};
    e.real = real;
    e.real.is_ptx = false;
    if (virt.suffix == 'f' && !real.suffix) {
        e.real.suffix = 'f';  // stored so: compute_100f to sm_103 gives an sm_103f image
    }
    e.sass = kind == CODE_SASS;
    e.ptx = kind == CODE_PTX;
    e.lto = kind == CODE_LTO;
    if (e.ptx && *joint != SIZE_MAX && !r->list->entries.ptr[*joint].ptx) {
        r->list->entries.ptr[*joint].ptx = true;
        return;
    }
    if (e.sass && cs_arch_entry_plain(&e) && *joint != SIZE_MAX &&
        !r->list->entries.ptr[*joint].sass) {
        r->list->entries.ptr[*joint].sass = true;
        return;
    }
    cs_arch_push(r, e);
    if (cs_arch_entry_plain(&e) && !e.lto && !r->out_of_memory) {
        *joint = r->list->entries.count - 1;
    }
}

static void read_codes(struct cs_arch_reader *r, struct value v, struct cs_target virt,
                       struct cs_str codes, size_t *joint) {
    for (size_t at = 0; at <= codes.len && !r->stop;) {
        size_t end = at;
        while (end < codes.len && codes.ptr[end] != ',') {
            end++;
        }
        read_code(r, v, virt, (struct cs_str){codes.ptr + at, end - at}, joint);
        at = end + 1;
    }
}

// compute_NN, the only thing that arch= may be.
static bool read_virtual(struct cs_arch_reader *r, struct value v, struct cs_str text,
                         struct cs_target *virt) {
    if (!cs_target_parse(text, virt)) {
        cs_arch_reject(r, CS_ARCH_BAD_TOKEN, v.at, text, "not compute_NN");
        return false;
    }
    if (!virt->is_ptx) {
        cs_arch_reject(r, CS_ARCH_IMPOSSIBLE, v.at, text,
                       "arch must be compute_NN where code is given");
        return false;
    }
    return cs_arch_check(r, v.at, text, *virt);
}

// One key=value of a -gencode at *at; false at a syntax error (rejected already).
static bool take_pair(struct cs_arch_reader *r, struct value v, size_t *at, struct cs_str *key,
                      struct cs_str *value) {
    const struct cs_str s = v.text;
    while (*at < s.len && s.ptr[*at] == ' ') {
        ++*at;
    }
    const size_t start = *at;
    while (*at < s.len && s.ptr[*at] != '=' && s.ptr[*at] != ',') {
        ++*at;
    }
    *key = (struct cs_str){s.ptr + start, *at - start};
    if (*at == s.len || s.ptr[*at] != '=') {
        cs_arch_reject(r, CS_ARCH_BAD_TOKEN, v.at, *key,
                       "not key=value; several codes need [a,b] around them");
        return false;
    }
    ++*at;
    const char open = *at < s.len ? s.ptr[*at] : '\0';
    const char close = open == '[' ? ']' : open == '"' ? '"' : ',';
    *at += close != ',';
    const size_t first = *at;
    while (*at < s.len && s.ptr[*at] != close) {
        ++*at;
    }
    *value = (struct cs_str){s.ptr + first, *at - first};
    if (close != ',') {
        if (*at == s.len || (*at + 1 < s.len && s.ptr[*at + 1] != ',')) {
            cs_arch_reject(r, CS_ARCH_BAD_TOKEN, v.at, s, "brackets or quotes are not closed");
            return false;
        }
        ++*at;
    }
    ++*at;
    return true;
}

static void read_gencode(struct cs_arch_reader *r, struct value v) {
    struct cs_str arch = {NULL, 0}, code = {NULL, 0};
    for (size_t at = 0; at < v.text.len || at == 0;) {
        struct cs_str key, value;
        if (!take_pair(r, v, &at, &key, &value)) {
            return;
        }
        const bool is_arch = cs_str_eq(key, CS_STR("arch"));
        if (!is_arch && !cs_str_eq(key, CS_STR("code"))) {
            cs_arch_reject(r, CS_ARCH_BAD_TOKEN, v.at, key, "-gencode knows arch= and code= alone");
            return;
        }
        struct cs_str *slot = is_arch ? &arch : &code;
        if (slot->ptr) {
            cs_arch_reject(r, CS_ARCH_CONTRADICTORY, v.at, v.text,
                           "the same key twice in one flag");
            return;
        }
        *slot = value;
    }
    if (!arch.ptr || !code.ptr) {
        cs_arch_reject(r, CS_ARCH_IMPOSSIBLE, v.at, v.text,
                       arch.ptr ? "-gencode without code=" : "-gencode without arch=");
        return;
    }
    struct cs_target virt;
    size_t joint = SIZE_MAX;
    if (read_virtual(r, v, arch, &virt)) {
        read_codes(r, v, virt, code, &joint);
    }
}

// -arch without -code.
static void read_arch_alone(struct cs_arch_reader *r, struct value v) {
    struct cs_target t;
    enum code_kind kind;
    if (!parse_code(v.text, &t, &kind)) {
        cs_arch_reject(r, CS_ARCH_BAD_TOKEN, v.at, v.text,
                       "not sm_NN, compute_NN, lto_NN, all, all-major or native");
        return;
    }
    if (!cs_arch_check(r, v.at, v.text, t)) {
        return;
    }
    struct cs_arch_entry e = cs_arch_entry_of(t, kind == CODE_SASS, kind != CODE_LTO);
    e.lto = kind == CODE_LTO;
    e.at = v.at;
    e.len = (uint32_t)v.text.len;
    e.run = v.run;
    cs_arch_push(r, e);
    const struct cs_target plain = {t.arch, 0, false};
    const uint16_t toolkit = r->options->toolkit_x10;
    if (t.suffix && kind != CODE_LTO && (toolkit == 0 || toolkit >= 130)) {
        struct cs_arch_entry extra = cs_arch_entry_of(plain, false, true);
        extra.at = e.at;
        extra.len = e.len;
        extra.run = e.run;
        cs_arch_push(r, extra);
        cs_archlist_issue(r->list, CS_ARCH_CHANGED, CS_ARCH_NOTE, v.at, v.text,
                          "nvcc 13 keeps PTX of compute_%u besides", t.arch);
    }
}

static void read_arch_and_codes(struct command *c) {
    struct cs_arch_reader *r = c->r;
    const struct value v = c->arch;
    if (!v.text.ptr) {
        if (c->codes.count) {
            cs_arch_reject(r, CS_ARCH_IMPOSSIBLE, c->codes.ptr[0].at, c->codes.ptr[0].text,
                           "-code without -arch");
        }
        return;
    }
    static const enum cs_arch_special specials[] = {CS_ARCH_ALL, CS_ARCH_ALL_MAJOR, CS_ARCH_NATIVE};
    for (size_t i = 0; i < 3; i++) {
        if (!cs_str_eq(v.text, cs_str_from(cs_arch_special_name(specials[i])))) {
            continue;
        }
        if (c->codes.count) {
            cs_arch_reject(r, CS_ARCH_IMPOSSIBLE, v.at, v.text, "it does not go with -code");
        } else {
            r->list->special = specials[i];
        }
        return;
    }
    if (c->codes.count == 0) {
        read_arch_alone(r, v);
        return;
    }
    struct cs_target virt;
    size_t joint = SIZE_MAX;
    if (!read_virtual(r, v, v.text, &virt)) {
        return;
    }
    for (size_t i = 0; i < c->codes.count && !r->stop; i++) {
        read_codes(r, c->codes.ptr[i], virt, c->codes.ptr[i].text, &joint);
    }
}

static void take_flag(struct command *c, enum flag flag, struct value v) {
    struct cs_archlist *list = c->r->list;
    switch (flag) {
        case FLAG_GENCODE:
            list->has_gencode_flag = true;
            read_gencode(c->r, v);
            break;
        case FLAG_ARCH:
            list->has_arch_flag = true;
            if (c->arch.text.ptr && !cs_str_eq(c->arch.text, v.text)) {
                cs_archlist_issue(list, CS_ARCH_CONTRADICTORY, CS_ARCH_WARNING, v.at, v.text,
                                  "a second -arch: nvcc forgets the first, %.*s",
                                  (int)(c->arch.text.len < 60 ? c->arch.text.len : 60),
                                  c->arch.text.ptr);
            }
            c->arch = v;
            break;
        case FLAG_CODE: {
            list->has_code_flag = true;
            struct value *code = cs_vec_push(&c->codes);
            if (!code) {
                c->r->out_of_memory = c->r->stop = true;
                return;
            }
            *code = v;
            break;
        }
        case FLAG_FILE:
            cs_archlist_issue(list, CS_ARCH_UNREAD, CS_ARCH_WARNING, v.at, v.text,
                              "flags in an options file are not seen here");
            break;
        case FLAG_NONE:
        case FLAG_FOR_OTHERS: break;
    }
}

void cs_arch_read_words(struct cs_arch_reader *r, const struct cs_str *words, const uint32_t *at,
                        uint32_t count) {
    struct command c = {.r = r};
    uint32_t run = 0;
    bool in_run = false;
    r->by_word = at == NULL;
    for (uint32_t i = 0; i < count && !r->stop; i++) {
        struct cs_str value = {NULL, 0};
        bool has_value = false;
        const enum flag flag = match(words[i], &value, &has_value);
        const bool ours = flag == FLAG_GENCODE || flag == FLAG_ARCH || flag == FLAG_CODE;
        if (in_run && !ours) {
            run++;
        }
        in_run = ours;
        if (flag == FLAG_NONE) {
            continue;
        }
        const uint32_t place = at ? at[i] : i;
        if (!has_value) {
            if (i + 1 == count) {
                if (flag != FLAG_FOR_OTHERS) {
                    cs_arch_reject(r, CS_ARCH_BAD_TOKEN, place, words[i], "its value is missing");
                }
                break;
            }
            value = words[++i];
        }
        take_flag(&c, flag, (struct value){value, place, run});
    }
    if (!r->stop) {
        read_arch_and_codes(&c);
    }
    const int32_t clash = r->stop || r->options->collect ? -1 : cs_arch_family_clash(r->list);
    if (clash >= 0) {
        const struct cs_arch_entry *e = &r->list->entries.ptr[clash];
        char name[CS_TARGET_TEXT_BYTES];
        cs_target_text(e->real, name);
        cs_arch_reject(r, CS_ARCH_IMPOSSIBLE, e->at, cs_str_from(name), CS_ARCH_CLASH_TEXT);
    }
    r->list->runs = run + (in_run ? 1 : 0);
    cs_vec_fini(&c.codes);
}

// One word of a shell command, from *at on, into out; *at ends behind it.
static enum cs_code take_word(struct cs_str s, size_t *at, struct cs_buf *out, struct cs_err *err) {
    const size_t start = *at;
    char quote = '\0';
    for (; *at < s.len; ++*at) {
        const char c = s.ptr[*at];
        if (quote == '\0' && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
            return CS_OK;
        }
        if (c == quote) {
            quote = '\0';
        } else if (quote == '\0' && (c == '"' || c == '\'')) {
            quote = c;
        } else if (c == '\\' && quote != '\'' && *at + 1 < s.len) {
            const char next = s.ptr[++*at];
            // Between double quotes a backslash is only taken away before these (POSIX 2.2.3).
            if (quote == '"' && next != '"' && next != '\\' && next != '$' && next != '`') {
                cs_buf_addc(out, c);
            }
            if (next != '\n') {
                cs_buf_addc(out, next);
            }
        } else {
            cs_buf_addc(out, c);
        }
    }
    if (quote) {
        return cs_fail_at(err, CS_FORMAT, start, "command line: a %s is not closed",
                          quote == '"' ? "double quote" : "single quote");
    }
    return CS_OK;
}

enum cs_code cs_words_split(struct cs_str command, struct cs_arena *arena, struct cs_words *out,
                            struct cs_err *err) {
    struct cs_buf word;
    cs_buf_init(&word, command.len + 1);
    enum cs_code code = CS_OK;
    for (size_t at = 0; code == CS_OK;) {
        while (at < command.len && (command.ptr[at] == ' ' || command.ptr[at] == '\t' ||
                                    command.ptr[at] == '\n' || command.ptr[at] == '\r')) {
            at++;
        }
        if (at >= command.len) {
            break;
        }
        const size_t start = at;
        cs_buf_clear(&word);
        code = take_word(command, &at, &word, err);
        if (code == CS_OK) {
            code = cs_buf_check(&word, err);
        }
        struct cs_str *slot = code == CS_OK ? cs_vec_push(&out->words) : NULL;
        uint32_t *place = slot ? cs_vec_push(&out->at) : NULL;
        if (place) {
            *place = (uint32_t)start;
            *slot = cs_arena_str(arena, cs_buf_str(&word));
        }
        if (code == CS_OK && (!place || !slot->ptr)) {
            code = cs_fail(err, CS_NOMEM, "out of memory");
        }
    }
    cs_buf_fini(&word);
    return code;
}

void cs_words_fini(struct cs_words *words) {
    cs_vec_fini(&words->words);
    cs_vec_fini(&words->at);
}
