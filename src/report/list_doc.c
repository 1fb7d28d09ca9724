// A listing as tables.
//
// For each member a table of its images and, with kernels, one of those: numbers first, the source
// or kernel name last.
#include "base/limits.h"
#include "base/size.h"
#include "report/clean.h"
#include "report/list.h"

enum { TITLE_BYTES = 8 * CS_MAX_PATH_BYTES };  // a cleaned byte takes at most 8

static const struct cs_col image_cols[] = {
    {CS_COL_OFFSET, "offset", "offset"},  {CS_COL_COUNT, "container", "container"},
    {CS_COL_TEXT, "index", "index"},      {CS_COL_TEXT, "kind", "kind"},
    {CS_COL_TEXT, "target", "target"},    {CS_COL_TEXT, "codec", "codec"},
    {CS_COL_BYTES, "file", "file_bytes"}, {CS_COL_BYTES, "image", "image_bytes"},
    {CS_COL_NAME, "source", "source"},
};
static const struct cs_col kernel_cols[] = {
    {CS_COL_TEXT, "image", "image"},          {CS_COL_TEXT, "target", "target"},
    {CS_COL_BYTES, "code", "code_bytes"},     {CS_COL_COUNT, "regs", "registers"},
    {CS_COL_BYTES, "shared", "shared_bytes"}, {CS_COL_BYTES, "local", "local_bytes"},
    {CS_COL_BYTES, "const", "constant_bytes"}, {CS_COL_COUNT, "bars", "barriers"},
    {CS_COL_NAME, "kernel", "kernel"},
};
enum { IMAGE_COLS = sizeof image_cols / sizeof *image_cols };
enum { KERNEL_COLS = sizeof kernel_cols / sizeof *kernel_cols, KERNEL_NAME = KERNEL_COLS - 1 };

static struct cs_str kernel_name(const struct cs_list_view *v, const struct cs_kernel *k) {
    const struct cs_listing *l = v->listing;
    return v->names == CS_LIST_NAMES_MANGLED || k->name >= l->names.count
               ? cs_intern_text(&l->inv->names, k->name)
               : l->names.by_id[k->name].full;
}

static struct cs_cell text_or_none(struct cs_str s) {
    return s.len > 0 ? cs_cell_str(s) : cs_cell_none();
}

static struct cs_cell target_cell(struct cs_doc *d, const struct cs_image *image) {
    char text[CS_TARGET_TEXT_BYTES];
    cs_image_target_text(image, text);
    return text[0] ? cs_cell_str(cs_doc_printf(d, "%s", text)) : cs_cell_none();
}

static struct cs_cell index_cell(struct cs_doc *d, const struct cs_image *image) {
    if (image->container == CS_NONE) {
        return cs_cell_none();
    }
    return cs_cell_str(image->part == CS_NONE
                           ? cs_doc_printf(d, "%u", image->index)
                           : cs_doc_printf(d, "%u.%u", image->index, image->part));
}

static struct cs_cell container_cell(const struct cs_inventory *inv, const struct cs_image *image) {
    return image->container == CS_NONE
               ? cs_cell_none()
               : cs_cell_u64(inv->containers.ptr[image->container].index);
}

static void image_row(struct cs_table *t, const struct cs_inventory *inv,
                      const struct cs_image *image) {
    struct cs_cell *c = cs_table_row(t);
    *c++ = cs_cell_u64(cs_image_member_offset(inv, image));
    *c++ = container_cell(inv, image);
    *c++ = index_cell(t->doc, image);
    *c++ = cs_cell_z(cs_image_kind_name(image));
    *c++ = target_cell(t->doc, image);
    *c++ = cs_cell_z(cs_codec_name(image->codec));
    *c++ = cs_cell_u64(image->file_bytes);
    *c++ = cs_cell_u64(image->image_bytes);
    *c++ = text_or_none(cs_image_source(inv, image));
}

// "12.0", "12.0.3" for a part: container and index as in the table of images.
static struct cs_cell place_cell(struct cs_doc *d, const struct cs_inventory *inv,
                                 const struct cs_image *image) {
    if (image->container == CS_NONE) {
        return cs_cell_none();
    }
    const uint32_t container = inv->containers.ptr[image->container].index;
    return cs_cell_str(image->part == CS_NONE
                           ? cs_doc_printf(d, "%u.%u", container, image->index)
                           : cs_doc_printf(d, "%u.%u.%u", container, image->index, image->part));
}

