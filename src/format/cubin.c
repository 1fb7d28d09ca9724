// The cubin walk: cuts a device ELF into pieces, each with one owner.
//
// Order of work: (1) every section gets a part by its name and, where its name ends in a kernel's,
// that kernel; (2) the symbol table gives each symbol its kernel; (3) sections are visited by file
// offset and emitted piece by piece, tables that serve many kernels (.symtab, .strtab, .shstrtab,
// .nv.info, .debug_frame, .nv.callgraph) cut finer.  emit() fills gaps and clips overlaps, so the
// pieces always partition the image, whatever the tables say.
//
// Section names and types: docs/format/cubin.md.

#include "format/cubin.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/num.h"
#include "format/cubin_work.h"

enum {
    SYMBOL_BYTES = 24,
    CALLGRAPH_RECORD = 8,
    // Section types that claim a size but have no bytes, beside SHT_NOBITS.  0x7000000A is seen on
    // `.nv_debug.shared` of six NVIDIA libraries.
    TYPE_CUDA_GLOBAL = 0x70000007,
    TYPE_CUDA_LOCAL = 0x70000009,
    TYPE_CUDA_SHARED = 0x7000000A,
    TYPE_CUDA_SHARED_RESERVED = 0x70000015,
    STO_CUDA_ENTRY = 0x10,  // st_other bit of a __global__ function
};

const char *cs_part_name(enum cs_part part) {
    static const char *const names[CS_PART_COUNT] = {
        "code",  "capmerc", "merc",    "constant", "attribute", "relocation",
        "symbol", "name",   "debug",   "global",   "header",    "padding",
        "ptx",   "ir",      "opaque",  "fatbin",   "host",      "archive",
    };
    return part < CS_PART_COUNT ? names[part] : "unknown";
}

// ---- section names ---------------------------------------------------------------------------

struct rule {
    struct cs_str prefix;
    uint32_t part;
    bool per_kernel;  // the rest of the name is a kernel's
};

#define RULE(prefix, part, per_kernel) {{prefix, sizeof(prefix) - 1}, part, per_kernel}

// First match wins, so longer prefixes come first.
static const struct rule rules[] = {
    RULE(".text.", CS_PART_CODE, true),
    RULE(".nv.info.", CS_PART_ATTRIBUTE, true),
    RULE(".nv.constant", CS_PART_CONSTANT, true),
    RULE(".nv.shared.", CS_PART_GLOBAL, true),
    RULE(".nv.local.", CS_PART_GLOBAL, true),
    RULE(".nv.capmerc.text.", CS_PART_CAPMERC, true),
    RULE(".nv.capmerc", CS_PART_CAPMERC, false),
    RULE(".nv.merc.rela.text.", CS_PART_MERC, true),
    RULE(".nv.merc.rel.text.", CS_PART_MERC, true),
    RULE(".nv.merc.nv.info.", CS_PART_MERC, true),
    RULE(".nv.merc.nv.shared.", CS_PART_MERC, true),
    RULE(".nv.merc.nv.constant", CS_PART_MERC, true),
    RULE(".nv.merc.", CS_PART_MERC, false),
    RULE(".rela.text.", CS_PART_RELOCATION, true),
    RULE(".rel.text.", CS_PART_RELOCATION, true),
    RULE(".rela.nv.constant", CS_PART_RELOCATION, true),
    RULE(".rel.nv.constant", CS_PART_RELOCATION, true),
    RULE(".rel", CS_PART_RELOCATION, false),
    RULE(".symtab", CS_PART_SYMBOL, false),
    RULE(".strtab", CS_PART_NAME, false),
    RULE(".shstrtab", CS_PART_NAME, false),
    RULE(".debug_", CS_PART_DEBUG, false),
    RULE(".nv_debug", CS_PART_DEBUG, false),
    RULE(".nv.global", CS_PART_GLOBAL, false),
    RULE(".text", CS_PART_CODE, false),
    RULE(".nv.", CS_PART_ATTRIBUTE, false),
    RULE(".note", CS_PART_ATTRIBUTE, false),
};

