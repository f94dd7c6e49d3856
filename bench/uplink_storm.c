/* bench/uplink_storm.c - how long until all uplinks are up: from cold, and after the collector was
 * killed.
 *
 * A real roost-collector; 10,000 real uplinks (wire/uplink.c, with the waits of base/redial.h),
 * over TCP, TLS and a token, each with a name of its own.  They are in BENCH_PROCESSES processes:
 * machines do not wait for each other, and a process that has thousands of handshakes to do answers
 * later than any machine would.  The collector is killed (kill -9), stays away for BENCH_DOWN_S,
 * long enough for the waits to have grown to their longest, and is started again.  Figures: seconds
 * from that start until all are up again, the collector's CPU for each connection, from preface to
 * WELCOME, in ms, that of both ends together, and its memory for each, in KB; and how long a job of
 * one second takes that is submitted to a whole pool while all uplinks come up.  Both ends share
 * the machine: the uplinks' half of the handshakes is its work, too.
 *
 * Environment: ROOST_BIN (needed), TMPDIR, BENCH_UPLINKS (10,000, fewer where the limit of open
 * files is lower), BENCH_PROCESSES (20), BENCH_DOWN_S (10), BENCH_STORMS (3).
 *
 * SHORT: BENCH_UPLINKS=50 BENCH_DOWN_S=1 BENCH_STORMS=1
 * LINK: wire classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "bench/collector_rig.h"
#include "wire/wire.h"

#define ALL_UP_S      8.0  /* target: all uplinks are up */
#define UPLINK_KB     20.0 /* target: the collector's memory for each */
#define JOB_S         3.0  /* target: a job of one second ends, submitted in the middle */
#define LOOK_MS       10
#define PROCESSES_MAX 100

/* What the processes of the uplinks tell, in shared memory. */
struct told {
    unsigned up_count, dials_failed; /* changed by __atomic_...() only */
    double last_up_s;                /* when the last one came up (CLOCK_MONOTONIC) */
};

struct storm {
    struct bench bench;
    struct wire_context *wires; /* in a process of uplinks */
    struct told *told;
    unsigned count, process_count;
    pid_t processes[PROCESSES_MAX];
    double empty_kb;    /* the collector's memory without uplinks */
    double dialled_cpu; /* CPU seconds of the processes, at the last call of dialling_cpu_s() */
};

struct one {
    struct told *told;
    struct uplink *uplink;
    bool up;
};

/* ---- a process of uplinks -------------------------------------------------------------------- */

static void on_up(void *arg, struct wire *wire)
{
    struct one *one = arg;
    (void)wire;
    one->up = true;
    double now_s = seconds(CLOCK_MONOTONIC);
    __atomic_store(&one->told->last_up_s, &now_s, __ATOMIC_SEQ_CST);
    (void)__atomic_add_fetch(&one->told->up_count, 1, __ATOMIC_SEQ_CST);
}

static void on_down(void *arg, const char *why)
{
    struct one *one = arg;
    (void)why;
    if (one->up) {
        (void)__atomic_sub_fetch(&one->told->up_count, 1, __ATOMIC_SEQ_CST);
    } else {
        (void)__atomic_add_fetch(&one->told->dials_failed, 1, __ATOMIC_SEQ_CST);
    }
    one->up = false;
}

/* Does not return: the bench kills this process. */
static _Noreturn void hold_uplinks(struct storm *storm, unsigned first, unsigned end)
{
    static const struct uplink_events EVENTS = {.up = on_up, .down = on_down};
    struct bench *bench = &storm->bench;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct err err;
    bool never = false;
    CHECK(loop_create(&bench->loop, &err) == 0 && os_create(bench->loop, &bench->os, &err) == 0);
    const struct wire_context_options options = {.loop = bench->loop,
                                                 .os = bench->os,
                                                 .token_path = bench->token_path,
                                                 .ca_file = bench->ca};
    if (wire_context_create(&options, &storm->wires, &err) != 0) {
        die(bench, "wires", &err);
    }
    struct one *all = mem_zalloc((end - first) * sizeof all[0]);
    for (unsigned i = first; i < end; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "startd/wn%05u", i);
        const struct wire_dial dial = {.address = bench->address,
                                       .route = "collector",
                                       .name = name};
        struct one *one = &all[i - first];
        one->told = storm->told;
        if (uplink_create(storm->wires, &dial, &EVENTS, one, &one->uplink, &err) != 0) {
            die(bench, name, &err);
        }
    }
    loop_run_until(bench->loop, &never);
    exit(1);
}

