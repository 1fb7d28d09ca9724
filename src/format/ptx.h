// PTX: the few facts the project needs from PTX text, by one linear pass.  Not an assembler.
#ifndef CS_FORMAT_PTX_H
#define CS_FORMAT_PTX_H

#include "base/vec.h"
#include "base/view.h"

struct cs_ptx_kernel {
    struct cs_str name;      // mangled
    uint64_t off, len;       // of the whole .entry (directives, parameters and body), bytes
};

struct cs_ptx {
    uint32_t isa_major, isa_minor;  // .version; 0.0 when absent
    struct cs_str target;           // "sm_90a"; empty when absent
    bool debug;                     // .target ..., debug
    CS_VEC(struct cs_ptx_kernel) kernels;  // ascending off
    CS_VEC(struct cs_str) files;    // names of .file directives, in order
};

// True when the text starts like PTX: blank lines and // comments, then ".version".
bool cs_ptx_probe(struct cs_view text);
enum cs_code cs_ptx_read(struct cs_view text, struct cs_ptx *out, struct cs_err *err) CS_MUST_USE;
void cs_ptx_fini(struct cs_ptx *p);

#endif
