/* sim/power_days.h - simulates two days of a pool whose machines sleep, and some of which are
 * faulty.
 *
 * Machines sleep when idle and are woken by jobs, which come in bursts and singly.  Chosen by the
 * seed, some machines never boot again, boot late, fall asleep again at once, lose power, lie about
 * orders, fail to execute orders, or come back with fewer resources.  Meanwhile the collector and
 * the rooster are killed while machines boot, and negotiator and schedd now and then.  An operator
 * switches on machines by name, and once tells all running machines to sleep within one second.
 * People press the buttons of machines: these shut down in order, or lose power at once, or are
 * switched on by hand.  Nobody looks after machines that are off: jobs must bring them back.  At
 * the end all machines that are not dead work again, and there are jobs for each of them.
 * power_truth.h lists what must be true.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_POWER_DAYS_H
#define SIM_POWER_DAYS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/pool.h"

#define POWER_HOURS_MIN 3

struct power_days_options {
    uint64_t seed;
    /* number of nodes; length of the simulation in hours, >= POWER_HOURS_MIN */
    unsigned nodes, hours;
    bool queue; /* HIBERNATE and UNHIBERNATE of the machines read the figures of the queue */
    bool trace;
};
/* Runs the simulation; ret->figures says how often machines were switched on and off.  After a
 * broken promise, the end of the trace is printed to stdout. */
void power_days_run(const struct power_days_options *options, struct pool_result *ret);

#endif
