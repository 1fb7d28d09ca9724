// A check as a document.  JSON: check_json.c.
#include "report/check_report.h"

#include "base/mem.h"
#include "base/path.h"

enum { NAMES_SHOWN = 10, SIZES_SHOWN = 6 };

// ---- words -----------------------------------------------------------------------------------

static struct cs_str device_text(struct cs_doc *d, struct cs_device device) {
    char text[CS_TARGET_TEXT_BYTES];
    cs_device_text(device, text);
    return cs_doc_printf(d, "%s", text);
}

static struct cs_cell driver_cell(struct cs_doc *d, const struct cs_cover_row *row) {
    char text[CS_DRIVER_TEXT_BYTES];
    if (!cs_driver_known(row->driver)) {
        return cs_cell_none();
    }
    cs_driver_text(row->driver, text);
    return cs_cell_str(cs_doc_printf(d, "%s", text));
}

static bool same_counts(struct cs_cover_counts a, struct cs_cover_counts b) {
    return a.native == b.native && a.same_major == b.same_major && a.jit == b.jit &&
           a.none == b.none;
}

static void put_counts(struct cs_cell *c, struct cs_cover_counts n) {
    c[0] = cs_cell_u64(n.native);
    c[1] = cs_cell_u64(n.same_major);
    c[2] = cs_cell_u64(n.jit);
    c[3] = cs_cell_u64(n.none);
}

static struct cs_str because(struct cs_doc *d, const struct cs_check *c) {
    const struct cs_image *image = &c->inv->images.ptr[c->floor.image];
    const struct cs_str path = c->inv->members.ptr[image->member].path;
    char target[CS_TARGET_TEXT_BYTES];
    cs_target_text(image->target, target);
    const uint32_t container =
        image->container == CS_NONE ? 0 : c->inv->containers.ptr[image->container].index;
    return cs_doc_printf(d, "%s: %s in container %u of %.*s",
                         cs_floor_cause_name(c->floor.cause), target, container, (int)path.len,
                         path.ptr);
}

// ---- tables ----------------------------------------------------------------------------------

static void facts(const struct cs_check *c, struct cs_doc *d) {
    cs_doc_fact(d, "verdict", CS_COL_TEXT,
                cs_cell_str(c->pass ? CS_STR("pass")
                                    : cs_doc_printf(d, "FAIL: %llu error%s",
                                                    (unsigned long long)c->errors,
                                                    c->errors == 1 ? "" : "s")));
    cs_doc_fact(d, "libraries with kernels", CS_COL_COUNT,
                cs_cell_u64(c->coverage.libraries.count));
    cs_doc_fact(d, "containers", CS_COL_COUNT, cs_cell_u64(c->coverage.units.count));
    cs_doc_fact(d, "kernels in them", CS_COL_COUNT, cs_cell_u64(c->coverage.kernels));
    cs_doc_fact(d, "SASS images", CS_COL_COUNT, cs_cell_u64(c->sass_images));
    cs_doc_fact(d, "PTX images", CS_COL_COUNT, cs_cell_u64(c->ptx_images));
    if (c->coverage.units.count > 0) {
        char floor[CS_DRIVER_TEXT_BYTES];
        cs_driver_text(c->floor.driver, floor);
        cs_doc_fact(d, "driver floor", CS_COL_TEXT,
                    c->floor.known ? cs_cell_str(cs_doc_printf(d, "%s", floor)) : cs_cell_none());
        if (c->floor.known) {
            cs_doc_fact(d, "because of", CS_COL_NAME, cs_cell_str(because(d, c)));
        }
    }
}

static bool fare_the_same(const struct cs_coverage *cov, uint32_t library, uint32_t a, uint32_t b) {
    const struct cs_cover_row *x = &cov->rows.ptr[a], *y = &cov->rows.ptr[b];
    if (cs_driver_cmp(x->driver, y->driver) != 0) {
        return false;
    }
    if (library == CS_NONE) {
        return same_counts(x->kernels, y->kernels);
    }
    const struct cs_cover_cell *p = cs_cover_cell(cov, library, a);
    const struct cs_cover_cell *q = cs_cover_cell(cov, library, b);
    return p->loads == q->loads && same_counts(p->kernels, q->kernels);
}

// Devices that fare as the one of `row`, which are then done: "3.5-7.2 8.7", where a dash stands
// for all rows between.
static struct cs_str same_rows(struct cs_doc *d, const struct cs_coverage *cov, uint32_t library,
                               uint32_t row, bool *done) {
    struct cs_str text = CS_STR("");
    for (uint32_t k = row; k < cov->rows.count; k++) {
        uint32_t end = k;
        while (end < cov->rows.count && !done[end] && fare_the_same(cov, library, row, end)) {
            done[end++] = true;
        }
        if (end == k) {
            continue;
        }
        const uint32_t last = end - 1;
        const char *between = last == k ? "" : last == k + 1 ? " " : "-";
        text = cs_doc_printf(d, "%s%s%s%s%s", text.ptr, text.len ? " " : "",
                             device_text(d, cov->rows.ptr[k].device).ptr, between,
                             last == k ? "" : device_text(d, cov->rows.ptr[last].device).ptr);
        k = last;
    }
    return text;
}

