// Arch lists: reading and writing every notation, errors, conversions, flags, lint.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "model/archlist.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

static enum cs_code parse(struct cs_archlist *list, const char *text, enum cs_notation from,
                          struct cs_err *err) {
    cs_archlist_init(list);
    const struct cs_archlist_options options = {.notation = from};
    return cs_archlist_parse(list, cs_str_from(text), &options, err);
}

// The list in another notation, or the error message.
static const char *convert(const char *text, enum cs_notation from, enum cs_notation to) {
    static char out[4096];
    struct cs_archlist list;
    struct cs_err err = {0};
    struct cs_buf buf;
    cs_buf_init(&buf, sizeof out - 1);
    if (parse(&list, text, from, &err) == CS_OK &&
        cs_archlist_print(&list, to, &buf, &err) == CS_OK) {
        snprintf(out, sizeof out, "%s", buf.ptr ? buf.ptr : "");
    } else {
        cs_err_format(&err, out, sizeof out);
    }
    cs_buf_fini(&buf);
    cs_archlist_fini(&list);
    return out;
}

struct conversion {
    enum cs_notation from;
    const char *in;
    enum cs_notation to;
    const char *out;
};

static void check_conversions(const struct conversion *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char *got = convert(rows[i].in, rows[i].from, rows[i].to);
        if (strcmp(got, rows[i].out) != 0) {
            fail_msg("\"%s\"\n  gives    %s\n  expected %s", rows[i].in, got, rows[i].out);
        }
    }
}

#define T CS_NOTATION_TORCH
#define C CS_NOTATION_CMAKE
#define N CS_NOTATION_NVCC
#define F CS_NOTATION_FLASHINFER
#define V CS_NOTATION_TVM_FFI
#define S CS_NOTATION_TARGETS

static void test_convert(void **state) {
    (void)state;
    static const struct conversion rows[] = {
        {T, "8.0;8.6 9.0a+PTX", T, "8.0;8.6;9.0a+PTX"},
        {T, "8.0;8.6 9.0a+PTX", C, "80-real;86-real;90a"},
        {T, "8.0,9.0", T, "8.0;9.0"},
        {T, "12.1 7.5", T, "12.1;7.5"},
        {T, "9.0+PTX", N,
         "-gencode=arch=compute_90,code=sm_90 -gencode=arch=compute_90,code=compute_90"},
        {T, "10.0f", N, "-gencode=arch=compute_100f,code=sm_100f"},
        {T, "8.0+PTX;9.0a", S, "sm_80,compute_80,sm_90a"},
        {T, "8.0;8.0+PTX", T, "8.0+PTX"},
        {T, "8.6(8.0)", N, "-gencode=arch=compute_80,code=sm_86"},
        {T, "8.6(8.0)", T, "8.6(8.0)"},
        {T, "Hopper", T, "9.0+PTX"},
        {T, "Ampere;Ampere+Tegra", T, "8.0;8.6+PTX;8.7"},
        {T, "Kepler", T, "3.5+PTX"},
        {T, "Kepler+Tesla", T, "3.7"},
        {T, "Maxwell Maxwell+Tegra", T, "5.0;5.2+PTX;5.3"},
        {T, "Pascal", T, "6.0;6.1+PTX"},
        {T, "Volta;Volta+Tegra", T, "7.0+PTX;7.2"},
        {T, "Turing", T, "7.5+PTX"},
        {T, "Ada", T, "8.9+PTX"},
        {T, "Blackwell", T, "10.0;10.3;12.0;12.1+PTX"},
        {T, "Blackwell+Tegra", T, "11.0"},
        {T, "8.0 9.0a 12.0f", F, "8.0 9.0a 12.0f"},
        {T, "8.9 9.0a", V, "8.9 9.0a"},
        {C, "80-real;90a-virtual", C, "80-real;90a-virtual"},
        {C, "75;80-virtual;90", C, "75;80-virtual;90"},
        {C, "80-real;80-virtual", C, "80"},
        {C, "80-virtual;80-real", T, "8.0+PTX"},
        {C, "90", T, "9.0+PTX"},
        {C, "120f-real", T, "12.0f"},
        {C, "80-real;90a-virtual", N,
         "-gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_90a,code=compute_90a"},
        {C, "all", C, "all"},
        {C, "all-major", N, "-arch=all-major"},
        {C, "native", N, "-arch=native"},
        {C, "OFF", C, "OFF"},
        {C, "off", C, "OFF"},
        {S, "sm_80,compute_90", C, "80-real;90-virtual"},
        {V, "8.9\t9.0a\n", T, "8.9;9.0a"},
        {F, "7.5 8.0 8.9 9.0a 10.0a 10.3a 12.0f", T, "7.5;8.0;8.9;9.0a;10.0a;10.3a;12.0f"},
        {F, "8.9 9.0 10.0 12.0 12.1", T, "8.9;9.0a;10.0a;12.0f;12.1a"},
        // what cannot be said
        {C, "80-real;90a-virtual", T,
         "compute_90a cannot be said in torch notation: its +PTX always brings the SASS along"},
        {T, "8.6(8.0)", C,
         "sm_86 from compute_80 cannot be said in cmake notation: SASS is always compiled from its "
         "own number"},
        {T, "9.0+PTX", F, "compute_90 cannot be said in flashinfer notation: it never keeps PTX"},
        {T, "9.0", F,
         "sm_90 cannot be said in flashinfer notation: FlashInfer adds a suffix to a plain 9.0 and "
         "later"},
        {T, "9.0+PTX", V, "compute_90 cannot be said in tvm-ffi notation: it never keeps PTX"},
        {C, "all", T,
         "\"all\" cannot be said in torch notation: it depends on the toolkit or the machine; "
         "expand it first"},
        {T, "native", N,
         "\"native\" cannot be said in nvcc notation: it depends on the toolkit or the machine; "
         "expand it first"},
        {T, "10.0;10.0f", N,
         "sm_100f cannot be said in nvcc notation: nvcc refuses one sm number from a family (f) "
         "and from another compute_NN together"},
        {C, "OFF", N, "\"OFF\" cannot be said in nvcc notation: it asks for no flags at all"},
    };
    check_conversions(rows, COUNT(rows));
}

