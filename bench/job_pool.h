/* bench/job_pool.h - a personal pool of one node that runs jobs, for benches of running jobs.
 *
 * If root runs the bench, the whole pool is in a cgroup of its own.  The cgroup's CPU time is that
 * of all daemons and jobs, including processes that have ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_JOB_POOL_H
#define BENCH_JOB_POOL_H

#include <dirent.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "bench/command_speed.h"

#define POOL_PATIENCE_MS 600000
#define POOL_POLL_MS     10
#define CPUACCT          "/sys/fs/cgroup/cpuacct"

struct job_pool {
    struct bench bench;
    char group[200]; /* directory of the pool's cgroup (cpuacct); "": no cgroup */
};

static inline int pool_roost(struct job_pool *pool, const char *command, const char *argument)
{
    const char *const argv[] = {"roost", command, argument, NULL};
    return run(&pool->bench, argv, NULL);
}

static inline void pool_fail(struct job_pool *pool, const char *what, const struct err *err)
{
    (void)fprintf(stderr, "%s: %s: %s; logs are in %s/log\n", pool->bench.what, what,
                  err != NULL ? err->text : "no", pool->bench.dir);
    (void)pool_roost(pool, "stop", NULL);
    exit(1);
}

static inline void pool_enter_group(struct job_pool *pool)
{
    char path[300];
    (void)snprintf(pool->group, sizeof pool->group, CPUACCT "/roost-bench-%d", (int)getpid());
    if (mkdir(pool->group, 0755) != 0) {
        pool->group[0] = '\0';
        return;
    }
    (void)snprintf(path, sizeof path, "%s/cgroup.procs", pool->group);
    FILE *file = fopen(path, "we");
    CHECK(file != NULL && fputs("0", file) >= 0 && fclose(file) == 0);
}

static inline void pool_leave_group(struct job_pool *pool)
{
    FILE *file = pool->group[0] != '\0' ? fopen(CPUACCT "/cgroup.procs", "we") : NULL;
    if (file != NULL) {
        CHECK(fputs("0", file) >= 0 && fclose(file) == 0);
        /* fails while a process of the cgroup is still ending; then the empty cgroup stays */
        (void)rmdir(pool->group);
    }
}

/* CPU time of the pool and its jobs, ms; 0 without a cgroup. */
static inline double pool_cpu_ms(const struct job_pool *pool)
{
    char path[300], text[64] = "";
    (void)snprintf(path, sizeof path, "%s/cpuacct.usage", pool->group);
    FILE *file = pool->group[0] != '\0' ? fopen(path, "re") : NULL;
    if (file != NULL) {
        CHECK(fgets(text, sizeof text, file) != NULL && fclose(file) == 0);
    }
    return (double)strtoll(text, NULL, 10) / 1e6;
}

/* Begins a pool of several nodes.  cpus: of each, one slot for each of them. */
static inline void pool_begin_nodes(struct job_pool *pool, int nodes, const char *cpus,
                                    const char *settings)
{
    struct bench *bench = &pool->bench;
    char path[500], count[16];
    struct err err;
    bench_begin(bench);
    pool_enter_group(pool);
    (void)snprintf(count, sizeof count, "%d", nodes);
    const char *const init[] = {"roost",           "init", bench->dir, "--nodes", count,
                                "--cpus-per-node", cpus,   NULL};
    if (run(bench, init, NULL) != 0) {
        pool_fail(pool, "roost init", NULL);
    }
    /* root's jobs run as an ordinary account, which must be able to read this directory */
    CHECK(chmod(bench->dir, 0755) == 0);
    for (int i = 1; i <= nodes; i++) {
        (void)snprintf(path, sizeof path, "%s/nodes/wn%02d/roost.conf", bench->dir, i);
        FILE *config = fopen(path, "a");
        CHECK(config != NULL && fputs("HIBERNATE = \"\\\"NONE\\\"\"\n", config) >= 0 &&
              fclose(config) == 0);
    }
    (void)snprintf(path, sizeof path, "%s/roost.conf", bench->dir);
    FILE *config = fopen(path, "a");
    CHECK(config != NULL && fputs("SUBMIT_DEFAULT_SHOULD_TRANSFER_FILES = YES\n", config) >= 0 &&
          fputs(settings, config) >= 0 && fclose(config) == 0);
    CHECK(setenv("ROOST_CONFIG", path, 1) == 0);
    if (pool_roost(pool, "start", NULL) != 0 || cli_schedd(&bench->cli, &err) != 0) {
        pool_fail(pool, "roost start", NULL);
    }
}

