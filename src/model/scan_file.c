// Finding device code in one file, and owning every other byte.
//
// The file is first cut into regions (ELF sections, headers, gaps) that partition it; each region
// is then searched at 8-byte steps for fatbin containers and bare cubins.  A container counts only
// when its header is right and its entries walk exactly to its end: stray magics in code stay host
// bytes. Real libraries keep containers in .nv_fatbin, __nv_relfatbin, .ldata, .rodata and
// .cask_resource (docs/format/fatbin.md), so no section is skipped.

#include <stdlib.h>

#include "base/limits.h"
#include "base/num.h"
#include "format/ar.h"
#include "model/scan.h"
#include "model/source.h"

struct region {
    uint64_t off, len;
    uint32_t section;  // intern id
};

struct regions {
    CS_VEC(struct region) list;
    uint64_t cursor;
};

// ---- leaves ----------------------------------------------------------------------------------

struct cs_leaf cs_leaf_of(uint32_t member, uint32_t section, uint32_t part) {
    return (struct cs_leaf){.member = member,
                            .section = section,
                            .container = CS_NONE,
                            .image = CS_NONE,
                            .kernel = CS_NONE,
                            .part = part};
}

bool cs_scan_leaf(struct cs_scan *s, struct cs_leaf leaf, uint64_t off, uint64_t len) {
    if (len == 0) {
        return true;
    }
    leaf.file_bytes = len;
    leaf.wheel_bytes = cs_scan_wheel(s, off, len);
    struct cs_leaf *slot = cs_vec_push(&s->leaves);
    if (slot) {
        *slot = leaf;
    }
    return slot != NULL;
}

static enum cs_code no_memory(struct cs_err *err) {
    return cs_fail(err, CS_NOMEM, "no memory to read the file");
}

// ---- kinds -----------------------------------------------------------------------------------

// A position-independent executable is an ET_DYN file that names an interpreter.
static bool has_interpreter(struct cs_view file) {
    const uint64_t phoff = cs_u64(file, 32);
    const uint32_t phnum = cs_u16(file, 56);
    for (uint64_t i = 0; i < phnum; i++) {
        uint64_t at;
        if (cs_add_u64(phoff, i * sizeof(Elf64_Phdr), &at) && cs_u32(file, at) == PT_INTERP) {
            return true;
        }
    }
    return false;
}

static enum cs_file_kind elf_kind(struct cs_view file) {
    if (cs_u8(file, EI_CLASS) != ELFCLASS64 || cs_u8(file, EI_DATA) != ELFDATA2LSB) {
        return CS_FILE_OTHER;
    }
    const uint16_t type = cs_u16(file, 16), machine = cs_u16(file, 18);
    if (machine == CS_EM_CUDA) {
        return CS_FILE_CUBIN;
    }
    if (type == ET_REL) {
        return CS_FILE_OBJECT;
    }
    return type == ET_EXEC || has_interpreter(file) ? CS_FILE_EXECUTABLE : CS_FILE_LIBRARY;
}

static bool looks_like_report(struct cs_view file) {
    const size_t n = (size_t)cs_min_u64(file.len, 256);
    const struct cs_str head = {(const char *)file.ptr, n};
    return n > 0 && file.ptr[0] == '{' && cs_str_find(head, CS_STR("\"cuslim.")) != SIZE_MAX;
}

enum cs_file_kind cs_file_kind_of(struct cs_view file) {
    uint64_t bytes;
    uint32_t entries;
    if (cs_elf_probe(file)) {
        return elf_kind(file);
    }
    if (cs_zip_probe(file)) {
        return CS_FILE_WHEEL;
    }
    if (cs_ar_probe(file)) {
        return CS_FILE_ARCHIVE;
    }
    if (cs_u32(file, 0) == CS_FATBIN_MAGIC || cs_fatbin_probe(file, &bytes, &entries)) {
        return CS_FILE_FATBIN;
    }
    if (cs_u16(file, 0) == 0x5A4D) {  // "MZ"
        return CS_FILE_WINDOWS;
    }
    if (looks_like_report(file)) {
        return CS_FILE_REPORT;
    }
    return cs_ptx_probe(file) ? CS_FILE_PTX : CS_FILE_OTHER;
}

