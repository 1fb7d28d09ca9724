// Deflate: one stream made of independent pieces, in parallel, with incompressible pieces stored.
//
// The result depends on content and level only, never on the number of threads.
#ifndef CS_FORMAT_DEFLATE_H
#define CS_FORMAT_DEFLATE_H

#include "base/pool.h"
#include "base/view.h"

// Levels are libdeflate's: 1 (fast) to 12 (small).  From THOROUGH on no piece is stored untried:
// between the headers of zstd-compressed device code half a percent can still be had.
enum {
    CS_DEFLATE_LEVEL_MIN = 1,
    CS_DEFLATE_LEVEL_DEFAULT = 6,
    CS_DEFLATE_LEVEL_THOROUGH = 9,
    CS_DEFLATE_LEVEL_MAX = 12,
};

// What a look at samples says about a content, piece by piece.
struct cs_deflate_plan {
    uint8_t *store;        // one flag a piece: not worth deflating
    size_t count;          // of pieces
    uint64_t saved_bytes;  // estimate for the whole content
};

// Tries level 1 on 1/16 of the content.  CS_NOMEM only.  `pool` may be NULL.
enum cs_code cs_deflate_plan_make(struct cs_view content, struct cs_pool *pool,
                                  struct cs_deflate_plan *out, struct cs_err *err) CS_MUST_USE;
void cs_deflate_plan_fini(struct cs_deflate_plan *plan);

// Takes the next bytes of a stream.
typedef void cs_deflate_sink(void *ctx, const void *bytes, size_t len);

// Writes `content` as one raw deflate stream (RFC 1951) to the sink, in order, from the calling
// thread.  Each deflated piece has been inflated again and compared.  Memory: about 5 MiB a thread.
// CS_NOMEM, or CS_INTERNAL when a piece does not come back as it was.
enum cs_code cs_deflate_write(struct cs_view content, const struct cs_deflate_plan *plan, int level,
                              struct cs_pool *pool, cs_deflate_sink *sink, void *ctx,
                              struct cs_err *err) CS_MUST_USE;

#endif
