/* cli/advertise_plan.h - the command line of `roost advertise`.  Pure.
 *
 * HTCondor's condor_advertise takes a command (UPDATE_STARTD_AD, INVALIDATE_SCHEDD_ADS ...).  Here
 * the word may also be a type of ads (Machine) or missing, when the ads have MyType.
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
    const char *type; /* value for MyType; NULL: each ad has its own */
    bool invalidate;
};

/* Parses "UPDATE_STARTD_AD", "UPDATE_MACHINE_AD", "INVALIDATE_STARTD_ADS" ... in any case; false
 * for an unknown word.  UPDATE_AD_GENERIC has no type of its own: ads without a type become
 * "Generic". */
bool advertise_plan_command(const char *word, struct advertise_command *ret);

/* Sets MyType of the ad where it is missing.  -EINVAL: the ad has another type, no type at all, or
 * no Name. */
int advertise_plan_prepare(const struct advertise_command *command, struct ad *ad, struct err *err);

/* Makes the arguments of the request INVALIDATE from an ad as condor_advertise takes it.  The
 * constraint is the ad's Name or, without one, its Requirements (the ad is then a query: MyType
 * "Query", with the type in TargetType).  Owned by the caller.  NULL with err set: the ad has
 * neither Name nor Requirements, or the type is missing. */
struct ad *advertise_plan_invalidation(const struct advertise_command *command,
                                       const struct ad *query, struct err *err);

#endif
