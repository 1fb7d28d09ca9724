// Selection: the measured rows (one H200, driver 580.159.04), the compatibility rules, driver
// floors, and which images are never selected.
//
// A container is written as words: "sm_90a", "compute_80", with marks  :z zstd  :4 LZ4  :c part of
// a concatenated entry  :24 flag bit 24  :isa84 PTX ISA 8.4  :cuda128 toolkit 12.8  and the words
// "lto" and "tile" for kinds that drivers do not load.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/select.h"

enum { MAX = 16 };

static struct cs_select_image image(char *word) {
    struct cs_select_image im = {0};
    char *mark = strchr(word, ':');
    for (; mark; mark = strchr(mark, ':')) {
        *mark++ = '\0';
        im.codec = *mark == 'z' ? CS_CODEC_ZSTD : *mark == '4' ? CS_CODEC_LZ4 : im.codec;
        im.concat = im.concat || (*mark == 'c' && mark[1] != 'u');
        im.bit24 = im.bit24 || *mark == '2';
        if (*mark == 'i') {
            im.ptx_isa_x10 = (uint16_t)atoi(mark + 3);
        }
        if (*mark == 'c' && mark[1] == 'u') {
            im.toolkit_x10 = (uint16_t)atoi(mark + 4);
        }
    }
    if (strcmp(word, "lto") == 0 || strcmp(word, "tile") == 0) {
        im.kind = *word == 'l' ? CS_FATBIN_LTOIR : CS_FATBIN_TILEIR;
        im.target.arch = 90;
        return im;
    }
    const bool mercury = *word == 'm';
    if (mercury) {
        word[0] = 's';
        word[1] = 'm';
        memmove(word + 2, word + 4, strlen(word + 4) + 1);  // "merc_90" -> "sm_90"
    }
    if (!cs_target_parse(cs_str_from(word), &im.target)) {
        fail_msg("test error: %s", word);
    }
    im.kind = mercury ? CS_FATBIN_MERCURY : im.target.is_ptx ? CS_FATBIN_PTX : CS_FATBIN_ELF;
    return im;
}

static uint32_t container(const char *text, struct cs_select_image out[MAX]) {
    static char words[256];
    snprintf(words, sizeof words, "%s", text);
    uint32_t count = 0;
    char *save = NULL;
    for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        assert_true(count < MAX);
        out[count++] = image(w);
    }
    return count;
}

static struct cs_selection run(const char *text, const char *device, const char *driver,
                               bool force) {
    struct cs_select_image images[MAX];
    const uint32_t count = container(text, images);
    struct cs_device d;
    assert_true(cs_device_parse(cs_str_from(device), &d));
    struct cs_select_env env = {.force_ptx_jit = force};
    if (*driver) {
        assert_int_equal(cs_driver_parse(cs_str_from(driver), &env.driver, NULL), CS_OK);
    }
    return cs_select(images, count, d, &env);
}

struct row {
    const char *images, *device, *driver;
    enum cs_outcome outcome;
    int index;  // -1 = nothing
    enum cs_select_reason reason;
    bool certain;
};

static void check_rows(const struct row *rows, size_t count, bool force) {
    for (size_t i = 0; i < count; i++) {
        const struct cs_selection s = run(rows[i].images, rows[i].device, rows[i].driver, force);
        if (s.outcome != rows[i].outcome || (int)s.index != rows[i].index ||
            s.reason != rows[i].reason || s.certain != rows[i].certain) {
            fail_msg("%s on %s, driver \"%s\": %s #%d %s certain=%d", rows[i].images,
                     rows[i].device, rows[i].driver, cs_outcome_name(s.outcome), (int)s.index,
                     cs_select_reason_name(s.reason), s.certain);
        }
    }
}
#define CHECK(rows, force) check_rows(rows, sizeof(rows) / sizeof(rows)[0], force)

