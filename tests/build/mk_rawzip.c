// Writes the records of APPNOTE 4.3 one after the other, with zlib for the streams, so that it
// shares no code with the reader.
#include "build/mk_rawzip.h"

#include <stdlib.h>
#include <zlib.h>

void cs_mk_rawzip_init(struct cs_mk_rawzip *z) {
    *z = (struct cs_mk_rawzip){.mode = 0100644};
    cs_buf_init(&z->out, (size_t)1 << 32);
    cs_buf_init(&z->central, (size_t)1 << 32);
}

void cs_mk_rawzip_fini(struct cs_mk_rawzip *z) {
    cs_buf_fini(&z->out);
    cs_buf_fini(&z->central);
}

void cs_mk_rawzip_raw(struct cs_mk_rawzip *z, const void *bytes, size_t len) {
    cs_buf_add(&z->out, bytes, len);
}

static size_t add_data(struct cs_mk_rawzip *z, struct cs_view content, uint32_t how) {
    if (!(how & CS_RAWZIP_DEFLATE)) {
        cs_buf_add(&z->out, content.ptr, (size_t)content.len);
        return (size_t)content.len;
    }
    z_stream s = {0};
    CS_ASSERT(deflateInit2(&s, how & CS_RAWZIP_LEVEL0 ? 0 : 6, Z_DEFLATED, -15, 8, 0) == Z_OK);
    const uLong room = deflateBound(&s, (uLong)content.len) + 16;
    s.next_in = (Bytef *)(uintptr_t)content.ptr;
    s.avail_in = (uInt)content.len;
    s.next_out = cs_buf_reserve(&z->out, room);
    s.avail_out = (uInt)room;
    CS_ASSERT(s.next_out && deflate(&s, Z_FINISH) == Z_STREAM_END);
    z->out.len += s.total_out;
    const size_t made = s.total_out;
    deflateEnd(&s);
    return made;
}

static void add_fixed(struct cs_buf *b, uint32_t how, uint32_t crc, uint64_t packed, uint64_t bytes,
                      size_t name_len, size_t extra_len) {
    const bool descriptor = (how & (CS_RAWZIP_DESCRIPTOR | CS_RAWZIP_DESCRIPTOR_BARE)) != 0;
    cs_buf_u16(b, how & CS_RAWZIP_ZIP64 ? 45 : 20);
    cs_buf_u16(b, (uint16_t)((how & CS_RAWZIP_ENCRYPTED ? 1 : 0) | (descriptor ? 8 : 0) |
                             (how & CS_RAWZIP_UTF8 ? 0x800 : 0)));
    cs_buf_u16(b, how & CS_RAWZIP_METHOD_12 ? 12 : how & CS_RAWZIP_DEFLATE ? 8 : 0);
    cs_buf_u16(b, 0);
    cs_buf_u16(b, 0x21);  // 1980-01-01
    cs_buf_u32(b, crc);
    cs_buf_u32(b, how & CS_RAWZIP_ZIP64 ? 0xffffffffu : (uint32_t)packed);
    cs_buf_u32(b, how & CS_RAWZIP_ZIP64 ? 0xffffffffu : (uint32_t)bytes);
    cs_buf_u16(b, (uint16_t)name_len);
    cs_buf_u16(b, (uint16_t)extra_len);
}

static void add_zip64(struct cs_buf *b, uint64_t bytes, uint64_t packed) {
    cs_buf_u16(b, 1);
    cs_buf_u16(b, 16);
    cs_buf_u64(b, bytes);
    cs_buf_u64(b, packed);
}

