// Selection: the driver's choice among the images of one container.
//
// Order of preference, with how each is known (docs/format/selection.md; "measured": on an H200
// with driver 580.159.04, records in tests/gpu/selection):
//   1. only images whose header name fits the device (compatibility guides; measured);
//   2. SASS before Mercury (0x10) before PTX (measured, but for 0x10: a third party's);
//   3. the nearest lower arch (measured for PTX, for SASS by a third party);
//   4. of sm_N and sm_Na the latter, in either file order, SASS and PTX (measured);
//   5. of equals: SASS without flag bit 24, then the first SASS (measured).
// The order between an `f` image and another of the same number was never measured, nor what a
// driver between 580.159.04 and 615.71.09 does with a concatenated entry: then the answer is marked
// uncertain.  Two PTX of one name: the last for its own chip, the first for others, in the only two
// cases tried; uncertain too.  The driver commits: a chosen image that does not load is not
// replaced (measured).
#include "model/select.h"

#include <stdlib.h>

const char *cs_outcome_name(enum cs_outcome outcome) {
    switch (outcome) {
        case CS_OUTCOME_NONE: return "none";
        case CS_OUTCOME_JIT: return "jit";
        case CS_OUTCOME_SAME_MAJOR: return "same-major";
        case CS_OUTCOME_NATIVE: return "native";
    }
    return "none";
}

const char *cs_select_reason_name(enum cs_select_reason reason) {
    switch (reason) {
        case CS_SELECT_EXACT: return "exact";
        case CS_SELECT_FAMILY: return "family";
        case CS_SELECT_SAME_MAJOR: return "same-major";
        case CS_SELECT_PTX: return "ptx";
        case CS_SELECT_EMPTY: return "empty";
        case CS_SELECT_NO_IMAGE: return "no-image";
        case CS_SELECT_PTX_TOO_NEW: return "ptx-too-new";
        case CS_SELECT_CODEC_TOO_NEW: return "codec-too-new";
        case CS_SELECT_TOOLKIT_TOO_NEW: return "toolkit-too-new";
        case CS_SELECT_CONCAT_SKIPPED: return "concat-skipped";
        case CS_SELECT_DRIVER_TOO_OLD: return "driver-too-old";
        case CS_SELECT_DRIVER_TOO_NEW: return "driver-too-new";
    }
    return "no-image";
}

const char *cs_select_reason_phrase(enum cs_select_reason reason) {
    switch (reason) {
        case CS_SELECT_EXACT: return "SASS for exactly this chip";
        case CS_SELECT_FAMILY: return "SASS for its family";
        case CS_SELECT_SAME_MAJOR: return "SASS of the same major, lower minor";
        case CS_SELECT_PTX: return "PTX, compiled by the driver at first load";
        case CS_SELECT_EMPTY: return "nothing in it that a driver loads";
        case CS_SELECT_NO_IMAGE: return "no compatible image";
        case CS_SELECT_PTX_TOO_NEW: return "the driver is older than the PTX it would compile";
        case CS_SELECT_CODEC_TOO_NEW: return "the driver cannot decompress the image it picks";
        case CS_SELECT_TOOLKIT_TOO_NEW: return "the driver is older than the toolkit of the image";
        case CS_SELECT_CONCAT_SKIPPED: return "the driver skips concatenated entries";
        case CS_SELECT_DRIVER_TOO_OLD: return "the driver does not know the chip";
        case CS_SELECT_DRIVER_TOO_NEW: return "the driver no longer serves the chip";
    }
    return "no compatible image";
}

const char *cs_floor_cause_name(enum cs_floor_cause cause) {
    switch (cause) {
        case CS_FLOOR_NONE: return "none";
        case CS_FLOOR_CHIP: return "chip";
        case CS_FLOOR_TOOLKIT: return "toolkit";
        case CS_FLOOR_PTX: return "ptx";
        case CS_FLOOR_CODEC: return "codec";
        case CS_FLOOR_CONCAT: return "concat";
    }
    return "none";
}

