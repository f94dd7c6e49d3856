/* sim/power_days.c - see power_days.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/power_days.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "sim/check.h"
#include "sim/client.h"
#include "sim/operator.h"
#include "sim/power_truth.h"
#include "sim/sim_private.h"

#define SECURITY    "/etc/roost/security"
#define HOUR_S      UINT64_C(3600)
#define STATIC_CPUS 2
#define WHOLE_CPUS  4
/* before the end of the days: then jobs for all machines come */
#define LAST_S     3600
#define LAST_JOB_S 1500 /* length of these jobs: longer than a quarantine and a wake */
/* after the last jobs came; then the report of states is asked for */
#define STATES_S 1300
#define CALM_S   14400
#define AUDIT_S  1800
/* the operator switches machines on by name this often */
#define PATROL_S       1800
#define BATCH_MAX      500
#define BATCHES_MAX    4096
#define JOB_MIN_S      60
#define JOB_MAX_S      1800
#define STORM_JOB_S    240 /* length of the jobs before all machines are told to sleep */
#define STORM_WAIT_S   90  /* within this time most of these jobs have ended */
#define ASLEEP_W       5.0
#define IDLE_W         60.0
#define BUSY_W         150.0
#define STRIKE_S       600 /* how long a kill waits for machines that are booting */
#define ROOSTER_LOOK_S 300
/* longest time that a machine shuts down after its processes have ended */
#define STOP_MAX_MS 60000
/* seconds that a failed wake may cost in the report: one deadline, and the hang before it */
#define FAILED_WAKE_S 1800

static const char CENTRAL_CONFIG[] = "ROOSTER_ASLEEP_WATTS = 5\n"
                                     "ROOSTER_IDLE_WATTS = 60\n"
                                     "ROOSTER_BUSY_WATTS = 150\n"
                                     "ROOSTER_WAKE_DEADLINE_MAX = \"8m\"\n"
                                     "ROOSTER_QUARANTINE = \"5m\"\n"
                                     "ROOSTER_QUARANTINE_MAX = \"10m\"\n"
                                     /* each wrong clock makes a day */
                                     "ROOSTER_ENERGY_DAYS = 4000\n";
static const char SLEEP_CONFIG[] = "HIBERNATE = \"ifThenElse(State == \\\"Unclaimed\\\" && "
                                   "CurrentTime - EnteredCurrentState > 180, "
                                   "\\\"S5\\\", \\\"NONE\\\")\"\n";
/* They mean the same, but need the negotiator's word on the queue. */
static const char QUEUE_CONFIG[] = "HIBERNATE = \"ifThenElse(State == \\\"Unclaimed\\\" && "
                                   "CurrentTime - EnteredCurrentState > 180 && "
                                   "MatchingIdleJobs < 1, \\\"S5\\\", \\\"NONE\\\")\"\n"
                                   "UNHIBERNATE = \"MachineLastMatchTime =!= undefined && "
                                   "MatchingIdleJobs > 0\"\n";
static const char STATIC_CONFIG[] = "NUM_SLOTS = 1\n";
static const char WHOLE_CONFIG[] = "NUM_SLOTS_TYPE_1 = 1\n"
                                   "SLOT_TYPE_1 = \"100%\"\n"
                                   "SLOT_TYPE_1_PARTITIONABLE = true\n";
/* A wrong configuration: refuses jobs in the first minutes after boot, and sleeps in the first. */
static const char NAPS_CONFIG[] = "START = \"CurrentTime - BootTime > 180\"\n"
                                  "HIBERNATE = \"ifThenElse(State == \\\"Claimed\\\", "
                                  "\\\"NONE\\\", \\\"S5\\\")\"\n";

struct strike { /* a daemon of the central machine is killed while machines are booting */
    struct days *days;
    const char *program;
    uint64_t until_us;
    bool now; /* kill even if no machine is booting */
};

struct days {
    struct power_days_options options;
    struct rng rng; /* used only by this story */
    struct sim *sim;
    struct judge *judge;
    struct power_truth *truth;
    struct operator operator;
    struct sim_program program;
    struct client_batch *batches;
    unsigned char *classes;
    unsigned *dead_at_s; /* for each machine, seconds after the begin of the story */
    size_t batch_count;
    unsigned jobs, last_job;
    uint64_t dawn_us, storm_s, last_s;
    bool stormed, asked;
    unsigned kills, energies, buttons;
    unsigned limit, reserve; /* settings of the guards, chosen by the seed; 0: none */
};

