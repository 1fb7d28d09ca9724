// The descriptions of what `explain` tells.
#ifndef CS_REPORT_EXPLAIN_REPORT_H
#define CS_REPORT_EXPLAIN_REPORT_H

#include "analysis/explain.h"
#include "analysis/rules.h"
#include "format/json.h"
#include "model/device.h"
#include "report/report.h"

// Exactly one of these is set, or none: then all rules are listed.
struct cs_explain_report {
    const struct cs_rule *rule;
    const struct cs_device *device;
    const struct cs_target *target;
    const struct cs_explain_kernel *kernel;
    uint64_t top;  // containers shown for a kernel
};

void cs_explain_doc(const void *report, struct cs_doc *d);
void cs_explain_json(const void *report, struct cs_json *j);

#endif
