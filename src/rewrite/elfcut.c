// Elfcut: survey of a file, and the order of the steps of a plan.
//
// docs/format/elf-subset.md describes the structures that are handled.  Everything that this part
// does not recognise as harmless (device sections that share bytes with anything else, or that lie
// outside one LOAD segment) refuses the whole file: the caller then keeps the original.
#include "rewrite/elfcut.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/num.h"
#include "format/fatbin.h"
#include "rewrite/elfcut_work.h"

enum { MAX_DEVICE_SECTIONS = 64 };

const char *cs_elfcut_pin_name(enum cs_elfcut_pin pin) {
    switch (pin) {
        case CS_ELFCUT_MOVABLE: return "movable";
        case CS_ELFCUT_NO_WRAPPER: return "no wrapper";
        case CS_ELFCUT_STORAGE: return "pointer cannot be rewritten";
        case CS_ELFCUT_RELOCATION: return "relocation";
        case CS_ELFCUT_SYMBOL: return "symbol";
        case CS_ELFCUT_UNALIGNED: return "unaligned";
        case CS_ELFCUT_INSIDE: return "pointer into it";
        case CS_ELFCUT_FOREIGN: break;
    }
    return "not a container";
}

const char *cs_elfcut_how_name(enum cs_elfcut_how how) {
    switch (how) {
        case CS_ELFCUT_UNCHANGED: return "unchanged";
        case CS_ELFCUT_CUT: return "cut";
        case CS_ELFCUT_FILLED: return "filled";
        case CS_ELFCUT_GROWN: break;
    }
    return "grown";
}

void cs_cut_reason(struct cs_elfcut *cut, const char *fmt, ...) {
    if (cut->result.reason[0] == '\0') {
        va_list args;
        va_start(args, fmt);
        (void)vsnprintf(cut->result.reason, sizeof cut->result.reason, fmt, args);
        va_end(args);
    }
}

static bool ranges_meet(uint64_t a_off, uint64_t a_len, uint64_t b_off, uint64_t b_len) {
    return a_off < b_off ? b_off - a_off < a_len : a_off - b_off < b_len;
}

// The LOAD that holds the whole section at its address.
static enum cs_code find_load(const struct cs_elfcut *cut, struct cs_elfcut_section *d,
                              struct cs_err *err) {
    d->load = UINT32_MAX;
    for (uint32_t i = 0; i < cut->elf.phnum; i++) {
        const struct cs_elf_segment s = cs_elf_segment(&cut->elf, i);
        if (s.filesz == 0 || !ranges_meet(s.off, s.filesz, d->off, d->size)) {
            continue;
        }
        const bool inside = d->off >= s.off && d->off - s.off <= s.filesz &&
                            d->size <= s.filesz - (d->off - s.off);
        if (s.type != PT_LOAD || !inside || d->load != UINT32_MAX ||
            s.vaddr + (d->off - s.off) != d->addr) {
            return cs_fail_at(err, CS_UNSUPPORTED, d->off,
                              "device section does not lie in one LOAD segment");
        }
        d->load = i;
    }
    return d->load != UINT32_MAX
               ? CS_OK
               : cs_fail_at(err, CS_UNSUPPORTED, d->off, "device section is in no LOAD segment");
}

static enum cs_code add_section(struct cs_elfcut *cut, const struct cs_elf_section *s,
                                bool relocatable, struct cs_err *err) {
    struct cs_view content;
    if (!cs_elf_content(&cut->elf, s, &content)) {
        return cs_fail_at(err, CS_FORMAT, s->off, "device section leaves the file");
    }
    if (cut->sections.count >= MAX_DEVICE_SECTIONS) {
        return cs_fail(err, CS_UNSUPPORTED, "more than %d device sections", MAX_DEVICE_SECTIONS);
    }
    struct cs_elfcut_section *d = cs_vec_push(&cut->sections);
    if (!d) {
        return cs_fail(err, CS_NOMEM, "no memory for device sections");
    }
    *d = (struct cs_elfcut_section){.index = s->index, .relocatable = relocatable, .off = s->off,
                                    .addr = s->addr, .size = s->size, .load = UINT32_MAX};
    if (s->flags & SHF_COMPRESSED) {
        return cs_fail_at(err, CS_UNSUPPORTED, s->off, "device section is compressed");
    }
    return cut->work->object ? CS_OK : find_load(cut, d, err);
}

static int compare_sections(const void *a, const void *b) {
    const struct cs_elfcut_section *x = a;
    const struct cs_elfcut_section *y = b;
    return (x->off > y->off) - (x->off < y->off);
}