static const struct rule *find_rule(struct cs_str name) {
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (cs_str_starts(name, rules[i].prefix)) {
            return &rules[i];
        }
    }
    return NULL;
}

// What follows the prefix; ".nv.constant0.K" and its kin have a bank number and a dot between.
static struct cs_str kernel_in_name(struct cs_str name, const struct rule *rule) {
    size_t at = rule->prefix.len;
    if (rule->prefix.ptr[at - 1] != '.') {
        while (at < name.len && name.ptr[at] >= '0' && name.ptr[at] <= '9') {
            at++;
        }
        if (at >= name.len || name.ptr[at] != '.') {
            return CS_STR("");
        }
        at++;
    }
    return (struct cs_str){name.ptr + at, name.len - at};
}

// ---- kernels by name -------------------------------------------------------------------------

static uint32_t find_kernel(const struct cs_cubin *c, const struct cs_cubin_work *w,
                            struct cs_str name) {
    if (name.len == 0 || w->slot_count == 0) {
        return CS_NO_KERNEL;
    }
    uint32_t at = (uint32_t)cs_hash64(name.ptr, name.len) & (w->slot_count - 1);
    while (w->slots[at]) {
        const uint32_t k = w->slots[at] - 1;
        if (cs_str_eq(c->kernels.ptr[k].name, name)) {
            return k;
        }
        at = (at + 1) & (w->slot_count - 1);
    }
    return CS_NO_KERNEL;
}

static bool index_kernels(struct cs_cubin *c, struct cs_cubin_work *w) {
    uint32_t wanted = 16;
    while (wanted < c->kernels.count * 2) {
        wanted *= 2;
    }
    if (wanted > w->slot_count) {
        cs_free(w->slots);
        w->slots = cs_alloc(wanted * sizeof *w->slots);
        w->slot_count = w->slots ? wanted : 0;
    }
    if (!w->slots) {
        return false;
    }
    memset(w->slots, 0, w->slot_count * sizeof *w->slots);
    for (uint32_t k = 0; k < c->kernels.count; k++) {
        const struct cs_str name = c->kernels.ptr[k].name;
        uint32_t at = (uint32_t)cs_hash64(name.ptr, name.len) & (w->slot_count - 1);
        while (w->slots[at]) {
            at = (at + 1) & (w->slot_count - 1);
        }
        w->slots[at] = k + 1;
    }
    return true;
}

// ---- step 1: sections ------------------------------------------------------------------------

static bool has_bytes(const struct cs_elf_section *s) {
    switch (s->type) {
    case SHT_NULL:
    case SHT_NOBITS:
    case TYPE_CUDA_GLOBAL:
    case TYPE_CUDA_LOCAL:
    case TYPE_CUDA_SHARED:
    case TYPE_CUDA_SHARED_RESERVED: return false;
    default: return s->size > 0;
    }
}

static bool add_kernel(struct cs_cubin *c, const struct cs_cubin_work *w,
                       struct cs_cubin_section *s, struct cs_str name) {
    struct cs_cubin_kernel *k = cs_vec_push(&c->kernels);
    if (!k) {
        return false;
    }
    k->name = name;
    if (s->in_file) {
        (void)cs_elf_content(&w->elf, &s->elf, &k->code);
    }
    k->code_bytes = k->code.len;
    s->kernel = (uint32_t)(c->kernels.count - 1);
    return true;
}

