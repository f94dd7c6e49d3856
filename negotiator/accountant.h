/* negotiator/accountant.h - who has used how much: real and effective priorities, of submitters and
 * of accounting groups.
 *
 * Real priority P follows use with a half-life: P' = max(0.5, P b + use (1 - b)), b = 0.5^(dt /
 * PRIORITY_HALFLIFE), use being the average weight of the slots (SLOT_WEIGHT) that one had in dt;
 * effective = real times factor.  Lower is better.  Source: HTCondor's manual, "User Priorities and
 * Negotiation".
 *
 * Use is charged exactly, not by looking now and then: whoever sees a slot change hands says how
 * long it was used since it was last charged (usage.c).  accountant_settle() makes what was charged
 * durable, with the time up to which everything is charged, in one transaction: a negotiator that
 * is killed charges what still runs from that time on, and so loses at most what ended since then
 * and counts nothing twice.
 *
 * Each submitter "group.user@domain" belongs to one group, whose own account is charged, too; group
 * accounts have names without '@'.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_ACCOUNTANT_H
#define NEGOTIATOR_ACCOUNTANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct account;
struct accountant;
struct ad;
struct arena;
struct err;
struct store;

#define ACCOUNTANT_PRIO_MIN     0.5
#define ACCOUNTANT_FACTOR_MIN   1.0
#define ACCOUNTANT_NAME_MAX     512
#define ACCOUNTANT_ACCOUNTS_MAX 1000000
#define ACCOUNTANT_TABLES       "users", "usage", "machines"

/* From the knobs; borrowed texts must outlive their use here. */
struct accountant_policy {
    int64_t halflife_s;
    double default_factor; /* DEFAULT_PRIO_FACTOR */
    double remote_factor;  /* REMOTE_PRIO_FACTOR: for users of another domain than the local one */
    double nice_factor;    /* NICE_USER_PRIO_FACTOR: for "nice-user...." */
    const char *local_domain; /* ACCOUNTANT_LOCAL_DOMAIN; NULL or "": all users are local */
    int64_t hours, days;      /* how long the history of use is kept, by hour and by day */
    /* The group of a submitter, as an account name; GROUP_PRIO_FACTOR_<group>, 0: none. */
    const char *(*group_of)(void *arg, const char *submitter);
    double (*group_factor)(void *arg, const char *group);
    void *arg;
};

/* The store has the tables ACCOUNTANT_TABLES. */
int accountant_create(struct store *store, struct accountant **ret, struct err *err);
/* After store_close(): what the store is asked for must not call back. */
void accountant_destroy(struct accountant *accountant);
/* Of now on.  Until the first call: HTCondor's defaults, no groups. */
void accountant_set_policy(struct accountant *accountant, const struct accountant_policy *policy);

/* One word of at most ACCOUNTANT_NAME_MAX bytes.  What is charged to other names, or to more than
 * ACCOUNTANT_ACCOUNTS_MAX accounts, is left out. */
bool accountant_name_is_valid(const char *name);

/* ---- use */

/* A slot of this weight goes to the submitter, or away from it. */
void accountant_occupy(struct accountant *accountant, const char *submitter, double weight);
void accountant_vacate(struct accountant *accountant, const char *submitter, double weight);
/* The submitter had a slot of this weight for so long. */
void accountant_charge(struct accountant *accountant, const char *submitter, double weight,
                       double used_s);
/* Everything is charged up to now_ms (wall time): decays priorities and makes it durable. */
void accountant_settle(struct accountant *accountant, int64_t now_ms);
int64_t accountant_settled_ms(const struct accountant *accountant); /* 0: never */

/* ---- reading */

struct account_facts {
    const char *name;
    bool is_group;
    const char *group;          /* a submitter's; of a group its own name */
    double real, factor;        /* factor: as it applies */
    bool has_factor;            /* it was set for this account */
    double ceiling;             /* < 0: none */
    double floor;               /* 0: none */
    double weight, slots;       /* in use now */
    double weighted_s, slots_s; /* used in all since begin_s */
    int64_t begin_s, last_s;    /* of use; 0: never */
};
/* NULL and false when unknown */
const struct account *accountant_find(const struct accountant *accountant, const char *name);
void accountant_facts(const struct accountant *accountant, const struct account *account,
                      struct account_facts *ret);
size_t accountant_count(const struct accountant *accountant);
/* The account of a submitter that asks for something; made when it is not there. */
void accountant_know(struct accountant *accountant, const char *submitter);
/* Walks all: at = 0 first. */
const struct account *accountant_next(const struct accountant *accountant, size_t *at);
/* Of a submitter, known or not. */
double accountant_priority(const struct accountant *accountant, const char *submitter);

/* ---- changing; durable when done(arg) is called */

enum account_value {
    ACCOUNT_PRIORITY, /* real */
    ACCOUNT_FACTOR,   /* 0: the default again */
    ACCOUNT_CEILING,  /* < 0: none */
    ACCOUNT_FLOOR,
    ACCOUNT_ACCUMULATED, /* weighted seconds */
    ACCOUNT_BEGIN,       /* seconds since 1970 */
    ACCOUNT_LAST,
};
/* -EINVAL: no such value, or a name that is none; -ENOSPC: too many accounts.  An account that is
 * not known is made. */
int accountant_set(struct accountant *accountant, const char *name, enum account_value which,
                   double value, void (*done)(void *arg), void *arg, struct err *err);
/* Forgets what was used; the priority stays.  NULL: of all.  -ENOENT */
int accountant_reset(struct accountant *accountant, const char *name, int64_t now_s,
                     void (*done)(void *arg), void *arg, struct err *err);
/* -ENOENT; -EBUSY: it uses slots now */
int accountant_delete(struct accountant *accountant, const char *name, void (*done)(void *arg),
                      void *arg, struct err *err);

/* ---- history */

/* How much was used in each hour or day, oldest first: done gets ads with Name, BeginTime, EndTime,
 * WeightedUsage and Usage (seconds), which live until it returns.  name: NULL for all.  limit: at
 * most so many. */
typedef void (*accountant_history_f)(void *arg, int result, const struct ad *const *ads,
                                     size_t count);
void accountant_history(struct accountant *accountant, const char *name, bool by_hour,
                        int64_t from_s, int64_t to_s, size_t limit, accountant_history_f done,
                        void *arg);

/* Pure: the priority after dt_s seconds of `use` slots. */
double accountant_decay(double real, double use, double dt_s, double halflife_s);

#endif
