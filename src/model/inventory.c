// The inventory itself: merging scans, and the front door cs_inventory_add().
//
// Scans are made in any order on any thread; merging is sequential and in the order of members, so
// the result never depends on timing.  Wheels: inventory_wheel.c; folders: inventory_dir.c.

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/num.h"
#include "model/inventory_input.h"
#include "model/source.h"

const char *cs_file_kind_name(enum cs_file_kind kind) {
    switch (kind) {
    case CS_FILE_WHEEL: return "wheel";
    case CS_FILE_DIRECTORY: return "directory";
    case CS_FILE_LIBRARY: return "library";
    case CS_FILE_EXECUTABLE: return "executable";
    case CS_FILE_OBJECT: return "object";
    case CS_FILE_ARCHIVE: return "archive";
    case CS_FILE_FATBIN: return "fatbin";
    case CS_FILE_CUBIN: return "cubin";
    case CS_FILE_PTX: return "ptx";
    case CS_FILE_REPORT: return "report";
    case CS_FILE_WINDOWS: return "windows";
    case CS_FILE_OTHER: return "other";
    }
    return "other";
}

enum cs_file_kind cs_file_kind_parse(struct cs_str name) {
    for (int kind = CS_FILE_WHEEL; kind < CS_FILE_OTHER; kind++) {
        if (cs_str_eq(name, cs_str_from(cs_file_kind_name((enum cs_file_kind)kind)))) {
            return (enum cs_file_kind)kind;
        }
    }
    return CS_FILE_OTHER;
}

const char *cs_source_how_name(enum cs_source_how how) {
    switch (how) {
    case CS_SOURCE_NONE: return "unknown";
    case CS_SOURCE_OBJECT: return "object";
    case CS_SOURCE_IDENTIFIER: return "identifier";
    case CS_SOURCE_SYMTAB: return "symtab";
    case CS_SOURCE_MODULE_ID: return "module-id";
    case CS_SOURCE_LINE_TABLE: return "line-table";
    case CS_SOURCE_ANONYMOUS: return "anonymous-namespace";
    case CS_SOURCE_ARCHIVE: return "archive-member";
    case CS_SOURCE_BY_NAME: return "by-name";
    case CS_SOURCE_KERNELS: return "kernels";
    case CS_SOURCE_STUB: return "link-stub";
    }
    return "unknown";
}

void cs_inventory_init(struct cs_inventory *inv) {
    *inv = (struct cs_inventory){0};
    cs_intern_init(&inv->names);
}

void cs_inventory_fini(struct cs_inventory *inv) {
    cs_arena_fini(&inv->arena);
    cs_intern_fini(&inv->names);
    cs_vec_fini(&inv->inputs);
    cs_vec_fini(&inv->members);
    cs_vec_fini(&inv->containers);
    cs_vec_fini(&inv->images);
    cs_vec_fini(&inv->kernels);
    cs_vec_fini(&inv->funcs);
    cs_vec_fini(&inv->leaves);
    *inv = (struct cs_inventory){0};
}

// ---- scans -----------------------------------------------------------------------------------

void cs_scan_init(struct cs_scan *s, struct cs_view file, const struct cs_zip_map *map,
                  const struct cs_inventory_options *options) {
    static _Atomic uint64_t serials;
    *s = (struct cs_scan){
        .serial = ++serials, .file = file, .map = map, .options = options};
    cs_arena_init(&s->arena);
    cs_intern_init(&s->sections);
}

void cs_scan_fini(struct cs_scan *s) {
    for (size_t i = 0; i < s->pending.count; i++) {
        cs_walked_fini(&s->pending.ptr[i].walked);
    }
    cs_arena_fini(&s->arena);
    cs_intern_fini(&s->sections);
    cs_vec_fini(&s->members);
    cs_vec_fini(&s->containers);
    cs_vec_fini(&s->images);
    cs_vec_fini(&s->pending);
    cs_vec_fini(&s->leaves);
    *s = (struct cs_scan){0};
}

// ---- merging ---------------------------------------------------------------------------------

// How much each kind of index grows on its way into the inventory.
struct shift {
    uint32_t input, member, container, image, kernel;
};

