/* Uplinks, pings, expiry and relays on virtual time, over links that fail.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/stream/stream.h"
#include "classad/ad.h"
#include "sim/sim.h"
#include "tests/support/toy.h"
#include "wire/token.h"
#include "wire/wire.h"
#include "wire/wire_private.h"

#define NODES_MAX 200
#define ADDRESS   "tcp:cm:9618"
#define CERT      "sim-cert cm pool roost://pool/collector/cm"

struct pool;

/* What one process of a worker or of the caller saw; several lives of the same host share it. */
struct node {
    struct pool *pool;
    char name[32], uplink_name[48];
    struct uplink *uplink;
    bool up;
    unsigned ups, downs, handled;
    uint64_t up_at_us;
    char why[256];
    struct toy toy;
    struct sim_program program;
    struct sim_host *host;
    struct sim_process *process;
};

struct pool {
    struct sim *sim;
    struct sim_host *cm;
    struct sim_process *center;
    struct toy center_toy;
    struct sim_program center_program;
    const struct sim_program *programs[NODES_MAX + 2];
    struct node nodes[NODES_MAX];
    size_t node_count;
    int64_t token_life_s; /* 0: for ever */
    struct wire_context *context;
    struct wire_accept how;
    struct hub *hub;
    struct os *os;
    struct loop *loop;
    unsigned accepted, closed;
    int last_status;
    unsigned asked, answered, done;
    bool attends;      /* the center attends to its uplinks */
    struct wire *last; /* the center's end of the latest uplink */
    unsigned silences, hearings;
    uint64_t silent_ms;
};

/* ---- the central manager --------------------------------------------------------------------- */

static void center_ready(void *arg, struct wire *wire)
{
    struct pool *pool = arg;
    assert_int_equal(hub_add(pool->hub, wire, NULL), 0);
    pool->last = wire;
    if (pool->attends) {
        wire_attend(wire);
    }
}

static void center_silent(void *arg, struct wire *wire, uint64_t silent_ms)
{
    struct pool *pool = arg;
    (void)wire;
    pool->silences += silent_ms > 0;
    pool->hearings += silent_ms == 0;
    pool->silent_ms = silent_ms;
}

static void center_request(void *arg, struct wire_request *request)
{
    hub_relay(((struct pool *)arg)->hub, request);
}

static void center_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct pool *pool = arg;
    (void)why;
    pool->closed++;
    pool->last_status = status;
    hub_remove(pool->hub, wire);
    wire_close(wire);
}

struct door { /* of the process: the identity that it shows */
    struct pool *pool;
    struct tls_identity *identity;
    struct listener *listener;
};

static void center_incoming(void *arg, struct incoming *incoming)
{
    static const struct wire_events EVENTS = {.ready = center_ready,
                                              .request = center_request,
                                              .closed = center_closed,
                                              .silent = center_silent};
    struct door *door = arg;
    struct wire *wire = NULL;
    struct wire_accept how = door->pool->how;
    how.identity = door->identity;
    door->pool->accepted++;
    (void)wire_accept(door->pool->context, incoming, &how, &EVENTS, door->pool, &wire, NULL);
}

static void center_start(const struct sim_env *env, void *arg)
{
    struct pool *pool = arg;
    struct door *door = mem_zalloc(sizeof *door);
    struct wire_context_options options = {.loop = env->loop,
                                           .os = env->os,
                                           .pool = "pool",
                                           .pool_keys = "/etc/keys"};
    door->pool = pool;
    pool->os = env->os;
    pool->loop = env->loop;
    assert_int_equal(wire_context_create(&options, &pool->context, NULL), 0);
    pool->hub = hub_create(pool->context);
    assert_int_equal(tls_identity_load(env->os, "/etc/cert", "/etc/key", &door->identity, NULL), 0);
    assert_int_equal(listener_create(env->loop, "tcp:0.0.0.0:9618", center_incoming, door,
                                     &door->listener, NULL),
                     0);
}