static void begin_uplinks(struct storm *storm)
{
    for (unsigned i = 0; i < storm->process_count; i++) {
        unsigned first = storm->count * i / storm->process_count;
        unsigned end = storm->count * (i + 1) / storm->process_count;
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            hold_uplinks(storm, first, end);
        }
        storm->processes[i] = pid;
    }
}

/* ---- the storm ------------------------------------------------------------------------------- */

static void on_woken(void *arg)
{
    *(bool *)arg = true;
}

static void wait_ms(struct storm *storm, unsigned delay_ms)
{
    bool over = false;
    struct loop_timer *timer = loop_timer_create(storm->bench.loop, on_woken, &over);
    loop_timer_set(timer, delay_ms);
    loop_run_until(storm->bench.loop, &over);
    loop_timer_destroy(timer);
}

/* Returns the seconds of CPU that the processes of uplinks have used since the last call. */
static double dialling_cpu_s(struct storm *storm)
{
    double before = storm->dialled_cpu;
    storm->dialled_cpu = 0;
    for (unsigned i = 0; i < storm->process_count; i++) {
        clockid_t clock;
        CHECK(clock_getcpuclockid(storm->processes[i], &clock) == 0);
        storm->dialled_cpu += seconds(clock);
    }
    return storm->dialled_cpu - before;
}

/* Waits until all uplinks are up, which began to dial at began_s. */
static void measure(struct storm *storm, const char *name, double began_s)
{
    const struct bench *bench = &storm->bench;
    struct told *told = storm->told;
    while (__atomic_load_n(&told->up_count, __ATOMIC_SEQ_CST) < storm->count) {
        wait_ms(storm, LOOK_MS);
    }
    double cpu_s = collector_cpu_s(bench), both_s = cpu_s + dialling_cpu_s(storm), last_s;
    __atomic_load(&told->last_up_s, &last_s, __ATOMIC_SEQ_CST);
    last_s -= began_s;
    double each_kb = (collector_pss_kb(bench) - storm->empty_kb) / storm->count;
    (void)printf("BENCH uplink_storm_%s_s %.1f s ratio %.2f vs target %.0f s\n", name, last_s,
                 last_s / ALL_UP_S, ALL_UP_S);
    (void)printf("BENCH uplink_storm_%s_cpu %.3f ms\n", name, cpu_s * 1e3 / storm->count);
    (void)printf("BENCH uplink_storm_%s_both_cpu %.3f ms\n", name, both_s * 1e3 / storm->count);
    (void)printf("BENCH uplink_storm_%s_pss %.1f KB ratio %.2f vs target %.0f KB\n", name, each_kb,
                 each_kb / UPLINK_KB, UPLINK_KB);
    (void)fprintf(stderr, "%s: %u uplinks; %u dials failed\n", name, storm->count,
                  __atomic_exchange_n(&told->dials_failed, 0, __ATOMIC_SEQ_CST));
    (void)fflush(stdout);
}

static void end_uplinks(struct storm *storm)
{
    for (unsigned i = 0; i < storm->process_count; i++) {
        (void)kill(storm->processes[i], SIGKILL);
        (void)waitpid(storm->processes[i], NULL, 0);
    }
    *storm->told = (struct told){.up_count = 0};
}

static void roost(struct storm *storm, const char *command, const char *argument)
{
    char program[400];
    (void)snprintf(program, sizeof program, "%s/roost", storm->bench.bin);
    const char *argv[] = {program, command, argument, NULL};
    run_to_its_end(&storm->bench, argv, command);
}

