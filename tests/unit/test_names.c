// Names: the forms of real and awkward kernel names.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/names.h"

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

static void test_short(void **state) {
    (void)state;
    static const char *const table[][2] = {
        {"void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<2, "
         "cute::tuple<cute::C<1>, cute::C<1> > > > >(flash::X::Params)",
         "cutlass::device_kernel"},
        {"void vllm::(anonymous namespace)::run<c10::Half, (vllm::Kind)1>(c10::Half*)",
         "vllm::(anonymous)::run"},
        {"(anonymous namespace)::topk_kernel((anonymous namespace)::Params, int*)",
         "(anonymous)::topk_kernel"},
        {"marlin::MarlinDefault(int4 const*, int)", "marlin::MarlinDefault"},
        {"extern_c_kernel", "extern_c_kernel"},
        {"", ""},
        {"_ZN1aE1bx", "_ZN1aE1bx"},
        {"void ns::outer<int>::inner<float>::k<1>(ns::outer<int>)", "ns::outer::inner::k"},
        {"unsigned long long f<int>(int)", "f"},
        {"float const* f<int>(int)", "f"},
        {"std::enable_if<((8) > (0)), void>::type ns::f<8>(int)", "ns::f"},
        {"std::enable_if<(8) < (9), void>::type ns::f<(1) < (2), x>(int)", "ns::f"},
        {"decltype(a(b)) f<int>(int)", "f"},
        {"void f<8 < 9, (a > b)>(int)", "f"},  // LLVM 19
        {"void f<a<b<c>>>(int)", "f"},
        // Operators.
        {"a::operator<(a const&)", "a::operator<"},
        {"bool a::operator<<int>(a const&)", "a::operator<"},
        {"a::operator<<(a const&)", "a::operator<<"},
        {"s& std::operator<< <int>(a const&)", "std::operator<<"},
        {"a::operator()(int) const", "a::operator()"},
        {"void a<int>::operator()<float>(int) const", "a::operator()"},
        {"a::operator->()", "a::operator->"},
        {"a::operator unsigned int() const", "a::operator unsigned int"},
        {"void f<&(a::operator<(a const&))>(int)", "f"},
        {"void f<&a::operator>>(int)", "f"},
        {"void my_operator<int>(int)", "my_operator"},
        // Lambdas and other local entities.
        {"main::'lambda'()::operator()() const", "main::'lambda'::operator()"},
        {"void f<int>(int) const::'lambda0'(float)::operator()<int>(float) const",
         "f::'lambda0'::operator()"},
        {"void k<ns::g(int) const::'lambda'(int, a<b>)>(int)", "k"},
        {"ns::f[abi:cxx11](int)", "ns::f"},
        {"void thrust::THRUST_300001_SM_750_800_NS::cuda_cub::core::detail::_kernel_agent<x>(x)",
         "thrust::cuda_cub::core::detail::_kernel_agent"},
        {"cub::CUB_2_NSX::f(int)", "cub::CUB_2_NSX::f"},
        {"vector [clone .x]", "vector [clone .x]"},
        // Text that no demangler writes.
        {"f<a(", "f"},
        {"<", "<"},
        {">>>", ">>>"},
        {"(", "("},
        {"'", "'"},
        {"f<a>)b", "f)b"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        cs_buf_clear(&out);
        cs_name_short(cs_str_from(table[i][0]), &out);
        assert_string_equal(out.ptr ? out.ptr : "", table[i][1]);
    }
}

static void test_split(void **state) {
    (void)state;
    static const char *const table[][4] = {
        {"void a::f<int>(int) const", "a::f<int>", "(int)", " const"},
        {"f(a<b>, void (*)(int))", "f", "(a<b>, void (*)(int))", ""},
        {"f(int) (.isra.0)", "f", "(int)", " (.isra.0)"},
        {"kernel", "kernel", "", ""},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct cs_name_parts p;
        cs_name_split(cs_str_from(table[i][0]), &p);
        assert_true(cs_str_eq(p.path, cs_str_from(table[i][1])));
        assert_true(cs_str_eq(p.params, cs_str_from(table[i][2])));
        assert_true(cs_str_eq(p.tail, cs_str_from(table[i][3])));
        assert_true(cs_str_eq(p.result, i == 0 ? CS_STR("void") : CS_STR("")));
    }
}

// Rows of the size table that this program grew out of, and its rule where there is no template.
static void test_group(void **state) {
    (void)state;
    static const char *const table[][2] = {
        {"void marlin_moe_wna16::Marlin<c10::Half, 1ul, 256>(int4 const*)",
         "void marlin_moe_wna16::Marlin"},
        {"fused_kernel(float*, int)", "fused_kernel(float*, int)"},
        {"void (anonymous namespace)::k<1>(a)", "void (anonymous namespace)::k"},
        {"f(a<b>)", "f(a"},  // the rule is naive, and kept so
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_true(cs_str_eq(cs_name_group(cs_str_from(table[i][0])), cs_str_from(table[i][1])));
    }
    assert_int_equal(cs_name_group(CS_STR("")).len, 0);
}

static void test_namespace(void **state) {
    (void)state;
    assert_true(
        cs_str_eq(cs_name_namespace(CS_STR("a::(anonymous)::f")), CS_STR("a::(anonymous)")));
    assert_int_equal(cs_name_namespace(CS_STR("f")).len, 0);
    assert_int_equal(cs_name_namespace(CS_STR("")).len, 0);
    assert_int_equal(cs_name_namespace(CS_STR("::f")).len, 0);
}

static void test_unwrap(void **state) {
    (void)state;
    static const char *const table[][2] = {
        {"void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<2, "
         "cute::C<1> > > >(flash::X::Params)",
         "flash::FlashAttnFwdSm90"},
        {"void cutlass::Kernel2<enable_sm75_to_sm80<cutlass::gemm::kernel::Gemm<a>::Base> >(x)",
         "cutlass::gemm::kernel::Gemm::Base"},
        {"void thrust::THRUST_300001_SM_750_NS::cuda_cub::core::detail::_kernel_agent<thrust::"
         "THRUST_300001_SM_750_NS::cuda_cub::__reduce_by_key::ReduceByKeyAgent<int>, int>(int)",
         "thrust::cuda_cub::__reduce_by_key::ReduceByKeyAgent"},
        {"void cub::detail::for_each::static_kernel<cub::policy_hub_t::policy_500_t, long, "
         "thrust::cuda_cub::__tabulate::functor<int> const&>(long)",
         "thrust::cuda_cub::__tabulate::functor"},
        {"void at::native::vectorized_elementwise_kernel<2, "
         "at::native::CUDAFunctor_add<c10::Half>, "
         "std::array<char*, 3ul> >(int)",
         "at::native::CUDAFunctor_add"},
        {"void at::native::elementwise_kernel<128, 4, void at::native::gpu_kernel_impl<at::native::"
         "(anonymous namespace)::silu(at::TensorIteratorBase&)::'lambda'()::operator()() const::"
         "'lambda'(float)>(at::TensorIteratorBase&, int const&)::'lambda'(int)>(int)",
         "at::native::(anonymous)::silu"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        cs_buf_clear(&out);
        assert_true(cs_name_unwrap(cs_str_from(table[i][0]), &out));
        assert_string_equal(out.ptr, table[i][1]);
    }
    static const char *const plain[][2] = {
        {"void marlin::Marlin<int>(int)", "marlin::Marlin"},
        {"cutlass::device_kernel(int)", "cutlass::device_kernel"},
        {"void cutlass::device_kernel<>(int)", "cutlass::device_kernel"},
        {"void notcutlass::device_kernel<a<b> >(int)", "notcutlass::device_kernel"},
        {"void my_cutlass::Kernel<a<b> >(int)", "my_cutlass::Kernel"},
        {"main::'lambda'()::operator()() const", "main::'lambda'::operator()"},
    };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        cs_buf_clear(&out);
        assert_false(cs_name_unwrap(cs_str_from(plain[i][0]), &out));
        assert_string_equal(out.ptr, plain[i][1]);
    }
}

static void test_args(void **state) {
    (void)state;
    struct cs_str args[4];
    assert_int_equal(
        cs_name_args(CS_STR("void a<x>::f<b<c, d>, (E)1, (2) < (3), g(h, i)>(a<int>)"), args, 4),
        4);
    assert_true(cs_str_eq(args[0], CS_STR("b<c, d>")));
    assert_true(cs_str_eq(args[1], CS_STR("(E)1")));
    assert_true(cs_str_eq(args[2], CS_STR("(2) < (3)")));
    assert_true(cs_str_eq(args[3], CS_STR("g(h, i)")));
    assert_int_equal(cs_name_args(CS_STR("void f<1, 2, 3>(int)"), args, 2), 3);
    assert_int_equal(cs_name_args(CS_STR("void f<>(int)"), args, 2), 0);
    assert_int_equal(cs_name_args(CS_STR("void f<a<b> >(int)"), args, 2), 1);
    assert_true(cs_str_eq(args[0], CS_STR("a<b>")));
    assert_int_equal(cs_name_args(CS_STR("s& operator<< <int, long>(int)"), args, 2), 2);
    assert_int_equal(cs_name_args(CS_STR("f(a<b>)"), args, 2), 0);
}

// Time must not grow faster than the text.
static void test_hostile(void **state) {
    (void)state;
    static const char *const parts[] = {"<",  ">",  "(",  ")",        "a<",  "(a", "'", "\"",
                                        "a ", "::", "[{", "operator", " > ", "T",  "C", "a::"};
    enum { TIMES = 200000 };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const size_t n = strlen(parts[i]);
        char *text = malloc(n * TIMES + 1);
        assert_non_null(text);
        for (size_t k = 0; k < TIMES; k++) {
            memcpy(text + k * n, parts[i], n);
        }
        const struct cs_str s = {text, n * TIMES};
        struct cs_str args[2];
        cs_buf_clear(&out);
        cs_name_short(s, &out);
        (void)cs_name_unwrap(s, &out);
        (void)cs_name_args(s, args, 2);
        free(text);
    }
}

