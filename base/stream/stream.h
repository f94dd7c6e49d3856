/* base/stream/stream.h - byte streams: TLS 1.3 over TCP, or plain over Unix sockets.
 *
 * Each connection begins with a preface, one line of clear text, "ROOST/1 <route>\n".  The route
 * names what the client wants to reach at that address, and contains nothing secret.  Then follow
 * TLS (TCP) or the bytes themselves (Unix socket).  A listener reads exactly the preface: so the
 * owner of the port can pass the connection, still before TLS, to another process (schedd to
 * shadow) through a "pass" address.
 *
 * Addresses are text: "tcp:HOST:PORT" ("tcp:[::1]:9618" for IPv6, "tcp:*:9618" to listen on all),
 * "unix:/path/socket", and "pass:/path/socket" for a Unix socket on which a process receives
 * connections that another process accepted and passes on.  A route is 1 to STREAM_ROUTE_MAX
 * printable ASCII characters without blanks.
 *
 * Two bodies: stream_event.c with stream_tls.c (sockets, OpenSSL), and the simulator's network,
 * which delays, cuts and reorders connections above TLS, and treats certificates as names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_STREAM_STREAM_H
#define BASE_STREAM_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct incoming;
struct listener;
struct loop;
struct os;
struct stream;
struct tls_identity;

#define STREAM_ROUTE_MAX 200 /* most bytes of a route, without the terminating zero */
/* milliseconds in which a client must have sent its preface, else it is dropped */
#define STREAM_PREFACE_MS 5000
/* most milliseconds for connecting, and again for the TLS handshake */
#define STREAM_HANDSHAKE_MS 15000
/* most milliseconds for which a server can make a client wait longer than that, by saying again and
 * again that many others came earlier */
#define STREAM_WAIT_MS 60000
/* Most bytes received and not yet dropped by stream_consume(); at this limit reading from the peer
 * pauses.  A frame of WIRE_FRAME_MAX bytes fits. */
#define STREAM_INPUT_MAX ((size_t)17 << 20)
/* Most bytes queued for sending; stream_write() refuses more. */
#define STREAM_OUTPUT_MAX ((size_t)256 << 20)
/* bytes; when fewer are queued for sending, the callback `drained` is called */
#define STREAM_DRAINED       ((size_t)64 << 10)
#define STREAM_FINISH_MS     5000 /* most milliseconds for which stream_finish() tries to send */
#define STREAM_PIN_SIZE      65   /* a pin: SHA-256 of a certificate in hex, with the zero */
#define STREAM_BINDING_BYTES 32   /* number of bytes that stream_binding() gives */

/* ---- identities: what a server shows --------------------------------------------------------- */

/* Loads certificate and key from PEM files.  Returns 0; -EACCES: others than the owner of the
 * key file can read it; or another -errno. */
int tls_identity_load(struct os *os, const char *cert_path, const char *key_path,
                      struct tls_identity **ret, struct err *err);
/* Makes a new P-256 key with a self-signed certificate with the common name `name`, kept in memory
 * only.  For the shadow, whose clients get its pin.  Returns 0 or -errno. */
int tls_identity_ephemeral(struct loop *loop, const char *name, struct tls_identity **ret,
                           struct err *err);
/* Writes certificate and key into one file that only its owner can read; tls_identity_load() reads
 * the file back when given its path twice.  For a shadow: when it is started again it must show the
 * certificate that its starters know.  Returns 0 or -errno. */
int tls_identity_save(struct os *os, const struct tls_identity *identity, const char *path,
                      struct err *err);
void tls_identity_destroy(struct tls_identity *identity);
/* Returns the pin of the identity's certificate: its SHA-256 in hex.  The text belongs to the
 * identity. */
const char *tls_identity_pin(const struct tls_identity *identity);
/* Checks that the identity's certificate names this role and this name (NULL: any;
 * base/server_role.h).  A server calls this before it listens, because its clients check the
 * same.  Returns 0; or -EKEYREJECTED, with err saying what to do. */
