// Wheels: file name, WHEEL and METADATA headers, tags, RECORD against members.
//
// Spec: packaging guide "Binary distribution format" (file name convention, .dist-info), "Core
// metadata" (headers as in mail, only the first block is read), PEP 425 (compressed tag sets).
#include "format/wheel.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"

enum { TAGS_MAX = 4096, NAME_PARTS_MAX = 7 };
#define DIST_INFO_FILE_MAX (64 * CS_MIB)

static struct cs_str slice(struct cs_str s, size_t from, size_t to) {
    return (struct cs_str){s.ptr + from, to - from};
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c; }

static bool equal_ignoring_case(struct cs_str a, struct cs_str b) {
    bool same = a.len == b.len;
    for (size_t i = 0; same && i < a.len; i++) {
        same = lower(a.ptr[i]) == lower(b.ptr[i]);
    }
    return same;
}

// Cuts the part up to the next `mark` off the front of *rest; false when nothing is left.
static bool next_part(struct cs_str *rest, char mark, struct cs_str *part) {
    if (!rest->ptr) {
        return false;
    }
    const char *hit = rest->len ? memchr(rest->ptr, mark, rest->len) : NULL;
    const size_t len = hit ? (size_t)(hit - rest->ptr) : rest->len;
    *part = slice(*rest, 0, len);
    *rest = hit ? slice(*rest, len + 1, rest->len) : (struct cs_str){NULL, 0};
    return true;
}

static bool label_ok(struct cs_str s) {
    for (size_t i = 0; i < s.len; i++) {
        const char c = s.ptr[i];
        if (!is_digit(c) && !(c >= 'a' && c <= 'z') && c != '_' && c != '.') {
            return false;
        }
    }
    return s.len > 0;
}

enum cs_code cs_wheel_name_parse(struct cs_str path, struct cs_wheel_name *out,
                                 struct cs_err *err) {
    *out = (struct cs_wheel_name){0};
    struct cs_str rest = cs_path_base(path);
    if (!cs_str_ends(rest, CS_STR(".whl"))) {
        return cs_fail(err, CS_FORMAT, "a wheel's file name ends in .whl");
    }
    rest.len -= 4;
    struct cs_str part[NAME_PARTS_MAX];
    size_t count = 0;
    struct cs_str p;
    while (next_part(&rest, '-', &p)) {
        if (count == NAME_PARTS_MAX || p.len == 0) {
            return cs_fail(err, CS_FORMAT, "wheel file name has an empty part, or more than 7");
        }
        part[count++] = p;
    }
    if (count < 5) {
        return cs_fail(err, CS_FORMAT,
                       "wheel file name has %zu parts, want NAME-VERSION-PYTHON-ABI-PLATFORM",
                       count);
    }
    const bool build = count > 5 && is_digit(part[2].ptr[0]);
    const size_t tags = build ? 3 : 2;
    const bool label = count > tags + 3;
    if (count > tags + 4 || (label && !label_ok(part[tags + 3]))) {
        return cs_fail(err, CS_FORMAT, "wheel file name: build number or label is malformed");
    }
    out->name = part[0];
    out->version = part[1];
    out->build = build ? part[2] : (struct cs_str){"", 0};
    out->python = part[tags];
    out->abi = part[tags + 1];
    out->platform = part[tags + 2];
    out->label = label ? part[tags + 3] : (struct cs_str){"", 0};
    return CS_OK;
}

bool cs_wheel_name_is_windows(const struct cs_wheel_name *n) {
    struct cs_str rest = n->platform;
    struct cs_str p;
    while (next_part(&rest, '.', &p)) {
        if (cs_str_starts(p, CS_STR("win_")) || cs_str_eq(p, CS_STR("win32"))) {
            return true;
        }
    }
    return false;
}

static bool is_separator(char c) { return c == '-' || c == '_' || c == '.'; }