static void devices(const struct cs_check *c, struct cs_doc *d) {
    static const struct cs_col cols[] = {
        {CS_COL_COUNT, "native", "native"}, {CS_COL_COUNT, "same major", "same_major"},
        {CS_COL_COUNT, "JIT", "jit"},       {CS_COL_COUNT, "none", "none"},
        {CS_COL_FIGURE, "driver", "driver"}, {CS_COL_TEXT, "devices", "devices"}};
    const struct cs_coverage *cov = &c->coverage;
    bool *done = cs_calloc(cov->rows.count + 1, sizeof *done);
    struct cs_table *t = cs_doc_table(d, "Kernels by device", cols, 6);
    for (uint32_t r = 0; done && r < cov->rows.count; r++) {
        if (!done[r]) {
            struct cs_cell *cell = cs_table_row(t);
            put_counts(cell, cov->rows.ptr[r].kernels);
            cell[4] = driver_cell(d, &cov->rows.ptr[r]);
            cell[5] = cs_cell_str(same_rows(d, cov, CS_NONE, r, done));
        }
    }
    if (!done) {
        d->failed = CS_NOMEM;
    }
    cs_free(done);
}

static void library_rows(struct cs_table *t, const struct cs_coverage *cov, uint32_t l,
                         bool *done) {
    for (uint32_t r = 0; r < cov->rows.count; r++) {
        done[r] = false;
    }
    for (uint32_t r = 0; r < cov->rows.count; r++) {
        const struct cs_cover_cell *x = cs_cover_cell(cov, l, r);
        if (done[r] || !x->loads) {
            continue;
        }
        struct cs_cell *cell = cs_table_row(t);
        put_counts(cell, x->kernels);
        cell[4] = cs_cell_z(cs_outcome_name(x->worst));
        cell[5] = cs_cell_str(same_rows(t->doc, cov, l, r, done));
        cell[6] = cs_cell_str(cov->libraries.ptr[l].path);
    }
}

static void libraries(const struct cs_check *c, struct cs_doc *d) {
    static const struct cs_col cols[] = {
        {CS_COL_COUNT, "native", "native"}, {CS_COL_COUNT, "same major", "same_major"},
        {CS_COL_COUNT, "JIT", "jit"},       {CS_COL_COUNT, "none", "none"},
        {CS_COL_TEXT, "worst", "worst"},    {CS_COL_TEXT, "devices", "devices"},
        {CS_COL_NAME, "library", "member"}};
    if (c->coverage.libraries.count < 2) {
        return;
    }
    bool *done = cs_calloc(c->coverage.rows.count + 1, sizeof *done);
    struct cs_table *t = cs_doc_table(d, "The same by library", cols, 7);
    for (uint32_t l = 0; done && l < c->coverage.libraries.count; l++) {
        library_rows(t, &c->coverage, l, done);
    }
    if (!done) {
        d->failed = CS_NOMEM;
    }
    cs_free(done);
}

// A few kernels without code for each promised device, and how many more there are.
static void names(const struct cs_check_view *v, struct cs_doc *d) {
    static const struct cs_col cols[] = {{CS_COL_TEXT, "device", "device"},
                                         {CS_COL_NAME, "library", "member"},
                                         {CS_COL_NAME, "kernel", "kernel"}};
    const struct cs_check *c = v->check;
    struct cs_check_names none = {0};
    struct cs_table *t = NULL;
    uint64_t left = 0;
    for (uint32_t r = 0; c->options->asked && r < c->coverage.rows.count; r++) {
        for (uint32_t l = 0; l < c->coverage.libraries.count; l++) {
            if (!cs_check_names_listed(c, l, r)) {
                continue;
            }
            if (!cs_check_names_none(c, l, r, &none)) {
                d->failed = CS_NOMEM;
            }
            t = t ? t : cs_doc_table(d, "Kernels without code", cols, 3);
            for (size_t i = 0; i < none.ids.count; i++) {
                if (cs_table_rows(t) >= NAMES_SHOWN) {
                    left += none.ids.count - i;
                    break;
                }
                struct cs_cell *cell = cs_table_row(t);
                cell[0] = cs_cell_str(device_text(d, c->coverage.rows.ptr[r].device));
                cell[1] = cs_cell_str(c->coverage.libraries.ptr[l].path);
                cell[2] = cs_cell_str(v->names.by_id[none.ids.ptr[i]].full);
            }
        }
    }
    if (t && left) {
        (void)cs_table_others(t, left);
    }
    cs_vec_fini(&none.ids);
}

