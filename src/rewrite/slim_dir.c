// Folders, such as an installed package or an unpacked wheel: each library is slimmed like a single
// file, everything else is copied, and the RECORD of every dist-info folder is brought up to date.
//
// A copy is made under a temporary name beside the output and renamed when it is complete.  In
// place, every file is replaced by a verified one in one step each, RECORDs last; until then the
// originals keep a second name, and are put back when anything fails.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/stop.h"
#include "format/record.h"
#include "rewrite/backup.h"
#include "rewrite/slim_input.h"

struct dir_run {
    const struct cs_slim_input *in;
    struct cs_slim_result *result;
    const char *root;        // read from
    const char *target;      // written to: the temporary folder, or root itself
    bool in_place;
    struct cs_dir dir;
    uint8_t *has_code;       // by entry
    CS_VEC(uint32_t) changed;  // entries, parallel to the changed members of the result
    struct cs_backup backup;   // in place
};

static enum cs_code no_memory(struct cs_err *err) {
    return cs_fail(err, CS_NOMEM, "no memory for the folder");
}

static struct cs_str join(struct dir_run *d, const char *root, struct cs_str path) {
    return cs_arena_printf(&d->dir.arena, "%s/%s", root, path.ptr);
}

// ---- first pass ------------------------------------------------------------------------------

static enum cs_code decide_entry(struct dir_run *d, uint32_t index, struct cs_err *err) {
    const struct cs_dir_entry *e = &d->dir.entries.ptr[index];
    const struct cs_str path = join(d, d->root, e->path);
    struct cs_file file;
    if (!path.ptr) {
        return no_memory(err);
    }
    CS_TRY(cs_file_open(path.ptr, &file, err));
    struct cs_slim_job job = {0};
    const enum cs_code code =
        cs_slim_open(file.view, e->path, &d->in->request->options, d->in->workers,
                     &d->result->price, &job, err);
    d->has_code[index] = code == CS_OK && (job.shape != CS_SLIM_NOTHING || job.reason[0]);
    cs_slim_close(&job);
    cs_file_close(&file);
    return code;
}

// The temporary file of a run that was killed: NAME.cuslim-0123456789abcdef.
static bool is_leftover(struct cs_str path) {
    static const char mark[] = ".cuslim-";
    size_t digits = 0;
    while (digits < path.len && strchr("0123456789abcdef", path.ptr[path.len - 1 - digits])) {
        digits++;
    }
    return digits == 16 && cs_str_ends((struct cs_str){path.ptr, path.len - digits}, CS_STR(mark));
}

static enum cs_code decide_all(struct dir_run *d, struct cs_err *err) {
    for (uint32_t i = 0; i < d->dir.entries.count; i++) {
        const struct cs_dir_entry *e = &d->dir.entries.ptr[i];
        CS_TRY(cs_stop_check(err));
        if (e->kind != CS_DIR_FILE || is_leftover(e->path)) {
            continue;
        }
        const enum cs_code code = decide_entry(d, i, err);
        if (code != CS_OK) {
            return cs_wrap(err, code, "%s", e->path.ptr);
        }
        d->result->before_installed_bytes += e->bytes;
        if (d->has_code[i]) {
            const struct cs_str name = cs_slim_base_name(e->path.ptr);
            const struct cs_str path = join(d, d->root, e->path);
            const enum cs_code ours =
                cs_slim_vendor_check(name, d->in->request->force_vendor, err);
            if (ours != CS_OK) {
                return cs_wrap(err, ours, "%s", e->path.ptr);
            }
            CS_TRY(d->in_place ? cs_slim_writable(path.ptr, err) : CS_OK);
        }
    }
    return cs_slim_price_check(&d->result->price, &d->in->request->options, err);
}

// ---- second pass -----------------------------------------------------------------------------

