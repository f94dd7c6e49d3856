/* bench/uplink_storm.c - how long until all uplinks are up: from cold, and after the collector was
 * killed.
 *
 * A real roost-collector; 10,000 real uplinks (wire/uplink.c, with the waits of base/redial.h),
 * over TCP, TLS and a token, each with a name of its own.  They are in BENCH_PROCESSES processes:
 * machines do not wait for each other, and a process that has thousands of handshakes to do answers
 * later than any machine would.  The collector is killed (kill -9), stays away for BENCH_DOWN_S,
 * long enough for the waits to have grown to their longest, and is started again.  Figures: seconds
 * from that start until all are up again, the collector's CPU for each connection, from preface to
 * WELCOME, in ms, and its memory for each, in KB.  Both ends share the machine: the uplinks' half
 * of the handshakes is its work, too.
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
#include <sys/wait.h>

#include "bench/collector_rig.h"
#include "wire/wire.h"

#define ALL_UP_S      8.0  /* wanted: all uplinks are up */
#define UPLINK_KB     20.0 /* wanted: the collector's memory for each */
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
    double empty_kb; /* the collector's memory without uplinks */
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

/* Waits until all uplinks are up, which began to dial at began_s. */
static void measure(struct storm *storm, const char *name, double began_s)
{
    const struct bench *bench = &storm->bench;
    struct told *told = storm->told;
    while (__atomic_load_n(&told->up_count, __ATOMIC_SEQ_CST) < storm->count) {
        wait_ms(storm, LOOK_MS);
    }
    double cpu_s = collector_cpu_s(bench), last_s;
    __atomic_load(&told->last_up_s, &last_s, __ATOMIC_SEQ_CST);
    last_s -= began_s;
    double each_kb = (collector_pss_kb(bench) - storm->empty_kb) / storm->count;
    (void)printf("BENCH uplink_storm_%s_s %.1f s ratio %.2f vs wanted\n", name, last_s,
                 last_s / ALL_UP_S);
    (void)printf("BENCH uplink_storm_%s_cpu %.3f ms\n", name, cpu_s * 1e3 / storm->count);
    (void)printf("BENCH uplink_storm_%s_pss %.1f KB ratio %.2f vs wanted\n", name, each_kb,
                 each_kb / UPLINK_KB);
    (void)fprintf(stderr, "%s: %u uplinks; %u dials failed\n", name, storm->count,
                  __atomic_exchange_n(&told->dials_failed, 0, __ATOMIC_SEQ_CST));
    (void)fflush(stdout);
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
        began_s = seconds(CLOCK_MONOTONIC);
        collector_start(bench);
        measure(&storm, "killed", began_s);
    }
    for (unsigned i = 0; i < storm.process_count; i++) {
        (void)kill(storm.processes[i], SIGKILL);
        (void)waitpid(storm.processes[i], NULL, 0);
    }
    (void)os_kill(bench->os, bench->collector.pid, SIGTERM);
    loop_run_until(bench->loop, &bench->collector.ended);
    (void)os_remove_tree(bench->os, bench->dir, NULL);
    os_destroy(bench->os);
    loop_destroy(bench->loop);
    return 0;
}
