// Limits: the 2 GiB rule on linked files and, from objects, before the link; and the two limits of
// Windows linkers as numbers.
//
// GNU ld places sections as .text, .rodata, device code (which it does not know), .eh_frame, data,
// .bss.  References of 32 bits go from code to all of these and from .eh_frame to code, so the span
// is everything together; with device code last it is everything else.  Objects of shared libraries
// and archives that are linked besides come on top, and so do PLT and GOT, which are small.
#include <stdlib.h>

#include "analysis/check_elf.h"
#include "analysis/check_work.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/num.h"

enum {
    NEAR_PERCENT = 90,  // of the limit: the next build may not link
    COMBINATIONS_MAX = 20000,
};

const char cs_check_linker_script[] =
    "/* Puts CUDA device code behind everything else, so that it does not push code and data\n"
    "   apart: host code reaches it by 64-bit pointers only.  For GNU ld and lld (gold knows no\n"
    "   INSERT):\n"
    "       c++ ... -Wl,-T,FILE\n"
    "   The script adds to the linker's own; it does not replace it. */\n"
    "SECTIONS\n"
    "{\n"
    "  .nv_fatbin : ALIGN(4096) { KEEP(*(.nv_fatbin)) }\n"
    "  __nv_relfatbin : ALIGN(4096) { KEEP(*(__nv_relfatbin)) }\n"
    "}\n"
    "INSERT AFTER .bss;\n";

// ---- which targets to leave out --------------------------------------------------------------

static int by_bytes(const void *a, const void *b) {
    const struct cs_check_target_bytes *x = a, *y = b;
    if (x->bytes != y->bytes) {
        return x->bytes > y->bytes ? -1 : 1;
    }
    return cs_target_cmp(x->target, y->target);
}

// Which images count towards the link?  Relocatable ones are linked once more.
static void add_targets(struct cs_check *c, struct cs_check_link *l) {
    for (size_t i = 0; i < c->inv->images.count; i++) {
        const struct cs_image *image = &c->inv->images.ptr[i];
        struct cs_check_target_bytes *t = NULL;
        for (size_t k = 0; k < l->targets.count && !t; k++) {
            t = cs_target_eq(l->targets.ptr[k].target, image->target) ? &l->targets.ptr[k] : NULL;
        }
        if (!t) {
            t = cs_vec_push(&l->targets);
            if (!t) {
                c->failed = CS_NOMEM;
                return;
            }
            t->target = image->target;
        }
        t->bytes += image->file_bytes * (image->relocatable ? 2 : 1);
    }
    if (l->targets.count > 1) {
        qsort(l->targets.ptr, l->targets.count, sizeof *l->targets.ptr, by_bytes);
    }
}

static void add_fit(struct cs_check *c, struct cs_check_link *l, const uint32_t *chosen,
                    uint32_t count, uint64_t saved) {
    if (l->fits.count == CS_CHECK_SETS_MAX) {
        return;
    }
    struct cs_check_fit *f = cs_vec_push(&l->fits);
    if (!f) {
        c->failed = CS_NOMEM;
        return;
    }
    *f = (struct cs_check_fit){.count = count, .bytes = l->span_bytes - saved};
    for (uint32_t i = 0; i < count; i++) {
        f->leave[i] = l->targets.ptr[chosen[i]].target;
    }
}

// The next combination of `count` numbers below n, in lexical order; false after the last.
static bool next_combination(uint32_t *chosen, uint32_t count, uint32_t n) {
    for (uint32_t i = count; i-- > 0;) {
        if (chosen[i] + count - i < n) {
            chosen[i]++;
            for (uint32_t k = i + 1; k < count; k++) {
                chosen[k] = chosen[k - 1] + 1;
            }
            return true;
        }
    }
    return false;
}

