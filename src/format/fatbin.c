// Fatbin containers: header, entries, concatenated parts.
//
//   container = 16-byte header | entry | entry | ...
//   entry     = 64-byte header | identifier | options record | payload, padded to 8
//
// Field offsets and their meaning: docs/format/fatbin.md, section "Entry header".  Every size that
// is read here is held against the container before it is used; nothing is assumed about kinds.

#include "format/fatbin.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/num.h"

// Container header.
enum { C_MAGIC = 0, C_VERSION = 4, C_HEADER = 6, C_BYTES = 8 };

// Entry header; a part of a concatenated entry has the same layout, with two fields reused.
enum {
    E_KIND = 0x00,
    E_VERSION = 0x02,
    E_HEADER = 0x04,  // part: offset in the decompressed blob
    E_PAYLOAD = 0x08,
    E_COMPRESSED = 0x10,
    E_OPTIONS = 0x14,
    E_MINOR = 0x18,
    E_MAJOR = 0x1A,
    E_ARCH = 0x1C,
    E_IDENT_OFF = 0x20,
    E_IDENT_LEN = 0x24,
    E_FLAGS = 0x28,
    E_KEY = 0x30,
    E_IMAGE = 0x38,
};

// A concatenated entry's options record, at 0x40: u32 part count, u32 bytes, sub-headers.
enum { PARTS_COUNT = 0x40, PARTS_FIRST = CS_FATBIN_CONCAT_HEADER_BYTES };

static bool header_ok(struct cs_view v, uint64_t *bytes) {
    if (v.len < CS_FATBIN_HEADER_BYTES || cs_u32(v, C_MAGIC) != CS_FATBIN_MAGIC ||
        cs_u16(v, C_VERSION) != 1 || cs_u16(v, C_HEADER) != CS_FATBIN_HEADER_BYTES) {
        return false;
    }
    const uint64_t body = cs_u64(v, C_BYTES);
    if (body > v.len - CS_FATBIN_HEADER_BYTES) {
        return false;
    }
    *bytes = body + CS_FATBIN_HEADER_BYTES;
    return true;
}

// Size of the entry at `off`, or 0 when it does not fit in the container.
static uint64_t entry_extent(struct cs_view container, uint64_t off) {
    struct cs_view h;
    if (!cs_view_sub(container, off, CS_FATBIN_ENTRY_BYTES, &h)) {
        return 0;
    }
    const uint64_t header = cs_u32(h, E_HEADER);
    const uint64_t payload = cs_u64(h, E_PAYLOAD);
    const uint64_t room = container.len - off;
    if (header < CS_FATBIN_ENTRY_BYTES || header > room || payload > room - header) {
        return 0;
    }
    return header + payload;
}

bool cs_fatbin_probe(struct cs_view v, uint64_t *bytes, uint32_t *entries) {
    uint64_t total;
    if (!header_ok(v, &total)) {
        return false;
    }
    const struct cs_view container = cs_view_at(v, 0, total);
    uint32_t count = 0;
    for (uint64_t at = CS_FATBIN_HEADER_BYTES; at < total; count++) {
        const uint64_t extent = entry_extent(container, at);
        if (extent == 0) {
            return false;
        }
        at += extent;
    }
    *bytes = total;
    *entries = count;
    return true;
}

enum cs_code cs_fatbin_open(struct cs_view container, struct cs_fatbin_iter *it,
                            struct cs_err *err) {
    uint64_t bytes;
    if (!header_ok(container, &bytes)) {
        return cs_fail_at(err, CS_FORMAT, 0,
                          "no fatbin container header, or it reaches past the end");
    }
    *it = (struct cs_fatbin_iter){cs_view_at(container, 0, bytes), CS_FATBIN_HEADER_BYTES, 0};
    return CS_OK;
}

static enum cs_codec codec_of(uint64_t flags) {
    if (flags & CS_FATBIN_F_ZSTD) {
        return CS_CODEC_ZSTD;
    }
    if (flags & CS_FATBIN_F_LZ4) {
        return CS_CODEC_LZ4;
    }
    return flags & CS_FATBIN_F_ZLIB ? CS_CODEC_ZLIB : CS_CODEC_NONE;
}

