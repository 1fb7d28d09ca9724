// Arcut: elfcut for the objects of a static archive.
//
// Members that shrank are stored shorter, everything else is copied, and the symbol index ("/" or
// "/SYM64/") is told where the members are now.  Member order, names, dates and modes stay.
#ifndef CS_REWRITE_ARCUT_H
#define CS_REWRITE_ARCUT_H

#include "format/ar.h"
#include "rewrite/elfcut.h"

struct cs_arcut_member {
    uint32_t index;         // in ar.members
    bool has_device_code;   // `cut` is open; otherwise the member is copied as it is
    struct cs_elfcut cut;   // request changes here
    struct cs_err refused;  // why a member with device sections was not opened; count 0 = none
    uint64_t new_header_off;
};

struct cs_arcut {
    struct cs_ar ar;
    CS_VEC(struct cs_arcut_member) members;  // one per member of the archive, in order
    struct cs_arena arena;                   // new headers and index
    struct cs_pieces pieces;                 // the new archive; valid after plan
};

// CS_NOTFOUND when no member has device sections; CS_UNSUPPORTED for thin archives and BSD indexes.
enum cs_code cs_arcut_open(struct cs_view file, struct cs_arcut *a,
                           struct cs_err *err) CS_MUST_USE;
void cs_arcut_close(struct cs_arcut *a);

// Plans every open member, then the archive.  A member that cannot be planned fails the whole.
enum cs_code cs_arcut_plan(struct cs_arcut *a, const struct cs_elfcut_options *options,
                           struct cs_err *err) CS_MUST_USE;
// As cs_elfcut_verify, for every member, the index included.
enum cs_code cs_arcut_verify(const struct cs_arcut *a, struct cs_view produced,
                             struct cs_err *err) CS_MUST_USE;
enum cs_code cs_arcut_commit(const struct cs_arcut *a, const char *path, mode_t mode,
                             struct cs_err *err) CS_MUST_USE;

#endif
