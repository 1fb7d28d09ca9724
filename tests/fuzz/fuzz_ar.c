// ar: whatever opens has members inside the file, in ascending order, none overlapping.
#include <stdint.h>
#include <stdlib.h>

#include "format/ar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cs_ar a;
    struct cs_err err = {0};
    if (cs_ar_open(cs_view_of(data, size), &a, &err) != CS_OK) {
        if (err.count == 0) {
            abort();
        }
        return 0;
    }
    uint64_t reached = 8;
    volatile unsigned sink = 0;
    for (size_t i = 0; i < a.members.count; i++) {
        const struct cs_ar_member *m = &a.members.ptr[i];
        if (m->header_off < reached || !cs_view_has(a.file, m->data_off, m->bytes)) {
            abort();
        }
        for (size_t k = 0; k < m->name.len; k++) {
            sink = sink + (unsigned char)m->name.ptr[k];
        }
        reached = m->data_off + m->bytes;
    }
    cs_ar_close(&a);
    return 0;
}