bool cs_wheel_same_name(struct cs_str a, struct cs_str b) {
    size_t i = 0;
    size_t k = 0;
    while (i < a.len && k < b.len) {
        if (is_separator(a.ptr[i]) && is_separator(b.ptr[k])) {
            while (i < a.len && is_separator(a.ptr[i])) {
                i++;
            }
            while (k < b.len && is_separator(b.ptr[k])) {
                k++;
            }
        } else if (lower(a.ptr[i++]) != lower(b.ptr[k++])) {
            return false;
        }
    }
    return i == a.len && k == b.len;
}

bool cs_wheel_same_version(struct cs_str a, struct cs_str b) {
    bool same = a.len == b.len;
    for (size_t i = 0; same && i < a.len; i++) {
        const char x = a.ptr[i] == '-' ? '_' : lower(a.ptr[i]);
        const char y = b.ptr[i] == '-' ? '_' : lower(b.ptr[i]);
        same = x == y;
    }
    return same;
}

// Finds the first "*.dist-info/" at top level, counts others, and notes its three files.
static void find_dist_info(const struct cs_zip *z, struct cs_wheel *w) {
    for (uint32_t i = 0; i < z->members.count; i++) {
        const struct cs_str name = z->members.ptr[i].name;
        const char *slash = name.len ? memchr(name.ptr, '/', name.len) : NULL;
        if (!slash) {
            continue;
        }
        const struct cs_str folder = slice(name, 0, (size_t)(slash - name.ptr));
        if (!cs_str_ends(folder, CS_STR(".dist-info"))) {
            continue;
        }
        if (w->dist_info.len == 0) {
            w->dist_info = folder;
        } else if (!cs_str_eq(w->dist_info, folder)) {
            w->faults |= CS_WHEEL_SEVERAL_DIST_INFO;
            continue;
        }
        // The first of several members of one name, as the ZIP reader marks the duplicates anyway.
        const struct cs_str file = slice(name, folder.len + 1, name.len);
        uint32_t *of = cs_str_eq(file, CS_STR("RECORD"))     ? &w->record_member
                       : cs_str_eq(file, CS_STR("METADATA")) ? &w->metadata_member
                       : cs_str_eq(file, CS_STR("WHEEL"))    ? &w->wheel_member
                                                             : NULL;
        if (of && *of == CS_RECORD_NONE) {
            *of = i;
        }
    }
}

static void split_folder(struct cs_wheel *w) {
    struct cs_str s = w->dist_info;
    s.len -= sizeof ".dist-info" - 1;
    const char *dash = s.len ? memchr(s.ptr, '-', s.len) : NULL;
    const size_t at = dash ? (size_t)(dash - s.ptr) : s.len;
    w->folder_name = slice(s, 0, at);
    w->folder_version = dash ? slice(s, at + 1, s.len) : (struct cs_str){"", 0};
}

static enum cs_code read_text(const struct cs_zip *z, struct cs_wheel *w, uint32_t index,
                              struct cs_str *out, struct cs_err *err) {
    const struct cs_zip_member *m = &z->members.ptr[index];
    if (m->bytes > DIST_INFO_FILE_MAX) {
        return cs_fail_at(err, CS_LIMIT, m->central_off, "%s has %llu bytes", m->name.ptr,
                          (unsigned long long)m->bytes);
    }
    char *text = cs_arena_alloc(&w->arena, (size_t)m->bytes + 1);
    if (!text) {
        return cs_fail(err, CS_NOMEM, "no memory for %s", m->name.ptr);
    }
    const enum cs_code code = cs_zip_extract(z, m, (uint8_t *)text, true, NULL, err);
    *out = (struct cs_str){text, (size_t)m->bytes};
    return code == CS_OK ? CS_OK : cs_wrap(err, code, "%s", m->name.ptr);
}

static struct cs_str trim(struct cs_str s) {
    while (s.len && (s.ptr[0] == ' ' || s.ptr[0] == '\t')) {
        s = slice(s, 1, s.len);
    }
    while (s.len && strchr(" \t\r", s.ptr[s.len - 1]) && s.ptr[s.len - 1] != '\0') {
        s.len--;
    }
    return s;
}

