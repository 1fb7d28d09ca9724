// Arch lists: the list itself, and what can be done with one whatever its notation.
#include "model/archlist.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/archlist_impl.h"

const char *cs_notation_name(enum cs_notation notation) {
    switch (notation) {
        case CS_NOTATION_AUTO: return "auto";
        case CS_NOTATION_TORCH: return "torch";
        case CS_NOTATION_CMAKE: return "cmake";
        case CS_NOTATION_NVCC: return "nvcc";
        case CS_NOTATION_FLASHINFER: return "flashinfer";
        case CS_NOTATION_TVM_FFI: return "tvm-ffi";
        case CS_NOTATION_TARGETS: return "targets";
    }
    return "auto";
}

bool cs_notation_parse(struct cs_str name, enum cs_notation *out) {
    for (int i = CS_NOTATION_AUTO; i <= CS_NOTATION_TARGETS; i++) {
        if (cs_str_eq(name, cs_str_from(cs_notation_name((enum cs_notation)i)))) {
            *out = (enum cs_notation)i;
            return true;
        }
    }
    return false;
}

const char *cs_arch_special_name(enum cs_arch_special special) {
    switch (special) {
        case CS_ARCH_LISTED: return "";
        case CS_ARCH_ALL: return "all";
        case CS_ARCH_ALL_MAJOR: return "all-major";
        case CS_ARCH_NATIVE: return "native";
        case CS_ARCH_OFF: return "OFF";
    }
    return "";
}

const char *cs_arch_issue_slug(enum cs_arch_issue_id id) {
    switch (id) {
        case CS_ARCH_BAD_TOKEN: return "bad-token";
        case CS_ARCH_EMPTY_ITEM: return "empty-item";
        case CS_ARCH_IMPOSSIBLE: return "impossible-target";
        case CS_ARCH_NOT_IN_TOOLKIT: return "not-in-toolkit";
        case CS_ARCH_CONTRADICTORY: return "contradictory-target";
        case CS_ARCH_DUPLICATE: return "duplicate-target";
        case CS_ARCH_READDED: return "re-added-target";
        case CS_ARCH_UNDECLARED: return "undeclared-target";
        case CS_ARCH_SHADOWED: return "shadowed-image";
        case CS_ARCH_RENAMED: return "renamed-target";
        case CS_ARCH_CHANGED: return "changed-target";
        case CS_ARCH_NOT_READ_BY: return "not-read-by-tool";
        case CS_ARCH_UNREAD: return "unread-options-file";
    }
    return "bad-token";
}

const char *cs_arch_severity_name(enum cs_arch_severity severity) {
    switch (severity) {
        case CS_ARCH_NOTE: return "note";
        case CS_ARCH_WARNING: return "warning";
        case CS_ARCH_ERROR: return "error";
    }
    return "note";
}

void cs_archlist_init(struct cs_archlist *list) {
    *list = (struct cs_archlist){0};
    cs_arena_init(&list->arena);
}

void cs_archlist_fini(struct cs_archlist *list) {
    cs_vec_fini(&list->entries);
    cs_vec_fini(&list->issues);
    cs_arena_fini(&list->arena);
}

bool cs_archlist_add(struct cs_archlist *list, struct cs_arch_entry entry) {
    struct cs_arch_entry *e = cs_vec_push(&list->entries);
    if (!e) {
        return false;
    }
    *e = entry;
    return true;
}

void cs_archlist_issue(struct cs_archlist *list, enum cs_arch_issue_id id,
                       enum cs_arch_severity severity, uint32_t at, struct cs_str token,
                       const char *fmt, ...) {
    struct cs_arch_issue *issue =
        list->issues.count < CS_ARCH_ISSUES_MAX ? cs_vec_push(&list->issues) : NULL;
    if (!issue) {
        list->more_issues++;
        return;
    }
    char text[CS_ERR_TEXT];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    issue->id = id;
    issue->severity = severity;
    issue->at = at;
    token.len = token.len < 60 ? token.len : 60;
    issue->token = cs_arena_str(&list->arena, token);
    issue->text = cs_arena_str(&list->arena, cs_str_from(text));
    if (!issue->token.ptr || !issue->text.ptr) {
        issue->token = issue->text = (struct cs_str){"", 0};
    }
}

int32_t cs_arch_row_index(struct cs_target t) {
    uint32_t count;
    const struct cs_target_row *rows = cs_target_table(&count);
    const struct cs_target_row *row = cs_target_find(t.arch, t.suffix);
    CS_ASSERT(count <= CS_ARCH_ROWS_MAX);
    return row ? (int32_t)(row - rows) : -1;
}

