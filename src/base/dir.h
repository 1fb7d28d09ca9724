// Dir: what lies below a folder, in one fixed order.
//
// Symbolic links are listed, not followed: a loop, or a second name, would show bytes twice.
#ifndef CS_BASE_DIR_H
#define CS_BASE_DIR_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/vec.h"

enum cs_dir_kind { CS_DIR_FILE, CS_DIR_FOLDER, CS_DIR_LINK, CS_DIR_OTHER };

struct cs_dir_entry {
    struct cs_str path;  // below the root, NUL-terminated
    enum cs_dir_kind kind;
    uint64_t bytes;      // FILE
    mode_t mode;
};

struct cs_dir {
    struct cs_arena arena;
    CS_VEC(struct cs_dir_entry) entries;  // folders before what is in them; names in byte order
};

// Lists everything below `root`.  Entries that vanish meanwhile are left out; a folder that cannot
// be listed is an error.  CS_LIMIT beyond CS_MAX_DIR_FILES or CS_MAX_DIR_DEPTH.
enum cs_code cs_dir_list(const char *root, struct cs_dir *out, struct cs_err *err) CS_MUST_USE;
void cs_dir_fini(struct cs_dir *d);

// Removes a folder and everything below it, as far as that is possible; links are not followed.
void cs_dir_remove(const char *root);

#endif
