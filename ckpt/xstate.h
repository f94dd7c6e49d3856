/* ckpt/xstate.h - the extended registers of a thread, from one processor's layout to another's.
 *
 * What the kernel gives and takes is the standard form of XSAVE: a component (AVX, AVX-512, ...)
 * lies where CPUID says that it does, and that differs between makers; how long the whole is
 * depends on which components a processor has.  A component that is in its first state is not
 * marked in the header, or is all zeroes, and needs no place: so a thread that does not use AVX-512
 * now can go on where there is none, whatever the layout was.
 *
 * Also part of the stub: no C library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_XSTATE_H
#define CKPT_XSTATE_H

#include <stddef.h>
#include <stdint.h>

#include "ckpt/format.h"

#define XSTATE_HEADER   512U /* behind what FXSAVE writes */
#define XSTATE_MIN      (XSTATE_HEADER + 64U)
#define XSTATE_LEGACY   UINT64_C(3) /* x87 and SSE: not laid out by anybody */
#define XSTATE_KEYS     9           /* the register of protection keys */
#define XSTATE_KEYS_ARE 0x55555554U /* what Linux puts there for each program */

/* This processor's, of the components that the kernel lets programs use: features as in XCR0. */
void xstate_read_layout(struct ckpt_xstate_layout *ret);

/* What of saved is in use and has no place here: the component's name; NULL: nothing.  saved has
 * been checked: its components lie in its bytes. */
const char *xstate_missing(const struct ckpt_xstate_layout *from, const uint8_t *saved,
                           const struct ckpt_xstate_layout *here);

/* How much xstate_fit() writes at most for any state of that layout. */
size_t xstate_fit_max(const struct ckpt_xstate_layout *from, const struct ckpt_xstate_layout *here);

/* Writes the state as it is laid out here, to an address that is a multiple of 64; returns its
 * bytes, and in *features the components that it tells of.  What is missing here is left out. */
size_t xstate_fit(const struct ckpt_xstate_layout *from, const uint8_t *saved,
                  const struct ckpt_xstate_layout *here, uint8_t *to, uint64_t *features);

#endif
