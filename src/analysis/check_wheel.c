// Wheel rules: would an index take the file, would installers agree on what is in it, and do its
// names say what it holds?
//
// Facts come from format/zip.h, format/record.h and format/wheel.h; here they become findings.
// What package indexes refuse (ambiguous ZIP structure, RECORD that does not match) is an error;
// what is common in published wheels and harms nobody is a note.
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "analysis/check_work.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "format/wheel.h"

enum { FAULTS_SHOWN = 100 };

struct wheel_check {
    struct cs_check *c;
    const struct cs_check_look *look;  // files by member index
    struct cs_str where;               // the wheel's name
    struct cs_zip zip;
    struct cs_wheel wheel;
    struct cs_wheel_name name;
    bool named;  // `name` is valid
};

#define REPACK CS_STR("Pack the wheel again from its unpacked files.")

// ---- ZIP -------------------------------------------------------------------------------------

static const struct {
    uint32_t fault;
    enum cs_severity severity;
    const char *text;
} file_faults[] = {
    {CS_ZIP_FILE_COUNT, CS_SEVERITY_ERROR, "the end record counts other than the directory holds"},
    {CS_ZIP_FILE_EOCD64, CS_SEVERITY_ERROR, "the ZIP64 end record contradicts the plain one"},
    {CS_ZIP_FILE_OFFSET, CS_SEVERITY_ERROR, "the directory is not where the end record says"},
    {CS_ZIP_FILE_EOCDS, CS_SEVERITY_ERROR, "more than one end record"},
    {CS_ZIP_FILE_GAPS, CS_SEVERITY_ERROR, "bytes between the records that no record owns"},
    {CS_ZIP_FILE_PREFIX, CS_SEVERITY_ERROR, "bytes before the first member"},
    {CS_ZIP_FILE_TRAILING, CS_SEVERITY_ERROR, "bytes after the end record"},
    {CS_ZIP_FILE_COMMENT, CS_SEVERITY_NOTE, "an archive comment"},
};

static const struct {
    uint32_t fault;
    enum cs_severity severity;
    const char *text;
} member_faults[] = {
    {CS_ZIP_FAULT_DUPLICATE, CS_SEVERITY_ERROR, "the name occurs twice"},
    {CS_ZIP_FAULT_LOCAL_MISMATCH, CS_SEVERITY_ERROR, "local and central header disagree"},
    {CS_ZIP_FAULT_BAD_NAME, CS_SEVERITY_ERROR, "a name that leaves the folder, or no name"},
    {CS_ZIP_FAULT_OVERLAP, CS_SEVERITY_ERROR, "shares bytes with another member"},
    {CS_ZIP_FAULT_ZIP64, CS_SEVERITY_ERROR, "its ZIP64 field is missing, useless or wrong"},
    {CS_ZIP_FAULT_METHOD, CS_SEVERITY_ERROR, "encrypted, or neither stored nor deflated"},
    {CS_ZIP_FAULT_UNICODE, CS_SEVERITY_ERROR, "a name that is not marked as UTF-8, or is not"},
    {CS_ZIP_FAULT_EXTRA, CS_SEVERITY_ERROR, "malformed or repeated extra fields"},
    {CS_ZIP_FAULT_COMMENT, CS_SEVERITY_NOTE, "a comment on the member"},
};

static void judge_zip(struct wheel_check *w) {
    for (size_t i = 0; i < sizeof file_faults / sizeof *file_faults; i++) {
        if (w->zip.faults & file_faults[i].fault) {
            cs_check_add_as(w->c, "zip-invalid", file_faults[i].severity, w->where, REPACK, "%s",
                            file_faults[i].text);
        }
    }
    uint32_t shown = 0;
    for (size_t m = 0; m < w->zip.members.count; m++) {
        const struct cs_zip_member *x = &w->zip.members.ptr[m];
        for (size_t i = 0; i < sizeof member_faults / sizeof *member_faults; i++) {
            if ((x->faults & member_faults[i].fault) && shown++ < FAULTS_SHOWN) {
                cs_check_add_as(w->c, "zip-invalid", member_faults[i].severity, w->where, REPACK,
                                "%.*s: %s", (int)(x->name.len > 256 ? 256 : x->name.len),
                                x->name.ptr, member_faults[i].text);
            }
        }
    }
    if (shown > FAULTS_SHOWN) {
        cs_check_add(w->c, "zip-invalid", w->where, REPACK, "%u more faults of members",
                     shown - FAULTS_SHOWN);
    }
}

