// RECORD against the files it lists, and RECORD after some of them changed.
//
// Spec as record.c.  Both passes are linear: rows are found by the index that parsing built.
#include "base/mem.h"
#include "format/record.h"

const char *cs_record_fault_name(enum cs_record_fault_kind kind) {
    switch (kind) {
        case CS_RECORD_FAULT_MISSING_ROW: return "missing-row";
        case CS_RECORD_FAULT_EXTRA_ROW: return "extra-row";
        case CS_RECORD_FAULT_WRONG_HASH: return "wrong-hash";
        case CS_RECORD_FAULT_WRONG_SIZE: return "wrong-size";
        case CS_RECORD_FAULT_NO_HASH: return "no-hash";
        case CS_RECORD_FAULT_NO_SIZE: return "no-size";
        case CS_RECORD_FAULT_BAD_HASH: return "bad-hash";
        case CS_RECORD_FAULT_WEAK_HASH: return "weak-hash";
        case CS_RECORD_FAULT_OTHER_HASH: return "other-hash";
        case CS_RECORD_FAULT_PADDED_HASH: return "padded-hash";
        case CS_RECORD_FAULT_NOT_URLSAFE_HASH: return "not-urlsafe-hash";
        case CS_RECORD_FAULT_BAD_SIZE: return "bad-size";
        case CS_RECORD_FAULT_DIRECTORY_ROW: return "directory-row";
        case CS_RECORD_FAULT_DUPLICATE_ROW: return "duplicate-row";
        case CS_RECORD_FAULT_BAD_PATH: return "bad-path";
        case CS_RECORD_FAULT_BAD_ROW: return "bad-row";
        case CS_RECORD_FAULT_SELF_HASHED: return "self-hashed";
        case CS_RECORD_FAULT_EMPTY_LINE: return "empty-line";
    }
    return "unknown";
}

// Appends faults; the first failed allocation sticks.
struct sink {
    struct cs_record_faults *out;
    bool failed;
};

static void add(struct sink *s, enum cs_record_fault_kind kind, uint32_t row, uint32_t file) {
    struct cs_record_fault *f = cs_vec_push(&s->out->list);
    if (!f) {
        s->failed = true;
        return;
    }
    *f = (struct cs_record_fault){kind, row, file};
}

static bool is_signature(struct cs_str path, struct cs_str record_path) {
    if (!cs_str_starts(path, record_path)) {
        return false;
    }
    const struct cs_str tail = {path.ptr + record_path.len, path.len - record_path.len};
    return cs_str_eq(tail, CS_STR(".jws")) || cs_str_eq(tail, CS_STR(".p7s"));
}

// What the row says against what the file is.
static void compare(struct sink *s, const struct cs_record_row *row, uint32_t row_index,
                    const struct cs_record_file *file, uint32_t file_index) {
    switch (row->hash) {
        case CS_RECORD_HASH_NONE: add(s, CS_RECORD_FAULT_NO_HASH, row_index, file_index); break;
        case CS_RECORD_HASH_SHA256:
            if (file->hashed && memcmp(row->sha256, file->sha256, CS_SHA256_BYTES) != 0) {
                add(s, CS_RECORD_FAULT_WRONG_HASH, row_index, file_index);
            }
            break;
        case CS_RECORD_HASH_OTHER: add(s, CS_RECORD_FAULT_OTHER_HASH, row_index, file_index); break;
        case CS_RECORD_HASH_WEAK: add(s, CS_RECORD_FAULT_WEAK_HASH, row_index, file_index); break;
        case CS_RECORD_HASH_BAD: add(s, CS_RECORD_FAULT_BAD_HASH, row_index, file_index); break;
    }
    if (row->faults & CS_RECORD_BAD_SIZE) {
        add(s, CS_RECORD_FAULT_BAD_SIZE, row_index, file_index);
    } else if (!row->has_size) {
        add(s, CS_RECORD_FAULT_NO_SIZE, row_index, file_index);
    } else if (row->size != file->bytes) {
        add(s, CS_RECORD_FAULT_WRONG_SIZE, row_index, file_index);
    }
}

