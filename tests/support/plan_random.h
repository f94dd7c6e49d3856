/* tests/support/plan_random.h - small random pools with all kinds of slots and requests, for tests
 * of negotiation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_PLAN_RANDOM_H
#define TESTS_SUPPORT_PLAN_RANDOM_H

#include "tests/support/unit.h"

#include <stdbool.h>

#include "base/err.h"
#include "base/random.h"
#include "classad/ad.h"
#include "negotiator/negotiator_plan.h"
#include "offline_ads/offline_holds.h"

#define SLOTS    12
#define REQUESTS 6
#define USERS    3
#define GROUPS   4
#define MACHINES 2

static const char *const USER[] = {"ann", "bob", "cat"};

static const char *const MACHINE[MACHINES] = {"s0", "s1"};
static const char *const GROUP[GROUPS] = {GROUP_ROOT_NAME, "g", "g.x", "h"};

/* Lists of concurrency limits, and how much each job uses of the limits named a and b; the pool
 * sets no limit for c. */
static const struct {
    const char *list;
    int counts[2];
} LIMITS[] = {{NULL, {0, 0}}, {"", {0, 0}},       {"a", {1, 0}},
              {"c", {0, 0}},  {"b:2, A", {1, 2}}, {"c:3,b", {0, 1}}};
static const int LIMIT_MAX[2] = {4, 7};

struct pool {
    struct plan_slot slots[SLOTS];
    bool has_slot[SLOTS];
    struct plan_request requests[REQUESTS];
    bool has_request[REQUESTS];
    char slot_names[SLOTS][40], machines[SLOTS][16], request_names[REQUESTS][40];
    size_t limits_of[REQUESTS]; /* for each request: index in LIMITS */
    struct share_user users[USERS];
    struct group_entry groups[GROUPS];
    size_t group_count; /* number of groups, at least 1: the root group */
    double quota_total, round_robin;
    bool oversubscribe, by_machine;
    struct share_machine submit_machines[MACHINES];
    struct ad_expr *exprs[4];
    struct plan_policy policy;
    uint64_t serial;
    struct rng rng;
};

static inline unsigned below(struct pool *pool, unsigned limit)
{
    return (unsigned)rng_below(&pool->rng, limit);
}

static inline struct ad *parse(const char *text)
{
    struct ad *ad = NULL;
    struct err err = {{0}};
    if (ad_parse(text, strlen(text), &ad, &err) != 0) {
        fail_msg("%s: %s", text, err.text);
    }
    return ad;
}

static const char *const SLOT_REQUIREMENTS[] = {
    "true",
    "true",
    "START",
    "START && WithinLimits =!= false",
    "TARGET.RequestMemory <= MY.Memory",
    "Owner == \"Ann\" || Owner == \"bob\"",
    "TARGET.Owner != MY.NotFor && (Nice >= 0 && true)",
    "Missing",
    "ifThenElse(Nice > 1, TARGET.Weight > 1, true)",
    "TARGET.RequestCpus <= Cpus && !(Nice > 5 || TARGET.Weight > 9)",
};

static const char *const JOB_REQUIREMENTS[] = {
    "true",
    "TARGET.Memory >= RequestMemory",
    "(TARGET.Arch == \"x86\") && (TARGET.Cpus >= RequestCpus) && Memory > 100",
    "TARGET.Nice > MY.Weight - 2",
    "Nice * 2 >= Weight && TARGET.Disk > 0",
    "regexp(\"^m[0-3]\", TARGET.Machine)",
    "TARGET.START =!= false",
    "HasThing",
    "TARGET.Memory > 3000 || MY.Weight == 1",
    "ThroughName && 1",
    "TARGET.Arch =?= \"X86\" || TARGET.Nice < 2",
    "1000 < TARGET.Memory",
};

static const char *const JOB_RANKS[] = {"0",
                                        "TARGET.Nice",
                                        "TARGET.Memory * MY.Weight",
                                        "Weight",
                                        "real(\"NaN\")",
                                        "-TARGET.Cpus",
                                        "TARGET.Missing",
                                        "ifThenElse(TARGET.Nice > 1, Weight, 3)"};

static const char *const SLOT_RANKS[] = {"0", "TARGET.Weight", "TARGET.Owner == \"ann\"", "Nice"};

static inline struct ad *random_slot_ad(struct pool *pool, const char *machine)
{
    char text[600];
    (void)snprintf(
        text, sizeof text,
        "[Requirements = %s; Rank = %s; START = %s; Cpus = %u; Memory = %u; Disk = %u; Nice = %u; "
        "Arch = \"%s\"; Machine = \"%s\"; NotFor = \"%s\"; PartitionableSlot = %s; %s %s]",
        SLOT_REQUIREMENTS[below(pool, 10)], SLOT_RANKS[below(pool, 4)],
        below(pool, 3) == 0 ? "TARGET.Weight < 3" : "Nice < 4", 1 + below(pool, 4),
        512 * (1 + below(pool, 8)), 2048 * (1 + below(pool, 4)), below(pool, 4),
        below(pool, 2) == 0 ? "x86" : "X86", machine, USER[below(pool, 3)],
        below(pool, 3) == 0 ? "true" : "false", below(pool, 3) == 0 ? "HasThing = true;" : "",
        below(pool, 4) == 0 ? "SlotWeight = Cpus * 1.5;" : "");
    return parse(text);
}

