// Zipwrite: deterministic ZIP files, member by member, into a cs_outfile.
//
// Spec: PKWARE APPNOTE 6.3.x as in zip.h.  What is copied keeps its compressed bytes, header
// fields, extra fields and permissions; what is new is stored or deflated, whichever pays.  ZIP64
// records are written only where a value needs them, data descriptors never.  Copying every member
// of a file that has no gaps, prefix or descriptors gives the same file, byte for byte.
#ifndef CS_FORMAT_ZIPWRITE_H
#define CS_FORMAT_ZIPWRITE_H

#include "base/buf.h"
#include "base/file.h"
#include "format/deflate.h"
#include "format/zip.h"

enum cs_zipwrite_method {
    CS_ZIPWRITE_AUTO,  // deflate when samples promise to save 2 % or more, else store
    CS_ZIPWRITE_STORE,
    CS_ZIPWRITE_DEFLATE,  // pieces that do not shrink are stored blocks all the same
};

struct cs_zipwrite_options {
    enum cs_zipwrite_method method;
    int level;             // 1..12; 0 = CS_DEFLATE_LEVEL_DEFAULT
    struct cs_pool *pool;  // for deflating; NULL = in the calling thread
};

// One member that was written; its central record waits in memory until the end.
struct cs_zipwrite_entry {
    uint64_t order;  // place in the central directory: ascending, ties in order of writing
    uint64_t header_off;
    uint64_t bytes, compressed_bytes;
    uint32_t crc32;
    uint16_t method;
    size_t record_at, record_bytes;  // in `central`; the offset field is filled in at the end
};

// `out` may be NULL: then nothing is written and all sizes are exact, for a dry run.  Write errors
// are sticky in `out` and reported by its commit.  Not thread-safe.
struct cs_zipwrite {
    struct cs_outfile *out;
    struct cs_zipwrite_options options;
    struct cs_buf staged;  // small writes, gathered
    uint64_t flushed;      // bytes handed to `out` so far
    CS_VEC(struct cs_zipwrite_entry) entries;
    struct cs_buf central;
};

void cs_zipwrite_init(struct cs_zipwrite *w, struct cs_outfile *out,
                      const struct cs_zipwrite_options *options);
void cs_zipwrite_fini(struct cs_zipwrite *w);

// Copies a member without touching its compressed bytes.  CS_CONFLICT when local header and central
// record disagree or it overlaps another, since then there are two truths.
enum cs_code cs_zipwrite_copy(struct cs_zipwrite *w, const struct cs_zip *z,
                              const struct cs_zip_member *m, uint64_t order,
                              struct cs_err *err) CS_MUST_USE;

// Writes new content under a member's name, time, permissions and extra fields.
enum cs_code cs_zipwrite_replace(struct cs_zipwrite *w, const struct cs_zip *z,
                                 const struct cs_zip_member *m, uint64_t order,
                                 struct cs_view content, struct cs_err *err) CS_MUST_USE;

// Writes a new member, dated 1980-01-01, with a Unix mode such as 0100644.
enum cs_code cs_zipwrite_add(struct cs_zipwrite *w, struct cs_str name, uint32_t mode,
                             uint64_t order, struct cs_view content,
                             struct cs_err *err) CS_MUST_USE;

// Writes directory and end records.  The outfile is still to be committed.
enum cs_code cs_zipwrite_end(struct cs_zipwrite *w, struct cs_str comment,
                             struct cs_err *err) CS_MUST_USE;

// Bytes of the file so far.
static inline uint64_t cs_zipwrite_bytes(const struct cs_zipwrite *w) {
    return w->flushed + w->staged.len;
}

#endif
