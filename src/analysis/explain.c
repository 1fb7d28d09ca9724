// Asks the selection rules (model/select.h) about every container that holds the kernel, and keeps
// for each of its images why it was or was not taken.
#include "analysis/explain.h"

#include <string.h>

#include "analysis/check_coverage.h"
#include "base/mem.h"

struct finder {
    struct cs_explain_kernel *out;
    uint8_t *wanted;  // by name id
    CS_VEC(struct cs_select_image) images;
    bool failed;
};

void cs_explain_kernel_fini(struct cs_explain_kernel *e) {
    cs_vec_fini(&e->units);
    cs_vec_fini(&e->images);
}

static void mark_names(struct finder *f) {
    const struct cs_explain_kernel *e = f->out;
    for (uint32_t i = 0; i < e->names->count; i++) {
        const struct cs_str full = e->names->by_id[i].full;
        f->wanted[i] = cs_str_eq(cs_intern_text(&e->inv->names, i), e->text) ||
                       (full.len && cs_str_find(full, e->text) != SIZE_MAX);
    }
}

// Kernels of an image that are wanted; *first receives the name of the first.
static uint32_t wanted_in(const struct finder *f, const struct cs_image *image, uint32_t *first) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < image->kernel_count; i++) {
        const struct cs_kernel *k = &f->out->inv->kernels.ptr[image->first_kernel + i];
        if (k->is_kernel && f->wanted[k->name]) {
            *first = count == 0 ? k->name : *first;
            count++;
        }
    }
    return count;
}

static bool add_images(struct finder *f, struct cs_explain_unit *u, uint32_t first) {
    struct cs_explain_kernel *e = f->out;
    const uint32_t count = u->image_count;
    u->first_image = (uint32_t)e->images.count;
    struct cs_explain_image *images = cs_vec_push_n(&e->images, count);
    f->images.count = 0;
    struct cs_select_image *select = cs_vec_push_n(&f->images, count);
    if (!images || !select) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct cs_image *image = &e->inv->images.ptr[first + i];
        uint32_t unused;
        select[i] = cs_cover_image(image);
        struct cs_target target = image->target;
        target.is_ptx = image->kind == CS_FATBIN_PTX;
        images[i] = (struct cs_explain_image){.image = first + i,
                                              .fit = cs_target_fit(target, e->device, NULL),
                                              .has_kernel = wanted_in(f, image, &unused) > 0};
    }
    if (u->relocatable) {
        return true;
    }
    const struct cs_select_env env = {.driver = e->driver};
    u->selection = cs_select(select, count, e->device, &env);
    if (u->selection.index != CS_SELECT_NOTHING) {
        struct cs_explain_image *chosen = &images[u->selection.index];
        chosen->chosen = true;
        u->outcome = chosen->has_kernel ? u->selection.outcome : CS_OUTCOME_NONE;
    }
    return true;
}

static void visit(struct finder *f, uint32_t member, uint32_t container, uint32_t first,
                  uint32_t count) {
    struct cs_explain_kernel *e = f->out;
    struct cs_explain_unit u = {.member = member,
                                .container = container,
                                .name = CS_INTERN_NONE,
                                .image_count = count,
                                .outcome = CS_OUTCOME_NONE};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t name = CS_INTERN_NONE;
        const uint32_t matches = wanted_in(f, &e->inv->images.ptr[first + i], &name);
        u.name = u.name == CS_INTERN_NONE ? name : u.name;
        u.matches = matches > u.matches ? matches : u.matches;
    }
    if (u.matches == 0) {
        return;
    }
    u.relocatable = container != CS_NONE && e->inv->containers.ptr[container].relocatable;
    struct cs_explain_unit *kept = cs_vec_push(&e->units);
    if (!kept || !add_images(f, &u, first)) {
        f->failed = true;
        return;
    }
    *kept = u;
}

static void visit_all(struct finder *f) {
    const struct cs_inventory *inv = f->out->inv;
    for (size_t i = 0; i < inv->containers.count && !f->failed; i++) {
        const struct cs_container *c = &inv->containers.ptr[i];
        visit(f, c->member, (uint32_t)i, c->first_image, c->image_count);
    }
    for (size_t i = 0; i < inv->images.count && !f->failed; i++) {
        const struct cs_image *image = &inv->images.ptr[i];
        if (image->container == CS_NONE) {
            visit(f, image->member, CS_NONE, (uint32_t)i, 1);
        }
    }
}

enum cs_code cs_explain_kernel_run(const struct cs_inventory *inv,
                                   const struct cs_name_table *names, struct cs_str text,
                                   struct cs_device device, struct cs_driver driver,
                                   struct cs_explain_kernel *out, struct cs_err *err) {
    *out = (struct cs_explain_kernel){
        .inv = inv, .names = names, .text = text, .device = device, .driver = driver};
    struct finder f = {.out = out, .wanted = cs_calloc(names->count + 1, 1)};
    if (f.wanted) {
        mark_names(&f);
        visit_all(&f);
    }
    const bool failed = f.failed || !f.wanted;
    cs_free(f.wanted);
    cs_vec_fini(&f.images);
    if (failed) {
        return cs_fail(err, CS_NOMEM, "no memory to look for a kernel");
    }
    return out->units.count ? CS_OK
                            : cs_fail(err, CS_USAGE, "no kernel whose name contains '%.*s'",
                                      (int)(text.len < 120 ? text.len : 120), text.ptr);
}
