// Writing arch lists: each notation, and the flags that build systems make of a list.
#include <stdio.h>
#include <stdlib.h>

#include "model/archlist_impl.h"

static enum cs_code cannot_say(struct cs_err *err, enum cs_notation notation, const char *what,
                               const char *why) {
    return cs_fail(err, CS_UNSUPPORTED, "%s cannot be said in %s notation: %s", what,
                   cs_notation_name(notation), why);
}

// What the entry builds, for messages: "sm_90 from compute_80", "compute_90", "lto_90".
static void describe(const struct cs_arch_entry *e, char *out, size_t out_size) {
    char real[CS_TARGET_TEXT_BYTES], virt[CS_TARGET_TEXT_BYTES];
    cs_target_text(e->real, real);
    cs_target_text(e->virt, virt);
    if (e->lto) {
        snprintf(out, out_size, "lto_%s", real + 3);
    } else if (!e->sass) {
        snprintf(out, out_size, "%s", virt);
    } else if (cs_arch_entry_plain(e)) {
        snprintf(out, out_size, "%s", real);
    } else {
        snprintf(out, out_size, "%s from %s", real, virt);
    }
}

static enum cs_code print_torch(const struct cs_arch_entry *e, struct cs_buf *out,
                                struct cs_err *err) {
    char what[64], text[CS_TARGET_TEXT_BYTES];
    describe(e, what, sizeof what);
    if (e->lto) {
        return cannot_say(err, CS_NOTATION_TORCH, what, "it knows no LTO-IR");
    }
    if (!e->sass) {
        return cannot_say(err, CS_NOTATION_TORCH, what, "its +PTX always brings the SASS along");
    }
    cs_target_dotted(e->real, text);
    cs_buf_adds(out, text);
    if (!cs_arch_entry_plain(e)) {
        if (e->ptx) {
            return cannot_say(err, CS_NOTATION_TORCH, what,
                              "PTX beside it would be of another number");
        }
        cs_target_dotted(e->virt, text);
        cs_buf_printf(out, "(%s)", text);
    }
    cs_buf_adds(out, e->ptx ? "+PTX" : "");
    return CS_OK;
}

static enum cs_code print_cmake(const struct cs_arch_entry *e, struct cs_buf *out,
                                struct cs_err *err) {
    char what[64], text[CS_TARGET_TEXT_BYTES];
    describe(e, what, sizeof what);
    if (e->lto || (e->sass && !cs_arch_entry_plain(e))) {
        return cannot_say(err, CS_NOTATION_CMAKE, what,
                          e->lto ? "LTO-IR comes from INTERPROCEDURAL_OPTIMIZATION"
                                 : "SASS is always compiled from its own number");
    }
    cs_target_text(e->real, text);
    cs_buf_adds(out, text + 3);
    cs_buf_adds(out, !e->sass ? "-virtual" : !e->ptx ? "-real" : "");
    return CS_OK;
}

static enum cs_code print_dotted(const struct cs_arch_entry *e, enum cs_notation notation,
                                 struct cs_buf *out, struct cs_err *err) {
    char what[64], text[CS_TARGET_TEXT_BYTES];
    describe(e, what, sizeof what);
    if (!e->sass || !cs_arch_entry_plain(e) || e->lto) {
        return cannot_say(err, notation, what, "it names plain SASS targets alone");
    }
    if (e->ptx) {
        cs_target_text(e->virt, text);
        return cannot_say(err, notation, text, "it never keeps PTX");
    }
    if (notation == CS_NOTATION_FLASHINFER && !e->real.suffix && e->real.arch >= 90) {
        return cannot_say(err, notation, what, "FlashInfer adds a suffix to a plain 9.0 and later");
    }
    cs_target_dotted(e->real, text);
    cs_buf_adds(out, text);
    return CS_OK;
}

static enum cs_code print_targets(const struct cs_arch_entry *e, struct cs_buf *out,
                                  struct cs_err *err) {
    char what[64], text[CS_TARGET_TEXT_BYTES];
    describe(e, what, sizeof what);
    if (e->lto || (e->sass && !cs_arch_entry_plain(e))) {
        return cannot_say(err, CS_NOTATION_TARGETS, what, "it names images, not how they are made");
    }
    if (e->sass) {
        cs_target_text(e->real, text);
        cs_buf_adds(out, text);
    }
    if (e->ptx) {
        cs_target_text(e->virt, text);
        cs_buf_printf(out, "%s%s", e->sass ? "," : "", text);
    }
    return CS_OK;
}