static enum cs_code write_made(struct dir_run *d, const struct cs_slim_job *job,
                               struct cs_slim_member *m, struct cs_str target, mode_t mode,
                               struct cs_err *err) {
    if (d->in->request->dry_run) {
        return CS_OK;
    }
    if (d->in_place && !job->changed) {
        return cs_slim_prove_member(d->in, job, job->file, d->result, m, err);
    }
    if (d->in_place) {
        CS_TRY(cs_backup_keep(&d->backup, target, err));
    }
    const struct cs_slim_rows rows = {&d->result->arena, &m->images};
    return cs_slim_write_job(d->in, job, target.ptr, mode, d->in->request->prove ? &rows : NULL,
                             err);
}

static enum cs_code put_library(struct dir_run *d, uint32_t index, struct cs_err *err) {
    const struct cs_slim_request *q = d->in->request;
    const struct cs_dir_entry *e = &d->dir.entries.ptr[index];
    const struct cs_str from = join(d, d->root, e->path), to = join(d, d->target, e->path);
    struct cs_slim_price unused = {0};  // counted in the first pass
    struct cs_slim_job job = {0};
    struct cs_file file;
    if (!from.ptr || !to.ptr) {
        return no_memory(err);
    }
    CS_TRY(cs_file_open(from.ptr, &file, err));
    enum cs_code code =
        cs_slim_open(file.view, e->path, &q->options, d->in->workers, &unused, &job, err);
    if (code == CS_OK) {
        code = cs_slim_make(&job, q->pool, d->in->workers, err);
    }
    struct cs_slim_member *m = code == CS_OK ? cs_slim_add_member(d->result, e->path, &job) : NULL;
    if (code == CS_OK && !m) {
        code = no_memory(err);
    }
    if (code == CS_OK) {
        d->result->after_installed_bytes += job.after_bytes;
        cs_slim_hash_member(m, &job);
        code = write_made(d, &job, m, to, e->mode, err);
    }
    if (code == CS_OK && job.changed) {
        uint32_t *slot = cs_vec_push(&d->changed);
        code = slot ? CS_OK : no_memory(err);
        if (slot) {
            *slot = (uint32_t)d->result->members.count - 1;
        }
    }
    cs_slim_close(&job);
    cs_slim_price_fini(&unused);
    cs_file_close(&file);
    return code;
}

static enum cs_code copy_link(const char *from, const char *to, struct cs_err *err) {
    char target[CS_MAX_PATH_BYTES];
    const ssize_t n = readlink(from, target, sizeof target - 1);
    if (n < 0) {
        return cs_fail_errno(err, "cannot read the link");
    }
    target[n] = '\0';
    return symlink(target, to) == 0 ? CS_OK : cs_fail_errno(err, "cannot make the link");
}

static enum cs_code copy_entry(struct dir_run *d, uint32_t index, struct cs_err *err) {
    const struct cs_dir_entry *e = &d->dir.entries.ptr[index];
    const struct cs_str from = join(d, d->root, e->path), to = join(d, d->target, e->path);
    if (!from.ptr || !to.ptr) {
        return no_memory(err);
    }
    if (e->kind == CS_DIR_FOLDER) {
        return mkdir(to.ptr, (e->mode & 0777) | 0700) == 0 ? CS_OK
                                                           : cs_fail_errno(err, "cannot make it");
    }
    if (e->kind == CS_DIR_LINK) {
        return copy_link(from.ptr, to.ptr, err);
    }
    if (e->kind != CS_DIR_FILE) {
        return cs_fail(err, CS_UNSUPPORTED, "neither file, folder nor link");
    }
    struct cs_file file;
    CS_TRY(cs_file_open(from.ptr, &file, err));
    const struct cs_slim_job unchanged = {.file = file.view};
    const enum cs_code code = cs_slim_write_job(d->in, &unchanged, to.ptr, e->mode, NULL, err);
    cs_file_close(&file);
    return code;
}