static enum cs_code find_sections(struct cs_elfcut *cut, struct cs_err *err) {
    const struct cs_elf *elf = &cut->elf;
    for (uint32_t i = 1; i < elf->shnum; i++) {
        const struct cs_elf_section s = cs_elf_section(elf, i);
        const struct cs_str name = cs_cstr(elf->shstrtab, s.name_off, 32, NULL);
        bool relocatable;
        if (s.type == SHT_PROGBITS && s.size > 0 &&
            cs_wrappers_device_section(name, &relocatable)) {
            CS_TRY(add_section(cut, &s, relocatable, err));
        }
    }
    if (cut->sections.count == 0) {
        return cs_fail(err, CS_NOTFOUND, "no device sections");
    }
    qsort(cut->sections.ptr, cut->sections.count, sizeof *cut->sections.ptr, compare_sections);
    return CS_OK;
}

static enum cs_code check_apart(const struct cs_elfcut *cut, uint64_t off, uint64_t len,
                                const char *what, struct cs_err *err) {
    for (size_t i = 0; i < cut->sections.count; i++) {
        const struct cs_elfcut_section *d = &cut->sections.ptr[i];
        if (len > 0 && ranges_meet(off, len, d->off, d->size)) {
            return cs_fail_at(err, CS_UNSUPPORTED, d->off, "device section shares bytes with %s",
                              what);
        }
    }
    return CS_OK;
}

// Bytes that two structures share cannot be edited for one of them.
static enum cs_code check_overlaps(const struct cs_elfcut *cut, struct cs_err *err) {
    const struct cs_elf *elf = &cut->elf;
    CS_TRY(check_apart(cut, 0, sizeof(Elf64_Ehdr), "the ELF header", err));
    CS_TRY(check_apart(cut, elf->phoff, (uint64_t)elf->phnum * sizeof(Elf64_Phdr),
                       "the program headers", err));
    CS_TRY(check_apart(cut, elf->shoff, (uint64_t)elf->shnum * sizeof(Elf64_Shdr),
                       "the section headers", err));
    for (uint32_t i = 1; i < elf->shnum; i++) {
        const struct cs_elf_section s = cs_elf_section(elf, i);
        if (s.type != SHT_NOBITS && s.type != SHT_NULL && !cs_cut_section_of(cut, i)) {
            CS_TRY(check_apart(cut, s.off, s.size, "another section", err));
        }
    }
    for (size_t i = 1; i < cut->sections.count; i++) {
        const struct cs_elfcut_section *d = &cut->sections.ptr[i - 1];
        if (ranges_meet(d->off, d->size, d[1].off, d[1].size)) {
            return cs_fail_at(err, CS_UNSUPPORTED, d[1].off, "device sections overlap");
        }
    }
    return CS_OK;
}

struct cs_elfcut_section *cs_cut_section_of(const struct cs_elfcut *cut, uint32_t index) {
    for (size_t i = 0; i < cut->sections.count; i++) {
        if (cut->sections.ptr[i].index == index) {
            return &cut->sections.ptr[i];
        }
    }
    return NULL;
}

struct cs_elfcut_block *cs_cut_block_of(const struct cs_elfcut *cut, uint64_t off) {
    size_t low = 0;
    size_t high = cut->blocks.count;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (cut->blocks.ptr[mid].off <= off) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    if (low == 0 || off - cut->blocks.ptr[low - 1].off >= cut->blocks.ptr[low - 1].bytes) {
        return NULL;
    }
    return &cut->blocks.ptr[low - 1];
}

// Size of the container at the start of v by its header alone; 0 when there is none.
static uint64_t container_bytes(struct cs_view v) {
    if (v.len < CS_FATBIN_HEADER_BYTES || cs_u32(v, 0) != CS_FATBIN_MAGIC ||
        cs_u16(v, 6) != CS_FATBIN_HEADER_BYTES ||
        cs_u64(v, 8) > v.len - CS_FATBIN_HEADER_BYTES) {
        return 0;
    }
    return CS_FATBIN_HEADER_BYTES + cs_u64(v, 8);
}

static enum cs_code add_block(struct cs_elfcut *cut, uint32_t section, uint64_t at, uint64_t bytes,
                              bool container, struct cs_err *err) {
    if (cut->blocks.count >= CS_MAX_CONTAINERS) {
        return cs_fail(err, CS_LIMIT, "more than %d containers", CS_MAX_CONTAINERS);
    }
    struct cs_elfcut_block *b = cs_vec_push(&cut->blocks);
    if (!b) {
        return cs_fail(err, CS_NOMEM, "no memory for containers");
    }
    struct cs_elfcut_section *d = &cut->sections.ptr[section];
    const bool aligned = (d->off + at) % CS_CUT_ALIGN == 0 && (d->addr + at) % CS_CUT_ALIGN == 0 &&
                         bytes % CS_CUT_ALIGN == 0;
    *b = (struct cs_elfcut_block){
        .off = d->off + at,
        .bytes = bytes,
        .section = section,
        .at = at,
        .pin = !container ? CS_ELFCUT_FOREIGN
               : aligned  ? CS_ELFCUT_MOVABLE
                          : CS_ELFCUT_UNALIGNED,
    };
    d->count++;
    return CS_OK;
}

