/* sim/stream_sim.c - base/stream/stream.h on the simulated network: connecting, listening, passing
 * on, both ends.
 *
 * TLS is only imitated: a certificate is a file with the text "sim-cert NAME ISSUER", a CA file has
 * "sim-ca ISSUER", and a pin is a hash of the certificate's file.  A peer that TLS would refuse is
 * refused here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/stream/stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "sim/host_faults.h"
#include "sim/net_sim.h"

#define UNREACHABLE_MS  3000
#define GIVE_UP_MIN_S   8 /* TCP's patience with a silent peer */
#define GIVE_UP_MAX_S   40
#define CLOSE_DROPS     300 /* per mille of closes that lose the data written last */
#define FIRST_FREE_PORT 32768

/* ---- one end of a connection ----------------------------------------------------------------- */

static enum sim_side other_side(enum sim_side side)
{
    return side == SIM_CLIENT ? SIM_SERVER : SIM_CLIENT;
}

static struct sim_pipe *out_of(const struct stream *stream)
{
    return &stream->connection->pipes[stream->side];
}

static struct sim_pipe *pipe_into(const struct stream *stream)
{
    return &stream->connection->pipes[other_side(stream->side)];
}

static struct stream *stream_create(struct sim_process *process, struct sim_connection *connection,
                                    enum sim_side side, const struct stream_events *events,
                                    void *arg)
{
    struct stream *stream = sim_alloc(sizeof(*stream));
    stream->process = process;
    stream->connection = connection;
    stream->side = side;
    stream->events = *events;
    stream->arg = arg;
    connection->ends[side] = stream;
    sim_list_add(&process->streams, &stream->link, stream);
    return stream;
}

void sim_stream_vanish(struct stream *stream)
{
    struct sim_connection *connection = stream->connection;
    connection->ends[stream->side] = NULL;
    connection->gone[stream->side] = true;
    sim_pipe_clear(pipe_into(stream));
    sim_cancel(stream->open_event);
    sim_cancel(stream->close_event);
    sim_cancel(stream->drain_event);
    sim_cancel(stream->unread_event);
    sim_cancel(stream->deadline_event);
    sim_list_remove(&stream->link);
    sim_free(stream->ca_issuer);
    sim_free(stream->role);
    sim_free(stream->name);
    sim_free(stream->pin);
    sim_free(stream->peer);
    sim_free(stream->input);
    sim_free(stream->close_why);
    sim_free(stream);
    sim_connection_release(connection);
}

static void run_closed(void *arg)
{
    struct stream *stream = arg;
    char why[320];
    (void)snprintf(why, sizeof(why), "%s: %s", stream->peer, stream->close_why);
    stream->events.closed(stream->arg, stream->close_code, why);
}

static void closed_event(void *arg)
{
    struct stream *stream = arg;
    struct sim_connection *connection = stream->connection;
    stream->close_event = NULL;
    stream->closed_told = true;
    stream->ended = true;
    connection->gone[stream->side] = true;
    sim_pipe_clear(pipe_into(stream));
    sim_trace(connection->sim, stream->process, "closed %llu %s: %d %s",
              (unsigned long long)connection->serial, connection->route, stream->close_code,
              stream->close_why);
    (void)sim_enter(stream->process, run_closed, stream);
}

void sim_stream_fail(struct stream *stream, uint64_t at_us, int code, const char *why)
{
    if (stream->closed_told) {
        return;
    }
    struct sim *sim = stream->connection->sim;
    if (at_us <= sim->now_us) {
        stream->ended = true;
        sim_pipe_clear(pipe_into(stream));
    }
    if (stream->close_event != NULL) {
        if (stream->close_event->at_us <= at_us) {
            return; /* it learns of something else sooner */
        }
        sim_cancel(stream->close_event);
    }
    stream->close_code = code;
    sim_free(stream->close_why);
    stream->close_why = sim_strdup(why);
    stream->close_event = sim_at_process(stream->process, at_us, closed_event, stream);
}

