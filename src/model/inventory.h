// Inventory: everything there is in the inputs, and who owns each byte.
//
// cs_inventory_add() reads one input of any kind.  The result is flat arrays that refer to each
// other by index, in an order that does not depend on the number of threads.  The leaves are the
// heart: each stands for some bytes with exactly one owner, so that for every input
//     sum of leaf.file_bytes  = installed bytes      (sizes of the files themselves)
//     sum of leaf.wheel_bytes = size of the wheel    (only where the input is one)
// Analyses never look at files again; they read this.
#ifndef CS_MODEL_INVENTORY_H
#define CS_MODEL_INVENTORY_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/pool.h"
#include "base/vec.h"
#include "format/cubin.h"
#include "format/fatbin.h"
#include "model/target.h"

#define CS_NONE UINT32_MAX

enum cs_file_kind {
    CS_FILE_WHEEL,       // any ZIP
    CS_FILE_DIRECTORY,
    CS_FILE_LIBRARY,     // ELF ET_DYN without an interpreter
    CS_FILE_EXECUTABLE,  // ELF ET_EXEC, or ET_DYN with one
    CS_FILE_OBJECT,      // ELF ET_REL
    CS_FILE_ARCHIVE,     // .a
    CS_FILE_FATBIN,
    CS_FILE_CUBIN,
    CS_FILE_PTX,
    CS_FILE_REPORT,      // our own JSON
    CS_FILE_WINDOWS,     // PE: recognised, not supported
    CS_FILE_OTHER,       // no device code by any rule we know
};
const char *cs_file_kind_name(enum cs_file_kind kind);
enum cs_file_kind cs_file_kind_parse(struct cs_str name);  // CS_FILE_OTHER for an unknown word

struct cs_input {
    struct cs_str path;
    enum cs_file_kind kind;
    uint64_t bytes;            // of the file; of all files for a directory
    uint32_t first_member, member_count;
};

// One file that was read: a library, a member of a wheel, a file of a folder, an object in an
// archive.
struct cs_member {
    uint32_t input;
    uint32_t parent;           // the archive an object lies in, or CS_NONE
    struct cs_str path;        // within the input; for an archive member "libx.a:obj.o"
    enum cs_file_kind kind;
    uint16_t machine;          // ELF e_machine, 0 otherwise
    uint64_t file_bytes;       // 0 for an archive member's parent-owned structure
    uint64_t wheel_bytes;      // compressed size in the wheel (data only), or 0
    uint64_t offset;           // of an archive member in its archive
    uint32_t first_container, container_count;
    uint32_t first_image, image_count;
    bool failed;               // could not be read; `problem` says why
    struct cs_str problem;     // first error or remark, empty when fine
};

enum cs_wrapper_kind {
    CS_WRAPPER_NONE,    // no wrapper points here: library with its own table, link stub, loose file
    CS_WRAPPER_PLAIN,   // version 1
    CS_WRAPPER_LINKED,  // version 2, device-linked
};

// How the source name of a container is known, best first.
enum cs_source_how {
    CS_SOURCE_NONE,
    CS_SOURCE_OBJECT,      // equal image in a build's object file
    CS_SOURCE_IDENTIFIER,  // entry header
    CS_SOURCE_SYMTAB,      // FILE + fatbinData symbols of the host library
    CS_SOURCE_MODULE_ID,   // rdc module id
    CS_SOURCE_LINE_TABLE,  // .debug_line, PTX .file
    CS_SOURCE_ANONYMOUS,   // _GLOBAL__N__..._cu_ in a mangled name
    CS_SOURCE_ARCHIVE,     // archive member name
    CS_SOURCE_BY_NAME,     // kernel name found in a source tree (--sources, --map)
    CS_SOURCE_KERNELS,     // made from the kernels' names
    CS_SOURCE_STUB,        // nvcc's link stub: no source
};
const char *cs_source_how_name(enum cs_source_how how);

struct cs_container {
    uint32_t member;
    uint32_t section;         // intern id of the ELF section name
    uint64_t offset;          // in the member
    uint64_t bytes;           // header included
    uint32_t index;           // within the member, by offset
    enum cs_wrapper_kind wrapper;
    uint64_t wrapper_offset;  // in the member, when there is a wrapper
    bool relocatable;         // lies in __nv_relfatbin
    uint32_t first_image, image_count;
    struct cs_str source;     // file name as known, empty when unknown
    enum cs_source_how source_how;
};