static uint32_t shifted(uint32_t index, uint32_t by) {
    return index == CS_NONE ? CS_NONE : index + by;
}

// Replaces a scan's section id by the inventory's; false when out of memory.
static bool take_section(struct cs_inventory *inv, const struct cs_scan *s, uint32_t *section) {
    *section = cs_intern_add(&inv->names, cs_intern_text(&s->sections, *section));
    return *section != CS_INTERN_NONE;
}

static bool merge_leaf(struct cs_inventory *inv, struct cs_leaf leaf, const struct shift *by) {
    struct cs_leaf *slot = cs_vec_push(&inv->leaves);
    if (!slot) {
        return false;
    }
    leaf.input = by->input;
    leaf.member = shifted(leaf.member, by->member);
    leaf.container = shifted(leaf.container, by->container);
    leaf.image = shifted(leaf.image, by->image);
    *slot = leaf;
    return true;
}

static bool merge_walked(struct cs_inventory *inv, const struct cs_walked *w, uint32_t image_id,
                         const struct shift *by) {
    struct cs_image *image = &inv->images.ptr[image_id];
    const uint32_t first = (uint32_t)inv->kernels.count;
    image->first_kernel = first;
    image->kernel_count = w->kernel_count;
    for (uint32_t i = 0; i < w->kernel_count; i++) {
        struct cs_kernel *k = cs_vec_push(&inv->kernels);
        if (!k) {
            return false;
        }
        *k = w->kernels[i].kernel;
        k->image = image_id;
        k->name = cs_intern_add(&inv->names, w->kernels[i].name);
        if (k->name == CS_INTERN_NONE) {
            return false;
        }
    }
    for (uint32_t i = 0; i < w->func_count; i++) {
        struct cs_func *f = cs_vec_push(&inv->funcs);
        if (!f) {
            return false;
        }
        f->image = image_id;
        f->kernel = shifted(w->funcs[i].kernel, first);
        f->name = cs_intern_add(&inv->names, w->funcs[i].name);
        f->symbol_bytes = w->funcs[i].symbol_bytes;
    }
    for (uint32_t i = 0; i < w->leaf_count; i++) {
        struct cs_leaf leaf = w->leaves[i];
        leaf.member = image->member - by->member;
        leaf.section = image->section;
        leaf.container = image->container == CS_NONE ? CS_NONE : image->container - by->container;
        leaf.image = image_id - by->image;
        leaf.kernel = shifted(leaf.kernel, first);
        if (!merge_leaf(inv, leaf, by)) {
            return false;
        }
    }
    return true;
}

// At header depth nobody walked the image: its payload is one leaf.
static bool merge_payload(struct cs_inventory *inv, const struct cs_pending *p, uint32_t image_id,
                          const struct shift *by) {
    const struct cs_image *image = &inv->images.ptr[image_id];
    struct cs_leaf leaf = cs_leaf_of(image->member - by->member, image->section, CS_PART_OPAQUE);
    leaf.container =
        image->container == CS_NONE ? CS_NONE : image->container - by->container;
    leaf.image = image_id - by->image;
    leaf.image_bytes = image->image_bytes;
    leaf.file_bytes = p->payload_file_bytes;
    leaf.wheel_bytes = p->payload_wheel_bytes;
    return leaf.file_bytes == 0 || merge_leaf(inv, leaf, by);
}

static void count_image(struct cs_inventory *inv, const struct cs_image *image) {
    inv->opaque_images += image->obfuscated;
    inv->failed_images += image->problem.len > 0;
    inv->unknown_flags += (image->flags & ~CS_FATBIN_F_KNOWN) != 0;
    inv->unknown_kinds += image->unknown && (image->flags & ~CS_FATBIN_F_KNOWN) == 0;
}

