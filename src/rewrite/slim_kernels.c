// Zeroing kernels, and the price of bytes in a wheel.

#include "rewrite/slim_kernels.h"

#include <libdeflate.h>

#include "base/mem.h"

enum { WHEEL_DEFLATE_LEVEL = 6 };

static bool is_code_of_other(const struct cs_cubin *c, const struct cs_cubin_piece *piece,
                             const struct cs_intern *keep) {
    if (piece->kernel == CS_NO_KERNEL ||
        (piece->part != CS_PART_CODE && piece->part != CS_PART_CAPMERC)) {
        return false;
    }
    const struct cs_cubin_kernel *k = &c->kernels.ptr[piece->kernel];
    // Device functions may be called by any kernel: they stay.
    return k->is_kernel && cs_intern_find(keep, k->name) == CS_INTERN_NONE;
}

enum cs_code cs_slim_zero_kernels(struct cs_view *image, const struct cs_intern *keep,
                                  struct cs_worker *w, struct cs_err *err) {
    CS_TRY(cs_cubin_read(*image, &w->cubin, err));
    uint8_t *copy = cs_scratch_get(&w->zeroed, image->len);
    if (!copy) {
        return cs_fail(err, CS_NOMEM, "no memory to copy an image of %llu bytes",
                       (unsigned long long)image->len);
    }
    memcpy(copy, image->ptr, (size_t)image->len);
    for (size_t i = 0; i < w->cubin.pieces.count; i++) {
        const struct cs_cubin_piece *piece = &w->cubin.pieces.ptr[i];
        if (is_code_of_other(&w->cubin, piece, keep)) {
            memset(copy + piece->off, 0, (size_t)piece->len);
        }
    }
    *image = cs_view_of(copy, image->len);
    return CS_OK;
}

uint64_t cs_slim_deflated_bytes(struct cs_view bytes) {
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(WHEEL_DEFLATE_LEVEL);
    const size_t cap = c ? libdeflate_deflate_compress_bound(c, (size_t)bytes.len) : 0;
    uint8_t *out = cap ? cs_pages_alloc(cap) : NULL;
    const size_t n =
        out ? libdeflate_deflate_compress(c, bytes.ptr, (size_t)bytes.len, out, cap) : 0;
    cs_pages_free(out, cap);
    libdeflate_free_compressor(c);
    return n ? n : bytes.len;
}
