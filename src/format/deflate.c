// Piecewise deflate with libdeflate.
//
// Spec: RFC 1951 sections 3.2.3 (block header) and 3.2.4 (stored blocks).  libdeflate is smaller
// and faster than zlib at every level, but always ends its output with a final block.  So each
// piece is inflated again by zlib with Z_BLOCK, which compares it with the source and finds the
// last block's header; its final bit is cleared and an empty stored block brings the piece to a
// byte boundary, as zlib's own flush does.  Pieces that do not shrink (zstd-compressed device code)
// become stored blocks, at low levels without any attempt.
#include "format/deflate.h"

#include <libdeflate.h>
#include <limits.h>
#define ZLIB_CONST
#include <zlib.h>

#include "base/mem.h"
#include "base/num.h"

enum {
    PIECE_BYTES = 1 << 20,
    SAMPLES = 4,  // a piece, evenly spread
    SAMPLE_BYTES = 16 * 1024,
    SAVE_AT_LEAST = 100,  // a piece is deflated when a sample saves more than 1/100
    STORED_MAX = 65535,   // bytes in one stored block
    STORED_HEADER = 5,
    SLOTS_PER_THREAD = 2,
    RAW_WINDOW_BITS = -15,
    UNUSED_BITS_MASK = 63,  // of z_stream.data_type, see zlib.h at inflate()
    LAST_BLOCK = 64,
    BLOCK_EDGE = 128,
};

static struct cs_view piece_of(struct cs_view content, size_t index) {
    const uint64_t off = (uint64_t)index * PIECE_BYTES;
    return cs_view_at(content, off, cs_min_u64(content.len - off, PIECE_BYTES));
}

struct sampling {
    struct cs_view content;
    uint8_t *store;
    uint32_t *saved;  // bytes a piece, estimate
    uint8_t *failed;
};

static void sample_piece(void *ctx, size_t index) {
    struct sampling *s = ctx;
    const struct cs_view piece = piece_of(s->content, index);
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(CS_DEFLATE_LEVEL_MIN);
    uint8_t *out = cs_alloc(SAMPLE_BYTES);
    if (!c || !out) {
        s->failed[index] = 1;
    } else {
        uint64_t seen = 0;
        uint64_t made = 0;
        for (uint64_t k = 0; k < SAMPLES; k++) {
            const uint64_t from = piece.len * k / SAMPLES;
            const uint64_t len = cs_min_u64(piece.len * (k + 1) / SAMPLES - from, SAMPLE_BYTES);
            // 0 means that it does not fit: no gain.
            const size_t packed =
                libdeflate_deflate_compress(c, piece.ptr + from, (size_t)len, out, (size_t)len);
            seen += len;
            made += packed ? packed : len;
        }
        s->store[index] = (seen - made) * SAVE_AT_LEAST <= seen;
        s->saved[index] = (uint32_t)cs_muldiv_u64(seen - made, piece.len, seen);
    }
    libdeflate_free_compressor(c);
    cs_free(out);
}

enum cs_code cs_deflate_plan_make(struct cs_view content, struct cs_pool *pool,
                                  struct cs_deflate_plan *out, struct cs_err *err) {
    *out = (struct cs_deflate_plan){0};
    const size_t count = (size_t)((content.len + PIECE_BYTES - 1) / PIECE_BYTES);
    struct sampling s = {.content = content,
                         .store = cs_calloc(count, 1),
                         .saved = cs_calloc(count, sizeof *s.saved),
                         .failed = cs_calloc(count, 1)};
    bool failed = !s.store || !s.saved || !s.failed;
    if (!failed) {
        cs_pool_for(pool, count, 1, sample_piece, &s);
    }
    for (size_t i = 0; !failed && i < count; i++) {
        failed = s.failed[i];
        out->saved_bytes += s.store[i] ? 0 : s.saved[i];
    }
    cs_free(s.saved);
    cs_free(s.failed);
    if (failed) {
        cs_free(s.store);
        *out = (struct cs_deflate_plan){0};
        return cs_fail(err, CS_NOMEM, "no memory to look at samples");
    }
    out->store = s.store;
    out->count = count;
    return CS_OK;
}

void cs_deflate_plan_fini(struct cs_deflate_plan *plan) {
    cs_free(plan->store);
    *plan = (struct cs_deflate_plan){0};
}

// One piece in work.  `packed` has room for the worst case and the closing block.
struct slot {
    struct libdeflate_compressor *compressor;
    uint8_t *packed, *back;
    size_t packed_cap, packed_len;
    enum cs_code code;
};

struct work {
    struct cs_view content;
    const struct cs_deflate_plan *plan;
    bool thorough;
    struct slot *slots;
    size_t slot_count;
    size_t first;  // piece of slot 0
};

static void store_piece(struct slot *s, struct cs_view piece, bool last) {
    uint8_t *p = s->packed;
    for (uint64_t at = 0; at < piece.len;) {
        const uint16_t len = (uint16_t)cs_min_u64(piece.len - at, STORED_MAX);
        p[0] = last && at + len == piece.len;  // type 00 and, in bit 0, final
        cs_put_u16(p + 1, len);
        cs_put_u16(p + 3, (uint16_t)~len);
        memcpy(p + STORED_HEADER, piece.ptr + at, len);
        p += STORED_HEADER + len;
        at += len;
    }
    s->packed_len = (size_t)(p - s->packed);
}

