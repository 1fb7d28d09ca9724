// Names and sources of published wheels, which are no part of the repository.  Skipped where
// ${CUSLIM_CACHE:-~/.cache/cuslim}/wheels does not hold them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/pool.h"
#include "model/inventory.h"
#include "model/names.h"

static struct cs_pool *pool;

static int setup(void **state) {
    (void)state;
    return cs_pool_new(2, &pool, NULL) == CS_OK ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    cs_pool_free(pool);
    return 0;
}

// Skips the test when the wheel is not there.
static void read_wheel(const char *name, struct cs_inventory *inv) {
    const char *cache = getenv("CUSLIM_CACHE"), *home = getenv("HOME");
    char path[4096];
    snprintf(path, sizeof path, "%s%s/wheels/%s",
             cache  ? cache
             : home ? home
                    : "",
             cache ? "" : "/.cache/cuslim", name);
    if (access(path, R_OK) != 0) {
        skip();
    }
    cs_inventory_init(inv);
    const struct cs_inventory_options options = {.depth = CS_DEPTH_KERNELS, .sources = true};
    struct cs_err err = {0};
    if (cs_inventory_add(inv, path, &options, pool, &err) != CS_OK) {
        fail_msg("%s: %s", path, err.frame[0].text);
    }
}

// Every C++ name is demangled, also those on which other demanglers give up (over 1,024 bytes).
static uint32_t check_names(const struct cs_inventory *inv) {
    uint8_t *wanted = calloc(inv->names.texts.count + 1, 1);
    assert_non_null(wanted);
    for (size_t i = 0; i < inv->kernels.count; i++) {
        wanted[inv->kernels.ptr[i].name] = 1;
    }
    struct cs_name_table t;
    assert_int_equal(cs_name_table_make(&inv->names, wanted, CS_NAME_ALL, pool, &t, NULL), CS_OK);
    uint32_t long_names = 0;
    for (uint32_t id = 0; id < t.count; id++) {
        const struct cs_str mangled = cs_intern_text(&inv->names, id);
        if (!wanted[id]) {
            continue;
        }
        const struct cs_name *n = &t.by_id[id];
        const bool cpp = cs_str_starts(mangled, CS_STR("_Z"));
        if (n->demangled != cpp) {
            fail_msg("left mangled: %s", mangled.ptr);
        }
        if (cpp && (n->short_name.len == 0 || strpbrk(n->short_name.ptr, "<> "))) {
            fail_msg("short form of %s: %s", n->full.ptr, n->short_name.ptr);
        }
        long_names += mangled.len > 1024;
    }
    cs_name_table_fini(&t);
    free(wanted);
    return long_names;
}

static void check_library(const struct cs_inventory *inv, const char *library, uint32_t want,
                          const char *source) {
    for (size_t m = 0; m < inv->members.count; m++) {
        const struct cs_member *member = &inv->members.ptr[m];
        if (!cs_str_ends(member->path, cs_str_from(library))) {
            continue;
        }
        assert_int_equal(member->container_count, want);
        bool seen = false;
        for (uint32_t i = 0; i < want; i++) {
            const struct cs_container *c = &inv->containers.ptr[member->first_container + i];
            if (c->source_how != CS_SOURCE_SYMTAB) {
                fail_msg("%s: container %u: %s", library, i, cs_source_how_name(c->source_how));
            }
            seen = seen || cs_str_eq(c->source, cs_str_from(source));
        }
        assert_true(seen);
        return;
    }
    fail_msg("%s is not in the wheel", library);
}

static void test_vllm(void **state) {
    (void)state;
    struct cs_inventory inv;
    read_wheel("vllm-0.33.0-cp38-abi3-manylinux_2_28_x86_64.whl", &inv);
    assert_int_equal(check_names(&inv), 276);
    check_library(&inv, "/_C_stable_libtorch.abi3.so", 118, "activation_kernels.cu");
    check_library(&inv, "/_moe_C_stable_libtorch.abi3.so", 35, "moe_align_sum_kernels.cu");
    check_library(&inv, "/_vllm_fa2_C.abi3.so", 76, "flash_fwd_hdim128_bf16_sm80.cu");
    check_library(&inv, "/_vllm_fa3_C.abi3.so", 192, "flash_fwd_combine.cu");
    check_library(&inv, "/_flashmla_C.abi3.so", 53, "combine.cu");
    cs_inventory_fini(&inv);
}

static void test_sgl_kernel(void **state) {
    (void)state;
    struct cs_inventory inv;
    read_wheel("sgl_kernel-0.3.21-cp310-abi3-manylinux2014_x86_64.whl", &inv);
    assert_int_equal(check_names(&inv), 152);
    for (size_t i = 0; i < inv.containers.count; i++) {  // stripped, and yet none without a name
        assert_true(inv.containers.ptr[i].source_how != CS_SOURCE_NONE);
        assert_true(inv.containers.ptr[i].source.len > 0);
    }
    cs_inventory_fini(&inv);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vllm),
        cmocka_unit_test(test_sgl_kernel),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
