// The frame: finds the command, parses its options, runs it, writes its output, reports its error,
// and turns the outcome into an exit code.
#include "cli/cli.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/suggest.h"
#include "cli/help.h"
#include "cli/term.h"
#include "report/clean.h"

enum { EXIT_GATE = 1, EXIT_USAGE = 2, LINE_MAX_BYTES = 8192, THREADS_MAX = 256 };

static const char *const format_names[] = {"text", "json",   "csv", "markdown",
                                           "html", "github", NULL};
static const char *const when_names[] = {"auto", "always", "never", NULL};

#define COMMON(kind, name, letter, field, metavar, ...) \
    CS_OPT(kind, name, letter, struct cs_common, field, metavar, __VA_ARGS__)
const struct cs_opt cs_common_opts[] = {
    COMMON(CHOICE, "format", 0, format, "FORMAT",
           "Form of the report: text, json, csv, markdown, html or github.",
           .choices = format_names),
    COMMON(PATH, "output", 'o', output, "FILE",
           "Write the result to FILE instead of standard output."),
    COMMON(NUMBER, "jobs", 'j', threads, "N", "Number of threads; one per processor by default."),
    COMMON(CHOICE, "color", 0, color, "WHEN", "Colours: auto, always or never.",
           .choices = when_names),
    COMMON(CHOICE, "progress", 0, progress, "WHEN",
           "Progress meter on a terminal: auto, always or never.", .choices = when_names),
    COMMON(PATH, "config", 0, config, "FILE", "Read the configuration from FILE."),
    COMMON(SWITCH, "quiet", 'q', quiet, NULL, "Print no warnings."),
    COMMON(TALLY, "verbose", 'v', verbose, NULL, "Say more; twice for even more."),
    COMMON(SWITCH, "help", 'h', help, NULL, "Print this help and stop."),
    CS_OPT_LAST,
};

// One line on stderr.  Texts hold file and symbol names, so they are cleaned first.
static void print_line(const char *style, const char *kind, const char *fmt, va_list args) {
    char text[LINE_MAX_BYTES];
    vsnprintf(text, sizeof text, fmt, args);
    struct cs_buf clean;
    cs_buf_init(&clean, 8 * LINE_MAX_BYTES);
    cs_clean(&clean, cs_str_from(text));
    const bool color = style && cs_term_color(CS_WHEN_AUTO, STDERR_FILENO);
    cs_meter_clear();
    fprintf(stderr, "cuslim: %s%s%s%s\n", color ? style : "", kind, color ? "\x1b[0m" : "",
            clean.ptr ? clean.ptr : "out of memory");
    cs_buf_fini(&clean);
}

static void print_error(const char *fmt, ...) CS_PRINTF(1, 2);
static void print_error(const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    print_line("\x1b[31m", "error: ", fmt, args);
    va_end(args);
}

void cs_cli_warn(const struct cs_cli *cli, const char *fmt, ...) {
    if (!cli->common.quiet) {
        va_list args;
        va_start(args, fmt);
        print_line("\x1b[33m", "warning: ", fmt, args);
        va_end(args);
    }
}

void cs_cli_remark(const struct cs_cli *cli, const char *fmt, ...) {
    if (!cli->common.quiet) {
        va_list args;
        va_start(args, fmt);
        print_line(NULL, "note: ", fmt, args);
        va_end(args);
    }
}

void cs_cli_note(const struct cs_cli *cli, const char *fmt, ...) {
    if (cli->common.verbose > 0) {
        va_list args;
        va_start(args, fmt);
        print_line(NULL, "", fmt, args);
        va_end(args);
    }
}

void cs_cli_progress(void *ctx, uint64_t done_bytes, uint64_t total_bytes) {
    (void)ctx;
    cs_meter_update(done_bytes, total_bytes);
}

enum cs_code cs_cli_pool(struct cs_cli *cli, struct cs_pool **pool, struct cs_err *err) {
    if (!cli->pool) {
        CS_TRY(cs_pool_new((uint32_t)cli->common.threads, &cli->pool, err));
    }
    *pool = cli->pool;
    return CS_OK;
}

static enum cs_code write_fd(int fd, struct cs_str bytes, struct cs_err *err) {
    while (bytes.len > 0) {
        const ssize_t n = write(fd, bytes.ptr, bytes.len);
        if (n < 0) {
            return cs_fail_errno(err, "cannot write");
        }
        bytes.ptr += n;
        bytes.len -= (size_t)n;
    }
    return CS_OK;
}

// Devices, pipes and the like are written to; only a regular file is replaced.
static enum cs_code write_special(const char *path, struct cs_str bytes, struct cs_err *err) {
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return cs_fail_errno(err, "cannot open");
    }
    const enum cs_code code = write_fd(fd, bytes, err);
    close(fd);
    return code;
}

