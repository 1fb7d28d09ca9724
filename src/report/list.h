// Renderings of a listing: tables, JSON, and the text of NVIDIA's cuobjdump.
#ifndef CS_REPORT_LIST_H
#define CS_REPORT_LIST_H

#include "analysis/list.h"
#include "format/json.h"
#include "report/report.h"

enum cs_list_names { CS_LIST_NAMES_SHORT, CS_LIST_NAMES_FULL, CS_LIST_NAMES_MANGLED };

struct cs_list_view {
    const struct cs_listing *listing;
    enum cs_list_names names;
    const struct cs_str *files;  // by image: the file it was written to, empty = none; or NULL
};

// These take a struct cs_list_view.  cs_list_doc: a table of images for each member, then one of
// its kernels.  cs_list_flat_doc: one table with a row for each image, or for each kernel and image
// without kernels where the listing has them; for CSV.  cs_list_json: docs/schema/list.json.
void cs_list_doc(const void *view, struct cs_doc *doc);
void cs_list_flat_doc(const void *view, struct cs_doc *doc);
void cs_list_json(const void *view, struct cs_json *json);

// The text that cuobjdump 13 prints, byte for byte; docs/format/cuobjdump-text.md has its rules and
// the few places where this differs.
struct cs_cuobjdump {
    bool elf, ptx;  // -lelf, -lptx; neither: the default text
    bool all;       // -all: __nv_relfatbin too, where there is a .nv_fatbin
};
// Appends the text of one input to `out` and its remarks, a line each, to `messages`.  `path` is
// the absolute path, as cuobjdump shows it.  Inputs that cuobjdump does not take (wheels, folders)
// are shown member by member, as an archive is.
void cs_list_cuobjdump(const struct cs_listing *l, uint32_t input, struct cs_str path,
                       const struct cs_cuobjdump *how, struct cs_buf *out, struct cs_buf *messages);

#endif