static void run_opened(void *arg)
{
    struct stream *stream = arg;
    stream->events.opened(stream->arg);
}

static void opened_event(void *arg)
{
    struct stream *stream = arg;
    stream->open_event = NULL;
    if (stream->ended) {
        return;
    }
    stream->opened = true;
    sim_cancel(stream->deadline_event);
    stream->deadline_event = NULL;
    sim_pipe_schedule(pipe_into(stream));
    (void)sim_enter(stream->process, run_opened, stream);
}

static void open_at(struct stream *stream, uint64_t at_us)
{
    if (stream != NULL && stream->open_event == NULL && !stream->opened && !stream->ended) {
        stream->open_event = sim_at_process(stream->process, at_us, opened_event, stream);
    }
}

static void deadline_event(void *arg)
{
    struct stream *stream = arg;
    stream->deadline_event = NULL;
    sim_stream_fail(stream, stream->connection->sim->now_us, -ETIMEDOUT,
                    "no connection within the time limit");
}

/* Does what the kernel does with a socket that is closed. */
static void end_stream(struct stream *stream, bool drop)
{
    struct sim_connection *connection = stream->connection;
    /* An ordinary end only when nothing is unread and nothing that was written is dropped. */
    bool reset = stream->input_length > stream->input_used || pipe_into(stream)->first != NULL;
    if (!stream->closed_told && !connection->gone[stream->side]) {
        if (drop && out_of(stream)->first != NULL) {
            sim_pipe_clear(out_of(stream));
            reset = true;
        }
        if (stream->side == SIM_CLIENT && connection->ends[SIM_SERVER] == NULL &&
            connection->incoming == NULL) {
            out_of(stream)->ended = true; /* nobody there yet */
        }
        sim_pipe_put(out_of(stream), reset ? SIM_RST : SIM_FIN, NULL, 0);
    }
    sim_stream_vanish(stream);
}

void stream_close(struct stream *stream)
{
    if (stream != NULL) {
        end_stream(stream, sim_chance(stream->connection->sim, CLOSE_DROPS));
    }
}

void stream_finish(struct stream *stream)
{
    end_stream(stream, false);
}

const void *stream_input(const struct stream *stream, size_t *length)
{
    *length = stream->input_length - stream->input_used;
    return stream->input != NULL ? (const void *)(stream->input + stream->input_used) : "";
}

void stream_consume(struct stream *stream, size_t length)
{
    CHECK(length <= stream->input_length - stream->input_used);
    stream->input_used += length;
    if (!stream->ended) {
        sim_pipe_schedule(pipe_into(stream));
    }
}

static void run_unread(void *arg)
{
    struct stream *stream = arg;
    stream->events.readable(stream->arg);
}

static void unread_event(void *arg)
{
    struct stream *stream = arg;
    stream->unread_event = NULL;
    if (!stream->paused && !stream->ended && stream->input_length > stream->input_used) {
        (void)sim_enter(stream->process, run_unread, stream);
    }
}

void stream_pause(struct stream *stream, bool paused)
{
    stream->paused = paused;
    if (stream->ended) {
        return;
    }
    if (paused) {
        sim_cancel(pipe_into(stream)->event);
        pipe_into(stream)->event = NULL;
        return;
    }
    if (stream->input_length > stream->input_used && stream->unread_event == NULL) {
        struct sim *sim = stream->connection->sim;
        stream->unread_event =
            sim_at_process(stream->process, sim->now_us + sim_between(sim, 1, 50), unread_event,
                           stream);
    }
    sim_pipe_schedule(pipe_into(stream));
}

int stream_write(struct stream *stream, const void *data, size_t length)
{
    struct sim_connection *connection = stream->connection;
    if (stream->ended) {
        return -EPIPE;
    }
    struct sim_pipe *pipe = out_of(stream);
    if (length > STREAM_OUTPUT_MAX || pipe->bytes > STREAM_OUTPUT_MAX - length) {
        return -ENOBUFS;
    }
    if (stream->process->failing || stream->process->host->failing) {
        return 0; /* the dead say nothing */
    }
    SIM_TELL(connection->sim, sent, stream->process, connection->serial, stream->side == SIM_CLIENT,
             connection->route, data, length);
    if (length > 0) {
        sim_pipe_put(pipe, SIM_DATA, data, length);
    }
    if (sim_pipe_pending(pipe) > STREAM_DRAINED) {
        stream->above = true;
    }
    return 0;
}

