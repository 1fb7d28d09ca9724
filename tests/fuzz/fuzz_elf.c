// ELF, its relocations and its wrappers: whatever is accepted can be walked to the last byte.
#include <stdint.h>
#include <stdlib.h>

#include "format/elf.h"
#include "format/elfreloc.h"
#include "model/wrappers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

static void touch(struct cs_view v) {
    if (v.len > 0) {
        sink += (uint64_t)v.ptr[0] + v.ptr[v.len - 1];
    }
}

static void walk_symbols(const struct cs_elf *elf, const struct cs_elf_section *table) {
    const uint32_t count = cs_elf_symbol_count(elf, table);
    for (uint32_t i = 0; i < count; i++) {
        const struct cs_elf_symbol sym = cs_elf_symbol(elf, table, i);
        const struct cs_str name = cs_elf_symbol_name(elf, table, &sym);
        touch(cs_view_of(name.ptr, name.len));
    }
}

static void walk_relocations(const struct cs_elfreloc_tables *t) {
    struct cs_elfreloc_iter it = cs_elfreloc_iter(t);
    struct cs_elfreloc r;
    struct cs_elf_symbol sym;
    while (cs_elfreloc_next(&it, &r)) {
        if (!cs_view_has(t->elf->file, r.entry_off, 8)) {
            abort();
        }
        sink += cs_elfreloc_symbol(t, &r, &sym) ? sym.value : r.addend;
    }
}

static void walk_wrappers(const struct cs_elf *elf) {
    struct cs_wrappers w;
    if (cs_wrappers_find(elf, &w, NULL) != CS_OK) {
        return;
    }
    uint64_t after = 0;
    for (size_t i = 0; i < w.items.count; i++) {
        const struct cs_wrapper *x = &w.items.ptr[i];
        if (!cs_view_has(elf->file, x->offset, 24) || x->offset < after ||
            (x->container_offset != CS_NO_OFFSET &&
             !cs_view_has(elf->file, x->container_offset, 16))) {
            abort();
        }
        after = x->offset + 24;
    }
    cs_wrappers_fini(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cs_elf elf;
    struct cs_err err = {0};
    struct cs_elfreloc_tables t;
    if (cs_elf_open(cs_view_of(data, size), &elf, &err) != CS_OK) {
        if (err.count == 0) {
            abort();
        }
        return 0;
    }
    for (uint32_t i = 0; i < elf.shnum; i++) {
        const struct cs_elf_section s = cs_elf_section(&elf, i);
        struct cs_view content;
        if (cs_elf_content(&elf, &s, &content)) {
            touch(content);
        }
        walk_symbols(&elf, &s);
        if ((s.type == SHT_RELA || s.type == SHT_REL) &&
            cs_elfreloc_open_section(&elf, &s, &t, NULL) == CS_OK) {
            walk_relocations(&t);
        }
    }
    if (cs_elfreloc_open_dynamic(&elf, &t, NULL) == CS_OK) {
        walk_relocations(&t);
    }
    walk_wrappers(&elf);
    return 0;
}
