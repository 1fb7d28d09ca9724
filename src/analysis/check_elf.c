// ELF rules: is the file what a loader takes, and did the tools that edited it leave it whole?
//
// strip, patchelf and auditwheel move parts of finished libraries; each is right alone and wrong in
// the wrong order.  What is judged is what loaders check (glibc's _dl_map_object_from_fd) and what
// they rely on without checking: that sections and segments describe the same bytes, and that every
// registration record reaches its container.  Table of layouts: docs/format/elf-subset.md.
#include "analysis/check_elf.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/intern.h"
#include "base/mem.h"
#include "format/elfdyn.h"
#include "model/wrappers.h"

enum { SHOWN_MAX = 5, TEXT_BYTES = 1024 };

static const char order[] =
    "Start again from the library as it was linked; the safe order is slim, strip, patchelf or "
    "auditwheel.";

void cs_check_facts_add(struct cs_check_facts *f, const char *slug, enum cs_severity severity,
                        const char *advice, const char *fmt, ...) {
    char text[TEXT_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    const struct cs_str message = cs_arena_str(&f->arena, cs_str_from(text));
    struct cs_check_fact *slot = message.ptr ? cs_vec_push(&f->items) : NULL;
    if (slot) {
        *slot = (struct cs_check_fact){slug, severity, message, cs_str_from(advice)};
    }
    f->failed = f->failed || !slot;
}

// ---- segments --------------------------------------------------------------------------------

// The LOAD segments, ascending by address and apart: anything else is damage.
struct loads {
    CS_VEC(struct cs_elf_segment) items;
    bool sane;
};

static void check_load(const struct cs_elf *elf, const struct cs_elf_segment *s,
                       struct cs_check_facts *facts) {
    if (s->align > 1 && ((s->align & (s->align - 1)) != 0 || (s->vaddr - s->off) % s->align != 0)) {
        cs_check_facts_add(facts, "elf-segment-misaligned", CS_SEVERITY_ERROR, order,
                           "LOAD segment %u: offset 0x%llx and address 0x%llx disagree modulo "
                           "0x%llx",
                           s->index, (unsigned long long)s->off, (unsigned long long)s->vaddr,
                           (unsigned long long)s->align);
    }
    if (!cs_view_has(elf->file, s->off, s->filesz) || s->filesz > s->memsz) {
        cs_check_facts_add(facts, "elf-damaged", CS_SEVERITY_ERROR, order,
                           "LOAD segment %u leaves the file: offset 0x%llx, 0x%llx bytes", s->index,
                           (unsigned long long)s->off, (unsigned long long)s->filesz);
    }
}

static void find_loads(const struct cs_elf *elf, struct loads *loads,
                       struct cs_check_facts *facts) {
    uint64_t end = 0;
    for (uint32_t i = 0; i < elf->phnum; i++) {
        const struct cs_elf_segment s = cs_elf_segment(elf, i);
        if (s.type != PT_LOAD) {
            continue;
        }
        check_load(elf, &s, facts);
        if (loads->items.count && s.vaddr < end && loads->sane) {
            loads->sane = false;  // said once
            cs_check_facts_add(facts, "elf-damaged", CS_SEVERITY_ERROR, order,
                               "LOAD segment %u begins at 0x%llx, before the end of the one before "
                               "it (0x%llx)",
                               i, (unsigned long long)s.vaddr, (unsigned long long)end);
        }
        end = s.memsz > UINT64_MAX - s.vaddr ? UINT64_MAX : s.vaddr + s.memsz;
        struct cs_elf_segment *slot = cs_vec_push(&loads->items);
        if (!slot) {
            facts->failed = true;
            return;
        }
        *slot = s;
    }
}

static uint64_t extent_of(const struct loads *loads) {
    const struct cs_elf_segment *s = loads->items.ptr;
    if (!loads->sane || loads->items.count == 0) {
        return 0;
    }
    const struct cs_elf_segment *last = &s[loads->items.count - 1];
    return last->vaddr - s->vaddr + last->memsz;
}

static void check_program_headers(const struct cs_elf *elf, struct cs_check_facts *facts) {
    for (uint32_t i = 0; i < elf->phnum; i++) {
        const struct cs_elf_segment s = cs_elf_segment(elf, i);
        if (s.type == PT_PHDR && s.off != elf->phoff) {
            cs_check_facts_add(facts, "elf-damaged", CS_SEVERITY_ERROR, order,
                               "PT_PHDR does not point at the program headers (0x%llx)",
                               (unsigned long long)elf->phoff);
            break;
        }
    }
    if (elf->phnum && elf->phoff != sizeof(Elf64_Ehdr)) {
        cs_check_facts_add(facts, "moved-program-headers", CS_SEVERITY_NOTE,
                           "Strip before patchelf or auditwheel, never after.",
                           "the program headers were moved to 0x%llx, as patchelf does: GNU strip "
                           "and objcopy break such a file",
                           (unsigned long long)elf->phoff);
    }
}

// ---- sections --------------------------------------------------------------------------------

// The segment that holds the address, by bisection; NULL when none does.
static const struct cs_elf_segment *load_of(const struct loads *loads, uint64_t addr) {
    size_t low = 0, high = loads->items.count;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (loads->items.ptr[mid].vaddr <= addr) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    const struct cs_elf_segment *s = low ? &loads->items.ptr[low - 1] : NULL;
    return s && addr - s->vaddr < s->memsz ? s : NULL;
}

// Is the section where the segment that holds its address puts it?
static bool section_agrees(const struct loads *loads, const struct cs_elf_section *s) {
    const struct cs_elf_segment *seg = load_of(loads, s->addr);
    if (!seg) {
        // .tbss has an address and takes no room; other sections without bytes need no segment.
        return s->size == 0 || (s->type == SHT_NOBITS && (s->flags & SHF_TLS));
    }
    if (s->type == SHT_NOBITS) {
        return true;
    }
    const uint64_t into = s->addr - seg->vaddr;
    return seg->off + into == s->off && into <= seg->filesz && s->size <= seg->filesz - into;
}

static void check_sections(const struct cs_elf *elf, const struct loads *loads,
                           struct cs_check_facts *facts) {
    uint32_t wrong = 0;
    for (uint32_t i = 1; i < elf->shnum; i++) {
        const struct cs_elf_section s = cs_elf_section(elf, i);
        if (!(s.flags & SHF_ALLOC) || s.type == SHT_NULL || section_agrees(loads, &s)) {
            continue;
        }
        if (wrong++ < SHOWN_MAX) {
            const struct cs_str name = cs_elf_section_name(elf, &s);
            cs_check_facts_add(facts, "elf-damaged", CS_SEVERITY_ERROR, order,
                               "section %.*s (offset 0x%llx, address 0x%llx) is not where the "
                               "segments say",
                               (int)(name.len > 64 ? 64 : name.len), name.ptr,
                               (unsigned long long)s.off, (unsigned long long)s.addr);
        }
    }
    if (wrong > SHOWN_MAX) {
        cs_check_facts_add(facts, "elf-damaged", CS_SEVERITY_ERROR, order,
                           "%u more sections are not where the segments say", wrong - SHOWN_MAX);
    }
}

static void check_layout(const struct cs_elf *elf, struct cs_check_facts *facts,
                         struct cs_check_file *file) {
    struct loads loads = {.sane = true};
    find_loads(elf, &loads, facts);
    check_program_headers(elf, facts);
    file->image_bytes = extent_of(&loads);
    if (loads.sane && loads.items.count) {
        check_sections(elf, &loads, facts);
    }
    cs_vec_fini(&loads.items);
}

// ---- the dynamic section ---------------------------------------------------------------------

static void check_faults(const struct cs_elfdyn *d, struct cs_check_facts *facts) {
    static const struct {
        uint32_t fault;
        const char *text;
    } rows[] = {
        {CS_ELFDYN_TABLE, "the dynamic section leaves the file or has no end"},
        {CS_ELFDYN_STRINGS, "the dynamic string table is not in the file"},
        {CS_ELFDYN_NAME, "a name in the dynamic section is no text"},
        {CS_ELFDYN_POINTER, "the dynamic section points at addresses that no segment holds"},
        {CS_ELFDYN_VERSIONS, "the table of version needs is damaged"},
        {CS_ELFDYN_SECTION,
         ".dynamic, .dynsym or .dynstr is elsewhere than the dynamic section says"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (d->faults & rows[i].fault) {
            cs_check_facts_add(facts, "elf-damaged", CS_SEVERITY_ERROR, order, "%s", rows[i].text);
        }
    }
}

static bool intern_needed(const struct cs_elfdyn *d, struct cs_intern *needed) {
    bool ok = true;
    for (size_t i = 0; ok && i < d->needed.count; i++) {
        ok = cs_intern_add(needed, d->needed.ptr[i]) != CS_INTERN_NONE;
    }
    return ok;
}

// glibc looks the version's library up among the loaded ones and gives up when it is not there.
static void check_needs(const struct cs_elfdyn *d, struct cs_check_facts *facts) {
    struct cs_intern needed;
    cs_intern_init(&needed);
    facts->failed = facts->failed || !intern_needed(d, &needed);
    for (size_t i = 0; i < d->needs.count && !facts->failed; i++) {
        const struct cs_str file = d->needs.ptr[i].file;
        if (file.len == 0 || cs_intern_find(&needed, file) != CS_INTERN_NONE) {
            continue;
        }
        facts->failed = cs_intern_add(&needed, file) == CS_INTERN_NONE;  // said once
        cs_check_facts_add(facts, "version-need-unmatched", CS_SEVERITY_ERROR,
                           "Rename libraries with a patchelf that rewrites version tables too, or "
                           "repair the wheel again from the files as they were built.",
                           "versions are asked of %.*s, which is not among the needed libraries",
                           (int)(file.len > 128 ? 128 : file.len), file.ptr);
    }
    cs_intern_fini(&needed);
}

// "GLIBC_2.34" of the C library gives 2.34.
static void note_glibc(const struct cs_elfdyn_need *need, struct cs_check_file *file) {
    const struct cs_str prefix = CS_STR("GLIBC_");
    uint32_t part[2] = {0, 0}, n = 0;
    if (!cs_str_starts(need->version, prefix)) {
        return;
    }
    for (size_t i = prefix.len; i < need->version.len && n < 2; i++) {
        const char x = need->version.ptr[i];
        if (x == '.') {
            n++;
        } else if (x >= '0' && x <= '9' && part[n] < 1000) {
            part[n] = part[n] * 10 + (uint32_t)(x - '0');
        } else {
            return;  // GLIBC_PRIVATE and the like
        }
    }
    if (part[0] > file->glibc_major ||
        (part[0] == file->glibc_major && part[1] > file->glibc_minor)) {
        file->glibc_major = (uint16_t)part[0];
        file->glibc_minor = (uint16_t)part[1];
    }
}

static void check_dynamic(const struct cs_elf *elf, struct cs_check_facts *facts,
                          struct cs_check_file *file) {
    struct cs_elfdyn d;
    struct cs_err err = {0};
    const enum cs_code code = cs_elfdyn_read(elf, &d, &err);
    if (code != CS_OK) {
        facts->failed = facts->failed || code == CS_NOMEM;
        return;
    }
    check_faults(&d, facts);
    check_needs(&d, facts);
    for (size_t i = 0; i < d.needs.count; i++) {
        note_glibc(&d.needs.ptr[i], file);
    }
    file->soname = cs_arena_str(&facts->arena, d.soname);
    facts->failed = facts->failed || !file->soname.ptr;
    cs_elfdyn_fini(&d);
}

// ---- wrappers --------------------------------------------------------------------------------

void cs_check_elf_wrappers(const struct cs_elf *elf, struct cs_check_facts *facts) {
    struct cs_wrappers w;
    struct cs_err err = {0};
    const enum cs_code code = cs_wrappers_find(elf, &w, &err);
    if (code != CS_OK) {
        facts->failed = facts->failed || code == CS_NOMEM;
        if (code != CS_NOMEM) {
            char text[512];
            cs_err_format(&err, text, sizeof text);
            cs_check_facts_add(facts, "elf-damaged", CS_SEVERITY_ERROR, order, "%s", text);
        }
        return;
    }
    uint32_t dangling = 0;
    for (size_t i = 0; i < w.items.count; i++) {
        const struct cs_wrapper *x = &w.items.ptr[i];
        if (x->container_offset != CS_NO_OFFSET || x->storage == CS_WRAPPER_UNKNOWN ||
            dangling++ >= SHOWN_MAX) {
            continue;
        }
        cs_check_facts_add(facts, "dangling-wrapper", CS_SEVERITY_ERROR,
                           "Undo the edit that changed .nv_fatbin.",
                           "the registration record at 0x%llx points at 0x%llx, where no container "
                           "begins",
                           (unsigned long long)x->offset, (unsigned long long)x->target);
    }
    if (dangling > SHOWN_MAX) {
        cs_check_facts_add(facts, "dangling-wrapper", CS_SEVERITY_ERROR,
                           "Undo the edit that changed .nv_fatbin.",
                           "%u more registration records point at no container",
                           dangling - SHOWN_MAX);
    }
    cs_wrappers_fini(&w);
}

void cs_check_elf_file(const struct cs_elf *elf, struct cs_check_facts *facts,
                       struct cs_check_file *file) {
    check_layout(elf, facts, file);
    check_dynamic(elf, facts, file);
    cs_check_elf_wrappers(elf, facts);
    cs_check_elf_span(elf, &file->span);
}