size_t stream_pending(const struct stream *stream)
{
    return sim_pipe_pending(out_of(stream));
}

const char *stream_peer(const struct stream *stream)
{
    return stream->peer;
}

bool stream_peer_uid(const struct stream *stream, uid_t *uid, pid_t *pid)
{
    const struct sim_connection *connection = stream->connection;
    if (!connection->is_unix) {
        return false;
    }
    const struct stream *client = connection->ends[SIM_CLIENT];
    bool is_server = stream->side == SIM_SERVER;
    *uid = is_server ? connection->client_uid : stream->process->uid;
    *pid = is_server ? connection->client_pid : (client != NULL ? client->process->pid : 0);
    return true;
}

/* ---- listeners ------------------------------------------------------------------------------- */

/* Splits "tcp:HOST:PORT" into host (without brackets) and port.  False: not such an address. */
static bool parse_tcp(const char *address, char host[256], uint16_t *port)
{
    if (strncmp(address, "tcp:", 4) != 0) {
        return false;
    }
    const char *text = address + 4, *colon = strrchr(text, ':');
    if (colon == NULL || colon == text || strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
        strlen(colon + 1) == 0 || strlen(colon + 1) > 5) {
        return false;
    }
    size_t length = (size_t)(colon - text);
    if (text[0] == '[' && colon[-1] == ']') {
        text++;
        length -= 2;
    }
    unsigned long number = strtoul(colon + 1, NULL, 10);
    if (length == 0 || length >= 256 || number > 65535) {
        return false;
    }
    memcpy(host, text, length);
    host[length] = '\0';
    *port = (uint16_t)number;
    return true;
}

static const char *path_of(const char *address, const char *scheme)
{
    size_t length = strlen(scheme);
    return strncmp(address, scheme, length) == 0 && address[length] == '/' ? address + length
                                                                           : NULL;
}

static struct listener *find_port(struct sim_host *host, uint16_t port)
{
    for (struct sim_link *at = host->listeners.next; at != &host->listeners; at = at->next) {
        struct listener *listener = at->item;
        if (listener->path == NULL && listener->port == port) {
            return listener;
        }
    }
    return NULL;
}

static struct listener *find_path(struct sim_host *host, const char *path, bool is_pass)
{
    for (struct sim_link *at = host->listeners.next; at != &host->listeners; at = at->next) {
        struct listener *listener = at->item;
        if (listener->path != NULL && listener->is_pass == is_pass &&
            strcmp(listener->path, path) == 0) {
            return listener;
        }
    }
    return NULL;
}

static int listen_path(struct listener *listener, struct sim_host *host, const char *path,
                       struct err *err)
{
    char name[256];
    struct sim_node *dir = sim_tree_parent(host, path, name, sizeof(name));
    if (dir == NULL) {
        return err_set(err, -ENOENT, "%s: there is no such directory", path);
    }
    if (find_path(host, path, true) != NULL || find_path(host, path, false) != NULL) {
        return err_set(err, -EADDRINUSE, "%s: another process listens on this socket", path);
    }
    const struct sim_node *old = sim_dir_get(dir, name);
    if (old != NULL && old->type != SIM_SOCKET) {
        return err_set(err, -EADDRINUSE, "%s: a file that is not a socket is there", path);
    }
    sim_dir_set(dir, name, sim_node_create(host, SIM_SOCKET, 0666));
    listener->path = sim_strdup(path);
    return 0;
}

