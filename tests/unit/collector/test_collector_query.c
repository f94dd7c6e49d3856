/* QUERY over real wires: one moment, projections, indexes that nobody notices.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "base/mem.h"
#include "tests/support/collector_talk.h"

static int make_bed(void **state)
{
    return make_bed_with(state, "CLASSAD_LIFETIME = 60\nCOLLECTOR_UPDATE_INTERVAL = 1");
}

enum { MANY = 200, FILLER = 20000 };

static void send_generation(struct client *startd, int generation)
{
    char ad[FILLER + 200];
    char filler[FILLER + 1];
    memset(filler, 'f', FILLER);
    filler[FILLER] = '\0';
    for (int i = 0; i < MANY; i++) {
        snprintf(ad, sizeof(ad),
                 "[ MyType = \"Machine\"; Name = \"slot%d@w\"; G = %d; F = \"%s\" ]", i, generation,
                 filler);
        OK(startd, VERB_UPDATE, "[]", ad);
    }
}

static void an_answer_shows_one_moment_while_updates_go_on(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *reader = dial(bed, SCOPE_READ);
    struct answer answer;
    send_generation(startd, 1); /* 4 MB: four windows */
    client_send(reader, VERB_QUERY, "[ Type = \"Machine\"; Constraint = \"G > 0\" ]", NULL,
                &answer);
    while (answer.parts == 0) {
        OK(startd, VERB_PING, "[]", NULL); /* the loop runs */
    }
    assert_false(answer.over);
    send_generation(startd, 2);
    OK(startd, VERB_INVALIDATE, "[ Type = \"Machine\"; Constraint = \"true\" ]", NULL);
    loop_run_until(bed->loop, &answer.over);
    assert_int_equal(answer.ads.count, MANY);
    for (int i = 0; i < MANY; i++) {
        char name[32];
        snprintf(name, sizeof(name), "slot%d@w", i);
        assert_string_equal(ad_string_or(answer.ads.items[i], "Name", ""), name);
        assert_int_equal(ad_int_or(answer.ads.items[i], "G", 0), 1);
    }
    answer_fini(&answer);
    assert_string_equal(show(reader, "Machine", "G"), "");
}

/* Different in each ad; all that an evaluation may take. */
#define COSTLY "regexp(\\\"(a+)+$\\\", strcat(\\\"aaaaaaaaaaaaaaaaaaaaaaaaab\\\", Name))"

static void others_are_answered_while_a_costly_constraint_is_judged(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *heavy = dial(bed, SCOPE_READ);
    struct client *other = dial(bed, SCOPE_READ);
    struct answer many[4];
    int pings = 0;
    for (int i = 0; i < 20; i++) {
        char ad[100];
        snprintf(ad, sizeof(ad), "[ MyType = \"Machine\"; Name = \"slot%d@w\" ]", i);
        OK(startd, VERB_UPDATE, "[]", ad);
    }
    for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++) {
        client_send(heavy, VERB_QUERY, "[ Type = \"Machine\"; Constraint = \"" COSTLY "\" ]", NULL,
                    &many[i]);
    }
    while (!many[0].over) {
        OK(other, VERB_PING, "[]", NULL);
        pings++;
    }
    assert_true(pings >= 4); /* eighty slices, one in a turn of the loop */
    loop_run_until(bed->loop, &many[3].over);
    for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++) {
        assert_int_equal(many[i].ads.count, 0);
        assert_int_equal(ad_int_or(many[i].args, "TooCostly", 0), 20);
        answer_fini(&many[i]);
    }
}

/* Each ad costs less than an evaluation may, all together more than a request may. */
#define HEAVY "regexp(\\\"(a+)+$\\\", strcat(\\\"aaaaaaaaaaaab\\\", Name))"

static void a_request_beyond_its_budget_is_refused(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *reader = dial(bed, SCOPE_READ);
    static const struct {
        enum wire_verb verb;
        const char *args;
    } REQUESTS[] = {
        {VERB_QUERY, "[ Type = \"Machine\"; Constraint = \"" HEAVY "\" ]"},
        {VERB_QUERY, "[ Type = \"Machine\"; Constraint = \"" HEAVY " =!= 1\" ]"},
        {VERB_INVALIDATE, "[ Type = \"Machine\"; Constraint = \"" HEAVY "\" ]"},
    };
    for (int i = 0; i < 200; i++) {
        char ad[100];
        snprintf(ad, sizeof(ad), "[ MyType = \"Machine\"; Name = \"slot%d@w\" ]", i);
        OK(startd, VERB_UPDATE, "[]", ad);
    }
    for (size_t i = 0; i < sizeof(REQUESTS) / sizeof(REQUESTS[0]); i++) {
        struct client *client = REQUESTS[i].verb == VERB_QUERY ? reader : startd;
        expect(client, -EDQUOT, REQUESTS[i].verb, REQUESTS[i].args, NULL, "(a+)+$");
        expect(client, -EDQUOT, REQUESTS[i].verb, REQUESTS[i].args, NULL, "MAX_CONSTRAINT_STEPS");
    }
    OK(reader, VERB_QUERY, "[ Type = \"Machine\"; Constraint = \"Name == 1\" ]", NULL);
    OK(reader, VERB_QUERY, "[ Type = \"Machine\" ]", NULL); /* asks for nothing to be evaluated */
}

