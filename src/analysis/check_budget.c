// Budgets: sizes against limits, and where the bytes are when a limit is broken.
//
// What could go for free is known from the storage rules; what it would save is for `plan` to
// measure, since compression does not add up.
#include "analysis/check_work.h"
#include "base/limits.h"
#include "base/mem.h"

const enum cs_size_key cs_check_table_keys[CS_CHECK_TABLES] = {CS_SIZE_LIBRARY, CS_SIZE_ARCH,
                                                               CS_SIZE_KIND, CS_SIZE_TEMPLATE};

static uint64_t installed_bytes(const struct cs_inventory *inv, uint32_t input) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < inv->leaves.count; i++) {
        bytes += inv->leaves.ptr[i].input == input ? inv->leaves.ptr[i].file_bytes : 0;
    }
    return bytes;
}

static void add_gauge(struct cs_check *c, uint32_t budget, uint32_t input) {
    const struct cs_check_budget *b = &c->options->budgets[budget];
    const struct cs_input *in = &c->inv->inputs.ptr[input];
    if (!b->installed && in->kind == CS_FILE_DIRECTORY) {
        return;  // a folder is not uploaded as it is
    }
    struct cs_check_gauge *g = cs_vec_push(&c->gauges);
    if (!g) {
        c->failed = CS_NOMEM;
        return;
    }
    const uint64_t bytes = b->installed ? installed_bytes(c->inv, input) : in->bytes;
    *g = (struct cs_check_gauge){budget, input, bytes, bytes > b->limit_bytes};
}

// "shadowed images hold 110.24 MiB of the files; ..."
static struct cs_str cuts_text(struct cs_check *c) {
    static const char *const names[CS_CUT_COUNT] = {"images that no device ever runs",
                                                    "images that the routes make unreachable",
                                                    "images stored without compression"};
    struct cs_buf text;
    cs_buf_init(&text, CS_MIB);
    for (uint32_t i = 0; i < CS_CUT_COUNT; i++) {
        const struct cs_check_cuts *x = &c->cuts[i];
        if (x->images) {
            cs_buf_printf(&text, "%s%s take %s", text.len ? ", " : "", names[i],
                          cs_check_size(c, x->file_bytes));
            if (x->wheel_bytes) {
                cs_buf_printf(&text, " (%s of the wheel)", cs_check_size(c, x->wheel_bytes));
            }
        }
    }
    const struct cs_str s =
        text.len ? cs_check_text(c, "Cheapest first: %s. cuslim plan measures what to cut.",
                                 text.ptr)
                 : CS_STR("Nothing is free to cut; cuslim plan says what each cut would cost.");
    cs_buf_fini(&text);
    return s;
}

// The largest row of each table in one sentence: "mostly pkg/ops.so (12.30 MiB), sm_90a ...".
static struct cs_str largest_text(struct cs_check *c, bool installed) {
    struct cs_buf text;
    cs_buf_init(&text, CS_MIB);
    for (uint32_t i = 0; c->tables && i < CS_CHECK_TABLES; i++) {
        const struct cs_size *s = &c->tables[i];
        if (s->rows.count) {
            const struct cs_size_row *row = &s->rows.ptr[0];
            const bool wheel = !installed && s->totals.has_wheel && s->totals.wheel_bytes;
            cs_buf_printf(&text, "%s%.*s %s", text.len ? ", " : "; largest: ",
                          (int)(row->key[0].len > 80 ? 80 : row->key[0].len), row->key[0].ptr,
                          cs_check_size(c, wheel && row->wheel_bytes ? row->wheel_bytes
                                                                     : row->file_bytes));
        }
    }
    const struct cs_str s = cs_check_text(c, "%s", text.ptr ? text.ptr : "");
    cs_buf_fini(&text);
    return s;
}

static void report(struct cs_check *c, const struct cs_check_gauge *g) {
    const struct cs_check_budget *b = &c->options->budgets[g->budget];
    cs_check_add(c, "over-budget", cs_check_input_name(c, g->input), cuts_text(c),
                 "%s size %s is over the limit %.*s of %s (%.*s) by %s%s",
                 b->installed ? "installed" : "file", cs_check_size(c, g->bytes), (int)b->name.len,
                 b->name.ptr, cs_check_size(c, b->limit_bytes), (int)b->origin.len, b->origin.ptr,
                 cs_check_size(c, g->bytes - b->limit_bytes), largest_text(c, b->installed).ptr);
}

// Are positions in the deflate stream known?  Then rows have bytes of the wheel.
static bool has_wheel_bytes(const struct cs_inventory *inv) {
    for (size_t i = 0; i < inv->images.count; i++) {
        if (inv->images.ptr[i].wheel_bytes) {
            return true;
        }
    }
    return false;
}

static enum cs_code make_tables(struct cs_check *c, struct cs_err *err) {
    struct cs_size_options options = {
        .name_table = &c->table_names,
        .by_count = 1,
        .device_only = true,
        .metric = has_wheel_bytes(c->inv) ? CS_METRIC_WHEEL : CS_METRIC_FILE};
    options.by[0] = CS_SIZE_TEMPLATE;
    uint8_t *wanted = cs_size_wanted_names(c->inv);
    c->tables = cs_calloc(CS_CHECK_TABLES, sizeof *c->tables);
    if (!wanted || !c->tables) {
        cs_free(wanted);
        return cs_fail(err, CS_NOMEM, "no memory for sizes");
    }
    enum cs_code code = cs_name_table_make(&c->inv->names, wanted, cs_size_name_forms(&options),
                                           NULL, &c->table_names, err);
    cs_free(wanted);
    for (uint32_t i = 0; code == CS_OK && i < CS_CHECK_TABLES; i++) {
        options.by[0] = cs_check_table_keys[i];
        code = cs_size_run(c->inv, &options, &c->tables[i], err);
    }
    return code;
}

enum cs_code cs_check_budgets(struct cs_check *c, struct cs_err *err) {
    bool over = false;
    for (uint32_t b = 0; b < c->options->budget_count; b++) {
        for (uint32_t i = 0; c->failed == CS_OK && i < c->inv->inputs.count; i++) {
            add_gauge(c, b, i);
        }
    }
    for (size_t i = 0; i < c->gauges.count; i++) {
        over = over || c->gauges.ptr[i].over;
    }
    if (over && c->inv->images.count) {
        CS_TRY(make_tables(c, err));
    }
    for (size_t i = 0; i < c->gauges.count; i++) {
        if (c->gauges.ptr[i].over) {
            report(c, &c->gauges.ptr[i]);
        }
    }
    return CS_OK;
}