// ---- regions ---------------------------------------------------------------------------------

static bool add_region(struct cs_scan *s, struct regions *r, uint64_t off, uint64_t len,
                       struct cs_str name) {
    const uint64_t end = off + len;
    const uint64_t from = cs_max_u64(off, r->cursor);
    if (off > r->cursor) {
        struct region *gap = cs_vec_push(&r->list);
        const uint32_t padding = cs_intern_add(&s->sections, CS_STR("[padding]"));
        if (!gap || padding == CS_INTERN_NONE) {
            return false;
        }
        *gap = (struct region){r->cursor, off - r->cursor, padding};
        r->cursor = off;
    }
    if (end <= from) {
        return true;
    }
    struct region *region = cs_vec_push(&r->list);
    const uint32_t section = cs_intern_add(&s->sections, name);
    if (!region || section == CS_INTERN_NONE) {
        return false;
    }
    *region = (struct region){from, end - from, section};
    r->cursor = end;
    return true;
}

struct span {
    uint64_t off, len;
    struct cs_str name;
};

static int span_cmp(const void *a, const void *b) {
    const struct span *x = a, *y = b;
    if (x->off != y->off) {
        return x->off < y->off ? -1 : 1;
    }
    return x->len > y->len ? -1 : x->len < y->len;
}

static enum cs_code elf_regions(struct cs_scan *s, const struct cs_elf *elf, struct regions *r,
                                struct cs_err *err) {
    CS_VEC(struct span) spans = {0};
    bool ok = cs_vec_push_n(&spans, (size_t)elf->shnum + 3) != NULL;
    size_t used = 0;
    if (ok) {
        spans.ptr[used++] = (struct span){0, sizeof(Elf64_Ehdr), CS_STR("[elf header]")};
        spans.ptr[used++] = (struct span){elf->phoff, (uint64_t)elf->phnum * sizeof(Elf64_Phdr),
                                          CS_STR("[program headers]")};
        spans.ptr[used++] = (struct span){elf->shoff, (uint64_t)elf->shnum * sizeof(Elf64_Shdr),
                                          CS_STR("[section headers]")};
        for (uint32_t i = 0; i < elf->shnum; i++) {
            const struct cs_elf_section section = cs_elf_section(elf, i);
            struct cs_view content;
            if (section.type != SHT_NULL && cs_elf_content(elf, &section, &content) &&
                content.len > 0) {
                spans.ptr[used++] =
                    (struct span){section.off, content.len, cs_elf_section_name(elf, &section)};
            }
        }
        qsort(spans.ptr, used, sizeof *spans.ptr, span_cmp);
    }
    for (size_t i = 0; ok && i < used; i++) {
        ok = spans.ptr[i].len == 0 ||
             add_region(s, r, spans.ptr[i].off, spans.ptr[i].len, spans.ptr[i].name);
    }
    cs_vec_fini(&spans);
    // A library stripped of its section table still has its bytes: they become one region.
    const struct cs_str rest = elf->shnum ? CS_STR("[padding]") : CS_STR("[no sections]");
    ok = ok && add_region(s, r, r->cursor, s->file.len - r->cursor, rest);
    return ok ? CS_OK : no_memory(err);
}

// ---- images ----------------------------------------------------------------------------------

static struct cs_image *add_image(struct cs_scan *s, const struct cs_pending *pending) {
    struct cs_pending *p = cs_vec_push(&s->pending);
    struct cs_image *image = p ? cs_vec_push(&s->images) : NULL;
    if (image) {
        *p = *pending;
        image->container = CS_NONE;
        image->part = CS_NONE;
    }
    return image;
}

static bool known_kind(uint32_t kind) {
    return kind == CS_FATBIN_PTX || kind == CS_FATBIN_ELF || kind == CS_FATBIN_LTOIR ||
           kind == CS_FATBIN_RELPTX || kind == CS_FATBIN_CONCAT;
}

