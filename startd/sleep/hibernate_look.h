/* startd/sleep/hibernate_look.h - finds out how this machine could sleep, and what prevents that
 * now.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLEEP_HIBERNATE_LOOK_H
#define STARTD_SLEEP_HIBERNATE_LOOK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "startd/sleep/pool_look.h"

struct ad;
struct err;
struct startd;

struct hibernate_look {
    /* when `levels` was last found out, ms of the loop's clock; 0: never, or look again */
    uint64_t seen_ms;
    unsigned levels; /* levels of sleep that the machine has: bit n is set for Sn */
    bool has_systemd;
    /* pid of HIBERNATION_PLUGIN, or of the program that asks logind; 0: none runs */
    pid_t plugin_pid;
    unsigned plugin_levels;
    char plugin_method[64];
    uint64_t ask_logind_ms; /* when to ask logind again, ms of the loop's clock */
    bool is_logind;         /* true: plugin_pid is the program that asks logind */
    bool logind_known;      /* true: logind has answered, and logind_levels is its answer */
    unsigned logind_levels;
    unsigned logind_failures; /* how often in a row logind was asked in vain */
    /* Why the machine is kept up although all slots agree to sleep; "": they do not agree, or
     * nothing keeps it up. */
    char held[512];
    /* how long the machine was suspended in this boot, ms, when last looked at */
    uint64_t suspended_ms;
    /* when the startd was started, or the machine last woke or last gave up going to sleep, ms of
     * the loop's clock */
    int64_t awake_since_ms;
    /* when jobs took the machine back from its way down, the last two times, ms of the loop's
     * clock; 0: never */
    uint64_t reclaimed_ms[2];
    struct pool_look pool; /* the figures of the queue */
};

/* Forgets what is known about the levels of sleep that the machine has, and starts
 * HIBERNATION_PLUGIN if configured.  To be called at the start and when the configuration has
 * changed. */
void hibernate_look_open(struct startd *startd);
void hibernate_look_close(struct startd *startd);

/* Writes the attributes about sleep into the ad of a slot: HibernationState, HibernationLevel,
 * HibernationSupportedStates, HibernationMethod, CanHibernate, HibernationHeldBy, PowerMethod,
 * MachineLastMatchTime, PowerKeepUntil, and the figures of the queue (pool_look.h). */
void hibernate_look_put(struct startd *startd, struct ad *ad);
/* Writes into an ad until when an administrator keeps the machine up (PowerKeepUntil, PowerKeepBy,
 * PowerKeepReason), or removes these attributes. */
void hibernate_look_put_keep(const struct startd *startd, struct ad *ad);
/* Writes into an ad when and why jobs last took the machine back while it was going to sleep
 * (LastReclaimTime, LastReclaimReason); writes nothing if that has not happened. */
void hibernate_look_put_reclaim(const struct startd *startd, struct ad *ad);

/* Collects the facts about this machine and returns the result of hibernate_plan_judge(): 0 if the
 * machine may go to sleep to that level now; -ENOTSUP if the machine does not have the level;
 * -EBUSY if something prevents the sleep. err gets the reason. ordered: an administrator ordered
 * the sleep, so HIBERNATE_MIN_UPTIME does not count; forced: ordered with --force, so only the
 * levels that the machine has count. */
int hibernate_look_judge(struct startd *startd, int level, bool ordered, bool forced,
                         struct err *err);
/* Returns the level to which this machine goes when it is told to sleep and no level is named. */
int hibernate_look_best_level(struct startd *startd);
/* Returns whether the machine was suspended since the last call, or since the start of the
 * startd. */
bool hibernate_look_has_slept(struct startd *startd);
/* Returns whether the machine may sleep only if magic packets can wake it: POWER_METHOD is host and
 * HIBERNATION_OVERRIDE_WOL is false. */
bool hibernate_look_needs_wake(const struct startd *startd);
/* Returns how POWER_METHOD host puts the machine to sleep, which LINUX_HIBERNATION_METHOD chooses:
 * true: by a request to logind; false: directly by the kernel.  The result says nothing about other
 * power methods. */
bool hibernate_look_by_logind(const struct startd *startd);

#endif
