// ZIP directory: end record, ZIP64, central records, local headers, layout facts.
//
// Spec: PKWARE APPNOTE 6.3.x sections 4.3.7 (local header), 4.3.9 (data descriptor), 4.3.12
// (central record), 4.3.14-16 (end records), 4.5.3 (ZIP64 extra field).  Where the spec leaves a
// choice, the one of Python's zipfile is taken, since that is what installers read wheels with: the
// last end record wins, a prefix shifts all offsets, the directory is read by size and not by
// count. What a stricter reader would refuse, but can be read, becomes a fault bit.
#include "format/zip.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/path.h"

enum {
    LOCAL_SIG = 0x04034b50,
    CENTRAL_SIG = 0x02014b50,
    EOCD_SIG = 0x06054b50,
    EOCD64_SIG = 0x06064b50,
    LOCATOR_SIG = 0x07064b50,
    DESCRIPTOR_SIG = 0x08074b50,
    LOCAL_BYTES = 30,
    CENTRAL_BYTES = 46,
    EOCD_BYTES = 22,
    EOCD64_BYTES = 56,
    LOCATOR_BYTES = 20,
    EXTRA_ZIP64 = 0x0001,
    EXTRA_UNICODE_PATH = 0x7075,
    FLAG_ENCRYPTED = 0x1,
    FLAG_DESCRIPTOR = 0x8,
    FLAG_PATCHED = 0x20,
    FLAG_STRONG = 0x40,
    FLAG_UTF8 = 0x800,
    FLAG_MASKED = 0x2000,
    SAT16 = 0xffff,
};
#define SAT32 0xffffffffu

// What the end records say, before it is known where the directory really is.
struct ends {
    uint64_t eocd_off;
    uint64_t locator_off;  // UINT64_MAX when none
    uint64_t eocd64_off;   // likewise
    uint64_t eocd64_bytes;
    uint64_t tail_off;  // first byte of the end records
    uint64_t count, bytes, off;
};

// One stretch of the file, for the sweep over the layout.
struct span {
    uint64_t off, end;
    size_t member;
};

// Accepts a local header, or the end record of an empty archive, at the very start.
bool cs_zip_probe(struct cs_view file) {
    const uint32_t sig = cs_u32(file, 0);
    return sig == LOCAL_SIG || (sig == EOCD_SIG && file.len >= EOCD_BYTES);
}

static bool find_eocd(struct cs_view f, uint64_t *out) {
    if (f.len < EOCD_BYTES) {
        return false;
    }
    const uint64_t last = f.len - EOCD_BYTES;
    const uint64_t first = last > UINT16_MAX ? last - UINT16_MAX : 0;
    for (uint64_t off = last;; off--) {
        if (f.ptr[off] == 'P' && cs_u32(f, off) == EOCD_SIG) {
            *out = off;
            return true;
        }
        if (off == first) {
            return false;
        }
    }
}

static enum cs_code read_eocd64(struct cs_view f, struct cs_zip *z, struct ends *e,
                                struct cs_err *err) {
    if (e->eocd_off < LOCATOR_BYTES || cs_u32(f, e->eocd_off - LOCATOR_BYTES) != LOCATOR_SIG) {
        return CS_OK;
    }
    const uint64_t locator = e->eocd_off - LOCATOR_BYTES;
    uint64_t off = cs_u64(f, locator + 8);
    if (!cs_view_has(f, off, EOCD64_BYTES) || off > locator || cs_u32(f, off) != EOCD64_SIG) {
        // A prefix shifts it: then it lies right before its locator.
        if (locator < EOCD64_BYTES || cs_u32(f, locator - EOCD64_BYTES) != EOCD64_SIG) {
            return cs_fail_at(err, CS_FORMAT, locator, "ZIP64 end record not found");
        }
        off = locator - EOCD64_BYTES;
    }
    uint64_t bytes;
    if (!cs_add_u64(cs_u64(f, off + 4), 12, &bytes) || bytes < EOCD64_BYTES ||
        bytes > locator - off) {
        return cs_fail_at(err, CS_FORMAT, off, "ZIP64 end record has a wrong size");
    }
    if (cs_u32(f, off + 16) != 0 || cs_u32(f, off + 20) != 0 || cs_u32(f, locator + 16) > 1) {
        return cs_fail_at(err, CS_UNSUPPORTED, off, "split archive");
    }
    const uint64_t count = cs_u64(f, off + 32);
    const uint64_t dir_bytes = cs_u64(f, off + 40);
    const uint64_t dir_off = cs_u64(f, off + 48);
    const bool contradicts = (e->count != SAT16 && e->count != count) ||
                             (e->bytes != SAT32 && e->bytes != dir_bytes) ||
                             (e->off != SAT32 && e->off != dir_off);
    if (contradicts || bytes != EOCD64_BYTES || cs_u64(f, off + 24) != count) {
        z->faults |= CS_ZIP_FILE_EOCD64;
    }
    e->count = count;
    e->bytes = dir_bytes;
    e->off = dir_off;
    e->eocd64_off = e->tail_off = off;
    e->eocd64_bytes = bytes;
    e->locator_off = locator;
    z->zip64_eocd_off = off;
    return CS_OK;
}