static enum cs_code write_file(const char *path, struct cs_str bytes, struct cs_err *err) {
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        return write_special(path, bytes, err);
    }
    const mode_t mask = umask(0);
    umask(mask);
    struct cs_outfile out;
    CS_TRY(cs_outfile_create(path, 0666 & ~mask, &out, err));
    cs_outfile_write(&out, bytes.ptr, bytes.len);
    return cs_outfile_commit(&out, err);
}

enum cs_code cs_cli_write(struct cs_cli *cli, struct cs_str bytes, struct cs_err *err) {
    const char *path = cli->cmd->flags & CS_CMD_ARTEFACT ? NULL : cli->common.output;
    cs_meter_clear();
    if (path && strcmp(path, "-") != 0) {
        const enum cs_code code = write_file(path, bytes, err);
        return code == CS_OK ? code : cs_wrap(err, code, "%s", path);
    }
    const enum cs_code code = write_fd(STDOUT_FILENO, bytes, err);
    return code == CS_OK ? code : cs_wrap(err, code, "standard output");
}

// "cuslim.arch-intersect/1" for "arch intersect".
static void put_schema(struct cs_json *j, const char *path) {
    char schema[96];
    snprintf(schema, sizeof schema, "cuslim.%s/1", path);
    for (char *p = schema; *p; p++) {
        *p = *p == ' ' ? '-' : *p;
    }
    cs_json_kz(j, "schema", schema);
}

static enum cs_code render_json(const struct cs_cli *cli, const void *result, cs_json_fn *json,
                                struct cs_buf *out, struct cs_err *err) {
    struct cs_json j;
    cs_json_init(&j, out, true);
    cs_json_object(&j);
    put_schema(&j, cli->path);
    cs_json_key(&j, "tool");
    cs_json_object(&j);
    cs_json_kz(&j, "name", "cuslim");
    cs_json_kz(&j, "version", CUSLIM_VERSION);
    cs_json_object_end(&j);
    json(result, &j);
    cs_json_object_end(&j);
    cs_buf_addc(out, '\n');
    return cs_buf_check(out, err);
}

static enum cs_code render_doc(const struct cs_cli *cli, const void *result, cs_doc_fn *fill,
                               struct cs_buf *out, struct cs_err *err) {
    const bool to_file = cli->common.output && !(cli->cmd->flags & CS_CMD_ARTEFACT);
    const bool terminal = !to_file || strcmp(cli->common.output, "-") == 0;
    const struct cs_render how = {
        .format = cli->common.format,
        .width = cs_term_width(terminal ? STDOUT_FILENO : -1),
        .color = cs_term_color(cli->common.color, terminal ? STDOUT_FILENO : -1),
        .full_names = cli->full_names,
    };
    struct cs_doc doc;
    cs_doc_init(&doc, NULL);
    fill(result, &doc);
    const enum cs_code code = cs_report_render(&doc, &how, out, err);
    cs_doc_fini(&doc);
    return code;
}

enum cs_code cs_cli_output(struct cs_cli *cli, const void *result, cs_doc_fn *doc, cs_json_fn *json,
                           struct cs_err *err) {
    struct cs_buf out;
    cs_buf_init(&out, CS_MAX_REPORT_BYTES);
    enum cs_code code = cli->common.format == CS_REPORT_JSON
                            ? render_json(cli, result, json, &out, err)
                            : render_doc(cli, result, doc, &out, err);
    if (code == CS_OK) {
        code = cs_cli_write(cli, cs_buf_str(&out), err);
    }
    cs_buf_fini(&out);
    return code;
}

static enum cs_code check_args(const struct cs_cli *cli, struct cs_err *err) {
    const struct cs_cmd *cmd = cli->cmd;
    const size_t given = cli->args.items.count;
    if (cli->common.threads > THREADS_MAX) {
        return cs_fail(err, CS_USAGE, "--jobs: at most %d", THREADS_MAX);
    }
    if (given < cmd->args_min) {
        return cs_fail(err, CS_USAGE, "missing %s", cmd->args ? cmd->args : "argument");
    }
    if (cmd->args_max != CS_ARGS_ANY && given > cmd->args_max) {
        return cs_fail(err, CS_USAGE, "one argument too many: '%s'",
                       cli->args.items.ptr[cmd->args_max]);
    }
    return CS_OK;
}

static enum cs_code show_help(struct cs_cli *cli, struct cs_err *err) {
    struct cs_buf out;
    cs_buf_init(&out, CS_MIB);
    cs_help_command(&out, cli->cmd, cli->path, cs_term_width(STDOUT_FILENO));
    enum cs_code code = cs_buf_check(&out, err);
    if (code == CS_OK) {
        code = write_fd(STDOUT_FILENO, cs_buf_str(&out), err);
    }
    cs_buf_fini(&out);
    return code;
}

static enum cs_code run_parsed(struct cs_cli *cli, const void *opts, struct cs_err *err) {
    if (cli->common.help) {
        return show_help(cli, err);
    }
    if (!cli->cmd->run) {
        return cs_fail(err, CS_USAGE, "which %s command?", cli->path);
    }
    CS_TRY(check_args(cli, err));
    cs_meter_start(cli->common.quiet ? CS_WHEN_NEVER : cli->common.progress);
    const enum cs_code code = cli->cmd->run(cli, opts, err);
    cs_meter_clear();
    return code;
}

