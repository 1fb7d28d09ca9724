// Storage: images that are dead weight, or stored in a way that costs room or drivers.
//
// One finding a library and target, with the number of containers and their bytes.  Link stubs and
// other containers without kernels are too small to mention.
#include "analysis/check_work.h"
#include "base/mem.h"

enum {
    RAW_BYTES_NOTED = 1 << 18,  // less than this without compression is not worth a warning
};

// Images of one library that share a target and a fate.
struct heap {
    struct cs_target target;
    struct cs_target winner;  // that is run instead, for shadowed images
    uint64_t file_bytes;
    uint32_t images, example;
};
struct heaps {
    CS_VEC(struct heap) items;
};

static void add(struct cs_check *c, struct heaps *all, uint32_t index, struct cs_target winner) {
    const struct cs_image *image = &c->inv->images.ptr[index];
    struct heap *h = NULL;
    for (size_t i = 0; i < all->items.count && !h; i++) {
        struct heap *x = &all->items.ptr[i];
        h = cs_target_eq(x->target, image->target) && cs_target_eq(x->winner, winner) ? x : NULL;
    }
    if (!h) {
        h = cs_vec_push(&all->items);
        if (!h) {
            c->failed = CS_NOMEM;
            return;
        }
        *h = (struct heap){.target = image->target, .winner = winner, .example = index};
    }
    h->images++;
    h->file_bytes += image->file_bytes;
}

static void cut(struct cs_check *c, enum cs_check_cut which, uint32_t index) {
    const struct cs_image *image = &c->inv->images.ptr[index];
    c->cuts[which].images++;
    c->cuts[which].file_bytes += image->file_bytes;
    c->cuts[which].wheel_bytes += image->wheel_bytes;
}

static uint64_t heaps_total(const struct heaps *all, uint64_t *images) {
    uint64_t bytes = 0;
    *images = 0;
    for (size_t i = 0; i < all->items.count; i++) {
        bytes += all->items.ptr[i].file_bytes;
        *images += all->items.ptr[i].images;
    }
    return bytes;
}

// ---- one library -----------------------------------------------------------------------------

struct library_heaps {
    struct heaps shadowed, unreachable, raw, joined, single;
};

struct work {
    struct cs_check *c;
    struct library_heaps heaps;
    CS_VEC(struct cs_select_image) images;
    CS_VEC(bool) shadowed;
    CS_VEC(bool) used;
};

// What is run instead of a shadowed image, on the device of its number.
static struct cs_target winner_over(const struct work *w, uint32_t i) {
    const struct cs_selection s =
        cs_select(w->images.ptr, (uint32_t)w->images.count,
                  cs_target_device(w->images.ptr[i].target), NULL);
    return s.index == CS_SELECT_NOTHING ? (struct cs_target){0} : w->images.ptr[s.index].target;
}

// The PTX that devices of the future would compile: the highest plain target.
static uint32_t newest_ptx(const struct work *w) {
    uint32_t best = CS_NONE;
    for (uint32_t i = 0; i < w->images.count; i++) {
        const struct cs_select_image *x = &w->images.ptr[i];
        if (x->kind == CS_FATBIN_PTX && x->target.suffix == '\0' &&
            (best == CS_NONE || x->target.arch > w->images.ptr[best].target.arch)) {
            best = i;
        }
    }
    return best;
}

// used[i] = a device that loads the library runs image i.
static void find_used(struct work *w, struct cs_str path) {
    const struct cs_reach *reach = w->c->options->reach;
    uint32_t devices;
    const struct cs_device_row *table = cs_device_table(&devices);
    for (uint32_t d = 0; d < devices; d++) {
        if (cs_reach_has(reach, path, table[d].device)) {
            const struct cs_selection s = cs_select(w->images.ptr, (uint32_t)w->images.count,
                                                    table[d].device, NULL);
            if (s.index != CS_SELECT_NOTHING) {
                w->used.ptr[s.index] = true;
            }
        }
    }
    const uint32_t newest = newest_ptx(w);
    if (newest != CS_NONE && cs_reach_open(reach, path)) {
        w->used.ptr[newest] = true;
    }
}

