// Keep-lists: zeroing the code of kernels that a recorded run never used.
#ifndef CS_REWRITE_SLIM_KERNELS_H
#define CS_REWRITE_SLIM_KERNELS_H

#include "model/scan.h"

// Replaces *image by a copy (in w->zeroed, until the next call) in which the code of every kernel
// that is not in `keep` (mangled names) is zero.  Sizes and tables stay, so the zeros cost next to
// nothing once compressed, and the kernel is still there by name: calling it is an illegal
// instruction, not a crash of its neighbours (measured: error 715).
enum cs_code cs_slim_zero_kernels(struct cs_view *image, const struct cs_intern *keep,
                                  struct cs_worker *w, struct cs_err *err) CS_MUST_USE;

// Size of the bytes in a wheel: deflated at the level that wheel builders use (6).
uint64_t cs_slim_deflated_bytes(struct cs_view bytes);

#endif
