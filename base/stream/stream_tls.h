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

/* -EINVAL for a malformed pin or a CA without a role; -ENOENT, -EINVAL for a bad CA file. */
int tls_client_create(struct loop *loop, const struct stream_trust *trust, struct tls **ret,
                      struct err *err);
struct tls *tls_server_create(const struct tls_identity *identity);
/* Once, before the handshake; fd stays the caller's. */
void tls_attach(struct tls *tls, struct tls_sockets *sockets, int fd);
/* Keeps at most about so many bytes that were received and not read. */
void tls_set_read_max(struct tls *tls, size_t bytes);
/* After the reads and handshakes of a turn of the connection, before anybody else's. */
void tls_turn_over(struct tls *tls);
void tls_destroy(struct tls *tls); /* NULL is allowed */

/* All: -EAGAIN when the socket must first become ready for *want (LOOP_READ or LOOP_WRITE); other
 * negative errno with the reason in err, without the peer's name.  After an error of tls_write the
 * rest of what the peer sent may still be read. */
int tls_handshake(struct tls *tls, unsigned *want, struct err *err);
/* > 0 bytes read; 0: the peer closed in the ordinary way. */
ssize_t tls_read(struct tls *tls, void *data, size_t room, unsigned *want, struct err *err);
/* After a read: false when the next one would find nothing in this turn. */
bool tls_may_have_more(const struct tls *tls);
/* > 0 bytes written: tls_flush() sends what is still here.  A call that gave -EAGAIN is repeated
 * with the same bytes, or more. */
ssize_t tls_write(struct tls *tls, const void *data, size_t length, unsigned *want,
                  struct err *err);
/* After the writes of a turn.  0, -EAGAIN, or another negative errno. */
int tls_flush(struct tls *tls);
size_t tls_pending(const struct tls *tls); /* bytes that wait for that */
/* The keying material that RFC 9266 binds to.  False before the handshake is done. */
bool tls_binding(const struct tls *tls, void *ret, size_t length);
/* Sends the closing alert: 0, -EAGAIN, or an error that does not matter any more. */
int tls_say_bye(struct tls *tls, unsigned *want);

#endif