static bool fill_image(struct cs_scan *s, struct cs_image *image, const struct cs_fatbin_entry *e,
                       uint32_t container, uint32_t index) {
    const struct cs_container *c = &s->containers.ptr[container];
    image->member = c->member;
    image->container = container;
    image->section = c->section;
    image->index = index;
    image->kind = e->kind;
    image->target = (struct cs_target){
        (uint16_t)e->arch,
        e->flags & CS_FATBIN_F_ARCH_A   ? 'a'
        : e->flags & CS_FATBIN_F_ARCH_F ? 'f'
                                        : '\0',
        e->kind == CS_FATBIN_PTX || e->kind == CS_FATBIN_RELPTX || e->kind == CS_FATBIN_LTOIR};
    image->codec = e->codec;
    image->flags = e->flags;
    image->obfuscated = e->obfuscated;
    image->unknown = !known_kind(e->kind) || e->unknown_flags || e->unknown_codec;
    image->offset = c->offset + e->off;
    image->header_bytes = e->header_bytes;
    image->image_bytes = e->image_bytes;
    image->code_major = e->code_major;
    image->code_minor = e->code_minor;
    if (image->target.is_ptx && e->kind != CS_FATBIN_LTOIR) {
        image->ptx_isa_x10 = e->code_major * 10u + e->code_minor;
    }
    image->identifier = cs_arena_str(&s->arena, e->identifier);
    image->options = cs_arena_str(&s->arena, e->options);
    return image->identifier.ptr && image->options.ptr;
}

// The parts of a concatenated entry must follow each other inside its decompressed image.
static bool parts_in_order(const struct cs_fatbin_entry *concat) {
    uint64_t cursor = 0, end = 0;
    for (uint32_t i = 0; i < concat->part_count; i++) {
        struct cs_fatbin_entry part;
        if (cs_fatbin_part(concat, &cursor, &part, NULL) != CS_OK || part.part_off < end) {
            return false;
        }
        end = part.part_off + part.payload_bytes;
    }
    return concat->part_count > 0;
}

static enum cs_code add_parts(struct cs_scan *s, const struct cs_fatbin_entry *concat,
                              uint32_t container, uint32_t index, struct cs_err *err) {
    const struct cs_container c = s->containers.ptr[container];
    const uint64_t payload_off = c.offset + concat->off + concat->header_bytes;
    struct cs_leaf leaf = cs_leaf_of(c.member, c.section, CS_PART_ENTRY_HEADER);
    leaf.container = container;
    uint64_t cursor = 0, shared_file = 0, shared_wheel = 0;
    const uint64_t wheel = cs_scan_wheel(s, payload_off, concat->payload_bytes);
    const uint64_t whole = cs_max_u64(concat->image_bytes, 1);
    for (uint32_t i = 0; i < concat->part_count; i++) {
        struct cs_pending pending = {.in_container = true, .is_part = true, .concat = *concat,
                                     .container_off = c.offset};
        CS_TRY(cs_fatbin_part(concat, &cursor, &pending.entry, err));
        // Shares telescope over the decompressed offsets, so they add up to the payload exactly.
        const uint64_t end = i + 1 == concat->part_count
                                 ? whole
                                 : pending.entry.part_off + pending.entry.payload_bytes;
        pending.file_off = payload_off;
        pending.payload_file_bytes = cs_muldiv_u64(concat->payload_bytes, end, whole) - shared_file;
        pending.payload_wheel_bytes = cs_muldiv_u64(wheel, end, whole) - shared_wheel;
        shared_file += pending.payload_file_bytes;
        shared_wheel += pending.payload_wheel_bytes;
        struct cs_image *image = add_image(s, &pending);
        if (!image || !fill_image(s, image, &pending.entry, container, index)) {
            return no_memory(err);
        }
        image->part = i;
        image->codec = concat->codec;
        image->unknown = image->unknown || concat->unknown_flags || concat->unknown_codec;
        image->file_bytes = image->header_bytes + pending.payload_file_bytes;
        struct cs_leaf header = leaf;
        header.image = (uint32_t)s->images.count - 1;
        if (!cs_scan_leaf(s, header, image->offset, image->header_bytes)) {
            return no_memory(err);
        }
        image->wheel_bytes = pending.payload_wheel_bytes +
                             cs_scan_wheel(s, image->offset, image->header_bytes);
    }
    // The outer header (and what follows the last part's header) belong to the container.
    const uint64_t outer = cs_min_u64(CS_FATBIN_CONCAT_HEADER_BYTES, concat->header_bytes);
    const uint64_t tail = cs_min_u64(cursor, concat->header_bytes);
    return cs_scan_leaf(s, leaf, c.offset + concat->off, outer) &&
                   cs_scan_leaf(s, leaf, c.offset + concat->off + tail,
                                concat->header_bytes - tail)
               ? CS_OK
               : no_memory(err);
}

