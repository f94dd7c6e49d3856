/* bench/job_memory.c - what a running job costs in memory: all our processes together.
 *
 * A personal pool with real daemons, one node with BENCH_JOBS slots (50).  The private memory
 * (Private_* of /proc/PID/smaps_rollup: what is nobody else's, too) of every process of ours is
 * taken while nothing runs, and again while as many jobs sleep.  What the jobs themselves take is
 * not counted; a keeper of a job's namespaces has its starter's memory and is not counted twice.
 *
 * Environment: ROOST_BIN (needed), BENCH_JOBS, BENCH_KEEP=1 leaves the directory,
 * BENCH_HOLD=SECONDS stands still while the jobs run.
 *
 * SHORT: BENCH_JOBS=2 BENCH_PART=10
 * LINK: cli wire offline_ads classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/job_pool.h"
#include "bench/private_memory.h"

#define KINDS_MAX 16
#define TARGET_KB 450

struct memory {
    struct {
        char name[64];
        double kb;
        int processes;
    } all[KINDS_MAX];
    size_t count;
    double kb;
};

static void add_process(void *arg, int pid, const char *name)
{
    struct memory *memory = arg;
    double kb = private_kb(pid);
    size_t i = 0;
    while (i < memory->count && strcmp(memory->all[i].name, name) != 0) {
        i++;
    }
    if (i == KINDS_MAX) {
        return;
    }
    if (i == memory->count) {
        (void)snprintf(memory->all[i].name, sizeof memory->all[i].name, "%s", name);
        memory->count++;
    }
    memory->all[i].kb += kb;
    memory->all[i].processes++;
    memory->kb += kb;
}

static void measure_memory(struct memory *memory)
{
    *memory = (struct memory){.count = 0};
    pool_each_process(add_process, memory);
    for (size_t i = 0; i < memory->count; i++) {
        (void)fprintf(stderr, "  %-18s %8.0f kB private, %d processes\n", memory->all[i].name,
                      memory->all[i].kb, memory->all[i].processes);
    }
}

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

int main(void)
{
    struct job_pool pool = {.bench = {.bin = getenv("ROOST_BIN"), .what = "job_memory"}};
    int jobs = number("BENCH_JOBS", 50, 1000);
    char cpus[16], text[500];
    struct memory idle, busy;
    (void)snprintf(cpus, sizeof cpus, "%d", jobs);
    pool_begin(&pool, cpus, "");
    /* A first job, so that its owner's shadow and what is made once is there. */
    pool_submit(&pool, "executable = /bin/true\ntransfer_executable = false\nrequest_memory = 32\n"
                       "request_disk = 1024\nqueue 1\n");
    wait_for(&pool, "IdleJobs", 0);
    wait_for(&pool, "RunningJobs", 0);
    cli_pause(&pool.bench.cli, (uint64_t)part_of(3000));
    (void)fprintf(stderr, "nothing runs:\n");
    measure_memory(&idle);
    (void)snprintf(text, sizeof text,
                   "executable = /bin/sleep\narguments = 3600\ntransfer_executable = false\n"
                   "request_memory = 32\nrequest_disk = 1024\nqueue %d\n",
                   jobs);
    pool_submit(&pool, text);
    wait_for(&pool, "RunningJobs", jobs);
    cli_pause(&pool.bench.cli, (uint64_t)part_of(5000));
    (void)fprintf(stderr, "%d jobs run:\n", jobs);
    measure_memory(&busy);
    if (getenv("BENCH_HOLD") != NULL) {
        cli_pause(&pool.bench.cli, (uint64_t)number("BENCH_HOLD", 60, 100000) * 1000);
    }
    double each_kb = (busy.kb - idle.kb) / jobs;
    (void)printf("BENCH job_memory %.0f kB ratio %.2f vs target %d kB\n", each_kb,
                 each_kb / TARGET_KB, TARGET_KB);
    const char *const rm[] = {"roost", "rm", "-all", NULL};
    (void)run(&pool.bench, rm, NULL);
    wait_for(&pool, "RunningJobs", 0);
    pool_end(&pool);
    return 0;
}
