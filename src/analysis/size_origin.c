// Two sorts and two sweeps: by (library, name) to add up functions, by prefix to add up groups.

#include "analysis/size_origin.h"

#include <stdlib.h>

#include "base/mem.h"

// One FUNC symbol of one image.
struct symbol {
    uint32_t member;
    struct cs_str name, group;
    uint64_t symbol_bytes, code_bytes;
};

struct work {
    CS_VEC(struct symbol) symbols;
    uint8_t *repeated;  // by member; also set for members that the table leaves out
};

// A member whose images all equal an earlier member's (same sizes, same hashes) is a copy of it.
static bool same_library(const struct cs_inventory *inv, const struct cs_member *a,
                         const struct cs_member *b) {
    if (a->file_bytes != b->file_bytes || a->image_count != b->image_count) {
        return false;
    }
    for (uint32_t i = 0; i < a->image_count; i++) {
        const struct cs_image *x = &inv->images.ptr[a->first_image + i];
        const struct cs_image *y = &inv->images.ptr[b->first_image + i];
        if (x->image_bytes != y->image_bytes || x->offset != y->offset ||
            !cs_hash128_eq(x->hash, y->hash)) {
            return false;
        }
    }
    return true;
}

static bool is_linked(const struct cs_member *m) {
    return m->parent == CS_NONE && m->image_count > 0 &&
           (m->kind == CS_FILE_LIBRARY || m->kind == CS_FILE_EXECUTABLE);
}

// The table is about what gets loaded: beside a library, static archives and loose files do not
// count.
static void leave_out_parts(const struct cs_inventory *inv, struct work *w) {
    bool linked = false;
    for (size_t i = 0; i < inv->members.count && !linked; i++) {
        linked = is_linked(&inv->members.ptr[i]);
    }
    for (size_t i = 0; i < inv->members.count && linked; i++) {
        w->repeated[i] = !is_linked(&inv->members.ptr[i]);
    }
}

static void find_copies(const struct cs_inventory *inv, struct work *w, struct cs_origin *out) {
    for (size_t b = 0; b < inv->members.count; b++) {
        if (inv->members.ptr[b].image_count == 0 || w->repeated[b]) {
            continue;
        }
        for (size_t a = 0; a < b && !w->repeated[b]; a++) {
            w->repeated[b] = inv->members.ptr[a].image_count > 0 && !w->repeated[a] &&
                             same_library(inv, &inv->members.ptr[a], &inv->members.ptr[b]);
        }
        out->repeated_libraries += w->repeated[b];
    }
}

static bool add_symbol(struct work *w, uint32_t member, const struct cs_name *name,
                       uint64_t symbol_bytes, uint64_t code_bytes) {
    if (w->repeated[member]) {
        return true;
    }
    struct symbol *s = cs_vec_push(&w->symbols);
    if (s) {
        *s = (struct symbol){member, name->full, name->group, symbol_bytes, code_bytes};
    }
    return s != NULL;
}

static bool collect(const struct cs_inventory *inv, const struct cs_name_table *names,
                    struct work *w) {
    for (size_t i = 0; i < inv->kernels.count; i++) {
        const struct cs_kernel *k = &inv->kernels.ptr[i];
        if (!add_symbol(w, inv->images.ptr[k->image].member, &names->by_id[k->name],
                        k->symbol_bytes, k->code_bytes)) {
            return false;
        }
    }
    for (size_t i = 0; i < inv->funcs.count; i++) {
        const struct cs_func *f = &inv->funcs.ptr[i];
        if (!add_symbol(w, inv->images.ptr[f->image].member, &names->by_id[f->name],
                        f->symbol_bytes, 0)) {
            return false;
        }
    }
    return true;
}

static int by_name(const void *a, const void *b) {
    const struct symbol *x = a, *y = b;
    const int c = cs_str_cmp(x->group, y->group);
    if (c != 0) {
        return c;
    }
    if (x->member != y->member) {
        return x->member < y->member ? -1 : 1;
    }
    return cs_str_cmp(x->name, y->name);
}

static bool add_up(struct work *w, struct cs_origin *out) {
    const struct symbol *last = NULL;
    for (size_t i = 0; i < w->symbols.count; i++) {
        const struct symbol *s = &w->symbols.ptr[i];
        if (!last || !cs_str_eq(last->group, s->group)) {
            struct cs_origin_group *g = cs_vec_push(&out->groups);
            if (!g) {
                return false;
            }
            g->prefix = s->group;
        }
        struct cs_origin_group *group = &out->groups.ptr[out->groups.count - 1];
        if (!last || by_name(last, s) != 0) {
            struct cs_origin_function *f = cs_vec_push(&out->functions);
            if (!f) {
                return false;
            }
            *f = (struct cs_origin_function){s->member, s->name, 0};
            group->count++;
        }
        out->functions.ptr[out->functions.count - 1].symbol_bytes += s->symbol_bytes;
        group->symbol_bytes += s->symbol_bytes;
        group->code_bytes += s->code_bytes;
        out->symbol_bytes += s->symbol_bytes;
        out->code_bytes += s->code_bytes;
        last = s;
    }
    return true;
}

static int group_cmp(const void *a, const void *b) {
    const struct cs_origin_group *x = a, *y = b;
    if (x->symbol_bytes != y->symbol_bytes) {
        return x->symbol_bytes > y->symbol_bytes ? -1 : 1;
    }
    return cs_str_cmp(x->prefix, y->prefix);
}

static int function_cmp(const void *a, const void *b) {
    const struct cs_origin_function *x = a, *y = b;
    if (x->symbol_bytes != y->symbol_bytes) {
        return x->symbol_bytes > y->symbol_bytes ? -1 : 1;
    }
    const int c = cs_str_cmp(x->name, y->name);
    return c != 0 ? c : x->member < y->member ? -1 : x->member > y->member;
}

static void sort(void *ptr, size_t count, size_t size, int (*cmp)(const void *, const void *)) {
    if (count > 1) {
        qsort(ptr, count, size, cmp);
    }
}

enum cs_code cs_origin_run(const struct cs_inventory *inv, const struct cs_name_table *names,
                           struct cs_origin *out, struct cs_err *err) {
    *out = (struct cs_origin){0};
    struct work w = {.repeated = cs_calloc(inv->members.count + 1, 1)};
    bool ok = w.repeated != NULL;
    if (ok) {
        leave_out_parts(inv, &w);
        find_copies(inv, &w, out);
        ok = collect(inv, names, &w);
    }
    if (ok) {
        sort(w.symbols.ptr, w.symbols.count, sizeof *w.symbols.ptr, by_name);
        ok = add_up(&w, out);
        sort(out->groups.ptr, out->groups.count, sizeof *out->groups.ptr, group_cmp);
        sort(out->functions.ptr, out->functions.count, sizeof *out->functions.ptr, function_cmp);
    }
    cs_vec_fini(&w.symbols);
    cs_free(w.repeated);
    return ok ? CS_OK : cs_fail(err, CS_NOMEM, "no memory for the size table");
}

void cs_origin_fini(struct cs_origin *o) {
    cs_vec_fini(&o->functions);
    cs_vec_fini(&o->groups);
    *o = (struct cs_origin){0};
}
