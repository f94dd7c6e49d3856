/* bench/remote_server.c - the server of remote system calls by itself: what it costs a client
 * without a file system around it.
 *
 * roost-rsys-serve over TLS on the loopback, a file of BENCH_MIB (512) in memory (/dev/shm), a
 * client that asks for pieces, some at a time, and does nothing with them.  Beside it in the same
 * run: a process that sends as many bytes over the same TLS, and one that takes them: what a copy
 * is at best.  The random reads and the attributes are asked for one by one: the time is of a whole
 * round.
 *
 * Environment: ROOST_BIN (needed), BENCH_MIB.
 *
 * SHORT: BENCH_MIB=8 BENCH_PART=50
 * LINK: rsyscall base
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/stream/stream.h"
#include "bench/bench_env.h"
#include "rsyscall/rsys.h"

#define MIB    ((size_t)1 << 20)
#define TICKET "bench"
#define WINDOW 8

struct bench {
    struct loop *loop;
    char directory[64];
    pid_t child;
    char address[256], pin[STREAM_PIN_SIZE];
    struct stream *stream;
    bool awake;
    size_t file_bytes;
    unsigned char *data;
    /* of the run */
    uint32_t seq[WINDOW];
    uint64_t handle;
    uint64_t asked, taken, total;
    size_t piece;
    uint16_t op;
    uint64_t random;
    struct rsys_reply last;
};

