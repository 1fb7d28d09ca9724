// Term: what is known about the terminal, and the progress meter on it.
#ifndef CS_CLI_TERM_H
#define CS_CLI_TERM_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"

// Colour on descriptor fd: the flag, else NO_COLOR, else CLICOLOR_FORCE or FORCE_COLOR, else
// "it is a terminal and TERM is not dumb".  An empty or "0" force variable counts as unset.
bool cs_term_color(enum cs_when when, int fd);

// Columns of text for descriptor fd: COLUMNS, else the terminal's width, else 80; 40 to 400.
uint32_t cs_term_width(int fd);

// One line on stderr, redrawn in place at most ten times a second; only on a terminal outside CI,
// unless `when` is always.  Updates may come from any thread.
void cs_meter_start(enum cs_when when);
void cs_meter_update(uint64_t done_bytes, uint64_t total_bytes);
void cs_meter_clear(void);  // before anything else is printed

// Removes unfinished output files when the user or the system ends the program, and turns crashes
// into exit code 70 and a vanished input into 4.
void cs_signals_install(void);

#endif
