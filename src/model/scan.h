// Scan: one file's share of an inventory, made on any thread and merged later.  Internal to model.
//
// Indices inside a scan are its own; cs_scan_merge() shifts them.  Text lives in the scan's arena,
// which the inventory takes over.
#ifndef CS_MODEL_SCAN_H
#define CS_MODEL_SCAN_H

#include <pthread.h>

#include "format/elf.h"
#include "format/ptx.h"
#include "format/zip.h"
#include "model/inventory.h"
#include "model/wrappers.h"

// What one image walk leaves behind: one block of memory with three arrays and the names.
struct cs_walked_kernel {
    struct cs_kernel kernel;   // .name is unset
    struct cs_str name;        // in the block
};
struct cs_walked_func {
    struct cs_str name;
    uint32_t kernel;           // index in the image, or CS_NONE
    uint64_t symbol_bytes;
};
struct cs_walked {
    void *block;
    size_t block_bytes;
    struct cs_walked_kernel *kernels;
    struct cs_walked_func *funcs;
    struct cs_leaf *leaves;    // .kernel is an index in the image
    uint32_t kernel_count, func_count, leaf_count;
    struct cs_str source;      // in the block; empty when not looked for or not there
};

void cs_walked_fini(struct cs_walked *w);

// A pending image: where its bytes are, until walked.
struct cs_pending {
    struct cs_fatbin_entry entry;   // valid when `in_container`
    bool in_container;
    struct cs_view loose;           // a bare cubin or PTX
    uint64_t container_off;         // in the file: base of entry.off
    // For a part of a concatenated entry: the whole entry and the part's place in it.
    struct cs_fatbin_entry concat;
    bool is_part;
    uint64_t file_off, payload_file_bytes, payload_wheel_bytes;
    struct cs_walked walked;
};

struct cs_scan {
    uint64_t serial;                    // never the same twice in one process, never 0
    struct cs_arena arena;
    struct cs_intern sections;
    struct cs_view file;
    const struct cs_zip_map *map;   // NULL: no wheel bytes
    const struct cs_inventory_options *options;
    CS_VEC(struct cs_member) members;   // [0] is the file itself
    CS_VEC(struct cs_container) containers;
    CS_VEC(struct cs_image) images;
    CS_VEC(struct cs_pending) pending;  // parallel to images
    CS_VEC(struct cs_leaf) leaves;      // everything but what the walks own
    const struct cs_wrappers *wrappers; // of the ELF being scanned, else NULL
    size_t next_wrapper;
    enum cs_code failed;                // CS_NOMEM or CS_LIMIT: the whole run must stop
    struct cs_err err;
};

// Buffers that a walk needs, handed from image to image.
struct cs_worker {
    struct cs_worker *next;
    struct cs_codec_ctx *codec;
    struct cs_scratch scratch;
    struct cs_scratch zeroed;       // a copy of an image that is changed before it is written
    uint64_t concat_scan, concat_off;  // the concatenated entry that `scratch` holds; 0 = none
    struct cs_cubin cubin;
    struct cs_ptx ptx;
    CS_VEC(struct cs_leaf) cells;   // kernel x part accumulators
    struct cs_buf source;
};
struct cs_workers {
    pthread_mutex_t lock;
    struct cs_worker *free;
};
void cs_workers_init(struct cs_workers *w);
void cs_workers_fini(struct cs_workers *w);
struct cs_worker *cs_worker_get(struct cs_workers *w);  // NULL when out of memory
void cs_worker_put(struct cs_workers *w, struct cs_worker *worker);

enum cs_file_kind cs_file_kind_of(struct cs_view file);

void cs_scan_init(struct cs_scan *s, struct cs_view file, const struct cs_zip_map *map,
                  const struct cs_inventory_options *options);
void cs_scan_fini(struct cs_scan *s);

// Finds every container and image of the file and owns all other bytes (scan_file.c).  `path` is
// copied.  A file that cannot be read becomes one opaque leaf and a member with a problem.
enum cs_code cs_scan_file(struct cs_scan *s, struct cs_str path, struct cs_err *err) CS_MUST_USE;

// Walks all pending images, in parallel (scan_image.c).
void cs_scan_walk(struct cs_scan *s, struct cs_pool *pool, struct cs_workers *workers);

// The plain bytes of an image: a view into the file, or into the worker's scratch until its next
// use. PTX is cut at its NUL.  CS_UNSUPPORTED for obfuscated payloads and unknown codecs.
enum cs_code cs_scan_image_bytes(const struct cs_scan *s, size_t image, struct cs_worker *w,
                                 struct cs_view *out, struct cs_err *err) CS_MUST_USE;

// Appends to the inventory and empties the scan (inventory.c).
enum cs_code cs_scan_merge(struct cs_inventory *inv, struct cs_scan *s, uint32_t input,
                           struct cs_err *err) CS_MUST_USE;

// Bytes of [off, off+len) in the wheel; 0 without a map.
static inline uint64_t cs_scan_wheel(const struct cs_scan *s, uint64_t off, uint64_t len) {
    return s->map ? cs_zip_map_range(s->map, off, len) : 0;
}

// Adds a leaf of [off, off+len) of the file.  False when out of memory.
bool cs_scan_leaf(struct cs_scan *s, struct cs_leaf leaf, uint64_t off, uint64_t len);

// A leaf with every level unused.
struct cs_leaf cs_leaf_of(uint32_t member, uint32_t section, uint32_t part);

#endif
