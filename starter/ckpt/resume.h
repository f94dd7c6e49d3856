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
    RESUME_UNKNOWN,   /* nothing was done yet, or nothing has to be done */
    RESUME_LOOKING,   /* the shadow was asked which checkpoints there are */
    RESUME_GETTING,   /* image and archive are being received */
    RESUME_UNPACKING, /* roost-ckpt is decompressing image and archive */
    /* roost-ckpt is checking that the image is complete and that this machine can run it */
    RESUME_CHECKING,
    RESUME_READY, /* image and archive are on this machine, which can run the image */
    RESUME_NONE,  /* there is no usable checkpoint: the job starts from its beginning */
};

/* How far the run is with fetching the job's checkpoint. */
struct starter_resume {
    enum starter_resume_step step;
    /* pid of the running roost-ckpt that decompresses or checks; 0: none runs */
    pid_t pid;
    struct vec manifests; /* struct ad: the description of each checkpoint, the latest first */
    /* at: index in manifests of the checkpoint that is tried; file_at: which of its files is
     * received, 0 the image, 1 the archive. */
    size_t at, file_at;
    struct os_file *file;
    struct digest *digest;
    /* Of the file that is being received: offset: how many bytes have arrived; asked: how many
     * bytes were requested. */
    uint64_t offset, asked;
    size_t gets;      /* number of requests for parts of a file that are not answered yet */
    bool is_unpacked; /* true: the archive was unpacked into the cage */
    /* why the run must end; it ends when the shadow has been told that reason; "": the run goes
     * on */
    char why[300];
    /* how often this run waited because the submit host's disk with the checkpoints was not
     * available */
    unsigned waits;
};

/* Returns whether the run must look for a checkpoint, or continue receiving one, before it receives
 * inputs. */
bool resume_is_needed(const struct starter *starter);
/* Starts the next step of looking for a checkpoint and receiving it; when the step is done, makes
 * starter.c continue the run (WAKE_GO). */
void resume_next(struct starter *starter);
/* Returns whether the job is to start from a checkpoint that has been received and checked. */
bool resume_is_ready(const struct starter *starter);
/* Returns the sequence number of the checkpoint from which the job continues; 0: the job starts
 * from its beginning. */
int64_t resume_sequence(const struct starter *starter);
/* Callback of TIMER_CKPT in the input phase: asks the shadow again for the checkpoint, after a
 * wait. */
void resume_tick(struct starter *starter);
/* Starts unpacking the checkpoint's archive in the job's cage.  Returns false if there is nothing
 * to unpack.  Otherwise returns true: when the archive is unpacked, makes starter.c call
 * job_start() again (WAKE_GO); if unpacking cannot be started or fails, ends the run. */
bool resume_unpacks(struct starter *starter);
/* Replaces the words of argv by the command line that runs the checkpoint's image, and sets
 * *ret_log to the path of the file for its standard error; the caller owns that string. */
void resume_words(struct starter *starter, struct vec *argv, char **ret_log);
/* Called when the job's process has ended.  If the process was an image that could not be resumed,
 * tells the shadow the reason and returns true; the run ends when the shadow has answered, or at
 * once if the shadow cannot be told.  Returns false if the job itself ended. */
bool resume_failed(struct starter *starter);
/* Called at the end of the run: ends the program that checks the checkpoint, and frees the state
 * of resuming. */
void resume_forget(struct starter *starter);

#endif
