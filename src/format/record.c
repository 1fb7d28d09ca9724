// RECORD: parse (CSV as Python's csv module reads it), compare with files, rewrite.
//
// Spec: packaging guide, "Binary distribution format" (The .dist-info directory) and "Recording
// installed projects" (The RECORD file); RFC 4648 section 5 for the base64 alphabet.
#include "format/record.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"

enum { HASH_CHARS = 43, MAX_ROWS = CS_MAX_ZIP_MEMBERS * 4, SIZE_DIGITS = 19 };

static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void cs_record_hash_format(const uint8_t sha256[CS_SHA256_BYTES], char out[CS_RECORD_HASH_TEXT]) {
    memcpy(out, "sha256=", 7);
    char *p = out + 7;
    for (size_t i = 0; i < HASH_CHARS; i++) {
        const size_t bit = i * 6;
        const size_t byte = bit / 8;
        const unsigned next = byte + 1 < CS_SHA256_BYTES ? sha256[byte + 1] : 0;
        const unsigned pair = (unsigned)sha256[byte] << 8 | next;
        *p++ = ALPHABET[pair >> (10 - bit % 8) & 63];
    }
    *p = '\0';
}

static int base64_value(char c) {
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    return c == '-' || c == '+' ? 62 : c == '_' || c == '/' ? 63 : -1;
}

static bool decode_sha256(struct cs_str s, struct cs_record_row *row) {
    while (s.len > HASH_CHARS && s.ptr[s.len - 1] == '=') {
        s.len--;
        row->faults |= CS_RECORD_PADDED;
    }
    if (s.len != HASH_CHARS) {
        return false;
    }
    uint32_t hold = 0;
    unsigned bits = 0;
    size_t made = 0;
    for (size_t i = 0; i < s.len; i++) {
        const int v = base64_value(s.ptr[i]);
        if (v < 0) {
            return false;
        }
        if (s.ptr[i] == '+' || s.ptr[i] == '/') {
            row->faults |= CS_RECORD_NOT_URLSAFE;
        }
        hold = hold << 6 | (uint32_t)v;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            row->sha256[made++] = (uint8_t)(hold >> bits);
        }
    }
    return (hold & 3) == 0;  // 43 * 6 = 258: two bits are left over, and must be 0
}

static void read_hash(struct cs_record_row *row) {
    const struct cs_str text = row->hash_text;
    if (text.len == 0) {
        row->hash = CS_RECORD_HASH_NONE;
        return;
    }
    const char *equals = memchr(text.ptr, '=', text.len);
    const struct cs_str name = {text.ptr, equals ? (size_t)(equals - text.ptr) : 0};
    const struct cs_str value = {text.ptr + name.len + 1, equals ? text.len - name.len - 1 : 0};
    if (name.len == 0 || value.len == 0) {
        row->hash = CS_RECORD_HASH_BAD;
    } else if (cs_str_eq(name, CS_STR("sha256"))) {
        row->hash = decode_sha256(value, row) ? CS_RECORD_HASH_SHA256 : CS_RECORD_HASH_BAD;
    } else if (cs_str_eq(name, CS_STR("md5")) || cs_str_eq(name, CS_STR("sha1"))) {
        row->hash = CS_RECORD_HASH_WEAK;
    } else {
        row->hash = CS_RECORD_HASH_OTHER;
    }
}

static void read_size(struct cs_str text, struct cs_record_row *row) {
    uint64_t value = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (i == SIZE_DIGITS || text.ptr[i] < '0' || text.ptr[i] > '9') {
            row->faults |= CS_RECORD_BAD_SIZE;
            return;
        }
        value = value * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    row->has_size = text.len > 0;
    row->size = value;
}

struct reader {
    struct cs_record *r;
    struct cs_view text;
    uint64_t at;
};

static bool at_line_end(const struct reader *in) {
    const uint8_t c = cs_u8(in->text, in->at);
    return in->at >= in->text.len || c == '\n' || c == '\r';
}

// A field that starts with a quote: "" is a quote, the last quote ends it.  What follows up to the
// comma is taken along, as Python does, and marked.
static bool read_quoted(struct reader *in, struct cs_str *out, uint32_t *faults) {
    const uint64_t start = in->at + 1;
    uint64_t end = start;
    uint64_t escapes = 0;
    while (end < in->text.len) {
        if (in->text.ptr[end] == '"') {
            if (end + 1 >= in->text.len || in->text.ptr[end + 1] != '"') {
                break;
            }
            escapes++;
            end++;
        }
        end++;
    }
    const bool closed = end < in->text.len;
    in->at = closed ? end + 1 : end;
    const uint64_t tail = in->at;
    while (!at_line_end(in) && in->text.ptr[in->at] != ',') {
        in->at++;
    }
    const uint64_t tail_len = in->at - tail;
    *out = (struct cs_str){(const char *)in->text.ptr + start, (size_t)(end - start)};
    if (!closed || tail_len > 0) {
        *faults |= CS_RECORD_QUOTES;
    }
    if (escapes == 0 && tail_len == 0) {
        return true;
    }
    char *plain = cs_arena_alloc(&in->r->arena, out->len + (size_t)tail_len + 1);
    if (!plain) {
        return false;
    }
    size_t len = 0;
    for (size_t i = 0; i < out->len; i++) {
        plain[len++] = out->ptr[i];
        i += out->ptr[i] == '"' ? 1 : 0;
    }
    memcpy(plain + len, in->text.ptr + tail, (size_t)tail_len);
    *out = (struct cs_str){plain, len + (size_t)tail_len};
    return true;
}

