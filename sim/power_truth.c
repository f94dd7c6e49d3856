/* sim/power_truth.c - see power_truth.h.
 *
 * Energy: the report learns of a machine's state by its ads, a little late.  Each boot, each sleep,
 * each failed wake and each killed rooster may cost a limited number of seconds; these are added up
 * for each machine (slack_s).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/power_truth.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "classad/ad.h"
#include "sim/check.h"
#include "sim/sim_private.h"

#define ORDER_US (7200 * SIM_S)
#define SLEEP_US (150 * SIM_S) /* until a machine that was told to sleep is off */
/* A hold that its request does not need any more is given to another one negotiation cycle
 * later. */
#define SURPLUS_SPARE 1
#define AGAIN_US      (50 * SIM_S)  /* shorter than every deadline */
#define BOOTED_US     (600 * SIM_S) /* after this time, its wake is over */
/* a minute without the seconds between the permission and the order */
#define MINUTE_US     (55 * SIM_S)
#define SLACK_S       20.0
#define SLACK_BOOT_S  2.0
#define SLACK_SLEEP_S 2.0
#define SLACK_CRASH_S 1300.0 /* ads of a crashed machine stay so long */
#define J_PER_KWH     3.6e6
#define ROUNDING      1e-6

struct machine_truth {
    struct sim_host *host;
    enum power_kind kind;
    bool whole, was_up, served, left_alone, odd_state;
    unsigned cpus;
    uint64_t since_us; /* time of the last change of its power */
    uint64_t changed_us, woken_us;
    uint64_t pressed_us; /* when somebody pressed its button; 0: never */
    uint64_t up_us;      /* when it was on again */
    uint64_t ordered_until_us, asked_us, boot_us;
    unsigned stops, wakes, boots, crashes;
    double on_s, off_s, job_cpu_s, slack_s;
    double true_on_s;              /* seconds on, when the report was made */
    double told_on_s, told_busy_s; /* seconds on and seconds busy by the report */
    char state[64];
};

struct running {
    const struct sim_process *process;
    uint64_t since_us;
    unsigned machine, cpus;
};

#define LATELY_MAX 4096

struct lately { /* times of the last events of a kind */
    uint64_t at_us[LATELY_MAX];
    unsigned count;
};

struct power_truth {
    struct power_truth_options options;
    struct sim *sim;
    struct judge *judge;
    struct machine_truth *machines; /* index: the machine's number - 1 */
    struct running *running;
    size_t running_count, running_capacity;
    uint64_t *waited_us; /* for each job: when it was last seen waiting */
    struct lately woken, downs;
    uint64_t rooster_died_us;
    bool is_last;     /* the last jobs are coming, */
    uint64_t last_us; /* since then */
    unsigned on, wakes, by_name, slept, refused, unreachable, rooster_deaths;
    unsigned states_told, energies_told;
    double told_used, told_jobs, told_users, told_busy_s, told_on_s;
};

static const char *power_kind_name(enum power_kind kind)
{
    static const char *const NAMES[POWER_KIND_COUNT] = {"good",    "dead", "late",  "naps",
                                                        "crashes", "lies", "fails", "less"};
    return NAMES[kind];
}

struct power_truth *power_truth_create(const struct power_truth_options *options)
{
    struct power_truth *truth = sim_alloc(sizeof(*truth));
    truth->options = *options;
    truth->machines = sim_alloc((options->nodes + 1) * sizeof(*truth->machines));
    truth->waited_us = sim_alloc((options->jobs + 1) * sizeof(*truth->waited_us));
    return truth;
}

void power_truth_destroy(struct power_truth *truth)
{
    sim_free(truth->machines);
    sim_free(truth->waited_us);
    sim_free(truth->running);
    sim_free(truth);
}

/* Returns a machine's record.  Host 0 is the central machine. */
static struct machine_truth *machine_of(struct power_truth *truth, const struct sim_host *host)
{
    return host->index >= 1 && host->index <= truth->options.nodes
               ? &truth->machines[host->index - 1]
               : NULL;
}

static struct machine_truth *machine_named(struct power_truth *truth, const char *name)
{
    const struct sim_host *host = sim_host_find(truth->sim, name);
    return host != NULL ? machine_of(truth, host) : NULL;
}

/* ---- who waits ---- */

static bool class_fits(enum power_class class, const struct machine_truth *machine)
{
    return class == POWER_ANY || (class == POWER_WHOLE) == machine->whole;
}

