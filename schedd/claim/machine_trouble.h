/* schedd/claim/machine_trouble.h - machines on which starters fail, and what that means for our
 * jobs.
 *
 * Design.  A machine whose sandbox directory is broken takes every job that it is given, fails it
 * at once, and is free for the next: a black hole.  Whoever decides on that must be us: a startd
 * that avoided itself could be kept from work by anybody whose shadow says nonsense.  So the
 * failures are counted here, by machine, in memory: the first is free (a starter may be killed),
 * from the second on our request ads do not fit that machine for a while, which doubles (the plan
 * is in schedd_plan.h).  Claims that were made before the last failure tell nothing new.  A result
 * from the machine makes the next failure a first one of a row again.  The job counts its own,
 * NumStarterFailures, and each MAX_STARTER_FAILURES-th holds it (job_claims.c).
 *
 * Lost at a restart: the machine is tried anew then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_CLAIM_MACHINE_TROUBLE_H
#define SCHEDD_CLAIM_MACHINE_TROUBLE_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct schedd;

#define TROUBLES_MAX                                                             \
    64 /* machines that are avoided at once; of more, the oldest are tried again \
        */

void troubles_init(struct schedd *schedd);
void troubles_fini(struct schedd *schedd);
/* A starter failed there, of a claim that was made at claimed_ms (loop_now_ms()). */
void trouble_note(struct schedd *schedd, const char *machine, uint64_t claimed_ms);
/* A job's result came from there. */
void trouble_passed(struct schedd *schedd, const char *machine);
/* Is it to get no job of ours now? */
bool trouble_is_avoided(const struct schedd *schedd, const char *machine);
/* Adds to the Requirements of a request ad that it is none of those. */
void troubles_narrow(const struct schedd *schedd, struct ad *request);

#endif