static enum cs_code read_ends(struct cs_view f, struct cs_zip *z, struct ends *e,
                              struct cs_err *err) {
    *e = (struct ends){.locator_off = UINT64_MAX, .eocd64_off = UINT64_MAX};
    if (!find_eocd(f, &e->eocd_off)) {
        return cs_fail(err, CS_FORMAT, "no end of central directory record in the last 64 KiB");
    }
    const uint64_t off = e->eocd_off;
    z->eocd_off = e->tail_off = off;
    z->comment_bytes = cs_u16(f, off + 20);
    if (z->comment_bytes > f.len - off - EOCD_BYTES) {
        return cs_fail_at(err, CS_FORMAT, off, "archive comment runs past the end of the file");
    }
    z->trailing_bytes = f.len - off - EOCD_BYTES - z->comment_bytes;
    const uint16_t disk = cs_u16(f, off + 4);
    const uint16_t dir_disk = cs_u16(f, off + 6);
    if ((disk != 0 && disk != SAT16) || (dir_disk != 0 && dir_disk != SAT16)) {
        return cs_fail_at(err, CS_UNSUPPORTED, off, "split archive");
    }
    e->count = cs_u16(f, off + 10);
    e->bytes = cs_u32(f, off + 12);
    e->off = cs_u32(f, off + 16);
    if (cs_u16(f, off + 8) != e->count) {
        z->faults |= CS_ZIP_FILE_COUNT;
    }
    return read_eocd64(f, z, e, err);
}

// Sets z->central_off, central_bytes and base.
static enum cs_code place_directory(struct cs_view f, struct cs_zip *z, const struct ends *e,
                                    struct cs_err *err) {
    uint64_t stated_end;
    if (e->bytes > e->tail_off || !cs_add_u64(e->off, e->bytes, &stated_end) ||
        stated_end > e->tail_off) {
        return cs_fail_at(
            err, CS_FORMAT, e->eocd_off,
            "central directory (%llu bytes at %llu) does not fit before its end record",
            (unsigned long long)e->bytes, (unsigned long long)e->off);
    }
    z->central_bytes = e->bytes;
    z->central_off = e->tail_off - e->bytes;
    z->base = z->central_off - e->off;
    if (z->base != 0) {
        z->faults |= CS_ZIP_FILE_OFFSET;
        if (e->bytes > 0 && cs_u32(f, z->central_off) != CENTRAL_SIG) {
            z->central_off = e->off;  // no prefix, but bytes between directory and end record
            z->base = 0;
        }
    }
    return CS_OK;
}

// Walks extra fields; *zip64 gets the ZIP64 field's data (len 0 and ptr NULL when absent).
static uint32_t scan_extra(struct cs_view extra, struct cs_str name, struct cs_view *zip64) {
    uint32_t faults = 0;
    bool unicode_seen = false;
    *zip64 = (struct cs_view){NULL, 0};
    uint64_t at = 0;
    while (at < extra.len) {
        struct cs_view data;
        if (extra.len - at < 4 || !cs_view_sub(extra, at + 4, cs_u16(extra, at + 2), &data)) {
            return faults | CS_ZIP_FAULT_EXTRA;
        }
        const uint16_t id = cs_u16(extra, at);
        if (id == EXTRA_ZIP64) {
            faults |= zip64->ptr ? CS_ZIP_FAULT_EXTRA : 0;
            *zip64 = data;
        } else if (id == EXTRA_UNICODE_PATH) {
            faults |= unicode_seen ? CS_ZIP_FAULT_EXTRA : 0;
            unicode_seen = true;
            // Version byte and CRC of the plain name, then the other name.
            if (data.len < 5 || data.len - 5 != name.len ||
                memcmp(data.ptr + 5, name.ptr, name.len) != 0) {
                faults |= CS_ZIP_FAULT_UNICODE;
            }
        }
        at += 4 + data.len;
    }
    return faults;
}

