// cuslim explain: what a rule means, why it exists, and what to do.
#include "analysis/rules.h"
#include "base/suggest.h"
#include "cli/cli.h"

struct explain {
    const struct cs_rule *rule;  // NULL: all of them
};

static void json_rule(struct cs_json *j, const struct cs_rule *r) {
    cs_json_object(j);
    cs_json_kz(j, "rule", r->id);
    cs_json_kz(j, "slug", r->slug);
    cs_json_kz(j, "severity", cs_severity_name(r->severity));
    cs_json_kz(j, "summary", r->summary);
    cs_json_kz(j, "cause", r->cause);
    cs_json_kz(j, "example", r->example);
    cs_json_kz(j, "cure", r->cure);
    cs_json_object_end(j);
}

static void explain_json(const void *result, struct cs_json *j) {
    const struct explain *e = result;
    uint32_t count = 1;
    const struct cs_rule *rules = e->rule ? e->rule : cs_rule_table(&count);
    cs_json_key(j, "rules");
    cs_json_array(j);
    for (uint32_t i = 0; i < count; i++) {
        json_rule(j, &rules[i]);
    }
    cs_json_array_end(j);
}

static void doc_all(struct cs_doc *d) {
    static const struct cs_col cols[] = {{CS_COL_TEXT, "rule", "rule"},
                                         {CS_COL_TEXT, "slug", "slug"},
                                         {CS_COL_TEXT, "severity", "severity"},
                                         {CS_COL_TEXT, "meaning", "summary"}};
    uint32_t count;
    const struct cs_rule *rules = cs_rule_table(&count);
    struct cs_table *t = cs_doc_table(d, NULL, cols, 4);
    for (uint32_t i = 0; i < count; i++) {
        struct cs_cell *c = cs_table_row(t);
        c[0] = cs_cell_z(rules[i].id);
        c[1] = cs_cell_z(rules[i].slug);
        c[2] = cs_cell_z(cs_severity_name(rules[i].severity));
        c[3] = cs_cell_z(rules[i].summary);
    }
}

static void explain_doc(const void *result, struct cs_doc *d) {
    const struct cs_rule *r = ((const struct explain *)result)->rule;
    if (!r) {
        doc_all(d);
        return;
    }
    cs_doc_text(d, NULL, "%s %s (%s): %s.", r->id, r->slug, cs_severity_name(r->severity),
                r->summary);
    cs_doc_text(d, "Cause", "%s", r->cause);
    cs_doc_text(d, "Example", "%s", r->example);
    cs_doc_text(d, "Cure", "%s", r->cure);
}

static enum cs_code unknown_word(const char *word, struct cs_err *err) {
    uint32_t count;
    const struct cs_rule *rules = cs_rule_table(&count);
    struct cs_suggest s = {.word = cs_str_from(word)};
    for (uint32_t i = 0; i < count; i++) {
        cs_suggest_offer(&s, rules[i].slug);
        cs_suggest_offer(&s, rules[i].id);
    }
    const char *best = cs_suggest_best(&s);
    return cs_fail(err, CS_USAGE, "nothing is known about '%.100s'%s%s%s", word,
                   best ? "; did you mean '" : "", best ? best : "", best ? "'?" : "");
}

static enum cs_code run(struct cs_cli *cli, const void *opts, struct cs_err *err) {
    (void)opts;
    struct explain e = {0};
    cli->full_names = true;
    if (cli->args.items.count > 0) {
        const char *word = cli->args.items.ptr[0];
        e.rule = cs_rule_find(cs_str_from(word));
        if (!e.rule) {
            return unknown_word(word, err);
        }
    }
    return cs_cli_output(cli, &e, explain_doc, explain_json, err);
}

static const struct cs_example examples[] = {
    {"explain", "Lists every rule."},
    {"explain uncovered-device", "What the rule means, an example and the cure."},
    {0},
};

const struct cs_cmd cs_cmd_explain = {
    .name = "explain",
    .group = CS_GROUP_JUDGE,
    .summary = "Say what a rule means, why it exists and what to do",
    .args = "[RULE]",
    .examples = examples,
    .args_max = 1,
    .run = run,
};
