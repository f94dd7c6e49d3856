/* sim/daemon_sim.h - the real daemons as programs of simulated machines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_DAEMON_SIM_H
#define SIM_DAEMON_SIM_H

#include "sim/sim.h"

/* "roost-collector" and all others; NULL past the end. */
const struct sim_program *sim_daemon_program(size_t index);

#endif
