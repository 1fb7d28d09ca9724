// Arch lists in every notation, conversions, lint, and both intersections of a text with itself.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "model/intersect.h"

enum { MOST = 1 << 13 };

static void check(int ok) {
    if (!ok) {
        abort();
    }
}

// What was written must read back, and then write the same again.
static void round_trip(const struct cs_archlist *list, enum cs_notation to) {
    struct cs_buf first, second;
    cs_buf_init(&first, 1 << 16);
    cs_buf_init(&second, 1 << 16);
    if (cs_archlist_print(list, to, &first, NULL) == CS_OK && first.len) {
        struct cs_archlist back;
        cs_archlist_init(&back);
        const struct cs_archlist_options options = {.notation = to};
        check(cs_archlist_parse(&back, cs_buf_str(&first), &options, NULL) == CS_OK);
        check(cs_archlist_print(&back, to, &second, NULL) == CS_OK);
        check(cs_str_eq(cs_buf_str(&first), cs_buf_str(&second)));
        cs_archlist_fini(&back);
    }
    cs_buf_fini(&first);
    cs_buf_fini(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > MOST) {
        return 0;  // every notation and conversion is tried: long texts are slow, and no richer
    }
    const struct cs_str text = {(const char *)data, size};
    for (int n = CS_NOTATION_AUTO; n <= CS_NOTATION_TARGETS; n++) {
        for (int collect = 0; collect < 2; collect++) {
            struct cs_archlist list;
            struct cs_err err = {0};
            cs_archlist_init(&list);
            const struct cs_archlist_options options = {.notation = (enum cs_notation)n,
                                                        .toolkit_x10 = size % 3 ? 0 : 130,
                                                        .collect = collect};
            if (cs_archlist_parse(&list, text, &options, &err) == CS_OK) {
                struct cs_intersection x;
                cs_intersection_init(&x);
                (void)!cs_intersect(&list, &list, &x, NULL);
                cs_intersection_fini(&x);
                for (int to = CS_NOTATION_TORCH; !collect && to <= CS_NOTATION_TARGETS; to++) {
                    round_trip(&list, (enum cs_notation)to);
                }
                cs_archlist_lint(&list, &list);
            } else {
                check(err.count > 0);
            }
            cs_archlist_fini(&list);
        }
    }
    struct cs_buf out;
    cs_buf_init(&out, 1 << 16);
    const struct cs_str half = {text.ptr, size / 2};
    (void)!cs_intersect_vllm(half, text, &out, NULL);
    cs_buf_fini(&out);
    return 0;
}
