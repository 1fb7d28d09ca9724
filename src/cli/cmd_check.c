// cuslim check: will it run there, is it what was promised, may it be uploaded?
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "cli/check_setup.h"
#include "report/check_report.h"

#define OPT(kind, name, letter, field, metavar, help, ...) \
    CS_OPT(kind, name, letter, struct cs_check_args, field, metavar, help, __VA_ARGS__)

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
    OPT(LIST, "budget", 0, budget, "LIMITS",
        "Limits on size: wheel=300MiB, installed=1G, or an upload limit by name: pypi, nuget, "
        "github."),
    OPT(SWITCH, "link", 0, link, NULL,
        "The inputs are objects and archives that will be linked together: say whether 32-bit "
        "references will reach across the device code, and which targets fit."),
    OPT(PATH, "linker-script", 0, linker_script, "FILE",
        "Write a linker script that puts device code behind everything else (-Wl,-T,FILE)."),
    OPT(SWITCH, "strict", 0, strict, NULL,
        "A container that serves fewer devices than most of its library is an error."),
    OPT(SWITCH, "warn-only", 0, warn_only, NULL, "Errors become warnings: always exit code 0."),
    OPT(LIST, "select", 0, select, "RULES", "Judge by these rules alone: ids, slugs, or C, F2."),
    OPT(LIST, "ignore", 0, ignore, "RULES", "Leave these rules out."),
    CS_OPT_LAST,
};

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

// A wheel over its budget is read the slower way, which knows the wheel's bytes of every kernel.
static bool is_over(const char *path, const struct cs_check_options *options) {
    struct stat st;
    for (uint32_t i = 0; i < options->budget_count; i++) {
        const struct cs_check_budget *b = &options->budgets[i];
        if (!b->installed && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
            (uint64_t)st.st_size > b->limit_bytes) {
            return true;
        }
    }
    return false;
}

static enum cs_code see(struct cs_cli *cli, const struct cs_check_options *how, struct seen *s,
                        struct cs_err *err) {
    struct cs_pool *pool;
    *s = (struct seen){.looks = cs_calloc(cli->args.items.count, sizeof *s->looks)};
    cs_inventory_init(&s->inv);
    if (!s->looks) {
        return cs_fail(err, CS_NOMEM, "no memory for the inputs");
    }
    CS_TRY(cs_cli_pool(cli, &pool, err));
    for (size_t i = 0; i < cli->args.items.count; i++) {
        const char *path = cli->args.items.ptr[i];
        cs_check_look_init(&s->looks[i], true);
        s->count++;
        const struct cs_inventory_look look = cs_check_look_callback(&s->looks[i]);
        const struct cs_inventory_options options = {.depth = CS_DEPTH_KERNELS,
                                                     .sources = true,
                                                     .wheel_bytes = is_over(path, how),
                                                     .look = &look,
                                                     .progress = cs_cli_progress,
                                                     .progress_ctx = cli};
        CS_TRY(cs_inventory_add(&s->inv, path, &options, pool, err));
        CS_TRY(cs_check_look_done(&s->looks[i], err));
    }
    return CS_OK;
}

static enum cs_code judge(struct cs_cli *cli, struct cs_check_setup *s, struct cs_err *err) {
    struct seen seen;
    enum cs_code code = see(cli, &s->options, &seen, err);
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

static enum cs_code write_script(const char *path, struct cs_err *err) {
    struct cs_outfile out;
    CS_TRY(cs_outfile_create(path, 0666, &out, err));
    cs_outfile_write(&out, cs_check_linker_script, strlen(cs_check_linker_script));
    return cs_outfile_commit(&out, err);
}

static enum cs_code run(struct cs_cli *cli, const void *options, struct cs_err *err) {
    const struct cs_check_args *args = options;
    struct cs_check_setup s;
    enum cs_code code = cs_check_setup(cli, options, &s, err);
    code = code == CS_OK && args->linker_script ? write_script(args->linker_script, err) : code;
    code = code == CS_OK ? judge(cli, &s, err) : code;
    cs_check_setup_fini(&s);
    return code;
}

static const struct cs_example examples[] = {
    {"check --device 8.0,9.0,12.0 --driver 550.54.14 pkg.whl",
     "Does every kernel run on these devices from that driver on?"},
    {"check --declared '8.0 9.0a+PTX' pkg.whl", "Does every container hold what was asked for?"},
    {"check --route 'pkg/sm90/*.so=9.0' --route 'pkg/sm100/*.so=not 9.0' pkg.whl",
     "Each device loads its own library."},
    {"check --link --linker-script device-last.ld build/*.o", "Will it link within 2 GiB?"},
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
    .opts_size = sizeof(struct cs_check_args),
    .args_min = 1,
    .args_max = CS_ARGS_ANY,
    .run = run,
};
