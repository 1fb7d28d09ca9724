// cuslim size: what takes the room.
#include "analysis/size_saved.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/load.h"
#include "report/size_report.h"

enum { TOP_DEFAULT = 20 };
enum style { STYLE_CUSLIM, STYLE_TABLE };

struct size_opts {
    struct cs_list by, arch;
    uint64_t top;
    const char *filter;
    unsigned names, metric, sort, style;
    bool unwrap, device_only, duplicates, resources, wheel_bytes;
};

static const char *const names_words[] = {"full", "short", "mangled", NULL};
static const enum cs_names_mode names_modes[] = {CS_NAMES_FULL, CS_NAMES_SHORT, CS_NAMES_MANGLED};
static const char *const metric_words[] = {"auto", "wheel", "file", "image", "code", NULL};
static const char *const style_words[] = {"cuslim", "table", NULL};
static const char *const key_words[] = {
    "member",    "library", "section",  "container", "kind", "arch", "codec", "source",
    "namespace", "group",   "template", "kernel",    "part", NULL};

#define OPT(kind, name, letter, field, metavar, ...) \
    CS_OPT(kind, name, letter, struct size_opts, field, metavar, __VA_ARGS__)
static const struct cs_opt opts[] = {
    OPT(LIST, "by", 0, by, "KEYS",
        "Group by these keys, in order: member, library, section, container, kind, arch, codec, "
        "source, namespace, group, template, kernel, part.",
        .choices = key_words),
    OPT(TOP, "top", 'n', top, "N", "Show the N largest rows of each table; all for every row. "
        "20 by default, all in JSON and CSV."),
    OPT(STRING, "filter", 0, filter, "TEXT", "Only kernels whose demangled name contains TEXT."),
    OPT(LIST, "arch", 0, arch, "TARGETS", "Only images of these targets, such as sm_90a."),
    OPT(CHOICE, "names", 0, names, "FORM",
        "Kernel names in full, short (no arguments) or mangled.", .choices = names_words),
    OPT(FLAG, "unwrap", 0, unwrap, NULL,
        "Show wrapper kernels such as cutlass::device_kernel<X> as X."),
    OPT(CHOICE, "metric", 0, metric, "METRIC",
        "Sort by and take shares of wheel, file, image or code bytes; auto is wheel for a wheel, "
        "file otherwise.",
        .choices = metric_words),
    OPT(CHOICE, "sort", 0, sort, "METRIC", "The same as --metric.", .choices = metric_words,
        .hidden = true),
    OPT(CHOICE, "style", 0, style, "STYLE",
        "table: the kernel-group table of the sgl-kernel project, by its own metric.",
        .choices = style_words),
    OPT(SWITCH, "device-only", 0, device_only, NULL, "Leave host code and archive structure out."),
    OPT(SWITCH, "duplicates", 0, duplicates, NULL,
        "Also list kernels whose code is the same in several places."),
    OPT(SWITCH, "resources", 0, resources, NULL,
        "Show registers, shared, local and constant memory, and barriers (largest of a row)."),
    OPT(FLAG, "wheel-bytes", 0, wheel_bytes, NULL,
        "Find each row's share of the compressed wheel; --no-wheel-bytes is faster."),
    CS_OPT_LAST,
};
static const struct size_opts defaults = {.wheel_bytes = true};

// Everything a run owns.
struct run {
    struct cs_inventory inv;
    struct cs_name_table names;
    struct cs_duplicates duplicates;
    struct cs_origin origin;
    struct cs_size_report report;
};

static void run_fini(struct run *r) {
    for (uint32_t i = 0; i < r->report.table_count; i++) {
        cs_size_fini(&r->report.tables[i].size);
    }
    cs_duplicates_fini(&r->duplicates);
    cs_origin_fini(&r->origin);
    cs_name_table_fini(&r->names);
    cs_inventory_fini(&r->inv);
}

