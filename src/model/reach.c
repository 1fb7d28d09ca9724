// Routes: a handful, so every question walks them all.

#include "model/reach.h"

#include "base/glob.h"
#include "base/mem.h"

void cs_reach_fini(struct cs_reach *r) { cs_vec_fini(&r->routes); }

static bool is_separator(char c) { return c == ' ' || c == ',' || c == ';' || c == '\t'; }

static struct cs_str next_word(struct cs_str *rest) {
    size_t from = 0;
    while (from < rest->len && is_separator(rest->ptr[from])) {
        from++;
    }
    size_t to = from;
    while (to < rest->len && !is_separator(rest->ptr[to])) {
        to++;
    }
    const struct cs_str word = {rest->ptr + from, to - from};
    *rest = (struct cs_str){rest->ptr + to, rest->len - to};
    return word;
}

enum cs_code cs_reach_add(struct cs_reach *r, struct cs_str library, struct cs_str devices,
                          struct cs_str origin, struct cs_err *err) {
    struct cs_route route = {.library = library, .origin = origin};
    struct cs_str rest = devices;
    for (struct cs_str word = next_word(&rest); word.len; word = next_word(&rest)) {
        struct cs_device d;
        if (cs_str_eq(word, CS_STR("not")) && !route.negated && route.device_count == 0) {
            route.negated = true;
        } else if (!cs_device_parse(word, &d)) {
            return cs_fail(err, CS_USAGE, "%.*s: route devices: '%.*s' is not a device such as 9.0",
                           (int)origin.len, origin.ptr, (int)word.len, word.ptr);
        } else if (route.device_count == CS_ROUTE_DEVICES_MAX) {
            return cs_fail(err, CS_LIMIT, "%.*s: more than %d devices in one route",
                           (int)origin.len, origin.ptr, CS_ROUTE_DEVICES_MAX);
        } else {
            route.devices[route.device_count++] = cs_device_canonical(d);
        }
    }
    if (route.device_count == 0) {
        return cs_fail(err, CS_USAGE, "%.*s: route without devices", (int)origin.len, origin.ptr);
    }
    struct cs_route *slot = cs_vec_push(&r->routes);
    if (!slot) {
        return cs_fail(err, CS_NOMEM, "no memory for a route");
    }
    *slot = route;
    return CS_OK;
}

bool cs_reach_routed(const struct cs_reach *r, struct cs_str member) {
    for (size_t i = 0; r && i < r->routes.count; i++) {
        if (cs_glob_match_tail(r->routes.ptr[i].library, member)) {
            return true;
        }
    }
    return false;
}

static bool names(const struct cs_route *route, struct cs_device d) {
    for (uint32_t k = 0; k < route->device_count; k++) {
        if (cs_device_eq(route->devices[k], d)) {
            return true;
        }
    }
    return false;
}

bool cs_reach_has(const struct cs_reach *r, struct cs_str member, struct cs_device d) {
    bool routed = false;
    for (size_t i = 0; r && i < r->routes.count; i++) {
        if (cs_glob_match_tail(r->routes.ptr[i].library, member)) {
            routed = true;
            if (names(&r->routes.ptr[i], d) != r->routes.ptr[i].negated) {
                return true;
            }
        }
    }
    return !routed;
}

bool cs_reach_open(const struct cs_reach *r, struct cs_str member) {
    bool routed = false;
    for (size_t i = 0; r && i < r->routes.count; i++) {
        if (cs_glob_match_tail(r->routes.ptr[i].library, member)) {
            routed = true;
            if (r->routes.ptr[i].negated) {
                return true;
            }
        }
    }
    return !routed;
}
