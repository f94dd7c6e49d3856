/* bench/queue_memory.c - the schedd's memory while many jobs are queued: after their submission,
 * after kill -9 and the load of the queue, and after all have left.
 *
 * A personal pool with real daemons; BENCH_JOBS jobs of one submit file, whose arguments and output
 * files differ, wait for a machine that is not there.  Measured is the private memory of the schedd
 * (Private_* of /proc/PID/smaps_rollup) above that of the empty one, and the time from kill -9 to
 * an answer.
 *
 * Environment: ROOST_BIN (needed), BENCH_JOBS (100,000), BENCH_KEEP=1 leaves the directory.
 *
 * SHORT: BENCH_JOBS=1000 BENCH_PART=30
 * LINK: cli wire offline_ads classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/job_pool.h"
#include "bench/private_memory.h"

#define TARGET_BYTES 600 /* a job */

struct search {
    int pid;
};

static void note_schedd(void *arg, int pid, const char *name)
{
    struct search *search = arg;
    if (strcmp(name, "roost-schedd") == 0) {
        search->pid = pid;
    }
}

static int schedd_pid(void)
{
    struct search search = {0};
    pool_each_process(note_schedd, &search);
    return search.pid;
}

/* The schedd's memory once it stays as it is. */
static double schedd_kb(struct job_pool *pool)
{
    double kb = private_kb(schedd_pid()), before_kb;
    do {
        before_kb = kb;
        cli_pause(&pool->bench.cli, (uint64_t)part_of(3000));
        kb = private_kb(schedd_pid());
    } while (kb < 0.99 * before_kb || kb > 1.01 * before_kb);
    return kb;
}

static int count_jobs(struct job_pool *pool)
{
    const char *const argv[] = {"roost", "q", "-totals", NULL};
    return run(&pool->bench, argv, NULL);
}

int main(void)
{
    struct job_pool pool = {.bench = {.bin = getenv("ROOST_BIN"), .what = "queue_memory"}};
    int jobs = number("BENCH_JOBS", 100000, 10000000);
    char text[600];
    pool_begin(&pool, "1", "MAX_JOBS_PER_SUBMISSION = 10000000\nMAX_JOBS_PER_OWNER = 10000000\n");
    double empty_kb = schedd_kb(&pool);
    for (int left = jobs; left > 0; left -= left > 100000 ? 100000 : left) {
        (void)snprintf(text, sizeof text,
                       "executable = /bin/sleep\narguments = $(Process)\noutput = out.$(Process)\n"
                       "transfer_executable = false\nrequirements = Machine == \"nowhere\"\n"
                       "queue %d\n",
                       left > 100000 ? 100000 : left);
        pool_submit(&pool, text);
    }
    double submitted_kb = schedd_kb(&pool) - empty_kb;
    double began_ms = ms_of(CLOCK_MONOTONIC);
    CHECK(kill(schedd_pid(), SIGKILL) == 0);
    while (count_jobs(&pool) != 0) {
        cli_pause(&pool.bench.cli, 20);
    }
    double away_ms = ms_of(CLOCK_MONOTONIC) - began_ms;
    double loaded_kb = schedd_kb(&pool) - empty_kb;
    const char *const rm[] = {"roost", "rm", "-all", NULL};
    began_ms = ms_of(CLOCK_MONOTONIC);
    CHECK(run(&pool.bench, rm, NULL) == 0);
    double removed_ms = ms_of(CLOCK_MONOTONIC) - began_ms;
    double left_kb = schedd_kb(&pool) - empty_kb;
    (void)printf("BENCH queue_memory_submitted %.0f bytes ratio %.2f vs target %d bytes\n",
                 submitted_kb * 1024 / jobs, submitted_kb * 1024 / jobs / TARGET_BYTES,
                 TARGET_BYTES);
    (void)printf("BENCH queue_memory_loaded %.0f bytes ratio %.2f vs submitted\n",
                 loaded_kb * 1024 / jobs, loaded_kb / submitted_kb);
    (void)printf("BENCH queue_memory_removed %.0f bytes ratio %.2f vs submitted\n",
                 left_kb * 1024 / jobs, left_kb / submitted_kb);
    (void)printf("BENCH queue_away %.0f ms\nBENCH queue_removal %.0f ms\n", away_ms, removed_ms);
    pool_end(&pool);
    return 0;
}
