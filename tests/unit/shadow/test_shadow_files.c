/* tests/unit/shadow/test_shadow_files.c - a run's files: cuts, trees, links, limits, turns,
 * streams.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/shadow_bed.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/check.h"

static void a_cut_input_is_gone_on_with_where_the_starter_has_it(void **state)
{
    struct world *world = *state;
    struct starter starter;
    struct answer answer;
    char hex[DIGEST_HEX_SIZE], args[256];
    put(world, "run.sh", "#!/bin/sh\n");
    put(world, "a", "0123456789");
    put(world, "b", "other");
    job_run(world, "", "TransferInput = \"a, b\"");
    dial(world, "1.0", 3, NONCE, &starter);
    assert_int_equal(call(world, starter.wire, VERB_JOB_FETCH, "[]", NULL, NULL), 0);
    hash("0123", 4, hex);
    (void)snprintf(args, sizeof(args),
                   "[Name = \"a\"; Offset = 4; Checksum = \"%s\"; AndFollowing = true]", hex);
    begin(starter.wire, VERB_FILE_GET, args, NULL, NULL, &answer);
    wait_for(world, &answer.over);
    assert_string_equal(strbuf_text(&answer.bytes), "456789other");
    assert_string_equal(strbuf_text(&answer.offsets), "4;0;");
    hash("0123456789", 10, hex); /* of the whole */
    assert_memory_equal(strbuf_text(&answer.sums), hex, 64);
    answer_fini(&answer);
    hash("x123", 4, hex); /* the owner changed it meanwhile */
    (void)snprintf(args, sizeof(args), "[Name = \"a\"; Offset = 4; Checksum = \"%s\"]", hex);
    begin(starter.wire, VERB_FILE_GET, args, NULL, NULL, &answer);
    wait_for(world, &answer.over);
    assert_string_equal(strbuf_text(&answer.bytes), "0123456789");
    assert_string_equal(strbuf_text(&answer.offsets), "0;");
    answer_fini(&answer);
    wire_close(starter.wire);
}

static void after_a_death_the_rest_of_an_output_is_enough(void **state)
{
    struct world *world = *state;
    struct starter starter;
    struct answer answer;
    char text[512], hex[DIGEST_HEX_SIZE];
    job_run(world, "", "");
    dial(world, "1.0", 3, NONCE, &starter);
    assert_int_equal(call(world, starter.wire, VERB_FILE_PUT,
                          "[Name = \"x\"; Offset = 0; Size = 10]", NULL, "0123"),
                     0);
    (void)snprintf(world->runs, sizeof(world->runs), "1.0.3");
    restart(world);
    wait_for(world, &starter.closed);
    job_run(world, "", "");
    dial(world, "1.0", 3, NONCE, &starter);
    begin(starter.wire, VERB_FILE_PUT, "[Name = \"x\"; Ask = true]", NULL, NULL, &answer);
    wait_for(world, &answer.over);
    assert_int_equal(ad_int_or(answer.args, "Offset", -1), 4);
    assert_false(ad_bool_or(answer.args, "Whole", true));
    hash("0123", 4, hex);
    assert_string_equal(ad_string_or(answer.args, "Checksum", ""), hex);
    answer_fini(&answer);
    begin(starter.wire, VERB_FILE_PUT, "[Name = \"y\"; Ask = true]", NULL, NULL, &answer);
    wait_for(world, &answer.over);
    assert_int_equal(ad_int_or(answer.args, "Offset", -1), 0);
    answer_fini(&answer);
    assert_int_equal(call(world, starter.wire, VERB_FILE_PUT,
                          "[Name = \"x\"; Offset = 4; Size = 10]", NULL, "456789"),
                     0);
    begin(starter.wire, VERB_FILE_PUT, "[Name = \"x\"; Ask = true]", NULL, NULL, &answer);
    wait_for(world, &answer.over);
    assert_true(ad_bool_or(answer.args, "Whole", false));
    answer_fini(&answer);
    assert_int_equal(call(world, starter.wire, VERB_JOB_DONE, done_args("x", "0123456789", text),
                          NULL, NULL),
                     0);
    file_is(world, "x", "0123456789");
    wire_close(starter.wire);
}

