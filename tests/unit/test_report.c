#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "report/clean.h"
#include "report/report.h"

static void clean_is(struct cs_str in, const char *want) {
    struct cs_buf out;
    cs_buf_init(&out, CS_MIB);
    cs_clean(&out, in);
    assert_string_equal(out.ptr ? out.ptr : "", want);
    struct cs_buf again;
    cs_buf_init(&again, CS_MIB);
    cs_clean(&again, cs_buf_str(&out));
    assert_string_equal(again.ptr ? again.ptr : "", want);
    cs_buf_fini(&out);
    cs_buf_fini(&again);
}

static void test_clean(void **state) {
    (void)state;
    clean_is(CS_STR(""), "");
    clean_is(CS_STR("void k<int>(T1)"), "void k<int>(T1)");
    clean_is(CS_STR("caf\xC3\xA9 \xE6\xBC\xA2"), "caf\xC3\xA9 \xE6\xBC\xA2");
    clean_is(CS_STR("\x1b[31mred\x07"), "\\x1B[31mred\\x07");
    clean_is(CS_STR("a\nb\r\tc\0d\x7f"), "a\\x0Ab\\x0D\\x09c\\x00d\\x7F");
    clean_is(CS_STR("\xC2\x9B" "31m"), "\\u{9B}31m");              // C1 control sequence introducer
    clean_is(CS_STR("a\xE2\x80\xAE" "b"), "a\\u{202E}b");          // right-to-left override
    clean_is(CS_STR("a\xE2\x81\xA7" "b"), "a\\u{2067}b");          // isolate
    clean_is(CS_STR("a\xE2\x80\x8B" "b"), "a\\u{200B}b");          // zero width space
    clean_is(CS_STR("a\xF3\xA0\x81\x81" "b"), "a\\u{E0041}b");     // tag letter
    clean_is(CS_STR("\xC0\xAF"), "\\xC0\\xAF");                    // overlong
    clean_is(CS_STR("\xED\xA0\x80"), "\\xED\\xA0\\x80");           // surrogate
    clean_is(CS_STR("\xF4\x90\x80\x80"), "\\xF4\\x90\\x80\\x80");  // above U+10FFFF
    clean_is(CS_STR("x\xE2\x82"), "x\\xE2\\x82");                  // cut short
    clean_is(CS_STR("\xFF\xFE"), "\\xFF\\xFE");
}

static void shorten_is(const char *in, size_t width, const char *want) {
    struct cs_buf out;
    cs_buf_init(&out, CS_MIB);
    cs_clean_shorten(&out, cs_str_from(in), width);
    assert_string_equal(out.ptr ? out.ptr : "", want);
    assert_true(cs_clean_width(cs_buf_str(&out)) <= width);
    cs_buf_fini(&out);
}

static void test_shorten(void **state) {
    (void)state;
    shorten_is("abcdef", 6, "abcdef");
    shorten_is("abcdefghijklmnopqrstuvwxyz", 12, "abcdef...xyz");
    shorten_is("abcdef", 5, "ab...");
    shorten_is("abcdef", 3, "...");
    shorten_is("abcdef", 0, "");
    shorten_is("\xE6\xBC\xA2\xE6\xBC\xA2\xE6\xBC\xA2", 6, "\xE6\xBC\xA2\xE6\xBC\xA2\xE6\xBC\xA2");
    shorten_is("\xE6\xBC\xA2\xE6\xBC\xA2\xE6\xBC\xA2", 5, "\xE6\xBC\xA2...");
    shorten_is("package/deep/inside/libops.so", 16, "...ide/libops.so");
    // Parameters go first, then the middle of what is left.
    shorten_is("void f<1, 2>(int, float (*)(int))", 20, "void f<1, 2>(...)");
    shorten_is("void long_name<first, second>(int)", 20, "void long_na...cond>");
    shorten_is("(anonymous namespace)::f(x)", 27, "(anonymous namespace)::f(x)");
    shorten_is("(a b c d)", 6, "(a...)");
    shorten_is("unbalanced))))", 8, "unba...)");
    // The accent stays with its letter or goes with it.
    shorten_is("e\xCC\x81" "bcdefghij", 6, "e\xCC\x81" "b...j");
}