// 2 SASS, 1 Mercury, 0 PTX, -1 not for drivers.
static int kind_class(uint32_t kind) {
    switch (kind) {
        case CS_FATBIN_ELF: return 2;
        case CS_FATBIN_MERCURY: return 1;
        case CS_FATBIN_PTX: return 0;
        default: return -1;
    }
}

static bool kind_known(uint32_t kind) {
    return kind_class(kind) >= 0 || kind == CS_FATBIN_LTOIR || kind == CS_FATBIN_RELPTX ||
           kind == CS_FATBIN_INDEX;
}

// The target with is_ptx as the kind says.
static struct cs_target target_of(const struct cs_select_image *im) {
    struct cs_target t = im->target;
    t.is_ptx = im->kind == CS_FATBIN_PTX;
    return t;
}

// >0: a is preferred to b, both compatible.  *measured = false when no measurement decides.
// Equal means: the order in the file decides.
static int prefer(const struct cs_select_image *a, const struct cs_select_image *b,
                  bool *measured) {
    *measured = true;
    const int class_a = kind_class(a->kind);
    const int class_b = kind_class(b->kind);
    if (class_a != class_b) {
        *measured = class_a != 1 && class_b != 1;
        return class_a - class_b;
    }
    if (a->target.arch != b->target.arch) {
        return (int)a->target.arch - (int)b->target.arch;
    }
    if (a->target.suffix != b->target.suffix) {
        *measured = a->target.suffix != 'f' && b->target.suffix != 'f';
        // a, then f, then plain: the exact chip beats the family
        const int rank_a = a->target.suffix == 'a' ? 2 : a->target.suffix == 'f';
        const int rank_b = b->target.suffix == 'a' ? 2 : b->target.suffix == 'f';
        return rank_a - rank_b;
    }
    if (class_a == 0) {
        *measured = false;
        return 0;
    }
    return (int)b->bit24 - (int)a->bit24;
}

// What the choice depends on besides the images.
struct view_of_driver {
    bool skips_concat;
    bool ptx_only;
};

static bool is_candidate(const struct cs_select_image *im, struct view_of_driver v) {
    const int class = kind_class(im->kind);
    return class >= 0 && !(v.skips_concat && im->concat) && !(v.ptx_only && class != 0);
}

struct pick {
    uint32_t index;  // CS_SELECT_NOTHING when no candidate fits
    enum cs_fit fit;
    bool certain;  // every step of the choice was measured
    bool any;      // there was a candidate at all
    uint32_t miss;
    enum cs_fit miss_fit;
};

// Was every step that made `winner` the choice measured, and every fit known that could change it?
static bool is_certain(const struct cs_select_image *images, uint32_t count, uint32_t winner,
                       struct cs_device d, struct view_of_driver v) {
    for (uint32_t i = 0; i < count; i++) {
        if (!is_candidate(&images[i], v)) {
            continue;
        }
        bool known, measured = true;
        const enum cs_fit fit = cs_target_fit(target_of(&images[i]), d, &known);
        if (i == winner || winner == CS_SELECT_NOTHING) {
            if (!known) {
                return false;
            }
            continue;
        }
        const int order = prefer(&images[winner], &images[i], &measured);
        if (cs_fit_ok(fit) ? !measured : !known && (order < 0 || !measured)) {
            return false;
        }
    }
    return winner == CS_SELECT_NOTHING || images[winner].kind != CS_FATBIN_MERCURY;
}

