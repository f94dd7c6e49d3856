/* tests/unit/cli/test_why_reason_plan.c - each reason for which a job does not run, and what is
 * shown of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "cli/why/why_plan.h"
#include "cli/why/why_reason_plan.h"
#include "cli/why/why_show_plan.h"
#include "offline_ads/offline_ads.h"

#define NOW 1000000
static const struct ad_context CONTEXT = {.now_s = NOW};

#define IDLE_JOB                                                                       \
    "[ClusterId = 3; ProcId = 1; JobStatus = 1; User = \"ann@x\"; AutoClusterId = 7; " \
    "GlobalJobId = \"sched#3.1#5\"; Requirements = TARGET.Memory >= RequestMemory; "   \
    "RequestMemory = 10]"

struct scene {
    struct vec ads;
    struct why_other others[8];
    struct ad *job, *negotiator;
    struct why_answer *answer;
    struct why_verdict verdict;
    bool unseen;
    struct vec requests, accounts, sites;
};

static void slot(struct scene *scene, bool offline, const char *more)
{
    char text[600];
    (void)snprintf(text, sizeof text, "[Name = \"s\"; Memory = 20; Requirements = true; %s]", more);
    ads_add(&scene->ads, text);
    size_t i = scene->ads.count - 1;
    scene->others[i] = (struct why_other){.ad = scene->ads.items[i],
                                          .offline = offline,
                                          .silent = offline_ads_is_silent(scene->ads.items[i]),
                                          .weight = 1};
}

static void begin(struct scene *scene, const char *job)
{
    *scene = (struct scene){0};
    assert_int_equal(ad_parse(job, strlen(job), &scene->job, NULL), 0);
    scene->negotiator = ad_create();
    ad_set_int(scene->negotiator, "LastHeardFrom", NOW - 10);
}

static void find(struct scene *scene, bool judged)
{
    const struct why_question question = {.ad = scene->job,
                                          .others = scene->others,
                                          .other_count = scene->ads.count,
                                          .context = &CONTEXT,
                                          .changes = true};
    scene->answer = judged ? why_plan_answer(&question) : NULL;
    const struct ad *request =
        why_reason_request(scene->job, ads_list(&scene->requests), scene->requests.count);
    const struct why_pool pool = {.job = scene->job,
                                  .answer = scene->answer,
                                  .slots = scene->others,
                                  .slot_count = scene->ads.count,
                                  .negotiator = scene->negotiator,
                                  .request = scene->unseen     ? NULL
                                             : request != NULL ? request
                                                               : scene->job,
                                  .requests = ads_list(&scene->requests),
                                  .request_count = scene->requests.count,
                                  .accounts = ads_list(&scene->accounts),
                                  .account_count = scene->accounts.count,
                                  .machines = ads_list(&scene->ads),
                                  .machine_count = scene->ads.count,
                                  .sites = ads_list(&scene->sites),
                                  .site_count = scene->sites.count,
                                  .context = &CONTEXT};
    why_reason_find(&pool, &scene->verdict);
}

static void end(struct scene *scene)
{
    why_verdict_fini(&scene->verdict);
    why_answer_destroy(scene->answer);
    ad_destroy(scene->job);
    ad_destroy(scene->negotiator);
    vec_fini(&scene->ads, ads_destroy_one);
    vec_fini(&scene->requests, ads_destroy_one);
    vec_fini(&scene->accounts, ads_destroy_one);
    vec_fini(&scene->sites, ads_destroy_one);
}

static void expect(struct scene *scene, const char *reason, const char *text)
{
    assert_string_equal(scene->verdict.text, text);
    assert_string_equal(why_reason_name(scene->verdict.reason), reason);
    end(scene);
}

static void a_job_that_ended_says_when_and_how(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, "[JobStatus = 4; CompletionDate = 3600; ExitCode = 2; ExitBySignal = false; "
                  "LastRemoteHost = \"slot1@n\"]");
    find(&scene, false);
    expect(&scene, "Completed", "completed at 1/01 01:00, exit status 2, on slot1@n");
    begin(&scene, "[JobStatus = 4; ExitBySignal = true; ExitSignal = 9]");
    find(&scene, false);
    expect(&scene, "Completed", "completed, ended by signal 9");
    begin(&scene, "[JobStatus = 3; EnteredCurrentStatus = 86400; RemoveReason = \"via rm\"]");
    find(&scene, false);
    expect(&scene, "Removed", "removed at 1/02 00:00: via rm");
}

static void a_job_that_is_held_says_why_and_whether_it_would_match(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, "[JobStatus = 5; EnteredCurrentStatus = 999940; HoldReason = \"no\ninput\"; "
                  "HoldReasonCode = 13; HoldReasonSubCode = 2; Requirements = true]");
    slot(&scene, true, "");
    find(&scene, true);
    expect(&scene, "Held",
           "held since 1/12 13:45 (0+00:01:00): no?input (code 13, subcode 2); released, it would "
           "match 1 slot (0 awake, 1 asleep)");
}

static void a_job_that_has_a_slot_says_which(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, "[JobStatus = 2; RemoteHost = \"slot1@n\"; EnteredCurrentStatus = 999000]");
    find(&scene, false);
    expect(&scene, "Running", "running on slot1@n since 1/12 13:30 (0+00:16:40)");
    begin(&scene, "[JobStatus = 2; RemoteHost = \"slot1@n\"; TransferringInput = true]");
    find(&scene, false);
    expect(&scene, "Running", "input is being transferred to slot1@n");
    begin(&scene, "[JobStatus = 2; RemoteHost = \"slot1@n\"; TransferringInput = true;"
                  " TransferDoneBytes = 1048576; TransferTotalBytes = 4194304]");
    find(&scene, false);
    expect(&scene, "Running", "input is being transferred to slot1@n (25% of 4.0 MB)");
    begin(&scene, "[JobStatus = 2; RemoteHost = \"slot1@n\"; TransferringOutput = true;"
                  " TransferQueued = true]");
    find(&scene, false);
    expect(&scene, "Running", "output waits for its turn to come from slot1@n");
    begin(&scene, "[JobStatus = 6; RemoteHost = \"slot1@n\"]");
    find(&scene, false);
    expect(&scene, "Running", "output is being written, from slot1@n");
    begin(&scene, "[JobStatus = 7; RemoteHost = \"slot1@n\"]");
    find(&scene, false);
    expect(&scene, "Running", "suspended on slot1@n");
    begin(&scene, "[JobStatus = 1; ClaimState = \"Matched\"; RemoteHost = \"slot1@n\"]");
    find(&scene, false);
    expect(&scene, "Matched", "has a slot, slot1@n, and starts soon");
    begin(&scene,
          "[JobStatus = 1; ClaimState = \"Claimed\"; RemoteHost = \"slot1@n\"; Owner = \"ann\";"
          " ShadowError = \"the account ann cannot enter /x\"]");
    find(&scene, false);
    expect(&scene, "NoShadow",
           "has a slot, slot1@n, but the shadow of ann does not start: the account ann cannot "
           "enter /x");
}

static bool is_over(void *arg)
{
    return (*(int *)arg)-- <= 0;
}

static void what_was_not_looked_at_is_said(void **state)
{
    (void)state;
    struct scene scene;
    int left = 1;
    begin(&scene, IDLE_JOB);
    slot(&scene, false, "Memory = 5");
    slot(&scene, true, "Memory = 6");
    const struct why_question question = {.ad = scene.job,
                                          .others = scene.others,
                                          .other_count = 2,
                                          .context = &CONTEXT,
                                          .is_over = is_over,
                                          .arg = &left};
    scene.answer = why_plan_answer(&question);
    const struct why_pool pool = {.job = scene.job,
                                  .answer = scene.answer,
                                  .slots = scene.others,
                                  .slot_count = 2,
                                  .context = &CONTEXT};
    why_reason_find(&pool, &scene.verdict);
    expect(&scene, "NoMatch",
           "matches none of 2 slots (1 awake, 1 asleep) examined before the time limit; 1 were not "
           "examined");
}

static void machines_that_do_not_respond_are_not_counted_as_awake(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, IDLE_JOB);
    slot(&scene, false, "Requirements = false");
    slot(&scene, false, "Memory = 6; NotRespondingSince = 10");
    find(&scene, true);
    assert_int_equal(scene.answer->change_count, 1);
    assert_int_equal(scene.answer->changes[0].gain.live, 0);
    assert_int_equal(scene.answer->changes[0].gain.silent, 1);
    expect(&scene, "NoMatch",
           "matches none of 2 slots (1 awake, 0 asleep, 1 not responding): the job's Requirements "
           "rule out 1, and 1 reject the job (1 by Requirements: false)");
    begin(&scene, IDLE_JOB);
    slot(&scene, false, "Machine = \"wn7\"; NotRespondingSince = 10");
    find(&scene, true);
    assert_int_equal(scene.answer->matching.live, 0);
    expect(&scene, "Busy",
           "matches 1 slot, none of which is free: 1 not responding (wn7 since 1/01 00:00 "
           "(11+13:46:30))");
}

static void without_machines_nothing_can_match(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, IDLE_JOB);
    find(&scene, true);
    expect(&scene, "NoSlots", "the collector knows no machines, awake or asleep");
}

static void what_rules_out_all_slots_is_told_before_anything_else(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, IDLE_JOB);
    ad_destroy(scene.negotiator);
    scene.negotiator = NULL;
    slot(&scene, false, "Memory = 5");
    slot(&scene, true, "Memory = 6");
    find(&scene, true);
    expect(
        &scene, "NoMatch",
        "matches none of 2 slots (1 awake, 1 asleep): the job's Requirements rule out all of them");
    begin(&scene, IDLE_JOB);
    slot(&scene, false, "Requirements = false");
    find(&scene, true);
    expect(&scene, "NoMatch",
           "matches none of 1 slot (1 awake, 0 asleep): all of them reject the job (1 by "
           "Requirements: false)");
    begin(&scene, IDLE_JOB);
    slot(&scene, false, "Requirements = false");
    slot(&scene, false, "Memory = 5");
    find(&scene, true);
    expect(&scene, "NoMatch",
           "matches none of 2 slots (2 awake, 0 asleep): the job's Requirements rule out 1, and 1 "
           "reject the job (1 by Requirements: false)");
    begin(&scene, IDLE_JOB);
    slot(&scene, false,
         "Requirements = Start; Start = false; Draining = true; DrainReason = \"fan\"");
    slot(&scene, true,
         "Machine = \"wn7\"; Requirements = Start; Start = false; PowerKeptOff = true;"
         " PowerKeptOffReason = \"switched off by a: dust\"");
    find(&scene, true);
    expect(&scene, "NoMatch",
           "matches none of 2 slots (1 awake, 1 asleep): all of them reject the job (2 because "
           "START is not true there); 1 is draining (fan); 1 is taken out of work (wn7 stays off "
           "until somebody "
           "switches the machine on by name (switched off by a: dust))");
    begin(&scene, IDLE_JOB);
    slot(&scene, true,
         "Machine = \"wn7\"; Memory = 100; PowerLocked = true; PowerLockedBy = \"a@p\";"
         " PowerLockedReason = \"new switch\"");
    find(&scene, true);
    expect(&scene, "Locked",
           "matches only machines that an administrator has taken out of work: wn7 is locked by "
           "a@p: new switch");
    begin(&scene, "[JobStatus = 1; Requirements = \"a\" + 1]");
    slot(&scene, false, "");
    find(&scene, true);
    expect(&scene, "RequirementsError",
           "the job's Requirements evaluate to error with each of 1 slot (1 awake, 0 asleep)");
    begin(&scene, "[JobStatus = 1; Requirements = TARGET.Gpu =?= 5 && TARGET.Memory > 10]");
    slot(&scene, false, "Memory = \"lots\""); /* the second is error, but the first false */
    slot(&scene, false, "Memory = 5");
    find(&scene, true);
    expect(
        &scene, "NoMatch",
        "matches none of 2 slots (2 awake, 0 asleep): the job's Requirements rule out all of them");
}

