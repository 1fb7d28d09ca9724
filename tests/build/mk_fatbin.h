// Builder of fatbin containers, byte for byte as fatbinary lays them out.
//
//     struct cs_buf out; cs_buf_init(&out, SIZE_MAX);
//     const struct cs_mk_entry e[] = {
//         {.kind = CS_FATBIN_ELF, .arch = 80, .image = cubin},
//         {.kind = CS_FATBIN_PTX, .arch = 90, .image = ptx, .codec = CS_CODEC_ZSTD},
//     };
//     cs_mk_container(&out, e, 2);
//
// Fields left 0 get what fatbinary 13.0 would write.  Codecs are called directly here, so that the
// project's own codec module is judged by bytes it did not make.
#ifndef CS_TESTS_BUILD_MK_FATBIN_H
#define CS_TESTS_BUILD_MK_FATBIN_H

#include "base/buf.h"
#include "format/fatbin.h"

struct cs_mk_entry {
    uint32_t kind;             // enum cs_fatbin_kind, or any number
    uint32_t arch;             // 90
    char suffix;               // 0, 'a', 'f'
    enum cs_codec codec;
    int level;                 // 0 = 5 for zstd, fast for LZ4
    struct cs_view image;      // PTX text without NUL, cubin, IR
    const char *identifier;    // NULL = none
    const char *options;       // PTX and LTO-IR: NULL = ""
    struct cs_view compat;  // ELF from arch 100 on: copy of .nv.compat; empty = found in the image
    uint16_t code_major, code_minor;  // 0.0 = from the kind and the image
    uint64_t set_flags, clear_flags;  // after everything else
    uint64_t key;  // field 0x30; non-zero sets the "obfuscated" bit and scrambles the payload
    bool no_options;           // leave the options record out
    bool with_options;         // write one where fatbinary would not
    const struct cs_mk_entry *parts;  // kind CS_FATBIN_CONCAT: what is joined
    size_t part_count;
};

// Appends one container; its start must be 8-aligned in out for real-looking files (not enforced).
// Returns its size in bytes.  count 0 gives the empty container.
uint64_t cs_mk_container(struct cs_buf *out, const struct cs_mk_entry *entries, size_t count);
// Appends one entry alone (header, extension, padded payload).
void cs_mk_entry_write(struct cs_buf *out, const struct cs_mk_entry *e);
// Appends a container of raw entry bytes (for entries made otherwise).
uint64_t cs_mk_container_raw(struct cs_buf *out, struct cs_view entries);

// A small valid PTX text with one kernel a name; names may be NULL-terminated list.
void cs_mk_ptx(struct cs_buf *out, uint32_t arch, char suffix, const char *const *kernels,
               const char *file);

#endif