static enum cs_code read_keys(const struct size_opts *o, struct cs_size_options *out,
                              struct cs_err *err) {
    for (size_t i = 0; i < o->by.items.count; i++) {
        const struct cs_str word = o->by.items.ptr[i];
        enum cs_size_key key;
        if (!cs_size_key_parse(word, &key)) {
            return cs_fail(err, CS_USAGE, "--by: no key '%.*s' (there are member, library, "
                           "section, container, kind, arch, codec, source, namespace, group, "
                           "template, kernel and part)", (int)word.len, word.ptr);
        }
        for (uint32_t k = 0; k < out->by_count; k++) {
            if (out->by[k] == key) {
                return cs_fail(err, CS_USAGE, "--by: '%.*s' is given twice", (int)word.len,
                               word.ptr);
            }
        }
        out->by[out->by_count++] = key;
    }
    for (size_t i = 0; i < o->arch.items.count; i++) {
        const struct cs_str word = o->arch.items.ptr[i];
        struct cs_target target;
        if (!cs_target_parse(word, &target) || i == CS_SIZE_ARCHS_MAX) {
            return cs_fail(err, CS_USAGE, "--arch: '%.*s' is no target such as sm_90a or "
                           "compute_80", (int)word.len, word.ptr);
        }
        out->archs[out->arch_count++] = word;
    }
    return CS_OK;
}

static enum cs_size_metric metric_of(const struct size_opts *o, bool wheel_bytes) {
    switch (o->metric ? o->metric : o->sort) {
    case 1: return CS_METRIC_WHEEL;
    case 2: return CS_METRIC_FILE;
    case 3: return CS_METRIC_IMAGE;
    case 4: return CS_METRIC_CODE;
    default: return wheel_bytes ? CS_METRIC_WHEEL : CS_METRIC_FILE;
    }
}

static enum cs_code add_table(struct run *r, const char *title, struct cs_size_options options,
                              uint64_t top, struct cs_err *err) {
    struct cs_size_table *t = &r->report.tables[r->report.table_count];
    t->title = title;
    t->top = top;
    t->by_count = options.by_count;
    memcpy(t->by, options.by, sizeof t->by);
    CS_TRY(cs_size_run(&r->inv, &options, &t->size, err));
    r->report.table_count++;
    return CS_OK;
}

// Without --by: where the bytes are, in three tables.
static enum cs_code default_tables(struct run *r, struct cs_size_options options, uint64_t top,
                                   struct cs_err *err) {
    options.by_count = 1;
    options.by[0] = CS_SIZE_LIBRARY;
    CS_TRY(add_table(r, "By library", options, top, err));
    options.by[0] = CS_SIZE_ARCH;
    options.device_only = true;
    CS_TRY(add_table(r, "By architecture", options, UINT64_MAX, err));
    options.by[0] = CS_SIZE_GROUP;
    CS_TRY(add_table(r, "Kernel groups", options, top, err));
    options.by[0] = CS_SIZE_KERNEL;
    CS_TRY(add_table(r, "Kernels", options, top, err));
    r->report.tables[2].compact = r->report.tables[3].compact = true;
    return CS_OK;
}

static enum cs_code make_names(struct cs_cli *cli, struct run *r, unsigned forms,
                               struct cs_err *err) {
    struct cs_pool *pool = NULL;
    CS_TRY(cs_cli_pool(cli, &pool, err));
    uint8_t *wanted = cs_size_wanted_names(&r->inv);
    if (!wanted) {
        return cs_fail(err, CS_NOMEM, "no memory for names");
    }
    const enum cs_code code =
        cs_name_table_make(&r->inv.names, wanted, forms, pool, &r->names, err);
    cs_free(wanted);
    return code;
}

static enum cs_code analyse(struct cs_cli *cli, const struct size_opts *o,
                            struct cs_size_options options, struct run *r, struct cs_err *err) {
    const bool data = cli->common.format == CS_REPORT_JSON || cli->common.format == CS_REPORT_CSV;
    const uint64_t top = o->top ? o->top : data ? UINT64_MAX : TOP_DEFAULT;
    r->report.top = top;
    r->report.inv = &r->inv;
    r->report.names = &r->names;
    cs_size_totals_of(&r->inv, &r->report.totals);
    r->report.wheel_bytes = o->wheel_bytes && r->report.totals.has_wheel;
    r->report.metric = options.metric = metric_of(o, r->report.wheel_bytes);
    options.name_table = &r->names;
    if (options.by_count == 0 && data && o->style != STYLE_TABLE) {
        options.by_count = 2;
        options.by[0] = CS_SIZE_ARCH;
        options.by[1] = CS_SIZE_GROUP;
    }
    const bool all = options.by_count == 0;
    unsigned forms = all ? CS_NAME_FULL | CS_NAME_GROUP | CS_NAME_SHORT
                         : cs_size_name_forms(&options);
    forms |= o->duplicates ? CS_NAME_FULL | CS_NAME_SHORT : 0;
    forms |= options.unwrap ? CS_NAME_UNWRAPPED : 0;
    CS_TRY(make_names(cli, r, forms, err));
    if (o->style == STYLE_TABLE) {
        r->report.origin = &r->origin;
        return cs_origin_run(&r->inv, &r->names, &r->origin, err);
    }
    if (o->duplicates) {
        r->report.duplicates = &r->duplicates;
        CS_TRY(cs_duplicates_run(&r->inv, &r->duplicates, err));
    }
    return all ? default_tables(r, options, top, err) : add_table(r, NULL, options, top, err);
}

