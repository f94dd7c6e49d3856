/* sim/pool.c - see pool.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/pool.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "sim/chaos.h"
#include "sim/check.h"
#include "sim/client.h"
#include "sim/daemon_sim.h"
#include "sim/fault_truth.h"
#include "sim/faults.h"
#include "sim/sim_private.h"
#include "sim/site_sim.h"
#include "sim/steward.h"
#include "sim/tyrant.h"
#include "sim/witness.h"
#include "wire/token.h"
#include "wire/verbs.h"

#define CENTRAL  "cm"
#define CONFIG   "/etc/roost/roost.conf"
#define SECURITY "/etc/roost/security"
/* commands in the `node` sections of a story's configuration */
#define OTHER_COMMANDS   " status_command = \"/sim/powered\" sleep_command = \"/sim/poweroff\""
#define OUTPUT           "/home/roost/out"
#define STORE            "/var/lib/roost/spool/schedd.db"
#define JOB_PROGRAM      "/home/roost/work"
#define STEPS_PROGRAM    "/home/roost/steps"
#define SLOTS            2
#define SLOW_LINK_US     (150 * SIM_MS)
#define SLOW_LINK_FOR_US (3600 * SIM_S)
#define WHOLE_CPUS       4 /* CPUs of a partitionable machine */
#define CPUS_MAX         3 /* most CPUs that a job asks for */
/* values of SimFame; machines with a Rank prefer jobs with a higher one */
#define FAMES     3
#define BATCH_MAX 40
/* A submission of more than about 50 jobs is added in several slices. */
#define LARGE_BATCH_MAX 150
#define REMOVED_BATCHES 150 /* per mille of the batches, under the faults of clients */
#define REMOVE_MAX_S    120 /* until they are removed */
#define JOB_MIN_S       2
#define JOB_MAX_S       240
#define NIGHT_S         600 /* by then every node has booted once and gone to sleep */
#define QUIET_S         150
#define DAY_S           1500 /* length of the time with batches and chaos */
#define CALM_S          5400 /* longest quiet time after it; usually it is shorter */
#define TRACE_SHOWN     200
#define EVENTS_MAX      40000000

struct pool {
    struct pool_options options;
    struct sim *sim;
    struct sim_host *central;
    struct judge *judge;
    struct chaos *chaos;
    struct faults *faults;
    struct fault_truth *fault_truth;
    bool supervised; /* init restarts the masters; otherwise it restarts the other daemons */
    struct client client;
    struct client_events judged; /* what the judge makes of the client's answers */
    struct tyrant tyrant;
    struct witness witness;
    struct steward steward;
    struct sim_program client_program, setup_program, tyrant_program, witness_program,
        steward_program;
    const struct sim_program *programs[32];
    bool is_set_up;
};

/* ---- the files that `roost init` would make -------------------------------------------------- */

static const char COMMON_CONFIG[] = "COLLECTOR_HOST = \"" CENTRAL "\"\n"
                                    "UID_DOMAIN = \"pool\"\n"
                                    "LOCAL_DIR = \"/var/lib/roost\"\n"
                                    "LOG = \"/var/log/roost\"\n"
                                    "RUN = \"/run/roost\"\n"
                                    "SBIN = \"/usr/sbin\"\n"
                                    "SEC_DIRECTORY = \"" SECURITY "\"\n"
                                    "MASTER_BACKOFF_CEILING = \"10s\"\n"
                                    "SHUTDOWN_GRACEFUL_TIMEOUT = \"5s\"\n";

static const char CENTRAL_CONFIG[] = "DAEMON_LIST = {COLLECTOR, NEGOTIATOR, SCHEDD, ROOSTER}\n"
                                     "SCHEDD_HOST = \"" CENTRAL "\"\n"
                                     "SCHEDD_PORT = 9619\n"
                                     "CLAIM_LEASE_DURATION = \"90s\"\n"
                                     "JOB_DEFAULT_LEASE_DURATION = \"90s\"\n"
                                     "LEASE_MARGIN = 10\n"
                                     "SIGNIFICANT_ATTRIBUTES = {SimFame}\n";

