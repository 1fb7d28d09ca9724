// Reach: which devices load which library, from the routes of the configuration.
//
// A package that picks one of several libraries by device tells so in its configuration
// ([[tool.cuslim.route]]).  A library that no route names is loaded by every device.
#ifndef CS_MODEL_REACH_H
#define CS_MODEL_REACH_H

#include "base/vec.h"
#include "model/device.h"

enum { CS_ROUTE_DEVICES_MAX = 64 };

struct cs_route {
    struct cs_str library;  // glob over member paths (base/glob.h)
    bool negated;           // "not 9.0": every device but these, known or still to come
    struct cs_device devices[CS_ROUTE_DEVICES_MAX];
    uint32_t device_count;
    struct cs_str origin;   // "cuslim.toml:12", for messages
};

struct cs_reach {
    CS_VEC(struct cs_route) routes;
};
void cs_reach_fini(struct cs_reach *r);

// Reads the `devices` text of a route: "9.0", "9.0 10.0", "not 9.0".  Texts are borrowed.
enum cs_code cs_reach_add(struct cs_reach *r, struct cs_str library, struct cs_str devices,
                          struct cs_str origin, struct cs_err *err) CS_MUST_USE;

// Is there any route for this library?  `r` NULL = no.
bool cs_reach_routed(const struct cs_reach *r, struct cs_str member);
// Does the device load it?  Several routes of one library add up.
bool cs_reach_has(const struct cs_reach *r, struct cs_str member, struct cs_device d);
// Do devices that are in no table yet load it?
bool cs_reach_open(const struct cs_reach *r, struct cs_str member);

#endif
