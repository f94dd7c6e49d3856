/* schedd/requests/autocluster_plan.h - which attributes of a job matter for matching, and the text
 * that two jobs share when they are alike in all of them.
 *
 * The attributes: a fixed list (what machines are asked for, whose the job is), what the
 * configuration adds, and everything that Requirements and Rank look up in the job, directly or
 * through other attributes.  The key is the list of `name=expression` lines, sorted, so that it
 * does not depend on the order in which attributes were set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_REQUESTS_AUTOCLUSTER_PLAN_H
#define SCHEDD_REQUESTS_AUTOCLUSTER_PLAN_H

#include <stdbool.h>
#include <stddef.h>

struct ad;
struct strbuf;
struct strmap;

/* Adds to names (case-insensitive) each significant attribute; extra is NULL-terminated or NULL.
 * Names that the job does not have are added, too: a job that lacks one differs from one that has
 * it. */
void autocluster_plan_names(const struct ad *job, const char *const *extra, struct strmap *names);

/* Adds Request<resource>, whatever the resource: what a job asks for must be what its claim was
 * made for.  ad may be NULL. */
void autocluster_plan_requests(const struct ad *ad, struct strmap *names);

/* May jobs be grouped by that attribute?  Not by what tells one job from another, or what the
 * schedd changes while a job waits. */
bool autocluster_plan_may_matter(const char *name);

/* Appends the key of the job for these names. */
void autocluster_plan_key(const struct ad *job, const struct strmap *names, struct strbuf *key);

/* Does `own` (may be NULL), what a job has of its own, touch any of the names, or a request? */
bool autocluster_plan_differs(const struct ad *own, const struct strmap *names);

#endif
