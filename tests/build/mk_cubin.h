// Builder of cubins (device ELF files), ABI 7 and 8, with the section kinds that ptxas writes.
//
// The result has, for each kernel: .text, .nv.info, .nv.constant0, and as asked .nv.shared,
// .rel[a].text, .nv.constant2, .nv.capmerc.text, .nv.merc.nv.info, .nv.merc.rela.text; and for the
// module: .shstrtab, .strtab, .symtab, .debug_frame with its relocations, notes, .nv.info,
// .nv.compat, .nv.callgraph, .nv.rel.action, .nv.constant3/4, .nv.global.init, .nv.merc.symtab,
// .nv.merc.debug_frame and the aliases .nv.merc.nv.constant.*.
#ifndef CS_TESTS_BUILD_MK_CUBIN_H
#define CS_TESTS_BUILD_MK_CUBIN_H

#include "base/buf.h"
#include "build/mk_elf.h"

struct cs_mk_kernel {
    const char *name;          // mangled
    uint32_t code_bytes;       // 0 = 128
    uint64_t seed;             // of the code; 0 = from the name
    bool local;                // static or in an anonymous namespace
    bool function;  // a device function with its own .text: no .nv.constant0, no st_other bit
    uint32_t registers;        // 0 = 8
    uint32_t barriers;
    uint32_t stack_bytes;      // FRAME_SIZE
    uint32_t local_bytes;      // MIN_STACK_SIZE
    uint32_t shared_bytes;     // static, as ptxas -v prints it (reserved bytes are added here)
    uint32_t param_bytes;      // 0 = 8
    uint32_t max_threads;      // 0 = no launch bound
    const char *outlined;      // a further FUNC symbol inside the code; NULL = none
    uint32_t outlined_bytes;   // its st_size
    uint32_t constant2_bytes;
    uint32_t relocations;      // in .rel[a].text
};

struct cs_mk_cubin {
    uint32_t abi;              // 0 = 8
    uint32_t sm;               // 0 = 90
    uint32_t virtual_sm;       // 0 = sm
    uint32_t toolkit_x10;      // 0 = 130 for ABI 8, 118 for ABI 7; 128 and 129 have both ABIs
    bool accelerated;          // 'a'
    bool relocatable;          // ET_REL
    bool no_mercury;           // from sm_100 on, leave Mercury sections out
    const char *source;  // .debug_line with this file name, and .nv_debug_ptx_txt; NULL = none
    uint32_t ptx_txt_bytes;
    const struct cs_mk_kernel *kernels;
    size_t kernel_count;
    uint32_t constant3_bytes, global_init_bytes, global_bytes;
    bool debug_shared;         // a no-bits .nv_debug.shared that claims bytes past the file's end
    bool text_gap;             // 36 bytes that no table mentions after .shstrtab, as ptxas leaves
    uint32_t empty_sections;   // this many sections more (extended numbering beyond 65,279)
};

// Appends the image to out.
void cs_mk_cubin_write(struct cs_buf *out, const struct cs_mk_cubin *c);
// Bytes of all .text.* sections of what cs_mk_cubin_write makes.
uint64_t cs_mk_cubin_code_bytes(const struct cs_mk_cubin *c);

#endif