static void test_table(void **state) {
    (void)state;
    struct cs_intern names;
    cs_intern_init(&names);
    enum { COUNT = 3000 };
    for (int i = 0; i < COUNT; i++) {
        char text[64];
        snprintf(text, sizeof text, i % 2 ? "_ZN2ns5k%04dILi1EEEvPf" : "_Z5x%04dPf", i);
        assert_int_equal(cs_intern_add(&names, cs_str_from(text)), i);
    }
    const uint32_t plain = cs_intern_add(&names, CS_STR("plain"));
    uint8_t wanted[COUNT + 1];
    memset(wanted, 1, sizeof wanted);
    wanted[5] = 0;
    struct cs_pool *pool = NULL;
    assert_int_equal(cs_pool_new(3, &pool, NULL), CS_OK);
    struct cs_name_table t;
    assert_int_equal(cs_name_table_make(&names, wanted, CS_NAME_ALL, pool, &t, NULL), CS_OK);
    assert_int_equal(t.count, COUNT + 1);
    assert_string_equal(t.by_id[2999].full.ptr, "void ns::k2999<1>(float*)");
    assert_true(cs_str_eq(t.by_id[2999].group, CS_STR("void ns::k2999")));
    assert_string_equal(t.by_id[2999].short_name.ptr, "ns::k2999");
    assert_true(cs_str_eq(t.by_id[2999].name_space, CS_STR("ns")));
    assert_string_equal(t.by_id[2998].full.ptr, "x2998(float*)");
    assert_true(t.by_id[2998].demangled);
    assert_false(t.by_id[plain].demangled);
    assert_string_equal(t.by_id[plain].unwrapped.ptr, "plain");
    assert_null(t.by_id[5].full.ptr);
    cs_name_table_fini(&t);
    assert_int_equal(cs_name_table_make(&names, NULL, CS_NAME_SHORT, NULL, &t, NULL), CS_OK);
    assert_string_equal(t.by_id[5].short_name.ptr, "ns::k0005");
    assert_int_equal(t.by_id[5].full.len, 0);
    cs_name_table_fini(&t);
    cs_pool_free(pool);
    cs_intern_fini(&names);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short),   cmocka_unit_test(test_split),
        cmocka_unit_test(test_group),   cmocka_unit_test(test_namespace),
        cmocka_unit_test(test_unwrap),  cmocka_unit_test(test_args),
        cmocka_unit_test(test_hostile), cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
