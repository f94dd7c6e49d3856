/* base/mem.h - the only door to the heap.
 *
 * Daemons allocate through here so that the simulator can give each simulated process a heap of its
 * own and drop it whole when it plays kill -9.  There are two bodies: mem_libc.c (malloc) and
 * sim/mem_sim.c (malloc with a per-process list).  The "fixed" calls abort on exhaustion: use them
 * for small things of known size; what is sized by input is bounded by its caller and uses the try_
 * calls, which return NULL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

void *mem_alloc(size_t size);                /* size > 0; uninitialized; never NULL */
void *mem_zalloc(size_t size);               /* the same, zeroed */
void *mem_realloc(void *block, size_t size); /* never NULL */
char *mem_strdup(const char *text);          /* never NULL */
char *mem_strndup(const char *text, size_t length);
void *mem_dup(const void *data, size_t size);    /* size may be 0: then a 1-byte block */
void *mem_try_alloc(size_t size);                /* NULL when exhausted */
void *mem_try_realloc(void *block, size_t size); /* NULL when exhausted, block still valid */
void mem_free(void *block);                      /* NULL is allowed */

/* Fills what is free between blocks, for good, so that what is allocated from now on lies together,
 * on pages of its own: before a process is copied (base/daemon/prepared.h), whose copies would else
 * each write a little on every page that they share.  The real body only. */
void mem_settle(void);

/* Gives the kernel the pages back that hold nothing: for a process that now waits for long. */
void mem_trim(void);

/* Something of a foreign library (an SQLite handle, an SSL object) that must be released when the
 * process's heap is dropped by the simulator.  The libc body only keeps no record: the kernel
 * cleans up after a dead process. */
void mem_on_drop(void *handle, void (*release)(void *handle));
void mem_off_drop(void *handle); /* the handle was closed in the ordinary way */

#endif