static bool read_section(struct cs_cubin *c, struct cs_cubin_work *w, uint32_t index) {
    struct cs_cubin_section *s = &w->sections.ptr[index];
    s->elf = cs_elf_section(&w->elf, index);
    s->name = cs_elf_section_name(&w->elf, &s->elf);
    s->kernel = CS_NO_KERNEL;
    const struct rule *rule = find_rule(s->name);
    s->part = rule ? rule->part : CS_PART_OPAQUE;
    struct cs_view content;
    s->in_file = has_bytes(&s->elf);
    if (s->in_file && !cs_elf_content(&w->elf, &s->elf, &content)) {
        s->in_file = false;
        c->anomalies++;
    }
    if (s->elf.type == SHT_SYMTAB && w->symtab == 0) {
        w->symtab = index;
    }
    if (s->part == CS_PART_CODE && s->elf.type == SHT_PROGBITS) {
        c->code_bytes += s->in_file ? s->elf.size : 0;
        c->code_sections++;
        if (rule->per_kernel) {
            return add_kernel(c, w, s, kernel_in_name(s->name, rule));
        }
    }
    c->has_mercury = c->has_mercury || s->part == CS_PART_CAPMERC;
    return true;
}

static bool read_sections(struct cs_cubin *c, struct cs_cubin_work *w) {
    w->sections.count = 0;
    if (w->elf.shnum == 0) {
        return index_kernels(c, w);
    }
    if (!cs_vec_push_n(&w->sections, w->elf.shnum)) {
        return false;
    }
    for (uint32_t i = 0; i < w->elf.shnum; i++) {
        if (!read_section(c, w, i)) {
            return false;
        }
    }
    if (!index_kernels(c, w)) {
        return false;
    }
    for (uint32_t i = 0; i < w->elf.shnum; i++) {
        struct cs_cubin_section *s = &w->sections.ptr[i];
        const struct rule *rule = find_rule(s->name);
        if (s->kernel == CS_NO_KERNEL && rule && rule->per_kernel) {
            s->kernel = find_kernel(c, w, kernel_in_name(s->name, rule));
        }
        if (s->kernel == CS_NO_KERNEL || rule->part != CS_PART_CONSTANT) {
            continue;
        }
        if (cs_str_starts(s->name, CS_STR(".nv.constant0."))) {
            struct cs_cubin_kernel *k = &c->kernels.ptr[s->kernel];
            k->is_kernel = true;
            k->constant_bytes = s->elf.size;
        }
    }
    return true;
}

// ---- step 2: symbols -------------------------------------------------------------------------

static bool read_symbol(struct cs_cubin *c, struct cs_cubin_work *w, uint32_t index) {
    const struct cs_elf_section *table = &w->sections.ptr[w->symtab].elf;
    const struct cs_elf_symbol sym = cs_elf_symbol(&w->elf, table, index);
    if (sym.shndx >= w->elf.shnum) {
        return true;
    }
    const struct cs_cubin_section *s = &w->sections.ptr[sym.shndx];
    w->symbol_kernel.ptr[index] = s->kernel;
    if (sym.type != STT_FUNC || s->part != CS_PART_CODE) {
        return true;
    }
    const struct cs_str name = cs_elf_symbol_name(&w->elf, table, &sym);
    struct cs_cubin_kernel *k = s->kernel != CS_NO_KERNEL ? &c->kernels.ptr[s->kernel] : NULL;
    if (k && cs_str_eq(k->name, name)) {
        k->symbol_bytes = sym.size;
        k->is_local = sym.bind == STB_LOCAL;
        k->is_kernel = k->is_kernel || (sym.other & STO_CUDA_ENTRY);
        return true;
    }
    struct cs_cubin_func *f = cs_vec_push(&c->funcs);
    if (f) {
        *f = (struct cs_cubin_func){name, sym.size, s->kernel};
    }
    return f != NULL;
}

static bool read_symbols(struct cs_cubin *c, struct cs_cubin_work *w) {
    w->symbol_kernel.count = 0;
    if (w->symtab == 0) {
        return true;
    }
    const uint32_t count = cs_elf_symbol_count(&w->elf, &w->sections.ptr[w->symtab].elf);
    if (count == 0) {
        return true;
    }
    if (!cs_vec_push_n(&w->symbol_kernel, count)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        w->symbol_kernel.ptr[i] = CS_NO_KERNEL;
        if (!read_symbol(c, w, i)) {
            return false;
        }
    }
    return true;
}

