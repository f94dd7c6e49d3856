/* bench/negotiation.c - the CPU of negotiation cycles, by slots, jobs and kinds of both.
 *
 *     negotiation [SVG]     writes the picture of cost against size there, too
 *
 * Slots are ads of 169 attributes as HTCondor's startd sends them, running or offline; jobs have
 * the Requirements that submit writes, and differ in RequestMemory.  A *cycle* is all of it: a plan
 * that knows nothing is told of every slot and request, finds their kinds, and gives out all that
 * it can. The daemon keeps its plan: what it pays for a change is the last figure.  Pairwise is
 * what evaluating each request against each slot would take, measured over a part of the pairs.
 *
 * SHORT: BENCH_PART=100
 * LINK: negotiator offline_ads classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "bench/bench_env.h"
#include "bench/slot_ad.h"
#include "classad/ad.h"
#include "classad/ad_pool.h"
#include "negotiator/negotiator_plan.h"

#define SIZES 3

static const struct ad_context NOW = {.now_s = 1763633000};

struct bench {
    struct ad_pool *pool;
    struct ad **slots, **requests;
    struct plan_slot *slot_facts;
    struct plan_request *request_facts;
    char (*names)[48];
    size_t slot_count, request_count;
    struct negotiator_plan *plan;
    uint64_t serial;
};

static double cpu_s(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static size_t part(int whole)
{
    return (size_t)part_of(whole);
}

static long peak_mib(void)
{
    struct rusage usage;
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
    return usage.ru_maxrss / 1024;
}

/* ---- the pool */

/* As it comes from the collector: in binary form, with what it has in common with the others. */
static struct ad *pooled(struct bench *bench, const struct ad *ad, const struct ad *previous)
{
    struct strbuf bytes;
    struct ad *ret = NULL;
    strbuf_init(&bytes, 0);
    ad_encode(ad, true, &bytes);
    CHECK(ad_decode_in(bench->pool, previous, bytes.data, bytes.length, NULL, &ret, NULL) == 0);
    strbuf_fini(&bytes);
    return ret;
}

enum { OFFLINE = 1, OWN_KINDS = 2 };

static void set_slot(struct bench *bench, size_t i, unsigned flags, unsigned round,
                     struct ad *model)
{
    slot_ad_identify(model, (unsigned)i);
    slot_ad_renew(model, (unsigned)i, round);
    ad_set_int(model, "Memory", 64000 + ((flags & OWN_KINDS) != 0 ? (int64_t)i : 0));
    ad_set_int(model, "Disk",
               100000000 + ((flags & OWN_KINDS) != 0 ? (int64_t)(i * 7919 % 65536) : 0));
    ad_set_expr(model, "Requirements", "START", NULL);
    ad_set_expr(model, "START", "TARGET.ImageSize < 1000000", NULL);
    struct ad *ad = pooled(bench, model, bench->slots[i]);
    ad_destroy(bench->slots[i]);
    bench->slots[i] = ad;
    (void)snprintf(bench->names[i], sizeof bench->names[i], "slot%zu@node%06zu", i % 8 + 1, i / 8);
    bench->slot_facts[i] = (struct plan_slot){.name = bench->names[i],
                                              .machine = strchr(bench->names[i], '@') + 1,
                                              .ad = bench->slots[i],
                                              .serial = ++bench->serial,
                                              .number = (uint32_t)i,
                                              .offline = (flags & OFFLINE) != 0,
                                              .use = PLAN_USE_FREE};
}

static struct ad *make_request(size_t i, int64_t count)
{
    struct ad *ad = ad_create();
    CHECK(ad_set_expr(ad, "Requirements",
                      "(TARGET.Arch == \"X86_64\") && (TARGET.OpSys == \"LINUX\") && "
                      "(TARGET.Disk >= RequestDisk) && (TARGET.Memory >= RequestMemory) && "
                      "(TARGET.Cpus >= RequestCpus)",
                      NULL) == 0);
    ad_set_int(ad, "RequestDisk", 20000);
    ad_set_int(ad, "RequestMemory", 1024 + (int64_t)i);
    ad_set_int(ad, "RequestCpus", 1);
    ad_set_int(ad, "ImageSize", 4000);
    ad_set_int(ad, "JobCount", count);
    ad_set_string(ad, "User", "ann@example.org");
    return ad;
}

