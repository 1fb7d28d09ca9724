// JSON reader: jansson parses; its tree is then copied into flat arrays and given back.
//
// The copy buys what jansson's objects lack: members by index in constant time, no reference
// counts, so that threads may read one document together, and half the memory for as long as it
// lives. Depth is judged before jansson sees the text (its own limit is 2,048 levels), and all that
// it allocates for one document is held below CS_MAX_JSON_MEMORY.
#include "format/json.h"

#include <pthread.h>

#include <jansson.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/mem.h"

struct member;

struct cs_jval {
    json_type type;
    uint64_t count;  // of an array or object
    union {
        int64_t integer;
        struct cs_str text;
        const struct cs_jval *items;
        const struct member *members;
    };
};

struct member {
    struct cs_str key;
    struct cs_jval value;
};

struct cs_jdoc {
    struct cs_arena arena;
    struct cs_jval root;
};

// jansson's allocator is one for the process; the account is kept by thread.
static _Thread_local uint64_t memory_left = UINT64_MAX;

static void *counted_alloc(size_t size) {
    if (size > memory_left) {
        return NULL;
    }
    if (memory_left != UINT64_MAX) {
        memory_left -= size;
    }
    return cs_alloc(size);
}

static void set_allocator(void) { json_set_alloc_funcs(counted_alloc, cs_free); }

// A place in the text, for messages; columns count bytes from 1.
struct place {
    uint64_t off, line, line_start;
};

static enum cs_code fail_at_place(struct place at, struct cs_err *err, enum cs_code code,
                                  const char *what) {
    return cs_fail_at(err, code, at.off, "JSON line %llu, column %llu: %s",
                      (unsigned long long)at.line, (unsigned long long)(at.off - at.line_start + 1),
                      what);
}

static enum cs_code check_depth(struct cs_view text, struct cs_err *err) {
    struct place at = {0, 1, 0};
    uint32_t depth = 0;
    bool in_string = false;
    for (; at.off < text.len; at.off++) {
        const uint8_t c = text.ptr[at.off];
        if (c == '\n') {
            at.line++;
            at.line_start = at.off + 1;
        } else if (in_string) {
            at.off += c == '\\';
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > CS_MAX_JSON_DEPTH) {
                return fail_at_place(at, err, CS_LIMIT, "nested deeper than 64 levels");
            }
        } else if (c == ']' || c == '}') {
            depth -= depth > 0;
        }
    }
    return CS_OK;
}

static enum cs_code parse_failed(const json_error_t *e, struct cs_err *err) {
    enum cs_code code = CS_FORMAT;
    if (json_error_code(e) == json_error_out_of_memory) {
        code = memory_left < CS_MIB ? CS_LIMIT : CS_NOMEM;
    }
    char why[JSON_ERROR_TEXT_LENGTH];  // may quote the input: keep it to one printable line
    size_t n = 0;
    for (; n + 1 < sizeof why && e->text[n]; n++) {
        why[n] = e->text[n] >= 0x20 && e->text[n] < 0x7F ? e->text[n] : '?';
    }
    why[n] = '\0';
    return cs_fail_at(err, code, e->position >= 0 ? (uint64_t)e->position : 0,
                      "JSON line %d, column %d: %s", e->line, e->column, why);
}

static struct cs_str copy_text(struct cs_arena *arena, const char *text, size_t len, bool *ok) {
    const struct cs_str copy = cs_arena_str(arena, (struct cs_str){text, len});
    *ok = *ok && copy.ptr;
    return copy;
}

// Recursion ends at CS_MAX_JSON_DEPTH.
static void copy_value(struct cs_arena *arena, json_t *from, struct cs_jval *to, bool *ok);

static void copy_array(struct cs_arena *arena, json_t *from, struct cs_jval *to, bool *ok) {
    to->count = json_array_size(from);
    struct cs_jval *items = to->count ? cs_arena_alloc(arena, to->count * sizeof *items) : NULL;
    *ok = *ok && (items || to->count == 0);
    to->items = items;
    for (uint64_t i = 0; *ok && i < to->count; i++) {
        copy_value(arena, json_array_get(from, i), &items[i], ok);
    }
}

