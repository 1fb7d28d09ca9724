// Terminal questions and the progress meter.  The meter is the only state of the program that
// outlives a call, since signal-like callbacks from worker threads draw it.
#include "cli/term.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/num.h"
#include "base/size.h"

enum { WIDTH_DEFAULT = 80, WIDTH_MIN = 40, WIDTH_MAX = 400 };

// A tenth of a second between two redraws; nothing at all in the first quarter, so that quick
// commands do not flicker.
#define REDRAW_NS 100000000ull
#define DELAY_NS 250000000ull

const char *cs_cli_env(const char *name) {
    const char *value = getenv(name);
    return value && value[0] ? value : NULL;
}

static bool env_forces(const char *name) {
    const char *value = cs_cli_env(name);
    return value && strcmp(value, "0") != 0;
}

bool cs_term_color(enum cs_when when, int fd) {
    if (when != CS_WHEN_AUTO) {
        return when == CS_WHEN_ALWAYS;
    }
    if (cs_cli_env("NO_COLOR")) {
        return false;
    }
    if (env_forces("CLICOLOR_FORCE") || env_forces("FORCE_COLOR")) {
        return true;
    }
    const char *term = cs_cli_env("TERM");
    return isatty(fd) && term && strcmp(term, "dumb") != 0;
}

uint32_t cs_term_width(int fd) {
    uint64_t width = 0;
    struct winsize size;
    const char *columns = cs_cli_env("COLUMNS");
    for (; columns && *columns >= '0' && *columns <= '9' && width < WIDTH_MAX; columns++) {
        width = width * 10 + (uint64_t)(*columns - '0');
    }
    if (width == 0 && ioctl(fd, TIOCGWINSZ, &size) == 0) {
        width = size.ws_col;
    }
    width = width ? width : WIDTH_DEFAULT;
    return (uint32_t)cs_max_u64(WIDTH_MIN, cs_min_u64(width, WIDTH_MAX));
}

static struct {
    bool on;
    atomic_bool drawn;
    _Atomic uint64_t next_ns;  // no redraw before
} meter;

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void cs_meter_start(enum cs_when when) {
    meter.on = when == CS_WHEN_ALWAYS ||
               (when == CS_WHEN_AUTO && isatty(STDERR_FILENO) && !cs_cli_env("CI"));
    atomic_store(&meter.next_ns, now_ns() + (when == CS_WHEN_ALWAYS ? 0 : DELAY_NS));
}

void cs_meter_update(uint64_t done_bytes, uint64_t total_bytes) {
    if (!meter.on || total_bytes == 0) {
        return;
    }
    uint64_t due = atomic_load(&meter.next_ns);
    const uint64_t now = now_ns();
    // Whoever moves the due time on draws; the others go back to work.
    if (now < due || !atomic_compare_exchange_strong(&meter.next_ns, &due, now + REDRAW_NS)) {
        return;
    }
    char done[CS_SIZE_TEXT_BYTES], total[CS_SIZE_TEXT_BYTES], line[128];
    const uint64_t shown = cs_min_u64(done_bytes, total_bytes);
    cs_size_text(shown, done);
    cs_size_text(total_bytes, total);
    const int len =
        snprintf(line, sizeof line, "\r\x1b[K%3llu %%  %s of %s",
                 (unsigned long long)cs_muldiv_u64(shown, 100, total_bytes), done, total);
    atomic_store(&meter.drawn, true);
    const ssize_t ignored = write(STDERR_FILENO, line, (size_t)len);
    (void)ignored;
}

void cs_meter_clear(void) {
    if (atomic_exchange(&meter.drawn, false)) {
        static const char erase[] = "\r\x1b[K";
        const ssize_t ignored = write(STDERR_FILENO, erase, sizeof erase - 1);
        (void)ignored;
    }
}
