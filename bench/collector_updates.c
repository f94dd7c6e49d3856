/* bench/collector_updates.c - what updates cost a collector, over TLS, and what ads weigh in it.
 *
 * A real roost-collector is started on a pool that `roost init` made, and this program dials it by
 * TCP and TLS with a token, as startds do.  The ads are those of slot_ad.h: 10,000 slots, each
 * update with the figures that a startd would send next.  They are encoded beforehand, so that the
 * two processes are busy with each other and not with us.  The figure is updates per second of the
 * collector's CPU, all its threads, user and system time (CLOCK_PROCESS_CPUTIME_ID of its pid);
 * what the wall clock said is printed beside it.
 *
 *   full        whole ads, the 12 of a machine in one UPDATE, over 8 connections
 *   full_single the same, one ad in each UPDATE
 *   delta       five attributes of each ad, 48 ads in an UPDATE, one connection
 *   delta_single the same, one ad in each UPDATE
 *   uplinks     five attributes, one ad in each UPDATE, over 10,000 connections
 *   unix        the same over 10,000 Unix sockets, without TLS
 *               both with an answer to each, and (_quiet) to one of sixteen: the others are QUIET,
 *               as a startd's are
 *   offline     offline ads, each durable when it is acknowledged, 100 in an UPDATE
 *   restart     from kill -9 and the new start to the answer of the first query
 *   memory      what 10,000 ads add to the resident set, alike and all different
 *
 * Environment: ROOST_BIN (needed), TMPDIR, BENCH_ADS (10,000), BENCH_UPLINKS (10,000, fewer where
 * the limit of open files is lower), BENCH_ONLY=name[,name], BENCH_KEEP=1.
 *
 * SHORT: BENCH_ADS=240 BENCH_UPLINKS=48
 * LINK: wire classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/stream/stream.h"
#include "bench/collector_rig.h"
#include "bench/update_ads.h"
#include "classad/ad.h"
#include "wire/credential.h"
#include "wire/frame.h"
#include "wire/wire.h"

#define AHEAD_MESSAGES 128
#define AHEAD_BYTES    ((size_t)256 << 10) /* of one connection, on their way */
#define LOOK_MS        20
#define ANSWERED_EACH  16 /* of QUIET ones, so that we know how far the collector is */

struct load;

/* One connection. */
struct sender {
    struct load *load;
    struct stream *stream;
    unsigned first, count; /* its ads */
    unsigned next, round;
    int64_t sequence;
    unsigned under_way;
    int64_t confirmed; /* sequence up to which all are known to be done, where some are QUIET */
    bool ready;
};

struct load {
    struct bench *bench;
    const struct bytes *rounds; /* ROUNDS of them */
    const char *dialled;        /* NULL: the collector's TCP address */
    struct sender *senders;
    unsigned sender_count, ready_count;
    unsigned batch; /* ads of one UPDATE */
    unsigned ahead; /* UPDATEs of one connection on their way */
    bool quiet;     /* one after the other of the connections, all in one window */
    unsigned next;
    uint64_t window, window_max; /* UPDATEs that may be on their way, or QUIET and not known to be
                                    done, besides those that are */
    bool full;
    bool once; /* each connection sends each of its ads once, however fast the others are */
    int64_t epoch;
    uint64_t wanted, sent, taken; /* ads */
    struct loop_timer *feed;
};

/* ---- one connection -------------------------------------------------------------------------- */

static struct credential own;

/* Over TLS: the token, and the proof that this connection is its holder's. */
static void put_token(const struct sender *sender, struct ad *args)
{
    uint8_t binding[STREAM_BINDING_BYTES], proof[PROOF_BYTES];
    char text[PROOF_TEXT_SIZE];
    struct bench *bench = sender->load->bench;
    if (!stream_binding(sender->stream, binding)) {
        return; /* a Unix socket */
    }
    if (!credential_read(&own, bench->os, bench->loop, UINT64_MAX)) {
        die(bench, own.why, NULL);
    }
    const struct proof_greeting greeting = {.pool = own.token.pool,
                                            .token = own.text,
                                            .route = "collector",
                                            .name = "",
                                            .binding = binding};
    struct strbuf statement;
    strbuf_init(&statement, 0);
    proof_put_greeting(&greeting, &statement);
    credential_sign(&own, &statement, proof);
    strbuf_fini(&statement);
    proof_text(proof, text);
    ad_set_string(args, "Token", own.text);
    ad_set_string(args, "Proof", text);
}

