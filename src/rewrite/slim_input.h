// What the runs over single files, wheels and folders share.  Internal to slim.
#ifndef CS_REWRITE_SLIM_INPUT_H
#define CS_REWRITE_SLIM_INPUT_H

#include "base/file.h"
#include "rewrite/slim_run.h"

struct cs_slim_input {
    const struct cs_slim_request *request;
    struct cs_workers *workers;
};

// Adds one file's figures to the result; NULL when out of memory.
struct cs_slim_member *cs_slim_add_member(struct cs_slim_result *result, struct cs_str path,
                                          const struct cs_slim_job *job);

// SHA-256 of a file's bytes before and after.
void cs_slim_hash_member(struct cs_slim_member *m, const struct cs_slim_job *job);

// CS_CONFLICT for files that look like NVIDIA's own, unless forced.
enum cs_code cs_slim_vendor_check(struct cs_str name, bool force, struct cs_err *err) CS_MUST_USE;

// CS_IO when there is a read-only file of that name already.
enum cs_code cs_slim_writable(const char *path, struct cs_err *err) CS_MUST_USE;

struct cs_str cs_slim_base_name(const char *path);

// Where the rows of the proof go while a file is written.
struct cs_slim_rows {
    struct cs_arena *arena;
    struct cs_slim_images *images;
};

// Writes a made job to a path: temporary file, read back, verified, renamed.  An unchanged job is
// copied, or left where it is when path is the input itself.  `rows` NULL = no proof is asked for.
enum cs_code cs_slim_write_job(const struct cs_slim_input *in, const struct cs_slim_job *job,
                               const char *path, mode_t mode, const struct cs_slim_rows *rows,
                               struct cs_err *err) CS_MUST_USE;

// Rows of the proof from bytes in memory: what a job made of a file, verified already.
enum cs_code cs_slim_prove_member(const struct cs_slim_input *in, const struct cs_slim_job *job,
                                  struct cs_view produced, struct cs_slim_result *result,
                                  struct cs_slim_member *m, struct cs_err *err) CS_MUST_USE;

enum cs_code cs_slim_run_wheel(const struct cs_slim_input *in, const struct cs_file *file,
                               struct cs_slim_result *result, struct cs_err *err) CS_MUST_USE;
enum cs_code cs_slim_run_dir(const struct cs_slim_input *in, struct cs_slim_result *result,
                             struct cs_err *err) CS_MUST_USE;

#endif
