// Reading the configuration: a table of keys and one reader for each, values kept for display.
#include "model/config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/glob.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/size.h"
#include "base/suggest.h"
#include "format/toml.h"
#include "model/archlist.h"

struct reader {
    struct cs_config *c;
    struct cs_str name;  // of the file, for messages
    struct cs_err *err;
    bool located;  // the error says file and line already
};

typedef enum cs_code key_fn(struct reader *r, const struct cs_toml_value *value);

struct key {
    const char *name;
    key_fn *read;
};

const char *cs_ship_name(enum cs_ship ship) {
    switch (ship) {
    case CS_SHIP_UNSET: return "";
    case CS_SHIP_SASS: return "sass";
    case CS_SHIP_PTX: return "ptx";
    case CS_SHIP_JIT: return "jit";
    case CS_SHIP_NONE: return "none";
    }
    return "";
}

const char *cs_compress_name(enum cs_compress compress) {
    switch (compress) {
    case CS_COMPRESS_UNSET: return "";
    case CS_COMPRESS_SIZE: return "size";
    case CS_COMPRESS_BALANCE: return "balance";
    case CS_COMPRESS_SPEED: return "speed";
    case CS_COMPRESS_NONE: return "none";
    }
    return "";
}

void cs_config_init(struct cs_config *c) {
    *c = (struct cs_config){0};
    cs_arena_init(&c->arena);
}

void cs_config_fini(struct cs_config *c) {
    cs_vec_fini(&c->devices);
    cs_vec_fini(&c->sources);
    cs_vec_fini(&c->values);
    cs_vec_fini(&c->warnings);
    cs_reach_fini(&c->reach);
    cs_arena_fini(&c->arena);
}

// ---- errors and warnings ---------------------------------------------------------------------

static enum cs_code no_memory(const struct reader *r) {
    return cs_fail(r->err, CS_NOMEM, "no memory for the configuration");
}

static int shown(struct cs_str s) { return (int)(s.len < 100 ? s.len : 100); }

// Puts file and line in front of what failed; whatever it was, the configuration is wrong.
static enum cs_code at_line(struct reader *r, enum cs_code code, uint32_t line) {
    if (code == CS_OK || code == CS_NOMEM || r->located) {
        return code;
    }
    r->located = true;
    if (r->err) {
        r->err->code = CS_USAGE;
    }
    return cs_wrap(r->err, CS_USAGE, "%.*s:%u", (int)r->name.len, r->name.ptr, line);
}

static enum cs_code wrong_type(const struct reader *r, const struct cs_toml_value *v,
                               const char *wanted) {
    return cs_fail(r->err, CS_USAGE, "%s instead of %s", cs_toml_type_name(v->type), wanted);
}

static enum cs_code warn_unknown(struct reader *r, const struct cs_toml_key *key,
                                 const char *nearest) {
    struct cs_str *w = cs_vec_push(&r->c->warnings);
    if (w) {
        *w = cs_arena_printf(&r->c->arena, "%.*s:%u: unknown key '%.*s'%s%s%s", (int)r->name.len,
                             r->name.ptr, key->line, shown(key->name), key->name.ptr,
                             nearest ? "; did you mean '" : "", nearest ? nearest : "",
                             nearest ? "'?" : "");
    }
    return w && w->ptr ? CS_OK : no_memory(r);
}

// ---- values ----------------------------------------------------------------------------------

// A copy in the arena of a value that must be a text, and not an empty one.
static enum cs_code read_text(struct reader *r, const struct cs_toml_value *v, struct cs_str *out) {
    if (v->type != CS_TOML_STRING) {
        return wrong_type(r, v, "a text");
    }
    if (v->text.len == 0) {
        return cs_fail(r->err, CS_USAGE, "the text is empty");
    }
    *out = cs_arena_str(&r->c->arena, v->text);
    return out->ptr ? CS_OK : no_memory(r);
}

