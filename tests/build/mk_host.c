// Host ELF builder for tests: what a linker makes of objects from nvcc, as far as device code is
// concerned.  Layouts and relocation forms: docs/format/host-elf.md.
#include "build/mk_host.h"

#include "base/mem.h"
#include "base/num.h"
#include "format/fatbin.h"

enum { RELOC_MAX = 4096, NOBITS_DEFAULT = 64, RELATIVE_X86 = 8, ABS64_X86 = 1, RELATIVE_ARM = 1027,
       ABS64_ARM = 257, SHT_RELR_ = 19, DT_RELR_ = 36, DT_RELRSZ_ = 35, DT_RELRENT_ = 37 };

struct maker {
    const struct cs_mk_host *h;
    struct cs_mk_elf elf;
    bool object, arm;
    uint64_t page;
    uint32_t interp, note, hash, dynsym, dynstr, rel, text, rodata, fatbin, relfatbin, eh_frame;
    uint32_t dynamic, wrappers, data, bss, first_blob, last_blob;
    size_t wrapper_count, slot_count;  // slots: pointers that need a relocation
    CS_VEC(uint64_t) offsets;          // of each unit in its section
};

static struct cs_mk_section *at(struct maker *m, uint32_t index) {
    return cs_mk_elf_at(&m->elf, index);
}
static uint32_t add(struct maker *m, const char *name, uint32_t type, uint64_t flags,
                    uint64_t align) {
    return cs_mk_elf_section(&m->elf, name, type, flags, align);
}

static void add_answer(struct maker *m) {
    static const uint8_t x86[] = {0xb8, 42, 0, 0, 0, 0xc3}, arm[] = {0x40, 0x05, 0x80, 0x52,
                                                                     0xc0, 0x03, 0x5f, 0xd6};
    m->text = add(m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 16);
    struct cs_buf *b = &at(m, m->text)->data;
    cs_buf_add(b, m->arm ? arm : x86, m->arm ? sizeof arm : sizeof x86);
    cs_mk_code(b, m->h->text_bytes ? m->h->text_bytes : NOBITS_DEFAULT, 11);
}

static void add_rodata(struct maker *m) {
    m->rodata = add(m, ".rodata", SHT_PROGBITS, SHF_ALLOC, 32);
    cs_mk_code(&at(m, m->rodata)->data, m->h->rodata_bytes ? m->h->rodata_bytes : NOBITS_DEFAULT,
               12);
    for (size_t i = 0; i < m->h->blob_count; i++) {
        const struct cs_mk_blob *blob = &m->h->blobs[i];
        m->last_blob =
            add(m, blob->section, SHT_PROGBITS, SHF_ALLOC, blob->align ? blob->align : 8);
        m->first_blob = m->first_blob ? m->first_blob : m->last_blob;
        cs_buf_add(&at(m, m->last_blob)->data, blob->bytes.ptr, (size_t)blob->bytes.len);
    }
}

static void add_fatbin(struct maker *m) {
    bool any[2] = {false, false};
    for (size_t i = 0; i < m->h->unit_count; i++) {
        any[m->h->units[i].relocatable ? 1 : 0] = true;
    }
    if (any[1]) {
        m->relfatbin = add(m, "__nv_relfatbin", SHT_PROGBITS, SHF_ALLOC, 8);
    }
    if (any[0]) {
        m->fatbin = add(m, ".nv_fatbin", SHT_PROGBITS, SHF_ALLOC, 8);
    }
    for (size_t i = 0; i < m->h->unit_count; i++) {
        const struct cs_mk_unit *u = &m->h->units[i];
        struct cs_buf *b = &at(m, u->relocatable ? m->relfatbin : m->fatbin)->data;
        uint64_t *off = cs_vec_push(&m->offsets);
        CS_ASSERT(off != NULL);
        *off = b->len;
        cs_buf_add(b, u->container.ptr, (size_t)u->container.len);
        m->wrapper_count += u->no_wrapper ? 0 : 1;
        m->slot_count += u->no_wrapper ? 0 : u->wrapper_version == 2 ? 2 : 1;
    }
}

static void add_eh_frame(struct maker *m) {
    m->eh_frame = add(m, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, 8);
    cs_buf_pad(&at(m, m->eh_frame)->data, '\0', 16);
}

