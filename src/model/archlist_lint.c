// Judging an arch list: what is said twice, taken back, brought back, or never run.
#include <stdio.h>

#include "base/mem.h"
#include "model/archlist_impl.h"

// What is known of one (image, compiled-from) cell: 1 + index of the entry that asked first.
struct cell {
    uint32_t sass, ptx, lto;
};

struct lint {
    struct cs_archlist *list;
    const struct cs_archlist *declared;
    struct cell *cells;                    // [real row][virtual row]
    uint32_t made_from[CS_ARCH_ROWS_MAX];  // SASS: 1 + entry that asked first, any virtual
    bool first_run[CS_ARCH_ROWS_MAX][2];   // targets of run 0: SASS, PTX
    bool wanted[CS_ARCH_ROWS_MAX][2];      // targets of the declared list
    bool comes_back[CS_ARCH_ROWS_MAX][2];  // already told
};

static void issue(struct lint *l, enum cs_arch_issue_id id, enum cs_arch_severity severity,
                  const struct cs_arch_entry *e, struct cs_target t, const char *what) {
    char name[CS_TARGET_TEXT_BYTES];
    cs_target_text(t, name);
    cs_archlist_issue(l->list, id, severity, e->at, cs_str_from(name), "%s %s", name, what);
}

// Was the earlier entry a different statement about the same target: with PTX and without?
static bool takes_back(const struct cs_archlist *list, const struct cs_arch_entry *a,
                       const struct cs_arch_entry *b) {
    const bool whole_words =
        list->notation == CS_NOTATION_TORCH || list->notation == CS_NOTATION_CMAKE;
    return whole_words && (a->ptx != b->ptx || a->sass != b->sass);
}

static void lint_repeats(struct lint *l, size_t index) {
    const struct cs_arch_entry *e = &l->list->entries.ptr[index];
    const size_t real = (size_t)cs_arch_row_index(e->real);
    const size_t virt = (size_t)cs_arch_row_index(e->virt);
    struct cell *cell = &l->cells[real * CS_ARCH_ROWS_MAX + virt];
    const struct {
        bool asked;
        uint32_t *slot;
        struct cs_target target;
    } parts[3] = {{e->sass, &cell->sass, e->real},
                  {e->ptx, &l->cells[virt * CS_ARCH_ROWS_MAX + virt].ptx, e->virt},
                  {e->lto, &cell->lto, e->real}};
    bool told = false;
    for (size_t k = 0; k < 3; k++) {
        if (!parts[k].asked) {
            continue;
        }
        if (*parts[k].slot == 0) {
            *parts[k].slot = (uint32_t)index + 1;
            continue;
        }
        const struct cs_arch_entry *first = &l->list->entries.ptr[*parts[k].slot - 1];
        if (!told && takes_back(l->list, first, e)) {
            issue(l, CS_ARCH_CONTRADICTORY, CS_ARCH_WARNING, e, parts[k].target,
                  "is asked for with PTX and without");
        } else if (!told) {
            issue(l, CS_ARCH_DUPLICATE, CS_ARCH_WARNING, e, parts[k].target, "is asked for twice");
        }
        told = true;
    }
    if (e->sass && l->made_from[real] && !told) {
        const struct cs_arch_entry *first = &l->list->entries.ptr[l->made_from[real] - 1];
        if (cs_target_cmp(first->virt, e->virt) != 0) {
            issue(l, CS_ARCH_CONTRADICTORY, CS_ARCH_ERROR, e, e->real,
                  "is compiled from two different compute_NN: two images of one name");
        }
    }
    if (e->sass && !l->made_from[real]) {
        l->made_from[real] = (uint32_t)index + 1;
    }
}

static void lint_runs(struct lint *l, const struct cs_arch_entry *e) {
    const size_t rows[2] = {(size_t)cs_arch_row_index(e->real), (size_t)cs_arch_row_index(e->virt)};
    const bool asked[2] = {e->sass, e->ptx};
    for (size_t k = 0; k < 2; k++) {
        if (!asked[k] || l->comes_back[rows[k]][k]) {
            continue;
        }
        const struct cs_target t = k == 0 ? e->real : e->virt;
        if (e->run > 0 && !l->first_run[rows[k]][k]) {
            issue(l, CS_ARCH_READDED, CS_ARCH_WARNING, e, t,
                  "comes with a later group of flags only: two generators on one command line");
            l->comes_back[rows[k]][k] = true;
        } else if (l->declared && l->declared->special == CS_ARCH_LISTED &&
                   !l->wanted[rows[k]][k]) {
            issue(l, CS_ARCH_UNDECLARED, CS_ARCH_WARNING, e, t, "is not in the declared list");
            l->comes_back[rows[k]][k] = true;
        }
    }
}