static enum cs_code add_entry(struct cs_scan *s, const struct cs_fatbin_entry *e,
                              uint32_t container, uint32_t index, struct cs_err *err) {
    const struct cs_container c = s->containers.ptr[container];
    if (e->kind == CS_FATBIN_CONCAT && parts_in_order(e)) {
        return add_parts(s, e, container, index, err);
    }
    const uint64_t off = c.offset + e->off;
    struct cs_pending pending = {.entry = *e, .in_container = true, .container_off = c.offset};
    pending.file_off = off + e->header_bytes;
    pending.payload_file_bytes = e->payload_bytes;
    pending.payload_wheel_bytes = cs_scan_wheel(s, pending.file_off, e->payload_bytes);
    struct cs_image *image = add_image(s, &pending);
    if (!image || !fill_image(s, image, e, container, index)) {
        return no_memory(err);
    }
    image->file_bytes = e->header_bytes + e->payload_bytes;
    image->wheel_bytes = cs_scan_wheel(s, off, image->file_bytes);
    struct cs_leaf leaf = cs_leaf_of(c.member, c.section, CS_PART_ENTRY_HEADER);
    leaf.container = container;
    leaf.image = (uint32_t)s->images.count - 1;
    return cs_scan_leaf(s, leaf, off, e->header_bytes) ? CS_OK : no_memory(err);
}

static enum cs_code add_container(struct cs_scan *s, uint32_t member, uint32_t section,
                                  uint64_t off, uint64_t bytes, struct cs_err *err) {
    if (s->containers.count >= CS_MAX_CONTAINERS) {
        return cs_fail(err, CS_LIMIT, "more than %d containers", CS_MAX_CONTAINERS);
    }
    struct cs_container *c = cs_vec_push(&s->containers);
    if (!c) {
        return no_memory(err);
    }
    const uint32_t id = (uint32_t)s->containers.count - 1;
    *c = (struct cs_container){
        .member = member, .section = section, .offset = off, .bytes = bytes, .index = id,
        .first_image = (uint32_t)s->images.count,
        .relocatable =
            cs_str_eq(cs_intern_text(&s->sections, section), CS_STR("__nv_relfatbin")),
    };
    struct cs_leaf leaf = cs_leaf_of(member, section, CS_PART_ENTRY_HEADER);
    leaf.container = id;
    if (!cs_scan_leaf(s, leaf, off, CS_FATBIN_HEADER_BYTES)) {
        return no_memory(err);
    }
    struct cs_fatbin_iter it;
    CS_TRY(cs_fatbin_open(cs_view_at(s->file, off, bytes), &it, err));
    for (uint32_t index = 0;; index++) {
        struct cs_fatbin_entry e;
        bool done;
        const enum cs_code code = cs_fatbin_next(&it, &e, &done, err);
        if (code != CS_OK) {
            return cs_wrap(err, code, "container at 0x%llx", (unsigned long long)off);
        }
        if (done) {
            break;
        }
        CS_TRY(add_entry(s, &e, id, index, err));
    }
    s->containers.ptr[id].image_count =
        (uint32_t)s->images.count - s->containers.ptr[id].first_image;
    return CS_OK;
}