static void trees_come_back_but_no_link_leads_out_of_one(void **state)
{
    struct world *world = *state;
    struct starter starter;
    char hex[DIGEST_HEX_SIZE], text[512], path[160], target[64] = "";
    static const char *const LINKS[][2] = {
        {"d/l", "../x"},
        {"d/l", "/etc"},
        {"d/l", "e/../../x"},
        {"d", "e"},
    };
    job_run(world, "", "TransferOutput = \"d\"");
    dial(world, "1.0", 3, NONCE, &starter);
    for (size_t i = 0; i < sizeof(LINKS) / sizeof(LINKS[0]); i++) {
        (void)snprintf(text, sizeof(text), "[Name = \"%s\"; Type = \"link\"; Target = \"%s\"]",
                       LINKS[i][0], LINKS[i][1]);
        assert_int_equal(call(world, starter.wire, VERB_FILE_PUT, text, NULL, NULL), -EPERM);
    }
    assert_int_equal(call(world, starter.wire, VERB_FILE_PUT, "[Name = \"d/e\"; Type = \"dir\"]",
                          NULL, NULL),
                     0);
    assert_int_equal(call(world, starter.wire, VERB_FILE_PUT,
                          "[Name = \"d/l\"; Type = \"link\"; Target = \"e\"]", NULL, NULL),
                     0);
    assert_int_equal(call(world, starter.wire, VERB_FILE_PUT,
                          "[Name = \"d/l/x\"; Offset = 0; Size = 1]", NULL, "x"),
                     -ENOTDIR); /* not through a link */
    put_file(world, &starter, "d/e/x", "deep");
    hash("deep", 4, hex);
    (void)snprintf(text, sizeof(text),
                   "[ExitCode = 5; Files = {\"d\", \"d/e\", \"d/l\", \"d/e/x\"}; "
                   "Checksums = {\"dir:755\", \"dir:750\", \"link:e\", \"%s\"}]",
                   hex);
    assert_int_equal(call(world, starter.wire, VERB_JOB_DONE, text, NULL, NULL), 0);
    file_is(world, "d/l/x", "deep");
    (void)snprintf(path, sizeof(path), "%s/d/l", world->dir);
    assert_int_equal(readlink(path, target, sizeof(target) - 1), 1);
    (void)snprintf(path, sizeof(path), "%s/d/e", world->dir);
    struct os_stat stat;
    assert_int_equal(os_stat(world->os, path, &stat), 0);
    assert_int_equal(stat.mode, 0750);
    wire_close(starter.wire);
}

static void below_a_directory_of_output_no_link_of_the_owners_is_followed(void **state)
{
    struct world *world = *state;
    struct starter starter;
    char text[512], path[160];
    (void)snprintf(path, sizeof(path), "%s/d", world->dir);
    assert_int_equal(os_mkdirs(world->os, path, 0700, NULL), 0);
    (void)snprintf(path, sizeof(path), "%s/d/way", world->dir);
    assert_int_equal(symlink("..", path), 0);
    job_run(world, "", "TransferOutput = \"d\"");
    dial(world, "1.0", 3, NONCE, &starter);
    put_file(world, &starter, "d/way/x", "out");
    assert_int_equal(call(world, starter.wire, VERB_JOB_DONE, done_args("d/way/x", "out", text),
                          NULL, NULL),
                     0);
    assert_non_null(strstr(strbuf_text(&world->reports), "Hold 12"));
    file_is(world, "x", NULL);
    wire_close(starter.wire);
}

static void missing_output_is_part_of_a_result(void **state)
{
    struct world *world = *state;
    struct starter starter;
    char hex[DIGEST_HEX_SIZE], text[512];
    job_run(world, "", "");
    dial(world, "1.0", 3, NONCE, &starter);
    put_file(world, &starter, "_condor_stdout", "said");
    hash("said", 4, hex);
    (void)snprintf(text, sizeof(text),
                   "[ExitCode = 5; HoldReasonCode = 12; HoldReason = \"nowhere\"; "
                   "Files = {\"_condor_stdout\"}; Checksums = {\"%s\"}]",
                   hex);
    assert_int_equal(call(world, starter.wire, VERB_JOB_DONE, text, NULL, NULL), 0);
    reports_are(world, "JOB_RESULT 12 nowhere exit 5;JOB_PLACED;");
    file_is(world, "out", "said");
    wire_close(starter.wire);
}

