// Config: what a project says about itself, in [tool.cuslim] of pyproject.toml or in cuslim.toml.
//
// The keys are described in docs/man/cuslim-config.5.scd.  A wrong value is an error with file and
// line; an unknown key is a warning with the nearest known one, since newer programs may know more.
// Texts are borrowed from the arena.  A config that was read is constant; any thread may use it.
#ifndef CS_MODEL_CONFIG_H
#define CS_MODEL_CONFIG_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"
#include "model/reach.h"
#include "model/toolkit.h"

enum cs_ship { CS_SHIP_UNSET, CS_SHIP_SASS, CS_SHIP_PTX, CS_SHIP_JIT, CS_SHIP_NONE };
const char *cs_ship_name(enum cs_ship ship);  // "sass", ...; "" when unset

// The words of nvcc's --compress-mode.
enum cs_compress {
    CS_COMPRESS_UNSET,
    CS_COMPRESS_SIZE,
    CS_COMPRESS_BALANCE,
    CS_COMPRESS_SPEED,
    CS_COMPRESS_NONE,
};
const char *cs_compress_name(enum cs_compress compress);  // "size", ...; "" when unset

// How some source files ship.  The first rule whose globs match a file decides.
struct cs_config_source {
    const struct cs_str *files;  // globs, relative to the config's folder
    uint32_t file_count;
    struct cs_str arch;          // torch notation, checked; empty = not said
    enum cs_ship ship;
    uint32_t line;
    struct cs_str origin;        // "cuslim.toml:12"
};

// A limit on growth is a share or a number of bytes, whichever was written.
struct cs_config_budget {
    uint64_t wheel_bytes, installed_bytes;  // 0 = none
    uint64_t growth_bytes;                  // 0 = none
    uint32_t growth_permyriad;              // hundredths of a percent; 0 = none
    uint32_t wheel_line, installed_line, growth_line;
};

// One value as it was written, for `cuslim config`.
struct cs_config_value {
    struct cs_str key;   // "budget.wheel", "source[0].files"
    struct cs_str text;  // as TOML
    uint32_t line;
};

struct cs_config {
    struct cs_arena arena;
    struct cs_str path;    // of the file; empty = there is none
    struct cs_str folder;  // that `files` globs are relative to
    CS_VEC(struct cs_device) devices;
    uint32_t devices_line;    // 0 = not given
    struct cs_driver driver;  // parts 0 = not given
    uint32_t driver_line;
    enum cs_compress compress;
    struct cs_str record;  // where the launcher writes its records; empty = nowhere
    CS_VEC(struct cs_config_source) sources;
    struct cs_reach reach;
    struct cs_config_budget budget;
    CS_VEC(struct cs_config_value) values;  // in the order of the file
    CS_VEC(struct cs_str) warnings;         // "cuslim.toml:3: unknown key ..."
};

void cs_config_init(struct cs_config *c);
void cs_config_fini(struct cs_config *c);

// The nearest configuration at or above a folder: cuslim.toml, or a pyproject.toml that has
// [tool.cuslim].  Replaces *path; leaves it empty when there is none.
enum cs_code cs_config_find(const char *folder, struct cs_buf *path,
                            struct cs_err *err) CS_MUST_USE;

// Reads a file into an initialised config.  A file named pyproject.toml holds the keys in
// [tool.cuslim], any other at its top.  CS_USAGE: something in it is wrong.
enum cs_code cs_config_read(struct cs_config *c, const char *path, struct cs_err *err) CS_MUST_USE;
// The same from memory; `path` is for messages.
enum cs_code cs_config_parse(struct cs_config *c, struct cs_view text, struct cs_str path,
                             struct cs_err *err) CS_MUST_USE;

// The rule for a source file, NULL when there is none.  *second, when given, receives a later rule
// that matches as well (a warning of the caller's), or NULL.
const struct cs_config_source *cs_config_source_for(const struct cs_config *c, struct cs_str file,
                                                    const struct cs_config_source **second);

// "300 MiB", or an upload limit by name: pypi (100 MiB), github (2 GiB), nuget (250 MB).
bool cs_budget_parse(struct cs_str text, uint64_t *bytes);

#endif
