/* negotiator/update_prio.c - priorities of submitting machines, by the expression UPDATE_PRIO.
 *
 * The oldest design (document 004, "Prioritizing Machines"): the central manager keeps a Prio for
 * each machine that submits jobs.  Periodically it replaces Prio with the value of UPDATE_PRIO,
 * computed from Prio, Users (individual users with jobs in that machine's queue) and Running
 * (running jobs of that machine).  With `Prio + Users - Running` a machine whose jobs cannot run
 * rises, and one that runs many sinks.  Where UPDATE_PRIO is set, machines compete by Prio, highest
 * first, before users do (share_plan.h).
 *
 * Users and Running are counted from the Submitter ads with that ScheddName.  Prio is durable, one
 * row per machine, with the time up to which it was applied; while the central manager is down
 * nothing changes.  A machine without ads is forgotten after FORGET_S.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "negotiator/negotiator.h"
#include "negotiator/share_plan.h"
#include "store/store.h"

#define FORGET_S     (7 * 86400)
#define MACHINES_MAX 100000
#define PRIO_MAX     1e12
/* most bytes of the name of a machine that is kept, without the terminating zero */
#define MACHINE_NAME_MAX 512

struct submitting { /* a submitting machine */
    char *name;
    double prio;
    int64_t users, running, idle, seen_s;
};

struct counted { /* what one Submitter ad says */
    char *machine;
    int64_t running, idle;
};

struct update_prio {
    struct negotiator *negotiator;
    struct strmap *machines; /* ScheddName -> struct submitting */
    struct strmap *counted;  /* Name of the Submitter ad -> struct counted */
    struct ad_expr *expr;    /* NULL: not set */
    struct loop_timer *timer;
};

static void submitting_destroy(void *value)
{
    struct submitting *machine = value;
    mem_free(machine->name);
    mem_free(machine);
}

static void counted_destroy(void *value)
{
    struct counted *counted = value;
    mem_free(counted->machine);
    mem_free(counted);
}

static struct submitting *machine_of(struct update_prio *self, const char *name)
{
    struct submitting *machine = strmap_get(self->machines, name);
    if (machine == NULL && strmap_count(self->machines) < MACHINES_MAX && name[0] != '\0' &&
        strlen(name) <= MACHINE_NAME_MAX) {
        machine = mem_zalloc(sizeof *machine);
        machine->name = mem_strdup(name);
        (void)strmap_set(self->machines, name, machine); /* was absent */
    }
    return machine;
}

/* ---- counting */

static void count_submitter(struct update_prio *self, const struct counted *counted, int64_t by)
{
    struct submitting *machine = machine_of(self, counted->machine);
    if (machine == NULL) {
        return;
    }
    machine->users += counted->running + counted->idle > 0 ? by : 0;
    machine->running += by * counted->running;
    machine->idle += by * counted->idle;
    machine->seen_s = loop_wall_s(self->negotiator->env.loop);
}

void update_prio_submitter_gone(struct negotiator *negotiator, const char *key)
{
    struct update_prio *self = negotiator->update_prio;
    struct counted *counted = strmap_remove(self->counted, key);
    if (counted != NULL) {
        count_submitter(self, counted, -1);
        counted_destroy(counted);
    }
}

void update_prio_know(struct negotiator *negotiator, const char *machine)
{
    struct submitting *known = machine_of(negotiator->update_prio, machine);
    if (known != NULL) {
        known->seen_s = loop_wall_s(negotiator->env.loop);
    }
}

static int64_t jobs_of(const struct ad *ad, const char *name)
{
    int64_t jobs = ad_int_or(ad, name, 0);
    return jobs < 0 ? 0 : jobs > 1000000000 ? 1000000000 : jobs;
}

void update_prio_submitter(struct negotiator *negotiator, const char *key, const struct ad *ad)
{
    struct update_prio *self = negotiator->update_prio;
    update_prio_submitter_gone(negotiator, key);
    struct counted *counted = mem_zalloc(sizeof *counted);
    counted->machine = mem_strdup(ad_string_or(ad, "ScheddName", ""));
    counted->running = jobs_of(ad, "RunningJobs");
    counted->idle = jobs_of(ad, "IdleJobs");
    count_submitter(self, counted, 1);
    (void)strmap_set(self->counted, key, counted); /* it was taken out above */
}

/* ---- applying */

static void save_machine(const struct submitting *machine, struct store_txn *txn)
{
    struct ad *ad = ad_create();
    struct strbuf bytes;
    ad_set_real(ad, "Prio", machine->prio);
    ad_set_int(ad, "Seen", machine->seen_s);
    strbuf_init(&bytes, 0);
    ad_encode(ad, true, &bytes);
    store_put(txn, "machines", machine->name, bytes.data, bytes.length);
    strbuf_fini(&bytes);
    ad_destroy(ad);
}

