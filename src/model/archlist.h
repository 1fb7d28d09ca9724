// Arch lists: one reader and writer for every notation in which builds name architectures.
//
//   torch        8.0;8.6 9.0a+PTX, Hopper     TORCH_CUDA_ARCH_LIST, vLLM's source lists
//   cmake        80-real;90a-virtual;all      CMAKE_CUDA_ARCHITECTURES, CUDAARCHS
//   nvcc         -gencode arch=..,code=..     flags, or a whole command line
//   flashinfer   8.0 9.0a 12.0f               FLASHINFER_CUDA_ARCH_LIST
//   tvm-ffi      8.9 9.0a                     TVM_FFI_CUDA_ARCH_LIST
//   targets      sm_80,compute_90             this program's own options
//
// Reading keeps everything: order, repetitions, what each word asks for.  Writing into a notation
// that cannot say something is an error that names it.  Nothing is dropped without an issue.
// Time and memory are linear in the text.  Not thread-safe per list; lists are independent.
#ifndef CS_MODEL_ARCHLIST_H
#define CS_MODEL_ARCHLIST_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"
#include "model/select.h"

enum cs_notation {
    CS_NOTATION_AUTO,
    CS_NOTATION_TORCH,
    CS_NOTATION_CMAKE,
    CS_NOTATION_NVCC,
    CS_NOTATION_FLASHINFER,
    CS_NOTATION_TVM_FFI,
    CS_NOTATION_TARGETS,
};
const char *cs_notation_name(enum cs_notation notation);
bool cs_notation_parse(struct cs_str name, enum cs_notation *out);

// What one word of a list asks for.
struct cs_arch_entry {
    struct cs_target real;  // of the SASS or LTO-IR; the number of `virt` when there is neither
    struct cs_target virt;  // the compute_NN it is compiled from; is_ptx = true
    bool sass, ptx, lto;    // ptx: compute_NN of `virt` is kept
    uint32_t at, len;       // its word in the text, bytes
    uint32_t run;           // nvcc: which unbroken run of architecture flags, from 0
};

// Words that stand for a set, resolved by the tool that reads them.
enum cs_arch_special {
    CS_ARCH_LISTED,     // none: the entries say it all
    CS_ARCH_ALL,        // SASS for every target of the toolkit, PTX of the newest major's first
    CS_ARCH_ALL_MAJOR,  // SASS for the first target of every major, PTX of the last
    CS_ARCH_NATIVE,     // the GPUs of the build machine
    CS_ARCH_OFF,        // cmake: no flags
};
const char *cs_arch_special_name(enum cs_arch_special special);

enum cs_arch_issue_id {
    CS_ARCH_BAD_TOKEN,       // no target of any nvcc in the tables, or not the notation
    CS_ARCH_EMPTY_ITEM,      // two separators in a row, or an empty list
    CS_ARCH_IMPOSSIBLE,      // nvcc refuses the combination
    CS_ARCH_NOT_IN_TOOLKIT,  // the toolkit that was named does not know it
    CS_ARCH_CONTRADICTORY,   // one flag or word takes back what another says
    CS_ARCH_DUPLICATE,       // the same image is asked for twice
    CS_ARCH_READDED,         // a second run of flags brings a target that the first left out
    CS_ARCH_UNDECLARED,      // not in the list that was declared
    CS_ARCH_SHADOWED,        // no device would ever run it beside the others
    CS_ARCH_RENAMED,         // an old or new name of the same chip
    CS_ARCH_CHANGED,         // the tool reads the word as something else (flashinfer: 9.0 is 9.0a)
    CS_ARCH_NOT_READ_BY,     // a named tool refuses the word (torch 2.11.0 and `f`)
    CS_ARCH_UNREAD,          // an options file whose flags are not seen here
};
const char *cs_arch_issue_slug(enum cs_arch_issue_id id);

enum cs_arch_severity { CS_ARCH_NOTE, CS_ARCH_WARNING, CS_ARCH_ERROR };
const char *cs_arch_severity_name(enum cs_arch_severity severity);

struct cs_arch_issue {
    enum cs_arch_issue_id id;
    enum cs_arch_severity severity;
    uint32_t at;            // of the word in the text, bytes from 0
    struct cs_str token;    // the word, cut at 60 bytes
    struct cs_str text;     // one sentence
    struct cs_str nearest;  // what was perhaps meant, in the same notation; may be empty
};

enum { CS_ARCH_ISSUES_MAX = 200 };

struct cs_archlist {
    enum cs_notation notation;  // it was read as; never AUTO after a successful read
    enum cs_arch_special special;
    CS_VEC(struct cs_arch_entry) entries;
    CS_VEC(struct cs_arch_issue) issues;  // at most CS_ARCH_ISSUES_MAX
    uint32_t more_issues;                 // that found no room
    uint32_t runs;                        // nvcc: unbroken runs of architecture flags
    bool has_arch_flag, has_gencode_flag, has_code_flag;
    struct cs_arena arena;  // texts of issues
};

void cs_archlist_init(struct cs_archlist *list);
void cs_archlist_fini(struct cs_archlist *list);