// Fields that entries and parts share; `h` holds at least 64 bytes plus the extension.
static void read_common(struct cs_view h, struct cs_fatbin_entry *e) {
    e->kind = cs_u16(h, E_KIND);
    e->version = cs_u16(h, E_VERSION);
    e->options_off = cs_u32(h, E_OPTIONS);
    e->code_minor = cs_u16(h, E_MINOR);
    e->code_major = cs_u16(h, E_MAJOR);
    e->arch = cs_u32(h, E_ARCH);
    e->flags = cs_u64(h, E_FLAGS);
    e->key = cs_u64(h, E_KEY);
    e->obfuscated = (e->flags & CS_FATBIN_F_OBFUSCATED) != 0;
    e->unknown_flags = (e->flags & ~CS_FATBIN_F_KNOWN) != 0;
    const uint32_t ident_off = cs_u32(h, E_IDENT_OFF);
    const uint32_t ident_len = cs_u32(h, E_IDENT_LEN);
    struct cs_view text;
    if (ident_off >= CS_FATBIN_ENTRY_BYTES && cs_view_sub(h, ident_off, ident_len, &text)) {
        e->identifier = (struct cs_str){(const char *)text.ptr, (size_t)text.len};
    }
    // Options record: u32 offset of the data, u32 its length.  A cubin's data (a copy of its
    // .nv.compat) starts one byte after the offset.
    const uint64_t skip = e->kind == CS_FATBIN_ELF;
    if (e->kind != CS_FATBIN_CONCAT && e->options_off >= CS_FATBIN_ENTRY_BYTES &&
        cs_view_has(h, e->options_off, 8) &&
        cs_view_sub(h, cs_u32(h, e->options_off) + skip, cs_u32(h, e->options_off + 4ull),
                    &text)) {
        e->options = (struct cs_str){(const char *)text.ptr, (size_t)text.len};
    }
}

static void read_sizes(struct cs_fatbin_entry *e) {
    e->compressed_bytes = cs_u32(e->header, E_COMPRESSED);
    const uint64_t stated = cs_u64(e->header, E_IMAGE);
    const bool packed = e->compressed_bytes != 0;
    e->codec = packed ? codec_of(e->flags) : CS_CODEC_NONE;
    e->unknown_codec = packed && e->codec == CS_CODEC_NONE;
    e->image_bytes = packed ? stated : e->payload_bytes;
}

enum cs_code cs_fatbin_next(struct cs_fatbin_iter *it, struct cs_fatbin_entry *out, bool *done,
                            struct cs_err *err) {
    *done = it->next >= it->container.len;
    if (*done) {
        return CS_OK;
    }
    const uint64_t extent = entry_extent(it->container, it->next);
    if (extent == 0) {
        return cs_fail_at(err, CS_FORMAT, it->next, "fatbin entry %u does not fit its container",
                          it->index);
    }
    const struct cs_view entry = cs_view_at(it->container, it->next, extent);
    *out = (struct cs_fatbin_entry){.off = it->next};
    out->header_bytes = cs_u32(entry, E_HEADER);
    out->payload_bytes = cs_u64(entry, E_PAYLOAD);
    out->header = cs_view_at(entry, 0, out->header_bytes);
    out->payload = cs_view_at(entry, out->header_bytes, out->payload_bytes);
    read_common(out->header, out);
    read_sizes(out);
    if (out->compressed_bytes > out->payload_bytes) {
        return cs_fail_at(err, CS_FORMAT, it->next,
                          "fatbin entry %u: compressed size %u exceeds its payload of %llu bytes",
                          it->index, out->compressed_bytes, (unsigned long long)out->payload_bytes);
    }
    if (out->kind == CS_FATBIN_CONCAT) {
        out->part_count = cs_u32(out->header, PARTS_COUNT);
        if (out->part_count > CS_MAX_PARTS) {
            return cs_fail_at(err, CS_LIMIT, it->next, "fatbin entry %u claims %u parts", it->index,
                              out->part_count);
        }
    }
    it->next += extent;
    it->index++;
    return CS_OK;
}

uint64_t cs_fatbin_header_extent(struct cs_view sub) {
    uint64_t end = CS_FATBIN_ENTRY_BYTES;
    const uint64_t ident_off = cs_u32(sub, E_IDENT_OFF);
    if (ident_off != 0) {
        end = cs_max_u64(end, ident_off + cs_u32(sub, E_IDENT_LEN) + 1);
    }
    const uint64_t options_off = cs_u32(sub, E_OPTIONS);
    if (options_off != 0) {
        end = cs_max_u64(end, options_off + 8);
        // One byte more than the length: a NUL behind PTX options, a zero before a cubin's data.
        end = cs_max_u64(end, (uint64_t)cs_u32(sub, options_off) +
                                  cs_u32(sub, options_off + 4) + 1);
    }
    return (end + 7) & ~7ull;
}

