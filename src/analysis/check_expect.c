// Expectation: what was promised for a container, and whether it holds.
//
// Promises come, first found first, from the rule for the container's source, from the declared
// list, or, with none of these, from the set of targets that most containers of the library share.
// Only a promise can fail a gate; a container that is narrower than its neighbours is a remark.
#include <stdlib.h>
#include <string.h>

#include "analysis/check_work.h"
#include "base/glob.h"
#include "base/mem.h"

// ---- promises --------------------------------------------------------------------------------

enum cs_promise cs_check_promise(const struct cs_check *c, uint32_t unit,
                                 const struct cs_archlist **list, struct cs_str *origin) {
    const struct cs_check_options *o = c->options;
    const struct cs_cover_unit *u = &c->coverage.units.ptr[unit];
    const struct cs_str source = u->container == CS_NONE
                                     ? CS_STR("")
                                     : c->inv->containers.ptr[u->container].source;
    const struct cs_check_source *rule = NULL;
    for (uint32_t i = 0; source.len && i < o->source_count && !rule; i++) {
        for (uint32_t k = 0; k < o->sources[i].file_count; k++) {
            if (cs_glob_match_source(o->sources[i].files[k], source)) {
                rule = &o->sources[i];
                break;
            }
        }
    }
    if (rule && !rule->silent) {
        *list = rule->arch;
        *origin = rule->origin;
        return rule->arch ? CS_PROMISE_LIST : CS_PROMISE_NOTHING;
    }
    *list = o->declared;
    *origin = CS_STR("--declared");
    return o->declared ? CS_PROMISE_LIST : CS_PROMISE_NONE;
}

static void find_shared(struct cs_check *c) {
    const struct cs_coverage *cov = &c->coverage;
    uint32_t *votes = cs_calloc(cov->units.count + 1, sizeof *votes);
    if (!votes) {
        c->failed = CS_NOMEM;
        return;
    }
    for (size_t l = 0; l < cov->libraries.count; l++) {
        const struct cs_cover_library *lib = &cov->libraries.ptr[l];
        struct cs_check_shared *best = &c->shared[l];
        for (uint32_t i = 0; i < lib->unit_count; i++) {
            votes[cov->units.ptr[lib->first_unit + i].signature] = 0;
        }
        for (uint32_t i = 0; i < lib->unit_count; i++) {
            votes[cov->units.ptr[lib->first_unit + i].signature]++;
        }
        for (uint32_t i = 0; i < lib->unit_count; i++) {
            const struct cs_cover_unit *u = &cov->units.ptr[lib->first_unit + i];
            const uint32_t n = votes[u->signature];
            // Of equally common sets the widest stands for the library.
            if (n > best->units ||
                (n == best->units && u->image_count > cov->units.ptr[best->unit].image_count)) {
                *best = (struct cs_check_shared){u->signature, lib->first_unit + i, n};
            }
        }
    }
    cs_free(votes);
}

// Outcome that each list promises in each row, by the images a build of it would make.
struct promised {
    const struct cs_archlist *list;
    uint8_t *outcomes;          // by free row
    struct cs_target *targets;  // distinct
    uint32_t target_count;
};
struct promises {
    CS_VEC(struct promised) items;
};

static void promises_fini(struct promises *p) {
    for (size_t i = 0; i < p->items.count; i++) {
        cs_free(p->items.ptr[i].outcomes);
        cs_free(p->items.ptr[i].targets);
    }
    cs_vec_fini(&p->items);
}

static void add_target(struct promised *p, struct cs_target t) {
    for (uint32_t i = 0; i < p->target_count; i++) {
        if (cs_target_eq(p->targets[i], t)) {
            return;
        }
    }
    p->targets[p->target_count++] = t;
}