/* A third of the machines is partitionable; a third has owners who prefer certain jobs. */
static const char STATIC_CONFIG[] = "NUM_SLOTS = 2\n";
static const char WHOLE_CONFIG[] = "NUM_SLOTS_TYPE_1 = 1\n"
                                   "SLOT_TYPE_1 = \"100%\"\n"
                                   "SLOT_TYPE_1_PARTITIONABLE = true\n"
                                   "HIBERNATE_RECLAIM_TIME = \"20s\"\n";
static const char RANK_CONFIG[] = "RANK = \"TARGET.SimFame\"\n"
                                  "MAXJOBRETIREMENTTIME = 30\n"
                                  "MACHINEMAXVACATETIME = 20\n";

static const char NODE_CONFIG[] = "DAEMON_LIST = {STARTD}\n"
                                  "HIBERNATE = \"ifThenElse(State == \\\"Unclaimed\\\" && "
                                  "CurrentTime - EnteredCurrentState > 60, "
                                  "\\\"S5\\\", \\\"NONE\\\")\"\n"
                                  "HIBERNATE_CHECK_INTERVAL = 15\n"
                                  "POWER_METHOD = command\n"
                                  "POWER_SLEEP_CMD = \"/sim/poweroff\"\n";

static void put_file(struct sim_host *host, const char *path, const char *text, mode_t mode)
{
    sim_file_put(host, path, text, strlen(text), mode);
}

struct kind { /* kind of a machine; the central one has none */
    bool is_whole, is_choosy;
};

static struct kind kind_of(unsigned number)
{
    return (struct kind){.is_whole = number % 3 == 1, .is_choosy = number / 3 % 3 == 0};
}

/* more: the story's configuration for this machine instead of that of its kind; NULL: none */
static void put_config(struct pool *pool, struct sim_host *host, struct kind kind, const char *more)
{
    const struct pool_story *story = pool->options.story;
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_puts(&text, COMMON_CONFIG);
    strbuf_printf(&text, "RESURRECT_MASTER = %s\n", pool->supervised ? "false" : "true");
    if (host != pool->central) {
        const char *all = pool->options.node_config;
        strbuf_puts(&text, NODE_CONFIG);
        if (more != NULL) {
            strbuf_puts(&text, more);
        } else {
            strbuf_puts(&text, all != NULL ? all : kind.is_whole ? WHOLE_CONFIG : STATIC_CONFIG);
            strbuf_puts(&text, all == NULL && kind.is_choosy ? RANK_CONFIG : "");
        }
    } else {
        strbuf_puts(&text, CENTRAL_CONFIG);
        for (unsigned i = 1; i <= pool->options.nodes; i++) {
            strbuf_printf(&text,
                          "node \"wn%02u\" { method = command wake_command = \"/sim/wake\"%s }\n",
                          i, story != NULL ? OTHER_COMMANDS : "");
        }
        if (story != NULL) {
            story->central(story->arg, &text);
        }
        if (pool->options.hasty) { /* the limit is all slots: it binds only who counts wrong */
            unsigned slots = 0;
            for (unsigned i = 1; i <= pool->options.nodes; i++) {
                slots += kind_of(i).is_whole ? WHOLE_CPUS : SLOTS;
            }
            strbuf_printf(&text, "POOL_LIMIT = %u\nJOB_START_PROMISE = \"4s\"\n", slots);
        }
    }
    put_file(host, CONFIG, strbuf_text(&text), 0644);
    strbuf_fini(&text);
}