// One of `words` (ends with NULL); *out receives its number from 1.
static enum cs_code read_word(struct reader *r, const struct cs_toml_value *v,
                              const char *const *words, unsigned *out) {
    if (v->type != CS_TOML_STRING) {
        return wrong_type(r, v, "a text");
    }
    struct cs_suggest s = {.word = v->text};
    for (unsigned i = 0; words[i]; i++) {
        if (cs_str_eq(v->text, cs_str_from(words[i]))) {
            *out = i + 1;
            return CS_OK;
        }
        cs_suggest_offer(&s, words[i]);
    }
    const char *best = cs_suggest_best(&s);
    return cs_fail(r->err, CS_USAGE, "unknown word '%.*s'%s%s%s", shown(v->text), v->text.ptr,
                   best ? "; did you mean '" : "", best ? best : "", best ? "'?" : "");
}

// Words of a text, separated by blanks, commas or semicolons; an empty one at the end.
static struct cs_str next_word(struct cs_str *rest) {
    static const char separators[] = " \t\n,;";
    while (rest->len && strchr(separators, rest->ptr[0])) {
        rest->ptr++;
        rest->len--;
    }
    struct cs_str word = {rest->ptr, 0};
    while (word.len < rest->len && !strchr(separators, rest->ptr[word.len])) {
        word.len++;
    }
    rest->ptr += word.len;
    rest->len -= word.len;
    return word;
}

static enum cs_code add_devices(struct reader *r, struct cs_str text) {
    for (struct cs_str word = next_word(&text); word.len; word = next_word(&text)) {
        struct cs_device *d = cs_vec_push(&r->c->devices);
        if (!d) {
            return no_memory(r);
        }
        if (!cs_device_parse(word, d)) {
            return cs_fail(r->err, CS_USAGE, "'%.*s' is no device; write 9.0", shown(word),
                           word.ptr);
        }
    }
    return CS_OK;
}

static enum cs_code read_devices(struct reader *r, const struct cs_toml_value *v) {
    r->c->devices_line = v->line;
    if (v->type == CS_TOML_STRING) {
        return add_devices(r, v->text);
    }
    if (v->type != CS_TOML_ARRAY) {
        return wrong_type(r, v, "a text");
    }
    for (uint32_t i = 0; i < v->count; i++) {
        if (v->items[i].type != CS_TOML_STRING) {
            return wrong_type(r, &v->items[i], "a text");
        }
        CS_TRY(add_devices(r, v->items[i].text));
    }
    return CS_OK;
}

static enum cs_code read_driver(struct reader *r, const struct cs_toml_value *v) {
    r->c->driver_line = v->line;
    if (v->type != CS_TOML_STRING) {
        return wrong_type(r, v, "a text such as \"550.54.14\"");
    }
    return cs_driver_parse(v->text, &r->c->driver, r->err);
}

static enum cs_code read_compress(struct reader *r, const struct cs_toml_value *v) {
    static const char *const words[] = {"size", "balance", "speed", "none", NULL};
    unsigned n = 0;
    CS_TRY(read_word(r, v, words, &n));
    r->c->compress = (enum cs_compress)n;
    return CS_OK;
}

static enum cs_code read_record(struct reader *r, const struct cs_toml_value *v) {
    return read_text(r, v, &r->c->record);
}

// ---- tables ----------------------------------------------------------------------------------

// Hands each member of a table to the reader of its key.
static enum cs_code read_table(struct reader *r, const struct cs_toml_value *table,
                               const struct key *keys) {
    if (table->type != CS_TOML_TABLE) {
        return at_line(r, wrong_type(r, table, "a table"), table->line);
    }
    for (uint32_t i = 0; i < table->count; i++) {
        struct cs_suggest s = {.word = table->keys[i].name};
        const struct key *key = keys;
        for (; key->name && !cs_str_eq(s.word, cs_str_from(key->name)); key++) {
            cs_suggest_offer(&s, key->name);
        }
        if (!key->name) {
            CS_TRY(warn_unknown(r, &table->keys[i], cs_suggest_best(&s)));
            continue;
        }
        enum cs_code code = key->read(r, &table->items[i]);
        if (code != CS_OK && !r->located) {
            code = cs_wrap(r->err, code, "%s", key->name);
        }
        CS_TRY(at_line(r, code, table->items[i].line));
    }
    return CS_OK;
}

