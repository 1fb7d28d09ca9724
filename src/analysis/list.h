// List: which images an inventory holds, chosen and with the names that a listing shows.
//
// The result borrows the inventory.  Renderings: report/list.h; copying images out:
// analysis/list_extract.h.
#ifndef CS_ANALYSIS_LIST_H
#define CS_ANALYSIS_LIST_H

#include "model/inventory.h"
#include "model/names.h"

struct cs_list_options {
    bool kernels;                     // the inventory was made with CS_DEPTH_KERNELS
    const struct cs_target *targets;  // only images of these; none = all
    uint32_t target_count;
};

struct cs_listing {
    const struct cs_inventory *inv;
    bool kernels;
    uint8_t *chosen;              // by image: 1 = listed
    struct cs_name_table names;   // of the kernels, by name id; empty without `kernels`
    uint64_t images, containers, kernel_count, file_bytes, image_bytes, code_bytes;
    uint32_t members;             // that hold a listed image
    uint32_t empty_containers;
};

enum cs_code cs_listing_make(const struct cs_inventory *inv, const struct cs_list_options *options,
                             struct cs_pool *pool, struct cs_listing *out,
                             struct cs_err *err) CS_MUST_USE;
void cs_listing_fini(struct cs_listing *l);

// "sass", "ptx", "ltoir", "tileir" or "unknown": the word of the JSON.
const char *cs_image_kind_name(const struct cs_image *image);
// "sm_90a", "compute_80"; empty where the image has none.
void cs_image_target_text(const struct cs_image *image, char out[CS_TARGET_TEXT_BYTES]);
// What is known of the source: that of the container, else the entry's own identifier; may be
// empty.
struct cs_str cs_image_source(const struct cs_inventory *inv, const struct cs_image *image);
// Offset within the member itself: for an object of an archive, from the object's start.
uint64_t cs_image_member_offset(const struct cs_inventory *inv, const struct cs_image *image);

#endif
