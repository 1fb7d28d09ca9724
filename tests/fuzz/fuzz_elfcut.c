// Elfcut on hostile files: whatever is planned can be written, and the proof ends without harm.
// When the proof accepts, the wrappers of the result reach what they should (checked here again).
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "format/ar.h"
#include "format/fatbin.h"
#include "rewrite/arcut.h"
#include "rewrite/elfcut.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t empty[CS_FATBIN_HEADER_BYTES] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16};

// A container that needs more room than any in the corpus.
static const uint8_t large[CS_FATBIN_HEADER_BYTES + 0x4000] = {0x50, 0xed, 0x55, 0xba, 1,
                                                               0,    16,   0,    0,    0x40};

static void request(struct cs_elfcut *cut) {
    const bool grow = cut->elf.file.len % 8 == 3;
    for (size_t i = 0; i < cut->blocks.count; i++) {
        struct cs_elfcut_block *b = &cut->blocks.ptr[i];
        if (b->pin < CS_ELFCUT_INSIDE && i % 3 != 1) {
            cs_elfcut_replace(cut, b, grow && i < 4 ? cs_view_of(large, sizeof large)
                                                    : cs_view_of(empty, sizeof empty));
        }
    }
}

static void check(const struct cs_elfcut *cut, struct cs_view produced) {
    struct cs_elf elf;
    struct cs_wrappers w;
    if (cs_elf_open(produced, &elf, NULL) != CS_OK || cs_wrappers_find(&elf, &w, NULL) != CS_OK ||
        w.items.count != cut->wrappers.items.count) {
        abort();
    }
    for (size_t i = 0; i < w.items.count; i++) {
        if ((w.items.ptr[i].container_offset == CS_NO_OFFSET) !=
            (cut->wrappers.items.ptr[i].container_offset == CS_NO_OFFSET)) {
            abort();
        }
    }
    cs_wrappers_fini(&w);
}

static void cut_elf(struct cs_view file) {
    struct cs_elfcut cut;
    if (cs_elfcut_open(file, &cut, NULL) != CS_OK) {
        return;
    }
    request(&cut);
    struct cs_err err = {0};
    if (cs_elfcut_plan(&cut, NULL, &err) == CS_OK) {
        uint8_t *out = cs_alloc(cut.pieces.bytes + 1);
        if (!out || cut.pieces.bytes != cut.result.after_bytes) {
            abort();
        }
        cs_pieces_copy(&cut.pieces, out);
        const struct cs_view produced = cs_view_of(out, cut.pieces.bytes);
        if (cs_elfcut_verify(&cut, produced, NULL) == CS_OK) {
            check(&cut, produced);
        }
        cs_free(out);
    } else if (err.count == 0) {
        abort();
    }
    cs_elfcut_close(&cut);
}

static void cut_archive(struct cs_view file) {
    struct cs_arcut cut;
    if (cs_arcut_open(file, &cut, NULL) != CS_OK) {
        return;
    }
    for (size_t i = 0; i < cut.members.count; i++) {
        if (cut.members.ptr[i].has_device_code) {
            request(&cut.members.ptr[i].cut);
        }
    }
    if (cs_arcut_plan(&cut, NULL, NULL) == CS_OK) {
        uint8_t *out = cs_alloc(cut.pieces.bytes + 1);
        if (!out) {
            abort();
        }
        cs_pieces_copy(&cut.pieces, out);
        (void)(cs_arcut_verify(&cut, cs_view_of(out, cut.pieces.bytes), NULL) == CS_OK);
        cs_free(out);
    }
    cs_arcut_close(&cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct cs_view file = cs_view_of(data, size);
    if (cs_ar_probe(file)) {
        cut_archive(file);
    } else {
        cut_elf(file);
    }
    return 0;
}
