// Check: will it run there, is it what was promised, may it be uploaded?
//
// The result holds coverage (check_coverage.h), facts, and findings by the table of rules.  A gate
// fails on what was promised only: see cs_check_options for where promises come from.
#ifndef CS_ANALYSIS_CHECK_H
#define CS_ANALYSIS_CHECK_H

#include "analysis/check_coverage.h"
#include "analysis/check_look.h"
#include "analysis/rules.h"
#include "analysis/size.h"
#include "model/archlist.h"

struct cs_check_finding {
    const struct cs_rule *rule;
    enum cs_severity severity;
    struct cs_str where;    // library, or the input; may be empty
    struct cs_str message;
    struct cs_str advice;   // may be empty
};

// What one group of sources promises.
struct cs_check_source {
    const struct cs_str *files;  // globs
    uint32_t file_count;
    const struct cs_archlist *arch;  // NULL: these sources ship no device code
    bool silent;                     // the group has no promise of its own; `arch` is ignored
    struct cs_str origin;            // "cuslim.toml:12"
};

// A limit on the size of each input.
struct cs_check_budget {
    struct cs_str name;    // "wheel", "installed", "pypi"
    bool installed;        // of the files it unpacks to; else of the file itself
    uint64_t limit_bytes;
    struct cs_str origin;  // "--budget", "cuslim.toml:20"
};

struct cs_check_words {
    const struct cs_str *items;
    uint32_t count;
};

struct cs_check_options {
    // The devices judged; `asked` when somebody promised them.  Otherwise they are only shown, and
    // a device that a library does not serve at all is no finding.
    const struct cs_device *devices;
    uint32_t device_count;
    bool asked;
    const struct cs_driver *drivers;
    uint32_t driver_count;
    const struct cs_reach *reach;           // NULL = no routes
    const struct cs_archlist *declared;     // NULL = nothing declared; `all` already expanded
    const struct cs_check_source *sources;  // first match wins; these go before `declared`
    uint32_t source_count;
    const struct cs_check_look *looks;      // one an input, done; NULL = files were not looked at
    struct cs_check_words exempt;           // globs of libraries that no coverage gate fails on
    struct cs_check_words select, ignore;   // rules by id, slug or the beginning of an id
    const struct cs_check_budget *budgets;
    uint32_t budget_count;
    bool link;                              // the inputs are objects of one link
    bool strict;                            // narrower containers are errors
    bool warn_only;                         // errors become warnings
};

// What most containers of a library share.
struct cs_check_shared {
    uint32_t signature;
    uint32_t unit;      // one that has it
    uint32_t units;     // how many have it; 0 = library without units
};

struct cs_check_floor {
    bool known;                  // some image asks for a driver
    struct cs_driver driver;
    enum cs_floor_cause cause;
    uint32_t image;              // that asks for it
    struct cs_device device;     // where it is selected
    bool certain;
};

// What a driver compiles at the first start on a device (without a warm cache).
struct cs_check_forecast {
    uint64_t kernels, containers;
    uint64_t ptx_bytes;
    uint64_t cubin_bytes;  // estimate of what the cache must hold: size of SASS beside that PTX
    uint64_t cache_bytes;  // of the driver's cache when CUDA_CACHE_MAXSIZE is not set
};

// The limits of linkers and file formats, and what comes nearest to each.
enum cs_check_limit_kind {
    CS_LIMIT_SPAN,             // of 32-bit references
    CS_LIMIT_WINDOWS_IMAGE,    // LNK1248
    CS_LIMIT_WINDOWS_LIBRARY,  // .lib, import libraries too
    CS_LIMIT_KINDS,
};
struct cs_check_limit {
    const char *name;     // "span"
    const char *meaning;  // one clause
    uint64_t limit_bytes;
    uint64_t bytes;       // the largest in the input
    struct cs_str where;  // that has it; empty = nothing of the kind
};

// Bytes of one target in what is, or is to be, linked.
struct cs_check_target_bytes {
    struct cs_target target;
    uint64_t bytes;
};

// A smallest set of targets without which it fits.
enum { CS_CHECK_LEAVE_MAX = 4, CS_CHECK_SETS_MAX = 8 };
struct cs_check_fit {
    struct cs_target leave[CS_CHECK_LEAVE_MAX];
    uint32_t count;
    uint64_t bytes;  // of the span then
};

// What linking the inputs together will give, by the layout of GNU ld without a script.
struct cs_check_link {
    bool made;
    struct cs_check_sections sections;
    uint64_t span_bytes, limit_bytes;
    uint64_t device_bytes;                          // of it
    uint64_t scripted_bytes;                        // the span with device code last
    CS_VEC(struct cs_check_target_bytes) targets;   // largest first
    CS_VEC(struct cs_check_fit) fits;               // when it does not; at most CS_CHECK_SETS_MAX
};

// How a budget and an input compare.
struct cs_check_gauge {
    uint32_t budget, input;
    uint64_t bytes;
    bool over;
};

// Images that could go, or be stored smaller, without any device noticing.
enum cs_check_cut { CS_CUT_SHADOWED, CS_CUT_UNREACHABLE, CS_CUT_RAW, CS_CUT_COUNT };
struct cs_check_cuts {
    uint64_t images, file_bytes, wheel_bytes;
};

// What takes the room of an input that is over its budget.
enum { CS_CHECK_TABLES = 4 };
extern const enum cs_size_key cs_check_table_keys[CS_CHECK_TABLES];  // library, arch, kind, group

struct cs_check {
    struct cs_arena arena;  // texts of findings
    const struct cs_inventory *inv;
    const struct cs_check_options *options;
    struct cs_coverage coverage;
    CS_VEC(struct cs_check_finding) findings;  // errors first, then by rule, then in input order
    struct cs_check_shared *shared;            // by library
    struct cs_check_floor floor;
    struct cs_check_forecast *forecasts;       // by row of the coverage
    CS_VEC(struct cs_check_gauge) gauges;
    struct cs_check_limit limits[CS_LIMIT_KINDS];
    struct cs_check_link link;
    struct cs_check_cuts cuts[CS_CUT_COUNT];
    struct cs_size *tables;  // CS_CHECK_TABLES of them when something is over its budget, or NULL
    struct cs_name_table table_names;
    uint64_t sass_images, ptx_images, other_images;
    uint64_t errors, warnings, notes;
    bool pass;
    bool unsupported;  // Windows libraries and no others: nothing was judged
    uint32_t *stamp;   // by name id, zero between uses; see cs_cover_missing
    enum cs_code failed;
};

// `inv` (with CS_DEPTH_KERNELS) and `options` must outlive the result.
enum cs_code cs_check_run(const struct cs_inventory *inv, const struct cs_check_options *options,
                          struct cs_check *out, struct cs_err *err) CS_MUST_USE;
void cs_check_fini(struct cs_check *c);

// A linker script for GNU ld and lld that puts device code behind everything else: -Wl,-T,FILE.
extern const char cs_check_linker_script[];

// CS_USAGE, with the nearest known rule, when a word of --select or --ignore names none.
enum cs_code cs_check_rule_words(struct cs_check_words words, struct cs_err *err) CS_MUST_USE;

#endif