static void strike_machine(void *arg);

static uint64_t random_between(struct days *days, uint64_t low, uint64_t high)
{
    return low + rng_below(&days->rng, high - low + 1);
}

static bool by_chance(struct days *days, unsigned per_mille)
{
    return rng_below(&days->rng, 1000) < per_mille;
}

/* ---- the machines ---- */

static bool is_whole(unsigned number)
{
    return number % 3 == 1;
}

static enum power_kind kind_by_seed(struct days *days, unsigned bad_per_mille)
{
    if (!by_chance(days, bad_per_mille)) {
        return POWER_KIND_GOOD;
    }
    return (enum power_kind)random_between(days, POWER_KIND_GOOD + 1, POWER_KIND_COUNT - 1);
}

static struct sim_temper temper_of(struct days *days, enum power_kind kind)
{
    switch (kind) {
    case POWER_KIND_LATE:
        return (struct sim_temper){.boots_late = 400, .late_max_us = 2400 * SIM_S};
    case POWER_KIND_CRASHES:
        return (struct sim_temper){.crashes = 300,
                                   .crash_max_us = random_between(days, 20, 3600) * SIM_S};
    case POWER_KIND_LIES:
        return (struct sim_temper){.wake_lies = 300, .sleep_lies = 200, .status_lies = 700};
    case POWER_KIND_FAILS:
        return (struct sim_temper){.wake_fails = 400, .sleep_fails = 300};
    case POWER_KIND_LESS:
        return (struct sim_temper){.boots_less = 300};
    case POWER_KIND_GOOD:
    case POWER_KIND_DEAD: /* from its hour on */
    case POWER_KIND_NAPS: /* by its configuration */
    case POWER_KIND_COUNT:
        break;
    }
    return (struct sim_temper){0};
}

static void central_config(void *arg, struct strbuf *config)
{
    const struct days *days = arg;
    strbuf_puts(config, CENTRAL_CONFIG);
    if (days->limit > 0) {
        strbuf_printf(config,
                      "ROOSTER_MAX_WAKES_PER_MINUTE = %u\nROOSTER_MAX_SLEEPS_PER_MINUTE = %u\n",
                      days->limit, days->limit);
    }
    if (days->reserve > 0) {
        strbuf_printf(config, "ROOSTER_RESERVE = \"%u\"\n", days->reserve);
    }
}

static void configure_node(void *arg, unsigned number, struct sim_host_options *host,
                           struct strbuf *config)
{
    struct days *days = arg;
    host->cpus = is_whole(number) ? WHOLE_CPUS : STATIC_CPUS;
    host->stop_max_ms = STOP_MAX_MS;
    strbuf_puts(config, is_whole(number) ? WHOLE_CONFIG : STATIC_CONFIG);
    strbuf_puts(config, days->options.queue ? QUEUE_CONFIG : SLEEP_CONFIG);
    strbuf_puts(config, "POLLING_INTERVAL = 30\n"); /* nobody sits at these machines */
    if (number % 4 == 0) {                          /* the rooster takes it down */
        strbuf_puts(config, "POWER_METHOD = rooster\n");
    }
    if (power_truth_kind_of(days->truth, number) == POWER_KIND_NAPS) {
        strbuf_puts(config, NAPS_CONFIG);
    }
}

static void choose_kinds(struct days *days)
{
    static const unsigned BAD[] = {30, 100, 200, 400};
    unsigned bad = BAD[random_between(days, 0, ARRAY_COUNT(BAD) - 1)];
    for (unsigned i = 1; i <= days->options.nodes; i++) {
        power_truth_kind(days->truth, i, kind_by_seed(days, bad), is_whole(i));
        days->dead_at_s[i - 1] = (unsigned)random_between(days, 0, days->last_s * 2 / 3);
    }
}

/* ---- the work ---- */

