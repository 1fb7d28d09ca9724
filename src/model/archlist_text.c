// Reading arch lists made of items: torch, CMake, FlashInfer, tvm-ffi, targets; and telling which.
//
// Grammar of each, from the tools' own code (docs/format/archlist.md):
//   torch 2.11.0 cpp_extension  items split at ';' and ' ', each a name or X.Y[a][+PTX], no empty
//   one torch's CMake               besides, X.Y(Z.W): SASS for X.Y compiled from compute_ZW CMake
//   items split at ';': N[a|f][-real|-virtual], or one word alone FlashInfer                  items
//   split at one ' '; a plain 9.0 and later gets a suffix tvm-ffi                     items split
//   at white space
#include <stdio.h>

#include "base/suggest.h"
#include "model/archlist_impl.h"

#define MAX_TEXT_BYTES (64 * (uint64_t)1024 * 1024)

// torch's names of families, as its release 2.11.0 expands them.
static const struct {
    const char *name;
    struct {
        uint16_t arch;
        bool ptx;
    } members[4];
} families[] = {
    {"Kepler+Tesla", {{37, false}}},
    {"Kepler", {{35, true}}},
    {"Maxwell+Tegra", {{53, false}}},
    {"Maxwell", {{50, false}, {52, true}}},
    {"Pascal", {{60, false}, {61, true}}},
    {"Volta+Tegra", {{72, false}}},
    {"Volta", {{70, true}}},
    {"Turing", {{75, true}}},
    {"Ampere+Tegra", {{87, false}}},
    {"Ampere", {{80, false}, {86, true}}},
    {"Ada", {{89, true}}},
    {"Hopper", {{90, true}}},
    {"Blackwell+Tegra", {{110, false}}},
    {"Blackwell", {{100, false}, {103, false}, {120, false}, {121, true}}},
};
enum { FAMILIES = sizeof families / sizeof families[0] };

enum { NEAR_MAX = 32 };  // longest word that a suggestion is looked for

static void spell(enum cs_notation notation, struct cs_target t, char out[CS_TARGET_TEXT_BYTES]) {
    switch (notation) {
        case CS_NOTATION_TORCH:
        case CS_NOTATION_FLASHINFER:
        case CS_NOTATION_TVM_FFI: cs_target_dotted(t, out); break;
        case CS_NOTATION_CMAKE: {
            char text[CS_TARGET_TEXT_BYTES];
            t.is_ptx = false;
            cs_target_text(t, text);
            snprintf(out, CS_TARGET_TEXT_BYTES, "%s", text + 3);
            break;
        }
        case CS_NOTATION_AUTO:
        case CS_NOTATION_NVCC:
        case CS_NOTATION_TARGETS: cs_target_text(t, out); break;
    }
}

// The number that a word starts with when dots and prefixes are left out: 9.0b, sm_90b -> 90.
static uint32_t leading_number(struct cs_str s) {
    uint32_t x = 0;
    size_t i = 0;
    while (i < s.len && (s.ptr[i] < '0' || s.ptr[i] > '9')) {
        i++;
    }
    for (; i < s.len && x < 100000; i++) {
        if (s.ptr[i] >= '0' && s.ptr[i] <= '9') {
            x = x * 10 + (uint32_t)(s.ptr[i] - '0');
        } else if (s.ptr[i] != '.') {
            break;
        }
    }
    return x;
}

// What a word with this mark probably ends in.
static const char *tail_for(enum cs_notation notation, struct cs_str token) {
    if (notation == CS_NOTATION_TORCH && memchr(token.ptr, '+', token.len)) {
        return "+PTX";
    }
    if (notation == CS_NOTATION_CMAKE && memchr(token.ptr, '-', token.len)) {
        return memchr(token.ptr, 'v', token.len) ? "-virtual" : "-real";
    }
    return "";
}

