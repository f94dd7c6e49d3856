/* ckpt/image/chain.h - finds the newest memory of a job in a chain of images: a whole image and the
 * deltas after it.
 *
 * Pure.  The first image of a chain is whole.  Each further image is a delta: it holds the memory
 * that changed since the image before it (format.h, CKPT_DELTA).  The result is a list of pieces
 * (struct chain_piece).  Each piece says for a range of memory addresses in which image of the
 * chain, and at which offset, its newest contents are.
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

#define CHAIN_MAX 1024U /* most images in a chain */

/* A range of a process's memory, and where in the chain of images its newest contents are. */
struct chain_piece {
    uint64_t start, bytes; /* address in the process's memory, and length */
    uint64_t offset;       /* offset of the contents in the image file */
    uint32_t image;        /* index, in the chain, of the image that has the contents */
};

struct chain_pieces { /* a list of ranges of memory, sorted by address */
    struct chain_piece *items;
    size_t count, capacity;
};

/* Checks that each image builds upon the images before it.  Returns 0; or -EINVAL: err says which
 * image (names[i]) needs which base. */
int chain_check(const struct image *const *images, const char *const *names, size_t count,
                struct err *err);
/* Finds where the newest contents of the memory of one process are. process: its index in the
 * newest image, the last of the chain.  Returns 0; or -EBADMSG: extents of an image overlap, or a
 * base lacks the process; then *ret is untouched. */
int chain_pieces_of(const struct image *const *images, size_t count, uint32_t process,
                    struct chain_pieces *ret, struct err *err);
void chain_pieces_fini(struct chain_pieces *pieces);

#endif