static void the_parts_of_the_pool_must_be_there(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, IDLE_JOB);
    slot(&scene, false, "State = \"Unclaimed\"");
    ad_destroy(scene.negotiator);
    scene.negotiator = NULL;
    find(&scene, true);
    expect(&scene, "NoNegotiator",
           "the pool has no negotiator; 1 slot (1 awake, 0 asleep) would match");
    begin(&scene, IDLE_JOB);
    slot(&scene, false, "State = \"Unclaimed\"");
    ad_set_int(scene.negotiator, "LastHeardFrom", NOW - WHY_SILENT_S - 1);
    find(&scene, true);
    expect(&scene, "NegotiatorSilent",
           "the collector has not heard from the negotiator since 1/12 13:36 (0+00:10:01); 1 slot "
           "(1 awake, 0 asleep) would match");
    begin(&scene, IDLE_JOB);
    slot(&scene, false, "State = \"Unclaimed\"");
    ad_set_int(scene.negotiator, OFFLINE_ADS_SILENT, NOW - 30); /* its ad is renewed all the same */
    find(&scene, true);
    expect(&scene, "NegotiatorSilent",
           "the collector has not heard from the negotiator since 1/12 13:46 (0+00:00:30); 1 slot "
           "(1 awake, 0 asleep) would match");
    begin(&scene, IDLE_JOB);
    slot(&scene, false, "State = \"Unclaimed\"");
    scene.unseen = true;
    find(&scene, true);
    expect(&scene, "RequestNotSeen",
           "the collector has no request for this job from its schedd; 1 slot (1 awake, 0 asleep) "
           "would "
           "match");
}

