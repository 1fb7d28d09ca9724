// Names from archives and lists (RFC 3629 for UTF-8); no file system is asked.
#include "base/path.h"

bool cs_utf8_valid(struct cs_str s, bool *ascii) {
    bool plain = true;
    size_t i = 0;
    while (i < s.len) {
        const uint8_t c = (uint8_t)s.ptr[i];
        if (c < 0x80) {
            i++;
            continue;
        }
        plain = false;
        const size_t more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
        if (c < 0xc2 || c > 0xf4 || s.len - i <= more) {
            break;
        }
        const uint8_t d = (uint8_t)s.ptr[i + 1];
        if ((c == 0xe0 && d < 0xa0) || (c == 0xed && d > 0x9f) || (c == 0xf0 && d < 0x90) ||
            (c == 0xf4 && d > 0x8f)) {
            break;
        }
        size_t k = 1;
        while (k <= more && ((uint8_t)s.ptr[i + k] & 0xc0) == 0x80) {
            k++;
        }
        if (k <= more) {
            break;
        }
        i += more + 1;
    }
    if (ascii) {
        *ascii = plain;
    }
    return i == s.len;
}

bool cs_path_is_plain(struct cs_str path) {
    if (path.len == 0 || path.ptr[0] == '/') {
        return false;
    }
    const char first = (char)(path.ptr[0] | 0x20);
    if (path.len > 1 && path.ptr[1] == ':' && first >= 'a' && first <= 'z') {
        return false;
    }
    size_t start = 0;
    for (size_t i = 0; i <= path.len; i++) {
        if (i == path.len || path.ptr[i] == '/') {
            if (i - start == 2 && path.ptr[start] == '.' && path.ptr[start + 1] == '.') {
                return false;
            }
            start = i + 1;
        } else if ((uint8_t)path.ptr[i] < 0x20 || path.ptr[i] == 0x7f || path.ptr[i] == '\\') {
            return false;
        }
    }
    return true;
}

struct cs_str cs_path_base(struct cs_str path) {
    size_t start = path.len;
    while (start > 0 && path.ptr[start - 1] != '/') {
        start--;
    }
    return (struct cs_str){path.ptr + start, path.len - start};
}
