// What the sub-commands of `cuslim arch` share: reading lists, devices and toolkits from words.
#ifndef CS_CLI_ARCH_COMMON_H
#define CS_CLI_ARCH_COMMON_H

#include "base/file.h"
#include "cli/cli.h"
#include "model/archlist.h"

extern const char *const cs_arch_notation_words[];  // for CHOICE; the index is enum cs_notation

// "12.8"; for options of type VALUE whose field is a uint16_t.
enum cs_code cs_arch_toolkit_value(struct cs_str text, void *field, struct cs_err *err);
// For options whose field is a struct cs_driver.
enum cs_code cs_arch_driver_value(struct cs_str text, void *field, struct cs_err *err);

// A list given as a word, or with "-" on standard input (one line end at the close is taken off).
struct cs_arch_text {
    struct cs_str text;
    struct cs_file file;
    bool from_file;
};
enum cs_code cs_arch_text_open(const char *word, struct cs_arch_text *out,
                               struct cs_err *err) CS_MUST_USE;
void cs_arch_text_close(struct cs_arch_text *text);

// Devices of a --device list; "all" is every device of the table, no word at all too when
// `all_by_default`.  *out is allocated; free it with cs_free.
enum cs_code cs_arch_devices(const struct cs_list *words, bool all_by_default,
                             struct cs_device **out, size_t *count, struct cs_err *err) CS_MUST_USE;

// Issues of a list as warnings and remarks on stderr.
void cs_arch_show_issues(const struct cs_cli *cli, const struct cs_archlist *list);

#endif