static inline struct ad *random_request_ad(struct pool *pool, const char *user)
{
    char text[500];
    (void)
        snprintf(text, sizeof text,
                 "[Requirements = %s; Rank = %s; Owner = \"%s\"; Weight = %u; RequestCpus = %u; %s "
                 "RequestDisk = %u; ThroughName = TARGET.Nice %s 2]",
                 JOB_REQUIREMENTS[below(pool, 12)], JOB_RANKS[below(pool, 8)], user, below(pool, 4),
                 1 + below(pool, 3),
                 below(pool, 4) == 0   ? ""
                 : below(pool, 2) == 0 ? "RequestMemory = 700;"
                                       : "RequestMemory = 100;",
                 below(pool, 3000), below(pool, 2) == 0 ? "<" : ">=");
    return parse(text);
}

static inline void drop_holds(struct plan_slot *slot)
{
    offline_holds_destroy((struct offline_holds *)(uintptr_t)slot->holds);
    slot->holds = NULL;
}

static inline void random_holds(struct pool *pool, struct plan_slot *slot)
{
    drop_holds(slot);
    for (int i = 0; slot->offline && i < 2 && below(pool, 3) == 0; i++) {
        struct offline_holds *holds = slot->holds != NULL
                                          ? (struct offline_holds *)(uintptr_t)slot->holds
                                          : offline_holds_create();
        const struct offline_hold hold = {.schedd = below(pool, 2) == 0 ? "s0" : "s1",
                                          .auto_cluster = below(pool, 4),
                                          .count = 1 + below(pool, 3),
                                          .until_s = 2000000000};
        assert_int_equal(offline_holds_add(holds, &hold), 0);
        slot->holds = holds;
    }
}

static inline void random_slot(struct pool *pool, size_t i, bool new_ad)
{
    struct plan_slot *slot = &pool->slots[i];
    if (new_ad || slot->ad == NULL) {
        ad_destroy((struct ad *)(uintptr_t)slot->ad);
        drop_holds(slot);
        (void)snprintf(pool->machines[i], sizeof pool->machines[i], "m%u", below(pool, 5));
        char machine[16];
        memcpy(machine, pool->machines[i], sizeof machine);
        (void)snprintf(pool->slot_names[i], sizeof pool->slot_names[i], "slot%zu@%s",
                       (i * 7 + 5) % SLOTS, machine);
        *slot = (struct plan_slot){.name = pool->slot_names[i],
                                   .machine = pool->machines[i],
                                   .ad = random_slot_ad(pool, pool->machines[i]),
                                   .serial = ++pool->serial,
                                   .number = (uint32_t)i,
                                   .offline = below(pool, 2) == 0};
    }
    slot->use = slot->offline || below(pool, 2) != 0 ? PLAN_USE_FREE : PLAN_USE_BUSY;
    slot->user = slot->use != PLAN_USE_FREE && below(pool, 8) != 0 ? USER[below(pool, 3)] : NULL;
    if (slot->user != NULL && below(pool, 4) != 0) {
        slot->use = PLAN_USE_TAKEN;
    }
    slot->current_rank = below(pool, 3);
    slot->waking = slot->offline && below(pool, 5) == 0;
    slot->barred = slot->offline && !slot->waking && below(pool, 6) == 0;
    slot->reclaimable = slot->offline && below(pool, 4) == 0;
    slot->pieces = below(pool, 4);
    slot->multiplicity = slot->offline && below(pool, 4) == 0 ? 2 + below(pool, 2) : 0;
    random_holds(pool, slot);
    pool->has_slot[i] = true;
}

static inline void random_request(struct pool *pool, size_t i, bool new_ad)
{
    struct plan_request *request = &pool->requests[i];
    if (new_ad || request->ad == NULL) {
        const char *user = USER[below(pool, 3)];
        ad_destroy((struct ad *)(uintptr_t)request->ad);
        (void)snprintf(pool->request_names[i], sizeof pool->request_names[i], "s%zu#%zu", i % 2,
                       i / 2);
        *request = (struct plan_request){.name = pool->request_names[i],
                                         .schedd = i % 2 == 0 ? "s0" : "s1",
                                         .user = user,
                                         .auto_cluster = (int64_t)i / 2,
                                         .ad = random_request_ad(pool, user),
                                         .serial = ++pool->serial,
                                         .number = (uint32_t)i};
    }
    pool->limits_of[i] = below(pool, 2) == 0 ? 0 : below(pool, 6);
    request->limits = LIMITS[pool->limits_of[i]].list;
    request->count = below(pool, 7);
    request->in_flight = below(pool, 4) == 0 ? below(pool, 3) : 0;
    request->resting = below(pool, 8) == 0;
    request->prio = below(pool, 2);
    request->qdate_s = below(pool, 3);
    pool->has_request[i] = true;
}

