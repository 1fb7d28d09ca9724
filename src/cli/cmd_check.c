// cuslim check: will it run there, is it what was promised, may it be uploaded?
#include <string.h>

#include "base/mem.h"
#include "cli/arch_common.h"
#include "model/config.h"
#include "report/check_report.h"

struct check_opts {
    struct cs_list device, driver, select, ignore, exempt, route;
    const char *declared;
    bool strict, warn_only;
};

#define OPT(kind, name, letter, field, metavar, help, ...) \
    CS_OPT(kind, name, letter, struct check_opts, field, metavar, help, __VA_ARGS__)

static const struct cs_opt opts[] = {
    OPT(LIST, "device", 'd', device, "DEVICES",
        "What must run: compute capabilities such as 8.0,9.0, or all. Without it every known "
        "device is shown and none is promised."),
    OPT(LIST, "driver", 0, driver, "VERSIONS",
        "The oldest drivers promised: 550.54.14, R550 or cuda12.4. A device that is newer is "
        "judged with the first driver that knows it."),
    OPT(STRING, "declared", 0, declared, "LIST",
        "The arch list that every container should hold, in torch, CMake or nvcc notation."),
    OPT(LIST, "route", 0, route, "GLOB=DEVICES",
        "Which devices load which libraries: 'pkg/sm90/*.so=9.0', 'pkg/sm100/*.so=not 9.0'."),
    OPT(LIST, "exempt", 0, exempt, "GLOBS",
        "Libraries that fail no gate on coverage, such as bundled ones of other projects."),
    OPT(SWITCH, "strict", 0, strict, NULL,
        "A container that serves fewer devices than most of its library is an error."),
    OPT(SWITCH, "warn-only", 0, warn_only, NULL, "Errors become warnings: always exit code 0."),
    OPT(LIST, "select", 0, select, "RULES", "Judge by these rules alone: ids, slugs, or C, F2."),
    OPT(LIST, "ignore", 0, ignore, "RULES", "Leave these rules out."),
    CS_OPT_LAST,
};

// Everything the options of a check refer to.
struct setup {
    struct cs_device *devices;
    size_t device_count;
    CS_VEC(struct cs_check_source) sources;
    struct cs_archlist *archs;  // of the sources, in their order
    CS_VEC(struct cs_driver) drivers;
    struct cs_reach reach;
    struct cs_archlist declared;
    struct cs_check_options options;
};

static void setup_fini(struct setup *s) {
    cs_free(s->devices);
    cs_vec_fini(&s->drivers);
    cs_reach_fini(&s->reach);
    for (size_t i = 0; i < s->sources.count; i++) {
        cs_archlist_fini(&s->archs[i]);
    }
    cs_free(s->archs);
    cs_vec_fini(&s->sources);
    cs_archlist_fini(&s->declared);
}

static enum cs_code read_drivers(struct setup *s, const struct cs_list *words,
                                 struct cs_err *err) {
    for (size_t i = 0; i < words->items.count; i++) {
        struct cs_driver *driver = cs_vec_push(&s->drivers);
        if (!driver) {
            return cs_fail(err, CS_NOMEM, "no memory for the drivers");
        }
        const enum cs_code code = cs_driver_parse(words->items.ptr[i], driver, err);
        if (code != CS_OK) {
            return cs_wrap(err, code, "--driver");
        }
    }
    return CS_OK;
}

static enum cs_code read_declared(struct setup *s, const char *text, struct cs_err *err) {
    if (!text) {
        return CS_OK;
    }
    enum cs_code code = cs_archlist_parse(&s->declared, cs_str_from(text), NULL, err);
    if (code == CS_OK && s->declared.special != CS_ARCH_LISTED) {
        code = cs_archlist_expand(&s->declared, cs_toolkit_newest(), NULL, 0, err);
    }
    s->options.declared = &s->declared;
    return code == CS_OK ? CS_OK : cs_wrap(err, code, "--declared");
}

