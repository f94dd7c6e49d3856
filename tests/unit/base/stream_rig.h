/* tests/unit/base/stream_rig.h - two ends of a stream on one event loop, for the tests of
 * base/stream/stream.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_UNIT_BASE_STREAM_RIG_H
#define TESTS_UNIT_BASE_STREAM_RIG_H

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/stream/stream.h"
#include "base/strbuf.h"
#include "tests/support/loop_rig.h"

#define DEADLINE_MS 120000 /* milliseconds after which a test has failed */

struct rig;

enum { CLOSE_IN_OPENED = 1, CLOSE_IN_READABLE, CLOSE_IN_DRAINED, CLOSE_IN_CLOSED };

/* Records the events of one end of a stream. */
struct end {
    struct rig *rig;
    struct stream *stream;
    struct strbuf got;
    size_t got_bytes;
    bool count_only; /* only count the bytes in got_bytes, do not store them in got */
    bool keep;       /* leave the input unread */
    int close_in;    /* CLOSE_IN_*: the callback in which to close */
    unsigned opened, readable, drained, closed;
    int code;
    char why[1024];
};

struct rig {
    struct loop *loop;
    struct os *os;
    struct loop_timer *deadline;
    char directory[FAST_DIR_SIZE];
    struct tls_identity *identity;
    struct listener *listener;
    struct incoming *incoming; /* set by the listener's callback when keep_incoming */
    bool keep_incoming;
    char route[STREAM_ROUTE_MAX + 1];
    char incoming_from[256];
    unsigned incoming_count;
    struct end client, server;
    bool woken;
};

static inline void rig_too_late(void *arg)
{
    (void)arg;
    fail_msg("waited too long");
}

/* Runs the loop until an event has made the condition true. */
#define AWAIT(rig, condition)                       \
    while (!(condition)) {                          \
        (rig)->woken = false;                       \
        loop_run_until((rig)->loop, &(rig)->woken); \
    }

static inline void end_close(struct end *end)
{
    stream_close(end->stream);
    end->stream = NULL;
}

static inline void end_opened(void *arg)
{
    struct end *end = arg;
    end->rig->woken = true;
    end->opened++;
    if (end->close_in == CLOSE_IN_OPENED) {
        end_close(end);
    }
}

static inline void end_readable(void *arg)
{
    struct end *end = arg;
    size_t length;
    end->rig->woken = true;
    end->readable++;
    if (end->close_in == CLOSE_IN_READABLE) {
        end_close(end);
        return;
    }
    const void *data = stream_input(end->stream, &length);
    assert_true(length > 0);
    if (!end->keep) {
        if (!end->count_only) {
            strbuf_append(&end->got, data, length);
        }
        end->got_bytes += length;
        stream_consume(end->stream, length);
    }
}

static inline void end_drained(void *arg)
{
    struct end *end = arg;
    end->rig->woken = true;
    end->drained++;
    if (end->close_in == CLOSE_IN_DRAINED) {
        end_close(end);
    }
}

static inline void end_closed(void *arg, int code, const char *why)
{
    struct end *end = arg;
    end->rig->woken = true;
    assert_int_equal(end->closed, 0);
    end->closed++;
    end->code = code;
    (void)snprintf(end->why, sizeof(end->why), "%s", why);
    if (end->close_in == CLOSE_IN_CLOSED) {
        end_close(end);
    }
}

static const struct stream_events END_EVENTS = {end_opened, end_readable, end_drained, end_closed};

static inline void rig_incoming(void *arg, struct incoming *incoming)
{
    struct rig *rig = arg;
    rig->woken = true;
    rig->incoming_count++;
    (void)snprintf(rig->route, sizeof(rig->route), "%s", incoming_route(incoming));
    (void)snprintf(rig->incoming_from, sizeof(rig->incoming_from), "%s", incoming_peer(incoming));
    if (rig->keep_incoming) {
        rig->incoming = incoming;
    } else {
        assert_null(rig->server.stream);
        rig->server.stream = incoming_accept(incoming, rig->identity, &END_EVENTS, &rig->server);
    }
}

static inline int rig_setup(void **state)
{
    struct rig *rig = mem_zalloc(sizeof(*rig));
    loop_rig_open(&rig->loop, &rig->os, rig->directory);
    rig->deadline = loop_timer_create(rig->loop, rig_too_late, NULL);
    loop_timer_set(rig->deadline, DEADLINE_MS);
    assert_int_equal(tls_identity_ephemeral(rig->loop, "test", &rig->identity, NULL), 0);
    rig->client.rig = rig->server.rig = rig;
    strbuf_init(&rig->client.got, 0);
    strbuf_init(&rig->server.got, 0);
    *state = rig;
    return 0;
}

static inline int rig_teardown(void **state)
{
    struct rig *rig = *state;
    stream_close(rig->client.stream);
    stream_close(rig->server.stream);
    listener_destroy(rig->listener);
    tls_identity_destroy(rig->identity);
    loop_timer_destroy(rig->deadline);
    loop_rig_close(rig->loop, rig->os, rig->directory);
    strbuf_fini(&rig->client.got);
    strbuf_fini(&rig->server.got);
    mem_free(rig);
    return 0;
}

static inline void rig_listen(struct rig *rig, const char *address)
{
    MUST(listener_create(rig->loop, address, rig_incoming, rig, &rig->listener, err));
}

static inline void rig_connect(struct rig *rig, const char *pin)
{
    struct stream_trust trust = {.pin = pin};
    MUST(stream_connect(rig->loop, listener_address(rig->listener), "collector", &trust,
                        &END_EVENTS, &rig->client, &rig->client.stream, err));
}

/* Opens a client and a server over TCP. */
static inline void rig_open_tcp(struct rig *rig)
{
    rig_listen(rig, "tcp:127.0.0.1:0");
    rig_connect(rig, tls_identity_pin(rig->identity));
    AWAIT(rig, rig->client.opened && rig->server.opened);
}

static inline const char *rig_path(struct rig *rig, const char *scheme, char out[128])
{
    (void)snprintf(out, 128, "%s:%s/socket", scheme, rig->directory);
    return out;
}

static inline void rig_open_unix(struct rig *rig)
{
    char address[128];
    rig_listen(rig, rig_path(rig, "unix", address));
    rig_connect(rig, NULL);
    AWAIT(rig, rig->client.opened && rig->server.opened);
}

/* Connects a plain socket to a listener at "tcp:127.0.0.1:PORT" or "unix:PATH". */
static inline int raw_connect(const struct rig *rig)
{
    const char *address = listener_address(rig->listener);
    if (strncmp(address, "unix:", 5) == 0) {
        struct sockaddr_un to = {.sun_family = AF_UNIX};
        (void)snprintf(to.sun_path, sizeof(to.sun_path), "%s", address + 5);
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
        return fd;
    }
    struct sockaddr_in to = {.sin_family = AF_INET};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons((uint16_t)strtoul(strrchr(address, ':') + 1, NULL, 10));
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static inline void raw_send(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

static inline uint64_t rig_dropped(const struct rig *rig)
{
    struct listener_stats stats;
    listener_get_stats(rig->listener, &stats);
    return stats.dropped;
}

/* Nothing wakes the loop when a listener drops a connection. */
static inline void rig_await_dropped(struct rig *rig, uint64_t count)
{
    LOOP_RIG_UNTIL(rig->loop, rig_dropped(rig) >= count, "");
}

#define RIG_TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

#endif