static uint32_t symbol_owner(const struct cs_cubin_work *w, uint64_t symbol) {
    return symbol < w->symbol_kernel.count ? w->symbol_kernel.ptr[symbol] : CS_NO_KERNEL;
}

// ---- step 3: pieces --------------------------------------------------------------------------

static bool push_piece(struct cs_cubin *c, uint64_t off, uint64_t len, uint32_t kernel,
                       uint32_t part) {
    if (c->pieces.count > 0) {
        struct cs_cubin_piece *last = &c->pieces.ptr[c->pieces.count - 1];
        if (last->kernel == kernel && last->part == part) {
            last->len += len;
            return true;
        }
    }
    struct cs_cubin_piece *p = cs_vec_push(&c->pieces);
    if (p) {
        *p = (struct cs_cubin_piece){off, len, kernel, part};
    }
    return p != NULL;
}

// Owns [off, off+len), as far as nobody owns it yet.  A gap before it is padding: of the same
// owner when it is no larger than alignment explains, else of the module.
static bool emit(struct cs_cubin *c, struct cs_cubin_work *w, uint64_t off, uint64_t len,
                 uint32_t kernel, uint32_t part, uint64_t align) {
    const uint64_t end = off + len;
    if (off > w->cursor) {
        const uint64_t gap = off - w->cursor;
        const uint32_t owner = gap < align ? kernel : CS_NO_KERNEL;
        if (!push_piece(c, w->cursor, gap, owner, CS_PART_PADDING)) {
            return false;
        }
        w->cursor = off;
    }
    if (end <= w->cursor) {
        return true;
    }
    const uint64_t from = w->cursor;
    w->cursor = end;
    return push_piece(c, from, end - from, kernel, part);
}

static int claim_cmp(const void *a, const void *b) {
    const struct cs_cubin_claim *x = a, *y = b;
    if (x->off != y->off) {
        return x->off < y->off ? -1 : 1;
    }
    return x->len > y->len ? -1 : x->len < y->len;
}

// Emits the claims of one section in order; what nobody claims belongs to the section's owner.
static bool emit_claims(struct cs_cubin *c, struct cs_cubin_work *w,
                        const struct cs_cubin_section *s) {
    bool sorted = true;
    for (size_t i = 1; i < w->claims.count && sorted; i++) {
        sorted = claim_cmp(&w->claims.ptr[i - 1], &w->claims.ptr[i]) <= 0;
    }
    if (!sorted) {
        qsort(w->claims.ptr, w->claims.count, sizeof *w->claims.ptr, claim_cmp);
    }
    const uint64_t base = s->elf.off;
    uint64_t done = 0;
    for (size_t i = 0; i < w->claims.count; i++) {
        const struct cs_cubin_claim *claim = &w->claims.ptr[i];
        if (claim->off >= s->elf.size) {
            break;
        }
        const uint64_t len = cs_min_u64(claim->len, s->elf.size - claim->off);
        if (claim->off > done &&
            !emit(c, w, base + done, claim->off - done, s->kernel, s->part, s->elf.align)) {
            return false;
        }
        if (!emit(c, w, base + claim->off, len, claim->kernel, s->part, s->elf.align)) {
            return false;
        }
        done = cs_max_u64(done, claim->off + len);
    }
    return done == s->elf.size ||
           emit(c, w, base + done, s->elf.size - done, s->kernel, s->part, s->elf.align);
}

static bool claim(struct cs_cubin_work *w, uint64_t off, uint64_t len, uint32_t kernel) {
    struct cs_cubin_claim *x = len && kernel != CS_NO_KERNEL ? cs_vec_push(&w->claims) : NULL;
    if (x) {
        *x = (struct cs_cubin_claim){off, len, kernel};
    }
    return x || !len || kernel == CS_NO_KERNEL;
}

