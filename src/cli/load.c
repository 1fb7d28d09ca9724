// Reading the inputs of a command, and saying what of them could not be read.
#include "cli/load.h"

#include <string.h>
#include <sys/stat.h>

#include "model/scan.h"

enum { WARNINGS_MAX = 5 };

static void warn_problems(const struct cs_cli *cli, const struct cs_inventory *inv) {
    uint32_t shown = 0, hidden = 0;
    for (size_t i = 0; i < inv->members.count; i++) {
        const struct cs_member *m = &inv->members.ptr[i];
        if (m->problem.len && shown < WARNINGS_MAX) {
            cs_cli_warn(cli, "%.*s: %.*s", (int)m->path.len, m->path.ptr, (int)m->problem.len,
                        m->problem.ptr);
        }
        shown += m->problem.len > 0;
    }
    for (size_t i = 0; i < inv->images.count; i++) {
        const struct cs_image *image = &inv->images.ptr[i];
        if (image->problem.len && shown < WARNINGS_MAX) {
            const struct cs_str path = inv->members.ptr[image->member].path;
            cs_cli_warn(cli, "%.*s: image at offset 0x%llx: %.*s", (int)path.len, path.ptr,
                        (unsigned long long)image->offset, (int)image->problem.len,
                        image->problem.ptr);
        }
        shown += image->problem.len > 0;
    }
    hidden = shown > WARNINGS_MAX ? shown - WARNINGS_MAX : 0;
    if (hidden) {
        cs_cli_warn(cli, "%u more problems (see \"problems\" in --format json)", hidden);
    }
}

enum cs_code cs_cli_load(struct cs_cli *cli, struct cs_inventory_options options,
                         struct cs_inventory *inv, struct cs_err *err) {
    struct cs_pool *pool = NULL;
    cs_inventory_init(inv);
    CS_TRY(cs_cli_pool(cli, &pool, err));
    options.progress = cs_cli_progress;
    options.progress_ctx = cli;
    for (size_t i = 0; i < cli->args.items.count; i++) {
        CS_TRY(cs_inventory_add(inv, cli->args.items.ptr[i], &options, pool, err));
    }
    warn_problems(cli, inv);
    return CS_OK;
}

enum cs_code cs_cli_load_verdict(const struct cs_inventory *inv, struct cs_err *err) {
    uint32_t windows = 0, linux_libraries = 0;
    const struct cs_member *first = NULL;
    for (size_t i = 0; i < inv->members.count; i++) {
        const struct cs_member *m = &inv->members.ptr[i];
        linux_libraries += m->kind == CS_FILE_LIBRARY || m->image_count > 0;
        if (m->kind == CS_FILE_WINDOWS) {
            first = windows == 0 ? m : first;
            windows++;
        }
    }
    if (windows && !linux_libraries) {
        return cs_fail(err, CS_UNSUPPORTED,
                       "Windows libraries are not read (unsupported-format): %u of them, such as "
                       "%.*s",
                       windows, (int)first->path.len, first->path.ptr);
    }
    if (inv->failed_members || inv->failed_images) {
        return cs_fail(err, CS_FORMAT,
                       "%u files and %u images could not be read; their bytes are counted, their "
                       "content is not",
                       inv->failed_members, inv->failed_images);
    }
    return CS_OK;
}

enum cs_code cs_cli_open_report(const struct cs_cli *cli, struct cs_file *file, bool *is_report,
                                struct cs_err *err) {
    const char *path = cli->args.items.ptr[0];
    struct stat st;
    *file = (struct cs_file){0};
    *is_report = false;
    if (cli->args.items.count != 1 || strcmp(path, "-") == 0 || stat(path, &st) != 0 ||
        !S_ISREG(st.st_mode)) {
        return CS_OK;
    }
    const enum cs_code code = cs_file_open(path, file, err);
    *is_report = code == CS_OK && cs_file_kind_of(file->view) == CS_FILE_REPORT;
    return code == CS_OK ? CS_OK : cs_wrap(err, code, "%s", path);
}
