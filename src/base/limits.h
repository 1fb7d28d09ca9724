// Limits on what hostile or broken input may make us do.  Each with its reason; all far above
// anything that exists (largest seen: 24,000 containers, 50,000 kernels, 541 MB in one library).
#ifndef CS_BASE_LIMITS_H
#define CS_BASE_LIMITS_H

#include <stdint.h>

#define CS_MIB ((uint64_t)1 << 20)
#define CS_GIB ((uint64_t)1 << 30)

enum {
    CS_MAX_ELF_SECTIONS = 1 << 20,  // cubins with 20,000 kernels have about 200,000
    CS_MAX_ELF_SEGMENTS = 1 << 12,
    CS_MAX_CONTAINERS = 1 << 20,     // per file
    CS_MAX_IMAGES = 1 << 22,         // per run
    CS_MAX_PARTS = 1 << 12,          // images in one concatenated entry
    CS_MAX_IMAGE_KERNELS = 1 << 17,  // per image
    CS_MAX_KERNELS = 1 << 23,        // per run
    CS_MAX_ZIP_MEMBERS = 1 << 20,
    CS_MAX_AR_MEMBERS = 1 << 20,
    CS_MAX_NESTING = 3,  // wheel > archive > object; an archive in an archive is refused
    CS_MAX_DIR_DEPTH = 64,
    CS_MAX_DIR_FILES = 1 << 20,
    CS_MAX_NAME_BYTES = 1 << 20,      // symbol names; the longest real one seen has 13,000
    CS_MAX_DEMANGLE_BYTES = 1 << 17,  // a longer name stays mangled; real ones end at 13,000
    CS_MAX_PATH_BYTES = 1 << 14,      // member names
    CS_MAX_JSON_DEPTH = 64,
};

// One decompressed image.  The largest real one is 160 MB.
#define CS_MAX_IMAGE_BYTES (2 * CS_GIB)
// One inflated wheel member.  libtorch_cuda.so has been 1.5 GB.
#define CS_MAX_MEMBER_BYTES (8 * CS_GIB)
// A declared size is believed only up to this ratio (deflate cannot exceed 1032:1; LZ4 255:1;
// zstd can reach far more on zeros, hence its own).
enum { CS_MAX_DEFLATE_RATIO = 1040, CS_MAX_LZ4_RATIO = 260, CS_MAX_ZSTD_RATIO = 40000 };
// All text of one report or one JSON document read back.
#define CS_MAX_REPORT_BYTES (2 * CS_GIB)
#define CS_MAX_JSON_BYTES (1 * CS_GIB)
// What the parser may allocate for one of them, about 40 bytes for each byte of the worst text.
#define CS_MAX_JSON_MEMORY (4 * CS_GIB)
#define CS_MAX_CONFIG_BYTES (4 * CS_MIB)

#endif
