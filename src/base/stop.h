// Stop: an interrupt that work with several steps answers in its own time.
//
// Most work needs nothing of this: a signal removes the temporary files and ends the program.
// Work that would leave several files half done holds the signal, looks at cs_stop_asked() between
// steps, undoes them, and lets go.  A second signal is not held.
#ifndef CS_BASE_STOP_H
#define CS_BASE_STOP_H

#include <stdbool.h>

#include "base/err.h"

void cs_stop_hold(void);
void cs_stop_release(void);

// For the handler of SIGINT and the like; async-signal-safe.  True: the signal is held, and the
// handler has nothing to do.
bool cs_stop_ask(void);

// Was a signal held since cs_stop_hold()?
bool cs_stop_asked(void);
// CS_INTERRUPTED when it was.
enum cs_code cs_stop_check(struct cs_err *err) CS_MUST_USE;

#endif
