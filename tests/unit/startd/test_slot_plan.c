/* What a slot may do: its moves, what it accepts, how it votes on sleep.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <stdbool.h>

#include "base/err.h"
#include "classad/ad.h"
#include "startd/slot/slot_plan.h"

#define STATES     6
#define ACTIVITIES 6

static const struct ad_context NOW = {.now_s = 1764000000};

/* Every legal move, as a policy's author would write it down: from, and where one may go. */
static const char *const LEGAL[][2] = {
    {"Owner/Idle", "Unclaimed/Idle Drained/Retiring"},
    {"Unclaimed/Idle", "Owner/Idle Matched/Idle Claimed/Idle Claimed/Busy Drained/Retiring"},
    {"Matched/Idle", "Owner/Idle Unclaimed/Idle Claimed/Idle"},
    {"Claimed/Idle", "Claimed/Busy Preempting/Vacating Owner/Idle Unclaimed/Idle"},
    {"Claimed/Busy", "Claimed/Idle Claimed/Suspended Claimed/Retiring Preempting/Vacating "
                     "Preempting/Killing Owner/Idle Unclaimed/Idle"},
    {"Claimed/Suspended", "Claimed/Idle Claimed/Busy Claimed/Retiring Preempting/Vacating "
                          "Preempting/Killing Owner/Idle Unclaimed/Idle"},
    {"Claimed/Retiring", "Claimed/Idle Claimed/Busy Claimed/Suspended Preempting/Vacating "
                         "Preempting/Killing Owner/Idle Unclaimed/Idle"},
    {"Preempting/Vacating", "Preempting/Killing Matched/Idle Owner/Idle Unclaimed/Idle"},
    {"Preempting/Killing", "Matched/Idle Owner/Idle Unclaimed/Idle"},
    {"Drained/Retiring", "Drained/Idle Owner/Idle Unclaimed/Idle"},
    {"Drained/Idle", "Owner/Idle Unclaimed/Idle"},
};

static void place(int state, int activity, char ret[32])
{
    (void)snprintf(ret, 32, "%s/%s", slot_state_name((enum slot_state)state),
                   slot_activity_name((enum slot_activity)activity));
}

