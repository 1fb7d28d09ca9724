// ELF: reads the header, section, program header and symbol tables of 64-bit little-endian files.
//
// Spec: System V gABI chapters 4 and 5 (ELF header, sections, string table, symbol table, program
// header), with extended numbering: when a count or index does not fit its 16-bit field, section
// header 0 holds it.  cs_elf_open checks the extents of the tables once; afterwards every access is
// O(1) and reads through base/view.h, so that a hostile number can at worst give an empty answer.
// Links between sections (sh_link, sh_info) are followed one step only, never in a chain.
#include "format/elf.h"

#include <stddef.h>

#include "base/limits.h"
#include "base/num.h"

enum {
    EHDR_BYTES = sizeof(Elf64_Ehdr),
    SHDR_BYTES = sizeof(Elf64_Shdr),
    PHDR_BYTES = sizeof(Elf64_Phdr),
    SYM_BYTES = sizeof(Elf64_Sym),
    XINDEX_BYTES = 4,
};

bool cs_elf_probe(struct cs_view file) {
    return cs_view_has(file, 0, SELFMAG) && memcmp(file.ptr, ELFMAG, SELFMAG) == 0;
}

static enum cs_code check_ident(struct cs_view file, struct cs_err *err) {
    if (!cs_elf_probe(file)) {
        return cs_fail_at(err, CS_FORMAT, 0, "not an ELF file");
    }
    if (!cs_view_has(file, 0, EI_NIDENT)) {
        return cs_fail_at(err, CS_FORMAT, file.len, "ELF file ends inside its identification");
    }
    switch (file.ptr[EI_CLASS]) {
        case ELFCLASS64: break;
        case ELFCLASS32:
            return cs_fail_at(err, CS_UNSUPPORTED, EI_CLASS, "32-bit ELF file");
        default:
            return cs_fail_at(err, CS_FORMAT, EI_CLASS, "ELF class %u is unknown",
                              file.ptr[EI_CLASS]);
    }
    switch (file.ptr[EI_DATA]) {
        case ELFDATA2LSB: break;
        case ELFDATA2MSB:
            return cs_fail_at(err, CS_UNSUPPORTED, EI_DATA, "big-endian ELF file");
        default:
            return cs_fail_at(err, CS_FORMAT, EI_DATA, "ELF data encoding %u is unknown",
                              file.ptr[EI_DATA]);
    }
    if (!cs_view_has(file, 0, EHDR_BYTES)) {
        return cs_fail_at(err, CS_FORMAT, file.len, "ELF file ends inside its header");
    }
    return CS_OK;
}

// Checks that `count` table entries of `entry_bytes` at `off` lie in the file.
static enum cs_code check_table(struct cs_view file, const char *what, uint64_t off,
                                uint64_t count, uint64_t entry_bytes, uint64_t want_bytes,
                                struct cs_err *err) {
    if (entry_bytes != want_bytes) {
        return cs_fail_at(err, CS_FORMAT, off, "%s entries of %llu bytes, want %llu", what,
                          (unsigned long long)entry_bytes, (unsigned long long)want_bytes);
    }
    uint64_t bytes;
    if (!cs_mul_u64(count, entry_bytes, &bytes) || !cs_view_has(file, off, bytes)) {
        return cs_fail_at(err, CS_FORMAT, off, "%s table of %llu entries leaves the file", what,
                          (unsigned long long)count);
    }
    return CS_OK;
}

