/* bench/wake_latency.c - from the return of `roost submit` to the start of the wake command.
 *
 * A personal pool with real daemons and its default configuration, made by `roost init`; the only
 * change is that its node is switched by the method `command`, whose program writes down when it
 * began.  The collector has 1,000 offline ads of other machines, which the job does not fit, and
 * the queue 1,000 jobs, each with Requirements of its own, that match nothing.  The program plays
 * the node's startd: after each try it reports the node awake with a new boot, takes the job away
 * and lets the node fall asleep again, and waits until rooster and collector show it.
 *
 * In each try the same program is started once by hand after a write and an fsync: what is left of
 * the way when nobody has to find anything out.
 *
 * Environment: ROOST_BIN (needed), TMPDIR (a real disk, else the fsyncs cost nothing), BENCH_TRIES,
 * BENCH_OTHERS, BENCH_KEEP=1 leaves the pool where it is.
 *
 * SHORT: BENCH_TRIES=1 BENCH_OTHERS=10
 * LINK: cli wire offline_ads classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "bench/bench_env.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/session.h"
#include "offline_ads/offline_ads.h"
#include "wire/wire.h"

#define TRIES_MAX   1000
#define BATCH_ADS   250
#define PATIENCE_MS 20000
#define NODE        "sleeper"

struct figures {
    double wake_ms[TRIES_MAX];  /* submit's return to the command's start */
    double plain_ms[TRIES_MAX]; /* fsync, fork, exec */
    double submit_ms[TRIES_MAX];
};

struct bench {
    struct cli cli;
    const char *bin;
    char dir[400], stamp[500], program[600];
    int tries, others;
    int64_t sequence;
    struct figures figures;
    double begin_wall_ms[TRIES_MAX]; /* when submit returned, of the wall clock, for the logs */
};

static void stop_pool(struct bench *bench);

static void fail(struct bench *bench, const char *what, const struct err *err)
{
    (void)fprintf(stderr, "wake_latency: %s: %s; logs are in %s/log\n", what,
                  err != NULL ? err->text : "no", bench->dir);
    stop_pool(bench);
    exit(1);
}

static double now_ms(clockid_t clock)
{
    struct timespec now;
    CHECK(clock_gettime(clock, &now) == 0);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* ---- programs */

struct running {
    bool ended;
    int status;
};

static void ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct running *running = arg;
    (void)pid;
    running->status = how->signal != 0 ? -1 : how->status;
    running->ended = true;
}

/* Runs it, its output into the file `output` (NULL: nowhere); the exit status. */
static int run(struct bench *bench, const char *const *argv, const char *output)
{
    struct running running = {0};
    struct err err;
    pid_t pid;
    const struct os_spawn spec = {.argv = argv,
                                  .stdout_path = output,
                                  .stderr_path = "-",
                                  .truncate_output = output != NULL};
    if (os_spawn(bench->cli.os, &spec, ended, &running, &pid, &err) != 0) {
        (void)fprintf(stderr, "wake_latency: %s\n", err.text);
        return -1;
    }
    loop_run_until(bench->cli.loop, &running.ended);
    return running.status;
}

static int roost(struct bench *bench, const char *command, const char *argument, const char *more,
                 const char *value)
{
    char path[600];
    (void)snprintf(path, sizeof path, "%s/roost", bench->bin);
    const char *argv[] = {path, command, argument, more, value, NULL};
    return run(bench, argv, NULL);
}

