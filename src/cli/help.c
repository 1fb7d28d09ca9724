// Renders the command tables.  Nothing about a command is written down here.
#include "cli/help.h"

#include "cli/cli.h"
#include "format/json.h"

enum { INDENT = 2, HELP_COLUMN = 28 };

// Words from column `column` on, wrapped with that indent; `used` columns are taken already.
static void wrap(struct cs_buf *out, const char *text, size_t used, size_t column, uint32_t width) {
    if (used > column) {
        cs_buf_addc(out, '\n');
        used = 0;
    }
    cs_buf_pad(out, ' ', column - used);
    size_t at = column;
    while (*text) {
        const size_t len = strcspn(text, " ");
        if (at > column && at + 1 + len > width) {
            cs_buf_addc(out, '\n');
            cs_buf_pad(out, ' ', column);
            at = column;
        } else if (at > column) {
            cs_buf_addc(out, ' ');
            at++;
        }
        cs_buf_add(out, text, len);
        at += len;
        text += len + (text[len] == ' ');
    }
    cs_buf_addc(out, '\n');
}

// What an option does for this command (NULL: for commands in general).
static const char *help_of(const struct cs_cmd *cmd, const struct cs_opt *o) {
    if (cmd && (cmd->flags & CS_CMD_ARTEFACT) && strcmp(o->name, "output") == 0) {
        return "Write the new file to FILE. The report goes to standard output.";
    }
    return o->help;
}

static void put_option(struct cs_buf *out, const struct cs_cmd *cmd, const struct cs_opt *o,
                       uint32_t width) {
    const size_t start = out->len;
    if (o->letter) {
        cs_buf_printf(out, "  -%c, --", o->letter);
    } else {
        cs_buf_adds(out, o->one_dash ? "       -" : "      --");
    }
    cs_buf_printf(out, "%s%s", o->type == CS_OPT_FLAG ? "[no-]" : "", o->name);
    if (cs_opt_takes_value(o->type)) {
        cs_buf_printf(out, "=%s", o->metavar);
    }
    wrap(out, help_of(cmd, o), out->len - start, HELP_COLUMN, width);
}

static void put_options(struct cs_buf *out, const char *title, const struct cs_cmd *cmd,
                        const struct cs_opt *opts, uint32_t width) {
    if (!opts || opts->type == CS_OPT_END) {
        return;
    }
    cs_buf_printf(out, "\n%s:\n", title);
    for (; opts->type != CS_OPT_END; opts++) {
        if (!opts->hidden) {
            put_option(out, cmd, opts, width);
        }
    }
}

static void put_name(struct cs_buf *out, const struct cs_cmd *cmd, uint32_t width) {
    cs_buf_printf(out, "  %s", cmd->name);
    wrap(out, cmd->summary, INDENT + strlen(cmd->name), 14, width);
}

static void put_examples(struct cs_buf *out, const struct cs_example *examples, uint32_t width) {
    if (examples) {
        cs_buf_adds(out, "\nExamples:\n");
        for (; examples->words; examples++) {
            cs_buf_printf(out, "  cuslim %s\n", examples->words);
            wrap(out, examples->meaning, 0, 6, width);
        }
    }
}

void cs_help_program(struct cs_buf *out, uint32_t width) {
    cs_buf_adds(out, "Usage: cuslim COMMAND [options] [INPUT...]\n\n");
    wrap(out,
         "How CUDA device code ships in Python packages: measure it, judge it, plan and make the "
         "cuts. An INPUT is a wheel, a folder, a library, an executable, an object, an archive, a "
         "fatbin, a cubin, PTX, or a saved JSON report; its kind is read from its content. No CUDA "
         "toolkit and no GPU is needed.",
         0, 0, width);
    for (int g = 0; g < CS_GROUP_COUNT; g++) {
        bool any = false;
        for (const struct cs_cmd *const *c = cs_commands; *c; c++) {
            if ((int)(*c)->group == g && !((*c)->flags & CS_CMD_HIDDEN)) {
                if (!any) {
                    cs_buf_printf(out, "\n%s:\n", cs_group_title((enum cs_cmd_group)g));
                }
                any = true;
                put_name(out, *c, width);
            }
        }
    }
    put_options(out, "Options of every command", NULL, cs_common_opts, width);
    cs_buf_adds(out, "\nOther:\n");
    cs_buf_adds(out, "      --version             Print the version and stop.\n");
    cs_buf_adds(out,
                "\nExit codes: 0 fine, 1 a gate failed or a difference was found, 2 usage,\n"
                "3 invalid or unsupported input, 4 input/output or resources, 70 a bug of cuslim.\n"
                "'cuslim COMMAND --help' says more about a command.\n");
}

