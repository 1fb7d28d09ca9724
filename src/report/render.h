// What the renderers share; not for use outside src/report.
#ifndef CS_REPORT_RENDER_H
#define CS_REPORT_RENDER_H

#include "report/report.h"

static inline bool cs_col_is_text(enum cs_col_type type) {
    return type == CS_COL_NAME || type == CS_COL_TEXT;
}

// Empties a scratch buffer for its next use; if it had failed, then so has `out`.
static inline void cs_render_reuse(struct cs_buf *out, struct cs_buf *scratch) {
    if (out->failed == CS_OK) {
        out->failed = scratch->failed;
    }
    cs_buf_clear(scratch);
}

// Appends a cell as people read it, cleaned, at full length: "651.90 MiB", "39.92 %", "-".
void cs_render_cell(struct cs_buf *out, enum cs_col_type type, const struct cs_cell *cell);

// Appends a cell as programs read it: "683573248", "39.92"; text cleaned; nothing when none.
void cs_render_raw_cell(struct cs_buf *out, enum cs_col_type type, const struct cs_cell *cell);

// Appends s with every byte listed in `special` preceded by a backslash.
void cs_render_backslashed(struct cs_buf *out, struct cs_str s, const char *special);

void cs_render_text(const struct cs_doc *d, const struct cs_render *how, struct cs_buf *out);
void cs_render_csv(const struct cs_doc *d, struct cs_buf *out);
void cs_render_markdown(const struct cs_doc *d, struct cs_buf *out);
void cs_render_html(const struct cs_doc *d, struct cs_buf *out);
void cs_render_github(const struct cs_doc *d, const struct cs_render *how, struct cs_buf *out);

#endif
