// Findings about files: what was seen while each was in memory, told in the order of the input.
#include "analysis/check_work.h"

enum { NEAR_PERCENT = 90 };  // of the limit: the next build may not link

static void report_span(struct cs_check *c, struct cs_str where, const struct cs_check_span *s) {
    if (s->bytes == 0 || s->bytes / NEAR_PERCENT < s->limit_bytes / 100) {
        return;
    }
    const bool over = s->bytes >= s->limit_bytes;
    cs_check_add_as(c, "span-over-2gib", over ? CS_SEVERITY_ERROR : CS_SEVERITY_WARNING, where,
                    CS_STR("Fewer targets, compressed device code, or a linker script that puts "
                           "device code last: cuslim check --link --linker-script FILE OBJECTS."),
                    "%.*s to %.*s: %s of %s, %s of it device code%s%.*s", (int)s->from.len,
                    s->from.ptr, (int)s->to.len, s->to.ptr, cs_check_size(c, s->bytes),
                    cs_check_size(c, s->limit_bytes), cs_check_size(c, s->device_bytes),
                    s->between.len ? " in " : "", (int)s->between.len, s->between.ptr);
}

void cs_check_files(struct cs_check *c) {
    for (uint32_t i = 0; c->options->looks && i < c->inv->inputs.count; i++) {
        const struct cs_check_look *l = &c->options->looks[i];
        for (size_t k = 0; k < l->files.count; k++) {
            const struct cs_check_file *f = &l->files.ptr[k];
            for (uint32_t n = 0; n < f->fact_count; n++) {
                const struct cs_check_fact *x = &l->facts.ptr[f->first_fact + n];
                cs_check_add_as(c, x->slug, x->severity, f->path, x->advice, "%.*s",
                                (int)x->message.len, x->message.ptr);
            }
            report_span(c, f->path, &f->span);
        }
    }
}
