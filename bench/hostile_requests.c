/* bench/hostile_requests.c - how long the negotiator's longest callback is when jobs are hostile.
 *
 * 500 kinds of jobs whose Requirements and Rank are as costly as they can be, half of them just
 * below what one evaluation may take, and 20 honest ones, against 300 kinds of slots.  The plan is
 * prepared in slices of AD_SLICE_STEPS, as the negotiator does it in a turn of the loop each, then
 * it runs.  All must be below the loop's budget of 10 ms, and the honest jobs get their slots.
 *
 * SHORT: BENCH_PART=10
 * LINK: negotiator offline_ads classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "bench/bench_env.h"
#include "bench/slot_ad.h"
#include "classad/ad.h"
#include "classad/ad_limits.h"
#include "negotiator/negotiator_plan.h"

#define HOSTILE 500
#define HONEST  20
#define SLOTS   300
#define LOOP_MS 10.0 /* LOOP_CALLBACK_BUDGET_MS */

static const struct ad_context NOW = {.now_s = 1731000000};

/* MyNumber: of the job, so that each is a kind of its own. */
static const char *const HOSTILE_TEXTS[] = {
    "regexp(\"(a+)+$\", strcat(\"aaaaaaaaaaaaaaaaaaaaaaaaab\", TARGET.Name, MyNumber))",
    "regexp(\"(a+)+$\", strcat(\"aaaaaaaaaab\", TARGET.Name, MyNumber)) =!= true",
    ("TARGET.Memory + MyNumber > 0 && "
     "regexp(\"(a+)+$\", strcat(\"aaaaaaaaab\", TARGET.Name)) =!= true"),
    "size(strcat(TARGET.Name, D24, MyNumber)) >= 0",
    "time() > MyNumber && regexp(\"(.*)(.*)(.*)x\", strcat(TARGET.Name, MyLetters)) =!= true",
};

static double cpu_s(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint32_t hostile_count(void)
{
    return (uint32_t)part_of(HOSTILE);
}

static struct ad *make_request(int number)
{
    struct ad *ad = ad_create();
    char text[300];
    if (number >= (int)hostile_count()) {
        CHECK(ad_set_expr(ad, "Requirements", "TARGET.Memory >= RequestMemory", NULL) == 0);
        ad_set_int(ad, "RequestMemory", 100 + number);
        return ad;
    }
    const char *hostile = HOSTILE_TEXTS[(size_t)number % ARRAY_COUNT(HOSTILE_TEXTS)];
    bool as_rank = number % 3 == 0;
    CHECK(ad_set_expr(ad, as_rank ? "Rank" : "Requirements", hostile, NULL) == 0);
    ad_set_int(ad, "MyNumber", number);
    if (as_rank) {
        CHECK(ad_set_expr(ad, "Requirements", "TARGET.Memory > 0", NULL) == 0);
    }
    ad_set_string(ad, "MyLetters", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    CHECK(ad_set_expr(ad, "D0", "string(TARGET.Memory)", NULL) == 0);
    for (int i = 1; i <= 24; i++) {
        char name[8];
        (void)snprintf(name, sizeof(name), "D%d", i);
        (void)snprintf(text, sizeof(text), "D%d + D%d", i - 1, i - 1);
        CHECK(ad_set_expr(ad, name, text, NULL) == 0);
    }
    return ad;
}

struct figures {
    double worst_slice_s, all_slices_s, cycle_s;
    size_t slices, costly, honest;
};

static double prepare(struct negotiator_plan *plan, bool full, bool *is_ready)
{
    double begin_s = cpu_s();
    *is_ready = negotiator_plan_prepare(plan, &NOW, full, AD_SLICE_STEPS);
    return cpu_s() - begin_s;
}

static void run(struct negotiator_plan *plan, bool full, struct figures *ret)
{
    *ret = (struct figures){0};
    for (bool is_ready = false; !is_ready; ret->slices++) {
        double took_s = prepare(plan, full && ret->slices == 0, &is_ready);
        ret->all_slices_s += took_s;
        ret->worst_slice_s = took_s > ret->worst_slice_s ? took_s : ret->worst_slice_s;
    }
    struct arena *arena = arena_create((size_t)1 << 20, 0);
    struct plan_output out;
    const struct plan_input input = {.context = &NOW};
    double begin_s = cpu_s();
    CHECK(negotiator_plan_cycle(plan, &input, arena, &out) == 0);
    ret->cycle_s = cpu_s() - begin_s;
    for (size_t i = 0; i < out.match_count; i++) {
        ret->honest += out.matches[i].request >= hostile_count() ? 1 : 0;
    }
    struct plan_costly costly;
    while (negotiator_plan_take_costly(plan, &costly)) {
        CHECK(!costly.is_slot && costly.number < hostile_count());
        ret->costly++;
    }
    arena_destroy(arena);
}

static void report(const char *name, const struct figures *figures)
{
    (void)fprintf(stderr, "%s: %zu slices %.0f ms, %zu of %u left out\n", name, figures->slices,
                  figures->all_slices_s * 1e3, figures->costly, hostile_count());
    (void)printf("BENCH hostile_requests_%s_slice %.2f ms ratio %.2f vs target %.0f ms\n", name,
                 figures->worst_slice_s * 1e3, figures->worst_slice_s * 1e3 / LOOP_MS, LOOP_MS);
    (void)printf("BENCH hostile_requests_%s_cycle %.2f ms\n", name, figures->cycle_s * 1e3);
}

int main(void)
{
    struct negotiator_plan *plan = negotiator_plan_create();
    const struct plan_policy policy = {.offline_last = true, .consider_preemption = true};
    struct ad *slots[SLOTS], *requests[HOSTILE + HONEST];
    char names[SLOTS][32];
    struct figures figures;
    const uint32_t hostile = hostile_count();
    negotiator_plan_set_policy(plan, &policy);
    for (uint32_t i = 0; i < SLOTS; i++) {
        slots[i] = slot_ad_create(i, false);
        (void)snprintf(names[i], sizeof(names[i]), "slot1@node%04u", i);
        ad_set_string(slots[i], "Name", names[i]);
        ad_set_int(slots[i], "Memory", 64000 + (int64_t)i);
        CHECK(ad_set_expr(slots[i], "Requirements", "true", NULL) == 0);
        const struct plan_slot facts = {.name = names[i],
                                        .machine = names[i] + 6,
                                        .ad = slots[i],
                                        .serial = i + 1,
                                        .number = i,
                                        .use = PLAN_USE_FREE};
        CHECK(negotiator_plan_set_slot(plan, &facts) == 0);
    }
    for (uint32_t i = 0; i < hostile + HONEST; i++) {
        requests[i] = make_request((int)i);
        const struct plan_request facts = {.name = "s#1",
                                           .schedd = "s",
                                           .user = i < hostile ? "eve@pool" : "ann@pool",
                                           .auto_cluster = i,
                                           .ad = requests[i],
                                           .serial = SLOTS + i + 1,
                                           .number = i,
                                           .count = 1};
        CHECK(negotiator_plan_set_request(plan, &facts) == 0);
    }
    run(plan, true, &figures);
    CHECK(figures.honest == HONEST);
    report("first", &figures);
    run(plan, true, &figures);
    CHECK(figures.honest == HONEST);
    report("again", &figures);
    negotiator_plan_destroy(plan);
    for (size_t i = 0; i < SLOTS; i++) {
        ad_destroy(slots[i]);
    }
    for (size_t i = 0; i < hostile + HONEST; i++) {
        ad_destroy(requests[i]);
    }
    return 0;
}
