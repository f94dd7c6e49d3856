/* What `roost drain` understands.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "base/check.h"
#include "base/err.h"
#include "base/hostlist.h"
#include "base/mem.h"
#include "classad/ad_eval.h"
#include "cli/drain_words_plan.h"

static int32_t east(void *arg, int64_t at_s)
{
    (void)arg;
    (void)at_s;
    return 3600;
}

/* 2026-11-20 09:15:47 UTC, an hour later where the caller sits. */
static const struct ad_context NOW = {.now_s = 1795166147, .zone_offset_s = east};

static int machines_of(void *arg, const char *name, const char **ret, struct err *err)
{
    (void)arg;
    *ret = "wn[1-2]";
    return strcmp(name, "rack1") == 0 ? 0 : err_set(err, -ENOENT, "'%s' is no group", name);
}
static const struct hostlist_groups GROUPS = {.machines_of = machines_of};

#define WORDS_MAX 16

struct line { /* what was read points into it */
    char text[300];
};

/* Words of "drain " + text, between blanks. */
static int read_line(struct line *line, const char *text, struct drain_words *ret, struct err *err)
{
    char *argv[WORDS_MAX], *save = NULL;
    int argc = 0;
    (void)snprintf(line->text, sizeof line->text, "drain %s", text);
    for (char *word = strtok_r(line->text, " ", &save); word != NULL && argc < WORDS_MAX;
         word = strtok_r(NULL, " ", &save)) {
        argv[argc++] = word;
    }
    return drain_words_read(argc, argv, &NOW, &GROUPS, ret, err);
}

static struct drain_words understood(struct line *line, const char *text)
{
    struct drain_words words;
    struct err err = {""};
    if (read_line(line, text, &words, &err) != 0) {
        fail_msg("%s: %s", text, err.text);
    }
    return words;
}

static void expect_refused(const char *text, const char *why)
{
    struct line line;
    struct drain_words words;
    struct err err = {""};
    assert_int_equal(read_line(&line, text, &words, &err), -EINVAL);
    assert_string_equal(err.text, why);
    drain_words_fini(&words);
}

static void machines_are_unfolded_and_each_is_there_once(void **state)
{
    struct line line;
    (void)state;
    struct drain_words words = understood(&line, "lab[01-03] lab02 head");
    assert_int_equal(words.verb, DRAIN_VERB_START);
    assert_int_equal(words.nodes.count, 4);
    assert_string_equal(words.nodes.items[2], "lab03");
    assert_string_equal(words.nodes.items[3], "head");
    assert_int_equal(words.request.schedule, DRAIN_GRACEFUL);
    assert_int_equal(words.request.then, DRAIN_THEN_STAY);
    assert_int_equal(words.request.slot_count, 0);
    assert_false(words.request.estimate);
    drain_words_fini(&words);
}

static void a_slots_name_stands_for_its_machine_as_in_condor_drain(void **state)
{
    struct line line;
    (void)state;
    struct drain_words words = understood(&line, "slot1@wn01 slot2@wn01");
    assert_int_equal(words.nodes.count, 1);
    assert_string_equal(words.nodes.items[0], "wn01");
    assert_int_equal(words.request.slot_count, 0);
    drain_words_fini(&words);
    words = understood(&line, "slot[1-300]@wn[1-300]"); /* in no time: each is there once */
    assert_int_equal(words.nodes.count, 300);
    assert_string_equal(words.nodes.items[299], "wn300");
    drain_words_fini(&words);
    expect_refused("wn01 slot1@", "no host names in 'slot1@'");
}

static void a_group_stands_for_its_machines(void **state)
{
    struct line line;
    (void)state;
    struct drain_words words = understood(&line, "@rack1 wn2 gpu1");
    assert_int_equal(words.nodes.count, 3);
    assert_string_equal(words.nodes.items[0], "wn1");
    assert_string_equal(words.nodes.items[2], "gpu1");
    drain_words_fini(&words);
    expect_refused("@rack2", "'rack2' is no group");
    expect_refused("wn1 --slots @rack1", "'@rack1': not a host name");
}

