// Devices: the table, families, the Tegra line, and how one image fits one device.
//
// Rules: NVIDIA's Blackwell compatibility guide (same major), CUDA programming guide 13.4
// (families of `f` targets, Tegra), runs on an H200 (`a` targets).  See docs/format/targets.md.
#include "model/device.h"

static const char by_toolkit[] = "NVIDIA's list of CUDA GPUs; target in ptxas";

// The last branches: NVIDIA's notices that R470 ends Kepler and R580 ends Maxwell, Pascal, Volta.
static const struct cs_device_row rows[] = {
    {{3, 5}, false, 110, 470, "Kepler", "Tesla K40, GTX Titan", by_toolkit},
    {{3, 7}, false, 110, 470, "Kepler", "Tesla K80", by_toolkit},
    {{5, 0}, false, 110, 580, "Maxwell", "GTX 750, Quadro K2200", by_toolkit},
    {{5, 2}, false, 110, 580, "Maxwell", "GTX 980, Tesla M40", by_toolkit},
    {{5, 3}, true, 110, 0, "Maxwell", "Jetson TX1, Jetson Nano", by_toolkit},
    {{6, 0}, false, 110, 580, "Pascal", "Tesla P100", by_toolkit},
    {{6, 1}, false, 110, 580, "Pascal", "GTX 1080, Tesla P40", by_toolkit},
    {{6, 2}, true, 110, 0, "Pascal", "Jetson TX2", by_toolkit},
    {{7, 0}, false, 110, 580, "Volta", "Tesla V100", by_toolkit},
    {{7, 2}, true, 110, 0, "Volta", "Jetson AGX Xavier", by_toolkit},
    {{7, 5}, false, 110, 0, "Turing", "T4, RTX 2080", by_toolkit},
    {{8, 0}, false, 110, 0, "Ampere", "A100, A30", by_toolkit},
    {{8, 6}, false, 111, 0, "Ampere", "RTX 3090, A10, A40", by_toolkit},
    {{8, 7}, true, 114, 0, "Ampere", "Jetson AGX Orin", by_toolkit},
    {{8, 9}, false, 118, 0, "Ada", "RTX 4090, L4, L40", by_toolkit},
    {{9, 0}, false, 118, 0, "Hopper", "H100, H200, GH200", by_toolkit},
    {{10, 0}, false, 128, 0, "Blackwell", "B200, GB200", by_toolkit},
    {{10, 3}, false, 129, 0, "Blackwell", "B300, GB300", by_toolkit},
    {{10, 7}, false, 134, 0, "Rubin", "Rubin", "CUDA 13.4 programming guide; ptxas 13.4"},
    {{11, 0}, true, 128, 0, "Blackwell", "Jetson AGX Thor", "called 10.1 up to CUDA 12.9"},
    {{12, 0}, false, 128, 0, "Blackwell", "RTX 5090, RTX PRO 6000", by_toolkit},
    // Reports itself integrated, yet loads sm_120 code.
    {{12, 1}, false, 129, 0, "Blackwell", "GB10 (DGX Spark)", by_toolkit},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

const struct cs_device_row *cs_device_table(uint32_t *count) {
    *count = ROWS;
    return rows;
}

bool cs_device_eq(struct cs_device a, struct cs_device b) {
    return a.major == b.major && a.minor == b.minor;
}

int cs_device_cmp(struct cs_device a, struct cs_device b) {
    const uint32_t x = cs_device_number(a);
    const uint32_t y = cs_device_number(b);
    return x < y ? -1 : x > y;
}

struct cs_device cs_device_canonical(struct cs_device d) {
    return d.major == 10 && d.minor == 1 ? (struct cs_device){11, 0} : d;
}

const struct cs_device_row *cs_device_find(struct cs_device d) {
    const struct cs_device want = cs_device_canonical(d);
    for (uint32_t i = 0; i < ROWS; i++) {
        if (cs_device_eq(rows[i].device, want)) {
            return &rows[i];
        }
    }
    return NULL;
}

bool cs_arch_is_tegra(uint16_t arch) {
    const struct cs_device_row *row =
        cs_device_find(cs_target_device((struct cs_target){.arch = arch}));
    return row && row->tegra;
}

// CUDA 13.4 programming guide; agrees with what ptxas takes.
static const struct {
    uint16_t arch;
    uint16_t members[3];
} families[] = {
    {100, {100, 103, 107}}, {101, {110}},      {103, {103, 107}}, {107, {107}},
    {110, {110}},           {120, {120, 121}}, {121, {121}},
};

enum cs_tri cs_family_has(uint16_t arch, struct cs_device device) {
    const struct cs_device d = cs_device_canonical(device);
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        if (families[i].arch != arch) {
            continue;
        }
        for (size_t m = 0; m < 3; m++) {
            if (families[i].members[m] == cs_device_number(d)) {
                return CS_TRI_YES;
            }
        }
        break;
    }
    const bool could_be = arch / 10u == d.major && arch < cs_device_number(d) && !cs_device_find(d);
    return could_be ? CS_TRI_UNKNOWN : CS_TRI_NO;
}