static void busy_slots_are_told_apart_by_what_they_do(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, IDLE_JOB);
    slot(&scene, false, "State = \"Claimed\"; RemoteUser = \"ann@x\"");
    slot(&scene, false, "State = \"Claimed\"; RemoteUser = \"bob@x\"");
    slot(&scene, false, "State = \"Matched\"");
    slot(&scene, false, "State = \"Owner\"");
    slot(&scene, false, "State = \"Drained\"");
    slot(&scene, false, "State = \"Unclaimed\"; PowerState = \"Draining\"");
    slot(&scene, false, "State = \"Unclaimed\"; PowerState = \"GoingDown\"");
    slot(&scene, false, "State = \"Claimed\"; Memory = 1");
    find(&scene, true);
    assert_int_equal(scene.verdict.places.others, 2);
    expect(&scene, "Busy",
           "matches 7 slots awake, all busy: 1 with your jobs, 2 with others' jobs, 1 with "
           "their owners, 2 draining, 1 going to sleep");
    begin(&scene, IDLE_JOB);
    slot(&scene, false, "State = \"Claimed\"; RemoteUser = \"ann@x\"");
    slot(&scene, false, "State = \"Unclaimed\"");
    find(&scene, true);
    expect(&scene, "NextCycle", "matches 1 free slot; the next negotiation cycle decides");
}

