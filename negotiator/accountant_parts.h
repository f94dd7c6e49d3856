/* negotiator/accountant_parts.h - shared by the accountant's files only.
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

struct usage_period { /* the hour or day at hand */
    int64_t number;   /* since 1970 */
    double weighted_s, slots_s;
};

struct account {
    char *name;
    struct account *group; /* a submitter's; NULL: it is a group */
    double real, factor;   /* factor 0: the default */
    int64_t read_ms;       /* real is as of then: a row that was read; 0: as of settled_ms */
    double ceiling, floor;
    double weight, slots; /* now */
    double weighted_s, slots_s;
    double charged_weighted_s, charged_slots_s; /* since it was settled */
    int64_t begin_s, last_s;
    struct usage_period periods[PERIODS];
};

struct usage_query;

struct accountant {
    struct store *store;
    struct strmap *accounts;
    struct accountant_policy policy;
    int64_t settled_ms; /* 0: never */
    bool has_root;      /* while loading: it was told by the root's row */
    LIST_HEAD(, usage_query) queries;
    bool pruning;
    int64_t pruned_hour; /* when it was last looked for what is too old */
};

/* ---- usage_history.c */

/* What was used between the two times goes to its hours and days, and into the store. */
void usage_add(struct accountant *accountant, struct store_txn *txn, struct account *account,
               int64_t from_ms, int64_t to_ms, double weighted_s, double slots_s);
void usage_prune(struct accountant *accountant, int64_t now_s);
void usage_fini(struct accountant *accountant);

#endif