static enum cs_fit fit_family(struct cs_target t, struct cs_device d, bool *known) {
    const enum cs_tri has = cs_family_has(t.arch, d);
    if (has == CS_TRI_UNKNOWN) {
        *known = false;
    }
    if (has == CS_TRI_NO || has == CS_TRI_UNKNOWN) {
        return t.arch / 10u == d.major && t.arch > cs_device_number(d) ? CS_FIT_NO_NEWER
                                                                       : CS_FIT_NO_FAMILY;
    }
    if (t.is_ptx) {
        return CS_FIT_PTX;
    }
    return t.arch == cs_device_number(d) ? CS_FIT_EXACT : CS_FIT_FAMILY;
}

static enum cs_fit fit_plain_sass(struct cs_target t, struct cs_device d, bool *known) {
    if (t.arch / 10u != d.major) {
        return CS_FIT_NO_MAJOR;
    }
    if (t.arch > cs_device_number(d)) {
        return CS_FIT_NO_NEWER;
    }
    if (t.arch == cs_device_number(d)) {
        return CS_FIT_EXACT;
    }
    // Which side of the line a number stands on is known for the devices of the table alone (8.8
    // has a target but no product).
    if (!cs_device_find(cs_target_device(t)) || !cs_device_find(d)) {
        *known = false;
    }
    const uint16_t number = (uint16_t)cs_device_number(d);
    return cs_arch_is_tegra(t.arch) == cs_arch_is_tegra(number) ? CS_FIT_SAME_MAJOR
                                                                : CS_FIT_NO_TEGRA;
}

enum cs_fit cs_target_fit(struct cs_target t, struct cs_device device, bool *known_out) {
    const struct cs_device d = cs_device_canonical(device);
    const uint32_t number = cs_device_number(d);
    bool known = true;
    enum cs_fit fit;
    if (t.arch == 101 && number == 110 && (!t.is_ptx || t.suffix)) {
        fit = CS_FIT_NO_RENAMED;
        known = false;
    } else if (t.suffix == 'f') {
        fit = fit_family(t, d, &known);
    } else if (t.suffix == 'a') {
        fit = t.arch != number ? CS_FIT_NO_ARCH : t.is_ptx ? CS_FIT_PTX : CS_FIT_EXACT;
    } else if (t.is_ptx) {
        fit = t.arch <= number ? CS_FIT_PTX : CS_FIT_NO_NEWER;
    } else {
        fit = fit_plain_sass(t, d, &known);
    }
    if (known_out) {
        *known_out = known;
    }
    return fit;
}

uint32_t cs_target_miss_distance(struct cs_target t, struct cs_device device, enum cs_fit fit) {
    const struct cs_device d = cs_device_canonical(device);
    const uint32_t number = cs_device_number(d);
    const uint32_t away = t.arch > number ? t.arch - number : number - t.arch;
    // Within a major the most telling reason comes first, whatever the number.
    static const uint32_t order[] = {[CS_FIT_NO_RENAMED] = 0, [CS_FIT_NO_TEGRA] = 1,
                                     [CS_FIT_NO_ARCH] = 2,    [CS_FIT_NO_FAMILY] = 3,
                                     [CS_FIT_NO_NEWER] = 4,   [CS_FIT_NO_MAJOR] = 5};
    if (t.arch / 10u == d.major || fit == CS_FIT_NO_RENAMED) {
        return order[fit];
    }
    return (t.is_ptx ? 100 : 100000) + away;
}

const char *cs_fit_name(enum cs_fit fit) {
    switch (fit) {
        case CS_FIT_EXACT: return "exact";
        case CS_FIT_FAMILY: return "family";
        case CS_FIT_SAME_MAJOR: return "same-major";
        case CS_FIT_PTX: return "ptx";
        case CS_FIT_NO_MAJOR: return "other-major";
        case CS_FIT_NO_NEWER: return "newer";
        case CS_FIT_NO_TEGRA: return "tegra-line";
        case CS_FIT_NO_ARCH: return "other-chip";
        case CS_FIT_NO_FAMILY: return "other-family";
        case CS_FIT_NO_RENAMED: return "renamed";
    }
    return "unknown";
}

const char *cs_fit_phrase(enum cs_fit fit) {
    switch (fit) {
        case CS_FIT_EXACT: return "is SASS for exactly this chip";
        case CS_FIT_FAMILY: return "is SASS for its family";
        case CS_FIT_SAME_MAJOR: return "is SASS of the same major, lower minor";
        case CS_FIT_PTX: return "is PTX that the driver can compile for it";
        case CS_FIT_NO_MAJOR: return "is SASS of another major";
        case CS_FIT_NO_NEWER: return "is for something newer";
        case CS_FIT_NO_TEGRA: return "is of the same major but on the other side of the Tegra line";
        case CS_FIT_NO_ARCH: return "is an `a` image, which runs on exactly its own chip";
        case CS_FIT_NO_FAMILY: return "is an `f` image of another family";
        case CS_FIT_NO_RENAMED:
            return "is for 10.1, the old name of 11.0; whether it loads there is not known";
    }
    return "is unknown";
}