/* ---- workers --------------------------------------------------------------------------------- */

static void node_up(void *arg, struct wire *wire)
{
    struct node *node = arg;
    (void)wire;
    node->up = true;
    node->ups++;
    node->up_at_us = sim_now_us(node->pool->sim);
}

static void node_down(void *arg, const char *why)
{
    struct node *node = arg;
    node->up = false;
    node->downs++;
    (void)snprintf(node->why, sizeof node->why, "%s", why);
}

static void node_request(void *arg, struct wire_request *request)
{
    struct node *node = arg;
    node->handled++;
    assert_string_equal(wire_request_peer(request)->identity, "root@pool");
    wire_reply_ok(request, NULL);
}

static void node_start(const struct sim_env *env, void *arg)
{
    static const struct uplink_events EVENTS = {.up = node_up,
                                                .down = node_down,
                                                .request = node_request};
    struct node *node = arg;
    struct wire_context *context = NULL;
    struct wire_context_options options = {.loop = env->loop,
                                           .os = env->os,
                                           .token_path = "/etc/token",
                                           .pool = "pool",
                                           .pool_keys = "/etc/keys",
                                           .ca_file = "/etc/ca"};
    struct wire_dial dial = {.address = ADDRESS, .route = "collector", .name = node->uplink_name};
    node->up = false;
    assert_int_equal(wire_context_create(&options, &context, NULL), 0);
    assert_int_equal(uplink_create(context, &dial, &EVENTS, node, &node->uplink, NULL), 0);
}

/* ---- the pool
 * -------------------------------------------------------------------------------- */

struct issue {
    struct pool *pool;
    const char *identity;
    uint32_t scopes;
    char text[TOKEN_FILE_MAX + 1];
};

static void issue_in_process(void *arg)
{
    struct issue *issue = arg;
    struct token token = {.scopes = issue->scopes};
    char *text = NULL;
    int64_t now_s = loop_wall_s(issue->pool->loop);
    token.expires_s = issue->pool->token_life_s == 0 ? 0 : now_s + issue->pool->token_life_s;
    (void)snprintf(token.identity, sizeof token.identity, "%s", issue->identity);
    (void)snprintf(token.id, sizeof token.id, "id-%s", issue->identity);
    (void)snprintf(token.pool, sizeof token.pool, "pool");
    assert_int_equal(token_issue_file(issue->pool->os, issue->pool->loop, "/etc/keys/k.key", "k",
                                      &token, &text, NULL),
                     0);
    (void)snprintf(issue->text, sizeof issue->text, "%s", text);
    mem_free(text);
}

static void make_key(void *arg)
{
    struct pool *pool = arg;
    assert_int_equal(os_mkdirs(pool->os, "/etc/keys", 0700, NULL), 0);
    assert_int_equal(token_key_make(pool->os, pool->loop, "/etc/keys", "k", NULL), 0);
}

static void node_equip(struct pool *pool, struct node *node, const char *identity, uint32_t scopes)
{
    struct issue issue = {.pool = pool, .identity = identity, .scopes = scopes};
    size_t length = 0;
    const char *key = sim_file_get(pool->cm, "/etc/keys/k.pub", &length);
    assert_non_null(key);
    sim_file_put(node->host, "/etc/keys/k.pub", key, length, 0644);
    sim_file_put(node->host, "/etc/ca", "sim-ca pool", 11, 0644);
    assert_true(sim_enter(pool->center, issue_in_process, &issue));
    sim_file_put(node->host, "/etc/token", issue.text, strlen(issue.text), 0600);
}

