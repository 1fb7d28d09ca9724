// ZIP member data: extraction, and the map from uncompressed bytes to compressed ones.
//
// Without a map the whole member goes through libdeflate in one call.  With a map it goes through
// zlib (RFC 1951) in steps of 32 KiB of output; after each step the position in the stream is the
// bits fed less the bits that zlib holds back (low 6 bits of data_type, see zlib.h).  zlib costs
// about 2.6 times libdeflate, so nothing else is done per byte; the CRC is libdeflate's either way.
#include <libdeflate.h>
#include <limits.h>
#define ZLIB_CONST
#include <zlib.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/num.h"
#include "format/zip.h"

enum { MAP_STEP = 32 * 1024, RAW_WINDOW_BITS = -15, UNUSED_BITS_MASK = 63 };

void cs_zip_map_fini(struct cs_zip_map *map) {
    cs_vec_fini(&map->samples);
    *map = (struct cs_zip_map){0};
}

uint64_t cs_zip_map_at(const struct cs_zip_map *map, uint64_t off) {
    if (off >= map->bytes) {
        return map->bytes == 0 ? 0 : map->compressed_bytes;
    }
    // off < bytes, so sample off / step exists and has a successor with a greater `out`.
    const struct cs_zip_sample *s = &map->samples.ptr[off / map->step];
    const uint64_t bits =
        s->in_bits + cs_muldiv_u64(off - s->out, s[1].in_bits - s->in_bits, s[1].out - s->out);
    return bits / CHAR_BIT;
}

static enum cs_code add_sample(struct cs_zip_map *map, uint64_t out, uint64_t in_bits,
                               struct cs_err *err) {
    struct cs_zip_sample *s = cs_vec_push(&map->samples);
    if (!s) {
        return cs_fail(err, CS_NOMEM, "no memory for positions");
    }
    *s = (struct cs_zip_sample){out, in_bits};
    return CS_OK;
}

static enum cs_code inflate_plain(struct cs_view raw, uint8_t *dst, uint64_t bytes,
                                  struct cs_err *err) {
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    if (!d) {
        return cs_fail(err, CS_NOMEM, "no memory to inflate");
    }
    size_t used = 0;
    size_t made = 0;
    const enum libdeflate_result r = libdeflate_deflate_decompress_ex(
        d, raw.ptr, (size_t)raw.len, dst, (size_t)bytes, &used, &made);
    libdeflate_free_decompressor(d);
    if (r == LIBDEFLATE_INSUFFICIENT_SPACE) {
        return cs_fail(err, CS_FORMAT, "deflate stream holds more than the declared %llu bytes",
                       (unsigned long long)bytes);
    }
    if (r != LIBDEFLATE_SUCCESS) {
        return cs_fail(err, CS_FORMAT, "damaged or truncated deflate stream");
    }
    if (made != bytes || used != raw.len) {
        return cs_fail(err, CS_FORMAT,
                       "deflate stream gives %zu of %llu bytes from %zu of %llu compressed", made,
                       (unsigned long long)bytes, used, (unsigned long long)raw.len);
    }
    return CS_OK;
}

static voidpf z_alloc(voidpf opaque, uInt items, uInt size) {
    (void)opaque;
    return cs_calloc(items, size);
}
static void z_free(voidpf opaque, voidpf p) {
    (void)opaque;
    cs_free(p);
}

static enum cs_code inflate_steps(z_stream *s, struct cs_view raw, uint8_t *dst, uint64_t bytes,
                                  struct cs_zip_map *map, struct cs_err *err) {
    uint64_t made = 0;
    uint64_t fed = 0;
    s->next_in = raw.ptr;
    for (;;) {
        if (s->avail_in == 0) {
            s->avail_in = (uInt)cs_min_u64(raw.len - fed, 1u << 30);
            fed += s->avail_in;
        }
        const uInt room = (uInt)cs_min_u64(bytes - made, MAP_STEP - made % MAP_STEP);
        s->next_out = dst + made;
        s->avail_out = room;
        const int r = inflate(s, Z_NO_FLUSH);
        made += room - s->avail_out;
        const uint64_t taken = fed - s->avail_in;
        if (r == Z_STREAM_END) {
            if (made != bytes || taken != raw.len) {
                return cs_fail(err, CS_FORMAT,
                               "deflate stream gives %llu of %llu bytes from %llu of %llu "
                               "compressed",
                               (unsigned long long)made, (unsigned long long)bytes,
                               (unsigned long long)taken, (unsigned long long)raw.len);
            }
            return CS_OK;
        }
        if (r == Z_MEM_ERROR) {
            return cs_fail(err, CS_NOMEM, "no memory to inflate");
        }
        if (r == Z_BUF_ERROR && made == bytes && taken < raw.len) {
            return cs_fail(err, CS_FORMAT, "deflate stream holds more than the declared %llu bytes",
                           (unsigned long long)bytes);
        }
        if (r != Z_OK) {
            return cs_fail(err, CS_FORMAT, "damaged or truncated deflate stream");
        }
        if (s->avail_out == 0 && room > 0 && made < bytes) {
            CS_TRY(
                add_sample(map, made, taken * CHAR_BIT - (s->data_type & UNUSED_BITS_MASK), err));
        }
    }
}

