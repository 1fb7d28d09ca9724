// Dynamic sections: one pass over the entries, one over the version needs.
#include "format/elfdyn.h"

#include "base/limits.h"
#include "base/mem.h"

enum { ENTRY_BYTES = 16, VERNEED_BYTES = 16, VERNAUX_BYTES = 16, NAME_MAX_BYTES = 4096 };

// Where the tables are, by address; 0 = not given.
struct places {
    uint64_t strtab, strsz, symtab, verneed, verneed_count;
};

void cs_elfdyn_fini(struct cs_elfdyn *d) {
    cs_vec_fini(&d->needed);
    cs_vec_fini(&d->needs);
    *d = (struct cs_elfdyn){0};
}

static bool segment_of(const struct cs_elf *elf, uint32_t type, struct cs_elf_segment *out) {
    for (uint32_t i = 0; i < elf->phnum; i++) {
        *out = cs_elf_segment(elf, i);
        if (out->type == type) {
            return true;
        }
    }
    return false;
}

// Tags whose value is the address of something in the file.
static bool is_pointer(uint64_t tag) {
    return tag == DT_HASH || tag == DT_SYMTAB || tag == DT_STRTAB || tag == DT_RELA ||
           tag == DT_REL || tag == DT_JMPREL || tag == DT_VERSYM || tag == DT_VERNEED ||
           tag == DT_VERDEF || tag == DT_GNU_HASH;
}

static void note_place(struct places *p, uint64_t tag, uint64_t value) {
    switch (tag) {
    case DT_STRTAB: p->strtab = value; break;
    case DT_STRSZ: p->strsz = value; break;
    case DT_SYMTAB: p->symtab = value; break;
    case DT_VERNEED: p->verneed = value; break;
    case DT_VERNEEDNUM: p->verneed_count = value; break;
    default: break;
    }
}

static struct places find_places(const struct cs_elf *elf, struct cs_view table,
                                 struct cs_elfdyn *d) {
    struct places p = {0};
    bool ended = false;
    for (uint64_t at = 0; at + ENTRY_BYTES <= table.len && !ended; at += ENTRY_BYTES) {
        const uint64_t tag = cs_u64(table, at), value = cs_u64(table, at + 8);
        uint64_t off;
        ended = tag == DT_NULL;
        if (is_pointer(tag) && value && !cs_elf_vaddr_to_off(elf, value, &off)) {
            d->faults |= CS_ELFDYN_POINTER;
        }
        note_place(&p, tag, value);
    }
    if (!ended) {
        d->faults |= CS_ELFDYN_TABLE;
    }
    return p;
}

static struct cs_view string_table(const struct cs_elf *elf, const struct places *p,
                                   struct cs_elfdyn *d) {
    uint64_t off;
    struct cs_view strings;
    if (!cs_elf_vaddr_to_off(elf, p->strtab, &off) || p->strsz == 0 ||
        !cs_view_sub(elf->file, off, p->strsz, &strings) || cs_u8(strings, 0) != 0) {
        d->faults |= CS_ELFDYN_STRINGS;
        return cs_view_of("", 0);
    }
    return strings;
}

static struct cs_str name_at(struct cs_view strings, uint64_t off, struct cs_elfdyn *d) {
    bool ok;
    const struct cs_str s = cs_cstr(strings, off, NAME_MAX_BYTES, &ok);
    for (size_t i = 0; i < s.len && ok; i++) {
        ok = (uint8_t)s.ptr[i] >= 0x20 && s.ptr[i] != 0x7F;
    }
    if (!ok || s.len == 0) {
        d->faults |= strings.len ? CS_ELFDYN_NAME : 0;
        return CS_STR("");
    }
    return s;
}

static enum cs_code read_names(struct cs_view table, struct cs_view strings, struct cs_elfdyn *d,
                               struct cs_err *err) {
    for (uint64_t at = 0; at + ENTRY_BYTES <= table.len; at += ENTRY_BYTES) {
        const uint64_t tag = cs_u64(table, at), value = cs_u64(table, at + 8);
        if (tag == DT_NULL) {
            break;
        }
        if (tag == DT_SONAME) {
            d->soname = name_at(strings, value, d);
        } else if (tag == DT_NEEDED) {
            struct cs_str *slot = cs_vec_push(&d->needed);
            if (!slot) {
                return cs_fail(err, CS_NOMEM, "no memory for the dynamic section");
            }
            *slot = name_at(strings, value, d);
        } else if ((tag == DT_RPATH || tag == DT_RUNPATH) && strings.len) {
            bool ok;  // an empty path is what patchelf --remove-rpath may leave
            (void)cs_cstr(strings, value, NAME_MAX_BYTES, &ok);
            d->faults |= ok ? 0 : CS_ELFDYN_NAME;
        }
    }
    return CS_OK;
}