static double now_s(clockid_t clock)
{
    struct timespec now;
    CHECK(clock_gettime(clock, &now) == 0);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* CPU seconds of a process that is there. */
static double cpu_s(pid_t pid)
{
    clockid_t clock;
    CHECK(clock_getcpuclockid(pid, &clock) == 0);
    return now_s(clock);
}

/* ---- the client ------------------------------------------------------------------------------ */

static void send_request(struct bench *bench, uint16_t slot, struct rsys_request *request)
{
    unsigned char fields[RSYS_FIELDS_MAX];
    request->slot = slot;
    request->seq = request->op == RSYS_HELLO ? 0 : ++bench->seq[slot];
    int length = rsys_encode_request(request, fields, sizeof(fields));
    CHECK(length > 0);
    CHECK(stream_write(bench->stream, fields, (size_t)length) == 0);
    if (request->data_length > 0) {
        CHECK(stream_write(bench->stream, request->data, request->data_length) == 0);
    }
}

static uint64_t draw(struct bench *bench, uint64_t below)
{
    bench->random = bench->random * 6364136223846793005U + 1442695040888963407U;
    return (bench->random >> 33) % below;
}

static void ask_next(struct bench *bench, uint16_t slot)
{
    if (bench->asked >= bench->total) {
        return;
    }
    struct rsys_request request = {.op = bench->op, .at.handle = bench->handle};
    request.offset = bench->asked % bench->file_bytes;
    if (bench->piece == 4096) {
        request.offset = draw(bench, bench->file_bytes / 4096) * 4096;
    }
    request.length = bench->piece;
    if (bench->op == RSYS_WRITE) {
        request.extent_count = 1;
        request.extents[0] = (struct rsys_extent){request.offset, (uint32_t)bench->piece};
        request.data = bench->data;
        request.data_length = bench->piece;
    } else if (bench->op == RSYS_STAT) {
        request.at = (struct rsys_at){0, {"a/b/file", 8}};
    }
    bench->asked += bench->op == RSYS_STAT ? 1 : bench->piece;
    send_request(bench, slot, &request);
}

static void on_readable(void *arg)
{
    struct bench *bench = arg;
    for (;;) {
        size_t have;
        const void *input = stream_input(bench->stream, &have);
        int64_t whole = rsys_frame_length(input, have);
        CHECK(whole >= 0);
        if (whole == 0 || (size_t)whole > have) {
            return;
        }
        CHECK(rsys_decode_reply(input, (size_t)whole, &bench->last) == 0 &&
              bench->last.status == 0);
        bench->taken += bench->op == RSYS_STAT ? 1 : bench->last.value;
        if (bench->op != 0) {
            ask_next(bench, bench->last.slot);
        }
        stream_consume(bench->stream, (size_t)whole);
        bench->awake = bench->op == 0 || bench->taken >= bench->total;
    }
}

static void on_closed(void *arg, int code, const char *why)
{
    (void)arg;
    (void)fprintf(stderr, "the connection ended (%d): %s\n", code, why);
    exit(1);
}

static void connect_to(struct bench *bench, const struct stream_events *events)
{
    const struct stream_trust trust = {.pin = bench->pin};
    CHECK(stream_connect(bench->loop, bench->address, "rsys", &trust, events, bench, &bench->stream,
                         NULL) == 0);
}

static void ask_one(struct bench *bench, struct rsys_request *request)
{
    bench->op = 0;
    bench->awake = false;
    send_request(bench, 0, request);
    loop_run_until(bench->loop, &bench->awake);
}

struct taken {
    double wall_s, server_s, client_s;
};

static struct taken run(struct bench *bench, uint16_t op, size_t piece, uint64_t total, int window)
{
    struct taken before = {now_s(CLOCK_MONOTONIC), cpu_s(bench->child), cpu_s(0)};
    bench->op = op;
    bench->piece = piece;
    bench->total = total;
    bench->asked = bench->taken = 0;
    bench->awake = false;
    for (uint16_t i = 0; i < window; i++) {
        ask_next(bench, i);
    }
    loop_run_until(bench->loop, &bench->awake);
    return (struct taken){now_s(CLOCK_MONOTONIC) - before.wall_s,
                          cpu_s(bench->child) - before.server_s, cpu_s(0) - before.client_s};
}

/* ---- the server ------------------------------------------------------------------------------ */

/* Starts it, and reads where it listens. */
static void start_server(struct bench *bench)
{
    char ticket[128], root[128], program[512], line[300];
    int out[2];
    (void)snprintf(ticket, sizeof(ticket), "%s/ticket", bench->directory);
    (void)snprintf(root, sizeof(root), "/=%s", bench->directory);
    (void)snprintf(program, sizeof(program), "%s/roost-rsys-serve", getenv("ROOST_BIN"));
    FILE *file = fopen(ticket, "w");
    CHECK(file != NULL && fputs(TICKET "\n", file) >= 0 && fclose(file) == 0);
    CHECK(pipe2(out, O_CLOEXEC) == 0);
    bench->child = fork();
    CHECK(bench->child >= 0);
    if (bench->child == 0) {
        (void)dup2(out[1], 1);
        (void)execl(program, program, "--listen", "tcp:127.0.0.1:0", "--ticket-file", ticket,
                    "--root", root, (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    file = fdopen(out[0], "r");
    CHECK(file != NULL);
    CHECK(fgets(line, sizeof(line), file) != NULL &&
          sscanf(line, "listening %255s", bench->address) == 1);
    CHECK(fgets(line, sizeof(line), file) != NULL && sscanf(line, "pin %64s", bench->pin) == 1);
    /* The pipe stays: what it says at its end goes there. */
}

static void end_child(struct bench *bench)
{
    CHECK(kill(bench->child, SIGTERM) == 0);
    CHECK(waitpid(bench->child, NULL, 0) == bench->child);
}

/* ---- the copy that it is compared with ------------------------------------------------------- */

struct source {
    struct loop *loop;
    struct tls_identity *identity;
    struct stream *stream;
    const unsigned char *data;
    uint64_t left;
};

static void source_feed(void *arg)
{
    struct source *source = arg;
    while (source->left > 0 && stream_pending(source->stream) < 4 * MIB) {
        CHECK(stream_write(source->stream, source->data, MIB) == 0);
        source->left -= MIB;
    }
    if (source->left == 0 && stream_pending(source->stream) == 0) {
        loop_stop(source->loop, 0);
    }
}

static void source_closed(void *arg, int code, const char *why)
{
    (void)code;
    (void)why;
    loop_stop(((struct source *)arg)->loop, 0);
}

static void source_nothing(void *arg)
{
    (void)arg;
}

static void source_incoming(void *arg, struct incoming *incoming)
{
    static const struct stream_events EVENTS = {.opened = source_feed,
                                                .drained = source_feed,
                                                .readable = source_nothing,
                                                .closed = source_closed};
    struct source *source = arg;
    source->stream = incoming_accept(incoming, source->identity, &EVENTS, source);
}

static void source_main(const struct bench *bench, int out)
{
    struct source source = {.data = bench->data, .left = bench->total};
    struct listener *listener;
    CHECK(loop_create(&source.loop, NULL) == 0);
    CHECK(tls_identity_ephemeral(source.loop, "bench", &source.identity, NULL) == 0);
    CHECK(listener_create(source.loop, "tcp:127.0.0.1:0", source_incoming, &source, &listener,
                          NULL) == 0);
    (void)dprintf(out, "%s %s\n", listener_address(listener), tls_identity_pin(source.identity));
    (void)loop_run(source.loop);
    (void)pause(); /* its CPU time is asked for */
    _exit(0);
}

static void sink_readable(void *arg)
{
    struct bench *bench = arg;
    size_t have;
    (void)stream_input(bench->stream, &have);
    stream_consume(bench->stream, have);
    bench->taken += have;
    bench->awake = bench->taken >= bench->total;
}

static void sink_opened(void *arg)
{
    (void)arg;
}

static struct taken plain_copy(struct bench *bench)
{
    static const struct stream_events EVENTS = {.opened = sink_opened,
                                                .readable = sink_readable,
                                                .closed = on_closed};
    int out[2];
    char line[400];
    bench->total = bench->file_bytes;
    CHECK(pipe(out) == 0);
    bench->child = fork();
    CHECK(bench->child >= 0);
    if (bench->child == 0) {
        source_main(bench, out[1]);
    }
    FILE *file = fdopen(out[0], "r");
    close(out[1]);
    CHECK(file != NULL && fgets(line, sizeof(line), file) != NULL);
    CHECK(sscanf(line, "%255s %64s", bench->address, bench->pin) == 2);
    CHECK(fclose(file) == 0);
    struct taken before = {now_s(CLOCK_MONOTONIC), cpu_s(bench->child), cpu_s(0)};
    bench->taken = 0;
    bench->awake = false;
    connect_to(bench, &EVENTS);
    loop_run_until(bench->loop, &bench->awake);
    struct taken taken = {now_s(CLOCK_MONOTONIC) - before.wall_s,
                          cpu_s(bench->child) - before.server_s, cpu_s(0) - before.client_s};
    stream_close(bench->stream);
    end_child(bench);
    return taken;
}

/* ---- all ------------------------------------------------------------------------------------- */

static void make_file(struct bench *bench)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/a", bench->directory);
    CHECK(mkdir(path, 0755) == 0);
    (void)snprintf(path, sizeof(path), "%s/a/b", bench->directory);
    CHECK(mkdir(path, 0755) == 0);
    (void)snprintf(path, sizeof(path), "%s/a/b/file", bench->directory);
    int fd = open(path, O_WRONLY | O_CREAT, 0644);
    CHECK(fd >= 0);
    for (size_t at = 0; at < bench->file_bytes; at += MIB) {
        CHECK(write(fd, bench->data, MIB) == (ssize_t)MIB);
    }
    CHECK(close(fd) == 0);
}

static void remove_all(const struct bench *bench)
{
    static const char *const NAMES[] = {"/a/b/file", "/a/b/new", "/a/b", "/a", "/ticket", ""};
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++) {
        char path[128];
        (void)snprintf(path, sizeof(path), "%s%s", bench->directory, NAMES[i]);
        (void)remove(path);
    }
}

static void say(const struct bench *bench, const char *name, const struct taken *taken,
                const struct taken *copy)
{
    double mib = (double)bench->file_bytes / (double)MIB;
    (void)printf("BENCH remote_server_%s %.0f MiB/s ratio %.2f vs plain TLS copy\n", name,
                 mib / taken->wall_s, copy->wall_s / taken->wall_s);
    (void)printf("BENCH remote_server_%s_cpu %.2f ms/MiB ratio %.2f vs plain TLS copy\n", name,
                 taken->server_s * 1e3 / mib, taken->server_s / copy->server_s);
}

static void open_file(struct bench *bench, const char *path, uint32_t how)
{
    struct rsys_request open = {.op = RSYS_OPEN, .how = how, .mode = 0644};
    open.at.path = (struct rsys_text){path, (uint16_t)strlen(path)};
    ask_one(bench, &open);
    bench->handle = bench->last.handle;
}

static void serve(struct bench *bench, const struct taken *copy)
{
    static const struct stream_events EVENTS = {.opened = sink_opened,
                                                .readable = on_readable,
                                                .closed = on_closed};
    struct rsys_request hello = {.op = RSYS_HELLO,
                                 .version = RSYS_VERSION,
                                 .text = {TICKET, sizeof(TICKET) - 1}};
    start_server(bench);
    connect_to(bench, &EVENTS);
    ask_one(bench, &hello);
    open_file(bench, "a/b/file", RSYS_OPEN_READ);
    struct taken reads = run(bench, RSYS_READ, MIB / 8, bench->file_bytes, WINDOW);
    say(bench, "read", &reads, copy);
    uint64_t count = (uint64_t)part_of(20000);
    struct taken random = run(bench, RSYS_READ, 4096, count * 4096, 1);
    (void)printf("BENCH remote_server_random_read %.1f us ratio %.2f vs target\n",
                 random.wall_s * 1e6 / (double)count, random.wall_s * 1e6 / (double)count / 60);
    (void)printf("BENCH remote_server_random_read_cpu %.1f us\n",
                 random.server_s * 1e6 / (double)count);
    struct taken stats = run(bench, RSYS_STAT, 1, count, 1);
    (void)printf("BENCH remote_server_stat %.1f us\n", stats.wall_s * 1e6 / (double)count);
    struct taken many = run(bench, RSYS_STAT, 1, 10 * count, WINDOW);
    (void)printf("BENCH remote_server_stats %.0f requests/cpu-s\n",
                 10 * (double)count / many.server_s);
    open_file(bench, "a/b/new", RSYS_OPEN_WRITE | RSYS_OPEN_CREATE);
    struct taken writes = run(bench, RSYS_WRITE, MIB / 8, bench->file_bytes, WINDOW);
    say(bench, "write", &writes, copy);
    stream_close(bench->stream);
    end_child(bench);
}

int main(void)
{
    struct bench bench = {.file_bytes = (size_t)number("BENCH_MIB", 512, 100000) * MIB};
    if (getenv("ROOST_BIN") == NULL) {
        (void)fputs("ROOST_BIN is not set\n", stderr);
        return 2;
    }
    (void)snprintf(bench.directory, sizeof(bench.directory), "/dev/shm/remote_server.XXXXXX");
    CHECK(mkdtemp(bench.directory) != NULL);
    bench.data = mem_alloc(MIB);
    for (size_t i = 0; i < MIB; i++) {
        bench.data[i] = (unsigned char)draw(&bench, 256);
    }
    make_file(&bench);
    /* Before this process has a loop: the child makes its own. */
    CHECK(loop_create(&bench.loop, NULL) == 0);
    struct taken copy = plain_copy(&bench);
    (void)printf("BENCH remote_server_copy %.0f MiB/s\n",
                 (double)bench.file_bytes / (double)MIB / copy.wall_s);
    serve(&bench, &copy);
    remove_all(&bench);
    loop_destroy(bench.loop);
    mem_free(bench.data);
    return 0;
}