// Fills shoff, shnum and shstrndx, resolving extended numbering.
static enum cs_code open_sections(struct cs_elf *elf, struct cs_err *err) {
    const struct cs_view file = elf->file;
    elf->shoff = cs_u64(file, offsetof(Elf64_Ehdr, e_shoff));
    const uint16_t entry_bytes = cs_u16(file, offsetof(Elf64_Ehdr, e_shentsize));
    uint64_t count = cs_u16(file, offsetof(Elf64_Ehdr, e_shnum));
    uint32_t names = cs_u16(file, offsetof(Elf64_Ehdr, e_shstrndx));
    if (elf->shoff == 0) {
        if (count != 0) {
            return cs_fail_at(err, CS_FORMAT, offsetof(Elf64_Ehdr, e_shoff),
                              "%llu sections but no section header table",
                              (unsigned long long)count);
        }
        return CS_OK;
    }
    if (count == 0 || names == SHN_XINDEX) {
        CS_TRY(check_table(file, "section header", elf->shoff, 1, entry_bytes, SHDR_BYTES, err));
        const struct cs_view zero = cs_view_at(file, elf->shoff, SHDR_BYTES);
        count = count ? count : cs_u64(zero, offsetof(Elf64_Shdr, sh_size));
        names = names == SHN_XINDEX ? cs_u32(zero, offsetof(Elf64_Shdr, sh_link)) : names;
    }
    if (count > CS_MAX_ELF_SECTIONS) {
        return cs_fail_at(err, CS_LIMIT, elf->shoff, "%llu sections, at most %d are read",
                          (unsigned long long)count, CS_MAX_ELF_SECTIONS);
    }
    CS_TRY(check_table(file, "section header", elf->shoff, count, entry_bytes, SHDR_BYTES, err));
    elf->shnum = (uint32_t)count;
    if (names >= elf->shnum && names != SHN_UNDEF) {
        return cs_fail_at(err, CS_FORMAT, offsetof(Elf64_Ehdr, e_shstrndx),
                          "section names are in section %u of %u", names, elf->shnum);
    }
    elf->shstrndx = names;
    if (names != SHN_UNDEF) {
        const struct cs_elf_section s = cs_elf_section(elf, names);
        if (!cs_elf_content(elf, &s, &elf->shstrtab)) {
            return cs_fail_at(err, CS_FORMAT, s.off, "section name table leaves the file");
        }
    }
    return CS_OK;
}

static enum cs_code open_segments(struct cs_elf *elf, struct cs_err *err) {
    const struct cs_view file = elf->file;
    elf->phoff = cs_u64(file, offsetof(Elf64_Ehdr, e_phoff));
    const uint16_t entry_bytes = cs_u16(file, offsetof(Elf64_Ehdr, e_phentsize));
    uint32_t count = cs_u16(file, offsetof(Elf64_Ehdr, e_phnum));
    if (count == PN_XNUM) {
        if (elf->shnum == 0) {
            return cs_fail_at(err, CS_FORMAT, offsetof(Elf64_Ehdr, e_phnum),
                              "extended program header count without section header 0");
        }
        count = cs_elf_section(elf, 0).info;
    }
    if (count == 0) {
        return CS_OK;
    }
    if (count > CS_MAX_ELF_SEGMENTS) {
        return cs_fail_at(err, CS_LIMIT, elf->phoff, "%u program headers, at most %d are read",
                          count, CS_MAX_ELF_SEGMENTS);
    }
    CS_TRY(check_table(file, "program header", elf->phoff, count, entry_bytes, PHDR_BYTES, err));
    elf->phnum = count;
    return CS_OK;
}

// Notes where the extended section indices of symbol tables are, so that a symbol is read in O(1).
static void find_xindex(struct cs_elf *elf) {
    for (uint32_t i = 1; i < elf->shnum && elf->xindex_count < CS_ELF_XINDEX_TABLES; i++) {
        const uint64_t at = elf->shoff + (uint64_t)i * SHDR_BYTES;
        if (cs_u32(elf->file, at + offsetof(Elf64_Shdr, sh_type)) != SHT_SYMTAB_SHNDX) {
            continue;
        }
        const struct cs_elf_section s = cs_elf_section(elf, i);
        struct cs_view v;
        if (cs_elf_content(elf, &s, &v)) {
            elf->xindex[elf->xindex_count++] = (struct cs_elf_xindex){s.link, v};
        }
    }
}

