/* The collector over real wires on loopback.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "collector/collector_ads.h"
#include "collector/collector_state.h"
#include "collector/collector_verbs.h"
#include "tests/support/collector_talk.h"
#include "wire/revocations.h"
#include "wire/watch.h"

static int make_bed(void **state)
{
    return make_bed_with(state, "CLASSAD_LIFETIME = 60");
}

/* ---- updates --------------------------------------------------------------------------------- */

static void what_is_sent_is_found(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *reader = dial(bed, SCOPE_READ);
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b1", "Cpus = 4"));
    OK(startd, VERB_UPDATE, "[]", LIVE("2", "b1", "Cpus = 8"));
    assert_string_equal(show(reader, "Machine", "Cpus"), "slot1@wn01=4 slot2@wn01=8 ");
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b1", "Cpus = 5"));
    assert_string_equal(show(reader, "machine", "Cpus"), "slot1@wn01=5 slot2@wn01=8 ");
    assert_string_equal(show(reader, "Scheduler", "Cpus"), "");
    assert_non_null(strstr(show(reader, "Machine", "MyAddress"), "slot1@wn01=tcp:127.0.0.1:"));
    assert_null(strstr(show(reader, "Machine", "LastHeardFrom"), "=-"));
}

static void live_machines_have_the_address_of_their_connection(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *reader = dial(bed, SCOPE_READ);
    for (int i = 0; i < 3; i++) { /* the later ones are foreseen */
        OK(startd, VERB_UPDATE, "[]", LIVE("1", "b1", "MyAddress = \"mine\""));
        assert_non_null(strstr(show(reader, "Machine", "MyAddress"), "slot1@wn01=tcp:127.0.0.1:"));
    }
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b1", "MyAddress = \"mine\"; Offline = true"));
    assert_string_equal(show(reader, "Machine", "MyAddress"), "slot1@wn01=mine ");
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b2", "MyAddress = \"mine\""));
    assert_non_null(strstr(show(reader, "Machine", "MyAddress"), "slot1@wn01=tcp:127.0.0.1:"));
    OK(startd, VERB_UPDATE, "[]",
       "[ MyType = \"DaemonMaster\"; Name = \"wn01\"; MyAddress = \"mine\" ]");
    assert_string_equal(show(reader, "DaemonMaster", "MyAddress"), "wn01=mine ");
}

static void a_bad_ad_is_left_out_and_the_others_count(void **state)
{
    struct bed *bed = *state;
    struct client *startd = client_dial(bed, SCOPE_ADVERTISE, "wn*", NULL, NULL);
    const char *const ads[] = {LIVE("1", "b1", ""),
                               "[ Name = \"no type\" ]",
                               "[ MyType = \"Machine\"; Name = \"slot1@other\" ]",
                               "[ MyType = \"Machine\"; Name = \"slot1@wn07\"; Machine = \"x1\" ]",
                               "[ MyType = \"Scheduler\"; Name = \"wn01\" ]",
                               LIVE("2", "b1", ""),
                               NULL};
    struct answer answer;
    assert_int_equal(client_call(startd, VERB_UPDATE, "[]", ads, &answer), 0);
    assert_int_equal(ad_int_or(answer.args, "Rejected", -1), 4);
    assert_string_equal(ad_string_or(answer.args, "ErrorString", ""), "the ad has no MyType");
    answer_fini(&answer);
    struct client *reader = dial(bed, SCOPE_READ);
    assert_string_equal(show(reader, "Machine", "State"),
                        "slot1@wn01=Unclaimed slot2@wn01=Unclaimed ");
    assert_string_equal(show(reader, "Scheduler", "Name"), "");
    assert_non_null(strstr(show(reader, "Any", "State"), "slot2@wn01=Unclaimed"));
    assert_non_null(strstr(show(reader, "Collector", "AdsRejected"), "="));
}

static void rejects(struct client *client, const char *ad)
{
    const char *const ads[] = {ad, NULL};
    struct answer answer;
    assert_int_equal(client_call(client, VERB_UPDATE, "[]", ads, &answer), 0);
    assert_int_equal(ad_int_or(answer.args, "Rejected", -1), 1);
    answer_fini(&answer);
}

/* What a sender has it may have again; what is there of others it may not have for that. */
static void an_ad_that_is_there_is_not_everybodys(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *stranger = client_dial(bed, SCOPE_ADVERTISE, "glidein*", NULL, NULL);
    struct client *reader = dial(bed, SCOPE_READ);
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b1", "A = 1"));
    rejects(stranger, LIVE("1", "b1", "A = 2"));
    rejects(stranger, "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; A = 2 ]");
    OK(startd, VERB_UPDATE, "[]",
       "[ MyType = \"Machine\"; Name = \"glidein7\"; Machine = \"wn01\"; A = 3 ]");
    rejects(stranger, "[ MyType = \"Machine\"; Name = \"glidein7\"; Machine = \"wn01\"; A = 4 ]");
    assert_string_equal(show(reader, "Machine", "A"), "slot1@wn01=1 glidein7=3 ");
}

static void an_ad_that_is_too_large_is_left_out(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    size_t size = (size_t)300 << 10;
    char *text = malloc(size + 200);
    int used = snprintf(text, 200, "[ MyType = \"Machine\"; Name = \"big\"; Filler = \"");
    memset(text + used, 'f', size);
    snprintf(text + (size_t)used + size, 10, "\" ]");
    const char *const ads[] = {text, NULL};
    struct answer answer;
    assert_int_equal(client_call(startd, VERB_UPDATE, "[]", ads, &answer), 0);
    assert_int_equal(ad_int_or(answer.args, "Rejected", -1), 1);
    answer_fini(&answer);
    free(text);
    assert_string_equal(show(dial(bed, SCOPE_READ), "Machine", "Name"), "");
}

static void changes_alone_are_applied_to_what_is_there(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *reader = dial(bed, SCOPE_READ);
    OK(startd, VERB_UPDATE, "[ Epoch = 7; Sequence = 1 ]", LIVE("1", "b1", "A = 1; B = 2"));
    OK(startd, VERB_UPDATE, "[ Full = false; Epoch = 7; Sequence = 2; Delete = { \"B\" } ]",
       "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; A = 10; C = 3 ]");
    assert_string_equal(show(reader, "Machine", "A"), "slot1@wn01=10 ");
    assert_string_equal(show(reader, "Machine", "B"), "slot1@wn01=- ");
    assert_string_equal(show(reader, "Machine", "C"), "slot1@wn01=3 ");
    assert_string_equal(show(reader, "Machine", "State"), "slot1@wn01=Unclaimed ");
    expect(startd, -ESTALE, VERB_UPDATE, "[ Full = false; Epoch = 7; Sequence = 4 ]",
           "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; A = 11 ]", "send the whole ad");
    expect(startd, -ESTALE, VERB_UPDATE, "[ Full = false; Epoch = 7; Sequence = 3 ]",
           "[ MyType = \"Machine\"; Name = \"slot9@wn01\"; A = 11 ]", "slot9@wn01");
    assert_string_equal(show(reader, "Machine", "A"), "slot1@wn01=10 ");
    struct client *again = dial(bed, SCOPE_ADVERTISE); /* a new connection begins in full */
    expect(again, -ESTALE, VERB_UPDATE, "[ Full = false; Epoch = 7; Sequence = 3 ]",
           "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; A = 11 ]", "send the whole ad");
}

