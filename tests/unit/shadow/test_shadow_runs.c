/* tests/unit/shadow/test_shadow_runs.c - the life of a run: from JOB_RUN to its placed result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/shadow_bed.h"

/* ---- tests -------------------------------------------------------------------------------------
 */

static void a_job_is_fetched_and_its_result_is_placed(void **state)
{
    struct world *world = *state;
    struct starter starter;
    struct answer answer;
    char text[512];
    put(world, "run.sh", "#!/bin/sh\n");
    put(world, "in.txt", "some input");
    job_run(world, "", "TransferInput = \"in.txt\"");
    dial(world, "1.0", 3, NONCE, &starter);
    assert_true(starter.ready);
    begin(starter.wire, VERB_JOB_FETCH, "[]", NULL, NULL, &answer);
    wait_for(world, &answer.over);
    assert_int_equal(answer.status, 0);
    assert_int_equal(answer.ads.count, 3);
    assert_string_equal(ad_string_or(answer.ads.items[0], "Cmd", ""), "condor_exec.exe");
    assert_string_equal(ad_string_or(answer.ads.items[2], "Name", ""), "in.txt");
    assert_int_equal(ad_int_or(answer.ads.items[2], "Size", 0), 10);
    answer_fini(&answer);
    begin(starter.wire, VERB_FILE_GET, "[Name = \"in.txt\"]", NULL, NULL, &answer);
    wait_for(world, &answer.over);
    assert_int_equal(answer.status, 0);
    assert_string_equal(strbuf_text(&answer.bytes), "some input");
    assert_int_equal(strlen(strbuf_text(&answer.sums)), 64);
    answer_fini(&answer);
    assert_int_equal(call(world, starter.wire, VERB_JOB_STARTED, "[Pid = 7]", NULL, NULL), 0);
    put_file(world, &starter, "_condor_stdout", "hello\n");
    file_is(world, "out", NULL); /* not before it is committed */
    assert_int_equal(call(world, starter.wire, VERB_JOB_DONE,
                          done_args("_condor_stdout", "hello\n", text), NULL, NULL),
                     0);
    file_is(world, "out", "hello\n");
    reports_are(world, "JOB_STATUS Started;JOB_RESULT exit 5;JOB_PLACED;");
    wire_close(starter.wire);
}

static void a_missing_input_holds_the_job_before_the_starter_is_refused(void **state)
{
    struct world *world = *state;
    struct starter starter;
    char expected[256];
    put(world, "run.sh", "#!/bin/sh\n");
    job_run(world, "", "TransferInput = \"in.txt\"");
    dial(world, "1.0", 3, NONCE, &starter);
    assert_int_equal(call(world, starter.wire, VERB_JOB_FETCH, "[]", NULL, NULL), -ENOENT);
    (void)snprintf(expected, sizeof(expected),
                   "JOB_STATUS Hold 13 Transfer input files failure at the access point. Details: "
                   "input file '%s/in.txt': No "
                   "such file or directory;",
                   world->dir);
    reports_are(world, expected);
    wire_close(starter.wire);
}

#define OTHER "00112233445566778899aabbccddeeff"

/* Over the connection of a run that is over. */
static int fetch_next(struct world *world, struct starter *starter, const char *nonce)
{
    char args[200];
    (void)snprintf(args, sizeof(args), "[JobId = \"2.0\"; ClaimEpoch = 1; Nonce = \"%s\"]", nonce);
    return call(world, starter->wire, VERB_JOB_FETCH, args, NULL, NULL);
}

/* A run is over, its starter stays, and another run is expected. */
static void stay(struct world *world, struct starter *starter)
{
    put(world, "run.sh", "#!/bin/sh\n");
    job_run(world, "", "");
    dial(world, "1.0", 3, NONCE, starter);
    assert_int_equal(call(world, starter->wire, VERB_JOB_DONE,
                          "[ExitCode = 0; Files = {}; Checksums = {}; MayStay = true]", NULL, NULL),
                     0);
    assert_int_equal(call(world, world->shadow, VERB_JOB_RUN,
                          "[JobId = \"2.0\"; ClaimEpoch = 1; Nonce = \"" OTHER "\"]",
                          "[Cmd = \"/bin/true\"; Iwd = \"/tmp\"; TransferExecutable = false]",
                          NULL),
                     0);
}

