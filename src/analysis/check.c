// Check: runs the judgements, keeps the findings, and says whether the gate holds.
//
// docs/howto/add-a-rule.md tells where a rule's text and its judgement go.
#include "analysis/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/check_work.h"
#include "base/glob.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/size.h"
#include "base/suggest.h"

enum { TEXT_BYTES = 4096 };

// ---- findings --------------------------------------------------------------------------------

struct cs_str cs_check_text(struct cs_check *c, const char *fmt, ...) {
    char text[TEXT_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    const struct cs_str s = cs_arena_str(&c->arena, cs_str_from(text));
    if (!s.ptr) {
        c->failed = CS_NOMEM;
        return CS_STR("");
    }
    return s;
}

static bool names_rule(struct cs_check_words words, const struct cs_rule *rule) {
    for (uint32_t i = 0; i < words.count; i++) {
        if (cs_str_eq(words.items[i], cs_str_from(rule->slug)) ||
            cs_str_starts(cs_str_from(rule->id), words.items[i])) {
            return true;
        }
    }
    return false;
}

static bool is_wanted(const struct cs_check_options *o, const struct cs_rule *rule) {
    return (o->select.count == 0 || names_rule(o->select, rule)) && !names_rule(o->ignore, rule);
}

static void add(struct cs_check *c, const struct cs_rule *rule, enum cs_severity severity,
                struct cs_str where, struct cs_str advice, const char *fmt, va_list args) {
    if (!is_wanted(c->options, rule)) {
        return;
    }
    char text[TEXT_BYTES];
    vsnprintf(text, sizeof text, fmt, args);
    struct cs_check_finding *f = cs_vec_push(&c->findings);
    const struct cs_str message = cs_arena_str(&c->arena, cs_str_from(text));
    if (!f || !message.ptr) {
        c->failed = CS_NOMEM;
        return;
    }
    if (severity == CS_SEVERITY_ERROR && c->options->warn_only) {
        severity = CS_SEVERITY_WARNING;
    }
    *f = (struct cs_check_finding){rule, severity, where, message, advice};
}

void cs_check_add(struct cs_check *c, const char *slug, struct cs_str where, struct cs_str advice,
                  const char *fmt, ...) {
    const struct cs_rule *rule = cs_rule_find(cs_str_from(slug));
    CS_ASSERT(rule);
    va_list args;
    va_start(args, fmt);
    add(c, rule, rule->severity, where, advice, fmt, args);
    va_end(args);
}

void cs_check_add_as(struct cs_check *c, const char *slug, enum cs_severity severity,
                     struct cs_str where, struct cs_str advice, const char *fmt, ...) {
    const struct cs_rule *rule = cs_rule_find(cs_str_from(slug));
    CS_ASSERT(rule);
    va_list args;
    va_start(args, fmt);
    add(c, rule, severity, where, advice, fmt, args);
    va_end(args);
}

// Errors first, then by id and place: an order that does not depend on how they were found.
static int finding_cmp(const void *a, const void *b) {
    const struct cs_check_finding *x = a, *y = b;
    if (x->severity != y->severity) {
        return (int)y->severity - (int)x->severity;
    }
    const int by_rule = cs_str_cmp(cs_str_from(x->rule->id), cs_str_from(y->rule->id));
    if (by_rule) {
        return by_rule;
    }
    const int by_place = cs_str_cmp(x->where, y->where);
    return by_place ? by_place : cs_str_cmp(x->message, y->message);
}

static void conclude(struct cs_check *c) {
    if (c->findings.count > 1) {
        qsort(c->findings.ptr, c->findings.count, sizeof *c->findings.ptr, finding_cmp);
    }
    for (size_t i = 0; i < c->findings.count; i++) {
        switch (c->findings.ptr[i].severity) {
        case CS_SEVERITY_ERROR: c->errors++; break;
        case CS_SEVERITY_WARNING: c->warnings++; break;
        case CS_SEVERITY_NOTE: c->notes++; break;
        }
    }
    c->pass = c->errors == 0;
}

enum cs_code cs_check_rule_words(struct cs_check_words words, struct cs_err *err) {
    uint32_t count;
    const struct cs_rule *rules = cs_rule_table(&count);
    for (uint32_t i = 0; i < words.count; i++) {
        const struct cs_check_words one = {&words.items[i], 1};
        struct cs_suggest suggest = {.word = words.items[i]};
        bool known = false;
        for (uint32_t k = 0; k < count && !known; k++) {
            known = words.items[i].len > 0 && names_rule(one, &rules[k]);
            cs_suggest_offer(&suggest, rules[k].slug);
        }
        if (!known) {
            const char *best = cs_suggest_best(&suggest);
            return cs_fail(err, CS_USAGE, "'%.*s' is no rule%s%s%s", (int)words.items[i].len,
                           words.items[i].ptr, best ? "; did you mean '" : "", best ? best : "",
                           best ? "'?" : "; `cuslim explain` lists them");
        }
    }
    return CS_OK;
}

// ---- words -----------------------------------------------------------------------------------

const char *cs_check_size(struct cs_check *c, uint64_t bytes) {
    char text[CS_SIZE_TEXT_BYTES];
    cs_size_text(bytes, text);
    return cs_check_text(c, "%s", text).ptr;
}

struct cs_str cs_check_row_devices(struct cs_check *c, const bool *in, uint32_t count) {
    struct cs_buf text;
    cs_buf_init(&text, TEXT_BYTES);
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        left += in[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        if (in[i]) {
            char device[CS_TARGET_TEXT_BYTES];
            cs_device_text(c->coverage.rows.ptr[i].device, device);
            left--;
            cs_buf_printf(&text, "%s%s", device, left > 1 ? ", " : left == 1 ? " and " : "");
        }
    }
    const struct cs_str s = cs_check_text(c, "%s", text.ptr ? text.ptr : "");
    cs_buf_fini(&text);
    return s;
}

// Names made from kernels say "container N" themselves.
static struct cs_str container_text(struct cs_check *c, const struct cs_container *x) {
    if (x->source.len == 0) {
        return cs_check_text(c, "container %u", x->index);
    }
    return x->source_how == CS_SOURCE_KERNELS
               ? cs_check_text(c, "%.*s", (int)x->source.len, x->source.ptr)
               : cs_check_text(c, "container %u (%.*s)", x->index, (int)x->source.len,
                               x->source.ptr);
}

struct cs_str cs_check_unit_text(struct cs_check *c, uint32_t unit) {
    const struct cs_cover_unit *u = &c->coverage.units.ptr[unit];
    return u->container == CS_NONE ? CS_STR("the image")
                                   : container_text(c, &c->inv->containers.ptr[u->container]);
}

struct cs_str cs_check_image_text(struct cs_check *c, uint32_t index) {
    const struct cs_image *image = &c->inv->images.ptr[index];
    char target[CS_TARGET_TEXT_BYTES];
    cs_target_text(image->target, target);
    if (image->container == CS_NONE) {
        return cs_check_text(c, "%s", target);
    }
    return cs_check_text(c, "%s of %s", target,
                         container_text(c, &c->inv->containers.ptr[image->container]).ptr);
}

struct cs_str cs_check_targets_text(struct cs_check *c, uint32_t unit) {
    const struct cs_cover_unit *u = &c->coverage.units.ptr[unit];
    struct cs_buf text;
    cs_buf_init(&text, TEXT_BYTES);
    for (uint32_t i = 0; i < u->image_count; i++) {
        char target[CS_TARGET_TEXT_BYTES];
        cs_target_text(c->inv->images.ptr[u->first_image + i].target, target);
        const char *before = i == 0 ? "" : i + 1 == u->image_count ? " and " : ", ";
        cs_buf_printf(&text, "%s%s", before, target);
    }
    const struct cs_str s = cs_check_text(c, "%s", text.ptr ? text.ptr : "");
    cs_buf_fini(&text);
    return s;
}

struct cs_str cs_check_input_name(const struct cs_check *c, uint32_t input) {
    const struct cs_str base = cs_path_base(c->inv->inputs.ptr[input].path);
    return base.len ? base : c->inv->inputs.ptr[input].path;
}

bool cs_check_exempt(const struct cs_check *c, uint32_t library) {
    const struct cs_check_words words = c->options->exempt;
    for (uint32_t i = 0; i < words.count; i++) {
        if (cs_glob_match_tail(words.items[i], c->coverage.libraries.ptr[library].path)) {
            return true;
        }
    }
    return false;
}

// ---- what was read ---------------------------------------------------------------------------

static void judge_members(struct cs_check *c) {
    uint32_t windows = 0, libraries = 0;
    struct cs_str first = CS_STR("");
    for (size_t i = 0; i < c->inv->members.count; i++) {
        const struct cs_member *m = &c->inv->members.ptr[i];
        libraries += m->kind == CS_FILE_LIBRARY || m->image_count > 0;
        if (m->kind == CS_FILE_WINDOWS) {
            first = windows++ == 0 ? m->path : first;
        }
        if (m->failed) {
            cs_check_add(c, "unreadable", m->path,
                         CS_STR("A file that cannot be read cannot be vouched for."), "%.*s",
                         (int)m->problem.len, m->problem.ptr);
        }
    }
    if (windows) {
        cs_check_add(c, "unsupported-format", first,
                     CS_STR("Judge the Linux wheel of the same release."),
                     "%u Windows librar%s in the input: not read, so not judged", windows,
                     windows == 1 ? "y" : "ies");
    }
    c->unsupported = windows && !libraries;
}

// Says that there is nothing to judge, input by input: a wheel without device code is fine.
static void judge_inputs(struct cs_check *c) {
    for (uint32_t i = 0; i < c->inv->inputs.count; i++) {
        uint64_t images = 0, failed = 0;
        const struct cs_input *input = &c->inv->inputs.ptr[i];
        for (uint32_t k = 0; k < input->member_count; k++) {
            const struct cs_member *m = &c->inv->members.ptr[input->first_member + k];
            images += m->image_count;
            failed += m->failed || m->kind == CS_FILE_WINDOWS;
        }
        if (images == 0 && failed == 0) {
            cs_check_add(c, "no-device-code", cs_check_input_name(c, i), CS_STR(""),
                         "no CUDA device code in this %s: there is no coverage to judge",
                         input->kind == CS_FILE_OTHER ? "file" : cs_file_kind_name(input->kind));
        }
    }
}

void cs_check_reading(struct cs_check *c) {
    judge_members(c);
    judge_inputs(c);
    for (uint32_t i = 0; i < c->inv->images.count; i++) {
        const struct cs_image *image = &c->inv->images.ptr[i];
        c->sass_images += image->kind == CS_FATBIN_ELF;
        c->ptx_images += image->kind == CS_FATBIN_PTX || image->kind == CS_FATBIN_RELPTX;
        if (image->problem.len) {
            cs_check_add(c, "unreadable", c->inv->members.ptr[image->member].path,
                         CS_STR("The driver reports such an image as invalid when it loads it."),
                         "%s at offset 0x%llx: %.*s", cs_check_image_text(c, i).ptr,
                         (unsigned long long)image->offset, (int)image->problem.len,
                         image->problem.ptr);
        }
    }
    c->other_images = c->inv->images.count - c->sass_images - c->ptx_images;
}

// ---- running ---------------------------------------------------------------------------------

void cs_check_fini(struct cs_check *c) {
    cs_coverage_fini(&c->coverage);
    cs_vec_fini(&c->findings);
    cs_vec_fini(&c->gauges);
    cs_vec_fini(&c->link.targets);
    cs_vec_fini(&c->link.fits);
    for (uint32_t i = 0; c->tables && i < CS_CHECK_TABLES; i++) {
        cs_size_fini(&c->tables[i]);
    }
    cs_free(c->tables);
    cs_name_table_fini(&c->table_names);
    cs_free(c->shared);
    cs_free(c->forecasts);
    cs_free(c->stamp);
    cs_arena_fini(&c->arena);
    *c = (struct cs_check){0};
}

static enum cs_code start(struct cs_check *c, struct cs_err *err) {
    const struct cs_coverage_options options = {
        .devices = c->options->devices,
        .device_count = c->options->device_count,
        .drivers = c->options->drivers,
        .driver_count = c->options->driver_count,
        .reach = c->options->reach,
    };
    CS_TRY(cs_coverage_make(c->inv, &options, &c->coverage, err));
    c->shared = cs_calloc(c->coverage.libraries.count + 1, sizeof *c->shared);
    c->forecasts = cs_calloc(c->coverage.rows.count + 1, sizeof *c->forecasts);
    c->stamp = cs_calloc(c->inv->names.texts.count + 1, sizeof *c->stamp);
    return c->shared && c->forecasts && c->stamp
               ? CS_OK
               : cs_fail(err, CS_NOMEM, "no memory to check");
}

enum cs_code cs_check_run(const struct cs_inventory *inv, const struct cs_check_options *options,
                          struct cs_check *out, struct cs_err *err) {
    *out = (struct cs_check){.inv = inv, .options = options};
    cs_arena_init(&out->arena);
    enum cs_code code = start(out, err);
    if (code == CS_OK) {
        cs_check_reading(out);
        cs_check_expect(out);
        cs_check_drivers(out);
        cs_check_storage(out);
        cs_check_files(out);
        code = cs_check_limits(out, err);
        code = code == CS_OK ? cs_check_wheels(out, err) : code;
        code = code == CS_OK ? cs_check_budgets(out, err) : code;
    }
    if (code == CS_OK) {
        conclude(out);
        code = out->failed == CS_OK ? CS_OK : cs_fail(err, out->failed, "no memory to check");
    }
    if (code != CS_OK) {
        cs_check_fini(out);
    }
    return code;
}
