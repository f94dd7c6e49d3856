/* base/arena.c - blocks in a list; to hand out memory is to move a pointer.
 *
 * What does not fit into the rest of the current block gets a new block.  A large piece gets a
 * block of its own behind the current one, so that the rest of the current block is not lost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

#define BLOCK_BYTES_DEFAULT ((size_t)16 << 10)
#define BLOCK_BYTES_MIN     ((size_t)256)

struct block {
    struct block *next;
    size_t size; /* of bytes */
    size_t used;
    alignas(max_align_t) unsigned char bytes[];
};

struct arena {
    struct block *current; /* the rest of the list is full, or single large pieces */
    size_t block_bytes;
    size_t max_bytes; /* SIZE_MAX: none */
    size_t handed_out;
};

struct arena *arena_create(size_t block_bytes, size_t max_bytes)
{
    struct arena *arena = mem_zalloc(sizeof(*arena));
    arena->block_bytes = block_bytes == 0 ? BLOCK_BYTES_DEFAULT : block_bytes;
    if (arena->block_bytes < BLOCK_BYTES_MIN) {
        arena->block_bytes = BLOCK_BYTES_MIN;
    }
    arena->max_bytes = max_bytes == 0 ? SIZE_MAX : max_bytes;
    return arena;
}

static void free_blocks(struct block *block)
{
    while (block) {
        struct block *next = block->next;
        mem_free(block);
        block = next;
    }
}

void arena_destroy(struct arena *arena)
{
    if (arena) {
        free_blocks(arena->current);
        mem_free(arena);
    }
}

void arena_reset(struct arena *arena)
{
    arena->handed_out = 0;
    if (arena->current) {
        free_blocks(arena->current->next);
        arena->current->next = NULL;
        arena->current->used = 0;
    }
}

static struct block *block_create(size_t size)
{
    if (size > SIZE_MAX - sizeof(struct block)) {
        return NULL;
    }
    struct block *block = mem_try_alloc(sizeof(*block) + size);
    if (block) {
        block->next = NULL;
        block->size = size;
        block->used = 0;
    }
    return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    const size_t align = alignof(max_align_t);
    if (size > arena->max_bytes - arena->handed_out || size > SIZE_MAX - align) {
        return NULL;
    }
    size_t rounded = size == 0 ? align : (size + align - 1) / align * align;
    struct block *block = arena->current;
    if (!block || rounded > block->size - block->used) {
        /* At most a quarter of a block is left unused. */
        bool large = rounded > arena->block_bytes / 4;
        block = block_create(large ? rounded : arena->block_bytes);
        if (!block) {
            return NULL;
        }
        if (large && arena->current) {
            block->next = arena->current->next;
            arena->current->next = block;
        } else {
            block->next = arena->current;
            arena->current = block;
        }
    }
    void *piece = block->bytes + block->used;
    block->used += rounded;
    arena->handed_out += size;
    return piece;
}

void *arena_zalloc(struct arena *arena, size_t size)
{
    void *piece = arena_alloc(arena, size);
    if (piece) {
        memset(piece, 0, size);
    }
    return piece;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
    size_t used = strnlen(text, length);
    char *copy = arena_alloc(arena, used + 1);
    if (copy) {
        memcpy(copy, text, used);
        copy[used] = '\0';
    }
    return copy;
}

size_t arena_bytes(const struct arena *arena)
{
    return arena->handed_out;
}
