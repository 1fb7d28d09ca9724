// ZIP, wheel and ar builders for tests (PKWARE APPNOTE 6.3.10 4.3; wheel: PEP 427; ar: System V,
// GNU).
#include "build/mk_zip.h"

#include <stdio.h>
#include <zlib.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/mem.h"

enum { LOCAL = 0x04034b50, CENTRAL = 0x02014b50, END = 0x06054b50, END64 = 0x06064b50,
       LOCATOR64 = 0x07064b50, DESCRIPTOR = 0x08074b50, MEMBER_MAX = 1 << 30,
       FLAG_DESCRIPTOR = 8, MADE_BY_UNIX = 3 << 8 | 20, DOS_DATE = 0x5821, SHA_TEXT = 43 };

struct placed {
    uint64_t off, packed, size;
    uint32_t crc;
    uint16_t method, flags;
};

static void deflate_into(struct cs_buf *out, const struct cs_mk_member *m) {
    z_stream z = {0};
    const int level = m->level == 0 ? 6 : m->level < 0 ? 0 : m->level;
    CS_ASSERT(deflateInit2(&z, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    z.next_in = (Bytef *)(uintptr_t)m->data.ptr;
    const size_t bound = deflateBound(&z, m->data.len) +
                         (m->flush_every ? m->data.len / m->flush_every * 32 : 0) + 64;
    z.next_out = cs_buf_reserve(out, bound);
    z.avail_out = (uInt)bound;
    CS_ASSERT(z.next_out != NULL && m->data.len < MEMBER_MAX);
    for (uint64_t left = m->data.len; left > 0;) {
        const uint64_t step = m->flush_every && m->flush_every < left ? m->flush_every : left;
        z.avail_in = (uInt)step;
        left -= step;
        CS_ASSERT(deflate(&z, left ? Z_FULL_FLUSH : Z_NO_FLUSH) == Z_OK && z.avail_in == 0);
    }
    CS_ASSERT(deflate(&z, Z_FINISH) == Z_STREAM_END);
    out->len += z.total_out;
    deflateEnd(&z);
}

static void sizes(struct cs_buf *out, const struct cs_mk_member *m, uint64_t packed,
                  uint64_t size) {
    cs_buf_u32(out, m->zip64 ? UINT32_MAX : (uint32_t)packed);
    cs_buf_u32(out, m->zip64 ? UINT32_MAX : (uint32_t)size);
}

static void zip64_field(struct cs_buf *out, uint64_t size, uint64_t packed) {
    cs_buf_u16(out, 1);
    cs_buf_u16(out, 16);
    cs_buf_u64(out, size);
    cs_buf_u64(out, packed);
}

static struct placed put_member(struct cs_buf *out, size_t start, const struct cs_mk_member *m) {
    struct cs_buf packed;
    cs_buf_init(&packed, MEMBER_MAX);
    if (m->deflate) {
        deflate_into(&packed, m);
    } else {
        cs_buf_add(&packed, m->data.ptr, (size_t)m->data.len);
    }
    struct placed p = {.off = out->len - start, .packed = packed.len, .size = m->data.len,
                       .crc = (uint32_t)crc32(0, m->data.ptr, (uInt)m->data.len),
                       .method = m->method ? m->method : m->deflate ? 8 : 0,
                       .flags = (uint16_t)(m->set_flags | (m->descriptor ? FLAG_DESCRIPTOR : 0))};
    cs_buf_u32(out, LOCAL);
    cs_buf_u16(out, m->zip64 ? 45 : 20);
    cs_buf_u16(out, p.flags);
    cs_buf_u16(out, p.method);
    cs_buf_u16(out, 0);
    cs_buf_u16(out, DOS_DATE);
    cs_buf_u32(out, m->descriptor ? 0 : p.crc);
    sizes(out, m, m->descriptor ? 0 : p.packed, m->descriptor ? 0 : p.size);
    cs_buf_u16(out, (uint16_t)strlen(m->name));
    cs_buf_u16(out, (uint16_t)((m->zip64 ? 20 : 0) + (m->extra_bytes ? 4 + m->extra_bytes : 0)));
    cs_buf_adds(out, m->name);
    if (m->zip64) {
        zip64_field(out, m->descriptor ? 0 : p.size, m->descriptor ? 0 : p.packed);
    }
    if (m->extra_bytes) {
        cs_buf_u16(out, 0xD935);
        cs_buf_u16(out, m->extra_bytes);
        cs_buf_pad(out, '\0', m->extra_bytes);
    }
    cs_buf_add(out, packed.ptr, packed.len);
    if (m->descriptor) {
        if (!m->descriptor_bare) {
            cs_buf_u32(out, DESCRIPTOR);
        }
        cs_buf_u32(out, p.crc);
        if (m->zip64) {
            cs_buf_u64(out, p.packed);
            cs_buf_u64(out, p.size);
        } else {
            cs_buf_u32(out, (uint32_t)p.packed);
            cs_buf_u32(out, (uint32_t)p.size);
        }
    }
    cs_buf_fini(&packed);
    return p;
}

static void put_central(struct cs_buf *out, const struct cs_mk_member *m, const struct placed *p) {
    cs_buf_u32(out, CENTRAL);
    cs_buf_u16(out, MADE_BY_UNIX);
    cs_buf_u16(out, m->zip64 ? 45 : 20);
    cs_buf_u16(out, p->flags);
    cs_buf_u16(out, p->method);
    cs_buf_u16(out, 0);
    cs_buf_u16(out, DOS_DATE);
    cs_buf_u32(out, p->crc);
    sizes(out, m, p->packed, p->size);
    cs_buf_u16(out, (uint16_t)strlen(m->name));
    cs_buf_u16(out, m->zip64 ? 20 : 0);
    cs_buf_pad(out, '\0', 6);  // comment length, disk, internal attributes
    cs_buf_u32(out, (m->mode ? m->mode : 0100644u) << 16);
    cs_buf_u32(out, (uint32_t)p->off);
    cs_buf_adds(out, m->name);
    if (m->zip64) {
        zip64_field(out, p->size, p->packed);
    }
}

static void put_end64(struct cs_buf *out, size_t start, uint64_t count, uint64_t bytes,
                      uint64_t off) {
    const uint64_t at = out->len - start;
    cs_buf_u32(out, END64);
    cs_buf_u64(out, 44);
    cs_buf_u16(out, MADE_BY_UNIX);
    cs_buf_u16(out, 45);
    cs_buf_u64(out, 0);
    cs_buf_u64(out, count);
    cs_buf_u64(out, count);
    cs_buf_u64(out, bytes);
    cs_buf_u64(out, off);
    cs_buf_u32(out, LOCATOR64);
    cs_buf_u32(out, 0);
    cs_buf_u64(out, at);
    cs_buf_u32(out, 1);
}

void cs_mk_zip_write(struct cs_buf *out, const struct cs_mk_zip *z) {
    const size_t start = out->len;
    struct placed *placed = cs_calloc(z->count + 1, sizeof *placed);
    CS_ASSERT(placed != NULL);
    cs_buf_add(out, z->prefix.ptr, (size_t)z->prefix.len);
    for (size_t i = 0; i < z->count; i++) {
        placed[i] = put_member(out, start, &z->members[i]);
    }
    cs_buf_add(out, z->gap.ptr, (size_t)z->gap.len);
    const uint64_t central = out->len - start;
    for (size_t i = 0; i < z->count; i++) {
        put_central(out, &z->members[i], &placed[i]);
    }
    const uint64_t bytes = out->len - start - central;
    if (z->zip64_end) {
        put_end64(out, start, z->count, bytes, central);
    }
    const char *comment = z->comment ? z->comment : "";
    cs_buf_u32(out, END);
    cs_buf_u32(out, 0);
    cs_buf_u16(out, z->zip64_end ? UINT16_MAX : (uint16_t)z->count);
    cs_buf_u16(out, z->zip64_end ? UINT16_MAX : (uint16_t)z->count);
    cs_buf_u32(out, z->zip64_end ? UINT32_MAX : (uint32_t)bytes);
    cs_buf_u32(out, z->zip64_end ? UINT32_MAX : (uint32_t)central);
    cs_buf_u16(out, (uint16_t)strlen(comment));
    cs_buf_adds(out, comment);
    cs_buf_add(out, z->trailing.ptr, (size_t)z->trailing.len);
    cs_free(placed);
    CS_ASSERT(cs_buf_check(out, NULL) == CS_OK);
}

uint64_t cs_mk_zip_central(struct cs_view zip, uint64_t *count) {
    for (uint64_t at = zip.len; at-- > 0;) {
        if (cs_u32(zip, at) == END) {
            *count = cs_u16(zip, at + 10);
            return cs_u32(zip, at + 16);
        }
    }
    *count = 0;
    return 0;
}

static void record_line(struct cs_buf *record, const char *name, struct cs_view data) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint8_t sha[CS_SHA256_BYTES + 1] = {0};
    char text[SHA_TEXT + 2];
    cs_sha256(data.ptr, (size_t)data.len, sha);
    for (size_t i = 0; i < SHA_TEXT; i++) {
        const size_t bit = 6 * i;
        const unsigned pair = (unsigned)sha[bit / 8] << 8 | sha[bit / 8 + 1];
        text[i] = digits[pair >> (10 - bit % 8) & 63];
    }
    text[SHA_TEXT] = '\0';
    cs_buf_printf(record, "%s,sha256=%s,%llu\n", name, text, (unsigned long long)data.len);
}

void cs_mk_wheel_write(struct cs_buf *out, const char *name, const char *version,
                       const struct cs_mk_member *members, size_t count) {
    struct cs_arena arena;
    struct cs_buf record;
    cs_arena_init(&arena);
    cs_buf_init(&record, MEMBER_MAX);
    struct cs_mk_member *all = cs_calloc(count + 3, sizeof *all);
    CS_ASSERT(all != NULL);
    memcpy(all, members, count * sizeof *all);
    const struct cs_str meta =
        cs_arena_printf(&arena, "Metadata-Version: 2.1\nName: %s\nVersion: %s\n", name, version);
    static const char wheel[] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\n"
                                "Tag: py3-none-manylinux_2_28_x86_64\n";
    const char *const names[] = {"METADATA", "WHEEL", "RECORD"};
    for (size_t i = 0; i < 3; i++) {
        const struct cs_str path =
            cs_arena_printf(&arena, "%s-%s.dist-info/%s", name, version, names[i]);
        all[count + i] = (struct cs_mk_member){.name = path.ptr, .deflate = true};
    }
    all[count].data = cs_view_of(meta.ptr, meta.len);
    all[count + 1].data = cs_view_of(wheel, sizeof wheel - 1);
    for (size_t i = 0; i < count + 2; i++) {
        record_line(&record, all[i].name, all[i].data);
    }
    cs_buf_printf(&record, "%s,,\n", all[count + 2].name);
    all[count + 2].data = cs_buf_view(&record);
    cs_mk_zip_write(out, &(struct cs_mk_zip){.members = all, .count = count + 3});
    cs_free(all);
    cs_buf_fini(&record);
    cs_arena_fini(&arena);
}

static void ar_header(struct cs_buf *out, const char *name, uint64_t bytes) {
    cs_buf_printf(out, "%-16s%-12d%-6d%-6d%-8o%-10llu`\n", name, 0, 0, 0, 0100644,
                  (unsigned long long)bytes);
}

void cs_mk_ar_write(struct cs_buf *out, const struct cs_mk_ar_member *members, size_t count,
                    bool index) {
    enum { SHORT_NAME = 15 };
    struct cs_buf names;
    cs_buf_init(&names, MEMBER_MAX);
    cs_buf_adds(out, "!<arch>\n");
    if (index) {
        ar_header(out, "/", 4);
        cs_buf_u32(out, 0);
    }
    for (size_t i = 0; i < count; i++) {
        if (strlen(members[i].name) > SHORT_NAME) {
            cs_buf_printf(&names, "%s/\n", members[i].name);
        }
    }
    if (names.len) {
        ar_header(out, "//", names.len);
        cs_buf_add(out, names.ptr, names.len);
        cs_buf_pad(out, '\n', names.len % 2);
    }
    size_t long_off = 0;
    for (size_t i = 0; i < count; i++) {
        char name[32];
        const size_t len = strlen(members[i].name);
        if (len > SHORT_NAME) {
            snprintf(name, sizeof name, "/%zu", long_off);
            long_off += len + 2;
        } else {
            snprintf(name, sizeof name, "%s/", members[i].name);
        }
        ar_header(out, name, members[i].data.len);
        cs_buf_add(out, members[i].data.ptr, (size_t)members[i].data.len);
        cs_buf_pad(out, '\n', members[i].data.len % 2);
    }
    cs_buf_fini(&names);
    CS_ASSERT(cs_buf_check(out, NULL) == CS_OK);
}