static void copy_object(struct cs_arena *arena, json_t *from, struct cs_jval *to, bool *ok) {
    to->count = json_object_size(from);
    struct member *members = to->count ? cs_arena_alloc(arena, to->count * sizeof *members) : NULL;
    *ok = *ok && (members || to->count == 0);
    to->members = members;
    void *iter = json_object_iter(from);
    for (uint64_t i = 0; *ok && i < to->count && iter; i++) {
        members[i].key =
            copy_text(arena, json_object_iter_key(iter), json_object_iter_key_len(iter), ok);
        copy_value(arena, json_object_iter_value(iter), &members[i].value, ok);
        iter = json_object_iter_next(from, iter);
    }
}

static void copy_value(struct cs_arena *arena, json_t *from, struct cs_jval *to, bool *ok) {
    to->type = json_typeof(from);
    if (to->type == JSON_ARRAY) {
        copy_array(arena, from, to, ok);
    } else if (to->type == JSON_OBJECT) {
        copy_object(arena, from, to, ok);
    } else if (to->type == JSON_STRING) {
        to->text = copy_text(arena, json_string_value(from), json_string_length(from), ok);
    } else if (to->type == JSON_INTEGER) {
        to->integer = json_integer_value(from);
    }
}

enum cs_code cs_jdoc_parse(struct cs_view text, struct cs_jdoc **out, struct cs_err *err) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, set_allocator);
    *out = NULL;
    if (text.len > CS_MAX_JSON_BYTES) {
        return cs_fail(err, CS_LIMIT, "JSON text of %llu bytes is too long",
                       (unsigned long long)text.len);
    }
    CS_TRY(check_depth(text, err));
    struct cs_jdoc *doc = cs_calloc(1, sizeof *doc);
    if (!doc) {
        return cs_fail(err, CS_NOMEM, "no memory for a JSON document");
    }
    cs_arena_init(&doc->arena);
    memory_left = CS_MAX_JSON_MEMORY;
    json_error_t why = {.position = -1};
    const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL;
    json_t *tree = json_loadb(text.len ? (const char *)text.ptr : "", text.len, flags, &why);
    enum cs_code code = CS_OK;
    if (tree) {
        bool ok = true;
        copy_value(&doc->arena, tree, &doc->root, &ok);
        json_decref(tree);
        code = ok ? CS_OK : cs_fail(err, CS_NOMEM, "no memory for a JSON document");
    } else {
        code = parse_failed(&why, err);
    }
    memory_left = UINT64_MAX;
    if (code == CS_OK) {
        *out = doc;
    } else {
        cs_jdoc_free(doc);
    }
    return code;
}

void cs_jdoc_free(struct cs_jdoc *d) {
    if (d) {
        cs_arena_fini(&d->arena);
        cs_free(d);
    }
}

const struct cs_jval *cs_jdoc_root(const struct cs_jdoc *d) { return &d->root; }

const struct cs_jval *cs_jget(const struct cs_jval *object, const char *key) {
    if (object && object->type == JSON_OBJECT) {
        const struct cs_str want = cs_str_from(key);
        for (uint64_t i = 0; i < object->count; i++) {  // the reports' objects have few members
            if (cs_str_eq(object->members[i].key, want)) {
                return &object->members[i].value;
            }
        }
    }
    return NULL;
}

uint64_t cs_jcount(const struct cs_jval *array_or_object) {
    return array_or_object ? array_or_object->count : 0;
}

const struct cs_jval *cs_jat(const struct cs_jval *array, uint64_t index) {
    const bool has = array && array->type == JSON_ARRAY && index < array->count;
    return has ? &array->items[index] : NULL;
}

bool cs_jmember(const struct cs_jval *object, uint64_t index, struct cs_str *key,
                const struct cs_jval **value) {
    if (!object || object->type != JSON_OBJECT || index >= object->count) {
        *key = CS_STR("");
        *value = NULL;
        return false;
    }
    *key = object->members[index].key;
    *value = &object->members[index].value;
    return true;
}

bool cs_jis_null(const struct cs_jval *v) { return v && v->type == JSON_NULL; }

bool cs_jbool(const struct cs_jval *v, bool *out) {
    *out = v && v->type == JSON_TRUE;
    return v && (v->type == JSON_TRUE || v->type == JSON_FALSE);
}

bool cs_ju64(const struct cs_jval *v, uint64_t *out) {
    const bool ok = v && v->type == JSON_INTEGER && v->integer >= 0;
    *out = ok ? (uint64_t)v->integer : 0;
    return ok;
}

struct cs_str cs_jstr(const struct cs_jval *v) {
    return v && v->type == JSON_STRING ? v->text : CS_STR("");
}
