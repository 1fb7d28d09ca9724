#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/mem.h"
#include "base/vec.h"

enum { THREADS_MAX = 256 };

struct task {
    cs_task_fn *fn;
    void *arg;
    struct cs_group *group;
};

struct cs_pool {
    pthread_mutex_t lock;
    pthread_cond_t changed;  // a task was queued or finished, or the pool is closing
    CS_VEC(struct task) queue;  // a stack of pending tasks from `head` on
    size_t head;
    bool closing;
    uint32_t threads;  // callers included
    uint32_t started;
    pthread_t worker[THREADS_MAX];
};

// Takes the oldest task; the lock is held.
static bool take_task(struct cs_pool *p, struct task *out) {
    if (p->head == p->queue.count) {
        return false;
    }
    *out = p->queue.ptr[p->head++];
    if (p->head == p->queue.count) {
        p->head = p->queue.count = 0;
    }
    return true;
}

static void run_task(struct cs_pool *p, struct task t) {
    pthread_mutex_unlock(&p->lock);
    t.fn(t.arg);
    pthread_mutex_lock(&p->lock);
    if (--t.group->pending == 0) {
        pthread_cond_broadcast(&p->changed);
    }
}

static void *worker_main(void *arg) {
    struct cs_pool *p = arg;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        struct task t;
        if (take_task(p, &t)) {
            run_task(p, t);
        } else if (p->closing) {
            break;
        } else {
            pthread_cond_wait(&p->changed, &p->lock);
        }
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static uint32_t processors(void) {
    cpu_set_t set;
    const int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n < 1 ? 1 : (uint32_t)n;
}

enum cs_code cs_pool_new(uint32_t threads, struct cs_pool **out, struct cs_err *err) {
    struct cs_pool *p = cs_calloc(1, sizeof *p);
    if (!p) {
        return cs_fail(err, CS_NOMEM, "no memory for the thread pool");
    }
    p->threads = threads ? threads : processors();
    if (p->threads > THREADS_MAX) {
        p->threads = THREADS_MAX;
    }
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    // A machine that refuses a thread still gets its answer, only later.
    while (p->started + 1 < p->threads &&
           pthread_create(&p->worker[p->started], NULL, worker_main, p) == 0) {
        p->started++;
    }
    *out = p;
    return CS_OK;
}

void cs_pool_free(struct cs_pool *p) {
    if (!p) {
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->closing = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    for (uint32_t i = 0; i < p->started; i++) {
        pthread_join(p->worker[i], NULL);
    }
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    cs_vec_fini(&p->queue);
    cs_free(p);
}

uint32_t cs_pool_threads(const struct cs_pool *pool) { return pool ? pool->threads : 1; }

void cs_group_run(struct cs_pool *p, struct cs_group *group, cs_task_fn *fn, void *arg) {
    pthread_mutex_lock(&p->lock);
    struct task *t = cs_vec_push(&p->queue);
    if (t) {
        *t = (struct task){fn, arg, group};
        group->pending++;
        pthread_cond_signal(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    if (!t) {
        fn(arg);
    }
}

void cs_group_wait(struct cs_pool *p, struct cs_group *group) {
    pthread_mutex_lock(&p->lock);
    while (group->pending > 0) {
        struct task t;
        if (take_task(p, &t)) {
            run_task(p, t);
        } else {
            pthread_cond_wait(&p->changed, &p->lock);
        }
    }
    pthread_mutex_unlock(&p->lock);
}

struct for_state {
    atomic_size_t next;
    size_t count;
    size_t chunk;
    cs_index_fn *fn;
    void *ctx;
};

static void for_task(void *arg) {
    struct for_state *s = arg;
    for (;;) {
        const size_t from = atomic_fetch_add(&s->next, s->chunk);
        if (from >= s->count) {
            return;
        }
        const size_t to = s->count - from < s->chunk ? s->count : from + s->chunk;
        for (size_t i = from; i < to; i++) {
            s->fn(s->ctx, i);
        }
    }
}

void cs_pool_for(struct cs_pool *pool, size_t count, size_t chunk, cs_index_fn *fn, void *ctx) {
    struct for_state s = {.count = count, .chunk = chunk ? chunk : 1, .fn = fn, .ctx = ctx};
    const size_t helpers = pool && count > s.chunk ? pool->started : 0;
    struct cs_group group = {0};
    for (size_t i = 0; i < helpers; i++) {
        cs_group_run(pool, &group, for_task, &s);
    }
    for_task(&s);
    if (helpers) {
        cs_group_wait(pool, &group);
    }
}
