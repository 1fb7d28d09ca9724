// Drivers: the oldest that an artifact needs and why, whether a promised one is enough, and what it
// would have to compile at the first start.
//
// docs/format/targets.md has the tables.  The first driver that knows a chip is the chip's demand,
// not the artifact's, so it never makes the floor.
#include "analysis/check_work.h"
#include "base/limits.h"
#include "base/mem.h"

// ---- floor -----------------------------------------------------------------------------------

static bool is_artifacts(enum cs_floor_cause cause) {
    switch (cause) {
    case CS_FLOOR_NONE:
    case CS_FLOOR_CHIP: return false;
    case CS_FLOOR_TOOLKIT:
    case CS_FLOOR_PTX:
    case CS_FLOOR_CODEC:
    case CS_FLOOR_CONCAT: return true;
    }
    return false;
}

static void find_floor(struct cs_check *c) {
    const struct cs_coverage *cov = &c->coverage;
    c->floor.certain = true;
    for (uint32_t u = 0; u < cov->units.count; u++) {
        for (uint32_t r = 0; r < cs_check_free_rows(c); r++) {
            const struct cs_cover_pick *p = cs_cover_pick(cov, u, r);
            if (p->free_outcome == CS_OUTCOME_NONE ||
                !cs_cover_cell(cov, cov->units.ptr[u].library, r)->loads) {
                continue;
            }
            // Only what the image itself asks for may be unknown; Tegra numbering is the chip's.
            const struct cs_device_row *row = cs_device_find(cov->rows.ptr[r].device);
            c->floor.certain = c->floor.certain && (p->floor_certain || (row && row->tegra));
            if (is_artifacts((enum cs_floor_cause)p->floor_cause) &&
                (!c->floor.known || cs_driver_cmp(p->floor, c->floor.driver) > 0)) {
                c->floor.known = true;
                c->floor.driver = p->floor;
                c->floor.cause = (enum cs_floor_cause)p->floor_cause;
                c->floor.image = p->free_image;
                c->floor.device = cov->rows.ptr[r].device;
            }
        }
    }
}

// ---- promised drivers ------------------------------------------------------------------------

// Kernels of one library that a promised driver cannot run, for one reason.
struct failure {
    uint64_t kernels;          // at most over the devices
    uint32_t image;            // an example, of the highest demand
    struct cs_driver needed;
    enum cs_floor_cause cause;
};

static bool is_drivers_fault(enum cs_select_reason reason) {
    switch (reason) {
    case CS_SELECT_PTX_TOO_NEW:
    case CS_SELECT_CODEC_TOO_NEW:
    case CS_SELECT_TOOLKIT_TOO_NEW:
    case CS_SELECT_CONCAT_SKIPPED: return true;
    case CS_SELECT_EXACT:
    case CS_SELECT_FAMILY:
    case CS_SELECT_SAME_MAJOR:
    case CS_SELECT_PTX:
    case CS_SELECT_EMPTY:
    case CS_SELECT_NO_IMAGE:
    case CS_SELECT_DRIVER_TOO_OLD:
    case CS_SELECT_DRIVER_TOO_NEW: return false;
    }
    return false;
}

// Collects the failures of a library under driver `d` for one reason; in[row] = devices they hit.
static bool collect(const struct cs_check *c, uint32_t library, uint32_t d,
                    enum cs_select_reason reason, struct failure *out, bool *in) {
    const struct cs_coverage *cov = &c->coverage;
    const struct cs_cover_library *lib = &cov->libraries.ptr[library];
    const uint32_t rows = cs_check_free_rows(c);
    *out = (struct failure){0};
    bool any = false;
    for (uint32_t r = 0; r < rows; r++) {
        const uint32_t row = d * rows + r;
        uint64_t kernels = 0;
        in[r] = false;
        if (!cs_cover_cell(cov, library, row)->loads) {
            continue;
        }
        for (uint32_t i = 0; i < lib->unit_count; i++) {
            const struct cs_cover_pick *p = cs_cover_pick(cov, lib->first_unit + i, row);
            if (p->reason != reason || p->free_covered <= p->covered) {
                continue;
            }
            kernels += p->free_covered - p->covered;
            if (!any || cs_driver_cmp(p->floor, out->needed) > 0) {
                out->needed = p->floor;
                out->image = p->free_image;
                out->cause = (enum cs_floor_cause)p->floor_cause;
            }
            any = in[r] = true;
        }
        out->kernels = kernels > out->kernels ? kernels : out->kernels;
    }
    return any;
}

