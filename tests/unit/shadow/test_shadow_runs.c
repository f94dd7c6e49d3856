/* tests/unit/shadow/test_shadow_runs.c - a real shadow between a schedd and a starter that the test
 * plays.
 *
 * The shadow runs on the test's own loop with its real files, sockets and TLS.  The test's schedd
 * notes every report and answers as told; the test's starter comes by TCP and is passed on, as a
 * schedd does it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/daemon_run.h"
#include "base/digest.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/os_run.h"
#include "base/strbuf.h"
#include "base/stream.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "shadow/shadow.h"
#include "wire/wire.h"

#define PATIENCE_MS 20000
#define NONCE       "0123456789abcdef0123456789abcdef"

struct world {
    struct loop *loop;
    struct os *os;
    struct loop_timer *patience;
    char dir[64], config[96], me[64], pass[160];
    struct strbuf log_text;
    struct daemon_run *run;
    struct wire_context *context;
    struct listener *local, *tcp;
    struct wire *shadow; /* its uplink, after SHADOW_HELLO */
    bool greeted;
    char pin[STREAM_PIN_SIZE];
    char runs[128];        /* what HELLO is answered */
    int status[200];       /* by verb: what reports are answered */
    struct strbuf reports; /* "JOB_STATUS Hold 13;JOB_RESULT;" */
    bool swallow;          /* reports get no answer */
    struct vec swallowed;  /* struct wire_request: never answered */
};

struct answer {
    bool done;
    int status;
    struct ad *args;
    struct vec ads;
    struct strbuf bytes;
    struct strbuf sums; /* the Checksum of each part that has one */
};

struct starter {
    struct wire *wire;
    bool ready, closed, settled;
    int status;
};

static void out_of_patience(void *arg)
{
    loop_stop(((struct world *)arg)->loop, 1);
}

static void wait_for(struct world *world, const bool *flag)
{
    loop_timer_set(world->patience, PATIENCE_MS);
    loop_run_until(world->loop, flag);
    loop_timer_stop(world->patience);
    if (!*flag) {
        fail_msg("waited in vain; the log says:\n%s", strbuf_text(&world->log_text));
    }
}

/* ---- the schedd that we play -------------------------------------------------------------------
 */

static void schedd_request(void *arg, struct wire_request *request)
{
    struct world *world = arg;
    const struct ad *args = wire_request_args(request);
    enum wire_verb verb = wire_request_verb(request);
    if (verb == VERB_SHADOW_HELLO) {
        (void)snprintf(world->pin, sizeof(world->pin), "%s", ad_string_or(args, "ShadowPin", ""));
        (void)snprintf(world->pass, sizeof(world->pass), "%s",
                       ad_string_or(args, "PassAddress", ""));
        assert_string_equal(ad_string_or(args, "Owner", ""), world->me);
        struct ad *answer = ad_create();
        ad_set_string(answer, "Runs", world->runs);
        const struct wire_body body = {.args = answer};
        world->shadow = wire_request_wire(request);
        wire_reply_ok(request, &body);
        ad_destroy(answer);
        world->greeted = true;
        return;
    }
    strbuf_printf(&world->reports, "%s", wire_verb_name(verb));
    if (ad_has(args, "Event")) {
        strbuf_printf(&world->reports, " %s", ad_string_or(args, "Event", ""));
    }
    if (ad_has(args, "HoldReasonCode")) {
        strbuf_printf(&world->reports, " %lld %s", (long long)ad_int_or(args, "HoldReasonCode", 0),
                      ad_string_or(args, "HoldReason", ""));
    }
    if (ad_has(args, "ExitCode")) {
        strbuf_printf(&world->reports, " exit %lld", (long long)ad_int_or(args, "ExitCode", 0));
    }
    strbuf_putc(&world->reports, ';');
    int status = world->status[verb];
    if (world->swallow) {
        vec_push(&world->swallowed, request);
        return;
    }
    if (status == 0) {
        wire_reply_ok(request, NULL);
    } else {
        wire_reply_error(request, status, "as the test wants it");
    }
}

