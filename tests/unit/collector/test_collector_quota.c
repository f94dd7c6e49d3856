/* What one identity may have, and what the collector says of itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "tests/support/collector_talk.h"

static int make_bed(void **state)
{
    return make_bed_with(state, "CLASSAD_LIFETIME = 60\nCOLLECTOR_UPDATE_INTERVAL = 1\n"
                                "COLLECTOR_MAX_ADS_PER_IDENTITY = 3\n"
                                "COLLECTOR_MAX_BYTES_PER_IDENTITY = 4000\n"
                                "COLLECTOR_MAX_BYTES_PER_AD = 3000\n"
                                "COLLECTOR_MAX_ATTRIBUTES_PER_AD = 15\n");
}

/* The answer is OK, for the other ads of the message; this one is left out, for that reason. */
static void refused(struct client *client, const char *ad, const char *words)
{
    const char *const ads[] = {ad, NULL};
    struct answer answer;
    assert_int_equal(client_call(client, VERB_UPDATE, "[]", ads, &answer), 0);
    assert_int_equal(ad_int_or(answer.args, "Rejected", 0), 1);
    const char *why = ad_string_or(answer.args, "ErrorString", "");
    if (!strstr(why, words)) {
        fail_msg("'%s' has no '%s'", why, words);
    }
    answer_fini(&answer);
}

static void taken(struct client *client, const char *ad)
{
    const char *const ads[] = {ad, NULL};
    struct answer answer;
    assert_int_equal(client_call(client, VERB_UPDATE, "[]", ads, &answer), 0);
    if (ad_int_or(answer.args, "Rejected", 0) != 0) {
        fail_msg("%s: %s", ad, ad_string_or(answer.args, "ErrorString", ""));
    }
    answer_fini(&answer);
}

static int64_t figure(struct client *reader, const char *name)
{
    struct answer answer;
    assert_int_equal(client_call(reader, VERB_QUERY, "[ Type = \"Collector\" ]", NULL, &answer), 0);
    int64_t value = ad_int_or(answer.ads.items[0], name, -1);
    answer_fini(&answer);
    return value;
}

static void an_identity_has_so_many_ads_and_no_more(void **state)
{
    struct bed *bed = *state;
    bed->token_slots = 0;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *other = dial(bed, SCOPE_ADVERTISE); /* another token of the same identity */
    taken(startd, LIVE("1", "b1", "A = 1"));
    taken(startd, LIVE("2", "b1", "A = 1"));
    taken(other, LIVE("3", "b1", "A = 1"));
    refused(startd, LIVE("4", "b1", "A = 1"),
            "someone@pool has 3 ads and may have 3 (COLLECTOR_MAX_ADS_PER_IDENTITY); no room for "
            "'slot4@wn01'");
    refused(other, LIVE("4", "b1", "A = 1"), "may have 3");
    taken(startd, LIVE("3", "b1", "A = 2")); /* what it has it may renew */
    OK(startd, VERB_INVALIDATE, "[ Type = \"Machine\"; Names = { \"slot1@wn01\" } ]", NULL);
    taken(startd, LIVE("4", "b1", "A = 1"));
    refused(startd, LIVE("1", "b1", "A = 1"), "may have 3");
}

static void one_message_cannot_slip_more_in(void **state)
{
    struct bed *bed = *state;
    bed->token_slots = 0;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    const char *const ads[] = {LIVE("1", "b1", ""), LIVE("2", "b1", ""), LIVE("3", "b1", ""),
                               LIVE("4", "b1", ""), LIVE("5", "b1", ""), NULL};
    struct answer answer;
    assert_int_equal(client_call(startd, VERB_UPDATE, "[]", ads, &answer), 0);
    assert_int_equal(ad_int_or(answer.args, "Rejected", 0), 2);
    answer_fini(&answer);
    assert_string_equal(show(dial(bed, SCOPE_READ), "Machine", "SlotID"),
                        "slot1@wn01=- slot2@wn01=- slot3@wn01=- ");
}

static void an_identity_has_so_many_bytes_and_no_more(void **state)
{
    struct bed *bed = *state;
    bed->token_slots = 0;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    char large[4000], small[1500], filler[3200];
    memset(filler, 'f', sizeof(filler) - 1);
    filler[sizeof(filler) - 1] = '\0';
    snprintf(large, sizeof(large), LIVE("1", "b1", "F = \"%.2700s\""), filler);
    snprintf(small, sizeof(small), LIVE("2", "b1", "F = \"%.1200s\""), filler);
    taken(startd, large);
    refused(startd, small, "COLLECTOR_MAX_BYTES_PER_IDENTITY");
    taken(startd, large); /* again, in its own place */
    taken(startd, LIVE("1", "b1", "F = 1"));
    taken(startd, small);
    refused(startd, large, "someone@pool has ads of 1");
}

