// Elfcut: random files, random edits; the result is judged by a loader written here, not by the
// module's own proof, and the proof itself by damaging what it has to judge.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/num.h"
#include "build/mk_fatbin.h"
#include "build/mk_host.h"
#include "rewrite/elfcut.h"

enum { UNITS_MAX = 24, CASES = 10000, PAYLOAD_MAX = 30000, DAMAGES = 3 };

static uint64_t seed;

static uint64_t draw(uint64_t below) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return below ? (seed >> 11) % below : 0;
}

struct host {
    struct cs_buf container[UNITS_MAX];
    struct cs_buf fresh[UNITS_MAX];  // new bytes; empty = unchanged
    struct cs_mk_unit unit[UNITS_MAX];
    struct cs_mk_host spec;
    struct cs_buf file;
};

static void make_container(struct cs_buf *out, uint64_t payload, uint32_t arch) {
    cs_buf_init(out, SIZE_MAX);
    struct cs_buf code;
    cs_buf_init(&code, SIZE_MAX);
    cs_mk_code(&code, payload, arch + payload);
    const struct cs_mk_entry e = {.kind = CS_FATBIN_ELF, .arch = arch, .image = cs_buf_view(&code),
                                  .code_major = 1};
    (void)cs_mk_container(out, &e, payload ? 1 : 0);
    cs_buf_fini(&code);
}

static void make_host(struct host *h) {
    *h = (struct host){0};
    static const uint64_t pages[] = {0, 0, 0x1000, 0x10000, 0x200000};
    const uint32_t units = 1 + (uint32_t)draw(UNITS_MAX);
    const uint64_t sizes = 16 + draw(PAYLOAD_MAX);
    const bool rdc = draw(2);
    for (uint32_t i = 0; i < units; i++) {
        make_container(&h->container[i], draw(sizes), 50 + i);
        h->unit[i] = (struct cs_mk_unit){.container = cs_buf_view(&h->container[i]),
                                         .relocatable = rdc && draw(2),
                                         .no_wrapper = draw(20) == 0,
                                         .source = draw(2) ? "k.cu" : NULL};
    }
    h->spec = (struct cs_mk_host){
        .machine = draw(3) ? EM_X86_64 : EM_AARCH64,
        .layout = (enum cs_mk_layout)draw(CS_MK_OBJECT + 1),
        .reloc = draw(10) ? (enum cs_mk_reloc)draw(CS_MK_SYMBOLIC) : CS_MK_SYMBOLIC,
        .page = pages[draw(5)], .executable = draw(3) == 0, .stripped = draw(2),
        .rodata_bytes = (uint32_t)draw(5000), .bss_bytes = (uint32_t)draw(9000),
        .units = h->unit, .unit_count = units};
    if (h->spec.reloc == CS_MK_ABSOLUTE) {
        h->spec.executable = true;
    }
    if (h->spec.machine == EM_AARCH64 && h->spec.page == 0x1000) {
        h->spec.page = 0;
    }
    cs_buf_init(&h->file, SIZE_MAX);
    cs_mk_host_write(&h->file, &h->spec);
}

static void drop_host(struct host *h) {
    for (uint32_t i = 0; i < UNITS_MAX; i++) {
        cs_buf_fini(&h->container[i]);
        cs_buf_fini(&h->fresh[i]);
    }
    cs_buf_fini(&h->file);
}

// What a loader sees: the byte at an address, or -1.
static int byte_at(const struct cs_elf *elf, uint64_t vaddr) {
    for (uint32_t i = 0; i < elf->phnum; i++) {
        const struct cs_elf_segment s = cs_elf_segment(elf, i);
        if (s.type == PT_LOAD && vaddr >= s.vaddr && vaddr - s.vaddr < s.memsz) {
            const uint64_t at = vaddr - s.vaddr;
            return at < s.filesz ? cs_u8(elf->file, s.off + at) : 0;
        }
    }
    return -1;
}

// Is the byte one that an edit may change: device section, pointer or addend of a wrapper?
static bool may_differ(const struct cs_elfcut *cut, uint64_t off) {
    for (size_t i = 0; i < cut->sections.count; i++) {
        const struct cs_elfcut_section *d = &cut->sections.ptr[i];
        if (off >= d->off && off - d->off < d->size) {
            return true;
        }
    }
    for (size_t i = 0; i < cut->wrappers.items.count; i++) {
        const struct cs_wrapper *w = &cut->wrappers.items.ptr[i];
        if ((off >= w->offset + 8 && off < w->offset + 16) ||
            (w->reloc_offset != CS_NO_OFFSET && off >= w->reloc_offset + 16 &&
             off < w->reloc_offset + 24)) {
            return true;
        }
    }
    return off < 64 + 56 * 16;  // ELF header and program headers
}

