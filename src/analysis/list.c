// Choosing what `list` shows, and the words for it.
#include "analysis/list.h"

#include "base/mem.h"

const char *cs_image_kind_name(const struct cs_image *image) {
    switch (image->kind) {
    case CS_FATBIN_ELF: return "sass";
    case CS_FATBIN_PTX:
    case CS_FATBIN_RELPTX: return "ptx";
    case CS_FATBIN_LTOIR: return "ltoir";
    case CS_FATBIN_TILEIR: return "tileir";
    default: return "unknown";
    }
}

void cs_image_target_text(const struct cs_image *image, char out[CS_TARGET_TEXT_BYTES]) {
    out[0] = '\0';
    if (image->target.arch != 0) {
        cs_target_text(image->target, out);
    }
}

struct cs_str cs_image_source(const struct cs_inventory *inv, const struct cs_image *image) {
    if (image->container != CS_NONE) {
        const struct cs_container *c = &inv->containers.ptr[image->container];
        if (c->source.len > 0) {
            return c->source;
        }
    }
    return image->identifier;
}

uint64_t cs_image_member_offset(const struct cs_inventory *inv, const struct cs_image *image) {
    return image->offset - inv->members.ptr[image->member].offset;
}

static bool is_chosen(const struct cs_list_options *options, const struct cs_image *image) {
    for (uint32_t i = 0; i < options->target_count; i++) {
        if (cs_target_eq(options->targets[i], image->target)) {
            return true;
        }
    }
    return options->target_count == 0;
}

static void count(struct cs_listing *l, const struct cs_image *image) {
    l->images++;
    l->file_bytes += image->file_bytes;
    l->image_bytes += image->image_bytes;
    l->code_bytes += image->code_bytes;
    for (uint32_t i = 0; i < image->kernel_count; i++) {
        l->kernel_count += l->inv->kernels.ptr[image->first_kernel + i].is_kernel;
    }
}

static void choose(struct cs_listing *l, const struct cs_list_options *options) {
    const struct cs_inventory *inv = l->inv;
    uint32_t container = CS_NONE, member = CS_NONE;
    for (uint32_t i = 0; i < inv->images.count; i++) {
        const struct cs_image *image = &inv->images.ptr[i];
        if (!is_chosen(options, image)) {
            continue;
        }
        l->chosen[i] = 1;
        count(l, image);
        l->containers += image->container != CS_NONE && image->container != container;
        l->members += image->member != member;
        container = image->container;
        member = image->member;
    }
    for (uint32_t i = 0; i < inv->containers.count; i++) {
        l->empty_containers += inv->containers.ptr[i].image_count == 0;
    }
}

static enum cs_code make_names(struct cs_listing *l, struct cs_pool *pool, struct cs_err *err) {
    const struct cs_inventory *inv = l->inv;
    uint8_t *wanted = cs_calloc(inv->names.texts.count + 1, 1);
    if (!wanted) {
        return cs_fail(err, CS_NOMEM, "no memory for the listing");
    }
    for (size_t i = 0; i < inv->kernels.count; i++) {
        const struct cs_kernel *k = &inv->kernels.ptr[i];
        wanted[k->name] |= l->chosen[k->image];
    }
    const enum cs_code code =
        cs_name_table_make(&inv->names, wanted, CS_NAME_FULL, pool, &l->names, err);
    cs_free(wanted);
    return code;
}

enum cs_code cs_listing_make(const struct cs_inventory *inv, const struct cs_list_options *options,
                             struct cs_pool *pool, struct cs_listing *out, struct cs_err *err) {
    *out = (struct cs_listing){.inv = inv, .kernels = options->kernels};
    out->chosen = cs_calloc(inv->images.count + 1, 1);
    if (!out->chosen) {
        return cs_fail(err, CS_NOMEM, "no memory for the listing");
    }
    choose(out, options);
    const enum cs_code code = out->kernels ? make_names(out, pool, err) : CS_OK;
    if (code != CS_OK) {
        cs_listing_fini(out);
    }
    return code;
}

void cs_listing_fini(struct cs_listing *l) {
    cs_free(l->chosen);
    cs_name_table_fini(&l->names);
    *l = (struct cs_listing){0};
}
