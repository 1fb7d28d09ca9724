// Which configuration a command sees: --config, else CUSLIM_CONFIG, else the nearest file upward.
#include "base/limits.h"
#include "base/mem.h"
#include "base/num.h"
#include "cli/cli.h"
#include "model/config.h"

static enum cs_code load(struct cs_cli *cli, struct cs_config *c, struct cs_err *err) {
    const char *named = cli->common.config ? cli->common.config : cs_cli_env("CUSLIM_CONFIG");
    if (named) {
        return cs_config_read(c, named, err);
    }
    struct cs_buf path;
    cs_buf_init(&path, CS_MAX_PATH_BYTES);
    enum cs_code code = cs_config_find(".", &path, err);
    if (code == CS_OK && path.len) {
        code = cs_config_read(c, path.ptr, err);
    }
    cs_buf_fini(&path);
    return code;
}

enum cs_code cs_cli_config(struct cs_cli *cli, const struct cs_config **config,
                           struct cs_err *err) {
    *config = cli->config;
    if (*config) {
        return CS_OK;
    }
    struct cs_config *c = cs_alloc(sizeof *c);
    if (!c) {
        return cs_fail(err, CS_NOMEM, "no memory for the configuration");
    }
    cs_config_init(c);
    cli->config = c;  // also when it fails: the frame frees it
    cli->config_failed = true;
    CS_TRY(load(cli, c, err));
    cli->config_failed = false;
    for (size_t i = 0; i < c->warnings.count; i++) {
        cs_cli_warn(cli, "%.*s", (int)c->warnings.ptr[i].len, c->warnings.ptr[i].ptr);
    }
    *config = c;
    return CS_OK;
}

enum cs_code cs_cli_routes(struct cs_cli *cli, const struct cs_list *words, struct cs_reach *reach,
                           struct cs_err *err) {
    for (size_t i = 0; i < words->items.count; i++) {
        const struct cs_str word = words->items.ptr[i];
        const size_t at = cs_str_find(word, CS_STR("="));
        if (at == SIZE_MAX || at == 0) {
            return cs_fail(err, CS_USAGE,
                           "--route: '%.*s' is not GLOB=DEVICES, such as 'sm90/*.so=9.0'",
                           (int)cs_min_u64(word.len, 100), word.ptr);
        }
        CS_TRY(cs_reach_add(reach, (struct cs_str){word.ptr, at},
                            (struct cs_str){word.ptr + at + 1, word.len - at - 1},
                            CS_STR("--route"), err));
    }
    const struct cs_config *config;
    CS_TRY(cs_cli_config(cli, &config, err));
    for (size_t i = 0; i < config->reach.routes.count; i++) {
        struct cs_route *route = cs_vec_push(&reach->routes);
        if (!route) {
            return cs_fail(err, CS_NOMEM, "no memory for the routes");
        }
        *route = config->reach.routes.ptr[i];
    }
    return CS_OK;
}

void cs_cli_config_free(struct cs_cli *cli) {
    if (cli->config) {
        cs_config_fini(cli->config);
        cs_free(cli->config);
        cli->config = NULL;
    }
}
