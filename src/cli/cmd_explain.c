// cuslim explain: what a rule, a target or a device means, and why a kernel runs on a device or
// not.
#include "analysis/rules.h"
#include "base/suggest.h"
#include "cli/cli.h"
#include "cli/load.h"
#include "report/explain_report.h"

enum { TOP_DEFAULT = 3, KERNEL_WORDS = 3 };

struct explain_opts {
    struct cs_driver driver;
    uint64_t top;
};

static enum cs_code parse_driver(struct cs_str text, void *field, struct cs_err *err) {
    return cs_driver_parse(text, field, err);
}

static const struct cs_opt opts[] = {
    CS_OPT(VALUE, "driver", 0, struct explain_opts, driver, "VERSION",
           "The driver that loads the library: 550.54.14, R550 or cuda12.4. Default: one that is "
           "new enough for everything.",
           .parse = parse_driver),
    CS_OPT(TOP, "top", 'n', struct explain_opts, top, "N",
           "Show N containers that hold the kernel; 3 by default."),
    CS_OPT_LAST,
};

static enum cs_code unknown_word(const char *word, struct cs_err *err) {
    uint32_t count;
    const struct cs_rule *rules = cs_rule_table(&count);
    struct cs_suggest s = {.word = cs_str_from(word)};
    for (uint32_t i = 0; i < count; i++) {
        cs_suggest_offer(&s, rules[i].slug);
        cs_suggest_offer(&s, rules[i].id);
    }
    const char *best = cs_suggest_best(&s);
    return cs_fail(err, CS_USAGE, "nothing is known about '%.100s'%s%s%s", word,
                   best ? "; did you mean '" : "", best ? best : "", best ? "'?" : "");
}

static enum cs_code explain_word(struct cs_cli *cli, struct cs_err *err) {
    struct cs_explain_report report = {0};
    struct cs_device device;
    struct cs_target target;
    if (cli->args.items.count) {
        const struct cs_str word = cs_str_from(cli->args.items.ptr[0]);
        report.rule = cs_rule_find(word);
        if (report.rule) {
            // said below
        } else if (cs_device_parse(word, &device)) {
            report.device = &device;
        } else if (cs_target_parse(word, &target)) {
            report.target = &target;
        } else {
            return unknown_word(word.ptr, err);
        }
    }
    cli->full_names = true;
    return cs_cli_output(cli, &report, cs_explain_doc, cs_explain_json, err);
}

static enum cs_code explain_names(struct cs_cli *cli, const struct explain_opts *o,
                                  const struct cs_inventory *inv, struct cs_device device,
                                  const char *text, struct cs_err *err) {
    struct cs_pool *pool;
    struct cs_name_table names = {0};
    struct cs_explain_kernel kernel = {0};
    CS_TRY(cs_cli_pool(cli, &pool, err));
    CS_TRY(cs_name_table_make(&inv->names, NULL, CS_NAME_FULL, pool, &names, err));
    enum cs_code code = cs_explain_kernel_run(inv, &names, cs_str_from(text), device, o->driver,
                                              &kernel, err);
    if (code == CS_OK) {
        const struct cs_explain_report report = {.kernel = &kernel, .top = o->top};
        code = cs_cli_output(cli, &report, cs_explain_doc, cs_explain_json, err);
    }
    cs_explain_kernel_fini(&kernel);
    cs_name_table_fini(&names);
    return code;
}

// LIBRARY KERNEL DEVICE
static enum cs_code explain_kernel(struct cs_cli *cli, const struct explain_opts *o,
                                   struct cs_err *err) {
    const char *text = cli->args.items.ptr[1], *device_word = cli->args.items.ptr[2];
    struct cs_device device;
    if (!cs_device_parse(cs_str_from(device_word), &device)) {
        return cs_fail(err, CS_USAGE, "'%.60s' is no device; write 9.0", device_word);
    }
    cli->args.items.count = 1;  // the library alone is an input
    struct cs_inventory inv;
    enum cs_code code = cs_cli_load(
        cli, (struct cs_inventory_options){.depth = CS_DEPTH_KERNELS, .sources = true}, &inv, err);
    if (code == CS_OK) {
        code = explain_names(cli, o, &inv, device, text, err);
    }
    cs_inventory_fini(&inv);
    return code;
}

static enum cs_code run(struct cs_cli *cli, const void *options, struct cs_err *err) {
    switch (cli->args.items.count) {
    case 0:
    case 1: return explain_word(cli, err);
    case KERNEL_WORDS: return explain_kernel(cli, options, err);
    default: return cs_fail(err, CS_USAGE, "one word, or LIBRARY KERNEL DEVICE");
    }
}

static const struct cs_example examples[] = {
    {"explain", "Lists every rule."},
    {"explain uncovered-device", "What the rule means, an example and the cure."},
    {"explain sm_90a", "Where code of this target runs."},
    {"explain 12.0", "What runs on this device."},
    {"explain libx.so softmax 8.9", "Why kernels with that in their names run on 8.9, or do not."},
    {0},
};

const struct cs_cmd cs_cmd_explain = {
    .name = "explain",
    .group = CS_GROUP_JUDGE,
    .summary = "Say what a rule, target or device means, and why a kernel runs or not",
    .args = "[RULE | TARGET | DEVICE | LIBRARY KERNEL DEVICE]",
    .description = "A kernel is found by any part of its demangled name, or by its whole mangled "
                   "name. Each container that holds it is shown with the image that the driver "
                   "takes on the device, and why it does not take the others.",
    .examples = examples,
    .opts = opts,
    .opts_size = sizeof(struct explain_opts),
    .defaults = &(const struct explain_opts){.top = TOP_DEFAULT},
    .args_max = KERNEL_WORDS,
    .run = run,
};