static void kernel_rows(struct cs_table *t, const struct cs_list_view *v,
                        const struct cs_image *image) {
    const struct cs_inventory *inv = v->listing->inv;
    const struct cs_cell place = place_cell(t->doc, inv, image);
    const struct cs_cell target = target_cell(t->doc, image);
    for (uint32_t i = 0; i < image->kernel_count; i++) {
        const struct cs_kernel *k = &inv->kernels.ptr[image->first_kernel + i];
        struct cs_cell *c = cs_table_row(t);
        const struct cs_str name = kernel_name(v, k);
        c[0] = place;
        c[1] = target;
        c[KERNEL_NAME] = k->is_kernel
                             ? cs_cell_str(name)
                             : cs_cell_str(cs_doc_printf(t->doc, "%.*s [device function]",
                                                         (int)name.len, name.ptr));
        if (image->kind == CS_FATBIN_ELF) {
            c[2] = cs_cell_u64(k->code_bytes);
            c[3] = cs_cell_u64(k->registers);
            c[4] = cs_cell_u64(k->shared_bytes);
            c[5] = cs_cell_u64(k->local_bytes);
            c[6] = cs_cell_u64(k->constant_bytes);
            c[7] = cs_cell_u64(k->barriers);
        }
    }
}

// "vllm/_C.abi3.so (library, 118 containers, 512 images, 92.63 MiB)"
static const char *member_title(struct cs_doc *d, const struct cs_listing *l,
                                const struct cs_member *m) {
    struct cs_buf clean;
    uint64_t images = 0;
    for (uint32_t i = 0; i < m->image_count; i++) {
        images += l->chosen[m->first_image + i];
    }
    char size[CS_SIZE_TEXT_BYTES];
    cs_size_text(m->file_bytes, size);
    cs_buf_init(&clean, TITLE_BYTES);
    cs_clean(&clean, m->path);
    if (clean.failed != CS_OK) {
        d->failed = clean.failed;
    }
    const struct cs_str title = cs_doc_printf(
        d, "%s (%s, %u container%s, %llu image%s, %s)", clean.ptr ? clean.ptr : "",
        cs_file_kind_name(m->kind), m->container_count, m->container_count == 1 ? "" : "s",
        (unsigned long long)images, images == 1 ? "" : "s", size);
    cs_buf_fini(&clean);
    return title.ptr;
}

static void member_tables(struct cs_doc *d, const struct cs_list_view *v,
                          const struct cs_member *m) {
    const struct cs_listing *l = v->listing;
    struct cs_table *images = NULL, *kernels = NULL;
    for (uint32_t i = m->first_image; i < m->first_image + m->image_count; i++) {
        if (l->chosen[i]) {
            images =
                images ? images : cs_doc_table(d, member_title(d, l, m), image_cols, IMAGE_COLS);
            image_row(images, l->inv, &l->inv->images.ptr[i]);
        }
    }
    for (uint32_t i = m->first_image; l->kernels && i < m->first_image + m->image_count; i++) {
        const struct cs_image *image = &l->inv->images.ptr[i];
        if (l->chosen[i] && image->kernel_count > 0) {
            kernels = kernels ? kernels : cs_doc_table(d, NULL, kernel_cols, KERNEL_COLS);
            kernel_rows(kernels, v, image);
        }
    }
}

static void totals(struct cs_doc *d, const struct cs_listing *l) {
    cs_doc_fact(d, "files with device code", CS_COL_COUNT, cs_cell_u64(l->members));
    cs_doc_fact(d, "containers", CS_COL_COUNT, cs_cell_u64(l->containers));
    if (l->empty_containers > 0) {
        cs_doc_fact(d, "empty containers", CS_COL_COUNT, cs_cell_u64(l->empty_containers));
    }
    cs_doc_fact(d, "images", CS_COL_COUNT, cs_cell_u64(l->images));
    if (l->kernels) {
        cs_doc_fact(d, "kernels", CS_COL_COUNT, cs_cell_u64(l->kernel_count));
        cs_doc_fact(d, "code", CS_COL_BYTES, cs_cell_u64(l->code_bytes));
    }
    cs_doc_fact(d, "image bytes", CS_COL_BYTES, cs_cell_u64(l->image_bytes));
    cs_doc_fact(d, "file bytes", CS_COL_BYTES, cs_cell_u64(l->file_bytes));
}

void cs_list_doc(const void *view, struct cs_doc *d) {
    const struct cs_list_view *v = view;
    const struct cs_listing *l = v->listing;
    for (size_t i = 0; i < l->inv->members.count; i++) {
        member_tables(d, v, &l->inv->members.ptr[i]);
    }
    totals(d, l);
    if (l->inv->opaque_images > 0) {
        cs_doc_note(d, "%u images are obfuscated: their sizes are right, their content unknown.",
                    l->inv->opaque_images);
    }
    if (l->inv->unknown_kinds > 0 || l->inv->unknown_flags > 0) {
        cs_doc_note(d, "%u images are of an unknown kind, and %u have unknown flags.",
                    l->inv->unknown_kinds, l->inv->unknown_flags);
    }
}