static void a_starter_that_stays_goes_on_with_another_run_by_its_nonce(void **state)
{
    struct world *world = *state;
    struct starter starter;
    stay(world, &starter);
    assert_int_equal(call(world, starter.wire, VERB_JOB_DONE, "[ExitCode = 9]", NULL, NULL),
                     -EACCES); /* it has not said which run */
    assert_int_equal(fetch_next(world, &starter, OTHER), 0);
    assert_int_equal(call(world, starter.wire, VERB_JOB_DONE,
                          "[ExitCode = 6; Files = {}; Checksums = {}]", NULL, NULL),
                     0);
    wait_for(world, &starter.closed); /* it did not say that it stays */
    reports_are(world,
                "JOB_RESULT exit 0 unstaged;JOB_PLACED;JOB_RESULT exit 6 unstaged;JOB_PLACED;");
}

static void a_starter_that_stays_with_a_wrong_nonce_gets_nothing(void **state)
{
    struct world *world = *state;
    struct starter starter;
    stay(world, &starter);
    assert_int_equal(fetch_next(world, &starter, NONCE), -EACCES); /* that of the run before */
    assert_int_equal(fetch_next(world, &starter, OTHER), -EACCES); /* there is one try */
    assert_int_equal(call(world, starter.wire, VERB_JOB_STARTED, "[Pid = 7]", NULL, NULL), -EACCES);
    wire_close(starter.wire);
    reports_are(world, "JOB_RESULT exit 0 unstaged;JOB_PLACED;");
}

static void the_connection_of_a_stopped_run_is_closed_also_of_a_starter_that_stayed(void **state)
{
    struct world *world = *state;
    struct starter starter;
    stay(world, &starter);
    assert_int_equal(fetch_next(world, &starter, OTHER), 0);
    assert_int_equal(call(world, world->shadow, VERB_JOB_STOP, "[JobId = \"2.0\"; ClaimEpoch = 1]",
                          NULL, NULL),
                     0);
    wait_for(world, &starter.closed);
}

static void a_wrong_nonce_or_epoch_gets_nothing(void **state)
{
    struct world *world = *state;
    struct starter starter;
    job_run(world, "", "");
    dial(world, "1.0", 3, "0123456789abcdef0123456789abcdee", &starter);
    assert_true(starter.closed);
    assert_int_equal(starter.status, -EACCES);
    world->status[VERB_JOB_STATUS] = -ESTALE;
    dial(world, "1.0", 2, NONCE, &starter); /* an older run: the schedd knows what became of it */
    assert_true(starter.ready);
    assert_int_equal(call(world, starter.wire, VERB_JOB_FETCH, "[]", NULL, NULL), -ESTALE);
    reports_are(world, "JOB_STATUS Ask;");
    wire_close(starter.wire);
}

/* F8: strangers with made-up runs and any 32 digits. */
static void strangers_with_made_up_runs_hardly_reach_the_schedd(void **state)
{
    struct world *world = *state;
    struct starter starters[6];
    char job[32];
    world->status[VERB_JOB_STATUS] = -ESTALE;
    for (int i = 0; i < 6; i++) {
        (void)snprintf(job, sizeof job, "%d.0", 70 + i / 2);
        dial(world, job, 1, NONCE, &starters[i]);
        assert_true(starters[i].ready);
        assert_true(wire_peer_frame_max(starters[i].wire) < 10000); /* not proved */
    }
    assert_int_equal(call(world, starters[0].wire, VERB_JOB_FETCH, "[]", NULL, NULL), -ESTALE);
    reports_are(world, "JOB_STATUS Ask;");
    /* Two others at once: at most one is asked about, and the other is to dial again. */
    struct answer answers[2];
    begin(starters[2].wire, VERB_JOB_FETCH, "[]", NULL, NULL, &answers[0]);
    begin(starters[4].wire, VERB_JOB_FETCH, "[]", NULL, NULL, &answers[1]);
    wait_for(world, &answers[0].over);
    wait_for(world, &answers[1].over);
    assert_true(answers[0].status == -ECONNRESET || answers[1].status == -ECONNRESET);
    const char *asked = strbuf_text(&world->reports);
    assert_true(strcmp(asked, "") == 0 || strcmp(asked, "JOB_STATUS Ask;") == 0);
    answer_fini(&answers[0]);
    answer_fini(&answers[1]);
    for (int i = 0; i < 6; i++) {
        wire_close(starters[i].wire);
    }
}

