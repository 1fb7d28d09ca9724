// Coverage: units of judgement from an inventory, and the driver's pick for each of them.
//
// docs/format/selection.md has the rules; cs_select() applies them.  A promise such as "driver 550"
// is judged for each device with the first driver that knows the device, where that is newer: no
// older one ever meets it.
#include "analysis/check_coverage.h"

#include <stdlib.h>

#include "base/mem.h"

void cs_coverage_fini(struct cs_coverage *c) {
    cs_vec_fini(&c->units);
    cs_vec_fini(&c->libraries);
    cs_vec_fini(&c->names);
    cs_vec_fini(&c->rows);
    cs_free(c->picks);
    cs_free(c->cells);
    *c = (struct cs_coverage){0};
}

// Code version 1.8 is ABI 8, which CUDA 13 was the first to write; 1.7 can be any older toolkit.
struct cs_select_image cs_cover_image(const struct cs_image *image) {
    const bool abi8 = image->kind == CS_FATBIN_ELF && image->code_minor >= 8;
    return (struct cs_select_image){
        .kind = image->kind,
        .target = image->target,
        .codec = image->codec,
        .bit24 = (image->flags & CS_FATBIN_F_BIT24) != 0,
        .concat = image->part != CS_NONE,
        .ptx_isa_x10 = (uint16_t)image->ptx_isa_x10,
        .toolkit_x10 = image->toolkit_x10 ? (uint16_t)image->toolkit_x10
                       : abi8             ? 130
                                          : 0,
    };
}

// ---- units -----------------------------------------------------------------------------------

struct maker {
    struct cs_coverage *c;
    uint32_t *stamp;  // by name: number of the last unit that had it, + 1
    bool failed;
};

static uint32_t library_of(struct maker *m, uint32_t member) {
    struct cs_coverage *c = m->c;
    const struct cs_inventory *inv = c->inv;
    const uint32_t parent = inv->members.ptr[member].parent;
    const uint32_t owner = parent == CS_NONE ? member : parent;
    if (c->libraries.count == 0 || c->libraries.ptr[c->libraries.count - 1].member != owner) {
        struct cs_cover_library *l = cs_vec_push(&c->libraries);
        if (!l) {
            m->failed = true;
            return 0;
        }
        *l = (struct cs_cover_library){
            .path = inv->members.ptr[owner].path,
            .input = inv->members.ptr[owner].input,
            .member = owner,
            .first_unit = (uint32_t)c->units.count,
        };
    }
    return (uint32_t)c->libraries.count - 1;
}

static bool is_loadable(const struct cs_image *image) {
    return image->kind == CS_FATBIN_ELF || image->kind == CS_FATBIN_PTX ||
           image->kind == CS_FATBIN_MERCURY;
}

// Adds the kernels of an image that the unit does not have yet.
static void add_names(struct maker *m, const struct cs_image *image, uint32_t mark) {
    const struct cs_inventory *inv = m->c->inv;
    for (uint32_t i = 0; i < image->kernel_count; i++) {
        const struct cs_kernel *k = &inv->kernels.ptr[image->first_kernel + i];
        if (!k->is_kernel || m->stamp[k->name] == mark) {
            continue;
        }
        m->stamp[k->name] = mark;
        uint32_t *slot = cs_vec_push(&m->c->names);
        if (slot) {
            *slot = k->name;
        }
        m->failed = m->failed || !slot;
    }
}

