/* base/check.c - ends a program that has found a mistake of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void check_failed(const char *condition, const char *file, int line, const char *function)
{
    (void)fprintf(stderr, "%s:%d: %s: check failed: %s\n", file, line, function, condition);
    (void)fflush(stderr);
    abort();
}
