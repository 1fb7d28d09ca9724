// Facts inside a cubin's attribute sections: registers, stack, barriers, shared memory, toolkit.
//
// `.nv.info` is a list of records: u8 format, u8 attribute, then a u16 value (formats 1 to 3) or a
// u16 size and data (format 4).  Attributes and which of them to trust: docs/format/cubin.md; each
// was compared with what `ptxas -v` prints.

#include "base/num.h"
#include "format/cubin_work.h"

enum {
    ATTR_PARAM_CBANK = 0x0A,
    ATTR_MAX_THREADS = 0x05,
    ATTR_REQNTID = 0x10,
    ATTR_FRAME_SIZE = 0x11,
    ATTR_MIN_STACK_SIZE = 0x12,
    ATTR_CBANK_PARAM_SIZE = 0x19,
    ATTR_MAX_STACK_SIZE = 0x23,
    ATTR_REGCOUNT = 0x2F,
    ATTR_NUM_BARRIERS = 0x4C,

    FORMAT_SIZED = 4,

    NOTE_CUINFO = 1000,
    NOTE_TKINFO = 2000,
    TKINFO_STRINGS = 24,  // six u32, then the string table
    CUINFO_WITH_TOOLKIT = 2,

    COMPAT_ACCELERATED = 9,

    // From sm_90 on, .nv.shared.* includes 1 KiB that the system reserves for itself.
    RESERVED_SHARED_BYTES = 1024,
    RESERVED_SHARED_FIRST_SM = 90,
};

bool cs_nvinfo_next(struct cs_view section, uint64_t *cursor, struct cs_nvinfo_record *out) {
    const uint64_t at = *cursor;
    if (!cs_view_has(section, at, 4)) {
        return false;
    }
    *out = (struct cs_nvinfo_record){.off = at, .len = 4};
    out->attribute = cs_u8(section, at + 1);
    out->inline_value = cs_u16(section, at + 2);
    if (cs_u8(section, at) == FORMAT_SIZED) {
        if (!cs_view_sub(section, at + 4, out->inline_value, &out->data)) {
            return false;
        }
        out->len += out->inline_value;
    }
    *cursor = at + out->len;
    return true;
}

static struct cs_cubin_kernel *kernel_of(struct cs_cubin *c, const struct cs_cubin_work *w,
                                         uint32_t symbol) {
    const uint32_t k =
        symbol < w->symbol_kernel.count ? w->symbol_kernel.ptr[symbol] : CS_NO_KERNEL;
    return k == CS_NO_KERNEL ? NULL : &c->kernels.ptr[k];
}

// Module-wide records: u32 symbol, u32 value.
static void read_module_info(struct cs_cubin *c, const struct cs_cubin_work *w,
                             struct cs_view content) {
    struct cs_nvinfo_record r;
    for (uint64_t at = 0; cs_nvinfo_next(content, &at, &r);) {
        struct cs_cubin_kernel *k = r.data.len >= 8 ? kernel_of(c, w, cs_u32(r.data, 0)) : NULL;
        if (!k) {
            continue;
        }
        const uint32_t value = cs_u32(r.data, 4);
        switch (r.attribute) {
        case ATTR_REGCOUNT: k->registers = value; break;
        case ATTR_FRAME_SIZE: k->stack_bytes = value; break;
        case ATTR_MIN_STACK_SIZE:
        case ATTR_MAX_STACK_SIZE: k->local_bytes = value; break;
        default: break;
        }
    }
}

static void read_kernel_info(struct cs_cubin_kernel *k, struct cs_view content) {
    struct cs_nvinfo_record r;
    for (uint64_t at = 0; cs_nvinfo_next(content, &at, &r);) {
        switch (r.attribute) {
        case ATTR_NUM_BARRIERS: k->barriers = r.inline_value & 0xFF; break;
        case ATTR_CBANK_PARAM_SIZE: k->param_bytes = r.inline_value; break;
        case ATTR_MAX_THREADS:
        case ATTR_REQNTID:
            for (uint32_t i = 0; i < 3 && r.data.len >= 12; i++) {
                k->max_threads[i] = cs_u32(r.data, 4ull * i);
            }
            break;
        default: break;
        }
    }
}

void cs_cubin_read_compat(struct cs_cubin *c, struct cs_view content) {
    struct cs_nvinfo_record r;
    for (uint64_t at = 0; cs_nvinfo_next(content, &at, &r);) {
        if (r.attribute == COMPAT_ACCELERATED) {
            c->accelerated |= r.data.len ? cs_u8(r.data, 0) != 0 : r.inline_value != 0;
        }
    }
}

