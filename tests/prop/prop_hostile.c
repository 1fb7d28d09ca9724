// Hostile files in a system: cut at every byte, each bit and each number of a header set to what
// hurts most, tables without end, archives in archives, and files that unpack to far more than they
// are.
//
//     prop_hostile [--step N] [--only WORD] SAMPLE_WHEEL
//
// For each file the reader must give an error with a place, or an inventory whose bytes add up;
// within seconds, and within the memory limit that this program sets itself.  --step N tries every
// N-th place.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "build/check.h"
#include "build/mk_cubin.h"
#include "build/mk_fatbin.h"
#include "build/mk_host.h"
#include "build/mk_zip.h"
#include "format/zip.h"

// Sanitizers reserve terabytes of addresses.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHADOW_MEMORY
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SHADOW_MEMORY
#endif
#endif

enum { FILE_SECONDS = 10, WHOLE_SECONDS = 3600, MEMORY_GIB = 12 };

static struct run {
    const char *only;
    uint64_t step;
    uint64_t tried, refused, failed;
    const char *what;  // printed by the alarm
    struct cs_pool *pool;
} run;

static const uint64_t edges[] = {0,
                                 1,
                                 7,
                                 0xFFFF,
                                 0x7FFFFFFF,
                                 0xFFFFFFFF,
                                 1ull << 32,
                                 INT64_MAX,
                                 (uint64_t)INT64_MAX + 1,
                                 UINT64_MAX - 63,
                                 UINT64_MAX};
enum { EDGES = sizeof edges / sizeof *edges };

static void complain(const char *what, uint64_t place, uint64_t value, const char *why) {
    printf("%s at %llu, value %llx: %s\n", what, (unsigned long long)place,
           (unsigned long long)value, why);
    run.failed++;
    if (run.failed >= 20) {
        printf("%llu passed, %llu failed, 0 skipped\n", (unsigned long long)run.tried,
               (unsigned long long)run.failed);
        exit(1);
    }
}

static enum cs_code try_file(struct cs_view file, const char *what, uint64_t place,
                             uint64_t value) {
    enum cs_code code = CS_OK;
    run.what = what;
    static const struct itimerval limit = {.it_value = {.tv_sec = FILE_SECONDS}}, none;
    setitimer(ITIMER_PROF, &limit, NULL);
    const char *wrong = cs_check_file(file, run.pool, &code);
    setitimer(ITIMER_PROF, &none, NULL);
    run.tried++;
    run.refused += code != CS_OK;
    if (wrong) {
        complain(what, place, value, wrong);
    }
    return code;
}

static bool wanted(const char *what) { return !run.only || strstr(what, run.only); }

static void every_cut(struct cs_view file, const char *what, uint64_t step) {
    for (uint64_t len = 0; wanted(what) && len < file.len; len += step) {
        (void)try_file(cs_view_at(file, 0, len), what, len, 0);
    }
}

