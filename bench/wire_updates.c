/* bench/wire_updates.c - how many UPDATE requests a second one loop thread takes, decodes and
 * answers.
 *
 * A caller on a Unix socket sends frames that were encoded beforehand, so that the time is the
 * server's: reading, decoding, authorization, one call of a handler that keeps nothing, the reply.
 * "delta" is what a startd sends most of the time (8 attributes that changed), "full" its whole ad.
 *
 * SHORT: BENCH_PART=100
 * LINK: wire classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "base/strbuf.h"
#include "base/stream/stream.h"
#include "bench/bench_env.h"
#include "classad/ad.h"
#include "wire/frame.h"
#include "wire/wire.h"

#define DELTA_COUNT 400000
#define FULL_COUNT  60000
#define AHEAD_BYTES ((size_t)1 << 20) /* what the caller keeps on its way */

struct bench {
    struct loop *loop;
    struct os *os;
    struct wire_context *context;
    struct listener *listener;
    struct wire *wire;
    struct stream *stream;
    struct loop_timer *feed;
    struct strbuf frame;
    size_t id_at;
    uint64_t sent, taken, wanted;
    bool done;
};

static void on_request(void *arg, struct wire_request *request)
{
    struct bench *bench = arg;
    size_t length;
    const void *bytes = wire_request_next_ad_bytes(request, &length);
    struct ad *ad = NULL;
    CHECK(bytes != NULL && ad_decode(bytes, length, NULL, &ad, NULL) == 0);
    ad_destroy(ad);
    wire_reply_ok(request, NULL);
    bench->taken++;
    bench->done = bench->taken == bench->wanted;
}

static void on_over(void *arg, struct wire *wire, int status, const char *why)
{
    struct bench *bench = arg;
    (void)status;
    (void)fprintf(stderr, "closed: %s\n", why);
    wire_close(wire);
    bench->wire = NULL;
    bench->done = true;
}

static void on_incoming(void *arg, struct incoming *incoming)
{
    static const struct wire_events EVENTS = {.request = on_request, .closed = on_over};
    struct bench *bench = arg;
    struct wire_accept how = {0};
    CHECK(wire_accept(bench->context, incoming, &how, &EVENTS, bench, &bench->wire, NULL) == 0);
}

static void feed(void *arg)
{
    struct bench *bench = arg;
    while (bench->sent < bench->wanted && stream_pending(bench->stream) < AHEAD_BYTES) {
        bench->sent++;
        for (unsigned i = 0; i < 8; i++) {
            bench->frame.data[bench->id_at + i] = (char)(bench->sent >> (8 * i));
        }
        CHECK(stream_write(bench->stream, bench->frame.data, bench->frame.length) == 0);
    }
    if (bench->sent < bench->wanted) {
        loop_timer_set(bench->feed, 0);
    }
}

static void on_opened(void *arg)
{
    feed(arg);
}

static void on_readable(void *arg)
{
    struct bench *bench = arg;
    size_t length = 0;
    (void)stream_input(bench->stream, &length);
    stream_consume(bench->stream, length);
}

static void on_closed(void *arg, int code, const char *why)
{
    (void)arg;
    (void)fprintf(stderr, "closed: %d %s\n", code, why);
}

static const struct stream_events STREAM_EVENTS = {.opened = on_opened,
                                                   .readable = on_readable,
                                                   .closed = on_closed};

static void hello(struct bench *bench)
{
    struct strbuf out;
    strbuf_init(&out, 0);
    size_t begin = frame_begin(&out, FRAME_HELLO, 0, 0, 0);
    frame_put_u16(&out, WIRE_VERSION);
    frame_put_u16(&out, WIRE_VERSION_MIN);
    frame_put_body(&out, NULL);
    CHECK(frame_end(&out, begin, 0, WIRE_FRAME_MAX) == 0);
    CHECK(stream_write(bench->stream, out.data, out.length) == 0);
    strbuf_fini(&out);
}

