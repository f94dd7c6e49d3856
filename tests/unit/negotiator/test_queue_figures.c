/* POOL_FIGURES: a real negotiator and collector tell a machine, and the rooster, how many jobs
 * wait; and the rules of sleeping machines (wake_rules.c) decide for which of them jobs wait.
 *
 * LINK: negotiator collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "base/strmap.h"
#include "negotiator/negotiator.h"
#include "offline_ads/offline_holds.h"
#include "tests/support/collector_bed.h"

struct rig {
    struct bed *bed;
    char config_text[1024];
    struct daemon_rig daemon;
    struct negotiator *negotiator;
    struct client *startd, *rooster;
};

#define until(rig, holds) LOOP_RIG_UNTIL((rig)->bed->loop, holds(rig), "")

static void take(void *arg, struct wire_request *request)
{
    (void)arg;
    wire_reply_ok(request, NULL);
}

static void start(struct rig *rig)
{
    const struct bed *bed = rig->bed;
    (void)snprintf(rig->config_text, sizeof rig->config_text,
                   "LOCAL_DIR = \"%s\"\nSPOOL = \"%s\"\nSEC_DIRECTORY = \"%s\"\n"
                   "TOKEN_FILE = \"%s/negotiator.token\"\nCOLLECTOR_HOST = \"%s\"\n",
                   bed->dir, bed->dir, bed->dir, bed->dir, bed->tcp + 4);
    daemon_rig_load(&rig->daemon, &negotiator_daemon, rig->config_text);
    rig->negotiator = daemon_rig_start(&rig->daemon, bed->loop, bed->os, bed->log);
}

static bool is_ready(struct rig *rig)
{
    return rig->negotiator->lease.leads && rig->negotiator->counts.cycles > 0 &&
           strmap_count(rig->negotiator->slots) == 2 &&
           strmap_count(rig->negotiator->requests) == 2 &&
           !loop_timer_is_set(rig->negotiator->cycle.timer);
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

static int setup(void **state)
{
    struct rig *rig = mem_zalloc(sizeof *rig);
    struct bed *bed = rig->bed = bed_create("");
    char ad[600];
    bed_start(bed);
    bed_find_address(bed);
    struct client *token =
        client_dial(bed, SCOPE_READ | SCOPE_NEGOTIATOR | SCOPE_ADVERTISE, "", NULL, NULL);
    client_give_token(token, "negotiator.token");
    struct client *schedd = client_dial(bed, SCOPE_SCHEDD | SCOPE_ADVERTISE, "", "schedd/s", take);
    rig->startd = client_dial(bed, SCOPE_ADVERTISE, "wn0*", "startd/wn01", take);
    rig->rooster = client_dial(bed, SCOPE_ROOSTER, "", "rooster/r", take);
    for (int i = 1; i <= 2; i++) {
        (void)snprintf(ad, sizeof ad,
                       "[ MyType = \"Machine\"; Name = \"slot1@wn0%d\"; Machine = \"wn0%d\";"
                       " State = \"Unclaimed\"; Requirements = true; Memory = %d ]",
                       i, i, i * 100);
        tell(rig->startd, ad);
    }
    for (int i = 1; i <= 2; i++) {
        (void)
            snprintf(ad, sizeof ad,
                     "[ MyType = \"Request\"; Name = \"s#%d\"; ScheddName = \"s\"; AutoClusterId ="
                     " %d; ScheddUplink = \"schedd/s\"; User = \"alice@pool\"; Owner = \"alice\";"
                     " JobCount = %d; QDate = %lld; Requirements = TARGET.Memory >= %d ]",
                     i, i, i * 10, (long long)loop_wall_s(bed->loop) - i * 1000, i * 100);
        tell(schedd, ad);
    }
    start(rig);
    until(rig, is_ready);
    *state = rig;
    return 0;
}

static int teardown(void **state)
{
    struct rig *rig = *state;
    daemon_rig_fini(&rig->daemon);
    bed_destroy(rig->bed);
    mem_free(rig);
    return 0;
}

static int ask(struct client *client, const char *args, struct answer *ret)
{
    assert_true(
        answer_ask_text(ret, client->wire, "negotiator/", VERB_POOL_FIGURES, args, NULL, NULL) > 0);
    loop_rig_await(client->bed->loop, &ret->over, NULL);
    return ret->status;
}

static int64_t of_first(const struct answer *answer, const char *name)
{
    return answer->ads.count > 0 ? ad_int_or(answer->ads.items[0], name, -1) : -1;
}

static void a_machine_is_told_about_itself_and_the_pool(void **state)
{
    struct rig *rig = *state;
    struct answer answer;
    assert_int_equal(ask(rig->startd, "[Machines = {\"wn01\"}]", &answer), 0);
    assert_int_equal(ad_int_or(answer.args, "PoolIdleJobs", -1), 30);
    assert_in_range(ad_int_or(answer.args, "PoolIdleJobsWait", -1), 2000, 2100);
    assert_int_equal(answer.ads.count, 1);
    assert_int_equal(of_first(&answer, "MatchingIdleJobs"), 10);
    assert_in_range(of_first(&answer, "MatchingIdleJobsWait"), 1000, 1100);
    assert_int_equal(ad_count(answer.ads.items[0]), 3); /* and nothing of whose jobs they are */
    assert_int_equal(ad_count(answer.args), 2);
    answer_fini(&answer);
    assert_int_equal(ask(rig->startd, "[Machines = {}]", &answer), 0);
    assert_int_equal(answer.ads.count, 0);
    answer_fini(&answer);
}

