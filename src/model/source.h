// Source: which source file a container came from.
//
// A container says so by itself only when it was compiled with -lineinfo or -G.  Else the host part
// of the library may, and what kernels are called is the last resort.  docs/format/source-names.md
// lists the clues and how each was established; enum cs_source_how ranks them.
//
// How a scan uses it: cs_source_map_read() once for each ELF file and cs_source_map_find() for each
// container; cs_source_of_image() for images of containers that have no better name; at the end
// cs_source_finish() once, which chooses.
#ifndef CS_MODEL_SOURCE_H
#define CS_MODEL_SOURCE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/pool.h"
#include "base/vec.h"
#include "format/elf.h"
#include "format/ptx.h"
#include "model/inventory.h"

// What the symbol tables of one ELF file say about its containers.
struct cs_source_mark {
    uint64_t offset;  // in the ELF file: of a container, or of its wrapper
    struct cs_str name;
    enum cs_source_how how;  // CS_SOURCE_SYMTAB, CS_SOURCE_MODULE_ID or CS_SOURCE_STUB
};
struct cs_source_map {
    struct cs_arena arena;
    CS_VEC(struct cs_source_mark) marks;  // ascending offset, the best one alone at each
};

// Reads .symtab and .dynsym once.  Damaged tables give fewer marks; fails only without memory.
// Free with cs_source_map_fini, also after a failure.
enum cs_code cs_source_map_read(const struct cs_elf *elf, struct cs_source_map *out,
                                struct cs_err *err) CS_MUST_USE;
void cs_source_map_fini(struct cs_source_map *map);

// The mark at a container's offset, or at its wrapper's (CS_NO_OFFSET = no wrapper), whichever is
// better; NULL when there is none.  Borrowed from the map.
const struct cs_source_mark *cs_source_map_find(const struct cs_source_map *map,
                                                uint64_t container_off, uint64_t wrapper_off);

// Appends the name that a cubin's line tables or a PTX's .file directives give: the first file that
// looks like a translation unit, else the first.  False when there is none.  Reads section headers
// only, so it costs little where there is no debug info.
bool cs_source_of_cubin(struct cs_view image, struct cs_buf *out);
bool cs_source_of_ptx(const struct cs_ptx *ptx, struct cs_buf *out);

// These append a file name and return true when the text has the form they know.
//   tmpxft_00000b70_00000000-6_activation_kernels.compute_120.cudafe1.cpp -> activation_kernels.cu
bool cs_source_from_symbol(struct cs_str file_symbol, struct cs_buf *out);
//   _167746ba_4_d_cu_f00f9c1f -> d.cu
bool cs_source_from_module_id(struct cs_str id, struct cs_buf *out);
//   _ZN43_GLOBAL__N__167746ba_4_d_cu_f00f9c1f1kEv -> d.cu; also _INTERNAL_... and __nv_static_...
bool cs_source_from_mangled(struct cs_str kernel, struct cs_buf *out);

// Chooses the name of every container from `first` on, once images and kernels are known:
// identifiers of entries, what the scan has put into container.source and image.source, kernels'
// names, the archive member.  A container whose source nothing tells gets a name made from its
// kernels, "container 12 (flash::FlashAttnFwdSm90)"; unless `kernels_known` is false, since nobody
// has looked at them: then its source stays empty.  Linear.
enum cs_code cs_source_finish(struct cs_inventory *inv, size_t first, bool kernels_known,
                              struct cs_pool *pool, struct cs_err *err) CS_MUST_USE;

#endif
