// floor: the least work that answers "how many bytes of device code?", as a yardstick for cuslim.
//
//     floor [-j N] FILE      FILE = a wheel or an ELF library
//
// Inflates every member of a wheel (libdeflate), finds the containers in .nv_fatbin and
// __nv_relfatbin, decompresses every image (LZ4, zstd) and adds up the sizes of its .text sections.
// Threads share the members first, largest first, then the images of each.  It uses the same
// mapping, huge-page hint and pool as the program, and nothing else of it: no attribution, no
// names, no symbols, no checks of CRC or RECORD, no search outside the two sections, and trust in
// its input (it is no tool for users).
#include <elf.h>
#include <libdeflate.h>
#include <lz4.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/pool.h"
#include "base/vec.h"

enum {
    MAGIC = 0xBA55ED50,
    KIND_ELF = 2,
    KIND_CONCAT = 0x100,
    F_LZ4 = 0x2000,
    F_ZSTD = 0x8000,
    LOCAL_BYTES = 30,
    CENTRAL_BYTES = 46,
    END_BYTES = 22
};

struct image {
    struct cs_view payload;
    uint64_t bytes;  // decompressed; 0 = stored as it is
    uint32_t kind, parts;
    struct cs_view record;  // of a concatenated entry
    bool lz4;
};

struct member {
    struct cs_view raw;
    uint64_t bytes;
    uint16_t method;
};

struct job {
    struct cs_pool *pool;
    CS_VEC(struct member) members;
};

struct images {
    CS_VEC(struct image) list;
};

static atomic_ullong total_code, total_sections, total_images, total_containers, total_bytes;

static struct scratch {
    uint8_t *ptr;
    uint64_t cap;
    ZSTD_DCtx *zstd;
    struct libdeflate_decompressor *deflate;
} * scratch(void) {
    static _Thread_local struct scratch s;
    if (!s.zstd) {
        s.zstd = ZSTD_createDCtx();
        s.deflate = libdeflate_alloc_decompressor();
    }
    return &s;
}

static _Noreturn void die(const char *what) {
    fprintf(stderr, "floor: %s\n", what);
    exit(3);
}

static void walk_cubin(struct cs_view elf) {
    const uint64_t shoff = cs_u64(elf, 40);
    uint64_t count = cs_u16(elf, 60);
    count = count ? count : cs_u64(elf, shoff + 32);
    const uint64_t names = cs_u64(elf, shoff + 64ull * cs_u16(elf, 62) + 24);
    uint64_t code = 0, sections = 0;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t at = shoff + 64 * i, name = names + cs_u32(elf, at);
        if (cs_view_has(elf, name, 6) && memcmp(elf.ptr + name, ".text.", 6) == 0) {
            code += cs_u64(elf, at + 32);
            sections++;
        }
    }
    atomic_fetch_add(&total_code, code);
    atomic_fetch_add(&total_sections, sections);
}

static void walk_parts(const struct image *im, struct cs_view blob) {
    uint64_t at = 8;
    for (uint32_t i = 0; i < im->parts; i++) {
        const uint32_t options = cs_u32(im->record, at + 0x14),
                       name = cs_u32(im->record, at + 0x20);
        struct cs_view part;
        if (cs_u16(im->record, at) == KIND_ELF &&
            cs_view_sub(blob, cs_u32(im->record, at + 4), cs_u64(im->record, at + 8), &part)) {
            walk_cubin(part);
        }
        uint64_t len = 64;
        if (options) {
            len = options + 8 + cs_u32(im->record, at + options + 4) + 1;
        } else if (name) {
            len = name + cs_u32(im->record, at + 0x24) + 1;
        }
        at += (len + 7) / 8 * 8;
    }
    atomic_fetch_add(&total_images, im->parts ? im->parts - 1 : 0);
}

static void do_image(void *ctx, size_t index) {
    const struct image *im = &((struct images *)ctx)->list.ptr[index];
    struct cs_view elf = im->payload;
    if (im->bytes) {
        struct scratch *s = scratch();
        if (im->bytes > s->cap) {
            cs_pages_free(s->ptr, s->cap);
            s->cap = im->bytes;
            s->ptr = cs_pages_alloc(s->cap);
            if (!s->ptr) {
                die("no memory for an image");
            }
        }
        const uint64_t got =
            im->lz4
                ? (uint64_t)LZ4_decompress_safe((const char *)im->payload.ptr, (char *)s->ptr,
                                                (int)im->payload.len, (int)im->bytes)
                : ZSTD_decompressDCtx(s->zstd, s->ptr, im->bytes, im->payload.ptr, im->payload.len);
        if (got != im->bytes) {
            die("an image does not decompress");
        }
        elf = cs_view_of(s->ptr, im->bytes);
    }
    if (im->kind == KIND_CONCAT) {
        walk_parts(im, elf);
    } else if (im->kind == KIND_ELF) {
        walk_cubin(elf);
    }
    atomic_fetch_add(&total_images, 1);
}