static bool read_field(struct reader *in, struct cs_str *out, uint32_t *faults) {
    if (cs_u8(in->text, in->at) == '"') {
        return read_quoted(in, out, faults);
    }
    const uint64_t start = in->at;
    while (!at_line_end(in) && in->text.ptr[in->at] != ',') {
        *faults |= in->text.ptr[in->at] == '"' ? CS_RECORD_QUOTES : 0;
        in->at++;
    }
    *out = (struct cs_str){(const char *)in->text.ptr + start, (size_t)(in->at - start)};
    return true;
}

static uint32_t skip_line_end(struct reader *in) {
    const uint64_t start = in->at;
    if (cs_u8(in->text, in->at) == '\r') {
        in->at++;
    }
    if (cs_u8(in->text, in->at) == '\n') {
        in->at++;
    }
    return (uint32_t)(in->at - start);
}

static bool read_row(struct reader *in, struct cs_record_row *row) {
    struct cs_str field[3] = {{"", 0}, {"", 0}, {"", 0}};
    struct cs_str beyond;
    uint32_t fields = 0;
    for (;;) {
        if (!read_field(in, fields < 3 ? &field[fields] : &beyond, &row->faults)) {
            return false;
        }
        fields++;
        if (at_line_end(in)) {
            break;
        }
        in->at++;  // the comma
    }
    row->eol_bytes = skip_line_end(in);
    row->bytes = in->at - row->off;
    row->path = field[0];
    row->hash_text = field[1];
    row->faults |= fields != 3 ? CS_RECORD_FIELDS : 0;
    row->faults |=
        cs_path_is_plain(row->path) && cs_utf8_valid(row->path, NULL) ? 0 : CS_RECORD_BAD_PATH;
    row->faults |=
        row->path.len > 0 && row->path.ptr[row->path.len - 1] == '/' ? CS_RECORD_DIRECTORY : 0;
    read_hash(row);
    read_size(field[2], row);
    return true;
}

// The slot where a path is, or where it belongs.
static uint32_t find_slot(const struct cs_record *r, struct cs_str path) {
    uint32_t slot = (uint32_t)cs_hash64(path.ptr, path.len) & (r->slot_count - 1);
    while (r->slots[slot] && !cs_str_eq(r->rows.ptr[r->slots[slot] - 1].path, path)) {
        slot = (slot + 1) & (r->slot_count - 1);
    }
    return slot;
}

static bool build_index(struct cs_record *r) {
    r->slot_count = 16;
    while (r->slot_count < r->rows.count * 2) {
        r->slot_count *= 2;
    }
    r->slots = cs_calloc(r->slot_count, sizeof *r->slots);
    if (!r->slots) {
        return false;
    }
    for (uint32_t i = 0; i < r->rows.count; i++) {
        const uint32_t slot = find_slot(r, r->rows.ptr[i].path);
        if (r->slots[slot]) {
            r->rows.ptr[i].faults |= CS_RECORD_DUPLICATE;
        } else {
            r->slots[slot] = i + 1;
        }
    }
    return true;
}

enum cs_code cs_record_parse(struct cs_view text, struct cs_record *out, struct cs_err *err) {
    text = text.ptr ? text : cs_view_of("", 0);
    *out = (struct cs_record){.text = text};
    cs_arena_init(&out->arena);
    struct reader in = {.r = out, .text = text};
    uint32_t line = 1;
    while (in.at < text.len) {
        if (at_line_end(&in)) {
            skip_line_end(&in);
            out->empty_lines++;
            line++;
            continue;
        }
        if (out->rows.count >= MAX_ROWS) {
            cs_record_close(out);
            return cs_fail_at(err, CS_LIMIT, in.at, "RECORD has more than %d rows", MAX_ROWS);
        }
        struct cs_record_row *row = cs_vec_push(&out->rows);
        if (row) {
            row->off = in.at;
            row->line = line++;
        }
        if (!row || !read_row(&in, row)) {
            cs_record_close(out);
            return cs_fail(err, CS_NOMEM, "no memory for RECORD");
        }
    }
    if (!build_index(out)) {
        cs_record_close(out);
        return cs_fail(err, CS_NOMEM, "no memory for RECORD");
    }
    return CS_OK;
}

void cs_record_close(struct cs_record *r) {
    cs_vec_fini(&r->rows);
    cs_free(r->slots);
    cs_arena_fini(&r->arena);
    *r = (struct cs_record){0};
}

uint32_t cs_record_find(const struct cs_record *r, struct cs_str path) {
    return r->slot_count ? r->slots[find_slot(r, path)] - 1 : CS_RECORD_NONE;
}
