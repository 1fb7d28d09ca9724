// Libraries written as words, for table tests.
//
//     "ops.cu: sm_80 sm_90a:z compute_80:isa84 | fp8.cu: sm_90a[fp8,scale]"
//
// Containers are divided by "|"; "NAME:" in front names the source.  An image is a target with, in
// any order: [k1,k2] its kernels (default: one kernel named after the source), and the marks
//   :z zstd   :4 LZ4   :isa84 PTX ISA 8.4   :cuda128 toolkit 12.8   :abi7   :rdc relocatable
// A "+" between images joins those around it into one concatenated entry.  A container that starts
// with "!" gets no wrapper.
#ifndef CS_TESTS_BUILD_MK_WORDS_H
#define CS_TESTS_BUILD_MK_WORDS_H

#include "base/buf.h"
#include "build/mk_host.h"

// Appends one container (words without "|" and source).  `kernel` is the default kernel.
void cs_mk_words_container(struct cs_buf *out, const char *words, const char *kernel);

// Appends a library with all containers.  `like` gives layout, relocations and the like; NULL = GNU
// ld's.
void cs_mk_words_library(struct cs_buf *out, const char *words, const struct cs_mk_host *like);

#endif