static void an_older_update_changes_nothing(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *next = dial(bed, SCOPE_ADVERTISE);
    struct client *reader = dial(bed, SCOPE_READ);
    OK(startd, VERB_UPDATE, "[ Epoch = 7; Sequence = 5 ]", LIVE("1", "b1", "A = 5"));
    expect(startd, -ESTALE, VERB_UPDATE, "[ Epoch = 7; Sequence = 4 ]", LIVE("1", "b1", "A = 4"),
           "newer");
    OK(next, VERB_UPDATE, "[ Epoch = 3; Sequence = 1 ]", LIVE("1", "b1", "A = 100"));
    expect(startd, -ESTALE, VERB_UPDATE, "[ Epoch = 7; Sequence = 6 ]", LIVE("1", "b1", "A = 6"),
           "newer");
    OK(startd, VERB_INVALIDATE,
       "[ Type = \"Machine\"; Names = { \"slot1@wn01\" }; Epoch = 7; Sequence = 7 ]", NULL);
    assert_string_equal(show(reader, "Machine", "A"), "slot1@wn01=100 ");
}

static void what_is_not_renewed_goes_and_a_merge_renews_nothing(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *negotiator = dial(bed, SCOPE_NEGOTIATOR);
    struct client *reader = dial(bed, SCOPE_READ);
    uint64_t begin_ms = loop_now_ms(bed->loop);
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b1", "ClassAdLifetime = 2"));
    OK(startd, VERB_UPDATE, "[]", LIVE("2", "b1", "ClassAdLifetime = 2"));
    OK(startd, VERB_UPDATE, "[]", LIVE("3", "b1", ""));
    while (strcmp(show(reader, "Machine", "ClassAdLifetime"), "slot2@wn01=2 slot3@wn01=- ") != 0) {
        struct answer answer;
        const char *const ads[] = {"[ MachineLastMatchTime = 1 ]", NULL};
        int status = client_call(negotiator, VERB_MERGE, "[ Name = \"slot1@wn01\" ]", ads, &answer);
        assert_true(status == 0 || status == -ENOENT);
        answer_fini(&answer);
        OK(startd, VERB_UPDATE, "[]", LIVE("2", "b1", "ClassAdLifetime = 2"));
        assert_true(loop_now_ms(bed->loop) < begin_ms + 20000);
    }
    /* Times in ads are whole seconds, cut: two of them are more than one. */
    assert_true(loop_now_ms(bed->loop) >= begin_ms + 1000);
}

static void invalidate_takes_away_what_the_sender_may_have(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *stranger = client_dial(bed, SCOPE_ADVERTISE, "wn02", NULL, NULL);
    struct client *reader = dial(bed, SCOPE_READ);
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b1", ""));
    OK(startd, VERB_UPDATE, "[]", LIVE("2", "b1", ""));
    const char *args = "[ Type = \"Machine\"; Names = { \"slot1@wn01\", \"nobody\", 7 } ]";
    struct answer answer;
    expect(stranger, -EACCES, VERB_INVALIDATE, args, NULL, "slot1@wn01");
    assert_int_equal(client_call(startd, VERB_INVALIDATE, args, NULL, &answer), 0);
    assert_int_equal(ad_int_or(answer.args, "Count", -1), 1);
    answer_fini(&answer);
    assert_string_equal(show(reader, "Machine", "State"), "slot2@wn01=Unclaimed ");
    expect(startd, -EACCES, VERB_INVALIDATE, "[ Type = \"Scheduler\"; Names = { \"s\" } ]", NULL,
           "Scheduler");
}

/* ---- offline ads ----------------------------------------------------------------------------- */

static void offline_ads_survive_a_restart_and_live_ads_do_not(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    OK(startd, VERB_UPDATE, "[]", ASLEEP("1", "b1"));
    OK(startd, VERB_UPDATE, "[]", LIVE("9", "b1", ""));
    struct client *negotiator = dial(bed, SCOPE_NEGOTIATOR);
    OK(negotiator, VERB_MERGE, "[ Type = \"Machine\"; Name = \"slot1@wn01\" ]",
       "[ MachineLastMatchTime = 77; OfflineMatches = { [ Schedd = \"s\" ] } ]");
    restart(bed);
    struct client *reader = dial(bed, SCOPE_READ);
    assert_string_equal(show(reader, "Machine", "MachineLastMatchTime"), "slot1@wn01=77 ");
    assert_string_equal(show(reader, "Machine", "Offline"), "slot1@wn01=true ");
}

static void the_first_live_ad_of_a_new_boot_ends_all_offline_ads_of_the_machine(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *reader = dial(bed, SCOPE_READ);
    OK(startd, VERB_UPDATE, "[]", ASLEEP("1", "b1"));
    OK(startd, VERB_UPDATE, "[]", ASLEEP("2", "b1"));
    OK(startd, VERB_UPDATE, "[]",
       "[ MyType = \"Machine\"; Name = \"slot1@wn02\"; Machine = \"wn02\"; Offline = true;"
       " OfflineBootId = \"b1\" ]");
    OK(startd, VERB_UPDATE, "[]",
       "[ MyType = \"Machine\"; Name = \"sample\"; Machine = \"wn01\"; Offline = true;"
       " PreviousName = \"slot1@wn01\" ]");
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b2", ""));
    assert_string_equal(show(reader, "Machine", "Offline"),
                        "slot1@wn01=- slot1@wn02=true sample=true ");
    restart(bed);
    reader = dial(bed, SCOPE_READ);
    assert_string_equal(show(reader, "Machine", "Offline"), "sample=true slot1@wn02=true ");
}

