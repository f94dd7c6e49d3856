/* tests/unit/startd/startd_rig.h - a startd with real connections on the loopback device: a real
 * collector, a schedd that the test plays, and starters that are scripts, with the test at their
 * end of the Unix socket.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_UNIT_STARTD_STARTD_RIG_H
#define TESTS_UNIT_STARTD_STARTD_RIG_H

#include "tests/support/unit.h"

#include <errno.h>
#include <signal.h>

#include "base/stream/stream.h"
#include "startd/claim/claim_plan.h"
#include "startd/slot/slot.h"
#include "startd/slot/slot_plan.h"
#include "startd/startd.h"
#include "startd/startd_state.h"
#include "tests/support/collector_bed.h"
#include "tests/support/told_secrets.h"

struct schedd { /* the schedd's end of a claim's connection */
    struct wire_context *context;
    struct tls_identity *identity;
    struct listener *listener;
    struct wire *wire; /* the newest connection */
    struct ad *claim, *gone, *alive;
    int claims, resumes, alives, gones, idle_alives;
    int claim_status, alive_status;
    int gone_status; /* answer to the next CLAIM_GONE only */
    int64_t lease_s;
    const char *moved_to, *new_pin; /* sent in answers, if not NULL */
    bool silent;                    /* leave CLAIM and ALIVE unanswered */
    bool mute_gone;                 /* leave CLAIM_GONE unanswered */
};

struct starter_end { /* the starter's end of its connection to the startd */
    struct wire_context *context;
    struct wire *wire;
    bool ready;
    int stops, suspends, runs;
    char directory[256]; /* directory of the last run it was given */
    char shadow[256];    /* address of its shadow, as last told */
    bool suspended;      /* the last state it was told */
    bool fast;
    int64_t grace_s; /* seconds that the job is given to end */
};

struct rig {
    bool wants_suspended; /* answer to SUSPEND_CLAIM */
    struct bed *bed;
    char config_text[4096], execute[300], script[300], pids[300];
    struct daemon_rig daemon;
    struct startd *startd; /* its state; NULL: it does not run */
    struct client *caller; /* the schedd's connection to the collector */
    struct client *reader;
    struct schedd schedd;
    struct starter_end starter;
    char claim_id[CLAIM_ID_MAX]; /* claim id of the last offer */
};

/* ---- waiting ---- */

#define until(rig, holds)                                             \
    LOOP_RIG_UNTIL((rig)->bed->loop, holds(rig), "the slot is %s/%s", \
                   slot_state_name((rig)->startd->slots[0]->state),   \
                   slot_activity_name((rig)->startd->slots[0]->activity))

static inline bool is(const struct rig *rig, enum slot_state state, enum slot_activity activity)
{
    const struct slot *slot = rig->startd->slots[0];
    return slot->state == state && slot->activity == activity;
}
static inline bool is_unclaimed(struct rig *rig)
{
    return is(rig, SLOT_UNCLAIMED, SLOT_IDLE);
}
static inline bool is_matched(struct rig *rig)
{
    return is(rig, SLOT_MATCHED, SLOT_IDLE);
}
static inline bool is_claimed_idle(struct rig *rig)
{
    return is(rig, SLOT_CLAIMED, SLOT_IDLE);
}
static inline bool is_claimed_busy(struct rig *rig)
{
    return is(rig, SLOT_CLAIMED, SLOT_BUSY);
}
static inline bool is_connected(struct rig *rig)
{
    return rig->startd->sent.first_done;
}
static inline bool is_forgotten(struct rig *rig)
{
    return rig->startd->claims.count == 0;
}
static inline bool has_gone(struct rig *rig)
{
    return rig->schedd.gones > 0;
}
static inline bool has_resumed(struct rig *rig)
{
    return rig->schedd.resumes > 0;
}
static inline bool has_idle_alive(struct rig *rig)
{
    return rig->schedd.idle_alives > 0;
}
static inline bool has_stop(struct rig *rig)
{
    return rig->starter.stops > 0;
}

/* ---- the schedd ---- */

static inline void ignore(void *arg)
{
    (void)arg;
}

