/* bench/collector_in_process.c - changes over 10,000 connections, without sockets and TLS.
 *
 * The collector runs in this process, on the real loop, with a body of base/stream/stream.h of our
 * own: what a peer sends lies in memory and is announced as it would be, 512 connections in a turn
 * of the loop (as many as one call of epoll_wait() may tell), and what the collector sends is
 * looked at and dropped.  So the figure is the cost of wire/ and collector/ alone.  Messages are
 * encoded beforehand and not counted; the CPU time is that of the process.
 *
 *   answered    five attributes, one ad in each UPDATE, each answered
 *   quiet       the same, QUIET: as a startd's
 *
 * Environment: ROOST_BIN (needed), TMPDIR, BENCH_UPLINKS (10,000), BENCH_ROUNDS (20).
 *
 * SHORT: BENCH_UPLINKS=200 BENCH_ROUNDS=1
 * LINK: collector store wire classad base
 * STREAMS: own
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "base/daemon/daemon_run.h"
#include "base/strbuf.h"
#include "base/stream/stream.h"
#include "bench/collector_rig.h"
#include "bench/update_ads.h"
#include "collector/collector.h"
#include "wire/frame.h"
#include "wire/wire.h"

#define TURN_CONNECTIONS 512
#define REPLY_STATUS_AT  16 /* where the status is in a REPLY */

struct in_process;

struct stream {
    struct in_process *bench;
    struct stream_events events;
    void *arg;
    const unsigned char *data;
    size_t begin, end;
    int64_t sequence;
};

struct listener {
    struct in_process *bench;
    char address[256];
    listener_f call;
    void *arg;
};

struct incoming {
    struct in_process *bench;
    char peer[64];
};

struct tls_identity {
    char pin[STREAM_PIN_SIZE];
};

struct in_process {
    struct loop *loop;
    struct loop_timer *turn;
    struct listener *local;
    struct stream **streams;
    unsigned count, accepted, next;
    uint64_t replies, replies_wanted;
    struct strbuf text; /* what all of them send in this round */
    size_t *at;         /* count + 1 */
    bool done;
};

/* The bodies have no other way to it. */
static struct in_process *the_bench(struct in_process *set)
{
    static struct in_process *bench;
    if (set != NULL) {
        bench = set;
    }
    return bench;
}

/* ---- base/stream/stream.h
 * --------------------------------------------------------------------------- */

int tls_identity_load(struct os *os, const char *cert_path, const char *key_path,
                      struct tls_identity **ret, struct err *err)
{
    (void)os, (void)cert_path, (void)key_path, (void)err;
    *ret = mem_zalloc(sizeof **ret);
    return 0;
}

void tls_identity_destroy(struct tls_identity *identity)
{
    mem_free(identity);
}

const char *tls_identity_pin(const struct tls_identity *identity)
{
    return identity->pin;
}

int tls_identity_judge(const struct tls_identity *identity, const char *role, const char *name,
                       struct err *err)
{
    (void)identity;
    (void)role;
    (void)name;
    (void)err;
    return 0;
}

bool stream_binding(const struct stream *stream, uint8_t ret[STREAM_BINDING_BYTES])
{
    (void)stream;
    (void)ret;
    return false; /* a Unix socket has none */
}

int stream_connect(struct loop *loop, const char *address, const char *route,
                   const struct stream_trust *trust, const struct stream_events *events, void *arg,
                   struct stream **ret, struct err *err)
{
    (void)loop, (void)route, (void)trust, (void)events, (void)arg, (void)ret;
    return err_set(err, -ENOSYS, "%s: nobody is dialled here", address);
}

void stream_close(struct stream *stream)
{
    mem_free(stream);
}

void stream_finish(struct stream *stream)
{
    mem_free(stream);
}

const void *stream_input(const struct stream *stream, size_t *length)
{
    *length = stream->end - stream->begin;
    return stream->data + stream->begin;
}

void stream_consume(struct stream *stream, size_t length)
{
    CHECK(length <= stream->end - stream->begin);
    stream->begin += length;
}

void stream_pause(struct stream *stream, bool paused)
{
    (void)stream, (void)paused;
}

void stream_set_input_max(struct stream *stream, size_t bytes)
{
    (void)stream, (void)bytes;
}

bool stream_must_wait(const struct stream *stream)
{
    (void)stream;
    return false;
}

void stream_known(struct stream *stream)
{
    (void)stream;
}

void stream_get_strangers(struct loop *loop, struct stream_strangers *ret)
{
    (void)loop;
    *ret = (struct stream_strangers){.now = 0};
}

