// Wheel: file name, tags, the dist-info folder and its three files, on top of ZIP and RECORD.
//
// Spec: packaging guide "Binary distribution format", "Platform compatibility tags", PEP 825 for
// the variant label.  Facts only: `check` decides what is an error, `slim` what it refuses to
// touch.
#ifndef CS_FORMAT_WHEEL_H
#define CS_FORMAT_WHEEL_H

#include "format/record.h"
#include "format/zip.h"

// The parts of NAME-VERSION(-BUILD)?-PYTHON-ABI-PLATFORM(-LABEL)?.whl; views into the name given.
struct cs_wheel_name {
    struct cs_str name, version;
    struct cs_str build;                  // empty when absent; starts with a digit
    struct cs_str python, abi, platform;  // compressed sets, parts joined by '.'
    struct cs_str label;                  // empty when absent (PEP 825)
};
// Takes a path or a bare file name.  CS_FORMAT says what is wrong with it.
enum cs_code cs_wheel_name_parse(struct cs_str path, struct cs_wheel_name *out,
                                 struct cs_err *err) CS_MUST_USE;
// True when any platform of the set is Windows.
bool cs_wheel_name_is_windows(const struct cs_wheel_name *n);

// Equality of project names (runs of "-_." are one, case is ignored) and of versions ('-' and '_'
// are one, case is ignored, a "v" or trailing ".0" is not looked through).
bool cs_wheel_same_name(struct cs_str a, struct cs_str b);
bool cs_wheel_same_version(struct cs_str a, struct cs_str b);

// What a wheel lacks or contradicts, in cs_wheel.faults.
#define CS_WHEEL_NO_DIST_INFO 0x1u
#define CS_WHEEL_SEVERAL_DIST_INFO 0x2u
#define CS_WHEEL_NO_RECORD 0x4u
#define CS_WHEEL_NO_METADATA 0x8u
#define CS_WHEEL_NO_WHEEL 0x10u         // the file WHEEL
#define CS_WHEEL_NO_VERSION 0x20u       // WHEEL without Wheel-Version, or one that is not 1.x
#define CS_WHEEL_NO_TAG 0x40u           // WHEEL without Tag
#define CS_WHEEL_NO_NAME 0x80u          // METADATA without Name or Version
#define CS_WHEEL_FOLDER_DIFFERS 0x100u  // dist-info folder and METADATA disagree on name or version
// From cs_wheel_compare_name.
#define CS_WHEEL_NAME_DIFFERS 0x200u  // file name and METADATA disagree on name or version
#define CS_WHEEL_FOLDER_SPELLING \
    0x400u  // folder is not spelled as the file name: index finds no RECORD
#define CS_WHEEL_TAGS_DIFFER 0x800u  // file name and WHEEL give different tags (common: auditwheel)
#define CS_WHEEL_BUILD_DIFFERS 0x1000u  // build number in one of them only, or different

struct cs_wheel {
    struct cs_arena arena;
    struct cs_str dist_info;  // folder without slash; of the first found
    uint32_t record_member, metadata_member, wheel_member;  // or CS_RECORD_NONE
    struct cs_str record_text;
    struct cs_record record;                    // parsed; empty when there is none
    struct cs_str folder_name, folder_version;  // split from dist_info
    struct cs_str name, version, metadata_version;
    struct cs_str wheel_version, generator, build;
    bool purelib;                // Root-Is-Purelib: true
    CS_VEC(struct cs_str) tags;  // "Tag:" values in order, compressed sets not expanded
    uint32_t faults;             // CS_WHEEL_*
};

// Reads the dist-info files of an open ZIP.  A ZIP that is no wheel opens with NO_DIST_INFO.  Fails
// with CS_NOMEM, CS_LIMIT (a dist-info file over 64 MiB), or as cs_zip_extract on damaged members.
enum cs_code cs_wheel_open(const struct cs_zip *z, struct cs_wheel *out,
                           struct cs_err *err) CS_MUST_USE;
void cs_wheel_close(struct cs_wheel *w);

// CS_WHEEL_* bits of disagreement between a wheel and its file name; 0 when they agree.  *out may
// also be needed for tags: expansion is bounded, a set beyond 4096 tags counts as different.
enum cs_code cs_wheel_compare_name(const struct cs_wheel *w, const struct cs_wheel_name *n,
                                   uint32_t *out, struct cs_err *err) CS_MUST_USE;

// Expands "py2.py3-none-any" into single tags, appended to `out` as text in `arena`.
struct cs_wheel_tags {
    CS_VEC(struct cs_str) list;
};
enum cs_code cs_wheel_tags_expand(struct cs_str python, struct cs_str abi, struct cs_str platform,
                                  struct cs_arena *arena, struct cs_wheel_tags *out,
                                  struct cs_err *err) CS_MUST_USE;

// RECORD of a wheel against its members: sha256 holds 32 bytes a member in the order of z->members,
// or is NULL when only names and sizes shall be compared.  Folder members are left out; `file` in a
// fault is a member's index.
enum cs_code cs_wheel_verify_record(const struct cs_wheel *w, const struct cs_zip *z,
                                    const uint8_t *sha256, struct cs_record_faults *out,
                                    struct cs_err *err) CS_MUST_USE;

#endif