static void gauges(const struct cs_check *c, struct cs_doc *d) {
    static const struct cs_col cols[] = {{CS_COL_BYTES, "size", "bytes"},
                                         {CS_COL_BYTES, "limit", "limit_bytes"},
                                         {CS_COL_PERCENT, "of it", "percent"},
                                         {CS_COL_TEXT, "budget", "budget"},
                                         {CS_COL_NAME, "input", "input"}};
    if (c->gauges.count == 0) {
        return;
    }
    struct cs_table *t = cs_doc_table(d, "Budgets", cols, 5);
    for (size_t i = 0; i < c->gauges.count; i++) {
        const struct cs_check_gauge *g = &c->gauges.ptr[i];
        const struct cs_check_budget *b = &c->options->budgets[g->budget];
        struct cs_cell *cell = cs_table_row(t);
        cell[0] = cs_cell_u64(g->bytes);
        cell[1] = cs_cell_u64(b->limit_bytes);
        cell[2] = cs_cell_share(g->bytes, b->limit_bytes);
        cell[3] = cs_cell_str(b->name);
        cell[4] = cs_cell_str(cs_path_base(c->inv->inputs.ptr[g->input].path));
    }
}

static void limits(const struct cs_check *c, struct cs_doc *d) {
    static const struct cs_col cols[] = {{CS_COL_BYTES, "largest", "bytes"},
                                         {CS_COL_BYTES, "limit", "limit_bytes"},
                                         {CS_COL_TEXT, "name", "name"},
                                         {CS_COL_TEXT, "of", "meaning"},
                                         {CS_COL_NAME, "in", "where"}};
    struct cs_table *t = cs_doc_table(d, "Limits of linkers", cols, 5);
    for (uint32_t i = 0; i < CS_LIMIT_KINDS; i++) {
        const struct cs_check_limit *l = &c->limits[i];
        struct cs_cell *cell = cs_table_row(t);
        cell[0] = l->bytes ? cs_cell_u64(l->bytes) : cs_cell_none();
        cell[1] = cs_cell_u64(l->limit_bytes);
        cell[2] = cs_cell_z(l->name);
        cell[3] = cs_cell_z(l->meaning);
        cell[4] = l->where.len ? cs_cell_str(l->where) : cs_cell_none();
    }
}

static struct cs_str target_str(struct cs_doc *d, struct cs_target t) {
    char text[CS_TARGET_TEXT_BYTES];
    cs_target_text(t, text);
    return cs_doc_printf(d, "%s", text);
}

static void link_facts(const struct cs_check *c, struct cs_doc *d) {
    static const struct cs_col cols[] = {{CS_COL_BYTES, "bytes", "bytes"},
                                         {CS_COL_TEXT, "target", "target"}};
    static const struct cs_col fit_cols[] = {{CS_COL_BYTES, "span then", "bytes"},
                                             {CS_COL_TEXT, "without", "leave"}};
    const struct cs_check_link *l = &c->link;
    cs_doc_fact(d, "objects", CS_COL_COUNT, cs_cell_u64(l->sections.objects));
    cs_doc_fact(d, "span of 32-bit references", CS_COL_BYTES, cs_cell_u64(l->span_bytes));
    cs_doc_fact(d, "limit", CS_COL_BYTES, cs_cell_u64(l->limit_bytes));
    cs_doc_fact(d, "device code in the way", CS_COL_BYTES, cs_cell_u64(l->device_bytes));
    cs_doc_fact(d, "span with device code last", CS_COL_BYTES, cs_cell_u64(l->scripted_bytes));
    struct cs_table *t = cs_doc_table(d, "Device code by target", cols, 2);
    for (size_t i = 0; i < l->targets.count; i++) {
        struct cs_cell *cell = cs_table_row(t);
        cell[0] = cs_cell_u64(l->targets.ptr[i].bytes);
        cell[1] = cs_cell_str(target_str(d, l->targets.ptr[i].target));
    }
    if (l->fits.count) {
        t = cs_doc_table(d, "It fits without", fit_cols, 2);
    }
    for (size_t i = 0; i < l->fits.count; i++) {
        struct cs_str text = CS_STR("");
        for (uint32_t k = 0; k < l->fits.ptr[i].count; k++) {
            text = cs_doc_printf(d, "%s%s%s", text.ptr, k ? " " : "",
                                 target_str(d, l->fits.ptr[i].leave[k]).ptr);
        }
        struct cs_cell *cell = cs_table_row(t);
        cell[0] = cs_cell_u64(l->fits.ptr[i].bytes);
        cell[1] = cs_cell_str(text);
    }
    limits(c, d);
}

