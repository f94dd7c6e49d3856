/* base/loop_event.h - what the real bodies need of the real loop beyond base/loop.h: descriptors.
 *
 * For base/'s *_event.c, *_tls.c and *_linux.c only: daemon code that used it could not run in the
 * simulator.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_LOOP_EVENT_H
#define BASE_LOOP_EVENT_H

#include "base/loop.h"

#define LOOP_READ  1u
#define LOOP_WRITE 2u

/* Calls call(arg, ready) as long as the descriptor is ready for something that is wanted.  The
 * descriptor stays the caller's, and must be open until the watch is destroyed. */
struct loop_fd;
typedef void (*loop_fd_f)(void *arg, unsigned ready);
struct loop_fd *loop_fd_create(struct loop *loop, int fd, loop_fd_f call, void *arg);
void loop_fd_want(struct loop_fd *watch, unsigned what); /* LOOP_READ | LOOP_WRITE; at first 0 */
void loop_fd_destroy(struct loop_fd *watch);             /* NULL is allowed; allowed in its call */

/* Runs a callback and accounts its time, without that of callbacks run inside it, to `function`. */
struct loop_account {
    uint64_t began_ns, inner_ns;
};
void loop_account_begin(struct loop *loop, struct loop_account *account);
void loop_account_end(struct loop *loop, const struct loop_account *account, const char *what,
                      void (*function)(void));
void loop_call(struct loop *loop, const char *what, loop_f call, void *arg);

/* True once loop_stop() was called: a batch of callbacks ends with the one that runs. */
bool loop_is_stopping(const struct loop *loop);

/* What other bodies keep per loop; destroyed with it, in the order of the enum. */
enum loop_slot {
    LOOP_SLOT_PASSES,
    LOOP_SLOT_STREAMS,
    LOOP_SLOT_STRANGERS, /* after those that are counted in it */
    LOOP_SLOT_TLS,
    LOOP_SLOT_LANES,
    LOOP_SLOT_COUNT
};
void *loop_slot_get(const struct loop *loop, enum loop_slot slot); /* NULL until set */
void loop_slot_set(struct loop *loop, enum loop_slot slot, void *value,
                   void (*destroy)(void *value));

#endif
