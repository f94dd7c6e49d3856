/* negotiator/accountant.h - keeps the use and priorities of submitters and accounting groups.
 *
 * The real priority P follows use with a half-life: P' = max(0.5, P b + use (1 - b)), with b =
 * 0.5^(dt / PRIORITY_HALFLIFE) and use = the average weight (SLOT_WEIGHT) of the slots held during
 * dt.  The effective priority is the real one times the factor.  Lower is better.  Source:
 * HTCondor's manual, "User Priorities and Negotiation".
 *
 * Use is charged exactly, not sampled: when usage.c sees that a slot changes hands, it tells the
 * accountant how long the slot was used since the last charge.  accountant_settle() makes all
 * charges durable in one transaction, together with the time up to which everything is charged.
 * When a negotiator was killed, the next one charges running jobs from that time on.  So at most
 * the use that ended in between is lost, and nothing is counted twice.
 *
 * Each submitter "group.user@domain" belongs to one group.  The use of the submitter is charged to
 * the account of the group, too.  Names of group accounts have no '@'.
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

#define ACCOUNTANT_PRIO_MIN   0.5
#define ACCOUNTANT_FACTOR_MIN 1.0
/* most bytes of the name of a submitter or group, without the terminating zero */
#define ACCOUNTANT_NAME_MAX     512
#define ACCOUNTANT_ACCOUNTS_MAX 1000000
#define ACCOUNTANT_TABLES \
    "users", "usage", "machines" /* names of the accountant's tables in the store */

/* Settings that come from knobs.  The texts are not copied: they must live until another policy is
 * set. */
struct accountant_policy {
    int64_t halflife_s;
    double default_factor; /* DEFAULT_PRIO_FACTOR */
    double remote_factor;  /* REMOTE_PRIO_FACTOR: for users of another domain than local_domain */
    double nice_factor; /* NICE_USER_PRIO_FACTOR: for users whose names begin with "nice-user." */
    const char *local_domain; /* ACCOUNTANT_LOCAL_DOMAIN; NULL or "": all users are local */
    /* How long old use is kept: use by hour for `hours` hours, use by day for `days` days. */
    int64_t hours, days;
    /* These two may be NULL.  group_of returns the account name of a submitter's group, or NULL for
     * the root group.  group_factor returns GROUP_PRIO_FACTOR_<group>, 0 if it is not set. */
    const char *(*group_of)(void *arg, const char *submitter);
    double (*group_factor)(void *arg, const char *group);
    void *arg;
};

/* Loads the accounts from store, which must have the tables ACCOUNTANT_TABLES.  Returns 0 and sets
 * *ret, or an error of the store. */
int accountant_create(struct store *store, struct accountant **ret, struct err *err);
/* Frees the accountant.  To be called after store_close(), because until then the store may call
 * the accountant when the store has carried out a request. */
void accountant_destroy(struct accountant *accountant);
/* Sets the policy that applies from now on.  Before the first call, HTCondor's defaults apply and
 * there are no groups. */
void accountant_set_policy(struct accountant *accountant, const struct accountant_policy *policy);

/* Returns whether name may be the name of an account: one word of at most ACCOUNTANT_NAME_MAX
 * bytes.  Use by submitters with other names is not charged, nor is use by new submitters when
 * there are ACCOUNTANT_ACCOUNTS_MAX accounts. */
bool accountant_name_is_valid(const char *name);

/* ---- charging use */

/* These two count the slots in use.  accountant_occupy(): the submitter has begun to use a slot of
 * this weight; accountant_vacate(): the submitter no longer uses it. */
void accountant_occupy(struct accountant *accountant, const char *submitter, double weight);
void accountant_vacate(struct accountant *accountant, const char *submitter, double weight);
/* Charges used_s seconds of a slot of this weight to the submitter. */
void accountant_charge(struct accountant *accountant, const char *submitter, double weight,
                       double used_s);
/* Decays the priorities and makes all charges durable.  To be called when all use up to now_ms
 * (wall time) has been charged. */
void accountant_settle(struct accountant *accountant, int64_t now_ms);
/* To be called when the wall clock was set by by_ms: what accountant_settle() compares the time
 * with moves by as much, so that nothing decays.  After a second or more, old figures are not
 * deleted during the next day, by whose end the clock may be right again. */