static struct cs_str needs(struct cs_check *c, const struct failure *f) {
    const struct cs_image *image = &c->inv->images.ptr[f->image];
    char needed[CS_DRIVER_TEXT_BYTES];
    cs_driver_text(f->needed, needed);
    switch (f->cause) {
    case CS_FLOOR_PTX:
        return cs_check_text(c, "PTX ISA %u.%u needs %s", image->ptx_isa_x10 / 10,
                             image->ptx_isa_x10 % 10, needed);
    case CS_FLOOR_CODEC:
        return cs_check_text(c, "%s compression needs %s", cs_codec_name(image->codec), needed);
    case CS_FLOOR_TOOLKIT:
        return cs_check_text(c, "SASS of CUDA %u.%u needs %s", image->toolkit_x10 / 10,
                             image->toolkit_x10 % 10, needed);
    case CS_FLOOR_CONCAT: return cs_check_text(c, "a concatenated entry needs %s", needed);
    case CS_FLOOR_NONE:
    case CS_FLOOR_CHIP: break;
    }
    return cs_check_text(c, "it needs %s", needed);
}

// For the highest demand: a lower one of another cause would still be met.
static struct cs_str cure(enum cs_floor_cause cause) {
    switch (cause) {
    case CS_FLOOR_PTX:
        return CS_STR("Ship SASS for these devices, build the PTX with an older toolkit, or "
                      "promise the newer driver.");
    case CS_FLOOR_TOOLKIT:
        return CS_STR("Build with a toolkit of the driver's major version, or promise the newer "
                      "driver.");
    case CS_FLOOR_CODEC:
        return CS_STR("cuslim slim --recompress lz4 brings the floor down without a rebuild.");
    case CS_FLOOR_CONCAT:
        return CS_STR("cuslim slim --split-concatenated makes plain entries of the parts.");
    case CS_FLOOR_NONE:
    case CS_FLOOR_CHIP: break;
    }
    return CS_STR("Promise the newer driver.");
}

static void report_failure(struct cs_check *c, uint32_t library, uint32_t d,
                           enum cs_select_reason reason, const struct failure *f, const bool *in) {
    const bool ptx = reason == CS_SELECT_PTX_TOO_NEW;
    char driver[CS_DRIVER_TEXT_BYTES];
    cs_driver_text(c->options->drivers[d], driver);
    const enum cs_severity severity =
        cs_check_exempt(c, library) ? CS_SEVERITY_NOTE : CS_SEVERITY_ERROR;
    cs_check_add_as(c, ptx ? "ptx-newer-than-driver" : "floor-above-promise", severity,
                    c->coverage.libraries.ptr[library].path, cure(f->cause),
                    "%llu kernel%s would fail on %s under driver %s: %s (%s)",
                    (unsigned long long)f->kernels, cs_plural(f->kernels),
                    cs_check_row_devices(c, in, cs_check_free_rows(c)).ptr, driver,
                    needs(c, f).ptr, cs_check_image_text(c, f->image).ptr);
}

static void judge_promises(struct cs_check *c) {
    static const enum cs_select_reason reasons[] = {
        CS_SELECT_PTX_TOO_NEW, CS_SELECT_CODEC_TOO_NEW, CS_SELECT_TOOLKIT_TOO_NEW,
        CS_SELECT_CONCAT_SKIPPED};
    bool *in = cs_calloc(cs_check_free_rows(c) + 1, sizeof *in);
    if (!in) {
        c->failed = CS_NOMEM;
        return;
    }
    for (uint32_t l = 0; l < c->coverage.libraries.count; l++) {
        for (uint32_t d = 0; d < c->options->driver_count; d++) {
            for (size_t k = 0; k < sizeof reasons / sizeof *reasons; k++) {
                struct failure f;
                CS_ASSERT(is_drivers_fault(reasons[k]));
                if (collect(c, l, d, reasons[k], &f, in)) {
                    report_failure(c, l, d, reasons[k], &f, in);
                }
            }
        }
    }
    cs_free(in);
}

// A device whose support ended before the promised driver.
static void judge_ended(struct cs_check *c) {
    for (size_t r = 0; c->options->asked && r < c->coverage.rows.count; r++) {
        const struct cs_cover_row *row = &c->coverage.rows.ptr[r];
        const struct cs_device_row *known = cs_device_find(row->device);
        if (known && known->last_branch && row->driver.branch > known->last_branch) {
            char device[CS_TARGET_TEXT_BYTES], driver[CS_DRIVER_TEXT_BYTES];
            cs_device_text(row->device, device);
            cs_driver_text(row->driver, driver);
            cs_check_add(c, "uncovered-device", CS_STR(""), CS_STR(""),
                         "driver %s no longer serves %s; R%u is the last branch that does", driver,
                         device, known->last_branch);
        }
    }
}

