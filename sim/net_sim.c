/* sim/net_sim.c - the network between simulated machines: latency, delivery, cuts, vanished ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/net_sim.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"

#define LOCAL_MIN_US 15
#define LOCAL_MAX_US 120
#define LAN_MIN_US   120
#define LAN_MAX_US   900
#define SPIKE        20 /* per mille of messages that a switch delays */
#define SPIKE_MAX_US 60000
#define SPLIT        15 /* per mille of messages that arrive in two pieces */
/* bytes that a pipe holds before a stream must wait */
#define KERNEL_BYTES      ((size_t)128 << 10)
#define RESET_LEARN_MAX_S 6 /* longest time between the two ends' learning of a reset */

/* ---- links ----------------------------------------------------------------------------------- */

struct sim_cut_link *sim_link_between(struct sim *sim, struct sim_host *a, struct sim_host *b)
{
    if (sim->links_side != sim->host_count) {
        size_t side = sim->host_count;
        struct sim_cut_link **links = sim_alloc(side * side * sizeof(struct sim_cut_link *));
        for (size_t i = 0; i < sim->links_side; i++) {
            for (size_t k = 0; k < sim->links_side; k++) {
                links[i * side + k] = sim->links[i * sim->links_side + k];
            }
        }
        sim_free(sim->links);
        sim->links = links;
        sim->links_side = side;
    }
    size_t low = a->index < b->index ? a->index : b->index;
    size_t high = a->index < b->index ? b->index : a->index;
    struct sim_cut_link **slot = &sim->links[low * sim->links_side + high];
    if (*slot == NULL) {
        *slot = sim_alloc(sizeof(**slot));
        (*slot)->a = a;
        (*slot)->b = b;
    }
    return *slot;
}

uint64_t sim_latency_us(struct sim *sim, struct sim_host *a, struct sim_host *b)
{
    if (a == b) {
        return sim_between(sim, LOCAL_MIN_US, LOCAL_MAX_US);
    }
    const struct sim_cut_link *link = sim_link_between(sim, a, b);
    uint64_t max_us = sim_chance(sim, SPIKE) ? SPIKE_MAX_US : LAN_MAX_US;
    if (link->slow_until_us > sim->now_us) {
        max_us = link->slow_max_us;
    }
    uint64_t us = sim_between(sim, LAN_MIN_US, max_us);
    if (us >= SIM_S) {
        sim_count(sim, SIM_COUNT_DELAYED);
    }
    return us;
}

uint64_t sim_silent_until(struct sim_connection *connection)
{
    struct sim *sim = connection->sim;
    if (connection->hosts[0] == connection->hosts[1]) {
        return 0;
    }
    const struct sim_cut_link *link =
        sim_link_between(sim, connection->hosts[0], connection->hosts[1]);
    return link->cut_until_us > sim->now_us ? link->cut_until_us : 0;
}

/* ---- pipes ----------------------------------------------------------------------------------- */

static enum sim_side other_side(enum sim_side side)
{
    return side == SIM_CLIENT ? SIM_SERVER : SIM_CLIENT;
}

static void chunk_free(struct sim_chunk *chunk)
{
    sim_free(chunk->data);
    sim_free(chunk);
}

void sim_pipe_clear(struct sim_pipe *pipe)
{
    sim_cancel(pipe->event);
    pipe->event = NULL;
    while (pipe->first != NULL) {
        struct sim_chunk *chunk = pipe->first;
        pipe->first = chunk->next;
        chunk_free(chunk);
    }
    pipe->last = NULL;
    pipe->bytes = 0;
}

size_t sim_pipe_pending(const struct sim_pipe *pipe)
{
    return pipe->bytes > KERNEL_BYTES ? pipe->bytes - KERNEL_BYTES : 0;
}

/* The other end does not exist any more: tells the writer after a while. */
static void learn_of_void(struct sim_pipe *pipe)
{
    struct sim_connection *connection = pipe->connection;
    struct stream *writer = connection->ends[pipe->from];
    if (writer != NULL && writer->close_event == NULL && !writer->closed_told) {
        struct sim *sim = connection->sim;
        bool reset = sim_chance(sim, 500);
        uint64_t after_us =
            reset ? sim_between(sim, 1, connection->give_up_us) : connection->give_up_us;
        sim_stream_fail(writer, sim->now_us + after_us, reset ? -ECONNRESET : -ETIMEDOUT,
                        reset ? "connection reset by peer" : "the peer does not answer any more");
    }
}