void cs_mk_rawzip_add(struct cs_mk_rawzip *z, struct cs_str name, struct cs_view content,
                      uint32_t how) {
    uint32_t crc = (uint32_t)crc32(0, content.ptr, (uInt)content.len);
    if (content.len == 0) {
        crc = 0;
    }
    crc ^= how & CS_RAWZIP_BAD_CRC ? 1 : 0;
    const bool descriptor = (how & (CS_RAWZIP_DESCRIPTOR | CS_RAWZIP_DESCRIPTOR_BARE)) != 0;
    const size_t extra = how & (CS_RAWZIP_ZIP64 | CS_RAWZIP_USELESS64) ? 20 : 0;
    size_t packed = (size_t)content.len;
    if (!(how & CS_RAWZIP_ALIAS)) {
        z->last_header_off = z->out.len;
        cs_buf_u32(&z->out, 0x04034b50);
        add_fixed(&z->out, how, descriptor ? 0 : crc, 0, descriptor ? 0 : content.len, name.len,
                  extra);
        cs_buf_add_str(&z->out, name);
        if (how & CS_RAWZIP_LOCAL_NAME_X) {
            z->out.ptr[z->out.len - name.len] = 'X';
        }
        const size_t extra_at = z->out.len;
        if (extra) {
            add_zip64(&z->out, descriptor ? 0 : content.len, 0);
        }
        packed = add_data(z, content, how);
        if (!descriptor && (how & CS_RAWZIP_ZIP64)) {
            cs_put_u64((uint8_t *)z->out.ptr + extra_at + 12, packed);
        } else if (!descriptor) {
            cs_put_u32((uint8_t *)z->out.ptr + z->last_header_off + 18, (uint32_t)packed);
        } else {
            if (how & CS_RAWZIP_DESCRIPTOR) {
                cs_buf_u32(&z->out, 0x08074b50);
            }
            cs_buf_u32(&z->out, crc);
            if (how & CS_RAWZIP_ZIP64) {
                cs_buf_u64(&z->out, packed);
                cs_buf_u64(&z->out, content.len);
            } else {
                cs_buf_u32(&z->out, (uint32_t)packed);
                cs_buf_u32(&z->out, (uint32_t)content.len);
            }
        }
    }
    struct cs_buf *c = &z->central;
    cs_buf_u32(c, 0x02014b50);
    cs_buf_u16(c, 0x0314);  // Unix, 2.0
    add_fixed(c, how, crc, packed, content.len, name.len, extra);
    cs_buf_u16(c, how & CS_RAWZIP_COMMENT ? 5 : 0);
    cs_buf_u16(c, 0);
    cs_buf_u16(c, 0);
    cs_buf_u32(c, z->mode << 16);
    cs_buf_u32(c, (uint32_t)(z->last_header_off - z->base));
    cs_buf_add_str(c, name);
    if (extra) {
        add_zip64(c, content.len, packed);
    }
    if (how & CS_RAWZIP_COMMENT) {
        cs_buf_adds(c, "hello");
    }
    z->count++;
}

void cs_mk_rawzip_end(struct cs_mk_rawzip *z, uint32_t how, struct cs_str comment) {
    struct cs_buf *b = &z->out;
    const uint64_t off = b->len - z->base;
    const uint64_t count = z->count + (how & CS_RAWZIP_END_COUNT ? 1 : 0);
    cs_buf_add(b, z->central.ptr, z->central.len);
    if (how & CS_RAWZIP_END_GAP) {
        cs_buf_adds(b, "gap!");
    }
    const bool zip64 = (how & CS_RAWZIP_END_ZIP64) != 0;
    if (zip64) {
        const uint64_t at = b->len - z->base;
        cs_buf_u32(b, 0x06064b50);
        cs_buf_u64(b, 44);
        cs_buf_u16(b, 45);
        cs_buf_u16(b, 45);
        cs_buf_u64(b, 0);  // both disk numbers
        cs_buf_u64(b, count);
        cs_buf_u64(b, count);
        cs_buf_u64(b, z->central.len);
        cs_buf_u64(b, off);
        cs_buf_u32(b, 0x07064b50);
        cs_buf_u32(b, 0);
        cs_buf_u64(b, at);
        cs_buf_u32(b, 1);
    }
    cs_buf_u32(b, 0x06054b50);
    cs_buf_u32(b, 0);
    cs_buf_u16(b, zip64 ? 0xffff : (uint16_t)count);
    cs_buf_u16(b, zip64 ? 0xffff : (uint16_t)count);
    cs_buf_u32(b, zip64 ? 0xffffffffu : (uint32_t)z->central.len);
    cs_buf_u32(b, zip64 ? 0xffffffffu : (uint32_t)off);
    cs_buf_u16(b, (uint16_t)comment.len);
    cs_buf_add_str(b, comment);
    CS_ASSERT(b->failed == CS_OK);
}
