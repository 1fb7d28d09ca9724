// Selection: which image of a container the driver runs on a device, and what that needs.
//
// The rules are measured (docs/format/selection.md; runs on an H200) or, where
// marked so, taken from third parties.  The driver judges by entry headers, picks ONE image, and
// stays with it: if that image then cannot be loaded there is no second choice.
// Relocatable containers (__nv_relfatbin) are not loaded by the driver; do not ask about them.
// Pure functions; any thread.
#ifndef CS_MODEL_SELECT_H
#define CS_MODEL_SELECT_H

#include "format/fatbin.h"
#include "model/toolkit.h"

// What selection must know of an image.  Give all images of one container, in file order, parts of
// a concatenated entry in its place.
struct cs_select_image {
    uint32_t kind;            // enum cs_fatbin_kind or unknown number; for a part: that of the part
    struct cs_target target;  // is_ptx follows the kind
    enum cs_codec codec;
    bool bit24;            // CS_FATBIN_F_BIT24
    bool concat;           // a part of a concatenated entry
    uint16_t ptx_isa_x10;  // PTX: 84 for 8.4; 0 = unknown
    uint16_t toolkit_x10;  // SASS: 128 for 12.8; 0 = unknown
};

// Ascending: min() is the worst.
enum cs_outcome { CS_OUTCOME_NONE, CS_OUTCOME_JIT, CS_OUTCOME_SAME_MAJOR, CS_OUTCOME_NATIVE };
const char *cs_outcome_name(enum cs_outcome outcome);  // "none", "jit", "same-major", "native"

enum cs_select_reason {
    CS_SELECT_EXACT,       // SASS of exactly this chip
    CS_SELECT_FAMILY,      // SASS of its family
    CS_SELECT_SAME_MAJOR,  // SASS of a lower minor
    CS_SELECT_PTX,         // compiled at first load
    // outcome none:
    CS_SELECT_EMPTY,            // no image that a driver could load (empty, LTO-IR only, ...)
    CS_SELECT_NO_IMAGE,         // no compatible one; .miss says what came nearest and why not
    CS_SELECT_PTX_TOO_NEW,      // chosen PTX has an ISA the driver does not take (error 222)
    CS_SELECT_CODEC_TOO_NEW,    // chosen image is compressed in a way the driver does not read
    CS_SELECT_TOOLKIT_TOO_NEW,  // chosen SASS is of a toolkit major the driver does not load
    CS_SELECT_CONCAT_SKIPPED,  // only concatenated entries would serve; the driver skips them (209)
    CS_SELECT_DRIVER_TOO_OLD,  // the driver does not know the chip
    CS_SELECT_DRIVER_TOO_NEW,  // the driver no longer serves the chip
};
const char *cs_select_reason_name(enum cs_select_reason reason);    // "exact", "ptx-too-new", ...
const char *cs_select_reason_phrase(enum cs_select_reason reason);  // one English clause

enum cs_floor_cause {
    CS_FLOOR_NONE,
    CS_FLOOR_CHIP,     // first driver that knows the device
    CS_FLOOR_TOOLKIT,  // SASS of that toolkit major
    CS_FLOOR_PTX,      // PTX ISA
    CS_FLOOR_CODEC,    // zstd
    CS_FLOOR_CONCAT,   // concatenated entry
};
const char *cs_floor_cause_name(enum cs_floor_cause cause);

#define CS_SELECT_NOTHING UINT32_MAX

struct cs_selection {
    enum cs_outcome outcome;
    enum cs_select_reason reason;
    uint32_t index;          // the image the driver commits to; CS_SELECT_NOTHING when none
    bool certain;            // false: rests on something unmeasured; the worse answer is given
    uint32_t miss;           // for NO_IMAGE: the image that came nearest, else CS_SELECT_NOTHING
    enum cs_fit miss_fit;    // and why it does not serve
    struct cs_driver floor;  // oldest driver for this image on this device; parts 0 = none known
    enum cs_floor_cause floor_cause;
    bool floor_certain;  // false: something unknown may raise it (ISA, Tegra numbering)
};

struct cs_select_env {
    struct cs_driver driver;  // parts == 0: a driver new enough for everything
    bool force_ptx_jit;       // as CUDA_FORCE_PTX_JIT=1
};

// env NULL = defaults.  `count` 0 is fine.
struct cs_selection cs_select(const struct cs_select_image *images, uint32_t count,
                              struct cs_device device, const struct cs_select_env *env);

// shadowed[i] = true when no device, known or still to come, ever runs image i, under any driver,
// because another image of the container is always preferred.  Kinds that drivers do not load
// (LTO-IR, unknown) are never marked: they are for linkers, or not understood.  Where the order
// between two images was never measured, neither is marked.  Linear in count.
void cs_select_shadowed(const struct cs_select_image *images, uint32_t count, bool *shadowed);

#endif
