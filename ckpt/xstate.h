/* ckpt/xstate.h - converts the extended registers of a thread from one processor's layout to
 * another's.
 *
 * The kernel uses the standard form of XSAVE: each component (AVX, AVX-512, ...) lies at the offset
 * that CPUID reports, which differs between vendors; the total size depends on which components a
 * processor has.  A component in its initial state is not marked in the header, or is all zeroes,
 * and needs no room.  So a thread that does not use AVX-512 at the moment can continue on a
 * processor without it, whatever the layout was.
 *
 * Also part of the stub, the program at the head of an image: no C library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_XSTATE_H
#define CKPT_XSTATE_H

#include <stddef.h>
#include <stdint.h>

#include "ckpt/format.h"

#define XSTATE_HEADER 512U /* offset of the header of XSAVE, after what FXSAVE writes */
#define XSTATE_MIN    (XSTATE_HEADER + 64U)
/* The components x87 and SSE, bits as in XCR0; their place is fixed (FXSAVE). */
#define XSTATE_LEGACY   UINT64_C(3)
#define XSTATE_KEYS     9           /* component number of PKRU, the register of protection keys */
#define XSTATE_KEYS_ARE 0x55555554U /* the value of PKRU with which Linux starts each program */

/* Reads this processor's layout of the components that the kernel lets programs use; ret->features:
 * these components, bits as in XCR0. */
void xstate_read_layout(struct ckpt_xstate_layout *ret);

/* Returns the name, as a static text, of a component that is in use in the state `saved` and has no
 * place in the layout `here`; NULL: there is none.  `saved` is in the layout `from`; the caller
 * must have checked that the components of that layout lie within the bytes of `saved`. */
const char *xstate_missing(const struct ckpt_xstate_layout *from, const uint8_t *saved,
                           const struct ckpt_xstate_layout *here);

/* Returns how many bytes xstate_fit() writes at most when it converts any state from the layout
 * `from` to the layout `here`. */
size_t xstate_fit_max(const struct ckpt_xstate_layout *from, const struct ckpt_xstate_layout *here);

/* Converts the state `saved` from the layout `from` to the layout `here`, and writes it to `to`, an
 * address that is a multiple of 64.  Components that have no place in `here` are left out.  Returns
 * the number of bytes; *features: the components that the result contains, bits as in XCR0. */
size_t xstate_fit(const struct ckpt_xstate_layout *from, const uint8_t *saved,
                  const struct ckpt_xstate_layout *here, uint8_t *to, uint64_t *features);

#endif
