// What `cuslim slim` says it did, or would do.
#ifndef CS_REPORT_SLIM_REPORT_H
#define CS_REPORT_SLIM_REPORT_H

#include "format/json.h"
#include "report/report.h"
#include "rewrite/slim_run.h"

struct cs_slim_report {
    const struct cs_slim_result *result;
    bool dry_run;
    double seconds;
};

void cs_slim_report_doc(const void *report, struct cs_doc *doc);
void cs_slim_report_json(const void *report, struct cs_json *json);

// Members of the proof file after "schema" and "tool": enough for somebody else to check the output
// against the original.  The run must have been asked to `prove`.
void cs_slim_proof_json(const struct cs_slim_report *report, const struct cs_slim_request *request,
                        struct cs_json *json);

#endif
