// Hashes of every image before and after.  What verification compares with fast hashes and short
// cuts is read and hashed once more here, with a hash that anybody can compute.

#include "rewrite/slim_proof.h"

#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"

struct proving {
    const struct cs_slim_job *job;
    const struct cs_scan *fresh;
    struct cs_slim_pairs pairs;
    uint32_t *first_before, *first_after;  // containers: see first_containers
    struct cs_workers *workers;
    struct cs_slim_images *out;
    atomic_int code;
    struct cs_err err;
    atomic_flag err_taken;
};

const char *cs_slim_fate_name(enum cs_slim_fate fate) {
    switch (fate) {
        case CS_SLIM_AS_IT_WAS: return "kept";
        case CS_SLIM_RECOMPRESSED: return "recompressed";
        case CS_SLIM_ZEROED: return "zeroed";
        case CS_SLIM_DROPPED: return "dropped";
    }
    return "unknown";
}

static bool is_text(uint32_t kind) { return kind == CS_FATBIN_PTX || kind == CS_FATBIN_RELPTX; }

static struct cs_view stored_bytes(const struct cs_pending *p) {
    return !p->in_container ? p->loose : p->is_part ? p->concat.payload : p->entry.payload;
}

static enum cs_code read_side(const struct cs_scan *scan, const uint32_t *first_container,
                              uint32_t index, struct cs_worker *w, struct cs_slim_image_side *side,
                              struct cs_err *err) {
    const struct cs_image *image = &scan->images.ptr[index];
    struct cs_err why = {0};
    struct cs_view bytes;
    const enum cs_code code = cs_scan_image_bytes(scan, index, w, &bytes, &why);
    if (code == CS_NOMEM || code == CS_LIMIT) {
        return cs_fail(err, code, "no memory to read an image for the proof");
    }
    *side = (struct cs_slim_image_side){
        .container = image->container == CS_NONE
                         ? CS_NONE
                         : image->container - first_container[image->member],
        .index = image->index,
        .part = image->part,
        .offset = image->offset - scan->members.ptr[image->member].offset,
        .codec = image->codec,
        .content = code == CS_OK};
    if (!side->content) {
        bytes = stored_bytes(&scan->pending.ptr[index]);
    }
    while (side->content && is_text(image->kind) && bytes.len && bytes.ptr[bytes.len - 1] == 0) {
        bytes.len--;
    }
    side->bytes = bytes.len;
    cs_sha256(bytes.ptr, (size_t)bytes.len, side->sha256);
    return CS_OK;
}

static bool same_payload(const struct proving *p, uint32_t old, uint32_t fresh) {
    const struct cs_pending *a = &p->job->scan.pending.ptr[old], *b = &p->fresh->pending.ptr[fresh];
    const struct cs_view x = stored_bytes(a), y = stored_bytes(b);
    return a->is_part == b->is_part && x.len == y.len && memcmp(x.ptr, y.ptr, (size_t)x.len) == 0;
}

static enum cs_code prove_image(const struct proving *p, uint32_t old, uint32_t fresh,
                                struct cs_worker *w, struct cs_err *err) {
    struct cs_slim_image *row = &p->out->ptr[old];
    CS_TRY(read_side(&p->job->scan, p->first_before, old, w, &row->before, err));
    if (fresh == CS_NONE) {
        row->fate = CS_SLIM_DROPPED;
        row->cause = (enum cs_slim_cause)p->job->decision.cause[old];
        return CS_OK;
    }
    CS_TRY(read_side(p->fresh, p->first_after, fresh, w, &row->after, err));
    const bool same = row->before.bytes == row->after.bytes &&
                      memcmp(row->before.sha256, row->after.sha256, CS_SHA256_BYTES) == 0;
    if (!same && !p->job->options->keep_kernels) {
        return cs_fail_at(err, CS_CONFLICT, row->after.offset,
                          "an image differs from the original after decompression");
    }
    row->fate = !same                         ? CS_SLIM_ZEROED
                : same_payload(p, old, fresh) ? CS_SLIM_AS_IT_WAS
                                              : CS_SLIM_RECOMPRESSED;
    return CS_OK;
}

static enum cs_code prove_container(const struct proving *p, size_t index, struct cs_worker *w,
                                    struct cs_err *err) {
    const uint32_t old = p->pairs.old[index];
    const struct cs_container *c = &p->job->scan.containers.ptr[old];
    uint32_t *fresh_of = cs_calloc((size_t)c->image_count + 1, sizeof *fresh_of);
    if (!fresh_of) {
        return cs_fail(err, CS_NOMEM, "no memory for the proof");
    }
    enum cs_code code = cs_slim_match(p->job, p->fresh, old, p->pairs.fresh[index], fresh_of, err);
    for (uint32_t i = 0; code == CS_OK && i < c->image_count; i++) {
        code = prove_image(p, c->first_image + i, fresh_of[i], w, err);
    }
    cs_free(fresh_of);
    return code;
}

