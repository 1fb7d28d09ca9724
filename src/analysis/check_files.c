// Findings about files: what was seen while each was in memory, told in the order of the input.
#include "analysis/check_work.h"

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
        }
    }
}