static bool merge_images(struct cs_inventory *inv, struct cs_scan *s, const struct shift *by) {
    for (size_t i = 0; i < s->images.count; i++) {
        struct cs_image *image = cs_vec_push(&inv->images);
        if (!image) {
            return false;
        }
        *image = s->images.ptr[i];
        image->member += by->member;
        image->container = shifted(image->container, by->container);
        if (!take_section(inv, s, &image->section)) {
            return false;
        }
        if (!image->problem.ptr) {
            image->problem = CS_STR("");
        }
        const struct cs_str source = s->pending.ptr[i].walked.source;
        image->source = source.len ? cs_arena_str(&inv->arena, source) : CS_STR("");
        if (!image->source.ptr) {
            return false;
        }
        count_image(inv, image);
        struct cs_pending *p = &s->pending.ptr[i];
        const uint32_t id = (uint32_t)inv->images.count - 1;
        if (!(p->walked.block ? merge_walked(inv, &p->walked, id, by)
                              : merge_payload(inv, p, id, by))) {
            return false;
        }
        cs_walked_fini(&p->walked);
    }
    return true;
}

// Members, containers and images come in file order, so each owner's children are one range.
static void link_ranges(struct cs_inventory *inv, const struct shift *from) {
    for (uint32_t i = from->container; i < inv->containers.count; i++) {
        struct cs_member *m = &inv->members.ptr[inv->containers.ptr[i].member];
        if (m->container_count == 0) {
            m->first_container = i;
        }
        inv->containers.ptr[i].index = m->container_count++;
    }
    for (uint32_t i = from->image; i < inv->images.count; i++) {
        struct cs_member *m = &inv->members.ptr[inv->images.ptr[i].member];
        if (m->image_count == 0) {
            m->first_image = i;
        }
        m->image_count++;
    }
}

static bool merge_all(struct cs_inventory *inv, struct cs_scan *s, const struct shift *by) {
    for (size_t i = 0; i < s->members.count; i++) {
        struct cs_member *m = cs_vec_push(&inv->members);
        if (!m) {
            return false;
        }
        *m = s->members.ptr[i];
        m->input = by->input;
        m->parent = shifted(m->parent, by->member);
        inv->failed_members += m->failed;
    }
    for (size_t i = 0; i < s->containers.count; i++) {
        struct cs_container *c = cs_vec_push(&inv->containers);
        if (!c) {
            return false;
        }
        *c = s->containers.ptr[i];
        c->member += by->member;
        if (!take_section(inv, s, &c->section)) {
            return false;
        }
        c->first_image += by->image;
        if (!c->source.ptr) {
            c->source = CS_STR("");
        }
    }
    for (size_t i = 0; i < s->leaves.count; i++) {
        struct cs_leaf leaf = s->leaves.ptr[i];
        if (!take_section(inv, s, &leaf.section) || !merge_leaf(inv, leaf, by)) {
            return false;
        }
    }
    return merge_images(inv, s, by);
}

enum cs_code cs_scan_merge(struct cs_inventory *inv, struct cs_scan *s, uint32_t input,
                           struct cs_err *err) {
    if (s->failed != CS_OK) {
        if (err) {
            *err = s->err;
        }
        return s->failed;
    }
    if (inv->images.count + s->images.count > CS_MAX_IMAGES) {
        return cs_fail(err, CS_LIMIT, "more than %d images", CS_MAX_IMAGES);
    }
    const struct shift by = {input, (uint32_t)inv->members.count, (uint32_t)inv->containers.count,
                             (uint32_t)inv->images.count, (uint32_t)inv->kernels.count};
    if (!merge_all(inv, s, &by)) {
        return cs_fail(err, CS_NOMEM, "no memory for the inventory");
    }
    if (inv->kernels.count > CS_MAX_KERNELS) {
        return cs_fail(err, CS_LIMIT, "more than %d kernels", CS_MAX_KERNELS);
    }
    link_ranges(inv, &by);
    cs_arena_absorb(&inv->arena, &s->arena);
    cs_scan_fini(s);
    return CS_OK;
}

// ---- inputs ----------------------------------------------------------------------------------

uint32_t cs_inventory_input(struct cs_inventory *inv, const char *path, enum cs_file_kind kind,
                            uint64_t bytes) {
    const struct cs_str copy = cs_arena_str(&inv->arena, cs_str_from(path));
    struct cs_input *input = copy.ptr ? cs_vec_push(&inv->inputs) : NULL;
    if (!input) {
        return CS_NONE;
    }
    *input = (struct cs_input){copy, kind, bytes, (uint32_t)inv->members.count, 0};
    return (uint32_t)inv->inputs.count - 1;
}