// Replaces a saturated 32-bit value by the next one of the ZIP64 field.
static bool take64(struct cs_view zip64, uint64_t *at, uint64_t *value) {
    if (*value != SAT32) {
        return true;
    }
    if (!cs_view_has(zip64, *at, 8)) {
        return false;
    }
    *value = cs_u64(zip64, *at);
    *at += 8;
    return true;
}

static uint32_t judge_name(struct cs_str name, uint16_t flags) {
    bool ascii;
    const bool utf8 = cs_utf8_valid(name, &ascii);
    return (cs_path_is_plain(name) ? 0 : CS_ZIP_FAULT_BAD_NAME) |
           (!utf8 || (!ascii && !(flags & FLAG_UTF8)) ? CS_ZIP_FAULT_UNICODE : 0);
}

// What the declared sizes alone rule out.
static enum cs_code check_sizes(const struct cs_zip_member *m, struct cs_err *err) {
    if (m->bytes > CS_MAX_MEMBER_BYTES) {
        return cs_fail_at(err, CS_LIMIT, m->central_off, "member declares %llu bytes",
                          (unsigned long long)m->bytes);
    }
    if (m->faults & CS_ZIP_FAULT_METHOD) {
        return CS_OK;
    }
    if (m->method == 0 && m->bytes != m->compressed_bytes) {
        return cs_fail_at(err, CS_FORMAT, m->central_off,
                          "stored member has two sizes: %llu and %llu",
                          (unsigned long long)m->bytes, (unsigned long long)m->compressed_bytes);
    }
    uint64_t most;
    if (m->method == 8 && cs_mul_u64(m->compressed_bytes, CS_MAX_DEFLATE_RATIO, &most) &&
        m->bytes > most) {
        return cs_fail_at(err, CS_LIMIT, m->central_off,
                          "member declares %llu bytes from %llu: more than deflate can hold",
                          (unsigned long long)m->bytes, (unsigned long long)m->compressed_bytes);
    }
    return CS_OK;
}

// Reads the central record at `off` into m; *next is where the following one starts.
static enum cs_code read_central(struct cs_zip *z, uint64_t off, struct cs_zip_member *m,
                                 uint64_t *next, struct cs_err *err) {
    const struct cs_view f = z->file;
    const uint64_t end = z->central_off + z->central_bytes;
    if (end - off < CENTRAL_BYTES || cs_u32(f, off) != CENTRAL_SIG) {
        return cs_fail_at(err, CS_FORMAT, off, "not a central directory record");
    }
    const uint16_t name_len = cs_u16(f, off + 28);
    const uint16_t extra_len = cs_u16(f, off + 30);
    const uint16_t comment_len = cs_u16(f, off + 32);
    const uint64_t bytes = (uint64_t)CENTRAL_BYTES + name_len + extra_len + comment_len;
    if (bytes > end - off) {
        return cs_fail_at(err, CS_FORMAT, off, "record runs past the end of the directory");
    }
    if (name_len > CS_MAX_PATH_BYTES) {
        return cs_fail_at(err, CS_LIMIT, off, "member name of %u bytes", (unsigned)name_len);
    }
    const struct cs_view raw_name = cs_view_at(f, off + CENTRAL_BYTES, name_len);
    m->name = cs_arena_str(&z->arena, (struct cs_str){(const char *)raw_name.ptr, name_len});
    if (!m->name.ptr) {
        return cs_fail(err, CS_NOMEM, "no memory for member names");
    }
    m->central_off = off;
    m->central_bytes = bytes;
    m->made_by = cs_u16(f, off + 4);
    m->needed = cs_u16(f, off + 6);
    m->flags = cs_u16(f, off + 8);
    m->method = cs_u16(f, off + 10);
    m->dos_time = cs_u16(f, off + 12);
    m->dos_date = cs_u16(f, off + 14);
    m->crc32 = cs_u32(f, off + 16);
    m->compressed_bytes = cs_u32(f, off + 20);
    m->bytes = cs_u32(f, off + 24);
    m->external_attr = cs_u32(f, off + 38);
    m->header_off = cs_u32(f, off + 42);
    m->comment_bytes = comment_len;
    m->is_dir = name_len > 0 && m->name.ptr[name_len - 1] == '/';
    struct cs_view zip64;
    m->faults =
        judge_name(m->name, m->flags) | (comment_len ? CS_ZIP_FAULT_COMMENT : 0) |
        scan_extra(cs_view_at(f, off + CENTRAL_BYTES + name_len, extra_len), m->name, &zip64);
    m->zip64 = zip64.ptr != NULL;
    uint64_t used = 0;
    const bool complete = take64(zip64, &used, &m->bytes) &&
                          take64(zip64, &used, &m->compressed_bytes) &&
                          take64(zip64, &used, &m->header_off);
    const uint16_t disk = cs_u16(f, off + 34);
    used += disk == SAT16 ? 4 : 0;
    if (!complete || used != zip64.len) {
        m->faults |= CS_ZIP_FAULT_ZIP64;
    }
    if (disk != 0 && disk != SAT16) {
        return cs_fail_at(err, CS_UNSUPPORTED, off, "split archive");
    }
    if ((m->flags & (FLAG_ENCRYPTED | FLAG_PATCHED | FLAG_STRONG | FLAG_MASKED)) ||
        (m->method != 0 && m->method != 8)) {
        m->faults |= CS_ZIP_FAULT_METHOD;
    }
    *next = off + bytes;
    return check_sizes(m, err);
}

