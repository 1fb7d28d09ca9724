// Byte counts to text and back, in integers throughout.
#include "base/size.h"

#include <stdio.h>

#include "base/num.h"

enum { FRACTION_DIGITS_MAX = 18 };

void cs_size_text(uint64_t bytes, char out[CS_SIZE_TEXT_BYTES]) {
    const uint64_t kib = 1 << 10, mib = 1 << 20;
    if (bytes < kib) {
        snprintf(out, CS_SIZE_TEXT_BYTES, "%llu B", (unsigned long long)bytes);
        return;
    }
    const uint64_t tenths = cs_muldiv_u64(bytes, 10, kib) + (bytes * 10 % kib >= kib / 2);
    if (bytes < mib && tenths < 10240) {
        snprintf(out, CS_SIZE_TEXT_BYTES, "%llu.%llu KiB", (unsigned long long)tenths / 10,
                 (unsigned long long)tenths % 10);
        return;
    }
    const uint64_t rest = (bytes % mib) * 100;
    uint64_t whole = bytes / mib, hundredths = rest / mib + (rest % mib >= mib / 2);
    whole += hundredths / 100;
    hundredths %= 100;
    snprintf(out, CS_SIZE_TEXT_BYTES, "%llu.%02llu MiB", (unsigned long long)whole,
             (unsigned long long)hundredths);
}

void cs_size_delta_text(int64_t bytes, char out[CS_SIZE_TEXT_BYTES]) {
    char size[CS_SIZE_TEXT_BYTES];
    const uint64_t magnitude = bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes;
    cs_size_text(magnitude, size);
    snprintf(out, CS_SIZE_TEXT_BYTES, "%s%.30s", bytes < 0 ? "-" : bytes > 0 ? "+" : "", size);
}

static bool unit_factor(struct cs_str unit, uint64_t *factor) {
    static const char letters[] = "kmgt";
    *factor = 1;
    if (unit.len == 0 || (unit.len == 1 && (unit.ptr[0] | 0x20) == 'b')) {
        return true;
    }
    const char *at = strchr(letters, unit.ptr[0] | 0x20);
    if (!at) {
        return false;
    }
    const bool binary = unit.len == 1 || (unit.len == 3 && (unit.ptr[1] | 0x20) == 'i');
    const bool decimal = unit.len == 2;
    if ((!binary && !decimal) || (unit.len > 1 && (unit.ptr[unit.len - 1] | 0x20) != 'b')) {
        return false;
    }
    for (const char *p = letters; p <= at; p++) {
        *factor *= binary ? 1024 : 1000;
    }
    return true;
}

// Digits from *at on; false when there is none or the value leaves 64 bits.  *scale receives ten to
// the number of digits, wrapped around when that leaves 64 bits.
static bool digits(struct cs_str text, size_t *at, uint64_t *value, uint64_t *scale) {
    const size_t start = *at;
    *value = 0;
    *scale = 1;
    for (; *at < text.len && text.ptr[*at] >= '0' && text.ptr[*at] <= '9'; (*at)++) {
        *scale *= 10;
        if (!cs_mul_u64(*value, 10, value) ||
            !cs_add_u64(*value, (uint64_t)(text.ptr[*at] - '0'), value)) {
            return false;
        }
    }
    return *at > start;
}

bool cs_size_parse(struct cs_str text, uint64_t *bytes) {
    size_t at = 0;
    uint64_t whole, fraction = 0, scale = 1, factor, unused;
    if (!digits(text, &at, &whole, &unused)) {
        return false;
    }
    if (at < text.len && text.ptr[at] == '.') {
        const size_t start = ++at;
        if (!digits(text, &at, &fraction, &scale) || at - start > FRACTION_DIGITS_MAX) {
            return false;
        }
    }
    while (at < text.len && text.ptr[at] == ' ') {
        at++;
    }
    if (!unit_factor((struct cs_str){text.ptr + at, text.len - at}, &factor) ||
        !cs_mul_u64(whole, factor, &whole)) {
        return false;
    }
    return cs_add_u64(whole, cs_muldiv_u64(fraction, factor, scale), bytes);
}
