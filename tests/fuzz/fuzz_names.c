// Names: any text, and that text demangled.
#include <stdint.h>
#include <stdlib.h>

#include "format/demangle.h"
#include "model/names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void all_forms(struct cs_str s) {
    struct cs_buf out;
    cs_buf_init(&out, 64u << 20);
    struct cs_str args[3];
    cs_name_short(s, &out);
    if (out.len > s.len || cs_name_namespace(cs_buf_str(&out)).len > out.len) {
        abort();
    }
    cs_buf_clear(&out);
    (void)cs_name_unwrap(s, &out);
    (void)cs_name_args(s, args, 3);
    struct cs_name_parts p;
    cs_name_split(s, &p);
    if (p.result.len + p.path.len + p.params.len + p.tail.len > s.len ||
        cs_name_group(s).len > s.len) {
        abort();
    }
    cs_buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct cs_str text = {(const char *)data, size};
    struct cs_buf full;
    cs_buf_init(&full, 64u << 20);
    all_forms(text);
    if (cs_demangle(text, &full)) {
        all_forms(cs_buf_str(&full));
    }
    cs_buf_fini(&full);
    return 0;
}
