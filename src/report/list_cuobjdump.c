// The text of NVIDIA's cuobjdump 13: its default output, -lelf and -lptx, with and without -all.
//
// Rules, how each was found, and the differences that are meant: docs/format/cuobjdump-text.md.
// cuobjdump looks only at sections named .nv_fatbin and __nv_relfatbin, at .fatbin files and at
// bare cubins; everything else that `list` finds has no line here.
#include "report/list.h"

#define CODEC_BITS (CS_FATBIN_F_ZLIB | CS_FATBIN_F_LZ4 | 0x4000ull | CS_FATBIN_F_ZSTD)

struct dump {
    const struct cs_listing *l;
    const struct cs_cuobjdump *how;
    struct cs_str path;
    struct cs_buf *out;
    uint32_t elf_count, ptx_count;
    bool named;       // the path has served as a name once; see file_stem()
    bool any_device;  // device code by cuobjdump's rules
};

// ---- default text ----------------------------------------------------------------------------

static const char *title_of(uint32_t kind) {
    switch (kind) {
    case 0: return "<invalid kind>";
    case CS_FATBIN_PTX: return "ptx";
    case CS_FATBIN_ELF: return "elf";
    case 4: return "cubin";
    case CS_FATBIN_LTOIR: return "nvvm";
    case CS_FATBIN_INDEX: return "index";
    case CS_FATBIN_RELPTX: return "relocatable ptx";
    case CS_FATBIN_TILEIR: return "tile ir";
    case CS_FATBIN_CONCAT: return "concatenated entry";
    default: return "<unknown kind>";
    }
}

static const char *host_of(uint64_t flags) {
    return flags & CS_FATBIN_F_LINUX     ? "linux"
           : flags & 0x20u               ? "mac"
           : flags & CS_FATBIN_F_WINDOWS ? "windows"
                                         : "<unknown>";
}

// A blank line, the title and its underline; `indent` comes before every line but the blank one.
static void put_title(struct cs_buf *out, uint32_t kind, const char *indent) {
    const char *title = title_of(kind);
    cs_buf_printf(out, "\n%sFatbin %s code:\n%s", indent, title, indent);
    cs_buf_pad(out, '=', strlen(title) + sizeof "Fatbin  code:" - 1);
    cs_buf_addc(out, '\n');
}

static void put_common(struct cs_buf *out, uint32_t major, uint32_t minor, uint64_t flags,
                       const char *indent) {
    cs_buf_printf(out, "%scode version = [%u,%u]\n", indent, major, minor);
    cs_buf_printf(out, "%shost = %s\n", indent, host_of(flags));
    cs_buf_printf(out, "%scompile_size = %s\n", indent,
                  flags & CS_FATBIN_F_64BIT ? "64bit" : "32bit");
    if (flags & CS_FATBIN_F_DEBUG) {
        cs_buf_printf(out, "%shas debug info\n", indent);
    }
    if (flags & CODEC_BITS) {
        cs_buf_printf(out, "%scompressed\n", indent);
    }
}

static void put_line(struct cs_buf *out, const char *indent, const char *label, struct cs_str s) {
    cs_buf_printf(out, "%s%s = ", indent, label);
    cs_buf_add_str(out, s);
    cs_buf_addc(out, '\n');
}

static void put_entry(struct cs_buf *out, const struct cs_image *image, const char *indent) {
    put_title(out, image->kind, indent);
    if (image->kind != CS_FATBIN_INDEX && image->kind != CS_FATBIN_CONCAT) {
        const char suffix[2] = {image->target.suffix, '\0'};
        cs_buf_printf(out, "%sarch = sm_%u%s\n", indent, image->target.arch, suffix);
    }
    put_common(out, image->code_major, image->code_minor, image->flags, indent);
    if (image->identifier.len > 0) {
        put_line(out, indent, "identifier", image->identifier);
    }
    if (image->kind == CS_FATBIN_PTX || image->kind == CS_FATBIN_RELPTX) {
        put_line(out, indent, "ptxasOptions", image->options);
    } else if (image->kind == CS_FATBIN_LTOIR) {
        put_line(out, indent, "nvvmOptions", image->options);
    } else if (image->kind == CS_FATBIN_TILEIR) {
        put_line(out, indent, "tileIROptions", image->options);
    }
}