static void a_straggler_of_the_boot_that_went_to_sleep_is_refused(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *reader = dial(bed, SCOPE_READ);
    OK(startd, VERB_UPDATE, "[]", ASLEEP("1", "b1"));
    OK(startd, VERB_UPDATE, "[]", ASLEEP("2", "b1"));
    const char *const both[] = {LIVE("3", "b1", ""), LIVE("1", "b1", ""), NULL};
    struct answer answer;
    assert_int_equal(client_call(startd, VERB_UPDATE, "[]", both, &answer), -ESTALE);
    assert_non_null(strstr(answer.text, "CancelOffline"));
    answer_fini(&answer);
    assert_string_equal(show(reader, "Machine", "Offline"), "slot1@wn01=true slot2@wn01=true ");
    OK(startd, VERB_UPDATE, "[ CancelOffline = true ]", LIVE("1", "b1", ""));
    assert_string_equal(show(reader, "Machine", "Offline"), "slot1@wn01=- ");
    restart(bed);
    assert_string_equal(show(dial(bed, SCOPE_READ), "Machine", "Offline"), "");
}

static void an_offline_ad_goes_by_invalidate_only_when_it_is_meant(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *reader = dial(bed, SCOPE_READ);
    OK(startd, VERB_UPDATE, "[]", ASLEEP("1", "b1"));
    OK(startd, VERB_INVALIDATE, "[ Type = \"Machine\"; Names = { \"slot1@wn01\" } ]", NULL);
    assert_string_equal(show(reader, "Machine", "Offline"), "slot1@wn01=true ");
    OK(startd, VERB_INVALIDATE,
       "[ Type = \"Machine\"; Names = { \"slot1@wn01\" }; Offline = true ]", NULL);
    assert_string_equal(show(reader, "Machine", "Offline"), "");
    restart(bed);
    assert_string_equal(show(dial(bed, SCOPE_READ), "Machine", "Offline"), "");
}

static void an_offline_ad_whose_time_is_over_is_gone_after_a_restart(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    OK(startd, VERB_UPDATE, "[]", ASLEEP("1", "b1"));
    OK(startd, VERB_UPDATE, "[]",
       "[ MyType = \"Machine\"; Name = \"brief\"; Machine = \"wn02\"; Offline = true;"
       " ClassAdLifetime = 1 ]");
    restart(bed);
    struct client *reader = dial(bed, SCOPE_READ);
    bool over = false;
    /* A second may be needed for it to be over. */
    while (!over) {
        over = strcmp(show(reader, "Machine", "Offline"), "slot1@wn01=true ") == 0;
        if (!over) {
            restart(bed);
            reader = dial(bed, SCOPE_READ);
        }
    }
}

/* ---- merge ----------------------------------------------------------------------------------- */

static void merge_sets_only_what_the_scope_allows(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *negotiator = dial(bed, SCOPE_NEGOTIATOR);
    struct client *rooster = dial(bed, SCOPE_ROOSTER);
    struct client *reader = dial(bed, SCOPE_READ);
    const char *args = "[ Type = \"Machine\"; Name = \"slot1@wn01\" ]";
    expect(negotiator, -ENOENT, VERB_MERGE, args, "[ MachineLastMatchTime = 1 ]", "slot1@wn01");
    OK(startd, VERB_UPDATE, "[]", ASLEEP("1", "b1"));
    OK(negotiator, VERB_MERGE, args, "[ MachineLastMatchTime = 1; OfflineMatches = {} ]");
    OK(rooster, VERB_MERGE, args, "[ PowerState = \"Waking\"; EnteredPowerState = 5 ]");
    assert_string_equal(show(reader, "Machine", "PowerState"), "slot1@wn01=Waking ");
    assert_string_equal(show(reader, "Machine", "MachineLastMatchTime"), "slot1@wn01=1 ");
    expect(rooster, -EINVAL, VERB_MERGE, args, "[ PowerState = \"On\"; Offline = false ]",
           "Offline");
    expect(negotiator, -EACCES, VERB_MERGE, args, "[ Offline = true ]", "Offline");
    expect(negotiator, -EACCES, VERB_MERGE, args, "[ PowerState = \"On\" ]", "PowerState");
    expect(startd, -EACCES, VERB_MERGE, args, "[ PowerState = \"On\" ]", "");
    expect(negotiator, -EINVAL, VERB_MERGE, args, NULL, "one ad");
    expect(negotiator, -EACCES, VERB_MERGE,
           "[ Type = \"Machine\"; Name = \"slot1@wn01\"; Delete = { \"Offline\" } ]", "[]",
           "Offline");
    OK(negotiator, VERB_MERGE,
       "[ Type = \"Machine\"; Name = \"slot1@wn01\"; Delete = { \"MachineLastMatchTime\" } ]",
       "[]");
    assert_string_equal(show(reader, "Machine", "MachineLastMatchTime"), "slot1@wn01=- ");
    assert_string_equal(show(reader, "Machine", "Offline"), "slot1@wn01=true ");
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b2", ""));
    expect(negotiator, -ENOENT, VERB_MERGE, args, "[ OfflineMatches = {} ]", "awake");
}

/* ---- machines that went without a word ---- */

#define SILENT "NotRespondingSince = 7; "
#define SLOT_1 "[ Type = \"Machine\"; Name = \"slot1@wn01\" ]"
#define IS_OFF "[ Offline = true; PowerState = \"Off\"; PowerStateReason = \"off\" ]"
#define MAY_BE "[ Offline = true; PowerState = \"Unknown\"; PowerStateReason = \"on\" ]"

/* Returns the one connection that the collector attends to. */
static struct session *attended_session(const struct collector *collector)
{
    struct session *session = collector->sessions;
    while (session != NULL && session->machine == NULL) {
        session = session->next;
    }
    assert_non_null(session);
    return session;
}

static void requests_of_a_schedd_that_is_silent_are_marked(void **state)
{
    struct bed *bed = *state;
    struct client *reader = dial(bed, SCOPE_READ);
    struct client *other = dial(bed, SCOPE_SCHEDD);
    struct client *schedd = client_dial(bed, SCOPE_SCHEDD | SCOPE_ADVERTISE, "s", "schedd/s", NULL);
    OK(other, VERB_UPDATE, "[]", "[ MyType = \"Request\"; Name = \"t#1\"; JobCount = 1 ]");
    OK(schedd, VERB_UPDATE, "[]", "[ MyType = \"Scheduler\"; Name = \"s\"; Machine = \"h\" ]");
    OK(schedd, VERB_UPDATE, "[]", "[ MyType = \"Request\"; Name = \"s#1\"; JobCount = 1 ]");
    struct session *session = attended_session(bed->collector);
    collector_on_silent(session, session->wire, 9000);
    assert_null(strstr(show(reader, "Scheduler", "NotRespondingSince"), "=-"));
    assert_null(strstr(show(reader, "Request", "NotRespondingSince"), "s#1=-"));
    assert_non_null(strstr(show(reader, "Request", "NotRespondingSince"), "t#1=-"));
    collector_on_silent(session, session->wire, 0);
    assert_string_equal(show(reader, "Request", "NotRespondingSince"), "t#1=- s#1=- ");
    assert_string_equal(show(reader, "Scheduler", "NotRespondingSince"), "s=- ");
}

