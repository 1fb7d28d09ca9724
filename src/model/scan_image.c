// Walking images: decompress, cut into pieces, and hand each kernel its bytes.
//
// Runs on many threads at once, one image a call; results go into cs_pending.walked and are merged
// in order afterwards.  Three kinds of bytes per piece:
//   image_bytes  the piece itself, decompressed
//   file_bytes   the same for a plain image; a share of the payload for a compressed one
//   wheel_bytes  its place in the deflate stream for a plain image; a share for a compressed one
// Shares are cut by cumulative rounding, so they add up to the payload exactly.

#include <stdatomic.h>

#include "base/limits.h"
#include "base/num.h"
#include "model/scan.h"
#include "model/source.h"

// ---- workers ---------------------------------------------------------------------------------

void cs_workers_init(struct cs_workers *w) {
    pthread_mutex_init(&w->lock, NULL);
    w->free = NULL;
}

void cs_workers_fini(struct cs_workers *w) {
    while (w->free) {
        struct cs_worker *x = w->free;
        w->free = x->next;
        cs_codec_ctx_free(x->codec);
        cs_scratch_fini(&x->scratch);
        cs_scratch_fini(&x->zeroed);
        cs_cubin_fini(&x->cubin);
        cs_ptx_fini(&x->ptx);
        cs_buf_fini(&x->source);
        cs_vec_fini(&x->cells);
        cs_free(x);
    }
    pthread_mutex_destroy(&w->lock);
}

struct cs_worker *cs_worker_get(struct cs_workers *w) {
    pthread_mutex_lock(&w->lock);
    struct cs_worker *x = w->free;
    if (x) {
        w->free = x->next;
    }
    pthread_mutex_unlock(&w->lock);
    if (!x) {
        x = cs_calloc(1, sizeof *x);
        if (x && !(x->codec = cs_codec_ctx_new())) {
            cs_free(x);
            x = NULL;
        }
    }
    return x;
}

void cs_worker_put(struct cs_workers *w, struct cs_worker *x) {
    pthread_mutex_lock(&w->lock);
    x->next = w->free;
    w->free = x;
    pthread_mutex_unlock(&w->lock);
}

// ---- pieces to leaves ------------------------------------------------------------------------

enum { CELL_PARTS = CS_PART_OPAQUE + 1 };  // parts that occur inside images

// Where the bytes of an image are in the file.
struct place {
    const struct cs_scan *scan;
    const struct cs_pending *pending;
    bool exact;              // the image lies in the file as it is
    uint64_t image_bytes;
    uint64_t done;           // image bytes shared out so far
};

static struct cs_leaf *cell(struct cs_worker *w, uint32_t kernel, uint32_t part) {
    const size_t row = kernel == CS_NO_KERNEL ? 0 : (size_t)kernel + 1;
    return &w->cells.ptr[row * CELL_PARTS + part];
}

static bool reset_cells(struct cs_worker *w, size_t kernels) {
    w->cells.count = 0;
    return cs_vec_push_n(&w->cells, (kernels + 1) * CELL_PARTS) != NULL;
}

// Gives one piece's bytes to its cell.  Pieces come in ascending order without gaps.
static void give(struct cs_worker *w, struct place *p, uint64_t len, uint32_t kernel,
                 uint32_t part) {
    struct cs_leaf *leaf = cell(w, kernel, part);
    leaf->image_bytes += len;
    const uint64_t from = p->done, to = p->done + len;
    if (p->exact) {
        leaf->file_bytes += len;
        leaf->wheel_bytes += cs_scan_wheel(p->scan, p->pending->file_off + from, len);
    } else {
        const uint64_t file = p->pending->payload_file_bytes;
        const uint64_t wheel = p->pending->payload_wheel_bytes;
        const uint64_t whole = p->image_bytes;
        leaf->estimated = true;
        leaf->file_bytes += cs_muldiv_u64(file, to, whole) - cs_muldiv_u64(file, from, whole);
        leaf->wheel_bytes += cs_muldiv_u64(wheel, to, whole) - cs_muldiv_u64(wheel, from, whole);
    }
    p->done = to;
}

