/* sim/witness.c - see witness.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/witness.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "sim/check.h"
#include "sim/sim_private.h"
#include "wire/watch.h"
#include "wire/wire.h"

#define TICK_MS 1000

struct copy { /* one of the two watches, with its connection */
    struct watching *watching;
    const char *address, *route;
    struct wire *wire; /* NULL: must be dialled */
    struct watch *watch;
};

struct watching {
    struct witness *witness;
    struct sim *sim;
    struct loop *loop;
    struct wire_context *context;
    struct copy jobs, slots;
    struct loop_timer *tick;
    struct strmap *wanted; /* name of a free slot -> struct wanted: since when a job matches it */
    struct strmap *idle;   /* id of an idle job -> struct wanted: since when it is idle */
    /* name of a slot that looks free -> struct wanted: since when its machine is off */
    struct strmap *untrue;
    uint64_t promises_broken; /* lines promise.broken in the daemons' logs up to the last tick */
};

struct wanted {
    uint64_t since_us;
    uint64_t seen_us; /* when this was found last */
};

/* ---- the watches ----------------------------------------------------------------------------- */

static bool is_free(const struct ad *slot)
{
    return strcmp(ad_string_or(slot, "State", ""), "Unclaimed") == 0 &&
           !ad_bool_or(slot, "Offline", false) && !ad_bool_or(slot, "Absent", false) &&
           !ad_has(slot, "NotRespondingSince");
}

static bool is_idle(const struct ad *job)
{
    return ad_int_or(job, "JobStatus", 0) == 1;
}

/* A job that ran between two ticks is idle since then. */
static void job_changed(void *arg, const char *key, const struct ad *ad)
{
    struct copy *copy = arg;
    if (!is_idle(ad)) {
        mem_free(strmap_remove(copy->watching->idle, key));
    }
}

/* A slot that was used or drained between two ticks is free since then. */
static void slot_changed(void *arg, const char *key, const struct ad *ad)
{
    struct copy *copy = arg;
    if (!is_free(ad)) {
        mem_free(strmap_remove(copy->watching->wanted, key));
    }
}

static void on_gone(void *arg, const char *key)
{
    (void)arg;
    (void)key;
}

static void on_synced(void *arg)
{
    (void)arg;
}

static const struct watch_events JOB_EVENTS = {.changed = job_changed,
                                               .gone = on_gone,
                                               .synced = on_synced};
static const struct watch_events SLOT_EVENTS = {.changed = slot_changed,
                                                .gone = on_gone,
                                                .synced = on_synced};

static void on_ready(void *arg, struct wire *wire)
{
    struct copy *copy = arg;
    (void)watch_start(copy->watch, wire); /* if it fails, the connection does, too */
}

static void on_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct copy *copy = arg;
    (void)status;
    (void)why;
    wire_close(wire);
    if (copy->wire == wire) {
        copy->wire = NULL;
    }
}

static void copy_dial(struct copy *copy)
{
    static const struct wire_events EVENTS = {.ready = on_ready, .closed = on_closed};
    const struct wire_dial how = {.address = copy->address, .route = copy->route, .name = ""};
    if (copy->wire == NULL &&
        wire_dial(copy->watching->context, &how, &EVENTS, copy, &copy->wire, NULL) != 0) {
        copy->wire = NULL;
    }
}

static void copy_open(struct watching *watching, struct copy *copy, const char *type,
                      const struct watch_events *events, const char *address, const char *route)
{
    const struct watch_spec spec = {.type = type};
    *copy = (struct copy){.watching = watching, .address = address, .route = route};
    copy->watch = watch_create(watching->loop, &spec, events, copy);
}

/* ---- the promise ----------------------------------------------------------------------------- */

/* Returns whether this machine is on. */
static bool is_on(const struct watching *watching, const char *machine)
{
    const struct sim_host *host = sim_host_find(watching->sim, machine);
    return host != NULL && sim_host_power(host) == SIM_HOST_ON;
}

/* Returns whether the job waits for the lease of a claim on a machine that is off: the schedd
 * cannot know that nothing runs there. */
static bool waits_for_lease(const struct watching *watching, const struct ad *job)
{
    const char *at = strchr(ad_string_or(job, "RemoteHost", ""), '@');
    return at != NULL && !is_on(watching, at + 1);
}

