// DWARF line program headers: DWARF 2 to 4, section 6.2.4; DWARF 5, sections 6.2.4 and 6.2.4.1.
//
// A header is read up to its file table; the line program behind it is skipped by its length. Reads
// outside the header's own range give zero and end the table, so no length in it can mislead.
#include "format/dwarf.h"

enum {
    DW_LNCT_PATH = 1,
    DW_LNCT_DIRECTORY_INDEX = 2,
    DW_FORM_DATA2 = 0x05,
    DW_FORM_DATA4 = 0x06,
    DW_FORM_DATA8 = 0x07,
    DW_FORM_STRING = 0x08,
    DW_FORM_BLOCK = 0x09,
    DW_FORM_DATA1 = 0x0B,
    DW_FORM_STRP = 0x0E,
    DW_FORM_UDATA = 0x0F,
    DW_FORM_DATA16 = 0x1E,
    DW_FORM_LINE_STRP = 0x1F,
    NAME_MAX_BYTES = 4096,
    FORMATS_MAX = 16,  // columns of a table; five exist
    DIRS_MAX = 1 << 16,
};

struct cursor {
    struct cs_view v;
    uint64_t at;
    bool bad;  // something was outside, or not understood
};

struct tables {
    struct cs_view line_str, str;
    struct cs_dwarf_file *out;
    uint32_t cap, count;
};

static uint64_t take(struct cursor *c, uint32_t bytes) {
    if (!cs_view_has(c->v, c->at, bytes)) {
        c->bad = true;
        return 0;
    }
    uint64_t x = 0;
    memcpy(&x, c->v.ptr + c->at, bytes);
    c->at += bytes;
    return x;
}

static uint64_t take_uleb(struct cursor *c) {
    uint64_t x = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
        const uint64_t byte = take(c, 1);
        x |= (byte & 0x7F) << shift;
        if (!(byte & 0x80)) {
            return x;
        }
    }
    c->bad = true;
    return x;
}

static struct cs_str take_string(struct cursor *c) {
    bool ok;
    const struct cs_str s = cs_cstr(c->v, c->at, NAME_MAX_BYTES, &ok);
    c->bad = c->bad || !ok;
    c->at += s.len + 1;
    return s;
}

static struct cs_str string_at(struct cs_view strings, uint64_t off) {
    bool ok;
    const struct cs_str s = cs_cstr(strings, off, NAME_MAX_BYTES, &ok);
    return ok ? s : CS_STR("");
}

// Version 2 to 4: NUL-terminated directories until an empty one, then files likewise.  Directory 0
// is that of the compilation, which only .debug_info names.
static void read_tables_2(struct cursor *c, struct tables *t) {
    const struct cursor dirs = *c;
    uint32_t dir_count = 0;
    while (!c->bad && take_string(c).len > 0 && dir_count < DIRS_MAX) {
        dir_count++;
    }
    // Directories are looked up by walking them again: files come in their order nearly always.
    struct cursor walk = dirs;
    uint64_t walked = 0;
    struct cs_str dir = {"", 0};
    while (!c->bad && t->count < t->cap) {
        const struct cs_str name = take_string(c);
        if (c->bad || name.len == 0) {
            return;
        }
        const uint64_t wanted = take_uleb(c);
        (void)take_uleb(c);  // time
        (void)take_uleb(c);  // size
        if (wanted < walked) {
            walk = dirs;
            walked = 0;
        }
        while (walked < wanted && wanted <= dir_count) {
            dir = take_string(&walk);
            walked++;
        }
        const bool known = wanted > 0 && wanted <= dir_count;
        t->out[t->count++] = (struct cs_dwarf_file){known ? dir : CS_STR(""), name};
    }
}

struct column {
    uint64_t content, form;
};

static uint32_t read_columns(struct cursor *c, struct column out[FORMATS_MAX]) {
    const uint32_t count = (uint32_t)take(c, 1);
    if (count > FORMATS_MAX) {
        c->bad = true;
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        out[i].content = take_uleb(c);
        out[i].form = take_uleb(c);
    }
    return count;
}

