// cuslim list: every image of every file, as a table, as cuobjdump's text, or copied out.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/list_extract.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/load.h"
#include "report/list.h"

struct list_opts {
    bool kernels, cuobjdump, lelf, lptx, all, force;
    unsigned names;
    struct cs_list arch;
    const char *extract;
};

static const char *const name_forms[] = {"short", "full", "mangled", NULL};

static const struct cs_opt opts[] = {
    CS_OPT(SWITCH, "kernels", 'k', struct list_opts, kernels, NULL,
           "Read the images too: the kernels under each, with registers, shared, local and "
           "constant memory, barriers and code."),
    CS_OPT(LIST, "arch", 0, struct list_opts, arch, "TARGETS",
           "List only images of these targets, such as sm_90a,compute_80."),
    CS_OPT(CHOICE, "names", 0, struct list_opts, names, "FORM",
           "Kernel names: short (demangled, cut to fit), full or mangled.", .choices = name_forms),
    CS_OPT(SWITCH, "cuobjdump", 0, struct list_opts, cuobjdump, NULL,
           "Print what cuobjdump 13 prints, byte for byte."),
    CS_OPT(SWITCH, "lelf", 0, struct list_opts, lelf, NULL,
           "With --cuobjdump: names of the cubins, as cuobjdump -lelf.", .one_dash = true),
    CS_OPT(SWITCH, "lptx", 0, struct list_opts, lptx, NULL,
           "With --cuobjdump: names of the PTX files, as cuobjdump -lptx.", .one_dash = true),
    CS_OPT(SWITCH, "all", 0, struct list_opts, all, NULL,
           "With --cuobjdump: relocatable containers too, as cuobjdump -all.", .one_dash = true),
    CS_OPT(DIR, "extract", 'x', struct list_opts, extract, "DIR",
           "Write each image to a file of its own in DIR."),
    CS_OPT(SWITCH, "force", 'f', struct list_opts, force, NULL,
           "With --extract: replace files that exist."),
    CS_OPT_LAST,
};

static enum cs_code read_targets(const struct cs_list *words, struct cs_target **out,
                                 struct cs_err *err) {
    *out = cs_calloc(words->items.count + 1, sizeof **out);
    if (!*out) {
        return cs_fail(err, CS_NOMEM, "no memory for the targets");
    }
    for (size_t i = 0; i < words->items.count; i++) {
        const struct cs_str word = words->items.ptr[i];
        if (!cs_target_parse(word, &(*out)[i])) {
            return cs_fail(err, CS_USAGE, "--arch: '%.*s' is no target; write sm_90a or compute_80",
                           (int)(word.len > 64 ? 64 : word.len), word.ptr);
        }
    }
    return CS_OK;
}

static enum cs_code check_options(const struct cs_cli *cli, const struct list_opts *o,
                                  struct cs_err *err) {
    if ((o->lelf || o->lptx || o->all) && !o->cuobjdump) {
        return cs_fail(err, CS_USAGE, "-lelf, -lptx and -all need --cuobjdump");
    }
    if (o->cuobjdump && (o->kernels || o->extract || o->arch.items.count > 0 ||
                         cli->common.format != CS_REPORT_TEXT)) {
        return cs_fail(err, CS_USAGE, "--cuobjdump has a text of its own: no --kernels, --arch, "
                                      "--extract or --format with it");
    }
    if (o->force && !o->extract) {
        return cs_fail(err, CS_USAGE, "--force needs --extract");
    }
    return CS_OK;
}

// The path as cuobjdump shows it: the working folder before a relative one, nothing resolved.
static enum cs_code absolute(const char *path, char *out, size_t size, struct cs_err *err) {
    size_t used = 0;
    if (path[0] != '/') {
        if (!getcwd(out, size - 1)) {
            return cs_fail_errno(err, "the working folder has no path");
        }
        used = strlen(out);
        out[used++] = '/';
    }
    const int n = snprintf(out + used, size - used, "%s", path);
    return n >= 0 && (size_t)n < size - used
               ? CS_OK
               : cs_fail(err, CS_LIMIT, "path of more than %d bytes", CS_MAX_PATH_BYTES);
}