// Every address of the original holds its byte still; samples, dense around the device sections.
static void judge_image(const struct cs_elfcut *cut, const struct cs_elf *now) {
    for (uint32_t i = 0; i < cut->elf.phnum; i++) {
        const struct cs_elf_segment s = cs_elf_segment(&cut->elf, i);
        for (uint64_t at = 0; s.type == PT_LOAD && at < s.memsz; at += 1 + draw(40)) {
            if (at < s.filesz && may_differ(cut, s.off + at)) {
                continue;
            }
            const int want = at < s.filesz ? cs_u8(cut->elf.file, s.off + at) : 0;
            assert_int_equal(byte_at(now, s.vaddr + at), want);
        }
    }
}

static void judge_segments(const struct cs_elf *now) {
    for (uint32_t i = 0; i < now->phnum; i++) {
        const struct cs_elf_segment s = cs_elf_segment(now, i);
        if (s.type == PT_LOAD) {
            assert_int_equal((s.vaddr - s.off) % s.align, 0);
            assert_true(cs_view_has(now->file, s.off, s.filesz));
        }
    }
    for (uint32_t i = 1; i < now->shnum; i++) {
        const struct cs_elf_section s = cs_elf_section(now, i);
        uint64_t vaddr;
        if ((s.flags & SHF_ALLOC) && s.type != SHT_NOBITS && s.size > 0 && now->phnum > 0) {
            assert_true(cs_elf_off_to_vaddr(now, s.off, &vaddr));
            assert_int_equal(vaddr, s.addr);
        }
    }
}

// Each wrapper reaches the bytes that it should: the new ones where they were asked for.
static void judge_wrappers(const struct host *h, const struct cs_elf *now, bool edited) {
    struct cs_wrappers w;
    assert_int_equal(cs_wrappers_find(now, &w, NULL), CS_OK);
    size_t next = 0;
    for (uint32_t i = 0; i < h->spec.unit_count; i++) {
        if (h->unit[i].no_wrapper) {
            continue;
        }
        assert_true(next < w.items.count);
        const struct cs_wrapper *x = &w.items.ptr[next++];
        const struct cs_buf *want =
            edited && h->fresh[i].len ? &h->fresh[i] : &h->container[i];
        assert_true(cs_view_has(now->file, x->container_offset, want->len));
        assert_memory_equal(now->file.ptr + x->container_offset, want->ptr, want->len);
    }
    assert_int_equal(next, w.items.count);
    cs_wrappers_fini(&w);
}

// The block of unit i: the one whose bytes are the unit's container, in link order.
static struct cs_elfcut_block *block_of(const struct host *h, struct cs_elfcut *cut,
                                        uint32_t unit) {
    for (size_t i = 0; i < cut->sections.count; i++) {
        const struct cs_elfcut_section *d = &cut->sections.ptr[i];
        uint32_t k = d->first;
        for (uint32_t u = 0; u < h->spec.unit_count && d->relocatable == h->unit[unit].relocatable;
             u++) {
            if (u == unit) {
                return &cut->blocks.ptr[k];
            }
            k += h->unit[u].relocatable == d->relocatable;
        }
    }
    return NULL;
}

// Asks for random new bytes; says whether they may need more room than there is.
static bool request(struct host *h, struct cs_elfcut *cut, bool *grows) {
    const uint64_t mood = draw(5);
    bool any = false;
    *grows = false;
    for (uint32_t i = 0; i < h->spec.unit_count; i++) {
        if (draw(3) == 0) {
            continue;
        }
        const uint64_t old = h->container[i].len;
        const uint64_t payload = mood == 0 ? 0 : mood == 1 ? draw(PAYLOAD_MAX) : draw(old);
        make_container(&h->fresh[i], payload, 100 + i);
        if (h->fresh[i].len > old && mood != 1) {
            cs_buf_fini(&h->fresh[i]);  // the header of an entry made it larger
            h->fresh[i] = (struct cs_buf){0};
            continue;
        }
        struct cs_elfcut_block *b = block_of(h, cut, i);
        assert_non_null(b);
        assert_int_equal(b->bytes, old);
        *grows = *grows || h->fresh[i].len > old;
        cs_elfcut_replace(cut, b, cs_buf_view(&h->fresh[i]));
        any = true;
    }
    return any;
}