// ---- RECORD ----------------------------------------------------------------------------------

static const char *record_text(enum cs_record_fault_kind kind) {
    switch (kind) {
    case CS_RECORD_FAULT_MISSING_ROW: return "is in the wheel but not in RECORD";
    case CS_RECORD_FAULT_EXTRA_ROW: return "is in RECORD but not in the wheel";
    case CS_RECORD_FAULT_WRONG_HASH: return "sha256 differs from its row";
    case CS_RECORD_FAULT_WRONG_SIZE: return "size differs from its row";
    case CS_RECORD_FAULT_NO_HASH: return "its row has no hash";
    case CS_RECORD_FAULT_NO_SIZE: return "its row has no size";
    case CS_RECORD_FAULT_BAD_HASH: return "the hash in its row is malformed";
    case CS_RECORD_FAULT_WEAK_HASH: return "the hash in its row is of a forbidden kind";
    case CS_RECORD_FAULT_OTHER_HASH: return "the hash in its row is not sha256: not checked";
    case CS_RECORD_FAULT_PADDED_HASH: return "the hash in its row is padded with '='";
    case CS_RECORD_FAULT_NOT_URLSAFE_HASH: return "the hash in its row is not url-safe base64";
    case CS_RECORD_FAULT_BAD_SIZE: return "the size in its row is no number";
    case CS_RECORD_FAULT_DIRECTORY_ROW: return "a row for a folder";
    case CS_RECORD_FAULT_DUPLICATE_ROW: return "has two rows";
    case CS_RECORD_FAULT_BAD_PATH: return "a path that leaves the folder";
    case CS_RECORD_FAULT_BAD_ROW: return "a row that is not three fields of CSV";
    case CS_RECORD_FAULT_SELF_HASHED: return "RECORD lists a hash or size of itself";
    case CS_RECORD_FAULT_EMPTY_LINE: return "empty lines";
    }
    return "differs";
}

static enum cs_severity record_severity(enum cs_record_fault_kind kind) {
    return kind == CS_RECORD_FAULT_OTHER_HASH || kind == CS_RECORD_FAULT_EMPTY_LINE
               ? CS_SEVERITY_NOTE
               : CS_SEVERITY_ERROR;
}

static void report_record(struct wheel_check *w, const struct cs_record_faults *faults) {
    uint32_t shown = 0;
    for (size_t i = 0; i < faults->list.count; i++) {
        const struct cs_record_fault *f = &faults->list.ptr[i];
        const struct cs_str path = f->file != CS_RECORD_NONE ? w->zip.members.ptr[f->file].name
                                   : f->row != CS_RECORD_NONE
                                       ? w->wheel.record.rows.ptr[f->row].path
                                       : CS_STR("RECORD");
        if (shown++ < FAULTS_SHOWN) {
            cs_check_add_as(w->c, "record-mismatch", record_severity(f->kind), w->where,
                            CS_STR("Write RECORD last: `wheel pack` does, and cuslim slim."),
                            "%.*s: %s (%s)", (int)(path.len > 256 ? 256 : path.len), path.ptr,
                            record_text(f->kind), cs_record_fault_name(f->kind));
        }
    }
    if (shown > FAULTS_SHOWN) {
        cs_check_add(w->c, "record-mismatch", w->where,
                     CS_STR("Write RECORD last: `wheel pack` does, and cuslim slim."),
                     "%u more rows differ", shown - FAULTS_SHOWN);
    }
}

// Hashes by member.  A file that could not be read has none; that is a finding of its own.
static uint8_t *collect_hashes(const struct wheel_check *w) {
    uint8_t *hashes = cs_calloc(w->zip.members.count + 1, CS_SHA256_BYTES);
    for (size_t i = 0; hashes && i < w->look->files.count; i++) {
        const struct cs_check_file *f = &w->look->files.ptr[i];
        if (f->hashed && f->index < w->zip.members.count) {
            memcpy(hashes + (size_t)f->index * CS_SHA256_BYTES, f->sha256, CS_SHA256_BYTES);
        }
    }
    return hashes;
}

