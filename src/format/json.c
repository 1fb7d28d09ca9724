// JSON writer: text grows in a cs_buf, one call a token, keys in the order of the calls.
//
// RFC 8259.  The result is always valid JSON in valid UTF-8: names come from files that nobody
// vouches for, so bytes that are not UTF-8 become U+FFFD, one for each maximal broken sequence, as
// the Unicode standard recommends (section 3.9).  Wrong nesting is our own bug and asserted.
#include "format/json.h"

#include "base/limits.h"

_Static_assert(CS_MAX_JSON_DEPTH <= 64, "one bit a level in struct cs_json");

void cs_json_init(struct cs_json *j, struct cs_buf *out, bool pretty) {
    *j = (struct cs_json){.out = out, .pretty = pretty};
}

static uint64_t level_bit(const struct cs_json *j) { return (uint64_t)1 << (j->depth - 1); }

static void new_line(struct cs_json *j) {
    if (j->pretty) {
        cs_buf_addc(j->out, '\n');
        cs_buf_pad(j->out, ' ', (size_t)j->depth * 2);
    }
}

// Comma and line break before the next item of the current level.
static void next_item(struct cs_json *j) {
    if (j->has_item & level_bit(j)) {
        cs_buf_addc(j->out, ',');
    }
    j->has_item |= level_bit(j);
    new_line(j);
}

static void before_value(struct cs_json *j) {
    if (j->after_key) {
        j->after_key = false;
    } else if (j->depth > 0) {
        CS_ASSERT(j->is_array & level_bit(j));
        next_item(j);
    }
}

static void open_level(struct cs_json *j, bool is_array) {
    before_value(j);
    CS_ASSERT(j->depth < CS_MAX_JSON_DEPTH);
    j->depth++;
    j->has_item &= ~level_bit(j);
    j->is_array = is_array ? j->is_array | level_bit(j) : j->is_array & ~level_bit(j);
    cs_buf_addc(j->out, is_array ? '[' : '{');
}

static void close_level(struct cs_json *j, bool is_array) {
    CS_ASSERT(j->depth > 0 && !j->after_key);
    CS_ASSERT(((j->is_array & level_bit(j)) != 0) == is_array);
    const bool had_items = (j->has_item & level_bit(j)) != 0;
    j->depth--;
    if (had_items) {
        new_line(j);
    }
    cs_buf_addc(j->out, is_array ? ']' : '}');
}

void cs_json_object(struct cs_json *j) { open_level(j, false); }
void cs_json_object_end(struct cs_json *j) { close_level(j, false); }
void cs_json_array(struct cs_json *j) { open_level(j, true); }
void cs_json_array_end(struct cs_json *j) { close_level(j, true); }

// Bytes of a UTF-8 sequence at p, or 0 when broken; *broken then says how many bytes to replace.
// Table 3-7 of the Unicode standard.
static size_t utf8_len(const uint8_t *p, size_t left, size_t *broken) {
    const uint8_t a = p[0];
    size_t len = 0;
    uint8_t low = 0x80, high = 0xBF;
    if (a < 0x80) {
        return 1;
    } else if (a >= 0xC2 && a <= 0xDF) {
        len = 2;
    } else if (a >= 0xE0 && a <= 0xEF) {
        len = 3;
        low = a == 0xE0 ? 0xA0 : low;
        high = a == 0xED ? 0x9F : high;
    } else if (a >= 0xF0 && a <= 0xF4) {
        len = 4;
        low = a == 0xF0 ? 0x90 : low;
        high = a == 0xF4 ? 0x8F : high;
    }
    *broken = 1;
    for (size_t i = 1; i < len; i++) {
        if (i >= left || p[i] < low || p[i] > high) {
            *broken = i;
            return 0;
        }
        low = 0x80;
        high = 0xBF;
    }
    return len;
}

static void add_text(struct cs_buf *out, struct cs_str s) {
    cs_buf_addc(out, '"');
    const uint8_t *p = (const uint8_t *)(s.len ? s.ptr : "");
    size_t i = 0, plain = 0;  // [plain, i) can be copied as it is
    while (i < s.len) {
        const uint8_t c = p[i];
        if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
            i++;
            continue;
        }
        size_t broken = 0;
        const size_t len = utf8_len(p + i, s.len - i, &broken);
        if (len > 1) {
            i += len;
            continue;
        }
        cs_buf_add(out, p + plain, i - plain);
        if (len == 0) {
            cs_buf_adds(out, "\xEF\xBF\xBD");
            i += broken;
        } else if (c < 0x20) {
            cs_buf_printf(out, "\\u%04x", (unsigned)c);
            i++;
        } else {
            cs_buf_addc(out, '\\');
            cs_buf_addc(out, (char)c);
            i++;
        }
        plain = i;
    }
    cs_buf_add(out, p + plain, i - plain);
    cs_buf_addc(out, '"');
}

void cs_json_key_str(struct cs_json *j, struct cs_str key) {
    CS_ASSERT(j->depth > 0 && !j->after_key && !(j->is_array & level_bit(j)));
    next_item(j);
    add_text(j->out, key);
    cs_buf_adds(j->out, j->pretty ? ": " : ":");
    j->after_key = true;
}

void cs_json_key(struct cs_json *j, const char *key) { cs_json_key_str(j, cs_str_from(key)); }

void cs_json_str(struct cs_json *j, struct cs_str s) {
    before_value(j);
    add_text(j->out, s);
}

void cs_json_z(struct cs_json *j, const char *z) { cs_json_str(j, cs_str_from(z)); }

static void add_number(struct cs_buf *out, uint64_t x) {
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + x % 10);
        x /= 10;
    } while (x > 0);
    cs_buf_add(out, digits + at, sizeof digits - at);
}

void cs_json_u64(struct cs_json *j, uint64_t x) {
    before_value(j);
    add_number(j->out, x);
}

void cs_json_i64(struct cs_json *j, int64_t x) {
    before_value(j);
    if (x < 0) {
        cs_buf_addc(j->out, '-');
    }
    add_number(j->out, x < 0 ? 0 - (uint64_t)x : (uint64_t)x);
}

void cs_json_bool(struct cs_json *j, bool x) {
    before_value(j);
    cs_buf_adds(j->out, x ? "true" : "false");
}

void cs_json_null(struct cs_json *j) {
    before_value(j);
    cs_buf_adds(j->out, "null");
}

void cs_json_kstr(struct cs_json *j, const char *key, struct cs_str s) {
    cs_json_key(j, key);
    cs_json_str(j, s);
}

void cs_json_kz(struct cs_json *j, const char *key, const char *z) {
    cs_json_key(j, key);
    cs_json_z(j, z);
}

void cs_json_ku64(struct cs_json *j, const char *key, uint64_t x) {
    cs_json_key(j, key);
    cs_json_u64(j, x);
}

void cs_json_kbool(struct cs_json *j, const char *key, bool x) {
    cs_json_key(j, key);
    cs_json_bool(j, x);
}

void cs_json_knull(struct cs_json *j, const char *key) {
    cs_json_key(j, key);
    cs_json_null(j);
}
