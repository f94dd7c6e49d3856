/* startd/sleep/hibernate_look.h - what this machine could do of sleep, and what holds it back.
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
    uint64_t seen_ms; /* 0: not looked for yet */
    unsigned levels;  /* that it has; hibernate_plan.h */
    bool has_systemd;
    pid_t plugin_pid; /* HIBERNATION_PLUGIN, or logind, is being asked */
    unsigned plugin_levels;
    char plugin_method[64];
    uint64_t ask_logind_ms; /* not before */
    bool is_logind;         /* it is logind that is being asked */
    bool logind_known;      /* what it said last: */
    unsigned logind_levels;
    char held[512];        /* why it is up although all slots agree; "": it is not so */
    uint64_t suspended_ms; /* of this boot, at the last look */
    int64_t awake_since_s; /* started, or a sleep was taken back */
};

void hibernate_look_open(struct startd *startd); /* also when the configuration is another one */
void hibernate_look_close(struct startd *startd);

/* Writes HibernationState, HibernationLevel, HibernationSupportedStates, HibernationMethod,
 * CanHibernate, HibernationHeldBy ... into the ad of a slot. */
void hibernate_look_put(struct startd *startd, struct ad *ad);
/* Writes until when somebody keeps the machine up (keep.h), if somebody does. */
void hibernate_look_put_keep(const struct startd *startd, struct ad *ad);
/* Writes when and why jobs last took the machine back (reclaim.h), if they did. */
void hibernate_look_put_reclaim(const struct startd *startd, struct ad *ad);

/* May the machine go to sleep now?  The answer is hibernate_plan_judge()'s. */
int hibernate_look_judge(struct startd *startd, int level, bool ordered, bool forced,
                         struct err *err);
/* Has the machine slept since this was asked last, or since the start? */
bool hibernate_look_has_slept(struct startd *startd);
/* Does the machine stay up if magic packets cannot wake it? */
bool hibernate_look_needs_wake(const struct startd *startd);
/* Does logind put the machine to sleep (POWER_METHOD host)? */
bool hibernate_look_by_logind(const struct startd *startd);

#endif