int tls_identity_judge(const struct tls_identity *identity, const char *role, const char *name,
                       struct err *err);

/* ---- streams --------------------------------------------------------------------------------- */

/* Callbacks of a stream.  They are called from the loop, never inside a call of the owner. */
struct stream_events {
    /* called when the connection is made and TLS is set up; stream_write() may be called earlier */
    void (*opened)(void *arg);
    /* Called when stream_input() has more bytes than at the last call of this callback. */
    void (*readable)(void *arg);
    /* Called when fewer than STREAM_DRAINED bytes are queued, after more were queued; may be
     * NULL. */
    void (*drained)(void *arg);
    /* The last call for this stream; the owner must still free it with stream_close().  All
     * received bytes are in stream_input() and were announced by readable. code 0: the peer closed
     * the connection normally.  Else a negative errno, and why is one line that names the peer:
     * -ECONNREFUSED (nobody listens at the address); -ETIMEDOUT (no answer in time); -EKEYREJECTED
     * (not the certificate that the client requires); -EPROTO (malformed TLS); -ECONNRESET (cut:
     * TCP ended without TLS's closing alert). */
    void (*closed)(void *arg, int code, const char *why);
};

/* What a client requires of the server's certificate.  If ca_file and role are set, the
 * certificate must be signed by that CA (dates are not checked, see docs/protocol/wire.md) and
 * contain that role and, unless NULL, that name (base/server_role.h).  If pin is set, the
 * certificate must have that SHA-256.  A "tcp:" address needs either a CA or a pin, not both; a
 * "unix:" address needs neither. */
struct stream_trust {
    const char *ca_file;
    const char *role; /* "collector" or "schedd" (SERVER_ROLE_*) */
    const char *name; /* name of the server; NULL: any */
    const char *pin;
};

/* Starts to connect; the callback opened or closed tells the result.  Returns 0; or, without any
 * callback, -EINVAL (malformed address or route) or another -errno. */
int stream_connect(struct loop *loop, const char *address, const char *route,
                   const struct stream_trust *trust, const struct stream_events *events, void *arg,
                   struct stream **ret, struct err *err);
/* Closes the connection at once and drops output that was not sent; no callback follows.
 * Allowed in any callback; NULL is allowed.  The peer sees a normal end only if nothing was
 * queued. */
void stream_close(struct stream *stream);
/* Sends what is queued, for at most STREAM_FINISH_MS, and closes normally.  No callback follows,
 * and the caller must not use the stream any more. */
void stream_finish(struct stream *stream);

/* Returns the bytes that were received and not yet dropped by stream_consume(), as one block of
 * *length bytes. */
const void *stream_input(const struct stream *stream, size_t *length);
/* drops the first `length` bytes of stream_input() */
void stream_consume(struct stream *stream, size_t length);
/* Sets how many received bytes may wait to be consumed; at this limit reading from the peer
 * pauses.  The default, STREAM_INPUT_MAX, is also the largest value.  The stream's input buffer
 * adapts to the limit. */
void stream_set_input_max(struct stream *stream, size_t bytes);
/* paused true: the stream stops reading from the peer and calling readable.  paused false: the
 * stream continues, and calls readable if there are bytes. */
void stream_pause(struct stream *stream, bool paused);
/* Queues a copy of data for sending.  Returns 0; -EPIPE: the connection has ended; -ENOBUFS: more
 * than STREAM_OUTPUT_MAX bytes would be queued, or memory ran out (then the connection ends). */
int stream_write(struct stream *stream, const void *data, size_t length);
/* Returns how many queued bytes the kernel has not taken yet. */
size_t stream_pending(const struct stream *stream);

/* Returns whether the server that a stream connects to has said that the connection waits in a
 * line, so that the handshake may take up to STREAM_WAIT_MS.  The stream ends itself after that. */
bool stream_must_wait(const struct stream *stream);
/* Returns a text for messages, the address of the peer: "tcp:192.0.2.7:40112" or "unix:/run/x (uid
 * 1000)".  The text belongs to the stream. */
