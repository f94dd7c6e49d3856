/* The story of a machine.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "cli/why/why_node_plan.h"

static const struct ad_context CONTEXT = {.now_s = 1795166147}; /* 11/20/26 09:15:47 UTC */

#define ASLEEP                                                                        \
    "[Name = \"wn01\"; PowerState = \"Off\"; EnteredPowerState = 1795166087;"         \
    " PowerStateReason = \"HIBERNATE is true on every slot\"; PowerMethod = \"wol\";" \
    " WakeDeadline = 95; WakesToday = 1]"
#define AWAKE                                                                                 \
    "[Name = \"wn01\"; PowerState = \"On\"; EnteredPowerState = 1795166087;"                  \
    " PowerStateReason = \"its live ad is there\"; PowerMethod = \"wol\"; WakeDeadline = 95;" \
    " WakesToday = 2]"
#define SLOT(number, more)                                                  \
    "[Name = \"slot" number "@wn01\"; Machine = \"wn01\"; BootId = \"b2\";" \
    " BootTime = 1795166080; State = \"Unclaimed\";" more "]"
#define WAKE                                                                                     \
    "[Kind = \"Wake\"; Machine = \"wn01\"; Outcome = \"Up\"; BootId = \"b2\"; Method = \"wol\";" \
    " StartTime = 1795166060; Seconds = 27.04; Attempts = 1; AskedBy = \"negotiator\";"          \
    " JobsWaiting = 3]"
#define FAILED                                                                      \
    "[Kind = \"Wake\"; Machine = \"wn01\"; Outcome = \"Failed\"; Method = \"wol\";" \
    " StartTime = 1795160000; Attempts = 3; AskedBy = \"alice@pool: a lecture\"]"

struct story {
    struct vec node, slots, records;
    const char *silence;
    struct why_node why;
};

static void add(struct vec *ads, const char *const *texts)
{
    for (; texts != NULL && *texts != NULL; texts++) {
        ads_add(ads, *texts);
    }
}
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static void make(struct story *story, const char *node, const char *const *slots,
                 const char *const *records)
{
    *story = (struct story){.silence = NULL};
    if (node != NULL) {
        ads_add(&story->node, node);
    }
    add(&story->slots, slots);
    add(&story->records, records);
    story->why = (struct why_node){.name = "wn01",
                                   .node = node != NULL ? story->node.items[0] : NULL,
                                   .slots = (const struct ad **)story->slots.items,
                                   .slot_count = story->slots.count,
                                   .records = (const struct ad **)story->records.items,
                                   .record_count = story->records.count};
}

static void drop(struct story *story)
{
    vec_fini(&story->node, ads_destroy_one);
    vec_fini(&story->slots, ads_destroy_one);
    vec_fini(&story->records, ads_destroy_one);
}

static void expect(struct story *story, const char *text)
{
    struct strbuf out;
    strbuf_init(&out, 0);
    why_node_show(&story->why, &CONTEXT, &out);
    drop(story);
    ads_expect(&out, text);
}

static void one_that_sleeps_says_since_when_and_how_it_is_woken(void **state)
{
    (void)state;
    struct story story;
    make(&story, ASLEEP, LIST(SLOT("1", "Offline = true; HIBERNATE = \"S5\"")), NULL);
    expect(&story, "wn01: Off for 0+00:01:00: HIBERNATE is true on every slot.\n"
                   "  Woken by method wol, in at most 95 s; 1 wake in the last 24 hours.\n");
}

static void one_that_jobs_took_back_says_which_and_from_what(void **state)
{
    (void)state;
    struct story story;
    make(&story, "[Name = \"wn01\"; PowerState = \"On\"]",
         LIST(SLOT("1", "Hibernate = \"S5\"; LastReclaimTime = 1795166080;"
                        " LastReclaimReason = \"2 jobs of alice wait; it was drained by cron\"")),
         LIST(WAKE));
    struct ad *ad = why_node_ad(&story.why, &CONTEXT);
    assert_string_equal(ad_string_or(ad, "TakenBack", "?"),
                        "taken back 11/20 09:14: 2 jobs of alice wait; it was drained by cron");
    ad_destroy(ad);
    expect(&story, "wn01: On.\n  Up because: woken 11/20 09:14 by method wol for 3 jobs, 27.0 s "
                   "until the machine joined the pool;\n    taken back 11/20 09:14: 2 jobs of "
                   "alice wait; it was drained by cron.\n  Does not sleep because: no reason is "
                   "known; HIBERNATE is evaluated each HIBERNATE_CHECK_INTERVAL.\n  Cannot be "
                   "woken: no 'node' section describes how.\n\nStart       Machine              "
                   "Kind  Outcome  Seconds Tries Method   AskedBy\n\n11/20 09:14 wn01              "
                   "   Wake  Up          27.0     1 wol      negotiator\n");
}

static void one_that_is_kept_off_says_so(void **state)
{
    (void)state;
    struct story story;
    make(&story, "[Name = \"wn01\"; PowerState = \"Off\"]",
         LIST(SLOT("1", "Offline = true; PowerKeptOff = true")), NULL);
    expect(&story, "wn01: Off.\n"
                   "  The machine stays off until somebody switches the machine on by name.\n"
                   "  Cannot be woken: no 'node' section describes how.\n");
}

