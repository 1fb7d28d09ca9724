// ar: System V / GNU archives (.a), read-only.  Thin archives are unsupported and said so.
#ifndef CS_FORMAT_AR_H
#define CS_FORMAT_AR_H

#include "base/arena.h"
#include "base/vec.h"
#include "base/view.h"

struct cs_ar_member {
    struct cs_str name;   // long names resolved; views into the file
    uint64_t header_off;  // of the 60-byte header
    uint64_t data_off;
    uint64_t bytes;
    bool special;  // symbol index or long-name table
};

struct cs_ar {
    struct cs_view file;
    CS_VEC(struct cs_ar_member) members;
};

// True for both kinds of magic, thin archives too, so that cs_ar_open can say what is wrong.
bool cs_ar_probe(struct cs_view file);
// CS_UNSUPPORTED on thin archives, CS_FORMAT on damaged ones, CS_LIMIT on too many members.  Holds
// views into the file; linear in members.  On failure `out` needs no close.
enum cs_code cs_ar_open(struct cs_view file, struct cs_ar *out, struct cs_err *err) CS_MUST_USE;
void cs_ar_close(struct cs_ar *a);

#endif
