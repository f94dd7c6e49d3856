/* The words of draining, and requests to and from ads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "base/err.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "drain/drain.h"

static struct ad *parse(const char *text)
{
    struct ad *ad = NULL;
    struct err err = {""};
    if (ad_parse(text, strlen(text), &ad, &err) != 0) {
        fail_msg("%s: %s", text, err.text);
    }
    return ad;
}

static enum drain_code read(const char *text, struct drain_request *ret, struct err *err)
{
    struct ad *args = parse(text);
    enum drain_code code = drain_request_read(args, ret, err);
    ad_destroy(args);
    return code;
}

static void an_empty_request_is_graceful_of_the_whole_machine_and_stays(void **state)
{
    (void)state;
    struct drain_request request;
    assert_int_equal(read("[]", &request, NULL), DRAIN_OK);
    assert_int_equal(request.schedule, DRAIN_GRACEFUL);
    assert_int_equal(request.then, DRAIN_THEN_STAY);
    assert_int_equal(request.slot_count, 0);
    assert_null(request.check);
    assert_null(request.start);
    assert_null(request.reason);
    assert_int_equal(request.deadline_s, 0);
    assert_int_equal(request.commit_s, DRAIN_COMMIT_S);
    assert_false(request.estimate);
    assert_true(drain_request_names(&request, "slot1_7@wn01"));
    drain_request_fini(&request);
}

static void all_arguments_travel_there_and_back(void **state)
{
    (void)state;
    static const char TEXT[] =
        "[ HowFast = \"fast\"; OnCompletion = \"resume\"; CheckExpr = \"Cpus > 1\";"
        " StartExpr = \"TARGET.IsShort\"; DrainReason = \"new disk\"; Slots = { \"slot1\","
        " \"slot2@wn01\" }; DrainDeadline = 1764000000; CommitWithin = 5; EstimateOnly = true ]";
    struct drain_request request, again;
    assert_int_equal(read(TEXT, &request, NULL), DRAIN_OK);
    struct ad *args = ad_create(), *expected = parse(TEXT);
    drain_request_write(&request, args);
    assert_true(ad_same(args, expected));
    assert_int_equal(drain_request_read(args, &again, NULL), DRAIN_OK);
    assert_int_equal(again.schedule, DRAIN_FAST);
    assert_int_equal(again.then, DRAIN_THEN_RESUME);
    assert_string_equal(again.check, "Cpus > 1");
    assert_string_equal(again.start, "TARGET.IsShort");
    assert_string_equal(again.reason, "new disk");
    assert_int_equal(again.slot_count, 2);
    assert_string_equal(again.slots[1], "slot2@wn01");
    assert_int_equal(again.deadline_s, 1764000000);
    assert_int_equal(again.commit_s, 5);
    assert_true(again.estimate);
    drain_request_fini(&request);
    drain_request_fini(&again);
    assert_int_equal(again.slot_count, 0);
    ad_destroy(args);
    ad_destroy(expected);
}

static void only_what_is_drained_to_go_down_can_be_taken_back_by_jobs(void **state)
{
    (void)state;
    struct drain_request request, again;
    struct err err;
    assert_int_equal(read("[OnCompletion = \"sleep\"]", &request, NULL), DRAIN_OK);
    assert_false(request.reclaimable); /* not unless it is said */
    assert_int_equal(read("[OnCompletion = \"sleep\"; Reclaimable = true]", &request, NULL),
                     DRAIN_OK);
    assert_true(request.reclaimable);
    struct ad *args = ad_create();
    drain_request_write(&request, args);
    assert_int_equal(drain_request_read(args, &again, NULL), DRAIN_OK);
    assert_true(again.reclaimable);
    ad_destroy(args);
    assert_int_equal(read("[OnCompletion = \"off\"; Reclaimable = true]", &request, NULL),
                     DRAIN_OK);
    static const char *const OTHERS[] = {"stay", "resume", "exit", "restart"};
    for (size_t i = 0; i < 4; i++) {
        char text[100];
        (void)snprintf(text, sizeof text, "[OnCompletion = \"%s\"; Reclaimable = true]", OTHERS[i]);
        assert_int_equal(read(text, &request, &err), DRAIN_BAD_REQUEST);
        assert_non_null(strstr(err.text, "Reclaimable"));
    }
}

static void the_numbers_of_htcondor_are_understood(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum drain_schedule schedule;
        enum drain_then then;
    } CASES[] = {{"[HowFast = 0; OnCompletion = 0]", DRAIN_GRACEFUL, DRAIN_THEN_STAY},
                 {"[HowFast = -9]", DRAIN_GRACEFUL, DRAIN_THEN_STAY},
                 {"[HowFast = -10]", DRAIN_PEACEFUL, DRAIN_THEN_STAY},
                 {"[HowFast = \"peaceful\"]", DRAIN_PEACEFUL, DRAIN_THEN_STAY},
                 {"[HowFast = 10; OnCompletion = 1]", DRAIN_QUICK, DRAIN_THEN_RESUME},
                 {"[HowFast = 11; OnCompletion = 2]", DRAIN_FAST, DRAIN_THEN_EXIT},
                 {"[HowFast = 20; OnCompletion = 3]", DRAIN_FAST, DRAIN_THEN_RESTART},
                 {"[HowFast = \"Quick\"; OnCompletion = \"OFF\"]", DRAIN_QUICK, DRAIN_THEN_OFF}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct drain_request request;
        assert_int_equal(read(CASES[i].text, &request, NULL), DRAIN_OK);
        assert_int_equal(request.schedule, CASES[i].schedule);
        assert_int_equal(request.then, CASES[i].then);
        drain_request_fini(&request);
    }
    assert_int_equal(drain_schedule_number(DRAIN_GRACEFUL), 0);
    assert_int_equal(drain_schedule_number(DRAIN_QUICK), 10);
    assert_int_equal(drain_schedule_number(DRAIN_FAST), 20);
    assert_int_equal(drain_schedule_number(DRAIN_PEACEFUL), -10);
}

