/* sim/faults.c - see faults.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/faults.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "sim/fault_truth.h"
#include "sim/host_faults.h"
#include "sim/sim_private.h"

#define VICTIMS_MAX    1024
#define TRIES          40
#define CLIENT_DIES    12 /* percent of the client's requests at which it dies */
#define SUBMITTER_DIES 50 /* percent of its submissions, which are larger than LARGE_BYTES */
#define LARGE_BYTES    1000
#define SUBMIT_MAX_US  (8 * SIM_MS)
#define SCHEDD_DIES    40 /* percent of these in which the schedd dies instead */
#define CLIENT_MAX_US  (30 * SIM_MS)
#define FLIPS_MAX      8          /* damaged rows of a run: the jobs of damaged rows are excused */
#define FULL_ROOM_MAX  (96 << 10) /* bytes that a full disk still takes */

struct faults {
    struct sim *sim;
    struct faults_options options;
    struct rng rng;
    bool client_dies; /* its death is planned */
    unsigned flips;
    /* The startd of this machine stands still when it next asks its schedd; NULL: none does. */
    struct sim_host *faltering;
    bool falters; /* that has begun */
};

static const char *const NAMES[FAULT_MAX] = {
    [FAULT_FORK] = "fork",   [FAULT_MEMORY] = "memory", [FAULT_KEEPER] = "keeper",
    [FAULT_STILL] = "still", [FAULT_DISK] = "disk",     [FAULT_ROWS] = "rows",
    [FAULT_NAMES] = "names", [FAULT_CLIENT] = "client",
};

unsigned faults_by_name(const char *name)
{
    if (strcmp(name, "all") == 0) {
        return FAULTS_ALL;
    }
    for (unsigned i = 0; i < FAULT_MAX; i++) {
        if (strcmp(name, NAMES[i]) == 0) {
            return 1U << i;
        }
    }
    return 0;
}

static uint64_t random_between(struct faults *faults, uint64_t low, uint64_t high)
{
    return low + rng_below(&faults->rng, high - low + 1);
}

static bool by_chance(struct faults *faults, unsigned percent)
{
    return rng_below(&faults->rng, 100) < percent;
}

/* ---- victims --------------------------------------------------------------------------------- */

typedef bool (*is_victim_f)(const struct sim_process *process);

static bool is_daemon(const struct sim_process *process)
{
    return strncmp(process->program->name, "roost-", 6) == 0;
}

static bool is_job(const struct sim_process *process)
{
    return process->program->timed && process->caged;
}

static bool is_named(const struct sim_process *process, const char *name)
{
    return strcmp(process->program->name, name) == 0;
}

/* Those that a job and its lease depend on. */
static bool serves_jobs(const struct sim_process *process)
{
    return is_named(process, "roost-startd") || is_named(process, "roost-starter") ||
           is_named(process, "roost-shadow") || is_named(process, "roost-schedd");
}

/* Picks a process that is such a victim, on a machine that is not suspended; NULL: none. */
static struct sim_process *pick_process(struct faults *faults, is_victim_f is_victim)
{
    struct sim_process *victims[VICTIMS_MAX];
    size_t count = 0;
    const struct sim *sim = faults->sim;
    const struct sim_link *head = &sim->processes;
    for (struct sim_link *at = head->next; at != head && count < VICTIMS_MAX; at = at->next) {
        struct sim_process *process = at->item;
        if (is_victim(process) && process->host->suspended_until_us <= sim->now_us) {
            victims[count++] = process;
        }
    }
    return count > 0 ? victims[rng_below(&faults->rng, count)] : NULL;
}

/* Picks a machine that is on, the central one with this probability; NULL: no other was found. */
static struct sim_host *pick_host(struct faults *faults, unsigned central_percent)
{
    if (by_chance(faults, central_percent)) {
        return faults->options.central->power == SIM_HOST_ON ? faults->options.central : NULL;
    }
    for (unsigned tries = 0; tries < TRIES; tries++) {
        struct sim_host *host =
            sim_host_at(faults->sim, (size_t)random_between(faults, 0, faults->options.nodes));
        if (host != NULL && host != faults->options.central && host->power == SIM_HOST_ON) {
            return host;
        }
    }
    return NULL;
}

/* ---- faults ---------------------------------------------------------------------------------- */

static void fail_forks(struct faults *faults)
{
    struct sim_host *host = pick_host(faults, 25);
    if (host != NULL) {
        sim_spawns_fail(host, by_chance(faults, 70) ? -EAGAIN : -ENOMEM,
                        random_between(faults, SIM_S / 2, 60 * SIM_S));
    }
}