static bool claim_symtab(struct cs_cubin_work *w) {
    for (uint32_t i = 0; i < w->symbol_kernel.count; i++) {
        if (!claim(w, (uint64_t)i * SYMBOL_BYTES, SYMBOL_BYTES, w->symbol_kernel.ptr[i])) {
            return false;
        }
    }
    return true;
}

static bool claim_strtab(struct cs_cubin_work *w) {
    const struct cs_elf_section *table = &w->sections.ptr[w->symtab].elf;
    for (uint32_t i = 0; i < w->symbol_kernel.count; i++) {
        if (w->symbol_kernel.ptr[i] == CS_NO_KERNEL) {
            continue;
        }
        const struct cs_elf_symbol sym = cs_elf_symbol(&w->elf, table, i);
        const struct cs_str name = cs_elf_symbol_name(&w->elf, table, &sym);
        if (name.len && !claim(w, sym.name_off, name.len + 1, w->symbol_kernel.ptr[i])) {
            return false;
        }
    }
    return true;
}

static bool claim_shstrtab(struct cs_cubin_work *w) {
    for (uint32_t i = 0; i < w->sections.count; i++) {
        const struct cs_cubin_section *s = &w->sections.ptr[i];
        if (s->name.len && !claim(w, s->elf.name_off, s->name.len + 1, s->kernel)) {
            return false;
        }
    }
    return true;
}

static bool claim_nvinfo(struct cs_cubin_work *w, struct cs_view content) {
    struct cs_nvinfo_record r;
    for (uint64_t at = 0; cs_nvinfo_next(content, &at, &r);) {
        // Module-wide records name their kernel's symbol first.
        const uint32_t owner =
            r.data.len >= 4 ? symbol_owner(w, cs_u32(r.data, 0)) : CS_NO_KERNEL;
        if (!claim(w, r.off, r.len, owner)) {
            return false;
        }
    }
    return true;
}

static bool claim_callgraph(struct cs_cubin_work *w, struct cs_view content) {
    for (uint64_t at = 0; at + CALLGRAPH_RECORD <= content.len; at += CALLGRAPH_RECORD) {
        if (!claim(w, at, CALLGRAPH_RECORD, symbol_owner(w, cs_u32(content, at)))) {
            return false;
        }
    }
    return true;
}

// Frame descriptions name their kernel only through the relocation of their start address.
static bool claim_debug_frame(struct cs_cubin_work *w, uint32_t index, struct cs_view content) {
    struct cs_view rel = {0};
    uint64_t step = 0;
    for (uint32_t i = 0; i < w->sections.count && step == 0; i++) {
        const struct cs_elf_section *s = &w->sections.ptr[i].elf;
        if ((s->type == SHT_REL || s->type == SHT_RELA) && s->info == index &&
            cs_elf_content(&w->elf, s, &rel)) {
            step = s->type == SHT_REL ? 16 : 24;
        }
    }
    uint64_t r = 0;
    for (uint64_t at = 0; step && at + 8 <= content.len;) {
        uint64_t len = (uint64_t)cs_u32(content, at) + 4;
        if (len == 0x100000003ull) {  // 64-bit DWARF: 0xffffffff, then the length
            len = cs_u64(content, at + 4);
            len = len > content.len ? content.len : len + 12;
        }
        if (len > content.len - at) {
            break;
        }
        while (r + step <= rel.len && cs_u64(rel, r) < at) {
            r += step;
        }
        if (r + step <= rel.len && cs_u64(rel, r) < at + len &&
            !claim(w, at, len, symbol_owner(w, cs_u64(rel, r + 8) >> 32))) {
            return false;
        }
        at += len;
    }
    return true;
}