/* The cluster that `roost submit FILE` made. */
static int64_t submit(struct bench *bench, const char *file, double *returned_ms)
{
    char path[600], output[500], line[200];
    long long cluster = -1;
    (void)snprintf(path, sizeof path, "%s/roost", bench->bin);
    (void)snprintf(output, sizeof output, "%s/submit.out", bench->dir);
    const char *argv[] = {path, "submit", file, NULL};
    int status = run(bench, argv, output);
    *returned_ms = now_ms(CLOCK_MONOTONIC);
    FILE *said = fopen(output, "re");
    while (said != NULL && fgets(line, sizeof line, said) != NULL) {
        const char *at = strstr(line, "submitted to cluster ");
        if (at != NULL) {
            cluster = strtoll(at + strlen("submitted to cluster "), NULL, 10);
        }
    }
    if (said != NULL) {
        (void)fclose(said);
    }
    if (status != 0 || cluster < 1) {
        fail(bench, "roost submit", NULL);
    }
    return cluster;
}

static void stop_pool(struct bench *bench)
{
    (void)roost(bench, "stop", NULL, NULL, NULL);
}

/* ---- the pool */

static void write_file(const char *dir, const char *name, const char *text)
{
    char path[600];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "we");
    CHECK(file != NULL);
    CHECK(fputs(text, file) >= 0);
    CHECK(fclose(file) == 0);
}

/* What `roost init` wrote, with another node instead of its own. */
static void describe_node(struct bench *bench)
{
    char path[500], *text, *from;
    size_t length;
    struct err err;
    (void)snprintf(path, sizeof path, "%s/roost.conf", bench->dir);
    if (os_read_file(bench->cli.os, path, 1 << 20, &text, &length, &err) != 0) {
        fail(bench, "roost.conf", &err);
    }
    from = strstr(text, "node \"");
    CHECK(from != NULL);
    size_t size = length + 4096;
    char *changed = mem_alloc(size);
    (void)snprintf(changed, size,
                   "%.*snode \"" NODE
                   "\" {\n    method = command\n    wake_command = \"%s %s\"\n}\n",
                   (int)(from - text), text, bench->program, bench->stamp);
    write_file(bench->dir, "roost.conf", changed);
    mem_free(changed);
    mem_free(text);
}

static void write_jobs(struct bench *bench)
{
    char text[2000];
    (void)snprintf(text, sizeof text,
                   "executable = /bin/true\ntransfer_executable = false\n"
                   "requirements = TARGET.Machine == \"nowhere$(Process)\" && "
                   "TARGET.Memory >= 64 + $(Process)\nqueue %d\n",
                   bench->others);
    write_file(bench->dir, "others.sub", text);
    write_file(bench->dir, "job.sub",
               "executable = /bin/true\ntransfer_executable = false\nrequest_memory = 64\n"
               "queue 1\n");
}

static void start_pool(struct bench *bench)
{
    char text[500];
    struct err err;
    if (roost(bench, "init", bench->dir, "--nodes", "1") != 0) {
        fail(bench, "roost init", NULL);
    }
    describe_node(bench);
    write_jobs(bench);
    (void)snprintf(text, sizeof text, "%s/roost.conf", bench->dir);
    CHECK(setenv("ROOST_CONFIG", text, 1) == 0);
    if (roost(bench, "start", NULL, NULL, NULL) != 0) {
        fail(bench, "roost start", NULL);
    }
    /* Our own connection is an administrator's, who may speak for a machine. */
    (void)snprintf(text, sizeof text, "%s/security/tokens/USER", bench->dir);
    CHECK(setenv("ROOST_TOKEN_FILE", text, 1) == 0);
    if (cli_collector(&bench->cli, &err) != 0 || cli_schedd(&bench->cli, &err) != 0) {
        fail(bench, "connecting", &err);
    }
    CHECK(unsetenv("ROOST_TOKEN_FILE") == 0);
}

/* ---- ads */