const char *stream_peer(const struct stream *stream);
/* Gives bytes that only the two ends of this connection know: the TLS exporter of RFC 9266
 * (tls-exporter).  A signature over them is worthless on any other connection.  False, with ret
 * untouched: a Unix socket, or TLS is not set up yet. */
bool stream_binding(const struct stream *stream, uint8_t ret[STREAM_BINDING_BYTES]);
/* Gives the user and process of the peer of a Unix socket.  Returns false for other connections. */
bool stream_peer_uid(const struct stream *stream, uid_t *uid, pid_t *pid);

/* ---- strangers ------------------------------------------------------------------------------- */

/* Says that the peer has proved who it is.
 *
 * Until then an accepted connection is a "stranger", whatever it is doing (preface, TLS, the
 * owner's greeting).  A process has at most STRANGERS_MAX of these; when one more comes, the oldest
 * of the busiest address is closed (its callback `closed` gets -EBUSY), see
 * base/stream/strangers.h.  Not in the simulator.  Does nothing for connections that
 * stream_connect() opened. */
void stream_known(struct stream *stream);

struct stream_strangers {
    uint32_t now;
    /* number of strangers closed to make room for others, since the process started */
    uint64_t sent_away;
    char last_host[64]; /* address of the stranger sent away last; "": none */
};
void stream_get_strangers(struct loop *loop, struct stream_strangers *ret);
/* Sets how many strangers this process may have, instead of STRANGERS_MAX. */
void stream_set_strangers_max(struct loop *loop, uint32_t max);

/* ---- listeners ------------------------------------------------------------------------------- */

/* Called for each connection whose preface has been read.  The callback owns `incoming` from
 * then on. */
typedef void (*listener_f)(void *arg, struct incoming *incoming);

/* Listens on an address and calls call(arg, incoming) for each connection whose preface has been
 * read; port 0 takes a free port.  A "unix:" socket gets mode 0666, because only the peer's uid
 * counts; its directory must exist; a socket file on which nobody listens is replaced. "pass:"
 * receives connections that another process, of the same user or root, passes on with
 * incoming_pass().  Returns 0 or -errno. */
int listener_create(struct loop *loop, const char *address, listener_f call, void *arg,
                    struct listener **ret, struct err *err);
void listener_destroy(struct listener *listener); /* NULL is allowed */
/* returns the address that the listener listens on, with the actual port */
const char *listener_address(const struct listener *listener);

struct listener_stats {
    uint64_t accepted; /* number of connections that sent a preface */
    /* number of connections dropped: the preface was too slow, incomplete or malformed; another
     * user than root or this one passed the connection on; or it was closed to make room for
     * another stranger */
    uint64_t dropped;
    uint64_t exhausted;  /* how often accepting stopped because descriptors or memory ran out */
    uint32_t unfinished; /* number of open connections whose preface is not complete now */
};
void listener_get_stats(const struct listener *listener, struct listener_stats *ret);

/* Returns the route that the client sent; the text belongs to `incoming`. struct incoming is a
 * connection whose preface has been read: exactly one of incoming_accept(), incoming_pass() and
 * incoming_refuse() must be called for it, in the callback listener_f or later. */
const char *incoming_route(const struct incoming *incoming);
const char *incoming_peer(const struct incoming *incoming);
/* Makes a stream of the connection. identity: the certificate and key to show; not used for a Unix
 * socket, and may be NULL then.  Returns NULL if the connection was closed to make room for another
 * one. */
struct stream *incoming_accept(struct incoming *incoming, const struct tls_identity *identity,
                               const struct stream_events *events, void *arg);
/* Passes the connection to the listener at pass_address; on failure the connection is closed.
 * Returns 0; -ECONNREFUSED: nobody listens there; -ECONNABORTED: the connection was closed to
 * make room for another one; or another -errno. */
int incoming_pass(struct incoming *incoming, const char *pass_address, struct err *err);
void incoming_refuse(struct incoming *incoming); /* closes the connection */

#endif