// What the payload has beyond the image: alignment zeros of a plain entry.
static void give_rest(struct cs_worker *w, struct place *p) {
    const uint64_t payload = p->pending->payload_file_bytes;
    if (p->exact && payload > p->done) {
        struct cs_leaf *leaf = cell(w, CS_NO_KERNEL, CS_PART_PADDING);
        leaf->file_bytes += payload - p->done;
        leaf->wheel_bytes +=
            cs_scan_wheel(p->scan, p->pending->file_off + p->done, payload - p->done);
    }
}

// ---- one block per image ---------------------------------------------------------------------

struct sizes {
    size_t kernels, funcs, leaves, text;
};

// Larger blocks are pages of their own, so that the memory of an image goes back to the system as
// soon as its kernels are in the inventory.
enum { PAGES_FROM_BYTES = 16 * 1024 };

void cs_walked_fini(struct cs_walked *w) {
    if (w->block_bytes >= PAGES_FROM_BYTES) {
        cs_pages_free(w->block, w->block_bytes);
    } else {
        cs_free(w->block);
    }
    *w = (struct cs_walked){0};
}

static bool take_block(struct cs_walked *out, struct sizes n, char **text) {
    const size_t k = n.kernels * sizeof *out->kernels, f = n.funcs * sizeof *out->funcs,
                 l = n.leaves * sizeof *out->leaves, bytes = k + f + l + n.text;
    uint8_t *block = bytes >= PAGES_FROM_BYTES ? cs_pages_alloc(bytes) : cs_calloc(1, bytes);
    if (!block) {
        return false;
    }
    out->block_bytes = bytes;
    out->block = block;
    out->kernels = (void *)block;
    out->funcs = (void *)(block + k);
    out->leaves = (void *)(block + k + f);
    out->kernel_count = (uint32_t)n.kernels;
    out->func_count = (uint32_t)n.funcs;
    *text = (char *)(block + k + f + l);
    return true;
}

static struct cs_str keep(char **text, struct cs_str s) {
    char *at = *text;
    if (s.len) {
        memcpy(at, s.ptr, s.len);
    }
    *text += s.len;
    return (struct cs_str){at, s.len};
}

static size_t count_leaves(const struct cs_worker *w) {
    size_t n = 0;
    for (size_t i = 0; i < w->cells.count; i++) {
        n += w->cells.ptr[i].file_bytes || w->cells.ptr[i].image_bytes;
    }
    return n;
}

static void keep_leaves(const struct cs_worker *w, struct cs_walked *out) {
    for (size_t i = 0; i < w->cells.count; i++) {
        struct cs_leaf leaf = w->cells.ptr[i];
        if (leaf.file_bytes == 0 && leaf.image_bytes == 0) {
            continue;
        }
        const size_t row = i / CELL_PARTS;
        leaf.part = (uint32_t)(i % CELL_PARTS);
        leaf.kernel = row ? (uint32_t)(row - 1) : CS_NONE;
        out->leaves[out->leaf_count++] = leaf;
    }
}

// ---- source --------------------------------------------------------------------------------

// Puts the file that the image's own debug info names into the worker's buffer, unless its
// container has a better name already.
static enum cs_code find_source(struct cs_worker *w, const struct place *p,
                                const struct cs_image *image, struct cs_view bytes,
                                const struct cs_ptx *ptx, struct cs_err *err) {
    cs_buf_clear(&w->source);
    w->source.max = CS_MAX_PATH_BYTES;
    const enum cs_source_how how = image->container == CS_NONE
                                       ? CS_SOURCE_NONE
                                       : p->scan->containers.ptr[image->container].source_how;
    if (!p->scan->options->sources || image->identifier.len > 0 ||
        (how != CS_SOURCE_NONE && how < CS_SOURCE_LINE_TABLE)) {
        return CS_OK;
    }
    const bool found =
        ptx ? cs_source_of_ptx(ptx, &w->source) : cs_source_of_cubin(bytes, &w->source);
    if (w->source.failed == CS_NOMEM) {
        return cs_buf_check(&w->source, err);
    }
    if (!found || w->source.failed != CS_OK) {
        cs_buf_clear(&w->source);
    }
    return CS_OK;
}

// ---- kinds of image --------------------------------------------------------------------------

