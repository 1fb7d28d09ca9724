// TOML: reading through toml++ (TOML 1.0), with the line of every value kept.
//
// The document is copied out of toml++'s own tree, so that everything here is plain C, borrowed and
// safe to read from several threads.
#ifndef CS_FORMAT_TOML_H
#define CS_FORMAT_TOML_H

#include "base/view.h"

enum cs_toml_type {
    CS_TOML_STRING,
    CS_TOML_INTEGER,
    CS_TOML_FLOAT,
    CS_TOML_BOOL,
    CS_TOML_DATE,  // a date, a time or both; its value is not kept
    CS_TOML_ARRAY,
    CS_TOML_TABLE,
};
const char *cs_toml_type_name(enum cs_toml_type type);  // "string", "table", ...

struct cs_toml_value {
    enum cs_toml_type type;
    uint32_t line;   // of the value, from 1
    uint32_t count;  // of items or members
    int64_t integer;
    double real;  // FLOAT, and INTEGER as such
    bool boolean;
    struct cs_str text;                 // STRING, NUL-terminated
    const struct cs_toml_value *items;  // ARRAY; TABLE: the values of the members
    const struct cs_toml_key *keys;     // TABLE: parallel to items, in the order of the file
};
struct cs_toml_key {
    struct cs_str name;
    uint32_t line;
};

struct cs_toml;

// CS_FORMAT with "line L, column C: ..." for text that is no TOML or has a key with more than 64
// parts; CS_LIMIT when it is longer than CS_MAX_CONFIG_BYTES.  *out is NULL on failure.
enum cs_code cs_toml_parse(struct cs_view text, struct cs_toml **out,
                           struct cs_err *err) CS_MUST_USE;
void cs_toml_free(struct cs_toml *t);
const struct cs_toml_value *cs_toml_root(const struct cs_toml *t);  // always a table

// The member of a table, or NULL; NULL and other types hold nothing.
const struct cs_toml_value *cs_toml_get(const struct cs_toml_value *table, const char *key);

#endif
