/* base/stream/stream_tls.h - TLS 1.3 on a connected socket, for stream_event.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_STREAM_STREAM_TLS_H
#define BASE_STREAM_STREAM_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct err;
struct loop;
struct stream_trust;
struct tls;
struct tls_sockets; /* base/stream/stream_socket_tls.h */
struct tls_identity;

/* 0; -EINVAL: malformed pin, CA without a role, or malformed CA file; -ENOENT: no CA file. */
int tls_client_create(struct loop *loop, const struct stream_trust *trust, struct tls **ret,
                      struct err *err);
struct tls *tls_server_create(const struct tls_identity *identity);
/* Connects the TLS object with a socket, once, before the handshake. fd still belongs to the
 * caller. */
void tls_attach(struct tls *tls, struct tls_sockets *sockets, int fd);
/* Keeps at most about this many bytes that were received and not read. */
void tls_set_read_max(struct tls *tls, size_t bytes);
/* Must be called after the reads and handshakes of a connection's turn, before another
 * connection's. */
void tls_turn_over(struct tls *tls);
void tls_destroy(struct tls *tls); /* NULL is allowed */

/* Does the next part of the handshake.  All calls below return -EAGAIN when the socket must first
 * become ready for *want (LOOP_READ or LOOP_WRITE); another negative errno comes with the reason in
 * err, without the peer's name. */
int tls_handshake(struct tls *tls, unsigned *want, struct err *err);
/* Returns the number of bytes read, > 0; 0: the peer closed the connection normally.  Data that the
 * peer sent may still be read after tls_write() has failed. */
ssize_t tls_read(struct tls *tls, void *data, size_t room, unsigned *want, struct err *err);
/* Called after a read: false if another read in this turn would find nothing. */
bool tls_may_have_more(const struct tls *tls);
/* Returns the number of bytes taken, > 0; tls_flush() sends those that are still here.  After
 * -EAGAIN call it again with the same bytes, or more. */
ssize_t tls_write(struct tls *tls, const void *data, size_t length, unsigned *want,
                  struct err *err);
/* Must be called after the writes of a turn.  0, -EAGAIN, or another negative errno. */
int tls_flush(struct tls *tls);
size_t tls_pending(const struct tls *tls); /* bytes that tls_flush() has not sent yet */
/* Gives the bytes that RFC 9266 binds to (tls-exporter).  False before the handshake is done. */
bool tls_binding(const struct tls *tls, void *ret, size_t length);
/* Sends TLS's closing alert.  0, -EAGAIN, or another errno that does not matter any more. */
int tls_say_bye(struct tls *tls, unsigned *want);

#endif
