// Targets: texts, and the table of what each nvcc accepts.
//
// Sources of the rows.  "ptxas X.Y": the list that ptxas of that toolkit prints or accepts, asked
// directly.  "CMake": the arch tables that CMake keeps for its `all` (CUDA 11.0 to 11.6, whose
// ptxas was not at hand).  docs/format/targets.md repeats the table with the details.
#include "model/target.h"

#include <stdio.h>

static const char by_cmake[] = "CMake's table for `all`, CUDA 11.0 to 11.6";
static const char by_ptxas11[] = "ptxas 11.7 and 11.8";
static const char by_ptxas12[] = "ptxas 12.0 to 12.9";
static const char by_ptxas13[] = "ptxas 13.0 to 13.5";

static const struct cs_target_row rows[] = {
    {35, 0, 110, 118, by_cmake},      {37, 0, 110, 118, by_cmake},
    {50, 0, 110, 129, by_cmake},      {52, 0, 110, 129, by_cmake},
    {53, 0, 110, 129, by_cmake},      {60, 0, 110, 129, by_cmake},
    {61, 0, 110, 129, by_cmake},      {62, 0, 110, 129, by_cmake},
    {70, 0, 110, 129, by_cmake},      {72, 0, 110, 129, by_cmake},
    {75, 0, 110, 0, by_cmake},        {80, 0, 110, 0, by_cmake},
    {86, 0, 111, 0, by_cmake},        {87, 0, 114, 0, by_cmake},
    {88, 0, 130, 0, by_ptxas13},      {89, 0, 118, 0, by_ptxas11},
    {90, 0, 118, 0, by_ptxas11},      {90, 'a', 120, 0, by_ptxas12},
    {100, 0, 128, 0, by_ptxas12},     {100, 'a', 128, 0, by_ptxas12},
    {100, 'f', 129, 0, by_ptxas12},   {101, 0, 128, 129, by_ptxas12},
    {101, 'a', 128, 129, by_ptxas12}, {101, 'f', 129, 129, by_ptxas12},
    {103, 0, 129, 0, by_ptxas12},     {103, 'a', 129, 0, by_ptxas12},
    {103, 'f', 129, 0, by_ptxas12},   {107, 0, 134, 0, by_ptxas13},
    {107, 'a', 134, 0, by_ptxas13},   {107, 'f', 134, 0, by_ptxas13},
    {110, 0, 130, 0, by_ptxas13},     {110, 'a', 130, 0, by_ptxas13},
    {110, 'f', 130, 0, by_ptxas13},   {120, 0, 128, 0, by_ptxas12},
    {120, 'a', 128, 0, by_ptxas12},   {120, 'f', 129, 0, by_ptxas12},
    {121, 0, 129, 0, by_ptxas12},     {121, 'a', 129, 0, by_ptxas12},
    {121, 'f', 129, 0, by_ptxas12},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

const struct cs_target_row *cs_target_table(uint32_t *count) {
    *count = ROWS;
    return rows;
}

const struct cs_target_row *cs_target_find(uint16_t arch, char suffix) {
    for (uint32_t i = 0; i < ROWS; i++) {
        if (rows[i].arch == arch && rows[i].suffix == suffix) {
            return &rows[i];
        }
    }
    return NULL;
}

bool cs_target_in_toolkit(uint16_t arch, char suffix, uint16_t toolkit_x10) {
    const struct cs_target_row *row = cs_target_find(arch, suffix);
    return row && row->first_x10 <= toolkit_x10 &&
           (row->last_x10 == 0 || toolkit_x10 <= row->last_x10);
}

uint16_t cs_target_other_name(uint16_t arch) { return arch == 101 ? 110 : arch == 110 ? 101 : 0; }

void cs_target_text(struct cs_target t, char out[CS_TARGET_TEXT_BYTES]) {
    const char suffix[2] = {t.suffix, '\0'};
    snprintf(out, CS_TARGET_TEXT_BYTES, "%s_%u%s", t.is_ptx ? "compute" : "sm", t.arch, suffix);
}

void cs_target_dotted(struct cs_target t, char out[CS_TARGET_TEXT_BYTES]) {
    const char suffix[2] = {t.suffix, '\0'};
    snprintf(out, CS_TARGET_TEXT_BYTES, "%u.%u%s", t.arch / 10u, t.arch % 10u, suffix);
}

// Reads decimal digits at *at; false when there is none, a leading zero, or more than 4 digits.
static bool take_number(struct cs_str s, size_t *at, uint16_t *out) {
    const size_t start = *at;
    uint32_t x = 0;
    while (*at < s.len && s.ptr[*at] >= '0' && s.ptr[*at] <= '9') {
        if (*at - start == 4) {
            return false;
        }
        x = x * 10 + (uint32_t)(s.ptr[*at] - '0');
        ++*at;
    }
    *out = (uint16_t)x;
    return *at > start && (s.ptr[start] != '0' || *at == start + 1);
}

// The rest of a target after its number: nothing, 'a' or 'f'.
static bool take_suffix(struct cs_str s, size_t at, char *out) {
    *out = 0;
    if (at == s.len) {
        return true;
    }
    *out = s.ptr[at];
    return at + 1 == s.len && (*out == 'a' || *out == 'f');
}

bool cs_target_parse_number(struct cs_str text, struct cs_target *out) {
    size_t at = 0;
    *out = (struct cs_target){0};
    return take_number(text, &at, &out->arch) && out->arch >= 10 &&
           take_suffix(text, at, &out->suffix);
}

bool cs_target_parse(struct cs_str text, struct cs_target *out) {
    const bool sass = cs_str_starts(text, CS_STR("sm_"));
    if (!sass && !cs_str_starts(text, CS_STR("compute_"))) {
        return false;
    }
    const size_t prefix = sass ? 3 : 8;
    if (!cs_target_parse_number((struct cs_str){text.ptr + prefix, text.len - prefix}, out)) {
        return false;
    }
    out->is_ptx = !sass;
    return true;
}

bool cs_target_parse_dotted(struct cs_str text, struct cs_target *out) {
    size_t at = 0;
    uint16_t major, minor;
    *out = (struct cs_target){0};
    if (!take_number(text, &at, &major) || major == 0 || major > 999 || at == text.len ||
        text.ptr[at] != '.') {
        return false;
    }
    at++;
    // One digit only: the number is 10 * major + minor, so 9.10 would not be a distinct target.
    if (!take_number(text, &at, &minor) || minor > 9) {
        return false;
    }
    out->arch = (uint16_t)(major * 10 + minor);
    return take_suffix(text, at, &out->suffix);
}

static int suffix_rank(char suffix) { return suffix == 'f' ? 2 : suffix == 'a' ? 1 : 0; }

int cs_target_cmp(struct cs_target a, struct cs_target b) {
    if (a.arch != b.arch) {
        return a.arch < b.arch ? -1 : 1;
    }
    if (a.suffix != b.suffix) {
        return suffix_rank(a.suffix) - suffix_rank(b.suffix);
    }
    return (int)a.is_ptx - (int)b.is_ptx;
}

void cs_device_text(struct cs_device d, char out[CS_TARGET_TEXT_BYTES]) {
    snprintf(out, CS_TARGET_TEXT_BYTES, "%u.%u", d.major, d.minor);
}

bool cs_device_parse(struct cs_str text, struct cs_device *out) {
    struct cs_target t;
    if (!cs_target_parse_dotted(text, &t) || t.suffix) {
        return false;
    }
    *out = cs_target_device(t);
    return true;
}
