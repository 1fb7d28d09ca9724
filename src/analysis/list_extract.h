// Extract: the listed images, each in a file of its own.
#ifndef CS_ANALYSIS_LIST_EXTRACT_H
#define CS_ANALYSIS_LIST_EXTRACT_H

#include "analysis/list.h"

struct cs_extract_options {
    const char *dir;  // made when it is not there; its parent must exist
    bool force;       // replace files that exist
};

enum { CS_EXTRACT_PROBLEM_BYTES = 512 };

struct cs_extracted {
    uint32_t files;
    uint64_t bytes;
    uint32_t unreadable;      // obfuscated, unknown compression, damaged: no file
    char first_problem[CS_EXTRACT_PROBLEM_BYTES];
    struct cs_arena arena;
    struct cs_str *names;     // by image: name of its file in the folder; empty = none
};

// Writes the exact bytes of every listed image; PTX ends before its NUL.  A file is called
// MEMBER.CONTAINER.INDEX[pPART].TARGET.cubin (.ptx, .ltoir, .image); a loose image has no numbers
// when it is the whole file, else xOFFSET.  Every name is made of letters, digits and "._+-~" and
// is unique in the run.  Each file appears whole or not at all.
// CS_CONFLICT, with nothing written, when a file exists already and `force` is not set; CS_IO when
// a file changed since the inventory was made.
enum cs_code cs_list_extract(const struct cs_listing *l, const struct cs_extract_options *options,
                             struct cs_extracted *out, struct cs_err *err) CS_MUST_USE;
void cs_extracted_fini(struct cs_extracted *e);

#endif
