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
struct tls_sockets; /* defined in base/stream/stream_socket_tls.h */
struct tls_identity;

/* Makes the TLS object of a client; trust says which server certificate is accepted.  Returns 0;
 * -EINVAL: malformed pin, CA without a role, or malformed CA file; -ENOENT: no CA file. */
int tls_client_create(struct loop *loop, const struct stream_trust *trust, struct tls **ret,
                      struct err *err);
struct tls *tls_server_create(const struct tls_identity *identity);
/* Connects the TLS object with a socket, once, before the handshake. fd still belongs to the
 * caller. */
void tls_attach(struct tls *tls, struct tls_sockets *sockets, int fd);
/* Limits how many received and unread bytes are kept, to about this many. */
void tls_set_read_max(struct tls *tls, size_t bytes);
/* Ends the connection's turn: must be called after its reads and handshakes, before another
 * connection's. */
void tls_turn_over(struct tls *tls);
void tls_destroy(struct tls *tls); /* NULL is allowed */

/* Does the next part of the handshake.  This call and those below return -EAGAIN when the socket
 * must first become ready for *want (LOOP_READ or LOOP_WRITE); another negative errno comes with
 * the reason in err, without the peer's name. */
int tls_handshake(struct tls *tls, unsigned *want, struct err *err);
/* Returns the number of bytes read, > 0; 0: the peer closed the connection normally.  Data that the
 * peer sent may still be read after tls_write() has failed. */
ssize_t tls_read(struct tls *tls, void *data, size_t room, unsigned *want, struct err *err);
/* To be called after a read: returns false if another read in this turn would find nothing. */
bool tls_may_have_more(const struct tls *tls);
/* Returns the number of bytes taken, > 0; some may wait in a buffer until tls_flush() sends them.
 * After -EAGAIN call tls_write() again with the same bytes, or more. */
ssize_t tls_write(struct tls *tls, const void *data, size_t length, unsigned *want,
                  struct err *err);
/* Sends what tls_write() has taken; must be called after the writes of a turn.  Returns 0,
 * -EAGAIN, or another negative errno. */
int tls_flush(struct tls *tls);
size_t tls_pending(const struct tls *tls); /* bytes that tls_flush() has not sent yet */
/* Gives the channel binding of the connection: the bytes of RFC 9266 (tls-exporter).  False
 * before the handshake is done. */
bool tls_binding(const struct tls *tls, void *ret, size_t length);
/* Sends TLS's closing alert.  Returns 0, -EAGAIN, or another negative errno, which callers may
 * ignore. */
int tls_say_bye(struct tls *tls, unsigned *want);

#endif
