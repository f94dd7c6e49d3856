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

/* Returns the sum of data, continuing from the sum of the bytes before; before 0: there were
 * none. */
uint32_t ckpt_sum(uint32_t before, const void *data, size_t bytes);

/* Returns whether the processor has an instruction for CRC-32C.  Asking takes longer than the sum
 * of a page, in a virtual machine longer than that of ten pages: callers that sum piece by piece
 * ask once. */
bool ckpt_sum_is_fast(void);
/* ckpt_sum() with the answer of ckpt_sum_is_fast(). */
uint32_t ckpt_sum_by(bool fast, uint32_t before, const void *data, size_t bytes);
/* ckpt_sum() for processors that have the instruction. */
uint32_t ckpt_sum_fast(uint32_t before, const void *data, size_t bytes);

#endif
