/* ckpt/image/chain.h - a whole image and deltas after it: finds where the newest memory lies.
 *
 * Pure.  The first image of a chain is whole.  Each other one is a delta: it holds what changed
 * against the result of those before it (format.h, CKPT_DELTA).  The result is a list of pieces,
 * each: these bytes, at this memory address, are at this place in that image of the chain.
 *
 * Images may come from untrusted users: whatever they contain, a piece is an extent of an image, or
 * part of one, within its region.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_IMAGE_CHAIN_H
#define CKPT_IMAGE_CHAIN_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct image;

#define CHAIN_MAX 1024U /* images in a chain */

/* A piece of the newest memory. */
struct chain_piece {
    uint64_t start, bytes; /* in memory */
    uint64_t offset;       /* in the image's file */
    uint32_t image;        /* index in the chain */
};

struct chain_pieces { /* sorted by address */
    struct chain_piece *items;
    size_t count, capacity;
};

/* Checks that each image builds upon those before it.  0; -EINVAL: err says which image (names[i])
 * needs which base. */
int chain_check(const struct image *const *images, const char *const *names, size_t count,
                struct err *err);
/* Finds the memory of one process of the newest image.  0; -EBADMSG: extents overlap, or the base
 * lacks the process; then *ret is untouched. */
int chain_pieces_of(const struct image *const *images, size_t count, uint32_t process,
                    struct chain_pieces *ret, struct err *err);
void chain_pieces_fini(struct chain_pieces *pieces);

#endif