static const struct promised *promised_by(struct cs_check *c, struct promises *all,
                                          const struct cs_archlist *list) {
    for (size_t i = 0; i < all->items.count; i++) {
        if (all->items.ptr[i].list == list) {
            return &all->items.ptr[i];
        }
    }
    struct cs_archlist_images images = {0};
    const uint32_t rows = cs_check_free_rows(c);
    struct promised *p = cs_vec_push(&all->items);
    if (!p || cs_archlist_to_images(list, 0, &images, NULL) != CS_OK) {
        c->failed = CS_NOMEM;
        cs_archlist_images_fini(&images);
        return NULL;
    }
    *p = (struct promised){.list = list,
                           .outcomes = cs_calloc(rows + 1, 1),
                           .targets = cs_calloc(images.images.count + 1, sizeof *p->targets)};
    if (p->outcomes && p->targets) {
        for (uint32_t r = 0; r < rows; r++) {
            p->outcomes[r] = (uint8_t)cs_select(images.images.ptr, (uint32_t)images.images.count,
                                                c->coverage.rows.ptr[r].device, NULL)
                                 .outcome;
        }
        for (size_t i = 0; i < images.images.count; i++) {
            struct cs_target t = images.images.ptr[i].target;
            t.is_ptx = images.images.ptr[i].kind == CS_FATBIN_PTX;
            add_target(p, t);
        }
    } else {
        c->failed = CS_NOMEM;
    }
    cs_archlist_images_fini(&images);
    return c->failed == CS_OK ? p : NULL;
}

// ---- devices ---------------------------------------------------------------------------------

// What is short in one row of one library.
struct shortage {
    uint64_t broken;        // kernels without code although their promise covers the device
    uint64_t narrow;        // kernels without code, narrower than most of the library
    uint32_t broken_unit, narrow_unit;  // examples
    uint32_t narrow_units;
    bool unserved;          // the library's own promise does not reach the device
};

static void add_shortage(struct shortage *s, uint64_t kernels, uint32_t unit, bool broken) {
    if (broken) {
        s->broken_unit = s->broken ? s->broken_unit : unit;
        s->broken += kernels;
    } else {
        s->narrow_unit = s->narrow_units++ ? s->narrow_unit : unit;
        s->narrow += kernels;
    }
}

static void measure(struct cs_check *c, struct promises *all, uint32_t library,
                    struct shortage *rows) {
    const struct cs_coverage *cov = &c->coverage;
    const struct cs_cover_library *lib = &cov->libraries.ptr[library];
    const uint32_t typical = c->shared[library].unit;
    for (uint32_t i = 0; i < lib->unit_count; i++) {
        const uint32_t unit = lib->first_unit + i;
        const struct cs_archlist *list;
        struct cs_str origin;
        const enum cs_promise promise = cs_check_promise(c, unit, &list, &origin);
        const struct promised *p =
            promise == CS_PROMISE_LIST ? promised_by(c, all, list) : NULL;
        if (c->failed != CS_OK) {
            return;
        }
        for (uint32_t r = 0; r < cs_check_free_rows(c); r++) {
            const struct cs_cover_pick *pick = cs_cover_pick(cov, unit, r);
            const uint64_t none = cov->units.ptr[unit].name_count - pick->free_covered;
            if (none == 0 || !cs_cover_cell(cov, library, r)->loads) {
                continue;
            }
            if (promise == CS_PROMISE_NONE) {
                if (cs_cover_pick(cov, typical, r)->free_outcome != CS_OUTCOME_NONE) {
                    add_shortage(&rows[r], none, unit, false);
                }
            } else if (p && p->outcomes[r] != CS_OUTCOME_NONE) {
                add_shortage(&rows[r], none, unit, true);
            }
        }
    }
}

