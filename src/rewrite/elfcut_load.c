// Elfcut, segments: a hole inside a LOAD segment makes two segments of it, and each needs a program
// header, while the table must stay where it is and as long as it is (a moved table breaks GNU
// strip).  Slots come, in this order of price, from
//   1. entries of type PT_NULL, and LOADs of which nothing is left;
//   2. two neighbouring LOADs with the same rights and the same distance of address and offset;
//   3. the first read-only LOAD (headers and tables) joined with the code after it;
//   4. a PT_NOTE without a build-id, then one with (the section stays; run-time readers lose it).
// Holes at either end of a segment need no slot.  Holes without a slot stay in the file as zeros.
#include <stdlib.h>

#include "base/mem.h"
#include "base/num.h"
#include "rewrite/elfcut_work.h"

// In order of price.
enum slot_kind {
    SLOT_EMPTIED,
    SLOT_NULL,
    SLOT_SAME_RIGHTS,
    SLOT_HEADERS,
    SLOT_NOTE,
    SLOT_BUILD_ID,
};

// A program header that can be given up.
struct slot {
    enum slot_kind kind;
    uint32_t index;  // the entry that disappears
    uint32_t into;   // merges: the LOAD that takes it over
};

struct planner {
    struct cs_elfcut *cut;
    CS_VEC(struct slot) slots;
    CS_VEC(uint32_t) cuts;   // holes that leave the file, as far as is known yet; a handful
    CS_VEC(uint32_t) inner;  // those among them that need a slot
    uint32_t *into;  // per program header: merged into that one, or itself; UINT32_MAX = gone
};

static uint64_t file_end(const struct cs_elf_segment *s) { return s->off + s->filesz; }

static bool touches(const struct cs_cut_hole *h, uint64_t from, uint64_t to) {
    return h->removed > 0 && h->a <= to && h->b >= from;
}

static bool hole_touches(const struct planner *p, uint64_t from, uint64_t to) {
    for (size_t i = 0; i < p->cuts.count; i++) {
        if (touches(&p->cut->work->holes.ptr[p->cuts.ptr[i]], from, to)) {
            return true;
        }
    }
    return false;
}

// Can LOAD b be mapped as the continuation of LOAD a?
static bool mergeable(const struct planner *p, const struct cs_elf_segment *a,
                      const struct cs_elf_segment *b, enum slot_kind *kind) {
    if (a->filesz == 0 || a->filesz != a->memsz || b->filesz == 0 || b->off < file_end(a) ||
        b->vaddr - a->vaddr != b->off - a->off || hole_touches(p, file_end(a), b->off)) {
        return false;
    }
    const bool headers = a->off == 0 && a->flags == PF_R && b->flags == (PF_R | PF_X);
    *kind = a->flags == b->flags ? SLOT_SAME_RIGHTS : SLOT_HEADERS;
    // Data that becomes writable or executable by a merge is not worth a few bytes.
    return a->flags == b->flags || headers;
}

static enum cs_code add_slot(struct planner *p, enum slot_kind kind, uint32_t index, uint32_t into,
                             struct cs_err *err) {
    struct slot *s = cs_vec_push(&p->slots);
    if (!s) {
        return cs_fail(err, CS_NOMEM, "no memory for program headers");
    }
    *s = (struct slot){kind, index, into};
    return CS_OK;
}

static bool holds_build_id(const struct cs_elf *elf, const struct cs_elf_segment *s) {
    struct cs_view v;
    if (!cs_view_sub(elf->file, s->off, s->filesz, &v)) {
        return true;
    }
    const uint64_t align = s->align == 8 ? 8 : 4;
    uint64_t at = 0;
    while (cs_view_has(v, at, sizeof(Elf64_Nhdr))) {
        const uint64_t name = cs_u32(v, at);
        const uint64_t desc = cs_u32(v, at + 4);
        const uint64_t body = at + sizeof(Elf64_Nhdr);
        if (cs_u32(v, at + 8) == NT_GNU_BUILD_ID && name == 4 && cs_view_has(v, body, 4) &&
            memcmp(v.ptr + body, ELF_NOTE_GNU, 4) == 0) {
            return true;
        }
        at = body + ((name + align - 1) & ~(align - 1)) + ((desc + align - 1) & ~(align - 1));
    }
    return false;
}

static int compare_slots(const void *a, const void *b) {
    const struct slot *x = a;
    const struct slot *y = b;
    return x->kind != y->kind ? (x->kind > y->kind) - (x->kind < y->kind)
                              : (x->index > y->index) - (x->index < y->index);
}

// Is all that the segment maps free?  Then it goes altogether.
static bool emptied(const struct planner *p, const struct cs_elf_segment *s) {
    for (size_t i = 0; i < p->cuts.count; i++) {
        const struct cs_cut_hole *h = &p->cut->work->holes.ptr[p->cuts.ptr[i]];
        if (h->removed > 0 && h->a <= s->off && h->b >= file_end(s)) {
            return true;
        }
    }
    return false;
}

