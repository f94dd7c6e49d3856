/* sim/tyrant.h - somebody with a negotiator's token who takes slots away at random.
 *
 * Preemption as the negotiator orders it is rare; here every few seconds a claimed slot is given to
 * a request that would fit, with the word that its user's priority is better.  That is all that
 * startds and schedds are told by a real one, so whatever goes wrong while a job retires, is
 * vacated, or waits for the slot, goes wrong here often.  It keeps the one promise of a negotiator:
 * a claim id is not given twice while it may be remembered.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_TYRANT_H
#define SIM_TYRANT_H

#include <stdint.h>

#include "sim/sim.h"

struct tyrant {
    const char *collector_address; /* "tcp:..." */
    const char *token_path, *ca_path, *keys_path;
    uint64_t until_us; /* then he is content */
};

void tyrant_program(struct sim_program *program, struct tyrant *tyrant); /* borrowed */

#endif