static void list_section(struct images *images, struct cs_view s) {
    for (uint64_t at = 0; at + 16 <= s.len;) {
        if (cs_u32(s, at) != MAGIC) {
            at += 8;
            continue;
        }
        const uint64_t end = at + 16 + cs_u64(s, at + 8);
        atomic_fetch_add(&total_containers, 1);
        for (at += 16; at < end && cs_view_has(s, at, 64);) {
            const uint32_t header = cs_u32(s, at + 4), packed = cs_u32(s, at + 16);
            const uint64_t padded = cs_u64(s, at + 8), flags = cs_u64(s, at + 0x28);
            struct image *im = cs_vec_push(&images->list);
            if (!im || !cs_view_sub(s, at + header, packed ? packed : padded, &im->payload)) {
                die("an entry leaves its section");
            }
            im->kind = cs_u16(s, at);
            im->bytes = packed ? cs_u64(s, at + 0x38) : 0;
            im->lz4 = (flags & F_LZ4) != 0;
            if (im->kind == KIND_CONCAT) {
                im->parts = cs_u32(s, at + 64);
                (void)cs_view_sub(s, at + 64, header - 64, &im->record);
            }
            at += header + padded;
        }
    }
}

static void do_library(struct cs_pool *pool, struct cs_view elf) {
    if (elf.len < 64 || memcmp(elf.ptr, "\177ELF\2", 5) != 0) {
        return;
    }
    const uint64_t shoff = cs_u64(elf, 40);
    const uint64_t names = cs_u64(elf, shoff + 64ull * cs_u16(elf, 62) + 24);
    struct images images = {0};
    for (uint32_t i = 0; i < cs_u16(elf, 60); i++) {
        const uint64_t at = shoff + 64ull * i, name = names + cs_u32(elf, at);
        struct cs_view content;
        if (cs_view_has(elf, name, 16) && cs_u32(elf, at + 4) != SHT_NOBITS &&
            (memcmp(elf.ptr + name, ".nv_fatbin", 11) == 0 ||
             memcmp(elf.ptr + name, "__nv_relfatbin", 15) == 0) &&
            cs_view_sub(elf, cs_u64(elf, at + 24), cs_u64(elf, at + 32), &content)) {
            list_section(&images, content);
        }
    }
    cs_pool_for(pool, images.list.count, 1, do_image, &images);
    cs_vec_fini(&images.list);
}

static void do_member(void *ctx, size_t index) {
    struct job *job = ctx;
    const struct member *m = &job->members.ptr[index];
    struct cs_view data = m->raw;
    uint8_t *block = NULL;
    if (m->method && m->bytes) {
        block = cs_pages_alloc(m->bytes);
        if (!block || libdeflate_deflate_decompress(scratch()->deflate, m->raw.ptr, m->raw.len,
                                                    block, m->bytes, NULL) != LIBDEFLATE_SUCCESS) {
            die("a member does not inflate");
        }
        data = cs_view_of(block, m->bytes);
    }
    atomic_fetch_add(&total_bytes, m->bytes);
    do_library(job->pool, data);
    cs_pages_free(block, m->bytes);
}

static int larger_first(const void *a, const void *b) {
    const uint64_t x = ((const struct member *)a)->bytes, y = ((const struct member *)b)->bytes;
    return x < y ? 1 : x > y ? -1 : 0;
}

// The 64-bit value of a field that says "see the ZIP64 extra field" is not needed below 4 GiB.
static void do_wheel(struct job *job, struct cs_view zip) {
    uint64_t end = zip.len - END_BYTES;
    while (end && cs_u32(zip, end) != 0x06054b50) {
        end--;
    }
    uint64_t at = cs_u32(zip, end + 16);
    for (uint16_t i = cs_u16(zip, end + 10); i > 0; i--) {
        struct member *m = cs_vec_push(&job->members);
        const uint64_t local = cs_u32(zip, at + 42);
        const uint64_t data =
            local + LOCAL_BYTES + cs_u16(zip, local + 26) + cs_u16(zip, local + 28);
        if (!m || !cs_view_sub(zip, data, cs_u32(zip, at + 20), &m->raw)) {
            die("a member leaves the archive");
        }
        m->method = cs_u16(zip, at + 10);
        m->bytes = cs_u32(zip, at + 24);
        at += 0ull + CENTRAL_BYTES + cs_u16(zip, at + 28) + cs_u16(zip, at + 30) +
              cs_u16(zip, at + 32);
    }
    qsort(job->members.ptr, job->members.count, sizeof *job->members.ptr, larger_first);
    cs_pool_for(job->pool, job->members.count, 1, do_member, job);
    cs_vec_fini(&job->members);
}

int main(int argc, char **argv) {
    uint32_t threads = 2;
    int opt;
    while ((opt = getopt(argc, argv, "j:")) == 'j') {
        threads = (uint32_t)strtoul(optarg, NULL, 10);
    }
    struct cs_file file;
    struct job job = {0};
    struct cs_err err = {0};
    if (opt != -1 || optind + 1 != argc || cs_file_open(argv[optind], &file, &err) != CS_OK ||
        cs_pool_new(threads, &job.pool, &err) != CS_OK) {
        die("usage: floor [-j N] FILE");
    }
    if (file.view.len > END_BYTES && memcmp(file.view.ptr, "PK", 2) == 0) {
        do_wheel(&job, file.view);
    } else {
        do_library(job.pool, file.view);
    }
    printf("bytes %llu containers %llu images %llu sections %llu code %llu\n", total_bytes,
           total_containers, total_images, total_sections, total_code);
    cs_pool_free(job.pool);
    cs_file_close(&file);
    return 0;
}
