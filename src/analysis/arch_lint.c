// Lint of architecture flags over the commands of a build.  Equal issues of many commands become
// one finding with a count, so that a build of 10,000 files stays readable; grouping is linear.
#include <stdlib.h>
#include <string.h>

#include "analysis/arch.h"
#include "base/hash.h"
#include "base/mem.h"
#include "format/json.h"

void cs_arch_lint_init(struct cs_arch_lint *x) {
    *x = (struct cs_arch_lint){0};
    cs_arena_init(&x->arena);
}

void cs_arch_lint_fini(struct cs_arch_lint *x) {
    cs_vec_fini(&x->findings);
    cs_free(x->slots);
    cs_arena_fini(&x->arena);
}

static uint64_t hash_of(const char *slug, struct cs_str token, struct cs_str message) {
    uint64_t parts[3] = {cs_hash64(slug, strlen(slug)), cs_hash64(token.ptr, token.len),
                         cs_hash64(message.ptr, message.len)};
    return cs_hash64(parts, sizeof parts);
}

static uint32_t *find_slot(struct cs_arch_lint *x, const char *slug, struct cs_str token,
                           struct cs_str message) {
    const uint64_t hash = hash_of(slug, token, message);
    for (uint32_t i = (uint32_t)hash & (x->slot_count - 1);; i = (i + 1) & (x->slot_count - 1)) {
        if (x->slots[i] == 0) {
            return &x->slots[i];
        }
        const struct cs_arch_finding *f = &x->findings.ptr[x->slots[i] - 1];
        if (strcmp(f->rule->slug, slug) == 0 && cs_str_eq(f->token, token) &&
            cs_str_eq(f->message, message)) {
            return &x->slots[i];
        }
    }
}

// Keeps the table of slots at most half full.
static bool grow(struct cs_arch_lint *x) {
    if (x->findings.count * 2 < x->slot_count) {
        return true;
    }
    const uint32_t count = x->slot_count ? 2 * x->slot_count : 64;
    uint32_t *slots = cs_calloc(count, sizeof *slots);
    if (!slots) {
        return false;
    }
    cs_free(x->slots);
    x->slots = slots;
    x->slot_count = count;
    for (size_t i = 0; i < x->findings.count; i++) {
        const struct cs_arch_finding *f = &x->findings.ptr[i];
        *find_slot(x, f->rule->slug, f->token, f->message) = (uint32_t)i + 1;
    }
    return true;
}

static enum cs_severity severity_of(enum cs_arch_severity severity) {
    switch (severity) {
        case CS_ARCH_NOTE: return CS_SEVERITY_NOTE;
        case CS_ARCH_WARNING: return CS_SEVERITY_WARNING;
        case CS_ARCH_ERROR: return CS_SEVERITY_ERROR;
    }
    return CS_SEVERITY_ERROR;
}

static bool add_issue(struct cs_arch_lint *x, const struct cs_arch_issue *issue,
                      struct cs_str where) {
    if (!grow(x)) {
        return false;
    }
    const char *slug = cs_arch_issue_slug(issue->id);
    uint32_t *slot = find_slot(x, slug, issue->token, issue->text);
    if (*slot) {
        x->findings.ptr[*slot - 1].commands++;
        return true;
    }
    struct cs_arch_finding *f = cs_vec_push(&x->findings);
    if (!f) {
        return false;
    }
    *slot = (uint32_t)x->findings.count;
    f->rule = cs_rule_find(cs_str_from(slug));
    CS_ASSERT(f->rule);
    f->severity = severity_of(issue->severity);
    f->commands = 1;
    f->where = cs_arena_str(&x->arena, where);
    f->token = cs_arena_str(&x->arena, issue->token);
    f->message = cs_arena_str(&x->arena, issue->text);
    f->nearest = cs_arena_str(&x->arena, issue->nearest);
    return f->where.ptr && f->token.ptr && f->message.ptr && f->nearest.ptr;
}

enum cs_code cs_arch_lint_list(struct cs_arch_lint *x, struct cs_archlist *list,
                               struct cs_str where, const struct cs_archlist *declared,
                               struct cs_err *err) {
    cs_archlist_lint(list, declared);
    x->more += list->more_issues;
    for (size_t i = 0; i < list->issues.count; i++) {
        if (!add_issue(x, &list->issues.ptr[i], where)) {
            return cs_fail(err, CS_NOMEM, "out of memory");
        }
    }
    return CS_OK;
}

static struct cs_str base_name(struct cs_str path) {
    const char *slash = path.len ? memrchr(path.ptr, '/', path.len) : NULL;
    if (!slash) {
        return path;
    }
    const size_t skip = (size_t)(slash - path.ptr) + 1;
    return (struct cs_str){path.ptr + skip, path.len - skip};
}