/* As a startd writes it, with what a site adds. */
static struct ad *machine_ad(const char *machine, const char *arch, const char *boot_id)
{
    static const char *const EXPRS[][2] = {
        {"Start", "KeyboardIdle > 5 * 60 || TARGET.RequestMemory <= Memory"},
        {"Requirements", "Start"},
        {"Rank", "0.0"},
        {"Suspend", "false"},
        {"Preempt", "false"},
        {"Kill", "false"},
        {"Hibernate",
         "ifThenElse(State =?= \"Unclaimed\" && CurrentTime - EnteredCurrentState >= 300, "
         "\"S5\", \"NONE\")"},
    };
    struct ad *ad = ad_create();
    char text[300];
    int64_t now_s = (int64_t)time(NULL);
    ad_set_string(ad, "MyType", "Machine");
    (void)snprintf(text, sizeof text, "slot1@%s", machine);
    ad_set_string(ad, "Name", text);
    ad_set_string(ad, "Machine", machine);
    ad_set_string(ad, "Arch", arch);
    ad_set_string(ad, "OpSys", "LINUX");
    ad_set_string(ad, "State", "Owner");
    ad_set_string(ad, "Activity", "Idle");
    ad_set_string(ad, "BootId", boot_id);
    ad_set_string(ad, "SlotType", "Static");
    ad_set_string(ad, "KernelVersion", "6.1.0-18-amd64");
    ad_set_string(ad, "CondorVersion", "$CondorVersion: 25.14.0 2026-01-12 Roost 0.1.0 $");
    ad_set_bool(ad, "HasFileTransfer", true);
    for (size_t i = 0; i < ARRAY_COUNT(EXPRS); i++) {
        CHECK(ad_set_expr(ad, EXPRS[i][0], EXPRS[i][1], NULL) == 0);
    }
    static const char *const NUMBERS[] = {
        "SlotID",          "TotalSlots",          "BootTime",
        "DaemonStartTime", "EnteredCurrentState", "EnteredCurrentActivity",
        "MyCurrentTime"};
    for (size_t i = 0; i < ARRAY_COUNT(NUMBERS); i++) {
        ad_set_int(ad, NUMBERS[i], i < 2 ? 1 : now_s);
    }
    ad_set_int(ad, "Cpus", 8);
    ad_set_int(ad, "TotalCpus", 8);
    ad_set_int(ad, "Memory", 16000);
    ad_set_int(ad, "TotalMemory", 16000);
    ad_set_int(ad, "Disk", 400000000);
    ad_set_int(ad, "KeyboardIdle", 100000);
    ad_set_real(ad, "LoadAvg", 0.0);
    for (int i = 0; i < 15; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "SiteAttribute%d", i);
        ad_set_string(ad, name, "what a site says of its machines");
    }
    return ad;
}

static struct ad *offline_ad(const char *machine, const char *arch, const char *boot_id)
{
    struct ad *live = machine_ad(machine, arch, boot_id);
    const struct offline_ads_how how = {.now_s = (int64_t)time(NULL),
                                        .lifetime_s = 864000,
                                        .reason = "nothing to do"};
    struct ad *ad = offline_ads_make(live, &how);
    ad_destroy(live);
    return ad;
}

static void update(struct bench *bench, const struct ad *const *ads, size_t count)
{
    struct ad *args = ad_create();
    struct cli_reply reply;
    struct err err = {"an ad is rejected: the collector's log says why"};
    ad_set_int(args, "Epoch", 1);
    ad_set_int(args, "Sequence", ++bench->sequence);
    ad_set_bool(args, "Full", true);
    const struct wire_body body = {.args = args, .ads = ads, .ad_count = count};
    if (cli_call(&bench->cli, bench->cli.collector, NULL, VERB_UPDATE, &body, 0, &reply, &err) !=
            0 ||
        (reply.args != NULL && ad_int_or(reply.args, "Rejected", 0) != 0)) {
        fail(bench, "UPDATE", &err);
    }
    cli_reply_fini(&reply);
    ad_destroy(args);
}

static void update_one(struct bench *bench, struct ad *ad)
{
    const struct ad *ads[1] = {ad};
    update(bench, ads, 1);
    ad_destroy(ad);
}