static enum cs_code run_command(struct cs_cli *cli, int argc, char **argv, struct cs_err *err) {
    const struct cs_cmd *cmd = cli->cmd;
    void *opts = cs_calloc(1, cmd->opts_size + 1);
    if (!opts) {
        return cs_fail(err, CS_NOMEM, "no memory for the options");
    }
    if (cmd->defaults) {
        memcpy(opts, cmd->defaults, cmd->opts_size);
    }
    const struct cs_opt_set sets[] = {{cmd->opts, opts}, {cs_common_opts, &cli->common}};
    enum cs_code code = cs_opt_parse(sets, 2, cmd->flags & CS_CMD_RAW, argc, argv, &cli->args, err);
    if (code == CS_OK) {
        code = run_parsed(cli, opts, err);
    }
    cs_opt_fini(&sets[0]);
    cs_vec_fini(&cli->args.items);
    cs_pool_free(cli->pool);
    cs_cli_config_free(cli);
    cs_free(opts);
    return code;
}

// `path` is the command whose help may help; NULL when it would not.
static int report_error(const struct cs_err *err, enum cs_code code, const char *path) {
    char text[CS_ERR_FRAMES * CS_ERR_TEXT + 64];
    cs_err_format(err, text, sizeof text);
    print_error("%s", text[0] ? text : cs_code_name(code));
    if (code == CS_USAGE && path) {
        fprintf(stderr, "Try 'cuslim %s%s--help'.\n", path, path[0] ? " " : "");
    } else if (code == CS_INTERNAL) {
        fprintf(stderr, "This is a bug in cuslim; please report it.\n");
    }
    return cs_code_exit(code);
}

static int unknown_command(const char *word) {
    struct cs_suggest s = {.word = cs_str_from(word)};
    for (const struct cs_cmd *const *c = cs_commands; *c; c++) {
        cs_suggest_offer(&s, (*c)->name);
    }
    const char *best = cs_suggest_best(&s);
    const char *what = word[0] == '-' ? "unknown option" : "unknown command";
    print_error("%s '%.100s'%s%s%s", what, word, best ? "; did you mean '" : "", best ? best : "",
                best ? "'?" : "");
    fprintf(stderr, "Try 'cuslim --help'.\n");
    return EXIT_USAGE;
}

static int print_buffer(void (*fill)(struct cs_buf *out)) {
    struct cs_buf out;
    struct cs_err err = {0};
    cs_buf_init(&out, CS_MIB);
    fill(&out);
    enum cs_code code = cs_buf_check(&out, &err);
    if (code == CS_OK) {
        code = write_fd(STDOUT_FILENO, cs_buf_str(&out), &err);
    }
    cs_buf_fini(&out);
    return code == CS_OK ? 0 : report_error(&err, code, "");
}

static void fill_help(struct cs_buf *out) { cs_help_program(out, cs_term_width(STDOUT_FILENO)); }
static void fill_version(struct cs_buf *out) { cs_buf_adds(out, "cuslim " CUSLIM_VERSION "\n"); }

// Descends into sub-commands; fills `path` with the words taken and moves *argc, *argv past them.
static const struct cs_cmd *find_command(int *argc, char ***argv, char *path, size_t path_size) {
    const struct cs_cmd *cmd = NULL;
    const struct cs_cmd *const *level = cs_commands;
    size_t used = 0;
    while (level && *argc > 0) {
        const struct cs_cmd *next = cs_cmd_find(level, cs_str_from((*argv)[0]));
        if (!next) {
            break;
        }
        cmd = next;
        used += (size_t)snprintf(path + used, path_size - used, "%s%s", used ? " " : "", cmd->name);
        ++*argv;
        --*argc;
        level = cmd->subs;
    }
    return cmd;
}

int cs_cli_main(int argc, char **argv) {
    const char *first = argc > 1 ? argv[1] : "";
    if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
        return print_buffer(fill_version);
    }
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
        return print_buffer(fill_help);
    }
    if (strcmp(first, "--help-json") == 0) {
        return print_buffer(cs_help_json);
    }
    if (argc < 2) {
        print_error("no command given");
        fprintf(stderr, "Try 'cuslim --help'.\n");
        return EXIT_USAGE;
    }
    cs_signals_install();
    char path[64];
    char **words = argv + 1;
    int count = argc - 1;
    struct cs_cli cli = {.cmd = find_command(&count, &words, path, sizeof path), .path = path};
    if (!cli.cmd) {
        return unknown_command(first);
    }
    struct cs_err err = {0};
    const enum cs_code code = run_command(&cli, count, words, &err);
    if (code != CS_OK) {
        return report_error(&err, code, cli.config_failed ? NULL : path);
    }
    return cli.exit_code ? cli.exit_code : cli.gate_failed ? EXIT_GATE : 0;
}