static void ads_of_a_daemon_that_is_silent_are_marked(struct bed *bed, uint32_t scope,
                                                      const char *uplink, const char *type,
                                                      const char *ad)
{
    struct client *reader = dial(bed, SCOPE_READ);
    struct client *daemon = client_dial(bed, scope, "d", uplink, NULL);
    assert_int_equal(daemon->status, 0);
    OK(daemon, VERB_UPDATE, "[]", ad);
    struct session *session = attended_session(bed->collector);
    collector_on_silent(session, session->wire, 9000);
    assert_null(strstr(show(reader, type, "NotRespondingSince"), "=-"));
    collector_on_silent(session, session->wire, 0);
    assert_string_equal(show(reader, type, "NotRespondingSince"), "d=- ");
}

static void a_negotiator_that_is_silent_is_marked(void **state)
{
    ads_of_a_daemon_that_is_silent_are_marked(
        *state, SCOPE_NEGOTIATOR, "negotiator/d", "Negotiator",
        "[ MyType = \"Negotiator\"; Name = \"d\"; Machine = \"h\" ]");
}

static void a_rooster_that_is_silent_is_marked(void **state)
{
    ads_of_a_daemon_that_is_silent_are_marked(
        *state, SCOPE_ROOSTER, "rooster/d", "Rooster",
        "[ MyType = \"Rooster\"; Name = \"d\"; Machine = \"h\" ]");
}

static void a_silent_machine_whose_uplink_ends_next_is_not_heard_again(void **state)
{
    struct bed *bed = *state;
    struct client *reader = dial(bed, SCOPE_READ);
    struct client *startd = client_dial(bed, SCOPE_ADVERTISE, "", "startd/wn01", NULL);
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b1", ""));
    const struct collector *collector = bed->collector;
    struct session *session = collector->sessions;
    while (session != NULL && session->machine == NULL) {
        session = session->next;
    }
    assert_non_null(session);
    collector_session_lost(session); /* as after a restart of the startd: there is time */
    assert_string_equal(show(reader, "Machine", "NotRespondingSince"), "slot1@wn01=- ");
    collector_on_silent(session, session->wire, 9000);
    collector_on_silent(session, session->wire, 0);
    assert_string_equal(show(reader, "Machine", "NotRespondingSince"), "slot1@wn01=- ");
    collector_session_lost(session);
    assert_null(strstr(show(reader, "Machine", "NotRespondingSince"), "=-"));
}

/* Sends these ads of wn01, and ends the connection. */
static void goes_without_a_word(struct bed *bed, const char *first, const char *second)
{
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    OK(startd, VERB_UPDATE, "[]", first);
    OK(startd, VERB_UPDATE, "[]", second);
    client_close(startd);
}

static void a_machine_that_went_without_a_word_gets_offline_ads(void **state)
{
    struct bed *bed = *state;
    struct client *rooster = dial(bed, SCOPE_ROOSTER), *reader = dial(bed, SCOPE_READ);
    goes_without_a_word(bed,
                        LIVE("1", "b1",
                             SILENT
                             "PartitionableSlot = true; Cpus = 1; TotalSlotCpus = 4; Memory = 10;"
                             " TotalSlotMemory = 90; NumDynamicSlots = 1; RemoteOwner = \"alice\""),
                        LIVE("1_1", "b1", SILENT "DynamicSlot = true; Cpus = 3"));
    OK(rooster, VERB_MERGE, SLOT_1, IS_OFF);
    OK(rooster, VERB_MERGE, "[ Type = \"Machine\"; Name = \"slot1_1@wn01\" ]", IS_OFF);
    for (int i = 0; i < 2; i++) { /* also after a restart */
        assert_string_equal(show(reader, "Machine", "Offline"), "slot1@wn01=true ");
        assert_string_equal(show(reader, "Machine", "PowerStateReason"), "slot1@wn01=off ");
        assert_string_equal(show(reader, "Machine", "Cpus"), "slot1@wn01=4 ");
        assert_string_equal(show(reader, "Machine", "Memory"), "slot1@wn01=90 ");
        assert_string_equal(show(reader, "Machine", "NumDynamicSlots"), "slot1@wn01=0 ");
        assert_string_equal(show(reader, "Machine", "RemoteOwner"), "slot1@wn01=- ");
        assert_string_equal(show(reader, "Machine", "NotRespondingSince"), "slot1@wn01=- ");
        restart(bed);
        reader = dial(bed, SCOPE_READ);
    }
    /* The same boot: only its network was cut off. */
    OK(dial(bed, SCOPE_ADVERTISE), VERB_UPDATE, "[]", LIVE("1", "b1", ""));
    assert_string_equal(show(reader, "Machine", "Offline"), "slot1@wn01=- ");
}

static void one_that_may_be_on_keeps_the_mark_until_it_is_off(void **state)
{
    struct bed *bed = *state;
    struct client *rooster = dial(bed, SCOPE_ROOSTER), *reader = dial(bed, SCOPE_READ);
    goes_without_a_word(bed, LIVE("1", "b1", SILENT), LIVE("1", "b1", SILENT));
    OK(rooster, VERB_MERGE, SLOT_1, MAY_BE);
    assert_string_equal(show(reader, "Machine", "Offline"), "slot1@wn01=true ");
    assert_string_equal(show(reader, "Machine", "PowerState"), "slot1@wn01=Unknown ");
    assert_string_equal(show(reader, "Machine", "NotRespondingSince"), "slot1@wn01=7 ");
    OK(rooster, VERB_MERGE, SLOT_1, IS_OFF);
    assert_string_equal(show(reader, "Machine", "PowerState"), "slot1@wn01=Off ");
    assert_string_equal(show(reader, "Machine", "NotRespondingSince"), "slot1@wn01=- ");
    expect(rooster, -ESTALE, VERB_MERGE, SLOT_1, IS_OFF, "not marked");
}

static void a_machine_that_is_heard_or_connected_is_not_taken_as_asleep(void **state)
{
    struct bed *bed = *state;
    struct client *rooster = dial(bed, SCOPE_ROOSTER), *reader = dial(bed, SCOPE_READ);
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b1", SILENT));
    expect(rooster, -EBUSY, VERB_MERGE, SLOT_1, IS_OFF, "uplink");
    goes_without_a_word(bed, LIVE("1", "b1", ""), LIVE("1", "b1", ""));
    expect(rooster, -ESTALE, VERB_MERGE, SLOT_1, IS_OFF, "not marked");
    expect(rooster, -EINVAL, VERB_MERGE, SLOT_1, "[ Offline = false ]", "only to true");
    assert_string_equal(show(reader, "Machine", "Offline"), "slot1@wn01=- ");
}

