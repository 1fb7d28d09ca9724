// Looks at each file while it is in memory.  Each is judged without a lock; only handing the result
// over takes one.
#include "analysis/check_look.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/check_elf.h"
#include "base/mem.h"
#include "format/ar.h"
#include "model/wrappers.h"

void cs_check_look_init(struct cs_check_look *l, bool hash) {
    *l = (struct cs_check_look){.hash = hash};
    pthread_mutex_init(&l->lock, NULL);
    cs_arena_init(&l->arena);
}

void cs_check_look_fini(struct cs_check_look *l) {
    cs_vec_fini(&l->files);
    cs_vec_fini(&l->facts);
    cs_arena_fini(&l->arena);
    pthread_mutex_destroy(&l->lock);
}

static bool has_device_code(const struct cs_elf *elf) {
    for (uint32_t i = 1; i < elf->shnum; i++) {
        const struct cs_elf_section s = cs_elf_section(elf, i);
        bool relocatable;
        if (cs_wrappers_device_section(cs_elf_section_name(elf, &s), &relocatable)) {
            return true;
        }
    }
    return false;
}

static void look_at_elf(struct cs_view bytes, struct cs_check_facts *facts,
                        struct cs_check_file *file) {
    struct cs_elf elf;
    if (cs_elf_open(bytes, &elf, NULL) != CS_OK || elf.machine == CS_EM_CUDA) {
        return;  // the inventory says what is wrong with it
    }
    file->elf = true;
    file->elf_type = elf.type;
    file->machine = elf.machine;
    file->device_code = has_device_code(&elf);
    if (elf.type == ET_DYN || elf.type == ET_EXEC) {
        cs_check_elf_file(&elf, facts, file);
    } else if (elf.type == ET_REL) {
        cs_check_elf_wrappers(&elf, facts);
        cs_check_elf_sections(&elf, &file->sections);
    }
}

static void look_at_archive(struct cs_view bytes, struct cs_check_facts *facts,
                            struct cs_check_file *file) {
    struct cs_ar ar;
    if (cs_ar_open(bytes, &ar, NULL) != CS_OK) {
        return;
    }
    for (size_t i = 0; i < ar.members.count; i++) {
        const struct cs_ar_member *m = &ar.members.ptr[i];
        struct cs_elf elf;
        struct cs_view member;
        if (!m->special && cs_view_sub(bytes, m->data_off, m->bytes, &member) &&
            cs_elf_open(member, &elf, NULL) == CS_OK && elf.type == ET_REL &&
            elf.machine != CS_EM_CUDA) {
            file->machine = elf.machine;
            cs_check_elf_wrappers(&elf, facts);
            cs_check_elf_sections(&elf, &file->sections);
        }
    }
    cs_ar_close(&ar);
}

// Names of sections point into the file, which does not stay.
static void keep(struct cs_check_facts *facts, struct cs_str *s) {
    *s = cs_arena_str(&facts->arena, *s);
    facts->failed = facts->failed || !s->ptr;
}

static void hand_over(struct cs_check_look *l, struct cs_check_facts *facts,
                      struct cs_check_file *file) {
    pthread_mutex_lock(&l->lock);
    file->first_fact = (uint32_t)l->facts.count;
    file->fact_count = (uint32_t)facts->items.count;
    struct cs_check_file *slot = facts->failed ? NULL : cs_vec_push(&l->files);
    struct cs_check_fact *room =
        slot && facts->items.count ? cs_vec_push_n(&l->facts, facts->items.count) : NULL;
    if (!slot || (facts->items.count && !room)) {
        l->failed = CS_NOMEM;
    } else {
        *slot = *file;
        if (room) {
            memcpy(room, facts->items.ptr, facts->items.count * sizeof *room);
        }
    }
    cs_arena_absorb(&l->arena, &facts->arena);
    pthread_mutex_unlock(&l->lock);
}

static void look_at(void *ctx, uint32_t index, struct cs_str path, struct cs_view bytes) {
    struct cs_check_look *l = ctx;
    struct cs_check_facts facts = {.failed = false};
    cs_arena_init(&facts.arena);
    struct cs_check_file file = {.index = index,
                                 .path = cs_arena_str(&facts.arena, path),
                                 .bytes = bytes.len,
                                 .soname = CS_STR("")};
    facts.failed = !file.path.ptr;
    if (l->hash) {
        cs_sha256(bytes.ptr, (size_t)bytes.len, file.sha256);
        file.hashed = true;
    }
    if (cs_elf_probe(bytes)) {
        look_at_elf(bytes, &facts, &file);
    } else if (cs_ar_probe(bytes)) {
        look_at_archive(bytes, &facts, &file);
    }
    keep(&facts, &file.span.from);
    keep(&facts, &file.span.to);
    keep(&facts, &file.span.between);
    hand_over(l, &facts, &file);
    cs_vec_fini(&facts.items);
}

struct cs_inventory_look cs_check_look_callback(struct cs_check_look *l) {
    return (struct cs_inventory_look){look_at, l};
}

static int file_cmp(const void *a, const void *b) {
    const struct cs_check_file *x = a, *y = b;
    return x->index < y->index ? -1 : x->index > y->index;
}

enum cs_code cs_check_look_done(struct cs_check_look *l, struct cs_err *err) {
    if (l->files.count > 1) {
        qsort(l->files.ptr, l->files.count, sizeof *l->files.ptr, file_cmp);
    }
    return l->failed == CS_OK ? CS_OK : cs_fail(err, l->failed, "no memory to judge the files");
}