static uint64_t reloc_bytes(const struct maker *m) {
    switch (m->h->reloc) {
        case CS_MK_RELR: return 8 * m->slot_count;
        case CS_MK_ABSOLUTE: return 0;
        case CS_MK_RELA:
        case CS_MK_RELA_ONLY:
        case CS_MK_SYMBOLIC: break;
    }
    return 24 * m->slot_count;
}

static void add_dynamic_tables(struct maker *m) {
    if (m->h->executable && m->h->reloc != CS_MK_ABSOLUTE) {
        m->interp = add(m, ".interp", SHT_PROGBITS, SHF_ALLOC, 1);
        cs_buf_add(&at(m, m->interp)->data, "/lib64/ld-linux-x86-64.so.2", 28);
    }
    m->note = add(m, ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 4);
    cs_buf_add(&at(m, m->note)->data, "\4\0\0\0\24\0\0\0\3\0\0\0GNU\0", 16);
    cs_mk_code(&at(m, m->note)->data, 20, 13);
    m->hash = add(m, ".hash", SHT_HASH, SHF_ALLOC, 8);
    m->dynsym = add(m, ".dynsym", SHT_DYNSYM, SHF_ALLOC, 8);
    m->dynstr = add(m, ".dynstr", SHT_STRTAB, SHF_ALLOC, 1);
    at(m, m->dynsym)->link = m->dynstr;
    at(m, m->dynsym)->entsize = 24;
    at(m, m->dynsym)->info = 1;
    at(m, m->hash)->link = m->dynsym;
    at(m, m->hash)->entsize = 4;
    // The size must be known before the layout; units are counted beforehand.
    for (size_t i = 0; i < m->h->unit_count; i++) {
        const struct cs_mk_unit *u = &m->h->units[i];
        m->slot_count += u->no_wrapper ? 0 : u->wrapper_version == 2 ? 2 : 1;
    }
    const bool relr = m->h->reloc == CS_MK_RELR;
    m->rel = add(m, relr ? ".relr.dyn" : ".rela.dyn", relr ? SHT_RELR_ : SHT_RELA, SHF_ALLOC, 8);
    at(m, m->rel)->entsize = relr ? 8 : 24;
    at(m, m->rel)->link = relr ? 0 : m->dynsym;
    cs_buf_pad(&at(m, m->rel)->data, '\0', (size_t)reloc_bytes(m));
    m->slot_count = 0;
}

static void dynamic_symbol(struct maker *m, const char *name, uint8_t type, uint32_t shndx) {
    struct cs_buf *names = &at(m, m->dynstr)->data, *b = &at(m, m->dynsym)->data;
    cs_buf_u32(b, (uint32_t)names->len);
    cs_buf_addc(b, (char)ELF64_ST_INFO(STB_GLOBAL, type));
    cs_buf_addc(b, '\0');
    cs_buf_u16(b, (uint16_t)shndx);
    cs_buf_pad(b, '\0', 16);
    cs_buf_add(names, name, strlen(name) + 1);
}

// Symbol values are filled in by fill_dynsym once addresses are known.
static void add_dynamic_symbols(struct maker *m) {
    cs_buf_addc(&at(m, m->dynstr)->data, '\0');
    cs_buf_pad(&at(m, m->dynsym)->data, '\0', 24);
    dynamic_symbol(m, "cs_host_answer", STT_FUNC, m->text);
    for (size_t i = 0; i < m->h->unit_count && m->h->reloc == CS_MK_SYMBOLIC; i++) {
        const struct cs_mk_unit *u = &m->h->units[i];
        const struct cs_str n = cs_arena_printf(&m->elf.arena, "container_%zu", i);
        dynamic_symbol(m, n.ptr, STT_OBJECT, u->relocatable ? m->relfatbin : m->fatbin);
    }
    for (size_t i = 0; i < m->h->unit_count; i++) {
        const struct cs_mk_unit *u = &m->h->units[i];
        if (u->module_id && !u->no_wrapper) {
            const struct cs_str n = cs_arena_printf(&m->elf.arena, "__fatbinwrap_%s", u->module_id);
            dynamic_symbol(m, n.ptr, STT_OBJECT, m->wrappers);
        }
    }
    const uint32_t count = (uint32_t)(at(m, m->dynsym)->data.len / 24);
    struct cs_buf *hash = &at(m, m->hash)->data;  // one bucket, one chain
    cs_buf_u32(hash, 1);
    cs_buf_u32(hash, count);
    cs_buf_u32(hash, count - 1);
    for (uint32_t i = 0; i < count; i++) {
        cs_buf_u32(hash, i ? i - 1 : 0);
    }
}