static inline void schedd_request(void *arg, struct wire_request *request)
{
    struct schedd *schedd = arg;
    const struct ad *args = wire_request_args(request);
    enum wire_verb verb = wire_request_verb(request);
    int status = 0;
    if (verb == VERB_CLAIM) {
        schedd->claims++;
        schedd->resumes += ad_bool_or(args, "Resume", false) ? 1 : 0;
        ad_destroy(schedd->claim);
        schedd->claim = told_args(request);
        status = schedd->claim_status;
    } else if (verb == VERB_ALIVE) {
        schedd->alives++;
        ad_destroy(schedd->alive);
        schedd->alive = ad_copy(args);
        schedd->idle_alives += ad_has(args, "JobId") ? 0 : 1;
        status = schedd->alive_status;
    } else if (verb == VERB_CLAIM_GONE) {
        schedd->gones++;
        ad_destroy(schedd->gone);
        schedd->gone = told_args(request);
        status = schedd->gone_status;
        schedd->gone_status = 0;
    }
    if (schedd->silent || (schedd->mute_gone && verb == VERB_CLAIM_GONE)) {
        wire_request_on_gone(request, ignore, NULL); /* freed with its connection */
        return;
    }
    if (status != 0) {
        wire_reply_error(request, status, "not yours");
        return;
    }
    struct ad *reply = ad_create();
    ad_set_int(reply, "LeaseDuration", schedd->lease_s);
    ad_set_string(reply, "JobId", "1.0");
    ad_set_int(reply, "ClaimEpoch", 1);
    if (schedd->moved_to != NULL) {
        ad_set_string(reply, "ScheddAddress", schedd->moved_to);
        ad_set_string(reply, "ScheddPin", schedd->new_pin);
    }
    const struct wire_body body = {.args = reply};
    wire_reply_ok(request, &body);
    ad_destroy(reply);
}

static inline void schedd_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct schedd *schedd = arg;
    (void)status;
    (void)why;
    schedd->wire = wire == schedd->wire ? NULL : schedd->wire;
    wire_close(wire);
}

static inline int admit(void *arg, const struct wire_peer *peer, const struct wire_hello *hello,
                        struct err *err)
{
    (void)arg;
    (void)peer;
    (void)hello;
    (void)err;
    return 0;
}

static inline void schedd_incoming(void *arg, struct incoming *incoming)
{
    static const struct wire_events EVENTS = {.request = schedd_request, .closed = schedd_closed};
    struct schedd *schedd = arg;
    const struct wire_accept how = {.identity = schedd->identity,
                                    .no_token = true,
                                    .admit = admit,
                                    .scopes = SCOPE_ADVERTISE};
    assert_string_equal(incoming_route(incoming), "claim");
    assert_int_equal(wire_accept(schedd->context, incoming, &how, &EVENTS, schedd, &schedd->wire,
                                 NULL),
                     0);
}

static inline void schedd_open(struct rig *rig)
{
    struct schedd *schedd = &rig->schedd;
    const struct wire_context_options options = {.loop = rig->bed->loop, .os = rig->bed->os};
    schedd->lease_s = 1200;
    MUST(tls_identity_ephemeral(rig->bed->loop, "schedd", &schedd->identity, err));
    MUST(wire_context_create(&options, &schedd->context, err));
    MUST(listener_create(rig->bed->loop, "tcp:127.0.0.1:0", schedd_incoming, schedd,
                         &schedd->listener, err));
}

static inline void schedd_close(struct rig *rig)
{
    struct schedd *schedd = &rig->schedd;
    listener_destroy(schedd->listener);
    wire_context_destroy(schedd->context);
    tls_identity_destroy(schedd->identity);
    ad_destroy(schedd->claim);
    ad_destroy(schedd->gone);
    ad_destroy(schedd->alive);
}

/* ---- the startd ---- */

static inline void write_config(struct rig *rig, const char *more)
{
    const struct bed *bed = rig->bed;
    (void)snprintf(rig->config_text, sizeof rig->config_text,
                   "LOCAL_DIR = \"%s\"\nSPOOL = \"%s\"\nRUN = \"%s\"\nEXECUTE = \"%s\"\n"
                   "SEC_DIRECTORY = \"%s\"\nTOKEN_FILE = \"%s/startd.token\"\n"
                   "COLLECTOR_HOST = \"%s\"\nSTARTD_NAME = \"wn01\"\nNUM_SLOTS = 1\n"
                   "HIBERNATE_ASK_ROOSTER = never\nSTARTER = \"%s\"\n%s\n",
                   bed->dir, bed->dir, bed->dir, rig->execute, bed->dir, bed->dir, bed->tcp + 4,
                   rig->script, more);
}