static void put_files(struct pool *pool, struct sim_host *host, struct kind kind, const char *more)
{
    char path[256];
    const struct sim_program *program;
    for (size_t i = 0; (program = sim_daemon_program(i)) != NULL; i++) {
        (void)snprintf(path, sizeof(path), "/usr/sbin/%s", program->name);
        sim_program_put(host, path, program->name);
    }
    sim_program_put(host, "/sim/wake", "wake");
    sim_program_put(host, "/sim/poweroff", "poweroff");
    sim_program_put(host, "/sim/powered", "powered");
    static const char *const DIRECTORIES[] = {
        "/var/lib/roost/spool",
        "/var/lib/roost/execute",
        "/var/lib/roost/lock",
        "/var/lib/roost/config",
        "/var/log/roost",
        "/run/roost",
        OUTPUT,
    };
    for (size_t i = 0; i < ARRAY_COUNT(DIRECTORIES); i++) {
        CHECK(sim_tree_mkdirs(host, DIRECTORIES[i], 0755) == 0);
    }
    put_file(host, SECURITY "/ca.pem", "sim-ca pool\n", 0644);
    put_config(pool, host, kind, more);
    if (host == pool->central) {
        sim_program_put(host, JOB_PROGRAM, "job");
        sim_program_put(host, STEPS_PROGRAM, "steps");
        sim_program_put(host, "/usr/bin/client", "client");
        sim_program_put(host, "/usr/bin/setup", "setup");
        sim_program_put(host, "/usr/bin/tyrant", "tyrant");
        sim_program_put(host, "/usr/bin/witness", "witness");
        static const char *const SERVERS[] = {"collector", "schedd"};
        for (size_t i = 0; i < ARRAY_COUNT(SERVERS); i++) {
            char text[96];
            (void)snprintf(path, sizeof(path), SECURITY "/%s.pem", SERVERS[i]);
            (void)snprintf(text, sizeof(text), "sim-cert %s pool roost://pool/%s/cm\n", SERVERS[i],
                           SERVERS[i]);
            put_file(host, path, text, 0644);
            (void)snprintf(path, sizeof(path), SECURITY "/%s-key.pem", SERVERS[i]);
            put_file(host, path, "key\n", 0600);
        }
    }
    sim_tree_sync_all(host);
}

/* Makes a token on the central machine; tokens need the real keys and signatures. */
static void make_token(const struct sim_env *env, const char *name, uint32_t scopes,
                       const char *pattern)
{
    struct token token = {.scopes = scopes, .issued_s = loop_wall_s(env->loop) - 1000};
    char path[256], *text = NULL;
    struct err err = {""};
    (void)snprintf(token.identity, sizeof(token.identity), "%s@pool", name);
    (void)snprintf(token.id, sizeof(token.id), "id-%s", name);
    (void)snprintf(token.pool, sizeof(token.pool), "pool");
    (void)snprintf(token.pattern, sizeof(token.pattern), "%s", pattern);
    (void)snprintf(token.uid_domain, sizeof(token.uid_domain), "pool");
    int code = token_issue_file(env->os, env->loop, SECURITY "/keys/pool.key", "pool", &token,
                                &text, &err);
    CHECK(code == 0);
    (void)snprintf(path, sizeof(path), SECURITY "/tokens/%s", name);
    CHECK(os_write_file(env->os, path, text, strlen(text), 0600, true, NULL) == 0);
    mem_free(text);
}

static int setup_start(const struct sim_env *env, void **state)
{
    struct pool *pool = (struct pool *)(uintptr_t)env->program->data;
    struct err err = {""};
    *state = NULL;
    CHECK(os_mkdirs(env->os, SECURITY "/keys", 0755, NULL) == 0);
    CHECK(os_mkdirs(env->os, SECURITY "/tokens", 0755, NULL) == 0);
    if (token_key_make(env->os, env->loop, SECURITY "/keys", "pool", &err) != 0) {
        sim_trace(env->sim, env->process, "%s", err.text);
        return 1;
    }
    make_token(env, "COLLECTOR", SCOPE_READ, "");
    make_token(env, "NEGOTIATOR", SCOPE_NEGOTIATOR | SCOPE_READ, "");
    make_token(env, "SCHEDD", SCOPE_SCHEDD | SCOPE_READ, "");
    make_token(env, "ROOSTER", SCOPE_ROOSTER | SCOPE_READ, "");
    make_token(env, "MASTER", SCOPE_MASTER | SCOPE_READ, "");
    make_token(env, "STARTD", SCOPE_ADVERTISE | SCOPE_READ, "*");
    make_token(env, "STARTER", SCOPE_READ, "*");
    make_token(env, "USER", SCOPE_READ | SCOPE_ADMINISTRATOR, "");
    if (pool->options.story != NULL && pool->options.story->farm_hosts > 0) {
        make_token(env, "FACTORY", SCOPE_FACTORY | SCOPE_READ, "factory*");
        make_token(env, "GLIDEIN", SCOPE_ADVERTISE | SCOPE_READ, "*");
    }
    pool->is_set_up = true;
    return 0;
}

