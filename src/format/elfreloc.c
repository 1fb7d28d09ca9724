// ELF relocations: finds the tables through PT_DYNAMIC (as the loader does, so that files without
// section headers work) or through one section, and walks them without allocating.
// Spec: see elfreloc.h.  RELR: an even word is an address; an odd word is a bitmap whose bits 1..63
// stand for the 63 words that follow the last address or bitmap.
#include "format/elfreloc.h"

#include <stddef.h>

#include "base/limits.h"
#include "base/num.h"

enum {
    RELA_BYTES = sizeof(Elf64_Rela),
    REL_BYTES = sizeof(Elf64_Rel),
    RELR_BYTES = 8,
    DYN_BYTES = sizeof(Elf64_Dyn),
    SYM_BYTES = sizeof(Elf64_Sym),
    RELR_BITS = 63,
};
enum { T_RELA, T_REL, T_RELR, T_PLT, T_COUNT };

// Tags newer than the system's elf.h.
enum { TAG_RELRSZ = 35, TAG_RELR = 36, TAG_CREL = 0x40000026 };
enum {
    TAG_ANDROID_REL = 0x6000000f,
    TAG_ANDROID_RELA = 0x60000011,
    TAG_ANDROID_RELR = 0x6fffe000,
};

static uint64_t entry_bytes(enum cs_elfreloc_form form) {
    switch (form) {
        case CS_ELFRELOC_RELA: return RELA_BYTES;
        case CS_ELFRELOC_REL: return REL_BYTES;
        case CS_ELFRELOC_RELR: break;
    }
    return RELR_BYTES;
}

struct dyn_table {
    uint64_t vaddr, size;
};

// What the dynamic section says; `jmprel_rela` from DT_PLTREL.
struct dyn_info {
    struct dyn_table t[T_COUNT];
    uint64_t symtab;
    uint64_t plt_form;
    bool unknown_packing;
};

static void read_tag(struct dyn_info *d, uint64_t tag, uint64_t value) {
    switch (tag) {
        case DT_RELA: d->t[T_RELA].vaddr = value; break;
        case DT_RELASZ: d->t[T_RELA].size = value; break;
        case DT_REL: d->t[T_REL].vaddr = value; break;
        case DT_RELSZ: d->t[T_REL].size = value; break;
        case TAG_RELR: d->t[T_RELR].vaddr = value; break;
        case TAG_RELRSZ: d->t[T_RELR].size = value; break;
        case DT_JMPREL: d->t[T_PLT].vaddr = value; break;
        case DT_PLTRELSZ: d->t[T_PLT].size = value; break;
        case DT_PLTREL: d->plt_form = value; break;
        case DT_SYMTAB: d->symtab = value; break;
        case TAG_CREL:
        case TAG_ANDROID_REL:
        case TAG_ANDROID_RELA:
        case TAG_ANDROID_RELR: d->unknown_packing = true; break;
        default: break;
    }
}

static enum cs_code read_dynamic(const struct cs_elf *elf, struct dyn_info *d, struct cs_err *err) {
    for (uint32_t i = 0; i < elf->phnum; i++) {
        const struct cs_elf_segment s = cs_elf_segment(elf, i);
        if (s.type != PT_DYNAMIC) {
            continue;
        }
        struct cs_view v;
        if (!cs_view_sub(elf->file, s.off, s.filesz, &v)) {
            return cs_fail_at(err, CS_FORMAT, s.off, "dynamic section leaves the file");
        }
        for (uint64_t at = 0; cs_view_has(v, at, DYN_BYTES); at += DYN_BYTES) {
            const uint64_t tag = cs_u64(v, at);
            if (tag == DT_NULL) {
                break;
            }
            read_tag(d, tag, cs_u64(v, at + offsetof(Elf64_Dyn, d_un)));
        }
        break;
    }
    return CS_OK;
}

