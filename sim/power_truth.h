/* sim/power_truth.h - what was truly switched in a simulated pool, and whether it should have been.
 *
 * It looks at the machines, not at what the daemons believe: when each was on and off, what was
 * asked of it and when, which jobs ran on it.  Beside the promises of check.h, which hold here too:
 *
 *   wake_without_match  a machine is woken, nobody asked for it by name, and for WAKE_TOLERANCE_US
 *                       no job waited that it could run, nor was the reserve short
 *   wake_surplus        within SURPLUS_US more sound machines are woken than jobs of one kind
 * waited wake_repeated       a sound machine is woken while it is on its way up over_the_limit more
 * machines are woken, or go down, in a minute than the guards allow off_while_claimed   a machine
 * is told to go down, or goes down in order, while a job is on its way to it, runs, or is on its
 * way back sleep_not_done      a machine said that it goes to sleep when it was told to, and stayed
 * on node_lost           a machine that is sound ran none of the last jobs, which want them all
 *   no_reason           a machine that comes up no more is not left alone, with a reason
 *   energy_wrong        the report does not add up, or is not what the machines did
 *   unanswered          the operator's last questions were not answered
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_POWER_TRUTH_H
#define SIM_POWER_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/sim.h"

struct ad;
struct judge;
struct power_truth;

#define SURPLUS_US (60 * SIM_S)

/* Of a machine.  ODD: its orders fail, or it lies about them and about its state. */
enum power_kind {
    POWER_KIND_GOOD,
    POWER_KIND_DEAD,    /* comes up no more, from some hour on */
    POWER_KIND_LATE,    /* comes up after its deadline, or after it was given up */
    POWER_KIND_NAPS,    /* wants no job when it is up, and sleeps again */
    POWER_KIND_CRASHES, /* loses its power, reboots, or stays off without a word */
    POWER_KIND_LIES,
    POWER_KIND_FAILS,
    POWER_KIND_LESS, /* joins with less than it has */
    POWER_KIND_COUNT
};

enum power_class {
    POWER_ANY,
    POWER_STATIC,
    POWER_WHOLE,
    POWER_CLASSES
}; /* of a job: where it fits */

struct power_truth_options {
    unsigned nodes, jobs, last_job; /* jobs from that number on are the last ones */
    const unsigned char *classes;   /* enum power_class of each job; borrowed */
    double asleep_w, idle_w, busy_w;
    unsigned reserve;               /* idle machines that are kept awake; 0: none */
    int64_t attempts_max;           /* of a wake */
    unsigned wakes_max, sleeps_max; /* in a minute; 0: no limit */
    uint64_t failed_wake_max_s,
        flush_s; /* what one costs in the report; what a killed rooster forgets */
};
struct power_truth *power_truth_create(const struct power_truth_options *options);
void power_truth_destroy(struct power_truth *truth);
void power_truth_observe(struct power_truth *truth, struct sim_observer *observer);
void power_truth_begin(struct power_truth *truth, struct sim *sim, struct judge *judge);

/* Of the number-th machine, from 1. */
void power_truth_kind(struct power_truth *truth, unsigned number, enum power_kind kind, bool whole);
enum power_kind power_truth_kind_of(const struct power_truth *truth, unsigned number);
unsigned power_truth_on(const struct power_truth *truth);      /* how many machines are on */
unsigned power_truth_running(const struct power_truth *truth); /* how many jobs run */
/* Somebody orders it on by name, now. */
void power_truth_order(struct power_truth *truth, const struct sim_host *host);
/* Somebody asked for it by name, or the reserve is short. */
bool power_truth_is_ordered(const struct power_truth *truth, const struct sim_host *host);
/* The last jobs come now. */
void power_truth_last(struct power_truth *truth);
/* The rooster was killed. */
void power_truth_rooster_died(struct power_truth *truth);

/* Answers to the operator. */
void power_truth_slept(struct power_truth *truth, const char *name, int status);
void power_truth_states(struct power_truth *truth, struct ad *const *ads, size_t count);
void power_truth_energy(struct power_truth *truth, bool users, struct ad *const *ads, size_t count);

void power_truth_finish(struct power_truth *truth);
/* One line of figures. */
void power_truth_figures(const struct power_truth *truth, char *text, size_t size);

#endif
