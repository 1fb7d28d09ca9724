// cuslim arch explain: which target of a list each device would run, and why.
#include "base/mem.h"
#include "cli/arch_common.h"
#include "report/arch_report.h"

struct explain_opts {
    unsigned from;
    uint16_t toolkit;
    struct cs_driver driver;
    struct cs_list device;
};

#define OPT(kind, name, letter, field, metavar, ...) \
    CS_OPT(kind, name, letter, struct explain_opts, field, metavar, __VA_ARGS__)
static const struct cs_opt opts[] = {
    OPT(LIST, "device", 0, device, "DEVICES", "Devices such as 9.0; all of them by default."),
    OPT(VALUE, "driver", 0, driver, "VERSION",
        "The driver, such as 550.54.14, R550 or cuda12.4; new enough for all by default.",
        .parse = cs_arch_driver_value),
    OPT(CHOICE, "from", 0, from, "NOTATION", "How the list is written; auto by default.",
        .choices = cs_arch_notation_words),
    OPT(VALUE, "toolkit", 0, toolkit, "X.Y",
        "The CUDA toolkit that builds: decides the PTX version, and with it the driver.",
        .parse = cs_arch_toolkit_value),
    CS_OPT_LAST,
};

static enum cs_code explain(struct cs_cli *cli, const struct explain_opts *o,
                            struct cs_archlist *list, struct cs_str text, struct cs_err *err) {
    const struct cs_archlist_options options = {.notation = (enum cs_notation)o->from};
    CS_TRY(cs_archlist_parse(list, text, &options, err));
    if (o->toolkit) {
        CS_TRY(cs_archlist_expand(list, o->toolkit, NULL, 0, err));
        CS_TRY(cs_archlist_for_toolkit(list, o->toolkit, err));
    }
    if (list->special != CS_ARCH_LISTED && list->special != CS_ARCH_OFF) {
        return cs_fail(err, CS_USAGE, "\"%s\" depends on the CUDA toolkit: give --toolkit",
                       cs_arch_special_name(list->special));
    }
    struct cs_device *devices = NULL;
    size_t count = 0;
    CS_TRY(cs_arch_devices(&o->device, true, &devices, &count, err));
    struct cs_arch_explain x = {0};
    const struct cs_select_env env = {.driver = o->driver};
    enum cs_code code = cs_arch_explain_run(list, o->toolkit, devices, count, &env, &x, err);
    if (code == CS_OK) {
        const struct cs_arch_explain_report report = {
            .input = text, .driver = o->driver, .explain = &x};
        code = cs_cli_output(cli, &report, cs_arch_explain_report_doc, cs_arch_explain_report_json,
                             err);
    }
    cs_vec_fini(&x.rows);
    cs_free(devices);
    return code;
}

static enum cs_code run(struct cs_cli *cli, const void *opts_given, struct cs_err *err) {
    struct cs_arch_text text;
    struct cs_archlist list;
    cli->full_names = true;  // the reason is what was asked for
    CS_TRY(cs_arch_text_open(cli->args.items.ptr[0], &text, err));
    cs_archlist_init(&list);
    const enum cs_code code = explain(cli, opts_given, &list, text.text, err);
    cs_archlist_fini(&list);
    cs_arch_text_close(&text);
    return code;
}

static const struct cs_example examples[] = {
    {"arch explain '8.0+PTX;9.0a' --device 8.7,9.0,12.0", "Shows what each of the three runs."},
    {"arch explain 8.0+PTX --toolkit 13.0 --driver 550.54.14", "The same under an old driver."},
    {0},
};

const struct cs_cmd cs_cmd_arch_explain = {
    .name = "explain",
    .group = CS_GROUP_DECIDE,
    .summary = "Say which target of a list each device runs, and why",
    .args = "LIST",
    .examples = examples,
    .opts = opts,
    .opts_size = sizeof(struct explain_opts),
    .args_min = 1,
    .args_max = 1,
    .run = run,
};
