// Rules: the table of everything `check` may find, and what `explain` says about it.
#ifndef CS_ANALYSIS_RULES_H
#define CS_ANALYSIS_RULES_H

#include <stdint.h>

#include "base/view.h"

enum cs_severity { CS_SEVERITY_NOTE, CS_SEVERITY_WARNING, CS_SEVERITY_ERROR };
const char *cs_severity_name(enum cs_severity severity);  // "note", "warning", "error"

// Ids and slugs are for scripts: neither ever changes its meaning.
struct cs_rule {
    const char *id;             // "C101"
    const char *slug;           // "uncovered-device"
    enum cs_severity severity;  // unless options or the configuration say otherwise
    const char *summary;        // one clause
    const char *cause;          // why it happens and what it leads to
    const char *example;        // a finding as it is printed, or the situation in numbers
    const char *cure;           // what to do
};

// In order of id.
const struct cs_rule *cs_rule_table(uint32_t *count);
// By id or slug, exactly; NULL when there is none.
const struct cs_rule *cs_rule_find(struct cs_str id_or_slug);

#endif
