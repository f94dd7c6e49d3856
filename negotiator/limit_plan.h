/* negotiator/limit_plan.h - concurrency limits: how many jobs may use a licence or a database at
 * once.
 *
 * A job names what it uses: ConcurrencyLimits = "matlab,db.read:2".  The limit of each name is
 * <NAME>_LIMIT, else CONCURRENCY_LIMIT_DEFAULT_<prefix> (the prefix is what precedes the dot in a
 * name), else CONCURRENCY_LIMIT_DEFAULT.  Names are compared without case; an invalid count means
 * 1.
 *
 * Pure.  Use is counted from change to change, from slots' ads and from matches under way; a
 * restarted negotiator knows it once it has the slots.  What a cycle gives out counts until the
 * next cycle begins.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_LIMIT_PLAN_H
#define NEGOTIATOR_LIMIT_PLAN_H

#include <stddef.h>
#include <stdint.h>

/* names in use or asked for; jobs with further names are not matched */
#define LIMIT_NAMES_MAX 100000
#define LIMIT_LIST_MAX  64 /* names of one job; a job with a longer list is not matched */
#define LIMIT_NAME_MAX  256

struct limit_plan;
struct strbuf;

/* Returns the limit of that name (in lower case); below 0: no limit. */
typedef double (*limit_max_f)(void *arg, const char *name);

struct limit_plan *limit_plan_create(void);
void limit_plan_destroy(struct limit_plan *plan); /* NULL is allowed */
/* Call it when the limits have changed.  Before the first call nothing is limited. */
void limit_plan_configure(struct limit_plan *plan, limit_max_f max_of, void *arg);

/* Counts a job with this list of limits (by = 1), or stops counting one (by = -1).  NULL and ""
 * have no limits. */
void limit_plan_use(struct limit_plan *plan, const char *list, int by);
double limit_plan_used(const struct limit_plan *plan, const char *name);

/* Begins a cycle: forgets what the last cycle gave out, which is in use by now or failed. */
void limit_plan_begin(struct limit_plan *plan);
/* Returns how many more jobs with this list may be matched in this cycle; INT64_MAX: no limit. */
int64_t limit_plan_room(struct limit_plan *plan, const char *list);
/* Appends those names of the list whose limit is reached, as "a, b". */
void limit_plan_reached(struct limit_plan *plan, const char *list, struct strbuf *names);
/* Counts so many jobs with this list as matched in this cycle. */
void limit_plan_take(struct limit_plan *plan, const char *list, int64_t jobs);

/* Walks the names in use or asked for: start with *at = 0; NULL at the end. */
const char *limit_plan_next(const struct limit_plan *plan, size_t *at, double *used, double *max);

#endif