/* Mine (sched, 7) among requests of bob and eve; bob is ahead of me, carl does not wait. */
static void others_wait(struct scene *scene)
{
    ads_add(&scene->requests,
            "[ScheddName = \"other\"; AutoClusterId = 7; SubmitterName = \"bob\"]");
    ads_add(&scene->requests,
            "[ScheddName = \"sched\"; AutoClusterId = 8; SubmitterName = \"bob\"]");
    ads_add(&scene->requests,
            "[ScheddName = \"sched\"; AutoClusterId = 9; SubmitterName = \"eve\"]");
    ads_add(&scene->requests,
            "[ScheddName = \"sched\"; AutoClusterId = 7; SubmitterName = \"phys.me\"]");
    ads_add(&scene->accounts, "[Name = \"bob\"; Priority = 10.0]");
    ads_add(&scene->accounts, "[Name = \"carl\"; Priority = 1.0]");
    ads_add(&scene->accounts, "[Name = \"eve\"; Priority = 900.5]");
    ads_add(&scene->accounts, "[Name = \"phys\"; IsAccountingGroup = true; SurplusPolicy = \"no\"; "
                              "EffectiveQuota = 6.0; WeightedResourcesUsed = 5.0; Priority = 0.5]");
}

static void priority_says_who_comes_first(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, IDLE_JOB);
    others_wait(&scene);
    slot(&scene, false, "State = \"Claimed\"");
    ads_add(&scene.accounts, "[Name = \"phys.me\"; Priority = 20.25; Ceiling = -1]");
    find(&scene, true);
    expect(&scene, "Busy",
           "matches 1 slot awake, all busy: 1 with others' jobs; priority 20.25, 1 submitter with "
           "better priority waits");
    begin(&scene, IDLE_JOB);
    others_wait(&scene);
    slot(&scene, false, "State = \"Unclaimed\"");
    ads_add(&scene.accounts, "[Name = \"phys.me\"; Priority = 2.0]");
    find(&scene, true);
    expect(&scene, "NextCycle",
           "matches 1 free slot; the next negotiation cycle decides; priority 2.00, no user with "
           "better priority waits");
}

static void a_ceiling_and_a_quota_are_told(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, IDLE_JOB);
    others_wait(&scene);
    slot(&scene, false, "State = \"Unclaimed\"");
    ads_add(&scene.accounts, "[Name = \"phys.me\"; Priority = 2.0; Ceiling = 4.0; "
                             "WeightedResourcesUsed = 3.5; AccountingGroup = \"phys\"]");
    find(&scene, true);
    expect(&scene, "Ceiling", "phys.me has reached its ceiling: it uses 3.5 of 4");
    for (int cpus = 1; cpus <= 2; cpus++) {
        begin(&scene, IDLE_JOB);
        others_wait(&scene);
        slot(&scene, false, "State = \"Unclaimed\"");
        ad_set_int(scene.job, "RequestCpus", cpus);
        ads_add(&scene.accounts, "[Name = \"phys.me\"; Priority = 2.0; Ceiling = 40.0; "
                                 "WeightedResourcesUsed = 3.5; AccountingGroup = \"phys\"]");
        find(&scene, true);
        if (cpus == 1) {
            assert_int_equal(scene.verdict.reason, WHY_SOON);
            end(&scene);
        } else {
            expect(&scene, "Quota",
                   "group phys has used its quota and takes no surplus: it uses 5 of 6");
        }
    }
}

static void a_pool_without_groups_has_no_quota_to_tell_of(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, IDLE_JOB);
    others_wait(&scene);
    slot(&scene, false, "State = \"Unclaimed\"");
    for (size_t i = 0; i < scene.accounts.count; i++) {
        struct ad *account = scene.accounts.items[i];
        if (ad_bool_or(account, "IsAccountingGroup", false)) {
            ad_set_string(account, "Name", "<none>");
        }
    }
    ad_set_int(scene.job, "RequestCpus", 2);
    ads_add(&scene.accounts, "[Name = \"phys.me\"; Priority = 2.0; Ceiling = 40.0; "
                             "WeightedResourcesUsed = 3.5; AccountingGroup = \"<none>\"]");
    find(&scene, true);
    assert_int_equal(scene.verdict.reason, WHY_SOON);
    end(&scene);
}