/* Returns whether a job that fits this machine waited lately.  *waited: how many jobs waited
 * lately; *mixed: they are of more than one class. */
static bool is_matched(struct power_truth *truth, const struct machine_truth *machine,
                       unsigned *waited, bool *mixed)
{
    uint64_t now_us = truth->sim->now_us;
    bool matched = false, of_class[POWER_CLASSES] = {false};
    *waited = 0;
    for (unsigned i = 0; i < truth->options.jobs; i++) {
        if (judge_job_waits(truth->judge, i)) {
            truth->waited_us[i] = now_us;
        }
        uint64_t ago_us = truth->waited_us[i] == 0 ? UINT64_MAX : now_us - truth->waited_us[i];
        enum power_class class = (enum power_class)truth->options.classes[i];
        matched = matched || (ago_us <= WAKE_TOLERANCE_US && class_fits(class, machine));
        *waited += ago_us <= 2 * SURPLUS_US;
        of_class[class] = of_class[class] || ago_us <= 2 * SURPLUS_US;
    }
    *mixed = of_class[POWER_ANY] + of_class[POWER_STATIC] + of_class[POWER_WHOLE] > 1;
    return matched;
}

/* Counts the sound machines that were woken lately: if a machine does not come, one more is woken
 * for its job. */
static unsigned woken_lately(const struct power_truth *truth)
{
    unsigned count = 0;
    for (unsigned i = 0; i < truth->options.nodes; i++) {
        uint64_t asked_us = truth->machines[i].asked_us;
        count += asked_us != 0 && truth->machines[i].kind == POWER_KIND_GOOD &&
                 truth->sim->now_us - asked_us <= SURPLUS_US;
    }
    return count;
}

/* Adds an event and returns how many there were in the last minute. */
static unsigned add_lately(struct lately *lately, uint64_t now_us)
{
    unsigned count = 1;
    for (unsigned i = 1; i < LATELY_MAX && i <= lately->count; i++, count++) {
        if (now_us - lately->at_us[(lately->count - i) % LATELY_MAX] >= MINUTE_US) {
            break;
        }
    }
    lately->at_us[lately->count++ % LATELY_MAX] = now_us;
    return count;
}

/* Checks a limit.  A killed rooster may have given an order of which nobody heard, and the commands
 * take a moment. */
static void check_limit(struct power_truth *truth, unsigned count, unsigned most, const char *what)
{
    bool died =
        truth->rooster_died_us != 0 && truth->sim->now_us - truth->rooster_died_us < 2 * MINUTE_US;
    if (most > 0 && count > most && !died) {
        judge_broken(truth->judge, "over_the_limit: %u machines %s within a minute, %u may", count,
                     what, most);
    }
}

static bool is_job_or_starter(const struct sim_process *process, const void *arg)
{
    (void)arg;
    return process->program->timed || strcmp(process->program->name, "roost-starter") == 0;
}

static bool has_starter(const struct sim_host *host)
{
    return sim_process_first(&host->processes, is_job_or_starter, NULL) != NULL;
}

/* Returns whether the machines that are idle or booting are at most the reserve and a few more,
 * because jobs may have ended a moment ago. */
static bool is_reserve_short(const struct power_truth *truth)
{
    unsigned idle = 0, reserve = truth->options.reserve;
    for (unsigned i = 0; i < truth->options.nodes && reserve > 0; i++) {
        const struct sim_host *host = truth->machines[i].host;
        idle += host->power == SIM_HOST_ON && !has_starter(host);
    }
    return reserve > 0 && idle <= reserve + reserve / 2 + 2;
}

