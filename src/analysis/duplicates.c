// Kernels sorted by (target, code hash); equal neighbours are copies.

#include "analysis/duplicates.h"

#include <stdlib.h>

#include "base/mem.h"

static int by_code(const void *a, const void *b, void *ctx) {
    const struct cs_inventory *inv = ctx;
    const struct cs_kernel *x = &inv->kernels.ptr[*(const uint32_t *)a];
    const struct cs_kernel *y = &inv->kernels.ptr[*(const uint32_t *)b];
    const int c = cs_target_cmp(inv->images.ptr[x->image].target, inv->images.ptr[y->image].target);
    if (c != 0) {
        return c;
    }
    if (x->code_hash.hi != y->code_hash.hi) {
        return x->code_hash.hi < y->code_hash.hi ? -1 : 1;
    }
    if (x->code_hash.lo != y->code_hash.lo) {
        return x->code_hash.lo < y->code_hash.lo ? -1 : 1;
    }
    if (x->name != y->name) {
        return x->name < y->name ? -1 : 1;
    }
    return x->image < y->image ? -1 : x->image > y->image;
}

static bool same_code(const struct cs_inventory *inv, uint32_t a, uint32_t b) {
    const struct cs_kernel *x = &inv->kernels.ptr[a], *y = &inv->kernels.ptr[b];
    return cs_hash128_eq(x->code_hash, y->code_hash) && x->code_bytes == y->code_bytes &&
           cs_target_cmp(inv->images.ptr[x->image].target, inv->images.ptr[y->image].target) == 0;
}

static bool add_group(const struct cs_inventory *inv, const uint32_t *order, size_t n,
                      struct cs_duplicates *out) {
    struct cs_duplicate *d = cs_vec_push(&out->groups);
    if (!d) {
        return false;
    }
    const struct cs_kernel *first = &inv->kernels.ptr[order[0]];
    *d = (struct cs_duplicate){.name = first->name,
                               .target = inv->images.ptr[first->image].target,
                               .copies = (uint32_t)n,
                               .code_bytes = first->code_bytes,
                               .extra_bytes = first->code_bytes * (n - 1)};
    uint32_t last_name = CS_NONE, last_container = CS_NONE - 1;
    for (size_t i = 0; i < n; i++) {
        const struct cs_kernel *k = &inv->kernels.ptr[order[i]];
        const uint32_t container = inv->images.ptr[k->image].container;
        d->names += k->name != last_name;
        d->containers += container != last_container;
        last_name = k->name;
        last_container = container;
    }
    out->extra_bytes += d->extra_bytes;
    return true;
}

static int most_first(const void *a, const void *b) {
    const struct cs_duplicate *x = a, *y = b;
    if (x->extra_bytes != y->extra_bytes) {
        return x->extra_bytes > y->extra_bytes ? -1 : 1;
    }
    return x->name < y->name ? -1 : x->name > y->name;
}

enum cs_code cs_duplicates_run(const struct cs_inventory *inv, struct cs_duplicates *out,
                               struct cs_err *err) {
    *out = (struct cs_duplicates){0};
    uint32_t *order = cs_calloc(inv->kernels.count + 1, sizeof *order);
    bool ok = order != NULL;
    size_t n = 0;
    for (uint32_t i = 0; ok && i < inv->kernels.count; i++) {
        if (inv->kernels.ptr[i].code_bytes > 0) {
            order[n++] = i;
            out->code_bytes += inv->kernels.ptr[i].code_bytes;
        }
    }
    if (ok) {
        qsort_r(order, n, sizeof *order, by_code, (void *)(uintptr_t)inv);
    }
    for (size_t i = 0; ok && i < n;) {
        size_t end = i + 1;
        while (end < n && same_code(inv, order[i], order[end])) {
            end++;
        }
        ok = end - i < 2 || add_group(inv, order + i, end - i, out);
        i = end;
    }
    if (ok && out->groups.count > 1) {
        qsort(out->groups.ptr, out->groups.count, sizeof *out->groups.ptr, most_first);
    }
    cs_free(order);
    return ok ? CS_OK : cs_fail(err, CS_NOMEM, "no memory to compare kernels");
}

void cs_duplicates_fini(struct cs_duplicates *d) {
    cs_vec_fini(&d->groups);
    *d = (struct cs_duplicates){0};
}
