// Wrappers: finds .nvFatBinSegment records and resolves their pointers.
//
// Layout of a record (fatbinary_section.h of the CUDA toolkit): u32 magic, u32 version, u64 pointer
// to the container, u64 second pointer.  Steps: (1) list the areas that may hold wrappers, (2) list
// the records in them, (3) collect in one pass the relocations that fall into those areas, (4) join
// both, sorted by file offset.  Nothing is looked up in a loop over the tables.
#include "model/wrappers.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/num.h"
#include "format/elfreloc.h"
#include "format/fatbin.h"

enum { POINTER_AT = 8, SECOND_AT = 16, MAX_VERSION = 2, STEP = 8 };

// A range of the file that may hold wrappers.
struct area {
    uint64_t off, vaddr, len;
    uint32_t section;
};

// A relocation that falls into an area; `off` is the file offset of its place.
struct hit {
    uint64_t off;
    struct cs_elfreloc reloc;
    bool has_symbol;
    struct cs_elf_symbol symbol;
};

struct finder {
    const struct cs_elf *elf;
    bool object;                // ET_REL: offsets in sections instead of addresses
    bool unknown_packing;
    CS_VEC(struct area) areas;  // ascending by off, disjoint in sane files
    CS_VEC(struct hit) hits;
    struct cs_wrappers *out;
};

const char *cs_wrapper_storage_name(enum cs_wrapper_storage storage) {
    switch (storage) {
        case CS_WRAPPER_IN_MEMORY: return "memory";
        case CS_WRAPPER_BY_RELA: return "rela";
        case CS_WRAPPER_BY_REL: return "rel";
        case CS_WRAPPER_BY_SYMBOL: return "symbol";
        case CS_WRAPPER_UNKNOWN: break;
    }
    return "unknown";
}

bool cs_wrappers_device_section(struct cs_str name, bool *relocatable) {
    *relocatable = cs_str_eq(name, CS_STR("__nv_relfatbin"));
    return *relocatable || cs_str_eq(name, CS_STR(".nv_fatbin"));
}

// Compares without measuring the name, whose length a hostile file chooses.
static bool section_is(const struct cs_elf *elf, const struct cs_elf_section *s, const char *name) {
    const size_t with_nul = strlen(name) + 1;
    struct cs_view text;
    return cs_view_sub(elf->shstrtab, s->name_off, with_nul, &text) &&
           memcmp(text.ptr, name, with_nul) == 0;
}

static bool is_wrapper_section(const struct cs_elf *elf, const struct cs_elf_section *s) {
    return s->type == SHT_PROGBITS && section_is(elf, s, ".nvFatBinSegment");
}

static enum cs_code add_area(struct finder *f, struct area a, struct cs_err *err) {
    struct area *slot = cs_vec_push(&f->areas);
    if (!slot) {
        return cs_fail(err, CS_NOMEM, "no memory for wrappers");
    }
    *slot = a;
    return CS_OK;
}

static struct area section_area(const struct cs_elf_section *s) {
    return (struct area){s->off, s->addr, s->size, s->index};
}

static enum cs_code add_section_areas(struct finder *f, bool *device, struct cs_err *err) {
    const struct cs_elf *elf = f->elf;
    for (uint32_t i = 1; i < elf->shnum; i++) {
        const struct cs_elf_section s = cs_elf_section(elf, i);
        *device = *device || section_is(elf, &s, ".nv_fatbin") ||
                  section_is(elf, &s, "__nv_relfatbin");
        struct cs_view content;
        if (is_wrapper_section(elf, &s) && cs_elf_content(elf, &s, &content) && content.len > 0) {
            CS_TRY(add_area(f, section_area(&s), err));
        }
    }
    return CS_OK;
}

