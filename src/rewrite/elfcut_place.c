// Elfcut, placement: where each container goes inside its section.
//
// Order is kept.  Pinned blocks stay; the others are packed towards the start of the section, or
// towards its end where that joins the free bytes with those of the section before it, or with the
// start of the LOAD segment (a free range at either end of a segment costs no program header).
// Since nothing may grow beyond the old room, packing in order always succeeds when no container
// grew.  Object files have no such bound: their section is built anew.
#include "base/num.h"
#include "rewrite/elfcut_work.h"

static uint64_t align8(uint64_t x) {
    return (x + CS_CUT_ALIGN - 1) & ~(uint64_t)(CS_CUT_ALIGN - 1);
}

// Index of the next pinned block at or after i; end when there is none.
static uint32_t next_fixed(const struct cs_elfcut *cut, uint32_t i, uint32_t end) {
    while (i < end && !cs_cut_fixed(&cut->blocks.ptr[i])) {
        i++;
    }
    return i;
}

static bool pack_low(struct cs_elfcut *cut, struct cs_elfcut_section *d) {
    struct cs_elfcut_block *blocks = cut->blocks.ptr;
    const uint32_t end = d->first + d->count;
    uint32_t fixed = next_fixed(cut, d->first, end);
    uint64_t at = 0;
    for (uint32_t i = d->first; i < end; i++) {
        struct cs_elfcut_block *b = &blocks[i];
        const uint64_t bytes = cs_cut_block_bytes(b);
        if (cs_cut_fixed(b)) {
            continue;
        }
        while (fixed < end && at + bytes > blocks[fixed].at) {
            at = align8(blocks[fixed].at + cs_cut_block_bytes(&blocks[fixed]));
            fixed = next_fixed(cut, fixed + 1, end);
        }
        if (at + bytes > d->capacity) {
            return false;
        }
        b->at = at;
        at += bytes;
    }
    return true;
}

// Index of the last pinned block before `i`, plus one; `first` when there is none.
static uint32_t previous_fixed(const struct cs_elfcut *cut, uint32_t i, uint32_t first) {
    while (i > first && !cs_cut_fixed(&cut->blocks.ptr[i - 1])) {
        i--;
    }
    return i;
}

static bool pack_high(struct cs_elfcut *cut, struct cs_elfcut_section *d) {
    struct cs_elfcut_block *blocks = cut->blocks.ptr;
    uint32_t fixed = previous_fixed(cut, d->first + d->count, d->first);
    uint64_t top = d->capacity & ~(uint64_t)(CS_CUT_ALIGN - 1);
    for (uint32_t i = d->first + d->count; i > d->first; i--) {
        struct cs_elfcut_block *b = &blocks[i - 1];
        const uint64_t bytes = cs_cut_block_bytes(b);
        if (cs_cut_fixed(b)) {
            continue;
        }
        while (fixed > d->first &&
               (top < bytes || top - bytes < align8(blocks[fixed - 1].at +
                                                    cs_cut_block_bytes(&blocks[fixed - 1])))) {
            top = cs_min_u64(top, blocks[fixed - 1].at) & ~(uint64_t)(CS_CUT_ALIGN - 1);
            fixed = previous_fixed(cut, fixed - 1, d->first);
        }
        if (top < bytes) {
            return false;
        }
        top -= bytes;
        b->at = top;
    }
    return true;
}

static void restore(struct cs_elfcut *cut, const struct cs_elfcut_section *d) {
    for (uint32_t i = d->first; i < d->first + d->count; i++) {
        cut->blocks.ptr[i].at = cut->blocks.ptr[i].off - d->off;
    }
}

// Extent of the section's blocks in their new places.
static void measure(struct cs_elfcut *cut, struct cs_elfcut_section *d) {
    uint64_t low = UINT64_MAX;
    uint64_t high = 0;
    for (uint32_t i = d->first; i < d->first + d->count; i++) {
        const struct cs_elfcut_block *b = &cut->blocks.ptr[i];
        low = cs_min_u64(low, b->at);
        high = cs_max_u64(high, b->at + cs_cut_block_bytes(b));
    }
    d->new_start = cut->work->object || low > high ? 0 : low;
    d->new_size = high - d->new_start;
}

// Would free bytes at the start of this section cost no program header, but those at its end one?
static bool prefers_high(const struct cs_elfcut *cut, size_t i) {
    const struct cs_elfcut_section *d = &cut->sections.ptr[i];
    if (d->load == UINT32_MAX) {
        return false;
    }
    const struct cs_elf_segment load = cs_elf_segment(&cut->elf, d->load);
    if (d->off + d->size == load.off + load.filesz) {
        return false;
    }
    if (d->off == load.off) {
        return true;
    }
    // The section before it leaves its free bytes at its end, just in front of this one.
    const struct cs_elfcut_section *before = i > 0 ? d - 1 : NULL;
    return before && before->changed && before->load == d->load &&
           before->off + before->size == d->off && before->new_start == 0;
}

// A pinned container may shrink but not grow: its neighbours may be pinned as well.
static enum cs_code check_fixed(const struct cs_elfcut *cut, const struct cs_elfcut_section *d,
                                struct cs_err *err) {
    for (uint32_t i = d->first; i < d->first + d->count; i++) {
        const struct cs_elfcut_block *b = &cut->blocks.ptr[i];
        if (cs_cut_fixed(b) && cs_cut_block_bytes(b) > b->bytes) {
            return cs_fail_at(err, CS_CONFLICT, b->off,
                              "container cannot move (%s), so it cannot grow",
                              cs_elfcut_pin_name(b->pin));
        }
    }
    return CS_OK;
}

static uint64_t wanted_bytes(const struct cs_elfcut *cut, const struct cs_elfcut_section *d) {
    uint64_t sum = 0;
    for (uint32_t i = d->first; i < d->first + d->count; i++) {
        sum += align8(cs_cut_block_bytes(&cut->blocks.ptr[i]));
    }
    return sum;
}

// Everything in a row at a place that is chosen later; false when something must stay.
static bool relocate(struct cs_elfcut *cut, struct cs_elfcut_section *d) {
    uint64_t at = 0;
    for (uint32_t i = d->first; i < d->first + d->count; i++) {
        struct cs_elfcut_block *b = &cut->blocks.ptr[i];
        if (cs_cut_fixed(b)) {
            return false;
        }
        b->at = at;
        at += cs_cut_block_bytes(b);
    }
    d->relocated = true;
    return true;
}

enum cs_code cs_cut_place(struct cs_elfcut *cut, struct cs_err *err) {
    for (size_t i = 0; i < cut->sections.count; i++) {
        struct cs_elfcut_section *d = &cut->sections.ptr[i];
        if (!d->changed) {
            continue;
        }
        CS_TRY(check_fixed(cut, d, err));
        if (cut->work->object) {
            d->capacity = d->size + wanted_bytes(cut, d);
        }
        const bool high = prefers_high(cut, i);
        bool fits = high && pack_high(cut, d);
        if (!fits) {
            restore(cut, d);
            fits = pack_low(cut, d);
        }
        if (!fits && !relocate(cut, d)) {
            restore(cut, d);
            return cs_fail_at(err, CS_CONFLICT, d->off,
                              "new containers need %llu bytes, their section has %llu, and one "
                              "of them cannot move",
                              (unsigned long long)wanted_bytes(cut, d),
                              (unsigned long long)d->size);
        }
        measure(cut, d);
    }
    return CS_OK;
}
