// Explain: why a kernel runs, or does not, on a device.
#ifndef CS_ANALYSIS_EXPLAIN_H
#define CS_ANALYSIS_EXPLAIN_H

#include "model/inventory.h"
#include "model/names.h"
#include "model/select.h"

// How one image of a container relates to the device.
struct cs_explain_image {
    uint32_t image;  // in the inventory
    enum cs_fit fit;
    bool chosen;     // the driver commits to it
    bool has_kernel;
};

// One container (or loose image) that holds kernels of that name.
struct cs_explain_unit {
    uint32_t member;
    uint32_t container;  // CS_NONE: a loose cubin or PTX
    uint32_t name;       // intern id of the first kernel that matched
    uint32_t matches;    // how many of its kernels did
    uint32_t first_image, image_count;  // in `images`
    bool relocatable;    // input of a later link: no driver loads it, `selection` says nothing
    struct cs_selection selection;
    // The outcome for the kernel itself: none when the chosen image lacks it.
    enum cs_outcome outcome;
};

struct cs_explain_kernel {
    const struct cs_inventory *inv;
    const struct cs_name_table *names;
    struct cs_str text;
    struct cs_device device;
    struct cs_driver driver;  // parts 0 = new enough for everything
    CS_VEC(struct cs_explain_unit) units;
    CS_VEC(struct cs_explain_image) images;
};

// Looks for kernels whose demangled name contains `text`, or whose mangled name equals it.  `names`
// holds the full forms.  CS_USAGE when there is none.
enum cs_code cs_explain_kernel_run(const struct cs_inventory *inv,
                                   const struct cs_name_table *names, struct cs_str text,
                                   struct cs_device device, struct cs_driver driver,
                                   struct cs_explain_kernel *out, struct cs_err *err) CS_MUST_USE;
void cs_explain_kernel_fini(struct cs_explain_kernel *e);

#endif