// Cubins and PTX outside of containers are never edited: the same ones, in the same order.
static enum cs_code prove_loose(const struct proving *p, struct cs_err *err) {
    struct cs_worker *w = cs_worker_get(p->workers);
    enum cs_code code = w ? CS_OK : cs_fail(err, CS_NOMEM, "no memory for the proof");
    uint32_t fresh = 0;
    for (uint32_t i = 0; code == CS_OK && i < p->out->count; i++) {
        if (p->job->scan.images.ptr[i].container != CS_NONE) {
            continue;
        }
        while (fresh < p->fresh->images.count && p->fresh->images.ptr[fresh].container != CS_NONE) {
            fresh++;
        }
        code = fresh < p->fresh->images.count
                   ? prove_image(p, i, fresh++, w, err)
                   : cs_fail(err, CS_CONFLICT, "an image outside of containers is gone");
    }
    if (w) {
        cs_worker_put(p->workers, w);
    }
    return code;
}

static void prove_task(void *ctx, size_t index) {
    struct proving *p = ctx;
    if (atomic_load(&p->code) != CS_OK) {
        return;
    }
    struct cs_err err = {0};
    struct cs_worker *w = cs_worker_get(p->workers);
    const enum cs_code code =
        w ? prove_container(p, index, w, &err) : cs_fail(&err, CS_NOMEM, "no memory for the proof");
    if (w) {
        cs_worker_put(p->workers, w);
    }
    if (code != CS_OK && !atomic_flag_test_and_set(&p->err_taken)) {
        p->err = err;
        atomic_store(&p->code, (int)code);
    }
}

// first[m]: the first container of member m.  Containers lie in order of members.
static uint32_t *first_containers(const struct cs_scan *scan) {
    uint32_t *first = cs_calloc(scan->members.count + 1, sizeof *first);
    for (size_t c = scan->containers.count; first && c-- > 0;) {
        first[scan->containers.ptr[c].member] = (uint32_t)c;
    }
    return first;
}

// Names and places.
static enum cs_code describe(const struct cs_scan *scan, struct cs_arena *arena,
                             struct cs_slim_images *out, struct cs_err *err) {
    out->count = scan->images.count;
    out->ptr = cs_arena_alloc(arena, (out->count + 1) * sizeof *out->ptr);
    bool ok = out->ptr != NULL;
    uint32_t last = CS_NONE, last_section = CS_NONE;
    struct cs_str inside = {0}, section = {0};
    for (size_t i = 0; ok && i < out->count; i++) {
        const struct cs_image *image = &scan->images.ptr[i];
        if (image->member != last) {
            last = image->member;
            inside = last == 0 ? (struct cs_str){"", 0}
                               : cs_arena_str(arena, scan->members.ptr[last].path);
        }
        if (i == 0 || image->section != last_section) {
            last_section = image->section;
            section = cs_arena_str(arena, cs_intern_text(&scan->sections, last_section));
        }
        ok = inside.ptr && section.ptr;
        out->ptr[i] = (struct cs_slim_image){
            .inside = inside, .section = section, .kind = image->kind, .target = image->target};
    }
    return ok ? CS_OK : cs_fail(err, CS_NOMEM, "no memory for the proof");
}

static enum cs_code prove_all(struct proving *p, struct cs_pool *pool, struct cs_err *err) {
    CS_TRY(cs_slim_pair(p->job, p->fresh, &p->pairs, err));
    p->first_before = first_containers(&p->job->scan);
    p->first_after = first_containers(p->fresh);
    enum cs_code code = p->first_before && p->first_after
                            ? CS_OK
                            : cs_fail(err, CS_NOMEM, "no memory for the proof");
    if (code == CS_OK) {
        cs_pool_for(pool, p->pairs.count, 1, prove_task, p);
        code = (enum cs_code)atomic_load(&p->code);
        if (code != CS_OK && err) {
            *err = p->err;
        }
    }
    code = code == CS_OK ? prove_loose(p, err) : code;
    cs_free(p->first_before);
    cs_free(p->first_after);
    cs_slim_pairs_fini(&p->pairs);
    return code;
}

enum cs_code cs_slim_prove(const struct cs_slim_job *job, struct cs_view produced,
                           struct cs_pool *pool, struct cs_workers *workers, struct cs_arena *arena,
                           struct cs_slim_images *out, struct cs_err *err) {
    static const struct cs_inventory_options headers = {.depth = CS_DEPTH_HEADERS};
    *out = (struct cs_slim_images){0};
    CS_TRY(describe(&job->scan, arena, out, err));
    struct cs_scan fresh;
    cs_scan_init(&fresh, produced, NULL, &headers);
    enum cs_code code = cs_scan_file(&fresh, job->scan.members.ptr[0].path, err);
    if (code == CS_OK) {
        struct proving p = {.job = job,
                            .fresh = &fresh,
                            .workers = workers,
                            .out = out,
                            .err_taken = ATOMIC_FLAG_INIT};
        code = prove_all(&p, pool, err);
    }
    cs_scan_fini(&fresh);
    return code;
}
