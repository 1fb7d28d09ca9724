// ELF rules: each kind of damage on a small library, and the same library whole.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "build/mk_check.h"
#include "build/mk_words.h"
#include "format/elf.h"
#include "format/elfdyn.h"

#define FOUND(t, slug, severity, text) \
    assert_true(cs_mk_check_found(t, slug, CS_SEVERITY_##severity, text))
#define NONE(t, slug) assert_int_equal(cs_mk_check_count(t, slug), 0)

static const char words[] = "a.cu: sm_80:z sm_90:z | b.cu: sm_90:z";

static void library(struct cs_buf *out, const struct cs_mk_host *like) {
    cs_buf_init(out, SIZE_MAX);
    cs_mk_words_library(out, words, like);
}

// Judges the bytes under the rules E alone.
static void judge(struct cs_mk_check *t, struct cs_buf *bytes) {
    cs_mk_check_start(t);
    cs_mk_check_read_as(t, "ops.so", cs_buf_view(bytes));
    cs_mk_check_run(t, &(struct cs_mk_check_ask){.select = "E"});
    cs_buf_fini(bytes);
}

static struct cs_elf open_elf(const struct cs_buf *b) {
    struct cs_elf elf;
    assert_int_equal(cs_elf_open(cs_buf_view(b), &elf, NULL), CS_OK);
    return elf;
}

// File offset of the n-th program header of the type.
static uint64_t header_of(const struct cs_elf *elf, uint32_t type, uint32_t n) {
    for (uint32_t i = 0; i < elf->phnum; i++) {
        if (cs_elf_segment(elf, i).type == type && n-- == 0) {
            return elf->phoff + i * sizeof(Elf64_Phdr);
        }
    }
    fail_msg("no such segment");
    return 0;
}

static uint64_t section_header(const struct cs_elf *elf, const char *name) {
    struct cs_elf_section s;
    assert_true(cs_elf_find(elf, name, &s));
    return elf->shoff + s.index * sizeof(Elf64_Shdr);
}

static void test_whole(void **state) {
    (void)state;
    static const struct cs_mk_host like[] = {
        {.layout = CS_MK_LD},
        {.layout = CS_MK_LD_NOSEPARATE, .page = 0x200000},
        {.layout = CS_MK_LLD, .reloc = CS_MK_RELA_ONLY},
        {.layout = CS_MK_GOLD},
        {.layout = CS_MK_END},
        {.layout = CS_MK_LD, .reloc = CS_MK_RELR},
        {.layout = CS_MK_LD, .reloc = CS_MK_SYMBOLIC},
        {.layout = CS_MK_LD, .reloc = CS_MK_ABSOLUTE, .executable = true},
        {.layout = CS_MK_LD, .machine = EM_AARCH64},
        {.layout = CS_MK_OBJECT},
    };
    for (size_t i = 0; i < sizeof like / sizeof *like; i++) {
        struct cs_buf b;
        struct cs_mk_check t;
        library(&b, &like[i]);
        judge(&t, &b);
        if (t.result.findings.count) {
            cs_mk_check_print(&t);
            fail_msg("layout %zu has findings", i);
        }
        cs_mk_check_end(&t);
    }
}

// U45: patchelf 0.18 left a segment whose address and offset disagree.
static void test_u45_misaligned(void **state) {
    (void)state;
    struct cs_buf b;
    struct cs_mk_check t;
    library(&b, NULL);
    struct cs_elf elf = open_elf(&b);
    cs_mk_patch_u64(&b, header_of(&elf, PT_LOAD, 1) + offsetof(Elf64_Phdr, p_align), 0x200000);
    judge(&t, &b);
    assert_false(t.result.pass);
    FOUND(&t, "elf-segment-misaligned", ERROR, "disagree modulo 0x200000");
    cs_mk_check_end(&t);

    library(&b, NULL);
    elf = open_elf(&b);
    cs_mk_patch_u64(&b, header_of(&elf, PT_LOAD, 1) + offsetof(Elf64_Phdr, p_align), 24);
    judge(&t, &b);
    FOUND(&t, "elf-segment-misaligned", ERROR, "modulo 0x18");  // no power of two
    cs_mk_check_end(&t);
}

static void test_segments(void **state) {
    (void)state;
    struct cs_buf b;
    struct cs_mk_check t;
    library(&b, NULL);
    struct cs_elf elf = open_elf(&b);
    const uint64_t at = header_of(&elf, PT_LOAD, 2);
    cs_mk_patch_u64(&b, at + offsetof(Elf64_Phdr, p_filesz), 1 << 30);
    judge(&t, &b);
    FOUND(&t, "elf-damaged", ERROR, "leaves the file");
    cs_mk_check_end(&t);

    library(&b, NULL);
    elf = open_elf(&b);
    cs_mk_patch_u64(&b, at + offsetof(Elf64_Phdr, p_vaddr), 0);
    judge(&t, &b);
    FOUND(&t, "elf-damaged", ERROR, "before the end of the one before");
    cs_mk_check_end(&t);
}

// U46: strip after patchelf moves sections away from under their segments.
static void test_u46_sections(void **state) {
    (void)state;
    struct cs_buf b;
    struct cs_mk_check t;
    library(&b, NULL);
    struct cs_elf elf = open_elf(&b);
    cs_mk_patch_u64(&b, section_header(&elf, ".dynstr") + offsetof(Elf64_Shdr, sh_offset), 0x40);
    judge(&t, &b);
    assert_false(t.result.pass);
    FOUND(&t, "elf-damaged", ERROR, ".dynstr");
    FOUND(&t, "elf-damaged", ERROR, "slim, strip, patchelf");
    cs_mk_check_end(&t);

    library(&b, NULL);
    elf = open_elf(&b);
    cs_mk_patch_u64(&b, section_header(&elf, ".rodata") + offsetof(Elf64_Shdr, sh_addr),
                    1ull << 40);
    judge(&t, &b);
    FOUND(&t, "elf-damaged", ERROR, ".rodata");
    cs_mk_check_end(&t);
}

static void test_moved_headers(void **state) {
    (void)state;
    struct cs_buf b;
    struct cs_mk_check t;
    library(&b, NULL);
    const struct cs_elf elf = open_elf(&b);
    const uint64_t at = b.len;
    cs_buf_add(&b, b.ptr + elf.phoff, elf.phnum * sizeof(Elf64_Phdr));
    cs_mk_patch_u64(&b, offsetof(Elf64_Ehdr, e_phoff), at);
    judge(&t, &b);
    FOUND(&t, "moved-program-headers", NOTE, "patchelf");
    cs_mk_check_end(&t);
}

static void test_dangling(void **state) {
    (void)state;
    struct cs_buf b;
    struct cs_mk_check t;
    library(&b, NULL);
    const struct cs_elf elf = open_elf(&b);
    struct cs_elf_section s;
    assert_true(cs_elf_find(&elf, ".nv_fatbin", &s));
    cs_mk_patch_u32(&b, s.off, 0);  // the first container's magic
    judge(&t, &b);
    assert_false(t.result.pass);
    FOUND(&t, "dangling-wrapper", ERROR, "where no container begins");
    assert_int_equal(cs_mk_check_count(&t, "dangling-wrapper"), 1);
    cs_mk_check_end(&t);
}

static void test_dynamic(void **state) {
    (void)state;
    struct cs_buf b;
    struct cs_mk_check t;
    library(&b, NULL);
    const struct cs_elf elf = open_elf(&b);
    const struct cs_elf_segment dynamic =
        cs_elf_segment(&elf, (uint32_t)((header_of(&elf, PT_DYNAMIC, 0) - elf.phoff) /
                                        sizeof(Elf64_Phdr)));
    for (uint64_t at = dynamic.off; at < dynamic.off + dynamic.filesz; at += 16) {
        if (cs_u64(cs_buf_view(&b), at) == DT_STRTAB) {
            cs_mk_patch_u64(&b, at + 8, 1ull << 40);
        }
    }
    judge(&t, &b);
    FOUND(&t, "elf-damaged", ERROR, "string table is not in the file");
    FOUND(&t, "elf-damaged", ERROR, ".dynstr is elsewhere");
    cs_mk_check_end(&t);
}

// ---- a library that asks for versions --------------------------------------------------------

// A file of one LOAD segment: headers, a dynamic section, strings, and one version need.
static void versions(struct cs_buf *out, const char *needed, const char *asked,
                     const char *version) {
    cs_buf_init(out, SIZE_MAX);
    struct cs_buf strings;
    cs_buf_init(&strings, 4096);
    cs_buf_addc(&strings, '\0');
    const uint64_t needed_at = strings.len;
    cs_buf_add(&strings, needed, strlen(needed) + 1);
    const uint32_t asked_at = (uint32_t)strings.len;
    cs_buf_add(&strings, asked, strlen(asked) + 1);
    const uint32_t version_at = (uint32_t)strings.len;
    cs_buf_add(&strings, version, strlen(version) + 1);

    enum { PHDRS = 2 };
    const uint64_t dyn = sizeof(Elf64_Ehdr) + PHDRS * sizeof(Elf64_Phdr);
    const uint64_t dyn_bytes = 6 * 16, need = dyn + dyn_bytes, str = need + 32;
    const uint64_t total = str + strings.len;
    Elf64_Ehdr ehdr = {.e_ident = {0x7F, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                       .e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
                       .e_phoff = sizeof ehdr, .e_ehsize = sizeof ehdr,
                       .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = PHDRS,
                       .e_shentsize = sizeof(Elf64_Shdr)};
    const Elf64_Phdr phdrs[PHDRS] = {
        {.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = total, .p_memsz = total, .p_align = 4096},
        {.p_type = PT_DYNAMIC, .p_flags = PF_R, .p_offset = dyn, .p_vaddr = dyn,
         .p_filesz = dyn_bytes, .p_memsz = dyn_bytes, .p_align = 8},
    };
    const uint64_t entries[] = {DT_NEEDED, needed_at, DT_STRTAB, str, DT_STRSZ, strings.len,
                                DT_VERNEED, need, DT_VERNEEDNUM, 1, DT_NULL, 0};
    cs_buf_add(out, &ehdr, sizeof ehdr);
    cs_buf_add(out, phdrs, sizeof phdrs);
    cs_buf_add(out, entries, sizeof entries);
    cs_buf_u16(out, 1);
    cs_buf_u16(out, 1);
    cs_buf_u32(out, asked_at);
    cs_buf_u32(out, 16);
    cs_buf_u32(out, 0);
    cs_buf_u32(out, 0);
    cs_buf_u16(out, 0);
    cs_buf_u16(out, 2);
    cs_buf_u32(out, version_at);
    cs_buf_u32(out, 0);
    cs_buf_add(out, strings.ptr, strings.len);
    cs_buf_fini(&strings);
}

// U46 (pypa/manylinux#119 and others): the needed library was renamed, the version table was not.
static void test_u46_versions(void **state) {
    (void)state;
    struct cs_buf b;
    struct cs_mk_check t;
    versions(&b, "libc.so.6", "libc.so.6", "GLIBC_2.34");
    judge(&t, &b);
    NONE(&t, NULL);
    assert_int_equal(t.look.files.ptr[0].glibc_major, 2);
    assert_int_equal(t.look.files.ptr[0].glibc_minor, 34);
    cs_mk_check_end(&t);
    versions(&b, "libfoo-5e2f1a.so.1", "libfoo.so.1", "FOO_1");
    judge(&t, &b);
    assert_false(t.result.pass);
    FOUND(&t, "version-need-unmatched", ERROR, "libfoo.so.1, which is not among");
    cs_mk_check_end(&t);
    versions(&b, "lib\001.so", "libc.so.6", "GLIBC_PRIVATE");
    judge(&t, &b);
    FOUND(&t, "elf-damaged", ERROR, "no text");
    assert_int_equal(t.look.files.ptr[0].glibc_major, 0);
    cs_mk_check_end(&t);
}

// ---- the 2 GiB rule --------------------------------------------------------------------------

// A header-only library: sections at given addresses, no bytes.
static void spread(struct cs_buf *out, uint16_t machine, uint64_t fatbin_bytes) {
    struct cs_mk_elf e;
    cs_mk_elf_init(&e, ET_DYN, machine);
    const struct {
        const char *name;
        uint64_t flags, bytes;
    } rows[] = {{".text", SHF_ALLOC | SHF_EXECINSTR, 0x1000},
                {".rodata", SHF_ALLOC, 0x1000},
                {".nv_fatbin", SHF_ALLOC, fatbin_bytes},
                {".eh_frame", SHF_ALLOC, 0x1000},
                {".data", SHF_ALLOC | SHF_WRITE, 0x1000},
                {".lbss", SHF_ALLOC | SHF_WRITE | 0x10000000, 1ull << 33}};
    uint64_t addr = 0x1000;
    const size_t count = sizeof rows / sizeof *rows - (machine != EM_X86_64);
    for (size_t i = 0; i < count; i++) {
        const uint32_t s = cs_mk_elf_section(&e, rows[i].name, SHT_NOBITS, rows[i].flags, 16);
        cs_mk_elf_at(&e, s)->addr = addr;
        cs_mk_elf_at(&e, s)->nobits_bytes = rows[i].bytes;
        addr += rows[i].bytes;
    }
    cs_buf_init(out, SIZE_MAX);
    cs_mk_elf_write(&e, out);
    cs_mk_elf_fini(&e);
}

// U01: device code between code and data pushes them apart.
static void test_u01_span(void **state) {
    (void)state;
    static const struct {
        uint16_t machine;
        uint64_t fatbin;
        int errors, warnings;
    } rows[] = {
        {EM_X86_64, 1 * CS_GIB, 0, 0},
        {EM_X86_64, 2 * CS_GIB - 0x5000, 0, 1},
        {EM_X86_64, 2 * CS_GIB - 0x4000, 1, 0},
        {EM_AARCH64, 3 * CS_GIB, 0, 0},
        {EM_AARCH64, 4 * CS_GIB, 1, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cs_buf b;
        struct cs_mk_check t;
        spread(&b, rows[i].machine, rows[i].fatbin);
        cs_mk_check_start(&t);
        cs_mk_check_read_as(&t, "ops.so", cs_buf_view(&b));
        cs_mk_check_run(&t, &(struct cs_mk_check_ask){.select = "span-over-2gib"});
        cs_buf_fini(&b);
        const struct cs_check_span *s = &t.look.files.ptr[0].span;
        if (rows[i].machine == EM_X86_64) {
            assert_int_equal(s->bytes, rows[i].fatbin + 0x4000);
            assert_int_equal(s->device_bytes, rows[i].fatbin);
        }
        assert_int_equal(t.result.errors, rows[i].errors);
        assert_int_equal(t.result.warnings, rows[i].warnings);
        if (rows[i].errors && rows[i].machine == EM_X86_64) {
            FOUND(&t, "span-over-2gib", ERROR, ".text to .data: 2048.00 MiB of 2048.00 MiB");
            FOUND(&t, "span-over-2gib", ERROR, "device code in .nv_fatbin");
        }
        cs_mk_check_end(&t);
    }
}

// An archive with a real object, and one that claims the rest of the room.
static void archive(struct cs_buf *out, uint64_t bss_bytes) {
    struct cs_buf object, filler;
    cs_buf_init(&object, SIZE_MAX);
    cs_buf_init(&filler, SIZE_MAX);
    cs_mk_words_library(&object, "a.cu: sm_80[a,b,c,d] sm_90[a,b] compute_90:z",
                        &(struct cs_mk_host){.layout = CS_MK_OBJECT});
    struct cs_mk_elf e;
    cs_mk_elf_init(&e, ET_REL, EM_X86_64);
    const uint32_t s =
        cs_mk_elf_section(&e, ".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, 16);
    cs_mk_elf_at(&e, s)->nobits_bytes = bss_bytes;
    cs_mk_elf_write(&e, &filler);
    cs_mk_elf_fini(&e);
    cs_buf_init(out, SIZE_MAX);
    const struct cs_mk_ar_member members[] = {{"a.o", cs_buf_view(&object)},
                                              {"filler.o", cs_buf_view(&filler)}};
    cs_mk_ar_write(out, members, 2, false);
    cs_buf_fini(&object);
    cs_buf_fini(&filler);
}

static void link_of(struct cs_mk_check *t, uint64_t bss_bytes) {
    struct cs_buf b;
    archive(&b, bss_bytes);
    cs_mk_check_start(t);
    cs_mk_check_read_as(t, "libops.a", cs_buf_view(&b));
    cs_mk_check_run(t, &(struct cs_mk_check_ask){.select = "E", .link = true});
    cs_buf_fini(&b);
}

static bool fits_without(const struct cs_check_link *l, size_t set, const char *targets) {
    char text[128] = "", word[CS_TARGET_TEXT_BYTES];
    for (uint32_t k = 0; set < l->fits.count && k < l->fits.ptr[set].count; k++) {
        cs_target_text(l->fits.ptr[set].leave[k], word);
        strcat(strcat(text, k ? " " : ""), word);
    }
    return strcmp(text, targets) == 0;
}

// U01 and U02: before the link, and which targets would fit.  U04: the limits are a table.
static void test_u02_link(void **state) {
    (void)state;
    struct cs_mk_check t;
    link_of(&t, 4096);
    const uint64_t small = t.result.link.span_bytes - 4096;
    assert_true(t.result.pass);
    assert_int_equal(t.result.link.sections.objects, 2);
    assert_int_equal(t.result.link.targets.count, 3);
    const uint64_t sm80 = t.result.link.targets.ptr[0].bytes;
    const uint64_t sm90 = t.result.link.targets.ptr[1].bytes;
    assert_true(sm80 > sm90);
    cs_mk_check_end(&t);

    const uint64_t over = (2 * CS_GIB - small + 15) & ~15ull;  // the section is aligned to 16
    link_of(&t, over - 16);  // just fits
    assert_true(t.result.pass);
    assert_int_equal(t.result.link.fits.count, 0);
    FOUND(&t, "span-over-2gib", WARNING, "linking 2 objects");
    cs_mk_check_end(&t);

    link_of(&t, over);
    assert_false(t.result.pass);
    FOUND(&t, "span-over-2gib", ERROR, ".nv_fatbin in the way");
    FOUND(&t, "span-over-2gib", ERROR, "It fits without compute_90; or without sm_90");
    assert_int_equal(t.result.link.fits.count, 3);
    assert_true(fits_without(&t.result.link, 0, "compute_90"));
    assert_true(fits_without(&t.result.link, 2, "sm_80"));
    assert_int_equal(t.result.limits[CS_LIMIT_WINDOWS_IMAGE].limit_bytes, 2 * CS_GIB);
    assert_int_equal(t.result.limits[CS_LIMIT_WINDOWS_IMAGE].bytes, t.result.link.span_bytes);
    assert_int_equal(t.result.limits[CS_LIMIT_WINDOWS_LIBRARY].limit_bytes, 4 * CS_GIB);
    assert_string_equal(t.result.limits[CS_LIMIT_WINDOWS_LIBRARY].where.ptr, "libops.a");
    cs_mk_check_end(&t);

    link_of(&t, over + sm80);  // no single target, but two
    assert_true(fits_without(&t.result.link, 0, "sm_80 compute_90"));
    assert_true(fits_without(&t.result.link, 1, "sm_80 sm_90"));
    assert_int_equal(t.result.link.fits.count, 2);
    cs_mk_check_end(&t);

    link_of(&t, 3 * CS_GIB);
    assert_int_equal(t.result.link.fits.count, 0);
    FOUND(&t, "span-over-2gib", ERROR, "No few targets alone");
    cs_mk_check_end(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),          cmocka_unit_test(test_u45_misaligned),
        cmocka_unit_test(test_segments),       cmocka_unit_test(test_u46_sections),
        cmocka_unit_test(test_moved_headers),  cmocka_unit_test(test_dangling),
        cmocka_unit_test(test_dynamic),        cmocka_unit_test(test_u46_versions),
        cmocka_unit_test(test_u01_span),       cmocka_unit_test(test_u02_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
