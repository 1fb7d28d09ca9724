// Grouping leaves into rows.
//
// Each key column maps a leaf to a text id.  Columns depend on one level of the inventory only (a
// member, a container, an image, a kernel name, ...), so each is a table indexed by that level,
// filled on first use; a row is then found by hashing the tuple of ids.  One pass, linear in
// leaves.

#include "analysis/size.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/size_keys.h"
#include "base/mem.h"

// ---- rows by tuple of ids --------------------------------------------------------------------

struct grouping {
    const struct cs_inventory *inv;
    const struct cs_size_options *options;
    struct cs_size *out;
    struct cs_size_keys keys;
    CS_VEC(uint32_t) tuples;      // by_count ids a row
    uint32_t *slots;              // row + 1
    uint32_t slot_count;
    CS_VEC(struct tally) tallies; // parallel to rows
    uint64_t *seen;               // (row, kernel name) pairs, + 1
    size_t seen_slots, seen_used;
};

// What is needed to count each kernel and image once; leaves of one image are neighbours.
struct tally {
    uint32_t last_kernel, last_image;
};

static uint64_t tuple_hash(const uint32_t *ids, uint32_t n) {
    return cs_hash64(ids, n * sizeof *ids);
}

static bool grow_slots(struct grouping *g) {
    const uint32_t wanted = g->slot_count ? g->slot_count * 2 : 256;
    uint32_t *slots = cs_calloc(wanted, sizeof *slots);
    if (!slots) {
        return false;
    }
    const uint32_t n = g->options->by_count;
    for (uint32_t row = 0; row < g->out->rows.count; row++) {
        uint32_t at = (uint32_t)tuple_hash(&g->tuples.ptr[(size_t)row * n], n) & (wanted - 1);
        while (slots[at]) {
            at = (at + 1) & (wanted - 1);
        }
        slots[at] = row + 1;
    }
    cs_free(g->slots);
    g->slots = slots;
    g->slot_count = wanted;
    return true;
}

static bool add_row(struct grouping *g, const uint32_t *ids) {
    const uint32_t n = g->options->by_count;
    struct cs_size_row *row = cs_vec_push(&g->out->rows);
    struct tally *tally = row ? cs_vec_push(&g->tallies) : NULL;
    uint32_t *tuple = tally ? cs_vec_push_n(&g->tuples, n) : NULL;
    if (n && !tuple) {
        return false;
    }
    *tally = (struct tally){CS_NONE, CS_NONE};
    row->key = cs_arena_alloc(&g->out->arena, n * sizeof *row->key);
    if (!row->key) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        tuple[i] = ids[i];
    }
    return true;
}

// The row of a tuple; CS_NONE when out of memory.
static uint32_t find_row(struct grouping *g, const uint32_t *ids) {
    const uint32_t n = g->options->by_count;
    if (g->out->rows.count + 1 > (size_t)g->slot_count * 3 / 4 && !grow_slots(g)) {
        return CS_NONE;
    }
    uint32_t at = (uint32_t)tuple_hash(ids, n) & (g->slot_count - 1);
    while (g->slots[at]) {
        const uint32_t row = g->slots[at] - 1;
        if (memcmp(&g->tuples.ptr[(size_t)row * n], ids, n * sizeof *ids) == 0) {
            return row;
        }
        at = (at + 1) & (g->slot_count - 1);
    }
    if (!add_row(g, ids)) {
        return CS_NONE;
    }
    g->slots[at] = (uint32_t)g->out->rows.count;
    return g->slots[at] - 1;
}

// ---- distinct kernel names -------------------------------------------------------------------