static void all_of_a_request_can_be_said(void **state)
{
    struct line line;
    (void)state;
    struct drain_words words =
        understood(&line, "wn01 --quick --slots slot1,slot[3-4] --check Cpus>1 "
                          "--start TARGET.Short --deadline 2h --then resume "
                          "--reason disks --wait");
    assert_int_equal(words.request.schedule, DRAIN_QUICK);
    assert_int_equal(words.request.slot_count, 3);
    assert_string_equal(words.request.slots[2], "slot4");
    assert_string_equal(words.request.check, "Cpus>1");
    assert_string_equal(words.request.start, "TARGET.Short");
    assert_string_equal(words.request.reason, "disks");
    assert_int_equal(words.request.deadline_s, NOW.now_s + 7200);
    assert_int_equal(words.request.then, DRAIN_THEN_RESUME);
    assert_true(words.wait);
    assert_false(words.request.reclaimable);
    drain_words_fini(&words);
    words = understood(&line, "--fast wn01 --then OFF --reclaimable");
    assert_true(words.request.reclaimable);
    assert_int_equal(words.request.schedule, DRAIN_FAST);
    assert_int_equal(words.request.then, DRAIN_THEN_OFF);
    drain_words_fini(&words);
}

static void condor_drains_words_are_understood(void **state)
{
    struct line line;
    (void)state;
    struct drain_words words =
        understood(&line, "-graceful -resume-on-completion -check true -start false -reason r "
                          "-pool head:9618 slot1@wn01");
    assert_int_equal(words.request.schedule, DRAIN_GRACEFUL);
    assert_int_equal(words.request.then, DRAIN_THEN_RESUME);
    assert_string_equal(words.pool, "head:9618");
    drain_words_fini(&words);
    words = understood(&line, "-quick -exit-on-completion wn01");
    assert_int_equal(words.request.schedule, DRAIN_QUICK);
    assert_int_equal(words.request.then, DRAIN_THEN_EXIT);
    drain_words_fini(&words);
    words = understood(&line, "-fast -restart-on-completion wn01");
    assert_int_equal(words.request.then, DRAIN_THEN_RESTART);
    drain_words_fini(&words);
    words = understood(&line, "-cancel -request-id 12 wn01");
    assert_int_equal(words.verb, DRAIN_VERB_CANCEL);
    assert_int_equal(words.ids.count, 1);
    assert_string_equal(words.ids.items[0], "12");
    assert_string_equal(words.nodes.items[0], "wn01");
    drain_words_fini(&words);
}

static void cancel_takes_an_id_or_machines_or_both(void **state)
{
    struct line line;
    (void)state;
    struct drain_words words = understood(&line, "--cancel 0123456789abcdef");
    assert_string_equal(words.ids.items[0], "0123456789abcdef");
    assert_int_equal(words.nodes.count, 0);
    drain_words_fini(&words);
    words = understood(&line, "--cancel wn[01-02]");
    assert_int_equal(words.ids.count, 0);
    assert_int_equal(words.nodes.count, 2);
    drain_words_fini(&words);
    words = understood(&line, "--cancel 0123456789abcdef wn01");
    assert_string_equal(words.ids.items[0], "0123456789abcdef");
    assert_int_equal(words.nodes.count, 1);
    drain_words_fini(&words);
    words = understood(&line, "0123456789abcdef"); /* a machine, where nothing is cancelled */
    assert_int_equal(words.nodes.count, 1);
    drain_words_fini(&words);
}

static void several_requests_are_cancelled_by_their_ids(void **state)
{
    struct line line;
    (void)state;
    struct drain_words words =
        understood(&line, "--cancel 0123456789abcdef 00112233445566aa --request-id 7");
    assert_int_equal(words.ids.count, 3);
    assert_string_equal(words.ids.items[1], "00112233445566aa");
    assert_string_equal(words.ids.items[2], "7");
    assert_int_equal(words.nodes.count, 0);
    drain_words_fini(&words);
    expect_refused("--cancel 0123456789abcdef 00112233445566aa wn01",
                   "several request ids cannot be combined with machine names");
}

static void slots_are_named_or_numbered(void **state)
{
    static const char *const FOUND[] = {"slot1", "slot3", "slot4",   "slot7",
                                        "slot8", "slot9", "slot1_2", "slot2@wn01"};
    struct line line;
    (void)state;
    struct drain_words words =
        understood(&line,
                   "wn01 --slots 1,3-4,1,slot[7-8],3 --slots 9 --slots 1_2 --slots slot2@wn01");
    assert_int_equal(words.request.slot_count, ARRAY_COUNT(FOUND));
    for (size_t i = 0; i < ARRAY_COUNT(FOUND); i++) {
        assert_string_equal(words.request.slots[i], FOUND[i]);
    }
    drain_words_fini(&words);
    expect_refused(
        "wn01 --slots 4-3",
        "'4-3' does not name slots; expected names or numbers such as slot1, slot[2-4], 1, 2-4");
    expect_refused(
        "wn01 --slots 1-5000",
        "'1-5000' does not name slots; expected names or numbers such as slot1, slot[2-4], 1, 2-4");
    expect_refused("wn01 --slots slot[1-99999]", "Slots: has no names, or too many");
    expect_refused(
        "wn01 --slots 1-x",
        "'1-x' does not name slots; expected names or numbers such as slot1, slot[2-4], 1, 2-4");
}