static int listen_port(struct listener *listener, struct sim_host *host, uint16_t port,
                       struct err *err)
{
    for (unsigned tries = 0; port == 0 && tries < 30000; tries++) {
        uint16_t candidate = (uint16_t)(FIRST_FREE_PORT + host->last_port++ % 30000);
        port = find_port(host, candidate) == NULL ? candidate : 0;
    }
    if (find_port(host, port) != NULL) {
        return err_set(err, -EADDRINUSE, "port %u: another process listens on this socket",
                       (unsigned)port);
    }
    listener->port = port;
    return 0;
}

int listener_create(struct loop *loop, const char *address, listener_f call, void *arg,
                    struct listener **ret, struct err *err)
{
    struct sim_process *process = loop->process;
    struct listener *listener = sim_alloc(sizeof(*listener));
    char host[256];
    uint16_t port = 0;
    int code = 0;
    if (path_of(address, "unix:") != NULL) {
        code = listen_path(listener, process->host, path_of(address, "unix:"), err);
        listener->address = sim_strdup(address);
    } else if (path_of(address, "pass:") != NULL) {
        listener->is_pass = true;
        code = listen_path(listener, process->host, path_of(address, "pass:"), err);
        listener->address = sim_strdup(address);
    } else if (parse_tcp(address, host, &port)) {
        code = listen_port(listener, process->host, port, err);
        listener->address = strchr(host, ':') != NULL
                                ? sim_text("tcp:[%s]:%u", host, (unsigned)listener->port)
                                : sim_text("tcp:%s:%u", host, (unsigned)listener->port);
    } else {
        code = err_set(err, -EINVAL, "%s: not an address", address);
    }
    if (code != 0) {
        sim_free(listener->address);
        sim_free(listener);
        return code;
    }
    listener->process = process;
    listener->call = call;
    listener->arg = arg;
    sim_list_add(&process->listeners, &listener->link, listener);
    sim_list_add(&process->host->listeners, &listener->host_link, listener);
    *ret = listener;
    return 0;
}

static void listener_free(struct listener *listener)
{
    /* Connections that wait to be told of find nobody. */
    struct sim_process *process = listener->process;
    for (struct sim_link *at = process->incomings.next, *next; at != &process->incomings;
         at = next) {
        struct incoming *incoming = at->item;
        next = at->next;
        if (incoming->listener == listener) {
            sim_incoming_vanish(incoming);
        }
    }
    sim_list_remove(&listener->link);
    sim_list_remove(&listener->host_link);
    sim_free(listener->path);
    sim_free(listener->address);
    sim_free(listener);
}

void listener_destroy(struct listener *listener)
{
    if (listener == NULL) {
        return;
    }
    char name[256];
    if (listener->path != NULL) {
        struct sim_node *dir =
            sim_tree_parent(listener->process->host, listener->path, name, sizeof(name));
        if (dir != NULL) {
            sim_dir_set(dir, name, NULL);
        }
    }
    listener_free(listener);
}

const char *listener_address(const struct listener *listener)
{
    return listener->address;
}

void listener_get_stats(const struct listener *listener, struct listener_stats *ret)
{
    *ret = (struct listener_stats){.accepted = listener->accepted};
}

/* ---- incoming connections -------------------------------------------------------------------- */

void sim_incoming_vanish(struct incoming *incoming)
{
    struct sim_connection *connection = incoming->connection;
    struct stream *client = connection->ends[SIM_CLIENT];
    struct sim *sim = connection->sim;
    if (connection->incoming == incoming) {
        connection->incoming = NULL;
        connection->gone[SIM_SERVER] = true;
        if (client != NULL && !connection->gone[SIM_CLIENT]) {
            sim_stream_fail(client,
                            sim->now_us +
                                sim_latency_us(sim, connection->hosts[0], connection->hosts[1]),
                            -ECONNRESET, "the peer hung up during the handshake");
        }
    }
    sim_cancel(incoming->event);
    sim_list_remove(&incoming->link);
    sim_free(incoming->peer);
    sim_free(incoming);
    sim_connection_release(connection);
}

static void run_incoming(void *arg)
{
    struct incoming *incoming = arg;
    struct listener *listener = incoming->listener;
    incoming->listener = NULL;
    listener->accepted++;
    listener->call(listener->arg, incoming);
}

