// Cubin: whatever is read is cut into pieces that cover the image once, in order, and names lie
// inside.
#include <stdint.h>
#include <stdlib.h>

#include "format/cubin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void inside(struct cs_str s, const uint8_t *data, size_t size) {
    const uintptr_t first = (uintptr_t)data, at = (uintptr_t)s.ptr;
    CS_ASSERT(s.len == 0 || (at >= first && at - first <= size && s.len <= size - (at - first)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct cs_cubin c;  // reused, as the reader of a library does
    struct cs_err err = {0};
    if (cs_cubin_read(cs_view_of(data, size), &c, &err) != CS_OK) {
        CS_ASSERT(err.count > 0);
        return 0;
    }
    uint64_t at = 0;
    for (size_t i = 0; i < c.pieces.count; i++) {
        const struct cs_cubin_piece *p = &c.pieces.ptr[i];
        CS_ASSERT(p->off == at && p->len > 0 && p->len <= size - at && p->part < CS_PART_COUNT);
        CS_ASSERT(p->kernel == CS_NO_KERNEL || p->kernel < c.kernels.count);
        at += p->len;
    }
    CS_ASSERT(at == size);
    for (size_t i = 0; i < c.kernels.count; i++) {
        inside(c.kernels.ptr[i].name, data, size);
        const struct cs_view code = c.kernels.ptr[i].code;
        inside((struct cs_str){(const char *)code.ptr, (size_t)code.len}, data, size);
    }
    for (size_t i = 0; i < c.funcs.count; i++) {
        inside(c.funcs.ptr[i].name, data, size);
        CS_ASSERT(c.funcs.ptr[i].kernel == CS_NO_KERNEL || c.funcs.ptr[i].kernel < c.kernels.count);
    }
    inside(c.tool_command, data, size);
    return 0;
}
