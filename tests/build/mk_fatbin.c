// Fatbin builder for tests.  Layout: docs/format/fatbin.md (container and entry headers, extension
// with identifier and options record, concatenated entries), checked against fatbinary 13.0
// and 13.5.
#include "build/mk_fatbin.h"

#include <elf.h>
#include <lz4.h>
#include <lz4hc.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"

enum { HEADER = 64, ENTRY_MAX = 1 << 30, BIT24_FROM_ARCH = 100 };

static void pad8(struct cs_buf *b, size_t start) {
    cs_buf_pad(b, '\0', (8 - (b->len - start) % 8) % 8);
}

static bool has_text_options(uint32_t kind) {
    return kind == CS_FATBIN_PTX || kind == CS_FATBIN_RELPTX || kind == CS_FATBIN_LTOIR;
}

static uint64_t entry_flags(const struct cs_mk_entry *e) {
    uint64_t flags = CS_FATBIN_F_64BIT | CS_FATBIN_F_LINUX;
    flags |= e->suffix == 'a' ? CS_FATBIN_F_ARCH_A : 0;
    flags |= e->suffix == 'f' ? CS_FATBIN_F_ARCH_F : 0;
    flags |= e->kind == CS_FATBIN_ELF && e->arch >= BIT24_FROM_ARCH ? CS_FATBIN_F_BIT24 : 0;
    flags |= e->key ? CS_FATBIN_F_OBFUSCATED : 0;
    return flags;
}

static uint64_t codec_flag(enum cs_codec codec) {
    switch (codec) {
        case CS_CODEC_LZ4: return CS_FATBIN_F_LZ4;
        case CS_CODEC_ZSTD: return CS_FATBIN_F_ZSTD;
        case CS_CODEC_ZLIB: return CS_FATBIN_F_ZLIB;
        case CS_CODEC_NONE: break;
    }
    return 0;
}

static void compress_into(struct cs_buf *out, const struct cs_mk_entry *e, struct cs_view image) {
    const size_t cap = ZSTD_compressBound(image.len) + compressBound(image.len) + 64;
    uint8_t *dst = cs_buf_reserve(out, cap);
    CS_ASSERT(dst != NULL && image.len < ENTRY_MAX);
    size_t len = 0;
    uLongf zlen = cap;
    switch (e->codec) {
        case CS_CODEC_ZSTD:
            len = ZSTD_compress(dst, cap, image.ptr, image.len, e->level ? e->level : 5);
            CS_ASSERT(!ZSTD_isError(len));
            break;
        case CS_CODEC_LZ4: {
            const char *src = (const char *)image.ptr;
            const int n =
                e->level > 2 ? LZ4_compress_HC(src, (char *)dst, (int)image.len, (int)cap, e->level)
                             : LZ4_compress_default(src, (char *)dst, (int)image.len, (int)cap);
            CS_ASSERT(n > 0);
            len = (size_t)n;
            break;
        }
        case CS_CODEC_ZLIB:
            CS_ASSERT(compress2(dst, &zlen, image.ptr, image.len, 6) == Z_OK);
            len = zlen;
            break;
        case CS_CODEC_NONE: CS_ASSERT(false); break;
    }
    out->len += len;
}

// The .nv.compat section of a cubin, found by its type; empty when there is none.
static struct cs_view find_compat(struct cs_view elf) {
    const uint64_t shoff = cs_u64(elf, 40);
    const uint16_t count = cs_u16(elf, 60);
    for (uint16_t i = 0; i < count; i++) {
        const uint64_t at = shoff + 64ull * i;
        struct cs_view found;
        if (cs_u32(elf, at + 4) == 0x70000086u &&
            cs_view_sub(elf, cs_u64(elf, at + 24), cs_u64(elf, at + 32), &found)) {
            return found;
        }
    }
    return cs_view_of(NULL, 0);
}

// Extension: identifier, then options record.  Offsets are relative to the (sub-)header.
struct extension {
    struct cs_buf bytes;
    uint32_t identifier_off, identifier_len, options_off;
};

