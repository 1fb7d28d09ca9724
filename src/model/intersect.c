// The default intersection: rules and explanation.
//
// Lists are small sets here: at most one slot for each row of the target table, so the work is
// linear in the texts and constant beyond.  10.1 and 11.0 are one chip under two names; where the
// lists differ in the name, the wanted list's is used, as that is what the toolkit accepts.
#include "model/intersect.h"

#include <stdio.h>

#include "model/archlist_impl.h"

const char *cs_intersect_rule_name(enum cs_intersect_rule rule) {
    switch (rule) {
        case CS_INTERSECT_UNCOVERED: return "uncovered";
        case CS_INTERSECT_SAME: return "same";
        case CS_INTERSECT_FAMILY: return "family";
        case CS_INTERSECT_MAJOR: return "same-major";
        case CS_INTERSECT_PTX: return "ptx";
    }
    return "uncovered";
}

void cs_intersection_init(struct cs_intersection *x) {
    *x = (struct cs_intersection){0};
    cs_archlist_init(&x->result);
}

void cs_intersection_fini(struct cs_intersection *x) {
    cs_vec_fini(&x->steps);
    cs_vec_fini(&x->unused);
    cs_vec_fini(&x->notes);
    cs_archlist_fini(&x->result);
}

// A list as a set over the target table.
struct set {
    bool has[CS_ARCH_ROWS_MAX];
    bool ptx[CS_ARCH_ROWS_MAX];
};

struct work {
    struct set source, target, result;
    bool used[CS_ARCH_ROWS_MAX];       // source rows that serve something
    bool used_sass[CS_ARCH_ROWS_MAX];  // result rows whose SASS is wanted, not only their PTX
    const struct cs_target_row *rows;
    uint32_t count;
    struct cs_intersection *x;
    bool out_of_memory;
};

static struct cs_target target_at(const struct work *w, uint32_t row) {
    return (struct cs_target){w->rows[row].arch, w->rows[row].suffix, false};
}

// The chip's present number: 101 was renamed 110.
static uint16_t chip(uint16_t arch) { return arch == 101 ? 110 : arch; }

static struct cs_device device_of(struct cs_target t) {
    return cs_device_canonical(cs_target_device(t));
}

static enum cs_code to_set(const struct cs_archlist *list, const char *name, struct set *out,
                           struct cs_err *err) {
    if (list->special != CS_ARCH_LISTED) {
        return cs_fail(err, CS_UNSUPPORTED,
                       "%s list: \"%s\" depends on the toolkit or the machine; expand it first",
                       name, cs_arch_special_name(list->special));
    }
    for (size_t i = 0; i < list->entries.count; i++) {
        const struct cs_arch_entry *e = &list->entries.ptr[i];
        if (!e->sass || e->lto || !cs_arch_entry_plain(e)) {
            char real[CS_TARGET_TEXT_BYTES], virt[CS_TARGET_TEXT_BYTES];
            cs_target_text(e->real, real);
            cs_target_text(e->virt, virt);
            return cs_fail(err, CS_UNSUPPORTED,
                           "%s list: %s from %s: intersection is of SASS targets, each compiled "
                           "from its own number, with or without +PTX",
                           name,
                           e->sass  ? real
                           : e->lto ? "LTO-IR"
                                    : "PTX alone",
                           virt);
        }
        const int32_t row = cs_arch_row_index(e->real);
        CS_ASSERT(row >= 0);
        out->has[row] = true;
        out->ptx[row] |= e->ptx;
    }
    return CS_OK;
}

static void note(struct work *w, const char *fmt, ...) CS_PRINTF(2, 3);
static void note(struct work *w, const char *fmt, ...) {
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    struct cs_str *slot = cs_vec_push(&w->x->notes);
    if (slot) {
        *slot = cs_arena_str(&w->x->result.arena, cs_str_from(text));
    }
    w->out_of_memory |= !slot || !slot->ptr;
}

// The source row of a chip with that suffix, -1 when there is none.
static int32_t source_row(const struct work *w, uint16_t arch, char suffix) {
    for (uint32_t i = 0; i < w->count; i++) {
        if (w->source.has[i] && chip(w->rows[i].arch) == chip(arch) &&
            w->rows[i].suffix == suffix) {
            return (int32_t)i;
        }
    }
    return -1;
}