// docs/format/selection.md: both orders where both were tried.
static void test_measured(void **state) {
    (void)state;
    static const struct row rows[] = {
        {"sm_90 sm_90a", "9.0", "580.159.04", CS_OUTCOME_NATIVE, 1, CS_SELECT_EXACT, true},
        {"sm_90a sm_90", "9.0", "580.159.04", CS_OUTCOME_NATIVE, 0, CS_SELECT_EXACT, true},
        {"sm_90 compute_90a", "9.0", "580.159.04", CS_OUTCOME_NATIVE, 0, CS_SELECT_EXACT, true},
        {"sm_90 compute_80", "9.0", "580.159.04", CS_OUTCOME_NATIVE, 0, CS_SELECT_EXACT, true},
        {"sm_80 compute_80:isa90", "9.0", "580.159.04", CS_OUTCOME_JIT, 1, CS_SELECT_PTX, true},
        {"compute_80:isa90 compute_90:isa90", "9.0", "580.159.04", CS_OUTCOME_JIT, 1, CS_SELECT_PTX,
         true},
        {"compute_90:isa90 compute_80:isa90", "9.0", "580.159.04", CS_OUTCOME_JIT, 0, CS_SELECT_PTX,
         true},
        {"compute_80:isa90 compute_89:isa90", "9.0", "580.159.04", CS_OUTCOME_JIT, 1, CS_SELECT_PTX,
         true},
        {"compute_89:isa90 compute_80:isa90", "9.0", "580.159.04", CS_OUTCOME_JIT, 0, CS_SELECT_PTX,
         true},
        {"compute_90:isa90 compute_90a:isa90", "9.0", "580.159.04", CS_OUTCOME_JIT, 1,
         CS_SELECT_PTX, true},
        {"compute_90a:isa90 compute_90:isa90", "9.0", "580.159.04", CS_OUTCOME_JIT, 0,
         CS_SELECT_PTX, true},
        {"compute_90a:isa90", "9.0", "580.159.04", CS_OUTCOME_JIT, 0, CS_SELECT_PTX, true},
        {"sm_100f", "9.0", "580.159.04", CS_OUTCOME_NONE, -1, CS_SELECT_NO_IMAGE, true},
        {"sm_80", "9.0", "580.159.04", CS_OUTCOME_NONE, -1, CS_SELECT_NO_IMAGE, true},
        {"", "9.0", "580.159.04", CS_OUTCOME_NONE, -1, CS_SELECT_EMPTY, true},
        {"sm_90:z", "9.0", "580.159.04", CS_OUTCOME_NATIVE, 0, CS_SELECT_EXACT, true},
        {"sm_90:4", "9.0", "580.159.04", CS_OUTCOME_NATIVE, 0, CS_SELECT_EXACT, true},
        {"compute_90:z:isa90", "9.0", "580.159.04", CS_OUTCOME_JIT, 0, CS_SELECT_PTX, true},
        // concatenated entries on that driver
        {"sm_80:c:z sm_90:c:z", "9.0", "580.159.04", CS_OUTCOME_NONE, -1, CS_SELECT_CONCAT_SKIPPED,
         true},
        {"compute_80:c:z:isa90 compute_90:c:z:isa90", "9.0", "580.159.04", CS_OUTCOME_NONE, -1,
         CS_SELECT_CONCAT_SKIPPED, true},
        {"sm_80:c:z sm_90:c:z compute_90:isa90", "9.0", "580.159.04", CS_OUTCOME_JIT, 2,
         CS_SELECT_PTX, true},
    };
    CHECK(rows, false);
    static const struct row forced[] = {
        {"sm_90 sm_90a", "9.0", "580.159.04", CS_OUTCOME_NONE, -1, CS_SELECT_EMPTY, true},
        {"sm_90 compute_90a:isa90", "9.0", "580.159.04", CS_OUTCOME_JIT, 1, CS_SELECT_PTX, true},
        {"sm_90 compute_80:isa90", "9.0", "580.159.04", CS_OUTCOME_JIT, 1, CS_SELECT_PTX, true},
        {"sm_80 compute_80:isa90", "9.0", "580.159.04", CS_OUTCOME_JIT, 1, CS_SELECT_PTX, true},
        {"compute_90:isa90 compute_90a:isa90", "9.0", "580.159.04", CS_OUTCOME_JIT, 1,
         CS_SELECT_PTX, true},
        {"sm_90", "9.0", "580.159.04", CS_OUTCOME_NONE, -1, CS_SELECT_EMPTY, true},
    };
    CHECK(forced, true);
}

