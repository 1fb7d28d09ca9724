// Elfcut, case by case: what pins a container, what refuses a file, archives, memory that runs out,
// and files on disk.  Random files are the business of test_elfcut.c.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "build/mk_fatbin.h"
#include "build/mk_host.h"
#include "rewrite/arcut.h"
#include "rewrite/elfcut.h"

enum { UNITS = 4, PAYLOAD = 9000 };

struct host {
    struct cs_buf container[UNITS];
    struct cs_mk_unit unit[UNITS];
    struct cs_buf file;
};

static const uint8_t empty[16] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16};

static void make_host(struct host *h, enum cs_mk_layout layout, enum cs_mk_reloc reloc) {
    *h = (struct host){0};
    struct cs_buf code;
    cs_buf_init(&code, SIZE_MAX);
    cs_mk_code(&code, PAYLOAD, 5);
    for (uint32_t i = 0; i < UNITS; i++) {
        const struct cs_mk_entry e = {.kind = CS_FATBIN_ELF, .arch = 80 + i,
                                      .image = cs_view_of(code.ptr, PAYLOAD - 800 * i),
                                      .code_major = 1};
        cs_buf_init(&h->container[i], SIZE_MAX);
        (void)cs_mk_container(&h->container[i], &e, 1);
        h->unit[i] = (struct cs_mk_unit){.container = cs_buf_view(&h->container[i]),
                                         .wrapper_version = i == 0 ? 2 : 1, .source = "k.cu"};
    }
    cs_buf_fini(&code);
    const struct cs_mk_host spec = {.layout = layout, .reloc = reloc, .units = h->unit,
                                    .unit_count = UNITS, .executable = reloc == CS_MK_ABSOLUTE};
    cs_buf_init(&h->file, SIZE_MAX);
    cs_mk_host_write(&h->file, &spec);
}

static void drop_host(struct host *h) {
    for (uint32_t i = 0; i < UNITS; i++) {
        cs_buf_fini(&h->container[i]);
    }
    cs_buf_fini(&h->file);
}

static struct cs_view empty_view(void) { return cs_view_of(empty, sizeof empty); }

static void open_ok(struct host *h, struct cs_elfcut *cut) {
    struct cs_err err = {0};
    if (cs_elfcut_open(cs_buf_view(&h->file), cut, &err) != CS_OK) {
        fail_msg("%s", err.frame[0].text);
    }
    assert_int_equal(cut->blocks.count, UNITS);
}

static enum cs_code open_code(const struct host *h) {
    struct cs_elfcut cut;
    const enum cs_code code = cs_elfcut_open(cs_buf_view(&h->file), &cut, NULL);
    if (code == CS_OK) {
        cs_elfcut_close(&cut);
    }
    return code;
}

static void empty_all(struct cs_elfcut *cut) {
    for (size_t i = 0; i < cut->blocks.count; i++) {
        cs_elfcut_replace(cut, &cut->blocks.ptr[i], empty_view());
    }
}

static void assert_verified(const struct cs_elfcut *cut) {
    uint8_t *bytes = cs_alloc(cut->pieces.bytes);
    assert_non_null(bytes);
    cs_pieces_copy(&cut->pieces, bytes);
    assert_int_equal(cs_elfcut_verify(cut, cs_view_of(bytes, cut->pieces.bytes), NULL), CS_OK);
    cs_free(bytes);
}

// A container with a dynamic symbol stays; it may shrink, and the file keeps its zeros.
static void test_symbols_pin(void **state) {
    (void)state;
    struct host h;
    struct cs_elfcut cut;
    make_host(&h, CS_MK_LD, CS_MK_SYMBOLIC);
    open_ok(&h, &cut);
    for (size_t i = 0; i < UNITS; i++) {
        assert_int_equal(cut.blocks.ptr[i].pin, CS_ELFCUT_SYMBOL);
        assert_false(cs_elfcut_release(&cut.blocks.ptr[i]));
    }
    empty_all(&cut);
    assert_int_equal(cs_elfcut_plan(&cut, NULL, NULL), CS_OK);
    assert_int_equal(cut.result.moved_containers, 0);
    // Only what lies behind the last container can go.
    assert_int_equal(cut.result.holes, 1);
    assert_true(cut.result.filled_bytes > 2 * PAYLOAD);
    assert_string_not_equal(cut.result.reason, "");
    assert_verified(&cut);
    cs_elfcut_replace(&cut, &cut.blocks.ptr[1], cs_buf_view(&h.container[0]));
    assert_int_equal(cs_elfcut_plan(&cut, NULL, NULL), CS_CONFLICT);  // it would have to grow
    cs_elfcut_close(&cut);
    drop_host(&h);
}