static bool has_copy(struct bed *bed)
{
    const struct collector *collector = bed->collector;
    const struct ads_entry *entry = collector_ads_find(collector->ads, "Machine", "slot1@wn01");
    return entry != NULL && entry->kept_s != 0;
}

/* Starts the collector anew; the machines had their time to come back. */
static void restart_long_ago(struct bed *bed)
{
    restart(bed);
    struct collector *collector = bed->collector;
    collector->awake.due_ms = 0;
}

static void a_machine_that_went_off_while_no_collector_ran_is_not_forgotten(void **state)
{
    struct bed *bed = *state;
    goes_without_a_word(bed, LIVE("1", "b1", "Cpus = 4"), LIVE("1_1", "b1", "DynamicSlot = true"));
    LOOP_RIG_UNTIL(bed->loop, has_copy(bed), "no copy");
    restart(bed);
    struct client *reader = dial(bed, SCOPE_READ);
    collector_mark_missing(bed->collector); /* not before its time */
    assert_string_equal(show(reader, "Machine", "Cpus"), "");
    restart_long_ago(bed);
    collector_mark_missing(bed->collector);
    reader = dial(bed, SCOPE_READ);
    assert_string_equal(show(reader, "Machine", "Cpus"), "slot1@wn01=4 ");
    assert_null(strstr(show(reader, "Machine", "NotRespondingSince"), "=-"));
    OK(dial(bed, SCOPE_ROOSTER), VERB_MERGE, SLOT_1, IS_OFF);
    restart_long_ago(bed); /* now there is an offline ad, and no copy */
    collector_mark_missing(bed->collector);
    reader = dial(bed, SCOPE_READ);
    assert_string_equal(show(reader, "Machine", "Offline"), "slot1@wn01=true ");
    OK(dial(bed, SCOPE_ADVERTISE), VERB_UPDATE, "[]", LIVE("1", "b2", "Cpus = 4"));
    assert_true(has_copy(bed)); /* at once: it took the place of the offline ad */
    restart_long_ago(bed);
    collector_mark_missing(bed->collector);
    reader = dial(bed, SCOPE_READ);
    assert_string_equal(show(reader, "Machine", "Cpus"), "slot1@wn01=4 ");
}

static void a_machine_that_came_back_or_was_withdrawn_is_not_missing(void **state)
{
    struct bed *bed = *state;
    goes_without_a_word(bed, LIVE("1", "b1", ""), LIVE("2", "b1", ""));
    LOOP_RIG_UNTIL(bed->loop, has_copy(bed), "no copy");
    restart_long_ago(bed);
    struct client *startd = dial(bed, SCOPE_ADVERTISE), *reader = dial(bed, SCOPE_READ);
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b1", ""));
    collector_mark_missing(bed->collector);
    assert_string_equal(show(reader, "Machine", "NotRespondingSince"), "slot1@wn01=- ");
    OK(startd, VERB_INVALIDATE, "[ Type = \"Machine\"; Names = { \"slot1@wn01\" } ]", NULL);
    restart_long_ago(bed);
    collector_mark_missing(bed->collector);
    assert_string_equal(show(dial(bed, SCOPE_READ), "Machine", "Name"), "");
}

/* ---- queries --------------------------------------------------------------------------------- */

static void claim_ids_are_for_the_negotiator_only(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *negotiator = dial(bed, SCOPE_NEGOTIATOR);
    struct client *reader = dial(bed, SCOPE_READ | SCOPE_SCHEDD);
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b1", "ClaimId = \"secret\""));
    assert_string_equal(show(reader, "Machine", "ClaimId"), "slot1@wn01=- ");
    assert_string_equal(show(negotiator, "Machine", "ClaimId"), "slot1@wn01=- ");
    expect(reader, -EACCES, VERB_QUERY, "[ Type = \"Machine\"; Private = true ]", NULL,
           "negotiator");
    struct answer answer;
    assert_int_equal(client_call(negotiator, VERB_QUERY, "[ Type = \"Machine\"; Private = true ]",
                                 NULL, &answer),
                     0);
    assert_string_equal(ad_string_or(answer.ads.items[0], "ClaimId", ""), "secret");
    answer_fini(&answer);
    /* Nor can they be found out by comparing. */
    assert_int_equal(client_call(reader, VERB_QUERY,
                                 "[ Type = \"Machine\"; Constraint = \"ClaimId =!= undefined\" ]",
                                 NULL, &answer),
                     0);
    assert_int_equal(answer.ads.count, 0);
    answer_fini(&answer);
    assert_int_equal(client_call(reader, VERB_QUERY,
                                 "[ Type = \"Machine\"; Projection = { \"ClaimId\", \"Name\" } ]",
                                 NULL, &answer),
                     0);
    assert_int_equal(answer.ads.count, 1);
    assert_false(ad_has(answer.ads.items[0], "ClaimId"));
    answer_fini(&answer);
}

/* The claim id that a NEGOTIATOR is told beside the one Machine ad. */
static const char *id_told(struct client *negotiator)
{
    static char id[64];
    struct answer answer;
    assert_int_equal(client_call(negotiator, VERB_QUERY, "[ Type = \"Machine\"; Private = true ]",
                                 NULL, &answer),
                     0);
    assert_int_equal(answer.ads.count, 1);
    (void)snprintf(id, sizeof(id), "%s", ad_string_or(answer.ads.items[0], "ClaimId", ""));
    answer_fini(&answer);
    return id;
}

static void claim_ids_stay_beside_an_ad_until_its_owner_says_otherwise(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *negotiator = dial(bed, SCOPE_NEGOTIATOR);
    OK(startd, VERB_UPDATE, "[ Full = true; Epoch = 1; Sequence = 1 ]",
       LIVE("1", "b1", "ClaimId = \"first\""));
    assert_string_equal(id_told(negotiator), "first");
    OK(startd, VERB_UPDATE, "[ Full = false; Epoch = 1; Sequence = 2 ]",
       "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Cpus = 3 ]");
    assert_string_equal(id_told(negotiator), "first");
    OK(negotiator, VERB_MERGE, "[ Type = \"Machine\"; Name = \"slot1@wn01\" ]",
       "[ MachineLastMatchTime = 1 ]");
    assert_string_equal(id_told(negotiator), "first");
    OK(startd, VERB_UPDATE, "[ Full = false; Epoch = 1; Sequence = 3 ]",
       "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; ClaimId = \"second\" ]");
    assert_string_equal(id_told(negotiator), "second");
    OK(startd, VERB_UPDATE, "[ Full = true; Epoch = 1; Sequence = 4 ]", LIVE("1", "b1", ""));
    assert_string_equal(id_told(negotiator), "");
}

