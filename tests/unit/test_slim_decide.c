// What slim decides: containers x options -> images dropped and why, price, refusals.
//
// Each row is a library in words (build/mk_words.h), options, and what is expected:
//   causes  one letter an image, containers divided by "|": k kept, s shadowed, u unreachable,
//           l link stub, f --for, t --drop/--keep, p --ptx, r --relocatable
//   price   "DEVICE OUTCOME(IMAGE)>OUTCOME(IMAGE) xCONTAINERS", then "raise DEVICE BEFORE>AFTER",
//           then "floor BEFORE>AFTER"; empty = not looked at
//   refusal a part of the message, NULL = allowed
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "build/mk_cubin.h"
#include "build/mk_fatbin.h"
#include "build/mk_words.h"
#include "rewrite/slim.h"

struct row {
    const char *name, *words;
    struct cs_slim_options o;
    const char *route, *devices;  // the library is t.so
    const char *causes, *price, *refusal;
};

#define FREE .free_edits = true
#define SM(n) \
    { (uint16_t)(n), '\0', false }
#define COMPUTE(n) \
    { (uint16_t)(n), '\0', true }
#define ONE(list, ...) .list = {__VA_ARGS__}, .list##_count = 1
#define DEVICE(a, b) .devices = {{a, b}}, .device_count = 1