static int make_bed_of_small_budget(void **state)
{
    return make_bed_with(state, "MAX_CONSTRAINT_STEPS = 200000");
}

static void an_ad_that_computes_what_is_wanted_comes_whole(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *reader = dial(bed, SCOPE_READ);
    struct answer answer;
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b1", "A = 1; B = 2; ClaimId = \"secret\""));
    OK(startd, VERB_UPDATE, "[]", LIVE("2", "b1", "A = B + 1; B = 2; ClaimId = \"secret\""));
    assert_int_equal(client_call(reader, VERB_QUERY,
                                 "[ Type = \"Machine\"; Projection = { \"a\", \"NoSuch\" };"
                                 " WholeIfComputed = true ]",
                                 NULL, &answer),
                     0);
    assert_int_equal(answer.ads.count, 2);
    assert_int_equal(ad_count(answer.ads.items[0]), 1);
    assert_int_equal(ad_int_or(answer.ads.items[0], "A", 0), 1);
    assert_int_equal(ad_int_or(answer.ads.items[1], "A", 0), 3);
    assert_true(ad_has(answer.ads.items[1], "State"));
    assert_false(ad_has(answer.ads.items[1], "ClaimId"));
    answer_fini(&answer);
    assert_int_equal(client_call(reader, VERB_QUERY,
                                 "[ Type = \"Machine\"; Projection = { \"A\" } ]", NULL, &answer),
                     0);
    assert_int_equal(ad_count(answer.ads.items[1]), 1);
    answer_fini(&answer);
}

static void what_an_index_leaves_is_what_all_would_give(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *reader = dial(bed, SCOPE_READ);
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b1", "Cpus = 1"));
    OK(startd, VERB_UPDATE, "[]", LIVE("2", "b1", "Cpus = 2"));
    OK(startd, VERB_UPDATE, "[]", LIVE("3", "b1", "Cpus = 1; Absent = true"));
    OK(startd, VERB_UPDATE, "[]", ASLEEP("4", "b0"));
    for (int i = 0; i < 2; i++) {
        assert_string_equal(show_where(reader, "Machine", "Cpus == 1", "Cpus"), "slot1@wn01=1 ");
        assert_string_equal(show_where(reader, "Machine", "Name == \\\"SLOT2@wn01\\\"", "Cpus"),
                            "slot2@wn01=2 ");
        assert_string_equal(show_where(reader, "Machine", "Machine == \\\"wn01\\\"", "Offline"),
                            "slot1@wn01=- slot2@wn01=- slot4@wn01=true ");
        assert_string_equal(show_where(reader, "Machine", "Cpus == 1 && Absent =?= true", "Cpus"),
                            "slot3@wn01=1 ");
        assert_string_equal(show_where(reader, "NoSuch", "Cpus == 1", "Cpus"), "");
    }
}

static void a_constraint_that_costs_much_in_each_ad_holds_nobody_up(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *reader = dial(bed, SCOPE_READ);
    struct answer answer;
    char ad[200];
    for (int i = 0; i < 300; i++) {
        snprintf(ad, sizeof(ad), "[ MyType = \"Machine\"; Name = \"slot%d@w\"; Machine = \"w\" ]",
                 i);
        OK(startd, VERB_UPDATE, "[]", ad);
    }
    struct strbuf args; /* 10,000 terms, each false */
    strbuf_init(&args, 0);
    strbuf_puts(&args, "[ Type = \"Machine\"; Constraint = \"false");
    for (int i = 0; i < 10000; i++) {
        strbuf_puts(&args, " || Name > Machine");
    }
    strbuf_puts(&args, "\" ]");
    client_send(reader, VERB_QUERY, strbuf_text(&args), NULL, &answer);
    strbuf_fini(&args);
    int pings = 0;
    while (!answer.over) {
        OK(startd, VERB_PING, "[]", NULL);
        pings++;
    }
    assert_int_equal(answer.status, 0);
    assert_true(pings > 5);
    answer_fini(&answer);
}

