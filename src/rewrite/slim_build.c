// Making: containers put together again from the images that stay.
//
// Each container becomes a list of items: an entry as it was, an image in another form, or several
// images joined.  Items are compressed in parallel; the order of entries is kept, since drivers
// take the first ELF and the last PTX among equals (docs/format/selection.md).

#include <stdatomic.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/stop.h"
#include "format/fatbin_write.h"
#include "rewrite/slim.h"
#include "rewrite/slim_kernels.h"

enum {
    // Chosen from the table in docs/evidence/compression.md.
    LEVEL_ZSTD = 19,
    LEVEL_LZ4 = 12,
};

enum form { FORM_RAW, FORM_IMAGE, FORM_CONCAT };

struct item {
    uint32_t container;
    uint32_t first, count;      // members in build.members
    enum form form;
    enum cs_codec codec;
    uint8_t *payload;           // compressed stream, owned
    uint64_t payload_bytes;
    uint64_t image_bytes;       // plain size of all members together
    uint64_t *sizes;            // CONCAT: plain size of each
    bool gave_up;               // no gain: the entry stays as it was
};

struct build {
    const struct cs_scan *scan;
    const struct cs_slim_decision *decision;
    const struct cs_slim_options *options;
    struct cs_workers *workers;
    CS_VEC(struct item) items;        // by container, in order of entries
    CS_VEC(uint32_t) members;         // image indices
    CS_VEC(uint32_t) first_item;      // by container; one more at the end
    struct cs_slim_built *out;
    atomic_int failed;                // enum cs_code of the first failure
    struct cs_err err;
    atomic_flag err_taken;
};

void cs_slim_built_fini(struct cs_slim_built *b) {
    for (size_t i = 0; b->containers && i < b->count; i++) {
        cs_buf_fini(&b->containers[i].bytes);
    }
    cs_free(b->containers);
    *b = (struct cs_slim_built){0};
}

// ---- planning items --------------------------------------------------------------------------

static const struct cs_pending *pending_of(const struct build *b, uint32_t image) {
    return &b->scan->pending.ptr[image];
}

static bool may_rewrite(const struct cs_pending *p) {
    return p->is_part ? cs_fatbin_may_rewrite(&p->concat) && cs_fatbin_may_rewrite(&p->entry)
                      : cs_fatbin_may_rewrite(&p->entry);
}

// The form a lone image is to have; FORM_RAW keeps its entry.
static enum form wanted_form(const struct build *b, const struct cs_pending *p,
                             enum cs_codec *codec) {
    const enum cs_codec now = p->is_part ? p->concat.codec : p->entry.codec;
    *codec = now;
    switch (b->options->recompress) {
    case CS_SLIM_AS_IS: break;
    case CS_SLIM_RAW_TO_LZ4:
        *codec = now == CS_CODEC_NONE && b->options->free_edits ? CS_CODEC_LZ4 : now;
        break;
    case CS_SLIM_TO_NONE: *codec = CS_CODEC_NONE; break;
    case CS_SLIM_TO_LZ4: *codec = CS_CODEC_LZ4; break;
    case CS_SLIM_TO_ZSTD:
    case CS_SLIM_TO_CONCAT: *codec = CS_CODEC_ZSTD; break;
    }
    if (!may_rewrite(p)) {
        return FORM_RAW;
    }
    // Compressed at an unknown level, it may shrink at ours.
    const bool again =
        *codec == now &&
        ((now == CS_CODEC_ZSTD && b->options->recompress == CS_SLIM_TO_ZSTD) ||
         (now == CS_CODEC_LZ4 && b->options->recompress == CS_SLIM_TO_LZ4));
    return p->is_part || *codec != now || again || b->options->keep_kernels ? FORM_IMAGE : FORM_RAW;
}

