/* rooster/ledger.h - every wake and every going to sleep, durable.
 *
 * A record is an ad of type "Wake": `WakeId Kind("Wake"|"Sleep") Machine AskedBy Method StartTime
 * Attempts Outcome("Started"|"Up"|"Failed"|"Asleep") Fault EndTime Seconds BootId BootTime Reason
 * JobsWaiting Quarantines Test Differed`.  Fault, where something was wrong, is one of FAULT_... in
 * rooster.h; Quarantines counts those in a row; Differed is what differed at the boot, or at the
 * one before the sleep (past_plan.h).  A failed wake becomes "Up" when the machine comes late.  It
 * is written before the order is given and again when the outcome is known, so that a rooster that
 * was killed in between knows that the order may be out.  Keys sort by time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_LEDGER_H
#define ROOSTER_LEDGER_H

#include <stdint.h>

struct ad;
struct daemon_env;
struct err;
struct ledger;
struct wire_request;

#define LEDGER_ID_SIZE 32

int ledger_open(const struct daemon_env *env, struct ledger **ret, struct err *err);
void ledger_close(struct ledger *ledger);
/* A new id for a record that begins now. */
void ledger_new_id(struct ledger *ledger, char ret[LEDGER_ID_SIZE]);
/* Writes (again); done may be NULL.  The ad is borrowed. */
void ledger_put(struct ledger *ledger, const char *id, const struct ad *record,
                void (*done)(void *arg), void *arg);
/* All records, oldest first: at start. */
int ledger_load(struct ledger *ledger, void (*each)(void *arg, const struct ad *record), void *arg,
                struct err *err);
/* Answers a QUERY of type Wake: Constraint, Limit; newest first. */
void ledger_query(struct ledger *ledger, struct wire_request *request);

#endif
