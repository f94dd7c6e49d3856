/* startd/owner/load_plan.h - divides the machine's load between the pool's jobs and the machine's
 * owner.
 *
 * Pure.  The kernel's load average counts everybody's processes.  The jobs' part is computed from
 * their threads that are running or ready to run whenever the startd measures the load, averaged as
 * the kernel does it (exponential decay over a minute), so that both figures move alike.  Rejected:
 * the jobs' CPU time, which is less than their load whenever they wait for a CPU or a disk.  A job
 * of four processes on two CPUs would look like an owner's load of two, and suspend itself.
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

/* Returns what a load average becomes after elapsed_s (>= 0) more seconds with the load `load`. */
double load_plan_decay(double average, double load, double elapsed_s);

struct load_job {
    int64_t running; /* number of the job's threads that run or could run (os_families_running()) */
    /* The job is limited to this number of CPUs, however many of its threads could run; 0: no
     * limit. */
    double cpus;
    /* The job is suspended: its threads are frozen and count as no load. */
    bool suspended;
};
/* Returns what a job adds to the kernel's load average now. */
double load_plan_job(const struct load_job *job);

struct load_share {
    double cpus; /* CPUs of the slot, without those of its dynamic slots */
    /* The slot is in state Owner or suspended, so that no job uses it: it gets the owner's load
     * first. */
    bool of_owner;
    bool is_free; /* the slot has no claim: the owner can use its CPUs without stopping a job */
    double owner; /* result: the part of the owner's load that is assigned to this slot */
};
/* Distributes the owner's load over the slots: first to slots with of_owner, then to slots with
 * is_free, then to the others, in their order.  Each slot gets at most as much as it has CPUs; load
 * that exceeds all CPUs is spread evenly. */
void load_plan_share(double owner_load, struct load_share *slots, size_t count);

#endif
