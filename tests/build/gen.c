// Random files for property tests.  No call has two random arguments: compilers evaluate arguments
// in different orders, and a seed must mean the same file everywhere.  Sizes are kept small (a few
// KiB to about 200 KiB): many files show more than large ones.
#include "build/gen.h"

#include "base/arena.h"
#include "base/mem.h"
#include "base/vec.h"
#include "build/mk_cubin.h"
#include "build/mk_fatbin.h"
#include "build/mk_host.h"
#include "build/mk_zip.h"

enum { MAX_KERNELS = 5, MAX_ENTRIES = 5, MAX_UNITS = 4, MAX_MEMBERS = 6, FILE_MAX = 1 << 28 };

struct maker {
    struct cs_gen g;
    struct cs_arena arena;
    struct cs_gen_facts f;
    CS_VEC(struct cs_buf *) bufs;
};

const char *cs_gen_kind_name(enum cs_gen_kind kind) {
    static const char *const names[] = {"library", "object",  "executable", "fatbin", "cubin",
                                        "ptx",     "archive", "wheel",      "other"};
    return kind < CS_GEN_KINDS ? names[kind] : "?";
}

uint64_t cs_gen_next(struct cs_gen *g) {
    uint64_t z = g->state += 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
}
uint64_t cs_gen_below(struct cs_gen *g, uint64_t n) { return cs_gen_next(g) % n; }
bool cs_gen_chance(struct cs_gen *g, uint32_t percent) { return cs_gen_below(g, 100) < percent; }

static uint32_t below(struct maker *m, uint32_t n) { return (uint32_t)cs_gen_below(&m->g, n); }
static bool chance(struct maker *m, uint32_t percent) { return cs_gen_chance(&m->g, percent); }

// A buffer that lives until the file is finished.
static struct cs_buf *temp(struct maker *m) {
    struct cs_buf *b = cs_arena_alloc(&m->arena, sizeof *b);
    struct cs_buf **slot = cs_vec_push(&m->bufs);
    CS_ASSERT(b != NULL && slot != NULL);
    cs_buf_init(b, FILE_MAX);
    *slot = b;
    return b;
}

static const char *name_of(struct maker *m, const char *fmt, uint32_t n) {
    static const char *const spaces[] = {"sample", "cutlass", "at6native", "flash"};
    const struct cs_str s = cs_arena_printf(&m->arena, "%s%u", spaces[below(m, 4)], n);
    const struct cs_str k = cs_arena_printf(&m->arena, "%s_%u", fmt, n);
    struct cs_str r;
    switch (below(m, 4)) {
        case 0: return k.ptr;  // extern "C"
        case 1: r = cs_arena_printf(&m->arena, "_Z%zu%sPfS_i", k.len, k.ptr); break;
        case 2:
            r = cs_arena_printf(&m->arena, "_ZN%zu%s%zu%sIfLi%uEEEvPT_", s.len, s.ptr, k.len, k.ptr,
                                below(m, 200));
            break;
        default:
            r = cs_arena_printf(&m->arena, "_ZN38_GLOBAL__N__%08x_%zu_%s_cu_%s%zu%sEPi",
                                below(m, 1u << 31), k.len + 3, k.ptr, "fffffff", k.len, k.ptr);
            break;
    }
    return r.ptr;
}

static struct cs_mk_kernel gen_kernel(struct maker *m, uint32_t index) {
    struct cs_mk_kernel k = {.name = name_of(m, "kernel", index)};
    k.code_bytes = 16 * (1 + below(m, 200));
    k.seed = cs_gen_next(&m->g) | 1;
    k.local = chance(m, 20);
    k.function = chance(m, 10);
    k.registers = 1 + below(m, 255);
    k.barriers = below(m, 4);
    k.stack_bytes = chance(m, 20) ? 8 * below(m, 64) : 0;
    k.shared_bytes = chance(m, 30) ? 4 + 4 * below(m, 4096) : 0;
    k.param_bytes = 4 + 4 * below(m, 64);
    k.relocations = below(m, 5);
    k.local_bytes = k.stack_bytes;
    k.max_threads = chance(m, 30) ? 32 * (1 + below(m, 32)) : 0;
    k.constant2_bytes = chance(m, 20) ? 8 * (1 + below(m, 16)) : 0;
    if (chance(m, 20) && !k.function) {
        k.outlined = cs_arena_printf(&m->arena, "$%s$slow", k.name).ptr;
        k.outlined_bytes = k.code_bytes / 2;
    }
    return k;
}

