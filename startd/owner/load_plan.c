/* startd/owner/load_plan.c - divides the machine's load between the owner and jobs: see
 * load_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/owner/load_plan.h"

#include <math.h>

#define MINUTE_S 60.0

double load_plan_decay(double average, double load, double elapsed_s)
{
    double kept = exp(-elapsed_s / MINUTE_S);
    return average * kept + load * (1.0 - kept);
}

double load_plan_job(const struct load_job *job)
{
    double running = job->suspended ? 0.0 : (double)job->running;
    return job->cpus > 0.0 && running > job->cpus ? job->cpus : running;
}

/* Returns who bears load first.  0: the owner's slots, 1: free slots, 2: slots with a running
 * job. */
static int turn_of(const struct load_share *slot)
{
    return slot->of_owner ? 0 : slot->is_free ? 1 : 2;
}

void load_plan_share(double owner_load, struct load_share *slots, size_t count)
{
    double left = owner_load > 0.0 ? owner_load : 0.0;
    for (size_t i = 0; i < count; i++) {
        slots[i].owner = 0.0;
    }
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < count; i++) {
            if (turn_of(&slots[i]) == round) {
                slots[i].owner = left < slots[i].cpus ? left : slots[i].cpus;
                left -= slots[i].owner;
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        slots[i].owner += left / (double)count;
    }
}
