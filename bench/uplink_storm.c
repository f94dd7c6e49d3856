/* bench/uplink_storm.c - how long until all uplinks are back after the collector was killed.
 *
 * A real roost-collector; 10,000 real uplinks (wire/uplink.c, with the waits of base/redial.h) in
 * this process, over TCP, TLS and a token, each with a name of its own.  The collector is killed
 * (kill -9), stays away for BENCH_DOWN_S, long enough for the waits to have grown to their longest,
 * and is started again.  Figures: seconds from that start until all are up again, and the
 * collector's CPU for each connection, from preface to WELCOME, in ms.  Both ends share the
 * machine: the uplinks' half of the handshakes is its work, too.
 *
 * Environment: ROOST_BIN (needed), TMPDIR, BENCH_UPLINKS (10,000, fewer where the limit of open
 * files is lower), BENCH_DOWN_S (10), BENCH_STORMS (3).
 *
 * SHORT: BENCH_UPLINKS=50 BENCH_DOWN_S=1 BENCH_STORMS=1
 * LINK: wire classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "bench/collector_rig.h"
#include "wire/wire.h"

struct storm {
    struct bench bench;
    struct wire_context *wires;
    struct one {
        struct storm *storm;
        struct uplink *uplink;
        double up_s; /* since the collector's start */
    } * all;
    unsigned count, up_count;
    double started_s;
    unsigned dials_failed;
};

static void on_up(void *arg, struct wire *wire)
{
    struct one *one = arg;
    struct storm *storm = one->storm;
    (void)wire;
    one->up_s = seconds(CLOCK_MONOTONIC) - storm->started_s;
    storm->bench.done = ++storm->up_count == storm->count;
}

static void on_down(void *arg, const char *why)
{
    struct one *one = arg;
    (void)why;
    if (one->up_s > 0) {
        one->up_s = 0;
        one->storm->up_count--;
    } else {
        one->storm->dials_failed++;
    }
}

static void on_woken(void *arg)
{
    *(bool *)arg = true;
}

static void wait_s(struct storm *storm, unsigned delay_s)
{
    bool over = false;
    struct loop_timer *timer = loop_timer_create(storm->bench.loop, on_woken, &over);
    loop_timer_set(timer, (uint64_t)delay_s * 1000);
    loop_run_until(storm->bench.loop, &over);
    loop_timer_destroy(timer);
}

static void make_uplinks(struct storm *storm)
{
    static const struct uplink_events EVENTS = {.up = on_up, .down = on_down};
    struct bench *bench = &storm->bench;
    struct err err;
    const struct wire_context_options options = {.loop = bench->loop,
                                                 .os = bench->os,
                                                 .token_path = bench->token_path,
                                                 .ca_file = bench->ca};
    if (wire_context_create(&options, &storm->wires, &err) != 0) {
        die(bench, "wires", &err);
    }
    storm->all = mem_zalloc(storm->count * sizeof storm->all[0]);
    for (unsigned i = 0; i < storm->count; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "startd/wn%05u", i);
        const struct wire_dial dial = {.address = bench->address,
                                       .route = "collector",
                                       .name = name};
        storm->all[i].storm = storm;
        if (uplink_create(storm->wires, &dial, &EVENTS, &storm->all[i], &storm->all[i].uplink,
                          &err) != 0) {
            die(bench, name, &err);
        }
    }
}

/* From the collector's start, which was now, to the last uplink. */
static void measure(struct storm *storm, const char *name)
{
    struct bench *bench = &storm->bench;
    storm->started_s = seconds(CLOCK_MONOTONIC);
    storm->dials_failed = 0;
    bench->done = storm->up_count == storm->count;
    loop_run_until(bench->loop, &bench->done);
    double cpu_s = collector_cpu_s(bench), last_s = 0, sum_s = 0;
    for (unsigned i = 0; i < storm->count; i++) {
        sum_s += storm->all[i].up_s;
        last_s = storm->all[i].up_s > last_s ? storm->all[i].up_s : last_s;
    }
    (void)printf("BENCH uplink_storm_%s_s %.1f s ratio %.2f vs wanted\n", name, last_s,
                 last_s / 10);
    (void)printf("BENCH uplink_storm_%s_cpu %.3f ms\n", name, cpu_s * 1e3 / storm->count);
    (void)fprintf(stderr,
                  "%s: %u uplinks, the last after %.1f s, on average %.1f s; %u dials failed\n",
                  name, storm->count, last_s, sum_s / storm->count, storm->dials_failed);
    (void)fflush(stdout);
}

int main(void)
{
    struct storm storm = {.bench = {.bin = getenv("ROOST_BIN")}};
    struct bench *bench = &storm.bench;
    struct err err;
    storm.count = uplinks_allowed(number_of("BENCH_UPLINKS", 10000));
    if (bench->bin == NULL || storm.count == 0) {
        (void)fprintf(stderr, "uplink_storm: set ROOST_BIN\n");
        return 2;
    }
    CHECK(loop_create(&bench->loop, &err) == 0 && os_create(bench->loop, &bench->os, &err) == 0);
    make_pool(bench);
    collector_start(bench);
    make_uplinks(&storm);
    measure(&storm, "first");
    for (unsigned i = number_of("BENCH_STORMS", 3); i > 0; i--) {
        collector_kill(bench);
        wait_s(&storm, number_of("BENCH_DOWN_S", 10));
        CHECK(storm.up_count == 0);
        collector_start(bench);
        measure(&storm, "killed");
    }
    for (unsigned i = 0; i < storm.count; i++) {
        uplink_destroy(storm.all[i].uplink);
    }
    mem_free(storm.all);
    wire_context_destroy(storm.wires);
    (void)os_kill(bench->os, bench->collector.pid, SIGTERM);
    loop_run_until(bench->loop, &bench->collector.ended);
    (void)os_remove_tree(bench->os, bench->dir, NULL);
    os_destroy(bench->os);
    loop_destroy(bench->loop);
    return 0;
}