/* The last node is the caller: an administrator's uplink named "tool". */
static struct pool *pool_make_with(uint64_t seed, size_t workers, int64_t token_life_s,
                                   bool attends)
{
    struct pool *pool = calloc(1, sizeof *pool);
    pool->attends = attends;
    pool->token_life_s = token_life_s;
    pool->node_count = workers + 1;
    pool->center_toy = (struct toy){center_start, pool};
    pool->center_program = (struct sim_program)TOY("center", &pool->center_toy);
    pool->programs[0] = &pool->center_program;
    for (size_t i = 0; i < pool->node_count; i++) {
        struct node *node = &pool->nodes[i];
        bool caller = i == workers;
        node->pool = pool;
        (void)snprintf(node->name, sizeof node->name, caller ? "tool" : "wn%zu", i);
        (void)snprintf(node->uplink_name, sizeof node->uplink_name, caller ? "tool/x" : "startd/%s",
                       node->name);
        node->toy = (struct toy){node_start, node};
        node->program = (struct sim_program)TOY(node->name, &node->toy);
        pool->programs[i + 1] = &node->program;
    }
    pool->sim = toy_sim(seed, pool->programs);
    pool->cm = toy_host(pool->sim, "cm", pool->programs);
    sim_file_put(pool->cm, "/etc/cert", CERT, strlen(CERT), 0644);
    sim_file_put(pool->cm, "/etc/key", "k", 1, 0600);
    pool->center = toy_spawn(pool->cm, "/bin/center");
    sim_run_for(pool->sim, SIM_S);
    assert_true(sim_enter(pool->center, make_key, pool));
    sim_run_for(pool->sim, 3 * SIM_S); /* keys are looked for again after a while */
    for (size_t i = 0; i < pool->node_count; i++) {
        struct node *node = &pool->nodes[i];
        char path[64];
        bool caller = i == workers;
        node->host = toy_host(pool->sim, node->name, pool->programs);
        node_equip(pool, node, caller ? "root@pool" : "startd@pool",
                   caller ? SCOPE_ADMINISTRATOR | SCOPE_SCHEDD : SCOPE_ADVERTISE);
        (void)snprintf(path, sizeof path, "/bin/%s", node->name);
        node->process = toy_spawn(node->host, path);
    }
    sim_run_for(pool->sim, 10 * SIM_S);
    for (size_t i = 0; i < pool->node_count; i++) {
        if (!pool->nodes[i].up) {
            fail_msg("%s is not up: %s", pool->nodes[i].name, pool->nodes[i].why);
        }
    }
    return pool;
}

static struct pool *pool_make(uint64_t seed, size_t workers, int64_t token_life_s)
{
    return pool_make_with(seed, workers, token_life_s, false);
}

static struct pool *pool_make_attending(uint64_t seed, size_t workers)
{
    return pool_make_with(seed, workers, 0, true);
}

static void pool_free(struct pool *pool)
{
    sim_destroy(pool->sim);
    free(pool);
}

static size_t pool_up(const struct pool *pool)
{
    size_t up = 0;
    for (size_t i = 0; i < pool->node_count; i++) {
        up += pool->nodes[i].up;
    }
    return up;
}

/* ---- tests
 * ----------------------------------------------------------------------------------- */

static void an_idle_connection_stays_up_for_a_day(void **state)
{
    (void)state;
    struct pool *pool = pool_make(1, 1, 0);
    sim_run_for(pool->sim, 86400 * SIM_S);
    assert_int_equal(pool->nodes[0].ups, 1);
    assert_int_equal(pool->nodes[0].downs, 0);
    pool_free(pool);
}

static void one_side_sends_pings_for_both_and_all_hosts_at_one_time(void **state)
{
    (void)state;
    struct pool *pool = pool_make(6, 3, 0);
    sim_run_for(pool->sim, 3600 * SIM_S);
    assert_int_equal(pool->last->life.pinged_ms, 0);
    for (size_t i = 0; i < 3; i++) {
        const struct wire *wire = uplink_wire(pool->nodes[i].uplink);
        assert_true(wire->life.pinged_ms > 0);
        assert_in_range(wire->life.pinged_ms % LOOP_GRID_MS, 0, 10);
    }
    pool_free(pool);
}

