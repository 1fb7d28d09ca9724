// Loads a test library (or, built into an executable, is one) and runs its checks.
#include <dlfcn.h>
#include <stdio.h>

extern "C" {
#ifdef BUILT_IN
int probe();
void show();
#endif
}

int main(int argc, char **argv) {
#ifdef BUILT_IN
    (void)argc;
    (void)argv;
    show();
    return probe() == 42 ? 0 : 1;
#else
    void *h = argc > 1 ? dlopen(argv[1], RTLD_NOW) : nullptr;
    if (!h) {
        fprintf(stderr, "%s\n", dlerror());
        return 3;
    }
    auto show = reinterpret_cast<void (*)()>(dlsym(h, "show"));
    auto probe = reinterpret_cast<int (*)()>(dlsym(h, "probe"));
    if (!show || !probe) {
        return 3;
    }
    show();
    return probe() == 42 ? 0 : 1;
#endif
}
