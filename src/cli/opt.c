// GNU-style command lines: --long, --long=value, --long value, --no-flag, -x, -xyz, -o FILE,
// -oFILE, options and arguments in any order, "--" ends options, "-" is an argument.  A few options
// may be written -long.
#include "cli/opt.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/size.h"
#include "base/suggest.h"

struct parser {
    const struct cs_opt_set *sets;
    size_t set_count;
    int argc, at;  // `at`: the next word
    char **argv;
    struct cs_args *args;
    struct cs_err *err;
};

bool cs_opt_takes_value(enum cs_opt_type type) {
    return type != CS_OPT_FLAG && type != CS_OPT_SWITCH && type != CS_OPT_TALLY;
}

static void *field_of(const struct cs_opt_set *set, const struct cs_opt *opt) {
    return (char *)set->into + opt->offset;
}

enum cs_code cs_list_add(struct cs_list *list, const char *text, struct cs_err *err) {
    for (const char *p = text;; p++) {
        const size_t len = strcspn(p, ",");
        if (len == 0) {
            return cs_fail(err, CS_USAGE, "empty word in the list '%s'", text);
        }
        struct cs_str *item = cs_vec_push(&list->items);
        if (!item) {
            return cs_fail(err, CS_NOMEM, "no memory for a list");
        }
        *item = (struct cs_str){p, len};
        p += len;
        if (*p == '\0') {
            return CS_OK;
        }
    }
}

static enum cs_code parse_number(struct cs_str text, uint64_t *out, struct cs_err *err) {
    *out = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || !cs_mul_u64(*out, 10, out) ||
            !cs_add_u64(*out, (uint64_t)(text.ptr[i] - '0'), out)) {
            return cs_fail(err, CS_USAGE, "'%s' is no number", text.ptr);
        }
    }
    return text.len > 0 ? CS_OK : cs_fail(err, CS_USAGE, "a number is missing");
}

static enum cs_code parse_choice(const struct cs_opt *opt, struct cs_str text, unsigned *out,
                                 struct cs_err *err) {
    struct cs_suggest s = {.word = text};
    for (unsigned i = 0; opt->choices[i]; i++) {
        if (cs_str_eq(text, cs_str_from(opt->choices[i]))) {
            *out = i;
            return CS_OK;
        }
        cs_suggest_offer(&s, opt->choices[i]);
    }
    const char *best = cs_suggest_best(&s);
    const int len = (int)cs_min_u64(text.len, 64);
    if (best) {
        return cs_fail(err, CS_USAGE, "unknown word '%.*s'; did you mean '%s'?", len, text.ptr,
                       best);
    }
    char known[128] = "";
    for (size_t i = 0, used = 0; opt->choices[i] && used < sizeof known; i++) {
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                 opt->choices[i]);
    }
    return cs_fail(err, CS_USAGE, "unknown word '%.*s'; known are %s", len, text.ptr, known);
}

// Adds the words; where there are choices, each must be one of them.
static enum cs_code parse_list(const struct cs_opt *opt, const char *text, struct cs_list *list,
                               struct cs_err *err) {
    const size_t before = list->items.count;
    CS_TRY(cs_list_add(list, text, err));
    for (size_t i = before; opt->choices && i < list->items.count; i++) {
        unsigned unused;
        CS_TRY(parse_choice(opt, list->items.ptr[i], &unused, err));
    }
    return CS_OK;
}

static enum cs_code store_value(const struct cs_opt *opt, void *field, const char *value,
                                struct cs_err *err) {
    const struct cs_str text = cs_str_from(value);
    switch (opt->type) {
    case CS_OPT_STRING:
    case CS_OPT_PATH:
    case CS_OPT_DIR:
        *(const char **)field = value;
        return text.len > 0 ? CS_OK : cs_fail(err, CS_USAGE, "the value is empty");
    case CS_OPT_LIST: return parse_list(opt, value, field, err);
    case CS_OPT_SIZE:
        return cs_size_parse(text, field)
                   ? CS_OK
                   : cs_fail(err, CS_USAGE, "'%s' is no size; write 300MiB, 1.5GiB or 100MB",
                             value);
    case CS_OPT_TOP:
        if (cs_str_eq(text, CS_STR("all"))) {
            *(uint64_t *)field = UINT64_MAX;
            return CS_OK;
        }
        return parse_number(text, field, err);
    case CS_OPT_NUMBER: return parse_number(text, field, err);
    case CS_OPT_CHOICE: return parse_choice(opt, text, field, err);
    case CS_OPT_VALUE: return opt->parse(text, field, err);
    case CS_OPT_END:
    case CS_OPT_FLAG:
    case CS_OPT_SWITCH:
    case CS_OPT_TALLY: break;
    }
    return cs_fail(err, CS_INTERNAL, "option type %d takes no value", (int)opt->type);
}

static void store_plain(const struct cs_opt *opt, void *field, bool on) {
    if (opt->type == CS_OPT_TALLY) {
        ++*(unsigned *)field;
    } else {
        *(bool *)field = on;
    }
}