static struct cs_config_source *last_source(const struct reader *r) {
    return &r->c->sources.ptr[r->c->sources.count - 1];
}

static enum cs_code source_files(struct reader *r, const struct cs_toml_value *v) {
    const bool one = v->type == CS_TOML_STRING;
    if (!one && v->type != CS_TOML_ARRAY) {
        return wrong_type(r, v, "a list of texts");
    }
    const uint32_t count = one ? 1 : v->count;
    struct cs_str *files = cs_arena_alloc(&r->c->arena, (count + 1) * sizeof *files);
    if (!files) {
        return no_memory(r);
    }
    for (uint32_t i = 0; i < count; i++) {
        CS_TRY(read_text(r, one ? v : &v->items[i], &files[i]));
    }
    last_source(r)->files = files;
    last_source(r)->file_count = count;
    return CS_OK;
}

static enum cs_code source_arch(struct reader *r, const struct cs_toml_value *v) {
    CS_TRY(read_text(r, v, &last_source(r)->arch));
    struct cs_archlist list;
    cs_archlist_init(&list);
    const struct cs_archlist_options options = {.notation = CS_NOTATION_TORCH};
    const enum cs_code code = cs_archlist_parse(&list, v->text, &options, r->err);
    cs_archlist_fini(&list);
    return code;
}

static enum cs_code source_ship(struct reader *r, const struct cs_toml_value *v) {
    static const char *const words[] = {"sass", "ptx", "jit", "none", NULL};
    unsigned n = 0;
    CS_TRY(read_word(r, v, words, &n));
    last_source(r)->ship = (enum cs_ship)n;
    return CS_OK;
}

static const struct key source_keys[] = {
    {"files", source_files}, {"arch", source_arch}, {"ship", source_ship}, {NULL, NULL}};

// Calls fn for each table of an array of tables (or for a single table).
static enum cs_code each_table(struct reader *r, const struct cs_toml_value *v, key_fn *fn) {
    if (v->type == CS_TOML_TABLE) {
        return fn(r, v);
    }
    if (v->type != CS_TOML_ARRAY) {
        return wrong_type(r, v, "an array of tables");
    }
    for (uint32_t i = 0; i < v->count; i++) {
        CS_TRY(fn(r, &v->items[i]));
    }
    return CS_OK;
}

static enum cs_code one_source(struct reader *r, const struct cs_toml_value *v) {
    struct cs_config_source *s = cs_vec_push(&r->c->sources);
    if (!s) {
        return no_memory(r);
    }
    s->line = v->line;
    s->origin = cs_arena_printf(&r->c->arena, "%.*s:%u", (int)r->name.len, r->name.ptr, v->line);
    if (!s->origin.ptr) {
        return no_memory(r);
    }
    CS_TRY(read_table(r, v, source_keys));
    s = last_source(r);
    if (s->file_count == 0) {
        return at_line(r, cs_fail(r->err, CS_USAGE, "a source without files"), v->line);
    }
    return CS_OK;
}

static enum cs_code read_sources(struct reader *r, const struct cs_toml_value *v) {
    return each_table(r, v, one_source);
}

static enum cs_code ignore(struct reader *r, const struct cs_toml_value *v) {
    (void)r;
    (void)v;
    return CS_OK;
}

// Both keys are needed at once, so the table is read by hand; read_table only finds the unknown.
static enum cs_code one_route(struct reader *r, const struct cs_toml_value *v) {
    static const struct key keys[] = {{"library", ignore}, {"devices", ignore}, {NULL, NULL}};
    CS_TRY(read_table(r, v, keys));
    const struct cs_toml_value *library = cs_toml_get(v, "library");
    const struct cs_toml_value *devices = cs_toml_get(v, "devices");
    if (!library || !devices) {
        return at_line(r, cs_fail(r->err, CS_USAGE, "a route needs library and devices"), v->line);
    }
    struct cs_str glob, text;
    CS_TRY(at_line(r, read_text(r, library, &glob), library->line));
    CS_TRY(at_line(r, read_text(r, devices, &text), devices->line));
    const struct cs_str origin = cs_arena_printf(&r->c->arena, "%.*s:%u", (int)r->name.len,
                                                 r->name.ptr, v->line);
    if (!origin.ptr) {
        return no_memory(r);
    }
    r->located = true;  // cs_reach_add says `origin` itself
    CS_TRY(cs_reach_add(&r->c->reach, glob, text, origin, r->err));
    r->located = false;
    return CS_OK;
}