static enum cs_code put_all(struct dir_run *d, struct cs_err *err) {
    const struct cs_slim_request *q = d->in->request;
    uint64_t done = 0;
    for (uint32_t i = 0; i < d->dir.entries.count; i++) {
        const struct cs_dir_entry *e = &d->dir.entries.ptr[i];
        enum cs_code code = cs_stop_check(err);
        if (code != CS_OK) {
            return code;
        }
        if (d->has_code[i]) {
            code = put_library(d, i, err);
        } else if (!d->in_place && !q->dry_run) {
            code = copy_entry(d, i, err);
        }
        if (code != CS_OK) {
            return cs_wrap(err, code, "%s", e->path.ptr);
        }
        const uint64_t bytes = e->kind == CS_DIR_FILE ? e->bytes : 0;
        d->result->after_installed_bytes += d->has_code[i] ? 0 : bytes;
        done += bytes;
        if (q->progress) {
            q->progress(q->progress_ctx, done, d->result->before_installed_bytes);
        }
    }
    return CS_OK;
}

// ---- RECORD ----------------------------------------------------------------------------------

// The folder that a RECORD's paths start from: what is above its dist-info folder.
static bool record_root(struct cs_str path, struct cs_str *root) {
    if (!cs_str_ends(path, CS_STR(".dist-info/RECORD"))) {
        return false;
    }
    size_t at = path.len - strlen("/RECORD");
    while (at > 0 && path.ptr[at - 1] != '/') {
        at--;
    }
    *root = (struct cs_str){path.ptr, at};
    return true;
}

static enum cs_code collect_edits(const struct dir_run *d, const struct cs_record *record,
                                  struct cs_str root, struct cs_record_edit *edits, size_t *count,
                                  struct cs_err *err) {
    for (size_t i = 0; i < d->changed.count; i++) {
        const struct cs_slim_member *m = &d->result->members.ptr[d->changed.ptr[i]];
        if (!cs_str_starts(m->path, root)) {
            continue;
        }
        const struct cs_str rel = {m->path.ptr + root.len, m->path.len - root.len};
        const uint32_t row = cs_record_find(record, rel);
        if (row == CS_RECORD_NONE) {
            continue;
        }
        const struct cs_record_row *r = &record->rows.ptr[row];
        if (r->hash == CS_RECORD_HASH_SHA256 &&
            memcmp(r->sha256, m->before_sha256, CS_SHA256_BYTES) != 0) {
            return cs_fail(err, CS_CONFLICT, "RECORD does not match %.*s (record-mismatch)",
                           (int)m->path.len, m->path.ptr);
        }
        edits[*count] = (struct cs_record_edit){.path = rel, .bytes = m->after_bytes};
        memcpy(edits[*count].sha256, m->after_sha256, CS_SHA256_BYTES);
        ++*count;
    }
    return CS_OK;
}

static enum cs_code write_record(struct dir_run *d, const struct cs_dir_entry *e,
                                 struct cs_view text, struct cs_err *err) {
    const struct cs_str to = join(d, d->target, e->path);
    struct cs_pieces pieces = {0};
    if (!to.ptr) {
        return no_memory(err);
    }
    if (d->in_place) {
        CS_TRY(cs_backup_keep(&d->backup, to, err));
    }
    cs_pieces_add(&pieces, text.ptr, text.len);
    const enum cs_code code =
        cs_pieces_commit(&pieces, to.ptr, e->mode, cs_pieces_same, &pieces, err);
    cs_pieces_fini(&pieces);
    return code;
}

static enum cs_code update_record(struct dir_run *d, const struct cs_dir_entry *e,
                                  struct cs_str root, struct cs_err *err) {
    const struct cs_str from = join(d, d->root, e->path);
    struct cs_record_edit *edits = cs_calloc(d->changed.count, sizeof *edits);
    struct cs_file file = {0};
    struct cs_record record = {0};
    struct cs_buf text;
    size_t count = 0;
    cs_buf_init(&text, CS_MAX_MEMBER_BYTES);
    enum cs_code code = from.ptr && edits ? cs_file_open(from.ptr, &file, err) : no_memory(err);
    if (code == CS_OK) {
        code = cs_record_parse(file.view, &record, err);
    }
    if (code == CS_OK) {
        code = collect_edits(d, &record, root, edits, &count, err);
    }
    if (code == CS_OK && count > 0) {
        code = cs_record_rewrite(&record, edits, count, &text, err);
        d->result->after_installed_bytes += text.len - e->bytes;
        if (code == CS_OK && !d->in->request->dry_run) {
            code = write_record(d, e, cs_buf_view(&text), err);
        }
    }
    cs_buf_fini(&text);
    cs_record_close(&record);
    cs_file_close(&file);
    cs_free(edits);
    return code == CS_OK ? CS_OK : cs_wrap(err, code, "%s", e->path.ptr);
}