static inline void load(struct rig *rig, const char *more)
{
    write_config(rig, more);
    daemon_rig_load(&rig->daemon, &startd_daemon, rig->config_text);
}

static inline void reload(struct rig *rig, const char *more)
{
    write_config(rig, more);
    daemon_rig_reload(&rig->daemon, rig->config_text);
}

static inline void start(struct rig *rig)
{
    rig->startd = daemon_rig_start(&rig->daemon, rig->bed->loop, rig->bed->os, rig->bed->log);
}

static inline void stop(struct rig *rig)
{
    daemon_rig_stop(&rig->daemon);
    rig->startd = NULL;
}

static inline void restart(struct rig *rig)
{
    stop(rig);
    start(rig);
}

/* A starter script that runs, with a child process of the job, until it is told to end.  It refuses
 * to be a prepared starter.  Before it writes its pids it ignores SIGTERM, so a test may send that
 * at once. */
static const char STARTER_SCRIPT[] = "#!/bin/sh\n[ \"$1\" != -prepared ] || exit 1\n"
                                     "sleep 600 &\ntrap '' TERM\n"
                                     "echo $$ $! $5 >\"$(dirname $0)/pids.new\"\n"
                                     "mv \"$(dirname $0)/pids.new\" \"$(dirname $0)/pids\"\n"
                                     "wait\nwait\n";

static inline int setup(void **state)
{
    struct rig *rig = mem_zalloc(sizeof *rig);
    struct bed *bed = rig->bed = bed_create("");
    bed_start(bed);
    bed_find_address(bed);
    bed_path(bed, "execute", rig->execute);
    bed_path(bed, "starter.sh", rig->script);
    bed_path(bed, "pids", rig->pids);
    bed_write(bed, "starter.sh", STARTER_SCRIPT, 0755);
    rig->caller = client_dial(bed, SCOPE_SCHEDD | SCOPE_READ, "", "schedd/s", NULL);
    rig->reader = client_dial(bed, SCOPE_ADVERTISE | SCOPE_READ, "", NULL, NULL);
    client_give_token(rig->reader, "startd.token");
    schedd_open(rig);
    load(rig, "");
    start(rig);
    until(rig, is_connected);
    *state = rig;
    return 0;
}

static inline bool read_pids(struct rig *rig, int *starter, int *child, char directory[256])
{
    char *text = NULL;
    size_t length;
    bool ok = os_read_file(rig->bed->os, rig->pids, 4096, &text, &length, NULL) == 0 &&
              sscanf(text, "%d %d %255s", starter, child, directory) == 3;
    mem_free(text);
    return ok;
}

static inline int teardown(void **state)
{
    struct rig *rig = *state;
    int starter, child;
    char directory[256];
    if (read_pids(rig, &starter, &child, directory)) {
        (void)os_kill(rig->bed->os, starter, SIGKILL);
        (void)os_kill(rig->bed->os, child, SIGKILL);
    }
    stop(rig);
    wire_close(rig->starter.wire);
    wire_context_destroy(rig->starter.context);
    schedd_close(rig);
    daemon_rig_fini(&rig->daemon);
    bed_destroy(rig->bed);
    mem_free(rig);
    return 0;
}

/* ---- calls ---- */

static inline int finish(struct rig *rig, struct answer *answer, char *text, size_t size)
{
    loop_rig_await(rig->bed->loop, &answer->over, NULL);
    int status = answer->status;
    (void)snprintf(text, size, "%s", answer->text);
    answer_fini(answer);
    return status;
}

static inline void remember_id(struct rig *rig)
{
    (void)snprintf(rig->claim_id, sizeof rig->claim_id, "%s", rig->startd->slots[0]->claim_id);
}

static char last_text[512];

