// RECORD: the list of files, hashes and sizes that every wheel and every installed package carries.
//
// Spec: "Binary distribution format" and "Recording installed projects" of the Python packaging
// guide: CSV in UTF-8, three fields a row: path, ALGORITHM=URL-SAFE-BASE64-WITHOUT-PADDING, size.
// What deviates is kept and marked, never guessed: judgement is the caller's.
#ifndef CS_FORMAT_RECORD_H
#define CS_FORMAT_RECORD_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/vec.h"
#include "base/view.h"

#define CS_RECORD_NONE UINT32_MAX

enum cs_record_hash {
    CS_RECORD_HASH_NONE,    // field empty
    CS_RECORD_HASH_SHA256,  // decoded into sha256
    CS_RECORD_HASH_OTHER,   // sha384, sha512, ...: allowed, not checked here
    CS_RECORD_HASH_WEAK,    // md5, sha1: forbidden
    CS_RECORD_HASH_BAD,     // not ALGORITHM=VALUE, or not 32 bytes of base64
};

// What is odd about a row by itself.
#define CS_RECORD_DUPLICATE 0x1u  // an earlier row has the same path
#define CS_RECORD_DIRECTORY 0x2u  // the path ends in '/'
#define CS_RECORD_BAD_PATH 0x4u   // empty, absolute, "..", backslash, control character, not UTF-8
#define CS_RECORD_FIELDS 0x8u     // not three fields
#define CS_RECORD_QUOTES 0x10u    // quotes not as CSV wants them
#define CS_RECORD_PADDED 0x20u    // hash ends in '='
#define CS_RECORD_NOT_URLSAFE 0x40u  // hash uses '+' or '/'
#define CS_RECORD_BAD_SIZE 0x80u     // size is not a plain decimal number

struct cs_record_row {
    struct cs_str path;       // unquoted; a view into the text, or in the arena
    struct cs_str hash_text;  // as stored
    uint8_t sha256[CS_SHA256_BYTES];
    enum cs_record_hash hash;
    bool has_size;
    uint64_t size;
    uint32_t faults;
    uint32_t line;        // 1-based
    uint64_t off, bytes;  // of the row in the text, line end included
    uint32_t eol_bytes;   // 0 (last row without one), 1 or 2
};

struct cs_record {
    struct cs_view text;  // borrowed: must outlive the struct
    struct cs_arena arena;
    CS_VEC(struct cs_record_row) rows;
    uint32_t *slots;  // open addressing by path, row + 1
    uint32_t slot_count;
    uint32_t empty_lines;
};

// Never fails on content; CS_NOMEM, or CS_LIMIT beyond CS_MAX_ZIP_MEMBERS * 4 rows.  Linear.
enum cs_code cs_record_parse(struct cs_view text, struct cs_record *out,
                             struct cs_err *err) CS_MUST_USE;
void cs_record_close(struct cs_record *r);
// The first row with this path, or CS_RECORD_NONE.
uint32_t cs_record_find(const struct cs_record *r, struct cs_str path);

// "sha256=" and 43 characters, NUL-terminated.
enum { CS_RECORD_HASH_TEXT = 7 + 43 + 1 };
void cs_record_hash_format(const uint8_t sha256[CS_SHA256_BYTES], char out[CS_RECORD_HASH_TEXT]);

// A file as it really is, for comparison with its row.
struct cs_record_file {
    struct cs_str path;
    uint64_t bytes;
    uint8_t sha256[CS_SHA256_BYTES];
    bool hashed;  // sha256 is known
};

enum cs_record_fault_kind {
    CS_RECORD_FAULT_MISSING_ROW,  // file without row
    CS_RECORD_FAULT_EXTRA_ROW,    // row without file
    CS_RECORD_FAULT_WRONG_HASH,
    CS_RECORD_FAULT_WRONG_SIZE,
    CS_RECORD_FAULT_NO_HASH,  // and the file is neither RECORD nor its signature
    CS_RECORD_FAULT_NO_SIZE,  // likewise
    CS_RECORD_FAULT_BAD_HASH,
    CS_RECORD_FAULT_WEAK_HASH,
    CS_RECORD_FAULT_OTHER_HASH,  // an algorithm that is not checked here
    CS_RECORD_FAULT_PADDED_HASH,
    CS_RECORD_FAULT_NOT_URLSAFE_HASH,
    CS_RECORD_FAULT_BAD_SIZE,
    CS_RECORD_FAULT_DIRECTORY_ROW,
    CS_RECORD_FAULT_DUPLICATE_ROW,
    CS_RECORD_FAULT_BAD_PATH,
    CS_RECORD_FAULT_BAD_ROW,      // fields or quotes
    CS_RECORD_FAULT_SELF_HASHED,  // RECORD lists a hash or size of itself
    CS_RECORD_FAULT_EMPTY_LINE,   // row and file are NONE
};
const char *cs_record_fault_name(enum cs_record_fault_kind kind);  // "missing-row", ...

struct cs_record_fault {
    enum cs_record_fault_kind kind;
    uint32_t row;   // or CS_RECORD_NONE
    uint32_t file;  // index into the files given, or CS_RECORD_NONE
};
struct cs_record_faults {
    CS_VEC(struct cs_record_fault) list;
};

// Compares rows and files: one entry a fault, by file and then by row.  `record_path` is RECORD's
// own path, whose row carries no hash; RECORD.jws and RECORD.p7s beside it may be unlisted or
// unhashed. Folders are not given as files.  The caller frees `out->list` with cs_vec_fini.
enum cs_code cs_record_verify(const struct cs_record *r, const struct cs_record_file *files,
                              size_t count, struct cs_str record_path, struct cs_record_faults *out,
                              struct cs_err *err) CS_MUST_USE;

// One change for cs_record_rewrite: a file's new hash and size, or its removal.
struct cs_record_edit {
    struct cs_str path;
    bool drop;
    uint8_t sha256[CS_SHA256_BYTES];
    uint64_t bytes;
};

// Appends the text of RECORD after the edits: rows without an edit byte for byte, order kept, line
// ends kept; rows for paths that had none come last, or before RECORD's own row when that is last.
// CS_CONFLICT when two edits name one path, or a path has two rows.
enum cs_code cs_record_rewrite(const struct cs_record *r, const struct cs_record_edit *edits,
                               size_t count, struct cs_buf *out, struct cs_err *err) CS_MUST_USE;

#endif