static enum cs_code show_cuobjdump(struct cs_cli *cli, const struct list_opts *o,
                                   const struct cs_listing *l, struct cs_err *err) {
    const struct cs_cuobjdump how = {.elf = o->lelf, .ptx = o->lptx, .all = o->all};
    struct cs_buf out, messages;
    cs_buf_init(&out, CS_MAX_REPORT_BYTES);
    cs_buf_init(&messages, CS_MAX_REPORT_BYTES);
    enum cs_code code = CS_OK;
    for (uint32_t i = 0; code == CS_OK && i < l->inv->inputs.count; i++) {
        char path[CS_MAX_PATH_BYTES];
        code = absolute(l->inv->inputs.ptr[i].path.ptr, path, sizeof path, err);
        if (code == CS_OK) {
            cs_list_cuobjdump(l, i, cs_str_from(path), &how, &out, &messages);
        }
    }
    code = code == CS_OK ? cs_buf_check(&out, err) : code;
    code = code == CS_OK ? cs_buf_check(&messages, err) : code;
    code = code == CS_OK ? cs_cli_write(cli, cs_buf_str(&out), err) : code;
    if (code == CS_OK && !cli->common.quiet && messages.len > 0) {
        (void)fwrite(messages.ptr, 1, messages.len, stderr);
    }
    cs_buf_fini(&out);
    cs_buf_fini(&messages);
    return code;
}

static enum cs_code extract(const struct cs_cli *cli, const struct list_opts *o,
                            const struct cs_listing *l, struct cs_extracted *done,
                            struct cs_err *err) {
    const struct cs_extract_options options = {.dir = o->extract, .force = o->force};
    CS_TRY(cs_list_extract(l, &options, done, err));
    if (done->unreadable > 0) {
        cs_cli_warn(cli, "%u image%s could not be read and got no file; the first: %s",
                    done->unreadable, done->unreadable == 1 ? "" : "s", done->first_problem);
    }
    cs_cli_note(cli, "%u files written to %s", done->files, o->extract);
    return CS_OK;
}

static enum cs_code show(struct cs_cli *cli, const struct list_opts *o,
                         const struct cs_listing *l, struct cs_err *err) {
    if (o->cuobjdump) {
        return show_cuobjdump(cli, o, l, err);
    }
    struct cs_extracted done = {0};
    if (o->extract) {
        CS_TRY(extract(cli, o, l, &done, err));
    }
    const struct cs_list_view view = {
        .listing = l, .names = (enum cs_list_names)o->names, .files = done.names};
    cli->full_names = o->names == CS_LIST_NAMES_FULL || o->names == CS_LIST_NAMES_MANGLED;
    cs_doc_fn *doc = cli->common.format == CS_REPORT_CSV ? cs_list_flat_doc : cs_list_doc;
    const enum cs_code code = cs_cli_output(cli, &view, doc, cs_list_json, err);
    cs_extracted_fini(&done);
    return code;
}

static enum cs_code list_all(struct cs_cli *cli, const struct list_opts *o,
                             const struct cs_inventory *inv, const struct cs_target *targets,
                             struct cs_err *err) {
    const struct cs_list_options how = {
        .kernels = o->kernels,
        .targets = targets,
        .target_count = (uint32_t)o->arch.items.count,
    };
    struct cs_listing listing;
    CS_TRY(cs_listing_make(inv, &how, cli->pool, &listing, err));
    const enum cs_code code = show(cli, o, &listing, err);
    cs_listing_fini(&listing);
    return code == CS_OK ? cs_cli_load_verdict(inv, err) : code;
}

static enum cs_code run(struct cs_cli *cli, const void *options, struct cs_err *err) {
    const struct list_opts *o = options;
    struct cs_target *targets = NULL;
    struct cs_inventory inv = {0};
    enum cs_code code = check_options(cli, o, err);
    code = code == CS_OK ? read_targets(&o->arch, &targets, err) : code;
    if (code == CS_OK) {
        const struct cs_inventory_options how = {
            .depth = o->kernels ? CS_DEPTH_KERNELS : CS_DEPTH_HEADERS,
            .sources = !o->cuobjdump,
        };
        code = cs_cli_load(cli, how, &inv, err);
    }
    code = code == CS_OK ? list_all(cli, o, &inv, targets, err) : code;
    cs_free(targets);
    cs_inventory_fini(&inv);
    return code;
}

static const struct cs_example examples[] = {
    {"list torch/lib/libtorch_cuda.so", "Every image: offset, target, compression, sizes."},
    {"list --kernels --arch sm_90a vllm.whl", "The kernels of one target and their registers."},
    {"list --cuobjdump -lelf libx.so", "The text of cuobjdump -lelf."},
    {"list --extract out --arch compute_80 libx.so", "Writes the PTX for 8.0 to files."},
    {0},
};

const struct cs_cmd cs_cmd_list = {
    .name = "list",
    .group = CS_GROUP_LOOK,
    .summary = "List every image of every file, and what is in it",
    .args = "INPUT...",
    .description = "An image is one entry of a fatbin: a cubin (SASS), PTX or LTO-IR. A plain list "
                   "reads headers alone; --kernels decompresses and reads the images.",
    .examples = examples,
    .opts = opts,
    .opts_size = sizeof(struct list_opts),
    .args_min = 1,
    .args_max = CS_ARGS_ANY,
    .run = run,
};