// All sets of `count` targets that make it fit.
static void find_fits(struct cs_check *c, struct cs_check_link *l, uint32_t count) {
    const uint64_t excess = l->span_bytes - l->limit_bytes;
    const uint32_t n = (uint32_t)l->targets.count;
    uint32_t chosen[CS_CHECK_LEAVE_MAX], tries = 0;
    for (uint32_t i = 0; i < count; i++) {
        chosen[i] = i;
    }
    do {
        uint64_t saved = 0;
        for (uint32_t i = 0; i < count; i++) {
            saved += l->targets.ptr[chosen[i]].bytes;
        }
        if (saved > excess) {
            add_fit(c, l, chosen, count, saved);
        }
    } while (++tries < COMBINATIONS_MAX && next_combination(chosen, count, n));
}

// The cheapest cut, which leaves the most, comes first.
static int by_rest(const void *a, const void *b) {
    const struct cs_check_fit *x = a, *y = b;
    if (x->bytes != y->bytes) {
        return x->bytes > y->bytes ? -1 : 1;
    }
    return cs_target_cmp(x->leave[0], y->leave[0]);
}

static void fit(struct cs_check *c, struct cs_check_link *l) {
    const uint32_t most = (uint32_t)cs_min_u64(CS_CHECK_LEAVE_MAX, l->targets.count);
    for (uint32_t count = 1; l->span_bytes >= l->limit_bytes && count <= most; count++) {
        find_fits(c, l, count);
        if (l->fits.count) {
            break;
        }
    }
    if (l->fits.count > 1) {
        qsort(l->fits.ptr, l->fits.count, sizeof *l->fits.ptr, by_rest);
    }
}

static struct cs_str fits_text(struct cs_check *c, const struct cs_check_link *l) {
    struct cs_buf text;
    cs_buf_init(&text, CS_MIB);
    for (size_t i = 0; i < l->fits.count; i++) {
        cs_buf_adds(&text, i == 0 ? "It fits without " : "; or without ");
        for (uint32_t k = 0; k < l->fits.ptr[i].count; k++) {
            char target[CS_TARGET_TEXT_BYTES];
            cs_target_text(l->fits.ptr[i].leave[k], target);
            cs_buf_printf(&text, "%s%s", k ? " and " : "", target);
        }
    }
    const struct cs_str s = cs_check_text(
        c, "%s%sWith device code last (--linker-script FILE) the span is %s.",
        text.ptr ? text.ptr : "", text.len ? ". " : "No few targets alone make it fit. ",
        cs_check_size(c, l->scripted_bytes));
    cs_buf_fini(&text);
    return s;
}

// ---- before the link -------------------------------------------------------------------------

static uint64_t host_bytes(const struct cs_check_sections *s) {
    return s->text + s->rodata + s->eh_frame + s->data + s->bss;
}

static void sum_sections(struct cs_check *c, struct cs_check_sections *sum, uint16_t *machine) {
    for (size_t i = 0; c->options->looks && i < c->inv->inputs.count; i++) {
        const struct cs_check_look *look = &c->options->looks[i];
        for (size_t k = 0; k < look->files.count; k++) {
            const struct cs_check_sections *s = &look->files.ptr[k].sections;
            sum->text += s->text;
            sum->rodata += s->rodata;
            sum->eh_frame += s->eh_frame;
            sum->data += s->data;
            sum->bss += s->bss;
            sum->fatbin += s->fatbin;
            sum->relfatbin += s->relfatbin;
            sum->objects += s->objects;
            *machine = s->objects ? look->files.ptr[k].machine : *machine;
        }
    }
}

