// Elfcut, references: who points to a container decides whether it may move or change.
//
// A container may move only when wrappers are its sole users and their pointers can be rewritten.
// Code may reach a container by a pc-relative address that no table lists, but only compilers' own
// wrappers are known not to; hence every name that code could use (a dynamic symbol, a global
// symbol, a local one of unknown origin) pins it, and so does having no wrapper at all.
#include "base/num.h"
#include "format/elfreloc.h"
#include "rewrite/elfcut_work.h"

enum { POINTER_AT = 8, SECOND_AT = 16 };

static void pin(struct cs_elfcut_block *b, enum cs_elfcut_pin why) {
    if (b->pin < why) {
        b->pin = why;
    }
}

// Something refers to offset `off` of the file, which lies in section d or just at its end.
static void refer(struct cs_elfcut *cut, struct cs_elfcut_section *d, uint64_t off,
                  enum cs_elfcut_pin why) {
    struct cs_elfcut_block *b = cs_cut_block_of(cut, off);
    if (!b) {
        d->locked = true;
    } else {
        pin(b, b->off == off ? why : CS_ELFCUT_INSIDE);
    }
}

// The device section that an address lies in.
static struct cs_elfcut_section *section_at(const struct cs_elfcut *cut, uint64_t vaddr) {
    for (size_t i = 0; i < cut->sections.count; i++) {
        struct cs_elfcut_section *d = &cut->sections.ptr[i];
        if (vaddr >= d->addr && vaddr - d->addr < d->size) {
            return d;
        }
    }
    return NULL;
}

static bool storage_writable(const struct cs_elfcut *cut, const struct cs_wrapper *w) {
    switch (w->storage) {
        case CS_WRAPPER_BY_RELA:
        case CS_WRAPPER_BY_REL: return true;
        case CS_WRAPPER_IN_MEMORY: return cut->elf.type == ET_EXEC;
        case CS_WRAPPER_BY_SYMBOL: return cut->work->object && w->rela;
        case CS_WRAPPER_UNKNOWN: break;
    }
    return false;
}

static void refer_from_wrappers(struct cs_elfcut *cut) {
    for (size_t i = 0; i < cut->wrappers.items.count; i++) {
        const struct cs_wrapper *w = &cut->wrappers.items.ptr[i];
        if (w->container_offset == CS_NO_OFFSET) {
            continue;
        }
        struct cs_elfcut_block *b = cs_cut_block_of(cut, w->container_offset);
        if (!b) {
            continue;  // a container outside the device sections: not ours
        }
        if (b->off != w->container_offset) {
            pin(b, CS_ELFCUT_INSIDE);
            continue;
        }
        b->wrapper_count++;
        if (!storage_writable(cut, w)) {
            pin(b, CS_ELFCUT_STORAGE);
        }
    }
    for (size_t i = 0; i < cut->blocks.count; i++) {
        if (cut->blocks.ptr[i].wrapper_count == 0) {
            pin(&cut->blocks.ptr[i], CS_ELFCUT_NO_WRAPPER);
        }
    }
}

// Is this file offset the pointer field of a wrapper?
static bool is_wrapper_field(const struct cs_elfcut *cut, uint64_t off) {
    size_t low = 0;
    size_t high = cut->wrappers.items.count;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (cut->wrappers.items.ptr[mid].offset + POINTER_AT <= off) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low > 0 && cut->wrappers.items.ptr[low - 1].offset + POINTER_AT == off;
}

// What a dynamic relocation will point to, where that can be told.
static bool dynamic_target(const struct cs_elfreloc_tables *t, const struct cs_elfreloc *r,
                           uint64_t *target) {
    uint64_t off;
    struct cs_elf_symbol sym = {0};
    *target = r->addend;
    if (r->form != CS_ELFRELOC_RELA) {
        if (!cs_elf_vaddr_to_off(t->elf, r->place, &off)) {
            return false;
        }
        *target = cs_u64(t->elf->file, off);
    }
    if (r->kind == CS_ELFRELOC_RELATIVE) {
        return true;
    }
    if (r->symbol == 0) {
        return r->kind == CS_ELFRELOC_OTHER;  // an addend alone (IRELATIVE, ...) may be an address
    }
    if (!cs_elfreloc_symbol(t, r, &sym) || sym.shndx == SHN_UNDEF) {
        return false;
    }
    *target += sym.value;
    return true;
}

// A linked file that kept its objects' relocations (--emit-relocs, for a post-link optimiser) would
// have to be edited in those too.
static bool keeps_relocations(const struct cs_elf *elf) {
    for (uint32_t i = 1; i < elf->shnum; i++) {
        const struct cs_elf_section s = cs_elf_section(elf, i);
        if ((s.type == SHT_RELA || s.type == SHT_REL) && !(s.flags & SHF_ALLOC) && s.size > 0) {
            return true;
        }
    }
    return false;
}