// What nvcc 13.0 --dryrun shows for each spelling.
static void test_nvcc(void **state) {
    (void)state;
    static const struct conversion rows[] = {
        {N, "-gencode arch=compute_90,code=sm_90", S, "sm_90"},
        {N, "-gencode=arch=compute_90,code=sm_90", S, "sm_90"},
        {N, "--generate-code arch=compute_90,code=sm_90", S, "sm_90"},
        {N, "--generate-code=arch=compute_90,code=[compute_90,sm_90]", S, "sm_90,compute_90"},
        {N, "-gencode 'arch=compute_90,code=\"sm_90,compute_90\"'", S, "sm_90,compute_90"},
        {N, "-gencode arch=compute_90,code=\\\"sm_90,compute_90\\\"", S, "sm_90,compute_90"},
        {N, "-gencode 'arch=compute_90, code=sm_90'", S, "sm_90"},
        {N, "-gencode code=sm_90,arch=compute_90", S, "sm_90"},
        {N, "-arch=sm_90", S, "sm_90,compute_90"},
        {N, "-arch sm_90", S, "sm_90,compute_90"},
        {N, "--gpu-architecture sm_90", S, "sm_90,compute_90"},
        {N, "--gpu-architecture=compute_90", S, "compute_90"},
        {N, "-arch=sm_90a", S, "sm_90a,compute_90a,compute_90"},
        {N, "-arch=compute_100f", S, "compute_100f,compute_100"},
        {N, "-arch=compute_90a -code=sm_90a", S, "sm_90a"},
        {N, "--gpu-code=sm_90 -arch=compute_90", S, "sm_90"},
        {N, "-arch=compute_90 -code=sm_90 -code=compute_90", S, "sm_90,compute_90"},
        {N, "--gpu-code sm_80,sm_89 --gpu-architecture compute_89", S,
         "arch list: \"sm_80\" at character 1: nvcc does not make it from compute_89"},
        {N, "-arch=sm_80 -gencode arch=compute_90,code=sm_90", S, "sm_90,sm_80,compute_80"},
        {N, "-arch=sm_80 -arch=sm_90", S, "sm_90,compute_90"},
        {N, "-arch=all -gencode arch=compute_90,code=sm_90", N,
         "-arch=all -gencode=arch=compute_90,code=sm_90"},
        {N, "-gencode arch=compute_90,code=sm_90a", N, "-gencode=arch=compute_90,code=sm_90a"},
        {N, "-gencode arch=compute_75,code=sm_121a", N, "-gencode=arch=compute_75,code=sm_121a"},
        {N, "-gencode arch=compute_100f,code=sm_103", N, "-gencode=arch=compute_100f,code=sm_103f"},
        {N, "-gencode arch=compute_100f,code=sm_100", T, "10.0f"},
        {N, "-gencode arch=compute_100f,code=sm_103a", N,
         "-gencode=arch=compute_100f,code=sm_103a"},
        {N, "-gencode arch=compute_80,code=[sm_80,sm_86,compute_80]", N,
         "-gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_80,code=compute_80 "
         "-gencode=arch=compute_80,code=sm_86"},
        {N, "-gencode arch=compute_80,code=lto_80 -dc", N, "-gencode=arch=compute_80,code=lto_80"},
        {N, "-gencode arch=compute_80,code=lto_80", C,
         "lto_80 cannot be said in cmake notation: LTO-IR comes from INTERPROCEDURAL_OPTIMIZATION"},
        {N, "-arch=lto_90", N, "-gencode=arch=compute_90,code=lto_90"},
        // a whole command; -Xptxas takes its value with it
        {N,
         "/usr/bin/ccache nvcc -DA='b c' -O3 -Xptxas -arch=sm_75 --ptxas-options -v "
         "-gencode=arch=compute_80,code=sm_80 -Xcompiler=-march=native -c x.cu -o x.o",
         S, "sm_80"},
        {N, "nvcc -O3 x.cu", S, ""},
        // refused, as nvcc does
        {N, "-gencode arch=compute_90,code=sm_80", S,
         "arch list: \"sm_80\" at character 1: nvcc does not make it from compute_90"},
        {N, "-gencode arch=compute_80,code=compute_90", S,
         "arch list: \"compute_90\" at character 1: nvcc does not make it from compute_80: the PTX "
         "kept must be the one compiled to"},
        {N, "x -gencode arch=compute_90a,code=sm_90", S,
         "arch list: \"sm_90\" at character 3: nvcc does not make it from compute_90a"},
        {N, "-gencode arch=compute_100a,code=sm_100f", S,
         "arch list: \"sm_100f\" at character 1: nvcc does not make it from compute_100a"},
        {N, "-gencode arch=compute_100f,code=sm_120f", S,
         "arch list: \"sm_120f\" at character 1: nvcc does not make it from compute_100f"},
        {N, "-arch=sm_100f -gencode arch=compute_100,code=sm_100", S,
         "arch list: \"sm_100f\" at character 1: nvcc refuses one sm number from a family (f) and "
         "from "
         "another compute_NN together"},
        {N, "-gencode arch=compute_100,code=[sm_100f,sm_100]", S,
         "sm_100f from compute_100 cannot be said in targets notation: it names images, not how "
         "they "
         "are made"},
        {N, "-gencode arch=compute_103f,code=sm_100f", S,
         "arch list: \"sm_100f\" at character 1: nvcc does not make it from compute_103f"},
        {N, "-gencode arch=sm_90,code=sm_90", S,
         "arch list: \"sm_90\" at character 1: arch must be compute_NN where code is given"},
        {N, "-arch=sm_80 -code=sm_80", S,
         "arch list: \"sm_80\" at character 1: arch must be compute_NN where code is given"},
        {N, "-code=sm_90", S, "arch list: \"sm_90\" at character 1: -code without -arch"},
        {N, "-gencode arch=compute_90", S,
         "arch list: \"arch=compute_90\" at character 1: -gencode without code="},
        {N, "-gencode code=sm_90", S,
         "arch list: \"code=sm_90\" at character 1: -gencode without arch="},
        {N, "-gencode arch=compute_90,code=sm_90,compute_90", S,
         "arch list: \"compute_90\" at character 1: not key=value; several codes need [a,b] around "
         "them"},
        {N, "-gencode arch=compute_90,code=[sm_90],code=compute_90", S,
         "arch list: \"arch=compute_90,code=[sm_90],code=compute_90\" at character 1: the same key "
         "twice in one flag"},
        {N, "-gencode arch=compute_90,code=[sm_90", S,
         "arch list: \"arch=compute_90,code=[sm_90\" at character 1: brackets or quotes are not "
         "closed"},
        {N, "-arch=native -code=sm_80", S,
         "arch list: \"native\" at character 1: it does not go with -code"},
        {N, "-arch=90", S,
         "arch list: \"90\" at character 1: not sm_NN, compute_NN, lto_NN, all, all-major or "
         "native; "
         "nearest is \"sm_90\""},
        {N, "-arch=sm_88a", S,
         "arch list: \"sm_88a\" at character 1: no nvcc from 11.0 to 13.5 has this target; nearest "
         "is \"sm_88\""},
        {N, "-arch", S, "arch list: \"-arch\" at character 1: its value is missing"},
        {N, "-DX='a", S, "command line: a single quote is not closed (at offset 0x0)"},
    };
    check_conversions(rows, COUNT(rows));
}

