// Elfcut, pointers: every field that holds the address of a moved container gets the new one.
//
// Which fields exist depends on the linker (cs_wrapper in model/wrappers.h): the addend of a RELA
// entry, the value in place, or both.  Symbols that name a moved container follow it, in .symtab
// (where cuslim itself and debuggers find the source file of a container by it).
#include <stddef.h>

#include "base/num.h"
#include "format/elfreloc.h"
#include "rewrite/elfcut_work.h"

enum { POINTER_AT = 8 };

static enum cs_code add_patch(struct cs_elfcut *cut, uint64_t off, uint64_t value,
                              struct cs_err *err) {
    if (cs_u64(cut->elf.file, off) == value) {
        return CS_OK;
    }
    struct cs_cut_patch *p = cs_vec_push(&cut->work->patches);
    if (!p) {
        return cs_fail(err, CS_NOMEM, "no memory for pointers");
    }
    *p = (struct cs_cut_patch){off, value};
    return CS_OK;
}

// Address of a block in its new place; in object files the offset in its section.
static uint64_t new_address(const struct cs_elfcut *cut, const struct cs_elfcut_block *b) {
    return b->at + cs_cut_base(cut, &cut->sections.ptr[b->section]);
}

// The value that the symbol of an object file's relocation will have.
static uint64_t new_symbol_value(const struct cs_elfcut *cut, const struct cs_elf_symbol *sym) {
    const struct cs_elfcut_section *d = cs_cut_section_of(cut, sym->shndx);
    const struct cs_elfcut_block *b =
        d && sym->type != STT_SECTION ? cs_cut_block_of(cut, d->off + sym->value) : NULL;
    return b && b->off == d->off + sym->value ? b->at : sym->value;
}

// In an object file the linker adds symbol and addend; the symbol may have moved along.
static enum cs_code fix_object_wrapper(struct cs_elfcut *cut, const struct cs_wrapper *w,
                                       const struct cs_elfcut_block *b,
                                       const struct cs_elf_section *symtab, struct cs_err *err) {
    if (w->symbol >= cs_elf_symbol_count(&cut->elf, symtab)) {
        return cs_fail_at(err, CS_FORMAT, w->reloc_offset, "relocation without its symbol");
    }
    const struct cs_elf_symbol sym = cs_elf_symbol(&cut->elf, symtab, w->symbol);
    return add_patch(cut, w->reloc_offset + offsetof(Elf64_Rela, r_addend),
                     new_address(cut, b) - new_symbol_value(cut, &sym), err);
}

static enum cs_code fix_wrapper(struct cs_elfcut *cut, const struct cs_wrapper *w,
                                const struct cs_elf_section *symtab, struct cs_err *err) {
    const struct cs_elfcut_block *b = w->container_offset == CS_NO_OFFSET
                                          ? NULL
                                          : cs_cut_block_of(cut, w->container_offset);
    if (!b || b->off != w->container_offset || cs_cut_fixed(b)) {
        return CS_OK;
    }
    switch (w->storage) {
        case CS_WRAPPER_BY_RELA:
            CS_TRY(add_patch(cut, w->reloc_offset + offsetof(Elf64_Rela, r_addend),
                             new_address(cut, b), err));
            return w->in_place ? add_patch(cut, w->offset + POINTER_AT, new_address(cut, b), err)
                               : CS_OK;
        case CS_WRAPPER_IN_MEMORY:
        case CS_WRAPPER_BY_REL:
            return add_patch(cut, w->offset + POINTER_AT, new_address(cut, b), err);
        case CS_WRAPPER_BY_SYMBOL: return fix_object_wrapper(cut, w, b, symtab, err);
        case CS_WRAPPER_UNKNOWN: break;
    }
    return cs_fail_at(err, CS_INTERNAL, w->offset, "container moved under a fixed pointer");
}

// The symbol table that an object file's relocations use.
static struct cs_elf_section object_symtab(const struct cs_elf *elf) {
    for (uint32_t i = 1; i < elf->shnum; i++) {
        const struct cs_elf_section s = cs_elf_section(elf, i);
        if (s.type == SHT_SYMTAB) {
            return s;
        }
    }
    return (struct cs_elf_section){0};
}

static enum cs_code fix_symbol(struct cs_elfcut *cut, const struct cs_elf_section *table,
                               const struct cs_elf_symbol *sym, struct cs_err *err) {
    const struct cs_elfcut_section *d = cs_cut_section_of(cut, sym->shndx);
    if (!d || !d->changed) {
        return CS_OK;
    }
    const uint64_t entry = table->off + (uint64_t)sym->index * sizeof(Elf64_Sym);
    const uint64_t base = cut->work->object ? 0 : d->addr;
    if (sym->type == STT_SECTION) {
        return sym->value == base ? add_patch(cut, entry + offsetof(Elf64_Sym, st_value),
                                              cs_cut_base(cut, d) + d->new_start, err)
                                  : CS_OK;
    }
    const struct cs_elfcut_block *b =
        sym->value >= base && sym->value - base < d->size
            ? cs_cut_block_of(cut, d->off + (sym->value - base))
            : NULL;
    if (!b || b->off != d->off + (sym->value - base)) {
        return CS_OK;
    }
    if (sym->size == b->bytes) {
        CS_TRY(add_patch(cut, entry + offsetof(Elf64_Sym, st_size), cs_cut_block_bytes(b), err));
    }
    return add_patch(cut, entry + offsetof(Elf64_Sym, st_value), new_address(cut, b), err);
}

static enum cs_code fix_symbols(struct cs_elfcut *cut, struct cs_err *err) {
    for (uint32_t i = 1; i < cut->elf.shnum; i++) {
        const struct cs_elf_section s = cs_elf_section(&cut->elf, i);
        const uint32_t count = cs_elf_symbol_count(&cut->elf, &s);
        for (uint32_t k = 1; k < count; k++) {
            const struct cs_elf_symbol sym = cs_elf_symbol(&cut->elf, &s, k);
            if (sym.shndx != SHN_UNDEF) {
                CS_TRY(fix_symbol(cut, &s, &sym, err));
            }
        }
    }
    return CS_OK;
}

enum cs_code cs_cut_fix_pointers(struct cs_elfcut *cut, struct cs_err *err) {
    const struct cs_elf_section symtab = object_symtab(&cut->elf);
    for (size_t i = 0; i < cut->wrappers.items.count; i++) {
        CS_TRY(fix_wrapper(cut, &cut->wrappers.items.ptr[i], &symtab, err));
    }
    cut->result.patched_pointers = (uint32_t)cut->work->patches.count;
    CS_TRY(fix_symbols(cut, err));
    for (size_t i = 0; i < cut->blocks.count; i++) {
        const struct cs_elfcut_block *b = &cut->blocks.ptr[i];
        cut->result.moved_containers +=
            cut->sections.ptr[b->section].relocated || cs_cut_block_pos(cut, b) != b->off;
    }
    return CS_OK;
}