static enum cs_code find_slots(struct planner *p, struct cs_err *err) {
    const struct cs_elf *elf = &p->cut->elf;
    uint32_t last_load = UINT32_MAX;
    for (uint32_t i = 0; i < elf->phnum; i++) {
        const struct cs_elf_segment s = cs_elf_segment(elf, i);
        if (s.type == PT_NULL) {
            CS_TRY(add_slot(p, SLOT_NULL, i, i, err));
        } else if (s.type == PT_NOTE) {
            CS_TRY(add_slot(p, holds_build_id(elf, &s) ? SLOT_BUILD_ID : SLOT_NOTE, i, i, err));
        } else if (s.type == PT_LOAD && emptied(p, &s)) {
            CS_TRY(add_slot(p, SLOT_EMPTIED, i, i, err));
        } else if (s.type == PT_LOAD) {
            enum slot_kind kind;
            const struct cs_elf_segment last =
                last_load == UINT32_MAX ? s : cs_elf_segment(elf, last_load);
            if (last_load != UINT32_MAX && mergeable(p, &last, &s, &kind)) {
                CS_TRY(add_slot(p, kind, i, last_load, err));
            }
            last_load = i;
        }
    }
    if (p->slots.count > 1) {
        qsort(p->slots.ptr, p->slots.count, sizeof *p->slots.ptr, compare_slots);
    }
    return CS_OK;
}

static bool inside(const struct cs_cut_hole *h, const struct cs_elf_segment *s) {
    return h->a > s->off && h->b < file_end(s);
}

static int larger_first(const void *a, const void *b, void *ctx) {
    const struct cs_elfcut_work *w = ctx;
    const uint64_t x = w->holes.ptr[*(const uint32_t *)a].removed;
    const uint64_t y = w->holes.ptr[*(const uint32_t *)b].removed;
    return (x < y) - (x > y);
}

// Would the hole break a segment?  If not: does it split one?
static bool breaks_segment(struct planner *p, const struct cs_cut_hole *h, bool *splits) {
    *splits = false;
    for (uint32_t i = 0; i < p->cut->elf.phnum; i++) {
        const struct cs_elf_segment s = cs_elf_segment(&p->cut->elf, i);
        const bool meets = s.filesz > 0 && s.off < h->b && h->a < file_end(&s);
        const bool whole = h->a <= s.off && h->b >= file_end(&s);
        const bool bss = s.memsz > s.filesz;
        if (meets && (s.type != PT_LOAD || (bss && (whole || !(s.flags & PF_W))))) {
            cs_cut_reason(p->cut, "program header %u does not allow it", i);
            return true;
        }
        *splits = *splits || (meets && inside(h, &s));
    }
    return false;
}

static enum cs_code classify_holes(struct planner *p, struct cs_err *err) {
    struct cs_elfcut_work *w = p->cut->work;
    for (uint32_t k = 0; k < w->holes.count; k++) {
        struct cs_cut_hole *h = &w->holes.ptr[k];
        bool splits;
        if (h->removed == 0) {
            continue;
        }
        if (breaks_segment(p, h, &splits)) {
            h->removed = 0;
            continue;
        }
        uint32_t *one = cs_vec_push(&p->cuts);
        uint32_t *two = splits ? cs_vec_push(&p->inner) : one;
        if (!one || !two) {
            return cs_fail(err, CS_NOMEM, "no memory for free ranges");
        }
        *one = *two = k;
    }
    return CS_OK;
}

static void take_slot(struct planner *p, const struct slot *s) {
    struct cs_elfcut_result *r = &p->cut->result;
    const bool merge = s->kind == SLOT_SAME_RIGHTS || s->kind == SLOT_HEADERS;
    p->into[s->index] = merge ? p->into[s->into] : UINT32_MAX;
    r->merged_loads += merge;
    r->dropped_notes += s->kind == SLOT_NOTE || s->kind == SLOT_BUILD_ID;
    r->build_id_hidden = r->build_id_hidden || s->kind == SLOT_BUILD_ID;
}

// Hands out the slots: to relocated sections first, which cannot do without, then to the largest
// holes; the other holes stay.
static enum cs_code take_slots(struct planner *p, bool tail, struct cs_err *err) {
    struct cs_elfcut_work *w = p->cut->work;
    size_t next = 0;
    if (tail) {
        if (p->slots.count == 0) {
            return cs_fail(err, CS_CONFLICT,
                           "new containers need more room, and no program header can be spared "
                           "for a segment of their own");
        }
        take_slot(p, &p->slots.ptr[next++]);
    }
    if (p->inner.count > 1) {
        qsort_r(p->inner.ptr, p->inner.count, sizeof *p->inner.ptr, larger_first, w);
    }
    for (size_t i = 0; i < p->inner.count; i++) {
        if (next < p->slots.count) {
            take_slot(p, &p->slots.ptr[next++]);
        } else {
            w->holes.ptr[p->inner.ptr[i]].removed = 0;
            cs_cut_reason(p->cut, "no program header can be spared for a further segment");
        }
    }
    return CS_OK;
}