static void wake_asked(void *arg, struct sim_host *host)
{
    struct power_truth *truth = arg;
    struct machine_truth *machine = machine_of(truth, host);
    if (machine == NULL) {
        return;
    }
    truth->wakes++;
    machine->wakes++;
    if (machine->kind == POWER_KIND_GOOD && host->power == SIM_HOST_BOOTING &&
        truth->sim->now_us - machine->woken_us < AGAIN_US) {
        judge_broken(truth->judge, "wake_repeated: %s is on its way up, and woken again",
                     host->name);
    }
    bool was_used = machine->changed_us - machine->up_us > BOOTED_US; /* else: a wake goes on */
    if (machine->kind == POWER_KIND_GOOD && host->power == SIM_HOST_STOPPING && was_used) {
        judge_broken(truth->judge, "wake_too_early: %s is woken while it shuts down", host->name);
    }
    machine->woken_us = truth->sim->now_us;
    check_limit(truth, add_lately(&truth->woken, truth->sim->now_us), truth->options.wakes_max,
                "are woken");
    machine->slack_s +=
        (double)truth->options.failed_wake_max_s * (machine->kind == POWER_KIND_GOOD ? 0 : 1);
    if (power_truth_is_ordered(truth, host)) {
        return;
    }
    unsigned waited = 0;
    bool mixed = false;
    if (!is_matched(truth, machine, &waited, &mixed)) {
        judge_broken(truth->judge,
                     "wake_without_match: %s is woken, and no job waits that it could run",
                     host->name);
    }
    machine->asked_us = truth->sim->now_us;
    unsigned lately = woken_lately(truth);
    /* A job that fits everywhere may take the machine that another job's kind needs. */
    if (lately > waited + truth->options.reserve + SURPLUS_SPARE && !mixed) {
        judge_broken(truth->judge, "wake_surplus: %u machines are woken within %.0f s, for %u jobs",
                     lately, (double)SURPLUS_US / 1e6, waited);
    }
}

void power_truth_order(struct power_truth *truth, const struct sim_host *host)
{
    struct machine_truth *machine = machine_of(truth, host);
    machine->ordered_until_us = truth->sim->now_us + ORDER_US;
    truth->by_name++;
}

bool power_truth_is_ordered(const struct power_truth *truth, const struct sim_host *host)
{
    bool by_name = host->index >= 1 && host->index <= truth->options.nodes &&
                   truth->machines[host->index - 1].ordered_until_us > truth->sim->now_us;
    return by_name || is_reserve_short(truth);
}

/* ---- power ---- */

static void account_energy(struct power_truth *truth, struct machine_truth *machine, bool was_on)
{
    double seconds = (double)(truth->sim->now_us - machine->since_us) / 1e6;
    machine->since_us = truth->sim->now_us;
    if (machine->was_up && was_on) {
        machine->on_s += seconds;
    } else if (machine->was_up) {
        machine->off_s += seconds;
    }
}

/* Checks that no starter runs on a machine that goes to sleep.  A starter runs from before its
 * job's files come until they are removed. */
static void check_free(struct power_truth *truth, const struct sim_host *host)
{
    if (has_starter(host)) {
        judge_broken(truth->judge,
                     "off_while_claimed: %s goes down while a starter or job runs on it",
                     host->name);
    }
}

static void poweroff_asked(void *arg, struct sim_host *host)
{
    check_free(arg, host);
}

static void power_changed(void *arg, struct sim_host *host, enum sim_power was)
{
    struct power_truth *truth = arg;
    struct machine_truth *machine = machine_of(truth, host);
    if (truth->sim == NULL || machine == NULL || host->power == was) {
        return;
    }
    uint64_t changed_us = machine->changed_us; /* when it began to stop */
    machine->changed_us = was == SIM_HOST_ON ? truth->sim->now_us : changed_us;
    account_energy(truth, machine, was != SIM_HOST_OFF);
    if (host->power == SIM_HOST_STOPPING && machine->pressed_us == truth->sim->now_us) {
        /* people ask nobody */
        machine->slack_s += SLACK_CRASH_S;
    } else if (host->power == SIM_HOST_STOPPING) {
        check_free(truth, host);
        check_limit(truth, add_lately(&truth->downs, truth->sim->now_us), truth->options.sleeps_max,
                    "go down");
    }
    truth->on += host->power == SIM_HOST_ON;
    truth->on -= was == SIM_HOST_ON;
    if (host->power == SIM_HOST_BOOTING) {
        machine->boot_us = truth->sim->now_us;
    } else if (host->power == SIM_HOST_ON) {
        double took_s =
            machine->boot_us != 0 ? (double)(truth->sim->now_us - machine->boot_us) / 1e6 : 0;
        /* It was not there while the last jobs ran. */
        machine->served |= truth->is_last && machine->kind == POWER_KIND_LATE &&
                           machine->boot_us != 0 && machine->boot_us < truth->last_us;
        bool is_known = machine->kind == POWER_KIND_GOOD && machine->boot_us != machine->pressed_us;
        machine->slack_s += SLACK_BOOT_S + (is_known ? 0 : took_s);
        machine->boots++;
        machine->up_us = truth->sim->now_us;
        machine->was_up = true;
        machine->ordered_until_us = 0;
        machine->boot_us = 0;
    } else if (host->power == SIM_HOST_OFF) {
        machine->stops++;
        machine->slack_s += SLACK_SLEEP_S + (double)(truth->sim->now_us - changed_us) / 1e6;
    }
}

