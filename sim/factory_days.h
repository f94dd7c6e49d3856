/* sim/factory_days.h - a pool without machines of its own, whose factory has sites start glideins.
 *
 * The central machine has collector, negotiator, schedd and factory.  Jobs come in bursts; some can
 * be run by one site only.  The sites have tempers, by seed (factory_days.c has the table): some
 * are slow, refuse, fail, hang, say nonsense, lose answers, hide glideins, or let them die.
 * Daemons, programs of sites and machines of glideins are killed, links cut, sections taken out of
 * the configuration and put back.  The promises are in factory_truth.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_FACTORY_DAYS_H
#define SIM_FACTORY_DAYS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/pool.h"

#define FACTORY_SITES     10
#define FACTORY_SITES_MIN 2

struct factory_days_options {
    uint64_t seed;
    unsigned sites, glideins, jobs;
    unsigned pause_s; /* longest pause between two accidents; 0: by the seed */
    bool calm;        /* nothing goes wrong but what the tempers of the sites do */
    bool trace;
};
/* Runs the simulation; ret->figures has the glideins of each site. */
void factory_days_run(const struct factory_days_options *options, struct pool_result *ret);

#endif
