/* bench/wake_planning.c - what deciding costs the rooster: 10,000 sleeping machines, 100,000 jobs.
 *
 * Each machine's offline ad is held for 10 jobs of two requests.  The rooster's own code, from ads
 * to the order in which machines are woken; the ads are given to it as its watch does, and
 * ROOSTER_DRY_RUN keeps it from writing ledgers and giving orders, which other benches measure.
 *
 *   wake_plan                 all ads are new: noted, read, evaluated, ranked, chosen from
 *   wake_replan               one more hold on one machine of a planned pool, until it is chosen
 *   wake_replan_limited       the same while a limit keeps the 10,000 others waiting
 *   wake_replan_live          an update of a live machine's ad, which changes nothing
 *   wake_look_at_all          what ROOSTER_INTERVAL does: everything again
 *   wake_replan_reserve       an update of a live machine's ad while the 10,000 might be woken for
 *                             the reserve, which is there
 *   sleep_ask                 one of 1,000 live machines asks whether it may go to sleep, its ad
 *                             has just changed; of 10,000 others that sleep
 *
 * CPU time of this process.  Environment: BENCH_MACHINES (10,000), BENCH_ROUNDS (5; the best of
 * whole plans, the middle of 200 replans in each).
 *
 * SHORT: BENCH_MACHINES=200 BENCH_ROUNDS=1
 * LINK: rooster power classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "base/random.h"
#include "base/strmap.h"
#include "bench/bench_env.h"
#include "classad/ad.h"
#include "power/power.h"
#include "rooster/energy.h"
#include "rooster/guard_plan.h"
#include "rooster/guards.h"
#include "rooster/look.h"
#include "rooster/nodes.h"
#include "rooster/relay.h"
#include "rooster/rooster.h"
#include "rooster/seen.h"
#include "rooster/still_up.h"
#include "rooster/wakes.h"

#define PLAN_LIMIT_MS   100.0
#define REPLAN_LIMIT_MS 1.0
#define REPLANS         200
#define LIVE_MACHINES   100
#define ASK_LIMIT_US    100.0
#define ASKING          1000

struct bench {
    struct loop *loop;
    struct os *os;
    struct config *config;
    char text[512]; /* of the configuration */
    char dir[64];
    struct rooster rooster;
    struct ad **ads, **live;
    unsigned machines, rounds;
};

