/* tests/sim/test_draining.c - a machine of four slots with two kinds of jobs is drained, second by
 * second, against the text of the seed document "Whole Machine Draining".
 *
 * The whole pool runs on virtual time; what the startd says of itself (its slots' ads, its
 * estimates, its totals) is compared, twenty times in each second, with what the seed says it must
 * be.  That comes from four facts only: when each job began, what retirement its kind was promised,
 * when draining began, when each slot was seen to be free.  The judge of sim/check.h looks on: an
 * evicted job runs again later, and ends once.
 *
 * TIMEOUT: 600
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "classad/ad.h"
#include "drain/drain_client.h"
#include "sim/client.h"
#include "sim/daemon_sim.h"
#include "sim/pool.h"
#include "sim/sim.h"
#include "startd/claim/claim.h"
#include "startd/claim/claim_facts.h"
#include "startd/draining.h"
#include "startd/draining_facts.h"
#include "startd/slot/slot.h"
#include "startd/slot/slot_plan.h"
#include "startd/startd_state.h"
#include "wire/wire.h"

#define SLOTS    4
#define LOOK_US  (50 * SIM_MS)
#define SHORT_S  60  /* the retirement of jobs of SimFame 1 */
#define LONG_S   200 /* of the others */
#define JOB_S    900 /* longer than either */
#define RUN_S    40  /* so long all four run before somebody asks */
#define ADDRESS  "tcp:cm:9618"
#define SECURITY "/etc/roost/security"
#define COMMON                                                                               \
    "NUM_SLOTS = 4\nNUM_SLOTS_TYPE_1 = 0\nMACHINEMAXVACATETIME = 20\nPOLLING_INTERVAL = 1\n" \
    "MAXJOBRETIREMENTTIME = \"ifThenElse(TARGET.SimFame == 1, 60, 200)\"\n"
#define RESTLESS                                                      \
    "SUSPEND = \"TARGET.SimFame == 2 && Activity == \\\"Busy\\\" && " \
    "CurrentTime - EnteredCurrentActivity > 10\"\n"                   \
    "CONTINUE = \"CurrentTime - EnteredCurrentActivity > 5\"\nWANT_SUSPEND = true\n"

struct seen {                       /* of a slot */
    bool had_job, is_over, is_free; /* its run is; it is Unclaimed or Drained since */
    int64_t start_s, retirement_s;
    int64_t free_s; /* the second in which it was seen to be Drained */
    int64_t run_s;  /* unsuspended, at the last look while it ran */
};

struct show {
    const char *request; /* arguments of START_DRAINING */
    bool fast, suspends, kills;
    /* while it runs */
    struct sim *sim;
    struct sim_program program;
    struct sim_process *asker; /* it lives as long as the pool */
    struct wire_context *context;
    struct loop *loop;
    struct wire *wire;
    struct loop_timer *timer;
    struct drain_client *client;
    struct drain_request asked;
    bool wants, offered, committed, killed;
    char id[DRAIN_ID_MAX];
    int64_t all_busy_s; /* since when all four run; 0: they do not */
    int64_t begin_s;    /* of draining */
    int64_t drained_s;  /* when the last slot was */
    struct drain_estimates offer;
    struct seen slots[SLOTS];
    int64_t badput_s; /* as the seed counts */
    int64_t total_s;  /* TotalDrainingBadputTime */
    unsigned looks;   /* that compared something */
    unsigned between; /* that found all Drained, not yet Idle */
    bool over;
};

/* ---- who asks ---- */

static void on_offered(void *arg, const char *id, const struct ad *offer)
{
    struct show *show = arg;
    show->offered = true;
    (void)snprintf(show->id, sizeof(show->id), "%s", id);
    show->offer.graceful.completion_s =
        ad_int_or(offer, "ExpectedMachineGracefulDrainingCompletion", -1);
    show->offer.graceful.badput_s = ad_int_or(offer, "ExpectedMachineGracefulDrainingBadput", -1);
    show->offer.fast.completion_s = ad_int_or(offer, "ExpectedMachineFastDrainingCompletion", -1);
    show->offer.fast.badput_s = ad_int_or(offer, "ExpectedMachineFastDrainingBadput", -1);
    drain_client_commit(show->client);
}

static void on_done(void *arg, enum drain_code code, const char *text, const struct ad *answer)
{
    struct show *show = arg;
    (void)answer;
    if (code != DRAIN_OK) {
        sim_trace(show->sim, NULL, "asker: %d %s", (int)code, text);
    }
    show->committed = code == DRAIN_OK;
}

static void on_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct show *show = arg;
    (void)status, (void)why;
    wire_close(wire);
    show->wire = NULL;
}

