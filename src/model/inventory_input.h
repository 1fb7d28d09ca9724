// How one input of each shape gets into the inventory.  Internal to model.
#ifndef CS_MODEL_INVENTORY_INPUT_H
#define CS_MODEL_INVENTORY_INPUT_H

#include "model/scan.h"

struct cs_add {
    const struct cs_inventory_options *options;
    struct cs_pool *pool;  // may be NULL
    struct cs_workers *workers;
};

// Registers an input; its index, or CS_NONE when out of memory.
uint32_t cs_inventory_input(struct cs_inventory *inv, const char *path, enum cs_file_kind kind,
                            uint64_t bytes);

enum cs_code cs_inventory_add_wheel(struct cs_inventory *inv, const char *path, struct cs_view file,
                                    const struct cs_add *add, struct cs_err *err) CS_MUST_USE;
enum cs_code cs_inventory_add_dir(struct cs_inventory *inv, const char *path,
                                  const struct cs_add *add, struct cs_err *err) CS_MUST_USE;

#endif
