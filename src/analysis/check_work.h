// What the parts of `check` share; not for use outside analysis.
#ifndef CS_ANALYSIS_CHECK_WORK_H
#define CS_ANALYSIS_CHECK_WORK_H

#include "analysis/check.h"

// Adds a finding with the rule's own severity; texts live in the arena or the inventory.  The rule
// must exist (asserted).  Running out of memory is sticky in c->failed.
void cs_check_add(struct cs_check *c, const char *slug, struct cs_str where, struct cs_str advice,
                  const char *fmt, ...) CS_PRINTF(5, 6);
void cs_check_add_as(struct cs_check *c, const char *slug, enum cs_severity severity,
                     struct cs_str where, struct cs_str advice, const char *fmt, ...)
    CS_PRINTF(6, 7);
// printf into the arena, NUL-terminated; empty when out of memory.
struct cs_str cs_check_text(struct cs_check *c, const char *fmt, ...) CS_PRINTF(2, 3);

// "12.30 MiB", in the arena.
const char *cs_check_size(struct cs_check *c, uint64_t bytes);

// The texts of these are NUL-terminated too.
// "8.9, 9.0 and 12.0" of the rows [0, count) for which `in` says so.
struct cs_str cs_check_row_devices(struct cs_check *c, const bool *in, uint32_t count);
// "sm_90a of container 12 (attn.cu)".
struct cs_str cs_check_image_text(struct cs_check *c, uint32_t image);
// Source of a unit, else "container N".
struct cs_str cs_check_unit_text(struct cs_check *c, uint32_t unit);
// "sm_80, sm_90a and compute_90": the targets of a unit.
struct cs_str cs_check_targets_text(struct cs_check *c, uint32_t unit);
// The last part of an input's path: what findings about the whole input name.
struct cs_str cs_check_input_name(const struct cs_check *c, uint32_t input);
// May findings of this library not fail the gate?
bool cs_check_exempt(const struct cs_check *c, uint32_t library);

static inline const char *cs_plural(uint64_t n) { return n == 1 ? "" : "s"; }

// The rows judged without regard to drivers: [0, cs_check_free_rows).
static inline uint32_t cs_check_free_rows(const struct cs_check *c) {
    return c->options->device_count;
}

// Judgements, each in a file of its own.  They add findings and facts.
void cs_check_expect(struct cs_check *c);   // check_expect.c: promised devices and targets
void cs_check_drivers(struct cs_check *c);  // check_driver.c: floor, PTX, forecast
void cs_check_storage(struct cs_check *c);  // check_storage.c: dead and raw images
void cs_check_reading(struct cs_check *c);  // check.c: what could not be read
void cs_check_files(struct cs_check *c);    // check_files.c: ELF rules
// check_link.c: spans, and what a link will give.  CS_USAGE when there is nothing to link.
enum cs_code cs_check_limits(struct cs_check *c, struct cs_err *err) CS_MUST_USE;
// check_budget.c: sizes against limits.
enum cs_code cs_check_budgets(struct cs_check *c, struct cs_err *err) CS_MUST_USE;
// check_wheel.c: ZIP, RECORD, tags.  Reads the wheels once more.
enum cs_code cs_check_wheels(struct cs_check *c, struct cs_err *err) CS_MUST_USE;

// The promise that applies to a unit: a list, or none.
enum cs_promise { CS_PROMISE_NONE, CS_PROMISE_LIST, CS_PROMISE_NOTHING };
enum cs_promise cs_check_promise(const struct cs_check *c, uint32_t unit,
                                 const struct cs_archlist **list, struct cs_str *origin);

#endif
