// What a slim run did, as a document; as JSON in slim_json.c.

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

static void doc_raises(const struct cs_slim_result *r, struct cs_doc *d) {
    static const struct cs_col cols[] = {{CS_COL_TEXT, "device", "device"},
                                         {CS_COL_COUNT, "containers", "containers"},
                                         {CS_COL_TEXT, "driver before", "before"},
                                         {CS_COL_TEXT, "driver after", "after"}};
    struct cs_table *t = cs_doc_table(d, "Devices that need a newer driver", cols, 4);
    for (size_t i = 0; i < r->price.raises.count; i++) {
        const struct cs_slim_raise *x = &r->price.raises.ptr[i];
        char device[CS_TARGET_TEXT_BYTES];
        cs_device_text(x->device, device);
        struct cs_cell *c = cs_table_row(t);
        c[0] = cs_cell_str(cs_doc_printf(d, "%s", device));
        c[1] = cs_cell_u64(x->containers);
        c[2] = cs_cell_str(driver_text(d, x->before));
        c[3] = cs_cell_str(driver_text(d, x->after));
    }
}

void cs_slim_report_doc(const void *report, struct cs_doc *d) {
    const struct cs_slim_report *s = report;
    const struct cs_slim_result *r = s->result;
    if (r->is_wheel) {
        doc_before_after(d, "wheel", r->before_wheel_bytes, r->after_wheel_bytes);
    }
    doc_before_after(d, "installed", r->before_installed_bytes, r->after_installed_bytes);
    if (r->members.count) {
        doc_members(r, d);
    }
    doc_causes(r, d);
    if (r->price.changes.count) {
        doc_changes(r, d);
    } else {
        cs_doc_text(d, NULL, "Every device runs what it ran before.");
    }
    if (r->price.raises.count) {
        doc_raises(r, d);
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
    if (r->recovered) {
        cs_doc_note(d, "An earlier run had been cut short: %u files were put back first.",
                    r->recovered);
    }
    if (!r->changed) {
        cs_doc_note(d, r->members.count
                           ? "There is nothing to change: the output is the input."
                           : "There is no device code in it: the output is the input.");
    } else if (s->dry_run) {
        cs_doc_note(d, "Dry run: nothing was written.");
    } else {
        cs_doc_note(d, "Read back and verified: every image that was to stay is the same.");
    }
}