static void exhaust_memory(struct faults *faults)
{
    struct sim_process *victim = pick_process(faults, by_chance(faults, 60) ? is_job : is_daemon);
    if (victim != NULL) {
        sim_oom_kill(victim);
    }
}

static void kill_keeper(struct faults *faults)
{
    struct sim_process *victim = pick_process(faults, is_job);
    if (victim != NULL) {
        sim_keeper_kill(victim);
    }
}

/* Lets startd and starters of a machine stand still for longer than a lease. */
static void stand_for_long(struct faults *faults, struct sim_host *host)
{
    uint64_t for_us = random_between(faults, 100 * SIM_S, 140 * SIM_S);
    const struct sim_link *head = &host->processes;
    for (struct sim_link *at = head->next; at != head; at = at->next) {
        struct sim_process *process = at->item;
        if (is_named(process, "roost-startd") || is_named(process, "roost-starter")) {
            sim_stand_still(process, for_us);
        }
    }
}

static void falter_again(void *arg)
{
    struct faults *faults = arg;
    stand_for_long(faults, faults->faltering);
    faults->faltering = NULL;
    faults->falters = false;
}

/* Lets a startd stand still while the schedd's answer is on its way, and again soon after it has
 * read the answer, as on a machine that is short of memory and swaps. */
static void falter(void *arg)
{
    struct faults *faults = arg;
    uint64_t for_us = random_between(faults, 8 * SIM_S, 29 * SIM_S);
    const struct sim_link *head = &faults->faltering->processes;
    for (struct sim_link *at = head->next; at != head; at = at->next) {
        struct sim_process *process = at->item;
        if (is_named(process, "roost-startd")) {
            sim_stand_still(process, for_us);
        }
    }
    (void)sim_at(faults->sim,
                 faults->sim->now_us + for_us + random_between(faults, SIM_MS, 2 * SIM_S),
                 falter_again, faults);
}

/* Lets one daemon stand still; or startd and starters of a machine with a job, for longer than a
 * lease; or its startd in the middle of a renewal, and then again. */
static void stand_still(struct faults *faults)
{
    struct sim_process *victim = pick_process(faults, serves_jobs);
    const struct sim_process *job = by_chance(faults, 60) ? pick_process(faults, is_job) : NULL;
    if (job == NULL) {
        if (victim != NULL) {
            sim_stand_still(victim, random_between(faults, SIM_S, 120 * SIM_S));
        }
    } else if (by_chance(faults, 50)) {
        stand_for_long(faults, job->host);
    } else if (!faults->falters) {
        faults->faltering = job->host;
    }
}

static void fail_disk(struct faults *faults)
{
    static const int CODES[] = {-ENOSPC, -ENOSPC, -EIO, -EROFS};
    struct sim_host *host = pick_host(faults, 60);
    if (host != NULL) {
        sim_disk_refuse(host, CODES[random_between(faults, 0, ARRAY_COUNT(CODES) - 1)],
                        random_between(faults, 0, FULL_ROOM_MAX),
                        random_between(faults, 2 * SIM_S, 90 * SIM_S));
    }
}

/* Kills the schedd, and damages its store before it starts again. */
static void damage_rows(struct faults *faults)
{
    /* Those that are read at the start or by the client, so that damage is found soon. */
    static const char *const TABLES[] = {"jobs",   "claims", "history",
                                         "nonces", "events", "counters"};
    struct sim_process *schedd = NULL;
    const struct sim_link *head = &faults->options.central->processes;
    for (struct sim_link *at = head->next; at != head; at = at->next) {
        struct sim_process *process = at->item;
        schedd = is_named(process, "roost-schedd") ? process : schedd;
    }
    if (schedd == NULL || sim_disk_fault(faults->options.central) != 0 ||
        faults->flips >= FLIPS_MAX) {
        return;
    }
    sim_kill(schedd);
    const char *table = by_chance(faults, 8)
                            ? "clusters"
                            : TABLES[random_between(faults, 0, ARRAY_COUNT(TABLES) - 1)];
    struct sim_row row;
    if (sim_row_flip(faults->options.central, faults->options.store, table, &row)) {
        faults->flips++;
        fault_truth_damaged(faults->options.truth, &row);
    }
}

