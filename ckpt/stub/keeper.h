/* ckpt/stub/keeper.h - a namespace in which a job may have the numbers of processes that it had.
 *
 * A program knows its process number, and numbers of threads are in its mutexes: a job that is
 * resumed needs the same ones.  Linux gives them to whoever asks (clone3 with set_tid) inside a
 * namespace of process numbers of his own, which an ordinary user may make together with a user
 * namespace.  So a job that shall be checkpointed runs as
 *
 *     outer     what was started; waits, hands signals on, ends as the job ends
 *      \- keeper   process 1 of the namespace: reaps what the job leaves behind; ends with the job
 *          \- job
 *
 * and a resumed one too; that one in a namespace of time besides, where the kernel has them (Linux
 * 5.6): the clocks that count from the start of a machine go on for it where they stood when its
 * image was made, so that a moment that it waits for comes neither at once nor days later. Without,
 * it sees the machine's.  Used by `roost-ckpt run` (with a C library around it) and by the stub.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_STUB_KEEPER_H
#define CKPT_STUB_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

struct keeper {
    const int32_t *pid; /* the number the job shall have; NULL: any */
    bool
        is_inside; /* we are in such a namespace already: no other is made, and we are the keeper */
    /* What CLOCK_MONOTONIC and CLOCK_BOOTTIME shall be for the job, ns; NULL, or one that is 0: as
     * they are. */
    const int64_t *clocks_ns;
    /* The job; does not return.  With all signals blocked as they were when keeper_run() was
     * called, and none handled. */
    void (*job)(void *arg);
    void *arg;
    /* In the keeper, before the job is made; NULL: nothing.  out is a descriptor of ours, -1 for
     * none; what is returned is its number from now on. */
    int (*before)(void *arg, int out);
    /* In the keeper, once the job is made; NULL: nothing. */
    void (*after)(void *arg);
    /* A file that says KEEPER_BEGAN until the job's own end is known, then KEEPER_ENDED; NULL:
     * none. Without it nobody can tell a job that was killed from one of us that was. */
    const char *outcome;
    /* In the keeper: that child has ended, which is not the job's first process; NULL: nothing. */
    void (*other_ended)(void *arg, long pid);
};

/* The variable by which whoever starts us names it. */
#define KEEPER_OUTCOME "ROOST_CKPT_OUTCOME"
#define KEEPER_BEGAN   "began\n"
#define KEEPER_ENDED   "ended\n"

/* Does not return in the job.  Returns the job's wait status (>= 0), or a negative errno: *what,
 * static text, then says what failed. */
long keeper_run(const struct keeper *keeper, const char **what);

/* Ends this process as that one ended: the same exit code, or killed by the same signal. */
_Noreturn void keeper_end_as(int status);

#endif