// Does the promise that stands for the whole library leave the device out?
static void find_unserved(struct cs_check *c, struct promises *all, uint32_t library,
                          struct shortage *rows) {
    const struct cs_archlist *declared = c->options->declared;
    const struct promised *p = declared ? promised_by(c, all, declared) : NULL;
    const bool by_sources_alone = !declared && c->options->source_count > 0;
    for (uint32_t r = 0; c->failed == CS_OK && r < cs_check_free_rows(c); r++) {
        if (!cs_cover_cell(&c->coverage, library, r)->loads) {
            continue;
        }
        const struct cs_cover_pick *pick =
            cs_cover_pick(&c->coverage, c->shared[library].unit, r);
        const struct cs_archlist *list;
        struct cs_str origin;
        if (by_sources_alone && cs_check_promise(c, c->shared[library].unit, &list, &origin) !=
                                    CS_PROMISE_NONE) {
            continue;
        }
        rows[r].unserved =
            (p ? p->outcomes[r] : pick->free_outcome) == CS_OUTCOME_NONE;
    }
}

// The torch words that would serve the devices with the fewest targets: for each major (each Tegra
// part) the lowest that is missing, whose code its later minors run too.
static struct cs_str smallest_addition(struct cs_check *c, const bool *in, uint32_t rows) {
    struct cs_buf text;
    cs_buf_init(&text, 1024);
    uint16_t lowest = UINT16_MAX;
    for (uint32_t r = 0; r < rows; r++) {
        const struct cs_device d = c->coverage.rows.ptr[r].device;
        bool covered = !in[r];
        for (uint32_t k = 0; k < rows && !covered; k++) {
            const struct cs_device e = c->coverage.rows.ptr[k].device;
            const struct cs_target t = {.arch = (uint16_t)cs_device_number(e)};
            covered = in[k] && k != r && cs_device_cmp(e, d) < 0 &&
                      cs_fit_ok(cs_target_fit(t, d, NULL));
        }
        if (!covered) {
            cs_buf_printf(&text, "%s%u.%u", text.len ? ";" : "", d.major, d.minor);
        }
        if (in[r] && cs_device_number(d) < lowest) {
            lowest = (uint16_t)cs_device_number(d);
        }
    }
    const struct cs_str s = cs_check_text(
        c, "The smallest addition to the arch list: %s. Or %u.%u+PTX alone, which the driver then "
           "compiles at the first start.",
        text.ptr ? text.ptr : "", lowest / 10, lowest % 10);
    cs_buf_fini(&text);
    return s;
}

// Why the typical container does not run: the nearest image and what keeps it away.
static struct cs_str why_not(struct cs_check *c, uint32_t unit, uint32_t row) {
    const struct cs_cover_pick *p = cs_cover_pick(&c->coverage, unit, row);
    if (p->free_image != CS_NONE) {
        return cs_check_text(c, "the driver takes %s, which lacks them",
                             cs_check_image_text(c, p->free_image).ptr);
    }
    if (p->miss == CS_NONE) {
        return CS_STR("nothing in it that a driver loads");
    }
    char target[CS_TARGET_TEXT_BYTES];
    cs_target_text(c->inv->images.ptr[p->miss].target, target);
    return cs_check_text(c, "%s %s", target, cs_fit_phrase((enum cs_fit)p->miss_fit));
}

static void report_unserved(struct cs_check *c, uint32_t library, const struct shortage *rows,
                            bool *in) {
    const uint32_t n = cs_check_free_rows(c);
    uint32_t first = n;
    for (uint32_t r = 0; r < n; r++) {
        in[r] = rows[r].unserved;
        first = in[r] && r < first ? r : first;
    }
    if (first == n || !c->options->asked) {
        return;
    }
    const uint32_t unit = c->shared[library].unit;
    const struct cs_cover_library *lib = &c->coverage.libraries.ptr[library];
    const enum cs_severity severity =
        cs_check_exempt(c, library) ? CS_SEVERITY_NOTE : CS_SEVERITY_ERROR;
    cs_check_add_as(c, "uncovered-device", severity, lib->path, smallest_addition(c, in, n),
                    "%s: %s; most containers hold %s; %s", cs_check_row_devices(c, in, n).ptr,
                    c->options->declared ? "not in reach of the declared list" : "no code",
                    cs_check_targets_text(c, unit).ptr, why_not(c, unit, first).ptr);
}

