// Single files here; wheels in slim_wheel.c, folders in slim_dir.c.

#include "rewrite/slim_run.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/num.h"
#include "rewrite/slim_input.h"

void cs_slim_result_fini(struct cs_slim_result *r) {
    cs_slim_price_fini(&r->price);
    cs_vec_fini(&r->members);
    cs_arena_fini(&r->arena);
    *r = (struct cs_slim_result){0};
}

struct cs_slim_member *cs_slim_add_member(struct cs_slim_result *result, struct cs_str path,
                                          const struct cs_slim_job *job) {
    struct cs_slim_member *m = cs_vec_push(&result->members);
    if (!m) {
        return NULL;
    }
    m->path = cs_arena_str(&result->arena, path);
    m->reason = cs_arena_str(&result->arena, cs_str_from(job->reason));
    m->before_bytes = job->file.len;
    m->after_bytes = job->after_bytes;
    m->images_dropped = job->changed ? job->decision.dropped : 0;
    m->images_recompressed = job->recompressed;
    m->changed = job->changed;
    m->filled = job->filled;
    for (uint32_t i = 0; job->changed && i < CS_SLIM_CAUSE_COUNT; i++) {
        m->cause_bytes[i] = job->decision.cause_bytes[i];
    }
    result->changed = result->changed || job->changed;
    result->build_seconds += job->build_seconds;
    return m->path.ptr && m->reason.ptr ? m : NULL;
}

void cs_slim_hash_member(struct cs_slim_member *m, const struct cs_slim_job *job) {
    struct cs_sha256_state state;
    cs_sha256(job->file.ptr, (size_t)job->file.len, m->before_sha256);
    m->hashed = true;
    if (!job->changed) {
        memcpy(m->after_sha256, m->before_sha256, sizeof m->after_sha256);
        return;
    }
    static const uint8_t zeros[4096];
    const struct cs_pieces *p = cs_slim_pieces(job);
    cs_sha256_start(&state);
    for (size_t i = 0; i < p->items.count; i++) {
        uint64_t left = p->items.ptr[i].len;
        if (p->items.ptr[i].ptr) {
            cs_sha256_add(&state, p->items.ptr[i].ptr, (size_t)left);
            continue;
        }
        for (; left > 0; left -= cs_min_u64(left, sizeof zeros)) {
            cs_sha256_add(&state, zeros, (size_t)cs_min_u64(left, sizeof zeros));
        }
    }
    cs_sha256_end(&state, m->after_sha256);
}

enum cs_code cs_slim_vendor_check(struct cs_str name, bool force, struct cs_err *err) {
    const bool vendor =
        cs_str_starts(name, CS_STR("nvidia_")) || cs_str_starts(name, CS_STR("nvidia-")) ||
        cs_str_starts(name, CS_STR("libcu")) || cs_str_starts(name, CS_STR("libnv")) ||
        cs_str_starts(name, CS_STR("libnccl"));
    if (vendor && !force) {
        return cs_fail(err, CS_CONFLICT,
                       "by its name this is one of NVIDIA's own redistributables: whether its "
                       "licence lets you change it is for you to find out; --force-vendor goes on");
    }
    return CS_OK;
}

// A rename would replace it all the same, but whoever took the write bits away meant something.
enum cs_code cs_slim_writable(const char *path, struct cs_err *err) {
    struct stat st;
    const bool there = path && stat(path, &st) == 0 && S_ISREG(st.st_mode);
    return there && ((st.st_mode & 0222) == 0 || access(path, W_OK) != 0)
               ? cs_fail(err, CS_IO, "the output %s is read-only", path)
               : CS_OK;
}

struct cs_str cs_slim_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return cs_str_from(slash && slash[1] ? slash + 1 : path);
}

struct verify {
    const struct cs_slim_job *job;
    const struct cs_slim_input *in;
    const struct cs_slim_rows *rows;
};

static enum cs_code prove_rows(const struct verify *v, struct cs_view produced,
                               struct cs_err *err) {
    return v->rows ? cs_slim_prove(v->job, produced, v->in->request->pool, v->in->workers,
                                   v->rows->arena, v->rows->images, err)
                   : CS_OK;
}

static enum cs_code verify_produced(const void *ctx, struct cs_view produced, struct cs_err *err) {
    const struct verify *v = ctx;
    CS_TRY(cs_slim_verify(v->job, produced, v->in->request->pool, v->in->workers, err));
    return prove_rows(v, produced, err);
}

enum cs_code cs_slim_prove_member(const struct cs_slim_input *in, const struct cs_slim_job *job,
                                  struct cs_view produced, struct cs_slim_result *result,
                                  struct cs_slim_member *m, struct cs_err *err) {
    const struct cs_slim_rows rows = {&result->arena, &m->images};
    const struct verify v = {job, in, in->request->prove ? &rows : NULL};
    return prove_rows(&v, produced, err);
}

