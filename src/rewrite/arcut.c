// Arcut: plans the objects of an archive one by one and writes the archive around them.
//
// Format: ar(5).  A member's header is 60 bytes of text; only its size field (10 digits at 48)
// changes here.  Data is padded to even offsets with a newline.  The GNU symbol index holds a
// big-endian count and then one big-endian offset of a member header for each symbol: 32 bits in
// "/", 64 bits in
// "/SYM64/".
#include "rewrite/arcut.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/num.h"

enum { MAGIC_BYTES = 8, HEADER_BYTES = 60, SIZE_AT = 48, SIZE_DIGITS = 10 };

static enum cs_code add_member(struct cs_arcut *a, uint32_t index, bool *any, struct cs_err *err) {
    const struct cs_ar_member *ar = &a->ar.members.ptr[index];
    if (cs_str_starts(ar->name, CS_STR("__.SYMDEF"))) {
        return cs_fail_at(err, CS_UNSUPPORTED, ar->header_off, "BSD symbol index");
    }
    struct cs_arcut_member *m = cs_vec_push(&a->members);
    if (!m) {
        return cs_fail(err, CS_NOMEM, "no memory for archive members");
    }
    m->index = index;
    const struct cs_view data = cs_view_at(a->ar.file, ar->data_off, ar->bytes);
    if (ar->special || !cs_elf_probe(data)) {
        return CS_OK;
    }
    switch (cs_elfcut_open(data, &m->cut, &m->refused)) {
        case CS_OK: m->has_device_code = *any = true; break;
        case CS_NOTFOUND: cs_err_clear(&m->refused); break;
        case CS_NOMEM: return cs_fail(err, CS_NOMEM, "no memory for an archive member");
        case CS_IO:
        case CS_FORMAT:
        case CS_UNSUPPORTED:
        case CS_LIMIT:
        case CS_CONFLICT:
        case CS_INTERRUPTED:
        case CS_USAGE:
        case CS_INTERNAL: break;  // the member stays as it is, `refused` says why
    }
    return CS_OK;
}

enum cs_code cs_arcut_open(struct cs_view file, struct cs_arcut *a, struct cs_err *err) {
    *a = (struct cs_arcut){0};
    cs_arena_init(&a->arena);
    enum cs_code code = cs_ar_open(file, &a->ar, err);
    bool any = false;
    for (uint32_t i = 0; code == CS_OK && i < a->ar.members.count; i++) {
        code = add_member(a, i, &any, err);
    }
    if (code == CS_OK && !any) {
        code = cs_fail(err, CS_NOTFOUND, "no member has device sections");
    }
    if (code != CS_OK) {
        cs_arcut_close(a);
    }
    return code;
}

void cs_arcut_close(struct cs_arcut *a) {
    for (size_t i = 0; i < a->members.count; i++) {
        cs_elfcut_close(&a->members.ptr[i].cut);
    }
    cs_vec_fini(&a->members);
    cs_pieces_fini(&a->pieces);
    cs_arena_fini(&a->arena);
    cs_ar_close(&a->ar);
    *a = (struct cs_arcut){0};
}

static uint64_t new_bytes(const struct cs_arcut *a, const struct cs_arcut_member *m) {
    return m->has_device_code ? m->cut.result.after_bytes : a->ar.members.ptr[m->index].bytes;
}

// Header, and a name that lies in front of the data (BSD long names).
static uint64_t lead_bytes(const struct cs_ar_member *ar) { return ar->data_off - ar->header_off; }

static enum cs_code place_members(struct cs_arcut *a, struct cs_err *err) {
    uint64_t at = MAGIC_BYTES;
    for (size_t i = 0; i < a->members.count; i++) {
        struct cs_arcut_member *m = &a->members.ptr[i];
        m->new_header_off = at;
        if (!cs_add_u64(at, lead_bytes(&a->ar.members.ptr[m->index]) + new_bytes(a, m), &at)) {
            return cs_fail(err, CS_LIMIT, "archive would become too large");
        }
        at += at & 1;
    }
    return CS_OK;
}

// New header offset of the member whose header was at `off`; false when none was.
static bool map_header(const struct cs_arcut *a, uint64_t off, uint64_t *now) {
    size_t low = 0;
    size_t high = a->members.count;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (a->ar.members.ptr[mid].header_off < off) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    if (low >= a->members.count || a->ar.members.ptr[low].header_off != off) {
        return false;
    }
    *now = a->members.ptr[low].new_header_off;
    return true;
}