static void invalidate_by_a_costly_constraint_holds_nobody_up(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *other = dial(bed, SCOPE_ADVERTISE);
    struct client *leaver = dial(bed, SCOPE_ADVERTISE);
    struct client *reader = dial(bed, SCOPE_READ);
    struct answer answer, second, third;
    char ad[200];
    for (int i = 0; i < 300; i++) {
        snprintf(ad, sizeof(ad), "[ MyType = \"Machine\"; Name = \"slot%d@w\"; Machine = \"w\" ]",
                 i);
        OK(startd, VERB_UPDATE, "[]", ad);
    }
    OK(startd, VERB_UPDATE, "[]", "[ MyType = \"DaemonMaster\"; Name = \"w\" ]");
    struct strbuf args;
    strbuf_init(&args, 0);
    strbuf_puts(&args, "[ Type = \"Machine\"; Names = { \"slot0@w\" }; Constraint = \"");
    for (int i = 0; i < 10000; i++) {
        strbuf_puts(&args, "Name > Machine || ");
    }
    strbuf_puts(&args, "true\" ]");
    uint64_t begin_ms = loop_now_ms(bed->loop);
    client_send(other, VERB_INVALIDATE, strbuf_text(&args), NULL, &answer);
    strbuf_fini(&args);
    client_send(other, VERB_INVALIDATE, "[ Type = \"DaemonMaster\"; Constraint = \"true\" ]", NULL,
                &second);
    client_send(leaver, VERB_INVALIDATE,
                "[ Type = \"Machine\"; Constraint = \"Name == \\\"none\\\"\" ]", NULL, &third);
    int pings = 0;
    while (!answer.over) {
        OK(startd, VERB_PING, "[]", NULL);
        if (++pings == 3) { /* after the message: it stays */
            assert_true(loop_now_ms(bed->loop) > begin_ms);
            OK(startd, VERB_UPDATE, "[]", ad);
            assert_false(answer.over);
        }
    }
    assert_true(pings > 5);
    assert_int_equal(answer.status, 0);
    assert_int_equal(ad_int_or(answer.args, "Count", -1), 299);
    loop_run_until(bed->loop, &second.over);
    assert_int_equal(ad_int_or(second.args, "Count", -1), 1);
    loop_run_until(bed->loop, &third.over);
    assert_int_equal(ad_int_or(third.args, "Count", -1), 0);
    assert_string_equal(show(reader, "Machine", "Machine"), "slot299@w=w ");
    assert_string_equal(show(reader, "DaemonMaster", "Name"), "");
    answer_fini(&answer);
    answer_fini(&second);
    answer_fini(&third);
}

/* Megabytes that one connection has sent do not stand before what another asks. */
static void a_flood_of_one_connection_starves_nobody(void **state)
{
    struct bed *bed = *state;
    struct client *flooder = dial(bed, SCOPE_ADVERTISE);
    struct client *other = dial(bed, SCOPE_ADVERTISE);
    enum { MESSAGES = 400 };
    struct answer *answers = mem_zalloc(MESSAGES * sizeof(*answers));
    char ad[FILLER + 200], filler[FILLER + 1];
    memset(filler, 'f', FILLER);
    filler[FILLER] = '\0';
    for (int i = 0; i < MESSAGES; i++) { /* 8 MB */
        snprintf(ad, sizeof(ad), "[ MyType = \"Machine\"; Name = \"slot%d@w\"; F = \"%s\" ]",
                 i % 10, filler);
        const char *const ads[] = {ad, NULL};
        client_send(flooder, VERB_UPDATE, "[]", ads, &answers[i]);
    }
    int between = 0;
    int behind = 0;
    while (!answers[MESSAGES - 1].over) {
        int done = 0;
        OK(other, VERB_PING, "[]", NULL);
        for (int i = 0; i < MESSAGES; i++) {
            done += answers[i].over;
        }
        /* One turn of 128 KiB is 6 of these messages; both ends share this loop, so a few turns. */
        behind = done - behind > 60 ? behind : done;
        assert_int_equal(behind, done);
        between++;
    }
    assert_true(between > MESSAGES / 60); /* how many more depends on the machine */
    for (int i = 0; i < MESSAGES; i++) {
        assert_int_equal(answers[i].status, 0);
        answer_fini(&answers[i]);
    }
    mem_free(answers);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, make_bed, remove_bed)
UNIT_TESTS(CASE(invalidate_by_a_costly_constraint_holds_nobody_up),
           CASE(a_flood_of_one_connection_starves_nobody),
           CASE(an_answer_shows_one_moment_while_updates_go_on),
           CASE(others_are_answered_while_a_costly_constraint_is_judged),
           cmocka_unit_test_setup_teardown(a_request_beyond_its_budget_is_refused,
                                           make_bed_of_small_budget, remove_bed),
           CASE(an_ad_that_computes_what_is_wanted_comes_whole),
           CASE(what_an_index_leaves_is_what_all_would_give),
           CASE(a_constraint_that_costs_much_in_each_ad_holds_nobody_up))
