// ZIP writing: local headers as they go, central records in memory, ZIP64 on need.
//
// Spec: PKWARE APPNOTE 6.3.x sections 4.3.7, 4.3.12, 4.3.14-16, 4.5.3.  A copied member keeps its
// local header byte for byte unless it had a data descriptor; its central record likewise, but for
// the offset, unless ZIP64 fields come or go.
#include "format/zipwrite.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/num.h"

enum {
    LOCAL_SIG = 0x04034b50,
    CENTRAL_SIG = 0x02014b50,
    EOCD_SIG = 0x06054b50,
    EOCD64_SIG = 0x06064b50,
    LOCATOR_SIG = 0x07064b50,
    LOCAL_BYTES = 30,
    CENTRAL_BYTES = 46,
    CENTRAL_OFFSET_AT = 42,
    EXTRA_ZIP64 = 0x0001,
    EXTRA_PADDING = 0xd935,  // zipalign's: means nothing once the member has moved
    FLAG_DESCRIPTOR = 0x8,
    FLAG_LEVEL = 0x6,  // bits 1 and 2: how hard the old stream was deflated
    FLAG_UTF8 = 0x800,
    NEEDED_PLAIN = 20,
    NEEDED_ZIP64 = 45,
    MADE_BY_UNIX = 3 << 8 | NEEDED_PLAIN,
    DOS_DATE_1980 = 0x21,
    STAGE_BYTES = 1 << 20,
    SAVE_AT_LEAST = 50,     // AUTO deflates when it saves 1/50 or more
    SMALL_BYTES = 1 << 16,  // content below this is deflated in one go and stored if no smaller
};
#define SAT32 0xffffffffu
#define SAT16 0xffffu
#define CENTRAL_MAX ((size_t)1 << 36)

// The header fields of a member, before they are laid out.
struct fields {
    struct cs_str name;
    struct cs_view local_extra, central_extra, comment;
    uint16_t made_by, needed, flags, method, dos_time, dos_date, internal_attr;
    uint32_t external_attr, crc32;
    uint64_t compressed_bytes, bytes;
};

void cs_zipwrite_init(struct cs_zipwrite *w, struct cs_outfile *out,
                      const struct cs_zipwrite_options *options) {
    *w = (struct cs_zipwrite){.out = out, .options = *options};
    if (w->options.level == 0) {
        w->options.level = CS_DEFLATE_LEVEL_DEFAULT;
    }
    cs_buf_init(&w->staged, 4 * (size_t)STAGE_BYTES);
    cs_buf_init(&w->central, CENTRAL_MAX);
}

void cs_zipwrite_fini(struct cs_zipwrite *w) {
    cs_buf_fini(&w->staged);
    cs_buf_fini(&w->central);
    cs_vec_fini(&w->entries);
}

static void flush_staged(struct cs_zipwrite *w) {
    if (w->out) {
        cs_outfile_write(w->out, w->staged.ptr, w->staged.len);
    }
    w->flushed += w->staged.len;
    w->staged.len = 0;
}

static void put(struct cs_zipwrite *w, const void *bytes, uint64_t len) {
    if (w->staged.len + len > STAGE_BYTES) {
        flush_staged(w);
    }
    if (len <= STAGE_BYTES) {
        cs_buf_add(&w->staged, bytes, (size_t)len);
        return;
    }
    if (w->out) {
        cs_outfile_write(w->out, bytes, len);
    }
    w->flushed += len;
}

// Changes bytes written earlier.
static void patch(struct cs_zipwrite *w, const void *bytes, size_t len, uint64_t off) {
    if (w->staged.failed != CS_OK) {
        return;  // reported when the entry is finished
    }
    if (off >= w->flushed) {
        memcpy(w->staged.ptr + (off - w->flushed), bytes, len);
    } else if (w->out) {
        cs_outfile_pwrite(w->out, bytes, len, off);
    }
}

static bool needs64(const struct fields *f) {
    return f->bytes >= SAT32 || f->compressed_bytes >= SAT32;
}

// The extra fields but for the ZIP64 one and padding, appended to b.
static void put_extra(struct cs_buf *b, struct cs_view extra) {
    uint64_t at = 0;
    while (at < extra.len) {
        struct cs_view whole;
        if (!cs_view_sub(extra, at, 4 + (uint64_t)cs_u16(extra, at + 2), &whole)) {
            whole = cs_view_at(extra, at, extra.len - at);  // malformed: kept as it is
        }
        const uint16_t id = cs_u16(extra, at);
        if (id != EXTRA_ZIP64 && id != EXTRA_PADDING) {
            cs_buf_add(b, whole.ptr, (size_t)whole.len);
        }
        at += whole.len;
    }
}