// The extent of an ELF that lies somewhere in a region: where its tables and sections end.
static uint64_t elf_extent(struct cs_view at) {
    struct cs_elf elf;
    if (cs_u8(at, EI_CLASS) != ELFCLASS64 || cs_u16(at, 18) != CS_EM_CUDA ||
        cs_elf_open(at, &elf, NULL) != CS_OK) {
        return 0;
    }
    uint64_t end = sizeof(Elf64_Ehdr);
    end = cs_max_u64(end, elf.phnum ? elf.phoff + (uint64_t)elf.phnum * sizeof(Elf64_Phdr) : 0);
    end = cs_max_u64(end, elf.shnum ? elf.shoff + (uint64_t)elf.shnum * sizeof(Elf64_Shdr) : 0);
    for (uint32_t i = 0; i < elf.shnum; i++) {
        const struct cs_elf_section section = cs_elf_section(&elf, i);
        struct cs_view content;
        if (cs_elf_content(&elf, &section, &content) && content.len) {
            end = cs_max_u64(end, section.off + content.len);
        }
    }
    return end;
}

// What a bare cubin or PTX was built for: no entry header says it.  `f` is not in a cubin at all
// (docs/format/cubin.md).  What cannot be read keeps target 0; the walk will say why.
static enum cs_code identify_loose(struct cs_image *image, struct cs_view bytes,
                                   struct cs_err *err) {
    if (image->kind == CS_FATBIN_ELF) {
        struct cs_cubin c;
        if (cs_cubin_identify(bytes, &c, NULL) == CS_OK) {
            image->target = (struct cs_target){(uint16_t)c.sm, c.accelerated ? 'a' : '\0', false};
        }
        return CS_OK;
    }
    struct cs_ptx ptx = {0};
    const enum cs_code code = cs_ptx_read(bytes, &ptx, err);
    if (code == CS_OK) {
        image->ptx_isa_x10 = ptx.isa_major * 10 + ptx.isa_minor;
        (void)cs_target_parse(ptx.target, &image->target);
        image->target.is_ptx = true;
    }
    cs_ptx_fini(&ptx);
    return code == CS_NOMEM ? code : CS_OK;
}

static enum cs_code add_loose(struct cs_scan *s, uint32_t member, uint32_t section, uint64_t off,
                              uint64_t len, uint32_t kind, struct cs_err *err) {
    struct cs_pending pending = {.loose = cs_view_at(s->file, off, len), .file_off = off,
                                 .payload_file_bytes = len};
    pending.payload_wheel_bytes = cs_scan_wheel(s, off, len);
    struct cs_image *image = add_image(s, &pending);
    if (!image) {
        return no_memory(err);
    }
    image->member = member;
    image->section = section;
    image->kind = kind;
    image->target.is_ptx = kind == CS_FATBIN_PTX;
    image->offset = off;
    image->file_bytes = image->image_bytes = len;
    image->wheel_bytes = pending.payload_wheel_bytes;
    image->identifier = image->options = CS_STR("");
    return identify_loose(image, pending.loose, err);
}

// ---- search ----------------------------------------------------------------------------------

// Next offset in [from, end) where a container or an ELF may start, in steps of 8 from `base`
// (objects in an archive start at even offsets only); end when none.
static uint64_t next_magic(struct cs_view file, uint64_t base, uint64_t from, uint64_t end) {
    uint64_t at = base + ((from - base + 7) & ~7ull);
    for (; at + 8 <= end; at += 8) {
        uint32_t x;
        memcpy(&x, file.ptr + at, sizeof x);
        if (x == CS_FATBIN_MAGIC || x == 0x464C457Fu) {
            return at;
        }
    }
    return end;
}

