// Wheels, in two passes: the first decides for every library and adds up the price, the second
// makes each new library, proves it, and writes it, one at a time; all other members are copied as
// they are, compressed bytes untouched.  RECORD is written anew, and the finished file is read back
// before it gets its name.

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/num.h"
#include "format/wheel.h"
#include "format/zipwrite.h"
#include "rewrite/slim_input.h"

enum { PROBE_BYTES = 4096 };

struct place {
    uint64_t off;
    uint32_t index;
};

struct wheel_run {
    const struct cs_slim_input *in;
    const struct cs_file *file;
    struct cs_slim_result *result;
    struct cs_zip zip;
    struct place *order;           // members in file order
    uint8_t *has_code;             // by member index: holds device code that may change
    struct cs_wheel meta;
    struct cs_arena names;
    CS_VEC(struct cs_record_edit) edits;
    CS_VEC(uint32_t) edited;       // member indices, parallel to edits
    struct cs_buf wheel_text;      // dist-info/WHEEL with a build number; empty = unchanged
    uint8_t record_sha256[CS_SHA256_BYTES];  // of the new RECORD
    uint64_t done_bytes, total_bytes;
};

static enum cs_code no_memory(struct cs_err *err) {
    return cs_fail(err, CS_NOMEM, "no memory for the wheel");
}

static const struct cs_zip_member *member_at(const struct wheel_run *w, uint32_t index) {
    return &w->zip.members.ptr[index];
}

static enum cs_code in_member(const struct wheel_run *w, uint32_t index, enum cs_code code,
                              struct cs_err *err) {
    const struct cs_str name = member_at(w, index)->name;
    return code == CS_OK ? CS_OK
                         : cs_wrap(err, code, "%.*s", (int)cs_min_u64(name.len, 200), name.ptr);
}

// ---- reading ---------------------------------------------------------------------------------

static int by_offset(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    return x->off < y->off ? -1 : x->off > y->off;
}

static bool is_signature(struct cs_str name) {
    return cs_str_ends(name, CS_STR(".dist-info/RECORD.jws")) ||
           cs_str_ends(name, CS_STR(".dist-info/RECORD.p7s"));
}

static enum cs_code find_members(struct wheel_run *w, struct cs_err *err) {
    for (uint32_t i = 0; i < w->zip.members.count; i++) {
        const struct cs_zip_member *m = member_at(w, i);
        w->order[i] = (struct place){m->header_off, i};
        w->total_bytes += m->bytes;
        enum cs_code code = CS_OK;
        if (m->faults) {
            code =
                cs_fail_at(err, CS_CONFLICT, m->header_off,
                           "a damaged or ambiguous ZIP member: `cuslim check` says what is wrong");
        } else if (is_signature(m->name) && !w->in->request->force_vendor) {
            code = cs_fail(err, CS_CONFLICT,
                           "the wheel is signed, and the signature would no longer "
                           "hold; --force-vendor goes on");
        }
        CS_TRY(in_member(w, i, code, err));
    }
    qsort(w->order, w->zip.members.count, sizeof *w->order, by_offset);
    CS_TRY(cs_wheel_open(&w->zip, &w->meta, err));
    const uint32_t missing = CS_WHEEL_NO_DIST_INFO | CS_WHEEL_SEVERAL_DIST_INFO |
                             CS_WHEEL_NO_RECORD | CS_WHEEL_NO_WHEEL;
    return w->meta.faults & missing
               ? cs_fail(err, CS_CONFLICT, "no wheel: its dist-info folder, RECORD or WHEEL is "
                                           "missing or there twice")
               : CS_OK;
}

