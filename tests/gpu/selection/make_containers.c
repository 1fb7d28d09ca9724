// Writes one fatbin for each line of containers.txt, from images that make.sh compiled.
//
//     make_containers containers.txt IMAGES OUT
//
// IMAGES holds sm_90.cubin, sm_90.v2.cubin, compute_80.ptx, ...; OUT gets 000.fatbin, 001.fatbin,
// ... and "list" with a file name, a tab and the line for each.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "build/mk_fatbin.h"
#include "model/target.h"

enum { IMAGES_MAX = 16, LINE_MAX_BYTES = 512 };

static _Noreturn void die(const char *what) {
    fprintf(stderr, "make_containers: %s\n", what);
    exit(1);
}

// The image in memory that may be changed.
static struct cs_view read_image(const char *folder, struct cs_target t, bool second) {
    char name[CS_TARGET_TEXT_BYTES], path[1024];
    cs_target_text(t, name);
    snprintf(path, sizeof path, "%s/%s%s.%s", folder, name, second ? ".v2" : "",
             t.is_ptx ? "ptx" : "cubin");
    struct cs_file file;
    if (cs_file_open(path, &file, NULL) != CS_OK) {
        die(path);
    }
    uint8_t *copy = malloc(file.view.len + 1);
    if (!copy) {
        die("memory");
    }
    memcpy(copy, file.view.ptr, file.view.len);
    copy[file.view.len] = 0;
    const struct cs_view image = cs_view_of(copy, file.view.len);
    cs_file_close(&file);
    return image;
}

static void set_isa(struct cs_view image, const char *digits) {
    char *version = strstr((char *)(uintptr_t)image.ptr, ".version ");
    if (!version) {
        die("PTX without .version");
    }
    version[9] = digits[0];
    version[11] = digits[1];
}

static struct cs_mk_entry read_word(const char *folder, const char *word, bool *concat) {
    struct cs_mk_entry e = {0};
    struct cs_target t;
    const size_t len = strcspn(word, ":");
    if (!cs_target_parse((struct cs_str){word, len}, &t)) {
        die(word);
    }
    e.kind = t.is_ptx ? CS_FATBIN_PTX : CS_FATBIN_ELF;
    e.arch = t.arch;
    e.suffix = t.suffix;
    e.image = read_image(folder, t, strstr(word, ":v2") != NULL);
    e.codec = strstr(word, ":z")   ? CS_CODEC_ZSTD
              : strstr(word, ":4") ? CS_CODEC_LZ4
                                   : CS_CODEC_NONE;
    e.set_flags = strstr(word, ":24") ? CS_FATBIN_F_BIT24 : 0;
    *concat = strstr(word, ":c") != NULL;
    const char *isa = strstr(word, ":isa");
    if (isa) {
        set_isa(e.image, isa + 4);
        e.code_major = (uint16_t)(isa[4] - '0');
        e.code_minor = (uint16_t)(isa[5] - '0');
    }
    if (strstr(word, ":bad")) {
        memset((void *)(uintptr_t)e.image.ptr, 'x', e.image.len);
        e.code_major = t.is_ptx ? 9 : 1;
        e.code_minor = t.is_ptx ? 0 : 8;
    }
    return e;
}

static void write_container(const char *folder, char *line, const char *path) {
    struct cs_mk_entry entries[IMAGES_MAX] = {{0}}, parts[IMAGES_MAX];
    size_t count = 0, part_count = 0;
    char *save = NULL;
    for (char *w = strtok_r(line, " \n", &save); w; w = strtok_r(NULL, " \n", &save)) {
        bool concat;
        if (strcmp(w, "empty") == 0) {
            break;
        }
        const struct cs_mk_entry e = read_word(folder, w, &concat);
        if (!concat) {
            entries[count++] = e;
            continue;
        }
        if (part_count == 0) {
            entries[count++] = (struct cs_mk_entry){
                .kind = CS_FATBIN_CONCAT, .codec = CS_CODEC_ZSTD, .parts = parts};
        }
        parts[part_count++] = e;
        entries[count - 1].part_count = part_count;  // parts of a line stand together
    }
    struct cs_buf out;
    cs_buf_init(&out, SIZE_MAX);
    (void)cs_mk_container(&out, entries, count);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(out.ptr, 1, out.len, f) != out.len || fclose(f)) {
        die(path);
    }
    cs_buf_fini(&out);
}

int main(int argc, char **argv) {
    char line[LINE_MAX_BYTES], path[1024];
    FILE *in = argc == 4 ? fopen(argv[1], "r") : NULL;
    if (!in) {
        die("usage: make_containers containers.txt IMAGES OUT");
    }
    snprintf(path, sizeof path, "%s/list", argv[3]);
    FILE *list = fopen(path, "w");
    if (!list) {
        die(path);
    }
    for (int n = 0; fgets(line, sizeof line, in);) {
        if (line[0] == '#') {
            continue;
        }
        fprintf(list, "%03d.fatbin\t%s", n, line);
        snprintf(path, sizeof path, "%s/%03d.fatbin", argv[3], n++);
        write_container(argv[2], line, path);
    }
    fclose(in);
    return fclose(list) ? 1 : 0;
}
