// Pieces: a file that is about to be written, as a list of byte runs.
//
// Nothing is copied: a run points into the original (mapped) or into memory that the maker keeps,
// so that writing costs about what copying the file costs.  The same list serves a file on disk, a
// wheel member in memory, and a member inside an archive.
#ifndef CS_REWRITE_PIECES_H
#define CS_REWRITE_PIECES_H

#include "base/file.h"
#include "base/vec.h"
#include "base/view.h"

struct cs_piece {
    const uint8_t *ptr;  // NULL = zeros
    uint64_t len;
};

struct cs_pieces {
    CS_VEC(struct cs_piece) items;
    uint64_t bytes;  // sum of len
    bool failed;     // memory ran out while adding; cs_pieces_check reports it
};

// Adds a run (sticky failure); joins it with its predecessor where both are neighbours.
void cs_pieces_add(struct cs_pieces *p, const uint8_t *ptr, uint64_t len);
void cs_pieces_add_all(struct cs_pieces *p, const struct cs_pieces *more);
enum cs_code cs_pieces_check(const struct cs_pieces *p, struct cs_err *err) CS_MUST_USE;
void cs_pieces_fini(struct cs_pieces *p);

// Streams all runs; errors stay in `out` until it is flushed or committed.
void cs_pieces_write(const struct cs_pieces *p, struct cs_outfile *out);
// Copies all runs to dst, which has room for p->bytes.
void cs_pieces_copy(const struct cs_pieces *p, uint8_t *dst);

// Are these the bytes that the runs describe?
bool cs_pieces_equal(const struct cs_pieces *p, struct cs_view bytes);

// Says whether the bytes, as they were read back, are what they should be.
typedef enum cs_code (*cs_pieces_verify_fn)(const void *ctx, struct cs_view produced,
                                            struct cs_err *err);

// One that compares with the runs themselves; ctx is the struct cs_pieces.
enum cs_code cs_pieces_same(const void *pieces, struct cs_view produced,
                            struct cs_err *err) CS_MUST_USE;

// Writes the runs to a new file `path`: temporary file, `verify` (NULL = none) on the bytes as read
// back from disk, rename.  When anything fails, `path` is untouched.
enum cs_code cs_pieces_commit(const struct cs_pieces *p, const char *path, mode_t mode,
                              cs_pieces_verify_fn verify, const void *ctx,
                              struct cs_err *err) CS_MUST_USE;

#endif
