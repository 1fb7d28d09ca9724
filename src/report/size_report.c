// The two descriptions of a size result.

#include "report/size_report.h"

// ---- for people ------------------------------------------------------------------------------

static void doc_totals(const struct cs_size_report *r, struct cs_doc *d) {
    const struct cs_size_totals *t = &r->totals;
    if (t->has_wheel) {
        cs_doc_fact(d, "wheel", CS_COL_BYTES, cs_cell_u64(t->wheel_bytes));
    }
    cs_doc_fact(d, "installed", CS_COL_BYTES, cs_cell_u64(t->installed_bytes));
    cs_doc_fact(d, "device code in files", CS_COL_BYTES, cs_cell_u64(t->device_file_bytes));
    if (r->wheel_bytes) {
        cs_doc_fact(d, "device code in wheel", CS_COL_BYTES, cs_cell_u64(t->device_wheel_bytes));
    }
    cs_doc_fact(d, "decompressed images", CS_COL_BYTES, cs_cell_u64(t->image_bytes));
    cs_doc_fact(d, "machine code", CS_COL_BYTES, cs_cell_u64(t->code_bytes));
    cs_doc_fact(d, "PTX text", CS_COL_BYTES, cs_cell_u64(t->ptx_bytes));
    cs_doc_fact(d, "libraries with device code", CS_COL_COUNT, cs_cell_u64(t->libraries));
    cs_doc_fact(d, "containers", CS_COL_COUNT, cs_cell_u64(t->containers));
    cs_doc_fact(d, "images", CS_COL_COUNT, cs_cell_u64(t->images));
    cs_doc_fact(d, "kernels, each image's own", CS_COL_COUNT, cs_cell_u64(t->kernels));
    cs_doc_fact(d, "kernels by name", CS_COL_COUNT, cs_cell_u64(t->distinct_kernels));
}

// The first four are in the order of enum cs_size_metric.
enum { COL_WHEEL, COL_FILE, COL_IMAGE, COL_CODE, COL_SHARE, COL_KERNELS, SIZE_COLS };
static const struct cs_col size_cols[SIZE_COLS] = {
    [COL_WHEEL] = {CS_COL_BYTES, "wheel", "wheel_bytes"},
    [COL_FILE] = {CS_COL_BYTES, "file", "file_bytes"},
    [COL_IMAGE] = {CS_COL_BYTES, "image", "image_bytes"},
    [COL_CODE] = {CS_COL_BYTES, "code", "code_bytes"},
    [COL_SHARE] = {CS_COL_PERCENT, "share", "share_percent"},
    [COL_KERNELS] = {CS_COL_COUNT, "kernels", "kernels"},
};
static const struct cs_col resource_cols[] = {
    {CS_COL_COUNT, "regs", "registers"},      {CS_COL_COUNT, "shared", "shared_bytes"},
    {CS_COL_COUNT, "local", "local_bytes"},   {CS_COL_COUNT, "const", "constant_bytes"},
    {CS_COL_COUNT, "barriers", "barriers"},
};
enum { RESOURCE_COLS = 5 };

// Columns of one table: sizes, resources when asked for, then the keys.
struct columns {
    struct cs_col *cols;
    uint32_t count, first_resource, first_key;
    bool shown[SIZE_COLS];
};

static bool is_long_key(enum cs_size_key key) {
    return key == CS_SIZE_KERNEL || key == CS_SIZE_GROUP || key == CS_SIZE_TEMPLATE ||
           key == CS_SIZE_MEMBER || key == CS_SIZE_LIBRARY || key == CS_SIZE_SOURCE ||
           key == CS_SIZE_CONTAINER || key == CS_SIZE_NAMESPACE;
}

// A compact table has the metric, the code and the count: names are what it is for.
static bool shows(const struct cs_size_report *r, const struct cs_size_table *t, uint32_t column) {
    if (column == COL_WHEEL && !r->wheel_bytes) {
        return false;
    }
    return !t->compact || column == (uint32_t)r->metric || column == COL_CODE ||
           column == COL_KERNELS;
}