// Length of the data descriptor at `off`: with or without signature, 32- or 64-bit; 0 when what
// lies there fits none of the four forms.
static uint64_t descriptor_bytes(struct cs_view f, uint64_t off, const struct cs_zip_member *m) {
    for (uint64_t sig = 4;; sig = 0) {
        const uint64_t at = off + sig;
        if ((sig == 0 || cs_u32(f, off) == DESCRIPTOR_SIG) && cs_u32(f, at) == m->crc32) {
            if (cs_view_has(f, at, 20) && cs_u64(f, at + 4) == m->compressed_bytes &&
                cs_u64(f, at + 12) == m->bytes) {
                return sig + 20;
            }
            if (cs_view_has(f, at, 12) && cs_u32(f, at + 4) == m->compressed_bytes &&
                cs_u32(f, at + 8) == m->bytes) {
                return sig + 12;
            }
        }
        if (sig == 0) {
            return 0;
        }
    }
}

static bool local_agrees(struct cs_view f, const struct cs_zip_member *m, struct cs_view zip64) {
    const uint64_t off = m->header_off;
    const uint16_t flags = cs_u16(f, off + 6);
    const uint16_t compared = FLAG_ENCRYPTED | FLAG_DESCRIPTOR | FLAG_UTF8;
    if (((flags ^ m->flags) & compared) || cs_u16(f, off + 8) != m->method) {
        return false;
    }
    const uint32_t crc = cs_u32(f, off + 14);
    uint64_t compressed = cs_u32(f, off + 18);
    uint64_t bytes = cs_u32(f, off + 22);
    uint64_t used = 0;
    if (zip64.ptr && !(take64(zip64, &used, &bytes) && take64(zip64, &used, &compressed))) {
        return false;
    }
    if ((flags & FLAG_DESCRIPTOR) && crc == 0 && compressed == 0 && bytes == 0) {
        return true;
    }
    return crc == m->crc32 && compressed == m->compressed_bytes && bytes == m->bytes;
}