static void more_output_than_the_job_may_have_holds_it(void **state)
{
    struct world *world = *state;
    struct starter starter;
    job_run(world, "", "MaxTransferOutputMB = 1");
    dial(world, "1.0", 3, NONCE, &starter);
    put_file(world, &starter, "x", "small");
    assert_int_equal(call(world, starter.wire, VERB_FILE_PUT,
                          "[Name = \"y\"; Offset = 0; Size = 1048572]", NULL, "large"),
                     -EFBIG);
    assert_non_null(strstr(strbuf_text(&world->reports), "Hold 33"));
    assert_non_null(strstr(strbuf_text(&world->reports), "1 MB"));
    wire_close(starter.wire);
}

static void output_does_not_take_what_is_left_to_the_queue(void **state)
{
    struct world *world = *state;
    struct starter starter;
    char text[512];
    (void)snprintf(text, sizeof(text),
                   "LOCAL_DIR = \"%s\"\nLOG = \"%s/log\"\nSPOOL = \"%s\"\nUID_DOMAIN = \"pool\"\n"
                   "SPOOL_RESERVE = \"1000000 GiB\"\n",
                   world->dir, world->dir, world->dir);
    put(world, "roost.conf", text);
    restart(world);
    job_run(world, "", "");
    dial(world, "1.0", 3, NONCE, &starter);
    assert_int_equal(call(world, starter.wire, VERB_FILE_PUT,
                          "[Name = \"x\"; Offset = 0; Size = 2]", NULL, "01"),
                     -ENOSPC);
    assert_non_null(strstr(strbuf_text(&world->log_text), "output 'x': the disk of "));
    assert_int_equal(call(world, starter.wire, VERB_FILE_PUT,
                          "[Name = \"empty\"; Offset = 0; Size = 0]", NULL, NULL),
                     0);
    wire_close(starter.wire);
}

static void a_file_that_is_begun_before_the_end_of_another_is_in_its_place(void **state)
{
    static const char *const BEGINS = "[Name = \"%s\"; Offset = 0; Size = 4]";
    struct world *world = *state;
    struct starter starter;
    struct answer answer;
    char text[512];
    job_run(world, "", "");
    dial(world, "1.0", 3, NONCE, &starter);
    (void)snprintf(text, sizeof(text), BEGINS, "x");
    assert_int_equal(call(world, starter.wire, VERB_FILE_PUT, text, NULL, "01"), 0);
    (void)snprintf(text, sizeof(text), BEGINS, "y");
    assert_int_equal(call(world, starter.wire, VERB_FILE_PUT, text, NULL, "01"), 0);
    assert_int_equal(call(world, starter.wire, VERB_FILE_PUT,
                          "[Name = \"x\"; Offset = 2; Size = 4]", NULL, "23"),
                     -ESTALE);
    assert_int_equal(call(world, starter.wire, VERB_FILE_PUT,
                          "[Name = \"y\"; Offset = 2; Size = 4]", NULL, "23"),
                     0);
    put_file(world, &starter, "x", "0123"); /* what is whole stays */
    begin(starter.wire, VERB_FILE_PUT, "[Name = \"y\"; Ask = true]", NULL, NULL, &answer);
    wait_for(world, &answer.over);
    assert_true(ad_bool_or(answer.args, "Whole", false));
    answer_fini(&answer);
    wire_close(starter.wire);
}

static void sizes_that_cannot_be_are_refused(void **state)
{
    static const char *const HUGE = "[Name = \"%s\"; Offset = 0; Size = 9223372036854775807]";
    struct world *world = *state;
    struct starter starter;
    char text[512];
    job_run(world, "", "");
    dial(world, "1.0", 3, NONCE, &starter);
    put_file(world, &starter, "small", "01");
    (void)snprintf(text, sizeof(text), HUGE, "x");
    assert_int_equal(call(world, starter.wire, VERB_FILE_PUT, text, NULL, "01"), -EINVAL);
    put_file(world, &starter, "x", "0123");
    wire_close(starter.wire);
}

