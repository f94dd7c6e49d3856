/* ckpt/library/outcome.h - what the helper tells the program that started it.
 *
 * The helper is a process of its own, which writes to the program's memory: first that it runs on,
 * then how it ended.  What is in the image has neither.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_LIBRARY_OUTCOME_H
#define CKPT_LIBRARY_OUTCOME_H

#include <stdint.h>

struct outcome {
    uint32_t is_held_no_more; /* what the program does from now on is in no image */
    uint32_t is_told;         /* the rest holds */
    int32_t result;           /* 0 or a negative errno */
    char text[512];           /* of an error */
};

#endif