static void copy_file(struct pool *pool, struct sim_host *to, const char *path, mode_t mode)
{
    size_t length = 0;
    const char *data = sim_file_get(pool->central, path, &length);
    CHECK(data != NULL);
    sim_file_put(to, path, data, length, mode);
}

static void make_node(struct pool *pool, unsigned number)
{
    char name[32];
    static const char *const MASTER[] = {"/usr/sbin/roost-master", NULL};
    (void)snprintf(name, sizeof(name), "wn%02u", number);
    struct kind kind = kind_of(number);
    unsigned cpus = kind.is_whole ? WHOLE_CPUS : SLOTS;
    struct sim_host_options options = {.name = name,
                                       .cpus = pool->options.node_config != NULL
                                                   ? pool->options.node_cpus
                                                   : cpus,
                                       .memory_mib = 4096};
    const struct pool_story *story = pool->options.story;
    struct strbuf more;
    strbuf_init(&more, 0);
    if (story != NULL) {
        story->node(story->arg, number, &options, &more);
    }
    struct sim_host *host = sim_host_create(pool->sim, &options);
    put_files(pool, host, kind, story != NULL ? strbuf_text(&more) : NULL);
    strbuf_fini(&more);
    copy_file(pool, host, SECURITY "/keys/pool.pub", 0644);
    copy_file(pool, host, SECURITY "/tokens/STARTD", 0600);
    copy_file(pool, host, SECURITY "/tokens/STARTER", 0600);
    sim_host_service(host, MASTER, pool->supervised);
    if (pool->options.hasty) { /* so that claims take long to be made, and drains meet them */
        sim_link_slow(pool->sim, host, pool->central, SLOW_LINK_US, SLOW_LINK_FOR_US);
    }
}

/* Adds a service of the caller's to the central machine. */
static void add_program(struct pool *pool, const struct sim_program *program)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/usr/bin/%s", program->name);
    const char *const argv[] = {path, NULL};
    sim_program_put(pool->central, path, program->name);
    sim_host_service(pool->central, argv, true);
}

/* ---- the work -------------------------------------------------------------------------------- */

static void copy_batches(struct pool *pool, uint64_t begin_us)
{
    struct client *client = &pool->client;
    client->batch_count = pool->options.batch_count;
    client->batches =
        mem_dup(pool->options.batches, pool->options.batch_count * sizeof(*client->batches));
    for (size_t i = 0; i < client->batch_count; i++) {
        struct client_batch *batch = &client->batches[i];
        batch->at_us += begin_us;
        batch->seconds = mem_dup(batch->seconds, batch->count * sizeof(unsigned));
    }
}

