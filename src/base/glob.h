// Glob: path patterns of the configuration.
//
//   *    any run of characters within a name (not '/')
//   **   any number of folders ("a/**/b" also matches "a/b")
//   ?    one character of a name
// Everything else stands for itself; there are no brackets and no escapes.
#ifndef CS_BASE_GLOB_H
#define CS_BASE_GLOB_H

#include "base/view.h"

// The whole path.
bool cs_glob_match(struct cs_str pattern, struct cs_str path);

// The whole path, or, when the path has fewer folders than the pattern, its trailing parts:
// "sgl_kernel/sm90/*.so" also matches a bare "sm90/common_ops.so" or "common_ops.so", which is how
// a library is seen outside its wheel.  A path with at least as many folders must match whole, or
// from some folder on ("/opt/site/sgl_kernel/sm90/x.so").
bool cs_glob_match_tail(struct cs_str pattern, struct cs_str path);

// A source file as a finished library names it: its whole path or the path from some folder on
// ("/build/csrc/a.cu" for "csrc/*.cu").  A bare name, which is all that most libraries tell,
// matches the last part of the pattern, unless that says nothing about names:
// "csrc/marlin/**/*.cu" must not claim every .cu there is.
bool cs_glob_match_source(struct cs_str pattern, struct cs_str source);

#endif
