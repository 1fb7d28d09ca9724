// cuslim slim: cut finished files, safely.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "model/config.h"
#include "report/slim_report.h"

struct slim_opts {
    struct cs_list devices, drop, keep, allow, routes;
    struct cs_driver allow_floor;
    bool allow_unknown_floor;
    unsigned ptx, relocatable, minimise;
    enum cs_slim_recompress recompress;
    int level;
    uint64_t build_tag;
    const char *keep_kernels, *proof;
    bool free_edits, split, in_place, dry_run, force_vendor;
};

enum {
    LEVEL_NOT_GIVEN = -1,  // --recompress was not given at all
    LEVEL_BALANCE = 9,     // docs/evidence/compression.md: ten times as fast as 19 for a sixth more
};

// VALUE fields are written through these two, so that one option can fill two members.
struct recompress_value {
    enum cs_slim_recompress recompress;
    int level;
};
_Static_assert(offsetof(struct slim_opts, level) ==
                   offsetof(struct slim_opts, recompress) + sizeof(enum cs_slim_recompress),
               "recompress and level are one value");
_Static_assert(offsetof(struct slim_opts, allow_unknown_floor) ==
                   offsetof(struct slim_opts, allow_floor) + sizeof(struct cs_driver),
               "the floor and its unknown form are one value");

static enum cs_code parse_level(struct cs_str text, int most, int *level, struct cs_err *err) {
    int x = 0;
    for (size_t i = 0; i < text.len && x <= most; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            x = most + 1;
            break;
        }
        x = x * 10 + (text.ptr[i] - '0');
    }
    if (text.len == 0 || x < 1 || x > most) {
        return cs_fail(err, CS_USAGE, "level '%.*s' is not a number from 1 to %d", (int)text.len,
                       text.ptr, most);
    }
    *level = x;
    return CS_OK;
}

static enum cs_code parse_recompress(struct cs_str text, void *field, struct cs_err *err) {
    static const struct {
        struct cs_str word;
        enum cs_slim_recompress value;
        int levels;
    } words[] = {
        {{"keep", 4}, CS_SLIM_AS_IS, 0},    {{"none", 4}, CS_SLIM_TO_NONE, 0},
        {{"lz4", 3}, CS_SLIM_TO_LZ4, 12},   {{"zstd", 4}, CS_SLIM_TO_ZSTD, 22},
        {{"concat", 6}, CS_SLIM_TO_CONCAT, 22},
    };
    struct recompress_value *out = field;
    const size_t colon = cs_str_find(text, CS_STR(":"));
    const struct cs_str word = {text.ptr, colon == SIZE_MAX ? text.len : colon};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!cs_str_eq(word, words[i].word)) {
            continue;
        }
        *out = (struct recompress_value){words[i].value, 0};
        if (colon == SIZE_MAX) {
            return CS_OK;
        }
        if (words[i].levels == 0) {
            return cs_fail(err, CS_USAGE, "'%.*s' has no levels", (int)word.len, word.ptr);
        }
        const struct cs_str level = {text.ptr + colon + 1, text.len - colon - 1};
        return parse_level(level, words[i].levels, &out->level, err);
    }
    return cs_fail(err, CS_USAGE, "'%.*s' is none of keep, none, lz4, zstd and concat",
                   (int)word.len, word.ptr);
}

struct floor_value {
    struct cs_driver driver;
    bool unknown;
};

static enum cs_code parse_floor(struct cs_str text, void *field, struct cs_err *err) {
    struct floor_value *out = field;
    out->unknown = cs_str_eq(text, CS_STR("unknown"));
    return out->unknown ? CS_OK : cs_driver_parse(text, &out->driver, err);
}

static const char *const ptx_words[] = {"keep", "newest", "drop", NULL};
static const char *const relocatable_words[] = {"keep", "drop", NULL};
static const char *const minimise_words[] = {"install", "wheel", NULL};

#define OPT(kind, name, letter, field, metavar, ...) \
    CS_OPT(kind, name, letter, struct slim_opts, field, metavar, __VA_ARGS__)
