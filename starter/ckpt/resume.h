/* starter/ckpt/resume.h - a job that goes on from a checkpoint.
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

enum starter_resume_step {
    RESUME_UNKNOWN,
    RESUME_LOOKING,
    RESUME_GETTING,
    RESUME_UNPACKING, /* what came packed */
    RESUME_CHECKING,
    RESUME_READY, /* the image is here, and is for here */
    RESUME_NONE,  /* it begins at its start */
};

struct starter_resume { /* resume.c */
    enum starter_resume_step step;
    pid_t pid;            /* of roost-ckpt; 0: it does not run */
    struct vec manifests; /* struct ad, the latest first */
    size_t at, file_at;
    struct os_file *file;
    struct digest *digest;
    uint64_t offset, asked;
    size_t gets; /* that are not answered */
    bool is_unpacked;
    char why[300];  /* the run ends, when the shadow has been told */
    unsigned waits; /* for the disk on which they are */
};

bool resume_is_needed(const struct starter *starter); /* in the place of input */
void resume_next(struct starter *starter);            /* comes back by WAKE_GO */
bool resume_is_ready(const struct starter *starter);
int64_t resume_sequence(const struct starter *starter); /* it goes on from; 0: from its start */
void resume_tick(struct starter *starter);              /* TIMER_CKPT's, before the job runs */
/* True: its files are being unpacked; job_start() is called when they are, or the run ends. */
bool resume_unpacks(struct starter *starter);
/* The words of the image in the place of the program's, and where its own standard error goes. */
void resume_words(struct starter *starter, struct vec *argv, char **ret_log);
/* It ended because it could not be resumed: so does the run. */
bool resume_failed(struct starter *starter);
void resume_forget(struct starter *starter);

#endif
