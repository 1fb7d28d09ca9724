// The text renderer: aligned tables that fit the width, numbers right, names last and shortened.
//
// Each table is measured first, so that numbers get the room they need and names share the rest.
#include "base/num.h"
#include "report/clean.h"
#include "report/render.h"

enum { GAP = 2, DEFAULT_WIDTH = 80, NAME_MIN = 16, NAME_GOOD = 32, TEXT_MAX = 72 };

#define BOLD "\x1b[1m"
#define RED "\x1b[31m"
#define YELLOW "\x1b[33m"
#define RESET "\x1b[0m"

struct text {
    struct cs_buf *out;
    struct cs_buf cell;   // one cleaned cell
    struct cs_buf short_; // the same, shortened
    size_t width;
    bool color, full_names;
};

static void styled(struct text *t, const char *style, struct cs_str s) {
    if (t->color) {
        cs_buf_adds(t->out, style);
    }
    cs_buf_add_str(t->out, s);
    if (t->color) {
        cs_buf_adds(t->out, RESET);
    }
}

static struct cs_str cell_text(struct text *t, enum cs_col_type type, const struct cs_cell *cell) {
    cs_render_reuse(t->out, &t->cell);
    cs_render_cell(&t->cell, type, cell);
    return cs_buf_str(&t->cell);
}

// How the columns of one table share the width.
struct layout {
    size_t widths[CS_TABLE_COLS_MAX];
    bool hidden[CS_TABLE_COLS_MAX];
    uint32_t last;  // the last column that is shown
};

static void measure(struct text *t, const struct cs_table *table, struct layout *l) {
    *l = (struct layout){.last = table->col_count - 1};
    for (uint32_t c = 0; c < table->col_count; c++) {
        l->widths[c] = strlen(table->cols[c].title);
    }
    for (size_t i = 0; i < table->cells.count; i++) {
        const uint32_t c = (uint32_t)(i % table->col_count);
        const struct cs_str s = cell_text(t, table->cols[c].type, &table->cells.ptr[i]);
        l->widths[c] = cs_max_u64(l->widths[c], cs_clean_width(s));
    }
    for (uint32_t c = 0; c < table->col_count && !t->full_names; c++) {
        if (table->cols[c].type == CS_COL_TEXT) {
            l->widths[c] = cs_min_u64(l->widths[c], TEXT_MAX);
        }
    }
}

// Width left for the name columns; sets their number and what they would like to have.
static size_t name_room(const struct text *t, const struct cs_table *table, const struct layout *l,
                        size_t *names, size_t *wanted) {
    size_t fixed = 0, shown = 0;
    *names = *wanted = 0;
    for (uint32_t c = 0; c < table->col_count; c++) {
        if (l->hidden[c]) {
            continue;
        }
        shown++;
        if (table->cols[c].type == CS_COL_NAME) {
            ++*names;
            *wanted += l->widths[c];
        } else {
            fixed += l->widths[c];
        }
    }
    fixed += GAP * (shown - 1);
    return t->width > fixed ? t->width - fixed : 0;
}

// Divides the room among the name columns: one that wants less than its fair share leaves the
// difference to the others.
static void share_room(const struct cs_table *table, struct layout *l, size_t names, size_t room) {
    bool done[CS_TABLE_COLS_MAX] = {false};
    for (bool again = true; again && names > 0;) {
        again = false;
        const size_t share = room / names;
        for (uint32_t c = 0; c < table->col_count; c++) {
            if (table->cols[c].type == CS_COL_NAME && !done[c] && l->widths[c] <= share) {
                done[c] = again = true;
                room -= l->widths[c];
                names--;
            }
        }
    }
    for (uint32_t c = 0; c < table->col_count; c++) {
        if (table->cols[c].type == CS_COL_NAME && !done[c]) {
            l->widths[c] = room / names;
        }
    }
}

// Makes the table fit the width.  Droppable columns leave before a name gets too short to tell
// anything.
static void fit(const struct text *t, const struct cs_table *table, struct layout *l) {
    size_t names, wanted, room = name_room(t, table, l, &names, &wanted);
    for (uint32_t i = 0; i < table->droppable_count; i++) {
        if (room >= cs_min_u64(wanted, names * NAME_GOOD)) {
            break;
        }
        l->hidden[table->droppable[i]] = true;
        room = name_room(t, table, l, &names, &wanted);
    }
    room = cs_max_u64(room, names * NAME_MIN);
    if (wanted > room) {
        share_room(table, l, names, room);
    }
}

// One cell in its column; the last column gets no blanks at its end.
static void put_cell(struct text *t, struct cs_str s, size_t width, bool left, bool last) {
    cs_render_reuse(t->out, &t->short_);
    cs_clean_shorten(&t->short_, s, width);
    const struct cs_str shown = cs_buf_str(&t->short_);
    const size_t used = cs_clean_width(shown), blanks = width > used ? width - used : 0;
    if (!left) {
        cs_buf_pad(t->out, ' ', blanks);
    }
    cs_buf_add_str(t->out, shown);
    if (left && !last) {
        cs_buf_pad(t->out, ' ', blanks);
    }
    cs_buf_pad(t->out, last ? '\n' : ' ', last ? 1 : GAP);
}