static const struct cs_col cols[] = {
    {CS_COL_BYTES, "code", "code_bytes"}, {CS_COL_DELTA, "change", "change_bytes"},
    {CS_COL_COUNT, "kernels", "kernels"}, {CS_COL_PERCENT, "%", "percent"},
    {CS_COL_OFFSET, "at", "offset"},      {CS_COL_TEXT, "arch", "arch"},
    {CS_COL_NAME, "kernel", "kernel"},
};

static void add_row(struct cs_table *t, uint64_t bytes, const char *name) {
    struct cs_cell *c = cs_table_row(t);
    c[0] = cs_cell_u64(bytes);
    c[1] = cs_cell_i64(-2048);
    c[2] = cs_cell_u64(7);
    c[3] = cs_cell_share(bytes, 3000);
    c[4] = cs_cell_u64(0x40);
    c[5] = cs_cell_z("sm_90a");
    c[6] = cs_cell_z(name);
}

static void fill(struct cs_doc *d) {
    cs_doc_init(d, "Sample");
    cs_doc_fact(d, "wheel", CS_COL_BYTES, cs_cell_u64(300u << 20));
    cs_doc_fact(d, "kind", CS_COL_TEXT, cs_cell_z("wheel"));
    struct cs_table *t = cs_doc_table(d, "Kernels", cols, 7);
    add_row(t, 1000, "void f<1>(int)");
    add_row(t, 2000, "=cmd|' /C calc'!A0");
    cs_table_others(t, 2)[0] = cs_cell_u64(5);
    cs_doc_finding(d, &(struct cs_doc_finding){.rule = "C101",
                                               .slug = "uncovered-device",
                                               .severity = CS_SEVERITY_ERROR,
                                               .where = CS_STR("pkg/a.so"),
                                               .message = CS_STR("nothing for 8.9 (100%)"),
                                               .advice = CS_STR("add 8.0")});
    cs_doc_note(d, "sizes of %s", "today");
}

static void render_is(enum cs_report_format format, const char *want) {
    struct cs_doc d;
    struct cs_buf out;
    cs_buf_init(&out, CS_MIB);
    fill(&d);
    assert_int_equal(cs_report_render(&d, &(struct cs_render){.format = format}, &out, NULL),
                     CS_OK);
    assert_string_equal(out.ptr, want);
    cs_doc_fini(&d);
    cs_buf_fini(&out);
}

static void test_text(void **state) {
    (void)state;
    render_is(CS_REPORT_TEXT,
              "Sample\n"
              "\n"
              "wheel  300.00 MiB\n"
              "kind   wheel\n"
              "\n"
              "Kernels\n"
              "   code    change  kernels        %    at  arch    kernel\n"
              " 1000 B  -2.0 KiB        7  33.33 %  0x40  sm_90a  void f<1>(int)\n"
              "2.0 KiB  -2.0 KiB        7  66.67 %  0x40  sm_90a  =cmd|' /C calc'!A0\n"
              "    5 B         -        -        -     -  -       [2 others]\n"
              "\n"
              "error C101 uncovered-device: pkg/a.so\n"
              "  nothing for 8.9 (100%)\n"
              "  add 8.0\n"
              "\n"
              "note: sizes of today\n");
}

static void test_csv(void **state) {
    (void)state;
    render_is(CS_REPORT_CSV,
              "code_bytes,change_bytes,kernels,percent,offset,arch,kernel\n"
              "1000,-2048,7,33.33,0x40,sm_90a,void f<1>(int)\n"
              "2000,-2048,7,66.67,0x40,sm_90a,'=cmd|' /C calc'!A0\n"
              "5,,,,,,[2 others]\n");
}

static void test_markdown(void **state) {
    (void)state;
    render_is(CS_REPORT_MARKDOWN,
              "## Sample\n"
              "\n"
              "- wheel: 300.00 MiB\n"
              "- kind: wheel\n"
              "\n"
              "### Kernels\n"
              "\n"
              "| code | change | kernels | % | at | arch | kernel |\n"
              "|---:|---:|---:|---:|---:|---|---|\n"
              "| 1000 B | -2.0 KiB | 7 | 33.33 % | 0x40 | sm\\_90a | `void f<1>(int)` |\n"
              "| 2.0 KiB | -2.0 KiB | 7 | 66.67 % | 0x40 | sm\\_90a | `=cmd\\|' /C calc'!A0` |\n"
              "| 5 B | - | - | - | - | - | `[2 others]` |\n"
              "\n"
              "- **error** C101 uncovered-device: `pkg/a.so`  \n"
              "  nothing for 8.9 (100%)  \n"
              "  add 8.0\n"
              "\n"
              "> sizes of today\n");
}

