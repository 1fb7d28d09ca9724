// Elfcut, output: all edits as operations on ranges of the original, in file order, then the
// pieces.
//
// Edits of fields are gathered into stretches: neighbours closer than a page are copied together
// with what lies between them and patched in the copy, so that thousands of pointers make a few
// dozen pieces.  Two edits of one byte mean that the file's structures overlap in a way that was
// not foreseen: the plan fails, and the original stays.
#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/num.h"
#include "rewrite/elfcut_work.h"

enum { STRETCH_GAP = 4096 };

static enum cs_code add_shift(struct cs_elfcut_work *w, uint64_t off, uint64_t end, uint64_t now,
                              struct cs_err *err) {
    const struct cs_cut_shift last =
        w->shifts.count ? w->shifts.ptr[w->shifts.count - 1] : (struct cs_cut_shift){0};
    struct cs_cut_shift *s = cs_vec_push(&w->shifts);
    if (!s) {
        return cs_fail(err, CS_NOMEM, "no memory for a list of edits");
    }
    *s = (struct cs_cut_shift){.off = off, .end = end, .now = now, .free_end = end,
                               .minus = last.minus + (end - off), .plus = last.plus + now};
    return CS_OK;
}

// A section gives up the free bytes at its ends only where they really leave the file; zeros that
// stay remain its own.
static void settle_sections(struct cs_elfcut *cut) {
    const struct cs_elfcut_work *w = cut->work;
    for (size_t i = 0; i < cut->sections.count; i++) {
        struct cs_elfcut_section *d = &cut->sections.ptr[i];
        if (!d->changed || d->grown_to > 0 || d->relocated) {
            continue;
        }
        const uint64_t first = d->off + d->new_start;
        const uint64_t last = first + d->new_size;
        bool head = false;
        bool tail = false;
        for (size_t k = 0; k < w->holes.count; k++) {
            const struct cs_cut_hole *h = &w->holes.ptr[k];
            head = head || (h->removed > 0 && h->b == first);
            tail = tail || (h->removed > 0 && h->a == last);
        }
        d->new_start = head ? d->new_start : 0;
        d->new_size = (tail ? last : d->off + d->size) - d->off - d->new_start;
    }
}

enum cs_code cs_cut_make_shifts(struct cs_elfcut *cut, struct cs_err *err) {
    struct cs_elfcut_work *w = cut->work;
    settle_sections(cut);
    size_t hole = 0;
    for (size_t i = 0; i <= cut->sections.count; i++) {
        const struct cs_elfcut_section *d = i < cut->sections.count ? &cut->sections.ptr[i] : NULL;
        for (; hole < w->holes.count && (!d || w->holes.ptr[hole].a < d->off); hole++) {
            const struct cs_cut_hole *h = &w->holes.ptr[hole];
            if (h->removed > 0) {
                CS_TRY(add_shift(w, h->a, h->a + h->removed, 0, err));
                w->shifts.ptr[w->shifts.count - 1].free_end = h->b;
                cut->result.holes++;
            }
            cut->result.filled_bytes += h->b - h->a - h->removed;
        }
        if (d && d->grown_to > 0) {
            CS_TRY(add_shift(w, d->off, d->off + d->size, d->grown_to, err));
        }
    }
    return CS_OK;
}

uint64_t cs_cut_map(const struct cs_elfcut_work *w, uint64_t off) {
    size_t low = 0;
    size_t high = w->shifts.count;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (w->shifts.ptr[mid].off < off) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    if (low == 0) {
        return off;
    }
    const struct cs_cut_shift *s = &w->shifts.ptr[low - 1];
    if (off >= s->end) {
        return off - s->minus + s->plus;
    }
    const uint64_t start = s->off - (s->minus - (s->end - s->off)) + (s->plus - s->now);
    return start + cs_min_u64(off - s->off, s->now);
}

