// TOML: any text; what is accepted can be walked.
#include <stdint.h>
#include <stdlib.h>

#include "format/toml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct cs_toml_value *v) {
    if (v->line == 0 && v->type != CS_TOML_TABLE && v->type != CS_TOML_ARRAY) {
        abort();
    }
    for (uint32_t i = 0; i < v->count; i++) {
        walk(&v->items[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cs_toml *t = NULL;
    struct cs_err err = {0};
    if (cs_toml_parse(cs_view_of(data, size), &t, &err) == CS_OK) {
        walk(cs_toml_root(t));
    } else if (err.count == 0) {
        abort();
    }
    cs_toml_free(t);
    return 0;
}