static void advertise_others(struct bench *bench)
{
    struct ad *ads[BATCH_ADS];
    size_t count = 0;
    for (int i = 0; i < bench->others; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "other%04d.example.org", i);
        ads[count++] = offline_ad(name, i % 2 == 0 ? "AARCH64" : "PPC64LE", "boot-of-another");
        if (count == BATCH_ADS || i + 1 == bench->others) {
            update(bench, (const struct ad *const *)ads, count);
            while (count > 0) {
                ad_destroy(ads[--count]);
            }
        }
    }
}

/* ---- waiting */

static bool node_is(struct bench *bench, const char *wanted)
{
    struct cli_reply reply;
    struct err err;
    bool is = false;
    if (cli_call(&bench->cli, bench->cli.collector, "rooster/personal", VERB_POWER_STATUS, NULL, 0,
                 &reply, &err) == 0) {
        for (size_t i = 0; i < reply.ads.count; i++) {
            const struct ad *ad = reply.ads.items[i];
            is = is || (strcmp(ad_string_or(ad, "Name", ""), NODE) == 0 &&
                        strcmp(ad_string_or(ad, "PowerState", ""), wanted) == 0);
        }
    }
    cli_reply_fini(&reply);
    return is;
}

static size_t ad_total(struct bench *bench, const char *type)
{
    static const char *const NAMES[] = {"Name"};
    struct ad *args = ad_create();
    struct cli_reply reply;
    struct err err;
    ad_set_string(args, "Type", type);
    ad_set_strings(args, "Projection", NAMES, 1);
    const struct wire_body body = {.args = args};
    if (cli_call(&bench->cli, bench->cli.collector, NULL, VERB_QUERY, &body, 0, &reply, &err) !=
        0) {
        fail(bench, "QUERY", &err);
    }
    size_t count = reply.ads.count;
    cli_reply_fini(&reply);
    ad_destroy(args);
    return count;
}

static void wait_node(struct bench *bench, const char *state)
{
    double end_ms = now_ms(CLOCK_MONOTONIC) + PATIENCE_MS;
    while (!node_is(bench, state)) {
        if (now_ms(CLOCK_MONOTONIC) > end_ms) {
            fail(bench, "the node does not become", &(struct err){.text = "what it should"});
        }
        cli_pause(&bench->cli, 5);
    }
}

static void wait_requests(struct bench *bench)
{
    double end_ms = now_ms(CLOCK_MONOTONIC) + PATIENCE_MS;
    while (ad_total(bench, "Request") != (size_t)bench->others) {
        if (now_ms(CLOCK_MONOTONIC) > end_ms) {
            fail(bench, "the collector has not one request for each kind of job", NULL);
        }
        cli_pause(&bench->cli, 5);
    }
}

/* When the command began, CLOCK_MONOTONIC. */
static double wait_stamp(struct bench *bench)
{
    double end_ms = now_ms(CLOCK_MONOTONIC) + PATIENCE_MS;
    char text[64] = "";
    for (;;) {
        FILE *file = fopen(bench->stamp, "re");
        if (file != NULL) {
            CHECK(fgets(text, sizeof text, file) != NULL);
            (void)fclose(file);
            CHECK(unlink(bench->stamp) == 0);
            return (double)strtoll(text, NULL, 10) / 1e6;
        }
        if (now_ms(CLOCK_MONOTONIC) > end_ms) {
            fail(bench, "the wake command does not start", NULL);
        }
        cli_pause(&bench->cli, 2);
    }
}

/* ---- a try */

static void remove_job(struct bench *bench, int64_t cluster)
{
    char id[32];
    const char *ids[] = {id};
    struct ad *args = ad_create();
    struct cli_reply reply;
    struct err err;
    (void)snprintf(id, sizeof id, "%lld.0", (long long)cluster);
    ad_set_string(args, "Action", "Remove");
    ad_set_strings(args, "Ids", ids, 1);
    const struct wire_body body = {.args = args};
    if (cli_call(&bench->cli, bench->cli.schedd, NULL, VERB_ACT, &body, 0, &reply, &err) != 0) {
        fail(bench, "removing the job", &err);
    }
    cli_reply_fini(&reply);
    ad_destroy(args);
}

