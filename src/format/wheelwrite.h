// Wheelwrite: a wheel with some members changed, and a RECORD that is right for the result.
//
// Members are given one by one, so that only one new content is in memory at a time.  RECORD is
// written last, since it needs all hashes; in the directory it keeps its place.  Rows of members
// that were kept stay as they are, byte for byte.  Signatures beside RECORD (RECORD.jws,
// RECORD.p7s) no longer fit a changed RECORD: the caller drops them or refuses.
#ifndef CS_FORMAT_WHEELWRITE_H
#define CS_FORMAT_WHEELWRITE_H

#include "format/wheel.h"
#include "format/zipwrite.h"

struct cs_wheelwrite {
    struct cs_zipwrite zip;
    const struct cs_zip *from;  // borrowed, like the wheel
    const struct cs_wheel *wheel;
    struct cs_arena arena;  // names of added members
    CS_VEC(struct cs_record_edit) edits;
};

// `out` may be NULL for a dry run with exact sizes.  CS_CONFLICT when the wheel has no RECORD,
// several dist-info folders, or ZIP faults that leave doubt about what a member is (duplicate
// names, records that contradict each other, overlaps, unreadable methods, more than one end
// record).  On failure nothing needs to be finished.
enum cs_code cs_wheelwrite_begin(struct cs_wheelwrite *w, const struct cs_zip *z,
                                 const struct cs_wheel *wheel, struct cs_outfile *out,
                                 const struct cs_zipwrite_options *options,
                                 struct cs_err *err) CS_MUST_USE;
void cs_wheelwrite_fini(struct cs_wheelwrite *w);

// Each member of the source is given once, by index, in any order (the order of the calls is the
// order in the file); RECORD is not given.  cs_wheelwrite_replace hashes the content.
enum cs_code cs_wheelwrite_keep(struct cs_wheelwrite *w, uint32_t member,
                                struct cs_err *err) CS_MUST_USE;
enum cs_code cs_wheelwrite_replace(struct cs_wheelwrite *w, uint32_t member, struct cs_view content,
                                   struct cs_err *err) CS_MUST_USE;
enum cs_code cs_wheelwrite_drop(struct cs_wheelwrite *w, uint32_t member,
                                struct cs_err *err) CS_MUST_USE;
// A new member, before RECORD in the directory; `mode` as for cs_zipwrite_add.
enum cs_code cs_wheelwrite_add(struct cs_wheelwrite *w, struct cs_str name, uint32_t mode,
                               struct cs_view content, struct cs_err *err) CS_MUST_USE;

// Writes RECORD, directory and end record; *bytes, when given, is the size of the whole file.
enum cs_code cs_wheelwrite_end(struct cs_wheelwrite *w, uint64_t *bytes,
                               struct cs_err *err) CS_MUST_USE;

#endif
