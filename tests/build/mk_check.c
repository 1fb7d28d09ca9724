// A check of a small package, for tests: the package is written to a folder of its own and read as
// the program would.
#include "build/mk_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build/mk_words.h"

static void need(bool ok, const char *what) {
    if (!ok) {
        fprintf(stderr, "mk_check: %s\n", what);
        abort();
    }
}

static void need_ok(enum cs_code code, const struct cs_err *err) {
    if (code != CS_OK) {
        char text[1024];
        cs_err_format(err, text, sizeof text);
        need(false, text);
    }
}

void cs_mk_check_start(struct cs_mk_check *t) {
    *t = (struct cs_mk_check){.folder = "/tmp/cuslim-check-XXXXXX"};
    need(mkdtemp(t->folder) != NULL, "no folder");
    cs_inventory_init(&t->inv);
    cs_check_look_init(&t->look, true);
}

static void forget_run(struct cs_mk_check *t) {
    if (t->ran) {
        cs_check_fini(&t->result);
        cs_reach_fini(&t->reach);
        cs_archlist_fini(&t->declared);
        for (size_t i = 0; i < CS_MK_CHECK_WORDS; i++) {
            cs_archlist_fini(&t->lists[i]);
        }
    }
    t->ran = false;
}

void cs_mk_check_end(struct cs_mk_check *t) {
    forget_run(t);
    cs_inventory_fini(&t->inv);
    cs_check_look_fini(&t->look);
    for (size_t i = 0; i < t->file_count; i++) {
        cs_buf_fini(&t->bytes[i]);
    }
    (void)unlink(t->path);
    (void)rmdir(t->folder);
}

void cs_mk_check_file(struct cs_mk_check *t, const char *name, struct cs_view bytes) {
    need(t->file_count < CS_MK_CHECK_FILES, "too many files");
    struct cs_buf *b = &t->bytes[t->file_count];
    cs_buf_init(b, SIZE_MAX);
    cs_buf_add(b, bytes.ptr, (size_t)bytes.len);
    t->files[t->file_count++] =
        (struct cs_mk_member){.name = name, .data = cs_buf_view(b), .deflate = true};
}

void cs_mk_check_library(struct cs_mk_check *t, const char *name, const char *words) {
    struct cs_buf b;
    cs_buf_init(&b, SIZE_MAX);
    cs_mk_words_library(&b, words, NULL);
    cs_mk_check_file(t, name, cs_buf_view(&b));
    cs_buf_fini(&b);
}

void cs_mk_check_read_as(struct cs_mk_check *t, const char *name, struct cs_view bytes) {
    const struct cs_inventory_look look = cs_check_look_callback(&t->look);
    const struct cs_inventory_options options = {
        .depth = CS_DEPTH_KERNELS, .hashes = true, .sources = true, .look = &look};
    struct cs_err err = {0};
    snprintf(t->path, sizeof t->path, "%s/%s", t->folder, name);
    FILE *f = fopen(t->path, "wb");
    need(f && fwrite(bytes.ptr, 1, (size_t)bytes.len, f) == bytes.len && fclose(f) == 0, "write");
    need_ok(cs_inventory_add(&t->inv, t->path, &options, NULL, &err), &err);
    need_ok(cs_check_look_done(&t->look, &err), &err);
    t->read = true;
}

void cs_mk_check_read(struct cs_mk_check *t) {
    if (t->file_count == 1) {
        const char *slash = strrchr(t->files[0].name, '/');
        cs_mk_check_read_as(t, slash ? slash + 1 : t->files[0].name, t->files[0].data);
        return;
    }
    struct cs_buf wheel;
    cs_buf_init(&wheel, SIZE_MAX);
    cs_mk_wheel_write(&wheel, "pkg", "1.0", t->files, t->file_count);
    cs_mk_check_read_as(t, "pkg-1.0-py3-none-manylinux_2_28_x86_64.whl", cs_buf_view(&wheel));
    cs_buf_fini(&wheel);
}

// ---- the question ----------------------------------------------------------------------------

static void ask_devices(struct cs_mk_check *t, const char *text) {
    uint32_t count = 0;
    if (text) {
        char *copy = strdup(text), *save = NULL;
        for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
            need(cs_device_parse(cs_str_from(w), &t->devices[count++]), "device");
        }
        free(copy);
    } else {
        const struct cs_device_row *table = cs_device_table(&count);
        for (uint32_t i = 0; i < count; i++) {
            t->devices[i] = table[i].device;
        }
    }
    t->options.devices = t->devices;
    t->options.device_count = count;
    t->options.asked = text != NULL;
}

static struct cs_str before_equals(const char *word) {
    const char *at = strchr(word, '=');
    need(at != NULL, "no =");
    return (struct cs_str){word, (size_t)(at - word)};
}

