// The bytes of an input's files and images once more; see content.h.
//
// Images are found again by walking their container, never by trusting a remembered offset alone:
// each entry is held against what the inventory says of it.
#include "model/content.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/num.h"

enum cs_code cs_content_open(const struct cs_inventory *inv, uint32_t input, struct cs_content *out,
                             struct cs_err *err) {
    const struct cs_input *in = &inv->inputs.ptr[input];
    *out = (struct cs_content){.inv = inv, .input = input, .held = CS_NONE};
    if (cs_str_eq(in->path, CS_STR("<stdin>"))) {
        return cs_fail(err, CS_UNSUPPORTED, "standard input cannot be read a second time");
    }
    if (in->kind == CS_FILE_DIRECTORY) {
        return CS_OK;
    }
    enum cs_code code = cs_file_open(in->path.ptr, &out->file, err);
    if (code == CS_OK && in->kind == CS_FILE_WHEEL) {
        code = cs_zip_open(out->file.view, &out->zip, err);
    }
    if (code != CS_OK) {
        cs_file_close(&out->file);
    }
    return code == CS_OK ? code : cs_wrap(err, code, "%s", in->path.ptr);
}

static void let_go(struct cs_content *c) {
    cs_file_close(&c->loose);
    if (c->block) {
        cs_pages_free(c->block, c->block_bytes);
    }
    c->loose = (struct cs_file){0};
    c->block = NULL;
    c->held = CS_NONE;
}

void cs_content_close(struct cs_content *c) {
    let_go(c);
    if (c->inv && c->inv->inputs.ptr[c->input].kind == CS_FILE_WHEEL && c->file.view.ptr) {
        cs_zip_close(&c->zip);
    }
    cs_file_close(&c->file);
    *c = (struct cs_content){.held = CS_NONE};
}

static enum cs_code changed(struct cs_err *err) {
    return cs_fail(err, CS_IO, "the file changed while it was read");
}

// The inventory has one member without a parent for each of the wheel's, in the same order.
static enum cs_code inflate(struct cs_content *c, uint32_t member, struct cs_err *err) {
    uint32_t index = 0;
    for (uint32_t i = c->inv->inputs.ptr[c->input].first_member; i < member; i++) {
        index += c->inv->members.ptr[i].parent == CS_NONE;
    }
    const struct cs_member *m = &c->inv->members.ptr[member];
    const struct cs_zip_member *z =
        index < c->zip.members.count ? &c->zip.members.ptr[index] : NULL;
    if (!z || !cs_str_eq(z->name, m->path) || z->bytes != m->file_bytes ||
        z->bytes > CS_MAX_MEMBER_BYTES) {
        return changed(err);
    }
    c->block = cs_pages_alloc(cs_max_u64(z->bytes, 1));
    if (!c->block) {
        return cs_fail(err, CS_NOMEM, "no memory to inflate %llu bytes",
                       (unsigned long long)z->bytes);
    }
    c->block_bytes = cs_max_u64(z->bytes, 1);
    c->view = cs_view_of(c->block, z->bytes);
    return cs_zip_extract(&c->zip, z, c->block, true, NULL, err);
}

static enum cs_code open_loose(struct cs_content *c, uint32_t member, struct cs_err *err) {
    const struct cs_str root = c->inv->inputs.ptr[c->input].path;
    const struct cs_str path = c->inv->members.ptr[member].path;
    char full[CS_MAX_PATH_BYTES];
    const int n = snprintf(full, sizeof full, "%.*s/%.*s", (int)root.len, root.ptr, (int)path.len,
                           path.ptr);
    if (n < 0 || (size_t)n >= sizeof full) {
        return cs_fail(err, CS_LIMIT, "path of more than %d bytes", CS_MAX_PATH_BYTES);
    }
    CS_TRY(cs_file_open(full, &c->loose, err));
    c->view = c->loose.view;
    return CS_OK;
}

enum cs_code cs_content_file(struct cs_content *c, uint32_t member, struct cs_view *out,
                             struct cs_err *err) {
    while (c->inv->members.ptr[member].parent != CS_NONE) {
        member = c->inv->members.ptr[member].parent;
    }
    if (c->held != member) {
        let_go(c);
        enum cs_code code = CS_OK;
        switch (c->inv->inputs.ptr[c->input].kind) {
        case CS_FILE_WHEEL: code = inflate(c, member, err); break;
        case CS_FILE_DIRECTORY: code = open_loose(c, member, err); break;
        case CS_FILE_LIBRARY:
        case CS_FILE_EXECUTABLE:
        case CS_FILE_OBJECT:
        case CS_FILE_ARCHIVE:
        case CS_FILE_FATBIN:
        case CS_FILE_CUBIN:
        case CS_FILE_PTX:
        case CS_FILE_REPORT:
        case CS_FILE_WINDOWS:
        case CS_FILE_OTHER: c->view = c->file.view; break;
        }
        if (code != CS_OK) {
            const struct cs_str path = c->inv->members.ptr[member].path;
            let_go(c);
            return cs_wrap(err, code, "%.*s", (int)cs_min_u64(path.len, 200), path.ptr);
        }
        c->held = member;
    }
    *out = c->view;
    return CS_OK;
}

