/* schedd/policy/job_charge.h - applies the rules of charge_plan.h with the schedd's configuration
 * and the accounts of its host.
 *
 * The map's words for an owner are read once and kept until the configuration changes, so that a
 * submission of many jobs reads the map once.
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

#define CHARGE_LOOKUP_STEPS 3000 /* steps that one look-up of an account counts */

/* Checks that ACCOUNTING_MAP, if set, is one of CLASSAD_USER_MAP_NAMES.  Returns 0, or -EINVAL with
 * err. */
int charge_check_settings(const struct config *config, struct err *err);

void charge_init(struct schedd *schedd); /* call again after a change of the configuration */
void charge_fini(struct schedd *schedd);

/* To be called at the start of each turn of the loop that makes jobs by itself: resets the number
 * of account look-ups.  A client's request takes several turns; it saves and restores
 * schedd->charge_lookups instead. */
void charge_begin(struct schedd *schedd);
/* Checks whether a job of the owner may have these accounting attributes.  Returns 0; -EINVAL or
 * -EPERM as charge_plan_check(); -E2BIG when one request names too many different accounts. */
int charge_check(struct schedd *schedd, struct owner *owner, const struct ad *job, struct err *err);

#endif
