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
struct tls_sockets; /* buffers that the connections of a loop share (stream_socket_tls.h) */
struct tls_identity;

/* Makes the TLS object of a client; trust says which server certificate is accepted.  Returns 0;
 * -EINVAL: malformed pin, CA without a role, or malformed CA file; -ENOENT: no CA file. */
int tls_client_create(struct loop *loop, const struct stream_trust *trust, struct tls **ret,
                      struct err *err);
struct tls *tls_server_create(const struct tls_identity *identity);
/* Makes the TLS object use the socket fd, once, before the handshake.  The descriptor still belongs
 * to the caller. sockets: the buffers that all connections of the loop share. */
void tls_attach(struct tls *tls, struct tls_sockets *sockets, int fd);
/* Limits how many bytes received from the kernel and not yet read by tls_read() are kept in memory,
 * to about `bytes`. */
void tls_set_read_max(struct tls *tls, size_t bytes);
/* Says that nothing is to be read from the connected socket until the next tls_turn_over(). */
void tls_no_input(struct tls *tls);
/* Ends this connection's use of the buffers that all connections of the loop share.  The caller
 * must call this after its tls_read() and tls_handshake() of this connection, before those of
 * another one. */
void tls_turn_over(struct tls *tls);
void tls_destroy(struct tls *tls); /* NULL is allowed */

/* Does the next part of the handshake.  Returns 0 when the handshake is done; or a negative
 * errno with the reason in err, without the peer's name.  For tls_handshake(), tls_read(),
 * tls_write() and tls_say_bye(), -EAGAIN means: call again when the socket is ready for *want
 * (LOOP_READ or LOOP_WRITE). */
int tls_handshake(struct tls *tls, unsigned *want, struct err *err);
/* Returns whether this end, a server, has taken the client's first message. */
bool tls_has_begun(const struct tls *tls);
/* Reads data.  Returns the number of bytes, > 0; 0: the peer closed the connection normally; or a
 * negative errno, -EAGAIN as described at tls_handshake().  Data that the
 * peer sent may still be read after tls_write() has failed. */
ssize_t tls_read(struct tls *tls, void *data, size_t room, unsigned *want, struct err *err);
/* To be called after a tls_read(): returns whether it is worth to call tls_read() again at once.
 * False: there is nothing more to read until tls_turn_over() has been called. */
bool tls_may_have_more(const struct tls *tls);
/* Writes data.  Returns the number of bytes taken, > 0, some of which may wait in a buffer until
 * tls_flush() sends them; or a negative errno, -EAGAIN as described at tls_handshake().  After
 * -EAGAIN call tls_write() again with the same bytes, or more. */
ssize_t tls_write(struct tls *tls, const void *data, size_t length, unsigned *want,
                  struct err *err);
/* Gives the kernel the bytes that tls_write() has buffered.  The caller must call this after its
 * last tls_write() of one pass of the event loop.  Returns 0: the kernel took all; -EAGAIN: it did
 * not, call again when the socket can be written to; or another negative errno: the connection
 * failed. */
int tls_flush(struct tls *tls);
size_t tls_pending(const struct tls *tls); /* returns how many bytes tls_flush() has not sent yet */
/* Writes the channel binding of the connection to ret: `length` bytes, at most 64, as RFC 9266
 * (tls-exporter) defines them.  Returns false before the handshake is done. */
bool tls_binding(const struct tls *tls, void *ret, size_t length);
/* Sends TLS's closing alert.  Returns 0; -EAGAIN: call again when the socket is ready for *want
 * (LOOP_READ or LOOP_WRITE); or another negative errno: the connection failed, which callers may
 * ignore. */
int tls_say_bye(struct tls *tls, unsigned *want);

#endif