enum { LARGE = 2 << 20 };

static void put_large(struct world *world)
{
    char *large = mem_alloc(LARGE + 1);
    memset(large, 'x', LARGE);
    large[LARGE] = '\0';
    put(world, "run.sh", large);
    mem_free(large);
}

static void a_starter_that_asks_for_the_same_again_and_again_is_told_to_wait(void **state)
{
    struct world *world = *state;
    struct starter starter;
    struct answer answers[10];
    size_t refused = 0;
    put_large(world);
    job_run(world, "", "");
    dial(world, "1.0", 3, NONCE, &starter);
    assert_int_equal(call(world, starter.wire, VERB_JOB_FETCH, "[]", NULL, NULL), 0);
    for (size_t i = 0; i < ARRAY_COUNT(answers); i++) {
        begin(starter.wire, VERB_FILE_GET, "[Name = \"condor_exec.exe\"]", NULL, NULL, &answers[i]);
    }
    wait_for(world, &world->turn_asked);
    assert_true(wire_reply_part(world->turn, &(struct wire_body){0}));
    for (size_t i = 0; i < ARRAY_COUNT(answers); i++) {
        wait_for(world, &answers[i].over);
        refused += answers[i].status == -EBUSY ? 1 : 0;
        assert_true(answers[i].status == -EBUSY || answers[i].bytes.length == LARGE);
        answer_fini(&answers[i]);
    }
    assert_int_equal(refused, 2);
    wire_close(starter.wire);
}

static void what_is_large_waits_for_its_turn_and_gives_it_back(void **state)
{
    struct world *world = *state;
    struct starter starter;
    struct answer answer;
    put_large(world);
    job_run(world, "", "");
    dial(world, "1.0", 3, NONCE, &starter);
    assert_int_equal(call(world, starter.wire, VERB_JOB_FETCH, "[]", NULL, NULL), 0);
    begin(starter.wire, VERB_FILE_GET, "[Name = \"condor_exec.exe\"]", NULL, NULL, &answer);
    wait_for(world, &world->turn_asked);
    assert_int_equal(call(world, starter.wire, VERB_PING, "[]", NULL, NULL), 0);
    assert_false(answer.over);
    assert_int_equal(answer.bytes.length, 0);
    assert_true(wire_reply_part(world->turn, &(struct wire_body){0}));
    wait_for(world, &answer.over);
    assert_int_equal(answer.status, 0);
    assert_int_equal(answer.bytes.length, LARGE);
    answer_fini(&answer);
    assert_false(world->turn_gone);
    assert_int_equal(call(world, starter.wire, VERB_JOB_STARTED, "[Pid = 7]", NULL, NULL), 0);
    wait_for(world, &world->turn_gone);
    wire_close(starter.wire);
}

static void a_turn_of_a_starter_that_is_gone_is_given_back(void **state)
{
    struct world *world = *state;
    struct starter starter;
    struct answer answer;
    job_run(world, "", "");
    dial(world, "1.0", 3, NONCE, &starter);
    begin(starter.wire, VERB_FILE_PUT, "[Name = \"x\"; Offset = 0; Size = 1; Total = 9000000]",
          NULL, "x", &answer);
    wait_for(world, &world->turn_asked);
    wire_close(starter.wire);
    wait_for(world, &world->turn_gone);
    wait_for(world, &answer.over);
    assert_int_equal(answer.status, -ECONNRESET);
    answer_fini(&answer);
    assert_false(has_stage(world, "1.0.3.part"));
}

/* The shadow's connection to its schedd is lost; it comes again by itself. */
static void lose_schedd(struct world *world)
{
    struct wire *wire = world->shadow;
    (void)snprintf(world->runs, sizeof(world->runs), "1.0.3"); /* which it knows still */
    world->shadow = NULL;
    world->greeted = false;
    wire_close(wire);
}

static void ignore_gone(void *arg)
{
    (void)arg;
}