static enum cs_code extract(const struct wheel_run *w, uint32_t index, uint8_t **block,
                            struct cs_err *err) {
    const struct cs_zip_member *m = member_at(w, index);
    if (m->bytes > CS_MAX_MEMBER_BYTES) {
        return cs_fail(err, CS_LIMIT, "claims %llu bytes", (unsigned long long)m->bytes);
    }
    *block = cs_pages_alloc(cs_max_u64(m->bytes, 1));
    if (!*block) {
        return cs_fail(err, CS_NOMEM, "no memory to inflate %llu bytes",
                       (unsigned long long)m->bytes);
    }
    const enum cs_code code = cs_zip_extract(&w->zip, m, *block, true, NULL, err);
    if (code != CS_OK) {
        cs_pages_free(*block, cs_max_u64(m->bytes, 1));
        *block = NULL;
    }
    return code;
}

static void release(const struct wheel_run *w, uint32_t index, uint8_t *block) {
    cs_pages_free(block, cs_max_u64(member_at(w, index)->bytes, 1));
}

// The row of a member that is going to change must be there and right: an edit must not hide
// damage.
static enum cs_code check_row(const struct wheel_run *w, const struct cs_slim_member *m,
                              struct cs_err *err) {
    const uint32_t row = cs_record_find(&w->meta.record, m->path);
    if (row == CS_RECORD_NONE) {
        return cs_fail(err, CS_CONFLICT, "RECORD has no row for it");
    }
    const struct cs_record_row *r = &w->meta.record.rows.ptr[row];
    const bool right = r->hash != CS_RECORD_HASH_SHA256 ||
                       memcmp(r->sha256, m->before_sha256, CS_SHA256_BYTES) == 0;
    return right && (!r->has_size || r->size == m->before_bytes)
               ? CS_OK
               : cs_fail(err, CS_CONFLICT, "RECORD does not match its content (record-mismatch)");
}

// ---- first pass ------------------------------------------------------------------------------

static bool is_candidate(struct cs_view head, uint64_t bytes) {
    const enum cs_file_kind kind = cs_file_kind_of(head);
    return bytes >= CS_FATBIN_HEADER_BYTES &&
           (kind == CS_FILE_LIBRARY || kind == CS_FILE_EXECUTABLE || kind == CS_FILE_OBJECT ||
            kind == CS_FILE_ARCHIVE || kind == CS_FILE_FATBIN);
}

static enum cs_code decide_member(struct wheel_run *w, uint32_t index, struct cs_err *err) {
    const struct cs_zip_member *m = member_at(w, index);
    uint8_t head[PROBE_BYTES], *block;
    uint64_t got = 0;
    CS_TRY(cs_zip_prefix(&w->zip, m, head, sizeof head, &got, err));
    if (m->is_dir || !is_candidate(cs_view_of(head, got), m->bytes)) {
        return CS_OK;
    }
    CS_TRY(extract(w, index, &block, err));
    struct cs_slim_job job = {0};
    const enum cs_code code =
        cs_slim_open(cs_view_of(block, m->bytes), m->name, &w->in->request->options,
                     w->in->workers, &w->result->price, &job, err);
    w->has_code[index] = code == CS_OK && (job.shape != CS_SLIM_NOTHING || job.reason[0]);
    cs_slim_close(&job);
    release(w, index, block);
    return code;
}

// ---- second pass -----------------------------------------------------------------------------

static bool add_edit(struct wheel_run *w, uint32_t index, struct cs_str path,
                     const uint8_t sha256[CS_SHA256_BYTES], uint64_t bytes) {
    struct cs_record_edit *e = cs_vec_push(&w->edits);
    uint32_t *slot = e ? cs_vec_push(&w->edited) : NULL;
    if (!slot) {
        return false;
    }
    e->path = cs_arena_str(&w->names, path);
    memcpy(e->sha256, sha256, CS_SHA256_BYTES);
    e->bytes = bytes;
    *slot = index;
    return e->path.ptr != NULL;
}

