// The host side of a test library: code, read-only data, an exception that crosses frames, zeroed
// and initialised data, thread-local data.  Everything is checked by probe().
#include <stdint.h>
#include <stdio.h>

#include <stdexcept>
#include <string>
#include <typeinfo>

namespace {
struct Thing {
    virtual ~Thing() = default;
    virtual int value() const { return 20; }
};
struct Better : Thing {
    int value() const override { return 22; }
};
const char text[] = "read-only data behind the containers";
uint32_t zeroed[5000];
uint32_t filled[64] = {1, 2, 3};
thread_local int local = 7;
const void *wrappers[64];
int wrapper_count;

__attribute__((noinline)) void thrower(int depth) {
    std::string held(100, 'x');
    if (depth == 0) {
        throw std::runtime_error(held);
    }
    thrower(depth - 1);
    filled[0] += static_cast<uint32_t>(held.size());
}
}  // namespace

extern "C" void register_wrapper(const void *wrapper) { wrappers[wrapper_count++] = wrapper; }

// 42 when code, data, virtual tables, thread-local data and exceptions all work.
extern "C" __attribute__((visibility("default"))) int probe() {
    int caught = 0;
    try {
        thrower(5);
    } catch (const std::exception &e) {
        caught = std::string(e.what()).size() == 100;
    }
    const Better better;
    const Thing *thing = &better;
    uint32_t sum = 0;
    for (uint32_t x : zeroed) {
        sum += x;
    }
    const bool fine = sum == 0 && filled[2] == 3 && local == 7 && text[0] == 'r' &&
                      dynamic_cast<const Better *>(thing) != nullptr;
    return fine && caught ? thing->value() + 20 : 1;
}

// Prints what each registered wrapper reaches: bytes of the container and a hash of them.
extern "C" __attribute__((visibility("default"))) void show() {
    for (int i = 0; i < wrapper_count; i++) {
        const uint8_t *const *record = static_cast<const uint8_t *const *>(wrappers[i]);
        const uint8_t *p = record[1];
        const uint64_t bytes = *reinterpret_cast<const uint64_t *>(p + 8) + 16;
        uint64_t hash = 1469598103934665603u;
        for (uint64_t k = 0; k < bytes; k++) {
            hash = (hash ^ p[k]) * 1099511628211u;
        }
        if (bytes == 16) {
            printf("empty\n");
        } else {
            printf("%llu %016llx\n", static_cast<unsigned long long>(bytes),
                   static_cast<unsigned long long>(hash));
        }
    }
}