// Cuts the next "Key: value" off *rest; false at the first empty line.  Continuation lines are
// skipped: no field that is read here can have them.
static bool next_header(struct cs_str *rest, struct cs_str *key, struct cs_str *value) {
    struct cs_str line;
    while (next_part(rest, '\n', &line)) {
        if (trim(line).len == 0) {
            return false;
        }
        const char *colon = memchr(line.ptr, ':', line.len);
        if (colon && line.ptr[0] != ' ' && line.ptr[0] != '\t') {
            const size_t at = (size_t)(colon - line.ptr);
            *key = trim(slice(line, 0, at));
            *value = trim(slice(line, at + 1, line.len));
            return true;
        }
    }
    return false;
}

static void read_metadata(struct cs_wheel *w, struct cs_str text) {
    struct cs_str key;
    struct cs_str value;
    while (next_header(&text, &key, &value)) {
        struct cs_str *of = equal_ignoring_case(key, CS_STR("Name"))      ? &w->name
                            : equal_ignoring_case(key, CS_STR("Version")) ? &w->version
                            : equal_ignoring_case(key, CS_STR("Metadata-Version"))
                                ? &w->metadata_version
                                : NULL;
        if (of && of->len == 0) {
            *of = value;
        }
    }
    if (w->name.len == 0 || w->version.len == 0) {
        w->faults |= CS_WHEEL_NO_NAME;
    } else if (!cs_wheel_same_name(w->name, w->folder_name) ||
               !cs_wheel_same_version(w->version, w->folder_version)) {
        w->faults |= CS_WHEEL_FOLDER_DIFFERS;
    }
}

static enum cs_code read_wheel(struct cs_wheel *w, struct cs_str text, struct cs_err *err) {
    struct cs_str key;
    struct cs_str value;
    while (next_header(&text, &key, &value)) {
        if (equal_ignoring_case(key, CS_STR("Tag"))) {
            struct cs_str *tag = cs_vec_push(&w->tags);
            if (!tag) {
                return cs_fail(err, CS_NOMEM, "no memory for tags");
            }
            *tag = value;
        } else if (equal_ignoring_case(key, CS_STR("Wheel-Version"))) {
            w->wheel_version = value;
        } else if (equal_ignoring_case(key, CS_STR("Generator"))) {
            w->generator = value;
        } else if (equal_ignoring_case(key, CS_STR("Build"))) {
            w->build = value;
        } else if (equal_ignoring_case(key, CS_STR("Root-Is-Purelib"))) {
            w->purelib = equal_ignoring_case(value, CS_STR("true"));
        }
    }
    w->faults |= cs_str_starts(w->wheel_version, CS_STR("1.")) ? 0 : CS_WHEEL_NO_VERSION;
    w->faults |= w->tags.count == 0 ? CS_WHEEL_NO_TAG : 0;
    return CS_OK;
}

static enum cs_code read_dist_info(const struct cs_zip *z, struct cs_wheel *w, struct cs_err *err) {
    struct cs_str text;
    if (w->metadata_member == CS_RECORD_NONE) {
        w->faults |= CS_WHEEL_NO_METADATA;
    } else {
        CS_TRY(read_text(z, w, w->metadata_member, &text, err));
        read_metadata(w, text);
    }
    if (w->wheel_member == CS_RECORD_NONE) {
        w->faults |= CS_WHEEL_NO_WHEEL;
    } else {
        CS_TRY(read_text(z, w, w->wheel_member, &text, err));
        CS_TRY(read_wheel(w, text, err));
    }
    if (w->record_member == CS_RECORD_NONE) {
        w->faults |= CS_WHEEL_NO_RECORD;
        return CS_OK;
    }
    CS_TRY(read_text(z, w, w->record_member, &w->record_text, err));
    return cs_record_parse(cs_view_of(w->record_text.ptr, w->record_text.len), &w->record, err);
}

