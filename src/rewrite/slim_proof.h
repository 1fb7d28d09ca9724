// What became of every image, with hashes, for the proof file (docs/schema/proof.json).
#ifndef CS_REWRITE_SLIM_PROOF_H
#define CS_REWRITE_SLIM_PROOF_H

#include "base/hash.h"
#include "rewrite/slim_job.h"

// One side of an image.  `content` true: the hash is of the image as a program sees it, that is,
// decompressed, PTX without the zeros at its end.  False: it cannot be read, and the hash is of the
// stored bytes.
struct cs_slim_image_side {
    uint32_t container;  // within the file or the archive's member, by offset; CS_NONE = in none
    uint32_t index;      // of its entry
    uint32_t part;       // of a concatenated entry, else CS_NONE
    uint64_t offset;     // of its entry in the file, or in the archive's member
    enum cs_codec codec;
    bool content;
    uint64_t bytes;    // what was hashed
    uint8_t sha256[CS_SHA256_BYTES];
};

enum cs_slim_fate { CS_SLIM_AS_IT_WAS, CS_SLIM_RECOMPRESSED, CS_SLIM_ZEROED, CS_SLIM_DROPPED };
const char *cs_slim_fate_name(enum cs_slim_fate fate);  // "kept", "recompressed", ...

struct cs_slim_image {
    struct cs_str inside;      // member of an archive; empty otherwise
    struct cs_str section;
    uint32_t kind;             // enum cs_fatbin_kind or unknown number
    struct cs_target target;
    enum cs_slim_fate fate;
    enum cs_slim_cause cause;  // of DROPPED
    struct cs_slim_image_side before, after;  // after: zero for DROPPED
};

struct cs_slim_images {
    struct cs_slim_image *ptr;  // in the arena given, as are all texts
    size_t count;
};

// Reads every image of the original and of the produced file (the original itself when the job
// changed nothing), both from their own bytes.  Only after a successful verify.
enum cs_code cs_slim_prove(const struct cs_slim_job *job, struct cs_view produced,
                           struct cs_pool *pool, struct cs_workers *workers,
                           struct cs_arena *arena, struct cs_slim_images *out,
                           struct cs_err *err) CS_MUST_USE;

#endif