bool cs_arch_nearest(enum cs_notation notation, struct cs_str token, char *out, size_t out_size) {
    out[0] = '\0';
    if (token.len == 0 || token.len > NEAR_MAX || memchr(token.ptr, '=', token.len)) {
        return false;
    }
    const uint32_t number = leading_number(token);
    uint32_t best = UINT32_MAX, count;
    bool same_number = false;
    const struct cs_target_row *rows = cs_target_table(&count);
    for (uint32_t i = 0; i < 2 * count; i++) {
        const struct cs_target_row *row = &rows[i / 2];
        const bool ptx = i % 2 && (notation == CS_NOTATION_NVCC || notation == CS_NOTATION_TARGETS);
        char text[CS_TARGET_TEXT_BYTES];
        spell(notation, (struct cs_target){row->arch, row->suffix, ptx}, text);
        const char *tail = tail_for(notation, token);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s", tail);
        // A word with the same number is nearer than any other; of these, one of the same length.
        const struct cs_str candidate = cs_str_from(text);
        const uint32_t cost = (uint32_t)cs_edit_distance(token, candidate) * 4 +
                              (row->arch == number              ? 0
                               : row->arch / 10u == number / 10 ? 4
                                                                : 8) +
                              (candidate.len == token.len ? 0 : 1);
        if (cost < best) {
            best = cost;
            same_number = row->arch == number;
            snprintf(out, out_size, "%s", text);
        }
    }
    for (uint32_t i = 0; notation == CS_NOTATION_TORCH && i < FAMILIES; i++) {
        const uint32_t cost = (uint32_t)cs_edit_distance(token, cs_str_from(families[i].name)) * 4;
        if (cost < best) {
            best = cost;
            same_number = false;
            snprintf(out, out_size, "%s", families[i].name);
        }
    }
    // A word with nothing in common has no neighbour.
    return same_number || best <= 4 * (uint64_t)token.len;
}

void cs_arch_reject(struct cs_arch_reader *r, enum cs_arch_issue_id id, uint32_t at,
                    struct cs_str token, const char *why) {
    char near[CS_TARGET_TEXT_BYTES] = "";
    const bool recorded = r->list->issues.count < CS_ARCH_ISSUES_MAX || !r->options->collect;
    const bool has_near = id == CS_ARCH_BAD_TOKEN && recorded &&
                          cs_arch_nearest(r->list->notation, token, near, sizeof near) &&
                          !cs_str_eq(token, cs_str_from(near));
    const int shown = (int)(token.len < 60 ? token.len : 60);
    const char *more = token.len > 60 ? "..." : "";
    const char *unit = r->by_word ? "word" : "character";
    const struct cs_archlist *list = r->list;
    const uint32_t before = (uint32_t)list->issues.count;
    cs_archlist_issue(r->list, id, CS_ARCH_ERROR, at, token, "%s", why);
    if (list->issues.count > before && has_near) {
        list->issues.ptr[before].nearest = cs_arena_str(&r->list->arena, cs_str_from(near));
    }
    if (!r->options->collect) {
        r->stop = true;
        (void)cs_fail(r->err, CS_USAGE, "arch list: \"%.*s%s\" at %s %u: %s%s%s%s", shown,
                      token.ptr ? token.ptr : "", more, unit, at + 1, why,
                      has_near ? "; nearest is \"" : "", has_near ? near : "",
                      has_near ? "\"" : "");
    }
}

bool cs_arch_check(struct cs_arch_reader *r, uint32_t at, struct cs_str token, struct cs_target t) {
    const uint16_t toolkit = r->options->toolkit_x10;
    if (cs_arch_row_index(t) < 0) {
        char why[96];
        snprintf(why, sizeof why, "no nvcc from 11.0 to %u.%u has this target",
                 cs_toolkit_newest() / 10u, cs_toolkit_newest() % 10u);
        cs_arch_reject(r, CS_ARCH_BAD_TOKEN, at, token, why);
        return false;
    }
    if (toolkit && !cs_target_in_toolkit(t.arch, t.suffix, toolkit)) {
        char clause[96], why[160];
        cs_arch_toolkit_text(t, toolkit, clause, sizeof clause);
        snprintf(why, sizeof why, "CUDA %u.%u does not build it: %s", toolkit / 10u, toolkit % 10u,
                 clause);
        cs_arch_reject(r, CS_ARCH_NOT_IN_TOOLKIT, at, token, why);
        return r->options->collect;  // a real target all the same: keep it for what follows
    }
    return true;
}

void cs_arch_push(struct cs_arch_reader *r, struct cs_arch_entry e) {
    if (!cs_archlist_add(r->list, e)) {
        r->out_of_memory = true;
        r->stop = true;
    }
}

// What torch 2.11.0's own table holds (cpp_extension.py); no `f`, no 8.8, 10.1, 10.7.
static bool torch_knows(struct cs_target t) {
    static const uint16_t plain[] = {35, 37, 50, 52, 53, 60,  61,  62,  70,  72, 75,
                                     80, 86, 87, 89, 90, 100, 103, 110, 120, 121};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        if (plain[i] == t.arch) {
            return t.suffix == 0 || (t.suffix == 'a' && t.arch >= 90);
        }
    }
    return false;
}