static const struct row rows[] = {
    // ---- free edits
    {"a beats plain", "k.cu: sm_80 sm_90 sm_90a compute_80", {FREE}, 0, 0, "kskk", "", 0},
    {"a beats plain, order",
     "k.cu: sm_90a:abi7 sm_90:abi7",
     {FREE},
     0,
     0,
     "ks",
     "floor unknown>unknown",
     0},
    {"--no-free", "k.cu: sm_90 sm_90a", {0}, 0, 0, "kk", "", 0},
    {"family alone is not shadowed by another chip",
     "k.cu: sm_100f sm_120",
     {FREE},
     0,
     0,
     "kk",
     "",
     0},
    {"twice the same target: the first runs", "k.cu: sm_80 sm_80", {FREE}, 0, 0, "ks", "", 0},
    {"each container by itself", "k.cu: sm_90 sm_90a | l.cu: sm_90", {FREE}, 0, 0, "sk|k", "", 0},
    {"a container without a wrapper stays",
     "! sm_90 sm_90a | k.cu: sm_90 sm_90a",
     {FREE},
     0,
     0,
     "kk|sk",
     "",
     0},
    {"PTX for the future stays", "k.cu: sm_80 compute_80", {FREE}, 0, 0, "kk", "", 0},
    // ---- routes
    {"unreachable by route", "k.cu: sm_80 sm_90a compute_80", {FREE}, "t.so", "9.0", "uku", "", 0},
    {"the rest of the world",
     "k.cu: sm_80 sm_90a compute_80",
     {FREE},
     "t.so",
     "not 9.0",
     "kuk",
     "",
     0},
    {"another library's route", "k.cu: sm_80 sm_90a", {FREE}, "u.so", "9.0", "kk", "", 0},
    {"routes are free edits", "k.cu: sm_80 sm_90a", {0}, "t.so", "9.0", "kk", "", 0},
    {"loaded by nobody who could run it", "k.cu: sm_80", {FREE}, "t.so", "9.0", "u", "", 0},
    // ---- targets
    {"drop",
     "k.cu: sm_80 sm_86 sm_90",
     {FREE, ONE(drop, SM(86))},
     0,
     0,
     "ktk",
     "8.6 native(sm_86)>same-major(sm_80) x1; 8.9 same-major(sm_86)>same-major(sm_80) x1; ",
     "8.6 devices: 1 container (one in t.so) would go from sm_86 (native) to sm_80 (same-major)"},
    {"drop, allowed",
     "k.cu: sm_80 sm_86 sm_90",
     {FREE, ONE(drop, SM(86)), .allow = {{8, 6}, {8, 9}}, .allow_count = 2},
     0,
     0,
     "ktk",
     "",
     0},
    {"drop, half allowed",
     "k.cu: sm_80 sm_86 sm_90",
     {FREE, ONE(drop, SM(86)), ONE(allow, {8, 6})},
     0,
     0,
     "ktk",
     "",
     "--allow 8.9"},
    {"drop what nobody runs", "k.cu: sm_90 sm_90a", {ONE(drop, SM(90))}, 0, 0, "tk", "", 0},
    {"keep",
     "k.cu: sm_80 sm_90 compute_90",
     {FREE, ONE(keep, SM(90)), .allow_future = true},
     0,
     0,
     "tkt",
     "",
     "8.0 devices"},
    {"two containers are one change",
     "k.cu: sm_80 sm_86 | l.cu: sm_80 sm_86",
     {FREE, ONE(drop, SM(86))},
     0,
     0,
     "kt|kt",
     "8.6 native(sm_86)>same-major(sm_80) x2; ",
     "8.6 devices: 2 containers"},
    // ---- --for
    {"for one device", "k.cu: sm_80 sm_90a compute_80", {FREE, DEVICE(9, 0)}, 0, 0, "fkf", "", 0},
    {"for a device that runs PTX",
     "k.cu: sm_80 compute_80",
     {FREE, DEVICE(9, 0)},
     0,
     0,
     "fk",
     "",
     0},
    {"for a device with a lower minor",
     "k.cu: sm_80 sm_86",
     {FREE, DEVICE(8, 9)},
     0,
     0,
     "fk",
     "",
     0},
    {"for a device that nothing serves", "k.cu: sm_80", {FREE, DEVICE(7, 5)}, 0, 0, "f", "", 0},
    // ---- PTX
    {"newest PTX",
     "k.cu: sm_80 compute_70 compute_80",
     {FREE, .ptx = CS_SLIM_PTX_NEWEST},
     0,
     0,
     "kpk",
     "7.0 jit(compute_70)>none(nothing) x1; ",
     "7.0 devices"},
    {"no PTX",
     "k.cu: sm_80 compute_80",
     {FREE, .ptx = CS_SLIM_PTX_DROP},
     0,
     0,
     "kp",
     "",
     "devices"},
    {"no PTX: the future",
     "k.cu: sm_80 compute_80",
     {FREE, .ptx = CS_SLIM_PTX_DROP, DEVICE(8, 0)},
     0,
     0,
     "kp",
     "",
     0},
    // ---- promises
    {"a promised device with nothing left",
     "k.cu: sm_80[_Z5scalePfi,gemm,third] sm_90a",
     {FREE, DEVICE(9, 0), ONE(promised, {8, 0}), ONE(allow, {8, 0})},
     0,
     0,
     "fk",
     "8.0 native(sm_80)>none(nothing) x1; ",
     "scale, gemm and 1 more"},
    {"a promised device falls back",
     "k.cu: sm_80 sm_90a compute_80",
     {FREE, ONE(drop, SM(80)), ONE(promised, {8, 0}), .allow = {{8, 0}, {8, 6}, {8, 9}},
      .allow_count = 3},
     0,
     0,
     "tkk",
     "",
     0},
    {"a promised device that had nothing",
     "k.cu: sm_90a:abi7",
     {FREE, ONE(promised, {8, 0})},
     0,
     0,
     "k",
     "floor unknown>unknown",
     0},
    // ---- floors
    {"zstd",
     "k.cu: sm_90a:abi7",
     {FREE, .recompress = CS_SLIM_TO_ZSTD},
     0,
     0,
     "k",
     "raise 9.0 R520>550.54.14; floor unknown>550.54.14",
     "--allow-floor 550.54.14"},
    {"zstd, allowed",
     "k.cu: sm_90a:abi7",
     {FREE, .recompress = CS_SLIM_TO_ZSTD, .allow_floor = {550, 54, 14, 0, 3}},
     0,
     0,
     "k",
     "",
     0},
    {"zstd, another floor allowed",
     "k.cu: sm_90a:abi7",
     {FREE, .recompress = CS_SLIM_TO_ZSTD, .allow_floor = {535, 0, 0, 0, 1}},
     0,
     0,
     "k",
     "",
     "would rise from R520 to 550.54.14 (1 container on 9.0 devices)"},
    {"zstd, any floor allowed",
     "k.cu: sm_90a:abi7",
     {FREE, .recompress = CS_SLIM_TO_CONCAT, .allow_unknown_floor = true},
     0,
     0,
     "k",
     "",
     0},
    {"zstd for a chip that is newer than zstd",
     "k.cu: sm_100a",
     {FREE, .recompress = CS_SLIM_TO_ZSTD},
     0,
     0,
     "k",
     "floor unknown>unknown",
     0},
    {"a floor that others hide",
     "k.cu: sm_90a:abi7 | l.cu: sm_80:z:abi7",
     {FREE, .recompress = CS_SLIM_TO_ZSTD},
     0,
     0,
     "k|k",
     "raise 9.0 R520>550.54.14; floor 550.54.14>550.54.14",
     "on 9.0 devices"},
    {"LZ4 brings the floor down",
     "k.cu: sm_90a:z:abi7",
     {FREE, .recompress = CS_SLIM_TO_LZ4},
     0,
     0,
     "k",
     "floor 550.54.14>unknown",
     0},
    {"none brings the floor down",
     "k.cu: sm_90a:z:abi7",
     {FREE, .recompress = CS_SLIM_TO_NONE},
     0,
     0,
     "k",
     "floor 550.54.14>unknown",
     0},
    {"joined",
     "k.cu: sm_80:abi7 sm_90a:abi7",
     {FREE, .recompress = CS_SLIM_TO_CONCAT},
     0,
     0,
     "kk",
     "",
     "--allow-floor 615.71.09"},
    {"split",
     "k.cu: sm_80:z:abi7 + sm_90a:abi7",
     {FREE, .split_concatenated = true},
     0,
     0,
     "kk",
     "floor 615.71.09>550.54.14",
     0},
    {"joined stays joined",
     "k.cu: sm_80:z:abi7 + sm_90a:abi7",
     {FREE},
     0,
     0,
     "kk",
     "floor 615.71.09>615.71.09",
     0},
};