/* The schedd says of a run to come, too, that it does not count: a stranger may have asked. */
static void what_became_of_a_run_is_asked_each_time(void **state)
{
    struct world *world = *state;
    struct starter stranger, starter;
    world->status[VERB_JOB_STATUS] = -ESTALE;
    dial(world, "70.0", 2, NONCE, &stranger);
    assert_int_equal(call(world, stranger.wire, VERB_JOB_FETCH, "[]", NULL, NULL), -ESTALE);
    reports_are(world, "JOB_STATUS Ask;");
    wire_close(stranger.wire);
    world->status[VERB_JOB_STATUS] = -EAGAIN; /* the run has begun, and we are not told yet */
    bool asked = false;
    for (int i = 0; i < 1000 && !asked; i++) {
        dial(world, "70.0", 2, NONCE, &starter);
        assert_true(starter.ready);
        assert_int_equal(call(world, starter.wire, VERB_JOB_FETCH, "[]", NULL, NULL), -ECONNRESET);
        wire_close(starter.wire);
        asked = strbuf_text(&world->reports)[0] != '\0';
    }
    reports_are(world, "JOB_STATUS Ask;");
}

static void what_a_starter_sends_must_be_whole_and_allowed(void **state)
{
    struct world *world = *state;
    struct starter starter;
    char text[512];
    job_run(world, "", "");
    dial(world, "1.0", 3, NONCE, &starter);
    assert_int_equal(call(world, starter.wire, VERB_FILE_PUT,
                          "[Name = \"../x\"; Offset = 0; Size = 1]", NULL, "a"),
                     -EPERM);
    assert_int_equal(call(world, starter.wire, VERB_FILE_PUT,
                          "[Name = \"x\"; Offset = 1; Size = 2]", NULL, "a"),
                     -ESTALE);
    assert_int_equal(call(world, starter.wire, VERB_FILE_PUT,
                          "[Name = \"x\"; Offset = 0; Size = 0]", NULL, "a"),
                     -EINVAL);
    assert_int_equal(call(world, starter.wire, VERB_JOB_DONE, done_args("x", "ab", text), NULL,
                          NULL),
                     -EAGAIN); /* did not come */
    assert_int_equal(call(world, starter.wire, VERB_FILE_PUT,
                          "[Name = \"x\"; Offset = 0; Size = 2]", NULL, "a"),
                     0);
    assert_int_equal(call(world, starter.wire, VERB_JOB_DONE, done_args("x", "ab", text), NULL,
                          NULL),
                     -EAGAIN); /* not whole */
    assert_int_equal(call(world, starter.wire, VERB_FILE_PUT,
                          "[Name = \"x\"; Offset = 1; Size = 2]", NULL, "c"),
                     0);
    assert_int_equal(call(world, starter.wire, VERB_JOB_DONE, done_args("x", "ab", text), NULL,
                          NULL),
                     -EAGAIN); /* other bytes */
    reports_are(world, "");
    put_file(world, &starter, "x", "ab");
    assert_int_equal(call(world, starter.wire, VERB_JOB_DONE, done_args("x", "ab", text), NULL,
                          NULL),
                     0);
    file_is(world, "x", "ab");
    wire_close(starter.wire);
}

static void a_refused_result_is_not_placed(void **state)
{
    struct world *world = *state;
    struct starter starter;
    char text[512];
    job_run(world, "", "");
    dial(world, "1.0", 3, NONCE, &starter);
    put_file(world, &starter, "_condor_stdout", "stale");
    world->status[VERB_JOB_RESULT] = -ESTALE;
    assert_int_equal(call(world, starter.wire, VERB_JOB_DONE,
                          done_args("_condor_stdout", "stale", text), NULL, NULL),
                     -ESTALE);
    file_is(world, "out", NULL);
    wire_close(starter.wire);
}

