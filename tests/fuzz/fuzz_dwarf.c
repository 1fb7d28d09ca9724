// DWARF: files are views into the sections; four bytes say how the input is cut into them.
#include <stdint.h>
#include <stdlib.h>

#include "format/dwarf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct cs_str s, const uint8_t *data, size_t size) {
    const uint8_t *p = (const uint8_t *)s.ptr;
    if (s.len > 0 && (p < data || p + s.len > data + size)) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { FILES = 64 };
    struct cs_dwarf_file files[FILES];
    const struct cs_view all = cs_view_of(data, size);
    struct cs_view line = all, line_str = {0}, str = {0};
    if (size > 2) {
        const uint64_t a = (uint64_t)data[size - 1] % size, b = (uint64_t)data[size - 2] % size;
        line = cs_view_at(all, 0, size - (a < b ? a : b));
        line_str = cs_view_at(all, size - a, a);
        str = cs_view_at(all, size - b, b);
    }
    const uint32_t count = cs_dwarf_line_files(line, line_str, str, files, FILES);
    for (uint32_t i = 0; i < count; i++) {
        check(files[i].dir, data, size);
        check(files[i].name, data, size);
    }
    return 0;
}