static void one_that_its_rule_keeps_asleep_says_so(void **state)
{
    (void)state;
    struct story story;
    make(&story,
         "[Name = \"wn01\"; PowerState = \"Off\"; PowerMethod = \"wol\"; WakeDeadline = 95;"
         " WakeHeldBy = \"its UNHIBERNATE is not true: MatchingIdleJobs = 2\"]",
         LIST(SLOT("1", "Offline = true")), NULL);
    expect(&story,
           "wn01: Off.\n"
           "  The machine is not woken yet: its UNHIBERNATE is not true: MatchingIdleJobs = "
           "2.\n"
           "  Woken by method wol, in at most 95 s; 0 wakes in the last 24 hours.\n");
}

static void one_that_is_up_says_who_woke_it_and_what_keeps_it_up(void **state)
{
    (void)state;
    struct story story;
    make(&story, AWAKE,
         LIST(SLOT("1", "Hibernate = \"S5\""),
              SLOT("2", "Hibernate = ifThenElse(State =?= \"Owner\", 3, 0);"
                        " HibernationHeldBy = \"bob is logged in\"")),
         LIST(FAILED, WAKE));
    expect(
        &story,
        "wn01: On for 0+00:01:00: its live ad is there.\n"
        "  Up because: woken 11/20 09:14 by method wol for 3 jobs, 27.0 s until the machine joined "
        "the pool.\n"
        "  Does not sleep because: HIBERNATE of slot2@wn01 is not true now: ifThenElse(State =?= "
        "\"Owner\",3,0);\n"
        "    held back: bob is logged in.\n"
        "  Woken by method wol, in at most 95 s; 2 wakes in the last 24 hours.\n"
        "\n"
        "Start       Machine              Kind  Outcome  Seconds Tries Method   AskedBy\n"
        "\n"
        "11/20 07:33 wn01                 Wake  Failed               3 wol      alice@pool: a "
        "lecture\n"
        "11/20 09:14 wn01                 Wake  Up          27.0     1 wol      negotiator\n");
}

static void a_claim_or_a_piece_keeps_it_up(void **state)
{
    (void)state;
    struct story story;
    make(&story, AWAKE,
         LIST(SLOT("1", "NumDynamicSlots = 2; Hibernate = \"S5\""),
              "[Name = \"slot2@wn01\"; State = \"Claimed\"; Hibernate = \"S5\"; Draining = true;"
              " DrainReason = \"a new kernel\"]"),
         NULL);
    struct ad *ad = why_node_ad(&story.why, &CONTEXT);
    assert_string_equal(ad_string_or(ad, "MyType", ""), "Why");
    assert_string_equal(ad_string_or(ad, "PowerMethod", ""), "wol");
    assert_string_equal(ad_string_or(ad, "DoesNotSleep", ""),
                        "the machine is draining: a new kernel; 2 of its 2 slots are claimed");
    assert_string_equal(ad_string_or(ad, "UpBecause", ""), "the rooster did not wake the machine");
    ad_destroy(ad);
    drop(&story);
}

static void a_wake_of_another_boot_is_not_why_it_is_up(void **state)
{
    (void)state;
    struct story story;
    make(&story, AWAKE, LIST("[Name = \"slot1@wn01\"; BootId = \"b3\"; BootTime = 1795166080]"),
         LIST(WAKE));
    struct ad *ad = why_node_ad(&story.why, &CONTEXT);
    assert_string_equal(ad_string_or(ad, "UpBecause", ""),
                        "the rooster did not wake the machine; the machine booted 11/20 09:14");
    ad_destroy(ad);
    drop(&story);
}

static void without_a_rooster_its_own_ads_speak(void **state)
{
    (void)state;
    struct story story;
    make(&story, NULL, LIST(SLOT("1", "Hibernate = \"S3\"")), NULL);
    story.why.silence = "the pool has no rooster now";
    expect(
        &story,
        "wn01: On.\n  Up because: the cause of the last start is not known; the machine booted "
        "11/20 09:14.\n  Does not sleep because: no reason is known; HIBERNATE is evaluated each "
        "HIBERNATE_CHECK_INTERVAL.\n  The rooster cannot be asked: the pool has no rooster now\n");
    make(&story, NULL, NULL, NULL);
    expect(&story, "wn01: unknown to the collector and to the rooster.\n");
}

static void many_slots_that_do_not_agree_are_counted(void **state)
{
    (void)state;
    struct story story;
    make(&story, AWAKE,
         LIST(SLOT("1", ""), SLOT("2", "Hibernate = \"NONE\""), SLOT("3", "Hibernate = 0"),
              SLOT("4", "Hibernate = false"), SLOT("5", "Hibernate = NoSuch")),
         NULL);
    struct ad *ad = why_node_ad(&story.why, &CONTEXT);
    const char *why = ad_string_or(ad, "DoesNotSleep", "");
    assert_non_null(strstr(why, "HIBERNATE of slot1@wn01 is not true now: not set; "));
    assert_non_null(strstr(why, "HIBERNATE of slot3@wn01 is not true now: 0; "));
    assert_null(strstr(why, "slot4"));
    assert_non_null(strstr(why, "nor is HIBERNATE of 2 more slots"));
    ad_destroy(ad);
    drop(&story);
}

UNIT_TESTS(UNIT(one_that_sleeps_says_since_when_and_how_it_is_woken),
           UNIT(one_that_jobs_took_back_says_which_and_from_what),
           UNIT(one_that_is_kept_off_says_so), UNIT(one_that_its_rule_keeps_asleep_says_so),
           UNIT(one_that_is_up_says_who_woke_it_and_what_keeps_it_up),
           UNIT(a_claim_or_a_piece_keeps_it_up), UNIT(a_wake_of_another_boot_is_not_why_it_is_up),
           UNIT(without_a_rooster_its_own_ads_speak),
           UNIT(many_slots_that_do_not_agree_are_counted))