static enum cs_code add_op(struct cs_elfcut *cut, struct cs_cut_op op, struct cs_err *err) {
    if (op.len == 0 && op.out_len == 0) {
        return CS_OK;
    }
    struct cs_cut_op *slot = cs_vec_push(&cut->work->ops);
    if (!slot) {
        return cs_fail(err, CS_NOMEM, "no memory for a list of edits");
    }
    *slot = op;
    return CS_OK;
}

// A section that grew is built in memory as a whole.
static enum cs_code grown_section(struct cs_elfcut *cut, const struct cs_elfcut_section *d,
                                  struct cs_err *err) {
    uint8_t *p = cs_arena_alloc(&cut->work->arena, d->grown_to);
    if (!p) {
        return cs_fail(err, CS_NOMEM, "no memory for a section of %llu bytes",
                       (unsigned long long)d->grown_to);
    }
    for (uint32_t i = d->first; i < d->first + d->count; i++) {
        const struct cs_elfcut_block *b = &cut->blocks.ptr[i];
        memcpy(p + b->at, cs_cut_block_ptr(cut, b), cs_cut_block_bytes(b));
    }
    return add_op(cut, (struct cs_cut_op){d->off, d->size, p, d->grown_to}, err);
}

static enum cs_code section_ops(struct cs_elfcut *cut, const struct cs_elfcut_section *d,
                                struct cs_err *err) {
    if (d->grown_to > 0) {
        return grown_section(cut, d, err);
    }
    if (d->relocated) {
        return CS_OK;  // appended by cs_cut_emit_tail; the old place is a hole
    }
    for (uint32_t i = d->first; i < d->first + d->count; i++) {
        const struct cs_elfcut_block *b = &cut->blocks.ptr[i];
        const uint64_t pos = cs_cut_block_pos(cut, b);
        const uint64_t bytes = cs_cut_block_bytes(b);
        if (b->replace || pos != b->off) {
            CS_TRY(add_op(cut, (struct cs_cut_op){pos, bytes, cs_cut_block_ptr(cut, b), bytes},
                          err));
        }
    }
    return CS_OK;
}

static enum cs_code hole_ops(struct cs_elfcut *cut, struct cs_err *err) {
    const struct cs_elfcut_work *w = cut->work;
    for (size_t i = 0; i < w->holes.count; i++) {
        const struct cs_cut_hole h = w->holes.ptr[i];
        const uint64_t rest = h.b - h.a - h.removed;
        CS_TRY(add_op(cut, (struct cs_cut_op){h.a, h.removed, NULL, 0}, err));
        CS_TRY(add_op(cut, (struct cs_cut_op){h.a + h.removed, rest, NULL, rest}, err));
    }
    return CS_OK;
}

static enum cs_code section_table(struct cs_elfcut *cut, struct cs_err *err) {
    const struct cs_elf *elf = &cut->elf;
    const uint64_t bytes = (uint64_t)elf->shnum * sizeof(Elf64_Shdr);
    uint8_t *p = cs_arena_alloc(&cut->work->arena, bytes);
    if (!p) {
        return cs_fail(err, CS_NOMEM, "no memory for section headers");
    }
    memcpy(p, cs_view_at(elf->file, elf->shoff, bytes).ptr, bytes);
    for (uint32_t i = 1; i < elf->shnum; i++) {
        const struct cs_elf_section s = cs_elf_section(elf, i);
        uint8_t *h = p + (uint64_t)i * sizeof(Elf64_Shdr);
        const struct cs_elfcut_section *d = cs_cut_section_of(cut, i);
        if (d && d->changed) {
            cs_put_u64(h + offsetof(Elf64_Shdr, sh_addr),
                       d->relocated ? d->new_addr : s.addr + d->new_start);
            cs_put_u64(h + offsetof(Elf64_Shdr, sh_offset),
                       d->relocated ? d->new_off : cs_cut_map(cut->work, d->off + d->new_start));
            cs_put_u64(h + offsetof(Elf64_Shdr, sh_size), d->new_size);
        } else if (s.type != SHT_NULL) {
            cs_put_u64(h + offsetof(Elf64_Shdr, sh_offset), cs_cut_map(cut->work, s.off));
        }
    }
    return add_op(cut, (struct cs_cut_op){elf->shoff, bytes, p, bytes}, err);
}

