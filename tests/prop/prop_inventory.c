// Properties of the reader over generated files: every byte has one owner, counts are those that
// the generator knows, threads and depth change nothing, and damaged files give an error or a sum
// that holds.
//
//     prop_inventory [--seed N] [--cases N] [--damaged N]
//
// A failure prints the seed; `--seed N --cases 1` repeats it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build/check.h"
#include "build/gen.h"

struct run {
    uint64_t seed;
    uint32_t damage;  // 0 = as generated
    enum cs_gen_kind kind;
    struct cs_gen_facts facts;
    struct cs_pool *pool[2];  // one thread, three threads
    uint64_t failures, passed, refused;
};

static void complain(struct run *r, const char *what, uint64_t got, uint64_t want) {
    r->failures++;
    printf("seed %llu damage %u (%s): %s: got %llu, want %llu\n", (unsigned long long)r->seed,
           r->damage, cs_gen_kind_name(r->kind), what, (unsigned long long)got,
           (unsigned long long)want);
}

static void expect(struct run *r, const char *what, uint64_t got, uint64_t want) {
    if (got != want) {
        complain(r, what, got, want);
    } else {
        r->passed++;
    }
}

static void check_images(struct run *r, const struct cs_inventory *inv) {
    uint64_t code_leaves = 0, code = 0;
    for (size_t i = 0; i < inv->images.count; i++) {
        code += inv->images.ptr[i].code_bytes;
    }
    for (size_t i = 0; i < inv->leaves.count; i++) {
        const struct cs_leaf *l = &inv->leaves.ptr[i];
        code_leaves += l->part == CS_PART_CODE ? l->image_bytes : 0;
    }
    // Sections of a damaged image may overlap: each byte is still owned once.
    if (r->damage == 0) {
        expect(r, "code bytes of leaves", code_leaves, code);
    }
}

static void check_facts(struct run *r, const struct cs_inventory *inv) {
    const struct cs_gen_facts *f = &r->facts;
    uint64_t code = 0, kernels = 0, functions = 0, ptx = 0;
    for (size_t i = 0; i < inv->images.count; i++) {
        code += inv->images.ptr[i].code_bytes;
    }
    for (size_t i = 0; i < inv->kernels.count; i++) {
        const struct cs_kernel *k = &inv->kernels.ptr[i];
        const uint32_t kind = inv->images.ptr[k->image].kind;
        const bool text = kind == CS_FATBIN_PTX || kind == CS_FATBIN_RELPTX;
        ptx += text ? 1 : 0;
        kernels += !text && k->is_kernel ? 1 : 0;
        functions += !text && !k->is_kernel ? 1 : 0;
    }
    expect(r, "containers", inv->containers.count, f->containers);
    expect(r, "images", inv->images.count, f->images);
    expect(r, "code bytes", code, f->code_bytes);
    expect(r, "kernels", kernels, f->kernels);
    expect(r, "device functions", functions, f->functions);
    expect(r, "PTX kernels", ptx, f->ptx_kernels);
    expect(r, "failed images", inv->failed_images, 0);
    expect(r, "failed members", inv->failed_members, 0);
}

static uint64_t fingerprint(const struct cs_inventory *inv) {
    uint64_t h = inv->leaves.count;
    for (size_t i = 0; i < inv->leaves.count; i++) {
        const struct cs_leaf *l = &inv->leaves.ptr[i];
        const uint64_t fields[] = {l->input,      l->member,      l->section,    l->container,
                                   l->image,      l->kernel,      l->part,       l->estimated,
                                   l->file_bytes, l->image_bytes, l->wheel_bytes};
        h = h * 31 + cs_hash64(fields, sizeof fields);
    }
    for (size_t i = 0; i < inv->kernels.count; i++) {
        const struct cs_kernel *k = &inv->kernels.ptr[i];
        const struct cs_str name = cs_intern_text(&inv->names, k->name);
        h = h * 31 + cs_hash64(name.ptr, name.len) + k->code_bytes + 7 * k->image;
    }
    return h;
}