static void output_without_a_place_is_kept_and_placed_later(void **state)
{
    struct world *world = *state;
    struct starter starter;
    char text[512];
    job_run(world, "", "Err = \"later/err\"");
    dial(world, "1.0", 3, NONCE, &starter);
    put_file(world, &starter, "_condor_stderr", "oops");
    assert_int_equal(call(world, starter.wire, VERB_JOB_DONE,
                          done_args("_condor_stderr", "oops", text), NULL, NULL),
                     0); /* it is committed */
    assert_non_null(strstr(strbuf_text(&world->reports), "JOB_RESULT exit 5;JOB_STATUS Hold 12"));
    strbuf_clear(&world->reports);
    assert_true(has_stage(world, "1.0.3"));
    (void)snprintf(world->runs, sizeof(world->runs), "1.0.3");
    restart(world);
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/later", world->dir);
    assert_int_equal(os_mkdirs(world->os, path, 0700, NULL), 0);
    job_run(world, "PlaceOnly = true", "Err = \"later/err\"");
    while (strstr(strbuf_text(&world->reports), "JOB_PLACED;") == NULL) {
        assert_int_equal(call(world, world->shadow, VERB_PING, "[]", NULL, NULL), 0);
    }
    file_is(world, "later/err", "oops");
    wire_close(starter.wire);
}

static void after_a_death_the_same_starter_is_served_and_placing_is_repeated(void **state)
{
    struct world *world = *state;
    struct starter starter;
    struct answer answer;
    char text[512];
    char pin[STREAM_PIN_SIZE];
    memcpy(pin, world->pin, sizeof(pin));
    job_run(world, "", "");
    dial(world, "1.0", 3, NONCE, &starter);
    put_file(world, &starter, "_condor_stdout", "one");
    world->swallow = true;
    begin(starter.wire, VERB_JOB_DONE, done_args("_condor_stdout", "one", text), NULL, NULL,
          &answer);
    while (strstr(strbuf_text(&world->reports), "JOB_RESULT") == NULL) {
        assert_int_equal(call(world, world->shadow, VERB_PING, "[]", NULL, NULL), 0);
    }
    assert_true(has_stage(world, "1.0.3"));
    (void)snprintf(world->runs, sizeof(world->runs), "1.0.3");
    restart(world); /* it dies before it has the answer */
    wait_for(world, &answer.over);
    assert_int_equal(answer.status, -ECONNRESET);
    answer_fini(&answer);
    wait_for(world, &starter.closed);
    assert_string_equal(world->pin, pin);
    world->swallow = false;
    job_run(world, "", "");
    dial(world, "1.0", 3, NONCE, &starter);
    assert_int_equal(call(world, starter.wire, VERB_JOB_DONE,
                          done_args("_condor_stdout", "one", text), NULL, NULL),
                     0);
    file_is(world, "out", "one");
    wire_close(starter.wire);
}

/* Under LeakSanitizer this shows that nothing of what was under way stays behind. */
static void what_is_under_way_when_the_shadow_ends_is_not_said_to_be_done(void **state)
{
    struct world *world = *state;
    struct starter starter;
    struct answer fetch, get, file, started, done, ping;
    char text[512];
    enum { LARGE = 8 << 20 }; /* more than goes out before the starter takes some */
    char *large = mem_alloc(LARGE);
    memset(large, 'x', LARGE - 1);
    large[LARGE - 1] = '\0';
    put(world, "run.sh", large);
    mem_free(large);
    job_run(world, "", "");
    dial(world, "1.0", 3, NONCE, &starter);
    assert_int_equal(call(world, starter.wire, VERB_JOB_FETCH, "[]", NULL, NULL), 0);
    put_file(world, &starter, "_condor_stdout", "one");
    world->swallow = true;
    begin(starter.wire, VERB_JOB_FETCH, "[]", NULL, NULL, &fetch);
    begin(starter.wire, VERB_FILE_GET, "[Name = \"condor_exec.exe\"]", NULL, NULL, &get);
    begin(starter.wire, VERB_FILE_PUT, "[Name = \"_condor_stderr\"; Offset = 0; Size = 4]", NULL,
          "two", &file);
    begin(starter.wire, VERB_JOB_STARTED, "[]", NULL, NULL, &started);
    begin(starter.wire, VERB_JOB_DONE, done_args("_condor_stdout", "one", text), NULL, NULL, &done);
    begin(starter.wire, VERB_PING, "[]", NULL, NULL, &ping);
    wait_for(world, &ping.over);
    (void)snprintf(world->runs, sizeof(world->runs), "1.0.3");
    restart(world);
    wait_for(world, &starter.closed);
    struct answer *answers[] = {&fetch, &get, &file, &started, &done, &ping};
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        wait_for(world, &answers[i]->over);
    }
    assert_int_equal(started.status, -ECONNRESET);
    assert_int_equal(done.status, -ECONNRESET);
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        answer_fini(answers[i]);
    }
    file_is(world, "out", NULL);
}