static void put_table(struct text *t, const struct cs_table *table) {
    struct layout l;
    if (table->title) {
        styled(t, BOLD, cs_str_from(table->title));
        cs_buf_addc(t->out, '\n');
    }
    if (table->cells.count == 0) {
        cs_buf_adds(t->out, "(none)\n");
        return;
    }
    measure(t, table, &l);
    if (!t->full_names) {
        fit(t, table, &l);
    }
    while (l.hidden[l.last] && l.last > 0) {
        l.last--;
    }
    for (uint32_t c = 0; c <= l.last; c++) {
        if (!l.hidden[c]) {
            put_cell(t, cs_str_from(table->cols[c].title), l.widths[c],
                     cs_col_is_text(table->cols[c].type), c == l.last);
        }
    }
    for (size_t i = 0; i < table->cells.count; i++) {
        const uint32_t c = (uint32_t)(i % table->col_count);
        const enum cs_col_type type = table->cols[c].type;
        if (!l.hidden[c]) {
            put_cell(t, cell_text(t, type, &table->cells.ptr[i]), l.widths[c], cs_col_is_text(type),
                     c == l.last);
        }
    }
}

static void put_facts(struct text *t, const struct cs_fact *facts, uint32_t count) {
    size_t labels = 0, values = 0;
    for (uint32_t i = 0; i < count; i++) {
        labels = cs_max_u64(labels, strlen(facts[i].label));
        if (!cs_col_is_text(facts[i].type)) {
            values =
                cs_max_u64(values, cs_clean_width(cell_text(t, facts[i].type, &facts[i].cell)));
        }
    }
    const size_t room = t->width > labels + GAP ? t->width - labels - GAP : NAME_MIN;
    for (uint32_t i = 0; i < count; i++) {
        const bool text = cs_col_is_text(facts[i].type);
        put_cell(t, cs_str_from(facts[i].label), labels, true, false);
        put_cell(t, cell_text(t, facts[i].type, &facts[i].cell),
                 text ? t->full_names ? SIZE_MAX : room : values, text, true);
    }
}

// Words of cleaned text, wrapped; every line after the first begins with `indent` blanks.
// Returns with the line ended.  `used` columns of the first line are taken already.
static void wrap(struct text *t, struct cs_str s, size_t used, size_t indent) {
    bool first = true;
    for (size_t i = 0; i < s.len;) {
        size_t end = i;
        while (end < s.len && s.ptr[end] != ' ') {
            end++;
        }
        const struct cs_str word = {s.ptr + i, end - i};
        const size_t width = cs_clean_width(word);
        if (!first && used + 1 + width > t->width) {
            cs_buf_addc(t->out, '\n');
            cs_buf_pad(t->out, ' ', indent);
            used = indent;
        } else if (!first) {
            cs_buf_addc(t->out, ' ');
            used++;
        }
        cs_buf_add_str(t->out, word);
        used += width;
        first = false;
        i = end + (end < s.len);
    }
    cs_buf_addc(t->out, '\n');
}

static struct cs_str cleaned(struct text *t, struct cs_str s) {
    cs_render_reuse(t->out, &t->cell);
    cs_clean(&t->cell, s);
    return cs_buf_str(&t->cell);
}

static void put_finding(struct text *t, const struct cs_doc_finding *f) {
    static const char *const styles[] = {
        [CS_SEVERITY_NOTE] = BOLD, [CS_SEVERITY_WARNING] = YELLOW, [CS_SEVERITY_ERROR] = RED};
    styled(t, styles[f->severity], cs_str_from(cs_severity_name(f->severity)));
    cs_buf_printf(t->out, " %s %s", f->rule, f->slug);
    if (f->where.len > 0) {
        cs_buf_adds(t->out, ": ");
        cs_buf_add_str(t->out, cleaned(t, f->where));
    }
    cs_buf_adds(t->out, "\n  ");
    wrap(t, cleaned(t, f->message), 2, 2);
    if (f->advice.len > 0) {
        cs_buf_adds(t->out, "  ");
        wrap(t, cleaned(t, f->advice), 2, 2);
    }
}

static void put_block(struct text *t, const struct cs_doc *d, const struct cs_block *b) {
    switch (b->type) {
    case CS_BLOCK_FACTS: put_facts(t, d->facts.ptr + b->first, b->count); return;
    case CS_BLOCK_TABLE: put_table(t, b->table); return;
    case CS_BLOCK_FINDING: put_finding(t, &b->finding); return;
    case CS_BLOCK_NOTE:
        cs_buf_adds(t->out, "note: ");
        wrap(t, cleaned(t, b->text), 6, 6);
        return;
    case CS_BLOCK_TEXT:
        if (b->title) {
            styled(t, BOLD, cs_str_from(b->title));
            cs_buf_addc(t->out, '\n');
        }
        wrap(t, cleaned(t, b->text), 0, 0);
        return;
    }
}

void cs_render_text(const struct cs_doc *d, const struct cs_render *how, struct cs_buf *out) {
    struct text t = {.out = out,
                     .width = how->width ? how->width : DEFAULT_WIDTH,
                     .color = how->color,
                     .full_names = how->full_names};
    cs_buf_init(&t.cell, out->max);
    cs_buf_init(&t.short_, out->max);
    if (d->title) {
        styled(&t, BOLD, cs_str_from(d->title));
        cs_buf_addc(out, '\n');
    }
    for (size_t i = 0; i < d->blocks.count; i++) {
        const bool notes = i > 0 && d->blocks.ptr[i].type == CS_BLOCK_NOTE &&
                           d->blocks.ptr[i - 1].type == CS_BLOCK_NOTE;
        if ((i > 0 || d->title) && !notes) {
            cs_buf_addc(out, '\n');
        }
        put_block(&t, d, &d->blocks.ptr[i]);
    }
    cs_render_reuse(out, &t.cell);
    cs_render_reuse(out, &t.short_);
    cs_buf_fini(&t.cell);
    cs_buf_fini(&t.short_);
}
