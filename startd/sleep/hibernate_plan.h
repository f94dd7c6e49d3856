/* startd/sleep/hibernate_plan.h - which levels of sleep this machine has, and what holds it back.
 *
 * Pure.  Levels are ACPI's, 1 (S1) to 5 (S5); a set of them is a mask with bit n for Sn.  The
 * kernel's words are mapped as they wake: s2idle and standby are S1, deep is S3, disk is S4 (only
 * where the image would be found again), and any machine can be switched off, S5.
 *
 * In doubt a machine stays up: hibernate_plan_judge() names the first thing that holds it back.
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
/* "S3,S4,S5", or any of the names that HIBERNATE may have; what is none is left out. */
unsigned hibernate_plan_parse_levels(const char *list);
/* HibernationSupportedStates, HibernationRawMask, CanHibernate. */
void hibernate_plan_put_levels(unsigned levels, bool can, struct ad *ad);

/* Does an inhibitor for what ("sleep:idle") forbid that level?  Who forbids sleep forbids S1 to S4,
 * who forbids shutdown S5. */
bool hibernate_plan_inhibits(const char *what, int level);

struct hibernate_facts {
    const char *method;   /* POWER_METHOD */
    unsigned levels;      /* that it has */
    int64_t now_s, up_s;  /* up: since it was started, or woke */
    int64_t min_up_s;     /* HIBERNATE_MIN_UPTIME */
    int64_t kept_until_s; /* somebody keeps it up; 0: nobody */
    const char *kept_by, *kept_reason;
    size_t users;          /* sessions that count */
    const char *user;      /* of one of them */
    const char *inhibitor; /* "who: why"; "": none for that level */
    bool ordered;          /* by somebody, not by HIBERNATE: it need not have been up for long */
    bool forced;           /* ... who knows what holds it back: only its levels count */
    bool needs_wake, can_wake; /* is there an adapter that magic packets wake? */
    const char *cannot_wake;   /* why not */
};

/* May it go to sleep, to that level?  0; -ENOTSUP: it has no such level, -EBUSY: err says what
 * holds it back, and which knob it is where there is one. */
int hibernate_plan_judge(const struct hibernate_facts *facts, int level, struct err *err);

#endif
