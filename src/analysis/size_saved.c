// Reading back what src/report/size_report.c wrote; docs/schema/size.json is the contract.

#include "analysis/size_saved.h"

#include "base/mem.h"
#include "format/json.h"

static uint64_t number(const struct cs_jval *object, const char *key) {
    uint64_t x = 0;
    return cs_ju64(cs_jget(object, key), &x) ? x : 0;
}

static enum cs_code not_a_report(struct cs_err *err, const char *what) {
    return cs_fail(err, CS_FORMAT, "not a saved size report: %s", what);
}

static enum cs_code check_schema(const struct cs_jval *root, struct cs_err *err) {
    const struct cs_str schema = cs_jstr(cs_jget(root, "schema"));
    if (cs_str_eq(schema, CS_STR("cuslim.size/1"))) {
        return CS_OK;
    }
    if (cs_str_starts(schema, CS_STR("cuslim.size/"))) {
        return cs_fail(err, CS_UNSUPPORTED,
                       "schema %.*s is not known here: a newer cuslim may have written it",
                       (int)schema.len, schema.ptr);
    }
    return cs_fail(err, schema.len ? CS_UNSUPPORTED : CS_FORMAT,
                   "not a saved size report (schema '%.*s', want cuslim.size/1)", (int)schema.len,
                   schema.ptr);
}

static void read_totals(const struct cs_jval *totals, struct cs_size_totals *out) {
    out->has_wheel = cs_ju64(cs_jget(totals, "wheel_bytes"), &out->wheel_bytes);
    out->installed_bytes = number(totals, "installed_bytes");
    out->device_file_bytes = number(totals, "device_file_bytes");
    out->device_wheel_bytes = number(totals, "device_wheel_bytes");
    out->image_bytes = number(totals, "image_bytes");
    out->code_bytes = number(totals, "code_bytes");
    out->ptx_bytes = number(totals, "ptx_bytes");
    out->kernels = (uint32_t)number(totals, "kernels");
    out->distinct_kernels = (uint32_t)number(totals, "distinct_kernels");
    out->images = (uint32_t)number(totals, "images");
    out->containers = (uint32_t)number(totals, "containers");
    out->code_sections = (uint32_t)number(totals, "code_sections");
    out->libraries = (uint32_t)number(totals, "libraries");
}

static enum cs_code read_keys(const struct cs_jval *by, struct cs_size_saved *out,
                              struct cs_err *err) {
    for (uint64_t i = 0; i < cs_jcount(by); i++) {
        const struct cs_str word = cs_jstr(cs_jat(by, i));
        enum cs_size_key key;
        if (out->by_count == CS_SIZE_KEY_COUNT || !cs_size_key_parse(word, &key)) {
            return cs_fail(err, CS_UNSUPPORTED, "the report is grouped by '%.*s', which is not "
                           "known here", (int)word.len, word.ptr);
        }
        out->by[out->by_count++] = key;
    }
    return CS_OK;
}

static enum cs_code read_row(const struct cs_jval *value, struct cs_size_saved *out,
                             struct cs_err *err) {
    const struct cs_jval *key = cs_jget(value, "key");
    struct cs_size_row *row = cs_vec_push(&out->size.rows);
    if (!row) {
        return cs_fail(err, CS_NOMEM, "no memory for the report's rows");
    }
    row->key = cs_arena_alloc(&out->size.arena, (out->by_count + 1) * sizeof *row->key);
    if (!row->key) {
        return cs_fail(err, CS_NOMEM, "no memory for the report's rows");
    }
    for (uint32_t i = 0; i < out->by_count; i++) {
        const struct cs_jval *text = cs_jget(key, cs_size_key_name(out->by[i]));
        if (!text) {
            return not_a_report(err, "a row lacks one of its keys");
        }
        row->key[i] = cs_arena_str(&out->size.arena, cs_jstr(text));
    }
    out->wheel_bytes = cs_ju64(cs_jget(value, "wheel_bytes"), &row->wheel_bytes);
    row->file_bytes = number(value, "file_bytes");
    row->image_bytes = number(value, "image_bytes");
    row->code_bytes = number(value, "code_bytes");
    row->kernels = (uint32_t)number(value, "kernels");
    row->distinct_kernels = (uint32_t)number(value, "distinct_kernels");
    row->images = (uint32_t)number(value, "images");
    row->registers = (uint32_t)number(value, "registers");
    row->barriers = (uint32_t)number(value, "barriers");
    row->shared_bytes = number(value, "shared_bytes");
    row->local_bytes = number(value, "local_bytes");
    row->constant_bytes = number(value, "constant_bytes");
    (void)cs_jbool(cs_jget(value, "estimated"), &row->estimated);
    return CS_OK;
}

static enum cs_code read_inputs(const struct cs_jval *inputs, struct cs_size_saved *out,
                                struct cs_err *err) {
    for (uint64_t i = 0; i < cs_jcount(inputs); i++) {
        struct cs_input *input = cs_vec_push(&out->inputs);
        if (!input) {
            return cs_fail(err, CS_NOMEM, "no memory for the report's inputs");
        }
        const struct cs_jval *value = cs_jat(inputs, i);
        input->path = cs_arena_str(&out->size.arena, cs_jstr(cs_jget(value, "path")));
        input->kind = cs_file_kind_parse(cs_jstr(cs_jget(value, "kind")));
        input->bytes = number(value, "bytes");
    }
    return CS_OK;
}

static enum cs_code read_root(const struct cs_jval *root, struct cs_size_saved *out,
                              struct cs_err *err) {
    CS_TRY(check_schema(root, err));
    const struct cs_jval *totals = cs_jget(root, "totals"), *rows = cs_jget(root, "rows");
    const struct cs_jval *by = cs_jget(root, "by");
    if (!totals || !rows || !by) {
        return not_a_report(err, "it has no totals, keys or rows");
    }
    out->tool_version = cs_arena_str(&out->size.arena,
                                     cs_jstr(cs_jget(cs_jget(root, "tool"), "version")));
    read_totals(totals, &out->size.totals);
    CS_TRY(read_keys(by, out, err));
    CS_TRY(read_inputs(cs_jget(root, "inputs"), out, err));
    for (uint64_t i = 0; i < cs_jcount(rows); i++) {
        CS_TRY(read_row(cs_jat(rows, i), out, err));
    }
    return CS_OK;
}

enum cs_code cs_size_saved_read(struct cs_view text, struct cs_size_saved *out,
                                struct cs_err *err) {
    *out = (struct cs_size_saved){0};
    struct cs_jdoc *doc;
    CS_TRY(cs_jdoc_parse(text, &doc, err));
    const enum cs_code code = read_root(cs_jdoc_root(doc), out, err);
    cs_jdoc_free(doc);
    if (code != CS_OK) {
        cs_size_saved_fini(out);
    }
    return code;
}

void cs_size_saved_fini(struct cs_size_saved *s) {
    cs_size_fini(&s->size);
    cs_vec_fini(&s->inputs);
    *s = (struct cs_size_saved){0};
}
