// A check as JSON: docs/schema/check.json.
#include "report/check_report.h"

static void put_device(struct cs_json *j, const char *key, struct cs_device d) {
    char text[CS_TARGET_TEXT_BYTES];
    cs_device_text(d, text);
    cs_json_kz(j, key, text);
}

static void put_driver(struct cs_json *j, const char *key, struct cs_driver d) {
    char text[CS_DRIVER_TEXT_BYTES];
    if (!cs_driver_known(d)) {
        cs_json_knull(j, key);
        return;
    }
    cs_driver_text(d, text);
    cs_json_kz(j, key, text);
}

static void put_counts(struct cs_json *j, struct cs_cover_counts n) {
    cs_json_ku64(j, "native", n.native);
    cs_json_ku64(j, "same_major", n.same_major);
    cs_json_ku64(j, "jit", n.jit);
    cs_json_ku64(j, "none", n.none);
}

static void put_inputs(struct cs_json *j, const struct cs_inventory *inv) {
    cs_json_key(j, "inputs");
    cs_json_array(j);
    for (size_t i = 0; i < inv->inputs.count; i++) {
        cs_json_object(j);
        cs_json_kstr(j, "path", inv->inputs.ptr[i].path);
        cs_json_kz(j, "kind", cs_file_kind_name(inv->inputs.ptr[i].kind));
        cs_json_ku64(j, "bytes", inv->inputs.ptr[i].bytes);
        cs_json_object_end(j);
    }
    cs_json_array_end(j);
}

static void put_totals(struct cs_json *j, const struct cs_check *c) {
    cs_json_key(j, "totals");
    cs_json_object(j);
    cs_json_ku64(j, "libraries", c->coverage.libraries.count);
    cs_json_ku64(j, "containers", c->coverage.units.count);
    cs_json_ku64(j, "relocatable_containers", c->coverage.relocatable_containers);
    cs_json_ku64(j, "kernels", c->coverage.kernels);
    cs_json_ku64(j, "sass_images", c->sass_images);
    cs_json_ku64(j, "ptx_images", c->ptx_images);
    cs_json_ku64(j, "other_images", c->other_images);
    cs_json_object_end(j);
}

static void put_floor(struct cs_json *j, const struct cs_check *c) {
    cs_json_key(j, "floor");
    cs_json_object(j);
    if (c->floor.known) {
        const struct cs_image *image = &c->inv->images.ptr[c->floor.image];
        char target[CS_TARGET_TEXT_BYTES];
        cs_target_text(image->target, target);
        put_driver(j, "driver", c->floor.driver);
        cs_json_kz(j, "because", cs_floor_cause_name(c->floor.cause));
        cs_json_kstr(j, "member", c->inv->members.ptr[image->member].path);
        cs_json_kz(j, "image", target);
        put_device(j, "device", c->floor.device);
    } else {
        cs_json_knull(j, "driver");
        cs_json_knull(j, "because");
    }
    cs_json_kbool(j, "certain", c->floor.certain);
    cs_json_object_end(j);
}

static void put_names(struct cs_json *j, const struct cs_check_view *v, uint32_t library,
                      uint32_t row) {
    struct cs_check_names none = {0};
    cs_json_key(j, "names_none");
    cs_json_array(j);
    if (cs_check_names_listed(v->check, library, row)) {
        if (!cs_check_names_none(v->check, library, row, &none)) {
            j->out->failed = CS_NOMEM;
        }
        for (size_t i = 0; i < none.ids.count; i++) {
            cs_json_str(j, v->names.by_id[none.ids.ptr[i]].full);
        }
        cs_vec_fini(&none.ids);
    }
    cs_json_array_end(j);
}

static void put_library(struct cs_json *j, const struct cs_check_view *v, uint32_t l, uint32_t r) {
    const struct cs_check *c = v->check;
    const struct cs_cover_cell *x = cs_cover_cell(&c->coverage, l, r);
    cs_json_object(j);
    cs_json_kstr(j, "member", c->coverage.libraries.ptr[l].path);
    cs_json_ku64(j, "input", c->coverage.libraries.ptr[l].input);
    cs_json_kz(j, "worst", cs_outcome_name(x->worst));
    put_counts(j, x->kernels);
    cs_json_ku64(j, "driver_fails", x->driver_fails);
    put_names(j, v, l, r);
    cs_json_object_end(j);
}