static char letter(enum cs_slim_cause cause) {
    static const char letters[CS_SLIM_CAUSE_COUNT + 1] = "ksulftpr";
    return letters[cause];
}

static void causes_text(const struct cs_scan *scan, const struct cs_slim_decision *d,
                        struct cs_buf *out) {
    for (size_t i = 0; i < scan->images.count; i++) {
        if (i && scan->images.ptr[i].container != scan->images.ptr[i - 1].container) {
            cs_buf_addc(out, '|');
        }
        cs_buf_addc(out, letter((enum cs_slim_cause)d->cause[i]));
    }
}

static const char *target(struct cs_target t, char text[CS_TARGET_TEXT_BYTES]) {
    if (t.arch == 0) {
        return "nothing";
    }
    cs_target_text(t, text);
    return text;
}

static void price_text(const struct cs_slim_price *p, struct cs_buf *out) {
    char device[CS_TARGET_TEXT_BYTES], from[CS_TARGET_TEXT_BYTES], to[CS_TARGET_TEXT_BYTES];
    char before[CS_DRIVER_TEXT_BYTES], after[CS_DRIVER_TEXT_BYTES];
    for (size_t i = 0; i < p->changes.count; i++) {
        const struct cs_slim_change *c = &p->changes.ptr[i];
        snprintf(device, sizeof device, "future");
        if (c->device.major) {
            cs_device_text(c->device, device);
        }
        cs_buf_printf(out, "%s %s(%s)>%s(%s) x%u; ", device, cs_outcome_name(c->before),
                      target(c->from, from), cs_outcome_name(c->after), target(c->to, to),
                      c->containers);
    }
    for (size_t i = 0; i < p->raises.count; i++) {
        cs_device_text(p->raises.ptr[i].device, device);
        cs_driver_text(p->raises.ptr[i].before, before);
        cs_driver_text(p->raises.ptr[i].after, after);
        cs_buf_printf(out, "raise %s %s>%s; ", device, before, after);
    }
    cs_driver_text(p->floor_before, before);
    cs_driver_text(p->floor_after, after);
    cs_buf_printf(out, "floor %s>%s", before, after);
}

struct outcome {
    struct cs_buf causes, price;
    enum cs_code code;
    char message[1024];
};

static void decide(struct cs_view file, const struct row *r, struct outcome *out) {
    static const struct cs_inventory_options headers = {.depth = CS_DEPTH_HEADERS};
    struct cs_slim_options o = r->o;
    struct cs_reach reach = {0};
    struct cs_scan scan;
    struct cs_workers workers;
    struct cs_slim_decision decision;
    struct cs_slim_price price = {0};
    struct cs_err err = {0};
    if (r->route) {
        assert_int_equal(cs_reach_add(&reach, cs_str_from(r->route), cs_str_from(r->devices),
                                      CS_STR("test"), &err),
                         CS_OK);
    }
    o.reach = &reach;
    cs_buf_init(&out->causes, SIZE_MAX);
    cs_buf_init(&out->price, SIZE_MAX);
    cs_workers_init(&workers);
    cs_scan_init(&scan, file, NULL, &headers);
    assert_int_equal(cs_scan_file(&scan, CS_STR("t.so"), &err), CS_OK);
    assert_int_equal(cs_slim_decide(&scan, &o, &workers, &decision, &price, &err), CS_OK);
    causes_text(&scan, &decision, &out->causes);
    price_text(&price, &out->price);
    out->code = cs_slim_price_check(&price, &o, &err);
    cs_err_format(&err, out->message, sizeof out->message);
    cs_slim_decision_fini(&decision);
    cs_slim_price_fini(&price);
    cs_scan_fini(&scan);
    cs_workers_fini(&workers);
    cs_reach_fini(&reach);
}

