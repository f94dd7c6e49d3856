/* sim/daemon_sim.h - makes the real daemons programs of simulated machines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_DAEMON_SIM_H
#define SIM_DAEMON_SIM_H

#include "sim/sim.h"

/* The program of each daemon ("roost-collector" and so on) by index; NULL past the end. */
const struct sim_program *sim_daemon_program(size_t index);
/* The daemon's main structure (such as struct startd), for inspection from inside its process
 * (sim_enter()).  NULL: not created yet. */
void *sim_daemon_state(const struct sim_process *process);

#endif
