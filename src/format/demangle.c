// Demangle: libc++abi's __cxa_demangle inside a fence.
//
// cmake/Demangle.cmake takes the function out of libc++abi.a and binds its imports to the functions
// below.  The fence has three sides.
//   Memory: the demangler never gives up by itself (substitutions let n bytes stand for 2^n of
//   text) and ends the process when memory is out.  Its allocations are counted; at the limit
//   control leaves it by longjmp and all its blocks are freed.  It holds nothing else that needs
//   care. Stack: it recurses once or more for each byte.  At most 180 bytes of stack for each byte
//   of the name were seen for all 34 recursive forms of the grammar tried (LLVM 14 and 19); 1 KiB
//   is given.  Names of up to DIRECT_BYTES run where they are, others on a thread with a stack to
//   fit. Real kernel names nearly all take the first way: the longest of 17,800 has 1,843 bytes.
//   Ends of the process (std::terminate, failed assertions): the same longjmp.
#include "format/demangle.h"

#include <pthread.h>
#include <setjmp.h>

#include "base/limits.h"
#include "base/mem.h"

enum {
    DIRECT_BYTES = 2048,
    STACK_BASE = 256 * 1024,
    STACK_PER_BYTE = 1024,
    MEMORY_BASE = 128 * 1024,
    MEMORY_PER_BYTE = 256,
};

// One allocation of the demangler, in a ring with the session as its head.
struct block {
    struct block *next, *prev;
    size_t size;
    _Alignas(16) uint8_t data[];
};

struct session {
    const char *mangled;
    char *result;  // allocated by the demangler
    size_t memory_left;
    bool no_memory;  // of the machine, not of the share
    struct block *blocks;
    jmp_buf leave;
};

static _Thread_local struct session *session;

// abi::__cxa_demangle, renamed.
char *cs_cxa_demangle(const char *mangled, char *buf, size_t *len, int *status);

static _Noreturn void leave(void) { longjmp(session->leave, 1); }

void *cs_demangle_malloc(size_t size);
void *cs_demangle_realloc(void *old, size_t size);
void cs_demangle_free(void *ptr);
void cs_demangle_delete(void *ptr);
void cs_demangle_delete_sized(void *ptr, size_t size);

void *cs_demangle_malloc(size_t size) {
    const size_t cost = size + sizeof(struct block);
    if (size > session->memory_left || cost > session->memory_left) {
        leave();
    }
    struct block *b = cs_alloc(cost);
    if (!b) {
        session->no_memory = true;
        leave();
    }
    session->memory_left -= cost;
    b->size = size;
    b->prev = NULL;
    b->next = session->blocks;
    if (b->next) {
        b->next->prev = b;
    }
    session->blocks = b;
    return b->data;
}

static struct block *block_of(void *ptr) {
    return (struct block *)(void *)((uint8_t *)ptr - offsetof(struct block, data));
}

void cs_demangle_free(void *ptr) {
    if (!ptr) {
        return;
    }
    struct block *b = block_of(ptr);
    session->memory_left += b->size + sizeof *b;
    if (b->next) {
        b->next->prev = b->prev;
    }
    if (b->prev) {
        b->prev->next = b->next;
    } else {
        session->blocks = b->next;
    }
    cs_free(b);
}

void *cs_demangle_realloc(void *old, size_t size) {
    void *p = cs_demangle_malloc(size);
    if (old) {
        const size_t old_size = block_of(old)->size;
        memcpy(p, old, old_size < size ? old_size : size);
        cs_demangle_free(old);
    }
    return p;
}

void cs_demangle_delete(void *ptr) { cs_demangle_free(ptr); }
void cs_demangle_delete_sized(void *ptr, size_t size) {
    (void)size;
    cs_demangle_free(ptr);
}

// Ends of the process and entries of a C++ runtime.  No exception is ever thrown, so the last three
// cannot be reached; the tables of run-time type information are not read either.
_Noreturn void cs_demangle_abort(void);
_Noreturn void cs_demangle_terminate(void);
_Noreturn void cs_demangle_abort_message(const char *format, ...) CS_PRINTF(1, 2);
_Noreturn void cs_demangle_verbose_abort(const char *format, ...) CS_PRINTF(1, 2);
_Noreturn void cs_demangle_catch(void *exception);
_Noreturn void cs_demangle_resume(void *exception);
_Noreturn void cs_demangle_personality(void);
extern const void *const cs_demangle_class_info[4], *const cs_demangle_si_class_info[4];