// Facts are counted only when the image can be read where it lies.
static struct cs_view gen_cubin(struct maker *m, uint32_t sm, bool accelerated, bool relocatable,
                                bool readable) {
    const uint32_t count = below(m, MAX_KERNELS + 1);
    struct cs_mk_kernel *kernels = cs_arena_alloc(&m->arena, (count + 1) * sizeof *kernels);
    CS_ASSERT(kernels != NULL);
    uint64_t functions = 0;
    for (uint32_t i = 0; i < count; i++) {
        kernels[i] = gen_kernel(m, i);
        functions += kernels[i].function ? 1 : 0;
    }
    struct cs_mk_cubin c = {.sm = sm,
                            .accelerated = accelerated,
                            .relocatable = relocatable,
                            .kernels = kernels,
                            .kernel_count = count};
    c.text_gap = chance(m, 50);
    c.constant3_bytes = chance(m, 30) ? 4 * (1 + below(m, 64)) : 0;
    c.global_init_bytes = chance(m, 20) ? 1 + below(m, 300) : 0;
    c.global_bytes = chance(m, 20) ? 1 + below(m, 300) : 0;
    c.no_mercury = chance(m, 30);
    c.abi = sm <= 90 && chance(m, 40) ? 7 : 8;
    if (chance(m, 20)) {
        c.source = "/build/csrc/kernel.cu";
        c.ptx_txt_bytes = 1 + below(m, 3000);
        c.debug_shared = chance(m, 30);
    }
    struct cs_buf *b = temp(m);
    cs_mk_cubin_write(b, &c);
    if (readable) {
        m->f.sass++;
        m->f.kernels += count - functions;
        m->f.functions += functions;
        m->f.code_bytes += cs_mk_cubin_code_bytes(&c);
    }
    return cs_buf_view(b);
}

static struct cs_view gen_ptx(struct maker *m, uint32_t arch, char suffix, bool readable) {
    const uint32_t count = below(m, MAX_KERNELS + 1);
    const char **names = cs_arena_alloc(&m->arena, (count + 1) * sizeof *names);
    CS_ASSERT(names != NULL);
    for (uint32_t i = 0; i < count; i++) {
        names[i] = name_of(m, "ptx_kernel", i);
    }
    struct cs_buf *b = temp(m);
    cs_mk_ptx(b, arch, suffix, names, chance(m, 20) ? "/build/csrc/kernel.cu" : NULL);
    if (readable) {
        m->f.ptx_images++;
        m->f.ptx_kernels += count;
    }
    return cs_buf_view(b);
}

static struct cs_mk_entry gen_image(struct maker *m, bool relocatable, bool in_concat) {
    static const uint32_t archs[] = {75, 80, 86, 89, 90, 100, 103, 120, 121};
    struct cs_mk_entry e = {.arch = archs[below(m, 9)]};
    if (e.arch >= 90 && chance(m, 40)) {
        e.suffix = e.arch == 90 || chance(m, 50) ? 'a' : 'f';
    }
    e.identifier = chance(m, 20) ? "csrc/kernel.cu" : NULL;
    const uint32_t what = below(m, in_concat ? 90 : 100);
    static const enum cs_codec codecs[] = {CS_CODEC_NONE, CS_CODEC_NONE, CS_CODEC_LZ4,
                                           CS_CODEC_ZSTD};
    e.codec = in_concat ? CS_CODEC_NONE : codecs[below(m, 4)];
    e.level = e.codec == CS_CODEC_LZ4 && chance(m, 50) ? 9 : 0;
    m->f.images++;
    if (what < 70) {
        e.kind = CS_FATBIN_ELF;
        e.image = gen_cubin(m, e.arch, e.suffix == 'a', relocatable, true);
    } else if (what < 90) {
        e.kind = CS_FATBIN_PTX;
        e.options = chance(m, 50) ? "--generate-line-info" : NULL;
        e.image = gen_ptx(m, e.arch, e.suffix, true);
    } else {
        e.kind = what < 95 ? CS_FATBIN_LTOIR : 0x200 + below(m, 7);
        e.key = what < 95 && e.codec != CS_CODEC_NONE ? cs_gen_next(&m->g) | 1 : 0;
        e.image = gen_ptx(m, e.arch, e.suffix, false);
        m->f.opaque++;
    }
    return e;
}