uint32_t cs_slim_concat_class(const struct cs_scan *scan, uint32_t image) {
    const struct cs_image *x = &scan->images.ptr[image];
    if (!may_rewrite(&scan->pending.ptr[image])) {
        return 0;
    }
    if (x->kind != CS_FATBIN_ELF) {
        return 1;
    }
    return x->flags & CS_FATBIN_F_BIT24 ? 3 : 2;
}

static struct item *push_item(struct build *b, uint32_t container, enum form form,
                              enum cs_codec codec) {
    struct item *item = cs_vec_push(&b->items);
    if (item) {
        *item = (struct item){.container = container, .form = form, .codec = codec,
                              .first = (uint32_t)b->members.count};
    }
    return item;
}

static bool push_member(struct build *b, struct item *item, uint32_t image) {
    uint32_t *slot = cs_vec_push(&b->members);
    if (slot) {
        *slot = image;
        item->count++;
    }
    return slot != NULL;
}

// One entry stands for all parts of a concatenated entry while it is left as it is.
static bool same_concat(const struct build *b, uint32_t a, uint32_t c) {
    const struct cs_pending *x = pending_of(b, a), *y = pending_of(b, c);
    return x->is_part && y->is_part && x->concat.off == y->concat.off &&
           x->container_off == y->container_off;
}

static uint32_t concat_end(const struct build *b, uint32_t first, uint32_t end) {
    uint32_t i = first + 1;
    while (i < end && same_concat(b, first, i)) {
        i++;
    }
    return i;
}

static bool all_kept(const struct build *b, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; i++) {
        if (b->decision->cause[i] != CS_SLIM_KEPT) {
            return false;
        }
    }
    return true;
}

static bool keeps_concat(const struct build *b, const struct cs_pending *p) {
    const enum cs_slim_recompress r = b->options->recompress;
    return p->is_part && !b->options->split_concatenated && !b->options->keep_kernels &&
           (r == CS_SLIM_AS_IS || r == CS_SLIM_RAW_TO_LZ4 || !may_rewrite(p));
}

// Kept parts [first, end) of one concatenated entry, as one entry again.
static bool plan_parts(struct build *b, uint32_t container, uint32_t first, uint32_t end) {
    const bool whole = all_kept(b, first, end);
    struct item *item = push_item(b, container, whole ? FORM_RAW : FORM_CONCAT, CS_CODEC_ZSTD);
    if (!item) {
        return false;
    }
    for (uint32_t i = first; i < end; i++) {
        if (b->decision->cause[i] == CS_SLIM_KEPT && !push_member(b, item, i)) {
            return false;
        }
    }
    if (item->count == 0) {
        b->items.count--;
    } else if (item->count == 1 && !whole) {
        item->form = FORM_IMAGE;
    }
    return true;
}

static bool plan_plain(struct build *b, uint32_t container, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end;) {
        const struct cs_pending *p = pending_of(b, i);
        if (keeps_concat(b, p)) {
            const uint32_t next = concat_end(b, i, end);
            if (!plan_parts(b, container, i, next)) {
                return false;
            }
            i = next;
            continue;
        }
        if (b->decision->cause[i] == CS_SLIM_KEPT) {
            enum cs_codec codec;
            const enum form form = wanted_form(b, p, &codec);
            struct item *item = push_item(b, container, form, codec);
            if (!item || !push_member(b, item, i)) {
                return false;
            }
        }
        i++;
    }
    return true;
}

// Concatenated output: entries that cannot be joined first, then one entry a class.
static bool plan_concat(struct build *b, uint32_t container, uint32_t first, uint32_t end) {
    for (uint32_t class = 0; class < CS_SLIM_CONCAT_CLASSES; class++) {
        struct item *item = NULL;
        for (uint32_t i = first; i < end; i++) {
            if (b->decision->cause[i] != CS_SLIM_KEPT ||
                cs_slim_concat_class(b->scan, i) != class) {
                continue;
            }
            if (!item || class == 0) {
                item = push_item(b, container, class ? FORM_CONCAT : FORM_RAW, CS_CODEC_ZSTD);
            }
            if (!item || !push_member(b, item, i)) {
                return false;
            }
        }
        if (item && item->form == FORM_CONCAT && item->count == 1) {
            item->form = FORM_IMAGE;
        }
    }
    return true;
}