static void describe_cubin(struct cs_image *image, const struct cs_cubin *c) {
    image->code_bytes = c->code_bytes;
    image->code_sections = c->code_sections;
    image->toolkit_x10 = c->toolkit_x10;
    image->relocatable = c->relocatable;
}

static enum cs_code walk_cubin(struct cs_worker *w, struct place *p, struct cs_view bytes,
                               struct cs_image *image, struct cs_walked *out, struct cs_err *err) {
    struct cs_cubin *c = &w->cubin;
    CS_TRY(cs_cubin_read(bytes, c, err));
    if (c->kernels.count > CS_MAX_IMAGE_KERNELS) {
        return cs_fail(err, CS_LIMIT, "%zu code sections in one cubin", c->kernels.count);
    }
    describe_cubin(image, c);
    if (!reset_cells(w, c->kernels.count)) {
        return cs_fail(err, CS_NOMEM, "no memory for %zu kernels", c->kernels.count);
    }
    for (size_t i = 0; i < c->pieces.count; i++) {
        give(w, p, c->pieces.ptr[i].len, c->pieces.ptr[i].kernel, c->pieces.ptr[i].part);
    }
    give_rest(w, p);
    CS_TRY(find_source(w, p, image, bytes, NULL, err));
    struct sizes n = {c->kernels.count, c->funcs.count, count_leaves(w), w->source.len};
    for (size_t i = 0; i < c->kernels.count; i++) {
        n.text += c->kernels.ptr[i].name.len;
    }
    for (size_t i = 0; i < c->funcs.count; i++) {
        n.text += c->funcs.ptr[i].name.len;
    }
    char *text;
    if (!take_block(out, n, &text)) {
        return cs_fail(err, CS_NOMEM, "no memory for %zu kernels", c->kernels.count);
    }
    out->source = keep(&text, cs_buf_str(&w->source));
    for (size_t i = 0; i < c->kernels.count; i++) {
        const struct cs_cubin_kernel *k = &c->kernels.ptr[i];
        out->kernels[i].name = keep(&text, k->name);
        out->kernels[i].kernel = (struct cs_kernel){
            .is_kernel = k->is_kernel, .is_local = k->is_local, .code_bytes = k->code_bytes,
            .symbol_bytes = k->symbol_bytes, .registers = k->registers, .barriers = k->barriers,
            .stack_bytes = k->stack_bytes, .local_bytes = k->local_bytes,
            .shared_bytes = k->shared_bytes, .constant_bytes = k->constant_bytes,
            .param_bytes = k->param_bytes};
        if (p->scan->options->hashes) {
            out->kernels[i].kernel.code_hash = cs_hash128(k->code.ptr, (size_t)k->code.len);
        }
    }
    for (size_t i = 0; i < c->funcs.count; i++) {
        const struct cs_cubin_func *f = &c->funcs.ptr[i];
        out->funcs[i] = (struct cs_walked_func){keep(&text, f->name), f->kernel, f->symbol_bytes};
        if (f->kernel != CS_NO_KERNEL) {
            out->kernels[f->kernel].kernel.extra_symbols++;
            out->kernels[f->kernel].kernel.extra_symbol_bytes += f->symbol_bytes;
        }
    }
    keep_leaves(w, out);
    return CS_OK;
}