static bool grow_seen(struct grouping *g) {
    const size_t wanted = g->seen_slots ? g->seen_slots * 2 : 1024;
    uint64_t *seen = cs_calloc(wanted, sizeof *seen);
    if (!seen) {
        return false;
    }
    for (size_t i = 0; i < g->seen_slots; i++) {
        if (g->seen[i]) {
            size_t at = (size_t)(g->seen[i] * 0x9E3779B97F4A7C15ull >> 20) & (wanted - 1);
            while (seen[at]) {
                at = (at + 1) & (wanted - 1);
            }
            seen[at] = g->seen[i];
        }
    }
    cs_free(g->seen);
    g->seen = seen;
    g->seen_slots = wanted;
    return true;
}

static bool note_name(struct grouping *g, uint32_t row, uint32_t name, bool *fresh) {
    if ((g->seen_used + 1) * 4 > g->seen_slots * 3 && !grow_seen(g)) {
        return false;
    }
    const uint64_t pair = ((uint64_t)row << 32 | name) + 1;
    size_t at = (size_t)(pair * 0x9E3779B97F4A7C15ull >> 20) & (g->seen_slots - 1);
    while (g->seen[at] && g->seen[at] != pair) {
        at = (at + 1) & (g->seen_slots - 1);
    }
    *fresh = g->seen[at] == 0;
    g->seen_used += *fresh;
    g->seen[at] = pair;
    return true;
}

// ---- adding ----------------------------------------------------------------------------------

static bool count_kernel(struct grouping *g, uint32_t row_id, const struct cs_leaf *leaf) {
    struct cs_size_row *row = &g->out->rows.ptr[row_id];
    const struct cs_kernel *k = &g->inv->kernels.ptr[leaf->kernel];
    g->tallies.ptr[row_id].last_kernel = leaf->kernel;
    if (!k->is_kernel) {
        return true;
    }
    bool fresh;
    if (!note_name(g, row_id, k->name, &fresh)) {
        return false;
    }
    row->kernels++;
    row->distinct_kernels += fresh;
    row->registers = k->registers > row->registers ? k->registers : row->registers;
    row->barriers = k->barriers > row->barriers ? k->barriers : row->barriers;
    row->shared_bytes = k->shared_bytes > row->shared_bytes ? k->shared_bytes : row->shared_bytes;
    row->local_bytes = k->local_bytes > row->local_bytes ? k->local_bytes : row->local_bytes;
    row->stack_bytes = k->stack_bytes > row->stack_bytes ? k->stack_bytes : row->stack_bytes;
    row->constant_bytes =
        k->constant_bytes > row->constant_bytes ? k->constant_bytes : row->constant_bytes;
    return true;
}

static bool add_leaf(struct grouping *g, const struct cs_leaf *leaf) {
    uint32_t ids[CS_SIZE_KEY_COUNT] = {0};
    for (uint32_t i = 0; i < g->options->by_count; i++) {
        ids[i] = cs_size_key_id(&g->keys, g->options->by[i], leaf);
        if (ids[i] == CS_INTERN_NONE) {
            return false;
        }
    }
    const uint32_t id = find_row(g, ids);
    if (id == CS_NONE) {
        return false;
    }
    struct cs_size_row *row = &g->out->rows.ptr[id];
    row->file_bytes += leaf->file_bytes;
    row->wheel_bytes += leaf->wheel_bytes;
    row->image_bytes += leaf->image_bytes;
    row->code_bytes += leaf->part == CS_PART_CODE ? leaf->image_bytes : 0;
    row->estimated = row->estimated || leaf->estimated;
    const bool walked = leaf->image != CS_NONE && leaf->part != CS_PART_ENTRY_HEADER;
    if (walked && g->tallies.ptr[id].last_image != leaf->image) {
        g->tallies.ptr[id].last_image = leaf->image;
        row->images++;
    }
    return leaf->kernel == CS_NONE || g->tallies.ptr[id].last_kernel == leaf->kernel ||
           count_kernel(g, id, leaf);
}

// ---- filters ---------------------------------------------------------------------------------

static bool is_device(const struct cs_leaf *leaf) {
    return leaf->container != CS_NONE || leaf->image != CS_NONE;
}

