// Proof: the produced bytes are read from scratch, and every image that was to stay is compared
// with the original's: byte for byte where its payload was left alone, by its decompressed bytes
// where it was not.  What lies outside the containers is elfcut's proof.

#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "rewrite/slim_job.h"
#include "rewrite/slim_kernels.h"

struct proof {
    const struct cs_slim_job *job;
    const struct cs_scan *fresh;
    struct cs_slim_pairs pairs;
    struct cs_workers *workers;
    atomic_int code;
    struct cs_err err;
    atomic_flag err_taken;
};

static bool same_identity(const struct cs_image *a, const struct cs_image *b) {
    const uint64_t codecs = CS_FATBIN_F_ZLIB | CS_FATBIN_F_LZ4 | CS_FATBIN_F_ZSTD;
    return a->kind == b->kind && cs_target_cmp(a->target, b->target) == 0 &&
           (a->flags & ~codecs) == (b->flags & ~codecs) && a->code_major == b->code_major &&
           a->code_minor == b->code_minor && cs_str_eq(a->identifier, b->identifier) &&
           cs_str_eq(a->options, b->options);
}

// A PTX text may end in one NUL more or less, depending on how it is stored.
static struct cs_hash128 content_hash(const struct cs_image *image, struct cs_view bytes) {
    while (image->kind != CS_FATBIN_ELF && bytes.len && bytes.ptr[bytes.len - 1] == 0) {
        bytes.len--;
    }
    return cs_hash128(bytes.ptr, (size_t)bytes.len);
}

// A plain cubin is padded to 8 in its entry, and its stated size is the padded one.
static enum cs_code same_content(const struct proof *proof, uint32_t old, uint32_t fresh,
                                 struct cs_worker *w, struct cs_err *err) {
    const struct cs_scan *before = &proof->job->scan;
    const struct cs_pending *a = &before->pending.ptr[old];
    const struct cs_pending *b = &proof->fresh->pending.ptr[fresh];
    const bool alone = !a->is_part && !b->is_part;
    if (alone && a->entry.payload.len == b->entry.payload.len && a->entry.codec == b->entry.codec &&
        memcmp(a->entry.payload.ptr, b->entry.payload.ptr, (size_t)a->entry.payload.len) == 0) {
        return CS_OK;
    }
    const struct cs_intern *keep = proof->job->options->keep_kernels;
    struct cs_view bytes;
    CS_TRY(cs_scan_image_bytes(before, old, w, &bytes, err));
    if (keep && a->entry.kind == CS_FATBIN_ELF) {
        CS_TRY(cs_slim_zero_kernels(&bytes, keep, w, err));
    }
    const struct cs_hash128 want = content_hash(&before->images.ptr[old], bytes);
    CS_TRY(cs_scan_image_bytes(proof->fresh, fresh, w, &bytes, err));
    const struct cs_hash128 got = content_hash(&proof->fresh->images.ptr[fresh], bytes);
    if (!cs_hash128_eq(want, got)) {
        return cs_fail_at(err, CS_CONFLICT, proof->fresh->images.ptr[fresh].offset,
                          "an image differs from the original after decompression");
    }
    return CS_OK;
}

static bool stays(const struct cs_slim_job *job, uint32_t image) {
    return !job->changed || job->decision.cause[image] == CS_SLIM_KEPT;
}

// Concatenation may reorder kinds, hence the search; what is found goes in order.
enum cs_code cs_slim_match(const struct cs_slim_job *job, const struct cs_scan *fresh,
                           uint32_t old_container, uint32_t fresh_container, uint32_t *fresh_of,
                           struct cs_err *err) {
    const struct cs_container *a = &job->scan.containers.ptr[old_container];
    const struct cs_container *b = &fresh->containers.ptr[fresh_container];
    const uint32_t old_end = a->first_image + a->image_count;
    for (uint32_t i = 0; i < a->image_count; i++) {
        fresh_of[i] = CS_NONE;
    }
    uint32_t first = a->first_image;
    for (uint32_t i = 0; i < b->image_count; i++) {
        const struct cs_image *image = &fresh->images.ptr[b->first_image + i];
        uint32_t old = first;
        while (old < old_end && (fresh_of[old - a->first_image] != CS_NONE || !stays(job, old) ||
                                 !same_identity(&job->scan.images.ptr[old], image))) {
            old++;
        }
        if (old == old_end) {
            return cs_fail_at(err, CS_CONFLICT, image->offset,
                              "an image that the original did not have, or out of order");
        }
        fresh_of[old - a->first_image] = b->first_image + i;
        while (first < old_end &&
               (fresh_of[first - a->first_image] != CS_NONE || !stays(job, first))) {
            first++;
        }
    }
    for (uint32_t i = a->first_image; i < old_end; i++) {
        if (stays(job, i) && fresh_of[i - a->first_image] == CS_NONE) {
            return cs_fail_at(err, CS_CONFLICT, job->scan.images.ptr[i].offset,
                              "an image that was to stay is gone");
        }
    }
    return CS_OK;
}

static enum cs_code check_container(const struct proof *proof, size_t index, struct cs_worker *w,
                                    struct cs_err *err) {
    const uint32_t old = proof->pairs.old[index];
    const struct cs_container *a = &proof->job->scan.containers.ptr[old];
    uint32_t *fresh_of = cs_calloc((size_t)a->image_count + 1, sizeof *fresh_of);
    if (!fresh_of) {
        return cs_fail(err, CS_NOMEM, "no memory to verify");
    }
    enum cs_code code =
        cs_slim_match(proof->job, proof->fresh, old, proof->pairs.fresh[index], fresh_of, err);
    for (uint32_t i = 0; code == CS_OK && i < a->image_count; i++) {
        if (fresh_of[i] != CS_NONE) {
            code = same_content(proof, a->first_image + i, fresh_of[i], w, err);
        }
    }
    cs_free(fresh_of);
    return code;
}

