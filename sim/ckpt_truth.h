/* sim/ckpt_truth.h - what simulated jobs with checkpoints had truly done, and what was kept of it.
 *
 * It sees which images are made of which job, when and with how much work in them; which of them
 * the schedd commits; with how much each process of a job begins and ends.  Beside the promises of
 * check.h, which hold here too:
 *
 *   ckpt_lost        a process of a job begins with less than a checkpoint that was committed, or
 *                    told to anybody to be kept, before its run
 *   ckpt_backwards   the schedd commits an image with less work in it than one that it has
 *   ckpt_unkept      a starter, or who asked for a checkpoint, is told that one is kept which the
 *                    schedd has not committed
 *   ckpt_foreign     a job goes on from another one's image
 *   ckpt_damaged     an image is found damaged, or given up
 *   work_lost        an eviction costs more than one interval and what it takes to make and send an
 *                    image, though nothing but the eviction went wrong
 *   image_left       in the end a machine or the submit host has an image, or a run's directory
 *   books_wrong      NumCkpts, LastCkptTime, CkptSequence or CommittedTime are not what happened
 *
 * That each step of a job was done exactly once is in its output: ckpt_truth_is_output().
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
    const unsigned *seconds; /* of each job; borrowed */
    uint64_t loss_max_us;    /* of an eviction; 0: any (but for what is committed) */
};
struct ckpt_truth *ckpt_truth_create(const struct ckpt_truth_options *options);
void ckpt_truth_destroy(struct ckpt_truth *truth);
void ckpt_truth_observe(struct ckpt_truth *truth, struct sim_observer *observer);
struct tap *ckpt_truth_tap(struct ckpt_truth *truth);
void ckpt_truth_begin(struct ckpt_truth *truth, struct sim *sim, struct judge *judge);

/* Something other than evictions goes wrong, for so long: no checkpoint may come through. */
void ckpt_truth_trouble(struct ckpt_truth *truth, uint64_t for_us);
/* Somebody was told so. */
void ckpt_truth_told(struct ckpt_truth *truth, const char *id, int64_t sequence);
/* An ad of a job, in the queue or in the history. */
void ckpt_truth_seen(struct ckpt_truth *truth, uint64_t began_us, unsigned number,
                     const struct ad *ad);
bool ckpt_truth_is_output(const struct ckpt_truth *truth, unsigned number, const char *text);
/* All is over. */
void ckpt_truth_finish(struct ckpt_truth *truth);

struct ckpt_figures {
    unsigned made, deltas, committed, resumed, starts, lost_runs;
    uint64_t lost_us, worst_us; /* work that was done again */
};
const struct ckpt_figures *ckpt_truth_figures(const struct ckpt_truth *truth);

#endif