static void put_zip64(struct cs_buf *b, const uint64_t *values, size_t count) {
    cs_buf_u16(b, EXTRA_ZIP64);
    cs_buf_u16(b, (uint16_t)(count * 8));
    for (size_t i = 0; i < count; i++) {
        cs_buf_u64(b, values[i]);
    }
}

static uint32_t saturated(uint64_t x, bool zip64) { return zip64 ? SAT32 : (uint32_t)x; }

// The 26 bytes that local and central record share, from "version needed" to "extra length".
static void put_shared(struct cs_buf *b, const struct fields *f, bool zip64, bool needs_more) {
    const bool high = zip64 || needs_more;
    cs_buf_u16(b, high && f->needed < NEEDED_ZIP64 ? NEEDED_ZIP64 : f->needed);
    cs_buf_u16(b, f->flags);
    cs_buf_u16(b, f->method);
    cs_buf_u16(b, f->dos_time);
    cs_buf_u16(b, f->dos_date);
    cs_buf_u32(b, f->crc32);
    cs_buf_u32(b, saturated(f->compressed_bytes, zip64));
    cs_buf_u32(b, saturated(f->bytes, zip64));
    cs_buf_u16(b, (uint16_t)f->name.len);
    cs_buf_u16(b, 0);
}

// Fills in the length of the extra fields that end at the buffer's end.
static void set_extra_len(struct cs_buf *b, size_t field_at, size_t extra_at) {
    if (b->failed != CS_OK) {
        return;
    }
    if (b->len - extra_at > SAT16) {
        b->failed = CS_LIMIT;  // only when a ZIP64 field joins 64 KiB of others
        return;
    }
    cs_put_u16((uint8_t *)b->ptr + field_at, (uint16_t)(b->len - extra_at));
}

// `zip64` may be true without need: where sizes are known only after the header is out.
static void build_local(struct cs_buf *b, const struct fields *f, bool zip64) {
    const uint64_t sizes[] = {f->bytes, f->compressed_bytes};
    cs_buf_u32(b, LOCAL_SIG);
    put_shared(b, f, zip64, false);
    cs_buf_add_str(b, f->name);
    const size_t extra_at = b->len;
    if (zip64) {
        put_zip64(b, sizes, 2);
    }
    put_extra(b, f->local_extra);
    set_extra_len(b, LOCAL_BYTES - 2, extra_at);
}

// Adds the central record of a member that begins at `header_off`.
static void build_central(struct cs_buf *b, const struct fields *f, uint64_t header_off,
                          bool zip64) {
    const size_t start = b->len;
    const bool far = header_off >= SAT32;
    uint64_t wide[3];
    size_t count = 0;
    if (zip64) {
        wide[count++] = f->bytes;
        wide[count++] = f->compressed_bytes;
    }
    if (far) {
        wide[count++] = header_off;
    }
    cs_buf_u32(b, CENTRAL_SIG);
    cs_buf_u16(b, f->made_by);
    put_shared(b, f, zip64, far);
    cs_buf_u16(b, (uint16_t)f->comment.len);
    cs_buf_u16(b, 0);  // disk
    cs_buf_u16(b, f->internal_attr);
    cs_buf_u32(b, f->external_attr);
    cs_buf_u32(b, saturated(header_off, far));
    cs_buf_add_str(b, f->name);
    const size_t extra_at = b->len;
    if (count) {
        put_zip64(b, wide, count);
    }
    put_extra(b, f->central_extra);
    set_extra_len(b, start + LOCAL_BYTES, extra_at);
    cs_buf_add(b, f->comment.ptr, (size_t)f->comment.len);
}