static void a_peer_that_falls_silent_is_dropped_and_comes_back_with_the_link(void **state)
{
    (void)state;
    struct pool *pool = pool_make(2, 1, 0);
    struct node *node = &pool->nodes[0];
    sim_link_cut(pool->sim, pool->cm, node->host, 300 * SIM_S, SIM_CUT_SILENT);
    sim_run_for(pool->sim, 25 * SIM_S);
    assert_true(node->up); /* a silence of 20 s asks, it does not end */
    sim_run_for(pool->sim, 40 * SIM_S);
    assert_false(node->up);
    assert_true(pool->closed >= 1);
    assert_true(pool->last_status == -ETIMEDOUT || pool->last_status == -ECONNRESET);
    sim_run_for(pool->sim, 235 * SIM_S + 30 * SIM_S);
    assert_true(node->up);
    pool_free(pool);
}

static void ping_center(void *arg)
{
    const struct node *node = arg;
    wire_ping(uplink_wire(node->uplink));
}

static void attended_peers_get_their_pings_together_unless_they_are_many(void **state)
{
    (void)state;
    struct pool *pool = pool_make_attending(7, 6);
    sim_run_for(pool->sim, 120 * SIM_S);
    size_t wires = 0;
    for (const struct wire *wire = pool->context->first; wire != NULL; wire = wire->next) {
        assert_in_range(wire->life.pinged_ms % LOOP_GRID_MS, 0, 10);
        wires++;
    }
    assert_int_equal(wires, 7);
    pool->context->attended += WIRE_TOGETHER_MAX;
    struct wire *wire = pool->last; /* it was heard in the middle between two such moments */
    wire->life.last_input_ms += LOOP_GRID_MS / 2;
    wire->life.clock_set_ms = 0;
    assert_true(sim_enter(pool->nodes[pool->node_count - 1].process, ping_center,
                          &pool->nodes[pool->node_count - 1]));
    sim_run_for(pool->sim, 20 * SIM_S);
    assert_in_range(wire->life.pinged_ms % WIRE_ATTEND_GRID_MS, 0, 10);
    assert_true(wire->life.pinged_ms % LOOP_GRID_MS > WIRE_ATTEND_GRID_MS / 2);
    pool->context->attended -= WIRE_TOGETHER_MAX;
    pool_free(pool);
}

static void input_puts_off_the_clock_and_yet_the_token_expires(void **state)
{
    (void)state;
    struct pool *pool = pool_make(8, 1, 120);
    const struct node *node = &pool->nodes[0];
    const struct wire *wire = NULL;
    for (const struct wire *each = pool->context->first; each != NULL; each = each->next) {
        wire = strcmp(each->caller->identity, "startd@pool") == 0 ? each : wire;
    }
    assert_non_null(wire);
    for (int second = 0; second < 90; second++) {
        assert_true(sim_enter(node->process, ping_center, &pool->nodes[0]));
        sim_run_for(pool->sim, SIM_S);
        assert_in_range(wire->life.last_input_ms - wire->life.clock_set_ms, 0, 3000);
    }
    assert_int_equal(node->downs, 0);
    for (int second = 0; second < 30 && node->downs == 0; second++) {
        assert_true(sim_enter(node->process, ping_center, &pool->nodes[0]));
        sim_run_for(pool->sim, SIM_S);
    }
    assert_true(node->downs > 0); /* soon, though something came all the time */
    assert_non_null(strstr(node->why, "token expired"));
    pool->token_life_s = 0;
    pool_free(pool);
}