/* As HTCondor's daemons send them. */
static void attributes_that_are_secrets_by_name_are_dropped_where_they_come_in(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *negotiator = dial(bed, SCOPE_NEGOTIATOR | SCOPE_READ);
    struct ad *ad = ad_from_text(LIVE("1", "b1", "Capability = \"c\"; TransferKey = \"k\""));
    ad_set_string(ad, "ClaimId", "secret"); /* among the attributes, not beside them */
    const struct ad *ads[] = {ad};
    const struct wire_body body = {.ads = ads, .ad_count = 1};
    struct answer answer;
    assert_true(answer_ask(&answer, startd->wire, NULL, VERB_UPDATE, &body) > 0);
    loop_rig_await(bed->loop, &answer.over, NULL);
    assert_int_equal(answer.status, 0);
    answer_fini(&answer);
    ad_destroy(ad);
    assert_string_equal(id_told(negotiator), "");
    assert_int_equal(client_call(negotiator, VERB_QUERY,
                                 "[ Type = \"Machine\"; Constraint = \"ClaimId =!= undefined || "
                                 "Capability =!= undefined || TransferKey =!= undefined\" ]",
                                 NULL, &answer),
                     0);
    assert_int_equal(answer.ads.count, 0);
    answer_fini(&answer);
    assert_string_equal(show(negotiator, "Machine", "State"), "slot1@wn01=Unclaimed ");
}

static void a_query_has_constraint_projection_and_limit(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *reader = dial(bed, SCOPE_READ);
    char ad[256];
    for (int i = 0; i < 300; i++) {
        snprintf(ad, sizeof(ad), "[ MyType = \"Machine\"; Name = \"slot%d@w\"; N = %d; X = 1 ]", i,
                 i);
        OK(startd, VERB_UPDATE, "[]", ad);
    }
    struct answer answer;
    assert_int_equal(client_call(reader, VERB_QUERY, "[ Type = \"Machine\" ]", NULL, &answer), 0);
    assert_int_equal(answer.ads.count, 300);
    answer_fini(&answer);
    const char *args = "[ Type = \"Machine\"; Constraint = \"N >= 100 && N < 290\"; Limit = 150;"
                       " Projection = { \"N\" } ]";
    assert_int_equal(client_call(reader, VERB_QUERY, args, NULL, &answer), 0);
    assert_int_equal(answer.ads.count, 150);
    assert_int_equal(ad_int_or(answer.args, "Count", 0), 150);
    assert_int_equal(ad_int_or(answer.ads.items[0], "N", 0), 100);
    assert_int_equal(ad_count(answer.ads.items[0]), 1);
    answer_fini(&answer);
    assert_int_equal(client_call(reader, VERB_QUERY, "[ Type = \"Machine\"; Limit = 0 ]", NULL,
                                 &answer),
                     0);
    assert_int_equal(answer.ads.count, 0);
    answer_fini(&answer);
    expect(reader, -EINVAL, VERB_QUERY, "[ Type = \"Machine\"; Constraint = \"N >=\" ]", NULL,
           "Constraint");
}

static void a_large_answer_is_sent_as_its_reader_takes_it(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *reader = dial(bed, SCOPE_READ);
    struct client *leaver = dial(bed, SCOPE_READ);
    enum { FILLER = 20000 };
    char ad[FILLER + 200];
    char filler[FILLER + 1];
    memset(filler, 'f', FILLER);
    filler[FILLER] = '\0';
    for (int i = 0; i < 200; i++) { /* 4 MB: four windows */
        snprintf(ad, sizeof(ad), "[ MyType = \"Machine\"; Name = \"slot%d@w\"; F = \"%s\" ]", i,
                 filler);
        OK(startd, VERB_UPDATE, "[]", ad);
    }
    struct answer left;
    struct answer answer;
    client_send(leaver, VERB_QUERY, "[ Type = \"Machine\" ]", NULL, &left);
    client_send(reader, VERB_QUERY, "[ Type = \"Machine\" ]", NULL, &answer);
    while (left.parts == 0) {
        OK(startd, VERB_PING, "[]", NULL); /* the loop runs */
    }
    client_close(leaver); /* in the middle of its answer */
    loop_run_until(bed->loop, &answer.over);
    assert_int_equal(answer.status, 0);
    assert_int_equal(answer.ads.count, 200);
    assert_int_equal(strlen(ad_string_or(answer.ads.items[199], "F", "")), FILLER);
    answer_fini(&answer);
    answer_fini(&left);
    OK(startd, VERB_PING, "[]", NULL);
}

/* ---- watches --------------------------------------------------------------------------------- */

struct seen {
    char log[2048];
    bool synced;
    bool wanted;
    const char *until; /* wanted becomes true when the log ends so */
};

static void seen_note(struct seen *seen, const char *what, const char *key, int64_t n)
{
    size_t used = strlen(seen->log);
    snprintf(seen->log + used, sizeof(seen->log) - used, "%s %s %d; ", what, key, (int)n);
    size_t length = strlen(seen->log);
    size_t tail = strlen(seen->until);
    seen->wanted = length >= tail && strcmp(seen->log + length - tail, seen->until) == 0;
}

static void seen_changed(void *arg, const char *key, const struct ad *ad)
{
    seen_note(arg, ad_bool_or(ad, "Offline", false) ? "asleep" : "awake", key,
              ad_int_or(ad, "MachineLastMatchTime", 0));
}

static void seen_gone(void *arg, const char *key)
{
    seen_note(arg, "gone", key, 0);
}

static void seen_synced(void *arg)
{
    ((struct seen *)arg)->synced = true;
}

static void a_watch_sees_sleep_match_and_waking_in_order(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *negotiator = dial(bed, SCOPE_NEGOTIATOR);
    struct client *rooster = dial(bed, SCOPE_ROOSTER);
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b1", ""));
    OK(startd, VERB_UPDATE, "[]", LIVE("2", "b1", ""));
    static const struct watch_events EVENTS = {.changed = seen_changed,
                                               .gone = seen_gone,
                                               .synced = seen_synced};
    struct seen seen = {.until = "awake slot1@wn01 0; "};
    const struct watch_spec spec = {.type = "Machine"};
    struct watch *watch = watch_create(bed->loop, &spec, &EVENTS, &seen);
    assert_int_equal(watch_start(watch, rooster->wire), 0);
    loop_run_until(bed->loop, &seen.synced);
    assert_string_equal(seen.log, "awake slot1@wn01 0; awake slot2@wn01 0; ");
    seen = (struct seen){.until = "awake slot1@wn01 0; "};
    const char *const both[] = {ASLEEP("1", "b1"), ASLEEP("2", "b1"), NULL};
    struct answer answer;
    assert_int_equal(client_call(startd, VERB_UPDATE, "[]", both, &answer), 0);
    answer_fini(&answer);
    OK(negotiator, VERB_MERGE, "[ Name = \"slot1@wn01\" ]", "[ MachineLastMatchTime = 9 ]");
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b2", ""));
    loop_run_until(bed->loop, &seen.wanted);
    assert_string_equal(seen.log, "asleep slot1@wn01 0; asleep slot2@wn01 0; asleep slot1@wn01 9; "
                                  "gone slot2@wn01 0; awake slot1@wn01 0; ");
    watch_destroy(watch);
}

