// Rules, devices, targets and the fate of a kernel, for people and as JSON.
#include "report/explain_report.h"

#include "base/num.h"

// ---- what the tables know of a target and a device -------------------------------------------

struct relation {
    struct cs_target target;
    struct cs_device device;
    enum cs_fit fit;
};

static const char *outcome_of(enum cs_fit fit) {
    switch (fit) {
    case CS_FIT_EXACT:
    case CS_FIT_FAMILY: return cs_outcome_name(CS_OUTCOME_NATIVE);
    case CS_FIT_SAME_MAJOR: return cs_outcome_name(CS_OUTCOME_SAME_MAJOR);
    case CS_FIT_PTX: return cs_outcome_name(CS_OUTCOME_JIT);
    case CS_FIT_NO_MAJOR:
    case CS_FIT_NO_NEWER:
    case CS_FIT_NO_TEGRA:
    case CS_FIT_NO_ARCH:
    case CS_FIT_NO_FAMILY:
    case CS_FIT_NO_RENAMED: break;
    }
    return cs_outcome_name(CS_OUTCOME_NONE);
}

// The targets that run on the device, or the devices one by one for a target: calls fn in the order
// of the tables, SASS before PTX.
typedef void relation_fn(void *ctx, const struct relation *r);

static void targets_of(struct cs_device device, relation_fn *fn, void *ctx) {
    uint32_t count;
    const struct cs_target_row *rows = cs_target_table(&count);
    for (int ptx = 0; ptx < 2; ptx++) {
        for (uint32_t i = 0; i < count; i++) {
            const struct cs_target t = {rows[i].arch, rows[i].suffix, ptx != 0};
            const struct relation r = {t, device, cs_target_fit(t, device, NULL)};
            if (cs_fit_ok(r.fit)) {
                fn(ctx, &r);
            }
        }
    }
}

static void devices_of(struct cs_target target, relation_fn *fn, void *ctx) {
    uint32_t count;
    const struct cs_device_row *rows = cs_device_table(&count);
    for (uint32_t i = 0; i < count; i++) {
        const struct relation r = {target, rows[i].device,
                                   cs_target_fit(target, rows[i].device, NULL)};
        fn(ctx, &r);
    }
}

static struct cs_str version_text(struct cs_doc *d, uint16_t x10) {
    return cs_doc_printf(d, "%u.%u", x10 / 10u, x10 % 10u);
}

static struct cs_str target_text(struct cs_doc *d, struct cs_target t) {
    char text[CS_TARGET_TEXT_BYTES];
    cs_target_text(t, text);
    return cs_doc_printf(d, "%s", text);
}

static struct cs_str device_text(struct cs_doc *d, struct cs_device device) {
    char text[CS_TARGET_TEXT_BYTES];
    cs_device_text(device, text);
    return cs_doc_printf(d, "%s", text);
}

static struct cs_str driver_text(struct cs_doc *d, struct cs_driver driver) {
    char text[CS_DRIVER_TEXT_BYTES];
    cs_driver_text(driver, text);
    return cs_doc_printf(d, "%s", text);
}

// ---- documents -------------------------------------------------------------------------------

static void doc_rules(struct cs_doc *d) {
    static const struct cs_col cols[] = {{CS_COL_TEXT, "rule", "rule"},
                                         {CS_COL_TEXT, "slug", "slug"},
                                         {CS_COL_TEXT, "severity", "severity"},
                                         {CS_COL_TEXT, "meaning", "summary"}};
    uint32_t count;
    const struct cs_rule *rules = cs_rule_table(&count);
    struct cs_table *t = cs_doc_table(d, NULL, cols, 4);
    for (uint32_t i = 0; i < count; i++) {
        struct cs_cell *c = cs_table_row(t);
        c[0] = cs_cell_z(rules[i].id);
        c[1] = cs_cell_z(rules[i].slug);
        c[2] = cs_cell_z(cs_severity_name(rules[i].severity));
        c[3] = cs_cell_z(rules[i].summary);
    }
}

static void doc_rule(struct cs_doc *d, const struct cs_rule *r) {
    cs_doc_text(d, NULL, "%s %s (%s): %s.", r->id, r->slug, cs_severity_name(r->severity),
                r->summary);
    cs_doc_text(d, "Cause", "%s", r->cause);
    cs_doc_text(d, "Example", "%s", r->example);
    cs_doc_text(d, "Cure", "%s", r->cure);
}

