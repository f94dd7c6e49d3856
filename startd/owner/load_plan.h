/* startd/owner/load_plan.h - whose load is it: that of our jobs, or of the machine's owner?
 *
 * Pure.  The kernel's load average counts everybody's processes.  What our jobs make of it is taken
 * from those of their threads that run or want to at each look, averaged as the kernel averages (a
 * minute's exponential decay), so that both move alike.  The CPU time that they use, the way
 * rejected, is less than that wherever they wait for a CPU or a disk: a job of four processes on
 * two CPUs would count as an owner's load of two, and suspend itself.  What is left is the owner's,
 * and it is shared out to the slots: an owner who needs one of eight CPUs is to be given one, not
 * eight.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_OWNER_LOAD_PLAN_H
#define STARTD_OWNER_LOAD_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The average elapsed_s (>= 0) seconds later, in which `load` CPUs were in use. */
double load_plan_decay(double average, double load, double elapsed_s);

struct load_job {
    int64_t running; /* threads, as os_families_running() */
    double cpus;     /* it never gets more than these at a time, however many wait; 0: no limit */
    bool suspended; /* frozen threads look as if they waited for a disk; no load average counts them
                     */
};
/* What a job adds to the kernel's load average now. */
double load_plan_job(const struct load_job *job);

struct load_share {
    double cpus; /* of the slot, those that pieces have left of it */
    /* it is no good to jobs now: Owner, or Suspended; it goes on taking what is the owner's */
    bool of_owner;
    bool is_free; /* no job there would have to give way */
    double owner; /* out: the owner's load that this slot bears */
};
/* Shares the owner's load out: first to slots that are his, then to free ones, then in order; each
 * takes as much as it has CPUs.  What no slot has a CPU for is spread evenly. */
void load_plan_share(double owner_load, struct load_share *slots, size_t count);

#endif