static void put_first_start(struct cs_json *j, const struct cs_check_forecast *f) {
    cs_json_key(j, "first_start");
    cs_json_object(j);
    cs_json_ku64(j, "kernels", f->kernels);
    cs_json_ku64(j, "containers", f->containers);
    cs_json_ku64(j, "ptx_bytes", f->ptx_bytes);
    cs_json_ku64(j, "cubin_bytes", f->cubin_bytes);
    cs_json_ku64(j, "cache_bytes", f->cache_bytes);
    cs_json_kbool(j, "exceeds_cache", f->cubin_bytes > f->cache_bytes);
    cs_json_object_end(j);
}

static void put_row(struct cs_json *j, const struct cs_check_view *v, uint32_t r) {
    const struct cs_check *c = v->check;
    const struct cs_cover_row *row = &c->coverage.rows.ptr[r];
    cs_json_object(j);
    put_device(j, "device", row->device);
    put_driver(j, "driver", row->driver);
    put_driver(j, "promised_driver", row->promised);
    cs_json_key(j, "kernels");
    cs_json_object(j);
    put_counts(j, row->kernels);
    cs_json_object_end(j);
    put_first_start(j, &c->forecasts[r]);
    cs_json_key(j, "libraries");
    cs_json_array(j);
    for (uint32_t l = 0; l < c->coverage.libraries.count; l++) {
        if (cs_cover_cell(&c->coverage, l, r)->loads) {
            put_library(j, v, l, r);
        }
    }
    cs_json_array_end(j);
    cs_json_object_end(j);
}

static void put_findings(struct cs_json *j, const struct cs_check *c) {
    cs_json_key(j, "findings");
    cs_json_array(j);
    for (size_t i = 0; i < c->findings.count; i++) {
        const struct cs_check_finding *f = &c->findings.ptr[i];
        cs_json_object(j);
        cs_json_kz(j, "rule", f->rule->id);
        cs_json_kz(j, "slug", f->rule->slug);
        cs_json_kz(j, "severity", cs_severity_name(f->severity));
        cs_json_kstr(j, "where", f->where);
        cs_json_kstr(j, "message", f->message);
        cs_json_kstr(j, "advice", f->advice);
        cs_json_object_end(j);
    }
    cs_json_array_end(j);
}

static void put_size_row(struct cs_json *j, const struct cs_size_row *row, bool wheel) {
    cs_json_object(j);
    cs_json_kstr(j, "key", row->key[0]);
    if (wheel) {
        cs_json_ku64(j, "wheel_bytes", row->wheel_bytes);
    } else {
        cs_json_knull(j, "wheel_bytes");
    }
    cs_json_ku64(j, "file_bytes", row->file_bytes);
    cs_json_object_end(j);
}

static void put_sizes(struct cs_json *j, const struct cs_check *c) {
    bool wheel = false;
    for (size_t i = 0; i < c->inv->images.count && !wheel; i++) {
        wheel = c->inv->images.ptr[i].wheel_bytes > 0;
    }
    cs_json_key(j, "over_budget");
    cs_json_array(j);
    for (uint32_t i = 0; c->tables && i < CS_CHECK_TABLES; i++) {
        cs_json_object(j);
        cs_json_kz(j, "by", cs_size_key_name(cs_check_table_keys[i]));
        cs_json_key(j, "rows");
        cs_json_array(j);
        for (size_t r = 0; r < c->tables[i].rows.count; r++) {
            put_size_row(j, &c->tables[i].rows.ptr[r], wheel);
        }
        cs_json_array_end(j);
        cs_json_object_end(j);
    }
    cs_json_array_end(j);
}

static void put_gauges(struct cs_json *j, const struct cs_check *c) {
    cs_json_key(j, "budgets");
    cs_json_array(j);
    for (size_t i = 0; i < c->gauges.count; i++) {
        const struct cs_check_gauge *g = &c->gauges.ptr[i];
        const struct cs_check_budget *b = &c->options->budgets[g->budget];
        cs_json_object(j);
        cs_json_kstr(j, "budget", b->name);
        cs_json_kstr(j, "from", b->origin);
        cs_json_ku64(j, "input", g->input);
        cs_json_ku64(j, "limit_bytes", b->limit_bytes);
        cs_json_ku64(j, "bytes", g->bytes);
        cs_json_kbool(j, "over", g->over);
        cs_json_object_end(j);
    }
    cs_json_array_end(j);
    put_sizes(j, c);
}

static void put_cuts(struct cs_json *j, const struct cs_check *c) {
    static const char *const names[CS_CUT_COUNT] = {"shadowed", "unreachable", "uncompressed"};
    cs_json_key(j, "free_cuts");
    cs_json_object(j);
    for (uint32_t i = 0; i < CS_CUT_COUNT; i++) {
        cs_json_key(j, names[i]);
        cs_json_object(j);
        cs_json_ku64(j, "images", c->cuts[i].images);
        cs_json_ku64(j, "file_bytes", c->cuts[i].file_bytes);
        cs_json_object_end(j);
    }
    cs_json_object_end(j);
}

