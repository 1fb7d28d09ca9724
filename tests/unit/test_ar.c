// ar reader: three ways of naming, special members, padding, refusals.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/buf.h"
#include "format/ar.h"

static void add(struct cs_buf *b, const char *name, const char *data, size_t len) {
    if (b->len & 1) {
        cs_buf_addc(b, '\n');
    }
    cs_buf_printf(b, "%-16s%-12d%-6d%-6d%-8o%-10zu`\n", name, 0, 0, 0, 0100644u, len);
    cs_buf_add(b, data, len);
}

static void test_names(void **state) {
    (void)state;
    struct cs_buf b;
    cs_buf_init(&b, 1 << 20);
    cs_buf_adds(&b, "!<arch>\n");
    add(&b, "/", "index", 5);
    static const char table[] = "a_very_long_object_name.o/\nsecond/with/slash.o/\n";
    add(&b, "//", table, sizeof table - 1);
    add(&b, "short.o/", "12345", 5);
    add(&b, "/0", "x", 1);
    add(&b, "/27", "", 0);
    add(&b, "bsd.o", "yy", 2);
    add(&b, "#1/12", "long name.o\0data", 16);
    add(&b, "__.SYMDEF", "s", 1);
    struct cs_ar a;
    struct cs_err err = {0};
    assert_true(cs_ar_probe(cs_buf_view(&b)));
    assert_int_equal(cs_ar_open(cs_buf_view(&b), &a, &err), CS_OK);
    static const struct {
        const char *name;
        uint64_t bytes;
        bool special;
    } want[] = {{"/", 5, true},
                {"//", sizeof table - 1, true},
                {"short.o", 5, false},
                {"a_very_long_object_name.o", 1, false},
                {"second/with/slash.o", 0, false},
                {"bsd.o", 2, false},
                {"long name.o", 4, false},
                {"__.SYMDEF", 1, true}};
    assert_int_equal(a.members.count, sizeof want / sizeof want[0]);
    for (size_t i = 0; i < a.members.count; i++) {
        const struct cs_ar_member *m = &a.members.ptr[i];
        assert_true(cs_str_eq(m->name, cs_str_from(want[i].name)));
        assert_int_equal(m->bytes, want[i].bytes);
        assert_int_equal(m->special, want[i].special);
        assert_true(cs_view_has(a.file, m->data_off, m->bytes));
    }
    assert_memory_equal(b.ptr + a.members.ptr[6].data_off, "data", 4);
    cs_ar_close(&a);
    cs_buf_fini(&b);
}

static void test_refusals(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t claim;
        enum cs_code want;
    } table[] = {
        {"ok.o/", 4, CS_OK},
        {"big.o/", 5, CS_FORMAT},
        {"/9", 4, CS_FORMAT},
        {"/x", 4, CS_FORMAT},
        {"#1/9", 4, CS_FORMAT},
        {"#1/", 4, CS_FORMAT},
        {"huge.o/", 9999999999, CS_FORMAT},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct cs_buf b;
        cs_buf_init(&b, 1 << 20);
        cs_buf_printf(&b, "!<arch>\n%-16s%-32s%-10zu`\nDATA", table[i].name, "0", table[i].claim);
        struct cs_ar a;
        assert_int_equal(cs_ar_open(cs_buf_view(&b), &a, NULL), table[i].want);
        if (table[i].want == CS_OK) {
            cs_ar_close(&a);
        }
        cs_buf_fini(&b);
    }
    struct cs_ar a;
    struct cs_err err = {0};
    assert_int_equal(cs_ar_open(cs_view_of("!<thin>\n", 8), &a, &err), CS_UNSUPPORTED);
    assert_int_equal(cs_ar_open(cs_view_of("!<arch>", 7), &a, &err), CS_FORMAT);
    assert_int_equal(cs_ar_open(cs_view_of("!<arch>\n", 8), &a, &err), CS_OK);
    cs_ar_close(&a);
    assert_int_equal(cs_ar_open(cs_view_of("!<arch>\nx", 9), &a, &err), CS_FORMAT);
    assert_int_equal(err.offset, 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
