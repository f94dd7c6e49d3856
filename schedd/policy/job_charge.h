/* schedd/policy/job_charge.h - applies the rules of charge_plan.h with the schedd's configuration
 * and the Unix accounts of its host.
 *
 * What ACCOUNTING_MAP allows an owner is read once and kept until the configuration changes, so
 * that a submission of many jobs reads the map once.
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

/* steps of evaluation that count for one look-up of a Unix account, when work is limited */
#define CHARGE_LOOKUP_STEPS 3000

/* Checks that ACCOUNTING_MAP, if set, is one of CLASSAD_USER_MAP_NAMES.  Returns 0, or -EINVAL with
 * err. */
int charge_check_settings(const struct config *config, struct err *err);

/* To be called at the start and after each change of the configuration: reads ACCOUNTING_MAP anew
 * when it is needed next. */
void charge_init(struct schedd *schedd);
void charge_fini(struct schedd *schedd);

/* Resets the number of look-ups of Unix accounts.  To be called by a factory before each slice of
 * its work.  A client's request, whose slices share one limit, saves and restores
 * schedd->charge_lookups instead. */
void charge_begin(struct schedd *schedd);
/* Checks whether a job of the owner may have these accounting attributes.  Returns 0; or, with err,
 * -EINVAL (an attribute is malformed), -EPERM (the owner may not charge the job so), or -E2BIG (one
 * request names too many different groups and users). */
int charge_check(struct schedd *schedd, struct owner *owner, const struct ad *job, struct err *err);

#endif
