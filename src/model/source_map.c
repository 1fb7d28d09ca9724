// Source map: names of containers from the symbols that nvcc and the linker leave in the host file.
//
// Established on files of nvcc 11.8 to 13.2 (docs/format/source-names.md):
//   .symtab: each translation unit's FILE symbol is followed by its local symbols, and among them
//   "fatbinData" has the address of the unit's container; link.stub is the device linker's;
//   .dynsym or .symtab: __fatbinwrap_<module id> has the address of a wrapper (rdc only).
#include "model/source.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"

struct reader {
    const struct cs_elf *elf;
    struct cs_source_map *map;
    struct cs_buf scratch;
    bool no_memory;
};

static bool file_offset(const struct cs_elf *elf, const struct cs_elf_symbol *sym, uint64_t *off) {
    if (elf->type != ET_REL) {
        return cs_elf_vaddr_to_off(elf, sym->value, off);
    }
    if (sym->shndx == SHN_UNDEF || sym->shndx >= elf->shnum) {
        return false;
    }
    const struct cs_elf_section s = cs_elf_section(elf, sym->shndx);
    return s.type != SHT_NOBITS && sym->value <= s.size && cs_view_has(elf->file, s.off, s.size) &&
           (*off = s.off + sym->value, true);
}

static void add_mark(struct reader *r, const struct cs_elf_symbol *sym, enum cs_source_how how) {
    uint64_t off;
    if (!file_offset(r->elf, sym, &off)) {
        return;
    }
    struct cs_source_mark *m = cs_vec_push(&r->map->marks);
    const struct cs_str name = cs_arena_str(&r->map->arena, cs_buf_str(&r->scratch));
    if (!m || !name.ptr || r->scratch.failed != CS_OK) {
        r->no_memory = true;
        return;
    }
    *m = (struct cs_source_mark){off, name, how};
}

// How the unit of a FILE symbol is called; the name goes to the scratch buffer.
static enum cs_source_how unit_of(struct reader *r, struct cs_str file_symbol) {
    cs_buf_clear(&r->scratch);
    if (cs_source_from_symbol(file_symbol, &r->scratch)) {
        return CS_SOURCE_SYMTAB;
    }
    if (cs_str_eq(file_symbol, CS_STR("link.stub"))) {
        cs_buf_add_str(&r->scratch, file_symbol);
        return CS_SOURCE_STUB;
    }
    return CS_SOURCE_NONE;
}

static void read_table(struct reader *r, const struct cs_elf_section *table) {
    static const struct cs_str wrap = CS_STR("__fatbinwrap");
    const uint32_t count = cs_elf_symbol_count(r->elf, table);
    struct cs_str unit = CS_STR("");
    for (uint32_t i = 1; i < count && !r->no_memory; i++) {
        const struct cs_elf_symbol sym = cs_elf_symbol(r->elf, table, i);
        if (sym.type == STT_FILE) {
            unit = cs_elf_symbol_name(r->elf, table, &sym);
        } else if (sym.shndx == SHN_UNDEF) {
            continue;
        } else if (sym.bind == STB_LOCAL && sym.type == STT_NOTYPE) {
            enum cs_source_how how;
            if (cs_str_eq(cs_elf_symbol_name(r->elf, table, &sym), CS_STR("fatbinData")) &&
                (how = unit_of(r, unit)) != CS_SOURCE_NONE) {
                add_mark(r, &sym, how);
            }
        } else if (sym.type == STT_OBJECT) {
            struct cs_str name = cs_elf_symbol_name(r->elf, table, &sym);
            if (cs_str_starts(name, wrap)) {
                name.ptr += wrap.len;
                name.len -= wrap.len;
                cs_buf_clear(&r->scratch);
                if (cs_source_from_module_id(name, &r->scratch)) {
                    add_mark(r, &sym, CS_SOURCE_MODULE_ID);
                }
            }
        }
    }
}

static int by_offset(const void *a, const void *b) {
    const struct cs_source_mark *x = a, *y = b;
    if (x->offset != y->offset) {
        return x->offset < y->offset ? -1 : 1;
    }
    return x->how != y->how ? (x->how < y->how ? -1 : 1) : cs_str_cmp(x->name, y->name);
}

enum cs_code cs_source_map_read(const struct cs_elf *elf, struct cs_source_map *out,
                                struct cs_err *err) {
    *out = (struct cs_source_map){0};
    cs_arena_init(&out->arena);
    struct reader r = {.elf = elf, .map = out};
    cs_buf_init(&r.scratch, CS_MAX_NAME_BYTES + 16);
    for (uint32_t i = 0; i < elf->shnum && !r.no_memory; i++) {
        const struct cs_elf_section s = cs_elf_section(elf, i);
        if (s.type == SHT_SYMTAB || s.type == SHT_DYNSYM) {
            read_table(&r, &s);
        }
    }
    cs_buf_fini(&r.scratch);
    if (r.no_memory) {
        return cs_fail(err, CS_NOMEM, "no memory for source names");
    }
    if (out->marks.count > 0) {
        qsort(out->marks.ptr, out->marks.count, sizeof *out->marks.ptr, by_offset);
        size_t kept = 1;
        for (size_t i = 1; i < out->marks.count; i++) {
            if (out->marks.ptr[i].offset != out->marks.ptr[kept - 1].offset) {
                out->marks.ptr[kept++] = out->marks.ptr[i];
            }
        }
        out->marks.count = kept;
    }
    return CS_OK;
}

void cs_source_map_fini(struct cs_source_map *map) {
    cs_vec_fini(&map->marks);
    cs_arena_fini(&map->arena);
}

static const struct cs_source_mark *mark_at(const struct cs_source_map *map, uint64_t off) {
    size_t low = 0, high = map->marks.count;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (map->marks.ptr[mid].offset < off) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    const bool hit = low < map->marks.count && map->marks.ptr[low].offset == off;
    return hit ? &map->marks.ptr[low] : NULL;
}

const struct cs_source_mark *cs_source_map_find(const struct cs_source_map *map,
                                                uint64_t container_off, uint64_t wrapper_off) {
    const struct cs_source_mark *a = mark_at(map, container_off);
    const struct cs_source_mark *b = wrapper_off == CS_NO_OFFSET ? NULL : mark_at(map, wrapper_off);
    return !a || (b && b->how < a->how) ? b : a;
}
