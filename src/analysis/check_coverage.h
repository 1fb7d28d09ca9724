// Coverage: how every kernel of every container runs on every device under every driver.
//
// The unit of judgement is a pair of container and kernel.  The driver picks one image of a
// container (model/select.h) and stays with it, so a kernel's outcome is that image's, or none when
// the image does not hold the kernel.  Containers that the driver never loads (__nv_relfatbin,
// relocatable cubins) are left out, and so are those without kernels.
#ifndef CS_ANALYSIS_CHECK_COVERAGE_H
#define CS_ANALYSIS_CHECK_COVERAGE_H

#include "model/inventory.h"
#include "model/reach.h"
#include "model/select.h"

// A container with kernels, or a loose cubin or PTX.
struct cs_cover_unit {
    uint32_t library;
    uint32_t container;                // CS_NONE for a loose image
    uint32_t first_image, image_count; // in the inventory
    uint32_t first_name, name_count;   // in names: its distinct kernels
    uint32_t signature;                // equal numbers: the same set of targets
};

// One file of the input; an archive with all its objects is one.
struct cs_cover_library {
    struct cs_str path;
    uint32_t input, member;
    uint32_t first_unit, unit_count;
    uint64_t kernels;                  // pairs
};

// What the driver does with one unit in one row.
struct cs_cover_pick {
    uint32_t image;                    // in the inventory, or CS_NONE
    uint32_t free_image;               // the same with a driver new enough for everything
    uint32_t covered;                  // kernels of the unit that `image` holds
    uint32_t free_covered;
    uint8_t outcome, free_outcome;     // enum cs_outcome, of the image
    uint8_t reason;                    // enum cs_select_reason
    uint8_t miss_fit;                  // enum cs_fit, for the reason "no image"
    uint8_t floor_cause;               // enum cs_floor_cause of free_image
    bool certain, floor_certain;
    uint32_t miss;                     // image that came nearest, or CS_NONE
    struct cs_driver floor;            // of free_image
};

struct cs_cover_counts {
    uint64_t native, same_major, jit, none;
};
static inline uint64_t cs_cover_total(struct cs_cover_counts c) {
    return c.native + c.same_major + c.jit + c.none;
}

// One device under one driver.
struct cs_cover_row {
    struct cs_device device;
    struct cs_driver promised;         // as asked for; parts 0 = newest
    struct cs_driver driver;           // the same, or the first that knows the device
    struct cs_cover_counts kernels;    // of all libraries that the device loads
};

// One library in one row.
struct cs_cover_cell {
    bool loads;                        // by the routes; counts are 0 when not
    enum cs_outcome worst;             // over its kernels; NATIVE when it has none
    struct cs_cover_counts kernels;
    uint64_t driver_fails;             // of none: kernels that a newer driver would run
};

struct cs_coverage {
    const struct cs_inventory *inv;
    CS_VEC(struct cs_cover_unit) units;
    CS_VEC(struct cs_cover_library) libraries;
    CS_VEC(uint32_t) names;            // intern ids
    CS_VEC(struct cs_cover_row) rows;
    struct cs_cover_pick *picks;       // [unit * rows + row]
    struct cs_cover_cell *cells;       // [library * rows + row]
    uint64_t kernels;                  // pairs in all
    uint32_t relocatable_containers;   // left out
    uint32_t opaque_units;             // some image's kernels cannot be known
};

struct cs_coverage_options {
    const struct cs_device *devices;
    uint32_t device_count;
    const struct cs_driver *drivers;   // none: one row a device, with the newest
    uint32_t driver_count;
    const struct cs_reach *reach;      // may be NULL
};

// The inventory must have CS_DEPTH_KERNELS and outlive the result.  Linear in kernels and in
// units * rows.
enum cs_code cs_coverage_make(const struct cs_inventory *inv,
                              const struct cs_coverage_options *options, struct cs_coverage *out,
                              struct cs_err *err) CS_MUST_USE;
void cs_coverage_fini(struct cs_coverage *c);

static inline const struct cs_cover_pick *cs_cover_pick(const struct cs_coverage *c, uint32_t unit,
                                                        uint32_t row) {
    return &c->picks[(size_t)unit * c->rows.count + row];
}
static inline const struct cs_cover_cell *cs_cover_cell(const struct cs_coverage *c,
                                                        uint32_t library, uint32_t row) {
    return &c->cells[(size_t)library * c->rows.count + row];
}

// What selection must know of the images of a unit: count = unit->image_count.
struct cs_select_image cs_cover_image(const struct cs_image *image);

// Calls fn for each kernel of the unit that the image (CS_NONE: no image) does not hold.  `stamp`
// has one zeroed u32 for each text of inv->names and is used by one caller at a time.
typedef void cs_cover_name_fn(void *ctx, uint32_t name);
void cs_cover_missing(const struct cs_coverage *c, uint32_t unit, uint32_t image, uint32_t *stamp,
                      cs_cover_name_fn *fn, void *ctx);

#endif