// Owns [from, to) as host bytes, except for wrappers: those belong to their container's overhead.
static bool own_host(struct cs_scan *s, struct cs_leaf host, uint64_t base, uint64_t from,
                     uint64_t to) {
    while (s->wrappers && s->next_wrapper < s->wrappers->items.count) {
        const uint64_t at = base + s->wrappers->items.ptr[s->next_wrapper].offset;
        if (at < from) {
            s->next_wrapper++;
            continue;
        }
        if (at >= to || to - at < CS_FATBIN_WRAPPER_BYTES) {
            break;
        }
        struct cs_leaf wrapper = host;
        wrapper.part = CS_PART_ENTRY_HEADER;
        if (!cs_scan_leaf(s, host, from, at - from) ||
            !cs_scan_leaf(s, wrapper, at, CS_FATBIN_WRAPPER_BYTES)) {
            return false;
        }
        from = at + CS_FATBIN_WRAPPER_BYTES;
        s->next_wrapper++;
    }
    return cs_scan_leaf(s, host, from, to - from);
}

static enum cs_code search_region(struct cs_scan *s, uint32_t member, uint64_t base,
                                  const struct region *r, struct cs_err *err) {
    const uint64_t end = r->off + r->len;
    const struct cs_leaf host = cs_leaf_of(member, r->section, CS_PART_HOST);
    const struct cs_str name = cs_intern_text(&s->sections, r->section);
    const bool strict = cs_str_eq(name, CS_STR(".nv_fatbin")) ||
                        cs_str_eq(name, CS_STR("__nv_relfatbin"));
    uint64_t owned = r->off;
    for (uint64_t at = next_magic(s->file, base, r->off, end); at < end;) {
        uint64_t bytes = 0;
        uint32_t entries;
        const struct cs_view rest = cs_view_at(s->file, at, end - at);
        const bool container = cs_fatbin_probe(rest, &bytes, &entries);
        // The ELF header of the file itself is no cubin inside it: its region is too short.
        const bool cubin = !container && cs_elf_probe(rest) && (bytes = elf_extent(rest)) > 0;
        if (!container && strict && cs_u32(rest, 0) == CS_FATBIN_MAGIC) {
            return cs_fail_at(err, CS_FORMAT, at, "%.*s: damaged fatbin container",
                              (int)name.len, name.ptr);
        }
        if (!container && !cubin) {
            at = next_magic(s->file, base, at + 8, end);
            continue;
        }
        if (!own_host(s, host, base, owned, at)) {
            return no_memory(err);
        }
        CS_TRY(container ? add_container(s, member, r->section, at, bytes, err)
                         : add_loose(s, member, r->section, at, bytes, CS_FATBIN_ELF, err));
        owned = at + bytes;
        at = next_magic(s->file, base, owned, end);
    }
    return own_host(s, host, base, owned, end) ? CS_OK : no_memory(err);
}

// Tells each container which wrapper registers it.  Both lists ascend by offset, but a wrapper may
// point anywhere, so containers are found by bisection.
static void link_wrappers(struct cs_scan *s, const struct cs_wrappers *wrappers, uint64_t base,
                          size_t first_container) {
    for (size_t i = 0; i < wrappers->items.count; i++) {
        const struct cs_wrapper *w = &wrappers->items.ptr[i];
        if (w->container_offset == CS_NO_OFFSET) {
            continue;
        }
        size_t low = first_container, high = s->containers.count;
        while (low < high) {
            const size_t mid = low + (high - low) / 2;
            if (s->containers.ptr[mid].offset < base + w->container_offset) {
                low = mid + 1;
            } else {
                high = mid;
            }
        }
        if (low < s->containers.count &&
            s->containers.ptr[low].offset == base + w->container_offset) {
            s->containers.ptr[low].wrapper =
                w->version == 2 ? CS_WRAPPER_LINKED : CS_WRAPPER_PLAIN;
            s->containers.ptr[low].wrapper_offset = base + w->offset;
        }
    }
}

