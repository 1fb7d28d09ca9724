#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/num.h"

enum { READ_STEP = 1 << 20, LIVE_MAX = 64, TEMP_PATH_MAX = 4096, RANDOM_DIGITS = 16 };

enum cs_code cs_file_read_fd(int fd, uint64_t max_bytes, struct cs_file *out, struct cs_err *err) {
    *out = (struct cs_file){0};
    uint64_t cap = READ_STEP;
    uint8_t *block = cs_pages_alloc(cap);
    uint64_t len = 0;
    while (block) {
        const ssize_t n = read(fd, block + len, (size_t)(cap - len));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            cs_pages_free(block, cap);
            return cs_fail_errno(err, "read failed");
        }
        if (n == 0) {
            *out = (struct cs_file){cs_view_of(block, len), false, cap, 0644};
            return CS_OK;
        }
        len += (uint64_t)n;
        if (len > max_bytes) {
            cs_pages_free(block, cap);
            return cs_fail(err, CS_LIMIT, "more than %llu bytes on a pipe",
                           (unsigned long long)max_bytes);
        }
        if (len == cap) {
            uint8_t *bigger = cs_pages_alloc(cap * 2);
            if (bigger) {
                memcpy(bigger, block, len);
            }
            cs_pages_free(block, cap);
            block = bigger;
            cap *= 2;
        }
    }
    return cs_fail(err, CS_NOMEM, "no memory to read a pipe");
}

static enum cs_code map_fd(int fd, const struct stat *st, struct cs_file *out, struct cs_err *err) {
    *out = (struct cs_file){.mode = st->st_mode & 07777};
    if (st->st_size == 0) {
        out->view = cs_view_of("", 0);
        return CS_OK;
    }
    void *p = mmap(NULL, (size_t)st->st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED) {
        return cs_fail_errno(err, "cannot map the file");
    }
    out->view = cs_view_of(p, (uint64_t)st->st_size);
    out->mapped = true;
    return CS_OK;
}

enum cs_code cs_file_open(const char *path, struct cs_file *out, struct cs_err *err) {
    *out = (struct cs_file){0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return cs_fail_errno(err, "cannot open");
    }
    struct stat st;
    enum cs_code code;
    if (fstat(fd, &st) != 0) {
        code = cs_fail_errno(err, "cannot stat");
    } else if (S_ISDIR(st.st_mode)) {
        code = cs_fail(err, CS_UNSUPPORTED, "is a directory");
    } else if (S_ISREG(st.st_mode)) {
        code = map_fd(fd, &st, out, err);
    } else {
        code = cs_file_read_fd(fd, CS_MAX_MEMBER_BYTES, out, err);
    }
    close(fd);
    return code;
}

void cs_file_close(struct cs_file *f) {
    if (f->mapped) {
        (void)munmap((void *)(uintptr_t)f->view.ptr, (size_t)f->view.len);
    } else if (f->alloc_bytes) {
        cs_pages_free((void *)(uintptr_t)f->view.ptr, f->alloc_bytes);
    }
    *f = (struct cs_file){0};
}

// Temporary names of open outfiles, for removal from a signal handler.  A slot is claimed by
// setting `used`, and its path is complete before `ready` is set.
static struct live_slot {
    atomic_bool used;
    atomic_bool ready;
    char path[TEMP_PATH_MAX];
} live[LIVE_MAX];

static void live_add(const char *path) {
    const size_t len = strlen(path);
    for (int i = 0; i < LIVE_MAX && len < TEMP_PATH_MAX; i++) {
        bool expected = false;
        if (atomic_compare_exchange_strong(&live[i].used, &expected, true)) {
            memcpy(live[i].path, path, len + 1);
            atomic_store(&live[i].ready, true);
            return;
        }
    }
}

static void live_remove(const char *path) {
    for (int i = 0; i < LIVE_MAX; i++) {
        if (atomic_load(&live[i].ready) && strcmp(live[i].path, path) == 0) {
            atomic_store(&live[i].ready, false);
            atomic_store(&live[i].used, false);
            return;
        }
    }
}

void cs_outfile_remove_all(void) {
    for (int i = 0; i < LIVE_MAX; i++) {
        if (atomic_load(&live[i].ready)) {
            (void)unlink(live[i].path);
        }
    }
}

