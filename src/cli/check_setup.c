// Options of a check: devices, drivers, promises, routes and budgets, from words or configuration.
#include "cli/check_setup.h"

#include "base/mem.h"
#include "base/path.h"
#include "cli/arch_common.h"

void cs_check_setup_fini(struct cs_check_setup *s) {
    cs_free(s->devices);
    cs_vec_fini(&s->drivers);
    cs_reach_fini(&s->reach);
    cs_archlist_fini(&s->declared);
    for (size_t i = 0; s->lists && i < s->source_count; i++) {
        cs_archlist_fini(&s->lists[i]);
    }
    cs_free(s->lists);
    cs_free(s->sources);
    cs_vec_fini(&s->budgets);
    cs_arena_fini(&s->arena);
}

// ---- devices and drivers ---------------------------------------------------------------------

static enum cs_code read_devices(struct cs_check_setup *s, const struct cs_check_args *args,
                                 const struct cs_config *config, struct cs_err *err) {
    if (args->device.items.count == 0 && config->devices.count) {
        s->devices = cs_calloc(config->devices.count, sizeof *s->devices);
        if (!s->devices) {
            return cs_fail(err, CS_NOMEM, "no memory for the devices");
        }
        for (size_t i = 0; i < config->devices.count; i++) {
            s->devices[s->device_count++] = config->devices.ptr[i];
        }
    } else {
        CS_TRY(cs_arch_devices(&args->device, true, &s->devices, &s->device_count, err));
    }
    s->options.asked = args->device.items.count > 0 || config->devices.count > 0;
    s->options.devices = s->devices;
    s->options.device_count = (uint32_t)s->device_count;
    return CS_OK;
}

static enum cs_code read_drivers(struct cs_check_setup *s, const struct cs_check_args *args,
                                 const struct cs_config *config, struct cs_err *err) {
    for (size_t i = 0; i < args->driver.items.count; i++) {
        struct cs_driver *driver = cs_vec_push(&s->drivers);
        if (!driver) {
            return cs_fail(err, CS_NOMEM, "no memory for the drivers");
        }
        const enum cs_code code = cs_driver_parse(args->driver.items.ptr[i], driver, err);
        if (code != CS_OK) {
            return cs_wrap(err, code, "--driver");
        }
    }
    if (s->drivers.count == 0 && cs_driver_known(config->driver)) {
        struct cs_driver *driver = cs_vec_push(&s->drivers);
        if (!driver) {
            return cs_fail(err, CS_NOMEM, "no memory for the drivers");
        }
        *driver = config->driver;
    }
    s->options.drivers = s->drivers.ptr;
    s->options.driver_count = (uint32_t)s->drivers.count;
    return CS_OK;
}

// ---- routes and promises ---------------------------------------------------------------------

static enum cs_code read_declared(struct cs_check_setup *s, const char *text, struct cs_err *err) {
    if (!text) {
        return CS_OK;
    }
    enum cs_code code = cs_archlist_parse(&s->declared, cs_str_from(text), NULL, err);
    if (code == CS_OK && s->declared.special != CS_ARCH_LISTED) {
        code = cs_archlist_expand(&s->declared, cs_toolkit_newest(), NULL, 0, err);
    }
    s->options.declared = &s->declared;
    return code == CS_OK ? CS_OK : cs_wrap(err, code, "--declared");
}

// "ptx" leaves out the SASS of the list; without a list nothing is promised but the kind.
static enum cs_code read_source(struct cs_check_setup *s, const struct cs_config *config, size_t i,
                                struct cs_err *err) {
    static const struct cs_archlist_options torch = {.notation = CS_NOTATION_TORCH};
    const struct cs_config_source *rule = &config->sources.ptr[i];
    const bool none = rule->ship == CS_SHIP_JIT || rule->ship == CS_SHIP_NONE;
    if (rule->arch.len && !none) {
        CS_TRY(cs_archlist_parse(&s->lists[i], rule->arch, &torch, err));
    }
    for (size_t k = 0; rule->ship == CS_SHIP_PTX && k < s->lists[i].entries.count; k++) {
        s->lists[i].entries.ptr[k].sass = false;
        s->lists[i].entries.ptr[k].ptx = true;
    }
    s->sources[i] = (struct cs_check_source){.files = rule->files,
                                             .file_count = rule->file_count,
                                             .arch = none ? NULL : &s->lists[i],
                                             .silent = !none && rule->arch.len == 0,
                                             .origin = rule->origin};
    return CS_OK;
}

static enum cs_code read_sources(struct cs_check_setup *s, const struct cs_config *config,
                                 struct cs_err *err) {
    const size_t count = config->sources.count;
    s->lists = cs_calloc(count + 1, sizeof *s->lists);
    s->sources = cs_calloc(count + 1, sizeof *s->sources);
    if (!s->lists || !s->sources) {
        return cs_fail(err, CS_NOMEM, "no memory for the configuration");
    }
    for (s->source_count = 0; s->source_count < count; s->source_count++) {
        cs_archlist_init(&s->lists[s->source_count]);
        const enum cs_code code = read_source(s, config, s->source_count, err);
        if (code != CS_OK) {
            cs_archlist_fini(&s->lists[s->source_count]);
            const struct cs_str origin = config->sources.ptr[s->source_count].origin;
            return cs_wrap(err, code, "%.*s", (int)origin.len, origin.ptr);
        }
    }
    s->options.sources = s->sources;
    s->options.source_count = (uint32_t)count;
    return CS_OK;
}