static void put_segment(uint8_t *p, const struct cs_elf_segment *s) {
    cs_put_u32(p + offsetof(Elf64_Phdr, p_type), s->type);
    cs_put_u32(p + offsetof(Elf64_Phdr, p_flags), s->flags);
    cs_put_u64(p + offsetof(Elf64_Phdr, p_offset), s->off);
    cs_put_u64(p + offsetof(Elf64_Phdr, p_vaddr), s->vaddr);
    cs_put_u64(p + offsetof(Elf64_Phdr, p_paddr), s->paddr);
    cs_put_u64(p + offsetof(Elf64_Phdr, p_filesz), s->filesz);
    cs_put_u64(p + offsetof(Elf64_Phdr, p_memsz), s->memsz);
    cs_put_u64(p + offsetof(Elf64_Phdr, p_align), s->align);
}

static enum cs_code segment_table(struct cs_elfcut *cut, struct cs_err *err) {
    struct cs_elfcut_work *w = cut->work;
    const uint64_t bytes = (uint64_t)w->phdrs.count * sizeof(Elf64_Phdr);
    if (bytes == 0) {
        return CS_OK;
    }
    uint8_t *p = cs_arena_alloc(&w->arena, bytes);
    if (!p) {
        return cs_fail(err, CS_NOMEM, "no memory for program headers");
    }
    for (size_t i = 0; i < w->phdrs.count; i++) {
        if (w->phdrs.ptr[i].added) {
            (void)cs_cut_tail_segment(cut, &w->phdrs.ptr[i].seg);
            put_segment(p + i * sizeof(Elf64_Phdr), &w->phdrs.ptr[i].seg);
            continue;
        }
        struct cs_elf_segment s = w->phdrs.ptr[i].seg;
        s.off = cs_cut_map(w, s.off);
        // glibc refuses a LOAD whose address and offset differ modulo p_align.
        if (s.type == PT_LOAD && s.align > w->page && ((s.vaddr - s.off) & (s.align - 1)) != 0) {
            s.align = w->page;
            w->phdrs.ptr[i].lowered = true;
            cut->result.lowered_aligns++;
        }
        put_segment(p + i * sizeof(Elf64_Phdr), &s);
    }
    return add_op(cut, (struct cs_cut_op){cut->elf.phoff, bytes, p, bytes}, err);
}

static enum cs_code header_patches(struct cs_elfcut *cut, struct cs_err *err) {
    const uint64_t value[2] = {cs_cut_map(cut->work, cut->elf.phoff),
                               cs_cut_map(cut->work, cut->elf.shoff)};
    const uint64_t off[2] = {offsetof(Elf64_Ehdr, e_phoff), offsetof(Elf64_Ehdr, e_shoff)};
    for (int i = 0; i < 2; i++) {
        if (cs_u64(cut->elf.file, off[i]) == value[i] || (i == 0 && cut->elf.phnum == 0)) {
            continue;
        }
        struct cs_cut_patch *p = cs_vec_push(&cut->work->patches);
        if (!p) {
            return cs_fail(err, CS_NOMEM, "no memory for pointers");
        }
        *p = (struct cs_cut_patch){off[i], value[i]};
    }
    return CS_OK;
}

static int compare_patches(const void *a, const void *b) {
    const struct cs_cut_patch *x = a;
    const struct cs_cut_patch *y = b;
    return (x->off > y->off) - (x->off < y->off);
}

static int compare_ops(const void *a, const void *b) {
    const struct cs_cut_op *x = a;
    const struct cs_cut_op *y = b;
    return (x->off > y->off) - (x->off < y->off);
}

