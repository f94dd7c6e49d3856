/* sim/tyrant.h - a program with a negotiator's token that takes slots away at random.
 *
 * Preemptions ordered by a negotiator are rare.  Here, every few seconds a claimed slot is given to
 * a request that would fit, with the reason that its user's priority is better.  A real negotiator
 * tells startds and schedds no more than that.  So faults while a job retires, is vacated, or waits
 * for the slot happen here often.  The tyrant keeps one promise of a negotiator: it does not give a
 * claim id twice while the first match may be remembered.
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
    uint64_t until_us; /* preempts nothing after this time */
};

/* Sets *program to the tyrant's program; tyrant is borrowed and must outlive the run. */
void tyrant_program(struct sim_program *program, struct tyrant *tyrant);

#endif
