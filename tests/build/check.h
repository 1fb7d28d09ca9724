// The reader's promises about any file, checked in one place for property tests and fuzzing.
#ifndef CS_TESTS_BUILD_CHECK_H
#define CS_TESTS_BUILD_CHECK_H

#include "model/inventory.h"

// Reads bytes as an input of its own (through an anonymous file).  inv is initialised here; the
// caller ends it with cs_inventory_fini, also after an error.
enum cs_code cs_check_read(struct cs_view file, struct cs_pool *pool, enum cs_depth depth,
                           struct cs_inventory *inv, struct cs_err *err) CS_MUST_USE;

// NULL when all promises hold: indices in range, file and wheel bytes each owned once.  Else a
// short text in a static buffer of the thread.
const char *cs_check_inventory(const struct cs_inventory *inv, struct cs_view file);

// Both: NULL when the file gives a sound inventory, or an error that a user may see (with a place
// in the chain, and not "internal" or "usage").  *code tells which.
const char *cs_check_file(struct cs_view file, struct cs_pool *pool, enum cs_code *code);

#endif
