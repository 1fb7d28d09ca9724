// ELF64 builder for tests (System V gABI chapters 4 and 5; extended section numbering included).
#include "build/mk_elf.h"

#include "base/mem.h"
#include "base/num.h"

enum { EHDR = 64, SHDR = 64, PHDR = 56, SYM = 24, SECTION_MAX = 1 << 28 };

void cs_mk_elf_init(struct cs_mk_elf *e, uint16_t type, uint16_t machine) {
    *e = (struct cs_mk_elf){.type = type, .machine = machine, .version = 1};
    cs_arena_init(&e->arena);
    CS_ASSERT(cs_vec_push(&e->sections) != NULL);  // the null section
    cs_buf_init(&e->sections.ptr[0].data, SECTION_MAX);
}

void cs_mk_elf_shstrtab(struct cs_mk_elf *e) {
    e->shstrtab = cs_mk_elf_section(e, ".shstrtab", SHT_STRTAB, 0, 1);
}

void cs_mk_elf_fini(struct cs_mk_elf *e) {
    for (size_t i = 0; i < e->sections.count; i++) {
        cs_buf_fini(&e->sections.ptr[i].data);
    }
    cs_vec_fini(&e->sections);
    cs_vec_fini(&e->segments);
    cs_arena_fini(&e->arena);
}

uint32_t cs_mk_elf_section(struct cs_mk_elf *e, const char *name, uint32_t type, uint64_t flags,
                           uint64_t align) {
    struct cs_mk_section *s = cs_vec_push(&e->sections);
    CS_ASSERT(s != NULL);
    s->name = cs_arena_str(&e->arena, cs_str_from(name));
    CS_ASSERT(s->name.ptr != NULL);
    s->type = type;
    s->flags = flags;
    s->align = align;
    cs_buf_init(&s->data, SECTION_MAX);
    return (uint32_t)(e->sections.count - 1);
}

struct cs_mk_section *cs_mk_elf_at(struct cs_mk_elf *e, uint32_t index) {
    CS_ASSERT(index < e->sections.count);
    return &e->sections.ptr[index];
}

void cs_mk_elf_symtab(struct cs_mk_elf *e) {
    e->strtab = cs_mk_elf_section(e, ".strtab", SHT_STRTAB, 0, 1);
    e->symtab = cs_mk_elf_section(e, ".symtab", SHT_SYMTAB, 0, 8);
    cs_buf_addc(&cs_mk_elf_at(e, e->strtab)->data, '\0');
    struct cs_mk_section *s = cs_mk_elf_at(e, e->symtab);
    s->link = e->strtab;
    s->entsize = SYM;
    cs_buf_pad(&s->data, '\0', SYM);
    e->local_symbols = 1;
}

uint32_t cs_mk_elf_symbol(struct cs_mk_elf *e, const char *name, uint8_t info, uint8_t other,
                          uint32_t shndx, uint64_t value, uint64_t size) {
    CS_ASSERT(e->symtab != 0);
    struct cs_buf *names = &cs_mk_elf_at(e, e->strtab)->data;
    struct cs_buf *table = &cs_mk_elf_at(e, e->symtab)->data;
    const uint32_t index = (uint32_t)(table->len / SYM);
    cs_buf_u32(table, *name ? (uint32_t)names->len : 0);
    cs_buf_addc(table, (char)info);
    cs_buf_addc(table, (char)other);
    cs_buf_u16(table, shndx >= SHN_LORESERVE && shndx < SHN_ABS ? SHN_XINDEX : (uint16_t)shndx);
    cs_buf_u64(table, value);
    cs_buf_u64(table, size);
    if (*name) {
        cs_buf_add(names, name, strlen(name) + 1);
    }
    if (ELF64_ST_BIND(info) == STB_LOCAL) {
        CS_ASSERT(e->local_symbols == index);
        e->local_symbols = index + 1;
    }
    return index;
}

void cs_mk_elf_segment(struct cs_mk_elf *e, struct cs_mk_segment segment) {
    struct cs_mk_segment *s = cs_vec_push(&e->segments);
    CS_ASSERT(s != NULL);
    *s = segment;
}

static uint64_t align_up(uint64_t x, uint64_t align) {
    uint64_t r = x;
    CS_ASSERT(align < 2 || cs_align_up_u64(x, align, &r));
    return r;
}

static uint64_t section_bytes(const struct cs_mk_elf *e, const struct cs_mk_section *s) {
    if (s->alias) {
        return e->sections.ptr[s->alias].data.len;
    }
    return s->nobits_bytes ? s->nobits_bytes : s->data.len;
}

