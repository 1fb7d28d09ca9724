// Slim: decides what a finished file can lose, and makes the smaller file.
//
// The decision (slim_decide.c) works on headers alone: which image each device selects, before and
// after.  The making (slim_build.c) rebuilds containers.  Writing them into ELF files is elfcut's
// business, into wheels zipwrite's.  Nothing here prints, and no file is touched before its
// replacement was read back and verified (slim_verify.c).
#ifndef CS_REWRITE_SLIM_H
#define CS_REWRITE_SLIM_H

#include "base/pool.h"
#include "model/reach.h"
#include "model/scan.h"
#include "model/select.h"

enum cs_slim_ptx { CS_SLIM_PTX_KEEP, CS_SLIM_PTX_NEWEST, CS_SLIM_PTX_DROP };

// What happens to the payloads of the images that stay.
enum cs_slim_recompress {
    CS_SLIM_RAW_TO_LZ4,  // default: only uncompressed images, where that saves bytes
    CS_SLIM_AS_IS,
    CS_SLIM_TO_NONE,
    CS_SLIM_TO_LZ4,
    CS_SLIM_TO_ZSTD,
    CS_SLIM_TO_CONCAT,   // zstd over several images at once: drivers from R615 on
};

enum cs_slim_minimise { CS_SLIM_INSTALL, CS_SLIM_WHEEL };

// Why an image went away.
enum cs_slim_cause {
    CS_SLIM_KEPT,
    CS_SLIM_SHADOWED,     // free: no device runs it
    CS_SLIM_UNREACHABLE,  // free: no device that loads this library runs it
    CS_SLIM_STUB,         // free: a link stub without kernels
    CS_SLIM_FOR,          // not needed by the devices of --for
    CS_SLIM_TARGET,       // --drop or --keep
    CS_SLIM_PTX,          // --ptx
    CS_SLIM_RELOCATABLE,  // --relocatable drop
    CS_SLIM_CAUSE_COUNT,
};
const char *cs_slim_cause_name(enum cs_slim_cause cause);

enum { CS_SLIM_LIST_MAX = 64 };

struct cs_slim_options {
    bool free_edits;                              // off with --no-free
    struct cs_target drop[CS_SLIM_LIST_MAX], keep[CS_SLIM_LIST_MAX];
    uint32_t drop_count, keep_count;
    struct cs_device devices[CS_SLIM_LIST_MAX];   // --for
    uint32_t device_count;
    struct cs_device allow[CS_SLIM_LIST_MAX];     // outcome may change
    uint32_t allow_count;
    bool allow_future;                            // devices in no table yet may lose their PTX
    struct cs_device promised[CS_SLIM_LIST_MAX];  // config `devices`: must keep something to run
    uint32_t promised_count;
    enum cs_slim_ptx ptx;
    bool drop_relocatable;
    enum cs_slim_recompress recompress;
    int level;                                    // 0 = default of the codec
    bool split_concatenated;
    enum cs_slim_minimise minimise;
    struct cs_driver allow_floor;                 // parts 0 = none given
    bool allow_unknown_floor;
    const struct cs_intern *keep_kernels;         // mangled names; NULL = all kernels stay
    const struct cs_reach *reach;                 // routes; NULL = every device loads every library
};

// How one device's view of some containers changed.
struct cs_slim_change {
    struct cs_device device;    // {0, 0} = devices in no table yet
    enum cs_outcome before, after;
    struct cs_target from, to;  // images selected; arch 0 = none
    uint32_t containers;
    struct cs_str example;      // member of one of them
    struct cs_str kernels;      // some of that one's kernels, where a promised device loses them
};

// A device on which some container needs a newer driver than it did.  The artifact's floor may stay
// the same all the while: another device may have needed more from the start.
struct cs_slim_raise {
    struct cs_device device;
    struct cs_driver before, after;  // of the container that needs most now
    uint32_t containers;
};

struct cs_slim_price {
    struct cs_arena arena;
    CS_VEC(struct cs_slim_change) changes;
    CS_VEC(struct cs_slim_raise) raises;         // at most one a device
    struct cs_driver floor_before, floor_after;  // of all together; the chips' own not counted
};
void cs_slim_price_fini(struct cs_slim_price *p);

// One file's decisions.
struct cs_slim_decision {
    uint8_t *cause;    // enum cs_slim_cause, parallel to scan->images
    uint8_t *touched;  // parallel to scan->containers: an image was dropped
    uint32_t dropped;
    uint64_t cause_bytes[CS_SLIM_CAUSE_COUNT];  // file bytes of the entries dropped
};
void cs_slim_decision_fini(struct cs_slim_decision *d);

// Loose .fatbin files and registered containers are ours to edit; a container that no wrapper names
// is used through some pointer of the program's own, and stays as it is.
bool cs_slim_editable(const struct cs_scan *scan, const struct cs_container *c);

// Which images fatbinary would join into one concatenated entry: 0 = not to be joined, 1 = PTX,
// 2 = cubins without flag bit 24, 3 = cubins with it.  New containers hold them in this order.
enum { CS_SLIM_CONCAT_CLASSES = 4 };
uint32_t cs_slim_concat_class(const struct cs_scan *scan, uint32_t image);

// Decides for one scanned file and adds to the price.  Does not refuse; see cs_slim_price_check.
enum cs_code cs_slim_decide(const struct cs_scan *scan, const struct cs_slim_options *options,
                            struct cs_workers *workers, struct cs_slim_decision *out,
                            struct cs_slim_price *price, struct cs_err *err) CS_MUST_USE;

// CS_CONFLICT, with the flag to give, when the price exceeds what the options allow.
enum cs_code cs_slim_price_check(const struct cs_slim_price *price,
                                 const struct cs_slim_options *options,
                                 struct cs_err *err) CS_MUST_USE;

// A container's new bytes.
struct cs_slim_container {
    struct cs_buf bytes;    // empty: unchanged
    uint32_t recompressed;  // images in another form than before
};

struct cs_slim_built {
    struct cs_slim_container *containers;  // parallel to scan->containers
    size_t count;
    uint32_t recompressed;
};
void cs_slim_built_fini(struct cs_slim_built *b);

// Rebuilds the containers that change, in parallel.
enum cs_code cs_slim_build(const struct cs_scan *scan, const struct cs_slim_decision *decision,
                           const struct cs_slim_options *options, struct cs_pool *pool,
                           struct cs_workers *workers, struct cs_slim_built *out,
                           struct cs_err *err) CS_MUST_USE;

#endif