// The new library in memory: proven there, hashed, compressed into the wheel.
static enum cs_code put_produced(struct wheel_run *w, struct cs_zipwrite *out, uint32_t index,
                                 const struct cs_slim_job *job, struct cs_slim_member *m,
                                 struct cs_err *err) {
    const struct cs_slim_request *q = w->in->request;
    const struct cs_pieces *pieces = cs_slim_pieces(job);
    uint8_t *produced = cs_pages_alloc(cs_max_u64(pieces->bytes, 1));
    if (!produced) {
        return no_memory(err);
    }
    cs_pieces_copy(pieces, produced);
    const struct cs_view view = cs_view_of(produced, pieces->bytes);
    enum cs_code code = cs_slim_verify(job, view, q->pool, w->in->workers, err);
    if (code == CS_OK) {
        cs_sha256(job->file.ptr, (size_t)job->file.len, m->before_sha256);
        cs_sha256(view.ptr, (size_t)view.len, m->after_sha256);
        m->hashed = true;
        code = check_row(w, m, err);
    }
    if (code == CS_OK && !add_edit(w, index, m->path, m->after_sha256, view.len)) {
        code = no_memory(err);
    }
    if (code == CS_OK) {
        code = cs_slim_prove_member(w->in, job, view, w->result, m, err);
    }
    if (code == CS_OK) {
        const uint64_t order = index;
        code = cs_zipwrite_replace(out, &w->zip, member_at(w, index), order, view, err);
        m->after_wheel_bytes = out->entries.count
                                   ? out->entries.ptr[out->entries.count - 1].compressed_bytes
                                   : 0;
    }
    cs_pages_free(produced, cs_max_u64(pieces->bytes, 1));
    return code;
}

static enum cs_code put_unchanged(struct wheel_run *w, struct cs_zipwrite *out, uint32_t index,
                                  const struct cs_slim_job *job, struct cs_slim_member *m,
                                  struct cs_err *err) {
    if (w->in->request->prove) {
        cs_slim_hash_member(m, job);
        CS_TRY(cs_slim_prove_member(w->in, job, job->file, w->result, m, err));
    }
    return cs_zipwrite_copy(out, &w->zip, member_at(w, index), index, err);
}

static enum cs_code put_library(struct wheel_run *w, struct cs_zipwrite *out, uint32_t index,
                                struct cs_err *err) {
    const struct cs_slim_request *q = w->in->request;
    const struct cs_zip_member *z = member_at(w, index);
    struct cs_slim_price unused = {0};  // counted in the first pass
    struct cs_slim_job job = {0};
    uint8_t *block;
    CS_TRY(extract(w, index, &block, err));
    enum cs_code code = cs_slim_open(cs_view_of(block, z->bytes), z->name, &q->options,
                                     w->in->workers, &unused, &job, err);
    if (code == CS_OK) {
        code = cs_slim_make(&job, q->pool, w->in->workers, err);
    }
    struct cs_slim_member *m = code == CS_OK ? cs_slim_add_member(w->result, z->name, &job) : NULL;
    if (code == CS_OK && !m) {
        code = no_memory(err);
    }
    if (code == CS_OK) {
        m->before_wheel_bytes = m->after_wheel_bytes = z->compressed_bytes;
        code = job.changed ? put_produced(w, out, index, &job, m, err)
                           : put_unchanged(w, out, index, &job, m, err);
    }
    cs_slim_close(&job);
    cs_slim_price_fini(&unused);
    release(w, index, block);
    return code;
}

static enum cs_code put_record(struct wheel_run *w, struct cs_zipwrite *out, struct cs_err *err) {
    const struct cs_zip_member *m = member_at(w, w->meta.record_member);
    if (w->edits.count == 0) {
        return cs_zipwrite_copy(out, &w->zip, m, w->meta.record_member, err);
    }
    struct cs_buf text;
    cs_buf_init(&text, CS_MAX_MEMBER_BYTES);
    enum cs_code code =
        cs_record_rewrite(&w->meta.record, w->edits.ptr, w->edits.count, &text, err);
    if (code == CS_OK) {
        code = cs_zipwrite_replace(out, &w->zip, m, w->meta.record_member, cs_buf_view(&text), err);
        cs_sha256(text.ptr, text.len, w->record_sha256);
        const uint64_t after = w->result->after_installed_bytes + text.len;
        w->result->after_installed_bytes = after - m->bytes;
    }
    cs_buf_fini(&text);
    return code;
}