static struct cs_mk_entry gen_concat(struct maker *m, bool relocatable) {
    const uint32_t count = 1 + below(m, MAX_ENTRIES);
    struct cs_mk_entry *parts = cs_arena_alloc(&m->arena, count * sizeof *parts);
    CS_ASSERT(parts != NULL);
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = gen_image(m, relocatable, true);
    }
    return (struct cs_mk_entry){.kind = CS_FATBIN_CONCAT,
                                .parts = parts,
                                .part_count = count,
                                .codec = chance(m, 50) ? CS_CODEC_ZSTD : CS_CODEC_LZ4};
}

static struct cs_view gen_container(struct maker *m, bool relocatable) {
    const uint32_t count = chance(m, 5) ? 0 : 1 + below(m, MAX_ENTRIES);
    struct cs_mk_entry entries[MAX_ENTRIES];
    for (uint32_t i = 0; i < count; i++) {
        entries[i] = chance(m, 10) ? gen_concat(m, relocatable) : gen_image(m, relocatable, false);
    }
    struct cs_buf *b = temp(m);
    cs_mk_container(b, entries, count);
    m->f.containers++;
    return cs_buf_view(b);
}

static void gen_host(struct maker *m, struct cs_buf *out, enum cs_gen_kind kind) {
    static const char *const sources[] = {"axpy.cu", "moe/topk.cu", "link.stub", NULL};
    static const char *const sections[] = {".ldata", ".cask_resource", ".other"};
    struct cs_mk_unit units[MAX_UNITS] = {{.source = NULL}};
    struct cs_mk_blob blobs[2] = {{.section = NULL}};
    struct cs_mk_host h = {.units = units, .unit_count = below(m, MAX_UNITS + 1), .blobs = blobs};
    for (size_t i = 0; i < h.unit_count; i++) {
        struct cs_mk_unit *u = &units[i];
        u->relocatable = chance(m, 20);
        u->container = gen_container(m, u->relocatable);
        u->source = sources[below(m, 4)];
        u->no_wrapper = chance(m, 10);
        u->wrapper_version = chance(m, 10) ? 2 : 1;
        u->module_id = u->relocatable ? "167746ba_4_d_cu_f00f9c1f" : NULL;
    }
    h.blob_count = chance(m, 20) ? 1 + below(m, 2) : 0;
    for (size_t i = 0; i < h.blob_count; i++) {
        struct cs_buf *b = temp(m);
        const uint32_t gap = 8 * below(m, 5);
        const struct cs_view first = gen_container(m, false);
        cs_buf_pad(b, '\0', gap);
        cs_buf_add(b, first.ptr, (size_t)first.len);
        const uint32_t tail = below(m, 100);
        cs_mk_code(b, tail, cs_gen_next(&m->g));
        blobs[i] = (struct cs_mk_blob){.section = sections[below(m, 3)], .bytes = cs_buf_view(b)};
    }
    h.layout = kind == CS_GEN_OBJECT ? CS_MK_OBJECT : (enum cs_mk_layout)below(m, CS_MK_OBJECT);
    h.reloc = kind == CS_GEN_EXECUTABLE && chance(m, 50)
                  ? CS_MK_ABSOLUTE
                  : (enum cs_mk_reloc)below(m, CS_MK_ABSOLUTE);
    h.executable = kind == CS_GEN_EXECUTABLE;
    h.machine = chance(m, 20) ? EM_AARCH64 : EM_X86_64;
    h.stripped = chance(m, 30);
    h.page = chance(m, 20) ? 0x200000 : 0;
    h.text_bytes = below(m, 5000);
    h.rodata_bytes = below(m, 2000);
    h.bss_bytes = below(m, 100000);
    cs_mk_host_write(out, &h);
}