static double new_prio(const struct update_prio *self, const struct submitting *machine)
{
    const struct ad_context context = negotiator_context(self->negotiator);
    struct ad *ad = ad_create();
    ad_set_string(ad, "Name", machine->name);
    ad_set_real(ad, "Prio", machine->prio);
    ad_set_int(ad, "Users", machine->users);
    ad_set_int(ad, "Running", machine->running);
    ad_set_int(ad, "Idle", machine->idle);
    double prio = ad_eval_rank(self->expr, ad, NULL, &context);
    ad_destroy(ad);
    return isnan(prio) ? 0 : prio > PRIO_MAX ? PRIO_MAX : prio < -PRIO_MAX ? -PRIO_MAX : prio;
}

static void update_all(struct update_prio *self)
{
    int64_t now_s = loop_wall_s(self->negotiator->env.loop);
    struct store_txn *txn = store_begin(self->negotiator->store);
    size_t at = 0;
    const char *name;
    void *value;
    while (strmap_next(self->machines, &at, &name, &value)) {
        struct submitting *machine = value;
        if (machine->users + machine->running + machine->idle == 0 &&
            machine->seen_s + FORGET_S < now_s) {
            store_delete(txn, "machines", name);
            submitting_destroy(strmap_remove(self->machines, name));
            continue;
        }
        machine->prio = new_prio(self, machine);
        machine->seen_s = machine->users > 0 ? now_s : machine->seen_s;
        save_machine(machine, txn);
    }
    store_commit(txn, NULL, NULL);
}

static void update_due(void *arg)
{
    struct update_prio *self = arg;
    struct negotiator *negotiator = self->negotiator;
    loop_timer_set(self->timer,
                   (uint64_t)config_duration_ms(negotiator->env.config, "UPDATE_PRIO_INTERVAL"));
    if (self->expr != NULL && negotiator->lease.leads) {
        update_all(self);
        negotiator_cycle_soon(negotiator);
    }
}

/* ---- life */

static int load_one(void *arg, const char *key, const void *value, size_t length)
{
    struct update_prio *self = arg;
    struct ad *ad;
    if (ad_decode(value, length, NULL, &ad, NULL) != 0) {
        return 0; /* one bad record is left out: that machine begins anew */
    }
    struct submitting *machine = machine_of(self, key);
    if (machine != NULL) {
        machine->prio = ad_real_or(ad, "Prio", 0);
        machine->seen_s = ad_int_or(ad, "Seen", 0);
    }
    ad_destroy(ad);
    return 0;
}

int update_prio_create(struct negotiator *negotiator, struct err *err)
{
    struct update_prio *self = mem_zalloc(sizeof *self);
    self->negotiator = negotiator;
    self->machines = strmap_create(STRMAP_CASE_IGNORED);
    self->counted = strmap_create(STRMAP_CASE_SENSITIVE);
    self->timer = loop_timer_create(negotiator->env.loop, update_due, self);
    negotiator->update_prio = self;
    return store_load(negotiator->store, "machines", load_one, self, err);
}

void update_prio_fini(struct negotiator *negotiator)
{
    struct update_prio *self = negotiator->update_prio;
    if (self != NULL) {
        loop_timer_destroy(self->timer);
        strmap_destroy(self->machines, submitting_destroy);
        strmap_destroy(self->counted, counted_destroy);
        ad_expr_destroy(self->expr);
        mem_free(self);
        negotiator->update_prio = NULL;
    }
}

void update_prio_configure(struct negotiator *negotiator)
{
    struct update_prio *self = negotiator->update_prio;
    const char *text = config_expr(negotiator->env.config, "UPDATE_PRIO");
    struct err err;
    ad_expr_destroy(self->expr);
    self->expr = NULL;
    if (text != NULL && text[0] != '\0' &&
        ad_expr_parse(text, strlen(text), AD_OLD, &self->expr, &err) != 0) {
        log_error(negotiator->env.log, "config.expr", err.text);
    }
    if (!loop_timer_is_set(self->timer)) {
        loop_timer_set(self->timer, (uint64_t)config_duration_ms(negotiator->env.config,
                                                                 "UPDATE_PRIO_INTERVAL"));
    }
}

/* ---- reading */

struct share_machine *update_prio_machines(const struct negotiator *negotiator, struct arena *arena,
                                           size_t *ret_count)
{
    const struct update_prio *self = negotiator->update_prio;
    size_t at = 0;
    void *value;
    *ret_count = 0;
    if (self->expr == NULL) {
        return NULL;
    }
    struct share_machine *machines =
        arena_alloc(arena, (strmap_count(self->machines) + 1) * sizeof *machines);
    while (machines != NULL && strmap_next(self->machines, &at, NULL, &value)) {
        const struct submitting *machine = value;
        machines[(*ret_count)++] =
            (struct share_machine){.name = machine->name, .prio = machine->prio};
    }
    return machines;
}

struct ad *update_prio_next(const struct negotiator *negotiator, size_t *at)
{
    void *value;
    if (!strmap_next(negotiator->update_prio->machines, at, NULL, &value)) {
        return NULL;
    }
    const struct submitting *machine = value;
    struct ad *ad = ad_create();
    ad_set_string(ad, "MyType", "SubmittingMachine");
    ad_set_string(ad, "Name", machine->name);
    ad_set_real(ad, "Prio", machine->prio);
    ad_set_int(ad, "Users", machine->users);
    ad_set_int(ad, "Running", machine->running);
    ad_set_int(ad, "Idle", machine->idle);
    return ad;
}
