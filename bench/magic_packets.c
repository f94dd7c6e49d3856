/* bench/magic_packets.c - waking 10,000 machines by Wake-on-LAN, without a rate limit.
 *
 * In a network namespace of its own (else on the loopback adapter's network) with a pair of virtual
 * adapters, so that packets go the whole way through a driver and are dropped behind it.  Figures:
 * 10,000 packets built and sent, one datagram each, as a loop of the rooster's own calls would
 * send them; and 10,000 wakes by the method wol, each with its copies of texts and in all forms,
 * wake_repeats = 1, from the first call to the last outcome.
 *
 * Environment: BENCH_MACHINES (10,000), BENCH_ROUNDS (5; the best counts).
 *
 * SHORT: BENCH_MACHINES=100 BENCH_ROUNDS=1
 * LINK: power classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_net.h"
#include "base/os/os_run.h"
#include "bench/bench_env.h"
#include "power/power.h"
#include "power/wol_packet.h"

#define SUBNET   "10.99.0.0/16"
#define LOOPBACK "127.0.0.0/8"
#define IP       "/sbin/ip"
#define MAKE_WIRE                                          \
    "link set lo up\nlink add w0 type veth peer name w1\n" \
    "addr add 10.99.0.1/16 dev w0\nlink set w0 up\nlink set w1 up\n"
#define ROUNDS_MAX 100
#define LIMIT_MS   200.0

struct bench {
    struct loop *loop;
    struct os *os;
    struct power *power;
    const char *subnet;
    int64_t machines, ended, failed;
    bool over;
    char text[400]; /* of the last outcome */
};