static bool all_zero(struct cs_view v) {
    return v.len == 0 || (v.ptr[0] == 0 && memcmp(v.ptr, v.ptr + 1, v.len - 1) == 0);
}

// Splits a section into containers and what lies between them: zeros, which are padding, or foreign
// bytes, which stay whole, zeros among them included.
static enum cs_code find_blocks(struct cs_elfcut *cut, uint32_t section, struct cs_err *err) {
    struct cs_elfcut_section *d = &cut->sections.ptr[section];
    d->first = (uint32_t)cut->blocks.count;
    const struct cs_view v = cs_view_at(cut->elf.file, d->off, d->size);
    uint64_t between = 0;  // start of the bytes between containers that end at `at`
    for (uint64_t at = 0; at <= v.len;) {
        const uint64_t bytes = container_bytes(cs_view_at(v, at, v.len - at));
        if (bytes == 0 && at < v.len) {
            at += cs_min_u64(v.len - at, CS_CUT_ALIGN);
            continue;
        }
        if (!all_zero(cs_view_at(v, between, at - between))) {
            CS_TRY(add_block(cut, section, between, at - between, false, err));
        }
        if (bytes == 0) {
            break;
        }
        CS_TRY(add_block(cut, section, at, bytes, true, err));
        at += bytes;
        between = at;
    }
    return CS_OK;
}

static enum cs_code survey(struct cs_elfcut *cut, struct cs_view file, struct cs_err *err) {
    CS_TRY(cs_elf_open(file, &cut->elf, err));
    const struct cs_elf *elf = &cut->elf;
    if (elf->machine != EM_X86_64 && elf->machine != EM_AARCH64) {
        return cs_fail(err, CS_UNSUPPORTED, "machine %u is not handled", elf->machine);
    }
    if (elf->type != ET_REL && elf->type != ET_DYN && elf->type != ET_EXEC) {
        return cs_fail(err, CS_UNSUPPORTED, "ELF type %u is not handled", elf->type);
    }
    cut->work->object = elf->type == ET_REL;
    // The granularity of mapping: 64 KiB pages exist on aarch64, 4 KiB is all of x86-64.
    cut->work->page = elf->machine == EM_AARCH64 ? 0x10000 : 0x1000;
    CS_TRY(find_sections(cut, err));
    CS_TRY(check_overlaps(cut, err));
    for (uint32_t i = 0; i < cut->sections.count; i++) {
        CS_TRY(find_blocks(cut, i, err));
    }
    CS_TRY(cs_wrappers_find(elf, &cut->wrappers, err));
    return cs_cut_survey_references(cut, err);
}

enum cs_code cs_elfcut_open(struct cs_view file, struct cs_elfcut *cut, struct cs_err *err) {
    *cut = (struct cs_elfcut){.work = cs_calloc(1, sizeof *cut->work)};
    if (!cut->work) {
        return cs_fail(err, CS_NOMEM, "no memory to edit a file");
    }
    cs_arena_init(&cut->work->arena);
    const enum cs_code code = survey(cut, file, err);
    if (code != CS_OK) {
        cs_elfcut_close(cut);
    }
    return code;
}

// Forgets an earlier plan.
static void reset(struct cs_elfcut *cut) {
    struct cs_elfcut_work *w = cut->work;
    cs_arena_fini(&w->arena);
    cs_arena_init(&w->arena);
    w->patches.count = w->holes.count = w->ops.count = 0;
    w->shifts.count = w->phdrs.count = w->order.count = 0;
    w->tail_bytes = 0;
    cs_pieces_fini(&cut->pieces);
    cut->result = (struct cs_elfcut_result){.before_bytes = cut->elf.file.len};
    for (size_t i = 0; i < cut->sections.count; i++) {
        struct cs_elfcut_section *d = &cut->sections.ptr[i];
        d->changed = d->relocated = false;
        d->new_start = d->grown_to = 0;
        d->new_size = d->capacity = d->size;
    }
    for (size_t i = 0; i < cut->blocks.count; i++) {
        struct cs_elfcut_block *b = &cut->blocks.ptr[i];
        b->at = b->off - cut->sections.ptr[b->section].off;
    }
}

