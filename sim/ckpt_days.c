/* sim/ckpt_days.c - see ckpt_days.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/ckpt_days.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/strbuf.h"
#include "sim/check.h"
#include "sim/ckpt_truth.h"
#include "sim/client.h"
#include "sim/sim_private.h"
#include "sim/steward.h"
#include "sim/work_sim.h"

#define SECURITY     "/etc/roost/security"
#define CKPT_PROGRAM "/usr/sbin/roost-ckpt"
#define DAY_S        1200
#define CALM_S       14400
#define AUDIT_S      30
/* a last job then runs, so that its shadow finds what other runs left */
#define LAST_S         (DAY_S + 600)
#define REPAIR_S       60
#define STRIKE_S       60 /* how long a kill waits for its process */
#define BATCH_MAX      6
#define JOB_MIN_S      60
#define JOB_MAX_S      420
#define BATCHES_MAX    256
#define INTERVAL_MIN_S 15
#define INTERVAL_MAX_S 45
/* longest time for making and sending an image, when a dump must be repeated and looked at twice */
#define TAKES_MAX_S 40

enum mood {
    MOOD_EVICTIONS, /* only evictions */
    MOOD_TROUBLES,  /* evictions, and sometimes the submit host or the way to it fails */
    MOOD_CHAOS,
    MOODS
};

struct days {
    struct ckpt_days_options options;
    struct rng rng; /* used only by this story */
    struct sim *sim;
    struct judge *judge;
    struct ckpt_truth *truth;
    struct steward steward;
    struct sim_program program;
    enum mood mood;
    struct client_batch *batches;
    size_t batch_count;
    unsigned *seconds;
    bool *touched; /* jobs on which the steward has acted */
    unsigned jobs;
    uint64_t dawn_us, pause_us;
    unsigned owners, kills, cuts, fills, stands, troubles;
};

static uint64_t random_between(struct days *days, uint64_t low, uint64_t high)
{
    return low + rng_below(&days->rng, high - low + 1);
}

static bool by_chance(struct days *days, unsigned per_mille)
{
    return rng_below(&days->rng, 1000) < per_mille;
}

/* ---- machines -------------------------------------------------------------------------------- */

static void configure_node(void *arg, unsigned number, struct sim_host_options *host,
                           struct strbuf *config)
{
    struct days *days = arg;
    static const char *const RATES[] = {"0", "400000", "100000"}; /* a large one: 25 s */
    host->cpus = number % 3 == 1 ? 4 : 2;
    strbuf_puts(config, number % 3 == 1 ? "NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = \"100%\"\n"
                                          "SLOT_TYPE_1_PARTITIONABLE = true\n"
                                        : "NUM_SLOTS = 2\n");
    strbuf_puts(config, "START = \"Offline =?= true || KeyboardIdle > 40\"\n"
                        "SUSPEND = \"KeyboardIdle < 10\"\n"
                        "CONTINUE = \"KeyboardIdle > 15\"\n"
                        "POLLING_INTERVAL = 5\n"
                        "CHECKPOINT_TIMEOUT = \"20s\"\n");
    strbuf_printf(config,
                  "PREEMPT = \"Activity == \\\"Suspended\\\" && CurrentTime - "
                  "EnteredCurrentActivity > %u\"\n",
                  (unsigned)random_between(days, 0, 30));
    strbuf_printf(config, "MACHINEMAXVACATETIME = %u\n", (unsigned)random_between(days, 1, 40));
    strbuf_printf(config, "CHECKPOINT_INTERVAL_MIN = \"%us\"\nCHECKPOINT_INTERVAL_MAX = \"%us\"\n",
                  INTERVAL_MIN_S, INTERVAL_MAX_S);
    strbuf_printf(config, "CHECKPOINT_TRANSFER_RATE = %s\n", RATES[random_between(days, 0, 2)]);
    strbuf_printf(config, "CHECKPOINT_INCREMENTAL = %s\n", by_chance(days, 800) ? "true" : "false");
}

