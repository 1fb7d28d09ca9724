// Zipwrite: every clean member of whatever opens can be copied, and the copy is clean and the same.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/wheelwrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool cond) {
    if (!cond) {
        abort();
    }
}

static void compare(const struct cs_zip *a, const struct cs_zip *b, const uint32_t *kept) {
    const uint32_t cleaned = CS_ZIP_FAULT_DESCRIPTOR | CS_ZIP_FAULT_ZIP64 | CS_ZIP_FAULT_EXTRA |
                             CS_ZIP_FAULT_DUPLICATE | CS_ZIP_FAULT_UNICODE;
    require((b->faults & ~(uint32_t)CS_ZIP_FILE_COMMENT) == 0);
    for (size_t i = 0; i < b->members.count; i++) {
        const struct cs_zip_member *x = &a->members.ptr[kept[i]];
        const struct cs_zip_member *y = &b->members.ptr[i];
        const struct cs_view p = cs_zip_raw(a, x);
        const struct cs_view q = cs_zip_raw(b, y);
        require(cs_str_eq(x->name, y->name) && x->bytes == y->bytes && x->crc32 == y->crc32);
        require(x->method == y->method && x->external_attr == y->external_attr);
        require(p.len == q.len && memcmp(p.ptr, q.ptr, (size_t)p.len) == 0);
        require((y->faults & ~(x->faults | cleaned)) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cs_zip z, again;
    struct cs_zipwrite w;
    static int fd = -1;
    static uint32_t kept[4096];
    if (cs_zip_open(cs_view_of(data, size), &z, NULL) != CS_OK) {
        return 0;
    }
    if (fd < 0) {
        fd = memfd_create("fuzz", MFD_CLOEXEC);
        require(fd >= 0);
    }
    require(ftruncate(fd, 0) == 0);
    struct cs_outfile out = {.fd = fd};
    cs_zipwrite_init(&w, &out, &(struct cs_zipwrite_options){0});
    size_t count = 0;
    for (uint32_t i = 0; i < z.members.count && count < 4096; i++) {
        const enum cs_code code = cs_zipwrite_copy(&w, &z, &z.members.ptr[i], i, NULL);
        require(code == CS_OK || code == CS_CONFLICT);
        if (code == CS_OK) {
            kept[count++] = i;
        }
    }
    require(cs_zipwrite_end(&w, CS_STR(""), NULL) == CS_OK && out.failed == CS_OK);
    const uint64_t bytes = cs_zipwrite_bytes(&w);
    void *map = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, fd, 0);
    require(map != MAP_FAILED && out.offset == bytes);
    require(cs_zip_open(cs_view_of(map, bytes), &again, NULL) == CS_OK);
    require(again.members.count == count);
    compare(&z, &again, kept);
    cs_zip_close(&again);
    require(munmap(map, (size_t)bytes) == 0);
    cs_zipwrite_fini(&w);
    cs_zip_close(&z);
    return 0;
}
