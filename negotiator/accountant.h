/* negotiator/accountant.h - keeps the use and priorities of submitters and accounting groups.
 *
 * The real priority P follows use with a half-life: P' = max(0.5, P b + use (1 - b)), with b =
 * 0.5^(dt / PRIORITY_HALFLIFE) and use = the average weight (SLOT_WEIGHT) of the slots held during
 * dt.  The effective priority is the real one times the factor.  Lower is better.  Source:
 * HTCondor's manual, "User Priorities and Negotiation".
 *
 * Use is charged exactly, not sampled: whoever sees that a slot changes hands tells how long it was
 * used since the last charge (usage.c).  accountant_settle() makes all charges durable in one
 * transaction, together with the time up to which everything is charged.  A negotiator that was
 * killed charges running jobs from that time on: it loses at most the use that ended since then,
 * and counts nothing twice.
 *
 * Each submitter "group.user@domain" belongs to one group, whose own account is charged, too.
 * Names of group accounts have no '@'.
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
#define ACCOUNTANT_TABLES       "users", "usage", "machines" /* names of the store's tables */

/* Settings that come from knobs.  Borrowed texts must live as long as they are in use here. */
struct accountant_policy {
    int64_t halflife_s;
    double default_factor; /* DEFAULT_PRIO_FACTOR */
    double remote_factor;  /* REMOTE_PRIO_FACTOR: for users of another domain than local_domain */
    double nice_factor;    /* NICE_USER_PRIO_FACTOR: for users "nice-user...." */
    const char *local_domain; /* ACCOUNTANT_LOCAL_DOMAIN; NULL or "": all users are local */
    int64_t hours, days;      /* how long the history of use is kept, by hour and by day */
    /* group_of returns the group of a submitter, as an account name.  group_factor returns
     * GROUP_PRIO_FACTOR_<group>, 0 if it is not set. */
    const char *(*group_of)(void *arg, const char *submitter);
    double (*group_factor)(void *arg, const char *group);
    void *arg;
};

/* Loads the accounts from store, which must have the tables ACCOUNTANT_TABLES.  Returns 0 and sets
 * *ret, or an error of the store. */
int accountant_create(struct store *store, struct accountant **ret, struct err *err);
/* Call it after store_close(), because pending requests to the store still call back. */
void accountant_destroy(struct accountant *accountant);
/* Sets the policy from now on.  Before the first call: HTCondor's defaults, no groups. */
void accountant_set_policy(struct accountant *accountant, const struct accountant_policy *policy);

/* Returns whether name may be an account: one word of at most ACCOUNTANT_NAME_MAX bytes.  Use by
 * other names, or beyond ACCOUNTANT_ACCOUNTS_MAX accounts, is not charged. */
bool accountant_name_is_valid(const char *name);

/* ---- charging use */

/* The submitter gets, or gives up, a slot of this weight. */
void accountant_occupy(struct accountant *accountant, const char *submitter, double weight);
void accountant_vacate(struct accountant *accountant, const char *submitter, double weight);
/* Charges used_s seconds of a slot of this weight to the submitter. */
void accountant_charge(struct accountant *accountant, const char *submitter, double weight,
                       double used_s);
/* Call it when everything is charged up to now_ms (wall time): decays priorities and makes all
 * durable. */
void accountant_settle(struct accountant *accountant, int64_t now_ms);
/* Wall time of the last accountant_settle(), ms; 0: never. */
int64_t accountant_settled_ms(const struct accountant *accountant);

/* ---- reading accounts */

/* What is known of an account. */
struct account_facts {
    const char *name;
    bool is_group;
    const char *group;          /* the submitter's group; a group's own name */
    double real, factor;        /* factor: the one in effect */
    bool has_factor;            /* the factor was set for this account */
    double ceiling;             /* weight that it may use at most; < 0: no limit */
    double floor;               /* weight that it gets before others; 0: none */
    double weight, slots;       /* slots in use now, and their weight */
    double weighted_s, slots_s; /* total use since begin_s, seconds */
    int64_t begin_s, last_s;    /* first and last use, seconds since 1970; 0: never */
};
/* Finds an account by name; NULL when unknown. */
const struct account *accountant_find(const struct accountant *accountant, const char *name);
void accountant_facts(const struct accountant *accountant, const struct account *account,
                      struct account_facts *ret);
size_t accountant_count(const struct accountant *accountant);
/* Makes an account for a submitter that asks for slots, if it has none. */
void accountant_know(struct accountant *accountant, const char *submitter);
/* Walks all accounts: start with *at = 0; NULL at the end. */
const struct account *accountant_next(const struct accountant *accountant, size_t *at);
/* Returns the effective priority of a submitter; one without an account has the priority
 * of a new one. */
double accountant_priority(const struct accountant *accountant, const char *submitter);

/* ---- changing accounts; done(arg) is called when the change is durable */

/* Which value of an account accountant_set() changes. */
enum account_value {
    ACCOUNT_PRIORITY, /* real */
    ACCOUNT_FACTOR,   /* 0: back to the default factor */
    ACCOUNT_CEILING,  /* < 0: no ceiling */
    ACCOUNT_FLOOR,
    ACCOUNT_ACCUMULATED, /* weighted seconds */
    ACCOUNT_BEGIN,       /* seconds since 1970 */
    ACCOUNT_LAST,        /* last use, seconds since 1970 */
};
/* Sets a value of an account, which is made if it does not exist.  Returns 0; -EINVAL: the value is
 * out of range or the name is not valid; -ENOSPC: too many accounts. */
int accountant_set(struct accountant *accountant, const char *name, enum account_value which,
                   double value, void (*done)(void *arg), void *arg, struct err *err);
/* Sets the use of an account to 0; its priority stays.  name NULL: of all accounts.  Returns 0 or
 * -ENOENT. */
int accountant_reset(struct accountant *accountant, const char *name, int64_t now_s,
                     void (*done)(void *arg), void *arg, struct err *err);
/* Deletes an account.  Returns 0, -ENOENT, or -EBUSY when it uses slots now. */
int accountant_delete(struct accountant *accountant, const char *name, void (*done)(void *arg),
                      void *arg, struct err *err);

/* ---- history of use */

/* Reads how much was used in each hour or day between from_s and to_s, oldest first.  done gets at
 * most limit ads with Name, BeginTime, EndTime, WeightedUsage and Usage (seconds); they live until
 * done returns.  name NULL: of all accounts. */
typedef void (*accountant_history_f)(void *arg, int result, const struct ad *const *ads,
                                     size_t count);
void accountant_history(struct accountant *accountant, const char *name, bool by_hour,
                        int64_t from_s, int64_t to_s, size_t limit, accountant_history_f done,
                        void *arg);

/* Returns the real priority after dt_s seconds in which slots of weight `use` were held.  Pure. */
double accountant_decay(double real, double use, double dt_s, double halflife_s);

#endif