static void target_row(void *ctx, const struct relation *r) {
    struct cs_table *t = ctx;
    struct cs_cell *c = cs_table_row(t);
    c[0] = cs_cell_str(target_text(t->doc, r->target));
    c[1] = cs_cell_z(outcome_of(r->fit));
    c[2] = cs_cell_z(cs_fit_phrase(r->fit));
}

static void doc_device(struct cs_doc *d, struct cs_device device) {
    static const struct cs_col cols[] = {{CS_COL_TEXT, "target", "target"},
                                         {CS_COL_TEXT, "outcome", "outcome"},
                                         {CS_COL_TEXT, "because it", "reason"}};
    const struct cs_device_row *row = cs_device_find(device);
    cs_doc_fact(d, "device", CS_COL_TEXT, cs_cell_str(device_text(d, device)));
    if (row) {
        cs_doc_fact(d, "architecture", CS_COL_TEXT, cs_cell_z(row->codename));
        cs_doc_fact(d, "for example", CS_COL_TEXT, cs_cell_z(row->products));
        cs_doc_fact(d, "toolkits from", CS_COL_TEXT,
                    cs_cell_str(version_text(d, row->toolkit_x10)));
        cs_doc_fact(d, "drivers from", CS_COL_TEXT,
                    cs_cell_str(driver_text(d, cs_device_driver(device))));
        if (row->last_branch) {
            cs_doc_fact(d, "last driver branch", CS_COL_TEXT,
                        cs_cell_str(cs_doc_printf(d, "R%u", row->last_branch)));
        }
        if (row->tegra) {
            cs_doc_note(d,
                        "An integrated (Tegra) part: code for desktop and data-centre chips does "
                        "not run on it, nor the reverse.");
        }
    } else {
        cs_doc_note(d, "This device is in no table; what follows is by the general rules.");
    }
    targets_of(device, target_row, cs_doc_table(d, "What runs on it", cols, 3));
}

static void device_row(void *ctx, const struct relation *r) {
    struct cs_table *t = ctx;
    const struct cs_device_row *row = cs_device_find(r->device);
    struct cs_cell *c = cs_table_row(t);
    c[0] = cs_cell_str(device_text(t->doc, r->device));
    c[1] = cs_cell_z(row ? row->codename : "");
    c[2] = cs_cell_z(outcome_of(r->fit));
    c[3] = cs_cell_z(cs_fit_phrase(r->fit));
}

static void doc_target(struct cs_doc *d, struct cs_target target) {
    static const struct cs_col cols[] = {{CS_COL_TEXT, "device", "device"},
                                         {CS_COL_TEXT, "architecture", "architecture"},
                                         {CS_COL_TEXT, "outcome", "outcome"},
                                         {CS_COL_TEXT, "because the image", "reason"}};
    const struct cs_target_row *row = cs_target_find(target.arch, target.suffix);
    cs_doc_fact(d, "target", CS_COL_TEXT, cs_cell_str(target_text(d, target)));
    cs_doc_fact(d, "holds", CS_COL_TEXT,
                cs_cell_z(target.is_ptx ? "PTX, which a driver compiles" : "machine code (SASS)"));
    if (row) {
        cs_doc_fact(d, "toolkits", CS_COL_TEXT,
                    cs_cell_str(row->last_x10
                                    ? cs_doc_printf(d, "%u.%u to %u.%u", row->first_x10 / 10u,
                                                    row->first_x10 % 10u, row->last_x10 / 10u,
                                                    row->last_x10 % 10u)
                                    : cs_doc_printf(d, "from %u.%u", row->first_x10 / 10u,
                                                    row->first_x10 % 10u)));
    } else {
        cs_doc_note(d, "No toolkit in the tables knows this target.");
    }
    devices_of(target, device_row, cs_doc_table(d, "Where it runs", cols, 4));
    if (target.is_ptx) {
        cs_doc_note(d, "The driver must also be new enough for the version of the PTX language.");
    }
}

// ---- one kernel ------------------------------------------------------------------------------

