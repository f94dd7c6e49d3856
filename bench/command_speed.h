/* bench/command_speed.h - measures the time of a command, and the CPU time that it costs itself and
 * its server.
 *
 * A server process runs with the configuration and tokens that `roost init` makes.  The real
 * command is started with its output going to a file (not to a terminal) and waited for.  Measured
 * are the command's wall time from fork to exit, the CPU time of the command's process, and the CPU
 * time that the server spends on the command.  The CPU time of a process that does nothing is
 * measured for comparison.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_COMMAND_SPEED_H
#define BENCH_COMMAND_SPEED_H

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop_run.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "base/text.h"
#include "bench/bench_env.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/session.h"
#include "wire/wire.h"

#define TRIES_MAX 200
#define START_MS  20000

struct bench {
    struct cli cli;
    const char *bin;
    const char *what;        /* first part of the names of the results, such as "status" */
    const char *server_name; /* the server in the names of the results, such as "collector" */
    char dir[300], output[400];
    pid_t server;
    struct running {
        bool ended;
        int status;
    } serving;
    int tries;
    double nothing_ms; /* CPU time of a process that does nothing */
};

static inline void stop(struct bench *bench)
{
    if (bench->server > 0) {
        (void)kill(bench->server, SIGKILL);
        loop_run_until(bench->cli.loop, &bench->serving.ended);
    }
    if (bench->dir[0] != '\0' && getenv("BENCH_KEEP") == NULL) {
        (void)os_remove_tree(bench->cli.os, bench->dir, NULL);
    }
}

static inline void fail(struct bench *bench, const char *what, const struct err *err)
{
    (void)fprintf(stderr, "%s_speed: %s: %s\n", bench->what, what, err != NULL ? err->text : "no");
    stop(bench);
    exit(1);
}

static inline double ms_of(clockid_t clock)
{
    struct timespec now;
    CHECK(clock_gettime(clock, &now) == 0);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static inline void ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct running *running = arg;
    (void)pid;
    running->status = how->signal != 0 ? -1 : how->status;
    running->ended = true;
}

/* Starts a program and returns its pid.  argv[0] is the name of a program of Roost, or an absolute
 * path; its standard output goes to the file `output` (NULL: /dev/null).  *running is filled in
 * when the program ends. */
static inline pid_t start(struct bench *bench, const char *const *argv, const char *output,
                          struct running *running)
{
    char path[600];
    const char *full[8] = {path};
    struct err err;
    pid_t pid;
    if (argv[0][0] == '/') {
        (void)snprintf(path, sizeof path, "%s", argv[0]);
    } else {
        (void)snprintf(path, sizeof path, "%s/%s", bench->bin, argv[0]);
    }
    for (size_t i = 1; argv[i] != NULL && i < ARRAY_COUNT(full) - 1; i++) {
        full[i] = argv[i];
    }
    const struct os_spawn spec = {.argv = full,
                                  .stdout_path = output,
                                  .stderr_path = "-",
                                  .truncate_output = output != NULL};
    *running = (struct running){0};
    if (os_spawn(bench->cli.os, &spec, ended, running, &pid, &err) != 0) {
        fail(bench, argv[0], &err);
    }
    return pid;
}

static inline double children_ms(void)
{
    struct rusage usage;
    CHECK(getrusage(RUSAGE_CHILDREN, &usage) == 0);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

struct cost {
    double wall_ms, client_ms, server_ms;
};

static inline int run(struct bench *bench, const char *const *argv, struct cost *cost)
{
    struct running running;
    clockid_t clock = CLOCK_REALTIME;
    double server_ms = 0, client_ms = children_ms();
    if (bench->server > 0) {
        CHECK(clock_getcpuclockid(bench->server, &clock) == 0);
        server_ms = ms_of(clock);
    }
    double begin_ms = ms_of(CLOCK_MONOTONIC);
    (void)start(bench, argv, bench->output, &running);
    loop_run_until(bench->cli.loop, &running.ended);
    if (cost != NULL) {
        cost->wall_ms = ms_of(CLOCK_MONOTONIC) - begin_ms;
        cost->client_ms = children_ms() - client_ms;
        cost->server_ms = ms_of(clock) - server_ms;
    }
    return running.status;
}

static inline void bench_serve(struct bench *bench, const char *program, const char *settings,
                               int (*dial)(struct cli *cli, struct err *err))
{
    char path[500];
    struct err err;
    const char *const init[] = {"roost", "init", bench->dir, "--nodes", "1", NULL};
    const char *const server[] = {program, NULL};
    if (run(bench, init, NULL) != 0) {
        fail(bench, "roost init", NULL);
    }
    (void)snprintf(path, sizeof path, "%s/roost.conf", bench->dir);
    CHECK(setenv("ROOST_CONFIG", path, 1) == 0);
    FILE *config = fopen(path, "a");
    CHECK(config != NULL && fputs(settings, config) >= 0 && fclose(config) == 0);
    bench->server = start(bench, server, NULL, &bench->serving);
    double end_ms = ms_of(CLOCK_MONOTONIC) + START_MS;
    while (dial(&bench->cli, &err) != 0) {
        if (ms_of(CLOCK_MONOTONIC) > end_ms) {
            fail(bench, "the server does not start", &err);
        }
        cli_pause(&bench->cli, 20);
    }
}

static inline int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right ? 1 : 0;
}

