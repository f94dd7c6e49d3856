/* starter/ckpt/resume.h - starts a job from a checkpoint instead of from its beginning.
 *
 * In the input phase the checkpoint's image and archive are received and checked.  A damaged
 * checkpoint is refused and the one before it is tried; after the last one the job starts from its
 * beginning.  In the run phase the archive is unpacked and the image is executed in place of the
 * job's program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_CKPT_RESUME_H
#define STARTER_CKPT_RESUME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct digest;
struct os_file;
struct starter;
struct vec;

/* Steps on the way to a checkpoint that can be run. */
enum starter_resume_step {
    RESUME_UNKNOWN,   /* nothing was done yet */
    RESUME_LOOKING,   /* the shadow is asked which checkpoints there are */
    RESUME_GETTING,   /* image and archive are being received */
    RESUME_UNPACKING, /* roost-ckpt decompresses both */
    RESUME_CHECKING,  /* roost-ckpt verifies the image, and whether this machine can run it */
    RESUME_READY,     /* the image is here and can be run here */
    RESUME_NONE,      /* no usable checkpoint: the job starts from its beginning */
};

/* State of resuming; file_at is 0 for the image, 1 for the archive. */
struct starter_resume {
    enum starter_resume_step step;
    pid_t pid;            /* of the roost-ckpt that unpacks or checks; 0: none runs */
    struct vec manifests; /* struct ad, one for each checkpoint, the latest first */
    size_t at, file_at;   /* which manifest is tried, which of its two files is received */
    struct os_file *file;
    struct digest *digest;
    uint64_t offset, asked; /* bytes received, bytes asked for */
    size_t gets;            /* requests that are not answered yet */
    bool is_unpacked;       /* the archive was unpacked into the cage */
    char why[300];          /* not "": the run ends for this reason once the shadow was told */
    unsigned waits;         /* times that we waited for the disk on which the checkpoints are */
};

/* True when the run must look for a checkpoint, or go on receiving one, before it receives
 * inputs. */
bool resume_is_needed(const struct starter *starter);
/* Takes the next step of looking for and receiving a checkpoint.  WAKE_GO follows when the step is
 * done. */
void resume_next(struct starter *starter);
/* Returns whether the job is to start from a checkpoint that has been received and checked. */
bool resume_is_ready(const struct starter *starter);
/* Returns the number of the checkpoint that the job continues from; 0: it starts from its
 * beginning. */
int64_t resume_sequence(const struct starter *starter);
/* Callback of TIMER_CKPT in the input phase: asks the shadow again after a wait. */
void resume_tick(struct starter *starter);
/* Starts unpacking the archive in the job's cage, if that is needed.  True: it was started, or
 * failed and the run was given up; job_start() is called again when it is done.  False: nothing to
 * unpack. */
bool resume_unpacks(struct starter *starter);
/* Replaces argv by the command line of the image, and sets *ret_log to the file for its standard
 * error; the caller owns that string. */
void resume_words(struct starter *starter, struct vec *argv, char **ret_log);
/* Called when the job's process has ended.  True: it was the image, which could not be resumed; the
 * shadow is told and the run ends.  False: it was the job. */
bool resume_failed(struct starter *starter);
/* Drops everything; called at the end of the run. */
void resume_forget(struct starter *starter);

#endif