// Inflates the packed piece, compares it with its source, and gives the bit offsets of its last
// block's header and of its end.
static enum cs_code find_last_block(struct slot *s, struct cs_view piece, uint64_t *header_bit,
                                    uint64_t *end_bit) {
    z_stream z = {.next_in = s->packed,
                  .avail_in = (uInt)s->packed_len,
                  .next_out = s->back,
                  .avail_out = (uInt)piece.len};
    if (inflateInit2(&z, RAW_WINDOW_BITS) != Z_OK) {
        return CS_NOMEM;
    }
    int r;
    bool ended = false;
    do {
        r = inflate(&z, Z_BLOCK);
        const uint64_t bit = (uint64_t)z.total_in * CHAR_BIT - (z.data_type & UNUSED_BITS_MASK);
        if (r == Z_OK && (z.data_type & BLOCK_EDGE)) {
            ended = (z.data_type & LAST_BLOCK) != 0;
            *(ended ? end_bit : header_bit) = bit;
        }
    } while (r == Z_OK && !ended);
    const bool same =
        ended && z.total_out == piece.len && memcmp(s->back, piece.ptr, piece.len) == 0;
    inflateEnd(&z);
    return same ? CS_OK : CS_INTERNAL;
}

static void deflate_piece(void *ctx, size_t index) {
    struct work *w = ctx;
    struct slot *s = &w->slots[index];
    const size_t number = w->first + index;
    const struct cs_view piece = piece_of(w->content, number);
    const bool last = number + 1 == w->plan->count;
    const bool store = w->plan->store[number] && !w->thorough;
    s->code = CS_OK;
    if (!store) {
        s->packed_len = libdeflate_deflate_compress(s->compressor, piece.ptr, (size_t)piece.len,
                                                    s->packed, (size_t)piece.len);
    }
    if (store || s->packed_len == 0) {
        store_piece(s, piece, last);
        return;
    }
    uint64_t header_bit = 0;
    uint64_t end_bit = 0;
    s->code = find_last_block(s, piece, &header_bit, &end_bit);
    if (s->code != CS_OK || last) {
        return;
    }
    uint8_t *header = s->packed + header_bit / CHAR_BIT;
    *header = (uint8_t)(*header & ~(1u << header_bit % CHAR_BIT));
    // Three zero bits begin the empty stored block; libdeflate filled the last byte with zeros.
    const uint64_t aligned = (end_bit + 3 + CHAR_BIT - 1) / CHAR_BIT;
    memset(s->packed + s->packed_len, 0, STORED_HEADER);
    cs_put_u16(s->packed + aligned, 0);
    cs_put_u16(s->packed + aligned + 2, 0xffff);
    s->packed_len = (size_t)aligned + 4;
}

static bool slot_init(struct slot *s, int level, size_t piece_bytes) {
    s->packed_cap = piece_bytes + (piece_bytes / STORED_MAX + 2) * STORED_HEADER;
    s->compressor = libdeflate_alloc_compressor(level);
    s->packed = cs_alloc(s->packed_cap);
    s->back = cs_alloc(piece_bytes);
    return s->compressor && s->packed && s->back;
}

static void slot_fini(struct slot *s) {
    libdeflate_free_compressor(s->compressor);
    cs_free(s->packed);
    cs_free(s->back);
}

static enum cs_code run_pieces(struct work *w, struct cs_pool *pool, cs_deflate_sink *sink,
                               void *ctx, struct cs_err *err) {
    const size_t count = w->plan->count;
    for (w->first = 0; w->first < count; w->first += w->slot_count) {
        const size_t now = count - w->first < w->slot_count ? count - w->first : w->slot_count;
        cs_pool_for(pool, now, 1, deflate_piece, w);
        for (size_t i = 0; i < now; i++) {
            const struct slot *s = &w->slots[i];
            if (s->code == CS_NOMEM) {
                return cs_fail(err, CS_NOMEM, "no memory to deflate");
            }
            if (s->code != CS_OK) {
                return cs_fail_at(err, CS_INTERNAL, (uint64_t)(w->first + i) * PIECE_BYTES,
                                  "a deflated piece does not inflate to itself");
            }
            sink(ctx, s->packed, s->packed_len);
        }
    }
    return CS_OK;
}

enum cs_code cs_deflate_write(struct cs_view content, const struct cs_deflate_plan *plan, int level,
                              struct cs_pool *pool, cs_deflate_sink *sink, void *ctx,
                              struct cs_err *err) {
    static const uint8_t empty[] = {3, 0};  // one final block of type 01 with its end code alone
    if (plan->count == 0) {
        sink(ctx, empty, sizeof empty);
        return CS_OK;
    }
    struct work w = {
        .content = content, .plan = plan, .thorough = level >= CS_DEFLATE_LEVEL_THOROUGH};
    w.slot_count = cs_min_u64(plan->count, (uint64_t)cs_pool_threads(pool) * SLOTS_PER_THREAD);
    w.slots = cs_calloc(w.slot_count, sizeof *w.slots);
    enum cs_code code = w.slots ? CS_OK : cs_fail(err, CS_NOMEM, "no memory to deflate");
    for (size_t i = 0; code == CS_OK && i < w.slot_count; i++) {
        if (!slot_init(&w.slots[i], level, (size_t)cs_min_u64(content.len, PIECE_BYTES))) {
            code = cs_fail(err, CS_NOMEM, "no memory to deflate");
        }
    }
    if (code == CS_OK) {
        code = run_pieces(&w, pool, sink, ctx, err);
    }
    for (size_t i = 0; w.slots && i < w.slot_count; i++) {
        slot_fini(&w.slots[i]);
    }
    cs_free(w.slots);
    return code;
}