static void ask_sources(struct cs_mk_check *t, const struct cs_mk_check_ask *ask) {
    struct cs_err err = {0};
    uint32_t n = 0;
    for (; n < CS_MK_CHECK_WORDS && ask->sources[n]; n++) {
        t->globs[n] = before_equals(ask->sources[n]);
        const char *list = strchr(ask->sources[n], '=') + 1;
        cs_archlist_init(&t->lists[n]);
        if (*list) {
            need_ok(cs_archlist_parse(&t->lists[n], cs_str_from(list), NULL, &err), &err);
        }
        t->sources[n] = (struct cs_check_source){
            .files = &t->globs[n], .file_count = 1, .arch = *list ? &t->lists[n] : NULL,
            .origin = CS_STR("test")};
    }
    t->options.sources = t->sources;
    t->options.source_count = n;
}

static struct cs_check_words one_word(const char *text, struct cs_str *store) {
    *store = cs_str_from(text);
    return (struct cs_check_words){store, text != NULL};
}

void cs_mk_check_run(struct cs_mk_check *t, const struct cs_mk_check_ask *ask) {
    struct cs_err err = {0};
    if (!t->read) {
        cs_mk_check_read(t);
    }
    forget_run(t);
    t->options = ask->more;
    t->options.looks = &t->look;
    ask_devices(t, ask->devices);
    if (ask->driver) {
        need_ok(cs_driver_parse(cs_str_from(ask->driver), &t->driver, &err), &err);
        t->options.drivers = &t->driver;
        t->options.driver_count = 1;
    }
    cs_archlist_init(&t->declared);
    if (ask->declared) {
        need_ok(cs_archlist_parse(&t->declared, cs_str_from(ask->declared), NULL, &err), &err);
        t->options.declared = &t->declared;
    }
    for (size_t i = 0; i < CS_MK_CHECK_WORDS && ask->routes[i]; i++) {
        need_ok(cs_reach_add(&t->reach, before_equals(ask->routes[i]),
                             cs_str_from(strchr(ask->routes[i], '=') + 1), CS_STR("test"), &err),
                &err);
    }
    t->options.reach = &t->reach;
    ask_sources(t, ask);
    t->options.exempt = one_word(ask->exempt, &t->exempt);
    t->options.select = one_word(ask->select, &t->select);
    t->options.ignore = one_word(ask->ignore, &t->ignore);
    t->options.strict = ask->strict;
    t->options.warn_only = ask->warn_only;
    t->options.link = ask->link;
    need_ok(cs_check_run(&t->inv, &t->options, &t->result, &err), &err);
    t->ran = true;
}

// ---- the answer ------------------------------------------------------------------------------

bool cs_mk_check_found(const struct cs_mk_check *t, const char *slug, enum cs_severity severity,
                       const char *text) {
    for (size_t i = 0; i < t->result.findings.count; i++) {
        const struct cs_check_finding *f = &t->result.findings.ptr[i];
        if (strcmp(f->rule->slug, slug) == 0 && f->severity == severity &&
            (cs_str_find(f->message, cs_str_from(text)) != SIZE_MAX ||
             cs_str_find(f->where, cs_str_from(text)) != SIZE_MAX ||
             cs_str_find(f->advice, cs_str_from(text)) != SIZE_MAX)) {
            return true;
        }
    }
    cs_mk_check_print(t);
    return false;
}

size_t cs_mk_check_count(const struct cs_mk_check *t, const char *slug) {
    size_t n = 0;
    for (size_t i = 0; i < t->result.findings.count; i++) {
        n += !slug || strcmp(t->result.findings.ptr[i].rule->slug, slug) == 0;
    }
    return n;
}

const char *cs_mk_check_counts(const struct cs_mk_check *t, const char *device,
                               const char *library) {
    static char text[96];
    const struct cs_coverage *c = &t->result.coverage;
    struct cs_device d;
    need(cs_device_parse(cs_str_from(device), &d), "device");
    for (uint32_t r = 0; r < c->rows.count; r++) {
        struct cs_cover_counts n = c->rows.ptr[r].kernels;
        if (!cs_device_eq(c->rows.ptr[r].device, d)) {
            continue;
        }
        for (uint32_t l = 0; library && l < c->libraries.count; l++) {
            if (cs_str_eq(c->libraries.ptr[l].path, cs_str_from(library))) {
                n = cs_cover_cell(c, l, r)->kernels;
            }
        }
        snprintf(text, sizeof text, "%llu/%llu/%llu/%llu", (unsigned long long)n.native,
                 (unsigned long long)n.same_major, (unsigned long long)n.jit,
                 (unsigned long long)n.none);
        return text;
    }
    return "no such row";
}

void cs_mk_check_print(const struct cs_mk_check *t) {
    for (size_t i = 0; i < t->result.findings.count; i++) {
        const struct cs_check_finding *f = &t->result.findings.ptr[i];
        fprintf(stderr, "%s %s: %.*s: %.*s\n", cs_severity_name(f->severity), f->rule->slug,
                (int)f->where.len, f->where.ptr, (int)f->message.len, f->message.ptr);
    }
}