static void add_options(struct extension *x, const struct cs_mk_entry *e) {
    const uint32_t data_off = x->options_off + 8;
    if (has_text_options(e->kind)) {
        const char *text = e->options ? e->options : "";
        cs_buf_u32(&x->bytes, data_off);
        cs_buf_u32(&x->bytes, (uint32_t)strlen(text));
        cs_buf_add(&x->bytes, text, strlen(text) + 1);
        return;
    }
    const struct cs_view compat = e->compat.len ? e->compat : find_compat(e->image);
    cs_buf_u32(&x->bytes, data_off);
    cs_buf_u32(&x->bytes, (uint32_t)compat.len);
    cs_buf_addc(&x->bytes, '\0');
    cs_buf_add(&x->bytes, compat.ptr, (size_t)compat.len);
}

static void make_extension(struct extension *x, const struct cs_mk_entry *e) {
    *x = (struct extension){0};
    cs_buf_init(&x->bytes, ENTRY_MAX);
    if (e->identifier) {
        x->identifier_off = HEADER;
        x->identifier_len = (uint32_t)strlen(e->identifier);
        cs_buf_add(&x->bytes, e->identifier, x->identifier_len + 1);
        pad8(&x->bytes, 0);
    }
    const bool usual = has_text_options(e->kind) ||
                       (e->kind == CS_FATBIN_ELF && e->arch >= BIT24_FROM_ARCH);
    if ((usual && !e->no_options) || e->with_options) {
        x->options_off = HEADER + (uint32_t)x->bytes.len;
        add_options(x, e);
        pad8(&x->bytes, 0);
    }
}

static void code_version(const struct cs_mk_entry *e, uint16_t *major, uint16_t *minor) {
    *major = e->code_major;
    *minor = e->code_minor;
    if (*major || *minor) {
        return;
    }
    if (e->kind == CS_FATBIN_ELF) {
        *major = 1;
        *minor = cs_u8(e->image, 8);  // EI_ABIVERSION
    } else if (e->kind == CS_FATBIN_CONCAT) {
        *minor = 1;
    } else if (e->kind == CS_FATBIN_LTOIR) {
        *major = 1;
        *minor = 65;
    } else {
        *major = 9;
    }
}

struct header {
    uint32_t header_bytes, compressed;
    uint64_t payload, uncompressed;
    uint64_t flags;
};

static void put_header(struct cs_buf *out, const struct cs_mk_entry *e, const struct extension *x,
                       struct header h) {
    uint16_t major, minor;
    code_version(e, &major, &minor);
    cs_buf_u16(out, (uint16_t)e->kind);
    cs_buf_u16(out, 0x0101);
    cs_buf_u32(out, h.header_bytes);
    cs_buf_u64(out, h.payload);
    cs_buf_u32(out, h.compressed);
    cs_buf_u32(out, x->options_off);
    cs_buf_u16(out, minor);
    cs_buf_u16(out, major);
    cs_buf_u32(out, e->arch);
    cs_buf_u32(out, x->identifier_off);
    cs_buf_u32(out, x->identifier_len);
    cs_buf_u64(out, (h.flags | e->set_flags) & ~e->clear_flags);
    cs_buf_u64(out, e->key);
    cs_buf_u64(out, h.uncompressed);
    cs_buf_add(out, x->bytes.ptr, x->bytes.len);
}

// Concatenated entry: the record of sub-headers becomes the extension, the joined parts the image.
static void join_parts(const struct cs_mk_entry *e, struct extension *x, struct cs_buf *blob) {
    struct cs_buf subs;
    cs_buf_init(&subs, ENTRY_MAX);
    for (size_t i = 0; i < e->part_count; i++) {
        const struct cs_mk_entry *p = &e->parts[i];
        struct extension px;
        make_extension(&px, p);
        const bool text = has_text_options(p->kind);
        put_header(&subs, p, &px, (struct header){.header_bytes = (uint32_t)blob->len,
                                                  .payload = p->image.len + (text ? 1 : 0),
                                                  .flags = entry_flags(p)});
        cs_buf_add(blob, p->image.ptr, (size_t)p->image.len);
        cs_buf_pad(blob, '\0', text ? 1 : 0);
        cs_buf_fini(&px.bytes);
    }
    cs_buf_u32(&x->bytes, (uint32_t)e->part_count);
    cs_buf_u32(&x->bytes, (uint32_t)subs.len + 8);
    cs_buf_add(&x->bytes, subs.ptr, subs.len);
    x->options_off = HEADER;
    cs_buf_fini(&subs);
}

