// The library's front: runs every unit, and throws an exception across the moved part of the file.
#include <stdexcept>
extern "C" int check_unit_1();
extern "C" int check_unit_2();
extern "C" int check_unit_3();
static int thrower(int x) {
    if (x > 0) {
        throw std::runtime_error("expected");
    }
    return x;
}
extern "C" int check_all() {
    int rc = check_unit_1();
    rc = rc ? rc : check_unit_2();
    rc = rc ? rc : check_unit_3();
    try {
        thrower(rc == 0);
    } catch (const std::runtime_error &) {
        return rc;
    }
    return rc ? rc : 4000;
}