static struct pick pick_image(const struct cs_select_image *images, uint32_t count,
                              struct cs_device d, struct view_of_driver v) {
    struct pick p = {.index = CS_SELECT_NOTHING, .miss = CS_SELECT_NOTHING};
    uint32_t best_miss = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_candidate(&images[i], v)) {
            continue;
        }
        p.any = true;
        const enum cs_fit fit = cs_target_fit(target_of(&images[i]), d, NULL);
        if (!cs_fit_ok(fit)) {
            const uint32_t miss = cs_target_miss_distance(target_of(&images[i]), d, fit);
            if (miss < best_miss) {
                best_miss = miss;
                p.miss = i;
                p.miss_fit = fit;
            }
            continue;
        }
        bool measured;
        int order = 1;
        if (p.index != CS_SELECT_NOTHING) {
            order = prefer(&images[i], &images[p.index], &measured);
            if (order == 0) {  // the first; of PTX for exactly this chip the last
                const bool last =
                    kind_class(images[i].kind) == 0 && images[i].target.arch == cs_device_number(d);
                order = last ? 1 : -1;
            }
        }
        if (order > 0) {
            p.index = i;
            p.fit = fit;
        }
    }
    p.certain = is_certain(images, count, p.index, d, v);
    return p;
}

static void raise_floor(struct cs_selection *s, struct cs_driver floor, enum cs_floor_cause cause) {
    if (!cs_driver_known(floor)) {
        return;
    }
    if (!cs_driver_known(s->floor) || cs_driver_cmp(floor, s->floor) > 0) {
        s->floor_cause = cause;
    }
    s->floor = cs_driver_max(s->floor, floor);
}

static void set_floor(struct cs_selection *s, const struct cs_select_image *im,
                      struct cs_device d) {
    const struct cs_device_row *row = cs_device_find(d);
    s->floor_certain = row && !row->tegra;
    raise_floor(s, cs_device_driver(d), CS_FLOOR_CHIP);
    if (im->kind == CS_FATBIN_PTX) {
        const struct cs_driver ptx = cs_ptx_driver(im->ptx_isa_x10);
        s->floor_certain = s->floor_certain && cs_driver_known(ptx);
        raise_floor(s, ptx, CS_FLOOR_PTX);
    } else {
        const struct cs_driver sass = cs_sass_driver(im->toolkit_x10);
        // A toolkit older than 11 asks for nothing that we judge; one that is not known might.
        s->floor_certain = s->floor_certain &&
                           (cs_driver_known(sass) || (im->toolkit_x10 && im->toolkit_x10 < 110));
        raise_floor(s, sass, CS_FLOOR_TOOLKIT);
    }
    raise_floor(s, cs_codec_driver(im->codec), CS_FLOOR_CODEC);
    if (im->concat) {
        raise_floor(s, cs_concat_driver(), CS_FLOOR_CONCAT);
    }
}

static void fail(struct cs_selection *s, enum cs_select_reason reason) {
    s->outcome = CS_OUTCOME_NONE;
    s->reason = reason;
}

// Does the driver load what it picked?
static void judge_payload(struct cs_selection *s, const struct cs_select_image *im,
                          struct cs_driver driver) {
    const struct cs_driver codec = cs_codec_driver(im->codec);
    if (cs_driver_known(codec) && cs_driver_cmp(driver, codec) < 0) {
        fail(s, CS_SELECT_CODEC_TOO_NEW);
        return;
    }
    if (im->kind == CS_FATBIN_PTX) {
        const enum cs_tri takes = cs_driver_takes_ptx(driver, im->ptx_isa_x10);
        if (takes == CS_TRI_NO) {
            fail(s, CS_SELECT_PTX_TOO_NEW);
        }
        s->certain = s->certain && takes != CS_TRI_UNKNOWN;
        return;
    }
    const struct cs_driver sass = cs_sass_driver(im->toolkit_x10);
    if (cs_driver_known(sass) && cs_driver_cmp(driver, sass) < 0) {
        fail(s, CS_SELECT_TOOLKIT_TOO_NEW);
    }
    // An unknown toolkit is let pass: most callers read headers alone, and no SASS loads on a
    // driver too old for its chip anyway.
}