static struct ad *machine_ad(unsigned attributes)
{
    struct ad *ad = ad_create();
    char name[32];
    ad_set_string(ad, "MyType", "Machine");
    ad_set_string(ad, "Name", "slot1@wn0001.example.org");
    for (unsigned i = 2; i < attributes; i++) {
        (void)snprintf(name, sizeof name, "Attribute%u", i);
        if (i % 3 == 0) {
            ad_set_int(ad, name, (int64_t)i * 1000003);
        } else if (i % 3 == 1) {
            ad_set_real(ad, name, (double)i / 7);
        } else {
            ad_set_string(ad, name, "a value of usual length");
        }
    }
    return ad;
}

static void run(struct bench *bench, const char *address, const char *name, unsigned attributes,
                uint64_t count)
{
    struct ad *ad = machine_ad(attributes), *args = ad_create();
    const struct ad *ads[] = {ad};
    struct wire_body body = {.args = args, .ads = ads, .ad_count = 1};
    struct stream_trust trust = {0};
    ad_set_int(args, "Epoch", 1763632474000);
    ad_set_int(args, "Sequence", 4711);
    strbuf_init(&bench->frame, 0);
    size_t begin = frame_begin(&bench->frame, FRAME_REQUEST, 0, VERB_UPDATE, 1);
    frame_put_u32(&bench->frame, 15000);
    frame_put_body(&bench->frame, &body);
    CHECK(frame_end(&bench->frame, begin, 0, WIRE_FRAME_MAX) == 0);
    bench->id_at = begin + 8;
    bench->sent = bench->taken = 0;
    bench->wanted = count;
    bench->done = false;
    struct err err = {{0}};
    if (stream_connect(bench->loop, address, "bench", &trust, &STREAM_EVENTS, bench, &bench->stream,
                       &err) != 0) {
        (void)fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    hello(bench);
    uint64_t start_ms = loop_now_ms(bench->loop);
    loop_run_until(bench->loop, &bench->done);
    uint64_t took_ms = loop_now_ms(bench->loop) - start_ms;
    CHECK(bench->taken == count);
    (void)printf("BENCH wire_updates_%s %.0f updates/s\n", name,
                 (double)count * 1000 / (double)(took_ms == 0 ? 1 : took_ms));
    (void)fprintf(stderr, "%s: %zu bytes each, %llu ms\n", name, bench->frame.length,
                  (unsigned long long)took_ms);
    stream_close(bench->stream);
    wire_close(bench->wire);
    strbuf_fini(&bench->frame);
    ad_destroy(ad);
    ad_destroy(args);
}

int main(void)
{
    struct bench bench = {0};
    struct err err = {{0}};
    char dir[] = "/tmp/wire-bench-XXXXXX", address[64];
    CHECK(mkdtemp(dir) != NULL);
    (void)snprintf(address, sizeof address, "unix:%s/s", dir);
    CHECK(loop_create(&bench.loop, &err) == 0 && os_create(bench.loop, &bench.os, &err) == 0);
    struct wire_context_options options = {.loop = bench.loop,
                                           .os = bench.os,
                                           .admin_uid = getuid()};
    CHECK(wire_context_create(&options, &bench.context, &err) == 0);
    CHECK(listener_create(bench.loop, address, on_incoming, &bench, &bench.listener, &err) == 0);
    bench.feed = loop_timer_create(bench.loop, feed, &bench);
    run(&bench, address, "delta", 10, (uint64_t)part_of(DELTA_COUNT));
    run(&bench, address, "full", 120, (uint64_t)part_of(FULL_COUNT));
    loop_timer_destroy(bench.feed);
    listener_destroy(bench.listener);
    wire_context_destroy(bench.context);
    (void)os_remove_tree(bench.os, dir, NULL);
    os_destroy(bench.os);
    loop_destroy(bench.loop);
    return 0;
}