// ---- one table -------------------------------------------------------------------------------

static const struct cs_col flat_cols[] = {
    {CS_COL_NAME, "input", "input"},
    {CS_COL_NAME, "member", "member"},
    {CS_COL_TEXT, "section", "section"},
    {CS_COL_OFFSET, "offset", "offset"},
    {CS_COL_COUNT, "container", "container"},
    {CS_COL_COUNT, "index", "index"},
    {CS_COL_COUNT, "part", "part"},
    {CS_COL_TEXT, "kind", "kind"},
    {CS_COL_TEXT, "target", "target"},
    {CS_COL_TEXT, "codec", "codec"},
    {CS_COL_BYTES, "file", "file_bytes"},
    {CS_COL_BYTES, "image", "image_bytes"},
    {CS_COL_TEXT, "identifier", "identifier"},
    {CS_COL_TEXT, "source", "source"},
    {CS_COL_NAME, "kernel", "kernel"},
    {CS_COL_NAME, "demangled", "demangled"},
    {CS_COL_BYTES, "code", "code_bytes"},
    {CS_COL_COUNT, "registers", "registers"},
    {CS_COL_BYTES, "shared", "shared_bytes"},
    {CS_COL_BYTES, "local", "local_bytes"},
    {CS_COL_BYTES, "constant", "constant_bytes"},
    {CS_COL_COUNT, "barriers", "barriers"},
};
enum { FLAT_KERNEL = 14, FLAT_COLS = sizeof flat_cols / sizeof *flat_cols };

static struct cs_cell *flat_row(struct cs_table *t, const struct cs_inventory *inv,
                                const struct cs_image *image) {
    const struct cs_member *m = &inv->members.ptr[image->member];
    struct cs_cell *c = cs_table_row(t);
    c[0] = cs_cell_str(inv->inputs.ptr[m->input].path);
    c[1] = cs_cell_str(m->path);
    c[2] = cs_cell_str(cs_intern_text(&inv->names, image->section));
    c[3] = cs_cell_u64(cs_image_member_offset(inv, image));
    c[4] = container_cell(inv, image);
    c[5] = image->container == CS_NONE ? cs_cell_none() : cs_cell_u64(image->index);
    c[6] = image->part == CS_NONE ? cs_cell_none() : cs_cell_u64(image->part);
    c[7] = cs_cell_z(cs_image_kind_name(image));
    c[8] = target_cell(t->doc, image);
    c[9] = cs_cell_z(cs_codec_name(image->codec));
    c[10] = cs_cell_u64(image->file_bytes);
    c[11] = cs_cell_u64(image->image_bytes);
    c[12] = text_or_none(image->identifier);
    c[13] = text_or_none(cs_image_source(inv, image));
    return c;
}

void cs_list_flat_doc(const void *view, struct cs_doc *d) {
    const struct cs_listing *l = ((const struct cs_list_view *)view)->listing;
    const struct cs_inventory *inv = l->inv;
    struct cs_table *t =
        cs_doc_table(d, NULL, flat_cols, l->kernels ? (uint32_t)FLAT_COLS : (uint32_t)FLAT_KERNEL);
    for (size_t i = 0; i < inv->images.count; i++) {
        const struct cs_image *image = &inv->images.ptr[i];
        if (!l->chosen[i]) {
            continue;
        }
        if (!l->kernels || image->kernel_count == 0) {
            (void)flat_row(t, inv, image);
            continue;
        }
        for (uint32_t n = 0; n < image->kernel_count; n++) {
            const struct cs_kernel *k = &inv->kernels.ptr[image->first_kernel + n];
            struct cs_cell *c = flat_row(t, inv, image) + FLAT_KERNEL;
            *c++ = cs_cell_str(cs_intern_text(&inv->names, k->name));
            *c++ = cs_cell_str(l->names.by_id[k->name].full);
            if (image->kind == CS_FATBIN_ELF) {
                *c++ = cs_cell_u64(k->code_bytes);
                *c++ = cs_cell_u64(k->registers);
                *c++ = cs_cell_u64(k->shared_bytes);
                *c++ = cs_cell_u64(k->local_bytes);
                *c++ = cs_cell_u64(k->constant_bytes);
                *c++ = cs_cell_u64(k->barriers);
            }
        }
    }
}