static void test_rules(void **state) {
    (void)state;
    static const struct row rows[] = {
        {"sm_80 sm_86 sm_89", "8.6", "", CS_OUTCOME_NATIVE, 1, CS_SELECT_EXACT, true},
        {"sm_86 sm_80", "8.9", "", CS_OUTCOME_SAME_MAJOR, 0, CS_SELECT_SAME_MAJOR, true},
        {"sm_86 compute_89", "8.9", "", CS_OUTCOME_SAME_MAJOR, 0, CS_SELECT_SAME_MAJOR, true},
        {"sm_80 sm_86", "8.7", "", CS_OUTCOME_NONE, -1, CS_SELECT_NO_IMAGE, true},
        {"sm_80 sm_86 compute_86", "8.7", "", CS_OUTCOME_JIT, 2, CS_SELECT_PTX, true},
        {"sm_87", "8.9", "", CS_OUTCOME_NONE, -1, CS_SELECT_NO_IMAGE, true},
        {"sm_90", "9.0", "", CS_OUTCOME_NATIVE, 0, CS_SELECT_EXACT, true},
        {"sm_90a", "10.0", "", CS_OUTCOME_NONE, -1, CS_SELECT_NO_IMAGE, true},
        {"sm_100f", "10.3", "", CS_OUTCOME_SAME_MAJOR, 0, CS_SELECT_FAMILY, true},
        {"sm_100f sm_103", "10.3", "", CS_OUTCOME_NATIVE, 1, CS_SELECT_EXACT, true},
        {"sm_100f sm_103", "10.7", "", CS_OUTCOME_SAME_MAJOR, 1, CS_SELECT_SAME_MAJOR, true},
        {"sm_100 sm_100a sm_103", "10.3", "", CS_OUTCOME_NATIVE, 2, CS_SELECT_EXACT, true},
        {"sm_100 sm_100a", "10.0", "", CS_OUTCOME_NATIVE, 1, CS_SELECT_EXACT, true},
        {"sm_100 sm_100a", "10.3", "", CS_OUTCOME_SAME_MAJOR, 0, CS_SELECT_SAME_MAJOR, true},
        {"sm_100f sm_100a", "10.0", "", CS_OUTCOME_NATIVE, 1, CS_SELECT_EXACT, false},
        {"sm_100 sm_100f", "10.0", "", CS_OUTCOME_NATIVE, 1, CS_SELECT_EXACT, false},
        {"sm_100 sm_100f sm_103", "10.3", "", CS_OUTCOME_NATIVE, 2, CS_SELECT_EXACT, true},
        {"sm_120", "12.1", "", CS_OUTCOME_SAME_MAJOR, 0, CS_SELECT_SAME_MAJOR, true},
        {"sm_100", "11.0", "", CS_OUTCOME_NONE, -1, CS_SELECT_NO_IMAGE, true},
        {"sm_101", "11.0", "", CS_OUTCOME_NONE, -1, CS_SELECT_NO_IMAGE, false},
        {"sm_110", "10.1", "", CS_OUTCOME_NATIVE, 0, CS_SELECT_EXACT, true},
        {"compute_120", "13.0", "", CS_OUTCOME_JIT, 0, CS_SELECT_PTX, true},
        {"compute_80 lto", "9.0", "", CS_OUTCOME_JIT, 0, CS_SELECT_PTX, true},
        {"lto", "9.0", "", CS_OUTCOME_NONE, -1, CS_SELECT_EMPTY, true},
        {"tile", "9.0", "", CS_OUTCOME_NONE, -1, CS_SELECT_EMPTY, false},
        {"sm_90 tile", "9.0", "", CS_OUTCOME_NATIVE, 0, CS_SELECT_EXACT, true},
        {"sm_100:24 sm_100", "10.0", "", CS_OUTCOME_NATIVE, 1, CS_SELECT_EXACT, true},
        {"sm_100 sm_100:24", "10.0", "", CS_OUTCOME_NATIVE, 0, CS_SELECT_EXACT, true},
        {"sm_90 sm_90", "9.0", "", CS_OUTCOME_NATIVE, 0, CS_SELECT_EXACT, true},
        {"compute_90 compute_90", "9.0", "", CS_OUTCOME_JIT, 1, CS_SELECT_PTX, false},
        {"merc_90 compute_90", "9.0", "", CS_OUTCOME_NATIVE, 0, CS_SELECT_EXACT, false},
        {"merc_80 sm_80", "8.6", "", CS_OUTCOME_SAME_MAJOR, 1, CS_SELECT_SAME_MAJOR, false},
        {"sm_88 sm_86", "8.9", "", CS_OUTCOME_SAME_MAJOR, 0, CS_SELECT_SAME_MAJOR, false},
        {"sm_88 sm_89", "8.9", "", CS_OUTCOME_NATIVE, 1, CS_SELECT_EXACT, true},
    };
    CHECK(rows, false);
}

