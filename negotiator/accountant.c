/* negotiator/accountant.c - who has used how much: see accountant.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "negotiator/accountant.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "negotiator/negotiator_plan.h"
#include "store/store.h"

struct account {
    char *name;
    double real, factor; /* factor 0: the default */
    double use;          /* slots now */
    double total_s;      /* slot seconds in all */
};

struct accountant {
    struct store *store;
    struct strmap *accounts;
    int64_t settled_s; /* 0: never */
};

double accountant_decay(double real, double use, double dt_s, double halflife_s)
{
    double keep = halflife_s > 0 ? pow(0.5, dt_s / halflife_s) : 0;
    double next = real * keep + use * (1 - keep);
    return next > ACCOUNTANT_PRIO_MIN ? next : ACCOUNTANT_PRIO_MIN;
}

static struct account *account_of(struct accountant *accountant, const char *name)
{
    struct account *account = strmap_get(accountant->accounts, name);
    if (account == NULL) {
        account = mem_zalloc(sizeof *account);
        account->name = mem_strdup(name);
        account->real = ACCOUNTANT_PRIO_MIN;
        (void)strmap_set(accountant->accounts, name, account); /* was absent */
    }
    return account;
}

static int load_one(void *arg, const char *key, const void *value, size_t length)
{
    struct accountant *accountant = arg;
    struct ad *ad;
    if (ad_decode(value, length, NULL, &ad, NULL) != 0) {
        return 0; /* one bad record is left out: that user begins anew */
    }
    if (strcmp(key, "") != 0) {
        struct account *account = account_of(accountant, key);
        account->real = ad_real_or(ad, "Priority", ACCOUNTANT_PRIO_MIN);
        account->factor = ad_real_or(ad, "PriorityFactor", 0);
        account->total_s = ad_real_or(ad, "AccumulatedUsage", 0);
    }
    int64_t settled_s = ad_int_or(ad, "LastUsageTime", 0);
    accountant->settled_s = settled_s > accountant->settled_s ? settled_s : accountant->settled_s;
    ad_destroy(ad);
    return 0;
}

int accountant_create(struct store *store, struct accountant **ret, struct err *err)
{
    struct accountant *accountant = mem_zalloc(sizeof *accountant);
    accountant->store = store;
    accountant->accounts = strmap_create(STRMAP_CASE_SENSITIVE);
    int rc = store_load(store, "users", load_one, accountant, err);
    if (rc != 0) {
        accountant_destroy(accountant);
        return rc;
    }
    *ret = accountant;
    return 0;
}

static void account_destroy(void *value)
{
    struct account *account = value;
    mem_free(account->name);
    mem_free(account);
}

void accountant_destroy(struct accountant *accountant)
{
    if (accountant != NULL) {
        strmap_destroy(accountant->accounts, account_destroy);
        mem_free(accountant);
    }
}

void accountant_begin(struct accountant *accountant)
{
    size_t at = 0;
    void *value;
    while (strmap_next(accountant->accounts, &at, NULL, &value)) {
        ((struct account *)value)->use = 0;
    }
}

void accountant_use(struct accountant *accountant, const char *user, double weight)
{
    account_of(accountant, user)->use += weight;
}

static void save(struct accountant *accountant, const struct account *account,
                 struct store_txn *txn)
{
    struct ad *ad = ad_create();
    struct strbuf bytes;
    ad_set_real(ad, "Priority", account->real);
    ad_set_real(ad, "PriorityFactor", account->factor);
    ad_set_real(ad, "AccumulatedUsage", account->total_s);
    ad_set_int(ad, "LastUsageTime", accountant->settled_s);
    strbuf_init(&bytes, 0);
    ad_encode(ad, true, &bytes);
    store_put(txn, "users", account->name, bytes.data, bytes.length);
    strbuf_fini(&bytes);
    ad_destroy(ad);
}

void accountant_end(struct accountant *accountant, int64_t now_s, int64_t halflife_s)
{
    int64_t before_s = accountant->settled_s;
    accountant->settled_s = now_s;
    if (before_s == 0 || now_s <= before_s) {
        return; /* the first time, or a clock that was set back: nothing can be charged */
    }
    struct store_txn *txn = store_begin(accountant->store);
    size_t at = 0;
    void *value;
    while (strmap_next(accountant->accounts, &at, NULL, &value)) {
        struct account *account = value;
        double dt_s = (double)(now_s - before_s), was = account->real;
        account->real = accountant_decay(account->real, account->use, dt_s, (double)halflife_s);
        account->total_s += account->use * dt_s;
        if (account->use > 0 || was > ACCOUNTANT_PRIO_MIN) {
            save(accountant, account, txn);
        }
    }
    store_commit(txn, NULL, NULL);
}

struct plan_user *accountant_users(const struct accountant *accountant, double default_factor,
                                   struct arena *arena, size_t *count)
{
    size_t known = strmap_count(accountant->accounts), at = 0;
    struct plan_user *users = arena_alloc(arena, (known + 1) * sizeof *users);
    *count = 0;
    void *value;
    while (users != NULL && strmap_next(accountant->accounts, &at, NULL, &value)) {
        const struct account *account = value;
        double factor = account->factor > 0 ? account->factor : default_factor;
        users[(*count)++] = (struct plan_user){.name = account->name,
                                               .priority = account->real * factor,
                                               .running = (int64_t)account->use};
    }
    return users;
}