static void host_stops(void *arg, struct sim_host *host, bool orderly)
{
    struct machine_truth *machine = machine_of(arg, host);
    if (machine != NULL && !orderly) {
        machine->crashes++;
        machine->slack_s += SLACK_CRASH_S;
    }
}

void power_truth_button(struct power_truth *truth, const struct sim_host *host)
{
    struct machine_truth *machine = machine_of(truth, host);
    machine->pressed_us = truth->sim->now_us;
    machine->asked_us = 0; /* whoever it was woken for needs another one now */
}

void power_truth_last(struct power_truth *truth)
{
    truth->is_last = true;
    truth->last_us = truth->sim->now_us;
}

void power_truth_rooster_died(struct power_truth *truth)
{
    truth->rooster_deaths++;
    truth->rooster_died_us = truth->sim->now_us;
}

/* ---- jobs ---- */

static unsigned job_number(const char *key)
{
    int64_t number = -1;
    return text_parse_int64(key, &number, NULL) == 0 && number >= 0 ? (unsigned)number : UINT32_MAX;
}

static unsigned cpus_of(const struct sim_process *process)
{
    static const char NAME[] = "OMP_NUM_THREADS=";
    int64_t cpus = 1;
    for (size_t i = 0; process->env[i] != NULL; i++) {
        if (strncmp(process->env[i], NAME, sizeof(NAME) - 1) == 0) {
            (void)text_parse_int64(process->env[i] + sizeof(NAME) - 1, &cpus, NULL); /* else 1 */
        }
    }
    return (unsigned)cpus;
}

static void job_started(void *arg, struct sim_process *process, const char *key)
{
    struct power_truth *truth = arg;
    struct machine_truth *machine = machine_of(truth, process->host);
    unsigned number = job_number(key);
    if (machine == NULL || number >= truth->options.jobs) {
        return;
    }
    truth->waited_us[number] = truth->sim->now_us;
    machine->served = machine->served || number >= truth->options.last_job;
    if (truth->running_count == truth->running_capacity) {
        truth->running_capacity = truth->running_capacity * 2 + 64;
        truth->running =
            sim_realloc(truth->running, truth->running_capacity * sizeof(*truth->running));
    }
    truth->running[truth->running_count++] =
        (struct running){process, truth->sim->now_us, (unsigned)(machine - truth->machines),
                         cpus_of(process)};
}

static void job_ended(void *arg, struct sim_process *process, const char *key, bool finished)
{
    struct power_truth *truth = arg;
    unsigned number = job_number(key);
    (void)finished;
    for (size_t i = 0; i < truth->running_count; i++) {
        const struct running was = truth->running[i];
        if (was.process == process) {
            truth->machines[was.machine].job_cpu_s +=
                (double)(truth->sim->now_us - was.since_us) / 1e6 * was.cpus;
            truth->machines[was.machine].served |= truth->is_last; /* it was in use */
            truth->running[i] = truth->running[--truth->running_count];
            truth->waited_us[number] = truth->sim->now_us;
            return;
        }
    }
}

/* ---- life ---- */

void power_truth_observe(struct power_truth *truth, struct sim_observer *observer)
{
    *observer = (struct sim_observer){.job_started = job_started,
                                      .job_ended = job_ended,
                                      .wake_asked = wake_asked,
                                      .poweroff_asked = poweroff_asked,
                                      .power_changed = power_changed,
                                      .host_stops = host_stops,
                                      .arg = truth};
}

void power_truth_begin(struct power_truth *truth, struct sim *sim, struct judge *judge)
{
    truth->sim = sim;
    truth->judge = judge;
    for (unsigned i = 0; i < truth->options.nodes; i++) {
        struct machine_truth *machine = &truth->machines[i];
        machine->host = sim_host_at(sim, i + 1);
        machine->cpus = machine->host->cpus;
        machine->since_us = sim->now_us;
    }
}

void power_truth_kind(struct power_truth *truth, unsigned number, enum power_kind kind, bool whole)
{
    truth->machines[number - 1].kind = kind;
    truth->machines[number - 1].whole = whole;
}

enum power_kind power_truth_kind_of(const struct power_truth *truth, unsigned number)
{
    return truth->machines[number - 1].kind;
}

unsigned power_truth_running(const struct power_truth *truth)
{
    return (unsigned)truth->running_count;
}

