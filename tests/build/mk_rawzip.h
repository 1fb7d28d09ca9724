// Builder of ZIP files for tests: right by default, wrong on request.
#ifndef CS_TESTS_BUILD_MK_RAWZIP_H
#define CS_TESTS_BUILD_MK_RAWZIP_H

#include "base/buf.h"

// How one member is written; combine with |.
#define CS_RAWZIP_STORED 0x0u
#define CS_RAWZIP_DEFLATE 0x1u
#define CS_RAWZIP_DESCRIPTOR 0x2u       // sizes after the data, with signature
#define CS_RAWZIP_DESCRIPTOR_BARE 0x4u  // without
#define CS_RAWZIP_ZIP64 0x8u            // sizes and offset in ZIP64 fields
#define CS_RAWZIP_ENCRYPTED 0x10u       // sets the flag only
#define CS_RAWZIP_UTF8 0x20u
#define CS_RAWZIP_LOCAL_NAME_X 0x40u  // the local header's name starts with 'X'
#define CS_RAWZIP_BAD_CRC 0x80u
#define CS_RAWZIP_COMMENT 0x100u    // a comment in the central record
#define CS_RAWZIP_LEVEL0 0x200u     // with DEFLATE: stored blocks
#define CS_RAWZIP_ALIAS 0x400u      // writes no local part: the central record repeats the last one
#define CS_RAWZIP_USELESS64 0x800u  // a ZIP64 field though nothing is saturated
#define CS_RAWZIP_METHOD_12 0x1000u  // claims bzip2
// How the file ends.
#define CS_RAWZIP_END_ZIP64 0x1u
#define CS_RAWZIP_END_GAP 0x2u    // 4 bytes between directory and end record
#define CS_RAWZIP_END_COUNT 0x4u  // counts one too many

struct cs_mk_rawzip {
    struct cs_buf out;
    struct cs_buf central;
    uint64_t base;  // subtracted from stored offsets
    uint64_t count;
    uint64_t last_header_off;
    uint32_t mode;  // Unix mode of the next members
};

// A base other than 0 stands for a prefix that the offsets do not count in.
void cs_mk_rawzip_init(struct cs_mk_rawzip *z);
void cs_mk_rawzip_fini(struct cs_mk_rawzip *z);
void cs_mk_rawzip_raw(struct cs_mk_rawzip *z, const void *bytes,
                      size_t len);  // prefix or gap bytes
// Adds a member; what must succeed is asserted.
void cs_mk_rawzip_add(struct cs_mk_rawzip *z, struct cs_str name, struct cs_view content,
                      uint32_t how);
void cs_mk_rawzip_end(struct cs_mk_rawzip *z, uint32_t how, struct cs_str comment);
static inline struct cs_view cs_mk_rawzip_view(const struct cs_mk_rawzip *z) {
    return cs_buf_view(&z->out);
}

#endif
