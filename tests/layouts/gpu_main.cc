// Loads a CUDA test library (or is linked with one) and runs both of its units.
#include <dlfcn.h>
#include <stdio.h>

#ifdef BUILT_IN
extern "C" int unit1();
extern "C" int unit2();
int main() {
#else
int main(int argc, char **argv) {
    void *h = argc > 1 ? dlopen(argv[1], RTLD_NOW) : nullptr;
    if (!h) {
        printf("does not load: %s\n", dlerror());
        return 3;
    }
    auto unit1 = reinterpret_cast<int (*)()>(dlsym(h, "unit1"));
    auto unit2 = reinterpret_cast<int (*)()>(dlsym(h, "unit2"));
#endif
    const int a = unit1();
    const int b = unit2();
    printf("%d %d\n", a, b);
    return a || b;
}