// The highest source row that passes; rows ascend.
static int32_t highest(const struct work *w, struct cs_target t,
                       bool (*passes)(const struct work *, uint32_t, struct cs_target)) {
    int32_t best = -1;
    for (uint32_t i = 0; i < w->count; i++) {
        if (w->source.has[i] && passes(w, i, t) &&
            (best < 0 || chip(w->rows[i].arch) >= chip(w->rows[best].arch))) {
            best = (int32_t)i;
        }
    }
    return best;
}

static bool is_family_of(const struct work *w, uint32_t row, struct cs_target t) {
    return w->rows[row].suffix == 'f' &&
           cs_family_has(w->rows[row].arch, device_of(t)) == CS_TRI_YES;
}

static bool is_lower_of_major(const struct work *w, uint32_t row, struct cs_target t) {
    const uint16_t s = chip(w->rows[row].arch);
    const uint16_t number = chip(t.arch);
    return w->rows[row].suffix == 0 && s / 10 == number / 10 && s <= number &&
           cs_arch_is_tegra(s) == cs_arch_is_tegra(number);
}

static bool is_lower_ptx(const struct work *w, uint32_t row, struct cs_target t) {
    return w->rows[row].suffix == 0 && w->source.ptx[row] &&
           chip(w->rows[row].arch) <= chip(t.arch);
}

static struct cs_intersect_step *add_step(struct work *w, struct cs_target t, bool ptx) {
    struct cs_intersect_step *step = cs_vec_push(&w->x->steps);
    if (!step) {
        w->out_of_memory = true;
        return NULL;
    }
    step->wanted = t;
    step->wanted_ptx = ptx;
    return step;
}

// Puts one entry into the result.  It is spelled `as`: the source's spelling, or the wanted one
// where the source is plain and the wish has a suffix, or the name of the chip differs.
static void emit(struct work *w, struct cs_intersect_step *step, enum cs_intersect_rule rule,
                 int32_t source, struct cs_target as) {
    const int32_t row = cs_arch_row_index(as);
    CS_ASSERT(row >= 0 && source >= 0);
    const bool plain = w->rows[source].suffix == 0;
    w->used[source] = true;
    w->result.has[row] = true;
    w->used_sass[row] |= rule != CS_INTERSECT_PTX;
    w->result.ptx[row] |= w->source.ptx[source] || (step->wanted_ptx && plain);
    step->rule = rule;
    step->source = target_at(w, (uint32_t)source);
    step->result = as;
    if (step->wanted_ptx && !plain && !w->source.ptx[source]) {
        char s[CS_TARGET_TEXT_BYTES], t[CS_TARGET_TEXT_BYTES];
        cs_target_dotted(as, s);
        cs_target_dotted(step->wanted, t);
        note(w, "PTX asked for with %s is not added to %s: it would serve no other chip", t, s);
    }
}

// The wanted name of a chip, with the source's suffix.
static struct cs_target spell(const struct work *w, int32_t source, struct cs_target t) {
    const struct cs_target s = target_at(w, (uint32_t)source);
    const struct cs_target renamed = {t.arch, s.suffix, false};
    const bool other_name = chip(s.arch) == chip(t.arch) && s.arch != t.arch;
    return other_name && cs_arch_row_index(renamed) >= 0 ? renamed : s;
}

// Rule 1.  What the source has of the same number decides: the exact chip beats the family, the
// family beats plain; a wish with a suffix takes the source's plain entry for itself.
static bool serve_same(struct work *w, struct cs_intersect_step *step, struct cs_target t) {
    static const char *const orders[] = {"af-", "a-f", "f-"};
    const char *order = orders[t.suffix == 0 ? 0 : t.suffix == 'a' ? 1 : 2];
    for (; *order; order++) {
        const char suffix = *order == '-' ? '\0' : *order;
        const int32_t s = source_row(w, t.arch, suffix);
        if (s >= 0) {
            const bool keep_wish = suffix == 0 && t.suffix != 0;
            emit(w, step, CS_INTERSECT_SAME, s, keep_wish ? t : spell(w, s, t));
            return true;
        }
    }
    return false;
}