static enum cs_code refer_from_dynamic(struct cs_elfcut *cut, struct cs_err *err) {
    if (keeps_relocations(&cut->elf)) {
        return cs_fail(err, CS_UNSUPPORTED, "linked with --emit-relocs");
    }
    struct cs_elfreloc_tables t;
    CS_TRY(cs_elfreloc_open_dynamic(&cut->elf, &t, err));
    if (t.unknown_packing) {
        return cs_fail(err, CS_UNSUPPORTED, "relocations in a packing that is not read");
    }
    struct cs_elfreloc_iter it = cs_elfreloc_iter(&t);
    struct cs_elfreloc r;
    while (cs_elfreloc_next(&it, &r)) {
        uint64_t target, place;
        struct cs_elfcut_section *d = NULL;
        if (dynamic_target(&t, &r, &target)) {
            d = section_at(cut, target);
        }
        if (!d || (cs_elf_vaddr_to_off(&cut->elf, r.place, &place) &&
                   is_wrapper_field(cut, place))) {
            continue;
        }
        refer(cut, d, d->off + (target - d->addr), CS_ELFCUT_RELOCATION);
    }
    return CS_OK;
}

static void refer_from_table(struct cs_elfcut *cut, const struct cs_elfreloc_tables *t,
                             const struct cs_elf_section *target) {
    struct cs_elfreloc_iter it = cs_elfreloc_iter(t);
    struct cs_elfreloc r;
    while (cs_elfreloc_next(&it, &r)) {
        struct cs_elf_symbol sym;
        if (!cs_elfreloc_symbol(t, &r, &sym)) {
            continue;
        }
        struct cs_elfcut_section *d = cs_cut_section_of(cut, sym.shndx);
        uint64_t field;
        if (!d || (cs_add_u64(target->off, r.place, &field) && is_wrapper_field(cut, field))) {
            continue;
        }
        const uint64_t value = sym.value + r.addend;
        if (value < d->size && r.kind == CS_ELFRELOC_ABS64) {
            refer(cut, d, d->off + value, CS_ELFCUT_RELOCATION);
        } else {
            // A pc-relative addend is not the target itself; what it means is not worked out here.
            d->locked = true;
        }
    }
}

static enum cs_code refer_from_object(struct cs_elfcut *cut, struct cs_err *err) {
    for (uint32_t i = 1; i < cut->elf.shnum; i++) {
        const struct cs_elf_section s = cs_elf_section(&cut->elf, i);
        if ((s.type != SHT_RELA && s.type != SHT_REL) || s.info >= cut->elf.shnum) {
            continue;
        }
        const struct cs_elf_section target = cs_elf_section(&cut->elf, s.info);
        struct cs_elfreloc_tables t;
        CS_TRY(cs_elfreloc_open_section(&cut->elf, &s, &t, err));
        refer_from_table(cut, &t, &target);
    }
    return CS_OK;
}

// Names that compilers give to containers and that no code refers to; `$d` marks data on aarch64.
static bool harmless_local(struct cs_str name) {
    return cs_str_eq(name, CS_STR("fatbinData")) || cs_str_starts(name, CS_STR("$")) ||
           cs_str_starts(name, CS_STR(".L"));
}

// Ends of the image as linkers define them; they may fall on a device section at the file's end.
static bool image_end(struct cs_str name) {
    static const char *const names[] = {"_end", "end", "_edata", "edata", "_etext", "etext",
                                        "__etext", "__bss_start", "__end__"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (cs_str_eq(name, cs_str_from(names[i]))) {
            return true;
        }
    }
    return false;
}

static void refer_from_symbol(struct cs_elfcut *cut, const struct cs_elf_section *table,
                              const struct cs_elf_symbol *sym) {
    struct cs_elfcut_section *d = cs_cut_section_of(cut, sym->shndx);
    if (!d || sym->type == STT_SECTION) {
        return;
    }
    const uint64_t base = cut->work->object ? 0 : d->addr;
    const uint64_t off = d->off + (sym->value - base);
    const bool inside = sym->value >= base && sym->value - base < d->size;
    const struct cs_elfcut_block *b = inside ? cs_cut_block_of(cut, off) : NULL;
    const bool at_start = b && b->off == off;
    // In an object file every use of a symbol is a relocation, and those were seen already.
    if (at_start && cut->work->object) {
        return;
    }
    const struct cs_str name = cs_elf_symbol_name(&cut->elf, table, sym);
    const bool local = sym->bind == STB_LOCAL && table->type == SHT_SYMTAB;
    if ((local && harmless_local(name)) || image_end(name)) {
        return;
    }
    refer(cut, d, inside ? off : d->off + d->size, CS_ELFCUT_SYMBOL);
}

static void refer_from_symbols(struct cs_elfcut *cut) {
    for (uint32_t i = 1; i < cut->elf.shnum; i++) {
        const struct cs_elf_section s = cs_elf_section(&cut->elf, i);
        const uint32_t count = cs_elf_symbol_count(&cut->elf, &s);
        for (uint32_t k = 1; k < count; k++) {
            const struct cs_elf_symbol sym = cs_elf_symbol(&cut->elf, &s, k);
            if (sym.shndx != SHN_UNDEF) {
                refer_from_symbol(cut, &s, &sym);
            }
        }
    }
}

enum cs_code cs_cut_survey_references(struct cs_elfcut *cut, struct cs_err *err) {
    refer_from_wrappers(cut);
    refer_from_symbols(cut);
    return cut->work->object ? refer_from_object(cut, err) : refer_from_dynamic(cut, err);
}
