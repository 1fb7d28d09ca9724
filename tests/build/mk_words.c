// Libraries written as words: a small reader on top of the other builders.
#include "build/mk_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build/mk_cubin.h"
#include "build/mk_fatbin.h"
#include "model/target.h"

enum { IMAGES_MAX = 32, KERNELS_MAX = 64, UNITS_MAX = 64, WORD_MAX = 256 };

struct image {
    struct cs_target target;
    const char *kernels[KERNELS_MAX + 1];
    char names[WORD_MAX];
    size_t kernel_count;
    enum cs_codec codec;
    uint32_t isa_x10, toolkit_x10, abi;
    bool relocatable, joined;  // joined to the image before it
    struct cs_buf bytes;
};

static void give_up(const char *what, const char *word) {
    fprintf(stderr, "mk_words: %s: %s\n", what, word);
    abort();
}

static void read_mark(struct image *im, const char *mark) {
    if (strcmp(mark, "z") == 0) {
        im->codec = CS_CODEC_ZSTD;
    } else if (strcmp(mark, "4") == 0) {
        im->codec = CS_CODEC_LZ4;
    } else if (strncmp(mark, "isa", 3) == 0) {
        im->isa_x10 = (uint32_t)atoi(mark + 3);
    } else if (strncmp(mark, "cuda", 4) == 0) {
        im->toolkit_x10 = (uint32_t)atoi(mark + 4);
    } else if (strcmp(mark, "abi7") == 0) {
        im->abi = 7;
    } else if (strcmp(mark, "rdc") == 0) {
        im->relocatable = true;
    } else {
        give_up("unknown mark", mark);
    }
}

static void read_image(struct image *im, char *word, const char *kernel) {
    *im = (struct image){0};
    char *list = strchr(word, '[');
    char *marks = strchr(list ? list : word, ':');
    if (list) {
        char *end = strchr(list, ']');
        if (!end) {
            give_up("no ]", word);
        }
        marks = strchr(end, ':');
        *end = '\0';
        *list = '\0';
        snprintf(im->names, sizeof im->names, "%s", list + 1);
    } else {
        snprintf(im->names, sizeof im->names, "%s", kernel);
    }
    if (marks) {
        *marks = '\0';
    }
    char *save = NULL;
    for (char *k = strtok_r(im->names, ",", &save); k; k = strtok_r(NULL, ",", &save)) {
        im->kernels[im->kernel_count++] = k;
    }
    for (char *m = marks ? strtok_r(marks + 1, ":", &save) : NULL; m;
         m = strtok_r(NULL, ":", &save)) {
        read_mark(im, m);
    }
    if (!cs_target_parse(cs_str_from(word), &im->target)) {
        give_up("no target", word);
    }
}

static void make_image(struct image *im) {
    cs_buf_init(&im->bytes, SIZE_MAX);
    if (im->target.is_ptx) {
        cs_mk_ptx(&im->bytes, im->target.arch, im->target.suffix, im->kernels, NULL);
        char *version = strstr(im->bytes.ptr, ".version 9.0");
        if (im->isa_x10 && version) {
            version[9] = (char)('0' + im->isa_x10 / 10);
            version[11] = (char)('0' + im->isa_x10 % 10);
        }
        return;
    }
    struct cs_mk_kernel kernels[KERNELS_MAX] = {{0}};
    for (size_t i = 0; i < im->kernel_count; i++) {
        kernels[i].name = im->kernels[i];
    }
    cs_mk_cubin_write(&im->bytes, &(struct cs_mk_cubin){.sm = im->target.arch,
                                                        .abi = im->abi,
                                                        .toolkit_x10 = im->toolkit_x10,
                                                        .accelerated = im->target.suffix == 'a',
                                                        .relocatable = im->relocatable,
                                                        .kernels = kernels,
                                                        .kernel_count = im->kernel_count});
}

static struct cs_mk_entry entry_of(const struct image *im) {
    return (struct cs_mk_entry){.kind = im->target.is_ptx ? CS_FATBIN_PTX : CS_FATBIN_ELF,
                                .arch = im->target.arch,
                                .suffix = im->target.suffix,
                                .codec = im->codec,
                                .image = cs_buf_view(&im->bytes),
                                .code_major = (uint16_t)(im->isa_x10 / 10),
                                .code_minor = (uint16_t)(im->isa_x10 % 10)};
}

void cs_mk_words_container(struct cs_buf *out, const char *words, const char *kernel) {
    struct image *images = calloc(IMAGES_MAX, sizeof *images);
    struct cs_mk_entry plain[IMAGES_MAX], entries[IMAGES_MAX];
    char *copy = strdup(words), *save = NULL;
    size_t count = 0, entry_count = 0;
    bool join = false;
    for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        if (strcmp(w, "+") == 0) {
            join = true;
            continue;
        }
        read_image(&images[count], w, kernel);
        make_image(&images[count]);
        images[count].joined = join;
        plain[count] = entry_of(&images[count]);
        join = false;
        count++;
    }
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;
        while (end < count && images[end].joined) {
            end++;
        }
        entries[entry_count++] =
            end == i + 1 ? plain[i]
                         : (struct cs_mk_entry){.kind = CS_FATBIN_CONCAT,
                                                .codec = CS_CODEC_ZSTD,
                                                .parts = &plain[i],
                                                .part_count = end - i};
        i = end;
    }
    cs_mk_container(out, entries, entry_count);
    for (size_t i = 0; i < count; i++) {
        cs_buf_fini(&images[i].bytes);
    }
    free(copy);
    free(images);
}

// Takes "NAME:" off the front; a target has its ':' only after an underscore.
static const char *source_of(char **text) {
    *text += strspn(*text, " ");
    char *colon = strstr(*text, ": ");
    char *blank = strchr(*text, ' ');
    if (!colon || (blank && blank < colon)) {
        return NULL;
    }
    const char *name = *text;
    *colon = '\0';
    *text = colon + 2;
    return name;
}

void cs_mk_words_library(struct cs_buf *out, const char *words, const struct cs_mk_host *like) {
    struct cs_mk_unit units[UNITS_MAX];
    memset(units, 0, sizeof units);
    struct cs_buf bytes[UNITS_MAX];
    char kernel[WORD_MAX];
    char *copy = strdup(words), *save = NULL;
    size_t count = 0;
    for (char *part = strtok_r(copy, "|", &save); part && count < UNITS_MAX;
         part = strtok_r(NULL, "|", &save)) {
        struct cs_mk_unit *u = &units[count];
        part += strspn(part, " ");
        u->no_wrapper = *part == '!';
        part += u->no_wrapper;
        u->source = source_of(&part);
        snprintf(kernel, sizeof kernel, "k_%.*s",
                 u->source ? (int)strcspn(u->source, ".") : 1, u->source ? u->source : "x");
        cs_buf_init(&bytes[count], SIZE_MAX);
        cs_mk_words_container(&bytes[count], part, kernel);
        u->container = cs_buf_view(&bytes[count]);
        u->relocatable = strstr(part, ":rdc") != NULL;
        count++;
    }
    struct cs_mk_host host = like ? *like : (struct cs_mk_host){.layout = CS_MK_LD};
    host.units = units;
    host.unit_count = count;
    cs_mk_host_write(out, &host);
    for (size_t i = 0; i < count; i++) {
        cs_buf_fini(&bytes[i]);
    }
    free(copy);
}