static void on_opened(void *arg)
{
    const struct sender *sender = arg;
    struct strbuf out;
    struct ad *args = ad_create();
    struct wire_body body = {.args = args};
    put_token(sender, args);
    strbuf_init(&out, 0);
    size_t begin = frame_begin(&out, FRAME_HELLO, 0, 0, 0);
    frame_put_u16(&out, WIRE_VERSION);
    frame_put_u16(&out, WIRE_VERSION_MIN);
    frame_put_body(&out, &body);
    CHECK(frame_end(&out, begin, 0, WIRE_FRAME_MAX) == 0);
    CHECK(stream_write(sender->stream, out.data, out.length) == 0);
    strbuf_fini(&out);
    ad_destroy(args);
}

static void say_update(struct sender *sender, struct strbuf *out)
{
    struct load *load = sender->load;
    struct ad *args = ad_create();
    const struct wire_body body = {.args = args};
    ad_set_int(args, "Epoch", load->epoch);
    ad_set_int(args, "Sequence", ++sender->sequence);
    ad_set_bool(args, "Full", load->full);
    bool quiet = load->quiet && load->wanted - load->sent > load->sender_count &&
                 (sender->sequence + sender->first) % ANSWERED_EACH != 0;
    size_t begin = frame_begin(out, FRAME_REQUEST, quiet ? FRAME_FLAG_QUIET : 0, VERB_UPDATE,
                               (uint64_t)sender->sequence);
    frame_put_u32(out, 0);
    frame_put_body_head(out, &body);
    out->length -= 8; /* its ads and blob are ours */
    ad_destroy(args);
    unsigned batch = sender->count - sender->next;
    batch = batch < load->batch ? batch : load->batch;
    frame_put_u32(out, batch);
    const struct bytes *bytes = &load->rounds[sender->round % ROUNDS];
    for (unsigned i = 0; i < batch; i++) {
        size_t at = bytes->at[sender->first + sender->next];
        size_t length = bytes->at[sender->first + sender->next + 1] - at;
        frame_put_u32(out, (uint32_t)length);
        strbuf_append(out, bytes->text.data + at, length);
        sender->next++;
    }
    frame_put_u32(out, 0);
    CHECK(frame_end(out, begin, 0, WIRE_FRAME_MAX) == 0);
    if (sender->next == sender->count) {
        sender->next = 0;
        sender->round++;
    }
    load->sent += batch;
    sender->under_way++;
}

static void feed(struct sender *sender)
{
    struct load *load = sender->load;
    struct strbuf out;
    strbuf_init(&out, 0);
    while (sender->under_way < load->ahead && load->sent < load->wanted &&
           !(load->once && sender->round > 0) && out.length < AHEAD_BYTES &&
           stream_pending(sender->stream) < AHEAD_BYTES) {
        say_update(sender, &out);
    }
    if (out.length > 0) {
        CHECK(stream_write(sender->stream, out.data, out.length) == 0);
    }
    strbuf_fini(&out);
}

static void say_pong(struct sender *sender, uint64_t opaque)
{
    struct strbuf out;
    strbuf_init(&out, 0);
    size_t begin = frame_begin(&out, FRAME_PONG, 0, 0, 0);
    frame_put_u64(&out, opaque);
    CHECK(frame_end(&out, begin, 0, WIRE_FRAME_MAX) == 0);
    CHECK(stream_write(sender->stream, out.data, out.length) == 0);
    strbuf_fini(&out);
}

/* The window is full of what was sent, one of each connection in turn. */
static void feed_quiet(struct load *load)
{
    while (load->window > 0 && load->sent < load->wanted) {
        struct sender *sender = &load->senders[load->next];
        struct strbuf out;
        load->next = (load->next + 1) % load->sender_count;
        load->window--;
        strbuf_init(&out, 0);
        say_update(sender, &out);
        CHECK(stream_write(sender->stream, out.data, out.length) == 0);
        strbuf_fini(&out);
    }
}

