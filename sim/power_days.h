/* sim/power_days.h - two days of a simulated pool whose machines sleep, and not all are sound.
 *
 * Machines sleep when they are idle and are woken by jobs, which come in bursts and one by one.
 * Some machines come up no more, come late, sleep again at once, lose their power, lie about what
 * they were told, fail at it, or join with less; which, by the seed.  Meanwhile the collector and
 * the rooster are killed while machines are on their way up, negotiator and schedd now and then; an
 * operator orders machines on by name that went without a word, and once tells all machines that
 * are on to sleep, within one second.  In the end all that are not dead are sound again, and there
 * are jobs for each of them.  power_truth.h says what must be true.
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
    unsigned nodes, hours; /* hours >= POWER_HOURS_MIN */
    bool trace;
};
/* ret->figures says what was switched.  On a broken promise the end of the trace is on stdout. */
void power_days_run(const struct power_days_options *options, struct pool_result *ret);

#endif
