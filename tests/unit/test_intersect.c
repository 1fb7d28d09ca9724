// Intersection: the design's table, the table of what vLLM 0.33.0 gives, and properties.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "model/intersect.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

static void read_list(struct cs_archlist *list, const char *text) {
    struct cs_err err = {0};
    const struct cs_archlist_options options = {.notation = CS_NOTATION_TORCH};
    cs_archlist_init(list);
    if (cs_archlist_parse(list, cs_str_from(text), &options, &err) != CS_OK) {
        fail_msg("%s: %s", text, err.frame[0].text);
    }
}

static void run(const char *source, const char *target, struct cs_intersection *x) {
    struct cs_archlist s, t;
    read_list(&s, source);
    read_list(&t, target);
    cs_intersection_init(x);
    assert_int_equal(cs_intersect(&s, &t, x, NULL), CS_OK);
    cs_archlist_fini(&s);
    cs_archlist_fini(&t);
}

static const char *text_of(const struct cs_archlist *list) {
    static char out[512];
    struct cs_buf buf;
    cs_buf_init(&buf, sizeof out - 1);
    assert_int_equal(cs_archlist_print(list, CS_NOTATION_TORCH, &buf, NULL), CS_OK);
    snprintf(out, sizeof out, "%s", buf.ptr ? buf.ptr : "");
    cs_buf_fini(&buf);
    return out;
}

static bool has_note(const struct cs_intersection *x, const char *note) {
    for (size_t i = 0; i < x->notes.count; i++) {
        if (strcmp(x->notes.ptr[i].ptr, note) == 0) {
            return true;
        }
    }
    return false;
}

