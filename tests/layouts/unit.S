// A translation unit as nvcc leaves it, without nvcc: one container of PAYLOAD bytes in SECTION, one
// wrapper, and a constructor that registers it.  ID makes the contents differ; ARCH goes into the
// entry header.  Both machines; the pointer is left to the linker.
#ifndef SECTION
#define SECTION .nv_fatbin
#endif
    .section SECTION, "a", %progbits
    .balign 8
    .type fatbinData, %object
fatbinData:
    .long 0xBA55ED50
    .short 1, 16
    .quad 64 + PAYLOAD
    .short 2, 0x101
    .long 64
    .quad PAYLOAD
    .long 0, 0
    .short 7, 1
    .long ARCH
    .long 0, 0
    .quad 0x11, 0, 0
    .set word, ID
    .rept PAYLOAD / 8
    .quad word * 0x9E3779B97F4A7C15
    .set word, word + 0x10001
    .endr
    .size fatbinData, . - fatbinData

    .section .nvFatBinSegment, "aw", %progbits
    .balign 8
wrapper:
    .long 0x466243B1, VERSION
    .quad fatbinData
    .quad 0

    .text
    .type register_unit, %function
register_unit:
#ifdef __x86_64__
    leaq wrapper(%rip), %rdi
#ifdef __PIC__
    jmp register_wrapper@PLT
#else
    jmp register_wrapper
#endif
#else
    adrp x0, wrapper
    add x0, x0, :lo12:wrapper
    b register_wrapper
#endif
    .size register_unit, . - register_unit
    .section .init_array, "aw", %init_array
    .balign 8
    .quad register_unit

    .section .note.GNU-stack, "", %progbits