static void add_writable(struct maker *m) {
    const uint64_t rw = SHF_ALLOC | SHF_WRITE;
    if (!m->object) {
        m->dynamic = add(m, ".dynamic", SHT_DYNAMIC, rw, 8);
        at(m, m->dynamic)->entsize = 16;
        at(m, m->dynamic)->link = m->dynstr;
        cs_buf_pad(&at(m, m->dynamic)->data, '\0', 16 * 10);
    }
    m->data = add(m, ".data", SHT_PROGBITS, rw, 8);
    cs_buf_pad(&at(m, m->data)->data, '\1', 24);
    m->wrappers = add(m, ".nvFatBinSegment", SHT_PROGBITS, rw, 8);
    for (size_t i = 0; i < m->h->unit_count; i++) {
        const struct cs_mk_unit *u = &m->h->units[i];
        if (!u->no_wrapper) {
            struct cs_buf *b = &at(m, m->wrappers)->data;
            cs_buf_u32(b, CS_FATBIN_WRAPPER_MAGIC);
            cs_buf_u32(b, u->wrapper_version ? u->wrapper_version : 1);
            cs_buf_pad(b, '\0', 16);
        }
    }
    m->bss = add(m, ".bss", SHT_NOBITS, rw, 32);
    at(m, m->bss)->nobits_bytes = m->h->bss_bytes ? m->h->bss_bytes : NOBITS_DEFAULT;
}

static void load(struct maker *m, uint32_t flags, uint32_t first, uint32_t last, bool headers) {
    cs_mk_elf_segment(&m->elf, (struct cs_mk_segment){.type = PT_LOAD,
                                                      .flags = flags,
                                                      .first = first,
                                                      .last = last,
                                                      .with_headers = headers,
                                                      .align = m->page});
}

static void add_sections(struct maker *m) {
    if (!m->object) {
        add_dynamic_tables(m);
    }
    const uint32_t head = m->rel;
    switch (m->h->layout) {
        case CS_MK_LD:
        case CS_MK_END:
            add_answer(m);
            add_rodata(m);
            if (m->h->layout == CS_MK_LD) {
                add_fatbin(m);
            }
            add_eh_frame(m);
            load(m, PF_R, 1, head, true);
            load(m, PF_R | PF_X, m->text, m->text, false);
            load(m, PF_R, m->rodata, m->eh_frame, false);
            break;
        case CS_MK_LD_NOSEPARATE:
        case CS_MK_OBJECT:
            add_answer(m);
            add_rodata(m);
            add_fatbin(m);
            add_eh_frame(m);
            load(m, PF_R | PF_X, 1, m->eh_frame, true);
            break;
        case CS_MK_LLD:
            add_fatbin(m);
            add_rodata(m);
            add_eh_frame(m);
            add_answer(m);
            load(m, PF_R, 1, m->eh_frame, true);
            load(m, PF_R | PF_X, m->text, m->text, false);
            break;
        case CS_MK_GOLD:
            add_answer(m);
            add_fatbin(m);
            add_rodata(m);
            add_eh_frame(m);
            load(m, PF_R | PF_X, 1, m->eh_frame, true);
            break;
    }
    add_writable(m);
    load(m, PF_R | PF_W, m->object ? m->data : m->dynamic, m->bss, false);
    if (m->h->layout == CS_MK_END) {
        const uint32_t first = (uint32_t)m->elf.sections.count;
        add_fatbin(m);
        load(m, PF_R, first, (uint32_t)m->elf.sections.count - 1, false);
    }
}

static uint64_t unit_addr(struct maker *m, size_t i) {
    return at(m, m->h->units[i].relocatable ? m->relfatbin : m->fatbin)->addr + m->offsets.ptr[i];
}

