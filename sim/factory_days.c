/* sim/factory_days.c - see factory_days.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/factory_days.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "sim/check.h"
#include "sim/client.h"
#include "sim/factory_truth.h"
#include "sim/sim_private.h"
#include "sim/site_sim.h"

#define SECURITY  "/etc/roost/security"
#define CONFIG    "/etc/roost/roost.conf"
#define BUNDLE    SECURITY "/glidein.bundle"
#define DAY_S     5400
#define CALM_S    20000
#define AUDIT_S   60
#define LOOK_US   (5 * SIM_S)
#define SPARE     8  /* machines beyond what the pool may have */
#define QUEUED    20 /* max_queued */
#define JOB_MIN_S 2
#define JOB_MAX_S 240

/* ---- tempers ----------------------------------------------------------------------------------*/

static const struct site_temper TEMPERS[] = {
    {.name = "good", .serves = true, .wait_max_s = 10, .kept_s = 60},
    {.name = "slow", .serves = true, .wait_min_s = 60, .wait_max_s = 900},
};

struct days {
    struct factory_days_options options;
    struct rng rng; /* used only by this story */
    struct sim *sim;
    struct judge *judge;
    struct farm *farm;
    struct factory_truth *truth;
    struct sim_program program;
    struct vec batches; /* of struct client_batch */
    unsigned *site_of_job, *cpus_of_job;
    struct factory_limits limits;
    uint64_t dawn_us;
    bool *removed; /* jobs that their user removes */
};

static uint64_t random_between(struct days *days, uint64_t low, uint64_t high)
{
    return low + rng_below(&days->rng, high - low + 1);
}

static bool by_chance(struct days *days, unsigned per_mille)
{
    return rng_below(&days->rng, 1000) < per_mille;
}

/* ---- the work ---------------------------------------------------------------------------------*/

static struct sim_site *any_server(struct days *days)
{
    for (;;) {
        struct sim_site *site =
            farm_site_at(days->farm, random_between(days, 0, farm_site_count(days->farm) - 1));
        if (site->temper.serves) {
            return site;
        }
    }
}

static void add_batch(struct days *days, unsigned first, unsigned count, uint64_t at_us)
{
    struct client_batch *batch = sim_alloc(sizeof(*batch));
    const struct sim_site *site = any_server(days);
    bool bound = by_chance(days, 200);
    batch->first = first;
    batch->count = count;
    batch->at_us = at_us;
    batch->seconds = sim_alloc(count * sizeof(unsigned));
    batch->cpus = (unsigned)random_between(days, 1, site->cpus);
    batch->cpus = by_chance(days, 600) ? 1 : batch->cpus;
    unsigned longest = (unsigned)random_between(days, JOB_MIN_S, JOB_MAX_S);
    if (bound) {
        batch->machines = sim_text("TARGET.GLIDEIN_Site =?= \"%s\"", site->name);
    }
    if (by_chance(days, 120)) {
        batch->remove_us = at_us + random_between(days, 0, 120) * SIM_S;
    }
    for (unsigned i = 0; i < count; i++) {
        batch->seconds[i] = (unsigned)random_between(days, JOB_MIN_S, longest);
        days->site_of_job[first + i] = bound ? site->number + 1 : 0;
        days->cpus_of_job[first + i] = batch->cpus;
        days->removed[first + i] = batch->remove_us > 0;
    }
    vec_push(&days->batches, batch);
}

/* Bursts, with quiet times between them. */
static void plan_work(struct days *days)
{
    unsigned jobs = days->options.jobs, largest = jobs / 8 + 1;
    for (unsigned first = 0; first < jobs;) {
        uint64_t at_s = random_between(days, 0, 8) * (DAY_S / 9) + random_between(days, 0, 120);
        unsigned left = jobs - first;
        unsigned count = (unsigned)random_between(days, 1, by_chance(days, 500) ? 10 : largest);
        count = count < left ? count : left;
        add_batch(days, first, count, at_s * SIM_S);
        first += count;
    }
}