static void check_error(struct run *r, enum cs_code code, const struct cs_err *err) {
    r->refused++;
    if (code == CS_INTERNAL || code == CS_NOMEM || code == CS_USAGE || err->count == 0) {
        char text[512];
        cs_err_format(err, text, sizeof text);
        printf("%s\n", text);
        complain(r, "error code", code, CS_FORMAT);
    }
}

static void compare_readings(struct run *r, struct cs_view file, const struct cs_inventory *one) {
    struct cs_inventory more, headers;
    struct cs_err err = {0};
    expect(r, "three threads: code", cs_check_read(file, r->pool[1], CS_DEPTH_KERNELS, &more, &err),
           CS_OK);
    expect(r, "three threads: content", fingerprint(&more), fingerprint(one));
    expect(r, "headers alone: code",
           cs_check_read(file, r->pool[0], CS_DEPTH_HEADERS, &headers, &err), CS_OK);
    expect(r, "headers alone: containers", headers.containers.count, one->containers.count);
    if (r->damage == 0) {
        expect(r, "headers alone: images", headers.images.count, one->images.count);
    }
    cs_inventory_fini(&more);
    cs_inventory_fini(&headers);
}

static void check_file(struct run *r, const struct cs_buf *b) {
    const struct cs_view file = cs_buf_view(b);
    struct cs_inventory one;
    struct cs_err err = {0};
    const enum cs_code code = cs_check_read(file, r->pool[0], CS_DEPTH_KERNELS, &one, &err);
    if (code != CS_OK) {
        if (r->damage == 0) {
            complain(r, "a good file was refused: code", code, CS_OK);
        }
        check_error(r, code, &err);
        cs_inventory_fini(&one);
        return;
    }
    const char *wrong = cs_check_inventory(&one, file);
    expect(r, wrong ? wrong : "sums", wrong != NULL, 0);
    check_images(r, &one);
    if (r->damage == 0) {
        check_facts(r, &one);
    }
    compare_readings(r, file, &one);
    cs_inventory_fini(&one);
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
    const uint64_t first = option(argc, argv, "--seed", 1),
                   cases = option(argc, argv, "--cases", 10000);
    const uint64_t damaged = option(argc, argv, "--damaged", 1);
    struct run r = {0};
    struct cs_buf b, hurt;
    cs_buf_init(&b, 1u << 30);
    cs_buf_init(&hurt, 1u << 30);
    CS_ASSERT(cs_pool_new(1, &r.pool[0], NULL) == CS_OK &&
              cs_pool_new(3, &r.pool[1], NULL) == CS_OK);
    for (uint64_t seed = first; seed < first + cases && r.failures < 20; seed++) {
        r.seed = seed;
        r.damage = 0;
        cs_buf_clear(&b);
        cs_gen_file(seed, &b, &r.kind, &r.facts);
        check_file(&r, &b);
        struct cs_gen g = {~seed};
        for (uint32_t i = 1; i <= damaged; i++) {
            r.damage = i;
            cs_buf_clear(&hurt);
            cs_buf_add(&hurt, b.ptr, b.len);
            cs_gen_mutate(&g, &hurt);
            check_file(&r, &hurt);
        }
    }
    cs_pool_free(r.pool[0]);
    cs_pool_free(r.pool[1]);
    cs_buf_fini(&b);
    cs_buf_fini(&hurt);
    printf("%llu files from seed %llu, %llu damaged, %llu of those refused with an error\n",
           (unsigned long long)cases, (unsigned long long)first,
           (unsigned long long)(cases * damaged), (unsigned long long)r.refused);
    printf("%llu passed, %llu failed, 0 skipped\n", (unsigned long long)r.passed,
           (unsigned long long)r.failures);
    return r.failures ? 1 : 0;
}