int stream_write(struct stream *stream, const void *data, size_t length)
{
    struct in_process *bench = stream->bench;
    const unsigned char *at = data;
    while (length > 0) {
        uint32_t size, status;
        memcpy(&size, at, sizeof size);
        CHECK(length >= size + sizeof size);
        if (at[4] == FRAME_REPLY) {
            memcpy(&status, at + REPLY_STATUS_AT, sizeof status);
            CHECK(status == 0);
        }
        bench->replies++;
        at += size + sizeof size;
        length -= size + sizeof size;
    }
    bench->done = bench->replies == bench->replies_wanted && bench->next == bench->count;
    return 0;
}

size_t stream_pending(const struct stream *stream)
{
    (void)stream;
    return 0;
}

const char *stream_peer(const struct stream *stream)
{
    (void)stream;
    return "unix:bench";
}

bool stream_peer_uid(const struct stream *stream, uid_t *uid, pid_t *pid)
{
    (void)stream;
    *uid = geteuid();
    *pid = getpid();
    return true;
}

int listener_create(struct loop *loop, const char *address, listener_f call, void *arg,
                    struct listener **ret, struct err *err)
{
    (void)loop, (void)err;
    struct listener *listener = mem_zalloc(sizeof *listener);
    *listener = (struct listener){.bench = the_bench(NULL), .call = call, .arg = arg};
    (void)snprintf(listener->address, sizeof listener->address, "%s", address);
    if (strncmp(address, "unix:", 5) == 0) {
        listener->bench->local = listener;
    }
    *ret = listener;
    return 0;
}

void listener_destroy(struct listener *listener)
{
    mem_free(listener);
}

const char *listener_address(const struct listener *listener)
{
    return listener->address;
}

void listener_get_stats(const struct listener *listener, struct listener_stats *ret)
{
    (void)listener;
    *ret = (struct listener_stats){0};
}

const char *incoming_route(const struct incoming *incoming)
{
    (void)incoming;
    return "collector";
}

const char *incoming_peer(const struct incoming *incoming)
{
    return incoming->peer;
}

struct stream *incoming_accept(struct incoming *incoming, const struct tls_identity *identity,
                               const struct stream_events *events, void *arg)
{
    (void)identity;
    struct stream *stream = mem_zalloc(sizeof *stream);
    *stream = (struct stream){.bench = incoming->bench, .events = *events, .arg = arg};
    incoming->bench->streams[incoming->bench->accepted++] = stream;
    return stream;
}

int incoming_pass(struct incoming *incoming, const char *pass_address, struct err *err)
{
    (void)incoming;
    return err_set(err, -ENOSYS, "%s: nothing is passed here", pass_address);
}

void incoming_refuse(struct incoming *incoming)
{
    (void)incoming;
    CHECK(false); /* nobody is refused here */
}

/* ---- what the peers send --------------------------------------------------------------------- */

static void put_hello(struct strbuf *out)
{
    struct ad *args = ad_create();
    const struct wire_body body = {.args = args};
    size_t begin = frame_begin(out, FRAME_HELLO, 0, 0, 0);
    frame_put_u16(out, WIRE_VERSION);
    frame_put_u16(out, WIRE_VERSION_MIN);
    frame_put_body(out, &body);
    CHECK(frame_end(out, begin, 0, WIRE_FRAME_MAX) == 0);
    ad_destroy(args);
}

static void put_update(struct strbuf *out, int64_t sequence, bool full, bool quiet, const void *ad,
                       size_t length)
{
    struct ad *args = ad_create();
    const struct wire_body body = {.args = args};
    ad_set_int(args, "Epoch", 1);
    ad_set_int(args, "Sequence", sequence);
    ad_set_bool(args, "Full", full);
    size_t begin = frame_begin(out, FRAME_REQUEST, quiet ? FRAME_FLAG_QUIET : 0, VERB_UPDATE,
                               (uint64_t)sequence);
    frame_put_u32(out, 0);
    frame_put_body_head(out, &body);
    out->length -= 8; /* its ads and blob are ours */
    frame_put_u32(out, 1);
    frame_put_u32(out, (uint32_t)length);
    strbuf_append(out, ad, length);
    frame_put_u32(out, 0);
    CHECK(frame_end(out, begin, 0, WIRE_FRAME_MAX) == 0);
    ad_destroy(args);
}

static void deliver(void *arg)
{
    struct in_process *bench = arg;
    for (unsigned i = 0; i < TURN_CONNECTIONS && bench->next < bench->count; i++) {
        struct stream *stream = bench->streams[bench->next++];
        stream->data = (const unsigned char *)bench->text.data;
        stream->begin = bench->at[bench->next - 1];
        stream->end = bench->at[bench->next];
        stream->events.readable(stream->arg);
        CHECK(stream->begin == stream->end);
    }
    if (bench->next < bench->count) {
        loop_timer_set(bench->turn, 0);
    }
    bench->done = bench->replies == bench->replies_wanted && bench->next == bench->count;
}

