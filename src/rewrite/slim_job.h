// One file's slimming, from its bytes to its verified replacement.
//
//     cs_slim_open()    scan and decide           (headers only: quick)
//     cs_slim_make()    rebuild containers, plan the new file
//     cs_slim_verify()  hold the bytes as written against the original
//     cs_slim_close()
//
// A file that cannot be read, or that must not be touched, is no error: it is left alone, and
// `reason` says why.  Errors are memory, limits and our own bugs.
#ifndef CS_REWRITE_SLIM_JOB_H
#define CS_REWRITE_SLIM_JOB_H

#include "rewrite/arcut.h"
#include "rewrite/elfcut.h"
#include "rewrite/slim.h"

enum cs_slim_shape {
    CS_SLIM_NOTHING,  // no device code that could be edited
    CS_SLIM_ELF,
    CS_SLIM_ARCHIVE,
    CS_SLIM_FATBIN,
};

struct cs_slim_job {
    struct cs_view file;      // borrowed
    const struct cs_slim_options *options;
    enum cs_slim_shape shape;
    struct cs_scan scan;
    struct cs_slim_decision decision;
    struct cs_slim_built built;
    struct cs_elfcut elf;
    struct cs_arcut archive;
    struct cs_buf fatbin;
    struct cs_pieces own;     // FATBIN
    bool opened, made, cut_open;
    bool changed;             // there is a new file
    bool filled;              // space was filled with zeros instead of removed; `reason` says why
    uint32_t recompressed;
    uint64_t after_bytes;
    double build_seconds;     // decompressing and compressing
    char reason[CS_ERR_TEXT]; // why the file is left alone or stays large; empty = nothing to say
};

enum cs_code cs_slim_open(struct cs_view file, struct cs_str path,
                          const struct cs_slim_options *options, struct cs_workers *workers,
                          struct cs_slim_price *price, struct cs_slim_job *job,
                          struct cs_err *err) CS_MUST_USE;

enum cs_code cs_slim_make(struct cs_slim_job *job, struct cs_pool *pool,
                          struct cs_workers *workers, struct cs_err *err) CS_MUST_USE;

// The new file; only after a make that set `changed`.
const struct cs_pieces *cs_slim_pieces(const struct cs_slim_job *job);

// Every kept image is the same, every container in its place, every other byte accounted for.
// CS_CONFLICT with the reason when not: then the original must be kept.
enum cs_code cs_slim_verify(const struct cs_slim_job *job, struct cs_view produced,
                            struct cs_pool *pool, struct cs_workers *workers,
                            struct cs_err *err) CS_MUST_USE;

// Which container of the new file is which of the original's: old[i] and fresh[i] are the same one.
// Their order by offset may differ, since a section that outgrew its place lies at the end.
struct cs_slim_pairs {
    uint32_t *old, *fresh;
    size_t count;
};
enum cs_code cs_slim_pair(const struct cs_slim_job *job, const struct cs_scan *fresh,
                          struct cs_slim_pairs *out, struct cs_err *err) CS_MUST_USE;
void cs_slim_pairs_fini(struct cs_slim_pairs *p);

// Finds, for each image of a container of the original, the same image in the new file: fresh_of[i]
// is its index there, or CS_NONE when it was dropped.  CS_CONFLICT when images are missing, new, or
// in another order than they should be.
enum cs_code cs_slim_match(const struct cs_slim_job *job, const struct cs_scan *fresh,
                           uint32_t old_container, uint32_t fresh_container, uint32_t *fresh_of,
                           struct cs_err *err) CS_MUST_USE;

void cs_slim_close(struct cs_slim_job *job);

#endif
