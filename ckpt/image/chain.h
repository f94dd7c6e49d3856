/* ckpt/image/chain.h - an image and what changed since: where the memory of the newest one lies.
 *
 * Pure.  The first of a chain is a whole image, each other one a delta against what the ones before
 * it give together (format.h, CKPT_DELTA).  What comes of it are pieces: so many bytes at that
 * address are at that place in that image of the chain.
 *
 * Images of a chain may come from strangers: whatever they say, a piece is an extent of an image or
 * a part of one, within its region.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_IMAGE_CHAIN_H
#define CKPT_IMAGE_CHAIN_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct image;

#define CHAIN_MAX 1024U /* images */

struct chain_piece {
    uint64_t start, bytes; /* of memory */
    uint64_t offset;       /* in the image */
    uint32_t image;        /* which of the chain */
};

struct chain_pieces { /* by address */
    struct chain_piece *items;
    size_t count, capacity;
};

/* Do they follow on each other?  -EINVAL: not, err says which one (names[i]) wants which base. */
int chain_check(const struct image *const *images, const char *const *names, size_t count,
                struct err *err);
/* The memory of a process of the newest one.  -EBADMSG: extents lie on each other, or the base has
 * no such process; *ret is untouched then. */
int chain_pieces_of(const struct image *const *images, size_t count, uint32_t process,
                    struct chain_pieces *ret, struct err *err);
void chain_pieces_fini(struct chain_pieces *pieces);

#endif
