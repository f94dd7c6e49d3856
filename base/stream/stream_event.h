/* base/stream/stream_event.h - what stream_event.c, stream_listen_event.c and
 * stream_address_event.c share.
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

enum stream_kind { STREAM_TCP, STREAM_UNIX, STREAM_PASS };

#define STREAM_HOST_MAX 256

struct stream_address {
    enum stream_kind kind;
    char host[STREAM_HOST_MAX]; /* tcp: without brackets */
    char port[6];               /* tcp */
    const char *path;           /* unix, pass: points into the text that was parsed */
};

int stream_address_parse(const char *text, struct stream_address *ret, struct err *err);

/* The socket address of a path.  One that is longer than the kernel's 107 bytes is reached through
 * its directory, which is then open as *directory_fd (else -1) until the caller has used the
 * address and closes it.  -ENAMETOOLONG for a last part that is too long by itself. */
int stream_unix_address(const char *path, struct sockaddr_un *ret, socklen_t *length,
                        int *directory_fd, struct err *err);

#define STREAM_PEER_MAX 512

struct stream_credentials {
    bool known;
    uid_t uid;
    pid_t pid;
};

/* "tcp:192.0.2.7:40112" of the peer of a TCP socket. */
void stream_peer_of_tcp(int fd, char ret[STREAM_PEER_MAX]);
void stream_tune_tcp(int fd); /* TCP_NODELAY, keepalive */
/* "unix:PATH (uid 1000)"; path NULL: the socket's own. */
void stream_peer_of_unix(int fd, const char *path, char ret[STREAM_PEER_MAX],
                         struct stream_credentials *credentials);
/* "tcp:0.0.0.0:9618" of our end. */
void stream_own_tcp(int fd, char ret[STREAM_PEER_MAX]);

/* ---- the preface ----------------------------------------------------------------------------- */

#define STREAM_PREFACE_WORD "ROOST/1 "
/* word, route, newline */
#define STREAM_PREFACE_MAX (sizeof(STREAM_PREFACE_WORD) - 1 + STREAM_ROUTE_MAX + 1)

bool stream_route_is_good(const char *route);
/* All that may be said against the arguments of stream_connect(); -EINVAL. */
int stream_connect_check(const char *address, const char *route, const struct stream_trust *trust,
                         struct stream_address *parsed, struct err *err);
/* line[0..length) without the newline; the route is copied out.  False: not a preface. */
bool stream_preface_parse(const char *line, size_t length, char route[STREAM_ROUTE_MAX + 1]);

/* ---- connecting (stream_connect_event.c) ----------------------------------------------------- */

struct connector;

/* fd >= 0: connected, and the callee's; else code says why not, and reason in words. */
typedef void (*connector_f)(void *arg, int fd, int code, const char *reason);

/* Resolves the name, tries its addresses one after the other, for STREAM_HANDSHAKE_MS in all.  The
 * call comes later, once; or this returns -errno and no call comes. */
int connector_start(struct loop *loop, const struct stream_address *address, connector_f call,
                    void *arg, struct connector **ret, struct err *err);
/* Also after the call, and in it; NULL is allowed. */
void connector_destroy(struct connector *connector);

struct resolver;
struct resolver *resolver_create(struct loop *loop);
void resolver_destroy(struct resolver *resolver); /* NULL is allowed; waits for what is under way */

/* ---- streams (stream_event.c) ---------------------------------------------------------------- */

struct resolver *stream_resolver(struct loop *loop); /* made at the first use, kept with the loop */

struct strangers *stream_strangers_of(struct loop *loop); /* likewise */

/* A stream on an accepted connection, whose descriptor and place among the strangers it takes over.
 */
struct stream *stream_adopt(struct loop *loop, int fd, struct stranger *stranger, const char *peer,
                            const struct stream_credentials *credentials,
                            const struct tls_identity *identity, const struct stream_events *events,
                            void *arg);

#endif
