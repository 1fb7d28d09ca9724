// ELF rules: what tools that edit finished libraries break, and the 2 GiB rule.  Internal to
// analysis; results go to a struct cs_check_file.
#ifndef CS_ANALYSIS_CHECK_ELF_H
#define CS_ANALYSIS_CHECK_ELF_H

#include "analysis/check_look.h"
#include "format/elf.h"

// Facts about one file, before they are moved to the look.
struct cs_check_facts {
    struct cs_arena arena;
    CS_VEC(struct cs_check_fact) items;
    bool failed;  // out of memory
};
void cs_check_facts_add(struct cs_check_facts *f, const char *slug, enum cs_severity severity,
                        const char *advice, const char *fmt, ...) CS_PRINTF(5, 6);

// Libraries and executables: segments, sections, dynamic section, wrappers.
void cs_check_elf_file(const struct cs_elf *elf, struct cs_check_facts *facts,
                       struct cs_check_file *file);
// Wrappers, of objects too.
void cs_check_elf_wrappers(const struct cs_elf *elf, struct cs_check_facts *facts);
// How far 32-bit references reach on the machine.
uint64_t cs_check_span_limit(uint16_t machine);
// The longest span of a linked file (check_span.c).  Texts are views into the file.
void cs_check_elf_span(const struct cs_elf *elf, struct cs_check_span *span);
// Adds the sections of one object.
void cs_check_elf_sections(const struct cs_elf *elf, struct cs_check_sections *sum);

#endif
