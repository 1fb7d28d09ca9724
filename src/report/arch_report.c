// Arch lists, intersections, explanations and lint results, as documents and as JSON.
#include "report/arch_report.h"

static struct cs_str target_str(struct cs_doc *d, struct cs_target t) {
    char text[CS_TARGET_TEXT_BYTES];
    cs_target_text(t, text);
    return cs_doc_printf(d, "%s", text);
}

static void json_target(struct cs_json *j, const char *key, struct cs_target t) {
    char text[CS_TARGET_TEXT_BYTES];
    if (t.arch == 0) {
        cs_json_knull(j, key);
        return;
    }
    cs_target_text(t, text);
    cs_json_kz(j, key, text);
}

static void json_dotted(struct cs_json *j, const char *key, struct cs_target t) {
    char text[CS_TARGET_TEXT_BYTES];
    if (t.arch == 0) {
        cs_json_knull(j, key);
        return;
    }
    cs_target_dotted(t, text);
    cs_json_kz(j, key, text);
}

static struct cs_target named_target(const struct cs_arch_entry *e) {
    return e->sass || e->lto ? e->real : e->virt;
}

// ---- arch ------------------------------------------------------------------------------------

static void json_targets(struct cs_json *j, const struct cs_archlist *list) {
    cs_json_key(j, "targets");
    cs_json_array(j);
    for (size_t i = 0; i < list->entries.count; i++) {
        const struct cs_arch_entry *e = &list->entries.ptr[i];
        cs_json_object(j);
        json_target(j, "target", named_target(e));
        cs_json_kbool(j, "sass", e->sass);
        cs_json_kbool(j, "ptx", e->ptx);
        cs_json_kbool(j, "lto", e->lto);
        json_target(j, "from", e->virt);
        cs_json_object_end(j);
    }
    cs_json_array_end(j);
}

static void json_issues(struct cs_json *j, const struct cs_archlist *list) {
    cs_json_key(j, "notes");
    cs_json_array(j);
    for (size_t i = 0; i < list->issues.count; i++) {
        cs_json_str(j, list->issues.ptr[i].text);
    }
    cs_json_array_end(j);
    cs_json_key(j, "issues");
    cs_json_array(j);
    for (size_t i = 0; i < list->issues.count; i++) {
        const struct cs_arch_issue *issue = &list->issues.ptr[i];
        cs_json_object(j);
        cs_json_kz(j, "slug", cs_arch_issue_slug(issue->id));
        cs_json_kz(j, "severity", cs_arch_severity_name(issue->severity));
        cs_json_kstr(j, "token", issue->token);
        cs_json_ku64(j, "position", issue->at);
        cs_json_kstr(j, "message", issue->text);
        cs_json_object_end(j);
    }
    cs_json_array_end(j);
}

void cs_arch_report_json(const void *result, struct cs_json *j) {
    const struct cs_arch_report *r = result;
    cs_json_kstr(j, "input", r->input);
    cs_json_kz(j, "notation", cs_notation_name(r->list->notation));
    if (r->list->special == CS_ARCH_LISTED) {
        cs_json_knull(j, "special");
    } else {
        cs_json_kz(j, "special", cs_arch_special_name(r->list->special));
    }
    json_targets(j, r->merged);
    cs_json_kstr(j, "text", r->text);
    json_issues(j, r->list);
}

static void doc_issues(struct cs_doc *d, const struct cs_archlist *list) {
    for (size_t i = 0; i < list->issues.count; i++) {
        const struct cs_arch_issue *issue = &list->issues.ptr[i];
        cs_doc_note(d, "%.*s: %.*s", (int)issue->token.len, issue->token.ptr, (int)issue->text.len,
                    issue->text.ptr);
    }
    if (list->more_issues) {
        cs_doc_note(d, "and %u more", list->more_issues);
    }
}