static enum cs_code read_aux(struct cs_view file, uint64_t at, uint32_t count, struct cs_str owner,
                             struct cs_view strings, struct cs_elfdyn *d, struct cs_err *err) {
    for (uint32_t i = 0; i < count; i++) {
        if (!cs_view_has(file, at, VERNAUX_BYTES)) {
            d->faults |= CS_ELFDYN_VERSIONS;
            return CS_OK;
        }
        if (d->needs.count >= CS_ELFDYN_NEEDS_MAX) {
            return cs_fail(err, CS_LIMIT, "more than %d version needs", CS_ELFDYN_NEEDS_MAX);
        }
        struct cs_elfdyn_need *slot = cs_vec_push(&d->needs);
        if (!slot) {
            return cs_fail(err, CS_NOMEM, "no memory for the version needs");
        }
        *slot = (struct cs_elfdyn_need){owner, name_at(strings, cs_u32(file, at + 8), d)};
        const uint32_t next = cs_u32(file, at + 12);
        if (next == 0) {
            break;
        }
        at += next;
    }
    return CS_OK;
}

// Entries are chained by distances forward, so the walk ends.
static enum cs_code read_needs(const struct cs_elf *elf, const struct places *p,
                               struct cs_view strings, struct cs_elfdyn *d, struct cs_err *err) {
    uint64_t at;
    if (p->verneed == 0 || !cs_elf_vaddr_to_off(elf, p->verneed, &at)) {
        return CS_OK;
    }
    for (uint64_t i = 0; i < p->verneed_count; i++) {
        if (!cs_view_has(elf->file, at, VERNEED_BYTES) || cs_u16(elf->file, at) != 1) {
            d->faults |= CS_ELFDYN_VERSIONS;
            return CS_OK;
        }
        const struct cs_str owner = name_at(strings, cs_u32(elf->file, at + 4), d);
        CS_TRY(read_aux(elf->file, at + cs_u32(elf->file, at + 8), cs_u16(elf->file, at + 2), owner,
                        strings, d, err));
        const uint32_t next = cs_u32(elf->file, at + 12);
        if (next == 0) {
            break;
        }
        at += next;
    }
    return CS_OK;
}

static void check_section(const struct cs_elf *elf, const char *name, uint64_t addr,
                          struct cs_elfdyn *d) {
    struct cs_elf_section s;
    if (addr && cs_elf_find(elf, name, &s) && s.addr != addr) {
        d->faults |= CS_ELFDYN_SECTION;
    }
}

enum cs_code cs_elfdyn_read(const struct cs_elf *elf, struct cs_elfdyn *out, struct cs_err *err) {
    *out = (struct cs_elfdyn){.soname = CS_STR("")};
    struct cs_elf_segment dynamic;
    struct cs_view table;
    if (!segment_of(elf, PT_DYNAMIC, &dynamic)) {
        return CS_OK;
    }
    out->present = true;
    if (!cs_view_sub(elf->file, dynamic.off, dynamic.filesz, &table)) {
        out->faults |= CS_ELFDYN_TABLE;
        return CS_OK;
    }
    if (table.len / ENTRY_BYTES > CS_ELFDYN_ENTRIES_MAX) {
        return cs_fail(err, CS_LIMIT, "more than %d dynamic entries", CS_ELFDYN_ENTRIES_MAX);
    }
    const struct places p = find_places(elf, table, out);
    const struct cs_view strings = string_table(elf, &p, out);
    check_section(elf, ".dynamic", dynamic.vaddr, out);
    check_section(elf, ".dynstr", p.strtab, out);
    check_section(elf, ".dynsym", p.symtab, out);
    enum cs_code code = read_names(table, strings, out, err);
    code = code == CS_OK ? read_needs(elf, &p, strings, out, err) : code;
    if (code != CS_OK) {
        cs_elfdyn_fini(out);
    }
    return code;
}
