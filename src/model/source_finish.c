// Source finish: one name for each container, from all that the scans have found.
//
// Passes, each linear: (1) clues that need no demangling, best first; (2) the forms of the kernels
// of the containers that are still without a name; (3) names made from those; (4) device links,
// which are called after the relocatable containers of their library.
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "model/names.h"
#include "model/source.h"

struct finish {
    struct cs_inventory *inv;
    struct cs_buf text;
    struct cs_name_table names;
    uint32_t link_member;  // whose link_name is known
    struct cs_str link_name;
    bool no_memory;
};

static void take(struct finish *f, struct cs_container *c, struct cs_str name,
                 enum cs_source_how how) {
    c->source = cs_arena_str(&f->inv->arena, name);
    c->source_how = how;
    f->no_memory = f->no_memory || !c->source.ptr || f->text.failed == CS_NOMEM;
}

static bool better(const struct cs_container *c, enum cs_source_how how) {
    return c->source_how == CS_SOURCE_NONE || how < c->source_how;
}

static struct cs_str trimmed(struct cs_str s) {
    while (s.len > 0 && s.ptr[s.len - 1] == ' ') {
        s.len--;
    }
    return s;
}

// A device link has the code of many sources, and sometimes an identifier such as "lto".
static bool is_link(const struct cs_container *c) {
    return c->wrapper == CS_WRAPPER_LINKED || c->source_how == CS_SOURCE_STUB;
}

static void from_images(struct finish *f, struct cs_container *c) {
    if (c->image_count == 0) {
        return;  // there may be no images at all, and no array to point into
    }
    const struct cs_image *images = f->inv->images.ptr + c->first_image;
    for (uint32_t i = 0; i < c->image_count && better(c, CS_SOURCE_IDENTIFIER); i++) {
        const struct cs_str name = trimmed(images[i].identifier);
        if (name.len > 0) {
            take(f, c, name, CS_SOURCE_IDENTIFIER);
        }
    }
    for (uint32_t i = 0; i < c->image_count && better(c, CS_SOURCE_LINE_TABLE); i++) {
        if (images[i].source.len > 0) {
            take(f, c, images[i].source, CS_SOURCE_LINE_TABLE);
        }
    }
    for (uint32_t i = 0; i < c->image_count && better(c, CS_SOURCE_ANONYMOUS); i++) {
        for (uint32_t k = 0; k < images[i].kernel_count; k++) {
            const struct cs_kernel *kernel = &f->inv->kernels.ptr[images[i].first_kernel + k];
            cs_buf_clear(&f->text);
            if (cs_source_from_mangled(cs_intern_text(&f->inv->names, kernel->name), &f->text)) {
                take(f, c, cs_buf_str(&f->text), CS_SOURCE_ANONYMOUS);
                break;
            }
        }
    }
}

// "libx.a:foo.cu.o" -> "foo.cu"; "libx.a:foo.o" -> "foo.o", which is all that is known.
static void from_archive(struct finish *f, struct cs_container *c) {
    const struct cs_member *m = &f->inv->members.ptr[c->member];
    if (m->parent == CS_NONE || !better(c, CS_SOURCE_ARCHIVE)) {
        return;
    }
    struct cs_str name = m->path;
    for (size_t i = name.len; i > 0; i--) {
        if (name.ptr[i - 1] == ':') {
            name = (struct cs_str){name.ptr + i, name.len - i};
            break;
        }
    }
    if (cs_str_ends(name, CS_STR(".cu.o"))) {
        name.len -= 2;
    }
    if (name.len > 0) {
        take(f, c, name, CS_SOURCE_ARCHIVE);
    }
}

// Unread images (header depth, obfuscated) may hold anything.
static bool all_read(const struct finish *f, const struct cs_container *c) {
    for (uint32_t i = 0; i < c->image_count; i++) {
        if (!f->inv->images.ptr[c->first_image + i].read) {
            return false;
        }
    }
    return true;
}

// What most of a container's code is called.
static struct cs_str main_kernel(const struct finish *f, const struct cs_container *c) {
    const struct cs_kernel *best = NULL;
    for (uint32_t i = 0; i < c->image_count; i++) {
        const struct cs_image *image = &f->inv->images.ptr[c->first_image + i];
        for (uint32_t k = 0; k < image->kernel_count; k++) {
            const struct cs_kernel *kernel = &f->inv->kernels.ptr[image->first_kernel + k];
            if (!best || kernel->code_bytes > best->code_bytes) {
                best = kernel;
            }
        }
    }
    return best ? f->names.by_id[best->name].unwrapped : CS_STR("");
}