static enum cs_code inflate_mapped(struct cs_view raw, uint8_t *dst, uint64_t bytes,
                                   struct cs_zip_map *map, struct cs_err *err) {
    map->step = MAP_STEP;
    CS_TRY(add_sample(map, 0, 0, err));
    z_stream s = {.zalloc = z_alloc, .zfree = z_free};
    if (inflateInit2(&s, RAW_WINDOW_BITS) != Z_OK) {
        return cs_fail(err, CS_NOMEM, "no memory to inflate");
    }
    const enum cs_code code = inflate_steps(&s, raw, dst, bytes, map, err);
    inflateEnd(&s);
    CS_TRY(code);
    return add_sample(map, bytes, raw.len * CHAR_BIT, err);
}

static enum cs_code inflate_member(struct cs_view raw, const struct cs_zip_member *m, uint8_t *dst,
                                   struct cs_zip_map *map, struct cs_err *err) {
    if (map) {
        *map = (struct cs_zip_map){.bytes = m->bytes, .compressed_bytes = raw.len};
    }
    uint8_t nothing;
    dst = dst ? dst : &nothing;  // an empty member; both libraries refuse a null pointer
    if (m->method == 8 && raw.len > 0) {
        return map ? inflate_mapped(raw, dst, m->bytes, map, err)
                   : inflate_plain(raw, dst, m->bytes, err);
    }
    if (m->bytes > 0) {
        memcpy(dst, raw.ptr, (size_t)m->bytes);
    }
    if (!map) {
        return CS_OK;
    }
    map->step = cs_max_u64(m->bytes, 1);
    CS_TRY(add_sample(map, 0, 0, err));
    return add_sample(map, m->bytes, raw.len * CHAR_BIT, err);
}

// Gives an error of a stream the place of its member's data.
static enum cs_code place(struct cs_err *err, enum cs_code code, const struct cs_zip_member *m) {
    if (err && err->offset == CS_NO_OFFSET) {
        err->offset = m->data_off;
    }
    return code;
}

static enum cs_code check_readable(const struct cs_zip_member *m, struct cs_err *err) {
    if (m->faults & CS_ZIP_FAULT_METHOD) {
        return (m->method == 0 || m->method == 8)
                   ? cs_fail_at(err, CS_UNSUPPORTED, m->header_off, "encrypted member")
                   : cs_fail_at(err, CS_UNSUPPORTED, m->header_off, "compression method %u",
                                (unsigned)m->method);
    }
    if (m->faults & CS_ZIP_FAULT_OVERLAP) {
        return cs_fail_at(err, CS_FORMAT, m->header_off, "member overlaps another one");
    }
    return CS_OK;
}

// Inflates until `want` bytes are there, and looks no further.
static enum cs_code inflate_some(struct cs_view raw, uint8_t *dst, uint64_t want,
                                 struct cs_err *err) {
    z_stream s = {.zalloc = z_alloc, .zfree = z_free};
    if (inflateInit2(&s, RAW_WINDOW_BITS) != Z_OK) {
        return cs_fail(err, CS_NOMEM, "no memory to inflate");
    }
    uint64_t made = 0;
    int r = Z_OK;
    s.next_in = raw.ptr;
    while (made < want && r == Z_OK) {
        const uint64_t fed = (uint64_t)(s.next_in - raw.ptr);
        s.avail_in = (uInt)cs_min_u64(raw.len - fed, 1u << 30);
        const uInt room = (uInt)cs_min_u64(want - made, 1u << 30);
        s.next_out = dst + made;
        s.avail_out = room;
        r = inflate(&s, Z_NO_FLUSH);
        made += room - s.avail_out;
    }
    inflateEnd(&s);
    if (r == Z_MEM_ERROR) {
        return cs_fail(err, CS_NOMEM, "no memory to inflate");
    }
    return made == want ? CS_OK : cs_fail(err, CS_FORMAT, "damaged or truncated deflate stream");
}

enum cs_code cs_zip_prefix(const struct cs_zip *z, const struct cs_zip_member *m, uint8_t *dst,
                           uint64_t cap, uint64_t *got, struct cs_err *err) {
    *got = 0;
    CS_TRY(check_readable(m, err));
    const struct cs_view raw = cs_zip_raw(z, m);
    const uint64_t want = cs_min_u64(cap, m->bytes);
    if (want == 0) {
        return CS_OK;
    }
    if (m->method == 0) {
        memcpy(dst, raw.ptr, (size_t)want);
    } else {
        const enum cs_code code = inflate_some(raw, dst, want, err);
        if (code != CS_OK) {
            return place(err, code, m);
        }
    }
    *got = want;
    return CS_OK;
}

enum cs_code cs_zip_extract(const struct cs_zip *z, const struct cs_zip_member *m, uint8_t *dst,
                            bool check_crc, struct cs_zip_map *map, struct cs_err *err) {
    CS_TRY(check_readable(m, err));
    enum cs_code code = inflate_member(cs_zip_raw(z, m), m, dst, map, err);
    if (code == CS_OK && check_crc && cs_crc32(0, dst, (size_t)m->bytes) != m->crc32) {
        code = cs_fail(err, CS_FORMAT, "CRC-32 differs from the directory's");
    }
    if (code != CS_OK) {
        if (map) {
            cs_zip_map_fini(map);
        }
        return place(err, code, m);
    }
    return CS_OK;
}