enum cs_code cs_elfreloc_open_dynamic(const struct cs_elf *elf, struct cs_elfreloc_tables *out,
                                      struct cs_err *err) {
    *out = (struct cs_elfreloc_tables){.elf = elf};
    struct dyn_info d = {0};
    CS_TRY(read_dynamic(elf, &d, err));
    out->unknown_packing = d.unknown_packing;
    out->form[T_RELA] = CS_ELFRELOC_RELA;
    out->form[T_REL] = CS_ELFRELOC_REL;
    out->form[T_RELR] = CS_ELFRELOC_RELR;
    out->form[T_PLT] = d.plt_form == DT_REL ? CS_ELFRELOC_REL : CS_ELFRELOC_RELA;
    for (uint32_t i = 0; i < T_COUNT; i++) {
        uint64_t off = 0;
        if (d.t[i].size == 0) {
            continue;
        }
        if (!cs_elf_vaddr_to_off(elf, d.t[i].vaddr, &off) ||
            !cs_view_sub(elf->file, off, d.t[i].size, &out->table[i])) {
            return cs_fail_at(err, CS_FORMAT, off,
                              "dynamic relocations at address 0x%llx leave the file",
                              (unsigned long long)d.t[i].vaddr);
        }
        out->off[i] = off;
    }
    uint64_t symtab;
    if (d.symtab != 0 && cs_elf_vaddr_to_off(elf, d.symtab, &symtab)) {
        out->symtab_off = symtab;
    }
    return CS_OK;
}

enum cs_code cs_elfreloc_open_section(const struct cs_elf *elf, const struct cs_elf_section *s,
                                      struct cs_elfreloc_tables *out, struct cs_err *err) {
    *out = (struct cs_elfreloc_tables){.elf = elf};
    CS_ASSERT(s->type == SHT_RELA || s->type == SHT_REL);
    const uint32_t i = s->type == SHT_RELA ? T_RELA : T_REL;
    out->form[i] = s->type == SHT_RELA ? CS_ELFRELOC_RELA : CS_ELFRELOC_REL;
    if (!cs_elf_content(elf, s, &out->table[i])) {
        return cs_fail_at(err, CS_FORMAT, s->off, "relocation section %u leaves the file",
                          s->index);
    }
    out->off[i] = s->off;
    if (s->link != 0 && s->link < elf->shnum) {
        out->symtab = cs_elf_section(elf, s->link);
        out->symtab_off = out->symtab.off;
    }
    return CS_OK;
}

struct cs_elfreloc_iter cs_elfreloc_iter(const struct cs_elfreloc_tables *tables) {
    return (struct cs_elfreloc_iter){.tables = tables};
}

static enum cs_elfreloc_kind kind_of(uint16_t machine, uint32_t type) {
    if (machine == EM_X86_64) {
        return type == R_X86_64_RELATIVE ? CS_ELFRELOC_RELATIVE
               : type == R_X86_64_64     ? CS_ELFRELOC_ABS64
                                         : CS_ELFRELOC_OTHER;
    }
    if (machine == EM_AARCH64) {
        return type == R_AARCH64_RELATIVE ? CS_ELFRELOC_RELATIVE
               : type == R_AARCH64_ABS64  ? CS_ELFRELOC_ABS64
                                          : CS_ELFRELOC_OTHER;
    }
    return CS_ELFRELOC_OTHER;
}

static struct cs_elfreloc relr_at(uint64_t place, uint64_t entry_off) {
    return (struct cs_elfreloc){.form = CS_ELFRELOC_RELR,
                                .kind = CS_ELFRELOC_RELATIVE,
                                .place = place,
                                .entry_off = entry_off};
}