static void an_attended_peer_is_reported_within_ten_seconds_and_keeps_its_connection(void **state)
{
    (void)state;
    struct pool *pool = pool_make_attending(5, 1);
    struct node *node = &pool->nodes[0];
    sim_run_for(pool->sim, 60 * SIM_S);
    assert_int_equal(pool->silences, 0); /* who answers is not silent */
    sim_link_cut(pool->sim, pool->cm, node->host, 12 * SIM_S, SIM_CUT_SILENT);
    sim_run_for(pool->sim, 10 * SIM_S);
    assert_int_equal(pool->silences, 1);
    assert_in_range(pool->silent_ms, WIRE_ATTEND_MIN_MS + WIRE_ANSWER_MS, 10000);
    assert_int_equal(pool->hearings, 0);
    sim_run_for(pool->sim, 20 * SIM_S);
    assert_int_equal(pool->silences, 1); /* once */
    assert_int_equal(pool->hearings, 1);
    assert_int_equal(pool->closed, 0); /* TCP of this seed is patient for longer than the cut */
    assert_true(node->up);
    for (unsigned again = 2; again < 5; again++) { /* as soon each time */
        sim_link_cut(pool->sim, pool->cm, node->host, 12 * SIM_S, SIM_CUT_SILENT);
        sim_run_for(pool->sim, 10 * SIM_S);
        assert_int_equal(pool->silences, again);
        sim_run_for(pool->sim, 5 * SIM_S);
        assert_int_equal(pool->hearings, again);
    }
    pool_free(pool);
}

static void a_connection_ends_with_its_token(void **state)
{
    (void)state;
    struct pool *pool = pool_make(3, 1, 600);
    struct node *node = &pool->nodes[0];
    sim_run_for(pool->sim, 580 * SIM_S);
    assert_true(node->up);
    sim_run_for(pool->sim, 45 * SIM_S);
    assert_false(node->up);
    assert_non_null(strstr(node->why, "token expired"));
    pool->token_life_s = 0;
    node_equip(pool, node, "startd@pool", SCOPE_ADVERTISE); /* a new one is found by itself */
    sim_run_for(pool->sim, 6 * SIM_S);
    assert_true(node->up);
    pool_free(pool);
}

static void two_hundred_uplinks_are_back_within_ten_seconds_of_the_hub(void **state)
{
    (void)state;
    struct pool *pool = pool_make(4, NODES_MAX - 1, 0);
    assert_int_equal(pool_up(pool), NODES_MAX);
    sim_kill(pool->center);
    sim_run_for(pool->sim, 120 * SIM_S);
    assert_int_equal(pool_up(pool), 0);
    pool->accepted = 0;
    pool->center = toy_spawn(pool->cm, "/bin/center");
    sim_run_for(pool->sim, 10 * SIM_S);
    assert_int_equal(pool_up(pool), NODES_MAX);
    assert_true(pool->accepted < 2 * NODES_MAX); /* each dials once, or nearly so */
    pool_free(pool);
}

static void on_relayed(void *arg, struct wire_reply *reply)
{
    struct pool *pool = arg;
    assert_false(reply->more);
    pool->answered++;
    pool->done += reply->status == 0;
    assert_true(reply->status == 0 || reply->status == -ECONNRESET ||
                reply->status == -EHOSTUNREACH || reply->status == -ETIMEDOUT);
}

static void relay_to_all(void *arg)
{
    struct pool *pool = arg;
    struct wire *wire = uplink_wire(pool->nodes[pool->node_count - 1].uplink);
    for (size_t i = 0; i + 1 < pool->node_count && wire != NULL; i++) {
        if (wire_relay(wire, pool->nodes[i].uplink_name, VERB_POWER_DOWN, NULL, 0, on_relayed,
                       pool) > 0) {
            pool->asked++;
        }
    }
}