// A flipped bit anywhere in the result must not pass the proof.
static void judge_proof(const struct cs_elfcut *cut, uint8_t *bytes) {
    const uint64_t len = cut->result.after_bytes;
    assert_int_equal(cs_elfcut_verify(cut, cs_view_of(bytes, len), NULL), CS_OK);
    for (uint32_t i = 0; i < DAMAGES; i++) {
        const uint64_t at = draw(4) ? draw(len) : draw(cs_min_u64(len, 2000));
        const uint8_t bit = (uint8_t)(1u << draw(8));
        bytes[at] ^= bit;
        if (cs_elfcut_verify(cut, cs_view_of(bytes, len), NULL) == CS_OK) {
            fail_msg("a flipped bit at 0x%llx passed", (unsigned long long)at);
        }
        bytes[at] ^= bit;
    }
    assert_int_not_equal(cs_elfcut_verify(cut, cs_view_of(bytes, len - 1), NULL), CS_OK);
}

// The same request once more, now on the result: nothing is left to do.
static void judge_again(const struct host *h, struct cs_view file) {
    struct cs_elfcut again;
    assert_int_equal(cs_elfcut_open(file, &again, NULL), CS_OK);
    size_t wrapper = 0;
    for (uint32_t i = 0; i < h->spec.unit_count; i++) {
        if (h->unit[i].no_wrapper) {
            continue;
        }
        const struct cs_wrapper *w = &again.wrappers.items.ptr[wrapper++];
        struct cs_elfcut_block *b = cs_elfcut_at(&again, w->container_offset);
        assert_non_null(b);
        if (h->fresh[i].len) {
            cs_elfcut_replace(&again, b, cs_buf_view(&h->fresh[i]));
        }
    }
    assert_int_equal(cs_elfcut_plan(&again, NULL, NULL), CS_OK);
    assert_int_equal(again.result.how, CS_ELFCUT_UNCHANGED);
    cs_elfcut_close(&again);
}

static void judge_result(struct host *h, struct cs_elfcut *cut, bool grows) {
    uint8_t *bytes = cs_alloc(cut->result.after_bytes);
    assert_non_null(bytes);
    assert_int_equal(cut->pieces.bytes, cut->result.after_bytes);
    cs_pieces_copy(&cut->pieces, bytes);
    struct cs_elf now;
    assert_int_equal(cs_elf_open(cs_view_of(bytes, cut->result.after_bytes), &now, NULL), CS_OK);
    judge_wrappers(h, &now, true);
    judge_segments(&now);
    judge_image(cut, &now);
    judge_proof(cut, bytes);
    assert_true(grows || cut->result.after_bytes <= cut->result.before_bytes);
    judge_again(h, now.file);
    cs_free(bytes);
}

static void one_case(uint64_t number, uint32_t how[4], uint32_t *refused) {
    seed = (number + 1) * 0x9E3779B97F4A7C15ull;
    struct host h;
    make_host(&h);
    struct cs_elfcut cut;
    struct cs_err err = {0};
    if (cs_elfcut_open(cs_buf_view(&h.file), &cut, &err) != CS_OK) {
        fail_msg("case %llu: %s", (unsigned long long)number, err.frame[0].text);
    }
    assert_int_equal(cs_elfcut_plan(&cut, NULL, NULL), CS_OK);
    assert_int_equal(cut.result.how, CS_ELFCUT_UNCHANGED);
    bool grows;
    (void)request(&h, &cut, &grows);
    const struct cs_elfcut_options options = {.fill_only = draw(8) == 0};
    const enum cs_code code = cs_elfcut_plan(&cut, &options, &err);
    if (code == CS_OK) {
        how[cut.result.how]++;
        judge_result(&h, &cut, grows);
    } else {
        // Only growth may be refused.
        if (code != CS_CONFLICT || !grows) {
            fail_msg("case %llu: %s", (unsigned long long)number, err.frame[0].text);
        }
        *refused += 1;
    }
    cs_elfcut_close(&cut);
    drop_host(&h);
}

static void test_properties(void **state) {
    (void)state;
    const char *wish = getenv("CUSLIM_CASES");
    const uint64_t cases = wish ? strtoull(wish, NULL, 10) : CASES / 10;
    uint32_t how[4] = {0};
    uint32_t refused = 0;
    for (uint64_t i = 0; i < cases; i++) {
        one_case(i, how, &refused);
    }
    print_message("unchanged %u, cut %u, filled %u, grown %u, refused %u\n", how[0], how[1],
                  how[2], how[3], refused);
    assert_true(how[CS_ELFCUT_CUT] > cases / 4 && how[CS_ELFCUT_GROWN] > 0 && refused > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_properties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
