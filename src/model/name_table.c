// Name table: the forms of all names of an inventory, in parallel.
//
// Names are cut into as many runs as there are arenas, so that no lock is needed and the text of
// neighbours lies together.  The result depends on neither.
#include "base/limits.h"
#include "base/mem.h"
#include "format/demangle.h"
#include "model/names.h"

enum { RUN_NAMES = 512, TEXT_MAX = 64 << 20 };

struct job {
    const struct cs_intern *mangled;
    const uint8_t *wanted;
    unsigned forms;
    struct cs_name_table *table;
    uint8_t *failed;  // one for each run
};

static bool keep(struct cs_arena *arena, struct cs_str text, struct cs_str *out) {
    *out = cs_arena_str(arena, text);
    return out->ptr != NULL;
}

static bool make_short_forms(unsigned forms, struct cs_arena *arena, struct cs_str full,
                             struct cs_buf *scratch, struct cs_name *n) {
    cs_buf_clear(scratch);
    cs_name_short(full, scratch);
    if (scratch->failed != CS_OK || !keep(arena, cs_buf_str(scratch), &n->short_name)) {
        return false;
    }
    n->name_space = cs_name_namespace(n->short_name);
    if (forms & CS_NAME_UNWRAPPED) {
        cs_buf_clear(scratch);
        n->wrapped = cs_name_unwrap(full, scratch);
        if (scratch->failed != CS_OK) {
            return false;
        }
        n->unwrapped = n->short_name;
        return !n->wrapped || keep(arena, cs_buf_str(scratch), &n->unwrapped);
    }
    return true;
}

static bool make_forms(const struct job *job, struct cs_arena *arena, struct cs_str mangled,
                       struct cs_buf *text, struct cs_buf *scratch, struct cs_name *n) {
    n->demangled = cs_demangle(mangled, text);
    if (text->failed != CS_OK) {
        return false;
    }
    const struct cs_str full = cs_buf_str(text);
    if ((job->forms & CS_NAME_FULL) && !keep(arena, full, &n->full)) {
        return false;
    }
    if (job->forms & CS_NAME_GROUP) {
        const struct cs_str group = cs_name_group(full);
        if (job->forms & CS_NAME_FULL) {
            n->group = (struct cs_str){n->full.ptr, group.len};
        } else if (!keep(arena, group, &n->group)) {
            return false;
        }
    }
    return !(job->forms & (CS_NAME_SHORT | CS_NAME_UNWRAPPED)) ||
           make_short_forms(job->forms, arena, full, scratch, n);
}

static void run(void *ctx, size_t index) {
    const struct job *job = ctx;
    struct cs_buf text, scratch;
    cs_buf_init(&text, TEXT_MAX);
    cs_buf_init(&scratch, TEXT_MAX);
    const uint32_t first = (uint32_t)index * RUN_NAMES;
    for (uint32_t id = first; id < job->table->count && id - first < RUN_NAMES; id++) {
        if ((!job->wanted || job->wanted[id]) &&
            !make_forms(job, &job->table->arenas[index], cs_intern_text(job->mangled, id), &text,
                        &scratch, &job->table->by_id[id])) {
            job->failed[index] = 1;
            break;
        }
    }
    cs_buf_fini(&text);
    cs_buf_fini(&scratch);
}

enum cs_code cs_name_table_make(const struct cs_intern *mangled, const uint8_t *wanted,
                                unsigned forms, struct cs_pool *pool, struct cs_name_table *out,
                                struct cs_err *err) {
    *out = (struct cs_name_table){.count = (uint32_t)mangled->texts.count};
    const uint32_t runs = (out->count + RUN_NAMES - 1) / RUN_NAMES;
    out->by_id = cs_calloc(out->count, sizeof *out->by_id);
    out->arenas = cs_calloc(runs, sizeof *out->arenas);
    out->arena_count = runs;
    uint8_t *failed = cs_calloc(runs, 1);
    bool ok = out->by_id && out->arenas && failed;
    if (ok) {
        struct job job = {mangled, wanted, forms, out, failed};
        cs_pool_for(pool, runs, 1, run, &job);
        ok = !memchr(failed, 1, runs);
    }
    cs_free(failed);
    if (!ok) {
        cs_name_table_fini(out);
        return cs_fail(err, CS_NOMEM, "no memory for the names of kernels");
    }
    return CS_OK;
}

void cs_name_table_fini(struct cs_name_table *t) {
    for (uint32_t i = 0; t->arenas && i < t->arena_count; i++) {
        cs_arena_fini(&t->arenas[i]);
    }
    cs_free(t->arenas);
    cs_free(t->by_id);
    *t = (struct cs_name_table){0};
}
