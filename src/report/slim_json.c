// A slim run as JSON: the report (docs/schema/slim.json), and the proof (docs/schema/proof.json),
// which says in addition what became of every image.

#include "report/slim_report.h"

static void json_sizes(struct cs_json *j, const char *key, bool wheel, uint64_t wheel_bytes,
                       uint64_t installed_bytes) {
    cs_json_key(j, key);
    cs_json_object(j);
    if (wheel) {
        cs_json_ku64(j, "wheel_bytes", wheel_bytes);
    } else {
        cs_json_knull(j, "wheel_bytes");
    }
    cs_json_ku64(j, "installed_bytes", installed_bytes);
    cs_json_object_end(j);
}

static void json_driver(struct cs_json *j, const char *key, struct cs_driver d) {
    char text[CS_DRIVER_TEXT_BYTES];
    if (!cs_driver_known(d)) {
        cs_json_knull(j, key);
        return;
    }
    cs_driver_text(d, text);
    cs_json_kz(j, key, text);
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

static void json_changes(const struct cs_slim_result *r, struct cs_json *j) {
    cs_json_key(j, "devices");
    cs_json_array(j);
    for (size_t i = 0; i < r->price.changes.count; i++) {
        const struct cs_slim_change *x = &r->price.changes.ptr[i];
        char device[CS_TARGET_TEXT_BYTES] = "future";
        if (x->device.major) {
            cs_device_text(x->device, device);
        }
        cs_json_object(j);
        cs_json_kz(j, "device", device);
        cs_json_kz(j, "before", cs_outcome_name(x->before));
        cs_json_kz(j, "after", cs_outcome_name(x->after));
        json_target(j, "from", x->from);
        json_target(j, "to", x->to);
        cs_json_ku64(j, "containers", x->containers);
        cs_json_object_end(j);
    }
    cs_json_array_end(j);
}

static void json_hash(struct cs_json *j, const char *key, const uint8_t sha256[CS_SHA256_BYTES]) {
    static const char digits[] = "0123456789abcdef";
    char text[2 * CS_SHA256_BYTES];
    for (uint32_t i = 0; i < CS_SHA256_BYTES; i++) {
        text[2 * i] = digits[sha256[i] >> 4];
        text[2 * i + 1] = digits[sha256[i] & 15];
    }
    cs_json_kstr(j, key, (struct cs_str){text, sizeof text});
}

static void json_number(struct cs_json *j, const char *key, uint32_t x) {
    if (x == CS_NONE) {
        cs_json_knull(j, key);
    } else {
        cs_json_ku64(j, key, x);
    }
}

static void json_side(struct cs_json *j, const char *key, const struct cs_slim_image_side *side) {
    cs_json_key(j, key);
    cs_json_object(j);
    json_number(j, "container", side->container);
    json_number(j, "index", side->index);
    json_number(j, "part", side->part);
    cs_json_ku64(j, "offset", side->offset);
    cs_json_kz(j, "codec", cs_codec_name(side->codec));
    cs_json_kz(j, "hash_of", side->content ? "image" : "payload");
    cs_json_ku64(j, "bytes", side->bytes);
    json_hash(j, "sha256", side->sha256);
    cs_json_object_end(j);
}

static void json_image(const struct cs_slim_image *x, struct cs_json *j) {
    const char *kind = cs_fatbin_kind_name(x->kind);
    cs_json_object(j);
    cs_json_kstr(j, "inside", x->inside);
    cs_json_kstr(j, "section", x->section);
    cs_json_kz(j, "kind", kind ? kind : "unknown");
    cs_json_ku64(j, "kind_number", x->kind);
    json_target(j, "target", x->target);
    cs_json_kz(j, "became", cs_slim_fate_name(x->fate));
    if (x->fate == CS_SLIM_DROPPED) {
        cs_json_kz(j, "because", cs_slim_cause_name(x->cause));
    } else {
        cs_json_knull(j, "because");
    }
    json_side(j, "before", &x->before);
    if (x->fate == CS_SLIM_DROPPED) {
        cs_json_knull(j, "after");
    } else {
        json_side(j, "after", &x->after);
    }
    cs_json_object_end(j);
}

static void json_member(const struct cs_slim_member *m, bool images, struct cs_json *j) {
    cs_json_object(j);
    cs_json_kstr(j, "member", m->path);
    cs_json_ku64(j, "before_bytes", m->before_bytes);
    cs_json_ku64(j, "after_bytes", m->after_bytes);
    cs_json_ku64(j, "before_wheel_bytes", m->before_wheel_bytes);
    cs_json_ku64(j, "after_wheel_bytes", m->after_wheel_bytes);
    cs_json_ku64(j, "images_dropped", m->images_dropped);
    cs_json_ku64(j, "images_recompressed", m->images_recompressed);
    cs_json_key(j, "dropped_bytes");
    cs_json_object(j);
    for (uint32_t cause = CS_SLIM_KEPT + 1; cause < CS_SLIM_CAUSE_COUNT; cause++) {
        if (m->cause_bytes[cause]) {
            cs_json_ku64(j, cs_slim_cause_name((enum cs_slim_cause)cause), m->cause_bytes[cause]);
        }
    }
    cs_json_object_end(j);
    cs_json_key(j, "left_alone_because");
    if (m->reason.len && !m->changed) {
        cs_json_str(j, m->reason);
    } else {
        cs_json_null(j);
    }
    cs_json_key(j, "zero_filled_because");
    if (m->reason.len && m->filled) {
        cs_json_str(j, m->reason);
    } else {
        cs_json_null(j);
    }
    if (m->hashed) {
        json_hash(j, "before_sha256", m->before_sha256);
        json_hash(j, "after_sha256", m->after_sha256);
    }
    if (images) {
        cs_json_key(j, "images");
        cs_json_array(j);
        for (size_t i = 0; i < m->images.count; i++) {
            json_image(&m->images.ptr[i], j);
        }
        cs_json_array_end(j);
    }
    cs_json_object_end(j);
}

static void json_raises(const struct cs_slim_result *r, struct cs_json *j) {
    cs_json_key(j, "raised");
    cs_json_array(j);
    for (size_t i = 0; i < r->price.raises.count; i++) {
        const struct cs_slim_raise *x = &r->price.raises.ptr[i];
        char device[CS_TARGET_TEXT_BYTES];
        cs_device_text(x->device, device);
        cs_json_object(j);
        cs_json_kz(j, "device", device);
        json_driver(j, "before", x->before);
        json_driver(j, "after", x->after);
        cs_json_ku64(j, "containers", x->containers);
        cs_json_object_end(j);
    }
    cs_json_array_end(j);
}

static void json_result(const struct cs_slim_report *s, bool images, struct cs_json *j) {
    const struct cs_slim_result *r = s->result;
    cs_json_kstr(j, "output", r->output.ptr ? r->output : CS_STR(""));
    json_sizes(j, "before", r->is_wheel, r->before_wheel_bytes, r->before_installed_bytes);
    json_sizes(j, "after", r->is_wheel, r->after_wheel_bytes, r->after_installed_bytes);
    cs_json_key(j, "floor");
    cs_json_object(j);
    json_driver(j, "before", r->price.floor_before);
    json_driver(j, "after", r->price.floor_after);
    json_raises(r, j);
    cs_json_object_end(j);
    json_changes(r, j);
    cs_json_key(j, "members");
    cs_json_array(j);
    for (size_t i = 0; i < r->members.count; i++) {
        json_member(&r->members.ptr[i], images, j);
    }
    cs_json_array_end(j);
}

void cs_slim_report_json(const void *report, struct cs_json *j) {
    const struct cs_slim_report *s = report;
    json_result(s, false, j);
    cs_json_ku64(j, "recovered_files", s->result->recovered);
    cs_json_kbool(j, "dry_run", s->dry_run);
    cs_json_kbool(j, "verified", s->result->verified);
}

// ---- proof -----------------------------------------------------------------------------------

static void json_whole(const struct cs_slim_result *r, const char *input, struct cs_json *j) {
    cs_json_kz(j, "original", input);
    if (r->hashed) {
        json_hash(j, "original_sha256", r->before_sha256);
        json_hash(j, "output_sha256", r->after_sha256);
    } else {
        cs_json_knull(j, "original_sha256");
        cs_json_knull(j, "output_sha256");
    }
}

static void json_routes(const struct cs_reach *reach, struct cs_json *j) {
    cs_json_key(j, "routes");
    cs_json_array(j);
    for (size_t i = 0; reach && i < reach->routes.count; i++) {
        const struct cs_route *route = &reach->routes.ptr[i];
        cs_json_object(j);
        cs_json_kstr(j, "library", route->library);
        cs_json_kbool(j, "negated", route->negated);
        cs_json_key(j, "devices");
        cs_json_array(j);
        for (uint32_t d = 0; d < route->device_count; d++) {
            char device[CS_TARGET_TEXT_BYTES];
            cs_device_text(route->devices[d], device);
            cs_json_z(j, device);
        }
        cs_json_array_end(j);
        cs_json_object_end(j);
    }
    cs_json_array_end(j);
}

static void json_kept_kernels(const struct cs_intern *names, struct cs_json *j) {
    if (!names) {
        cs_json_knull(j, "kept_kernels");
        return;
    }
    cs_json_key(j, "kept_kernels");
    cs_json_array(j);
    for (uint32_t i = 0; i < names->texts.count; i++) {
        cs_json_str(j, cs_intern_text(names, i));
    }
    cs_json_array_end(j);
}

void cs_slim_proof_json(const struct cs_slim_report *report, const struct cs_slim_request *request,
                        struct cs_json *j) {
    json_whole(report->result, request->input, j);
    json_routes(request->options.reach, j);
    json_kept_kernels(request->options.keep_kernels, j);
    json_result(report, true, j);
}
