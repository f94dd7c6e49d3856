/* A negotiator that takes machines back from their way down: a real collector, startds and a schedd
 * that the test plays.
 *
 * LINK: negotiator collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "base/strmap.h"
#include "offline_ads/offline_holds.h"
#include "tests/support/negotiator_bed.h"

struct rig {
    struct bed *bed;
    struct negotiator_bed own;
    struct negotiator *negotiator; /* its state */
    struct client *startd, *schedd;
    int64_t cycles; /* to be waited for */
};

struct played { /* what startds and schedds that the test plays were asked */
    int reclaims, matches;
    int64_t jobs;
    char reason[300], slot[100];
    int status;                   /* their answer to POWER_RECLAIM */
    bool keep;                    /* not yet */
    struct wire_request *request; /* that waits for it */
};
static struct played *played(void)
{
    static _Thread_local struct played all;
    return &all;
}

static void answer_now(void)
{
    struct wire_request *request = played()->request;
    played()->request = NULL;
    if (played()->status != 0) {
        wire_reply_error(request, played()->status, "it says no");
    } else {
        wire_reply_ok(request, NULL);
    }
}

static void nobody(void *arg)
{
    (void)arg;
    played()->request = NULL;
}

static void asked(void *arg, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    struct played *all = played();
    (void)arg;
    if (wire_request_verb(request) == VERB_MATCH) {
        all->matches++;
        (void)snprintf(all->slot, sizeof all->slot, "%s", ad_string_or(args, "SlotName", ""));
        wire_reply_ok(request, NULL);
        return;
    }
    if (wire_request_verb(request) != VERB_POWER_RECLAIM) {
        wire_reply_ok(request, NULL); /* NO_MATCH */
        return;
    }
    all->reclaims++;
    all->jobs = ad_int_or(args, "Jobs", -1);
    (void)snprintf(all->reason, sizeof all->reason, "%s", ad_string_or(args, "Reason", ""));
    all->request = request;
    if (all->keep) {
        wire_request_on_gone(request, nobody, NULL);
    } else {
        answer_now();
    }
}

/* ---- the rig */

#define until(rig, holds)                                                                  \
    LOOP_RIG_UNTIL((rig)->bed->loop, holds(rig), "%d asked, for %lld", played()->reclaims, \
                   (long long)played()->jobs)

static int setup(void **state)
{
    struct rig *rig = mem_zalloc(sizeof *rig);
    struct bed *bed = rig->bed = bed_create("");
    *played() = (struct played){0};
    bed_start(bed);
    bed_find_address(bed);
    rig->schedd = client_dial(bed, SCOPE_SCHEDD | SCOPE_ADVERTISE, "", "schedd/s", asked);
    negotiator_bed_start(&rig->own, bed);
    rig->negotiator = rig->own.negotiator;
    *state = rig;
    return 0;
}

static int teardown(void **state)
{
    struct rig *rig = *state;
    daemon_rig_fini(&rig->own.daemon);
    bed_destroy(rig->bed);
    mem_free(rig);
    return 0;
}

static void tell(struct client *client, const char *ad)
{
    const char *const ads[] = {ad, NULL};
    struct answer answer;
    if (client_call(client, VERB_UPDATE, "[Full = true]", ads, &answer) != 0) {
        fail_msg("%s: %s", ad, answer.text);
    }
    answer_fini(&answer);
}

static void machine_shows(struct rig *rig, const char *machine, const char *more)
{
    char ad[700];
    (void)snprintf(ad, sizeof ad,
                   "[ MyType = \"Machine\"; Name = \"slot1@%s\"; Machine = \"%s\";"
                   " StartdUplink = \"startd/%s\"; Requirements = Start; Cpus = 1; Memory = 100;"
                   " Disk = 100; %s ]",
                   machine, machine, machine, more);
    tell(rig->startd, ad);
}

#define DRAINED(start)                                                                           \
    "BootId = \"b1\"; State = \"Drained\"; Activity = \"Idle\"; Start = false; Draining = true;" \
    " PowerState = \"Draining\"; DrainingReclaimable = true; ReclaimStart = " start

/* A machine with an uplink that is drained, and one that sleeps. */
static void begin(struct rig *rig, const char *first)
{
    rig->startd = client_dial(rig->bed, SCOPE_ADVERTISE, "", "startd/wn01", asked);
    machine_shows(rig, "wn01", first);
    machine_shows(rig, "wn00",
                  "Offline = true; OfflineBootId = \"b1\"; ClassAdLifetime = 86400;"
                  " PowerState = \"Off\"; State = \"Unclaimed\"; Start = true");
}

