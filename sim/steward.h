/* sim/steward.h - who looks after the pool by hand, at random: asks for checkpoints, vacates, holds
 * and releases jobs, drains machines, as `roost checkpoint`, `roost vacate` ... do.
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
    uint64_t begin_us, until_us; /* from then on he only releases what is held */
    unsigned nodes, jobs;
    bool *touched; /* jobs that he has vacated or held; of `jobs`, borrowed */
    /* a checkpoint that he asked for is there, of job "12.3"; may be NULL */
    void (*checkpointed)(void *arg, const char *id, int64_t sequence);
    void *arg;
    unsigned asked, granted, vacated, held, drained; /* counted over all his lives */
};
/* Its data is the struct, which must outlive the run. */
void steward_program(struct sim_program *program, struct steward *steward);

#endif
