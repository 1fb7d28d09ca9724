// Files: read-only mappings, whole small files, and atomic creation.
#ifndef CS_BASE_FILE_H
#define CS_BASE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/view.h"

// A whole file in memory.  Regular files are mapped (a file that another program truncates while
// it is mapped ends this program with SIGBUS); pipes and the like are read into memory.
struct cs_file {
    struct cs_view view;
    bool mapped;
    uint64_t alloc_bytes;  // size of the anonymous block when not mapped
    mode_t mode;
};

enum cs_code cs_file_open(const char *path, struct cs_file *out, struct cs_err *err) CS_MUST_USE;
// From an open descriptor (standard input); reads at most max_bytes.
enum cs_code cs_file_read_fd(int fd, uint64_t max_bytes, struct cs_file *out,
                             struct cs_err *err) CS_MUST_USE;
void cs_file_close(struct cs_file *f);

// A file that appears under its final name only when complete: written to a temporary name in the
// same folder, then fsync and rename.  Write errors are sticky; commit reports them.
// An abandoned cs_outfile (cs_outfile_abort, or a crash) leaves the target untouched.
struct cs_outfile {
    int fd;
    char *path;       // owned
    char *temp_path;  // owned
    uint64_t offset;  // bytes written so far
    enum cs_code failed;
    int failed_errno;
};

enum cs_code cs_outfile_create(const char *path, mode_t mode, struct cs_outfile *out,
                               struct cs_err *err) CS_MUST_USE;
void cs_outfile_write(struct cs_outfile *f, const void *bytes, uint64_t len);
// Overwrites earlier bytes (a header whose size is known late).
void cs_outfile_pwrite(struct cs_outfile *f, const void *bytes, uint64_t len, uint64_t offset);
// fsync and check, before the temporary file is read back for verification.
enum cs_code cs_outfile_flush(struct cs_outfile *f, struct cs_err *err) CS_MUST_USE;
// Renames into place.  The struct is finished either way.
enum cs_code cs_outfile_commit(struct cs_outfile *f, struct cs_err *err) CS_MUST_USE;
void cs_outfile_abort(struct cs_outfile *f);  // fine on a zeroed or finished struct

// Removes every temporary file of this process that is still open; async-signal-safe, for the
// handler of SIGINT and SIGTERM.
void cs_outfile_remove_all(void);

#endif