static void test_github(void **state) {
    (void)state;
    render_is(CS_REPORT_GITHUB,
              "::error title=C101 uncovered-device::pkg/a.so: nothing for 8.9 (100%25) add 8.0\n"
              "::group::Sample\n"
              "wheel  300.00 MiB\n"
              "kind   wheel\n"
              "\n"
              "Kernels\n"
              "   code    change  kernels        %    at  arch    kernel\n"
              " 1000 B  -2.0 KiB        7  33.33 %  0x40  sm_90a  void f<1>(int)\n"
              "2.0 KiB  -2.0 KiB        7  66.67 %  0x40  sm_90a  =cmd|' /C calc'!A0\n"
              "    5 B         -        -        -     -  -       [2 others]\n"
              "\n"
              "note: sizes of today\n"
              "::endgroup::\n");
}

// Text that would do something in a terminal, a page, a table or a log.
static const char *const hostile[] = {
    "\x1b]0;owned\x07", "a\nb", "::error::x", "##[error]x", "<script>x</script>", "x|y`z`",
    "\xE2\x80\xAEgnp.exe", "[a](http://b)", "=1+1", "\"quoted\",comma", "\xC2\x85next", "",
};

static void render_hostile(enum cs_report_format format, struct cs_buf *out) {
    static const struct cs_col name_cols[] = {{CS_COL_NAME, "kernel", "kernel"},
                                              {CS_COL_TEXT, "text", "text"}};
    struct cs_doc d;
    cs_doc_init(&d, NULL);
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        const struct cs_str s = cs_str_from(hostile[i]);
        cs_doc_fact(&d, "name", CS_COL_NAME, cs_cell_str(s));
        struct cs_cell *c = cs_table_row(cs_doc_table(&d, "T", name_cols, 2));
        c[0] = cs_cell_str(s);
        c[1] = cs_cell_str(s);
        cs_doc_finding(&d, &(struct cs_doc_finding){"C1", "x", CS_SEVERITY_NOTE, s, s, s});
        cs_doc_note(&d, "%s", hostile[i]);
        cs_doc_text(&d, "Title", "%s", hostile[i]);
    }
    assert_int_equal(cs_report_render(&d, &(struct cs_render){.format = format}, out, NULL), CS_OK);
    cs_doc_fini(&d);
}

// The runner strips blanks before it looks for a command.
static void assert_only_our_commands(const char *log) {
    static const char *const ours[] = {"::notice title=C1 x::", "::group::cuslim\n",
                                       "::endgroup::\n"};
    for (const char *line = log; *line; line = strchr(line, '\n') + 1) {
        line += strspn(line, " ");
        bool ok = strncmp(line, "::", 2) != 0;
        for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
            ok = ok || strncmp(line, ours[i], strlen(ours[i])) == 0;
        }
        assert_true(ok);
    }
}

static void test_hostile(void **state) {
    (void)state;
    static const enum cs_report_format formats[] = {
        CS_REPORT_TEXT, CS_REPORT_CSV, CS_REPORT_MARKDOWN, CS_REPORT_HTML, CS_REPORT_GITHUB};
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        struct cs_buf out;
        cs_buf_init(&out, CS_MIB);
        render_hostile(formats[f], &out);
        for (size_t i = 0; i < out.len; i++) {
            assert_true(out.ptr[i] == '\n' || (unsigned char)out.ptr[i] >= 0x20);
        }
        assert_null(strstr(out.ptr, "\xE2\x80\xAE"));
        assert_null(strstr(out.ptr, "\xC2\x85"));
        if (formats[f] == CS_REPORT_HTML || formats[f] == CS_REPORT_MARKDOWN) {
            assert_null(strstr(out.ptr, "\n<script>"));
        }
        if (formats[f] == CS_REPORT_HTML) {
            assert_null(strstr(out.ptr, "<script"));
        }
        if (formats[f] == CS_REPORT_GITHUB) {
            assert_null(strstr(out.ptr, "##["));
            assert_only_our_commands(out.ptr);
        }
        cs_buf_fini(&out);
    }
}

