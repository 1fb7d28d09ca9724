#include "base/intern.h"

#include "base/hash.h"
#include "base/mem.h"

void cs_intern_init(struct cs_intern *t) { *t = (struct cs_intern){0}; }

void cs_intern_fini(struct cs_intern *t) {
    cs_arena_fini(&t->arena);
    cs_vec_fini(&t->texts);
    cs_free(t->slots);
    cs_free(t->hashes);
    *t = (struct cs_intern){0};
}

static uint32_t find_slot(const struct cs_intern *t, struct cs_str s, uint64_t hash) {
    uint32_t at = (uint32_t)hash & (t->slot_count - 1);
    for (;;) {
        const uint32_t id = t->slots[at];
        if (id == 0 || (t->hashes[id - 1] == hash && cs_str_eq(t->texts.ptr[id - 1], s))) {
            return at;
        }
        at = (at + 1) & (t->slot_count - 1);
    }
}

static bool grow(struct cs_intern *t) {
    const uint32_t wanted = t->slot_count ? t->slot_count * 2 : 64;
    uint32_t *slots = wanted ? cs_calloc(wanted, sizeof *slots) : NULL;
    if (!slots) {
        return false;
    }
    for (uint32_t id = 0; id < t->texts.count; id++) {
        uint32_t at = (uint32_t)t->hashes[id] & (wanted - 1);
        while (slots[at]) {
            at = (at + 1) & (wanted - 1);
        }
        slots[at] = id + 1;
    }
    cs_free(t->slots);
    t->slots = slots;
    t->slot_count = wanted;
    return true;
}

static bool push(struct cs_intern *t, struct cs_str s, uint64_t hash) {
    if (t->texts.count == t->hashes_cap) {
        const size_t cap = t->hashes_cap ? t->hashes_cap * 2 : 64;
        uint64_t *h = cs_realloc_array(t->hashes, cap, sizeof *h);
        if (!h) {
            return false;
        }
        t->hashes = h;
        t->hashes_cap = cap;
    }
    const struct cs_str copy = cs_arena_str(&t->arena, s);
    struct cs_str *slot = copy.ptr ? cs_vec_push(&t->texts) : NULL;
    if (!slot) {
        return false;
    }
    *slot = copy;
    t->hashes[t->texts.count - 1] = hash;
    return true;
}

uint32_t cs_intern_add(struct cs_intern *t, struct cs_str s) {
    if (t->texts.count + 1 > (size_t)t->slot_count * 3 / 4 && !grow(t)) {
        return CS_INTERN_NONE;
    }
    const uint64_t hash = cs_hash64(s.ptr, s.len);
    const uint32_t at = find_slot(t, s, hash);
    if (t->slots[at] == 0) {
        if (t->texts.count >= UINT32_MAX - 2 || !push(t, s, hash)) {
            return CS_INTERN_NONE;
        }
        t->slots[at] = (uint32_t)t->texts.count;
    }
    return t->slots[at] - 1;
}

uint32_t cs_intern_find(const struct cs_intern *t, struct cs_str s) {
    if (t->slot_count == 0) {
        return CS_INTERN_NONE;
    }
    const uint32_t at = find_slot(t, s, cs_hash64(s.ptr, s.len));
    return t->slots[at] ? t->slots[at] - 1 : CS_INTERN_NONE;
}

struct cs_str cs_intern_text(const struct cs_intern *t, uint32_t id) {
    return id < t->texts.count ? t->texts.ptr[id] : CS_STR("");
}
