// Names: cuts demangled C++ names at the few places that matter, by one pass over the text.
//
// The text is what libc++abi's demangler prints (LLVM 14 to 19), not C++.  Two facts make a scan
// without a grammar possible: round, square and curly brackets always match, so what is inside them
// can be skipped whole; and an angle bracket outside them belongs to a template unless it is an
// operator, which has a space on both sides (") < (") or follows the word "operator".
#include "model/names.h"

#include "base/limits.h"
#include "base/mem.h"
#include "format/demangle.h"

enum { UNWRAP_MAX = 8 };

static const struct cs_str anonymous = CS_STR("(anonymous namespace)");

static char at(struct cs_str s, size_t i) { return i < s.len ? s.ptr[i] : '\0'; }

static struct cs_str from(struct cs_str s, size_t i) {
    return (struct cs_str){s.ptr + i, s.len - i};
}

static struct cs_str between(struct cs_str s, size_t begin, size_t end) {
    return (struct cs_str){s.ptr + begin, end - begin};
}

static bool is_ident(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || (unsigned char)c >= 0x80;
}

// At a '(', '[' or '{': past its partner, or the end of the text.
static size_t skip_group(struct cs_str s, size_t i) {
    const char open = s.ptr[i];
    const char close = open == '(' ? ')' : open == '[' ? ']' : '}';
    size_t depth = 0;
    for (; i < s.len; i++) {
        if (s.ptr[i] == open) {
            depth++;
        } else if (s.ptr[i] == close && --depth == 0) {
            return i + 1;
        }
    }
    return s.len;
}

// Past a quoted word such as 'lambda0', or past the quote alone when it is not closed.
static size_t skip_quoted(struct cs_str s, size_t i) {
    const char *end = memchr(s.ptr + i + 1, s.ptr[i], s.len - i - 1);
    return end ? (size_t)(end - s.ptr) + 1 : i + 1;
}

// Does an operator's name ("operator" and its sign) start here?  Then *end is past it.
static bool operator_at(struct cs_str s, size_t i, size_t *end) {
    static const struct cs_str word = CS_STR("operator");
    if (s.ptr[i] != 'o' || !cs_str_starts(from(s, i), word) || (i > 0 && is_ident(s.ptr[i - 1])) ||
        is_ident(at(s, i + word.len))) {
        return false;
    }
    i += word.len;
    static const char *const signs[] = {
        "()", "[]", "->*", "->", "<=>", "<<=", ">>=", "<=", ">=", "<<", ">>", "<", ">"};
    for (size_t k = 0; k < sizeof signs / sizeof *signs; k++) {
        const struct cs_str sign = cs_str_from(signs[k]);
        if (!cs_str_starts(from(s, i), sign)) {
            continue;
        }
        i += sign.len;
        // operator<<int>(...): the second one opens the arguments of operator<.
        const char next = at(s, i);
        if (cs_str_eq(sign, CS_STR("<<")) && next != '(' && next != '<' && next != ' ' && next) {
            i--;
        }
        break;
    }
    *end = at(s, i) == ' ' && at(s, i + 1) == '<' ? i + 1 : i;
    return true;
}

// At a '<' or '>' outside round brackets: is it an operator of an expression?
static bool is_expression_sign(struct cs_str s, size_t i) {
    if (s.ptr[i] == '<') {
        return i > 0 && s.ptr[i - 1] == ' ';
    }
    if (i > 0 && s.ptr[i - 1] == '-') {
        return true;  // ->
    }
    return i > 1 && s.ptr[i - 1] == ' ' && s.ptr[i - 2] != '>';  // "> >" closes twice
}

// Collects the arguments of one template.
struct arg_list {
    struct cs_str *out;
    uint32_t cap, count;
};

static void add_arg(struct arg_list *list, struct cs_str s, size_t begin, size_t end) {
    while (begin < end && s.ptr[begin] == ' ') {
        begin++;
    }
    while (end > begin && s.ptr[end - 1] == ' ') {
        end--;
    }
    if (list->count < list->cap) {
        list->out[list->count] = between(s, begin, end);
    }
    list->count++;
}

// At the '<' of template arguments: past the matching '>', or the end of the text.  `list` may be
// NULL; "<>" has no argument.
static size_t skip_angle(struct cs_str s, size_t i, struct arg_list *list) {
    size_t depth = 1, begin = ++i, end;
    while (i < s.len) {
        const char c = s.ptr[i];
        if (c == '(' || c == '[' || c == '{') {
            i = skip_group(s, i);
        } else if (c == '"') {
            i = skip_quoted(s, i);
        } else if (operator_at(s, i, &end)) {
            i = end;
        } else if ((c == '<' || c == '>') && is_expression_sign(s, i)) {
            while (i < s.len && s.ptr[i] != ' ') {
                i++;
            }
        } else {
            const bool last = c == '>' && depth == 1;
            if (list && ((c == ',' && depth == 1) || (last && (list->count || begin < i)))) {
                add_arg(list, s, begin, i);
                begin = i + 1;
            }
            i++;
            if (last) {
                return i;
            }
            depth = c == '<' ? depth + 1 : c == '>' ? depth - 1 : depth;
        }
    }
    return s.len;
}