static bool make_columns(const struct cs_size_report *r, const struct cs_size_table *t,
                         struct cs_doc *d, struct columns *out) {
    out->cols = cs_arena_alloc(&d->arena, CS_TABLE_COLS_MAX * sizeof *out->cols);
    if (!out->cols) {
        d->failed = CS_NOMEM;
        return false;
    }
    for (uint32_t i = 0; i < SIZE_COLS; i++) {
        out->shown[i] = shows(r, t, i);
        if (out->shown[i]) {
            out->cols[out->count++] = size_cols[i];
        }
    }
    out->first_resource = out->count;
    for (uint32_t i = 0; r->resources && i < RESOURCE_COLS; i++) {
        out->cols[out->count++] = resource_cols[i];
    }
    out->first_key = out->count;
    for (uint32_t i = 0; i < t->by_count; i++) {
        const char *name = cs_size_key_name(t->by[i]);
        const enum cs_col_type type = is_long_key(t->by[i]) ? CS_COL_NAME : CS_COL_TEXT;
        out->cols[out->count++] = (struct cs_col){type, name, name};
    }
    return true;
}

static void fill_sizes(const struct cs_size_report *r, const struct columns *cols,
                       const struct cs_size_row *row, uint64_t whole, struct cs_cell *cells) {
    const struct cs_cell all[SIZE_COLS] = {
        [COL_WHEEL] = cs_cell_u64(row->wheel_bytes),
        [COL_FILE] = cs_cell_u64(row->file_bytes),
        [COL_IMAGE] = cs_cell_u64(row->image_bytes),
        [COL_CODE] = cs_cell_u64(row->code_bytes),
        [COL_SHARE] = cs_cell_share(cs_size_metric_of(row, r->metric), whole),
        [COL_KERNELS] = cs_cell_u64(row->kernels),
    };
    for (uint32_t i = 0, at = 0; i < SIZE_COLS; i++) {
        if (cols->shown[i]) {
            cells[at++] = all[i];
        }
    }
}

static void fill_resources(const struct columns *cols, const struct cs_size_row *row,
                           struct cs_cell *cells) {
    cells += cols->first_resource;
    cells[0] = cs_cell_u64(row->registers);
    cells[1] = cs_cell_u64(row->shared_bytes);
    cells[2] = cs_cell_u64(row->local_bytes);
    cells[3] = cs_cell_u64(row->constant_bytes);
    cells[4] = cs_cell_u64(row->barriers);
}

static void add_to(struct cs_size_row *sum, const struct cs_size_row *row) {
    sum->wheel_bytes += row->wheel_bytes;
    sum->file_bytes += row->file_bytes;
    sum->image_bytes += row->image_bytes;
    sum->code_bytes += row->code_bytes;
    sum->kernels += row->kernels;
}

static void doc_table(const struct cs_size_report *r, const struct cs_size_table *t,
                      struct cs_doc *d) {
    struct columns cols = {0};
    if (!make_columns(r, t, d, &cols)) {
        return;
    }
    struct cs_table *table = cs_doc_table(d, t->title, cols.cols, cols.count);
    cs_table_may_drop(table, "image_bytes");
    cs_table_may_drop(table, "share_percent");
    struct cs_size_row others = {0};
    uint64_t whole = 0, left = 0;
    for (size_t i = 0; i < t->size.rows.count; i++) {
        whole += cs_size_metric_of(&t->size.rows.ptr[i], r->metric);
    }
    for (size_t i = 0; i < t->size.rows.count; i++) {
        const struct cs_size_row *row = &t->size.rows.ptr[i];
        if (i >= t->top) {
            add_to(&others, row);
            left++;
            continue;
        }
        struct cs_cell *cells = cs_table_row(table);
        fill_sizes(r, &cols, row, whole, cells);
        if (r->resources && row->kernels) {
            fill_resources(&cols, row, cells);
        }
        for (uint32_t k = 0; k < t->by_count; k++) {
            cells[cols.first_key + k] = cs_cell_str(row->key[k]);
        }
    }
    if (left) {
        fill_sizes(r, &cols, &others, whole, cs_table_others(table, left));
    }
}

static void doc_duplicates(const struct cs_size_report *r, struct cs_doc *d) {
    static const struct cs_col cols[] = {
        {CS_COL_BYTES, "extra", "extra_bytes"}, {CS_COL_BYTES, "each", "code_bytes"},
        {CS_COL_COUNT, "copies", "copies"},     {CS_COL_COUNT, "containers", "containers"},
        {CS_COL_TEXT, "arch", "arch"},          {CS_COL_NAME, "kernel", "kernel"},
    };
    struct cs_table *t = cs_doc_table(d, "Equal code in several places", cols, 6);
    uint64_t left = 0, left_bytes = 0;
    for (size_t i = 0; i < r->duplicates->groups.count; i++) {
        const struct cs_duplicate *g = &r->duplicates->groups.ptr[i];
        if (i >= r->top) {
            left++;
            left_bytes += g->extra_bytes;
            continue;
        }
        char target[CS_TARGET_TEXT_BYTES];
        cs_target_text(g->target, target);
        struct cs_cell *c = cs_table_row(t);
        c[0] = cs_cell_u64(g->extra_bytes);
        c[1] = cs_cell_u64(g->code_bytes);
        c[2] = cs_cell_u64(g->copies);
        c[3] = cs_cell_u64(g->containers);
        c[4] = cs_cell_str(cs_doc_printf(d, "%s", target));
        c[5] = cs_cell_str(r->names->by_id[g->name].full);
    }
    if (left) {
        cs_table_others(t, left)[0] = cs_cell_u64(left_bytes);
    }
    cs_doc_note(d,
                "A copy cannot simply be removed: every module is loaded on its own, and merging "
                "kernels of different files is not always legal. Equal code says where to look.");
}