// The build number: a line of dist-info/WHEEL, and the third part of the file name.
static enum cs_code put_wheel_file(struct wheel_run *w, struct cs_zipwrite *out,
                                   struct cs_err *err) {
    uint8_t *block;
    const struct cs_zip_member *m = member_at(w, w->meta.wheel_member);
    CS_TRY(extract(w, w->meta.wheel_member, &block, err));
    struct cs_str rest = {(const char *)block, (size_t)m->bytes};
    bool told = false;
    while (rest.len) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        const size_t n = end ? (size_t)(end - rest.ptr) + 1 : rest.len;
        const struct cs_str line = {rest.ptr, n};
        if (!told &&
            (cs_str_starts(line, CS_STR("Tag:")) || cs_str_starts(line, CS_STR("Build:")))) {
            cs_buf_printf(&w->wheel_text, "Build: %llu\n",
                          (unsigned long long)w->in->request->build_tag);
            told = true;
        }
        if (!cs_str_starts(line, CS_STR("Build:"))) {
            cs_buf_add_str(&w->wheel_text, line);
        }
        rest = (struct cs_str){rest.ptr + n, rest.len - n};
    }
    release(w, w->meta.wheel_member, block);
    CS_TRY(cs_buf_check(&w->wheel_text, err));
    uint8_t sha256[CS_SHA256_BYTES];
    cs_sha256(w->wheel_text.ptr, w->wheel_text.len, sha256);
    if (!add_edit(w, w->meta.wheel_member, m->name, sha256, w->wheel_text.len)) {
        return no_memory(err);
    }
    w->result->changed = true;
    w->result->after_installed_bytes += w->wheel_text.len - m->bytes;
    return cs_zipwrite_replace(out, &w->zip, m, w->meta.wheel_member, cs_buf_view(&w->wheel_text),
                               err);
}

static enum cs_code put_member(struct wheel_run *w, struct cs_zipwrite *out, uint32_t index,
                               struct cs_err *err) {
    const struct cs_slim_request *q = w->in->request;
    if (q->build_tag && index == w->meta.wheel_member) {
        return put_wheel_file(w, out, err);
    }
    if (w->has_code[index]) {
        return put_library(w, out, index, err);
    }
    return cs_zipwrite_copy(out, &w->zip, member_at(w, index), index, err);
}

static enum cs_code put_all(struct wheel_run *w, struct cs_zipwrite *out, struct cs_err *err) {
    const struct cs_slim_request *q = w->in->request;
    for (size_t i = 0; i < w->zip.members.count; i++) {
        const uint32_t index = w->order[i].index;
        if (index == w->meta.record_member) {
            continue;  // last: it lists what all others became
        }
        CS_TRY(in_member(w, index, put_member(w, out, index, err), err));
        w->done_bytes += member_at(w, index)->bytes;
        if (q->progress) {
            q->progress(q->progress_ctx, w->done_bytes, w->total_bytes);
        }
    }
    CS_TRY(in_member(w, w->meta.record_member, put_record(w, out, err), err));
    const struct cs_str comment = {
        (const char *)w->file->view.ptr + w->file->view.len - w->zip.comment_bytes,
        w->zip.comment_bytes};
    return cs_zipwrite_end(out, comment, err);
}

// ---- proof -----------------------------------------------------------------------------------

static uint32_t edit_of(const struct wheel_run *w, uint32_t index) {
    for (uint32_t i = 0; i < w->edited.count; i++) {
        if (w->edited.ptr[i] == index) {
            return i;
        }
    }
    return CS_NONE;
}