static void check_task(void *ctx, size_t index) {
    struct proof *proof = ctx;
    if (atomic_load(&proof->code) != CS_OK) {
        return;
    }
    struct cs_err err = {0};
    struct cs_worker *w = cs_worker_get(proof->workers);
    const enum cs_code code = w ? check_container(proof, index, w, &err)
                                : cs_fail(&err, CS_NOMEM, "no memory to verify");
    if (w) {
        cs_worker_put(proof->workers, w);
    }
    if (code != CS_OK && !atomic_flag_test_and_set(&proof->err_taken)) {
        proof->err = err;
        atomic_store(&proof->code, (int)code);
    }
}

// What was written is what was planned.  That the plan is right is for elfcut's and arcut's own
// proofs of the structure, and for what follows here, which judges the images.
static enum cs_code check_shape(const struct cs_slim_job *job, struct cs_view produced,
                                struct cs_err *err) {
    CS_TRY(cs_pieces_same(cs_slim_pieces(job), produced, err));
    if (job->shape == CS_SLIM_ELF) {
        return cs_elfcut_verify(&job->elf, produced, err);
    }
    return job->shape == CS_SLIM_ARCHIVE ? cs_arcut_verify(&job->archive, produced, err) : CS_OK;
}

// A section that outgrew its place lies at the end of the new file, so containers are paired within
// their member and section, where they keep their order.
static int by_section(const void *a, const void *b, void *ctx) {
    const struct cs_scan *scan = ctx;
    const struct cs_container *x = &scan->containers.ptr[*(const uint32_t *)a];
    const struct cs_container *y = &scan->containers.ptr[*(const uint32_t *)b];
    if (x->member != y->member) {
        return x->member < y->member ? -1 : 1;
    }
    const int c = cs_str_cmp(cs_intern_text(&scan->sections, x->section),
                             cs_intern_text(&scan->sections, y->section));
    return c != 0 ? c : x->offset < y->offset ? -1 : x->offset > y->offset;
}

static uint32_t *in_order(const struct cs_scan *scan) {
    uint32_t *order = cs_calloc(scan->containers.count, sizeof *order);
    for (uint32_t i = 0; order && i < scan->containers.count; i++) {
        order[i] = i;
    }
    if (order) {
        qsort_r(order, scan->containers.count, sizeof *order, by_section, (void *)(uintptr_t)scan);
    }
    return order;
}

void cs_slim_pairs_fini(struct cs_slim_pairs *p) {
    cs_free(p->old);
    cs_free(p->fresh);
    *p = (struct cs_slim_pairs){0};
}

enum cs_code cs_slim_pair(const struct cs_slim_job *job, const struct cs_scan *fresh,
                          struct cs_slim_pairs *out, struct cs_err *err) {
    const struct cs_scan *before = &job->scan;
    *out = (struct cs_slim_pairs){.count = before->containers.count};
    if (fresh->containers.count != out->count) {
        return cs_fail(err, CS_CONFLICT, "the new file has %zu containers, the original %zu",
                       fresh->containers.count, before->containers.count);
    }
    out->old = in_order(before);
    out->fresh = in_order(fresh);
    enum cs_code code =
        out->old && out->fresh ? CS_OK : cs_fail(err, CS_NOMEM, "no memory to verify");
    for (size_t i = 0; code == CS_OK && i < out->count; i++) {
        const struct cs_container *a = &before->containers.ptr[out->old[i]];
        const struct cs_container *b = &fresh->containers.ptr[out->fresh[i]];
        const bool same_place = cs_str_eq(cs_intern_text(&before->sections, a->section),
                                          cs_intern_text(&fresh->sections, b->section));
        if (!same_place || a->wrapper != b->wrapper || a->relocatable != b->relocatable) {
            code = cs_fail_at(err, CS_CONFLICT, b->offset, "a container lost its wrapper");
        }
    }
    if (code != CS_OK) {
        cs_slim_pairs_fini(out);
    }
    return code;
}

static enum cs_code check_images(struct proof *proof, struct cs_pool *pool, struct cs_err *err) {
    const struct cs_member *m = &proof->fresh->members.ptr[0];
    if (m->failed) {
        return cs_fail(err, CS_CONFLICT, "the new file cannot be read: %.*s", (int)m->problem.len,
                       m->problem.ptr);
    }
    CS_TRY(cs_slim_pair(proof->job, proof->fresh, &proof->pairs, err));
    cs_pool_for(pool, proof->pairs.count, 1, check_task, proof);
    const enum cs_code code = (enum cs_code)atomic_load(&proof->code);
    if (code != CS_OK && err) {
        *err = proof->err;
    }
    cs_slim_pairs_fini(&proof->pairs);
    return code;
}

enum cs_code cs_slim_verify(const struct cs_slim_job *job, struct cs_view produced,
                            struct cs_pool *pool, struct cs_workers *workers,
                            struct cs_err *err) {
    static const struct cs_inventory_options headers = {.depth = CS_DEPTH_HEADERS};
    CS_TRY(check_shape(job, produced, err));
    struct cs_scan fresh;
    cs_scan_init(&fresh, produced, NULL, &headers);
    enum cs_code code = cs_scan_file(&fresh, job->scan.members.ptr[0].path, err);
    if (code == CS_OK) {
        struct proof proof = {.job = job, .fresh = &fresh, .workers = workers,
                              .err_taken = ATOMIC_FLAG_INIT};
        code = check_images(&proof, pool, err);
    }
    cs_scan_fini(&fresh);
    return code;
}