static uint64_t codec_flag(enum cs_codec codec) {
    switch (codec) {
    case CS_CODEC_LZ4: return CS_FATBIN_F_LZ4;
    case CS_CODEC_ZSTD: return CS_FATBIN_F_ZSTD;
    case CS_CODEC_ZLIB: return CS_FATBIN_F_ZLIB;
    case CS_CODEC_NONE: break;
    }
    return 0;
}

static void put_image(struct dump *d, const struct cs_image *image) {
    if (image->part == 0) {
        // The outer entry: version 0.1, and the host, width and debug bits that its parts repeat.
        put_title(d->out, CS_FATBIN_CONCAT, "");
        put_common(d->out, 0, 1, image->flags | codec_flag(image->codec), "");
    }
    put_entry(d->out, image, image->part == CS_NONE ? "" : "\t");
}

// ---- names of -lelf and -lptx ----------------------------------------------------------------

// For each word of `s`: what follows its last '/', without its last '.' and what follows that; the
// results joined by '-'.
static void put_stem(struct cs_buf *out, struct cs_str s) {
    const size_t start = out->len;
    for (size_t i = 0; i < s.len;) {
        size_t end = i, base = i, dot = SIZE_MAX;
        while (end < s.len && s.ptr[end] != ' ') {
            base = s.ptr[end] == '/' ? end + 1 : base;
            end++;
        }
        if (end == i) {
            i++;
            continue;
        }
        for (size_t k = base; k < end; k++) {
            dot = s.ptr[k] == '.' ? k : dot;
        }
        if (out->len > start) {
            cs_buf_addc(out, '-');
        }
        cs_buf_add(out, s.ptr + base, (dot == SIZE_MAX ? end : dot) - base);
        i = end;
    }
}

static bool has_word(struct cs_str s) {
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] != ' ') {
            return true;
        }
    }
    return false;
}

// cuobjdump cuts its own copy of the path at the first blank when it first makes a name of it.
static struct cs_str file_stem(struct dump *d) {
    struct cs_str path = d->path;
    if (d->named) {
        const void *blank = path.len ? memchr(path.ptr, ' ', path.len) : NULL;
        path.len = blank ? (size_t)((const char *)blank - path.ptr) : path.len;
    }
    d->named = true;
    return path;
}

// "ELF file    1: libx.1.sm_90a.cubin".  An identifier takes the place of file name and number.
static void put_name(struct dump *d, const struct cs_image *image, bool elf, bool numbered) {
    const uint32_t number = elf ? ++d->elf_count : ++d->ptx_count;
    cs_buf_printf(d->out, "%s file %4u: ", elf ? "ELF" : "PTX", number);
    if (has_word(image->identifier)) {
        put_stem(d->out, image->identifier);
    } else {
        put_stem(d->out, file_stem(d));
        if (numbered) {
            cs_buf_printf(d->out, ".%u", number);
        }
    }
    // The ELF's name is made from the cubin, which cannot say `f`.
    const char suffix[2] = {elf && image->target.suffix == 'f' ? '\0' : image->target.suffix, '\0'};
    cs_buf_printf(d->out, ".sm_%u%s.%s\n", image->target.arch, suffix, elf ? "cubin" : "ptx");
}

static void show_image(struct dump *d, const struct cs_image *image) {
    const bool elf = image->kind == CS_FATBIN_ELF || image->kind == CS_FATBIN_MERCURY;
    const bool ptx = image->kind == CS_FATBIN_PTX || image->kind == CS_FATBIN_RELPTX;
    if (!d->how->elf && !d->how->ptx) {
        put_image(d, image);
    } else if ((elf && d->how->elf) || (ptx && d->how->ptx)) {
        put_name(d, image, elf, true);
    }
}

// ---- files -----------------------------------------------------------------------------------

static bool in_section(const struct dump *d, const struct cs_container *c, struct cs_str name) {
    return cs_str_eq(cs_intern_text(&d->l->inv->names, c->section), name);
}

// Shows the containers of one section; whether there were any.
static bool show_section(struct dump *d, const struct cs_member *m, struct cs_str name) {
    const struct cs_inventory *inv = d->l->inv;
    bool any = false;
    for (uint32_t i = m->first_container; i < m->first_container + m->container_count; i++) {
        const struct cs_container *c = &inv->containers.ptr[i];
        if (!in_section(d, c, name)) {
            continue;
        }
        any = true;
        for (uint32_t k = c->first_image; k < c->first_image + c->image_count; k++) {
            if (d->l->chosen[k]) {
                show_image(d, &inv->images.ptr[k]);
            }
        }
    }
    return any;
}

