/* base/stream/stream_socket_tls.h - what OpenSSL reads from and writes to: a socket with a large
 * buffer that all connections of a loop share.
 *
 * OpenSSL's own read-ahead asks the kernel for a record of 16 KiB at a time, keeps a buffer in each
 * connection, and asks once more to learn that nothing is left.  Here a turn of a connection takes
 * all there is in one call into the shared buffer; what remains when the turn is over, a piece of a
 * record or what the reader had no more room for, is kept by the connection.  Records that are
 * written are gathered in another one, and go to the kernel together: a send of 16 KiB costs as
 * much as its encryption, and wakes the reader for little.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_STREAM_STREAM_SOCKET_TLS_H
#define BASE_STREAM_STREAM_SOCKET_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include <openssl/bio.h>

struct tls_sockets; /* what the connections of a loop share */
struct tls_socket;

struct tls_sockets *tls_sockets_create(void);
/* After its sockets; NULL is allowed. */
void tls_sockets_destroy(struct tls_sockets *sockets);

/* The BIO owns the struct tls_socket; the descriptor stays the caller's. */
BIO *tls_socket_bio(struct tls_sockets *sockets, int fd, struct tls_socket **ret);

/* What was written goes to the kernel, which it need not have done before.  0; -EAGAIN: it does not
 * take all of it, the rest is kept; or another negative errno. */
int tls_socket_flush(struct tls_socket *socket);
/* Bytes of it that the kernel has not taken. */
size_t tls_socket_pending(const struct tls_socket *socket);

/* While all connections together keep much (1 MiB), this one takes at most so many bytes from the
 * kernel at once: what TLS is not asked for of them stays in the connection's memory.  Otherwise a
 * read takes what there is: a limit of one frame would cost a call to the kernel for each. */
void tls_socket_set_read_max(struct tls_socket *socket, size_t bytes);
/* After a read: false when the next one would find nothing in this turn. */
bool tls_socket_may_have_more(const struct tls_socket *socket);
/* The connection's turn is over: the shared buffer is free for others, and the next read asks the
 * kernel again. */
void tls_socket_turn_over(struct tls_socket *socket);

#endif
