// Report: a result as a document that knows nothing of how it will be shown.
//
// A command turns its result into facts, tables, findings and notes; cs_report_render() turns
// these into text, CSV, Markdown, HTML or GitHub workflow output.  JSON is written from the result
// itself (format/json.h), since its shape is a contract of its own.
//
//     static const struct cs_col cols[] = {{CS_COL_BYTES, "code", "code_bytes"},
//                                          {CS_COL_NAME, "kernel", "kernel"}};
//     struct cs_table *t = cs_doc_table(&doc, "Kernels", cols, 2);
//     struct cs_cell *c = cs_table_row(t);
//     c[0] = cs_cell_u64(bytes);
//     c[1] = cs_cell_str(name);
//
// Texts are borrowed and must outlive the document, except those made with printf-like calls.
// Running out of memory is sticky: build everything, then cs_report_render() reports it.
// One document belongs to one thread.
#ifndef CS_REPORT_REPORT_H
#define CS_REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/rules.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"

enum cs_col_type {
    CS_COL_NAME,     // text that may be very long; shortened in the middle where room is short
    CS_COL_TEXT,     // short text, shortened only beyond 72 columns
    CS_COL_FIGURE,   // text that is a number already; set to the right
    CS_COL_BYTES,    // u64; MiB and KiB in text, plain bytes in CSV
    CS_COL_DELTA,    // i64 bytes with a sign
    CS_COL_COUNT,    // u64
    CS_COL_PERCENT,  // u64, hundredths of a percent
    CS_COL_OFFSET,   // u64 in hexadecimal
};

struct cs_col {
    enum cs_col_type type;
    const char *title;  // for people: "code"
    const char *key;    // for CSV: "code_bytes", spelled as in the JSON
};

// A cell of the type that its column says; `none` is shown as "-" and is an empty field in CSV.
struct cs_cell {
    union {
        uint64_t u;
        int64_t i;
        struct cs_str text;
    };
    bool none;
};
static inline struct cs_cell cs_cell_u64(uint64_t u) { return (struct cs_cell){.u = u}; }
static inline struct cs_cell cs_cell_i64(int64_t i) { return (struct cs_cell){.i = i}; }
static inline struct cs_cell cs_cell_str(struct cs_str s) { return (struct cs_cell){.text = s}; }
static inline struct cs_cell cs_cell_z(const char *z) {
    return (struct cs_cell){.text = cs_str_from(z)};
}
static inline struct cs_cell cs_cell_none(void) { return (struct cs_cell){.none = true}; }
// part / whole; none when whole is 0.
struct cs_cell cs_cell_share(uint64_t part, uint64_t whole);

enum { CS_TABLE_COLS_MAX = 32, CS_TABLE_DROPS_MAX = 4 };

struct cs_doc;

struct cs_table {
    struct cs_doc *doc;
    const char *title;         // may be NULL
    const struct cs_col *cols;
    uint32_t col_count;
    CS_VEC(struct cs_cell) cells;  // row by row
    uint64_t others;               // rows left out, for which the last row stands
    bool secondary;                // a by-product: not the table that CSV shows
    uint32_t droppable[CS_TABLE_DROPS_MAX];  // columns, in the order of leaving
    uint32_t droppable_count;
};

struct cs_fact {
    const char *label;
    enum cs_col_type type;
    struct cs_cell cell;
};

// Where a judgement of `check` applies, and what to do about it.
struct cs_doc_finding {
    const char *rule, *slug;   // "C101", "uncovered-device"
    enum cs_severity severity;
    struct cs_str where;       // member, section, kernel; may be empty
    struct cs_str message;
    struct cs_str advice;      // may be empty
};

enum cs_block_type {
    CS_BLOCK_FACTS,
    CS_BLOCK_TABLE,
    CS_BLOCK_TEXT,
    CS_BLOCK_NOTE,
    CS_BLOCK_FINDING
};

struct cs_block {
    enum cs_block_type type;
    uint32_t first, count;           // FACTS
    struct cs_table *table;          // TABLE; in the arena, so it stays where it is
    const char *title;               // TEXT: heading; may be NULL
    struct cs_str text;              // TEXT, NOTE
    struct cs_doc_finding finding;
};

struct cs_doc {
    struct cs_arena arena;
    const char *title;  // may be NULL
    CS_VEC(struct cs_block) blocks;
    CS_VEC(struct cs_fact) facts;
    struct cs_cell spare[CS_TABLE_COLS_MAX];  // a row to write into when memory ran out
    struct cs_table spare_table;
    enum cs_code failed;
};

void cs_doc_init(struct cs_doc *d, const char *title);
void cs_doc_fini(struct cs_doc *d);

// Consecutive facts form one block of "label  value" lines.
void cs_doc_fact(struct cs_doc *d, const char *label, enum cs_col_type type, struct cs_cell cell);
// `cols` is kept, not copied.  At most CS_TABLE_COLS_MAX (asserted).  Never NULL.
struct cs_table *cs_doc_table(struct cs_doc *d, const char *title, const struct cs_col *cols,
                              uint32_t col_count);
// The cells of a new row, all of them `none`.  Valid until the next row.  Never NULL.
struct cs_cell *cs_table_row(struct cs_table *t);
// The closing row that stands for `count` rows left out; "[n others]" is written
// into its first name column.  Nothing may follow it.
struct cs_cell *cs_table_others(struct cs_table *t, uint64_t count);
// Where a terminal leaves too little room for names, the text report does without this column (by
// its key).  Those named first go first.
void cs_table_may_drop(struct cs_table *t, const char *key);
uint64_t cs_table_rows(const struct cs_table *t);

// A paragraph, wrapped by the renderer.
void cs_doc_text(struct cs_doc *d, const char *title, const char *fmt, ...) CS_PRINTF(3, 4);
// A remark below the tables: "note: ...".
void cs_doc_note(struct cs_doc *d, const char *fmt, ...) CS_PRINTF(2, 3);
void cs_doc_finding(struct cs_doc *d, const struct cs_doc_finding *finding);
// printf into the document's own memory, for cells and findings.
struct cs_str cs_doc_printf(struct cs_doc *d, const char *fmt, ...) CS_PRINTF(2, 3);

enum cs_report_format {
    CS_REPORT_TEXT,
    CS_REPORT_JSON,
    CS_REPORT_CSV,
    CS_REPORT_MARKDOWN,
    CS_REPORT_HTML,
    CS_REPORT_GITHUB,
};

struct cs_render {
    enum cs_report_format format;  // any but JSON
    uint32_t width;         // columns of text; 0 = 80
    bool color;             // text only
    bool full_names;        // text: do not shorten names
};

// Appends the document to `out`.
enum cs_code cs_report_render(const struct cs_doc *d, const struct cs_render *how,
                              struct cs_buf *out, struct cs_err *err) CS_MUST_USE;

#endif