static void take_reply(struct sender *sender, const struct frame *frame)
{
    struct load *load = sender->load;
    struct frame_message message;
    struct err err;
    if (frame->type == FRAME_PING) { /* a connection waited long for its turn */
        say_pong(sender, frame->opaque);
        return;
    }
    if (frame->type == FRAME_WELCOME) {
        sender->ready = true;
        load->ready_count++;
        load->bench->done = load->ready_count == load->sender_count;
        return;
    }
    if (frame->type != FRAME_REPLY || frame->status != 0) {
        (void)fprintf(stderr, "frame %d, status %d: %.*s\n", (int)frame->type, (int)frame->status,
                      (int)frame->text_length, frame->text);
        die(load->bench, "UPDATE", NULL);
    }
    CHECK(frame_message_decode(frame->body, frame->body_length, &message, &err) == 0);
    if (message.args != NULL && ad_int_or(message.args, "Rejected", 0) != 0) {
        (void)fprintf(stderr, "rejected: %s\n", ad_string_or(message.args, "ErrorString", ""));
        die(load->bench, "UPDATE", NULL);
    }
    frame_message_fini(&message);
    sender->under_way--;
    load->taken++;
    load->window +=
        frame->request - (uint64_t)sender->confirmed; /* those before it are done, too */
    sender->confirmed = (int64_t)frame->request;
}

static void on_readable(void *arg)
{
    struct sender *sender = arg;
    struct frame frame;
    struct err err;
    size_t size, length, used = 0;
    const char *data = stream_input(sender->stream, &length);
    int rc;
    while ((rc = frame_decode(data + used, length - used, WIRE_FRAME_MAX, &frame, &size, &err)) >
           0) {
        take_reply(sender, &frame);
        used += size;
    }
    CHECK(rc == 0);
    stream_consume(sender->stream, used);
    struct load *load = sender->load;
    if (load->wanted > 0 && load->quiet) {
        feed_quiet(load);
        load->bench->done = load->sent >= load->wanted && load->window == load->window_max;
    } else if (load->wanted > 0) {
        feed(sender);
        bool under_way = false;
        for (unsigned i = 0; load->sent >= load->wanted && i < load->sender_count && !under_way;
             i++) {
            under_way = load->senders[i].under_way > 0;
        }
        load->bench->done = load->sent >= load->wanted && !under_way;
    }
}

static void on_drained(void *arg)
{
    struct sender *sender = arg;
    if (sender->load->wanted > 0 && !sender->load->quiet) {
        feed(sender);
    }
}

static void on_closed(void *arg, int code, const char *why)
{
    struct sender *sender = arg;
    (void)fprintf(stderr, "closed: %d %s\n", code, why);
    die(sender->load->bench, "connection", NULL);
}

static const struct stream_events EVENTS = {.opened = on_opened,
                                            .readable = on_readable,
                                            .drained = on_drained,
                                            .closed = on_closed};

static void load_open(struct load *load, struct bench *bench, unsigned connections)
{
    const struct stream_trust trust = {.ca_file = bench->ca, .role = "collector"}, none = {0};
    struct err err;
    load->bench = bench;
    load->epoch = ++bench->epoch;
    load->sender_count = connections;
    load->senders = mem_zalloc(connections * sizeof load->senders[0]);
    unsigned each = bench->ads / connections;
    wait_listening(bench);
    for (unsigned i = 0; i < connections; i++) {
        struct sender *sender = &load->senders[i];
        sender->load = load;
        sender->first = i * each;
        sender->count = i + 1 == connections ? bench->ads - sender->first : each;
        bool local = load->dialled != NULL;
        if (stream_connect(bench->loop, local ? load->dialled : bench->address, "collector",
                           local ? &none : &trust, &EVENTS, sender, &sender->stream, &err) != 0) {
            die(bench, "dialling", &err);
        }
        if (i % 100 == 99) { /* the kernel's queue of those that nobody has accepted is short */
            load->sender_count = i + 1;
            bench->done = false;
            loop_run_until(bench->loop, &bench->done);
            load->sender_count = connections;
        }
    }
    bench->done = load->ready_count == connections;
    loop_run_until(bench->loop, &bench->done);
}

static void load_close(struct load *load)
{
    for (unsigned i = 0; i < load->sender_count; i++) {
        stream_close(load->senders[i].stream);
    }
    mem_free(load->senders);
}

static void load_send(struct load *load, uint64_t count)
{
    struct bench *bench = load->bench;
    load->sent = load->taken = 0;
    load->wanted = count;
    bench->done = false;
    if (load->quiet) {
        feed_quiet(load);
    }
    for (unsigned i = 0; !load->quiet && i < load->sender_count; i++) {
        feed(&load->senders[i]);
    }
    loop_run_until(bench->loop, &bench->done);
    load->wanted = 0;
}

