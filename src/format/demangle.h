// Demangle: the Itanium C++ ABI names of kernels, by LLVM's libc++abi.
#ifndef CS_FORMAT_DEMANGLE_H
#define CS_FORMAT_DEMANGLE_H

#include "base/buf.h"
#include "base/view.h"

// Replaces *out with the demangled name; a name that is not mangled, or cannot be read, is copied
// unchanged and false is returned.  nvcc's prefix of static kernels (__nv_static_...) is taken off.
// When memory runs out, out->failed says so.  Thread-safe with one buffer per thread.
//
// Names come from files, so hostile ones are expected: no name makes it use more than about
// 128 KiB + 256 bytes of memory for each of its own bytes (a few dozen can stand for gigabytes of
// text), overflow the stack (up to 512 KiB of the caller's is used), or end the process.  Longer
// names than CS_MAX_DEMANGLE_BYTES are not tried.
bool cs_demangle(struct cs_str mangled, struct cs_buf *out);

#endif
