// TOML through toml++: parse, copy into an arena, let go.  No exception leaves this file.
//
// The C++ runtime is linked statically for this file alone.  toml++ bounds the depth of values
// (256) but not of dotted keys, and walks its tree by recursion; so keys are measured before it
// sees them.
extern "C" {
#include "format/toml.h"
}

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 1
#define TOML_ENABLE_FORMATTERS 0

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <vector>

// toml++ 3.3 asserts before it checks ("[=" reaches one), and with NDEBUG tells the compiler to
// rely on it.  Without both, its checks do their work.
#undef NDEBUG
#define TOML_ASSERT(expr) static_cast<void>(0)
// Its character classes call "unreachable" what letters such as U+00E4 reach; "no" is right there.
#if __has_include(<toml++/impl/unicode.h>)
#include <toml++/impl/forward_declarations.h>
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE return false
#include <toml++/impl/unicode.h>
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE __builtin_unreachable()
#endif
#include <toml++/toml.h>

extern "C" {
#include "base/arena.h"
#include "base/limits.h"
#include "base/mem.h"
}

struct cs_toml {
    cs_arena arena;
    cs_toml_value root;
};

namespace {

constexpr unsigned KEY_PARTS_MAX = 64;

// What toml++ must not see, found by walking the text as a lexer would, as far as strings and
// comments go: keys with too many parts; and bytes beyond ASCII outside strings and comments, or
// after a backslash, where TOML allows none and toml++ 3.3 runs into undefined behaviour.
class Screen {
  public:
    explicit Screen(std::string_view text) : text_(text) {}

    // NULL when there is nothing; then line() is where.
    const char *run() {
        at_ = text_.substr(0, 3) == "\xEF\xBB\xBF" ? 3 : 0;
        unsigned dots = 0;
        while (at_ < text_.size() && !problem_) {
            const char c = text_[at_];
            if (c == '"' || c == '\'') {
                skip_string(c);
                continue;
            }
            if (c == '#') {
                at_ = std::min(text_.find('\n', at_), text_.size());
                continue;
            }
            dots = c == '.' ? dots + 1 : strchr("=,{}[]\n", c) ? 0 : dots;
            if (dots >= KEY_PARTS_MAX) {
                problem_ = "a key with more than 64 parts";
            } else if (!is_ascii(c)) {
                problem_ = "a character that only strings and comments may have";
            } else {
                next();
            }
        }
        return problem_;
    }
    unsigned line() const { return line_; }

  private:
    static bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

    void next() { line_ += text_[at_++] == '\n'; }

    void skip_string(char quote) {
        const std::string_view three(quote == '"' ? "\"\"\"" : "'''");
        const bool multi = text_.substr(at_, 3) == three;
        at_ += multi ? 3 : 1;
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '\\' && quote == '"') {
                at_++;
                if (at_ < text_.size() && !is_ascii(text_[at_])) {
                    problem_ = "no such escape sequence";
                    return;
                }
                if (at_ < text_.size()) {
                    next();
                }
            } else if (multi && text_.substr(at_, 3) == three) {
                at_ += 3;
                return;
            } else if (!multi && (c == quote || c == '\n')) {
                at_ += c == quote;
                return;
            } else {
                next();
            }
        }
    }

    std::string_view text_;
    size_t at_ = 0;
    unsigned line_ = 1;
    const char *problem_ = nullptr;
};

cs_str copy_text(cs_arena &arena, std::string_view text) {
    const cs_str copy = cs_arena_str(&arena, cs_str{text.data(), text.size()});
    if (!copy.ptr) {
        throw std::bad_alloc();
    }
    return copy;
}

template <typename T>
T *make_array(cs_arena &arena, size_t count) {
    void *p = cs_arena_alloc(&arena, (count ? count : 1) * sizeof(T));
    if (!p) {
        throw std::bad_alloc();
    }
    return static_cast<T *>(p);
}

// Recursion is bounded by toml++'s own limit on nesting and by Screen.
void copy_value(cs_arena &arena, const toml::node &from, cs_toml_value &to);

void copy_table(cs_arena &arena, const toml::table &from, cs_toml_value &to) {
    struct Member {
        const toml::key *key;
        const toml::node *node;
    };
    std::vector<Member> members;  // toml++ sorts by name; the file's order is wanted
    for (auto it = from.cbegin(); it != from.cend(); ++it) {
        members.push_back({&it->first, &it->second});
    }
    std::stable_sort(members.begin(), members.end(), [](const Member &a, const Member &b) {
        return a.key->source().begin < b.key->source().begin;
    });
    auto *values = make_array<cs_toml_value>(arena, members.size());
    auto *keys = make_array<cs_toml_key>(arena, members.size());
    for (size_t i = 0; i < members.size(); i++) {
        keys[i].name = copy_text(arena, members[i].key->str());
        keys[i].line = members[i].key->source().begin.line;
        copy_value(arena, *members[i].node, values[i]);
        if (values[i].line == 0) {
            values[i].line = keys[i].line;
        }
    }
    to.count = static_cast<uint32_t>(members.size());
    to.items = values;
    to.keys = keys;
}