static const struct cs_opt opts[] = {
    OPT(LIST, "for", 0, devices, "DEVICES",
        "Keep only what these devices need, such as 9.0,10.0."),
    OPT(LIST, "drop", 0, drop, "TARGETS", "Drop images of these targets, such as sm_86."),
    OPT(LIST, "keep", 0, keep, "TARGETS", "Drop images of all other targets."),
    OPT(CHOICE, "ptx", 0, ptx, "WHAT", "PTX: keep all, only the newest of a container, or drop.",
        .choices = ptx_words),
    OPT(CHOICE, "relocatable", 0, relocatable, "WHAT",
        "Relocatable copies (-rdc) whose code is linked in as well: keep or drop.",
        .choices = relocatable_words),
    OPT(VALUE, "recompress", 0, recompress, "FORM[:LEVEL]",
        "Form of the images that stay: keep, none, lz4, zstd or concat, with a level. Default: "
        "uncompressed ones become LZ4, which every driver reads.",
        .parse = parse_recompress),
    OPT(SWITCH, "split-concatenated", 0, split, NULL,
        "Make plain entries of concatenated ones, which drivers before R615 skip."),
    OPT(CHOICE, "minimise", 0, minimise, "WHAT",
        "What is to be small where one grows as the other shrinks: install or wheel.",
        .choices = minimise_words),
    OPT(FLAG, "free", 0, free_edits, NULL,
        "The edits that cost nothing (shadowed and unreachable images, link stubs, LZ4); "
        "--no-free leaves them out."),
    OPT(LIST, "route", 0, routes, "GLOB=DEVICES",
        "Which devices load which library, such as 'sm90/*.so=9.0' or 'sm100/*.so=not 9.0'; adds "
        "to the routes of the configuration."),
    OPT(LIST, "allow", 0, allow, "DEVICES",
        "Devices whose outcome may change; future stands for those still to come."),
    OPT(VALUE, "allow-floor", 0, allow_floor, "VERSION",
        "The oldest driver may become VERSION, or unknown.", .parse = parse_floor),
    OPT(PATH, "keep-kernels", 0, keep_kernels, "FILE",
        "Zero the code of all kernels but those named in FILE, one mangled name a line."),
    OPT(NUMBER, "build-tag", 0, build_tag, "N",
        "Give a wheel this build number: its hash is new, so lock files must see another name."),
    OPT(SWITCH, "in-place", 0, in_place, NULL, "Replace the input once the new file is verified."),
    OPT(SWITCH, "dry-run", 0, dry_run, NULL, "Say what would happen; write nothing."),
    OPT(PATH, "proof", 0, proof, "FILE",
        "Write the proof as JSON: hashes of every file and image before and after."),
    OPT(SWITCH, "force-vendor", 0, force_vendor, NULL,
        "Edit libraries that look like NVIDIA's own redistributables."),
    CS_OPT_LAST,
};
static const struct slim_opts defaults = {.free_edits = true, .level = LEVEL_NOT_GIVEN};

// ---- options ---------------------------------------------------------------------------------

static enum cs_code read_targets(const char *name, const struct cs_list *list,
                                 struct cs_target *out, uint32_t *count, struct cs_err *err) {
    for (size_t i = 0; i < list->items.count; i++) {
        const struct cs_str word = list->items.ptr[i];
        if (*count == CS_SLIM_LIST_MAX || !cs_target_parse(word, &out[*count])) {
            return cs_fail(err, CS_USAGE, "--%s: '%.*s' is no target such as sm_90a or compute_80",
                           name, (int)word.len, word.ptr);
        }
        ++*count;
    }
    return CS_OK;
}

static enum cs_code read_devices(const char *name, const struct cs_list *list,
                                 struct cs_device *out, uint32_t *count, bool *future,
                                 struct cs_err *err) {
    for (size_t i = 0; i < list->items.count; i++) {
        const struct cs_str word = list->items.ptr[i];
        if (future && cs_str_eq(word, CS_STR("future"))) {
            *future = true;
            continue;
        }
        if (*count == CS_SLIM_LIST_MAX || !cs_device_parse(word, &out[*count])) {
            return cs_fail(err, CS_USAGE, "--%s: '%.*s' is no device such as 9.0", name,
                           (int)word.len, word.ptr);
        }
        out[*count] = cs_device_canonical(out[*count]);
        ++*count;
    }
    return CS_OK;
}