static bool read_torch_family(struct cs_arch_reader *r, struct cs_str item, uint32_t at) {
    for (size_t i = 0; i < FAMILIES; i++) {
        if (!cs_str_eq(item, cs_str_from(families[i].name))) {
            continue;
        }
        for (size_t k = 0; k < 4 && families[i].members[k].arch; k++) {
            const struct cs_target t = {families[i].members[k].arch, 0, false};
            if (cs_arch_check(r, at, item, t)) {
                struct cs_arch_entry e = cs_arch_entry_of(t, true, families[i].members[k].ptx);
                e.at = at;
                e.len = (uint32_t)item.len;
                cs_arch_push(r, e);
            }
        }
        return true;
    }
    return false;
}

// X.Y(Z.W): what torch's CMake reads as SASS for X.Y compiled from compute_ZW.
static bool split_parens(struct cs_str base, struct cs_str *real, struct cs_target *virt) {
    const size_t open = cs_str_find(base, CS_STR("("));
    if (open == SIZE_MAX || !cs_str_ends(base, CS_STR(")"))) {
        return false;
    }
    *real = (struct cs_str){base.ptr, open};
    return cs_target_parse_dotted((struct cs_str){base.ptr + open + 1, base.len - open - 2}, virt);
}

static void read_torch_item(struct cs_arch_reader *r, struct cs_str item, uint32_t at) {
    if (read_torch_family(r, item, at)) {
        return;
    }
    const struct cs_str plus = CS_STR("+PTX");
    const bool ptx = cs_str_ends(item, plus);
    const struct cs_str base = {item.ptr, ptx ? item.len - plus.len : item.len};
    struct cs_str real_text = base;
    struct cs_target real, virt = {0};
    const bool parens = split_parens(base, &real_text, &virt);
    if (!cs_target_parse_dotted(real_text, &real)) {
        cs_arch_reject(r, CS_ARCH_BAD_TOKEN, at, item,
                       "not X.Y, X.Ya, X.Yf with or without +PTX, and no family name");
        return;
    }
    if (!cs_arch_check(r, at, item, real) || (parens && !cs_arch_check(r, at, item, virt))) {
        return;
    }
    struct cs_arch_entry e = cs_arch_entry_of(real, true, ptx);
    e.at = at;
    e.len = (uint32_t)item.len;
    if (parens) {
        e.virt = (struct cs_target){virt.arch, virt.suffix, true};
        if (!cs_arch_pair_ok(e.virt, e.real, r->options->toolkit_x10)) {
            cs_arch_reject(r, CS_ARCH_IMPOSSIBLE, at, item,
                           "nvcc does not compile the one into the other");
            return;
        }
        cs_archlist_issue(r->list, CS_ARCH_NOT_READ_BY, CS_ARCH_WARNING, at, item,
                          "torch's CMake reads this, its cpp_extension does not");
    } else if (!torch_knows(real)) {
        cs_archlist_issue(r->list, CS_ARCH_NOT_READ_BY, CS_ARCH_WARNING, at, item,
                          "torch 2.11.0 refuses this target");
    }
    cs_arch_push(r, e);
}

static void read_cmake_item(struct cs_arch_reader *r, struct cs_str item, uint32_t at) {
    const struct cs_str real_word = CS_STR("-real"), virtual_word = CS_STR("-virtual");
    const bool only_real = cs_str_ends(item, real_word);
    const bool only_virtual = cs_str_ends(item, virtual_word);
    struct cs_str base = item;
    base.len -= only_real ? real_word.len : only_virtual ? virtual_word.len : 0;
    struct cs_target t;
    if (!cs_target_parse_number(base, &t)) {
        cs_arch_reject(r, CS_ARCH_BAD_TOKEN, at, item,
                       memchr(item.ptr, ' ', item.len)
                           ? "CMake separates by ; alone"
                           : "not N, Na, Nf with or without -real or -virtual");
        return;
    }
    if (cs_arch_check(r, at, item, t)) {
        struct cs_arch_entry e = cs_arch_entry_of(t, !only_virtual, !only_real);
        e.at = at;
        e.len = (uint32_t)item.len;
        cs_arch_push(r, e);
    }
}

