/* ckpt/dump/dump_linux.h - makes the image of a process that runs.
 *
 * From outside, of any program, by any user who may trace the process: nothing of ours is in it.
 * The process is held (tracee_linux.h) while it is copied, or, if the caller lets it run on, only
 * until it has made a copy of itself, which is copied at leisure.
 *
 * What cannot be saved is found before anything is changed, and refused with the descriptor or the
 * mapping at fault: a job must not believe that it is safe when it is not.
 *
 * The image is written under another name, made durable, then renamed: there is a whole one or
 * none.  Whether the disk has room for it is looked at first.
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
    bool kill;                /* it ends when the image is whole; else it runs on */
    int end_signal;           /* with kill: the signal that the process ends by; 0: SIGKILL */
    void (*freed)(void *arg); /* without kill: it runs on from here; NULL: nobody asks */
    void *arg;
    pid_t unseen; /* a child of the process that is no part of the job; 0: there is none */
    /* What is to be of the same moment as the image (its files): called once, when everything that
     * may be refused has been, before any of its processes goes on.  Not 0: there is no image.  May
     * be NULL. */
    int (*while_still)(void *arg, struct err *err);
    void *still_arg;
    /* What is known of its memory since the last image, and will be since this one
     * (follow_linux.h); NULL: nothing. */
    struct follow *follow;
    bool whole; /* a whole image even if only what changed could be saved */
};

struct dump_result {
    uint64_t image_bytes;  /* apparent size */
    uint64_t memory_bytes; /* that are in it */
    uint64_t frozen_ns;    /* how long the process stood still */
    bool is_delta;         /* the image holds only what changed: format.h, CKPT_DELTA */
};

/* Of that process to that file, which is replaced.  ret may be NULL.  Errors, with err telling the
 * thing at fault: -EPERM, -EBUSY (after a second of trying), -ESRCH as of tracee_hold();
 * -EOPNOTSUPP: it has something that cannot be saved; -ENOSPC, -EDQUOT: no room, err says how much
 * is missing; -EBUSY: somebody writes an image of that name; else what writing the file said. */
int ckpt_dump(pid_t pid, const char *image, const struct dump_options *options,
              struct dump_result *ret, struct err *err);

/* Process 1 of the namespace that a job lives in; 0: it has none. */
pid_t ckpt_keeper(pid_t job);
/* The job that is meant with the process of `roost-ckpt run`, or of an image that was run, so many
 * times below each other; kept 0: as often as there is a keeper below it, and it is the job itself
 * if there is none.  0: there is none (yet, or any more). */
pid_t ckpt_job_of(pid_t pid, unsigned kept);

#endif