// After the ')' of a parameter list: past " const", "&" and the like when "::" follows, so that the
// list belongs to an enclosing function; else 0.
static size_t past_enclosing(struct cs_str s, size_t i) {
    static const struct cs_str words[] = {CS_STR(" const"), CS_STR(" volatile"), CS_STR(" &"),
                                          CS_STR("&")};
    for (size_t k = 0; k < sizeof words / sizeof *words;) {
        if (cs_str_starts(from(s, i), words[k])) {
            i += words[k].len;
            k = 0;
        } else {
            k++;
        }
    }
    return cs_str_starts(from(s, i), CS_STR("::")) ? i : 0;
}

static bool is_decltype(struct cs_str s, size_t paren) {
    static const struct cs_str word = CS_STR("decltype");
    return paren >= word.len && cs_str_ends(between(s, 0, paren), word);
}

void cs_name_split(struct cs_str s, struct cs_name_parts *out) {
    size_t i = 0, path = 0, end;
    bool in_operator = false;  // "operator unsigned int": spaces no longer end the return type
    *out = (struct cs_name_parts){.params = {s.ptr, 0}, .tail = {s.ptr, 0}};
    while (i < s.len) {
        const char c = s.ptr[i];
        if (c == '(') {
            if (cs_str_starts(from(s, i), anonymous)) {
                i += anonymous.len;
                continue;
            }
            end = skip_group(s, i);
            const size_t enclosing = past_enclosing(s, end);
            if (enclosing == 0 && !is_decltype(s, i) && i > path) {
                out->params = between(s, i, end);
                out->tail = from(s, end);
                break;
            }
            in_operator = in_operator && enclosing == 0;
            i = enclosing ? enclosing : end;
        } else if (c == '<') {
            i = skip_angle(s, i, NULL);
        } else if (c == '[' || c == '{') {
            i = skip_group(s, i);
        } else if (c == '\'' || c == '"') {
            i = skip_quoted(s, i);
        } else if (operator_at(s, i, &end)) {
            in_operator = true;
            i = end;
        } else {
            i++;
            path = c == ' ' && !in_operator ? i : path;
        }
    }
    out->result = between(s, 0, path > 0 ? path - 1 : 0);
    out->path = between(s, path, i < s.len ? i : s.len);
}

struct cs_str cs_name_group(struct cs_str demangled) {
    const char *p = demangled.len ? memchr(demangled.ptr, '<', demangled.len) : NULL;
    return p ? between(demangled, 0, (size_t)(p - demangled.ptr)) : demangled;
}

// At the start of a component: past "THRUST_300001_SM_750_NS::" and its like, else i.  The inline
// namespaces of thrust and cub name a version and the targets of a build; two builds differ in them
// and nobody means them.
static size_t past_versioned(struct cs_str s, size_t i) {
    static const struct cs_str starts[] = {CS_STR("THRUST_"), CS_STR("CUB_")};
    for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
        size_t end = i + starts[k].len;
        if (cs_str_starts(from(s, i), starts[k]) && at(s, end) >= '0' && at(s, end) <= '9') {
            while (is_ident(at(s, end))) {
                end++;
            }
            const bool whole = cs_str_ends(between(s, i, end), CS_STR("_NS")) &&
                               cs_str_starts(from(s, end), CS_STR("::"));
            return whole ? end + 2 : i;
        }
    }
    return i;
}

// Appends a path without the arguments of templates and enclosing functions.
static void fold(struct cs_str path, struct cs_buf *out) {
    size_t i = 0, end;
    while (i < path.len) {
        const size_t begin = i;
        const char c = path.ptr[i];
        if (c == '(') {
            if (cs_str_starts(from(path, i), anonymous)) {
                cs_buf_adds(out, "(anonymous)");
                i += anonymous.len;
            } else {
                i = skip_group(path, i);
                const size_t enclosing = past_enclosing(path, i);
                i = enclosing ? enclosing : i;
            }
        } else if (c == '<') {
            i = skip_angle(path, i, NULL);
        } else if (c == '[') {
            i = skip_group(path, i);  // [abi:cxx11]
        } else if ((c == 'T' || c == 'C') && (i == 0 || path.ptr[i - 1] == ':') &&
                   past_versioned(path, i) > i) {
            i = past_versioned(path, i);
        } else {
            if (c == '\'') {
                i = skip_quoted(path, i);
            } else if (operator_at(path, i, &end)) {
                i = end;
            } else {
                i++;
            }
            // "operator<< <int>": without the space before the arguments.
            const bool space = i - begin > 1 && path.ptr[i - 1] == ' ';
            cs_buf_add(out, path.ptr + begin, i - begin - (space ? 1 : 0));
        }
    }
}

