// Writes a folder of small files of every kind the program reads, for the tests of the command line
// and as seeds of the fuzz targets:
//
//     fixtures FOLDER
//
// Everything is made by the builders in tests/build, so no binary lies in the repository.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build/mk_cubin.h"
#include "build/mk_fatbin.h"
#include "build/mk_host.h"
#include "build/mk_words.h"
#include "build/mk_zip.h"

static const char *folder;

static void write_file(const char *name, struct cs_view bytes) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes.ptr, 1, (size_t)bytes.len, f) != bytes.len || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

static struct cs_buf new_buf(void) {
    struct cs_buf b;
    cs_buf_init(&b, SIZE_MAX);
    return b;
}

static const struct cs_mk_kernel kernels[] = {
    {.name = "_Z5scalePfi", .code_bytes = 512, .registers = 12},
    {.name = "_ZN3lib4gemmIfLi16EEEvPKT_S3_PS1_", .code_bytes = 2048, .registers = 64,
     .barriers = 1, .shared_bytes = 4096, .max_threads = 256},
};

static struct cs_buf cubin(uint32_t sm, bool accelerated, bool relocatable) {
    struct cs_buf b = new_buf();
    cs_mk_cubin_write(&b, &(struct cs_mk_cubin){.sm = sm,
                                                .accelerated = accelerated,
                                                .relocatable = relocatable,
                                                .kernels = kernels,
                                                .kernel_count = 2,
                                                .constant3_bytes = 64});
    return b;
}

// sm_80 raw, sm_90 and sm_90a compressed, PTX; sm_90 is shadowed.
static struct cs_buf container(void) {
    struct cs_buf c80 = cubin(80, false, false), c90 = cubin(90, false, false);
    struct cs_buf c90a = cubin(90, true, false), ptx = new_buf(), out = new_buf();
    cs_mk_ptx(&ptx, 80, 0, (const char *const[]){"_Z5scalePfi", NULL}, NULL);
    const struct cs_mk_entry entries[] = {
        {.kind = CS_FATBIN_PTX, .arch = 80, .image = cs_buf_view(&ptx), .codec = CS_CODEC_ZSTD},
        {.kind = CS_FATBIN_ELF, .arch = 80, .image = cs_buf_view(&c80)},
        {.kind = CS_FATBIN_ELF, .arch = 90, .image = cs_buf_view(&c90), .codec = CS_CODEC_LZ4},
        {.kind = CS_FATBIN_ELF, .arch = 90, .suffix = 'a', .image = cs_buf_view(&c90a),
         .codec = CS_CODEC_ZSTD},
    };
    cs_mk_container(&out, entries, 4);
    cs_buf_fini(&c80);
    cs_buf_fini(&c90);
    cs_buf_fini(&c90a);
    cs_buf_fini(&ptx);
    return out;
}

// The form of fatbinary 13.4: two images joined before compression.
static struct cs_buf concatenated(void) {
    struct cs_buf c100 = cubin(100, false, false), c120 = cubin(120, false, false);
    struct cs_buf out = new_buf();
    const struct cs_mk_entry parts[] = {
        {.kind = CS_FATBIN_ELF, .arch = 100, .suffix = 'f', .image = cs_buf_view(&c100)},
        {.kind = CS_FATBIN_ELF, .arch = 120, .image = cs_buf_view(&c120)},
    };
    const struct cs_mk_entry entry = {
        .kind = CS_FATBIN_CONCAT, .codec = CS_CODEC_ZSTD, .parts = parts, .part_count = 2};
    cs_mk_container(&out, &entry, 1);
    cs_buf_fini(&c100);
    cs_buf_fini(&c120);
    return out;
}

static struct cs_buf host(enum cs_mk_layout layout, struct cs_view first, struct cs_view second) {
    const struct cs_mk_unit units[] = {
        {.container = first, .source = "ops.cu"},
        {.container = second, .source = "gemm.cu"},
    };
    struct cs_buf out = new_buf();
    cs_mk_host_write(&out, &(struct cs_mk_host){.layout = layout, .units = units, .unit_count = 2});
    return out;
}

static void write_packages(struct cs_view library, struct cs_view object) {
    struct cs_buf out = new_buf();
    const struct cs_mk_member members[] = {
        {.name = "pkg/__init__.py", .data = {(const uint8_t *)"import ctypes\n", 14}},
        {.name = "pkg/ops.so", .data = library, .deflate = true},
    };
    cs_mk_wheel_write(&out, "pkg", "1.0", members, 2);
    write_file("pkg-1.0-py3-none-any.whl", cs_buf_view(&out));
    cs_buf_clear(&out);
    cs_mk_wheel_write(&out, "empty", "1.0", members, 1);
    write_file("empty-1.0-py3-none-any.whl", cs_buf_view(&out));
    cs_buf_clear(&out);
    const struct cs_mk_ar_member objects[] = {{"ops.o", object},
                                              {"a_member_with_a_long_name.o", object}};
    cs_mk_ar_write(&out, objects, 2, true);
    write_file("libops.a", cs_buf_view(&out));
    cs_buf_fini(&out);
}

// Of CUDA 12: its floor can rise.
static void write_old(void) {
    struct cs_buf out = new_buf();
    cs_mk_words_library(&out, "old.cu: sm_80[a,b,c,d,e,f,g,h]:abi7:cuda124 "
                              "sm_90a[a,b,c,d,e,f,g,h]:abi7:cuda124", NULL);
    write_file("old.so", cs_buf_view(&out));
    cs_buf_fini(&out);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: fixtures FOLDER\n");
        return 2;
    }
    folder = argv[1];
    struct cs_buf fatbin = container(), concat = concatenated(), rdc = cubin(75, false, true);
    struct cs_buf library = host(CS_MK_LD, cs_buf_view(&fatbin), cs_buf_view(&concat));
    struct cs_buf object = host(CS_MK_OBJECT, cs_buf_view(&fatbin), cs_buf_view(&concat));
    struct cs_buf ptx = new_buf();
    cs_mk_ptx(&ptx, 90, 'a', (const char *const[]){"_Z1kv", "_Z5scalePfi", NULL}, "k.cu");
    write_file("plain.fatbin", cs_buf_view(&fatbin));
    write_file("concat.fatbin", cs_buf_view(&concat));
    write_file("rdc.cubin", cs_buf_view(&rdc));
    write_file("k.ptx", cs_buf_view(&ptx));
    write_file("ops.so", cs_buf_view(&library));
    write_file("ops.o", cs_buf_view(&object));
    write_packages(cs_buf_view(&library), cs_buf_view(&object));
    write_old();
    write_file("text.txt", cs_view_of("no device code in here\n", 23));
    write_file("nothing", cs_view_of("", 0));
    cs_buf_fini(&fatbin);
    cs_buf_fini(&concat);
    cs_buf_fini(&rdc);
    cs_buf_fini(&library);
    cs_buf_fini(&object);
    cs_buf_fini(&ptx);
    return 0;
}
