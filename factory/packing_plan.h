/* factory/packing_plan.h - how many machines the jobs need that wait for a sample.
 *
 * Pure.  A glidein of eight cores serves eight jobs of one core at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_PACKING_PLAN_H
#define FACTORY_PACKING_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CPUs, MiB of memory, KiB of disk: of a machine, or what one job requests. */
struct packing_size {
    int64_t cpus, memory_mib, disk_kib;
};

/* Jobs that wait for the machine. */
struct packing_need {
    struct packing_size each; /* a part that is 0 or less needs nothing */
    int64_t count;
};

/* Returns how many machines all of the jobs need that are to run at the same time; 0: there are no
 * jobs. is_whole: each job takes a whole machine, whatever it requests (a static slot). */
int64_t packing_plan_machines(const struct packing_size *machine, const struct packing_need *needs,
                              size_t count, bool is_whole);

#endif
