// A listing as JSON: docs/schema/list.json.
//
// Kernels and toolkit appear only where the images were read, so that a consumer can tell "none"
// from "not looked at".
#include <stdio.h>

#include "report/list.h"

static void string_or_null(struct cs_json *j, const char *key, struct cs_str s) {
    if (s.len > 0) {
        cs_json_kstr(j, key, s);
    } else {
        cs_json_knull(j, key);
    }
}

static void number_or_null(struct cs_json *j, const char *key, uint32_t x) {
    if (x == CS_NONE) {
        cs_json_knull(j, key);
    } else {
        cs_json_ku64(j, key, x);
    }
}

// 130 is "13.0"; 0 is null.
static void version(struct cs_json *j, const char *key, uint32_t x10) {
    char text[32];
    snprintf(text, sizeof text, "%u.%u", x10 / 10, x10 % 10);
    string_or_null(j, key, x10 ? cs_str_from(text) : CS_STR(""));
}

static void put_function(struct cs_json *j, const struct cs_listing *l,
                         const struct cs_image *image, const struct cs_kernel *k) {
    cs_json_object(j);
    cs_json_kstr(j, "name", cs_intern_text(&l->inv->names, k->name));
    cs_json_kstr(j, "demangled", l->names.by_id[k->name].full);
    if (image->kind == CS_FATBIN_ELF) {
        cs_json_ku64(j, "code_bytes", k->code_bytes);
        cs_json_ku64(j, "registers", k->registers);
        cs_json_ku64(j, "shared_bytes", k->shared_bytes);
        cs_json_ku64(j, "local_bytes", k->local_bytes);
        cs_json_ku64(j, "stack_bytes", k->stack_bytes);
        cs_json_ku64(j, "constant_bytes", k->constant_bytes);
        cs_json_ku64(j, "parameter_bytes", k->param_bytes);
        cs_json_ku64(j, "barriers", k->barriers);
    }
    cs_json_object_end(j);
}

static void put_functions(struct cs_json *j, const struct cs_listing *l,
                          const struct cs_image *image, const char *key, bool kernels) {
    cs_json_key(j, key);
    cs_json_array(j);
    for (uint32_t i = 0; i < image->kernel_count; i++) {
        const struct cs_kernel *k = &l->inv->kernels.ptr[image->first_kernel + i];
        if (k->is_kernel == kernels) {
            put_function(j, l, image, k);
        }
    }
    cs_json_array_end(j);
}

// The options record of a cubin is a copy of its .nv.compat section, not text.
static struct cs_str options_text(const struct cs_image *image) {
    return image->kind == CS_FATBIN_PTX || image->kind == CS_FATBIN_RELPTX ||
                   image->kind == CS_FATBIN_LTOIR || image->kind == CS_FATBIN_TILEIR
               ? image->options
               : CS_STR("");
}

static void put_source(struct cs_json *j, const struct cs_inventory *inv,
                       const struct cs_image *image) {
    const struct cs_container *c =
        image->container == CS_NONE ? NULL : &inv->containers.ptr[image->container];
    const struct cs_str source = cs_image_source(inv, image);
    string_or_null(j, "source", source);
    if (c && c->source.len > 0) {
        cs_json_kz(j, "source_from", cs_source_how_name(c->source_how));
    } else {
        string_or_null(j, "source_from",
                       source.len ? cs_str_from(cs_source_how_name(CS_SOURCE_IDENTIFIER))
                                  : CS_STR(""));
    }
}

