// Drivers: floors and what causes them, promises that are too low, and the cold start.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "build/mk_check.h"

#define FOUND(t, slug, severity, text) \
    assert_true(cs_mk_check_found(t, slug, CS_SEVERITY_##severity, text))
#define NONE(t, slug) assert_int_equal(cs_mk_check_count(t, slug), 0)

static void ask(struct cs_mk_check *t, const char *words, struct cs_mk_check_ask question) {
    cs_mk_check_start(t);
    cs_mk_check_library(t, "ops.so", words);
    cs_mk_check_run(t, &question);
}

static void test_floor(void **state) {
    (void)state;
    static const struct {
        const char *words, *devices, *floor;
        enum cs_floor_cause cause;
    } rows[] = {
        {"a.cu: sm_80:abi7:cuda128", "8.0", "R525", CS_FLOOR_TOOLKIT},
        {"a.cu: sm_80:abi7:cuda128:z", "8.0", "550.54.14", CS_FLOOR_CODEC},
        {"a.cu: sm_80", "8.0", "R580", CS_FLOOR_TOOLKIT},
        {"a.cu: sm_80:abi7:cuda118 compute_80:isa84", "8.0", "R450", CS_FLOOR_TOOLKIT},
        {"a.cu: sm_80:abi7:cuda118 compute_80:isa84", "9.0", "550.54.14", CS_FLOOR_PTX},
        {"a.cu: sm_80 + sm_90", "8.0", "615.71.09", CS_FLOOR_CONCAT},
        {"a.cu: sm_80", "9.0", NULL, CS_FLOOR_NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cs_mk_check t;
        char floor[CS_DRIVER_TEXT_BYTES];
        ask(&t, rows[i].words, (struct cs_mk_check_ask){.devices = rows[i].devices});
        assert_int_equal(t.result.floor.known, rows[i].floor != NULL);
        if (rows[i].floor) {
            cs_driver_text(t.result.floor.driver, floor);
            if (strcmp(floor, rows[i].floor) != 0) {
                fail_msg("%s on %s: %s, not %s", rows[i].words, rows[i].devices, floor,
                         rows[i].floor);
            }
            assert_int_equal(t.result.floor.cause, rows[i].cause);
        }
        cs_mk_check_end(&t);
    }
}

// U15: the codec, not the code, is too new.
static void test_u15_codec(void **state) {
    (void)state;
    struct cs_mk_check t;
    ask(&t, "a.cu: sm_80:abi7:cuda128:z",
        (struct cs_mk_check_ask){.devices = "8.0", .driver = "535.54.03"});
    assert_false(t.result.pass);
    FOUND(&t, "floor-above-promise", ERROR, "zstd compression needs 550.54.14");
    FOUND(&t, "floor-above-promise", ERROR, "--recompress lz4");
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){.devices = "8.0", .driver = "550.54.14"});
    assert_true(t.result.pass);
    cs_mk_check_end(&t);
}

// U34: "the provided PTX was compiled with an unsupported toolchain", from file and driver alone:
// the library, the ISA and the driver that is needed.
static void test_u34_ptx(void **state) {
    (void)state;
    struct cs_mk_check t;
    ask(&t, "a.cu: sm_80:abi7:cuda128 compute_80:isa87",
        (struct cs_mk_check_ask){.devices = "9.0", .driver = "560.28.03"});
    assert_false(t.result.pass);
    FOUND(&t, "ptx-newer-than-driver", ERROR, "ops.so");
    FOUND(&t, "ptx-newer-than-driver", ERROR, "PTX ISA 8.7 needs 570.26");
    FOUND(&t, "ptx-newer-than-driver", ERROR, "compute_80 of container 0 (a.cu)");
    NONE(&t, "uncovered-device");
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){.devices = "9.0", .driver = "570.26"});
    assert_true(t.result.pass);
    cs_mk_check_end(&t);
}

// U35: a wheel for CUDA 11.x whose PTX is of 11.7, on the oldest driver of 11.4.
static void test_u35_range(void **state) {
    (void)state;
    struct cs_mk_check t;
    ask(&t, "a.cu: sm_70:abi7:cuda117 compute_70:isa77",
        (struct cs_mk_check_ask){.devices = "7.0 8.0", .driver = "cuda11.4"});
    assert_false(t.result.pass);
    FOUND(&t, "ptx-newer-than-driver", ERROR, "1 kernel would fail on 8.0");
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){.devices = "7.0", .driver = "cuda11.4"});
    assert_true(t.result.pass);  // SASS of a later minor of the same major is fine
    cs_mk_check_end(&t);
}

