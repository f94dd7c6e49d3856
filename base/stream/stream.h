/* base/stream/stream.h - byte streams: TLS 1.3 over TCP, plain over Unix sockets.
 *
 * Every connection begins with a cleartext preface of one line, "ROOST/1 <route>\n", that names
 * what the caller wants to reach at that address and nothing secret; then TLS (TCP) or bytes (Unix
 * socket).  A listener reads exactly the preface, so that the owner of the port can hand the
 * connection, still before TLS, to another process (schedd to shadow) through a "pass" address.
 *
 * Addresses are text: "tcp:HOST:PORT" ("tcp:[::1]:9618" for IPv6, "tcp:*:9618" to listen on all),
 * "unix:/path/socket", "pass:/path/socket".  A route is 1 to STREAM_ROUTE_MAX printable ASCII
 * characters without blanks.
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

#define STREAM_ROUTE_MAX    200   /* bytes of a route */
#define STREAM_PREFACE_MS   5000  /* a caller that is slower to say its route is dropped */
#define STREAM_HANDSHAKE_MS 15000 /* TLS handshake; also the time limit of a connect */
/* bytes unread; reading from the peer pauses above it.  A frame of WIRE_FRAME_MAX fits. */
#define STREAM_INPUT_MAX     ((size_t)17 << 20)
#define STREAM_OUTPUT_MAX    ((size_t)256 << 20) /* bytes unsent; more is refused */
#define STREAM_DRAINED       ((size_t)64 << 10)  /* bytes unsent at which drained is called */
#define STREAM_FINISH_MS     5000                /* how long stream_finish() tries */
#define STREAM_PIN_SIZE      65                  /* hex SHA-256 of a certificate, with the zero */
#define STREAM_BINDING_BYTES 32

/* ---- identities: what a server shows --------------------------------------------------------- */

/* Certificate and key from PEM files.  -EACCES when the key file is readable by others than its
 * owner. */
int tls_identity_load(struct os *os, const char *cert_path, const char *key_path,
                      struct tls_identity **ret, struct err *err);
/* A new P-256 key with a self-signed certificate that lives in memory only, unless it is saved: the
 * shadow's. */
int tls_identity_ephemeral(struct loop *loop, const char *name, struct tls_identity **ret,
                           struct err *err);
/* Writes certificate and key into one file that only its owner can read, for tls_identity_load()
 * with that path twice: a shadow that is started again must show what its starters were told. */
int tls_identity_save(struct os *os, const struct tls_identity *identity, const char *path,
                      struct err *err);
void tls_identity_destroy(struct tls_identity *identity);
/* hex SHA-256 of its certificate */
const char *tls_identity_pin(const struct tls_identity *identity);
/* Does its certificate say this role, and this name (NULL: any; base/server_role.h)?  A server asks
 * before it listens, because its clients will.  -EKEYREJECTED: no, with what to do about it. */
int tls_identity_judge(const struct tls_identity *identity, const char *role, const char *name,
                       struct err *err);

/* ---- streams --------------------------------------------------------------------------------- */

struct stream_events {
    void (*opened)(void *arg);   /* connected, TLS done; writing is allowed before, too */
    void (*readable)(void *arg); /* more in stream_input(); called again only when more has come */
    /* output fell below STREAM_DRAINED after having been above; may be NULL */
    void (*drained)(void *arg);
    /* The last call for this stream; it is then freed by stream_close(), which the owner still has
     * to call.  What had come before is in stream_input() and was announced by readable.  code 0:
     * the peer closed in the ordinary way; else a negative errno, with why, one line that names the
     * peer: -ECONNREFUSED, -ETIMEDOUT; -EKEYREJECTED (not the certificate that was insisted on);
     * -EPROTO (broken TLS); -ECONNRESET (cut: TCP ended without TLS's closing alert). */
    void (*closed)(void *arg, int code, const char *why);
};

/* What a client insists on: the server's certificate chains to the CA (dates are not judged: see
 * docs/protocol/wire.md) and says that this is a server of that CA's pool with this role, and of
 * this name (base/server_role.h); or its SHA-256 is the pin.  For tcp exactly one of CA and pin,
 * and never the CA without a role; nothing for unix. */
struct stream_trust {
    const char *ca_file;
    const char *role; /* SERVER_ROLE_* */
    const char *name; /* NULL: any */
    const char *pin;
};

/* Starts to connect; the outcome comes as opened or closed.  Returns -EINVAL for a malformed
 * address or route, -errno when it fails at once; then no callback comes. */
int stream_connect(struct loop *loop, const char *address, const char *route,
                   const struct stream_trust *trust, const struct stream_events *events, void *arg,
                   struct stream **ret, struct err *err);