// ---- images ----------------------------------------------------------------------------------

struct visit {
    const struct cs_inventory *inv;
    struct cs_content_walk *walk;
    const struct cs_container *container;
    uint32_t next;  // the image that comes next, counted from the container's first
    cs_content_fn *fn;
    void *ctx;
};

// PTX ends at its NUL; everything else is as long as it says.
static struct cs_view exact(uint32_t kind, struct cs_view bytes) {
    if ((kind == CS_FATBIN_PTX || kind == CS_FATBIN_RELPTX) && bytes.len > 0) {
        const uint8_t *end = memchr(bytes.ptr, 0, (size_t)bytes.len);
        bytes.len = end ? (uint64_t)(end - bytes.ptr) : bytes.len;
    }
    return bytes;
}

static enum cs_code hand_on(struct visit *v, const struct cs_fatbin_entry *e, uint32_t part,
                            struct cs_view bytes, const struct cs_err *why, struct cs_err *err) {
    const uint32_t id = v->container->first_image + v->next;
    const struct cs_image *image = &v->inv->images.ptr[id];
    if (v->next >= v->container->image_count || image->kind != e->kind || image->part != part ||
        image->offset != v->container->offset + e->off || image->target.arch != (uint16_t)e->arch) {
        return changed(err);
    }
    v->next++;
    return !v->walk->wanted || v->walk->wanted[id] ? v->fn(v->ctx, id, bytes, why, err) : CS_OK;
}

static enum cs_code visit_parts(struct visit *v, const struct cs_fatbin_entry *concat,
                                struct cs_view blob, const struct cs_err *why, struct cs_err *err) {
    uint64_t cursor = 0;
    for (uint32_t i = 0; i < concat->part_count; i++) {
        struct cs_fatbin_entry part;
        CS_TRY(cs_fatbin_part(concat, &cursor, &part, err));
        struct cs_view bytes = {0};
        struct cs_err outside = {0};
        if (!why && !cs_view_sub(blob, part.part_off, part.payload_bytes, &bytes)) {
            (void)cs_fail_at(&outside, CS_FORMAT, part.off, "part outside its image");
            CS_TRY(hand_on(v, &part, i, bytes, &outside, err));
            continue;
        }
        CS_TRY(hand_on(v, &part, i, exact(part.kind, bytes), why, err));
    }
    return CS_OK;
}

static enum cs_code visit_entry(struct visit *v, const struct cs_fatbin_entry *e,
                                struct cs_err *err) {
    if (v->next >= v->container->image_count) {
        return changed(err);
    }
    const uint32_t id = v->container->first_image + v->next;
    const bool parts = e->kind == CS_FATBIN_CONCAT && v->inv->images.ptr[id].part != CS_NONE;
    struct cs_err why = {0};
    struct cs_view bytes = {0};
    enum cs_code code = CS_OK;
    if (parts || !v->walk->wanted || v->walk->wanted[id]) {
        code = cs_fatbin_image(v->walk->codec, e, &v->walk->scratch, &bytes, &why);
    }
    if (code == CS_NOMEM) {
        return cs_fail(err, CS_NOMEM, "no memory for an image");
    }
    const struct cs_err *reason = code == CS_OK ? NULL : &why;
    return parts ? visit_parts(v, e, bytes, reason, err)
                 : hand_on(v, e, CS_NONE, exact(e->kind, bytes), reason, err);
}

enum cs_code cs_content_images(struct cs_content *c, struct cs_content_walk *walk,
                               uint32_t container, uint32_t image, cs_content_fn *fn, void *ctx,
                               struct cs_err *err) {
    struct cs_view file, bytes;
    if (container == CS_NONE) {
        const struct cs_image *loose = &c->inv->images.ptr[image];
        CS_TRY(cs_content_file(c, loose->member, &file, err));
        if (!cs_view_sub(file, loose->offset, loose->file_bytes, &bytes)) {
            return changed(err);
        }
        return fn(ctx, image, bytes, NULL, err);
    }
    const struct cs_container *box = &c->inv->containers.ptr[container];
    struct visit v = {.inv = c->inv, .walk = walk, .container = box, .fn = fn, .ctx = ctx};
    struct cs_fatbin_iter it;
    CS_TRY(cs_content_file(c, box->member, &file, err));
    if (!cs_view_sub(file, box->offset, box->bytes, &bytes)) {
        return changed(err);
    }
    CS_TRY(cs_fatbin_open(bytes, &it, err));
    for (;;) {
        struct cs_fatbin_entry e;
        bool done;
        CS_TRY(cs_fatbin_next(&it, &e, &done, err));
        if (done) {
            return v.next == box->image_count ? CS_OK : changed(err);
        }
        CS_TRY(visit_entry(&v, &e, err));
    }
}
