// cuslim arch intersect: what a source is built for, from what it supports and what is wanted.
#include "base/limits.h"
#include "cli/arch_common.h"
#include "model/intersect.h"
#include "report/arch_report.h"

struct intersect_opts {
    const char *source, *target;
    unsigned as, from, to;
    uint16_t toolkit;
    bool strict;
};

static const char *const as_words[] = {"default", "vllm", NULL};

#define OPT(kind, name, letter, field, metavar, ...) \
    CS_OPT(kind, name, letter, struct intersect_opts, field, metavar, __VA_ARGS__)
static const struct cs_opt opts[] = {
    OPT(STRING, "source", 0, source, "LIST", "What the source supports."),
    OPT(STRING, "target", 0, target, "LIST", "What the package wants."),
    OPT(CHOICE, "as", 0, as, "RULES",
        "default: keeps all that can be kept, in any order. vllm: what the CMake function of "
        "vLLM 0.33.0 gives.",
        .choices = as_words),
    OPT(CHOICE, "from", 0, from, "NOTATION", "How both lists are written; auto by default.",
        .choices = cs_arch_notation_words),
    OPT(CHOICE, "to", 0, to, "NOTATION", "How to write the result; torch by default.",
        .choices = cs_arch_notation_words),
    OPT(VALUE, "toolkit", 0, toolkit, "X.Y", "Expand all and all-major for this CUDA toolkit.",
        .parse = cs_arch_toolkit_value),
    OPT(SWITCH, "strict", 0, strict, NULL, "Exit with 1 when a wanted target stays uncovered."),
    CS_OPT_LAST,
};

struct run {
    struct cs_arch_text source, target;
    struct cs_archlist vllm;  // the result of --as vllm, read back
    struct cs_intersection x;
    struct cs_buf text;
};

static enum cs_code read_one(const struct intersect_opts *o, struct cs_str text, const char *name,
                             struct cs_archlist *list, struct cs_err *err) {
    const struct cs_archlist_options options = {.notation = (enum cs_notation)o->from};
    cs_archlist_init(list);
    enum cs_code code = cs_archlist_parse(list, text, &options, err);
    if (code == CS_OK && o->toolkit) {
        code = cs_archlist_expand(list, o->toolkit, NULL, 0, err);
    }
    return code == CS_OK ? code : cs_wrap(err, code, "--%s", name);
}

static enum cs_code by_rules(const struct intersect_opts *o, struct run *r, struct cs_err *err) {
    struct cs_archlist source, target;
    enum cs_code code = read_one(o, r->source.text, "source", &source, err);
    cs_archlist_init(&target);
    if (code == CS_OK) {
        code = read_one(o, r->target.text, "target", &target, err);
    }
    if (code == CS_OK) {
        code = cs_intersect(&source, &target, &r->x, err);
    }
    cs_archlist_fini(&source);
    cs_archlist_fini(&target);
    return code == CS_OK ? cs_archlist_print(&r->x.result,
                                             o->to ? (enum cs_notation)o->to : CS_NOTATION_TORCH,
                                             &r->text, err)
                         : code;
}

static enum cs_code as_vllm(const struct intersect_opts *o, struct run *r, struct cs_err *err) {
    CS_TRY(cs_intersect_vllm(r->source.text, r->target.text, &r->text, err));
    // Words that no nvcc knows pass through that function; they are shown, not explained.
    const struct cs_archlist_options options = {.notation = CS_NOTATION_TORCH, .collect = true};
    CS_TRY(cs_archlist_parse(&r->vllm, cs_buf_str(&r->text), &options, err));
    if (o->to && o->to != CS_NOTATION_TORCH) {
        cs_buf_clear(&r->text);
        CS_TRY(cs_archlist_print(&r->vllm, (enum cs_notation)o->to, &r->text, err));
    }
    return CS_OK;
}

static void show_notes(const struct cs_cli *cli, const struct cs_intersection *x) {
    for (size_t i = 0; i < x->notes.count; i++) {
        const struct cs_str note = x->notes.ptr[i];
        if (cs_str_find(note, CS_STR("uncovered")) != SIZE_MAX) {
            cs_cli_warn(cli, "%s", note.ptr);
        } else {
            cs_cli_remark(cli, "%s", note.ptr);
        }
    }
}

static enum cs_code show(struct cs_cli *cli, const struct intersect_opts *o, struct run *r,
                         struct cs_err *err) {
    const bool vllm = o->as == 1;
    if (cli->common.format == CS_REPORT_TEXT) {
        show_notes(cli, &r->x);
        cs_buf_addc(&r->text, '\n');
        CS_TRY(cs_buf_check(&r->text, err));
        return cs_cli_write(cli, cs_buf_str(&r->text), err);
    }
    const struct cs_arch_intersect_report report = {
        .source = r->source.text,
        .target = r->target.text,
        .as = as_words[o->as],
        .result = vllm ? &r->vllm : &r->x.result,
        .steps = vllm ? NULL : &r->x,
        .text = cs_buf_str(&r->text),
    };
    return cs_cli_output(cli, &report, cs_arch_intersect_report_doc, cs_arch_intersect_report_json,
                         err);
}

static enum cs_code run(struct cs_cli *cli, const void *opts_given, struct cs_err *err) {
    const struct intersect_opts *o = opts_given;
    if (!o->source || !o->target) {
        return cs_fail(err, CS_USAGE, "missing --%s", o->source ? "target" : "source");
    }
    struct run r = {0};
    cs_archlist_init(&r.vllm);
    cs_intersection_init(&r.x);
    cs_buf_init(&r.text, CS_MAX_REPORT_BYTES);
    enum cs_code code = cs_arch_text_open(o->source, &r.source, err);
    if (code == CS_OK) {
        code = cs_arch_text_open(o->target, &r.target, err);
    }
    if (code == CS_OK) {
        code = o->as == 1 ? as_vllm(o, &r, err) : by_rules(o, &r, err);
    }
    if (code == CS_OK) {
        code = show(cli, o, &r, err);
        cli->gate_failed = o->strict && r.x.uncovered > 0;
    }
    cs_buf_fini(&r.text);
    cs_arch_text_close(&r.source);
    cs_arch_text_close(&r.target);
    cs_intersection_fini(&r.x);
    cs_archlist_fini(&r.vllm);
    return code;
}

static const struct cs_example examples[] = {
    {"arch intersect --source '8.0+PTX;9.0a' --target '8.0 8.9 9.0 12.0'",
     "Prints 8.0+PTX;9.0a; notes go to standard error."},
    {"arch intersect --as vllm --source 10.0f --target 10.3", "Prints 10.3, as vLLM's CMake does."},
    {0},
};

const struct cs_cmd cs_cmd_arch_intersect = {
    .name = "intersect",
    .group = CS_GROUP_DECIDE,
    .summary = "Choose what a source is built for from what it supports and what is wanted",
    .examples = examples,
    .opts = opts,
    .opts_size = sizeof(struct intersect_opts),
    .run = run,
};