// One flag a code: brackets would have to be quoted in a shell.
static void print_gencode(const struct cs_arch_entry *e, struct cs_buf *out) {
    char real[CS_TARGET_TEXT_BYTES], virt[CS_TARGET_TEXT_BYTES];
    cs_target_text(e->real, real);
    cs_target_text(e->virt, virt);
    const char *between = "";
    if (e->sass) {
        cs_buf_printf(out, "-gencode=arch=%s,code=%s", virt, real);
        between = " ";
    }
    if (e->ptx) {
        cs_buf_printf(out, "%s-gencode=arch=%s,code=%s", between, virt, virt);
        between = " ";
    }
    if (e->lto) {
        cs_buf_printf(out, "%s-gencode=arch=%s,code=lto_%s", between, virt, real + 3);
    }
}

static enum cs_code print_special(const struct cs_archlist *list, enum cs_notation notation,
                                  struct cs_buf *out, struct cs_err *err) {
    const char *name = cs_arch_special_name(list->special);
    const bool off = list->special == CS_ARCH_OFF;
    // torch's `native` adds PTX, the others' does not: the same word, another meaning.
    const bool torch_native =
        list->special == CS_ARCH_NATIVE &&
        (notation == CS_NOTATION_TORCH || list->notation == CS_NOTATION_TORCH);
    const bool same = notation == list->notation;
    if (notation == CS_NOTATION_NVCC && !off && (same || !torch_native)) {
        cs_buf_printf(out, "-arch=%s", name);
        return CS_OK;
    }
    if (notation == CS_NOTATION_CMAKE && list->entries.count == 0 && (same || !torch_native)) {
        cs_buf_adds(out, name);
        return CS_OK;
    }
    if (same && torch_native) {
        cs_buf_adds(out, name);
        return CS_OK;
    }
    char what[40];
    snprintf(what, sizeof what, "\"%s\"", name);
    return cannot_say(err, notation, what,
                      off ? "it asks for no flags at all"
                          : "it depends on the toolkit or the machine; expand it first");
}

static enum cs_code print_entry(const struct cs_arch_entry *e, enum cs_notation notation,
                                struct cs_buf *out, struct cs_err *err) {
    switch (notation) {
        case CS_NOTATION_TORCH: return print_torch(e, out, err);
        case CS_NOTATION_CMAKE: return print_cmake(e, out, err);
        case CS_NOTATION_NVCC: print_gencode(e, out); return CS_OK;
        case CS_NOTATION_FLASHINFER:
        case CS_NOTATION_TVM_FFI: return print_dotted(e, notation, out, err);
        case CS_NOTATION_TARGETS: return print_targets(e, out, err);
        case CS_NOTATION_AUTO: break;
    }
    return cs_fail(err, CS_INTERNAL, "no notation to write in");
}

static const char *separator(enum cs_notation notation) {
    return notation == CS_NOTATION_TORCH || notation == CS_NOTATION_CMAKE ? ";"
           : notation == CS_NOTATION_TARGETS                              ? ","
                                                                          : " ";
}

enum cs_code cs_archlist_print(const struct cs_archlist *list, enum cs_notation notation,
                               struct cs_buf *out, struct cs_err *err) {
    const char *between = "";
    const int32_t clash = notation == CS_NOTATION_NVCC ? cs_arch_family_clash(list) : -1;
    if (clash >= 0) {
        char name[CS_TARGET_TEXT_BYTES];
        cs_target_text(list->entries.ptr[clash].real, name);
        return cannot_say(err, notation, name, CS_ARCH_CLASH_TEXT);
    }
    if (list->special != CS_ARCH_LISTED) {
        CS_TRY(print_special(list, notation, out, err));
        between = separator(notation);
    }
    struct cs_archlist merged;
    cs_archlist_init(&merged);
    enum cs_code code = cs_archlist_merge(list, &merged, err);
    for (size_t i = 0; i < merged.entries.count && code == CS_OK; i++) {
        cs_buf_adds(out, between);
        between = separator(notation);
        code = print_entry(&merged.entries.ptr[i], notation, out, err);
    }
    cs_archlist_fini(&merged);
    return code == CS_OK ? cs_buf_check(out, err) : code;
}

