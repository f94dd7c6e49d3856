/* bench/collector_rig.h - a pool with a real roost-collector, for benches that measure the
 * collector.
 *
 * `roost init` makes the pool in a temporary directory.  The collector's CPU time is that of its
 * process: all threads, user and system.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_COLLECTOR_RIG_H
#define BENCH_COLLECTOR_RIG_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"

struct running {
    pid_t pid;
    bool ended;
    int status;
};

struct bench {
    struct loop *loop;
    struct os *os;
    const char *bin;
    char dir[256], ca[400], address[64];
    char token_path[400]; /* file of a token whose holder may advertise 1,000,000 slots */
    struct running collector;
    unsigned ads, uplinks;
    int64_t epoch;
    bool done;
};

static inline void die(struct bench *bench, const char *what, const struct err *err)
{
    (void)fprintf(stderr, "%s: %s\n", what, err != NULL ? err->text : "failed");
    if (bench->collector.pid > 0) {
        (void)os_kill(bench->os, bench->collector.pid, SIGKILL);
    }
    exit(1);
}

/* ---- the collector --------------------------------------------------------------------------- */

/* Returns the time of the clock in seconds. */
static inline double seconds(clockid_t clock)
{
    struct timespec now;
    CHECK(clock_gettime(clock, &now) == 0);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static inline double collector_cpu_s(const struct bench *bench)
{
    clockid_t clock;
    CHECK(clock_getcpuclockid(bench->collector.pid, &clock) == 0);
    return seconds(clock);
}

static inline double collector_rss_kb(const struct bench *bench)
{
    char path[64];
    unsigned long size = 0, resident = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/statm", (int)bench->collector.pid);
    FILE *file = fopen(path, "re");
    CHECK(file != NULL && fscanf(file, "%lu %lu", &size, &resident) == 2);
    (void)fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1024;
}

/* Returns the collector's share of the memory that it uses (Pss of smaps_rollup). */
static inline double collector_pss_kb(const struct bench *bench)
{
    char path[64], line[200];
    long kilobytes = -1;
    (void)snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)bench->collector.pid);
    FILE *file = fopen(path, "re");
    CHECK(file != NULL);
    while (kilobytes < 0 && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "Pss:", 4) == 0) {
            kilobytes = strtol(line + 4, NULL, 10);
        }
    }
    (void)fclose(file);
    CHECK(kilobytes >= 0);
    return (double)kilobytes;
}

static inline void ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct running *running = arg;
    (void)pid;
    running->status = how->signal != 0 ? -1 : how->status;
    running->ended = true;
}

static inline void spawn(struct bench *bench, const char *const *argv, struct running *running)
{
    const struct os_spawn spec = {.argv = argv, .stderr_path = "-"};
    struct err err;
    running->ended = false;
    if (os_spawn(bench->os, &spec, ended, running, &running->pid, &err) != 0) {
        die(bench, argv[0], &err);
    }
}

static inline void collector_start(struct bench *bench)
{
    char program[400], log[400];
    (void)snprintf(program, sizeof program, "%s/roost-collector", bench->bin);
    (void)snprintf(log, sizeof log, "%s/collector.log", bench->dir);
    const char *argv[] = {program, "-log", log, NULL};
    spawn(bench, argv, &bench->collector);
}

static inline void collector_kill(struct bench *bench)
{
    CHECK(os_kill(bench->os, bench->collector.pid, SIGKILL) == 0);
    loop_run_until(bench->loop, &bench->collector.ended);
}

/* Ends the collector and starts a new one, which has no ads. */
static inline void collector_new(struct bench *bench)
{
    char path[400];
    collector_kill(bench);
    (void)snprintf(path, sizeof path, "%s/spool", bench->dir);
    (void)os_remove_tree(bench->os, path, NULL);
    collector_start(bench);
}

static inline void run_to_its_end(struct bench *bench, const char *const *argv, const char *what)
{
    struct running running = {0};
    spawn(bench, argv, &running);
    loop_run_until(bench->loop, &running.ended);
    if (running.status != 0) {
        die(bench, what, NULL);
    }
}

static inline void make_pool(struct bench *bench)
{
    char text[600], *config;
    size_t length;
    struct err err;
    const char *above = getenv("TMPDIR");
    (void)snprintf(bench->dir, sizeof bench->dir, "%s/roost-bench-XXXXXX",
                   above != NULL ? above : "/tmp");
    CHECK(mkdtemp(bench->dir) != NULL);
    (void)snprintf(text, sizeof text, "%s/roost", bench->bin);
    const char *init[] = {text, "init", bench->dir, "--nodes", "1", NULL};
    run_to_its_end(bench, init, "roost init");
    char conf[400];
    (void)snprintf(conf, sizeof conf, "%s/roost.conf", bench->dir);
    CHECK(setenv("ROOST_CONFIG", conf, 1) == 0);
    (void)snprintf(bench->token_path, sizeof bench->token_path, "%s/bench.token", bench->dir);
    const char *token[] = {text,      "token",   "create",          "--identity",
                           "bench",   "--scope", "READ,ADVERTISE",  "--slots",
                           "1000000", "--file",  bench->token_path, NULL};
    run_to_its_end(bench, token, "roost token create");
    (void)snprintf(text, sizeof text, "%s", conf);
    if (os_read_file(bench->os, text, 1 << 20, &config, &length, &err) != 0) {
        die(bench, text, &err);
    }
    const char *host = strstr(config, "COLLECTOR_HOST = {\"");
    CHECK(host != NULL);
    host += strlen("COLLECTOR_HOST = {\"");
    (void)snprintf(bench->address, sizeof bench->address, "tcp:%.*s", (int)strcspn(host, "\""),
                   host);
    mem_free(config);
    (void)snprintf(bench->ca, sizeof bench->ca, "%s/security/ca.pem", bench->dir);
}

/* Waits until the collector listens on its port. */
static inline void wait_listening(struct bench *bench)
{
    char host[64];
    int port = 0;
    (void)snprintf(host, sizeof host, "%s", bench->address + 4);
    char *colon = strrchr(host, ':');
    CHECK(colon != NULL);
    port = (int)strtol(colon + 1, NULL, 10);
    char path[64];
    (void)snprintf(path, sizeof path, ":%04X ", (unsigned)port);
    for (int i = 0; i < 20000; i++) {
        char line[400];
        bool there = false;
        FILE *file = fopen("/proc/net/tcp", "re");
        CHECK(file != NULL);
        while (!there && fgets(line, sizeof line, file) != NULL) {
            there = strstr(line, path) != NULL && strstr(line, " 0A ") != NULL;
        }
        (void)fclose(file);
        if (there) {
            return;
        }
        struct timespec pause = {0, 1000000};
        (void)nanosleep(&pause, NULL);
    }
    die(bench, "the collector does not listen", NULL);
}

static inline unsigned number_of(const char *name, unsigned fallback)
{
    const char *text = getenv(name);
    return text != NULL ? (unsigned)strtoul(text, NULL, 10) : fallback;
}

/* Raises this process's limit of open descriptors to the maximum; returns how many uplinks that
 * allows, at most `wanted`. */
static inline unsigned uplinks_allowed(unsigned wanted)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    unsigned allowed = wanted <= limit.rlim_cur - 200 ? wanted : (unsigned)limit.rlim_cur - 200;
    (void)fprintf(stderr, "limit of open files: %llu, so %u uplinks\n",
                  (unsigned long long)limit.rlim_cur, allowed);
    return allowed;
}

#endif