static void doc_unit_images(struct cs_doc *d, const struct cs_explain_kernel *e,
                            const struct cs_explain_unit *u) {
    static const struct cs_col cols[] = {
        {CS_COL_TEXT, "", "chosen"},         {CS_COL_TEXT, "image", "target"},
        {CS_COL_TEXT, "codec", "codec"},     {CS_COL_TEXT, "kernel", "has_kernel"},
        {CS_COL_TEXT, "because it", "reason"},
    };
    struct cs_table *t = cs_doc_table(d, NULL, cols, 5);
    for (uint32_t i = 0; i < u->image_count; i++) {
        const struct cs_explain_image *x = &e->images.ptr[u->first_image + i];
        const struct cs_image *image = &e->inv->images.ptr[x->image];
        struct cs_cell *c = cs_table_row(t);
        c[0] = cs_cell_z(x->chosen ? "->" : "");
        c[1] = cs_cell_str(target_text(d, image->target));
        c[2] = cs_cell_z(cs_codec_name(image->codec));
        c[3] = cs_cell_z(x->has_kernel ? "yes" : "no");
        c[4] = cs_cell_z(cs_fit_phrase(x->fit));
    }
}

static void doc_unit(struct cs_doc *d, const struct cs_explain_kernel *e,
                     const struct cs_explain_unit *u) {
    const struct cs_str path = e->inv->members.ptr[u->member].path;
    cs_doc_fact(d, "library", CS_COL_NAME, cs_cell_str(path));
    if (u->container != CS_NONE) {
        const struct cs_container *c = &e->inv->containers.ptr[u->container];
        cs_doc_fact(d, "container", CS_COL_TEXT, cs_cell_str(cs_doc_printf(d, "%u", c->index)));
        if (c->source.len) {
            cs_doc_fact(d, "source", CS_COL_NAME, cs_cell_str(c->source));
        }
    }
    cs_doc_fact(d, "kernel", CS_COL_NAME, cs_cell_str(e->names->by_id[u->name].full));
    if (u->matches > 1) {
        cs_doc_fact(d, "and others", CS_COL_TEXT,
                    cs_cell_str(cs_doc_printf(d, "%u with that text in their names",
                                              u->matches - 1)));
    }
    const struct cs_selection *s = &u->selection;
    const bool lacks = s->index != CS_SELECT_NOTHING && s->outcome != CS_OUTCOME_NONE &&
                       u->outcome == CS_OUTCOME_NONE;
    struct cs_str outcome;
    if (u->relocatable) {
        outcome = CS_STR("not loaded: relocatable code, an input of the linker");
    } else if (lacks) {
        outcome = CS_STR("none: the image that the driver takes does not hold the kernel");
    } else {
        outcome = cs_doc_printf(d, "%s: %s%s", cs_outcome_name(u->outcome),
                                cs_select_reason_phrase(s->reason),
                                s->certain ? "" : " (not measured; the worse answer)");
    }
    cs_doc_fact(d, "outcome", CS_COL_NAME, cs_cell_str(outcome));
    if (!u->relocatable && cs_driver_known(s->floor)) {
        cs_doc_fact(d, "drivers from", CS_COL_TEXT, cs_cell_str(driver_text(d, s->floor)));
    }
    doc_unit_images(d, e, u);
}

static void doc_kernel(struct cs_doc *d, const struct cs_explain_report *r) {
    const struct cs_explain_kernel *e = r->kernel;
    const uint64_t shown = cs_min_u64(e->units.count, r->top);
    for (uint64_t i = 0; i < shown; i++) {
        doc_unit(d, e, &e->units.ptr[i]);
    }
    if (shown < e->units.count) {
        const uint64_t more = e->units.count - shown;
        cs_doc_note(d, "%llu more container%s such a kernel; --top all shows all.",
                    (unsigned long long)more, more == 1 ? " holds" : "s hold");
    }
}

void cs_explain_doc(const void *report, struct cs_doc *d) {
    const struct cs_explain_report *r = report;
    if (r->kernel) {
        doc_kernel(d, r);
    } else if (r->device) {
        doc_device(d, *r->device);
    } else if (r->target) {
        doc_target(d, *r->target);
    } else if (r->rule) {
        doc_rule(d, r->rule);
    } else {
        doc_rules(d);
    }
}