// *budget bounds the work of many records that point at one long header.
static enum cs_code read_local(struct cs_zip *z, struct cs_zip_member *m, uint64_t *budget,
                               struct cs_err *err) {
    const struct cs_view f = z->file;
    if (!cs_add_u64(m->header_off, z->base, &m->header_off) || m->header_off > z->central_off ||
        z->central_off - m->header_off < LOCAL_BYTES) {
        return cs_fail_at(err, CS_FORMAT, m->central_off, "local header outside the data area");
    }
    const uint64_t off = m->header_off;
    if (cs_u32(f, off) != LOCAL_SIG) {
        return cs_fail_at(err, CS_FORMAT, off, "no local header where the directory says");
    }
    const uint16_t name_len = cs_u16(f, off + 26);
    const uint16_t extra_len = cs_u16(f, off + 28);
    m->data_off = off + LOCAL_BYTES + name_len + extra_len;
    if (!cs_sub_u64(*budget, m->data_off - off, budget)) {
        return cs_fail_at(err, CS_FORMAT, off, "local headers overlap");
    }
    if (m->data_off > z->central_off || m->compressed_bytes > z->central_off - m->data_off) {
        return cs_fail_at(err, CS_FORMAT, off, "data (%llu bytes) runs into the central directory",
                          (unsigned long long)m->compressed_bytes);
    }
    m->end_off = m->data_off + m->compressed_bytes;
    const struct cs_view name = cs_view_at(f, off + LOCAL_BYTES, name_len);
    struct cs_view zip64;
    m->faults |=
        scan_extra(cs_view_at(f, off + LOCAL_BYTES + name_len, extra_len), m->name, &zip64);
    bool agrees = cs_str_eq(m->name, (struct cs_str){(const char *)name.ptr, name_len}) &&
                  local_agrees(f, m, zip64);
    if (cs_u16(f, off + 6) & FLAG_DESCRIPTOR) {
        m->faults |= CS_ZIP_FAULT_DESCRIPTOR;
        const struct cs_view data_area = cs_view_at(f, 0, z->central_off);
        const uint64_t bytes = descriptor_bytes(data_area, m->end_off, m);
        agrees = agrees && bytes > 0;
        m->end_off += bytes;
    }
    if (!agrees) {
        m->faults |= CS_ZIP_FAULT_LOCAL_MISMATCH;
    }
    return CS_OK;
}

static enum cs_code read_members(struct cs_zip *z, const struct ends *e, struct cs_err *err) {
    const uint64_t end = z->central_off + z->central_bytes;
    uint64_t at = z->central_off;
    uint64_t budget = z->file.len;
    while (at < end) {
        if (z->members.count >= CS_MAX_ZIP_MEMBERS) {
            return cs_fail_at(err, CS_LIMIT, at, "more than %d members", CS_MAX_ZIP_MEMBERS);
        }
        struct cs_zip_member *m = cs_vec_push(&z->members);
        if (!m) {
            return cs_fail(err, CS_NOMEM, "no memory for %zu members", z->members.count + 1);
        }
        enum cs_code code = read_central(z, at, m, &at, err);
        if (code == CS_OK) {
            code = read_local(z, m, &budget, err);
        }
        if (code != CS_OK) {
            const int shown = m->name.len > 120 ? 120 : (int)m->name.len;
            return cs_wrap(err, code, "member %zu '%.*s'", z->members.count - 1, shown,
                           m->name.ptr ? m->name.ptr : "");
        }
    }
    if (z->members.count != e->count) {
        z->faults |= CS_ZIP_FILE_COUNT;
    }
    return CS_OK;
}

// Marks every member whose name occurred before, and the first of that name, by an open-addressing
// table of member numbers.
static enum cs_code mark_duplicates(struct cs_zip *z, struct cs_err *err) {
    size_t slots = 16;
    while (slots < z->members.count * 2) {
        slots *= 2;
    }
    uint32_t *table = cs_calloc(slots, sizeof *table);
    if (!table) {
        return cs_fail(err, CS_NOMEM, "no memory for the table of names");
    }
    for (size_t i = 0; i < z->members.count; i++) {
        struct cs_zip_member *m = &z->members.ptr[i];
        size_t slot = cs_hash64(m->name.ptr, m->name.len) & (slots - 1);
        while (table[slot] && !cs_str_eq(z->members.ptr[table[slot] - 1].name, m->name)) {
            slot = (slot + 1) & (slots - 1);
        }
        if (table[slot]) {
            z->members.ptr[table[slot] - 1].faults |= CS_ZIP_FAULT_DUPLICATE;
            m->faults |= CS_ZIP_FAULT_DUPLICATE;
        } else {
            table[slot] = (uint32_t)i + 1;
        }
    }
    cs_free(table);
    return CS_OK;
}

static int span_order(const void *a, const void *b) {
    const struct span *x = a;
    const struct span *y = b;
    if (x->off != y->off) {
        return x->off < y->off ? -1 : 1;
    }
    return x->member < y->member ? -1 : x->member > y->member;
}