static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strstr(list, word); at != NULL; at = strstr(at + 1, word)) {
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

static bool is_legal(const char *from, const char *to)
{
    for (size_t i = 0; i < sizeof LEGAL / sizeof LEGAL[0]; i++) {
        if (strcmp(LEGAL[i][0], from) == 0) {
            return has_word(LEGAL[i][1], to);
        }
    }
    return false;
}

static void the_legal_moves_are_those_of_the_manual_and_no_others(void **state)
{
    (void)state;
    for (int i = 0; i < STATES * ACTIVITIES * STATES * ACTIVITIES; i++) {
        int to_activity = i % ACTIVITIES, to = i / ACTIVITIES % STATES;
        int from_activity = i / ACTIVITIES / STATES % ACTIVITIES;
        int from = i / ACTIVITIES / STATES / ACTIVITIES;
        char here[32], there[32];
        place(from, from_activity, here);
        place(to, to_activity, there);
        bool may = slot_plan_may_move((enum slot_state)from, (enum slot_activity)from_activity,
                                      (enum slot_state)to, (enum slot_activity)to_activity);
        if (may != is_legal(here, there)) {
            fail_msg("%s -> %s is %s", here, there, may ? "allowed" : "refused");
        }
    }
}

static struct ad *parse(const char *text)
{
    struct ad *ad = NULL;
    struct err err = {{0}};
    if (ad_parse(text, strlen(text), &ad, &err) != 0) {
        fail_msg("%s: %s", text, err.text);
    }
    return ad;
}

static int accepts(const char *slot_text, const char *job_text, struct err *err)
{
    struct ad *slot = parse(slot_text), *job = parse(job_text);
    int rc = slot_plan_accepts(slot, job, &NOW, err);
    ad_destroy(slot);
    ad_destroy(job);
    return rc;
}

static void a_job_and_a_slot_that_want_each_other_are_accepted(void **state)
{
    (void)state;
    assert_int_equal(accepts("[Requirements = Start; Start = TARGET.Owner == \"ann\"; Memory = 10]",
                             "[Owner = \"ann\"; Requirements = TARGET.Memory >= 10]", NULL),
                     0);
}

static void a_refusal_names_the_side_and_its_expression(void **state)
{
    (void)state;
    struct err err = {{0}};
    assert_int_equal(accepts("[Requirements = TARGET.Owner == \"bob\"]",
                             "[Owner = \"ann\"; Requirements = true]", &err),
                     -ENOTSUP);
    assert_non_null(strstr(err.text, "slot (START)"));
    assert_non_null(strstr(err.text, "\"bob\""));
    assert_int_equal(accepts("[Requirements = true; Memory = 5]",
                             "[Requirements = TARGET.Memory > 7]", &err),
                     -ENOTSUP);
    assert_non_null(strstr(err.text, "of the job"));
    assert_non_null(strstr(err.text, "Memory > 7"));
    assert_int_equal(accepts("[Requirements = true]", "[Requirements = TARGET.Nothing > 7]", NULL),
                     -ENOTSUP); /* undefined is not true */
}

static void the_slot_is_asked_before_the_job(void **state)
{
    (void)state;
    struct err err = {{0}};
    assert_int_equal(accepts("[Requirements = false]", "[Requirements = false]", &err), -ENOTSUP);
    assert_non_null(strstr(err.text, "slot (START)"));
}

static enum slot_state rest(const char *text)
{
    struct ad *ad = parse(text);
    enum slot_state state = slot_plan_rest(ad, &NOW);
    ad_destroy(ad);
    return state;
}

static void a_slot_rests_with_its_owner_only_when_no_job_could_start(void **state)
{
    (void)state;
    assert_int_equal(rest("[Start = false]"), SLOT_OWNER);
    assert_int_equal(rest("[Start = KeyboardIdle > 60; KeyboardIdle = 5]"), SLOT_OWNER);
    assert_int_equal(rest("[Start = true]"), SLOT_UNCLAIMED);
    assert_int_equal(rest("[Start = TARGET.Owner == \"ann\"]"), SLOT_UNCLAIMED);
    assert_int_equal(rest("[Start = KeyboardIdle > 60 && Owner == \"ann\"; KeyboardIdle = 5]"),
                     SLOT_OWNER);
    assert_int_equal(rest("[x = 1]"), SLOT_UNCLAIMED);
    /* False without a job, but not with any: */
    assert_int_equal(rest("[Start = TARGET.WantIt =?= true]"), SLOT_UNCLAIMED);
    assert_int_equal(rest("[Start = Mine && Theirs; Mine = KeyboardIdle > 60; KeyboardIdle = 90; "
                          "Theirs = TARGET.WantIt =?= true]"),
                     SLOT_UNCLAIMED);
    assert_int_equal(rest("[Start = Mine && Theirs; Mine = KeyboardIdle > 60; KeyboardIdle = 5; "
                          "Theirs = TARGET.WantIt =?= true]"),
                     SLOT_OWNER);
}

static int vote(const char *text)
{
    struct ad *ad = parse("[State = \"Unclaimed\"; Idle = 700]");
    struct ad_expr *expr = NULL;
    assert_int_equal(ad_expr_parse(text, strlen(text), AD_NEW, &expr, NULL), 0);
    int level = slot_plan_sleep_vote(expr, ad, &NOW);
    ad_expr_destroy(expr);
    ad_destroy(ad);
    return level;
}

static void every_name_of_a_level_is_known_in_any_case(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int level;
    } VOTES[] = {{"\"NONE\"", 0},
                 {"\"S1\"", 1},
                 {"\"standby\"", 1},
                 {"\"Sleep\"", 1},
                 {"\"S2\"", 2},
                 {"\"S3\"", 3},
                 {"\"RAM\"", 3},
                 {"\"mem\"", 3},
                 {"\"SUSPEND\"", 3},
                 {"\"S4\"", 4},
                 {"\"disk\"", 4},
                 {"\"HIBERNATE\"", 4},
                 {"\"S5\"", 5},
                 {"\"SHUTDOWN\"", 5},
                 {"\"Off\"", 5},
                 {"0", 0},
                 {"1", 1},
                 {"5", 5},
                 {"Idle > 600 ? 5 : 0", 5},
                 {"ifThenElse(State == \"Unclaimed\", \"S3\", \"NONE\")", 3}};
    for (size_t i = 0; i < sizeof VOTES / sizeof VOTES[0]; i++) {
        if (vote(VOTES[i].text) != VOTES[i].level) {
            fail_msg("%s is %d", VOTES[i].text, vote(VOTES[i].text));
        }
    }
}