static bool is_code(const struct cs_image *image) {
    return !image->unknown && (image->kind == CS_FATBIN_ELF || image->kind == CS_FATBIN_PTX);
}

static void sort_images(struct work *w, const struct cs_cover_unit *u, bool routed) {
    static const struct cs_target nobody;
    for (uint32_t i = 0; i < u->image_count; i++) {
        const uint32_t index = u->first_image + i;
        const struct cs_image *image = &w->c->inv->images.ptr[index];
        if (w->shadowed.ptr[i]) {
            add(w->c, &w->heaps.shadowed, index, winner_over(w, i));
            cut(w->c, CS_CUT_SHADOWED, index);
        } else if (routed && is_code(image) && !w->used.ptr[i]) {
            add(w->c, &w->heaps.unreachable, index, nobody);
            cut(w->c, CS_CUT_UNREACHABLE, index);
        }
        if (is_code(image) && image->codec == CS_CODEC_NONE && image->container != CS_NONE) {
            add(w->c, &w->heaps.raw, index, nobody);
            cut(w->c, CS_CUT_RAW, index);
        }
        if (image->part != CS_NONE) {
            add(w->c, &w->heaps.joined, index, nobody);
        }
    }
    const struct cs_image *first = &w->c->inv->images.ptr[u->first_image];
    if (u->image_count == 1 && first->kind == CS_FATBIN_ELF) {
        add(w->c, &w->heaps.single, u->first_image, nobody);
    }
}

static void judge_unit(struct work *w, const struct cs_cover_unit *u, struct cs_str path) {
    const bool routed = cs_reach_routed(w->c->options->reach, path);
    w->images.count = w->shadowed.count = w->used.count = 0;
    if (!cs_vec_push_n(&w->images, u->image_count) ||
        !cs_vec_push_n(&w->shadowed, u->image_count) || !cs_vec_push_n(&w->used, u->image_count)) {
        w->c->failed = CS_NOMEM;
        return;
    }
    for (uint32_t i = 0; i < u->image_count; i++) {
        w->images.ptr[i] = cs_cover_image(&w->c->inv->images.ptr[u->first_image + i]);
        w->used.ptr[i] = false;
    }
    cs_select_shadowed(w->images.ptr, u->image_count, w->shadowed.ptr);
    if (routed) {
        find_used(w, path);
    }
    sort_images(w, u, routed);
}

// ---- findings --------------------------------------------------------------------------------

static void report_shadowed(struct cs_check *c, struct cs_str path, const struct heaps *all) {
    for (size_t i = 0; i < all->items.count; i++) {
        const struct heap *h = &all->items.ptr[i];
        char target[CS_TARGET_TEXT_BYTES], winner[CS_TARGET_TEXT_BYTES] = "another image";
        cs_target_text(h->target, target);
        if (h->winner.arch) {
            cs_target_text(h->winner, winner);
        }
        cs_check_add(c, "shadowed-image", path, CS_STR("cuslim slim drops it; no device notices."),
                     "%s is never run in %u container%s, %s: the driver always takes %s",
                     target, h->images, cs_plural(h->images), cs_check_size(c, h->file_bytes),
                     winner);
    }
}

static void report_unreachable(struct cs_check *c, struct cs_str path, const struct heaps *all) {
    for (size_t i = 0; i < all->items.count; i++) {
        const struct heap *h = &all->items.ptr[i];
        char target[CS_TARGET_TEXT_BYTES];
        cs_target_text(h->target, target);
        cs_check_add(c, "unreachable-image", path,
                     CS_STR("cuslim slim with the same routes drops it; no device notices."),
                     "%s in %u container%s, %s: no device that loads this library runs it",
                     target, h->images, cs_plural(h->images), cs_check_size(c, h->file_bytes));
    }
}

