// The whole reader: any file gives an error or an inventory whose bytes add up to the file.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "build/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum cs_code code;
    const char *wrong = cs_check_file(cs_view_of(data, size), NULL, &code);
    if (wrong) {
        fprintf(stderr, "%s\n", wrong);
        abort();
    }
    return 0;
}
