// Properties of slim over generated files and random options:
//   a run that may change nothing gives the same bytes; a second run changes nothing more; the
//   number of threads changes nothing; the input stays as it was; what is refused leaves no output;
//   recompression alone keeps every image, by hash; whatever is dropped, each image of the output
//   was in the input.
//
//     prop_slim [--seed N] [--cases N]
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/file.h"
#include "base/mem.h"
#include "build/gen.h"
#include "rewrite/slim_run.h"

struct run {
    uint64_t seed;
    enum cs_gen_kind kind;
    char dir[64], in[96], out[96], again[96];
    struct cs_pool *pool[2];
    uint64_t passed, failures, refused, changed;
};

static void expect(struct run *r, bool ok, const char *what) {
    if (ok) {
        r->passed++;
        return;
    }
    r->failures++;
    printf("seed %llu (%s): %s\n", (unsigned long long)r->seed, cs_gen_kind_name(r->kind), what);
}

static void write_bytes(const char *path, struct cs_view bytes) {
    FILE *f = fopen(path, "wb");
    CS_ASSERT(f && fwrite(bytes.ptr, 1, (size_t)bytes.len, f) == bytes.len && fclose(f) == 0);
}

static bool same_file(const char *path, struct cs_view bytes) {
    struct cs_file f;
    if (cs_file_open(path, &f, NULL) != CS_OK) {
        return false;
    }
    const bool same = f.view.len == bytes.len &&
                      (bytes.len == 0 || memcmp(f.view.ptr, bytes.ptr, (size_t)bytes.len) == 0);
    cs_file_close(&f);
    return same;
}

static bool same_files(const char *a, const char *b) {
    struct cs_file f;
    if (cs_file_open(a, &f, NULL) != CS_OK) {
        return false;
    }
    const bool same = same_file(b, f.view);
    cs_file_close(&f);
    return same;
}

// ---- images by hash --------------------------------------------------------------------------

struct images {
    struct cs_hash128 *hash;
    size_t count;
    bool ok;
};

static int hash_cmp(const void *a, const void *b) {
    return memcmp(a, b, sizeof(struct cs_hash128));
}

// PTX may end in one NUL more or less, depending on how it is stored, so only cubins are compared.
static struct images read_images(struct run *r, const char *path) {
    static const struct cs_inventory_options options = {.depth = CS_DEPTH_KERNELS, .hashes = true};
    struct cs_inventory inv;
    cs_inventory_init(&inv);
    struct images out = {.ok = cs_inventory_add(&inv, path, &options, r->pool[0], NULL) == CS_OK};
    out.hash = cs_calloc(inv.images.count + 1, sizeof *out.hash);
    uint64_t owned = 0, whole = 0;
    for (size_t i = 0; i < inv.images.count; i++) {
        if (inv.images.ptr[i].kind == CS_FATBIN_ELF && inv.images.ptr[i].read) {
            out.hash[out.count++] = inv.images.ptr[i].hash;
        }
    }
    for (size_t i = 0; i < inv.leaves.count; i++) {
        owned += inv.leaves.ptr[i].file_bytes;
    }
    for (size_t i = 0; i < inv.members.count; i++) {
        whole += inv.members.ptr[i].parent == CS_NONE ? inv.members.ptr[i].file_bytes : 0;
    }
    expect(r, owned == whole, "every byte of the output has one owner");
    qsort(out.hash, out.count, sizeof *out.hash, hash_cmp);
    cs_inventory_fini(&inv);
    return out;
}

static bool subset(const struct images *part, const struct images *whole) {
    size_t k = 0;
    for (size_t i = 0; i < part->count; i++) {
        while (k < whole->count && hash_cmp(&whole->hash[k], &part->hash[i]) < 0) {
            k++;
        }
        if (k == whole->count || hash_cmp(&whole->hash[k], &part->hash[i]) != 0) {
            return false;
        }
        k++;
    }
    return true;
}

// ---- options ---------------------------------------------------------------------------------

static struct cs_slim_options random_options(struct cs_gen *g) {
    static const struct cs_device devices[] = {{7, 5}, {8, 0}, {8, 6}, {9, 0}, {10, 0}, {12, 0}};
    static const enum cs_slim_recompress forms[] = {
        CS_SLIM_RAW_TO_LZ4, CS_SLIM_AS_IS,   CS_SLIM_TO_NONE,
        CS_SLIM_TO_LZ4,     CS_SLIM_TO_ZSTD, CS_SLIM_TO_CONCAT,
    };
    struct cs_slim_options o = {.free_edits = cs_gen_chance(g, 70), .allow_unknown_floor = true,
                                .allow_future = cs_gen_chance(g, 50)};
    o.recompress = forms[cs_gen_below(g, 6)];
    o.level = cs_gen_chance(g, 50) ? 3 : 0;
    o.split_concatenated = cs_gen_chance(g, 30);
    o.drop_relocatable = cs_gen_chance(g, 30);
    o.ptx = (enum cs_slim_ptx)cs_gen_below(g, 3);
    o.minimise = (enum cs_slim_minimise)cs_gen_below(g, 2);
    if (cs_gen_chance(g, 40)) {
        o.devices[o.device_count++] = devices[cs_gen_below(g, 6)];
    }
    if (cs_gen_chance(g, 30)) {
        o.drop[o.drop_count++] =
            (struct cs_target){(uint16_t)(75 + 5 * cs_gen_below(g, 4)), 0, false};
    }
    uint32_t n;
    const struct cs_device_row *table = cs_device_table(&n);
    for (uint32_t i = 0; i < n && cs_gen_chance(g, 90); i++) {
        o.allow[o.allow_count++] = table[i].device;
    }
    return o;
}

