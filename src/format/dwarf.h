// DWARF: the file table of a line program, and nothing else of DWARF.
//
// Serves cubins compiled with -lineinfo or -G (DWARF 2 from nvcc; 2 to 5, 32- and 64-bit are read).
#ifndef CS_FORMAT_DWARF_H
#define CS_FORMAT_DWARF_H

#include "base/view.h"

struct cs_dwarf_file {
    struct cs_str dir;   // empty when not known
    struct cs_str name;  // may itself be a path
};

// Files of all line programs in a .debug_line section, in order; views into the sections given.
// `line_str` and `str` are .debug_line_str and .debug_str, empty when absent.  Stores at most `cap`
// and returns how many were stored.  Damaged tables end the list early.
uint32_t cs_dwarf_line_files(struct cs_view line, struct cs_view line_str, struct cs_view str,
                             struct cs_dwarf_file *out, uint32_t cap);

#endif