static void add_jobs(struct days *days, uint64_t at_s, unsigned count, enum power_class class,
                     unsigned cpus, unsigned min_s, unsigned max_s)
{
    static const char *const MACHINES[POWER_CLASSES] = {
        [POWER_ANY] = NULL,
        [POWER_STATIC] = "TARGET.PartitionableSlot =!= true",
        [POWER_WHOLE] = "TARGET.PartitionableSlot =?= true || TARGET.DynamicSlot =?= true"};
    days->classes = sim_realloc(days->classes, days->jobs + count + 1);
    memset(days->classes + days->jobs, (int)class, count);
    while (count > 0) {
        CHECK(days->batch_count < BATCHES_MAX);
        struct client_batch *batch = &days->batches[days->batch_count++];
        batch->at_us = at_s * SIM_S;
        batch->first = days->jobs;
        batch->count = count < BATCH_MAX ? count : BATCH_MAX;
        batch->cpus = cpus;
        batch->machines = MACHINES[class];
        batch->seconds = sim_alloc(batch->count * sizeof(unsigned));
        for (unsigned i = 0; i < batch->count; i++) {
            batch->seconds[i] = (unsigned)random_between(days, min_s, max_s);
        }
        days->jobs += batch->count;
        count -= batch->count;
    }
}

static void add_burst(struct days *days, uint64_t at_s, unsigned count)
{
    unsigned longest = (unsigned)random_between(days, JOB_MIN_S * 2, JOB_MAX_S);
    if (by_chance(days, 300)) {
        add_jobs(days, at_s, count / 2, POWER_WHOLE, (unsigned)random_between(days, 3, WHOLE_CPUS),
                 JOB_MIN_S, longest);
    } else {
        enum power_class class = by_chance(days, 300) ? POWER_STATIC : POWER_ANY;
        add_jobs(days, at_s, count, class, (unsigned)random_between(days, 1, STATIC_CPUS),
                 JOB_MIN_S, longest);
    }
}

static void plan_work(struct days *days)
{
    unsigned nodes = days->options.nodes, whole = (nodes + 2) / 3;
    days->batches = sim_alloc(BATCHES_MAX * sizeof(*days->batches));
    for (uint64_t at_s = random_between(days, 60, HOUR_S); at_s < days->last_s;
         at_s += random_between(days, HOUR_S / 2, 4 * HOUR_S)) {
        /* What runs long before the order to sleep, or right after it, is in its way. */
        if (at_s + JOB_MAX_S < days->storm_s || at_s > days->storm_s + STORM_JOB_S * 3) {
            add_burst(days, at_s, (unsigned)random_between(days, 1, nodes / 4 + 1));
        }
    }
    unsigned singles = nodes / 20 + 10;
    for (unsigned i = 0; i < singles; i++) {
        add_burst(days, random_between(days, 60, days->last_s - 60), 2);
    }
    add_jobs(days, days->storm_s, nodes * 6 / 10, POWER_STATIC, 1, STORM_JOB_S, STORM_JOB_S + 20);
    days->last_job = days->jobs;
    add_jobs(days, days->last_s, whole, POWER_WHOLE, WHOLE_CPUS, LAST_JOB_S, LAST_JOB_S);
    add_jobs(days, days->last_s, nodes - whole, POWER_STATIC, STATIC_CPUS, LAST_JOB_S, LAST_JOB_S);
}

/* ---- damage to the central machine ---- */

static bool runs_program(const struct sim_process *process, const void *program)
{
    return strcmp(process->program->name, program) == 0;
}

static struct sim_process *find_central(struct sim *sim, const char *program)
{
    return sim_process_first(&sim_host_at(sim, 0)->processes, runs_program, program);
}

static bool any_boots(const struct days *days)
{
    for (unsigned i = 1; i <= days->options.nodes; i++) {
        if (sim_host_at(days->sim, i)->power == SIM_HOST_BOOTING) {
            return true;
        }
    }
    return false;
}

static void strike_machine(void *arg)
{
    struct strike *this = arg;
    struct days *days = this->days;
    struct sim *sim = days->sim;
    bool ready = this->now || any_boots(days);
    if (!ready && sim->now_us < this->until_us) {
        (void)sim_at(sim, sim->now_us + random_between(days, SIM_S / 2, 4 * SIM_S), strike_machine,
                     this);
        return;
    }
    struct sim_process *process = ready ? find_central(sim, this->program) : NULL;
    if (process != NULL) {
        if (strcmp(this->program, "roost-rooster") == 0) {
            power_truth_rooster_died(days->truth);
        }
        days->kills++;
        sim_kill(process);
    }
    sim_free(this);
}