// A report that was saved as JSON, shown again.
static enum cs_code show_saved(struct cs_cli *cli, const struct size_opts *o, struct cs_view text,
                               struct cs_err *err) {
    struct cs_size_saved saved;
    CS_TRY(cs_size_saved_read(text, &saved, err));
    struct cs_inventory inputs = {0};
    memcpy(&inputs.inputs, &saved.inputs, sizeof inputs.inputs);
    struct cs_size_report report = {.inv = &inputs, .totals = saved.size.totals, .table_count = 1,
                                    .wheel_bytes = saved.wheel_bytes, .resources = o->resources};
    report.metric = metric_of(o, saved.wheel_bytes);
    struct cs_size_table *t = &report.tables[0];
    const bool data = cli->common.format == CS_REPORT_JSON || cli->common.format == CS_REPORT_CSV;
    t->top = report.top = o->top ? o->top : data ? UINT64_MAX : TOP_DEFAULT;
    t->size = saved.size;
    t->by_count = saved.by_count;
    memcpy(t->by, saved.by, sizeof t->by);
    enum cs_code code = CS_OK;
    if (o->by.items.count || o->filter || o->arch.items.count || o->duplicates ||
        o->style == STYLE_TABLE) {
        code = cs_fail(err, CS_USAGE, "a saved report has only the rows it was made with: --by, "
                       "--filter, --arch, --duplicates and --style need the artifact");
    } else {
        code = cs_cli_output(cli, &report, cs_size_report_doc, cs_size_report_json, err);
    }
    cs_size_saved_fini(&saved);
    return code;
}

static enum cs_code run_artifacts(struct cs_cli *cli, const struct size_opts *o,
                                  struct cs_err *err) {
    struct cs_size_options options = {
        .names = names_modes[o->names],
        .unwrap = o->unwrap,
        .device_only = o->device_only,
        .filter = cs_str_from(o->filter ? o->filter : ""),
    };
    CS_TRY(read_keys(o, &options, err));
    const struct cs_inventory_options reading = {
        .depth = CS_DEPTH_KERNELS,
        .wheel_bytes = o->wheel_bytes && o->style != STYLE_TABLE,
        .hashes = o->duplicates || o->style == STYLE_TABLE,
        .sources = true,
    };
    struct run r = {.report = {.resources = o->resources}};
    enum cs_code code = cs_cli_load(cli, reading, &r.inv, err);
    if (code == CS_OK) {
        code = analyse(cli, o, options, &r, err);
    }
    if (code == CS_OK) {
        code = cs_cli_output(cli, &r.report, cs_size_report_doc, cs_size_report_json, err);
    }
    if (code == CS_OK) {
        code = cs_cli_load_verdict(&r.inv, err);
    }
    run_fini(&r);
    return code;
}

static enum cs_code run(struct cs_cli *cli, const void *opts_given, struct cs_err *err) {
    struct cs_file file;
    bool is_report;
    CS_TRY(cs_cli_open_report(cli, &file, &is_report, err));
    const enum cs_code code = is_report ? show_saved(cli, opts_given, file.view, err)
                                        : run_artifacts(cli, opts_given, err);
    cs_file_close(&file);
    return code;
}

static const struct cs_example examples[] = {
    {"size sgl_kernel-0.3.21-*.whl", "Summary, architectures, kernel groups and kernels."},
    {"size --by library,arch --format csv x.whl", "One row for each library and architecture."},
    {"size --by source --top all libx.so", "Which source file takes the room."},
    {0},
};

const struct cs_cmd cs_cmd_size = {
    .name = "size",
    .group = CS_GROUP_LOOK,
    .summary = "Say what takes the room, down to single kernels",
    .args = "INPUT...",
    .description =
        "Every byte of the inputs has exactly one owner, so rows add up to the sizes of the files. "
        "Four sizes are shown: code (machine code), image (decompressed), file (bytes in the "
        "library) and wheel (bytes in the compressed wheel).",
    .examples = examples,
    .opts = opts,
    .opts_size = sizeof(struct size_opts),
    .defaults = &defaults,
    .args_min = 1,
    .args_max = CS_ARGS_ANY,
    .run = run,
};
