// Elfcut, holes: which bytes became free, and how many of them can leave the file.
//
// A hole in front of loadable bytes must be a multiple of the page size, so that those keep
// offset = address modulo that size; elsewhere the alignment of the sections behind it is enough.
// What is left over stays as zeros.  Spec: gABI chapter 5, "Program Header" (p_align).
#include <stdlib.h>

#include "base/mem.h"
#include "base/num.h"
#include "rewrite/elfcut_work.h"

enum { MIN_ALIGN = 16, MAX_ALIGN = 1 << 16 };

// Bytes of the file that some structure owns.
struct owned {
    uint64_t start, end;
};
struct owned_list {
    CS_VEC(struct owned) items;  // sorted by start
    uint64_t end;                // of the last one
};

static int compare_owned(const void *a, const void *b) {
    const struct owned *x = a;
    const struct owned *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static bool add_owned(struct owned_list *list, uint64_t off, uint64_t len) {
    if (len == 0) {
        return true;
    }
    struct owned *o = cs_vec_push(&list->items);
    if (o) {
        *o = (struct owned){off, off + len};
        list->end = cs_max_u64(list->end, off + len);
    }
    return o != NULL;
}

static enum cs_code list_owned(const struct cs_elfcut *cut, struct owned_list *list,
                               struct cs_err *err) {
    const struct cs_elf *elf = &cut->elf;
    bool ok = add_owned(list, 0, sizeof(Elf64_Ehdr)) &&
              add_owned(list, elf->phoff, (uint64_t)elf->phnum * sizeof(Elf64_Phdr)) &&
              add_owned(list, elf->shoff, (uint64_t)elf->shnum * sizeof(Elf64_Shdr));
    for (uint32_t i = 1; i < elf->shnum && ok; i++) {
        const struct cs_elf_section s = cs_elf_section(elf, i);
        struct cs_view content;
        if (!cs_elf_content(elf, &s, &content)) {
            return cs_fail_at(err, CS_FORMAT, s.off, "section %u leaves the file", i);
        }
        ok = add_owned(list, s.off, content.len);
    }
    for (uint32_t i = 0; i < elf->phnum && ok; i++) {
        const struct cs_elf_segment s = cs_elf_segment(elf, i);
        if (s.filesz > 0 && !cs_view_has(elf->file, s.off, s.filesz)) {
            return cs_fail_at(err, CS_FORMAT, s.off, "segment %u leaves the file", i);
        }
        // A LOAD owns its ends, not what lies between its sections.
        ok = s.type == PT_LOAD ? s.filesz == 0 || (add_owned(list, s.off, 1) &&
                                                   add_owned(list, s.off + s.filesz - 1, 1))
                               : add_owned(list, s.off, s.filesz);
    }
    if (!ok) {
        return cs_fail(err, CS_NOMEM, "no memory for a table of sections");
    }
    qsort(list->items.ptr, list->items.count, sizeof *list->items.ptr, compare_owned);
    return CS_OK;
}

// Start of the first owned range at or after off; the end of the file when there is none.
static uint64_t next_owned(const struct cs_elfcut *cut, const struct owned_list *list,
                           uint64_t off) {
    size_t low = 0;
    size_t high = list->items.count;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (list->items.ptr[mid].start < off) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low < list->items.count ? list->items.ptr[low].start : cut->elf.file.len;
}

static bool zeros(struct cs_view v) {
    return v.len == 0 || (v.ptr[0] == 0 && memcmp(v.ptr, v.ptr + 1, v.len - 1) == 0);
}

static bool mapped(const struct cs_elf *elf, uint64_t off) {
    uint64_t vaddr;
    return cs_elf_off_to_vaddr(elf, off, &vaddr);
}

// Free bytes at the end of a segment go on through padding that is in no segment, as an earlier cut
// or a linker leaves it.
static uint64_t extend(const struct cs_elfcut *cut, const struct owned_list *list, uint64_t b) {
    if (b >= cut->elf.file.len || mapped(&cut->elf, b)) {
        return b;
    }
    const uint64_t next = next_owned(cut, list, b);
    return zeros(cs_view_at(cut->elf.file, b, next - b)) ? next : b;
}

// Blocks by section, then by new place.
static int compare_places(const void *a, const void *b, void *ctx) {
    const struct cs_elfcut *cut = ctx;
    const struct cs_elfcut_block *x = &cut->blocks.ptr[*(const uint32_t *)a];
    const struct cs_elfcut_block *y = &cut->blocks.ptr[*(const uint32_t *)b];
    if (x->section != y->section) {
        return x->section < y->section ? -1 : 1;
    }
    return (x->at > y->at) - (x->at < y->at);
}

static enum cs_code sort_blocks(struct cs_elfcut *cut, struct cs_err *err) {
    struct cs_elfcut_work *w = cut->work;
    uint32_t *order = cs_vec_push_n(&w->order, cut->blocks.count);
    if (!order && cut->blocks.count > 0) {
        return cs_fail(err, CS_NOMEM, "no memory for containers");
    }
    for (uint32_t i = 0; i < cut->blocks.count; i++) {
        order[i] = i;
    }
    qsort_r(order, cut->blocks.count, sizeof *order, compare_places, cut);
    return CS_OK;
}

static enum cs_code add_hole(struct cs_elfcut *cut, uint64_t a, uint64_t b, bool between,
                             struct cs_err *err) {
    struct cs_elfcut_work *w = cut->work;
    if (a >= b) {
        return CS_OK;
    }
    // The end of one device section and the start of the next make one hole.
    if (w->holes.count > 0 && w->holes.ptr[w->holes.count - 1].b == a &&
        w->holes.ptr[w->holes.count - 1].between == between) {
        w->holes.ptr[w->holes.count - 1].b = b;
        return CS_OK;
    }
    struct cs_cut_hole *h = cs_vec_push(&w->holes);
    if (!h) {
        return cs_fail(err, CS_NOMEM, "no memory for free ranges");
    }
    *h = (struct cs_cut_hole){.a = a, .b = b, .between = between};
    return CS_OK;
}

// Largest alignment that anything at or after off relies on.
static uint64_t granularity(const struct cs_elfcut *cut, uint64_t off) {
    uint64_t align = MIN_ALIGN;
    for (uint32_t i = 1; i < cut->elf.shnum; i++) {
        const struct cs_elf_section s = cs_elf_section(&cut->elf, i);
        if (s.off >= off && s.align > align && s.align <= MAX_ALIGN && !(s.align & (s.align - 1))) {
            align = s.align;
        }
    }
    return align;
}

// End of the last loadable byte in the file.
static uint64_t loaded_end(const struct cs_elf *elf) {
    uint64_t end = 0;
    for (uint32_t i = 0; i < elf->phnum; i++) {
        const struct cs_elf_segment s = cs_elf_segment(elf, i);
        if (s.type == PT_LOAD && s.filesz > 0) {
            end = cs_max_u64(end, s.off + s.filesz);
        }
    }
    return end;
}

// The free ranges of one changed section.
static enum cs_code section_holes(struct cs_elfcut *cut, const struct cs_elfcut_section *d,
                                  const struct owned_list *list, struct cs_err *err) {
    uint64_t at = 0;
    for (uint32_t i = d->first; i < d->first + d->count && !d->relocated; i++) {
        const struct cs_elfcut_block *b = &cut->blocks.ptr[cut->work->order.ptr[i]];
        const bool between = i > d->first || cut->work->object;
        CS_TRY(add_hole(cut, d->off + at, d->off + b->at, between, err));
        at = b->at + cs_cut_block_bytes(b);
    }
    return add_hole(cut, d->off + at, extend(cut, list, d->off + d->size), false, err);
}

static enum cs_code object_growth(struct cs_elfcut *cut, struct cs_elfcut_section *d,
                                  bool fill_only, struct cs_err *err) {
    if (fill_only) {
        return cs_fail_at(err, CS_CONFLICT, d->off, "new containers need more room");
    }
    const uint64_t align = granularity(cut, d->off + d->size);
    uint64_t growth;
    if (!cs_align_up_u64(d->new_size - d->size, align, &growth)) {
        return cs_fail_at(err, CS_LIMIT, d->off, "section would become too large");
    }
    d->grown_to = d->size + growth;
    return CS_OK;
}

// Reasons that forbid any removal of bytes; NULL when there is none.
static const char *forbidden(const struct cs_elfcut *cut, const struct owned_list *list) {
    const struct cs_elf *elf = &cut->elf;
    if (list->end < elf->file.len &&
        !zeros(cs_view_at(elf->file, list->end, elf->file.len - list->end))) {
        return "data follows the ELF file; what it is and who finds it how is not known";
    }
    bool interpreter = false;
    for (uint32_t i = 0; i < elf->phnum; i++) {
        interpreter = interpreter || cs_elf_segment(elf, i).type == PT_INTERP;
    }
    // Linux before 5.18 tells a program its headers' address as load base + e_phoff.
    if ((interpreter || elf->type == ET_EXEC) && elf->phoff > cut->sections.ptr[0].off) {
        return "the executable's program headers lie behind its device code";
    }
    return NULL;
}

// `why`: nothing may leave the file, for that reason; NULL = no objection.
static void choose_sizes(struct cs_elfcut *cut, const char *why) {
    struct cs_elfcut_work *w = cut->work;
    const uint64_t loaded = loaded_end(&cut->elf);
    const uint64_t align = w->holes.count > 0 ? granularity(cut, w->holes.ptr[0].b) : MIN_ALIGN;
    for (size_t i = 0; i < w->holes.count; i++) {
        struct cs_cut_hole *h = &w->holes.ptr[i];
        const uint64_t step = h->b < loaded ? cs_max_u64(align, w->page) : align;
        const uint64_t whole = cs_align_down_u64(h->b - h->a, step);
        const char *no = why         ? why
                         : h->between ? "a container that cannot move lies behind the free bytes"
                                      : NULL;
        h->removed = no ? 0 : whole;
        if (no && whole > 0) {
            cs_cut_reason(cut, "%s", no);
        }
    }
}

static enum cs_code find_holes(struct cs_elfcut *cut, bool fill_only, struct owned_list *list,
                               struct cs_err *err) {
    CS_TRY(list_owned(cut, list, err));
    CS_TRY(sort_blocks(cut, err));
    const char *why = fill_only ? "asked to keep the size" : forbidden(cut, list);
    for (size_t i = 0; i < cut->sections.count; i++) {
        struct cs_elfcut_section *d = &cut->sections.ptr[i];
        if (!d->changed) {
            continue;
        }
        if (d->relocated && why) {
            return cs_fail_at(err, CS_CONFLICT, d->off, "new containers need more room: %s", why);
        }
        if (d->new_start + d->new_size > d->size && !d->relocated) {
            CS_TRY(object_growth(cut, d, fill_only, err));
        } else {
            CS_TRY(section_holes(cut, d, list, err));
        }
    }
    choose_sizes(cut, why);
    return CS_OK;
}

enum cs_code cs_cut_find_holes(struct cs_elfcut *cut, bool fill_only, struct cs_err *err) {
    struct owned_list list = {0};
    const enum cs_code code = find_holes(cut, fill_only, &list, err);
    cs_vec_fini(&list.items);
    return code;
}
