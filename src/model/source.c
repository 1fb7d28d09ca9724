// Source names in texts and in images: the forms that nvcc gives file names on their way through.
//
// nvcc turns every character of a file name that no identifier may have into '_', and says its
// length before, so the extension is known only by guess: "d_cu" is taken for d.cu.  The older form
// of an id, with the name of a temporary file in it, is that of CUDA 11 and before.
#include "model/source.h"

#include "format/dwarf.h"

static struct cs_str from(struct cs_str s, size_t i) {
    return i < s.len ? (struct cs_str){s.ptr + i, s.len - i} : (struct cs_str){s.ptr + s.len, 0};
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

static size_t count_digits(struct cs_str s) {
    size_t n = 0;
    while (n < s.len && is_digit(s.ptr[n])) {
        n++;
    }
    return n;
}

// A decimal number and a '_': the number, and what follows in *rest.  0 when not so.
static size_t number_and_bar(struct cs_str s, struct cs_str *rest) {
    const size_t digits = count_digits(s);
    size_t x = 0;
    if (digits == 0 || digits > 6 || digits >= s.len || s.ptr[digits] != '_') {
        return 0;
    }
    for (size_t i = 0; i < digits; i++) {
        x = x * 10 + (size_t)(s.ptr[i] - '0');
    }
    *rest = from(s, digits + 1);
    return x;
}

static bool starts_with_hex8(struct cs_str s) {
    for (size_t i = 0; i < 8; i++) {
        if (i >= s.len || !is_hex(s.ptr[i])) {
            return false;
        }
    }
    return true;
}

// Past "tmpxft_00000b70_00000000-6_" (`dash` '-') or its form in identifiers (`dash` '_'); s itself
// when it does not start so.
static struct cs_str past_temp_prefix(struct cs_str s, char dash) {
    static const struct cs_str word = CS_STR("tmpxft_");
    const struct cs_str first = from(s, word.len), second = from(s, word.len + 9);
    if (!cs_str_starts(s, word) || !starts_with_hex8(first) || !starts_with_hex8(second) ||
        first.ptr[8] != '_' || second.len < 9 || second.ptr[8] != dash) {
        return s;
    }
    const struct cs_str count = from(second, 9);
    const size_t digits = count_digits(count);
    return digits > 0 && digits < count.len && count.ptr[digits] == '_' ? from(count, digits + 1)
                                                                        : s;
}

// "foo.compute_120a" -> "foo"
static struct cs_str without_target(struct cs_str s) {
    static const struct cs_str word = CS_STR(".compute_");
    size_t i = s.len;
    if (i > 0 && (s.ptr[i - 1] == 'a' || s.ptr[i - 1] == 'f')) {
        i--;
    }
    const size_t end = i;
    while (i > 0 && is_digit(s.ptr[i - 1])) {
        i--;
    }
    if (i < end && cs_str_ends((struct cs_str){s.ptr, i}, word)) {
        s.len = i - word.len;
    }
    return s;
}

bool cs_source_from_symbol(struct cs_str symbol, struct cs_buf *out) {
    static const struct cs_str end = CS_STR(".cudafe1.cpp");
    if (!cs_str_ends(symbol, end)) {
        return false;
    }
    symbol.len -= end.len;
    const struct cs_str name = without_target(past_temp_prefix(symbol, '-'));
    if (name.len == 0) {
        return false;
    }
    cs_buf_add_str(out, name);
    cs_buf_adds(out, ".cu");
    return true;
}

// "d_cu" -> "d.cu"
static void add_file_id(struct cs_str id, struct cs_buf *out) {
    static const char *const extensions[] = {"cu", "cpp", "cxx", "cc", "c"};
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++) {
        const struct cs_str ext = cs_str_from(extensions[i]);
        if (id.len > ext.len + 1 && cs_str_ends(id, ext) && id.ptr[id.len - ext.len - 1] == '_') {
            cs_buf_add(out, id.ptr, id.len - ext.len - 1);
            cs_buf_addc(out, '.');
            cs_buf_add_str(out, ext);
            return;
        }
    }
    cs_buf_add_str(out, id);
}

