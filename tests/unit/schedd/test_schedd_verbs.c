/* tests/unit/schedd/test_schedd_verbs.c - SUBMIT, ACT, QUERY, WATCH on a real schedd.
 *
 * The daemon runs on the test's own loop, with its store, its sockets and TLS; there is no
 * collector and no startd.  Restarting it is destroying and starting it again on the same
 * directory.
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
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/os_run.h"
#include "base/pki.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/schedd.h"
#include "wire/token.h"
#include "wire/watch.h"
#include "wire/wire.h"

#define PATIENCE_MS 20000

struct world {
    struct loop *loop;
    struct os *os;
    char dir[64], config[96], local[128], token_path[96];
    struct daemon_run *run;
    struct wire_context *context;
    struct strbuf log_text;
    struct loop_timer *patience;
    char me[64];
};

/* One call and its whole answer. */
struct answer {
    struct world *world;
    bool done;
    int status;
    char text[512];
    struct ad *args;
    struct vec ads;
};

struct connection {
    struct world *world;
    struct wire *wire;
    bool ready, closed;
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

/* ---- the daemon --------------------------------------------------------------------------------
 */

static void sink_write(void *context, const char *line, size_t length)
{
    strbuf_append(context, line, length);
}

static void start(struct world *world)
{
    char *const argv[] = {(char *)"roost-schedd", (char *)"-config", world->config,
                          (char *)"-noresurrect", NULL};
    struct log_sink sink = {.write = sink_write, .context = &world->log_text};
    struct err err = {{0}};
    if (daemon_run_start(&schedd_daemon, world->loop, world->os, &sink, 4, argv, &world->run,
                         &err) != 0) {
        fail_msg("%s", err.text);
    }
}

static void restart(struct world *world)
{
    daemon_run_destroy(world->run);
    world->run = NULL;
    start(world);
}

static void put(struct world *world, const char *name, const char *text)
{
    char path[160];
    (void)snprintf(path, sizeof(path), "%s/%s", world->dir, name);
    assert_int_equal(os_write_file(world->os, path, text, strlen(text), 0600, false, NULL), 0);
}

static void make_secrets(struct world *world)
{
    char cert[96], key[96], keys[96];
    const char *const sans[] = {"127.0.0.1"};
    (void)snprintf(cert, sizeof(cert), "%s/schedd.pem", world->dir);
    (void)snprintf(key, sizeof(key), "%s/schedd-key.pem", world->dir);
    (void)snprintf(keys, sizeof(keys), "%s/keys", world->dir);
    assert_int_equal(pki_make_ca(world->os, world->dir, "pool", NULL), 0);
    assert_int_equal(pki_make_server_cert(world->os, world->dir, cert, key, "schedd", sans, 1,
                                          NULL),
                     0);
    assert_int_equal(os_mkdirs(world->os, keys, 0700, NULL), 0);
    assert_int_equal(token_key_make(world->os, world->loop, keys, "k1", NULL), 0);
}

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    (void)snprintf(world->dir, sizeof(world->dir), "/tmp/roost_schedd_XXXXXX");
    assert_non_null(mkdtemp(world->dir));
    assert_int_equal(loop_create(&world->loop, NULL), 0);
    assert_int_equal(os_create(world->loop, &world->os, NULL), 0);
    strbuf_init(&world->log_text, 0);
    world->patience = loop_timer_create(world->loop, out_of_patience, world);
    (void)snprintf(world->config, sizeof(world->config), "%s/roost.conf", world->dir);
    (void)snprintf(world->local, sizeof(world->local), "unix:%s/spool/schedd.sock", world->dir);
    (void)snprintf(world->token_path, sizeof(world->token_path), "%s/token", world->dir);
    assert_int_equal(os_user_name(world->os, os_uid(world->os), world->me, sizeof(world->me), NULL),
                     0);
    make_secrets(world);
    char config[1024];
    (void)
        snprintf(config, sizeof(config),
                 "LOCAL_DIR = \"%s\"\nLOG = \"%s/log\"\nRUN = \"%s/run\"\nSEC_DIRECTORY = \"%s\"\n"
                 "COLLECTOR_HOST = \"127.0.0.1:1\"\nSCHEDD_HOST = \"127.0.0.1\"\n"
                 "SCHEDD_NAME = \"s1\"\nUID_DOMAIN = \"pool\"\nMAX_JOBS_PER_OWNER = 20\n"
                 "MAX_JOBS_PER_SUBMISSION = 15\nMAX_HISTORY_JOBS = 5\n",
                 world->dir, world->dir, world->dir, world->dir);
    put(world, "roost.conf", config);
    start(world);
    char ca[96];
    (void)snprintf(ca, sizeof(ca), "%s/ca.pem", world->dir);
    const struct wire_context_options options = {
        .loop = world->loop,
        .os = world->os,
        .token_path = world->token_path,
        .ca_file = ca,
        .uid_domain = "pool",
    };
    assert_int_equal(wire_context_create(&options, &world->context, NULL), 0);
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    daemon_run_destroy(world->run);
    wire_context_destroy(world->context);
    loop_timer_destroy(world->patience);
    (void)os_remove_tree(world->os, world->dir, NULL); /* a leftover in /tmp harms nobody */
    os_destroy(world->os);
    loop_destroy(world->loop);
    strbuf_fini(&world->log_text);
    free(world);
    return 0;
}

