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
/* Makes the TLS object use the socket fd, once, before the handshake.  The descriptor still belongs
 * to the caller. */
void tls_attach(struct tls *tls, struct tls_sockets *sockets, int fd);
/* Limits how many received and unread bytes are kept, to about `bytes`. */
void tls_set_read_max(struct tls *tls, size_t bytes);
/* Ends the connection's turn: must be called after its reads and handshakes, before those
 * of another connection. */
void tls_turn_over(struct tls *tls);
void tls_destroy(struct tls *tls); /* NULL is allowed */

/* Does the next part of the handshake.  Returns 0 when the handshake is done; or a negative
 * errno with the reason in err, without the peer's name.  For tls_handshake(), tls_read(),
 * tls_write() and tls_say_bye(), -EAGAIN means: call again when the socket is ready for *want
 * (LOOP_READ or LOOP_WRITE). */
int tls_handshake(struct tls *tls, unsigned *want, struct err *err);
/* Reads data.  Returns the number of bytes, > 0; 0: the peer closed the connection normally; or a
 * negative errno, -EAGAIN as described at tls_handshake().  Data that the
 * peer sent may still be read after tls_write() has failed. */
ssize_t tls_read(struct tls *tls, void *data, size_t room, unsigned *want, struct err *err);
/* To be called after a read: returns false if another read in this turn would find nothing. */
bool tls_may_have_more(const struct tls *tls);
/* Writes data.  Returns the number of bytes taken, > 0, some of which may wait in a buffer until
 * tls_flush() sends them; or a negative errno, -EAGAIN as described at tls_handshake().  After
 * -EAGAIN call tls_write() again with the same bytes, or more. */
ssize_t tls_write(struct tls *tls, const void *data, size_t length, unsigned *want,
                  struct err *err);
/* Sends what tls_write() has taken; must be called after the writes of a turn.  Returns 0,
 * -EAGAIN, or another negative errno. */
int tls_flush(struct tls *tls);
size_t tls_pending(const struct tls *tls); /* returns how many bytes tls_flush() has not sent yet */
/* Gives the channel binding of the connection: the bytes of RFC 9266 (tls-exporter).  Returns
 * false before the handshake is done. */
bool tls_binding(const struct tls *tls, void *ret, size_t length);
/* Sends TLS's closing alert.  Returns 0, -EAGAIN, or another negative errno, which callers may
 * ignore. */
int tls_say_bye(struct tls *tls, unsigned *want);

#endif