static double now_ms(clockid_t clock)
{
    struct timespec now;
    CHECK(clock_gettime(clock, &now) == 0);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void mac_of(int64_t machine, uint8_t mac[NET_MAC_BYTES])
{
    const uint8_t is[NET_MAC_BYTES] = {2,
                                       0,
                                       (uint8_t)(machine >> 24),
                                       (uint8_t)(machine >> 16),
                                       (uint8_t)(machine >> 8),
                                       (uint8_t)machine};
    memcpy(mac, is, sizeof is);
}

static void wire_made(void *arg, pid_t pid, const struct os_exit *how)
{
    struct bench *bench = arg;
    (void)pid;
    bench->over = true;
    bench->failed = how->status;
}

/* A wire that nobody else is on; where that may not be made, the loopback adapter. */
static void make_wire(struct bench *bench)
{
    static const char *const ARGV[] = {IP, "-batch", "-", NULL};
    const struct os_spawn spec = {.argv = ARGV, .input_text = MAKE_WIRE, .stderr_path = "-"};
    struct err err = {.text = "it failed"};
    pid_t pid;
    bench->subnet = LOOPBACK;
    if (unshare(CLONE_NEWNET) != 0) {
        return;
    }
    if (os_spawn(bench->os, &spec, wire_made, bench, &pid, &err) == 0) {
        loop_run_until(bench->loop, &bench->over);
    } else {
        bench->failed = 1;
    }
    if (bench->failed != 0) {
        (void)fprintf(stderr, "magic_packets: " IP ": %s\n", err.text);
        exit(1);
    }
    bench->subnet = SUBNET;
}

static const struct os_adapter *find_adapter(const struct bench *bench, struct os_adapter *all)
{
    struct net_subnet subnet;
    size_t count = 0;
    CHECK(net_text_subnet(bench->subnet, &subnet, NULL) == 0);
    CHECK(os_adapters(bench->os, all, &count, NULL) == 0);
    for (size_t i = 0; i < count; i++) {
        if (all[i].subnet.address == subnet.address && all[i].subnet.mask == subnet.mask) {
            return &all[i];
        }
    }
    return NULL;
}

static double send_plain(struct bench *bench, double *cpu_ms)
{
    struct os_adapter all[OS_ADAPTERS_MAX];
    const struct os_adapter *by = find_adapter(bench, all);
    struct os_caster *caster = os_caster_create(bench->os);
    CHECK(by != NULL);
    double begin_ms = now_ms(CLOCK_MONOTONIC), cpu_begin_ms = now_ms(CLOCK_PROCESS_CPUTIME_ID);
    for (int64_t i = 0; i < bench->machines; i++) {
        uint8_t mac[NET_MAC_BYTES];
        struct wol_packet packet;
        mac_of(i, mac);
        wol_packet_make(mac, NULL, &packet);
        CHECK(os_cast_datagram(caster, by, net_subnet_broadcast(&by->subnet), WOL_PORT,
                               packet.bytes, packet.length) == 0);
    }
    *cpu_ms = now_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin_ms;
    double took_ms = now_ms(CLOCK_MONOTONIC) - begin_ms;
    os_caster_destroy(caster);
    return took_ms;
}

static void woken(void *arg, int status, const char *text)
{
    struct bench *bench = arg;
    bench->failed += status != 0 ? 1 : 0;
    (void)snprintf(bench->text, sizeof bench->text, "%s", text);
    bench->over = ++bench->ended == bench->machines;
}

static double wake_all(struct bench *bench, double *cpu_ms)
{
    bench->ended = bench->failed = 0;
    bench->over = false;
    double begin_ms = now_ms(CLOCK_MONOTONIC), cpu_begin_ms = now_ms(CLOCK_PROCESS_CPUTIME_ID);
    for (int64_t i = 0; i < bench->machines; i++) {
        uint8_t mac[NET_MAC_BYTES];
        char name[40], address[NET_TEXT_MAX];
        struct err err;
        mac_of(i, mac);
        (void)snprintf(name, sizeof name, "desk%05lld", (long long)i);
        const struct power_node node = {.name = name,
                                        .method = "wol",
                                        .hardware_address = net_text_put_mac(mac, address),
                                        .subnet = bench->subnet,
                                        .wake_repeats = 1};
        if (power_wake(bench->power, &node, woken, bench, &err) != 0) {
            (void)fprintf(stderr, "magic_packets: %s\n", err.text);
            exit(1);
        }
    }
    loop_run_until(bench->loop, &bench->over);
    *cpu_ms = now_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin_ms;
    return now_ms(CLOCK_MONOTONIC) - begin_ms;
}

struct best {
    double wall_ms, cpu_ms;
};

static void keep_best(struct best *best, double wall_ms, double cpu_ms)
{
    best->wall_ms = best->wall_ms == 0 || wall_ms < best->wall_ms ? wall_ms : best->wall_ms;
    best->cpu_ms = best->cpu_ms == 0 || cpu_ms < best->cpu_ms ? cpu_ms : best->cpu_ms;
}

int main(void)
{
    struct bench bench = {.machines = number("BENCH_MACHINES", 10000, 65000)};
    int64_t rounds = number("BENCH_ROUNDS", 5, ROUNDS_MAX);
    struct best plain = {0}, wakes = {0};
    CHECK(loop_create(&bench.loop, NULL) == 0 && os_create(bench.loop, &bench.os, NULL) == 0);
    make_wire(&bench);
    bench.power = power_create(bench.loop, bench.os, NULL);
    for (int64_t i = 0; i < rounds; i++) {
        double cpu_ms = 0;
        double wall_ms = send_plain(&bench, &cpu_ms);
        keep_best(&plain, wall_ms, cpu_ms);
        wall_ms = wake_all(&bench, &cpu_ms);
        keep_best(&wakes, wall_ms, cpu_ms);
    }
    (void)printf("magic_packets: %lld machines on %s, best of %lld rounds; the last: %s\n",
                 (long long)bench.machines, bench.subnet, (long long)rounds, bench.text);
    CHECK(bench.failed == 0);
    (void)printf("BENCH magic_packets %.1f ms ratio %.2f vs target 200 ms\n", plain.wall_ms,
                 plain.wall_ms / LIMIT_MS);
    (void)printf("BENCH magic_packets_cpu %.1f ms\n", plain.cpu_ms);
    (void)printf("BENCH magic_packets_wakes %.1f ms\n", wakes.wall_ms);
    (void)printf("BENCH magic_packets_wakes_cpu %.1f ms ratio %.2f vs the packets alone\n",
                 wakes.cpu_ms, wakes.cpu_ms / plain.cpu_ms);
    power_destroy(bench.power);
    os_destroy(bench.os);
    loop_destroy(bench.loop);
    return 0;
}
