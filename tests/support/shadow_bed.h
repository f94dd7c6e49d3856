/* tests/support/shadow_bed.h - a real shadow between a schedd and a starter that the test plays.
 *
 * The shadow runs on the test's own event loop with real files, sockets and TLS.  The test's schedd
 * records every report and answers as told.  The test's starter connects by TCP, and its connection
 * is passed on to the shadow as a schedd does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_SHADOW_BED_H
#define TESTS_SUPPORT_SHADOW_BED_H

#include <errno.h>
#include <unistd.h>

#include "base/daemon/daemon_run.h"
#include "base/digest.h"
#include "base/stream/stream.h"
#include "shadow/shadow.h"
#include "tests/support/call_rig.h"

#define NONCE "0123456789abcdef0123456789abcdef"

struct world {
    struct loop *loop;
    struct os *os;
    char dir[FAST_DIR_SIZE], config[96], me[64], pass[160];
    struct strbuf log_text;
    struct daemon_run *run;
    struct wire_context *context;
    struct listener *local, *tcp;
    struct wire *shadow; /* the shadow's connection to the schedd, after SHADOW_HELLO */
    bool greeted;
    char pin[STREAM_PIN_SIZE];
    char runs[128]; /* the runs that the schedd names in its answer to SHADOW_HELLO */
    /* runs with a checkpoint that the schedd names in its answer to SHADOW_HELLO; NULL: none */
    const char *checkpoints;
    int64_t previous;          /* CkptPrevious of the last report; -1: none */
    int status[200];           /* index: verb of a report; value: status of the answer to it */
    struct strbuf reports;     /* reports so far, such as "JOB_STATUS Hold 13;JOB_RESULT;" */
    struct wire_request *turn; /* a TRANSFER_TURN that is not answered yet */
    bool turn_asked, turn_gone;
    bool swallow;         /* true: the schedd does not answer reports */
    struct vec swallowed; /* struct wire_request *: the reports that were not answered */
};

struct starter {
    struct wire *wire;
    bool ready, closed, settled;
    int status;
};

static inline void wait_for(struct world *world, const bool *flag)
{
    loop_rig_await(world->loop, flag, &world->log_text);
}

/* ---- the schedd that the test plays ---- */

/* Called when the request TRANSFER_TURN was cancelled, or its connection was lost. */
static inline void turn_gone(void *arg)
{
    struct world *world = arg;
    world->turn = NULL;
    world->turn_gone = true;
}

static inline void schedd_request(void *arg, struct wire_request *request)
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
        if (world->checkpoints != NULL) {
            ad_set_string(answer, "Checkpoints", world->checkpoints);
        }
        const struct wire_body body = {.args = answer};
        world->shadow = wire_request_wire(request);
        wire_reply_ok(request, &body);
        ad_destroy(answer);
        world->greeted = true;
        return;
    }
    if (verb == VERB_TRANSFER_TURN) {
        world->turn = request;
        world->turn_asked = true;
        wire_request_on_gone(request, turn_gone, world);
        return;
    }
    strbuf_printf(&world->reports, "%s", wire_verb_name(verb));
    world->previous = ad_int_or(args, "CkptPrevious", -1);
    if (ad_has(args, "Event")) {
        strbuf_printf(&world->reports, " %s", ad_string_or(args, "Event", ""));
    }
    if (ad_has(args, "HoldReasonCode")) {
        strbuf_printf(&world->reports, " %lld %s", (long long)ad_int_or(args, "HoldReasonCode", 0),
                      ad_string_or(args, "HoldReason", ""));
    }
    if (ad_has(args, "ExitCode")) {
        strbuf_printf(&world->reports, " exit %lld%s", (long long)ad_int_or(args, "ExitCode", 0),
                      ad_bool_or(args, "Staged", true) ? "" : " unstaged");
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

static inline void schedd_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct world *world = arg;
    (void)status;
    (void)why;
    if (wire == world->shadow) {
        world->shadow = NULL;
    }
    wire_close(wire);
}

static inline void shadow_comes(void *arg, struct incoming *incoming)
{
    static const struct wire_events EVENTS = {.request = schedd_request, .closed = schedd_closed};
    static const struct wire_accept HOW = {.identity = NULL};
    struct world *world = arg;
    struct wire *wire = NULL;
    assert_string_equal(incoming_route(incoming), "shadow");
    assert_int_equal(wire_accept(world->context, incoming, &HOW, &EVENTS, world, &wire, NULL), 0);
}

static inline void starter_comes(void *arg, struct incoming *incoming)
{
    struct world *world = arg;
    struct err err;
    assert_int_equal(incoming_pass(incoming, world->pass, &err), 0);
}

/* ---- the shadow ---- */

/* Starts the shadow and waits for its SHADOW_HELLO. */
static inline void start(struct world *world)
{
    char *const argv[] = {(char *)"roost-shadow", (char *)"-config", world->config,
                          (char *)"-instance",    world->me,         (char *)"-noresurrect",
                          (char *)"-owner",       world->me,         NULL};
    const struct log_sink sink = loop_rig_sink(&world->log_text);
    world->greeted = false;
    MUST(
        daemon_run_start(&shadow_daemon, world->loop, world->os, &sink, 8, argv, &world->run, err));
    wait_for(world, &world->greeted);
}

static inline void restart(struct world *world)
{
    daemon_run_destroy(world->run);
    start(world);
}

static inline void put(struct world *world, const char *name, const char *text)
{
    loop_rig_write(world->os, world->dir, name, text, 0640);
}

