// Elfcut, proof: reads a produced file from scratch and holds it against the original.
//
// What is proven is said in elfcut.h.  The proof uses the plan only for what it promised (the
// explicit list of edits, the holes, the new bytes of containers) and takes everything else from
// the two files.  The address space is compared as a loader sees it: every original byte of a LOAD
// outside the holes must be mapped at its old address, from its mapped offset, with its old rights.
#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/num.h"
#include "rewrite/elfcut_work.h"

// A LOAD segment of one of the two files.
struct loads {
    CS_VEC(struct cs_elf_segment) items;  // ascending by address
};

struct proof {
    const struct cs_elfcut *cut;
    const struct cs_elf *old;
    struct cs_elf now;
    struct loads now_loads;
    struct cs_wrappers wrappers;
    struct cs_err *err;
};

static enum cs_code doubt(const struct proof *p, uint64_t off, const char *what) {
    return cs_fail_at(p->err, CS_CONFLICT, off, "the result does not verify: %s", what);
}

static bool all_zero(struct cs_view v) {
    return v.len == 0 || (v.ptr[0] == 0 && memcmp(v.ptr, v.ptr + 1, v.len - 1) == 0);
}

static enum cs_code check_header(const struct proof *p) {
    const struct cs_elf *a = p->old;
    const struct cs_elf *b = &p->now;
    const bool same = a->type == b->type && a->machine == b->machine && a->entry == b->entry &&
                      a->flags == b->flags && a->phnum == b->phnum && a->shnum == b->shnum &&
                      a->shstrndx == b->shstrndx;
    const bool moved = b->shoff == cs_cut_map(p->cut->work, a->shoff) &&
                       (a->phnum == 0 || b->phoff == cs_cut_map(p->cut->work, a->phoff));
    return same && moved ? CS_OK : doubt(p, 0, "ELF header");
}

static bool same_section(const struct cs_elf_section *a, const struct cs_elf_section *b) {
    return a->name_off == b->name_off && a->type == b->type && a->flags == b->flags &&
           a->link == b->link && a->info == b->info && a->align == b->align &&
           a->entsize == b->entsize;
}

static enum cs_code check_sections(const struct proof *p) {
    for (uint32_t i = 0; i < p->old->shnum; i++) {
        const struct cs_elf_section a = cs_elf_section(p->old, i);
        const struct cs_elf_section b = cs_elf_section(&p->now, i);
        const struct cs_elfcut_section *d = cs_cut_section_of(p->cut, i);
        const bool changed = d && d->changed;
        const uint64_t start = changed ? d->new_start : 0;
        const uint64_t size = changed ? d->new_size : a.size;
        uint64_t addr = a.addr + start;
        uint64_t off = a.type == SHT_NULL ? a.off : cs_cut_map(p->cut->work, a.off + start);
        if (changed && d->relocated) {
            addr = d->new_addr;
            off = d->new_off;
        }
        if (!same_section(&a, &b) || b.addr != addr || b.off != off || b.size != size) {
            return doubt(p, p->now.shoff + (uint64_t)i * sizeof(Elf64_Shdr), "section header");
        }
        struct cs_view content;
        if (!cs_elf_content(&p->now, &b, &content)) {
            return doubt(p, b.off, "a section leaves the file");
        }
    }
    return CS_OK;
}