// A path shown for a single file: its last component.
static struct cs_str base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return cs_str_from(slash && slash[1] ? slash + 1 : path);
}

static enum cs_code add_single(struct cs_inventory *inv, const char *path, struct cs_view file,
                               const struct cs_add *add, struct cs_err *err) {
    struct cs_scan s;
    const struct cs_inventory_look *look = add->options->look;
    if (look) {
        look->file(look->ctx, 0, base_name(path), file);
    }
    cs_scan_init(&s, file, NULL, add->options);
    enum cs_code code = cs_scan_file(&s, base_name(path), err);
    if (code == CS_OK && s.members.ptr[0].failed) {
        const struct cs_str why = s.members.ptr[0].problem;
        code = cs_fail(err, CS_FORMAT, "%.*s", (int)why.len, why.ptr);
    }
    if (code == CS_OK && add->options->depth == CS_DEPTH_KERNELS) {
        cs_scan_walk(&s, add->pool, add->workers);
    }
    if (code == CS_OK) {
        const uint32_t input =
            cs_inventory_input(inv, path, s.members.ptr[0].kind, file.len);
        code = input == CS_NONE ? cs_fail(err, CS_NOMEM, "no memory for the inventory")
                                : cs_scan_merge(inv, &s, input, err);
    }
    cs_scan_fini(&s);
    return code;
}

static enum cs_code add_file(struct cs_inventory *inv, const char *path, struct cs_view file,
                             const struct cs_add *add, struct cs_err *err) {
    switch (cs_file_kind_of(file)) {
    case CS_FILE_WHEEL: return cs_inventory_add_wheel(inv, path, file, add, err);
    case CS_FILE_WINDOWS:
        return cs_fail(err, CS_UNSUPPORTED, "a Windows file: only Linux libraries are read");
    case CS_FILE_REPORT:
        return cs_fail(err, CS_UNSUPPORTED, "a saved report: this command needs the artifact");
    case CS_FILE_DIRECTORY:
    case CS_FILE_LIBRARY:
    case CS_FILE_EXECUTABLE:
    case CS_FILE_OBJECT:
    case CS_FILE_ARCHIVE:
    case CS_FILE_FATBIN:
    case CS_FILE_CUBIN:
    case CS_FILE_PTX:
    case CS_FILE_OTHER: break;
    }
    return add_single(inv, path, file, add, err);
}

enum cs_code cs_inventory_add(struct cs_inventory *inv, const char *path,
                              const struct cs_inventory_options *options, struct cs_pool *pool,
                              struct cs_err *err) {
    struct cs_workers workers;
    cs_workers_init(&workers);
    const struct cs_add add = {options, pool, &workers};
    struct stat st;
    struct cs_file file = {0};
    enum cs_code code;
    const size_t first_container = inv->containers.count;
    const bool is_stdin = strcmp(path, "-") == 0;
    if (!is_stdin && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        code = cs_inventory_add_dir(inv, path, &add, err);
    } else {
        code = is_stdin ? cs_file_read_fd(STDIN_FILENO, CS_MAX_MEMBER_BYTES, &file, err)
                        : cs_file_open(path, &file, err);
        if (code == CS_OK) {
            code = add_file(inv, is_stdin ? "<stdin>" : path, file.view, &add, err);
        }
    }
    if (code == CS_OK && options->sources) {
        const bool kernels_known = options->depth == CS_DEPTH_KERNELS;
        code = cs_source_finish(inv, first_container, kernels_known, pool, err);
    }
    cs_file_close(&file);
    cs_workers_fini(&workers);
    for (size_t i = 0; i < inv->inputs.count; i++) {
        struct cs_input *input = &inv->inputs.ptr[i];
        const size_t end = i + 1 < inv->inputs.count ? inv->inputs.ptr[i + 1].first_member
                                                     : inv->members.count;
        input->member_count = (uint32_t)(end - input->first_member);
    }
    return code == CS_OK ? CS_OK : cs_wrap(err, code, "%s", path);
}
