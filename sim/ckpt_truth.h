/* sim/ckpt_truth.h - records what simulated jobs with checkpoints really did, and checks what was
 * kept of it.
 *
 * This code sees which images are made of which job, when, and with how much work in them; which
 * images the schedd commits; and with how much work each process of a job begins and ends.  The
 * promises of check.h hold here too, and these:
 *
 * - ckpt_lost: a process of a job begins with less work than a checkpoint that was committed, or
 *   reported to anybody as kept, before its run;
 * - ckpt_backwards: the schedd commits an image with less work in it than one it already has;
 * - ckpt_unkept: a starter, or a client that asked for a checkpoint, is told that an image is kept
 *   which the schedd has not committed;
 * - ckpt_foreign: a job continues from another job's image;
 * - ckpt_damaged: an image is found damaged, or given up;
 * - work_lost: an eviction costs more than one interval plus the time to make and send an image,
 *   although nothing but the eviction went wrong;
 * - image_left: at the end a machine or the submit host still has an image, or the directory of a
 *   run;
 * - books_wrong: NumCkpts, LastCkptTime, CkptSequence or CommittedTime do not match what happened.
 *
 * The job's output shows that each of its steps was done exactly once: ckpt_truth_is_output().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CKPT_TRUTH_H
#define SIM_CKPT_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/sim.h"

struct ad;
struct ckpt_truth;
struct judge;
struct tap;

struct ckpt_truth_options {
    unsigned jobs;
    const unsigned *seconds; /* run time of each job; borrowed */
    /* most work (run time) that an eviction may lose; 0: no limit.  Committed work must never be
     * lost. */
    uint64_t loss_max_us;
};
struct ckpt_truth *ckpt_truth_create(const struct ckpt_truth_options *options);
void ckpt_truth_destroy(struct ckpt_truth *truth);
void ckpt_truth_observe(struct ckpt_truth *truth, struct sim_observer *observer);
struct tap *ckpt_truth_tap(struct ckpt_truth *truth);
void ckpt_truth_begin(struct ckpt_truth *truth, struct sim *sim, struct judge *judge);

/* Tells `truth` that for the next for_us microseconds some fault other than evictions exists, so
 * that perhaps no checkpoint succeeds. */
void ckpt_truth_trouble(struct ckpt_truth *truth, uint64_t for_us);
/* Tells `truth` that a client was told that checkpoint `sequence` of job `id` is kept. */
void ckpt_truth_told(struct ckpt_truth *truth, const char *id, int64_t sequence);
/* Gives `truth` the ad of job `number` from the queue or the history; began_us: time when the query
 * for the ad was sent. */
void ckpt_truth_seen(struct ckpt_truth *truth, uint64_t began_us, unsigned number,
                     const struct ad *ad);
bool ckpt_truth_is_output(const struct ckpt_truth *truth, unsigned number, const char *text);
/* Call at the end: checks the remaining promises. */
void ckpt_truth_finish(struct ckpt_truth *truth);

struct ckpt_figures {
    unsigned made, deltas, committed, resumed, starts, lost_runs;
    /* work that had to be done again, microseconds of run time: total of all runs; most after one
     * run */
    uint64_t lost_us, worst_us;
};
const struct ckpt_figures *ckpt_truth_figures(const struct ckpt_truth *truth);

#endif
