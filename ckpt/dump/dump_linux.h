/* ckpt/dump/dump_linux.h - makes the image of a running job (roost-ckpt dump).
 *
 * The dumper works from outside, for any program, by any user who may trace the process: the
 * program need not contain code of Roost.  The process's threads are stopped (tracee_linux.h) while
 * it is copied; or, if the job is to continue, only until the process has made a copy of itself,
 * whose memory is then written while the job runs.
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
    bool kill;      /* true: end the job when the image is complete; false: the job continues */
    int end_signal; /* if kill: the signal by which the process ends; 0: SIGKILL */
    void (*freed)(void *arg); /* if not kill: called when the job runs again; may be NULL */
    void *arg;
    /* Process number of a child of one of the job's processes that does not belong to the job and
     * is left out of the image; 0: none. */
    pid_t unseen;
    /* Saves what must be of the same moment as the image: the job's files.  Called once, after
     * the check that the processes can be saved, and before any of them continues.  If it returns
     * an error, no image is made.  May be NULL. */
    int (*while_still)(void *arg, struct err *err);
    void *still_arg;
    /* The follower, which knows what memory has changed since the last image (follow_linux.h);
     * NULL: none. */
    struct follow *follow;
    bool whole; /* true: make a whole image even if a delta is possible */
};

struct dump_result {
    uint64_t image_bytes;  /* size of the image file in bytes, holes included */
    uint64_t memory_bytes; /* bytes of the job's memory that are stored in the image */
    uint64_t frozen_ns;    /* how long the job stood still, nanoseconds */
    bool is_delta;         /* true: the image holds only what changed (CKPT_DELTA of format.h) */
};

/* Makes an image of the process and its descendants, replacing the file `image`. ret may be NULL.
 * Returns 0; or, with the cause in err: -EPERM: the process may not be traced; -ESRCH: there is no
 * such process; -EBUSY: for a second, the process was not in a state that can be saved, or another
 * process is writing an image of that name; -EOPNOTSUPP: the process has something that cannot be
 * saved; -ENOSPC, -EDQUOT: err says how much space is missing; or another -errno of writing the
 * file. */
int ckpt_dump(pid_t pid, const char *image, const struct dump_options *options,
              struct dump_result *ret, struct err *err);

/* Returns the process number of the parent of `job`, the job's first process, if that parent is the
 * keeper, process 1 of the job's PID namespace; 0: the job has no keeper. */
pid_t ckpt_keeper(pid_t job);
/* Returns the process number of the first process of a job; 0: there is no job (yet, or any more).
 * A process of `roost-ckpt run`, or a resumed image, has a keeper as its child, and the keeper has
 * the job as its child; that job may itself be `roost-ckpt run` or a resumed image, and so on. pid:
 * the outermost process. kept: number of keepers between pid and the job; 0: not known: the job is
 * then the first process on this way that has no keeper as its child, perhaps pid itself. */
pid_t ckpt_job_of(pid_t pid, unsigned kept);

#endif
