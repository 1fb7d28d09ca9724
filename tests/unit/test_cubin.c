// Cubins: every byte has one owner, and what the builder put in comes out.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "build/mk_cubin.h"
#include "format/cubin.h"

static const struct cs_mk_kernel kernels[] = {
    {.name = "_Z6squarePf", .code_bytes = 1024, .registers = 40, .barriers = 2, .stack_bytes = 16,
     .local_bytes = 24, .shared_bytes = 2048, .param_bytes = 24, .relocations = 3},
    {.name = "_ZN12_GLOBAL__N_14axpyEPf", .local = true, .outlined = "$axpy$slow",
     .outlined_bytes = 64},
    {.name = "_Z6helperf", .function = true, .code_bytes = 256},
};
enum { KERNELS = 3 };

static void check_partition(const struct cs_cubin *c, uint64_t image_bytes) {
    uint64_t at = 0;
    for (size_t i = 0; i < c->pieces.count; i++) {
        const struct cs_cubin_piece *p = &c->pieces.ptr[i];
        assert_int_equal(p->off, at);
        assert_true(p->len > 0);
        assert_true(p->kernel == CS_NO_KERNEL || p->kernel < c->kernels.count);
        at += p->len;
    }
    assert_int_equal(at, image_bytes);
}

static void check_one(const struct cs_mk_cubin *how, struct cs_cubin *c) {
    struct cs_buf b;
    cs_buf_init(&b, SIZE_MAX / 2);
    cs_mk_cubin_write(&b, how);
    assert_int_equal(cs_cubin_read(cs_buf_view(&b), c, NULL), CS_OK);
    check_partition(c, b.len);
    assert_int_equal(c->kernels.count, KERNELS);
    assert_int_equal(c->code_bytes, cs_mk_cubin_code_bytes(how));
    assert_int_equal(c->sm, how->sm);
    assert_int_equal(c->relocatable, how->relocatable);
    assert_int_equal(c->accelerated, how->accelerated);
    const struct cs_cubin_kernel *square = &c->kernels.ptr[0];
    assert_true(cs_str_eq(square->name, CS_STR("_Z6squarePf")));
    assert_true(square->is_kernel);
    assert_int_equal(square->code_bytes, 1024);
    assert_int_equal(square->registers, 40);
    assert_int_equal(square->barriers, 2);
    assert_int_equal(square->local_bytes, 24);
    assert_int_equal(square->shared_bytes, 2048);
    assert_int_equal(square->param_bytes, 24);
    assert_true(c->kernels.ptr[1].is_local);
    assert_false(c->kernels.ptr[2].is_kernel);
    assert_int_equal(c->funcs.count, 1);
    assert_int_equal(c->funcs.ptr[0].symbol_bytes, 64);
    assert_int_equal(c->funcs.ptr[0].kernel, 1);
    cs_buf_fini(&b);
}

static void test_all_abis_and_targets(void **state) {
    (void)state;
    struct cs_cubin c = {0};
    static const struct {
        uint32_t abi, sm;
        bool accelerated;
    } rows[] = {{7, 75, false}, {7, 80, false},  {7, 90, true},   {8, 75, false},
                {8, 89, false}, {8, 90, true},   {8, 100, false}, {8, 100, true},
                {8, 120, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int relocatable = 0; relocatable < 2; relocatable++) {
            const struct cs_mk_cubin how = {.abi = rows[i].abi, .sm = rows[i].sm,
                                            .accelerated = rows[i].accelerated,
                                            .relocatable = relocatable != 0,
                                            .kernels = kernels, .kernel_count = KERNELS,
                                            .constant3_bytes = 64, .global_init_bytes = 40,
                                            .debug_shared = true, .text_gap = true};
            check_one(&how, &c);
        }
    }
    cs_cubin_fini(&c);
}

// Damage anywhere may lose kernels, never bytes.
static void test_damage_keeps_the_partition(void **state) {
    (void)state;
    const struct cs_mk_cubin how = {.sm = 100, .kernels = kernels, .kernel_count = KERNELS};
    struct cs_cubin c = {0};
    struct cs_buf b;
    cs_buf_init(&b, SIZE_MAX / 2);
    cs_mk_cubin_write(&b, &how);
    uint32_t refused = 0;
    for (size_t at = 0; at < b.len; at += 3) {
        const char kept = b.ptr[at];
        b.ptr[at] = (char)(kept ^ 0x5A);
        if (cs_cubin_read(cs_buf_view(&b), &c, NULL) == CS_OK) {
            check_partition(&c, b.len);
        } else {
            refused++;
        }
        b.ptr[at] = kept;
    }
    assert_true(refused > 0);
    cs_cubin_fini(&c);
    cs_buf_fini(&b);
}

static void test_not_a_cubin(void **state) {
    (void)state;
    struct cs_cubin c = {0};
    struct cs_err err = {0};
    assert_int_equal(cs_cubin_read(cs_view_of("\x7f" "ELF", 4), &c, &err), CS_FORMAT);
    assert_true(err.count > 0);
    cs_cubin_fini(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_abis_and_targets),
        cmocka_unit_test(test_damage_keeps_the_partition),
        cmocka_unit_test(test_not_a_cubin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
