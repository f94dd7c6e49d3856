/* base/arena.h - an arena: many small allocations that are freed in one call.
 *
 * For work that ends, such as one request or one negotiation cycle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena;

/* Makes an empty arena; never returns NULL. block_bytes: size of the blocks of memory that the
 * arena allocates for itself; 0: 16 KiB. max_bytes: most bytes that the arena hands out; 0: no
 * limit. */
struct arena *arena_create(size_t block_bytes, size_t max_bytes);
void arena_destroy(struct arena *arena); /* NULL is allowed */
/* frees all memory handed out by the arena; keeps one block for reuse */
void arena_reset(struct arena *arena);

/* arena_alloc(), arena_zalloc() (all bytes zero), arena_strdup() and arena_strndup() return memory
 * aligned for any type, which lives until arena_reset() or arena_destroy(); NULL: the limit
 * max_bytes of arena_create() would be exceeded, or memory is exhausted. */
void *arena_alloc(struct arena *arena, size_t size);
void *arena_zalloc(struct arena *arena, size_t size);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t length);
/* Returns the bytes handed out since the arena was created or last reset. */
size_t arena_bytes(const struct arena *arena);

#endif