static void an_ad_has_so_many_bytes_and_attributes(void **state)
{
    struct bed *bed = *state;
    bed->token_slots = 0;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    char large[4000], filler[3200];
    memset(filler, 'f', sizeof(filler) - 1);
    filler[sizeof(filler) - 1] = '\0';
    snprintf(large, sizeof(large), LIVE("1", "b1", "F = \"%s\""), filler);
    refused(startd, large, "more than 2 KiB");
    refused(startd,
            LIVE("1", "b1", "A=1; B=1; C=1; D=1; E=1; F=1; G=1; H=1; I=1; J=1; K=1; L=1; M=1"),
            "the ad 'slot1@wn01' has 18 attributes, more than 15");
}

static void the_collector_counts_what_it_does_and_holds(void **state)
{
    struct bed *bed = *state;
    bed->token_slots = 0;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *reader = dial(bed, SCOPE_READ);
    uint64_t begin_ms = loop_now_ms(bed->loop);
    OK(startd, VERB_UPDATE, "[ Epoch = 1; Sequence = 1 ]", LIVE("1", "b1", ""));
    OK(startd, VERB_UPDATE, "[ Epoch = 1; Sequence = 2 ]", LIVE("1", "b1", ""));
    OK(startd, VERB_UPDATE, "[ Epoch = 1; Sequence = 5 ]", LIVE("1", "b1", "State = \"Claimed\""));
    OK(startd, VERB_UPDATE, "[]", LIVE("2", "b1", ""));
    OK(startd, VERB_UPDATE, "[]", LIVE("3", "b1", ""));
    refused(startd, LIVE("4", "b1", ""), "may have 3");
    while (figure(reader, "HostsTotal") != 3) {
        assert_true(loop_now_ms(bed->loop) < begin_ms + 20000);
    }
    assert_int_equal(figure(reader, "MachineAds"), 3);
    assert_int_equal(figure(reader, "HostsClaimed"), 1);
    assert_int_equal(figure(reader, "HostsUnclaimed"), 2);
    assert_int_equal(figure(reader, "UpdatesTotal"), 6);
    assert_int_equal(figure(reader, "RecentUpdatesTotal"), 6);
    assert_int_equal(figure(reader, "UpdatesInitial"), 3);
    assert_int_equal(figure(reader, "UpdatesLost"), 1);
    assert_int_equal(figure(reader, "AdsRejected"), 1);
    assert_int_equal(figure(reader, "AdsOverQuota"), 1);
    assert_int_equal(figure(reader, "Identities"), 1);
    assert_true(figure(reader, "QueriesTotal") > 0);
    assert_true(figure(reader, "MonitorSelfResidentSetSize") > 1000);
    assert_true(figure(reader, "MonitorSelfImageSize") >
                figure(reader, "MonitorSelfResidentSetSize"));
}

static int make_slow_bed(void **state)
{
    return make_bed_with(state, "COLLECTOR_UPDATE_INTERVAL = 3600\n");
}

static void who_asks_for_the_figures_gets_those_of_now(void **state)
{
    struct bed *bed = *state;
    bed->token_slots = 0;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *reader = dial(bed, SCOPE_READ);
    uint64_t begin_ms = loop_now_ms(bed->loop);
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b1", ""));
    while (figure(reader, "HostsTotal") != 1) { /* at most a second old */
        assert_true(loop_now_ms(bed->loop) < begin_ms + 20000);
    }
}

/* F7: sends `count` slots of a machine in one message, numbered from `first`; returns how many were
 * left out. */
static int64_t send_slots(struct client *startd, const char *machine, int first, int count,
                          const char *more)
{
    const char **ads = mem_alloc(((size_t)count + 1) * sizeof(*ads));
    struct answer answer;
    for (int i = 0; i < count; i++) {
        char text[300];
        (void)snprintf(text, sizeof(text),
                       "[ MyType = \"Machine\"; Name = \"slot%d@%s\"; Machine = \"%s\"; "
                       "State = \"Unclaimed\"; %s ]",
                       first + i, machine, machine, more);
        ads[i] = mem_strdup(text);
    }
    ads[count] = NULL;
    assert_int_equal(client_call(startd, VERB_UPDATE, "[]", ads, &answer), 0);
    int64_t rejected = ad_int_or(answer.args, "Rejected", 0);
    for (int i = 0; i < count; i++) {
        mem_free((void *)(uintptr_t)ads[i]);
    }
    mem_free(ads);
    answer_fini(&answer);
    return rejected;
}