static enum cs_code judge_record(struct wheel_check *w, struct cs_err *err) {
    if (w->wheel.record_member == CS_RECORD_NONE) {
        return CS_OK;
    }
    struct cs_record_faults faults = {0};
    uint8_t *hashes = w->look->hash ? collect_hashes(w) : NULL;
    if (w->look->hash && !hashes) {
        return cs_fail(err, CS_NOMEM, "no memory for hashes");
    }
    const enum cs_code code = cs_wheel_verify_record(&w->wheel, &w->zip, hashes, &faults, err);
    if (code == CS_OK) {
        report_record(w, &faults);
    }
    cs_vec_fini(&faults.list);
    cs_free(hashes);
    return code;
}

// ---- metadata --------------------------------------------------------------------------------

static const struct {
    uint32_t fault;
    enum cs_severity severity;
    const char *text;
} wheel_faults[] = {
    {CS_WHEEL_NO_DIST_INFO, CS_SEVERITY_ERROR, "no dist-info folder"},
    {CS_WHEEL_SEVERAL_DIST_INFO, CS_SEVERITY_ERROR, "more than one dist-info folder"},
    {CS_WHEEL_NO_RECORD, CS_SEVERITY_ERROR, "no RECORD"},
    {CS_WHEEL_NO_METADATA, CS_SEVERITY_ERROR, "no METADATA"},
    {CS_WHEEL_NO_WHEEL, CS_SEVERITY_ERROR, "no file WHEEL in dist-info"},
    {CS_WHEEL_NO_VERSION, CS_SEVERITY_ERROR, "WHEEL has no Wheel-Version that is known"},
    {CS_WHEEL_NO_TAG, CS_SEVERITY_ERROR, "WHEEL has no Tag"},
    {CS_WHEEL_NO_NAME, CS_SEVERITY_ERROR, "METADATA has no Name or no Version"},
    {CS_WHEEL_FOLDER_DIFFERS, CS_SEVERITY_ERROR,
     "the dist-info folder and METADATA disagree on name or version"},
    {CS_WHEEL_NAME_DIFFERS, CS_SEVERITY_ERROR,
     "the file's name and METADATA disagree on name or version"},
    {CS_WHEEL_FOLDER_SPELLING, CS_SEVERITY_WARNING,
     "the dist-info folder is not spelled as the file's name: indexes look for it there"},
    {CS_WHEEL_TAGS_DIFFER, CS_SEVERITY_WARNING,
     "the file's name and WHEEL give different tags (tools that retag forget one)"},
    {CS_WHEEL_BUILD_DIFFERS, CS_SEVERITY_WARNING,
     "the file's name and WHEEL give different build numbers"},
};

static enum cs_code judge_metadata(struct wheel_check *w, struct cs_err *err) {
    uint32_t faults = w->wheel.faults, named = 0;
    if (w->named) {
        CS_TRY(cs_wheel_compare_name(&w->wheel, &w->name, &named, err));
    } else {
        cs_check_add(w->c, "wheel-metadata", w->where,
                     CS_STR("NAME-VERSION(-BUILD)-PYTHON-ABI-PLATFORM.whl, as the build made it."),
                     "the file's name is no wheel name: installers refuse it");
    }
    faults |= named;
    for (size_t i = 0; i < sizeof wheel_faults / sizeof *wheel_faults; i++) {
        if (faults & wheel_faults[i].fault) {
            cs_check_add_as(w->c, "wheel-metadata", wheel_faults[i].severity, w->where, CS_STR(""),
                            "%s", wheel_faults[i].text);
        }
    }
    return CS_OK;
}

// ---- tags against content --------------------------------------------------------------------

static bool has(struct cs_str text, const char *part) {
    return cs_str_find(text, cs_str_from(part)) != SIZE_MAX;
}

static const char *machine_name(uint16_t machine) {
    return machine == EM_X86_64 ? "x86_64" : machine == EM_AARCH64 ? "aarch64" : "another machine";
}

static bool platform_takes(struct cs_str platform, uint16_t machine) {
    return (machine == EM_X86_64 && has(platform, "x86_64")) ||
           (machine == EM_AARCH64 && has(platform, "aarch64")) ||
           (machine != EM_X86_64 && machine != EM_AARCH64);
}

// Reads digits; false when there are none.
static bool take_number(struct cs_str *s, uint32_t *out) {
    size_t n = 0;
    *out = 0;
    while (n < s->len && n < 4 && s->ptr[n] >= '0' && s->ptr[n] <= '9') {
        *out = *out * 10 + (uint32_t)(s->ptr[n++] - '0');
    }
    *s = (struct cs_str){s->ptr + n, s->len - n};
    return n > 0;
}

