// cutter: the ELF half of slim alone, for the layout tests.
//
//     cutter IN OUT MODE       gives every container new bytes
//     cutter IN - wrappers     lists wrappers and what they reach
//
// MODE: "none" asks for nothing, "empty" for the 16-byte empty container, "half" for that in every
// other container, "arch:NN" keeps the images of one arch, "grow" adds an entry of 4 KiB.
// Behind the mode, "+fill" keeps the file's size and "+rdc" empties what lies in __nv_relfatbin.
// Prints one line a file: how, sizes, slots, reason.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "format/fatbin.h"
#include "rewrite/arcut.h"
#include "rewrite/elfcut.h"

struct wish {
    bool empty, half, grow, fill, rdc;
    uint32_t arch;
    uint32_t seen;
    struct cs_buf bytes[1 << 16];
    uint32_t used;
};

static int fail(const char *what, const struct cs_err *err) {
    char text[512];
    cs_err_format(err, text, sizeof text);
    printf("refused: %s: %s\n", what, text);
    return 1;
}

// The container with the entries of one arch only.
static void filter(struct cs_view old, uint32_t arch, struct cs_buf *out) {
    cs_buf_add(out, old.ptr, CS_FATBIN_HEADER_BYTES);
    struct cs_fatbin_iter it;
    struct cs_fatbin_entry e;
    bool done = false;
    if (cs_fatbin_open(old, &it, NULL) != CS_OK) {
        exit(3);
    }
    while (cs_fatbin_next(&it, &e, &done, NULL) == CS_OK && !done) {
        if (e.arch == arch) {
            cs_buf_add(out, e.header.ptr, e.header.len);
            cs_buf_add(out, e.payload.ptr, e.payload.len);
        }
    }
    cs_put_u64((uint8_t *)out->ptr + 8, out->len - CS_FATBIN_HEADER_BYTES);
}

// The container with one more entry of an unknown kind, as a future compiler might add it.
static void grow(struct cs_view old, struct cs_buf *out) {
    enum { KIND = 0x7f00, EXTRA = 4096 };
    cs_buf_add(out, old.ptr, old.len);
    cs_buf_u16(out, KIND);
    cs_buf_u16(out, 0x101);
    cs_buf_u32(out, CS_FATBIN_ENTRY_BYTES);
    cs_buf_u64(out, EXTRA - CS_FATBIN_ENTRY_BYTES);
    cs_buf_pad(out, '\0', EXTRA - 16);
    cs_put_u64((uint8_t *)out->ptr + 8, out->len - CS_FATBIN_HEADER_BYTES);
}

static void request(void *ctx, struct cs_elfcut *cut) {
    struct wish *w = ctx;
    for (size_t i = 0; i < cut->blocks.count && w->used < 1 << 16; i++) {
        struct cs_elfcut_block *b = &cut->blocks.ptr[i];
        if (b->pin >= CS_ELFCUT_INSIDE || (w->half && w->seen++ % 2) ||
            !(w->empty || w->grow || w->arch)) {
            continue;
        }
        const struct cs_view old = cs_view_at(cut->elf.file, b->off, b->bytes);
        struct cs_buf *out = &w->bytes[w->used++];
        cs_buf_init(out, SIZE_MAX);
        if (w->arch && !(w->rdc && cut->sections.ptr[b->section].relocatable)) {
            filter(old, w->arch, out);
        } else if (w->grow) {
            grow(old, out);
        } else {
            cs_buf_add(out, old.ptr, CS_FATBIN_HEADER_BYTES);
            cs_put_u64((uint8_t *)out->ptr + 8, 0);
        }
        cs_elfcut_replace(cut, b, cs_buf_view(out));
    }
}

static void print(const struct cs_elfcut_result *r) {
    printf("%s %llu -> %llu holes %u zeros %llu merged %u notes %u%s aligns %u moved %u "
           "pointers %u%s%s\n",
           cs_elfcut_how_name(r->how), (unsigned long long)r->before_bytes,
           (unsigned long long)r->after_bytes, r->holes, (unsigned long long)r->filled_bytes,
           r->merged_loads, r->dropped_notes, r->build_id_hidden ? " (build-id)" : "",
           r->lowered_aligns, r->moved_containers, r->patched_pointers,
           r->reason[0] ? " reason: " : "", r->reason);
}