// A relocation elsewhere that points to a container pins it; one that points into it freezes it.
static void test_relocations_pin(void **state) {
    (void)state;
    struct host h;
    struct cs_elfcut cut;
    make_host(&h, CS_MK_LLD, CS_MK_RELA_ONLY);
    open_ok(&h, &cut);
    // The second pointer of the version 2 wrapper has the next RELA entry.
    const uint64_t addend = cut.wrappers.items.ptr[0].reloc_offset + 24 + 16;
    const uint64_t target = cut.wrappers.items.ptr[2].target;
    cs_elfcut_close(&cut);
    cs_mk_patch_u64(&h.file, addend, target);
    open_ok(&h, &cut);
    assert_int_equal(cut.blocks.ptr[2].pin, CS_ELFCUT_RELOCATION);
    assert_int_equal(cut.blocks.ptr[1].pin, CS_ELFCUT_MOVABLE);
    cs_elfcut_close(&cut);
    cs_mk_patch_u64(&h.file, addend, target + 8);
    open_ok(&h, &cut);
    assert_int_equal(cut.blocks.ptr[2].pin, CS_ELFCUT_INSIDE);
    empty_all(&cut);
    struct cs_err err = {0};
    assert_int_equal(cs_elfcut_plan(&cut, NULL, &err), CS_CONFLICT);
    assert_int_equal(err.offset, cut.blocks.ptr[2].off);
    cut.blocks.ptr[2].replace = false;
    assert_int_equal(cs_elfcut_plan(&cut, NULL, NULL), CS_OK);
    assert_verified(&cut);
    cs_elfcut_close(&cut);
    drop_host(&h);
}

// A container that no wrapper reaches stays, unless its owner says that nobody uses it.
static void test_no_wrapper(void **state) {
    (void)state;
    struct host h;
    struct cs_elfcut cut;
    make_host(&h, CS_MK_LD, CS_MK_RELA);
    open_ok(&h, &cut);
    const uint64_t at = cut.wrappers.items.ptr[3].offset;
    cs_elfcut_close(&cut);
    cs_mk_patch_u32(&h.file, at, 0);  // no wrapper's magic any more
    open_ok(&h, &cut);
    // Its relocation is now one that nobody knows.
    assert_int_equal(cut.blocks.ptr[3].pin, CS_ELFCUT_RELOCATION);
    const uint64_t entry = cut.wrappers.items.ptr[2].reloc_offset + 24;
    cs_elfcut_close(&cut);
    cs_mk_patch_u64(&h.file, entry + 16, 0);
    open_ok(&h, &cut);
    assert_int_equal(cut.blocks.ptr[3].pin, CS_ELFCUT_NO_WRAPPER);
    empty_all(&cut);
    assert_int_equal(cs_elfcut_plan(&cut, NULL, NULL), CS_OK);
    const uint64_t pinned = cut.result.after_bytes;
    assert_true(cs_elfcut_release(&cut.blocks.ptr[3]));
    assert_int_equal(cs_elfcut_plan(&cut, NULL, NULL), CS_OK);
    assert_true(cut.result.after_bytes + PAYLOAD < pinned);
    assert_verified(&cut);
    cs_elfcut_close(&cut);
    drop_host(&h);
}