static bool only_recompresses(const struct cs_slim_options *o) {
    return !o->free_edits && !o->drop_relocatable && o->ptx == CS_SLIM_PTX_KEEP &&
           o->device_count == 0 && o->drop_count == 0;
}

// ---- one case --------------------------------------------------------------------------------

static enum cs_code slim(struct run *r, const struct cs_slim_options *options, const char *in,
                         const char *out, size_t pool, bool *changed, struct cs_err *err) {
    const struct cs_slim_request q = {
        .input = in, .output = out, .options = *options, .pool = r->pool[pool]};
    struct cs_slim_result result;
    const enum cs_code code = cs_slim_run(&q, &result, err);
    *changed = code == CS_OK && result.changed;
    expect(r, code != CS_OK || result.verified, "a finished run is verified");
    cs_slim_result_fini(&result);
    return code;
}

static void check_result(struct run *r, const struct cs_slim_options *o) {
    const struct images before = read_images(r, r->in), after = read_images(r, r->out);
    expect(r, before.ok && after.ok, "both files can be read");
    expect(r, subset(&after, &before), "no image that the input did not have");
    expect(r, !only_recompresses(o) || before.count == after.count,
           "recompression keeps all images");
    cs_free(before.hash);
    cs_free(after.hash);
}

static void check_case(struct run *r, const struct cs_buf *file, const struct cs_slim_options *o) {
    bool changed, again;
    struct cs_err err = {0};
    (void)unlink(r->out);
    (void)unlink(r->again);
    write_bytes(r->in, cs_buf_view(file));
    const enum cs_code code = slim(r, o, r->in, r->out, 0, &changed, &err);
    expect(r, same_file(r->in, cs_buf_view(file)), "the input is as it was");
    if (code != CS_OK) {
        r->refused++;
        expect(r, err.count > 0 && err.frame[0].text[0], "a refusal has a reason");
        expect(r, access(r->out, F_OK) != 0, "a refused run leaves no output");
        return;
    }
    r->changed += changed;
    expect(r, changed || same_file(r->out, cs_buf_view(file)), "unchanged means the same bytes");
    check_result(r, o);
    expect(r, slim(r, o, r->in, r->again, 1, &again, &err) == CS_OK && same_files(r->out, r->again),
           "three threads give the same bytes");
    const enum cs_code second = slim(r, o, r->out, r->again, 0, &again, &err);
    expect(r, second == CS_OK && same_files(r->out, r->again),
           "slimming twice changes nothing more");
}

static void check_no_op(struct run *r, const struct cs_buf *file) {
    static const struct cs_slim_options nothing = {.recompress = CS_SLIM_AS_IS};
    bool changed;
    (void)unlink(r->out);
    write_bytes(r->in, cs_buf_view(file));
    if (slim(r, &nothing, r->in, r->out, 0, &changed, NULL) == CS_OK) {
        expect(r, !changed && same_file(r->out, cs_buf_view(file)), "a no-op gives the same bytes");
    }
}

static uint64_t option(int argc, char **argv, const char *name, uint64_t fallback) {
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], name) == 0) {
            return strtoull(argv[i + 1], NULL, 0);
        }
    }
    return fallback;
}

int main(int argc, char **argv) {
    const uint64_t first = option(argc, argv, "--seed", 1);
    const uint64_t cases = option(argc, argv, "--cases", 10000);
    struct run r = {.dir = "/tmp/prop_slim-XXXXXX"};
    struct cs_buf b;
    cs_buf_init(&b, 1u << 30);
    CS_ASSERT(mkdtemp(r.dir) != NULL);
    snprintf(r.in, sizeof r.in, "%s/in", r.dir);
    snprintf(r.out, sizeof r.out, "%s/out", r.dir);
    snprintf(r.again, sizeof r.again, "%s/again", r.dir);
    CS_ASSERT(cs_pool_new(1, &r.pool[0], NULL) == CS_OK &&
              cs_pool_new(3, &r.pool[1], NULL) == CS_OK);
    for (uint64_t seed = first; seed < first + cases && r.failures < 20; seed++) {
        r.seed = seed;
        cs_buf_clear(&b);
        cs_gen_file(seed, &b, &r.kind, NULL);
        struct cs_gen g = {seed * 7919};
        const struct cs_slim_options o = random_options(&g);
        check_case(&r, &b, &o);
        check_no_op(&r, &b);
    }
    cs_pool_free(r.pool[0]);
    cs_pool_free(r.pool[1]);
    cs_buf_fini(&b);
    cs_dir_remove(r.dir);
    printf("%llu files from seed %llu: %llu changed, %llu refused\n", (unsigned long long)cases,
           (unsigned long long)first, (unsigned long long)r.changed, (unsigned long long)r.refused);
    printf("%llu passed, %llu failed, 0 skipped\n", (unsigned long long)r.passed,
           (unsigned long long)r.failures);
    return r.failures ? 1 : 0;
}