static void add_unit(struct maker *m, uint32_t container, uint32_t first_image, uint32_t count) {
    struct cs_coverage *c = m->c;
    const struct cs_inventory *inv = c->inv;
    struct cs_cover_unit unit = {.container = container,
                                 .first_image = first_image,
                                 .image_count = count,
                                 .first_name = (uint32_t)c->names.count};
    bool opaque = false;
    for (uint32_t i = 0; i < count; i++) {
        const struct cs_image *image = &inv->images.ptr[first_image + i];
        if (is_loadable(image)) {
            add_names(m, image, (uint32_t)c->units.count + 1);
            opaque = opaque || !image->read;
        }
    }
    unit.name_count = (uint32_t)c->names.count - unit.first_name;
    c->opaque_units += opaque;
    if (unit.name_count == 0 || m->failed) {
        return;
    }
    unit.library = library_of(m, inv->images.ptr[first_image].member);
    struct cs_cover_unit *slot = m->failed ? NULL : cs_vec_push(&c->units);
    if (!slot) {
        m->failed = true;
        return;
    }
    *slot = unit;
    struct cs_cover_library *l = &c->libraries.ptr[unit.library];
    l->unit_count++;
    l->kernels += unit.name_count;
    c->kernels += unit.name_count;
}

// The runtime loads no relocatable code: it was, or is still to be, linked.
static bool is_relocatable(const struct cs_inventory *inv, uint32_t first_image, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (inv->images.ptr[first_image + i].relocatable) {
            return true;
        }
    }
    return false;
}

// In the order of images, so that the units of a library follow each other.
static void add_units(struct maker *m) {
    const struct cs_inventory *inv = m->c->inv;
    for (uint32_t i = 0; i < inv->images.count && !m->failed;) {
        const uint32_t container = inv->images.ptr[i].container;
        const uint32_t count =
            container == CS_NONE ? 1 : inv->containers.ptr[container].image_count;
        const bool marked = container != CS_NONE && inv->containers.ptr[container].relocatable;
        if (marked || is_relocatable(inv, i, count)) {
            m->c->relocatable_containers++;
        } else {
            add_unit(m, container, i, count);
        }
        i += count > 0 ? count : 1;
    }
}

// ---- signatures ------------------------------------------------------------------------------

static int target_cmp(const void *a, const void *b) {
    return cs_target_cmp(*(const struct cs_target *)a, *(const struct cs_target *)b);
}

// A text such as "sm_80 sm_90 compute_90 ": the set of targets that drivers may load.
static bool signature_text(const struct cs_inventory *inv, const struct cs_cover_unit *u,
                           struct cs_buf *text) {
    struct cs_target *targets = cs_calloc(u->image_count, sizeof *targets);
    if (!targets) {
        return false;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < u->image_count; i++) {
        const struct cs_image *image = &inv->images.ptr[u->first_image + i];
        if (is_loadable(image)) {
            targets[n++] = image->target;
        }
    }
    qsort(targets, n, sizeof *targets, target_cmp);
    cs_buf_clear(text);
    for (uint32_t i = 0; i < n; i++) {
        char word[CS_TARGET_TEXT_BYTES];
        if (i == 0 || !cs_target_eq(targets[i], targets[i - 1])) {
            cs_target_text(targets[i], word);
            cs_buf_printf(text, "%s ", word);
        }
    }
    cs_free(targets);
    return text->failed == CS_OK;
}

static bool sign_units(struct cs_coverage *c) {
    struct cs_intern seen;
    struct cs_buf text;
    cs_intern_init(&seen);
    cs_buf_init(&text, SIZE_MAX / 2);
    bool ok = true;
    for (size_t i = 0; ok && i < c->units.count; i++) {
        ok = signature_text(c->inv, &c->units.ptr[i], &text);
        c->units.ptr[i].signature = ok ? cs_intern_add(&seen, cs_buf_str(&text)) : CS_INTERN_NONE;
        ok = ok && c->units.ptr[i].signature != CS_INTERN_NONE;
    }
    cs_buf_fini(&text);
    cs_intern_fini(&seen);
    return ok;
}

// ---- picks -----------------------------------------------------------------------------------

static bool add_row(struct cs_coverage *c, struct cs_device device, struct cs_driver promised) {
    struct cs_cover_row *row = cs_vec_push(&c->rows);
    if (!row) {
        return false;
    }
    *row = (struct cs_cover_row){.device = cs_device_canonical(device), .promised = promised};
    row->driver = cs_driver_known(promised)
                      ? cs_driver_max(promised, cs_device_driver(row->device))
                      : promised;
    return true;
}