static void every_relay_is_answered_once_whatever_breaks(void **state)
{
    (void)state;
    unsigned asked = 0, done = 0, handled = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct pool *pool = pool_make(seed, 4, 0);
        struct node *caller = &pool->nodes[4];
        for (int round = 0; round < 40; round++) {
            struct sim_host *host = pool->nodes[sim_between(pool->sim, 0, 4)].host;
            if (!sim_enter(caller->process, relay_to_all, pool)) {
                fail_msg("the caller ended");
            }
            if (sim_chance(pool->sim, 500)) {
                sim_link_cut(pool->sim, pool->cm, host, sim_between(pool->sim, 1, 3 * SIM_S),
                             sim_chance(pool->sim, 500) ? SIM_CUT_RESET : SIM_CUT_SILENT);
            }
            sim_run_for(pool->sim, sim_between(pool->sim, 1, SIM_S));
        }
        sim_run_for(pool->sim, 300 * SIM_S);
        assert_int_equal(pool->answered, pool->asked);
        for (size_t i = 0; i < 4; i++) {
            handled += pool->nodes[i].handled;
        }
        asked += pool->asked;
        done += pool->done;
        assert_true(pool->done <= pool->asked);
        assert_int_equal(pool_up(pool), 5);
        pool_free(pool);
    }
    /* The test does break things, but not all.  A relay to somebody whose instance is not known is
     * two messages each way, either of which may meet a cut. */
    assert_true(asked > 500 && done > asked / 3);
    assert_true(done < asked);
    assert_true(handled >= done);
}

/* ---- a caller that says nothing
 * -------------------------------------------------------------- */

struct mute {
    struct stream *stream;
    bool closed;
};

static void mute_nothing(void *arg)
{
    (void)arg;
}

static void mute_closed(void *arg, int code, const char *why)
{
    struct mute *mute = arg;
    (void)code;
    (void)why;
    mute->closed = true;
    stream_close(mute->stream);
}

static void mute_start(const struct sim_env *env, void *arg)
{
    static const struct stream_events EVENTS = {.opened = mute_nothing,
                                                .readable = mute_nothing,
                                                .closed = mute_closed};
    struct mute *mute = arg;
    struct stream_trust trust = {.ca_file = "/etc/ca", .role = "collector"};
    assert_int_equal(stream_connect(env->loop, ADDRESS, "collector", &trust, &EVENTS, mute,
                                    &mute->stream, NULL),
                     0);
}

static void a_caller_that_does_not_greet_is_dropped_in_time(void **state)
{
    (void)state;
    struct pool *pool = pool_make(5, 1, 0);
    struct mute mute = {0};
    pool->nodes[0].toy = (struct toy){mute_start, &mute};
    sim_kill(pool->nodes[0].process);
    sim_run_for(pool->sim, SIM_S);
    pool->closed = 0;
    (void)toy_spawn(pool->nodes[0].host, "/bin/wn0");
    sim_run_for(pool->sim, 9 * SIM_S);
    assert_false(mute.closed);
    sim_run_for(pool->sim, 3 * SIM_S);
    assert_true(mute.closed);
    assert_int_equal(pool->closed, 1);
    assert_int_equal(pool->last_status, -ETIMEDOUT);
    pool_free(pool);
}

/* A worker that sends one frame of `length` bytes, so many of them each time. */
struct dribble {
    struct node *node;
    size_t length, sent, step;
    uint64_t pause_ms;
};

static void dribble_more(void *arg)
{
    struct dribble *dribble = arg;
    struct wire *wire = uplink_wire(dribble->node->uplink);
    unsigned char *bytes = mem_zalloc(dribble->step);
    size_t left = dribble->length - dribble->sent;
    if (wire == NULL) {
        mem_free(bytes);
        return;
    }
    if (dribble->sent == 0) {
        for (size_t i = 0; i < 4; i++) {
            bytes[i] = (unsigned char)((dribble->length - 4) >> (8 * i));
        }
        bytes[4] = FRAME_PONG; /* whose body nobody wants: the frame is a fault when it is whole */
    }
    size_t step = left < dribble->step ? left : dribble->step;
    assert_int_equal(stream_write(wire->stream, bytes, step), 0);
    mem_free(bytes);
    dribble->sent += step;
}

static void dribble_for(struct pool *pool, struct dribble *dribble, uint64_t until_s)
{
    uint64_t end_us = sim_now_us(pool->sim) + until_s * SIM_S;
    unsigned downs = dribble->node->downs;
    while (dribble->node->downs == downs && dribble->sent < dribble->length &&
           sim_now_us(pool->sim) < end_us) {
        (void)sim_enter(dribble->node->process, dribble_more, dribble);
        sim_run_for(pool->sim, dribble->pause_ms * SIM_MS);
    }
}