// The origin's layout: MB is 2^20 bytes, two decimals.
static struct cs_cell hundredths(struct cs_doc *d, uint64_t bytes, uint64_t unit) {
    const uint64_t x = (bytes * 100 + unit / 2) / unit;
    return cs_cell_str(cs_doc_printf(d, "%llu.%02llu", (unsigned long long)(x / 100),
                                     (unsigned long long)(x % 100)));
}

static void doc_origin_functions(const struct cs_size_report *r, struct cs_doc *d) {
    static const struct cs_col cols[] = {
        {CS_COL_COUNT, "Rank", "rank"},
        {CS_COL_FIGURE, "Size (KB)", "kb"},
        {CS_COL_FIGURE, "Size (MB)", "mb"},
        {CS_COL_PERCENT, "%", "percent"},
        {CS_COL_NAME, "File", "file"},
        {CS_COL_NAME, "Kernel Name", "kernel"},
    };
    const struct cs_origin *o = r->origin;
    struct cs_table *t = cs_doc_table(d, "Individual Kernels (sorted by size)", cols, 6);
    t->secondary = true;
    for (size_t i = 0; i < o->functions.count && i < r->top; i++) {
        const struct cs_origin_function *f = &o->functions.ptr[i];
        struct cs_cell *c = cs_table_row(t);
        c[0] = cs_cell_u64(i + 1);
        c[1] = hundredths(d, f->symbol_bytes, 1024);
        c[2] = hundredths(d, f->symbol_bytes, 1024 * 1024);
        c[3] = cs_cell_share(f->symbol_bytes, o->symbol_bytes);
        c[4] = cs_cell_str(r->inv->members.ptr[f->member].path);
        c[5] = cs_cell_str(f->name);
    }
}

static void doc_origin(const struct cs_size_report *r, struct cs_doc *d) {
    static const struct cs_col cols[] = {
        {CS_COL_COUNT, "Rank", "rank"},      {CS_COL_TEXT, "Kernel Prefix", "prefix"},
        {CS_COL_COUNT, "Count", "count"},    {CS_COL_FIGURE, "Total (MB)", "mb"},
        {CS_COL_PERCENT, "%", "percent"},    {CS_COL_FIGURE, "Code (MB)", "code_mb"},
    };
    const struct cs_origin *o = r->origin;
    const uint64_t mib = 1024 * 1024;
    cs_doc_fact(d, "Total kernels", CS_COL_COUNT, cs_cell_u64(o->functions.count));
    cs_doc_fact(d, "Total size (MB)", CS_COL_FIGURE, hundredths(d, o->symbol_bytes, mib));
    cs_doc_fact(d, "Average size (KB)", CS_COL_FIGURE,
                hundredths(d, o->symbol_bytes,
                           1024 * (o->functions.count ? o->functions.count : 1)));
    cs_doc_fact(d, "True code (MB)", CS_COL_FIGURE, hundredths(d, o->code_bytes, mib));
    struct cs_table *t = cs_doc_table(d, "Kernel Groups (by name prefix)", cols, 6);
    uint64_t left = 0, left_bytes = 0, left_code = 0, left_count = 0;
    for (size_t i = 0; i < o->groups.count; i++) {
        const struct cs_origin_group *g = &o->groups.ptr[i];
        if (i >= r->top) {
            left++;
            left_bytes += g->symbol_bytes;
            left_code += g->code_bytes;
            left_count += g->count;
            continue;
        }
        struct cs_cell *c = cs_table_row(t);
        c[0] = cs_cell_u64(i + 1);
        c[1] = cs_cell_str(g->prefix);
        c[2] = cs_cell_u64(g->count);
        c[3] = hundredths(d, g->symbol_bytes, mib);
        c[4] = cs_cell_share(g->symbol_bytes, o->symbol_bytes);
        c[5] = hundredths(d, g->code_bytes, mib);
    }
    if (left) {
        struct cs_cell *c = cs_table_others(t, left);
        c[2] = cs_cell_u64(left_count);
        c[3] = hundredths(d, left_bytes, mib);
        c[4] = cs_cell_share(left_bytes, o->symbol_bytes);
        c[5] = hundredths(d, left_code, mib);
    }
    doc_origin_functions(r, d);
    cs_doc_note(d, "Sizes are st_size of function symbols, summed over all architectures by "
                   "demangled name. Outlined functions lie inside their kernels and count twice; "
                   "\"code\" is the true size of the sections. Each library counts once.");
}

