/* ckpt/stub/keeper.h - runs a job in a PID namespace in which it can get its process numbers back.
 *
 * A program knows its process number, and its mutexes contain numbers of threads: a resumed job
 * needs the same numbers.  Linux gives requested numbers (clone3 with set_tid) inside a PID
 * namespace of one's own, which an ordinary user may make together with a user namespace.  So a job
 * that can be checkpointed runs as
 *
 *     outer     the process that was started; waits, forwards signals, ends as the job ends
 *      \- keeper   process 1 of the namespace: reaps orphans of the job; ends with the job
 *          \- job
 *
 * and so does a resumed job.  That one is also in a time namespace, where the kernel has them
 * (Linux 5.6): its clocks that count from the start of the machine continue from their values in
 * the image, so that a moment for which it waits comes neither at once nor days later.  Without
 * time namespaces it sees the machine's clocks.  Used by `roost-ckpt run` (with a C library around
 * it) and by the stub, the program at the head of an image.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_STUB_KEEPER_H
#define CKPT_STUB_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

struct keeper {
    const int32_t *pid; /* the process number for the job; NULL: any */
    /* We are process 1 of such a namespace already: no other is made, and we are the keeper. */
    bool is_inside;
    /* Values for the job's CLOCK_MONOTONIC and CLOCK_BOOTTIME, ns.  NULL, or 0 for one of them: the
     * machine's. */
    const int64_t *clocks_ns;
    /* Becomes the job; does not return.  Called with the blocked signals as they were when
     * keeper_run() was called, and without handlers. */
    void (*job)(void *arg);
    void *arg;
    /* Called in the keeper before the job is made; NULL: nothing. out: a descriptor of ours, or -1;
     * the number returned replaces it from then on. */
    int (*before)(void *arg, int out);
    /* Called in the keeper when the job has been made; NULL: nothing. */
    void (*after)(void *arg);
    /* A file that contains KEEPER_BEGAN until the job's own end is known, then KEEPER_ENDED; NULL:
     * none.  Without it nobody can tell the end of the job from the killing of one of our
     * processes. */
    const char *outcome;
    /* Called in the keeper when a child other than the job's first process has ended; NULL:
     * nothing. */
    void (*other_ended)(void *arg, long pid);
};

/* The environment variable by which our caller names that file. */
#define KEEPER_OUTCOME "ROOST_CKPT_OUTCOME"
#define KEEPER_BEGAN   "began\n"
#define KEEPER_ENDED   "ended\n"

/* Runs the job in such a namespace.  Returns its wait status (>= 0), or a negative errno with
 * *what, static text, saying what failed.  Does not return in the job. */
long keeper_run(const struct keeper *keeper, const char **what);

/* Ends this process as `status` says: with the same exit code, or by the same signal. */
_Noreturn void keeper_end_as(int status);

#endif
