// Elfcut: gives the containers of a finished ELF file new bytes, and makes the file smaller by it.
//
//     struct cs_elfcut cut;
//     CS_TRY(cs_elfcut_open(file, &cut, err));          // what may move, what may not
//     cs_elfcut_replace(&cut, block, new_bytes);        // for some blocks
//     CS_TRY(cs_elfcut_plan(&cut, NULL, err));          // cut.result says what will happen
//     CS_TRY(cs_elfcut_commit(&cut, path, 0644, err));  // written, read back, verified, renamed
//     cs_elfcut_close(&cut);
//
// Method (docs/format/elf-subset.md): containers are packed inside their section; pointers to them
// are fixed wherever they are kept; whole pages that became free are taken out of the file by
// splitting the LOAD segment around them, all addresses staying as they were.  The program header
// table stays where it is: a slot for the new segment comes from merging two LOADs or from a
// PT_NOTE.  Where that cannot be done the free bytes become zeros, and the result says why.
// Containers that need more room than their section has move, all of them, into a new segment at
// the end of the file, and their old place is cut out like any other hole.
// Object files: the section shrinks or grows, and what follows moves.
//
// New bytes and the file's bytes are borrowed until close.
// Not thread-safe; different files may be cut in different threads.
#ifndef CS_REWRITE_ELFCUT_H
#define CS_REWRITE_ELFCUT_H

#include "base/arena.h"
#include "base/vec.h"
#include "format/elf.h"
#include "model/wrappers.h"
#include "rewrite/pieces.h"

// Why a block stays where it is.
enum cs_elfcut_pin {
    CS_ELFCUT_MOVABLE,     // wrappers are its only users, and their pointers can be rewritten
    CS_ELFCUT_NO_WRAPPER,  // nobody we know uses it: its users hold addresses of their own
    CS_ELFCUT_STORAGE,     // a wrapper reaches it by a pointer that cannot be rewritten
    CS_ELFCUT_RELOCATION,  // a relocation outside the wrappers points to it
    CS_ELFCUT_SYMBOL,      // a symbol that code may refer to names it
    CS_ELFCUT_UNALIGNED,   // does not start on a multiple of 8
    CS_ELFCUT_INSIDE,      // something points into the middle: its bytes must not change either
    CS_ELFCUT_FOREIGN,     // no container: bytes between containers, kept as they are
};
const char *cs_elfcut_pin_name(enum cs_elfcut_pin pin);

// A container of a device section, or bytes between containers that are not all zero.
struct cs_elfcut_block {
    uint64_t off, bytes;     // in the original file
    uint32_t section;        // index in cs_elfcut.sections
    uint32_t wrapper_count;  // wrappers that point to its start
    enum cs_elfcut_pin pin;
    bool replace;            // set by cs_elfcut_replace
    struct cs_view fresh;    // its new bytes
    uint64_t at;  // set by plan: new place, relative to the original start of its section
};

// A device section: .nv_fatbin or __nv_relfatbin.
struct cs_elfcut_section {
    uint32_t index;          // section header
    bool relocatable;        // __nv_relfatbin
    bool locked;             // something points between its containers: nothing in it may change
    uint64_t off, addr, size;
    uint32_t load;           // program header that maps it, or UINT32_MAX
    uint32_t first, count;   // its blocks
    bool changed;            // set by plan, as are all that follow
    uint64_t new_start;      // relative to off: where it begins now
    uint64_t new_size;
    uint64_t capacity;       // room for placing; larger than size in object files
    uint64_t grown_to;       // object files: bytes it takes in the file now; 0 = no growth
    bool relocated;          // other files: it needs more room, so it moved to the end
    uint64_t new_off, new_addr;  // relocated: where, in the new file
};

enum cs_elfcut_how {
    CS_ELFCUT_UNCHANGED,  // byte-identical
    CS_ELFCUT_CUT,        // free bytes removed from the file
    CS_ELFCUT_FILLED,     // new content, same size: nothing to remove, or not possible (see reason)
    CS_ELFCUT_GROWN,      // the new containers need more room
};
const char *cs_elfcut_how_name(enum cs_elfcut_how how);

struct cs_elfcut_result {
    enum cs_elfcut_how how;
    uint64_t before_bytes, after_bytes;
    uint64_t filled_bytes;      // free bytes that stay in the file as zeros
    uint32_t holes;             // ranges taken out
    uint32_t merged_loads;      // slots won by merging two LOADs
    uint32_t dropped_notes;     // slots won by giving up a PT_NOTE (its section stays)
    bool build_id_hidden;       // one of those held the build-id
    uint32_t lowered_aligns;    // LOADs whose p_align was lowered to the page size
    uint32_t relocated_sections;  // moved to a segment of their own for want of room
    uint32_t moved_containers;
    uint32_t patched_pointers;
    char reason[CS_ERR_TEXT];   // why something stayed as zeros; empty when nothing did
};

struct cs_elfcut_options {
    bool fill_only;  // never change the file's size
};

struct cs_elfcut_work;

struct cs_elfcut {
    struct cs_elf elf;
    struct cs_wrappers wrappers;
    CS_VEC(struct cs_elfcut_section) sections;  // ascending by offset
    CS_VEC(struct cs_elfcut_block) blocks;      // ascending by offset
    struct cs_elfcut_result result;             // valid after plan
    struct cs_pieces pieces;                    // the new file; valid after plan
    struct cs_elfcut_work *work;
};

// Surveys a file.  CS_NOTFOUND when it has no device sections; CS_UNSUPPORTED when its structure is
// one that must not be touched (device sections that overlap others, no section headers, ...);
// CS_FORMAT when it is damaged.  On error nothing needs to be closed.
enum cs_code cs_elfcut_open(struct cs_view file, struct cs_elfcut *cut,
                            struct cs_err *err) CS_MUST_USE;
void cs_elfcut_close(struct cs_elfcut *cut);

// The block that starts at a file offset; NULL when none does.
struct cs_elfcut_block *cs_elfcut_at(struct cs_elfcut *cut, uint64_t off);

// Says that nobody uses a block without wrappers (a link stub without kernels), so that it may move
// and need not hold the free bytes apart.  False when its pin has another reason.
bool cs_elfcut_release(struct cs_elfcut_block *block);

// Asks for new bytes: one whole container whose size is a multiple of 8.
void cs_elfcut_replace(struct cs_elfcut *cut, struct cs_elfcut_block *block, struct cs_view fresh);

// Computes the new file; options NULL = defaults.  CS_CONFLICT when a pinned container would have
// to grow or a frozen one to change, or when the new containers need more room than there is;
// CS_UNSUPPORTED when the file's structure forbids the edit.  May be called again after other
// requests.
enum cs_code cs_elfcut_plan(struct cs_elfcut *cut, const struct cs_elfcut_options *options,
                            struct cs_err *err) CS_MUST_USE;

// Proves that `produced` is what was planned: read from scratch, every wrapper reaches the
// container it reached before with the bytes it should have, every byte outside the explicit list
// of edits equals the original's at its mapped offset, segments are congruent, disjoint, and map
// each section at its old address.  CS_CONFLICT with the reason otherwise.
enum cs_code cs_elfcut_verify(const struct cs_elfcut *cut, struct cs_view produced,
                              struct cs_err *err) CS_MUST_USE;

// Writes the planned file to `path`, verifies it as read back, and renames it into place.
enum cs_code cs_elfcut_commit(const struct cs_elfcut *cut, const char *path, mode_t mode,
                              struct cs_err *err) CS_MUST_USE;

#endif