static void jobs_wait(struct rig *rig, int count)
{
    char ad[500];
    (void)snprintf(ad, sizeof ad,
                   "[ MyType = \"Request\"; Name = \"s#3\"; ScheddName = \"s\"; AutoClusterId = 3;"
                   " ScheddUplink = \"schedd/s\"; User = \"alice@pool\"; Owner = \"alice\";"
                   " JobCount = %d; Requirements = true; RequestCpus = 1; RequestMemory = 1;"
                   " RequestDisk = 1 ]",
                   count);
    tell(rig->schedd, ad);
}

static int64_t held(const struct rig *rig, const char *slot)
{
    const struct pool_slot *found = strmap_get(rig->negotiator->slots, slot);
    return found != NULL ? offline_holds_total(found->holds) : 0;
}

static bool is_asked(struct rig *rig)
{
    (void)rig;
    return played()->reclaims == 1;
}
static bool other_is_held(struct rig *rig)
{
    return held(rig, "slot1@wn00") > 0;
}
static bool first_is_held(struct rig *rig)
{
    return held(rig, "slot1@wn01") > 0;
}
static bool is_matched(struct rig *rig)
{
    (void)rig;
    return played()->matches == 1;
}
static bool cycles_have_passed(struct rig *rig)
{
    negotiator_cycle_soon(rig->negotiator);
    return rig->negotiator->counts.cycles >= rig->cycles;
}

static void let_cycles_pass(struct rig *rig)
{
    rig->cycles = rig->negotiator->counts.cycles + 5;
    until(rig, cycles_have_passed);
}

/* ---- tests */

static void jobs_take_a_machine_back_and_none_is_woken(void **state)
{
    struct rig *rig = *state;
    begin(rig, DRAINED("true"));
    jobs_wait(rig, 1);
    until(rig, is_asked);
    assert_int_equal(played()->jobs, 1);
    assert_string_equal(played()->reason, "1 job of alice@pool (autocluster 3 of s) waits");
    let_cycles_pass(
        rig); /* its ads are not there yet: the job is held on it, and it is not asked */
    assert_int_equal(played()->reclaims, 1);
    assert_int_equal(held(rig, "slot1@wn00"), 0);
    machine_shows(rig, "wn01",
                  "BootId = \"b1\"; State = \"Unclaimed\"; Activity = \"Idle\"; Start = true;"
                  " ClaimId = \"<1>#2#3\"");
    until(rig, is_matched);
    assert_string_equal(played()->slot, "slot1@wn01");
    jobs_wait(rig, 0); /* as a schedd says that it has it */
    let_cycles_pass(rig);
    assert_int_equal(held(rig, "slot1@wn00"), 0);
    assert_int_equal(played()->reclaims, 1);
}

static void what_it_has_no_room_for_is_held_on_a_sleeping_one(void **state)
{
    struct rig *rig = *state;
    begin(rig,
          DRAINED("true") "; PartitionableSlot = true; Cpus = 2; Memory = 4000; Disk = 4000000");
    jobs_wait(rig, 3);
    until(rig, is_asked);
    assert_int_equal(played()->jobs, 2);
    assert_string_equal(played()->reason, "2 jobs of alice@pool (autocluster 3 of s) wait");
    until(rig, other_is_held);
    let_cycles_pass(rig);
    assert_int_equal(held(rig, "slot1@wn00"), 1);
    assert_int_equal(played()->reclaims, 1);
}

static void one_that_refuses_is_left_alone_and_its_jobs_wake_another(void **state)
{
    struct rig *rig = *state;
    played()->status = -EPERM;
    begin(rig, DRAINED("true"));
    jobs_wait(rig, 1);
    until(rig, is_asked);
    until(rig, other_is_held);
    let_cycles_pass(rig);
    assert_int_equal(played()->reclaims, 1);
    assert_int_equal(held(rig, "slot1@wn00"), 1);
}

static void one_that_is_gone_is_left_alone_too(void **state)
{
    struct rig *rig = *state;
    begin(rig, DRAINED("true"));
    machine_shows(rig, "wn01", DRAINED("true") "; StartdUplink = \"startd/elsewhere\"");
    jobs_wait(rig, 1);
    until(rig, other_is_held);
    assert_int_equal(played()->reclaims, 0);
}

