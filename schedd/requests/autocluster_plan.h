/* schedd/requests/autocluster_plan.h - finds which attributes of a job matter for matching, and
 * makes the key of its autocluster: jobs that are alike in these attributes have the same key.
 *
 * The attributes that matter: a fixed list (such as the requested resources and the owner), those
 * that the configuration adds, and all that Requirements and Rank read from the job, directly or
 * through other attributes.  The key is the sorted list of lines `name=expression`, so it does not
 * depend on the order in which the attributes were set.
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

/* Adds to names, a map without regard to case: a fixed list of attributes that are always
 * significant, the attributes in `extra`, and those that the job's Requirements, Rank, RequestCpus,
 * RequestMemory and RequestDisk read from the job.  The caller adds those that the negotiator
 * reports.  extra: the names in SIGNIFICANT_ATTRIBUTES, NULL-terminated, or NULL.  Names that the
 * job does not have are added, too, because a job without the attribute differs from a job with it.
 */
void autocluster_plan_names(const struct ad *job, const char *const *extra, struct strmap *names);

/* Adds all attributes Request<resource> of the ad (may be NULL) to names, because a claim's next
 * job must ask for the same resources as the one before. */
void autocluster_plan_requests(const struct ad *ad, struct strmap *names);

/* Returns whether jobs may be grouped by this attribute.  False for attributes that every job has a
 * different value of, and for those that the schedd changes while a job waits. */
bool autocluster_plan_may_matter(const char *name);

/* Appends the job's key, made of the attributes in names, to key. */
void autocluster_plan_key(const struct ad *job, const struct strmap *names, struct strbuf *key);

/* Returns true when `own`, a job's own attributes (may be NULL), has any of the names or a
 * Request<resource>, so that the job may belong to another autocluster than its cluster's other
 * jobs. */
bool autocluster_plan_differs(const struct ad *own, const struct strmap *names);

#endif