static void schedd_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct world *world = arg;
    (void)status;
    (void)why;
    if (wire == world->shadow) {
        world->shadow = NULL;
    }
    wire_close(wire);
}

static void shadow_comes(void *arg, struct incoming *incoming)
{
    static const struct wire_events EVENTS = {.request = schedd_request, .closed = schedd_closed};
    static const struct wire_accept HOW = {.identity = NULL};
    struct world *world = arg;
    struct wire *wire = NULL;
    assert_string_equal(incoming_route(incoming), "shadow");
    assert_int_equal(wire_accept(world->context, incoming, &HOW, &EVENTS, world, &wire, NULL), 0);
}

static void starter_comes(void *arg, struct incoming *incoming)
{
    struct world *world = arg;
    struct err err;
    assert_int_equal(incoming_pass(incoming, world->pass, &err), 0);
}

/* ---- the shadow --------------------------------------------------------------------------------
 */

static void sink_write(void *context, const char *line, size_t length)
{
    strbuf_append(context, line, length);
}

static void start(struct world *world)
{
    char *const argv[] = {(char *)"roost-shadow", (char *)"-config", world->config,
                          (char *)"-instance",    world->me,         (char *)"-noresurrect",
                          (char *)"-owner",       world->me,         NULL};
    struct log_sink sink = {.write = sink_write, .context = &world->log_text};
    struct err err = {{0}};
    world->greeted = false;
    if (daemon_run_start(&shadow_daemon, world->loop, world->os, &sink, 8, argv, &world->run,
                         &err) != 0) {
        fail_msg("%s", err.text);
    }
    wait_for(world, &world->greeted);
}

static void restart(struct world *world)
{
    daemon_run_destroy(world->run);
    start(world);
}

static void put(struct world *world, const char *name, const char *text)
{
    char path[160];
    (void)snprintf(path, sizeof(path), "%s/%s", world->dir, name);
    assert_int_equal(os_write_file(world->os, path, text, strlen(text), 0640, false, NULL), 0);
}

static void file_is(struct world *world, const char *name, const char *expected)
{
    char path[160];
    char *text = NULL;
    size_t length = 0;
    (void)snprintf(path, sizeof(path), "%s/%s", world->dir, name);
    int result = os_read_file(world->os, path, 1000000, &text, &length, NULL);
    if (expected == NULL) {
        assert_int_equal(result, -ENOENT);
        return;
    }
    assert_int_equal(result, 0);
    assert_string_equal(text, expected);
    mem_free(text);
}

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    struct err err = {{0}};
    (void)snprintf(world->dir, sizeof(world->dir), "/tmp/roost_shadow_XXXXXX");
    assert_non_null(mkdtemp(world->dir));
    assert_int_equal(loop_create(&world->loop, NULL), 0);
    assert_int_equal(os_create(world->loop, &world->os, NULL), 0);
    strbuf_init(&world->log_text, 0);
    strbuf_init(&world->reports, 0);
    world->patience = loop_timer_create(world->loop, out_of_patience, world);
    assert_int_equal(os_user_name(world->os, os_uid(world->os), world->me, sizeof(world->me), NULL),
                     0);
    char text[512];
    (void)snprintf(world->config, sizeof(world->config), "%s/roost.conf", world->dir);
    (void)snprintf(text, sizeof(text),
                   "LOCAL_DIR = \"%s\"\nLOG = \"%s/log\"\nSPOOL = \"%s\"\nUID_DOMAIN = \"pool\"\n"
                   "SHADOW_LANES = 2\n",
                   world->dir, world->dir, world->dir);
    put(world, "roost.conf", text);
    const struct wire_context_options options = {.loop = world->loop,
                                                 .os = world->os,
                                                 .uid_domain = "pool",
                                                 .admin_uid = 1};
    assert_int_equal(wire_context_create(&options, &world->context, NULL), 0);
    (void)snprintf(text, sizeof(text), "unix:%s/schedd.sock", world->dir);
    if (listener_create(world->loop, text, shadow_comes, world, &world->local, &err) != 0 ||
        listener_create(world->loop, "tcp:127.0.0.1:0", starter_comes, world, &world->tcp, &err) !=
            0) {
        fail_msg("%s", err.text);
    }
    start(world);
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    daemon_run_destroy(world->run);
    for (size_t i = 0; i < world->swallowed.count; i++) {
        wire_reply_error(world->swallowed.items[i], -ESHUTDOWN, "too late"); /* to nobody */
    }
    vec_fini(&world->swallowed, NULL);
    wire_close(world->shadow);
    listener_destroy(world->local);
    listener_destroy(world->tcp);
    wire_context_destroy(world->context);
    loop_timer_destroy(world->patience);
    (void)os_remove_tree(world->os, world->dir, NULL); /* a leftover in /tmp harms nobody */
    os_destroy(world->os);
    loop_destroy(world->loop);
    strbuf_fini(&world->log_text);
    strbuf_fini(&world->reports);
    free(world);
    return 0;
}