static void a_short_option_is_never_guessed(void **state)
{
    struct line line;
    (void)state;
    expect_refused("wn01 --res", "--res may be --resume-on-completion or --restart-on-completion");
    expect_refused("wn01 -re",
                   "-re may be --reclaimable, --resume-on-completion, --restart-on-completion, "
                   "--reason or --request-id");
    expect_refused("wn01 -e", "-e may be --exit-on-completion or --estimate");
    struct drain_words words = understood(&line, "wn01 -resu -w");
    assert_int_equal(words.request.then, DRAIN_THEN_RESUME);
    assert_true(words.wait);
    drain_words_fini(&words);
    words = understood(&line, "wn01 -rest");
    assert_int_equal(words.request.then, DRAIN_THEN_RESTART);
    drain_words_fini(&words);
    words = understood(&line, "wn01 -es");
    assert_int_equal(words.verb, DRAIN_VERB_ESTIMATE);
    drain_words_fini(&words);
}

static void estimate_changes_nothing_and_status_needs_no_machine(void **state)
{
    struct line line;
    (void)state;
    struct drain_words words = understood(&line, "--estimate wn01");
    assert_int_equal(words.verb, DRAIN_VERB_ESTIMATE);
    assert_true(words.request.estimate);
    drain_words_fini(&words);
    words = understood(&line, "status");
    assert_int_equal(words.verb, DRAIN_VERB_STATUS);
    drain_words_fini(&words);
    words = understood(&line, "status wn[1-2] --json");
    assert_int_equal(words.nodes.count, 2);
    assert_int_equal(words.listing.style, LISTING_JSON);
    drain_words_fini(&words);
}

static void what_cannot_be_meant_is_refused_before_anybody_is_asked(void **state)
{
    struct line line;
    (void)state;
    expect_refused("", "no machines named");
    expect_refused("--cancel", "no machines named");
    expect_refused("wn01 --then fly",
                   "unknown action 'fly'; expected resume, stay, restart, exit, sleep or off");
    expect_refused(
        "wn01 --deadline soon",
        "'soon' is not a time such as 2h, 18:30, 2026-11-21T08:00, 2026-11-21T08:00:00Z");
    expect_refused("wn01 --fast --quick",
                   "use only one of --peaceful, --graceful, --quick and --fast");
    expect_refused("wn01 --estimate --cancel", "use either --estimate or --cancel");
    expect_refused("wn01 -request-id 7", "-request-id needs --cancel");
    expect_refused("wn01 --reason", "--reason needs a value");
    expect_refused("wn[1", "'wn[1': [ without ]");
    expect_refused("wn01 --reclaimable",
                   "Reclaimable: is possible only with OnCompletion sleep or off");
    expect_refused(
        "wn01 --slots slot1 --then sleep",
        "OnCompletion: with Slots, must be stay or resume, because other slots still run");
    expect_refused("--cancel wn01 --slots slot1",
                   "--cancel ends a request for all slots; leave out --slots");
    expect_refused("--estimate wn01 --wait", "--wait can be used only with a request to drain");
    expect_refused("status --fast", "status accepts only machine names");
    struct drain_words words;
    struct err err = {""};
    assert_int_equal(read_line(&line, "wn01 --check ((", &words, &err), -EINVAL);
    assert_non_null(strstr(err.text, "CheckExpr: "));
    drain_words_fini(&words);
    assert_int_equal(read_line(&line, "wn01 --gracful", &words, &err), -ENOENT);
    assert_string_equal(words.unknown, "--gracful");
    drain_words_fini(&words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines_are_unfolded_and_each_is_there_once),
        cmocka_unit_test(a_slots_name_stands_for_its_machine_as_in_condor_drain),
        cmocka_unit_test(a_group_stands_for_its_machines),
        cmocka_unit_test(all_of_a_request_can_be_said),
        cmocka_unit_test(condor_drains_words_are_understood),
        cmocka_unit_test(cancel_takes_an_id_or_machines_or_both),
        cmocka_unit_test(several_requests_are_cancelled_by_their_ids),
        cmocka_unit_test(slots_are_named_or_numbered),
        cmocka_unit_test(a_short_option_is_never_guessed),
        cmocka_unit_test(estimate_changes_nothing_and_status_needs_no_machine),
        cmocka_unit_test(what_cannot_be_meant_is_refused_before_anybody_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
