// Builder of ZIP archives and wheels: every form a reader meets, and the wrong ones by patching.
#ifndef CS_TESTS_BUILD_MK_ZIP_H
#define CS_TESTS_BUILD_MK_ZIP_H

#include "base/buf.h"

struct cs_mk_member {
    const char *name;
    struct cs_view data;
    bool deflate;             // method 8 instead of 0
    int level;                // 0 = 6; -1 = stored blocks
    uint32_t flush_every;     // > 0: a full flush after this many input bytes (many blocks)
    bool descriptor;  // sizes and CRC behind the data (flag bit 3), zeros in the local header
    bool descriptor_bare;     // without its signature
    bool zip64;               // 64-bit size fields in the local and the central record
    uint32_t mode;            // 0 = 0100644
    uint16_t set_flags;       // further general purpose flags (0x800 = UTF-8)
    uint16_t method;          // another method number than 0 and 8
    uint16_t extra_bytes;     // padding field in the local header
};

struct cs_mk_zip {
    const struct cs_mk_member *members;
    size_t count;
    struct cs_view prefix;    // in front of the first local header (self-extracting)
    struct cs_view gap;       // between the last member and the central directory
    struct cs_view trailing;  // after the end record
    const char *comment;
    bool zip64_end;           // ZIP64 end record and locator
};

// Appends the archive; offsets count from out's current length.
void cs_mk_zip_write(struct cs_buf *out, const struct cs_mk_zip *z);

// Appends a wheel: the members, then NAME-VERSION.dist-info/{METADATA,WHEEL,RECORD} with a RECORD
// that is right for all of them.
void cs_mk_wheel_write(struct cs_buf *out, const char *name, const char *version,
                       const struct cs_mk_member *members, size_t count);

// Offset of the central directory of an archive without ZIP64 end record, for patching; 0 when
// there is none.
uint64_t cs_mk_zip_central(struct cs_view zip, uint64_t *count);

// Appends an `ar` archive (GNU: long names in a "//" member).  `index` adds a symbol index "/".
struct cs_mk_ar_member {
    const char *name;
    struct cs_view data;
};
void cs_mk_ar_write(struct cs_buf *out, const struct cs_mk_ar_member *members, size_t count,
                    bool index);

#endif
