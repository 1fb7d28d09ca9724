// cuslim config: what the configuration says, and where it says it.
#include "cli/cli.h"
#include "model/config.h"

struct config_opts {
    bool show_origin;
};

static const struct cs_opt opts[] = {
    CS_OPT(SWITCH, "show-origin", 0, struct config_opts, show_origin, NULL,
           "Print file and line of every value."),
    CS_OPT_LAST,
};

struct view {
    const struct cs_config *config;
    bool show_origin;
};

static void config_doc(const void *result, struct cs_doc *d) {
    static const struct cs_col cols[] = {{CS_COL_TEXT, "key", "key"},
                                         {CS_COL_NAME, "value", "value"},
                                         {CS_COL_NAME, "origin", "origin"}};
    const struct view *view = result;
    const struct cs_config *c = view->config;
    if (c->path.len == 0) {
        cs_doc_note(d, "There is no configuration: neither cuslim.toml nor [tool.cuslim] in "
                       "pyproject.toml, here or in a folder above.");
        return;
    }
    struct cs_table *t = cs_doc_table(d, NULL, cols, view->show_origin ? 3 : 2);
    for (size_t i = 0; i < c->values.count; i++) {
        const struct cs_config_value *v = &c->values.ptr[i];
        struct cs_cell *cells = cs_table_row(t);
        cells[0] = cs_cell_str(v->key);
        cells[1] = cs_cell_str(v->text);
        if (view->show_origin) {
            cells[2] = cs_cell_str(
                cs_doc_printf(d, "%.*s:%u", (int)c->path.len, c->path.ptr, v->line));
        }
    }
}

static void config_json(const void *result, struct cs_json *j) {
    const struct cs_config *c = ((const struct view *)result)->config;
    if (c->path.len) {
        cs_json_kstr(j, "path", c->path);
    } else {
        cs_json_knull(j, "path");
    }
    cs_json_key(j, "values");
    cs_json_array(j);
    for (size_t i = 0; i < c->values.count; i++) {
        cs_json_object(j);
        cs_json_kstr(j, "key", c->values.ptr[i].key);
        cs_json_kstr(j, "value", c->values.ptr[i].text);
        cs_json_ku64(j, "line", c->values.ptr[i].line);
        cs_json_object_end(j);
    }
    cs_json_array_end(j);
    cs_json_key(j, "warnings");
    cs_json_array(j);
    for (size_t i = 0; i < c->warnings.count; i++) {
        cs_json_str(j, c->warnings.ptr[i]);
    }
    cs_json_array_end(j);
}

static enum cs_code run(struct cs_cli *cli, const void *options, struct cs_err *err) {
    struct view view = {.show_origin = ((const struct config_opts *)options)->show_origin};
    CS_TRY(cs_cli_config(cli, &view.config, err));
    cli->full_names = true;
    return cs_cli_output(cli, &view, config_doc, config_json, err);
}

static const struct cs_example examples[] = {
    {"config --show-origin", "Every value of the configuration, with file and line."},
    {0},
};

const struct cs_cmd cs_cmd_config = {
    .name = "config",
    .group = CS_GROUP_OTHER,
    .summary = "Print the configuration and where each value is from",
    .description = "The configuration is the file of --config or CUSLIM_CONFIG, else the nearest "
                   "cuslim.toml, or pyproject.toml with [tool.cuslim], here or in a folder above. "
                   "See cuslim-config(5).",
    .examples = examples,
    .opts = opts,
    .opts_size = sizeof(struct config_opts),
    .run = run,
};