static void show_member(struct dump *d, const struct cs_member *m) {
    const struct cs_inventory *inv = d->l->inv;
    switch (m->kind) {
    case CS_FILE_LIBRARY:
    case CS_FILE_EXECUTABLE:
    case CS_FILE_OBJECT: {
        const bool any = show_section(d, m, CS_STR(".nv_fatbin"));
        if (any) {
            d->any_device = true;
        }
        if (!any || d->how->all) {
            d->any_device |= show_section(d, m, CS_STR("__nv_relfatbin"));
        }
        return;
    }
    case CS_FILE_FATBIN: d->any_device |= show_section(d, m, CS_STR("[file]")); return;
    case CS_FILE_CUBIN:
        // A bare cubin has a name of its own, but no text: there is no entry to describe.
        if (m->parent != CS_NONE) {
            return;
        }
        d->any_device = true;
        if (d->how->elf && m->image_count > 0 && d->l->chosen[m->first_image]) {
            put_name(d, &inv->images.ptr[m->first_image], true, false);
        }
        return;
    case CS_FILE_WHEEL:
    case CS_FILE_DIRECTORY:
    case CS_FILE_ARCHIVE:
    case CS_FILE_PTX:
    case CS_FILE_REPORT:
    case CS_FILE_WINDOWS:
    case CS_FILE_OTHER: return;
    }
}

static bool is_elf(const struct cs_member *m) {
    return m->kind == CS_FILE_LIBRARY || m->kind == CS_FILE_EXECUTABLE ||
           m->kind == CS_FILE_OBJECT || m->kind == CS_FILE_CUBIN;
}

// Members of an archive get a line whether or not they hold device code; those of a wheel or folder
// only when they do.
static bool has_line(const struct cs_member *m, enum cs_file_kind input) {
    if (input == CS_FILE_ARCHIVE) {
        return m->parent != CS_NONE;
    }
    return (input == CS_FILE_WHEEL || input == CS_FILE_DIRECTORY) && m->container_count > 0;
}

// cuobjdump reads an archive up to the first member that is no ELF file.
static bool ends_archive(const struct cs_member *m, enum cs_file_kind input) {
    return input == CS_FILE_ARCHIVE && m->parent != CS_NONE && !is_elf(m);
}

// The name of an archive member in its archive: what follows "libx.a:".
static struct cs_str name_in_archive(const struct cs_inventory *inv, const struct cs_member *m) {
    const size_t prefix = inv->members.ptr[m->parent].path.len + 1;
    return prefix <= m->path.len ? (struct cs_str){m->path.ptr + prefix, m->path.len - prefix}
                                 : m->path;
}

static void put_member_line(struct dump *d, const struct cs_member *m, enum cs_file_kind input) {
    const struct cs_inventory *inv = d->l->inv;
    cs_buf_adds(d->out, "\nmember ");
    cs_buf_add_str(d->out, d->path);
    cs_buf_addc(d->out, ':');
    cs_buf_add_str(d->out, input == CS_FILE_ARCHIVE ? name_in_archive(inv, m) : m->path);
    cs_buf_adds(d->out, ":\n");
}

static void remark(struct cs_buf *messages, const char *before, struct cs_str path,
                   const char *after) {
    cs_buf_printf(messages, "cuobjdump info    : %s", before);
    cs_buf_add_str(messages, path);
    cs_buf_printf(messages, "%s\n", after);
}

void cs_list_cuobjdump(const struct cs_listing *l, uint32_t input, struct cs_str path,
                       const struct cs_cuobjdump *how, struct cs_buf *out,
                       struct cs_buf *messages) {
    const struct cs_inventory *inv = l->inv;
    const struct cs_input *in = &inv->inputs.ptr[input];
    struct dump d = {.l = l, .how = how, .path = path, .out = out};
    for (uint32_t i = 0; i < in->member_count; i++) {
        const struct cs_member *m = &inv->members.ptr[in->first_member + i];
        if (ends_archive(m, in->kind)) {
            break;
        }
        if (has_line(m, in->kind)) {
            put_member_line(&d, m, in->kind);
        }
        show_member(&d, m);
    }
    if (!d.any_device) {
        remark(messages, "File '", path, "' does not contain device code");
        return;
    }
    if (how->elf && d.elf_count == 0) {
        remark(messages, "No ELF file found to extract from '", path,
               "'. You may try with -all option.");
    }
    if (how->ptx && d.ptx_count == 0) {
        remark(messages, "No PTX file found to extract from '", path,
               "'. You may try with -all option.");
    }
}
