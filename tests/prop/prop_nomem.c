// Memory that runs out: for generated files of every kind, the N-th allocation of a reading fails,
// for every N.  The reader gives "out of memory" or, where it can do without, a sound inventory; it
// neither crashes nor (under AddressSanitizer) leaks.
//
//     prop_nomem [--seed N] [--cases N]
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "build/check.h"
#include "build/gen.h"

enum { TRIES_MAX = 4000 };

static uint64_t calls, fail_from, fail_count;

static int hook(void) {
    const uint64_t call = calls++;
    return call >= fail_from && call - fail_from < fail_count;
}

static uint64_t option(int argc, char **argv, const char *name, uint64_t fallback) {
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], name) == 0) {
            return strtoull(argv[i + 1], NULL, 0);
        }
    }
    return fallback;
}

// One reading with allocations [from, from+count) failing.  Returns a complaint or NULL.
static const char *read_once(struct cs_view file, uint64_t from, uint64_t count) {
    struct cs_inventory inv;
    struct cs_err err = {0};
    calls = 0;
    fail_from = from;
    fail_count = count;
    cs_mem_fail_hook = hook;
    const enum cs_code code = cs_check_read(file, NULL, CS_DEPTH_KERNELS, &inv, &err);
    cs_mem_fail_hook = NULL;
    const char *wrong = NULL;
    if (code == CS_OK) {
        wrong = cs_check_inventory(&inv, file);
    } else if (code != CS_NOMEM || err.count == 0) {
        wrong = "an error that is not about memory";
    }
    cs_inventory_fini(&inv);
    return wrong;
}

int main(int argc, char **argv) {
    const uint64_t first = option(argc, argv, "--seed", 1);
    const uint64_t cases = option(argc, argv, "--cases", 300);
    uint64_t passed = 0, failed = 0;
    struct cs_buf b;
    cs_buf_init(&b, 1u << 30);
    for (uint64_t seed = first; seed < first + cases && failed < 20; seed++) {
        enum cs_gen_kind kind;
        cs_buf_clear(&b);
        cs_gen_file(seed, &b, &kind, NULL);
        (void)read_once(cs_buf_view(&b), UINT64_MAX, 0);
        const uint64_t whole = calls < TRIES_MAX ? calls : TRIES_MAX;
        for (uint64_t n = 0; n < whole && failed < 20; n++) {
            // One failure alone, and memory that stays out.
            for (uint64_t count = 1; count != 0; count = count == 1 ? UINT64_MAX : 0) {
                const char *wrong = read_once(cs_buf_view(&b), n, count);
                passed += wrong == NULL;
                if (wrong) {
                    failed++;
                    printf("seed %llu (%s), allocation %llu: %s\n", (unsigned long long)seed,
                           cs_gen_kind_name(kind), (unsigned long long)n, wrong);
                }
            }
        }
    }
    cs_buf_fini(&b);
    printf("%llu passed, %llu failed, 0 skipped\n", (unsigned long long)passed,
           (unsigned long long)failed);
    return failed ? 1 : 0;
}
