/* bench/status_speed.c - `roost status` on 10,000 ads: the whole process, and the collector's part.
 *
 * A collector process of its own, with the configuration and tokens that `roost init` makes, over
 * TCP and TLS; 10,000 slots of 169 attributes (slot_ad.h), an eighth of them claimed.  The real
 * `roost status` is started for each kind of listing, its output into a file (as from a pipe, no
 * terminal draws it), and waited for: wall time from fork to exit, its CPU time and the
 * collector's; CPU beside that of a process that does nothing.
 *
 * Environment: ROOST_BIN (needed), BENCH_ADS, BENCH_TRIES, BENCH_KEEP=1 leaves the directory,
 * BENCH_HOLD=SECONDS only fills the collector and holds it for a profiler, BENCH_DIFFER=1 with ads
 * that have nothing in common.
 *
 * LINK: cli wire offline_ads classad base
 * SPDX-License-Identifier: Apache-2.0
 */
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
#include "base/os.h"
#include "base/os_run.h"
#include "base/text.h"
#include "bench/slot_ad.h"
#include "cli/cli.h"
#include "cli/session.h"
#include "wire/wire.h"

#define BATCH_ADS 250
#define TRIES_MAX 200
#define START_MS  20000

struct bench {
    struct cli cli;
    const char *bin;
    char dir[300], output[400];
    pid_t collector;
    struct running {
        bool ended;
        int status;
    } collecting;
    int ads, tries;
    double nothing_ms; /* CPU of a process that does nothing */
};

static void stop(struct bench *bench)
{
    if (bench->collector > 0) {
        (void)kill(bench->collector, SIGKILL);
        loop_run_until(bench->cli.loop, &bench->collecting.ended);
    }
    if (bench->dir[0] != '\0' && getenv("BENCH_KEEP") == NULL) {
        (void)os_remove_tree(bench->cli.os, bench->dir, NULL);
    }
}

static void fail(struct bench *bench, const char *what, const struct err *err)
{
    (void)fprintf(stderr, "status_speed: %s: %s\n", what, err != NULL ? err->text : "no");
    stop(bench);
    exit(1);
}

static double ms_of(clockid_t clock)
{
    struct timespec now;
    CHECK(clock_gettime(clock, &now) == 0);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct running *running = arg;
    (void)pid;
    running->status = how->signal != 0 ? -1 : how->status;
    running->ended = true;
}