void cs_help_command(struct cs_buf *out, const struct cs_cmd *cmd, const char *path,
                     uint32_t width) {
    if (cmd->run) {
        cs_buf_printf(out, "Usage: cuslim %s [options]%s%s\n", path, cmd->args ? " " : "",
                      cmd->args ? cmd->args : "");
    }
    for (const struct cs_cmd *const *s = cmd->subs; s && *s; s++) {
        cs_buf_printf(out, "%s cuslim %s %s [options]%s%s\n",
                      cmd->run || s != cmd->subs ? "      " : "Usage:", path, (*s)->name,
                      (*s)->args ? " " : "", (*s)->args ? (*s)->args : "");
    }
    cs_buf_addc(out, '\n');
    cs_buf_printf(out, "%s.\n", cmd->summary);
    if (cmd->description) {
        cs_buf_addc(out, '\n');
        wrap(out, cmd->description, 0, 0, width);
    }
    if (cmd->subs) {
        cs_buf_adds(out, "\nCommands:\n");
        for (const struct cs_cmd *const *s = cmd->subs; *s; s++) {
            put_name(out, *s, width);
        }
    }
    put_options(out, "Options", cmd, cmd->opts, width);
    put_options(out, "Options of every command", cmd, cs_common_opts, width);
    put_examples(out, cmd->examples, width);
}

static const char *type_name(enum cs_opt_type type) {
    switch (type) {
    case CS_OPT_END: break;
    case CS_OPT_FLAG: return "flag";
    case CS_OPT_SWITCH: return "switch";
    case CS_OPT_TALLY: return "tally";
    case CS_OPT_STRING: return "string";
    case CS_OPT_PATH: return "path";
    case CS_OPT_DIR: return "folder";
    case CS_OPT_LIST: return "list";
    case CS_OPT_SIZE: return "size";
    case CS_OPT_NUMBER: return "number";
    case CS_OPT_TOP: return "top";
    case CS_OPT_CHOICE: return "choice";
    case CS_OPT_VALUE: return "value";
    }
    return "";
}

static void json_text(struct cs_json *j, const char *key, const char *z) {
    if (z) {
        cs_json_kz(j, key, z);
    } else {
        cs_json_knull(j, key);
    }
}

static void json_options(struct cs_json *j, const char *key, const struct cs_cmd *cmd,
                         const struct cs_opt *o) {
    cs_json_key(j, key);
    cs_json_array(j);
    for (; o && o->type != CS_OPT_END; o++) {
        if (o->hidden) {
            continue;
        }
        const char letter[2] = {o->letter, '\0'};
        cs_json_object(j);
        cs_json_kz(j, "name", o->name);
        json_text(j, "letter", o->letter ? letter : NULL);
        cs_json_kbool(j, "one_dash", o->one_dash);
        cs_json_kz(j, "type", type_name(o->type));
        json_text(j, "metavar", o->metavar);
        cs_json_kz(j, "help", help_of(cmd, o));
        cs_json_key(j, "choices");
        cs_json_array(j);
        for (const char *const *c = o->choices; c && *c; c++) {
            cs_json_z(j, *c);
        }
        cs_json_array_end(j);
        cs_json_object_end(j);
    }
    cs_json_array_end(j);
}

// Commands nest one level deep at most.
static void json_commands(struct cs_json *j, const struct cs_cmd *const *commands) {
    cs_json_array(j);
    for (; commands && *commands; commands++) {
        const struct cs_cmd *c = *commands;
        if (c->flags & CS_CMD_HIDDEN) {
            continue;
        }
        cs_json_object(j);
        cs_json_kz(j, "name", c->name);
        cs_json_kz(j, "group", cs_group_title(c->group));
        cs_json_kz(j, "summary", c->summary);
        json_text(j, "args", c->args);
        json_text(j, "description", c->description);
        cs_json_kbool(j, "runs", c->run != NULL);
        json_options(j, "options", c, c->opts);
        json_options(j, "common_options", c, cs_common_opts);
        cs_json_key(j, "examples");
        cs_json_array(j);
        for (const struct cs_example *e = c->examples; e && e->words; e++) {
            cs_json_object(j);
            cs_json_kz(j, "words", e->words);
            cs_json_kz(j, "meaning", e->meaning);
            cs_json_object_end(j);
        }
        cs_json_array_end(j);
        cs_json_key(j, "commands");
        json_commands(j, c->subs);
        cs_json_object_end(j);
    }
    cs_json_array_end(j);
}

void cs_help_json(struct cs_buf *out) {
    struct cs_json j;
    cs_json_init(&j, out, true);
    cs_json_object(&j);
    cs_json_kz(&j, "version", CUSLIM_VERSION);
    json_options(&j, "options", NULL, cs_common_opts);
    cs_json_key(&j, "commands");
    json_commands(&j, cs_commands);
    cs_json_object_end(&j);
    cs_buf_addc(out, '\n');
}
