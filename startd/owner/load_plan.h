/* startd/owner/load_plan.h - divides the machine's load between our jobs and its owner.
 *
 * Pure.  The kernel's load average counts everybody's processes.  The jobs' part is computed from
 * their threads that are running or ready to run whenever we look, averaged as the kernel does it
 * (exponential decay over a minute), so that both figures move alike.  Rejected: the jobs' CPU
 * time, which is less than their load whenever they wait for a CPU or a disk.  A job of four
 * processes on two CPUs would look like an owner's load of two, and suspend itself.
 *
 * The remaining load is the owner's.  It is distributed over the slots: an owner who needs one of
 * eight CPUs gets one, not eight.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_OWNER_LOAD_PLAN_H
#define STARTD_OWNER_LOAD_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the average after elapsed_s (>= 0) more seconds in which `load` CPUs were in use. */
double load_plan_decay(double average, double load, double elapsed_s);

struct load_job {
    int64_t running; /* threads, as os_families_running() counts them */
    /* It never uses more than these at a time, however many threads wait; 0: no limit. */
    double cpus;
    /* Frozen threads look as if they waited for a disk, but no load average counts them. */
    bool suspended;
};
/* Returns what a job adds to the kernel's load average now. */
double load_plan_job(const struct load_job *job);

struct load_share {
    double cpus;   /* of the slot, without those of its dynamic slots */
    bool of_owner; /* Owner or Suspended: no use for jobs now; it keeps the owner's load */
    bool is_free;  /* no job there would have to give way */
    double owner;  /* result: the part of the owner's load that this slot bears */
};
/* Distributes the owner's load: first to slots with of_owner, then to free ones, then in order;
 * each takes as much as it has CPUs.  What exceeds all CPUs is spread evenly. */
void load_plan_share(double owner_load, struct load_share *slots, size_t count);

#endif
