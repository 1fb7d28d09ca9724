// The 2 GiB rule: how far 32-bit references must reach in a linked file.
//
// Code, and the unwind tables of code, reach data by signed 32-bit distances (x86-64: R_X86_64_PC32
// and friends; AArch64: ADRP, which reaches 4 GiB).  Device code is reached by 64-bit pointers, but
// where it lies between code and data it pushes them apart.  Sections of the large code model
// (SHF_X86_64_LARGE) are reached by 64-bit references as well.
#include "analysis/check_elf.h"
#include "base/limits.h"
#include "base/num.h"
#include "model/wrappers.h"

#ifndef SHF_X86_64_LARGE
#define SHF_X86_64_LARGE 0x10000000u
#endif

// Sections that host code reaches by 64-bit pointers only.
static bool is_far(const struct cs_elf *elf, const struct cs_elf_section *s) {
    bool relocatable;
    return cs_wrappers_device_section(cs_elf_section_name(elf, s), &relocatable) ||
           (elf->machine == EM_X86_64 && (s->flags & SHF_X86_64_LARGE));
}

static bool is_loaded(const struct cs_elf_section *s) {
    return (s->flags & SHF_ALLOC) && s->size && s->type != SHT_NULL && !(s->flags & SHF_TLS);
}

static uint64_t end_of(const struct cs_elf_section *s) {
    return s->size > UINT64_MAX - s->addr ? UINT64_MAX : s->addr + s->size;
}

struct extent {
    uint64_t begin, end;
    struct cs_str first, last;  // sections at both ends
    bool any;
};

static void widen(struct extent *x, const struct cs_elf *elf, const struct cs_elf_section *s) {
    if (!x->any || s->addr < x->begin) {
        x->begin = s->addr;
        x->first = cs_elf_section_name(elf, s);
    }
    if (!x->any || end_of(s) > x->end) {
        x->end = end_of(s);
        x->last = cs_elf_section_name(elf, s);
    }
    x->any = true;
}

// The device code inside [begin, end).
static void between(const struct cs_elf *elf, uint64_t begin, uint64_t end,
                    struct cs_check_span *span) {
    uint64_t largest = 0;
    for (uint32_t i = 1; i < elf->shnum; i++) {
        const struct cs_elf_section s = cs_elf_section(elf, i);
        if (!is_loaded(&s) || !is_far(elf, &s) || s.addr < begin || end_of(&s) > end) {
            continue;
        }
        span->device_bytes += s.size;
        if (s.size > largest) {
            largest = s.size;
            span->between = cs_elf_section_name(elf, &s);
        }
    }
}

uint64_t cs_check_span_limit(uint16_t machine) {
    return (machine == EM_AARCH64 ? 4 : 2) * CS_GIB;
}

void cs_check_elf_span(const struct cs_elf *elf, struct cs_check_span *span) {
    struct extent code = {0}, all = {0};
    *span = (struct cs_check_span){.from = CS_STR(""), .to = CS_STR(""), .between = CS_STR("")};
    span->limit_bytes = cs_check_span_limit(elf->machine);
    for (uint32_t i = 1; i < elf->shnum; i++) {
        const struct cs_elf_section s = cs_elf_section(elf, i);
        if (!is_loaded(&s) || is_far(elf, &s)) {
            continue;
        }
        widen(&all, elf, &s);
        if (s.flags & SHF_EXECINSTR) {
            widen(&code, elf, &s);
        }
    }
    if (!code.any) {
        return;
    }
    // Forwards from the first code, or backwards from the last.
    const uint64_t ahead = all.end - code.begin, back = code.end - all.begin;
    const bool forwards = ahead >= back;
    span->bytes = forwards ? ahead : back;
    span->from = forwards ? code.first : all.first;
    span->to = forwards ? all.last : code.last;
    between(elf, forwards ? code.begin : all.begin, forwards ? all.end : code.end, span);
}

// ---- objects ---------------------------------------------------------------------------------

static bool named(struct cs_str name, const char *prefix) {
    return cs_str_starts(name, cs_str_from(prefix));
}

void cs_check_elf_sections(const struct cs_elf *elf, struct cs_check_sections *sum) {
    sum->objects++;
    for (uint32_t i = 1; i < elf->shnum; i++) {
        const struct cs_elf_section s = cs_elf_section(elf, i);
        if (!(s.flags & SHF_ALLOC) || s.type == SHT_NULL || s.type == SHT_GROUP) {
            continue;
        }
        const struct cs_str name = cs_elf_section_name(elf, &s);
        uint64_t *into = named(name, ".nv_fatbin")        ? &sum->fatbin
                         : named(name, "__nv_relfatbin")  ? &sum->relfatbin
                         : named(name, ".eh_frame")       ? &sum->eh_frame
                         : (s.flags & SHF_EXECINSTR)      ? &sum->text
                         : s.type == SHT_NOBITS           ? &sum->bss
                         : (s.flags & SHF_WRITE)          ? &sum->data
                                                          : &sum->rodata;
        uint64_t total;
        if (!cs_add_u64(*into, s.size, &total) ||
            (s.align > 1 && s.align <= CS_GIB && (s.align & (s.align - 1)) == 0 &&
             !cs_align_up_u64(total, s.align, &total))) {
            total = UINT64_MAX / 8;
        }
        *into = cs_min_u64(total, UINT64_MAX / 8);
    }
}