// End-record signatures in bytes that no record owns.
static uint32_t count_eocds(struct cs_view gap) {
    static const uint8_t sig[4] = {'P', 'K', 5, 6};
    uint32_t count = 0;
    while (gap.len >= sizeof sig) {
        const uint8_t *hit = memmem(gap.ptr, (size_t)gap.len, sig, sizeof sig);
        if (!hit) {
            break;
        }
        count++;
        gap.len -= (uint64_t)(hit - gap.ptr) + sizeof sig;
        gap.ptr = hit + sizeof sig;
    }
    return count;
}

static void add_gap(struct cs_zip *z, uint64_t from, uint64_t to) {
    if (to > from) {
        z->gap_bytes += to - from;
        z->eocd_count += count_eocds(cs_view_at(z->file, from, to - from));
    }
}

// Finds prefix, gaps and overlaps in one sweep over the members in file order.
static enum cs_code sweep_layout(struct cs_zip *z, const struct ends *e, struct cs_err *err) {
    const size_t n = z->members.count;
    struct span *spans = cs_calloc(n, sizeof *spans);
    if (!spans) {
        return cs_fail(err, CS_NOMEM, "no memory to sort %zu members", n);
    }
    bool sorted = true;
    for (size_t i = 0; i < n; i++) {
        const struct cs_zip_member *m = &z->members.ptr[i];
        spans[i] = (struct span){m->header_off, m->end_off, i};
        sorted = sorted && (i == 0 || spans[i - 1].off <= spans[i].off);
    }
    if (!sorted) {
        qsort(spans, n, sizeof *spans, span_order);
    }
    z->prefix_bytes = n ? spans[0].off : cs_min_u64(z->central_off, e->tail_off);
    z->eocd_count = 1 + count_eocds(cs_view_at(z->file, 0, z->prefix_bytes));
    uint64_t reached = z->prefix_bytes;
    size_t holder = 0;  // the member that reaches furthest
    for (size_t i = 0; i < n; i++) {
        if (spans[i].off < reached) {
            z->members.ptr[spans[i].member].faults |= CS_ZIP_FAULT_OVERLAP;
            z->members.ptr[spans[holder].member].faults |= CS_ZIP_FAULT_OVERLAP;
        }
        add_gap(z, reached, spans[i].off);
        if (spans[i].end > reached) {
            reached = spans[i].end;
            holder = i;
        }
    }
    cs_free(spans);
    add_gap(z, reached, z->central_off);
    add_gap(z, z->central_off + z->central_bytes, e->tail_off);
    if (e->eocd64_off != UINT64_MAX) {
        add_gap(z, e->eocd64_off + e->eocd64_bytes, e->locator_off);
    }
    const uint64_t after = e->eocd_off + EOCD_BYTES;
    z->eocd_count += count_eocds(cs_view_at(z->file, after, z->file.len - after));
    z->faults |= (z->prefix_bytes ? CS_ZIP_FILE_PREFIX : 0) |
                 (z->gap_bytes ? CS_ZIP_FILE_GAPS : 0) |
                 (z->eocd_count > 1 ? CS_ZIP_FILE_EOCDS : 0) |
                 (z->trailing_bytes ? CS_ZIP_FILE_TRAILING : 0) |
                 (z->comment_bytes ? CS_ZIP_FILE_COMMENT : 0);
    return CS_OK;
}

enum cs_code cs_zip_open(struct cs_view file, struct cs_zip *out, struct cs_err *err) {
    *out = (struct cs_zip){.file = file};
    cs_arena_init(&out->arena);
    struct ends e;
    enum cs_code code = read_ends(file, out, &e, err);
    if (code == CS_OK) {
        code = place_directory(file, out, &e, err);
    }
    if (code == CS_OK) {
        code = read_members(out, &e, err);
    }
    if (code == CS_OK) {
        code = mark_duplicates(out, err);
    }
    if (code == CS_OK) {
        code = sweep_layout(out, &e, err);
    }
    if (code != CS_OK) {
        cs_zip_close(out);
        return cs_wrap(err, code, "ZIP");
    }
    return CS_OK;
}

void cs_zip_close(struct cs_zip *z) {
    cs_vec_fini(&z->members);
    cs_arena_fini(&z->arena);
    *z = (struct cs_zip){0};
}

struct cs_view cs_zip_raw(const struct cs_zip *z, const struct cs_zip_member *m) {
    return cs_view_at(z->file, m->data_off, m->compressed_bytes);
}

struct cs_view cs_zip_comment(const struct cs_zip *z) {
    return cs_view_at(z->file, z->eocd_off + EOCD_BYTES, z->comment_bytes);
}