static void on_tick(void *arg)
{
    static const struct wire_events WIRE = {.closed = on_closed};
    static const struct drain_client_events EVENTS = {.offered = on_offered, .done = on_done};
    struct show *show = arg;
    loop_timer_set(show->timer, 100);
    if (show->wire == NULL) {
        const struct wire_dial how = {.address = ADDRESS, .route = "collector", .name = ""};
        if (wire_dial(show->context, &how, &WIRE, show, &show->wire, NULL) != 0) {
            show->wire = NULL;
        }
    } else if (show->wants && show->client == NULL && wire_is_ready(show->wire)) {
        struct ad *args = NULL;
        assert_int_equal(ad_parse(show->request, strlen(show->request), &args, NULL), 0);
        assert_int_equal(drain_request_read(args, &show->asked, NULL), DRAIN_OK);
        assert_int_equal(drain_client_start(show->wire, "wn01", &show->asked, &EVENTS, show,
                                            &show->client, NULL),
                         0);
        ad_destroy(args);
    }
}

static int asker_start(const struct sim_env *env, void **state)
{
    struct show *show = (struct show *)(uintptr_t)env->program->data;
    const struct wire_context_options options = {.loop = env->loop,
                                                 .os = env->os,
                                                 .token_path = SECURITY "/tokens/USER",
                                                 .ca_file = SECURITY "/ca.pem",
                                                 .pool_keys = SECURITY "/keys",
                                                 .uid_domain = "pool",
                                                 .admin_uid = 1000};
    *state = show;
    show->loop = env->loop;
    if (wire_context_create(&options, &show->context, NULL) != 0) {
        return 1;
    }
    show->timer = loop_timer_create(env->loop, on_tick, show);
    loop_timer_set(show->timer, 1000);
    return SIM_STAYS;
}

/* ---- what is seen of the startd, from inside of it ---- */

static struct sim_process *find_startd(const struct show *show)
{
    uint64_t at = 0;
    struct sim_process *process;
    while ((process = sim_process_next(show->sim, &at)) != NULL) {
        if (strcmp(sim_process_program(process), "roost-startd") == 0 &&
            sim_process_state(process) != NULL) {
            return process;
        }
    }
    return NULL;
}

/* Not between the two steps of the moment in which it starts: its slot is Idle till the second. */
static bool runs(const struct slot *slot)
{
    return slot->claim != NULL && claim_plan_has_run(slot->claim->stage) &&
           slot->claim->run.start_ms != 0 && slot->state == SLOT_CLAIMED &&
           slot->activity != SLOT_IDLE;
}

static int64_t suspended_s(const struct slot *slot)
{
    return claim_suspended_s(slot->claim);
}

/* The facts. */
static void note_facts(struct show *show, const struct startd *startd, int64_t now_s)
{
    size_t busy = 0;
    for (size_t i = 0; i < SLOTS; i++) {
        const struct slot *slot = startd->slots[i];
        struct seen *seen = &show->slots[i];
        if (runs(slot) && show->begin_s == 0) {
            busy++;
            seen->had_job = true;
            seen->start_s = loop_wall_of_s(startd->env.loop, slot->claim->run.start_ms);
            seen->retirement_s =
                ad_int_or(slot->claim->job.ad, "SimFame", 0) == 1 ? SHORT_S : LONG_S;
        }
        bool is_active = slot->claim != NULL && claim_plan_has_run(slot->claim->stage);
        if (is_active && !seen->is_over) {
            int64_t run_ms = (int64_t)loop_now_ms(startd->env.loop) - slot->claim->run.start_ms;
            seen->run_s = run_ms / 1000 - suspended_s(slot);
        }
        if (show->begin_s > 0 && !is_active && !seen->is_over) {
            seen->is_over = true;
            show->badput_s += seen->run_s;
        }
    }
    show->all_busy_s = busy < SLOTS ? 0 : show->all_busy_s > 0 ? show->all_busy_s : now_s;
    show->wants = show->wants || (show->all_busy_s > 0 && now_s - show->all_busy_s >= RUN_S);
}

/* "Graceful": each runs for all of its promised retirement, then it is evicted in no time. */
static void compare_estimates(const struct show *show, const struct startd *startd, int64_t now_s)
{
    struct drain_estimates cost;
    int64_t fast_s = 0, graceful_s = 0, completion_s = now_s;
    draining_estimate(startd, NULL, &cost);
    for (size_t i = 0; i < SLOTS; i++) {
        const struct seen *seen = &show->slots[i];
        if (seen->is_over) {
            continue;
        }
        int64_t left_s = seen->retirement_s - seen->run_s;
        left_s = left_s > 0 && runs(startd->slots[i]) ? left_s : 0;
        fast_s += seen->run_s;
        graceful_s += seen->run_s + left_s;
        completion_s = completion_s > now_s + left_s ? completion_s : now_s + left_s;
    }
    assert_int_equal(cost.fast.badput_s, fast_s);
    assert_int_equal(cost.fast.completion_s, now_s);
    assert_int_equal(cost.graceful.badput_s, graceful_s);
    assert_int_equal(cost.graceful.completion_s, completion_s);
}

