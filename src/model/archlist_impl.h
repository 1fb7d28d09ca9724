// Shared between the files of archlist; not for others.
#ifndef CS_MODEL_ARCHLIST_IMPL_H
#define CS_MODEL_ARCHLIST_IMPL_H

#include "model/archlist.h"

enum { CS_ARCH_ROWS_MAX = 64 };  // of cs_target_table

// Index of the target in cs_target_table, -1 when it is not there.
int32_t cs_arch_row_index(struct cs_target t);

// An entry compiled from its own compute_NN.
static inline struct cs_arch_entry cs_arch_entry_of(struct cs_target t, bool sass, bool ptx) {
    return (struct cs_arch_entry){.real = {t.arch, t.suffix, false},
                                  .virt = {t.arch, t.suffix, true},
                                  .sass = sass,
                                  .ptx = ptx};
}
static inline bool cs_arch_entry_plain(const struct cs_arch_entry *e) {
    return e->real.arch == e->virt.arch && e->real.suffix == e->virt.suffix;
}

// nvcc refuses one sm number from a family (compute_Nf) and from another compute_NN on one command
// line.  The entry that brings the second of the two, -1 when there is none.
int32_t cs_arch_family_clash(const struct cs_archlist *list);
#define CS_ARCH_CLASH_TEXT \
    "nvcc refuses one sm number from a family (f) and from another compute_NN together"

// Why a toolkit does not build a target, as a clause.
void cs_arch_toolkit_text(struct cs_target t, uint16_t toolkit_x10, char *out, size_t out_size);

// State of one reading.
struct cs_arch_reader {
    struct cs_archlist *list;
    const struct cs_archlist_options *options;
    struct cs_err *err;
    bool out_of_memory;
    bool stop;     // an error, and not collecting
    bool by_word;  // positions are numbers of words, not of characters
};

// Records an error for a word, with what was perhaps meant.  Sets stop unless collecting.
void cs_arch_reject(struct cs_arch_reader *r, enum cs_arch_issue_id id, uint32_t at,
                    struct cs_str token, const char *why);
// Checks a target against the tables (and the toolkit); rejects the word when it is unknown.
bool cs_arch_check(struct cs_arch_reader *r, uint32_t at, struct cs_str token, struct cs_target t);
void cs_arch_push(struct cs_arch_reader *r, struct cs_arch_entry e);
// The valid word of the notation that is nearest to the token; false when nothing is near.
bool cs_arch_nearest(enum cs_notation notation, struct cs_str token, char *out, size_t out_size);

void cs_arch_read_words(struct cs_arch_reader *r, const struct cs_str *words, const uint32_t *at,
                        uint32_t count);
void cs_arch_read_items(struct cs_arch_reader *r, struct cs_str text);

#endif