void accountant_clock_set(struct accountant *accountant, int64_t by_ms);
/* Returns the wall time up to which all use is charged and durable: now_ms of the last
 * accountant_settle(), even if an earlier process called it.  0: it was never called. */
int64_t accountant_settled_ms(const struct accountant *accountant);

/* ---- reading accounts */

/* The data of the account of a submitter or group. */
struct account_facts {
    const char *name;
    bool is_group;
    /* name of the submitter's group; of the account of a group: the name of that group */
    const char *group;
    double real, factor;  /* real priority, and the priority factor in effect */
    bool has_factor;      /* the factor was set for this account (accountant_set()) */
    double ceiling;       /* highest total weight of slots in use at once; < 0: no limit */
    double floor;         /* weight of slots that this user gets before others get any; 0: none */
    double weight, slots; /* total weight and number of the slots in use now */
    double weighted_s, slots_s; /* use since begin_s: weight x seconds, slots x seconds */
    int64_t begin_s, last_s;    /* first and last use, seconds since 1970; 0: never */
};
/* Returns the account with this name; NULL if there is none. */
const struct account *accountant_find(const struct accountant *accountant, const char *name);
void accountant_facts(const struct accountant *accountant, const struct account *account,
                      struct account_facts *ret);
size_t accountant_count(const struct accountant *accountant);
/* Makes an account for this submitter, who asks for slots, unless the submitter has one already. */
void accountant_know(struct accountant *accountant, const char *submitter);
/* Returns the next account, NULL after the last.  Set *at to 0 before the first call. */
const struct account *accountant_next(const struct accountant *accountant, size_t *at);
/* Returns the effective priority of a submitter; for a submitter without an account, the priority
 * that a new account would have. */
double accountant_priority(const struct accountant *accountant, const char *submitter);

/* ---- changing accounts; done(arg) is called when the change is durable. */

/* Which value of an account accountant_set() changes. */
enum account_value {
    ACCOUNT_PRIORITY, /* real priority */
    ACCOUNT_FACTOR,   /* priority factor; 0: the default factor applies again */
    ACCOUNT_CEILING,  /* highest total weight of slots in use at once; < 0: no limit */
    ACCOUNT_FLOOR,
    ACCOUNT_ACCUMULATED, /* use so far, weight x seconds */
    ACCOUNT_BEGIN,       /* time of the first use, seconds since 1970 */
    ACCOUNT_LAST,        /* time of the last use, seconds since 1970 */
};
/* Sets a value of an account; makes the account if it does not exist.  done(arg) is called when
 * this is durable.  Returns 0; -ERANGE: the value is out of range; -EINVAL: the value is not a
 * number, or the name is not valid; -ENOSPC: there are too many accounts. */
int accountant_set(struct accountant *accountant, const char *name, enum account_value which,
                   double value, void (*done)(void *arg), void *arg, struct err *err);
/* Sets the use of an account to 0, and the time at which its use begins to now_s; its priority
 * stays.  name NULL: does this for all accounts.  done(arg) is called when the change is durable.
 * Returns 0; -ENOENT: there is no such account. */
int accountant_reset(struct accountant *accountant, const char *name, int64_t now_s,
                     void (*done)(void *arg), void *arg, struct err *err);
/* Deletes an account.  done(arg) is called when this is durable.  Returns 0; -ENOENT: there is no
 * such account; -EBUSY: its submitter uses slots now. */
int accountant_delete(struct accountant *accountant, const char *name, void (*done)(void *arg),
                      void *arg, struct err *err);

/* ---- history of use */

/* Called with the result of accountant_history(): 0 or a negative errno, and the ads, which are
 * freed when this callback returns. */
typedef void (*accountant_history_f)(void *arg, int result, const struct ad *const *ads,
                                     size_t count);
/* Reads how much the account used in each hour (by_hour) or day between from_s and to_s, oldest
 * first.  done gets at most limit ads, one for each hour or day, with Name, BeginTime, EndTime,
 * WeightedUsage and Usage (seconds).  name NULL: the use of all accounts. */
void accountant_history(struct accountant *accountant, const char *name, bool by_hour,
                        int64_t from_s, int64_t to_s, size_t limit, accountant_history_f done,
                        void *arg);

/* Returns what a real priority becomes after dt_s seconds in which slots of weight `use` were in
 * use.  Pure. */
double accountant_decay(double real, double use, double dt_s, double halflife_s);

#endif
