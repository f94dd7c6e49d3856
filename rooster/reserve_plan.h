/* rooster/reserve_plan.h - ROOSTER_RESERVE: how many idle machines must be awake, by day and time.
 *
 * Pure, and part of the library of knobs, so that the value is parsed wherever a configuration is
 * read (rooster/knobs.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_RESERVE_PLAN_H
#define ROOSTER_RESERVE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

#define RESERVE_RULES_MAX  32 /* most rules of one reserve */
#define RESERVE_NUMBER_MAX 1000000

/* One rule of ROOSTER_RESERVE. */
struct reserve_rule {
    unsigned days; /* bit n: the rule's time begins on day n of the week, 0 is Sunday */
    /* the rule's time, minutes of the day; to_min <= from_min: it ends on the next day */
    int from_min, to_min;
    int64_t number; /* machines in reserve; if is_percent, percent of the pool */
    bool is_percent;
    /* a ClassAd expression in parentheses stands for the number: where it begins in the text, and
     * its length with the parentheses; length 0: there is none */
    size_t expr_at, expr_length;
};

struct reserve {
    struct reserve_rule rules[RESERVE_RULES_MAX];
    size_t count;
};

/* Parses a reserve such as "Mon-Fri 07:00-19:00 = 5, 07:00-19:00 = 10%, else 1" or "5" or "10%";
 * for a number, there may be an expression: "(PoolIdleJobs > 0 ? 5 : 1)".  "": no reserve.  Returns
 * 0; -EINVAL: the text is not valid, and err has the bad part; -E2BIG: it has more than
 * RESERVE_RULES_MAX rules. */
int reserve_plan_parse(const char *text, struct reserve *ret, struct err *err);
/* Returns whether a rule of the reserve is probably a mistake, and says which: one behind a rule
 * that always applies, or one that begins and ends at the same time. */
bool reserve_plan_doubt(const struct reserve *reserve, struct err *ret);
/* Returns the index of the first rule that applies at local_s (seconds since 1970, plus the time
 * zone's offset); reserve->count: no rule applies. */
size_t reserve_plan_rule_at(const struct reserve *reserve, int64_t local_s);
/* Returns the reserve in machines, of a rule with this number.  A percentage of `machines` is
 * rounded up. */
int64_t reserve_plan_machines(const struct reserve_rule *rule, int64_t number, int64_t machines);
/* For struct knob: the expressions in the text, one at a time.  Set *at to 0 before the first call.
 * Returns false after the last. */
bool reserve_plan_next_expr(const char *text, size_t *at, const char **expr, size_t *length);
/* Returns 0 if reserve_plan_parse() accepts the text; else its error. */
int reserve_plan_check(const char *text, struct err *err);

#endif