// fatbinData symbols, by which a container's source is found, follow their containers.
static void test_symbols_follow(void **state) {
    (void)state;
    struct host h;
    struct cs_elfcut cut;
    make_host(&h, CS_MK_GOLD, CS_MK_RELA);
    open_ok(&h, &cut);
    cs_elfcut_replace(&cut, &cut.blocks.ptr[0], empty_view());
    assert_int_equal(cs_elfcut_plan(&cut, NULL, NULL), CS_OK);
    uint8_t *bytes = cs_alloc(cut.pieces.bytes);
    assert_non_null(bytes);
    cs_pieces_copy(&cut.pieces, bytes);
    struct cs_elf now;
    struct cs_elf_section t;
    assert_int_equal(cs_elf_open(cs_view_of(bytes, cut.pieces.bytes), &now, NULL), CS_OK);
    assert_true(cs_elf_find(&now, ".symtab", &t));
    uint32_t found = 0;
    for (uint32_t i = 1; i < cs_elf_symbol_count(&now, &t); i++) {
        const struct cs_elf_symbol sym = cs_elf_symbol(&now, &t, i);
        uint64_t off;
        if (cs_str_eq(cs_elf_symbol_name(&now, &t, &sym), CS_STR("fatbinData"))) {
            assert_true(cs_elf_vaddr_to_off(&now, sym.value, &off));
            assert_int_equal(cs_u32(now.file, off), CS_FATBIN_MAGIC);
            found++;
        }
    }
    assert_int_equal(found, UNITS);
    cs_free(bytes);
    cs_elfcut_close(&cut);
    drop_host(&h);
}

// Data behind the ELF file: something finds it by its place, so nothing is taken out before it.
static void test_overlay(void **state) {
    (void)state;
    struct host h;
    struct cs_elfcut cut;
    make_host(&h, CS_MK_LD, CS_MK_RELA);
    cs_buf_adds(&h.file, "PK\5\6 an archive that is found from its end");
    open_ok(&h, &cut);
    empty_all(&cut);
    assert_int_equal(cs_elfcut_plan(&cut, NULL, NULL), CS_OK);
    assert_int_equal(cut.result.how, CS_ELFCUT_FILLED);
    assert_non_null(strstr(cut.result.reason, "data follows"));
    assert_verified(&cut);
    struct cs_buf large;
    cs_buf_init(&large, SIZE_MAX);
    cs_buf_add(&large, h.container[0].ptr, h.container[0].len);
    cs_buf_pad(&large, '\0', 5 * PAYLOAD / 8 * 8);
    cs_mk_patch_u64(&large, 8, large.len - 16);
    cs_elfcut_replace(&cut, &cut.blocks.ptr[0], cs_buf_view(&large));
    assert_int_equal(cs_elfcut_plan(&cut, NULL, NULL), CS_CONFLICT);
    cs_buf_fini(&large);
    cs_elfcut_close(&cut);
    drop_host(&h);
}

static uint64_t header_of(const struct host *h, const char *name) {
    struct cs_elf elf;
    struct cs_elf_section s;
    assert_int_equal(cs_elf_open(cs_buf_view(&h->file), &elf, NULL), CS_OK);
    assert_true(cs_elf_find(&elf, name, &s));
    return elf.shoff + (uint64_t)s.index * sizeof(Elf64_Shdr);
}

static void test_refusals(void **state) {
    (void)state;
    struct host h;
    make_host(&h, CS_MK_LD, CS_MK_RELA);
    assert_int_equal(open_code(&h), CS_OK);
    const uint64_t rodata = header_of(&h, ".rodata");
    const uint64_t fatbin = header_of(&h, ".nv_fatbin");
    const uint64_t off = cs_u64(cs_buf_view(&h.file), fatbin + offsetof(Elf64_Shdr, sh_offset));
    const uint64_t old = cs_u64(cs_buf_view(&h.file), rodata + offsetof(Elf64_Shdr, sh_offset));
    cs_mk_patch_u64(&h.file, rodata + offsetof(Elf64_Shdr, sh_offset), off + 64);
    assert_int_equal(open_code(&h), CS_UNSUPPORTED);  // bytes of two sections
    cs_mk_patch_u64(&h.file, rodata + offsetof(Elf64_Shdr, sh_offset), old);
    const uint64_t addr = fatbin + offsetof(Elf64_Shdr, sh_addr);
    cs_mk_patch_u64(&h.file, addr, cs_u64(cs_buf_view(&h.file), addr) + 8);
    assert_int_equal(open_code(&h), CS_UNSUPPORTED);  // not where its segment puts it
    cs_mk_patch_u64(&h.file, addr, cs_u64(cs_buf_view(&h.file), addr) - 8);
    cs_mk_patch_u32(&h.file, fatbin + offsetof(Elf64_Shdr, sh_type), SHT_NOBITS);
    assert_int_equal(open_code(&h), CS_NOTFOUND);  // a separate debug file
    cs_mk_patch_u32(&h.file, fatbin + offsetof(Elf64_Shdr, sh_type), SHT_PROGBITS);
    cs_mk_patch_u16(&h.file, offsetof(Elf64_Ehdr, e_machine), EM_PPC64);
    assert_int_equal(open_code(&h), CS_UNSUPPORTED);
    cs_mk_patch_u16(&h.file, offsetof(Elf64_Ehdr, e_machine), EM_X86_64);
    assert_int_equal(open_code(&h), CS_OK);
    drop_host(&h);
}