enum cs_code cs_wheel_open(const struct cs_zip *z, struct cs_wheel *out, struct cs_err *err) {
    *out = (struct cs_wheel){.record_member = CS_RECORD_NONE,
                             .metadata_member = CS_RECORD_NONE,
                             .wheel_member = CS_RECORD_NONE};
    cs_arena_init(&out->arena);
    find_dist_info(z, out);
    if (out->dist_info.len == 0) {
        out->faults |= CS_WHEEL_NO_DIST_INFO;
        return CS_OK;
    }
    split_folder(out);
    const enum cs_code code = read_dist_info(z, out, err);
    if (code != CS_OK) {
        cs_wheel_close(out);
        return cs_wrap(err, code, "wheel");
    }
    return CS_OK;
}

void cs_wheel_close(struct cs_wheel *w) {
    cs_record_close(&w->record);
    cs_vec_fini(&w->tags);
    cs_arena_fini(&w->arena);
    *w = (struct cs_wheel){0};
}

static size_t count_parts(struct cs_str set) {
    size_t n = 1;
    for (size_t i = 0; i < set.len; i++) {
        n += set.ptr[i] == '.' ? 1 : 0;
    }
    return n;
}

enum cs_code cs_wheel_tags_expand(struct cs_str python, struct cs_str abi, struct cs_str platform,
                                  struct cs_arena *arena, struct cs_wheel_tags *out,
                                  struct cs_err *err) {
    const size_t a = count_parts(python);
    const size_t b = count_parts(abi);
    const size_t c = count_parts(platform);
    if (a > TAGS_MAX || b > TAGS_MAX || c > TAGS_MAX || a * b > TAGS_MAX || a * b * c > TAGS_MAX ||
        out->list.count > TAGS_MAX - a * b * c) {
        return cs_fail(err, CS_LIMIT, "more than %d compatibility tags", TAGS_MAX);
    }
    struct cs_str p1;
    for (struct cs_str r1 = python; next_part(&r1, '.', &p1);) {
        struct cs_str p2;
        for (struct cs_str r2 = abi; next_part(&r2, '.', &p2);) {
            struct cs_str p3;
            for (struct cs_str r3 = platform; next_part(&r3, '.', &p3);) {
                struct cs_str *tag = cs_vec_push(&out->list);
                if (tag) {
                    *tag = cs_arena_printf(arena, "%.*s-%.*s-%.*s", (int)p1.len, p1.ptr,
                                           (int)p2.len, p2.ptr, (int)p3.len, p3.ptr);
                }
                if (!tag || !tag->ptr) {
                    return cs_fail(err, CS_NOMEM, "no memory for tags");
                }
            }
        }
    }
    return CS_OK;
}

static int tag_order(const void *a, const void *b) {
    return cs_str_cmp(*(const struct cs_str *)a, *(const struct cs_str *)b);
}

// Sorts and removes repetitions.
static void make_set(struct cs_wheel_tags *t) {
    if (t->list.count == 0) {
        return;
    }
    qsort(t->list.ptr, t->list.count, sizeof *t->list.ptr, tag_order);
    size_t kept = 1;
    for (size_t i = 1; i < t->list.count; i++) {
        if (!cs_str_eq(t->list.ptr[i], t->list.ptr[kept - 1])) {
            t->list.ptr[kept++] = t->list.ptr[i];
        }
    }
    t->list.count = kept;
}

static enum cs_code expand_wheel_tags(const struct cs_wheel *w, struct cs_arena *arena,
                                      struct cs_wheel_tags *out, struct cs_err *err) {
    for (size_t i = 0; i < w->tags.count; i++) {
        struct cs_str rest = w->tags.ptr[i];
        struct cs_str part[3] = {{"", 0}, {"", 0}, {"", 0}};
        for (size_t k = 0; k < 3; k++) {
            (void)next_part(&rest, '-', &part[k]);
        }
        CS_TRY(cs_wheel_tags_expand(part[0], part[1], part[2], arena, out, err));
    }
    return CS_OK;
}