/* Sends DIAL_ME through the collector; more: further arguments, as the text of an ad. */
static inline int dial_with(struct rig *rig, const char *claim_id, const char *job_text,
                            const char *more, struct ad **ret)
{
    struct ad *args = ad_from_text(more), *job = ad_from_text(job_text);
    struct answer answer;
    if (!ad_has(args, "ScheddAddress")) {
        ad_set_string(args, "ScheddAddress", listener_address(rig->schedd.listener));
    }
    ad_set_string(args, "ScheddName", "s");
    ad_set_string(args, "ScheddPin", tls_identity_pin(rig->schedd.identity));
    ad_set_int(args, "LeaseDuration", rig->schedd.lease_s);
    ad_set_string(args, "JobId", "1.0");
    const struct ad *ads[1] = {job};
    const struct wire_secret proof = {SECRET_CLAIM_ID, SECRET_OF_ARGS, claim_id};
    const struct wire_body body = {
        .args = args, .ads = ads, .ad_count = 1, .secrets = &proof, .secret_count = 1};
    assert_true(answer_ask(&answer, rig->caller->wire, "startd/wn01", VERB_DIAL_ME, &body) > 0);
    loop_rig_await(rig->bed->loop, &answer.over, NULL);
    if (ret != NULL) {
        *ret = answer.args != NULL ? ad_copy(answer.args) : ad_create();
    }
    int status = finish(rig, &answer, last_text, sizeof last_text);
    ad_destroy(args);
    ad_destroy(job);
    return status;
}

/* Sends DIAL_ME with the remembered claim id. */
static inline int dial_me(struct rig *rig, const char *job_text)
{
    return dial_with(rig, rig->claim_id, job_text, "[]", NULL);
}

#define JOB "[Owner = \"ann\"; User = \"ann@pool\"; Requirements = true]"

static inline void claim_it(struct rig *rig)
{
    remember_id(rig);
    assert_int_equal(dial_me(rig, JOB), 0);
    until(rig, is_claimed_idle);
}

static inline void send(struct rig *rig, enum wire_verb verb, int64_t epoch, const char *job_text,
                        struct answer *answer)
{
    char args[600];
    const char *const ads[] = {verb == VERB_ACTIVATE ? job_text : NULL, NULL};
    (void)snprintf(args, sizeof args,
                   "[ JobId = \"1.0\"; ClaimEpoch = %lld; ShadowAddress = \"tcp:127.0.0.1:1\";"
                   " ShadowRoute = \"shadow/ann\"; ShadowPin = \"00\"; Suspended = %s;"
                   " ClaimId = \"%s\"; Nonce = \"0123456789abcdef0123456789abcdef\" ]",
                   (long long)epoch, rig->wants_suspended ? "true" : "false", rig->claim_id);
    assert_true(answer_ask_text(answer, rig->schedd.wire, NULL, verb, args, ads, NULL) > 0);
}

static inline int call(struct rig *rig, enum wire_verb verb, int64_t epoch, const char *job_text)
{
    struct answer answer;
    send(rig, verb, epoch, job_text, &answer);
    return finish(rig, &answer, last_text, sizeof last_text);
}

static inline bool has_pids(struct rig *rig)
{
    int starter, child;
    char directory[256];
    return read_pids(rig, &starter, &child, directory);
}

/* Makes a claim with a job on it, whose starter script runs. */
static inline void run_it(struct rig *rig)
{
    claim_it(rig);
    assert_int_equal(call(rig, VERB_ACTIVATE, 1, JOB), 0);
    assert_true(is_claimed_busy(rig));
    until(rig, has_pids);
}

static inline bool is_cleaned(struct rig *rig)
{
    int starter, child;
    char directory[256];
    struct os_stat stat;
    return read_pids(rig, &starter, &child, directory) &&
           os_start_time(rig->bed->os, starter) == 0 && os_start_time(rig->bed->os, child) == 0 &&
           os_stat(rig->bed->os, directory, &stat) == -ENOENT;
}

/* ---- the starter's side ---- */

static inline void starter_ready(void *arg, struct wire *wire)
{
    struct starter_end *end = arg;
    (void)wire;
    end->ready = true;
}

