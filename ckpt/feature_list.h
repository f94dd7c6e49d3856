/* ckpt/feature_list.h - a processor's features as a list of words, for matching jobs with machines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_FEATURE_LIST_H
#define CKPT_FEATURE_LIST_H

#include <stdint.h>

#include "ckpt/machine.h"

struct strbuf;

/* Appends the features in these words: "sse4.2,avx,avx2".  A feature without a name is its word and
 * bit, "w2.13".  A program that began on such a machine runs on each machine that has all of them;
 * there machine_missing() finds nothing. */
void feature_list(const uint32_t words[MACHINE_WORDS], struct strbuf *ret);

/* Two lists about the dynamic linker's room for registers (machine_linker_room()), of which a
 * machine must not have more than the job's room. feature_list_room() appends an image's room, such
 * as "room-06", or nothing where it does not matter. feature_list_rooms() appends each room that is
 * large enough for a machine with these registers (bits as in XCR0). */
void feature_list_room(uint32_t linker_room, struct strbuf *ret);
void feature_list_rooms(uint32_t registers, struct strbuf *ret);

#endif