static void fill(struct bench *bench, size_t slots, size_t jobs, size_t requests, unsigned flags)
{
    struct ad *model = slot_ad_create(0, false);
    *bench = (struct bench){.pool = ad_pool_create(),
                            .slots = mem_zalloc(slots * sizeof(struct ad *)),
                            .requests = mem_zalloc(requests * sizeof(struct ad *)),
                            .slot_facts = mem_zalloc(slots * sizeof(struct plan_slot)),
                            .request_facts = mem_zalloc(requests * sizeof(struct plan_request)),
                            .names = mem_zalloc(slots * sizeof *bench->names),
                            .slot_count = slots,
                            .request_count = requests};
    for (size_t i = 0; i < slots; i++) {
        set_slot(bench, i, flags, 0, model);
    }
    for (size_t i = 0; i < requests; i++) {
        int64_t count = (int64_t)(jobs / requests);
        bench->requests[i] = make_request(i, count);
        bench->request_facts[i] = (struct plan_request){.name = "schedd#1",
                                                        .schedd = "schedd",
                                                        .user = "ann@example.org",
                                                        .auto_cluster = (int64_t)i,
                                                        .ad = bench->requests[i],
                                                        .serial = ++bench->serial,
                                                        .number = (uint32_t)i,
                                                        .qdate_s = (int64_t)i,
                                                        .count = count};
    }
    ad_destroy(model);
}

static void empty(struct bench *bench)
{
    negotiator_plan_destroy(bench->plan);
    for (size_t i = 0; i < bench->slot_count; i++) {
        ad_destroy(bench->slots[i]);
    }
    for (size_t i = 0; i < bench->request_count; i++) {
        ad_destroy(bench->requests[i]);
    }
    ad_pool_destroy(bench->pool);
    mem_free(bench->slots);
    mem_free(bench->requests);
    mem_free(bench->slot_facts);
    mem_free(bench->request_facts);
    mem_free(bench->names);
}

/* ---- cycles */

static struct plan_output cycle(struct bench *bench, struct arena *arena)
{
    const struct plan_input input = {.context = &NOW};
    struct plan_output out;
    CHECK(negotiator_plan_cycle(bench->plan, &input, arena, &out) == 0);
    return out;
}

/* From nothing; the seconds. */
static double whole_cycle(struct bench *bench, struct plan_output *out, struct arena *arena)
{
    const struct plan_policy policy = {.offline_last = true, .consider_preemption = true};
    double begin_s = cpu_s();
    bench->plan = negotiator_plan_create();
    negotiator_plan_set_policy(bench->plan, &policy);
    for (size_t i = 0; i < bench->slot_count; i++) {
        CHECK(negotiator_plan_set_slot(bench->plan, &bench->slot_facts[i]) == 0);
    }
    for (size_t i = 0; i < bench->request_count; i++) {
        CHECK(negotiator_plan_set_request(bench->plan, &bench->request_facts[i]) == 0);
    }
    *out = cycle(bench, arena);
    return cpu_s() - begin_s;
}

/* What judging each request against each slot takes, from a part of the pairs. */
static double pairwise(const struct bench *bench)
{
    size_t slot_step = bench->slot_count / 1000 + 1, pairs = 0, matches = 0;
    size_t request_step = bench->request_count / 20 + 1;
    double begin_s = cpu_s();
    for (size_t i = 0; i < bench->request_count; i += request_step) {
        for (size_t j = 0; j < bench->slot_count; j += slot_step) {
            matches += ad_match(bench->requests[i], bench->slots[j], &NOW) ? 1 : 0;
            pairs++;
        }
    }
    CHECK(matches == pairs);
    return (cpu_s() - begin_s) / (double)pairs * (double)bench->slot_count *
           (double)bench->request_count;
}

struct figure {
    double cycle_s, again_s, pairwise_s;
};

static struct figure measure(const char *name, size_t slots, size_t jobs, size_t requests,
                             unsigned flags, bool report)
{
    struct bench bench;
    struct plan_output out;
    struct arena *arena = arena_create((size_t)1 << 20, 0);
    fill(&bench, slots, jobs, requests, flags);
    struct figure figure = {.cycle_s = whole_cycle(&bench, &out, arena)};
    size_t wanted = slots < jobs ? slots : jobs;
    CHECK(out.match_count + out.held_count == wanted);
    (void)fprintf(stderr, "%-14s %7zu slots of %6zu kinds, %8zu jobs of %5zu: %8.1f ms\n", name,
                  slots, out.slot_kinds, jobs, out.request_kinds, figure.cycle_s * 1e3);
    double begin_s = cpu_s();
    (void)cycle(&bench, arena);
    figure.again_s = cpu_s() - begin_s;
    figure.pairwise_s = pairwise(&bench);
    if (report) {
        (void)printf("BENCH negotiation_%s %.1f ms ratio %.1f vs pairwise judging alone\n", name,
                     figure.cycle_s * 1e3, figure.pairwise_s / figure.cycle_s);
    }
    empty(&bench);
    arena_destroy(arena);
    return figure;
}

