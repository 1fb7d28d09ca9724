// Words of `cuslim arch` into lists, devices, toolkits and drivers.
#include "cli/arch_common.h"

#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"

const char *const cs_arch_notation_words[] = {"auto",       "torch",   "cmake",   "nvcc",
                                              "flashinfer", "tvm-ffi", "targets", NULL};

enum cs_code cs_arch_toolkit_value(struct cs_str text, void *field, struct cs_err *err) {
    uint16_t x10;
    if (!cs_version_parse_x10(text, &x10) || !cs_toolkit_find(x10)) {
        return cs_fail(err, CS_USAGE, "'%.*s' is no CUDA toolkit from 11.0 to %u.%u",
                       (int)(text.len < 40 ? text.len : 40), text.ptr, cs_toolkit_newest() / 10u,
                       cs_toolkit_newest() % 10u);
    }
    *(uint16_t *)field = x10;
    return CS_OK;
}

enum cs_code cs_arch_driver_value(struct cs_str text, void *field, struct cs_err *err) {
    return cs_driver_parse(text, field, err);
}

enum cs_code cs_arch_text_open(const char *word, struct cs_arch_text *out, struct cs_err *err) {
    *out = (struct cs_arch_text){.text = cs_str_from(word)};
    if (strcmp(word, "-") != 0) {
        return CS_OK;
    }
    CS_TRY(cs_file_read_fd(STDIN_FILENO, 64 * CS_MIB, &out->file, err));
    out->from_file = true;
    out->text = (struct cs_str){(const char *)out->file.view.ptr, out->file.view.len};
    if (out->text.len && out->text.ptr[out->text.len - 1] == '\n') {
        out->text.len--;
    }
    return CS_OK;
}

void cs_arch_text_close(struct cs_arch_text *text) {
    if (text->from_file) {
        cs_file_close(&text->file);
    }
}

enum cs_code cs_arch_devices(const struct cs_list *words, bool all_by_default,
                             struct cs_device **out, size_t *count, struct cs_err *err) {
    uint32_t table_count;
    const struct cs_device_row *table = cs_device_table(&table_count);
    const size_t given = words->items.count;
    *count = 0;
    *out = cs_calloc((given + 1) * table_count, sizeof **out);
    if (!*out) {
        return cs_fail(err, CS_NOMEM, "out of memory");
    }
    for (size_t i = 0; i < given + (given == 0 && all_by_default ? 1 : 0); i++) {
        const struct cs_str word = given ? words->items.ptr[i] : CS_STR("all");
        if (cs_str_eq(word, CS_STR("all"))) {
            for (uint32_t k = 0; k < table_count; k++) {
                (*out)[(*count)++] = table[k].device;
            }
        } else if (!cs_device_parse(word, &(*out)[*count])) {
            cs_free(*out);
            *out = NULL;
            return cs_fail(err, CS_USAGE, "'%.*s' is no device such as 9.0",
                           (int)(word.len < 40 ? word.len : 40), word.ptr);
        } else {
            ++*count;
        }
    }
    return CS_OK;
}

void cs_arch_show_issues(const struct cs_cli *cli, const struct cs_archlist *list) {
    for (size_t i = 0; i < list->issues.count; i++) {
        const struct cs_arch_issue *issue = &list->issues.ptr[i];
        if (issue->severity == CS_ARCH_NOTE) {
            cs_cli_remark(cli, "%s: %s", issue->token.ptr, issue->text.ptr);
        } else {
            cs_cli_warn(cli, "%s: %s", issue->token.ptr, issue->text.ptr);
        }
    }
    if (list->more_issues) {
        cs_cli_warn(cli, "and %u more", list->more_issues);
    }
}
