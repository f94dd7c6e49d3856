/* ckpt/sum.h - CRC-32C, by which images are checked.
 *
 * Also part of the stub: no C library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_SUM_H
#define CKPT_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of these bytes, going on from the sum of what was before them; 0: nothing was. */
uint32_t ckpt_sum(uint32_t before, const void *data, size_t bytes);

/* Has the processor an instruction for it?  Asking takes longer than the sum of a page, and in a
 * guest, whose host answers, longer than that of ten: who sums piece by piece asks once. */
bool ckpt_sum_is_fast(void);
/* The same sum, by who has asked. */
uint32_t ckpt_sum_by(bool fast, uint32_t before, const void *data, size_t bytes);
/* The same sum, where it has. */
uint32_t ckpt_sum_fast(uint32_t before, const void *data, size_t bytes);

#endif