static void in_doubt_a_machine_stays_up(void **state)
{
    (void)state;
    static const char *const DOUBTS[] = {"undefined", "error", "Nothing", "6",   "-1",    "\"S6\"",
                                         "\"\"",      "true",  "3.0",     "{5}", "1 / 0", "\"S\""};
    for (size_t i = 0; i < sizeof DOUBTS / sizeof DOUBTS[0]; i++) {
        if (vote(DOUBTS[i]) > 0) {
            fail_msg("%s is %d", DOUBTS[i], vote(DOUBTS[i]));
        }
    }
}

static void what_is_undefined_is_undecided_and_a_veto_decides(void **state)
{
    (void)state;
    assert_int_equal(vote("Nothing"), SLOT_PLAN_UNDECIDED);
    assert_int_equal(vote("ifThenElse(Nothing < 5, \"S3\", \"NONE\")"), SLOT_PLAN_UNDECIDED);
    assert_int_equal(vote("ifThenElse(false && Nothing < 5, \"S3\", \"NONE\")"), 0);
    assert_int_equal(vote("error"), 0);
    assert_int_equal(slot_plan_sleep_level((const int[]){3, SLOT_PLAN_UNDECIDED}, 2),
                     SLOT_PLAN_UNDECIDED);
    assert_int_equal(slot_plan_sleep_level((const int[]){SLOT_PLAN_UNDECIDED, 5}, 2),
                     SLOT_PLAN_UNDECIDED);
    assert_int_equal(slot_plan_sleep_level((const int[]){SLOT_PLAN_UNDECIDED, 0}, 2), 0);
}

static void one_veto_keeps_the_machine_up_and_the_deepest_vote_wins(void **state)
{
    (void)state;
    assert_int_equal(slot_plan_sleep_level((const int[]){3, 5, 1}, 3), 5);
    assert_int_equal(slot_plan_sleep_level((const int[]){5, 3, 0}, 3), 0);
    assert_int_equal(slot_plan_sleep_level((const int[]){0, 5}, 2), 0);
    assert_int_equal(slot_plan_sleep_level((const int[]){2}, 1), 2);
    assert_int_equal(slot_plan_sleep_level(NULL, 0), 0);
    static const char *const NAMES[] = {"NONE", "S1", "S2", "S3", "S4", "S5"};
    for (int i = 0; i <= 5; i++) {
        assert_string_equal(slot_plan_level_name(i), NAMES[i]);
    }
}

static void a_lease_is_over_at_its_end_and_not_before(void **state)
{
    (void)state;
    assert_false(slot_plan_lease_is_over(999, 1000));
    assert_true(slot_plan_lease_is_over(1000, 1000));
    assert_true(slot_plan_lease_is_over(1001, 1000));
    assert_true(slot_plan_lease_is_over(5, 0));
}

static void a_job_id_is_two_numbers_and_nothing_that_leads_elsewhere(void **state)
{
    (void)state;
    static const char *const GOOD[] = {"1.0", "12.345", "1234567890123456789.0"};
    static const char *const BAD[] = {"",
                                      "1",
                                      "1.",
                                      ".1",
                                      "1.2.3",
                                      "1.2 ",
                                      " 1.2",
                                      "-1.2",
                                      "1.x",
                                      "/../../etc/1.0",
                                      "1.0/../../etc",
                                      "12345678901234567890.0",
                                      "1.12345678901234567890"};
    for (size_t i = 0; i < sizeof GOOD / sizeof GOOD[0]; i++) {
        assert_true(slot_plan_is_job_id(GOOD[i]));
    }
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        assert_false(slot_plan_is_job_id(BAD[i]));
    }
}

static int64_t retirement(const char *slot_text, const char *job_text, int64_t run_s)
{
    struct ad *slot = parse(slot_text), *job = parse(job_text);
    int64_t left_s = slot_plan_retirement_s(slot, job, run_s, &NOW);
    ad_destroy(slot);
    ad_destroy(job);
    return left_s;
}