void sim_pipe_put(struct sim_pipe *pipe, enum sim_chunk_kind kind, const void *data, size_t length)
{
    struct sim_connection *connection = pipe->connection;
    struct sim *sim = connection->sim;
    if (pipe->is_void) {
        learn_of_void(pipe);
        return;
    }
    if (connection->gone[other_side(pipe->from)] || pipe->ended) {
        return; /* its reader closed; the news are on their way */
    }
    pipe->ended = kind != SIM_DATA;
    struct sim_chunk *last = pipe->last;
    if (last != NULL && kind == SIM_DATA && last->kind == SIM_DATA &&
        last->sent_us == sim->now_us) {
        last->data = sim_realloc(last->data, last->length + length);
        memcpy(last->data + last->length, data, length);
        last->length += length;
        pipe->bytes += length;
        return;
    }
    struct sim_chunk *chunk = sim_alloc(sizeof(*chunk));
    chunk->kind = kind;
    chunk->sent_us = sim->now_us;
    chunk->at_us = sim->now_us + length / 100 +
                   sim_latency_us(sim, connection->hosts[0], connection->hosts[1]);
    if (chunk->at_us <= pipe->last_at_us) {
        chunk->at_us = pipe->last_at_us + 1;
    }
    pipe->last_at_us = chunk->at_us;
    if (connection->hosts[0] != connection->hosts[1]) {
        chunk->order =
            ++sim_link_between(sim, connection->hosts[0], connection->hosts[1])->sent_count;
    }
    if (length > 0) {
        chunk->data = sim_alloc(length);
        memcpy(chunk->data, data, length);
        chunk->length = length;
        pipe->bytes += length;
    }
    if (last != NULL) {
        last->next = chunk;
    } else {
        pipe->first = chunk;
    }
    pipe->last = chunk;
    sim_pipe_schedule(pipe);
}

static void count_delivery(struct sim_connection *connection, const struct sim_chunk *chunk)
{
    struct sim *sim = connection->sim;
    sim_count(sim, SIM_COUNT_MESSAGES);
    if (chunk->order > 0) {
        struct sim_cut_link *link =
            sim_link_between(sim, connection->hosts[0], connection->hosts[1]);
        if (chunk->order < link->delivered_max) {
            sim_count(sim, SIM_COUNT_REORDERED);
        } else {
            link->delivered_max = chunk->order;
        }
    }
}

static void input_append(struct stream *stream, const unsigned char *data, size_t length)
{
    if (stream->input_used > 0) {
        stream->input_length -= stream->input_used;
        memmove(stream->input, stream->input + stream->input_used, stream->input_length);
        stream->input_used = 0;
    }
    if (stream->input_length + length > stream->input_capacity) {
        stream->input_capacity = (stream->input_length + length) * 2;
        stream->input = sim_realloc(stream->input, stream->input_capacity);
    }
    memcpy(stream->input + stream->input_length, data, length);
    stream->input_length += length;
}

static void run_drained(void *arg)
{
    struct stream *stream = arg;
    stream->events.drained(stream->arg);
}

static void writer_drained(void *arg)
{
    struct stream *stream = arg;
    stream->drain_event = NULL;
    (void)sim_enter(stream->process, run_drained, stream);
}

static void check_drained(struct sim_pipe *pipe)
{
    struct stream *writer = pipe->connection->ends[pipe->from];
    if (writer != NULL && writer->above && sim_pipe_pending(pipe) < STREAM_DRAINED) {
        writer->above = false;
        if (writer->events.drained != NULL && writer->drain_event == NULL && !writer->ended) {
            struct sim *sim = pipe->connection->sim;
            writer->drain_event =
                sim_at_process(writer->process, sim->now_us + sim_between(sim, 1, 100),
                               writer_drained, writer);
        }
    }
}

static void run_readable(void *arg)
{
    struct stream *stream = arg;
    stream->events.readable(stream->arg);
}

