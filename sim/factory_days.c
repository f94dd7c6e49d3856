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

/* The first two are in each pool. */
static const struct site_temper TEMPERS[] = {
    {.name = "good", .serves = true, .wait_max_s = 10, .kept_s = 60},
    {.name = "slow", .serves = true, .wait_min_s = 60, .wait_max_s = 900},
    {.name = "snail", .wait_min_s = 1800, .wait_max_s = 7200},
    {.name = "refuses", .refuses = 1000, .never_joins = true},
    {.name = "full", .serves = true, .full_at = 3, .wait_max_s = 20, .kept_s = 60},
    {.name = "fails", .fails = 1000, .never_joins = true},
    {.name = "mute", .hangs = 1000, .never_joins = true},
    {.name = "never", .stays = 1000, .never_joins = true},
    {.name = "holds", .holds = 1000, .never_joins = true},
    {.name = "stillborn", .dies_early = 1000, .wait_max_s = 10, .kept_s = 60, .never_joins = true},
    {.name = "sickly", .serves = true, .dies_early = 200, .dies_late = 300, .wait_max_s = 20},
    {.name = "hangs", .serves = true, .hangs = 200, .wait_max_s = 20},
    {.name = "babbles", .serves = true, .garbage = 200, .wait_max_s = 20},
    {.name = "forgets", .serves = true, .halves = 500, .wait_max_s = 20, .kept_s = 60},
    {.name = "lies", .serves = true, .halves = 300, .halves_complete = true, .wait_max_s = 60},
    {.name = "settles", .serves = true, .settle_s = 60, .wait_max_s = 20},
    {.name = "loses", .serves = true, .loses = 400, .wait_max_s = 20},
    {.name = "breaks", .serves = true, .dies = 400, .wait_max_s = 20},
    {.name = "flaky", .serves = true, .fails = 300, .refuses = 200, .wait_max_s = 20},
    {.name = "mixed",
     .serves = true,
     .fails = 100,
     .hangs = 50,
     .garbage = 30,
     .loses = 100,
     .dies = 100,
     .halves = 100,
     .holds = 30,
     .dies_early = 50,
     .dies_late = 100,
     .wait_max_s = 120,
     .settle_s = 20,
     .kept_s = 20},
};

struct days {
    struct factory_days_options options;
    struct rng rng; /* used only by this story */
    struct sim *sim;
    struct judge *judge;
    struct farm *farm;
    struct factory_truth *truth;
    struct farm_events events; /* of the truth */
    struct sim_program program;
    struct vec batches; /* of struct client_batch */
    unsigned *site_of_job, *cpus_of_job;
    struct factory_limits limits;
    uint64_t dawn_us;
    bool *removed; /* jobs that their user removes */
    bool *is_out;  /* sites whose sections are out of the configuration */
    char *base;    /* the configuration before the sections */
    size_t base_length;
    uint64_t pause_us;
    unsigned kills, strikes, sections, orphans;
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
    uint64_t good = random_between(days, 1, days->options.sites);
    uint64_t slow = good % days->options.sites + 1;
    for (unsigned i = 1; i <= days->options.sites; i++) {
        (void)snprintf(name, sizeof(name), "s%02u", i);
        size_t temper = random_between(days, 2, ARRAY_COUNT(TEMPERS) - 1);
        temper = i == good ? 0 : i == slow ? 1 : temper;
        (void)farm_add_site(days->farm, name, 1U << random_between(days, 0, 2), &TEMPERS[temper]);
    }
}

static void put_sections(const struct days *days, struct strbuf *config)
{
    strbuf_printf(config,
                  "DAEMON_LIST = {COLLECTOR, NEGOTIATOR, SCHEDD, FACTORY}\n"
                  "FACTORY_MAX_GLIDEINS = %u\n"
                  "FACTORY_BACKOFF_MAX = \"10m\"\n",
                  days->limits.pool_max);
    for (size_t i = 0; i < farm_site_count(days->farm); i++) {
        const struct sim_site *site = farm_site_at(days->farm, i);
        if (days->is_out[i]) {
            continue;
        }
        strbuf_printf(config,
                      "site \"%s\" { type = command program = \"/sim/sites/%s\" token = \"" BUNDLE
                      "\" example = {\"TotalSlotDisk = 10000000\"} cpus = %u memory = \"4 GiB\" "
                      "lifetime = \"2h\" idle_timeout = \"2m\" start_timeout = \"3m\" "
                      "max_queued = %u max_total = %u max_running = %u }\n",
                      site->name, site->name, site->cpus, days->limits.queued_max,
                      days->limits.site_max, days->limits.running_max);
    }
}