static void incoming_event(void *arg)
{
    struct incoming *incoming = arg;
    incoming->event = NULL;
    (void)sim_enter(incoming->process, run_incoming, incoming);
}

static void incoming_give(struct incoming *incoming, struct listener *listener, uint64_t after_us)
{
    struct sim_process *process = listener->process;
    incoming->process = process;
    incoming->listener = listener;
    sim_list_add(&process->incomings, &incoming->link, incoming);
    incoming->event =
        sim_at_process(process, process->sim->now_us + after_us, incoming_event, incoming);
}

const char *incoming_route(const struct incoming *incoming)
{
    return incoming->connection->route;
}

const char *incoming_peer(const struct incoming *incoming)
{
    return incoming->peer;
}

void incoming_refuse(struct incoming *incoming)
{
    sim_incoming_vanish(incoming);
}

int incoming_pass(struct incoming *incoming, const char *pass_address, struct err *err)
{
    const char *path = path_of(pass_address, "pass:");
    struct sim_process *process = incoming->process;
    struct listener *to = path != NULL ? find_path(process->host, path, true) : NULL;
    if (to == NULL) {
        sim_incoming_vanish(incoming);
        return path == NULL ? err_set(err, -EINVAL, "%s: not a pass address", pass_address)
                            : err_set(err, -ECONNREFUSED, "%s: nobody listens there", pass_address);
    }
    sim_list_remove(&incoming->link);
    incoming_give(incoming, to, sim_between(process->sim, 10, 300));
    return 0;
}

/* The server's part of the handshake has arrived at the client. */
static void handshake_event(void *arg)
{
    struct sim_connection *connection = arg;
    struct sim *sim = connection->sim;
    struct stream *client = connection->ends[SIM_CLIENT], *server = connection->ends[SIM_SERVER];
    connection->event = NULL;
    uint64_t back_us =
        sim->now_us + sim_latency_us(sim, connection->hosts[0], connection->hosts[1]);
    uint64_t silent_until_us = sim_silent_until(connection);
    if (silent_until_us > 0) {
        connection->event = sim_at(sim, silent_until_us + sim_between(sim, 1000, SIM_S),
                                   handshake_event, connection);
        return;
    }
    if (client == NULL || client->ended) {
        if (server != NULL && !connection->pipes[SIM_CLIENT].is_void) {
            sim_stream_fail(server, back_us, -ECONNRESET, "the peer hung up during the handshake");
        }
        return;
    }
    if (connection->gone[SIM_SERVER]) {
        return; /* the client is told by whoever ended it, or by its deadline */
    }
    struct err refusal = {""};
    if (!connection->is_unix && sim_tls_judge(client, connection, &refusal) != 0) {
        connection->gone[SIM_CLIENT] = true;
        sim_stream_fail(client, sim->now_us, -EKEYREJECTED, refusal.text);
        if (server != NULL) {
            sim_stream_fail(server, back_us, -EPROTO, "the peer refused our certificate");
        }
        return;
    }
    open_at(client, sim->now_us);
    open_at(server, back_us);
}

struct stream *incoming_accept(struct incoming *incoming, const struct tls_identity *identity,
                               const struct stream_events *events, void *arg)
{
    struct sim_connection *connection = incoming->connection;
    struct sim_process *process = incoming->process;
    struct sim *sim = connection->sim;
    CHECK(connection->is_unix || identity != NULL);
    CHECK(incoming->listener == NULL);
    struct stream *stream = stream_create(process, connection, SIM_SERVER, events, arg);
    stream->peer = sim_strdup(incoming->peer);
    if (identity != NULL) {
        memcpy(connection->server_pin, identity->pin, sizeof(connection->server_pin));
        memcpy(connection->server_issuer, identity->issuer, sizeof(connection->server_issuer));
        memcpy(connection->server_uri, identity->uri, sizeof(connection->server_uri));
    }
    connection->incoming = NULL;
    sim_list_remove(&incoming->link);
    sim_free(incoming->peer);
    sim_free(incoming);
    stream->deadline_event =
        sim_at_process(process, sim->now_us + STREAM_HANDSHAKE_MS * SIM_MS, deadline_event, stream);
    if (connection->event == NULL) {
        connection->event =
            sim_at(sim,
                   sim->now_us + sim_latency_us(sim, connection->hosts[0], connection->hosts[1]),
                   handshake_event, connection);
    }
    return stream;
}

