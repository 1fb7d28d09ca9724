// JSON: whatever is accepted can be walked, written, read again, and is then the same text.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_value(struct cs_json *j, const struct cs_jval *v) {
    struct cs_str key;
    const struct cs_jval *item;
    bool b;
    uint64_t x;
    if (cs_jmember(v, 0, &key, &item)) {
        cs_json_object(j);
        for (uint64_t i = 0; cs_jmember(v, i, &key, &item); i++) {
            cs_json_key_str(j, key);
            write_value(j, item);
        }
        cs_json_object_end(j);
    } else if (cs_jat(v, 0)) {
        cs_json_array(j);
        for (uint64_t i = 0; i < cs_jcount(v); i++) {
            write_value(j, cs_jat(v, i));
        }
        cs_json_array_end(j);
    } else if (cs_jbool(v, &b)) {
        cs_json_bool(j, b);
    } else if (cs_ju64(v, &x)) {
        cs_json_u64(j, x);
    } else if (cs_jis_null(v)) {
        cs_json_null(j);
    } else {
        cs_json_str(j, cs_jstr(v));
    }
}

static void write_text(struct cs_view text, struct cs_buf *out) {
    struct cs_jdoc *doc = NULL;
    struct cs_err err = {0};
    if (cs_jdoc_parse(text, &doc, &err) == CS_OK) {
        struct cs_json j;
        cs_json_init(&j, out, true);
        write_value(&j, cs_jdoc_root(doc));
    } else if (err.count == 0) {
        abort();
    }
    cs_jdoc_free(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cs_buf once, twice;
    cs_buf_init(&once, 64u << 20);
    cs_buf_init(&twice, 64u << 20);
    write_text(cs_view_of(data, size), &once);
    if (once.len && cs_buf_check(&once, NULL) == CS_OK) {
        write_text(cs_buf_view(&once), &twice);
        if (!cs_str_eq(cs_buf_str(&once), cs_buf_str(&twice))) {
            abort();
        }
    }
    cs_buf_fini(&once);
    cs_buf_fini(&twice);
    return 0;
}
