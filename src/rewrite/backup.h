// Backup: several files of one folder that change together, or not at all.
//
// Each file keeps its old bytes under a second name (FILE.cuslim-backup, a hard link) until all are
// done.  When the program is killed in between, the next run over the folder finds the second names
// and puts the old bytes back before it does anything else.
#ifndef CS_REWRITE_BACKUP_H
#define CS_REWRITE_BACKUP_H

#include "base/arena.h"
#include "base/vec.h"

struct cs_backup {
    struct cs_arena arena;
    CS_VEC(struct cs_str) kept;  // second names
    int lock;                    // descriptor of the folder, locked against other runs
    uint32_t recovered;          // files that an earlier run had left half done
};

// Takes the folder for this run and puts back what an earlier one left.  CS_CONFLICT when another
// run is at work in it.  On error nothing needs to be closed.
enum cs_code cs_backup_open(const char *folder, struct cs_backup *out,
                            struct cs_err *err) CS_MUST_USE;
// Before a file is replaced.
enum cs_code cs_backup_keep(struct cs_backup *b, struct cs_str path,
                            struct cs_err *err) CS_MUST_USE;
// Drops the old bytes, or puts all of them back.
void cs_backup_close(struct cs_backup *b, bool restore);

#endif
