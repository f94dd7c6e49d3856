/* ckpt/library/outcome.h - what the helper process tells the program that started it.
 *
 * The helper makes the image from outside.  It writes two things to the program's memory: first,
 * that the program runs again; then, the result.  The image contains neither of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_LIBRARY_OUTCOME_H
#define CKPT_LIBRARY_OUTCOME_H

#include <stdint.h>

struct outcome {
    /* 1: the program runs again; what it does from now on is not in the image. */
    uint32_t is_held_no_more;
    uint32_t is_told; /* 1: result and text are valid */
    int32_t result;   /* 0: the image was made; otherwise a negative errno */
    char text[512];   /* why the image was not made */
};

#endif
