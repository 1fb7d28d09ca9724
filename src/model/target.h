// Targets and devices: what an image was built for, and what it may run on.
#ifndef CS_MODEL_TARGET_H
#define CS_MODEL_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/view.h"

// sm_90a is {90, 'a', false}; compute_80 is {80, 0, true}.
struct cs_target {
    uint16_t arch;  // 10 * major + minor
    char suffix;    // 0, 'a' or 'f'
    bool is_ptx;    // compute_NN
};

// A compute capability; 9.0 is {9, 0}.
struct cs_device {
    uint16_t major, minor;
};

enum { CS_TARGET_TEXT_BYTES = 24 };

// "sm_90a" / "compute_80".
void cs_target_text(struct cs_target t, char out[CS_TARGET_TEXT_BYTES]);
// Accepts sm_90a, compute_80 (exactly); false for anything else.  Does not ask whether it exists.
bool cs_target_parse(struct cs_str text, struct cs_target *out);
// Ascending arch, then plain, a, f; then SASS before PTX.
int cs_target_cmp(struct cs_target a, struct cs_target b);

void cs_device_text(struct cs_device d, char out[CS_TARGET_TEXT_BYTES]);  // "9.0"
bool cs_device_parse(struct cs_str text, struct cs_device *out);          // "9.0", "12.1"

#endif
