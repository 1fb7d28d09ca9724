#include "base/view.h"

struct cs_str cs_cstr(struct cs_view v, uint64_t off, size_t max_len, bool *ok) {
    struct cs_str out = {"", 0};
    bool found = false;
    if (off < v.len) {
        uint64_t room = v.len - off;
        room = room > max_len ? (uint64_t)max_len : room;
        const uint8_t *end = memchr(v.ptr + off, 0, (size_t)room);
        if (end) {
            out.ptr = (const char *)(v.ptr + off);
            out.len = (size_t)(end - (v.ptr + off));
            found = true;
        }
    }
    if (ok) {
        *ok = found;
    }
    return out;
}

int cs_str_cmp(struct cs_str a, struct cs_str b) {
    const size_t n = a.len < b.len ? a.len : b.len;
    const int c = n ? memcmp(a.ptr, b.ptr, n) : 0;
    if (c != 0) {
        return c;
    }
    return a.len < b.len ? -1 : a.len > b.len ? 1 : 0;
}

size_t cs_str_find(struct cs_str s, struct cs_str needle) {
    if (needle.len == 0) {
        return 0;
    }
    const char *hit = s.len >= needle.len ? memmem(s.ptr, s.len, needle.ptr, needle.len) : NULL;
    return hit ? (size_t)(hit - s.ptr) : SIZE_MAX;
}
