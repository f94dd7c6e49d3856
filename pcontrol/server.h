/* pcontrol/server.h - commands from clients of a Unix socket.
 *
 * A client is a program of the same user, or of root; everybody else is told so.  A request is its
 * length (4 bytes, big-endian) and words, each with a zero byte: the client's working directory,
 * then the command.  The answer is a line "STATUS LEAVE TEXT WHY" of four numbers, and then TEXT
 * and WHY bytes; LEAVE 1: no further request is answered.  While a request waits
 * there may be notes, which look like answers and have the status SERVER_NOTE.  Requests of one
 * connection are answered in order, one at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCONTROL_SERVER_H
#define PCONTROL_SERVER_H

#include <stddef.h>

#define SERVER_ROUTE       "pcontrol"
#define SERVER_REQUEST_MAX ((size_t)2 << 20)
#define SERVER_LENGTH      4 /* bytes of the length of a request */
#define SERVER_NOTE        (-1)

struct commands;
struct err;
struct loop;
struct os;
struct server;

/* Listens on the socket `path`, which is made; one on which nobody listens is replaced.  "exit" of
 * a client stops the loop.  Returns 0 or -errno. */
int server_open(struct loop *loop, struct os *os, const char *path, struct commands *commands,
                struct server **ret, struct err *err);
void server_close(struct server *server); /* NULL is allowed */

#endif