static struct cs_selection from_pick(const struct cs_select_image *images, struct pick p,
                                     struct cs_device d) {
    struct cs_selection s = {
        .index = p.index, .certain = p.certain, .miss = CS_SELECT_NOTHING, .floor_certain = true};
    if (p.index == CS_SELECT_NOTHING) {
        s.outcome = CS_OUTCOME_NONE;
        s.reason = p.any ? CS_SELECT_NO_IMAGE : CS_SELECT_EMPTY;
        s.miss = p.miss;
        s.miss_fit = p.miss_fit;
        return s;
    }
    switch (p.fit) {
        case CS_FIT_EXACT:
            s.outcome = CS_OUTCOME_NATIVE;
            s.reason = CS_SELECT_EXACT;
            break;
        case CS_FIT_FAMILY:
            s.outcome = CS_OUTCOME_SAME_MAJOR;
            s.reason = CS_SELECT_FAMILY;
            break;
        case CS_FIT_SAME_MAJOR:
            s.outcome = CS_OUTCOME_SAME_MAJOR;
            s.reason = CS_SELECT_SAME_MAJOR;
            break;
        case CS_FIT_PTX:
        case CS_FIT_NO_MAJOR:
        case CS_FIT_NO_NEWER:
        case CS_FIT_NO_TEGRA:
        case CS_FIT_NO_ARCH:
        case CS_FIT_NO_FAMILY:
        case CS_FIT_NO_RENAMED:
            CS_ASSERT(p.fit == CS_FIT_PTX);
            s.outcome = CS_OUTCOME_JIT;
            s.reason = CS_SELECT_PTX;
            break;
    }
    set_floor(&s, &images[p.index], d);
    return s;
}

// One answer for a driver that does, or does not, see the parts of concatenated entries.
static struct cs_selection select_once(const struct cs_select_image *images, uint32_t count,
                                       struct cs_device d, const struct cs_select_env *env,
                                       bool skips_concat) {
    const struct view_of_driver v = {skips_concat, env->force_ptx_jit};
    struct cs_selection s = from_pick(images, pick_image(images, count, d, v), d);
    const struct cs_device_row *row = cs_device_find(d);
    if (!cs_driver_known(env->driver)) {
        return s;
    }
    if (row && row->tegra && env->driver.cuda_x10 == 0) {
        s.certain = false;  // Jetson drivers are numbered otherwise; nothing to compare with
        return s;
    }
    const struct cs_driver chip = cs_device_driver(d);
    if (cs_driver_known(chip) && cs_driver_cmp(env->driver, chip) < 0) {
        fail(&s, CS_SELECT_DRIVER_TOO_OLD);
        s.index = CS_SELECT_NOTHING;
    } else if (row && row->last_branch && env->driver.branch > row->last_branch) {
        fail(&s, CS_SELECT_DRIVER_TOO_NEW);
        s.index = CS_SELECT_NOTHING;
    } else if (s.index != CS_SELECT_NOTHING) {
        judge_payload(&s, &images[s.index], env->driver);
    }
    return s;
}

static bool has_concat(const struct cs_select_image *images, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (images[i].concat) {
            return true;
        }
    }
    return false;
}