static bool wanted_arch(const struct grouping *g, const struct cs_leaf *leaf) {
    if (g->options->arch_count == 0) {
        return true;
    }
    if (leaf->image == CS_NONE) {
        return false;
    }
    char text[CS_TARGET_TEXT_BYTES];
    cs_target_text(g->inv->images.ptr[leaf->image].target, text);
    for (uint32_t i = 0; i < g->options->arch_count; i++) {
        if (cs_str_eq(g->options->archs[i], cs_str_from(text))) {
            return true;
        }
    }
    return false;
}

static bool wanted(struct grouping *g, const struct cs_leaf *leaf) {
    if (g->options->device_only && !is_device(leaf)) {
        return false;
    }
    if (!wanted_arch(g, leaf)) {
        return false;
    }
    return g->options->filter.len == 0 ||
           (leaf->kernel != CS_NONE &&
            cs_size_keys_match(&g->keys, g->inv->kernels.ptr[leaf->kernel].name,
                               g->options->filter));
}

// ---- totals ----------------------------------------------------------------------------------

static uint32_t count_distinct_kernels(const struct cs_inventory *inv) {
    uint8_t *seen = cs_calloc(inv->names.texts.count / 8 + 1, 1);
    uint32_t n = 0;
    for (size_t i = 0; seen && i < inv->kernels.count; i++) {
        const uint32_t name = inv->kernels.ptr[i].name;
        const uint8_t bit = (uint8_t)(1u << (name & 7));
        if (inv->kernels.ptr[i].is_kernel && !(seen[name >> 3] & bit)) {
            seen[name >> 3] |= bit;
            n++;
        }
    }
    cs_free(seen);
    return n;
}

void cs_size_totals_of(const struct cs_inventory *inv, struct cs_size_totals *out) {
    *out = (struct cs_size_totals){0};
    for (size_t i = 0; i < inv->inputs.count; i++) {
        const bool is_wheel = inv->inputs.ptr[i].kind == CS_FILE_WHEEL;
        out->has_wheel = out->has_wheel || is_wheel;
        out->wheel_bytes += is_wheel ? inv->inputs.ptr[i].bytes : 0;
    }
    for (size_t i = 0; i < inv->leaves.count; i++) {
        const struct cs_leaf *leaf = &inv->leaves.ptr[i];
        out->installed_bytes += leaf->file_bytes;
        if (is_device(leaf)) {
            out->device_file_bytes += leaf->file_bytes;
            out->device_wheel_bytes += leaf->wheel_bytes;
            out->image_bytes += leaf->image_bytes;
        }
    }
    for (size_t i = 0; i < inv->images.count; i++) {
        const struct cs_image *image = &inv->images.ptr[i];
        out->code_bytes += image->code_bytes;
        out->code_sections += image->code_sections;
        const bool ptx = image->kind == CS_FATBIN_PTX || image->kind == CS_FATBIN_RELPTX;
        out->ptx_bytes += ptx ? image->image_bytes : 0;
    }
    for (size_t i = 0; i < inv->kernels.count; i++) {
        out->kernels += inv->kernels.ptr[i].is_kernel;
    }
    for (size_t i = 0; i < inv->members.count; i++) {
        out->libraries += inv->members.ptr[i].image_count > 0;
    }
    out->distinct_kernels = count_distinct_kernels(inv);
    out->images = (uint32_t)inv->images.count;
    out->containers = (uint32_t)inv->containers.count;
}

// ---- the whole -------------------------------------------------------------------------------

uint64_t cs_size_metric_of(const struct cs_size_row *row, enum cs_size_metric metric) {
    switch (metric) {
    case CS_METRIC_WHEEL: return row->wheel_bytes;
    case CS_METRIC_FILE: return row->file_bytes;
    case CS_METRIC_IMAGE: return row->image_bytes;
    case CS_METRIC_CODE: return row->code_bytes;
    }
    return row->file_bytes;
}