static void test_drivers(void **state) {
    (void)state;
    static const struct row rows[] = {
        {"compute_80:isa92", "9.0", "580.65.06", CS_OUTCOME_NONE, 0, CS_SELECT_PTX_TOO_NEW, true},
        {"compute_80:isa90", "9.0", "580.65.06", CS_OUTCOME_JIT, 0, CS_SELECT_PTX, true},
        // it commits to the nearest PTX, though an older one would load
        {"compute_80:isa70 compute_90:isa92", "9.0", "580.65.06", CS_OUTCOME_NONE, 1,
         CS_SELECT_PTX_TOO_NEW, true},
        {"compute_80:isa99", "9.0", "580.65.06", CS_OUTCOME_NONE, 0, CS_SELECT_PTX_TOO_NEW, true},
        {"compute_80:isa99", "9.0", "R800", CS_OUTCOME_JIT, 0, CS_SELECT_PTX, false},
        {"compute_80", "9.0", "580.65.06", CS_OUTCOME_JIT, 0, CS_SELECT_PTX, false},
        {"sm_90:z", "9.0", "535.54.03", CS_OUTCOME_NONE, 0, CS_SELECT_CODEC_TOO_NEW, true},
        {"sm_90:z", "9.0", "550.54.14", CS_OUTCOME_NATIVE, 0, CS_SELECT_EXACT, true},
        {"sm_90:4", "9.0", "535.54.03", CS_OUTCOME_NATIVE, 0, CS_SELECT_EXACT, true},
        {"sm_90:cuda130", "9.0", "575.51.03", CS_OUTCOME_NONE, 0, CS_SELECT_TOOLKIT_TOO_NEW, true},
        {"sm_90:cuda129", "9.0", "525.60.13", CS_OUTCOME_NATIVE, 0, CS_SELECT_EXACT, true},
        {"sm_90:cuda129", "9.0", "520.61.05", CS_OUTCOME_NONE, 0, CS_SELECT_TOOLKIT_TOO_NEW, true},
        {"sm_80:cuda118", "8.0", "450.80.02", CS_OUTCOME_NATIVE, 0, CS_SELECT_EXACT, true},
        {"sm_100", "10.0", "550.54.14", CS_OUTCOME_NONE, -1, CS_SELECT_DRIVER_TOO_OLD, true},
        {"sm_100", "10.0", "570.26", CS_OUTCOME_NATIVE, 0, CS_SELECT_EXACT, true},
        {"sm_103", "10.3", "570.26", CS_OUTCOME_NONE, -1, CS_SELECT_DRIVER_TOO_OLD, true},
        {"sm_107", "10.7", "610.43.02", CS_OUTCOME_NONE, -1, CS_SELECT_DRIVER_TOO_OLD, true},
        {"sm_107", "10.7", "615.16", CS_OUTCOME_NATIVE, 0, CS_SELECT_EXACT, true},
        {"sm_70", "7.0", "580.65.06", CS_OUTCOME_NATIVE, 0, CS_SELECT_EXACT, true},
        {"sm_70", "7.0", "590.44.01", CS_OUTCOME_NONE, -1, CS_SELECT_DRIVER_TOO_NEW, true},
        // Jetson numbering
        {"sm_87", "8.7", "540.4.0", CS_OUTCOME_NATIVE, 0, CS_SELECT_EXACT, false},
        {"sm_87:cuda126", "8.7", "cuda12.6", CS_OUTCOME_NATIVE, 0, CS_SELECT_EXACT, true},
        {"compute_87:isa87", "8.7", "cuda12.6", CS_OUTCOME_NONE, 0, CS_SELECT_PTX_TOO_NEW, true},
        // concatenated: unknown between 580.159.04 and 615.71.09, and then the worse answer
        {"sm_80:c sm_90:c compute_90:isa90", "9.0", "590.44.01", CS_OUTCOME_JIT, 2, CS_SELECT_PTX,
         false},
        {"sm_80:c sm_90:c", "9.0", "590.44.01", CS_OUTCOME_NONE, -1, CS_SELECT_CONCAT_SKIPPED,
         false},
        {"sm_80:c sm_90:c", "9.0", "615.71.09", CS_OUTCOME_NATIVE, 1, CS_SELECT_EXACT, true},
        {"sm_80:c sm_90:c", "9.0", "", CS_OUTCOME_NATIVE, 1, CS_SELECT_EXACT, true},
        {"sm_90 sm_80:c", "9.0", "590.44.01", CS_OUTCOME_NATIVE, 0, CS_SELECT_EXACT, true},
    };
    CHECK(rows, false);
}

