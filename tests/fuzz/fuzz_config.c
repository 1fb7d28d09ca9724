// Configurations: whatever parses can be asked about, and errors have a text.
#include <stdint.h>
#include <stdlib.h>

#include "model/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (int i = 0; i < 2; i++) {
        struct cs_config c;
        struct cs_err err = {0};
        cs_config_init(&c);
        const struct cs_str path = i ? CS_STR("x/pyproject.toml") : CS_STR("cuslim.toml");
        const enum cs_code code = cs_config_parse(&c, cs_view_of(data, size), path, &err);
        if (code == CS_OK) {
            const struct cs_config_source *second;
            (void)cs_config_source_for(&c, CS_STR("csrc/a/b.cu"), &second);
            (void)cs_reach_has(&c.reach, CS_STR("pkg/sm90/x.so"), (struct cs_device){9, 0});
        } else if (err.count == 0 || (code != CS_USAGE && code != CS_NOMEM)) {
            abort();
        }
        cs_config_fini(&c);
    }
    return 0;
}