/* What it costs to tell machines how many jobs match them (POOL_FIGURES), in a pool of ten thousand
 * machines and a hundred thousand jobs: one machine about itself, and the rooster about a thousand.
 */
static void measure_queue(size_t machines, size_t jobs, size_t requests)
{
    enum { ASKED = 1000, ROUNDS = 200 };
    struct bench bench;
    struct plan_output out;
    struct arena *arena = arena_create((size_t)1 << 20, 0);
    struct plan_queue *each = mem_alloc(ASKED * sizeof *each);
    const char **names = mem_alloc(ASKED * sizeof *names);
    fill(&bench, machines * 8, jobs, requests, OWN_KINDS);
    double cycle_s = whole_cycle(&bench, &out, arena);
    while (!negotiator_plan_prepare(bench.plan, &NOW, false, UINT64_MAX / 2)) {
    }
    for (size_t i = 0; i < ASKED; i++) {
        names[i] = bench.slot_facts[i * 8 % bench.slot_count].machine;
    }
    double begin_s = cpu_s();
    for (size_t i = 0; i < ROUNDS; i++) {
        negotiator_plan_queue(bench.plan, &each[0]);
        CHECK(each[0].jobs == (int64_t)jobs);
        negotiator_plan_matching(bench.plan, &names[i], 1, each);
        CHECK(each[0].jobs == (int64_t)jobs);
    }
    double one_s = (cpu_s() - begin_s) / ROUNDS;
    begin_s = cpu_s();
    negotiator_plan_matching(bench.plan, names, ASKED, each);
    double many_s = cpu_s() - begin_s;
    CHECK(each[ASKED - 1].jobs == (int64_t)jobs);
    (void)printf("BENCH negotiation_queue_of_1_machine %.1f us ratio %.6f vs a cycle\n",
                 one_s * 1e6, one_s / cycle_s);
    (void)printf("BENCH negotiation_queue_of_1000_machines %.2f ms ratio %.4f vs a cycle\n",
                 many_s * 1e3, many_s / cycle_s);
    mem_free(names);
    mem_free(each);
    empty(&bench);
    arena_destroy(arena);
}

/* In use, and to be taken over by what its machine ranks higher. */
static void claim(struct bench *bench, size_t slot)
{
    struct plan_slot *facts = &bench->slot_facts[slot];
    facts->use = PLAN_USE_TAKEN;
    facts->user = "bob@example.org";
    CHECK(negotiator_plan_set_slot(bench->plan, facts) == 0);
}

/* A pool that is full, with a queue that is longer; then ten slots come free, with new ads. */
static void measure_change(size_t slots, size_t jobs, size_t requests)
{
    struct bench bench;
    struct plan_output out;
    struct arena *arena = arena_create((size_t)1 << 20, 0);
    struct ad *model = slot_ad_create(0, false);
    fill(&bench, slots, jobs, requests, OWN_KINDS);
    (void)whole_cycle(&bench, &out, arena);
    for (size_t i = 0; i < slots; i++) { /* all were claimed */
        claim(&bench, i);
    }
    (void)cycle(&bench, arena);
    double worst_s = 0, total_s = 0;
    for (unsigned round = 1; round <= 20; round++) {
        for (unsigned i = 0; i < 10; i++) {
            set_slot(&bench, (round * 977 + i * 9973) % slots, OWN_KINDS, round, model);
        }
        double begin_s = cpu_s();
        for (unsigned i = 0; i < 10; i++) {
            size_t slot = (round * 977 + i * 9973) % slots;
            CHECK(negotiator_plan_set_slot(bench.plan, &bench.slot_facts[slot]) == 0);
        }
        out = cycle(&bench, arena);
        double took_s = cpu_s() - begin_s;
        CHECK(out.match_count == 10);
        total_s += took_s;
        worst_s = took_s > worst_s ? took_s : worst_s;
        for (unsigned i = 0; i < 10; i++) {
            claim(&bench, (round * 977 + i * 9973) % slots);
        }
        (void)cycle(&bench, arena);
    }
    (void)printf("BENCH negotiation_10_of_%zuk_changed %.2f ms\n", slots / 1000,
                 total_s / 20 * 1e3);
    (void)printf("BENCH negotiation_10_of_%zuk_changed_worst %.2f ms\n", slots / 1000,
                 worst_s * 1e3);
    ad_destroy(model);
    empty(&bench);
    arena_destroy(arena);
}