// FlashInfer turns a plain 9.x and later into `a`, 12.0 into `f`.
static void read_dotted_item(struct cs_arch_reader *r, struct cs_str item, uint32_t at) {
    struct cs_target t;
    if (!cs_target_parse_dotted(item, &t)) {
        cs_arch_reject(r, CS_ARCH_BAD_TOKEN, at, item, "not X.Y, X.Ya, X.Yf");
        return;
    }
    if (r->list->notation == CS_NOTATION_FLASHINFER && t.suffix == 0 && t.arch >= 90) {
        t.suffix = t.arch == 120 ? 'f' : 'a';
        char text[CS_TARGET_TEXT_BYTES];
        cs_target_dotted(t, text);
        cs_archlist_issue(r->list, CS_ARCH_CHANGED, CS_ARCH_NOTE, at, item,
                          "FlashInfer builds %s for it", text);
    }
    if (cs_arch_check(r, at, item, t)) {
        struct cs_arch_entry e = cs_arch_entry_of(t, true, false);
        e.at = at;
        e.len = (uint32_t)item.len;
        cs_arch_push(r, e);
    }
}

static void read_target_item(struct cs_arch_reader *r, struct cs_str item, uint32_t at) {
    struct cs_target t;
    if (!cs_target_parse(item, &t)) {
        cs_arch_reject(r, CS_ARCH_BAD_TOKEN, at, item, "not sm_NN or compute_NN");
        return;
    }
    if (cs_arch_check(r, at, item, t)) {
        struct cs_arch_entry e = cs_arch_entry_of(t, !t.is_ptx, t.is_ptx);
        e.at = at;
        e.len = (uint32_t)item.len;
        cs_arch_push(r, e);
    }
}

// Words that must stand alone.  CMake: any false value means "no flags".
static bool read_alone(struct cs_arch_reader *r, struct cs_str text) {
    static const char *const off[] = {"OFF", "NO", "FALSE", "N", "0", "IGNORE", "NOTFOUND"};
    const bool cmake = r->list->notation == CS_NOTATION_CMAKE;
    if ((cmake || r->list->notation == CS_NOTATION_TORCH) && cs_str_eq(text, CS_STR("native"))) {
        r->list->special = CS_ARCH_NATIVE;
        return true;
    }
    if (!cmake) {
        return false;
    }
    if (cs_str_eq(text, CS_STR("all")) || cs_str_eq(text, CS_STR("all-major"))) {
        r->list->special = text.len == 3 ? CS_ARCH_ALL : CS_ARCH_ALL_MAJOR;
        return true;
    }
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++) {
        bool same = text.len == strlen(off[i]);
        for (size_t k = 0; same && k < text.len; k++) {
            const char c = text.ptr[k];
            same = (c >= 'a' && c <= 'z' ? c - 32 : c) == off[i][k];
        }
        if (same) {
            r->list->special = CS_ARCH_OFF;
            return true;
        }
    }
    return false;
}

static bool is_separator(enum cs_notation notation, char c) {
    switch (notation) {
        case CS_NOTATION_TORCH: return c == ';' || c == ' ' || c == ',';
        case CS_NOTATION_CMAKE: return c == ';';
        case CS_NOTATION_FLASHINFER: return c == ' ';
        case CS_NOTATION_TVM_FFI: return c == ' ' || c == '\t' || c == '\n';
        case CS_NOTATION_TARGETS: return c == ',' || c == ';' || c == ' ';
        case CS_NOTATION_AUTO:
        case CS_NOTATION_NVCC: return false;
    }
    return false;
}

static void read_item(struct cs_arch_reader *r, struct cs_str item, uint32_t at) {
    switch (r->list->notation) {
        case CS_NOTATION_TORCH: read_torch_item(r, item, at); break;
        case CS_NOTATION_CMAKE: read_cmake_item(r, item, at); break;
        case CS_NOTATION_FLASHINFER:
        case CS_NOTATION_TVM_FFI: read_dotted_item(r, item, at); break;
        case CS_NOTATION_AUTO:
        case CS_NOTATION_NVCC:
        case CS_NOTATION_TARGETS: read_target_item(r, item, at); break;
    }
}