static void central_config(void *arg, struct strbuf *config)
{
    struct days *days = arg;
    days->base_length = config->length;
    put_sections(days, config);
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

/* ---- accidents --------------------------------------------------------------------------------*/

static bool runs_program(const struct sim_process *process, const void *name)
{
    return strcmp(process->program->name, name) == 0;
}

static struct sim_process *find_process(const struct days *days, const char *name)
{
    return sim_process_first(&sim_host_at(days->sim, 0)->processes, runs_program, name);
}

static void kill_factory(void *arg)
{
    struct days *days = arg;
    struct sim_process *factory = find_process(days, "roost-factory");
    if (factory != NULL) {
        days->kills++;
        sim_kill(factory);
    }
}

static void kill_site_program(struct days *days)
{
    struct sim_process *found[100];
    size_t count = 0;
    const struct sim_link *head = &sim_host_at(days->sim, 0)->processes;
    for (struct sim_link *at = head->next; at != head && count < ARRAY_COUNT(found);
         at = at->next) {
        if (runs_program(at->item, days->program.name)) {
            found[count++] = at->item;
        }
    }
    if (count > 0) {
        days->kills++;
        sim_kill(found[rng_below(&days->rng, count)]);
    }
}

/* Writes the configuration with the sections that are in, and has the factory read it. */
static void change_config(struct days *days)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_puts(&text, days->base);
    put_sections(days, &text);
    sim_file_put(sim_host_at(days->sim, 0), CONFIG, strbuf_text(&text), text.length, 0644);
    strbuf_fini(&text);
    struct sim_process *factory = find_process(days, "roost-factory");
    if (factory != NULL) {
        sim_process_signal(factory, SIGHUP);
    }
    factory_truth_forgot(days->truth);
}

/* The day is over: all sections are in, and who never answered does, so that nothing is left. */
static void put_all_back(struct days *days)
{
    for (size_t i = 0; i < farm_site_count(days->farm); i++) {
        struct sim_site *site = farm_site_at(days->farm, i);
        days->is_out[i] = false;
        factory_truth_section(days->truth, site, false);
        if (site->temper.hangs == 1000) {
            site->temper.hangs = 0;
            site->temper.never_joins = false;
        }
    }
    change_config(days);
}

static void turn_section(struct days *days)
{
    size_t at = random_between(days, 0, farm_site_count(days->farm) - 1);
    days->is_out[at] = !days->is_out[at];
    days->sections++;
    factory_truth_section(days->truth, farm_site_at(days->farm, at), days->is_out[at]);
    sim_trace(days->sim, NULL, "section of site %s is %s", farm_site_at(days->farm, at)->name,
              days->is_out[at] ? "taken out" : "put back");
    change_config(days);
}

static void add_orphan(struct days *days)
{
    char name[64];
    struct sim_site *site =
        farm_site_at(days->farm, random_between(days, 0, farm_site_count(days->farm) - 1));
    const char *tag = factory_truth_tag(days->truth);
    if (tag == NULL) {
        return; /* the factory does not run now */
    }
    days->orphans++;
    (void)snprintf(name, sizeof(name), "factory-%s-%s0rphan%u.1", site->name, tag, days->orphans);
    site_add_orphan(site, name);
}

static void do_damage(void *arg)
{
    struct days *days = arg;
    uint64_t now_us = days->sim->now_us, what = random_between(days, 0, 99);
    struct sim_process *factory = find_process(days, "roost-factory");
    if (now_us >= days->dawn_us + DAY_S * SIM_S) {
        put_all_back(days);
        return;
    }
    if (what < 25) {
        kill_factory(days);
    } else if (what < 45 && factory != NULL) { /* at one of its next writes */
        sim_disk_kill(factory, (unsigned)random_between(days, 1, 12));
        days->kills++;
    } else if (what < 75) {
        kill_site_program(days);
    } else if (what < 90) {
        turn_section(days);
    } else {
        add_orphan(days);
    }
    (void)sim_at(days->sim, now_us + random_between(days, SIM_S, days->pause_us), do_damage, days);
}

