/* ckpt/image/chain.c - a whole image and deltas after it: see chain.h.
 *
 * Goes from the first image to the last.  The pieces of an image are its own extents, and for
 * extents that are in its base, the pieces of the base, cut to size.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/image/chain.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "ckpt/image/image.h"

#define IN_BASE UINT32_MAX /* instead of an image's number */

int chain_check(const struct image *const *images, const char *const *names, size_t count,
                struct err *err)
{
    if (count == 0 || count > CHAIN_MAX) {
        return err_set(err, -EINVAL, "a chain of checkpoint images has 1 to %u images", CHAIN_MAX);
    }
    if (image_is_delta(images[0])) {
        return err_set(
            err, -EINVAL,
            "%s: not a full checkpoint image: this image holds only the changes since %s", names[0],
            image_text(images[0], image_head(images[0])->base));
    }
    for (size_t i = 1; i < count; i++) {
        const struct ckpt_head *head = image_head(images[i]);
        if (!image_is_delta(images[i])) {
            return err_set(err, -EINVAL,
                           "%s: a full checkpoint image; expected an image with changes only",
                           names[i]);
        }
        if (head->base_id != image_head(images[i - 1])->id) {
            return err_set(err, -EINVAL,
                           "%s: this image holds the changes since %s, but the image before it in "
                           "the chain is %s",
                           names[i], image_text(images[i], head->base), names[i - 1]);
        }
    }
    return 0;
}

static void add_piece(struct chain_pieces *pieces, const struct chain_piece *piece)
{
    if (pieces->count == pieces->capacity) {
        pieces->capacity = pieces->capacity > 0 ? pieces->capacity * 2 : 256;
        pieces->items = mem_realloc(pieces->items, pieces->capacity * sizeof *pieces->items);
    }
    pieces->items[pieces->count++] = *piece;
}

static int by_address(const void *a, const void *b)
{
    uint64_t x = ((const struct chain_piece *)a)->start, y = ((const struct chain_piece *)b)->start;
    return x < y ? -1 : x > y;
}

/* Lists what one image itself says about a process. */
static int own_pieces(const struct image *image, uint32_t number, uint32_t process,
                      struct chain_pieces *ret, struct err *err)
{
    struct ckpt_span regions = image_process(image, process)->regions;
    for (uint32_t i = 0; i < regions.count; i++) {
        struct ckpt_span extents = image_region(image, regions.first + i)->extents;
        for (uint32_t j = 0; j < extents.count; j++) {
            const struct ckpt_extent *extent = image_extent(image, extents.first + j);
            bool in_base = (extent->flags & CKPT_IN_BASE) != 0;
            const struct chain_piece piece = {.start = extent->start,
                                              .bytes = extent->bytes,
                                              .offset = extent->offset,
                                              .image = in_base ? IN_BASE : number};
            if (piece.bytes > 0) {
                add_piece(ret, &piece);
            }
        }
    }
    if (ret->count > 0) {
        qsort(ret->items, ret->count, sizeof *ret->items, by_address);
    }
    for (size_t i = 1; i < ret->count; i++) {
        const struct chain_piece *before = &ret->items[i - 1];
        if (ret->items[i].start - before->start < before->bytes) {
            return err_set(err, -EBADMSG,
                           "damaged checkpoint image: two memory extents overlap at %llx",
                           (unsigned long long)ret->items[i].start);
        }
    }
    return 0;
}

static bool find_process(const struct image *image, int32_t pid, uint32_t *ret)
{
    for (uint32_t i = 0; i < image_count(image, CKPT_PROCESSES); i++) {
        if (image_process(image, i)->pid == pid) {
            *ret = i;
            return true;
        }
    }
    return false;
}

/* Adds the part of the base's pieces that lies in this piece; *next: the first that may. */
static void add_part(const struct chain_pieces *base, size_t *next, const struct chain_piece *piece,
                     struct chain_pieces *ret)
{
    uint64_t end = piece->start + piece->bytes;
    while (*next < base->count &&
           base->items[*next].start + base->items[*next].bytes <= piece->start) {
        (*next)++;
    }
    for (size_t i = *next; i < base->count && base->items[i].start < end; i++) {
        const struct chain_piece *from = &base->items[i];
        uint64_t start = from->start > piece->start ? from->start : piece->start;
        uint64_t last = from->start + from->bytes < end ? from->start + from->bytes : end;
        const struct chain_piece part = {.start = start,
                                         .bytes = last - start,
                                         .offset = from->offset + (start - from->start),
                                         .image = from->image};
        add_piece(ret, &part);
    }
}

static bool needs_base(const struct chain_pieces *pieces)
{
    for (size_t i = 0; i < pieces->count; i++) {
        if (pieces->items[i].image == IN_BASE) {
            return true;
        }
    }
    return false;
}

int chain_pieces_of(const struct image *const *images, size_t count, uint32_t process,
                    struct chain_pieces *ret, struct err *err)
{
    /* Which process it is in each image, back to the first that is needed. */
    struct chain_pieces base = {.items = NULL}, *own = mem_zalloc(count * sizeof *own);
    int32_t pid = image_process(images[count - 1], process)->pid;
    size_t first = count;
    int rc = 0;
    do {
        first--;
        rc = own_pieces(images[first], (uint32_t)first, process, &own[first], err);
        if (rc == 0 && needs_base(&own[first]) &&
            (first == 0 || !find_process(images[first - 1], pid, &process))) {
            rc = err_set(
                err, -EBADMSG,
                "process %d: the image needs memory of a base image that has no such process",
                (int)pid);
        }
    } while (rc == 0 && needs_base(&own[first]));
    for (size_t i = first; rc == 0 && i < count; i++) {
        struct chain_pieces now = {.items = NULL};
        size_t next = 0;
        for (size_t j = 0; j < own[i].count; j++) {
            if (own[i].items[j].image != IN_BASE) {
                add_piece(&now, &own[i].items[j]);
            } else {
                add_part(&base, &next, &own[i].items[j], &now);
            }
        }
        chain_pieces_fini(&base);
        base = now;
    }
    for (size_t i = 0; i < count; i++) {
        chain_pieces_fini(&own[i]);
    }
    mem_free(own);
    if (rc == 0) {
        *ret = base;
    }
    return rc;
}

void chain_pieces_fini(struct chain_pieces *pieces)
{
    mem_free(pieces->items);
    *pieces = (struct chain_pieces){.items = NULL};
}
