// Fatbin: a container that the probe accepts is walked to its end, entries are in order and inside,
// and written back entry by entry they give the same bytes.
#include <stdint.h>
#include <stdlib.h>

#include "base/limits.h"
#include "format/fatbin.h"
#include "format/fatbin_write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { IMAGE_MAX = 1 << 22 };  // larger ones only cost time here

static struct cs_codec_ctx *codec;
static struct cs_scratch scratch;

static void read_image(const struct cs_fatbin_entry *e, uint64_t bytes) {
    struct cs_view image;
    struct cs_err err = {0};
    if (bytes > IMAGE_MAX) {
        return;
    }
    if (cs_fatbin_image(codec, e, &scratch, &image, &err) == CS_OK) {
        volatile uint8_t sink = image.len ? image.ptr[image.len - 1] : 0;
        (void)sink;
    } else {
        CS_ASSERT(err.count > 0);
    }
}

static void walk_parts(const struct cs_fatbin_entry *concat) {
    uint64_t cursor = 0;
    for (uint32_t i = 0; i < concat->part_count; i++) {
        struct cs_fatbin_entry part;
        struct cs_err err = {0};
        const uint64_t before = cursor;
        if (cs_fatbin_part(concat, &cursor, &part, &err) != CS_OK) {
            CS_ASSERT(err.count > 0);
            return;
        }
        CS_ASSERT(cursor > before && part.header.len >= CS_FATBIN_ENTRY_BYTES);
        CS_ASSERT(part.part_off <= concat->image_bytes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!codec) {
        codec = cs_codec_ctx_new();
    }
    const struct cs_view all = cs_view_of(data, size);
    uint64_t bytes = 0;
    uint32_t expected = 0;
    const bool probed = cs_fatbin_probe(all, &bytes, &expected);
    CS_ASSERT(!probed || (bytes >= CS_FATBIN_HEADER_BYTES && bytes <= size));
    struct cs_fatbin_iter it;
    struct cs_err err = {0};
    const struct cs_view container = probed ? cs_view_at(all, 0, bytes) : all;
    if (cs_fatbin_open(container, &it, &err) != CS_OK) {
        CS_ASSERT(!probed && err.count > 0);
        return 0;
    }
    struct cs_buf copy;
    cs_buf_init(&copy, 2 * size + 64);
    const size_t start = cs_fatbin_begin(&copy);
    uint64_t end = CS_FATBIN_HEADER_BYTES;
    uint32_t count = 0;
    for (bool done = false;;) {
        struct cs_fatbin_entry e;
        if (cs_fatbin_next(&it, &e, &done, &err) != CS_OK) {
            // The probe looks at extents alone; the walk also at sizes inside them.
            CS_ASSERT(err.count > 0);
            break;
        }
        if (done) {
            break;
        }
        CS_ASSERT(e.off == end && e.header.len == e.header_bytes &&
                  e.payload.len == e.payload_bytes);
        end = e.off + e.header_bytes + e.payload_bytes;
        CS_ASSERT(end <= container.len);
        count++;
        char text[24];
        cs_fatbin_target_text(e.kind, e.arch, e.flags, text);
        if (e.kind == CS_FATBIN_CONCAT) {
            walk_parts(&e);
        }
        read_image(&e, e.image_bytes);
        cs_fatbin_put_raw(&copy, &e);
    }
    cs_fatbin_end(&copy, start);
    if (probed && end == bytes) {
        CS_ASSERT(count == expected && cs_buf_check(&copy, NULL) == CS_OK && copy.len == bytes);
        // The header's version and size fields were checked by the probe, so all bytes agree.
        CS_ASSERT(memcmp(copy.ptr, data, copy.len) == 0);
    }
    cs_buf_fini(&copy);
    return 0;
}
