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

/* A watch of a file descriptor.  It calls call(arg, ready) again and again while the descriptor is
 * ready for something that loop_fd_want() asked for; ready is LOOP_READ, LOOP_WRITE or both.  The
 * descriptor still belongs to the caller and must stay open until the watch is destroyed. */
struct loop_fd;
typedef void (*loop_fd_f)(void *arg, unsigned ready);
struct loop_fd *loop_fd_create(struct loop *loop, int fd, loop_fd_f call, void *arg);
/* Sets for what the descriptor is watched: LOOP_READ, LOOP_WRITE, both, or 0: for nothing, as
 * before the first call. */
void loop_fd_want(struct loop_fd *watch, unsigned what);
/* NULL is allowed; so is a call from the watch's own callback. */
void loop_fd_destroy(struct loop_fd *watch);

/* Measures the time of one callback, without the time of callbacks that run inside it:
 * loop_account_begin() before the callback, loop_account_end() after it.  A time longer than
 * LOOP_CALLBACK_BUDGET_MS is reported with the kind and the address of the callback.  loop_call()
 * measures the call of call(arg). */
struct loop_account {
    uint64_t began_ns, inner_ns;
};
void loop_account_begin(struct loop *loop, struct loop_account *account);
void loop_account_end(struct loop *loop, const struct loop_account *account, const char *what,
                      void (*function)(void));
void loop_call(struct loop *loop, const char *what, loop_f call, void *arg);

/* Returns whether loop_stop() was called: code that calls several callbacks one after another must
 * then stop after the current one. */
bool loop_is_stopping(const struct loop *loop);

/* Values that other files attach to each loop, by loop_slot_set().  They are destroyed with the
 * loop, in the order of this enum. */
enum loop_slot {
    LOOP_SLOT_PASSES,
    LOOP_SLOT_STREAMS,
    /* table of strangers; destroyed after LOOP_SLOT_STREAMS, because it contains streams */
    LOOP_SLOT_STRANGERS,
    LOOP_SLOT_TLS,
    LOOP_SLOT_LANES,
    LOOP_SLOT_COUNT
};
/* Returns the value that loop_slot_set() attached; NULL: none yet. */
void *loop_slot_get(const struct loop *loop, enum loop_slot slot);
void loop_slot_set(struct loop *loop, enum loop_slot slot, void *value,
                   void (*destroy)(void *value));

#endif