static int list_wrappers(struct cs_view file) {
    struct cs_elf elf;
    struct cs_wrappers w;
    struct cs_err err = {0};
    if (cs_elf_open(file, &elf, &err) != CS_OK || cs_wrappers_find(&elf, &w, &err) != CS_OK) {
        return fail("wrappers", &err);
    }
    for (size_t i = 0; i < w.items.count; i++) {
        const struct cs_wrapper *x = &w.items.ptr[i];
        const bool dangling = x->container_offset == CS_NO_OFFSET;
        printf("wrapper v%u %s%s %s %llu\n", x->version, cs_wrapper_storage_name(x->storage),
               x->in_place ? "+place" : "", dangling ? "dangling" : "bytes",
               (unsigned long long)(dangling ? 0 : cs_u64(file, x->container_offset + 8) + 16));
    }
    cs_wrappers_fini(&w);
    return 0;
}

static int cut_elf(struct cs_view file, const char *out, struct wish *w) {
    struct cs_elfcut cut;
    struct cs_err err = {0};
    if (cs_elfcut_open(file, &cut, &err) != CS_OK) {
        return fail("open", &err);
    }
    request(w, &cut);
    const struct cs_elfcut_options options = {.fill_only = w->fill};
    int rc = 0;
    if (cs_elfcut_plan(&cut, &options, &err) != CS_OK) {
        rc = fail("plan", &err);
    } else if (cs_elfcut_commit(&cut, out, 0755, &err) != CS_OK) {
        rc = fail("commit", &err);
    } else {
        print(&cut.result);
    }
    cs_elfcut_close(&cut);
    return rc;
}

static int cut_archive(struct cs_view file, const char *out, struct wish *w) {
    struct cs_arcut cut;
    struct cs_err err = {0};
    const struct cs_elfcut_options options = {.fill_only = w->fill};
    if (cs_arcut_open(file, &cut, &err) != CS_OK) {
        return fail("open", &err);
    }
    for (size_t i = 0; i < cut.members.count; i++) {
        if (cut.members.ptr[i].has_device_code) {
            request(w, &cut.members.ptr[i].cut);
        }
    }
    int rc = 0;
    if (cs_arcut_plan(&cut, &options, &err) != CS_OK) {
        rc = fail("plan", &err);
    } else if (cs_arcut_commit(&cut, out, 0644, &err) != CS_OK) {
        rc = fail("commit", &err);
    } else {
        printf("archive %llu -> %llu members %zu\n", (unsigned long long)file.len,
               (unsigned long long)cut.pieces.bytes, cut.members.count);
    }
    cs_arcut_close(&cut);
    return rc;
}

static void interrupted(int number) {
    cs_outfile_remove_all();
    _exit(128 + number);
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: cutter IN OUT MODE\n");
        return 2;
    }
    (void)signal(SIGINT, interrupted);
    struct cs_file f;
    struct cs_err err = {0};
    if (cs_file_open(argv[1], &f, &err) != CS_OK) {
        return fail(argv[1], &err);
    }
    struct wish *w = cs_calloc(1, sizeof *w);
    if (!w) {
        return 4;
    }
    const char *mode = argv[3];
    w->fill = strstr(mode, "+fill") != NULL;
    w->rdc = strstr(mode, "+rdc") != NULL;
    w->half = strncmp(mode, "half", 4) == 0;
    w->empty = w->half || strncmp(mode, "empty", 5) == 0;
    w->grow = strncmp(mode, "grow", 4) == 0;
    w->arch = strncmp(mode, "arch:", 5) == 0 ? (uint32_t)strtoul(mode + 5, NULL, 10) : 0;
    const int rc = strcmp(mode, "wrappers") == 0 ? list_wrappers(f.view)
                   : cs_ar_probe(f.view)         ? cut_archive(f.view, argv[2], w)
                                                 : cut_elf(f.view, argv[2], w);
    for (uint32_t i = 0; i < w->used; i++) {
        cs_buf_fini(&w->bytes[i]);
    }
    cs_free(w);
    cs_file_close(&f);
    return rc;
}
