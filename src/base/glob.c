// Matching works name by name; within a name one star is remembered, so the cost is at most the
// product of the two lengths, and patterns are the user's own.

#include "base/glob.h"

static struct cs_str first_name(struct cs_str s) {
    size_t n = 0;
    while (n < s.len && s.ptr[n] != '/') {
        n++;
    }
    return (struct cs_str){s.ptr, n};
}

static struct cs_str after(struct cs_str s, struct cs_str name) {
    const size_t skip = name.len < s.len ? name.len + 1 : name.len;
    return (struct cs_str){s.ptr + skip, s.len - skip};
}

static bool match_name(struct cs_str pattern, struct cs_str name) {
    size_t p = 0, n = 0, star = SIZE_MAX, resume = 0;
    while (n < name.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            resume = n;
        } else if (p < pattern.len && (pattern.ptr[p] == '?' || pattern.ptr[p] == name.ptr[n])) {
            p++;
            n++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            n = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*') {
        p++;
    }
    return p == pattern.len;
}

bool cs_glob_match(struct cs_str pattern, struct cs_str path) {
    // Where to go on after the last "**" took one more folder.
    struct cs_str again_pattern = {0}, again_path = {0};
    bool can_go_on = false;
    for (;;) {
        const struct cs_str want = first_name(pattern), have = first_name(path);
        if (want.len == 2 && want.ptr[0] == '*' && want.ptr[1] == '*') {
            again_pattern = pattern = after(pattern, want);
            again_path = path;
            can_go_on = true;
            if (pattern.len == 0) {
                return true;
            }
            continue;
        }
        if (pattern.len && path.len && match_name(want, have)) {
            pattern = after(pattern, want);
            path = after(path, have);
            if (pattern.len == 0 && path.len == 0) {
                return true;
            }
            continue;
        }
        if (!can_go_on || again_path.len == 0) {
            return false;
        }
        again_path = after(again_path, first_name(again_path));
        pattern = again_pattern;
        path = again_path;
    }
}

static size_t names_in(struct cs_str s) {
    size_t n = s.len > 0;
    for (size_t i = 0; i < s.len; i++) {
        n += s.ptr[i] == '/';
    }
    return n;
}

bool cs_glob_match_tail(struct cs_str pattern, struct cs_str path) {
    for (struct cs_str rest = path; rest.len; rest = after(rest, first_name(rest))) {
        if (cs_glob_match(pattern, rest)) {
            return true;
        }
    }
    while (names_in(pattern) > names_in(path)) {
        pattern = after(pattern, first_name(pattern));
        if (cs_glob_match(pattern, path)) {
            return true;
        }
    }
    return false;
}

static size_t after_slash(struct cs_str s) {
    size_t i = s.len;
    while (i > 0 && s.ptr[i - 1] != '/') {
        i--;
    }
    return i;
}

// "marlin_*.cu" has a literal before its extension, "*.cu" has none.
static bool has_literal_stem(struct cs_str name) {
    size_t end = name.len;
    while (end > 0 && name.ptr[end - 1] != '.') {
        end--;
    }
    for (size_t i = 0; i + 1 < end; i++) {
        if (name.ptr[i] != '*' && name.ptr[i] != '?') {
            return true;
        }
    }
    return false;
}

bool cs_glob_match_source(struct cs_str pattern, struct cs_str source) {
    if (after_slash(source) == 0) {
        const size_t last = after_slash(pattern);
        pattern = (struct cs_str){pattern.ptr + last, pattern.len - last};
        return has_literal_stem(pattern) && cs_glob_match(pattern, source);
    }
    for (size_t i = 0; i < source.len; i++) {
        if ((i == 0 || source.ptr[i - 1] == '/') &&
            cs_glob_match(pattern, (struct cs_str){source.ptr + i, source.len - i})) {
            return true;
        }
    }
    return false;
}