static inline void pool_begin(struct job_pool *pool, const char *cpus, const char *settings)
{
    pool_begin_nodes(pool, 1, cpus, settings);
}

static inline void pool_end(struct job_pool *pool)
{
    (void)pool_roost(pool, "stop", NULL);
    pool_leave_group(pool);
    bench_end(&pool->bench);
}

/* The totals of the queue: IdleJobs, RunningJobs ...  The caller destroys the ad. */
static inline struct ad *pool_totals(struct job_pool *pool)
{
    struct ad *args = ad_create();
    struct cli_reply reply;
    struct err err;
    ad_set_string(args, "Type", "Job");
    ad_set_string(args, "Constraint", "false");
    ad_set_strings(args, "Ids", (const char *const[]){"1000000000.0"}, 1);
    const struct wire_body body = {.args = args};
    if (cli_call(&pool->bench.cli, pool->bench.cli.schedd, NULL, VERB_QUERY, &body, 0, &reply,
                 &err) != 0 ||
        reply.args == NULL) {
        pool_fail(pool, "QUERY", &err);
    }
    struct ad *totals = ad_copy(reply.args);
    cli_reply_fini(&reply);
    ad_destroy(args);
    return totals;
}

static inline int64_t pool_total(struct job_pool *pool, const char *name)
{
    struct ad *totals = pool_totals(pool);
    int64_t total = ad_int_or(totals, name, 0);
    ad_destroy(totals);
    return total;
}

static inline void pool_submit(struct job_pool *pool, const char *text)
{
    char path[400];
    (void)snprintf(path, sizeof path, "%s/bench.sub", pool->bench.dir);
    FILE *file = fopen(path, "we");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
    if (pool_roost(pool, "submit", path) != 0) {
        pool_fail(pool, "roost submit", NULL);
    }
}

/* Returns whether /proc/PID/`file` (environ or cmdline) names the directory of the pool, which is
 * that of ROOST_CONFIG. */
static inline bool pool_names(int pid, const char *file)
{
    static char text[1 << 16];
    char path[300];
    const char *config = getenv("ROOST_CONFIG");
    (void)snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
    FILE *in = config != NULL ? fopen(path, "re") : NULL;
    if (in == NULL) {
        return false;
    }
    size_t length = fread(text, 1, sizeof text, in);
    (void)fclose(in);
    return memmem(text, length, config, (size_t)(strrchr(config, '/') - config) + 1) != NULL;
}

/* Calls each(arg, pid, name) for every process of this pool whose program is below the directory in
 * the environment variable ROOST_BIN, except keepers, whose process name is roost-keeper.  Other
 * pools may run on this computer.  name: the process's name. */
static inline void pool_each_process(void (*each)(void *arg, int pid, const char *name), void *arg)
{
    DIR *directory = opendir("/proc");
    struct dirent *entry;
    CHECK(directory != NULL);
    while ((entry = readdir(directory)) != NULL) {
        char path[300], name[64] = "", exe[300];
        int pid = (int)strtol(entry->d_name, NULL, 10);
        (void)snprintf(path, sizeof path, "/proc/%d/comm", pid);
        FILE *file = pid > 0 ? fopen(path, "re") : NULL;
        if (file == NULL) {
            continue;
        }
        bool read = fgets(name, sizeof name, file) != NULL;
        (void)fclose(file);
        name[strcspn(name, "\n")] = '\0';
        (void)snprintf(path, sizeof path, "/proc/%d/exe", pid);
        ssize_t length = readlink(path, exe, sizeof exe - 1);
        exe[length > 0 ? length : 0] = '\0';
        const char *bin = getenv("ROOST_BIN");
        if (read && strncmp(exe, bin, strlen(bin)) == 0 && strcmp(name, "roost-keeper") != 0 &&
            (pool_names(pid, "environ") || pool_names(pid, "cmdline"))) {
            each(arg, pid, name);
        }
    }
    (void)closedir(directory);
}

#endif