static void test_floor(void **state) {
    (void)state;
    static const struct {
        const char *images, *device, *floor;
        enum cs_floor_cause cause;
        bool certain;
    } rows[] = {
        {"sm_90:cuda128", "9.0", "R525", CS_FLOOR_TOOLKIT, true},
        {"sm_90:cuda118", "9.0", "R520", CS_FLOOR_CHIP, true},
        {"sm_90:cuda128:z", "9.0", "550.54.14", CS_FLOOR_CODEC, true},
        {"sm_90:cuda130:z", "9.0", "R580", CS_FLOOR_TOOLKIT, true},
        {"compute_80:isa92:z", "9.0", "595.45.04", CS_FLOOR_PTX, true},
        {"sm_100:cuda128", "10.0", "R570", CS_FLOOR_CHIP, true},
        {"sm_80:cuda118", "8.0", "R450", CS_FLOOR_TOOLKIT, true},
        {"sm_80", "8.0", "unknown", CS_FLOOR_NONE, false},
        {"sm_80:c:z:cuda134", "8.0", "615.71.09", CS_FLOOR_CONCAT, true},
        {"compute_80:isa99", "9.0", "R520", CS_FLOOR_CHIP, false},
        {"sm_87:cuda126", "8.7", "R525", CS_FLOOR_TOOLKIT, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct cs_selection s = run(rows[i].images, rows[i].device, "", false);
        char text[CS_DRIVER_TEXT_BYTES];
        cs_driver_text(s.floor, text);
        if (strcmp(text, rows[i].floor) != 0 || s.floor_cause != rows[i].cause ||
            s.floor_certain != rows[i].certain) {
            fail_msg("%s on %s: floor %s by %s certain %d", rows[i].images, rows[i].device, text,
                     cs_floor_cause_name(s.floor_cause), s.floor_certain);
        }
    }
}

static void test_near_miss(void **state) {
    (void)state;
    static const struct {
        const char *images, *device;
        uint32_t miss;
        enum cs_fit fit;
    } rows[] = {
        {"sm_80 sm_86", "8.7", 0, CS_FIT_NO_TEGRA},           // U21
        {"sm_80 sm_90a sm_100a", "10.3", 2, CS_FIT_NO_ARCH},  // U19
        {"sm_75 sm_80", "7.0", 0, CS_FIT_NO_NEWER},           // U33
        {"sm_90a sm_80", "10.0", 0, CS_FIT_NO_ARCH},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct cs_selection s = run(rows[i].images, rows[i].device, "", false);
        assert_int_equal(s.reason, CS_SELECT_NO_IMAGE);
        assert_int_equal(s.miss, rows[i].miss);
        assert_int_equal(s.miss_fit, rows[i].fit);
    }
}

static void test_shadowed(void **state) {
    (void)state;
    static const struct {
        const char *images, *dead;  // one letter an image: x = shadowed
    } rows[] = {
        {"sm_90 sm_90a", "x."},
        {"sm_90a sm_90", ".x"},
        {"sm_80 sm_90 sm_90a", ".x."},
        {"sm_100 sm_100a", ".."},  // 10.3 and 10.7 still run sm_100
        {"sm_100 sm_100a sm_103 sm_107", "x..."},
        {"sm_100 sm_100f", ".."},  // never measured
        {"sm_80 sm_86 sm_89", "..."},
        {"compute_90 compute_90a", ".."},  // 10.0 runs PTX 90
        {"compute_90 sm_90a", ".."},
        {"compute_80 sm_80 compute_90", "..."},  // 8.7 runs PTX 80
        {"compute_80 sm_80 sm_87 compute_90", "x..."},
        {"compute_90a sm_90a", "x."},
        {"compute_120 sm_120", ".."},
        {"compute_100 sm_100 compute_120 sm_120", "...."},  // 11.0 runs PTX 100
        {"compute_100 sm_100 sm_110 compute_120 sm_120", "x...."},
        {"sm_88 sm_89", ".."},  // 8.8 may exist
        {"sm_90 sm_90", ".x"},
        {"compute_90 compute_90", ".."},  // their order is not well known
        {"lto sm_90 sm_90a tile", ".x.."},
        {"sm_90:c sm_90a:c", "x."},
        {"sm_90:c sm_90a:c sm_90", "x.."},  // an old driver sees the last one alone
        {"sm_130 compute_130", ".."},
        {"", ""},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        struct cs_select_image images[MAX];
        const uint32_t count = container(rows[r].images, images);
        bool shadowed[MAX];
        char got[MAX + 1] = "";
        cs_select_shadowed(images, count, shadowed);
        for (uint32_t i = 0; i < count; i++) {
            got[i] = shadowed[i] ? 'x' : '.';
        }
        if (strcmp(got, rows[r].dead) != 0) {
            fail_msg("%s: %s, expected %s", rows[r].images, got, rows[r].dead);
        }
    }
}

// Removing what is shadowed changes nothing on any device under any driver.
static void test_shadowed_is_free(void **state) {
    (void)state;
    static const char *const pool[] = {
        "sm_75",       "sm_80",       "sm_86",      "sm_87",      "sm_88",        "sm_89",
        "sm_90",       "sm_90a",      "sm_100",     "sm_100a",    "sm_100f",      "sm_103",
        "sm_103a",     "sm_103f",     "sm_110",     "sm_120",     "sm_120f",      "sm_121a",
        "compute_75",  "compute_80",  "compute_89", "compute_90", "compute_90a",  "compute_100f",
        "compute_103", "compute_120", "sm_90:c",    "sm_80:c",    "compute_90:c", "sm_90a:c",
        "sm_101",      "merc_90",     "sm_72"};
    static const char *const drivers[] = {"",           "450.80.02", "550.54.14",
                                          "580.159.04", "595.45.04", "615.71.09"};
    uint64_t seed = 88172645463325252ull;
    uint32_t removed = 0;
    for (int round = 0; round < 4000; round++) {
        struct cs_select_image images[MAX], kept[MAX];
        uint32_t place[MAX], count = 0, kept_count = 0;
        bool shadowed[MAX];
        for (uint32_t n = 1 + (uint32_t)(round % 7); count < n;) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            char word[24];
            snprintf(word, sizeof word, "%s", pool[seed % (sizeof pool / sizeof pool[0])]);
            images[count] = image(word);
            images[count++].ptx_isa_x10 = 75;
        }
        cs_select_shadowed(images, count, shadowed);
        for (uint32_t i = 0; i < count; i++) {
            if (!shadowed[i]) {
                place[kept_count] = i;
                kept[kept_count++] = images[i];
            }
            removed += shadowed[i];
        }
        uint32_t device_count;
        const struct cs_device_row *devices = cs_device_table(&device_count);
        for (uint32_t d = 0; d < device_count; d++) {
            for (size_t k = 0; k < sizeof drivers / sizeof drivers[0]; k++) {
                struct cs_select_env env = {0};
                if (*drivers[k]) {
                    assert_int_equal(cs_driver_parse(cs_str_from(drivers[k]), &env.driver, NULL),
                                     CS_OK);
                }
                const struct cs_selection a = cs_select(images, count, devices[d].device, &env);
                const struct cs_selection b = cs_select(kept, kept_count, devices[d].device, &env);
                assert_int_equal(a.outcome, b.outcome);
                assert_int_equal(a.index, b.index == CS_SELECT_NOTHING ? b.index : place[b.index]);
            }
        }
    }
    assert_true(removed > 500);  // else the test tests nothing
}

