// Clean: text from files made harmless and measurable before it reaches a person or a parser.
//
// Names in wheels and symbol tables are chosen by strangers: they may hold terminal escapes, line
// breaks, right-to-left overrides, invalid UTF-8, or 100 kB of one letter.  Every renderer passes
// every text through here.  Pure functions; any thread.
#ifndef CS_REPORT_CLEAN_H
#define CS_REPORT_CLEAN_H

#include "base/buf.h"
#include "base/view.h"

// Appends s.  Printable UTF-8 stays; control, invisible and direction-changing characters become
// \x1B or \u{202E}, invalid bytes \xFF.  The result is one line, and cleaning it again changes
// nothing.
void cs_clean(struct cs_buf *out, struct cs_str s);

// Columns that cleaned text takes on a terminal.
size_t cs_clean_width(struct cs_str clean);

// Appends cleaned text in at most `width` columns.  What is too long loses what tells least: first
// the parameters of a function, f(int, float*) becoming f(...), then the middle.  Of a path the
// end stays, of anything else more of the beginning.
void cs_clean_shorten(struct cs_buf *out, struct cs_str clean, size_t width);

#endif
