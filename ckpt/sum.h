/* ckpt/sum.h - CRC-32C, the checksum of images.
 *
 * Also part of the stub, the program at the head of an image: no C library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_SUM_H
#define CKPT_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the checksum of some bytes followed by data[0..bytes). before: the checksum of those
 * bytes; 0: there are none. */
uint32_t ckpt_sum(uint32_t before, const void *data, size_t bytes);

/* Returns whether the processor has an instruction for CRC-32C.  The question takes longer than the
 * checksum of a page; in a virtual machine, longer than that of ten pages.  So a caller that
 * computes many checksums asks once. */
bool ckpt_sum_is_fast(void);
/* Does the work of ckpt_sum(), without asking the processor. fast: the result of
 * ckpt_sum_is_fast(). */
uint32_t ckpt_sum_by(bool fast, uint32_t before, const void *data, size_t bytes);
/* Does the work of ckpt_sum().  To be called only if ckpt_sum_is_fast() returned true. */
uint32_t ckpt_sum_fast(uint32_t before, const void *data, size_t bytes);

#endif