// A compiler command for CUDA: nvcc, or a launcher before it, among the first words; or a .cu file.
static bool is_cuda(struct cs_str file, const struct cs_str *words, size_t count) {
    if (cs_str_ends(file, CS_STR(".cu"))) {
        return true;
    }
    for (size_t i = 0; i < count && i < 4; i++) {
        if (cs_str_ends(base_name(words[i]), CS_STR("nvcc"))) {
            return true;
        }
    }
    return false;
}

struct commands {
    struct cs_arch_lint *x;
    const struct cs_archlist_options *options;
    const struct cs_archlist *declared;
};

static enum cs_code lint_words(const struct commands *c, struct cs_str file,
                               const struct cs_words *words, struct cs_err *err) {
    if (!is_cuda(file, words->words.ptr, words->words.count)) {
        return CS_OK;
    }
    c->x->cuda_commands++;
    struct cs_archlist list;
    cs_archlist_init(&list);
    enum cs_code code = cs_archlist_parse_words(&list, words->words.ptr,
                                                (uint32_t)words->words.count, c->options, err);
    if (code == CS_OK) {
        code = cs_arch_lint_list(c->x, &list, file, c->declared, err);
    }
    cs_archlist_fini(&list);
    return code;
}

static enum cs_code words_of(const struct cs_jval *entry, struct cs_arena *arena,
                             struct cs_words *words, struct cs_err *err) {
    const struct cs_jval *arguments = cs_jget(entry, "arguments");
    if (!arguments) {
        return cs_words_split(cs_jstr(cs_jget(entry, "command")), arena, words, err);
    }
    const uint64_t count = cs_jcount(arguments);
    for (uint64_t i = 0; i < count; i++) {
        struct cs_str *word = cs_vec_push(&words->words);
        if (!word) {
            return cs_fail(err, CS_NOMEM, "out of memory");
        }
        *word = cs_jstr(cs_jat(arguments, i));
    }
    return CS_OK;
}

static enum cs_code lint_entry(const struct commands *c, const struct cs_jval *entry,
                               uint64_t index, struct cs_err *err) {
    const bool has_command = cs_jstr(cs_jget(entry, "command")).len > 0;
    if (!has_command && cs_jcount(cs_jget(entry, "arguments")) == 0) {
        return cs_fail(err, CS_FORMAT, "entry %llu has neither \"command\" nor \"arguments\"",
                       (unsigned long long)index);
    }
    struct cs_arena arena;
    struct cs_words words = {0};
    cs_arena_init(&arena);
    c->x->commands++;
    enum cs_code code = words_of(entry, &arena, &words, err);
    if (code == CS_OK) {
        code = lint_words(c, cs_jstr(cs_jget(entry, "file")), &words, err);
    }
    cs_words_fini(&words);
    cs_arena_fini(&arena);
    return code == CS_OK ? code : cs_wrap(err, code, "entry %llu", (unsigned long long)index);
}

enum cs_code cs_arch_lint_commands(struct cs_arch_lint *x, struct cs_view json,
                                   const struct cs_archlist_options *options,
                                   const struct cs_archlist *declared, struct cs_err *err) {
    struct cs_jdoc *doc = NULL;
    CS_TRY(cs_jdoc_parse(json, &doc, err));
    const struct cs_jval *root = cs_jdoc_root(doc);
    const uint64_t count = cs_jcount(root);
    const struct commands c = {x, options, declared};
    enum cs_code code = CS_OK;
    if (!cs_jat(root, 0) && count > 0) {
        code = cs_fail(err, CS_FORMAT, "not a list of compile commands");
    }
    for (uint64_t i = 0; i < count && code == CS_OK; i++) {
        code = lint_entry(&c, cs_jat(root, i), i, err);
    }
    cs_jdoc_free(doc);
    return code;
}

static int compare(const void *a, const void *b) {
    const struct cs_arch_finding *x = a;
    const struct cs_arch_finding *y = b;
    if (x->severity != y->severity) {
        return x->severity > y->severity ? -1 : 1;
    }
    const int rule = strcmp(x->rule->id, y->rule->id);
    if (rule) {
        return rule;
    }
    const int token = cs_str_cmp(x->token, y->token);
    return token ? token : cs_str_cmp(x->message, y->message);
}

void cs_arch_lint_sort(struct cs_arch_lint *x) {
    if (x->findings.count > 1) {
        qsort(x->findings.ptr, x->findings.count, sizeof *x->findings.ptr, compare);
    }
    cs_free(x->slots);  // they name places that have changed
    x->slots = NULL;
    x->slot_count = 0;
}

bool cs_arch_lint_failed(const struct cs_arch_lint *x) {
    for (size_t i = 0; i < x->findings.count; i++) {
        if (x->findings.ptr[i].severity != CS_SEVERITY_NOTE) {
            return true;
        }
    }
    return false;
}
