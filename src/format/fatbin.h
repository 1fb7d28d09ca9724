// Fatbin: containers and their entries, as written by NVIDIA's fatbinary.
//
// The format is undocumented; docs/format/fatbin.md says what each field is and how it is known.
// This module turns bytes into entries and back.  It holds no policy: what to do with unknown kinds
// and flags is the caller's business, but nothing is dropped here.
#ifndef CS_FORMAT_FATBIN_H
#define CS_FORMAT_FATBIN_H

#include "base/buf.h"
#include "base/mem.h"
#include "base/view.h"
#include "format/codec.h"

#define CS_FATBIN_MAGIC 0xBA55ED50u
#define CS_FATBIN_WRAPPER_MAGIC 0x466243B1u
enum {
    CS_FATBIN_HEADER_BYTES = 16,
    CS_FATBIN_ENTRY_BYTES = 64,
    CS_FATBIN_WRAPPER_BYTES = 24,
    CS_FATBIN_CONCAT_HEADER_BYTES = 0x48,  // of a concatenated entry, before the parts' headers
};

enum cs_fatbin_kind {
    CS_FATBIN_PTX = 0x1,
    CS_FATBIN_ELF = 0x2,
    CS_FATBIN_LTOIR = 0x8,
    CS_FATBIN_MERCURY = 0x10,
    CS_FATBIN_INDEX = 0x20,
    CS_FATBIN_RELPTX = 0x40,
    CS_FATBIN_TILEIR = 0x80,
    CS_FATBIN_CONCAT = 0x100,
};

#define CS_FATBIN_F_64BIT 0x1ull
#define CS_FATBIN_F_DEBUG 0x2ull
#define CS_FATBIN_F_LINUX 0x10ull
#define CS_FATBIN_F_WINDOWS 0x40ull
#define CS_FATBIN_F_ZLIB 0x1000ull
#define CS_FATBIN_F_LZ4 0x2000ull
#define CS_FATBIN_F_ZSTD 0x8000ull
#define CS_FATBIN_F_OBFUSCATED 0x10000ull
#define CS_FATBIN_F_ARCH_A 0x100000ull
#define CS_FATBIN_F_ARCH_F 0x200000ull
#define CS_FATBIN_F_BIT24 0x1000000ull
// Every bit above; any other bit in an entry means "do not rewrite this entry".
#define CS_FATBIN_F_KNOWN                                                                     \
    (CS_FATBIN_F_64BIT | CS_FATBIN_F_DEBUG | CS_FATBIN_F_LINUX | CS_FATBIN_F_WINDOWS |        \
     CS_FATBIN_F_ZLIB | CS_FATBIN_F_LZ4 | CS_FATBIN_F_ZSTD | CS_FATBIN_F_OBFUSCATED |         \
     CS_FATBIN_F_ARCH_A | CS_FATBIN_F_ARCH_F | CS_FATBIN_F_BIT24)

// One entry of a container, or one part of a concatenated entry.
struct cs_fatbin_entry {
    uint64_t off;              // of the entry header (or part sub-header), from container start
    uint32_t kind;             // enum cs_fatbin_kind, or an unknown number
    uint32_t version;          // 0x0101
    uint32_t header_bytes;     // header with its extension
    uint64_t payload_bytes;    // padded to 8; for a part: its exact size
    uint32_t compressed_bytes; // exact; 0 when not compressed
    uint64_t image_bytes;      // decompressed size; for an uncompressed entry: payload_bytes
    uint16_t code_major, code_minor;
    uint32_t arch;             // 75, 90, 100, ...
    uint64_t flags;
    uint64_t key;              // field at 0x30
    enum cs_codec codec;
    bool obfuscated;
    bool unknown_flags;        // a bit outside CS_FATBIN_F_KNOWN
    bool unknown_codec;        // a compressed size without a codec bit we know
    uint32_t options_off;      // field at 0x14; 0 = no options record
    struct cs_str identifier;  // empty when none
    struct cs_str options;     // data of the options record
    struct cs_view header;     // header_bytes
    struct cs_view payload;    // payload_bytes, padding included; for a part: empty
    uint32_t part_count;       // CONCAT: number of parts
    uint64_t part_off;         // part: offset in the decompressed blob
};

// Is there a whole, well-formed container at the start of v?  On true, *bytes receives its size
// (header included) and *entries the number of entries.  Never fails loudly: for scanning.
bool cs_fatbin_probe(struct cs_view v, uint64_t *bytes, uint32_t *entries);

// Walks the entries of one container (a view of exactly the container).
struct cs_fatbin_iter {
    struct cs_view container;
    uint64_t next;   // offset of the next entry header
    uint32_t index;  // entries returned so far
};

enum cs_code cs_fatbin_open(struct cs_view container, struct cs_fatbin_iter *it,
                            struct cs_err *err) CS_MUST_USE;
// Gives the next entry; *done = true at the end.  Errors carry the offset in the container.
enum cs_code cs_fatbin_next(struct cs_fatbin_iter *it, struct cs_fatbin_entry *out, bool *done,
                            struct cs_err *err) CS_MUST_USE;

// Part `index` of a concatenated entry, found from the previous one: start with *cursor = 0.
enum cs_code cs_fatbin_part(const struct cs_fatbin_entry *concat, uint64_t *cursor,
                            struct cs_fatbin_entry *out, struct cs_err *err) CS_MUST_USE;

// Bytes of an entry header that its own fields account for: 64, the identifier, the options record,
// each padded to 8.  A sub-header of a concatenated entry is exactly that long; the header of an
// entry of its own may be longer (8 zeros in files of CUDA 11 and 12).
uint64_t cs_fatbin_header_extent(struct cs_view header);

// The exact image of an entry: a view into it when it is plain (PTX cut at its NUL), else
// decompressed into `scratch`, where it stays until the next use of it.
// CS_UNSUPPORTED for obfuscated payloads and unknown codecs.
enum cs_code cs_fatbin_image(struct cs_codec_ctx *ctx, const struct cs_fatbin_entry *e,
                             struct cs_scratch *scratch, struct cs_view *image,
                             struct cs_err *err) CS_MUST_USE;

// "sass", "ptx", "ltoir", "mercury", "index", "relptx", "tileir", "concatenated"; NULL for a kind
// that we do not know.
const char *cs_fatbin_kind_name(uint32_t kind);

// "sm_90a" or "compute_90": text of an arch number and flags; out holds at least 24 bytes.
void cs_fatbin_target_text(uint32_t kind, uint32_t arch, uint64_t flags, char out[24]);

#endif