/* "Once draining begins, the Start expression is forced to be False"; states and activities. */
static void compare_slot(struct show *show, const struct startd *startd, size_t i, int64_t now_s)
{
    const struct slot *slot = startd->slots[i];
    struct seen *seen = &show->slots[i];
    assert_true(ad_bool_or(slot->ad, "Draining", false));
    assert_false(ad_bool_or(slot->ad, "Start", true));
    assert_string_equal(ad_string_or(slot->ad, "DrainingRequestId", ""), show->id);
    assert_string_equal(ad_string_or(slot->ad, "State", ""), slot_state_name(slot->state));
    assert_false(ad_has(slot->ad, "ClaimId"));
    bool is_free = slot->state == SLOT_DRAINED || slot->state == SLOT_UNCLAIMED;
    if (is_free && !seen->is_free) {
        seen->is_free = true;
        seen->free_s = now_s;
    }
    assert_false(seen->is_free && !is_free); /* for good */
    int64_t evicted_s = show->fast ? show->begin_s : seen->start_s + seen->retirement_s;
    if (show->suspends) {
        evicted_s = 0; /* when, depends on suspensions: the sums are compared */
    } else if (!seen->is_free && now_s > evicted_s + 1) {
        fail_msg("slot%zu: its job should have gone at %lld, it is %lld", i + 1,
                 (long long)evicted_s, (long long)now_s);
    } else if (seen->is_free && now_s < evicted_s) {
        fail_msg("slot%zu: its job was promised %lld more s", i + 1,
                 (long long)(evicted_s - now_s));
    }
}

static void compare_drained(struct show *show, const struct startd *startd, int64_t now_s)
{
    size_t free_count = 0, idle = 0;
    int64_t unclaimed_s = 0;
    for (size_t i = 0; i < SLOTS; i++) {
        const struct slot *slot = startd->slots[i];
        free_count += show->slots[i].is_free ? 1 : 0;
        idle += slot->state == SLOT_DRAINED && slot->activity == SLOT_IDLE ? 1 : 0;
        unclaimed_s += show->slots[i].is_free ? now_s - show->slots[i].free_s : 0;
    }
    assert_true(idle == 0 || idle == SLOTS); /* together */
    if (free_count == SLOTS && show->drained_s == 0) {
        show->drained_s = now_s;
    }
    /* We may look between two steps of the same moment, but not twice. */
    assert_true(idle == SLOTS || free_count < SLOTS || show->between++ == 0);
    /* What we see we see at most LOOK_US late: each slot may have moved in the second before. */
    int64_t up_s = (int64_t)(loop_now_ms(startd->env.loop) / 1000); /* which the totals count */
    int64_t more_s = drain_totals_unclaimed_s(&startd->draining.totals, up_s) - unclaimed_s;
    assert_true(more_s >= -SLOTS && more_s <= SLOTS);
    show->total_s = startd->draining.totals.badput_s;
    assert_in_range(show->total_s - show->badput_s, 0, SLOTS);
}

static void look(void *arg)
{
    struct show *show = arg;
    struct startd *startd = sim_daemon_state(find_startd(show));
    int64_t now_s = loop_wall_s(startd->env.loop);
    if (show->over || startd->slot_count != SLOTS || startd->stopping) {
        return;
    }
    if (draining_is_on(startd) && show->begin_s == 0) {
        show->begin_s = startd->draining.began_s;
    }
    note_facts(show, startd, now_s);
    if (show->all_busy_s > 0 && show->begin_s == 0) {
        compare_estimates(show, startd, now_s);
        show->looks++;
    }
    if (!draining_is_on(startd)) {
        return;
    }
    for (size_t i = 0; i < SLOTS; i++) {
        compare_slot(show, startd, i, now_s);
    }
    compare_estimates(show, startd, now_s);
    compare_drained(show, startd, now_s);
    show->looks++;
    /* A while, so that idle time is counted; then it is cancelled. */
    show->over = show->drained_s > 0 && now_s - show->drained_s >= 100;
}

static void give_back(void *arg)
{
    static const struct drain_client_events EVENTS = {.done = on_done};
    struct show *show = arg;
    drain_client_destroy(show->client);
    show->client = NULL;
    assert_int_equal(drain_client_cancel(show->wire, "wn01", show->id, "enough", &EVENTS, show,
                                         &show->client, NULL),
                     0);
}

