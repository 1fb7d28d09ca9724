// The two descriptions of a slim run.

#include "report/slim_report.h"

static struct cs_str driver_text(struct cs_doc *d, struct cs_driver driver) {
    char text[CS_DRIVER_TEXT_BYTES];
    cs_driver_text(driver, text);
    return cs_doc_printf(d, "%s", text);
}

static struct cs_str target_text(struct cs_doc *d, struct cs_target t) {
    char text[CS_TARGET_TEXT_BYTES];
    if (t.arch == 0) {
        return CS_STR("nothing");
    }
    cs_target_text(t, text);
    return cs_doc_printf(d, "%s", text);
}

static void doc_before_after(struct cs_doc *d, const char *label, uint64_t before, uint64_t after) {
    static const struct cs_col cols[] = {{CS_COL_TEXT, "size", "size"},
                                         {CS_COL_BYTES, "before", "before_bytes"},
                                         {CS_COL_BYTES, "after", "after_bytes"},
                                         {CS_COL_DELTA, "change", "change_bytes"},
                                         {CS_COL_PERCENT, "left", "left_percent"}};
    struct cs_table *t = NULL;
    if (d->blocks.count && d->blocks.ptr[d->blocks.count - 1].type == CS_BLOCK_TABLE) {
        t = d->blocks.ptr[d->blocks.count - 1].table;
    }
    t = t ? t : cs_doc_table(d, NULL, cols, 5);
    struct cs_cell *c = cs_table_row(t);
    c[0] = cs_cell_z(label);
    c[1] = cs_cell_u64(before);
    c[2] = cs_cell_u64(after);
    c[3] = cs_cell_i64((int64_t)after - (int64_t)before);
    c[4] = cs_cell_share(after, before);
}

static void doc_members(const struct cs_slim_result *r, struct cs_doc *d) {
    static const struct cs_col cols[] = {{CS_COL_BYTES, "before", "before_bytes"},
                                         {CS_COL_BYTES, "after", "after_bytes"},
                                         {CS_COL_COUNT, "dropped", "images_dropped"},
                                         {CS_COL_COUNT, "recompr.", "images_recompressed"},
                                         {CS_COL_NAME, "file", "member"}};
    static const struct cs_col wheel_cols[] = {{CS_COL_BYTES, "before", "before_bytes"},
                                               {CS_COL_BYTES, "after", "after_bytes"},
                                               {CS_COL_BYTES, "in wheel", "before_wheel_bytes"},
                                               {CS_COL_BYTES, "after", "after_wheel_bytes"},
                                               {CS_COL_COUNT, "dropped", "images_dropped"},
                                               {CS_COL_COUNT, "recompr.", "images_recompressed"},
                                               {CS_COL_NAME, "file", "member"}};
    struct cs_table *t = r->is_wheel ? cs_doc_table(d, "Files with device code", wheel_cols, 7)
                                     : cs_doc_table(d, "Files with device code", cols, 5);
    for (size_t i = 0; i < r->members.count; i++) {
        const struct cs_slim_member *m = &r->members.ptr[i];
        struct cs_cell *c = cs_table_row(t);
        *c++ = cs_cell_u64(m->before_bytes);
        *c++ = cs_cell_u64(m->after_bytes);
        if (r->is_wheel) {
            *c++ = cs_cell_u64(m->before_wheel_bytes);
            *c++ = cs_cell_u64(m->after_wheel_bytes);
        }
        *c++ = cs_cell_u64(m->images_dropped);
        *c++ = cs_cell_u64(m->images_recompressed);
        *c = cs_cell_str(m->path);
    }
}

static void doc_causes(const struct cs_slim_result *r, struct cs_doc *d) {
    static const struct cs_col cols[] = {{CS_COL_BYTES, "bytes in files", "file_bytes"},
                                         {CS_COL_TEXT, "why images were dropped", "cause"}};
    struct cs_table *t = NULL;
    for (uint32_t cause = CS_SLIM_KEPT + 1; cause < CS_SLIM_CAUSE_COUNT; cause++) {
        uint64_t bytes = 0;
        for (size_t i = 0; i < r->members.count; i++) {
            bytes += r->members.ptr[i].cause_bytes[cause];
        }
        if (bytes) {
            t = t ? t : cs_doc_table(d, "Causes", cols, 2);
            struct cs_cell *c = cs_table_row(t);
            c[0] = cs_cell_u64(bytes);
            c[1] = cs_cell_z(cs_slim_cause_name((enum cs_slim_cause)cause));
        }
    }
}