// `value` NULL: take the next word.
static enum cs_code take_value(struct parser *p, const struct cs_opt_set *set,
                               const struct cs_opt *opt, const char *value) {
    if (!value && p->at >= p->argc) {
        return cs_fail(p->err, CS_USAGE, "--%s needs a value (%s)", opt->name, opt->metavar);
    }
    const enum cs_code code =
        store_value(opt, field_of(set, opt), value ? value : p->argv[p->at++], p->err);
    return code == CS_OK ? code : cs_wrap(p->err, code, "--%s", opt->name);
}

static enum cs_code unknown_option(const struct parser *p, struct cs_str name) {
    struct cs_suggest s = {.word = name};
    for (size_t i = 0; i < p->set_count; i++) {
        for (const struct cs_opt *o = p->sets[i].opts; o && o->type != CS_OPT_END; o++) {
            if (!o->hidden) {
                cs_suggest_offer(&s, o->name);
            }
        }
    }
    const char *best = cs_suggest_best(&s);
    return cs_fail(p->err, CS_USAGE, "unknown option '--%.*s'%s%s%s",
                   (int)cs_min_u64(name.len, 64), name.ptr, best ? "; did you mean '--" : "",
                   best ? best : "", best ? "'?" : "");
}

static enum cs_code parse_long(struct parser *p, const char *word) {
    const size_t len = strcspn(word, "=");
    const struct cs_str name = {word, len};
    const char *value = word[len] == '=' ? word + len + 1 : NULL;
    const bool no = cs_str_starts(name, CS_STR("no-"));
    for (size_t i = 0; i < p->set_count; i++) {
        const struct cs_opt_set *set = &p->sets[i];
        for (const struct cs_opt *o = set->opts; o && o->type != CS_OPT_END; o++) {
            const struct cs_str known = cs_str_from(o->name);
            const bool off = no && o->type == CS_OPT_FLAG &&
                             cs_str_eq(known, (struct cs_str){word + 3, len - 3});
            if (!off && !cs_str_eq(known, name)) {
                continue;
            }
            if (cs_opt_takes_value(o->type)) {
                return take_value(p, set, o, value);
            }
            if (value) {
                return cs_fail(p->err, CS_USAGE, "--%s takes no value", o->name);
            }
            store_plain(o, field_of(set, o), !off);
            return CS_OK;
        }
    }
    return unknown_option(p, name);
}

static const struct cs_opt *find_letter(const struct parser *p, char letter,
                                        const struct cs_opt_set **set) {
    for (size_t i = 0; i < p->set_count; i++) {
        *set = &p->sets[i];
        for (const struct cs_opt *o = (*set)->opts; o && o->type != CS_OPT_END; o++) {
            if (o->letter == letter) {
                return o;
            }
        }
    }
    return NULL;
}

static enum cs_code parse_letters(struct parser *p, const char *letters) {
    for (; *letters; letters++) {
        const struct cs_opt_set *set;
        const struct cs_opt *o = find_letter(p, *letters, &set);
        if (!o) {
            return cs_fail(p->err, CS_USAGE, "unknown option '-%c'", *letters);
        }
        if (cs_opt_takes_value(o->type)) {
            return take_value(p, set, o, letters[1] ? letters + 1 : NULL);
        }
        store_plain(o, field_of(set, o), true);
    }
    return CS_OK;
}

// An option that may be written with one dash, as the tool does from which people know it.
static bool is_one_dash(const struct parser *p, struct cs_str name) {
    for (size_t i = 0; i < p->set_count; i++) {
        for (const struct cs_opt *o = p->sets[i].opts; o && o->type != CS_OPT_END; o++) {
            if (o->one_dash && cs_str_eq(name, cs_str_from(o->name))) {
                return true;
            }
        }
    }
    return false;
}

static enum cs_code add_arg(struct parser *p, const char *word) {
    const char **item = cs_vec_push(&p->args->items);
    if (!item) {
        return cs_fail(p->err, CS_NOMEM, "no memory for the arguments");
    }
    *item = word;
    return CS_OK;
}

enum cs_code cs_opt_parse(const struct cs_opt_set *sets, size_t set_count, bool raw, int argc,
                          char **argv, struct cs_args *args, struct cs_err *err) {
    struct parser p = {.sets = sets, .set_count = set_count, .argc = argc, .argv = argv,
                       .args = args, .err = err};
    bool rest = false;  // no more options
    while (p.at < p.argc) {
        const char *word = p.argv[p.at++];
        if (rest || word[0] != '-' || word[1] == '\0') {
            rest = rest || raw;
            CS_TRY(add_arg(&p, word));
        } else if (strcmp(word, "--") == 0) {
            rest = true;
            args->dashed = true;
            args->dash_at = args->items.count;
        } else if (word[1] == '-') {
            CS_TRY(parse_long(&p, word + 2));
        } else if (is_one_dash(&p, (struct cs_str){word + 1, strcspn(word + 1, "=")})) {
            CS_TRY(parse_long(&p, word + 1));
        } else {
            CS_TRY(parse_letters(&p, word + 1));
        }
    }
    return CS_OK;
}

void cs_opt_fini(const struct cs_opt_set *set) {
    for (const struct cs_opt *o = set->opts; o && o->type != CS_OPT_END; o++) {
        if (o->type == CS_OPT_LIST) {
            struct cs_list *list = field_of(set, o);
            cs_vec_fini(&list->items);
        }
    }
}