// A linker script may have folded the wrappers into .data, and a file may have lost its section
// headers: then all writable data is searched.
static enum cs_code add_writable_areas(struct finder *f, struct cs_err *err) {
    const struct cs_elf *elf = f->elf;
    for (uint32_t i = 1; i < elf->shnum; i++) {
        const struct cs_elf_section s = cs_elf_section(elf, i);
        struct cs_view content;
        if (s.type == SHT_PROGBITS && (s.flags & SHF_ALLOC) && (s.flags & SHF_WRITE) &&
            cs_elf_content(elf, &s, &content) && content.len > 0) {
            CS_TRY(add_area(f, section_area(&s), err));
        }
    }
    for (uint32_t i = 0; i < elf->phnum && elf->shnum == 0; i++) {
        const struct cs_elf_segment s = cs_elf_segment(elf, i);
        if (s.type == PT_LOAD && (s.flags & PF_W) && s.filesz > 0 &&
            cs_view_has(elf->file, s.off, s.filesz)) {
            CS_TRY(add_area(f, (struct area){s.off, s.vaddr, s.filesz, 0}, err));
        }
    }
    return CS_OK;
}

static int compare_areas(const void *a, const void *b) {
    const struct area *x = a;
    const struct area *y = b;
    return (x->off > y->off) - (x->off < y->off);
}

// Sorts by offset and drops areas that overlap an earlier one, as only broken files have.
static void tidy_areas(struct finder *f) {
    if (f->areas.count < 2) {
        return;
    }
    qsort(f->areas.ptr, f->areas.count, sizeof *f->areas.ptr, compare_areas);
    size_t kept = 1;
    for (size_t i = 1; i < f->areas.count; i++) {
        const struct area *last = &f->areas.ptr[kept - 1];
        if (f->areas.ptr[i].off - last->off >= last->len) {
            f->areas.ptr[kept++] = f->areas.ptr[i];
        }
    }
    f->areas.count = kept;
}

static enum cs_code list_records(struct finder *f, const struct area *a, struct cs_err *err) {
    const struct cs_view v = cs_view_at(f->elf->file, a->off, a->len);
    uint64_t at = 0;
    while (cs_view_has(v, at, CS_FATBIN_WRAPPER_BYTES)) {
        const uint32_t version = cs_u32(v, at + 4);
        if (cs_u32(v, at) != CS_FATBIN_WRAPPER_MAGIC || version == 0 || version > MAX_VERSION) {
            at += STEP;
            continue;
        }
        if (f->out->items.count >= CS_MAX_CONTAINERS) {
            return cs_fail_at(err, CS_LIMIT, a->off + at, "more than %d wrappers",
                              CS_MAX_CONTAINERS);
        }
        struct cs_wrapper *w = cs_vec_push(&f->out->items);
        if (!w) {
            return cs_fail(err, CS_NOMEM, "no memory for wrappers");
        }
        *w = (struct cs_wrapper){
            .offset = a->off + at,
            .vaddr = f->object ? 0 : a->vaddr + at,
            .section = a->section,
            .version = version,
            .reloc_offset = CS_NO_OFFSET,
            .container_offset = CS_NO_OFFSET,
        };
        at += CS_FATBIN_WRAPPER_BYTES;
    }
    return CS_OK;
}

static enum cs_code add_hit(struct finder *f, const struct cs_elfreloc_tables *t,
                            const struct cs_elfreloc *r, uint64_t off, struct cs_err *err) {
    struct hit *h = cs_vec_push(&f->hits);
    if (!h) {
        return cs_fail(err, CS_NOMEM, "no memory for the relocations of wrappers");
    }
    *h = (struct hit){.off = off, .reloc = *r};
    h->has_symbol = cs_elfreloc_symbol(t, r, &h->symbol);
    return CS_OK;
}

static int compare_area_vaddr(const void *a, const void *b) {
    const struct area *const *x = a;
    const struct area *const *y = b;
    return ((*x)->vaddr > (*y)->vaddr) - ((*x)->vaddr < (*y)->vaddr);
}

