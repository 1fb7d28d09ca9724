// Texts of the grouping keys.
//
// A key depends on one level of the inventory, so its texts are kept in a table indexed by that
// level and made on first use: demangling happens once per distinct name, not once per leaf.

#include "analysis/size_keys.h"

#include "base/limits.h"
#include "base/mem.h"

static const char *const key_names[CS_SIZE_KEY_COUNT] = {
    "member", "library",   "section", "container", "kind",   "arch", "codec",
    "source", "namespace", "group",   "template",  "kernel", "part",
};

const char *cs_size_key_name(enum cs_size_key key) {
    return key < CS_SIZE_KEY_COUNT ? key_names[key] : "unknown";
}

bool cs_size_key_parse(struct cs_str word, enum cs_size_key *out) {
    for (uint32_t i = 0; i < CS_SIZE_KEY_COUNT; i++) {
        if (cs_str_eq(word, cs_str_from(key_names[i]))) {
            *out = (enum cs_size_key)i;
            return true;
        }
    }
    return false;
}

// ---- which level a key depends on ------------------------------------------------------------

static size_t level_size(const struct cs_inventory *inv, enum cs_size_key key) {
    switch (key) {
    case CS_SIZE_MEMBER:
    case CS_SIZE_LIBRARY: return inv->members.count;
    case CS_SIZE_CONTAINER:
    case CS_SIZE_SOURCE: return inv->containers.count;
    case CS_SIZE_KIND:
    case CS_SIZE_ARCH:
    case CS_SIZE_CODEC: return inv->images.count;
    case CS_SIZE_SECTION:
    case CS_SIZE_NAMESPACE:
    case CS_SIZE_GROUP:
    case CS_SIZE_TEMPLATE:
    case CS_SIZE_KERNEL: return inv->names.texts.count;
    case CS_SIZE_PART: return CS_PART_COUNT;
    case CS_SIZE_KEY_COUNT: break;
    }
    return 0;
}

static uint32_t level_index(const struct cs_inventory *inv, enum cs_size_key key,
                            const struct cs_leaf *leaf) {
    switch (key) {
    case CS_SIZE_MEMBER:
    case CS_SIZE_LIBRARY: return leaf->member;
    case CS_SIZE_SECTION: return leaf->section;
    case CS_SIZE_CONTAINER:
    case CS_SIZE_SOURCE: return leaf->container;
    case CS_SIZE_KIND:
    case CS_SIZE_ARCH:
    case CS_SIZE_CODEC: return leaf->image;
    case CS_SIZE_NAMESPACE:
    case CS_SIZE_GROUP:
    case CS_SIZE_TEMPLATE:
    case CS_SIZE_KERNEL:
        return leaf->kernel == CS_NONE ? CS_NONE : inv->kernels.ptr[leaf->kernel].name;
    case CS_SIZE_PART: return leaf->part;
    case CS_SIZE_KEY_COUNT: break;
    }
    return CS_NONE;
}

bool cs_size_keys_init(struct cs_size_keys *k, const struct cs_inventory *inv,
                       const struct cs_size_options *options) {
    *k = (struct cs_size_keys){.inv = inv, .options = options};
    cs_intern_init(&k->texts);
    cs_buf_init(&k->scratch, 4 * CS_MAX_NAME_BYTES);
    for (uint32_t i = 0; i < options->by_count; i++) {
        const enum cs_size_key key = options->by[i];
        k->table[key] = k->table[key]
                            ? k->table[key]
                            : cs_calloc(level_size(inv, key) + 1, sizeof *k->table[key]);
        if (!k->table[key]) {
            return false;
        }
    }
    return true;
}

void cs_size_keys_fini(struct cs_size_keys *k) {
    for (uint32_t i = 0; i < CS_SIZE_KEY_COUNT; i++) {
        cs_free(k->table[i]);
    }
    cs_intern_fini(&k->texts);
    cs_buf_fini(&k->scratch);
}

static const struct cs_name *name_of(const struct cs_size_keys *k, uint32_t name) {
    return &k->options->name_table->by_id[name];
}

struct cs_str cs_size_keys_text(const struct cs_size_keys *k, enum cs_size_key key, uint32_t id) {
    const struct cs_str text = cs_intern_text(&k->texts, id);
    const uint32_t name = key == CS_SIZE_KERNEL && k->options->names != CS_NAMES_MANGLED
                              ? cs_intern_find(&k->inv->names, text)
                              : CS_INTERN_NONE;
    if (name == CS_INTERN_NONE || name >= k->options->name_table->count) {
        return text;
    }
    const struct cs_name *n = name_of(k, name);
    if (n->short_name.len == 0) {
        return text;  // a section's name, not a kernel's
    }
    if (k->options->names == CS_NAMES_FULL) {
        return n->full;
    }
    return k->options->unwrap && n->wrapped ? n->unwrapped : n->short_name;
}

// ---- texts -----------------------------------------------------------------------------------

static struct cs_str from_scratch(struct cs_size_keys *k) { return cs_buf_str(&k->scratch); }

