/* negotiator/accountant_parts.h - structs shared by the accountant's files only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_ACCOUNTANT_PARTS_H
#define NEGOTIATOR_ACCOUNTANT_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "negotiator/accountant.h"

struct store_txn;
struct strmap;

enum { PERIOD_HOUR, PERIOD_DAY, PERIODS };

struct usage_period { /* use in the current hour or day */
    int64_t number;   /* number of the hour or day since 1970 */
    double weighted_s, slots_s;
};

/* An account in memory.  Members without a comment are explained at struct account_facts. */
struct account {
    char *name;
    struct account *group; /* account of the submitter's group; NULL: the account is a group's */
    double real, factor;   /* real priority; priority factor, 0: the default factor applies */
    /* Wall time up to which the priority `real`, as it was read from the store, is decayed.  0:
     * `real` is decayed up to settled_ms of struct accountant. */
    int64_t read_ms;
    double ceiling, floor;
    double weight, slots; /* total weight and number of the slots in use now */
    double weighted_s, slots_s;
    /* use charged since the last accountant_settle(): weight x seconds, slots x seconds */
    double charged_weighted_s, charged_slots_s;
    int64_t begin_s, last_s;
    struct usage_period periods[PERIODS];
};

struct usage_query;

struct accountant {
    struct store *store;
    struct strmap *accounts;
    struct accountant_policy policy;
    int64_t settled_ms;    /* 0: never */
    int64_t prune_from_ms; /* no old figures are deleted before this wall time */
    bool has_root;         /* during loading: settled_ms was read from the root group's row */
    LIST_HEAD(, usage_query) queries; /* reads of the history that are under way */
    bool pruning;                     /* deletion of old history is under way */
    /* number of the hour, since 1970, in which old history was last deleted */
    int64_t pruned_hour;
};

/* ---- usage_history.c */

/* Adds the use of an account between from_ms and to_ms (wall time) to the account's hours and days,
 * in memory and in txn.  weighted_s, slots_s: the use, weight x seconds and slots x seconds. */
void usage_add(struct accountant *accountant, struct store_txn *txn, struct account *account,
               int64_t from_ms, int64_t to_ms, double weighted_s, double slots_s);
/* Deletes history that is older than the policy's hours and days, at most once an hour. */
void usage_prune(struct accountant *accountant, int64_t now_s);
/* Frees the reads of the history that are under way, without calling their callbacks.  To be called
 * after store_close(). */
void usage_fini(struct accountant *accountant);

#endif