// Everything that goes into a member's records, from the file it comes from.
static void load_fields(const struct cs_zip *z, const struct cs_zip_member *m, struct fields *f) {
    const struct cs_view central = cs_view_at(z->file, m->central_off, m->central_bytes);
    const uint64_t name_len = cs_u16(central, 28);
    const uint64_t extra_len = cs_u16(central, 30);
    const uint64_t local_name = cs_u16(z->file, m->header_off + 26);
    const uint64_t local_extra = cs_u16(z->file, m->header_off + 28);
    *f = (struct fields){
        .name = m->name,
        .local_extra = cs_view_at(z->file, m->header_off + LOCAL_BYTES + local_name, local_extra),
        .central_extra = cs_view_at(central, CENTRAL_BYTES + name_len, extra_len),
        .comment = cs_view_at(central, CENTRAL_BYTES + name_len + extra_len, m->comment_bytes),
        .made_by = m->made_by,
        .needed = m->needed,
        .flags = (uint16_t)(m->flags & ~FLAG_DESCRIPTOR),
        .method = m->method,
        .dos_time = m->dos_time,
        .dos_date = m->dos_date,
        .internal_attr = cs_u16(central, 36),
        .external_attr = m->external_attr,
        .crc32 = m->crc32,
        .compressed_bytes = m->compressed_bytes,
        .bytes = m->bytes,
    };
}

static enum cs_code new_entry(struct cs_zipwrite *w, uint64_t order, struct cs_zipwrite_entry **out,
                              struct cs_err *err) {
    if (w->entries.count >= CS_MAX_ZIP_MEMBERS) {
        return cs_fail(err, CS_LIMIT, "more than %d members", CS_MAX_ZIP_MEMBERS);
    }
    struct cs_zipwrite_entry *e = cs_vec_push(&w->entries);
    if (!e) {
        return cs_fail(err, CS_NOMEM, "no memory for %zu members", w->entries.count + 1);
    }
    e->order = order;
    e->header_off = cs_zipwrite_bytes(w);
    e->record_at = w->central.len;
    *out = e;
    return CS_OK;
}

// Closes an entry: its sizes and how long its central record became.
static enum cs_code finish_entry(struct cs_zipwrite *w, struct cs_zipwrite_entry *e,
                                 const struct fields *f, struct cs_err *err) {
    e->record_bytes = w->central.len - e->record_at;
    e->bytes = f->bytes;
    e->compressed_bytes = f->compressed_bytes;
    e->crc32 = f->crc32;
    e->method = f->method;
    CS_TRY(cs_buf_check(&w->staged, err));
    return cs_buf_check(&w->central, err);
}

enum cs_code cs_zipwrite_copy(struct cs_zipwrite *w, const struct cs_zip *z,
                              const struct cs_zip_member *m, uint64_t order, struct cs_err *err) {
    if (m->faults & (CS_ZIP_FAULT_LOCAL_MISMATCH | CS_ZIP_FAULT_OVERLAP)) {
        return cs_fail_at(err, CS_CONFLICT, m->header_off,
                          "member cannot be copied: its records contradict each other");
    }
    struct cs_zipwrite_entry *e = NULL;
    CS_TRY(new_entry(w, order, &e, err));
    struct fields f;
    load_fields(z, m, &f);
    const bool descriptor = (m->faults & CS_ZIP_FAULT_DESCRIPTOR) != 0;
    if (descriptor) {
        struct cs_buf header;
        cs_buf_init(&header, 4 * (size_t)SAT16);
        build_local(&header, &f, needs64(&f));
        put(w, header.ptr, header.len);
        const enum cs_code code = cs_buf_check(&header, err);
        cs_buf_fini(&header);
        CS_TRY(code);
    } else {
        put(w, z->file.ptr + m->header_off, m->data_off - m->header_off);
    }
    put(w, z->file.ptr + m->data_off, m->compressed_bytes);
    if (descriptor || m->zip64 || e->header_off >= SAT32) {
        build_central(&w->central, &f, e->header_off, needs64(&f));
    } else {
        cs_buf_add(&w->central, z->file.ptr + m->central_off, (size_t)m->central_bytes);
        if (w->central.failed == CS_OK) {
            cs_put_u32((uint8_t *)w->central.ptr + e->record_at + CENTRAL_OFFSET_AT,
                       (uint32_t)e->header_off);
        }
    }
    return finish_entry(w, e, &f, err);
}

struct counting {
    struct cs_zipwrite *w;
    uint64_t bytes;
};

static void take_deflated(void *ctx, const void *bytes, size_t len) {
    struct counting *c = ctx;
    put(c->w, bytes, len);
    c->bytes += len;
}

