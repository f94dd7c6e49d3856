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

struct ad;
struct err;
struct startd;

struct hibernate_look {
    uint64_t seen_ms; /* when that was last found out, loop time; 0: never */
    unsigned levels;  /* levels that it has, as a mask; see hibernate_plan.h */
    bool has_systemd;
    pid_t plugin_pid; /* of HIBERNATION_PLUGIN, or of the program that asks logind; 0: none runs */
    unsigned plugin_levels;
    char plugin_method[64];
    uint64_t ask_logind_ms; /* do not ask logind before, loop time */
    bool is_logind;         /* plugin_pid asks logind */
    bool logind_known;      /* logind_levels is logind's last answer */
    unsigned logind_levels;
    char held[512]; /* why the machine is up although all slots agree to sleep; "": they do not */
    uint64_t suspended_ms; /* how long it was suspended in this boot, when last looked at */
    int64_t awake_since_s; /* when it was started, or last woke or was taken back */
};

/* Also called when the configuration has changed. */
void hibernate_look_open(struct startd *startd);
void hibernate_look_close(struct startd *startd);

/* Writes HibernationState, HibernationLevel, HibernationSupportedStates, HibernationMethod,
 * CanHibernate, HibernationHeldBy ... into the ad of a slot. */
void hibernate_look_put(struct startd *startd, struct ad *ad);
/* Writes until when an administrator keeps the machine up (keep.h), if so. */
void hibernate_look_put_keep(const struct startd *startd, struct ad *ad);
/* Writes when and why jobs last took the machine back (reclaim.h), if they did. */
void hibernate_look_put_reclaim(const struct startd *startd, struct ad *ad);

/* Returns whether the machine may go to sleep now: the result of hibernate_plan_judge(). */
int hibernate_look_judge(struct startd *startd, int level, bool ordered, bool forced,
                         struct err *err);
/* Returns whether the machine has slept since the last call, or since the start. */
bool hibernate_look_has_slept(struct startd *startd);
/* Returns whether the machine must stay up if magic packets cannot wake it. */
bool hibernate_look_needs_wake(const struct startd *startd);
/* Returns whether logind puts the machine to sleep (POWER_METHOD host). */
bool hibernate_look_by_logind(const struct startd *startd);

#endif