/* ---- preemption by priority */

static struct ad_expr *expr_of(const char *text)
{
    struct ad_expr *expr = NULL;
    CHECK(ad_expr_parse(text, strlen(text), AD_OLD, &expr, NULL) == 0);
    return expr;
}

/* Every slot is in use, by a user with a bad priority, who ran for an hour, some longer; another
 * with a better one asks for all of them, with Rank, PREEMPTION_REQUIREMENTS and PREEMPTION_RANK.
 * Then the same with all slots free. */
static void measure_preemption(const char *name, size_t slots, size_t requests, unsigned flags)
{
    static const struct share_user BOTH[] = {
        {.name = "ann@example.org", .priority = 1000, .ceiling = -1},
        {.name = "bob@example.org", .priority = 500000, .ceiling = -1}};
    struct ad_expr *when = expr_of("time() - MY.EnteredCurrentState > 3600 && "
                                   "MY.RemoteUserPrio > TARGET.SubmitterUserPrio * 1.2"),
                   *which = expr_of("MY.RemoteUserPrio * 1000000 - MY.TotalJobRunTime");
    const struct plan_policy policy = {.offline_last = true,
                                       .consider_preemption = true,
                                       .preemption_requirements = when,
                                       .preemption_rank = which};
    double took_s[2];
    for (int in_use = 0; in_use < 2; in_use++) {
        struct bench bench;
        struct share_user users[2] = {BOTH[0], BOTH[1]};
        const struct share_input shares = {.users = users, .user_count = 2};
        const struct plan_input input = {.context = &NOW, .shares = &shares};
        struct plan_output out;
        struct arena *arena = arena_create((size_t)1 << 20, 0);
        fill(&bench, slots, slots, requests, flags);
        for (size_t i = 0; i < slots; i++) {
            ad_set_int(bench.slots[i], "EnteredCurrentState",
                       NOW.now_s - 3700 - (int64_t)(i % 977));
            ad_set_int(bench.slots[i], "TotalJobRunTime", 3600 + (int64_t)(i % 977));
            bench.slot_facts[i].use = in_use == 0 ? PLAN_USE_FREE : PLAN_USE_TAKEN;
            bench.slot_facts[i].user = in_use != 0 ? users[1].name : NULL;
            users[1].in_use += 8.0 * in_use;
        }
        for (size_t i = 0; i < requests; i++) {
            CHECK(ad_set_expr(bench.requests[i], "Rank", "TARGET.Memory + TARGET.Mips", NULL) == 0);
        }
        double begin_s = cpu_s();
        bench.plan = negotiator_plan_create();
        negotiator_plan_set_policy(bench.plan, &policy);
        for (size_t i = 0; i < slots; i++) {
            CHECK(negotiator_plan_set_slot(bench.plan, &bench.slot_facts[i]) == 0);
        }
        for (size_t i = 0; i < requests; i++) {
            CHECK(negotiator_plan_set_request(bench.plan, &bench.request_facts[i]) == 0);
        }
        CHECK(negotiator_plan_cycle(bench.plan, &input, arena, &out) == 0);
        took_s[in_use] = cpu_s() - begin_s;
        CHECK(out.match_count == slots);
        empty(&bench);
        arena_destroy(arena);
    }
    (void)printf("BENCH negotiation_%s %.1f ms ratio %.2f vs the same slots free\n", name,
                 took_s[1] * 1e3, took_s[1] / took_s[0]);
    ad_expr_destroy(when);
    ad_expr_destroy(which);
}

/* ---- cost against size */

static const int SLOTS[SIZES] = {1000, 10000, 100000};

struct line {
    const char *what, *colour;
    double ms[SIZES];
};

static double x_of(int size)
{
    return 90 + 230.0 * size;
}

/* Logarithmic: a power of ten is 60 high. */
static double y_of(double ms)
{
    double power = 0;
    for (; ms >= 10; ms /= 10) {
        power++;
    }
    for (; ms < 1; ms *= 10) {
        power--;
    }
    return 330 - 60 * (power + (ms - 1) / 9 * (2 - (ms - 1) / 9)); /* close to log10 */
}