static double cpu_ms(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* ---- a rooster without a pool */

static int read_file(void *context, const char *path, size_t max, char **text, size_t *length,
                     struct err *err)
{
    const struct bench *bench = context;
    (void)path;
    (void)max;
    (void)err;
    *text = mem_strdup(bench->text);
    *length = strlen(bench->text);
    return 0;
}

static int list_nothing(void *context, const char *path, struct vec *names, struct err *err)
{
    (void)context;
    (void)path;
    (void)names;
    return err_set(err, -ENOENT, "there is none");
}

static const char *no_variable(void *context, const char *name)
{
    (void)context;
    (void)name;
    return NULL;
}

static void unused(void *arg)
{
    (void)arg;
}

static struct ad_expr *expr_of(const struct bench *bench, const char *knob)
{
    const char *text = config_expr(bench->config, knob);
    struct ad_expr *expr = NULL;
    CHECK(ad_expr_parse(text, strlen(text), AD_OLD, &expr, NULL) == 0);
    return expr;
}

static void begin(struct bench *bench, const char *text)
{
    const struct config_source source = {.read_file = read_file,
                                         .list_directory = list_nothing,
                                         .get_env = no_variable,
                                         .context = bench};
    const struct config_options options = {.subsystem = "ROOSTER",
                                           .path = "/roost.conf",
                                           .tables = rooster_daemon.tables,
                                           .table_count = rooster_daemon.table_count};
    struct rooster *rooster = &bench->rooster;
    struct err err = {.text = ""};
    (void)snprintf(bench->text, sizeof bench->text, "SPOOL = \"%s\"\n%s", bench->dir, text);
    if (config_load(&source, &options, &bench->config, &err) != 0) {
        (void)fprintf(stderr, "wake_planning: %s\n", err.text);
        exit(1);
    }
    *rooster = (struct rooster){.configuration = 1};
    rooster->env =
        (struct daemon_env){.loop = bench->loop, .os = bench->os, .config = bench->config};
    rooster->nodes = strmap_create(STRMAP_CASE_IGNORED);
    rooster->seen = strmap_create(STRMAP_CASE_SENSITIVE);
    rooster->look_timer = loop_timer_create(bench->loop, unused, NULL);
    rooster->on_deadline = node_no_show;
    rooster->on_ask = still_up_again;
    rooster->power = power_create(bench->loop, bench->os, NULL);
    rooster->relays = relays_create(rooster);
    rooster->guards = guards_create(rooster);
    CHECK(guards_configure(rooster->guards, NULL) == 0);
    CHECK(energy_open(rooster, &rooster->energy, NULL) == 0);
    rooster->unhibernate = expr_of(bench, "ROOSTER_UNHIBERNATE");
    rooster->rank = expr_of(bench, "ROOSTER_UNHIBERNATE_RANK");
}

static void end(struct bench *bench)
{
    struct rooster *rooster = &bench->rooster;
    power_destroy(rooster->power);
    relays_destroy(rooster->relays);
    loop_timer_destroy(rooster->look_timer);
    seen_destroy_all(rooster);
    choose_fini(rooster);
    energy_close(rooster->energy);
    guards_destroy(rooster->guards);
    nodes_destroy(rooster);
    ad_expr_destroy(rooster->unhibernate);
    ad_expr_destroy(rooster->rank);
    config_destroy(bench->config);
}

/* ---- its ads */

static struct ad *offline_ad(unsigned machine, unsigned jobs)
{
    char name[64], holds[256];
    struct ad *ad = ad_create();
    struct err err;
    (void)snprintf(name, sizeof name, "wn%05u.example.org", machine);
    ad_set_string(ad, "MyType", "Machine");
    ad_set_string(ad, "Machine", name);
    (void)snprintf(name, sizeof name, "slot1@wn%05u.example.org", machine);
    ad_set_string(ad, "Name", name);
    ad_set_bool(ad, "Offline", true);
    ad_set_string(ad, "OfflineBootId", "b1");
    ad_set_string(ad, "PowerState", "Off");
    ad_set_string(ad, "State", "Unclaimed");
    ad_set_int(ad, "Cpus", 4 + machine % 7);
    ad_set_int(ad, "Memory", 16384 + machine % 11);
    ad_set_bool(ad, "IsWakeAble", true);
    ad_set_string(ad, "HardwareAddress", "52:54:00:12:34:56");
    ad_set_string(ad, "Subnet", "10.0.0.0/16");
    ad_set_int(ad, "MachineLastMatchTime", 1795000000);
    (void)snprintf(holds, sizeof holds,
                   "{ [ Schedd = \"s1\"; AutoCluster = %u; Count = %u; Until = 4000000000 ],"
                   " [ Schedd = \"s2\"; AutoCluster = 2; Count = 5; Until = 4000000000 ] }",
                   machine % 50, jobs - 5);
    CHECK(ad_set_expr(ad, "OfflineMatches", holds, &err) == 0);
    CHECK(ad_set_expr(ad, "Unhibernate", "MachineLastMatchTime =!= undefined", &err) == 0);
    return ad;
}

static struct ad *live_ad(unsigned machine, int64_t now_s)
{
    char name[64];
    struct ad *ad = ad_create();
    (void)snprintf(name, sizeof name, "live%05u.example.org", machine);
    ad_set_string(ad, "MyType", "Machine");
    ad_set_string(ad, "Machine", name);
    ad_set_string(ad, "Name", name);
    ad_set_string(ad, "BootId", "b2");
    ad_set_string(ad, "State", "Unclaimed");
    ad_set_int(ad, "MyCurrentTime", now_s);
    return ad;
}

static void show(struct bench *bench, const struct ad *ad)
{
    seen_changed(&bench->rooster, ad_string_or(ad, "Name", ""), ad);
}

static size_t would_wake(const struct bench *bench)
{
    size_t at = 0, count = 0;
    void *node;
    while (strmap_next(bench->rooster.nodes, &at, NULL, &node)) {
        count += ((const struct node *)node)->wake.is_dry ? 1 : 0;
    }
    return count;
}

/* ---- what is measured */

static double plan_all(struct bench *bench)
{
    double began = cpu_ms();
    for (unsigned i = 0; i < bench->machines; i++) {
        show(bench, bench->ads[i]);
    }
    look_now(&bench->rooster);
    return cpu_ms() - began;
}

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* The middle of REPLANS; the worst goes to *worst. */
static double replan(struct bench *bench, bool live, double *worst)
{
    double took[REPLANS];
    for (unsigned i = 0; i < REPLANS; i++) {
        unsigned which = i * 37 % bench->machines;
        struct ad *ad = live ? live_ad(i % LIVE_MACHINES, i) : offline_ad(which, 11);
        struct ad **old = live ? &bench->live[i % LIVE_MACHINES] : &bench->ads[which];
        struct node *node = strmap_get(bench->rooster.nodes, ad_string_or(ad, "Machine", ""));
        node->wake.is_dry = false; /* it is chosen from anew */
        double began = cpu_ms();
        show(bench, ad);
        look_now(&bench->rooster);
        took[i] = cpu_ms() - began;
        CHECK(live || node->jobs.waiting == 11);
        ad_destroy(*old);
        *old = ad;
    }
    qsort(took, REPLANS, sizeof took[0], by_size);
    *worst = took[REPLANS - 1];
    return took[REPLANS / 2];
}

static void say(const char *name, double ms, double limit_ms)
{
    (void)printf("BENCH %s %.3f ms ratio %.4f vs target %.0f ms\n", name, ms, ms / limit_ms,
                 limit_ms);
}

static void measure(struct bench *bench, const char *text, bool limited)
{
    double best = 1e9, all = 1e9, middle = 0, worst = 0, middle_live = 0, worst_live = 0;
    for (unsigned round = 0; round < bench->rounds; round++) {
        begin(bench, text);
        double took = plan_all(bench);
        best = took < best ? took : best;
        CHECK(would_wake(bench) == (limited ? 1 : bench->machines));
        for (unsigned i = 0; i < LIVE_MACHINES; i++) {
            show(bench, bench->live[i]);
        }
        look_now(&bench->rooster);
        middle = replan(bench, false, &worst);
        double began = cpu_ms();
        look_at_all(&bench->rooster);
        look_now(&bench->rooster);
        took = cpu_ms() - began;
        all = took < all ? took : all;
        middle_live = limited ? 0 : replan(bench, true, &worst_live);
        end(bench);
    }
    if (limited) {
        say("wake_replan_limited", middle, REPLAN_LIMIT_MS);
        say("wake_replan_limited_worst", worst, REPLAN_LIMIT_MS);
        return;
    }
    say("wake_plan", best, PLAN_LIMIT_MS);
    say("wake_look_at_all", all, PLAN_LIMIT_MS);
    say("wake_replan", middle, REPLAN_LIMIT_MS);
    say("wake_replan_worst", worst, REPLAN_LIMIT_MS);
    say("wake_replan_live", middle_live, REPLAN_LIMIT_MS);
    say("wake_replan_live_worst", worst_live, REPLAN_LIMIT_MS);
}

/* A pool that keeps a reserve, which is there: nobody is held. */
static void measure_reserve(struct bench *bench)
{
    double worst = 0;
    begin(bench, "ROOSTER_DRY_RUN = true\nROOSTER_UNHIBERNATE_RANK = \"Cpus\"\n"
                 "ROOSTER_RESERVE = \"1\"\n");
    for (unsigned i = 0; i < bench->machines; i++) {
        ad_remove(bench->ads[i], "OfflineMatches");
        show(bench, bench->ads[i]);
    }
    for (unsigned i = 0; i < LIVE_MACHINES; i++) {
        show(bench, bench->live[i]);
    }
    look_now(&bench->rooster);
    CHECK(would_wake(bench) == 0);
    double middle = replan(bench, true, &worst);
    say("wake_replan_reserve", middle, REPLAN_LIMIT_MS);
    say("wake_replan_reserve_worst", worst, REPLAN_LIMIT_MS);
    end(bench);
}

static void measure_asks(struct bench *bench)
{
    struct ad **asking = mem_alloc(ASKING * sizeof *asking);
    struct ad *args = ad_create();
    double best = 1e9;
    unsigned free_ones = 0;
    begin(bench, "ROOSTER_UNHIBERNATE_RANK = \"Cpus\"\nROOSTER_MAX_GOING_DOWN = "
                 "100\nROOSTER_MAX_SLEEPS_PER_MINUTE = 100\n"
                 "ROOSTER_RESERVE = \"Mon-Fri 07:00-19:00 = 5%, else 50\"\n"
                 "ROOSTER_IDLE_WATTS = 60\nROOSTER_BUSY_WATTS = 200\n");
    for (unsigned i = 0; i < bench->machines; i++) {
        show(bench, bench->ads[i]);
    }
    for (unsigned i = 0; i < ASKING; i++) {
        asking[i] = live_ad(i, 0);
        show(bench, asking[i]);
    }
    for (size_t i = 0; i < bench->rooster.marked.count; i++) { /* no look: it would wake */
        struct node *node = bench->rooster.marked.items[i];
        look_see(node);
        guards_count(node);
    }
    ad_set_bool(args, "Override", true);
    ad_set_int(args, "UpSeconds", 1000);
    ad_set_int(args, "IdleSeconds", 1000);
    for (unsigned round = 0; round < bench->rounds; round++) {
        double began = cpu_ms();
        free_ones = 0;
        for (unsigned i = 0; i < ASKING; i++) {
            struct guard_verdict verdict;
            struct node *node =
                strmap_get(bench->rooster.nodes, ad_string_or(asking[i], "Machine", ""));
            guards_judge(node, args, &verdict); /* each is marked */
            free_ones += verdict.kind == GUARD_NONE ? 1 : 0;
        }
        double took = cpu_ms() - began;
        best = took < best ? took : best;
    }
    CHECK(free_ones == ASKING);
    (void)printf("BENCH sleep_ask %.2f us ratio %.4f vs target %.0f us\n", best * 1e3 / ASKING,
                 best * 1e3 / ASKING / ASK_LIMIT_US, ASK_LIMIT_US);
    end(bench);
    for (unsigned i = 0; i < ASKING; i++) {
        ad_destroy(asking[i]);
    }
    mem_free(asking);
    ad_destroy(args);
}

int main(void)
{
    static const char FREE[] = "ROOSTER_DRY_RUN = true\nROOSTER_UNHIBERNATE_RANK = \"Cpus\"\n";
    static const char LIMITED[] = "ROOSTER_DRY_RUN = true\nROOSTER_UNHIBERNATE_RANK = \"Cpus\"\n"
                                  "ROOSTER_MAX_UNHIBERNATE = 1\n";
    struct bench bench = {.machines = (unsigned)number("BENCH_MACHINES", 10000, 1000000),
                          .rounds = (unsigned)number("BENCH_ROUNDS", 5, 1000)};
    CHECK(bench.machines >= REPLANS && bench.rounds > 0);
    CHECK(loop_create(&bench.loop, NULL) == 0 && os_create(bench.loop, &bench.os, NULL) == 0);
    bench.ads = mem_alloc(bench.machines * sizeof(struct ad *));
    bench.live = mem_alloc(LIVE_MACHINES * sizeof(struct ad *));
    for (unsigned i = 0; i < bench.machines; i++) {
        bench.ads[i] = offline_ad(i, 10);
    }
    for (unsigned i = 0; i < LIVE_MACHINES; i++) {
        bench.live[i] = live_ad(i, 0);
    }
    (void)snprintf(bench.dir, sizeof bench.dir, "/tmp/roost-wake-XXXXXX");
    CHECK(mkdtemp(bench.dir) != NULL);
    measure(&bench, FREE, false);
    measure(&bench, LIMITED, true);
    measure_asks(&bench);
    measure_reserve(&bench);
    CHECK(os_remove_tree(bench.os, bench.dir, NULL) == 0);
    return 0;
}
