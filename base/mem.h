/* base/mem.h - all heap memory is allocated here.
 *
 * That lets the simulator give each simulated process a heap of its own and drop it when it plays
 * kill -9.  Two bodies: mem_libc.c (malloc) and sim/mem_sim.c (malloc with a list for each
 * process). mem_try_...() return NULL when memory is exhausted: use them for sizes that depend on
 * input, which the caller must limit.  All other functions abort when memory is exhausted: use them
 * for small things of known size.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

void *mem_alloc(size_t size);  /* size > 0; uninitialized; aborts when memory is exhausted */
void *mem_zalloc(size_t size); /* size > 0; all bytes zero; aborts when memory is exhausted */
void *mem_realloc(void *block, size_t size); /* aborts when memory is exhausted */
char *mem_strdup(const char *text);          /* aborts when memory is exhausted */
char *mem_strndup(const char *text, size_t length);
/* Returns a copy of data[0..size), or a block of 1 byte for size 0; aborts when memory is
 * exhausted. */
void *mem_dup(const void *data, size_t size);
void *mem_try_alloc(size_t size); /* returns NULL when memory is exhausted */
/* Returns NULL when memory is exhausted; `block` is then still valid. */
void *mem_try_realloc(void *block, size_t size);
void mem_free(void *block); /* NULL is allowed */

/* Allocates, for good, the free gaps between blocks, so that later allocations lie together on
 * pages of their own.  For a process that will be copied by fork (base/daemon/prepared.h):
 * otherwise each copy would write a little to every shared page.  Exists only in mem_libc.c. */
void mem_settle(void);

/* Backs the heap, as it is now, with a sealed file in memory, of which each copy of this process
 * gets private pages.  So a copy can exchange a page that it has written to for the common one,
 * with mem_rejoin().  For a process that has one thread and will be copied by fork, after
 * mem_settle().  If this fails, the heap stays as it was.  Exists only in mem_share_linux.c. */
void mem_share(void);
/* Gives back each page of the heap that is equal again to what it was at mem_share(): reference
 * counts that were raised and lowered dirty many pages.  Does nothing without mem_share().
 * Compares the whole shared heap, about 0.1 ms for 1 MB. */
void mem_rejoin(void);

/* Returns unused pages of the heap, and of the main thread's stack, to the kernel; for a process
 * that will now wait for a long time. */
void mem_trim(void);

/* Registers an object of another library (an SQLite handle, an SSL object) that must be released
 * when the simulator frees all memory of a simulated process: release(handle) is called then.  Does
 * nothing in the real body: the kernel cleans up after a dead process. */
void mem_on_drop(void *handle, void (*release)(void *handle));
void mem_off_drop(void *handle); /* undoes mem_on_drop(), because the handle was closed normally */

#endif