static bool plan_items(struct build *b) {
    for (uint32_t c = 0; c < b->scan->containers.count; c++) {
        const struct cs_container *container = &b->scan->containers.ptr[c];
        uint32_t *slot = cs_vec_push(&b->first_item);
        if (!slot) {
            return false;
        }
        *slot = (uint32_t)b->items.count;
        if (!cs_slim_editable(b->scan, container)) {
            continue;
        }
        const uint32_t first = container->first_image, end = first + container->image_count;
        // Relocatable entries are read by linkers, which know nothing of concatenation.
        const bool join = b->options->recompress == CS_SLIM_TO_CONCAT && !container->relocatable;
        if (!(join ? plan_concat(b, c, first, end) : plan_plain(b, c, first, end))) {
            return false;
        }
    }
    uint32_t *slot = cs_vec_push(&b->first_item);
    if (slot) {
        *slot = (uint32_t)b->items.count;
    }
    return slot != NULL;
}

// ---- compressing -----------------------------------------------------------------------------

static int level_of(const struct build *b, enum cs_codec codec) {
    if (b->options->level) {
        return b->options->level;
    }
    return codec == CS_CODEC_LZ4 ? LEVEL_LZ4 : LEVEL_ZSTD;
}

// PTX in a plain entry is padded with zeros; compressed, it keeps exactly one, as fatbinary has it.
static enum cs_code image_bytes(const struct build *b, uint32_t index, struct cs_worker *w,
                                struct cs_view *out, struct cs_err *err) {
    CS_TRY(cs_scan_image_bytes(b->scan, index, w, out, err));
    const struct cs_pending *p = pending_of(b, index);
    const uint64_t room = p->is_part || p->entry.codec == CS_CODEC_NONE ? p->entry.payload_bytes
                                                                        : p->entry.image_bytes;
    if (p->entry.kind != CS_FATBIN_ELF && out->len < room) {
        out->len++;
    }
    return CS_OK;
}

// The plain image that `item` is to hold: one image, or several back to back in `joined`.
static enum cs_code gather(struct build *b, struct item *item, struct cs_worker *w,
                           struct cs_buf *joined, struct cs_view *out, struct cs_err *err) {
    if (item->form == FORM_CONCAT) {
        item->sizes = cs_calloc(item->count, sizeof *item->sizes);
        if (!item->sizes) {
            return cs_fail(err, CS_NOMEM, "no memory to join images");
        }
    }
    for (uint32_t i = 0; i < item->count; i++) {
        const uint32_t index = b->members.ptr[item->first + i];
        const struct cs_pending *p = pending_of(b, index);
        struct cs_view bytes;
        CS_TRY(image_bytes(b, index, w, &bytes, err));
        if (b->options->keep_kernels && p->entry.kind == CS_FATBIN_ELF) {
            CS_TRY(cs_slim_zero_kernels(&bytes, b->options->keep_kernels, w, err));
        }
        if (item->form != FORM_CONCAT) {
            *out = bytes;
            return CS_OK;
        }
        item->sizes[i] = bytes.len;
        cs_buf_add(joined, bytes.ptr, (size_t)bytes.len);
    }
    CS_TRY(cs_buf_check(joined, err));
    *out = cs_buf_view(joined);
    return CS_OK;
}

static uint64_t bytes_now(const struct build *b, const struct item *item) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < item->count; i++) {
        sum += pending_of(b, b->members.ptr[item->first + i])->payload_file_bytes;
    }
    return sum;
}