static void mark(const struct cs_archlist *list, bool (*seen)[2], bool first_run_only) {
    for (size_t i = 0; i < list->entries.count; i++) {
        const struct cs_arch_entry *e = &list->entries.ptr[i];
        if (first_run_only && e->run > 0) {
            continue;
        }
        seen[cs_arch_row_index(e->real)][0] |= e->sass;
        seen[cs_arch_row_index(e->virt)][1] |= e->ptx;
    }
}

// Another image of the same name: said elsewhere, and in other words.
static bool has_twin(const struct cs_archlist_images *images, size_t index) {
    const struct cs_select_image *im = &images->images.ptr[index];
    for (size_t i = 0; i < images->images.count; i++) {
        if (i != index && images->images.ptr[i].kind == im->kind &&
            cs_target_eq(images->images.ptr[i].target, im->target)) {
            return true;
        }
    }
    return false;
}

static void lint_shadowed(struct cs_archlist *list) {
    struct cs_archlist merged;
    struct cs_archlist_images images = {0};
    cs_archlist_init(&merged);
    bool *shadowed = NULL;
    if (cs_archlist_merge(list, &merged, NULL) == CS_OK &&
        cs_archlist_to_images(&merged, 0, &images, NULL) == CS_OK) {
        shadowed = cs_calloc(images.images.count, sizeof *shadowed);
    }
    if (shadowed) {
        cs_select_shadowed(images.images.ptr, (uint32_t)images.images.count, shadowed);
        for (size_t i = 0; i < images.images.count; i++) {
            if (shadowed[i] && !has_twin(&images, i)) {
                char name[CS_TARGET_TEXT_BYTES];
                cs_target_text(images.images.ptr[i].target, name);
                cs_archlist_issue(list, CS_ARCH_SHADOWED, CS_ARCH_WARNING,
                                  merged.entries.ptr[images.entry_of.ptr[i]].at, cs_str_from(name),
                                  "no device ever runs %s beside the other targets", name);
            }
        }
    }
    cs_free(shadowed);
    cs_archlist_images_fini(&images);
    cs_archlist_fini(&merged);
}

void cs_archlist_lint(struct cs_archlist *list, const struct cs_archlist *declared) {
    struct lint l = {.list = list, .declared = declared};
    l.cells = cs_calloc((size_t)CS_ARCH_ROWS_MAX * CS_ARCH_ROWS_MAX, sizeof *l.cells);
    if (!l.cells) {
        return;
    }
    mark(list, l.first_run, true);
    if (declared) {
        mark(declared, l.wanted, false);
    }
    for (size_t i = 0; i < list->entries.count; i++) {
        lint_repeats(&l, i);
        lint_runs(&l, &list->entries.ptr[i]);
    }
    if (list->special != CS_ARCH_LISTED && list->entries.count) {
        cs_archlist_issue(list, CS_ARCH_CONTRADICTORY, CS_ARCH_WARNING, list->entries.ptr[0].at,
                          cs_str_from(cs_arch_special_name(list->special)),
                          "-arch=%s and single targets: both count",
                          cs_arch_special_name(list->special));
    } else if (list->has_arch_flag && list->has_gencode_flag) {
        cs_archlist_issue(list, CS_ARCH_CONTRADICTORY, CS_ARCH_WARNING, 0, CS_STR("-arch"),
                          "-arch and -gencode: nvcc builds for both");
    }
    const int32_t clash = cs_arch_family_clash(list);
    if (clash >= 0) {
        const struct cs_arch_entry *e = &list->entries.ptr[clash];
        char name[CS_TARGET_TEXT_BYTES];
        cs_target_text(e->real, name);
        cs_archlist_issue(list, CS_ARCH_IMPOSSIBLE, CS_ARCH_ERROR, e->at, cs_str_from(name), "%s",
                          CS_ARCH_CLASH_TEXT);
    }
    lint_shadowed(list);
    cs_free(l.cells);
}