void cs_mk_entry_write(struct cs_buf *out, const struct cs_mk_entry *e) {
    struct extension x;
    struct cs_buf image, payload;
    cs_buf_init(&image, ENTRY_MAX);
    cs_buf_init(&payload, ENTRY_MAX);
    if (e->kind == CS_FATBIN_CONCAT) {
        x = (struct extension){0};
        cs_buf_init(&x.bytes, ENTRY_MAX);
        join_parts(e, &x, &image);
    } else {
        make_extension(&x, e);
        cs_buf_add(&image, e->image.ptr, (size_t)e->image.len);
        // PTX is stored with its NUL.
        cs_buf_pad(&image, '\0', e->kind == CS_FATBIN_PTX || e->kind == CS_FATBIN_RELPTX ? 1 : 0);
    }
    struct header h = {.header_bytes = HEADER + (uint32_t)x.bytes.len, .flags = entry_flags(e)};
    if (e->codec != CS_CODEC_NONE) {
        compress_into(&payload, e, cs_buf_view(&image));
        h.compressed = (uint32_t)payload.len;
        h.uncompressed = image.len;
        h.flags |= codec_flag(e->codec);
    } else {
        cs_buf_add(&payload, image.ptr, image.len);
    }
    for (size_t i = 0; e->key && i < payload.len; i++) {
        payload.ptr[i] = (char)(payload.ptr[i] ^ (char)(e->key >> (8 * (i % 8))));
    }
    pad8(&payload, 0);
    h.payload = payload.len;
    put_header(out, e, &x, h);
    cs_buf_add(out, payload.ptr, payload.len);
    cs_buf_fini(&x.bytes);
    cs_buf_fini(&image);
    cs_buf_fini(&payload);
    CS_ASSERT(cs_buf_check(out, NULL) == CS_OK);
}

uint64_t cs_mk_container_raw(struct cs_buf *out, struct cs_view entries) {
    cs_buf_u32(out, CS_FATBIN_MAGIC);
    cs_buf_u16(out, 1);
    cs_buf_u16(out, CS_FATBIN_HEADER_BYTES);
    cs_buf_u64(out, entries.len);
    cs_buf_add(out, entries.ptr, (size_t)entries.len);
    CS_ASSERT(cs_buf_check(out, NULL) == CS_OK);
    return CS_FATBIN_HEADER_BYTES + entries.len;
}

uint64_t cs_mk_container(struct cs_buf *out, const struct cs_mk_entry *entries, size_t count) {
    struct cs_buf body;
    cs_buf_init(&body, SIZE_MAX / 2);
    for (size_t i = 0; i < count; i++) {
        cs_mk_entry_write(&body, &entries[i]);
    }
    const uint64_t bytes = cs_mk_container_raw(out, cs_buf_view(&body));
    cs_buf_fini(&body);
    return bytes;
}

void cs_mk_ptx(struct cs_buf *out, uint32_t arch, char suffix, const char *const *kernels,
               const char *file) {
    cs_buf_adds(out, "//\n// Generated for a test\n//\n\n.version 9.0\n.target sm_");
    cs_buf_printf(out, "%u", arch);
    if (suffix) {
        cs_buf_addc(out, suffix);
    }
    cs_buf_adds(out, "\n.address_size 64\n\n");
    for (size_t i = 0; kernels[i]; i++) {
        cs_buf_printf(out, ".visible .entry %s(\n\t.param .u64 %s_param_0\n)\n{\n", kernels[i],
                      kernels[i]);
        cs_buf_adds(out, "\t.reg .b64 \t%rd<3>;\n");
        if (file) {
            cs_buf_adds(out, "\t.loc\t1 3 0\n");
        }
        cs_buf_printf(out, "\tld.param.u64 \t%%rd1, [%s_param_0];\n\tret;\n}\n\n", kernels[i]);
    }
    if (file) {
        cs_buf_printf(out, ".file\t1 \"%s\"\n", file);
    }
    CS_ASSERT(cs_buf_check(out, NULL) == CS_OK);
}
