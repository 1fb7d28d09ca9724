// Cubin builder for tests.  Section kinds, types, links and records follow docs/format/cubin.md,
// which was checked on the output of ptxas 11.8 to 13.0.  Code bytes are pseudo-random.
#include "build/mk_cubin.h"

#include "base/mem.h"
#include "format/elf.h"

enum {
    SHT_INFO = 0x70000000, SHT_CALLGRAPH = 0x70000001, SHT_SHARED_DEBUG = 0x7000000A,
    SHT_REL_ACTION = 0x7000000B, SHT_GLOBAL = 0x70000007, SHT_GLOBAL_INIT = 0x70000008,
    SHT_SHARED_RESERVED = 0x70000015, SHT_CAPMERC = 0x70000016, SHT_CONSTANT0 = 0x70000064,
    SHT_MERC_USER = 0x7000007C, SHT_MERC_PIC = 0x7000007D, SHT_MERC_RELA = 0x70000082,
    SHT_MERC_INFO = 0x70000083, SHT_MERC_SYMTAB = 0x70000085, SHT_COMPAT = 0x70000086,
    SHF_MERC = 0x10000000,
};
enum { ATTR_FRAME = 0x11, ATTR_MIN_STACK = 0x12, ATTR_REGCOUNT = 0x2F, ATTR_BARRIERS = 0x4C,
       ATTR_MAX_THREADS = 0x05, ATTR_PARAM_CBANK = 0x0A, ATTR_KPARAM = 0x17, ATTR_PARAM_SIZE = 0x19,
       ATTR_MAXREG = 0x1B, ATTR_EXIT = 0x1C, ATTR_API_VERSION = 0x37 };
enum { RESERVED_SHARED = 1024, OTHER_KERNEL = 0x10, CIE = 48, FDE = 60 };

// Indices of one kernel's sections and symbols while the file is put together.
struct slot {
    uint32_t text, info, constant0, constant2, shared, rel, capmerc, merc_info, merc_rela;
    uint32_t symbol, outlined_symbol;
};

struct maker {
    const struct cs_mk_cubin *c;
    struct cs_mk_elf elf;
    CS_VEC(struct slot) slots;
    uint32_t abi, sm, toolkit;
    bool mercury, rela;
    uint32_t debug_frame, rel_frame, info, constant3, constant4, merc_symtab;
};

static uint32_t code_bytes(const struct cs_mk_kernel *k) {
    return k->code_bytes ? k->code_bytes : 128;
}
static uint32_t param_bytes(const struct cs_mk_kernel *k) {
    return k->param_bytes ? k->param_bytes : 8;
}
static uint32_t registers(const struct cs_mk_kernel *k) { return k->registers ? k->registers : 8; }
static uint32_t param_base(const struct maker *m) {
    return m->sm >= 100 ? 0x380 : m->sm >= 90 ? 0x210 : 0x160;
}

uint64_t cs_mk_cubin_code_bytes(const struct cs_mk_cubin *c) {
    uint64_t sum = 0;
    for (size_t i = 0; i < c->kernel_count; i++) {
        sum += code_bytes(&c->kernels[i]);
    }
    return sum;
}

static uint32_t add(struct maker *m, const char *prefix, const char *kernel, uint32_t type,
                    uint64_t flags, uint64_t align) {
    const struct cs_str name = cs_arena_printf(&m->elf.arena, "%s%s", prefix, kernel);
    CS_ASSERT(name.ptr != NULL);
    return cs_mk_elf_section(&m->elf, name.ptr, type, flags, align);
}

static struct cs_mk_section *at(struct maker *m, uint32_t index) {
    return cs_mk_elf_at(&m->elf, index);
}

static uint64_t seed_of(const struct cs_mk_kernel *k) {
    uint64_t h = k->seed;
    for (const char *p = k->seed ? "" : k->name; *p; p++) {
        h = (h ^ (uint8_t)*p) * 0x100000001B3ull + 7;
    }
    return h;
}