// Writes header and data of a member that is deflated piece by piece; the header's sizes are filled
// in afterwards.
static enum cs_code put_deflated(struct cs_zipwrite *w, struct fields *f,
                                 const struct cs_deflate_plan *plan, struct cs_view content,
                                 uint64_t header_off, bool *zip64, struct cs_err *err) {
    struct cs_buf header;
    cs_buf_init(&header, 4 * (size_t)SAT16);
    f->method = 8;
    // Stored blocks make a stream at most 1/8192 longer than its content.
    *zip64 = content.len + content.len / 8192 + 64 >= SAT32;
    build_local(&header, f, *zip64);
    put(w, header.ptr, header.len);
    struct counting sink = {.w = w};
    enum cs_code code = cs_buf_check(&header, err);
    if (code == CS_OK) {
        code = cs_deflate_write(content, plan, w->options.level, w->options.pool, take_deflated,
                                &sink, err);
    }
    f->compressed_bytes = sink.bytes;
    if (code == CS_OK) {
        cs_buf_clear(&header);
        build_local(&header, f, *zip64);
        patch(w, header.ptr, header.len, header_off);
        code = cs_buf_check(&header, err);
    }
    cs_buf_fini(&header);
    return code;
}

static enum cs_code put_stored(struct cs_zipwrite *w, struct fields *f, struct cs_view content,
                               bool *zip64, struct cs_err *err) {
    struct cs_buf header;
    cs_buf_init(&header, 4 * (size_t)SAT16);
    f->method = 0;
    f->compressed_bytes = content.len;
    *zip64 = needs64(f);
    build_local(&header, f, *zip64);
    put(w, header.ptr, header.len);
    put(w, content.ptr, content.len);
    const enum cs_code code = cs_buf_check(&header, err);
    cs_buf_fini(&header);
    return code;
}

// Keeps what a sink gets, to see whether a small content shrinks at all.
static void take_trial(void *ctx, const void *bytes, size_t len) { cs_buf_add(ctx, bytes, len); }

static enum cs_code shrinks(struct cs_zipwrite *w, const struct cs_deflate_plan *plan,
                            struct cs_view content, bool *out, struct cs_err *err) {
    struct cs_buf trial;
    cs_buf_init(&trial, 2 * (size_t)SMALL_BYTES);
    enum cs_code code =
        cs_deflate_write(content, plan, w->options.level, NULL, take_trial, &trial, err);
    if (code == CS_OK) {
        code = cs_buf_check(&trial, err);
    }
    *out = trial.len < content.len;
    cs_buf_fini(&trial);
    return code;
}

// Decides, and writes header and data.
static enum cs_code put_content(struct cs_zipwrite *w, struct fields *f, struct cs_view content,
                                uint64_t header_off, bool *zip64, struct cs_err *err) {
    if (w->options.method == CS_ZIPWRITE_STORE) {
        return put_stored(w, f, content, zip64, err);
    }
    struct cs_deflate_plan plan;
    CS_TRY(cs_deflate_plan_make(content, w->options.pool, &plan, err));
    bool deflated = w->options.method == CS_ZIPWRITE_DEFLATE;
    enum cs_code code = CS_OK;
    if (!deflated && content.len > 0 && content.len < SMALL_BYTES) {
        memset(plan.store, 0, plan.count);
        code = shrinks(w, &plan, content, &deflated, err);
    } else if (!deflated) {
        deflated = content.len > 0 && plan.saved_bytes >= content.len / SAVE_AT_LEAST;
    }
    if (code == CS_OK) {
        code = deflated ? put_deflated(w, f, &plan, content, header_off, zip64, err)
                        : put_stored(w, f, content, zip64, err);
    }
    cs_deflate_plan_fini(&plan);
    return code;
}

static enum cs_code write_new(struct cs_zipwrite *w, struct fields *f, uint64_t order,
                              struct cs_view content, struct cs_err *err) {
    if (f->name.len > SAT16) {
        return cs_fail(err, CS_LIMIT, "member name of %zu bytes", f->name.len);
    }
    struct cs_zipwrite_entry *e = NULL;
    CS_TRY(new_entry(w, order, &e, err));
    bool zip64 = false;
    f->bytes = content.len;
    f->compressed_bytes = 0;
    f->crc32 = cs_crc32(0, content.ptr, (size_t)content.len);
    CS_TRY(put_content(w, f, content, e->header_off, &zip64, err));
    build_central(&w->central, f, e->header_off, needs64(f));
    return finish_entry(w, e, f, err);
}