static void put_spans(struct cs_json *j, const struct cs_check *c) {
    cs_json_key(j, "spans");
    cs_json_array(j);
    for (size_t i = 0; c->options->looks && i < c->inv->inputs.count; i++) {
        const struct cs_check_look *l = &c->options->looks[i];
        for (size_t k = 0; k < l->files.count; k++) {
            const struct cs_check_file *f = &l->files.ptr[k];
            if (!f->device_code || f->span.bytes == 0) {
                continue;
            }
            cs_json_object(j);
            cs_json_kstr(j, "member", f->path);
            cs_json_ku64(j, "input", i);
            cs_json_kstr(j, "from", f->span.from);
            cs_json_kstr(j, "to", f->span.to);
            cs_json_ku64(j, "bytes", f->span.bytes);
            cs_json_ku64(j, "limit_bytes", f->span.limit_bytes);
            cs_json_ku64(j, "device_bytes", f->span.device_bytes);
            cs_json_object_end(j);
        }
    }
    cs_json_array_end(j);
}

static void put_target(struct cs_json *j, struct cs_target t) {
    char text[CS_TARGET_TEXT_BYTES];
    cs_target_text(t, text);
    cs_json_z(j, text);
}

static void put_fits(struct cs_json *j, const struct cs_check_link *l) {
    cs_json_key(j, "fits_without");
    cs_json_array(j);
    for (size_t i = 0; i < l->fits.count; i++) {
        cs_json_object(j);
        cs_json_key(j, "targets");
        cs_json_array(j);
        for (uint32_t k = 0; k < l->fits.ptr[i].count; k++) {
            put_target(j, l->fits.ptr[i].leave[k]);
        }
        cs_json_array_end(j);
        cs_json_ku64(j, "span_bytes", l->fits.ptr[i].bytes);
        cs_json_object_end(j);
    }
    cs_json_array_end(j);
}

static void put_link(struct cs_json *j, const struct cs_check_link *l) {
    cs_json_key(j, "link");
    cs_json_object(j);
    cs_json_ku64(j, "objects", l->sections.objects);
    cs_json_ku64(j, "span_bytes", l->span_bytes);
    cs_json_ku64(j, "limit_bytes", l->limit_bytes);
    cs_json_ku64(j, "device_bytes", l->device_bytes);
    cs_json_ku64(j, "scripted_bytes", l->scripted_bytes);
    cs_json_key(j, "targets");
    cs_json_array(j);
    for (size_t i = 0; i < l->targets.count; i++) {
        cs_json_object(j);
        cs_json_key(j, "target");
        put_target(j, l->targets.ptr[i].target);
        cs_json_ku64(j, "bytes", l->targets.ptr[i].bytes);
        cs_json_object_end(j);
    }
    cs_json_array_end(j);
    put_fits(j, l);
    cs_json_object_end(j);
}

static void put_limits(struct cs_json *j, const struct cs_check *c) {
    cs_json_key(j, "limits");
    cs_json_array(j);
    for (uint32_t i = 0; i < CS_LIMIT_KINDS; i++) {
        const struct cs_check_limit *l = &c->limits[i];
        cs_json_object(j);
        cs_json_kz(j, "name", l->name);
        cs_json_ku64(j, "limit_bytes", l->limit_bytes);
        cs_json_ku64(j, "bytes", l->bytes);
        cs_json_kstr(j, "where", l->where);
        cs_json_kbool(j, "fits", l->bytes < l->limit_bytes);
        cs_json_object_end(j);
    }
    cs_json_array_end(j);
}

void cs_check_json(const void *view, struct cs_json *j) {
    const struct cs_check_view *v = view;
    const struct cs_check *c = v->check;
    cs_json_kbool(j, "pass", c->pass);
    cs_json_kbool(j, "promised", c->options->asked);
    put_inputs(j, c->inv);
    put_totals(j, c);
    put_floor(j, c);
    cs_json_key(j, "devices");
    cs_json_array(j);
    for (uint32_t r = 0; r < c->coverage.rows.count; r++) {
        put_row(j, v, r);
    }
    cs_json_array_end(j);
    put_gauges(j, c);
    put_cuts(j, c);
    put_spans(j, c);
    put_limits(j, c);
    if (c->link.made) {
        put_link(j, &c->link);
    }
    put_findings(j, c);
}