/* Returns whether nothing gets through now; it will later, or never. */
static bool held_up(struct sim_pipe *pipe)
{
    struct sim_connection *connection = pipe->connection;
    struct sim *sim = connection->sim;
    uint64_t silent_until_us = sim_silent_until(connection);
    struct sim_chunk *chunk = pipe->first;
    if (silent_until_us == 0) {
        return false;
    }
    struct stream *writer = connection->ends[pipe->from];
    if (silent_until_us - chunk->sent_us > connection->give_up_us) {
        uint64_t at_us = chunk->sent_us + connection->give_up_us;
        sim_pipe_clear(pipe);
        pipe->is_void = true;
        connection->pipes[other_side(pipe->from)].is_void = true;
        if (writer != NULL && writer->close_event == NULL && !writer->closed_told) {
            sim_stream_fail(writer, at_us > sim->now_us ? at_us : sim->now_us, -ETIMEDOUT,
                            "the peer does not answer any more");
        }
        return true;
    }
    chunk->at_us = silent_until_us +
                   sim_between(sim, 1000, 2 * SIM_S); /* the retransmission that gets through */
    if (pipe->last_at_us < chunk->at_us) {
        pipe->last_at_us = chunk->at_us;
    }
    sim_pipe_schedule(pipe);
    return true;
}

static void deliver_chunk(void *arg)
{
    struct sim_pipe *pipe = arg;
    struct sim_connection *connection = pipe->connection;
    struct sim *sim = connection->sim;
    struct stream *reader = connection->ends[other_side(pipe->from)];
    pipe->event = NULL;
    CHECK(reader != NULL && reader->opened && pipe->first != NULL);
    if (held_up(pipe)) {
        return;
    }
    struct sim_chunk *chunk = pipe->first;
    count_delivery(connection, chunk);
    if (chunk->kind != SIM_DATA) {
        bool reset = chunk->kind == SIM_RST;
        sim_pipe_clear(pipe);
        sim_stream_fail(reader, sim->now_us, reset ? -ECONNRESET : 0,
                        reset ? "connection reset by peer" : "closed by the peer");
        return;
    }
    size_t length = chunk->length - chunk->used;
    if (length > 1 && sim_chance(sim, SPLIT)) {
        length = (size_t)sim_between(sim, 1, length - 1);
        sim_count(sim, SIM_COUNT_SPLIT);
    }
    input_append(reader, chunk->data + chunk->used, length);
    chunk->used += length;
    pipe->bytes -= length;
    if (chunk->used < chunk->length) {
        chunk->at_us =
            sim->now_us + sim_latency_us(sim, connection->hosts[0], connection->hosts[1]);
        if (pipe->last_at_us < chunk->at_us) {
            pipe->last_at_us = chunk->at_us;
        }
    } else {
        pipe->first = chunk->next;
        pipe->last = pipe->first != NULL ? pipe->last : NULL;
        chunk_free(chunk);
    }
    check_drained(pipe);
    sim_pipe_schedule(pipe);
    (void)sim_enter(reader->process, run_readable, reader);
}

void sim_pipe_schedule(struct sim_pipe *pipe)
{
    struct sim_connection *connection = pipe->connection;
    struct stream *reader = connection->ends[other_side(pipe->from)];
    if (pipe->first == NULL || pipe->event != NULL || reader == NULL || !reader->opened ||
        reader->ended || reader->paused ||
        reader->input_length - reader->input_used > STREAM_INPUT_MAX) {
        return;
    }
    uint64_t now_us = connection->sim->now_us;
    uint64_t at_us = pipe->first->at_us > now_us ? pipe->first->at_us : now_us + 1;
    pipe->event = sim_at_process(reader->process, at_us, deliver_chunk, pipe);
}

/* ---- connections ----------------------------------------------------------------------------- */

void sim_connection_release(struct sim_connection *connection)
{
    if (connection->ends[0] != NULL || connection->ends[1] != NULL ||
        connection->incoming != NULL) {
        return;
    }
    sim_pipe_clear(&connection->pipes[0]);
    sim_pipe_clear(&connection->pipes[1]);
    sim_cancel(connection->event);
    sim_list_remove(&connection->link);
    sim_free(connection->route);
    sim_free(connection->target);
    sim_free(connection);
}

/* The machine is gone without notice: data that its connections have on the way may still
 * arrive. */