static enum cs_code read_kernels(const char *path, struct cs_intern *names, struct cs_err *err) {
    struct cs_file file;
    enum cs_code code = cs_file_open(path, &file, err);
    if (code != CS_OK) {
        return cs_wrap(err, code, "--keep-kernels %s", path);
    }
    struct cs_str rest = {(const char *)file.view.ptr, (size_t)file.view.len};
    while (code == CS_OK && rest.len) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        struct cs_str line = {rest.ptr, end ? (size_t)(end - rest.ptr) : rest.len};
        rest = (struct cs_str){rest.ptr + line.len + (end != NULL),
                               rest.len - line.len - (end != NULL)};
        line.len -= line.len && line.ptr[line.len - 1] == '\r';
        if (line.len && cs_intern_add(names, line) == CS_INTERN_NONE) {
            code = cs_fail(err, CS_NOMEM, "no memory for the names in %s", path);
        }
    }
    cs_file_close(&file);
    if (code == CS_OK && names->texts.count == 0) {
        return cs_fail(err, CS_USAGE, "--keep-kernels %s: no names in it", path);
    }
    return code;
}

// What nvcc's --compress-mode means for images that exist already.
static struct recompress_value form_of(enum cs_compress compress) {
    switch (compress) {
    case CS_COMPRESS_SIZE: return (struct recompress_value){CS_SLIM_TO_ZSTD, 0};
    case CS_COMPRESS_BALANCE: return (struct recompress_value){CS_SLIM_TO_ZSTD, LEVEL_BALANCE};
    case CS_COMPRESS_SPEED: return (struct recompress_value){CS_SLIM_TO_LZ4, 0};
    case CS_COMPRESS_NONE: return (struct recompress_value){CS_SLIM_AS_IS, 0};
    case CS_COMPRESS_UNSET: break;
    }
    return (struct recompress_value){CS_SLIM_RAW_TO_LZ4, 0};
}

// What the project promises.
static enum cs_code read_config(struct cs_cli *cli, const struct slim_opts *o,
                                struct cs_slim_options *out, struct cs_err *err) {
    const struct cs_config *config;
    CS_TRY(cs_cli_config(cli, &config, err));
    for (size_t i = 0; i < config->devices.count && i < CS_SLIM_LIST_MAX; i++) {
        out->promised[out->promised_count++] = cs_device_canonical(config->devices.ptr[i]);
    }
    out->allow_floor = config->driver;
    if (o->level == LEVEL_NOT_GIVEN) {
        const struct recompress_value form = form_of(config->compress);
        out->recompress = form.recompress;
        out->level = form.level;
    }
    if (cs_driver_known(config->driver) && cs_driver_known(o->allow_floor) &&
        cs_driver_cmp(o->allow_floor, config->driver) > 0) {
        char promised[CS_DRIVER_TEXT_BYTES];
        cs_driver_text(config->driver, promised);
        cs_cli_warn(cli, "%.*s:%u promises driver %s, and --allow-floor goes beyond it",
                    (int)config->path.len, config->path.ptr, config->driver_line, promised);
    }
    return CS_OK;
}

static enum cs_code read_options(const struct slim_opts *o, struct cs_slim_options *out,
                                 struct cs_err *err) {
    out->free_edits = o->free_edits;
    out->ptx = (enum cs_slim_ptx)o->ptx;
    out->drop_relocatable = o->relocatable == 1;
    out->minimise = (enum cs_slim_minimise)o->minimise;
    out->split_concatenated = o->split;
    if (o->level != LEVEL_NOT_GIVEN) {
        out->recompress = o->recompress;
        out->level = o->level;
    }
    if (cs_driver_known(o->allow_floor)) {
        out->allow_floor = o->allow_floor;
    }
    out->allow_unknown_floor = o->allow_unknown_floor;
    CS_TRY(read_targets("drop", &o->drop, out->drop, &out->drop_count, err));
    CS_TRY(read_targets("keep", &o->keep, out->keep, &out->keep_count, err));
    CS_TRY(read_devices("for", &o->devices, out->devices, &out->device_count, NULL, err));
    CS_TRY(
        read_devices("allow", &o->allow, out->allow, &out->allow_count, &out->allow_future, err));
    if (o->keep_kernels && out->reach && out->reach->routes.count) {
        return cs_fail(err, CS_USAGE, "--keep-kernels does not go with routes: which kernels the "
                                      "other devices use is not recorded");
    }
    return CS_OK;
}

static enum cs_code where_to(struct cs_cli *cli, const struct slim_opts *o,
                             struct cs_slim_request *q, struct cs_err *err) {
    q->input = cli->args.items.ptr[0];
    q->output = o->in_place ? q->input : cli->common.output;
    if (o->in_place && cli->common.output) {
        return cs_fail(err, CS_USAGE, "--in-place and -o exclude each other");
    }
    if (!q->output && !o->dry_run) {
        return cs_fail(err, CS_USAGE, "where to: give -o FILE, --in-place or --dry-run");
    }
    return CS_OK;
}

