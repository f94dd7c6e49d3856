/* sim/daemon_sim.h - the real daemons as programs of simulated machines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_DAEMON_SIM_H
#define SIM_DAEMON_SIM_H

#include "sim/sim.h"

/* "roost-collector" and all others; NULL past the end. */
const struct sim_program *sim_daemon_program(size_t index);
/* The daemon's own structure ("struct startd" of a roost-startd): to be looked at from inside of
 * its process (sim_enter()).  NULL: it has none yet. */
void *sim_daemon_state(const struct sim_process *process);

#endif
