/* bench/many_nodes.c - what 10,000 `node` sections in the configuration cost: commands, daemons,
 * the start of a pool.
 *
 * Each figure is taken in turns with and without the sections, so that a busy machine slows both.
 *
 * Environment: ROOST_BIN (needed), BENCH_NODES, BENCH_TRIES, BENCH_KEEP=1 leaves the directory.
 *
 * SHORT: BENCH_NODES=100 BENCH_TRIES=1
 * LINK: cli wire offline_ads classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/command_speed.h"
#include "bench/private_memory.h"

#define STARTS 3

struct pools {
    char few[500], many[500]; /* the two configurations */
    int nodes;
};

static void use(const char *config)
{
    CHECK(setenv("ROOST_CONFIG", config, 1) == 0);
}

/* Makes a pool in `dir` with this many machines that a program wakes. */
static void make_pool(struct bench *bench, const char *dir, int nodes, char *config, size_t size)
{
    const char *const init[] = {"roost", "init", dir, "--nodes", "1", NULL};
    if (run(bench, init, NULL) != 0) {
        fail(bench, "roost init", NULL);
    }
    (void)snprintf(config, size, "%s/roost.conf", dir);
    FILE *file = fopen(config, "a");
    CHECK(file != NULL && fputs("PERSONAL_NODES = none\n", file) >= 0);
    for (int i = 0; i < nodes; i++) {
        CHECK(fprintf(file,
                      "node \"n%05d\" {\n    method = command\n"
                      "    wake_command = \"$(SBIN)/wake n%05d\"\n    idle_watts = 80\n}\n",
                      i, i) > 0);
    }
    CHECK(fclose(file) == 0);
}

static void compare(struct bench *bench, const struct pools *pools, const char *name,
                    const char *const *argv)
{
    double few[TRIES_MAX], many[TRIES_MAX];
    for (int i = 0; i < bench->tries; i++) {
        struct cost cost[2];
        use(pools->few);
        CHECK(run(bench, argv, &cost[0]) == 0);
        use(pools->many);
        CHECK(run(bench, argv, &cost[1]) == 0);
        few[i] = cost[0].wall_ms;
        many[i] = cost[1].wall_ms;
    }
    double without = median(few, bench->tries), with = median(many, bench->tries);
    (void)printf("BENCH %s_%s %.1f ms ratio %.1f vs no_nodes\n", bench->what, name, with,
                 with / without);
    (void)fflush(stdout);
}

/* Prints the private memory of the daemon whose lock file names it. */
static void print_memory(struct bench *bench, const char *daemon)
{
    char path[600];
    (void)snprintf(path, sizeof path, "%s-many/lock/%s.lock", bench->dir, daemon);
    pid_t pid = os_lock_holder(bench->cli.os, path);
    CHECK(pid > 0);
    (void)printf("BENCH %s_%s_private %.1f MB\n", bench->what, daemon, private_kb((int)pid) / 1e3);
}

static void start_pools(struct bench *bench, const struct pools *pools)
{
    static const char *const START[] = {"roost", "start", NULL};
    static const char *const STOP[] = {"roost", "stop", NULL};
    static const char *const DAEMONS[] = {"collector", "schedd", "negotiator", "rooster"};
    double wall[2][STARTS];
    for (int i = 0; i < STARTS; i++) {
        for (int many = 0; many < 2; many++) {
            struct cost cost;
            use(many == 1 ? pools->many : pools->few);
            CHECK(run(bench, START, &cost) == 0);
            wall[many][i] = cost.wall_ms;
            for (size_t d = 0; many == 1 && i == 0 && d < ARRAY_COUNT(DAEMONS); d++) {
                print_memory(bench, DAEMONS[d]);
            }
            CHECK(run(bench, STOP, NULL) == 0);
        }
    }
    double without = median(wall[0], STARTS), with = median(wall[1], STARTS);
    (void)printf("BENCH %s_start %.0f ms ratio %.1f vs no_nodes\n", bench->what, with,
                 with / without);
}

int main(void)
{
    struct bench bench = {.what = "many_nodes",
                          .server_name = "none",
                          .bin = getenv("ROOST_BIN"),
                          .tries = number("BENCH_TRIES", 15, TRIES_MAX)};
    struct pools pools = {.nodes = number("BENCH_NODES", 10000, 20000)};
    static const char *const GET[] = {"roost", "config", "get", "LOG", NULL};
    static const char *const TOKENS[] = {"roost", "token", "list", NULL};
    char few[400], many[400];
    bench_begin(&bench);
    (void)snprintf(few, sizeof few, "%s-few", bench.dir);
    (void)snprintf(many, sizeof many, "%s-many", bench.dir);
    make_pool(&bench, few, 0, pools.few, sizeof pools.few);
    make_pool(&bench, many, pools.nodes, pools.many, sizeof pools.many);
    compare(&bench, &pools, "config_get", GET);
    compare(&bench, &pools, "token_list", TOKENS);
    start_pools(&bench, &pools);
    bench_end(&bench);
    if (getenv("BENCH_KEEP") == NULL) {
        (void)os_remove_tree(bench.cli.os, few, NULL);
        (void)os_remove_tree(bench.cli.os, many, NULL);
    }
    return 0;
}