void cs_arch_report_doc(const void *result, struct cs_doc *d) {
    static const struct cs_col cols[] = {{CS_COL_TEXT, "SASS", "sass"},
                                         {CS_COL_TEXT, "PTX", "ptx"},
                                         {CS_COL_TEXT, "LTO-IR", "lto"},
                                         {CS_COL_TEXT, "compiled from", "from"},
                                         {CS_COL_TEXT, "CUDA toolkits", "toolkits"}};
    const struct cs_arch_report *r = result;
    cs_doc_fact(d, "notation", CS_COL_TEXT, cs_cell_z(cs_notation_name(r->list->notation)));
    if (r->list->special != CS_ARCH_LISTED) {
        cs_doc_fact(d, "stands for", CS_COL_TEXT,
                    cs_cell_z(cs_arch_special_name(r->list->special)));
    }
    struct cs_table *t = cs_doc_table(d, NULL, cols, 5);
    for (size_t i = 0; i < r->merged->entries.count; i++) {
        const struct cs_arch_entry *e = &r->merged->entries.ptr[i];
        const struct cs_target_row *row = cs_target_find(e->real.arch, e->real.suffix);
        struct cs_cell *c = cs_table_row(t);
        c[0] = e->sass ? cs_cell_str(target_str(d, e->real)) : cs_cell_none();
        c[1] = e->ptx ? cs_cell_str(target_str(d, e->virt)) : cs_cell_none();
        c[2] = e->lto ? cs_cell_str(target_str(d, e->real)) : cs_cell_none();
        c[3] = cs_cell_str(target_str(d, e->virt));
        if (row && row->last_x10) {
            c[4] = cs_cell_str(cs_doc_printf(d, "%u.%u to %u.%u", row->first_x10 / 10u,
                                             row->first_x10 % 10u, row->last_x10 / 10u,
                                             row->last_x10 % 10u));
        } else if (row) {
            c[4] = cs_cell_str(
                cs_doc_printf(d, "%u.%u on", row->first_x10 / 10u, row->first_x10 % 10u));
        }
    }
    doc_issues(d, r->list);
}

// ---- intersect -------------------------------------------------------------------------------

static void json_steps(struct cs_json *j, const struct cs_intersection *x) {
    cs_json_key(j, "steps");
    cs_json_array(j);
    for (size_t i = 0; i < x->steps.count; i++) {
        const struct cs_intersect_step *s = &x->steps.ptr[i];
        cs_json_object(j);
        json_dotted(j, "wanted", s->wanted);
        cs_json_kbool(j, "wanted_ptx", s->wanted_ptx);
        cs_json_kz(j, "rule", cs_intersect_rule_name(s->rule));
        json_dotted(j, "source", s->source);
        json_dotted(j, "result", s->result);
        cs_json_kbool(j, "partial", s->partial);
        cs_json_object_end(j);
    }
    cs_json_array_end(j);
    cs_json_key(j, "uncovered");
    cs_json_array(j);
    for (size_t i = 0; i < x->steps.count; i++) {
        if (x->steps.ptr[i].rule == CS_INTERSECT_UNCOVERED) {
            char text[CS_TARGET_TEXT_BYTES];
            cs_target_dotted(x->steps.ptr[i].wanted, text);
            cs_json_z(j, text);
        }
    }
    cs_json_array_end(j);
    cs_json_key(j, "unused");
    cs_json_array(j);
    for (size_t i = 0; i < x->unused.count; i++) {
        cs_json_object(j);
        json_dotted(j, "source", x->unused.ptr[i].source);
        json_dotted(j, "instead", x->unused.ptr[i].instead);
        cs_json_object_end(j);
    }
    cs_json_array_end(j);
}

void cs_arch_intersect_report_json(const void *result, struct cs_json *j) {
    const struct cs_arch_intersect_report *r = result;
    cs_json_kstr(j, "source", r->source);
    cs_json_kstr(j, "target", r->target);
    cs_json_kz(j, "as", r->as);
    json_targets(j, r->result);
    cs_json_kstr(j, "text", r->text);
    if (r->steps) {
        json_steps(j, r->steps);
    } else {
        cs_json_knull(j, "steps");
        cs_json_knull(j, "uncovered");
        cs_json_knull(j, "unused");
    }
    cs_json_key(j, "notes");
    cs_json_array(j);
    for (size_t i = 0; r->steps && i < r->steps->notes.count; i++) {
        cs_json_str(j, r->steps->notes.ptr[i]);
    }
    cs_json_array_end(j);
}

