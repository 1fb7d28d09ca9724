// Hard links, because a name more costs no room and renaming it back is one step.

#include "rewrite/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/limits.h"
#include "base/mem.h"

static const char suffix[] = ".cuslim-backup";
enum { SUFFIX_BYTES = sizeof suffix - 1 };

// rename() of two names of one file does nothing, so a file that was not replaced yet keeps both.
static bool put_back(struct cs_str backup) {
    char original[CS_MAX_PATH_BYTES];
    const int n = snprintf(original, sizeof original, "%.*s", (int)(backup.len - SUFFIX_BYTES),
                           backup.ptr);
    if (n <= 0 || (size_t)n >= sizeof original || rename(backup.ptr, original) != 0) {
        return false;
    }
    return unlink(backup.ptr) == 0 || errno == ENOENT;
}

static enum cs_code recover(const char *folder, struct cs_backup *b, struct cs_err *err) {
    struct cs_dir dir;
    CS_TRY(cs_dir_list(folder, &dir, err));
    enum cs_code code = CS_OK;
    for (size_t i = 0; code == CS_OK && i < dir.entries.count; i++) {
        const struct cs_dir_entry *e = &dir.entries.ptr[i];
        if (e->kind != CS_DIR_FILE ||
            !cs_str_ends(e->path, (struct cs_str){suffix, SUFFIX_BYTES})) {
            continue;
        }
        const struct cs_str path = cs_arena_printf(&b->arena, "%s/%s", folder, e->path.ptr);
        if (!path.ptr) {
            code = cs_fail(err, CS_NOMEM, "no memory for the folder");
        } else if (!put_back(path)) {
            code = cs_fail_errno(err, "cannot put %s back, which an earlier run left", path.ptr);
        } else {
            b->recovered++;
        }
    }
    cs_dir_fini(&dir);
    return code;
}

enum cs_code cs_backup_open(const char *folder, struct cs_backup *out, struct cs_err *err) {
    *out = (struct cs_backup){.lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (out->lock < 0) {
        return cs_fail_errno(err, "cannot open the folder");
    }
    enum cs_code code = CS_OK;
    // File systems without locks do without.
    if (flock(out->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        code = cs_fail(err, CS_CONFLICT, "another run is at work in this folder");
    }
    if (code == CS_OK) {
        code = recover(folder, out, err);
    }
    if (code != CS_OK) {
        cs_backup_close(out, false);
    }
    return code;
}

enum cs_code cs_backup_keep(struct cs_backup *b, struct cs_str path, struct cs_err *err) {
    const struct cs_str backup = cs_arena_printf(&b->arena, "%s%s", path.ptr, suffix);
    struct cs_str *slot = backup.ptr ? cs_vec_push(&b->kept) : NULL;
    if (!slot) {
        return cs_fail(err, CS_NOMEM, "no memory for a backup");
    }
    *slot = backup;
    if (link(path.ptr, backup.ptr) != 0) {
        b->kept.count--;
        return cs_fail_errno(err, "cannot keep a backup of %s", path.ptr);
    }
    return CS_OK;
}

void cs_backup_close(struct cs_backup *b, bool restore) {
    // In the reverse order, so that whoever reads RECORDs, written last, finds the old ones first.
    for (size_t i = b->kept.count; i-- > 0;) {
        if (restore) {
            (void)put_back(b->kept.ptr[i]);
        } else {
            (void)unlink(b->kept.ptr[i].ptr);
        }
    }
    if (b->lock >= 0) {
        close(b->lock);
    }
    cs_vec_fini(&b->kept);
    cs_arena_fini(&b->arena);
    *b = (struct cs_backup){.lock = -1};
}
