/* base/stream/stream_socket_tls.h - lets OpenSSL read and write a socket through large buffers that
 * all connections of a loop share.
 *
 * OpenSSL's own read-ahead asks the kernel for one record of 16 KiB at a time, keeps a buffer in
 * each connection, and asks once more to learn that nothing is left.  Here one system call reads
 * all there is into the shared buffer, each time the event loop lets a connection read.  What
 * remains when another connection is to read (part of a record, or data that the reader had no room
 * for) moves to memory of the connection.  Records that are written are collected in another shared
 * buffer and sent together: sending 16 KiB costs as much as encrypting it, and wakes the reader for
 * little.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_STREAM_STREAM_SOCKET_TLS_H
#define BASE_STREAM_STREAM_SOCKET_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include <openssl/bio.h>

struct tls_sockets; /* the buffers that the connections of a loop share */
struct tls_socket;  /* one TLS connection's socket, with bytes not yet read or sent */

struct tls_sockets *tls_sockets_create(void);
/* Frees the shared buffers.  All sockets that use them must have been freed before.  NULL is
 * allowed. */
void tls_sockets_destroy(struct tls_sockets *sockets);

/* Makes a BIO (OpenSSL's input/output object) for the socket fd.  The BIO owns *ret; the descriptor
 * still belongs to the caller. */
BIO *tls_socket_bio(struct tls_sockets *sockets, int fd, struct tls_socket **ret);

/* Gives the kernel what was written to the BIO so far.  Returns 0; -EAGAIN: the kernel did not take
 * all, and the rest is kept for the next call; or another -errno: the connection failed. */
int tls_socket_flush(struct tls_socket *socket);
/* Returns how many written bytes the kernel has not taken. */
size_t tls_socket_pending(const struct tls_socket *socket);

/* Limits how many bytes one read takes from the kernel for this connection.  The limit holds only
 * while all connections together keep more than 1 MiB of unread data, because data that TLS does
 * not ask for stays in the connection's memory.  Otherwise a read takes all there is: a limit of
 * one frame would cost one system call for each frame. */
void tls_socket_set_read_max(struct tls_socket *socket, size_t bytes);
/* Makes reading find nothing until tls_socket_turn_over(). */
void tls_socket_is_empty(struct tls_socket *socket);
/* Returns whether another read from the BIO may find data before the next tls_socket_turn_over();
 * to be called after a read. */
bool tls_socket_may_have_more(const struct tls_socket *socket);
/* Ends this connection's use of the shared buffers, so that other connections may use them; this
 * connection's next read asks the kernel again. */
void tls_socket_turn_over(struct tls_socket *socket);

#endif
