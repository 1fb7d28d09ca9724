// Building documents, and what all renderers share.
#include "report/report.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/size.h"
#include "report/clean.h"
#include "report/render.h"

void cs_doc_init(struct cs_doc *d, const char *title) {
    *d = (struct cs_doc){.title = title};
    cs_arena_init(&d->arena);
}

void cs_doc_fini(struct cs_doc *d) {
    for (size_t i = 0; i < d->blocks.count; i++) {
        if (d->blocks.ptr[i].table) {
            cs_vec_fini(&d->blocks.ptr[i].table->cells);
        }
    }
    cs_vec_fini(&d->spare_table.cells);
    cs_vec_fini(&d->blocks);
    cs_vec_fini(&d->facts);
    cs_arena_fini(&d->arena);
}

static struct cs_block *add_block(struct cs_doc *d, enum cs_block_type type) {
    struct cs_block *b = cs_vec_push(&d->blocks);
    if (!b) {
        d->failed = CS_NOMEM;
        return NULL;
    }
    b->type = type;
    return b;
}

static struct cs_block *last_block(const struct cs_doc *d) {
    return d->blocks.count ? &d->blocks.ptr[d->blocks.count - 1] : NULL;
}

void cs_doc_fact(struct cs_doc *d, const char *label, enum cs_col_type type, struct cs_cell cell) {
    struct cs_block *b = last_block(d);
    if (!b || b->type != CS_BLOCK_FACTS) {
        b = add_block(d, CS_BLOCK_FACTS);
        if (!b) {
            return;
        }
        b->first = (uint32_t)d->facts.count;
    }
    struct cs_fact *f = cs_vec_push(&d->facts);
    if (!f) {
        d->failed = CS_NOMEM;
        return;
    }
    *f = (struct cs_fact){label, type, cell};
    b->count++;
}

struct cs_table *cs_doc_table(struct cs_doc *d, const char *title, const struct cs_col *cols,
                              uint32_t col_count) {
    CS_ASSERT(col_count > 0 && col_count <= CS_TABLE_COLS_MAX);
    struct cs_table *t = cs_arena_alloc(&d->arena, sizeof *t);
    struct cs_block *b = t ? add_block(d, CS_BLOCK_TABLE) : NULL;
    if (b) {
        b->table = t;
    } else {
        d->failed = CS_NOMEM;
        t = &d->spare_table;
        cs_vec_fini(&t->cells);
    }
    *t = (struct cs_table){.doc = d, .title = title, .cols = cols, .col_count = col_count};
    return t;
}

struct cs_cell *cs_table_row(struct cs_table *t) {
    struct cs_cell *row = cs_vec_push_n(&t->cells, t->col_count);
    if (!row) {
        t->doc->failed = CS_NOMEM;
        row = t->doc->spare;
    }
    for (uint32_t i = 0; i < t->col_count; i++) {
        row[i].none = true;
    }
    return row;
}

// The first name column, or where there is none, the first text column.
static uint32_t label_column(const struct cs_table *t) {
    uint32_t label = t->col_count;
    for (uint32_t i = t->col_count; i-- > 0;) {
        if (t->cols[i].type == CS_COL_NAME) {
            label = i;
        }
    }
    for (uint32_t i = 0; i < t->col_count && label == t->col_count; i++) {
        if (t->cols[i].type == CS_COL_TEXT) {
            label = i;
        }
    }
    return label;
}

struct cs_cell *cs_table_others(struct cs_table *t, uint64_t count) {
    t->others = count;
    struct cs_cell *row = cs_table_row(t);
    const uint32_t label = label_column(t);
    if (label < t->col_count) {
        row[label] = cs_cell_str(cs_doc_printf(t->doc, "[%llu other%s]", (unsigned long long)count,
                                               count == 1 ? "" : "s"));
    }
    return row;
}

void cs_table_may_drop(struct cs_table *t, const char *key) {
    for (uint32_t i = 0; i < t->col_count; i++) {
        if (strcmp(t->cols[i].key, key) == 0 && t->droppable_count < CS_TABLE_DROPS_MAX) {
            t->droppable[t->droppable_count++] = i;
        }
    }
}

uint64_t cs_table_rows(const struct cs_table *t) { return t->cells.count / t->col_count; }