static inline double median(double *list, int count)
{
    qsort(list, (size_t)count, sizeof *list, by_size);
    return list[count / 2];
}

static inline void measure(struct bench *bench, const char *name, const char *const *argv,
                           double peer_ms, const char *peer)
{
    double wall[TRIES_MAX], client[TRIES_MAX], server[TRIES_MAX], least = 1e9;
    for (int i = 0; i < bench->tries; i++) {
        struct cost cost;
        if (run(bench, argv, &cost) != 0) {
            fail(bench, name, NULL);
        }
        wall[i] = cost.wall_ms;
        client[i] = cost.client_ms;
        server[i] = cost.server_ms;
        least = cost.wall_ms < least ? cost.wall_ms : least;
    }
    double middle = median(wall, bench->tries);
    (void)printf("BENCH %s_%s %.1f ms ratio %.1f vs %s\n", bench->what, name, middle,
                 peer_ms / middle, peer);
    (void)printf("BENCH %s_%s_least %.1f ms\n", bench->what, name, least);
    double cpu_ms = median(client, bench->tries);
    (void)printf("BENCH %s_%s_cpu %.1f ms ratio %.1f vs /bin/true\n", bench->what, name, cpu_ms,
                 cpu_ms / bench->nothing_ms);
    (void)printf("BENCH %s_%s_%s_cpu %.1f ms\n", bench->what, name, bench->server_name,
                 median(server, bench->tries));
    (void)fflush(stdout);
}

/* Sets bench->nothing_ms to the CPU time of a process that does nothing; the measured CPU time of
 * every command includes this much. */
static inline void measure_nothing(struct bench *bench)
{
    static const char *const NOTHING[] = {"/bin/true", NULL};
    double cpu[TRIES_MAX];
    for (int i = 0; i < bench->tries; i++) {
        struct cost cost;
        if (run(bench, NOTHING, &cost) != 0) {
            fail(bench, NOTHING[0], NULL);
        }
        cpu[i] = cost.client_ms;
    }
    bench->nothing_ms = median(cpu, bench->tries);
    (void)printf("BENCH %s_nothing_cpu %.2f ms\n", bench->what, bench->nothing_ms);
}

/* Makes the event loop, and chooses bench->dir (which `roost init` makes later) and bench->output.
 */
static inline void bench_begin(struct bench *bench)
{
    struct err err;
    CHECK(bench->bin != NULL);
    CHECK(loop_create(&bench->cli.loop, &err) == 0 &&
          os_create(bench->cli.loop, &bench->cli.os, &err) == 0);
    /* BENCH_TOP: the directory in which bench->dir is made; default: /tmp.  Benches that run jobs
     * need another directory than /tmp, because a job has a /tmp of its own and cannot see the
     * machine's. */
    const char *top = getenv("BENCH_TOP");
    (void)snprintf(bench->dir, sizeof bench->dir, "%s/roost-%s-XXXXXX", top != NULL ? top : "/tmp",
                   bench->what);
    CHECK(mkdtemp(bench->dir) != NULL);
    CHECK(rmdir(bench->dir) == 0);
    (void)snprintf(bench->output, sizeof bench->output, "%s.out", bench->dir);
}

static inline void bench_end(struct bench *bench)
{
    session_close(&bench->cli);
    stop(bench);
    (void)unlink(bench->output);
}

/* Waits for the seconds in the environment variable BENCH_HOLD (default 60), so that a profiler can
 * be attached to the server. */
static inline void bench_hold(struct bench *bench)
{
    (void)fprintf(stderr, "ROOST_CONFIG=%s server=%d\n", getenv("ROOST_CONFIG"),
                  (int)bench->server);
    cli_pause(&bench->cli, (uint64_t)number("BENCH_HOLD", 60, 100000) * 1000);
    bench->tries = 0;
}

#endif