static void a_turn_that_is_waited_for_is_asked_for_again_when_the_schedd_is_back(void **state)
{
    struct world *world = *state;
    struct starter starter;
    struct answer answer;
    put_large(world);
    job_run(world, "", "");
    dial(world, "1.0", 3, NONCE, &starter);
    assert_int_equal(call(world, starter.wire, VERB_JOB_FETCH, "[]", NULL, NULL), 0);
    begin(starter.wire, VERB_FILE_GET, "[Name = \"condor_exec.exe\"]", NULL, NULL, &answer);
    wait_for(world, &world->turn_asked);
    world->turn_asked = false;
    wire_request_on_gone(world->turn, ignore_gone, NULL); /* it goes with the connection */
    lose_schedd(world);
    wait_for(world, &world->turn_asked);
    assert_false(answer.over);
    assert_true(wire_reply_part(world->turn, &(struct wire_body){0}));
    wait_for(world, &answer.over);
    assert_int_equal(answer.bytes.length, LARGE);
    answer_fini(&answer);
    wire_close(starter.wire);
}

static void a_turn_of_a_starter_that_left_is_not_asked_for_again(void **state)
{
    struct world *world = *state;
    struct starter starter;
    struct answer answer;
    put_large(world);
    job_run(world, "", "");
    dial(world, "1.0", 3, NONCE, &starter);
    assert_int_equal(call(world, starter.wire, VERB_JOB_FETCH, "[]", NULL, NULL), 0);
    begin(starter.wire, VERB_FILE_GET, "[Name = \"condor_exec.exe\"]", NULL, NULL, &answer);
    wait_for(world, &world->turn_asked);
    wire_close(starter.wire);
    wait_for(world, &world->turn_gone);
    wait_for(world, &answer.over);
    answer_fini(&answer);
    world->turn_asked = false;
    lose_schedd(world);
    wait_for(world, &world->greeted);
    /* What it says after the greeting comes in order: this is behind all of it. */
    assert_int_equal(call(world, world->shadow, VERB_PING, "[]", NULL, NULL), 0);
    assert_false(world->turn_asked);
}

static void streams_are_written_where_they_belong(void **state)
{
    struct world *world = *state;
    struct starter starter;
    put(world, "out", "an older and longer text");
    job_run(world, "", "StreamOut = true; Err = \"err\"");
    dial(world, "1.0", 3, NONCE, &starter);
    static const char *const HELLO = "[Name = \"_condor_stdout\"; Stream = true; Offset = 0]";
    assert_int_equal(call(world, starter.wire, VERB_FILE_PUT, HELLO, NULL, "hello "), 0);
    file_is(world, "out", "hello ");
    assert_int_equal(call(world, starter.wire, VERB_FILE_PUT, HELLO, NULL, "hello "),
                     0); /* a cut */
    (void)snprintf(world->runs, sizeof(world->runs), "1.0.3");
    restart(world);
    wait_for(world, &starter.closed);
    job_run(world, "", "StreamOut = true; Err = \"err\"");
    dial(world, "1.0", 3, NONCE, &starter);
    assert_int_equal(call(world, starter.wire, VERB_FILE_PUT,
                          "[Name = \"_condor_stdout\"; Stream = true; Offset = 6; Ends = true]",
                          NULL, "you"),
                     0);
    file_is(world, "out", "hello you");
    assert_int_equal(call(world, starter.wire, VERB_FILE_PUT,
                          "[Name = \"_condor_stdout\"; Stream = true; Offset = 99]", NULL, "x"),
                     -ESTALE);
    assert_int_equal(call(world, starter.wire, VERB_FILE_PUT,
                          "[Name = \"_condor_stderr\"; Stream = true; Offset = 0]", NULL, "x"),
                     -EPERM); /* not asked for */
    file_is(world, "err", NULL);
    wire_close(starter.wire);
}

/* A ticket for cluster 7. */
static void dial_guest(struct world *world, struct starter *guest)
{
    char args[200];
    struct ad *hello = ad_create();
    (void)snprintf(args, sizeof(args),
                   "[Ticket = \"%s\"; Purpose = \"Spool\"; Ids = {\"7\"};"
                   " TokenId = \"token-of-guest\"]",
                   NONCE);
    assert_int_equal(call(world, world->shadow, VERB_JOB_ADMIT, args, NULL, NULL), 0);
    ad_set_string(hello, "Ticket", NONCE);
    dial_with(world, hello, guest);
    assert_true(guest->ready);
}