static void doc_changes(const struct cs_slim_result *r, struct cs_doc *d) {
    static const struct cs_col cols[] = {
        {CS_COL_TEXT, "device", "device"},   {CS_COL_COUNT, "containers", "containers"},
        {CS_COL_TEXT, "before", "before"},   {CS_COL_TEXT, "ran", "from"},
        {CS_COL_TEXT, "after", "after"},     {CS_COL_TEXT, "runs", "to"},
    };
    struct cs_table *t = cs_doc_table(d, "Devices whose outcome changes", cols, 6);
    for (size_t i = 0; i < r->price.changes.count; i++) {
        const struct cs_slim_change *x = &r->price.changes.ptr[i];
        char device[CS_TARGET_TEXT_BYTES] = "future";
        if (x->device.major) {
            cs_device_text(x->device, device);
        }
        struct cs_cell *c = cs_table_row(t);
        c[0] = cs_cell_str(cs_doc_printf(d, "%s", device));
        c[1] = cs_cell_u64(x->containers);
        c[2] = cs_cell_z(cs_outcome_name(x->before));
        c[3] = cs_cell_str(target_text(d, x->from));
        c[4] = cs_cell_z(cs_outcome_name(x->after));
        c[5] = cs_cell_str(target_text(d, x->to));
    }
}

void cs_slim_report_doc(const void *report, struct cs_doc *d) {
    const struct cs_slim_report *s = report;
    const struct cs_slim_result *r = s->result;
    if (r->is_wheel) {
        doc_before_after(d, "wheel", r->before_wheel_bytes, r->after_wheel_bytes);
    }
    doc_before_after(d, "installed", r->before_installed_bytes, r->after_installed_bytes);
    doc_members(r, d);
    doc_causes(r, d);
    if (r->price.changes.count) {
        doc_changes(r, d);
    } else {
        cs_doc_text(d, NULL, "Every device runs what it ran before.");
    }
    cs_doc_fact(d, "driver floor before", CS_COL_TEXT,
                cs_cell_str(driver_text(d, r->price.floor_before)));
    cs_doc_fact(d, "driver floor after", CS_COL_TEXT,
                cs_cell_str(driver_text(d, r->price.floor_after)));
    cs_doc_fact(d, "seconds", CS_COL_TEXT, cs_cell_str(cs_doc_printf(d, "%.1f", s->seconds)));
    for (size_t i = 0; i < r->members.count; i++) {
        const struct cs_slim_member *m = &r->members.ptr[i];
        if (m->reason.len) {
            cs_doc_note(d, "%.*s: %s: %.*s", (int)m->path.len, m->path.ptr,
                        m->filled ? "free space stays in the file as zeros" : "left alone",
                        (int)m->reason.len, m->reason.ptr);
        }
    }
    if (s->dry_run) {
        cs_doc_note(d, "Dry run: nothing was written.");
    } else {
        cs_doc_note(d, "Read back and verified: every image that was to stay is the same.");
    }
}

// ---- JSON ------------------------------------------------------------------------------------

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

static void json_member(const struct cs_slim_member *m, struct cs_json *j) {
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
    cs_json_object_end(j);
}

void cs_slim_report_json(const void *report, struct cs_json *j) {
    const struct cs_slim_report *s = report;
    const struct cs_slim_result *r = s->result;
    cs_json_kstr(j, "output", r->output.ptr ? r->output : CS_STR(""));
    json_sizes(j, "before", r->is_wheel, r->before_wheel_bytes, r->before_installed_bytes);
    json_sizes(j, "after", r->is_wheel, r->after_wheel_bytes, r->after_installed_bytes);
    cs_json_key(j, "floor");
    cs_json_object(j);
    json_driver(j, "before", r->price.floor_before);
    json_driver(j, "after", r->price.floor_after);
    cs_json_object_end(j);
    json_changes(r, j);
    cs_json_key(j, "members");
    cs_json_array(j);
    for (size_t i = 0; i < r->members.count; i++) {
        json_member(&r->members.ptr[i], j);
    }
    cs_json_array_end(j);
    cs_json_kbool(j, "dry_run", s->dry_run);
    cs_json_kbool(j, "verified", r->verified);
}