static void a_watch_cannot_find_out_claim_ids_by_comparing(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *reader = dial(bed, SCOPE_READ);
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b1", "ClaimId = \"secret\""));
    OK(startd, VERB_UPDATE, "[]", LIVE("2", "b1", ""));
    static const struct watch_events EVENTS = {.changed = seen_changed,
                                               .gone = seen_gone,
                                               .synced = seen_synced};
    struct seen seen = {.until = "awake slot4@wn01 0; "};
    const struct watch_spec spec = {.type = "Machine",
                                    .constraint =
                                        "ClaimId =!= undefined || Name == \"slot4@wn01\""};
    struct watch *watch = watch_create(bed->loop, &spec, &EVENTS, &seen);
    assert_int_equal(watch_start(watch, reader->wire), 0);
    loop_run_until(bed->loop, &seen.synced);
    OK(startd, VERB_UPDATE, "[]", LIVE("3", "b1", "ClaimId = \"secret\""));
    OK(startd, VERB_UPDATE, "[]", LIVE("4", "b1", "ClaimId = \"secret\""));
    loop_run_until(bed->loop, &seen.wanted);
    assert_string_equal(seen.log, "awake slot4@wn01 0; ");
    watch_destroy(watch);
}

/* ---- relay, lease, revoke -------------------------------------------------------------------- */

static void answer_with_peer(void *arg, struct wire_request *request)
{
    (void)arg;
    const struct wire_peer *peer = wire_request_peer(request);
    struct ad *args = ad_create();
    ad_set_bool(args, "Relayed", peer->relayed);
    ad_set_string(args, "Caller", peer->identity);
    struct wire_body body = {.args = args};
    wire_reply_ok(request, &body);
    ad_destroy(args);
}

static void a_command_is_carried_down_an_uplink(void **state)
{
    struct bed *bed = *state;
    struct client *startd =
        client_dial(bed, SCOPE_ADVERTISE, "wn01", "startd/wn01", answer_with_peer);
    assert_int_equal(startd->status, 0);
    struct client *administrator = dial(bed, SCOPE_ADMINISTRATOR);
    struct answer answer;
    assert_int_equal(client_relay(administrator, "startd/wn01", VERB_POWER_DOWN, "[]", NULL,
                                  &answer),
                     0);
    assert_true(ad_bool_or(answer.args, "Relayed", false));
    assert_string_equal(ad_string_or(answer.args, "Caller", ""), "someone@pool");
    answer_fini(&answer);
    client_close(startd);
    do { /* until the collector has seen the end */
        answer_fini(&answer);
        (void)client_relay(administrator, "startd/wn01", VERB_POWER_DOWN, "[]", NULL, &answer);
    } while (answer.status == -ECONNRESET);
    assert_int_equal(answer.status, -EHOSTUNREACH);
    answer_fini(&answer);
}

static void an_uplink_name_needs_the_pattern_of_the_token(void **state)
{
    struct bed *bed = *state;
    struct client *startd = client_dial(bed, SCOPE_ADVERTISE, "wn02", "startd/wn01", NULL);
    assert_int_equal(startd->status, -EACCES);
    assert_non_null(strstr(startd->why, "weak"));
}

static void a_role_has_one_holder_until_its_connection_ends(void **state)
{
    struct bed *bed = *state;
    struct client *first = dial(bed, SCOPE_NEGOTIATOR);
    struct client *second = dial(bed, SCOPE_NEGOTIATOR);
    const char *mine = "[ Role = \"negotiator\"; Holder = \"a\"; Duration = 60 ]";
    const char *yours = "[ Role = \"negotiator\"; Holder = \"b\"; Duration = 60 ]";
    OK(first, VERB_LEASE, mine, NULL);
    OK(first, VERB_LEASE, mine, NULL);
    expect(second, -EBUSY, VERB_LEASE, yours, NULL, "a (someone@pool)");
    struct answer refused;
    assert_int_equal(client_call(second, VERB_LEASE, yours, NULL, &refused), -EBUSY);
    assert_string_equal(ad_string_or(refused.args, "Role", ""), "negotiator");
    assert_string_equal(ad_string_or(refused.args, "Holder", ""), "a");
    assert_string_equal(ad_string_or(refused.args, "HolderIdentity", ""), "someone@pool");
    assert_in_range(ad_int_or(refused.args, "Remaining", 0), 50, 60);
    answer_fini(&refused);
    client_close(first);
    int status = -EBUSY;
    while (status == -EBUSY) { /* until the collector has seen the end */
        struct answer answer;
        status = client_call(second, VERB_LEASE, yours, NULL, &answer);
        answer_fini(&answer);
    }
    assert_int_equal(status, 0);
}

/* The arguments of REVOKE, signed by the client; the text is the caller's. */
static char *revocation_until(struct client *client, const char *token_id, int64_t expires_s)
{
    struct err err = {""};
    struct strbuf text;
    struct ad *ad = ad_create();
    if (revocation_sign(client->context, token_id, expires_s, ad, &err) != 0) {
        fail_msg("%s", err.text);
    }
    strbuf_init(&text, 0);
    ad_print(ad, &text);
    ad_destroy(ad);
    return strbuf_take(&text);
}

static size_t count_of(struct client *reader, const char *type)
{
    char args[100];
    struct answer answer;
    (void)snprintf(args, sizeof args, "[ Type = \"%s\" ]", type);
    assert_int_equal(client_call(reader, VERB_QUERY, args, NULL, &answer), 0);
    size_t count = answer.ads.count;
    answer_fini(&answer);
    return count;
}

static void ads_end_with_the_token_of_their_sender(void **state)
{
    static const char GONE[] =
        "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\" ]";
    static const char STAYS[] =
        "[ MyType = \"Machine\"; Name = \"slot1@wn02\"; Machine = \"wn02\" ]";
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *other = dial(bed, SCOPE_ADVERTISE);
    struct client *schedd = dial(bed, SCOPE_SCHEDD);
    struct client *administrator = dial(bed, SCOPE_ADMINISTRATOR);
    OK(startd, VERB_UPDATE, "[]", GONE);
    OK(other, VERB_UPDATE, "[]", STAYS);
    OK(schedd, VERB_UPDATE, "[]", "[ MyType = \"Request\"; Name = \"s#1\" ]");
    client_close(startd); /* its token counts, connected or not */
    const struct client *revoked[] = {startd, schedd};
    for (size_t i = 0; i < 2; i++) {
        char *proved = revocation_until(administrator, revoked[i]->token_id, 0);
        OK(administrator, VERB_REVOKE, proved, NULL);
        mem_free(proved);
    }
    struct client *reader = dial(bed, SCOPE_READ);
    assert_int_equal(count_of(reader, "Machine"), 1);
    assert_string_equal(show(reader, "Machine", "Name"), "slot1@wn02=slot1@wn02 ");
    assert_int_equal(count_of(reader, "Request"), 0);
}

