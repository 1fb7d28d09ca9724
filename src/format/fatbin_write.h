// Writing fatbins: containers put together from entries, as they are or in another compression.
//
// Only fields that describe the payload's form change (padded size, compressed size, codec flags,
// uncompressed size); names, options, flags and order stay as they were.
#ifndef CS_FORMAT_FATBIN_WRITE_H
#define CS_FORMAT_FATBIN_WRITE_H

#include "format/fatbin.h"

// Starts a container at the end of `out`; finish patches its size.  Returns the start offset.
size_t cs_fatbin_begin(struct cs_buf *out);
void cs_fatbin_end(struct cs_buf *out, size_t start);

// An entry byte for byte.
void cs_fatbin_put_raw(struct cs_buf *out, const struct cs_fatbin_entry *e);

// The same image in another form.  `e` is an entry, or a part of a concatenated entry (then its
// header is made a whole entry's).  `payload` is the compressed stream (codec not NONE), or the
// plain image; image_bytes is the size of the plain image.
void cs_fatbin_put_image(struct cs_buf *out, const struct cs_fatbin_entry *e, enum cs_codec codec,
                         struct cs_view payload, uint64_t image_bytes);

// Several images of one kind in one concatenated entry (kind 0x100): `payload` is the compressed
// stream of all images back to back, sizes[i] the plain size of part i.  Needs a driver of R615;
// docs/format/fatbin.md, "concatenated entries".
void cs_fatbin_put_concat(struct cs_buf *out, const struct cs_fatbin_entry *const *parts,
                          const uint64_t *sizes, uint32_t count, enum cs_codec codec,
                          struct cs_view payload);

// May this entry be rewritten?  Not when it has flag bits, a kind or a codec we do not know, or an
// obfuscated payload.
bool cs_fatbin_may_rewrite(const struct cs_fatbin_entry *e);

#endif