// One value; text forms give *text, others *number.
static void read_value(struct cursor *c, uint64_t form, uint32_t offset_bytes,
                       const struct tables *t, struct cs_str *text, uint64_t *number) {
    switch (form) {
        case DW_FORM_STRING: *text = take_string(c); break;
        case DW_FORM_LINE_STRP: *text = string_at(t->line_str, take(c, offset_bytes)); break;
        case DW_FORM_STRP: *text = string_at(t->str, take(c, offset_bytes)); break;
        case DW_FORM_DATA1: *number = take(c, 1); break;
        case DW_FORM_DATA2: *number = take(c, 2); break;
        case DW_FORM_DATA4: *number = take(c, 4); break;
        case DW_FORM_DATA8: *number = take(c, 8); break;
        case DW_FORM_UDATA: *number = take_uleb(c); break;
        case DW_FORM_DATA16:
            (void)take(c, 8);
            (void)take(c, 8);
            break;
        case DW_FORM_BLOCK: {
            const uint64_t len = take_uleb(c);
            c->bad = c->bad || !cs_view_has(c->v, c->at, len);
            c->at += c->bad ? 0 : len;
            break;
        }
        default: c->bad = true;
    }
}

static struct cs_dwarf_file read_row(struct cursor *c, const struct column *columns, uint32_t count,
                                     uint32_t offset_bytes, const struct tables *t, uint64_t *dir) {
    struct cs_dwarf_file file = {CS_STR(""), CS_STR("")};
    for (uint32_t i = 0; i < count && !c->bad; i++) {
        struct cs_str text = CS_STR("");
        uint64_t number = 0;
        read_value(c, columns[i].form, offset_bytes, t, &text, &number);
        if (columns[i].content == DW_LNCT_PATH) {
            file.name = text;
        } else if (columns[i].content == DW_LNCT_DIRECTORY_INDEX) {
            *dir = number;
        }
    }
    return file;
}

// Version 5: both tables say how their rows look.  Only the first few directories are kept; files
// of others have none.
static void read_tables_5(struct cursor *c, uint32_t offset_bytes, struct tables *t) {
    enum { DIRS_KEPT = 64 };
    struct cs_str dirs[DIRS_KEPT];
    struct column columns[FORMATS_MAX];
    uint64_t index = 0, kept = 0;
    uint32_t width = read_columns(c, columns);
    const uint64_t dir_count = take_uleb(c);
    for (uint64_t i = 0; i < dir_count && width > 0 && !c->bad; i++) {
        const struct cs_str name = read_row(c, columns, width, offset_bytes, t, &index).name;
        if (kept < DIRS_KEPT) {
            dirs[kept++] = name;
        }
    }
    width = read_columns(c, columns);
    const uint64_t file_count = take_uleb(c);
    for (uint64_t i = 0; i < file_count && width > 0 && t->count < t->cap; i++) {
        index = 0;
        struct cs_dwarf_file file = read_row(c, columns, width, offset_bytes, t, &index);
        if (c->bad) {
            return;
        }
        if (index < kept) {
            file.dir = dirs[index];
        }
        t->out[t->count++] = file;
    }
}

static void read_header(struct cursor *c, uint32_t offset_bytes, struct tables *t) {
    const uint64_t version = take(c, 2);
    if (version < 2 || version > 5) {
        return;
    }
    if (version == 5) {
        (void)take(c, 2);  // sizes of addresses and segment selectors
    }
    (void)take(c, offset_bytes);          // header length
    (void)take(c, version >= 4 ? 2 : 1);  // instruction lengths
    (void)take(c, 3);                     // is_stmt, line base, line range
    const uint64_t opcodes = take(c, 1);
    for (uint64_t i = 1; i < opcodes; i++) {
        (void)take(c, 1);
    }
    if (version == 5) {
        read_tables_5(c, offset_bytes, t);
    } else {
        read_tables_2(c, t);
    }
}

uint32_t cs_dwarf_line_files(struct cs_view line, struct cs_view line_str, struct cs_view str,
                             struct cs_dwarf_file *out, uint32_t cap) {
    struct tables t = {line_str, str, out, cap, 0};
    struct cursor c = {line, 0, false};
    while (c.at < line.len && t.count < cap) {
        uint32_t offset_bytes = 4;
        uint64_t len = take(&c, 4);
        if (len == UINT32_MAX) {
            offset_bytes = 8;
            len = take(&c, 8);
        }
        struct cs_view unit;
        if (c.bad || len == 0 || !cs_view_sub(line, c.at, len, &unit)) {
            break;
        }
        struct cursor inside = {unit, 0, false};
        read_header(&inside, offset_bytes, &t);
        c.at += len;
    }
    return t.count;
}