// "Cuda compilation tools, release 12.8, V12.8.93": 128; 0 when there is no such text.
static uint32_t toolkit_in(struct cs_str text) {
    static const struct cs_str mark = {"release ", 8};
    const size_t found = cs_str_find(text, mark);
    uint32_t major = 0;
    size_t at = found == SIZE_MAX ? text.len : found + mark.len;
    for (; at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9' && major < 100; at++) {
        major = major * 10 + (uint32_t)(text.ptr[at] - '0');
    }
    return at + 1 < text.len && text.ptr[at] == '.' && text.ptr[at + 1] >= '0' &&
                   text.ptr[at + 1] <= '9'
               ? major * 10 + (uint32_t)(text.ptr[at + 1] - '0')
               : 0;
}

// u16 version, u16 virtual SM; version 2 (CUDA 13, .note.nv.cuinfo) has the toolkit next, version 1
// (12.8 and 12.9, .note.nv.cuver) has not.
static void read_cuinfo(struct cs_cubin *c, struct cs_view data) {
    c->virtual_sm = cs_u16(data, 2);
    if (cs_u16(data, 0) >= CUINFO_WITH_TOOLKIT) {
        c->toolkit_x10 = cs_u16(data, 4);
    }
}

// Six u32, of which the last four are offsets of the tool's name, version, build and command in the
// strings that follow.
static void read_tkinfo(struct cs_cubin *c, struct cs_view data) {
    const struct cs_view strings = cs_view_at(data, TKINFO_STRINGS, data.len - TKINFO_STRINGS);
    if (c->tool_command.len == 0) {
        c->tool_command = cs_cstr(strings, cs_u32(data, 20), (size_t)strings.len, NULL);
    }
    if (c->toolkit_x10 == 0) {
        c->toolkit_x10 =
            toolkit_in(cs_cstr(strings, cs_u32(data, 12), (size_t)strings.len, NULL));
    }
}

// ELF notes: u32 name size, u32 data size, u32 type, name padded to 4, data padded to 4.
static void read_notes(struct cs_cubin *c, struct cs_view content) {
    for (uint64_t at = 0; cs_view_has(content, at, 12);) {
        const uint64_t name_len = ((uint64_t)cs_u32(content, at) + 3) & ~3ull;
        const uint64_t data_len = cs_u32(content, at + 4);
        const uint32_t type = cs_u32(content, at + 8);
        struct cs_view data;
        if (!cs_view_sub(content, at + 12 + name_len, data_len, &data)) {
            return;
        }
        if (type == NOTE_CUINFO && data.len >= 6) {
            read_cuinfo(c, data);
        } else if (type == NOTE_TKINFO && data.len > TKINFO_STRINGS) {
            read_tkinfo(c, data);
        }
        at += 12 + name_len + ((data_len + 3) & ~3ull);
    }
}

static void read_shared(struct cs_cubin *c, struct cs_cubin_kernel *k, uint64_t size) {
    if (c->sm >= RESERVED_SHARED_FIRST_SM && size >= RESERVED_SHARED_BYTES) {
        size -= RESERVED_SHARED_BYTES;
    }
    k->shared_bytes = size;
}

// What older cubins keep in the code section's own header.
static void read_old_fields(struct cs_cubin *c, struct cs_cubin_kernel *k,
                            const struct cs_elf_section *text) {
    if (k->registers == 0 && c->sm < RESERVED_SHARED_FIRST_SM) {
        k->registers = text->info >> 24;
    }
    if (k->barriers == 0 && c->abi < 8) {
        k->barriers = (uint32_t)(text->flags >> 20) & 0x7F;
    }
}

void cs_cubin_read_info(struct cs_cubin *c, const struct cs_cubin_work *w) {
    for (uint32_t i = 0; i < w->sections.count; i++) {
        const struct cs_cubin_section *s = &w->sections.ptr[i];
        struct cs_cubin_kernel *k =
            s->kernel != CS_NO_KERNEL ? &c->kernels.ptr[s->kernel] : NULL;
        struct cs_view content = {0};
        if (k && cs_str_starts(s->name, CS_STR(".nv.shared."))) {
            read_shared(c, k, s->elf.size);
        }
        if (s->part != CS_PART_ATTRIBUTE || !s->in_file ||
            !cs_elf_content(&w->elf, &s->elf, &content)) {
            continue;
        }
        if (k) {
            read_kernel_info(k, content);
        } else if (cs_str_eq(s->name, CS_STR(".nv.info"))) {
            read_module_info(c, w, content);
        } else if (cs_str_eq(s->name, CS_STR(".nv.compat"))) {
            cs_cubin_read_compat(c, content);
        } else if (s->elf.type == SHT_NOTE) {
            read_notes(c, content);
        }
    }
    for (uint32_t i = 0; i < w->sections.count; i++) {
        const struct cs_cubin_section *s = &w->sections.ptr[i];
        if (s->part == CS_PART_CODE && s->kernel != CS_NO_KERNEL) {
            read_old_fields(c, &c->kernels.ptr[s->kernel], &s->elf);
        }
    }
}
