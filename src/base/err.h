// Errors: a caller-owned record of what failed, with the chain of places from outermost to root.
//
// Every fallible function returns `enum cs_code` and takes `struct cs_err *err` last (NULL
// allowed). The function that notices the problem calls cs_fail(); each caller on the way out may
// call cs_wrap() to add where it was.  Nothing here allocates, prints or keeps state, so a record
// may live on any thread's stack.
#ifndef CS_BASE_ERR_H
#define CS_BASE_ERR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

enum cs_code {
    CS_OK = 0,
    CS_NOMEM,        // memory, or a resource of the machine, ran out
    CS_IO,           // a system call on a file failed; err->sys_errno says why
    CS_FORMAT,       // the input breaks the rules of its format
    CS_UNSUPPORTED,  // well-formed perhaps, but not something this program handles
    CS_LIMIT,        // beyond a limit named in base/limits.h
    CS_NOTFOUND,     // what was asked for does not exist
    CS_CONFLICT,     // the request contradicts itself, or would break a promise
    CS_INTERRUPTED,  // the user asked to stop
    CS_USAGE,        // the words of the request are wrong
    CS_INTERNAL,     // our own bug
};

enum { CS_ERR_FRAMES = 6, CS_ERR_TEXT = 232 };

#define CS_NO_OFFSET UINT64_MAX

// One level of the chain.  `text` is one line, no newline at the end, never NULL-terminated late.
struct cs_err_frame {
    char text[CS_ERR_TEXT];
};

// frame[0] is the root cause; frame[count-1] the outermost place.
struct cs_err {
    enum cs_code code;
    int sys_errno;        // errno at the failing call, 0 when none
    uint64_t offset;      // byte offset of the root cause in its container, or CS_NO_OFFSET
    uint32_t count;       // frames in use
    uint32_t dropped;     // wraps that found no free frame
    struct cs_err_frame frame[CS_ERR_FRAMES];
};

#define CS_MUST_USE __attribute__((warn_unused_result))
#define CS_PRINTF(a, b) __attribute__((format(printf, a, b)))

// Clears the record.  A zeroed struct is also a valid empty record.
void cs_err_clear(struct cs_err *err);

// Records the root cause and returns `code`, so that `return cs_fail(...)` reads well.
enum cs_code cs_fail(struct cs_err *err, enum cs_code code, const char *fmt, ...) CS_PRINTF(3, 4);

// The same, with the byte offset of the trouble; printed as "at offset 0x...".
enum cs_code cs_fail_at(struct cs_err *err, enum cs_code code, uint64_t offset, const char *fmt,
                        ...) CS_PRINTF(4, 5);

// The same for a failed system call: appends strerror(errno).
enum cs_code cs_fail_errno(struct cs_err *err, const char *fmt, ...) CS_PRINTF(2, 3);

// Adds an outer place to a record that already holds a failure; returns err's own code when
// err is not NULL, else `code`.
enum cs_code cs_wrap(struct cs_err *err, enum cs_code code, const char *fmt, ...) CS_PRINTF(3, 4);

// Writes "outermost: ...: root" into out (always NUL-terminated); returns the untruncated length.
int cs_err_format(const struct cs_err *err, char *out, uint32_t out_size);

// A short English name: "format", "limit", ...
const char *cs_code_name(enum cs_code code);

// The process exit code of the design: 0, 2, 3, 4 or 70.
int cs_code_exit(enum cs_code code);

// Returns the code of an expression on failure.  The only macro of the project that hides a return.
#define CS_TRY(expr)                                 \
    do {                                             \
        const enum cs_code cs_try_code_ = (expr);    \
        if (cs_try_code_ != CS_OK) {                 \
            return cs_try_code_;                     \
        }                                            \
    } while (0)

// Our own invariants, never input.  Stays on in release builds.
#define CS_ASSERT(cond) ((cond) ? (void)0 : cs_assert_failed(#cond, __FILE__, __LINE__))
void cs_assert_failed(const char *cond, const char *file, int line) __attribute__((noreturn));

#endif