static void plan_batches(struct pool *pool, uint64_t begin_us)
{
    if (pool->options.batches != NULL) {
        copy_batches(pool, begin_us);
        return;
    }
    struct client *client = &pool->client;
    unsigned left = pool->options.jobs, first = 0;
    struct vec batches = {0};
    while (left > 0) {
        struct client_batch *batch = mem_zalloc(sizeof(*batch));
        unsigned batch_max = pool->options.faults != 0 ? pool->options.jobs / 3 : BATCH_MAX;
        batch_max = batch_max > LARGE_BATCH_MAX ? LARGE_BATCH_MAX : batch_max > 0 ? batch_max : 1;
        unsigned most = left < batch_max ? left : batch_max;
        batch->count = (unsigned)sim_between(pool->sim, 1, most);
        batch->first = first;
        batch->at_us = begin_us + sim_between(pool->sim, 0, DAY_S * 9 / 10) * SIM_S;
        batch->seconds = mem_alloc(batch->count * sizeof(unsigned));
        for (unsigned i = 0; i < batch->count; i++) {
            batch->seconds[i] = (unsigned)sim_between(pool->sim, JOB_MIN_S, JOB_MAX_S);
        }
        batch->cpus = (unsigned)sim_between(pool->sim, 1, CPUS_MAX);
        batch->cpus = sim_chance(pool->sim, 500) ? 1 : batch->cpus;
        batch->fame = (unsigned)sim_between(pool->sim, 0, FAMES - 1);
        batch->limits = pool->options.hasty ? "pool" : NULL;
        batch->machines = pool->options.faults != 0 ? "TARGET.Disk >= RequestDisk" : NULL;
        if ((pool->options.faults & 1U << FAULT_CLIENT) != 0 &&
            sim_chance(pool->sim, REMOVED_BATCHES)) {
            batch->remove_us = batch->at_us + sim_between(pool->sim, 0, REMOVE_MAX_S) * SIM_S;
        }
        first += batch->count;
        left -= batch->count;
        vec_push(&batches, batch);
    }
    client->batch_count = batches.count;
    client->batches = mem_zalloc((batches.count + 1) * sizeof(*client->batches));
    for (size_t i = 0; i < batches.count; i++) {
        client->batches[i] = *(struct client_batch *)batches.items[i];
    }
    vec_fini(&batches, mem_free);
}

static void free_batches(struct client *client)
{
    for (size_t i = 0; i < client->batch_count; i++) {
        mem_free(client->batches[i].seconds);
    }
    mem_free(client->batches);
}

/* ---- the day --------------------------------------------------------------------------------- */

static bool is_over(const struct pool *pool)
{
    return judge_verdict(pool->judge)[0] != '\0';
}

static bool all_asleep(const struct pool *pool)
{
    const struct sim_host *host;
    unsigned awake = 0;
    for (size_t i = 0; (host = sim_host_at(pool->sim, i)) != NULL; i++) {
        awake += host != pool->central && host->power != SIM_HOST_OFF;
    }
    return awake <= (pool->options.story != NULL ? pool->options.story->awake_max : 0);
}

static void run_until(struct pool *pool, uint64_t until_us)
{
    uint64_t most = pool->options.story != NULL ? UINT64_MAX : EVENTS_MAX;
    while (!is_over(pool) && sim_counted(pool->sim, SIM_COUNT_EVENTS) < most &&
           sim_step(pool->sim, until_us)) {
    }
}

/* ---- what the faults are told, and ask ------------------------------------------------------- */

static void see_job(void *arg, uint64_t began_us, unsigned number, const struct ad *ad)
{
    const struct pool *pool = arg;
    fault_truth_job_seen(pool->fault_truth, began_us, number, ad);
}

static bool is_job_excused(void *arg, unsigned number)
{
    const struct pool *pool = arg;
    return fault_truth_is_excused(pool->fault_truth, number);
}

static void see_offline(void *arg, uint64_t began_us, struct ad *const *ads, size_t count)
{
    struct pool *pool = arg;
    const struct pool_story *story = pool->options.story;
    pool->judged.offline(pool->judged.arg, began_us, ads, count);
    story->offline_seen(story->arg, began_us, ads, count);
}

static void see_jobs(void *arg, uint64_t began_us, struct ad *const *queue, size_t queue_count,
                     struct ad *const *history, size_t history_count)
{
    struct pool *pool = arg;
    pool->judged.jobs(pool->judged.arg, began_us, queue, queue_count, history, history_count);
}

static void see_refusal(void *arg, unsigned batch, int status, const char *text)
{
    struct pool *pool = arg;
    pool->judged.refused(pool->judged.arg, batch, status, text);
}

static void see_sent(void *arg, struct sim_process *from, uint64_t connection, bool by_client,
                     const char *route, const void *data, size_t length)
{
    const struct pool *pool = arg;
    (void)connection;
    (void)data;
    if (pool->faults != NULL) {
        faults_sent(pool->faults, from, by_client, route, length);
    }
}

