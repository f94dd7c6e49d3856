/* sim/steward.h - an administrator who intervenes in the simulated pool at random: asks for
 * checkpoints, vacates, holds and releases jobs, and drains machines, as `roost checkpoint`, `roost
 * vacate` and so on do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_STEWARD_H
#define SIM_STEWARD_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/sim.h"

struct steward {
    const char *schedd_socket, *collector_address, *token_path, *ca_path, *keys_path;
    /* the steward acts from begin_us to until_us; later he only releases held jobs */
    uint64_t begin_us, until_us;
    /* He acts several times a second instead of every few seconds: holds all idle jobs and releases
     * them at once, drains machines and lets them go on. */
    bool hasty;
    unsigned nodes, jobs;
    bool *touched; /* for each job: whether he vacated or held it; `jobs` entries, borrowed */
    /* Called when a checkpoint that he asked for exists, of job "12.3"; may be NULL. */
    void (*checkpointed)(void *arg, const char *id, int64_t sequence);
    void *arg;
    /* numbers in all runs of the program: requests for checkpoints; checkpoints made; requests to
     * vacate, to hold, to drain */
    unsigned asked, granted, vacated, held, drained;
};
/* Sets *program to the steward's program; its data is `steward`, which must outlive the run. */
void steward_program(struct sim_program *program, struct steward *steward);

#endif