// .nv.info records: format, attribute, then a value or a sized block.
static void info_u32x(struct cs_buf *b, uint8_t attr, const uint32_t *v, size_t count) {
    cs_buf_addc(b, 4);
    cs_buf_addc(b, (char)attr);
    cs_buf_u16(b, (uint16_t)(4 * count));
    for (size_t i = 0; i < count; i++) {
        cs_buf_u32(b, v[i]);
    }
}
static void info_value(struct cs_buf *b, uint8_t format, uint8_t attr, uint16_t value) {
    cs_buf_addc(b, (char)format);
    cs_buf_addc(b, (char)attr);
    cs_buf_u16(b, value);
}

static void note(struct cs_buf *b, uint32_t type, struct cs_view desc) {
    cs_buf_u32(b, 12);
    cs_buf_u32(b, (uint32_t)desc.len);
    cs_buf_u32(b, type);
    cs_buf_add(b, "NVIDIA Corp", 12);
    cs_buf_add(b, desc.ptr, (size_t)desc.len);
    cs_buf_pad(b, '\0', (4 - b->len % 4) % 4);
}

// ABI 8 as 12.8 and 12.9 wrote it for sm_100 and sm_120: another note, and 'a' in e_flags alone.
static bool is_early(const struct maker *m) { return m->abi >= 8 && m->toolkit < 130; }

// Returns the index of .note.nv.cuinfo.
static uint32_t add_notes(struct maker *m) {
    struct cs_buf desc;
    cs_buf_init(&desc, 4096);
    const uint32_t tk = cs_mk_elf_section(&m->elf, ".note.nv.tkinfo", SHT_NOTE, 0x1000000, 4);
    const struct cs_str command = cs_arena_printf(&m->elf.arena, "-arch sm_%u%s -m 64 ", m->sm,
                                                  m->c->accelerated ? "a" : "");
    static const char tool[] = "ptxas", build[] = "Build test";
    const struct cs_str release =
        cs_arena_printf(&m->elf.arena, "Cuda compilation tools, release %u.%u, V%u.%u.88",
                        m->toolkit / 10, m->toolkit % 10, m->toolkit / 10, m->toolkit % 10);
    const uint32_t o1 = 1, o2 = o1 + sizeof tool, o3 = o2 + (uint32_t)release.len + 1;
    const uint32_t head[] = {is_early(m) ? m->toolkit : 2, 0, o1, o2, o3, o3 + sizeof build};
    cs_buf_add(&desc, head, sizeof head);
    cs_buf_addc(&desc, '\0');
    cs_buf_add(&desc, tool, sizeof tool);
    cs_buf_add(&desc, release.ptr, release.len + 1);
    cs_buf_add(&desc, build, sizeof build);
    cs_buf_add(&desc, command.ptr, command.len + 1);
    note(&at(m, tk)->data, 2000, cs_buf_view(&desc));
    cs_buf_clear(&desc);
    const uint32_t cu =
        cs_mk_elf_section(&m->elf, is_early(m) ? ".note.nv.cuver" : ".note.nv.cuinfo", SHT_NOTE,
                          0x1000000, 4);
    at(m, cu)->link = tk;
    cs_buf_u16(&desc, is_early(m) ? 1 : 2);
    cs_buf_u16(&desc, (uint16_t)(m->c->virtual_sm ? m->c->virtual_sm : m->sm));
    cs_buf_u16(&desc, is_early(m) ? 1 : (uint16_t)m->toolkit);
    cs_buf_u16(&desc, 0);
    if (is_early(m)) {
        cs_buf_u32(&desc, 1);
    }
    note(&at(m, cu)->data, 1000, cs_buf_view(&desc));
    cs_buf_fini(&desc);
    return cu;
}

