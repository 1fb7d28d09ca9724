// Which kernels a check names, and their readable names.
#include "base/mem.h"
#include "report/check_report.h"

struct collector {
    const struct cs_check *c;
    struct cs_check_names *out;
    uint8_t *seen;
    bool failed;
};

static void collect(void *ctx, uint32_t name) {
    struct collector *x = ctx;
    if (x->seen[name]) {
        return;
    }
    x->seen[name] = 1;
    uint32_t *slot = cs_vec_push(&x->out->ids);
    if (slot) {
        *slot = name;
    }
    x->failed = x->failed || !slot;
}

bool cs_check_names_listed(const struct cs_check *c, uint32_t library, uint32_t row) {
    const struct cs_cover_cell *cell = cs_cover_cell(&c->coverage, library, row);
    if (!cell->loads || cell->kernels.none == 0) {
        return false;
    }
    return c->options->asked || cs_cover_total(cell->kernels) != cell->kernels.none;
}

bool cs_check_names_none(const struct cs_check *c, uint32_t library, uint32_t row,
                         struct cs_check_names *out) {
    const struct cs_cover_library *lib = &c->coverage.libraries.ptr[library];
    struct collector x = {
        .c = c, .out = out, .seen = cs_calloc(c->inv->names.texts.count + 1, 1)};
    out->ids.count = 0;
    for (uint32_t i = 0; x.seen && i < lib->unit_count; i++) {
        const struct cs_cover_pick *p = cs_cover_pick(&c->coverage, lib->first_unit + i, row);
        const bool runs = p->outcome != CS_OUTCOME_NONE;
        cs_cover_missing(&c->coverage, lib->first_unit + i, runs ? p->image : CS_NONE, c->stamp,
                         collect, &x);
    }
    const bool ok = x.seen && !x.failed;
    cs_free(x.seen);
    return ok;
}

enum cs_code cs_check_view_open(const struct cs_check *check, struct cs_pool *pool,
                                struct cs_check_view *out, struct cs_err *err) {
    *out = (struct cs_check_view){.check = check};
    uint8_t *wanted = cs_calloc(check->inv->names.texts.count + 1, 1);
    struct cs_check_names names = {0};
    bool ok = wanted != NULL;
    for (uint32_t l = 0; ok && l < check->coverage.libraries.count; l++) {
        for (uint32_t r = 0; ok && r < check->coverage.rows.count; r++) {
            if (!cs_check_names_listed(check, l, r)) {
                continue;
            }
            ok = cs_check_names_none(check, l, r, &names);
            for (size_t i = 0; i < names.ids.count; i++) {
                wanted[names.ids.ptr[i]] = 1;
            }
        }
    }
    const enum cs_code code =
        ok ? cs_name_table_make(&check->inv->names, wanted, CS_NAME_FULL, pool, &out->names, err)
           : cs_fail(err, CS_NOMEM, "no memory for the report");
    cs_vec_fini(&names.ids);
    cs_free(wanted);
    return code;
}

void cs_check_view_close(struct cs_check_view *v) {
    cs_name_table_fini(&v->names);
    *v = (struct cs_check_view){0};
}