static void every_bit(struct cs_view file, const char *what, uint64_t step) {
    uint8_t *copy = cs_alloc((size_t)file.len);
    CS_ASSERT(copy != NULL);
    memcpy(copy, file.ptr, (size_t)file.len);
    for (uint64_t bit = 0; wanted(what) && bit < file.len * 8; bit += step) {
        copy[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        (void)try_file(cs_view_of(copy, file.len), what, bit, 1);
        copy[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
    cs_free(copy);
}

// Every aligned number of [from, to), as 2, 4 and 8 bytes.
static void every_number(struct cs_view file, const char *what, uint64_t from, uint64_t to,
                         uint64_t align) {
    uint8_t *copy = cs_alloc((size_t)file.len);
    CS_ASSERT(copy != NULL && to <= file.len);
    memcpy(copy, file.ptr, (size_t)file.len);
    for (uint64_t at = from; wanted(what) && at < to; at += align * run.step) {
        for (size_t e = 0; e < EDGES; e++) {
            for (size_t width = 2; width <= 8 && at + width <= to; width *= 2) {
                memcpy(copy + at, &edges[e], width);
                (void)try_file(cs_view_of(copy, file.len), what, at, edges[e]);
                memcpy(copy + at, file.ptr + at, width);
            }
        }
    }
    cs_free(copy);
}

static const struct cs_mk_kernel kernels[] = {
    {.name = "_Z1aPf", .code_bytes = 256, .shared_bytes = 64, .relocations = 2},
    {.name = "b",
     .code_bytes = 128,
     .outlined = "$b$slow",
     .outlined_bytes = 64,
     .constant2_bytes = 8},
};

static struct cs_buf cubin, ptx, fatbin, library, object;

static void build_files(void) {
    struct cs_buf *all[] = {&cubin, &ptx, &fatbin, &library, &object};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        cs_buf_init(all[i], 1u << 31);
    }
    static const char *const names[] = {"k", NULL};
    cs_mk_cubin_write(&cubin, &(struct cs_mk_cubin){.sm = 100,
                                                    .kernels = kernels,
                                                    .kernel_count = 2,
                                                    .constant3_bytes = 8,
                                                    .source = "a.cu"});
    cs_mk_ptx(&ptx, 90, 0, names, "a.cu");
    const struct cs_view image = cs_buf_view(&cubin), text = cs_buf_view(&ptx);
    const struct cs_mk_entry parts[] = {
        {.kind = CS_FATBIN_ELF, .arch = 100, .suffix = 'f', .image = image, .identifier = "a.cu"},
        {.kind = CS_FATBIN_ELF, .arch = 120, .image = image},
    };
    const struct cs_mk_entry entries[] = {
        {.kind = CS_FATBIN_ELF, .arch = 100, .image = image, .identifier = "x.cu"},
        {.kind = CS_FATBIN_ELF, .arch = 100, .image = image, .codec = CS_CODEC_ZSTD},
        {.kind = CS_FATBIN_PTX, .arch = 90, .image = text, .codec = CS_CODEC_LZ4},
        {.kind = CS_FATBIN_CONCAT, .codec = CS_CODEC_ZSTD, .parts = parts, .part_count = 2},
    };
    cs_mk_container(&fatbin, entries, 4);
    const struct cs_mk_unit units[] = {
        {.container = cs_buf_view(&fatbin), .source = "a.cu", .wrapper_version = 2},
        {.container = cs_buf_view(&fatbin),
         .source = "b.cu",
         .relocatable = true,
         .module_id = "m"}};
    cs_mk_host_write(&library, &(struct cs_mk_host){.units = units, .unit_count = 2});
    cs_mk_host_write(&object,
                     &(struct cs_mk_host){.layout = CS_MK_OBJECT, .units = units, .unit_count = 2});
}

static void numbers_of_headers(void) {
    const struct cs_view c = cs_buf_view(&cubin), l = cs_buf_view(&library),
                         o = cs_buf_view(&object);
    every_number(c, "cubin header", 16, 64, 2);
    every_number(c, "cubin section table", cs_u64(c, 40), cs_u64(c, 32), 4);
    every_number(c, "cubin segments", cs_u64(c, 32), c.len, 4);
    every_number(c, "cubin tables", 64, 64 + 1024, 2);
    every_number(l, "library header", 16, 64 + 56ull * cs_u16(l, 56), 2);
    every_number(l, "library section table", cs_u64(l, 40), l.len, 4);
    every_number(o, "object section table", cs_u64(o, 40), o.len, 4);
    const struct cs_view f = cs_buf_view(&fatbin);
    every_number(f, "fatbin header", 0, 16 + 96, 2);
    uint64_t at = CS_FATBIN_HEADER_BYTES;
    while (at < f.len) {
        const uint32_t header = cs_u32(f, at + 4);
        every_number(f, "fatbin entry", at, at + header, 2);
        at += header + cs_u64(f, at + 8);
    }
}

static void overlapping_sections(void) {
    const struct cs_view c = cs_buf_view(&cubin);
    struct cs_buf b;
    cs_buf_init(&b, 1u << 30);
    cs_buf_add(&b, c.ptr, (size_t)c.len);
    const uint64_t table = cs_u64(c, 40);
    const uint16_t count = cs_u16(c, 60);
    for (uint16_t i = 1; wanted("overlap") && i < count; i++) {
        for (uint16_t k = 0; k < count; k++) {
            const uint64_t off = table + 64ull * i + 24, other = table + 64ull * k + 24;
            cs_mk_patch_u64(&b, off, cs_u64(c, other));
            (void)try_file(cs_buf_view(&b), "overlapping sections", i, k);
            cs_mk_patch_u64(&b, off + 8, c.len - cs_u64(c, other));
            (void)try_file(cs_buf_view(&b), "overlapping sections to the end", i, k);
            cs_mk_patch_u64(&b, off, cs_u64(c, off));
            cs_mk_patch_u64(&b, off + 8, cs_u64(c, off + 8));
            cs_mk_patch_u32(&b, off + 16, k);  // links in circles
            (void)try_file(cs_buf_view(&b), "circular links", i, k);
            cs_mk_patch_u32(&b, off + 16, cs_u32(c, off + 16));
        }
    }
    cs_buf_fini(&b);
}

// Processor time: other work on the machine must not fail a test.
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// Four times as much must not take much more than four times as long.
static void linear(const char *what, void (*build)(struct cs_buf *, uint32_t), uint32_t count) {
    struct cs_buf b;
    double seconds[2];
    if (!wanted(what)) {
        return;
    }
    cs_buf_init(&b, 1u << 31);
    for (uint32_t i = 0; i < 2; i++) {
        cs_buf_clear(&b);
        build(&b, i ? count * 4 : count);
        const double start = now();
        if (try_file(cs_buf_view(&b), what, count, i) != CS_OK) {
            complain(what, count, i, "refused");
        }
        seconds[i] = now() - start;
    }
    if (seconds[1] > 0.5 && seconds[1] > 10 * seconds[0]) {
        complain(what, (uint64_t)(seconds[0] * 1e6), (uint64_t)(seconds[1] * 1e6), "not linear");
    }
    printf("%s: %u in %.3f s, %u in %.3f s\n", what, count, seconds[0], count * 4, seconds[1]);
    cs_buf_fini(&b);
}

static void many_sections(struct cs_buf *b, uint32_t count) {
    cs_mk_cubin_write(
        b, &(struct cs_mk_cubin){.kernels = kernels, .kernel_count = 2, .empty_sections = count});
}

static void many_containers(struct cs_buf *b, uint32_t count) {
    struct cs_buf small, all;
    cs_buf_init(&small, 1 << 20);
    cs_buf_init(&all, 1u << 31);
    const struct cs_mk_entry e = {
        .kind = CS_FATBIN_ELF, .arch = 90, .image = cs_buf_view(&cubin), .codec = CS_CODEC_ZSTD};
    cs_mk_container(&small, &e, 1);
    for (uint32_t i = 0; i < count; i++) {
        cs_buf_add(&all, small.ptr, small.len);
    }
    const struct cs_mk_blob blob = {.section = ".ldata", .bytes = cs_buf_view(&all)};
    cs_mk_host_write(b, &(struct cs_mk_host){.blobs = &blob, .blob_count = 1});
    cs_buf_fini(&small);
    cs_buf_fini(&all);
}

static void many_wrappers(struct cs_buf *b, uint32_t count) {
    struct cs_mk_unit *units = cs_calloc(count, sizeof *units);
    CS_ASSERT(units != NULL);
    for (uint32_t i = 0; i < count; i++) {
        units[i] = (struct cs_mk_unit){.container = cs_buf_view(&fatbin), .source = "a.cu"};
    }
    cs_mk_host_write(b, &(struct cs_mk_host){.units = units, .unit_count = count});
    cs_free(units);
}

static void many_kernels(struct cs_buf *b, uint32_t count) {
    struct cs_arena names;
    cs_arena_init(&names);
    struct cs_mk_kernel *k = cs_calloc(count, sizeof *k);
    CS_ASSERT(k != NULL);
    for (uint32_t i = 0; i < count; i++) {
        k[i].name = cs_arena_printf(&names, "_ZN1a%ukernelILi%uEEvPf", 6, i).ptr;
    }
    cs_mk_cubin_write(b, &(struct cs_mk_cubin){.sm = 100, .kernels = k, .kernel_count = count});
    cs_free(k);
    cs_arena_fini(&names);
}

static void many_members(struct cs_buf *b, uint32_t count) {
    struct cs_arena names;
    cs_arena_init(&names);
    struct cs_mk_member *m = cs_calloc(count, sizeof *m);
    CS_ASSERT(m != NULL);
    for (uint32_t i = 0; i < count; i++) {
        m[i] = (struct cs_mk_member){.name = cs_arena_printf(&names, "p/f%u.py", i).ptr,
                                     .data = cs_buf_view(&ptx),
                                     .deflate = true,
                                     .level = 1};
    }
    cs_mk_zip_write(b, &(struct cs_mk_zip){.members = m, .count = count, .zip64_end = true});
    cs_free(m);
    cs_arena_fini(&names);
}

static void expect_code(enum cs_code got, enum cs_code want, const char *what) {
    if (got != want) {
        complain(what, got, want, "another outcome was expected");
    }
}

static void nested(void) {
    struct cs_buf inner, outer;
    if (!wanted("nested")) {
        return;
    }
    cs_buf_init(&inner, 1u << 30);
    cs_buf_init(&outer, 1u << 30);
    const struct cs_mk_ar_member object_member = {"a.o", cs_buf_view(&object)};
    cs_mk_ar_write(&inner, &object_member, 1, true);
    const struct cs_mk_ar_member archive_member = {"inner.a", cs_buf_view(&inner)};
    cs_mk_ar_write(&outer, &archive_member, 1, true);
    (void)try_file(cs_buf_view(&outer), "nested archive", 0, 0);
    const struct cs_mk_member member = {
        .name = "x.a", .data = cs_buf_view(&outer), .deflate = true};
    struct cs_buf wheel;
    cs_buf_init(&wheel, 1u << 30);
    cs_mk_zip_write(&wheel, &(struct cs_mk_zip){.members = &member, .count = 1});
    expect_code(try_file(cs_buf_view(&wheel), "nested archive in a wheel", 0, 0), CS_OK, "nested");
    cs_buf_clear(&outer);
    const struct cs_mk_member zip = {.name = "x.whl", .data = cs_buf_view(&wheel)};
    cs_mk_zip_write(&outer, &(struct cs_mk_zip){.members = &zip, .count = 1});
    expect_code(try_file(cs_buf_view(&outer), "nested wheel", 0, 0), CS_OK, "nested");
    cs_buf_fini(&inner);
    cs_buf_fini(&outer);
    cs_buf_fini(&wheel);
}

// A thousand members that are one stream of zeros, and members that claim to be huge.
static void bombs(void) {
    struct cs_buf zeros, zip;
    if (!wanted("bomb")) {
        return;
    }
    cs_buf_init(&zeros, 1u << 30);
    cs_buf_init(&zip, 1u << 30);
    cs_buf_add(&zeros, library.ptr, library.len);
    cs_buf_pad(&zeros, '\0', 64 << 20);
    const struct cs_mk_member m = {.name = "a.so", .data = cs_buf_view(&zeros), .deflate = true};
    cs_mk_zip_write(&zip, &(struct cs_mk_zip){.members = &m, .count = 1});
    uint64_t count;
    const uint64_t central = cs_mk_zip_central(cs_buf_view(&zip), &count);
    struct cs_buf many;
    cs_buf_init(&many, 1u << 30);
    cs_buf_add(&many, zip.ptr, (size_t)central);
    const size_t record = zip.len - (size_t)central - 22;
    for (uint32_t i = 0; i < 1000; i++) {
        cs_buf_add(&many, zip.ptr + central, record);
    }
    const size_t end = many.len;
    cs_buf_add(&many, zip.ptr + zip.len - 22, 22);
    cs_mk_patch_u16(&many, end + 8, 1000);
    cs_mk_patch_u16(&many, end + 10, 1000);
    cs_mk_patch_u32(&many, end + 12, (uint32_t)(1000 * record));
    (void)try_file(cs_buf_view(&many), "bomb of shared members", 0, 0);
    static const uint32_t claims[] = {0, 1, 1u << 20, 0x7FFFFFFF, 0xFFFFFFFE, 0xFFFFFFFF};
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        cs_mk_patch_u32(&zip, central + 24, claims[i]);
        (void)try_file(cs_buf_view(&zip), "bomb by claim", i, claims[i]);
    }
    cs_buf_fini(&zeros);
    cs_buf_fini(&zip);
    cs_buf_fini(&many);
}

// Small payloads that claim, or give, a lot.
static void image_bombs(void) {
    struct cs_buf zeros, b;
    if (!wanted("image bomb")) {
        return;
    }
    cs_buf_init(&zeros, 1u << 30);
    cs_buf_init(&b, 1u << 30);
    cs_buf_add(&zeros, cubin.ptr, cubin.len);
    cs_buf_pad(&zeros, '\0', 128 << 20);
    struct cs_mk_entry e[20];
    for (size_t i = 0; i < 20; i++) {
        e[i] = (struct cs_mk_entry){.kind = CS_FATBIN_ELF,
                                    .arch = 100,
                                    .image = cs_buf_view(&zeros),
                                    .codec = CS_CODEC_ZSTD,
                                    .level = 1};
    }
    cs_mk_container(&b, e, 20);
    expect_code(try_file(cs_buf_view(&b), "image bomb", 0, 0), CS_OK, "image bomb");
    for (size_t i = 0; i < EDGES; i++) {
        cs_mk_patch_u64(&b, CS_FATBIN_HEADER_BYTES + 0x38, edges[i]);
        (void)try_file(cs_buf_view(&b), "image bomb by claim", i, edges[i]);
    }
    cs_buf_fini(&zeros);
    cs_buf_fini(&b);
}

static void member_files(struct cs_view wheel) {
    struct cs_zip z;
    CS_ASSERT(cs_zip_open(wheel, &z, NULL) == CS_OK);
    for (size_t i = 0; i < z.members.count; i++) {
        const struct cs_zip_member *m = &z.members.ptr[i];
        const struct cs_str name = cs_arena_str(&z.arena, m->name);
        uint8_t *data = cs_alloc((size_t)m->bytes);
        CS_ASSERT(data && cs_zip_extract(&z, m, data, true, NULL, NULL) == CS_OK);
        const struct cs_view file = cs_view_of(data, m->bytes);
        // Larger files take longer each time: fewer bits, the same patience.
        const uint64_t step = run.step * (1 + m->bytes / 16384);
        every_cut(file, cs_arena_printf(&z.arena, "cut of %s", name.ptr).ptr, run.step);
        every_bit(file, cs_arena_printf(&z.arena, "bit of %s", name.ptr).ptr, 3 * step);
        cs_free(data);
    }
    cs_zip_close(&z);
}

static void on_alarm(int sig) {
    (void)sig;
    static const char text[] = "took too long: ";
    (void)!write(STDOUT_FILENO, text, sizeof text - 1);
    (void)!write(STDOUT_FILENO, run.what, strlen(run.what));
    (void)!write(STDOUT_FILENO, "\n", 1);
    abort();
}

int main(int argc, char **argv) {
    run.step = 1;
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], "--step") == 0) {
            run.step = strtoull(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--only") == 0) {
            run.only = argv[i + 1];
        }
    }
    struct cs_file sample;
    struct cs_err err = {0};
    if (argc < 2 || run.step == 0 || cs_file_open(argv[argc - 1], &sample, &err) != CS_OK) {
        fprintf(stderr, "usage: prop_hostile [--step N] [--only WORD] SAMPLE_WHEEL\n");
        return 2;
    }
