// Dynamic sections, and everything `check` looks at in a file: any bytes end in facts.
#include <stdint.h>
#include <stdlib.h>

#include "analysis/check_look.h"
#include "format/elfdyn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

static void touch(struct cs_str s) {
    if (s.len > 0) {
        sink += (uint64_t)(uint8_t)s.ptr[0] + (uint64_t)(uint8_t)s.ptr[s.len - 1];
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct cs_view file = cs_view_of(data, size);
    struct cs_elf elf;
    struct cs_elfdyn d;
    if (cs_elf_open(file, &elf, NULL) == CS_OK && cs_elfdyn_read(&elf, &d, NULL) == CS_OK) {
        touch(d.soname);
        for (size_t i = 0; i < d.needed.count; i++) {
            touch(d.needed.ptr[i]);
        }
        for (size_t i = 0; i < d.needs.count; i++) {
            touch(d.needs.ptr[i].file);
            touch(d.needs.ptr[i].version);
        }
        cs_elfdyn_fini(&d);
    }
    struct cs_check_look look;
    cs_check_look_init(&look, true);
    const struct cs_inventory_look see = cs_check_look_callback(&look);
    see.file(see.ctx, 0, CS_STR("x"), file);
    if (cs_check_look_done(&look, NULL) != CS_OK || look.files.count != 1) {
        abort();
    }
    for (size_t i = 0; i < look.facts.count; i++) {
        touch(look.facts.ptr[i].message);
    }
    cs_check_look_fini(&look);
    return 0;
}
