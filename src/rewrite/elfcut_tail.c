// Elfcut, growth: sections whose new containers need more room (concatenated entries split back
// into plain ones) move to the end of the file, into one read-only segment behind all others.
//
// Their addresses lie behind the last address of the image, as patchelf's additions do; only
// wrappers know a movable container's address, and those are rewritten anyway.  The old place is a
// hole like any other.
#include "base/num.h"
#include "rewrite/elfcut_work.h"

enum { TAIL_ALIGN = 64 };

static uint64_t align_up(uint64_t x, uint64_t align) { return (x + align - 1) & ~(align - 1); }

// First page behind every LOAD.
static bool image_end(const struct cs_elf *elf, uint64_t page, uint64_t *out) {
    *out = 0;
    for (uint32_t i = 0; i < elf->phnum; i++) {
        const struct cs_elf_segment s = cs_elf_segment(elf, i);
        uint64_t end;
        if (s.type == PT_LOAD) {
            if (!cs_add_u64(s.vaddr, s.memsz, &end)) {
                return false;
            }
            *out = cs_max_u64(*out, end);
        }
    }
    return cs_align_up_u64(*out, page, out);
}

enum cs_code cs_cut_plan_tail(struct cs_elfcut *cut, struct cs_err *err) {
    struct cs_elfcut_work *w = cut->work;
    const uint64_t old_end = cs_cut_map(w, cut->elf.file.len);
    uint64_t end = old_end;
    uint64_t base;
    if (w->object) {
        return CS_OK;
    }
    if (!image_end(&cut->elf, w->page, &base)) {
        return cs_fail(err, CS_UNSUPPORTED, "segments reach the end of the address space");
    }
    // Address and offset agree modulo the page size: both grow from the same offset in a page.
    const uint64_t start = align_up(end, TAIL_ALIGN);
    base += start & (w->page - 1);
    for (size_t i = 0; i < cut->sections.count; i++) {
        struct cs_elfcut_section *d = &cut->sections.ptr[i];
        uint64_t last;
        if (!d->relocated) {
            continue;
        }
        d->new_off = align_up(end, TAIL_ALIGN);
        d->new_addr = base + (d->new_off - start);
        if (!cs_add_u64(d->new_addr, d->new_size, &last)) {
            return cs_fail_at(err, CS_LIMIT, d->off, "section would become too large");
        }
        end = d->new_off + d->new_size;
        cut->result.relocated_sections++;
    }
    w->tail_bytes = end - old_end;
    return CS_OK;
}

bool cs_cut_tail_segment(const struct cs_elfcut *cut, struct cs_elf_segment *out) {
    bool any = false;
    for (size_t i = 0; i < cut->sections.count; i++) {
        const struct cs_elfcut_section *d = &cut->sections.ptr[i];
        if (!d->relocated) {
            continue;
        }
        if (!any) {
            *out = (struct cs_elf_segment){.type = PT_LOAD, .flags = PF_R, .off = d->new_off,
                                           .vaddr = d->new_addr, .paddr = d->new_addr,
                                           .align = cut->work->page};
        }
        any = true;
        out->filesz = out->memsz = d->new_off + d->new_size - out->off;
    }
    return any;
}

void cs_cut_emit_tail(struct cs_elfcut *cut) {
    uint64_t at = cs_cut_map(cut->work, cut->elf.file.len);
    for (size_t i = 0; i < cut->sections.count; i++) {
        const struct cs_elfcut_section *d = &cut->sections.ptr[i];
        if (!d->relocated) {
            continue;
        }
        cs_pieces_add(&cut->pieces, NULL, d->new_off - at);
        for (uint32_t k = d->first; k < d->first + d->count; k++) {
            const struct cs_elfcut_block *b = &cut->blocks.ptr[k];
            cs_pieces_add(&cut->pieces, cs_cut_block_ptr(cut, b), cs_cut_block_bytes(b));
        }
        at = d->new_off + d->new_size;
    }
}
