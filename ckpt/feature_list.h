/* ckpt/feature_list.h - the features of a processor as a list, for who matches jobs and machines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_FEATURE_LIST_H
#define CKPT_FEATURE_LIST_H

#include <stdint.h>

#include "ckpt/machine.h"

struct strbuf;

/* "sse4.2,avx,avx2": appended; what has no name is its word and bit, "w2.13".  A program from there
 * runs where each of them is, and machine_missing() finds nothing. */
void feature_list(const uint32_t words[MACHINE_WORDS], struct strbuf *ret);

/* That a machine must not have more of: see machine_linker_room().  Of an image: the room that its
 * job has, "room-06"; nothing where it does not matter.  Of a machine that has these registers (as
 * in XCR0): each room that is enough for it.  Appended. */
void feature_list_room(uint32_t linker_room, struct strbuf *ret);
void feature_list_rooms(uint32_t registers, struct strbuf *ret);

#endif
