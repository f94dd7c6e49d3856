/* bench/advertise_speed.c - `roost advertise` of 10,000 slot ads from a file of the long form.
 *
 * A collector process of its own, over TCP and TLS.  First slots as those of a pool of identical
 * machines (slot_ad.h: a fifth of the lines differs from ad to ad), then slots that have no value
 * in common, which are parsed line by line.
 *
 * Environment: ROOST_BIN (needed), BENCH_ADS, BENCH_TRIES, BENCH_KEEP=1 leaves the directory.
 *
 * SHORT: BENCH_ADS=200 BENCH_TRIES=1
 * LINK: cli wire offline_ads classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/strbuf.h"
#include "bench/command_speed.h"
#include "bench/slot_ad.h"

static void write_ads(const char *path, int ads, bool differ)
{
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    for (int i = 0; i < ads; i++) {
        struct strbuf text;
        struct ad *ad = slot_ad_create((unsigned)i, differ);
        strbuf_init(&text, 0);
        ad_print_long(ad, &text);
        CHECK(fprintf(file, "%s\n", strbuf_text(&text)) > 0);
        strbuf_fini(&text);
        ad_destroy(ad);
    }
    CHECK(fclose(file) == 0);
}

int main(void)
{
    struct bench bench = {.what = "advertise",
                          .server_name = "collector",
                          .bin = getenv("ROOST_BIN"),
                          .tries = number("BENCH_TRIES", 7, TRIES_MAX)};
    int ads = number("BENCH_ADS", 10000, 100000);
    char path[500];
    bench_begin(&bench);
    bench_serve(&bench, "roost-collector", "", cli_collector);
    measure_nothing(&bench);
    (void)snprintf(path, sizeof path, "%s/slots.ads", bench.dir);
    const char *const advertise[] = {"roost", "advertise", "UPDATE_STARTD_AD", path, NULL};
    for (int differ = 0; differ < 2; differ++) {
        write_ads(path, ads, differ == 1);
        measure(&bench, differ == 1 ? "all_differ" : "alike", advertise, 2200,
                "HTCondor (unencrypted)");
    }
    bench_end(&bench);
    return 0;
}
