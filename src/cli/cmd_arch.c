// cuslim arch: what an arch list means, and the same list in another notation.
#include "base/limits.h"
#include "base/mem.h"
#include "cli/arch_common.h"
#include "report/arch_report.h"

struct arch_opts {
    unsigned from, to, flags;
    uint16_t toolkit;
    struct cs_list native;
};

static const char *const flag_words[] = {"none", "torch", "cmake", "vllm", NULL};

#define OPT(kind, name, letter, field, metavar, ...) \
    CS_OPT(kind, name, letter, struct arch_opts, field, metavar, __VA_ARGS__)
static const struct cs_opt opts[] = {
    OPT(CHOICE, "from", 0, from, "NOTATION",
        "How the list is written: auto, torch, cmake, nvcc, flashinfer, tvm-ffi or targets.",
        .choices = cs_arch_notation_words),
    OPT(CHOICE, "to", 0, to, "NOTATION",
        "Print the list alone, in this notation. What it cannot say is an error.",
        .choices = cs_arch_notation_words),
    OPT(CHOICE, "flags", 0, flags, "TOOL",
        "Print the nvcc flags that torch, cmake or vllm makes of the list.", .choices = flag_words),
    OPT(VALUE, "toolkit", 0, toolkit, "X.Y",
        "The CUDA toolkit that will build: expands all and all-major, renames chips, refuses "
        "targets it does not know.",
        .parse = cs_arch_toolkit_value),
    OPT(LIST, "native", 0, native, "DEVICES",
        "The devices that native stands for, such as 9.0. Without it, native stays as it is."),
    CS_OPT_LAST,
};

struct run {
    struct cs_archlist list, merged;
    struct cs_arch_text text;
    struct cs_buf out;
};

static enum cs_code read_list(struct cs_cli *cli, const struct arch_opts *o, struct run *r,
                              struct cs_err *err) {
    const struct cs_archlist_options options = {.notation = (enum cs_notation)o->from};
    const size_t count = cli->args.items.count;
    if (cli->args.dashed && cli->args.dash_at == 0) {  // arch -- nvcc -gencode ...
        struct cs_words words = {0};
        enum cs_code code = CS_OK;
        for (size_t i = 0; i < count && code == CS_OK; i++) {
            struct cs_str *word = cs_vec_push(&words.words);
            if (word) {
                *word = cs_str_from(cli->args.items.ptr[i]);
            } else {
                code = cs_fail(err, CS_NOMEM, "out of memory");
            }
            cs_buf_printf(&r->out, "%s%s", i ? " " : "", cli->args.items.ptr[i]);
        }
        r->text.text = cs_arena_str(&r->list.arena, cs_buf_str(&r->out));
        cs_buf_clear(&r->out);
        if (code == CS_OK) {
            code =
                cs_archlist_parse_words(&r->list, words.words.ptr, (uint32_t)count, &options, err);
        }
        cs_words_fini(&words);
        return code;
    }
    if (count != 1) {
        return cs_fail(err, CS_USAGE, count ? "one list, please: quote it" : "missing LIST");
    }
    CS_TRY(cs_arch_text_open(cli->args.items.ptr[0], &r->text, err));
    return cs_archlist_parse(&r->list, r->text.text, &options, err);
}

static enum cs_code resolve(const struct arch_opts *o, struct cs_archlist *list,
                            struct cs_err *err) {
    const enum cs_arch_special special = list->special;
    const bool all = special == CS_ARCH_ALL || special == CS_ARCH_ALL_MAJOR;
    if ((all && o->toolkit) || (special == CS_ARCH_NATIVE && o->native.items.count)) {
        struct cs_device *native = NULL;
        size_t count = 0;
        CS_TRY(cs_arch_devices(&o->native, false, &native, &count, err));
        const enum cs_code code =
            cs_archlist_expand(list, o->toolkit, native, (uint32_t)count, err);
        cs_free(native);
        CS_TRY(code);
    }
    return o->toolkit ? cs_archlist_for_toolkit(list, o->toolkit, err) : CS_OK;
}

static enum cs_code show(struct cs_cli *cli, const struct arch_opts *o, struct run *r,
                         struct cs_err *err) {
    const bool plain = cli->common.format == CS_REPORT_TEXT && (o->to || o->flags);
    if (o->flags) {
        static const enum cs_flag_style styles[] = {CS_FLAGS_TORCH, CS_FLAGS_TORCH, CS_FLAGS_CMAKE,
                                                    CS_FLAGS_VLLM};
        CS_TRY(cs_archlist_flags(&r->list, styles[o->flags], &r->out, err));
    } else {
        const enum cs_notation to = o->to ? (enum cs_notation)o->to : r->list.notation;
        CS_TRY(cs_archlist_print(&r->list, to, &r->out, err));
    }
    if (plain) {
        cs_arch_show_issues(cli, &r->list);
        cs_buf_addc(&r->out, '\n');
        CS_TRY(cs_buf_check(&r->out, err));
        return cs_cli_write(cli, cs_buf_str(&r->out), err);
    }
    CS_TRY(cs_archlist_merge(&r->list, &r->merged, err));
    const struct cs_arch_report report = {
        .input = r->text.text, .list = &r->list, .merged = &r->merged, .text = cs_buf_str(&r->out)};
    return cs_cli_output(cli, &report, cs_arch_report_doc, cs_arch_report_json, err);
}

static enum cs_code run(struct cs_cli *cli, const void *opts_given, struct cs_err *err) {
    const struct arch_opts *o = opts_given;
    struct run r = {0};
    cs_archlist_init(&r.list);
    cs_archlist_init(&r.merged);
    cs_buf_init(&r.out, CS_MAX_REPORT_BYTES);
    enum cs_code code = read_list(cli, o, &r, err);
    if (code == CS_OK) {
        code = resolve(o, &r.list, err);
    }
    if (code == CS_OK) {
        code = show(cli, o, &r, err);
    }
    cs_buf_fini(&r.out);
    cs_arch_text_close(&r.text);
    cs_archlist_fini(&r.merged);
    cs_archlist_fini(&r.list);
    return code;
}

static const struct cs_example examples[] = {
    {"arch '8.0;9.0a+PTX'", "Shows what the list asks for."},
    {"arch --to cmake '8.0;9.0a+PTX'", "Prints 80-real;90a."},
    {"arch --to nvcc --toolkit 13.0 all-major", "Prints the flags that nvcc 13.0 stands in for."},
    {"arch --to torch -- nvcc -arch=sm_90 x.cu", "Reads a whole command."},
    {0},
};

extern const struct cs_cmd cs_cmd_arch_intersect, cs_cmd_arch_lint, cs_cmd_arch_explain;
static const struct cs_cmd *const subs[] = {
    &cs_cmd_arch_intersect,
    &cs_cmd_arch_lint,
    &cs_cmd_arch_explain,
    NULL,
};

const struct cs_cmd cs_cmd_arch = {
    .name = "arch",
    .group = CS_GROUP_DECIDE,
    .summary = "Read, convert, intersect and judge lists of architectures",
    .args = "LIST",
    .description =
        "Reads torch lists (8.0;8.6 9.0a+PTX, family names), CMake lists (80-real;90a-virtual, "
        "all, all-major, native), nvcc flags or whole commands, FlashInfer and tvm-ffi lists, and "
        "targets (sm_90a,compute_90). A wrong word is an error that quotes it, its position and "
        "the nearest valid one. LIST may be - for standard input.",
    .examples = examples,
    .opts = opts,
    .opts_size = sizeof(struct arch_opts),
    .args_max = CS_ARGS_ANY,
    .subs = subs,
    .run = run,
};
