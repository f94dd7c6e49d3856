/* ckpt/dump/dump_linux.h - makes the image of a running job (roost-ckpt dump).
 *
 * It works from outside, for any program, by any user who may trace the process: the process
 * contains nothing of ours.  Its threads are stopped (tracee_linux.h) while it is copied; or, if it
 * is to continue, only until it has made a copy of itself, which is then written without haste.
 *
 * What cannot be saved is found before anything is changed, and refused with the descriptor or
 * mapping at fault: a job must not be believed safe when it is not.
 *
 * The image is written under another name, made durable, then renamed: it exists completely or not
 * at all.  Free space on the disk is checked first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_DUMP_DUMP_LINUX_H
#define CKPT_DUMP_DUMP_LINUX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct follow;

struct dump_options {
    bool kill;                /* end the job when the image is complete; false: it continues */
    int end_signal;           /* with kill: the signal by which the process ends; 0: SIGKILL */
    void (*freed)(void *arg); /* without kill: called when the job continues; may be NULL */
    void *arg;
    pid_t unseen; /* a child of the process that does not belong to the job; 0: none */
    /* Saves what must be of the same moment as the image (its files).  Called once, when nothing
     * more can be refused, before any process continues.  Not 0: no image is made.  May be NULL. */
    int (*while_still)(void *arg, struct err *err);
    void *still_arg;
    /* The follower, which knows what memory has changed since the last image (follow_linux.h);
     * NULL: none. */
    struct follow *follow;
    bool whole; /* make a whole image even if a delta is possible */
};

struct dump_result {
    uint64_t image_bytes;  /* size of the file, holes included */
    uint64_t memory_bytes; /* bytes of memory in it */
    uint64_t frozen_ns;    /* how long the job stood still */
    bool is_delta;         /* the image holds only what changed: CKPT_DELTA of format.h */
};

/* Makes an image of the process and its descendants, replacing the file `image`. ret may be NULL.
 * 0, or with err naming the cause: -EPERM, -ESRCH, -EBUSY (for a second the process was not in a
 * state that can be saved, or somebody is writing an image of that name); -EOPNOTSUPP: it has
 * something that cannot be saved; -ENOSPC, -EDQUOT: err says how much space is missing; or another
 * -errno of writing the file. */
int ckpt_dump(pid_t pid, const char *image, const struct dump_options *options,
              struct dump_result *ret, struct err *err);

/* Returns process 1 of the namespace in which a job lives; 0: it has none. */
pid_t ckpt_keeper(pid_t job);
/* Finds the job below pid, a process of `roost-ckpt run` or of a resumed image. kept: how many of
 * these are nested; 0: all that there are, and pid itself is the job if there are none.  Returns 0
 * if there is no job (yet, or any more). */
pid_t ckpt_job_of(pid_t pid, unsigned kept);

#endif