static enum cs_code prove_member(const struct wheel_run *w, const struct cs_zip *fresh,
                                 uint32_t index, struct cs_err *err) {
    const struct cs_zip_member *a = member_at(w, index), *b = &fresh->members.ptr[index];
    if (!cs_str_eq(a->name, b->name) || b->faults || a->external_attr != b->external_attr) {
        return cs_fail_at(err, CS_CONFLICT, b->header_off,
                          "the new wheel's member is not as meant");
    }
    const uint32_t edit = edit_of(w, index);
    if (edit == CS_NONE && index != w->meta.record_member) {
        const struct cs_view x = cs_zip_raw(&w->zip, a), y = cs_zip_raw(fresh, b);
        return x.len == y.len && a->crc32 == b->crc32 && memcmp(x.ptr, y.ptr, (size_t)x.len) == 0
                   ? CS_OK
                   : cs_fail_at(err, CS_CONFLICT, b->header_off, "copied bytes differ");
    }
    uint8_t *block = cs_pages_alloc(cs_max_u64(b->bytes, 1));
    if (!block) {
        return no_memory(err);
    }
    enum cs_code code = cs_zip_extract(fresh, b, block, true, NULL, err);
    if (code == CS_OK) {
        const uint8_t *want = edit == CS_NONE ? w->record_sha256 : w->edits.ptr[edit].sha256;
        uint8_t sha256[CS_SHA256_BYTES];
        cs_sha256(block, (size_t)b->bytes, sha256);
        if (memcmp(sha256, want, sizeof sha256) != 0) {
            code = cs_fail_at(err, CS_CONFLICT, b->header_off, "new content differs from RECORD");
        }
    }
    cs_pages_free(block, cs_max_u64(b->bytes, 1));
    return code;
}

static void hash_whole(struct wheel_run *w, struct cs_view after) {
    cs_sha256(w->file->view.ptr, (size_t)w->file->view.len, w->result->before_sha256);
    cs_sha256(after.ptr, (size_t)after.len, w->result->after_sha256);
    w->result->hashed = true;
}

static enum cs_code prove(struct wheel_run *w, const char *path, struct cs_err *err) {
    struct cs_file file;
    struct cs_zip fresh;
    CS_TRY(cs_file_open(path, &file, err));
    enum cs_code code = cs_zip_open(file.view, &fresh, err);
    if (code == CS_OK) {
        if (fresh.members.count != w->zip.members.count || fresh.trailing_bytes ||
            fresh.prefix_bytes != 0 || fresh.eocd_count != 1) {
            code = cs_fail(err, CS_CONFLICT, "the new wheel is not as meant");
        }
        for (uint32_t i = 0; code == CS_OK && i < fresh.members.count; i++) {
            code = in_member(w, i, prove_member(w, &fresh, i, err), err);
        }
        cs_zip_close(&fresh);
    }
    if (code == CS_OK && w->in->request->prove) {
        hash_whole(w, file.view);
    }
    cs_file_close(&file);
    return code;
}

// ---- the whole -------------------------------------------------------------------------------

// NAME-VERSION(-BUILD)-PYTHON-ABI-PLATFORM.whl with another BUILD, in the folder of `path`.
static struct cs_str tagged_path(struct wheel_run *w, const char *path) {
    const struct cs_str name = cs_slim_base_name(path);
    size_t dash[6] = {0}, n = 0;
    for (size_t i = 0; i < name.len && n < 6; i++) {
        if (name.ptr[i] == '-') {
            dash[n++] = i;
        }
    }
    const int dir = (int)(name.ptr - path);
    if (n != 4 && n != 5) {
        return cs_arena_str(&w->result->arena, cs_str_from(path));
    }
    const size_t rest = n == 5 ? dash[2] : dash[1];
    return cs_arena_printf(&w->result->arena, "%.*s%.*s-%llu%.*s", dir, path, (int)dash[1],
                           name.ptr, (unsigned long long)w->in->request->build_tag,
                           (int)(name.len - rest), name.ptr + rest);
}

