#include "base/dir.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int not_dots(const struct dirent *d) {
    return strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
}

struct walk {
    const char *root;
    struct cs_dir *out;
};

static enum cs_code list_below(struct walk *w, struct cs_str below, int depth, struct cs_err *err);

static enum cs_dir_kind kind_of(mode_t mode) {
    return S_ISREG(mode)   ? CS_DIR_FILE
           : S_ISDIR(mode) ? CS_DIR_FOLDER
           : S_ISLNK(mode) ? CS_DIR_LINK
                           : CS_DIR_OTHER;
}

static enum cs_code list_entry(struct walk *w, struct cs_str below, const char *name, int depth,
                               struct cs_err *err) {
    struct cs_arena *arena = &w->out->arena;
    const struct cs_str path = below.len ? cs_arena_printf(arena, "%s/%s", below.ptr, name)
                                         : cs_arena_str(arena, cs_str_from(name));
    const struct cs_str full = cs_arena_printf(arena, "%s/%s", w->root, path.ptr ? path.ptr : "");
    struct stat st;
    if (!path.ptr || !full.ptr) {
        return cs_fail(err, CS_NOMEM, "no memory to list the folder");
    }
    if (lstat(full.ptr, &st) != 0) {
        return CS_OK;  // gone since its folder was read
    }
    if (w->out->entries.count >= CS_MAX_DIR_FILES) {
        return cs_fail(err, CS_LIMIT, "more than %d files", CS_MAX_DIR_FILES);
    }
    struct cs_dir_entry *e = cs_vec_push(&w->out->entries);
    if (!e) {
        return cs_fail(err, CS_NOMEM, "no memory to list the folder");
    }
    *e = (struct cs_dir_entry){path, kind_of(st.st_mode), (uint64_t)st.st_size, st.st_mode & 07777};
    return e->kind == CS_DIR_FOLDER ? list_below(w, path, depth + 1, err) : CS_OK;
}

static enum cs_code list_below(struct walk *w, struct cs_str below, int depth, struct cs_err *err) {
    if (depth > CS_MAX_DIR_DEPTH) {
        return cs_fail(err, CS_LIMIT, "folders nested deeper than %d", CS_MAX_DIR_DEPTH);
    }
    const struct cs_str full =
        cs_arena_printf(&w->out->arena, "%s/%s", w->root, below.len ? below.ptr : "");
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

enum cs_code cs_dir_list(const char *root, struct cs_dir *out, struct cs_err *err) {
    *out = (struct cs_dir){0};
    struct walk w = {root, out};
    const enum cs_code code = list_below(&w, CS_STR(""), 0, err);
    if (code != CS_OK) {
        cs_dir_fini(out);
    }
    return code;
}

void cs_dir_fini(struct cs_dir *d) {
    cs_arena_fini(&d->arena);
    cs_vec_fini(&d->entries);
    *d = (struct cs_dir){0};
}

void cs_dir_remove(const char *root) {
    struct cs_dir d;
    if (cs_dir_list(root, &d, NULL) == CS_OK) {
        for (size_t i = d.entries.count; i-- > 0;) {
            const struct cs_str path =
                cs_arena_printf(&d.arena, "%s/%s", root, d.entries.ptr[i].path.ptr);
            if (path.ptr && d.entries.ptr[i].kind == CS_DIR_FOLDER) {
                (void)rmdir(path.ptr);
            } else if (path.ptr) {
                (void)unlink(path.ptr);
            }
        }
        cs_dir_fini(&d);
    }
    (void)rmdir(root);
}
