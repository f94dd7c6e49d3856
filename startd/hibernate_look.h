/* startd/hibernate_look.h - what this machine could do of sleep, and what holds it back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_HIBERNATE_LOOK_H
#define STARTD_HIBERNATE_LOOK_H

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

void hibernate_look_open(struct startd *startd); /* again: with another configuration */
void hibernate_look_close(struct startd *startd);
/* HibernationState, HibernationLevel, HibernationSupportedStates, HibernationMethod, CanHibernate,
 * HibernationHeldBy ... */
void hibernate_write(struct startd *startd, struct ad *ad);
void keep_write(const struct startd *startd, struct ad *ad);
void reclaim_write(const struct startd *startd, struct ad *ad); /* when and why it last was */
/* May it go to sleep now?  As hibernate_plan_judge(). */
int hibernate_may(struct startd *startd, int level, bool ordered, bool forced, struct err *err);
bool hibernate_has_slept(struct startd *startd); /* since this was asked last, or the start */
bool hibernate_needs_wake(const struct startd *startd); /* by magic packets, or it stays up */
bool hibernate_by_logind(const struct startd *startd);  /* POWER_METHOD host: systemctl does it */

#endif