static void only_what_would_run_them_is_taken_back(void **state)
{
    struct rig *rig = *state;
    begin(rig, DRAINED("TARGET.Owner == \"bob\""));
    jobs_wait(rig, 1);
    until(rig, other_is_held);
    assert_int_equal(played()->reclaims, 0);
}

static void a_slot_that_still_runs_a_job_is_of_no_use(void **state)
{
    struct rig *rig = *state;
    begin(rig, DRAINED("true") "; State = \"Claimed\"; Activity = \"Retiring\"");
    jobs_wait(rig, 1);
    until(rig, other_is_held);
    assert_int_equal(played()->reclaims, 0);
}

static void what_somebody_drains_for_good_is_not_asked(void **state)
{
    struct rig *rig = *state;
    begin(rig, "BootId = \"b1\"; State = \"Drained\"; Start = false; Draining = true");
    jobs_wait(rig, 1);
    until(rig, other_is_held);
    assert_int_equal(played()->reclaims, 0);
}

static void jobs_that_are_gone_meanwhile_hold_nothing(void **state)
{
    struct rig *rig = *state;
    played()->keep = true;
    begin(rig, DRAINED("true"));
    jobs_wait(rig, 1);
    until(rig, is_asked);
    jobs_wait(rig, 0);
    let_cycles_pass(rig);
    answer_now();
    let_cycles_pass(rig);
    const struct pool_slot *slot = strmap_get(rig->negotiator->slots, "slot1@wn01");
    assert_int_equal(offline_holds_total(slot->pending), 0);
    jobs_wait(rig, 1); /* others come: it still drains, and is asked anew */
    let_cycles_pass(rig);
    assert_int_equal(played()->reclaims, 2);
    assert_int_equal(held(rig, "slot1@wn00"), 0);
    answer_now();
    let_cycles_pass(rig);
}

/* It went down while it was asked: its offline ads say so, whatever its answer was. */
static void one_that_sleeps_before_it_answers_sleeps_like_any(void **state)
{
    struct rig *rig = *state;
    played()->keep = true;
    begin(rig, DRAINED("true"));
    jobs_wait(rig, 1);
    until(rig, is_asked);
    machine_shows(rig, "wn01",
                  "Offline = true; OfflineBootId = \"b1\"; ClassAdLifetime = 86400;"
                  " PowerState = \"Off\"; State = \"Unclaimed\"; Start = true");
    let_cycles_pass(rig);
    played()->status = -EALREADY;
    answer_now();
    until(rig, other_is_held);
    assert_int_equal(played()->reclaims, 1);
}

static void a_machine_that_is_not_down_yet_is_held_before_one_that_is(void **state)
{
    struct rig *rig = *state;
    begin(rig, "Offline = true; OfflineBootId = \"b1\"; ClassAdLifetime = 86400;"
               " PowerState = \"Off\"; State = \"Unclaimed\"; Start = true;"
               " PowerReclaimUntil = 4000000000");
    jobs_wait(rig, 1);
    until(rig, first_is_held);
    assert_int_equal(held(rig, "slot1@wn00"), 0);
    assert_int_equal(played()->reclaims, 0); /* that is the rooster's to ask */
}

static void one_whose_time_is_over_comes_in_the_order_of_names(void **state)
{
    struct rig *rig = *state;
    begin(rig, "Offline = true; OfflineBootId = \"b1\"; ClassAdLifetime = 86400;"
               " PowerState = \"Off\"; State = \"Unclaimed\"; Start = true;"
               " PowerReclaimUntil = 1000");
    jobs_wait(rig, 1);
    until(rig, other_is_held);
    assert_int_equal(held(rig, "slot1@wn01"), 0);
}

#define RIG(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(RIG(jobs_take_a_machine_back_and_none_is_woken),
           RIG(what_it_has_no_room_for_is_held_on_a_sleeping_one),
           RIG(one_that_refuses_is_left_alone_and_its_jobs_wake_another),
           RIG(one_that_is_gone_is_left_alone_too), RIG(only_what_would_run_them_is_taken_back),
           RIG(a_slot_that_still_runs_a_job_is_of_no_use),
           RIG(what_somebody_drains_for_good_is_not_asked),
           RIG(jobs_that_are_gone_meanwhile_hold_nothing),
           RIG(one_that_sleeps_before_it_answers_sleeps_like_any),
           RIG(a_machine_that_is_not_down_yet_is_held_before_one_that_is),
           RIG(one_whose_time_is_over_comes_in_the_order_of_names))
