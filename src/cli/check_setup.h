// From the words of `cuslim check` and the configuration to the options of the analysis.
#ifndef CS_CLI_CHECK_SETUP_H
#define CS_CLI_CHECK_SETUP_H

#include "analysis/check.h"
#include "cli/cli.h"
#include "model/config.h"

struct cs_check_args {
    struct cs_list device, driver, select, ignore, exempt, route, budget;
    const char *declared, *linker_script;
    bool strict, warn_only, link;
};

// Everything the options refer to.
struct cs_check_setup {
    struct cs_device *devices;
    size_t device_count;
    CS_VEC(struct cs_driver) drivers;
    struct cs_reach reach;
    struct cs_archlist declared;
    struct cs_archlist *lists;  // of the sources
    struct cs_check_source *sources;
    size_t source_count;
    CS_VEC(struct cs_check_budget) budgets;
    struct cs_arena arena;
    struct cs_check_options options;
};

// Words win over the configuration; routes add up.  Free with cs_check_setup_fini in any case.
enum cs_code cs_check_setup(struct cs_cli *cli, const struct cs_check_args *args,
                            struct cs_check_setup *out, struct cs_err *err) CS_MUST_USE;
void cs_check_setup_fini(struct cs_check_setup *s);

#endif