/* ---- calls -------------------------------------------------------------------------------------
 */

static void on_answer(void *arg, struct wire_reply *reply)
{
    struct answer *answer = arg;
    for (size_t i = 0; i < reply->ad_count; i++) {
        vec_push(&answer->ads, wire_reply_take_ad(reply, i));
    }
    strbuf_append(&answer->bytes, reply->blob, reply->blob_length);
    if (reply->args != NULL) {
        strbuf_puts(&answer->sums, ad_string_or(reply->args, "Checksum", ""));
    }
    if (!reply->more) {
        answer->status = reply->status;
        answer->args = reply->args != NULL ? ad_copy(reply->args) : ad_create();
        answer->done = true;
    }
}

static void free_ad(void *ad)
{
    ad_destroy(ad);
}

static void answer_fini(struct answer *answer)
{
    ad_destroy(answer->args);
    vec_fini(&answer->ads, free_ad);
    strbuf_fini(&answer->bytes);
    strbuf_fini(&answer->sums);
}

static struct ad *parse(const char *text)
{
    struct ad *ad = NULL;
    assert_int_equal(ad_parse(text, strlen(text), &ad, NULL), 0);
    return ad;
}

static void begin(struct wire *wire, enum wire_verb verb, const char *args_text,
                  const char *ad_text, const char *blob, struct answer *answer)
{
    struct ad *args = parse(args_text);
    struct ad *ad = ad_text != NULL ? parse(ad_text) : NULL;
    const struct ad *ads[] = {ad};
    const struct wire_body body = {.args = args,
                                   .ads = ads,
                                   .ad_count = ad != NULL ? 1 : 0,
                                   .blob = blob,
                                   .blob_length = blob != NULL ? strlen(blob) : 0};
    *answer = (struct answer){0};
    strbuf_init(&answer->bytes, 0);
    strbuf_init(&answer->sums, 0);
    assert_true(wire_call(wire, verb, &body, 0, on_answer, answer) > 0);
    ad_destroy(ad);
    ad_destroy(args);
}

static int call(struct world *world, struct wire *wire, enum wire_verb verb, const char *args_text,
                const char *ad_text, const char *blob)
{
    struct answer answer;
    begin(wire, verb, args_text, ad_text, blob, &answer);
    wait_for(world, &answer.done);
    int status = answer.status;
    answer_fini(&answer);
    return status;
}

static void starter_ready(void *arg, struct wire *wire)
{
    (void)wire;
    ((struct starter *)arg)->ready = true;
    ((struct starter *)arg)->settled = true;
}

static void starter_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct starter *starter = arg;
    (void)why;
    starter->closed = true;
    starter->settled = true;
    starter->status = status;
    starter->wire = NULL;
    wire_close(wire);
}