// The note names the compat section as its info link; cuobjdump finds the 'a' suffix only that way.
static void add_compat(struct maker *m, uint32_t cuinfo) {
    const uint32_t index = cs_mk_elf_section(&m->elf, ".nv.compat", SHT_COMPAT, 0, 4);
    at(m, cuinfo)->flags |= SHF_INFO_LINK;
    at(m, cuinfo)->info = index;
    struct cs_buf *b = &at(m, index)->data;
    if (!is_early(m)) {
        info_value(b, 2, 9, m->c->accelerated ? 1 : 0);
    }
    info_value(b, 2, 2, m->c->accelerated ? 4 : 1);
    info_value(b, 2, 5, 5);
    info_value(b, 3, 7, 0x0101);
    info_value(b, 2, 3, 0);
    info_value(b, 2, 6, 1);
    const uint32_t mask[] = {m->sm >= 120 ? 0x50u : m->sm >= 100 ? 0x09u : 0u, 0};
    info_u32x(b, 11, mask, 2);
}

static void add_debug(struct maker *m) {
    if (!m->c->source) {
        return;
    }
    const uint32_t line = cs_mk_elf_section(&m->elf, ".debug_line", SHT_PROGBITS, 0, 1);
    struct cs_buf *b = &at(m, line)->data;
    // DWARF 2 line table: header with one file, an empty program.
    const size_t name_len = strlen(m->c->source) + 1;
    const uint32_t header_len = (uint32_t)(14 + 1 + name_len + 3 + 1);
    cs_buf_u32(b, header_len + 6);
    cs_buf_u16(b, 2);
    cs_buf_u32(b, header_len);
    cs_buf_add(b, "\x01\x01\xfb\x0e\x0a\x00\x01\x01\x01\x01\x00\x00\x00\x01", 14);
    cs_buf_pad(b, '\0', 1);  // end of directories
    cs_buf_add(b, m->c->source, name_len);
    cs_buf_add(b, "\0\0\0", 3);
    cs_buf_pad(b, '\0', 1);
    const uint32_t txt = cs_mk_elf_section(&m->elf, ".nv_debug_ptx_txt", SHT_PROGBITS, 0, 1);
    cs_mk_code(&at(m, txt)->data, m->c->ptx_txt_bytes ? m->c->ptx_txt_bytes : 64, 5);
    if (m->c->debug_shared) {
        const uint32_t s = cs_mk_elf_section(&m->elf, ".nv_debug.shared", SHT_SHARED_DEBUG, 0, 1);
        at(m, s)->nobits_bytes = 1 << 24;
    }
}

// Module-wide sections in front of the kernels'.
static void add_module_front(struct maker *m) {
    cs_mk_elf_shstrtab(&m->elf);
    cs_mk_elf_symtab(&m->elf);
    if (m->c->text_gap) {
        at(m, m->elf.strtab)->gap_before = 36;
    }
    m->debug_frame = cs_mk_elf_section(&m->elf, ".debug_frame", SHT_PROGBITS, 0, 1);
    add_debug(m);
    const uint32_t cuinfo = m->abi >= 8 ? add_notes(m) : 0;
    m->info = cs_mk_elf_section(&m->elf, ".nv.info", SHT_INFO, 0, 4);
    at(m, m->info)->link = m->elf.symtab;
    if (m->abi >= 8 && m->sm >= 90) {
        add_compat(m, cuinfo);
    }
}