// New bytes must be one container; anything else is our own mistake and never written.
static void test_bad_request(void **state) {
    (void)state;
    struct host h;
    struct cs_elfcut cut;
    make_host(&h, CS_MK_LD, CS_MK_RELA);
    open_ok(&h, &cut);
    cs_elfcut_replace(&cut, &cut.blocks.ptr[0], cs_view_of("not a container.", 16));
    assert_int_equal(cs_elfcut_plan(&cut, NULL, NULL), CS_INTERNAL);
    assert_null(cs_elfcut_at(&cut, cut.blocks.ptr[1].off + 8));
    assert_ptr_equal(cs_elfcut_at(&cut, cut.blocks.ptr[1].off), &cut.blocks.ptr[1]);
    cs_elfcut_close(&cut);
    drop_host(&h);
}

static void ar_member(struct cs_buf *out, const char *name, const void *bytes, size_t len) {
    cs_buf_printf(out, "%-16s%-12u%-6u%-6u%-8o%-10zu`\n", name, 0u, 0u, 0u, 0644u, len);
    cs_buf_add(out, bytes, len);
    cs_buf_pad(out, '\n', len & 1);
}

static void put_be32(char *p, uint64_t x) {
    for (int i = 3; i >= 0; i--) {
        p[i] = (char)(x & 0xff);
        x >>= 8;
    }
}

// Two objects around a text member, and an index that names the second and the first object.
static void test_archive(void **state) {
    (void)state;
    struct host h;
    make_host(&h, CS_MK_OBJECT, CS_MK_RELA);
    struct cs_buf a;
    cs_buf_init(&a, SIZE_MAX);
    cs_buf_adds(&a, "!<arch>\n");
    char index[12 + 10] = {0, 0, 0, 2};
    memcpy(index + 12, "two\0one", 8);
    const size_t index_at = a.len + 60;
    ar_member(&a, "/", index, 20);
    const size_t first = a.len;
    ar_member(&a, "one.o/", h.file.ptr, h.file.len);
    ar_member(&a, "text/", "odd", 3);
    const size_t second = a.len;
    ar_member(&a, "two.o/", h.file.ptr, h.file.len);
    put_be32(a.ptr + index_at + 4, second);
    put_be32(a.ptr + index_at + 8, first);

    struct cs_arcut cut;
    assert_int_equal(cs_arcut_open(cs_buf_view(&a), &cut, NULL), CS_OK);
    assert_int_equal(cut.members.count, 4);
    assert_int_equal(cs_arcut_plan(&cut, NULL, NULL), CS_OK);
    assert_int_equal(cut.pieces.bytes, a.len);
    empty_all(&cut.members.ptr[1].cut);
    assert_int_equal(cs_arcut_plan(&cut, NULL, NULL), CS_OK);
    assert_true(cut.pieces.bytes + 3 * PAYLOAD < a.len);
    uint8_t *out = cs_alloc(cut.pieces.bytes);
    assert_non_null(out);
    cs_pieces_copy(&cut.pieces, out);
    const struct cs_view now = cs_view_of(out, cut.pieces.bytes);
    assert_int_equal(cs_arcut_verify(&cut, now, NULL), CS_OK);
    const uint64_t gone = a.len - now.len;
    char want[8];
    put_be32(want, second - gone);
    put_be32(want + 4, first);
    assert_memory_equal(now.ptr + index_at + 4, want, 8);
    assert_memory_equal(now.ptr + second - gone, "two.o/", 6);
    out[index_at + 7] ^= 2;
    assert_int_equal(cs_arcut_verify(&cut, now, NULL), CS_CONFLICT);
    cs_free(out);
    cs_arcut_close(&cut);

    put_be32(a.ptr + index_at + 4, second + 2);  // an index that points between members
    assert_int_equal(cs_arcut_open(cs_buf_view(&a), &cut, NULL), CS_OK);
    empty_all(&cut.members.ptr[1].cut);
    assert_int_equal(cs_arcut_plan(&cut, NULL, NULL), CS_FORMAT);
    cs_arcut_close(&cut);
    cs_buf_fini(&a);
    drop_host(&h);
}