static void report_rows(struct cs_check *c, uint32_t library, const struct shortage *rows,
                        bool broken, bool *in) {
    const struct cs_cover_library *lib = &c->coverage.libraries.ptr[library];
    const bool exempt = cs_check_exempt(c, library);
    for (uint32_t r = 0; r < cs_check_free_rows(c); r++) {
        const struct shortage *s = &rows[r];
        const uint64_t kernels = broken ? s->broken : s->unserved ? 0 : s->narrow;
        bool reported = kernels == 0;
        for (uint32_t k = 0; k < cs_check_free_rows(c); k++) {
            const uint64_t same = broken ? rows[k].broken : rows[k].unserved ? 0 : rows[k].narrow;
            in[k] = same == kernels && (broken ? rows[k].broken_unit == s->broken_unit
                                               : rows[k].narrow_unit == s->narrow_unit);
            reported = reported || (k < r && in[k]);
        }
        if (reported) {
            continue;
        }
        const uint32_t unit = broken ? s->broken_unit : s->narrow_unit;
        const bool fails = (broken || c->options->strict) && !exempt;
        cs_check_add_as(c, broken ? "uncovered-device" : "narrower-container",
                        fails ? CS_SEVERITY_ERROR : CS_SEVERITY_NOTE, lib->path,
                        broken ? smallest_addition(c, in, cs_check_free_rows(c)) : CS_STR(""),
                        "%s: %llu of %llu kernels have no code%s, such as those of %s: %s",
                        cs_check_row_devices(c, in, cs_check_free_rows(c)).ptr,
                        (unsigned long long)kernels, (unsigned long long)lib->kernels,
                        broken ? " although their arch list covers it" : "",
                        cs_check_unit_text(c, unit).ptr, why_not(c, unit, r).ptr);
    }
}

static void judge_devices(struct cs_check *c, struct promises *all) {
    const uint32_t rows = cs_check_free_rows(c);
    struct shortage *short_of = cs_calloc(rows + 1, sizeof *short_of);
    bool *in = cs_calloc(rows + 1, sizeof *in);
    if (!short_of || !in) {
        c->failed = CS_NOMEM;
    }
    for (uint32_t l = 0; c->failed == CS_OK && l < c->coverage.libraries.count; l++) {
        memset(short_of, 0, (rows + 1) * sizeof *short_of);
        find_unserved(c, all, l, short_of);
        measure(c, all, l, short_of);
        if (c->failed == CS_OK) {
            report_unserved(c, l, short_of, in);
            report_rows(c, l, short_of, true, in);
            report_rows(c, l, short_of, false, in);
        }
    }
    cs_free(short_of);
    cs_free(in);
}

// A promised device for which the routes leave no library at all.
static void judge_unrouted(struct cs_check *c) {
    const struct cs_coverage *cov = &c->coverage;
    for (uint32_t r = 0; c->options->asked && r < cs_check_free_rows(c); r++) {
        bool loads = cov->libraries.count == 0;
        for (uint32_t l = 0; l < cov->libraries.count && !loads; l++) {
            loads = cs_cover_cell(cov, l, r)->loads;
        }
        if (!loads) {
            char device[CS_TARGET_TEXT_BYTES];
            cs_device_text(cov->rows.ptr[r].device, device);
            cs_check_add_as(c, "uncovered-device", CS_SEVERITY_WARNING, CS_STR(""),
                            CS_STR("Add the device to a route, or promise it no longer."),
                            "%s: the routes let it load no library with kernels", device);
        }
    }
}

// ---- targets ---------------------------------------------------------------------------------

// A target that containers of a library lack, or have without being asked to.
struct surprise {
    struct cs_target target;
    uint32_t units, example;
    bool missing;
};
struct surprises {
    CS_VEC(struct surprise) items;
};