static void test_long_names(void **state) {
    (void)state;
    static char name[100001];
    memset(name, 'n', sizeof name - 1);
    struct cs_doc d;
    struct cs_buf out;
    cs_buf_init(&out, CS_MIB);
    cs_doc_init(&d, NULL);
    add_row(cs_doc_table(&d, NULL, cols, 7), 1, name);
    for (uint32_t width = 40; width <= 200; width += 80) {
        cs_buf_clear(&out);
        assert_int_equal(
            cs_report_render(&d, &(struct cs_render){.width = width}, &out, NULL), CS_OK);
        size_t line = 0;
        for (size_t i = 0; i < out.len; i++) {
            line = out.ptr[i] == '\n' ? 0 : line + 1;
            assert_true(line <= (width < 80 ? 80 : width));
        }
    }
    cs_buf_clear(&out);
    assert_int_equal(
        cs_report_render(&d, &(struct cs_render){.full_names = true}, &out, NULL), CS_OK);
    assert_non_null(strstr(out.ptr, name));
    cs_doc_fini(&d);
    cs_buf_fini(&out);
}

static void test_dropped_columns(void **state) {
    (void)state;
    struct cs_doc d;
    struct cs_buf out;
    cs_buf_init(&out, CS_MIB);
    cs_doc_init(&d, NULL);
    struct cs_table *t = cs_doc_table(&d, NULL, cols, 7);
    cs_table_may_drop(t, "change_bytes");
    cs_table_may_drop(t, "percent");
    cs_table_may_drop(t, "no_such_column");
    add_row(t, 1, "a_name_of_thirty_six_characters_here");
    assert_int_equal(cs_report_render(&d, &(struct cs_render){.width = 77}, &out, NULL), CS_OK);
    assert_string_equal(
        out.ptr,
        "code  kernels       %    at  arch    kernel\n"
        " 1 B        7  0.03 %  0x40  sm_90a  a_name_of_thirty_six_characters_here\n");
    cs_buf_clear(&out);
    assert_int_equal(cs_report_render(&d, &(struct cs_render){.width = 67}, &out, NULL), CS_OK);
    assert_string_equal(out.ptr,
                        "code  kernels    at  arch    kernel\n"
                        " 1 B        7  0x40  sm_90a  a_name_of_thirty_six_characters_here\n");
    cs_buf_clear(&out);
    assert_int_equal(cs_report_render(&d, &(struct cs_render){.format = CS_REPORT_CSV}, &out, NULL),
                     CS_OK);
    assert_non_null(strstr(out.ptr, "code_bytes,change_bytes,kernels,percent,"));
    cs_doc_fini(&d);
    cs_buf_fini(&out);
}

static void test_colors(void **state) {
    (void)state;
    struct cs_doc d;
    struct cs_buf out;
    cs_buf_init(&out, CS_MIB);
    fill(&d);
    assert_int_equal(cs_report_render(&d, &(struct cs_render){.color = true}, &out, NULL), CS_OK);
    assert_non_null(strstr(out.ptr, "\x1b[31merror\x1b[0m C101"));
    cs_doc_fini(&d);
    cs_buf_fini(&out);
}

static int fail_countdown;
static int fail_hook(void) { return fail_countdown-- == 0; }

// Whichever allocation fails, the report is refused rather than incomplete, and nothing leaks.
static void test_out_of_memory(void **state) {
    (void)state;
    enum cs_report_format format = CS_REPORT_TEXT;
    for (int nth = 0;; nth++) {
        struct cs_doc d;
        struct cs_buf out;
        cs_buf_init(&out, CS_MIB);
        fail_countdown = nth;
        cs_mem_fail_hook = fail_hook;
        fill(&d);
        const enum cs_code code =
            cs_report_render(&d, &(struct cs_render){.format = format}, &out, NULL);
        cs_mem_fail_hook = NULL;
        cs_doc_fini(&d);
        cs_buf_fini(&out);
        if (fail_countdown >= 0) {  // every allocation has had its turn
            assert_int_equal(code, CS_OK);
            if (format == CS_REPORT_GITHUB) {
                break;
            }
            format++;
            format += format == CS_REPORT_JSON;
            nth = -1;
            continue;
        }
        assert_int_equal(code, CS_NOMEM);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_shorten),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_markdown),
        cmocka_unit_test(test_github),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_dropped_columns),
        cmocka_unit_test(test_colors),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
