// The GitHub renderer: output for the log of a GitHub Actions job.
//
// Findings become workflow commands, so that they are shown as annotations; everything else is the
// text report in a fold of its own.  The log is a command channel ("::name::" at the start of a
// line, "##[name]" anywhere), so text from files is taken out of command position.
#include "base/mem.h"
#include "report/clean.h"
#include "report/render.h"

// Message text of a command: once line breaks are gone, '%' needs an escape, and "##[" would start
// an old-style command of its own.
static void escaped(struct cs_buf *out, struct cs_buf *tmp, struct cs_str s) {
    cs_render_reuse(out, tmp);
    cs_clean(tmp, s);
    for (size_t i = 0; i < tmp->len; i++) {
        if (tmp->ptr[i] == '%') {
            cs_buf_adds(out, "%25");
        } else if (tmp->ptr[i] == '#' && tmp->ptr[i + 1] == '#') {
            cs_buf_adds(out, "\\x23");
        } else {
            cs_buf_addc(out, tmp->ptr[i]);
        }
    }
}

static void put_finding(const struct cs_doc_finding *f, struct cs_buf *out, struct cs_buf *tmp) {
    static const char *const commands[] = {[CS_SEVERITY_NOTE] = "notice",
                                           [CS_SEVERITY_WARNING] = "warning",
                                           [CS_SEVERITY_ERROR] = "error"};
    cs_buf_printf(out, "::%s title=%s %s::", commands[f->severity], f->rule, f->slug);
    if (f->where.len > 0) {
        escaped(out, tmp, f->where);
        cs_buf_adds(out, ": ");
    }
    escaped(out, tmp, f->message);
    if (f->advice.len > 0) {
        cs_buf_addc(out, ' ');
        escaped(out, tmp, f->advice);
    }
    cs_buf_addc(out, '\n');
}

// Copies text whose lines must not be taken for commands.
static void put_inert(struct cs_buf *out, struct cs_str s) {
    bool line_start = true;
    for (size_t i = 0; i < s.len; i++) {
        const bool two = i + 1 < s.len;
        if (two && line_start && s.ptr[i] == ':' && s.ptr[i + 1] == ':') {
            cs_buf_adds(out, "\\x3A");
        } else if (two && s.ptr[i] == '#' && s.ptr[i + 1] == '#') {
            cs_buf_adds(out, "\\x23");
        } else {
            cs_buf_addc(out, s.ptr[i]);
        }
        line_start = s.ptr[i] == '\n' || (line_start && s.ptr[i] == ' ');
    }
}

void cs_render_github(const struct cs_doc *d, const struct cs_render *how, struct cs_buf *out) {
    struct cs_buf tmp;
    cs_buf_init(&tmp, out->max);
    // The text report without the findings, which are commands already.
    struct cs_doc rest = *d;
    rest.blocks.ptr = NULL;
    rest.blocks.count = rest.blocks.cap = 0;
    for (size_t i = 0; i < d->blocks.count; i++) {
        if (d->blocks.ptr[i].type == CS_BLOCK_FINDING) {
            put_finding(&d->blocks.ptr[i].finding, out, &tmp);
            continue;
        }
        struct cs_block *b = cs_vec_push(&rest.blocks);
        if (!b) {
            tmp.failed = CS_NOMEM;
            break;
        }
        *b = d->blocks.ptr[i];
    }
    if (rest.blocks.count > 0) {
        const struct cs_render plain = {CS_REPORT_TEXT, how->width, false, how->full_names};
        cs_buf_adds(out, "::group::");
        escaped(out, &tmp, cs_str_from(d->title ? d->title : "cuslim"));
        cs_buf_addc(out, '\n');
        rest.title = NULL;
        cs_render_reuse(out, &tmp);
        cs_render_text(&rest, &plain, &tmp);
        put_inert(out, cs_buf_str(&tmp));
        cs_buf_adds(out, "::endgroup::\n");
    }
    cs_render_reuse(out, &tmp);
    cs_vec_fini(&rest.blocks);
    cs_buf_fini(&tmp);
}
