/* rooster/ledger.h - the durable list of every wake and every power-down.
 *
 * A record is an ad of type "Wake".  struct ledger_record has its columns, and only ledger_put()
 * makes the ad from it.  A new column needs a member there, a line in record_to_ad() of ledger.c,
 * and a value where the event is recorded (wakes.c: a wake; sleep_record.c: a sleep that the startd
 * asked for; look.c: a sleep that it did not ask for; still_up.c: a sleep that was cancelled before
 * it began).  When the rooster starts, recall_record() in rooster.c, guards_recall() and
 * past_recall() read the records.  HISTORY in cli/power_show_plan.c shows them.
 *
 * A record is written before the order is given, and again when the outcome is known.  So when a
 * rooster was killed in between, the next one knows that the order may have been given.  A failed
 * wake becomes "Up" when the machine comes late.  Keys sort by time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_LEDGER_H
#define ROOSTER_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct daemon_env;
struct err;
struct ledger;
struct wire_request;

#define LEDGER_ID_SIZE 32 /* bytes of a record's id, with the terminating zero */

/* The columns of a record.  id, kind, machine, asked_by, outcome and reason must be set; any other
 * member that is NULL is not written.  EndTime is written unless outcome is "Started". */
struct ledger_record {
    const char *id;       /* WakeId */
    const char *kind;     /* attribute Kind: "Wake", "Sleep" */
    const char *machine;  /* Machine */
    const char *asked_by; /* AskedBy */
    const char *method;   /* Method */
    /* attribute Outcome: "Started", "Up", "Failed", "Asleep", SLEEP_TAKEN_BACK */
    const char *outcome;
    const char *reason;      /* Reason */
    const char *fault;       /* attribute Fault: one of FAULT_... in wakes.h */
    const char *boot_id;     /* BootId */
    const char *differed;    /* attribute Differed: what was different at the boot (past_plan.h) */
    int64_t began_s;         /* StartTime */
    const int64_t *attempts; /* Attempts */
    const int64_t *jobs;     /* JobsWaiting */
    const int64_t *quarantines; /* attribute Quarantines: number of quarantines in a row */
    const int64_t *boot_s;      /* BootTime */
    const int64_t *boot_ms;     /* attribute Seconds: time that the boot took; here in ms */
    bool is_test;               /* Test */
};

/* Opens the ledger.  Returns 0 and sets *ret, or an error of the store. */
int ledger_open(const struct daemon_env *env, struct ledger **ret, struct err *err);
struct store *ledger_store(struct ledger *ledger);
void ledger_close(struct ledger *ledger);
/* Writes to ret a new id for a record whose event begins now. */
void ledger_new_id(struct ledger *ledger, char ret[LEDGER_ID_SIZE]);
/* Writes the record with the id record->id, or replaces it.  done(arg), unless NULL, is called when
 * the record is durable. */
void ledger_put(struct ledger *ledger, const struct ledger_record *record, void (*done)(void *arg),
                void *arg);
/* Calls `each` for all records, the oldest first; used when the rooster starts.  Returns 0, or an
 * error of the store. */
int ledger_load(struct ledger *ledger, void (*each)(void *arg, const struct ad *record), void *arg,
                struct err *err);
/* Answers a QUERY of type Wake, which may have Constraint and Limit, with the records, the newest
 * first. */
void ledger_query(struct ledger *ledger, struct wire_request *request);

#endif
