// Runs a fuzz target without libFuzzer, as an ordinary test: every file of the given folders whole,
// cut short, and damaged in a way that is the same on every machine.
//
//     fuzz_NAME FOLDER_OR_FILE...
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PATH_BYTES = 4096, FILE_MAX = 4 << 20, CUTS = 256, DAMAGES = 256 };

static char current[PATH_BYTES + 64];  // what is being run, for the message of a crash

static void on_crash(int sig) {
    static const char head[] = "\ncrashed on ";
    ssize_t ignored = write(STDERR_FILENO, head, sizeof head - 1);
    ignored = write(STDERR_FILENO, current, strlen(current));
    ignored = write(STDERR_FILENO, "\n", 1);
    (void)ignored;
    signal(sig, SIG_DFL);
    raise(sig);
}

// A copy of exactly `size` bytes, so that a sanitizer sees every byte read beyond the end.
static void run_copy(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) {
        abort();
    }
    memcpy(copy, data, size);
    (void)LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

// SplitMix64.
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// One to four edits: a flipped bit, a random byte, or a number that sits on an edge.
static void damage(uint8_t *data, size_t size, uint64_t *state) {
    static const uint64_t edges[] = {0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF,
                                     UINT64_MAX / 2, UINT64_MAX, UINT64_MAX - 15, 1ull << 32};
    const uint64_t edits = 1 + next_random(state) % 4;
    for (uint64_t i = 0; i < edits; i++) {
        const uint64_t r = next_random(state);
        // Headers lie at the front and at the back; half of the edits go there.
        const size_t window = size < 512 ? size : 512;
        size_t at = (size_t)(r >> 8) % size;
        if (r & 1) {
            at = (r & 2) ? at % window : size - 1 - at % window;
        }
        const uint64_t edge = edges[(r >> 40) % (sizeof edges / sizeof edges[0])];
        const size_t width = (size_t)1 << ((r >> 4) & 3);
        if (r & 4) {
            data[at] ^= (uint8_t)(1u << ((r >> 48) & 7));
        } else if (width <= size - at) {
            memcpy(data + at, &edge, width);
        } else {
            data[at] = (uint8_t)(r >> 56);
        }
    }
}

static void run_file(const char *path) {
    static uint8_t data[FILE_MAX], damaged[FILE_MAX];
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(1);
    }
    const size_t size = fread(data, 1, sizeof data, f);
    fclose(f);
    snprintf(current, sizeof current, "%s", path);
    run_copy(data, size);
    const size_t cuts = size < CUTS ? size : CUTS;
    for (size_t i = 0; i < cuts; i++) {
        const size_t len = size * i / cuts;
        snprintf(current, sizeof current, "%s cut to %zu bytes", path, len);
        run_copy(data, len);
    }
    for (uint64_t seed = 1; seed <= DAMAGES && size > 0; seed++) {
        uint64_t state = seed;
        memcpy(damaged, data, size);
        damage(damaged, size, &state);
        snprintf(current, sizeof current, "%s damaged with seed %llu", path,
                 (unsigned long long)seed);
        run_copy(damaged, size);
    }
}

static int run_folder(const char *path) {
    struct dirent **names;
    const int count = scandir(path, &names, NULL, alphasort);
    int files = 0;
    for (int i = 0; i < count; i++) {
        char file[PATH_BYTES];
        struct stat st;
        snprintf(file, sizeof file, "%s/%s", path, names[i]->d_name);
        if (stat(file, &st) == 0 && S_ISREG(st.st_mode)) {
            run_file(file);
            files++;
        }
        free(names[i]);
    }
    if (count >= 0) {
        free(names);
    }
    return files;
}

int main(int argc, char **argv) {
    int files = 0;
    signal(SIGABRT, on_crash);
    signal(SIGSEGV, on_crash);
    signal(SIGFPE, on_crash);
    run_copy((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++) {
        struct stat st;
        if (stat(argv[i], &st) != 0) {
            continue;  // a target without a corpus of its own yet
        }
        if (S_ISDIR(st.st_mode)) {
            files += run_folder(argv[i]);
        } else {
            run_file(argv[i]);
            files++;
        }
    }
    printf("%d passed, 0 failed, 0 skipped\n", files);
    return files > 0 ? 0 : 1;
}
