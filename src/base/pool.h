// Pool: worker threads with task groups.  pthreads, since ThreadSanitizer knows them.
//
// A group counts its tasks; cs_group_wait() runs queued tasks itself while it waits, so a task may
// start a group of its own and wait for it without tying up a worker.  With one thread everything
// runs inside cs_group_wait(), in the order of submission.
#ifndef CS_BASE_POOL_H
#define CS_BASE_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct cs_pool;

struct cs_group {
    uint64_t pending;  // guarded by the pool
};

typedef void cs_task_fn(void *arg);
typedef void cs_index_fn(void *ctx, size_t index);

// `threads` counts the caller too; 0 = number of processors this process may use.
enum cs_code cs_pool_new(uint32_t threads, struct cs_pool **out, struct cs_err *err) CS_MUST_USE;
void cs_pool_free(struct cs_pool *pool);  // all groups must have been waited for; NULL is fine
uint32_t cs_pool_threads(const struct cs_pool *pool);

// Queues one task; when the queue cannot grow, runs it at once in the caller.
void cs_group_run(struct cs_pool *pool, struct cs_group *group, cs_task_fn *fn, void *arg);
void cs_group_wait(struct cs_pool *pool, struct cs_group *group);

// Calls fn(ctx, 0..count-1) in parallel and waits.  A NULL pool means "in this thread".
// Indices are handed out in order, `chunk` at a time (0 = 1).
void cs_pool_for(struct cs_pool *pool, size_t count, size_t chunk, cs_index_fn *fn, void *ctx);

#endif
