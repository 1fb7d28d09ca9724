// Slim runs: one input of any kind, from its path to its verified replacement and the figures.
#ifndef CS_REWRITE_SLIM_RUN_H
#define CS_REWRITE_SLIM_RUN_H

#include "rewrite/slim_proof.h"

struct cs_slim_request {
    const char *input;
    const char *output;   // NULL with dry_run; equal to `input` for --in-place
    bool dry_run;         // everything but the writing
    bool force_vendor;    // edit NVIDIA's own redistributables
    bool prove;           // hashes of every file and image, for the proof
    uint64_t build_tag;   // wheel: new build number, 0 = leave the name's
    struct cs_slim_options options;
    struct cs_pool *pool;
    void (*progress)(void *ctx, uint64_t done_bytes, uint64_t total_bytes);  // NULL = none
    void *progress_ctx;
};

// What became of one file of the input.
struct cs_slim_member {
    struct cs_str path;
    uint64_t before_bytes, after_bytes;              // installed
    uint64_t before_wheel_bytes, after_wheel_bytes;  // compressed, in a wheel; else 0
    uint32_t images_dropped, images_recompressed;
    uint64_t cause_bytes[CS_SLIM_CAUSE_COUNT];       // file bytes of dropped entries
    bool changed, filled;
    struct cs_str reason;                            // why it was left alone or stays large
    bool hashed;                                     // the next two are known
    uint8_t before_sha256[CS_SHA256_BYTES], after_sha256[CS_SHA256_BYTES];
    struct cs_slim_images images;                    // with `prove`
};

struct cs_slim_result {
    struct cs_arena arena;
    CS_VEC(struct cs_slim_member) members;  // files with device code, in the input's order
    bool is_wheel;
    uint64_t before_wheel_bytes, after_wheel_bytes;
    uint64_t before_installed_bytes, after_installed_bytes;
    struct cs_slim_price price;
    double build_seconds;  // of all members: decompressing and compressing
    bool verified;   // false only after a dry run
    bool changed;    // false: the output equals the input
    uint32_t recovered;    // files put back that an earlier run over the folder had left half done
    struct cs_str output;  // as written; a build tag changes a wheel's name
    bool hashed;           // the next two are known: of a wheel as a whole, with `prove`
    uint8_t before_sha256[CS_SHA256_BYTES], after_sha256[CS_SHA256_BYTES];
};

// CS_CONFLICT when the price is not allowed, or the proof fails: then nothing was written.
enum cs_code cs_slim_run(const struct cs_slim_request *request, struct cs_slim_result *result,
                         struct cs_err *err) CS_MUST_USE;
void cs_slim_result_fini(struct cs_slim_result *r);

#endif
