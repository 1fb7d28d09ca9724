// A changed wheel: members through zipwrite, RECORD through record.
//
// Spec: packaging guide "Binary distribution format"; everything about bytes is in zipwrite.c and
// record_verify.c.
#include "format/wheelwrite.h"

#include "base/limits.h"
#include "base/mem.h"

// RECORD of the result: far above any real one (torch: 1.3 MB for 12,000 files).
#define RECORD_MAX (256 * CS_MIB)

enum cs_code cs_wheelwrite_begin(struct cs_wheelwrite *w, const struct cs_zip *z,
                                 const struct cs_wheel *wheel, struct cs_outfile *out,
                                 const struct cs_zipwrite_options *options, struct cs_err *err) {
    const uint32_t doubt = CS_ZIP_FAULT_DUPLICATE | CS_ZIP_FAULT_LOCAL_MISMATCH |
                           CS_ZIP_FAULT_OVERLAP | CS_ZIP_FAULT_METHOD;
    if (wheel->faults & (CS_WHEEL_NO_DIST_INFO | CS_WHEEL_SEVERAL_DIST_INFO | CS_WHEEL_NO_RECORD)) {
        return cs_fail(err, CS_CONFLICT, "no wheel, or not exactly one dist-info with a RECORD");
    }
    if (z->faults & CS_ZIP_FILE_EOCDS) {
        return cs_fail(err, CS_CONFLICT, "the file has more than one end record");
    }
    for (size_t i = 0; i < z->members.count; i++) {
        const struct cs_zip_member *m = &z->members.ptr[i];
        if (m->faults & doubt) {
            return cs_fail_at(err, CS_CONFLICT, m->header_off,
                              "%s is ambiguous: its ZIP records are not clean", m->name.ptr);
        }
    }
    *w = (struct cs_wheelwrite){.from = z, .wheel = wheel};
    cs_arena_init(&w->arena);
    cs_zipwrite_init(&w->zip, out, options);
    return CS_OK;
}

void cs_wheelwrite_fini(struct cs_wheelwrite *w) {
    cs_zipwrite_fini(&w->zip);
    cs_vec_fini(&w->edits);
    cs_arena_fini(&w->arena);
}

static enum cs_code add_edit(struct cs_wheelwrite *w, struct cs_str path, bool drop,
                             struct cs_view content, struct cs_err *err) {
    struct cs_record_edit *e = cs_vec_push(&w->edits);
    if (!e) {
        return cs_fail(err, CS_NOMEM, "no memory for RECORD");
    }
    e->path = path;
    e->drop = drop;
    e->bytes = content.len;
    if (!drop) {
        cs_sha256(content.ptr, (size_t)content.len, e->sha256);
    }
    return CS_OK;
}

static const struct cs_zip_member *member_of(const struct cs_wheelwrite *w, uint32_t index) {
    CS_ASSERT(index < w->from->members.count && index != w->wheel->record_member);
    return &w->from->members.ptr[index];
}

enum cs_code cs_wheelwrite_keep(struct cs_wheelwrite *w, uint32_t member, struct cs_err *err) {
    return cs_zipwrite_copy(&w->zip, w->from, member_of(w, member), member, err);
}

enum cs_code cs_wheelwrite_replace(struct cs_wheelwrite *w, uint32_t member, struct cs_view content,
                                   struct cs_err *err) {
    const struct cs_zip_member *m = member_of(w, member);
    CS_TRY(add_edit(w, m->name, false, content, err));
    return cs_zipwrite_replace(&w->zip, w->from, m, member, content, err);
}

enum cs_code cs_wheelwrite_drop(struct cs_wheelwrite *w, uint32_t member, struct cs_err *err) {
    return add_edit(w, member_of(w, member)->name, true, (struct cs_view){NULL, 0}, err);
}

enum cs_code cs_wheelwrite_add(struct cs_wheelwrite *w, struct cs_str name, uint32_t mode,
                               struct cs_view content, struct cs_err *err) {
    const struct cs_str kept = cs_arena_str(&w->arena, name);
    if (!kept.ptr) {
        return cs_fail(err, CS_NOMEM, "no memory for a member name");
    }
    CS_TRY(add_edit(w, kept, false, content, err));
    // RECORD's place, but written earlier: that is right before it.
    return cs_zipwrite_add(&w->zip, kept, mode, w->wheel->record_member, content, err);
}

enum cs_code cs_wheelwrite_end(struct cs_wheelwrite *w, uint64_t *bytes, struct cs_err *err) {
    const uint32_t index = w->wheel->record_member;
    const struct cs_zip_member *record = &w->from->members.ptr[index];
    if (w->edits.count == 0) {
        CS_TRY(cs_zipwrite_copy(&w->zip, w->from, record, index, err));
    } else {
        struct cs_buf text;
        cs_buf_init(&text, RECORD_MAX);
        enum cs_code code =
            cs_record_rewrite(&w->wheel->record, w->edits.ptr, w->edits.count, &text, err);
        if (code == CS_OK) {
            code = cs_zipwrite_replace(&w->zip, w->from, record, index, cs_buf_view(&text), err);
        }
        cs_buf_fini(&text);
        CS_TRY(code);
    }
    const struct cs_view comment = cs_zip_comment(w->from);
    CS_TRY(cs_zipwrite_end(&w->zip, (struct cs_str){(const char *)comment.ptr, comment.len}, err));
    if (bytes) {
        *bytes = cs_zipwrite_bytes(&w->zip);
    }
    return CS_OK;
}