// The largest rows of what is over its budget.
static void size_tables(const struct cs_check *c, struct cs_doc *d) {
    static const struct cs_col cols[][3] = {
        {{CS_COL_BYTES, "wheel", "wheel_bytes"}, {CS_COL_BYTES, "file", "file_bytes"},
         {CS_COL_NAME, "library", "library"}},
        {{CS_COL_BYTES, "wheel", "wheel_bytes"}, {CS_COL_BYTES, "file", "file_bytes"},
         {CS_COL_TEXT, "target", "arch"}},
        {{CS_COL_BYTES, "wheel", "wheel_bytes"}, {CS_COL_BYTES, "file", "file_bytes"},
         {CS_COL_TEXT, "kind", "kind"}},
        {{CS_COL_BYTES, "wheel", "wheel_bytes"}, {CS_COL_BYTES, "file", "file_bytes"},
         {CS_COL_NAME, "kernels", "template"}},
    };
    static const char *const titles[] = {"Device code by library", "By target", "By kind",
                                         "By kernel"};
    for (uint32_t i = 0; c->tables && i < CS_CHECK_TABLES; i++) {
        const struct cs_size *s = &c->tables[i];
        struct cs_table *t = cs_doc_table(d, titles[i], cols[i], 3);
        t->secondary = true;
        for (size_t r = 0; r < s->rows.count && r < SIZES_SHOWN; r++) {
            const struct cs_size_row *row = &s->rows.ptr[r];
            struct cs_cell *cell = cs_table_row(t);
            cell[0] = row->wheel_bytes ? cs_cell_u64(row->wheel_bytes) : cs_cell_none();
            cell[1] = cs_cell_u64(row->file_bytes);
            cell[2] = cs_cell_str(row->key[0]);
        }
        if (s->rows.count > SIZES_SHOWN) {
            struct cs_cell *cell = cs_table_others(t, s->rows.count - SIZES_SHOWN);
            uint64_t wheel = 0, file = 0;
            for (size_t r = SIZES_SHOWN; r < s->rows.count; r++) {
                wheel += s->rows.ptr[r].wheel_bytes;
                file += s->rows.ptr[r].file_bytes;
            }
            cell[0] = wheel ? cs_cell_u64(wheel) : cs_cell_none();
            cell[1] = cs_cell_u64(file);
        }
    }
}

static void findings(const struct cs_check *c, struct cs_doc *d) {
    for (size_t i = 0; i < c->findings.count; i++) {
        const struct cs_check_finding *f = &c->findings.ptr[i];
        const struct cs_doc_finding finding = {
            .rule = f->rule->id, .slug = f->rule->slug, .severity = f->severity,
            .where = f->where, .message = f->message, .advice = f->advice};
        cs_doc_finding(d, &finding);
    }
}

void cs_check_doc(const void *view, struct cs_doc *d) {
    const struct cs_check_view *v = view;
    const struct cs_check *c = v->check;
    facts(c, d);
    if (c->coverage.units.count > 0 && !c->link.made) {
        devices(c, d);
        libraries(c, d);
        names(v, d);
    }
    if (c->link.made) {
        link_facts(c, d);
    }
    gauges(c, d);
    size_tables(c, d);
    findings(c, d);
    if (c->coverage.relocatable_containers) {
        cs_doc_note(d, "containers of relocatable code, which the driver does not load, are not "
                       "counted: %u",
                    c->coverage.relocatable_containers);
    }
}

void cs_check_flat_doc(const void *view, struct cs_doc *d) {
    static const struct cs_col cols[] = {
        {CS_COL_TEXT, "device", "device"},  {CS_COL_FIGURE, "driver", "driver"},
        {CS_COL_NAME, "library", "member"}, {CS_COL_COUNT, "native", "native"},
        {CS_COL_COUNT, "same major", "same_major"}, {CS_COL_COUNT, "JIT", "jit"},
        {CS_COL_COUNT, "none", "none"},     {CS_COL_TEXT, "worst", "worst"}};
    const struct cs_check *c = ((const struct cs_check_view *)view)->check;
    struct cs_table *t = cs_doc_table(d, NULL, cols, 8);
    for (uint32_t r = 0; r < c->coverage.rows.count; r++) {
        for (uint32_t l = 0; l < c->coverage.libraries.count; l++) {
            const struct cs_cover_cell *x = cs_cover_cell(&c->coverage, l, r);
            if (x->loads) {
                struct cs_cell *cell = cs_table_row(t);
                cell[0] = cs_cell_str(device_text(d, c->coverage.rows.ptr[r].device));
                cell[1] = driver_cell(d, &c->coverage.rows.ptr[r]);
                cell[2] = cs_cell_str(c->coverage.libraries.ptr[l].path);
                put_counts(cell + 3, x->kernels);
                cell[7] = cs_cell_z(cs_outcome_name(x->worst));
            }
        }
    }
    findings(c, d);
}