static enum cs_code update_records(struct dir_run *d, struct cs_err *err) {
    for (size_t i = 0; d->changed.count && i < d->dir.entries.count; i++) {
        const struct cs_dir_entry *e = &d->dir.entries.ptr[i];
        struct cs_str root;
        if (e->kind == CS_DIR_FILE && record_root(e->path, &root)) {
            CS_TRY(update_record(d, e, root, err));
        }
    }
    return CS_OK;
}

// ---- the whole -------------------------------------------------------------------------------

// The caller drops the backups, or puts them back.
static enum cs_code run_in_place(struct dir_run *d, struct cs_err *err) {
    enum cs_code code = put_all(d, err);
    if (code == CS_OK) {
        code = update_records(d, err);
    }
    return code == CS_OK ? cs_stop_check(err) : code;
}

static enum cs_code run_copy(struct dir_run *d, const char *output, struct cs_err *err) {
    struct stat st;
    if (lstat(output, &st) == 0) {
        return cs_fail(err, CS_CONFLICT, "%s is there already", output);
    }
    char temp[CS_MAX_PATH_BYTES];
    const int n = snprintf(temp, sizeof temp, "%s.cuslim-XXXXXX", output);
    if (n < 0 || (size_t)n >= sizeof temp) {
        return cs_fail(err, CS_LIMIT, "the path of the output is too long");
    }
    if (!mkdtemp(temp)) {
        return cs_fail_errno(err, "cannot create a folder beside %s", output);
    }
    d->target = temp;
    enum cs_code code = put_all(d, err);
    if (code == CS_OK) {
        code = update_records(d, err);
    }
    code = code == CS_OK ? cs_stop_check(err) : code;
    if (code == CS_OK && stat(d->root, &st) == 0 && chmod(temp, st.st_mode & 07777) == 0 &&
        rename(temp, output) != 0) {
        code = cs_fail_errno(err, "cannot rename %s into place", temp);
    }
    if (code != CS_OK) {
        cs_dir_remove(temp);
    }
    return code;
}

static enum cs_code run_listed(struct dir_run *d, struct cs_err *err) {
    const struct cs_slim_request *q = d->in->request;
    d->has_code = cs_calloc(d->dir.entries.count + 1, 1);
    CS_TRY(d->has_code ? decide_all(d, err) : no_memory(err));
    if (q->dry_run) {
        CS_TRY(put_all(d, err));
        return update_records(d, err);
    }
    CS_TRY(d->in_place ? run_in_place(d, err) : run_copy(d, q->output, err));
    d->result->verified = true;
    return CS_OK;
}

enum cs_code cs_slim_run_dir(const struct cs_slim_input *in, struct cs_slim_result *result,
                             struct cs_err *err) {
    const struct cs_slim_request *q = in->request;
    struct dir_run d = {.in = in, .result = result, .root = q->input, .target = q->input,
                        .backup.lock = -1};
    d.in_place = !q->dry_run && strcmp(q->output, q->input) == 0;
    if (d.in_place) {
        CS_TRY(cs_backup_open(q->input, &d.backup, err));
        result->recovered = d.backup.recovered;
    }
    enum cs_code code = cs_dir_list(q->input, &d.dir, err);
    if (code == CS_OK) {
        cs_stop_hold();
        code = run_listed(&d, err);
        cs_stop_release();
    }
    cs_backup_close(&d.backup, code != CS_OK);
    cs_free(d.has_code);
    cs_vec_fini(&d.changed);
    cs_dir_fini(&d.dir);
    return code;
}