static void doc_problems(const struct cs_size_report *r, struct cs_doc *d) {
    const struct cs_inventory *inv = r->inv;
    if (!inv) {
        return;
    }
    if (inv->opaque_images) {
        cs_doc_note(d, "%u images are obfuscated: their sizes are right, their kernels unknown.",
                    inv->opaque_images);
    }
    if (inv->unknown_kinds || inv->unknown_flags) {
        cs_doc_note(d, "%u images of unknown kind and %u with unknown flags are counted whole.",
                    inv->unknown_kinds, inv->unknown_flags);
    }
}

void cs_size_report_doc(const void *report, struct cs_doc *d) {
    const struct cs_size_report *r = report;
    if (r->origin) {
        doc_origin(r, d);
        return;
    }
    doc_totals(r, d);
    for (uint32_t i = 0; i < r->table_count; i++) {
        doc_table(r, &r->tables[i], d);
    }
    if (r->duplicates) {
        doc_duplicates(r, d);
    }
    doc_problems(r, d);
}

// ---- JSON ------------------------------------------------------------------------------------

static void json_inputs(const struct cs_inventory *inv, struct cs_json *j) {
    cs_json_key(j, "inputs");
    cs_json_array(j);
    for (size_t i = 0; inv && i < inv->inputs.count; i++) {
        const struct cs_input *input = &inv->inputs.ptr[i];
        cs_json_object(j);
        cs_json_kstr(j, "path", input->path);
        cs_json_kz(j, "kind", cs_file_kind_name(input->kind));
        cs_json_ku64(j, "bytes", input->bytes);
        cs_json_object_end(j);
    }
    cs_json_array_end(j);
}

static void json_wheel(struct cs_json *j, bool known, uint64_t bytes) {
    if (known) {
        cs_json_ku64(j, "wheel_bytes", bytes);
    } else {
        cs_json_knull(j, "wheel_bytes");
    }
}

static void json_totals(const struct cs_size_report *r, struct cs_json *j) {
    const struct cs_size_totals *t = &r->totals;
    cs_json_key(j, "totals");
    cs_json_object(j);
    json_wheel(j, t->has_wheel, t->wheel_bytes);
    cs_json_ku64(j, "installed_bytes", t->installed_bytes);
    cs_json_ku64(j, "device_file_bytes", t->device_file_bytes);
    cs_json_key(j, "device_wheel_bytes");
    if (r->wheel_bytes) {
        cs_json_u64(j, t->device_wheel_bytes);
    } else {
        cs_json_null(j);
    }
    cs_json_ku64(j, "image_bytes", t->image_bytes);
    cs_json_ku64(j, "code_bytes", t->code_bytes);
    cs_json_ku64(j, "ptx_bytes", t->ptx_bytes);
    cs_json_ku64(j, "kernels", t->kernels);
    cs_json_ku64(j, "distinct_kernels", t->distinct_kernels);
    cs_json_ku64(j, "images", t->images);
    cs_json_ku64(j, "containers", t->containers);
    cs_json_ku64(j, "code_sections", t->code_sections);
    cs_json_ku64(j, "libraries", t->libraries);
    cs_json_object_end(j);
}

static void json_row(const struct cs_size_report *r, const struct cs_size_table *t,
                     const struct cs_size_row *row, struct cs_json *j) {
    cs_json_object(j);
    cs_json_key(j, "key");
    cs_json_object(j);
    for (uint32_t i = 0; i < t->by_count; i++) {
        cs_json_kstr(j, cs_size_key_name(t->by[i]), row->key[i]);
    }
    cs_json_object_end(j);
    cs_json_ku64(j, "kernels", row->kernels);
    cs_json_ku64(j, "distinct_kernels", row->distinct_kernels);
    cs_json_ku64(j, "images", row->images);
    json_wheel(j, r->wheel_bytes, row->wheel_bytes);
    cs_json_ku64(j, "file_bytes", row->file_bytes);
    cs_json_ku64(j, "image_bytes", row->image_bytes);
    cs_json_ku64(j, "code_bytes", row->code_bytes);
    cs_json_kbool(j, "estimated", row->estimated);
    if (r->resources) {
        cs_json_ku64(j, "registers", row->registers);
        cs_json_ku64(j, "shared_bytes", row->shared_bytes);
        cs_json_ku64(j, "local_bytes", row->local_bytes);
        cs_json_ku64(j, "constant_bytes", row->constant_bytes);
        cs_json_ku64(j, "barriers", row->barriers);
    }
    cs_json_object_end(j);
}

