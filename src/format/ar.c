// ar archives: a magic, then members of a 60-byte text header and data, padded to even offsets.
//
// Spec: ar(5) and the System V ABI, chapter 7.  Three ways of naming are read: "name/" (System V),
// "/123" into the "//" table (GNU), "#1/len" with the name before the data (BSD, LLVM on macOS).
// Symbol indexes ("/", "/SYM64/", "__.SYMDEF") are marked and not read: nothing here needs them.
#include "format/ar.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/num.h"

enum { MAGIC_BYTES = 8, HEADER_BYTES = 60, NAME_BYTES = 16, SIZE_OFF = 48, SIZE_DIGITS = 10 };

static bool has_magic(struct cs_view file, const char *magic) {
    return file.len >= MAGIC_BYTES && memcmp(file.ptr, magic, MAGIC_BYTES) == 0;
}

bool cs_ar_probe(struct cs_view file) {
    return has_magic(file, "!<arch>\n") || has_magic(file, "!<thin>\n");
}

// Decimal digits and then only spaces; at most 15 digits are ever stored.
static bool read_decimal(struct cs_str text, uint64_t *out) {
    size_t i = 0;
    uint64_t value = 0;
    while (i < text.len && i < 15 && text.ptr[i] >= '0' && text.ptr[i] <= '9') {
        value = value * 10 + (uint64_t)(text.ptr[i] - '0');
        i++;
    }
    const bool some = i > 0;
    while (i < text.len && text.ptr[i] == ' ') {
        i++;
    }
    *out = value;
    return some && i == text.len;
}

static struct cs_str text_at(struct cs_view v, uint64_t off, uint64_t len) {
    const struct cs_view part = cs_view_at(v, off, len);
    return (struct cs_str){(const char *)part.ptr, (size_t)len};
}

static struct cs_str trim_spaces(struct cs_str s) {
    while (s.len > 0 && s.ptr[s.len - 1] == ' ') {
        s.len--;
    }
    return s;
}

// A GNU long name ends at "/\n"; some writers end it at "\n" or NUL alone.
static bool long_name(struct cs_view table, uint64_t off, struct cs_str *out) {
    if (off >= table.len) {
        return false;
    }
    const uint64_t room = cs_min_u64(table.len - off, (uint64_t)CS_MAX_PATH_BYTES + 2);
    const uint8_t *name = table.ptr + off;
    const uint8_t *end = memchr(name, '\n', (size_t)room);
    const uint8_t *nul = memchr(name, '\0', (size_t)(end ? (uint64_t)(end - name) : room));
    end = nul ? nul : end;
    if (!end) {
        return false;
    }
    *out = text_at(table, off, (uint64_t)(end - name));
    if (out->len > 0 && out->ptr[out->len - 1] == '/') {
        out->len--;
    }
    return true;
}

static enum cs_code resolve_name(struct cs_view file, struct cs_view names, struct cs_ar_member *m,
                                 struct cs_err *err) {
    const struct cs_str field = trim_spaces(text_at(file, m->header_off, NAME_BYTES));
    uint64_t number;
    m->name = field;
    if (cs_str_eq(field, CS_STR("/")) || cs_str_eq(field, CS_STR("//")) ||
        cs_str_eq(field, CS_STR("/SYM64/"))) {
        m->special = true;
        return CS_OK;
    }
    if (field.len > 1 && field.ptr[0] == '/') {
        if (!read_decimal((struct cs_str){field.ptr + 1, field.len - 1}, &number) ||
            !long_name(names, number, &m->name)) {
            return cs_fail_at(err, CS_FORMAT, m->header_off,
                              "long member name not in the name table");
        }
        return CS_OK;
    }
    if (cs_str_starts(field, CS_STR("#1/"))) {
        if (!read_decimal((struct cs_str){field.ptr + 3, field.len - 3}, &number) ||
            number > m->bytes || number > CS_MAX_PATH_BYTES) {
            return cs_fail_at(err, CS_FORMAT, m->header_off, "long member name exceeds its member");
        }
        m->name = text_at(file, m->data_off, number);
        while (m->name.len > 0 && m->name.ptr[m->name.len - 1] == '\0') {
            m->name.len--;  // padded with NULs
        }
        m->data_off += number;
        m->bytes -= number;
    } else if (field.len > 0 && field.ptr[field.len - 1] == '/') {
        m->name.len--;
    }
    m->special = cs_str_starts(m->name, CS_STR("__.SYMDEF"));
    return CS_OK;
}

// Reads the member whose header is at *off, and moves *off behind it.
static enum cs_code read_member(struct cs_ar *a, uint64_t *off, struct cs_view *names,
                                struct cs_err *err) {
    if (!cs_view_has(a->file, *off, HEADER_BYTES)) {
        return cs_fail_at(err, CS_FORMAT, *off, "truncated member header");
    }
    if (cs_u16(a->file, *off + HEADER_BYTES - 2) != 0x0a60) {  // "`\n"
        return cs_fail_at(err, CS_FORMAT, *off, "not a member header");
    }
    if (a->members.count >= CS_MAX_AR_MEMBERS) {
        return cs_fail_at(err, CS_LIMIT, *off, "more than %d members", CS_MAX_AR_MEMBERS);
    }
    struct cs_ar_member *m = cs_vec_push(&a->members);
    if (!m) {
        return cs_fail(err, CS_NOMEM, "no memory for %zu members", a->members.count + 1);
    }
    m->header_off = *off;
    m->data_off = *off + HEADER_BYTES;
    if (!read_decimal(text_at(a->file, *off + SIZE_OFF, SIZE_DIGITS), &m->bytes)) {
        return cs_fail_at(err, CS_FORMAT, *off + SIZE_OFF, "member size is not a number");
    }
    if (!cs_view_has(a->file, m->data_off, m->bytes)) {
        return cs_fail_at(err, CS_FORMAT, *off, "member of %llu bytes runs past the end",
                          (unsigned long long)m->bytes);
    }
    const uint64_t end = m->data_off + m->bytes;
    CS_TRY(resolve_name(a->file, *names, m, err));
    if (cs_str_eq(m->name, CS_STR("//"))) {
        *names = cs_view_at(a->file, m->data_off, m->bytes);
    }
    *off = end + (end & 1);
    return CS_OK;
}

enum cs_code cs_ar_open(struct cs_view file, struct cs_ar *out, struct cs_err *err) {
    *out = (struct cs_ar){.file = file};
    if (has_magic(file, "!<thin>\n")) {
        return cs_fail_at(err, CS_UNSUPPORTED, 0, "thin archive: its members lie in other files");
    }
    if (!cs_ar_probe(file)) {
        return cs_fail_at(err, CS_FORMAT, 0, "not an archive");
    }
    struct cs_view names = {NULL, 0};
    uint64_t off = MAGIC_BYTES;
    while (off < file.len) {
        const enum cs_code code = read_member(out, &off, &names, err);
        if (code != CS_OK) {
            cs_ar_close(out);
            return cs_wrap(err, code, "archive");
        }
    }
    return CS_OK;
}

void cs_ar_close(struct cs_ar *a) {
    cs_vec_fini(&a->members);
    *a = (struct cs_ar){0};
}
