/* What proves a run: its nonce and its claim id.  Nobody learns a bit of them by asking for jobs.
 *
 * A real collector and a real schedd; the test is the negotiator that matches and the startd that
 * claims, so that the job has a nonce and a claim id.  Then the questions of who wants to know them
 * are asked, with a token and over the Unix socket.
 *
 * LINK: collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/schedd_bed.h"
#include "tests/support/unit.h"

#include "base/check.h"

#define CLAIM_ID    "slot1@x#boot#0123456789abcdef0123456789abcdef"
#define CLAIM_NONCE "00112233445566778899aabbccddeeff"
#define JOB         "[Cmd = \"/bin/true\"; Iwd = \"/tmp\"; Requirements = true]"

struct scene {
    struct bed *bed;
    struct daemon_run *run;
    struct client *here; /* over the schedd's Unix socket */
    char address[400];   /* where the schedd listens */
};

static char schedd_pin[65]; /* as the schedd tells its startd */

/* A startd that takes whatever it is asked to. */
static void startd_asked(void *arg, struct wire_request *request)
{
    (void)arg;
    (void)snprintf(schedd_pin, sizeof schedd_pin, "%s",
                   ad_string_or(wire_request_args(request), "ScheddPin", ""));
    startd_takes(request, CLAIM_NONCE);
}

static void find_address(struct scene *scene)
{
    char path[400];
    char *text = NULL;
    size_t length = 0;
    (void)snprintf(path, sizeof(path), "%s/schedd/spool/schedd.address", scene->bed->dir);
    MUST(os_read_file(scene->bed->os, path, sizeof(scene->address) - 1, &text, &length, err));
    (void)snprintf(scene->address, sizeof(scene->address), "%.*s", (int)strcspn(text, "\n"), text);
    mem_free(text);
}

/* By TCP, with the token of that client. */
static struct client *dial_there(struct scene *scene, uint32_t scopes, const char *route)
{
    static const struct wire_events EVENTS = {.ready = client_ready, .closed = client_closed};
    struct client *client = client_dial(scene->bed, scopes, "", NULL, NULL);
    const struct wire_dial how = {.address = scene->address,
                                  .route = route,
                                  .name = "",
                                  .pin = schedd_pin};
    wire_close(client->wire);
    client->over = false;
    MUST(wire_dial(client->context, &how, &EVENTS, client, &client->wire, err));
    loop_run_until(scene->bed->loop, &client->over);
    assert_int_equal(client->status, 0);
    return client;
}

/* Job 1.0 of ours has a run. */
static void set_scene(struct scene *scene)
{
    struct bed *bed = bed_create("");
    *scene = (struct scene){.bed = bed};
    bed_start(bed);
    bed_find_address(bed);
    struct client *negotiator = client_dial(bed, SCOPE_READ | SCOPE_NEGOTIATOR, "", NULL, NULL);
    const struct client *startd =
        client_dial(bed, SCOPE_READ | SCOPE_ADVERTISE, "", "startd/x", startd_asked);
    const struct client *token =
        client_dial(bed, SCOPE_READ | SCOPE_SCHEDD | SCOPE_ADVERTISE, "", NULL, NULL);
    char path[300];
    assert_int_equal(startd->status, 0);
    schedd_bed_write(bed, token->token_id, path);
    scene->run = schedd_bed_start(bed, path);
    find_address(scene);
    scene->here = dial_schedd(bed);
    call_ok(scene->here, VERB_SUBMIT, JOB, NULL);
    wait_for_ads(negotiator, "Request", "JobCount == 1", 1);
    assert_int_equal(match(negotiator, CLAIM_ID), 0);
    struct client *claimer = dial_there(scene, SCOPE_READ, "claim");
    call_ok(claimer, VERB_CLAIM,
            "[ ClaimId = \"" CLAIM_ID "\"; Nonce = \"" CLAIM_NONCE
            "\"; Machine = \"x\"; SlotName = \"slot1@x\" ]",
            NULL);
}

static void end_scene(struct scene *scene)
{
    for (size_t i = 0; i < scene->bed->clients.count; i++) {
        client_close(scene->bed->clients.items[i]);
    }
    daemon_run_destroy(scene->run);
    bed_destroy(scene->bed);
}

