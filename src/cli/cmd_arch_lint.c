// cuslim arch lint: what is wrong with a list, with the flags of a command, or of a whole build.
#include "base/file.h"
#include "cli/arch_common.h"
#include "report/arch_report.h"

struct lint_opts {
    const char *file, *declared;
    unsigned from;
    uint16_t toolkit;
};

#define OPT(kind, name, letter, field, metavar, ...) \
    CS_OPT(kind, name, letter, struct lint_opts, field, metavar, __VA_ARGS__)
static const struct cs_opt opts[] = {
    OPT(PATH, "file", 0, file, "FILE", "Judge every CUDA command of a compile_commands.json."),
    OPT(STRING, "declared", 0, declared, "LIST", "Complain of targets that this list lacks."),
    OPT(CHOICE, "from", 0, from, "NOTATION", "How the list is written; auto by default.",
        .choices = cs_arch_notation_words),
    OPT(VALUE, "toolkit", 0, toolkit, "X.Y", "Complain of targets that this CUDA toolkit lacks.",
        .parse = cs_arch_toolkit_value),
    CS_OPT_LAST,
};

static enum cs_code lint_file(const char *path, const struct cs_archlist_options *options,
                              const struct cs_archlist *declared, struct cs_arch_lint *x,
                              struct cs_err *err) {
    struct cs_file file;
    enum cs_code code = cs_file_open(path, &file, err);
    if (code == CS_OK) {
        code = cs_arch_lint_commands(x, file.view, options, declared, err);
        cs_file_close(&file);
    }
    return code == CS_OK ? code : cs_wrap(err, code, "%s", path);
}

static enum cs_code lint_words(struct cs_cli *cli, const struct cs_archlist_options *options,
                               const struct cs_archlist *declared, struct cs_arch_lint *x,
                               struct cs_err *err) {
    struct cs_archlist list;
    struct cs_words words = {0};
    enum cs_code code = CS_OK;
    cs_archlist_init(&list);
    for (size_t i = cli->args.dash_at; i < cli->args.items.count && code == CS_OK; i++) {
        struct cs_str *word = cs_vec_push(&words.words);
        if (word) {
            *word = cs_str_from(cli->args.items.ptr[i]);
        } else {
            code = cs_fail(err, CS_NOMEM, "out of memory");
        }
    }
    if (code == CS_OK) {
        x->commands++;
        x->cuda_commands++;
        code = cs_archlist_parse_words(&list, words.words.ptr, (uint32_t)words.words.count, options,
                                       err);
    }
    if (code == CS_OK) {
        code = cs_arch_lint_list(x, &list, CS_STR(""), declared, err);
    }
    cs_words_fini(&words);
    cs_archlist_fini(&list);
    return code;
}

static enum cs_code lint_list(const char *word, const struct cs_archlist_options *options,
                              const struct cs_archlist *declared, struct cs_arch_lint *x,
                              struct cs_err *err) {
    struct cs_arch_text text;
    struct cs_archlist list;
    CS_TRY(cs_arch_text_open(word, &text, err));
    cs_archlist_init(&list);
    enum cs_code code = cs_archlist_parse(&list, text.text, options, err);
    if (code == CS_OK) {
        code = cs_arch_lint_list(x, &list, CS_STR(""), declared, err);
    }
    cs_archlist_fini(&list);
    cs_arch_text_close(&text);
    return code;
}

static enum cs_code lint_all(struct cs_cli *cli, const struct lint_opts *o,
                             const struct cs_archlist *declared, struct cs_arch_lint *x,
                             struct cs_err *err) {
    struct cs_archlist_options options = {
        .notation = (enum cs_notation)o->from, .toolkit_x10 = o->toolkit, .collect = true};
    const size_t lists = cli->args.dashed ? cli->args.dash_at : cli->args.items.count;
    const bool command = cli->args.dashed && cli->args.items.count > lists;
    if (!o->file && !command && lists == 0) {
        return cs_fail(err, CS_USAGE, "nothing to judge: give LIST, --file or -- COMMAND");
    }
    if (o->file) {
        CS_TRY(lint_file(o->file, &options, declared, x, err));
    }
    for (size_t i = 0; i < lists; i++) {
        CS_TRY(lint_list(cli->args.items.ptr[i], &options, declared, x, err));
    }
    return command ? lint_words(cli, &options, declared, x, err) : CS_OK;
}

static enum cs_code run(struct cs_cli *cli, const void *opts_given, struct cs_err *err) {
    const struct lint_opts *o = opts_given;
    struct cs_archlist declared;
    struct cs_arch_lint x;
    enum cs_code code = CS_OK;
    cs_archlist_init(&declared);
    cs_arch_lint_init(&x);
    if (o->declared) {
        code = cs_archlist_parse(&declared, cs_str_from(o->declared), NULL, err);
        code = code == CS_OK ? code : cs_wrap(err, code, "--declared");
    }
    if (code == CS_OK) {
        code = lint_all(cli, o, o->declared ? &declared : NULL, &x, err);
    }
    if (code == CS_OK) {
        cs_arch_lint_sort(&x);
        cli->gate_failed = cs_arch_lint_failed(&x);
        code = cs_cli_output(cli, &x, cs_arch_lint_report_doc, cs_arch_lint_report_json, err);
    }
    cs_arch_lint_fini(&x);
    cs_archlist_fini(&declared);
    return code;
}

static const struct cs_example examples[] = {
    {"arch lint '8.0 8.0+PTX 9.0b'", "Judges a list."},
    {"arch lint --declared '8.0 9.0' --file build/compile_commands.json", "Judges a build."},
    {"arch lint -- nvcc -arch=sm_80 -gencode arch=compute_90,code=sm_90 x.cu",
     "Judges one command."},
    {0},
};

const struct cs_cmd cs_cmd_arch_lint = {
    .name = "lint",
    .group = CS_GROUP_DECIDE,
    .summary = "Find double, contradictory, re-added and impossible architecture flags",
    .args = "[LIST...] [-- COMMAND...]",
    .examples = examples,
    .opts = opts,
    .opts_size = sizeof(struct lint_opts),
    .args_max = CS_ARGS_ANY,
    .run = run,
};