static void stages_that_nobody_knows_are_removed(void **state)
{
    struct world *world = *state;
    char path[160];
    static const char *const NAMES[] = {"1.0.3", "2.0.1.part", "3.0.1"};
    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(path, sizeof(path), "%s/owner/%s/stage/%s", world->dir, world->me, NAMES[i]);
        assert_int_equal(os_mkdirs(world->os, path, 0700, NULL), 0);
    }
    (void)snprintf(world->runs, sizeof(world->runs), "1.0.3,2.0.1");
    restart(world);
    for (int i = 0; i < 10000 && has_stage(world, "3.0.1"); i++) {
        assert_int_equal(call(world, world->shadow, VERB_PING, "[]", NULL, NULL), 0);
    }
    assert_false(has_stage(world, "3.0.1"));
    assert_true(has_stage(world, "1.0.3"));
    assert_true(has_stage(world, "2.0.1.part"));
}

static void a_stopped_run_is_forgotten_with_its_stage(void **state)
{
    struct world *world = *state;
    struct starter starter;
    job_run(world, "", "");
    dial(world, "1.0", 3, NONCE, &starter);
    put_file(world, &starter, "_condor_stdout", "one");
    assert_true(has_stage(world, "1.0.3.part"));
    assert_int_equal(call(world, world->shadow, VERB_JOB_STOP, "[JobId = \"1.0\"; ClaimEpoch = 3]",
                          NULL, NULL),
                     0);
    wait_for(world, &starter.closed);
    for (int i = 0; i < 10000 && has_stage(world, "1.0.3.part"); i++) {
        assert_int_equal(call(world, world->shadow, VERB_PING, "[]", NULL, NULL), 0);
    }
    assert_false(has_stage(world, "1.0.3.part"));
    reports_are(world, "");
}

static void output_never_takes_the_place_of_a_device_or_directory(void **state)
{
    struct world *world = *state;
    struct starter starter;
    char text[512];
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/out", world->dir);
    assert_int_equal(os_mkdirs(world->os, path, 0700, NULL), 0);
    job_run(world, "", "");
    dial(world, "1.0", 3, NONCE, &starter);
    put_file(world, &starter, "_condor_stdout", "x");
    assert_int_equal(call(world, starter.wire, VERB_JOB_DONE,
                          done_args("_condor_stdout", "x", text), NULL, NULL),
                     0);
    assert_non_null(strstr(strbuf_text(&world->reports), "Hold 12"));
    assert_non_null(strstr(strbuf_text(&world->reports), "not a regular file"));
    wire_close(starter.wire);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_job_is_fetched_and_its_result_is_placed),
        CASE(a_missing_input_holds_the_job_before_the_starter_is_refused),
        CASE(a_wrong_nonce_or_epoch_gets_nothing),
        CASE(strangers_with_made_up_runs_hardly_reach_the_schedd),
        CASE(what_became_of_a_run_is_asked_each_time),
        CASE(a_starter_that_stays_goes_on_with_another_run_by_its_nonce),
        CASE(a_starter_that_stays_with_a_wrong_nonce_gets_nothing),
        CASE(the_connection_of_a_stopped_run_is_closed_also_of_a_starter_that_stayed),
        CASE(what_a_starter_sends_must_be_whole_and_allowed),
        CASE(a_refused_result_is_not_placed),
        CASE(output_without_a_place_is_kept_and_placed_later),
        CASE(after_a_death_the_same_starter_is_served_and_placing_is_repeated),
        CASE(what_is_under_way_when_the_shadow_ends_is_not_said_to_be_done),
        CASE(stages_that_nobody_knows_are_removed),
        CASE(a_stopped_run_is_forgotten_with_its_stage),
        CASE(output_never_takes_the_place_of_a_device_or_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
