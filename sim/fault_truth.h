/* sim/fault_truth.h - the promises that must hold under the faults of faults.h, beside those of
 * check.h.
 *
 * - job_held: a job is held although nobody asked for that: what the machine could not do is not
 *   the job's fault;
 * - result_wrong: a job counts as completed by a signal; the jobs of the pool end by themselves, so
 *   only the machine can have killed this one;
 * - submit_torn: of one submission some jobs exist and others do not, for longer than it takes;
 * - removed_runs: a job is started long after the schedd acknowledged its removal;
 * - schedd_ends: the schedd ends itself because its disk is full or mounted for reading only;
 * - damage_unsaid: a row of the schedd's store was damaged, and no line store.row_damaged names it;
 *   or there is such a line, and no row was damaged.
 *
 * Jobs whose rows were damaged are excused: they need not be there, nor be completed.  Removed jobs
 * need not be completed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_FAULT_TRUTH_H
#define SIM_FAULT_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/sim.h"

struct ad;
struct client;
struct fault_truth;
struct judge;
struct sim_row;

/* client: whose batches are the submissions; borrowed, like the judge. */
struct fault_truth *fault_truth_create(struct sim *sim, struct judge *judge,
                                       const struct client *client, unsigned jobs);
void fault_truth_destroy(struct fault_truth *truth); /* NULL is allowed */
/* A bit was flipped in this row of the schedd's store. */
void fault_truth_damaged(struct fault_truth *truth, const struct sim_row *row);

/* For struct judge_options; arg is the struct fault_truth. */
void fault_truth_job_seen(void *arg, uint64_t began_us, unsigned number, const struct ad *ad);
bool fault_truth_is_excused(void *arg, unsigned number);
/* For struct sim_observer. */
void fault_truth_job_started(struct fault_truth *truth, const char *key);
void fault_truth_log_line(struct fault_truth *truth, struct sim_process *process, const char *line,
                          size_t length);
void fault_truth_process_ended(struct fault_truth *truth, struct sim_process *process, int status);
void fault_truth_finish(struct fault_truth *truth); /* checks what can be said only at the end */

#endif
