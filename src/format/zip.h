// ZIP: wheels as they are in the wild (stored and deflated members, ZIP64), read-only.
//
// Spec: PKWARE APPNOTE 6.3.x.  Supported: methods 0 and 8, ZIP64, data descriptors, UTF-8 names.
// Not supported, and said so: encryption, other methods, split archives.  A prefix before the first
// local header and bytes between members are kept as layout facts, not errors: `check` judges them.
#ifndef CS_FORMAT_ZIP_H
#define CS_FORMAT_ZIP_H

#include "base/arena.h"
#include "base/vec.h"
#include "base/view.h"

struct cs_zip_member {
    struct cs_str name;   // as stored, in the arena; may be hostile ("../", duplicates)
    uint64_t header_off;  // of the local header
    uint64_t data_off;    // of the compressed bytes
    uint64_t compressed_bytes;
    uint64_t bytes;    // uncompressed
    uint64_t end_off;  // after the data and its data descriptor
    uint32_t crc32;
    uint16_t method;  // 0 stored, 8 deflate
    uint16_t flags;
    uint16_t made_by, needed;
    uint16_t dos_time, dos_date;
    uint32_t external_attr;  // Unix mode in the high 16 bits
    uint64_t central_off;    // of its central record
    uint64_t central_bytes;
    bool is_dir;
    bool zip64;              // central record carries a ZIP64 extra field
    uint16_t comment_bytes;  // of its central record
    uint32_t faults;         // CS_ZIP_FAULT_* found on this member
};

// Facts that make an index refuse a file; reading goes on where it can.
#define CS_ZIP_FAULT_DUPLICATE 0x1u       // the same name twice
#define CS_ZIP_FAULT_LOCAL_MISMATCH 0x2u  // local and central record disagree
#define CS_ZIP_FAULT_BAD_NAME 0x4u        // absolute, "..", backslash, control characters, empty
#define CS_ZIP_FAULT_OVERLAP 0x8u         // data ranges of two members overlap
#define CS_ZIP_FAULT_ZIP64 0x10u          // ZIP64 field missing, useless or wrong
#define CS_ZIP_FAULT_METHOD 0x20u         // encrypted, or a method other than 0 and 8
#define CS_ZIP_FAULT_UNICODE 0x40u        // non-ASCII name without the UTF-8 flag, or invalid UTF-8
#define CS_ZIP_FAULT_EXTRA 0x80u        // extra fields malformed, or one that must not repeat does
#define CS_ZIP_FAULT_DESCRIPTOR 0x100u  // sizes come after the data (flag bit 3)
#define CS_ZIP_FAULT_COMMENT 0x200u     // a comment on the member

// Facts about the whole file, in cs_zip.faults.
#define CS_ZIP_FILE_COUNT 0x1u  // the end record counts other than the directory holds
#define CS_ZIP_FILE_EOCD64 \
    0x2u  // ZIP64 end record odd: contradicts the plain one, or extensible data
#define CS_ZIP_FILE_OFFSET \
    0x4u  // the directory is not where its offset says (prefix not counted in)
#define CS_ZIP_FILE_EOCDS 0x8u      // more than one end record
#define CS_ZIP_FILE_GAPS 0x10u      // bytes between records that no record owns
#define CS_ZIP_FILE_PREFIX 0x20u    // bytes before the first local header
#define CS_ZIP_FILE_TRAILING 0x40u  // bytes after the end record
#define CS_ZIP_FILE_COMMENT 0x80u   // an archive comment

struct cs_zip {
    struct cs_view file;
    struct cs_arena arena;
    CS_VEC(struct cs_zip_member) members;  // in central directory order
    uint64_t central_off, central_bytes;
    uint64_t eocd_off;        // end of central directory record
    uint64_t zip64_eocd_off;  // 0 when none
    uint64_t trailing_bytes;  // after the EOCD and its comment
    uint64_t prefix_bytes;    // before the first local header
    uint32_t eocd_count;      // how many EOCD signatures a strict reader would find
    uint32_t comment_bytes;
    uint64_t base;       // added to every offset stored in the file (0 unless a prefix)
    uint64_t gap_bytes;  // owned by no record: between members, around the directory
    uint32_t faults;     // CS_ZIP_FILE_*
};

bool cs_zip_probe(struct cs_view file);  // local header or EOCD magic at the start
// Reads the directory and every local header.  Fails with CS_FORMAT on truncated or contradictory
// records, CS_UNSUPPORTED on split archives, CS_LIMIT on more members, longer names or bigger or
// denser members than base/limits.h allows.  On failure `out` needs no close.  Offsets in the
// struct are absolute (base already added).  Time and memory are linear in members.
enum cs_code cs_zip_open(struct cs_view file, struct cs_zip *out, struct cs_err *err) CS_MUST_USE;
void cs_zip_close(struct cs_zip *z);

// The compressed bytes of a member.
struct cs_view cs_zip_raw(const struct cs_zip *z, const struct cs_zip_member *m);

// The archive comment, of comment_bytes.
struct cs_view cs_zip_comment(const struct cs_zip *z);

// The first bytes of a member, up to cap of them, without a CRC check; for finding out what it is.
// *got is less than cap only where the member is shorter.  Errors as cs_zip_extract.
enum cs_code cs_zip_prefix(const struct cs_zip *z, const struct cs_zip_member *m, uint8_t *dst,
                           uint64_t cap, uint64_t *got, struct cs_err *err) CS_MUST_USE;

// Where each uncompressed byte lies in the compressed stream.  Samples are ascending in both
// columns, the first is {0, 0}, the last {bytes, 8 * compressed_bytes}; between two samples the
// position is interpolated, so the bytes of any set of disjoint ranges that cover a member add up
// to its compressed size exactly.  For a stored member the map is the identity.
struct cs_zip_sample {
    uint64_t out;      // uncompressed offset, bytes
    uint64_t in_bits;  // position in the compressed stream, bits
};
struct cs_zip_map {
    CS_VEC(struct cs_zip_sample) samples;
    uint64_t bytes, compressed_bytes;
    uint64_t step;  // sample i lies at out = i * step, but for the last
};
void cs_zip_map_fini(struct cs_zip_map *map);
// Compressed bytes before uncompressed offset `off` (0 at 0, compressed_bytes at the end and
// beyond; monotone).  O(1).
uint64_t cs_zip_map_at(const struct cs_zip_map *map, uint64_t off);
static inline uint64_t cs_zip_map_range(const struct cs_zip_map *map, uint64_t off, uint64_t len) {
    const uint64_t end = len > UINT64_MAX - off ? UINT64_MAX : off + len;
    return cs_zip_map_at(map, end) - cs_zip_map_at(map, off);
}

// Inflates a member into dst (m->bytes long) and checks its CRC when `check_crc`.  With a map (may
// be uninitialised; the caller calls cs_zip_map_fini after success), the slower path that records
// positions is taken: one sample every 32 KiB of output.  Thread-safe for different dst and map.
// CS_UNSUPPORTED for encrypted members and other methods, CS_FORMAT when the stream is damaged,
// ends early or late, or the member overlaps another.
enum cs_code cs_zip_extract(const struct cs_zip *z, const struct cs_zip_member *m, uint8_t *dst,
                            bool check_crc, struct cs_zip_map *map, struct cs_err *err) CS_MUST_USE;

#endif
