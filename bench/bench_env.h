/* bench/bench_env.h - sizes of a bench from the environment.
 *
 * A bench has full sizes by default.  Its line "SHORT: NAME=VALUE ..." holds the sizes with which
 * `tools/bench.sh --short` ends in a second or two: the bench runs then, and measures nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_BENCH_ENV_H
#define BENCH_BENCH_ENV_H

#include <stdlib.h>

#include "base/text.h"

/* Returns the number in the environment variable `name`, from 1 to max; `otherwise` when the
 * variable is missing or invalid. */
static inline int number(const char *name, int otherwise, int max)
{
    const char *text = getenv(name);
    int64_t value;
    return text != NULL && text_parse_int64(text, &value, NULL) == 0 && value > 0 && value <= max
               ? (int)value
               : otherwise;
}

/* Returns `whole` divided by the environment variable BENCH_PART (default 1), at least 1. */
static inline int part_of(int whole)
{
    int part = whole / number("BENCH_PART", 1, 1000000);
    return part > 0 ? part : 1;
}

#endif