void cs_arch_read_items(struct cs_arch_reader *r, struct cs_str text) {
    if (read_alone(r, text)) {
        return;
    }
    bool comma_told = false;
    const enum cs_notation notation = r->list->notation;
    for (size_t at = 0; at <= text.len && !r->stop;) {
        size_t end = at;
        while (end < text.len && !is_separator(notation, text.ptr[end])) {
            end++;
        }
        const struct cs_str item = {text.ptr + at, end - at};
        if (item.len > 0) {
            read_item(r, item, (uint32_t)at);
        } else if (notation != CS_NOTATION_TVM_FFI) {  // the others refuse, or misread, it
            cs_arch_reject(
                r, CS_ARCH_EMPTY_ITEM, (uint32_t)at, item,
                text.len ? "an item is missing between two separators" : "the list is empty");
        }
        if (end < text.len && text.ptr[end] == ',' && notation == CS_NOTATION_TORCH &&
            !comma_told) {
            comma_told = true;
            cs_archlist_issue(r->list, CS_ARCH_NOT_READ_BY, CS_ARCH_WARNING, (uint32_t)end,
                              CS_STR(","), "torch itself separates by ; or space, not by comma");
        }
        at = end + 1;
    }
    if (!r->stop && r->list->entries.count == 0 && r->list->issues.count == 0) {
        cs_arch_reject(r, CS_ARCH_EMPTY_ITEM, 0, (struct cs_str){"", 0}, "the list is empty");
    }
}

// nvcc by its flags; targets by sm_ and compute_; CMake when no item has a dot and the first is a
// number or one of its words; else torch.
static enum cs_notation guess(struct cs_str text) {
    if (cs_str_find(text, CS_STR("-gencode")) != SIZE_MAX ||
        cs_str_find(text, CS_STR("-generate-code")) != SIZE_MAX ||
        cs_str_find(text, CS_STR("-arch")) != SIZE_MAX ||
        cs_str_find(text, CS_STR("-gpu-architecture")) != SIZE_MAX ||
        cs_str_find(text, CS_STR("-gpu-code")) != SIZE_MAX) {
        return CS_NOTATION_NVCC;
    }
    if (cs_str_starts(text, CS_STR("sm_")) || cs_str_starts(text, CS_STR("compute_"))) {
        return CS_NOTATION_TARGETS;
    }
    struct cs_archlist probe = {.notation = CS_NOTATION_CMAKE};
    const struct cs_archlist_options none = {0};
    struct cs_arch_reader r = {.list = &probe, .options = &none};
    if (!cs_str_eq(text, CS_STR("native")) && read_alone(&r, text)) {
        return CS_NOTATION_CMAKE;
    }
    const bool digit = text.len && text.ptr[0] >= '0' && text.ptr[0] <= '9';
    return digit && cs_str_find(text, CS_STR(".")) == SIZE_MAX ? CS_NOTATION_CMAKE
                                                               : CS_NOTATION_TORCH;
}

static enum cs_code finish(struct cs_arch_reader *r) {
    if (r->out_of_memory) {
        return cs_fail(r->err, CS_NOMEM, "out of memory");
    }
    return r->stop ? CS_USAGE : CS_OK;
}

enum cs_code cs_archlist_parse(struct cs_archlist *list, struct cs_str text,
                               const struct cs_archlist_options *options_given,
                               struct cs_err *err) {
    static const struct cs_archlist_options none;
    const struct cs_archlist_options *options = options_given ? options_given : &none;
    if (text.len > MAX_TEXT_BYTES) {
        return cs_fail(err, CS_LIMIT, "arch list of %llu bytes; at most 64 MiB are read",
                       (unsigned long long)text.len);
    }
    list->notation = options->notation == CS_NOTATION_AUTO ? guess(text) : options->notation;
    struct cs_arch_reader r = {.list = list, .options = options, .err = err};
    if (list->notation != CS_NOTATION_NVCC) {
        cs_arch_read_items(&r, text);
        return finish(&r);
    }
    struct cs_words words = {0};
    enum cs_code code = cs_words_split(text, &list->arena, &words, err);
    if (code == CS_OK) {
        cs_arch_read_words(&r, words.words.ptr, words.at.ptr, (uint32_t)words.words.count);
        code = finish(&r);
    }
    cs_words_fini(&words);
    return code;
}

enum cs_code cs_archlist_parse_words(struct cs_archlist *list, const struct cs_str *words,
                                     uint32_t count,
                                     const struct cs_archlist_options *options_given,
                                     struct cs_err *err) {
    static const struct cs_archlist_options none;
    list->notation = CS_NOTATION_NVCC;
    struct cs_arch_reader r = {
        .list = list, .options = options_given ? options_given : &none, .err = err};
    cs_arch_read_words(&r, words, NULL, count);
    return finish(&r);
}