static void a_bad_argument_is_refused_by_its_name(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        {"[HowFast = \"soon\"]", "HowFast"},
        {"[HowFast = 1.5]", "HowFast"},
        {"[OnCompletion = \"dance\"]", "OnCompletion"},
        {"[OnCompletion = 4]", "OnCompletion"},
        {"[OnCompletion = -1]", "OnCompletion"},
        {"[CheckExpr = \"Cpus >\"]", "CheckExpr"},
        {"[CheckExpr = 3]", "CheckExpr"},
        {"[StartExpr = \"(\"]", "StartExpr"},
        {"[DrainReason = 3]", "DrainReason"},
        {"[Slots = \"slot1\"]", "Slots"},
        {"[Slots = {}]", "Slots"},
        {"[Slots = {\"slot1\", 2}]", "Slots"},
        {"[Slots = {\"\"}]", "Slots"},
        {"[Slots = {\"slot1\"}; OnCompletion = \"off\"]", "OnCompletion"},
        {"[DrainDeadline = -1]", "DrainDeadline"},
        {"[DrainDeadline = \"noon\"]", "DrainDeadline"},
        {"[CommitWithin = 11]", "CommitWithin"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct drain_request request;
        struct err err = {""};
        assert_int_equal(read(CASES[i][0], &request, &err), DRAIN_BAD_REQUEST);
        assert_int_equal(request.slot_count, 0);
        assert_null(request.slots);
        if (strncmp(err.text, CASES[i][1], strlen(CASES[i][1])) != 0) {
            fail_msg("%s: %s", CASES[i][0], err.text);
        }
    }
}

static void an_offer_stands_for_a_second_at_least(void **state)
{
    (void)state;
    struct drain_request request;
    assert_int_equal(read("[CommitWithin = 0]", &request, NULL), DRAIN_OK);
    assert_int_equal(request.commit_s, 1);
    drain_request_fini(&request);
}

static void texts_and_lists_have_limits(void **state)
{
    (void)state;
    struct drain_request request;
    struct strbuf text;
    strbuf_init(&text, 0);
    for (int length = DRAIN_TEXT_MAX; length <= DRAIN_TEXT_MAX + 1; length++) {
        struct ad *args = ad_create();
        strbuf_clear(&text);
        for (int i = 0; i < length; i++) {
            strbuf_putc(&text, 'x');
        }
        ad_set_string(args, "DrainReason", strbuf_text(&text));
        assert_int_equal(drain_request_read(args, &request, NULL),
                         length == DRAIN_TEXT_MAX ? DRAIN_OK : DRAIN_BAD_REQUEST);
        drain_request_fini(&request);
        ad_destroy(args);
    }
    strbuf_fini(&text);
    static const char *names[DRAIN_SLOTS_MAX + 1];
    for (size_t i = 0; i <= DRAIN_SLOTS_MAX; i++) {
        names[i] = "slot1";
    }
    for (size_t count = DRAIN_SLOTS_MAX; count <= DRAIN_SLOTS_MAX + 1; count++) {
        struct ad *args = ad_create();
        ad_set_strings(args, "Slots", names, count);
        assert_int_equal(drain_request_read(args, &request, NULL),
                         count == DRAIN_SLOTS_MAX ? DRAIN_OK : DRAIN_BAD_REQUEST);
        drain_request_fini(&request);
        ad_destroy(args);
    }
}

static void a_slot_is_named_with_its_pieces_and_no_other(void **state)
{
    (void)state;
    struct drain_request request;
    assert_int_equal(read("[Slots = {\"slot1\", \"slot2_3\", \"slot4@wn01\"}]", &request, NULL),
                     DRAIN_OK);
    static const struct {
        const char *name;
        bool named;
    } CASES[] = {{"slot1@wn01", true},     {"slot1_9@wn01", true},    {"slot1", true},
                 {"slot10@wn01", false},   {"slot2@wn01", false},     {"slot2_3@wn01", true},
                 {"slot2_31@wn01", false}, {"slot2_3_1@wn01", false}, {"slot4@wn01", true},
                 {"slot4_1@WN01", true},   {"slot4@wn02", false},     {"slot4", false},
                 {"slot", false}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        if (drain_request_names(&request, CASES[i].name) != CASES[i].named) {
            fail_msg("%s", CASES[i].name);
        }
    }
    drain_request_fini(&request);
}

UNIT_TESTS(UNIT(an_empty_request_is_graceful_of_the_whole_machine_and_stays),
           UNIT(all_arguments_travel_there_and_back),
           UNIT(only_what_is_drained_to_go_down_can_be_taken_back_by_jobs),
           UNIT(the_numbers_of_htcondor_are_understood),
           UNIT(a_bad_argument_is_refused_by_its_name), UNIT(an_offer_stands_for_a_second_at_least),
           UNIT(texts_and_lists_have_limits), UNIT(a_slot_is_named_with_its_pieces_and_no_other))