static void test_table(void **state) {
    (void)state;
    static const struct {
        const char *source, *target, *result;
        uint32_t uncovered;
        const char *note;  // one that must be there
    } rows[] = {
        {"7.5;8.0;8.6;9.0;9.0a", "8.0;8.9;9.0", "8.0;8.6;9.0a", 0,
         "9.0a also serves what 9.0 would"},
        {"8.0+PTX", "9.0", "8.0+PTX", 0, "SASS of 8.0 serves no wanted target, its PTX does"},
        {"8.0+PTX", "7.5;8.0;9.0", "8.0+PTX", 1, "7.5 is uncovered: 8.0 is SASS of another major"},
        {"9.0", "9.0a", "9.0a", 0, NULL},
        {"9.0a", "9.0a;9.0", "9.0a", 0, "9.0 is built as 9.0a"},
        {"10.0;12.0", "10.0;10.0a;10.3", "10.0;10.0a", 0, "10.3 is served by 10.0"},
        {"10.0f", "10.3", "10.0f", 0, "10.3 is served by the family 10.0f"},
        {"10.0f;10.7f", "10.0;10.3;10.7", "10.0f;10.7f", 0, NULL},
        {"10.0a;10.0f", "10.0", "10.0a", 0, "10.0a also serves what 10.0f would"},
        {"9.0a+PTX", "9.0;10.0", "9.0a+PTX", 1,
         "10.0 is uncovered: 9.0a is an `a` image, which runs on exactly its own chip"},
        {"8.0;8.6", "8.7", "", 1,
         "8.7 is uncovered: 8.0 is of the same major but on the other side of the Tegra line"},
        {"8.0;9.0", "8.0;9.0+PTX", "8.0;9.0+PTX", 0, NULL},
        // beyond the table
        {"7.5;8.0", "8.0", "8.0", 0, "7.5 of the source serves no wanted target and is left out"},
        {"8.0+PTX", "8.7", "8.0+PTX", 0, "8.7 is served by PTX of 8.0, compiled at first start"},
        {"8.6+PTX;9.0", "8.9;9.0;10.0", "8.6+PTX;9.0", 0, NULL},
        {"8.0+PTX;9.0+PTX", "8.0;9.0", "8.0+PTX;9.0+PTX", 0, NULL},
        {"9.0a", "9.0+PTX", "9.0a", 0,
         "PTX asked for with 9.0 is not added to 9.0a: it would serve no other chip"},
        {"8.0", "8.9+PTX", "8.0+PTX", 0, NULL},
        {"9.0+PTX", "9.0a", "9.0a+PTX", 0, "PTX of 9.0a serves that chip alone"},
        {"9.0", "9.0a;9.0", "9.0;9.0a", 0, NULL},
        {"10.0", "10.0f", "10.0f", 0, NULL},
        // nvcc refuses the two together
        {"10.0", "10.0;10.0f;10.3", "10.0f", 0,
         "nvcc refuses 10.0 beside 10.0f: 10.0f serves for both"},
        {"10.0+PTX", "10.0f;12.0", "10.0+PTX", 0,
         "nvcc refuses 10.0f beside 10.0: 10.0 serves for both"},
        {"10.0;10.0f", "10.0;10.0f", "10.0f", 0, NULL},
        {"10.0f", "10.0a", "10.0f", 0, "10.0a is built as 10.0f"},
        {"10.0a", "10.0f", "10.0a", 1,
         "10.0f is covered on its own chip alone: 10.0a serves no other of the family"},
        {"10.0a;8.0+PTX", "10.0f", "8.0+PTX;10.0a", 0, NULL},
        {"10.3a;10.0f", "10.3f", "10.0f", 0, NULL},
        {"10.1a", "11.0", "11.0a", 0, NULL},
        {"11.0f", "10.1", "10.1f", 0, NULL},
        {"12.0f", "12.1a", "12.0f", 0, NULL},
        {"10.0f", "12.0", "", 1, "12.0 is uncovered: 10.0f is an `f` image of another family"},
        {"8.6", "8.0", "", 1, "8.0 is uncovered: 8.6 is for something newer"},
        {"12.0", "12.1", "12.0", 0, NULL},
        {"7.5;8.0;8.9;9.0a;10.0f;12.0a", "7.5;8.0;8.6;8.9;9.0;10.0;10.3;12.0;12.1",
         "7.5;8.0;8.9;9.0a;10.0f;12.0a", 1, NULL},
        {"8.0;8.0+PTX", "8.0;9.0", "8.0+PTX", 0, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct cs_intersection x;
        run(rows[i].source, rows[i].target, &x);
        const char *got = text_of(&x.result);
        if (strcmp(got, rows[i].result) != 0 || x.uncovered != rows[i].uncovered) {
            fail_msg("%s | %s: %s, %u uncovered", rows[i].source, rows[i].target, got, x.uncovered);
        }
        if (rows[i].note && !has_note(&x, rows[i].note)) {
            for (size_t n = 0; n < x.notes.count; n++) {
                print_message("note: %s\n", x.notes.ptr[n].ptr);
            }
            fail_msg("%s | %s: no note \"%s\"", rows[i].source, rows[i].target, rows[i].note);
        }
        cs_intersection_fini(&x);
    }
}

// docs/arch.md keeps the same table: what CMake gave for the function of the sdist.
static void test_vllm_table(void **state) {
    (void)state;
    static const struct {
        const char *source, *target, *result;
    } rows[] = {
        {"7.5;8.0;8.6;9.0;9.0a", "8.0;8.9;9.0", "9.0a;8.0;8.6"},
        {"8.0+PTX", "9.0", "8.0+PTX"},
        {"8.0+PTX", "7.5;8.0;8.9;9.0;10.0;12.0", "8.0+PTX"},
        {"8.0+PTX;9.0+PTX", "8.0+PTX;9.0+PTX", "8.0+PTX;9.0+PTX"},
        {"8.0;9.0+PTX", "8.0;8.9;9.0;10.0", "8.0;9.0+PTX"},
        {"8.6+PTX;9.0", "8.9;9.0;10.0", "8.6+PTX;9.0"},
        {"9.0a", "9.0", "9.0a"},
        {"9.0a", "9.0a", "9.0a"},
        {"10.0f;11.0f;12.0f", "10.0;10.3;12.0", "10.0f;12.0f"},
        {"10.0f", "10.3", "10.3"},
        {"10.0a;10.0f", "10.0", "10.0a"},
        {"9.0a+PTX", "9.0;10.0", "9.0a+PTX"},
        {"8.9;12.0;12.1", "8.0;8.6;8.9;9.0;10.0;12.0", "8.9;12.0"},
        {"7.5;8.0;8.7;8.9+PTX", "7.5;8.0;8.6;8.9;9.0;10.0;12.0", "7.5;8.0;8.9+PTX"},
        {"8.0;8.0+PTX", "8.0;9.0", "8.0+PTX"},
        {"7.5;8.0;8.9;9.0a;10.0f;12.0a", "7.5;8.0;8.9;9.0;10.0;12.0",
         "9.0a;10.0f;12.0a;7.5;8.0;8.9"},
        {"12.0f", "12.1a", "12.1a"},
        {"10.0f;10.7f", "10.0;10.3;10.7", "10.0f;10.7f"},
        {"", "8.0", ""},
        {"8.0", "", ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct cs_buf out;
        cs_buf_init(&out, 1000);
        assert_int_equal(
            cs_intersect_vllm(cs_str_from(rows[i].source), cs_str_from(rows[i].target), &out, NULL),
            CS_OK);
        const char *got = out.ptr ? out.ptr : "";
        if (strcmp(got, rows[i].result) != 0) {
            fail_msg("%s | %s: %s", rows[i].source, rows[i].target, got);
        }
        cs_buf_fini(&out);
    }
}

static void test_vllm_errors(void **state) {
    (void)state;
    struct cs_err err = {0};
    struct cs_buf out;
    char text[256];
    cs_buf_init(&out, 1000);
    assert_int_equal(cs_intersect_vllm(CS_STR("8.0;9.0x"), CS_STR("8.0"), &out, &err), CS_USAGE);
    cs_err_format(&err, text, sizeof text);
    assert_string_equal(text,
                        "source list: \"9.0x\" at character 5: not X.Y, X.Ya, X.Yf with or "
                        "without +PTX; nearest is \"9.0a\"");
    cs_buf_fini(&out);
}

static void test_refusals(void **state) {
    (void)state;
    static const struct {
        const char *source;
        enum cs_notation notation;
        const char *error;
    } rows[] = {
        {"90-virtual", CS_NOTATION_CMAKE,
         "source list: PTX alone from compute_90: intersection is of SASS targets, each compiled "
         "from "
         "its own number, with or without +PTX"},
        {"all", CS_NOTATION_CMAKE,
         "source list: \"all\" depends on the toolkit or the machine; expand it first"},
        {"8.6(8.0)", CS_NOTATION_TORCH,
         "source list: sm_86 from compute_80: intersection is of SASS targets, each compiled from "
         "its own number, with or without +PTX"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct cs_archlist s, t;
        struct cs_intersection x;
        struct cs_err err = {0};
        char text[256];
        const struct cs_archlist_options options = {.notation = rows[i].notation};
        cs_archlist_init(&s);
        assert_int_equal(cs_archlist_parse(&s, cs_str_from(rows[i].source), &options, NULL), CS_OK);
        read_list(&t, "9.0");
        cs_intersection_init(&x);
        assert_int_equal(cs_intersect(&s, &t, &x, &err), CS_UNSUPPORTED);
        cs_err_format(&err, text, sizeof text);
        assert_string_equal(text, rows[i].error);
        cs_intersection_fini(&x);
        cs_archlist_fini(&s);
        cs_archlist_fini(&t);
    }
}

static uint64_t random_state;
static uint32_t below(uint32_t n) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 20) % n);
}