/* ---- the pool ---------------------------------------------------------------------------------*/

static void make_sites(struct days *days)
{
    char name[24];
    for (unsigned i = 1; i <= days->options.sites; i++) {
        (void)snprintf(name, sizeof(name), "s%02u", i);
        size_t temper = i <= 2 ? i - 1 : random_between(days, 0, ARRAY_COUNT(TEMPERS) - 1);
        (void)farm_add_site(days->farm, name, 1U << random_between(days, 0, 2), &TEMPERS[temper]);
    }
}

static void central_config(void *arg, struct strbuf *config)
{
    struct days *days = arg;
    strbuf_printf(config,
                  "DAEMON_LIST = {COLLECTOR, NEGOTIATOR, SCHEDD, FACTORY}\n"
                  "FACTORY_MAX_GLIDEINS = %u\n"
                  "FACTORY_BACKOFF_MAX = \"10m\"\n",
                  days->limits.pool_max);
    for (size_t i = 0; i < farm_site_count(days->farm); i++) {
        const struct sim_site *site = farm_site_at(days->farm, i);
        strbuf_printf(config,
                      "site \"%s\" { type = command program = \"/sim/sites/%s\" token = \"" BUNDLE
                      "\" example = {\"TotalSlotDisk = 10000000\"} cpus = %u memory = \"4 GiB\" "
                      "lifetime = \"2h\" idle_timeout = \"2m\" start_timeout = \"3m\" "
                      "max_queued = %u max_total = %u max_running = %u }\n",
                      site->name, site->name, site->cpus, days->limits.queued_max,
                      days->limits.site_max, days->limits.running_max);
    }
}

/* What a glidein joins the pool with: a token and the key of the pool. */
static void put_bundle(struct sim_host *central)
{
    static const char *const PARTS[] = {SECURITY "/tokens/GLIDEIN", SECURITY "/keys/pool.pub"};
    struct strbuf text;
    strbuf_init(&text, 0);
    for (size_t i = 0; i < ARRAY_COUNT(PARTS); i++) {
        size_t length = 0;
        const char *data = sim_file_get(central, PARTS[i], &length);
        CHECK(data != NULL);
        strbuf_append(&text, data, length);
        strbuf_puts(&text, i == 0 ? "\nkid: pool\n" : "");
    }
    sim_file_put(central, BUNDLE, strbuf_text(&text), text.length, 0600);
    strbuf_fini(&text);
}

static void look_around(void *arg)
{
    struct days *days = arg;
    factory_truth_look(days->truth);
    (void)sim_at(days->sim, days->sim->now_us + LOOK_US, look_around, days);
}

static void story_begins(void *arg, struct sim *sim, struct judge *judge, uint64_t dawn_us)
{
    struct days *days = arg;
    struct sim_host *central = sim_host_at(sim, 0);
    char path[64];
    days->judge = judge;
    days->dawn_us = dawn_us;
    factory_truth_begin(days->truth, sim, judge, days->farm);
    farm_add_hosts(days->farm, central, days->limits.pool_max + SPARE);
    put_bundle(central);
    for (size_t i = 0; i < farm_site_count(days->farm); i++) {
        (void)snprintf(path, sizeof(path), "/sim/sites/%s", farm_site_at(days->farm, i)->name);
        sim_program_put(central, path, days->program.name);
    }
    sim_tree_sync_all(central);
    (void)sim_at(sim, sim->now_us + LOOK_US, look_around, days);
}

static void process_ended(void *arg, struct sim_process *process, int status, int signal_number)
{
    struct days *days = arg;
    (void)status;
    (void)signal_number;
    farm_process_ended(days->farm, process);
    if (strcmp(process->program->name, "roost-factory") == 0) {
        factory_truth_forgot(days->truth);
    }
}

static void power_changed(void *arg, struct sim_host *host, enum sim_power was)
{
    struct days *days = arg;
    (void)was;
    farm_power_changed(days->farm, host);
}