// ---- budgets ---------------------------------------------------------------------------------

static enum cs_code add_budget(struct cs_check_setup *s, struct cs_check_budget budget,
                               struct cs_err *err) {
    struct cs_check_budget *slot = cs_vec_push(&s->budgets);
    if (!slot) {
        return cs_fail(err, CS_NOMEM, "no memory for the budgets");
    }
    *slot = budget;
    return CS_OK;
}

// "wheel=300MiB", "installed=1G", or a limit by name alone: "pypi".
static enum cs_code read_budget(struct cs_check_setup *s, struct cs_str word, struct cs_err *err) {
    const size_t at = cs_str_find(word, CS_STR("="));
    const struct cs_str name = at == SIZE_MAX ? word : (struct cs_str){word.ptr, at};
    const struct cs_str size =
        at == SIZE_MAX ? word : (struct cs_str){word.ptr + at + 1, word.len - at - 1};
    const bool wheel = cs_str_eq(name, CS_STR("wheel"));
    const bool installed = cs_str_eq(name, CS_STR("installed"));
    uint64_t bytes;
    if ((at != SIZE_MAX && !wheel && !installed) || !cs_budget_parse(size, &bytes) || bytes == 0 ||
        (at == SIZE_MAX && word.len && word.ptr[0] >= '0' && word.ptr[0] <= '9')) {
        return cs_fail(err, CS_USAGE,
                       "--budget: '%.*s' is none of wheel=SIZE, installed=SIZE, pypi, nuget and "
                       "github",
                       (int)word.len, word.ptr);
    }
    return add_budget(
        s, (struct cs_check_budget){name, installed, bytes, CS_STR("--budget")}, err);
}

// "cuslim.toml:12"; .ptr NULL when out of memory.
static struct cs_str line_of(struct cs_check_setup *s, const struct cs_config *config,
                             uint32_t line) {
    const struct cs_str base = cs_path_base(config->path);
    return cs_arena_printf(&s->arena, "%.*s:%u", (int)base.len, base.ptr, line);
}

static enum cs_code config_budget(struct cs_check_setup *s, const struct cs_config *config,
                                  bool installed, struct cs_err *err) {
    const uint64_t bytes =
        installed ? config->budget.installed_bytes : config->budget.wheel_bytes;
    const uint32_t line = installed ? config->budget.installed_line : config->budget.wheel_line;
    if (bytes == 0) {
        return CS_OK;
    }
    const struct cs_str origin = line_of(s, config, line);
    if (!origin.ptr) {
        return cs_fail(err, CS_NOMEM, "no memory for the budgets");
    }
    const struct cs_str name = installed ? CS_STR("installed") : CS_STR("wheel");
    return add_budget(s, (struct cs_check_budget){name, installed, bytes, origin}, err);
}

static enum cs_code read_budgets(struct cs_check_setup *s, const struct cs_list *words,
                                 const struct cs_config *config, struct cs_err *err) {
    for (size_t i = 0; i < words->items.count; i++) {
        CS_TRY(read_budget(s, words->items.ptr[i], err));
    }
    if (words->items.count == 0) {
        CS_TRY(config_budget(s, config, false, err));
        CS_TRY(config_budget(s, config, true, err));
    }
    s->options.budgets = s->budgets.ptr;
    s->options.budget_count = (uint32_t)s->budgets.count;
    return CS_OK;
}

// ---- all of it -------------------------------------------------------------------------------

static struct cs_check_words words_of(const struct cs_list *list) {
    return (struct cs_check_words){list->items.ptr, (uint32_t)list->items.count};
}

enum cs_code cs_check_setup(struct cs_cli *cli, const struct cs_check_args *args,
                            struct cs_check_setup *out, struct cs_err *err) {
    const struct cs_config *config;
    *out = (struct cs_check_setup){0};
    cs_archlist_init(&out->declared);
    cs_arena_init(&out->arena);
    CS_TRY(cs_cli_config(cli, &config, err));
    CS_TRY(read_devices(out, args, config, err));
    CS_TRY(read_drivers(out, args, config, err));
    CS_TRY(cs_cli_routes(cli, &args->route, &out->reach, err));
    out->options.reach = &out->reach;
    CS_TRY(read_declared(out, args->declared, err));
    CS_TRY(read_sources(out, config, err));
    CS_TRY(read_budgets(out, &args->budget, config, err));
    CS_TRY(cs_check_rule_words(words_of(&args->select), err));
    CS_TRY(cs_check_rule_words(words_of(&args->ignore), err));
    out->options.exempt = words_of(&args->exempt);
    out->options.select = words_of(&args->select);
    out->options.ignore = words_of(&args->ignore);
    out->options.strict = args->strict;
    out->options.warn_only = args->warn_only;
    out->options.link = args->link;
    return CS_OK;
}
