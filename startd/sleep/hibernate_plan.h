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

#define HIBERNATE_LEVELS_ALL 0x3eu /* the mask for S1 to S5: bit n for Sn */
#define HIBERNATE_LEVEL_S1   0x02u

unsigned hibernate_plan_kernel_levels(const struct os_sleep_words *words);
/* Reads a list of levels, "S3,S4,S5" or the other names that HIBERNATE may have, and returns the
 * mask of levels; unknown words are ignored. */
unsigned hibernate_plan_parse_levels(const char *list);
/* Returns the level for an order to sleep that names none: the first of S3, S4, S5 that the machine
 * has; 3 if it has none of them. */
int hibernate_plan_best_level(unsigned levels);
/* Writes HibernationSupportedStates and HibernationRawMask, from the mask of levels, and
 * CanHibernate, which is `can`, to ad. */
void hibernate_plan_put_levels(unsigned levels, bool can, struct ad *ad);

/* Returns whether a logind inhibitor of the kind `what` ("sleep:idle") forbids that level: kind
 * sleep forbids S1 to S4, kind shutdown forbids S5. */
bool hibernate_plan_inhibits(const char *what, int level);

/* A machine is put to sleep and taken back by jobs at most so often in that time, milliseconds:
 * jobs that take it back more often do not run on it. */
#define HIBERNATE_PLAN_FLAPS    2
#define HIBERNATE_PLAN_FLAPS_MS 60000

/* What hibernate_plan_judge() decides by. */
struct hibernate_facts {
    const char *method; /* the knob POWER_METHOD */
    unsigned levels;    /* levels of sleep that the machine has: bit n is set for Sn */
    /* now_s: the present time, seconds since 1970; up_s: seconds since the machine was started or
     * woke. */
    int64_t now_s, up_s;
    int64_t min_up_s; /* the knob HIBERNATE_MIN_UPTIME, seconds */
    /* jobs took the machine back HIBERNATE_PLAN_FLAPS times within HIBERNATE_PLAN_FLAPS_MS */
    bool flaps;
    /* until when an administrator keeps the machine up, seconds since 1970; 0: nobody keeps it
     * up */
    int64_t kept_until_s;
    const char *kept_by, *kept_reason;
    size_t users; /* number of login sessions that keep the machine up */
    /* user of one of the login sessions that keep the machine up; "": not known */
    const char *user;
    const char *inhibitor; /* a logind inhibitor, "who: why"; "": none forbids the level */
    bool ordered;          /* an administrator ordered the sleep, so min_up_s does not count */
    /* an administrator ordered the sleep with --force: of these facts, only `levels` counts */
    bool forced;
    /* needs_wake: the machine may sleep only if magic packets can wake it; can_wake: magic packets
     * can wake it. */
    bool needs_wake, can_wake;
    const char *cannot_wake; /* if can_wake is false: why magic packets cannot wake the machine */
};

/* Decides whether the machine may go to sleep to that level.  Returns 0; -ENOTSUP if it does not
 * have the level; -EBUSY if something prevents the sleep: then err says what, and which knob
 * controls that, if any. */
int hibernate_plan_judge(const struct hibernate_facts *facts, int level, struct err *err);
/* Decides whether a machine that is shut down, by whomever, leaves offline ads.  Returns 0, or
 * -ENOTSUP if it could not be woken, as err says.  Only method, needs_wake, can_wake and
 * cannot_wake count. */
int hibernate_plan_leaves(const struct hibernate_facts *facts, struct err *err);

#endif
