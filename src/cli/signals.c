// Signals: leave nothing half-written, and never let a crash look like a result.
//
// Everything in the handlers is async-signal-safe.
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/stop.h"
#include "cli/term.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

enum { EXIT_CODE_IO = 4, EXIT_CODE_BUG = 70, CRASH_STACK_BYTES = 64 * 1024 };

static void say(const char *text) {
    const ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
}

// The default action follows, so that a shell sees why the program ended.
static void on_stop(int sig) {
    if (cs_stop_ask()) {
        return;  // whoever holds it undoes what is half done
    }
    cs_outfile_remove_all();
    cs_meter_clear();
    signal(sig, SIG_DFL);
    raise(sig);
}

// A mapped input lost pages: another program cut it short, or its disk failed.
static void on_bus_error(int sig) {
    (void)sig;
    cs_outfile_remove_all();
    say("\ncuslim: error: an input file shrank or became unreadable while it was being read\n");
    _exit(EXIT_CODE_IO);
}

static void handle(int sig, void (*handler)(int), int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    sigaction(sig, &action, NULL);
}

#ifndef SANITIZED
static void on_crash(int sig) {
    (void)sig;
    cs_outfile_remove_all();
    say("\ncuslim: internal error: the program crashed; this is a bug in cuslim, please report "
        "it\n");
    _exit(EXIT_CODE_BUG);
}

static void install_crash_handlers(void) {
    // Of its own, so that a stack overflow is caught as well.
    static char stack[CRASH_STACK_BYTES];
    const stack_t alt = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alt, NULL);
    static const int crashes[] = {SIGSEGV, SIGILL, SIGFPE, SIGABRT};
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++) {
        handle(crashes[i], on_crash, SA_ONSTACK | (int)SA_RESETHAND);
    }
}
#endif

void cs_signals_install(void) {
    static const int stops[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++) {
        struct sigaction old;
        // Ignored by whoever started us (nohup, a background job): stay so.
        if (sigaction(stops[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
            handle(stops[i], on_stop, 0);
        }
    }
    handle(SIGBUS, on_bus_error, 0);
#ifndef SANITIZED
    install_crash_handlers();
#endif
}