static void sim_is_there(void *arg, struct sim *sim)
{
    struct days *days = arg;
    const struct sim_observer observer = {.process_ended = process_ended,
                                          .power_changed = power_changed,
                                          .arg = days};
    days->sim = sim;
    farm_begin(days->farm, sim);
    sim_observe(sim, &observer);
}

static bool story_is_over(void *arg)
{
    const struct days *days = arg;
    return factory_truth_is_empty(days->truth);
}

static void story_ends(void *arg)
{
    const struct days *days = arg;
    factory_truth_finish(days->truth);
}

static bool is_excused(void *arg, unsigned number)
{
    const struct days *days = arg;
    return days->removed[number];
}

static void job_seen(void *arg, uint64_t began_us, unsigned number, const struct ad *ad)
{
    struct days *days = arg;
    (void)began_us;
    if (ad_int_or(ad, "JobStatus", 0) == 3) {
        factory_truth_job_removed(days->truth, number);
    }
}

/* ---- the run ----------------------------------------------------------------------------------*/

static void free_batch(void *item)
{
    struct client_batch *batch = item;
    sim_free(batch->seconds);
    sim_free((void *)(uintptr_t)batch->machines);
    sim_free(batch);
}

static struct client_batch *copy_batches(const struct days *days)
{
    struct client_batch *copy = sim_alloc((days->batches.count + 1) * sizeof(*copy));
    for (size_t i = 0; i < days->batches.count; i++) {
        copy[i] = *(const struct client_batch *)days->batches.items[i];
    }
    return copy;
}

void factory_days_run(const struct factory_days_options *options, struct pool_result *ret)
{
    struct days days = {.options = *options};
    unsigned each = options->glideins * 2 / options->sites + 2;
    days.limits = (struct factory_limits){.pool_max = options->glideins,
                                          .site_max = each,
                                          .queued_max = QUEUED,
                                          .running_max = each};
    rng_seed(&days.rng, options->seed ^ UINT64_C(0x6a09e667f3bcc909));
    days.site_of_job = sim_alloc((options->jobs + 1) * sizeof(unsigned));
    days.cpus_of_job = sim_alloc((options->jobs + 1) * sizeof(unsigned));
    days.removed = sim_alloc((options->jobs + 1) * sizeof(bool));
    const struct factory_truth_options truth = {.jobs = options->jobs,
                                                .site_of_job = days.site_of_job,
                                                .cpus_of_job = days.cpus_of_job,
                                                .limits = days.limits};
    struct farm_events events;
    days.truth = factory_truth_create(&truth);
    factory_truth_listen(days.truth, &events);
    days.farm = farm_create(&events);
    site_program(&days.program, days.farm);
    make_sites(&days);
    plan_work(&days);
    struct client_batch *batches = copy_batches(&days);
    const struct pool_story story = {.day_s = DAY_S,
                                     .calm_s = CALM_S,
                                     .audit_s = AUDIT_S,
                                     .farm_hosts = days.limits.pool_max + SPARE,
                                     .central = central_config,
                                     .begins = story_begins,
                                     .is_over = story_is_over,
                                     .ends = story_ends,
                                     .is_excused = is_excused,
                                     .job_seen = job_seen,
                                     .arg = &days};
    const struct pool_options pool = {.seed = options->seed,
                                      .jobs = options->jobs,
                                      .trace = options->trace,
                                      .pause_s = options->pause_s,
                                      .batches = batches,
                                      .batch_count = days.batches.count,
                                      .helper = &days.program,
                                      .story = &story,
                                      .begins = sim_is_there,
                                      .arg = &days};
    pool_run(&pool, ret);
    factory_truth_figures(days.truth, ret->figures, sizeof(ret->figures));
    vec_fini(&days.batches, free_batch);
    sim_free(batches);
    sim_free(days.site_of_job);
    sim_free(days.cpus_of_job);
    sim_free(days.removed);
    farm_destroy(days.farm);
    factory_truth_destroy(days.truth);
}