static void from_kernels(struct finish *f, struct cs_container *c) {
    const struct cs_str kernel = main_kernel(f, c);
    cs_buf_clear(&f->text);
    if (kernel.len > 0) {
        cs_buf_printf(&f->text, "container %u (", (unsigned)c->index);
        cs_buf_add_str(&f->text, kernel);
        cs_buf_addc(&f->text, ')');
        take(f, c, cs_buf_str(&f->text), CS_SOURCE_KERNELS);
    } else if (all_read(f, c)) {
        cs_buf_printf(&f->text, "container %u (no kernels)", (unsigned)c->index);
        take(f, c, cs_buf_str(&f->text), CS_SOURCE_STUB);
    } else {
        cs_buf_printf(&f->text, "container %u (not readable)", (unsigned)c->index);
        take(f, c, cs_buf_str(&f->text), CS_SOURCE_KERNELS);
    }
}

// "device link of ops.cu, kernels.cu, +4": after the relocatable containers of the same member.
// Made once for a member, however many links it claims to have.
static struct cs_str link_name(struct finish *f, uint32_t member) {
    if (f->link_member == member) {
        return f->link_name;
    }
    const struct cs_member *m = &f->inv->members.ptr[member];
    uint32_t count = 0;
    cs_buf_clear(&f->text);
    for (uint32_t i = 0; i < m->container_count; i++) {
        const struct cs_container *other = &f->inv->containers.ptr[m->first_container + i];
        if (!other->relocatable || other->source.len == 0 || is_link(other)) {
            continue;
        }
        if (count < 2) {
            cs_buf_adds(&f->text, count ? ", " : "device link of ");
            cs_buf_add_str(&f->text, other->source);
        }
        count++;
    }
    if (count > 2) {
        cs_buf_printf(&f->text, ", +%u", (unsigned)(count - 2));
    }
    f->link_member = member;
    f->link_name = cs_arena_str(&f->inv->arena, cs_buf_str(&f->text));
    f->no_memory = f->no_memory || !f->link_name.ptr || f->text.failed == CS_NOMEM;
    return f->link_name;
}

static void from_link(struct finish *f, struct cs_container *c, bool kernels_known) {
    c->source_how = CS_SOURCE_STUB;
    c->source = link_name(f, c->member);
    if (c->source.len == 0) {  // no relocatable code: an ordinary stub
        c->source_how = CS_SOURCE_NONE;
        if (kernels_known) {
            from_kernels(f, c);
        }
    }
}

static enum cs_code name_kernels(struct finish *f, size_t first, struct cs_pool *pool,
                                 struct cs_err *err) {
    uint8_t *wanted = cs_calloc(f->inv->names.texts.count, 1);
    if (!wanted) {
        return cs_fail(err, CS_NOMEM, "no memory for source names");
    }
    bool any = false;
    for (size_t i = first; i < f->inv->containers.count; i++) {
        const struct cs_container *c = &f->inv->containers.ptr[i];
        if (c->source_how != CS_SOURCE_NONE && !is_link(c)) {
            continue;
        }
        for (uint32_t k = 0; k < c->image_count; k++) {
            const struct cs_image *image = &f->inv->images.ptr[c->first_image + k];
            for (uint32_t n = 0; n < image->kernel_count; n++) {
                wanted[f->inv->kernels.ptr[image->first_kernel + n].name] = 1;
                any = true;
            }
        }
    }
    const enum cs_code code =
        any ? cs_name_table_make(&f->inv->names, wanted, CS_NAME_UNWRAPPED, pool, &f->names, err)
            : CS_OK;
    cs_free(wanted);
    return code;
}

enum cs_code cs_source_finish(struct cs_inventory *inv, size_t first, bool kernels_known,
                              struct cs_pool *pool, struct cs_err *err) {
    struct finish f = {.inv = inv, .link_member = CS_NONE};
    cs_buf_init(&f.text, CS_MAX_NAME_BYTES * 2);
    for (size_t i = first; i < inv->containers.count && !f.no_memory; i++) {
        struct cs_container *c = &inv->containers.ptr[i];
        if (!is_link(c)) {
            from_images(&f, c);
            from_archive(&f, c);
        }
    }
    enum cs_code code = kernels_known ? name_kernels(&f, first, pool, err) : CS_OK;
    const size_t end = code == CS_OK ? inv->containers.count : first;
    for (size_t i = first; i < end && kernels_known && !f.no_memory; i++) {
        struct cs_container *c = &inv->containers.ptr[i];
        if (c->source_how == CS_SOURCE_NONE && !is_link(c)) {
            from_kernels(&f, c);
        }
    }
    for (size_t i = first; i < end && !f.no_memory; i++) {
        if (is_link(&inv->containers.ptr[i])) {
            from_link(&f, &inv->containers.ptr[i], kernels_known);
        }
    }
    cs_name_table_fini(&f.names);
    cs_buf_fini(&f.text);
    if (code == CS_OK && f.no_memory) {
        code = cs_fail(err, CS_NOMEM, "no memory for source names");
    }
    return code;
}