// The same bytes under another name: what an unchanged file becomes.
static enum cs_code copy_file(struct cs_view file, const char *path, mode_t mode,
                              struct cs_err *err) {
    struct cs_pieces whole = {0};
    cs_pieces_add(&whole, file.ptr, file.len);
    const enum cs_code code = cs_pieces_commit(&whole, path, mode, cs_pieces_same, &whole, err);
    cs_pieces_fini(&whole);
    return code;
}

enum cs_code cs_slim_write_job(const struct cs_slim_input *in, const struct cs_slim_job *job,
                               const char *path, mode_t mode, const struct cs_slim_rows *rows,
                               struct cs_err *err) {
    const struct verify v = {job, in, rows};
    if (!job->changed) {
        CS_TRY(prove_rows(&v, job->file, err));
        return strcmp(path, in->request->input) == 0 ? CS_OK
                                                     : copy_file(job->file, path, mode, err);
    }
    return cs_pieces_commit(cs_slim_pieces(job), path, mode, verify_produced, &v, err);
}

static enum cs_code run_file(const struct cs_slim_input *in, const struct cs_file *file,
                             struct cs_slim_result *result, struct cs_err *err) {
    const struct cs_slim_request *q = in->request;
    const struct cs_str name = cs_slim_base_name(q->input);
    struct cs_slim_job job = {0};
    enum cs_code code =
        cs_slim_open(file->view, name, &q->options, in->workers, &result->price, &job, err);
    if (code == CS_OK && job.scan.members.ptr[0].failed) {
        code = cs_fail(err, CS_FORMAT, "%s", job.reason);
    }
    if (code == CS_OK && job.shape != CS_SLIM_NOTHING) {
        code = cs_slim_vendor_check(name, q->force_vendor, err);
    }
    if (code == CS_OK) {
        code = cs_slim_price_check(&result->price, &q->options, err);
    }
    if (code == CS_OK) {
        code = cs_slim_make(&job, q->pool, in->workers, err);
    }
    const bool counts = job.shape != CS_SLIM_NOTHING || job.reason[0];
    struct cs_slim_member *m =
        code == CS_OK && counts ? cs_slim_add_member(result, name, &job) : NULL;
    if (code == CS_OK && counts && !m) {
        code = cs_fail(err, CS_NOMEM, "no memory for the result");
    }
    if (m && q->prove) {
        cs_slim_hash_member(m, &job);
    }
    if (code == CS_OK) {
        result->before_installed_bytes = file->view.len;
        result->after_installed_bytes = job.after_bytes;
    }
    if (code == CS_OK && !q->dry_run) {
        const struct cs_slim_rows rows = {&result->arena, m ? &m->images : NULL};
        code = cs_slim_write_job(in, &job, q->output, file->mode, q->prove && m ? &rows : NULL,
                                 err);
        result->verified = code == CS_OK;
    }
    cs_slim_close(&job);
    return code;
}

static enum cs_code run_opened(const struct cs_slim_input *in, const struct cs_file *file,
                               struct cs_slim_result *result, struct cs_err *err) {
    const enum cs_file_kind kind = cs_file_kind_of(file->view);
    if (kind == CS_FILE_WHEEL) {
        return cs_slim_run_wheel(in, file, result, err);
    }
    if (kind == CS_FILE_WINDOWS) {
        return cs_fail(err, CS_UNSUPPORTED, "a Windows file: only Linux libraries are edited");
    }
    if (kind == CS_FILE_REPORT) {
        return cs_fail(err, CS_UNSUPPORTED, "a saved report, not an artifact");
    }
    return run_file(in, file, result, err);
}

enum cs_code cs_slim_run(const struct cs_slim_request *request, struct cs_slim_result *result,
                         struct cs_err *err) {
    *result = (struct cs_slim_result){0};
    struct cs_workers workers;
    cs_workers_init(&workers);
    const struct cs_slim_input in = {request, &workers};
    struct cs_file file = {0};
    struct stat st;
    enum cs_code code;
    result->output = cs_arena_str(&result->arena, cs_str_from(request->output));
    if (stat(request->input, &st) == 0 && S_ISDIR(st.st_mode)) {
        code = cs_slim_run_dir(&in, result, err);
    } else {
        code = cs_slim_writable(result->output.ptr, err);
        if (code == CS_OK) {
            code = cs_file_open(request->input, &file, err);
        }
        if (code == CS_OK) {
            code = run_opened(&in, &file, result, err);
        }
        cs_file_close(&file);
    }
    cs_workers_fini(&workers);
    if (!result->changed) {  // what was priced did not come about
        result->price.changes.count = result->price.raises.count = 0;
        result->price.floor_after = result->price.floor_before;
    }
    return code == CS_OK ? CS_OK : cs_wrap(err, code, "%s", request->input);
}
