/* base/loop_event.h - the real event loop's calls for file descriptors, beyond base/loop.h.
 *
 * Only for the files *_event.c, *_tls.c and *_linux.c of base/: daemon code that used these calls
 * could not run in the simulator.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_LOOP_EVENT_H
#define BASE_LOOP_EVENT_H

#include "base/loop.h"

#define LOOP_READ  1u
#define LOOP_WRITE 2u

/* A watch of a file descriptor.  It calls call(arg, ready) as long as the descriptor is ready for
 * something that loop_fd_want() asked for.  The descriptor still belongs to the caller and must
 * stay open until the watch is destroyed. */
struct loop_fd;
typedef void (*loop_fd_f)(void *arg, unsigned ready);
struct loop_fd *loop_fd_create(struct loop *loop, int fd, loop_fd_f call, void *arg);
/* LOOP_READ | LOOP_WRITE, or 0; at first 0. */
void loop_fd_want(struct loop_fd *watch, unsigned what);
/* NULL is allowed; so is a call from its own callback. */
void loop_fd_destroy(struct loop_fd *watch);

/* Measures the time of one callback, without the time of callbacks that run inside it, and reports
 * `function` if that exceeds LOOP_CALLBACK_BUDGET_MS. loop_call() does this around call(arg). */
struct loop_account {
    uint64_t began_ns, inner_ns;
};
void loop_account_begin(struct loop *loop, struct loop_account *account);
void loop_account_end(struct loop *loop, const struct loop_account *account, const char *what,
                      void (*function)(void));
void loop_call(struct loop *loop, const char *what, loop_f call, void *arg);

/* True after loop_stop(): a loop over several callbacks must end after the current one. */
bool loop_is_stopping(const struct loop *loop);

/* What other files keep with each loop.  The values are destroyed with the loop, in the order of
 * the enum. */
enum loop_slot {
    LOOP_SLOT_PASSES,
    LOOP_SLOT_STREAMS,
    LOOP_SLOT_STRANGERS, /* after the streams that are counted in it */
    LOOP_SLOT_TLS,
    LOOP_SLOT_LANES,
    LOOP_SLOT_COUNT
};
void *loop_slot_get(const struct loop *loop, enum loop_slot slot); /* NULL until set */
void loop_slot_set(struct loop *loop, enum loop_slot slot, void *value,
                   void (*destroy)(void *value));

#endif