bool cs_arch_pair_ok(struct cs_target virt, struct cs_target real, uint16_t toolkit_x10) {
    if (real.is_ptx) {
        return real.arch == virt.arch && real.suffix == virt.suffix;
    }
    switch (virt.suffix) {
        case 'a': return real.arch == virt.arch && real.suffix == 'a';
        case 'f':
            return cs_family_has(virt.arch, cs_target_device(real)) == CS_TRI_YES &&
                   (virt.arch == 101) == (real.arch == 101);
        default: break;
    }
    // nvcc 13.0 makes an `f` target of a number of its own major alone, 13.5 of any lower one.
    const bool own_major = real.arch / 10 == virt.arch / 10;
    const bool old = toolkit_x10 != 0 && toolkit_x10 <= 130;
    return real.arch >= virt.arch && (real.suffix != 'f' || own_major || !old);
}

enum cs_code cs_archlist_merge(const struct cs_archlist *src, struct cs_archlist *dst,
                               struct cs_err *err) {
    // place[i][j]: 1 + index in dst of the entry with real row i compiled from virtual row j
    static const size_t cells = (size_t)CS_ARCH_ROWS_MAX * CS_ARCH_ROWS_MAX;
    uint32_t *place = cs_calloc(cells, sizeof *place);
    if (!place) {
        return cs_fail(err, CS_NOMEM, "out of memory");
    }
    dst->notation = src->notation;
    dst->special = src->special;
    for (size_t i = 0; i < src->entries.count; i++) {
        const struct cs_arch_entry *e = &src->entries.ptr[i];
        const int32_t real = cs_arch_row_index(e->real);
        const int32_t virt = cs_arch_row_index(e->virt);
        CS_ASSERT(real >= 0 && virt >= 0);
        uint32_t *at = &place[(size_t)real * CS_ARCH_ROWS_MAX + (size_t)virt];
        if (*at == 0) {
            if (!cs_archlist_add(dst, *e)) {
                cs_free(place);
                return cs_fail(err, CS_NOMEM, "out of memory");
            }
            *at = (uint32_t)dst->entries.count;
            continue;
        }
        struct cs_arch_entry *have = &dst->entries.ptr[*at - 1];
        have->sass |= e->sass;
        have->ptx |= e->ptx;
        have->lto |= e->lto;
    }
    cs_free(place);
    return CS_OK;
}

static int compare_entries(const void *x, const void *y) {
    const struct cs_arch_entry *a = x;
    const struct cs_arch_entry *b = y;
    const int real = cs_target_cmp(a->real, b->real);
    if (real) {
        return real;
    }
    const int virt = cs_target_cmp(a->virt, b->virt);
    if (virt) {
        return virt;
    }
    return (int)b->sass - (int)a->sass;
}

int32_t cs_arch_family_clash(const struct cs_archlist *list) {
    bool seen[CS_ARCH_ROWS_MAX][2] = {{false}};  // from another compute_NN, from a family
    for (size_t i = 0; i < list->entries.count; i++) {
        const struct cs_arch_entry *e = &list->entries.ptr[i];
        // sm_N and sm_Nf count as one here, sm_Na as another.
        const struct cs_target code = {e->real.arch, e->real.suffix == 'a' ? 'a' : '\0', false};
        const bool family = e->virt.suffix == 'f';
        const int32_t row = cs_arch_row_index(code);
        if (!e->sass || row < 0) {
            continue;
        }
        seen[row][family] = true;
        if (seen[row][!family]) {
            return (int32_t)i;
        }
    }
    return -1;
}

void cs_archlist_sort(struct cs_archlist *list) {
    if (list->entries.count > 1) {
        qsort(list->entries.ptr, list->entries.count, sizeof *list->entries.ptr, compare_entries);
    }
}

// The first plain target of a major that the toolkit knows.
static bool first_of_major(uint32_t index, uint16_t toolkit_x10) {
    uint32_t count;
    const struct cs_target_row *rows = cs_target_table(&count);
    for (uint32_t k = 0; k < index; k++) {
        if (rows[k].suffix == 0 && rows[k].arch / 10 == rows[index].arch / 10 &&
            cs_target_in_toolkit(rows[k].arch, 0, toolkit_x10)) {
            return false;
        }
    }
    return true;
}