// The oldest glibc that the tags promise, as major * 1000 + minor; 0 when they promise none.
static uint32_t promised_glibc(struct cs_str platform) {
    static const struct {
        const char *tag;
        uint32_t glibc;
    } names[] = {{"manylinux1_", 2005}, {"manylinux2010_", 2012}, {"manylinux2014_", 2017}};
    uint32_t oldest = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (has(platform, names[i].tag) && (!oldest || names[i].glibc < oldest)) {
            oldest = names[i].glibc;
        }
    }
    struct cs_str rest = platform;
    for (size_t at; (at = cs_str_find(rest, CS_STR("manylinux_"))) != SIZE_MAX;) {
        rest = (struct cs_str){rest.ptr + at + 10, rest.len - at - 10};
        uint32_t major, minor;
        if (take_number(&rest, &major) && rest.len && rest.ptr[0] == '_') {
            rest = (struct cs_str){rest.ptr + 1, rest.len - 1};
            if (take_number(&rest, &minor) && (!oldest || major * 1000 + minor < oldest)) {
                oldest = major * 1000 + minor;
            }
        }
    }
    return oldest;
}

static void judge_platform(struct wheel_check *w) {
    const struct cs_check_file *newest = NULL, *wrong = NULL, *library = NULL;
    for (size_t i = 0; i < w->look->files.count; i++) {
        const struct cs_check_file *f = &w->look->files.ptr[i];
        if (!f->elf || (f->elf_type != ET_DYN && f->elf_type != ET_EXEC)) {
            continue;
        }
        library = library ? library : f;
        wrong = !wrong && !platform_takes(w->name.platform, f->machine) ? f : wrong;
        if (!newest || f->glibc_major > newest->glibc_major ||
            (f->glibc_major == newest->glibc_major && f->glibc_minor > newest->glibc_minor)) {
            newest = f;
        }
    }
    const bool any = cs_str_eq(w->name.platform, CS_STR("any"));
    if (library && (any || w->wheel.purelib)) {
        cs_check_add_as(w->c, "tag-mismatch", any ? CS_SEVERITY_WARNING : CS_SEVERITY_NOTE,
                        w->where,
                        CS_STR("Build it as a platform wheel: has_ext_modules, or the tag of the "
                               "build tool."),
                        "%s, yet %.*s holds code for %s",
                        any ? "the tag says any platform" : "WHEEL says Root-Is-Purelib",
                        (int)library->path.len, library->path.ptr, machine_name(library->machine));
    } else if (wrong) {
        cs_check_add(w->c, "tag-mismatch", w->where, CS_STR("Correct the platform tag."),
                     "the platform tag is %.*s, but %.*s is built for %s",
                     (int)w->name.platform.len, w->name.platform.ptr, (int)wrong->path.len,
                     wrong->path.ptr, machine_name(wrong->machine));
    }
    const uint32_t promised = promised_glibc(w->name.platform);
    if (newest && promised && newest->glibc_major * 1000u + newest->glibc_minor > promised) {
        cs_check_add_as(w->c, "tag-mismatch", CS_SEVERITY_WARNING, w->where,
                        CS_STR("Tag the wheel for the newer glibc, or build on the older system."),
                        "the tag promises glibc %u.%u, but %.*s needs %u.%u", promised / 1000,
                        promised % 1000, (int)newest->path.len, newest->path.ptr,
                        newest->glibc_major, newest->glibc_minor);
    }
}

// "cp310" of an extension module's name: x.cpython-310-x86_64-linux-gnu.so; empty when none.
static struct cs_str module_python(struct cs_str path) {
    const struct cs_str base = cs_path_base(path), mark = CS_STR(".cpython-");
    const size_t at = cs_str_find(base, mark);
    if (at == SIZE_MAX) {
        return CS_STR("");
    }
    struct cs_str rest = {base.ptr + at + mark.len, base.len - at - mark.len};
    size_t n = 0;
    while (n < rest.len && rest.ptr[n] >= '0' && rest.ptr[n] <= '9') {
        n++;
    }
    return (struct cs_str){rest.ptr, n};
}

