/* bench/short_jobs.c - /bin/true through a whole pool: jobs a second, and what each costs.
 *
 * A personal pool with real daemons, one node with 16 slots.  First a bare loop in this process
 * (bench/bare_job.h), one job at a time: sandbox, cgroup and namespaces, spawn, removal.  Then
 * BENCH_JOBS jobs of /bin/true without any file, then as many whose standard output and error go
 * back to files of their own.  The rate is taken from the moment when a quarter of the jobs has
 * left the queue to the end; the CPU time is that of all daemons and jobs together (as root), and
 * of each program of ours that lived through it.
 *
 * Environment: ROOST_BIN (needed), BENCH_JOBS, BENCH_ONLY=plain or files, BENCH_KEEP=1 leaves the
 * directory.
 *
 * SHORT: BENCH_JOBS=20 BENCH_PART=60
 * LINK: starter cli wire offline_ads classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/bare_job.h"
#include "bench/job_pool.h"

#define KINDS_MAX 16

/* CPU time of our programs that live, by their names. */
struct programs {
    struct {
        char name[64];
        double cpu_ms;
        int processes;
    } all[KINDS_MAX];
    size_t count;
};

static void add_program(void *arg, int pid, const char *name)
{
    struct programs *programs = arg;
    char path[64], text[1024] = "";
    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return;
    }
    bool read = fgets(text, sizeof text, file) != NULL;
    (void)fclose(file);
    const char *at = read ? strrchr(text, ')') : NULL;
    unsigned long user = 0, system = 0;
    if (at == NULL ||
        sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2) {
        return;
    }
    size_t i = 0;
    while (i < programs->count && strcmp(programs->all[i].name, name) != 0) {
        i++;
    }
    if (i == programs->count) {
        if (i == KINDS_MAX) {
            return;
        }
        (void)snprintf(programs->all[i].name, sizeof programs->all[i].name, "%s", name);
        programs->count++;
    }
    programs->all[i].cpu_ms += (double)(user + system) * 1e3 / (double)sysconf(_SC_CLK_TCK);
    programs->all[i].processes++;
}

static void print_programs(const struct programs *before, const struct programs *after,
                           const char *kind, int jobs)
{
    for (size_t i = 0; i < after->count; i++) {
        double cpu_ms = after->all[i].cpu_ms;
        for (size_t k = 0; k < before->count; k++) {
            cpu_ms -=
                strcmp(before->all[k].name, after->all[i].name) == 0 ? before->all[k].cpu_ms : 0;
        }
        (void)fprintf(stderr, "  %s %-18s %8.3f ms a job (%d processes)\n", kind,
                      after->all[i].name, cpu_ms / jobs, after->all[i].processes);
    }
}

static int64_t left(struct job_pool *pool)
{
    struct ad *totals = pool_totals(pool);
    int64_t count = ad_int_or(totals, "IdleJobs", 0) + ad_int_or(totals, "RunningJobs", 0) +
                    ad_int_or(totals, "CompletedJobs", 0);
    int64_t held = ad_int_or(totals, "HeldJobs", 0);
    ad_destroy(totals);
    if (held > 0) {
        pool_fail(pool, "jobs are held", NULL);
    }
    return count;
}

static void measure_jobs(struct job_pool *pool, const char *kind, const char *more, int jobs,
                         double target, const struct bare_cost *bare)
{
    char text[1000];
    struct programs before = {.count = 0}, after = {.count = 0};
    double end_s = bare_now_s() + POOL_PATIENCE_MS / 1e3, began_s = 0, cpu_ms = 0;
    int64_t count = jobs, at_begin = 0;
    (void)snprintf(text, sizeof text,
                   "executable = /bin/true\ntransfer_executable = false\nrequest_memory = 32\n"
                   "request_disk = 1024\n%squeue %d\n",
                   more, jobs);
    pool_submit(pool, text);
    while (count > 0) {
        cli_pause(&pool->bench.cli, POOL_POLL_MS);
        count = left(pool);
        if (began_s == 0 && count <= jobs - jobs / 4) {
            began_s = bare_now_s();
            at_begin = count;
            cpu_ms = pool_cpu_ms(pool);
            pool_each_process(add_program, &before);
        }
        if (bare_now_s() > end_s) {
            pool_fail(pool, "the jobs do not end", NULL);
        }
    }
    double rate = (double)at_begin / (bare_now_s() - began_s);
    cpu_ms = pool_cpu_ms(pool) - cpu_ms;
    pool_each_process(add_program, &after);
    print_programs(&before, &after, kind, (int)at_begin);
    (void)printf("BENCH short_jobs_%s %.0f jobs/s ratio %.2f vs %.0f jobs/s\n", kind, rate,
                 rate / target, target);
    (void)printf("BENCH short_jobs_%s_part %.2f of_a_bare_loop ratio %.2f vs 0.25\n", kind,
                 rate * bare->wall_us / 1e6, rate * bare->wall_us / 1e6 / 0.25);
    if (cpu_ms > 0) {
        (void)printf("BENCH short_jobs_%s_cpu %.2f ms ratio %.2f vs bare_job_cpu\n", kind,
                     cpu_ms / (double)at_begin, cpu_ms * 1e3 / (double)at_begin / bare->cpu_us);
    }
    (void)fflush(stdout);
}

int main(void)
{
    struct job_pool pool = {.bench = {.bin = getenv("ROOST_BIN"), .what = "short"}};
    struct bare bare;
    char files[700];
    const char *only = getenv("BENCH_ONLY");
    int jobs = number("BENCH_JOBS", 2000, 100000);
    bare_begin(&bare);
    struct bare_cost cost = bare_measure(&bare, getuid() == 0, true);
    bare_end(&bare);
    (void)printf("BENCH bare_job_cpu %.0f us\nBENCH bare_job_rate %.0f jobs/s\n", cost.cpu_us,
                 1e6 / cost.wall_us);
    pool_begin(&pool, "16", getenv("BENCH_SETTINGS") != NULL ? getenv("BENCH_SETTINGS") : "");
    (void)snprintf(files, sizeof files,
                   "output = %s/out/$(Process).out\nerror = %s/out/$(Process).err\n",
                   pool.bench.dir, pool.bench.dir);
    char directory[400];
    (void)snprintf(directory, sizeof directory, "%s/out", pool.bench.dir);
    CHECK(mkdir(directory, 0755) == 0 && chmod(directory, 0777) == 0);
    if (only == NULL || strcmp(only, "plain") == 0) {
        measure_jobs(&pool, "plain", "", jobs, 500, &cost);
    }
    if (only == NULL || strcmp(only, "files") == 0) {
        measure_jobs(&pool, "files", files, jobs, 300, &cost);
    }
    pool_end(&pool);
    return 0;
}