// The tag that tests/gpu/selection/make.sh gave an image.
static int tag_of(const char *word) {
    struct cs_target t;
    const size_t len = strcspn(word, ":");
    assert_true(cs_target_parse((struct cs_str){word, len}, &t));
    const int suffix = t.suffix == 'a' ? 1 : t.suffix == 'f' ? 2 : 0;
    return 100 * t.arch + 10 * suffix + (t.is_ptx ? 1 : 0) + (strstr(word, ":v2") ? 2 : 0);
}

// One "words => result" of a record.
static void check_record_line(const char *words, const char *result, struct cs_device d,
                              const struct cs_select_env *env) {
    struct cs_select_image images[MAX];
    char copy[256], *list[MAX], *save = NULL;
    uint32_t count = strcmp(words, "empty") == 0 ? 0 : container(words, images), n = 0;
    for (uint32_t i = 0; i < count; i++) {
        images[i].ptx_isa_x10 = images[i].ptx_isa_x10 ? images[i].ptx_isa_x10 : 90;
    }
    snprintf(copy, sizeof copy, "%s", words);
    for (char *w = strtok_r(copy, " ", &save); w && count; w = strtok_r(NULL, " ", &save)) {
        list[n++] = w;
    }
    const struct cs_selection s = cs_select(images, count, d, env);
    int tag, error;
    bool same = false;
    if (sscanf(result, "tag %d", &tag) == 1) {
        same = s.outcome != CS_OUTCOME_NONE && tag_of(list[s.index]) == tag;
    } else if (sscanf(result, "error %d", &error) == 1 && error == 209) {
        same = s.outcome == CS_OUTCOME_NONE && s.index == CS_SELECT_NOTHING;
    } else if (error == 222) {
        same = s.reason == CS_SELECT_PTX_TOO_NEW;
    } else {  // the payload itself is bad: the choice fell on it all the same
        same = s.index != CS_SELECT_NOTHING && strstr(list[s.index], ":bad");
    }
    if (!same) {
        fail_msg("%s: the GPU says %s, we %s #%d %s", words, result, cs_outcome_name(s.outcome),
                 (int)s.index, cs_select_reason_name(s.reason));
    }
}

