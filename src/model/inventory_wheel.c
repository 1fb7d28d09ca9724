// Wheels: every member is probed, device code is inflated and scanned, and the ZIP structure
// between the members is owned too, so that all leaves add up to the size of the wheel.
//
// Members are read in parallel, the largest first; each inflated block lives only while its member
// is scanned.  With wheel bytes asked for, positions in the deflate stream are recorded on the way.

#include <stdatomic.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/num.h"
#include "model/inventory_input.h"

enum { PROBE_BYTES = 4096 };

struct job {
    const struct cs_zip_member *member;
    uint64_t own_bytes;  // of its data, those that no other member has taken before
    struct cs_scan scan;
};

struct wheel {
    const struct cs_zip *zip;
    const struct cs_add *add;
    struct job *jobs;     // by member index
    uint32_t *order;      // largest first
    size_t count;
    uint64_t total_bytes;
    _Atomic uint64_t done_bytes;
};

// ---- one member ------------------------------------------------------------------------------

static bool may_hold_device_code(struct cs_view head, uint64_t bytes) {
    const enum cs_file_kind kind = cs_file_kind_of(head);
    // A fatbin is longer than the probe, so its magic alone decides here.
    return bytes >= CS_FATBIN_HEADER_BYTES &&
           (kind == CS_FILE_LIBRARY || kind == CS_FILE_EXECUTABLE || kind == CS_FILE_OBJECT ||
            kind == CS_FILE_ARCHIVE || kind == CS_FILE_FATBIN || kind == CS_FILE_CUBIN ||
            kind == CS_FILE_PTX || kind == CS_FILE_WINDOWS);
}

static void fail_member(struct job *job, enum cs_code code, const struct cs_err *why) {
    struct cs_scan *s = &job->scan;
    if (code == CS_NOMEM) {
        s->failed = code;
        s->err = *why;
        return;
    }
    char text[1024];
    cs_err_format(why, text, sizeof text);
    s->members.ptr[0].failed = true;
    s->members.ptr[0].problem = cs_arena_str(&s->arena, cs_str_from(text));
}

// A member that is not looked into: one leaf with all its bytes.
static void own_whole(struct job *job, uint32_t part) {
    struct cs_scan *s = &job->scan;
    const struct cs_zip_member *m = job->member;
    struct cs_leaf leaf = cs_leaf_of(0, cs_intern_add(&s->sections, CS_STR("[file]")), part);
    leaf.file_bytes = m->bytes;
    leaf.wheel_bytes = job->own_bytes;
    struct cs_leaf *slot =
        leaf.section != CS_INTERN_NONE ? cs_vec_push(&s->leaves) : NULL;
    if (slot) {
        *slot = leaf;
    } else {
        s->failed = cs_fail(&s->err, CS_NOMEM, "no memory for the inventory");
    }
}

static bool start_member(struct job *job) {
    struct cs_scan *s = &job->scan;
    struct cs_member *m = cs_vec_push(&s->members);
    const struct cs_str path = cs_arena_str(&s->arena, job->member->name);
    if (!m || !path.ptr) {
        s->failed = cs_fail(&s->err, CS_NOMEM, "no memory for the inventory");
        return false;
    }
    *m = (struct cs_member){.parent = CS_NONE, .kind = CS_FILE_OTHER, .path = path,
                            .file_bytes = job->member->bytes, .problem = CS_STR("")};
    return true;
}