static void observe(void *arg)
{
    struct show *show = arg;
    struct sim_process *startd = find_startd(show);
    if (startd != NULL && !show->over) {
        (void)sim_enter(startd, look, show);
        bool halfway = show->begin_s > 0 && sim_now_us(show->sim) / SIM_S % 7 == 0;
        if (show->kills && !show->killed && halfway) {
            show->killed = true;
            sim_kill(startd);
        }
    }
    if (show->over) {
        uint64_t at = 0;
        struct sim_process *process;
        while ((process = sim_process_next(show->sim, &at)) != NULL) {
            if (strcmp(sim_process_program(process), "asker") == 0) {
                (void)sim_enter(process, give_back, show);
                return;
            }
        }
    }
    (void)sim_at(show->sim, sim_now_us(show->sim) + LOOK_US, observe, show);
}

static void begins(void *arg, struct sim *sim)
{
    struct show *show = arg;
    show->sim = sim;
    (void)sim_at(sim, LOOK_US, observe, show);
}

/* ---- a day with it ---- */

static void show_runs(struct show *show, const char *config)
{
    unsigned seconds[SLOTS] = {JOB_S, JOB_S, JOB_S, JOB_S};
    const struct client_batch batches[] = {
        {.at_us = 10 * SIM_S, .first = 0, .count = 2, .seconds = seconds, .cpus = 1, .fame = 1},
        {.at_us = 13 * SIM_S, .first = 2, .count = 2, .seconds = seconds, .cpus = 1, .fame = 2}};
    show->program = (struct sim_program){.name = "asker", .start = asker_start, .data = show};
    struct pool_options options = {.seed = 3,
                                   .nodes = 1,
                                   .jobs = SLOTS,
                                   .batches = batches,
                                   .batch_count = 2,
                                   .node_config = config,
                                   .node_cpus = SLOTS,
                                   .program = &show->program,
                                   .begins = begins,
                                   .arg = show};
    struct pool_result result;
    pool_run(&options, &result);
    if (result.verdict[0] != '\0' || result.completed != SLOTS) {
        fail_msg("%u jobs completed; %s", result.completed, result.verdict);
    }
    assert_true(show->over);
    assert_true(show->looks > 1000);
    drain_request_fini(&show->asked);
}

static void graceful_keeps_each_promise_and_then_evicts(void **state)
{
    (void)state;
    struct show show = {.request = "[HowFast = \"graceful\"]"};
    show_runs(&show, COMMON);
    /* All four were evicted, each when its own retirement was over: so the estimate was exact. */
    /* A second, because runs are counted in whole seconds of the loop's clock. */
    assert_in_range(show.drained_s - show.offer.graceful.completion_s + 1, 0, 3);
    assert_in_range(show.total_s - show.offer.graceful.badput_s, 0, SLOTS);
    assert_in_range(show.total_s, 2 * SHORT_S + 2 * LONG_S, 2 * SHORT_S + 2 * LONG_S + SLOTS);
}

static void fast_honours_no_promise(void **state)
{
    (void)state;
    struct show show = {.request = "[HowFast = \"fast\"]", .fast = true};
    show_runs(&show, COMMON);
    assert_in_range(show.drained_s - show.offer.fast.completion_s, 0, 2);
    assert_in_range(show.total_s - show.offer.fast.badput_s, 0, 2 * SLOTS);
}

static void time_that_a_job_was_suspended_is_no_badput(void **state)
{
    (void)state;
    struct show show = {.request = "[HowFast = \"fast\"]", .fast = true, .suspends = true};
    show_runs(&show, COMMON RESTLESS);
    int64_t wall_s = 0;
    for (size_t i = 0; i < SLOTS; i++) {
        wall_s += show.slots[i].free_s - show.slots[i].start_s;
    }
    assert_true(show.total_s + 10 < wall_s); /* they did stand still */
    assert_in_range(show.total_s - show.offer.fast.badput_s, 0, 2 * SLOTS);
}

static void a_startd_that_is_killed_in_mid_drain_goes_on_counting(void **state)
{
    (void)state;
    struct show show = {.request = "[HowFast = \"graceful\"]", .kills = true};
    show_runs(&show, COMMON);
    assert_true(show.killed);
    assert_in_range(show.total_s, 2 * SHORT_S + 2 * LONG_S, 2 * SHORT_S + 2 * LONG_S + 2 * SLOTS);
}

UNIT_TESTS(UNIT(graceful_keeps_each_promise_and_then_evicts), UNIT(fast_honours_no_promise),
           UNIT(time_that_a_job_was_suspended_is_no_badput),
           UNIT(a_startd_that_is_killed_in_mid_drain_goes_on_counting))
