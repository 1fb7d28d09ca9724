// From decisions to a planned file.  The three shapes differ only in who packs the containers.

#include "rewrite/slim_job.h"

#include <stdio.h>
#include <time.h>

#include "base/mem.h"

static void leave_alone(struct cs_slim_job *job, const struct cs_err *why) {
    char text[1024];
    cs_err_format(why, text, sizeof text);
    snprintf(job->reason, sizeof job->reason, "%.*s", (int)sizeof job->reason - 1, text);
    job->shape = CS_SLIM_NOTHING;
}

// Refusals are the file's business; these are the run's.
static bool is_fatal(enum cs_code code) {
    return code == CS_NOMEM || code == CS_LIMIT || code == CS_INTERNAL || code == CS_INTERRUPTED;
}

static enum cs_slim_shape shape_of(const struct cs_scan *scan) {
    bool editable = false;
    for (size_t i = 0; i < scan->containers.count && !editable; i++) {
        editable = cs_slim_editable(scan, &scan->containers.ptr[i]);
    }
    if (!editable) {
        return CS_SLIM_NOTHING;
    }
    const enum cs_file_kind kind = scan->members.ptr[0].kind;
    if (kind == CS_FILE_LIBRARY || kind == CS_FILE_EXECUTABLE || kind == CS_FILE_OBJECT) {
        return CS_SLIM_ELF;
    }
    return kind == CS_FILE_ARCHIVE  ? CS_SLIM_ARCHIVE
           : kind == CS_FILE_FATBIN ? CS_SLIM_FATBIN
                                    : CS_SLIM_NOTHING;
}

enum cs_code cs_slim_open(struct cs_view file, struct cs_str path,
                          const struct cs_slim_options *options, struct cs_workers *workers,
                          struct cs_slim_price *price, struct cs_slim_job *job,
                          struct cs_err *err) {
    static const struct cs_inventory_options headers = {.depth = CS_DEPTH_HEADERS};
    *job = (struct cs_slim_job){.file = file, .options = options, .after_bytes = file.len};
    cs_scan_init(&job->scan, file, NULL, &headers);
    job->opened = true;
    CS_TRY(cs_scan_file(&job->scan, path, err));
    const struct cs_member *m = &job->scan.members.ptr[0];
    if (m->failed) {
        snprintf(job->reason, sizeof job->reason, "%.*s", (int)m->problem.len, m->problem.ptr);
        return CS_OK;
    }
    job->shape = shape_of(&job->scan);
    if (job->shape == CS_SLIM_NOTHING) {
        if (job->scan.images.count) {
            snprintf(job->reason, sizeof job->reason,
                     "no container in it that a program registers, and others must not change");
        }
        return CS_OK;
    }
    return cs_slim_decide(&job->scan, options, workers, &job->decision, price, err);
}

// ---- shapes ----------------------------------------------------------------------------------

static enum cs_code replace_blocks(struct cs_slim_job *job, struct cs_elfcut *cut, uint32_t member,
                                   uint64_t base, struct cs_err *err) {
    for (size_t c = 0; c < job->built.count; c++) {
        const struct cs_container *container = &job->scan.containers.ptr[c];
        const struct cs_buf *fresh = &job->built.containers[c].bytes;
        if (container->member != member || fresh->len == 0) {
            continue;
        }
        struct cs_elfcut_block *block = cs_elfcut_at(cut, container->offset - base);
        if (!block || block->bytes != container->bytes) {
            return cs_fail_at(err, CS_CONFLICT, container->offset,
                              "a container that was to change is not where it was found");
        }
        cs_elfcut_replace(cut, block, cs_buf_view(fresh));
    }
    return CS_OK;
}

static void note_result(struct cs_slim_job *job, const struct cs_elfcut_result *r) {
    job->changed = job->changed || r->how != CS_ELFCUT_UNCHANGED;
    if (r->filled_bytes && r->reason[0]) {
        job->filled = true;
        snprintf(job->reason, sizeof job->reason, "%s", r->reason);
    }
}

static enum cs_code make_elf(struct cs_slim_job *job, struct cs_err *err) {
    CS_TRY(cs_elfcut_open(job->file, &job->elf, err));
    job->cut_open = true;
    CS_TRY(replace_blocks(job, &job->elf, 0, 0, err));
    CS_TRY(cs_elfcut_plan(&job->elf, NULL, err));
    note_result(job, &job->elf.result);
    job->after_bytes = job->elf.result.after_bytes;
    return CS_OK;
}

