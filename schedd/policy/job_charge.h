/* schedd/policy/job_charge.h - to whose account jobs go, asked of the configuration and the host.
 *
 * The rules are those of charge_plan.h.  What the map says of an owner is asked once and kept until
 * the configuration changes, so that a submission of many jobs costs one look into it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_POLICY_JOB_CHARGE_H
#define SCHEDD_POLICY_JOB_CHARGE_H

struct ad;
struct config;
struct err;
struct owner;
struct schedd;

#define CHARGE_LOOKUP_STEPS 3000 /* what a look for an account (charge_lookups) is in a slice */

/* Is ACCOUNTING_MAP, where it is set, one of CLASSAD_USER_MAP_NAMES?  0, or -EINVAL with err. */
int charge_check_settings(const struct config *config, struct err *err);

void charge_init(struct schedd *schedd); /* and after the configuration has changed */
void charge_fini(struct schedd *schedd);

/* Once for each turn in which jobs are made: what it may ask of the host's accounts begins anew.
 * Requests, which take several turns, keep schedd->charge_lookups themselves. */
void charge_begin(struct schedd *schedd);
/* May a job of that owner have these accounting attributes?  0; -EINVAL, -EPERM as
 * charge_plan_check(); -E2BIG: too many different names in one request. */
int charge_check(struct schedd *schedd, struct owner *owner, const struct ad *job, struct err *err);

#endif
