// Size: byte counts as people write and read them.
#ifndef CS_BASE_SIZE_H
#define CS_BASE_SIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/view.h"

enum { CS_SIZE_TEXT_BYTES = 32 };

// "312 B", "12.3 KiB", "651.90 MiB"; never a larger unit, so that figures compare at a glance.
// Rounded half up, without floating point: equal on every machine.
void cs_size_text(uint64_t bytes, char out[CS_SIZE_TEXT_BYTES]);
// The same with a sign: "+1.25 MiB", "-3 B", "0 B".
void cs_size_delta_text(int64_t bytes, char out[CS_SIZE_TEXT_BYTES]);

// Accepts "2048", "300 MiB", "1.5G", "100MB".  K, M, G, T and KiB, MiB, ... count by 1024; kB, MB,
// GB, TB by 1000; letter case counts nothing.  False for anything else and on overflow.
bool cs_size_parse(struct cs_str text, uint64_t *bytes);

#endif