// Distinct kernels of one image.  One that is opaque by intent may hold all of its unit; one that
// is damaged does not load.
static uint32_t held(const struct cs_coverage *c, const struct cs_cover_unit *u,
                     const struct cs_image *im, uint32_t *stamp, uint32_t mark) {
    if (!im->read) {
        return im->obfuscated ? u->name_count : 0;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < im->kernel_count; i++) {
        const struct cs_kernel *k = &c->inv->kernels.ptr[im->first_kernel + i];
        if (k->is_kernel && stamp[k->name] != mark) {
            stamp[k->name] = mark;
            n++;
        }
    }
    return n;
}

static void pick(const struct cs_cover_unit *u, const struct cs_select_image *images,
                 const uint32_t *kernels, const struct cs_cover_row *row,
                 struct cs_cover_pick *out) {
    const struct cs_select_env env = {.driver = row->driver};
    const struct cs_selection any = cs_select(images, u->image_count, row->device, NULL);
    const struct cs_selection s = cs_driver_known(row->driver)
                                      ? cs_select(images, u->image_count, row->device, &env)
                                      : any;
    const bool picked = s.index != CS_SELECT_NOTHING;
    const bool runs = picked && s.outcome != CS_OUTCOME_NONE;
    const bool any_picked = any.index != CS_SELECT_NOTHING;
    *out = (struct cs_cover_pick){
        .image = picked ? u->first_image + s.index : CS_NONE,
        .free_image = any_picked ? u->first_image + any.index : CS_NONE,
        .covered = runs ? kernels[s.index] : 0,
        .free_covered = any_picked ? kernels[any.index] : 0,
        .outcome = (uint8_t)s.outcome,
        .free_outcome = (uint8_t)any.outcome,
        .reason = (uint8_t)s.reason,
        .miss_fit = (uint8_t)any.miss_fit,
        .miss = any.miss == CS_SELECT_NOTHING ? CS_NONE : u->first_image + any.miss,
        .certain = s.certain,
        .floor = any.floor,
        .floor_cause = (uint8_t)any.floor_cause,
        .floor_certain = any.floor_certain,
    };
}

static void count_outcome(struct cs_cover_counts *n, enum cs_outcome outcome, uint64_t kernels) {
    switch (outcome) {
    case CS_OUTCOME_NATIVE: n->native += kernels; break;
    case CS_OUTCOME_SAME_MAJOR: n->same_major += kernels; break;
    case CS_OUTCOME_JIT: n->jit += kernels; break;
    case CS_OUTCOME_NONE: n->none += kernels; break;
    }
}

static void count_pick(struct cs_cover_cell *cell, struct cs_cover_row *row,
                       const struct cs_cover_unit *u, const struct cs_cover_pick *p) {
    const uint32_t none = u->name_count - p->covered;
    enum cs_outcome worst = (enum cs_outcome)p->outcome;
    count_outcome(&cell->kernels, worst, p->covered);
    count_outcome(&row->kernels, worst, p->covered);
    cell->kernels.none += none;
    row->kernels.none += none;
    if (p->free_covered > p->covered) {
        cell->driver_fails += p->free_covered - p->covered;
    }
    worst = none ? CS_OUTCOME_NONE : worst;
    cell->worst = worst < cell->worst ? worst : cell->worst;
}

static void route_cells(struct cs_coverage *c, const struct cs_reach *reach) {
    for (size_t l = 0; l < c->libraries.count; l++) {
        for (size_t r = 0; r < c->rows.count; r++) {
            struct cs_cover_cell *cell = &c->cells[l * c->rows.count + r];
            cell->loads = cs_reach_has(reach, c->libraries.ptr[l].path, c->rows.ptr[r].device);
            cell->worst = CS_OUTCOME_NATIVE;
        }
    }
}