static void test_wrong_words(void **state) {
    (void)state;
    static const struct conversion rows[] = {
        {T, "8.0 9.0b", T,
         "arch list: \"9.0b\" at character 5: not X.Y, X.Ya, X.Yf with or without +PTX, and no "
         "family name; nearest is \"9.0a\""},
        {T, "8.0a", T,
         "arch list: \"8.0a\" at character 1: no nvcc from 11.0 to 13.5 has this target; nearest "
         "is "
         "\"8.0\""},
        {T, "9.1", T,
         "arch list: \"9.1\" at character 1: no nvcc from 11.0 to 13.5 has this target; nearest is "
         "\"9.0\""},
        {T, "sm_90", T,
         "arch list: \"sm_90\" at character 1: not X.Y, X.Ya, X.Yf with or without +PTX, and no "
         "family name; nearest is \"9.0\""},
        {T, "Hoper", T,
         "arch list: \"Hoper\" at character 1: not X.Y, X.Ya, X.Yf with or without +PTX, and no "
         "family name; nearest is \"Hopper\""},
        {T, "8.0;;9.0", T,
         "arch list: \"\" at character 5: an item is missing between two separators"},
        {T, "8.0 ", T, "arch list: \"\" at character 5: an item is missing between two separators"},
        {T, "", T, "arch list: \"\" at character 1: the list is empty"},
        {T, "9.0+ptx", T,
         "arch list: \"9.0+ptx\" at character 1: not X.Y, X.Ya, X.Yf with or without +PTX, and no "
         "family name; nearest is \"9.0+PTX\""},
        {T, "8.6(9.0)", T,
         "arch list: \"8.6(9.0)\" at character 1: nvcc does not compile the one into the other"},
        {C, "9.0", C,
         "arch list: \"9.0\" at character 1: not N, Na, Nf with or without -real or -virtual; "
         "nearest is \"90\""},
        {C, "80;90-reel", C,
         "arch list: \"90-reel\" at character 4: not N, Na, Nf with or without -real or -virtual; "
         "nearest is \"90-real\""},
        {C, "80;all", C,
         "arch list: \"all\" at character 4: not N, Na, Nf with or without -real or -virtual"},
        {C, "80 86", C,
         "arch list: \"80 86\" at character 1: CMake separates by ; alone; nearest is \"80\""},
        {C, "80;", C, "arch list: \"\" at character 4: an item is missing between two separators"},
        {F, "8.0  9.0a", F,
         "arch list: \"\" at character 5: an item is missing between two separators"},
        {F, "9.0a+PTX", F,
         "arch list: \"9.0a+PTX\" at character 1: not X.Y, X.Ya, X.Yf; nearest is \"9.0a\""},
        {V, "", V, "arch list: \"\" at character 1: the list is empty"},
        {S, "sm_80,90", S,
         "arch list: \"90\" at character 7: not sm_NN or compute_NN; nearest is \"sm_90\""},
    };
    check_conversions(rows, COUNT(rows));
}