static void gen_other(struct maker *m, struct cs_buf *out) {
    const uint32_t bytes = 1 + below(m, 5000);
    switch (below(m, 4)) {
        case 0: break;  // empty
        case 1: cs_buf_adds(out, "from . import _ops\n"); break;
        case 2: cs_mk_code(out, bytes, cs_gen_next(&m->g)); break;
        default: cs_mk_host_write(out, &(struct cs_mk_host){.text_bytes = bytes}); break;
    }
}

static void gen_one(struct maker *m, struct cs_buf *out, enum cs_gen_kind kind);

static void gen_archive(struct maker *m, struct cs_buf *out) {
    struct cs_mk_ar_member members[MAX_MEMBERS];
    const uint32_t count = below(m, MAX_MEMBERS + 1);
    for (uint32_t i = 0; i < count; i++) {
        struct cs_buf *b = temp(m);
        gen_one(m, b, chance(m, 80) ? CS_GEN_OBJECT : CS_GEN_OTHER);
        members[i].name =
            cs_arena_printf(&m->arena, chance(m, 50) ? "o%u.o" : "a_long_member_name_%u.o", i).ptr;
        members[i].data = cs_buf_view(b);
    }
    cs_mk_ar_write(out, members, count, chance(m, 50));
}

static void gen_wheel(struct maker *m, struct cs_buf *out) {
    static const enum cs_gen_kind kinds[] = {CS_GEN_LIBRARY, CS_GEN_LIBRARY, CS_GEN_LIBRARY,
                                             CS_GEN_FATBIN,  CS_GEN_CUBIN,   CS_GEN_PTX,
                                             CS_GEN_ARCHIVE, CS_GEN_OTHER};
    struct cs_mk_member members[MAX_MEMBERS] = {{.name = NULL}};
    const uint32_t count = below(m, MAX_MEMBERS + 1);
    for (uint32_t i = 0; i < count; i++) {
        struct cs_buf *b = temp(m);
        gen_one(m, b, kinds[below(m, 8)]);
        struct cs_mk_member *z = &members[i];
        z->name = cs_arena_printf(&m->arena, "pkg/file_%u.bin", i).ptr;
        z->data = cs_buf_view(b);
        z->deflate = chance(m, 80);
        z->level = chance(m, 20) ? -1 : 1 + (int)below(m, 9);
        z->flush_every = chance(m, 20) ? 500 + below(m, 5000) : 0;
        z->descriptor = chance(m, 20);
        z->zip64 = chance(m, 20);
        z->extra_bytes = chance(m, 10) ? (uint16_t)below(m, 40) : 0;
    }
    cs_mk_wheel_write(out, "pkg", "1.0", members, count);
}

static void gen_one(struct maker *m, struct cs_buf *out, enum cs_gen_kind kind) {
    struct cs_view v = {NULL, 0};
    switch (kind) {
        case CS_GEN_LIBRARY:
        case CS_GEN_OBJECT:
        case CS_GEN_EXECUTABLE: gen_host(m, out, kind); return;
        case CS_GEN_FATBIN: v = gen_container(m, false); break;
        case CS_GEN_CUBIN: {
            const uint32_t sm = chance(m, 50) ? 90 : 100;
            const bool accelerated = chance(m, 50), relocatable = chance(m, 10);
            m->f.images++;
            v = gen_cubin(m, sm, accelerated, relocatable, true);
            break;
        }
        case CS_GEN_PTX:
            m->f.images++;
            v = gen_ptx(m, 80, 0, true);
            break;
        case CS_GEN_ARCHIVE: gen_archive(m, out); return;
        case CS_GEN_WHEEL: gen_wheel(m, out); return;
        case CS_GEN_OTHER:
        case CS_GEN_KINDS: gen_other(m, out); return;
    }
    cs_buf_add(out, v.ptr, (size_t)v.len);
}

