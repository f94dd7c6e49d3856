/* sim/mem_sim.c - one heap for each simulated process.
 *
 * Each block records its heap: that of the process whose code runs when the block is allocated.
 * When the process is killed, its whole heap is dropped, together with the foreign handles that it
 * registered.  So a kill leaves behind only what the disk and the network hold.  Blocks that the
 * simulator or a test allocates for itself are in no heap.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "sim/sim_private.h"

_Static_assert(sizeof(struct sim_block) % 16 == 0, "blocks are aligned for any type");

struct foreign {
    struct sim_link link;
    void *handle;
    void (*release)(void *handle);
};

/* The only static variable of the simulator: mem_alloc() is called by code that cannot say whose
 * heap it means. */
static struct sim *running;

void sim_mem_use(struct sim *sim)
{
    running = sim;
}

struct sim *sim_mem_running(void)
{
    return running;
}

static struct sim_heap *current_heap(void)
{
    return running != NULL && running->current != NULL ? &running->current->heap : NULL;
}

void sim_heap_init(struct sim_heap *heap)
{
    heap->blocks.next = heap->blocks.prev = &heap->blocks;
    heap->count = 0;
    sim_list_init(&heap->foreign);
}

static void link_block(struct sim_heap *heap, struct sim_block *block, size_t size)
{
    block->heap = heap;
    block->size = size;
    block->next = block->prev = block;
    if (heap != NULL) {
        block->next = &heap->blocks;
        block->prev = heap->blocks.prev;
        block->prev->next = block;
        heap->blocks.prev = block;
        heap->count++;
    }
}

static void unlink_block(struct sim_block *block)
{
    block->next->prev = block->prev;
    block->prev->next = block->next;
    if (block->heap != NULL) {
        block->heap->count--;
    }
}

void sim_heap_drop(struct sim_heap *heap)
{
    while (heap->foreign.prev != &heap->foreign) {
        struct foreign *foreign = heap->foreign.prev->item;
        sim_list_remove(&foreign->link);
        foreign->release(foreign->handle);
        free(foreign);
    }
    while (heap->blocks.next != &heap->blocks) {
        struct sim_block *block = heap->blocks.next;
        unlink_block(block);
        free(block);
    }
}

void *mem_try_alloc(size_t size)
{
    CHECK(size > 0);
    if (size > SIZE_MAX - sizeof(struct sim_block)) {
        return NULL;
    }
    struct sim_block *block = malloc(sizeof(*block) + size);
    if (block == NULL) {
        return NULL;
    }
    link_block(current_heap(), block, size);
    return block + 1;
}

void *mem_alloc(size_t size)
{
    void *block = mem_try_alloc(size);
    CHECK(block != NULL);
    return block;
}

void *mem_zalloc(size_t size)
{
    return memset(mem_alloc(size), 0, size);
}

void *mem_try_realloc(void *data, size_t size)
{
    if (data == NULL) {
        return mem_try_alloc(size);
    }
    CHECK(size > 0);
    struct sim_block *block = (struct sim_block *)data - 1;
    struct sim_heap *heap = block->heap;
    if (size > SIZE_MAX - sizeof(*block)) {
        return NULL;
    }
    size_t old_size = block->size;
    unlink_block(block);
    struct sim_block *moved = realloc(block, sizeof(*block) + size);
    if (moved == NULL) {
        link_block(heap, block, old_size);
        return NULL;
    }
    link_block(heap, moved, size);
    return moved + 1;
}

void *mem_realloc(void *block, size_t size)
{
    void *moved = mem_try_realloc(block, size);
    CHECK(moved != NULL);
    return moved;
}

void *mem_dup(const void *data, size_t size)
{
    char *copy = mem_alloc(size > 0 ? size : 1);
    if (size > 0) {
        memcpy(copy, data, size);
    }
    return copy;
}

char *mem_strdup(const char *text)
{
    return mem_dup(text, strlen(text) + 1);
}

char *mem_strndup(const char *text, size_t length)
{
    size_t size = strnlen(text, length);
    char *copy = mem_alloc(size + 1);
    memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

/* Does nothing, because the whole heap is dropped at once. */
void mem_trim(void)
{
}

/* Does nothing, because simulated processes are no copies of one another. */
void mem_rejoin(void)
{
}

void mem_free(void *data)
{
    if (data == NULL) {
        return;
    }
    struct sim_block *block = (struct sim_block *)data - 1;
    unlink_block(block);
    free(block);
}

void mem_on_drop(void *handle, void (*release)(void *handle))
{
    struct sim_heap *heap = current_heap();
    if (heap == NULL) {
        return;
    }
    struct foreign *foreign = sim_alloc(sizeof(*foreign));
    foreign->handle = handle;
    foreign->release = release;
    sim_list_add(&heap->foreign, &foreign->link, foreign);
}

void mem_off_drop(void *handle)
{
    struct sim_heap *heap = current_heap();
    if (heap == NULL) {
        return;
    }
    for (struct sim_link *at = heap->foreign.prev; at != &heap->foreign; at = at->prev) {
        struct foreign *foreign = at->item;
        if (foreign->handle == handle) {
            sim_list_remove(at);
            free(foreign);
            return;
        }
    }
}

/* ---- the simulator's own --------------------------------------------------------------------- */

void *sim_alloc(size_t size)
{
    void *block = calloc(1, size > 0 ? size : 1);
    CHECK(block != NULL);
    return block;
}

void *sim_realloc(void *block, size_t size)
{
    void *moved = realloc(block, size > 0 ? size : 1);
    CHECK(moved != NULL);
    return moved;
}

char *sim_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(sim_alloc(size), text, size);
}

char *sim_text(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = NULL;
    int length = vasprintf(&text, format, args);
    va_end(args);
    CHECK(length >= 0);
    return text;
}

void sim_free(void *block)
{
    free(block);
}

void sim_list_init(struct sim_link *head)
{
    head->next = head->prev = head;
    head->item = NULL;
}

void sim_list_add(struct sim_link *head, struct sim_link *link, void *item)
{
    link->item = item;
    link->next = head;
    link->prev = head->prev;
    head->prev->next = link;
    head->prev = link;
}

void sim_list_remove(struct sim_link *link)
{
    if (link->next != NULL) {
        link->next->prev = link->prev;
        link->prev->next = link->next;
        link->next = link->prev = NULL;
    }
}

void *sim_list_first(const struct sim_link *head)
{
    return head->next != head ? head->next->item : NULL;
}