static enum cs_code walk_ptx(struct cs_worker *w, struct place *p, struct cs_view bytes,
                             struct cs_image *image, struct cs_walked *out, struct cs_err *err) {
    struct cs_ptx *ptx = &w->ptx;
    cs_ptx_fini(ptx);  // of the image before
    CS_TRY(cs_ptx_read(bytes, ptx, err));
    if (ptx->kernels.count > CS_MAX_IMAGE_KERNELS) {
        return cs_fail(err, CS_LIMIT, "%zu kernels in one PTX text", ptx->kernels.count);
    }
    image->ptx_isa_x10 = ptx->isa_major * 10 + ptx->isa_minor;
    if (!reset_cells(w, ptx->kernels.count)) {
        return cs_fail(err, CS_NOMEM, "no memory for %zu kernels", ptx->kernels.count);
    }
    CS_TRY(find_source(w, p, image, bytes, ptx, err));
    struct sizes n = {ptx->kernels.count, 0, 0, w->source.len};
    for (size_t i = 0; i < ptx->kernels.count; i++) {
        const struct cs_ptx_kernel *k = &ptx->kernels.ptr[i];
        give(w, p, k->off - p->done, CS_NO_KERNEL, CS_PART_PTX);
        give(w, p, k->len, (uint32_t)i, CS_PART_PTX);
        n.text += k->name.len;
    }
    give(w, p, p->image_bytes - p->done, CS_NO_KERNEL, CS_PART_PTX);
    give_rest(w, p);
    n.leaves = count_leaves(w);
    char *text;
    if (!take_block(out, n, &text)) {
        return cs_fail(err, CS_NOMEM, "no memory for %zu kernels", ptx->kernels.count);
    }
    out->source = keep(&text, cs_buf_str(&w->source));
    for (size_t i = 0; i < ptx->kernels.count; i++) {
        out->kernels[i].name = keep(&text, ptx->kernels.ptr[i].name);
        out->kernels[i].kernel.is_kernel = true;
    }
    keep_leaves(w, out);
    return CS_OK;
}

// Everything in one leaf: IR, unknown kinds, obfuscated or damaged payloads.
static enum cs_code walk_opaque(struct cs_worker *w, struct place *p, uint32_t part,
                                struct cs_walked *out, struct cs_err *err) {
    if (!reset_cells(w, 0)) {
        return cs_fail(err, CS_NOMEM, "no memory for an image");
    }
    struct cs_leaf *leaf = cell(w, CS_NO_KERNEL, part);
    leaf->image_bytes = p->image_bytes;
    leaf->file_bytes = p->pending->payload_file_bytes;
    leaf->wheel_bytes = p->pending->payload_wheel_bytes;
    char *text;
    if (!take_block(out, (struct sizes){0, 0, 1, 0}, &text)) {
        return cs_fail(err, CS_NOMEM, "no memory for an image");
    }
    keep_leaves(w, out);
    return CS_OK;
}

static uint32_t opaque_part(const struct cs_image *image) {
    const bool ir = image->kind == CS_FATBIN_LTOIR || image->kind == CS_FATBIN_TILEIR;
    return ir ? CS_PART_IR : CS_PART_OPAQUE;
}

// ---- one image -------------------------------------------------------------------------------

// Parts of a concatenated entry come one after the other: their common image is made once.
static enum cs_code concat_bytes(const struct cs_scan *s, const struct cs_pending *p,
                                 struct cs_worker *w, struct cs_view *out, struct cs_err *err) {
    *out = cs_view_of(w->scratch.ptr, p->concat.image_bytes);
    if (w->concat_scan == s->serial && w->concat_off == p->file_off) {
        return CS_OK;
    }
    w->concat_scan = 0;
    CS_TRY(cs_fatbin_image(w->codec, &p->concat, &w->scratch, out, err));
    if (p->concat.codec != CS_CODEC_NONE) {
        w->concat_scan = s->serial;
        w->concat_off = p->file_off;
    }
    return CS_OK;
}

enum cs_code cs_scan_image_bytes(const struct cs_scan *s, size_t image, struct cs_worker *w,
                                 struct cs_view *out, struct cs_err *err) {
    const struct cs_pending *p = &s->pending.ptr[image];
    if (!p->in_container) {
        *out = p->loose;
        return CS_OK;
    }
    if (!p->is_part) {
        w->concat_scan = 0;
        return cs_fatbin_image(w->codec, &p->entry, &w->scratch, out, err);
    }
    struct cs_view blob;
    CS_TRY(concat_bytes(s, p, w, &blob, err));
    if (!cs_view_sub(blob, p->entry.part_off, p->entry.payload_bytes, out)) {
        return cs_fail_at(err, CS_FORMAT, p->entry.off, "part outside its concatenated image");
    }
    if (p->entry.kind == CS_FATBIN_PTX && out->len) {
        const void *end = memchr(out->ptr, 0, (size_t)out->len);
        out->len = end ? (uint64_t)((const uint8_t *)end - out->ptr) : out->len;
    }
    return CS_OK;
}