// What the symbols of an ELF file say about the sources of its containers.
static enum cs_code name_containers(struct cs_scan *s, const struct cs_elf *elf, uint64_t base,
                                    size_t first_container, struct cs_err *err) {
    struct cs_source_map map;
    const enum cs_code code = cs_source_map_read(elf, &map, err);
    for (size_t i = first_container; code == CS_OK && i < s->containers.count; i++) {
        struct cs_container *c = &s->containers.ptr[i];
        const struct cs_source_mark *m = cs_source_map_find(
            &map, c->offset - base,
            c->wrapper == CS_WRAPPER_NONE ? CS_NO_OFFSET : c->wrapper_offset - base);
        if (m) {
            c->source = m->name;
            c->source_how = m->how;
        }
    }
    cs_arena_absorb(&s->arena, &map.arena);  // the names live on
    cs_source_map_fini(&map);
    return code;
}

// ---- one file of each kind -------------------------------------------------------------------

static enum cs_code scan_elf(struct cs_scan *s, uint32_t member, uint64_t off, uint64_t len,
                             struct cs_err *err);

static enum cs_code scan_whole(struct cs_scan *s, uint32_t member, uint64_t off, uint64_t len,
                               const char *section, struct cs_err *err) {
    const struct region r = {off, len, cs_intern_add(&s->sections, cs_str_from(section))};
    return r.section == CS_INTERN_NONE ? no_memory(err) : search_region(s, member, off, &r, err);
}

static enum cs_code scan_ar(struct cs_scan *s, struct cs_str path, struct cs_err *err) {
    struct cs_ar ar;
    CS_TRY(cs_ar_open(s->file, &ar, err));
    const uint32_t structure = cs_intern_add(&s->sections, CS_STR("[archive]"));
    const struct cs_leaf leaf = cs_leaf_of(0, structure, CS_PART_ARCHIVE);
    uint64_t owned = 0;
    enum cs_code code = structure == CS_INTERN_NONE ? no_memory(err) : CS_OK;
    for (size_t i = 0; code == CS_OK && i < ar.members.count; i++) {
        const struct cs_ar_member *m = &ar.members.ptr[i];
        const struct cs_view content = cs_view_at(s->file, m->data_off, m->bytes);
        if (m->special || m->data_off < owned) {
            continue;
        }
        struct cs_member *member = cs_vec_push(&s->members);
        if (!member || !cs_scan_leaf(s, leaf, owned, m->data_off - owned)) {
            code = no_memory(err);
            break;
        }
        const uint32_t id = (uint32_t)s->members.count - 1;
        *member = (struct cs_member){.parent = 0, .kind = cs_file_kind_of(content),
                                     .machine = cs_u16(content, 18), .offset = m->data_off,
                                     .file_bytes = m->bytes,
                                     .wheel_bytes = cs_scan_wheel(s, m->data_off, m->bytes),
                                     .problem = CS_STR("")};
        member->path = cs_arena_printf(&s->arena, "%.*s:%.*s", (int)path.len, path.ptr,
                                       (int)m->name.len, m->name.ptr);
        if (member->kind == CS_FILE_ARCHIVE) {
            code = cs_fail_at(err, CS_UNSUPPORTED, m->header_off, "an archive inside an archive");
        } else if (member->kind == CS_FILE_OBJECT || member->kind == CS_FILE_LIBRARY) {
            code = scan_elf(s, id, m->data_off, m->bytes, err);
        } else {
            code = scan_whole(s, id, m->data_off, m->bytes, "[file]", err);
        }
        owned = m->data_off + m->bytes;
    }
    if (code == CS_OK && !cs_scan_leaf(s, leaf, owned, s->file.len - owned)) {
        code = no_memory(err);
    }
    cs_ar_close(&ar);
    return code;
}

static enum cs_code scan_elf(struct cs_scan *s, uint32_t member, uint64_t off, uint64_t len,
                             struct cs_err *err) {
    struct cs_elf elf;
    const struct cs_view whole = s->file;
    CS_TRY(cs_elf_open(cs_view_at(whole, off, len), &elf, err));
    struct cs_wrappers wrappers = {0};
    CS_TRY(cs_wrappers_find(&elf, &wrappers, err));
    const size_t first_container = s->containers.count;
    struct regions r = {0};
    s->wrappers = &wrappers;
    s->next_wrapper = 0;
    s->file = elf.file;
    enum cs_code code = elf_regions(s, &elf, &r, err);
    s->file = whole;
    for (size_t i = 0; code == CS_OK && i < r.list.count; i++) {
        struct region region = r.list.ptr[i];
        region.off += off;
        code = search_region(s, member, off, &region, err);
    }
    link_wrappers(s, &wrappers, off, first_container);
    if (code == CS_OK && s->options->sources && s->containers.count > first_container) {
        code = name_containers(s, &elf, off, first_container, err);
    }
    s->wrappers = NULL;
    cs_wrappers_fini(&wrappers);
    cs_vec_fini(&r.list);
    return code;
}