static enum cs_code read_routes(struct reader *r, const struct cs_toml_value *v) {
    return each_table(r, v, one_route);
}

// ---- budgets ---------------------------------------------------------------------------------

bool cs_budget_parse(struct cs_str text, uint64_t *bytes) {
    // PyPI's default for one file, GitHub's for a release asset, nuget.org's for a package.
    static const struct {
        const char *name;
        uint64_t bytes;
    } limits[] = {{"pypi", 100 * CS_MIB}, {"github", 2 * CS_GIB}, {"nuget", 250000000}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (cs_str_eq(text, cs_str_from(limits[i].name))) {
            *bytes = limits[i].bytes;
            return true;
        }
    }
    return cs_size_parse(text, bytes);
}

// "300 MiB", "pypi", or a plain number of bytes.
static enum cs_code read_limit(struct reader *r, const struct cs_toml_value *v, uint64_t *bytes) {
    if (v->type == CS_TOML_INTEGER && v->integer > 0) {
        *bytes = (uint64_t)v->integer;
        return CS_OK;
    }
    if (v->type != CS_TOML_STRING) {
        return wrong_type(r, v, "a text such as \"300 MiB\"");
    }
    if (!cs_budget_parse(v->text, bytes) || *bytes == 0) {
        return cs_fail(r->err, CS_USAGE, "'%.*s' is no limit; write \"300 MiB\" or \"pypi\"",
                       shown(v->text), v->text.ptr);
    }
    return CS_OK;
}

static enum cs_code budget_wheel(struct reader *r, const struct cs_toml_value *v) {
    r->c->budget.wheel_line = v->line;
    return read_limit(r, v, &r->c->budget.wheel_bytes);
}

static enum cs_code budget_installed(struct reader *r, const struct cs_toml_value *v) {
    r->c->budget.installed_line = v->line;
    return read_limit(r, v, &r->c->budget.installed_bytes);
}

// "2 %", "0.5%": read as a size of 10,000ths with two decimals, which is what it is.
static bool parse_percent(struct cs_str text, uint32_t *permyriad) {
    if (text.len < 2 || text.ptr[text.len - 1] != '%') {
        return false;
    }
    text.len--;
    while (text.len && text.ptr[text.len - 1] == ' ') {
        text.len--;
    }
    uint64_t value = 0, decimals = 0;
    bool point = false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '.' && !point && i > 0) {
            point = true;
        } else if (text.ptr[i] >= '0' && text.ptr[i] <= '9' && decimals < 2 && value < 1000000) {
            value = value * 10 + (uint64_t)(text.ptr[i] - '0');
            decimals += point;
        } else {
            return false;
        }
    }
    for (; decimals < 2; decimals++) {
        value *= 10;
    }
    *permyriad = (uint32_t)value;
    return text.len > 0;
}

static enum cs_code budget_growth(struct reader *r, const struct cs_toml_value *v) {
    r->c->budget.growth_line = v->line;
    if (v->type == CS_TOML_STRING && parse_percent(v->text, &r->c->budget.growth_permyriad)) {
        return CS_OK;
    }
    if (v->type == CS_TOML_STRING && memchr(v->text.ptr, '%', v->text.len)) {
        return cs_fail(r->err, CS_USAGE, "'%.*s' is no share; write \"2 %%\"", shown(v->text),
                       v->text.ptr);
    }
    return read_limit(r, v, &r->c->budget.growth_bytes);
}

static enum cs_code read_budget(struct reader *r, const struct cs_toml_value *v) {
    static const struct key keys[] = {{"wheel", budget_wheel},
                                      {"installed", budget_installed},
                                      {"growth", budget_growth},
                                      {NULL, NULL}};
    return read_table(r, v, keys);
}

static const struct key root_keys[] = {
    {"devices", read_devices}, {"driver", read_driver},  {"compress", read_compress},
    {"record", read_record},   {"source", read_sources}, {"route", read_routes},
    {"budget", read_budget},   {NULL, NULL}};