static enum cs_code write_wheel(struct wheel_run *w, struct cs_err *err) {
    const struct cs_slim_request *q = w->in->request;
    const struct cs_zipwrite_options options = {
        .method = CS_ZIPWRITE_AUTO,
        .level = q->options.minimise == CS_SLIM_WHEEL ? CS_DEFLATE_LEVEL_MAX
                                                      : CS_DEFLATE_LEVEL_THOROUGH,
        .pool = q->pool};
    struct cs_outfile file = {.fd = -1};
    struct cs_zipwrite out;
    if (!q->dry_run) {
        CS_TRY(cs_outfile_create(w->result->output.ptr, w->file->mode, &file, err));
    }
    cs_zipwrite_init(&out, q->dry_run ? NULL : &file, &options);
    enum cs_code code = put_all(w, &out, err);
    w->result->after_wheel_bytes = cs_zipwrite_bytes(&out);
    cs_zipwrite_fini(&out);
    if (code == CS_OK && !q->dry_run && w->result->changed) {
        code = cs_outfile_flush(&file, err);
        if (code == CS_OK) {
            code = prove(w, file.temp_path, err);
        }
        if (code == CS_OK) {
            code = cs_outfile_commit(&file, err);
        }
        w->result->verified = code == CS_OK;
    }
    cs_outfile_abort(&file);
    return code;
}

// Nothing to do: the same bytes, whatever the writer would have made of them.
static enum cs_code write_same(struct wheel_run *w, struct cs_err *err) {
    const struct cs_slim_job unchanged = {.file = w->file->view};
    w->result->after_wheel_bytes = w->file->view.len;
    w->result->verified = !w->in->request->dry_run;
    if (w->in->request->prove) {
        hash_whole(w, w->file->view);
    }
    return w->in->request->dry_run ? CS_OK
                                   : cs_slim_write_job(w->in, &unchanged, w->result->output.ptr,
                                                       w->file->mode, NULL, err);
}

static enum cs_code run_opened(struct wheel_run *w, struct cs_err *err) {
    const struct cs_slim_request *q = w->in->request;
    CS_TRY(find_members(w, err));
    for (uint32_t i = 0; i < w->zip.members.count; i++) {
        CS_TRY(in_member(w, i, decide_member(w, i, err), err));
    }
    CS_TRY(cs_slim_price_check(&w->result->price, &q->options, err));
    w->result->before_wheel_bytes = w->file->view.len;
    w->result->before_installed_bytes = w->result->after_installed_bytes = w->total_bytes;
    CS_TRY(write_wheel(w, err));
    for (size_t i = 0; i < w->result->members.count; i++) {
        const struct cs_slim_member *m = &w->result->members.ptr[i];
        w->result->after_installed_bytes += m->after_bytes - m->before_bytes;
    }
    return w->result->changed ? CS_OK : write_same(w, err);
}

enum cs_code cs_slim_run_wheel(const struct cs_slim_input *in, const struct cs_file *file,
                               struct cs_slim_result *result, struct cs_err *err) {
    struct wheel_run w = {.in = in, .file = file, .result = result};
    CS_TRY(cs_slim_vendor_check(cs_slim_base_name(in->request->input), in->request->force_vendor,
                                err));
    CS_TRY(cs_zip_open(file->view, &w.zip, err));
    result->is_wheel = true;
    cs_buf_init(&w.wheel_text, CS_MAX_CONFIG_BYTES);
    w.order = cs_calloc(w.zip.members.count, sizeof *w.order);
    w.has_code = cs_calloc(w.zip.members.count, 1);
    if (in->request->build_tag && in->request->output) {
        result->output = tagged_path(&w, in->request->output);
    }
    enum cs_code code = w.order && w.has_code ? run_opened(&w, err) : no_memory(err);
    cs_free(w.order);
    cs_free(w.has_code);
    cs_wheel_close(&w.meta);
    cs_buf_fini(&w.wheel_text);
    cs_vec_fini(&w.edits);
    cs_vec_fini(&w.edited);
    cs_arena_fini(&w.names);
    cs_zip_close(&w.zip);
    return code;
}
