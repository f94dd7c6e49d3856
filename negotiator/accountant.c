/* negotiator/accountant.c - keeps the use and priorities of users: see accountant.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "negotiator/accountant.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "classad/ad.h"
#include "negotiator/accountant_parts.h"
#include "negotiator/group_plan.h"
#include "store/store.h"

#define NICE_PREFIX  "nice-user."
#define SET_CLOCK_MS (INT64_C(86400) * 1000)
/* longest time without a negotiator that is believed: priorities decay for as long */
#define GAP_MAX_MS (366 * INT64_C(86400) * 1000)

double accountant_decay(double real, double use, double dt_s, double halflife_s)
{
    double keep = halflife_s > 0 ? pow(0.5, dt_s / halflife_s) : 0;
    double next = real * keep + use * (1 - keep);
    return next > ACCOUNTANT_PRIO_MIN ? next : ACCOUNTANT_PRIO_MIN;
}

/* ---- accounts */

static bool is_group_name(const char *name)
{
    return strchr(name, '@') == NULL;
}

static struct account *make_account(struct accountant *accountant, const char *name);

static struct account *account_of(struct accountant *accountant, const char *name)
{
    struct account *account = strmap_get(accountant->accounts, name);
    return account != NULL ? account : make_account(accountant, name);
}

static struct account *group_of(struct accountant *accountant, const char *name)
{
    const struct accountant_policy *policy = &accountant->policy;
    const char *group = policy->group_of != NULL ? policy->group_of(policy->arg, name) : NULL;
    return account_of(accountant, group != NULL ? group : GROUP_ROOT_NAME);
}

static struct account *make_account(struct accountant *accountant, const char *name)
{
    struct account *account = mem_zalloc(sizeof *account);
    account->name = mem_strdup(name);
    account->real = ACCOUNTANT_PRIO_MIN;
    account->ceiling = -1;
    (void)strmap_set(accountant->accounts, name, account); /* was absent */
    if (!is_group_name(name)) {
        account->group = group_of(accountant, name);
    }
    return account;
}

static void account_destroy(void *value)
{
    struct account *account = value;
    mem_free(account->name);
    mem_free(account);
}

void accountant_set_policy(struct accountant *accountant, const struct accountant_policy *policy)
{
    size_t at = 0;
    void *value;
    accountant->policy = *policy;
    while (strmap_next(accountant->accounts, &at, NULL, &value)) {
        struct account *account = value;
        if (account->read_ms > 0 && account->read_ms < accountant->settled_ms) {
            account->real =
                accountant_decay(account->real, 0,
                                 (double)(accountant->settled_ms - account->read_ms) / 1000,
                                 (double)policy->halflife_s);
        }
        account->read_ms = 0;
        if (is_group_name(account->name)) {
            account->weight = account->slots = 0;
        }
    }
    at = 0;
    while (strmap_next(accountant->accounts, &at, NULL, &value)) {
        struct account *account = value;
        if (account->group != NULL) {
            account->group = group_of(accountant, account->name);
            account->group->weight += account->weight;
            account->group->slots += account->slots;
        }
    }
}

/* ---- rows */

static const char *const WEIGHTED_NAMES[PERIODS] = {"HourWeightedUsage", "DayWeightedUsage"};
static const char *const SLOTS_NAMES[PERIODS] = {"HourUsage", "DayUsage"};
static const char *const NUMBER_NAMES[PERIODS] = {"Hour", "Day"};

static void read_account(struct account *account, const struct ad *ad)
{
    account->real = ad_real_or(ad, "Priority", ACCOUNTANT_PRIO_MIN);
    if (!(account->real >= ACCOUNTANT_PRIO_MIN)) {
        account->real = ACCOUNTANT_PRIO_MIN;
    }
    account->factor = ad_real_or(ad, "PriorityFactor", 0);
    account->ceiling = ad_real_or(ad, "Ceiling", -1);
    account->floor = ad_real_or(ad, "Floor", 0);
    account->slots_s = ad_real_or(ad, "AccumulatedUsage", 0);
    account->weighted_s = ad_real_or(ad, "WeightedAccumulatedUsage", account->slots_s);
    account->begin_s = ad_int_or(ad, "BeginUsageTime", 0);
    account->last_s = ad_int_or(ad, "LastUsageTime", 0);
    for (size_t i = 0; i < PERIODS; i++) {
        account->periods[i] =
            (struct usage_period){.number = ad_int_or(ad, NUMBER_NAMES[i], 0),
                                  .weighted_s = ad_real_or(ad, WEIGHTED_NAMES[i], 0),
                                  .slots_s = ad_real_or(ad, SLOTS_NAMES[i], 0)};
    }
}