enum cs_code cs_elf_open(struct cs_view file, struct cs_elf *out, struct cs_err *err) {
    *out = (struct cs_elf){0};
    CS_TRY(check_ident(file, err));
    struct cs_elf elf = {
        .file = file,
        .osabi = file.ptr[EI_OSABI],
        .abi_version = file.ptr[EI_ABIVERSION],
        .type = cs_u16(file, offsetof(Elf64_Ehdr, e_type)),
        .machine = cs_u16(file, offsetof(Elf64_Ehdr, e_machine)),
        .version = cs_u32(file, offsetof(Elf64_Ehdr, e_version)),
        .entry = cs_u64(file, offsetof(Elf64_Ehdr, e_entry)),
        .flags = cs_u32(file, offsetof(Elf64_Ehdr, e_flags)),
    };
    CS_TRY(open_sections(&elf, err));
    CS_TRY(open_segments(&elf, err));
    find_xindex(&elf);
    *out = elf;
    return CS_OK;
}

struct cs_elf_section cs_elf_section(const struct cs_elf *elf, uint32_t index) {
    CS_ASSERT(index < elf->shnum);
    const struct cs_view v =
        cs_view_at(elf->file, elf->shoff + (uint64_t)index * SHDR_BYTES, SHDR_BYTES);
    return (struct cs_elf_section){
        .index = index,
        .name_off = cs_u32(v, offsetof(Elf64_Shdr, sh_name)),
        .type = cs_u32(v, offsetof(Elf64_Shdr, sh_type)),
        .flags = cs_u64(v, offsetof(Elf64_Shdr, sh_flags)),
        .addr = cs_u64(v, offsetof(Elf64_Shdr, sh_addr)),
        .off = cs_u64(v, offsetof(Elf64_Shdr, sh_offset)),
        .size = cs_u64(v, offsetof(Elf64_Shdr, sh_size)),
        .link = cs_u32(v, offsetof(Elf64_Shdr, sh_link)),
        .info = cs_u32(v, offsetof(Elf64_Shdr, sh_info)),
        .align = cs_u64(v, offsetof(Elf64_Shdr, sh_addralign)),
        .entsize = cs_u64(v, offsetof(Elf64_Shdr, sh_entsize)),
    };
}

struct cs_elf_segment cs_elf_segment(const struct cs_elf *elf, uint32_t index) {
    CS_ASSERT(index < elf->phnum);
    const struct cs_view v =
        cs_view_at(elf->file, elf->phoff + (uint64_t)index * PHDR_BYTES, PHDR_BYTES);
    return (struct cs_elf_segment){
        .index = index,
        .type = cs_u32(v, offsetof(Elf64_Phdr, p_type)),
        .flags = cs_u32(v, offsetof(Elf64_Phdr, p_flags)),
        .off = cs_u64(v, offsetof(Elf64_Phdr, p_offset)),
        .vaddr = cs_u64(v, offsetof(Elf64_Phdr, p_vaddr)),
        .paddr = cs_u64(v, offsetof(Elf64_Phdr, p_paddr)),
        .filesz = cs_u64(v, offsetof(Elf64_Phdr, p_filesz)),
        .memsz = cs_u64(v, offsetof(Elf64_Phdr, p_memsz)),
        .align = cs_u64(v, offsetof(Elf64_Phdr, p_align)),
    };
}

struct cs_str cs_elf_section_name(const struct cs_elf *elf, const struct cs_elf_section *s) {
    return cs_cstr(elf->shstrtab, s->name_off, CS_MAX_NAME_BYTES, NULL);
}

bool cs_elf_content(const struct cs_elf *elf, const struct cs_elf_section *s, struct cs_view *out) {
    if (s->type == SHT_NOBITS || s->type == SHT_NULL || s->size == 0) {
        *out = cs_view_of(NULL, 0);
        return true;
    }
    return cs_view_sub(elf->file, s->off, s->size, out);
}