static void sort_ops(struct cs_elfcut_work *w) {
    if (w->ops.count > 1) {
        qsort(w->ops.ptr, w->ops.count, sizeof *w->ops.ptr, compare_ops);
    }
}

// One stretch: the patches [first, end) and the bytes between them.
static enum cs_code stretch(struct cs_elfcut *cut, size_t first, size_t end, struct cs_err *err) {
    const struct cs_cut_patch *p = cut->work->patches.ptr;
    const uint64_t bytes = p[end - 1].off + sizeof p->value - p[first].off;
    uint8_t *copy = cs_arena_alloc(&cut->work->arena, bytes);
    if (!copy) {
        return cs_fail(err, CS_NOMEM, "no memory for pointers");
    }
    memcpy(copy, cs_view_at(cut->elf.file, p[first].off, bytes).ptr, bytes);
    for (size_t k = first; k < end; k++) {
        cs_put_u64(copy + (p[k].off - p[first].off), p[k].value);
    }
    return add_op(cut, (struct cs_cut_op){p[first].off, bytes, copy, bytes}, err);
}

// Sorted patches become stretches of patched copies, which end where another edit begins.
static enum cs_code patch_ops(struct cs_elfcut *cut, struct cs_err *err) {
    struct cs_elfcut_work *w = cut->work;
    struct cs_cut_patch *p = w->patches.ptr;
    if (w->patches.count > 1) {
        qsort(p, w->patches.count, sizeof *p, compare_patches);
    }
    sort_ops(w);
    const size_t others = w->ops.count;
    size_t op = 0;
    for (size_t i = 0; i < w->patches.count;) {
        while (op < others && w->ops.ptr[op].off < p[i].off) {
            op++;
        }
        const uint64_t limit = op < others ? w->ops.ptr[op].off : UINT64_MAX;
        size_t end = i + 1;
        while (end < w->patches.count && p[end].off - p[end - 1].off <= STRETCH_GAP &&
               p[end].off < limit) {
            if (p[end].off - p[end - 1].off < sizeof p->value) {
                return cs_fail_at(err, CS_UNSUPPORTED, p[end].off, "two pointers share bytes");
            }
            end++;
        }
        CS_TRY(stretch(cut, i, end, err));
        i = end;
    }
    return CS_OK;
}

static enum cs_code make_pieces(struct cs_elfcut *cut, struct cs_err *err) {
    struct cs_elfcut_work *w = cut->work;
    const struct cs_view file = cut->elf.file;
    sort_ops(w);
    uint64_t at = 0;
    for (size_t i = 0; i < w->ops.count; i++) {
        const struct cs_cut_op *op = &w->ops.ptr[i];
        if (op->off < at || !cs_view_has(file, op->off, op->len)) {
            return cs_fail_at(err, CS_UNSUPPORTED, op->off, "structures that must change overlap");
        }
        cs_pieces_add(&cut->pieces, file.ptr + at, op->off - at);
        cs_pieces_add(&cut->pieces, op->ptr, op->out_len);
        at = op->off + op->len;
    }
    cs_pieces_add(&cut->pieces, file.ptr + at, file.len - at);
    cs_cut_emit_tail(cut);
    return cs_pieces_check(&cut->pieces, err);
}

enum cs_code cs_cut_emit(struct cs_elfcut *cut, struct cs_err *err) {
    cut->result.after_bytes = cs_cut_map(cut->work, cut->elf.file.len) + cut->work->tail_bytes;
    for (size_t i = 0; i < cut->sections.count; i++) {
        if (cut->sections.ptr[i].changed) {
            CS_TRY(section_ops(cut, &cut->sections.ptr[i], err));
        }
    }
    CS_TRY(hole_ops(cut, err));
    CS_TRY(section_table(cut, err));
    CS_TRY(segment_table(cut, err));
    CS_TRY(header_patches(cut, err));
    CS_TRY(patch_ops(cut, err));
    return make_pieces(cut, err);
}