/* The node wakes, finds nothing to do and falls asleep again. */
static void reset(struct bench *bench, int number, int64_t cluster)
{
    char boot_id[40];
    (void)snprintf(boot_id, sizeof boot_id, "boot-%d", number + 1);
    remove_job(bench, cluster);
    wait_requests(bench);
    update_one(bench, machine_ad(NODE, "X86_64", boot_id));
    wait_node(bench, "On");
    update_one(bench, offline_ad(NODE, "X86_64", boot_id));
    wait_node(bench, "Off");
    /* Not in step with anybody's timers. */
    cli_pause(&bench->cli, 100 + (uint64_t)(number * 37 % 100));
}

static double plain(struct bench *bench)
{
    static const char BLOCK[4096] = "what is to be durable";
    char path[500];
    const char *argv[] = {bench->program, bench->stamp, NULL};
    (void)snprintf(path, sizeof path, "%s/plain", bench->dir);
    double begin_ms = now_ms(CLOCK_MONOTONIC);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    CHECK(fd >= 0);
    CHECK(write(fd, BLOCK, sizeof BLOCK) == (ssize_t)sizeof BLOCK);
    CHECK(fsync(fd) == 0);
    CHECK(run(bench, argv, NULL) == 0);
    (void)close(fd);
    return wait_stamp(bench) - begin_ms;
}

static void try(struct bench *bench, int number)
{
    char file[500];
    double returned_ms;
    struct figures *figures = &bench->figures;
    (void)snprintf(file, sizeof file, "%s/job.sub", bench->dir);
    double begin_ms = now_ms(CLOCK_MONOTONIC);
    int64_t cluster = submit(bench, file, &returned_ms);
    bench->begin_wall_ms[number] = now_ms(CLOCK_REALTIME) - (now_ms(CLOCK_MONOTONIC) - returned_ms);
    double woken_ms = wait_stamp(bench);
    figures->submit_ms[number] = returned_ms - begin_ms;
    figures->wake_ms[number] = woken_ms - returned_ms;
    reset(bench, number, cluster);
    figures->plain_ms[number] = plain(bench);
}

/* ---- figures */

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(const double *values, int count)
{
    double sorted[TRIES_MAX];
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, by_size);
    return count % 2 == 1 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

static double largest(const double *values, int count)
{
    double most = values[0];
    for (int i = 1; i < count; i++) {
        most = values[i] > most ? values[i] : most;
    }
    return most;
}

/* The time of a log line, "2026-11-20T10:59:48.588Z", in wall milliseconds; 0: none. */
static double line_ms(const char *line)
{
    struct tm tm = {0};
    char *end = strptime(line, "%Y-%m-%dT%H:%M:%S.", &tm);
    return end != NULL ? (double)timegm(&tm) * 1e3 + strtod(end, NULL) : 0;
}