static uint32_t check_record(const char *name) {
    char path[512], line[512];
    struct cs_device d = {0};
    struct cs_select_env env = {0};
    uint32_t count = 0;
    snprintf(path, sizeof path, "%s/tests/gpu/selection/%s", CUSLIM_SOURCE_DIR, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        char *arrow = strstr(line, " => ");
        if (arrow) {
            *arrow = '\0';
            check_record_line(line, arrow + 4, d, &env);
            count++;
        } else if (strncmp(line, "device ", 7) == 0) {
            assert_true(cs_device_parse(cs_str_from(line + 7), &d));
        } else if (strncmp(line, "driver ", 7) == 0) {
            assert_int_equal(cs_driver_parse(cs_str_from(line + 7), &env.driver, NULL), CS_OK);
        } else if (strcmp(line, "force_ptx_jit 1") == 0) {
            env.force_ptx_jit = true;
        }
    }
    fclose(f);
    return count;
}

// What a GPU did with 76 containers, twice; tests/gpu/selection/make.sh says how to record more.
static void test_records(void **state) {
    (void)state;
    assert_int_equal(check_record("record-9.0-580.159.04.txt"), 76);
    assert_int_equal(check_record("record-9.0-580.159.04-forced.txt"), 76);
}

static void test_many_images(void **state) {
    (void)state;
    enum { MANY = 200000 };
    struct cs_select_image *images = calloc(MANY, sizeof *images);
    bool *shadowed = calloc(MANY, sizeof *shadowed);
    assert_non_null(images);
    assert_non_null(shadowed);
    for (uint32_t i = 0; i < MANY; i++) {
        images[i].kind = CS_FATBIN_ELF;
        images[i].target.arch = (uint16_t)(10 + i % 60000);
    }
    cs_select_shadowed(images, MANY, shadowed);  // linear, or this test takes minutes
    for (uint32_t i = 0; i < MANY; i++) {
        images[i].target.arch = 90;
    }
    cs_select_shadowed(images, MANY, shadowed);
    assert_false(shadowed[0]);
    assert_true(shadowed[MANY - 1]);
    free(images);
    free(shadowed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_measured),         cmocka_unit_test(test_rules),
        cmocka_unit_test(test_drivers),          cmocka_unit_test(test_floor),
        cmocka_unit_test(test_near_miss),        cmocka_unit_test(test_shadowed),
        cmocka_unit_test(test_shadowed_is_free), cmocka_unit_test(test_many_images),
        cmocka_unit_test(test_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
