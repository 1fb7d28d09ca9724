// A check of a small package, from words to findings, for tests.
//
//     struct cs_mk_check t;
//     cs_mk_check_start(&t);
//     cs_mk_check_file(&t, "pkg/ops.so", view);
//     cs_mk_check_run(&t, &(struct cs_mk_check_ask){.devices = "8.9", .driver = "535.54.03"});
//     assert_true(cs_mk_check_found(&t, "uncovered-device", CS_SEVERITY_ERROR, "8.9"));
//     cs_mk_check_end(&t);
#ifndef CS_TESTS_BUILD_MK_CHECK_H
#define CS_TESTS_BUILD_MK_CHECK_H

#include "analysis/check.h"
#include "build/mk_zip.h"

enum { CS_MK_CHECK_FILES = 16, CS_MK_CHECK_WORDS = 8 };

struct cs_mk_check_ask {
    const char *devices;   // "8.0 8.9"; NULL = all, none promised
    const char *driver;    // NULL = newest
    const char *declared;  // an arch list
    const char *routes[CS_MK_CHECK_WORDS];   // "GLOB=DEVICES"
    const char *sources[CS_MK_CHECK_WORDS];  // "GLOB=LIST", or "GLOB=" for sources without code
    const char *exempt, *select, *ignore;    // one word each
    bool strict, warn_only, link;
    struct cs_check_options more;  // members that need no translation are taken from here
};

struct cs_mk_check {
    char folder[64];
    char path[128];  // of the input
    struct cs_mk_member files[CS_MK_CHECK_FILES];
    size_t file_count;
    struct cs_buf bytes[CS_MK_CHECK_FILES];
    struct cs_inventory inv;
    struct cs_check_look look;
    struct cs_check_options options;
    struct cs_device devices[64];
    struct cs_driver driver;
    struct cs_reach reach;
    struct cs_archlist declared, lists[CS_MK_CHECK_WORDS];
    struct cs_check_source sources[CS_MK_CHECK_WORDS];
    struct cs_str globs[CS_MK_CHECK_WORDS], exempt, select, ignore;
    struct cs_check result;
    bool read, ran;
};

void cs_mk_check_start(struct cs_mk_check *t);
void cs_mk_check_end(struct cs_mk_check *t);
// Adds a file of the package; the bytes are copied.
void cs_mk_check_file(struct cs_mk_check *t, const char *name, struct cs_view bytes);
// The same for a library written as words (mk_words.h).
void cs_mk_check_library(struct cs_mk_check *t, const char *name, const char *words);
// Reads the files: one alone as it is, several as a wheel
// pkg-1.0-py3-none-manylinux_2_28_x86_64.whl.
void cs_mk_check_read(struct cs_mk_check *t);
// The same from a finished file.
void cs_mk_check_read_as(struct cs_mk_check *t, const char *name, struct cs_view bytes);
// Runs the check; may be called again with another question.  Reads the files when that was not
// done.
void cs_mk_check_run(struct cs_mk_check *t, const struct cs_mk_check_ask *ask);

// Is there a finding of the rule and severity whose place or message holds the text?
bool cs_mk_check_found(const struct cs_mk_check *t, const char *slug, enum cs_severity severity,
                       const char *text);
// How many findings of the rule; of all rules when NULL.
size_t cs_mk_check_count(const struct cs_mk_check *t, const char *slug);
// Counts in a row: "native/same/jit/none", such as "3/0/1/0"; of all libraries, or of one.
const char *cs_mk_check_counts(const struct cs_mk_check *t, const char *device,
                               const char *library);
// Prints all findings to stderr, for a test that is about to fail.
void cs_mk_check_print(const struct cs_mk_check *t);

#endif