// ---- values for display ----------------------------------------------------------------------

static void put_value(struct cs_buf *out, const struct cs_toml_value *v) {
    switch (v->type) {
    case CS_TOML_STRING:
        cs_buf_addc(out, '"');
        for (size_t i = 0; i < v->text.len; i++) {
            if (v->text.ptr[i] == '"' || v->text.ptr[i] == '\\') {
                cs_buf_addc(out, '\\');
            }
            cs_buf_addc(out, v->text.ptr[i]);
        }
        cs_buf_addc(out, '"');
        return;
    case CS_TOML_INTEGER: cs_buf_printf(out, "%lld", (long long)v->integer); return;
    case CS_TOML_FLOAT: cs_buf_printf(out, "%g", v->real); return;
    case CS_TOML_BOOL: cs_buf_adds(out, v->boolean ? "true" : "false"); return;
    case CS_TOML_DATE: cs_buf_adds(out, "(date)"); return;
    case CS_TOML_TABLE: cs_buf_adds(out, "{...}"); return;
    case CS_TOML_ARRAY:
        cs_buf_addc(out, '[');
        for (uint32_t i = 0; i < v->count; i++) {
            cs_buf_adds(out, i ? ", " : "");
            if (v->items[i].type == CS_TOML_ARRAY) {
                cs_buf_adds(out, "[...]");
            } else {
                put_value(out, &v->items[i]);
            }
        }
        cs_buf_addc(out, ']');
        return;
    }
}

static bool is_table_array(const struct cs_toml_value *v) {
    return v->type == CS_TOML_ARRAY && v->count > 0 && v->items[0].type == CS_TOML_TABLE;
}

static enum cs_code keep_value(struct reader *r, struct cs_str key, const struct cs_toml_value *v) {
    struct cs_buf text;
    cs_buf_init(&text, CS_MAX_CONFIG_BYTES * 2);
    put_value(&text, v);
    enum cs_code code = cs_buf_check(&text, r->err);
    struct cs_config_value *kept = code == CS_OK ? cs_vec_push(&r->c->values) : NULL;
    if (kept) {
        *kept = (struct cs_config_value){
            key, cs_arena_str(&r->c->arena, cs_buf_str(&text)), v->line};
    }
    cs_buf_fini(&text);
    return kept && kept->text.ptr ? CS_OK : code != CS_OK ? code : no_memory(r);
}

// The keys nest two deep: budget.wheel, source[0].files.
static enum cs_code keep_members(struct reader *r, const struct cs_toml_value *table,
                                 struct cs_str prefix, bool deeper) {
    for (uint32_t i = 0; table->type == CS_TOML_TABLE && i < table->count; i++) {
        const struct cs_str name = table->keys[i].name;
        const struct cs_toml_value *v = &table->items[i];
        const struct cs_str key = cs_arena_printf(&r->c->arena, "%.*s%s%.*s", (int)prefix.len,
                                                  prefix.ptr, prefix.len ? "." : "",
                                                  shown(name), name.ptr);
        if (!key.ptr) {
            return no_memory(r);
        }
        if (deeper && v->type == CS_TOML_TABLE) {
            CS_TRY(keep_members(r, v, key, false));
        } else if (deeper && is_table_array(v)) {
            for (uint32_t k = 0; k < v->count; k++) {
                const struct cs_str item =
                    cs_arena_printf(&r->c->arena, "%.*s[%u]", (int)key.len, key.ptr, k);
                CS_TRY(item.ptr ? keep_members(r, &v->items[k], item, false) : no_memory(r));
            }
        } else {
            CS_TRY(keep_value(r, key, v));
        }
    }
    return CS_OK;
}

// ---- files -----------------------------------------------------------------------------------

static bool is_pyproject(struct cs_str path) {
    return cs_str_ends(path, CS_STR("pyproject.toml"));
}

static const struct cs_toml_value *own_table(const struct cs_toml *t, struct cs_str path) {
    const struct cs_toml_value *root = cs_toml_root(t);
    return is_pyproject(path) ? cs_toml_get(cs_toml_get(root, "tool"), "cuslim") : root;
}

