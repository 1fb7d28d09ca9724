// What the parts of elfcut share: the plan under way.  Not for others.
#ifndef CS_REWRITE_ELFCUT_WORK_H
#define CS_REWRITE_ELFCUT_WORK_H

#include "rewrite/elfcut.h"

// An 8-byte field (address, addend, size) with a new value.
struct cs_cut_patch {
    uint64_t off;  // in the original file
    uint64_t value;
};

// Free bytes [a, b) of the original file: the first `removed` of them leave the file, the rest are
// zeros.  Holes cover everything in a changed section that no block occupies.
struct cs_cut_hole {
    uint64_t a, b;
    uint64_t removed;
    bool between;  // blocks of one section on both sides: cannot leave, a section is one range
};

// Original bytes [off, off+len) are replaced by out_len bytes at ptr (NULL = zeros).
struct cs_cut_op {
    uint64_t off, len;
    const uint8_t *ptr;
    uint64_t out_len;
};

// A change of size, for mapping offsets: original bytes [off, end) became `now` bytes.  `minus` and
// `plus` are what all changes up to and including this one took out and put in.
struct cs_cut_shift {
    uint64_t off, end, now;
    uint64_t free_end;  // end of the hole of which [off, end) was taken out
    uint64_t minus, plus;
};

// A program header of the new file, in original offsets.
struct cs_cut_phdr {
    struct cs_elf_segment seg;
    bool lowered;  // p_align became the page size
    bool added;    // the segment of relocated sections; `seg` is final
};

struct cs_elfcut_work {
    struct cs_arena arena;                // new tables and patched stretches
    CS_VEC(struct cs_cut_patch) patches;
    CS_VEC(struct cs_cut_hole) holes;     // ascending
    CS_VEC(struct cs_cut_op) ops;
    CS_VEC(struct cs_cut_shift) shifts;   // ascending
    CS_VEC(struct cs_cut_phdr) phdrs;     // the new table, offsets still original
    CS_VEC(uint32_t) order;               // blocks by new place, section by section
    uint64_t page;                        // granularity of segments
    bool object;                          // ET_REL
    uint64_t tail_bytes;                  // appended: relocated sections, padding included
};

enum { CS_CUT_ALIGN = 8 };

static inline uint64_t cs_cut_block_bytes(const struct cs_elfcut_block *b) {
    return b->replace ? b->fresh.len : b->bytes;
}
static inline const uint8_t *cs_cut_block_ptr(const struct cs_elfcut *cut,
                                              const struct cs_elfcut_block *b) {
    return b->replace ? b->fresh.ptr : cut->elf.file.ptr + b->off;
}
static inline bool cs_cut_fixed(const struct cs_elfcut_block *b) {
    return b->pin != CS_ELFCUT_MOVABLE;
}
// Where a block will be, in offsets of the original file; not for relocated sections.
static inline uint64_t cs_cut_block_pos(const struct cs_elfcut *cut,
                                        const struct cs_elfcut_block *b) {
    return cut->sections.ptr[b->section].off + b->at;
}
// The address that a block's `at` counts from; in object files the section itself.
static inline uint64_t cs_cut_base(const struct cs_elfcut *cut, const struct cs_elfcut_section *d) {
    return cut->work->object ? 0 : d->relocated ? d->new_addr : d->addr;
}

// The block that contains a file offset, or NULL.
struct cs_elfcut_block *cs_cut_block_of(const struct cs_elfcut *cut, uint64_t off);
// The device section that is section header `index`, or NULL.
struct cs_elfcut_section *cs_cut_section_of(const struct cs_elfcut *cut, uint32_t index);

// elfcut_refs.c: everything in the file that refers to a block decides what may move.
enum cs_code cs_cut_survey_references(struct cs_elfcut *cut, struct cs_err *err) CS_MUST_USE;
// elfcut_place.c: new place of every block.
enum cs_code cs_cut_place(struct cs_elfcut *cut, struct cs_err *err) CS_MUST_USE;
// elfcut_fix.c: the patches for wrappers and symbols of moved blocks.
enum cs_code cs_cut_fix_pointers(struct cs_elfcut *cut, struct cs_err *err) CS_MUST_USE;
// elfcut_hole.c: the free ranges, and how much of each can leave the file.
enum cs_code cs_cut_find_holes(struct cs_elfcut *cut, bool fill_only,
                               struct cs_err *err) CS_MUST_USE;
// elfcut_tail.c: a new place for sections that need more room than they have.
enum cs_code cs_cut_plan_tail(struct cs_elfcut *cut, struct cs_err *err) CS_MUST_USE;
void cs_cut_emit_tail(struct cs_elfcut *cut);
// Segment of the relocated sections; false when there are none.
bool cs_cut_tail_segment(const struct cs_elfcut *cut, struct cs_elf_segment *out);
// elfcut_load.c: program headers for the holes; gives up holes for which there is no slot.
enum cs_code cs_cut_plan_segments(struct cs_elfcut *cut, struct cs_err *err) CS_MUST_USE;
// elfcut_emit.c: how offsets move, once the holes are settled.
enum cs_code cs_cut_make_shifts(struct cs_elfcut *cut, struct cs_err *err) CS_MUST_USE;
// elfcut_emit.c: operations in file order, then the pieces.
enum cs_code cs_cut_emit(struct cs_elfcut *cut, struct cs_err *err) CS_MUST_USE;

// New offset of an original offset.  Inside a range that shrank: at most the end of what is left.
uint64_t cs_cut_map(const struct cs_elfcut_work *w, uint64_t off);

// Notes why bytes stay as zeros; the first reason wins.
void cs_cut_reason(struct cs_elfcut *cut, const char *fmt, ...) CS_PRINTF(2, 3);

#endif
