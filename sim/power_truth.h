/* sim/power_truth.h - records what was really switched in a simulated pool, and checks whether it
 * should have been.
 *
 * It looks at the machines, not at what the daemons believe: when each was on and off, what was
 * asked of it and when, which jobs ran on it.  The promises of check.h hold here too, and these:
 *
 * - wake_without_match: a machine is woken although nobody asked for it by name, no job that it
 *   could run waited within WAKE_TOLERANCE_US, and the reserve was not short;
 * - wake_surplus: within SURPLUS_US more sound machines are woken than jobs of one kind waited;
 * - wake_repeated: a sound machine is woken again while it boots;
 * - wake_too_early: a sound machine is woken while it shuts down, which does nothing;
 * - over_the_limit: more machines are woken, or go down, in a minute than the limits allow;
 * - off_while_claimed: a machine is told to go down, or shuts down, while a job is on its way to
 *   it, runs, or returns its output;
 * - sleep_not_done: a machine answered that it goes to sleep, and stayed on;
 * - node_lost: a sound machine ran none of the last jobs, which need all machines: also one that a
 *   person had shut down, or that had lost its power;
 * - no_reason: a machine that never boots again is not left alone, with a reason;
 * - energy_wrong: the energy report does not add up, or does not match what the machines did;
 * - unanswered: the operator's last questions were not answered.
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

/* How a machine behaves.  LIES: its power method reports success for orders that were not carried
 * out, or a wrong power state; FAILS: orders to it fail. */
enum power_kind {
    POWER_KIND_GOOD,
    POWER_KIND_DEAD,    /* never boots again from some hour on */
    POWER_KIND_LATE,    /* boots after the wake's deadline, or after the rooster gave the wake up */
    POWER_KIND_NAPS,    /* takes no job after booting, and falls asleep again */
    POWER_KIND_CRASHES, /* loses power, reboots, or stays off without notice */
    POWER_KIND_LIES,
    POWER_KIND_FAILS,
    POWER_KIND_LESS, /* boots with fewer resources than before */
    POWER_KIND_COUNT
};

/* The machines on which a job fits: any; those with a static slot; those whose slot is
 * partitionable. */
enum power_class { POWER_ANY, POWER_STATIC, POWER_WHOLE, POWER_CLASSES };

struct power_truth_options {
    /* number of nodes and of jobs; the jobs from number last_job on need all machines */
    unsigned nodes, jobs, last_job;
    const unsigned char *classes; /* enum power_class of each job; borrowed */
    double asleep_w, idle_w, busy_w;
    unsigned reserve;               /* number of idle machines to keep awake */
    int64_t attempts_max;           /* most attempts of one wake */
    unsigned wakes_max, sleeps_max; /* most wakes and most power-downs in a minute; 0: no limit */
    /* by how much the energy report may differ from the truth: failed_wake_max_s seconds for each
     * wake of a faulty machine, and flush_s seconds for each death of the rooster */
    uint64_t failed_wake_max_s, flush_s;
};
struct power_truth *power_truth_create(const struct power_truth_options *options);
void power_truth_destroy(struct power_truth *truth);
void power_truth_observe(struct power_truth *truth, struct sim_observer *observer);
void power_truth_begin(struct power_truth *truth, struct sim *sim, struct judge *judge);

/* Sets the kind of node `number` (the first is 1); whole: true if its slot is partitionable. */
void power_truth_kind(struct power_truth *truth, unsigned number, enum power_kind kind, bool whole);
enum power_kind power_truth_kind_of(const struct power_truth *truth, unsigned number);
unsigned power_truth_on(const struct power_truth *truth);      /* number of machines that are on */
unsigned power_truth_running(const struct power_truth *truth); /* number of jobs that run */
/* Tells `truth` that from now on the machine may be woken, because somebody asked for it by name.
 */
void power_truth_order(struct power_truth *truth, const struct sim_host *host);
/* Returns whether the machine may be woken: somebody asked for it by name, or the reserve is
 * short. */
bool power_truth_is_ordered(const struct power_truth *truth, const struct sim_host *host);
/* Tells `truth` that somebody presses the machine's button: it may go down whatever runs on it, or
 * it boots and the rooster does not know since when. */
void power_truth_button(struct power_truth *truth, const struct sim_host *host);
/* Tells `truth` that the last jobs, which need all machines, are now submitted. */
void power_truth_last(struct power_truth *truth);
/* Tells `truth` that the rooster was killed. */
void power_truth_rooster_died(struct power_truth *truth);

/* Tells `truth` the status of the machine's reply to a POWER_DOWN of the operator. */
void power_truth_slept(struct power_truth *truth, const char *name, int status);
/* Gives `truth` the ads that the operator got from POWER_STATUS. */
void power_truth_states(struct power_truth *truth, struct ad *const *ads, size_t count);
/* Gives `truth` the ads of an energy report that the operator got, to be compared with the energy
 * that the machines really used.  users: true for a report of users, false for one of machines. */
void power_truth_energy(struct power_truth *truth, bool users, struct ad *const *ads, size_t count);

void power_truth_finish(struct power_truth *truth);
/* Writes one line to text: numbers of wakes, power-downs and so on, for people. */
void power_truth_figures(const struct power_truth *truth, char *text, size_t size);

#endif