static void central_config(void *arg, struct strbuf *config)
{
    (void)arg;
    /* Nobody loses patience: after a boot of the submit host, how long a job has waited is what the
     * clock says, and that is believed up to a year. */
    strbuf_puts(config, "CHECKPOINT_PATIENCE = 0\n"
                        "ROOSTER_WAKE_DEADLINE_MAX = \"4m\"\n"
                        "ROOSTER_QUARANTINE = \"2m\"\n"
                        "ROOSTER_QUARANTINE_MAX = \"5m\"\n");
}

static void prepare_hosts(struct days *days)
{
    for (size_t i = 0; i < days->sim->host_count; i++) {
        struct sim_host *host = days->sim->hosts[i];
        struct sim_temper temper = {.dump_fails = by_chance(days, 500) ? 60 : 0,
                                    .dump_hangs =
                                        days->mood == MOOD_CHAOS && by_chance(days, 300) ? 40 : 0};
        sim_program_put(host, CKPT_PROGRAM, "roost-ckpt");
        sim_program_put(host, "/usr/bin/env", "env");
        sim_host_set_features(host, i % 2 == 0 ? "avx,sse" : "sse");
        sim_host_temper(host, &temper);
    }
}

/* ---- the work -------------------------------------------------------------------------------- */

static void add_batch(struct days *days, uint64_t at_s, unsigned count, unsigned min_s,
                      unsigned max_s)
{
    CHECK(days->batch_count < BATCHES_MAX);
    struct client_batch *batch = &days->batches[days->batch_count++];
    batch->at_us = at_s * SIM_S;
    batch->first = days->jobs;
    batch->count = count;
    batch->cpus = (unsigned)random_between(days, 1, 2);
    batch->checkpoints = true;
    batch->seconds = sim_alloc(count * sizeof(unsigned));
    for (unsigned i = 0; i < count; i++) {
        batch->seconds[i] =
            (unsigned)random_between(days, min_s / 2, max_s / 2) * 2; /* whole steps */
        days->seconds[days->jobs++] = batch->seconds[i];
    }
}