/* The median time from submit's return to the first line with `event` in that log after it. */
static void print_step(const struct bench *bench, const char *log, const char *event,
                       const char *what)
{
    char path[500], line[1000], wanted[100];
    double after_ms[TRIES_MAX];
    int found = 0, number = 0;
    (void)snprintf(path, sizeof path, "%s/log/%s", bench->dir, log);
    (void)snprintf(wanted, sizeof wanted, " %s ", event);
    FILE *file = fopen(path, "re");
    while (file != NULL && number < bench->tries && fgets(line, sizeof line, file) != NULL) {
        double at_ms = line_ms(line);
        /* submit may return after the line was written: half a pause of slack */
        if (strstr(line, wanted) != NULL && at_ms >= bench->begin_wall_ms[number] - 50) {
            after_ms[found++] = at_ms - bench->begin_wall_ms[number];
            number++;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    if (found > 0) {
        (void)fprintf(stderr, "  %-44s median %6.1f ms  max %6.1f ms  (%d lines)\n", what,
                      median(after_ms, found), largest(after_ms, found), found);
    }
}

static void print_figures(const struct bench *bench)
{
    const struct figures *figures = &bench->figures;
    double wake_ms = median(figures->wake_ms, bench->tries);
    double plain_ms = median(figures->plain_ms, bench->tries);
    (void)fprintf(stderr, "after the return of submit, by the logs (of one millisecond):\n");
    print_step(bench, "SchedLog", "queue.submitted", "the jobs are in the schedd");
    print_step(bench, "NegotiatorLog", "hold", "the negotiator asks for the hold");
    print_step(bench, "RoosterLog", "wake.begins", "the hold is durable, the rooster sees it");
    print_step(bench, "RoosterLog", "wake.sent", "the wake command has ended");
    (void)fprintf(stderr, "all tries, ms:");
    for (int i = 0; i < bench->tries; i++) {
        (void)fprintf(stderr, " %.1f", figures->wake_ms[i]);
    }
    (void)fprintf(stderr, "\n");
    (void)printf("BENCH wake_latency_submit %.1f ms\n", median(figures->submit_ms, bench->tries));
    (void)printf("BENCH wake_latency_median %.1f ms ratio %.1f vs fsync+fork+exec %.1f ms\n",
                 wake_ms, wake_ms / plain_ms, plain_ms);
    (void)printf("BENCH wake_latency_max %.1f ms ratio %.1f vs fsync+fork+exec %.1f ms\n",
                 largest(figures->wake_ms, bench->tries),
                 largest(figures->wake_ms, bench->tries) / largest(figures->plain_ms, bench->tries),
                 largest(figures->plain_ms, bench->tries));
}

static void find_programs(struct bench *bench)
{
    char self[500];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    CHECK(length > 0);
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    (void)snprintf(bench->program, sizeof bench->program, "%s/programs/stamp", self);
    bench->bin = getenv("ROOST_BIN");
    if (bench->bin == NULL) {
        (void)fprintf(stderr, "wake_latency: ROOST_BIN is to name the folder of the programs\n");
        exit(2);
    }
    const char *tmp = getenv("TMPDIR");
    (void)snprintf(bench->dir, sizeof bench->dir, "%s/roost-wake-XXXXXX",
                   tmp != NULL ? tmp : "/tmp");
    CHECK(mkdtemp(bench->dir) != NULL);
    (void)snprintf(bench->stamp, sizeof bench->stamp, "%s/stamp", bench->dir);
}

int main(void)
{
    static struct bench bench; /* large */
    struct err err;
    char file[500];
    double returned_ms;
    bench.tries = number("BENCH_TRIES", 50, TRIES_MAX);
    bench.others = number("BENCH_OTHERS", 1000, 100000);
    CHECK(loop_create(&bench.cli.loop, &err) == 0 &&
          os_create(bench.cli.loop, &bench.cli.os, &err) == 0);
    find_programs(&bench);
    start_pool(&bench);
    advertise_others(&bench);
    (void)snprintf(file, sizeof file, "%s/others.sub", bench.dir);
    (void)submit(&bench, file, &returned_ms);
    wait_requests(&bench);
    update_one(&bench, offline_ad(NODE, "X86_64", "boot-0"));
    wait_node(&bench, "Off");
    cli_pause(&bench.cli, 1000);
    for (int i = 0; i < bench.tries; i++) {
        try(&bench, i);
    }
    stop_pool(&bench);
    print_figures(&bench);
    session_close(&bench.cli);
    if (getenv("BENCH_KEEP") == NULL) {
        (void)os_remove_tree(bench.cli.os, bench.dir, NULL);
    } else {
        (void)fprintf(stderr, "the pool is in %s\n", bench.dir);
    }
    os_destroy(bench.cli.os);
    loop_destroy(bench.cli.loop);
    return 0;
}