struct cs_archlist_options {
    enum cs_notation notation;
    uint16_t toolkit_x10;  // 130: words must be known to that toolkit; 0 = to any
    bool collect;          // go on after an error: every problem becomes an issue (for lint)
};

// Reads text into an initialised, empty list.  Without `collect` the first error ends it with
// CS_USAGE and a message that quotes the word, its position (characters from 1) and the nearest
// valid word; the same is in the last issue.  Over 64 MiB: CS_LIMIT.  options NULL = defaults.
enum cs_code cs_archlist_parse(struct cs_archlist *list, struct cs_str text,
                               const struct cs_archlist_options *options,
                               struct cs_err *err) CS_MUST_USE;
// The same for the words of a command (nvcc notation); `at` is then the number of the word.
enum cs_code cs_archlist_parse_words(struct cs_archlist *list, const struct cs_str *words,
                                     uint32_t count, const struct cs_archlist_options *options,
                                     struct cs_err *err) CS_MUST_USE;

// Splits a POSIX shell command into words: quotes and backslashes as sh(1) reads them, no
// expansion.  Words live in the arena.  CS_FORMAT on an unclosed quote.
struct cs_words {
    CS_VEC(struct cs_str) words;
    CS_VEC(uint32_t) at;  // where each begins
};
enum cs_code cs_words_split(struct cs_str command, struct cs_arena *arena, struct cs_words *out,
                            struct cs_err *err) CS_MUST_USE;
void cs_words_fini(struct cs_words *words);

// Adds an issue (text is copied).  `token` may be cut.
void cs_archlist_issue(struct cs_archlist *list, enum cs_arch_issue_id id,
                       enum cs_arch_severity severity, uint32_t at, struct cs_str token,
                       const char *fmt, ...) CS_PRINTF(6, 7);
// Appends an entry; false when out of memory.
bool cs_archlist_add(struct cs_archlist *list, struct cs_arch_entry entry);

// dst (initialised, empty) = src with one entry for each (target, compiled-from) pair, in order of
// first appearance.  Issues are not copied.
enum cs_code cs_archlist_merge(const struct cs_archlist *src, struct cs_archlist *dst,
                               struct cs_err *err) CS_MUST_USE;
// Ascending by target, plain before a before f, SASS before PTX alone.
void cs_archlist_sort(struct cs_archlist *list);
// Replaces `all`, `all-major` by what that toolkit's nvcc builds, and `native` by the devices
// given (none: CS_USAGE), as the list's notation understands it.
enum cs_code cs_archlist_expand(struct cs_archlist *list, uint16_t toolkit_x10,
                                const struct cs_device *native, uint32_t native_count,
                                struct cs_err *err) CS_MUST_USE;
// Renames chips to that toolkit's names (10.1 <-> 11.0), with an issue for each; CS_UNSUPPORTED
// naming the first target that the toolkit cannot build.
enum cs_code cs_archlist_for_toolkit(struct cs_archlist *list, uint16_t toolkit_x10,
                                     struct cs_err *err) CS_MUST_USE;

// Writes the list in a notation (not AUTO).  CS_UNSUPPORTED, naming the target, when the notation
// cannot say it.  Repetitions are merged.
enum cs_code cs_archlist_print(const struct cs_archlist *list, enum cs_notation notation,
                               struct cs_buf *out, struct cs_err *err) CS_MUST_USE;

// The flags that the named build system gives nvcc for the list, one space between:
//   TORCH  torch 2.11.0 _get_cuda_arch_flags; CS_UNSUPPORTED for a list it refuses
//   CMAKE  CMake's for CUDA_ARCHITECTURES, repetitions and order kept
//   VLLM   vLLM 0.33.0 set_gencode_flags_for_srcs
enum cs_flag_style { CS_FLAGS_TORCH, CS_FLAGS_CMAKE, CS_FLAGS_VLLM };
enum cs_code cs_archlist_flags(const struct cs_archlist *list, enum cs_flag_style style,
                               struct cs_buf *out, struct cs_err *err) CS_MUST_USE;

// Does nvcc compile `virt` (compute_NN) into `real` (sm_NN, or compute_NN)?  The whole matrix was
// asked of nvcc 13.0 and 13.5, and of ptxas where nvcc lets pass what ptxas refuses.
// toolkit_x10 0 = the newest.
bool cs_arch_pair_ok(struct cs_target virt, struct cs_target real, uint16_t toolkit_x10);

// Adds issues for repetitions, contradictions, targets that come back, are not declared, or are
// shadowed.  `declared` may be NULL.
void cs_archlist_lint(struct cs_archlist *list, const struct cs_archlist *declared);

// The images that a container built from the list would hold, for cs_select().  entry_of[i] is the
// entry of image i.  Both vectors are appended to.  toolkit_x10 0 = unknown.
struct cs_archlist_images {
    CS_VEC(struct cs_select_image) images;
    CS_VEC(uint32_t) entry_of;
};
enum cs_code cs_archlist_to_images(const struct cs_archlist *list, uint16_t toolkit_x10,
                                   struct cs_archlist_images *out, struct cs_err *err) CS_MUST_USE;
void cs_archlist_images_fini(struct cs_archlist_images *images);

#endif