/* Notes in the map that what was found of the slot or job holds, and returns since when. */
static uint64_t note_since(struct watching *watching, struct strmap *map, const char *name)
{
    struct wanted *wanted = strmap_get(map, name);
    if (wanted == NULL) {
        wanted = mem_zalloc(sizeof *wanted);
        wanted->since_us = sim_now_us(watching->sim);
        (void)strmap_set(map, name, wanted); /* was absent */
    }
    wanted->seen_us = sim_now_us(watching->sim);
    return wanted->since_us;
}

/* Returns one job of each autocluster among those that are idle for at least min_us. */
static struct vec idle_jobs(struct watching *watching, uint64_t min_us)
{
    struct vec jobs = {0};
    struct strmap *seen = strmap_create(STRMAP_CASE_SENSITIVE);
    size_t at = 0;
    const char *key;
    const struct ad *ad;
    while (watch_next(watching->jobs.watch, &at, &key, &ad)) {
        char number[32];
        (void)snprintf(number, sizeof number, "%lld",
                       (long long)ad_int_or(ad, "AutoClusterId", -1));
        if (is_idle(ad) && !waits_for_lease(watching, ad) &&
            sim_now_us(watching->sim) - note_since(watching, watching->idle, key) >= min_us &&
            strmap_get(seen, number) == NULL) {
            (void)strmap_set(seen, number, seen); /* only presence counts */
            vec_push(&jobs, (void *)(uintptr_t)ad);
        }
    }
    strmap_destroy(seen, NULL);
    return jobs;
}

static const struct ad *find_matching(const struct watching *watching, const struct vec *jobs,
                                      const struct ad *slot)
{
    struct ad_context context = {.now_s = loop_wall_s(watching->loop)};
    for (size_t i = 0; i < jobs->count; i++) {
        const struct ad *job = jobs->items[i];
        watching->witness->checks++;
        if (ad_match(job, slot, &context)) {
            return job;
        }
    }
    return NULL;
}

static void tell_broken(const struct watching *watching, const char *slot, const struct ad *job,
                        uint64_t since_us)
{
    struct sim_process *was = watching->sim->current;
    watching->sim->current = NULL; /* the judge's memory is not this process's */
    judge_broken(watching->witness->judge,
                 "slot_waits: %s is free for %llu s, and the idle job %lld.%lld matches it", slot,
                 (unsigned long long)((sim_now_us(watching->sim) - since_us) / SIM_S),
                 (long long)ad_int_or(job, "ClusterId", 0), (long long)ad_int_or(job, "ProcId", 0));
    watching->sim->current = was;
}

/* The daemons watch the promise, too: what they call broken must be broken, or excused by name. */
static void tell_logged(const struct watching *watching)
{
    struct sim_process *was = watching->sim->current;
    watching->sim->current = NULL; /* the judge's memory is not this process's */
    judge_broken(watching->witness->judge, "slot_waits: a daemon logged promise.broken");
    watching->sim->current = was;
}

/* jobs: those that are idle; late: those that are idle for longer than was promised.  Both are
 * asked, because jobs that get other slots at once may follow each other. */
static void check_slot(struct watching *watching, const char *name, const struct ad *slot,
                       const struct vec *jobs, const struct vec *late)
{
    if (!is_free(slot) || !is_on(watching, ad_string_or(slot, "Machine", "")) ||
        find_matching(watching, jobs, slot) == NULL) {
        mem_free(strmap_remove(watching->wanted, name));
        return;
    }
    uint64_t since_us = note_since(watching, watching->wanted, name);
    const struct ad *job = sim_now_us(watching->sim) - since_us > WITNESS_PROMPT_US
                               ? find_matching(watching, late, slot)
                               : NULL;
    if (job != NULL) {
        tell_broken(watching, name, job, since_us);
    }
}

static bool is_off(const struct watching *watching, const char *machine)
{
    const struct sim_host *host = sim_host_find(watching->sim, machine);
    return host != NULL && sim_host_power(host) == SIM_HOST_OFF;
}

static void forget_unseen(struct watching *watching, struct strmap *map)
{
    size_t at = 0;
    const char *name;
    void *wanted;
    while (strmap_next(map, &at, &name, &wanted)) {
        if (((const struct wanted *)wanted)->seen_us != sim_now_us(watching->sim)) {
            mem_free(strmap_remove(map, name));
        }
    }
}