static int compare_segments(const void *a, const void *b) {
    const struct cs_elf_segment *x = a;
    const struct cs_elf_segment *y = b;
    return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

static enum cs_code list_loads(const struct cs_elf *elf, struct loads *out, struct cs_err *err) {
    for (uint32_t i = 0; i < elf->phnum; i++) {
        const struct cs_elf_segment s = cs_elf_segment(elf, i);
        if (s.type != PT_LOAD) {
            continue;
        }
        struct cs_elf_segment *slot = cs_vec_push(&out->items);
        if (!slot) {
            return cs_fail(err, CS_NOMEM, "no memory for segments");
        }
        *slot = s;
    }
    if (out->items.count > 1) {
        qsort(out->items.ptr, out->items.count, sizeof *out->items.ptr, compare_segments);
    }
    return CS_OK;
}

// The LOAD whose memory holds [vaddr, vaddr+len), or NULL.
static const struct cs_elf_segment *load_of(const struct loads *l, uint64_t vaddr, uint64_t len) {
    size_t low = 0;
    size_t high = l->items.count;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (l->items.ptr[mid].vaddr <= vaddr) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    const struct cs_elf_segment *s = low > 0 ? &l->items.ptr[low - 1] : NULL;
    const bool inside = s && vaddr - s->vaddr <= s->memsz && len <= s->memsz - (vaddr - s->vaddr);
    return inside ? s : NULL;
}

// What loaders demand: order, pages of their own, congruence, extents.
static enum cs_code check_loads(const struct proof *p) {
    uint64_t after = 0;
    for (size_t i = 0; i < p->now_loads.items.count; i++) {
        const struct cs_elf_segment *s = &p->now_loads.items.ptr[i];
        const uint64_t align = s->align > 1 ? s->align : 1;
        uint64_t end;
        if ((align & (align - 1)) != 0 || ((s->vaddr - s->off) & (align - 1)) != 0 ||
            s->memsz < s->filesz || !cs_add_u64(s->vaddr, s->memsz, &end) ||
            (s->filesz > 0 && !cs_view_has(p->now.file, s->off, s->filesz))) {
            return doubt(p, s->off, "a LOAD segment is not congruent or leaves the file");
        }
        const uint64_t page = cs_min_u64(p->cut->work->page, align);
        if (cs_align_down_u64(s->vaddr, page) < after) {
            return doubt(p, s->off, "LOAD segments share a page");
        }
        after = s->memsz > 0 ? cs_align_down_u64(end - 1, page) + page : after;
    }
    return CS_OK;
}

// [from, to) of an original LOAD must be mapped as before.
static enum cs_code check_mapped(const struct proof *p, const struct cs_elf_segment *s,
                                 uint64_t from, uint64_t to) {
    if (from >= to) {
        return CS_OK;
    }
    const uint64_t vaddr = s->vaddr + (from - s->off);
    const struct cs_elf_segment *t = load_of(&p->now_loads, vaddr, to - from);
    if (!t || vaddr - t->vaddr + (to - from) > t->filesz ||
        t->off + (vaddr - t->vaddr) != cs_cut_map(p->cut->work, from)) {
        return doubt(p, from, "bytes are no longer mapped at their address");
    }
    if ((s->flags & (PF_R | PF_W)) != (t->flags & (PF_R | PF_W)) ||
        ((s->flags & PF_X) && !(t->flags & PF_X))) {
        return doubt(p, from, "bytes are mapped with other rights");
    }
    return CS_OK;
}

static enum cs_code check_image(const struct proof *p) {
    const struct cs_elfcut_work *w = p->cut->work;
    for (uint32_t i = 0; i < p->old->phnum; i++) {
        const struct cs_elf_segment s = cs_elf_segment(p->old, i);
        if (s.type != PT_LOAD) {
            continue;
        }
        uint64_t from = s.off;
        const uint64_t end = s.off + s.filesz;
        for (size_t k = 0; k < w->shifts.count && from < end; k++) {
            // Free bytes behind the removed ones are mapped or not, as the split fell.
            const struct cs_cut_shift *h = &w->shifts.ptr[k];
            if (h->free_end > from && h->off < end) {
                CS_TRY(check_mapped(p, &s, from, cs_min_u64(h->off, end)));
                from = h->free_end;
            }
        }
        CS_TRY(check_mapped(p, &s, from, end));
        const uint64_t bss = s.memsz > s.filesz ? s.memsz - s.filesz : 0;
        if (bss > 0 && !load_of(&p->now_loads, s.vaddr + s.filesz, bss)) {
            return doubt(p, s.off, "zeroed memory is no longer there");
        }
    }
    return CS_OK;
}

// The program headers and patched fields are exactly the planned ones, and what a hole left behind
// is zero.
static enum cs_code check_planned(const struct proof *p) {
    const struct cs_elfcut_work *w = p->cut->work;
    for (uint32_t i = 0; i < p->now.phnum && !w->object; i++) {
        const struct cs_elf_segment a = w->phdrs.ptr[i].seg;
        const struct cs_elf_segment b = cs_elf_segment(&p->now, i);
        const uint64_t align = w->phdrs.ptr[i].lowered ? w->page : a.align;
        const uint64_t off = w->phdrs.ptr[i].added ? a.off : cs_cut_map(w, a.off);
        if (a.type != b.type || a.flags != b.flags || a.vaddr != b.vaddr || a.paddr != b.paddr ||
            a.filesz != b.filesz || a.memsz != b.memsz || b.align != align ||
            b.off != off) {
            return doubt(p, p->now.phoff, "a program header is not the planned one");
        }
    }
    for (size_t i = 0; i < w->patches.count; i++) {
        const uint64_t at = cs_cut_map(w, w->patches.ptr[i].off);
        if (cs_u64(p->now.file, at) != w->patches.ptr[i].value) {
            return doubt(p, at, "a pointer is not the planned one");
        }
    }
    for (size_t i = 0; i < w->holes.count; i++) {
        const struct cs_cut_hole *h = &w->holes.ptr[i];
        struct cs_view v;
        if (!cs_view_sub(p->now.file, cs_cut_map(w, h->a + h->removed), h->b - h->a - h->removed,
                         &v) ||
            !all_zero(v)) {
            return doubt(p, h->a, "free bytes are not zero");
        }
    }
    return CS_OK;
}

// All program headers but LOADs are the old ones in the old order, except notes given up.
static enum cs_code check_other_segments(const struct proof *p) {
    uint32_t k = 0;
    uint32_t skipped = 0;
    for (uint32_t i = 0; i < p->now.phnum; i++) {
        const struct cs_elf_segment b = cs_elf_segment(&p->now, i);
        if (b.type == PT_LOAD || b.type == PT_NULL) {
            continue;
        }
        bool found = false;
        for (; k < p->old->phnum && !found; k++) {
            const struct cs_elf_segment a = cs_elf_segment(p->old, k);
            found = a.type == b.type && a.flags == b.flags && a.vaddr == b.vaddr &&
                    a.paddr == b.paddr && a.filesz == b.filesz && a.memsz == b.memsz &&
                    a.align == b.align && cs_cut_map(p->cut->work, a.off) == b.off;
            if (!found && a.type != PT_LOAD && a.type != PT_NULL) {
                skipped++;
                if (a.type != PT_NOTE) {
                    return doubt(p, p->now.phoff, "a program header is missing");
                }
            }
        }
        if (!found) {
            return doubt(p, p->now.phoff, "a program header came from nowhere");
        }
    }
    for (; k < p->old->phnum; k++) {
        const uint32_t type = cs_elf_segment(p->old, k).type;
        skipped += type != PT_LOAD && type != PT_NULL;
    }
    return skipped == p->cut->result.dropped_notes ? CS_OK
                                                   : doubt(p, p->now.phoff, "notes are missing");
}

// A range of the original that may differ in the result.
struct window {
    uint64_t off, end;
};
struct windows {
    CS_VEC(struct window) items;
};

static int compare_windows(const void *a, const void *b) {
    const struct window *x = a;
    const struct window *y = b;
    return (x->off > y->off) - (x->off < y->off);
}

static bool allow(struct windows *w, uint64_t off, uint64_t len) {
    struct window *slot = len ? cs_vec_push(&w->items) : NULL;
    if (slot) {
        *slot = (struct window){off, off + len};
    }
    return slot || len == 0;
}

static bool list_windows(const struct proof *p, struct windows *out) {
    const struct cs_elfcut_work *w = p->cut->work;
    const struct cs_elf *elf = p->old;
    bool ok = allow(out, elf->phoff, (uint64_t)elf->phnum * sizeof(Elf64_Phdr)) &&
              allow(out, elf->shoff, (uint64_t)elf->shnum * sizeof(Elf64_Shdr));
    for (size_t i = 0; i < p->cut->sections.count && ok; i++) {
        const struct cs_elfcut_section *d = &p->cut->sections.ptr[i];
        ok = !d->changed || allow(out, d->off, d->size);
    }
    for (size_t i = 0; i < w->holes.count && ok; i++) {
        ok = allow(out, w->holes.ptr[i].a, w->holes.ptr[i].b - w->holes.ptr[i].a);
    }
    for (size_t i = 0; i < w->patches.count && ok; i++) {
        ok = allow(out, w->patches.ptr[i].off, sizeof w->patches.ptr[i].value);
    }
    if (ok && out->items.count > 1) {
        qsort(out->items.ptr, out->items.count, sizeof *out->items.ptr, compare_windows);
    }
    return ok;
}

static enum cs_code compare_outside(const struct proof *p, const struct windows *w) {
    const struct cs_view old = p->old->file;
    uint64_t at = 0;
    for (size_t i = 0; i <= w->items.count; i++) {
        const uint64_t to = i < w->items.count ? w->items.ptr[i].off : old.len;
        if (to > at) {
            struct cs_view v;
            if (!cs_view_sub(p->now.file, cs_cut_map(p->cut->work, at), to - at, &v) ||
                memcmp(v.ptr, old.ptr + at, to - at) != 0) {
                return doubt(p, at, "bytes changed that should not");
            }
        }
        at = i < w->items.count ? cs_max_u64(at, w->items.ptr[i].end) : at;
    }
    return CS_OK;
}

static enum cs_code check_bytes(const struct proof *p) {
    struct windows w = {0};
    const enum cs_code code = list_windows(p, &w)
                                  ? compare_outside(p, &w)
                                  : cs_fail(p->err, CS_NOMEM, "no memory for a list of edits");
    cs_vec_fini(&w.items);
    return code;
}

// Each device section holds its blocks, byte for byte, and zeros.
static enum cs_code check_blocks(const struct proof *p, const struct cs_elfcut_section *d) {
    const struct cs_elf_section s = cs_elf_section(&p->now, d->index);
    const struct cs_view v = cs_view_at(p->now.file, s.off, s.size);
    const uint32_t *order = p->cut->work->order.ptr;
    uint64_t at = 0;
    for (uint32_t i = d->first; i < d->first + d->count; i++) {
        const struct cs_elfcut_block *b = &p->cut->blocks.ptr[d->changed ? order[i] : i];
        const uint64_t bytes = cs_cut_block_bytes(b);
        const uint64_t to = b->at - (d->changed ? d->new_start : 0);
        if (to < at || !cs_view_has(v, to, bytes) || !all_zero(cs_view_at(v, at, to - at)) ||
            memcmp(v.ptr + to, cs_cut_block_ptr(p->cut, b), bytes) != 0) {
            return doubt(p, b->off, "a container is not what it should be");
        }
        at = to + bytes;
    }
    return all_zero(cs_view_at(v, at, v.len - at)) ? CS_OK
                                                   : doubt(p, s.off, "bytes behind containers");
}

// Relocated sections are mapped by a segment of their own, padded with zeros in the file.
static enum cs_code check_tail(const struct proof *p) {
    uint64_t at = cs_cut_map(p->cut->work, p->old->file.len);
    for (size_t i = 0; i < p->cut->sections.count; i++) {
        const struct cs_elfcut_section *d = &p->cut->sections.ptr[i];
        if (!d->relocated) {
            continue;
        }
        const struct cs_elf_segment *s = load_of(&p->now_loads, d->new_addr, d->new_size);
        if (!s || s->filesz != s->memsz || s->flags != PF_R || d->new_off < at ||
            s->off + (d->new_addr - s->vaddr) != d->new_off ||
            !all_zero(cs_view_at(p->now.file, at, d->new_off - at))) {
            return doubt(p, d->new_off, "a section at the end of the file is not mapped");
        }
        at = d->new_off + d->new_size;
    }
    return at == p->now.file.len ? CS_OK : doubt(p, at, "bytes behind the end");
}

static enum cs_code check_wrapper(const struct proof *p, const struct cs_wrapper *a,
                                  const struct cs_wrapper *b) {
    const struct cs_elfcut_work *w = p->cut->work;
    if (b->offset != cs_cut_map(w, a->offset) || a->vaddr != b->vaddr ||
        a->version != b->version || a->storage != b->storage || a->second != b->second) {
        return doubt(p, a->offset, "a wrapper changed");
    }
    if (a->container_offset == CS_NO_OFFSET || b->container_offset == CS_NO_OFFSET) {
        return a->container_offset == b->container_offset
                   ? CS_OK
                   : doubt(p, a->offset, "a wrapper reaches no container");
    }
    const struct cs_elfcut_block *block = cs_cut_block_of(p->cut, a->container_offset);
    if (!block || block->off != a->container_offset) {
        return b->container_offset == cs_cut_map(w, a->container_offset)
                   ? CS_OK
                   : doubt(p, a->offset, "a wrapper reaches another container");
    }
    const struct cs_elfcut_section *d = &p->cut->sections.ptr[block->section];
    const struct cs_elf_section s = cs_elf_section(&p->now, d->index);
    const uint64_t want = s.off + block->at - (d->changed ? d->new_start : 0);
    const uint64_t address = block->at + cs_cut_base(p->cut, d);
    return b->container_offset == want && b->target == address
               ? CS_OK
               : doubt(p, a->offset, "a wrapper reaches another container");
}

static enum cs_code check_wrappers(struct proof *p) {
    CS_TRY(cs_wrappers_find(&p->now, &p->wrappers, p->err));
    if (p->wrappers.items.count != p->cut->wrappers.items.count) {
        return doubt(p, 0, "the number of wrappers changed");
    }
    for (size_t i = 0; i < p->wrappers.items.count; i++) {
        CS_TRY(check_wrapper(p, &p->cut->wrappers.items.ptr[i], &p->wrappers.items.ptr[i]));
    }
    return CS_OK;
}

static enum cs_code prove(struct proof *p) {
    CS_TRY(check_header(p));
    CS_TRY(check_sections(p));
    CS_TRY(check_planned(p));
    if (!p->cut->work->object) {
        CS_TRY(list_loads(&p->now, &p->now_loads, p->err));
        CS_TRY(check_loads(p));
        CS_TRY(check_image(p));
        CS_TRY(check_other_segments(p));
        CS_TRY(check_tail(p));
    }
    for (size_t i = 0; i < p->cut->sections.count; i++) {
        CS_TRY(check_blocks(p, &p->cut->sections.ptr[i]));
    }
    CS_TRY(check_wrappers(p));
    return check_bytes(p);
}

enum cs_code cs_elfcut_verify(const struct cs_elfcut *cut, struct cs_view produced,
                              struct cs_err *err) {
    struct proof p = {.cut = cut, .old = &cut->elf, .err = err};
    if (produced.len != cut->result.after_bytes) {
        return doubt(&p, produced.len, "its size is not the planned one");
    }
    if (cut->result.how == CS_ELFCUT_UNCHANGED) {
        const bool same = memcmp(produced.ptr, cut->elf.file.ptr, produced.len) == 0;
        return same ? CS_OK : doubt(&p, 0, "bytes changed that should not");
    }
    enum cs_code code = cs_elf_open(produced, &p.now, err);
    code = code == CS_OK ? prove(&p) : code;
    cs_vec_fini(&p.now_loads.items);
    cs_wrappers_fini(&p.wrappers);
    return code;
}