void cs_name_short(struct cs_str demangled, struct cs_buf *out) {
    struct cs_name_parts parts;
    cs_name_split(demangled, &parts);
    const size_t before = out->len;
    fold(parts.path, out);
    if (out->len == before) {
        cs_buf_add_str(out, demangled);  // nothing like a function's name
    }
}

struct cs_str cs_name_namespace(struct cs_str name) {
    for (size_t i = name.len; i >= 2; i--) {
        if (name.ptr[i - 1] == ':' && name.ptr[i - 2] == ':') {
            return between(name, 0, i - 2);
        }
    }
    return between(name, 0, 0);
}

uint32_t cs_name_args(struct cs_str demangled, struct cs_str *out, uint32_t cap) {
    struct cs_name_parts parts;
    cs_name_split(demangled, &parts);
    const struct cs_str path = parts.path;
    size_t i = 0, last = path.len, end;
    while (i < path.len) {
        const char c = path.ptr[i];
        if (c == '<') {
            last = i;
            i = skip_angle(path, i, NULL);
        } else if (c == '(' || c == '[' || c == '{') {
            i = skip_group(path, i);
        } else if (c == '\'' || c == '"') {
            i = skip_quoted(path, i);
        } else {
            i = operator_at(path, i, &end) ? end : i + 1;
        }
    }
    struct arg_list list = {out, cap, 0};
    if (last < path.len) {
        (void)skip_angle(path, last, &list);
    }
    return list.count;
}

// Kernels that only run one of their template arguments.  `arg` is its index.
static const struct {
    const char *text;
    bool anywhere;  // else: the short form ends with it, at a component's start
    uint32_t arg;
} wrappers[] = {
    {"cutlass::device_kernel", false, 0},
    {"cutlass::Kernel", false, 0},
    {"cutlass::Kernel2", false, 0},
    {"::enable_sm", true, 0},  // cutlass, flash: compiled for some targets only
    {"::enable_3x_kernel_for_sm", true, 0},
    {"::core::_kernel_agent", false, 0},          // thrust
    {"::core::detail::_kernel_agent", false, 0},  // thrust in CUDA 13
    {"for_each::static_kernel", false, 2},        // cub
    {"for_each::dynamic_kernel", false, 2},
    {"at::native::vectorized_elementwise_kernel", false, 1},
    {"at::native::unrolled_elementwise_kernel", false, 0},
    {"at::native::elementwise_kernel", false, 2},
    {"::gpu_kernel_impl", true, 0},  // the lambda inside it is what the three above run
};

static bool wrapped_arg(struct cs_str name, uint32_t *arg) {
    for (size_t k = 0; k < sizeof wrappers / sizeof *wrappers; k++) {
        const struct cs_str text = cs_str_from(wrappers[k].text);
        const size_t rest = name.len >= text.len ? name.len - text.len : 0;
        bool hit;
        if (wrappers[k].anywhere) {  // also without the "::" at the very start
            hit = cs_str_find(name, text) != SIZE_MAX || cs_str_starts(name, from(text, 2));
        } else {
            hit = cs_str_ends(name, text) &&
                  (rest == 0 || name.ptr[rest - 1] == ':' || text.ptr[0] == ':');
        }
        if (hit) {
            *arg = wrappers[k].arg;
            return true;
        }
    }
    return false;
}

// "X<int> const&" -> "X<int>"
static struct cs_str strip_qualifiers(struct cs_str type) {
    static const struct cs_str ends[] = {CS_STR(" const"), CS_STR(" volatile"), CS_STR("&"),
                                         CS_STR("*"), CS_STR(" ")};
    for (size_t k = 0; k < sizeof ends / sizeof *ends;) {
        if (cs_str_ends(type, ends[k])) {
            type.len -= ends[k].len;
            k = 0;
        } else {
            k++;
        }
    }
    return type;
}

bool cs_name_unwrap(struct cs_str demangled, struct cs_buf *out) {
    enum { ARGS = 3 };
    const size_t before = out->len;
    bool unwrapped = false;
    struct cs_str text = demangled;
    for (int round = 0; round < UNWRAP_MAX; round++) {
        out->len = before;
        cs_name_short(text, out);
        const struct cs_str name = {out->ptr + before, out->len - before};
        struct cs_str args[ARGS];
        uint32_t arg;
        if (out->failed != CS_OK || !wrapped_arg(name, &arg) ||
            cs_name_args(text, args, ARGS) <= arg || args[arg].len == 0) {
            break;
        }
        text = strip_qualifiers(args[arg]);
        unwrapped = true;
    }
    if (unwrapped && out->failed == CS_OK) {
        // A lambda is known by the function it stands in.
        const struct cs_str name = {out->ptr + before, out->len - before};
        const size_t lambda = cs_str_find(name, CS_STR("::'lambda"));
        if (lambda != SIZE_MAX && lambda > 0) {
            out->len = before + lambda;
            out->ptr[out->len] = '\0';
        }
    }
    return unwrapped;
}