static void dial(struct world *world, const char *id, int64_t epoch, const char *nonce,
                 struct starter *starter)
{
    static const struct wire_events EVENTS = {.ready = starter_ready, .closed = starter_closed};
    struct ad *hello = ad_create();
    ad_set_string(hello, "JobId", id);
    ad_set_int(hello, "ClaimEpoch", epoch);
    ad_set_string(hello, "Nonce", nonce);
    const struct wire_dial how = {.address = listener_address(world->tcp),
                                  .route = "shadow/x",
                                  .name = "",
                                  .pin = world->pin,
                                  .hello = hello};
    *starter = (struct starter){0};
    assert_int_equal(wire_dial(world->context, &how, &EVENTS, starter, &starter->wire, NULL), 0);
    wait_for(world, &starter->settled);
    ad_destroy(hello);
}

static void job_run(struct world *world, const char *more_args, const char *job)
{
    char args[256];
    char ad[1024];
    (void)snprintf(args, sizeof(args), "[JobId = \"1.0\"; ClaimEpoch = 3; Nonce = \"%s\"; %s]",
                   NONCE, more_args);
    (void)snprintf(ad, sizeof(ad), "[Cmd = \"%s/run.sh\"; Iwd = \"%s\"; Out = \"out\"; %s]",
                   world->dir, world->dir, job);
    assert_int_equal(call(world, world->shadow, VERB_JOB_RUN, args, ad, NULL), 0);
}

static void reports_are(struct world *world, const char *expected)
{
    assert_string_equal(strbuf_text(&world->reports), expected);
    strbuf_clear(&world->reports);
}

static void put_file(struct world *world, struct starter *starter, const char *name,
                     const char *text)
{
    char args[256];
    (void)snprintf(args, sizeof(args), "[Name = \"%s\"; Offset = 0; Size = %zu; Mode = 416]", name,
                   strlen(text));
    assert_int_equal(call(world, starter->wire, VERB_FILE_PUT, args, NULL, text), 0);
}

static const char *done_args(const char *name, const char *text, char ret[512])
{
    char hex[DIGEST_HEX_SIZE];
    struct digest *digest = digest_create();
    digest_update(digest, text, strlen(text));
    digest_hex(digest, hex);
    digest_destroy(digest);
    (void)snprintf(ret, 512, "[ExitCode = 5; Files = {\"%s\"}; Checksums = {\"%s\"}]", name, hex);
    return ret;
}

static bool has_stage(struct world *world, const char *name)
{
    char path[200];
    struct os_stat stat;
    (void)snprintf(path, sizeof(path), "%s/owner/%s/stage/%s", world->dir, world->me, name);
    return os_stat(world->os, path, &stat) == 0;
}

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
    wait_for(world, &answer.done);
    assert_int_equal(answer.status, 0);
    assert_int_equal(answer.ads.count, 3);
    assert_string_equal(ad_string_or(answer.ads.items[0], "Cmd", ""), "condor_exec.exe");
    assert_string_equal(ad_string_or(answer.ads.items[2], "Name", ""), "in.txt");
    assert_int_equal(ad_int_or(answer.ads.items[2], "Size", 0), 10);
    answer_fini(&answer);
    begin(starter.wire, VERB_FILE_GET, "[Name = \"in.txt\"]", NULL, NULL, &answer);
    wait_for(world, &answer.done);
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
    reports_are(world, "JOB_RESULT exit 0;JOB_PLACED;JOB_RESULT exit 6;JOB_PLACED;");
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
    reports_are(world, "JOB_RESULT exit 0;JOB_PLACED;");
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
    wait_for(world, &answer.done);
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
    wait_for(world, &ping.done);
    (void)snprintf(world->runs, sizeof(world->runs), "1.0.3");
    restart(world);
    wait_for(world, &starter.closed);
    struct answer *answers[] = {&fetch, &get, &file, &started, &done, &ping};
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        wait_for(world, &answers[i]->done);
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
    assert_non_null(strstr(strbuf_text(&world->reports), "no file"));
    wire_close(starter.wire);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_job_is_fetched_and_its_result_is_placed),
        CASE(a_missing_input_holds_the_job_before_the_starter_is_refused),
        CASE(a_wrong_nonce_or_epoch_gets_nothing),
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