static void who_came_with_a_revoked_token_has_to_go(void **state)
{
    struct world *world = *state;
    struct starter guest;
    dial_guest(world, &guest);
    assert_int_equal(call(world, world->shadow, VERB_JOB_STOP, "[Revoked = \"another\"]", NULL,
                          NULL),
                     0);
    assert_int_equal(call(world, guest.wire, VERB_SPOOL_LOOK, "[Id = \"7\"; Name = \"in\"]", NULL,
                          NULL),
                     0);
    assert_int_equal(call(world, world->shadow, VERB_JOB_STOP, "[Revoked = \"token-of-guest\"]",
                          NULL, NULL),
                     0);
    wait_for(world, &guest.closed);
}

static void a_ticket_of_a_revoked_token_is_none(void **state)
{
    struct world *world = *state;
    struct starter guest;
    char args[200];
    struct ad *hello = ad_create();
    (void)snprintf(args, sizeof(args),
                   "[Ticket = \"%s\"; Purpose = \"Spool\"; Ids = {\"7\"}; TokenId = \"t\"]", NONCE);
    assert_int_equal(call(world, world->shadow, VERB_JOB_ADMIT, args, NULL, NULL), 0);
    assert_int_equal(call(world, world->shadow, VERB_JOB_STOP, "[Revoked = \"t\"]", NULL, NULL), 0);
    ad_set_string(hello, "Ticket", NONCE);
    dial_with(world, hello, &guest);
    assert_false(guest.ready);
}

static void a_spooled_file_goes_on_where_it_is_and_nowhere_else(void **state)
{
    static const char *const PIECE =
        "[Id = \"7\"; Name = \"in/h/f\"; Offset = %d; Size = 6; Mode = 420]";
    struct world *world = *state;
    struct starter guest;
    char args[200], name[100];
    dial_guest(world, &guest);
    (void)snprintf(args, sizeof(args), PIECE, 0);
    assert_int_equal(call(world, guest.wire, VERB_SPOOL_PUT, args, NULL, "abc"), 0);
    for (int wrong = 1; wrong < 6; wrong++) {
        (void)snprintf(args, sizeof(args), PIECE, wrong);
        if (wrong != 3) {
            assert_int_equal(call(world, guest.wire, VERB_SPOOL_PUT, args, NULL, "x"), -ESTALE);
        }
    }
    (void)snprintf(args, sizeof(args), PIECE, 3);
    assert_int_equal(call(world, guest.wire, VERB_SPOOL_PUT, args, NULL, "def"), 0);
    (void)snprintf(name, sizeof(name), "owner/%s/sandbox/7/in/h/f", world->me);
    file_is(world, name, "abcdef");
    wire_close(guest.wire);
}

enum { SPOOLED = 600000 }; /* of 1 MiB */

static int spool(struct world *world, struct starter *guest, const char *name)
{
    char args[200];
    char *text = mem_alloc(SPOOLED + 1);
    memset(text, 'x', SPOOLED);
    text[SPOOLED] = '\0';
    (void)snprintf(args, sizeof(args), "[Id = \"7\"; Name = \"in/%s\"; Offset = 0; Size = %d]",
                   name, SPOOLED);
    int status = call(world, guest->wire, VERB_SPOOL_PUT, args, NULL, text);
    mem_free(text);
    return status;
}

static void what_an_owner_has_spooled_is_counted_and_measured_anew_when_it_is_too_much(void **state)
{
    struct world *world = *state;
    struct starter guest;
    char name[200];
    assert_int_equal(setenv("ROOST_SPOOL_QUOTA_PER_OWNER", "1 MiB", 1), 0);
    restart(world);
    dial_guest(world, &guest);
    assert_int_equal(spool(world, &guest, "a"), 0);
    assert_int_equal(spool(world, &guest, "b"), -EDQUOT); /* what came since is counted */
    wire_close(guest.wire);
    restart(world);
    assert_int_equal(unsetenv("ROOST_SPOOL_QUOTA_PER_OWNER"), 0);
    dial_guest(world, &guest);
    assert_int_equal(spool(world, &guest, "b"), -EDQUOT); /* and what was there before */
    (void)snprintf(name, sizeof(name), "%s/owner/%s/sandbox/7/in/a", world->dir, world->me);
    assert_int_equal(os_remove_tree(world->os, name, NULL), 0);
    assert_int_equal(spool(world, &guest, "b"), 0);
    assert_int_equal(spool(world, &guest, "c"), -EDQUOT);
    wire_close(guest.wire);
}