static uint64_t get_be(const uint8_t *p, uint32_t bytes) {
    uint64_t x = 0;
    for (uint32_t i = 0; i < bytes; i++) {
        x = x << 8 | p[i];
    }
    return x;
}

static void put_be(uint8_t *p, uint32_t bytes, uint64_t x) {
    for (uint32_t i = bytes; i > 0; i--) {
        p[i - 1] = (uint8_t)x;
        x >>= 8;
    }
}

// Bytes of an index entry; 0 when the member is no symbol index.
static uint32_t index_width(const struct cs_ar_member *ar) {
    return cs_str_eq(ar->name, CS_STR("/"))         ? 4
           : cs_str_eq(ar->name, CS_STR("/SYM64/")) ? 8
                                                    : 0;
}

// The symbol index with its offsets mapped.
static enum cs_code map_index(struct cs_arcut *a, const struct cs_ar_member *ar, uint32_t width,
                              const uint8_t **out, struct cs_err *err) {
    const struct cs_view old = cs_view_at(a->ar.file, ar->data_off, ar->bytes);
    const uint64_t count = old.len >= width ? get_be(old.ptr, width) : 0;
    if (old.len < width || count > old.len / width - 1) {
        return cs_fail_at(err, CS_FORMAT, ar->data_off, "symbol index of %llu entries is too short",
                          (unsigned long long)count);
    }
    uint8_t *p = cs_arena_alloc(&a->arena, old.len);
    if (!p) {
        return cs_fail(err, CS_NOMEM, "no memory for a symbol index");
    }
    memcpy(p, old.ptr, old.len);
    for (uint64_t i = 1; i <= count; i++) {
        uint64_t now;
        if (!map_header(a, get_be(old.ptr + i * width, width), &now) ||
            (width == 4 && now > UINT32_MAX)) {
            return cs_fail_at(err, CS_FORMAT, ar->data_off + i * width,
                              "symbol index entry does not point to a member");
        }
        put_be(p + i * width, width, now);
    }
    *out = p;
    return CS_OK;
}

static enum cs_code add_lead(struct cs_arcut *a, const struct cs_arcut_member *m,
                             struct cs_err *err) {
    const struct cs_ar_member *ar = &a->ar.members.ptr[m->index];
    const uint64_t lead = lead_bytes(ar);
    const uint8_t *old = cs_view_at(a->ar.file, ar->header_off, lead).ptr;
    if (new_bytes(a, m) == ar->bytes) {
        cs_pieces_add(&a->pieces, old, lead);
        return CS_OK;
    }
    uint8_t *p = cs_arena_alloc(&a->arena, lead);
    char digits[24];
    const int n = snprintf(digits, sizeof digits, "%-*llu", SIZE_DIGITS,
                           (unsigned long long)(new_bytes(a, m) + lead - HEADER_BYTES));
    if (!p) {
        return cs_fail(err, CS_NOMEM, "no memory for an archive header");
    }
    if (n != SIZE_DIGITS) {
        return cs_fail_at(err, CS_LIMIT, ar->header_off, "archive member would become too large");
    }
    memcpy(p, old, lead);
    memcpy(p + SIZE_AT, digits, SIZE_DIGITS);
    cs_pieces_add(&a->pieces, p, lead);
    return CS_OK;
}

static enum cs_code add_data(struct cs_arcut *a, const struct cs_arcut_member *m,
                             struct cs_err *err) {
    const struct cs_ar_member *ar = &a->ar.members.ptr[m->index];
    const uint32_t width = index_width(ar);
    if (m->has_device_code) {
        cs_pieces_add_all(&a->pieces, &m->cut.pieces);
    } else if (width > 0) {
        const uint8_t *p = NULL;
        CS_TRY(map_index(a, ar, width, &p, err));
        cs_pieces_add(&a->pieces, p, ar->bytes);
    } else {
        cs_pieces_add(&a->pieces, a->ar.file.ptr + ar->data_off, ar->bytes);
    }
    static const uint8_t newline[1] = {'\n'};
    const bool last_unpadded = m->index + 1 == a->members.count &&
                               ar->data_off + ar->bytes == a->ar.file.len && (ar->bytes & 1);
    if ((a->pieces.bytes & 1) && !last_unpadded) {
        cs_pieces_add(&a->pieces, newline, 1);
    }
    return CS_OK;
}

