/* negotiator/limit_plan.h - concurrency limits: how many jobs may use a licence or a database at
 * once.
 *
 * A job names what it uses: ConcurrencyLimits = "matlab,db.read:2".  The limit of each name is
 * <NAME>_LIMIT, else CONCURRENCY_LIMIT_DEFAULT_<prefix> (the prefix is what precedes the dot in a
 * name), else CONCURRENCY_LIMIT_DEFAULT.  Names are compared without case; an invalid count means
 * 1.
 *
 * Pure.  The caller reports each change of use, as it sees it in ads of slots and in matches under
 * way.  So a restarted negotiator knows the use when it has received the ads of the slots.  Jobs
 * that a cycle matched are counted separately until the next cycle begins.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_LIMIT_PLAN_H
#define NEGOTIATOR_LIMIT_PLAN_H

#include <stddef.h>
#include <stdint.h>

/* most names of limits that are in use or asked for; jobs with further names are not matched */
#define LIMIT_NAMES_MAX 100000
#define LIMIT_LIST_MAX  64  /* most names in the list of one job; a job with more is not matched */
#define LIMIT_NAME_MAX  256 /* most bytes of a limit's name, without the terminating zero */

struct limit_plan;
struct strbuf;

/* Returns the limit of that name (in lower case); below 0: no limit. */
typedef double (*limit_max_f)(void *arg, const char *name);

struct limit_plan *limit_plan_create(void);
void limit_plan_destroy(struct limit_plan *plan); /* NULL is allowed */
/* Sets the function that returns limits, and the argument arg for it.  To be called again when
 * limits have changed.  Before the first call nothing is limited. */
void limit_plan_configure(struct limit_plan *plan, limit_max_f max_of, void *arg);

/* by = 1: counts one more job with this list of limits as running; by = -1: one job fewer.  list
 * NULL or "": the job has no limits. */
void limit_plan_use(struct limit_plan *plan, const char *list, int by);
double limit_plan_used(const struct limit_plan *plan, const char *name);
/* Two jobs share a slot, and the second begins when the first has ended.  Appends the list of what
 * both use together: each name with the larger of its two counts. */
void limit_plan_either(const char *first, const char *second, struct strbuf *list);

/* Begins a cycle: jobs matched in the last cycle (limit_plan_take()) no longer count.  By now they
 * are counted as in use, or their match failed. */
void limit_plan_begin(struct limit_plan *plan);
/* Returns how many more jobs with this list of limits may be matched in this cycle; INT64_MAX: no
 * limit applies. */
int64_t limit_plan_room(struct limit_plan *plan, const char *list);
/* Appends to `names` those names of the list whose limit is reached, as "a, b". */
void limit_plan_reached(struct limit_plan *plan, const char *list, struct strbuf *names);
/* Counts this number of jobs with this list of limits as matched in this cycle. */
void limit_plan_take(struct limit_plan *plan, const char *list, int64_t jobs);

/* Returns the name of the next limit that is in use or was asked for, and sets *used to its use and
 * *max to the limit (below 0: no limit); returns NULL after the last.  Set *at to 0 before the
 * first call. */
const char *limit_plan_next(const struct limit_plan *plan, size_t *at, double *used, double *max);

#endif