static void add_kernel_sections(struct maker *m) {
    const struct cs_mk_cubin *c = m->c;
    for (size_t i = 0; i < c->kernel_count; i++) {
        const struct cs_mk_kernel *k = &c->kernels[i];
        m->slots.ptr[i].info = add(m, ".nv.info.", k->name, SHT_INFO, SHF_INFO_LINK, 4);
    }
    const uint32_t graph = cs_mk_elf_section(&m->elf, ".nv.callgraph", SHT_CALLGRAPH, 0, 4);
    at(m, graph)->link = m->elf.symtab;
    at(m, graph)->entsize = 8;
    for (uint32_t i = 1; i <= 4; i++) {
        cs_buf_u32(&at(m, graph)->data, 0);
        cs_buf_u32(&at(m, graph)->data, 0u - i);
    }
    if (m->sm < 90) {
        const uint32_t act = cs_mk_elf_section(&m->elf, ".nv.rel.action", SHT_REL_ACTION, 0, 8);
        at(m, act)->entsize = 8;
        cs_buf_add(&at(m, act)->data, "\x73\0\0\0\0\0\0\0\0\0\0\x11\x25\0\x05\x36", 16);
    }
    for (size_t i = 0; i < c->kernel_count; i++) {
        const struct cs_mk_kernel *k = &c->kernels[i];
        if (k->relocations) {
            m->slots.ptr[i].rel = add(m, m->rela ? ".rela.text." : ".rel.text.", k->name,
                                      m->rela ? SHT_RELA : SHT_REL, SHF_INFO_LINK, 8);
        }
    }
    m->rel_frame = cs_mk_elf_section(&m->elf, m->rela ? ".rela.debug_frame" : ".rel.debug_frame",
                                     m->rela ? SHT_RELA : SHT_REL, SHF_INFO_LINK, 8);
    if (c->constant3_bytes) {
        m->constant3 = cs_mk_elf_section(
            &m->elf, ".nv.constant3", m->abi >= 8 ? SHT_PROGBITS : SHT_CONSTANT0 + 3, SHF_ALLOC, 4);
        cs_mk_code(&at(m, m->constant3)->data, c->constant3_bytes, 3);
    }
    for (size_t i = 0; i < c->kernel_count; i++) {
        const struct cs_mk_kernel *k = &c->kernels[i];
        struct slot *s = &m->slots.ptr[i];
        s->text = add(m, ".text.", k->name, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 128);
        cs_mk_code(&at(m, s->text)->data, code_bytes(k), seed_of(k));
        if (k->constant2_bytes) {
            s->constant2 = add(m, ".nv.constant2.", k->name, SHT_PROGBITS,
                               SHF_ALLOC | SHF_INFO_LINK, 4);
            cs_mk_code(&at(m, s->constant2)->data, k->constant2_bytes, 2);
        }
    }
}

static void add_data_sections(struct maker *m) {
    const struct cs_mk_cubin *c = m->c;
    if (c->global_init_bytes) {
        const uint32_t g = cs_mk_elf_section(&m->elf, ".nv.global.init",
                                             m->abi >= 8 ? SHT_PROGBITS : SHT_GLOBAL_INIT,
                                             SHF_ALLOC | SHF_WRITE, 16);
        cs_mk_code(&at(m, g)->data, c->global_init_bytes, 4);
    }
    if (c->global_bytes) {
        const uint32_t g = cs_mk_elf_section(&m->elf, ".nv.global", SHT_NOBITS,
                                             SHF_ALLOC | SHF_WRITE, 16);
        at(m, g)->nobits_bytes = c->global_bytes;
    }
    if (m->abi >= 8 && m->sm >= 90) {
        cs_mk_elf_section(&m->elf, ".nv.shared.reserved.0", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, 1);
    }
    for (size_t i = 0; i < c->kernel_count; i++) {
        const struct cs_mk_kernel *k = &c->kernels[i];
        struct slot *s = &m->slots.ptr[i];
        if (k->shared_bytes) {
            s->shared = add(m, ".nv.shared.", k->name, SHT_NOBITS,
                            SHF_ALLOC | SHF_WRITE | SHF_INFO_LINK, 4);
            at(m, s->shared)->nobits_bytes =
                k->shared_bytes + (m->sm >= 90 ? RESERVED_SHARED : 0);
        }
    }
    for (size_t i = 0; i < c->kernel_count; i++) {
        const struct cs_mk_kernel *k = &c->kernels[i];
        if (!k->function) {
            struct slot *s = &m->slots.ptr[i];
            s->constant0 =
                add(m, ".nv.constant0.", k->name, m->abi >= 8 ? SHT_PROGBITS : SHT_CONSTANT0,
                    SHF_ALLOC | SHF_INFO_LINK, 4);
            cs_buf_pad(&at(m, s->constant0)->data, '\0', param_base(m) + param_bytes(k));
        }
    }
}