// torch sorts the texts of its flags and drops repetitions: over the table of targets, whatever
// the length of the list.
static enum cs_code flags_torch(const struct cs_archlist *list, struct cs_buf *out,
                                struct cs_err *err) {
    for (size_t i = 0; i < list->issues.count; i++) {
        const struct cs_arch_issue *issue = &list->issues.ptr[i];
        if (issue->id == CS_ARCH_NOT_READ_BY) {
            return cs_fail(err, CS_UNSUPPORTED, "\"%.*s\": %s", (int)issue->token.len,
                           issue->token.ptr, issue->text.ptr);
        }
    }
    if (list->special != CS_ARCH_LISTED) {
        return cs_fail(err, CS_UNSUPPORTED, "\"%s\" depends on the machine; expand it first",
                       cs_arch_special_name(list->special));
    }
    bool wanted[CS_ARCH_ROWS_MAX][2] = {{false}};
    for (size_t i = 0; i < list->entries.count; i++) {
        const struct cs_arch_entry *e = &list->entries.ptr[i];
        struct cs_buf scratch;
        cs_buf_init(&scratch, 64);
        const enum cs_code code = print_torch(e, &scratch, err);  // for its refusals
        cs_buf_fini(&scratch);
        CS_TRY(code);
        wanted[cs_arch_row_index(e->real)][0] = true;
        wanted[cs_arch_row_index(e->real)][1] |= e->ptx;
    }
    uint32_t count, flag_count = 0;
    const struct cs_target_row *rows = cs_target_table(&count);
    char flags[2 * CS_ARCH_ROWS_MAX][64];
    for (uint32_t i = 0; i < count; i++) {
        for (int ptx = 0; ptx < 2; ptx++) {
            if (wanted[i][ptx]) {
                const struct cs_target t = {rows[i].arch, rows[i].suffix, false};
                struct cs_arch_entry e = cs_arch_entry_of(t, !ptx, ptx == 1);
                struct cs_buf one;
                cs_buf_init(&one, 63);
                print_gencode(&e, &one);
                snprintf(flags[flag_count++], sizeof flags[0], "%s", one.ptr ? one.ptr : "");
                cs_buf_fini(&one);
            }
        }
    }
    qsort(flags, flag_count, sizeof flags[0], (int (*)(const void *, const void *))strcmp);
    for (uint32_t i = 0; i < flag_count; i++) {
        cs_buf_printf(out, "%s%s", i ? " " : "", flags[i]);
    }
    return cs_buf_check(out, err);
}

static enum cs_code flags_cmake(const struct cs_archlist *list, struct cs_buf *out,
                                struct cs_err *err) {
    if (list->special == CS_ARCH_OFF) {
        return CS_OK;
    }
    if (list->special != CS_ARCH_LISTED) {  // nvcc 11.5 and later resolves these itself
        cs_buf_printf(out, "-arch=%s", cs_arch_special_name(list->special));
        return cs_buf_check(out, err);
    }
    for (size_t i = 0; i < list->entries.count; i++) {
        const struct cs_arch_entry *e = &list->entries.ptr[i];
        struct cs_buf scratch;
        cs_buf_init(&scratch, 64);
        const enum cs_code code = print_cmake(e, &scratch, err);
        cs_buf_fini(&scratch);
        CS_TRY(code);
        char real[CS_TARGET_TEXT_BYTES], virt[CS_TARGET_TEXT_BYTES];
        cs_target_text(e->real, real);
        cs_target_text(e->virt, virt);
        cs_buf_printf(out, "%s--generate-code=arch=%s,code=[%s%s%s]", i ? " " : "", virt,
                      e->ptx ? virt : "", e->ptx && e->sass ? "," : "", e->sass ? real : "");
    }
    return cs_buf_check(out, err);
}

// `-gencode arch=A,code=C` (a space), SASS then compute_N for +PTX; in list order.
static enum cs_code flags_vllm(const struct cs_archlist *list, struct cs_buf *out,
                               struct cs_err *err) {
    if (list->special != CS_ARCH_LISTED) {
        return cs_fail(err, CS_UNSUPPORTED, "\"%s\": vLLM takes lists alone",
                       cs_arch_special_name(list->special));
    }
    const char *between = "";
    for (size_t i = 0; i < list->entries.count; i++) {
        const struct cs_arch_entry *e = &list->entries.ptr[i];
        struct cs_buf scratch;
        cs_buf_init(&scratch, 64);
        const enum cs_code code = print_torch(e, &scratch, err);
        cs_buf_fini(&scratch);
        CS_TRY(code);
        char real[CS_TARGET_TEXT_BYTES], virt[CS_TARGET_TEXT_BYTES];
        cs_target_text(e->real, real);
        cs_target_text(e->virt, virt);
        cs_buf_printf(out, "%s-gencode arch=%s,code=%s", between, virt, real);
        if (e->ptx) {
            cs_buf_printf(out, " -gencode arch=%s,code=%s", virt, virt);
        }
        between = " ";
    }
    return cs_buf_check(out, err);
}

enum cs_code cs_archlist_flags(const struct cs_archlist *list, enum cs_flag_style style,
                               struct cs_buf *out, struct cs_err *err) {
    switch (style) {
        case CS_FLAGS_TORCH: return flags_torch(list, out, err);
        case CS_FLAGS_CMAKE: return flags_cmake(list, out, err);
        case CS_FLAGS_VLLM: return flags_vllm(list, out, err);
    }
    return cs_fail(err, CS_INTERNAL, "no such style");
}