// What the configuration promises for each group of sources.
static enum cs_code read_sources(struct setup *s, const struct cs_config *c, struct cs_err *err) {
    s->archs = cs_calloc(c->sources.count + 1, sizeof *s->archs);
    if (!s->archs) {
        return cs_fail(err, CS_NOMEM, "no memory for the sources");
    }
    for (size_t i = 0; i < c->sources.count; i++) {
        const struct cs_config_source *from = &c->sources.ptr[i];
        const bool ships = from->ship != CS_SHIP_JIT && from->ship != CS_SHIP_NONE;
        if (ships && from->arch.len == 0) {
            continue;  // promises nothing about architectures
        }
        struct cs_archlist *arch = &s->archs[s->sources.count];
        struct cs_check_source *to = cs_vec_push(&s->sources);
        if (!to) {
            return cs_fail(err, CS_NOMEM, "no memory for the sources");
        }
        cs_archlist_init(arch);
        *to = (struct cs_check_source){
            .files = from->files, .file_count = from->file_count, .origin = from->origin};
        if (ships) {
            const struct cs_archlist_options torch = {.notation = CS_NOTATION_TORCH};
            CS_TRY(cs_archlist_parse(arch, from->arch, &torch, err));
            to->arch = arch;
        }
    }
    return CS_OK;
}

// Options win; what they do not say is taken from the configuration.
static enum cs_code read_config(struct cs_cli *cli, struct setup *s, const struct check_opts *o,
                                struct cs_err *err) {
    const struct cs_config *c;
    CS_TRY(cs_cli_config(cli, &c, err));
    if (o->device.items.count == 0 && c->devices.count) {
        cs_free(s->devices);
        s->device_count = c->devices.count;
        s->devices = cs_calloc(s->device_count, sizeof *s->devices);
        if (!s->devices) {
            return cs_fail(err, CS_NOMEM, "no memory for the devices");
        }
        memcpy(s->devices, c->devices.ptr, s->device_count * sizeof *s->devices);
        s->options.asked = true;
    }
    if (o->driver.items.count == 0 && cs_driver_known(c->driver)) {
        struct cs_driver *driver = cs_vec_push(&s->drivers);
        if (!driver) {
            return cs_fail(err, CS_NOMEM, "no memory for the drivers");
        }
        *driver = c->driver;
    }
    return read_sources(s, c, err);
}

static struct cs_check_words words_of(const struct cs_list *list) {
    return (struct cs_check_words){list->items.ptr, (uint32_t)list->items.count};
}

static enum cs_code prepare(struct cs_cli *cli, struct setup *s, const struct check_opts *o,
                            struct cs_err *err) {
    *s = (struct setup){0};
    cs_archlist_init(&s->declared);
    CS_TRY(cs_arch_devices(&o->device, true, &s->devices, &s->device_count, err));
    CS_TRY(read_drivers(s, &o->driver, err));
    CS_TRY(cs_cli_routes(cli, &o->route, &s->reach, err));
    CS_TRY(read_declared(s, o->declared, err));
    CS_TRY(cs_check_rule_words(words_of(&o->select), err));
    CS_TRY(cs_check_rule_words(words_of(&o->ignore), err));
    s->options.asked = o->device.items.count > 0;
    CS_TRY(read_config(cli, s, o, err));
    s->options.devices = s->devices;
    s->options.device_count = (uint32_t)s->device_count;
    s->options.sources = s->sources.ptr;
    s->options.source_count = (uint32_t)s->sources.count;
    s->options.drivers = s->drivers.ptr;
    s->options.driver_count = (uint32_t)s->drivers.count;
    s->options.reach = &s->reach;
    s->options.exempt = words_of(&o->exempt);
    s->options.select = words_of(&o->select);
    s->options.ignore = words_of(&o->ignore);
    s->options.strict = o->strict;
    s->options.warn_only = o->warn_only;
    return CS_OK;
}

