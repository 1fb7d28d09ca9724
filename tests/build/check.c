// Checks of an inventory against the file it was read from; the unpacked size of a wheel is taken
// from its directory.
#include "build/check.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/zip.h"

enum { TEXT = 256, PATH = 64 };

static _Thread_local char text[TEXT];

enum cs_code cs_check_read(struct cs_view file, struct cs_pool *pool, enum cs_depth depth,
                           struct cs_inventory *inv, struct cs_err *err) {
    const struct cs_inventory_options options = {
        .depth = depth, .wheel_bytes = true, .hashes = true, .sources = true};
    char path[PATH];
    const int fd = memfd_create("check", MFD_CLOEXEC);
    CS_ASSERT(fd >= 0);
    for (uint64_t done = 0; done < file.len;) {
        const ssize_t n = write(fd, file.ptr + done, (size_t)(file.len - done));
        CS_ASSERT(n > 0);
        done += (uint64_t)n;
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    cs_inventory_init(inv);
    const enum cs_code code = cs_inventory_add(inv, path, &options, pool, err);
    close(fd);
    return code;
}

static uint64_t unpacked_bytes(struct cs_view file) {
    struct cs_zip z;
    uint64_t sum = 0;
    if (cs_zip_open(file, &z, NULL) == CS_OK) {
        for (size_t i = 0; i < z.members.count; i++) {
            sum += z.members.ptr[i].bytes;
        }
        cs_zip_close(&z);
    }
    return sum;
}

static bool in_range(uint32_t index, size_t count) { return index == CS_NONE || index < count; }

static const char *say(const char *what, uint64_t got, uint64_t want) {
    snprintf(text, sizeof text, "%s: got %llu, want %llu", what, (unsigned long long)got,
             (unsigned long long)want);
    return text;
}

const char *cs_check_inventory(const struct cs_inventory *inv, struct cs_view file) {
    uint64_t file_bytes = 0, wheel_bytes = 0;
    for (size_t i = 0; i < inv->leaves.count; i++) {
        const struct cs_leaf *l = &inv->leaves.ptr[i];
        if (l->part >= CS_PART_COUNT || !in_range(l->member, inv->members.count) ||
            !in_range(l->container, inv->containers.count) ||
            !in_range(l->image, inv->images.count) || !in_range(l->kernel, inv->kernels.count)) {
            return say("a leaf with an index out of range", i, 0);
        }
        file_bytes += l->file_bytes;
        wheel_bytes += l->wheel_bytes;
    }
    for (size_t i = 0; i < inv->images.count; i++) {
        if (!in_range(inv->images.ptr[i].container, inv->containers.count)) {
            return say("an image with an index out of range", i, 0);
        }
    }
    const bool zip = inv->inputs.count && inv->inputs.ptr[0].kind == CS_FILE_WHEEL;
    const uint64_t whole = zip ? unpacked_bytes(file) : file.len;
    if (file_bytes != whole) {
        return say("sum of file bytes", file_bytes, whole);
    }
    if (wheel_bytes != (zip ? file.len : 0)) {
        return say("sum of wheel bytes", wheel_bytes, zip ? file.len : 0);
    }
    return NULL;
}

const char *cs_check_file(struct cs_view file, struct cs_pool *pool, enum cs_code *code) {
    struct cs_inventory inv;
    struct cs_err err = {0};
    const char *wrong = NULL;
    *code = cs_check_read(file, pool, CS_DEPTH_KERNELS, &inv, &err);
    if (*code == CS_OK) {
        wrong = cs_check_inventory(&inv, file);
    } else if (err.count == 0 || *code == CS_INTERNAL || *code == CS_USAGE || *code == CS_NOMEM) {
        wrong = say("error code", *code, CS_FORMAT);
    }
    cs_inventory_fini(&inv);
    return wrong;
}
