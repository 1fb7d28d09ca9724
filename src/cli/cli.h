// Cli: what a running command may ask of its surroundings.
//
// A command parses nothing, prints nothing and reads no environment: it gets its options, calls the
// library and hands the result to cs_cli_output().
#ifndef CS_CLI_CLI_H
#define CS_CLI_CLI_H

#include "base/pool.h"
#include "cli/cmd.h"
#include "format/json.h"
#include "report/report.h"

enum cs_when { CS_WHEN_AUTO, CS_WHEN_ALWAYS, CS_WHEN_NEVER };

// Options that every command has.
struct cs_common {
    enum cs_report_format format;
    const char *output;
    uint64_t threads;  // 0 = one per processor
    enum cs_when color, progress;
    const char *config;
    bool quiet, help;
    unsigned verbose;
};
extern const struct cs_opt cs_common_opts[];

struct cs_cli {
    const struct cs_cmd *cmd;
    const char *path;         // "size", "arch intersect"
    struct cs_common common;
    struct cs_args args;
    struct cs_pool *pool;     // see cs_cli_pool
    struct cs_config *config; // see cs_cli_config
    bool config_failed;       // the error is in the configuration, not in the words
    bool gate_failed;         // set it for exit code 1; the report is still written
    bool full_names;          // set it for --names full: text is not shortened
    int exit_code;            // for commands that hand on another program's code; 0 = not used
};

// The pool of -j threads, made at the first call; owned by the frame.
enum cs_code cs_cli_pool(struct cs_cli *cli, struct cs_pool **pool, struct cs_err *err) CS_MUST_USE;

// The configuration, read at the first call; never NULL on success: without a file it is empty.
// Warnings about it have been printed.  Owned by the frame.
struct cs_config;
enum cs_code cs_cli_config(struct cs_cli *cli, const struct cs_config **config,
                           struct cs_err *err) CS_MUST_USE;
struct cs_reach;
// The routes of --route ("GLOB=DEVICES") and of the configuration, which add up.  Texts are
// borrowed from both.
enum cs_code cs_cli_routes(struct cs_cli *cli, const struct cs_list *words, struct cs_reach *reach,
                           struct cs_err *err) CS_MUST_USE;
void cs_cli_config_free(struct cs_cli *cli);  // the frame's part of it

// The two descriptions of a result.  `doc` fills a document; `json` writes the members that follow
// "schema" and "tool" of the JSON object.
typedef void cs_doc_fn(const void *result, struct cs_doc *doc);
typedef void cs_json_fn(const void *result, struct cs_json *json);

// Shows a result in the format asked for, on stdout or in the file of -o.
enum cs_code cs_cli_output(struct cs_cli *cli, const void *result, cs_doc_fn *doc, cs_json_fn *json,
                           struct cs_err *err) CS_MUST_USE;
// Writes finished bytes to the same place.
enum cs_code cs_cli_write(struct cs_cli *cli, struct cs_str bytes, struct cs_err *err) CS_MUST_USE;

// "cuslim: warning: ..." and "cuslim: note: ..." on stderr unless -q; "cuslim: ..." with -v.
void cs_cli_warn(const struct cs_cli *cli, const char *fmt, ...) CS_PRINTF(2, 3);
void cs_cli_remark(const struct cs_cli *cli, const char *fmt, ...) CS_PRINTF(2, 3);
void cs_cli_note(const struct cs_cli *cli, const char *fmt, ...) CS_PRINTF(2, 3);

// For callbacks of long work; any thread.  `ctx` is the struct cs_cli.
void cs_cli_progress(void *ctx, uint64_t done_bytes, uint64_t total_bytes);

// The value of an environment variable, NULL when unset or empty.
const char *cs_cli_env(const char *name);

// The whole program.
int cs_cli_main(int argc, char **argv);

#endif