// The area that holds an address, by binary search.
static const struct area *area_of(const struct area **sorted, size_t count, uint64_t vaddr) {
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (sorted[mid]->vaddr <= vaddr) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low > 0 && vaddr - sorted[low - 1]->vaddr < sorted[low - 1]->len ? sorted[low - 1]
                                                                            : NULL;
}

static enum cs_code collect_dynamic(struct finder *f, struct cs_err *err) {
    struct cs_elfreloc_tables t;
    CS_TRY(cs_elfreloc_open_dynamic(f->elf, &t, err));
    f->unknown_packing = t.unknown_packing;
    const struct area **sorted = cs_realloc_array(NULL, f->areas.count, sizeof *sorted);
    if (!sorted) {
        return cs_fail(err, CS_NOMEM, "no memory for wrappers");
    }
    for (size_t i = 0; i < f->areas.count; i++) {
        sorted[i] = &f->areas.ptr[i];
    }
    qsort(sorted, f->areas.count, sizeof *sorted, compare_area_vaddr);
    struct cs_elfreloc_iter it = cs_elfreloc_iter(&t);
    struct cs_elfreloc r;
    enum cs_code code = CS_OK;
    while (code == CS_OK && cs_elfreloc_next(&it, &r)) {
        const struct area *a = area_of(sorted, f->areas.count, r.place);
        if (a) {
            code = add_hit(f, &t, &r, a->off + (r.place - a->vaddr), err);
        }
    }
    cs_free(sorted);
    return code;
}

static enum cs_code collect_object(struct finder *f, struct cs_err *err) {
    const struct cs_elf *elf = f->elf;
    for (uint32_t i = 1; i < elf->shnum; i++) {
        const struct cs_elf_section s = cs_elf_section(elf, i);
        if ((s.type != SHT_RELA && s.type != SHT_REL) || s.info >= elf->shnum) {
            continue;
        }
        const struct cs_elf_section target = cs_elf_section(elf, s.info);
        if (!is_wrapper_section(elf, &target)) {
            continue;
        }
        struct cs_elfreloc_tables t;
        CS_TRY(cs_elfreloc_open_section(elf, &s, &t, err));
        struct cs_elfreloc_iter it = cs_elfreloc_iter(&t);
        struct cs_elfreloc r;
        while (cs_elfreloc_next(&it, &r)) {
            if (r.place < target.size) {
                CS_TRY(add_hit(f, &t, &r, target.off + r.place, err));
            }
        }
    }
    return CS_OK;
}

static int compare_hits(const void *a, const void *b) {
    const struct hit *x = a;
    const struct hit *y = b;
    return x->off != y->off ? (x->off > y->off) - (x->off < y->off)
                            : (x->reloc.entry_off > y->reloc.entry_off) -
                                  (x->reloc.entry_off < y->reloc.entry_off);
}