static struct cs_str folder_of(struct cs_str path) {
    while (path.len && path.ptr[path.len - 1] != '/') {
        path.len--;
    }
    return path.len ? path : CS_STR("./");
}

enum cs_code cs_config_parse(struct cs_config *c, struct cs_view text, struct cs_str path,
                             struct cs_err *err) {
    c->path = cs_arena_str(&c->arena, path);
    c->folder = cs_arena_str(&c->arena, folder_of(path));
    struct reader r = {.c = c, .name = c->path, .err = err};
    if (!c->path.ptr || !c->folder.ptr) {
        return no_memory(&r);
    }
    struct cs_toml *t;
    enum cs_code code = cs_toml_parse(text, &t, err);
    if (code != CS_OK) {
        if (err && code != CS_NOMEM) {
            err->code = CS_USAGE;
        }
        return cs_wrap(err, code == CS_NOMEM ? code : CS_USAGE, "%.*s", (int)path.len, path.ptr);
    }
    const struct cs_toml_value *table = own_table(t, path);
    if (table) {
        code = read_table(&r, table, root_keys);
        code = code == CS_OK ? keep_members(&r, table, CS_STR(""), true) : code;
    }
    cs_toml_free(t);
    return code;
}

enum cs_code cs_config_read(struct cs_config *c, const char *path, struct cs_err *err) {
    struct cs_file file;
    enum cs_code code = cs_file_open(path, &file, err);
    if (code != CS_OK) {
        return cs_wrap(err, code, "%s", path);
    }
    code = cs_config_parse(c, file.view, cs_str_from(path), err);
    cs_file_close(&file);
    return code;
}

// A pyproject.toml that cannot be read as TOML counts: whoever reads it next will say why.
static bool pyproject_is_ours(const char *path) {
    struct cs_file file;
    struct cs_toml *t;
    if (cs_file_open(path, &file, NULL) != CS_OK) {
        return false;
    }
    const enum cs_code code = cs_toml_parse(file.view, &t, NULL);
    const bool ours = code != CS_OK || own_table(t, cs_str_from(path)) != NULL;
    cs_toml_free(t);
    cs_file_close(&file);
    return ours;
}

enum cs_code cs_config_find(const char *folder, struct cs_buf *path, struct cs_err *err) {
    char start[PATH_MAX];
    if (!realpath(folder, start)) {
        return cs_fail_errno(err, "%s", folder);
    }
    struct cs_str at = cs_str_from(start);
    enum cs_code code = CS_OK;
    bool found = false;
    while (!found && code == CS_OK) {
        const struct cs_str here = at.len == 1 ? CS_STR("") : at;
        cs_buf_clear(path);
        cs_buf_printf(path, "%.*s/cuslim.toml", (int)here.len, here.ptr);
        code = cs_buf_check(path, err);
        found = code == CS_OK && access(path->ptr, F_OK) == 0;
        if (code == CS_OK && !found) {
            cs_buf_clear(path);
            cs_buf_printf(path, "%.*s/pyproject.toml", (int)here.len, here.ptr);
            code = cs_buf_check(path, err);
            found = code == CS_OK && pyproject_is_ours(path->ptr);
        }
        if (at.len == 1) {
            break;
        }
        while (at.len > 1 && at.ptr[at.len - 1] != '/') {
            at.len--;
        }
        at.len -= at.len > 1;
    }
    if (!found) {
        cs_buf_clear(path);
    }
    return code;
}

const struct cs_config_source *cs_config_source_for(const struct cs_config *c, struct cs_str file,
                                                    const struct cs_config_source **second) {
    const struct cs_config_source *first = NULL, *next = NULL;
    for (size_t i = 0; i < c->sources.count && !next; i++) {
        const struct cs_config_source *s = &c->sources.ptr[i];
        bool matches = false;
        for (uint32_t k = 0; k < s->file_count && !matches; k++) {
            matches = cs_glob_match(s->files[k], file);
        }
        if (matches && first) {
            next = s;
        }
        first = matches && !first ? s : first;
    }
    if (second) {
        *second = next;
    }
    return first;
}