static void add_mercury(struct maker *m) {
    const struct cs_mk_cubin *c = m->c;
    if (!m->mercury) {
        return;
    }
    for (size_t i = 0; i < c->kernel_count; i++) {
        const struct cs_mk_kernel *k = &c->kernels[i];
        struct slot *s = &m->slots.ptr[i];
        s->capmerc = add(m, ".nv.capmerc.text.", k->name, SHT_CAPMERC, SHF_MERC, 16);
        cs_mk_code(&at(m, s->capmerc)->data, code_bytes(k) / 5 + 14, seed_of(k) + 1);
    }
    const uint32_t frame =
        cs_mk_elf_section(&m->elf, ".nv.merc.debug_frame", SHT_PROGBITS, SHF_MERC, 1);
    cs_mk_code(&at(m, frame)->data, 112 * c->kernel_count, 6);
    for (size_t i = 0; i < c->kernel_count; i++) {
        const struct cs_mk_kernel *k = &c->kernels[i];
        struct slot *s = &m->slots.ptr[i];
        s->merc_info =
            add(m, ".nv.merc.nv.info.", k->name, SHT_MERC_INFO, SHF_MERC | SHF_INFO_LINK, 4);
        info_value(&at(m, s->merc_info)->data, 3, ATTR_MAXREG, 255);
        if (k->relocations) {
            s->merc_rela = add(m, ".nv.merc.rela.text.", k->name, SHT_MERC_RELA,
                               SHF_MERC | SHF_INFO_LINK, 8);
            cs_buf_pad(&at(m, s->merc_rela)->data, '\0', 24 * (size_t)k->relocations);
            at(m, s->merc_rela)->entsize = 24;
        }
    }
    if (m->constant3) {
        const uint32_t u = cs_mk_elf_section(&m->elf, ".nv.merc.nv.constant.user", SHT_MERC_USER,
                                             SHF_MERC | SHF_ALLOC, 4);
        at(m, u)->alias = m->constant3;
    }
    m->merc_symtab = cs_mk_elf_section(&m->elf, ".nv.merc.symtab", SHT_MERC_SYMTAB, SHF_MERC, 8);
    at(m, m->merc_symtab)->link = m->elf.strtab;
    at(m, m->merc_symtab)->entsize = 24;
    cs_buf_pad(&at(m, m->merc_symtab)->data, '\0', 24 * (c->kernel_count + 1));
}

static void add_symbols(struct maker *m) {
    const struct cs_mk_cubin *c = m->c;
    const uint8_t section = ELF64_ST_INFO(STB_LOCAL, STT_SECTION);
    cs_mk_elf_symbol(&m->elf, ".debug_frame", section, 0, m->debug_frame, 0, 0);
    for (int global = 0; global < 2; global++) {
        for (size_t i = 0; i < c->kernel_count; i++) {
            const struct cs_mk_kernel *k = &c->kernels[i];
            struct slot *s = &m->slots.ptr[i];
            if (!global) {
                cs_mk_elf_symbol(&m->elf, at(m, s->text)->name.ptr, section, 0, s->text, 0, 0);
                if (k->outlined) {
                    s->outlined_symbol = cs_mk_elf_symbol(
                        &m->elf, k->outlined, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 0, s->text,
                        code_bytes(k) - k->outlined_bytes, k->outlined_bytes);
                }
            }
            if ((k->local ? 0 : 1) == global) {
                const uint8_t bind = k->local ? STB_LOCAL : STB_GLOBAL;
                s->symbol =
                    cs_mk_elf_symbol(&m->elf, k->name, (uint8_t)ELF64_ST_INFO(bind, STT_FUNC),
                                     k->function ? 0 : OTHER_KERNEL, s->text, 0, code_bytes(k));
            }
        }
    }
}

