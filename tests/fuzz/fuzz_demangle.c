// Demangle: any bytes after "_Z".
#include <stdint.h>
#include <stdlib.h>

#include "format/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct cs_buf out, name;
    cs_buf_init(&name, 1u << 20);
    cs_buf_adds(&name, "_Z");
    cs_buf_add(&name, data, size);
    cs_buf_init(&out, 16u << 20);
    if (!cs_demangle(cs_buf_str(&name), &out) && !cs_str_eq(cs_buf_str(&out), cs_buf_str(&name))) {
        abort();
    }
    cs_buf_fini(&out);
    cs_buf_fini(&name);
    return 0;
}