/* ---- the client --------------------------------------------------------------------------------
 */

static void on_ready(void *arg, struct wire *wire)
{
    (void)wire;
    ((struct connection *)arg)->ready = true;
}

static void on_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct connection *connection = arg;
    (void)status;
    if (!connection->ready) {
        fail_msg("not connected: %s", why);
    }
    connection->closed = true;
    connection->wire = NULL;
    wire_close(wire);
}

static void dial(struct world *world, const char *address, const char *route,
                 struct connection *connection)
{
    static const struct wire_events EVENTS = {.ready = on_ready, .closed = on_closed};
    const struct wire_dial how = {.address = address, .route = route, .name = ""};
    *connection = (struct connection){.world = world};
    assert_int_equal(wire_dial(world->context, &how, &EVENTS, connection, &connection->wire, NULL),
                     0);
    wait_for(world, &connection->ready);
}

static void on_answer(void *arg, struct wire_reply *reply)
{
    struct answer *answer = arg;
    for (size_t i = 0; i < reply->ad_count; i++) {
        vec_push(&answer->ads, wire_reply_take_ad(reply, i));
    }
    if (reply->more) {
        return;
    }
    answer->status = reply->status;
    (void)snprintf(answer->text, sizeof(answer->text), "%s", reply->text);
    answer->args = reply->args != NULL ? ad_copy(reply->args) : ad_create();
    answer->done = true;
}

static void free_ad(void *ad)
{
    ad_destroy(ad);
}

static void answer_fini(struct answer *answer)
{
    ad_destroy(answer->args);
    vec_fini(&answer->ads, free_ad);
    *answer = (struct answer){0};
}