static void test_toolkit(void **state) {
    (void)state;
    static const struct {
        uint16_t toolkit;
        const char *in, *error;
    } rows[] = {
        {130, "7.5 8.8 11.0a", ""},
        {129, "8.8",
         "arch list: \"8.8\" at character 1: CUDA 12.9 does not build it: it needs CUDA "
         "13.0 or newer"},
        {130, "7.0",
         "arch list: \"7.0\" at character 1: CUDA 13.0 does not build it: CUDA 12.9 was "
         "the last to build it"},
        {130, "10.1a",
         "arch list: \"10.1a\" at character 1: CUDA 13.0 does not build it: CUDA 13.0 "
         "calls this chip sm_110a"},
        {129, "11.0",
         "arch list: \"11.0\" at character 1: CUDA 12.9 does not build it: CUDA 12.9 "
         "calls this chip sm_101"},
        {128, "10.0f",
         "arch list: \"10.0f\" at character 1: CUDA 12.8 does not build it: it needs "
         "CUDA 12.9 or newer"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct cs_archlist list;
        struct cs_err err = {0};
        char text[512] = "";
        cs_archlist_init(&list);
        const struct cs_archlist_options options = {.notation = T, .toolkit_x10 = rows[i].toolkit};
        if (cs_archlist_parse(&list, cs_str_from(rows[i].in), &options, &err) != CS_OK) {
            cs_err_format(&err, text, sizeof text);
        }
        assert_string_equal(text, rows[i].error);
        cs_archlist_fini(&list);
    }
}

static const char *expanded(const char *text, enum cs_notation from, uint16_t toolkit,
                            const struct cs_device *native, uint32_t count) {
    static char out[1024];
    struct cs_archlist list;
    struct cs_err err = {0};
    struct cs_buf buf;
    cs_buf_init(&buf, sizeof out - 1);
    if (parse(&list, text, from, &err) == CS_OK &&
        cs_archlist_expand(&list, toolkit, native, count, &err) == CS_OK &&
        cs_archlist_print(&list, S, &buf, &err) == CS_OK) {
        snprintf(out, sizeof out, "%s", buf.ptr);
    } else {
        cs_err_format(&err, out, sizeof out);
    }
    cs_buf_fini(&buf);
    cs_archlist_fini(&list);
    return out;
}

// nvcc --dryrun of 13.0 and 13.5; CMake's tables for the older ones.
static void test_expand(void **state) {
    (void)state;
    assert_string_equal(expanded("all", C, 130, NULL, 0),
                        "sm_75,sm_80,sm_86,sm_87,sm_88,sm_89,sm_90,sm_100,sm_103,sm_110,sm_120,"
                        "compute_120,sm_121");
    assert_string_equal(expanded("-arch=all", N, 135, NULL, 0),
                        "sm_75,sm_80,sm_86,sm_87,sm_88,sm_89,sm_90,sm_100,sm_103,sm_107,sm_110,"
                        "sm_120,compute_120,sm_121");
    assert_string_equal(expanded("all-major", C, 130, NULL, 0),
                        "sm_75,sm_80,sm_90,sm_100,sm_110,sm_120,compute_120");
    assert_string_equal(expanded("all-major", C, 128, NULL, 0),
                        "sm_50,sm_60,sm_70,sm_80,sm_90,sm_100,sm_120,compute_120");
    assert_string_equal(expanded("all-major", C, 118, NULL, 0),
                        "sm_35,sm_50,sm_60,sm_70,sm_80,sm_90,compute_90");
    assert_string_equal(expanded("all", C, 0, NULL, 0),
                        "\"all\" depends on the CUDA toolkit: name one (11.0 to 13.5)");
    static const struct cs_device host[] = {{9, 0}, {10, 0}, {9, 0}};
    assert_string_equal(expanded("native", C, 0, host, 3), "sm_90,sm_100");
    // torch sorts by text, so PTX goes to 9.0
    assert_string_equal(expanded("native", T, 0, host, 3), "sm_90,compute_90,sm_100");
    assert_string_equal(expanded("native", T, 0, NULL, 0),
                        "\"native\" means the GPUs of the build machine, and none was given");
}

static void test_for_toolkit(void **state) {
    (void)state;
    static const struct {
        const char *in;
        uint16_t toolkit;
        const char *out;
        size_t renamed;
    } rows[] = {
        {"9.0a;10.1a", 130, "9.0a;11.0a", 1},
        {"11.0;11.0f", 129, "10.1;10.1f", 2},
        {"9.0", 130, "9.0", 0},
        {"7.0", 130, "CUDA 13.0 does not build sm_70: CUDA 12.9 was the last to build it", 0},
        {"11.0f", 128, "CUDA 12.8 does not build sm_110f: it needs CUDA 13.0 or newer", 0},
        {"8.6(8.0)", 130, "8.6(8.0)", 0},
        {"12.0f(9.0)", 135, "12.0f(9.0)", 0},
        {"12.0f(9.0)", 130, "CUDA 13.0 does not make sm_120f from compute_90", 0},
        {"10.7", 130, "CUDA 13.0 does not build sm_107: it needs CUDA 13.4 or newer", 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct cs_archlist list;
        struct cs_err err = {0};
        struct cs_buf buf;
        char out[256];
        cs_buf_init(&buf, 200);
        assert_int_equal(parse(&list, rows[i].in, T, &err), CS_OK);
        list.issues.count = 0;
        if (cs_archlist_for_toolkit(&list, rows[i].toolkit, &err) == CS_OK &&
            cs_archlist_print(&list, T, &buf, &err) == CS_OK) {
            snprintf(out, sizeof out, "%s", buf.ptr);
            assert_int_equal(list.issues.count, rows[i].renamed);
        } else {
            cs_err_format(&err, out, sizeof out);
        }
        assert_string_equal(out, rows[i].out);
        cs_buf_fini(&buf);
        cs_archlist_fini(&list);
    }
}

static void test_guess(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum cs_notation notation;
    } rows[] = {
        {"8.0;9.0a+PTX", T},
        {"Hopper", T},
        {"native", T},
        {"90", C},
        {"80-real;90", C},
        {"all", C},
        {"OFF", C},
        {"-arch=sm_90", N},
        {"nvcc -gencode arch=compute_90,code=sm_90 x.cu", N},
        {"sm_90,compute_90", S},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct cs_archlist list;
        assert_int_equal(parse(&list, rows[i].text, CS_NOTATION_AUTO, NULL), CS_OK);
        assert_int_equal(list.notation, rows[i].notation);
        cs_archlist_fini(&list);
    }
}

// Every target of the table, alone and in pairs, through every notation that can say it and back.
static void test_round_trips(void **state) {
    (void)state;
    static const enum cs_notation all[] = {T, C, N, F, V, S};
    uint32_t count, trips = 0;
    const struct cs_target_row *rows = cs_target_table(&count);
    for (uint32_t i = 0; i < count * count * 9; i++) {
        struct cs_archlist list;
        cs_archlist_init(&list);
        list.notation = T;
        const struct cs_target_row *a = &rows[i % count];
        const struct cs_target_row *b = &rows[i / count % count];
        const uint32_t forms = i / count / count;
        struct cs_arch_entry e = {.real = {a->arch, a->suffix, false},
                                  .virt = {a->arch, a->suffix, true}};
        e.sass = forms % 3 != 1;
        e.ptx = forms % 3 != 0;
        assert_true(cs_archlist_add(&list, e));
        e.real = (struct cs_target){b->arch, b->suffix, false};
        e.virt = (struct cs_target){b->arch, b->suffix, true};
        e.sass = forms / 3 != 1;
        e.ptx = forms / 3 != 0;
        assert_true(cs_archlist_add(&list, e));
        const bool clash = a->arch == b->arch && (a->suffix == 'f') != (b->suffix == 'f') &&
                           a->suffix != 'a' && b->suffix != 'a' && list.entries.ptr[0].sass &&
                           e.sass;
        for (size_t n = clash ? COUNT(all) : 0; n < COUNT(all); n++) {  // nvcc refuses that pair
            struct cs_buf first, second;
            cs_buf_init(&first, 400);
            cs_buf_init(&second, 400);
            if (cs_archlist_print(&list, all[n], &first, NULL) == CS_OK) {
                struct cs_archlist back, merged;
                cs_archlist_init(&merged);
                assert_int_equal(parse(&back, first.ptr, all[n], NULL), CS_OK);
                assert_int_equal(cs_archlist_print(&back, all[n], &second, NULL), CS_OK);
                assert_string_equal(first.ptr, second.ptr);
                // and it means the same: as nvcc flags, which say everything
                struct cs_buf x, y;
                cs_buf_init(&x, 400);
                cs_buf_init(&y, 400);
                assert_int_equal(cs_archlist_print(&list, N, &x, NULL), CS_OK);
                assert_int_equal(cs_archlist_print(&back, N, &y, NULL), CS_OK);
                assert_string_equal(x.ptr, y.ptr);
                cs_buf_fini(&x);
                cs_buf_fini(&y);
                cs_archlist_fini(&back);
                cs_archlist_fini(&merged);
                trips++;
            }
            cs_buf_fini(&first);
            cs_buf_fini(&second);
        }
        cs_archlist_fini(&list);
    }
    assert_true(trips > 40000);
}

static const char *flags(const char *text, enum cs_notation from, enum cs_flag_style style) {
    static char out[1024];
    struct cs_archlist list;
    struct cs_err err = {0};
    struct cs_buf buf;
    cs_buf_init(&buf, sizeof out - 1);
    if (parse(&list, text, from, &err) == CS_OK &&
        cs_archlist_flags(&list, style, &buf, &err) == CS_OK) {
        snprintf(out, sizeof out, "%s", buf.ptr ? buf.ptr : "");
    } else {
        cs_err_format(&err, out, sizeof out);
    }
    cs_buf_fini(&buf);
    cs_archlist_fini(&list);
    return out;
}

static void test_flags(void **state) {
    (void)state;
    assert_string_equal(flags("9.0+PTX 8.0 10.0 8.0", T, CS_FLAGS_TORCH),
                        "-gencode=arch=compute_100,code=sm_100 -gencode=arch=compute_80,code=sm_80 "
                        "-gencode=arch=compute_90,code=compute_90 "
                        "-gencode=arch=compute_90,code=sm_90");
    assert_string_equal(flags("12.0f", T, CS_FLAGS_TORCH),
                        "\"12.0f\": torch 2.11.0 refuses this target");
    assert_string_equal(flags("8.0,9.0", T, CS_FLAGS_TORCH),
                        "\",\": torch itself separates by ; or space, not by comma");
    assert_string_equal(flags("80;90a-real;90-virtual;80", C, CS_FLAGS_CMAKE),
                        "--generate-code=arch=compute_80,code=[compute_80,sm_80] "
                        "--generate-code=arch=compute_90a,code=[sm_90a] "
                        "--generate-code=arch=compute_90,code=[compute_90] "
                        "--generate-code=arch=compute_80,code=[compute_80,sm_80]");
    assert_string_equal(flags("all-major", C, CS_FLAGS_CMAKE), "-arch=all-major");
    assert_string_equal(flags("OFF", C, CS_FLAGS_CMAKE), "");
    assert_string_equal(flags("8.0+PTX;12.0f", T, CS_FLAGS_VLLM),
                        "-gencode arch=compute_80,code=sm_80 -gencode "
                        "arch=compute_80,code=compute_80 -gencode arch=compute_120f,code=sm_120f");
}

// "slug token" of every issue, one a line, sorted as found.
static const char *lint(const char *text, enum cs_notation from, const char *declared) {
    static char out[2048];
    struct cs_archlist list, other;
    cs_archlist_init(&list);
    const struct cs_archlist_options options = {.notation = from, .collect = true};
    assert_int_equal(cs_archlist_parse(&list, cs_str_from(text), &options, NULL), CS_OK);
    if (declared) {
        assert_int_equal(parse(&other, declared, CS_NOTATION_AUTO, NULL), CS_OK);
    }
    cs_archlist_lint(&list, declared ? &other : NULL);
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < list.issues.count; i++) {
        const struct cs_arch_issue *issue = &list.issues.ptr[i];
        len += (size_t)snprintf(out + len, sizeof out - len, "%s%s:%s", i ? " " : "",
                                cs_arch_issue_slug(issue->id), issue->token.ptr);
    }
    if (declared) {
        cs_archlist_fini(&other);
    }
    cs_archlist_fini(&list);
    return out;
}