// 46_tmpxft_00001a2b_00000000_7_foo_cpp1_ii_b81a68a1
static bool from_old_id(struct cs_str s, struct cs_buf *out) {
    struct cs_str text;
    const size_t len = number_and_bar(s, &text);
    if (len == 0 || len > text.len) {
        return false;
    }
    text.len = len;
    const struct cs_str name = past_temp_prefix(text, '_');
    const size_t end = cs_str_find(name, CS_STR("_cpp1_ii_"));
    if (name.ptr == text.ptr || end == SIZE_MAX || end == 0) {
        return false;
    }
    cs_buf_add(out, name.ptr, end);
    cs_buf_adds(out, ".cu");
    return true;
}

bool cs_source_from_module_id(struct cs_str id, struct cs_buf *out) {
    if (id.len == 0 || id.ptr[0] != '_') {
        return false;
    }
    const struct cs_str body = from(id, 1);
    struct cs_str name;
    if (!starts_with_hex8(body) || body.len < 10 || body.ptr[8] != '_') {
        return from_old_id(body, out);
    }
    const size_t len = number_and_bar(from(body, 9), &name);
    if (len == 0 || len > name.len || (len < name.len && name.ptr[len] != '_')) {
        return from_old_id(body, out);  // eight digits can be a length's, but no name is so long
    }
    name.len = len;
    add_file_id(name, out);
    return true;
}

bool cs_source_from_mangled(struct cs_str kernel, struct cs_buf *out) {
    static const struct cs_str marks[] = {CS_STR("_GLOBAL__N_"), CS_STR("_INTERNAL"),
                                          CS_STR("__nv_static_")};
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
        struct cs_str rest = kernel;
        for (int tries = 0; tries < 4; tries++) {
            const size_t i = cs_str_find(rest, marks[k]);
            if (i == SIZE_MAX) {
                break;
            }
            rest = from(rest, i + marks[k].len);
            struct cs_str id = rest;
            if (k == 2 && number_and_bar(rest, &id) == 0) {
                continue;
            }
            if (cs_source_from_module_id(id, out)) {
                return true;
            }
        }
    }
    return false;
}

static bool is_unit(struct cs_str name) {
    static const struct cs_str ends[] = {CS_STR(".cu"),  CS_STR(".cpp"), CS_STR(".cc"),
                                         CS_STR(".cxx"), CS_STR(".c"),   CS_STR(".py")};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (cs_str_ends(name, ends[i])) {
            return true;
        }
    }
    return false;
}

bool cs_source_of_ptx(const struct cs_ptx *ptx, struct cs_buf *out) {
    struct cs_str best = CS_STR("");
    for (size_t i = 0; i < ptx->files.count; i++) {
        const bool unit = is_unit(ptx->files.ptr[i]);
        if (unit || best.len == 0) {
            best = ptx->files.ptr[i];
        }
        if (unit) {
            break;
        }
    }
    cs_buf_add_str(out, best);
    return best.len > 0;
}

bool cs_source_of_cubin(struct cs_view image, struct cs_buf *out) {
    enum { FILES = 64 };
    struct cs_elf elf;
    struct cs_elf_section section;
    struct cs_view line, line_str = {0}, str = {0};
    if (cs_elf_open(image, &elf, NULL) != CS_OK || !cs_elf_find(&elf, ".debug_line", &section) ||
        !cs_elf_content(&elf, &section, &line)) {
        return false;
    }
    if (cs_elf_find(&elf, ".debug_line_str", &section)) {
        (void)cs_elf_content(&elf, &section, &line_str);
    }
    if (cs_elf_find(&elf, ".debug_str", &section)) {
        (void)cs_elf_content(&elf, &section, &str);
    }
    struct cs_dwarf_file files[FILES];
    const uint32_t count = cs_dwarf_line_files(line, line_str, str, files, FILES);
    uint32_t best = 0;
    while (best < count && !is_unit(files[best].name)) {
        best++;
    }
    best = best < count ? best : 0;
    if (count == 0 || files[best].name.len == 0) {
        return false;
    }
    if (files[best].dir.len > 0 && files[best].name.ptr[0] != '/') {
        cs_buf_add_str(out, files[best].dir);
        cs_buf_addc(out, '/');
    }
    cs_buf_add_str(out, files[best].name);
    return true;
}
