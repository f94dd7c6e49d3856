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
 * and so does a resumed job.  A resumed job is also in a time namespace, where the kernel has them
 * (Linux 5.6): its clocks that count from the start of the machine continue from their values in
 * the image, so that a moment for which the job waits comes neither at once nor days later. Without
 * time namespaces, the job sees the machine's clocks.  `roost-ckpt run` uses this code together
 * with a C library; the stub, the program at the head of an image, uses it without one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_STUB_KEEPER_H
#define CKPT_STUB_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

struct keeper {
    const int32_t *pid; /* the process number for the job's first process; NULL: any */
    /* True: this process is already process 1 of the job's PID namespace: it becomes the keeper,
     * and no namespace is made. */
    bool is_inside;
    /* Values from which the job's CLOCK_MONOTONIC and CLOCK_BOOTTIME start, nanoseconds.  NULL, or
     * a value of 0: the job sees the machine's clock. */
    const int64_t *clocks_ns;
    /* Called in the job's first process, and must not return.  The same signals are blocked as when
     * keeper_run() was called, and there are no signal handlers. */
    void (*job)(void *arg);
    void *arg;
    /* Called in the keeper before the job's first process is made; NULL: not called. out: the
     * descriptor by which the keeper reports to the outer process, or -1; the function may move the
     * descriptor to another number, and returns its number. */
    int (*before)(void *arg, int out);
    /* Called in the keeper when the job's first process has been made; NULL: not called. */
    void (*after)(void *arg);
    /* Path of a file that contains KEEPER_BEGAN until the job's first process has ended by itself,
     * then KEEPER_ENDED; NULL: none.  The file tells the caller whether the job ended, or whether
     * its outer process or keeper was killed. */
    const char *outcome;
    /* Called in the keeper when a child other than the job's first process has ended; NULL: not
     * called. */
    void (*other_ended)(void *arg, long pid);
};

/* The environment variable by which the program that starts `roost-ckpt run` or an image gives the
 * path of the file that then tells whether the job has ended by itself (keeper.outcome). */
#define KEEPER_OUTCOME "ROOST_CKPT_OUTCOME"
#define KEEPER_BEGAN   "began\n"
#define KEEPER_ENDED   "ended\n"

/* Runs the job below a keeper, in a PID namespace.  Returns the wait status of the job's first
 * process (>= 0); or a negative errno, and in *what, as a static text, the operation that failed.
 * Does not return in the job's processes. */
long keeper_run(const struct keeper *keeper, const char **what);

/* Ends this process as `status` says: with the same exit code, or by the same signal. */
_Noreturn void keeper_end_as(int status);

#endif
