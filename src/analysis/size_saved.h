// Saved reports: a `cuslim size --format json` read back, so that it can be shown again or compared
// without the artifact.
#ifndef CS_ANALYSIS_SIZE_SAVED_H
#define CS_ANALYSIS_SIZE_SAVED_H

#include "analysis/size.h"

struct cs_size_saved {
    struct cs_size size;                     // totals and rows; texts in its arena
    enum cs_size_key by[CS_SIZE_KEY_COUNT];
    uint32_t by_count;
    bool wheel_bytes;                        // rows know their wheel bytes
    struct cs_str tool_version;
    CS_VEC(struct cs_input) inputs;          // path, kind and bytes only
};

// CS_FORMAT for text that is no JSON, or no such report; CS_UNSUPPORTED for a schema version that
// this program does not know.  Keys that it does not know are passed over.
enum cs_code cs_size_saved_read(struct cs_view text, struct cs_size_saved *out,
                                struct cs_err *err) CS_MUST_USE;
void cs_size_saved_fini(struct cs_size_saved *s);

#endif
