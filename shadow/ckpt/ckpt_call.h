/* shadow/ckpt/ckpt_call.h - struct ckpt_call: one call of a starter about checkpoints, for the
 * files of this folder.
 *
 * A job's checkpoints are numbered (CkptSequence); the directory of a checkpoint is called a
 * generation.  A delta is an image that holds only what changed since an earlier one.
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
#define CKPT_GENERATIONS  2 /* number of checkpoints of a job that are kept, the newest ones */
#define CKPT_NAMES_MAX    100000

/* What a call CKPT_... (CKPT_PUT, CKPT_GET, ...) asks for, and what was found.  While a work
 * (run_work.h) runs on the lane (worker thread), only that work may use the struct. */
struct ckpt_call {
    /* numbers of the checkpoint, and of the kept checkpoint before it (0: none) */
    int64_t sequence, previous;
    /* if the starter sends a delta: number of the checkpoint to which the delta holds the changes;
     * 0: not a delta */
    int64_t base;
    /* for one file of the checkpoint, in bytes.  offset: where in the file the bytes that CKPT_PUT
     * brings, or that CKPT_GET wants, begin (-1: CKPT_PUT brings none, and asks for have); size:
     * size of the complete file; have: how much of the file the shadow has stored */
    int64_t offset, size, have;
    /* name of the file that is sent or read, one of CKPT_NAME_...; NULL: no file */
    const char *name;
    bool is_damaged;     /* in CKPT_REFUSED: the bytes of the checkpoint are damaged */
    bool is_kept;        /* the schedd has committed this checkpoint as the latest one */
    char *reason;        /* in CKPT_REFUSED: why the checkpoint could not be resumed */
    struct ad *manifest; /* in CKPT_DONE: the checkpoint's manifest */
    char *bytes;         /* bytes that CKPT_GET has read */
    size_t length;
    /* in CKPT_LOOK: encoded manifests of the kept checkpoints; NULL: no checkpoint */
    char *found[CKPT_GENERATIONS];
    size_t found_length[CKPT_GENERATIONS];
};

void ckpt_call_destroy(struct ckpt_call *call);
/* Returns the path of the directory for the checkpoint of the run's job that has the number
 * sequence.  Owned by the caller. */
char *ckpt_call_place(const struct run *run, int64_t sequence);
/* Returns the size in bytes of a plain file in a directory of the shadow; 0: no such file. */
int64_t ckpt_call_size_in(struct run *run, const char *directory, const char *name);

#endif