/* F16: "with a byte each 13 s". */
static void a_frame_that_hardly_grows_ends_its_connection(void **state)
{
    (void)state;
    struct pool *pool = pool_make(7, 1, 0);
    struct node *node = &pool->nodes[0];
    struct dribble dribble = {.node = node,
                              .length = (size_t)4 << 20,
                              .step = 100000,
                              .pause_ms = 13000};
    assert_true(node->up);
    pool->closed = 0;
    (void)sim_enter(node->process, dribble_more, &dribble);
    dribble.step = 1;
    dribble_for(pool, &dribble, 60);
    assert_int_equal(pool->closed, 1);
    assert_int_equal(pool->last_status, -ETIMEDOUT);
    assert_in_range(dribble.sent, 100001, 100004);
    assert_non_null(strstr(node->why, "arrives too slowly"));
    pool_free(pool);
}

static void a_large_frame_over_a_slow_line_is_no_trickle(void **state)
{
    (void)state;
    struct pool *pool = pool_make(8, 1, 0);
    struct node *node = &pool->nodes[0];
    /* 64 KiB each 15 s: 35 kbit/s; 16 minutes for all of it */
    struct dribble dribble = {.node = node,
                              .length = (size_t)4 << 20,
                              .step = (size_t)64 << 10,
                              .pause_ms = 15000};
    pool->closed = 0;
    dribble_for(pool, &dribble, 3600);
    assert_int_equal(dribble.sent, dribble.length);
    sim_run_for(pool->sim, SIM_S);
    assert_int_equal(pool->closed, 1);
    assert_int_equal(pool->last_status, -EPROTO); /* it came, and was no PONG */
    pool_free(pool);
}

static int admit_anybody(void *arg, const struct wire_peer *peer, const struct wire_hello *hello,
                         struct err *err)
{
    (void)arg, (void)peer, (void)hello, (void)err;
    return 0;
}

static void who_proves_nothing_after_the_greeting_is_dropped_in_time(void **state)
{
    (void)state;
    struct pool *pool = pool_make(9, 1, 0);
    struct node *node = &pool->nodes[0];
    pool->how = (struct wire_accept){.no_token = true,
                                     .proves_later = true,
                                     .scopes = SCOPE_SCHEDD | SCOPE_ADVERTISE,
                                     .admit = admit_anybody};
    sim_kill(node->process);
    sim_run_for(pool->sim, SIM_S);
    pool->closed = 0;
    node->process = toy_spawn(node->host, "/bin/wn0");
    sim_run_for(pool->sim, 9 * SIM_S);
    assert_true(node->up);
    assert_int_equal(pool->closed, 0);
    sim_run_for(pool->sim, 2 * SIM_S);
    assert_int_equal(pool->closed, 1);
    assert_int_equal(pool->last_status, -ETIMEDOUT);
    pool_free(pool);
}

UNIT_TESTS(UNIT(a_frame_that_hardly_grows_ends_its_connection),
           UNIT(a_large_frame_over_a_slow_line_is_no_trickle),
           UNIT(who_proves_nothing_after_the_greeting_is_dropped_in_time),
           UNIT(an_idle_connection_stays_up_for_a_day),
           cmocka_unit_test(one_side_sends_pings_for_both_and_all_hosts_at_one_time),
           UNIT(a_peer_that_falls_silent_is_dropped_and_comes_back_with_the_link),
           UNIT(attended_peers_get_their_pings_together_unless_they_are_many),
           UNIT(input_puts_off_the_clock_and_yet_the_token_expires),
           UNIT(an_attended_peer_is_reported_within_ten_seconds_and_keeps_its_connection),
           UNIT(a_connection_ends_with_its_token),
           UNIT(two_hundred_uplinks_are_back_within_ten_seconds_of_the_hub),
           UNIT(every_relay_is_answered_once_whatever_breaks),
           UNIT(a_caller_that_does_not_greet_is_dropped_in_time))
