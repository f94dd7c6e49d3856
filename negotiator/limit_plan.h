/* negotiator/limit_plan.h - concurrency limits: how many jobs may use a licence, a database, at
 * once.
 *
 * A job names what it uses: ConcurrencyLimits = "matlab,db.read:2".  The most of each is
 * <NAME>_LIMIT, else CONCURRENCY_LIMIT_DEFAULT_<prefix> (of a name with a dot, what stands before
 * it), else CONCURRENCY_LIMIT_DEFAULT.  Names are compared without case; a count that is none is 1.
 *
 * Pure.  What is in use is kept from change to change: slots' ads say it, and matches on their way;
 * so a negotiator that starts anew knows it when it knows the slots.  What a cycle gives away
 * counts until the next cycle begins.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_LIMIT_PLAN_H
#define NEGOTIATOR_LIMIT_PLAN_H

#include <stddef.h>
#include <stdint.h>

#define LIMIT_NAMES_MAX 100000 /* in use or asked for; more are not let through */
#define LIMIT_LIST_MAX  64     /* names of one job; a longer list is not let through */
#define LIMIT_NAME_MAX  256

struct limit_plan;
struct strbuf;

/* The most of that name, in lower case; below 0: no limit. */
typedef double (*limit_max_f)(void *arg, const char *name);

struct limit_plan *limit_plan_create(void);
void limit_plan_destroy(struct limit_plan *plan); /* NULL is allowed */
/* The limits changed.  Before the first call nothing is limited. */
void limit_plan_configure(struct limit_plan *plan, limit_max_f max_of, void *arg);

/* A job with this list uses it from now on (by 1), or does no longer (by -1).  NULL and "": none.
 */
void limit_plan_use(struct limit_plan *plan, const char *list, int by);
double limit_plan_used(const struct limit_plan *plan, const char *name);

/* Forgets what the last cycle gave away: by now it is in use, or came to nothing. */
void limit_plan_begin(struct limit_plan *plan);
/* How many more jobs with this list may be matched in this cycle; INT64_MAX: it has no limits. */
int64_t limit_plan_room(struct limit_plan *plan, const char *list);
/* The names of the list that let no more job through, as "a, b". */
void limit_plan_reached(struct limit_plan *plan, const char *list, struct strbuf *names);
void limit_plan_take(struct limit_plan *plan, const char *list, int64_t jobs);

/* Walks what is in use or was asked for: at = 0 first.  NULL: no more. */
const char *limit_plan_next(const struct limit_plan *plan, size_t *at, double *used, double *max);

#endif