static enum cs_code tags_differ(const struct cs_wheel *w, const struct cs_wheel_name *n, bool *out,
                                struct cs_err *err) {
    struct cs_arena arena;
    struct cs_wheel_tags a = {0};
    struct cs_wheel_tags b = {0};
    cs_arena_init(&arena);
    enum cs_code code = cs_wheel_tags_expand(n->python, n->abi, n->platform, &arena, &a, err);
    if (code == CS_OK) {
        code = expand_wheel_tags(w, &arena, &b, err);
    }
    *out = true;
    if (code == CS_OK) {
        make_set(&a);
        make_set(&b);
        *out = a.list.count != b.list.count;
        for (size_t i = 0; !*out && i < a.list.count; i++) {
            *out = !cs_str_eq(a.list.ptr[i], b.list.ptr[i]);
        }
    }
    cs_vec_fini(&a.list);
    cs_vec_fini(&b.list);
    cs_arena_fini(&arena);
    if (code == CS_LIMIT) {
        cs_err_clear(err);  // too many to expand: they count as different
        return CS_OK;
    }
    return code;
}

enum cs_code cs_wheel_compare_name(const struct cs_wheel *w, const struct cs_wheel_name *n,
                                   uint32_t *out, struct cs_err *err) {
    *out = 0;
    if (w->name.len &&
        (!cs_wheel_same_name(n->name, w->name) || !cs_wheel_same_version(n->version, w->version))) {
        *out |= CS_WHEEL_NAME_DIFFERS;
    }
    if (w->dist_info.len &&
        (!cs_str_eq(n->name, w->folder_name) || !cs_str_eq(n->version, w->folder_version))) {
        *out |= CS_WHEEL_FOLDER_SPELLING;
    }
    *out |= cs_str_eq(n->build, w->build) ? 0 : CS_WHEEL_BUILD_DIFFERS;
    if (w->tags.count) {
        bool differ;
        CS_TRY(tags_differ(w, n, &differ, err));
        *out |= differ ? CS_WHEEL_TAGS_DIFFER : 0;
    }
    return CS_OK;
}

enum cs_code cs_wheel_verify_record(const struct cs_wheel *w, const struct cs_zip *z,
                                    const uint8_t *sha256, struct cs_record_faults *out,
                                    struct cs_err *err) {
    *out = (struct cs_record_faults){0};
    struct cs_record_file *files = cs_calloc(z->members.count, sizeof *files);
    uint32_t *member = cs_calloc(z->members.count, sizeof *member);
    enum cs_code code = CS_NOMEM;
    if (!files || !member) {
        (void)cs_fail(err, CS_NOMEM, "no memory to compare RECORD");
    } else {
        size_t count = 0;
        for (uint32_t i = 0; i < z->members.count; i++) {
            const struct cs_zip_member *m = &z->members.ptr[i];
            if (m->is_dir) {
                continue;
            }
            files[count] = (struct cs_record_file){m->name, m->bytes, {0}, sha256 != NULL};
            if (sha256) {
                memcpy(files[count].sha256, sha256 + (size_t)i * CS_SHA256_BYTES, CS_SHA256_BYTES);
            }
            member[count++] = i;
        }
        const struct cs_str record_path = w->record_member == CS_RECORD_NONE
                                              ? (struct cs_str){"", 0}
                                              : z->members.ptr[w->record_member].name;
        code = cs_record_verify(&w->record, files, count, record_path, out, err);
    }
    for (size_t i = 0; code == CS_OK && i < out->list.count; i++) {
        struct cs_record_fault *f = &out->list.ptr[i];
        f->file = f->file == CS_RECORD_NONE ? CS_RECORD_NONE : member[f->file];
    }
    cs_free(files);
    cs_free(member);
    return code;
}