static void report_stored(struct cs_check *c, struct cs_str path, const struct library_heaps *h) {
    uint64_t images;
    const uint64_t raw = heaps_total(&h->raw, &images);
    if (images) {
        cs_check_add_as(c, "uncompressed-image",
                        raw < RAW_BYTES_NOTED ? CS_SEVERITY_NOTE : CS_SEVERITY_WARNING, path,
                        CS_STR("Build with -Xfatbin -compress-all, or cuslim slim --recompress lz4 "
                               "(any driver) or zstd (from 550.54.14 on)."),
                        "%llu image%s, %llu bytes (%s), are stored without compression",
                        (unsigned long long)images, cs_plural(images), (unsigned long long)raw,
                        cs_check_size(c, raw));
    }
    bool all_read = c->options->driver_count > 0;
    for (uint32_t d = 0; d < c->options->driver_count; d++) {
        all_read = all_read && cs_driver_reads_concat(c->options->drivers[d]) == CS_TRI_YES;
    }
    (void)heaps_total(&h->joined, &images);
    if (images && !all_read) {
        char floor[CS_DRIVER_TEXT_BYTES];
        cs_driver_text(cs_concat_driver(), floor);
        cs_check_add(c, "concatenated-image", path,
                     CS_STR("cuslim slim --split-concatenated makes plain entries of the parts."),
                     "%llu image%s lie in concatenated entries, which %s is the first driver known "
                     "to read",
                     (unsigned long long)images, cs_plural(images), floor);
    }
}

// Promises tell intent from accident; without any, one target alone looks like the latter.
static void report_single(struct cs_check *c, uint32_t library, const struct heaps *all) {
    const struct cs_cover_library *lib = &c->coverage.libraries.ptr[library];
    uint64_t images;
    (void)heaps_total(all, &images);
    if (images < lib->unit_count || lib->unit_count == 0 || all->items.count != 1 ||
        c->options->asked || c->options->declared || c->options->source_count ||
        cs_reach_routed(c->options->reach, lib->path)) {
        return;
    }
    char target[CS_TARGET_TEXT_BYTES];
    cs_target_text(all->items.ptr[0].target, target);
    cs_check_add(c, "single-target-no-ptx", lib->path,
                 CS_STR("Name the devices that the package promises (--device), or build with more "
                        "targets or +PTX."),
                 "every container holds %s alone, and no PTX", target);
}

static void report(struct work *w, uint32_t library) {
    const struct cs_str path = w->c->coverage.libraries.ptr[library].path;
    report_shadowed(w->c, path, &w->heaps.shadowed);
    report_unreachable(w->c, path, &w->heaps.unreachable);
    report_stored(w->c, path, &w->heaps);
    report_single(w->c, library, &w->heaps.single);
}

static void clear(struct library_heaps *h) {
    h->shadowed.items.count = h->unreachable.items.count = h->raw.items.count = 0;
    h->joined.items.count = h->single.items.count = 0;
}

void cs_check_storage(struct cs_check *c) {
    struct work w = {.c = c};
    for (uint32_t l = 0; l < c->coverage.libraries.count; l++) {
        const struct cs_cover_library *lib = &c->coverage.libraries.ptr[l];
        clear(&w.heaps);
        for (uint32_t i = 0; c->failed == CS_OK && i < lib->unit_count; i++) {
            judge_unit(&w, &c->coverage.units.ptr[lib->first_unit + i], lib->path);
        }
        report(&w, l);
    }
    cs_vec_fini(&w.images);
    cs_vec_fini(&w.shadowed);
    cs_vec_fini(&w.used);
    cs_vec_fini(&w.heaps.shadowed.items);
    cs_vec_fini(&w.heaps.unreachable.items);
    cs_vec_fini(&w.heaps.raw.items);
    cs_vec_fini(&w.heaps.joined.items);
    cs_vec_fini(&w.heaps.single.items);
}