// Members of the scan and of the archive are both in file order.
static enum cs_code make_archive(struct cs_slim_job *job, struct cs_err *err) {
    CS_TRY(cs_arcut_open(job->file, &job->archive, err));
    job->cut_open = true;
    uint32_t m = 1;
    for (size_t i = 0; i < job->archive.members.count; i++) {
        struct cs_arcut_member *x = &job->archive.members.ptr[i];
        const uint64_t base = job->archive.ar.members.ptr[x->index].data_off;
        while (m < job->scan.members.count && job->scan.members.ptr[m].offset < base) {
            m++;
        }
        if (x->has_device_code && m < job->scan.members.count &&
            job->scan.members.ptr[m].offset == base) {
            CS_TRY(replace_blocks(job, &x->cut, m, base, err));
        }
    }
    CS_TRY(cs_arcut_plan(&job->archive, NULL, err));
    for (size_t i = 0; i < job->archive.members.count; i++) {
        if (job->archive.members.ptr[i].has_device_code) {
            note_result(job, &job->archive.members.ptr[i].cut.result);
        }
    }
    job->after_bytes = job->archive.pieces.bytes;
    return CS_OK;
}

static enum cs_code make_fatbin(struct cs_slim_job *job, struct cs_err *err) {
    uint64_t done = 0;
    for (size_t c = 0; c < job->built.count; c++) {
        const struct cs_container *container = &job->scan.containers.ptr[c];
        const struct cs_buf *fresh = &job->built.containers[c].bytes;
        cs_pieces_add(&job->own, job->file.ptr + done, container->offset - done);
        if (fresh->len) {
            cs_pieces_add(&job->own, (const uint8_t *)fresh->ptr, fresh->len);
            job->changed = true;
        } else {
            cs_pieces_add(&job->own, job->file.ptr + container->offset, container->bytes);
        }
        done = container->offset + container->bytes;
    }
    cs_pieces_add(&job->own, job->file.ptr + done, job->file.len - done);
    CS_TRY(cs_pieces_check(&job->own, err));
    job->after_bytes = job->own.bytes;
    return CS_OK;
}

// Some bytes less in a container are none less in the file, which is cut by pages: then the
// original stays, unless something else was asked for than a smaller file.
static bool is_worth_it(const struct cs_slim_job *job) {
    const struct cs_slim_options *o = job->options;
    const bool for_size = o->recompress == CS_SLIM_RAW_TO_LZ4 || o->recompress == CS_SLIM_TO_ZSTD;
    return job->after_bytes < job->file.len || job->filled || job->decision.dropped ||
           o->keep_kernels || o->split_concatenated || !for_size;
}

enum cs_code cs_slim_make(struct cs_slim_job *job, struct cs_pool *pool,
                          struct cs_workers *workers, struct cs_err *err) {
    if (job->shape == CS_SLIM_NOTHING) {
        return CS_OK;
    }
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    CS_TRY(cs_slim_build(&job->scan, &job->decision, job->options, pool, workers, &job->built,
                         err));
    clock_gettime(CLOCK_MONOTONIC, &end);
    job->build_seconds =
        (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9;
    struct cs_err why = {0};
    enum cs_code code = job->shape == CS_SLIM_ELF       ? make_elf(job, &why)
                        : job->shape == CS_SLIM_ARCHIVE ? make_archive(job, &why)
                                                        : make_fatbin(job, &why);
    if (code != CS_OK) {
        if (is_fatal(code)) {
            if (err) {
                *err = why;
            }
            return code;
        }
        job->changed = false;
        job->after_bytes = job->file.len;
        leave_alone(job, &why);
        return CS_OK;
    }
    job->made = true;
    if (job->changed && !is_worth_it(job)) {
        job->changed = false;
        job->after_bytes = job->file.len;
    }
    job->recompressed = job->changed ? job->built.recompressed : 0;
    return CS_OK;
}

const struct cs_pieces *cs_slim_pieces(const struct cs_slim_job *job) {
    CS_ASSERT(job->made && job->changed);
    return job->shape == CS_SLIM_ELF       ? &job->elf.pieces
           : job->shape == CS_SLIM_ARCHIVE ? &job->archive.pieces
                                           : &job->own;
}

void cs_slim_close(struct cs_slim_job *job) {
    if (job->cut_open && job->shape == CS_SLIM_ARCHIVE) {
        cs_arcut_close(&job->archive);
    } else if (job->cut_open) {
        cs_elfcut_close(&job->elf);
    }
    cs_pieces_fini(&job->own);
    cs_slim_built_fini(&job->built);
    cs_slim_decision_fini(&job->decision);
    if (job->opened) {
        cs_scan_fini(&job->scan);
    }
    *job = (struct cs_slim_job){0};
}