static void see_line(void *arg, struct sim_process *process, const char *line, size_t length)
{
    const struct pool *pool = arg;
    fault_truth_log_line(pool->fault_truth, process, line, length);
}

static void see_end(void *arg, struct sim_process *process, int status, int signal_number)
{
    const struct pool *pool = arg;
    (void)signal_number;
    fault_truth_process_ended(pool->fault_truth, process, status);
}

static void see_start(void *arg, struct sim_process *process, const char *key)
{
    const struct pool *pool = arg;
    (void)process;
    fault_truth_job_started(pool->fault_truth, key);
}

static void plan_faults(struct pool *pool, uint64_t dawn_us, uint64_t dusk_us, uint64_t pause_us)
{
    const struct faults_options options = {.seed = pool->options.seed,
                                           .begin_us = dawn_us,
                                           .end_us = dusk_us,
                                           .pause_max_us = pause_us,
                                           .kinds = pool->options.faults,
                                           .nodes = pool->options.nodes,
                                           .central = pool->central,
                                           .store = STORE,
                                           .truth = pool->fault_truth};
    pool->faults = faults_create(pool->sim, &options);
}

/* ---- life ------------------------------------------------------------------------------------ */

static void create_simulation(struct pool *pool)
{
    size_t count = 0;
    for (; sim_daemon_program(count) != NULL; count++) {
        pool->programs[count] = sim_daemon_program(count);
    }
    pool->setup_program = (struct sim_program){.name = "setup", .start = setup_start, .data = pool};
    client_program(&pool->client_program, &pool->client);
    pool->programs[count++] = &pool->setup_program;
    pool->programs[count++] = &pool->client_program;
    tyrant_program(&pool->tyrant_program, &pool->tyrant);
    pool->programs[count++] = &pool->tyrant_program;
    witness_program(&pool->witness_program, &pool->witness);
    pool->programs[count++] = &pool->witness_program;
    if (pool->options.hasty) {
        steward_program(&pool->steward_program, &pool->steward);
        pool->programs[count++] = &pool->steward_program;
    }
    if (pool->options.program != NULL) {
        pool->programs[count++] = pool->options.program;
    }
    if (pool->options.helper != NULL) {
        pool->programs[count++] = pool->options.helper;
        pool->programs[count++] = &sim_program_pilot;
    }
    CHECK(count < ARRAY_COUNT(pool->programs));
    struct judge_options judge_options = {.jobs = pool->options.jobs,
                                          .output_directory = OUTPUT,
                                          .central = CENTRAL,
                                          .tap = pool->options.tap};
    if (pool->options.story != NULL) {
        judge_options.is_ordered = pool->options.story->is_ordered;
        judge_options.arg = pool->options.story->arg;
        judge_options.awake_max = pool->options.story->awake_max;
        judge_options.is_output = pool->options.story->is_output;
        judge_options.is_taken_away = pool->options.story->is_taken_away;
        judge_options.job_seen = pool->options.story->job_seen;
        judge_options.is_excused = pool->options.story->is_excused;
    }
    if (pool->options.faults != 0) {
        judge_options.job_seen = see_job;
        judge_options.is_excused = is_job_excused;
        judge_options.arg = pool;
    }
    pool->judge = judge_create(&judge_options);
    struct sim_options options = {.seed = pool->options.seed,
                                  .programs = pool->programs,
                                  .lease_timers = pool->options.faults != 0,
                                  .verbose = pool->options.trace};
    judge_observe(pool->judge, &options.observer);
    pool->sim = sim_create(&options);
    judge_attach(pool->judge, pool->sim);
    if (pool->options.faults != 0) {
        const struct sim_observer also = {.sent = see_sent,
                                          .log_line = see_line,
                                          .process_ended = see_end,
                                          .job_started = see_start,
                                          .arg = pool};
        pool->fault_truth =
            fault_truth_create(pool->sim, pool->judge, &pool->client, pool->options.jobs);
        sim_observe(pool->sim, &also);
    }
    if (pool->options.begins != NULL) {
        pool->options.begins(pool->options.arg, pool->sim);
    }
}