static void a_machines_token_has_64_slots_of_each_machine(void **state)
{
    struct bed *bed = *state;
    bed->token_slots = 0;
    struct client *startd = dial(bed, SCOPE_ADVERTISE), *other = dial(bed, SCOPE_ADVERTISE);
    assert_int_equal(send_slots(startd, "wn01", 1, 100, ""), 36);
    refused(startd, LIVE("200", "b1", ""), "has 64 slot ads of wn01; at most 64 are allowed");
    assert_int_equal(send_slots(startd, "wn01", 1, 64, ""), 0); /* what it has it may renew */
    assert_int_equal(send_slots(startd, "WN01", 300, 1, ""), 1);
    assert_int_equal(send_slots(startd, "wn02", 1, 65, ""), 1);
    OK(startd, VERB_INVALIDATE, "[ Type = \"Machine\"; Names = { \"slot1@wn01\" } ]", NULL);
    assert_int_equal(send_slots(startd, "wn01", 1, 1, ""), 0);
    assert_int_equal(send_slots(other, "wn01", 64, 2, ""), 0); /* a new token of the machine */
    assert_int_equal(send_slots(startd, "wn01", 400, 2, ""), 1);
}

static void pieces_of_slots_count_by_themselves(void **state)
{
    struct bed *bed = *state;
    bed->token_slots = 0;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    assert_int_equal(send_slots(startd, "wn01", 1, 1, "PartitionableSlot = true"), 0);
    assert_int_equal(send_slots(startd, "wn01", 1000, 1030, "DynamicSlot = true"), 6);
    assert_int_equal(send_slots(startd, "wn01", 1000, 1024, "DynamicSlot = true"), 0);
    assert_int_equal(send_slots(startd, "wn01", 2, 64, ""), 1);
}

static void a_number_in_the_token_is_for_all_its_machines(void **state)
{
    struct bed *bed = *state;
    bed->token_slots = 0;
    bed->token_slots = 10;
    struct client *pilots = dial(bed, SCOPE_ADVERTISE);
    bed->token_slots = 300;
    struct client *large = dial(bed, SCOPE_ADVERTISE);
    assert_int_equal(send_slots(pilots, "p1", 1, 6, ""), 0);
    assert_int_equal(send_slots(pilots, "p2", 1, 6, ""), 2);
    refused(pilots, LIVE("9", "b1", ""), "has 10 slot ads; at most 10 are allowed");
    assert_int_equal(send_slots(large, "wn09", 1, 301, ""), 1);
}

static void administrators_and_daemons_are_not_counted_by_token(void **state)
{
    struct bed *bed = *state;
    bed->token_slots = 0;
    struct client *root = dial(bed, SCOPE_ADVERTISE | SCOPE_ADMINISTRATOR);
    struct client *schedd = dial(bed, SCOPE_SCHEDD), *startd = dial(bed, SCOPE_ADVERTISE);
    assert_int_equal(send_slots(root, "wn01", 1, 200, ""), 0);
    for (int i = 0; i < 100; i++) {
        char text[200];
        (void)snprintf(text, sizeof(text), "[ MyType = \"Submitter\"; Name = \"u%d@pool\" ]", i);
        taken(schedd, text);
        (void)snprintf(text, sizeof(text), "[ MyType = \"Odd\"; Name = \"o%d@wn01\" ]", i);
        if (i < 64) {
            taken(startd, text);
        } else {
            refused(startd, text, "has 64 ads of other types");
        }
    }
}

static void what_is_left_out_again_and_again_is_one_line_now_and_then(void **state)
{
    struct bed *bed = *state;
    bed->token_slots = 0;
    struct strbuf text;
    size_t lines = 0;
    strbuf_init(&text, 0);
    bed_stop(bed);
    bed->log = loop_rig_log(bed->loop, LOG_LEVEL_INFO, &text);
    bed_start(bed);
    bed_find_address(bed);
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    for (int i = 0; i < 30; i++) {
        assert_int_equal(send_slots(startd, "wn01", 1, 100, ""), 36);
    }
    for (const char *at = strbuf_text(&text); (at = strstr(at, "update.rejected")); at++) {
        lines++;
    }
    assert_int_equal(lines, 8);
    bed_stop(bed);
    log_destroy(bed->log);
    bed->log = NULL;
    strbuf_fini(&text);
    bed_start(bed);
}

#define CASE(test)  cmocka_unit_test_setup_teardown(test, make_bed, remove_bed)
#define ROOMY(test) cmocka_unit_test_setup_teardown(test, make_slow_bed, remove_bed)
UNIT_TESTS(ROOMY(a_machines_token_has_64_slots_of_each_machine),
           ROOMY(pieces_of_slots_count_by_themselves),
           ROOMY(a_number_in_the_token_is_for_all_its_machines),
           ROOMY(administrators_and_daemons_are_not_counted_by_token),
           ROOMY(what_is_left_out_again_and_again_is_one_line_now_and_then),
           cmocka_unit_test_setup_teardown(who_asks_for_the_figures_gets_those_of_now,
                                           make_slow_bed, remove_bed),
           CASE(an_identity_has_so_many_ads_and_no_more), CASE(one_message_cannot_slip_more_in),
           CASE(an_identity_has_so_many_bytes_and_no_more),
           CASE(an_ad_has_so_many_bytes_and_attributes),
           CASE(the_collector_counts_what_it_does_and_holds))
