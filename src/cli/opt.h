// Options: a typed table per command, and the one parser for all of them.
//
// From the same tables come parsing, --help, the OPTIONS of the man pages and the completions.
// Exact names only (an abbreviation would break when an option is added); a wrong one is answered
// with the nearest.
#ifndef CS_CLI_OPT_H
#define CS_CLI_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "base/view.h"

enum cs_opt_type {
    CS_OPT_END = 0,  // closes a table
    CS_OPT_FLAG,     // bool; --x and --no-x
    CS_OPT_SWITCH,   // bool; --x
    CS_OPT_TALLY,    // unsigned; each -v adds one
    CS_OPT_STRING,   // const char *, NULL when not given
    CS_OPT_PATH,     // the same; completed with file names
    CS_OPT_DIR,      // the same; completed with folder names
    CS_OPT_LIST,     // struct cs_list; commas or repetition
    CS_OPT_SIZE,     // uint64_t bytes: "300 MiB"
    CS_OPT_NUMBER,   // uint64_t
    CS_OPT_TOP,      // uint64_t; "all" is UINT64_MAX
    CS_OPT_CHOICE,   // unsigned (an enum); index into `choices`
    CS_OPT_VALUE,    // whatever `parse` writes
};

struct cs_list {
    CS_VEC(struct cs_str) items;  // borrowed from argv
};

// Reads one value into the field.  On failure names what is wrong with the text; the caller adds
// the option's name.
typedef enum cs_code cs_value_fn(struct cs_str text, void *field, struct cs_err *err);

struct cs_opt {
    enum cs_opt_type type;
    const char *name;            // without dashes
    char letter;                 // 0 = none
    size_t offset;               // of the field in the command's options struct
    const char *metavar;         // NULL for the types without a value
    const char *help;            // one or two sentences, no line breaks
    const char *const *choices;  // CHOICE: all of them; LIST: the same, or NULL for any word
    cs_value_fn *parse;          // VALUE
    bool hidden;                 // not in help, man pages and completions
    bool one_dash;               // -name too, for options known from another tool in that form
};

// One row of a table; a table ends with CS_OPT_LAST.
//     CS_OPT(TOP, "top", 'n', struct size_opts, top, "N", "Show the N largest rows."),
//     CS_OPT(CHOICE, "metric", 0, struct size_opts, metric, "METRIC", "...", .choices = metrics),
#define CS_OPT(kind, name_, letter_, struct_, field_, metavar_, help_, ...)                        \
    {                                                                                              \
        .type = CS_OPT_##kind, .name = (name_), .letter = (letter_),                               \
        .offset = offsetof(struct_, field_), .metavar = (metavar_), .help = (help_), __VA_ARGS__   \
    }
#define CS_OPT_LAST {.type = CS_OPT_END}

// A table and the struct it fills.
struct cs_opt_set {
    const struct cs_opt *opts;
    void *into;
};

struct cs_args {
    CS_VEC(const char *) items;  // what is no option, in order
    bool dashed;                 // a "--" was given; the items from `dash_at` on followed it
    size_t dash_at;
};

// Parses argv[0..argc) (the words after the command).  With `raw`, everything from the first word
// that is no option of ours goes to args untouched.  CS_USAGE says what is wrong and what may have
// been meant.
enum cs_code cs_opt_parse(const struct cs_opt_set *sets, size_t set_count, bool raw, int argc,
                          char **argv, struct cs_args *args, struct cs_err *err) CS_MUST_USE;

// Frees the lists of an options struct.
void cs_opt_fini(const struct cs_opt_set *set);

bool cs_opt_takes_value(enum cs_opt_type type);

// Splits at commas and appends; empty parts are errors.
enum cs_code cs_list_add(struct cs_list *list, const char *text, struct cs_err *err) CS_MUST_USE;

#endif