// `all` and `all-major` as nvcc --dryrun of 13.0 and 13.5 shows them: every plain target, or the
// first of each major; PTX of the first target of the newest major in both.
static enum cs_code expand_all(struct cs_archlist *list, uint16_t toolkit_x10, struct cs_err *err) {
    if (!cs_toolkit_find(toolkit_x10)) {
        return cs_fail(err, CS_USAGE,
                       "\"%s\" depends on the CUDA toolkit: name one (11.0 to %u.%u)",
                       cs_arch_special_name(list->special), cs_toolkit_newest() / 10u,
                       cs_toolkit_newest() % 10u);
    }
    uint32_t count;
    const struct cs_target_row *rows = cs_target_table(&count);
    size_t newest_major = SIZE_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i].suffix || !cs_target_in_toolkit(rows[i].arch, 0, toolkit_x10)) {
            continue;
        }
        const bool first = first_of_major(i, toolkit_x10);
        if (!first && list->special == CS_ARCH_ALL_MAJOR) {
            continue;
        }
        const struct cs_target t = {rows[i].arch, 0, false};
        if (!cs_archlist_add(list, cs_arch_entry_of(t, true, false))) {
            return cs_fail(err, CS_NOMEM, "out of memory");
        }
        newest_major = first ? list->entries.count - 1 : newest_major;
    }
    CS_ASSERT(newest_major != SIZE_MAX);
    list->entries.ptr[newest_major].ptx = true;
    return CS_OK;
}

// nvcc and CMake: SASS of the GPUs at hand.  torch: besides, PTX of the last in its order, which
// is that of the texts ("10.0" before "9.0").
static enum cs_code expand_native(struct cs_archlist *list, const struct cs_device *native,
                                  uint32_t count, struct cs_err *err) {
    if (count == 0) {
        return cs_fail(err, CS_USAGE,
                       "\"native\" means the GPUs of the build machine, and none was given");
    }
    size_t last = SIZE_MAX;
    char last_text[CS_TARGET_TEXT_BYTES] = "";
    for (uint32_t i = 0; i < count; i++) {
        char text[CS_TARGET_TEXT_BYTES];
        cs_device_text(native[i], text);
        const struct cs_target t = {(uint16_t)cs_device_number(native[i]), 0, false};
        if (cs_arch_row_index(t) < 0) {
            return cs_fail(err, CS_UNSUPPORTED,
                           "native: no nvcc in the tables builds for device %s", text);
        }
        bool seen = false;
        for (size_t k = 0; k < list->entries.count && !seen; k++) {
            seen = list->entries.ptr[k].real.arch == t.arch && list->entries.ptr[k].sass;
        }
        if (seen) {
            continue;
        }
        if (!cs_archlist_add(list, cs_arch_entry_of(t, true, false))) {
            return cs_fail(err, CS_NOMEM, "out of memory");
        }
        if (last == SIZE_MAX || strcmp(text, last_text) > 0) {
            last = list->entries.count - 1;
            memcpy(last_text, text, sizeof text);
        }
    }
    if (list->notation == CS_NOTATION_TORCH && last != SIZE_MAX) {
        list->entries.ptr[last].ptx = true;
    }
    return CS_OK;
}

enum cs_code cs_archlist_expand(struct cs_archlist *list, uint16_t toolkit_x10,
                                const struct cs_device *native, uint32_t native_count,
                                struct cs_err *err) {
    switch (list->special) {
        case CS_ARCH_LISTED:
        case CS_ARCH_OFF: return CS_OK;
        case CS_ARCH_ALL:
        case CS_ARCH_ALL_MAJOR: CS_TRY(expand_all(list, toolkit_x10, err)); break;
        case CS_ARCH_NATIVE: CS_TRY(expand_native(list, native, native_count, err)); break;
    }
    list->special = CS_ARCH_LISTED;
    return CS_OK;
}

void cs_arch_toolkit_text(struct cs_target t, uint16_t toolkit_x10, char *out, size_t out_size) {
    const struct cs_target_row *row = cs_target_find(t.arch, t.suffix);
    const uint16_t other = cs_target_other_name(t.arch);
    char name[CS_TARGET_TEXT_BYTES];
    if (!row) {
        snprintf(out, out_size, "no nvcc from 11.0 to %u.%u builds it", cs_toolkit_newest() / 10u,
                 cs_toolkit_newest() % 10u);
    } else if (other && cs_target_in_toolkit(other, t.suffix, toolkit_x10)) {
        cs_target_text((struct cs_target){other, t.suffix, t.is_ptx}, name);
        snprintf(out, out_size, "CUDA %u.%u calls this chip %s", toolkit_x10 / 10u,
                 toolkit_x10 % 10u, name);
    } else if (row->first_x10 > toolkit_x10) {
        snprintf(out, out_size, "it needs CUDA %u.%u or newer", row->first_x10 / 10u,
                 row->first_x10 % 10u);
    } else {
        snprintf(out, out_size, "CUDA %u.%u was the last to build it", row->last_x10 / 10u,
                 row->last_x10 % 10u);
    }
}

