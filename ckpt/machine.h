/* ckpt/machine.h - what a program may have found out about its processor.
 *
 * A program chooses its code by the features that the processor reports when the program begins.
 * Resumed on a processor that lacks such a feature, it would end by an illegal instruction or,
 * worse, compute wrong results.  So an image holds the words of CPUID that programs look at, and is
 * refused where one of their features is missing.  Each feature that the processor reported counts,
 * used or not: nobody can see from outside what a program uses.  Where machines differ, programs
 * are started with some features hidden (`roost-ckpt run --cpu x86-64-v2`); then the words in their
 * images lack these features, too.
 *
 * Also part of the stub, the program at the head of an image: no C library, no pointers in tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_MACHINE_H
#define CKPT_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MACHINE_WORDS 12

/* The words with a processor's features, named by leaf, subleaf and register of CPUID, except for
 * the last two. */
enum machine_word {
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
    MACHINE_XCR0,      /* the register XCR0: which registers the kernel lets programs use */
    MACHINE_KERNEL     /* the value of AT_HWCAP2, from the kernel */
};

/* Levels of processors, as the x86-64 psABI defines them. */
enum machine_level {
    MACHINE_ANY = 1, /* x86-64 */
    MACHINE_V2,
    MACHINE_V3,
    MACHINE_V4
};

/* Reads the words of this machine. hwcap2: the value of AT_HWCAP2 that the kernel gives
 * programs. */
void machine_read(uint64_t hwcap2, uint32_t words[MACHINE_WORDS]);

/* Returns the name, as a static text, of a feature that `wanted` has and `here` lacks: "avx2", or
 * "a feature unknown to this version of roost-ckpt"; NULL: none is missing. */
const char *machine_missing(const uint32_t wanted[MACHINE_WORDS],
                            const uint32_t here[MACHINE_WORDS]);

/* Finds the features in these words that have a name and that the level `above` does not have.
 * Returns their number, and sets names[0..room) to the first of them (static texts). */
size_t machine_features(const uint32_t words[MACHINE_WORDS], enum machine_level above,
                        const char **names, size_t room);

/* Returns the highest level whose features are all in these words. */
enum machine_level machine_level(const uint32_t words[MACHINE_WORDS]);
/* Finds a level by its name, "x86-64-v2".  False: there is no such level. */
bool machine_level_named(const char *name, enum machine_level *ret);
const char *machine_level_name(enum machine_level level);
/* Removes from the words all features that the level does not have. */
void machine_mask(uint32_t words[MACHINE_WORDS], enum machine_level level);

/* The bits of XCR0 that glibc's dynamic linker saves: STATE_SAVE_MASK of glibc. */
#define MACHINE_LINKER_SAVES 0xeeU
/* Returns the set of registers, bits as in XCR0, for which glibc's dynamic linker has room in a
 * program that began on a machine with these words.  The linker saves all vector registers on the
 * stack when a function is called for the first time, in room whose size it chose when the program
 * began.  On a processor with more registers, that would overwrite other data.  All bits are set if
 * the room does not matter, because the linker uses XSAVEC, which saves only registers in use. */
uint32_t machine_linker_room(const uint32_t began[MACHINE_WORDS]);
/* Returns whether a machine has a group of registers (a bit of XCR0) that is not in linker_room.
 * here: the words of this machine, as machine_read() reads them; linker_room: the result of
 * machine_linker_room() for the words of the machine on which the program began.  If true, the
 * program must not continue on this machine. */
bool machine_outgrows(uint32_t linker_room, const uint32_t here[MACHINE_WORDS]);

#endif