static int load_one(void *arg, const char *key, const void *value, size_t length)
{
    struct accountant *accountant = arg;
    struct ad *ad;
    if (ad_decode(value, length, NULL, &ad, NULL) != 0) {
        return 0; /* one bad record is left out: that user begins anew */
    }
    struct account *account = account_of(accountant, key);
    read_account(account, ad);
    account->read_ms = ad_int_or(ad, "LastUpdateMs", 0);
    /* a row of before LastUpdateMs was written tells it in LastUsageTime */
    int64_t settled_ms = ad_int_or(ad, "LastUpdateMs", ad_int_or(ad, "LastUsageTime", 0) * 1000);
    bool is_root = strcmp(key, GROUP_ROOT_NAME) == 0; /* it is written with all others */
    if (is_root || (!accountant->has_root && settled_ms > accountant->settled_ms)) {
        accountant->settled_ms = settled_ms;
    }
    accountant->has_root = accountant->has_root || is_root;
    ad_destroy(ad);
    return 0;
}

static void save_account(struct accountant *accountant, const struct account *account,
                         struct store_txn *txn)
{
    struct ad *ad = ad_create();
    struct strbuf bytes;
    ad_set_real(ad, "Priority", account->real);
    ad_set_real(ad, "PriorityFactor", account->factor);
    ad_set_real(ad, "Ceiling", account->ceiling);
    ad_set_real(ad, "Floor", account->floor);
    ad_set_real(ad, "AccumulatedUsage", account->slots_s);
    ad_set_real(ad, "WeightedAccumulatedUsage", account->weighted_s);
    ad_set_int(ad, "BeginUsageTime", account->begin_s);
    ad_set_int(ad, "LastUsageTime", account->last_s);
    ad_set_int(ad, "LastUpdateMs", accountant->settled_ms);
    for (size_t i = 0; i < PERIODS; i++) {
        ad_set_int(ad, NUMBER_NAMES[i], account->periods[i].number);
        ad_set_real(ad, WEIGHTED_NAMES[i], account->periods[i].weighted_s);
        ad_set_real(ad, SLOTS_NAMES[i], account->periods[i].slots_s);
    }
    strbuf_init(&bytes, 0);
    ad_encode(ad, true, &bytes);
    store_put(txn, "users", account->name, bytes.data, bytes.length);
    strbuf_fini(&bytes);
    ad_destroy(ad);
}

int accountant_create(struct store *store, struct accountant **ret, struct err *err)
{
    struct accountant *accountant = mem_zalloc(sizeof *accountant);
    accountant->store = store;
    accountant->accounts = strmap_create(STRMAP_CASE_SENSITIVE);
    accountant->policy = (struct accountant_policy){.halflife_s = 86400,
                                                    .default_factor = 1000,
                                                    .remote_factor = 1e7,
                                                    .nice_factor = 1e10,
                                                    .hours = 72,
                                                    .days = 400};
    LIST_INIT(&accountant->queries);
    int rc = store_load(store, "users", load_one, accountant, err);
    if (rc != 0) {
        accountant_destroy(accountant);
        return rc;
    }
    *ret = accountant;
    return 0;
}

void accountant_destroy(struct accountant *accountant)
{
    if (accountant != NULL) {
        usage_fini(accountant);
        strmap_destroy(accountant->accounts, account_destroy);
        mem_free(accountant);
    }
}

/* ---- use */

bool accountant_name_is_valid(const char *name)
{
    size_t length = strlen(name);
    for (const char *at = name; *at != '\0'; at++) {
        if ((unsigned char)*at <= ' ' || *at == 0x7f) {
            return false;
        }
    }
    return length > 0 && length <= ACCOUNTANT_NAME_MAX;
}