static void a_concurrency_limit_that_is_used_up_is_told(void **state)
{
    (void)state;
    static const char *const LISTS[] = {"db.read, Matlab", "matlab:0.5", "other, matlab:x"};
    for (size_t i = 0; i < 3; i++) {
        struct scene scene;
        begin(&scene, IDLE_JOB);
        slot(&scene, false, "State = \"Unclaimed\"");
        slot(&scene, false, "State = \"Claimed\"; ConcurrencyLimits = \"MATLAB:2,matlab2\"");
        slot(&scene, false, "State = \"Claimed\"; ConcurrencyLimits = \"x,matlab:0.5\"");
        ad_set_string(scene.job, "ConcurrencyLimits", LISTS[i]);
        assert_int_equal(ad_set_expr(scene.negotiator, "ConcurrencyLimits",
                                     "{ [Name = \"db.read\"; Max = 5.0], [Name = \"matlab\"; Max "
                                     "= 3.0] }",
                                     NULL),
                         0);
        find(&scene, true);
        if (i == 1) {
            assert_int_equal(scene.verdict.reason, WHY_SOON);
            end(&scene);
        } else {
            expect(&scene, "ConcurrencyLimit",
                   "the concurrency limit matlab is used up: 2.5 of 3, and the job needs 1");
        }
    }
}

static void a_partitionable_slot_that_would_fit_empty_is_too_full(void **state)
{
    (void)state;
    struct scene scene;
    struct vec wholes = {0};
    begin(&scene, IDLE_JOB);
    for (int i = 0; i < 2; i++) {
        slot(&scene, false,
             i == 0
                 ? "State = \"Unclaimed\"; PartitionableSlot = true; TotalSlots = 3; Memory = 5; "
                   "TotalSlotMemory = 50; TotalSlotCpus = 4"
                 : "State = \"Unclaimed\"; PartitionableSlot = true; Memory = 15; "
                   "TotalSlotMemory = 50");
        scene.others[i].now = scene.others[i].ad;
        scene.others[i].ad = why_reason_whole(scene.others[i].now);
        vec_push(&wholes, (void *)(uintptr_t)scene.others[i].ad);
        assert_int_equal(ad_int_or(scene.others[i].ad, "Memory", 0), 50);
        assert_false(ad_has(scene.others[i].ad, "Cpus"));
        scene.ads.count = (size_t)i + 1;
        why_verdict_fini(&scene.verdict);
        why_answer_destroy(scene.answer);
        find(&scene, true);
        assert_string_equal(scene.verdict.text,
                            i == 0 ? "matches 1 slot awake, all busy: 1 too full at present"
                                   : "matches 1 free slot; the next negotiation cycle decides");
    }
    assert_null(why_reason_whole(scene.negotiator));
    vec_fini(&wholes, ads_destroy_one);
    end(&scene);
}

static void a_free_slot_that_the_schedd_avoids_is_not_free_for_the_job(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, IDLE_JOB);
    slot(&scene, false, "State = \"Unclaimed\"; Machine = \"wn1\"");
    ads_add(&scene.requests, "[ScheddName = \"sched\"; AutoClusterId = 7; User = \"ann@x\";"
                             " AvoidedMachines = \"wn12, wn1\"]");
    find(&scene, true);
    assert_int_equal(scene.verdict.places.avoided, 1);
    expect(&scene, "Busy",
           "matches 1 slot, none of which is free: 1 avoided by the schedd (starters failed on "
           "wn1, so the schedd gives it no jobs for a while; see machine.avoided in SchedLog)");
    begin(&scene, IDLE_JOB);
    slot(&scene, false, "State = \"Unclaimed\"; Machine = \"wn1\"");
    ads_add(&scene.requests, "[ScheddName = \"sched\"; AutoClusterId = 7; User = \"ann@x\";"
                             " AvoidedMachines = \"wn12\"]");
    find(&scene, true);
    expect(&scene, "NextCycle", "matches 1 free slot; the next negotiation cycle decides");
}

static void a_machine_that_wakes_for_the_job_is_named(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, IDLE_JOB);
    slot(&scene, true, "PowerState = \"Waking\"; Machine = \"other\"; EnteredPowerState = 999990");
    slot(
        &scene, true,
        "PowerState = \"Waking\"; Machine = \"mine\"; EnteredPowerState = 999990; OfflineMatches = "
        "{ [Schedd = \"sched\"; AutoCluster = 7; Count = 1; Until = 2000000] }");
    slot(&scene, true, "PowerState = \"Off\"; Machine = \"third\"");
    find(&scene, true);
    assert_int_equal(scene.verdict.places.held, 1);
    expect(&scene, "Waking", "waits for mine, which is being woken since 1/12 13:46 (0+00:00:10)");
    begin(&scene, IDLE_JOB);
    slot(&scene, true,
         "PowerState = \"Off\"; Machine = \"late\"; OfflineMatches = "
         "{ [Schedd = \"sched\"; AutoCluster = 7; Count = 1; Until = 999999] }");
    find(&scene, true);
    expect(&scene, "Asleep", "matches 1 sleeping slot, none of which is being woken");
    begin(&scene, IDLE_JOB);
    slot(&scene, true,
         "PowerState = \"Off\"; Machine = \"mine\"; OfflineMatches = "
         "{ [Schedd = \"sched\"; AutoCluster = 7; Count = 1; Until = 2000000] }");
    find(&scene, true);
    expect(&scene, "Asleep", "waits for mine");
}

