// Folders: every regular file below, by name order; a file that vanishes or cannot be read marks
// its member.

#include <stdio.h>

#include "base/dir.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "model/inventory_input.h"

struct folder {
    const char *root;
    struct cs_dir dir;
    CS_VEC(uint32_t) files;  // entries that are regular files
    struct cs_scan *scans;   // parallel to files
    const struct cs_add *add;
};

static void mark_failed(struct cs_scan *s, const struct cs_err *why) {
    char text[1024];
    cs_err_format(why, text, sizeof text);
    s->members.ptr[0].failed = true;
    s->members.ptr[0].problem = cs_arena_str(&s->arena, cs_str_from(text));
}

static void scan_one(void *ctx, size_t index) {
    struct folder *f = ctx;
    const struct cs_dir_entry *e = &f->dir.entries.ptr[f->files.ptr[index]];
    struct cs_scan *s = &f->scans[index];
    struct cs_err why = {0}, err = {0};
    struct cs_file file = {0};
    char path[CS_MAX_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", f->root, e->path.ptr);
    const enum cs_code opened = cs_file_open(path, &file, &why);
    const struct cs_inventory_look *look = f->add->options->look;
    if (opened == CS_OK && look) {
        look->file(look->ctx, (uint32_t)index, e->path, file.view);
    }
    cs_scan_init(s, file.view, NULL, f->add->options);
    const enum cs_code code = cs_scan_file(s, e->path, &err);
    if (code == CS_OK && opened != CS_OK) {
        mark_failed(s, &why);
    }
    if (code == CS_OK && s->members.ptr[0].kind == CS_FILE_WHEEL) {
        s->members.ptr[0].problem = CS_STR("a wheel inside a folder is not opened: name it itself");
    }
    if (code == CS_OK && f->add->options->depth == CS_DEPTH_KERNELS) {
        cs_scan_walk(s, f->add->pool, f->add->workers);
    }
    s->file = cs_view_of("", 0);
    if (code != CS_OK) {
        s->failed = code;
        s->err = err;
    }
    cs_file_close(&file);
}

static enum cs_code scan_all(struct folder *f, struct cs_err *err) {
    for (uint32_t i = 0; i < f->dir.entries.count; i++) {
        uint32_t *slot = f->dir.entries.ptr[i].kind == CS_DIR_FILE ? cs_vec_push(&f->files) : NULL;
        if (slot) {
            *slot = i;
        } else if (f->dir.entries.ptr[i].kind == CS_DIR_FILE) {
            return cs_fail(err, CS_NOMEM, "no memory to read the folder");
        }
    }
    f->scans = cs_calloc(f->files.count, sizeof *f->scans);
    if (!f->scans) {
        return cs_fail(err, CS_NOMEM, "no memory to read the folder");
    }
    cs_pool_for(f->add->pool, f->files.count, 1, scan_one, f);
    return CS_OK;
}

enum cs_code cs_inventory_add_dir(struct cs_inventory *inv, const char *path,
                                  const struct cs_add *add, struct cs_err *err) {
    struct folder f = {.root = path, .add = add};
    CS_TRY(cs_dir_list(path, &f.dir, err));
    enum cs_code code = scan_all(&f, err);
    const uint32_t input =
        code == CS_OK ? cs_inventory_input(inv, path, CS_FILE_DIRECTORY, 0) : CS_NONE;
    if (code == CS_OK && input == CS_NONE) {
        code = cs_fail(err, CS_NOMEM, "no memory for the inventory");
    }
    for (size_t i = 0; f.scans && i < f.files.count; i++) {
        if (code == CS_OK) {
            struct cs_scan *s = &f.scans[i];
            inv->inputs.ptr[input].bytes += s->members.count ? s->members.ptr[0].file_bytes : 0;
            code = cs_scan_merge(inv, s, input, err);
        }
        cs_scan_fini(&f.scans[i]);
    }
    cs_free(f.scans);
    cs_vec_fini(&f.files);
    cs_dir_fini(&f.dir);
    return code;
}