static bool claim_section(struct cs_cubin_work *w, uint32_t index, struct cs_view content) {
    const struct cs_cubin_section *s = &w->sections.ptr[index];
    w->claims.count = 0;
    if (index == w->symtab) {
        return claim_symtab(w);
    }
    if (w->symtab && index == w->sections.ptr[w->symtab].elf.link) {
        // One table may serve as both string tables.
        return claim_strtab(w) && (index != w->elf.shstrndx || claim_shstrtab(w));
    }
    if (index == w->elf.shstrndx) {
        return claim_shstrtab(w);
    }
    if (cs_str_eq(s->name, CS_STR(".nv.info"))) {
        return claim_nvinfo(w, content);
    }
    if (cs_str_eq(s->name, CS_STR(".nv.callgraph"))) {
        return claim_callgraph(w, content);
    }
    if (cs_str_eq(s->name, CS_STR(".debug_frame"))) {
        return claim_debug_frame(w, index, content);
    }
    return true;
}

static bool emit_section(struct cs_cubin *c, struct cs_cubin_work *w, uint32_t index) {
    struct cs_view content;
    const struct cs_cubin_section *s = &w->sections.ptr[index];
    if (!cs_elf_content(&w->elf, &s->elf, &content)) {
        return true;
    }
    if (s->elf.off < w->cursor && s->part != CS_PART_MERC) {
        c->anomalies++;  // .nv.merc.nv.constant* shares the bytes of .nv.constant*: by design
    }
    return claim_section(w, index, content) && emit_claims(c, w, s);
}

// Pseudo sections in `order`, above any real index.
enum { ORDER_SECTION_HEADERS = 0xFFFFFFFEu, ORDER_PROGRAM_HEADERS = 0xFFFFFFFFu };

struct place {
    uint64_t off;
    uint32_t rank;  // aliases after what they alias
    uint32_t index;
};

static int place_cmp(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    if (x->off != y->off) {
        return x->off < y->off ? -1 : 1;
    }
    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

static bool emit_headers(struct cs_cubin *c, struct cs_cubin_work *w, uint32_t which) {
    const struct cs_elf *elf = &w->elf;
    if (which == ORDER_PROGRAM_HEADERS) {
        return emit(c, w, elf->phoff, (uint64_t)elf->phnum * sizeof(Elf64_Phdr), CS_NO_KERNEL,
                    CS_PART_HEADER, 8);
    }
    for (uint32_t i = 0; i < elf->shnum; i++) {
        if (!emit(c, w, elf->shoff + (uint64_t)i * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr),
                  w->sections.ptr[i].kernel, CS_PART_HEADER, 8)) {
            return false;
        }
    }
    return true;
}

static bool emit_all(struct cs_cubin *c, struct cs_cubin_work *w, uint64_t image_bytes) {
    CS_VEC(struct place) places = {0};
    bool ok = cs_vec_push_n(&places, (size_t)w->elf.shnum + 2) != NULL;
    size_t used = 0;
    bool sorted = true;
    for (uint32_t i = 0; ok && i < w->elf.shnum; i++) {
        const struct cs_cubin_section *s = &w->sections.ptr[i];
        if (s->in_file) {
            places.ptr[used++] = (struct place){s->elf.off, s->part == CS_PART_MERC, i};
        }
    }
    // The offset of an empty table means nothing and may lie anywhere.
    if (ok && w->elf.phnum) {
        places.ptr[used++] = (struct place){w->elf.phoff, 0, ORDER_PROGRAM_HEADERS};
    }
    if (ok && w->elf.shnum) {
        places.ptr[used++] = (struct place){w->elf.shoff, 0, ORDER_SECTION_HEADERS};
    }
    if (ok) {
        for (size_t i = 1; i < used && sorted; i++) {
            sorted = place_cmp(&places.ptr[i - 1], &places.ptr[i]) <= 0;
        }
        if (!sorted) {
            qsort(places.ptr, used, sizeof *places.ptr, place_cmp);
        }
    }
    w->cursor = 0;
    ok = ok && emit(c, w, 0, cs_min_u64(sizeof(Elf64_Ehdr), image_bytes), CS_NO_KERNEL,
                    CS_PART_HEADER, 1);
    for (size_t i = 0; ok && i < used; i++) {
        const uint32_t index = places.ptr[i].index;
        ok = index >= ORDER_SECTION_HEADERS ? emit_headers(c, w, index) : emit_section(c, w, index);
    }
    cs_vec_fini(&places);
    return ok && (w->cursor >= image_bytes ||
                  push_piece(c, w->cursor, image_bytes - w->cursor, CS_NO_KERNEL, CS_PART_PADDING));
}