// Gives the next place of the RELR table; false at its end.  Places wrap modulo 2^64 in a broken
// file, which harms nobody: they are only compared.
static bool next_relr(struct cs_elfreloc_iter *it, struct cs_elfreloc *out) {
    const struct cs_view v = it->tables->table[it->table];
    for (;;) {
        if (it->bits != 0) {
            const int skip = __builtin_ctzll(it->bits);
            const uint64_t place = it->bit_place + (uint64_t)skip * RELR_BYTES;
            it->bits &= it->bits - 1;
            *out = relr_at(place, it->bits_off);
            return true;
        }
        if (!cs_view_has(v, it->pos, RELR_BYTES)) {
            return false;
        }
        const uint64_t word = cs_u64(v, it->pos);
        const uint64_t off = it->tables->off[it->table] + it->pos;
        it->pos += RELR_BYTES;
        if ((word & 1) == 0) {
            it->relr_base = word + RELR_BYTES;
            *out = relr_at(word, off);
            return true;
        }
        it->bits = word >> 1;
        it->bit_place = it->relr_base;
        it->bits_off = off;
        it->relr_base += (uint64_t)RELR_BITS * RELR_BYTES;
    }
}

static bool next_plain(struct cs_elfreloc_iter *it, struct cs_elfreloc *out) {
    const struct cs_elfreloc_tables *t = it->tables;
    const enum cs_elfreloc_form form = t->form[it->table];
    const struct cs_view v = t->table[it->table];
    if (!cs_view_has(v, it->pos, entry_bytes(form))) {
        return false;
    }
    const uint64_t info = cs_u64(v, it->pos + offsetof(Elf64_Rela, r_info));
    const uint32_t type = (uint32_t)ELF64_R_TYPE(info);
    *out = (struct cs_elfreloc){
        .form = form,
        .kind = kind_of(t->elf->machine, type),
        .place = cs_u64(v, it->pos + offsetof(Elf64_Rela, r_offset)),
        .entry_off = t->off[it->table] + it->pos,
        .type = type,
        .symbol = (uint32_t)ELF64_R_SYM(info),
        .addend = form == CS_ELFRELOC_RELA ? cs_u64(v, it->pos + offsetof(Elf64_Rela, r_addend))
                                           : 0,
    };
    it->pos += entry_bytes(form);
    return true;
}

bool cs_elfreloc_next(struct cs_elfreloc_iter *it, struct cs_elfreloc *out) {
    while (it->table < T_COUNT) {
        const bool relr = it->tables->form[it->table] == CS_ELFRELOC_RELR;
        if (relr ? next_relr(it, out) : next_plain(it, out)) {
            return true;
        }
        it->table++;
        it->pos = 0;
        it->bits = 0;
        it->relr_base = 0;
    }
    return false;
}

bool cs_elfreloc_symbol(const struct cs_elfreloc_tables *tables, const struct cs_elfreloc *r,
                        struct cs_elf_symbol *out) {
    if (r->symbol == 0 || tables->symtab_off == 0) {
        return false;
    }
    if (tables->symtab.type != SHT_NULL) {
        if (r->symbol >= cs_elf_symbol_count(tables->elf, &tables->symtab)) {
            return false;
        }
        *out = cs_elf_symbol(tables->elf, &tables->symtab, r->symbol);
        return true;
    }
    // The dynamic section does not say how long its symbol table is; the file's end bounds it.
    struct cs_view v;
    uint64_t at;
    if (!cs_add_u64(tables->symtab_off, (uint64_t)r->symbol * SYM_BYTES, &at) ||
        !cs_view_sub(tables->elf->file, at, SYM_BYTES, &v)) {
        return false;
    }
    const uint8_t info = cs_u8(v, offsetof(Elf64_Sym, st_info));
    *out = (struct cs_elf_symbol){
        .index = r->symbol,
        .name_off = cs_u32(v, offsetof(Elf64_Sym, st_name)),
        .type = ELF64_ST_TYPE(info),
        .bind = ELF64_ST_BIND(info),
        .other = cs_u8(v, offsetof(Elf64_Sym, st_other)),
        .shndx = cs_u16(v, offsetof(Elf64_Sym, st_shndx)),
        .value = cs_u64(v, offsetof(Elf64_Sym, st_value)),
        .size = cs_u64(v, offsetof(Elf64_Sym, st_size)),
    };
    return true;
}