/* Submits a job of one second; returns the seconds from then to its end. */
static double job_s(struct storm *storm, const char *name)
{
    struct bench *bench = &storm->bench;
    char path[400], log[400], text[1000], *events = NULL;
    size_t length;
    struct err err;
    (void)snprintf(path, sizeof path, "%s/%s.sub", bench->dir, name);
    (void)snprintf(log, sizeof log, "%s/%s.log", bench->dir, name);
    (void)snprintf(text, sizeof text, "executable = /bin/sleep\narguments = 1\nlog = %s\nqueue\n",
                   log);
    CHECK(os_write_file(bench->os, path, text, strlen(text), 0644, false, &err) == 0);
    double began_s = seconds(CLOCK_MONOTONIC);
    roost(storm, "submit", path);
    for (bool over = false; !over; mem_free(events)) {
        wait_ms(storm, LOOK_MS);
        events = NULL;
        over = os_read_file(bench->os, log, 1 << 20, &events, &length, NULL) == 0 &&
               strstr(events, "\n005 (") != NULL;
    }
    return seconds(CLOCK_MONOTONIC) - began_s;
}

/* In the middle of a storm of all uplinks, which come to a pool that works. */
static void measure_job(struct storm *storm)
{
    struct bench *bench = &storm->bench;
    end_uplinks(storm);
    collector_kill(bench);
    CHECK(chmod(bench->dir, 01777) == 0); /* root's jobs run as an ordinary account */
    roost(storm, "start", NULL);
    double quiet_s = job_s(storm, "quiet");
    begin_uplinks(storm);
    while (__atomic_load_n(&storm->told->up_count, __ATOMIC_SEQ_CST) < storm->count / 10) {
        wait_ms(storm, 1);
    }
    unsigned before = __atomic_load_n(&storm->told->up_count, __ATOMIC_SEQ_CST);
    double storm_s = job_s(storm, "storm");
    (void)printf("BENCH uplink_storm_job_s %.2f s ratio %.2f vs target %.0f s\n", storm_s,
                 storm_s / JOB_S, JOB_S);
    (void)fprintf(stderr,
                  "a job of 1 s: %.2f s before the storm; %u uplinks at its start, %u at its end\n",
                  quiet_s, before, __atomic_load_n(&storm->told->up_count, __ATOMIC_SEQ_CST));
    (void)fflush(stdout);
    roost(storm, "stop", NULL);
}

int main(void)
{
    struct storm storm = {.bench = {.bin = getenv("ROOST_BIN")}};
    struct bench *bench = &storm.bench;
    struct err err;
    storm.count = uplinks_allowed(number_of("BENCH_UPLINKS", 10000));
    storm.process_count = number_of("BENCH_PROCESSES", 20);
    if (bench->bin == NULL || storm.count == 0 || storm.process_count == 0 ||
        storm.process_count > PROCESSES_MAX) {
        (void)fprintf(stderr, "uplink_storm: set ROOST_BIN\n");
        return 2;
    }
    storm.told =
        mmap(NULL, sizeof *storm.told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(storm.told != MAP_FAILED);
    CHECK(loop_create(&bench->loop, &err) == 0 && os_create(bench->loop, &bench->os, &err) == 0);
    make_pool(bench);
    collector_start(bench);
    wait_listening(bench);
    storm.empty_kb = collector_pss_kb(bench);
    double began_s = seconds(CLOCK_MONOTONIC);
    begin_uplinks(&storm);
    measure(&storm, "first", began_s);
    for (unsigned i = number_of("BENCH_STORMS", 3); i > 0; i--) {
        collector_kill(bench);
        wait_ms(&storm, number_of("BENCH_DOWN_S", 10) * 1000);
        CHECK(__atomic_load_n(&storm.told->up_count, __ATOMIC_SEQ_CST) == 0);
        __atomic_store_n(&storm.told->dials_failed, 0, __ATOMIC_SEQ_CST);
        (void)dialling_cpu_s(&storm); /* not that of the dials which nobody answered */
        began_s = seconds(CLOCK_MONOTONIC);
        collector_start(bench);
        measure(&storm, "killed", began_s);
    }
    measure_job(&storm);
    end_uplinks(&storm);
    (void)os_remove_tree(bench->os, bench->dir, NULL);
    os_destroy(bench->os);
    loop_destroy(bench->loop);
    return 0;
}