static inline void starter_request(void *arg, struct wire_request *request)
{
    struct starter_end *end = arg;
    if (wire_request_verb(request) == VERB_STARTER_STOP) {
        end->stops++;
        end->fast = ad_bool_or(wire_request_args(request), "Fast", false);
        end->grace_s = ad_int_or(wire_request_args(request), "Grace", 0);
    } else if (wire_request_verb(request) == VERB_STARTER_RUN) {
        end->runs++;
        (void)snprintf(end->directory, sizeof end->directory, "%s",
                       ad_string_or(wire_request_args(request), "Directory", ""));
    } else if (wire_request_verb(request) == VERB_LEASE_RENEWED) {
        (void)snprintf(end->shadow, sizeof end->shadow, "%s",
                       ad_string_or(wire_request_args(request), "ShadowAddress", ""));
    } else if (wire_request_verb(request) == VERB_STARTER_SUSPEND) {
        end->suspends++;
        end->suspended = ad_bool_or(wire_request_args(request), "Suspended", false);
    }
    wire_reply_ok(request, NULL);
}

static inline void starter_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct starter_end *end = arg;
    (void)status;
    (void)why;
    end->wire = NULL;
    end->ready = false;
    wire_close(wire);
}

/* Sends what the starter says of that run, with more arguments, and waits for the answer. */
static inline int tell_more(struct rig *rig, enum wire_verb verb, int64_t epoch, const char *more,
                            struct answer *answer)
{
    char args[600];
    (void)snprintf(args, sizeof args,
                   "[ JobId = \"1.0\"; ClaimEpoch = %lld; ClaimId = \"%s\"; %s ]", (long long)epoch,
                   rig->claim_id, more);
    assert_true(answer_ask_text(answer, rig->starter.wire, NULL, verb, args, NULL, NULL) > 0);
    loop_rig_await(rig->bed->loop, &answer->over, NULL);
    return answer->status;
}

static inline int tell(struct rig *rig, enum wire_verb verb, int64_t epoch, const char *reason,
                       struct answer *answer)
{
    char more[100];
    (void)snprintf(more, sizeof more, "Reason = \"%s\"", reason);
    return tell_more(rig, verb, epoch, more, answer);
}

/* Connects to the socket as the starter does, and says which run it is. */
static inline int hello_answer(struct rig *rig, int64_t epoch, struct ad **ret)
{
    static const struct wire_events EVENTS = {.ready = starter_ready,
                                              .request = starter_request,
                                              .closed = starter_closed};
    struct starter_end *end = &rig->starter;
    char address[400];
    if (end->context == NULL) {
        const struct wire_context_options options = {.loop = rig->bed->loop,
                                                     .os = rig->bed->os,
                                                     .admin_uid = getuid()};
        MUST(wire_context_create(&options, &end->context, err));
    }
    (void)snprintf(address, sizeof address, "unix:%s/startd.sock", rig->bed->dir);
    const struct wire_dial dial = {.address = address,
                                   .route = "starter",
                                   .name = "",
                                   .server_scopes = SCOPE_SCHEDD};
    MUST(wire_dial(end->context, &dial, &EVENTS, end, &end->wire, err));
    loop_rig_await(rig->bed->loop, &end->ready, NULL);
    struct answer answer;
    int status = tell(rig, VERB_STARTER_HELLO, epoch, "", &answer);
    if (ret != NULL) {
        *ret = answer.args != NULL ? ad_copy(answer.args) : ad_create();
    }
    answer_fini(&answer);
    return status;
}

static inline int hello(struct rig *rig, int64_t epoch)
{
    return hello_answer(rig, epoch, NULL);
}

static inline void end_script(struct rig *rig)
{
    int starter, child;
    char directory[256];
    assert_true(read_pids(rig, &starter, &child, directory));
    (void)os_kill(rig->bed->os, child, SIGKILL);
    (void)os_kill(rig->bed->os, starter, SIGKILL);
    MUST(os_remove_tree(rig->bed->os, directory, err));
}

static inline void starter_is_done(struct rig *rig, const char *reason)
{
    struct answer answer;
    assert_int_equal(tell(rig, VERB_STARTER_DONE, 1, reason, &answer), 0);
    answer_fini(&answer);
    /* the slot stays claimed until the starter's process is gone */
    assert_true(is_claimed_busy(rig));
    end_script(rig);
}

#define RIG(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

#endif