static void change_use(struct account *account, double weight, double slots)
{
    account->weight += weight;
    account->slots += slots;
    if (account->slots < 0.5) { /* none: nor a rest of rounding */
        account->weight = account->slots = 0;
    }
}

/* Returns the account to charge; NULL: the name is not valid, or there are too many accounts.
 * Names come from machines' ads, which may contain anything. */
static struct account *charged_account(struct accountant *accountant, const char *name)
{
    struct account *account = strmap_get(accountant->accounts, name);
    if (account == NULL && accountant_name_is_valid(name) &&
        strmap_count(accountant->accounts) < ACCOUNTANT_ACCOUNTS_MAX) {
        account = make_account(accountant, name);
    }
    return account;
}

void accountant_occupy(struct accountant *accountant, const char *submitter, double weight)
{
    struct account *account = charged_account(accountant, submitter);
    if (account != NULL) {
        change_use(account, weight, 1);
    }
    if (account != NULL && account->group != NULL) {
        change_use(account->group, weight, 1);
    }
}

void accountant_vacate(struct accountant *accountant, const char *submitter, double weight)
{
    struct account *account = strmap_get(accountant->accounts, submitter);
    if (account != NULL) {
        change_use(account, -weight, -1);
    }
    if (account != NULL && account->group != NULL) {
        change_use(account->group, -weight, -1);
    }
}

void accountant_charge(struct accountant *accountant, const char *submitter, double weight,
                       double used_s)
{
    struct account *account = charged_account(accountant, submitter);
    if (!(used_s > 0) || !isfinite(weight * used_s) || account == NULL) {
        return;
    }
    account->charged_weighted_s += weight * used_s;
    account->charged_slots_s += used_s;
    if (account->group != NULL) {
        account->group->charged_weighted_s += weight * used_s;
        account->group->charged_slots_s += used_s;
    }
}

/* Brings an account up to date.  Returns whether it changed. */
static bool settle_account(struct accountant *accountant, struct store_txn *txn,
                           struct account *account, int64_t from_ms, int64_t to_ms)
{
    double dt_s = (double)(to_ms - from_ms) / 1000, was = account->real;
    double weighted_s = account->charged_weighted_s, slots_s = account->charged_slots_s;
    account->real = accountant_decay(account->real, weighted_s / dt_s, dt_s,
                                     (double)accountant->policy.halflife_s);
    account->charged_weighted_s = account->charged_slots_s = 0;
    account->weighted_s += weighted_s;
    account->slots_s += slots_s;
    if (slots_s > 0) {
        account->begin_s = account->begin_s != 0 ? account->begin_s : from_ms / 1000;
        account->last_s = to_ms / 1000;
        usage_add(accountant, txn, account, from_ms, to_ms, weighted_s, slots_s);
    }
    if (slots_s > 0) { /* what only decays follows from its row and the time */
        save_account(accountant, account, txn);
    }
    return slots_s > 0 || was > ACCOUNTANT_PRIO_MIN;
}

void accountant_clock_set(struct accountant *accountant, int64_t by_ms)
{
    if (accountant->settled_ms != 0 && accountant->settled_ms + by_ms > 0) {
        accountant->settled_ms += by_ms;
        if (by_ms / 1000 != 0) {
            accountant->prune_from_ms = accountant->settled_ms + SET_CLOCK_MS;
        }
    }
}

void accountant_settle(struct accountant *accountant, int64_t now_ms)
{
    int64_t before_ms = accountant->settled_ms;
    /* The first time, or a clock that was set while no negotiator ran: what was charged waits for
     * the next. */
    bool begins = before_ms == 0 || now_ms < before_ms || now_ms - before_ms > GAP_MAX_MS;
    bool changed = begins;
    struct account *root = account_of(accountant, GROUP_ROOT_NAME);
    struct store_txn *txn = store_begin(accountant->store);
    size_t at = 0;
    void *value;
    accountant->settled_ms = now_ms;
    while (!begins && now_ms > before_ms && strmap_next(accountant->accounts, &at, NULL, &value)) {
        changed = settle_account(accountant, txn, value, before_ms, now_ms) || changed;
    }
    if (changed) {
        save_account(accountant, root, txn);
        store_commit(txn, NULL, NULL);
        if (now_ms >= accountant->prune_from_ms) {
            usage_prune(accountant, now_ms / 1000);
        }
    } else {
        store_abort(txn);
    }
}