_Noreturn void cs_demangle_abort(void) { leave(); }
_Noreturn void cs_demangle_terminate(void) { leave(); }
_Noreturn void cs_demangle_abort_message(const char *format, ...) {
    (void)format;
    leave();
}
_Noreturn void cs_demangle_verbose_abort(const char *format, ...) {
    (void)format;
    leave();
}
_Noreturn void cs_demangle_catch(void *exception) {
    (void)exception;
    leave();
}
_Noreturn void cs_demangle_resume(void *exception) {
    (void)exception;
    leave();
}
_Noreturn void cs_demangle_personality(void) { leave(); }
const void *const cs_demangle_class_info[4], *const cs_demangle_si_class_info[4];

static void *run(void *arg) {
    struct session *s = arg;
    session = s;
    if (setjmp(s->leave) == 0) {
        s->result = cs_cxa_demangle(s->mangled, NULL, NULL, NULL);
    } else {
        s->result = NULL;
    }
    session = NULL;
    return NULL;
}

static void run_on_big_stack(struct session *s, size_t len) {
    pthread_attr_t attr;
    pthread_t thread;
    if (pthread_attr_init(&attr) != 0) {
        return;
    }
    // Only pages that are touched cost memory.  Without a thread the name stays mangled.
    if (pthread_attr_setstacksize(&attr, STACK_BASE + len * STACK_PER_BYTE) == 0 &&
        pthread_create(&thread, &attr, run, s) == 0) {
        (void)pthread_join(thread, NULL);
    }
    (void)pthread_attr_destroy(&attr);
}

// A static kernel of relocatable code is called __nv_static_<n>_<module id of n bytes>_<name>
// (docs/format/source-names.md): its name, or the whole when it is not so.
static struct cs_str past_static_prefix(struct cs_str s) {
    static const struct cs_str word = CS_STR("__nv_static_");
    size_t i = word.len, id = 0;
    if (!cs_str_starts(s, word)) {
        return s;
    }
    for (; i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9' && id < CS_MAX_DEMANGLE_BYTES; i++) {
        id = id * 10 + (size_t)(s.ptr[i] - '0');
    }
    const size_t name = i + 1 + id + 1;
    const bool fits = name < s.len && s.ptr[i] == '_' && s.ptr[name - 1] == '_';
    return fits ? (struct cs_str){s.ptr + name, s.len - name} : s;
}

static bool unchanged(struct cs_str whole, struct cs_buf *out) {
    cs_buf_clear(out);
    cs_buf_add_str(out, whole);
    return false;
}

bool cs_demangle(struct cs_str whole, struct cs_buf *out) {
    const struct cs_str mangled = past_static_prefix(whole);
    cs_buf_clear(out);
    cs_buf_add_str(out, mangled);  // NUL-terminated from here on
    if (out->failed != CS_OK) {
        return false;
    }
    if (mangled.len > CS_MAX_DEMANGLE_BYTES || !cs_str_starts(mangled, CS_STR("_Z")) ||
        memchr(out->ptr, '\0', mangled.len)) {
        return unchanged(whole, out);
    }
    struct session s = {.mangled = out->ptr,
                        .memory_left = MEMORY_BASE + mangled.len * MEMORY_PER_BYTE};
    if (mangled.len <= DIRECT_BYTES) {
        run(&s);
    } else {
        run_on_big_stack(&s, mangled.len);
    }
    bool ok = s.result != NULL;
    if (ok) {
        cs_buf_clear(out);
        cs_buf_adds(out, s.result);
        ok = out->failed != CS_LIMIT;  // longer than the caller's maximum
    }
    if (!ok) {
        (void)unchanged(whole, out);
    }
    if (s.no_memory) {
        out->failed = CS_NOMEM;
    }
    for (struct block *b = s.blocks; b;) {
        struct block *next = b->next;
        cs_free(b);
        b = next;
    }
    return ok && out->failed == CS_OK;
}
