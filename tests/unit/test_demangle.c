// Demangle: real kernel names, names beyond the limits of other demanglers, and hostile ones.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/pool.h"
#include "format/demangle.h"

static struct cs_buf out;

static int setup(void **state) {
    (void)state;
    cs_buf_init(&out, 4u << 20);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    cs_buf_fini(&out);
    return 0;
}

static void test_names(void **state) {
    (void)state;
    static const struct {
        const char *mangled, *name;
    } table[] = {
        {"_Z3addPfPKfi", "add(float*, float const*, int)"},
        {"_ZN4vllm12_GLOBAL__N_14copyIN3c104HalfELb1EEEvPT_",
         "void vllm::(anonymous namespace)::copy<c10::Half, true>(c10::Half*)"},
        {"_Z1kIXadL_Z1fvEEEvv", NULL},  // LLVM 14 writes &(f()), 19 writes &f()
        {"_ZN1aplERKS_", "a::operator+(a const&)"},
        {"_ZZ4mainENKUlvE_clEv", "main::'lambda'()::operator()() const"},
        {"_Z1fIJiiEEvDpT_", "void f<int, int>(int, int)"},
        {"__nv_static_23__e0ecd33f_4_t_cu__Z1fPi__Z1sPi", "s(int*)"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_true(cs_demangle(cs_str_from(table[i].mangled), &out));
        if (table[i].name) {
            assert_string_equal(out.ptr, table[i].name);
        }
    }
}

static void test_not_mangled(void **state) {
    (void)state;
    static const struct cs_str table[] = {
        CS_STR(""),
        CS_STR("add_kernel"),
        CS_STR("_Z"),
        CS_STR("_Zx"),
        CS_STR("i"),
        CS_STR("_Z1f"
               "\0"
               "vv"),
        CS_STR("_ZN1a1b"),
        CS_STR("_Z99f"),
        CS_STR("__nv_static_23__e0ecd33f_4_t_cu__Z1fPi_"),
        CS_STR("__nv_static_"),
        CS_STR("__nv_static_1_a__Zx"),
        CS_STR("__nv_static_9999999999999999999999_a__Z1fv"),
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_false(cs_demangle(table[i], &out));
        assert_true(cs_str_eq(cs_buf_str(&out), table[i]));
    }
}

// A view, not a C string: what follows it must not be read.
static void test_unterminated(void **state) {
    (void)state;
    const struct cs_str text = {"_Z1fvvvv", 5};
    assert_true(cs_demangle(text, &out));
    assert_string_equal(out.ptr, "f()");
}

static char *repeat(const char *head, const char *part, size_t times, const char *tail) {
    const size_t n = strlen(part);
    char *s = malloc(strlen(head) + times * n + strlen(tail) + 1);
    assert_non_null(s);
    char *p = s + sprintf(s, "%s", head);
    for (size_t i = 0; i < times; i++, p += n) {
        memcpy(p, part, n);
    }
    strcpy(p, tail);
    return s;
}

// libstdc++ and c++filt stop at 1,024 bytes; both ways through the fence are taken.
static void test_long(void **state) {
    (void)state;
    const size_t lengths[] = {1000, 1100, 2000, 2100, 20000, 100000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char *name = repeat("_Z1f", "P", lengths[i], "i");
        assert_true(cs_demangle(cs_str_from(name), &out));
        assert_int_equal(out.len, lengths[i] + strlen("f(int)"));
        free(name);
    }
    char *name = repeat("_Z1f", "P", CS_MAX_DEMANGLE_BYTES, "i");
    assert_false(cs_demangle(cs_str_from(name), &out));
    assert_string_equal(out.ptr, name);
    free(name);
}

// Recursive forms of the grammar, as deep as the length limit allows.
static void test_deep(void **state) {
    (void)state;
    static const char *const parts[][3] = {
        {"_Z1f", "K", "i"},           {"_Z1f", "FvPF", ""},     {"_Z1f1a", "I1a", ""},
        {"_Z1fIXng", "ng", "Li1"},    {"_Z1fIX", "plLi1E", ""}, {"_Z1fI", "J", "EvT_"},
        {"_Z1fIXL_Z", "1fIXL_Z", ""}, {"_Z", "Z1fEUl", "vE_"},  {"_Z1f1aI", "S_IS_", "E"},
        {"_Z1fN1a1bI", "N1a1bI", ""}, {"_Z1fIXil", "il", ""},   {"_Z1f", "DTcv", "i"},
        {"_Z1f", "U1aI", "i"},        {"_Z", "Th1_", "1fv"},    {"_Z1fUl", "Ul", "vE_"},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const size_t times = (CS_MAX_DEMANGLE_BYTES - 40) / strlen(parts[i][1]);
        char *name = repeat(parts[i][0], parts[i][1], times, parts[i][2]);
        (void)cs_demangle(cs_str_from(name), &out);
        free(name);
    }
}

// f(a<int, int>, a<that, that>, ...): each parameter is twice as long as the one before.
static void test_exponential(void **state) {
    (void)state;
    char name[400] = "_Z1f1aIiiE";
    for (int i = 0; i < 30; i++) {
        char seq[4] = "";
        if (i < 36) {
            snprintf(seq, sizeof seq, "%c", i < 10 ? '0' + i : 'A' + i - 10);
        }
        const size_t n = strlen(name);
        snprintf(name + n, sizeof name - n, "S_IS%s_S%s_E", seq, seq);
    }
    struct cs_buf b;
    cs_buf_init(&b, 1u << 30);
    assert_false(cs_demangle(cs_str_from(name), &b));
    assert_string_equal(b.ptr, name);
    assert_true(b.cap < 1 << 20);
    assert_true(cs_demangle(CS_STR("_Z1fv"), &b));  // nothing is left over
    cs_buf_fini(&b);
}

static void test_small_buffer(void **state) {
    (void)state;
    struct cs_buf small;
    cs_buf_init(&small, 20);
    assert_false(cs_demangle(CS_STR("_Z1fPKPKPKPKPKi"), &small));
    assert_string_equal(small.ptr, "_Z1fPKPKPKPKPKi");
    assert_int_equal(cs_buf_check(&small, NULL), CS_OK);
    cs_buf_fini(&small);
}

static int countdown;
static int fail_at_zero(void) { return countdown-- == 0; }

// Whichever allocation fails, the caller learns of it.
static void test_no_memory(void **state) {
    (void)state;
    const struct cs_str name =
        CS_STR("_Z1fIPKPKPKPKPKPKPKPKPKPKPKPKPKPKPKPKPKPKPKPKPKPKPKPKPKiEvT_");
    int n = 0;
    for (;; n++) {
        struct cs_buf b;
        cs_buf_init(&b, 1 << 20);
        countdown = n;
        cs_mem_fail_hook = fail_at_zero;
        const bool ok = cs_demangle(name, &b);
        cs_mem_fail_hook = NULL;
        assert_int_equal(ok, countdown >= 0);
        assert_int_equal(b.failed, ok ? CS_OK : CS_NOMEM);
        cs_buf_fini(&b);
        if (ok) {
            break;
        }
    }
    assert_true(n >= 2);
}

static void task(void *ctx, size_t index) {
    struct cs_buf b;
    cs_buf_init(&b, 1 << 20);
    char name[40], want[40];
    snprintf(name, sizeof name, "_Z5k%04zuPf", index);
    snprintf(want, sizeof want, "k%04zu(float*)", index);
    if (!cs_demangle(cs_str_from(name), &b) || strcmp(b.ptr, want) != 0) {
        *(int *)ctx = 1;
    }
    cs_buf_fini(&b);
}

static void test_threads(void **state) {
    (void)state;
    struct cs_pool *pool = NULL;
    assert_int_equal(cs_pool_new(4, &pool, NULL), CS_OK);
    int bad = 0;
    cs_pool_for(pool, 5000, 16, task, &bad);
    cs_pool_free(pool);
    assert_int_equal(bad, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),        cmocka_unit_test(test_not_mangled),
        cmocka_unit_test(test_unterminated), cmocka_unit_test(test_long),
        cmocka_unit_test(test_deep),         cmocka_unit_test(test_exponential),
        cmocka_unit_test(test_small_buffer), cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