static void vanish_end(struct sim_connection *connection, enum sim_side side)
{
    struct sim_pipe *from_dead = &connection->pipes[side],
                    *to_dead = &connection->pipes[other_side(side)];
    connection->gone[side] = true;
    from_dead->ended = true;
    bool unsent = to_dead->first != NULL;
    sim_pipe_clear(to_dead);
    to_dead->is_void = true;
    if (unsent) {
        learn_of_void(to_dead);
    }
}

void sim_net_drop_host(struct sim_host *host)
{
    struct sim *sim = host->sim;
    for (struct sim_link *at = sim->connections.next, *next; at != &sim->connections; at = next) {
        struct sim_connection *connection = at->item;
        next = at->next;
        bool client = connection->hosts[SIM_CLIENT] == host;
        bool server = connection->hosts[SIM_SERVER] == host;
        if (client == server) {
            continue; /* local, dies with its processes; or another's */
        }
        enum sim_side side = client ? SIM_CLIENT : SIM_SERVER;
        struct stream *dead = connection->ends[side];
        vanish_end(connection, side);
        if (server && connection->incoming != NULL) {
            struct incoming *incoming = connection->incoming;
            bool last = connection->ends[SIM_CLIENT] == NULL;
            connection->incoming = NULL;
            sim_incoming_vanish(incoming);
            if (last) {
                continue; /* the connection went with it */
            }
        }
        if (dead != NULL) {
            sim_stream_vanish(dead); /* may free the connection */
        } else {
            sim_connection_release(connection);
        }
    }
}

void sim_net_destroy(struct sim *sim)
{
    struct sim_connection *connection;
    while ((connection = sim_list_first(&sim->connections)) != NULL) {
        CHECK(connection->ends[0] == NULL && connection->ends[1] == NULL);
        sim_connection_release(connection);
    }
}

/* ---- cuts ------------------------------------------------------------------------------------ */

static void reset_connection(struct sim_connection *connection)
{
    struct sim *sim = connection->sim;
    sim_count(sim, SIM_COUNT_RESETS);
    for (unsigned side = 0; side < 2; side++) {
        struct stream *stream = connection->ends[side];
        connection->pipes[side].is_void = true;
        connection->pipes[side].ended = true;
        if (sim_chance(sim, 500)) {
            sim_pipe_clear(&connection->pipes[side]); /* else it still arrives */
        }
        if (stream != NULL && stream->close_event == NULL && !stream->closed_told) {
            uint64_t at_us = sim->now_us + sim_between(sim, 1, RESET_LEARN_MAX_S * SIM_S);
            sim_stream_fail(stream, at_us, -ECONNRESET, "connection reset by peer");
        }
    }
}

void sim_link_cut(struct sim *sim, struct sim_host *a, struct sim_host *b, uint64_t for_us,
                  enum sim_cut how)
{
    struct sim_cut_link *link = sim_link_between(sim, a, b);
    sim_count(sim, SIM_COUNT_LINK_CUTS);
    sim_trace(sim, NULL, "link %s - %s cut for %.3f s (%s)", a->name, b->name, (double)for_us / 1e6,
              how == SIM_CUT_RESET ? "reset" : "silent");
    link->cut_until_us = sim->now_us + for_us;
    sim_accident_until(sim, link->cut_until_us);
    link->how = how;
    if (how != SIM_CUT_RESET) {
        return;
    }
    for (struct sim_link *at = sim->connections.next, *next; at != &sim->connections; at = next) {
        struct sim_connection *connection = at->item;
        next = at->next;
        if ((connection->hosts[0] == a && connection->hosts[1] == b) ||
            (connection->hosts[0] == b && connection->hosts[1] == a)) {
            reset_connection(connection);
        }
    }
}

void sim_link_slow(struct sim *sim, struct sim_host *a, struct sim_host *b, uint64_t max_us,
                   uint64_t for_us)
{
    struct sim_cut_link *link = sim_link_between(sim, a, b);
    sim_trace(sim, NULL, "link %s - %s slow, up to %.3f s, for %.3f s", a->name, b->name,
              (double)max_us / 1e6, (double)for_us / 1e6);
    link->slow_until_us = sim->now_us + for_us;
    link->slow_max_us = max_us > LAN_MAX_US ? max_us : LAN_MAX_US;
}
