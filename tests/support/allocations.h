/* tests/support/allocations.h - counts the allocations of the test program, by a malloc of its own.
 *
 * Not under a sanitizer, which has its own: COUNTS_ALLOCATIONS is false then, and nothing counts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_ALLOCATIONS_H
#define TESTS_SUPPORT_ALLOCATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

static size_t allocations;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTS_ALLOCATIONS true
void *__libc_malloc(size_t size);
void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}
void *__libc_calloc(size_t count, size_t size);
void *calloc(size_t count, size_t size)
{
    allocations++;
    return __libc_calloc(count, size);
}
void *__libc_realloc(void *block, size_t size);
void *realloc(void *block, size_t size)
{
    allocations++;
    return __libc_realloc(block, size);
}
#else
#define COUNTS_ALLOCATIONS false
#endif

#endif