static void random_list(struct cs_archlist *list, uint32_t most) {
    uint32_t count;
    const struct cs_target_row *rows = cs_target_table(&count);
    cs_archlist_init(list);
    list->notation = CS_NOTATION_TORCH;
    for (uint32_t n = 1 + below(most); n > 0; n--) {
        const struct cs_target_row *row = &rows[below(count)];
        struct cs_arch_entry e = {.real = {row->arch, row->suffix, false},
                                  .virt = {row->arch, row->suffix, true},
                                  .sass = true,
                                  .ptx = below(4) == 0};
        assert_true(cs_archlist_add(list, e));
    }
}

static void shuffle(struct cs_archlist *list) {
    for (size_t i = list->entries.count; i > 1; i--) {
        const size_t k = below((uint32_t)i);
        const struct cs_arch_entry e = list->entries.ptr[i - 1];
        list->entries.ptr[i - 1] = list->entries.ptr[k];
        list->entries.ptr[k] = e;
    }
}

static enum cs_outcome outcome(const struct cs_archlist *list, struct cs_device d) {
    struct cs_archlist_images images = {0};
    assert_int_equal(cs_archlist_to_images(list, 0, &images, NULL), CS_OK);
    const struct cs_selection s =
        cs_select(images.images.ptr, (uint32_t)images.images.count, d, NULL);
    cs_archlist_images_fini(&images);
    return s.outcome;
}

// The names of one chip count as one here: what CUDA 12 calls 10.1.
static void one_name(struct cs_archlist *list) {
    for (size_t i = 0; i < list->entries.count; i++) {
        if (list->entries.ptr[i].real.arch == 101) {
            list->entries.ptr[i].real.arch = list->entries.ptr[i].virt.arch = 110;
        }
    }
}