enum cs_code cs_zipwrite_replace(struct cs_zipwrite *w, const struct cs_zip *z,
                                 const struct cs_zip_member *m, uint64_t order,
                                 struct cs_view content, struct cs_err *err) {
    struct fields f;
    load_fields(z, m, &f);
    f.flags = (uint16_t)(m->flags & FLAG_UTF8);
    f.needed = NEEDED_PLAIN;
    return write_new(w, &f, order, content, err);
}

enum cs_code cs_zipwrite_add(struct cs_zipwrite *w, struct cs_str name, uint32_t mode,
                             uint64_t order, struct cs_view content, struct cs_err *err) {
    struct fields f = {.name = name,
                       .made_by = MADE_BY_UNIX,
                       .needed = NEEDED_PLAIN,
                       .dos_date = DOS_DATE_1980,
                       .external_attr = mode << 16};
    for (size_t i = 0; i < name.len; i++) {
        f.flags |= (uint8_t)name.ptr[i] >= 0x80 ? FLAG_UTF8 : 0;
    }
    return write_new(w, &f, order, content, err);
}

// Order of the directory; entries are compared through their own index, so that ties keep theirs.
struct ranked {
    uint64_t order;
    size_t index;
};

static int rank_order(const void *a, const void *b) {
    const struct ranked *x = a;
    const struct ranked *y = b;
    if (x->order != y->order) {
        return x->order < y->order ? -1 : 1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

static enum cs_code put_directory(struct cs_zipwrite *w, struct cs_err *err) {
    const size_t count = w->entries.count;
    struct ranked *ranked = cs_calloc(count, sizeof *ranked);
    if (!ranked) {
        return cs_fail(err, CS_NOMEM, "no memory to order %zu members", count);
    }
    for (size_t i = 0; i < count; i++) {
        ranked[i] = (struct ranked){w->entries.ptr[i].order, i};
    }
    qsort(ranked, count, sizeof *ranked, rank_order);
    for (size_t i = 0; i < count; i++) {
        const struct cs_zipwrite_entry *e = &w->entries.ptr[ranked[i].index];
        put(w, w->central.ptr + e->record_at, e->record_bytes);
    }
    cs_free(ranked);
    return CS_OK;
}

enum cs_code cs_zipwrite_end(struct cs_zipwrite *w, struct cs_str comment, struct cs_err *err) {
    if (comment.len > SAT16) {
        return cs_fail(err, CS_LIMIT, "archive comment of %zu bytes", comment.len);
    }
    const uint64_t off = cs_zipwrite_bytes(w);
    CS_TRY(put_directory(w, err));
    const uint64_t end = cs_zipwrite_bytes(w);
    const uint64_t bytes = end - off;
    const uint64_t count = w->entries.count;
    struct cs_buf b;
    cs_buf_init(&b, 2 * (size_t)SAT16);
    if (count >= SAT16 || bytes >= SAT32 || off >= SAT32) {
        cs_buf_u32(&b, EOCD64_SIG);
        cs_buf_u64(&b, 44);  // of the rest of this record
        cs_buf_u16(&b, NEEDED_ZIP64);
        cs_buf_u16(&b, NEEDED_ZIP64);
        cs_buf_u64(&b, 0);  // both disk numbers
        cs_buf_u64(&b, count);
        cs_buf_u64(&b, count);
        cs_buf_u64(&b, bytes);
        cs_buf_u64(&b, off);
        cs_buf_u32(&b, LOCATOR_SIG);
        cs_buf_u32(&b, 0);
        cs_buf_u64(&b, end);
        cs_buf_u32(&b, 1);
    }
    const uint16_t count16 = (uint16_t)cs_min_u64(count, SAT16);
    cs_buf_u32(&b, EOCD_SIG);
    cs_buf_u32(&b, 0);
    cs_buf_u16(&b, count16);
    cs_buf_u16(&b, count16);
    cs_buf_u32(&b, (uint32_t)cs_min_u64(bytes, SAT32));
    cs_buf_u32(&b, (uint32_t)cs_min_u64(off, SAT32));
    cs_buf_u16(&b, (uint16_t)comment.len);
    cs_buf_add_str(&b, comment);
    put(w, b.ptr, b.len);
    flush_staged(w);
    const enum cs_code code = cs_buf_check(&b, err);
    cs_buf_fini(&b);
    return code;
}