void cs_arch_intersect_report_doc(const void *result, struct cs_doc *d) {
    static const struct cs_col cols[] = {{CS_COL_TEXT, "wanted", "wanted"},
                                         {CS_COL_TEXT, "served by", "result"},
                                         {CS_COL_TEXT, "of the source", "source"},
                                         {CS_COL_TEXT, "rule", "rule"}};
    const struct cs_arch_intersect_report *r = result;
    cs_doc_fact(d, "result", CS_COL_TEXT, cs_cell_str(r->text));
    if (!r->steps) {
        return;
    }
    struct cs_table *t = cs_doc_table(d, NULL, cols, 4);
    for (size_t i = 0; i < r->steps->steps.count; i++) {
        const struct cs_intersect_step *s = &r->steps->steps.ptr[i];
        const struct cs_target targets[3] = {s->wanted, s->result, s->source};
        struct cs_cell *c = cs_table_row(t);
        for (size_t k = 0; k < 3; k++) {
            char text[CS_TARGET_TEXT_BYTES];
            cs_target_dotted(targets[k], text);
            c[k] = targets[k].arch ? cs_cell_str(cs_doc_printf(d, "%s", text)) : cs_cell_none();
        }
        c[3] = cs_cell_z(cs_intersect_rule_name(s->rule));
    }
    for (size_t i = 0; i < r->steps->notes.count; i++) {
        cs_doc_note(d, "%s", r->steps->notes.ptr[i].ptr);
    }
}

// ---- explain ---------------------------------------------------------------------------------

static const char *device_name(const struct cs_arch_explain_row *row) {
    const struct cs_device_row *device = cs_device_find(row->device);
    return device ? device->codename : "unknown";
}

void cs_arch_explain_report_json(const void *result, struct cs_json *j) {
    const struct cs_arch_explain_report *r = result;
    char text[CS_DRIVER_TEXT_BYTES];
    cs_json_kstr(j, "input", r->input);
    if (cs_driver_known(r->driver)) {
        cs_driver_text(r->driver, text);
        cs_json_kz(j, "driver", text);
    } else {
        cs_json_knull(j, "driver");
    }
    cs_json_key(j, "devices");
    cs_json_array(j);
    for (size_t i = 0; i < r->explain->rows.count; i++) {
        const struct cs_arch_explain_row *row = &r->explain->rows.ptr[i];
        const struct cs_selection *s = &row->selection;
        cs_json_object(j);
        char device[CS_TARGET_TEXT_BYTES];
        cs_device_text(row->device, device);
        cs_json_kz(j, "device", device);
        cs_json_kbool(j, "known", row->known);
        cs_json_kz(j, "outcome", cs_outcome_name(s->outcome));
        json_target(j, "target", row->target);
        cs_json_kz(j, "reason", cs_select_reason_name(s->reason));
        json_target(j, "nearest", row->miss);
        if (row->miss.arch) {
            cs_json_kz(j, "nearest_misses", cs_fit_name(s->miss_fit));
        } else {
            cs_json_knull(j, "nearest_misses");
        }
        cs_json_kbool(j, "certain", s->certain);
        if (cs_driver_known(s->floor)) {
            cs_driver_text(s->floor, text);
            cs_json_kz(j, "floor", text);
        } else {
            cs_json_knull(j, "floor");
        }
        cs_json_object_end(j);
    }
    cs_json_array_end(j);
}

static struct cs_str why(struct cs_doc *d, const struct cs_arch_explain_row *row) {
    const struct cs_selection *s = &row->selection;
    const char *doubt = s->certain ? "" : " (not certain)";
    if (row->miss.arch) {
        char text[CS_TARGET_TEXT_BYTES];
        cs_target_text(row->miss, text);
        return cs_doc_printf(d, "%s %s%s", text, cs_fit_phrase(s->miss_fit), doubt);
    }
    return cs_doc_printf(d, "%s%s", cs_select_reason_phrase(s->reason), doubt);
}

