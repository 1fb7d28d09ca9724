// The table of commands.  Each lives in cmd_NAME.c; a line here is all it takes to be seen.
#include "cli/cmd.h"

extern const struct cs_cmd cs_cmd_arch;
extern const struct cs_cmd cs_cmd_check;
extern const struct cs_cmd cs_cmd_config;
extern const struct cs_cmd cs_cmd_explain;
extern const struct cs_cmd cs_cmd_list;
extern const struct cs_cmd cs_cmd_size;
extern const struct cs_cmd cs_cmd_slim;

const struct cs_cmd *const cs_commands[] = {
    &cs_cmd_size,
    &cs_cmd_slim,
    &cs_cmd_list,
    &cs_cmd_check,
    &cs_cmd_explain,
    &cs_cmd_arch,
    &cs_cmd_config,
    NULL,
};

const char *cs_group_title(enum cs_cmd_group group) {
    switch (group) {
    case CS_GROUP_LOOK: return "See what is there";
    case CS_GROUP_JUDGE: return "Judge it";
    case CS_GROUP_DECIDE: return "Decide";
    case CS_GROUP_CHANGE: return "Cut finished files";
    case CS_GROUP_BUILD: return "Build and run";
    case CS_GROUP_OTHER: return "Other";
    }
    return "";
}

const struct cs_cmd *cs_cmd_find(const struct cs_cmd *const *commands, struct cs_str name) {
    for (; commands && *commands; commands++) {
        if (cs_str_eq(name, cs_str_from((*commands)->name))) {
            return *commands;
        }
    }
    return NULL;
}