static void plan_work(struct days *days)
{
    unsigned left = days->options.jobs;
    days->batches = sim_alloc(BATCHES_MAX * sizeof(*days->batches));
    days->seconds = sim_alloc((left + 1) * sizeof(unsigned));
    days->touched = sim_alloc((left + 1) * sizeof(bool));
    while (left > 0) {
        unsigned count = (unsigned)random_between(days, 1, left < BATCH_MAX ? left : BATCH_MAX);
        add_batch(days, random_between(days, 0, DAY_S * 6 / 10), count, JOB_MIN_S, JOB_MAX_S);
        left -= count;
    }
    add_batch(days, LAST_S, 1, 30, 40);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static struct sim_host *any_node(struct days *days)
{
    struct sim_host *host = sim_host_at(days->sim, random_between(days, 1, days->options.nodes));
    return host->power == SIM_HOST_ON && host->suspended_until_us <= days->sim->now_us ? host
                                                                                       : NULL;
}

/* Kills the count-th process of these programs, on the central machine or on the others. */
static void kill_one(struct days *days, bool central, const char *const *programs)
{
    struct sim_process *found[64];
    size_t count = 0;
    const struct sim_link *head = &days->sim->processes;
    for (struct sim_link *at = head->next; at != head && count < ARRAY_COUNT(found);
         at = at->next) {
        struct sim_process *process = at->item;
        bool is_one = (process->host->index == 0) == central &&
                      process->host->suspended_until_us <= days->sim->now_us;
        for (size_t i = 0; programs[i] != NULL && is_one; i++) {
            if (strcmp(process->program->name, programs[i]) == 0) {
                found[count++] = process;
            }
        }
    }
    if (count > 0) {
        struct sim_process *process = found[rng_below(&days->rng, count)];
        days->kills++;
        if (by_chance(days, 300)) {
            sim_disk_kill(process, (unsigned)random_between(days, 1, 12));
        } else {
            sim_kill(process);
        }
    }
}

/* ---- killing a program beside a job ---- */

struct strike {
    struct days *days;
    const char *word; /* first argument of the roost-ckpt or env that is killed */
    uint64_t until_us, after_us;
};

static bool does_word(const struct sim_process *process, const void *word)
{
    const char *first = sim_process_arg(process, 1);
    bool is_one = process->program == &sim_program_ckpt || process->program == &sim_program_env;
    return is_one && first != NULL && strcmp(first, word) == 0;
}

static void strike_tick(void *arg)
{
    struct strike *strike = arg;
    struct days *days = strike->days;
    struct sim *sim = days->sim;
    struct sim_process *process = sim_process_first(&sim->processes, does_word, strike->word);
    bool is_awake = process != NULL && process->host->suspended_until_us <= sim->now_us;
    if (is_awake && strike->after_us == 0) {
        days->kills++;
        if (by_chance(days, 300)) {
            sim_disk_kill(process, (unsigned)random_between(days, 1, 6));
        } else {
            sim_kill(process);
        }
    }
    if ((is_awake && strike->after_us == 0) || sim->now_us > strike->until_us) {
        sim_free(strike);
        return;
    }
    uint64_t wait_us = random_between(days, 5, 60) * SIM_MS;
    wait_us = is_awake ? strike->after_us : wait_us;
    strike->after_us = is_awake ? 0 : strike->after_us;
    (void)sim_at(sim, sim->now_us + wait_us, strike_tick, strike);
}

/* Plans to kill a roost-ckpt as soon as one runs, or a little later. */
static void strike_ckpt(struct days *days)
{
    static const char *const WORDS[] = {"dump", "dump", "follow", "unpack", "info", "tar"};
    struct strike *strike = sim_alloc(sizeof(*strike));
    *strike = (struct strike){.days = days,
                              .word = WORDS[random_between(days, 0, ARRAY_COUNT(WORDS) - 1)],
                              .until_us = days->sim->now_us + STRIKE_S * SIM_S,
                              .after_us = random_between(days, 0, 200) * SIM_MS};
    strike_tick(strike);
}

/* ---- events, one after another ---- */

static void owner_leaves(void *arg)
{
    sim_host_owner(arg, false);
}

static void owner_comes(struct days *days, struct sim_host *host)
{
    if (!host->owner_is_there) {
        days->owners++;
        sim_host_owner(host, true);
        (void)sim_at(days->sim, days->sim->now_us + random_between(days, 3, 120) * SIM_S,
                     owner_leaves, host);
    }
}

/* Tries to switch the machine on until it is on. */
static void power_back(void *arg)
{
    struct sim_host *host = arg;
    if (host->power != SIM_HOST_ON) {
        sim_host_boot(host);
        (void)sim_at(host->sim, host->sim->now_us + REPAIR_S * SIM_S, power_back, host);
    }
}

static void one_eviction(struct days *days)
{
    static const char *const STARTER[] = {"roost-starter", NULL};
    static const char *const STARTD[] = {"roost-startd", "roost-master", NULL};
    struct sim_host *host = any_node(days);
    uint64_t what = random_between(days, 0, 99);
    if (host == NULL) {
        return;
    }
    if (what < 30 || days->options.calm) {
        owner_comes(days, host);
    } else if (what < 50) {
        kill_one(days, false, STARTER);
    } else if (what < 65) {
        strike_ckpt(days);
    } else if (what < 75) {
        kill_one(days, false, STARTD);
    } else if (what < 87) {
        days->cuts++;
        sim_host_power_cut(host);
        (void)sim_at(days->sim, days->sim->now_us + random_between(days, 5, 90) * SIM_S, power_back,
                     host);
    } else if (what < 94) {
        uint64_t for_us = random_between(days, 5, 60) * SIM_S;
        days->fills++;
        sim_disk_fill(host, for_us);
        ckpt_truth_trouble(days->truth, for_us);
    } else {
        uint64_t for_us = random_between(days, 2, 200) * SIM_S;
        days->stands++;
        sim_host_suspend(host, for_us);
        ckpt_truth_trouble(days->truth, for_us);
    }
}

static void one_trouble(struct days *days)
{
    static const char *const DAEMONS[] = {"roost-schedd",
                                          "roost-shadow",
                                          "roost-shadow",
                                          "roost-collector",
                                          "roost-master",
                                          "roost-negotiator",
                                          NULL};
    struct sim_host *central = sim_host_at(days->sim, 0), *host = any_node(days);
    uint64_t what = random_between(days, 0, 99), for_us = random_between(days, 1, 60) * SIM_S;
    days->troubles++;
    if (what < 60) {
        kill_one(days, true, DAEMONS);
        for_us = 0;
    } else if (what < 80 && host != NULL) {
        sim_link_cut(days->sim, central, host, for_us,
                     by_chance(days, 500) ? SIM_CUT_RESET : SIM_CUT_SILENT);
    } else if (what < 90) {
        sim_disk_fill(central, for_us);
    } else {
        sim_host_power_cut(central);
        power_back(central);
        for_us = 60 * SIM_S;
    }
    ckpt_truth_trouble(days->truth, for_us);
}

static void do_damage(void *arg)
{
    struct days *days = arg;
    uint64_t now_us = days->sim->now_us;
    if (now_us >= days->dawn_us + DAY_S * SIM_S) {
        return;
    }
    one_eviction(days);
    if (days->mood == MOOD_TROUBLES && by_chance(days, 60)) {
        one_trouble(days);
    }
    (void)sim_at(days->sim, now_us + random_between(days, SIM_S, days->pause_us), do_damage, days);
}

/* ---- the story ------------------------------------------------------------------------------- */

static void checkpoint_kept(void *arg, const char *id, int64_t sequence)
{
    struct days *days = arg;
    ckpt_truth_told(days->truth, id, sequence);
}

static void all_day(void *arg)
{
    const struct days *days = arg;
    ckpt_truth_trouble(days->truth, DAY_S * SIM_S);
}

static void story_begins(void *arg, struct sim *sim, struct judge *judge, uint64_t dawn_us)
{
    struct days *days = arg;
    days->judge = judge;
    days->dawn_us = dawn_us;
    days->steward.begin_us = dawn_us;
    days->steward.until_us = dawn_us + DAY_S * SIM_S;
    ckpt_truth_begin(days->truth, sim, judge);
    prepare_hosts(days);
    if (days->mood == MOOD_CHAOS) {
        (void)sim_at(sim, dawn_us, all_day, days);
    }
    (void)sim_at(sim, dawn_us, do_damage, days);
}

static void sim_is_there(void *arg, struct sim *sim)
{
    struct days *days = arg;
    struct sim_observer observer;
    days->sim = sim;
    ckpt_truth_observe(days->truth, &observer);
    sim_observe(sim, &observer);
}

static bool story_is_over(void *arg)
{
    const struct days *days = arg;
    return sim_now_us(days->sim) > days->dawn_us + (LAST_S + 300) * SIM_S;
}

static void story_ends(void *arg)
{
    const struct days *days = arg;
    ckpt_truth_finish(days->truth);
}

static bool is_output(void *arg, unsigned number, const char *text)
{
    const struct days *days = arg;
    return ckpt_truth_is_output(days->truth, number, text);
}

static bool is_taken_away(void *arg, unsigned number)
{
    const struct days *days = arg;
    return days->touched[number];
}

static void job_seen(void *arg, uint64_t began_us, unsigned number, const struct ad *ad)
{
    struct days *days = arg;
    ckpt_truth_seen(days->truth, began_us, number, ad);
}

static void tell_figures(const struct days *days, char *text, size_t size)
{
    static const char *const MOODS_NAMES[MOODS] = {"evictions", "troubles", "chaos"};
    const struct ckpt_figures *figures = ckpt_truth_figures(days->truth);
    (void)snprintf(
        text, size,
        "%s: owners %u, kills %u, power cuts %u, full disks %u, stands %u, troubles %u, "
        "vacated %u, held %u, drained %u; checkpoints made %u, of changes %u, kept %u, "
        "asked for %u, granted %u; starts %u, resumed %u, runs with loss %u, lost %.0f s, "
        "at most %.0f s",
        MOODS_NAMES[days->mood], days->owners, days->kills, days->cuts, days->fills, days->stands,
        days->troubles, days->steward.vacated, days->steward.held, days->steward.drained,
        figures->made, figures->deltas, figures->committed, days->steward.asked,
        days->steward.granted, figures->starts, figures->resumed, figures->lost_runs,
        (double)figures->lost_us / 1e6, (double)figures->worst_us / 1e6);
}

void ckpt_days_run(const struct ckpt_days_options *options, struct pool_result *ret)
{
    struct days days = {.options = *options,
                        .steward = {.schedd_socket = "unix:/var/lib/roost/spool/schedd.sock",
                                    .collector_address = "tcp:cm:9618",
                                    .token_path = SECURITY "/tokens/USER",
                                    .ca_path = SECURITY "/ca.pem",
                                    .keys_path = SECURITY "/keys",
                                    .nodes = options->nodes}};
    rng_seed(&days.rng, options->seed ^ UINT64_C(0x8e9d5aabc1f3b2d7));
    days.mood = options->calm ? MOOD_EVICTIONS : (enum mood)(options->seed % MOODS);
    days.pause_us = random_between(&days, 10, 60) * SIM_S;
    plan_work(&days);
    days.steward.jobs = days.jobs;
    days.steward.touched = days.touched;
    days.steward.checkpointed = checkpoint_kept;
    days.steward.arg = &days;
    const struct pool_story story = {.clocks = !options->calm,
                                     .day_s = DAY_S,
                                     .calm_s = CALM_S,
                                     .audit_s = AUDIT_S,
                                     .central = central_config,
                                     .node = configure_node,
                                     .begins = story_begins,
                                     .is_over = story_is_over,
                                     .ends = story_ends,
                                     .is_output = is_output,
                                     .job_seen = job_seen,
                                     .is_taken_away = is_taken_away,
                                     .arg = &days};
    const uint64_t loss_max_us = (INTERVAL_MAX_S + 2 * TAKES_MAX_S) * SIM_S;
    const struct ckpt_truth_options truth = {.jobs = days.jobs,
                                             .seconds = days.seconds,
                                             .loss_max_us =
                                                 days.mood == MOOD_CHAOS ? 0 : loss_max_us};
    days.truth = ckpt_truth_create(&truth);
    steward_program(&days.program, &days.steward);
    const struct pool_options pool = {.seed = options->seed,
                                      .nodes = options->nodes,
                                      .jobs = days.jobs,
                                      .chaos = days.mood == MOOD_CHAOS,
                                      .trace = options->trace,
                                      .batches = days.batches,
                                      .batch_count = days.batch_count,
                                      .story = &story,
                                      .program = &days.program,
                                      .tap = ckpt_truth_tap(days.truth),
                                      .begins = sim_is_there,
                                      .arg = &days};
    pool_run(&pool, ret);
    tell_figures(&days, ret->figures, sizeof(ret->figures));
    for (size_t i = 0; i < days.batch_count; i++) {
        sim_free(days.batches[i].seconds);
    }
    sim_free(days.batches);
    sim_free(days.seconds);
    sim_free(days.touched);
    ckpt_truth_destroy(days.truth);
}