static void build_pool(struct pool *pool)
{
    static const char *const SETUP[] = {"/usr/bin/setup", NULL};
    static const char *const CLIENT[] = {"/usr/bin/client", NULL};
    static const char *const TYRANT[] = {"/usr/bin/tyrant", NULL};
    static const char *const WITNESS[] = {"/usr/bin/witness", NULL};
    static const char *const MASTER[] = {"/usr/sbin/roost-master", NULL};
    struct sim_host_options options = {.name = CENTRAL,
                                       .cpus = 8,
                                       .boot_min_ms = 3000,
                                       .boot_max_ms = 20000};
    pool->supervised = sim_chance(pool->sim, 500);
    pool->central = sim_host_create(pool->sim, &options);
    put_files(pool, pool->central, (struct kind){0}, NULL);
    sim_host_boot_now(pool->central);
    CHECK(sim_spawn(pool->central, SETUP) != NULL);
    sim_run_for(pool->sim, SIM_S);
    CHECK(pool->is_set_up);
    sim_host_service(pool->central, MASTER, pool->supervised);
    sim_host_service(pool->central, CLIENT, true);
    bool some_seeds = sim_chance(pool->sim, 500) && pool->options.chaos;
    if (pool->options.tyrant || some_seeds) {
        sim_host_service(pool->central, TYRANT, true);
        pool->witness.quiet_from_us = pool->tyrant.until_us;
    }
    sim_host_service(pool->central, WITNESS, true);
    if (pool->options.hasty) {
        add_program(pool, &pool->steward_program);
    }
    if (pool->options.program != NULL) {
        add_program(pool, pool->options.program);
    }
    for (unsigned i = 1; i <= pool->options.nodes; i++) {
        make_node(pool, i);
    }
}

/* Returns the longest pause between two damages: the option, or one that the seed chooses. */
static uint64_t pause_of(struct pool *pool)
{
    static const unsigned PAUSES_S[] = {12, 25, 40, 80};
    uint64_t by_seed = PAUSES_S[sim_between(pool->sim, 0, ARRAY_COUNT(PAUSES_S) - 1)];
    return pool->options.pause_s > 0 ? pool->options.pause_s : by_seed;
}

