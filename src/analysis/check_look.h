// What a check learns of files while the inventory has them in memory: hashes for RECORD, and for
// ELF files everything that the rules E6xx and the 2 GiB rule judge.
//
//     struct cs_check_look look;
//     cs_check_look_init(&look, true);
//     const struct cs_inventory_look see = cs_check_look_callback(&look);
//     ... cs_inventory_add() with options.look = &see, then:
//     code = cs_check_look_done(&look, err);
//
// One for each input.  The callback may run on several threads at once.
#ifndef CS_ANALYSIS_CHECK_LOOK_H
#define CS_ANALYSIS_CHECK_LOOK_H

#include <pthread.h>

#include "analysis/rules.h"
#include "base/arena.h"
#include "base/hash.h"
#include "model/inventory.h"

// A judgement about one file, made before there was a place for findings.
struct cs_check_fact {
    const char *slug;
    enum cs_severity severity;
    struct cs_str message, advice;  // in the arena of the look, or constant
};

// How far 32-bit references of a linked file must reach.
struct cs_check_span {
    uint64_t bytes;         // the longest; 0 = no code
    uint64_t limit_bytes;   // of the machine
    struct cs_str from, to; // sections
    struct cs_str between;  // the largest section of device code in between; empty = none
    uint64_t device_bytes;  // of all device code in between
};

// Bytes of the sections of objects that are still to be linked, by where a linker puts them.
struct cs_check_sections {
    uint64_t text, rodata, eh_frame, data, bss;
    uint64_t fatbin, relfatbin;  // .nv_fatbin, __nv_relfatbin
    uint32_t objects;
};

struct cs_check_file {
    uint32_t index;     // in its input
    struct cs_str path;
    uint64_t bytes;
    bool hashed;
    uint8_t sha256[CS_SHA256_BYTES];
    bool elf;
    uint16_t elf_type, machine;
    bool device_code;              // has a section for it
    uint16_t glibc_major, glibc_minor;  // newest version asked of libc.so.6; 0.0 = none
    struct cs_str soname;
    uint32_t first_fact, fact_count;
    struct cs_check_span span;
    uint64_t image_bytes;               // of its LOAD segments in memory, first to last
    struct cs_check_sections sections;  // of an object, or of all objects of an archive
};

struct cs_check_look {
    bool hash;
    pthread_mutex_t lock;
    struct cs_arena arena;
    CS_VEC(struct cs_check_file) files;  // by index, after cs_check_look_done
    CS_VEC(struct cs_check_fact) facts;
    enum cs_code failed;
};

void cs_check_look_init(struct cs_check_look *l, bool hash);
void cs_check_look_fini(struct cs_check_look *l);
struct cs_inventory_look cs_check_look_callback(struct cs_check_look *l);
// Sorts the files; CS_NOMEM when one of the callbacks ran out of memory.
enum cs_code cs_check_look_done(struct cs_check_look *l, struct cs_err *err) CS_MUST_USE;

#endif