// U36: only sm_75 and its PTX were built; a runner with an 8.9 device and an older driver.
static void test_u36_runner(void **state) {
    (void)state;
    struct cs_mk_check t;
    ask(&t, "a.cu: sm_75:abi7:cuda128 compute_75:isa87",
        (struct cs_mk_check_ask){.devices = "8.9", .driver = "R550"});
    assert_false(t.result.pass);
    assert_string_equal(cs_mk_check_counts(&t, "8.9", NULL), "0/0/0/1");
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){.devices = "8.9", .driver = "R570"});
    assert_true(t.result.pass);
    assert_string_equal(cs_mk_check_counts(&t, "8.9", NULL), "0/0/1/0");
    cs_mk_check_end(&t);
}

// U37: an ISA that no table has is unknown, not computed.
static void test_u37_unknown(void **state) {
    (void)state;
    struct cs_mk_check t;
    ask(&t, "a.cu: compute_80:isa99", (struct cs_mk_check_ask){.devices = "9.0"});
    assert_false(t.result.floor.certain);
    cs_mk_check_end(&t);
}

// U33: a driver version alone is no coverage.
static void test_u33_driver_is_no_coverage(void **state) {
    (void)state;
    struct cs_mk_check t;
    ask(&t, "a.cu: sm_75 sm_80",
        (struct cs_mk_check_ask){.devices = "7.0", .driver = "R580"});
    assert_false(t.result.pass);
    FOUND(&t, "uncovered-device", ERROR, "7.0");
    cs_mk_check_end(&t);
}

// A promise of an old driver is judged with the first that knows a newer chip.
static void test_chip_floor(void **state) {
    (void)state;
    struct cs_mk_check t;
    ask(&t, "a.cu: sm_80:abi7:cuda128 sm_120:abi7:cuda128",
        (struct cs_mk_check_ask){.devices = "8.0 12.0", .driver = "525.60.13"});
    assert_true(t.result.pass);
    assert_int_equal(t.result.coverage.rows.ptr[1].driver.branch, 570);
    assert_int_equal(t.result.coverage.rows.ptr[0].driver.branch, 525);
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){.devices = "5.0", .driver = "R590"});
    FOUND(&t, "uncovered-device", ERROR, "no longer serves 5.0");
    cs_mk_check_end(&t);
}

// U38 and U39: what the first start compiles, native or JIT, and what does not fit the cache.
static void test_u38_cold_start(void **state) {
    (void)state;
    struct cs_mk_check t;
    ask(&t, "a.cu: sm_80[x,y] compute_80[x,y] | b.cu: compute_75[z]",
        (struct cs_mk_check_ask){.devices = "8.0 12.0"});
    assert_true(t.result.pass);
    assert_int_equal(t.result.forecasts[0].kernels, 1);
    assert_int_equal(t.result.forecasts[1].kernels, 3);
    assert_int_equal(t.result.forecasts[1].containers, 2);
    assert_true(t.result.forecasts[1].ptx_bytes > 0);
    FOUND(&t, "cold-jit", NOTE, "12.0: the first start compiles 3 kernels");
    FOUND(&t, "cold-jit", NOTE, "8.0: the first start compiles 1 kernel");
    assert_string_equal(cs_mk_check_counts(&t, "8.0", NULL), "2/0/1/0");
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){0});
    NONE(&t, "cold-jit");  // nobody promised these devices
    cs_mk_check_end(&t);

    // More than the cache holds: sizes are what the inventory says they are.
    ask(&t, "a.cu: compute_80", (struct cs_mk_check_ask){.devices = "9.0"});
    t.inv.images.ptr[0].image_bytes = (uint64_t)1 << 31;
    cs_mk_check_run(&t, &(struct cs_mk_check_ask){.devices = "9.0"});
    FOUND(&t, "cold-jit", WARNING, "CUDA_CACHE_MAXSIZE");
    FOUND(&t, "cold-jit", WARNING, "more than the driver's cache of 1024.00 MiB");
    cs_mk_check_end(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_floor),       cmocka_unit_test(test_u15_codec),
        cmocka_unit_test(test_u34_ptx),     cmocka_unit_test(test_u35_range),
        cmocka_unit_test(test_u36_runner),  cmocka_unit_test(test_u37_unknown),
        cmocka_unit_test(test_u33_driver_is_no_coverage),
        cmocka_unit_test(test_chip_floor),  cmocka_unit_test(test_u38_cold_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
