/* factory/packing_plan.c - see packing_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/packing_plan.h"

#define COUNT_MAX 1000000000.0
#define NEARLY    1e-9 /* 8 times 1/8 is one machine */

static int64_t times(int64_t whole, int64_t part, int64_t most)
{
    if (part <= 0) {
        return most;
    }
    int64_t fits = whole / part;
    return fits < most ? fits : most;
}

/* Returns how many of the jobs run on one machine at a time: at least 1, because the negotiator has
 * found that one fits. */
static int64_t jobs_of_each(const struct packing_size *machine, const struct packing_size *job)
{
    int64_t fits = times(machine->cpus, job->cpus, INT64_MAX);
    fits = times(machine->memory_mib, job->memory_mib, fits);
    fits = times(machine->disk_kib, job->disk_kib, fits);
    /* What requests nothing at all still takes a CPU, as a job does that does not say. */
    fits = fits == INT64_MAX ? times(machine->cpus, 1, fits) : fits;
    return fits > 1 ? fits : 1;
}

int64_t packing_plan_machines(const struct packing_size *machine, const struct packing_need *needs,
                              size_t count, bool is_whole)
{
    double machines = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t each = is_whole ? 1 : jobs_of_each(machine, &needs[i].each);
        machines += needs[i].count > 0 ? (double)needs[i].count / (double)each : 0;
    }
    if (machines >= COUNT_MAX) {
        return (int64_t)COUNT_MAX;
    }
    int64_t whole = (int64_t)machines;
    return machines - (double)whole > NEARLY ? whole + 1 : whole;
}