static long allowed_allocations;

static int fail_later(void) { return allowed_allocations-- <= 0; }

// Whichever allocation fails, the answer is "no memory" and nothing leaks.
static void test_out_of_memory(void **state) {
    (void)state;
    struct host h;
    make_host(&h, CS_MK_LD, CS_MK_RELA);
    bool done = false;
    for (long n = 0; !done; n++) {
        assert_true(n < 10000);
        allowed_allocations = n;
        cs_mem_fail_hook = fail_later;
        struct cs_elfcut cut;
        enum cs_code code = cs_elfcut_open(cs_buf_view(&h.file), &cut, NULL);
        if (code == CS_OK) {
            empty_all(&cut);
            code = cs_elfcut_plan(&cut, NULL, NULL);
            uint8_t *bytes = code == CS_OK ? malloc(cut.pieces.bytes) : NULL;
            if (bytes) {
                cs_pieces_copy(&cut.pieces, bytes);
                code = cs_elfcut_verify(&cut, cs_view_of(bytes, cut.pieces.bytes), NULL);
                free(bytes);
            }
            cs_elfcut_close(&cut);
        }
        cs_mem_fail_hook = NULL;
        assert_true(code == CS_OK || code == CS_NOMEM);
        done = code == CS_OK;
    }
    drop_host(&h);
}

// A file on disk, edited in place: mode as asked, content as planned, nothing else in the folder.
static void test_commit(void **state) {
    (void)state;
    struct host h;
    struct cs_elfcut cut;
    char folder[] = "/tmp/elfcut-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char path[64];
    snprintf(path, sizeof path, "%s/lib.so", folder);
    make_host(&h, CS_MK_LD_NOSEPARATE, CS_MK_RELR);
    struct cs_outfile out;
    assert_int_equal(cs_outfile_create(path, 0600, &out, NULL), CS_OK);
    cs_outfile_write(&out, h.file.ptr, h.file.len);
    assert_int_equal(cs_outfile_commit(&out, NULL), CS_OK);
    struct cs_file f;
    assert_int_equal(cs_file_open(path, &f, NULL), CS_OK);
    assert_int_equal(cs_elfcut_open(f.view, &cut, NULL), CS_OK);
    empty_all(&cut);
    assert_int_equal(cs_elfcut_plan(&cut, NULL, NULL), CS_OK);
    assert_int_equal(cs_elfcut_commit(&cut, path, 0750, NULL), CS_OK);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0750);
    assert_int_equal(st.st_size, cut.result.after_bytes);
    assert_true(cut.result.after_bytes + 3 * PAYLOAD < h.file.len);
    cs_elfcut_close(&cut);
    cs_file_close(&f);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    drop_host(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symbols_pin),    cmocka_unit_test(test_relocations_pin),
        cmocka_unit_test(test_no_wrapper),     cmocka_unit_test(test_symbols_follow),
        cmocka_unit_test(test_overlay),        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_bad_request),    cmocka_unit_test(test_archive),
        cmocka_unit_test(test_out_of_memory),  cmocka_unit_test(test_commit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