bool cs_elf_find(const struct cs_elf *elf, const char *name, struct cs_elf_section *out) {
    const size_t with_nul = strlen(name) + 1;
    for (uint32_t i = 1; i < elf->shnum; i++) {
        const uint32_t at = cs_u32(elf->file, elf->shoff + (uint64_t)i * SHDR_BYTES);
        struct cs_view text;
        // Compares with the NUL, so that a long name costs no more than the wanted one.
        if (cs_view_sub(elf->shstrtab, at, with_nul, &text) &&
            memcmp(text.ptr, name, with_nul) == 0) {
            *out = cs_elf_section(elf, i);
            return true;
        }
    }
    return false;
}

uint32_t cs_elf_symbol_count(const struct cs_elf *elf, const struct cs_elf_section *table) {
    struct cs_view v;
    if ((table->type != SHT_SYMTAB && table->type != SHT_DYNSYM) || table->entsize != SYM_BYTES ||
        !cs_elf_content(elf, table, &v)) {
        return 0;
    }
    return (uint32_t)cs_min_u64(v.len / SYM_BYTES, UINT32_MAX);
}

static uint32_t symbol_section(const struct cs_elf *elf, uint32_t table, uint32_t index,
                               uint32_t shndx) {
    for (uint32_t i = 0; shndx == SHN_XINDEX && i < elf->xindex_count; i++) {
        if (elf->xindex[i].table == table) {
            return cs_u32(elf->xindex[i].indices, (uint64_t)index * XINDEX_BYTES);
        }
    }
    return shndx;
}

struct cs_elf_symbol cs_elf_symbol(const struct cs_elf *elf, const struct cs_elf_section *table,
                                   uint32_t index) {
    CS_ASSERT(index < cs_elf_symbol_count(elf, table));
    const struct cs_view v =
        cs_view_at(elf->file, table->off + (uint64_t)index * SYM_BYTES, SYM_BYTES);
    const uint8_t info = cs_u8(v, offsetof(Elf64_Sym, st_info));
    const uint16_t shndx = cs_u16(v, offsetof(Elf64_Sym, st_shndx));
    return (struct cs_elf_symbol){
        .index = index,
        .name_off = cs_u32(v, offsetof(Elf64_Sym, st_name)),
        .type = ELF64_ST_TYPE(info),
        .bind = ELF64_ST_BIND(info),
        .other = cs_u8(v, offsetof(Elf64_Sym, st_other)),
        .shndx = symbol_section(elf, table->index, index, shndx),
        .value = cs_u64(v, offsetof(Elf64_Sym, st_value)),
        .size = cs_u64(v, offsetof(Elf64_Sym, st_size)),
    };
}

struct cs_str cs_elf_symbol_name(const struct cs_elf *elf, const struct cs_elf_section *table,
                                 const struct cs_elf_symbol *sym) {
    struct cs_view strings = {0};
    if (table->link < elf->shnum) {
        const struct cs_elf_section s = cs_elf_section(elf, table->link);
        if (s.type != SHT_STRTAB || !cs_elf_content(elf, &s, &strings)) {
            strings = (struct cs_view){0};
        }
    }
    return cs_cstr(strings, sym->name_off, CS_MAX_NAME_BYTES, NULL);
}

bool cs_elf_vaddr_to_off(const struct cs_elf *elf, uint64_t vaddr, uint64_t *off) {
    for (uint32_t i = 0; i < elf->phnum; i++) {
        const struct cs_elf_segment s = cs_elf_segment(elf, i);
        if (s.type == PT_LOAD && vaddr >= s.vaddr && vaddr - s.vaddr < s.filesz) {
            uint64_t at;
            if (cs_add_u64(s.off, vaddr - s.vaddr, &at) && at < elf->file.len) {
                *off = at;
                return true;
            }
        }
    }
    return false;
}

bool cs_elf_off_to_vaddr(const struct cs_elf *elf, uint64_t off, uint64_t *vaddr) {
    for (uint32_t i = 0; i < elf->phnum; i++) {
        const struct cs_elf_segment s = cs_elf_segment(elf, i);
        if (s.type == PT_LOAD && off >= s.off && off - s.off < s.filesz &&
            cs_add_u64(s.vaddr, off - s.off, vaddr)) {
            return true;
        }
    }
    return false;
}