struct cs_selection cs_select(const struct cs_select_image *images, uint32_t count,
                              struct cs_device device, const struct cs_select_env *env_given) {
    static const struct cs_select_env no_env;
    const struct cs_select_env *env = env_given ? env_given : &no_env;
    const struct cs_device d = cs_device_canonical(device);
    struct cs_selection with = select_once(images, count, d, env, false);
    const enum cs_tri reads =
        cs_driver_known(env->driver) ? cs_driver_reads_concat(env->driver) : CS_TRI_YES;
    if (reads != CS_TRI_YES && has_concat(images, count)) {
        struct cs_selection without = select_once(images, count, d, env, true);
        if (without.index == CS_SELECT_NOTHING && with.index != CS_SELECT_NOTHING) {
            without.reason = CS_SELECT_CONCAT_SKIPPED;
            without.floor = with.floor;
            without.floor_cause = with.floor_cause;
            without.floor_certain = with.floor_certain;
        }
        if (reads == CS_TRI_NO) {
            with = without;
        } else if (without.index != with.index || without.outcome != with.outcome) {
            with = without.outcome <= with.outcome ? without : with;
            with.certain = false;
        }
    }
    if (with.outcome == CS_OUTCOME_NONE || with.outcome == CS_OUTCOME_JIT) {
        for (uint32_t i = 0; i < count; i++) {
            if (!kind_known(images[i].kind)) {
                with.certain = false;  // an unknown kind may serve
            }
        }
    }
    return with;
}

// Marks as alive every image that may be the choice on the device: the choice itself, and all that
// lose to it by an unmeasured step only.
static void mark_alive(const struct cs_select_image *images, uint32_t count, struct cs_device d,
                       bool skips_concat, bool *shadowed) {
    const struct view_of_driver v = {skips_concat, false};
    const struct pick p = pick_image(images, count, d, v);
    for (uint32_t i = 0; i < count; i++) {
        if (!shadowed[i] || !is_candidate(&images[i], v)) {
            continue;
        }
        bool known;
        const enum cs_fit fit = cs_target_fit(target_of(&images[i]), d, &known);
        if (i == p.index || (!known && !cs_fit_ok(fit))) {
            shadowed[i] = false;
            continue;
        }
        if (!cs_fit_ok(fit) || p.index == CS_SELECT_NOTHING) {
            continue;
        }
        bool measured;
        (void)prefer(&images[p.index], &images[i], &measured);
        bool winner_known;
        (void)cs_target_fit(target_of(&images[p.index]), d, &winner_known);
        if (!measured || !winner_known) {
            shadowed[i] = false;
        }
    }
}

enum { STRANGE_MAX = 64 };

// Numbers of images that are no device in our tables: each may be a device we do not know.
static uint32_t strange_devices(const struct cs_select_image *images, uint32_t count,
                                uint16_t out[STRANGE_MAX]) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint16_t arch = images[i].target.arch;
        bool seen = cs_device_find(cs_target_device(images[i].target)) != NULL;
        for (uint32_t k = 0; k < n && !seen; k++) {
            seen = out[k] == arch;
        }
        if (!seen) {
            if (n == STRANGE_MAX) {
                return n + 1;
            }
            out[n++] = arch;
        }
    }
    return n;
}

void cs_select_shadowed(const struct cs_select_image *images, uint32_t count, bool *shadowed) {
    for (uint32_t i = 0; i < count; i++) {
        shadowed[i] = kind_class(images[i].kind) >= 0;
    }
    uint16_t strange[STRANGE_MAX];
    const uint32_t strange_count = strange_devices(images, count, strange);
    if (strange_count > STRANGE_MAX) {
        for (uint32_t i = 0; i < count; i++) {
            shadowed[i] = false;  // nothing like a real container: claim nothing
        }
        return;
    }
    uint32_t device_count;
    const struct cs_device_row *devices = cs_device_table(&device_count);
    const int worlds = has_concat(images, count) ? 2 : 1;
    for (int skips = 0; skips < worlds; skips++) {
        for (uint32_t k = 0; k < device_count; k++) {
            mark_alive(images, count, devices[k].device, skips == 1, shadowed);
        }
        for (uint32_t k = 0; k < strange_count; k++) {
            const struct cs_device d = {(uint16_t)(strange[k] / 10), (uint16_t)(strange[k] % 10)};
            mark_alive(images, count, d, skips == 1, shadowed);
        }
        // A major still to come: served by the newest plain PTX.
        mark_alive(images, count, (struct cs_device){UINT16_MAX / 10 - 1, 0}, skips == 1, shadowed);
    }
}
