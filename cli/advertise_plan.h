/* cli/advertise_plan.h - what `roost advertise` is asked to do.  Pure.
 *
 * HTCondor's condor_advertise names a command (UPDATE_STARTD_AD, INVALIDATE_SCHEDD_ADS ...); here
 * it may also be a type of ads (Machine) or nothing, where the ads say what they are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_ADVERTISE_PLAN_H
#define CLI_ADVERTISE_PLAN_H

#include <stdbool.h>
#include <stddef.h>

struct ad;
struct err;
struct strbuf;

struct advertise_command {
    const char *type; /* MyType; NULL: what each ad says */
    bool invalidate;
};

/* "UPDATE_STARTD_AD", "UPDATE_MACHINE_AD", "INVALIDATE_STARTD_ADS" ... (no case): true and *ret.
 * UPDATE_AD_GENERIC has no type of its own: "Generic" for ads that say none. */
bool advertise_plan_command(const char *word, struct advertise_command *ret);

/* Sets MyType where the ad has none.  -EINVAL: it has another one, none at all, or no Name. */
int advertise_plan_prepare(const struct advertise_command *command, struct ad *ad, struct err *err);

/* The arguments of INVALIDATE that an ad asks for, as condor_advertise takes it: the Name, else the
 * Requirements of the ad (a query: MyType "Query", its TargetType the type) are the constraint.
 * Owned by the caller; NULL and err: neither is there, or no type. */
struct ad *advertise_plan_invalidation(const struct advertise_command *command,
                                       const struct ad *query, struct err *err);

#endif
