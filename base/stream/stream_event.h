/* base/stream/stream_event.h - what the files of the real streams share: stream_event.c,
 * stream_connect_event.c, stream_listen_event.c, stream_address_event.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_STREAM_STREAM_EVENT_H
#define BASE_STREAM_STREAM_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "base/stream/strangers.h"
#include "base/stream/stream.h"

/* ---- addresses (stream_address_event.c) ------------------------------------------------------ */

/* The kinds of addresses: "tcp:", "unix:", and "pass:" for a Unix socket on which a process
 * receives connections that another process accepted and passes on (listener_create()). */
enum stream_kind { STREAM_TCP, STREAM_UNIX, STREAM_PASS };

#define STREAM_HOST_MAX 256 /* most bytes of a host, with the terminating zero */

struct stream_address {
    enum stream_kind kind;
    char host[STREAM_HOST_MAX]; /* host name or address of a TCP address, without brackets */
    char port[6];               /* port number of a TCP address */
    /* path of a "unix:" or "pass:" address; points into the text that was parsed */
    const char *path;
};

/* Parses an address as base/stream/stream.h describes it.  Returns 0 or -EINVAL. */
int stream_address_parse(const char *text, struct stream_address *ret, struct err *err);

/* Makes the address of the Unix socket at `path`.  The kernel allows 107 bytes; a longer path is
 * reached through its directory: *directory_fd is then a descriptor of the directory, which the
 * caller closes after using the address; else -1.  Returns 0; -ENAMETOOLONG: the last component
 * alone is too long; or another -errno. */
int stream_unix_address(const char *path, struct sockaddr_un *ret, socklen_t *length,
                        int *directory_fd, struct err *err);

#define STREAM_PEER_MAX 512 /* bytes of a text that names a peer, with the zero */

struct stream_credentials { /* user and process of the peer of a Unix socket */
    bool known;
    uid_t uid;
    pid_t pid;
};

/* Writes the address of the peer of the TCP socket fd: "tcp:192.0.2.7:40112". */
void stream_peer_of_tcp(int fd, char ret[STREAM_PEER_MAX]);
void stream_tune_tcp(int fd); /* sets TCP_NODELAY and keepalive on the socket */
/* Writes "unix:PATH (uid 1000)" for the peer of the Unix socket fd, and the peer's user and process
 * into *credentials. path NULL: the socket's own path. */
void stream_peer_of_unix(int fd, const char *path, char ret[STREAM_PEER_MAX],
                         struct stream_credentials *credentials);
/* Writes the local address of the TCP socket fd: "tcp:0.0.0.0:9618". */
void stream_own_tcp(int fd, char ret[STREAM_PEER_MAX]);

/* ---- the preface ----------------------------------------------------------------------------- */

#define STREAM_PREFACE_WORD "ROOST/1 " /* the bytes with which a preface begins */
/* Sent by a server before TLS: the caller is in the line of those who wait (wait_line.h). */
#define STREAM_WAIT_WORD "ROOST/1 wait\n"
/* most bytes of a preface (STREAM_PREFACE_WORD, route, newline), without the terminating zero */
#define STREAM_PREFACE_MAX (sizeof(STREAM_PREFACE_WORD) - 1 + STREAM_ROUTE_MAX + 1)

/* Returns whether a route is valid: 1 to STREAM_ROUTE_MAX printable ASCII characters without
 * blanks. */
bool stream_route_is_good(const char *route);
/* Checks the arguments of stream_connect() and parses the address.  Returns 0 or -EINVAL. */
int stream_connect_check(const char *address, const char *route, const struct stream_trust *trust,
                         struct stream_address *parsed, struct err *err);
/* Reads the route out of line[0..length), a preface without its newline.  Returns false if the line
 * is not a preface. */
bool stream_preface_parse(const char *line, size_t length, char route[STREAM_ROUTE_MAX + 1]);

/* ---- connecting (stream_connect_event.c) ----------------------------------------------------- */

struct connector; /* an attempt to connect to an address */

/* Reports the result of connecting. fd >= 0: a connected socket, which the callee now owns.  Else
 * connecting failed: code is a negative errno and reason its text. */
typedef void (*connector_f)(void *arg, int fd, int code, const char *reason);

/* Resolves the host name and tries its addresses one after another, for STREAM_HANDSHAKE_MS in all.
 * Returns 0: `call` is called once, later; or -errno: connecting failed at once, and `call` is not
 * called. */
int connector_start(struct loop *loop, const struct stream_address *address, connector_f call,
                    void *arg, struct connector **ret, struct err *err);
/* Stops connecting, and frees the connector.  Allowed also in the callback connector_f and after
 * it; NULL is allowed. */
void connector_destroy(struct connector *connector);

struct resolver;
struct resolver *resolver_create(struct loop *loop);
/* frees the resolver of host names; waits for lookups under way; NULL is allowed */
void resolver_destroy(struct resolver *resolver);

/* ---- streams (stream_event.c) ---------------------------------------------------------------- */

/* Returns the resolver of host names that belongs to the loop, and makes it at the first call. */
struct resolver *stream_resolver(struct loop *loop);

struct strangers *stream_strangers_of(struct loop *loop);
/* Returns whether so many TLS handshakes of accepted connections wait for this process that no more
 * are to be accepted now. */
bool stream_is_crowded(struct loop *loop);

/* Makes a stream of an accepted connection.  The stream takes over the descriptor fd, and the place
 * of `stranger` in the table of strangers (base/stream/strangers.h). peer: name of the peer for
 * messages; credentials (copied): user and process of the peer, known only for a Unix socket;
 * identity: the certificate and key to show. */
struct stream *stream_adopt(struct loop *loop, int fd, struct stranger *stranger, const char *peer,
                            const struct stream_credentials *credentials,
                            const struct tls_identity *identity, const struct stream_events *events,
                            void *arg);

#endif
