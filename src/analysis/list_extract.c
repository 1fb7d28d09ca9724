// Writing images to files.
//
// Names come first, for all images: they depend on the inventory alone, so a clash with a file that
// exists is found before anything is written.  Member names are a stranger's choice; whatever is
// not plain in them becomes '_', so that no name can leave the folder.
#include "analysis/list_extract.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/num.h"
#include "model/content.h"

enum { STEM_BYTES = 128, FILE_MODE = 0644, DIR_MODE = 0755 };

struct extract {
    const struct cs_listing *l;
    const struct cs_extract_options *options;
    struct cs_extracted *out;
    struct cs_intern stems;  // those in use
};

// ---- names -----------------------------------------------------------------------------------

static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '+' || c == '-';
}

// What names of a member's images begin with.  Of a long path the end stays: it tells more.
static struct cs_str make_stem(struct extract *x, uint32_t member) {
    const struct cs_str path = x->l->inv->members.ptr[member].path;
    char text[STEM_BYTES];
    const size_t len = cs_min_u64(path.len, sizeof text);
    for (size_t i = 0; i < len; i++) {
        const char c = path.ptr[path.len - len + i];
        text[i] = c == '/' ? '.' : is_plain(c) ? c : '_';
    }
    if (len > 0 && (text[0] == '.' || text[0] == '-')) {
        text[0] = '_';
    }
    const struct cs_str stem = {text, len};
    if (len > 0 && cs_intern_find(&x->stems, stem) == CS_INTERN_NONE) {
        return cs_intern_add(&x->stems, stem) == CS_INTERN_NONE
                   ? (struct cs_str){0}
                   : cs_arena_str(&x->out->arena, stem);
    }
    // '~' is in no plain name, so this is new.
    return cs_arena_printf(&x->out->arena, "%.*s~%u", (int)len, text, member);
}

static const char *extension(const struct cs_image *image) {
    switch (image->kind) {
    case CS_FATBIN_ELF: return "cubin";
    case CS_FATBIN_PTX:
    case CS_FATBIN_RELPTX: return "ptx";
    case CS_FATBIN_LTOIR: return "ltoir";
    default: return "image";
    }
}

static struct cs_str make_name(struct extract *x, const struct cs_image *image,
                               struct cs_str stem) {
    const struct cs_inventory *inv = x->l->inv;
    const struct cs_member *m = &inv->members.ptr[image->member];
    char place[64] = "", target[CS_TARGET_TEXT_BYTES];
    if (image->container != CS_NONE) {
        const uint32_t container = inv->containers.ptr[image->container].index;
        if (image->part == CS_NONE) {
            snprintf(place, sizeof place, ".%u.%u", container, image->index);
        } else {
            snprintf(place, sizeof place, ".%u.%up%u", container, image->index, image->part);
        }
    } else if (image->file_bytes != m->file_bytes) {
        snprintf(place, sizeof place, ".x%llx",
                 (unsigned long long)cs_image_member_offset(inv, image));
    }
    cs_image_target_text(image, target);
    return cs_arena_printf(&x->out->arena, "%.*s%s%s%s.%s", (int)stem.len, stem.ptr, place,
                           target[0] ? "." : "", target, extension(image));
}

static enum cs_code no_memory(struct cs_err *err) {
    return cs_fail(err, CS_NOMEM, "no memory for the file names");
}

static enum cs_code make_names(struct extract *x, struct cs_err *err) {
    const struct cs_inventory *inv = x->l->inv;
    uint32_t member = CS_NONE;
    struct cs_str stem = {0};
    for (uint32_t i = 0; i < inv->images.count; i++) {
        const struct cs_image *image = &inv->images.ptr[i];
        if (!x->l->chosen[i]) {
            continue;
        }
        if (image->member != member) {
            member = image->member;
            stem = make_stem(x, member);
            if (!stem.ptr) {
                return no_memory(err);
            }
        }
        x->out->names[i] = make_name(x, image, stem);
        if (!x->out->names[i].ptr) {
            return no_memory(err);
        }
    }
    return CS_OK;
}

// ---- files -----------------------------------------------------------------------------------

static enum cs_code full_path(const struct extract *x, uint32_t image, char *out, size_t size,
                              struct cs_err *err) {
    const int n = snprintf(out, size, "%s/%s", x->options->dir, x->out->names[image].ptr);
    return n >= 0 && (size_t)n < size
               ? CS_OK
               : cs_fail(err, CS_LIMIT, "path of more than %d bytes", CS_MAX_PATH_BYTES);
}