void cs_elfcut_close(struct cs_elfcut *cut) {
    if (cut->work) {
        reset(cut);
        cs_arena_fini(&cut->work->arena);
        cs_vec_fini(&cut->work->patches);
        cs_vec_fini(&cut->work->holes);
        cs_vec_fini(&cut->work->ops);
        cs_vec_fini(&cut->work->shifts);
        cs_vec_fini(&cut->work->phdrs);
        cs_vec_fini(&cut->work->order);
        cs_free(cut->work);
    }
    cs_wrappers_fini(&cut->wrappers);
    cs_vec_fini(&cut->sections);
    cs_vec_fini(&cut->blocks);
    *cut = (struct cs_elfcut){0};
}

struct cs_elfcut_block *cs_elfcut_at(struct cs_elfcut *cut, uint64_t off) {
    struct cs_elfcut_block *b = cs_cut_block_of(cut, off);
    return b && b->off == off ? b : NULL;
}

bool cs_elfcut_release(struct cs_elfcut_block *block) {
    if (block->pin == CS_ELFCUT_NO_WRAPPER) {
        block->pin = CS_ELFCUT_MOVABLE;
    }
    return block->pin == CS_ELFCUT_MOVABLE;
}

void cs_elfcut_replace(struct cs_elfcut *cut, struct cs_elfcut_block *block, struct cs_view fresh) {
    const struct cs_view old = cs_view_at(cut->elf.file, block->off, block->bytes);
    block->replace = fresh.len != old.len || memcmp(fresh.ptr, old.ptr, old.len) != 0;
    block->fresh = fresh;
}

// Marks the sections in which something changes; refuses requests that must not be granted.
static enum cs_code check_requests(struct cs_elfcut *cut, bool *any, struct cs_err *err) {
    *any = false;
    for (size_t i = 0; i < cut->blocks.count; i++) {
        const struct cs_elfcut_block *b = &cut->blocks.ptr[i];
        if (!b->replace) {
            continue;
        }
        struct cs_elfcut_section *d = &cut->sections.ptr[b->section];
        if (b->pin == CS_ELFCUT_INSIDE || b->pin == CS_ELFCUT_FOREIGN || d->locked) {
            return cs_fail_at(err, CS_CONFLICT, b->off, "container must stay as it is: %s",
                              d->locked ? "its section is referred to as a whole"
                                        : cs_elfcut_pin_name(b->pin));
        }
        if (container_bytes(b->fresh) != b->fresh.len || b->fresh.len % CS_CUT_ALIGN != 0) {
            return cs_fail_at(err, CS_INTERNAL, b->off, "new bytes are not one whole container");
        }
        d->changed = true;
        *any = true;
    }
    return CS_OK;
}

static enum cs_code plan_changes(struct cs_elfcut *cut, bool fill_only, struct cs_err *err) {
    CS_TRY(cs_cut_place(cut, err));
    CS_TRY(cs_cut_find_holes(cut, fill_only, err));
    if (!cut->work->object) {
        CS_TRY(cs_cut_plan_segments(cut, err));
    }
    CS_TRY(cs_cut_make_shifts(cut, err));
    CS_TRY(cs_cut_plan_tail(cut, err));
    CS_TRY(cs_cut_fix_pointers(cut, err));
    return cs_cut_emit(cut, err);
}

enum cs_code cs_elfcut_plan(struct cs_elfcut *cut, const struct cs_elfcut_options *options,
                            struct cs_err *err) {
    reset(cut);
    bool any;
    CS_TRY(check_requests(cut, &any, err));
    if (any) {
        CS_TRY(plan_changes(cut, options && options->fill_only, err));
    } else {
        cs_pieces_add(&cut->pieces, cut->elf.file.ptr, cut->elf.file.len);
    }
    struct cs_elfcut_result *r = &cut->result;
    r->after_bytes = cut->pieces.bytes;
    r->how = !any                                ? CS_ELFCUT_UNCHANGED
             : r->after_bytes < r->before_bytes ? CS_ELFCUT_CUT
             : r->after_bytes > r->before_bytes ? CS_ELFCUT_GROWN
                                                : CS_ELFCUT_FILLED;
    return cs_pieces_check(&cut->pieces, err);
}

static enum cs_code verify_pieces(const void *ctx, struct cs_view produced, struct cs_err *err) {
    return cs_elfcut_verify(ctx, produced, err);
}

enum cs_code cs_elfcut_commit(const struct cs_elfcut *cut, const char *path, mode_t mode,
                              struct cs_err *err) {
    return cs_pieces_commit(&cut->pieces, path, mode, verify_pieces, cut, err);
}