// ---- first start -----------------------------------------------------------------------------

// Size of the cubin that PTX becomes, by the SASS beside it; the PTX itself where there is none.
static uint64_t cubin_estimate(const struct cs_check *c, const struct cs_cover_unit *u,
                               const struct cs_image *ptx) {
    uint64_t bytes = 0, n = 0;
    for (uint32_t i = 0; i < u->image_count; i++) {
        const struct cs_image *image = &c->inv->images.ptr[u->first_image + i];
        if (image->kind == CS_FATBIN_ELF && image->read) {
            bytes += image->image_bytes;
            n++;
        }
    }
    return n ? bytes / n : ptx->image_bytes;
}

// The CUDA programming guide's default of CUDA_CACHE_MAXSIZE: 1 GiB, and 256 MiB on embedded parts.
static uint64_t cache_bytes(struct cs_device d) {
    const struct cs_device_row *row = cs_device_find(d);
    return row && row->tegra ? 256 * CS_MIB : CS_GIB;
}

static void forecast(struct cs_check *c) {
    const struct cs_coverage *cov = &c->coverage;
    for (uint32_t r = 0; r < cov->rows.count; r++) {
        struct cs_check_forecast *f = &c->forecasts[r];
        f->cache_bytes = cache_bytes(cov->rows.ptr[r].device);
        for (uint32_t u = 0; u < cov->units.count; u++) {
            const struct cs_cover_unit *unit = &cov->units.ptr[u];
            const struct cs_cover_pick *p = cs_cover_pick(cov, u, r);
            if (p->outcome == CS_OUTCOME_JIT && cs_cover_cell(cov, unit->library, r)->loads) {
                const struct cs_image *ptx = &c->inv->images.ptr[p->image];
                f->containers++;
                f->kernels += p->covered;
                f->ptx_bytes += ptx->image_bytes;
                f->cubin_bytes += cubin_estimate(c, unit, ptx);
            }
        }
    }
}

static bool same_forecast(const struct cs_check *c, uint32_t a, uint32_t b) {
    const struct cs_check_forecast *x = &c->forecasts[a], *y = &c->forecasts[b];
    return x->kernels == y->kernels && x->ptx_bytes == y->ptx_bytes &&
           x->cubin_bytes == y->cubin_bytes && x->cache_bytes == y->cache_bytes;
}

static void say_forecast(struct cs_check *c, uint32_t row, const bool *in) {
    const struct cs_check_forecast *f = &c->forecasts[row];
    const bool large = f->cubin_bytes > f->cache_bytes;
    cs_check_add_as(
        c, "cold-jit", large ? CS_SEVERITY_WARNING : CS_SEVERITY_NOTE, CS_STR(""),
        large ? CS_STR("Ship SASS for the device, or have users set CUDA_CACHE_MAXSIZE to more "
                       "than that (4 GiB at most): else every start compiles again.")
              : CS_STR("Ship SASS for the device if its first start matters."),
        "%s: the first start compiles %llu kernel%s from %s of PTX into about %s, %s than the "
        "driver's cache of %s",
        cs_check_row_devices(c, in, cs_check_free_rows(c)).ptr, (unsigned long long)f->kernels,
        cs_plural(f->kernels), cs_check_size(c, f->ptx_bytes), cs_check_size(c, f->cubin_bytes),
        large ? "more" : "less", cs_check_size(c, f->cache_bytes));
}

// Once for devices that fare the same, and without regard to drivers.
static void report_forecast(struct cs_check *c) {
    const uint32_t rows = cs_check_free_rows(c);
    bool *in = cs_calloc(rows + 1, sizeof *in);
    if (!in) {
        c->failed = CS_NOMEM;
        return;
    }
    for (uint32_t r = 0; c->options->asked && r < rows; r++) {
        bool said = c->forecasts[r].kernels == 0;
        for (uint32_t k = 0; k < rows; k++) {
            in[k] = same_forecast(c, r, k);
            said = said || (in[k] && k < r);
        }
        if (!said) {
            say_forecast(c, r, in);
        }
    }
    cs_free(in);
}

void cs_check_drivers(struct cs_check *c) {
    find_floor(c);
    judge_promises(c);
    judge_ended(c);
    forecast(c);
    report_forecast(c);
}