static void a_machine_that_cannot_be_woken_says_why(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, IDLE_JOB);
    slot(&scene, true,
         "PowerState = \"WakeFailed\"; Machine = \"m1\"; EnteredPowerState = 999000; "
         "PowerStateReason = \"3 wakes failed\"");
    slot(&scene, true, "PowerState = \"Unknown\"; Machine = \"m2\"");
    find(&scene, true);
    assert_int_equal(scene.verdict.places.failed, 2);
    expect(&scene, "Unwakeable",
           "matches only machines that cannot be woken: m1 is WakeFailed since 1/12 13:30 "
           "(0+00:16:40): 3 wakes failed");
}

/* ---- what is shown */

static void an_answer_is_a_line_then_clauses_then_changes(void **state)
{
    (void)state;
    struct scene scene;
    struct strbuf out;
    begin(&scene, IDLE_JOB);
    slot(&scene, false, "Memory = 5");
    slot(&scene, true, "Memory = 6");
    slot(&scene, true, "Requirements = Start; Start = TARGET.Nice");
    find(&scene, true);
    strbuf_init(&out, 0);
    why_show_job("3.1", &scene.verdict, scene.answer, false, &out);
    ads_expect(
        &out,
        "3.1: matches none of 3 slots (1 awake, 2 asleep): the job's Requirements rule out 2, and "
        "1 reject the job (1 by Start: TARGET.Nice).\n\n    awake  asleep   alone  ruled out by "
        "the job's clause\n        1  "
        "     1       2  TARGET.Memory >= RequestMemory\n                              "
        "RequestMemory is 10; Memory is 5 to 6\n\n    awake  asleep   alone  ruled out by the "
        "slot's clause\n        0       1       1  Start: TARGET.Nice\n                            "
        "  Nice is undefined\n\n  The job would match with\n    Nice = true (not set now): 1 slot "
        "(0 awake, 1 asleep)\n    RequestMemory = 6 instead of 10: 1 slot (0 awake, 1 asleep)\n    "
        "RequestMemory = 5 instead of 10: 2 slots (1 awake, 1 asleep)\n");
    end(&scene);
}

static void a_job_that_has_its_place_shows_no_clauses_unless_asked(void **state)
{
    (void)state;
    struct scene scene;
    struct strbuf out;
    begin(&scene, IDLE_JOB);
    slot(&scene, false, "State = \"Unclaimed\"");
    slot(&scene, false, "Memory = 5");
    find(&scene, true);
    strbuf_init(&out, 0);
    why_show_job("3.1", &scene.verdict, scene.answer, false, &out);
    assert_null(strstr(strbuf_text(&out), "ruled out"));
    strbuf_clear(&out);
    why_show_job("3.1", &scene.verdict, scene.answer, true, &out);
    assert_non_null(strstr(strbuf_text(&out), "ruled out"));
    assert_non_null(strstr(strbuf_text(&out), "The job would match more with"));
    strbuf_fini(&out);
    end(&scene);
}

static void the_ad_says_the_same(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, IDLE_JOB);
    slot(&scene, false, "Memory = 5");
    slot(&scene, true, "Memory = 6");
    find(&scene, true);
    struct ad *ad = why_show_ad("Job", "3.1", &scene.verdict, scene.answer);
    assert_string_equal(ad_string_or(ad, "MyType", ""), "Why");
    assert_string_equal(ad_string_or(ad, "Job", ""), "3.1");
    assert_string_equal(ad_string_or(ad, "Reason", ""), "NoMatch");
    assert_int_equal(ad_int_or(ad, "TotalLive", -1), 1);
    assert_int_equal(ad_int_or(ad, "TotalOffline", -1), 1);
    assert_int_equal(ad_int_or(ad, "RefusedBySubjectLive", -1), 1);
    assert_int_equal(ad_int_or(ad, "RefusedBySubjectOffline", -1), 1);
    assert_int_equal(ad_int_or(ad, "UnwakeableSlots", -1), 0);
    struct ad_expr *expr = NULL;
    const char *const CHECK = "Clauses[0].Clause == \"TARGET.Memory >= RequestMemory\" && "
                              "Clauses[0].RefusesLive == 1 && Clauses[0].AloneOffline == 1 && "
                              "Changes[0].Edits[0].Attribute == \"RequestMemory\" && "
                              "Changes[0].Edits[0].Value == 6 && Changes[0].GainOffline == 1 && "
                              "Changes[1].GainLive == 1 && size(Changes) == 2";
    assert_int_equal(ad_expr_parse(CHECK, strlen(CHECK), AD_NEW, &expr, NULL), 0);
    assert_int_equal(ad_eval_bool(expr, ad, NULL, NULL), AD_TRUE);
    ad_expr_destroy(expr);
    ad_destroy(ad);
    end(&scene);
}