// Section names, once; called by the layout when all sections are known.
static void fill_shstrtab(struct cs_mk_elf *e) {
    if (e->shstrtab == 0) {
        cs_mk_elf_shstrtab(e);
    }
    struct cs_buf *names = &cs_mk_elf_at(e, e->shstrtab)->data;
    cs_buf_clear(names);
    cs_buf_addc(names, '\0');
    for (size_t i = 1; i < e->sections.count; i++) {
        cs_buf_add(names, e->sections.ptr[i].name.ptr, e->sections.ptr[i].name.len + 1);
    }
}

// The first section of a PT_LOAD starts a new page for its address; the file stays dense.
static bool starts_load(const struct cs_mk_elf *e, uint32_t index) {
    for (size_t i = 0; i < e->segments.count; i++) {
        const struct cs_mk_segment *g = &e->segments.ptr[i];
        if (g->type == PT_LOAD && !g->with_headers && g->first == index) {
            return true;
        }
    }
    return false;
}

void cs_mk_elf_layout(struct cs_mk_elf *e) {
    fill_shstrtab(e);
    uint64_t off = EHDR;
    if (e->phoff_mode == CS_MK_PHDRS_FRONT) {
        off += e->segments.count * PHDR;
    }
    uint64_t delta = 0;  // addr - off of the current segment
    for (uint32_t i = 1; i < e->sections.count; i++) {
        struct cs_mk_section *s = &e->sections.ptr[i];
        if (s->alias) {
            s->off = e->sections.ptr[s->alias].off;
            continue;
        }
        off = align_up(off + s->gap_before, s->align);
        s->off = off;
        if (e->congruent && (s->flags & SHF_ALLOC)) {
            delta += starts_load(e, i) ? e->page : 0;
            s->addr = off + delta;
            delta += s->type == SHT_NOBITS ? align_up(s->nobits_bytes, e->page) : 0;
        }
        off += s->type == SHT_NOBITS ? 0 : s->data.len;
    }
}

static void write_section_headers(struct cs_mk_elf *e, struct cs_buf *out) {
    const uint64_t count = e->sections.count;
    const struct cs_buf *names = &cs_mk_elf_at(e, e->shstrtab)->data;
    uint32_t name_off = 1;
    for (size_t i = 0; i < count; i++) {
        const struct cs_mk_section *s = &e->sections.ptr[i];
        const bool null = i == 0;
        cs_buf_u32(out, null ? 0 : name_off);
        cs_buf_u32(out, s->type);
        cs_buf_u64(out, s->flags);
        cs_buf_u64(out, s->addr);
        cs_buf_u64(out, s->off);
        cs_buf_u64(out, null && count >= SHN_LORESERVE ? count : section_bytes(e, s));
        cs_buf_u32(out, null && e->shstrtab >= SHN_LORESERVE ? e->shstrtab : s->link);
        cs_buf_u32(out, i == e->symtab && i ? e->local_symbols : s->info);
        cs_buf_u64(out, s->align);
        cs_buf_u64(out, s->entsize);
        name_off += null ? 0 : (uint32_t)s->name.len + 1;
    }
    CS_ASSERT(name_off == names->len);
}

static void write_segment(struct cs_mk_elf *e, struct cs_buf *out, const struct cs_mk_segment *g,
                          uint64_t phoff) {
    uint64_t off = 0, addr = 0, filesz = 0, memsz = 0;
    if (g->first == 0 && !g->with_headers && g->type != PT_GNU_STACK) {  // the table itself
        off = phoff;
        addr = e->phoff_mode == CS_MK_PHDRS_FRONT ? phoff : 0;
        filesz = memsz = e->segments.count * PHDR;
    } else if (g->type != PT_GNU_STACK) {
        const struct cs_mk_section *first = cs_mk_elf_at(e, g->first);
        const struct cs_mk_section *last = cs_mk_elf_at(e, g->last);
        off = g->with_headers ? 0 : first->off;
        addr = g->with_headers ? 0 : first->addr;
        const uint64_t end = last->off + (last->type == SHT_NOBITS ? 0 : section_bytes(e, last));
        filesz = end - off;
        memsz = e->congruent ? last->addr + section_bytes(e, last) - addr : filesz;
        memsz = cs_max_u64(memsz, filesz) + g->memsz_extra;
    }
    cs_buf_u32(out, g->type);
    cs_buf_u32(out, g->flags);
    cs_buf_u64(out, off);
    cs_buf_u64(out, addr);
    cs_buf_u64(out, addr);
    cs_buf_u64(out, filesz);
    cs_buf_u64(out, memsz);
    cs_buf_u64(out, g->align);
}

