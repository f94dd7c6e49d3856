/* ckpt/feature_list.h - a processor's features as a list of words, for matching jobs with machines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_FEATURE_LIST_H
#define CKPT_FEATURE_LIST_H

#include <stdint.h>

#include "ckpt/machine.h"

struct strbuf;

/* Appends the names of the features in these words of CPUID (enum machine_word): "sse4.2,avx,avx2".
 * A feature that has no name appears as "w2.13": bit 13 of word 2.  A program that began on a
 * machine with these words runs on each machine that has all features of the list. */
void feature_list(const uint32_t words[MACHINE_WORDS], struct strbuf *ret);

/* Appends a word, such as "room-06", for the set of registers that the dynamic linker of the
 * image's programs has room to save (machine_linker_room()); nothing if that room is not limited.
 * The image can be resumed on a machine whose list (feature_list_rooms()) has that word. */
void feature_list_room(uint32_t linker_room, struct strbuf *ret);
/* Appends those words of feature_list_room() whose set of registers includes all of a machine's: an
 * image with one of these words can be resumed on the machine. registers: the machine's, bits as in
 * the processor's register XCR0. */
void feature_list_rooms(uint32_t registers, struct strbuf *ret);

#endif