static void set_age(struct world *world, const char *name, time_t seconds)
{
    char path[200];
    struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    (void)snprintf(path, sizeof(path), "%s/%s", world->dir, name);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void output_that_is_newer_than_all_input_makes_a_run_needless(void **state)
{
    static const struct {
        const char *job;
        int out, in;
        bool skipped;
    } CASES[] = {
        {"TransferInput = \"a\"; TransferOutput = \"o\"; SkipIfDataflow = true", 2000, 1999, true},
        {"TransferInput = \"a\"; TransferOutput = \"o\"; SkipIfDataflow = true", 2000, 2000, false},
        {"TransferInput = \"a\"; TransferOutput = \"o\"", 2000, 1999, false},
        {"TransferInput = \"a\"; TransferOutput = \"o, p\"; SkipIfDataflow = true", 2000, 1999,
         false}, /* p is not there */
        {"TransferInput = \"a\"; SkipIfDataflow = true", 2000, 1999, false},
        {"TransferInput = \"a\"; TransferOutput = \"q\"; TransferOutputRemaps = \"q = o\";"
         " SkipIfDataflow = true",
         2000, 1999, true},
    };
    struct world *world = *state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct starter starter;
        put(world, "run.sh", "#!/bin/sh\n");
        put(world, "a", "in");
        put(world, "o", "out");
        set_age(world, "run.sh", 1000);
        set_age(world, "a", CASES[i].in);
        set_age(world, "o", CASES[i].out);
        job_run(world, "", CASES[i].job);
        dial(world, "1.0", 3, NONCE, &starter);
        assert_int_equal(call(world, starter.wire, VERB_JOB_FETCH, "[]", NULL, NULL),
                         CASES[i].skipped ? -ECANCELED : 0);
        reports_are(world, CASES[i].skipped ? "JOB_RESULT exit 0 unstaged;" : "");
        assert_int_equal(call(world, world->shadow, VERB_JOB_STOP,
                              "[JobId = \"1.0\"; ClaimEpoch = 3; Reason = \"\"]", NULL, NULL),
                         0);
        wait_for(world, &starter.closed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_cut_input_is_gone_on_with_where_the_starter_has_it),
        CASE(after_a_death_the_rest_of_an_output_is_enough),
        CASE(trees_come_back_but_no_link_leads_out_of_one),
        CASE(below_a_directory_of_output_no_link_of_the_owners_is_followed),
        CASE(missing_output_is_part_of_a_result),
        CASE(more_output_than_the_job_may_have_holds_it),
        CASE(output_does_not_take_what_is_left_to_the_queue),
        CASE(a_file_that_is_begun_before_the_end_of_another_is_in_its_place),
        CASE(sizes_that_cannot_be_are_refused),
        CASE(a_starter_that_asks_for_the_same_again_and_again_is_told_to_wait),
        CASE(what_is_large_waits_for_its_turn_and_gives_it_back),
        CASE(a_turn_of_a_starter_that_is_gone_is_given_back),
        CASE(a_turn_that_is_waited_for_is_asked_for_again_when_the_schedd_is_back),
        CASE(a_turn_of_a_starter_that_left_is_not_asked_for_again),
        CASE(streams_are_written_where_they_belong),
        CASE(who_came_with_a_revoked_token_has_to_go),
        CASE(a_ticket_of_a_revoked_token_is_none),
        CASE(a_spooled_file_goes_on_where_it_is_and_nowhere_else),
        CASE(what_an_owner_has_spooled_is_counted_and_measured_anew_when_it_is_too_much),
        CASE(output_that_is_newer_than_all_input_makes_a_run_needless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
