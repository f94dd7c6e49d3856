/* bench/idle_pool.c - the CPU time and the wakeups of all processes of a pool in which nothing
 * happens: machines awake and idle, or all asleep.
 *
 * A personal pool with real daemons; measured are BENCH_SECONDS after BENCH_REST seconds of rest.
 * What each program takes goes to stderr.  idle_pool is all of them, idle_machine what runs on a
 * machine that executes jobs: its master and its startd.
 *
 * Environment: ROOST_BIN (needed), BENCH_NODES (1), BENCH_CPUS (16) slots of each node,
 * BENCH_SECONDS (30), BENCH_REST (20), BENCH_KEEP=1 leaves the directory.  BENCH_ASLEEP (0): above
 * 0, so many machines are asleep, the pool's own among them, and none is awake.
 *
 * SHORT: BENCH_CPUS=2 BENCH_SECONDS=1 BENCH_REST=1
 * LINK: cli wire offline_ads classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/process_cpu.h"
#include "bench/update_ads.h"

#define TARGET_MS_MINUTE        4.0  /* each node */
#define TARGET_ASLEEP_MS_MINUTE 10.0 /* however many are asleep */

static void note_startd(void *arg, int pid, const char *name)
{
    (void)pid;
    *(bool *)arg = *(bool *)arg || strcmp(name, "roost-startd") == 0;
}

/* Sends offline ads of machines that do not exist, and puts the pool's own to sleep. */
static void all_sleep(struct job_pool *pool, int nodes, int machines)
{
    struct strbuf text;
    char path[400];
    strbuf_init(&text, 0);
    for (int i = nodes; i < machines; i++) {
        struct ad *ad = make_ad(OFFLINE, (unsigned)i, 0);
        ad_print_long(ad, &text);
        strbuf_puts(&text, "\n");
        ad_destroy(ad);
    }
    (void)snprintf(path, sizeof path, "%s/bench.ads", pool->bench.dir);
    FILE *file = fopen(path, "we");
    CHECK(file != NULL && fputs(strbuf_text(&text), file) >= 0 && fclose(file) == 0);
    strbuf_fini(&text);
    const char *const advertise[] = {"roost", "advertise", "Machine", path, NULL};
    bool done = nodes >= machines || run(&pool->bench, advertise, NULL) == 0;
    for (int i = 1; done && i <= nodes; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "wn%02d", i);
        const char *const sleep[] = {"roost", "power", "sleep", name, "--force", NULL};
        done = run(&pool->bench, sleep, NULL) == 0;
    }
    if (!done) {
        pool_fail(pool, "roost advertise, roost power sleep", NULL);
    }
    double end_ms = ms_of(CLOCK_MONOTONIC) + POOL_PATIENCE_MS;
    for (bool awake = true; awake;) {
        if (ms_of(CLOCK_MONOTONIC) > end_ms) {
            pool_fail(pool, "the machine does not go to sleep", NULL);
        }
        cli_pause(&pool->bench.cli, 100);
        awake = false;
        pool_each_process(note_startd, &awake);
    }
}

int main(void)
{
    struct job_pool pool = {.bench = {.bin = getenv("ROOST_BIN"), .what = "idle_pool"}};
    int nodes = number("BENCH_NODES", 1, 99);
    char cpus[16];
    (void)snprintf(cpus, sizeof cpus, "%d", number("BENCH_CPUS", 16, 64));
    int asleep = number("BENCH_ASLEEP", 0, 100000);
    double target_ms = asleep > 0 ? TARGET_ASLEEP_MS_MINUTE : TARGET_MS_MINUTE * nodes;
    pool_begin_nodes(&pool, nodes, cpus, "");
    if (asleep > 0) {
        all_sleep(&pool, nodes, asleep);
    }
    cli_pause(&pool.bench.cli, (uint64_t)number("BENCH_REST", 20, 1000) * 1000);
    struct process_cpu rates = process_cpu_rates(&pool, number("BENCH_SECONDS", 30, 1000));
    double minute_ms = 60 * rates.ms;
    (void)printf("BENCH idle_pool %.1f ms/min ratio %.2f vs wanted %.0f ms/min\n", minute_ms,
                 minute_ms / target_ms, target_ms);
    if (asleep == 0) {
        minute_ms = 60 * (process_cpu_each(&rates, "roost-startd") +
                          process_cpu_each(&rates, "roost-master"));
        (void)printf("BENCH idle_machine %.1f ms/min ratio %.2f vs target %.0f ms/min\n", minute_ms,
                     minute_ms / TARGET_MS_MINUTE, TARGET_MS_MINUTE);
    }
    pool_end(&pool);
    return 0;
}
