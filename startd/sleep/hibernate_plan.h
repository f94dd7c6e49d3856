/* startd/sleep/hibernate_plan.h - which levels of sleep this machine has, and what prevents it from
 * sleeping.
 *
 * Pure.  Levels are ACPI's, 1 (S1) to 5 (S5); a set of them is a mask with bit n for Sn.  The
 * kernel's words are mapped by how the machine wakes: s2idle and standby are S1, deep is S3, disk
 * is S4 (only if the saved image would be found again), and any machine can be switched off, S5.
 *
 * In doubt a machine stays up: hibernate_plan_judge() names the first thing that prevents it from
 * sleeping.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLEEP_HIBERNATE_PLAN_H
#define STARTD_SLEEP_HIBERNATE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct err;
struct os_sleep_words;

#define HIBERNATE_LEVELS_ALL 0x3eu /* S1 to S5 */
#define HIBERNATE_LEVEL_S1   0x02u

unsigned hibernate_plan_kernel_levels(const struct os_sleep_words *words);
/* Reads "S3,S4,S5", or any other names that HIBERNATE may have; unknown words are ignored. */
unsigned hibernate_plan_parse_levels(const char *list);
/* Writes HibernationSupportedStates, HibernationRawMask and CanHibernate. */
void hibernate_plan_put_levels(unsigned levels, bool can, struct ad *ad);

/* Returns whether an inhibitor with that `what` ("sleep:idle") forbids the level: one for sleep
 * forbids S1 to S4, one for shutdown S5. */
bool hibernate_plan_inhibits(const char *what, int level);

struct hibernate_facts {  /* what hibernate_plan_judge() looks at */
    const char *method;   /* the knob POWER_METHOD */
    unsigned levels;      /* that the machine has */
    int64_t now_s, up_s;  /* now; seconds since it was started or woke */
    int64_t min_up_s;     /* the knob HIBERNATE_MIN_UPTIME */
    int64_t kept_until_s; /* somebody keeps it up until then; 0: nobody */
    const char *kept_by, *kept_reason;
    size_t users;              /* sessions of people that count */
    const char *user;          /* of one of these sessions */
    const char *inhibitor;     /* "who: why"; "": none for that level */
    bool ordered;              /* somebody ordered it, not HIBERNATE: min_up_s does not count */
    bool forced;               /* and knows what prevents it: only the level counts */
    bool needs_wake, can_wake; /* it must be wakeable by magic packets; whether it is */
    const char *cannot_wake;   /* why magic packets cannot wake it */
};

/* Decides whether the machine may go to sleep to that level.  0; -ENOTSUP: it does not have the
 * level; -EBUSY: err says what prevents it, and which knob that is, if any. */
int hibernate_plan_judge(const struct hibernate_facts *facts, int level, struct err *err);

#endif