static void write_slot(struct maker *m, size_t slot, uint64_t where, uint64_t value, size_t unit) {
    struct cs_buf *rel = &at(m, m->rel)->data;
    const bool in_place = m->h->reloc != CS_MK_RELA_ONLY && m->h->reloc != CS_MK_SYMBOLIC;
    if (in_place) {
        struct cs_mk_section *w = at(m, m->wrappers);
        cs_mk_patch_u64(&w->data, where - w->addr, value);
    }
    if (m->h->reloc == CS_MK_RELR) {
        cs_mk_patch_u64(rel, 8 * slot, where);
    } else if (m->h->reloc != CS_MK_ABSOLUTE) {
        const bool symbolic = m->h->reloc == CS_MK_SYMBOLIC;
        const uint64_t relative = m->arm ? RELATIVE_ARM : RELATIVE_X86;
        const uint64_t type = symbolic ? (m->arm ? ABS64_ARM : ABS64_X86) : relative;
        cs_mk_patch_u64(rel, 24 * slot, where);
        cs_mk_patch_u64(rel, 24 * slot + 8, symbolic ? ((uint64_t)unit + 2) << 32 | type : type);
        cs_mk_patch_u64(rel, 24 * slot + 16, symbolic ? 0 : value);
    }
}

static void fill_wrappers(struct maker *m) {
    size_t slot = 0, w = 0;
    for (size_t i = 0; i < m->h->unit_count; i++) {
        const struct cs_mk_unit *u = &m->h->units[i];
        if (u->no_wrapper) {
            continue;
        }
        const uint64_t where = at(m, m->wrappers)->addr + 24 * w++;
        write_slot(m, slot++, where + 8, unit_addr(m, i), i);
        if (u->wrapper_version == 2) {
            write_slot(m, slot++, where + 16, at(m, m->bss)->addr, i);
        }
    }
}

static void fill_dynsym(struct maker *m) {
    struct cs_buf *b = &at(m, m->dynsym)->data;
    cs_mk_patch_u64(b, 24 + 8, at(m, m->text)->addr);
    cs_mk_patch_u64(b, 24 + 16, 6);
    size_t index = 2, w = 0;
    for (size_t i = 0; i < m->h->unit_count && m->h->reloc == CS_MK_SYMBOLIC; i++) {
        cs_mk_patch_u64(b, 24 * index++ + 8, unit_addr(m, i));
    }
    for (size_t i = 0; i < m->h->unit_count; i++) {
        const struct cs_mk_unit *u = &m->h->units[i];
        if (u->module_id && !u->no_wrapper) {
            cs_mk_patch_u64(b, 24 * index + 8, at(m, m->wrappers)->addr + 24 * w);
            cs_mk_patch_u64(b, 24 * index++ + 16, 24);
        }
        w += u->no_wrapper ? 0 : 1;
    }
}

static void fill_dynamic(struct maker *m) {
    const bool relr = m->h->reloc == CS_MK_RELR, none = m->h->reloc == CS_MK_ABSOLUTE;
    const uint64_t rel = at(m, m->rel)->addr, rel_bytes = at(m, m->rel)->data.len;
    const uint64_t tags[][2] = {
        {DT_HASH, at(m, m->hash)->addr},
        {DT_STRTAB, at(m, m->dynstr)->addr},
        {DT_SYMTAB, at(m, m->dynsym)->addr},
        {DT_STRSZ, at(m, m->dynstr)->data.len},
        {DT_SYMENT, 24},
        {relr ? DT_RELR_ : DT_RELA, rel},
        {relr ? DT_RELRSZ_ : DT_RELASZ, rel_bytes},
        {relr ? DT_RELRENT_ : DT_RELAENT, relr ? 8 : 24},
    };
    const size_t count = none ? 5 : sizeof tags / sizeof *tags;
    for (size_t i = 0; i < count; i++) {
        cs_mk_patch_u64(&at(m, m->dynamic)->data, 16 * i, tags[i][0]);
        cs_mk_patch_u64(&at(m, m->dynamic)->data, 16 * i + 8, tags[i][1]);
    }
}

// FILE and fatbinData symbols as nvcc leaves them, then the wrappers of rdc units.
static void fill_symtab(struct maker *m) {
    for (size_t i = 0; i < m->h->unit_count; i++) {
        const struct cs_mk_unit *u = &m->h->units[i];
        if (!u->source) {
            continue;
        }
        const struct cs_str source = cs_str_from(u->source);
        const struct cs_str stem = {source.ptr,
                                    source.len - (cs_str_ends(source, CS_STR(".cu")) ? 3 : 0)};
        const struct cs_str name =
            cs_str_eq(source, CS_STR("link.stub"))
                ? source
                : cs_arena_printf(&m->elf.arena,
                                  "tmpxft_%08zx_00000000-6_%.*s.compute_90.cudafe1.cpp", i + 0x100,
                                  (int)stem.len, stem.ptr);
        cs_mk_elf_symbol(&m->elf, name.ptr, ELF64_ST_INFO(STB_LOCAL, STT_FILE), 0, SHN_ABS, 0, 0);
        cs_mk_elf_symbol(&m->elf, "fatbinData", ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE), 0,
                         u->relocatable ? m->relfatbin : m->fatbin,
                         m->object ? m->offsets.ptr[i] : unit_addr(m, i), 0);
    }
    const uint64_t answer = m->object ? 0 : at(m, m->text)->addr;
    cs_mk_elf_symbol(&m->elf, "cs_host_answer", ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, m->text,
                     answer, 6);
}

