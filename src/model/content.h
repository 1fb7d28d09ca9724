// Content: the bytes of an input's files once more, after the inventory was made.
//
// An inventory keeps no bytes.  Commands that copy some of them out open the input again; what is
// found there is checked against the inventory, since files may change in between.
#ifndef CS_MODEL_CONTENT_H
#define CS_MODEL_CONTENT_H

#include "base/file.h"
#include "format/zip.h"
#include "model/inventory.h"

struct cs_content {
    const struct cs_inventory *inv;
    uint32_t input;
    struct cs_file file;    // the input itself; empty for a folder
    struct cs_zip zip;      // of a wheel
    struct cs_file loose;   // of a folder: the file that is open
    uint8_t *block;         // of a wheel: the member that is inflated
    uint64_t block_bytes;
    uint32_t held;          // member index of what is open or inflated, or CS_NONE
    struct cs_view view;    // its bytes
};

// CS_UNSUPPORTED for standard input, which cannot be read twice.
enum cs_code cs_content_open(const struct cs_inventory *inv, uint32_t input, struct cs_content *out,
                             struct cs_err *err) CS_MUST_USE;
// The file that the member is or, for an object, the archive it lies in: offsets of containers and
// images count from its start.  The view is valid until the next call.
enum cs_code cs_content_file(struct cs_content *c, uint32_t member, struct cs_view *out,
                             struct cs_err *err) CS_MUST_USE;
void cs_content_close(struct cs_content *c);

// Calls back for each image of one container (CS_NONE: a loose image, given by its own index) with
// its exact bytes, in order, those of concatenated entries too.  `bytes` is empty and `why` not
// NULL for an image that cannot be read; bytes live until the callback returns.  A callback's
// failure ends the walk.  `scratch` keeps its memory from call to call.
struct cs_content_walk {
    struct cs_codec_ctx *codec;
    struct cs_scratch scratch;
    const uint8_t *wanted;  // one byte for each image of the inventory; NULL = all
};
typedef enum cs_code cs_content_fn(void *ctx, uint32_t image, struct cs_view bytes,
                                   const struct cs_err *why, struct cs_err *err);
enum cs_code cs_content_images(struct cs_content *c, struct cs_content_walk *walk,
                               uint32_t container, uint32_t image, cs_content_fn *fn, void *ctx,
                               struct cs_err *err) CS_MUST_USE;

#endif
