// Help: usage and option lists from the command tables, for people and for tools.
#ifndef CS_CLI_HELP_H
#define CS_CLI_HELP_H

#include "base/buf.h"
#include "cli/cmd.h"

// "cuslim --help".
void cs_help_program(struct cs_buf *out, uint32_t width);
// "cuslim COMMAND --help"; `path` is the command as typed, "arch intersect".
void cs_help_command(struct cs_buf *out, const struct cs_cmd *cmd, const char *path,
                     uint32_t width);
// "cuslim --help-json": every table, for the generators of man pages and completions.
void cs_help_json(struct cs_buf *out);

#endif
