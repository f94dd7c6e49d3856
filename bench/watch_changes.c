/* bench/watch_changes.c - what a change of an ad costs a server with 1, 10 and 100 watchers.
 *
 * The server publishes changes of a slot ad of 169 attributes; another process reads them on as
 * many connections and gives the windows back.  The time is the CPU time of the server alone.  On
 * Unix sockets (the readers are this program again: "readers ADDRESS COUNT APART"): what TLS adds
 * for each watcher is in bench/collector_updates.c.  "alike": all want whole ads, so that a change
 * is encoded once; "apart": each asks with a constraint of its own, as if nothing were shared.
 *
 * SHORT: BENCH_PART=20
 * LINK: wire classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
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
#include "bench/slot_ad.h"
#include "classad/ad.h"
#include "wire/frame.h"
#include "wire/watch.h"
#include "wire/wire.h"

/* Changes until the readers say that they have them all: they fit the window of a watch. */
#define BATCH        25
#define READERS_MAX  100
#define CHANGES_MAX  10000
#define TELLINGS_MAX 100000 /* changes times watchers of a run */

/* ---- the readers' process -------------------------------------------------------------------- */

struct reader {
    struct readers *all;
    struct stream *stream;
};

struct readers {
    struct loop *loop;
    struct reader each[READERS_MAX];
    unsigned count, synced;
    uint64_t told; /* changes, of all readers */
    bool over;
};

static void put_frame(struct stream *stream, enum frame_type type, enum wire_verb verb,
                      uint64_t request, const struct ad *args, uint32_t number)
{
    struct strbuf out;
    struct wire_body body = {.args = args};
    strbuf_init(&out, 0);
    size_t begin = frame_begin(&out, type, 0, type == FRAME_REQUEST ? (uint16_t)verb : 0, request);
    if (type == FRAME_HELLO) {
        frame_put_u16(&out, WIRE_VERSION);
        frame_put_u16(&out, WIRE_VERSION_MIN);
    } else {
        frame_put_u32(&out, number);
    }
    if (type != FRAME_WINDOW) {
        frame_put_body(&out, &body);
    }
    CHECK(frame_end(&out, begin, 0, WIRE_FRAME_MAX) == 0);
    CHECK(stream_write(stream, out.data, out.length) == 0);
    strbuf_fini(&out);
}

/* All have what was published: the server goes on (its answer is not waited for). */
static void say_done(struct readers *all, uint64_t number)
{
    put_frame(all->each[0].stream, FRAME_REQUEST, VERB_QUERY, 2 + number, NULL, 0);
}

static void take(struct reader *reader, const struct frame *frame)
{
    struct readers *all = reader->all;
    struct frame_body body;
    if (frame->type != FRAME_REPLY || frame->request != 1) {
        return;
    }
    put_frame(reader->stream, FRAME_WINDOW, 0, 1, NULL, (uint32_t)frame->payload_length);
    CHECK(frame_body_split(frame->body, frame->body_length, &body, NULL) == 0);
    if (body.blob_length == 0) {
        all->synced++;
        if (all->synced == all->count) {
            say_done(all, 0);
        }
    } else if (++all->told % ((uint64_t)BATCH * all->count) == 0) {
        say_done(all, all->told);
    }
}

static void on_readable(void *arg)
{
    struct reader *reader = arg;
    struct frame frame;
    size_t length = 0, size = 0;
    const void *data = stream_input(reader->stream, &length);
    while (frame_decode(data, length, WIRE_FRAME_MAX, &frame, &size, NULL) == 1) {
        take(reader, &frame);
        stream_consume(reader->stream, size);
        data = stream_input(reader->stream, &length);
    }
}

static void on_closed(void *arg, int code, const char *why)
{
    struct reader *reader = arg;
    (void)code;
    (void)why;
    reader->all->over = true;
}

static void read_all(const char *address, unsigned count, bool apart)
{
    static const struct stream_events EVENTS = {.readable = on_readable, .closed = on_closed};
    struct readers all = {.count = count};
    struct err err = {{0}};
    CHECK(loop_create(&all.loop, &err) == 0);
    for (unsigned i = 0; i < count; i++) {
        struct reader *reader = &all.each[i];
        struct stream_trust trust = {0};
        struct ad *args = ad_create();
        char constraint[64];
        ad_set_string(args, "Type", "Machine");
        (void)snprintf(constraint, sizeof constraint, "Cpus > -%u", i + 1);
        if (apart) {
            ad_set_string(args, "Constraint", constraint);
        }
        reader->all = &all;
        CHECK(stream_connect(all.loop, address, "bench", &trust, &EVENTS, reader, &reader->stream,
                             &err) == 0);
        put_frame(reader->stream, FRAME_HELLO, 0, 0, NULL, 0);
        put_frame(reader->stream, FRAME_REQUEST, VERB_WATCH, 1, args, 0);
        ad_destroy(args);
    }
    loop_run_until(all.loop, &all.over);
}

