/* bench/relay_cost.c - the CPU time of one relayed request in caller, hub and receiver together.
 *
 * An administrator asks a machine's startd something through the collector's hub, as `roost config`
 * does: RELAY to the hub, the request down the uplink, the receiver's check of who asks, the
 * answer back.  All three are in this process, over TLS on the loopback; nothing but wire/ is
 * between.  One request at a time, as people ask; `many`: 16 at a time.
 *
 * Environment: TMPDIR, BENCH_BATCHES (20), BENCH_REQUESTS (200) in each.
 *
 * SHORT: BENCH_BATCHES=1 BENCH_REQUESTS=20
 * LINK: wire classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/wire_rig.h"
#include "classad/ad.h"

#define BATCHES_MAX 1000
#define AT_A_TIME   16
#define RECEIVER    "startd/wn01"

struct bench {
    struct wire_rig rig;
    struct hub *hub;
    struct wire_context *caller_context, *receiver_context;
    struct uplink *receiver;
    struct wire *caller;
    struct ad *question;
    unsigned handled, answered, asked, wanted;
    bool is_up, caller_ready, done;
};

/* ---- the hub's owner */

static void hub_ready(void *arg, struct wire *wire)
{
    struct bench *bench = arg;
    struct err err;
    wire_rig_must(hub_add(bench->hub, wire, &err), &err);
}

static void hub_request(void *arg, struct wire_request *request)
{
    CHECK(wire_request_verb(request) == VERB_RELAY);
    hub_relay(((struct bench *)arg)->hub, request);
}

static void hub_closed(void *arg, struct wire *wire, int status, const char *why)
{
    (void)arg, (void)wire;
    (void)fprintf(stderr, "closed at the hub: %d %s\n", status, why);
    exit(1);
}

static void on_incoming(void *arg, struct incoming *incoming)
{
    static const struct wire_events EVENTS = {.ready = hub_ready,
                                              .request = hub_request,
                                              .closed = hub_closed};
    struct bench *bench = arg;
    const struct wire_accept how = {.identity = bench->rig.identity};
    struct wire *wire = NULL;
    struct err err;
    wire_rig_must(wire_accept(bench->rig.server, incoming, &how, &EVENTS, bench, &wire, &err),
                  &err);
}

/* ---- the receiver */

static void receiver_up(void *arg, struct wire *wire)
{
    (void)wire;
    ((struct bench *)arg)->is_up = true;
}

static void receiver_request(void *arg, struct wire_request *request)
{
    struct bench *bench = arg;
    const struct wire_body body = {.args = wire_request_args(request)};
    CHECK(strcmp(wire_request_peer(request)->identity, "admin@pool") == 0);
    bench->handled++;
    wire_reply_ok(request, &body);
}

/* ---- the caller */

static void caller_ready(void *arg, struct wire *wire)
{
    (void)wire;
    ((struct bench *)arg)->caller_ready = true;
}

static void caller_closed(void *arg, struct wire *wire, int status, const char *why)
{
    (void)arg, (void)wire;
    (void)fprintf(stderr, "closed at the caller: %d %s\n", status, why);
    exit(1);
}

static void ask_one(struct bench *bench);

static void caller_answered(void *arg, struct wire_reply *reply)
{
    struct bench *bench = arg;
    if (reply->status != 0) {
        (void)fprintf(stderr, "refused: %d %s\n", reply->status, reply->text);
        exit(1);
    }
    bench->answered++;
    bench->done = bench->answered == bench->wanted;
    if (bench->asked < bench->wanted) {
        ask_one(bench);
    }
}

static void ask_one(struct bench *bench)
{
    const struct wire_body body = {.args = bench->question};
    bench->asked++;
    CHECK(wire_relay(bench->caller, RECEIVER, VERB_CONFIG, &body, 0, caller_answered, bench) > 0);
}

/* Returns the CPU time of each. */
static double ask(struct bench *bench, unsigned count, unsigned at_a_time)
{
    double begin_us = wire_rig_cpu_us();
    bench->asked = bench->answered = bench->handled = 0;
    bench->wanted = count;
    bench->done = false;
    for (unsigned i = 0; i < at_a_time && i < count; i++) {
        ask_one(bench);
    }
    loop_run_until(bench->rig.loop, &bench->done);
    CHECK(bench->handled == count);
    return (wire_rig_cpu_us() - begin_us) / count;
}

static double measure(struct bench *bench, int batches, unsigned count, unsigned at_a_time)
{
    static double each_us[BATCHES_MAX];
    (void)ask(bench, count, at_a_time); /* what is made once */
    for (int i = 0; i < batches; i++) {
        each_us[i] = ask(bench, count, at_a_time);
    }
    return wire_rig_median(each_us, (size_t)batches);
}

static void connect_all(struct bench *bench)
{
    static const struct uplink_events RECEIVER_EVENTS = {.up = receiver_up,
                                                         .request = receiver_request};
    static const struct wire_events CALLER_EVENTS = {.ready = caller_ready,
                                                     .closed = caller_closed};
    struct wire_dial dial = {.address = listener_address(bench->rig.listener),
                             .route = "collector",
                             .name = RECEIVER};
    struct err err;
    wire_rig_must(uplink_create(bench->receiver_context, &dial, &RECEIVER_EVENTS, bench,
                                &bench->receiver, &err),
                  &err);
    loop_run_until(bench->rig.loop, &bench->is_up);
    dial.name = "";
    wire_rig_must(wire_dial(bench->caller_context, &dial, &CALLER_EVENTS, bench, &bench->caller,
                            &err),
                  &err);
    loop_run_until(bench->rig.loop, &bench->caller_ready);
}

int main(void)
{
    static struct bench bench;
    int batches = number("BENCH_BATCHES", 20, BATCHES_MAX);
    unsigned count = (unsigned)number("BENCH_REQUESTS", 200, 1000000);
    wire_rig_init(&bench.rig, on_incoming, &bench);
    bench.hub = hub_create(bench.rig.server);
    bench.receiver_context = wire_rig_party(&bench.rig, "wn01", SCOPE_ADVERTISE, "wn01");
    bench.caller_context = wire_rig_party(&bench.rig, "admin", SCOPE_ADMINISTRATOR, "");
    bench.question = ad_create();
    ad_set_string(bench.question, "Action", "Get");
    ad_set_string(bench.question, "Name", "START");
    connect_all(&bench);
    (void)printf("BENCH relay_cpu %.0f us\n", measure(&bench, batches, count, 1));
    (void)printf("BENCH relay_cpu_many %.0f us\n", measure(&bench, batches, count, AT_A_TIME));
    ad_destroy(bench.question);
    hub_destroy(bench.hub);
    uplink_destroy(bench.receiver);
    wire_context_destroy(bench.receiver_context);
    wire_context_destroy(bench.caller_context);
    wire_rig_fini(&bench.rig);
    return 0;
}