// Storing raw what deflates better than its LZ4 form does, which is deflated too: only when the
// wheel is what must be small.
static bool raw_is_smaller_in_wheel(const struct build *b, const struct item *item,
                                    struct cs_view plain) {
    return b->options->minimise == CS_SLIM_WHEEL &&
           b->options->recompress == CS_SLIM_RAW_TO_LZ4 &&
           cs_slim_deflated_bytes(plain) <
               cs_slim_deflated_bytes(cs_view_of(item->payload, item->payload_bytes));
}

static enum cs_code compress(struct build *b, struct item *item, struct cs_worker *w,
                             struct cs_view plain, struct cs_err *err) {
    item->image_bytes = plain.len;
    if (item->codec == CS_CODEC_NONE) {
        item->payload = cs_alloc((size_t)plain.len);
        item->payload_bytes = plain.len;
        if (!item->payload) {
            return cs_fail(err, CS_NOMEM, "no memory for a plain image");
        }
        memcpy(item->payload, plain.ptr, (size_t)plain.len);
        return CS_OK;
    }
    const uint64_t cap = cs_codec_bound(item->codec, plain.len);
    uint8_t *block = cs_pages_alloc(cap);
    if (!block) {
        return cs_fail(err, CS_NOMEM, "no memory to compress %llu bytes",
                       (unsigned long long)plain.len);
    }
    enum cs_code code = cs_codec_compress(w->codec, item->codec, level_of(b, item->codec), plain,
                                          block, cap, &item->payload_bytes, err);
    if (code == CS_OK && item->payload_bytes <= UINT32_MAX) {
        item->payload = cs_alloc((size_t)item->payload_bytes);
        if (item->payload) {
            memcpy(item->payload, block, (size_t)item->payload_bytes);
        } else {
            code = cs_fail(err, CS_NOMEM, "no memory for a compressed image");
        }
    }
    cs_pages_free(block, cap);
    return code;
}

static enum cs_code make_item(struct build *b, struct item *item, struct cs_worker *w,
                              struct cs_err *err) {
    struct cs_buf joined;
    cs_buf_init(&joined, CS_MAX_IMAGE_BYTES);
    struct cs_view plain = {0};
    enum cs_code code = gather(b, item, w, &joined, &plain, err);
    if (code == CS_OK) {
        code = compress(b, item, w, plain, err);
    }
    if (code == CS_OK && item->form == FORM_IMAGE && item->codec != CS_CODEC_NONE) {
        const struct cs_pending *p = pending_of(b, b->members.ptr[item->first]);
        const uint64_t padded = (item->payload_bytes + 7) & ~7ull;
        const bool forced = p->is_part || b->options->keep_kernels ||
                            (b->options->recompress == CS_SLIM_TO_LZ4 &&
                             p->entry.codec == CS_CODEC_ZSTD);
        item->gave_up = !item->payload || (!forced && padded >= bytes_now(b, item)) ||
                        (!forced && raw_is_smaller_in_wheel(b, item, plain));
    }
    cs_buf_fini(&joined);
    if (code == CS_OK && !item->payload && item->form == FORM_CONCAT) {
        return cs_fail(err, CS_LIMIT, "joined images exceed 4 GiB");
    }
    return code;
}

static void fail_build(struct build *b, enum cs_code code, const struct cs_err *err) {
    if (!atomic_flag_test_and_set(&b->err_taken)) {
        b->err = *err;
        atomic_store(&b->failed, (int)code);
    }
}

static void item_task(void *ctx, size_t index) {
    struct build *b = ctx;
    struct item *item = &b->items.ptr[index];
    if (item->form == FORM_RAW || atomic_load(&b->failed) != CS_OK) {
        return;
    }
    struct cs_err err = {0};
    if (cs_stop_check(&err) != CS_OK) {
        fail_build(b, CS_INTERRUPTED, &err);
        return;
    }
    struct cs_worker *w = cs_worker_get(b->workers);
    const enum cs_code code = w ? make_item(b, item, w, &err)
                                : cs_fail(&err, CS_NOMEM, "no memory to compress");
    if (w) {
        cs_worker_put(b->workers, w);
    }
    if (code != CS_OK) {
        fail_build(b, code, &err);
    }
}