static void put_reloc(struct maker *m, struct cs_buf *b, uint64_t off, uint32_t symbol,
                      uint32_t type, uint64_t addend) {
    cs_buf_u64(b, off);
    cs_buf_u64(b, (uint64_t)symbol << 32 | type);
    if (m->rela) {
        cs_buf_u64(b, addend);
    }
}

// One common entry and one frame entry a function, in 64-bit DWARF form.
static void put_frame(struct maker *m, size_t i) {
    struct cs_buf *b = &at(m, m->debug_frame)->data;
    const uint64_t cie = b->len;
    cs_buf_u32(b, UINT32_MAX);
    cs_buf_u64(b, CIE - 12);
    cs_buf_add(b, "\xff\xff\xff\xff\xff\xff\xff\xff\x03\x00\x04\x7c\xff\xff\xff\xff\x0f", 17);
    cs_buf_pad(b, '\0', CIE - 29);
    cs_buf_u32(b, UINT32_MAX);
    cs_buf_u64(b, FDE - 12);
    cs_buf_u64(b, cie);
    put_reloc(m, &at(m, m->rel_frame)->data, b->len, m->slots.ptr[i].symbol, 2, 0);
    cs_buf_u64(b, 0);
    cs_buf_u64(b, code_bytes(&m->c->kernels[i]));
    cs_buf_pad(b, '\0', FDE - 36);
}

static void fill_kernel_info(struct maker *m, const struct cs_mk_kernel *k, struct slot *s) {
    struct cs_buf *b = &at(m, s->info)->data;
    const uint32_t api[] = {m->toolkit};
    info_u32x(b, ATTR_API_VERSION, api, 1);
    if (!k->function) {
        const uint32_t cbank[] = {s->symbol, param_base(m) | param_bytes(k) << 16};
        info_u32x(b, ATTR_PARAM_CBANK, cbank, 2);
        info_value(b, 3, ATTR_PARAM_SIZE, (uint16_t)param_bytes(k));
        const uint32_t kparam[] = {0, 0, 0x0021f000};
        info_u32x(b, ATTR_KPARAM, kparam, 3);
    }
    info_value(b, 3, ATTR_MAXREG, 255);
    if (k->barriers) {
        info_value(b, 2, ATTR_BARRIERS, (uint16_t)k->barriers);
    }
    if (k->max_threads) {
        const uint32_t threads[] = {k->max_threads, 1, 1};
        info_u32x(b, ATTR_MAX_THREADS, threads, 3);
    }
    const uint32_t exits[] = {16};
    info_u32x(b, ATTR_EXIT, exits, 1);
}

static void fill_kernel(struct maker *m, size_t i) {
    const struct cs_mk_kernel *k = &m->c->kernels[i];
    struct slot *s = &m->slots.ptr[i];
    struct cs_buf *module = &at(m, m->info)->data;
    const uint32_t regs[] = {s->symbol, registers(k)}, frame[] = {s->symbol, k->stack_bytes};
    const uint32_t stack[] = {s->symbol, k->local_bytes};
    info_u32x(module, ATTR_REGCOUNT, regs, 2);
    info_u32x(module, ATTR_FRAME, frame, 2);
    if (!k->function) {
        info_u32x(module, ATTR_MIN_STACK, stack, 2);
    }
    fill_kernel_info(m, k, s);
    struct cs_mk_section *text = at(m, s->text);
    text->link = m->elf.symtab;
    text->info = s->symbol | (m->sm < 90 ? registers(k) << 24 : 0);
    text->flags |= m->abi < 8 ? (uint64_t)k->barriers << 20 : 0;
    const uint32_t owned[] = {s->info, s->constant0, s->constant2, s->shared, s->rel};
    for (size_t j = 0; j < sizeof owned / sizeof *owned; j++) {
        if (owned[j]) {
            at(m, owned[j])->info = s->text;
        }
    }
    at(m, s->info)->link = m->elf.symtab;
    if (s->rel) {
        at(m, s->rel)->link = m->elf.symtab;
        at(m, s->rel)->entsize = m->rela ? 24 : 16;
        for (uint32_t r = 0; r < k->relocations; r++) {
            put_reloc(m, &at(m, s->rel)->data, 16ull * r, s->symbol, 56, 0);
        }
    }
    const uint32_t merc[] = {s->capmerc, s->merc_info, s->merc_rela};
    for (size_t j = 0; j < sizeof merc / sizeof *merc; j++) {
        if (merc[j]) {
            at(m, merc[j])->link = m->merc_symtab;
            at(m, merc[j])->info = merc[j] == s->capmerc ? s->symbol : s->capmerc;
        }
    }
    put_frame(m, i);
}