int64_t accountant_settled_ms(const struct accountant *accountant)
{
    return accountant->settled_ms;
}

/* ---- reading */

static bool is_nice(const char *name)
{
    return strncmp(name, NICE_PREFIX, sizeof NICE_PREFIX - 1) == 0;
}

static bool is_remote(const struct accountant_policy *policy, const char *name)
{
    const char *domain = strrchr(name, '@');
    return policy->local_domain != NULL && policy->local_domain[0] != '\0' && domain != NULL &&
           !text_equal_nocase(domain + 1, policy->local_domain);
}

static double factor_of(const struct accountant *accountant, const char *name, const char *group,
                        double own)
{
    const struct accountant_policy *policy = &accountant->policy;
    if (own >= ACCOUNTANT_FACTOR_MIN) {
        return own;
    }
    double of_group = policy->group_factor != NULL && group != NULL
                          ? policy->group_factor(policy->arg, group)
                          : 0;
    if (of_group >= ACCOUNTANT_FACTOR_MIN) {
        return of_group;
    }
    return is_nice(name)             ? policy->nice_factor
           : is_remote(policy, name) ? policy->remote_factor
                                     : policy->default_factor;
}

const struct account *accountant_find(const struct accountant *accountant, const char *name)
{
    return strmap_get(accountant->accounts, name);
}

void accountant_facts(const struct accountant *accountant, const struct account *account,
                      struct account_facts *ret)
{
    const char *group = account->group != NULL ? account->group->name : account->name;
    *ret = (struct account_facts){
        .name = account->name,
        .is_group = account->group == NULL,
        .group = group,
        .real = account->real,
        .factor = factor_of(accountant, account->name, group, account->factor),
        .has_factor = account->factor >= ACCOUNTANT_FACTOR_MIN,
        .ceiling = account->ceiling,
        .floor = account->floor,
        .weight = account->weight,
        .slots = account->slots,
        .weighted_s = account->weighted_s,
        .slots_s = account->slots_s,
        .begin_s = account->begin_s,
        .last_s = account->last_s,
    };
}

size_t accountant_count(const struct accountant *accountant)
{
    return strmap_count(accountant->accounts);
}

void accountant_know(struct accountant *accountant, const char *submitter)
{
    (void)charged_account(accountant, submitter); /* NULL: it is none */
}

const struct account *accountant_next(const struct accountant *accountant, size_t *at)
{
    void *value;
    return strmap_next(accountant->accounts, at, NULL, &value) ? value : NULL;
}

double accountant_priority(const struct accountant *accountant, const char *submitter)
{
    const struct account *account = accountant_find(accountant, submitter);
    if (account != NULL) {
        struct account_facts facts;
        accountant_facts(accountant, account, &facts);
        return facts.real * facts.factor;
    }
    const struct accountant_policy *policy = &accountant->policy;
    const char *group = policy->group_of != NULL ? policy->group_of(policy->arg, submitter) : NULL;
    return ACCOUNTANT_PRIO_MIN *
           factor_of(accountant, submitter, group != NULL ? group : GROUP_ROOT_NAME, 0);
}

/* ---- changing */

static int check_value(enum account_value which, double value, struct err *err)
{
    if (!isfinite(value)) {
        return err_set(err, -EINVAL, "the value is not a number");
    }
    switch (which) {
    case ACCOUNT_PRIORITY:
        return value >= ACCOUNTANT_PRIO_MIN
                   ? 0
                   : err_set(err, -ERANGE, "a priority must be at least %g", ACCOUNTANT_PRIO_MIN);
    case ACCOUNT_FACTOR:
        return value == 0 || value >= ACCOUNTANT_FACTOR_MIN
                   ? 0
                   : err_set(err, -ERANGE, "a priority factor must be at least %g",
                             ACCOUNTANT_FACTOR_MIN);
    case ACCOUNT_CEILING:
        return 0;
    case ACCOUNT_FLOOR:
    case ACCOUNT_ACCUMULATED:
    case ACCOUNT_BEGIN:
    case ACCOUNT_LAST:
        return value >= 0 && value < 9e15
                   ? 0
                   : err_set(err, -ERANGE, "the value must be at least 0 and less than 9e15");
    }
    return err_set(err, -EINVAL, "an account has no such value to set");
}

