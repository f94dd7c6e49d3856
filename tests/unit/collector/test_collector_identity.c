/* What an ad says of who one is: in string literals, and nothing that is another's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "tests/support/collector_talk.h"

#define ONE(machine, more) \
    "[ MyType = \"Machine\"; Name = \"slot1@evil\"; Machine = " machine "; " more " ]"
#define TWO_FACED(own, other) "TARGET.Owner =?= undefined ? \"" own "\" : \"" other "\""

static int make_bed(void **state)
{
    return make_bed_with(state, "");
}

static struct client *dial_as(struct bed *bed, uint32_t scopes, const char *pattern)
{
    struct client *client = client_dial(bed, scopes, pattern, NULL, NULL);
    assert_int_equal(client->status, 0);
    return client;
}

/* The answer is OK, for the other ads of the message; this one is left out, for that reason. */
static void left_out(struct client *client, const char *args, const char *ad, const char *words)
{
    const char *const ads[] = {ad, NULL};
    struct answer answer;
    assert_int_equal(client_call(client, VERB_UPDATE, args, ads, &answer), 0);
    assert_int_equal(ad_int_or(answer.args, "Rejected", 0), 1);
    const char *why = ad_string_or(answer.args, "ErrorString", "");
    if (!strstr(why, words)) {
        fail_msg("'%s' has no '%s'", why, words);
    }
    answer_fini(&answer);
}

static void refused(struct client *client, const char *ad, const char *words)
{
    left_out(client, "[]", ad, words);
}

static void taken(struct client *client, const char *args, const char *ad)
{
    const char *const ads[] = {ad, NULL};
    struct answer answer;
    assert_int_equal(client_call(client, VERB_UPDATE, args, ads, &answer), 0);
    if (ad_int_or(answer.args, "Rejected", 0) != 0) {
        fail_msg("%s: %s", ad, ad_string_or(answer.args, "ErrorString", ""));
    }
    answer_fini(&answer);
}

static int64_t count_rejected(struct client *reader)
{
    struct answer answer;
    assert_int_equal(client_call(reader, VERB_QUERY, "[ Type = \"Collector\" ]", NULL, &answer), 0);
    int64_t value = ad_int_or(answer.ads.items[0], "AdsRejected", -1);
    answer_fini(&answer);
    return value;
}

static void a_machine_has_one_name_beside_every_job(void **state)
{
    struct bed *bed = *state;
    struct client *evil = dial_as(bed, SCOPE_ADVERTISE, "evil");
    struct client *reader = dial(bed, SCOPE_READ);
    refused(evil, ONE(TWO_FACED("evil", "wn01"), ""),
            "Machine of the ad 'slot1@evil' of someone@pool is not a string literal");
    refused(evil, ONE("strcat(\"ev\", \"il\")", ""), "Machine of the ad");
    refused(evil, ONE("5", ""), "Machine of the ad");
    refused(evil,
            "[ MyType = \"Machine\"; Name = " TWO_FACED("evil", "wn01") "; Machine = \"evil\" ]",
            "Name of the ad 'evil'");
    assert_string_equal(show(reader, "Machine", "SlotID"), "");
    uint64_t begin_ms = loop_now_ms(bed->loop);
    while (count_rejected(reader) != 4) { /* figures are at most a second old */
        assert_true(loop_now_ms(bed->loop) < begin_ms + 20000);
    }
    taken(evil, "[]", ONE("\"evil\"", ""));
}

static void a_change_cannot_do_what_a_whole_ad_cannot(void **state)
{
    struct bed *bed = *state;
    struct client *evil = dial_as(bed, SCOPE_ADVERTISE, "evil");
    taken(evil, "[ Epoch = 1; Sequence = 1 ]", ONE("\"evil\"", ""));
    left_out(evil, "[ Epoch = 1; Sequence = 2; Full = false ]", ONE(TWO_FACED("evil", "wn01"), ""),
             "Machine of the ad 'slot1@evil'");
    left_out(evil, "[ Epoch = 1; Sequence = 3; Full = false ]",
             ONE("\"evil\"", "UidDomain = strcat(\"po\", \"ol\")"), "UidDomain of the ad");
    taken(evil, "[ Epoch = 1; Sequence = 4; Full = false ]", ONE("\"evil\"", "Color = 1 + 1"));
}