static void judge_row(struct sink *s, const struct cs_record_row *row, uint32_t i) {
    static const struct {
        uint32_t bits;
        enum cs_record_fault_kind kind;
    } table[] = {
        {CS_RECORD_DUPLICATE, CS_RECORD_FAULT_DUPLICATE_ROW},
        {CS_RECORD_DIRECTORY, CS_RECORD_FAULT_DIRECTORY_ROW},
        {CS_RECORD_BAD_PATH, CS_RECORD_FAULT_BAD_PATH},
        {CS_RECORD_FIELDS | CS_RECORD_QUOTES, CS_RECORD_FAULT_BAD_ROW},
        {CS_RECORD_PADDED, CS_RECORD_FAULT_PADDED_HASH},
        {CS_RECORD_NOT_URLSAFE, CS_RECORD_FAULT_NOT_URLSAFE_HASH},
    };
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        if (row->faults & table[k].bits) {
            add(s, table[k].kind, i, CS_RECORD_NONE);
        }
    }
}

static void judge_file(struct sink *s, const struct cs_record *r, const struct cs_record_file *file,
                       uint32_t i, struct cs_str record_path, uint8_t *row_seen) {
    const uint32_t row = cs_record_find(r, file->path);
    const bool signature = is_signature(file->path, record_path);
    if (row == CS_RECORD_NONE) {
        if (!signature) {
            add(s, CS_RECORD_FAULT_MISSING_ROW, CS_RECORD_NONE, i);
        }
        return;
    }
    row_seen[row] = 1;
    const struct cs_record_row *found = &r->rows.ptr[row];
    if (cs_str_eq(file->path, record_path)) {
        if (found->hash != CS_RECORD_HASH_NONE || found->has_size) {
            add(s, CS_RECORD_FAULT_SELF_HASHED, row, i);
        }
    } else if (!signature || found->hash != CS_RECORD_HASH_NONE) {
        compare(s, found, row, file, i);
    }
}

enum cs_code cs_record_verify(const struct cs_record *r, const struct cs_record_file *files,
                              size_t count, struct cs_str record_path, struct cs_record_faults *out,
                              struct cs_err *err) {
    *out = (struct cs_record_faults){0};
    struct sink s = {.out = out};
    uint8_t *row_seen = cs_calloc(r->rows.count, 1);
    if (!row_seen) {
        return cs_fail(err, CS_NOMEM, "no memory to compare RECORD");
    }
    for (uint32_t i = 0; i < count; i++) {
        judge_file(&s, r, &files[i], i, record_path, row_seen);
    }
    for (uint32_t i = 0; i < r->rows.count; i++) {
        const struct cs_record_row *row = &r->rows.ptr[i];
        judge_row(&s, row, i);
        if (!row_seen[i] && !(row->faults & (CS_RECORD_DUPLICATE | CS_RECORD_DIRECTORY))) {
            add(&s, CS_RECORD_FAULT_EXTRA_ROW, i, CS_RECORD_NONE);
        }
    }
    for (uint32_t i = 0; i < r->empty_lines; i++) {
        add(&s, CS_RECORD_FAULT_EMPTY_LINE, CS_RECORD_NONE, CS_RECORD_NONE);
    }
    cs_free(row_seen);
    if (s.failed) {
        cs_vec_fini(&out->list);
        return cs_fail(err, CS_NOMEM, "no memory for the faults of RECORD");
    }
    return CS_OK;
}

static void put_path(struct cs_buf *out, struct cs_str path) {
    bool plain = true;
    for (size_t i = 0; i < path.len; i++) {
        plain = plain && !strchr("\",\r\n", path.ptr[i]);
    }
    if (plain) {
        cs_buf_add_str(out, path);
        return;
    }
    cs_buf_addc(out, '"');
    for (size_t i = 0; i < path.len; i++) {
        cs_buf_pad(out, path.ptr[i], path.ptr[i] == '"' ? 2 : 1);
    }
    cs_buf_addc(out, '"');
}

static void put_row(struct cs_buf *out, const struct cs_record_edit *e, struct cs_str eol) {
    char hash[CS_RECORD_HASH_TEXT];
    cs_record_hash_format(e->sha256, hash);
    put_path(out, e->path);
    cs_buf_printf(out, ",%s,%llu", hash, (unsigned long long)e->bytes);
    cs_buf_add_str(out, eol);
}