static void set_value(struct account *account, enum account_value which, double value)
{
    switch (which) {
    case ACCOUNT_PRIORITY:
        account->real = value;
        break;
    case ACCOUNT_FACTOR:
        account->factor = value;
        break;
    case ACCOUNT_CEILING:
        account->ceiling = value < 0 ? -1 : value;
        break;
    case ACCOUNT_FLOOR:
        account->floor = value;
        break;
    case ACCOUNT_ACCUMULATED:
        account->weighted_s = value;
        break;
    case ACCOUNT_BEGIN:
        account->begin_s = (int64_t)value;
        break;
    case ACCOUNT_LAST:
        account->last_s = (int64_t)value;
        break;
    }
}

int accountant_set(struct accountant *accountant, const char *name, enum account_value which,
                   double value, void (*done)(void *arg), void *arg, struct err *err)
{
    int rc = check_value(which, value, err);
    if (rc != 0) {
        return rc;
    }
    if (!accountant_name_is_valid(name)) {
        return err_set(err, -EINVAL, "'%.100s' is not a valid name of a submitter or group", name);
    }
    if (accountant_find(accountant, name) == NULL &&
        strmap_count(accountant->accounts) >= ACCOUNTANT_ACCOUNTS_MAX) {
        return err_set(err, -ENOSPC,
                       "there are %d accounts already, the most that are kept; delete one first",
                       ACCOUNTANT_ACCOUNTS_MAX);
    }
    struct account *account = account_of(accountant, name);
    struct store_txn *txn = store_begin(accountant->store);
    set_value(account, which, value);
    save_account(accountant, account, txn);
    store_commit(txn, done, arg);
    return 0;
}

static void reset_account(struct accountant *accountant, struct store_txn *txn,
                          struct account *account, int64_t now_s)
{
    account->weighted_s = account->slots_s = 0;
    account->charged_weighted_s = account->charged_slots_s = 0;
    account->begin_s = now_s;
    save_account(accountant, account, txn);
}

static int no_such_account(const char *name, struct err *err)
{
    return err_set(err, -ENOENT, "no such account: '%.100s'", name);
}

int accountant_reset(struct accountant *accountant, const char *name, int64_t now_s,
                     void (*done)(void *arg), void *arg, struct err *err)
{
    struct account *one = name != NULL ? strmap_get(accountant->accounts, name) : NULL;
    if (name != NULL && one == NULL) {
        return no_such_account(name, err);
    }
    struct store_txn *txn = store_begin(accountant->store);
    size_t at = 0;
    void *value;
    while (one == NULL && strmap_next(accountant->accounts, &at, NULL, &value)) {
        reset_account(accountant, txn, value, now_s);
    }
    if (one != NULL) {
        reset_account(accountant, txn, one, now_s);
    }
    store_commit(txn, done, arg);
    return 0;
}

int accountant_delete(struct accountant *accountant, const char *name, void (*done)(void *arg),
                      void *arg, struct err *err)
{
    struct account *account = strmap_get(accountant->accounts, name);
    if (account == NULL) {
        return no_such_account(name, err);
    }
    if (account->slots > 0) {
        return err_set(err, -EBUSY, "cannot delete '%.100s', which uses %.0f slots now", name,
                       account->slots);
    }
    size_t at = 0;
    void *value;
    while (strmap_next(accountant->accounts, &at, NULL, &value)) {
        if (((struct account *)value)->group == account) {
            return err_set(err, -EBUSY,
                           "cannot delete the group '%.100s', because users belong to it", name);
        }
    }
    struct store_txn *txn = store_begin(accountant->store);
    store_delete(txn, "users", name);
    account_destroy(strmap_remove(accountant->accounts, name));
    store_commit(txn, done, arg);
    return 0;
}