static void every_attribute_of_identity_is_a_literal_string(void **state)
{
    struct bed *bed = *state;
    struct client *evil = dial_as(bed, SCOPE_ADVERTISE, "evil");
    refused(evil, ONE("\"evil\"", "StartdUplink = strcat(\"startd/\", \"evil\")"),
            "StartdUplink of");
    refused(evil, ONE("\"evil\"", "UidDomain = TARGET.UidDomain"), "UidDomain of");
    refused(evil, ONE("\"evil\"", "FileSystemDomain = TARGET.FileSystemDomain"),
            "FileSystemDomain of");
    refused(evil, ONE("\"evil\"", "Owner = TARGET.Owner"), "Owner of");
    refused(evil, ONE("\"evil\"", "User = TARGET.User"), "User of");
    refused(evil, ONE("\"evil\"", "AuthenticatedIdentity = strcat(\"x\")"),
            "AuthenticatedIdentity");
    taken(evil, "[]",
          ONE("\"evil\"", "StartdUplink = \"startd/evil\"; UidDomain = \"pool\"; Owner = \"ann\"; "
                          "AuthenticatedIdentity = \"someone@pool\""));
    struct client *schedd = dial(bed, SCOPE_SCHEDD);
    refused(schedd, "[ MyType = \"Submitter\"; Name = \"ann@pool#s\"; User = TARGET.User ]",
            "User of the ad 'ann@pool#s'");
    refused(schedd, "[ MyType = \"Request\"; Name = \"1#s\"; Owner = TARGET.Owner ]",
            "Owner of the ad '1#s'");
    refused(schedd, "[ MyType = \"Scheduler\"; Name = \"s\"; Machine = strcat(\"a\") ]",
            "Machine of the ad 's'");
}

static void nobody_takes_the_matches_of_another_or_signs_for_another(void **state)
{
    struct bed *bed = *state;
    struct client *evil = dial_as(bed, SCOPE_ADVERTISE, "evil");
    refused(evil, ONE("\"evil\"", "StartdUplink = \"startd/wn01\""),
            "which belongs to another sender");
    refused(evil, ONE("\"evil\"", "StartdUplink = \"schedd/evil\""),
            "which belongs to another sender");
    refused(evil, ONE("\"wn01\"", ""), "may not advertise the machine 'wn01'");
    refused(evil, ONE("\"evil\"", "AuthenticatedIdentity = \"root@pool\""),
            "AuthenticatedIdentity of the ad 'slot1@evil' of someone@pool is 'root@pool', but must "
            "be the sender's identity");
}

static void not_taken_away(struct client *client, const char *type, const char *name)
{
    char args[200];
    (void)snprintf(args, sizeof args, "[ Type = \"%s\"; Names = { \"%s\" } ]", type, name);
    expect(client, -EACCES, VERB_INVALIDATE, args, NULL, name);
}

static int64_t taken_away(struct client *client, const char *type, const char *name)
{
    char args[200];
    struct answer answer;
    (void)snprintf(args, sizeof args, "[ Type = \"%s\"; Names = { \"%s\" } ]", type, name);
    assert_int_equal(client_call(client, VERB_INVALIDATE, args, NULL, &answer), 0);
    int64_t count = ad_int_or(answer.args, "Count", -1);
    answer_fini(&answer);
    return count;
}

static void a_schedd_has_and_takes_away_the_ads_of_its_own_name_only(void **state)
{
    struct bed *bed = *state;
    struct client *schedd = dial_as(bed, SCOPE_SCHEDD, "s");
    struct client *other = dial_as(bed, SCOPE_SCHEDD, "t");
    taken(schedd, "[]", "[ MyType = \"Request\"; Name = \"s#1\" ]");
    taken(schedd, "[]", "[ MyType = \"Submitter\"; Name = \"ann@pool#s\" ]");
    refused(other, "[ MyType = \"Request\"; Name = \"s#1\" ]", "may not advertise the name 's#1'");
    refused(other, "[ MyType = \"Submitter\"; Name = \"t#s\" ]",
            "may not advertise the name 't#s'");
    not_taken_away(other, "Request", "s#1");
    not_taken_away(other, "Submitter", "ann@pool#s");
    assert_int_equal(taken_away(schedd, "Request", "s#1"), 1);
    assert_int_equal(taken_away(schedd, "Submitter", "ann@pool#s"), 1);
}

static void a_negotiator_tells_of_all_accounts_and_of_itself(void **state)
{
    struct bed *bed = *state;
    struct client *negotiator = dial_as(bed, SCOPE_NEGOTIATOR, "n");
    taken(negotiator, "[]", "[ MyType = \"Negotiator\"; Name = \"n\" ]");
    taken(negotiator, "[]", "[ MyType = \"Accounting\"; Name = \"<none>\" ]");
    taken(negotiator, "[]", "[ MyType = \"Accounting\"; Name = \"physics.ann@domain\" ]");
    taken(negotiator, "[]", "[ MyType = \"SubmittingMachine\"; Name = \"submit1\" ]");
    refused(negotiator, "[ MyType = \"Negotiator\"; Name = \"m\" ]", "may not advertise the name");
    assert_int_equal(taken_away(negotiator, "Accounting", "<none>"), 1);
    refused(dial_as(bed, SCOPE_SCHEDD, "n"), "[ MyType = \"Accounting\"; Name = \"n\" ]",
            "may not send ads of type Accounting");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, make_bed, remove_bed)
UNIT_TESTS(CASE(a_machine_has_one_name_beside_every_job),
           CASE(a_change_cannot_do_what_a_whole_ad_cannot),
           CASE(every_attribute_of_identity_is_a_literal_string),
           CASE(nobody_takes_the_matches_of_another_or_signs_for_another),
           CASE(a_negotiator_tells_of_all_accounts_and_of_itself),
           CASE(a_schedd_has_and_takes_away_the_ads_of_its_own_name_only))
