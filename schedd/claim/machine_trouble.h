/* schedd/claim/machine_trouble.h - avoids machines on which starters fail.
 *
 * Design.  A machine whose sandbox directory is broken takes each job that it is given, fails it at
 * once, and is free for the next one: a black hole for jobs.  The schedd decides about this, and
 * not the startd: otherwise a shadow that reports false errors could keep a startd from working.
 * So failures are counted here, by machine, in memory.  The first failure has no effect, because a
 * starter may simply have been killed; but if the startd says that the machine lacks something
 * (MachineFault of CLAIM_GONE), the first failure counts as the second.  From the second one on,
 * the schedd's request ads do not match the machine for a while, which doubles with each failure
 * (schedd_plan.h).  Failures of claims that were made before the last counted failure are not
 * counted again.  After a result from the machine, the next failure counts as the second in a row.
 * Apart from this, NumStarterFailures counts the failures of a job, and holds the job at each
 * multiple of MAX_STARTER_FAILURES (job_claims.c).
 *
 * The counts are lost at a restart of the schedd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_CLAIM_MACHINE_TROUBLE_H
#define SCHEDD_CLAIM_MACHINE_TROUBLE_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct schedd;

/* Number of machines that are remembered.  When another one comes, the machine whose back-off ends
 * first is forgotten. */
#define TROUBLES_MAX 64

void troubles_init(struct schedd *schedd);
void troubles_fini(struct schedd *schedd);
/* Counts a failure of a starter on the machine.  claimed_ms: when the claim for which the starter
 * ran was made (loop_now_ms()).  is_sure: the startd says that the machine is at fault, so the
 * machine is avoided from the first failure on. */
void trouble_note(struct schedd *schedd, const char *machine, uint64_t claimed_ms, bool is_sure);
/* To be called when a job's result came from the machine: the machine's next failure counts as the
 * second in a row.  A time for which the machine is avoided already does not end by this. */
void trouble_passed(struct schedd *schedd, const char *machine);
/* Returns whether the machine is to get no job of this schedd now. */
bool trouble_is_avoided(const struct schedd *schedd, const char *machine);
/* Adds to the Requirements of a request ad that the machine must not be one of the avoided
 * machines, and names these in it (troubles_show()). */
void troubles_narrow(const struct schedd *schedd, struct ad *request);
/* Sets AvoidedMachines, the names of the avoided machines with commas between them, in an ad of the
 * schedd; leaves the ad as it is if there are none. */
void troubles_show(const struct schedd *schedd, struct ad *ad);

#endif
