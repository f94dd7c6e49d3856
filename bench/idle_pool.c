/* bench/idle_pool.c - the CPU time and the wakeups of all processes of a pool in which nothing
 * happens: machines awake and idle.
 *
 * A personal pool with real daemons; measured are BENCH_SECONDS after BENCH_REST seconds of rest.
 * What each program takes goes to stderr.
 *
 * Environment: ROOST_BIN (needed), BENCH_NODES (1), BENCH_CPUS (16) slots of each node,
 * BENCH_SECONDS (30), BENCH_REST (20), BENCH_KEEP=1 leaves the directory.
 *
 * SHORT: BENCH_CPUS=2 BENCH_SECONDS=1 BENCH_REST=1
 * LINK: cli wire offline_ads classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/process_cpu.h"

#define TARGET_MS_MINUTE 4.0 /* each node */

int main(void)
{
    struct job_pool pool = {.bench = {.bin = getenv("ROOST_BIN"), .what = "idle_pool"}};
    int nodes = number("BENCH_NODES", 1, 99);
    char cpus[16];
    (void)snprintf(cpus, sizeof cpus, "%d", number("BENCH_CPUS", 16, 64));
    pool_begin_nodes(&pool, nodes, cpus, "");
    cli_pause(&pool.bench.cli, (uint64_t)number("BENCH_REST", 20, 1000) * 1000);
    double minute_ms = 60 * process_cpu_rate(&pool, number("BENCH_SECONDS", 30, 1000));
    (void)printf("BENCH idle_pool %.1f ms/min ratio %.2f vs %.0f ms/min\n", minute_ms,
                 minute_ms / (TARGET_MS_MINUTE * nodes), TARGET_MS_MINUTE * nodes);
    pool_end(&pool);
    return 0;
}
