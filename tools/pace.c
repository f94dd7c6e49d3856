/* tools/pace.c - how fast this machine compiles: the limits of time of the lints are multiples of
 * that.
 *
 * This file is never linked.  tests/CMakeLists.txt compiles it when the build is configured.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A body that the optimizer has some work with. */
#define ONE(name)                                                            \
    int name(const char *text, char *to, size_t size);                       \
    int name(const char *text, char *to, size_t size)                        \
    {                                                                        \
        size_t length = strlen(text), at = 0;                                \
        for (size_t i = 0; i < length && at + 8 < size; i++) {               \
            unsigned char c = (unsigned char)text[i];                        \
            at += c < 32 ? (size_t)snprintf(to + at, size - at, "\\%03o", c) \
                         : (size_t)snprintf(to + at, size - at, "%c", c);    \
        }                                                                    \
        return (int)at;                                                      \
    }
#define TEN(name) \
    ONE(name##0)  \
    ONE(name##1)  \
    ONE(name##2)  \
    ONE(name##3) ONE(name##4) ONE(name##5) ONE(name##6) ONE(name##7) ONE(name##8) ONE(name##9)
TEN(a)
TEN(b)
TEN(c)
TEN(d)
TEN(e)
TEN(f)
