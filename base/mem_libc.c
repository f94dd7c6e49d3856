/* base/mem_libc.c - the heap of a real process: malloc, and an end with a message when it is
 * exhausted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"

#define SETTLE_LARGEST ((size_t)64 << 10)
#define SETTLE_SMALL   ((size_t)1 << 10) /* below it every size that there is */
#define SETTLE_STEP    ((size_t)16)

/* The kernel leaves 1 MB free below the main thread's stack: nothing else is within this range. */
#define STACK_TRIM ((uintptr_t)256 << 10)

static _Noreturn void abort_exhausted(size_t size)
{
    (void)fprintf(stderr, "memory exhausted: %zu bytes were refused\n", size);
    abort();
}

void *mem_alloc(size_t size)
{
    void *block = mem_try_alloc(size);
    if (!block) {
        abort_exhausted(size);
    }
    return block;
}

void *mem_zalloc(size_t size)
{
    CHECK(size > 0);
    void *block = calloc(1, size);
    if (!block) {
        abort_exhausted(size);
    }
    return block;
}

/* A block that ends after the present end of the heap is new memory: then no gap of that size is
 * left. */
void mem_settle(void)
{
    const uintptr_t end = (uintptr_t)sbrk(0);
    size_t size = SETTLE_LARGEST;
    while (size >= SETTLE_STEP) {
        uintptr_t block = (uintptr_t)malloc(size);
        if (block != 0 && block < end) {
            continue; /* it stays */
        }
        free((void *)block); /* NOLINT(performance-no-int-to-ptr) */
        size = size > SETTLE_SMALL ? size / 2 : size - SETTLE_STEP;
    }
}

/* Returns the pages below the present end of the stack, which deeper calls have used. */
static void trim_stack(void)
{
    if (gettid() != getpid()) {
        return; /* below the stack of a thread are other mappings */
    }
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t end = ((uintptr_t)__builtin_frame_address(0) - page) & ~(page - 1);
    (void)madvise((void *)(end - STACK_TRIM), /* NOLINT(performance-no-int-to-ptr) */
                  STACK_TRIM, MADV_DONTNEED); /* -ENOMEM: the stack never was so deep */
}

void mem_trim(void)
{
    (void)malloc_trim(0); /* there may be none */
    trim_stack();
}

void *mem_realloc(void *block, size_t size)
{
    void *larger = mem_try_realloc(block, size);
    if (!larger) {
        abort_exhausted(size);
    }
    return larger;
}

char *mem_strdup(const char *text)
{
    return mem_strndup(text, strlen(text));
}

char *mem_strndup(const char *text, size_t length)
{
    size_t used = strnlen(text, length);
    char *copy = mem_alloc(used + 1);
    memcpy(copy, text, used);
    copy[used] = '\0';
    return copy;
}

void *mem_dup(const void *data, size_t size)
{
    void *copy = mem_alloc(size > 0 ? size : 1);
    if (size > 0) {
        memcpy(copy, data, size);
    }
    return copy;
}

void *mem_try_alloc(size_t size)
{
    CHECK(size > 0);
    return malloc(size);
}

void *mem_try_realloc(void *block, size_t size)
{
    CHECK(size > 0);
    return realloc(block, size);
}

void mem_free(void *block)
{
    free(block);
}

/* The kernel takes back what a dead process held: no record is kept. */
void mem_on_drop(void *handle, void (*release)(void *handle))
{
    (void)handle;
    (void)release;
}

void mem_off_drop(void *handle)
{
    (void)handle;
}