static struct ad *parse(const char *text)
{
    struct ad *ad = NULL;
    struct err err = {{0}};
    if (ad_parse(text, strlen(text), &ad, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return ad;
}

/* args and ads in ClassAd text; what: its status. */
static int call_on(struct connection *connection, enum wire_verb verb, const char *args_text,
                   const char *const *ads_text, struct answer *answer)
{
    struct ad *args = parse(args_text);
    struct ad *ads[16] = {0};
    struct wire_body body = {.args = args, .ads = (const struct ad *const *)ads};
    while (ads_text != NULL && ads_text[body.ad_count] != NULL) {
        ads[body.ad_count] = parse(ads_text[body.ad_count]);
        body.ad_count++;
    }
    *answer = (struct answer){.world = connection->world};
    assert_true(wire_call(connection->wire, verb, &body, 0, on_answer, answer) > 0);
    wait_for(connection->world, &answer->done);
    for (size_t i = 0; i < body.ad_count; i++) {
        ad_destroy(ads[i]);
    }
    ad_destroy(args);
    return answer->status;
}

static int call(struct world *world, enum wire_verb verb, const char *args_text,
                const char *const *ads_text, struct answer *answer)
{
    struct connection connection;
    dial(world, world->local, "schedd", &connection);
    int status = call_on(&connection, verb, args_text, ads_text, answer);
    wire_close(connection.wire);
    return status;
}

#define GOOD "Cmd = \"/bin/true\"; Iwd = \"/tmp\""

static int64_t submit(struct world *world, const char *args)
{
    struct answer answer;
    assert_int_equal(call(world, VERB_SUBMIT, args, NULL, &answer), 0);
    int64_t cluster = ad_int_or(answer.args, "ClusterId", 0);
    answer_fini(&answer);
    return cluster;
}

static void act(struct world *world, const char *args, const char *word, int64_t count)
{
    struct answer answer;
    assert_int_equal(call(world, VERB_ACT, args, NULL, &answer), 0);
    assert_int_equal(ad_int_or(answer.args, word, -1), count);
    answer_fini(&answer);
}

static void query(struct world *world, const char *args, struct answer *answer)
{
    assert_int_equal(call(world, VERB_QUERY, args, NULL, answer), 0);
}

static void count_is(struct world *world, const char *args, size_t count)
{
    struct answer answer;
    query(world, args, &answer);
    assert_int_equal(answer.ads.count, count);
    answer_fini(&answer);
}

/* ---- tests -------------------------------------------------------------------------------------
 */

static int64_t reserve(struct world *world)
{
    struct answer answer;
    assert_int_equal(call(world, VERB_SUBMIT, "[Reserve = true]", NULL, &answer), 0);
    int64_t id = ad_int_or(answer.args, "ClusterId", 0);
    answer_fini(&answer);
    return id;
}

static void refused_reservation(struct world *world, int64_t id)
{
    char args[160];
    struct answer answer;
    (void)snprintf(args, sizeof(args), "[" GOOD "; ReservedClusterId = %lld]", (long long)id);
    assert_int_equal(call(world, VERB_SUBMIT, args, NULL, &answer), -ESTALE);
    answer_fini(&answer);
}

static void a_reserved_id_is_its_owners_cluster_once(void **state)
{
    struct world *world = *state;
    char args[160];
    int64_t first = reserve(world), second = reserve(world);
    assert_int_equal(second, first + 1);
    assert_int_equal(submit(world, "[" GOOD "]"), second + 1);
    count_is(world, "[Type = \"Job\"]", 1); /* a reservation is no cluster */
    (void)snprintf(args, sizeof(args), "[" GOOD "; ReservedClusterId = %lld]", (long long)first);
    assert_int_equal(submit(world, args), first);
    (void)snprintf(args, sizeof(args),
                   "[Type = \"Job\"; Constraint = \"ClusterId == %lld &&"
                   " ReservedClusterId =?= undefined\"]",
                   (long long)first);
    count_is(world, args, 1);
    refused_reservation(world, first);       /* used */
    refused_reservation(world, second + 1);  /* another's */
    refused_reservation(world, second + 99); /* nobody's */
    assert_int_equal(submit(world, "[" GOOD "]"), second + 2);
}

static void a_reservation_ends_with_the_schedd(void **state)
{
    struct world *world = *state;
    int64_t id = reserve(world);
    restart(world);
    refused_reservation(world, id);
    assert_int_equal(submit(world, "[" GOOD "]"), id);
}

static void a_reserved_cluster_that_is_gone_does_not_come_again(void **state)
{
    struct world *world = *state;
    char args[160];
    int64_t id = reserve(world);
    (void)snprintf(args, sizeof(args), "[" GOOD "; ReservedClusterId = %lld]", (long long)id);
    assert_int_equal(submit(world, args), id);
    (void)snprintf(args, sizeof(args), "[Action = \"Remove\"; Ids = {\"%lld\"}]", (long long)id);
    act(world, args, "Success", 1);
    refused_reservation(world, id);
    restart(world);
    assert_int_equal(submit(world, "[" GOOD "]"), id + 1);
}

static void a_submitted_cluster_is_there_after_a_restart(void **state)
{
    struct world *world = *state;
    const char *const procs[] = {"[Args = \"0\"]", "[]", "[Args = \"2\"; JobPrio = 7]", NULL};
    struct answer answer;
    assert_int_equal(call(world, VERB_SUBMIT, "[" GOOD "; Args = \"x\"; Owner = \"evil\"]", procs,
                          &answer),
                     0);
    assert_int_equal(ad_int_or(answer.args, "ClusterId", 0), 1);
    assert_int_equal(ad_int_or(answer.args, "FirstProcId", -1), 0);
    assert_int_equal(ad_int_or(answer.args, "LastProcId", -1), 2);
    answer_fini(&answer);
    count_is(world, "[Type = \"Job\"; Constraint = \"TotalSubmitProcs == 3\"]", 3);
    for (int i = 0; i < 2; i++) {
        query(world, "[Type = \"Job\"]", &answer);
        assert_int_equal(answer.ads.count, 3);
        static const char *const ARGS[] = {"0", "x", "2"};
        for (size_t k = 0; k < 3; k++) {
            const struct ad *job = answer.ads.items[k];
            assert_string_equal(ad_string_or(job, "Args", ""), ARGS[k]);
            assert_string_equal(ad_string_or(job, "Owner", ""), world->me);
            assert_int_equal(ad_int_or(job, "ProcId", -1), k);
            assert_int_equal(ad_int_or(job, "JobStatus", 0), 1);
            assert_int_equal(ad_int_or(job, "AutoClusterId", 0), 1);
            assert_true(ad_int_or(job, "QDate", 0) > 0);
        }
        assert_int_equal(ad_int_or(answer.args, "IdleJobs", -1), 3);
        answer_fini(&answer);
        restart(world);
    }
    assert_int_equal(submit(world, "[" GOOD "]"), 2); /* ids are not given twice */
}

static void a_cluster_can_come_in_several_calls_and_by_count(void **state)
{
    struct world *world = *state;
    struct answer answer;
    assert_int_equal(submit(world, "[" GOOD "; ProcCount = 5]"), 1);
    const char *const more[] = {"[]", "[]", NULL};
    assert_int_equal(call(world, VERB_SUBMIT, "[ClusterId = 1]", more, &answer), 0);
    assert_int_equal(ad_int_or(answer.args, "FirstProcId", -1), 5);
    assert_int_equal(ad_int_or(answer.args, "LastProcId", -1), 6);
    answer_fini(&answer);
    assert_int_equal(call(world, VERB_SUBMIT, "[ClusterId = 99]", more, &answer), -ENOENT);
    answer_fini(&answer);
    count_is(world, "[Type = \"Job\"]", 7);
}

static void a_refused_submission_leaves_nothing_and_says_why(void **state)
{
    struct world *world = *state;
    struct answer answer;
    const char *const second_bad[] = {"[]", "[Iwd = \"relative\"]", NULL};
    assert_int_equal(call(world, VERB_SUBMIT, "[" GOOD "]", second_bad, &answer), -EINVAL);
    assert_non_null(strstr(answer.text, "job 1"));
    assert_non_null(strstr(answer.text, "Iwd"));
    answer_fini(&answer);
    assert_int_equal(call(world, VERB_SUBMIT, "[Cmd = \"/bin/true\"]", NULL, &answer), -EINVAL);
    answer_fini(&answer);
    assert_int_equal(call(world, VERB_SUBMIT, "[" GOOD "; ProcCount = 16]", NULL, &answer),
                     -EDQUOT);
    assert_non_null(strstr(answer.text, "MAX_JOBS_PER_SUBMISSION"));
    answer_fini(&answer);
    count_is(world, "[Type = \"Job\"]", 0);
    (void)submit(world, "[" GOOD "; ProcCount = 15]");
    assert_int_equal(call(world, VERB_SUBMIT, "[" GOOD "; ProcCount = 6]", NULL, &answer), -EDQUOT);
    assert_non_null(strstr(answer.text, "MAX_JOBS_PER_OWNER"));
    answer_fini(&answer);
    count_is(world, "[Type = \"Job\"]", 15);
}

static void jobs_are_held_released_and_removed_and_stay_so(void **state)
{
    struct world *world = *state;
    struct answer answer;
    (void)submit(world, "[" GOOD "; ProcCount = 3]");
    act(world, "[Action = \"Hold\"; Ids = {\"1.0\", \"1.1\"}; Reason = \"because\"]", "Success", 2);
    act(world, "[Action = \"Hold\"; Ids = {\"1.0\"}]", "AlreadyDone", 1);
    act(world, "[Action = \"Release\"; Ids = {\"1.2\"}]", "BadStatus", 1);
    restart(world);
    query(world, "[Type = \"Job\"; Constraint = \"JobStatus == 5\"]", &answer);
    assert_int_equal(answer.ads.count, 2);
    assert_string_equal(ad_string_or(answer.ads.items[0], "HoldReason", ""), "because");
    assert_int_equal(ad_int_or(answer.ads.items[0], "HoldReasonCode", -1), 1);
    assert_int_equal(ad_int_or(answer.args, "HeldJobs", -1), 2);
    assert_int_equal(ad_int_or(answer.args, "IdleJobs", -1), 1);
    answer_fini(&answer);
    act(world, "[Action = \"Release\"; Ids = {\"1.0\"}]", "Success", 1);
    act(world, "[Action = \"Remove\"; Ids = {\"1\"}]", "Success", 3);
    act(world, "[Action = \"Remove\"; Ids = {\"1\", \"1.0\", \"7.0\"}]", "NotFound", 3);
    act(world, "[Action = \"Remove\"; Ids = {\"x\"}]", "Error", 1);
    count_is(world, "[Type = \"Job\"]", 0);
    restart(world);
    count_is(world, "[Type = \"Job\"]", 0);
    query(world, "[Type = \"History\"; Constraint = \"ProcId > 0\"]", &answer);
    assert_int_equal(answer.ads.count, 2);
    assert_int_equal(ad_int_or(answer.ads.items[0], "JobStatus", 0), 3);
    assert_non_null(strstr(ad_string_or(answer.ads.items[0], "RemoveReason", ""), world->me));
    answer_fini(&answer);
}

static void what_was_asked_for_by_id_is_answered_one_by_one(void **state)
{
    struct world *world = *state;
    struct answer answer;
    (void)submit(world, "[" GOOD "; ProcCount = 2]");
    assert_int_equal(call(world, VERB_ACT,
                          "[Action = \"Hold\"; Ids = {\"1.1\", \"9.9\", \"1\"}; ReasonCode = 3]",
                          NULL, &answer),
                     0);
    static const char *const RESULTS[] = {"Success", "NotFound", "Success"};
    assert_int_equal(answer.ads.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(ad_string_or(answer.ads.items[i], "Result", ""), RESULTS[i]);
    }
    assert_int_equal(ad_int_or(answer.ads.items[0], "JobStatus", 0), 1);
    assert_int_equal(ad_int_or(answer.args, "Success", 0), 2);
    assert_int_equal(ad_int_or(answer.args, "AlreadyDone", 0), 1);
    answer_fini(&answer);
    act(world, "[Action = \"Remove\"; Constraint = \"HoldReasonCode == 3 && ProcId == 1\"]",
        "Success", 1);
    count_is(world, "[Type = \"Job\"]", 1);
    assert_int_equal(call(world, VERB_ACT, "[Action = \"Remove\"; Constraint = \"1 +\"]", NULL,
                          &answer),
                     -EINVAL);
    answer_fini(&answer);
    assert_int_equal(call(world, VERB_ACT, "[Action = \"Melt\"; Ids = {\"1\"}]", NULL, &answer),
                     -EINVAL);
    answer_fini(&answer);
}

static void a_job_can_be_submitted_on_hold(void **state)
{
    struct world *world = *state;
    struct answer answer;
    const char *const procs[] = {"[]", "[JobStatus = 5]", NULL};
    assert_int_equal(call(world, VERB_SUBMIT, "[" GOOD "]", procs, &answer), 0);
    answer_fini(&answer);
    query(world, "[Type = \"Job\"; Constraint = \"JobStatus == 5\"]", &answer);
    assert_int_equal(answer.ads.count, 1);
    assert_int_equal(ad_int_or(answer.ads.items[0], "ProcId", -1), 1);
    assert_int_equal(ad_int_or(answer.ads.items[0], "HoldReasonCode", 0), 15);
    answer_fini(&answer);
}

static void queries_project_limit_and_hide(void **state)
{
    struct world *world = *state;
    struct answer answer;
    (void)submit(world, "[" GOOD "; ProcCount = 4; ClaimId = \"secret\"]");
    query(world, "[Type = \"Job\"; Projection = {\"ProcId\", \"Nope\"}; Limit = 3]", &answer);
    assert_int_equal(answer.ads.count, 3);
    assert_int_equal(ad_count(answer.ads.items[2]), 1);
    assert_int_equal(ad_int_or(answer.ads.items[2], "ProcId", -1), 2);
    answer_fini(&answer);
    query(world, "[Type = \"Job\"; Limit = 1]", &answer);
    assert_false(ad_has(answer.ads.items[0], "ClaimId"));
    answer_fini(&answer);
    query(world, "[Type = \"Scheduler\"]", &answer);
    assert_string_equal(ad_string_or(answer.ads.items[0], "Name", ""), "s1");
    assert_int_equal(ad_int_or(answer.ads.items[0], "TotalIdleJobs", -1), 4);
    answer_fini(&answer);
    assert_int_equal(call(world, VERB_QUERY, "[Type = \"Machine\"]", NULL, &answer), -EINVAL);
    answer_fini(&answer);
    assert_int_equal(call(world, VERB_QUERY, "[Constraint = \"((\"]", NULL, &answer), -EINVAL);
    answer_fini(&answer);
}

static void history_is_newest_first_and_stops_where_it_is_told(void **state)
{
    struct world *world = *state;
    struct answer answer;
    (void)submit(world, "[" GOOD "; ProcCount = 3]");
    act(world, "[Action = \"Remove\"; Ids = {\"1\"}]", "Success", 3);
    query(world, "[Type = \"History\"]", &answer);
    assert_int_equal(answer.ads.count, 3);
    assert_int_equal(ad_int_or(answer.ads.items[0], "ProcId", -1), 2);
    answer_fini(&answer);
    query(world, "[Type = \"History\"; Since = \"1.1\"]", &answer);
    assert_int_equal(answer.ads.count, 1);
    answer_fini(&answer);
    count_is(world, "[Type = \"History\"; Limit = 2]", 2);
}

static void the_history_keeps_the_newest(void **state)
{
    struct world *world = *state;
    struct answer answer;
    /* MAX_HISTORY_JOBS is 5; the oldest go a thousand at a time. */
    for (int i = 0; i < 67; i++) {
        char args[96];
        (void)submit(world, "[" GOOD "; ProcCount = 15]");
        (void)snprintf(args, sizeof(args), "[Action = \"Remove\"; Ids = {\"%d\"}]", i + 1);
        act(world, args, "Success", 15);
        if (i == 30) {
            restart(world); /* it still knows how many there are */
        }
    }
    size_t count = 1005;
    for (int i = 0; i < 1000 && count > 5; i++) { /* it takes a moment */
        query(world, "[Type = \"History\"; Projection = {\"ClusterId\", \"ProcId\"}]", &answer);
        count = answer.ads.count;
        if (count == 5) {
            assert_int_equal(ad_int_or(answer.ads.items[0], "ClusterId", 0), 67);
            assert_int_equal(ad_int_or(answer.ads.items[4], "ProcId", 0), 10);
        }
        answer_fini(&answer);
    }
    assert_int_equal(count, 5);
}

static void jobs_alike_share_a_request_and_others_do_not(void **state)
{
    struct world *world = *state;
    struct answer answer;
    const char *const procs[] = {"[]", "[RequestMemory = 4096]", "[JobPrio = 3]", NULL};
    assert_int_equal(call(world, VERB_SUBMIT, "[" GOOD "]", procs, &answer), 0);
    answer_fini(&answer);
    (void)submit(world, "[" GOOD "; Args = \"other\"]");
    query(world, "[Type = \"Job\"]", &answer);
    static const int IDS[] = {1, 2, 1, 1};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(ad_int_or(answer.ads.items[i], "AutoClusterId", 0), IDS[i]);
    }
    answer_fini(&answer);
    act(world, "[Action = \"Remove\"; Constraint = \"AutoClusterId == 1\"]", "Success", 3);
    restart(world);
    query(world, "[Type = \"Job\"]", &answer); /* and they stay the same */
    assert_int_equal(ad_int_or(answer.ads.items[0], "AutoClusterId", 0), 2);
    answer_fini(&answer);
    (void)submit(world, "[" GOOD "]");
    query(world, "[Type = \"Job\"; Constraint = \"ClusterId == 3\"]", &answer);
    assert_int_equal(ad_int_or(answer.ads.items[0], "AutoClusterId", 0), 3); /* not 1 again */
    answer_fini(&answer);
}

struct watched {
    bool synced, changed, gone;
    int64_t status;
};

static void watch_changed(void *arg, const char *key, const struct ad *ad)
{
    struct watched *watched = arg;
    assert_string_equal(key, "1.0");
    watched->changed = true;
    watched->status = ad_int_or(ad, "JobStatus", 0);
}

static void watch_gone(void *arg, const char *key)
{
    struct watched *watched = arg;
    assert_string_equal(key, "1.0");
    watched->gone = true;
}

static void watch_synced(void *arg)
{
    ((struct watched *)arg)->synced = true;
}

static void a_watcher_sees_a_job_change_and_go(void **state)
{
    struct world *world = *state;
    struct watched watched = {0};
    static const struct watch_events EVENTS = {.changed = watch_changed,
                                               .gone = watch_gone,
                                               .synced = watch_synced};
    const struct watch_spec spec = {.type = "Job"};
    struct connection connection;
    (void)submit(world, "[" GOOD "]");
    dial(world, world->local, "schedd", &connection);
    struct watch *watch = watch_create(world->loop, &spec, &EVENTS, &watched);
    assert_int_equal(watch_start(watch, connection.wire), 0);
    wait_for(world, &watched.synced);
    assert_int_equal(watched.status, 1);
    watched.changed = false;
    act(world, "[Action = \"Hold\"; Ids = {\"1.0\"}]", "Success", 1);
    wait_for(world, &watched.changed);
    assert_int_equal(watched.status, 5);
    act(world, "[Action = \"Remove\"; Ids = {\"1.0\"}]", "Success", 1);
    wait_for(world, &watched.gone);
    watch_destroy(watch);
    wire_close(connection.wire);
}

static void use_token(struct world *world, const char *identity, uint32_t scopes)
{
    struct token token = {.scopes = scopes, .issued_s = loop_wall_s(world->loop)};
    char key[96];
    char *text = NULL;
    (void)snprintf(token.identity, sizeof(token.identity), "%s", identity);
    (void)snprintf(token.id, sizeof(token.id), "id");
    (void)snprintf(token.pool, sizeof(token.pool), "pool");
    (void)snprintf(key, sizeof(key), "%s/keys/k1.key", world->dir);
    assert_int_equal(token_issue(world->os, key, "k1", &token, &text, NULL), 0);
    put(world, "token", text);
    mem_free(text);
}

static void from_elsewhere_the_token_says_whose_the_jobs_are(void **state)
{
    struct world *world = *state;
    struct answer answer;
    struct connection connection;
    char path[96];
    char *address = NULL;
    size_t length = 0;
    (void)snprintf(path, sizeof(path), "%s/spool/schedd.address", world->dir);
    assert_int_equal(os_read_file(world->os, path, 1000, &address, &length, NULL), 0);
    address[strcspn(address, "\n")] = '\0';
    (void)submit(world, "[" GOOD "]");

    use_token(world, "nobody-has-this-account@pool", SCOPE_WRITE);
    dial(world, address, "schedd", &connection);
    assert_int_equal(call_on(&connection, VERB_SUBMIT, "[" GOOD "]", NULL, &answer), -EPERM);
    assert_non_null(strstr(answer.text, "no account"));
    answer_fini(&answer);
    wire_close(connection.wire);

    use_token(world, "daemon@pool", SCOPE_WRITE | SCOPE_READ);
    dial(world, address, "schedd", &connection);
    bool is_root = os_uid(world->os) == 0; /* else it serves its own account only */
    assert_int_equal(call_on(&connection, VERB_SUBMIT, "[" GOOD "]", NULL, &answer),
                     is_root ? 0 : -EPERM);
    answer_fini(&answer);
    if (is_root) {
        assert_int_equal(call_on(&connection, VERB_ACT, "[Action = \"Remove\"; Ids = {\"1.0\"}]",
                                 NULL, &answer),
                         0);
        assert_int_equal(ad_int_or(answer.args, "PermissionDenied", 0), 1);
        answer_fini(&answer);
        assert_int_equal(call_on(&connection, VERB_ACT,
                                 "[Action = \"Remove\"; Constraint = \"true\"]", NULL, &answer),
                         0);
        assert_int_equal(ad_int_or(answer.args, "PermissionDenied", 0), 1);
        assert_int_equal(ad_int_or(answer.args, "Success", 0), 1);
        answer_fini(&answer);
    }
    wire_close(connection.wire);
    use_token(world, "daemon@pool", SCOPE_READ);
    dial(world, address, "schedd", &connection);
    assert_int_equal(call_on(&connection, VERB_SUBMIT, "[" GOOD "]", NULL, &answer), -EACCES);
    answer_fini(&answer);
    wire_close(connection.wire);
    mem_free(address);
}

static void a_shadow_must_be_of_its_owner(void **state)
{
    struct world *world = *state;
    struct answer answer;
    struct connection connection;
    dial(world, world->local, "shadow", &connection);
    assert_int_equal(call_on(&connection, VERB_JOB_RESULT, "[JobId = \"1.0\"; ClaimEpoch = 1]",
                             NULL, &answer),
                     -EACCES);
    answer_fini(&answer);
    const char *other = os_uid(world->os) == 0 ? "[Owner = \"daemon\"]" : "[Owner = \"root\"]";
    assert_int_equal(call_on(&connection, VERB_SHADOW_HELLO, other, NULL, &answer), -EACCES);
    answer_fini(&answer);
    char own[96];
    (void)snprintf(own, sizeof(own), "[Owner = \"%s\"; Pid = 1]", world->me);
    assert_int_equal(call_on(&connection, VERB_SHADOW_HELLO, own, NULL, &answer), 0);
    answer_fini(&answer);
    (void)submit(world, "[" GOOD "]");
    assert_int_equal(call_on(&connection, VERB_JOB_RESULT, "[JobId = \"1.0\"; ClaimEpoch = 1]",
                             NULL, &answer),
                     -ESTALE);
    answer_fini(&answer);
    assert_int_equal(call_on(&connection, VERB_JOB_RESULT, "[JobId = \"5.0\"; ClaimEpoch = 1]",
                             NULL, &answer),
                     -ESTALE);
    answer_fini(&answer);
    wire_close(connection.wire);
}

static void a_claim_id_that_nobody_gave_is_refused(void **state)
{
    struct world *world = *state;
    struct answer answer;
    struct connection connection;
    char path[96];
    char *address = NULL;
    size_t length = 0;
    (void)snprintf(path, sizeof(path), "%s/spool/schedd.address", world->dir);
    assert_int_equal(os_read_file(world->os, path, 1000, &address, &length, NULL), 0);
    address[strcspn(address, "\n")] = '\0';
    dial(world, address, "claim", &connection);
    assert_int_equal(call_on(&connection, VERB_CLAIM, "[ClaimId = \"x\"; Machine = \"m\"]", NULL,
                             &answer),
                     -ENOKEY);
    answer_fini(&answer);
    assert_int_equal(call_on(&connection, VERB_ALIVE, "[ClaimId = \"x\"]", NULL, &answer), -ENOKEY);
    answer_fini(&answer);
    assert_true(call_on(&connection, VERB_SUBMIT, "[" GOOD "]", NULL, &answer) < 0);
    answer_fini(&answer);
    wire_close(connection.wire);
    mem_free(address);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_submitted_cluster_is_there_after_a_restart),
        CASE(a_reserved_id_is_its_owners_cluster_once),
        CASE(a_reservation_ends_with_the_schedd),
        CASE(a_reserved_cluster_that_is_gone_does_not_come_again),
        CASE(a_cluster_can_come_in_several_calls_and_by_count),
        CASE(a_refused_submission_leaves_nothing_and_says_why),
        CASE(jobs_are_held_released_and_removed_and_stay_so),
        CASE(what_was_asked_for_by_id_is_answered_one_by_one),
        CASE(a_job_can_be_submitted_on_hold),
        CASE(queries_project_limit_and_hide),
        CASE(history_is_newest_first_and_stops_where_it_is_told),
        CASE(the_history_keeps_the_newest),
        CASE(jobs_alike_share_a_request_and_others_do_not),
        CASE(a_watcher_sees_a_job_change_and_go),
        CASE(from_elsewhere_the_token_says_whose_the_jobs_are),
        CASE(a_shadow_must_be_of_its_owner),
        CASE(a_claim_id_that_nobody_gave_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