/* Sends and prints. */
static void load_measure(struct load *load, const char *name, uint64_t count, double wanted)
{
    double cpu_s = collector_cpu_s(load->bench), wall_s = seconds(CLOCK_MONOTONIC);
    load_send(load, count);
    cpu_s = collector_cpu_s(load->bench) - cpu_s;
    wall_s = seconds(CLOCK_MONOTONIC) - wall_s;
    double rate = (double)load->sent / cpu_s;
    (void)printf("BENCH collector_%s %.0f updates/cpu-s ratio %.2f vs wanted\n", name, rate,
                 rate / wanted);
    (void)fprintf(stderr, "%s: %llu updates, %.2f us CPU each, %.0f a second by the clock\n", name,
                  (unsigned long long)load->sent, cpu_s * 1e6 / (double)load->sent,
                  (double)load->sent / wall_s);
    (void)fflush(stdout);
}

static bool wanted(const char *name)
{
    const char *only = getenv("BENCH_ONLY");
    return only == NULL || strstr(only, name) != NULL;
}

static struct load load_of(const struct bytes *rounds, unsigned batch, bool full)
{
    return (struct load){.rounds = rounds, .batch = batch, .ahead = AHEAD_MESSAGES, .full = full};
}

/* ---- the figures ----------------------------------------------------------------------------- */

static void measure_full(struct bench *bench)
{
    struct bytes whole[ROUNDS];
    encode_all(whole, WHOLE, bench->ads);
    (void)fprintf(stderr, "whole ads: %zu bytes each\n", whole[0].text.length / bench->ads);
    struct load load = load_of(whole, 12, true);
    load_open(&load, bench, 8);
    load_send(&load, bench->ads);
    load_measure(&load, "full", (uint64_t)bench->ads * 10, 150000);
    load.batch = 1;
    load_measure(&load, "full_single", (uint64_t)bench->ads * 10, 150000);
    load_close(&load);
    bytes_fini_all(whole);
}

static void measure_delta(struct bench *bench)
{
    struct bytes whole[ROUNDS], five[ROUNDS];
    encode_all(whole, WHOLE, bench->ads);
    encode_all(five, FIVE, bench->ads);
    (void)fprintf(stderr, "five attributes: %zu bytes\n", five[0].text.length / bench->ads);
    struct load load = load_of(whole, 48, true);
    load_open(&load, bench, 1);
    load_send(&load, bench->ads);
    load.full = false;
    load.rounds = five;
    load_measure(&load, "delta", (uint64_t)bench->ads * 40, 400000);
    load.batch = 1;
    load_measure(&load, "delta_single", (uint64_t)bench->ads * 20, 400000);
    load_close(&load);
    bytes_fini_all(whole);
    bytes_fini_all(five);
}

static void measure_uplinks(struct bench *bench, const char *name, const char *dialled)
{
    struct bytes whole[ROUNDS], five[ROUNDS];
    unsigned uplinks = uplinks_allowed(bench->uplinks);
    encode_all(whole, WHOLE, bench->ads);
    encode_all(five, FIVE, bench->ads);
    collector_new(bench);
    struct load load = load_of(whole, 1, true);
    double wall_s = seconds(CLOCK_MONOTONIC);
    wait_listening(bench);
    double cpu_s = collector_cpu_s(bench);
    load.dialled = dialled;
    load_open(&load, bench, uplinks);
    (void)printf("BENCH collector_%s_made %.0f connections/cpu-s\n", name,
                 uplinks / (collector_cpu_s(bench) - cpu_s));
    (void)fprintf(stderr, "%u connections in %.1f s\n", uplinks, seconds(CLOCK_MONOTONIC) - wall_s);
    double rss = collector_rss_kb(bench);
    load.ahead = 1;
    load.once = true; /* an ad that was never sent whole cannot be changed */
    load_send(&load, bench->ads);
    load.once = false;
    load.full = false;
    load.rounds = five;
    load_measure(&load, name, (uint64_t)bench->ads * 20, 100000);
    char quiet[64];
    (void)snprintf(quiet, sizeof quiet, "%s_quiet", name);
    load.quiet = true;
    /* On average half of those between two answers are done, but not known to be: so about one of
     * each connection is really on its way. */
    load.window = load.window_max = (uint64_t)uplinks * (ANSWERED_EACH + 1) / 2;
    load_measure(&load, quiet, (uint64_t)bench->ads * 40, 100000);
    (void)fprintf(stderr, "resident: %.0f MB with the connections\n", rss / 1024);
    load_close(&load);
    bytes_fini_all(whole);
    bytes_fini_all(five);
}