static uint32_t elf_flags(const struct maker *m) {
    if (m->abi < 8) {
        const uint32_t virt = m->c->virtual_sm ? m->c->virtual_sm : m->sm;
        return m->sm | 0x500 | virt << 16 | (m->c->accelerated ? 0x800u : 0);
    }
    return 0x06000000u | m->sm << 8 | (m->sm >= 100 ? 0x02 : 0x04) |
           (is_early(m) && m->c->accelerated ? 0x08 : 0);
}

static void add_segments(struct maker *m) {
    if (m->c->relocatable || m->c->kernel_count == 0) {
        return;
    }
    const struct slot *first = &m->slots.ptr[0], *last = &m->slots.ptr[m->c->kernel_count - 1];
    cs_mk_elf_segment(&m->elf, (struct cs_mk_segment){.type = PT_PHDR, .flags = PF_R, .align = 8});
    cs_mk_elf_segment(&m->elf, (struct cs_mk_segment){.type = PT_LOAD, .flags = PF_R, .align = 8});
    cs_mk_elf_segment(&m->elf, (struct cs_mk_segment){.type = PT_LOAD, .flags = PF_R | PF_X,
                                                      .first = first->text, .last = last->text,
                                                      .align = 8});
}

void cs_mk_cubin_write(struct cs_buf *out, const struct cs_mk_cubin *c) {
    struct maker m = {.c = c, .abi = c->abi ? c->abi : 8, .sm = c->sm ? c->sm : 90};
    m.toolkit = c->toolkit_x10 ? c->toolkit_x10 : m.abi >= 8 ? 130 : 118;
    m.mercury = m.sm >= 100 && m.abi >= 8 && !c->no_mercury;
    m.rela = m.sm >= 90 && m.abi >= 8;
    CS_ASSERT(c->kernel_count == 0 || cs_vec_push_n(&m.slots, c->kernel_count) != NULL);
    cs_mk_elf_init(&m.elf, c->relocatable ? ET_REL : ET_EXEC, CS_EM_CUDA);
    m.elf.osabi = m.abi >= 8 ? 0x41 : 0x33;
    m.elf.abi_version = (uint8_t)m.abi;
    m.elf.version = m.abi >= 8 ? 1 : m.toolkit;
    m.elf.flags = elf_flags(&m);
    m.elf.phoff_mode = CS_MK_PHDRS_BACK;
    add_module_front(&m);
    add_kernel_sections(&m);
    add_data_sections(&m);
    add_mercury(&m);
    for (uint32_t i = 0; i < c->empty_sections; i++) {
        cs_mk_elf_section(&m.elf, ".nv.empty", SHT_PROGBITS, 0, 1);
    }
    add_symbols(&m);
    for (size_t i = 0; i < c->kernel_count; i++) {
        fill_kernel(&m, i);
    }
    at(&m, m.rel_frame)->link = m.elf.symtab;
    at(&m, m.rel_frame)->info = m.debug_frame;
    at(&m, m.rel_frame)->entsize = m.rela ? 24 : 16;
    add_segments(&m);
    cs_mk_elf_write(&m.elf, out);
    cs_mk_elf_fini(&m.elf);
    cs_vec_fini(&m.slots);
}