void pool_run(const struct pool_options *options, struct pool_result *ret)
{
    const struct pool_story *story = options->story;
    struct pool *pool = mem_zalloc(sizeof(*pool));
    pool->options = *options;
    pool->client = (struct client){.schedd_socket = "unix:/var/lib/roost/spool/schedd.sock",
                                   .collector_address = "tcp:" CENTRAL ":9618",
                                   .token_path = SECURITY "/tokens/USER",
                                   .ca_path = SECURITY "/ca.pem",
                                   .program = JOB_PROGRAM,
                                   .steps_program = STEPS_PROGRAM,
                                   .directory = OUTPUT,
                                   .releases = options->faults != 0,
                                   .audit_us = (story != NULL ? story->audit_s : 20) * SIM_S};
    pool->tyrant = (struct tyrant){.collector_address = "tcp:" CENTRAL ":9618",
                                   .token_path = SECURITY "/tokens/NEGOTIATOR",
                                   .ca_path = SECURITY "/ca.pem",
                                   .keys_path = SECURITY "/keys",
                                   .until_us = UINT64_MAX};
    pool->witness = (struct witness){.collector_address = "tcp:" CENTRAL ":9618",
                                     .schedd_socket = pool->client.schedd_socket,
                                     .token_path = SECURITY "/tokens/USER",
                                     .ca_path = SECURITY "/ca.pem"};
    pool->steward = (struct steward){.schedd_socket = pool->client.schedd_socket,
                                     .collector_address = "tcp:" CENTRAL ":9618",
                                     .token_path = SECURITY "/tokens/USER",
                                     .ca_path = SECURITY "/ca.pem",
                                     .keys_path = SECURITY "/keys",
                                     .hasty = true,
                                     .nodes = options->nodes,
                                     .jobs = options->jobs};
    create_simulation(pool);
    pool->witness.judge = pool->judge;
    judge_listen(pool->judge, &pool->client.events);
    if (story != NULL && story->offline_seen != NULL) {
        pool->judged = pool->client.events;
        pool->client.events = (struct client_events){.jobs = see_jobs,
                                                     .offline = see_offline,
                                                     .refused = see_refusal,
                                                     .arg = pool};
    }
    build_pool(pool);
    uint64_t dawn_us = sim_now_us(pool->sim) + (NIGHT_S + QUIET_S) * SIM_S;
    uint64_t dusk_us = dawn_us + (story != NULL ? story->day_s : DAY_S) * SIM_S;
    uint64_t calm_s = story != NULL ? story->calm_s : CALM_S;
    pool->tyrant.until_us = dusk_us;
    pool->steward.begin_us = dawn_us;
    pool->steward.until_us = dusk_us;
    pool->witness.quiet_from_us = pool->witness.quiet_from_us > 0 ? dusk_us + WITNESS_SETTLE_US : 0;
    plan_batches(pool, dawn_us);
    const uint64_t pause_us = pause_of(pool) * SIM_S;
    bool clocks = (story != NULL ? story->clocks : options->chaos) && options->seed % 2 == 0;
    struct chaos_options chaos_options = {.seed = options->seed,
                                          .begin_us = dawn_us,
                                          .end_us = options->chaos ? dusk_us : 0,
                                          .pause_max_us = pause_us,
                                          .clocks_end_us = clocks ? dusk_us : 0,
                                          .central = pool->central,
                                          .nodes = options->nodes +
                                                   (story != NULL ? story->farm_hosts : 0)};
    pool->chaos = chaos_create(pool->sim, &chaos_options);
    if (options->faults != 0) {
        plan_faults(pool, dawn_us, dusk_us, pause_us);
    }
    if (story != NULL) {
        story->begins(story->arg, pool->sim, pool->judge, dawn_us);
    }
    for (unsigned i = 1; i <= options->nodes; i++) {
        sim_host_boot(sim_host_at(pool->sim, i));
    }
    run_until(pool, dusk_us);
    for (uint64_t i = 0; i < calm_s / 60 && !is_over(pool); i++) {
        run_until(pool, sim_now_us(pool->sim) + 60 * SIM_S);
        if (judge_all_completed(pool->judge) && all_asleep(pool) &&
            (story == NULL || story->is_over(story->arg))) {
            break;
        }
    }
    if (!is_over(pool)) { /* nobody may be woken for nothing */
        run_until(pool, sim_now_us(pool->sim) + 400 * SIM_S);
        judge_finish(pool->judge);
        if (options->faults != 0) {
            fault_truth_finish(pool->fault_truth);
        }
        if (story != NULL) {
            story->ends(story->arg);
        }
    }
    *ret = (struct pool_result){.hash = sim_trace_hash(pool->sim),
                                .end_us = sim_now_us(pool->sim),
                                .completed = judge_completed(pool->judge),
                                .wakes = judge_wakes(pool->judge),
                                .runs = judge_runs(pool->judge),
                                .audits = judge_audits(pool->judge),
                                .pieces = judge_pieces(pool->judge),
                                .preemptions = judge_preemptions(pool->judge),
                                .reclaims = judge_reclaims(pool->judge),
                                .prompt = pool->witness.checks};
    (void)snprintf(ret->verdict, sizeof(ret->verdict), "%s", judge_verdict(pool->judge));
    for (unsigned i = 0; i < SIM_COUNT_MAX; i++) {
        ret->counts[i] = sim_counted(pool->sim, (enum sim_count)i);
    }
    if (is_over(pool)) {
        (void)fflush(stdout);
        sim_trace_dump(pool->sim, 1, TRACE_SHOWN);
    }
    sim_destroy(pool->sim);
    chaos_destroy(pool->chaos);
    faults_destroy(pool->faults);
    fault_truth_destroy(pool->fault_truth);
    judge_destroy(pool->judge);
    free_batches(&pool->client);
    mem_free(pool);
}
