// Pieces: gathers byte runs and writes them in few large system calls.
//
// Small runs (a patched pointer table between two untouched stretches, padding) are collected in
// one buffer, so that 24,000 edits do not become 48,000 writes; large ones go straight from the
// mapping.
#include "rewrite/pieces.h"

#include <errno.h>

#include "base/mem.h"
#include "base/num.h"

enum { GATHER_BYTES = 1 << 18, DIRECT_BYTES = 1 << 16 };

void cs_pieces_add(struct cs_pieces *p, const uint8_t *ptr, uint64_t len) {
    if (len == 0 || p->failed) {
        return;
    }
    if (p->items.count > 0) {
        struct cs_piece *last = &p->items.ptr[p->items.count - 1];
        if ((!ptr && !last->ptr) || (ptr && last->ptr && last->ptr + last->len == ptr)) {
            last->len += len;
            p->bytes += len;
            return;
        }
    }
    struct cs_piece *piece = cs_vec_push(&p->items);
    if (!piece) {
        p->failed = true;
        return;
    }
    *piece = (struct cs_piece){ptr, len};
    p->bytes += len;
}

void cs_pieces_add_all(struct cs_pieces *p, const struct cs_pieces *more) {
    for (size_t i = 0; i < more->items.count; i++) {
        cs_pieces_add(p, more->items.ptr[i].ptr, more->items.ptr[i].len);
    }
    p->failed = p->failed || more->failed;
}

enum cs_code cs_pieces_check(const struct cs_pieces *p, struct cs_err *err) {
    return p->failed ? cs_fail(err, CS_NOMEM, "no memory for a list of edits") : CS_OK;
}

void cs_pieces_fini(struct cs_pieces *p) {
    cs_vec_fini(&p->items);
    *p = (struct cs_pieces){0};
}

static void put(uint8_t *dst, const struct cs_piece *piece, uint64_t from, uint64_t len) {
    if (piece->ptr) {
        memcpy(dst, piece->ptr + from, len);
    } else {
        memset(dst, 0, len);
    }
}

void cs_pieces_copy(const struct cs_pieces *p, uint8_t *dst) {
    for (size_t i = 0; i < p->items.count; i++) {
        put(dst, &p->items.ptr[i], 0, p->items.ptr[i].len);
        dst += p->items.ptr[i].len;
    }
}

static bool all_zero(const uint8_t *ptr, uint64_t len) {
    return len == 0 || (ptr[0] == 0 && memcmp(ptr, ptr + 1, (size_t)len - 1) == 0);
}

bool cs_pieces_equal(const struct cs_pieces *p, struct cs_view bytes) {
    if (p->bytes != bytes.len) {
        return false;
    }
    const uint8_t *at = bytes.ptr;
    for (size_t i = 0; i < p->items.count; i++) {
        const struct cs_piece *piece = &p->items.ptr[i];
        if (piece->ptr ? memcmp(at, piece->ptr, (size_t)piece->len) != 0
                       : !all_zero(at, piece->len)) {
            return false;
        }
        at += piece->len;
    }
    return true;
}

enum cs_code cs_pieces_same(const void *pieces, struct cs_view produced, struct cs_err *err) {
    return cs_pieces_equal(pieces, produced)
               ? CS_OK
               : cs_fail(err, CS_CONFLICT, "the bytes read back are not those that were written");
}

// Adds one run to the buffer, writing it out whenever it is full.
static void gather(struct cs_outfile *out, uint8_t *buffer, uint64_t *held,
                   const struct cs_piece *piece) {
    for (uint64_t from = 0; from < piece->len;) {
        const uint64_t step = cs_min_u64(piece->len - from, GATHER_BYTES - *held);
        put(buffer + *held, piece, from, step);
        *held += step;
        from += step;
        if (*held == GATHER_BYTES) {
            cs_outfile_write(out, buffer, *held);
            *held = 0;
        }
    }
}

void cs_pieces_write(const struct cs_pieces *p, struct cs_outfile *out) {
    uint8_t *buffer = cs_alloc(GATHER_BYTES);
    if (!buffer) {
        out->failed = CS_NOMEM;
        out->failed_errno = ENOMEM;
        return;
    }
    uint64_t held = 0;
    for (size_t i = 0; i < p->items.count && out->failed == CS_OK; i++) {
        const struct cs_piece *piece = &p->items.ptr[i];
        if (piece->ptr && piece->len >= DIRECT_BYTES) {
            cs_outfile_write(out, buffer, held);
            held = 0;
            cs_outfile_write(out, piece->ptr, piece->len);
        } else {
            gather(out, buffer, &held, piece);
        }
    }
    cs_outfile_write(out, buffer, held);
    cs_free(buffer);
}

enum cs_code cs_pieces_commit(const struct cs_pieces *p, const char *path, mode_t mode,
                              cs_pieces_verify_fn verify, const void *ctx, struct cs_err *err) {
    CS_TRY(cs_pieces_check(p, err));
    struct cs_outfile out;
    CS_TRY(cs_outfile_create(path, mode, &out, err));
    cs_pieces_write(p, &out);
    enum cs_code code = cs_outfile_flush(&out, err);
    if (code == CS_OK && verify) {
        struct cs_file produced;
        code = cs_file_open(out.temp_path, &produced, err);
        if (code == CS_OK) {
            code = verify(ctx, produced.view, err);
            cs_file_close(&produced);
        }
    }
    if (code != CS_OK) {
        cs_outfile_abort(&out);
        return code;
    }
    return cs_outfile_commit(&out, err);
}