enum cs_code cs_fatbin_part(const struct cs_fatbin_entry *concat, uint64_t *cursor,
                            struct cs_fatbin_entry *out, struct cs_err *err) {
    const uint64_t at = *cursor ? *cursor : PARTS_FIRST;
    const uint64_t place = concat->off + at;
    struct cs_view rest;
    if (!cs_view_sub(concat->header, at, CS_FATBIN_ENTRY_BYTES, &rest)) {
        return cs_fail_at(err, CS_FORMAT, place, "part header outside its concatenated entry");
    }
    rest = cs_view_at(concat->header, at, concat->header.len - at);
    const uint64_t extent = cs_fatbin_header_extent(rest);
    *out = (struct cs_fatbin_entry){.off = place};
    out->part_off = cs_u32(rest, E_HEADER);
    out->payload_bytes = cs_u64(rest, E_PAYLOAD);
    out->header_bytes = (uint32_t)cs_min_u64(extent, rest.len);
    out->header = cs_view_at(rest, 0, out->header_bytes);
    out->image_bytes = out->payload_bytes;
    read_common(out->header, out);
    out->codec = concat->codec;
    uint64_t end;
    if (!cs_add_u64(out->part_off, out->payload_bytes, &end) || end > concat->image_bytes) {
        return cs_fail_at(err, CS_FORMAT, place, "part reaches past its concatenated image");
    }
    *cursor = at + extent;
    return CS_OK;
}

static uint64_t max_ratio(enum cs_codec codec) {
    switch (codec) {
    case CS_CODEC_LZ4: return CS_MAX_LZ4_RATIO;
    case CS_CODEC_ZSTD: return CS_MAX_ZSTD_RATIO;
    case CS_CODEC_ZLIB:
    case CS_CODEC_NONE: break;
    }
    return CS_MAX_DEFLATE_RATIO;
}

enum cs_code cs_fatbin_image(struct cs_codec_ctx *ctx, const struct cs_fatbin_entry *e,
                             struct cs_scratch *scratch, struct cs_view *image,
                             struct cs_err *err) {
    if (e->obfuscated) {
        return cs_fail_at(err, CS_UNSUPPORTED, e->off, "payload is obfuscated");
    }
    if (e->unknown_codec) {
        return cs_fail_at(err, CS_UNSUPPORTED, e->off, "unknown compression (flags 0x%llx)",
                          (unsigned long long)e->flags);
    }
    if (e->codec == CS_CODEC_NONE) {
        *image = e->payload;
        if (e->kind == CS_FATBIN_PTX || e->kind == CS_FATBIN_RELPTX) {
            const void *end = e->payload.len ? memchr(e->payload.ptr, 0, e->payload.len) : NULL;
            image->len = end ? (uint64_t)((const uint8_t *)end - e->payload.ptr) : e->payload.len;
        }
        return CS_OK;
    }
    if (e->image_bytes == 0 || e->image_bytes > CS_MAX_IMAGE_BYTES ||
        e->image_bytes / max_ratio(e->codec) > e->compressed_bytes) {
        return cs_fail_at(err, CS_LIMIT, e->off, "claims %llu bytes out of %u compressed ones",
                          (unsigned long long)e->image_bytes, e->compressed_bytes);
    }
    uint8_t *block = cs_scratch_get(scratch, e->image_bytes);
    if (!block) {
        return cs_fail(err, CS_NOMEM, "no memory for an image of %llu bytes",
                       (unsigned long long)e->image_bytes);
    }
    const struct cs_view packed = cs_view_at(e->payload, 0, e->compressed_bytes);
    const enum cs_code code =
        cs_codec_decompress(ctx, e->codec, packed, block, e->image_bytes, err);
    if (code != CS_OK) {
        return cs_wrap(err, code, "fatbin entry at offset 0x%llx", (unsigned long long)e->off);
    }
    *image = cs_view_of(block, e->image_bytes);
    return CS_OK;
}

const char *cs_fatbin_kind_name(uint32_t kind) {
    switch (kind) {
    case CS_FATBIN_PTX: return "ptx";
    case CS_FATBIN_ELF: return "sass";
    case CS_FATBIN_LTOIR: return "ltoir";
    case CS_FATBIN_MERCURY: return "mercury";
    case CS_FATBIN_INDEX: return "index";
    case CS_FATBIN_RELPTX: return "relptx";
    case CS_FATBIN_TILEIR: return "tileir";
    case CS_FATBIN_CONCAT: return "concatenated";
    default: return NULL;
    }
}

void cs_fatbin_target_text(uint32_t kind, uint32_t arch, uint64_t flags, char out[24]) {
    const bool ptx = kind == CS_FATBIN_PTX || kind == CS_FATBIN_RELPTX || kind == CS_FATBIN_LTOIR;
    const char *suffix = flags & CS_FATBIN_F_ARCH_A ? "a" : flags & CS_FATBIN_F_ARCH_F ? "f" : "";
    snprintf(out, 24, "%s%u%s", ptx ? "compute_" : "sm_", arch, suffix);
}