/* The promise of truth. */
static void check_truth(struct watching *watching)
{
    size_t at = 0;
    const char *name;
    const struct ad *slot;
    while (watch_is_synced(watching->slots.watch) &&
           watch_next(watching->slots.watch, &at, &name, &slot)) {
        if (!is_off(watching, ad_string_or(slot, "Machine", ""))) {
            continue;
        }
        watching->witness->off_checks++;
        uint64_t since_us =
            is_free(slot) ? note_since(watching, watching->untrue, name) : UINT64_MAX;
        if (since_us < sim_now_us(watching->sim) - WITNESS_TRUE_US) {
            struct sim_process *was = watching->sim->current;
            watching->sim->current = NULL; /* the judge's memory is not this process's */
            judge_broken(watching->witness->judge,
                         "free_but_off: %s looks free, and its machine is off for %llu s", name,
                         (unsigned long long)((sim_now_us(watching->sim) - since_us) / SIM_S));
            watching->sim->current = was;
        }
    }
    forget_unseen(watching, watching->untrue);
}

static bool counts_now(const struct watching *watching)
{
    uint64_t now_us = sim_now_us(watching->sim);
    return watch_is_synced(watching->jobs.watch) && watch_is_synced(watching->slots.watch) &&
           now_us >= watching->witness->quiet_from_us &&
           now_us >= sim_last_accident_us(watching->sim) + WITNESS_SETTLE_US;
}

static void forget_all(struct watching *watching)
{
    strmap_destroy(watching->wanted, mem_free);
    strmap_destroy(watching->idle, mem_free);
    watching->wanted = strmap_create(STRMAP_CASE_IGNORED);
    watching->idle = strmap_create(STRMAP_CASE_SENSITIVE);
}

static void on_tick(void *arg)
{
    struct watching *watching = arg;
    loop_timer_set(watching->tick, TICK_MS);
    copy_dial(&watching->jobs);
    copy_dial(&watching->slots);
    check_truth(watching);
    uint64_t broken = watching->sim->promises_broken - watching->promises_broken;
    watching->promises_broken = watching->sim->promises_broken;
    if (!counts_now(watching)) {
        forget_all(watching);
        return;
    }
    if (broken > 0) {
        tell_logged(watching);
    }
    struct vec jobs = idle_jobs(watching, 0), late = idle_jobs(watching, WITNESS_PROMPT_US + 1);
    size_t at = 0;
    const char *name;
    const struct ad *slot;
    while (jobs.count > 0 && watch_next(watching->slots.watch, &at, &name, &slot)) {
        check_slot(watching, name, slot, &jobs, &late);
    }
    forget_unseen(watching, watching->wanted);
    forget_unseen(watching, watching->idle);
    vec_fini(&jobs, NULL);
    vec_fini(&late, NULL);
}

/* ---- life ------------------------------------------------------------------------------------ */

static int witness_start(const struct sim_env *env, void **state)
{
    struct watching *watching = mem_zalloc(sizeof *watching);
    struct err err = {""};
    struct witness *witness = (struct witness *)(uintptr_t)env->program->data;
    watching->witness = witness;
    watching->sim = env->sim;
    watching->loop = env->loop;
    const struct wire_context_options options = {.loop = env->loop,
                                                 .os = env->os,
                                                 .token_path = witness->token_path,
                                                 .ca_file = witness->ca_path,
                                                 .uid_domain = "pool",
                                                 .admin_uid = 1000};
    if (wire_context_create(&options, &watching->context, &err) != 0) {
        sim_trace(env->sim, env->process, "%s", err.text);
        return 1;
    }
    *state = watching;
    watching->wanted = strmap_create(STRMAP_CASE_IGNORED);
    watching->idle = strmap_create(STRMAP_CASE_SENSITIVE);
    watching->untrue = strmap_create(STRMAP_CASE_IGNORED);
    copy_open(watching, &watching->jobs, "Job", &JOB_EVENTS, witness->schedd_socket, "schedd");
    copy_open(watching, &watching->slots, "Machine", &SLOT_EVENTS, witness->collector_address,
              "collector");
    watching->tick = loop_timer_create(env->loop, on_tick, watching);
    loop_timer_set(watching->tick, TICK_MS);
    return SIM_STAYS;
}

void witness_program(struct sim_program *program, struct witness *witness)
{
    *program = (struct sim_program){.name = "witness", .start = witness_start, .data = witness};
}
