/* ckpt/machine.h - what a program may have found out about its processor.
 *
 * A program chooses its code by the features that the processor said it had when the program began.
 * Resumed on one that lacks a feature it would end by an illegal instruction, or, worse, compute
 * something else.  So the image holds the words of CPUID that programs go by, and is refused where
 * a feature of them is missing.
 *
 * Also part of the stub: no C library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_MACHINE_H
#define CKPT_MACHINE_H

#include <stdint.h>

#define MACHINE_WORDS 8

void machine_read(uint32_t words[MACHINE_WORDS]);

/* The name of a feature that wanted has and here lacks ("avx2"; "a feature" when it has no name
 * here); NULL: none.  Static text. */
const char *machine_missing(const uint32_t wanted[MACHINE_WORDS],
                            const uint32_t here[MACHINE_WORDS]);

#endif
