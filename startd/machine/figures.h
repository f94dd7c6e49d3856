/* startd/machine/figures.h - measures what the policy expressions look at: load and idle times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_MACHINE_FIGURES_H
#define STARTD_MACHINE_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/os/os.h"

struct ad;
struct slot;
struct startd;

struct figures {              /* of the machine, when it was last measured */
    uint64_t measured_ms;     /* when the jobs' use of CPUs was measured, loop time; 0: never */
    double load, condor_load; /* load average; the part of it that jobs cause */
    struct os_idleness idle;
    bool console_told; /* kbdd has reported the console's last use, loop time */
    uint64_t console_used_ms;
};

void figures_measure(struct startd *startd); /* measures, and writes into all ads */
/* Writes the figures into the ad of a slot. */
void figures_write(struct slot *slot, struct ad *ad);
/* Called when kbdd or logind reports that the console was used idle_s seconds ago. */
void figures_console_used(struct startd *startd, int64_t idle_s);

#endif
