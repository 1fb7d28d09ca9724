// What the selection module says about containers: "NAME outcome TARGET" for device 9.0 and a
// driver.
//     predict DRIVER FILE...
#include <stdio.h>

#include "base/file.h"
#include "model/scan.h"
#include "model/select.h"

enum { IMAGES_MAX = 64 };

static void predict(const char *path, struct cs_driver driver) {
    static const struct cs_inventory_options options = {.depth = CS_DEPTH_HEADERS};
    struct cs_file file;
    struct cs_scan scan;
    if (cs_file_open(path, &file, NULL) != CS_OK) {
        printf("%s unreadable\n", path);
        return;
    }
    cs_scan_init(&scan, file.view, NULL, &options);
    struct cs_select_image images[IMAGES_MAX];
    uint32_t count = 0;
    if (cs_scan_file(&scan, cs_str_from(path), NULL) == CS_OK) {
        for (size_t i = 0; i < scan.images.count && count < IMAGES_MAX; i++) {
            const struct cs_image *x = &scan.images.ptr[i];
            images[count++] = (struct cs_select_image){
                .kind = x->kind, .target = x->target, .codec = x->codec,
                .bit24 = (x->flags & CS_FATBIN_F_BIT24) != 0, .concat = x->part != CS_NONE,
                .ptx_isa_x10 = (uint16_t)x->ptx_isa_x10,
                .toolkit_x10 = x->code_minor >= 8 ? 130 : 0};
        }
    }
    const struct cs_select_env env = {.driver = driver};
    const struct cs_selection s = cs_select(images, count, (struct cs_device){9, 0}, &env);
    char target[CS_TARGET_TEXT_BYTES] = "-";
    if (s.index != CS_SELECT_NOTHING) {
        cs_target_text(images[s.index].target, target);
    }
    printf("%s %s %s %s\n", path, cs_outcome_name(s.outcome), target,
           s.certain ? "certain" : "uncertain");
    cs_scan_fini(&scan);
    cs_file_close(&file);
}

int main(int argc, char **argv) {
    struct cs_driver driver;
    if (argc < 3 || cs_driver_parse(cs_str_from(argv[1]), &driver, NULL) != CS_OK) {
        fprintf(stderr, "usage: predict DRIVER FILE...\n");
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        predict(argv[i], driver);
    }
    return 0;
}