// First relocation at or after a file offset.
static size_t hit_at(const struct finder *f, uint64_t off) {
    size_t low = 0;
    size_t high = f->hits.count;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (f->hits.ptr[mid].off < off) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

// What the loader will put at a pointer field of the file.
struct pointer {
    enum cs_wrapper_storage storage;
    bool rela;
    uint64_t reloc_offset;
    uint32_t symbol, section;
    uint64_t value;
};

static struct pointer read_pointer(const struct finder *f, uint64_t off) {
    const uint64_t memory = cs_u64(f->elf->file, off);
    struct pointer p = {
        .storage = f->unknown_packing ? CS_WRAPPER_UNKNOWN : CS_WRAPPER_IN_MEMORY,
        .reloc_offset = CS_NO_OFFSET,
        .value = memory,
    };
    const size_t i = hit_at(f, off);
    if (i >= f->hits.count || f->hits.ptr[i].off != off) {
        return p;
    }
    const struct hit *h = &f->hits.ptr[i];
    const bool twice = i + 1 < f->hits.count && h[1].off == off;
    p.rela = h->reloc.form == CS_ELFRELOC_RELA;
    p.reloc_offset = h->reloc.entry_off;
    p.value = p.rela ? h->reloc.addend : memory;
    if (twice || h->reloc.kind == CS_ELFRELOC_OTHER) {
        p.storage = CS_WRAPPER_UNKNOWN;
    } else if (h->reloc.kind == CS_ELFRELOC_RELATIVE) {
        p.storage = p.rela ? CS_WRAPPER_BY_RELA : CS_WRAPPER_BY_REL;
    } else if (h->has_symbol && h->symbol.shndx != SHN_UNDEF) {
        p.storage = CS_WRAPPER_BY_SYMBOL;
        p.symbol = h->reloc.symbol;
        p.section = h->symbol.shndx;
        p.value += h->symbol.value;
    } else {
        p.storage = CS_WRAPPER_UNKNOWN;
    }
    return p;
}

static bool is_container(struct cs_view file, uint64_t off) {
    struct cs_view v;
    return cs_view_sub(file, off, CS_FATBIN_HEADER_BYTES, &v) &&
           cs_u32(v, 0) == CS_FATBIN_MAGIC && cs_u16(v, 6) == CS_FATBIN_HEADER_BYTES &&
           cs_view_has(file, off + CS_FATBIN_HEADER_BYTES, cs_u64(v, 8));
}

static void resolve(const struct finder *f, struct cs_wrapper *w) {
    const struct cs_elf *elf = f->elf;
    const struct pointer p = read_pointer(f, w->offset + POINTER_AT);
    w->storage = p.storage;
    w->rela = p.rela;
    w->reloc_offset = p.reloc_offset;
    w->symbol = p.symbol;
    w->target = p.value;
    w->in_place = p.value != 0 && cs_u64(elf->file, w->offset + POINTER_AT) == p.value;
    uint64_t off = 0;
    bool found = false;
    if (!f->object) {
        found = cs_elf_vaddr_to_off(elf, p.value, &off);
    } else if (p.storage == CS_WRAPPER_BY_SYMBOL && p.section < elf->shnum) {
        const struct cs_elf_section s = cs_elf_section(elf, p.section);
        w->target_section = p.section;
        found = p.value < s.size && cs_add_u64(s.off, p.value, &off);
    }
    if (found && is_container(elf->file, off)) {
        w->container_offset = off;
    }
    if (w->version == 2) {
        w->second = read_pointer(f, w->offset + SECOND_AT).value;
    }
}

static enum cs_code find(struct finder *f, struct cs_err *err) {
    bool device = f->elf->shnum == 0;
    CS_TRY(add_section_areas(f, &device, err));
    if (f->areas.count == 0 && device && !f->object) {
        CS_TRY(add_writable_areas(f, err));
    }
    tidy_areas(f);
    for (size_t i = 0; i < f->areas.count; i++) {
        CS_TRY(list_records(f, &f->areas.ptr[i], err));
    }
    if (f->out->items.count == 0) {
        return CS_OK;
    }
    CS_TRY(f->object ? collect_object(f, err) : collect_dynamic(f, err));
    if (f->hits.count > 1) {
        qsort(f->hits.ptr, f->hits.count, sizeof *f->hits.ptr, compare_hits);
    }
    for (size_t i = 0; i < f->out->items.count; i++) {
        resolve(f, &f->out->items.ptr[i]);
    }
    return CS_OK;
}

enum cs_code cs_wrappers_find(const struct cs_elf *elf, struct cs_wrappers *out,
                              struct cs_err *err) {
    *out = (struct cs_wrappers){0};
    struct finder f = {.elf = elf, .object = elf->type == ET_REL, .out = out};
    const enum cs_code code = find(&f, err);
    cs_vec_fini(&f.areas);
    cs_vec_fini(&f.hits);
    if (code != CS_OK) {
        cs_wrappers_fini(out);
    }
    return code;
}

void cs_wrappers_fini(struct cs_wrappers *w) { cs_vec_fini(&w->items); }