// ---- JSON ------------------------------------------------------------------------------------

static void json_rules(struct cs_json *j, const struct cs_rule *rules, uint32_t count) {
    cs_json_key(j, "rules");
    cs_json_array(j);
    for (uint32_t i = 0; i < count; i++) {
        const struct cs_rule *r = &rules[i];
        cs_json_object(j);
        cs_json_kz(j, "rule", r->id);
        cs_json_kz(j, "slug", r->slug);
        cs_json_kz(j, "severity", cs_severity_name(r->severity));
        cs_json_kz(j, "summary", r->summary);
        cs_json_kz(j, "cause", r->cause);
        cs_json_kz(j, "example", r->example);
        cs_json_kz(j, "cure", r->cure);
        cs_json_object_end(j);
    }
    cs_json_array_end(j);
}

static void json_relation(void *ctx, const struct relation *r) {
    struct cs_json *j = ctx;
    char text[CS_TARGET_TEXT_BYTES];
    cs_json_object(j);
    cs_target_text(r->target, text);
    cs_json_kz(j, "target", text);
    cs_device_text(r->device, text);
    cs_json_kz(j, "device", text);
    cs_json_kz(j, "outcome", outcome_of(r->fit));
    cs_json_kz(j, "fit", cs_fit_name(r->fit));
    cs_json_object_end(j);
}

static void json_unit(struct cs_json *j, const struct cs_explain_kernel *e,
                      const struct cs_explain_unit *u) {
    char text[CS_DRIVER_TEXT_BYTES];
    cs_json_object(j);
    cs_json_kstr(j, "member", e->inv->members.ptr[u->member].path);
    cs_json_key(j, "container");
    if (u->container == CS_NONE) {
        cs_json_null(j);
    } else {
        cs_json_u64(j, e->inv->containers.ptr[u->container].index);
    }
    cs_json_kstr(j, "kernel", cs_intern_text(&e->inv->names, u->name));
    cs_json_kstr(j, "demangled", e->names->by_id[u->name].full);
    cs_json_ku64(j, "kernels", u->matches);
    cs_json_kbool(j, "relocatable", u->relocatable);
    cs_json_kz(j, "outcome", cs_outcome_name(u->outcome));
    cs_json_kz(j, "reason", u->relocatable ? "relocatable"
                                           : cs_select_reason_name(u->selection.reason));
    cs_json_kbool(j, "certain", u->selection.certain);
    cs_driver_text(u->selection.floor, text);
    cs_json_kz(j, "driver_floor", text);
    cs_json_key(j, "images");
    cs_json_array(j);
    for (uint32_t i = 0; i < u->image_count; i++) {
        const struct cs_explain_image *x = &e->images.ptr[u->first_image + i];
        char target[CS_TARGET_TEXT_BYTES];
        cs_target_text(e->inv->images.ptr[x->image].target, target);
        cs_json_object(j);
        cs_json_kz(j, "target", target);
        cs_json_kz(j, "codec", cs_codec_name(e->inv->images.ptr[x->image].codec));
        cs_json_kz(j, "fit", cs_fit_name(x->fit));
        cs_json_kbool(j, "has_kernel", x->has_kernel);
        cs_json_kbool(j, "chosen", x->chosen);
        cs_json_object_end(j);
    }
    cs_json_array_end(j);
    cs_json_object_end(j);
}

void cs_explain_json(const void *report, struct cs_json *j) {
    const struct cs_explain_report *r = report;
    if (r->kernel) {
        cs_json_key(j, "containers");
        cs_json_array(j);
        for (size_t i = 0; i < r->kernel->units.count; i++) {
            json_unit(j, r->kernel, &r->kernel->units.ptr[i]);
        }
        cs_json_array_end(j);
    } else if (r->device || r->target) {
        cs_json_key(j, "relations");
        cs_json_array(j);
        if (r->device) {
            targets_of(*r->device, json_relation, j);
        } else {
            devices_of(*r->target, json_relation, j);
        }
        cs_json_array_end(j);
    } else if (r->rule) {
        json_rules(j, r->rule, 1);
    } else {
        uint32_t count;
        const struct cs_rule *rules = cs_rule_table(&count);
        json_rules(j, rules, count);
    }
}
