// Demangle: the Itanium C++ ABI names of kernels, by LLVM's libc++abi.
#ifndef CS_FORMAT_DEMANGLE_H
#define CS_FORMAT_DEMANGLE_H

#include "base/buf.h"
#include "base/view.h"

// Replaces *out with the demangled name; a name that is not mangled, or cannot be read, is copied
// unchanged and false is returned.  Thread-safe with one buffer per thread.
bool cs_demangle(struct cs_str mangled, struct cs_buf *out);

#endif