// 100,000 cases.  Judged by run-time selection, not by the rules: on the chip of every wanted
// target, what is built runs as well as the whole source would, and where it does not run at all
// that is reported; and the order of the lists does not matter.
static void test_properties(void **state) {
    (void)state;
    const uint64_t seed = 20260301;
    random_state = seed;
    for (uint32_t round = 0; round < 100000; round++) {
        struct cs_archlist s, t;
        random_list(&s, 7);
        random_list(&t, 6);
        struct cs_intersection x, y;
        cs_intersection_init(&x);
        cs_intersection_init(&y);
        assert_int_equal(cs_intersect(&s, &t, &x, NULL), CS_OK);
        shuffle(&s);
        shuffle(&t);
        if (below(2)) {  // nor does saying something twice
            const struct cs_arch_entry again = s.entries.ptr[0];
            assert_true(cs_archlist_add(&s, again));
        }
        assert_int_equal(cs_intersect(&s, &t, &y, NULL), CS_OK);
        char first[512];
        snprintf(first, sizeof first, "%s", text_of(&x.result));
        assert_string_equal(first, text_of(&y.result));
        assert_int_equal(x.uncovered, y.uncovered);
        assert_int_equal(x.steps.count, y.steps.count);

        for (size_t i = 1; i < x.result.entries.count; i++) {
            assert_true(
                cs_target_cmp(x.result.entries.ptr[i - 1].real, x.result.entries.ptr[i].real) < 0);
        }
        for (size_t i = 0; i < x.result.entries.count; i++) {  // what nvcc refuses is not built
            const struct cs_target e = x.result.entries.ptr[i].real;
            for (size_t k = 0; e.suffix == 'f' && k < x.result.entries.count; k++) {
                const struct cs_target other = x.result.entries.ptr[k].real;
                assert_false(other.arch == e.arch && other.suffix == 0);
            }
        }
        one_name(&s);
        one_name(&x.result);
        for (size_t i = 0; i < x.steps.count; i++) {
            const struct cs_intersect_step *step = &x.steps.ptr[i];
            const struct cs_device d = cs_device_canonical(cs_target_device(step->wanted));
            const enum cs_outcome all = outcome(&s, d);
            const enum cs_outcome built = outcome(&x.result, d);
            // X.Yf may be served by another target of its family where the source has X.Ya.
            const bool worse = built < all && (step->wanted.suffix != 'f' || !built);
            if (worse || (built == CS_OUTCOME_NONE) != (step->rule == CS_INTERSECT_UNCOVERED)) {
                char w[CS_TARGET_TEXT_BYTES];
                cs_target_dotted(step->wanted, w);
                print_message("seed %llu round %u: source %s\n", (unsigned long long)seed, round,
                              text_of(&s));
                fail_msg("wanted %s: result %s gives %s, the source %s", w, first,
                         cs_outcome_name(built), cs_outcome_name(all));
            }
        }
        cs_intersection_fini(&x);
        cs_intersection_fini(&y);
        cs_archlist_fini(&s);
        cs_archlist_fini(&t);
    }
}

static void test_long(void **state) {
    (void)state;
    enum { BYTES = 1 << 20 };
    char *text = malloc(BYTES + 1);
    assert_non_null(text);
    const clock_t start = clock();
    for (uint32_t round = 0; round < 2; round++) {
        size_t len = 0;
        for (uint32_t i = 0; len < BYTES - 32; i++) {
            len += (size_t)snprintf(text + len, 32, "%s%u.%u", len ? ";" : "",
                                    round ? 1 + i % 990 : 8 + i % 2, round ? i % 10 : 0);
        }
        struct cs_buf out;
        cs_buf_init(&out, BYTES);
        assert_int_equal(cs_intersect_vllm(cs_str_from(text), cs_str_from(text), &out, NULL),
                         round ? CS_LIMIT : CS_OK);
        assert_string_equal(out.ptr ? out.ptr : "", round ? "" : "8.0;9.0");
        cs_buf_fini(&out);
        if (round == 0) {
            struct cs_intersection x;
            run(text, text, &x);
            assert_string_equal(text_of(&x.result), "8.0;9.0");
            cs_intersection_fini(&x);
        }
    }
    assert_true(clock() - start < 20 * CLOCKS_PER_SEC);  // quadratic: minutes
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),       cmocka_unit_test(test_vllm_table),
        cmocka_unit_test(test_vllm_errors), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_properties),  cmocka_unit_test(test_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