static struct cs_str vformat(struct cs_doc *d, const char *fmt, va_list args) {
    va_list again;
    va_copy(again, args);
    const int len = vsnprintf(NULL, 0, fmt, args);
    char *text = len >= 0 ? cs_arena_alloc(&d->arena, (size_t)len + 1) : NULL;
    if (text) {
        vsnprintf(text, (size_t)len + 1, fmt, again);
    } else {
        d->failed = CS_NOMEM;
    }
    va_end(again);
    return text ? (struct cs_str){text, (size_t)len} : CS_STR("");
}

struct cs_str cs_doc_printf(struct cs_doc *d, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    const struct cs_str s = vformat(d, fmt, args);
    va_end(args);
    return s;
}

void cs_doc_text(struct cs_doc *d, const char *title, const char *fmt, ...) {
    struct cs_block *b = add_block(d, CS_BLOCK_TEXT);
    if (b) {
        va_list args;
        va_start(args, fmt);
        b->title = title;
        b->text = vformat(d, fmt, args);
        va_end(args);
    }
}

void cs_doc_note(struct cs_doc *d, const char *fmt, ...) {
    struct cs_block *b = add_block(d, CS_BLOCK_NOTE);
    if (b) {
        va_list args;
        va_start(args, fmt);
        b->text = vformat(d, fmt, args);
        va_end(args);
    }
}

void cs_doc_finding(struct cs_doc *d, const struct cs_doc_finding *finding) {
    struct cs_block *b = add_block(d, CS_BLOCK_FINDING);
    if (b) {
        b->finding = *finding;
    }
}

struct cs_cell cs_cell_share(uint64_t part, uint64_t whole) {
    if (whole == 0) {
        return cs_cell_none();
    }
    const unsigned __int128 twice = (unsigned __int128)part * 20000 + whole;
    return cs_cell_u64((uint64_t)(twice / 2 / whole));
}

static void percent(struct cs_buf *out, uint64_t hundredths) {
    cs_buf_printf(out, "%llu.%02llu", (unsigned long long)hundredths / 100,
                  (unsigned long long)hundredths % 100);
}

void cs_render_raw_cell(struct cs_buf *out, enum cs_col_type type, const struct cs_cell *cell) {
    if (cell->none) {
        return;
    }
    switch (type) {
    case CS_COL_NAME:
    case CS_COL_TEXT:
    case CS_COL_FIGURE: cs_clean(out, cell->text); return;
    case CS_COL_BYTES:
    case CS_COL_COUNT: cs_buf_printf(out, "%llu", (unsigned long long)cell->u); return;
    case CS_COL_DELTA: cs_buf_printf(out, "%lld", (long long)cell->i); return;
    case CS_COL_PERCENT: percent(out, cell->u); return;
    case CS_COL_OFFSET: cs_buf_printf(out, "0x%llx", (unsigned long long)cell->u); return;
    }
}

void cs_render_cell(struct cs_buf *out, enum cs_col_type type, const struct cs_cell *cell) {
    char size[CS_SIZE_TEXT_BYTES];
    if (cell->none) {
        cs_buf_addc(out, '-');
    } else if (type == CS_COL_BYTES) {
        cs_size_text(cell->u, size);
        cs_buf_adds(out, size);
    } else if (type == CS_COL_DELTA) {
        cs_size_delta_text(cell->i, size);
        cs_buf_adds(out, size);
    } else {
        cs_render_raw_cell(out, type, cell);
        if (type == CS_COL_PERCENT) {
            cs_buf_adds(out, " %");
        }
    }
}

void cs_render_backslashed(struct cs_buf *out, struct cs_str s, const char *special) {
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] && strchr(special, s.ptr[i])) {
            cs_buf_addc(out, '\\');
        }
        cs_buf_addc(out, s.ptr[i]);
    }
}

enum cs_code cs_report_render(const struct cs_doc *d, const struct cs_render *how,
                              struct cs_buf *out, struct cs_err *err) {
    if (d->failed != CS_OK) {
        return cs_fail(err, d->failed, "no memory for the report");
    }
    switch (how->format) {
    case CS_REPORT_TEXT: cs_render_text(d, how, out); break;
    case CS_REPORT_CSV: cs_render_csv(d, out); break;
    case CS_REPORT_MARKDOWN: cs_render_markdown(d, out); break;
    case CS_REPORT_HTML: cs_render_html(d, out); break;
    case CS_REPORT_GITHUB: cs_render_github(d, how, out); break;
    case CS_REPORT_JSON: return cs_fail(err, CS_INTERNAL, "JSON is not made from documents");
    }
    return cs_buf_check(out, err);
}
