// Toolkits and drivers: which toolkit writes which PTX, and the oldest driver for each thing.
//
// What is not known is said so (parts == 0, CS_TRI_UNKNOWN), never guessed.  All tables are
// constant; every function is pure and may be called from any thread.
#ifndef CS_MODEL_TOOLKIT_H
#define CS_MODEL_TOOLKIT_H

#include "format/codec.h"
#include "model/device.h"

// A Linux driver version such as 550.54.14, or a branch alone (R550), or "a driver that reports
// CUDA 12.4", which is how Jetson boards must be compared.
struct cs_driver {
    uint16_t branch, minor, patch;
    uint16_t cuda_x10;  // set when it was given as "cuda12.4"
    uint8_t parts;      // 0 = unknown or not given, 1 = branch only, 2, 3
};

enum { CS_DRIVER_TEXT_BYTES = 24 };

// "550.54.14", "570.26", "R615", "unknown".
void cs_driver_text(struct cs_driver d, char out[CS_DRIVER_TEXT_BYTES]);
// Accepts 550.54.14, 570.26, 550, R550, r550, cuda12.4 ("CUDA 12.4").
enum cs_code cs_driver_parse(struct cs_str text, struct cs_driver *out,
                             struct cs_err *err) CS_MUST_USE;
static inline bool cs_driver_known(struct cs_driver d) { return d.parts != 0; }
// <0, 0, >0.  When either side is a branch alone, branches are all that is compared: a bare branch
// stands for its releases, the first of which is the one the toolkits' notes name.
int cs_driver_cmp(struct cs_driver a, struct cs_driver b);
// The stricter of two floors; an unknown one (parts == 0) counts as no demand.
struct cs_driver cs_driver_max(struct cs_driver a, struct cs_driver b);

struct cs_toolkit_row {
    uint16_t toolkit_x10;
    uint16_t ptx_isa_x10;     // newest PTX ISA it writes
    struct cs_driver driver;  // oldest driver that takes its PTX and all its features
    bool published;           // 12.7 never was a public toolkit; R565 drivers accept its PTX
    const char *source;
};
const struct cs_toolkit_row *cs_toolkit_table(uint32_t *count);
const struct cs_toolkit_row *cs_toolkit_find(uint16_t toolkit_x10);
// Accepts "12.8", "13"; false for anything else.  Does not ask whether it exists.
bool cs_version_parse_x10(struct cs_str text, uint16_t *out);
uint16_t cs_toolkit_newest(void);

// The oldest driver that compiles PTX of that ISA (84 = 8.4); parts == 0 when not known.
struct cs_driver cs_ptx_driver(uint16_t ptx_isa_x10);
// Can the driver compile it?  UNKNOWN for an ISA newer than the tables on a driver that is too.
enum cs_tri cs_driver_takes_ptx(struct cs_driver d, uint16_t ptx_isa_x10);
// The newest PTX ISA that a driver is known to take; 0 when older than CUDA 11.0.
uint16_t cs_driver_ptx_isa(struct cs_driver d);

// Minor-version compatibility: the oldest branch that loads SASS of any toolkit of that major.
struct cs_driver cs_sass_driver(uint16_t toolkit_x10);
// The first driver that knows the chip; parts == 0 for Tegra (another numbering) and unknown chips.
struct cs_driver cs_device_driver(struct cs_device d);

// Compression.  parts == 0: any driver that takes the toolkit's code.
struct cs_driver cs_codec_driver(enum cs_codec codec);
// Concatenated entries (kind 0x100): NO up to 580.159.04, YES from 615.71.09, between UNKNOWN.
enum cs_tri cs_driver_reads_concat(struct cs_driver d);
struct cs_driver cs_concat_driver(void);  // the oldest driver known to read them

#endif