static void a_machine_may_not_ask_about_others_or_about_many(void **state)
{
    struct rig *rig = *state;
    struct answer answer;
    assert_int_equal(ask(rig->startd, "[Machines = {\"pc01\"}]", &answer), -EACCES);
    answer_fini(&answer);
    assert_int_equal(ask(rig->startd, "[Machines = {\"wn01\", \"wn02\"}]", &answer), -EINVAL);
    answer_fini(&answer);
    assert_int_equal(ask(rig->startd, "[Machines = 7]", &answer), -EINVAL);
    answer_fini(&answer);
    assert_int_equal(ask(rig->startd, "[Machines = {7}]", &answer), -EINVAL);
    answer_fini(&answer);
}

static void the_rooster_is_told_about_many(void **state)
{
    struct rig *rig = *state;
    struct answer answer;
    assert_int_equal(ask(rig->rooster, "[Machines = {\"pc01\", \"wn02\", \"wn01\"}]", &answer), 0);
    assert_int_equal(answer.ads.count, 2); /* one is not known */
    assert_int_equal(of_first(&answer, "MatchingIdleJobs"), 30);
    answer_fini(&answer);
}

static void one_that_does_not_lead_says_that_it_does_not_know(void **state)
{
    struct rig *rig = *state;
    struct answer answer;
    rig->negotiator->lease.leads = false;
    assert_int_equal(ask(rig->startd, "[Machines = {\"wn01\"}]", &answer), -EAGAIN);
    answer_fini(&answer);
}

/* ---- rules of sleeping machines */

static void sleeps(struct rig *rig, const char *machine, const char *unhibernate)
{
    char ad[600];
    (void)snprintf(ad, sizeof ad,
                   "[ MyType = \"Machine\"; Name = \"slot1@%s\"; Machine = \"%s\";"
                   " Offline = true; OfflineBootId = \"b1\"; ClassAdLifetime = 86400;"
                   " PowerState = \"Off\"; State = \"Unclaimed\";"
                   " Requirements = TARGET.Owner == \"bob\";"
                   " Memory = 1000; ClockMin = 5000; Unhibernate = %s ]",
                   machine, machine, unhibernate);
    tell(rig->startd, ad);
}

static int64_t held(const struct rig *rig, const char *name)
{
    const struct pool_slot *slot = strmap_get(rig->negotiator->slots, name);
    return slot != NULL ? offline_holds_total(slot->holds) : 0;
}

static bool first_is_unwilling(struct rig *rig)
{
    const struct pool_slot *slot = strmap_get(rig->negotiator->slots, "slot1@wn08");
    return slot != NULL && slot->unwilling;
}
static bool both_are_held(struct rig *rig)
{
    return held(rig, "slot1@wn08") > 0 && held(rig, "slot1@wn09") > 0;
}
static bool only_second_is_held(struct rig *rig)
{
    return held(rig, "slot1@wn08") == 0 && held(rig, "slot1@wn09") > 0;
}

static void jobs_wait(struct client *schedd, int count)
{
    char ad[500];
    (void)snprintf(ad, sizeof ad,
                   "[ MyType = \"Request\"; Name = \"t#7\"; ScheddName = \"t\"; AutoClusterId = 7;"
                   " ScheddUplink = \"schedd/t\"; User = \"bob@pool\"; Owner = \"bob\";"
                   " JobCount = %d; Requirements = TARGET.Memory >= 1000 ]",
                   count);
    tell(schedd, ad);
}

static void jobs_wait_for_a_machine_that_may_be_woken_now(void **state)
{
    struct rig *rig = *state;
    struct client *schedd =
        client_dial(rig->bed, SCOPE_SCHEDD | SCOPE_ADVERTISE, "", "schedd/t", take);
    jobs_wait(schedd, 1);
    sleeps(rig, "wn08", "MachineLastMatchTime =!= undefined && MatchingIdleJobs >= 50");
    sleeps(rig, "wn09", "MachineLastMatchTime =!= undefined && ClockMin < 1440");
    until(rig, first_is_unwilling);
    until(rig, only_second_is_held);
    assert_false(
        ((const struct pool_slot *)strmap_get(rig->negotiator->slots, "slot1@wn09"))->unwilling);
    jobs_wait(schedd, 2); /* nobody else is left */
    until(rig, both_are_held);
}

#define FIGURES(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(FIGURES(a_machine_is_told_about_itself_and_the_pool),
           FIGURES(a_machine_may_not_ask_about_others_or_about_many),
           FIGURES(the_rooster_is_told_about_many),
           FIGURES(one_that_does_not_lead_says_that_it_does_not_know),
           FIGURES(jobs_wait_for_a_machine_that_may_be_woken_now))
