// Source names: any text in every form, and any bytes as an ELF file and as a cubin.
#include <stdint.h>
#include <stdlib.h>

#include "model/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct cs_str text = {(const char *)data, size};
    struct cs_buf out;
    cs_buf_init(&out, 1 << 20);
    if (cs_source_from_symbol(text, &out) + cs_source_from_module_id(text, &out) +
                cs_source_from_mangled(text, &out) ==
            0 &&
        out.len > 0) {
        abort();
    }
    (void)cs_source_of_cubin(cs_view_of(data, size), &out);
    struct cs_elf elf;
    struct cs_source_map map;
    if (cs_elf_open(cs_view_of(data, size), &elf, NULL) == CS_OK) {
        if (cs_source_map_read(&elf, &map, NULL) != CS_OK) {
            abort();
        }
        for (size_t i = 1; i < map.marks.count; i++) {
            if (map.marks.ptr[i - 1].offset >= map.marks.ptr[i].offset) {
                abort();
            }
        }
        cs_source_map_fini(&map);
    }
    cs_buf_fini(&out);
    return 0;
}
