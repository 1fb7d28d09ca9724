// What `cuslim size` shows: one result, described once for people and once as JSON.
#ifndef CS_REPORT_SIZE_REPORT_H
#define CS_REPORT_SIZE_REPORT_H

#include "analysis/duplicates.h"
#include "analysis/size.h"
#include "analysis/size_origin.h"
#include "format/json.h"
#include "report/report.h"

enum { CS_SIZE_TABLES_MAX = 4 };

struct cs_size_table {
    const char *title;
    struct cs_size size;
    enum cs_size_key by[CS_SIZE_KEY_COUNT];
    uint32_t by_count;
    uint64_t top;   // rows shown; UINT64_MAX = all
    bool compact;   // few columns, so that long names have room
};

struct cs_size_report {
    const struct cs_inventory *inv;
    struct cs_size_totals totals;
    struct cs_size_table tables[CS_SIZE_TABLES_MAX];
    uint32_t table_count;
    bool wheel_bytes;    // the wheel column is known
    bool resources;      // show registers, shared memory, ...
    enum cs_size_metric metric;
    const struct cs_name_table *names;
    const struct cs_duplicates *duplicates;  // NULL = not asked for
    const struct cs_origin *origin;          // NULL = not --style table
    uint64_t top;
};

void cs_size_report_doc(const void *report, struct cs_doc *doc);
void cs_size_report_json(const void *report, struct cs_json *json);

#endif