// Opens a new file under a name that nobody else uses.  The name is known to the signal handler
// before the file exists, so that no moment is left in which an interrupt could leave it behind; 64
// random bits make it certain that the handler never removes a file of somebody else.
static int create_temp(char *temp, size_t prefix_len, mode_t mode) {
    uint64_t random;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) {
        return -1;
    }
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < RANDOM_DIGITS; i++) {
        temp[prefix_len + (size_t)i] = digits[random & 15];
        random >>= 4;
    }
    temp[prefix_len + RANDOM_DIGITS] = '\0';
    live_add(temp);
    const int fd = open(temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0 && fchmod(fd, mode & 07777) == 0) {
        return fd;
    }
    const int saved = errno;
    if (fd >= 0) {
        close(fd);
        (void)unlink(temp);
    }
    live_remove(temp);
    errno = saved;
    return -1;
}

enum cs_code cs_outfile_create(const char *path, mode_t mode, struct cs_outfile *out,
                               struct cs_err *err) {
    *out = (struct cs_outfile){.fd = -1};
    const size_t len = strlen(path);
    static const char suffix[] = ".cuslim-";
    const size_t prefix_len = len + sizeof suffix - 1;
    char *final_path = cs_alloc(len + 1);
    char *temp = cs_alloc(prefix_len + RANDOM_DIGITS + 1);
    if (!final_path || !temp) {
        cs_free(final_path);
        cs_free(temp);
        return cs_fail(err, CS_NOMEM, "no memory to create %s", path);
    }
    memcpy(final_path, path, len + 1);
    memcpy(temp, path, len);
    memcpy(temp + len, suffix, sizeof suffix - 1);
    const int fd = create_temp(temp, prefix_len, mode);
    if (fd < 0) {
        const enum cs_code code = cs_fail_errno(err, "cannot create a file beside %s", path);
        cs_free(final_path);
        cs_free(temp);
        return code;
    }
    *out = (struct cs_outfile){.fd = fd, .path = final_path, .temp_path = temp};
    return CS_OK;
}

void cs_outfile_pwrite(struct cs_outfile *f, const void *bytes, uint64_t len, uint64_t offset) {
    const uint8_t *p = bytes;
    while (len > 0 && f->failed == CS_OK) {
        const size_t step = (size_t)cs_min_u64(len, (uint64_t)1 << 30);
        const ssize_t n = pwrite(f->fd, p, step, (off_t)offset);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            f->failed = CS_IO;
            f->failed_errno = n < 0 ? errno : ENOSPC;
            return;
        }
        p += n;
        len -= (uint64_t)n;
        offset += (uint64_t)n;
    }
}

void cs_outfile_write(struct cs_outfile *f, const void *bytes, uint64_t len) {
    cs_outfile_pwrite(f, bytes, len, f->offset);
    f->offset += len;
}

enum cs_code cs_outfile_flush(struct cs_outfile *f, struct cs_err *err) {
    if (f->failed == CS_OK && fsync(f->fd) != 0 && errno != EINVAL && errno != EROFS) {
        f->failed = CS_IO;
        f->failed_errno = errno;
    }
    if (f->failed != CS_OK) {
        errno = f->failed_errno;
        return cs_fail_errno(err, "writing %s failed", f->temp_path);
    }
    return CS_OK;
}

static void finish(struct cs_outfile *f) {
    if (f->fd >= 0) {
        close(f->fd);
    }
    cs_free(f->path);
    cs_free(f->temp_path);
    *f = (struct cs_outfile){.fd = -1};
}

enum cs_code cs_outfile_commit(struct cs_outfile *f, struct cs_err *err) {
    enum cs_code code = cs_outfile_flush(f, err);
    if (code == CS_OK && rename(f->temp_path, f->path) != 0) {
        code = cs_fail_errno(err, "cannot rename %s into place", f->temp_path);
    }
    if (code != CS_OK) {
        cs_outfile_abort(f);
        return code;
    }
    live_remove(f->temp_path);
    finish(f);
    return CS_OK;
}

void cs_outfile_abort(struct cs_outfile *f) {
    if (f->temp_path) {
        (void)unlink(f->temp_path);
        live_remove(f->temp_path);
        finish(f);
    }
}
