// Targets: what an image was built for, and which toolkit can build for it.
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
static inline bool cs_target_eq(struct cs_target a, struct cs_target b) {
    return a.arch == b.arch && a.suffix == b.suffix && a.is_ptx == b.is_ptx;
}

void cs_device_text(struct cs_device d, char out[CS_TARGET_TEXT_BYTES]);  // "9.0"
bool cs_device_parse(struct cs_str text, struct cs_device *out);          // "9.0", "12.1"

// "9.0a", the spelling of torch lists; `is_ptx` is not shown.
void cs_target_dotted(struct cs_target t, char out[CS_TARGET_TEXT_BYTES]);
// Accepts "9.0", "12.0f", "10.3a" (is_ptx = false).  Does not ask whether it exists.
bool cs_target_parse_dotted(struct cs_str text, struct cs_target *out);
// Accepts "90", "120f" (is_ptx = false).
bool cs_target_parse_number(struct cs_str text, struct cs_target *out);

// One number and suffix that some nvcc from 11.0 to 13.5 accepts.
struct cs_target_row {
    uint16_t arch;
    char suffix;
    uint16_t first_x10;  // oldest toolkit, at least 110
    uint16_t last_x10;   // newest toolkit that still takes it; 0 = the newest in our tables does
    const char *source;  // how this is known
};
const struct cs_target_row *cs_target_table(uint32_t *count);
// The row, or NULL when no toolkit in the tables knows the number with this suffix.
const struct cs_target_row *cs_target_find(uint16_t arch, char suffix);
// Does nvcc of that toolkit (130 = 13.0) accept it?  false for what is in no table.
bool cs_target_in_toolkit(uint16_t arch, char suffix, uint16_t toolkit_x10);
// The same chip under its other name: 101 <-> 110 (renamed in CUDA 13.0).  0 when there is none.
uint16_t cs_target_other_name(uint16_t arch);

static inline struct cs_device cs_target_device(struct cs_target t) {
    return (struct cs_device){(uint16_t)(t.arch / 10), (uint16_t)(t.arch % 10)};
}

#endif