static void add_strike(struct days *days, const char *program, uint64_t at_us, bool now)
{
    struct strike *one = sim_alloc(sizeof(*one));
    *one = (struct strike){days, program, at_us + STRIKE_S * SIM_S, now};
    (void)sim_at(days->sim, at_us, strike_machine, one);
}

static void plan_strikes(struct days *days)
{
    static const char *const PROGRAMS[] = {"roost-collector", "roost-rooster",    "roost-collector",
                                           "roost-rooster",   "roost-negotiator", "roost-schedd"};
    unsigned count =
        2 + (unsigned)random_between(days, days->options.hours / 4, days->options.hours / 2);
    for (unsigned i = 0; i < count; i++) {
        uint64_t at_us = days->dawn_us + random_between(days, 0, days->last_s + HOUR_S / 2) * SIM_S;
        add_strike(days, PROGRAMS[random_between(days, 0, ARRAY_COUNT(PROGRAMS) - 1)], at_us,
                   false);
    }
}

/* ---- the operator ---- */

static void order_answered(void *arg, const char *name, int status, struct ad *const *ads,
                           size_t count)
{
    struct days *days = arg;
    const char *result = count > 0 ? ad_string_or(ads[0], "Result", "?") : "?";
    sim_trace(days->sim, NULL, "operator: %s on: %d %s", name, status, result);
}

static void told_to_sleep(void *arg, const char *name, int status, struct ad *const *ads,
                          size_t count)
{
    struct days *days = arg;
    (void)ads;
    (void)count;
    sim_trace(days->sim, NULL, "operator: %s sleep: %d", name, status);
    power_truth_slept(days->truth, name, status);
}

static void told_states(void *arg, const char *name, int status, struct ad *const *ads,
                        size_t count)
{
    struct days *days = arg;
    (void)name;
    if (status == 0) {
        power_truth_states(days->truth, ads, count);
    }
}

static void told_energy(void *arg, const char *name, int status, struct ad *const *ads,
                        size_t count)
{
    struct days *days = arg;
    days->energies++;
    if (status == 0) {
        power_truth_energy(days->truth, strcmp(name, "User") == 0, ads, count);
    }
}

static void give_task(struct days *days, enum operator_what what, const char *name,
                      operator_answer_f answered)
{
    struct operator_task task = {.what = what,
                                 .until_us = days->sim->now_us + 600 * SIM_S,
                                 .answered = answered,
                                 .arg = days};
    (void)snprintf(task.name, sizeof(task.name), "%s", name);
    operator_add(&days->operator, & task);
}

/* The operator switches on by name, now and then, a machine that somebody wants.  Nobody looks for
 * machines that vanished: jobs must bring them back. */
static void patrol_machines(void *arg)
{
    struct days *days = arg;
    uint64_t now_us = days->sim->now_us, last_us = days->dawn_us + days->last_s * SIM_S;
    for (unsigned i = 1; i <= days->options.nodes; i++) {
        const struct sim_host *host = sim_host_at(days->sim, i);
        if (rng_below(&days->rng, days->options.nodes) == 0) {
            power_truth_order(days->truth, host);
            give_task(days, by_chance(days, 500) ? OPERATOR_ON : OPERATOR_TEST, host->name,
                      order_answered);
        }
    }
    if (now_us + PATROL_S * SIM_S < last_us) {
        (void)sim_at(days->sim, now_us + PATROL_S * SIM_S, patrol_machines, days);
    }
}

/* ---- the people who sit at the machines ---- */

/* Somebody presses the button of a machine: it shuts down in order, or the button was held down and
 * it is off at once; or it was off, and is switched on by hand. */