static const char *const GUESSES[] = {
    "size(_roost_priv_Nonce) == 32",
    "_roost_priv_Nonce =!= undefined",
    "MY._roost_priv_Nonce =!= undefined",
    "substr(_roost_priv_Nonce, 0, 1) >= \\\"0\\\"",
    "eval(strcat(\\\"_roost\\\", \\\"_priv_Nonce\\\")) =!= undefined",
    "size(Nonce) == 32",
    "ClaimId == \\\"" CLAIM_ID "\\\"",
    "MY.ClaimId =!= undefined",
    "eval(strcat(\\\"Claim\\\", \\\"Id\\\")) =!= undefined",
    "[ a = ClaimId ].a =!= undefined",
    "regexp(\\\"boot\\\", ClaimId)",
    "isString(ClaimId) || isString(_roost_priv_Nonce)",
};

/* For how many jobs the order was good, or at least not too much. */
static int64_t ordered(struct client *client, enum wire_verb verb, const char *args,
                       const char *constraint)
{
    static const char *const CHANGES[] = {"[ Note = 1 ]", NULL};
    char text[600];
    struct answer answer;
    (void)snprintf(text, sizeof(text), "[ %s; Constraint = \"%s\" ]", args, constraint);
    if (client_call(client, verb, text, verb == VERB_EDIT ? CHANGES : NULL, &answer) != 0) {
        fail_msg("%s: %s", text, answer.text);
    }
    int64_t found = ad_int_or(answer.args, "Success", 0) + ad_int_or(answer.args, "BadStatus", 0) +
                    (int64_t)answer.ads.count;
    answer_fini(&answer);
    return found;
}

static void questions_see_nothing(struct client *client)
{
    assert_int_equal(count_ads(client, "Job", "ClaimEpoch >= 1"), 1); /* there is a run */
    for (size_t i = 0; i < ARRAY_COUNT(GUESSES); i++) {
        assert_int_equal(count_ads(client, "Job", GUESSES[i]), 0);
        assert_int_equal(count_ads(client, "JobBatch", GUESSES[i]), 0);
    }
}

static void no_question_with_a_token_of_READ_learns_what_proves_a_run(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    questions_see_nothing(dial_there(&scene, SCOPE_READ, "schedd"));
    end_scene(&scene);
}

static void no_question_over_the_unix_socket_learns_what_proves_a_run(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    questions_see_nothing(scene.here);
    end_scene(&scene);
}

static void no_order_finds_a_job_by_what_proves_its_run(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct client *client = scene.here;
    for (size_t i = 0; i < ARRAY_COUNT(GUESSES); i++) {
        assert_int_equal(ordered(client, VERB_ACT, "Action = \"Suspend\"", GUESSES[i]), 0);
        assert_int_equal(ordered(client, VERB_EDIT, "Any = true", GUESSES[i]), 0);
        assert_int_equal(ordered(client, VERB_JOB_CHECKPOINT, "Any = true", GUESSES[i]), 0);
    }
    assert_int_equal(ordered(client, VERB_ACT, "Action = \"Suspend\"", "ClaimEpoch >= 1"), 1);
    assert_int_equal(ordered(client, VERB_EDIT, "Any = true", "ClaimEpoch >= 1"), 1);
    end_scene(&scene);
}

static void the_history_of_a_run_does_not_hold_what_proved_it(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    call_ok(scene.here, VERB_ACT, "[ Action = \"Remove\"; Ids = {\"1.0\"} ]", NULL);
    wait_for_ads(scene.here, "History", "ClaimEpoch >= 1", 1);
    for (size_t i = 0; i < ARRAY_COUNT(GUESSES); i++) {
        assert_int_equal(count_ads(scene.here, "History", GUESSES[i]), 0);
    }
    end_scene(&scene);
}

UNIT_TESTS(UNIT(no_question_with_a_token_of_READ_learns_what_proves_a_run),
           UNIT(no_question_over_the_unix_socket_learns_what_proves_a_run),
           UNIT(no_order_finds_a_job_by_what_proves_its_run),
           UNIT(the_history_of_a_run_does_not_hold_what_proved_it))