// ---- assembling ------------------------------------------------------------------------------

static void put_item(const struct build *b, const struct item *item, struct cs_buf *out,
                     uint32_t *recompressed) {
    const struct cs_pending *p = pending_of(b, b->members.ptr[item->first]);
    if (item->form == FORM_RAW || item->gave_up) {
        cs_fatbin_put_raw(out, p->is_part ? &p->concat : &p->entry);
        return;
    }
    *recompressed += item->count;
    const struct cs_view payload = cs_view_of(item->payload, item->payload_bytes);
    if (item->form == FORM_IMAGE) {
        cs_fatbin_put_image(out, &p->entry, item->codec, payload, item->image_bytes);
        return;
    }
    const struct cs_fatbin_entry **parts = cs_calloc(item->count, sizeof *parts);
    if (!parts) {
        out->failed = CS_NOMEM;
        return;
    }
    for (uint32_t i = 0; i < item->count; i++) {
        parts[i] = &pending_of(b, b->members.ptr[item->first + i])->entry;
    }
    cs_fatbin_put_concat(out, parts, item->sizes, item->count, item->codec, payload);
    cs_free(parts);
}

static bool container_changes(const struct build *b, uint32_t c) {
    for (uint32_t i = b->first_item.ptr[c]; i < b->first_item.ptr[c + 1]; i++) {
        const struct item *item = &b->items.ptr[i];
        if (item->form != FORM_RAW && !item->gave_up) {
            return true;
        }
    }
    return b->decision->touched[c] != 0;
}

static enum cs_code assemble(struct build *b, struct cs_err *err) {
    for (uint32_t c = 0; c < b->out->count; c++) {
        if (!container_changes(b, c)) {
            continue;
        }
        struct cs_slim_container *out = &b->out->containers[c];
        cs_buf_init(&out->bytes, CS_MAX_IMAGE_BYTES);
        const size_t start = cs_fatbin_begin(&out->bytes);
        for (uint32_t i = b->first_item.ptr[c]; i < b->first_item.ptr[c + 1]; i++) {
            put_item(b, &b->items.ptr[i], &out->bytes, &out->recompressed);
            cs_free(b->items.ptr[i].payload);
            b->items.ptr[i].payload = NULL;
        }
        cs_fatbin_end(&out->bytes, start);
        CS_TRY(cs_buf_check(&out->bytes, err));
        b->out->recompressed += out->recompressed;
    }
    return CS_OK;
}

enum cs_code cs_slim_build(const struct cs_scan *scan, const struct cs_slim_decision *decision,
                           const struct cs_slim_options *options, struct cs_pool *pool,
                           struct cs_workers *workers, struct cs_slim_built *out,
                           struct cs_err *err) {
    *out = (struct cs_slim_built){.count = scan->containers.count};
    out->containers = cs_calloc(out->count, sizeof *out->containers);
    struct build b = {.scan = scan, .decision = decision, .options = options, .workers = workers,
                      .out = out, .err_taken = ATOMIC_FLAG_INIT};
    enum cs_code code = out->containers && plan_items(&b)
                            ? CS_OK
                            : cs_fail(err, CS_NOMEM, "no memory to rebuild containers");
    if (code == CS_OK) {
        cs_pool_for(pool, b.items.count, 1, item_task, &b);
        code = (enum cs_code)atomic_load(&b.failed);
        if (code != CS_OK && err) {
            *err = b.err;
        }
    }
    if (code == CS_OK) {
        code = assemble(&b, err);
    }
    for (size_t i = 0; i < b.items.count; i++) {
        cs_free(b.items.ptr[i].payload);
        cs_free(b.items.ptr[i].sizes);
    }
    cs_vec_fini(&b.items);
    cs_vec_fini(&b.members);
    cs_vec_fini(&b.first_item);
    if (code != CS_OK) {
        cs_slim_built_fini(out);
    }
    return code;
}