#ifndef SHADOW_MEMORY
    const struct rlimit limit = {MEMORY_GIB * CS_GIB, MEMORY_GIB * CS_GIB};
    CS_ASSERT(setrlimit(RLIMIT_AS, &limit) == 0);
#endif
    signal(SIGPROF, on_alarm);
    signal(SIGALRM, on_alarm);
    alarm(WHOLE_SECONDS);
    setvbuf(stdout, NULL, _IOLBF, 0);
    CS_ASSERT(cs_pool_new(1, &run.pool, NULL) == CS_OK);
    build_files();
    numbers_of_headers();
    overlapping_sections();
    linear("many sections", many_sections, 70000);
    linear("many containers", many_containers, 6000);
    linear("many wrappers", many_wrappers, 1500);
    linear("many kernels", many_kernels, 5000);
    linear("many members", many_members, 3000);
    nested();
    bombs();
    image_bombs();
    every_cut(sample.view, "cut of the wheel", run.step);
    every_bit(sample.view, "bit of the wheel", 29 * run.step);
    every_number(sample.view, "end of the wheel", sample.view.len - 22, sample.view.len, 1);
    member_files(sample.view);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%llu files, %llu refused with an error, peak %ld MiB\n", (unsigned long long)run.tried,
           (unsigned long long)run.refused, usage.ru_maxrss / 1024);
    printf("%llu passed, %llu failed, 0 skipped\n", (unsigned long long)(run.tried - run.failed),
           (unsigned long long)run.failed);
    cs_pool_free(run.pool);
    cs_file_close(&sample);
    return run.failed ? 1 : 0;
}