void copy_value(cs_arena &arena, const toml::node &from, cs_toml_value &to) {
    to = cs_toml_value{};
    to.line = from.source().begin.line;
    to.text = cs_str{"", 0};
    if (const auto *table = from.as_table()) {
        to.type = CS_TOML_TABLE;
        copy_table(arena, *table, to);
    } else if (const auto *array = from.as_array()) {
        to.type = CS_TOML_ARRAY;
        auto *items = make_array<cs_toml_value>(arena, array->size());
        for (size_t i = 0; i < array->size(); i++) {
            copy_value(arena, *array->get(i), items[i]);
        }
        to.count = static_cast<uint32_t>(array->size());
        to.items = items;
    } else if (const auto *text = from.as_string()) {
        to.type = CS_TOML_STRING;
        to.text = copy_text(arena, text->get());
    } else if (const auto *integer = from.as_integer()) {
        to.type = CS_TOML_INTEGER;
        to.integer = integer->get();
        to.real = static_cast<double>(integer->get());
    } else if (const auto *real = from.as_floating_point()) {
        to.type = CS_TOML_FLOAT;
        to.real = real->get();
    } else if (const auto *boolean = from.as_boolean()) {
        to.type = CS_TOML_BOOL;
        to.boolean = boolean->get();
    } else {
        to.type = CS_TOML_DATE;
    }
}

// One printable line of what may quote the input.
void fail_at(cs_err *err, const toml::parse_error &e) {
    char why[160];
    size_t n = 0;
    for (const char c : e.description()) {
        if (n + 1 < sizeof why) {
            why[n++] = c >= 0x20 && c < 0x7F ? c : '?';
        }
    }
    why[n] = '\0';
    const auto at = e.source().begin;
    (void)cs_fail(err, CS_FORMAT, "line %u, column %u: %s", static_cast<unsigned>(at.line),
                  static_cast<unsigned>(at.column), why);
}

}  // namespace

const char *cs_toml_type_name(enum cs_toml_type type) {
    switch (type) {
    case CS_TOML_STRING: return "string";
    case CS_TOML_INTEGER: return "integer";
    case CS_TOML_FLOAT: return "float";
    case CS_TOML_BOOL: return "boolean";
    case CS_TOML_DATE: return "date or time";
    case CS_TOML_ARRAY: return "array";
    case CS_TOML_TABLE: return "table";
    }
    return "value";
}

enum cs_code cs_toml_parse(struct cs_view text, struct cs_toml **out, struct cs_err *err) {
    *out = nullptr;
    if (text.len > CS_MAX_CONFIG_BYTES) {
        return cs_fail(err, CS_LIMIT, "%llu bytes are too many for a configuration",
                       static_cast<unsigned long long>(text.len));
    }
    const char *chars = text.len ? static_cast<const char *>(static_cast<const void *>(text.ptr))
                                 : "";
    const std::string_view view(chars, static_cast<size_t>(text.len));
    Screen screen(view);
    if (const char *problem = screen.run()) {
        return cs_fail(err, CS_FORMAT, "line %u: %s", screen.line(), problem);
    }
    auto *doc = static_cast<cs_toml *>(cs_calloc(1, sizeof(cs_toml)));
    if (!doc) {
        return cs_fail(err, CS_NOMEM, "no memory for a configuration");
    }
    cs_arena_init(&doc->arena);
    enum cs_code code = CS_OK;
    try {
        const toml::table root = toml::parse(view);
        copy_value(doc->arena, root, doc->root);
    } catch (const toml::parse_error &e) {
        fail_at(err, e);
        code = CS_FORMAT;
    } catch (const std::bad_alloc &) {
        code = cs_fail(err, CS_NOMEM, "no memory for a configuration");
    } catch (...) {
        code = cs_fail(err, CS_INTERNAL, "the TOML reader gave up");
    }
    if (code == CS_OK) {
        *out = doc;
    } else {
        cs_toml_free(doc);
    }
    return code;
}

void cs_toml_free(struct cs_toml *t) {
    if (t) {
        cs_arena_fini(&t->arena);
        cs_free(t);
    }
}

const struct cs_toml_value *cs_toml_root(const struct cs_toml *t) { return &t->root; }

const struct cs_toml_value *cs_toml_get(const struct cs_toml_value *table, const char *key) {
    if (table && table->type == CS_TOML_TABLE) {
        const struct cs_str want = cs_str_from(key);
        for (uint32_t i = 0; i < table->count; i++) {
            if (cs_str_eq(table->keys[i].name, want)) {
                return &table->items[i];
            }
        }
    }
    return nullptr;
}
