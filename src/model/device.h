// Devices: the compute capabilities that exist, and the rules that tie them to targets.
//
// All tables are constant; every function here is pure and may be called from any thread.
#ifndef CS_MODEL_DEVICE_H
#define CS_MODEL_DEVICE_H

#include "model/target.h"

struct cs_device_row {
    struct cs_device device;
    bool tegra;  // integrated parts that desktop SASS does not serve, nor the reverse
    uint16_t
        toolkit_x10;  // first toolkit with this target; its driver is the first to know the chip
    uint16_t last_branch;  // last driver branch that serves it, 0 = still served
    const char *codename;  // "Hopper"
    const char *products;  // examples
    const char *source;
};

// Ascending.  "--device all" is this table.
const struct cs_device_row *cs_device_table(uint32_t *count);
// NULL: not a device we know.
const struct cs_device_row *cs_device_find(struct cs_device d);
// 10.1, as CUDA 12 called it, is 11.0; any other device is itself.
struct cs_device cs_device_canonical(struct cs_device d);
bool cs_device_eq(struct cs_device a, struct cs_device b);
int cs_device_cmp(struct cs_device a, struct cs_device b);
static inline uint32_t cs_device_number(struct cs_device d) { return d.major * 10u + d.minor; }

// Is this number (87, 101, 110, ...) one of the Tegra family?
bool cs_arch_is_tegra(uint16_t arch);

enum cs_tri { CS_TRI_NO, CS_TRI_UNKNOWN, CS_TRI_YES };

// Does code built for family target `arch`f run on the device?  UNKNOWN for a device of the same
// major that is in no table.
enum cs_tri cs_family_has(uint16_t arch, struct cs_device d);

// How one image relates to one device, by the name in its header alone.
enum cs_fit {
    CS_FIT_EXACT,       // SASS for exactly this chip
    CS_FIT_FAMILY,      // SASS of an `f` target of a lower minor of the family
    CS_FIT_SAME_MAJOR,  // plain SASS of the same major, lower minor
    CS_FIT_PTX,         // PTX that the driver can compile for it
    // and why not:
    CS_FIT_NO_MAJOR,    // SASS of another major
    CS_FIT_NO_NEWER,    // built for something newer than the device
    CS_FIT_NO_TEGRA,    // same major, but across the desktop / Tegra line
    CS_FIT_NO_ARCH,     // an `a` image of another chip
    CS_FIT_NO_FAMILY,   // an `f` image of another family
    CS_FIT_NO_RENAMED,  // sm_101 code on what is 11.0 today: whether it loads is not known
};
static inline bool cs_fit_ok(enum cs_fit fit) { return fit <= CS_FIT_PTX; }
// "exact", "family", "same-major", "ptx", "other-major", ...
const char *cs_fit_name(enum cs_fit fit);
// One English clause: "is an `a` image of another chip".
const char *cs_fit_phrase(enum cs_fit fit);

// Of several images that do not fit, the one with the smallest number is the one to name: same
// major before others, PTX that is too new before SASS, then the nearest number.
uint32_t cs_target_miss_distance(struct cs_target t, struct cs_device d, enum cs_fit fit);

// *known = false when the answer rests on a device or target that is in no table.  NULL allowed.
enum cs_fit cs_target_fit(struct cs_target t, struct cs_device d, bool *known);

#endif
