// JSON: a streaming writer with stable key order, and reading through jansson.
#ifndef CS_FORMAT_JSON_H
#define CS_FORMAT_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

// Writer.  Calls must nest properly (asserted); commas, indentation and escapes are its business.
// Bytes that are not UTF-8 are written as U+FFFD, control characters as \u00XX.
struct cs_json {
    struct cs_buf *out;
    bool pretty;        // two spaces a level; else no white space at all
    uint32_t depth;
    uint64_t is_array;  // bit per level
    uint64_t has_item;
    bool after_key;
};
void cs_json_init(struct cs_json *j, struct cs_buf *out, bool pretty);
void cs_json_object(struct cs_json *j);
void cs_json_object_end(struct cs_json *j);
void cs_json_array(struct cs_json *j);
void cs_json_array_end(struct cs_json *j);
void cs_json_key(struct cs_json *j, const char *key);
void cs_json_key_str(struct cs_json *j, struct cs_str key);
void cs_json_str(struct cs_json *j, struct cs_str s);
void cs_json_z(struct cs_json *j, const char *z);
void cs_json_u64(struct cs_json *j, uint64_t x);
void cs_json_i64(struct cs_json *j, int64_t x);
void cs_json_bool(struct cs_json *j, bool x);
void cs_json_null(struct cs_json *j);
// key and value in one call
void cs_json_kstr(struct cs_json *j, const char *key, struct cs_str s);
void cs_json_kz(struct cs_json *j, const char *key, const char *z);
void cs_json_ku64(struct cs_json *j, const char *key, uint64_t x);
void cs_json_kbool(struct cs_json *j, const char *key, bool x);
void cs_json_knull(struct cs_json *j, const char *key);

// Reader.  Opaque jansson values; borrowed pointers live as long as the document.
struct cs_jdoc;
struct cs_jval;  // any value
enum cs_code cs_jdoc_parse(struct cs_view text, struct cs_jdoc **out,
                           struct cs_err *err) CS_MUST_USE;
void cs_jdoc_free(struct cs_jdoc *d);
const struct cs_jval *cs_jdoc_root(const struct cs_jdoc *d);
// NULL-safe look-ups: a missing or wrongly typed value gives NULL, false, 0 or an empty text.
const struct cs_jval *cs_jget(const struct cs_jval *object, const char *key);
uint64_t cs_jcount(const struct cs_jval *array_or_object);
const struct cs_jval *cs_jat(const struct cs_jval *array, uint64_t index);
// Members of an object in file order.
bool cs_jmember(const struct cs_jval *object, uint64_t index, struct cs_str *key,
                const struct cs_jval **value);
bool cs_jis_null(const struct cs_jval *v);
bool cs_jbool(const struct cs_jval *v, bool *out);
bool cs_ju64(const struct cs_jval *v, uint64_t *out);
struct cs_str cs_jstr(const struct cs_jval *v);

#endif
