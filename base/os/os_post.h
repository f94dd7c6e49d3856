/* base/os/os_post.h - short questions to a process of the same user on this host, by a name.
 *
 * The name is that of an abstract Unix socket: it belongs to nobody's directory and is gone when
 * its process is.  Each message is one datagram that carries its sender's identity, so there are no
 * connections.  Anybody can take any name, so both sides check who the other one is: messages of
 * other users, root apart, are dropped.
 *
 * In a user namespace all users of other namespaces look like uid OS_POST_UNKNOWN_UID: a process
 * of that uid must not open a post there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_OS_OS_POST_H
#define BASE_OS_OS_POST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct loop;
struct os_post;
struct os_post_sender; /* to whom an answer goes */

#define OS_POST_NAME_MAX    107  /* bytes */
#define OS_POST_TEXT_MAX    1000 /* bytes of a message */
#define OS_POST_ASKED_MAX   256  /* names that are asked in one call */
#define OS_POST_UNKNOWN_UID 65534

typedef void (*os_post_f)(void *arg, const struct os_post_sender *sender, const char *text);

/* Takes the name, and calls asked() for each message.  Returns 0; -EADDRINUSE: another process has
 * the name; or another -errno. */
int os_post_open(struct loop *loop, const char *name, os_post_f asked, void *arg,
                 struct os_post **ret, struct err *err);
void os_post_close(struct os_post *post); /* NULL is allowed */
/* A copy that outlives the callback; the caller frees it with mem_free(). */
struct os_post_sender *os_post_keep(const struct os_post_sender *sender);
/* Sends an answer; nobody hears of it if the sender is gone. */
void os_post_answer(struct os_post *post, const struct os_post_sender *sender, const char *text);

/* Asks all names at once, and calls answered() for each answer until all have answered or wait_ms
 * are over; blocks until then.  Names that nobody has are left out.  Returns how many were asked,
 * or -errno. */
int os_post_ask(const char *const *names, size_t count, const char *text, unsigned wait_ms,
                void (*answered)(void *arg, size_t index, const char *text), void *arg);
/* Calls each() for every name on this host that begins so, whosever it is. */
void os_post_list(const char *prefix, void (*each)(void *arg, const char *name), void *arg);

#endif