static void judge_modules(struct wheel_check *w) {
    uint32_t wrong = 0;
    const struct cs_check_file *first = NULL;
    for (size_t i = 0; i < w->look->files.count; i++) {
        const struct cs_check_file *f = &w->look->files.ptr[i];
        const struct cs_str python = module_python(f->path);
        if (!f->elf || python.len == 0) {
            continue;
        }
        char tag[32];
        snprintf(tag, sizeof tag, "cp%.*s", (int)(python.len > 16 ? 16 : python.len), python.ptr);
        if (!has(w->name.python, tag) || has(w->name.abi, "abi3")) {
            first = wrong++ == 0 ? f : first;
        }
    }
    if (wrong) {
        cs_check_add_as(w->c, "tag-mismatch", CS_SEVERITY_WARNING, w->where,
                        CS_STR("Build the module for the stable ABI too, or tag the wheel for one "
                               "Python."),
                        "tagged %.*s-%.*s, but %u module%s, such as %.*s, %s for one Python alone",
                        (int)w->name.python.len, w->name.python.ptr, (int)w->name.abi.len,
                        w->name.abi.ptr, wrong, cs_plural(wrong), (int)first->path.len,
                        first->path.ptr, wrong == 1 ? "is" : "are");
    }
}

// ---- bundled driver libraries ----------------------------------------------------------------

// auditwheel inserts a hash: libcuda-1a2b3c4d.so.1.
static bool is_driver_library(struct cs_str name) {
    static const char *const names[] = {"libcuda", "libnvidia-ml", "libnvidia-ptxjitcompiler",
                                        "libnvidia-nvvm"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct cs_str prefix = cs_str_from(names[i]);
        if (cs_str_starts(name, prefix) && has(name, ".so") && name.len > prefix.len &&
            (name.ptr[prefix.len] == '.' || name.ptr[prefix.len] == '-')) {
            return true;
        }
    }
    return false;
}

static void judge_bundled(struct wheel_check *w) {
    for (size_t i = 0; i < w->look->files.count; i++) {
        const struct cs_check_file *f = &w->look->files.ptr[i];
        if (f->elf && (is_driver_library(cs_path_base(f->path)) || is_driver_library(f->soname))) {
            cs_check_add(w->c, "bundled-driver-library", f->path,
                         CS_STR("auditwheel repair --exclude libcuda.so.1, and the like."),
                         "a library of the NVIDIA driver: only the one of the installed driver "
                         "works with its kernel module");
        }
    }
}

// ---- the wheel -------------------------------------------------------------------------------

static enum cs_code judge(struct wheel_check *w, struct cs_err *err) {
    const bool is_wheel = cs_str_ends(w->where, CS_STR(".whl")) ||
                          !(w->wheel.faults & CS_WHEEL_NO_DIST_INFO);
    judge_zip(w);
    if (!is_wheel) {
        return CS_OK;  // some other ZIP
    }
    CS_TRY(judge_record(w, err));
    CS_TRY(judge_metadata(w, err));
    if (w->named) {
        judge_platform(w);
        judge_modules(w);
    }
    judge_bundled(w);
    return CS_OK;
}

static enum cs_code check_wheel(struct cs_check *c, uint32_t input, struct cs_err *err) {
    const struct cs_str path = c->inv->inputs.ptr[input].path;
    struct wheel_check w = {
        .c = c, .look = &c->options->looks[input], .where = cs_check_input_name(c, input)};
    struct cs_file file;
    CS_TRY(cs_file_open(path.ptr, &file, err));
    enum cs_code code = cs_zip_open(file.view, &w.zip, err);
    if (code == CS_OK) {
        code = cs_wheel_open(&w.zip, &w.wheel, err);
        if (code == CS_OK) {
            w.named = cs_wheel_name_parse(w.where, &w.name, NULL) == CS_OK;
            code = judge(&w, err);
            cs_wheel_close(&w.wheel);
        } else if (code == CS_FORMAT || code == CS_UNSUPPORTED || code == CS_LIMIT) {
            char text[512];
            cs_err_format(err, text, sizeof text);
            cs_check_add(c, "unreadable", w.where, CS_STR(""), "%s", text);
            code = CS_OK;
        }
        cs_zip_close(&w.zip);
    }
    cs_file_close(&file);
    return code == CS_OK ? CS_OK : cs_wrap(err, code, "%s", path.ptr);
}

enum cs_code cs_check_wheels(struct cs_check *c, struct cs_err *err) {
    for (uint32_t i = 0; c->options->looks && i < c->inv->inputs.count; i++) {
        if (c->inv->inputs.ptr[i].kind == CS_FILE_WHEEL &&
            !cs_str_eq(c->inv->inputs.ptr[i].path, CS_STR("<stdin>"))) {
            CS_TRY(check_wheel(c, i, err));
        }
    }
    return CS_OK;
}