void cs_arch_explain_report_doc(const void *result, struct cs_doc *d) {
    static const struct cs_col cols[] = {
        {CS_COL_TEXT, "device", "device"},   {CS_COL_TEXT, "chip", "chip"},
        {CS_COL_TEXT, "outcome", "outcome"}, {CS_COL_TEXT, "runs", "target"},
        {CS_COL_TEXT, "driver", "floor"},    {CS_COL_NAME, "because", "because"}};
    const struct cs_arch_explain_report *r = result;
    struct cs_table *t = cs_doc_table(d, NULL, cols, 6);
    for (size_t i = 0; i < r->explain->rows.count; i++) {
        const struct cs_arch_explain_row *row = &r->explain->rows.ptr[i];
        char text[CS_DRIVER_TEXT_BYTES];
        struct cs_cell *c = cs_table_row(t);
        cs_device_text(row->device, text);
        c[0] = cs_cell_str(cs_doc_printf(d, "%s", text));
        c[1] = cs_cell_z(device_name(row));
        c[2] = cs_cell_z(cs_outcome_name(row->selection.outcome));
        c[3] = row->target.arch ? cs_cell_str(target_str(d, row->target)) : cs_cell_none();
        cs_driver_text(row->selection.floor, text);
        c[4] = cs_driver_known(row->selection.floor) ? cs_cell_str(cs_doc_printf(d, "%s", text))
                                                     : cs_cell_none();
        c[5] = cs_cell_str(why(d, row));
    }
}

// ---- lint ------------------------------------------------------------------------------------

void cs_arch_lint_report_json(const void *lint, struct cs_json *j) {
    const struct cs_arch_lint *x = lint;
    cs_json_kbool(j, "pass", !cs_arch_lint_failed(x));
    cs_json_ku64(j, "commands", x->commands);
    cs_json_ku64(j, "cuda_commands", x->cuda_commands);
    cs_json_key(j, "findings");
    cs_json_array(j);
    for (size_t i = 0; i < x->findings.count; i++) {
        const struct cs_arch_finding *f = &x->findings.ptr[i];
        cs_json_object(j);
        cs_json_kz(j, "rule", f->rule->id);
        cs_json_kz(j, "slug", f->rule->slug);
        cs_json_kz(j, "severity", cs_severity_name(f->severity));
        cs_json_kstr(j, "where", f->where);
        cs_json_ku64(j, "commands", f->commands);
        cs_json_kstr(j, "token", f->token);
        cs_json_kstr(j, "message", f->message);
        cs_json_kstr(j, "nearest", f->nearest);
        cs_json_object_end(j);
    }
    cs_json_array_end(j);
}

void cs_arch_lint_report_doc(const void *lint, struct cs_doc *d) {
    const struct cs_arch_lint *x = lint;
    for (size_t i = 0; i < x->findings.count; i++) {
        const struct cs_arch_finding *f = &x->findings.ptr[i];
        struct cs_doc_finding finding = {
            .rule = f->rule->id, .slug = f->rule->slug, .severity = f->severity, .where = f->where};
        if (f->commands > 1) {
            finding.where = cs_doc_printf(d, "%.*s%s%u more", (int)f->where.len, f->where.ptr,
                                          f->where.len ? " and " : "", f->commands - 1);
        }
        finding.message = cs_doc_printf(d, "\"%.*s\": %.*s", (int)f->token.len, f->token.ptr,
                                        (int)f->message.len, f->message.ptr);
        if (f->nearest.len) {
            finding.advice = cs_doc_printf(d, "Nearest: %s", f->nearest.ptr);
        }
        cs_doc_finding(d, &finding);
    }
    if (x->more) {
        cs_doc_note(d, "%llu more of single lists are not shown", (unsigned long long)x->more);
    }
    if (x->commands > 1) {
        cs_doc_note(d, "%u of %u commands compile CUDA code", x->cuda_commands, x->commands);
    }
    if (x->findings.count == 0) {
        cs_doc_note(d, "nothing to complain of");
    }
}
