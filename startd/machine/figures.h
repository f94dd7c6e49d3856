/* startd/machine/figures.h - what the policy expressions look at: load, idle times.
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

struct figures {          /* of the machine, at the last look */
    uint64_t measured_ms; /* when the jobs' use of CPUs was; 0: never */
    double load, condor_load;
    struct os_idleness idle;
    bool console_told; /* by kbdd: when the console was used last, loop_now_ms() */
    uint64_t console_used_ms;
};

void figures_measure(struct startd *startd); /* measures, and writes into all ads */
void figures_write(struct slot *slot, struct ad *ad);
/* kbdd or logind says that the console was used idle_s seconds ago. */
void figures_console_used(struct startd *startd, int64_t idle_s);

#endif