unsigned power_truth_on(const struct power_truth *truth)
{
    return truth->on;
}

/* ---- what the operator was told ---- */

struct promise_to_sleep {
    struct power_truth *truth;
    struct machine_truth *machine;
    unsigned stops;
};

static void sleep_due(void *arg)
{
    struct promise_to_sleep *promise = arg;
    const struct machine_truth *machine = promise->machine;
    bool odd = machine->kind == POWER_KIND_LIES || machine->kind == POWER_KIND_FAILS;
    if (machine->stops == promise->stops && !odd) {
        judge_broken(promise->truth->judge,
                     "sleep_not_done: %s said that it goes to sleep, and is on",
                     machine->host->name);
    }
    sim_free(promise);
}

void power_truth_slept(struct power_truth *truth, const char *name, int status)
{
    struct machine_truth *machine = machine_named(truth, name);
    if (status == -EAGAIN) { /* its jobs are being ended: nobody said that they may */
        judge_broken(truth->judge, "off_while_claimed: %s ends its jobs to go to sleep", name);
    }
    if (status == -ECONNRESET && machine->host->power != SIM_HOST_ON) {
        status = 0; /* gone with its answer */
    }
    if (status != 0) {
        bool nobody = status == -EHOSTUNREACH || status == -ECONNRESET;
        truth->unreachable += nobody;
        truth->refused += !nobody;
        return;
    }
    truth->slept++;
    if (machine->host->power == SIM_HOST_ON) { /* else it is down before its answer came */
        struct promise_to_sleep *promise = sim_alloc(sizeof(*promise));
        *promise = (struct promise_to_sleep){truth, machine, machine->stops};
        (void)sim_at(truth->sim, truth->sim->now_us + SLEEP_US, sleep_due, promise);
    }
}

void power_truth_states(struct power_truth *truth, struct ad *const *ads, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct machine_truth *machine = machine_named(truth, ad_string_or(ads[i], "Name", ""));
        const char *state = ad_string_or(ads[i], "PowerState", "?");
        if (machine == NULL) {
            continue;
        }
        bool alone = strcmp(state, "WakeFailed") == 0 && ad_has(ads[i], "PowerQuarantineUntil");
        bool trying = strcmp(state, "Waking") == 0 &&
                      ad_int_or(ads[i], "WakeAttempts", 0) <= truth->options.attempts_max;
        machine->left_alone =
            (alone || trying) && ad_string_or(ads[i], "PowerStateReason", "")[0] != '\0';
        (void)snprintf(machine->state, sizeof(machine->state), "%.20s: %.40s", state,
                       ad_string_or(ads[i], "PowerStateReason", ""));
    }
    truth->states_told++;
}

static bool differs_much(double a, double b)
{
    return fabs(a - b) > ROUNDING * (1 + fabs(a) + fabs(b));
}

/* Checks a machine's report: used = asleep + idle + the jobs' energy, by the configured figures. */
static void check_node(struct power_truth *truth, struct machine_truth *machine,
                       const struct ad *ad)
{
    const struct power_truth_options *options = &truth->options;
    double on_s = ad_real_or(ad, "OnSeconds", 0), asleep_s = ad_real_or(ad, "AsleepSeconds", 0);
    double busy_s = ad_real_or(ad, "BusyCoreSeconds", 0);
    double used = ad_real_or(ad, "EnergyUsed", -1), jobs = ad_real_or(ad, "EnergyOfJobs", -1);
    double saved = ad_real_or(ad, "EnergySaved", -1);
    account_energy(truth, machine, machine->host->power != SIM_HOST_OFF);
    machine->true_on_s = machine->on_s;
    machine->told_on_s = on_s;
    machine->told_busy_s = busy_s;
    truth->told_used += used;
    truth->told_jobs += jobs;
    truth->told_busy_s += busy_s;
    truth->told_on_s += on_s;
    double kept = asleep_s * (options->idle_w - options->asleep_w) / J_PER_KWH;
    if (differs_much(saved, kept)) {
        judge_broken(truth->judge, "energy_wrong: %s saved %g kWh in %.0f s, which are %g",
                     machine->host->name, saved, asleep_s, kept);
    }
    if (machine->kind != POWER_KIND_LESS) { /* its share of a core changes */
        double base = on_s * options->idle_w + asleep_s * options->asleep_w;
        double above = busy_s / machine->cpus * (options->busy_w - options->idle_w);
        double of_jobs = busy_s / machine->cpus * options->busy_w;
        if (differs_much(used, (base + above) / J_PER_KWH) ||
            differs_much(jobs, of_jobs / J_PER_KWH)) {
            judge_broken(truth->judge,
                         "energy_wrong: %s used %g kWh, its jobs %g; states and cores make %g, %g",
                         machine->host->name, used, jobs, (base + above) / J_PER_KWH,
                         of_jobs / J_PER_KWH);
        }
    }
}