static inline void file_is(struct world *world, const char *name, const char *expected)
{
    char path[256];
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

static inline int set_up(void **state)
{
    struct world *world = mem_zalloc(sizeof(*world));
    loop_rig_open(&world->loop, &world->os, world->dir);
    strbuf_init(&world->log_text, 0);
    strbuf_init(&world->reports, 0);
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
    MUST(listener_create(world->loop, text, shadow_comes, world, &world->local, err));
    MUST(listener_create(world->loop, "tcp:127.0.0.1:0", starter_comes, world, &world->tcp, err));
    start(world);
    *state = world;
    return 0;
}

static inline int tear_down(void **state)
{
    struct world *world = *state;
    daemon_run_destroy(world->run);
    for (size_t i = 0; i < world->swallowed.count; i++) {
        /* frees the request; the shadow has ended and gets no answer */
        wire_reply_error(world->swallowed.items[i], -ESHUTDOWN, "too late");
    }
    vec_fini(&world->swallowed, NULL);
    if (world->turn != NULL) {
        wire_request_on_gone(world->turn, NULL, NULL);
        wire_reply_error(world->turn, -ESHUTDOWN, "too late"); /* frees the request */
    }
    wire_close(world->shadow);
    listener_destroy(world->local);
    listener_destroy(world->tcp);
    wire_context_destroy(world->context);
    loop_rig_close(world->loop, world->os, world->dir);
    strbuf_fini(&world->log_text);
    strbuf_fini(&world->reports);
    mem_free(world);
    return 0;
}

/* ---- calls -------------------------------------------------------------------------------------
 */

static inline void begin(struct wire *wire, enum wire_verb verb, const char *args_text,
                         const char *ad_text, const char *blob, struct answer *answer)
{
    const char *const ads[] = {ad_text, NULL};
    assert_true(answer_ask_text(answer, wire, NULL, verb, args_text, ads, blob) > 0);
}

static inline int call(struct world *world, struct wire *wire, enum wire_verb verb,
                       const char *args_text, const char *ad_text, const char *blob)
{
    struct answer answer;
    begin(wire, verb, args_text, ad_text, blob, &answer);
    wait_for(world, &answer.over);
    int status = answer.status;
    answer_fini(&answer);
    return status;
}

static inline void starter_ready(void *arg, struct wire *wire)
{
    (void)wire;
    ((struct starter *)arg)->ready = true;
    ((struct starter *)arg)->settled = true;
}

static inline void starter_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct starter *starter = arg;
    (void)why;
    starter->closed = true;
    starter->settled = true;
    starter->status = status;
    starter->wire = NULL;
    wire_close(wire);
}

/* Connects a starter, which sends the arguments `hello`; hello is destroyed. */
static inline void dial_with(struct world *world, struct ad *hello, struct starter *starter)
{
    struct told_secrets told = {.count = 0};
    told_take(&told, hello, SECRET_OF_ARGS);
    static const struct wire_events EVENTS = {.ready = starter_ready, .closed = starter_closed};
    const struct wire_dial how = {.address = listener_address(world->tcp),
                                  .route = "shadow/x",
                                  .name = "",
                                  .pin = world->pin,
                                  .hello = hello,
                                  .secrets = told.items,
                                  .secret_count = told.count};
    *starter = (struct starter){0};
    assert_int_equal(wire_dial(world->context, &how, &EVENTS, starter, &starter->wire, NULL), 0);
    wait_for(world, &starter->settled);
    ad_destroy(hello);
    told_fini(&told);
}

static inline void dial(struct world *world, const char *id, int64_t epoch, const char *nonce,
                        struct starter *starter)
{
    struct ad *hello = ad_create();
    ad_set_string(hello, "JobId", id);
    ad_set_int(hello, "ClaimEpoch", epoch);
    ad_set_string(hello, "Nonce", nonce);
    dial_with(world, hello, starter);
}

static inline void job_run(struct world *world, const char *more_args, const char *job)
{
    char args[256];
    char ad[1024];
    (void)snprintf(args, sizeof(args), "[JobId = \"1.0\"; ClaimEpoch = 3; Nonce = \"%s\"; %s]",
                   NONCE, more_args);
    (void)snprintf(ad, sizeof(ad), "[Cmd = \"%s/run.sh\"; Iwd = \"%s\"; Out = \"out\"; %s]",
                   world->dir, world->dir, job);
    assert_int_equal(call(world, world->shadow, VERB_JOB_RUN, args, ad, NULL), 0);
}

static inline void reports_are(struct world *world, const char *expected)
{
    assert_string_equal(strbuf_text(&world->reports), expected);
    strbuf_clear(&world->reports);
}

static inline void put_file(struct world *world, struct starter *starter, const char *name,
                            const char *text)
{
    char args[256];
    (void)snprintf(args, sizeof(args), "[Name = \"%s\"; Offset = 0; Size = %zu; Mode = 416]", name,
                   strlen(text));
    assert_int_equal(call(world, starter->wire, VERB_FILE_PUT, args, NULL, text), 0);
}

static inline void hash(const char *text, size_t length, char ret[DIGEST_HEX_SIZE])
{
    struct digest *digest = digest_create();
    digest_update(digest, text, length);
    digest_hex(digest, ret);
    digest_destroy(digest);
}

static inline const char *done_args(const char *name, const char *text, char ret[512])
{
    char hex[DIGEST_HEX_SIZE];
    hash(text, strlen(text), hex);
    (void)snprintf(ret, 512, "[ExitCode = 5; Files = {\"%s\"}; Checksums = {\"%s\"}]", name, hex);
    return ret;
}

static inline bool has_stage(struct world *world, const char *name)
{
    char path[200];
    struct os_stat stat;
    (void)snprintf(path, sizeof(path), "%s/owner/%s/stage/%s", world->dir, world->me, name);
    return os_stat(world->os, path, &stat) == 0;
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