static enum cs_code inflate_and_scan(const struct wheel *w, struct job *job, bool device_code,
                                     struct cs_err *err) {
    const struct cs_zip_member *m = job->member;
    const bool wheel_bytes = w->add->options->wheel_bytes;
    if (m->bytes > CS_MAX_MEMBER_BYTES) {
        return cs_fail(err, CS_LIMIT, "claims %llu bytes", (unsigned long long)m->bytes);
    }
    const uint64_t block_bytes = cs_max_u64(m->bytes, 1);  // empty files are looked at too
    uint8_t *block = cs_pages_alloc(block_bytes);
    if (!block) {
        return cs_fail(err, CS_NOMEM, "no memory to inflate %llu bytes",
                       (unsigned long long)m->bytes);
    }
    struct cs_zip_map map = {0};
    enum cs_code code =
        cs_zip_extract(w->zip, m, block, true, wheel_bytes ? &map : NULL, err);
    const struct cs_inventory_look *look = w->add->options->look;
    if (code == CS_OK && look) {
        look->file(look->ctx, (uint32_t)(job - w->jobs), m->name, cs_view_of(block, m->bytes));
    }
    if (code == CS_OK && device_code) {
        struct cs_scan *s = &job->scan;
        cs_scan_fini(s);  // the placeholder
        cs_scan_init(s, cs_view_of(block, m->bytes), wheel_bytes ? &map : NULL, w->add->options);
        code = cs_scan_file(s, m->name, err);
        if (code == CS_OK && w->add->options->depth == CS_DEPTH_KERNELS) {
            cs_scan_walk(s, w->add->pool, w->add->workers);
        }
        s->file = cs_view_of("", 0);
        s->map = NULL;
    }
    cs_zip_map_fini(&map);
    cs_pages_free(block, block_bytes);
    return code;
}

static void scan_member(struct wheel *w, struct job *job) {
    const struct cs_zip_member *m = job->member;
    struct cs_err err = {0};
    cs_scan_init(&job->scan, cs_view_of("", 0), NULL, w->add->options);
    if (!start_member(job)) {
        return;
    }
    uint8_t head[PROBE_BYTES];
    uint64_t got = 0;
    // Members that share bytes would make the sums wrong and a small file unpack without end.
    enum cs_code code =
        job->own_bytes < m->compressed_bytes
            ? cs_fail_at(&err, CS_FORMAT, m->data_off, "its data overlap those of another member")
            : cs_zip_prefix(w->zip, m, head, sizeof head, &got, &err);
    const bool device_code =
        code == CS_OK && may_hold_device_code(cs_view_of(head, got), m->bytes);
    if (device_code || (code == CS_OK && w->add->options->look && !m->is_dir)) {
        if (device_code) {
            job->scan.members.ptr[0].kind = cs_file_kind_of(cs_view_of(head, got));
        }
        code = inflate_and_scan(w, job, device_code, &err);
        if (code == CS_OK && device_code) {
            return;
        }
    }
    if (code != CS_OK) {
        fail_member(job, code, &err);
    }
    own_whole(job, code == CS_OK ? CS_PART_HOST : CS_PART_OPAQUE);
}

static void member_task(void *ctx, size_t index) {
    struct wheel *w = ctx;
    struct job *job = &w->jobs[w->order[index]];
    scan_member(w, job);
    const uint64_t done = atomic_fetch_add(&w->done_bytes, job->member->bytes) + job->member->bytes;
    if (w->add->options->progress) {
        w->add->options->progress(w->add->options->progress_ctx, done, w->total_bytes);
    }
}

// ---- structure -------------------------------------------------------------------------------

struct extent {
    uint64_t off, end;
    size_t index;
};

