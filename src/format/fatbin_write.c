// Fatbin writing; field offsets as in fatbin.c, from docs/format/fatbin.md.

#include "format/fatbin_write.h"

#include "base/num.h"

enum {
    E_HEADER = 0x04,
    E_PAYLOAD = 0x08,
    E_COMPRESSED = 0x10,
    E_OPTIONS = 0x14,
    E_FLAGS = 0x28,
    E_IMAGE = 0x38,
};

#define CODEC_FLAGS (CS_FATBIN_F_ZLIB | CS_FATBIN_F_LZ4 | CS_FATBIN_F_ZSTD)

static uint64_t codec_flag(enum cs_codec codec) {
    switch (codec) {
    case CS_CODEC_NONE: return 0;
    case CS_CODEC_LZ4: return CS_FATBIN_F_LZ4;
    case CS_CODEC_ZSTD: return CS_FATBIN_F_ZSTD;
    case CS_CODEC_ZLIB: return CS_FATBIN_F_ZLIB;
    }
    return 0;
}

size_t cs_fatbin_begin(struct cs_buf *out) {
    const size_t start = out->len;
    cs_buf_u32(out, CS_FATBIN_MAGIC);
    cs_buf_u16(out, 1);
    cs_buf_u16(out, CS_FATBIN_HEADER_BYTES);
    cs_buf_u64(out, 0);
    return start;
}

void cs_fatbin_end(struct cs_buf *out, size_t start) {
    if (out->failed == CS_OK) {
        cs_put_u64((uint8_t *)out->ptr + start + 8, out->len - start - CS_FATBIN_HEADER_BYTES);
    }
}

void cs_fatbin_put_raw(struct cs_buf *out, const struct cs_fatbin_entry *e) {
    cs_buf_add(out, e->header.ptr, (size_t)e->header.len);
    cs_buf_add(out, e->payload.ptr, (size_t)e->payload.len);
}

static void put_payload(struct cs_buf *out, struct cs_view payload) {
    cs_buf_add(out, payload.ptr, (size_t)payload.len);
    cs_buf_pad(out, 0, (size_t)(-payload.len & 7));
}

void cs_fatbin_put_image(struct cs_buf *out, const struct cs_fatbin_entry *e, enum cs_codec codec,
                         struct cs_view payload, uint64_t image_bytes) {
    const size_t at = out->len;
    cs_buf_add(out, e->header.ptr, (size_t)e->header.len);
    put_payload(out, payload);
    if (out->failed != CS_OK) {
        return;
    }
    uint8_t *h = (uint8_t *)out->ptr + at;
    const bool packed = codec != CS_CODEC_NONE;
    cs_put_u32(h + E_HEADER, e->header_bytes);
    cs_put_u64(h + E_PAYLOAD, (payload.len + 7) & ~7ull);
    cs_put_u32(h + E_COMPRESSED, packed ? (uint32_t)payload.len : 0);
    cs_put_u64(h + E_FLAGS, (e->flags & ~CODEC_FLAGS) | codec_flag(codec));
    cs_put_u64(h + E_IMAGE, packed ? image_bytes : 0);
}

// One sub-header: the part's own header with its place in the blob instead of a header size.
static void put_part_header(struct cs_buf *out, const struct cs_fatbin_entry *e, uint64_t part_off,
                            uint64_t bytes) {
    const size_t at = out->len;
    const uint64_t extent = cs_fatbin_header_extent(e->header);
    cs_buf_add(out, e->header.ptr, (size_t)cs_min_u64(e->header.len, extent));
    if (out->failed != CS_OK) {
        return;
    }
    uint8_t *h = (uint8_t *)out->ptr + at;
    cs_put_u32(h + E_HEADER, (uint32_t)part_off);
    cs_put_u64(h + E_PAYLOAD, bytes);
    cs_put_u32(h + E_COMPRESSED, 0);
    cs_put_u64(h + E_FLAGS, e->flags & ~CODEC_FLAGS);
    cs_put_u64(h + E_IMAGE, 0);
}

void cs_fatbin_put_concat(struct cs_buf *out, const struct cs_fatbin_entry *const *parts,
                          const uint64_t *sizes, uint32_t count, enum cs_codec codec,
                          struct cs_view payload) {
    CS_ASSERT(count > 0);
    const size_t at = out->len;
    cs_buf_pad(out, 0, CS_FATBIN_CONCAT_HEADER_BYTES);
    uint64_t blob = 0;
    for (uint32_t i = 0; i < count; i++) {
        put_part_header(out, parts[i], blob, sizes[i]);
        blob += sizes[i];
    }
    const size_t header = out->len - at;
    put_payload(out, payload);
    if (out->failed != CS_OK) {
        return;
    }
    uint8_t *h = (uint8_t *)out->ptr + at;
    cs_put_u16(h, CS_FATBIN_CONCAT);
    cs_put_u16(h + 2, 0x0101);
    cs_put_u32(h + E_HEADER, (uint32_t)header);
    cs_put_u64(h + E_PAYLOAD, (payload.len + 7) & ~7ull);
    cs_put_u32(h + E_COMPRESSED, (uint32_t)payload.len);
    cs_put_u32(h + E_OPTIONS, CS_FATBIN_ENTRY_BYTES);
    cs_put_u16(h + 0x18, 1);  // code version 0.1
    cs_put_u64(h + E_FLAGS, (parts[0]->flags & (CS_FATBIN_F_64BIT | CS_FATBIN_F_LINUX)) |
                                codec_flag(codec));
    cs_put_u64(h + E_IMAGE, blob);
    cs_put_u32(h + CS_FATBIN_ENTRY_BYTES, count);
    cs_put_u32(h + CS_FATBIN_ENTRY_BYTES + 4, (uint32_t)(header - CS_FATBIN_ENTRY_BYTES));
}

bool cs_fatbin_may_rewrite(const struct cs_fatbin_entry *e) {
    const bool known = e->kind == CS_FATBIN_PTX || e->kind == CS_FATBIN_ELF ||
                       e->kind == CS_FATBIN_RELPTX || e->kind == CS_FATBIN_CONCAT;
    return known && e->version == 0x0101 && !e->obfuscated && !e->unknown_flags &&
           !e->unknown_codec;
}
