// Folders: every regular file below, by name order.  Symbolic links are not followed (a loop or a
// second name would count bytes twice); a file that vanishes or cannot be read marks its member.

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "model/inventory_input.h"

struct dir_file {
    struct cs_str path;  // below the folder
    uint64_t bytes;
    struct cs_scan scan;
};

struct walk {
    const char *root;
    struct cs_arena arena;
    CS_VEC(struct dir_file) files;
    const struct cs_add *add;
};

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int not_dots(const struct dirent *d) {
    return strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
}

static enum cs_code list_dir(struct walk *w, struct cs_str below, int depth, struct cs_err *err);

static enum cs_code list_entry(struct walk *w, struct cs_str below, const char *name, int depth,
                               struct cs_err *err) {
    const struct cs_str path =
        below.len ? cs_arena_printf(&w->arena, "%.*s/%s", (int)below.len, below.ptr, name)
                  : cs_arena_printf(&w->arena, "%s", name);
    const struct cs_str full = cs_arena_printf(&w->arena, "%s/%.*s", w->root, (int)path.len,
                                               path.ptr ? path.ptr : "");
    struct stat st;
    if (!path.ptr || !full.ptr) {
        return cs_fail(err, CS_NOMEM, "no memory to list the folder");
    }
    if (lstat(full.ptr, &st) != 0) {
        return CS_OK;  // gone since it was listed
    }
    if (S_ISDIR(st.st_mode)) {
        return list_dir(w, path, depth + 1, err);
    }
    if (!S_ISREG(st.st_mode)) {
        return CS_OK;
    }
    if (w->files.count >= CS_MAX_DIR_FILES) {
        return cs_fail(err, CS_LIMIT, "more than %d files", CS_MAX_DIR_FILES);
    }
    struct dir_file *f = cs_vec_push(&w->files);
    if (!f) {
        return cs_fail(err, CS_NOMEM, "no memory to list the folder");
    }
    f->path = path;
    f->bytes = (uint64_t)st.st_size;
    return CS_OK;
}

static enum cs_code list_dir(struct walk *w, struct cs_str below, int depth, struct cs_err *err) {
    if (depth > CS_MAX_DIR_DEPTH) {
        return cs_fail(err, CS_LIMIT, "folders nested deeper than %d", CS_MAX_DIR_DEPTH);
    }
    const struct cs_str full =
        cs_arena_printf(&w->arena, "%s/%.*s", w->root, (int)below.len, below.ptr);
    struct dirent **names = NULL;
    const int count = full.ptr ? scandir(full.ptr, &names, not_dots, by_name) : -1;
    if (count < 0) {
        return full.ptr ? cs_fail_errno(err, "cannot list %s", full.ptr)
                        : cs_fail(err, CS_NOMEM, "no memory to list the folder");
    }
    enum cs_code code = CS_OK;
    for (int i = 0; i < count; i++) {
        if (code == CS_OK) {
            code = list_entry(w, below, names[i]->d_name, depth, err);
        }
        free(names[i]);
    }
    free(names);
    return code;
}

static void scan_one(void *ctx, size_t index) {
    struct walk *w = ctx;
    struct dir_file *f = &w->files.ptr[index];
    struct cs_scan *s = &f->scan;
    struct cs_err err = {0};
    struct cs_file file = {0};
    char path[CS_MAX_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%.*s", w->root, (int)f->path.len, f->path.ptr);
    const enum cs_code opened = cs_file_open(path, &file, &err);
    cs_scan_init(s, file.view, NULL, w->add->options);
    enum cs_code code = cs_scan_file(s, f->path, opened == CS_OK ? &err : NULL);
    if (code == CS_OK && opened != CS_OK) {
        char text[1024];
        cs_err_format(&err, text, sizeof text);
        s->members.ptr[0].failed = true;
        s->members.ptr[0].problem = cs_arena_str(&s->arena, cs_str_from(text));
    }
    if (code == CS_OK && s->members.ptr[0].kind == CS_FILE_WHEEL) {
        s->members.ptr[0].problem = CS_STR("a wheel inside a folder is not opened: name it itself");
    }
    if (code == CS_OK && w->add->options->depth == CS_DEPTH_KERNELS) {
        cs_scan_walk(s, w->add->pool, w->add->workers);
    }
    s->file = cs_view_of("", 0);
    if (code != CS_OK) {
        s->failed = code;
        s->err = err;
    }
    cs_file_close(&file);
}

enum cs_code cs_inventory_add_dir(struct cs_inventory *inv, const char *path,
                                  const struct cs_add *add, struct cs_err *err) {
    struct walk w = {.root = path, .add = add};
    cs_arena_init(&w.arena);
    enum cs_code code = list_dir(&w, CS_STR(""), 0, err);
    if (code == CS_OK) {
        cs_pool_for(add->pool, w.files.count, 1, scan_one, &w);
    }
    const uint32_t input =
        code == CS_OK ? cs_inventory_input(inv, path, CS_FILE_DIRECTORY, 0) : CS_NONE;
    if (code == CS_OK && input == CS_NONE) {
        code = cs_fail(err, CS_NOMEM, "no memory for the inventory");
    }
    for (size_t i = 0; i < w.files.count; i++) {
        if (code == CS_OK) {
            const uint64_t bytes = w.files.ptr[i].scan.members.count
                                       ? w.files.ptr[i].scan.members.ptr[0].file_bytes
                                       : 0;
            code = cs_scan_merge(inv, &w.files.ptr[i].scan, input, err);
            inv->inputs.ptr[input].bytes += bytes;
        }
        cs_scan_fini(&w.files.ptr[i].scan);
    }
    cs_vec_fini(&w.files);
    cs_arena_fini(&w.arena);
    return code;
}