static void a_slot_tells_which_of_the_waiting_jobs_it_could_run(void **state)
{
    (void)state;
    struct scene scene;
    struct strbuf out;
    begin(&scene, "[Name = \"slot1@n\"; State = \"Unclaimed\"; Activity = \"Idle\"; Memory = 8; "
                  "EnteredCurrentState = 999940; Requirements = Start; "
                  "Start = TARGET.Owner == \"ann\"]");
    ads_add(&scene.ads, "[Requirements = TARGET.Memory > 9; Owner = \"ann\"]");
    ads_add(&scene.ads, "[Requirements = true; Owner = \"bob\"]");
    scene.others[0] = (struct why_other){.ad = scene.ads.items[0], .weight = 5};
    scene.others[1] = (struct why_other){.ad = scene.ads.items[1], .weight = 2};
    find(&scene, true);
    strbuf_init(&out, 0);
    why_show_slot(scene.job, scene.answer, &CONTEXT, &out);
    ads_expect(&out, "slot1@n: Unclaimed Idle for 0+00:01:00; of 7 idle jobs 0 match.\n"
                     "\n"
                     "     jobs   alone  ruled out by the slot's clause\n"
                     "        2       2  Start: TARGET.Owner == \"ann\"\n"
                     "                      Owner is \"bob\"\n"
                     "\n"
                     "     jobs   alone  ruled out by the job's clause\n"
                     "        5       5  TARGET.Memory > 9\n"
                     "                      Memory is 8\n");
    end(&scene);
}

#define CAMPUS_SAMPLE \
    "Offline = true; PreviousName = \"x\"; GLIDEIN_Site = \"campus\"; GLIDEIN_Factory = \"f\"; "
#define CAMPUS_SITE                                                                                \
    "Name = \"campus@f\"; Site = \"campus\"; Factory = \"f\"; Samples = 1; TroubleTime = 999940; " \
    "Trouble = \"no such account\"; Why = \"max_total is reached\"; "
#define HELD_FOR_IT \
    "OfflineMatches = { [Schedd = \"sched\"; AutoCluster = 7; Count = 1; Until = 1000100] }; "

static void a_job_that_waits_for_a_site_says_what_comes_and_what_stops_it(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, IDLE_JOB);
    slot(&scene, true, CAMPUS_SAMPLE HELD_FOR_IT);
    ads_add(&scene.sites, "[" CAMPUS_SITE "State = \"Serving\"; Coming = 2; Wanted = 2]");
    ads_add(&scene.sites, "[Name = \"o@f\"; Site = \"o\"; Factory = \"f\"; Coming = 9]");
    find(&scene, true);
    struct ad *ad = why_show_ad("Job", "3.1", &scene.verdict, scene.answer);
    assert_int_equal(ad_int_or(ad, "SampleSlots", 0), 1);
    assert_string_equal(ad_string_or(ad, "Site", ""), "campus");
    ad_destroy(ad);
    expect(&scene, "Asleep",
           "waits for a glidein of site campus; site campus has 2 glideins on the way");
    begin(&scene, IDLE_JOB);
    slot(&scene, true, CAMPUS_SAMPLE HELD_FOR_IT);
    ads_add(&scene.sites, "[" CAMPUS_SITE "State = \"Serving\"; Coming = 1; Wanted = 2]");
    find(&scene, true);
    expect(&scene, "Asleep",
           "waits for a glidein of site campus; site campus has 1 glidein on the way, no more are "
           "asked for: max_total is reached; its last trouble, 0+00:01:00 ago: no such account");
    begin(&scene, IDLE_JOB);
    slot(&scene, true, CAMPUS_SAMPLE HELD_FOR_IT);
    ads_add(&scene.sites, "[Name = \"campus@f\"; Site = \"campus\"; Factory = \"f\"; "
                          "State = \"LeftAlone\"; Why = \"left alone for 8 s more\"]");
    find(&scene, true);
    expect(&scene, "Asleep",
           "waits for a glidein of site campus; site campus has 0 glideins on the way, no more are "
           "asked for: left alone for 8 s more");
}

