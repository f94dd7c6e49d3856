/* bench/drain_transaction.c - what a drain transaction costs the startd.
 *
 * A real roost-startd of 16, then of 128 slots, under a real collector, over TLS.  The transaction:
 * START_DRAINING with a CheckExpr (all ads are built anew for it), the estimates, COMMIT_DRAINING
 * until it is answered: durable.  Then all slots become Drained/Idle and are shown so; then
 * CANCEL_DRAINING gives them back.  CPU time of the startd's process, all threads; what it
 * spends anyway is among it.
 *
 *   BENCH_TRIES   rounds (40)
 *
 * SHORT: BENCH_TRIES=1
 * LINK: base cli drain wire classad knobs
 * SPDX-License-Identifier: Apache-2.0
 */
#include <signal.h>

#include "bench/job_pool.h"
#include "drain/drain_client.h"

#define TARGET_MS 5.0

struct asked {
    bool offered, done;
    enum drain_code code;
    char id[DRAIN_ID_MAX], text[300];
    struct drain_client *client;
};

static void on_offered(void *arg, const char *id, const struct ad *offer)
{
    struct asked *asked = arg;
    (void)offer;
    (void)snprintf(asked->id, sizeof asked->id, "%s", id);
    drain_client_commit(asked->client);
}

static void on_done(void *arg, enum drain_code code, const char *text, const struct ad *answer)
{
    struct asked *asked = arg;
    (void)answer;
    asked->code = code;
    (void)snprintf(asked->text, sizeof asked->text, "%s", text);
    asked->done = true;
}

static const struct drain_client_events EVENTS = {.offered = on_offered, .done = on_done};

static void settle(struct job_pool *pool, struct asked *asked)
{
    const struct err err_of = {0};
    loop_run_until(pool->bench.cli.loop, &asked->done);
    if (asked->code != DRAIN_OK) {
        struct err err = err_of;
        (void)snprintf(err.text, sizeof err.text, "%s", asked->text);
        pool_fail(pool, "draining", &err);
    }
    drain_client_destroy(asked->client);
}

static void drain(struct job_pool *pool, char id[DRAIN_ID_MAX])
{
    struct asked asked = {0};
    struct err err;
    struct drain_request request = {.check = (char *)(uintptr_t) "SlotID > 0 && Cpus >= 1",
                                    .reason = (char *)(uintptr_t) "bench",
                                    .commit_s = DRAIN_COMMIT_S};
    if (drain_client_start(pool->bench.cli.collector, "wn01", &request, &EVENTS, &asked,
                           &asked.client, &err) != 0) {
        pool_fail(pool, "START_DRAINING", &err);
    }
    settle(pool, &asked);
    memcpy(id, asked.id, DRAIN_ID_MAX);
}

static void cancel(struct job_pool *pool, const char *id)
{
    struct asked asked = {0};
    struct err err;
    if (drain_client_cancel(pool->bench.cli.collector, "wn01", id, NULL, &EVENTS, &asked,
                            &asked.client, &err) != 0) {
        pool_fail(pool, "CANCEL_DRAINING", &err);
    }
    settle(pool, &asked);
}

/* Until the collector knows all of its slots in that state. */
static void wait_slots(struct job_pool *pool, const char *state, unsigned slots)
{
    char constraint[200];
    (void)snprintf(constraint, sizeof constraint, "State =?= \"%s\" && Activity =?= \"Idle\"",
                   state);
    for (int i = 0; i < POOL_PATIENCE_MS / POOL_POLL_MS; i++) {
        struct ad *args = ad_create();
        struct cli_reply reply;
        struct err err;
        static const char *const NAME[] = {"Name"};
        ad_set_string(args, "Type", "Machine");
        ad_set_string(args, "Constraint", constraint);
        ad_set_strings(args, "Projection", NAME, 1);
        const struct wire_body body = {.args = args};
        if (cli_call(&pool->bench.cli, pool->bench.cli.collector, NULL, VERB_QUERY, &body, 0,
                     &reply, &err) != 0) {
            pool_fail(pool, "QUERY", &err);
        }
        size_t count = reply.ads.count;
        cli_reply_fini(&reply);
        ad_destroy(args);
        if (count == slots) {
            return;
        }
        cli_pause(&pool->bench.cli, POOL_POLL_MS);
    }
    pool_fail(pool, "its slots", NULL);
}

static double cpu_ms(pid_t pid)
{
    clockid_t clock;
    struct timespec now;
    CHECK(clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &now) == 0);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* What the startd spends on each part of one round. */
enum part { TRANSACTION, DRAINED, CANCELLED, PARTS };

static double middle(double *took, size_t count)
{
    qsort(took, count, sizeof *took, compare);
    return took[count / 2];
}

static void measure_machine(unsigned slots, size_t tries)
{
    struct job_pool pool = {.bench = {.what = "drain_transaction", .bin = getenv("ROOST_BIN")}};
    char path[400], id[DRAIN_ID_MAX], cpus[16];
    double *took[PARTS];
    struct err err;
    (void)snprintf(cpus, sizeof cpus, "%u", slots);
    for (size_t part = 0; part < PARTS; part++) {
        took[part] = mem_zalloc((tries + 1) * sizeof(double));
    }
    pool_begin(&pool, cpus, "PERSONAL_NODES = awake\n");
    if (cli_collector(&pool.bench.cli, &err) != 0) {
        pool_fail(&pool, "the collector", &err);
    }
    wait_slots(&pool, "Unclaimed", slots);
    (void)snprintf(path, sizeof path, "%s/nodes/wn01/lock/startd.lock", pool.bench.dir);
    FILE *lock = fopen(path, "re");
    int pid = 0;
    CHECK(lock != NULL && fscanf(lock, "%d", &pid) == 1 && fclose(lock) == 0);
    for (size_t i = 0; i <= tries; i++) { /* the first is for warmth */
        double at_ms[PARTS + 1] = {cpu_ms(pid)};
        size_t to = i > 0 ? i - 1 : tries;
        drain(&pool, id);
        at_ms[TRANSACTION + 1] = cpu_ms(pid);
        wait_slots(&pool, "Drained", slots);
        at_ms[DRAINED + 1] = cpu_ms(pid);
        cancel(&pool, id);
        wait_slots(&pool, "Unclaimed", slots);
        at_ms[CANCELLED + 1] = cpu_ms(pid);
        for (size_t part = 0; part < PARTS; part++) {
            took[part][to] = at_ms[part + 1] - at_ms[part];
        }
    }
    double transaction_ms = middle(took[TRANSACTION], tries);
    (void)printf("BENCH drain_transaction_%u_slots %.2f ms ratio %.2f vs target %.0f ms\n", slots,
                 transaction_ms, transaction_ms / TARGET_MS, TARGET_MS);
    (void)printf("BENCH drain_transaction_%u_slots_worst %.2f ms\n", slots,
                 took[TRANSACTION][tries - 1]);
    (void)printf("BENCH drained_and_told_%u_slots %.2f ms\n", slots, middle(took[DRAINED], tries));
    (void)printf("BENCH drain_cancelled_%u_slots %.2f ms\n", slots, middle(took[CANCELLED], tries));
    for (size_t part = 0; part < PARTS; part++) {
        mem_free(took[part]);
    }
    pool_end(&pool);
}

int main(void)
{
    size_t tries = (size_t)number("BENCH_TRIES", 40, 1000);
    measure_machine(16, tries);
    measure_machine(128, tries);
    return 0;
}