static void press_button(void *arg)
{
    struct days *days = arg;
    struct sim_host *host = NULL;
    for (int i = 0; i < 8 && (host == NULL || host->power != SIM_HOST_ON); i++) {
        unsigned number = (unsigned)random_between(days, 1, days->options.nodes);
        host = sim_host_at(days->sim, number); /* most are off: prefers one that is on */
    }
    days->buttons++;
    if (host->power == SIM_HOST_ON && by_chance(days, 500)) {
        sim_trace(days->sim, NULL, "somebody shuts %s down", host->name);
        power_truth_button(days->truth, host);
        sim_host_shut_down(host);
    } else if (host->power == SIM_HOST_ON) {
        sim_trace(days->sim, NULL, "somebody holds the button of %s down", host->name);
        power_truth_button(days->truth, host);
        sim_host_power_cut(host);
    } else if (host->power == SIM_HOST_OFF && by_chance(days, 300)) {
        sim_trace(days->sim, NULL, "somebody switches %s on", host->name);
        power_truth_button(days->truth, host);
        sim_host_boot(host);
    }
}

static void plan_buttons(struct days *days)
{
    uint64_t count = days->options.hours * days->options.nodes / 2;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at_s = random_between(days, 0, days->last_s);
        (void)sim_at(days->sim, days->dawn_us + at_s * SIM_S, press_button, days);
    }
}

/* Many machines are on and their jobs are done: tells all of them to sleep. */
static void begin_storm(void *arg)
{
    struct days *days = arg;
    uint64_t now_us = days->sim->now_us, began_us = days->dawn_us + days->storm_s * SIM_S;
    unsigned on = power_truth_on(days->truth);
    /* A few late jobs are not waited for for ever. */
    bool late = now_us - began_us > (STORM_JOB_S + STORM_WAIT_S) * SIM_S;
    unsigned most = late ? on / 4 : on / 20;
    bool idle = now_us - began_us > STORM_JOB_S * SIM_S && judge_waiting(days->judge) <= most &&
                power_truth_running(days->truth) <= most;
    if (idle && on >= days->options.nodes * 3 / 10 && !days->stormed) {
        days->stormed = true;
        sim_trace(days->sim, NULL, "operator: %u machines are on: all are to sleep", on);
        for (unsigned i = 1; i <= days->options.nodes; i++) {
            give_task(days, OPERATOR_SLEEP, sim_host_at(days->sim, i)->name, told_to_sleep);
        }
        if (by_chance(days, 400)) { /* in the middle of it */
            add_strike(days, by_chance(days, 500) ? "roost-collector" : "roost-rooster",
                       now_us + random_between(days, SIM_S / 2, 5 * SIM_S), true);
        }
    }
    if (!days->stormed && now_us - began_us < HOUR_S / 2 * SIM_S) {
        (void)sim_at(days->sim, now_us + SIM_S, begin_storm, days);
    }
}

static void ask_states(void *arg)
{
    give_task(arg, OPERATOR_STATES, "", told_states);
}

/* ---- the story ---- */

static void kill_host(void *arg)
{
    struct sim_host *host = arg;
    const struct sim_temper dead = {.is_dead = true};
    sim_host_temper(host, &dead);
}

static void heal_machines(void *arg)
{
    struct days *days = arg;
    static const struct sim_temper SOUND = {0};
    for (unsigned i = 1; i <= days->options.nodes; i++) {
        if (power_truth_kind_of(days->truth, i) != POWER_KIND_DEAD) {
            sim_host_temper(sim_host_at(days->sim, i), &SOUND);
        }
    }
    power_truth_last(days->truth);
    sim_trace(days->sim, NULL, "what can be repaired is");
}

static void call_at(struct days *days, uint64_t s, void (*call)(void *arg), void *arg)
{
    (void)sim_at(days->sim, days->dawn_us + s * SIM_S, call, arg);
}

static void give_tempers(void *arg)
{
    struct days *days = arg;
    for (unsigned i = 1; i <= days->options.nodes; i++) {
        struct sim_host *host = sim_host_at(days->sim, i);
        enum power_kind kind = power_truth_kind_of(days->truth, i);
        const struct sim_temper temper = temper_of(days, kind);
        sim_host_temper(host, &temper);
        if (kind == POWER_KIND_DEAD) {
            call_at(days, days->dead_at_s[i - 1], kill_host, host);
        }
    }
}

static void story_begins(void *arg, struct sim *sim, struct judge *judge, uint64_t dawn_us)
{
    struct days *days = arg;
    CHECK(sim == days->sim);
    days->judge = judge;
    days->dawn_us = dawn_us;
    power_truth_begin(days->truth, sim, judge);
    call_at(days, 0, give_tempers, days);
    call_at(days, PATROL_S, patrol_machines, days);
    call_at(days, days->storm_s, begin_storm, days);
    call_at(days, days->last_s - 30, heal_machines, days);
    call_at(days, days->last_s + STATES_S, ask_states, days);
    plan_strikes(days);
    plan_buttons(days);
}