// Gives one target the name that the toolkit knows.  false: the toolkit cannot build it.
static bool rename_for(struct cs_archlist *list, const struct cs_arch_entry *e, struct cs_target *t,
                       uint16_t toolkit_x10) {
    if (cs_target_in_toolkit(t->arch, t->suffix, toolkit_x10)) {
        return true;
    }
    const uint16_t other = cs_target_other_name(t->arch);
    if (!other || !cs_target_in_toolkit(other, t->suffix, toolkit_x10)) {
        return false;
    }
    char was[CS_TARGET_TEXT_BYTES], is[CS_TARGET_TEXT_BYTES];
    cs_target_text(*t, was);
    t->arch = other;
    cs_target_text(*t, is);
    cs_archlist_issue(list, CS_ARCH_RENAMED, CS_ARCH_NOTE, e->at, cs_str_from(was),
                      "%s is called %s in CUDA %u.%u", was, is, toolkit_x10 / 10u,
                      toolkit_x10 % 10u);
    return true;
}

enum cs_code cs_archlist_for_toolkit(struct cs_archlist *list, uint16_t toolkit_x10,
                                     struct cs_err *err) {
    for (size_t i = 0; i < list->entries.count; i++) {
        struct cs_arch_entry *e = &list->entries.ptr[i];
        const bool same = e->real.arch == e->virt.arch && e->real.suffix == e->virt.suffix;
        struct cs_target *bad = NULL;
        if (!rename_for(list, e, &e->real, toolkit_x10)) {
            bad = &e->real;
        } else if (same) {
            e->virt.arch = e->real.arch;
        } else if (!rename_for(list, e, &e->virt, toolkit_x10)) {
            bad = &e->virt;
        }
        if (bad) {
            char name[CS_TARGET_TEXT_BYTES], why[96];
            cs_target_text(*bad, name);
            cs_arch_toolkit_text(*bad, toolkit_x10, why, sizeof why);
            return cs_fail(err, CS_UNSUPPORTED, "CUDA %u.%u does not build %s: %s",
                           toolkit_x10 / 10u, toolkit_x10 % 10u, name, why);
        }
        if (!cs_arch_pair_ok(e->virt, e->real, toolkit_x10)) {
            char real[CS_TARGET_TEXT_BYTES], virt[CS_TARGET_TEXT_BYTES];
            cs_target_text(e->real, real);
            cs_target_text(e->virt, virt);
            return cs_fail(err, CS_UNSUPPORTED, "CUDA %u.%u does not make %s from %s",
                           toolkit_x10 / 10u, toolkit_x10 % 10u, real, virt);
        }
    }
    return CS_OK;
}

enum cs_code cs_archlist_to_images(const struct cs_archlist *list, uint16_t toolkit_x10,
                                   struct cs_archlist_images *out, struct cs_err *err) {
    const struct cs_toolkit_row *toolkit = cs_toolkit_find(toolkit_x10);
    for (size_t i = 0; i < list->entries.count; i++) {
        const struct cs_arch_entry *e = &list->entries.ptr[i];
        const struct {
            bool wanted;
            uint32_t kind;
            struct cs_target target;
        } images[3] = {{e->ptx, CS_FATBIN_PTX, e->virt},
                       {e->sass, CS_FATBIN_ELF, e->real},
                       {e->lto, CS_FATBIN_LTOIR, e->real}};
        for (size_t k = 0; k < 3; k++) {
            if (!images[k].wanted) {
                continue;
            }
            struct cs_select_image *im = cs_vec_push(&out->images);
            uint32_t *entry_of = im ? cs_vec_push(&out->entry_of) : NULL;
            if (!entry_of) {
                return cs_fail(err, CS_NOMEM, "out of memory");
            }
            im->kind = images[k].kind;
            im->target = images[k].target;
            im->bit24 = images[k].kind == CS_FATBIN_ELF && e->real.arch >= 100;
            im->toolkit_x10 = toolkit_x10;
            im->ptx_isa_x10 = toolkit ? toolkit->ptx_isa_x10 : 0;
            *entry_of = (uint32_t)i;
        }
    }
    return CS_OK;
}

void cs_archlist_images_fini(struct cs_archlist_images *images) {
    cs_vec_fini(&images->images);
    cs_vec_fini(&images->entry_of);
}
