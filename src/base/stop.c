// One process, one piece of work that holds signals; the state is two lock-free flags.
#include "base/stop.h"

#include <stdatomic.h>

static atomic_bool held, asked;

void cs_stop_hold(void) {
    atomic_store(&asked, false);
    atomic_store(&held, true);
}

void cs_stop_release(void) {
    atomic_store(&held, false);
}

bool cs_stop_ask(void) {
    return atomic_load(&held) && !atomic_exchange(&asked, true);
}

bool cs_stop_asked(void) {
    return atomic_load(&held) && atomic_load(&asked);
}

enum cs_code cs_stop_check(struct cs_err *err) {
    return cs_stop_asked() ? cs_fail(err, CS_INTERRUPTED, "interrupted; everything is as it was")
                           : CS_OK;
}
