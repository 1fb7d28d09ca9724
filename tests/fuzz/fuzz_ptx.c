// PTX: kernels lie inside the text, in order, and each one is a kernel when read alone.
#include <stdint.h>
#include <stdlib.h>

#include "format/ptx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct cs_view text = cs_view_of(data, size);
    (void)cs_ptx_probe(text);
    struct cs_ptx p, one;
    struct cs_err err = {0};
    if (cs_ptx_read(text, &p, &err) != CS_OK) {
        if (err.count == 0) {
            abort();  // every failure says why
        }
        return 0;
    }
    uint64_t end = 0;
    for (size_t i = 0; i < p.kernels.count; i++) {
        const struct cs_ptx_kernel *k = &p.kernels.ptr[i];
        struct cs_view part;
        if (k->off < end || !cs_view_sub(text, k->off, k->len, &part)) {
            abort();
        }
        end = k->off + k->len;
        if (cs_ptx_read(part, &one, NULL) != CS_OK || one.kernels.count != 1 ||
            !cs_str_eq(one.kernels.ptr[0].name, k->name)) {
            abort();
        }
        cs_ptx_fini(&one);
    }
    cs_ptx_fini(&p);
    return 0;
}
