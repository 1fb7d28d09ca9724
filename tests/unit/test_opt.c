#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cli/opt.h"

static const char *const colors[] = {"red", "green", NULL};

static enum cs_code parse_pair(struct cs_str text, void *field, struct cs_err *err) {
    if (text.len != 2) {
        return cs_fail(err, CS_USAGE, "'%s' is no pair", text.ptr);
    }
    *(uint32_t *)field = (uint32_t)(text.ptr[0] << 8 | text.ptr[1]);
    return CS_OK;
}

struct opts {
    bool flag, plain;
    unsigned tally, color;
    const char *name;
    struct cs_list list, paint;
    uint64_t size, number, top;
    uint32_t pair;
};

static const struct cs_opt table[] = {
    CS_OPT(FLAG, "flag", 0, struct opts, flag, NULL, "A flag."),
    CS_OPT(SWITCH, "plain", 'p', struct opts, plain, NULL, "A switch."),
    CS_OPT(TALLY, "verbose", 'v', struct opts, tally, NULL, "A tally."),
    CS_OPT(STRING, "name", 'n', struct opts, name, "NAME", "A text."),
    CS_OPT(LIST, "device", 'd', struct opts, list, "LIST", "A list."),
    CS_OPT(LIST, "paint", 0, struct opts, paint, "LIST", "Words.", .choices = colors),
    CS_OPT(SIZE, "size", 0, struct opts, size, "SIZE", "A size."),
    CS_OPT(NUMBER, "jobs", 'j', struct opts, number, "N", "A number."),
    CS_OPT(TOP, "top", 0, struct opts, top, "N", "A number or all."),
    CS_OPT(CHOICE, "color", 0, struct opts, color, "red|green", "A choice.", .choices = colors),
    CS_OPT(VALUE, "pair", 0, struct opts, pair, "XY", "A value.", .parse = parse_pair),
    CS_OPT_LAST,
};

enum { WORDS_MAX = 8 };

struct result {
    struct opts opts;
    struct cs_args args;
    struct cs_err err;
    enum cs_code code;
};

static struct result parse_raw(bool raw, const char *const *words) {
    struct result r = {0};
    char *argv[WORDS_MAX];
    int argc = 0;
    for (; argc < WORDS_MAX && words[argc]; argc++) {
        argv[argc] = (char *)(uintptr_t)words[argc];
    }
    const struct cs_opt_set set = {table, &r.opts};
    r.code = cs_opt_parse(&set, 1, raw, argc, argv, &r.args, &r.err);
    return r;
}

static void done(struct result *r) {
    cs_opt_fini(&(struct cs_opt_set){table, &r->opts});
    cs_vec_fini(&r->args.items);
}

#define PARSE(...) parse_raw(false, (const char *const[WORDS_MAX + 1]){__VA_ARGS__, NULL})

static void test_values(void **state) {
    (void)state;
    struct result r =
        PARSE("--flag", "-pvv", "--name=x=y", "in", "-j4", "--size", "1.5 KiB", "--pair=ab");
    assert_int_equal(r.code, CS_OK);
    assert_true(r.opts.flag && r.opts.plain);
    assert_int_equal(r.opts.tally, 2);
    assert_string_equal(r.opts.name, "x=y");
    assert_int_equal(r.opts.number, 4);
    assert_int_equal(r.opts.size, 1536);
    assert_int_equal(r.opts.pair, 'a' << 8 | 'b');
    assert_int_equal(r.args.items.count, 1);
    assert_string_equal(r.args.items.ptr[0], "in");
    done(&r);

    r = PARSE("--flag", "--no-flag", "--color=green", "--top=all", "-n", "-x", "-");
    assert_int_equal(r.code, CS_OK);
    assert_false(r.opts.flag);
    assert_int_equal(r.opts.color, 1);
    assert_true(r.opts.top == UINT64_MAX);
    assert_string_equal(r.opts.name, "-x");
    assert_string_equal(r.args.items.ptr[0], "-");
    done(&r);
}

static void test_list(void **state) {
    (void)state;
    struct result r = PARSE("--device=8.0,9.0", "-d", "all");
    assert_int_equal(r.code, CS_OK);
    assert_int_equal(r.opts.list.items.count, 3);
    assert_true(cs_str_eq(r.opts.list.items.ptr[1], CS_STR("9.0")));
    assert_true(cs_str_eq(r.opts.list.items.ptr[2], CS_STR("all")));
    done(&r);
}

static void test_end_of_options(void **state) {
    (void)state;
    struct result r = PARSE("a", "--", "--flag", "-p");
    assert_int_equal(r.code, CS_OK);
    assert_false(r.opts.flag);
    assert_int_equal(r.args.items.count, 3);
    assert_true(r.args.dashed);
    assert_int_equal(r.args.dash_at, 1);
    done(&r);

    r = parse_raw(true, (const char *const[]){"-v", "nvcc", "-p", "--flag", "--", "x", NULL});
    assert_int_equal(r.code, CS_OK);
    assert_int_equal(r.opts.tally, 1);
    assert_false(r.opts.plain || r.opts.flag || r.args.dashed);
    assert_int_equal(r.args.items.count, 5);
    done(&r);
}

static void test_errors(void **state) {
    (void)state;
    static const struct {
        const char *word;
        const char *message;
    } rows[] = {
        {"--flga", "unknown option '--flga'; did you mean '--flag'?"},
        {"--fl", "unknown option '--fl'"},
        {"--frobnicate", "unknown option '--frobnicate'"},
        {"--no-plain", "unknown option '--no-plain'; did you mean '--plain'?"},
        {"--no-", "unknown option '--no-'"},
        {"-x", "unknown option '-x'"},
        {"-px", "unknown option '-x'"},
        {"--flag=1", "--flag takes no value"},
        {"--name", "--name needs a value (NAME)"},
        {"--name=", "--name: the value is empty"},
        {"--color=gren", "--color: unknown word 'gren'; did you mean 'green'?"},
        {"--color=blue-ish", "--color: unknown word 'blue-ish'; known are red, green"},
        {"--jobs=4x", "--jobs: '4x' is no number"},
        {"--jobs=99999999999999999999", "--jobs: '99999999999999999999' is no number"},
        {"--size=big", "--size: 'big' is no size; write 300MiB, 1.5GiB or 100MB"},
        {"--device=a,,b", "--device: empty word in the list 'a,,b'"},
        {"--paint=red,gren", "--paint: unknown word 'gren'; did you mean 'green'?"},
        {"--device=a,", "--device: empty word in the list 'a,'"},
        {"--pair=abc", "--pair: 'abc' is no pair"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct result r = PARSE(rows[i].word);
        char text[512];
        assert_int_equal(r.code, CS_USAGE);
        cs_err_format(&r.err, text, sizeof text);
        assert_string_equal(text, rows[i].message);
        done(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_end_of_options),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