static int extent_cmp(const void *a, const void *b) {
    const struct extent *x = a, *y = b;
    if (x->off != y->off) {
        return x->off < y->off ? -1 : 1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

// Gives each byte of member data to one member: the one that starts first.
static bool share_data(struct wheel *w) {
    struct extent *extents = cs_calloc(w->count, sizeof *extents);
    for (size_t i = 0; extents && i < w->count; i++) {
        const struct cs_zip_member *m = w->jobs[i].member;
        extents[i] = (struct extent){m->data_off, m->data_off + m->compressed_bytes, i};
    }
    if (extents) {
        qsort(extents, w->count, sizeof *extents, extent_cmp);
    }
    uint64_t end = 0;
    for (size_t i = 0; extents && i < w->count; i++) {
        const uint64_t from = cs_max_u64(extents[i].off, end);
        end = cs_max_u64(extents[i].end, end);
        w->jobs[extents[i].index].own_bytes = extents[i].end > from ? extents[i].end - from : 0;
    }
    cs_free(extents);
    return extents != NULL;
}

// Everything of the file that is no member's data: headers, central directory, gaps.
static enum cs_code own_structure(struct cs_inventory *inv, const struct wheel *w, uint32_t input,
                                  struct cs_err *err) {
    struct cs_leaf *slot = cs_vec_push(&inv->leaves);
    if (!slot) {
        return cs_fail(err, CS_NOMEM, "no memory for the inventory");
    }
    *slot = cs_leaf_of(CS_NONE, cs_intern_add(&inv->names, CS_STR("[zip structure]")),
                       CS_PART_ARCHIVE);
    slot->input = input;
    slot->wheel_bytes = w->zip->file.len;
    for (size_t i = 0; i < w->count; i++) {
        slot->wheel_bytes -= w->jobs[i].own_bytes;
    }
    return CS_OK;
}

// ---- the wheel -------------------------------------------------------------------------------

static void sort_largest_first(struct wheel *w) {
    struct extent *keys = cs_calloc(w->count, sizeof *keys);
    for (size_t i = 0; i < w->count; i++) {
        w->order[i] = (uint32_t)i;
        if (keys) {
            keys[i] = (struct extent){.off = UINT64_MAX - w->jobs[i].member->bytes, .index = i};
        }
    }
    if (keys) {
        qsort(keys, w->count, sizeof *keys, extent_cmp);
        for (size_t i = 0; i < w->count; i++) {
            w->order[i] = (uint32_t)keys[i].index;
        }
    }
    cs_free(keys);
}

static enum cs_code merge_members(struct cs_inventory *inv, struct wheel *w, uint32_t input,
                                  struct cs_err *err) {
    for (size_t i = 0; i < w->count; i++) {
        struct cs_scan *s = &w->jobs[i].scan;
        if (s->members.count > 0) {
            s->members.ptr[0].wheel_bytes = w->jobs[i].own_bytes;
        }
        const enum cs_code code = cs_scan_merge(inv, s, input, err);
        if (code != CS_OK) {
            const struct cs_str name = w->jobs[i].member->name;
            return cs_wrap(err, code, "%.*s", (int)cs_min_u64(name.len, 200), name.ptr);
        }
    }
    return own_structure(inv, w, input, err);
}

enum cs_code cs_inventory_add_wheel(struct cs_inventory *inv, const char *path, struct cs_view file,
                                    const struct cs_add *add, struct cs_err *err) {
    struct cs_zip zip;
    CS_TRY(cs_zip_open(file, &zip, err));
    struct wheel w = {.zip = &zip, .add = add, .count = zip.members.count};
    w.jobs = cs_calloc(w.count, sizeof *w.jobs);
    w.order = cs_calloc(w.count, sizeof *w.order);
    enum cs_code code = CS_OK;
    const uint32_t input = cs_inventory_input(inv, path, CS_FILE_WHEEL, file.len);
    if (!w.jobs || !w.order || input == CS_NONE) {
        code = cs_fail(err, CS_NOMEM, "no memory for the inventory");
    } else {
        for (size_t i = 0; i < w.count; i++) {
            w.jobs[i].member = &zip.members.ptr[i];
            w.total_bytes += zip.members.ptr[i].bytes;
        }
        sort_largest_first(&w);
    }
    if (code == CS_OK && !share_data(&w)) {
        code = cs_fail(err, CS_NOMEM, "no memory for the inventory");
    }
    if (code == CS_OK) {
        cs_pool_for(add->pool, w.count, 1, member_task, &w);
        code = merge_members(inv, &w, input, err);
    }
    for (size_t i = 0; w.jobs && i < w.count; i++) {
        cs_scan_fini(&w.jobs[i].scan);
    }
    cs_free(w.jobs);
    cs_free(w.order);
    cs_zip_close(&zip);
    return code;
}
