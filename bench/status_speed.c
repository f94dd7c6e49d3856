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
 * SHORT: BENCH_ADS=200 BENCH_TRIES=1
 * LINK: cli wire offline_ads classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/command_speed.h"
#include "bench/slot_ad.h"

#define BATCH_ADS 250

static void send(struct bench *bench, const struct ad *const *ads, size_t count)
{
    struct cli_reply reply;
    struct err err;
    const struct wire_body body = {.ads = ads, .ad_count = count};
    if (cli_call(&bench->cli, bench->cli.collector, NULL, VERB_UPDATE, &body, 0, &reply, &err) !=
            0 ||
        (reply.args != NULL && ad_int_or(reply.args, "Rejected", 0) != 0)) {
        fail(bench, "UPDATE", &err);
    }
    cli_reply_fini(&reply);
}

static void fill(struct bench *bench, int total, bool differ)
{
    struct ad *ads[BATCH_ADS];
    size_t count = 0;
    struct err err;
    wire_close(bench->cli.collector); /* nobody answered its pings while others were measured */
    bench->cli.collector = NULL;
    if (cli_collector(&bench->cli, &err) != 0) {
        fail(bench, "connecting", &err);
    }
    for (int i = 0; i < total; i++) {
        struct ad *ad = slot_ad_create((unsigned)i, differ);
        ad_set_string(ad, "State", i % 8 == 3 ? "Claimed" : "Unclaimed");
        ad_set_int(ad, "ClassAdLifetime", 100000);
        ads[count++] = ad;
        if (count == BATCH_ADS || i + 1 == total) {
            send(bench, (const struct ad *const *)ads, count);
            while (count > 0) {
                ad_destroy(ads[--count]);
            }
        }
    }
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
        measure(bench, name, KINDS[i].argv, KINDS[i].peer_ms, "HTCondor (unencrypted)");
    }
}

int main(void)
{
    struct bench bench = {.bin = getenv("ROOST_BIN"),
                          .what = "status",
                          .server_name = "collector",
                          .tries = number("BENCH_TRIES", 15, TRIES_MAX)};
    int ads = number("BENCH_ADS", 10000, 1000000);
    bench_begin(&bench);
    bench_serve(&bench, "roost-collector", "", cli_collector);
    if (getenv("BENCH_HOLD") != NULL) {
        fill(&bench, ads, getenv("BENCH_DIFFER") != NULL);
        bench_hold(&bench);
    } else {
        measure_nothing(&bench);
        fill(&bench, ads, false);
        measure_all(&bench, "");
        fill(&bench, ads, true);
        measure_all(&bench, "_all_differ");
    }
    bench_end(&bench);
    return 0;
}
