// faults.so: a preloaded library that makes the Nth file-changing system call fail.
//
// CUSLIM_FAULT_AT=N chooses the call (1 = first),
// CUSLIM_FAULT=ENOSPC|EIO|SHORT|KILL|KILL-AFTER|INT|FLIP what happens: an error (a write first
// stores half of its bytes, as a full disk does), a short write that succeeds, SIGKILL before or
// after the call (with half of a write done), SIGINT, or a write that stores one wrong bit and
// succeeds (only writes are counted then).
// CUSLIM_FAULT_LOG=FILE receives one line when the fault struck, so that a script knows when N was
// beyond the last call.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum fault {
    FAULT_NONE,
    FAULT_ERROR,
    FAULT_SHORT,
    FAULT_KILL,
    FAULT_KILL_AFTER,
    FAULT_INT,
    FAULT_FLIP,
};

static atomic_long calls;

static int chosen_errno(void) {
    const char *what = getenv("CUSLIM_FAULT");
    return what && strcmp(what, "EIO") == 0 ? EIO : ENOSPC;
}

static void log_call(const char *name) {
    const char *path = getenv("CUSLIM_FAULT_LOG");
    const int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND,
                                       0600)
                        : -1;
    if (fd >= 0) {
        (void)syscall(SYS_write, fd, name, strlen(name));
        (void)syscall(SYS_write, fd, "\n", 1);
        (void)syscall(SYS_close, fd);
    }
}

// Counts this call; says what should happen to it.
static enum fault strike(const char *name) {
    const char *at = getenv("CUSLIM_FAULT_AT");
    const char *what = getenv("CUSLIM_FAULT");
    const bool flip = what && strcmp(what, "FLIP") == 0;
    if (!at || !what || (flip && !strstr(name, "write")) ||
        atomic_fetch_add(&calls, 1) + 1 != strtol(at, NULL, 10)) {
        return FAULT_NONE;
    }
    log_call(name);
    if (strcmp(what, "SHORT") == 0) {
        return FAULT_SHORT;
    }
    if (strcmp(what, "INT") == 0) {
        (void)raise(SIGINT);
        return FAULT_NONE;
    }
    return flip                              ? FAULT_FLIP
           : strcmp(what, "KILL") == 0       ? FAULT_KILL
           : strcmp(what, "KILL-AFTER") == 0 ? FAULT_KILL_AFTER
                                             : FAULT_ERROR;
}

static void die(void) {
    (void)kill(getpid(), SIGKILL);
    for (;;) {
        (void)pause();
    }
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

// Stores `len` bytes of which one is wrong.
static ssize_t wrong(int fd, const void *bytes, size_t len, off_t off, bool positioned) {
    unsigned char *copy = malloc(len ? len : 1);
    if (!copy) {
        return -1;
    }
    memcpy(copy, bytes, len);
    if (len) {
        copy[len / 2] ^= 4;
    }
    const ssize_t n = positioned ? NEXT(pwrite)(fd, copy, len, off) : NEXT(write)(fd, copy, len);
    free(copy);
    return n;
}

static ssize_t positioned(int fd, const void *bytes, size_t len, off_t off) {
    const enum fault fault = strike("pwrite");
    if (fault == FAULT_NONE) {
        return NEXT(pwrite)(fd, bytes, len, off);
    }
    if (fault == FAULT_FLIP) {
        return wrong(fd, bytes, len, off, true);
    }
    const ssize_t half = NEXT(pwrite)(fd, bytes, len > 1 ? len / 2 : len, off);
    if (fault == FAULT_KILL || fault == FAULT_KILL_AFTER) {
        die();
    }
    if (fault == FAULT_SHORT) {
        return half;
    }
    errno = chosen_errno();
    return -1;
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t off) {
    return positioned(fd, bytes, len, off);
}
ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t off) {
    return positioned(fd, bytes, len, off);
}

ssize_t write(int fd, const void *bytes, size_t len) {
    if (fd <= 2) {
        return NEXT(write)(fd, bytes, len);  // reports are not what is tested
    }
    const enum fault fault = strike("write");
    if (fault == FAULT_NONE) {
        return NEXT(write)(fd, bytes, len);
    }
    if (fault == FAULT_FLIP) {
        return wrong(fd, bytes, len, 0, false);
    }
    const ssize_t half = NEXT(write)(fd, bytes, len > 1 ? len / 2 : len);
    if (fault == FAULT_KILL || fault == FAULT_KILL_AFTER) {
        die();
    }
    if (fault == FAULT_SHORT) {
        return half;
    }
    errno = chosen_errno();
    return -1;
}

// Calls that either happen or do not.
#define WHOLE(name, call)                                        \
    do {                                                         \
        const enum fault fault = strike(name);                   \
        if (fault == FAULT_KILL) {                               \
            die();                                               \
        }                                                        \
        if (fault == FAULT_ERROR) {                              \
            errno = chosen_errno();                              \
            return -1;                                           \
        }                                                        \
        const int result = call;                                 \
        if (fault == FAULT_KILL_AFTER) {                         \
            die();                                               \
        }                                                        \
        return result;                                           \
    } while (0)

int fsync(int fd) { WHOLE("fsync", NEXT(fsync)(fd)); }
int fdatasync(int fd) { WHOLE("fdatasync", NEXT(fdatasync)(fd)); }
int fchmod(int fd, mode_t mode) { WHOLE("fchmod", NEXT(fchmod)(fd, mode)); }
int ftruncate(int fd, off_t len) { WHOLE("ftruncate", NEXT(ftruncate)(fd, len)); }
int ftruncate64(int fd, off64_t len) { WHOLE("ftruncate", NEXT(ftruncate64)(fd, len)); }
int rename(const char *a, const char *b) { WHOLE("rename", NEXT(rename)(a, b)); }
int link(const char *a, const char *b) { WHOLE("link", NEXT(link)(a, b)); }
int mkdir(const char *path, mode_t mode) { WHOLE("mkdir", NEXT(mkdir)(path, mode)); }
int symlink(const char *a, const char *b) { WHOLE("symlink", NEXT(symlink)(a, b)); }
char *mkdtemp(char *path) {
    const enum fault fault = strike("mkdtemp");
    if (fault == FAULT_KILL) {
        die();
    }
    if (fault == FAULT_ERROR) {
        errno = chosen_errno();
        return NULL;
    }
    char *result = NEXT(mkdtemp)(path);
    if (fault == FAULT_KILL_AFTER) {
        die();
    }
    return result;
}
int mkostemp(char *path, int flags) { WHOLE("mkostemp", NEXT(mkostemp)(path, flags)); }

// Of all that is opened, only new files count.
static int opened(const char *path, int flags, mode_t mode) {
    if (!(flags & O_CREAT)) {
        return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    }
    WHOLE("open", (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

int open(const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    const mode_t mode = (flags & O_CREAT) ? va_arg(args, mode_t) : 0;
    va_end(args);
    return opened(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    const mode_t mode = (flags & O_CREAT) ? va_arg(args, mode_t) : 0;
    va_end(args);
    return opened(path, flags, mode);
}