static void json_table(const struct cs_size_report *r, const struct cs_size_table *t,
                       struct cs_json *j) {
    cs_json_key(j, "by");
    cs_json_array(j);
    for (uint32_t i = 0; i < t->by_count; i++) {
        cs_json_z(j, cs_size_key_name(t->by[i]));
    }
    cs_json_array_end(j);
    cs_json_key(j, "rows");
    cs_json_array(j);
    for (size_t i = 0; i < t->size.rows.count && i < t->top; i++) {
        json_row(r, t, &t->size.rows.ptr[i], j);
    }
    cs_json_array_end(j);
}

static void json_duplicates(const struct cs_size_report *r, struct cs_json *j) {
    cs_json_key(j, "duplicates");
    cs_json_array(j);
    for (size_t i = 0; i < r->duplicates->groups.count && i < r->top; i++) {
        const struct cs_duplicate *g = &r->duplicates->groups.ptr[i];
        char target[CS_TARGET_TEXT_BYTES];
        cs_target_text(g->target, target);
        cs_json_object(j);
        cs_json_kstr(j, "kernel", r->names->by_id[g->name].full);
        cs_json_kz(j, "arch", target);
        cs_json_ku64(j, "copies", g->copies);
        cs_json_ku64(j, "names", g->names);
        cs_json_ku64(j, "containers", g->containers);
        cs_json_ku64(j, "code_bytes", g->code_bytes);
        cs_json_ku64(j, "extra_bytes", g->extra_bytes);
        cs_json_object_end(j);
    }
    cs_json_array_end(j);
}

static void json_origin(const struct cs_size_report *r, struct cs_json *j) {
    const struct cs_origin *o = r->origin;
    cs_json_key(j, "table");
    cs_json_object(j);
    cs_json_ku64(j, "functions", o->functions.count);
    cs_json_ku64(j, "symbol_bytes", o->symbol_bytes);
    cs_json_ku64(j, "code_bytes", o->code_bytes);
    cs_json_ku64(j, "repeated_libraries", o->repeated_libraries);
    cs_json_key(j, "groups");
    cs_json_array(j);
    for (size_t i = 0; i < o->groups.count && i < r->top; i++) {
        cs_json_object(j);
        cs_json_kstr(j, "prefix", o->groups.ptr[i].prefix);
        cs_json_ku64(j, "count", o->groups.ptr[i].count);
        cs_json_ku64(j, "symbol_bytes", o->groups.ptr[i].symbol_bytes);
        cs_json_ku64(j, "code_bytes", o->groups.ptr[i].code_bytes);
        cs_json_object_end(j);
    }
    cs_json_array_end(j);
    cs_json_object_end(j);
}

static void json_problems(const struct cs_inventory *inv, struct cs_json *j) {
    cs_json_key(j, "problems");
    cs_json_array(j);
    for (size_t i = 0; inv && i < inv->members.count; i++) {
        if (inv->members.ptr[i].problem.len) {
            cs_json_object(j);
            cs_json_kstr(j, "member", inv->members.ptr[i].path);
            cs_json_kstr(j, "message", inv->members.ptr[i].problem);
            cs_json_object_end(j);
        }
    }
    for (size_t i = 0; inv && i < inv->images.count; i++) {
        const struct cs_image *image = &inv->images.ptr[i];
        if (image->problem.len) {
            cs_json_object(j);
            cs_json_kstr(j, "member", inv->members.ptr[image->member].path);
            cs_json_ku64(j, "offset", image->offset);
            cs_json_kstr(j, "message", image->problem);
            cs_json_object_end(j);
        }
    }
    cs_json_array_end(j);
}

void cs_size_report_json(const void *report, struct cs_json *j) {
    const struct cs_size_report *r = report;
    json_inputs(r->inv, j);
    json_totals(r, j);
    if (r->origin) {
        json_origin(r, j);
    } else if (r->table_count) {
        json_table(r, &r->tables[0], j);
    }
    if (r->duplicates) {
        json_duplicates(r, j);
    }
    json_problems(r->inv, j);
}