/* argv[0] is the name of one of our programs, or a path. */
static pid_t start(struct bench *bench, const char *const *argv, const char *output,
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

static double children_ms(void)
{
    struct rusage usage;
    CHECK(getrusage(RUSAGE_CHILDREN, &usage) == 0);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

struct cost {
    double wall_ms, client_ms, collector_ms;
};

static int run(struct bench *bench, const char *const *argv, struct cost *cost)
{
    struct running running;
    clockid_t clock = CLOCK_REALTIME;
    double collector_ms = 0, client_ms = children_ms();
    if (bench->collector > 0) {
        CHECK(clock_getcpuclockid(bench->collector, &clock) == 0);
        collector_ms = ms_of(clock);
    }
    double begin_ms = ms_of(CLOCK_MONOTONIC);
    (void)start(bench, argv, bench->output, &running);
    loop_run_until(bench->cli.loop, &running.ended);
    if (cost != NULL) {
        cost->wall_ms = ms_of(CLOCK_MONOTONIC) - begin_ms;
        cost->client_ms = children_ms() - client_ms;
        cost->collector_ms = ms_of(clock) - collector_ms;
    }
    return running.status;
}

static void start_collector(struct bench *bench)
{
    char path[500];
    struct err err;
    const char *const init[] = {"roost", "init", bench->dir, "--nodes", "1", NULL};
    const char *const collector[] = {"roost-collector", NULL};
    if (run(bench, init, NULL) != 0) {
        fail(bench, "roost init", NULL);
    }
    (void)snprintf(path, sizeof path, "%s/roost.conf", bench->dir);
    CHECK(setenv("ROOST_CONFIG", path, 1) == 0);
    bench->collector = start(bench, collector, NULL, &bench->collecting);
    double end_ms = ms_of(CLOCK_MONOTONIC) + START_MS;
    while (cli_collector(&bench->cli, &err) != 0) {
        if (ms_of(CLOCK_MONOTONIC) > end_ms) {
            fail(bench, "the collector does not start", &err);
        }
        cli_pause(&bench->cli, 20);
    }
}

static void send(struct bench *bench, const struct ad *const *ads, size_t count)
{
    struct cli_reply reply;
    struct err err;
    const struct wire_body body = {.ads = ads, .ad_count = count, .with_private = true};
    if (cli_call(&bench->cli, bench->cli.collector, NULL, VERB_UPDATE, &body, 0, &reply, &err) !=
            0 ||
        (reply.args != NULL && ad_int_or(reply.args, "Rejected", 0) != 0)) {
        fail(bench, "UPDATE", &err);
    }
    cli_reply_fini(&reply);
}

static void fill(struct bench *bench, bool differ)
{
    struct ad *ads[BATCH_ADS];
    size_t count = 0;
    struct err err;
    wire_close(bench->cli.collector); /* nobody answered its pings while others were measured */
    bench->cli.collector = NULL;
    if (cli_collector(&bench->cli, &err) != 0) {
        fail(bench, "connecting", &err);
    }
    for (int i = 0; i < bench->ads; i++) {
        struct ad *ad = slot_ad_create((unsigned)i, differ);
        ad_set_string(ad, "State", i % 8 == 3 ? "Claimed" : "Unclaimed");
        ad_set_int(ad, "ClassAdLifetime", 100000);
        ads[count++] = ad;
        if (count == BATCH_ADS || i + 1 == bench->ads) {
            send(bench, (const struct ad *const *)ads, count);
            while (count > 0) {
                ad_destroy(ads[--count]);
            }
        }
    }
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right ? 1 : 0;
}

static double median(double *list, int count)
{
    qsort(list, (size_t)count, sizeof *list, by_size);
    return list[count / 2];
}

static void measure(struct bench *bench, const char *name, const char *const *argv, double peer_ms)
{
    double wall[TRIES_MAX], client[TRIES_MAX], collector[TRIES_MAX], least = 1e9;
    for (int i = 0; i < bench->tries; i++) {
        struct cost cost;
        if (run(bench, argv, &cost) != 0) {
            fail(bench, name, NULL);
        }
        wall[i] = cost.wall_ms;
        client[i] = cost.client_ms;
        collector[i] = cost.collector_ms;
        least = cost.wall_ms < least ? cost.wall_ms : least;
    }
    double middle = median(wall, bench->tries);
    (void)printf("BENCH status_%s %.1f ms ratio %.1f vs HTCondor (unencrypted)\n", name, middle,
                 peer_ms / middle);
    (void)printf("BENCH status_%s_least %.1f ms\n", name, least);
    double cpu_ms = median(client, bench->tries);
    (void)printf("BENCH status_%s_cpu %.1f ms ratio %.1f vs /bin/true\n", name, cpu_ms,
                 cpu_ms / bench->nothing_ms);
    (void)printf("BENCH status_%s_collector_cpu %.1f ms\n", name, median(collector, bench->tries));
    (void)fflush(stdout);
}

/* What any process costs: of the figures, this part is the machine's. */
static void measure_nothing(struct bench *bench)
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
    (void)printf("BENCH status_nothing_cpu %.2f ms\n", bench->nothing_ms);
}

static void measure_all(struct bench *bench, const char *suffix)
{
    static const struct {
        const char *name;
        const char *argv[6];
        double peer_ms;
    } KINDS[] = {
        {"start", {"roost", "--version"}, 30},
        {"table", {"roost", "status"}, 110},
        {"long", {"roost", "status", "-l"}, 1100},
        {"constraint", {"roost", "status", "-constraint", "State == \"Claimed\""}, 35},
        {"scan", {"roost", "status", "-constraint", "State >= \"C\" && State < \"D\""}, 35},
        {"af", {"roost", "status", "-af", "Name"}, 60},
        {"name", {"roost", "status", "slot1@wn00000.pool.example.org"}, 30},
        {"total", {"roost", "status", "-total"}, 70},
        {"json", {"roost", "status", "-json"}, 1100},
    };
    for (size_t i = 0; i < ARRAY_COUNT(KINDS); i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s%s", KINDS[i].name, suffix);
        measure(bench, name, KINDS[i].argv, KINDS[i].peer_ms);
    }
}

/* Of the environment, 1 to max. */
static int number(const char *name, int otherwise, int max)
{
    const char *text = getenv(name);
    int64_t value;
    return text != NULL && text_parse_int64(text, &value, NULL) == 0 && value > 0 && value <= max
               ? (int)value
               : otherwise;
}

int main(void)
{
    struct bench bench = {.bin = getenv("ROOST_BIN"),
                          .ads = number("BENCH_ADS", 10000, 1000000),
                          .tries = number("BENCH_TRIES", 15, TRIES_MAX)};
    struct err err;
    CHECK(bench.bin != NULL);
    CHECK(loop_create(&bench.cli.loop, &err) == 0 &&
          os_create(bench.cli.loop, &bench.cli.os, &err) == 0);
    (void)snprintf(bench.dir, sizeof bench.dir, "/tmp/roost-status-XXXXXX");
    CHECK(mkdtemp(bench.dir) != NULL);
    CHECK(rmdir(bench.dir) == 0); /* roost init makes it */
    (void)snprintf(bench.output, sizeof bench.output, "%s.out", bench.dir);
    start_collector(&bench);
    if (getenv("BENCH_HOLD") != NULL) {
        fill(&bench, getenv("BENCH_DIFFER") != NULL);
        (void)fprintf(stderr, "ROOST_CONFIG=%s collector=%d\n", getenv("ROOST_CONFIG"),
                      (int)bench.collector);
        cli_pause(&bench.cli, (uint64_t)number("BENCH_HOLD", 60, 100000) * 1000);
        bench.tries = 0;
    } else {
        measure_nothing(&bench);
        fill(&bench, false);
        measure_all(&bench, "");
        fill(&bench, true);
        measure_all(&bench, "_all_differ");
    }
    session_close(&bench.cli);
    stop(&bench);
    (void)unlink(bench.output);
    return 0;
}