// ---- running ---------------------------------------------------------------------------------

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static enum cs_code write_proof(const char *path, const struct cs_slim_report *report,
                                const struct cs_slim_request *q, struct cs_err *err) {
    struct cs_buf text;
    struct cs_json j;
    cs_buf_init(&text, CS_MAX_REPORT_BYTES);
    cs_json_init(&j, &text, true);
    cs_json_object(&j);
    cs_json_kz(&j, "schema", "cuslim.proof/1");
    cs_json_key(&j, "tool");
    cs_json_object(&j);
    cs_json_kz(&j, "name", "cuslim");
    cs_json_kz(&j, "version", CUSLIM_VERSION);
    cs_json_object_end(&j);
    cs_slim_proof_json(report, q, &j);
    cs_json_object_end(&j);
    cs_buf_addc(&text, '\n');
    enum cs_code code = cs_buf_check(&text, err);
    struct cs_outfile out = {.fd = -1};
    if (code == CS_OK) {
        code = cs_outfile_create(path, 0644, &out, err);
    }
    if (code == CS_OK) {
        cs_outfile_write(&out, text.ptr, text.len);
        code = cs_outfile_commit(&out, err);
    }
    cs_buf_fini(&text);
    return code;
}

static enum cs_code run_request(struct cs_cli *cli, const struct slim_opts *o,
                                struct cs_slim_request *q, struct cs_err *err) {
    struct cs_slim_result result = {0};
    const double start = seconds_now();
    enum cs_code code = cs_slim_run(q, &result, err);
    const struct cs_slim_report report = {&result, o->dry_run, seconds_now() - start};
    if (code == CS_OK) {
        cs_cli_note(cli, "recompression: %.3f of %.3f seconds", result.build_seconds,
                    report.seconds);
    }
    if (code == CS_OK && o->proof && !o->dry_run) {
        code = write_proof(o->proof, &report, q, err);
    }
    if (code == CS_OK) {
        code = cs_cli_output(cli, &report, cs_slim_report_doc, cs_slim_report_json, err);
    }
    cs_slim_result_fini(&result);
    return code;
}

static enum cs_code run(struct cs_cli *cli, const void *opts_given, struct cs_err *err) {
    const struct slim_opts *o = opts_given;
    struct cs_reach reach = {0};
    struct cs_intern kernels;
    cs_intern_init(&kernels);
    struct cs_slim_request q = {.dry_run = o->dry_run, .force_vendor = o->force_vendor,
                                .prove = o->proof != NULL, .build_tag = o->build_tag,
                                .progress = cs_cli_progress, .progress_ctx = cli};
    q.options.reach = &reach;
    enum cs_code code = where_to(cli, o, &q, err);
    if (code == CS_OK) {
        code = read_config(cli, o, &q.options, err);
    }
    if (code == CS_OK) {
        code = cs_cli_routes(cli, &o->routes, &reach, err);
    }
    if (code == CS_OK) {
        code = read_options(o, &q.options, err);
    }
    if (code == CS_OK && o->keep_kernels) {
        code = read_kernels(o->keep_kernels, &kernels, err);
        q.options.keep_kernels = &kernels;
    }
    if (code == CS_OK) {
        code = cs_cli_pool(cli, &q.pool, err);
    }
    if (code == CS_OK) {
        code = run_request(cli, o, &q, err);
    }
    cs_reach_fini(&reach);
    cs_intern_fini(&kernels);
    return code;
}

static const struct cs_example examples[] = {
    {"slim x.whl -o slim/x.whl", "The free edits: nobody notices but the disk."},
    {"slim x.whl -o slim/x.whl --recompress zstd --allow-floor 550.54.14",
     "Smallest form that drivers since CUDA 12.4 read."},
    {"slim libtorch_cuda.so -o small.so --for 9.0", "Only what one kind of GPU needs."},
    {0},
};

const struct cs_cmd cs_cmd_slim = {
    .name = "slim",
    .group = CS_GROUP_CHANGE,
    .summary = "Cut finished wheels and libraries, with proof",
    .args = "INPUT",
    .description =
        "Drops images that no device runs, recompresses the rest, and writes a smaller file that "
        "is read back and compared with the original before it gets its name. What changes for "
        "some device, or needs a newer driver, is done only when allowed.",
    .examples = examples,
    .opts = opts,
    .opts_size = sizeof(struct slim_opts),
    .defaults = &defaults,
    .args_min = 1,
    .args_max = 1,
    .flags = CS_CMD_ARTEFACT,
    .run = run,
};