static enum cs_code walk_readable(struct cs_worker *w, struct place *p, struct cs_image *image,
                                  struct cs_walked *out, struct cs_err *err) {
    struct cs_view bytes;
    const size_t index = (size_t)(p->pending - p->scan->pending.ptr);
    CS_TRY(cs_scan_image_bytes(p->scan, index, w, &bytes, err));
    if (p->scan->options->hashes) {
        image->hash = cs_hash128(bytes.ptr, (size_t)bytes.len);
    }
    const bool plain = !p->pending->in_container ||
                       (p->pending->entry.codec == CS_CODEC_NONE && !p->pending->is_part);
    if (!plain && bytes.len == 0) {  // nothing to share the payload's bytes out by
        return cs_fail_at(err, CS_FORMAT, p->pending->entry.off, "a compressed image of no bytes");
    }
    p->exact = plain;
    p->image_bytes = bytes.len;
    image->image_bytes = bytes.len;
    image->read = true;
    return image->kind == CS_FATBIN_ELF ? walk_cubin(w, p, bytes, image, out, err)
                                        : walk_ptx(w, p, bytes, image, out, err);
}

static bool is_readable(const struct cs_image *image) {
    return !image->obfuscated && !(image->unknown && image->codec != CS_CODEC_NONE &&
                                   (image->flags & ~CS_FATBIN_F_KNOWN)) &&
           (image->kind == CS_FATBIN_ELF || image->kind == CS_FATBIN_PTX ||
            image->kind == CS_FATBIN_RELPTX);
}

struct walk {
    struct cs_scan *scan;
    struct cs_workers *workers;
    uint64_t largest;  // image: scratch of that size is taken at once, pages only when touched
    pthread_mutex_t *lock;
    atomic_bool out_of_memory;
};

static enum cs_code walk_image(struct walk *walk, struct cs_worker *w, size_t index) {
    struct cs_scan *s = walk->scan;
    struct cs_image *image = &s->images.ptr[index];
    struct cs_pending *pending = &s->pending.ptr[index];
    struct place p = {.scan = s, .pending = pending, .image_bytes = image->image_bytes};
    struct cs_err err = {0};
    if (is_readable(image)) {
        const enum cs_code code = walk_readable(w, &p, image, &pending->walked, &err);
        if (code == CS_OK || code == CS_NOMEM) {
            return code;
        }
        char text[1024];
        cs_err_format(&err, text, sizeof text);
        image->read = false;
        pthread_mutex_lock(walk->lock);
        image->problem = cs_arena_str(&s->arena, cs_str_from(text));
        pthread_mutex_unlock(walk->lock);
        p = (struct place){.scan = s, .pending = pending, .image_bytes = image->image_bytes};
    }
    return walk_opaque(w, &p, opaque_part(image), &pending->walked, &err);
}

static void walk_task(void *ctx, size_t index) {
    struct walk *walk = ctx;
    struct cs_worker *w = cs_worker_get(walk->workers);
    if (!w || (walk->largest && !cs_scratch_get(&w->scratch, walk->largest)) ||
        walk_image(walk, w, index) != CS_OK) {
        atomic_store(&walk->out_of_memory, true);
    }
    if (w) {
        cs_worker_put(walk->workers, w);
    }
}

void cs_scan_walk(struct cs_scan *s, struct cs_pool *pool, struct cs_workers *workers) {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct walk walk = {.scan = s, .workers = workers, .lock = &lock};
    for (size_t i = 0; i < s->pending.count; i++) {
        const struct cs_pending *p = &s->pending.ptr[i];
        const uint64_t bytes = p->is_part ? p->concat.image_bytes : p->entry.image_bytes;
        if (s->images.ptr[i].codec != CS_CODEC_NONE && bytes <= CS_MAX_IMAGE_BYTES) {
            walk.largest = cs_max_u64(walk.largest, bytes);
        }
    }
    cs_pool_for(pool, s->images.count, 1, walk_task, &walk);
    pthread_mutex_destroy(&lock);
    if (atomic_load(&walk.out_of_memory)) {
        s->failed = cs_fail(&s->err, CS_NOMEM, "no memory to read the images");
    }
}
