// Cubin: what the bytes of one device ELF belong to.
//
// cs_cubin_read() cuts the whole image into pieces.  Every byte is in exactly one piece; a piece
// belongs to one kernel (or device function), or to the module as a whole.  Layout knowledge and
// how it was established: docs/format/cubin.md.
#ifndef CS_FORMAT_CUBIN_H
#define CS_FORMAT_CUBIN_H

#include "base/vec.h"
#include "base/view.h"

// What a piece of an image, a library or a wheel is for.  One list for the whole project.
enum cs_part {
    CS_PART_CODE,         // .text.*
    CS_PART_CAPMERC,      // .nv.capmerc.text.*
    CS_PART_MERC,         // .nv.merc.*
    CS_PART_CONSTANT,     // .nv.constant*
    CS_PART_ATTRIBUTE,    // .nv.info*, .nv.compat, notes, callgraph
    CS_PART_RELOCATION,   // .rel*, .rela*
    CS_PART_SYMBOL,       // .symtab entries
    CS_PART_NAME,         // .strtab, .shstrtab
    CS_PART_DEBUG,        // .debug_*, .nv_debug_*
    CS_PART_GLOBAL,       // .nv.global*, initialised data
    CS_PART_HEADER,       // ELF header, program and section headers
    CS_PART_PADDING,      // alignment and bytes no table mentions
    CS_PART_PTX,          // PTX text
    CS_PART_IR,           // LTO-IR, Tile IR
    CS_PART_OPAQUE,       // obfuscated, unknown kind, or not readable
    CS_PART_ENTRY_HEADER, // fatbin entry headers, container headers, wrappers
    CS_PART_HOST,         // everything of a library that is not device code
    CS_PART_ARCHIVE,      // ZIP and ar structure
    CS_PART_COUNT,
};
const char *cs_part_name(enum cs_part part);  // "code", "capmerc", ...

#define CS_NO_KERNEL UINT32_MAX

struct cs_cubin_piece {
    uint64_t off, len;  // in the image; ascending, no gap, no overlap
    uint32_t kernel;    // index into kernels, or CS_NO_KERNEL for module overhead
    uint32_t part;      // enum cs_part
};

struct cs_cubin_kernel {
    struct cs_str name;      // mangled, a view into the image
    bool is_kernel;          // false: a separately placed device function
    bool is_local;           // static or anonymous namespace
    uint64_t code_bytes;     // of .text.<name>
    uint64_t symbol_bytes;   // st_size of its FUNC symbol
    uint32_t registers;
    uint32_t barriers;
    uint64_t stack_bytes;    // FRAME_SIZE
    uint64_t local_bytes;    // MIN_STACK_SIZE: local memory per thread
    uint64_t shared_bytes;   // static, reserved bytes already taken off
    uint64_t constant_bytes; // .nv.constant0.<name>
    uint64_t param_bytes;
    uint32_t max_threads[3]; // 0 when not given
    struct cs_view code;     // for content comparison
};

// Any other FUNC symbol inside a code section (outlined device functions): the origin's size table
// counts them, so they are kept with their st_size.
struct cs_cubin_func {
    struct cs_str name;
    uint64_t symbol_bytes;
    uint32_t kernel;  // owner
};

struct cs_cubin {
    uint32_t abi;           // 7 or 8; other numbers are kept as found
    uint32_t sm;            // 90
    uint32_t virtual_sm;    // 90; 0 when unknown
    uint32_t toolkit_x10;   // 130 for 13.0; 0 when unknown
    bool accelerated;       // e_flags (ABI 7: bit 11, ABI 8: bit 3) or .nv.compat attribute 9
    bool relocatable;       // ET_REL
    bool has_mercury;
    struct cs_str tool_command;   // options of ptxas or nvlink (.note.nv.tkinfo); empty when absent
    uint64_t code_bytes;          // all .text.* sections
    uint32_t code_sections;
    uint32_t anomalies;  // sections that overlap, leave the file, ...: read as far as possible
    // From here on memory is kept when another image is read into the same struct.
    CS_VEC(struct cs_cubin_kernel) kernels;
    CS_VEC(struct cs_cubin_func) funcs;
    CS_VEC(struct cs_cubin_piece) pieces;
    struct cs_cubin_work *work;  // memory of the walk, kept for the next image
};

// Reads one image.  `out` is zeroed before first use; reading again reuses its memory.  Damaged
// tables inside a valid ELF header are not an error: what cannot be understood becomes module
// overhead and `anomalies` counts it.  CS_FORMAT when it is no cubin.  The result borrows from
// `image`.
enum cs_code cs_cubin_read(struct cs_view image, struct cs_cubin *out,
                           struct cs_err *err) CS_MUST_USE;
void cs_cubin_fini(struct cs_cubin *c);

// Only what the ELF header and .nv.compat say: abi, sm, virtual_sm, accelerated, relocatable, and
// the toolkit of ABI 7.  `out` needs no fini; everything else in it is zero.
enum cs_code cs_cubin_identify(struct cs_view image, struct cs_cubin *out,
                               struct cs_err *err) CS_MUST_USE;

#endif
