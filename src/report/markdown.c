// The Markdown renderer (GitHub's dialect): for pull request comments and job summaries.
//
// Names go into code spans, where nothing but the span's own backtick and the table's bar has a
// meaning; long ones lose their middle, since such pages are read on narrow screens.
#include "report/clean.h"
#include "report/render.h"

enum { NAME_WIDTH = 160 };

static const char specials[] = "\\`*_[]<>#|~&@";

static void prose(struct cs_buf *out, struct cs_buf *tmp, struct cs_str s) {
    cs_render_reuse(out, tmp);
    cs_clean(tmp, s);
    cs_render_backslashed(out, cs_buf_str(tmp), specials);
}

// A code span.  Inside a table a bar must be escaped even there; backticks become apostrophes,
// since a span cannot escape them.
static void code_span(struct cs_buf *out, struct cs_str clean) {
    cs_buf_addc(out, '`');
    for (size_t i = 0; i < clean.len; i++) {
        if (clean.ptr[i] == '|') {
            cs_buf_addc(out, '\\');
        }
        cs_buf_addc(out, clean.ptr[i] == '`' ? '\'' : clean.ptr[i]);
    }
    cs_buf_addc(out, '`');
}

static void put_cell(struct cs_buf *out, struct cs_buf *tmp, struct cs_buf *tmp2,
                     enum cs_col_type type, const struct cs_cell *cell) {
    cs_render_reuse(out, tmp);
    cs_render_cell(tmp, type, cell);
    if (cell->none || type != CS_COL_NAME || tmp->len == 0) {
        cs_render_backslashed(out, cs_buf_str(tmp), cs_col_is_text(type) ? specials : "");
        return;
    }
    cs_render_reuse(out, tmp2);
    cs_clean_shorten(tmp2, cs_buf_str(tmp), NAME_WIDTH);
    code_span(out, cs_buf_str(tmp2));
}

static void put_table(const struct cs_table *t, struct cs_buf *out, struct cs_buf *tmp,
                      struct cs_buf *tmp2) {
    if (t->title) {
        cs_buf_adds(out, "### ");
        prose(out, tmp, cs_str_from(t->title));
        cs_buf_adds(out, "\n\n");
    }
    for (uint32_t c = 0; c < t->col_count; c++) {
        cs_buf_adds(out, "| ");
        prose(out, tmp, cs_str_from(t->cols[c].title));
        cs_buf_addc(out, ' ');
    }
    cs_buf_adds(out, "|\n");
    for (uint32_t c = 0; c < t->col_count; c++) {
        cs_buf_adds(out, cs_col_is_text(t->cols[c].type) ? "|---" : "|---:");
    }
    cs_buf_adds(out, "|\n");
    for (size_t i = 0; i < t->cells.count; i++) {
        const uint32_t c = (uint32_t)(i % t->col_count);
        cs_buf_adds(out, "| ");
        put_cell(out, tmp, tmp2, t->cols[c].type, &t->cells.ptr[i]);
        cs_buf_adds(out, c + 1 == t->col_count ? " |\n" : " ");
    }
}

static void put_finding(const struct cs_doc_finding *f, struct cs_buf *out, struct cs_buf *tmp,
                        struct cs_buf *tmp2) {
    cs_buf_printf(out, "- **%s** %s %s", cs_severity_name(f->severity), f->rule, f->slug);
    if (f->where.len > 0) {
        cs_render_reuse(out, tmp);
        cs_render_reuse(out, tmp2);
        cs_clean(tmp, f->where);
        cs_clean_shorten(tmp2, cs_buf_str(tmp), NAME_WIDTH);
        cs_buf_adds(out, ": ");
        code_span(out, cs_buf_str(tmp2));
    }
    cs_buf_adds(out, "  \n  ");
    prose(out, tmp, f->message);
    if (f->advice.len > 0) {
        cs_buf_adds(out, "  \n  ");
        prose(out, tmp, f->advice);
    }
    cs_buf_addc(out, '\n');
}

static void put_block(const struct cs_doc *d, const struct cs_block *b, struct cs_buf *out,
                      struct cs_buf *tmp, struct cs_buf *tmp2) {
    switch (b->type) {
    case CS_BLOCK_FACTS:
        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            cs_buf_adds(out, "- ");
            prose(out, tmp, cs_str_from(d->facts.ptr[i].label));
            cs_buf_adds(out, ": ");
            put_cell(out, tmp, tmp2, d->facts.ptr[i].type, &d->facts.ptr[i].cell);
            cs_buf_addc(out, '\n');
        }
        return;
    case CS_BLOCK_TABLE: put_table(b->table, out, tmp, tmp2); return;
    case CS_BLOCK_FINDING: put_finding(&b->finding, out, tmp, tmp2); return;
    case CS_BLOCK_NOTE:
        cs_buf_adds(out, "> ");
        prose(out, tmp, b->text);
        cs_buf_addc(out, '\n');
        return;
    case CS_BLOCK_TEXT:
        if (b->title) {
            cs_buf_adds(out, "### ");
            prose(out, tmp, cs_str_from(b->title));
            cs_buf_adds(out, "\n\n");
        }
        prose(out, tmp, b->text);
        cs_buf_addc(out, '\n');
        return;
    }
}

void cs_render_markdown(const struct cs_doc *d, struct cs_buf *out) {
    struct cs_buf tmp, tmp2;
    cs_buf_init(&tmp, out->max);
    cs_buf_init(&tmp2, out->max);
    if (d->title) {
        cs_buf_adds(out, "## ");
        prose(out, &tmp, cs_str_from(d->title));
        cs_buf_addc(out, '\n');
    }
    for (size_t i = 0; i < d->blocks.count; i++) {
        const struct cs_block *b = &d->blocks.ptr[i];
        const bool in_list =
            i > 0 && b->type == CS_BLOCK_FINDING && b[-1].type == CS_BLOCK_FINDING;
        if ((i > 0 || d->title) && !in_list) {
            cs_buf_addc(out, '\n');
        }
        put_block(d, b, out, &tmp, &tmp2);
    }
    cs_render_reuse(out, &tmp);
    cs_render_reuse(out, &tmp2);
    cs_buf_fini(&tmp);
    cs_buf_fini(&tmp2);
}