static bool row_holds(const struct row *r, const struct outcome *got) {
    const bool causes = strcmp(got->causes.ptr, r->causes) == 0;
    const bool price = !r->price[0] || strncmp(got->price.ptr, r->price, strlen(r->price)) == 0;
    const bool refusal = r->refusal ? got->code == CS_CONFLICT && strstr(got->message, r->refusal)
                                    : got->code == CS_OK;
    if (!causes || !price || !refusal) {
        print_error("%s: %s\n  %s\n  %s\n", r->name, got->causes.ptr, got->price.ptr,
                    got->code == CS_OK ? "allowed" : got->message);
    }
    return causes && price && refusal;
}

static void check_rows(void **state) {
    (void)state;
    bool all = true;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct cs_buf file;
        struct outcome got = {0};
        cs_buf_init(&file, SIZE_MAX);
        cs_mk_words_library(&file, rows[i].words, NULL);
        decide(cs_buf_view(&file), &rows[i], &got);
        all = row_holds(&rows[i], &got) && all;
        cs_buf_fini(&got.causes);
        cs_buf_fini(&got.price);
        cs_buf_fini(&file);
    }
    assert_true(all);
}

// ---- relocatable copies and link stubs -------------------------------------------------------

static void add_cubin(struct cs_buf *out, uint32_t sm, bool relocatable, size_t kernels) {
    static const struct cs_mk_kernel kernel = {.name = "k"};
    cs_mk_cubin_write(
        out,
        &(struct cs_mk_cubin){
            .sm = sm, .relocatable = relocatable, .kernels = &kernel, .kernel_count = kernels});
}

static void container_of(struct cs_buf *out, uint32_t a, uint32_t b, bool relocatable,
                         size_t kernels) {
    struct cs_buf x, y;
    cs_buf_init(&x, SIZE_MAX);
    cs_buf_init(&y, SIZE_MAX);
    add_cubin(&x, a, relocatable, kernels);
    add_cubin(&y, b, relocatable, kernels);
    const struct cs_mk_entry e[] = {{.kind = CS_FATBIN_ELF, .arch = a, .image = cs_buf_view(&x)},
                                    {.kind = CS_FATBIN_ELF, .arch = b, .image = cs_buf_view(&y)}};
    cs_mk_container(out, e, 2);
    cs_buf_fini(&x);
    cs_buf_fini(&y);
}

static void check_units(const struct cs_mk_unit *units, size_t count, struct cs_slim_options o,
                        const char *causes) {
    struct cs_buf file;
    struct outcome got = {0};
    cs_buf_init(&file, SIZE_MAX);
    cs_mk_host_write(&file, &(struct cs_mk_host){.units = units, .unit_count = count});
    const struct row r = {"units", "", o, 0, 0, causes, "", 0};
    decide(cs_buf_view(&file), &r, &got);
    const bool holds = row_holds(&r, &got);
    cs_buf_fini(&got.causes);
    cs_buf_fini(&got.price);
    cs_buf_fini(&file);
    assert_true(holds);
}

static void relocatable_copies_go_where_they_are_linked_in(void **state) {
    (void)state;
    struct cs_buf linked, copy;
    cs_buf_init(&linked, SIZE_MAX);
    cs_buf_init(&copy, SIZE_MAX);
    container_of(&linked, 80, 90, false, 1);
    container_of(&copy, 75, 90, true, 1);
    const struct cs_mk_unit units[] = {
        {.container = cs_buf_view(&linked), .wrapper_version = 2},
        {.container = cs_buf_view(&copy), .relocatable = true, .module_id = "m"}};
    check_units(units, 2, (struct cs_slim_options){FREE}, "kk|kk");
    // __nv_relfatbin lies before .nv_fatbin.
    check_units(units, 2, (struct cs_slim_options){FREE, .drop_relocatable = true}, "kr|kk");
    cs_buf_fini(&linked);
    cs_buf_fini(&copy);
}

static void stubs_go_together(void **state) {
    (void)state;
    struct cs_buf stub, code;
    cs_buf_init(&stub, SIZE_MAX);
    cs_buf_init(&code, SIZE_MAX);
    container_of(&stub, 80, 90, false, 0);
    container_of(&code, 80, 90, false, 1);
    const struct cs_mk_unit units[] = {{.container = cs_buf_view(&stub), .source = "link.stub"},
                                       {.container = cs_buf_view(&code), .source = "k.cu"}};
    check_units(units, 2, (struct cs_slim_options){FREE}, "ll|kk");
    check_units(units, 2, (struct cs_slim_options){0}, "kk|kk");
    cs_buf_fini(&stub);
    cs_buf_fini(&code);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_rows),
        cmocka_unit_test(relocatable_copies_go_where_they_are_linked_in),
        cmocka_unit_test(stubs_go_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