/* ---- connecting ------------------------------------------------------------------------------ */

/* The first packet has arrived at the other machine. */
static void arrive_event(void *arg)
{
    struct sim_connection *connection = arg;
    struct sim *sim = connection->sim;
    struct sim_host *host = connection->hosts[SIM_SERVER];
    struct stream *client = connection->ends[SIM_CLIENT];
    connection->event = NULL;
    if (client == NULL || client->ended) {
        return; /* given up */
    }
    uint64_t back_us = sim->now_us + sim_latency_us(sim, connection->hosts[SIM_CLIENT], host);
    uint64_t silent_until_us = sim_silent_until(connection);
    if (silent_until_us > 0) {
        const struct sim_cut_link *link =
            sim_link_between(sim, connection->hosts[0], connection->hosts[1]);
        if (link->how == SIM_CUT_RESET) {
            sim_stream_fail(client, back_us, -EHOSTUNREACH, "no route to host");
        } else {
            connection->event = sim_at(sim, silent_until_us + sim_between(sim, 1000, SIM_S),
                                       arrive_event, connection);
        }
        return;
    }
    if (host->power == SIM_HOST_OFF || host->power == SIM_HOST_BOOTING) {
        if (sim_chance(sim, 500)) {
            sim_stream_fail(client, sim->now_us + UNREACHABLE_MS * SIM_MS, -EHOSTUNREACH,
                            "no route to host");
        } /* else its deadline tells */
        return;
    }
    char name[256];
    uint16_t port = 0;
    struct listener *listener = NULL;
    if (connection->is_unix) {
        listener = find_path(host, path_of(connection->target, "unix:"), false);
    } else if (parse_tcp(connection->target, name, &port)) {
        listener = find_port(host, port);
    }
    if (listener == NULL) {
        sim_stream_fail(client, back_us, -ECONNREFUSED, "connection refused");
        return;
    }
    struct incoming *incoming = sim_alloc(sizeof(*incoming));
    incoming->connection = connection;
    connection->incoming = incoming;
    incoming->peer =
        connection->is_unix
            ? sim_text("%s (uid %u)", connection->target, (unsigned)connection->client_uid)
            : sim_text("tcp:%s:%llu", connection->hosts[SIM_CLIENT]->name,
                       (unsigned long long)(40000 + connection->serial % 20000));
    incoming_give(incoming, listener, sim_between(sim, 1, 200));
}

static bool read_issuer(struct sim_process *process, const char *ca_file, char issuer[128])
{
    char path[SIM_PATH_MAX];
    if (!sim_path(process->cwd, ca_file, path)) {
        return false;
    }
    const char *text = sim_file_get(process->host, path, NULL);
    return text != NULL && sscanf(text, "sim-ca %127s", issuer) == 1;
}

static bool route_is_right(const char *route)
{
    return route[0] != '\0' && strlen(route) <= STREAM_ROUTE_MAX && strpbrk(route, "\r\n") == NULL;
}

static struct sim_host *resolve_host(struct sim_process *process, const char *name)
{
    if (strcmp(name, "127.0.0.1") == 0 || strcmp(name, "localhost") == 0 ||
        strcmp(name, "::1") == 0) {
        return process->host;
    }
    return sim_name_resolve(process->host, name);
}

