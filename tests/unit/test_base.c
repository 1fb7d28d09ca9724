#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/num.h"
#include "base/pool.h"

static void test_view_bounds(void **state) {
    (void)state;
    const uint8_t bytes[] = {1, 2, 3, 4, 'a', 0};
    const struct cs_view v = cs_view_of(bytes, sizeof bytes);
    assert_true(cs_view_has(v, 6, 0));
    assert_false(cs_view_has(v, 7, 0));
    assert_false(cs_view_has(v, 1, UINT64_MAX));
    assert_int_equal(cs_u32(v, 0), 0x04030201);
    assert_int_equal(cs_u32(v, 3), 0);
    bool ok;
    assert_int_equal(cs_cstr(v, 4, 100, &ok).len, 1);
    assert_true(ok);
    (void)cs_cstr(v, 0, 2, &ok);
    assert_false(ok);
}

static void test_error_chain(void **state) {
    (void)state;
    struct cs_err err = {0};
    assert_int_equal(cs_fail_at(&err, CS_FORMAT, 0x1240, "header size %u, want at least 16", 0u),
                     CS_FORMAT);
    assert_int_equal(cs_wrap(&err, CS_INTERNAL, "section .nv_fatbin"), CS_FORMAT);
    char text[256];
    cs_err_format(&err, text, sizeof text);
    assert_string_equal(
        text, "section .nv_fatbin: header size 0, want at least 16 (at offset 0x1240)");
    cs_err_format(&err, text, 8);
    assert_string_equal(text, "section");
}

static void test_buf_max(void **state) {
    (void)state;
    struct cs_buf b;
    cs_buf_init(&b, 8);
    cs_buf_adds(&b, "12345678");
    assert_int_equal(cs_buf_check(&b, NULL), CS_OK);
    cs_buf_addc(&b, '9');
    assert_int_equal(cs_buf_check(&b, NULL), CS_LIMIT);
    assert_string_equal(b.ptr, "12345678");
    cs_buf_fini(&b);
}

static void test_intern_ids(void **state) {
    (void)state;
    struct cs_intern t;
    cs_intern_init(&t);
    char name[16];
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 5000; i++) {
            const int n = snprintf(name, sizeof name, "n%u", i);
            assert_int_equal(cs_intern_add(&t, (struct cs_str){name, (size_t)n}), i);
        }
    }
    assert_int_equal(cs_intern_find(&t, CS_STR("n4999")), 4999);
    assert_int_equal(cs_intern_find(&t, CS_STR("absent")), CS_INTERN_NONE);
    cs_intern_fini(&t);
}

static void test_sha256_vector(void **state) {
    (void)state;
    // FIPS 180-4 example "abc"
    static const uint8_t want[4] = {0xba, 0x78, 0x16, 0xbf};
    uint8_t got[CS_SHA256_BYTES];
    cs_sha256("abc", 3, got);
    assert_memory_equal(got, want, sizeof want);
}

struct sum {
    uint64_t cell[1000];
    struct cs_pool *pool;
};
static void mark(void *ctx, size_t i) { ((struct sum *)ctx)->cell[i]++; }
static void nested(void *ctx, size_t i) {
    struct sum inner = {.pool = NULL};
    cs_pool_for(((struct sum *)ctx)->pool, 100, 7, mark, &inner);
    for (size_t k = 0; k < 100; k++) {
        ((struct sum *)ctx)->cell[i] += inner.cell[k];
    }
}

static void test_pool_runs_each_once(void **state) {
    (void)state;
    for (uint32_t threads = 1; threads <= 4; threads++) {
        struct cs_pool *pool = NULL;
        assert_int_equal(cs_pool_new(threads, &pool, NULL), CS_OK);
        struct sum s = {.pool = pool};
        cs_pool_for(pool, 1000, 3, mark, &s);
        for (size_t i = 0; i < 1000; i++) {
            assert_int_equal(s.cell[i], 1);
        }
        struct sum t = {.pool = pool};
        cs_pool_for(pool, 20, 1, nested, &t);
        for (size_t i = 0; i < 20; i++) {
            assert_int_equal(t.cell[i], 100);
        }
        cs_pool_free(pool);
    }
}

static void test_num(void **state) {
    (void)state;
    uint64_t x;
    assert_false(cs_add_u64(UINT64_MAX, 1, &x));
    assert_false(cs_align_up_u64(UINT64_MAX - 2, 8, &x));
    assert_true(cs_align_up_u64(9, 8, &x));
    assert_int_equal(x, 16);
    assert_int_equal(cs_muldiv_u64(UINT64_MAX, 4, 8), UINT64_MAX / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_view_bounds),  cmocka_unit_test(test_error_chain),
        cmocka_unit_test(test_buf_max),      cmocka_unit_test(test_intern_ids),
        cmocka_unit_test(test_sha256_vector), cmocka_unit_test(test_pool_runs_each_once),
        cmocka_unit_test(test_num),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
