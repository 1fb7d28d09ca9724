// Commands: the one table from which running, help, man pages and completions are made.
//
// Adding one: docs/howto/add-a-command.md.
#ifndef CS_CLI_CMD_H
#define CS_CLI_CMD_H

#include "cli/opt.h"

struct cs_cli;

enum cs_cmd_group {
    CS_GROUP_LOOK,    // measure and list
    CS_GROUP_JUDGE,   // check, explain
    CS_GROUP_DECIDE,  // plan, arch
    CS_GROUP_CHANGE,  // slim, split
    CS_GROUP_BUILD,   // nvcc, jit, cache
    CS_GROUP_OTHER,
};
enum { CS_GROUP_COUNT = CS_GROUP_OTHER + 1 };
const char *cs_group_title(enum cs_cmd_group group);

struct cs_example {
    const char *words;    // after "cuslim "
    const char *meaning;
};

enum {
    CS_CMD_ARTEFACT = 1,  // -o names what the command makes; its report goes to stdout
    CS_CMD_RAW = 2,       // options end at the first argument (a compiler command follows)
    CS_CMD_HIDDEN = 4,
};

enum { CS_ARGS_ANY = UINT16_MAX };

struct cs_cmd {
    const char *name;
    enum cs_cmd_group group;
    const char *summary;               // one line, no full stop
    const char *args;                  // "INPUT..."; NULL = none
    const char *description;           // a paragraph, or NULL
    const struct cs_example *examples; // ends with words == NULL; or NULL
    const struct cs_opt *opts;         // ends with CS_OPT_END; or NULL
    size_t opts_size;                  // of the options struct
    const void *defaults;              // an options struct to start from; NULL = all zero
    uint16_t args_min, args_max;       // CS_ARGS_ANY = no maximum
    unsigned flags;
    const struct cs_cmd *const
        *subs;  // ends with NULL; or NULL.  A sub's name is the first argument.
    enum cs_code (*run)(struct cs_cli *cli, const void *opts,
                        struct cs_err *err);  // NULL: subs only
};

// All commands, in the order of help; ends with NULL.
extern const struct cs_cmd *const cs_commands[];

const struct cs_cmd *cs_cmd_find(const struct cs_cmd *const *commands, struct cs_str name);

#endif