static struct cs_str row_eol(const struct cs_record *r, const struct cs_record_row *row) {
    const struct cs_view v =
        cs_view_at(r->text, row->off + row->bytes - row->eol_bytes, row->eol_bytes);
    return (struct cs_str){(const char *)v.ptr, (size_t)v.len};
}

// Files each edit under its row; of_row[i] is edit + 1.  Edits without a row keep used[edit] = 0.
static enum cs_code match_edits(const struct cs_record *r, const struct cs_record_edit *edits,
                                size_t count, uint32_t *of_row, uint8_t *used, struct cs_err *err) {
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t row = cs_record_find(r, edits[i].path);
        if (row == CS_RECORD_NONE) {
            continue;
        }
        if (of_row[row]) {
            return cs_fail(err, CS_CONFLICT, "RECORD: two edits of %.*s", (int)edits[i].path.len,
                           edits[i].path.ptr);
        }
        of_row[row] = i + 1;
        used[i] = 1;
    }
    for (uint32_t i = 0; i < r->rows.count; i++) {
        const struct cs_record_row *row = &r->rows.ptr[i];
        if ((row->faults & CS_RECORD_DUPLICATE) && of_row[cs_record_find(r, row->path)]) {
            return cs_fail_at(err, CS_CONFLICT, row->off, "RECORD lists %.*s twice",
                              (int)row->path.len, row->path.ptr);
        }
    }
    return CS_OK;
}

static void put_new_rows(struct cs_buf *out, const struct cs_record_edit *edits, size_t count,
                         const uint8_t *used, struct cs_str eol) {
    if (out->len > 0 && out->ptr[out->len - 1] != '\n' && out->ptr[out->len - 1] != '\r') {
        cs_buf_add_str(out, eol);
    }
    for (size_t i = 0; i < count; i++) {
        if (!used[i] && !edits[i].drop) {
            put_row(out, &edits[i], eol);
        }
    }
}

static void put_rows(const struct cs_record *r, const struct cs_record_edit *edits, size_t count,
                     const uint32_t *of_row, const uint8_t *used, struct cs_buf *out) {
    bool fresh = false;
    for (size_t i = 0; i < count; i++) {
        fresh = fresh || (!used[i] && !edits[i].drop);
    }
    const struct cs_str eol = r->rows.count ? row_eol(r, &r->rows.ptr[0]) : CS_STR("\n");
    const struct cs_str new_eol = eol.len ? eol : CS_STR("\n");
    uint64_t at = 0;  // text before a row (empty lines) goes along with it
    for (size_t i = 0; i < r->rows.count; i++) {
        const struct cs_record_row *row = &r->rows.ptr[i];
        const struct cs_record_edit *e = of_row[i] ? &edits[of_row[i] - 1] : NULL;
        const bool own = i + 1 == r->rows.count && row->hash == CS_RECORD_HASH_NONE &&
                         cs_str_ends(row->path, CS_STR(".dist-info/RECORD"));
        if (fresh && own) {
            put_new_rows(out, edits, count, used, new_eol);
            fresh = false;
        }
        cs_buf_add(out, r->text.ptr + at, (size_t)(row->off - at));
        at = row->off + row->bytes;
        if (!e) {
            cs_buf_add(out, r->text.ptr + row->off, (size_t)row->bytes);
        } else if (!e->drop) {
            put_row(out, e, row_eol(r, row));
        }
    }
    cs_buf_add(out, r->text.ptr + at, (size_t)(r->text.len - at));
    if (fresh) {
        put_new_rows(out, edits, count, used, new_eol);
    }
}

enum cs_code cs_record_rewrite(const struct cs_record *r, const struct cs_record_edit *edits,
                               size_t count, struct cs_buf *out, struct cs_err *err) {
    uint32_t *of_row = cs_calloc(r->rows.count, sizeof *of_row);
    uint8_t *used = cs_calloc(count, 1);
    enum cs_code code = CS_OK;
    if (!of_row || !used) {
        code = cs_fail(err, CS_NOMEM, "no memory to rewrite RECORD");
    } else {
        code = match_edits(r, edits, count, of_row, used, err);
    }
    if (code == CS_OK) {
        put_rows(r, edits, count, of_row, used, out);
        code = cs_buf_check(out, err);
    }
    cs_free(of_row);
    cs_free(used);
    return code;
}