void power_truth_energy(struct power_truth *truth, bool users, struct ad *const *ads, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct machine_truth *machine = machine_named(truth, ad_string_or(ads[i], "Name", ""));
        if (users) {
            truth->told_users += ad_real_or(ads[i], "EnergyUsed", 0);
        } else if (machine != NULL) {
            check_node(truth, machine, ads[i]);
        }
    }
    truth->energies_told++;
}

/* ---- the end ---- */

static void check_machine(struct power_truth *truth, const struct machine_truth *machine)
{
    /* One that joined with less says so until it boots again: nobody can know better. */
    bool less = machine->host->cpus_now < machine->cpus;
    bool sound = machine->kind != POWER_KIND_DEAD && machine->kind != POWER_KIND_NAPS && !less;
    if (sound && !machine->served) {
        judge_broken(truth->judge,
                     "node_lost: %s (%s) ran none of the last jobs; the rooster says %s",
                     machine->host->name, power_kind_name(machine->kind), machine->state);
    }
    if (machine->kind == POWER_KIND_DEAD && !machine->left_alone) {
        judge_broken(truth->judge, "no_reason: %s comes up no more, and the rooster says %s",
                     machine->host->name, machine->state);
    }
    double forgotten_s = (double)truth->options.flush_s * truth->rooster_deaths;
    double slack_s = machine->slack_s + SLACK_S;
    if (machine->told_on_s > machine->true_on_s + slack_s ||
        machine->told_on_s < machine->true_on_s - slack_s - forgotten_s) {
        judge_broken(truth->judge,
                     "energy_wrong: %s (%s) was on for %.0f s, and for %.0f in the report",
                     machine->host->name, power_kind_name(machine->kind), machine->true_on_s,
                     machine->told_on_s);
    }
    double cores = machine->cpus;
    if (machine->told_busy_s > machine->job_cpu_s + slack_s * cores ||
        machine->told_busy_s < machine->job_cpu_s - (slack_s + forgotten_s) * cores) {
        judge_broken(truth->judge,
                     "energy_wrong: jobs had %s (%s) for %.0f core seconds, in the report for %.0f",
                     machine->host->name, power_kind_name(machine->kind), machine->job_cpu_s,
                     machine->told_busy_s);
    }
}

void power_truth_finish(struct power_truth *truth)
{
    if (truth->states_told < 1 || truth->energies_told < 2) {
        judge_broken(truth->judge, "unanswered: the operator's last questions");
        return;
    }
    for (unsigned i = 0; i < truth->options.nodes; i++) {
        check_machine(truth, &truth->machines[i]);
    }
    if (differs_much(truth->told_users, truth->told_jobs)) {
        judge_broken(truth->judge, "energy_wrong: users have %g kWh, the machines' jobs %g",
                     truth->told_users, truth->told_jobs);
    }
}

void power_truth_figures(const struct power_truth *truth, char *text, size_t size)
{
    double on_s = 0, off_s = 0, job_s = 0;
    unsigned kinds[POWER_KIND_COUNT] = {0};
    for (unsigned i = 0; i < truth->options.nodes; i++) {
        on_s += truth->machines[i].on_s;
        off_s += truth->machines[i].off_s;
        job_s += truth->machines[i].job_cpu_s;
        kinds[truth->machines[i].kind]++;
    }
    int length =
        snprintf(text, size,
                 "machine hours on %.0f (told %.0f) off %.0f, core hours %.0f (told %.0f), "
                 "%.1f kWh, wakes %u, by name %u, told to sleep %u (%u refused, %u not there)",
                 on_s / 3600, truth->told_on_s / 3600, off_s / 3600, job_s / 3600,
                 truth->told_busy_s / 3600, truth->told_used, truth->wakes, truth->by_name,
                 truth->slept, truth->refused, truth->unreachable);
    for (unsigned i = 0; i < POWER_KIND_COUNT && length > 0 && (size_t)length < size; i++) {
        length += snprintf(text + length, size - (size_t)length, ", %s %u",
                           power_kind_name((enum power_kind)i), kinds[i]);
    }
}