static void a_revocation_is_not_replaced_by_one_that_ends_earlier(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *administrator = dial(bed, SCOPE_ADMINISTRATOR);
    const int64_t ends_s[] = {4000000000, 4100000000, 4000000000, 1};
    for (size_t i = 0; i < sizeof ends_s / sizeof ends_s[0]; i++) {
        char *proved = revocation_until(administrator, startd->token_id, ends_s[i]);
        OK(administrator, VERB_REVOKE, proved, NULL);
        mem_free(proved);
    }
    struct client *reader = dial(bed, SCOPE_READ);
    assert_non_null(strstr(show(reader, "Revocation", "Expires"), "=4100000000"));
}

static void a_revoked_token_is_refused_also_after_a_restart(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *administrator = dial(bed, SCOPE_ADMINISTRATOR);
    struct client *local = dial(bed, 0);
    char args[200];
    snprintf(args, sizeof(args), "[ TokenId = \"%s\" ]", startd->token_id);
    expect(startd, -EACCES, VERB_REVOKE, args, NULL, "");
    expect(administrator, -EINVAL, VERB_REVOKE, "[]", NULL, "TokenId");
    /* Whoever asks: the others want a signature. */
    expect(administrator, -EINVAL, VERB_REVOKE, args, NULL, "roost token revoke");
    expect(local, -EINVAL, VERB_REVOKE, args, NULL, "roost token revoke");
    char *weak = revocation_until(startd, startd->token_id, 0);
    expect(local, -EACCES, VERB_REVOKE, weak, NULL, "needs the scope ADMINISTRATOR");
    mem_free(weak);
    char *proved = revocation_until(administrator, startd->token_id, 0);
    startd->over = false;
    OK(local, VERB_REVOKE, proved, NULL);
    mem_free(proved);
    loop_run_until(bed->loop, &startd->over);
    assert_int_not_equal(startd->status, 0);
    for (int i = 0; i < 2; i++) {
        bed->tokens = 0; /* the first token's id again */
        struct client *again = client_dial(bed, SCOPE_ADVERTISE, "", NULL, NULL);
        assert_string_equal(again->token_id, startd->token_id);
        assert_int_not_equal(again->status, 0);
        assert_non_null(strstr(again->why, "revoked"));
        bed->tokens = 10 + i;
        struct client *reader = dial(bed, SCOPE_READ);
        assert_non_null(strstr(show(reader, "Revocation", "RevokedBy"), "=someone@pool"));
        struct answer answer;
        struct revocation_signer by;
        assert_int_equal(client_call(reader, VERB_QUERY, "[ Type = \"Revocation\" ]", NULL,
                                     &answer),
                         0);
        assert_int_equal(answer.ads.count, 1);
        assert_int_equal(revocation_judge(reader->context, answer.ads.items[0], &by, NULL), 0);
        answer_fini(&answer);
        restart(bed);
    }
}

static void a_verb_of_others_is_refused(void **state)
{
    struct bed *bed = *state;
    struct client *negotiator = dial(bed, SCOPE_NEGOTIATOR);
    struct client *reader = dial(bed, SCOPE_READ);
    expect(negotiator, -ENOSYS, VERB_MATCH, "[]", NULL, "MATCH");
    expect(reader, -EACCES, VERB_UPDATE, "[]", LIVE("1", "b1", ""), "");
    OK(reader, VERB_PING, "[]", NULL);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_bed, remove_bed)

UNIT_TESTS(CASE(what_is_sent_is_found), CASE(live_machines_have_the_address_of_their_connection),
           CASE(a_bad_ad_is_left_out_and_the_others_count),
           CASE(an_ad_that_is_there_is_not_everybodys), CASE(an_ad_that_is_too_large_is_left_out),
           CASE(changes_alone_are_applied_to_what_is_there), CASE(an_older_update_changes_nothing),
           CASE(what_is_not_renewed_goes_and_a_merge_renews_nothing),
           CASE(invalidate_takes_away_what_the_sender_may_have),
           CASE(offline_ads_survive_a_restart_and_live_ads_do_not),
           CASE(the_first_live_ad_of_a_new_boot_ends_all_offline_ads_of_the_machine),
           CASE(a_straggler_of_the_boot_that_went_to_sleep_is_refused),
           CASE(an_offline_ad_goes_by_invalidate_only_when_it_is_meant),
           CASE(an_offline_ad_whose_time_is_over_is_gone_after_a_restart),
           CASE(merge_sets_only_what_the_scope_allows),
           CASE(requests_of_a_schedd_that_is_silent_are_marked),
           CASE(a_negotiator_that_is_silent_is_marked), CASE(a_rooster_that_is_silent_is_marked),
           CASE(a_silent_machine_whose_uplink_ends_next_is_not_heard_again),
           CASE(a_machine_that_went_without_a_word_gets_offline_ads),
           CASE(one_that_may_be_on_keeps_the_mark_until_it_is_off),
           CASE(a_machine_that_is_heard_or_connected_is_not_taken_as_asleep),
           CASE(a_machine_that_went_off_while_no_collector_ran_is_not_forgotten),
           CASE(a_machine_that_came_back_or_was_withdrawn_is_not_missing),
           CASE(claim_ids_are_for_the_negotiator_only),
           CASE(claim_ids_stay_beside_an_ad_until_its_owner_says_otherwise),
           CASE(attributes_that_are_secrets_by_name_are_dropped_where_they_come_in),
           CASE(a_query_has_constraint_projection_and_limit),
           CASE(a_large_answer_is_sent_as_its_reader_takes_it),
           CASE(a_watch_sees_sleep_match_and_waking_in_order),
           CASE(a_watch_cannot_find_out_claim_ids_by_comparing),
           CASE(a_command_is_carried_down_an_uplink),
           CASE(an_uplink_name_needs_the_pattern_of_the_token),
           CASE(a_role_has_one_holder_until_its_connection_ends),
           CASE(ads_end_with_the_token_of_their_sender),
           CASE(a_revocation_is_not_replaced_by_one_that_ends_earlier),
           CASE(a_revoked_token_is_refused_also_after_a_restart), CASE(a_verb_of_others_is_refused))