enum cs_code cs_arcut_plan(struct cs_arcut *a, const struct cs_elfcut_options *options,
                           struct cs_err *err) {
    cs_pieces_fini(&a->pieces);
    cs_arena_fini(&a->arena);
    cs_arena_init(&a->arena);
    for (size_t i = 0; i < a->members.count; i++) {
        struct cs_arcut_member *m = &a->members.ptr[i];
        const enum cs_code code =
            m->has_device_code ? cs_elfcut_plan(&m->cut, options, err) : CS_OK;
        if (code != CS_OK) {
            const struct cs_str name = a->ar.members.ptr[m->index].name;
            return cs_wrap(err, code, "member %.*s", (int)cs_min_u64(name.len, 200), name.ptr);
        }
    }
    CS_TRY(place_members(a, err));
    cs_pieces_add(&a->pieces, a->ar.file.ptr, MAGIC_BYTES);
    for (size_t i = 0; i < a->members.count; i++) {
        CS_TRY(add_lead(a, &a->members.ptr[i], err));
        CS_TRY(add_data(a, &a->members.ptr[i], err));
    }
    return cs_pieces_check(&a->pieces, err);
}

static enum cs_code verify_member(const struct cs_arcut *a, const struct cs_arcut_member *m,
                                  const struct cs_ar *now, struct cs_err *err) {
    const struct cs_ar_member *before = &a->ar.members.ptr[m->index];
    const struct cs_ar_member *after = &now->members.ptr[m->index];
    const struct cs_view old = cs_view_at(a->ar.file, before->data_off, before->bytes);
    const struct cs_view new = cs_view_at(now->file, after->data_off, after->bytes);
    const uint64_t tail = SIZE_AT + SIZE_DIGITS;
    const uint8_t *h = a->ar.file.ptr + before->header_off;
    const uint8_t *g = now->file.ptr + after->header_off;
    if (after->header_off != m->new_header_off || lead_bytes(before) != lead_bytes(after) ||
        !cs_str_eq(before->name, after->name) || memcmp(h, g, SIZE_AT) != 0 ||
        memcmp(h + tail, g + tail, lead_bytes(before) - tail) != 0) {
        return cs_fail_at(err, CS_CONFLICT, after->header_off,
                          "the result does not verify: archive header");
    }
    if (m->has_device_code) {
        return cs_elfcut_verify(&m->cut, new, err);
    }
    const uint32_t width = index_width(before);
    bool same = old.len == new.len;
    const uint64_t count = width > 0 ? get_be(old.ptr, width) : 0;
    for (uint64_t i = 1; same && i <= count; i++) {
        uint64_t want;
        same = map_header(a, get_be(old.ptr + i * width, width), &want) &&
               get_be(new.ptr + i * width, width) == want;
    }
    const uint64_t skip = width > 0 ? (count + 1) * width : 0;
    same = same && (old.len == skip || memcmp(old.ptr + skip, new.ptr + skip, old.len - skip) == 0);
    return same ? CS_OK
                : cs_fail_at(err, CS_CONFLICT, after->data_off,
                             "the result does not verify: archive member");
}

enum cs_code cs_arcut_verify(const struct cs_arcut *a, struct cs_view produced,
                             struct cs_err *err) {
    struct cs_ar now;
    CS_TRY(cs_ar_open(produced, &now, err));
    enum cs_code code = CS_OK;
    if (now.members.count != a->members.count) {
        code = cs_fail(err, CS_CONFLICT, "the result does not verify: number of members");
    }
    for (size_t i = 0; i < a->members.count && code == CS_OK; i++) {
        code = verify_member(a, &a->members.ptr[i], &now, err);
    }
    cs_ar_close(&now);
    return code;
}

static enum cs_code verify_pieces(const void *ctx, struct cs_view produced, struct cs_err *err) {
    return cs_arcut_verify(ctx, produced, err);
}

enum cs_code cs_arcut_commit(const struct cs_arcut *a, const char *path, mode_t mode,
                             struct cs_err *err) {
    return cs_pieces_commit(&a->pieces, path, mode, verify_pieces, a, err);
}
