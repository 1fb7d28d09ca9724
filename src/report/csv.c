// The CSV renderer (RFC 4180, but lines end in LF): the document's main table with full values.
//
// One file holds one table, so that any reader takes it: the first table that is not secondary;
// where there is none, the findings; without these, facts and paragraphs as two columns.  A text
// field that a spreadsheet would run as a formula is given a leading apostrophe.
#include "report/clean.h"
#include "report/render.h"

static void field(struct cs_buf *out, struct cs_buf *tmp, bool text, bool last) {
    const struct cs_str s = cs_buf_str(tmp);
    const bool formula = text && s.len > 0 && strchr("=+-@", s.ptr[0]);
    bool quote = false;
    for (size_t i = 0; i < s.len && !quote; i++) {
        quote = s.ptr[i] == '"' || s.ptr[i] == ',';
    }
    if (quote) {
        cs_buf_addc(out, '"');
    }
    if (formula) {
        cs_buf_addc(out, '\'');
    }
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '"') {
            cs_buf_addc(out, '"');
        }
        cs_buf_addc(out, s.ptr[i]);
    }
    if (quote) {
        cs_buf_addc(out, '"');
    }
    cs_buf_addc(out, last ? '\n' : ',');
    cs_render_reuse(out, tmp);
}

static void text_field(struct cs_buf *out, struct cs_buf *tmp, struct cs_str s, bool last) {
    cs_clean(tmp, s);
    field(out, tmp, true, last);
}

static void table_csv(const struct cs_table *t, struct cs_buf *out, struct cs_buf *tmp) {
    for (uint32_t c = 0; c < t->col_count; c++) {
        text_field(out, tmp, cs_str_from(t->cols[c].key), c + 1 == t->col_count);
    }
    for (size_t i = 0; i < t->cells.count; i++) {
        const uint32_t c = (uint32_t)(i % t->col_count);
        cs_render_raw_cell(tmp, t->cols[c].type, &t->cells.ptr[i]);
        field(out, tmp, cs_col_is_text(t->cols[c].type), c + 1 == t->col_count);
    }
}

static void findings_csv(const struct cs_doc *d, struct cs_buf *out, struct cs_buf *tmp) {
    cs_buf_adds(out, "rule,slug,severity,where,message,advice\n");
    for (size_t i = 0; i < d->blocks.count; i++) {
        const struct cs_doc_finding *f = &d->blocks.ptr[i].finding;
        if (d->blocks.ptr[i].type == CS_BLOCK_FINDING) {
            cs_buf_printf(out, "%s,%s,%s,", f->rule, f->slug, cs_severity_name(f->severity));
            text_field(out, tmp, f->where, false);
            text_field(out, tmp, f->message, false);
            text_field(out, tmp, f->advice, true);
        }
    }
}

static void facts_csv(const struct cs_doc *d, struct cs_buf *out, struct cs_buf *tmp) {
    cs_buf_adds(out, "name,value\n");
    for (size_t i = 0; i < d->blocks.count; i++) {
        const struct cs_block *b = &d->blocks.ptr[i];
        for (uint32_t f = b->first; f < b->first + b->count; f++) {
            const struct cs_fact *fact = &d->facts.ptr[f];
            text_field(out, tmp, cs_str_from(fact->label), false);
            cs_render_raw_cell(tmp, fact->type, &fact->cell);
            field(out, tmp, cs_col_is_text(fact->type), true);
        }
        if (b->type == CS_BLOCK_TEXT) {
            text_field(out, tmp, cs_str_from(b->title), false);
            text_field(out, tmp, b->text, true);
        }
    }
}

static bool has_block(const struct cs_doc *d, enum cs_block_type type) {
    for (size_t i = 0; i < d->blocks.count; i++) {
        if (d->blocks.ptr[i].type == type) {
            return true;
        }
    }
    return false;
}

void cs_render_csv(const struct cs_doc *d, struct cs_buf *out) {
    const struct cs_table *table = NULL;
    for (size_t i = 0; i < d->blocks.count && !table; i++) {
        if (d->blocks.ptr[i].type == CS_BLOCK_TABLE && !d->blocks.ptr[i].table->secondary) {
            table = d->blocks.ptr[i].table;
        }
    }
    struct cs_buf tmp;
    cs_buf_init(&tmp, out->max);
    if (table) {
        table_csv(table, out, &tmp);
    } else if (has_block(d, CS_BLOCK_FINDING)) {
        findings_csv(d, out, &tmp);
    } else {
        facts_csv(d, out, &tmp);
    }
    cs_render_reuse(out, &tmp);
    cs_buf_fini(&tmp);
}