static void test_lint(void **state) {
    (void)state;
    static const struct {
        enum cs_notation from;
        const char *in, *declared, *issues;
    } rows[] = {
        {T, "8.0;9.0", NULL, ""},
        {T, "8.0;8.0", NULL, "duplicate-target:sm_80"},
        {T, "8.0;8.0+PTX", NULL, "contradictory-target:sm_80"},
        {C, "80;80-real", NULL, "contradictory-target:sm_80"},
        {C, "80-real;80-virtual", NULL, ""},
        {T, "9.0;9.0a", NULL, "shadowed-image:sm_90"},
        {T, "8.0a;9.0x;8.0", NULL, "bad-token:8.0a bad-token:9.0x"},
        {T, "12.0f", NULL, "not-read-by-tool:12.0f"},
        {T, "8.0;9.0", "8.0", "undeclared-target:sm_90"},
        {N, "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_80,code=sm_80", NULL,
         "duplicate-target:sm_80"},
        {N,
         "-gencode arch=compute_80,code=sm_80 -O3 -gencode=arch=compute_80,code=sm_80 "
         "-gencode=arch=compute_70,code=sm_70 -gencode=arch=compute_70,code=compute_70",
         NULL, "duplicate-target:sm_80 re-added-target:sm_70 re-added-target:compute_70"},
        {N, "-gencode arch=compute_80,code=sm_90 -gencode arch=compute_90,code=sm_90", NULL,
         "contradictory-target:sm_90"},
        {N, "-arch=sm_80 -gencode arch=compute_90,code=sm_90", NULL, "contradictory-target:-arch"},
        {N, "-arch=sm_80 -arch=sm_90", NULL, "contradictory-target:sm_90"},
        {N, "-arch=all -gencode arch=compute_90,code=sm_90", NULL, "contradictory-target:all"},
        {N, "-gencode arch=compute_90a,code=sm_100", NULL, "impossible-target:sm_100"},
        {N, "-gencode arch=compute_100f,code=sm_120f -gencode arch=compute_90,code=sm_90", NULL,
         "impossible-target:sm_120f"},
        {T, "10.0;10.0f", NULL, "not-read-by-tool:10.0f impossible-target:sm_100f"},
        {N, "-gencode arch=compute_103,code=sm_103 -gencode arch=compute_100f,code=sm_103", NULL,
         "impossible-target:sm_103f"},
        {N, "--options-file flags.txt -arch=sm_80", NULL, "unread-options-file:flags.txt"},
        {N, "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_86,code=sm_86", "8.0+PTX",
         "undeclared-target:sm_86"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *got = lint(rows[i].in, rows[i].from, rows[i].declared);
        if (strcmp(got, rows[i].issues) != 0) {
            fail_msg("\"%s\"\n  gives    %s\n  expected %s", rows[i].in, got, rows[i].issues);
        }
    }
}

static void test_words(void **state) {
    (void)state;
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"a  b\tc\nd", "a|b|c|d"},
        {"'a b' \"c d\"", "a b|c d"},
        {"a'b'\"c\"d", "abcd"},
        {"\\\"x\\\" \\ y", "\"x\"| y"},
        {"\"a\\\"b\\n\\\\\"", "a\"b\\n\\"},
        {"'a\\b'", "a\\b"},
        {"'' x", "|x"},
        {"a\\\nb", "ab"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct cs_arena arena;
        struct cs_words words = {0};
        cs_arena_init(&arena);
        assert_int_equal(cs_words_split(cs_str_from(rows[i].in), &arena, &words, NULL), CS_OK);
        char out[64] = "";
        size_t len = 0;
        for (size_t k = 0; k < words.words.count; k++) {
            len += (size_t)snprintf(out + len, sizeof out - len, "%s%s", k ? "|" : "",
                                    words.words.ptr[k].ptr);
        }
        assert_string_equal(out, rows[i].out);
        cs_words_fini(&words);
        cs_arena_fini(&arena);
    }
}