static void fail_names(struct faults *faults)
{
    struct sim_host *host = pick_host(faults, 30);
    const struct sim_host *other =
        by_chance(faults, 50)
            ? sim_host_at(faults->sim, (size_t)random_between(faults, 0, faults->options.nodes))
            : NULL;
    if (host == NULL) {
        return;
    }
    sim_names_fail(host, other, random_between(faults, SIM_S, 60 * SIM_S));
    if (host != faults->options.central) { /* so that names are needed */
        sim_link_cut(faults->sim, faults->options.central, host,
                     random_between(faults, SIM_MS, 2 * SIM_S), SIM_CUT_RESET);
    }
}

/* ---- the client ------------------------------------------------------------------------------ */

static bool is_client(const struct sim_process *process)
{
    return is_named(process, "client");
}

static bool is_schedd(const struct sim_process *process)
{
    return is_named(process, "roost-schedd");
}

static void kill_client(void *arg)
{
    struct faults *faults = arg;
    bool is_asked = by_chance(faults, SCHEDD_DIES);
    struct sim_process *victim = pick_process(faults, is_asked ? is_schedd : is_client);
    faults->client_dies = false;
    if (victim != NULL) {
        sim_count(faults->sim, SIM_COUNT_CLIENT_KILLS);
        sim_kill(victim);
    }
}

void faults_sent(struct faults *faults, struct sim_process *from, bool by_client, const char *route,
                 size_t length)
{
    struct sim *sim = faults->sim;
    if (from->host == faults->faltering && !faults->falters && is_named(from, "roost-startd") &&
        by_client && strcmp(route, "claim") == 0 && sim->now_us < faults->options.end_us) {
        faults->falters = true;
        (void)sim_at(sim, sim->now_us + 1, falter, faults);
    }
    if ((faults->options.kinds & 1U << FAULT_CLIENT) == 0 || !by_client || !is_client(from) ||
        faults->client_dies || sim->now_us < faults->options.begin_us ||
        sim->now_us >= faults->options.end_us ||
        !by_chance(faults, length > LARGE_BYTES ? SUBMITTER_DIES : CLIENT_DIES)) {
        return;
    }
    faults->client_dies = true;
    (void)sim_at(sim,
                 sim->now_us + random_between(faults, 0,
                                              length > LARGE_BYTES ? SUBMIT_MAX_US : CLIENT_MAX_US),
                 kill_client, faults);
}

/* ---- what happens when ----------------------------------------------------------------------- */

static void (*const MAKE[FAULT_MAX])(struct faults *faults) = {
    [FAULT_FORK] = fail_forks,   [FAULT_MEMORY] = exhaust_memory, [FAULT_KEEPER] = kill_keeper,
    [FAULT_STILL] = stand_still, [FAULT_DISK] = fail_disk,        [FAULT_ROWS] = damage_rows,
    [FAULT_NAMES] = fail_names,
};

/* A machine that went to sleep with a full disk offers no room in its ad, so no job wakes it.
 * Whoever makes room starts it. */
static void start_sleepers(struct faults *faults)
{
    struct sim_host *host;
    for (size_t i = 0; (host = sim_host_at(faults->sim, i)) != NULL; i++) {
        if (host != faults->options.central && host->power == SIM_HOST_OFF) {
            sim_host_boot(host);
        }
    }
}

static void make_fault(void *arg)
{
    struct faults *faults = arg;
    struct sim *sim = faults->sim;
    if (sim->now_us >= faults->options.end_us) {
        if ((faults->options.kinds & 1U << FAULT_DISK) != 0) {
            start_sleepers(faults);
        }
        return;
    }
    for (unsigned tries = 0; tries < TRIES; tries++) {
        unsigned kind = (unsigned)random_between(faults, 0, FAULT_MAX - 1);
        if ((faults->options.kinds & 1U << kind) != 0 && MAKE[kind] != NULL) {
            MAKE[kind](faults);
            break;
        }
    }
    (void)sim_at(sim,
                 sim->now_us + random_between(faults, 100 * SIM_MS, faults->options.pause_max_us),
                 make_fault, faults);
}

struct faults *faults_create(struct sim *sim, const struct faults_options *options)
{
    struct faults *faults = sim_alloc(sizeof(*faults));
    faults->sim = sim;
    faults->options = *options;
    rng_seed(&faults->rng, options->seed ^ UINT64_C(0xd1b54a32d192ed03));
    (void)sim_at(sim, options->begin_us, make_fault, faults);
    return faults;
}

void faults_destroy(struct faults *faults)
{
    sim_free(faults);
}