static void a_sample_that_is_held_for_others_is_not_waited_for(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, IDLE_JOB);
    slot(&scene, true, CAMPUS_SAMPLE HELD_FOR_IT);
    slot(&scene, true,
         "Offline = true; PreviousName = \"x\"; GLIDEIN_Site = \"other\"; "
         "GLIDEIN_Factory = \"f\"");
    slot(&scene, true,
         "Offline = true; PreviousName = \"x\"; GLIDEIN_Site = \"small\"; "
         "GLIDEIN_Factory = \"f\"; Memory = 1; " HELD_FOR_IT);
    ads_add(&scene.sites, "[" CAMPUS_SITE "State = \"Serving\"; Coming = 2; Wanted = 2]");
    ads_add(&scene.sites, "[Site = \"other\"; Factory = \"f\"; Samples = 1]");
    ads_add(&scene.sites, "[Site = \"small\"; Factory = \"f\"; Samples = 1]");
    find(&scene, true);
    expect(&scene, "Asleep",
           "waits for a glidein of site campus; site campus has 2 glideins on the way");
    begin(&scene, IDLE_JOB);
    slot(&scene, true, CAMPUS_SAMPLE);
    ads_add(&scene.sites, "[" CAMPUS_SITE "State = \"Serving\"; Coming = 2; Wanted = 2]");
    find(&scene, true);
    expect(&scene, "Asleep",
           "may run on glideins that 1 sample stands for, none of which is asked for yet");
}

static void sites_without_a_sample_in_the_pool_say_why_when_nothing_matches(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, IDLE_JOB);
    ads_add(&scene.sites, "[" CAMPUS_SITE "State = \"LeftAlone\"]");
    ads_add(&scene.sites, "[Name = \"o@f\"; Site = \"o\"; Factory = \"f\"; Samples = 0; "
                          "Why = \"no jobs wait for it\"]");
    find(&scene, true);
    expect(&scene, "NoSlots",
           "the collector knows no machines, awake or asleep; site campus can be given no job now, "
           "no more are asked for: max_total is reached; its last trouble, 0+00:01:00 ago: no such "
           "account; site o can be given no job now, because it has no samples");
    begin(&scene, IDLE_JOB);
    slot(&scene, false, "Memory = 1; State = \"Unclaimed\"");
    slot(&scene, true, "Memory = 1; " CAMPUS_SAMPLE);
    ads_add(&scene.sites, "[" CAMPUS_SITE "State = \"Serving\"]");
    for (char site = 'a'; site < 'e'; site++) {
        char text[100];
        (void)snprintf(text, sizeof text, "[Site = \"%c\"; Factory = \"f\"; Samples = 1]", site);
        ads_add(&scene.sites, text);
    }
    find(&scene, true);
    expect(&scene, "NoMatch",
           "matches none of 2 slots (1 awake, 1 asleep): the job's Requirements rule out all of "
           "them; site a can be given no job now; site b can be given no job now; site c can be "
           "given no job now; so it is with 1 more: `roost factory status` shows them");
    begin(&scene, IDLE_JOB);
    slot(&scene, false, "State = \"Claimed\"; RemoteUser = \"bob@x\"");
    ads_add(&scene.sites,
            "[Site = \"a\"; Factory = \"f\"; Samples = 1; Why = \"paused: by hand\"]");
    find(&scene, true);
    expect(&scene, "Busy",
           "matches 1 slot awake, all busy: 1 with others' jobs; site a can be given no job now, "
           "no more are asked for: paused: by hand");
}

UNIT_TESTS(UNIT(a_job_that_ended_says_when_and_how),
           UNIT(a_job_that_is_held_says_why_and_whether_it_would_match),
           UNIT(a_job_that_has_a_slot_says_which), UNIT(what_was_not_looked_at_is_said),
           UNIT(machines_that_do_not_respond_are_not_counted_as_awake),
           UNIT(without_machines_nothing_can_match),
           UNIT(what_rules_out_all_slots_is_told_before_anything_else),
           UNIT(the_parts_of_the_pool_must_be_there),
           UNIT(busy_slots_are_told_apart_by_what_they_do), UNIT(priority_says_who_comes_first),
           UNIT(a_ceiling_and_a_quota_are_told),
           UNIT(a_pool_without_groups_has_no_quota_to_tell_of),
           UNIT(a_concurrency_limit_that_is_used_up_is_told),
           UNIT(a_partitionable_slot_that_would_fit_empty_is_too_full),
           UNIT(a_free_slot_that_the_schedd_avoids_is_not_free_for_the_job),
           UNIT(a_machine_that_wakes_for_the_job_is_named),
           UNIT(a_machine_that_cannot_be_woken_says_why),
           UNIT(an_answer_is_a_line_then_clauses_then_changes),
           UNIT(a_job_that_has_its_place_shows_no_clauses_unless_asked), UNIT(the_ad_says_the_same),
           UNIT(a_slot_tells_which_of_the_waiting_jobs_it_could_run),
           UNIT(a_job_that_waits_for_a_site_says_what_comes_and_what_stops_it),
           UNIT(a_sample_that_is_held_for_others_is_not_waited_for),
           UNIT(sites_without_a_sample_in_the_pool_say_why_when_nothing_matches))