static void predict(struct cs_check *c) {
    struct cs_check_link *l = &c->link;
    const struct cs_check_sections *s = &l->sections;
    uint16_t machine = 0;
    sum_sections(c, &l->sections, &machine);
    l->made = true;
    // The device linker adds linked code of about the size of the relocatable one to .nv_fatbin.
    l->device_bytes = s->fatbin + 2 * s->relfatbin;
    l->scripted_bytes = host_bytes(s);
    l->span_bytes = l->scripted_bytes + l->device_bytes;
    l->limit_bytes = cs_check_span_limit(machine);
    add_targets(c, l);
    fit(c, l);
    const bool over = l->span_bytes >= l->limit_bytes;
    if (over || l->span_bytes / NEAR_PERCENT >= l->limit_bytes / 100) {
        cs_check_add_as(c, "span-over-2gib", over ? CS_SEVERITY_ERROR : CS_SEVERITY_WARNING,
                        CS_STR("link"), fits_text(c, l),
                        "linking %u object%s: 32-bit references from .text to .bss must reach %s "
                        "of %s; .nv_fatbin in the way has %s",
                        s->objects, cs_plural(s->objects), cs_check_size(c, l->span_bytes),
                        cs_check_size(c, l->limit_bytes), cs_check_size(c, l->device_bytes));
    }
}

// ---- linked files ----------------------------------------------------------------------------

static void judge_span(struct cs_check *c, struct cs_str where, const struct cs_check_span *s) {
    if (s->bytes == 0 || s->bytes / NEAR_PERCENT < s->limit_bytes / 100) {
        return;
    }
    cs_check_add_as(c, "span-over-2gib",
                    s->bytes >= s->limit_bytes ? CS_SEVERITY_ERROR : CS_SEVERITY_WARNING, where,
                    CS_STR("Fewer targets, compressed device code, or a linker script that puts "
                           "device code last: cuslim check --link --linker-script FILE OBJECTS."),
                    "%.*s to %.*s: %s of %s, %s of it device code%s%.*s", (int)s->from.len,
                    s->from.ptr, (int)s->to.len, s->to.ptr, cs_check_size(c, s->bytes),
                    cs_check_size(c, s->limit_bytes), cs_check_size(c, s->device_bytes),
                    s->between.len ? " in " : "", (int)s->between.len, s->between.ptr);
}

static void raise(struct cs_check_limit *l, uint64_t bytes, struct cs_str where) {
    if (bytes > l->bytes) {
        l->bytes = bytes;
        l->where = where;
    }
}

static void measure(struct cs_check *c) {
    for (size_t i = 0; c->options->looks && i < c->inv->inputs.count; i++) {
        const struct cs_check_look *look = &c->options->looks[i];
        for (size_t k = 0; k < look->files.count; k++) {
            const struct cs_check_file *f = &look->files.ptr[k];
            judge_span(c, f->path, &f->span);
            raise(&c->limits[CS_LIMIT_SPAN], f->span.bytes, f->path);
            raise(&c->limits[CS_LIMIT_WINDOWS_IMAGE], f->image_bytes, f->path);
            if (!f->elf && f->sections.objects) {
                raise(&c->limits[CS_LIMIT_WINDOWS_LIBRARY], f->bytes, f->path);
            }
        }
    }
}

enum cs_code cs_check_limits(struct cs_check *c, struct cs_err *err) {
    static const struct cs_check_limit limits[CS_LIMIT_KINDS] = {
        {"span", "32-bit references of x86-64 code", 2 * CS_GIB, 0, {"", 0}},
        {"windows-image", "image size exceeds maximum (LNK1248)", 2 * CS_GIB, 0, {"", 0}},
        {"windows-library", "32-bit offsets in .lib archives", 4 * CS_GIB, 0, {"", 0}},
    };
    for (uint32_t i = 0; i < CS_LIMIT_KINDS; i++) {
        c->limits[i] = limits[i];
    }
    measure(c);
    if (c->options->link) {
        predict(c);
        if (c->link.sections.objects == 0) {
            return cs_fail(err, CS_USAGE, "--link: there is no object or archive in the input");
        }
        raise(&c->limits[CS_LIMIT_SPAN], c->link.span_bytes, CS_STR("link"));
        raise(&c->limits[CS_LIMIT_WINDOWS_IMAGE], c->link.span_bytes, CS_STR("link"));
    }
    return CS_OK;
}
