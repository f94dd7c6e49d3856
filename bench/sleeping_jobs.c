/* bench/sleeping_jobs.c - the CPU time that our processes take while jobs run that only sleep and
 * have no cgroup: the watch of each starter over its job's processes.
 *
 * A personal pool with real daemons and a node for each 50 jobs; BASE_CGROUP is empty, as for an
 * ordinary user. Measured are BENCH_SECONDS with a quarter of BENCH_JOBS sleeping jobs, and with
 * all of them: what a starter does for its own job alone grows as the number of jobs, what each
 * does for the whole machine grows as its square.
 *
 * Environment: ROOST_BIN (needed), BENCH_JOBS (200), BENCH_SECONDS (15), BENCH_REST (20): seconds
 * from the start of the jobs to the measurement; BENCH_KEEP=1 leaves the directory.
 *
 * SHORT: BENCH_JOBS=4 BENCH_REST=1 BENCH_SECONDS=1
 * LINK: cli wire offline_ads classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/process_cpu.h"

#define TARGET_MS_S 30.0 /* with 200 jobs */
#define NODE_JOBS   50   /* most for one node: a token allows 64 slots */

static void wait_for(struct job_pool *pool, const char *total, int64_t wanted)
{
    double end_ms = ms_of(CLOCK_MONOTONIC) + POOL_PATIENCE_MS;
    while (pool_total(pool, total) != wanted) {
        if (ms_of(CLOCK_MONOTONIC) > end_ms) {
            pool_fail(pool, total, NULL);
        }
        cli_pause(&pool->bench.cli, 100);
    }
}

static double sleep_jobs(struct job_pool *pool, int more, int in_all)
{
    char text[500];
    (void)snprintf(text, sizeof text,
                   "executable = /bin/sleep\narguments = 3600\ntransfer_executable = false\n"
                   "request_memory = 32\nrequest_disk = 1024\nqueue %d\n",
                   more);
    pool_submit(pool, text);
    wait_for(pool, "RunningJobs", in_all);
    cli_pause(&pool->bench.cli, (uint64_t)number("BENCH_REST", 20, 1000) * 1000);
    (void)fprintf(stderr, "%d jobs sleep:\n", in_all);
    return process_cpu_rates(pool, number("BENCH_SECONDS", 15, 1000)).ms;
}

int main(void)
{
    struct job_pool pool = {.bench = {.bin = getenv("ROOST_BIN"), .what = "sleeping_jobs"}};
    int jobs = number("BENCH_JOBS", 200, 1000), few = jobs / 4;
    int nodes = (jobs + NODE_JOBS - 1) / NODE_JOBS;
    char cpus[16];
    CHECK(few > 0);
    (void)snprintf(cpus, sizeof cpus, "%d", (jobs + nodes - 1) / nodes);
    pool_begin_nodes(&pool, nodes, cpus, "BASE_CGROUP = \"\"\n");
    double few_ms = sleep_jobs(&pool, few, few);
    double all_ms = sleep_jobs(&pool, jobs - few, jobs);
    (void)printf("BENCH sleeping_jobs %.1f ms/s ratio %.2f vs target %.1f ms/s\n", all_ms,
                 all_ms / (TARGET_MS_S * jobs / 200), TARGET_MS_S * jobs / 200);
    (void)printf("BENCH sleeping_job_growth %.3f ms/s each ratio %.2f vs %d jobs\n", all_ms / jobs,
                 all_ms / jobs / (few_ms / few), few);
    const char *const rm[] = {"roost", "rm", "-all", NULL};
    (void)run(&pool.bench, rm, NULL);
    wait_for(&pool, "RunningJobs", 0);
    pool_end(&pool);
    return 0;
}