static struct cs_str member_text(const struct cs_size_keys *k, uint32_t member, bool library) {
    const struct cs_member *m = &k->inv->members.ptr[member];
    if (library && m->image_count == 0) {
        return CS_STR("[no device code]");
    }
    return m->path;
}

static struct cs_str container_text(struct cs_size_keys *k, uint32_t container) {
    const struct cs_container *c = &k->inv->containers.ptr[container];
    cs_buf_clear(&k->scratch);
    cs_buf_add_str(&k->scratch, k->inv->members.ptr[c->member].path);
    cs_buf_printf(&k->scratch, "#%u", c->index);
    return from_scratch(k);
}

static struct cs_str source_text(struct cs_size_keys *k, uint32_t container) {
    const struct cs_container *c = &k->inv->containers.ptr[container];
    if (c->source.len) {
        return c->source;
    }
    return container_text(k, container);
}

static struct cs_str kind_text(struct cs_size_keys *k, const struct cs_image *image) {
    const char *name = cs_fatbin_kind_name(image->kind);
    if (name) {
        return cs_str_from(name);
    }
    cs_buf_clear(&k->scratch);
    cs_buf_printf(&k->scratch, "kind 0x%x", image->kind);
    return from_scratch(k);
}

static struct cs_str image_text(struct cs_size_keys *k, enum cs_size_key key, uint32_t index) {
    const struct cs_image *image = &k->inv->images.ptr[index];
    char target[CS_TARGET_TEXT_BYTES];
    if (key == CS_SIZE_KIND) {
        return kind_text(k, image);
    }
    if (key == CS_SIZE_CODEC) {
        return cs_str_from(cs_codec_name(image->codec));
    }
    cs_target_text(image->target, target);
    cs_buf_clear(&k->scratch);
    cs_buf_adds(&k->scratch, target);
    return from_scratch(k);
}

// Kernels keep their mangled name as identity (two may share a short form); see cs_size_keys_text.
static struct cs_str name_text(const struct cs_size_keys *k, enum cs_size_key key, uint32_t name) {
    if (key == CS_SIZE_KERNEL) {
        return cs_intern_text(&k->inv->names, name);
    }
    const struct cs_name *n = name_of(k, name);
    const bool inner = k->options->unwrap && n->wrapped;
    if (key == CS_SIZE_NAMESPACE) {
        return inner ? cs_name_namespace(n->unwrapped) : n->name_space;
    }
    return inner ? n->unwrapped : key == CS_SIZE_GROUP ? n->group : n->short_name;
}

static struct cs_str text_of(struct cs_size_keys *k, enum cs_size_key key, uint32_t index) {
    switch (key) {
    case CS_SIZE_MEMBER: return member_text(k, index, false);
    case CS_SIZE_LIBRARY: return member_text(k, index, true);
    case CS_SIZE_SECTION: return cs_intern_text(&k->inv->names, index);
    case CS_SIZE_CONTAINER: return container_text(k, index);
    case CS_SIZE_SOURCE: return source_text(k, index);
    case CS_SIZE_KIND:
    case CS_SIZE_ARCH:
    case CS_SIZE_CODEC: return image_text(k, key, index);
    case CS_SIZE_NAMESPACE:
    case CS_SIZE_GROUP:
    case CS_SIZE_TEMPLATE:
    case CS_SIZE_KERNEL: return name_text(k, key, index);
    case CS_SIZE_PART: return cs_str_from(cs_part_name((enum cs_part)index));
    case CS_SIZE_KEY_COUNT: break;
    }
    return CS_STR("");
}

// A leaf that has no such level: bytes of the archive, of the host, or of a whole image.
static struct cs_str absent_text(const struct cs_leaf *leaf) {
    if (leaf->member == CS_NONE) {
        return CS_STR("[zip structure]");
    }
    if (leaf->image != CS_NONE || leaf->container != CS_NONE) {
        return leaf->part == CS_PART_ENTRY_HEADER ? CS_STR("[fatbin headers]")
                                                  : CS_STR("[module overhead]");
    }
    return leaf->part == CS_PART_ENTRY_HEADER ? CS_STR("[fatbin wrappers]") : CS_STR("[host]");
}

uint32_t cs_size_key_id(struct cs_size_keys *k, enum cs_size_key key, const struct cs_leaf *leaf) {
    const uint32_t index = level_index(k->inv, key, leaf);
    if (index == CS_NONE) {
        return cs_intern_add(&k->texts, absent_text(leaf));
    }
    uint32_t *slot = &k->table[key][index];
    if (*slot == 0) {
        const uint32_t id = cs_intern_add(&k->texts, text_of(k, key, index));
        *slot = id == CS_INTERN_NONE ? 0 : id + 1;
    }
    return *slot == 0 ? CS_INTERN_NONE : *slot - 1;
}

bool cs_size_keys_match(const struct cs_size_keys *k, uint32_t name, struct cs_str text) {
    return cs_str_find(name_of(k, name)->full, text) != SIZE_MAX;
}