static enum cs_code add_phdr(struct planner *p, const struct cs_elf_segment *s,
                             struct cs_err *err) {
    struct cs_cut_phdr *h = cs_vec_push(&p->cut->work->phdrs);
    if (!h) {
        return cs_fail(err, CS_NOMEM, "no memory for program headers");
    }
    *h = (struct cs_cut_phdr){.seg = *s};
    return CS_OK;
}

// The part [from, to) of a LOAD; the last part keeps the memory behind the file's bytes.
static struct cs_elf_segment part(const struct cs_elf_segment *s, uint64_t from, uint64_t to,
                                  bool last) {
    struct cs_elf_segment t = *s;
    t.off = from;
    t.vaddr = s->vaddr + (from - s->off);
    t.paddr = s->paddr + (from - s->off);
    t.filesz = to - from;
    t.memsz = last && s->memsz > s->filesz ? s->memsz - (from - s->off) : t.filesz;
    return t;
}

static enum cs_code split_load(struct planner *p, const struct cs_elf_segment *s,
                               struct cs_err *err) {
    const struct cs_elfcut_work *w = p->cut->work;
    uint64_t from = s->off;
    const uint64_t end = file_end(s);
    for (size_t i = 0; i < p->cuts.count && from < end; i++) {
        const struct cs_cut_hole *h = &w->holes.ptr[p->cuts.ptr[i]];
        if (h->removed == 0 || h->b <= from || h->a >= end) {
            continue;
        }
        if (h->a > from) {
            const struct cs_elf_segment t = part(s, from, h->a, h->b >= end);
            CS_TRY(add_phdr(p, &t, err));
        }
        from = h->b;
    }
    if (from < end) {
        const struct cs_elf_segment t = part(s, from, end, true);
        CS_TRY(add_phdr(p, &t, err));
    } else if (emptied(p, s)) {
        const struct cs_elf_segment none = {.type = PT_NULL};  // its slot was not needed
        CS_TRY(add_phdr(p, &none, err));
    }
    return CS_OK;
}

// The last LOAD of the table as it will be: behind it comes the segment of relocated sections.
static uint32_t last_load(const struct planner *p) {
    uint32_t last = UINT32_MAX;
    for (uint32_t i = 0; i < p->cut->elf.phnum; i++) {
        if (p->into[i] == i && cs_elf_segment(&p->cut->elf, i).type == PT_LOAD) {
            last = i;
        }
    }
    return last;
}

static enum cs_code build_table(struct planner *p, bool tail, struct cs_err *err) {
    const struct cs_elf *elf = &p->cut->elf;
    const uint32_t last = tail ? last_load(p) : UINT32_MAX;
    for (uint32_t i = 0; i < elf->phnum; i++) {
        struct cs_elf_segment s = cs_elf_segment(elf, i);
        if (p->into[i] != i) {
            continue;
        }
        for (uint32_t k = i + 1; k < elf->phnum; k++) {
            if (p->into[k] == i) {
                const struct cs_elf_segment more = cs_elf_segment(elf, k);
                s.filesz = more.off + more.filesz - s.off;
                s.memsz = more.off - s.off + more.memsz;
                s.flags |= more.flags;
            }
        }
        CS_TRY(s.type == PT_LOAD && s.filesz > 0 ? split_load(p, &s, err) : add_phdr(p, &s, err));
        if (i == last) {
            const struct cs_elf_segment own = {.type = PT_LOAD, .flags = PF_R};
            CS_TRY(add_phdr(p, &own, err));
            p->cut->work->phdrs.ptr[p->cut->work->phdrs.count - 1].added = true;
        }
    }
    if (p->cut->work->phdrs.count != elf->phnum) {
        return cs_fail(err, CS_INTERNAL, "%zu program headers planned, want %u",
                       p->cut->work->phdrs.count, elf->phnum);
    }
    return CS_OK;
}

enum cs_code cs_cut_plan_segments(struct cs_elfcut *cut, struct cs_err *err) {
    struct planner p = {.cut = cut};
    const uint32_t count = cut->elf.phnum;
    p.into = cs_calloc(count ? count : 1, sizeof *p.into);
    if (!p.into) {
        return cs_fail(err, CS_NOMEM, "no memory for program headers");
    }
    for (uint32_t i = 0; i < count; i++) {
        p.into[i] = i;
    }
    bool tail = false;
    for (size_t i = 0; i < cut->sections.count; i++) {
        tail = tail || cut->sections.ptr[i].relocated;
    }
    enum cs_code code = classify_holes(&p, err);
    code = code == CS_OK ? find_slots(&p, err) : code;
    code = code == CS_OK ? take_slots(&p, tail, err) : code;
    code = code == CS_OK ? build_table(&p, tail, err) : code;
    cs_vec_fini(&p.slots);
    cs_vec_fini(&p.cuts);
    cs_vec_fini(&p.inner);
    cs_free(p.into);
    return code;
}
