// Path: what may be said about a stored name before anything is opened by it.
#ifndef CS_BASE_PATH_H
#define CS_BASE_PATH_H

#include "base/view.h"

// True for well-formed UTF-8 (no overlong forms, surrogates or values beyond U+10FFFF).  *ascii,
// when given, says whether all bytes before the first wrong one are below 0x80.
bool cs_utf8_valid(struct cs_str s, bool *ascii);

// True for a relative path that stays below its root on every system: not empty, no leading '/', no
// drive letter, no ".." component, no backslash, no control character.
bool cs_path_is_plain(struct cs_str path);

// The part after the last '/'.
struct cs_str cs_path_base(struct cs_str path);

#endif