/* At once, drops unsent output; no callback afterwards; allowed in any callback; NULL is allowed.
 * For the peer it is an ordinary end only when nothing was pending. */
void stream_close(struct stream *stream);
/* Sends what is pending (bounded by STREAM_FINISH_MS), then closes in the ordinary way; no callback
 * afterwards, and the stream is no longer the caller's. */
void stream_finish(struct stream *stream);

const void *stream_input(const struct stream *stream, size_t *length); /* contiguous unread bytes */
void stream_consume(struct stream *stream, size_t length);
/* Reads no more from the peer while so many bytes are unread; at first STREAM_INPUT_MAX, which is
 * also the most.  The stream's memory for input follows it. */
void stream_set_input_max(struct stream *stream, size_t bytes);
/* Paused: reads no more from the peer and calls readable no more.  On going on, readable is called
 * when there are unread bytes. */
void stream_pause(struct stream *stream, bool paused);
/* Queues a copy.  -EPIPE after the end, -ENOBUFS above STREAM_OUTPUT_MAX. */
int stream_write(struct stream *stream, const void *data, size_t length);
size_t stream_pending(const struct stream *stream); /* bytes not yet given to the kernel */

/* "tcp:192.0.2.7:40112", "unix:/run/x (uid 1000)": for messages */
const char *stream_peer(const struct stream *stream);
/* Bytes that only the two ends of this very connection know: the TLS exporter of RFC 9266
 * (tls-exporter).  A signature over them is worth nothing on any other connection.  False, with ret
 * untouched: a Unix socket, or TLS is not done yet. */
bool stream_binding(const struct stream *stream, uint8_t ret[STREAM_BINDING_BYTES]);
/* true on Unix sockets only */
bool stream_peer_uid(const struct stream *stream, uid_t *uid, pid_t *pid);

/* ---- strangers ------------------------------------------------------------------------------- */

/* Connections that were accepted count as strangers, from their first packet on and whatever they
 * are doing (preface, TLS, the owner's greeting), until the owner says that the peer has proved who
 * it is.  A process has at most STRANGERS_MAX of them (base/stream/strangers.h): then the oldest of
 * the busiest address is closed (closed: -EBUSY) when one more comes.  Not in the simulator. */
void stream_known(struct stream *stream); /* no stranger any more; for dialled ones nothing */

struct stream_strangers {
    uint32_t now;
    uint64_t sent_away; /* since the process started */
    char last_host[64]; /* where the last of them came from; "": none */
};
void stream_get_strangers(struct loop *loop, struct stream_strangers *ret);
/* Another limit for this process, in place of STRANGERS_MAX. */
void stream_set_strangers_max(struct loop *loop, uint32_t max);

/* ---- listeners ------------------------------------------------------------------------------- */

typedef void (*listener_f)(void *arg, struct incoming *incoming);

/* Listens; port 0 takes a free one.  "unix:" sockets are created with mode 0666 (the peer's uid is
 * what counts) in a directory that the caller made; a dead socket file is replaced.  "pass:"
 * receives connections that another process of the same user or of root passes on. */
int listener_create(struct loop *loop, const char *address, listener_f call, void *arg,
                    struct listener **ret, struct err *err);
void listener_destroy(struct listener *listener);              /* NULL is allowed */
const char *listener_address(const struct listener *listener); /* with the real port */

struct listener_stats {
    uint64_t accepted;   /* connections that said their route */
    uint64_t dropped;    /* too slow, no preface, passed by a stranger, no room for strangers */
    uint64_t exhausted;  /* times that accepting stopped for want of descriptors or memory */
    uint32_t unfinished; /* connections whose preface is not complete, now */
};
void listener_get_stats(const struct listener *listener, struct listener_stats *ret);

/* An incoming connection whose preface has been read.  Exactly one of the three must be called, in
 * the callback or later. */
const char *incoming_route(const struct incoming *incoming);
const char *incoming_peer(const struct incoming *incoming);
/* The identity is not used, and may be NULL, for a connection that came over a Unix socket.  NULL:
 * the connection is gone; it was the one that had to make room for another stranger. */
struct stream *incoming_accept(struct incoming *incoming, const struct tls_identity *identity,
                               const struct stream_events *events, void *arg);
/* Hands the connection to the listener at pass_address; on failure it is closed.  -ECONNREFUSED
 * when nobody listens there; -ECONNABORTED: it had to make room. */
int incoming_pass(struct incoming *incoming, const char *pass_address, struct err *err);
void incoming_refuse(struct incoming *incoming);

#endif