void cs_gen_file_of(uint64_t seed, enum cs_gen_kind kind, struct cs_buf *out,
                    struct cs_gen_facts *facts) {
    struct maker m = {.g = {seed}};
    cs_arena_init(&m.arena);
    const size_t start = out->len;
    gen_one(&m, out, kind);
    m.f.installed_bytes = kind == CS_GEN_WHEEL ? 0 : out->len - start;
    if (facts) {
        *facts = m.f;
    }
    for (size_t i = 0; i < m.bufs.count; i++) {
        cs_buf_fini(m.bufs.ptr[i]);
    }
    cs_vec_fini(&m.bufs);
    cs_arena_fini(&m.arena);
    CS_ASSERT(cs_buf_check(out, NULL) == CS_OK);
}

void cs_gen_file(uint64_t seed, struct cs_buf *out, enum cs_gen_kind *kind,
                 struct cs_gen_facts *facts) {
    struct cs_gen g = {seed ^ 0x5851F42D4C957F2Dull};
    *kind = (enum cs_gen_kind)cs_gen_below(&g, CS_GEN_KINDS);
    cs_gen_file_of(seed, *kind, out, facts);
}

// Half of the edits go to the first and the last 512 bytes, where headers lie.
static size_t place(struct cs_gen *g, size_t len) {
    const size_t window = len < 512 ? len : 512;
    switch (cs_gen_below(g, 4)) {
        case 0: return (size_t)cs_gen_below(g, window);
        case 1: return len - 1 - (size_t)cs_gen_below(g, window);
        default: return (size_t)cs_gen_below(g, len);
    }
}

static void edit(struct cs_gen *g, struct cs_buf *b) {
    static const uint64_t edges[] = {0,
                                     1,
                                     7,
                                     0x7F,
                                     0xFF,
                                     0x7FFF,
                                     0xFFFF,
                                     0x7FFFFFFF,
                                     0xFFFFFFFF,
                                     1ull << 32,
                                     INT64_MAX,
                                     UINT64_MAX - 63,
                                     UINT64_MAX - 7,
                                     UINT64_MAX};
    const size_t at = place(g, b->len), other = place(g, b->len);
    const size_t width = (size_t)1 << cs_gen_below(g, 4);
    const uint64_t edge = edges[cs_gen_below(g, sizeof edges / sizeof *edges)];
    switch (cs_gen_below(g, 7)) {
        case 0: b->ptr[at] = (char)(b->ptr[at] ^ (char)(1 << cs_gen_below(g, 8))); break;
        case 1: b->ptr[at] = (char)cs_gen_next(g); break;
        case 2:
        case 3:
            if (width <= b->len - at) {
                memcpy(b->ptr + at, &edge, width);
            }
            break;
        case 4:  // a piece from elsewhere: plausible numbers at the wrong place
            if (width * 8 <= b->len - at && width * 8 <= b->len - other) {
                memmove(b->ptr + at, b->ptr + other, width * 8);
            }
            break;
        case 5: memset(b->ptr + at, 0, b->len - at < width * 16 ? b->len - at : width * 16); break;
        default:  // a small step on a number
            b->ptr[at] = (char)(b->ptr[at] + (cs_gen_chance(g, 50) ? 1 : -1));
            break;
    }
}

void cs_gen_mutate(struct cs_gen *g, struct cs_buf *b) {
    const uint64_t edits = 1 + cs_gen_below(g, 4);
    for (uint64_t i = 0; i < edits; i++) {
        if (b->len == 0 || cs_gen_chance(g, 3)) {
            const char fill = (char)cs_gen_next(g);
            cs_buf_pad(b, fill, 1 + (size_t)cs_gen_below(g, 64));
        } else if (cs_gen_chance(g, 8)) {
            b->len = (size_t)cs_gen_below(g, b->len);
        } else {
            edit(g, b);
        }
    }
    CS_ASSERT(cs_buf_check(b, NULL) == CS_OK);
}
