// Which target of a list serves each device: run-time selection on the images it would make.
#include "analysis/arch.h"

enum cs_code cs_arch_explain_run(const struct cs_archlist *list, uint16_t toolkit_x10,
                                 const struct cs_device *devices, size_t device_count,
                                 const struct cs_select_env *env, struct cs_arch_explain *x,
                                 struct cs_err *err) {
    struct cs_archlist_images images = {0};
    enum cs_code code = cs_archlist_to_images(list, toolkit_x10, &images, err);
    for (size_t i = 0; code == CS_OK && i < device_count; i++) {
        struct cs_arch_explain_row *row = cs_vec_push(&x->rows);
        if (!row) {
            code = cs_fail(err, CS_NOMEM, "out of memory");
            break;
        }
        row->device = devices[i];
        row->known = cs_device_find(devices[i]) != NULL;
        row->selection =
            cs_select(images.images.ptr, (uint32_t)images.images.count, devices[i], env);
        if (row->selection.index != CS_SELECT_NOTHING) {
            row->target = images.images.ptr[row->selection.index].target;
        }
        if (row->selection.miss != CS_SELECT_NOTHING) {
            row->miss = images.images.ptr[row->selection.miss].target;
        }
    }
    cs_archlist_images_fini(&images);
    return code;
}