// Objects: R_X86_64_64 against the section symbols 1 (.nv_fatbin) and 2 (__nv_relfatbin).
static void fill_object_relocs(struct maker *m) {
    const uint32_t r = add(m, ".rela.nvFatBinSegment", SHT_RELA, SHF_INFO_LINK, 8);
    at(m, r)->link = m->elf.symtab;
    at(m, r)->info = m->wrappers;
    at(m, r)->entsize = 24;
    const uint8_t section = ELF64_ST_INFO(STB_LOCAL, STT_SECTION);
    cs_mk_elf_symbol(&m->elf, "", section, 0, m->fatbin, 0, 0);
    cs_mk_elf_symbol(&m->elf, "", section, 0, m->relfatbin, 0, 0);
    size_t w = 0;
    for (size_t i = 0; i < m->h->unit_count; i++) {
        const struct cs_mk_unit *u = &m->h->units[i];
        if (!u->no_wrapper) {
            struct cs_buf *b = &at(m, r)->data;
            cs_buf_u64(b, 24 * w++ + 8);
            cs_buf_u64(b, (u->relocatable ? 2ull : 1ull) << 32 | (m->arm ? ABS64_ARM : ABS64_X86));
            cs_buf_u64(b, m->offsets.ptr[i]);
        }
    }
}

static void add_small_segments(struct maker *m) {
    cs_mk_elf_segment(&m->elf, (struct cs_mk_segment){.type = PT_DYNAMIC,
                                                      .flags = PF_R | PF_W,
                                                      .align = 8,
                                                      .first = m->dynamic,
                                                      .last = m->dynamic});
    cs_mk_elf_segment(&m->elf, (struct cs_mk_segment){.type = PT_NOTE, .flags = PF_R, .align = 4,
                                                      .first = m->note, .last = m->note});
    cs_mk_elf_segment(&m->elf, (struct cs_mk_segment){.type = PT_GNU_STACK, .flags = PF_R | PF_W,
                                                      .align = 16});
    if (m->interp) {
        cs_mk_elf_segment(&m->elf, (struct cs_mk_segment){.type = PT_INTERP,
                                                          .flags = PF_R,
                                                          .align = 1,
                                                          .first = m->interp,
                                                          .last = m->interp});
    }
}

void cs_mk_host_write(struct cs_buf *out, const struct cs_mk_host *h) {
    struct maker m = {.h = h, .object = h->layout == CS_MK_OBJECT, .arm = h->machine == EM_AARCH64};
    const uint16_t machine = h->machine ? h->machine : EM_X86_64;
    const bool fixed = h->executable && h->reloc == CS_MK_ABSOLUTE;
    m.page = h->page ? h->page : m.arm ? 0x10000 : 0x1000;
    cs_mk_elf_init(&m.elf, m.object ? ET_REL : fixed ? ET_EXEC : ET_DYN, machine);
    m.elf.congruent = !m.object;
    m.elf.page = m.page;
    add_sections(&m);
    if (m.object) {
        m.elf.segments.count = 0;
    } else {
        add_dynamic_symbols(&m);
        add_small_segments(&m);
    }
    if (!h->stripped || m.object) {
        cs_mk_elf_symtab(&m.elf);
    }
    if (m.object) {
        fill_object_relocs(&m);
    }
    cs_mk_elf_shstrtab(&m.elf);
    cs_mk_elf_layout(&m.elf);
    if (!m.object) {
        fill_wrappers(&m);
        fill_dynsym(&m);
        fill_dynamic(&m);
    }
    if (m.elf.symtab) {
        fill_symtab(&m);
    }
    cs_mk_elf_write(&m.elf, out);
    cs_mk_elf_fini(&m.elf);
    cs_vec_fini(&m.offsets);
}
