/* sim/net_sim.h - connections and the data on them, shared by stream_sim.c and net_sim.c.
 *
 * A connection is two pipes of chunks (parts of the data that were written), one pipe in each
 * direction.  Chunks of one pipe arrive in order, each not before its own time.  Different
 * connections are independent, so messages can overtake each other between them.  An end that
 * closes sends FIN (or RST) as the last chunk.  A pipe whose far end vanished without notice (power
 * cut, or a link that stayed cut) is void: written data vanishes, and the writer gets an error
 * after a while.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_NET_SIM_H
#define SIM_NET_SIM_H

#include "sim/sim_private.h"

/* most bytes of the URI in a certificate, with the terminating zero */
#define SIM_URI_SIZE 256

enum sim_side { SIM_CLIENT, SIM_SERVER };
enum sim_chunk_kind { SIM_DATA, SIM_FIN, SIM_RST };

struct sim_chunk {
    struct sim_chunk *next;
    enum sim_chunk_kind kind;
    uint64_t at_us, sent_us, order;
    size_t length, used;
    unsigned char *data;
};

struct sim_connection;
struct sim_pipe {
    struct sim_connection *connection;
    enum sim_side from;
    struct sim_chunk *first, *last;
    size_t bytes;
    /* event that delivers the first chunk; belongs to the receiving process */
    struct sim_event *event;
    uint64_t last_at_us;
    bool is_void, ended;
};

struct sim_connection {
    struct sim_link link;
    struct sim *sim;
    uint64_t serial;
    struct sim_host *hosts[2];
    char *route;
    bool is_unix;
    struct stream *ends[2]; /* the two ends (enum sim_side); NULL: not accepted yet, or gone */
    bool gone[2];           /* whether each end is closed or has vanished */
    struct incoming *incoming;
    struct sim_event *event;  /* event that establishes the connection */
    struct sim_pipe pipes[2]; /* index: the sending side (enum sim_side) */
    uint64_t give_up_us;
    char server_pin[STREAM_PIN_SIZE], server_issuer[128], server_uri[SIM_URI_SIZE];
    uid_t client_uid;
    pid_t client_pid;
    char *target; /* the address that the client dialled */
};

struct stream {
    struct sim_link link; /* connects the stream with the list of streams of its process */
    struct sim_process *process;
    struct sim_connection *connection;
    enum sim_side side;
    struct stream_events events;
    void *arg;
    bool opened, ended, paused, above;
    /* what a client requires of the certificate of the server */
    char *ca_issuer, *role, *name, *pin;
    char *peer;
    unsigned char *input;
    size_t input_length, input_capacity, input_used;
    struct sim_event *open_event, *close_event, *drain_event, *deadline_event, *unread_event;
    int close_code;
    char *close_why;
    bool closed_told;
};

struct incoming {
    struct sim_link link; /* connects this with the list of incoming connections of the process */
    struct sim_process *process;
    /* listener whose callback must still be called; NULL: the callback was called */
    struct listener *listener;
    struct sim_connection *connection;
    struct sim_event *event;
    char *peer;
};

struct tls_identity {
    char name[128], issuer[128], uri[SIM_URI_SIZE], pin[STREAM_PIN_SIZE];
};

/* Checks that the server is the one that the client requires (sim/tls_sim.c).  Returns 0; or, with
 * the reason in err, -EKEYREJECTED (another server) or -EINVAL (its certificate has no valid URI).
 */
int sim_tls_judge(const struct stream *client, const struct sim_connection *connection,
                  struct err *err);

struct listener {
    struct sim_link link, host_link;
    struct sim_process *process;
    char *address;
    char *path;    /* path of the socket, for addresses that begin with unix: or pass: */
    uint16_t port; /* TCP port, for addresses that begin with tcp: */
    bool is_pass;
    listener_f call;
    void *arg;
    uint64_t accepted;
};

/* ---- net_sim.c: the simulated wire between two hosts ---- */

/* Returns the time that a message needs from host a to host b, chosen at random for each call. */
uint64_t sim_latency_us(struct sim *sim, struct sim_host *a, struct sim_host *b);
/* Returns the virtual time until which nothing gets through between the two hosts of the
 * connection; 0: data gets through. */
uint64_t sim_silent_until(struct sim_connection *connection);
void sim_pipe_put(struct sim_pipe *pipe, enum sim_chunk_kind kind, const void *data, size_t length);
/* schedules the event that delivers the pipe's first chunk, if the pipe has one */
void sim_pipe_schedule(struct sim_pipe *pipe);
void sim_pipe_clear(struct sim_pipe *pipe);
size_t sim_pipe_pending(const struct sim_pipe *pipe);
/* Frees the connection if both ends are gone; otherwise does nothing. */
void sim_connection_release(struct sim_connection *connection);

/* ---- stream_sim.c ---- */

/* Makes the simulator call the stream's closed(code, why) at time at_us; code is -errno, why a text
 * for people.  Data that is still on its way to this stream is dropped. */
void sim_stream_fail(struct stream *stream, uint64_t at_us, int code, const char *why);
void sim_stream_vanish(struct stream *stream); /* frees the stream without notice to the far end */
void sim_incoming_vanish(struct incoming *incoming);

#endif