static void add_surprise(struct cs_check *c, struct surprises *all, struct cs_target t,
                         uint32_t unit, bool missing) {
    for (size_t i = 0; i < all->items.count; i++) {
        struct surprise *s = &all->items.ptr[i];
        if (cs_target_eq(s->target, t) && s->missing == missing) {
            s->units++;
            return;
        }
    }
    struct surprise *s = cs_vec_push(&all->items);
    if (!s) {
        c->failed = CS_NOMEM;
        return;
    }
    *s = (struct surprise){t, 1, unit, missing};
}

static bool unit_has(const struct cs_check *c, const struct cs_cover_unit *u, struct cs_target t) {
    for (uint32_t i = 0; i < u->image_count; i++) {
        if (cs_target_eq(c->inv->images.ptr[u->first_image + i].target, t)) {
            return true;
        }
    }
    return false;
}

static void compare_unit(struct cs_check *c, struct surprises *all, uint32_t unit,
                         const struct promised *p) {
    const struct cs_cover_unit *u = &c->coverage.units.ptr[unit];
    for (uint32_t i = 0; p && i < p->target_count; i++) {
        if (!unit_has(c, u, p->targets[i])) {
            add_surprise(c, all, p->targets[i], unit, true);
        }
    }
    for (uint32_t i = 0; i < u->image_count; i++) {
        const struct cs_target t = c->inv->images.ptr[u->first_image + i].target;
        bool asked = t.arch == 0;
        for (uint32_t k = 0; p && k < p->target_count && !asked; k++) {
            asked = cs_target_eq(p->targets[k], t);
        }
        if (!asked) {
            add_surprise(c, all, t, unit, false);
        }
    }
}

static void report_surprises(struct cs_check *c, uint32_t library, const struct surprises *all) {
    const struct cs_cover_library *lib = &c->coverage.libraries.ptr[library];
    const bool exempt = cs_check_exempt(c, library);
    for (size_t i = 0; i < all->items.count; i++) {
        const struct surprise *s = &all->items.ptr[i];
        char target[CS_TARGET_TEXT_BYTES];
        cs_target_text(s->target, target);
        const enum cs_severity severity = exempt       ? CS_SEVERITY_NOTE
                                          : s->missing ? CS_SEVERITY_ERROR
                                                       : CS_SEVERITY_WARNING;
        cs_check_add_as(c, s->missing ? "missing-declared-target" : "undeclared-target", severity,
                        lib->path, CS_STR(""),
                        s->missing ? "%s is promised, but %u of %u containers lack it, such as %s"
                                   : "%s is not promised, but %u of %u containers hold it, such as "
                                     "%s",
                        target, s->units, lib->unit_count, cs_check_unit_text(c, s->example).ptr);
    }
}

static void judge_targets(struct cs_check *c, struct promises *all) {
    struct surprises found = {0};
    for (uint32_t l = 0; c->failed == CS_OK && l < c->coverage.libraries.count; l++) {
        const struct cs_cover_library *lib = &c->coverage.libraries.ptr[l];
        found.items.count = 0;
        for (uint32_t i = 0; c->failed == CS_OK && i < lib->unit_count; i++) {
            const struct cs_archlist *list;
            struct cs_str origin;
            const enum cs_promise promise =
                cs_check_promise(c, lib->first_unit + i, &list, &origin);
            if (promise != CS_PROMISE_NONE) {
                compare_unit(c, &found, lib->first_unit + i,
                             promise == CS_PROMISE_LIST ? promised_by(c, all, list) : NULL);
            }
        }
        report_surprises(c, l, &found);
    }
    cs_vec_fini(&found.items);
}

void cs_check_expect(struct cs_check *c) {
    struct promises all = {0};
    find_shared(c);
    if (c->failed == CS_OK) {
        judge_devices(c, &all);
        judge_unrouted(c);
    }
    if (c->failed == CS_OK) {
        judge_targets(c, &all);
    }
    promises_fini(&all);
}