static void write_header(const struct cs_mk_elf *e, struct cs_buf *out, uint64_t phoff,
                         uint64_t shoff) {
    const uint8_t ident[EI_NIDENT] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT,
                                      e->osabi, e->abi_version};
    const uint64_t count = e->sections.count;
    cs_buf_add(out, ident, sizeof ident);
    cs_buf_u16(out, e->type);
    cs_buf_u16(out, e->machine);
    cs_buf_u32(out, e->version);
    cs_buf_u64(out, e->entry);
    cs_buf_u64(out, e->segments.count ? phoff : 0);
    cs_buf_u64(out, shoff);
    cs_buf_u32(out, e->flags);
    cs_buf_u16(out, EHDR);
    cs_buf_u16(out, e->segments.count ? PHDR : 0);
    cs_buf_u16(out, (uint16_t)e->segments.count);
    cs_buf_u16(out, SHDR);
    cs_buf_u16(out, count >= SHN_LORESERVE ? 0 : (uint16_t)count);
    cs_buf_u16(out, e->shstrtab >= SHN_LORESERVE ? SHN_XINDEX : (uint16_t)e->shstrtab);
}

void cs_mk_elf_write(struct cs_mk_elf *e, struct cs_buf *out) {
    cs_mk_elf_layout(e);
    uint64_t end = EHDR;
    for (size_t i = 1; i < e->sections.count; i++) {
        const struct cs_mk_section *s = &e->sections.ptr[i];
        const bool bits = s->type != SHT_NOBITS && !s->alias;
        end = cs_max_u64(end, s->off + (bits ? s->data.len : 0));
    }
    const uint64_t shoff = align_up(end, 8);
    const uint64_t phoff = e->phoff_mode == CS_MK_PHDRS_FRONT
                               ? EHDR
                               : shoff + e->sections.count * SHDR;
    const size_t start = out->len;
    write_header(e, out, phoff, shoff);
    if (e->phoff_mode == CS_MK_PHDRS_FRONT) {
        for (size_t i = 0; i < e->segments.count; i++) {
            write_segment(e, out, &e->segments.ptr[i], phoff);
        }
    }
    for (size_t i = 1; i < e->sections.count; i++) {
        const struct cs_mk_section *s = &e->sections.ptr[i];
        if (s->type == SHT_NOBITS || s->alias) {
            continue;
        }
        cs_buf_pad(out, '\0', (size_t)(s->off - (out->len - start)));
        cs_buf_add(out, s->data.ptr, s->data.len);
    }
    cs_buf_pad(out, '\0', (size_t)(shoff - (out->len - start)));
    write_section_headers(e, out);
    if (e->phoff_mode == CS_MK_PHDRS_BACK) {
        for (size_t i = 0; i < e->segments.count; i++) {
            write_segment(e, out, &e->segments.ptr[i], phoff);
        }
    }
    CS_ASSERT(cs_buf_check(out, NULL) == CS_OK);
}

void cs_mk_code(struct cs_buf *out, uint64_t bytes, uint64_t seed) {
    uint64_t x = seed * 0x9E3779B97F4A7C15ull + 1;
    uint64_t word = x;
    for (uint64_t i = 0; i < bytes; i += 8) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        // Three words of four repeat their predecessor but for some bits, as opcodes do.
        word = (x & 3) == 0 ? x : word ^ (x & 0xff00);
        uint8_t raw[8];
        cs_put_u64(raw, word);
        cs_buf_add(out, raw, (size_t)cs_min_u64(8, bytes - i));
    }
}

void cs_mk_patch_u16(struct cs_buf *b, uint64_t off, uint16_t x) {
    CS_ASSERT(cs_view_has(cs_buf_view(b), off, sizeof x));
    memcpy(b->ptr + off, &x, sizeof x);
}
void cs_mk_patch_u32(struct cs_buf *b, uint64_t off, uint32_t x) {
    CS_ASSERT(cs_view_has(cs_buf_view(b), off, sizeof x));
    memcpy(b->ptr + off, &x, sizeof x);
}
void cs_mk_patch_u64(struct cs_buf *b, uint64_t off, uint64_t x) {
    CS_ASSERT(cs_view_has(cs_buf_view(b), off, sizeof x));
    memcpy(b->ptr + off, &x, sizeof x);
}