/* All of them say what is in text.  Returns the CPU time. */
static double round_of(struct in_process *bench, bool answered)
{
    double cpu_s = seconds(CLOCK_PROCESS_CPUTIME_ID);
    bench->next = 0;
    bench->replies = 0;
    bench->replies_wanted = answered ? bench->count : 0;
    bench->done = false;
    loop_timer_set(bench->turn, 0);
    loop_run_until(bench->loop, &bench->done);
    return seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_s;
}

static double update_round(struct in_process *bench, const struct bytes *ads, bool full, bool quiet)
{
    strbuf_clear(&bench->text);
    for (unsigned i = 0; i < bench->count; i++) {
        bench->at[i] = bench->text.length;
        put_update(&bench->text, ++bench->streams[i]->sequence, full, quiet,
                   ads->text.data + ads->at[i], ads->at[i + 1] - ads->at[i]);
    }
    bench->at[bench->count] = bench->text.length;
    return round_of(bench, !quiet);
}

static void connect_all(struct in_process *bench)
{
    strbuf_clear(&bench->text);
    for (unsigned i = 0; i < bench->count; i++) {
        struct incoming incoming = {.bench = bench, .peer = "unix:bench"};
        bench->local->call(bench->local->arg, &incoming);
        CHECK(bench->accepted == i + 1);
        bench->streams[i]->events.opened(bench->streams[i]->arg);
        bench->at[i] = bench->text.length;
        put_hello(&bench->text);
    }
    bench->at[bench->count] = bench->text.length;
    (void)round_of(bench, true);
}

static void measure(struct in_process *bench, const char *name, bool quiet, unsigned rounds,
                    const struct bytes *five)
{
    double cpu_s = 0;
    for (unsigned i = 0; i < rounds; i++) {
        cpu_s += update_round(bench, &five[i % ROUNDS], false, quiet);
    }
    double rate = (double)bench->count * rounds / cpu_s;
    (void)printf("BENCH collector_in_process_%s %.0f updates/cpu-s ratio %.2f vs wanted\n", name,
                 rate, rate / 100000);
    (void)fprintf(stderr, "%s: %u connections, %.2f us CPU each\n", name, bench->count, 1e6 / rate);
    (void)fflush(stdout);
}

int main(void)
{
    static const char *const ARGV[] = {"collector", NULL};
    struct bench pool = {.bin = getenv("ROOST_BIN")};
    struct in_process bench = {.count = number_of("BENCH_UPLINKS", 10000)};
    struct bytes whole, five[ROUNDS];
    struct daemon_run *run = NULL;
    struct err err;
    if (pool.bin == NULL) {
        (void)fprintf(stderr, "collector_in_process: set ROOST_BIN\n");
        return 2;
    }
    CHECK(loop_create(&pool.loop, &err) == 0 && os_create(pool.loop, &pool.os, &err) == 0);
    make_pool(&pool);
    encode(&whole, WHOLE, bench.count, 0);
    encode_all(five, FIVE, bench.count);
    (void)the_bench(&bench);
    bench.loop = pool.loop;
    bench.turn = loop_timer_create(pool.loop, deliver, &bench);
    bench.streams = mem_zalloc(bench.count * sizeof bench.streams[0]);
    bench.at = mem_alloc((bench.count + 1) * sizeof bench.at[0]);
    strbuf_init(&bench.text, 0);
    char *argv[] = {(char *)(uintptr_t)ARGV[0], NULL};
    if (daemon_run_start(&collector_daemon, pool.loop, pool.os, NULL, 1, argv, &run, &err) != 0) {
        die(&pool, "collector", &err);
    }
    connect_all(&bench);
    (void)update_round(&bench, &whole, true, false);
    (void)update_round(&bench, &five[ROUNDS - 1], false, false); /* what is made once */
    unsigned rounds = number_of("BENCH_ROUNDS", 20);
    measure(&bench, "answered", false, rounds, five);
    measure(&bench, "quiet", true, rounds, five);
    daemon_run_destroy(run);
    bytes_fini(&whole);
    bytes_fini_all(five);
    loop_timer_destroy(bench.turn);
    strbuf_fini(&bench.text);
    mem_free(bench.streams);
    mem_free(bench.at);
    (void)os_remove_tree(pool.os, pool.dir, NULL);
    os_destroy(pool.os);
    loop_destroy(pool.loop);
    return 0;
}
