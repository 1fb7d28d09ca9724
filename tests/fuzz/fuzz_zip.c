// ZIP: whatever opens has ranges inside the file, and both ways of inflating agree.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/zip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 20 };

static void require(bool cond) {
    if (!cond) {
        abort();
    }
}

static void extract_both(const struct cs_zip *z, const struct cs_zip_member *m) {
    static uint8_t plain[MOST], mapped[MOST];
    struct cs_zip_map map;
    if (m->bytes > MOST) {
        return;
    }
    const enum cs_code a = cs_zip_extract(z, m, plain, false, NULL, NULL);
    const enum cs_code b = cs_zip_extract(z, m, mapped, false, &map, NULL);
    if (a != b) {
        // The two inflaters differ in which damaged streams they notice; the CRC stops the rest.
        require(cs_zip_extract(z, m, plain, true, NULL, NULL) != CS_OK);
        if (b == CS_OK) {
            cs_zip_map_fini(&map);
        }
        return;
    }
    if (a != CS_OK) {
        return;
    }
    static uint8_t head[64];
    uint64_t got;
    require(cs_zip_prefix(z, m, head, sizeof head, &got, NULL) == CS_OK);
    require(got == (m->bytes < sizeof head ? m->bytes : sizeof head));
    require(memcmp(plain, head, (size_t)got) == 0);
    require(memcmp(plain, mapped, (size_t)m->bytes) == 0);
    uint64_t sum = 0;
    for (uint64_t at = 0; at < m->bytes; at += 1000) {
        sum += cs_zip_map_range(&map, at, 1000);
    }
    require(sum == (m->bytes ? m->compressed_bytes : 0));
    cs_zip_map_fini(&map);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cs_zip z;
    struct cs_err err = {0};
    if (cs_zip_open(cs_view_of(data, size), &z, &err) != CS_OK) {
        require(err.count > 0);
        return 0;
    }
    uint64_t owned = 0;
    bool overlap = false;
    for (size_t i = 0; i < z.members.count; i++) {
        const struct cs_zip_member *m = &z.members.ptr[i];
        require(m->end_off <= size && m->header_off < m->data_off && m->data_off <= m->end_off);
        require(cs_zip_raw(&z, m).len == m->compressed_bytes);
        owned += m->end_off - m->header_off;
        overlap = overlap || (m->faults & CS_ZIP_FAULT_OVERLAP);
        extract_both(&z, m);
    }
    // Members, prefix, gaps, directory and end records tile the file.
    const uint64_t ends = size - z.trailing_bytes - z.eocd_off +
                          (z.zip64_eocd_off ? z.eocd_off - z.zip64_eocd_off : 0);
    const uint64_t rest = z.prefix_bytes + z.gap_bytes + z.central_bytes + z.trailing_bytes + ends;
    const uint64_t inner = z.zip64_eocd_off ? z.gap_bytes : 0;  // a gap may lie inside `ends`
    require(overlap || (owned + rest >= size && owned + rest <= size + inner));
    cs_zip_close(&z);
    return 0;
}
