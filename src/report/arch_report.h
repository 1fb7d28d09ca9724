// The descriptions of what `cuslim arch` and its sub-commands find, for people and as JSON.
#ifndef CS_REPORT_ARCH_REPORT_H
#define CS_REPORT_ARCH_REPORT_H

#include "analysis/arch.h"
#include "format/json.h"
#include "report/report.h"

struct cs_arch_report {
    struct cs_str input;
    const struct cs_archlist *list;    // as read
    const struct cs_archlist *merged;  // without repetitions
    struct cs_str text;                // in the notation asked for
};
void cs_arch_report_doc(const void *result, struct cs_doc *doc);
void cs_arch_report_json(const void *result, struct cs_json *json);

struct cs_arch_intersect_report {
    struct cs_str source, target;
    const char *as;  // "default", "vllm"
    const struct cs_archlist *result;
    const struct cs_intersection *steps;  // NULL for vllm
    struct cs_str text;
};
void cs_arch_intersect_report_doc(const void *result, struct cs_doc *doc);
void cs_arch_intersect_report_json(const void *result, struct cs_json *json);

struct cs_arch_explain_report {
    struct cs_str input;
    struct cs_driver driver;  // parts 0: none given
    const struct cs_arch_explain *explain;
};
void cs_arch_explain_report_doc(const void *result, struct cs_doc *doc);
void cs_arch_explain_report_json(const void *result, struct cs_json *json);

void cs_arch_lint_report_doc(const void *lint, struct cs_doc *doc);  // struct cs_arch_lint
void cs_arch_lint_report_json(const void *lint, struct cs_json *json);

#endif
