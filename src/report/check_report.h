// Renderings of a check: facts and findings for people, a flat table for CSV, and JSON.
#ifndef CS_REPORT_CHECK_REPORT_H
#define CS_REPORT_CHECK_REPORT_H

#include "analysis/check.h"
#include "format/json.h"
#include "model/names.h"
#include "report/report.h"

struct cs_check_view {
    const struct cs_check *check;
    struct cs_name_table names;  // of the kernels without code; see cs_check_view_open
};

// Demangles what the report will name.  The check must outlive the view.
enum cs_code cs_check_view_open(const struct cs_check *check, struct cs_pool *pool,
                                struct cs_check_view *out, struct cs_err *err) CS_MUST_USE;
void cs_check_view_close(struct cs_check_view *v);

// These take a struct cs_check_view.  cs_check_flat_doc has one row for each device, driver and
// library; cs_check_json is docs/schema/check.json.
void cs_check_doc(const void *view, struct cs_doc *doc);
void cs_check_flat_doc(const void *view, struct cs_doc *doc);
void cs_check_json(const void *view, struct cs_json *json);

// Kernels that have no code in a cell, each once, in order of appearance.  Freed with cs_vec_fini;
// false when out of memory.
struct cs_check_names {
    CS_VEC(uint32_t) ids;
};
bool cs_check_names_none(const struct cs_check *c, uint32_t library, uint32_t row,
                         struct cs_check_names *out);
// Are the names of a cell listed?  Not those of a library that nobody promised for the device.
bool cs_check_names_listed(const struct cs_check *c, uint32_t library, uint32_t row);

#endif