/* A submission has come to a site: now and then the factory dies just then. */
static void site_was_asked(void *arg, struct sim_site *site, const char *batch, unsigned count)
{
    struct days *days = arg;
    struct sim *sim = days->sim;
    days->events.asked(days->events.arg, site, batch, count);
    if (!days->options.calm && sim->now_us < days->dawn_us + DAY_S * SIM_S && by_chance(days, 50)) {
        days->strikes++;
        (void)sim_at(sim, sim->now_us + random_between(days, 0, 2) * 20 * SIM_MS, kill_factory,
                     days);
    }
}

static void glidein_landed(void *arg, struct farm_glidein *glidein)
{
    struct days *days = arg;
    days->events.landed(days->events.arg, glidein);
}

static void removal_was_asked(void *arg, struct sim_site *site, size_t count)
{
    struct days *days = arg;
    days->events.removing(days->events.arg, site, count);
}

static void glidein_moved(void *arg, struct farm_glidein *glidein, enum site_state from)
{
    struct days *days = arg;
    days->events.moved(days->events.arg, glidein, from);
}

/* ---- the story --------------------------------------------------------------------------------*/

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
    days->base = sim_strdup(sim_file_get(central, CONFIG, NULL));
    days->base[days->base_length] = '\0';
    factory_truth_begin(days->truth, sim, judge, days->farm);
    farm_add_hosts(days->farm, central, days->limits.pool_max + SPARE);
    put_bundle(central);
    for (size_t i = 0; i < farm_site_count(days->farm); i++) {
        (void)snprintf(path, sizeof(path), "/sim/sites/%s", farm_site_at(days->farm, i)->name);
        sim_program_put(central, path, days->program.name);
    }
    sim_tree_sync_all(central);
    (void)sim_at(sim, sim->now_us + LOOK_US, look_around, days);
    if (!days->options.calm) {
        (void)sim_at(sim, dawn_us, do_damage, days);
    }
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

static void log_line(void *arg, struct sim_process *process, const char *line, size_t length)
{
    struct days *days = arg;
    if (runs_program(process, "roost-factory")) {
        factory_truth_log_line(days->truth, line, length);
    }
}

static void offline_seen(void *arg, uint64_t began_us, struct ad *const *ads, size_t count)
{
    struct days *days = arg;
    factory_truth_offline(days->truth, began_us, ads, count);
}

static void sim_is_there(void *arg, struct sim *sim)
{
    struct days *days = arg;
    const struct sim_observer observer = {.process_ended = process_ended,
                                          .power_changed = power_changed,
                                          .log_line = log_line,
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
    days.is_out = sim_alloc((options->sites + 1) * sizeof(bool));
    days.pause_us = random_between(&days, 20, 150) * SIM_S;
    const struct factory_truth_options truth = {.jobs = options->jobs,
                                                .site_of_job = days.site_of_job,
                                                .cpus_of_job = days.cpus_of_job,
                                                .limits = days.limits};
    const struct farm_events events = {.asked = site_was_asked,
                                       .landed = glidein_landed,
                                       .moved = glidein_moved,
                                       .removing = removal_was_asked,
                                       .arg = &days};
    days.truth = factory_truth_create(&truth);
    factory_truth_listen(days.truth, &days.events);
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
                                     .offline_seen = offline_seen,
                                     .arg = &days};
    const struct pool_options pool = {.seed = options->seed,
                                      .jobs = options->jobs,
                                      .chaos = !options->calm,
                                      .trace = options->trace,
                                      .pause_s = options->pause_s,
                                      .batches = batches,
                                      .batch_count = days.batches.count,
                                      .helper = &days.program,
                                      .story = &story,
                                      .begins = sim_is_there,
                                      .arg = &days};
    pool_run(&pool, ret);
    int length = snprintf(ret->figures, sizeof(ret->figures),
                          "kills %u, strikes %u, sections %u, orphans %u, ", days.kills,
                          days.strikes, days.sections, days.orphans);
    factory_truth_figures(days.truth, ret->figures + length, sizeof(ret->figures) - (size_t)length);
    vec_fini(&days.batches, free_batch);
    sim_free(batches);
    sim_free(days.site_of_job);
    sim_free(days.cpus_of_job);
    sim_free(days.removed);
    sim_free(days.is_out);
    sim_free(days.base);
    farm_destroy(days.farm);
    factory_truth_destroy(days.truth);
}