static void put_image(struct cs_json *j, const struct cs_list_view *v,
                      const struct cs_image *image) {
    const struct cs_listing *l = v->listing;
    const struct cs_inventory *inv = l->inv;
    const struct cs_member *m = &inv->members.ptr[image->member];
    char target[CS_TARGET_TEXT_BYTES];
    cs_image_target_text(image, target);
    cs_json_object(j);
    cs_json_ku64(j, "input", m->input);
    cs_json_kstr(j, "member", m->path);
    cs_json_kstr(j, "section", cs_intern_text(&inv->names, image->section));
    cs_json_ku64(j, "offset", cs_image_member_offset(inv, image));
    number_or_null(j, "container", image->container == CS_NONE
                                       ? CS_NONE
                                       : inv->containers.ptr[image->container].index);
    number_or_null(j, "index", image->container == CS_NONE ? CS_NONE : image->index);
    number_or_null(j, "part", image->part);
    cs_json_kz(j, "kind", cs_image_kind_name(image));
    cs_json_ku64(j, "kind_number", image->kind);
    string_or_null(j, "target", cs_str_from(target));
    cs_json_kz(j, "codec", cs_codec_name(image->codec));
    cs_json_ku64(j, "flags", image->flags);
    cs_json_kbool(j, "obfuscated", image->obfuscated);
    cs_json_ku64(j, "file_bytes", image->file_bytes);
    cs_json_ku64(j, "image_bytes", image->image_bytes);
    string_or_null(j, "identifier", image->identifier);
    string_or_null(j, "options", options_text(image));
    version(j, "ptx_isa", image->ptx_isa_x10);
    put_source(j, inv, image);
    if (v->files) {
        string_or_null(j, "file", v->files[image - inv->images.ptr]);
    }
    if (l->kernels) {
        version(j, "toolkit", image->toolkit_x10);
        cs_json_kbool(j, "read", image->read);
        string_or_null(j, "problem", image->problem);
        put_functions(j, l, image, "kernels", true);
        put_functions(j, l, image, "device_functions", false);
    }
    cs_json_object_end(j);
}

static void put_inputs(struct cs_json *j, const struct cs_inventory *inv) {
    cs_json_key(j, "inputs");
    cs_json_array(j);
    for (size_t i = 0; i < inv->inputs.count; i++) {
        cs_json_object(j);
        cs_json_kstr(j, "path", inv->inputs.ptr[i].path);
        cs_json_kz(j, "kind", cs_file_kind_name(inv->inputs.ptr[i].kind));
        cs_json_ku64(j, "bytes", inv->inputs.ptr[i].bytes);
        cs_json_object_end(j);
    }
    cs_json_array_end(j);
}

static void put_totals(struct cs_json *j, const struct cs_listing *l) {
    cs_json_key(j, "totals");
    cs_json_object(j);
    cs_json_ku64(j, "members", l->members);
    cs_json_ku64(j, "containers", l->containers);
    cs_json_ku64(j, "empty_containers", l->empty_containers);
    cs_json_ku64(j, "images", l->images);
    cs_json_ku64(j, "file_bytes", l->file_bytes);
    cs_json_ku64(j, "image_bytes", l->image_bytes);
    if (l->kernels) {
        cs_json_ku64(j, "kernels", l->kernel_count);
        cs_json_ku64(j, "code_bytes", l->code_bytes);
    }
    cs_json_object_end(j);
}

static void put_problem(struct cs_json *j, struct cs_str member, const uint64_t *offset,
                        struct cs_str message) {
    cs_json_object(j);
    cs_json_kstr(j, "member", member);
    if (offset) {
        cs_json_ku64(j, "offset", *offset);
    }
    cs_json_kstr(j, "message", message);
    cs_json_object_end(j);
}

static void put_problems(struct cs_json *j, const struct cs_listing *l) {
    const struct cs_inventory *inv = l->inv;
    cs_json_key(j, "problems");
    cs_json_array(j);
    for (size_t i = 0; i < inv->members.count; i++) {
        const struct cs_member *m = &inv->members.ptr[i];
        if (m->problem.len > 0) {
            put_problem(j, m->path, NULL, m->problem);
        }
    }
    for (size_t i = 0; i < inv->images.count; i++) {
        const struct cs_image *image = &inv->images.ptr[i];
        if (l->chosen[i] && image->problem.len > 0) {
            const uint64_t offset = cs_image_member_offset(inv, image);
            put_problem(j, inv->members.ptr[image->member].path, &offset, image->problem);
        }
    }
    cs_json_array_end(j);
}

void cs_list_json(const void *view, struct cs_json *j) {
    const struct cs_list_view *v = view;
    const struct cs_listing *l = v->listing;
    put_inputs(j, l->inv);
    put_totals(j, l);
    cs_json_key(j, "images");
    cs_json_array(j);
    for (size_t i = 0; i < l->inv->images.count; i++) {
        if (l->chosen[i]) {
            put_image(j, v, &l->inv->images.ptr[i]);
        }
    }
    cs_json_array_end(j);
    put_problems(j, l);
}
