// Toolkits and drivers: tables of versions, and comparisons.
//
// Sources.  PTX ISA: each toolkit's own ptxas (11.7 on), NVIDIA's PTX ISA release notes before.
// Drivers: the "CUDA Toolkit and corresponding driver versions" table of NVIDIA's release notes
// up to 13.3; from 13.4 on the driver comes apart from the toolkit, so only its branch is known.
// zstd: nvcc's manual (not before CUDA 12.4's drivers).  Concatenated entries:
// docs/format/selection.md.
#include "model/toolkit.h"

#include <stdio.h>

#include "base/num.h"

#define V3(b, m, p) \
    { .branch = (b), .minor = (m), .patch = (p), .parts = 3 }
#define V2(b, m) \
    { .branch = (b), .minor = (m), .parts = 2 }
#define V1(b) \
    { .branch = (b), .parts = 1 }

static const char notes[] = "CUDA release notes, toolkit and driver versions";
static const char quoted[] = "quotations of the 13.3 release notes";
static const char builds[] = "first public builds seen, 615.71.09 and 620.70.06";

static const struct cs_toolkit_row rows[] = {
    {110, 70, V3(450, 51, 5), true, notes},
    {111, 71, V2(455, 23), true, notes},
    {112, 72, V3(460, 27, 3), true, notes},
    {113, 73, V3(465, 19, 1), true, notes},
    {114, 74, V3(470, 42, 1), true, notes},
    {115, 75, V3(495, 29, 5), true, notes},
    {116, 76, V3(510, 39, 1), true, notes},
    {117, 77, V3(515, 43, 4), true, notes},
    {118, 78, V3(520, 61, 5), true, notes},
    {120, 80, V3(525, 60, 13), true, notes},
    {121, 81, V3(530, 30, 2), true, notes},
    {122, 82, V3(535, 54, 3), true, notes},
    {123, 83, V3(545, 23, 6), true, notes},
    {124, 84, V3(550, 54, 14), true, notes},
    {125, 85, V3(555, 42, 2), true, notes},
    {126, 85, V3(560, 28, 3), true, notes},
    {127, 86, V1(565), false, "R565 drivers report CUDA 12.7"},
    {128, 87, V2(570, 26), true, notes},
    {129, 88, V3(575, 51, 3), true, notes},
    {130, 90, V3(580, 65, 6), true, notes},
    {131, 91, V3(590, 44, 1), true, notes},
    {132, 92, V3(595, 45, 4), true, notes},
    {133, 93, V3(610, 43, 2), true, quoted},
    {134, 94, V1(615), true, builds},
    {135, 95, V1(620), true, builds},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static const struct cs_driver zstd_driver = V3(550, 54, 14);
static const struct cs_driver concat_fails = V3(580, 159, 4);  // measured on an H200: error 209
static const struct cs_driver concat_loads = V3(615, 71, 9);   // third-party report, RTX 4090

const struct cs_toolkit_row *cs_toolkit_table(uint32_t *count) {
    *count = ROWS;
    return rows;
}

const struct cs_toolkit_row *cs_toolkit_find(uint16_t toolkit_x10) {
    for (uint32_t i = 0; i < ROWS; i++) {
        if (rows[i].toolkit_x10 == toolkit_x10) {
            return &rows[i];
        }
    }
    return NULL;
}

uint16_t cs_toolkit_newest(void) { return rows[ROWS - 1].toolkit_x10; }

// Up to 5 digits at *at, moving it; false when there is none or the number exceeds `max`.
static bool take_number(struct cs_str s, size_t *at, uint32_t max, uint16_t *out) {
    const size_t start = *at;
    uint32_t x = 0;
    while (*at < s.len && s.ptr[*at] >= '0' && s.ptr[*at] <= '9') {
        x = x * 10 + (uint32_t)(s.ptr[*at] - '0');
        if (x > max) {
            return false;
        }
        ++*at;
    }
    *out = (uint16_t)x;
    return *at > start;
}

bool cs_version_parse_x10(struct cs_str text, uint16_t *out) {
    size_t at = 0;
    uint16_t major, minor = 0;
    if (!take_number(text, &at, 999, &major) || major == 0) {
        return false;
    }
    if (at < text.len) {
        if (text.ptr[at++] != '.' || !take_number(text, &at, 9, &minor) || at != text.len) {
            return false;
        }
    }
    *out = (uint16_t)(major * 10 + minor);
    return true;
}

void cs_driver_text(struct cs_driver d, char out[CS_DRIVER_TEXT_BYTES]) {
    switch (d.parts) {
        case 1: snprintf(out, CS_DRIVER_TEXT_BYTES, "R%u", d.branch); break;
        case 2: snprintf(out, CS_DRIVER_TEXT_BYTES, "%u.%02u", d.branch, d.minor); break;
        case 3:
            snprintf(out, CS_DRIVER_TEXT_BYTES, "%u.%02u.%02u", d.branch, d.minor, d.patch);
            break;
        default: snprintf(out, CS_DRIVER_TEXT_BYTES, "unknown"); break;
    }
}

static bool starts_cuda(struct cs_str s) {
    return s.len > 4 && (s.ptr[0] | 0x20) == 'c' && (s.ptr[1] | 0x20) == 'u' &&
           (s.ptr[2] | 0x20) == 'd' && (s.ptr[3] | 0x20) == 'a';
}

// "cuda12.4", "CUDA 12.4": the driver that came with that toolkit.
static enum cs_code parse_cuda(struct cs_str text, struct cs_driver *out, struct cs_err *err) {
    struct cs_str version = {text.ptr + 4, text.len - 4};
    if (version.ptr[0] == ' ' || version.ptr[0] == '-') {
        version.ptr++;
        version.len--;
    }
    uint16_t x10;
    const struct cs_toolkit_row *row = NULL;
    if (cs_version_parse_x10(version, &x10)) {
        row = cs_toolkit_find(x10);
    }
    if (!row) {
        return cs_fail(err, CS_USAGE, "driver \"%.*s\": no CUDA version of 11.0 to %u.%u",
                       (int)cs_min_u64(text.len, 60), text.ptr, cs_toolkit_newest() / 10u,
                       cs_toolkit_newest() % 10u);
    }
    *out = row->driver;
    out->cuda_x10 = x10;
    return CS_OK;
}

// branch[.minor[.patch]] up to the end of the text.
static bool parse_dotted(struct cs_str text, size_t at, struct cs_driver *out) {
    uint16_t *const fields[3] = {&out->branch, &out->minor, &out->patch};
    while (out->parts < 3 && take_number(text, &at, 60000, fields[out->parts])) {
        out->parts++;
        if (at == text.len) {
            return true;
        }
        if (text.ptr[at++] != '.') {
            break;
        }
    }
    return false;
}

enum cs_code cs_driver_parse(struct cs_str text, struct cs_driver *out, struct cs_err *err) {
    *out = (struct cs_driver){0};
    if (starts_cuda(text)) {
        return parse_cuda(text, out, err);
    }
    const bool branch_only = text.len && (text.ptr[0] == 'R' || text.ptr[0] == 'r');
    if (!parse_dotted(text, branch_only ? 1 : 0, out) || out->branch < 100 ||
        (branch_only && out->parts != 1)) {
        *out = (struct cs_driver){0};
        return cs_fail(err, CS_USAGE,
                       "driver \"%.*s\" is not a version such as 550.54.14, R550 or cuda12.4",
                       (int)cs_min_u64(text.len, 60), text.ptr ? text.ptr : "");
    }
    return CS_OK;
}

int cs_driver_cmp(struct cs_driver a, struct cs_driver b) {
    if (a.branch != b.branch) {
        return a.branch < b.branch ? -1 : 1;
    }
    if (a.parts <= 1 || b.parts <= 1) {
        return 0;
    }
    if (a.minor != b.minor) {
        return a.minor < b.minor ? -1 : 1;
    }
    return a.patch < b.patch ? -1 : a.patch > b.patch;
}

struct cs_driver cs_driver_max(struct cs_driver a, struct cs_driver b) {
    if (!cs_driver_known(a) || !cs_driver_known(b)) {
        return cs_driver_known(a) ? a : b;
    }
    const int order = cs_driver_cmp(a, b);
    if (order == 0) {
        return a.parts >= b.parts ? a : b;  // the more exact statement of the same floor
    }
    return order > 0 ? a : b;
}

struct cs_driver cs_ptx_driver(uint16_t ptx_isa_x10) {
    if (ptx_isa_x10 != 0 && ptx_isa_x10 < rows[0].ptx_isa_x10) {
        return rows[0].driver;  // every driver that we judge takes it
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        if (rows[i].ptx_isa_x10 == ptx_isa_x10) {
            return rows[i].driver;
        }
    }
    return (struct cs_driver){0};
}

enum cs_tri cs_driver_takes_ptx(struct cs_driver d, uint16_t ptx_isa_x10) {
    if (!cs_driver_known(d) || ptx_isa_x10 == 0) {
        return CS_TRI_UNKNOWN;
    }
    const struct cs_driver floor = cs_ptx_driver(ptx_isa_x10);
    if (cs_driver_known(floor)) {
        return cs_driver_cmp(d, floor) >= 0 ? CS_TRI_YES : CS_TRI_NO;
    }
    // Between two known versions (8.9): what the next toolkit's driver takes, it takes too.
    for (uint32_t i = 0; i < ROWS; i++) {
        if (rows[i].ptx_isa_x10 > ptx_isa_x10) {
            if (cs_driver_cmp(d, rows[i].driver) >= 0) {
                return CS_TRI_YES;
            }
            return i > 0 && cs_driver_cmp(d, rows[i - 1].driver) >= 0 ? CS_TRI_UNKNOWN : CS_TRI_NO;
        }
    }
    return d.branch > rows[ROWS - 1].driver.branch ? CS_TRI_UNKNOWN : CS_TRI_NO;
}

uint16_t cs_driver_ptx_isa(struct cs_driver d) {
    uint16_t newest = 0;
    for (uint32_t i = 0; cs_driver_known(d) && i < ROWS; i++) {
        if (cs_driver_cmp(d, rows[i].driver) >= 0 && rows[i].ptx_isa_x10 > newest) {
            newest = rows[i].ptx_isa_x10;
        }
    }
    return newest;
}

struct cs_driver cs_sass_driver(uint16_t toolkit_x10) {
    // CUDA compatibility guide, "minor version compatibility": the branch that opened the major.
    switch (toolkit_x10 / 10) {
        case 11: return (struct cs_driver)V1(450);
        case 12: return (struct cs_driver)V1(525);
        case 13: return (struct cs_driver)V1(580);
        default: return (struct cs_driver){0};
    }
}

struct cs_driver cs_device_driver(struct cs_device d) {
    const struct cs_device_row *row = cs_device_find(d);
    if (!row || row->tegra || row->toolkit_x10 == 110) {
        return (struct cs_driver){0};  // Tegra: another numbering; 11.0: older than all we judge
    }
    const struct cs_toolkit_row *toolkit = cs_toolkit_find(row->toolkit_x10);
    CS_ASSERT(toolkit);
    return (struct cs_driver){.branch = toolkit->driver.branch, .parts = 1};
}

struct cs_driver cs_codec_driver(enum cs_codec codec) {
    return codec == CS_CODEC_ZSTD ? zstd_driver : (struct cs_driver){0};
}

enum cs_tri cs_driver_reads_concat(struct cs_driver d) {
    if (!cs_driver_known(d)) {
        return CS_TRI_UNKNOWN;
    }
    if (cs_driver_cmp(d, concat_loads) >= 0) {
        return CS_TRI_YES;
    }
    return cs_driver_cmp(d, concat_fails) <= 0 ? CS_TRI_NO : CS_TRI_UNKNOWN;
}

struct cs_driver cs_concat_driver(void) {
    return concat_loads;
}