/* ---- the server ------------------------------------------------------------------------------ */

struct bench {
    struct loop *loop;
    struct os *os;
    struct wire_context *context;
    struct watch_server *server;
    struct ad *ad;
    struct wire *wire; /* the last one: all go with the context */
    bool done;
};

static void walk(void *arg, const char *type, watch_each_f each, void *each_arg)
{
    (void)arg, (void)type, (void)each, (void)each_arg; /* the table is empty at first */
}

static const struct ad *get(void *arg, const char *type, const char *key)
{
    (void)type, (void)key;
    return ((struct bench *)arg)->ad;
}

static void on_request(void *arg, struct wire_request *request)
{
    struct bench *bench = arg;
    if (wire_request_verb(request) == VERB_WATCH) {
        watch_server_add(bench->server, request);
    } else {
        bench->done = true;
        wire_reply_ok(request, NULL);
    }
}

static void on_over(void *arg, struct wire *wire, int status, const char *why)
{
    (void)arg, (void)status, (void)why; /* the readers are told to end */
    wire_close(wire);
}

static void on_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    (void)pid, (void)how;
    *(bool *)arg = true;
}

static void on_incoming(void *arg, struct incoming *incoming)
{
    static const struct wire_events EVENTS = {.request = on_request, .closed = on_over};
    struct bench *bench = arg;
    struct wire_accept how = {0};
    CHECK(wire_accept(bench->context, incoming, &how, &EVENTS, bench, &bench->wire, NULL) == 0);
}

static double cpu_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void until_done(struct bench *bench)
{
    loop_run_until(bench->loop, &bench->done);
    bench->done = false;
}

/* Microseconds of CPU that one change costs. */
static double run(unsigned watchers, bool apart)
{
    static const struct watch_server_source SOURCE = {.walk = walk, .get = get};
    struct bench bench = {0};
    struct listener *listener = NULL;
    struct err err = {{0}};
    char dir[] = "/tmp/watch-bench-XXXXXX", address[64];
    CHECK(mkdtemp(dir) != NULL);
    (void)snprintf(address, sizeof address, "unix:%s/s", dir);
    CHECK(loop_create(&bench.loop, &err) == 0 && os_create(bench.loop, &bench.os, &err) == 0);
    struct wire_context_options options = {.loop = bench.loop,
                                           .os = bench.os,
                                           .admin_uid = getuid()};
    CHECK(wire_context_create(&options, &bench.context, &err) == 0);
    bench.server = watch_server_create(bench.loop, &SOURCE, &bench);
    CHECK(listener_create(bench.loop, address, on_incoming, &bench, &listener, &err) == 0);
    bench.ad = slot_ad_create(1, false);
    char count[16];
    bool ended = false;
    (void)snprintf(count, sizeof count, "%u", watchers);
    const char *argv[] = {"/proc/self/exe", "readers", address, count, apart ? "1" : "0", NULL};
    const struct os_spawn spec = {.argv = argv, .stderr_path = "-"};
    pid_t readers = 0;
    CHECK(os_spawn(bench.os, &spec, on_ended, &ended, &readers, &err) == 0);
    until_done(&bench); /* all are there */
    unsigned changes =
        TELLINGS_MAX / watchers < CHANGES_MAX ? TELLINGS_MAX / watchers : CHANGES_MAX;
    changes = (unsigned)part_of((int)changes / BATCH) * BATCH;
    double begin_s = cpu_s();
    for (unsigned i = 0; i < changes; i++) {
        ad_set_int(bench.ad, "MyCurrentTime", SLOT_AD_EPOCH_S + (int64_t)i);
        watch_server_changed(bench.server, "Machine", "slot1@wn0001", bench.ad);
        CHECK(watch_server_waiting(bench.server) ==
              0); /* a change that waits is told with the next */
        if ((i + 1) % BATCH == 0) {
            until_done(&bench);
        }
    }
    double spent_s = cpu_s() - begin_s;
    (void)os_kill(bench.os, readers, SIGTERM);
    loop_run_until(bench.loop, &ended);
    watch_server_destroy(bench.server);
    listener_destroy(listener);
    wire_context_destroy(bench.context);
    ad_destroy(bench.ad);
    (void)os_remove_tree(bench.os, dir, NULL);
    os_destroy(bench.os);
    loop_destroy(bench.loop);
    return spent_s * 1e6 / changes;
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "readers") == 0) {
        read_all(argv[2], (unsigned)strtoul(argv[3], NULL, 10), strcmp(argv[4], "1") == 0);
        return 0;
    }
    static const unsigned WATCHERS[] = {1, 10, 100};
    for (size_t i = 0; i < sizeof WATCHERS / sizeof WATCHERS[0]; i++) {
        double apart = run(WATCHERS[i], true);
        double alike = run(WATCHERS[i], false);
        (void)printf("BENCH watch_change_%u_watchers %.1f us/change ratio %.2f vs apart\n",
                     WATCHERS[i], alike, alike / apart);
    }
    return 0;
}