static void sim_is_there(void *arg, struct sim *sim)
{
    struct days *days = arg;
    struct sim_observer observer;
    days->sim = sim;
    power_truth_observe(days->truth, &observer);
    sim_observe(sim, &observer);
}

/* Asks for the report when all is quiet. */
static bool story_is_over(void *arg)
{
    struct days *days = arg;
    if (!days->asked) {
        days->asked = true;
        give_task(days, OPERATOR_ENERGY, "Node", told_energy);
        give_task(days, OPERATOR_ENERGY, "User", told_energy);
    }
    return days->energies == 2;
}

static void story_ends(void *arg)
{
    struct days *days = arg;
    power_truth_finish(days->truth);
}

static bool is_ordered(void *arg, const struct sim_host *host)
{
    const struct days *days = arg;
    return power_truth_is_ordered(days->truth, host);
}

void power_days_run(const struct power_days_options *options, struct pool_result *ret)
{
    struct days days = {.options = *options,
                        .operator= {.collector_address = "tcp:cm:9618",
                                    .token_path = SECURITY "/tokens/USER",
                                    .ca_path = SECURITY "/ca.pem",
                                    .keys_path = SECURITY "/keys"} };
    CHECK(options->hours >= POWER_HOURS_MIN);
    rng_seed(&days.rng, options->seed ^ UINT64_C(0x632be59bd9b4e019));
    days.limit = by_chance(&days, 250) ? options->nodes / 5 + 3 : 0;
    days.reserve = by_chance(&days, 250) ? options->nodes / 20 + 1 : 0;
    const struct pool_story story = {.awake_max = days.reserve,
                                     .clocks = true,
                                     .day_s = options->hours * HOUR_S,
                                     .calm_s = CALM_S,
                                     .audit_s = AUDIT_S,
                                     .central = central_config,
                                     .node = configure_node,
                                     .begins = story_begins,
                                     .is_over = story_is_over,
                                     .ends = story_ends,
                                     .is_ordered = is_ordered,
                                     .arg = &days};
    days.last_s = options->hours * HOUR_S - LAST_S;
    days.storm_s = random_between(&days, days.last_s / 4, days.last_s / 2);
    days.dead_at_s = sim_alloc((options->nodes + 1) * sizeof(unsigned));
    plan_work(&days);
    const struct power_truth_options truth_options = {.nodes = options->nodes,
                                                      .jobs = days.jobs,
                                                      .last_job = days.last_job,
                                                      .classes = days.classes,
                                                      .reserve = days.reserve,
                                                      .attempts_max = 3,
                                                      .wakes_max = days.limit,
                                                      .sleeps_max = days.limit,
                                                      .asleep_w = ASLEEP_W,
                                                      .idle_w = IDLE_W,
                                                      .busy_w = BUSY_W,
                                                      .failed_wake_max_s = FAILED_WAKE_S,
                                                      .flush_s = ROOSTER_LOOK_S + 60};
    days.truth = power_truth_create(&truth_options);
    choose_kinds(&days);
    operator_program(&days.program, &days.operator);
    const struct pool_options pool = {.seed = options->seed,
                                      .nodes = options->nodes,
                                      .jobs = days.jobs,
                                      .trace = options->trace,
                                      .batches = days.batches,
                                      .batch_count = days.batch_count,
                                      .story = &story,
                                      .program = &days.program,
                                      .begins = sim_is_there,
                                      .arg = &days};
    pool_run(&pool, ret);
    int length =
        snprintf(ret->figures, sizeof(ret->figures), "reserve %u, limit %u, kills %u, buttons %u, ",
                 days.reserve, days.limit, days.kills, days.buttons);
    power_truth_figures(days.truth, ret->figures + length, sizeof(ret->figures) - (size_t)length);
    for (size_t i = 0; i < days.batch_count; i++) {
        sim_free(days.batches[i].seconds);
    }
    sim_free(days.batches);
    sim_free(days.classes);
    sim_free(days.dead_at_s);
    operator_fini(&days.operator);
    power_truth_destroy(days.truth);
}
