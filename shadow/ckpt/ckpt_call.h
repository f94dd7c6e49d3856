/* shadow/ckpt/ckpt_call.h - one call of a starter about checkpoints, as the files of this folder
 * share it.
 *
 * A job's checkpoints are numbered (CkptSequence); the directory of each is a generation.  A delta
 * is an image that holds only what changed since an earlier one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_CKPT_CKPT_CALL_H
#define SHADOW_CKPT_CKPT_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct run;

#define CKPT_PIECE_MAX    ((size_t)1 << 20)
#define CKPT_MANIFEST_MAX ((size_t)256 << 10)
#define CKPT_GENERATIONS  2 /* newest generations that are kept */
#define CKPT_NAMES_MAX    100000

/* What a call CKPT_... asks for, and what was found.  While a work uses it on the lane (worker
 * thread), nobody else does. */
struct ckpt_call {
    int64_t sequence, previous; /* the checkpoint, and the one before it that is kept */
    int64_t base;               /* checkpoint that a delta changes; 0: not a delta */
    int64_t offset, size, have; /* first byte and size of the file; bytes that we have */
    const char *name;           /* one of CKPT_NAME_...; NULL: none */
    bool is_damaged;            /* CKPT_REFUSED: its bytes are damaged */
    bool is_kept;               /* the schedd has committed a checkpoint of this number */
    char *reason;               /* CKPT_REFUSED: why it could not be resumed */
    struct ad *manifest;        /* of CKPT_DONE; used only by the lane while a work runs */
    char *bytes;                /* what CKPT_GET has read */
    size_t length;
    char *found[CKPT_GENERATIONS]; /* CKPT_LOOK: manifests, NULL where none is */
    size_t found_length[CKPT_GENERATIONS];
};

void ckpt_call_destroy(struct ckpt_call *call);
/* Returns the directory of a checkpoint; owned by the caller. */
char *ckpt_call_place(const struct run *run, int64_t sequence);
/* Returns the size of a plain file in a directory of ours; 0: no such file. */
int64_t ckpt_call_size_in(struct run *run, const char *directory, const char *name);

#endif