static enum cs_code show(struct cs_cli *cli, const struct cs_check *check, struct cs_err *err) {
    struct cs_check_view view;
    CS_TRY(cs_check_view_open(check, cli->pool, &view, err));
    cs_doc_fn *doc = cli->common.format == CS_REPORT_CSV ? cs_check_flat_doc : cs_check_doc;
    enum cs_code code = cs_cli_output(cli, &view, doc, cs_check_json, err);
    cs_check_view_close(&view);
    cli->gate_failed = !check->pass;
    if (code == CS_OK && check->unsupported) {
        code = cs_fail(err, CS_UNSUPPORTED, "Windows libraries are not read (unsupported-format)");
    }
    return code;
}

// The inputs, and what was seen of their files on the way.
struct seen {
    struct cs_inventory inv;
    struct cs_check_look *looks;
    size_t count;
};

static void seen_fini(struct seen *s) {
    for (size_t i = 0; i < s->count; i++) {
        cs_check_look_fini(&s->looks[i]);
    }
    cs_free(s->looks);
    cs_inventory_fini(&s->inv);
}

static enum cs_code see(struct cs_cli *cli, struct seen *s, struct cs_err *err) {
    struct cs_pool *pool;
    *s = (struct seen){.looks = cs_calloc(cli->args.items.count, sizeof *s->looks)};
    cs_inventory_init(&s->inv);
    if (!s->looks) {
        return cs_fail(err, CS_NOMEM, "no memory for the inputs");
    }
    CS_TRY(cs_cli_pool(cli, &pool, err));
    for (size_t i = 0; i < cli->args.items.count; i++) {
        cs_check_look_init(&s->looks[i], true);
        s->count++;
        const struct cs_inventory_look look = cs_check_look_callback(&s->looks[i]);
        const struct cs_inventory_options options = {.depth = CS_DEPTH_KERNELS,
                                                     .sources = true,
                                                     .look = &look,
                                                     .progress = cs_cli_progress,
                                                     .progress_ctx = cli};
        CS_TRY(cs_inventory_add(&s->inv, cli->args.items.ptr[i], &options, pool, err));
        CS_TRY(cs_check_look_done(&s->looks[i], err));
    }
    return CS_OK;
}

static enum cs_code judge(struct cs_cli *cli, struct setup *s, struct cs_err *err) {
    struct seen seen;
    enum cs_code code = see(cli, &seen, err);
    if (code == CS_OK) {
        struct cs_check check;
        s->options.looks = seen.looks;
        code = cs_check_run(&seen.inv, &s->options, &check, err);
        if (code == CS_OK) {
            code = show(cli, &check, err);
            cs_check_fini(&check);
        }
    }
    seen_fini(&seen);
    return code;
}

static enum cs_code run(struct cs_cli *cli, const void *options, struct cs_err *err) {
    struct setup s;
    enum cs_code code = prepare(cli, &s, options, err);
    code = code == CS_OK ? judge(cli, &s, err) : code;
    setup_fini(&s);
    return code;
}

static const struct cs_example examples[] = {
    {"check --device 8.0,9.0,12.0 --driver 550.54.14 pkg.whl",
     "Does every kernel run on these devices from that driver on?"},
    {"check --declared '8.0 9.0a+PTX' pkg.whl", "Does every container hold what was asked for?"},
    {"check --route 'pkg/sm90/*.so=9.0' --route 'pkg/sm100/*.so=not 9.0' pkg.whl",
     "Each device loads its own library."},
    {0},
};

const struct cs_cmd cs_cmd_check = {
    .name = "check",
    .group = CS_GROUP_JUDGE,
    .summary = "Judge what runs where, against what was promised",
    .args = "INPUT...",
    .description =
        "Coverage is judged for each kernel of each container, as the driver selects: native SASS, "
        "SASS of the same major, PTX compiled at first start (JIT), or none. No GPU and no CUDA "
        "toolkit is needed. Exit code 1 when a gate fails. `cuslim explain RULE` tells more about "
        "a finding.",
    .examples = examples,
    .opts = opts,
    .opts_size = sizeof(struct check_opts),
    .args_min = 1,
    .args_max = CS_ARGS_ANY,
    .run = run,
};