static bool serve_by(struct work *w, struct cs_intersect_step *step, struct cs_target t,
                     enum cs_intersect_rule rule,
                     bool (*passes)(const struct work *, uint32_t, struct cs_target)) {
    const int32_t s = highest(w, t, passes);
    if (s < 0) {
        return false;
    }
    emit(w, step, rule, s, spell(w, s, t));
    return true;
}

// X.Yf wanted, X.Ya supported: the chip itself is kept; the rest of the family may run PTX.
static bool serve_chip_of_family(struct work *w, struct cs_intersect_step *step,
                                 struct cs_target t) {
    const int32_t s = t.suffix == 'f' ? source_row(w, t.arch, 'a') : -1;
    if (s < 0) {
        return false;
    }
    struct cs_intersect_step rest = *step;
    const bool jit = serve_by(w, &rest, t, CS_INTERSECT_PTX, is_lower_ptx);
    emit(w, step, CS_INTERSECT_SAME, s, spell(w, s, t));
    step->partial = !jit;
    return true;
}

static void explain_miss(struct work *w, struct cs_intersect_step *step, struct cs_target t) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < w->count; i++) {
        if (!w->source.has[i]) {
            continue;
        }
        const struct cs_target s = target_at(w, i);
        const enum cs_fit fit = cs_target_fit(s, device_of(t), NULL);
        const uint32_t miss = cs_target_miss_distance(s, device_of(t), fit);
        if (!cs_fit_ok(fit) && miss < best) {
            best = miss;
            step->why_not = fit;
            step->nearest = s;
        }
    }
}

static void serve(struct work *w, struct cs_target t, bool ptx) {
    struct cs_intersect_step *step = add_step(w, t, ptx);
    if (!step) {
        return;
    }
    if (serve_same(w, step, t) || serve_by(w, step, t, CS_INTERSECT_FAMILY, is_family_of) ||
        serve_by(w, step, t, CS_INTERSECT_MAJOR, is_lower_of_major) ||
        serve_chip_of_family(w, step, t) || serve_by(w, step, t, CS_INTERSECT_PTX, is_lower_ptx)) {
        w->x->uncovered += step->partial;
        return;
    }
    explain_miss(w, step, t);
    w->x->uncovered++;
}

static void replace_result(struct work *w, struct cs_target was, struct cs_target is) {
    for (size_t i = 0; i < w->x->steps.count; i++) {
        struct cs_intersect_step *step = &w->x->steps.ptr[i];
        if (cs_target_eq(step->result, was)) {
            step->result = is;
        }
    }
}

// nvcc refuses SASS of N and of Nf on one command line.  Both serve the same chips; plain stays
// where its PTX is wanted, since that serves later ones too.
static void resolve_clashes(struct work *w) {
    for (uint32_t f = 0; f < w->count; f++) {
        const struct cs_target family = target_at(w, f);
        const int32_t plain = cs_arch_row_index((struct cs_target){family.arch, 0, false});
        if (family.suffix != 'f' || plain < 0 || !w->result.has[f] || !w->result.has[plain]) {
            continue;
        }
        const bool keep_plain = w->result.ptx[plain];
        const uint32_t kept = keep_plain ? (uint32_t)plain : f;
        const uint32_t gone = keep_plain ? f : (uint32_t)plain;
        char kept_text[CS_TARGET_TEXT_BYTES], gone_text[CS_TARGET_TEXT_BYTES];
        cs_target_dotted(target_at(w, kept), kept_text);
        cs_target_dotted(target_at(w, gone), gone_text);
        w->result.has[gone] = w->result.ptx[gone] = false;
        w->used_sass[kept] |= w->used_sass[gone];
        replace_result(w, target_at(w, gone), target_at(w, kept));
        note(w, "nvcc refuses %s beside %s: %s serves for both", gone_text, kept_text, kept_text);
    }
}

// PTX that the wanted list added to one target serves later ones too.
static void serve_by_added_ptx(struct work *w) {
    for (size_t i = 0; i < w->x->steps.count; i++) {
        struct cs_intersect_step *step = &w->x->steps.ptr[i];
        for (uint32_t k = w->count;
             k-- > 0 && (step->rule == CS_INTERSECT_UNCOVERED || step->partial);) {
            if (w->result.ptx[k] && w->rows[k].suffix == 0 &&
                chip(w->rows[k].arch) <= chip(step->wanted.arch)) {
                w->x->uncovered--;
                if (!step->partial) {
                    step->rule = CS_INTERSECT_PTX;
                    step->source = step->result = target_at(w, k);
                }
                step->partial = false;
            }
        }
    }
}

