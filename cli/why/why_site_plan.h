/* cli/why/why_site_plan.h - what the factory's sites have to do with a job that waits: for which
 * site it waits, and what stops that site, or the sites that cannot be chosen.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WHY_WHY_SITE_PLAN_H
#define CLI_WHY_WHY_SITE_PLAN_H

#include <stdbool.h>

struct ad;
struct strbuf;
struct why_pool;

/* Appends what a sample stands for: "a glidein of site campus".  Returns whether slot is a sample;
 * nothing is appended for other slots. */
bool why_site_put_sample(const struct ad *slot, struct strbuf *out);
/* Appends, for each site with a sample that is held for the job, how many glideins are on their
 * way, what stops the site, and what went wrong there last; nothing when no sample is held. */
void why_site_put_chosen(const struct why_pool *pool, struct strbuf *out);
/* Appends, for each site without a sample among the slots that were compared with the job, why no
 * job can be matched with it now. */
void why_site_put_closed(const struct why_pool *pool, struct strbuf *out);

#endif