static inline struct ad_expr *parse_expr(const char *text)
{
    struct ad_expr *expr = NULL;
    if (text != NULL) {
        assert_int_equal(ad_expr_parse(text, strlen(text), AD_NEW, &expr, NULL), 0);
    }
    return expr;
}

static inline void random_groups(struct pool *pool)
{
    pool->group_count = below(pool, 2) == 0 ? 1 : GROUPS;
    pool->quota_total = 1 + below(pool, 20);
    pool->round_robin = below(pool, 4) == 0 ? 1 + below(pool, 3) : 0;
    pool->oversubscribe = below(pool, 2) == 0;
    for (size_t i = 0; i < GROUPS; i++) {
        bool is_dynamic = below(pool, 2) == 0;
        pool->groups[i] =
            (struct group_entry){.name = GROUP[i],
                                 .parent = i == 2 ? 1 : 0,
                                 .is_dynamic = is_dynamic,
                                 .config_quota =
                                     is_dynamic ? below(pool, 10) / 10.0 : below(pool, 8),
                                 .accept_surplus = below(pool, 2) == 0,
                                 .autoregroup = below(pool, 3) == 0,
                                 .ceiling = below(pool, 5) == 0 ? (double)below(pool, 6) : -1,
                                 .sort_key = below(pool, 3)};
    }
    pool->by_machine = below(pool, 4) == 0;
    for (size_t i = 0; i < MACHINES; i++) {
        pool->submit_machines[i] =
            (struct share_machine){.name = MACHINE[i], .prio = below(pool, 6)};
    }
}

static inline void random_policy(struct pool *pool)
{
    static const char *const PRE[] = {NULL, NULL, "MY.Nice > 2", "MY.Cpus - TARGET.RequestCpus"};
    static const char *const POST[] = {NULL, "Memory", "TARGET.Weight", "-MY.Cpus * TARGET.Weight"};
    static const char *const PREEMPT[] = {NULL,
                                          "true",
                                          "MY.RemoteUserPrio > TARGET.SubmitterUserPrio * 2",
                                          "MY.Nice > 1",
                                          "TARGET.Weight > 1",
                                          "TARGET.ThroughName =!= false",
                                          "MY.START && TARGET.SubmitterUser != \"bob\"",
                                          "eval(\"TARGET.Weight\") < 2"};
    static const char *const RANK[] = {NULL, "-MY.Cpus", "MY.RemoteUserPrio",
                                       "TARGET.Weight * MY.Nice - MY.Cpus",
                                       "ifThenElse(MY.START, MY.Nice, 3)"};
    for (size_t i = 0; i < 4; i++) {
        ad_expr_destroy(pool->exprs[i]);
    }
    pool->exprs[0] = parse_expr(PRE[below(pool, 4)]);
    pool->exprs[1] = parse_expr(POST[below(pool, 4)]);
    pool->exprs[2] = parse_expr(PREEMPT[below(pool, 8)]);
    pool->exprs[3] = parse_expr(RANK[below(pool, 5)]);
    pool->policy = (struct plan_policy){.pre_job = pool->exprs[0],
                                        .post_job = pool->exprs[1],
                                        .preemption_requirements = pool->exprs[2],
                                        .preemption_rank = pool->exprs[3],
                                        .consider_preemption = below(pool, 2) == 0,
                                        .offline_last = below(pool, 3) != 0};
    for (size_t i = 0; i < USERS; i++) {
        pool->users[i] = (struct share_user){.name = USER[i],
                                             .priority = 1 + below(pool, 5),
                                             .in_use = below(pool, 3),
                                             .ceiling = (double)below(pool, 36) - 30,
                                             .floor = below(pool, 6) == 0 ? below(pool, 5) : 0};
    }
    random_groups(pool);
    for (size_t i = 0; i < USERS; i++) {
        pool->users[i].group = below(pool, (unsigned)pool->group_count);
    }
}

static inline void empty(struct pool *pool)
{
    for (size_t i = 0; i < SLOTS; i++) {
        drop_holds(&pool->slots[i]);
        ad_destroy((struct ad *)(uintptr_t)pool->slots[i].ad);
    }
    for (size_t i = 0; i < REQUESTS; i++) {
        ad_destroy((struct ad *)(uintptr_t)pool->requests[i].ad);
    }
    for (size_t i = 0; i < 4; i++) {
        ad_expr_destroy(pool->exprs[i]);
    }
}

#endif