static void measure_offline(struct bench *bench)
{
    struct bytes offline[ROUNDS];
    encode_all(offline, OFFLINE, bench->ads);
    collector_new(bench);
    struct load load = load_of(offline, 100, true);
    load_open(&load, bench, 4);
    load_measure(&load, "offline_new", bench->ads, 50000);
    load_measure(&load, "offline_renewed", (uint64_t)bench->ads * 6, 50000);
    load_close(&load);
    double best_s = 1e9, cpu_s = 0;
    for (int i = 0; i < 3; i++) {
        collector_kill(bench);
        double start_s = seconds(CLOCK_MONOTONIC);
        collector_start(bench);
        load = load_of(offline, 100, true);
        load_open(&load, bench, 1);
        double took_s = seconds(CLOCK_MONOTONIC) - start_s;
        if (took_s < best_s) {
            best_s = took_s;
            cpu_s = collector_cpu_s(bench);
        }
        load_close(&load);
    }
    (void)printf("BENCH collector_restart %.3f s ratio %.2f vs target 0.3 s\n", best_s,
                 best_s / 0.3);
    (void)fprintf(stderr, "restart with %u offline ads: %.3f s CPU\n", bench->ads, cpu_s);
    bytes_fini_all(offline);
}

static void measure_memory(struct bench *bench, const char *name, enum kind kind, double wanted_kb)
{
    struct bytes rounds[ROUNDS];
    encode_all(rounds, kind, bench->ads);
    collector_new(bench);
    struct load load = load_of(rounds, 12, true);
    load_open(&load, bench, 1);
    double before_kb = collector_rss_kb(bench);
    load.ahead = 4;
    load_send(&load, bench->ads);
    double first_kb = (collector_rss_kb(bench) - before_kb) / bench->ads;
    load_send(&load, (uint64_t)bench->ads * 8); /* and after some rounds of updates */
    double kb = (collector_rss_kb(bench) - before_kb) / bench->ads;
    (void)printf("BENCH collector_memory_%s %.2f KB/ad ratio %.2f vs wanted\n", name, kb,
                 kb / wanted_kb);
    (void)fprintf(stderr, "%s: %.2f KB at first\n", name, first_kb);
    load_close(&load);
    bytes_fini_all(rounds);
}

int main(void)
{
    struct bench bench = {.bin = getenv("ROOST_BIN")};
    struct err err;
    bench.ads = number_of("BENCH_ADS", 10000);
    bench.uplinks = number_of("BENCH_UPLINKS", 10000);
    if (bench.bin == NULL || bench.ads < bench.uplinks) {
        (void)fprintf(stderr, "collector_updates: set ROOST_BIN; at least an ad an uplink\n");
        return 2;
    }
    CHECK(loop_create(&bench.loop, &err) == 0 && os_create(bench.loop, &bench.os, &err) == 0);
    make_pool(&bench);
    credential_init(&own, bench.token_path);
    collector_start(&bench);
    if (wanted("full")) {
        measure_full(&bench);
    }
    if (wanted("delta")) {
        measure_delta(&bench);
    }
    char local[400];
    (void)snprintf(local, sizeof local, "unix:%s/run/collector.sock", bench.dir);
    if (wanted("uplinks")) {
        measure_uplinks(&bench, "uplinks", NULL);
    }
    if (wanted("unix")) {
        measure_uplinks(&bench, "unix_uplinks", local);
    }
    if (wanted("offline")) {
        measure_offline(&bench);
    }
    if (wanted("memory")) {
        measure_memory(&bench, "alike", WHOLE, 2);
        measure_memory(&bench, "differ", WHOLE_DIFFER, 6);
    }
    (void)os_kill(bench.os, bench.collector.pid, SIGTERM);
    loop_run_until(bench.loop, &bench.collector.ended);
    if (getenv("BENCH_KEEP") == NULL) {
        (void)os_remove_tree(bench.os, bench.dir, NULL);
    }
    credential_fini(&own);
    os_destroy(bench.os);
    loop_destroy(bench.loop);
    return 0;
}