struct order {
    enum cs_size_metric metric;
    uint32_t by_count;
};

static int row_cmp(const void *a, const void *b, void *ctx) {
    const struct cs_size_row *x = a, *y = b;
    const struct order *o = ctx;
    const uint64_t mx = cs_size_metric_of(x, o->metric), my = cs_size_metric_of(y, o->metric);
    if (mx != my) {
        return mx > my ? -1 : 1;
    }
    for (uint32_t i = 0; i < o->by_count; i++) {
        const int c = cs_str_cmp(x->key[i], y->key[i]);
        if (c != 0) {
            return c;
        }
    }
    return 0;
}

static bool name_rows(struct grouping *g) {
    const uint32_t n = g->options->by_count;
    for (size_t row = 0; row < g->out->rows.count; row++) {
        for (uint32_t i = 0; i < n; i++) {
            const struct cs_str text = cs_size_keys_text(
                &g->keys, g->options->by[i], g->tuples.ptr[row * n + i]);
            g->out->rows.ptr[row].key[i] = cs_arena_str(&g->out->arena, text);
            if (!g->out->rows.ptr[row].key[i].ptr) {
                return false;
            }
        }
    }
    return true;
}

unsigned cs_size_name_forms(const struct cs_size_options *options) {
    unsigned forms = options->filter.len ? CS_NAME_FULL | CS_NAME_SHORT : 0;
    for (uint32_t i = 0; i < options->by_count; i++) {
        const enum cs_size_key key = options->by[i];
        const bool of_names = key == CS_SIZE_NAMESPACE || key == CS_SIZE_TEMPLATE ||
                              key == CS_SIZE_GROUP || key == CS_SIZE_KERNEL;
        const bool full = key == CS_SIZE_KERNEL && options->names == CS_NAMES_FULL;
        forms |= (of_names ? CS_NAME_SHORT : 0) | (key == CS_SIZE_GROUP ? CS_NAME_GROUP : 0) |
                 (full ? CS_NAME_FULL : 0);
    }
    return forms | (options->unwrap ? CS_NAME_UNWRAPPED : 0);
}

uint8_t *cs_size_wanted_names(const struct cs_inventory *inv) {
    uint8_t *wanted = cs_calloc(inv->names.texts.count + 1, 1);
    for (size_t i = 0; wanted && i < inv->kernels.count; i++) {
        wanted[inv->kernels.ptr[i].name] = 1;
    }
    for (size_t i = 0; wanted && i < inv->funcs.count; i++) {
        wanted[inv->funcs.ptr[i].name] = 1;
    }
    return wanted;
}

enum cs_code cs_size_run(const struct cs_inventory *inv, const struct cs_size_options *options,
                         struct cs_size *out, struct cs_err *err) {
    *out = (struct cs_size){0};
    cs_size_totals_of(inv, &out->totals);
    struct grouping g = {.inv = inv, .options = options, .out = out};
    bool ok = cs_size_keys_init(&g.keys, inv, options);
    for (size_t i = 0; ok && i < inv->leaves.count; i++) {
        ok = !wanted(&g, &inv->leaves.ptr[i]) || add_leaf(&g, &inv->leaves.ptr[i]);
    }
    ok = ok && name_rows(&g);
    if (ok && out->rows.count) {
        struct order order = {options->metric, options->by_count};
        qsort_r(out->rows.ptr, out->rows.count, sizeof *out->rows.ptr, row_cmp, &order);
    }
    cs_size_keys_fini(&g.keys);
    cs_vec_fini(&g.tuples);
    cs_vec_fini(&g.tallies);
    cs_free(g.slots);
    cs_free(g.seen);
    return ok ? CS_OK : cs_fail(err, CS_NOMEM, "no memory to group %zu pieces", inv->leaves.count);
}

void cs_size_fini(struct cs_size *s) {
    cs_arena_fini(&s->arena);
    cs_vec_fini(&s->rows);
    *s = (struct cs_size){0};
}