static enum cs_code pick_all(struct cs_coverage *c, uint32_t *stamp, struct cs_err *err) {
    CS_VEC(struct cs_select_image) images = {0};
    CS_VEC(uint32_t) kernels = {0};
    uint32_t mark = (uint32_t)c->units.count + 1;
    bool ok = true;
    for (size_t i = 0; ok && i < c->units.count; i++) {
        const struct cs_cover_unit *u = &c->units.ptr[i];
        images.count = kernels.count = 0;
        ok = cs_vec_push_n(&images, u->image_count) && cs_vec_push_n(&kernels, u->image_count);
        for (uint32_t k = 0; ok && k < u->image_count; k++) {
            const struct cs_image *image = &c->inv->images.ptr[u->first_image + k];
            images.ptr[k] = cs_cover_image(image);
            kernels.ptr[k] = held(c, u, image, stamp, ++mark);
        }
        for (size_t r = 0; ok && r < c->rows.count; r++) {
            struct cs_cover_cell *cell = &c->cells[u->library * c->rows.count + r];
            struct cs_cover_pick *p = &c->picks[i * c->rows.count + r];
            pick(u, images.ptr, kernels.ptr, &c->rows.ptr[r], p);
            if (cell->loads) {
                count_pick(cell, &c->rows.ptr[r], u, p);
            }
        }
    }
    cs_vec_fini(&images);
    cs_vec_fini(&kernels);
    return ok ? CS_OK : cs_fail(err, CS_NOMEM, "no memory for coverage");
}

static bool add_rows(struct cs_coverage *c, const struct cs_coverage_options *o) {
    static const struct cs_driver newest;
    bool ok = true;
    for (uint32_t k = 0; ok && k < o->driver_count + (o->driver_count == 0); k++) {
        for (uint32_t i = 0; ok && i < o->device_count; i++) {
            ok = add_row(c, o->devices[i], o->driver_count ? o->drivers[k] : newest);
        }
    }
    return ok;
}

enum cs_code cs_coverage_make(const struct cs_inventory *inv, const struct cs_coverage_options *o,
                              struct cs_coverage *out, struct cs_err *err) {
    *out = (struct cs_coverage){.inv = inv};
    uint32_t *stamp = cs_calloc(inv->names.texts.count + 1, sizeof *stamp);
    struct maker m = {.c = out, .stamp = stamp, .failed = !stamp};
    enum cs_code code = CS_NOMEM;
    if (!m.failed) {
        add_units(&m);
    }
    if (!m.failed && sign_units(out) && add_rows(out, o)) {
        out->picks = cs_calloc(out->units.count * out->rows.count + 1, sizeof *out->picks);
        out->cells = cs_calloc(out->libraries.count * out->rows.count + 1, sizeof *out->cells);
        if (out->picks && out->cells) {
            route_cells(out, o->reach);
            code = pick_all(out, stamp, err);
        }
    }
    cs_free(stamp);
    if (code != CS_OK) {
        cs_coverage_fini(out);
        return cs_fail(err, code, "no memory for coverage");
    }
    return CS_OK;
}

void cs_cover_missing(const struct cs_coverage *c, uint32_t unit, uint32_t image, uint32_t *stamp,
                      cs_cover_name_fn *fn, void *ctx) {
    const struct cs_cover_unit *u = &c->units.ptr[unit];
    const struct cs_image *im = image == CS_NONE ? NULL : &c->inv->images.ptr[image];
    if (im && !im->read && im->obfuscated) {
        return;
    }
    for (uint32_t i = 0; im && im->read && i < im->kernel_count; i++) {
        stamp[c->inv->kernels.ptr[im->first_kernel + i].name] = unit + 1;
    }
    for (uint32_t i = 0; i < u->name_count; i++) {
        const uint32_t name = c->names.ptr[u->first_name + i];
        if (stamp[name] != unit + 1) {
            fn(ctx, name);
        }
    }
    for (uint32_t i = 0; im && im->read && i < im->kernel_count; i++) {
        stamp[c->inv->kernels.ptr[im->first_kernel + i].name] = 0;
    }
}