// ---- the whole -------------------------------------------------------------------------------

static void reset(struct cs_cubin *c) {
    memset(c, 0, offsetof(struct cs_cubin, kernels));
    c->kernels.count = c->funcs.count = c->pieces.count = 0;
    c->work->symtab = 0;
}

enum { FIRST_ACCELERATED_SM = 90 };  // older chips have the bit without the meaning (sm_60, CUDA 9)

static void read_header(struct cs_cubin *c, const struct cs_elf *elf) {
    c->abi = elf->abi_version;
    c->relocatable = elf->type == ET_REL;
    if (c->abi >= 8) {
        c->sm = (elf->flags >> 8) & 0xFF;
        c->accelerated = (elf->flags & 0x8) != 0;  // 12.8 and 12.9; from 13.0 on in .nv.compat
    } else {
        c->sm = elf->flags & 0xFF;
        c->virtual_sm = (elf->flags >> 16) & 0xFF;
        c->accelerated = c->sm >= FIRST_ACCELERATED_SM && (elf->flags & 0x800) != 0;
        c->toolkit_x10 = elf->version >= 50 && elf->version < 256 ? elf->version : 0;
    }
}

static enum cs_code open_cubin(struct cs_view image, struct cs_elf *elf, struct cs_err *err) {
    const enum cs_code code = cs_elf_open(image, elf, err);
    if (code != CS_OK) {
        return cs_wrap(err, code, "cubin");
    }
    if (elf->machine != CS_EM_CUDA) {
        return cs_fail(err, CS_FORMAT, "not a cubin: ELF machine %u", elf->machine);
    }
    return CS_OK;
}

enum cs_code cs_cubin_identify(struct cs_view image, struct cs_cubin *out, struct cs_err *err) {
    struct cs_elf elf;
    *out = (struct cs_cubin){0};
    CS_TRY(open_cubin(image, &elf, err));
    read_header(out, &elf);
    struct cs_elf_section compat;
    struct cs_view content;
    if (cs_elf_find(&elf, ".nv.compat", &compat) && cs_elf_content(&elf, &compat, &content)) {
        cs_cubin_read_compat(out, content);
    }
    return CS_OK;
}

enum cs_code cs_cubin_read(struct cs_view image, struct cs_cubin *c, struct cs_err *err) {
    if (!c->work) {
        c->work = cs_calloc(1, sizeof *c->work);
        if (!c->work) {
            return cs_fail(err, CS_NOMEM, "no memory to read a cubin");
        }
    }
    reset(c);
    struct cs_cubin_work *w = c->work;
    CS_TRY(open_cubin(image, &w->elf, err));
    read_header(c, &w->elf);
    if (!read_sections(c, w) || !read_symbols(c, w) || !emit_all(c, w, image.len)) {
        return cs_fail(err, CS_NOMEM, "no memory to read a cubin of %llu bytes",
                       (unsigned long long)image.len);
    }
    cs_cubin_read_info(c, w);
    return CS_OK;
}

void cs_cubin_fini(struct cs_cubin *c) {
    if (c->work) {
        cs_vec_fini(&c->work->sections);
        cs_vec_fini(&c->work->symbol_kernel);
        cs_vec_fini(&c->work->claims);
        cs_free(c->work->slots);
        cs_free(c->work);
    }
    cs_vec_fini(&c->kernels);
    cs_vec_fini(&c->funcs);
    cs_vec_fini(&c->pieces);
    *c = (struct cs_cubin){0};
}