static struct sim_connection *connection_create(struct sim_process *process,
                                                struct sim_host *server, const char *address,
                                                const char *route, bool is_unix)
{
    struct sim *sim = process->sim;
    struct sim_connection *connection = sim_alloc(sizeof(*connection));
    connection->sim = sim;
    connection->serial = ++sim->connection_serial;
    connection->hosts[SIM_CLIENT] = process->host;
    connection->hosts[SIM_SERVER] = server;
    connection->route = sim_strdup(route);
    connection->target = sim_strdup(address);
    connection->is_unix = is_unix;
    connection->client_uid = process->uid;
    connection->client_pid = process->pid;
    connection->give_up_us = sim_between(sim, GIVE_UP_MIN_S * SIM_S, GIVE_UP_MAX_S * SIM_S);
    for (unsigned i = 0; i < 2; i++) {
        connection->pipes[i].connection = connection;
        connection->pipes[i].from = i == 0 ? SIM_CLIENT : SIM_SERVER;
    }
    sim_list_add(&sim->connections, &connection->link, connection);
    return connection;
}

int stream_connect(struct loop *loop, const char *address, const char *route,
                   const struct stream_trust *trust, const struct stream_events *events, void *arg,
                   struct stream **ret, struct err *err)
{
    struct sim_process *process = loop->process;
    struct sim *sim = process->sim;
    char name[256], issuer[128] = "";
    uint16_t port = 0;
    bool is_unix = path_of(address, "unix:") != NULL;
    if (!route_is_right(route)) {
        return err_set(err, -EINVAL, "'%s' is not a route", route);
    }
    if (!is_unix && (!parse_tcp(address, name, &port) || port == 0)) {
        return err_set(err, -EINVAL, "%s: not an address", address);
    }
    if (!is_unix) {
        CHECK(trust != NULL && (trust->ca_file != NULL) != (trust->pin != NULL));
        CHECK(trust->pin != NULL || trust->role != NULL);
        if (trust->ca_file != NULL && !read_issuer(process, trust->ca_file, issuer)) {
            return err_set(err, -ENOENT, "%s: no CA certificate can be read", trust->ca_file);
        }
    }
    struct sim_host *server = is_unix ? process->host : resolve_host(process, name);
    struct sim_connection *connection =
        connection_create(process, server != NULL ? server : process->host, address, route,
                          is_unix);
    struct stream *stream = stream_create(process, connection, SIM_CLIENT, events, arg);
    stream->peer = sim_strdup(address);
    stream->ca_issuer = issuer[0] != '\0' ? sim_strdup(issuer) : NULL;
    stream->pin = !is_unix && trust->pin != NULL ? sim_strdup(trust->pin) : NULL;
    stream->role = !is_unix && trust->role != NULL ? sim_strdup(trust->role) : NULL;
    stream->name = !is_unix && trust->name != NULL ? sim_strdup(trust->name) : NULL;
    sim_count(sim, SIM_COUNT_CONNECTS);
    sim_trace(sim, process, "connects %llu to %s %s", (unsigned long long)connection->serial,
              address, route);
    if (server == NULL) {
        sim_stream_fail(stream, sim->now_us + sim_between(sim, 500, 9000), -EHOSTUNREACH,
                        "there is no host of this name");
    } else {
        stream->deadline_event = sim_at_process(process, sim->now_us + STREAM_HANDSHAKE_MS * SIM_MS,
                                                deadline_event, stream);
        connection->event = sim_at(sim, sim->now_us + sim_latency_us(sim, process->host, server),
                                   arrive_event, connection);
    }
    *ret = stream;
    return 0;
}

/* ---- closing the connections of a dead process ----------------------------------------------- */

void sim_net_drop_process(struct sim_process *process)
{
    struct listener *listener;
    while ((listener = sim_list_first(&process->listeners)) != NULL) {
        listener_free(listener); /* the file of a Unix socket stays, dead */
    }
    struct incoming *incoming;
    while ((incoming = sim_list_first(&process->incomings)) != NULL) {
        sim_incoming_vanish(incoming);
    }
    struct stream *stream;
    while ((stream = sim_list_first(&process->streams)) != NULL) {
        end_stream(stream, sim_chance(process->sim, CLOSE_DROPS));
    }
}