struct cs_image {
    uint32_t member;
    uint32_t container;      // CS_NONE for a loose cubin or PTX
    uint32_t section;        // intern id
    uint32_t index;          // of its entry in the container
    uint32_t part;           // in a concatenated entry, else CS_NONE
    uint32_t kind;           // enum cs_fatbin_kind or unknown number
    struct cs_target target;
    enum cs_codec codec;
    uint64_t flags;
    bool obfuscated, unknown;  // unknown: kind or flag bits we do not know
    uint64_t offset;         // in the member: of the entry header (of the ELF for a loose cubin)
    uint64_t header_bytes;
    uint64_t file_bytes;     // header and padded payload; for a part: its share
    uint64_t wheel_bytes;
    uint64_t image_bytes;    // decompressed
    uint64_t code_bytes;     // .text.*
    uint32_t code_sections;
    uint16_t code_major, code_minor;
    uint32_t toolkit_x10;
    uint32_t ptx_isa_x10;    // 84 for 8.4
    struct cs_str identifier;
    struct cs_str source;    // by its own line table or .file, where nothing better is known
    struct cs_str options;
    struct cs_hash128 hash;  // of the decompressed image; zero when not read
    bool relocatable;        // ET_REL cubin
    bool read;  // kernels and parts are known (false: header depth, opaque, or damaged)
    uint32_t first_kernel, kernel_count;
    struct cs_str problem;
};

struct cs_kernel {
    uint32_t image;
    uint32_t name;            // intern id, mangled
    bool is_kernel, is_local;
    uint64_t code_bytes, symbol_bytes;
    uint64_t extra_symbol_bytes;  // other FUNC symbols inside its code (counted by --style table)
    uint32_t extra_symbols;
    uint32_t registers, barriers;
    uint64_t stack_bytes, local_bytes, shared_bytes, constant_bytes, param_bytes;
    struct cs_hash128 code_hash;
};

// Another FUNC symbol in a code section; see cs_cubin_func.
struct cs_func {
    uint32_t image;
    uint32_t kernel;  // whose code it lies in, or CS_NONE
    uint32_t name;    // intern id
    uint64_t symbol_bytes;
};

// Some bytes with one owner.  Unused levels are CS_NONE.
struct cs_leaf {
    uint32_t input;
    uint32_t member;     // CS_NONE: structure of the wheel itself
    uint32_t section;    // intern id
    uint32_t container;
    uint32_t image;
    uint32_t kernel;     // CS_NONE: overhead of the image, or no image
    uint32_t part;       // enum cs_part
    bool estimated;      // a share of compressed bytes, not a range of its own
    uint64_t file_bytes;
    uint64_t image_bytes;
    uint64_t wheel_bytes;
};

enum cs_depth {
    CS_DEPTH_HEADERS,  // containers and entry headers only
    CS_DEPTH_KERNELS,  // decompress, walk every image, own every byte
};

// Sees every file of an input while its bytes are in memory.  Called from any thread, several at a
// time, once a file; `index` is the number of the file in the input: of the ZIP's member, of the
// regular file in a folder, else 0.  With it, all members of a wheel are inflated.
struct cs_inventory_look {
    void (*file)(void *ctx, uint32_t index, struct cs_str path, struct cs_view bytes);
    void *ctx;
};

struct cs_inventory_options {
    enum cs_depth depth;
    bool wheel_bytes;      // record positions in deflate streams
    bool hashes;           // hash images and kernel code
    bool sources;          // find source names
    const struct cs_inventory_look *look;  // NULL = nobody looks
    // Called now and then from any thread with bytes done and known so far; NULL = none.
    void (*progress)(void *ctx, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_ctx;
};

struct cs_inventory {
    struct cs_arena arena;
    struct cs_intern names;  // sections and mangled kernel names
    CS_VEC(struct cs_input) inputs;
    CS_VEC(struct cs_member) members;
    CS_VEC(struct cs_container) containers;
    CS_VEC(struct cs_image) images;
    CS_VEC(struct cs_kernel) kernels;
    CS_VEC(struct cs_func) funcs;
    CS_VEC(struct cs_leaf) leaves;
    uint32_t unknown_kinds, unknown_flags, opaque_images, failed_images, failed_members;
};

void cs_inventory_init(struct cs_inventory *inv);
void cs_inventory_fini(struct cs_inventory *inv);

// Reads one input ("-" = standard input).  A problem inside one member of a wheel or folder marks
// that member and reading goes on; a problem of the input itself is an error and adds nothing.
enum cs_code cs_inventory_add(struct cs_inventory *inv, const char *path,
                              const struct cs_inventory_options *options, struct cs_pool *pool,
                              struct cs_err *err) CS_MUST_USE;

#endif
