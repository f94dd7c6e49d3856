/* ckpt/machine.h - what a program may have found out about its processor.
 *
 * A program chooses its code by the features that the processor said it had when the program began.
 * Resumed on one that lacks a feature it would end by an illegal instruction, or, worse, compute
 * something else.  So the image holds the words of CPUID that programs go by, and is refused where
 * a feature of them is missing.  It matters what the processor said, not what the program made of
 * it: nobody can tell that from outside.  Where machines differ, programs are started with the
 * features masked that not all of them have (`roost-ckpt run --cpu x86-64-v2`): then the words of
 * their images are, too.
 *
 * Also part of the stub: no C library, no pointers in tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_MACHINE_H
#define CKPT_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MACHINE_WORDS 12

enum machine_word { /* leaf, subleaf and register of CPUID, but for the last two */
                    MACHINE_1_ECX,
                    MACHINE_7_EBX,
                    MACHINE_7_ECX,
                    MACHINE_7_EDX,
                    MACHINE_7_1_EAX,
                    MACHINE_7_1_EDX,
                    MACHINE_D_1_EAX,
                    MACHINE_EXT_1_ECX, /* 0x80000001 */
                    MACHINE_EXT_1_EDX,
                    MACHINE_EXT_8_EBX, /* 0x80000008 */
                    MACHINE_XCR0,      /* the registers that the kernel lets programs use */
                    MACHINE_KERNEL     /* AT_HWCAP2 */
};

/* The x86-64 psABI's levels of processors. */
enum machine_level {
    MACHINE_ANY = 1, /* x86-64 */
    MACHINE_V2,
    MACHINE_V3,
    MACHINE_V4
};

/* This machine's; hwcap2 is what the kernel tells a program of as AT_HWCAP2. */
void machine_read(uint64_t hwcap2, uint32_t words[MACHINE_WORDS]);

/* The name of a feature that wanted has and here lacks ("avx2"; "a feature that has no name here"
 * when it has none); NULL: none.  Static text. */
const char *machine_missing(const uint32_t wanted[MACHINE_WORDS],
                            const uint32_t here[MACHINE_WORDS]);

/* The number of features that it names in these words, above that level; *names[i] for i below
 * room are set. */
size_t machine_features(const uint32_t words[MACHINE_WORDS], enum machine_level above,
                        const char **names, size_t room);

/* The highest level that has all its features in these words. */
enum machine_level machine_level(const uint32_t words[MACHINE_WORDS]);
/* "x86-64-v2": MACHINE_V2.  False: there is no level of that name. */
bool machine_level_named(const char *name, enum machine_level *ret);
const char *machine_level_name(enum machine_level level);
/* Takes out of the words what is no feature of that level. */
void machine_mask(uint32_t words[MACHINE_WORDS], enum machine_level level);

/* glibc's dynamic linker saves all vector registers on the stack whenever a function is called for
 * the first time, and makes the room for it that they took where the program began: with XSAVE, for
 * XSAVEC writes only what is in use, more of them elsewhere overwrite what lies above.  The
 * registers that there is room for, as in XCR0; all bits where it does not matter. */
#define MACHINE_LINKER_SAVES 0xeeU /* STATE_SAVE_MASK of glibc: of XCR0, what it saves */
uint32_t machine_linker_room(const uint32_t began[MACHINE_WORDS]);
bool machine_outgrows(uint32_t linker_room, const uint32_t here[MACHINE_WORDS]);

#endif
