/* base/arena.h - memory for work with an end, freed in one call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena;

/* block_bytes: size of the blocks taken from the heap, 0 for the default of 16 KiB.  max_bytes:
 * limit of all that is handed out, 0 for none. */
struct arena *arena_create(size_t block_bytes, size_t max_bytes);
void arena_destroy(struct arena *arena); /* NULL is allowed */
void arena_reset(struct arena *arena);   /* everything handed out is gone; one block is kept */

/* Aligned for any type; NULL when the limit is crossed or memory is exhausted. */
void *arena_alloc(struct arena *arena, size_t size);
void *arena_zalloc(struct arena *arena, size_t size);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t length);
size_t arena_bytes(const struct arena *arena); /* handed out since creation or reset */

#endif