static enum cs_code scan_kind(struct cs_scan *s, enum cs_file_kind kind, struct cs_str path,
                              struct cs_err *err) {
    const uint64_t len = s->file.len;
    const uint32_t whole = cs_intern_add(&s->sections, CS_STR("[file]"));
    if (whole == CS_INTERN_NONE) {
        return no_memory(err);
    }
    switch (kind) {
    case CS_FILE_LIBRARY:
    case CS_FILE_EXECUTABLE:
    case CS_FILE_OBJECT: return scan_elf(s, 0, 0, len, err);
    case CS_FILE_ARCHIVE: return scan_ar(s, path, err);
    case CS_FILE_CUBIN: return add_loose(s, 0, whole, 0, len, CS_FATBIN_ELF, err);
    case CS_FILE_PTX: return add_loose(s, 0, whole, 0, len, CS_FATBIN_PTX, err);
    case CS_FILE_FATBIN: {
        uint64_t bytes;
        uint32_t entries;
        if (!cs_fatbin_probe(s->file, &bytes, &entries)) {
            return cs_fail_at(err, CS_FORMAT, 0, "damaged fatbin: its entries do not add up");
        }
        return scan_whole(s, 0, 0, len, "[file]", err);
    }
    case CS_FILE_WHEEL:
    case CS_FILE_DIRECTORY:
    case CS_FILE_REPORT:
    case CS_FILE_WINDOWS:
    case CS_FILE_OTHER: break;
    }
    return cs_scan_leaf(s, cs_leaf_of(0, whole, CS_PART_HOST), 0, len) ? CS_OK : no_memory(err);
}

// Forgets what a damaged file gave so far and owns its bytes as one opaque leaf.
static enum cs_code give_up(struct cs_scan *s, const struct cs_err *why, struct cs_err *err) {
    char text[1024];
    cs_err_format(why, text, sizeof text);
    s->members.count = 1;
    s->containers.count = s->images.count = s->pending.count = s->leaves.count = 0;
    s->members.ptr[0].failed = true;
    s->members.ptr[0].problem = cs_arena_str(&s->arena, cs_str_from(text));
    const uint32_t whole = cs_intern_add(&s->sections, CS_STR("[file]"));
    const bool ok = whole != CS_INTERN_NONE && s->members.ptr[0].problem.ptr &&
                    cs_scan_leaf(s, cs_leaf_of(0, whole, CS_PART_OPAQUE), 0, s->file.len);
    return ok ? CS_OK : no_memory(err);
}

enum cs_code cs_scan_file(struct cs_scan *s, struct cs_str path, struct cs_err *err) {
    struct cs_member *m = cs_vec_push(&s->members);
    if (!m) {
        return no_memory(err);
    }
    const enum cs_file_kind kind = cs_file_kind_of(s->file);
    *m = (struct cs_member){.parent = CS_NONE, .kind = kind, .file_bytes = s->file.len,
                            .path = cs_arena_str(&s->arena, path), .problem = CS_STR("")};
    if (cs_elf_probe(s->file)) {
        m->machine = cs_u16(s->file, 18);
    }
    if (!m->path.ptr) {
        return no_memory(err);
    }
    struct cs_err why = {0};
    const enum cs_code code = scan_kind(s, kind, path, &why);
    if (code == CS_NOMEM) {
        return no_memory(err);
    }
    return code == CS_OK ? CS_OK : give_up(s, &why, err);
}