static void draw(const char *path, const struct line *lines, size_t count)
{
    FILE *out = fopen(path, "w");
    CHECK(out != NULL);
    (void)fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 420\" "
                       "font-family=\"sans-serif\" font-size=\"12\">\n"
                       "<rect width=\"640\" height=\"420\" fill=\"white\"/>\n"
                       "<text x=\"90\" y=\"24\" font-size=\"14\">CPU of a whole negotiation cycle, "
                       "by slots (as many jobs)</text>\n");
    for (int power = -1; power <= 4; power++) {
        double ms = power == -1  ? 0.1
                    : power == 0 ? 1
                    : power == 1 ? 10
                    : power == 2 ? 100
                    : power == 3 ? 1000
                                 : 10000;
        (void)fprintf(out,
                      "<line x1=\"90\" x2=\"600\" y1=\"%.0f\" y2=\"%.0f\" stroke=\"#ddd\"/>"
                      "<text x=\"82\" y=\"%.0f\" text-anchor=\"end\">%g ms</text>\n",
                      y_of(ms), y_of(ms), y_of(ms) + 4, ms);
    }
    for (int i = 0; i < SIZES; i++) {
        (void)fprintf(out, "<text x=\"%.0f\" y=\"410\" text-anchor=\"middle\">%d</text>\n", x_of(i),
                      SLOTS[i]);
    }
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"",
                      lines[i].colour);
        for (int j = 0; j < SIZES; j++) {
            (void)fprintf(out, "%.0f,%.0f ", x_of(j), y_of(lines[i].ms[j]));
        }
        (void)fprintf(out, "\"/>\n<text x=\"100\" y=\"%zu\" fill=\"%s\">%s</text>\n", 44 + 16 * i,
                      lines[i].colour, lines[i].what);
    }
    (void)fprintf(out, "</svg>\n");
    CHECK(fclose(out) == 0);
}

static void measure_sizes(const char *path)
{
    struct line lines[] = {{.what = "slots alike, 100 autoclusters", .colour = "#1b7837"},
                           {.what = "every slot its own kind, 100 autoclusters",
                            .colour = "#2166ac"},
                           {.what = "a cycle in which nothing changed", .colour = "#762a83"},
                           {.what = "judging every slot for every autocluster",
                            .colour = "#b2182b"}};
    (void)fprintf(stderr, "%10s %14s %14s %14s %14s\n", "slots", "alike ms", "own kinds ms",
                  "nothing ms", "pairwise ms");
    for (int i = 0; i < SIZES; i++) {
        const size_t slots = part(SLOTS[i]), requests = part(100);
        struct figure alike = measure("alike", slots, slots, requests, 0, false);
        struct figure own = measure("own", slots, slots, requests, OWN_KINDS, false);
        lines[0].ms[i] = alike.cycle_s * 1e3;
        lines[1].ms[i] = own.cycle_s * 1e3;
        lines[2].ms[i] = alike.again_s * 1e3;
        lines[3].ms[i] = alike.pairwise_s * 1e3;
        (void)fprintf(stderr, "%10zu %14.2f %14.2f %14.2f %14.2f\n", slots, lines[0].ms[i],
                      lines[1].ms[i], lines[2].ms[i], lines[3].ms[i]);
    }
    if (path != NULL) {
        draw(path, lines, ARRAY_COUNT(lines));
    }
}

int main(int argc, char **argv)
{
    const size_t slots = part(10000), many = part(100000), million = part(1000000);
    const size_t hundred = part(100), thousand = part(1000);
    measure_preemption("preempt_1", slots, 1, 0);
    measure_preemption("preempt_100", slots, hundred, 0);
    measure_preemption("preempt_1000", slots, thousand, 0);
    measure_preemption("preempt_own_kinds_100", slots, hundred, OWN_KINDS);
    measure_sizes(argc > 1 ? argv[1] : NULL);
    (void)measure("live_1", slots, slots, 1, 0, true);
    (void)measure("live_100", slots, slots, hundred, 0, true);
    (void)measure("live_1000", slots, slots, thousand, 0, true);
    (void)measure("offline_1", slots, slots, 1, OFFLINE, true);
    (void)measure("offline_100", slots, slots, hundred, OFFLINE, true);
    (void)measure("offline_1000", slots, slots, thousand, OFFLINE, true);
    (void)measure("own_kinds_1000", slots, slots, thousand, OWN_KINDS, true);
    measure_change(many, million, thousand);
    measure_queue(slots, many, thousand);
    (void)measure("100k_1M_1000", many, million, thousand, 0, true);
    (void)printf("BENCH negotiation_memory %ld MiB\n", peak_mib());
    return 0;
}
