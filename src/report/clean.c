// UTF-8 per RFC 3629 (no overlong forms, no surrogates, nothing above U+10FFFF).
#include "report/clean.h"


#define INVALID UINT32_MAX

// The code point at s[0] and its length; INVALID and 1 when the bytes are not UTF-8.
static uint32_t decode(struct cs_str s, size_t *len) {
    const unsigned char *p = (const unsigned char *)s.ptr;
    *len = 1;
    if (p[0] < 0x80) {
        return p[0];
    }
    const size_t need = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    if (p[0] < 0xC2 || p[0] > 0xF4 || s.len < need) {
        return INVALID;
    }
    uint32_t c = p[0] & (0x7Fu >> need);
    for (size_t i = 1; i < need; i++) {
        if ((p[i] & 0xC0) != 0x80) {
            return INVALID;
        }
        c = c << 6 | (p[i] & 0x3Fu);
    }
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (c < smallest[need] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) {
        return INVALID;
    }
    *len = need;
    return c;
}

struct range {
    uint32_t first, last;
};

static bool in_ranges(uint32_t c, const struct range *ranges, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (c >= ranges[i].first && c <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

// Controls, and every format character that hides, reorders or breaks what is around it.
static bool is_hostile(uint32_t c) {
    static const struct range ranges[] = {
        {0x00, 0x1F},       {0x7F, 0x9F},       {0xAD, 0xAD},       {0x34F, 0x34F},
        {0x61C, 0x61C},     {0x115F, 0x1160},   {0x17B4, 0x17B5},   {0x180B, 0x180F},
        {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},   {0x3164, 0x3164},
        {0xE000, 0xF8FF},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},
        {0xFFF0, 0xFFFB},   {0xFFFE, 0xFFFF},   {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
        {0xF0000, 0x10FFFF},
    };
    return in_ranges(c, ranges, sizeof ranges / sizeof ranges[0]);
}

// 0 for marks that sit on the letter before, 2 for the wide East Asian blocks, else 1.
static size_t char_width(uint32_t c) {
    static const struct range marks[] = {
        {0x300, 0x36F}, {0x483, 0x489}, {0x591, 0x5BD}, {0x610, 0x61A}, {0x64B, 0x65F},
        {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0xFE20, 0xFE2F},
    };
    static const struct range wide[] = {
        {0x1100, 0x115E}, {0x2E80, 0x303E}, {0x3041, 0xA4CF}, {0xAC00, 0xD7A3}, {0xF900, 0xFAFF},
        {0xFE30, 0xFE6F}, {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6}, {0x1F300, 0x1FAFF},
        {0x20000, 0x3FFFD},
    };
    if (in_ranges(c, marks, sizeof marks / sizeof marks[0])) {
        return 0;
    }
    return in_ranges(c, wide, sizeof wide / sizeof wide[0]) ? 2 : 1;
}

void cs_clean(struct cs_buf *out, struct cs_str s) {
    size_t plain = 0;  // start of the run not yet copied
    for (size_t i = 0; i < s.len;) {
        if (s.ptr[i] >= 0x20 && s.ptr[i] < 0x7F) {  // nearly every byte there is
            i++;
            continue;
        }
        size_t len;
        const uint32_t c = decode((struct cs_str){s.ptr + i, s.len - i}, &len);
        if (c == INVALID || is_hostile(c)) {
            cs_buf_add(out, s.ptr + plain, i - plain);
            if (c == INVALID || c < 0x80) {
                cs_buf_printf(out, "\\x%02X", (unsigned char)s.ptr[i]);
            } else {
                cs_buf_printf(out, "\\u{%X}", c);
            }
            plain = i + len;
        }
        i += len;
    }
    cs_buf_add(out, s.ptr + plain, s.len - plain);
}

size_t cs_clean_width(struct cs_str clean) {
    size_t width = 0;
    for (size_t i = 0, len; i < clean.len; i += len) {
        width += char_width(decode((struct cs_str){clean.ptr + i, clean.len - i}, &len));
    }
    return width;
}

// Bytes of the longest beginning that fits into `width` columns, marks included.
static size_t head_bytes(struct cs_str clean, size_t width) {
    size_t used = 0, i = 0, len;
    for (; i < clean.len; i += len) {
        used += char_width(decode((struct cs_str){clean.ptr + i, clean.len - i}, &len));
        if (used > width) {
            break;
        }
    }
    return i;
}

// Start of the longest end that fits and does not begin with a mark.
static size_t tail_start(struct cs_str clean, size_t width) {
    size_t used = 0, start = clean.len;
    for (size_t i = clean.len; i > 0;) {
        do {
            i--;
        } while (i > 0 && ((unsigned char)clean.ptr[i] & 0xC0) == 0x80);
        size_t len;
        const size_t w = char_width(decode((struct cs_str){clean.ptr + i, clean.len - i}, &len));
        used += w;
        if (used > width) {
            break;
        }
        if (w > 0) {
            start = i;
        }
    }
    return start;
}

// Where the parameter list at the end of a function's name opens; s.len when there is none.
static size_t parameters_start(struct cs_str s) {
    size_t depth = 0;
    for (size_t i = s.len; i-- > 0 && s.ptr[s.len - 1] == ')';) {
        depth += s.ptr[i] == ')';
        depth -= s.ptr[i] == '(';
        if (depth == 0) {
            return i;
        }
    }
    return s.len;
}

static void put_ends(struct cs_buf *out, struct cs_str s, size_t head, size_t tail) {
    const size_t start = tail_start(s, tail);
    cs_buf_add(out, s.ptr, head_bytes(s, head));
    cs_buf_adds(out, "...");
    cs_buf_add(out, s.ptr + start, s.len - start);
}

void cs_clean_shorten(struct cs_buf *out, struct cs_str clean, size_t width) {
    if (clean.len <= width || cs_clean_width(clean) <= width) {
        cs_buf_add_str(out, clean);
        return;
    }
    if (width <= 3) {
        cs_buf_add(out, "...", width);
        return;
    }
    const size_t room = width - 3;
    const size_t open = parameters_start(clean);
    if (open > 0 && open < clean.len) {
        const struct cs_str name = {clean.ptr, open};
        const size_t used = cs_clean_width(name);
        if (used + 5 <= width) {
            cs_buf_add_str(out, name);
            cs_buf_adds(out, "(...)");
        } else {
            put_ends(out, name, room - room / 3, room / 3);
        }
        return;
    }
    const bool path = memchr(clean.ptr, '/', clean.len) != NULL;
    put_ends(out, clean, path ? 0 : room - room / 3, path ? room : room / 3);
}