static void note_step(struct work *w, const struct cs_intersect_step *step) {
    char t[CS_TARGET_TEXT_BYTES], r[CS_TARGET_TEXT_BYTES], n[CS_TARGET_TEXT_BYTES];
    cs_target_dotted(step->wanted, t);
    cs_target_dotted(step->result, r);
    cs_target_dotted(step->nearest, n);
    if (step->partial) {
        note(w, "%s is covered on its own chip alone: %s serves no other of the family", t, r);
    }
    switch (step->rule) {
        case CS_INTERSECT_UNCOVERED:
            if (step->nearest.arch) {
                note(w, "%s is uncovered: %s %s", t, n, cs_fit_phrase(step->why_not));
            } else {
                note(w, "%s is uncovered: the source supports nothing", t);
            }
            break;
        case CS_INTERSECT_SAME:
            if (cs_target_cmp(step->wanted, step->result) != 0 && !step->partial) {
                note(w, "%s is built as %s", t, r);
            }
            break;
        case CS_INTERSECT_FAMILY: note(w, "%s is served by the family %s", t, r); break;
        case CS_INTERSECT_MAJOR: note(w, "%s is served by %s", t, r); break;
        case CS_INTERSECT_PTX:
            note(w, "%s is served by PTX of %s, compiled at first start", t, r);
            break;
    }
}

// What of the source is not built.
static void note_unused(struct work *w) {
    for (uint32_t i = 0; i < w->count; i++) {
        if (!w->source.has[i] || w->used[i]) {
            continue;
        }
        struct cs_intersect_unused *u = cs_vec_push(&w->x->unused);
        if (!u) {
            w->out_of_memory = true;
            return;
        }
        u->source = target_at(w, i);
        char s[CS_TARGET_TEXT_BYTES], by[CS_TARGET_TEXT_BYTES];
        cs_target_dotted(u->source, s);
        for (uint32_t k = 0; k < w->count; k++) {
            if (w->result.has[k] && chip(w->rows[k].arch) == chip(u->source.arch)) {
                u->instead = target_at(w, k);
            }
        }
        if (u->instead.arch) {
            cs_target_dotted(u->instead, by);
            note(w, "%s also serves what %s would", by, s);
        } else {
            note(w, "%s of the source serves no wanted target and is left out", s);
        }
    }
}

static void build_result(struct work *w) {
    w->x->result.notation = CS_NOTATION_TORCH;
    for (uint32_t i = 0; i < w->count; i++) {
        if (!w->result.has[i]) {
            continue;
        }
        const struct cs_target t = target_at(w, i);
        char text[CS_TARGET_TEXT_BYTES];
        cs_target_dotted(t, text);
        w->out_of_memory |=
            !cs_archlist_add(&w->x->result, cs_arch_entry_of(t, true, w->result.ptx[i]));
        if (!w->used_sass[i]) {
            note(w, "SASS of %s serves no wanted target, its PTX does", text);
        }
        if (w->result.ptx[i] && t.suffix) {
            note(w, "PTX of %s serves %s alone", text,
                 t.suffix == 'a' ? "that chip" : "its family");
        }
    }
}

enum cs_code cs_intersect(const struct cs_archlist *source, const struct cs_archlist *target,
                          struct cs_intersection *x, struct cs_err *err) {
    struct work w = {.x = x};
    w.rows = cs_target_table(&w.count);
    CS_TRY(to_set(source, "source", &w.source, err));
    CS_TRY(to_set(target, "target", &w.target, err));
    for (uint32_t i = 0; i < w.count; i++) {
        if (w.target.has[i]) {
            serve(&w, target_at(&w, i), w.target.ptx[i]);
        }
    }
    resolve_clashes(&w);
    serve_by_added_ptx(&w);
    for (size_t i = 0; i < x->steps.count; i++) {
        note_step(&w, &x->steps.ptr[i]);
    }
    note_unused(&w);
    build_result(&w);
    return w.out_of_memory ? cs_fail(err, CS_NOMEM, "out of memory") : CS_OK;
}