static void a_job_retires_until_it_has_run_as_long_as_the_machine_grants(void **state)
{
    (void)state;
    assert_int_equal(retirement("[MaxJobRetirementTime = 600]", "[x = 1]", 0), 600);
    assert_int_equal(retirement("[MaxJobRetirementTime = 600]", "[x = 1]", 599), 1);
    assert_int_equal(retirement("[MaxJobRetirementTime = 600]", "[x = 1]", 600), 0);
    assert_int_equal(retirement("[MaxJobRetirementTime = 600]", "[x = 1]", 9999), 0);
    assert_int_equal(retirement("[MaxJobRetirementTime = 600]", "[x = 1]", -5), 600);
    assert_int_equal(retirement("[x = 1]", "[MaxJobRetirementTime = 600]", 0), 0);
    assert_int_equal(retirement("[MaxJobRetirementTime = TARGET.Owner == \"ann\" ? 90 : 10]",
                                "[Owner = \"ann\"]", 0),
                     90);
}

static void the_job_may_ask_for_less_retirement_and_never_for_more(void **state)
{
    (void)state;
    static const char SLOT[] = "[MaxJobRetirementTime = 600]";
    assert_int_equal(retirement(SLOT, "[MaxJobRetirementTime = 60]", 10), 50);
    assert_int_equal(retirement(SLOT, "[MaxJobRetirementTime = 6000]", 10), 590);
    assert_int_equal(retirement(SLOT, "[MaxJobRetirementTime = 0]", 10), 0);
    assert_int_equal(retirement(SLOT, "[MaxJobRetirementTime = -7]", 0), 0);
    assert_int_equal(retirement(SLOT, "[MaxJobRetirementTime = \"long\"]", 0), 600);
    assert_int_equal(retirement("[MaxJobRetirementTime = 1.0e300]", "[x = 1]", 0),
                     SLOT_SECONDS_MAX);
}

static void a_job_is_vacated_as_long_as_both_sides_allow(void **state)
{
    (void)state;
    struct ad *slot = parse("[MachineMaxVacateTime = 10 * 60]");
    struct ad *hasty = parse("[JobMaxVacateTime = 20]"), *slow = parse("[JobMaxVacateTime = 9000]");
    assert_int_equal(slot_plan_vacate_s(slot, hasty, &NOW), 20);
    assert_int_equal(slot_plan_vacate_s(slot, slow, &NOW), 600);
    assert_int_equal(slot_plan_vacate_s(hasty, slow, &NOW), 0); /* a machine without the policy */
    ad_destroy(slot);
    ad_destroy(hasty);
    ad_destroy(slow);
}

static void a_better_rank_preempts_and_an_equal_one_only_by_priority(void **state)
{
    (void)state;
    assert_true(slot_plan_may_preempt(2.0, 1.0, false));
    assert_true(slot_plan_may_preempt(2.0, 1.0, true));
    assert_false(slot_plan_may_preempt(1.0, 1.0, false));
    assert_true(slot_plan_may_preempt(1.0, 1.0, true));
    assert_false(slot_plan_may_preempt(0.5, 1.0, true));
}

UNIT_TESTS(UNIT(a_job_retires_until_it_has_run_as_long_as_the_machine_grants),
           UNIT(the_job_may_ask_for_less_retirement_and_never_for_more),
           UNIT(a_job_is_vacated_as_long_as_both_sides_allow),
           UNIT(a_better_rank_preempts_and_an_equal_one_only_by_priority),
           UNIT(the_legal_moves_are_those_of_the_manual_and_no_others),
           UNIT(a_job_and_a_slot_that_want_each_other_are_accepted),
           UNIT(a_refusal_names_the_side_and_its_expression),
           UNIT(the_slot_is_asked_before_the_job),
           UNIT(a_slot_rests_with_its_owner_only_when_no_job_could_start),
           UNIT(every_name_of_a_level_is_known_in_any_case), UNIT(in_doubt_a_machine_stays_up),
           UNIT(what_is_undefined_is_undecided_and_a_veto_decides),
           UNIT(one_veto_keeps_the_machine_up_and_the_deepest_vote_wins),
           UNIT(a_lease_is_over_at_its_end_and_not_before),
           UNIT(a_job_id_is_two_numbers_and_nothing_that_leads_elsewhere))