static enum cs_code prepare_dir(const struct extract *x, struct cs_err *err) {
    const char *dir = x->options->dir;
    if (mkdir(dir, DIR_MODE) != 0 && errno != EEXIST) {
        return cs_fail_errno(err, "cannot make the folder %s", dir);
    }
    for (uint32_t i = 0; !x->options->force && i < x->l->inv->images.count; i++) {
        char path[CS_MAX_PATH_BYTES];
        struct stat st;
        if (!x->l->chosen[i]) {
            continue;
        }
        CS_TRY(full_path(x, i, path, sizeof path, err));
        if (lstat(path, &st) == 0) {
            return cs_fail(err, CS_CONFLICT, "%s exists; --force replaces it", path);
        }
    }
    return CS_OK;
}

static enum cs_code write_image(void *ctx, uint32_t image, struct cs_view bytes,
                                const struct cs_err *why, struct cs_err *err) {
    struct extract *x = ctx;
    if (why) {
        if (x->out->unreadable++ == 0) {
            cs_err_format(why, x->out->first_problem, sizeof x->out->first_problem);
        }
        x->out->names[image] = CS_STR("");
        return CS_OK;
    }
    char path[CS_MAX_PATH_BYTES];
    struct cs_outfile file;
    CS_TRY(full_path(x, image, path, sizeof path, err));
    CS_TRY(cs_outfile_create(path, FILE_MODE, &file, err));
    cs_outfile_write(&file, bytes.ptr, bytes.len);
    CS_TRY(cs_outfile_commit(&file, err));
    x->out->files++;
    x->out->bytes += bytes.len;
    return CS_OK;
}

static bool any_chosen(const struct cs_listing *l, uint32_t first, uint32_t count) {
    return count > 0 && memchr(l->chosen + first, 1, count);
}

static enum cs_code extract_member(struct extract *x, struct cs_content *content,
                                   struct cs_content_walk *walk, const struct cs_member *m,
                                   struct cs_err *err) {
    const struct cs_inventory *inv = x->l->inv;
    for (uint32_t i = m->first_container; i < m->first_container + m->container_count; i++) {
        const struct cs_container *c = &inv->containers.ptr[i];
        if (any_chosen(x->l, c->first_image, c->image_count)) {
            CS_TRY(cs_content_images(content, walk, i, CS_NONE, write_image, x, err));
        }
    }
    for (uint32_t i = m->first_image; i < m->first_image + m->image_count; i++) {
        if (x->l->chosen[i] && inv->images.ptr[i].container == CS_NONE) {
            CS_TRY(cs_content_images(content, walk, CS_NONE, i, write_image, x, err));
        }
    }
    return CS_OK;
}

static enum cs_code extract_input(struct extract *x, uint32_t input, struct cs_content_walk *walk,
                                  struct cs_err *err) {
    const struct cs_inventory *inv = x->l->inv;
    const struct cs_input *in = &inv->inputs.ptr[input];
    struct cs_content content;
    CS_TRY(cs_content_open(inv, input, &content, err));
    enum cs_code code = CS_OK;
    for (uint32_t i = 0; code == CS_OK && i < in->member_count; i++) {
        const struct cs_member *m = &inv->members.ptr[in->first_member + i];
        code = extract_member(x, &content, walk, m, err);
        if (code != CS_OK) {
            code = cs_wrap(err, code, "%.*s", (int)cs_min_u64(m->path.len, 200), m->path.ptr);
        }
    }
    cs_content_close(&content);
    return code;
}

enum cs_code cs_list_extract(const struct cs_listing *l, const struct cs_extract_options *options,
                             struct cs_extracted *out, struct cs_err *err) {
    *out = (struct cs_extracted){0};
    cs_arena_init(&out->arena);
    out->names = cs_calloc(l->inv->images.count + 1, sizeof *out->names);
    struct extract x = {.l = l, .options = options, .out = out};
    struct cs_content_walk walk = {.codec = cs_codec_ctx_new(), .wanted = l->chosen};
    cs_intern_init(&x.stems);
    enum cs_code code = out->names && walk.codec ? CS_OK : no_memory(err);
    code = code == CS_OK ? make_names(&x, err) : code;
    code = code == CS_OK ? prepare_dir(&x, err) : code;
    for (uint32_t i = 0; code == CS_OK && i < l->inv->inputs.count; i++) {
        code = extract_input(&x, i, &walk, err);
    }
    cs_codec_ctx_free(walk.codec);
    cs_scratch_fini(&walk.scratch);
    cs_intern_fini(&x.stems);
    if (code != CS_OK) {
        cs_extracted_fini(out);
    }
    return code;
}

void cs_extracted_fini(struct cs_extracted *e) {
    cs_free(e->names);
    cs_arena_fini(&e->arena);
    *e = (struct cs_extracted){0};
}
