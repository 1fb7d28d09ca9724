// codec: the least work that recompresses a library, as a yardstick for `cuslim slim`.
//
//     codec [-j N] FORM LEVEL FILE      FORM = lz4, zstd or concat
//
// Decompresses every image in the library's containers and compresses it again, straight by the
// codecs' own libraries, one context a thread; with concat, the images of a container that one
// entry could hold are joined first.  Nothing is written, verified or even kept.  Prints one line:
// images, plain bytes, stored bytes before and after, seconds of clock and of processor.
#include <lz4.h>
#include <lz4hc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <zstd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/pool.h"
#include "rewrite/slim.h"

struct task {
    uint32_t first, count;  // in bench.images
};

struct bench {
    struct cs_scan scan;
    enum cs_codec codec;
    int level;
    CS_VEC(uint32_t) images;
    CS_VEC(struct task) tasks;
    atomic_ullong plain, before, after;
    atomic_bool failed;
};

// What one thread keeps from image to image.
struct bench_thread {
    ZSTD_DCtx *d;
    ZSTD_CCtx *c;
    void *hc;
    struct cs_scratch plain, out;
};
static _Thread_local struct bench_thread mine;

static uint64_t plain_bytes(const struct cs_pending *p) {
    return p->entry.codec == CS_CODEC_NONE || p->is_part ? p->entry.payload_bytes
                                                         : p->entry.image_bytes;
}

static bool expand(const struct cs_pending *p, uint8_t *dst) {
    const struct cs_fatbin_entry *e = &p->entry;
    const size_t n = (size_t)plain_bytes(p);
    if (e->codec == CS_CODEC_NONE) {
        memcpy(dst, e->payload.ptr, n);
        return true;
    }
    if (e->codec == CS_CODEC_LZ4) {
        return LZ4_decompress_safe((const char *)e->payload.ptr, (char *)dst,
                                   (int)e->compressed_bytes, (int)n) == (int)n;
    }
    mine.d = mine.d ? mine.d : ZSTD_createDCtx();
    return mine.d && ZSTD_decompressDCtx(mine.d, dst, n, e->payload.ptr, e->compressed_bytes) == n;
}

static size_t shrink(const struct bench *b, const uint8_t *plain, size_t n) {
    if (b->codec == CS_CODEC_LZ4) {
        const int cap = LZ4_compressBound((int)n);
        uint8_t *out = cs_scratch_get(&mine.out, (uint64_t)cap);
        mine.hc = mine.hc ? mine.hc : malloc((size_t)LZ4_sizeofStateHC());
        const int got = out && mine.hc
                            ? LZ4_compress_HC_extStateHC(mine.hc, (const char *)plain, (char *)out,
                                                         (int)n, cap, b->level)
                            : 0;
        return (size_t)got;
    }
    const size_t cap = ZSTD_compressBound(n);
    uint8_t *out = cs_scratch_get(&mine.out, cap);
    mine.c = mine.c ? mine.c : ZSTD_createCCtx();
    const size_t got = out && mine.c ? ZSTD_compressCCtx(mine.c, out, cap, plain, n, b->level) : 0;
    return ZSTD_isError(got) ? 0 : got;
}

static void run_task(void *ctx, size_t index) {
    struct bench *b = ctx;
    const struct task *t = &b->tasks.ptr[index];
    uint64_t bytes = 0, at = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        bytes += plain_bytes(&b->scan.pending.ptr[b->images.ptr[t->first + i]]);
    }
    uint8_t *plain = cs_scratch_get(&mine.plain, bytes);
    bool ok = plain != NULL;
    for (uint32_t i = 0; ok && i < t->count; i++) {
        const struct cs_pending *p = &b->scan.pending.ptr[b->images.ptr[t->first + i]];
        ok = expand(p, plain + at);
        at += plain_bytes(p);
        atomic_fetch_add(&b->before, p->entry.payload_bytes);
    }
    const size_t got = ok ? shrink(b, plain, (size_t)bytes) : 0;
    if (got == 0) {
        atomic_store(&b->failed, true);
    }
    atomic_fetch_add(&b->plain, bytes);
    atomic_fetch_add(&b->after, got);
}

static bool add_task(struct bench *b, const struct cs_container *c, uint32_t class, bool join) {
    struct task *t = NULL;
    for (uint32_t i = c->first_image; i < c->first_image + c->image_count; i++) {
        const uint32_t of = cs_slim_concat_class(&b->scan, i);
        if (of == 0 || (join && of != class) || b->scan.pending.ptr[i].is_part) {
            continue;
        }
        if (!t || !join) {
            t = cs_vec_push(&b->tasks);
            if (!t) {
                return false;
            }
            *t = (struct task){(uint32_t)b->images.count, 0};
        }
        uint32_t *slot = cs_vec_push(&b->images);
        if (!slot) {
            return false;
        }
        *slot = i;
        t->count++;
    }
    return true;
}

static bool plan(struct bench *b, bool concat) {
    for (size_t c = 0; c < b->scan.containers.count; c++) {
        const struct cs_container *container = &b->scan.containers.ptr[c];
        const bool join = concat && !container->relocatable;
        bool ok = cs_slim_editable(&b->scan, container);
        for (uint32_t class = 1; ok && class < (join ? CS_SLIM_CONCAT_CLASSES : 2); class++) {
            if (!add_task(b, container, class, join)) {
                return false;
            }
        }
    }
    return true;
}

static double clock_now(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int measure(struct bench *b, struct cs_pool *pool, bool concat) {
    if (!plan(b, concat)) {
        return 4;
    }
    const double wall = clock_now(CLOCK_MONOTONIC), cpu = clock_now(CLOCK_PROCESS_CPUTIME_ID);
    cs_pool_for(pool, b->tasks.count, 1, run_task, b);
    printf("%zu,%llu,%llu,%llu,%.3f,%.3f\n", b->images.count, atomic_load(&b->plain),
           atomic_load(&b->before), atomic_load(&b->after), clock_now(CLOCK_MONOTONIC) - wall,
           clock_now(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    return atomic_load(&b->failed) ? 1 : 0;
}

int main(int argc, char **argv) {
    static const struct cs_inventory_options headers = {.depth = CS_DEPTH_HEADERS};
    const bool jobs = argc > 2 && strcmp(argv[1], "-j") == 0;
    char **word = argv + (jobs ? 3 : 1);
    if (argc - (int)(word - argv) != 3) {
        fprintf(stderr, "usage: codec [-j N] lz4|zstd|concat LEVEL FILE\n");
        return 2;
    }
    const bool concat = strcmp(word[0], "concat") == 0;
    struct bench b = {.codec = strcmp(word[0], "lz4") == 0 ? CS_CODEC_LZ4 : CS_CODEC_ZSTD,
                      .level = atoi(word[1])};
    struct cs_file file;
    struct cs_pool *pool;
    if (cs_file_open(word[2], &file, NULL) != CS_OK ||
        cs_pool_new(jobs ? (uint32_t)atoi(argv[2]) : 0, &pool, NULL) != CS_OK) {
        return 4;
    }
    cs_scan_init(&b.scan, file.view, NULL, &headers);
    if (cs_scan_file(&b.scan, cs_str_from(word[2]), NULL) != CS_OK) {
        return 3;
    }
    return measure(&b, pool, concat);
}
