// The HTML renderer: one self-contained page without scripts.
//
// Every text is escaped; the page forbids itself to load anything.
#include "report/clean.h"
#include "report/render.h"

static const char head[] =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<style>\n"
    "body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em}\n"
    "table{border-collapse:collapse;margin:1em 0}\n"
    "th,td{padding:.2em .8em .2em 0;text-align:left;vertical-align:top}\n"
    "th{border-bottom:1px solid #999}\n"
    "td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}\n"
    "td.t{font-family:monospace;overflow-wrap:anywhere}\n"
    ".error{color:#b00020}.warning{color:#8a5a00}\n"
    "@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}.error{color:#ff7a85}"
    ".warning{color:#ffc24d}}\n"
    "</style>\n";

static void escaped(struct cs_buf *out, struct cs_str s) {
    for (size_t i = 0; i < s.len; i++) {
        switch (s.ptr[i]) {
        case '&': cs_buf_adds(out, "&amp;"); break;
        case '<': cs_buf_adds(out, "&lt;"); break;
        case '>': cs_buf_adds(out, "&gt;"); break;
        case '"': cs_buf_adds(out, "&quot;"); break;
        case '\'': cs_buf_adds(out, "&#39;"); break;
        default: cs_buf_addc(out, s.ptr[i]);
        }
    }
}

static void text(struct cs_buf *out, struct cs_buf *tmp, struct cs_str s) {
    cs_render_reuse(out, tmp);
    cs_clean(tmp, s);
    escaped(out, cs_buf_str(tmp));
}

static void cell(struct cs_buf *out, struct cs_buf *tmp, enum cs_col_type type,
                 const struct cs_cell *c) {
    cs_render_reuse(out, tmp);
    cs_render_cell(tmp, type, c);
    escaped(out, cs_buf_str(tmp));
}

static void heading(struct cs_buf *out, struct cs_buf *tmp, const char *tag, const char *title) {
    if (title) {
        cs_buf_printf(out, "<%s>", tag);
        text(out, tmp, cs_str_from(title));
        cs_buf_printf(out, "</%s>\n", tag);
    }
}

static void put_table(const struct cs_table *t, struct cs_buf *out, struct cs_buf *tmp) {
    heading(out, tmp, "h2", t->title);
    cs_buf_adds(out, "<table>\n<tr>");
    for (uint32_t c = 0; c < t->col_count; c++) {
        cs_buf_adds(out, cs_col_is_text(t->cols[c].type) ? "<th>" : "<th class=\"n\">");
        text(out, tmp, cs_str_from(t->cols[c].title));
        cs_buf_adds(out, "</th>");
    }
    cs_buf_adds(out, "</tr>\n");
    for (size_t i = 0; i < t->cells.count; i++) {
        const uint32_t c = (uint32_t)(i % t->col_count);
        cs_buf_adds(out, c == 0 ? "<tr>" : "");
        cs_buf_printf(out, "<td class=\"%c\">", cs_col_is_text(t->cols[c].type) ? 't' : 'n');
        cell(out, tmp, t->cols[c].type, &t->cells.ptr[i]);
        cs_buf_adds(out, c + 1 == t->col_count ? "</td></tr>\n" : "</td>");
    }
    cs_buf_adds(out, "</table>\n");
}

static void put_facts(const struct cs_fact *f, uint32_t count, struct cs_buf *out,
                      struct cs_buf *tmp) {
    cs_buf_adds(out, "<table>\n");
    for (uint32_t i = 0; i < count; i++) {
        cs_buf_adds(out, "<tr><td>");
        text(out, tmp, cs_str_from(f[i].label));
        cs_buf_printf(out, "</td><td class=\"%c\">", cs_col_is_text(f[i].type) ? 't' : 'n');
        cell(out, tmp, f[i].type, &f[i].cell);
        cs_buf_adds(out, "</td></tr>\n");
    }
    cs_buf_adds(out, "</table>\n");
}

static void put_block(const struct cs_doc *d, const struct cs_block *b, struct cs_buf *out,
                      struct cs_buf *tmp) {
    switch (b->type) {
    case CS_BLOCK_FACTS: put_facts(d->facts.ptr + b->first, b->count, out, tmp); return;
    case CS_BLOCK_TABLE: put_table(b->table, out, tmp); return;
    case CS_BLOCK_FINDING: {
        const char *severity = cs_severity_name(b->finding.severity);
        cs_buf_printf(out, "<p><b class=\"%s\">%s</b> %s %s<br>", severity, severity,
                      b->finding.rule, b->finding.slug);
        text(out, tmp, b->finding.where);
        cs_buf_adds(out, "<br>");
        text(out, tmp, b->finding.message);
        cs_buf_adds(out, "<br>");
        text(out, tmp, b->finding.advice);
        cs_buf_adds(out, "</p>\n");
        return;
    }
    case CS_BLOCK_NOTE:
    case CS_BLOCK_TEXT:
        heading(out, tmp, "h2", b->title);
        cs_buf_adds(out, b->type == CS_BLOCK_NOTE ? "<p><i>" : "<p>");
        text(out, tmp, b->text);
        cs_buf_adds(out, b->type == CS_BLOCK_NOTE ? "</i></p>\n" : "</p>\n");
        return;
    }
}

void cs_render_html(const struct cs_doc *d, struct cs_buf *out) {
    struct cs_buf tmp;
    cs_buf_init(&tmp, out->max);
    cs_buf_adds(out, head);
    heading(out, &tmp, "title", d->title ? d->title : "cuslim");
    cs_buf_adds(out, "</head>\n<body>\n");
    heading(out, &tmp, "h1", d->title);
    for (size_t i = 0; i < d->blocks.count; i++) {
        put_block(d, &d->blocks.ptr[i], out, &tmp);
    }
    cs_buf_adds(out, "</body>\n</html>\n");
    cs_render_reuse(out, &tmp);
    cs_buf_fini(&tmp);
}