static void test_argv(void **state) {
    (void)state;
    const struct cs_str words[] = {CS_STR("nvcc"), CS_STR("-gencode"),
                                   CS_STR("arch=compute_90,code=[sm_90,compute_90]"),
                                   CS_STR("-arch"), CS_STR("sm_8x")};
    struct cs_archlist list;
    struct cs_err err = {0};
    char text[256];
    cs_archlist_init(&list);
    assert_int_equal(cs_archlist_parse_words(&list, words, 3, NULL, &err), CS_OK);
    assert_int_equal(list.entries.count, 1);
    assert_true(list.entries.ptr[0].sass && list.entries.ptr[0].ptx);
    cs_archlist_fini(&list);
    cs_archlist_init(&list);
    assert_int_equal(cs_archlist_parse_words(&list, words, 5, NULL, &err), CS_USAGE);
    cs_err_format(&err, text, sizeof text);
    assert_string_equal(text,
                        "arch list: \"sm_8x\" at word 4: not sm_NN, compute_NN, lto_NN, all, "
                        "all-major or native; nearest is \"sm_80\"");
    cs_archlist_fini(&list);
}

// The images of a list, and what serves each device.
static void test_images(void **state) {
    (void)state;
    struct cs_archlist list;
    struct cs_archlist_images images = {0};
    assert_int_equal(parse(&list, "8.0+PTX;9.0a", T, NULL), CS_OK);
    assert_int_equal(cs_archlist_to_images(&list, 128, &images, NULL), CS_OK);
    assert_int_equal(images.images.count, 3);
    static const struct {
        struct cs_device device;
        enum cs_outcome outcome;
        uint32_t entry;
    } rows[] = {{{8, 6}, CS_OUTCOME_SAME_MAJOR, 0},
                {{8, 7}, CS_OUTCOME_JIT, 0},
                {{9, 0}, CS_OUTCOME_NATIVE, 1},
                {{12, 0}, CS_OUTCOME_JIT, 0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct cs_selection s =
            cs_select(images.images.ptr, (uint32_t)images.images.count, rows[i].device, NULL);
        assert_int_equal(s.outcome, rows[i].outcome);
        assert_int_equal(images.entry_of.ptr[s.index], rows[i].entry);
    }
    cs_archlist_images_fini(&images);
    cs_archlist_fini(&list);
}

// A megabyte of text, good and bad, must take a moment only.
static void test_long(void **state) {
    (void)state;
    enum { BYTES = 1 << 20 };
    char *text = malloc(BYTES + 1);
    assert_non_null(text);
    static const char *const fills[] = {"8.0;9.0a+PTX;",
                                        "80-real;90;",
                                        "-gencode arch=compute_90,code=sm_90 ",
                                        "x",
                                        ";;",
                                        "8.0 8.0x ",
                                        "-arch=sm_9 ",
                                        "'"};
    for (size_t f = 0; f < COUNT(fills); f++) {
        const size_t len = strlen(fills[f]);
        for (size_t i = 0; i < BYTES; i++) {
            text[i] = fills[f][i % len];
        }
        text[BYTES / len * len - (fills[f][len - 1] == ';' || fills[f][len - 1] == ' ')] = '\0';
        for (int collect = 0; collect < 2; collect++) {
            const clock_t start = clock();
            struct cs_archlist list;
            struct cs_buf out;
            cs_buf_init(&out, 4096);
            cs_archlist_init(&list);
            const struct cs_archlist_options options = {.collect = collect == 1};
            const enum cs_code code =
                cs_archlist_parse(&list, cs_str_from(text), &options, &(struct cs_err){0});
            if (code == CS_OK) {
                cs_archlist_lint(&list, NULL);
                (void)!cs_archlist_print(&list, N, &out, NULL);
                assert_true(list.issues.count <= CS_ARCH_ISSUES_MAX);
            }
            cs_buf_fini(&out);
            cs_archlist_fini(&list);
            assert_true(clock() - start < 20 * CLOCKS_PER_SEC);  // quadratic: minutes
        }
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_convert),     cmocka_unit_test(test_nvcc),
        cmocka_unit_test(test_wrong_words), cmocka_unit_test(test_toolkit),
        cmocka_unit_test(test_expand),      cmocka_unit_test(test_for_toolkit),
        cmocka_unit_test(test_guess),       cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_flags),       cmocka_unit_test(test_lint),
        cmocka_unit_test(test_words),       cmocka_unit_test(test_argv),
        cmocka_unit_test(test_images),      cmocka_unit_test(test_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
